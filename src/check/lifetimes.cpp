// Early and late bound lifetime parameters.
#include <unordered_set>

#include "check/state.hpp"
#include "types/fold.hpp"

namespace ockc::check {

namespace {

// The lifetime parameters that types name.
class NamedLifetimes final : public types::Folder {
  public:
    NamedLifetimes(TypeStore& types, bool into_projections) : Folder(types, types::kHasRegion | types::kHasProjection), into_projections_(into_projections) {}
    std::unordered_set<DefId> named;

  protected:
    TypeId type_of(TypeId type) override {
        if (!into_projections_ && types_.kind(type) == TypeKind::Projection) return type;   // determines nothing
        return super_type(type);
    }
    RegionId region_of(RegionId region) override {
        if (types_[region].kind == types::RegionKind::EarlyParam) named.insert(types_[region].def);
        return region;
    }

  private:
    bool into_projections_;
};

}  // namespace

std::size_t early_lifetime_count(Context& cx, DefId fn) {
    TypeStore& types = cx.types();
    NamedLifetimes bounds(types, true), inputs(types, false);
    const GenericsInfo& generics = cx.generics_of(fn);
    const auto& predicates = cx.predicates_of(fn);
    for (std::size_t i = generics.parent.valid() ? cx.predicates_of(generics.parent).size() : 0; i < predicates.size(); ++i) {
        const Predicate& predicate = predicates[i];
        if (predicate.trait_ref.args.valid()) bounds.fold(predicate.trait_ref.args);
        if (predicate.kind == Predicate::Kind::Projection && predicate.term.kind() == GenericArg::Kind::Type) bounds.fold(predicate.term.as_type());
        if (predicate.type.valid()) bounds.fold(predicate.type);
        if (predicate.longer.valid()) bounds.fold(predicate.longer);
        if (predicate.region.valid()) bounds.fold(predicate.region);
    }
    for (TypeId input : cx.fn_sig(fn).inputs) inputs.fold(input);
    std::size_t early = 0;
    for (const auto& param : generics.own) {
        if (param.kind != hir::GenericParam::Kind::Lifetime) continue;
        early += bounds.named.count(param.def) != 0 || inputs.named.count(param.def) == 0;
    }
    return early;
}

}  // namespace ockc::check
