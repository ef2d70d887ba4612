// check::Context: the semantic queries over a resolved program. It is filled lazily, answers from caches, and lives as long as
// MIR building and lowering need it. In: hir::Program. Out: types, signatures, trait answers, constant values, TypeTables of
// bodies; errors to the sink.
//
// Two worlds use it. Generic code (check, mir, borrowck) asks under a body's ParamEnv; monomorphic code (lower) substitutes
// concrete arguments first and asks under empty_env().
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <span>
#include <string>
#include <vector>

#include "check/const_value.hpp"
#include "check/predicates.hpp"
#include "check/type_tables.hpp"
#include "diag/sink.hpp"
#include "hir/demand.hpp"
#include "source/source_map.hpp"
#include "types/layout.hpp"
#include "types/type_store.hpp"

namespace ockc::check {

struct Options {
    bool overflow_checks = false;                    // constants are always checked
    std::uint64_t const_step_limit = 5'000'000;     // expressions evaluated for one constant
    bool edition_2021 = false;                       // fallback of diverging variables to ()
    const SourceMap* sources = nullptr;              // names closures by their place
    std::vector<std::pair<std::string, std::string>> consts;   // --const: "B" or "kernel:B", and its value
    hir::Demand* demand = nullptr;                   // of the part of the library that the program does not hold yet, or none
};

// ---- answers ----------------------------------------------------------------------------------------------------------------

struct GenericsInfo {
    struct Param {
        DefId def;                                   // none for a trait's Self
        Symbol name;
        hir::GenericParam::Kind kind = hir::GenericParam::Kind::Type;
        bool has_default = false;
        bool synthetic = false;                      // from argument-position `impl Trait`
        types::TypeId const_type;                    // Const
    };
    DefId parent;                                    // impl or trait of an associated item; owner of a closure or constant
    std::uint32_t parent_count = 0;                  // how many arguments stand in front of the own ones
    bool has_self = false;                           // this is a trait: own[0] is Self
    std::vector<Param> own;
    std::uint32_t count() const { return parent_count + static_cast<std::uint32_t>(own.size()); }
};

struct FnSigInfo {
    std::vector<types::TypeId> inputs;               // self included; regions kept (EarlyParam; elided ones are LateParam)
    types::TypeId output;
    bool has_self = false, is_unsafe = false, is_const = false;
};

struct FieldInfo {
    DefId def;
    Symbol name;
    types::TypeId type;                              // in terms of the Adt's parameters
};
struct VariantInfo {
    DefId def;                                       // variant, or the struct itself
    DefId ctor;                                      // tuple and unit forms
    Symbol name;
    hir::VariantForm form = hir::VariantForm::Unit;
    std::vector<FieldInfo> fields;
    std::array<std::uint64_t, 2> discriminant{};     // two's complement, in the Adt's discriminant type
};
struct AdtInfo {
    enum class Kind : std::uint8_t { Struct, Enum, Union } kind = Kind::Struct;
    DefId def;
    std::vector<VariantInfo> variants;               // structs and unions: one
    types::Repr repr;
    types::IntKind discriminant_type = types::IntKind::Isize;
    bool is_box_like_no_drop = false;                // #[lang = "manually_drop"]: fields are not dropped
    std::uint32_t variant_index(DefId variant_or_ctor) const;
};

enum class SelfKind : std::uint8_t { None, Value, Ref, RefMut };

// A call that is resolved at monomorphic types.
struct Instance {
    enum class Kind : std::uint8_t {
        Item,          // item: a function with body or an intrinsic
        CloneShim,     // Clone::clone of a built-in type (tuple, array, closure, scalar): part by part, each by its own impl; args[0] = type
        FnItemCall,    // call through Fn/FnMut/FnOnce of a function item: item is that function; arguments in one tuple
        FnPtrCall,     // same for a function pointer
        ClosureCall,   // same for a closure: closure = its type
        DropGlue,      // drop_in_place of args[0]
        ScalarOp,      // operator trait of scalars: item = its method (`Add::add`), args as the trait's; operands may be references
    };
    Kind kind = Kind::Item;
    ItemRef item;
    types::TypeId closure;
};

// ---- the interface ------------------------------------------------------------------------------------------------------------

class Context final : public types::AdtSource {
  public:
    Context(const hir::Program& program, types::TypeStore& types, DiagSink& sink, Options options = {});
    ~Context() override;
    Context(const Context&) = delete;
    Context& operator=(const Context&) = delete;

    const hir::Program& program() const { return program_; }
    types::TypeStore& types() { return types_; }
    DiagSink& sink() { return sink_; }
    const Options& options() const { return options_; }

