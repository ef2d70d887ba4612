#include "borrowck/obligations.hpp"
#include "borrowck/signature.hpp"

namespace ockc::borrowck {

using types::GenericArg;
using types::TypeData;
using types::TypeKind;

bool Signature::is_fn() const {
    const hir::DefKind kind = cx_.context.program().defs[cx_.body.owner].kind;
    return !cx_.body.is_closure && (kind == hir::DefKind::Fn || kind == hir::DefKind::AssocFn);
}

void Signature::read() {
    if (!is_fn()) return;
    const check::FnSigInfo& sig = cx_.context.fn_sig(cx_.body.owner);
    for (std::size_t i = 0; i < sig.inputs.size(); ++i) name_regions(sig.inputs[i], LocalId(static_cast<std::uint32_t>(i) + 1));
    name_regions(sig.output, LocalId());
    for (const GenericArg arg : types_[cx_.context.identity_args(cx_.body.owner)]) {
        if (arg.kind() == GenericArg::Kind::Region) universal(arg.as_region(), LocalId());
    }
    for (const check::Predicate& predicate : cx_.context.predicates_of(cx_.body.owner)) {
        if (predicate.kind == check::Predicate::Kind::TypeOutlives && is_known(predicate.region)) {
            cx_.known_type_outlives.emplace_back(regions_.erase(predicate.type), universal_of(predicate.region));
        }
        if (predicate.kind != check::Predicate::Kind::RegionOutlives || !is_known(predicate.longer) || !is_known(predicate.region)) continue;
        cx_.known_outlives.emplace_back(universal_of(predicate.longer), universal_of(predicate.region));
    }
    for (const TypeId input : sig.inputs) implied_bounds(input);
    implied_bounds(sig.output);
    const DefId parent = cx_.context.program().defs[cx_.body.owner].parent;
    if (parent.valid() && cx_.context.program().defs[parent].kind == hir::DefKind::Impl) implied_bounds(cx_.context.type_of(parent));
}

void Signature::imply(TypeId type) {
    if (!regions_.may_hold_regions(type)) return;
    const TypeData data = types_[type];
    if (data.kind == TypeKind::Ref) {
        const RegionVid shorter = regions_.vid(data.region);
        for (const RegionVid longer : regions_.regions_of(data.element)) cx_.known_outlives.emplace_back(longer, shorter);
        types::walk(types_, data.element, [&](TypeId part) {
            const TypeKind kind = types_.kind(part);
            if (kind == TypeKind::Param || kind == TypeKind::Projection) cx_.known_type_outlives.emplace_back(regions_.erase(part), shorter);
            return kind != TypeKind::Projection;
        });
    }
    if (data.element.valid()) imply(data.element);
    if (data.elements.valid()) {
        const std::vector<TypeId> elements(types_[data.elements].begin(), types_[data.elements].end());
        for (const TypeId element : elements) imply(element);
    }
}

RegionVid Signature::universal_of(types::RegionId region) {
    return types_[region].kind == types::RegionKind::Static ? kStatic : named_.at(region.raw);
}

void Signature::universal(types::RegionId region, LocalId argument) {
    const types::RegionData data = types_[region];
    if (data.kind != types::RegionKind::EarlyParam && data.kind != types::RegionKind::LateParam) return;
    if (named_.count(region.raw) != 0) return;
    RegionInfo info;
    info.role = RegionRole::Local;
    info.is_named = data.name.valid() && cx_.name(data.name) != "'_" && !cx_.name(data.name).empty();
    if (info.is_named) info.name = cx_.name(data.name);
    info.argument = argument;
    const RegionVid vid = regions_.add_universal(std::move(info));
    named_.emplace(region.raw, vid);
    regions_.bind(region, vid);
}

void Signature::name_regions(TypeId type, LocalId argument) {
    const TypeData data = types_[type];
    if (data.kind == TypeKind::Ref) universal(data.region, argument);
    if (data.element.valid()) name_regions(data.element, argument);
    if (data.elements.valid()) {
        for (const TypeId element : types_[data.elements]) name_regions(element, argument);
    }
    if (!data.args.valid()) return;
    for (const GenericArg arg : types_[data.args]) {
        if (arg.kind() == GenericArg::Kind::Type) name_regions(arg.as_type(), argument);
        if (arg.kind() == GenericArg::Kind::Region) universal(arg.as_region(), argument);
    }
}

// `&'a T` in a signature promises that what T holds outlives 'a.
void Signature::implied_bounds(TypeId type) {
    const TypeData data = types_[type];
    if (data.kind == TypeKind::Ref) {
        if (is_known(data.region)) {
            types::walk(types_, data.element, [&](TypeId part) {
                const TypeKind kind = types_.kind(part);
                if (kind == TypeKind::Param || kind == TypeKind::Projection) {
                    cx_.known_type_outlives.emplace_back(types_.erase_regions(part), universal_of(data.region));
                }
                return kind != TypeKind::Projection;
            });
        }
        std::vector<types::RegionId> inner;
        regions_inside(data.element, inner);
        for (const types::RegionId longer : inner) {
            if (is_known(longer) && is_known(data.region)) {
                cx_.known_outlives.emplace_back(universal_of(longer), universal_of(data.region));
            }
        }
    }
    if (data.element.valid()) implied_bounds(data.element);
    if (data.elements.valid()) {
        for (const TypeId element : types_[data.elements]) implied_bounds(element);
    }
    if (!data.args.valid()) return;
    for (const GenericArg arg : types_[data.args]) {
        if (arg.kind() == GenericArg::Kind::Type) implied_bounds(arg.as_type());
    }
    if (data.kind == TypeKind::Adt) adt_bounds(data);
}
void Signature::adt_bounds(const TypeData& data) {
    const std::span<const GenericArg> args = types_[data.args];
    const auto region_of = [&](types::RegionId region) {
        const types::RegionData info = types_[region];
        const bool filled = info.kind == types::RegionKind::EarlyParam && info.index < args.size() &&
                            args[info.index].kind() == GenericArg::Kind::Region;
        return filled ? args[info.index].as_region() : region;
    };
    for (const check::Predicate& predicate : cx_.context.predicates_of(data.def)) {
        if (predicate.kind == check::Predicate::Kind::TypeOutlives && is_known(region_of(predicate.region))) {
            const TypeId type = types_.erase_regions(types_.subst(predicate.type, args));
            const TypeKind kind = types_.kind(type);
            if (kind == TypeKind::Param || kind == TypeKind::Projection) cx_.known_type_outlives.emplace_back(type, universal_of(region_of(predicate.region)));
        }
        if (predicate.kind != check::Predicate::Kind::RegionOutlives) continue;
        const types::RegionId longer = region_of(predicate.longer), shorter = region_of(predicate.region);
        if (is_known(longer) && is_known(shorter)) {
            cx_.known_outlives.emplace_back(universal_of(longer), universal_of(shorter));
        }
    }
    if (std::find(open_adts_.begin(), open_adts_.end(), data.def) != open_adts_.end()) return;
    open_adts_.push_back(data.def);
    for (const check::VariantInfo& variant : cx_.context.adt(data.def).variants) {
        for (const check::FieldInfo& field : variant.fields) {
            if (field.type.valid() && types_.has(field.type, types::kHasRegion)) implied_bounds(types_.subst(field.type, args));
        }
    }
    open_adts_.pop_back();
}
bool Signature::is_known(types::RegionId region) const {
    return types_[region].kind == types::RegionKind::Static || named_.count(region.raw) != 0;
}
void Signature::regions_inside(TypeId type, std::vector<types::RegionId>& out) {
    const TypeData data = types_[type];
    if (data.region.valid()) out.push_back(data.region);
    if (data.element.valid()) regions_inside(data.element, out);
    if (data.elements.valid()) {
        for (const TypeId element : types_[data.elements]) regions_inside(element, out);
    }
    if (!data.args.valid()) return;
    for (const GenericArg arg : types_[data.args]) {
        if (arg.kind() == GenericArg::Kind::Region) out.push_back(arg.as_region());
        if (arg.kind() == GenericArg::Kind::Type) regions_inside(arg.as_type(), out);
    }
}

// ---- `impl Trait` in the result

bool Signature::is_own_opaque(const TypeData& data) const {
    if (data.kind != TypeKind::Opaque && data.kind != TypeKind::Projection) return false;
    const hir::Def& def = cx_.context.program().defs[data.def];
    return def.kind == hir::DefKind::ImplTrait && def.parent == cx_.body.owner;
}

// Calls f(opaque, seen, regions, bounds) for each `impl Trait` of the function's result: the part of `view` and its regions,
// a type of the revealed result's shape, and the lifetimes of its `+ 'a`.
template <class Fn>
void Signature::for_each_hidden(TypeId output, TypeId view, const Fn& f) {
    const TypeData data = types_[output], seen = types_[view];
    if (is_own_opaque(data)) {
        std::vector<RegionVid> regions;
        std::vector<types::RegionId> bounds;
        regions_.collect(view, regions);
        for (const check::Predicate& bound : cx_.context.item_bounds(data.def)) {
            if (bound.kind == check::Predicate::Kind::TypeOutlives && is_known(bound.region)) bounds.push_back(bound.region);
        }
        return f(output, view, regions, bounds);
    }
    if (data.kind != seen.kind) return;
    if (data.element.valid()) for_each_hidden(data.element, seen.element, f);
    if (data.elements.valid()) {
        const std::vector<TypeId> a(types_[data.elements].begin(), types_[data.elements].end());
        const std::vector<TypeId> b(types_[seen.elements].begin(), types_[seen.elements].end());
        for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) for_each_hidden(a[i], b[i], f);
    }
    if (!data.args.valid() || !seen.args.valid()) return;
    for (std::size_t i = 0; i < std::min(types_[data.args].size(), types_[seen.args].size()); ++i) {
        const GenericArg a = types_[data.args][i], b = types_[seen.args][i];
        if (a.kind() == GenericArg::Kind::Type && b.kind() == GenericArg::Kind::Type) for_each_hidden(a.as_type(), b.as_type(), f);
    }
}

