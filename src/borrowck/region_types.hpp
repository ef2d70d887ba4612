// Types whose every region is a variable of the body being checked. A closure's type carries one argument more than in the
// type tables: the tuple of its captures, so that what it borrowed is part of it.
#pragma once
#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <unordered_map>

#include "borrowck/facts.hpp"
#include "check/context.hpp"
#include "types/fold.hpp"

namespace ockc::borrowck {

using types::ArgsId;
using types::RegionId;

enum class Variance : std::uint8_t { Bivariant, Covariant, Contravariant, Invariant };
Variance compose(Variance outer, Variance inner);   // of `inner` seen through `outer`
Variance join(Variance a, Variance b);

// What holds of types in every body alike.
class TypeFacts {
  public:
    // Whether regions may stand anywhere inside, erased ones included.
    bool may_hold_regions(types::TypeStore& types, TypeId type) {
        const std::uint8_t known = type.raw < may_hold_.size() ? may_hold_[type.raw] : 0;
        return known != 0 ? known == 2 : find_may_hold(types, type);
    }
    RegionId variable(types::TypeStore& types, RegionVid vid) {
        while (variables_.size() <= vid.raw) {
            const std::uint32_t next = static_cast<std::uint32_t>(variables_.size());
            variables_.push_back(types.region({types::RegionKind::Var, DefId(), next, Symbol()}));
        }
        return variables_[vid.raw];
    }
    // By position in an `impl Trait`'s arguments: lifetimes that its `use<..>` leaves out. Empty: there is none.
    const std::vector<std::uint8_t>& left_out(check::Context& context, DefId opaque);
    // Of the parameters of a struct, enum or union.
    const std::vector<Variance>& variances(check::Context& context, DefId adt);

  private:
    bool find_may_hold(types::TypeStore& types, TypeId type);
    void variance_in(check::Context& context, TypeId type, Variance variance, std::vector<Variance>& out);
    std::vector<Variance> variances_by_fields(check::Context& context, DefId adt);

    std::unordered_map<DefId, std::vector<std::uint8_t>> left_out_;
    std::vector<RegionId> variables_;                           // by RegionVid
    std::vector<std::uint8_t> may_hold_;                        // by TypeId: 0 not known, 1 no, 2 yes
    std::unordered_map<DefId, std::vector<Variance>> variances_, open_variances_;
    std::vector<DefId> open_;                                   // keys of open_variances_: types that are being looked at
};

class RegionTypes {
  public:
    RegionTypes(check::Context& context, const check::ParamEnv& env, TypeFacts& facts);

    // ---- regions
    RegionVid fresh();
    RegionVid add_universal(RegionInfo info);
    void bind(RegionId param, RegionVid universal) { params_[param] = universal; }
    RegionVid vid(RegionId region) const;           // of a variable
    std::size_t region_count() const { return infos_.size(); }
    const RegionInfo& info(RegionVid region) const { return infos_[region]; }
    RegionInfo& info(RegionVid region) { return infos_[region]; }
    void outlives(Outlives constraint) { constraints_.push_back(constraint); }
    const std::vector<Outlives>& constraints() const { return constraints_; }
    std::span<Outlives> constraints_from(std::size_t first) { return std::span(constraints_).subspan(first); }

    // ---- types
    // Erased regions become fresh variables, named ones the universal regions they are bound to, late ones what `late` says.
    using LateRegions = std::map<std::pair<std::uint32_t, std::uint32_t>, RegionVid>;
    static std::pair<std::uint32_t, std::uint32_t> late_key(const types::RegionData& region) {
        return {region.def.raw, region.kind == types::RegionKind::Bound ? ~region.index : region.index};
    }
    TypeId renumber(TypeId type, LateRegions* late = nullptr);
    ArgsId renumber(ArgsId args);
    // The type with arguments filled in, then renumbered and normalised; arguments are region types already, or none: the parameters
    // stay what they are.
    TypeId instantiate(TypeId generic, ArgsId args, LateRegions* late);
    TypeId normalize(TypeId type);
    TypeId erase(TypeId type);                      // back to a type of the type tables
    // The arguments of a bound with arguments filled in, then renumbered and normalised.
    ArgsId instantiate(ArgsId generic, ArgsId args, LateRegions* late);
    void collect(TypeId type, std::vector<RegionVid>& out);
    const std::vector<RegionVid>& regions_of(TypeId type);
    bool may_hold_regions(TypeId type) { return facts_.may_hold_regions(types_, type); }

