#include "borrowck/obligations.hpp"

#include <fmt/format.h>

namespace ockc::borrowck {

using check::Predicate;
using types::GenericArg;
using types::TypeData;
using types::TypeKind;

namespace {
constexpr std::uint32_t kDeepestBound = 16;   // bounds of impls of bounds of impls ..

// Traits that say nothing of lifetimes, whatever the type.
bool says_nothing(std::string_view lang_item) { return lang_item == "sized" || lang_item == "send" || lang_item == "sync"; }
}  // namespace

void Obligations::item(DefId item, ArgsId args, const RegionTypes::LateRegions& late, const Outlives& reason) {
    for (const Predicate& one : cx_.context.predicates_of(item)) predicate(one, args, late, reason);
}

bool Obligations::mention_regions(DefId item) const {
    const std::vector<Predicate>& bounds = cx_.context.predicates_of(item);
    return std::any_of(bounds.begin(), bounds.end(), [&](const Predicate& one) {
        return one.region.valid() || types_.has(one.trait_ref.args, types::kHasRegion) ||
               (one.term.kind() == GenericArg::Kind::Type && types_.has(one.term.as_type(), types::kHasRegion));
    });
}

void Obligations::hidden(TypeId opaque, TypeId hidden, const Outlives& reason) {
    for (Predicate bound : cx_.context.item_bounds(types_[opaque].def)) {
        if (bound.kind != Predicate::Kind::Trait && bound.kind != Predicate::Kind::Projection) continue;
        std::vector<GenericArg> args(types_[bound.trait_ref.args].begin(), types_[bound.trait_ref.args].end());
        if (types_[args[0].as_type()].def != types_[opaque].def) continue;   // of an associated type
        args[0] = hidden;
        bound.trait_ref.args = types_.args(args);
        predicate(bound, ArgsId(), {}, reason);
    }
}

std::optional<RegionVid> Obligations::region_of(types::RegionId region, ArgsId args, const RegionTypes::LateRegions& late) const {
    const types::RegionData data = types_[region];
    if (data.kind == types::RegionKind::Static) return kStatic;
    if (data.kind == types::RegionKind::EarlyParam && !args.valid()) return regions_.vid(region);
    if (data.kind == types::RegionKind::EarlyParam && data.index < types_[args].size() && types_[args][data.index].kind() == GenericArg::Kind::Region) {
        return regions_.vid(types_[args][data.index].as_region());
    }
    const auto found = late.find(RegionTypes::late_key(data));
    return found == late.end() ? std::nullopt : std::optional<RegionVid>(found->second);
}

void Obligations::predicate(const Predicate& predicate, ArgsId args, RegionTypes::LateRegions late, const Outlives& reason) {
    switch (predicate.kind) {
        case Predicate::Kind::ConstHasType: return;
        case Predicate::Kind::RegionOutlives: {
            const auto longer = region_of(predicate.longer, args, late), shorter = region_of(predicate.region, args, late);
            if (!longer || !shorter) return;
            Outlives constraint = reason;
            constraint.sup = *longer;
            constraint.sub = *shorter;
            return regions_.outlives(constraint);
        }
        case Predicate::Kind::TypeOutlives: {
            const auto shorter = region_of(predicate.region, args, late);
            if (shorter) cx_.type_outlives(regions_.instantiate(predicate.type, args, &late), *shorter, reason);
            return;
        }
        case Predicate::Kind::Trait:
        case Predicate::Kind::Projection: break;
    }
    const DefId trait = predicate.trait_ref.trait;
    if (says_nothing(cx_.context.program().defs[trait].lang_item)) return;
    bool any = false;
    for (const GenericArg arg : types_[args.valid() ? types_.subst(predicate.trait_ref.args, args) : predicate.trait_ref.args]) {
        any = any || arg.kind() == GenericArg::Kind::Region || (arg.kind() == GenericArg::Kind::Type && regions_.may_hold_regions(arg.as_type()));
    }
    const bool is_projection = predicate.kind == Predicate::Kind::Projection;
    if (is_projection && predicate.term.kind() == GenericArg::Kind::Type) any = any || regions_.may_hold_regions(predicate.term.as_type());
    if (!any || (is_projection && predicate.term.kind() != GenericArg::Kind::Type)) return;
    const std::uint32_t first_region = static_cast<std::uint32_t>(regions_.region_count());
    const std::size_t first_constraint = regions_.constraints().size();
    const RegionTypes::LateRegions known = late;
    const ArgsId filled = regions_.instantiate(predicate.trait_ref.args, args, &late);
    std::vector<RegionVid> placeholders;
    if (is_projection) {
        const TypeId term = regions_.instantiate(predicate.term.as_type(), args, &late);
        for (const auto& [key, vid] : late) {
            if (known.count(key) == 0) placeholders.push_back(vid);
        }
        regions_.relate(regions_.normalize(types_.projection(predicate.assoc, filled)), term, Variance::Invariant, reason);
    } else {
        for (const auto& [key, vid] : late) {
            if (known.count(key) == 0) placeholders.push_back(vid);
        }
        this->trait(trait, filled, reason);
    }
    if (!placeholders.empty()) any_lifetime(predicate, placeholders, first_region, first_constraint, reason);
}

void Obligations::callable(const RegionTypes::CallSignature& signature, TypeId tuple, const Outlives& reason) {
    if (types_.kind(tuple) != TypeKind::Tuple) return;
    const std::vector<TypeId> given(types_[types_[tuple].elements].begin(), types_[types_[tuple].elements].end());
    for (std::size_t i = 0; i < std::min(given.size(), signature.inputs.size()); ++i) {
        regions_.relate(given[i], signature.inputs[i], Variance::Invariant, reason);
    }
}

void Obligations::trait(DefId trait, ArgsId args, const Outlives& reason) {
    const std::string_view lang = cx_.context.program().defs[trait].lang_item;
    if (says_nothing(lang) || depth_ >= kDeepestBound) return;
    const TypeId self = types_[args][0].as_type();
    if (lang == "fn" || lang == "fn_mut" || lang == "fn_once") {
        if (const auto signature = regions_.call_signature(self)) return callable(*signature, types_[args][1].as_type(), reason);
    }
    const TypeKind kind = types_.kind(self);
    if (kind == TypeKind::Param || kind == TypeKind::Projection || kind == TypeKind::Opaque) {
        const std::vector<ArgsId> bounds = regions_.bounds_like(trait, args);
        if (bounds.size() == 1) regions_.equate_args(bounds[0], args, reason);   // of several, which one is meant decides nothing
        if (!bounds.empty()) return;
    }
    if (!from_impl(trait, args, false, reason)) from_impl(trait, args, true, reason);
}

// The one impl that fits, but for regions; those for every type come last.
bool Obligations::from_impl(DefId trait, ArgsId args, bool blanket, const Outlives& reason) {
    for (const DefId impl : cx_.context.impls_that_may_match(trait, types_[args][0].as_type())) {
        const bool is_blanket = types_.kind(types_[cx_.context.impl_trait_ref(impl).args][0].as_type()) == TypeKind::Param;
        if (is_blanket != blanket || cx_.context.program().as<hir::ImplDef>(impl).is_negative) continue;
        const std::optional<ArgsId> impl_args = regions_.match_impl(impl, args, reason);
        if (!impl_args) continue;
        ++depth_;
        item(impl, *impl_args, {}, reason);
        --depth_;
        return true;
    }
    return false;
}

void Obligations::any_lifetime(const Predicate& predicate, const std::vector<RegionVid>& placeholders, std::uint32_t first_region,
                               std::size_t first_constraint, const Outlives& reason) {
    const std::vector<Outlives> made(regions_.constraints().begin() + static_cast<std::ptrdiff_t>(first_constraint), regions_.constraints().end());
    const auto is_placeholder = [&](RegionVid region) { return std::find(placeholders.begin(), placeholders.end(), region) != placeholders.end(); };
    // Everything that `from` reaches through regions made for this bound.
    const auto reached = [&](RegionVid from, bool forward) {
        std::vector<RegionVid> work{from};
        for (std::size_t i = 0; i < work.size(); ++i) {
            if (work[i] != from && (work[i].raw < first_region || is_placeholder(work[i]))) continue;
            for (const Outlives& one : made) {
                const RegionVid at = forward ? one.sup : one.sub, next = forward ? one.sub : one.sup;
                if (at == work[i] && std::find(work.begin(), work.end(), next) == work.end()) work.push_back(next);
            }
        }
        work.erase(work.begin());
        return work;
    };
    bool is_general = true;
    for (const RegionVid placeholder : placeholders) {
        for (const RegionVid region : reached(placeholder, true)) is_general = is_general && region.raw >= first_region && !is_placeholder(region);
        for (const RegionVid region : reached(placeholder, false)) {   // longer than any lifetime
            if (region.raw >= first_region || region == kStatic) continue;
            Outlives forever = reason;
            forever.sup = region;
            forever.sub = kStatic;
            regions_.outlives(forever);
        }
    }
    if (is_general || not_general_ == reason.span) return;   // told of the trait, it need not be told of what the trait gives
    not_general_ = reason.span;
    const DefId trait = predicate.trait_ref.trait;
    if (predicate.kind == Predicate::Kind::Projection) {
        Diagnostic& error = cx_.context.sink().error(Code::E0308, reason.span, "mismatched types");
        error.labels.clear();
        error.labels.push_back(Label{reason.span, "one type is more general than the other", true});
        return;
    }
    Diagnostic& error = cx_.context.sink().error(reason.span, fmt::format("implementation of `{}` is not general enough", cx_.context.program().name(trait)));
    error.labels.clear();
    error.labels.push_back(Label{reason.span, fmt::format("`{}` must hold for any lifetime, and holds for some only", cx_.context.program().name(trait)), true});
}

// The regions in a type that must outlive `shorter` for the type to do so, and its parameters, which are looked at when the regions
// are known.
void BodyCx::type_outlives(TypeId type, RegionVid shorter, const Outlives& reason) {
    const TypeData data = types[type];
    const auto region = [&](types::RegionId longer) {
        if (types[longer].kind == types::RegionKind::Bound) return;
        Outlives constraint = reason;
        constraint.sup = regions.vid(longer);
        constraint.sub = shorter;
        regions.outlives(constraint);
    };
    if (data.kind == TypeKind::Param || data.kind == TypeKind::Projection) {
        type_tests.push_back({type, shorter, reason});
        return;
    }
    if (data.kind == TypeKind::Closure) return type_outlives(types[data.args].back().as_type(), shorter, reason);
    if (data.kind == TypeKind::Ref) region(data.region);
    if (data.element.valid()) type_outlives(data.element, shorter, reason);
    if (data.elements.valid()) {
        const std::vector<TypeId> elements(types[data.elements].begin(), types[data.elements].end());
        for (const TypeId element : elements) type_outlives(element, shorter, reason);
    }
    if (!data.args.valid()) return;
    for (const GenericArg arg : types[data.args]) {
        if (arg.kind() == GenericArg::Kind::Region) region(arg.as_region());
        if (arg.kind() == GenericArg::Kind::Type) type_outlives(arg.as_type(), shorter, reason);
    }
}

}  // namespace ockc::borrowck