// What is hidden without a `+ 'a` outlives the call: any lifetime of the signature may be part of it.
void Signature::hide(TypeId result) {
    const TypeId output = cx_.context.fn_sig(cx_.body.owner).output;
    hides_ = cx_.context.reveal_own(cx_.body.owner, output) != output;
    if (!hides_) return;
    for_each_hidden(output, result, [&](TypeId opaque, TypeId, const std::vector<RegionVid>& hidden, const std::vector<types::RegionId>& bounds) {
        hidden_.insert(hidden_.end(), hidden.begin(), hidden.end());
        const DefId def = types_[opaque].def;
        const std::vector<std::uint8_t>& left_out = cx_.closures.type_facts().left_out(cx_.context, def);
        if (!bounds.empty() && left_out.empty()) return;
        for (const RegionVid region : hidden) {
            if (regions_.info(region).is_universal) continue;
            RegionInfo& info = regions_.info(region);
            info.is_universal = true;
            if (named_.size() < 2) info.name = named_.empty() ? std::string_view("'static") : regions_.info(named_.begin()->second).name;
            cx_.known_outlives.emplace_back(kStatic, region);
            info.hidden_by = opaque;
            for (const auto& [raw, known] : named_) {
                const types::RegionData& data = types_[types::RegionId(raw)];
                const std::size_t position = data.kind == types::RegionKind::EarlyParam ? data.index : left_out.size() - 1;
                if (left_out.empty() || left_out[std::min(position, left_out.size() - 1)] == 0) cx_.known_outlives.emplace_back(known, region);
            }
        }
    });
}

void Signature::promise(TypeId value, const Outlives& reason, Obligations& obligations) {
    const auto bounded = [&](TypeId opaque, TypeId hidden, const std::vector<RegionVid>&, const std::vector<types::RegionId>& bounds) {
        for (const types::RegionId bound : bounds) cx_.type_outlives(hidden, universal_of(bound), reason);
        obligations.hidden(opaque, hidden, reason);
    };
    for_each_hidden(cx_.context.fn_sig(cx_.body.owner).output, value, bounded);
}

}  // namespace ockc::borrowck