    // ---- items
    // The type of a value or type item: fn (FnDef), ctor (FnDef or the Adt), const, static, field, struct/enum/union, alias,
    // impl (its Self), type parameter, closure. In terms of the item's own parameters.
    types::TypeId type_of(DefId def);
    const GenericsInfo& generics_of(DefId def);
    // Param i for every parameter of `def`: the arguments that change nothing.
    types::ArgsId identity_args(DefId def);
    const FnSigInfo& fn_sig(DefId fn_or_ctor);
    // The same with arguments filled in and all regions erased.
    FnSigInfo fn_sig(ItemRef fn);
    // By position in a function's own parameters: is it a lifetime that each call chooses, not each mention of the function?
    const std::vector<std::uint8_t>& late_bound(DefId fn);
    // Own predicates and the parents', in source order; Self: Trait for trait items. Not elaborated.
    const std::vector<Predicate>& predicates_of(DefId def);
    const ParamEnv& param_env(DefId def);
    // The traits written after a trait's colon (and in `where Self:`), in terms of its parameters.
    const std::vector<TraitRef>& supertraits(DefId trait);
    // What a trait promises about its associated type: predicates whose Self is the projection, in terms of the trait's parameters.
    const std::vector<Predicate>& item_bounds(DefId assoc_type);
    const ParamEnv& empty_env() const { return empty_env_; }
    const AdtInfo& adt(DefId struct_enum_union);
    // Field types with arguments filled in, regions erased, normalised under `env`.
    types::TypeId field_type(const FieldInfo& field, types::ArgsId args, const ParamEnv& env);
    // The impls of a trait that the head of a type allows, in source order.
    std::vector<DefId> impls_that_may_match(DefId trait, types::TypeId self);
    // The trait that an impl implements, in terms of the impl's parameters; none for inherent impls.
    TraitRef impl_trait_ref(DefId impl);
    // The Fn, AssocFn, AssocConst .. that encloses a body: itself for functions, the owner for closures and constants.
    DefId body_owner(DefId def) const;
    SelfKind self_kind(DefId assoc_fn);

    // ---- types
    types::TypeId normalize(types::TypeId type, const ParamEnv& env);
    types::ArgsId normalize(types::ArgsId args, const ParamEnv& env);
    // Constants: evaluated when nothing generic is left in them.
    types::ConstId normalize(types::ConstId constant, const ParamEnv& env);
    bool implements(types::TypeId type, DefId trait, const ParamEnv& env);
    bool is_copy(types::TypeId type, const ParamEnv& env);
    bool is_sized(types::TypeId type, const ParamEnv& env);
    bool needs_drop(types::TypeId type, const ParamEnv& env);
    // The Drop impl's `drop` function for an Adt type, or none.
    ItemRef drop_impl(types::TypeId adt);
    DefId clone_method();                             // Clone::clone
    // The type behind an `impl Trait` in a function's result, in terms of the function's parameters: checks the body that decides.
    types::TypeId hidden_type(DefId impl_trait);
    // The function's own `impl Trait`s replaced by what its body returns; regions of these are erased.
    types::TypeId reveal_own(DefId fn, types::TypeId type);
    // The type with every `impl Trait` of the function's result replaced by replace(its definition).
    types::TypeId open_unnamed(DefId fn, types::TypeId type, const std::function<types::TypeId(DefId)>& replace);
    std::string text(types::TypeId type) const;
    std::string text(types::GenericArg arg) const;
    std::string text(ItemRef item) const;             // path with arguments
    std::string place_text(Span span) const;          // "kernels.rsk:3:9: 3:12"

    // ---- associated items by name
    // Items of inherent impls for the head of `self`; of all traits.
    const std::vector<struct AssocItem>& inherent_items(types::TypeId self, Symbol name);
    const std::vector<struct AssocItem>& trait_items(Symbol name);

    // The operator behind a trait's method, for Instance::Kind::ScalarOp.
    struct ScalarOperator {
        bool is_unary = false, is_assign = false;
        hir::BinaryOp binary{};
        hir::UnaryOp unary{};
    };
    ScalarOperator scalar_operator(DefId method) const;

    // ---- monomorphic questions (arguments without Param, regions erased)
    // What a call of `callee` means: trait methods become the impl's or the trait's default function.
    std::optional<Instance> resolve_instance(ItemRef callee);
    const SourceMap* sources() const { return options_.sources; }   // null: none given
    const types::Layout& layout_of(types::TypeId type);
    types::AdtShape adt_shape(types::TypeId adt_or_closure) override;

    // ---- constants
    // The value of a const, associated const, const block or anonymous constant; null when it failed (reported once).
    const ConstValue* eval_const(ItemRef constant);
    const ConstValue* eval_static(DefId static_def);
    // An array length or const argument where it stands: a value, a const parameter, or Unevaluated when generic.
    types::ConstId anon_const(DefId anon, types::TypeId type);
    types::ConstId plain_const(const hir::Body& body, hir::ExprId expr, types::TypeId type);
    types::ConstId shape_const(const hir::Body& body, types::TypeId& type);
    // The same for a constant with its arguments: Unevaluated while they are generic, error_const when it failed.
    types::ConstId const_to_type_level(ItemRef constant, types::TypeId type);
    // An array length or const argument as a number; nothing when generic or failed.
    std::optional<std::uint64_t> usize_value(types::ConstId constant);

    // ---- bodies
    // Checks the body of a function, constant, static or anonymous constant, once. Null when it has errors.
    const TypeTables* check_body(DefId owner);
    const ClosureInfo& closure_info(DefId closure);
    // Checks all items of device modules and all roots in source order, then every body reached from them (library bodies only
    // when reached), coherence and kernel rules. Returns false when errors were reported.
    bool check_program();
    // The instances of a generic kernel, from its attribute and from --const; checked by check_program.
    const std::vector<types::ArgsId>& kernel_instances(DefId kernel) const;
    // All functions, constants and statics whose bodies were checked by check_program, user bodies first, in checking order.
    const std::vector<DefId>& checked_bodies() const;

    struct State;   // caches and tables of the implementation, check/state.hpp
    State& state() { return *state_; }

  private:
    // Does the type or a part of it have a Drop impl?
    bool find_drop(types::TypeId type, const ParamEnv& env);

    const hir::Program& program_;
    types::TypeStore& types_;
    DiagSink& sink_;
    Options options_;
    ParamEnv empty_env_;
    std::unique_ptr<State> state_;
};

}  // namespace ockc::check
