// Renumbering, projecting and normalising of types with region variables.
#include "borrowck/region_types.hpp"

#include <array>

namespace ockc::borrowck {

using types::GenericArg;
using types::RegionKind;
using types::TypeData;
using types::TypeKind;

RegionTypes::RegionTypes(check::Context& context, const check::ParamEnv& env, TypeFacts& facts)
    : context_(context), types_(context.types()), env_(env), facts_(facts) {
    add_universal(RegionInfo{true, RegionRole::External, "'static", true, LocalId(), TypeId()});
}

RegionVid RegionTypes::fresh() { return infos_.push(RegionInfo{}); }
RegionVid RegionTypes::add_universal(RegionInfo info) {
    info.is_universal = true;
    return infos_.push(std::move(info));
}

RegionVid RegionTypes::vid(RegionId region) const {
    const types::RegionData& data = types_[region];
    if (data.kind == RegionKind::Var) return RegionVid(data.index);
    if (data.kind == RegionKind::Static) return kStatic;
    const auto found = params_.find(region);
    return found == params_.end() ? kStatic : found->second;
}

// ---- replacing regions -------------------------------------------------------------------------------------------------------

RegionId RegionTypes::replace(RegionId region, LateRegions* late, bool erase) {
    if (erase) return types_.erased;
    const types::RegionData data = types_[region];
    const auto var = [&](RegionVid vid) { return facts_.variable(types_, vid); };
    switch (data.kind) {
        case RegionKind::Var: return region;
        case RegionKind::Erased:
        case RegionKind::Error: return var(fresh());
        case RegionKind::Static: return var(kStatic);
        case RegionKind::EarlyParam:
        case RegionKind::LateParam: break;
        case RegionKind::Bound:
            if (binders_ != 0) return region;
            break;
    }
    if (late != nullptr && (data.kind == RegionKind::LateParam || data.kind == RegionKind::Bound)) {
        const auto [at, is_new] = late->try_emplace(late_key(data), RegionVid());
        if (is_new) at->second = fresh();
        return var(at->second);
    }
    const auto found = params_.find(region);
    return var(found == params_.end() ? fresh() : found->second);
}

ArgsId RegionTypes::replace(ArgsId args, LateRegions* late, bool erase) {
    const std::span<const GenericArg> list = types_[args];
    std::vector<GenericArg> out(list.begin(), list.end());
    for (GenericArg& arg : out) {
        switch (arg.kind()) {
            case GenericArg::Kind::Type: arg = replace(arg.as_type(), late, erase); break;
            case GenericArg::Kind::Region: arg = replace(arg.as_region(), late, erase); break;
            case GenericArg::Kind::Const: break;
        }
    }
    return types_.args(out);
}

bool TypeFacts::find_may_hold(types::TypeStore& types, TypeId type) {
    const TypeData data = types[type];
    bool holds = data.kind == TypeKind::Ref || data.kind == TypeKind::Closure || data.kind == TypeKind::Opaque;
    if (data.element.valid()) holds = holds || may_hold_regions(types, data.element);
    if (data.elements.valid()) {
        for (const TypeId element : types[data.elements]) holds = holds || may_hold_regions(types, element);
    }
    if (data.args.valid()) {
        for (const GenericArg arg : types[data.args]) {
            holds = holds || arg.kind() == GenericArg::Kind::Region ||
                    (arg.kind() == GenericArg::Kind::Type && may_hold_regions(types, arg.as_type()));
        }
    }
    if (type.raw >= may_hold_.size()) may_hold_.resize(std::max<std::size_t>(types.type_count(), type.raw + 1));
    may_hold_[type.raw] = holds ? 2 : 1;
    return holds;
}

TypeId RegionTypes::replace(TypeId type, LateRegions* late, bool erase) {
    if (!may_hold_regions(type)) return type;
    const TypeData data = types_[type];
    switch (data.kind) {
        case TypeKind::Error: case TypeKind::Never: case TypeKind::Bool: case TypeKind::Char: case TypeKind::Str:
        case TypeKind::Int: case TypeKind::Float: case TypeKind::Param: case TypeKind::Infer: return type;
        case TypeKind::Tuple: {
            std::vector<TypeId> elements(types_[data.elements].begin(), types_[data.elements].end());
            for (TypeId& element : elements) element = replace(element, late, erase);
            return types_.tuple(elements);
        }
        case TypeKind::Array: return types_.array(replace(data.element, late, erase), data.length);
        case TypeKind::Slice: return types_.slice(replace(data.element, late, erase));
        case TypeKind::Ref: {
            const RegionId region = replace(data.region, late, erase);
            return types_.ref(region, replace(data.element, late, erase), data.mutability);
        }
        case TypeKind::RawPtr: return types_.raw_ptr(replace(data.element, late, erase), data.mutability);
        case TypeKind::Adt: return types_.adt(data.def, replace(data.args, late, erase));
        case TypeKind::FnDef: return types_.fn_def(data.def, replace(data.args, late, erase));
        case TypeKind::Projection: return types_.projection(data.def, replace(data.args, late, erase));
        case TypeKind::Opaque: return types_.opaque(data.def, replace_opaque(data, late, erase));
        case TypeKind::Closure: return replace_closure(data, late, erase);
        case TypeKind::FnPtr: {
            std::vector<TypeId> parts(types_[data.elements].begin(), types_[data.elements].end());
            ++binders_;
            for (TypeId& part : parts) part = replace(part, late, erase);
            --binders_;
            const TypeId output = parts.back();
            parts.pop_back();
            return types_.fn_ptr(parts, output, data.is_unsafe);
        }
    }
    OCKC_UNREACHABLE("type kind");
}

const std::vector<std::uint8_t>& TypeFacts::left_out(check::Context& context, DefId opaque) {
    const auto [at, is_new] = left_out_.try_emplace(opaque);
    const hir::Program& program = context.program();
    if (!is_new || !program.defs[opaque].lowered) return at->second;
    const types::TypeStore& types = context.types();
    for (const hir::Bound& bound : program.as<hir::TypeAliasDef>(opaque).bounds) {
        if (bound.kind != hir::Bound::Kind::Use) continue;
        const auto names = [&](DefId param) {   // none: lifetimes without a name
            return std::any_of(bound.captures.begin(), bound.captures.end(), [&](const hir::Lifetime& one) {
                return one.kind == hir::Lifetime::Kind::Param ? one.param == param : !param.valid();
            });
        };
        const auto own = types[context.identity_args(program.defs[opaque].parent)];
        at->second.assign(own.size() + 1, 0);
        for (std::size_t i = 0; i < own.size(); ++i) {
            const bool is_region = own[i].kind() == GenericArg::Kind::Region;
            at->second[i] = is_region && !names(types[own[i].as_region()].def) ? 1 : 0;
        }
        at->second.back() = names(DefId()) ? 0 : 1;   // all behind the named ones
    }
    return at->second;
}

// What is left out is nothing that a caller has to think of: as good as 'static.
ArgsId RegionTypes::replace_opaque(const TypeData& data, LateRegions* late, bool erase) {
    const std::vector<std::uint8_t>& left_out = facts_.left_out(context_, data.def);
    if (left_out.empty() || erase) return replace(data.args, late, erase);
    std::vector<GenericArg> args(types_[data.args].begin(), types_[data.args].end());
    for (std::size_t i = 0; i < args.size(); ++i) {
        if (args[i].kind() == GenericArg::Kind::Region && left_out[std::min(i, left_out.size() - 1)] != 0) args[i] = types_.static_region;
    }
    return replace(types_.args(args), late, false);
}

TypeId RegionTypes::replace_closure(const TypeData& data, LateRegions* late, bool erase) {
    const check::ClosureInfo& closure = context_.closure_info(data.def);
    const std::size_t own = context_.generics_of(closure.owner).count();
    const std::span<const GenericArg> list = types_[data.args];
    std::vector<GenericArg> args(list.begin(), list.end());
    const bool carries_captures = args.size() > own;
    if (erase) {
        args.resize(own);
        return types_.closure(data.def, replace(types_.args(args), late, true));
    }
    if (carries_captures) return types_.closure(data.def, replace(data.args, late, false));
    const std::span<const GenericArg> identity = types_[context_.identity_args(closure.owner)];
    for (std::size_t i = 0; i < own; ++i) {
        if (args[i].kind() == GenericArg::Kind::Region) args[i] = identity[i];   // lifetimes that its body may name
    }
    std::vector<TypeId> inputs;
    for (const TypeId input : closure.inputs) inputs.push_back(types_.subst(input, list));
    const TypeId signature = types_.fn_ptr(inputs, types_.subst(closure.output, list), false);
    args.push_back(closure_lifetimes(signature, closure.lifetimes));
    std::vector<TypeId> captures;
    for (const check::Capture& capture : closure.captures) captures.push_back(types_.subst(capture.type, list));
    args.push_back(types_.tuple(captures));
    return types_.closure(data.def, replace(types_.args(args), late, false));
}

TypeId RegionTypes::renumber(TypeId type, LateRegions* late) { return normalize(replace(type, late, false)); }
ArgsId RegionTypes::renumber(ArgsId args) { return replace(args, nullptr, false); }
TypeId RegionTypes::erase(TypeId type) { return replace(type, nullptr, true); }

TypeId RegionTypes::instantiate(TypeId generic, ArgsId args, LateRegions* late) {
    return normalize(replace(args.valid() ? types_.subst(generic, args) : generic, late, false));
}
ArgsId RegionTypes::instantiate(ArgsId generic, ArgsId args, LateRegions* late) {
    const ArgsId filled = replace(args.valid() ? types_.subst(generic, args) : generic, late, false);
    std::vector<GenericArg> out(types_[filled].begin(), types_[filled].end());
    for (GenericArg& arg : out) {
        if (arg.kind() == GenericArg::Kind::Type) arg = normalize(arg.as_type());
    }
    return types_.args(out);
}

void RegionTypes::collect(TypeId type, std::vector<RegionVid>& out) {
    if (!may_hold_regions(type)) return;
    const TypeData data = types_[type];
    const auto note = [&](RegionId region) {
        if (types_[region].kind != RegionKind::Bound) out.push_back(vid(region));
    };
    if (data.kind == TypeKind::Ref) note(data.region);
    if (data.element.valid()) collect(data.element, out);
    if (data.elements.valid()) {
        for (const TypeId element : types_[data.elements]) collect(element, out);
    }
    if (data.args.valid()) {
        for (const GenericArg arg : types_[data.args]) {
            if (arg.kind() == GenericArg::Kind::Region) note(arg.as_region());
            if (arg.kind() == GenericArg::Kind::Type) collect(arg.as_type(), out);
        }
    }
}

const std::vector<RegionVid>& RegionTypes::regions_of(TypeId type) {
    const auto [at, is_new] = regions_.try_emplace(type);
    if (is_new) {
        std::vector<RegionVid> list;
        collect(type, list);
        std::sort(list.begin(), list.end());
        list.erase(std::unique(list.begin(), list.end()), list.end());
        regions_[type] = std::move(list);
    }
    return regions_[type];
}

// ---- structure ---------------------------------------------------------------------------------------------------------------

TypeId RegionTypes::field(TypeId base, std::uint32_t variant, std::uint32_t index) {
    const TypeData data = types_[base];
    if (data.kind == TypeKind::Tuple) return types_[data.elements][index];
    if (data.kind == TypeKind::Closure) {
        const TypeData captures = types_[types_[data.args].back().as_type()];
        return types_[captures.elements][index];
    }
    if (data.kind != TypeKind::Adt) return types_.error;
    const auto [at, is_new] = fields_.try_emplace({base.raw, variant, index}, TypeId());
    if (is_new) {
        const TypeId generic = context_.adt(data.def).variants[variant].fields[index].type;
        fields_[{base.raw, variant, index}] = normalize(replace(types_.subst(generic, data.args), nullptr, false));
    }
    return fields_[{base.raw, variant, index}];
}

TypeId RegionTypes::project(TypeId base, const mir::Projection& step, std::uint32_t& variant) {
    const TypeData data = types_[base];
    switch (step.kind) {
        case mir::ProjectionKind::Deref:
        case mir::ProjectionKind::Index:
        case mir::ProjectionKind::ConstantIndex: variant = 0; return data.kind == TypeKind::Str ? step.type : data.element;   // bytes of text
        case mir::ProjectionKind::Subslice:
            variant = 0;
            if (data.kind == TypeKind::Array) return types_.array(data.element, types_[step.type].length);
            return base;
        case mir::ProjectionKind::Downcast: variant = step.index; return base;
        case mir::ProjectionKind::Field: {
            const TypeId type = field(base, variant, step.index);
            variant = 0;
            return type;
        }
    }
    OCKC_UNREACHABLE("projection kind");
}

// ---- projections of traits -----------------------------------------------------------------------------------------------------

TypeId RegionTypes::normalize(TypeId type) {
    if (!types_.has(type, types::kHasProjection)) return type;
    if (const auto found = normalized_.find(type); found != normalized_.end()) return found->second;
    const TypeData data = types_[type];
    const auto normalize_args = [&](ArgsId list) {
        std::vector<GenericArg> args(types_[list].begin(), types_[list].end());
        for (GenericArg& arg : args) {
            if (arg.kind() == GenericArg::Kind::Type) arg = normalize(arg.as_type());
        }
        return types_.args(args);
    };
    TypeId out = type;
    switch (data.kind) {
        case TypeKind::Error: case TypeKind::Never: case TypeKind::Bool: case TypeKind::Char: case TypeKind::Str:
        case TypeKind::Int: case TypeKind::Float: case TypeKind::Param: case TypeKind::Infer: break;
        case TypeKind::Tuple: {
            std::vector<TypeId> elements(types_[data.elements].begin(), types_[data.elements].end());
            for (TypeId& element : elements) element = normalize(element);
            out = types_.tuple(elements);
            break;
        }
        case TypeKind::Array: out = types_.array(normalize(data.element), data.length); break;
        case TypeKind::Slice: out = types_.slice(normalize(data.element)); break;
        case TypeKind::Ref: out = types_.ref(data.region, normalize(data.element), data.mutability); break;
        case TypeKind::RawPtr: out = types_.raw_ptr(normalize(data.element), data.mutability); break;
        case TypeKind::Adt: out = types_.adt(data.def, normalize_args(data.args)); break;
        case TypeKind::FnDef: out = types_.fn_def(data.def, normalize_args(data.args)); break;
        case TypeKind::Closure: out = types_.closure(data.def, normalize_args(data.args)); break;
        case TypeKind::Opaque: out = types_.opaque(data.def, normalize_args(data.args)); break;
        case TypeKind::FnPtr: {
            std::vector<TypeId> parts(types_[data.elements].begin(), types_[data.elements].end());
            for (TypeId& part : parts) part = normalize(part);
            const TypeId output = parts.back();
            parts.pop_back();
            out = types_.fn_ptr(parts, output, data.is_unsafe);
            break;
        }
        case TypeKind::Projection: out = normalize_projection(types_.projection(data.def, normalize_args(data.args))); break;
    }
    normalized_.emplace(type, out);
    return out;
}

}  // namespace ockc::borrowck
