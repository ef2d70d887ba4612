// What a call, or a struct that is made, demands of the lifetimes in its generic arguments: the item's bounds are proven with region
// types, through impls and the bounds of these, and every lifetime that must equal or outlive another becomes a constraint.
#pragma once
#include "borrowck/body_cx.hpp"

namespace ockc::borrowck {

class Obligations {
  public:
    explicit Obligations(BodyCx& cx) : cx_(cx), regions_(cx.regions), types_(cx.types) {}

    // The bounds of `item` hold for the arguments; `late` has its late-bound lifetimes. The span and place are the reason's.
    void item(DefId item, ArgsId args, const RegionTypes::LateRegions& late, const Outlives& reason);

    // Whether some bound of the item has a lifetime in it.
    bool mention_regions(DefId item) const;
    // What an `impl Trait` of the function hides has its bounds.
    void hidden(TypeId opaque, TypeId hidden, const Outlives& reason);

  private:
    void predicate(const check::Predicate& predicate, ArgsId args, RegionTypes::LateRegions late, const Outlives& reason);
    void trait(DefId trait, ArgsId args, const Outlives& reason);
    void callable(const RegionTypes::CallSignature& signature, TypeId tuple, const Outlives& reason);
    bool from_impl(DefId trait, ArgsId args, bool blanket, const Outlives& reason);
    std::optional<RegionVid> region_of(types::RegionId region, ArgsId args, const RegionTypes::LateRegions& late) const;
    // What holds for any lifetime, the placeholders, must not need more of them than that they are there.
    void any_lifetime(const check::Predicate& predicate, const std::vector<RegionVid>& placeholders, std::uint32_t first_region, std::size_t first_constraint, const Outlives& reason);

    BodyCx& cx_;
    RegionTypes& regions_;
    types::TypeStore& types_;
    std::uint32_t depth_ = 0;
    Span not_general_;                 // where the last bound stands that holds for some lifetimes only
};

}  // namespace ockc::borrowck
