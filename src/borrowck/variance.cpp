// Subtyping: lifetimes are the only part of a type that is not equal but ordered. Variances of a struct's or enum's
// parameters are computed from its fields, to a fixed point for recursive types.
#include "borrowck/region_types.hpp"

namespace ockc::borrowck {

using types::GenericArg;
using types::TypeData;
using types::TypeKind;

Variance compose(Variance outer, Variance inner) {
    if (outer == Variance::Bivariant || inner == Variance::Bivariant) return Variance::Bivariant;
    if (outer == Variance::Invariant || inner == Variance::Invariant) return Variance::Invariant;
    return outer == inner ? Variance::Covariant : Variance::Contravariant;
}
Variance join(Variance a, Variance b) {
    if (a == b || b == Variance::Bivariant) return a;
    return a == Variance::Bivariant ? b : Variance::Invariant;
}

void RegionTypes::relate_regions(RegionId sub, RegionId super, Variance variance, const Outlives& reason) {
    const RegionVid a = vid(sub), b = vid(super);
    if (a == b) return;
    Outlives constraint = reason;
    if (variance == Variance::Covariant || variance == Variance::Invariant) {
        constraint.sup = a;
        constraint.sub = b;
        outlives(constraint);
    }
    if (variance == Variance::Contravariant || variance == Variance::Invariant) {
        constraint.sup = b;
        constraint.sub = a;
        outlives(constraint);
    }
}

void RegionTypes::relate_args(ArgsId sub, ArgsId super, const std::vector<Variance>* variances, Variance outer,
                              const Outlives& reason) {
    const std::size_t count = std::min(types_[sub].size(), types_[super].size());
    for (std::size_t i = 0; i < count; ++i) {
        const GenericArg a = types_[sub][i], b = types_[super][i];
        const Variance own = variances != nullptr && i < variances->size() ? (*variances)[i] : Variance::Invariant;
        const Variance variance = compose(outer, own);
        if (a.kind() != b.kind() || variance == Variance::Bivariant) continue;
        if (a.kind() == GenericArg::Kind::Region) relate_regions(a.as_region(), b.as_region(), variance, reason);
        if (a.kind() == GenericArg::Kind::Type) relate(a.as_type(), b.as_type(), variance, reason);
    }
}

void RegionTypes::relate(TypeId sub, TypeId super, Variance variance, const Outlives& reason) {
    if (sub == super || !may_hold_regions(sub) || !may_hold_regions(super)) return;
    const TypeData a = types_[sub], b = types_[super];
    if (a.kind != b.kind) return;   // the type checker has seen that they are equal but for regions
    switch (a.kind) {
        case TypeKind::Error: case TypeKind::Never: case TypeKind::Bool: case TypeKind::Char: case TypeKind::Str:
        case TypeKind::Int: case TypeKind::Float: case TypeKind::Param: case TypeKind::Infer: return;
        case TypeKind::Ref:
            relate_regions(a.region, b.region, variance, reason);
            return relate(a.element, b.element,
                          a.mutability == types::Mutability::Mut ? compose(variance, Variance::Invariant) : variance, reason);
        case TypeKind::RawPtr:
            return relate(a.element, b.element,
                          a.mutability == types::Mutability::Mut ? compose(variance, Variance::Invariant) : variance, reason);
        case TypeKind::Array:
        case TypeKind::Slice: return relate(a.element, b.element, variance, reason);
        case TypeKind::Tuple: {
            const std::vector<TypeId> x(types_[a.elements].begin(), types_[a.elements].end());
            const std::vector<TypeId> y(types_[b.elements].begin(), types_[b.elements].end());
            for (std::size_t i = 0; i < std::min(x.size(), y.size()); ++i) relate(x[i], y[i], variance, reason);
            return;
        }
        case TypeKind::FnPtr: {   // as one call chooses what the binders bind
            const std::optional<CallSignature> x = call_signature(sub), y = call_signature(super);
            for (std::size_t i = 0; i < std::min(x->inputs.size(), y->inputs.size()); ++i) {
                relate(x->inputs[i], y->inputs[i], compose(variance, Variance::Contravariant), reason);
            }
            return relate(x->output, y->output, variance, reason);
        }
        case TypeKind::Adt: {
            return relate_args(a.args, b.args, &facts_.variances(context_, a.def), variance, reason);
        }
        case TypeKind::Closure: {
            // What it captured is covariant; the enclosing item's arguments are not.
            std::vector<Variance> list(types_[a.args].size(), Variance::Invariant);
            if (!list.empty()) list.back() = Variance::Covariant;
            return relate_args(a.args, b.args, &list, variance, reason);
        }
        case TypeKind::FnDef:
        case TypeKind::Projection:
        case TypeKind::Opaque: return relate_args(a.args, b.args, nullptr, variance, reason);
    }
}

void TypeFacts::variance_in(check::Context& context, TypeId type, Variance variance, std::vector<Variance>& out) {
    types::TypeStore& types = context.types();
    const TypeData data = types[type];
    const auto meet = [&](std::uint32_t index, Variance with) {
        if (index < out.size()) out[index] = join(out[index], with);
    };
    if (data.kind == TypeKind::Param) return meet(data.index, variance);
    if (data.kind == TypeKind::Ref) {
        const types::RegionData& region = types[data.region];
        if (region.kind == types::RegionKind::EarlyParam) meet(region.index, variance);
    }
    if (data.element.valid()) {
        const bool is_mut = (data.kind == TypeKind::Ref || data.kind == TypeKind::RawPtr) && data.mutability == types::Mutability::Mut;
        variance_in(context, data.element, is_mut ? Variance::Invariant : variance, out);
    }
    if (data.elements.valid()) {
        const std::vector<TypeId> parts(types[data.elements].begin(), types[data.elements].end());
        for (std::size_t i = 0; i < parts.size(); ++i) {
            const bool is_input = data.kind == TypeKind::FnPtr && i + 1 < parts.size();
            variance_in(context, parts[i], is_input ? compose(variance, Variance::Contravariant) : variance, out);
        }
    }
    if (!data.args.valid()) return;
    const std::vector<Variance> inner = data.kind == TypeKind::Adt ? variances(context, data.def) : std::vector<Variance>();
    for (std::size_t i = 0; i < types[data.args].size(); ++i) {
        const GenericArg arg = types[data.args][i];
        const Variance through = compose(variance, i < inner.size() ? inner[i] : Variance::Invariant);
        if (through == Variance::Bivariant) continue;
        if (arg.kind() == GenericArg::Kind::Type) variance_in(context, arg.as_type(), through, out);
        if (arg.kind() == GenericArg::Kind::Region) {
            const types::RegionData& region = types[arg.as_region()];
            if (region.kind == types::RegionKind::EarlyParam) meet(region.index, through);
        }
    }
}

// Cells are invariant.
std::vector<Variance> TypeFacts::variances_by_fields(check::Context& context, DefId adt) {
    std::vector<Variance> now = open_variances_.at(adt);
    const std::string_view lang = context.program().defs[adt].lang_item;
    if (lang == "unsafe_cell") return std::vector<Variance>(now.size(), Variance::Invariant);
    if (lang == "phantom_data") return std::vector<Variance>(now.size(), Variance::Covariant);
    for (const check::VariantInfo& variant : context.adt(adt).variants) {
        for (const check::FieldInfo& field : variant.fields) variance_in(context, field.type, Variance::Covariant, now);
    }
    return now;
}

// Types that mention each other are looked at together: each sees the others' parameters as they are known so far, until
// nothing changes for any of them.
const std::vector<Variance>& TypeFacts::variances(check::Context& context, DefId adt) {
    if (const auto found = variances_.find(adt); found != variances_.end()) return found->second;
    const bool is_first = open_.empty();
    const auto [at, is_new] = open_variances_.try_emplace(adt, context.generics_of(adt).count(), Variance::Bivariant);
    if (is_new) open_.push_back(adt);
    if (!is_first) return at->second;
    for (bool changed = true; changed;) {
        changed = false;
        for (std::size_t i = 0; i < open_.size(); ++i) {   // grows
            const DefId one = open_[i];
            std::vector<Variance> now = variances_by_fields(context, one);
            changed = changed || now != open_variances_.at(one);
            open_variances_.at(one) = std::move(now);
        }
    }
    variances_.merge(open_variances_);
    open_variances_.clear();
    open_.clear();
    return variances_.at(adt);
}

}  // namespace ockc::borrowck
