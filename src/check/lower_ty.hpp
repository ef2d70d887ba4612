// Type syntax to types: paths with generic arguments, bounds, lifetimes. Signatures use it directly; bodies derive from it to
// make inference variables for what is left out.
#pragma once
#include <optional>
#include <span>
#include <vector>

#include "check/state.hpp"

namespace ockc::check {

// What an elided lifetime means at this place.
enum class ElidedRegion : std::uint8_t {
    Erased,     // in bodies
    Fresh,      // function inputs and impl headers: a region of its own
    Bound,      // inputs of `Fn(..)` and of function pointers: one of the binder
    Output,     // function outputs: the region that elision chooses
    Static,     // constants and statics
    Error,      // struct fields and the like: must be written
};

// The associated item `name` of a trait or one of its supertraits, and the trait as seen from where the search began.
struct AssocInTrait {
    TraitRef trait_ref;
    DefId item;
};

class TypeLowerer {
  public:
    TypeLowerer(Context& context, DefId owner, ElidedRegion elided);
    virtual ~TypeLowerer() = default;

    TypeId lower(hir::TyId type);
    // The type that `impl Trait` in a result is to callers.
    TypeId lower_opaque(DefId def);
    // A function's result: the one place where `!` may stand.
    TypeId lower_result(hir::TyId type);
    // Arguments of `item` for one path segment; `prefix` are the arguments of the parent (and Self of a trait).
    ArgsId lower_args(DefId item, std::span<const GenericArg> prefix, const hir::GenericArgs* args, Span span, bool infer_missing);
    // The type that a path to a struct, enum, alias or parameter means.
    TypeId lower_type_path(const hir::Path& path);
    TraitRef lower_trait_ref(const hir::Path& path, TypeId self, std::vector<Predicate>* constraints);
    // Predicates of `self: bounds`; `maybe_sized` is set when `?Sized` is among them.
    void lower_bounds(TypeId self, hir::List<hir::Bound> bounds, std::vector<Predicate>& out, bool* maybe_sized);
    RegionId lower_lifetime(const hir::Lifetime& lifetime, Span where);
    ConstId lower_const_arg(DefId anon_const, TypeId type);
    // <self>::name as a type.
    TypeId assoc_type(TypeId self, const hir::QPath& path);

    void set_elided(ElidedRegion elided) { elided_ = elided; }
    void set_output_region(RegionId region) { output_region_ = region; }
    void set_quiet(bool quiet) { quiet_ = quiet; }
    // The next path to a type may leave out its arguments: `Vec::new`, `Point { .. }`.
    void infer_next_path() { infer_next_path_ = true; }
    bool failed() const { return failed_; }

  protected:
    // `_` and left-out arguments. The base class reports E0121 and answers Error.
    virtual TypeId infer_type(Span span);
    virtual ConstId infer_const(TypeId type, Span span);
    virtual bool in_body() const { return false; }

    Context& cx_;
    TypeStore& types_;
    const hir::Program& program_;
    DefId owner_;

  private:
    TypeId lower_path(const hir::QPath& path);
    TypeId lower_array(const hir::ArrayTy& array);
    TypeId lower_resolved(const hir::QPath& path);
    TypeId lower_fn_ptr(const hir::BareFn& fn);
    TypeId param_type(DefId param);
    std::optional<AssocInTrait> find_in_bounds(hir::Res param, Symbol name, bool* ambiguous);
    void find_in_generics(DefId owner, hir::Res param, Symbol name, std::vector<AssocInTrait>& found);
    void find_in_bound_list(hir::List<hir::Bound> bounds, TypeId self, Symbol name, std::vector<AssocInTrait>& found);
    TypeId ambiguous_assoc_type(TypeId self, const hir::QPath& path);
    RegionId elided_region(Span span);
    GenericArg lower_arg(const GenericsInfo::Param& param, const hir::GenericArg& arg);
    GenericArg missing_arg(const GenericsInfo::Param& param, DefId item, std::span<const GenericArg> so_far, Span span, bool infer_missing, bool* defaulted);
    void out_of_order(Span span, std::string message);
    bool late_lifetimes(DefId item, std::size_t declared, std::size_t given);
    void check_arg_count(DefId item, const GenericsInfo& generics, const hir::GenericArgs* args, Span span, bool infer_missing);
    ArgsId error_args(DefId item, std::span<const GenericArg> prefix);
    ArgsId parenthesized_args(const hir::GenericArgs& args, std::span<const GenericArg> prefix);
    // What an elided lifetime in the result of `Fn(..)` or of a function pointer with these inputs is.
    RegionId chosen_by(std::span<const TypeId> inputs) const;
    void lower_constraint(const TraitRef& trait_ref, const hir::AssocConstraint& constraint, std::vector<Predicate>& out);
    // Reports a lifetime of `for<..>` in `type` that none of the inputs has.
    void check_chosen(Code code, std::span<const TypeId> inputs, TypeId type, Span at, std::string_view what);
    bool depends_on_binder(const TraitRef& trait_ref) const;
    void forbid_args(const hir::PathSegment& segment, std::string_view what);
    Diagnostic* error(Code code, Span span, std::string message);

    ElidedRegion elided_;
    RegionId output_region_;
    std::uint32_t fresh_regions_ = 0;
    std::uint32_t depth_ = 0;
    bool quiet_ = false;
    bool infer_next_path_ = false;
    bool failed_ = false;
    bool out_of_order_ = false;    // E0747 was said about the list at hand
    Diagnostic ignored_;        // what a quiet lowerer would have said
};

std::optional<AssocInTrait> find_assoc_in_supertraits(Context& context, const TraitRef& trait_ref, Symbol name, hir::DefKind kind);
// Does the trait or one of its supertraits have such an item? Looks at names only.
bool trait_may_have(Context& context, DefId trait, Symbol name, hir::DefKind kind);

}  // namespace ockc::check
