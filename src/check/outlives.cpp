#include "check/outlives.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "types/fold.hpp"

namespace ockc::check {

ItemOutlives::ItemOutlives(Context& context, DefId item) : cx_(context), types_(context.types()) {
    for (const Predicate& predicate : context.predicates_of(item)) {
        if (predicate.kind == Predicate::Kind::TypeOutlives) types_known_.emplace_back(predicate.type, predicate.region);
        if (predicate.kind == Predicate::Kind::RegionOutlives) regions_known_.emplace_back(predicate.longer, predicate.region);
    }
}

RegionId ItemOutlives::filled(RegionId region, ArgsId args) const {
    const types::RegionData& data = types_[region];
    const bool is_param = data.kind == types::RegionKind::EarlyParam && data.index < types_[args].size();
    return is_param && types_[args][data.index].kind() == GenericArg::Kind::Region ? types_[args][data.index].as_region() : region;
}

void ItemOutlives::assume(TypeId type) {
    const TypeData data = types_[type];
    if (data.kind == TypeKind::Ref) {
        types::walk(types_, data.element, [&](TypeId part) {
            const TypeData inner = types_[part];
            if (inner.kind == TypeKind::Param || inner.kind == TypeKind::Projection) types_known_.emplace_back(part, data.region);
            if (inner.region.valid()) regions_known_.emplace_back(inner.region, data.region);
            for (const GenericArg arg : types_[inner.args]) {
                if (arg.kind() == GenericArg::Kind::Region) regions_known_.emplace_back(arg.as_region(), data.region);
            }
            return true;
        });
    }
    if (data.element.valid()) assume(data.element);
    for (const TypeId element : types_[data.elements]) assume(element);
    if (data.kind != TypeKind::Adt) return;
    for (const GenericArg arg : types_[data.args]) {
        if (arg.kind() == GenericArg::Kind::Type) assume(arg.as_type());
    }
    for (const Predicate& predicate : cx_.predicates_of(data.def)) {
        if (predicate.kind == Predicate::Kind::TypeOutlives) types_known_.emplace_back(types_.subst(predicate.type, data.args), filled(predicate.region, data.args));
        if (predicate.kind == Predicate::Kind::RegionOutlives) regions_known_.emplace_back(filled(predicate.longer, data.args), filled(predicate.region, data.args));
    }
    if (std::find(open_.begin(), open_.end(), data.def) != open_.end()) return;
    open_.push_back(data.def);
    for (const VariantInfo& variant : cx_.adt(data.def).variants) {
        for (const FieldInfo& field : variant.fields) {
            if (field.type.valid() && types_.has(field.type, types::kHasRegion)) assume(types_.subst(field.type, data.args));
        }
    }
    open_.pop_back();
}

bool ItemOutlives::known(RegionId longer, RegionId shorter) const {
    std::vector<RegionId> work{longer};
    for (std::size_t i = 0; i < work.size(); ++i) {
        if (work[i] == shorter || work[i] == types_.static_region) return true;
        for (const auto& [upper, lower] : regions_known_) {
            if (upper == work[i] && std::find(work.begin(), work.end(), lower) == work.end()) work.push_back(lower);
        }
    }
    return false;
}

bool ItemOutlives::known(TypeId type, RegionId region) const {
    return std::any_of(types_known_.begin(), types_known_.end(), [&](const auto& one) { return one.first == type && known(one.second, region); });
}

void ItemOutlives::report(TypeId type, RegionId region, Span span) {
    if (std::exchange(reported_, true)) return;
    const std::string text = cx_.text(type);
    const bool is_static = region == types_.static_region;
    const std::string name(is_static ? std::string_view("'static") : cx_.program().interner.text(types_[region].name));
    cx_.sink()
        .error(is_static ? Code::E0310 : Code::E0309, span, fmt::format("the {} `{}` may not live long enough", types_.kind(type) == TypeKind::Param ? "parameter type" : "associated type", text))
        .label(span, is_static ? fmt::format("the type `{}` must be valid for the static lifetime", text) : fmt::format("the type `{}` must be valid for the lifetime `{}`", text, name))
        .help(fmt::format("consider adding an explicit lifetime bound: `{}: {}`", text, name));
}

void ItemOutlives::require_region(RegionId longer, RegionId shorter, TypeId reference, Span span) {
    const auto can_tell = [&](RegionId region) { return types_[region].kind == types::RegionKind::EarlyParam || region == types_.static_region; };
    if (!can_tell(longer) || !can_tell(shorter) || known(longer, shorter) || std::exchange(reported_, true)) return;
    if (reference.valid()) {
        cx_.sink()
            .error(Code::E0491, span, fmt::format("in type `{}`, reference has a longer lifetime than the data it references", cx_.text(reference)))
            .label(span, "the data must live at least as long as the reference");
        return;
    }
    cx_.sink().error(Code::E0478, span, "lifetime bound not satisfied").label(span, "a lifetime in this type must outlive another that it is not known to outlive");
}

// `type: region`; `reference`: because of this reference.
void ItemOutlives::require_part(TypeId type, RegionId region, TypeId reference, Span span) {
    const TypeData data = types_[type];
    if (data.kind == TypeKind::Param) {
        if (!known(type, region)) report(type, region, span);
        return;
    }
    if (data.kind == TypeKind::Projection || data.kind == TypeKind::FnPtr) return;   // of projections bounds may say it in many ways
    if (data.region.valid()) require_region(data.region, region, reference, span);
    if (data.element.valid()) require_part(data.element, region, reference, span);
    for (const TypeId element : types_[data.elements]) require_part(element, region, reference, span);
    for (const GenericArg arg : types_[data.args]) {
        if (arg.kind() == GenericArg::Kind::Region) require_region(arg.as_region(), region, reference, span);
        if (arg.kind() == GenericArg::Kind::Type) require_part(arg.as_type(), region, reference, span);
    }
}

void ItemOutlives::require(TypeId type, RegionId region, Span span) { require_part(type, region, TypeId(), span); }

void ItemOutlives::well_formed(TypeId type, Span span, bool only_static) {
    const TypeData data = types_[type];
    const auto asked = [&](RegionId region) { return !only_static || region == types_.static_region; };
    if (data.kind == TypeKind::FnPtr) return;   // its arguments' bounds are implied for each call
    if (data.kind == TypeKind::Ref && asked(data.region)) require_part(data.element, data.region, type, span);
    if (data.element.valid()) well_formed(data.element, span, only_static);
    for (const TypeId element : types_[data.elements]) well_formed(element, span, only_static);
    for (const GenericArg arg : types_[data.args]) {
        if (arg.kind() == GenericArg::Kind::Type) well_formed(arg.as_type(), span, only_static);
    }
    if (data.kind != TypeKind::Adt) return;
    for (const Predicate& predicate : cx_.predicates_of(data.def)) {
        const RegionId region = predicate.region.valid() ? filled(predicate.region, data.args) : RegionId();
        if (!region.valid() || !asked(region)) continue;
        if (predicate.kind == Predicate::Kind::TypeOutlives) require(types_.subst(predicate.type, data.args), region, span);
        if (predicate.kind == Predicate::Kind::RegionOutlives) require_region(filled(predicate.longer, data.args), region, TypeId(), span);
    }
}

}  // namespace ockc::check
