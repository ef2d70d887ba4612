// Lifetimes in declarations: whether types written in structs and impls keep what `T: 'a` and `'a: 'b` demand (E0309, E0310, E0478,
// E0491). In bodies that is the borrow checker's.
#pragma once
#include <utility>
#include <vector>

#include "check/state.hpp"

namespace ockc::check {

class ItemOutlives {
  public:
    // What is known: the item's own bounds and its parents'.
    ItemOutlives(Context& context, DefId item);
    // The type is given: what it demands holds.
    void assume(TypeId type);
    // The type may be formed: references live no longer than what they refer to, bounds of structs about lifetimes hold. Only what must
    // be 'static is asked when the rest is inferred, as of a struct's own fields.
    void well_formed(TypeId type, Span span, bool only_static = false);
    // `type: region`, demanded by a bound.
    void require(TypeId type, RegionId region, Span span);

  private:
    bool known(TypeId type, RegionId region) const;
    bool known(RegionId longer, RegionId shorter) const;
    void require_region(RegionId longer, RegionId shorter, TypeId reference, Span span);
    void require_part(TypeId type, RegionId region, TypeId reference, Span span);
    void report(TypeId type, RegionId region, Span span);
    RegionId filled(RegionId region, ArgsId args) const;

    Context& cx_;
    TypeStore& types_;
    std::vector<std::pair<TypeId, RegionId>> types_known_;
    std::vector<std::pair<RegionId, RegionId>> regions_known_;
    std::vector<DefId> open_;          // structs whose fields are looked at
    bool reported_ = false;            // one error of an item says enough
};

}  // namespace ockc::check