    // ---- structure
    TypeId field(TypeId base, std::uint32_t variant, std::uint32_t index);
    // The type after one projection; `variant` carries a Downcast to the Field behind it.
    TypeId project(TypeId base, const mir::Projection& step, std::uint32_t& variant);

    // ---- what can be called (projections.cpp)
    struct CallSignature {
        std::vector<TypeId> inputs;
        TypeId output;
    };
    // Of a closure, function item or function pointer; what its binder binds are fresh regions, or what `bound` says. Nothing: it is
    // none of them.
    std::optional<CallSignature> call_signature(TypeId callable, LateRegions* bound = nullptr);

    // ---- impls and bounds (projections.cpp)
    // An impl's header against a bound with region types: the impl's arguments; nothing: it is not this impl, or not all of them
    // can be told. Relates regions as they must be equal.
    std::optional<ArgsId> match_impl(DefId impl, ArgsId trait_args, const Outlives& reason);
    void equate_args(ArgsId a, ArgsId b, const Outlives& reason) { relate_args(a, b, nullptr, Variance::Invariant, reason); }
    // The bounds of the body's function on a type, with the traits above them, that are the goal but for regions.
    std::vector<ArgsId> bounds_like(DefId trait, ArgsId trait_args);

    // sub <: super under `variance`: adds the constraints of their regions.
    void relate(TypeId sub, TypeId super, Variance variance, const Outlives& reason);
    types::TypeStore& types() { return types_; }
    check::Context& context() { return context_; }

  private:
    TypeId replace(TypeId type, LateRegions* late, bool erase);
    ArgsId replace(ArgsId args, LateRegions* late, bool erase);
    RegionId replace(RegionId region, LateRegions* late, bool erase);
    ArgsId replace_opaque(const types::TypeData& data, LateRegions* late, bool erase);
    TypeId replace_closure(const types::TypeData& data, LateRegions* late, bool erase);
    TypeId closure_lifetimes(TypeId type, TypeId lifetimes);
    TypeId normalize_projection(TypeId projection);
    TypeId from_callable(const types::TypeData& projection);
    TypeId from_bounds(const types::TypeData& projection);
    TypeId from_impl(const types::TypeData& projection, TypeId erased);
    bool complete(DefId impl, std::vector<types::GenericArg>& bound, LateRegions& late);
    bool same_but_regions(ArgsId a, ArgsId b);
    const std::vector<check::Predicate>& own_bounds();
    bool match(TypeId pattern, TypeId actual, std::vector<types::GenericArg>& bound, LateRegions& late);
    bool match(ArgsId pattern, ArgsId actual, std::vector<types::GenericArg>& bound, LateRegions& late);
    void match_region(RegionId pattern, RegionId actual, std::vector<types::GenericArg>& bound, LateRegions& late);
    void equate(RegionVid a, RegionVid b);
    void relate_regions(RegionId sub, RegionId super, Variance variance, const Outlives& reason);
    void relate_args(ArgsId sub, ArgsId super, const std::vector<Variance>* variances, Variance outer, const Outlives& reason);

    check::Context& context_;
    types::TypeStore& types_;
    const check::ParamEnv& env_;
    TypeFacts& facts_;
    Outlives reason_;                    // of what is equated
    std::uint32_t binders_ = 0;          // function pointers around the type at hand: what they bind stays
    std::uint32_t depth_ = 0;            // of impls whose bounds are looked at
    LateRegions impl_regions_;           // what the last impl that was matched leaves out of its header
    std::optional<std::vector<check::Predicate>> own_bounds_;
    IndexVec<RegionVid, RegionInfo> infos_;
    std::vector<Outlives> constraints_;
    std::unordered_map<RegionId, RegionVid> params_;
    std::unordered_map<TypeId, std::vector<RegionVid>> regions_;
    std::unordered_map<TypeId, TypeId> normalized_;
    std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, TypeId> fields_;
};

}  // namespace ockc::borrowck
