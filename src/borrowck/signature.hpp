// A function's signature for its body: the lifetimes of the caller, what is known of them, and what an `impl Trait` of the result
// hides.
#pragma once
#include "borrowck/body_cx.hpp"

namespace ockc::borrowck {

class Signature {
  public:
    explicit Signature(BodyCx& cx) : cx_(cx), regions_(cx.regions), types_(cx.types) {}

    // The universal regions of the body and the relations between them that its signature declares or implies. Of closures and
    // constants: nothing.
    void read();
    // What a type with region variables promises of the regions in it.
    void imply(TypeId type);
    bool is_fn() const;   // and no closure
    // The result's `impl Trait`s in the type that the body gives it: what they hide without a `+ 'a` outlives the call.
    void hide(TypeId result);
    bool hides() const { return hides_; }
    bool is_hidden(RegionVid region) const { return std::find(hidden_.begin(), hidden_.end(), region) != hidden_.end(); }
    // What a value of the result's type hides must outlive the lifetimes of the `+ 'a` and have the other bounds.
    void promise(TypeId value, const Outlives& reason, class Obligations& obligations);

  private:
    RegionVid universal_of(types::RegionId region);
    void universal(types::RegionId region, LocalId argument);
    void name_regions(TypeId type, LocalId argument);
    void implied_bounds(TypeId type);
    void adt_bounds(const types::TypeData& data);
    bool is_known(types::RegionId region) const;
    void regions_inside(TypeId type, std::vector<types::RegionId>& out);
    bool is_own_opaque(const types::TypeData& data) const;
    template <class Fn>
    void for_each_hidden(TypeId output, TypeId view, const Fn& f);

    BodyCx& cx_;
    RegionTypes& regions_;
    types::TypeStore& types_;
    std::map<std::uint32_t, RegionVid> named_;
    std::vector<DefId> open_adts_;    // whose fields are looked at
    bool hides_ = false;              // the result's type has an `impl Trait` of this function
    std::vector<RegionVid> hidden_;   // what these hide, in the type of the result
};

}  // namespace ockc::borrowck
