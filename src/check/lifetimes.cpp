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

const std::vector<std::uint8_t>& Context::late_bound(DefId fn) {
    if (const auto* known = state_->late_bound.find(fn)) return *known;
    NamedLifetimes bounds(types_, true), inputs(types_, false);
    const GenericsInfo& generics = generics_of(fn);
    const auto& predicates = predicates_of(fn);
    for (std::size_t i = generics.parent.valid() ? predicates_of(generics.parent).size() : 0; i < predicates.size(); ++i) {
        const Predicate& predicate = predicates[i];
        if (predicate.trait_ref.args.valid()) bounds.fold(predicate.trait_ref.args);
        if (predicate.kind == Predicate::Kind::Projection && predicate.term.kind() == GenericArg::Kind::Type) bounds.fold(predicate.term.as_type());
        if (predicate.type.valid()) bounds.fold(predicate.type);
        if (predicate.longer.valid()) bounds.fold(predicate.longer);
        if (predicate.region.valid()) bounds.fold(predicate.region);
    }
    for (TypeId input : fn_sig(fn).inputs) inputs.fold(input);
    std::vector<std::uint8_t> late;
    for (const auto& param : generics.own) {
        const bool is_lifetime = param.kind == hir::GenericParam::Kind::Lifetime;
        late.push_back(is_lifetime && bounds.named.count(param.def) == 0 && inputs.named.count(param.def) != 0 ? 1 : 0);
    }
    return state_->late_bound.put(fn, std::move(late));
}

std::size_t early_lifetime_count(Context& cx, DefId fn) {
    const GenericsInfo& generics = cx.generics_of(fn);
    const std::vector<std::uint8_t>& late = cx.late_bound(fn);
    std::size_t early = 0;
    for (std::size_t i = 0; i < generics.own.size(); ++i) {
        early += generics.own[i].kind == hir::GenericParam::Kind::Lifetime && late[i] == 0;
    }
    return early;
}

}  // namespace ockc::check
