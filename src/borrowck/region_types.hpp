// Types whose every region is a variable of the body being checked. A closure's type carries one argument more than in the
// type tables: the tuple of its captures, so that what it borrowed is part of it.
#pragma once
#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>

#include "borrowck/facts.hpp"
#include "check/context.hpp"

namespace ockc::borrowck {

using types::ArgsId;
using types::RegionId;

enum class Variance : std::uint8_t { Bivariant, Covariant, Contravariant, Invariant };
Variance compose(Variance outer, Variance inner);   // of `inner` seen through `outer`
Variance join(Variance a, Variance b);

class RegionTypes {
  public:
    RegionTypes(check::Context& context, const check::ParamEnv& env);

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

    // ---- types
    // Erased regions become fresh variables, named ones the universal regions they are bound to, late ones what `late` says.
    using LateRegions = std::map<std::pair<std::uint32_t, std::uint32_t>, RegionVid>;
    TypeId renumber(TypeId type, LateRegions* late = nullptr);
    ArgsId renumber(ArgsId args);
    // The type with arguments filled in, then renumbered and normalised; arguments are region types already.
    TypeId instantiate(TypeId generic, ArgsId args, LateRegions* late);
    TypeId normalize(TypeId type);
    TypeId erase(TypeId type);                      // back to a type of the type tables
    void collect(TypeId type, std::vector<RegionVid>& out);
    const std::vector<RegionVid>& regions_of(TypeId type);
    bool may_hold_regions(TypeId type);

    // ---- structure
    TypeId field(TypeId base, std::uint32_t variant, std::uint32_t index);
    // The type after one projection; `variant` carries a Downcast to the Field behind it.
    TypeId project(TypeId base, const mir::Projection& step, std::uint32_t& variant);

    // sub <: super under `variance`: adds the constraints of their regions.
    void relate(TypeId sub, TypeId super, Variance variance, const Outlives& reason);
    const std::vector<Variance>& variances(DefId adt);

    types::TypeStore& types() { return types_; }
    check::Context& context() { return context_; }

  private:
    TypeId replace(TypeId type, LateRegions* late, bool erase);
    ArgsId replace(ArgsId args, LateRegions* late, bool erase);
    RegionId replace(RegionId region, LateRegions* late, bool erase);
    TypeId replace_closure(const types::TypeData& data, LateRegions* late, bool erase);
    TypeId normalize_projection(TypeId projection);
    TypeId from_impl(const types::TypeData& projection, TypeId erased);
    bool match(TypeId pattern, TypeId actual, std::vector<types::GenericArg>& bound, LateRegions& late);
    bool match(ArgsId pattern, ArgsId actual, std::vector<types::GenericArg>& bound, LateRegions& late);
    void match_region(RegionId pattern, RegionId actual, std::vector<types::GenericArg>& bound, LateRegions& late);
    void equate(RegionVid a, RegionVid b);
    void relate_regions(RegionId sub, RegionId super, Variance variance, const Outlives& reason);
    void relate_args(ArgsId sub, ArgsId super, const std::vector<Variance>* variances, Variance outer, const Outlives& reason);
    void variance_in(TypeId type, Variance variance, std::vector<Variance>& out);

    check::Context& context_;
    types::TypeStore& types_;
    const check::ParamEnv& env_;
    IndexVec<RegionVid, RegionInfo> infos_;
    std::vector<Outlives> constraints_;
    std::unordered_map<RegionId, RegionVid> params_;
    std::unordered_map<TypeId, bool> may_hold_;
    std::unordered_map<TypeId, std::vector<RegionVid>> regions_;
    std::unordered_map<TypeId, TypeId> normalized_;
    std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, TypeId> fields_;
    std::unordered_map<DefId, std::vector<Variance>> variances_;
};

}  // namespace ockc::borrowck
