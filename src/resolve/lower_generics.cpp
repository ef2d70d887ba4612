#include <algorithm>

#include <fmt/format.h>

#include "resolve/attributes.hpp"
#include "resolve/lower.hpp"

namespace ockc::resolve {

namespace {

hir::GenericParam::Kind param_kind(ast::GenericParamKind kind) {
    switch (kind) {
        case ast::GenericParamKind::Lifetime: return hir::GenericParam::Kind::Lifetime;
        case ast::GenericParamKind::Type: return hir::GenericParam::Kind::Type;
        case ast::GenericParamKind::Const: return hir::GenericParam::Kind::Const;
    }
    OCKC_UNREACHABLE("generic parameter kind");
}
DefKind def_kind(hir::GenericParam::Kind kind) {
    switch (kind) {
        case hir::GenericParam::Kind::Lifetime: return DefKind::LifetimeParam;
        case hir::GenericParam::Kind::Type: return DefKind::TyParam;
        case hir::GenericParam::Kind::Const: return DefKind::ConstParam;
    }
    OCKC_UNREACHABLE("generic parameter kind");
}
ScopeEntry::Kind entry_kind(hir::GenericParam::Kind kind) {
    switch (kind) {
        case hir::GenericParam::Kind::Lifetime: return ScopeEntry::Kind::Lifetime;
        case hir::GenericParam::Kind::Type: return ScopeEntry::Kind::TyParam;
        case hir::GenericParam::Kind::Const: return ScopeEntry::Kind::ConstParam;
    }
    OCKC_UNREACHABLE("generic parameter kind");
}

}  // namespace

// Gives every parameter its definition and puts it into scope; lifetimes stand first.
void Lowerer::declare_params(DefId owner, ast::List<ast::GenericParam> params, std::vector<hir::GenericParam>& out) {
    static_cast<void>(owner);
    for (const bool lifetimes : {true, false}) {
        for (const ast::GenericParam& param : params) {
            if ((param.kind == ast::GenericParamKind::Lifetime) != lifetimes || !cfg_enabled(s_, crate_, param.attributes)) continue;
            const std::string_view name = text(param.ident.name);
            if (name == "'static") {
                error(Code::E0262, param.ident.span, fmt::format("invalid lifetime parameter name: `{}`", name)).label(at(param.ident.span), fmt::format("{} is a reserved lifetime name", name));
                continue;
            }
            if (name == "'_") {
                error(Code::E0637, param.ident.span, "`'_` cannot be used here").label(at(param.ident.span), "`'_` is a reserved lifetime name");
                continue;
            }
            const ScopeSpace space = param.kind == ast::GenericParamKind::Lifetime ? ScopeSpace::Lifetime : param.kind == ast::GenericParamKind::Type ? ScopeSpace::Type : ScopeSpace::Value;
            bool taken = false;
            for (const ScopeSpace other : {space, space == ScopeSpace::Type ? ScopeSpace::Value : ScopeSpace::Type}) {
                const ScopeFound found = scopes_.find(s_, param.ident.name, 0, other);
                const bool generic = found.entry && (found.entry->kind == ScopeEntry::Kind::Lifetime || found.entry->kind == ScopeEntry::Kind::TyParam || found.entry->kind == ScopeEntry::Kind::ConstParam);
                if (!generic || found.crossed_item) continue;
                const bool lifetime = found.entry->kind == ScopeEntry::Kind::Lifetime;
                const bool own = std::any_of(out.begin(), out.end(), [&](const hir::GenericParam& p) { return p.def.raw == found.entry->payload; });
                const Code code = lifetime && !own ? Code::E0496 : Code::E0403;
                const std::string message = code == Code::E0496 ? fmt::format("lifetime name `{}` shadows a lifetime name that is already in scope", name)
                                                                : fmt::format("the name `{}` is already used for a generic parameter in this item's generic parameters", name);
                error(code, param.ident.span, message)
                    .label(at(param.ident.span), code == Code::E0496 ? fmt::format("lifetime `{}` already in scope", name) : "already used")
                    .label(found.entry->span, code == Code::E0496 ? "first declared here" : fmt::format("first use of `{}`", name));
                taken = code == Code::E0403 && other == space;
                break;
            }
            if (taken) continue;
            hir::GenericParam lowered;
            lowered.kind = param_kind(param.kind);
            lowered.ident = name_of(param.ident);
            lowered.span = at(param.span);
            lowered.def = new_def(def_kind(lowered.kind), lowered.ident, param.span);
            s_[lowered.def].data = hir::ParamDef{static_cast<std::uint32_t>(out.size())};
            scopes_.push({entry_kind(lowered.kind), param.ident.name, 0, lowered.def.raw, lowered.ident.span, 0});
            out.push_back(lowered);
        }
    }
}

void Lowerer::lower_param_bounds(ast::List<ast::GenericParam> params, std::vector<hir::GenericParam>& out) {
    std::size_t position = 0;
    for (const bool lifetimes : {true, false}) {
        for (const ast::GenericParam& param : params) {
            if ((param.kind == ast::GenericParamKind::Lifetime) != lifetimes || !cfg_enabled(s_, crate_, param.attributes)) continue;
            if (position == out.size() || out[position].ident.name != param.ident.name) continue;   // refused above
            hir::GenericParam& lowered = out[position++];
            lowered.bounds = lower_bounds(param.bounds);
            if (param.kind == ast::GenericParamKind::Lifetime) continue;
            // Scope entries of this list end the stack; parameter i of it stands at base + i.
            const std::uint32_t outer = first_undeclared_;
            first_undeclared_ = scopes_.size() - static_cast<std::uint32_t>(out.size()) + static_cast<std::uint32_t>(position);
            if (param.kind == ast::GenericParamKind::Type && param.type.valid()) lowered.default_type = lower_type(param.type);
            if (param.kind == ast::GenericParamKind::Const) {
                const bool was = std::exchange(const_param_type_, true);
                lowered.const_type = param.type.valid() ? lower_type(param.type) : error_ty(param.span);
                const_param_type_ = was;
                if (param.value.valid()) lowered.default_const = anon_const(param.value, ScopeBarrier::Kind::AnonConst, lowered.const_type, ast()[param.value].span);
            }
            first_undeclared_ = outer;
        }
    }
}

hir::Generics Lowerer::lower_generics(DefId owner, ast::GenericsId id) {
    hir::Generics result;
    if (!id.valid()) return result;
    const ast::Generics generics = ast()[id];
    result.span = at(generics.span);
    std::vector<hir::GenericParam> params;
    declare_params(owner, generics.params, params);
    const ElisionScope scope(*this, Elision::Bound);
    InputLifetimes* const inputs = std::exchange(inputs_, nullptr);
    lower_param_bounds(generics.params, params);
    result.params = list(params);
    result.predicates = lower_where(generics.predicates);
    inputs_ = inputs;
    return result;
}

hir::List<hir::WherePredicate> Lowerer::lower_where(ast::List<ast::WherePredicate> predicates) {
    std::vector<hir::WherePredicate> result;
    for (const ast::WherePredicate& predicate : predicates) {
        if (!cfg_enabled(s_, crate_, predicate.attributes)) continue;
        const ScopeGuard guard(*this);
        hir::WherePredicate lowered;
        lowered.span = at(predicate.span);
        lowered.for_lifetimes = declare_for_lifetimes(predicate.for_params);
        if (predicate.equal_type.valid()) continue;   // refused by validate_item
        if (predicate.type.valid()) lowered.bounded_type = lower_type(predicate.type);
        else lowered.lifetime = lower_lifetime(predicate.lifetime);
        lowered.bounds = lower_bounds(predicate.bounds);
        result.push_back(lowered);
    }
    return list(result);
}

hir::List<hir::Bound> Lowerer::lower_bounds(ast::List<ast::Bound> bounds) {
    std::vector<hir::Bound> result;
    for (const ast::Bound& bound : bounds) {
        if (const auto lowered = lower_bound(bound)) result.push_back(*lowered);
    }
    return list(result);
}

std::optional<hir::Bound> Lowerer::lower_bound(const ast::Bound& bound) {
    hir::Bound result;
    result.span = at(bound.span);
    switch (bound.kind) {
        case ast::BoundKind::Use: {
            std::vector<hir::Lifetime> captures;
            for (const ast::PathSegment& segment : bound.captures) {
                const std::string_view name = text(segment.ident.name);
                if (!name.starts_with('\'')) continue;
                if (name == "'_") {
                    hir::Lifetime unnamed;
                    unnamed.kind = hir::Lifetime::Kind::Infer;
                    captures.push_back(unnamed);
                } else {
                    captures.push_back(lower_lifetime(segment.ident));
                }
            }
            result.kind = hir::Bound::Kind::Use;
            result.captures = list(captures);
            return result;
        }
        case ast::BoundKind::Outlives:
            result.kind = hir::Bound::Kind::Outlives;
            result.lifetime = lower_lifetime(bound.lifetime);
            return result;
        case ast::BoundKind::Trait: break;
    }
    switch (bound.modifier) {
        case ast::BoundModifier::None: break;
        case ast::BoundModifier::Const:
        case ast::BoundModifier::MaybeConst:
            if (!s_.crates[crate_].is_library) error(Code::E0658, bound.span, "const trait impls are experimental");
            break;
        case ast::BoundModifier::Maybe: result.maybe = true; break;
        case ast::BoundModifier::Async: error(Code::OCK0904, bound.span, "`async` closures are not supported in device code"); return std::nullopt;
        case ast::BoundModifier::Negative: error(Code::None, bound.span, "negative bounds are not supported"); return std::nullopt;
    }
    const ScopeGuard guard(*this);
    result.for_lifetimes = declare_for_lifetimes(bound.for_params);
    result.trait_path = lower_trait_path(bound.path);
    return result;
}

hir::List<DefId> Lowerer::declare_for_lifetimes(ast::List<ast::GenericParam> params) {
    std::vector<hir::GenericParam> declared;
    if (params.empty()) return {};
    declare_params(owner_, params, declared);
    std::vector<DefId> defs;
    for (const hir::GenericParam& param : declared) {
        if (param.kind == hir::GenericParam::Kind::Lifetime) defs.push_back(param.def);
        else error(Code::E0658, param.ident.span, "only lifetime parameters can be used in this context");
    }
    return list(defs);
}

// ---- lifetimes

void Lowerer::report_missing_lifetime(Span span, std::size_t count) {
    auto& e = error(Code::E0106, span, fmt::format("missing lifetime specifier{}", count > 1 ? "s" : ""));
    e.label(at(span), count > 1 ? fmt::format("expected {} lifetime parameters", count) : "expected named lifetime parameter");
    if (elision_ != Elision::Output) {
        e.help("consider introducing a named lifetime parameter");
        return;
    }
    const bool none = output_inputs_ == nullptr || output_inputs_->elided + output_inputs_->named.size() == 0;
    e.help(none ? "this function's return type contains a borrowed value, but there is no value for it to be borrowed from"
                : "this function's return type contains a borrowed value, but the signature does not say which parameter it is borrowed from");
}

hir::Lifetime Lowerer::elided_lifetime(Span span) {
    hir::Lifetime lifetime;
    switch (elision_) {
        case Elision::Fresh:
            if (inputs_ != nullptr) ++inputs_->elided;
            return lifetime;
        case Elision::Infer:
        case Elision::Header: return lifetime;
        case Elision::Static: lifetime.kind = hir::Lifetime::Kind::Static; return lifetime;
        case Elision::Output: {
            if (output_inputs_ != nullptr) {
                const std::size_t total = output_inputs_->elided + output_inputs_->named.size() + (output_inputs_->any_static ? 1 : 0);
                if (output_inputs_->self_reference || total == 1) return lifetime;
            }
            break;
        }
        case Elision::ImplType:
            error(Code::None, span, "missing lifetime in associated type").label(at(span), "this lifetime must come from the implemented type");
            lifetime.kind = hir::Lifetime::Kind::Error;
            return lifetime;
        case Elision::Bound: {
            const bool named = s_.sources.text(span).starts_with('\'');
            error(Code::E0637, span, named ? "`'_` cannot be used here" : "`&` without an explicit lifetime name cannot be used here")
                .label(at(span), named ? "`'_` is a reserved lifetime name" : "explicit lifetime name needed here");
            lifetime.kind = hir::Lifetime::Kind::Error;
            return lifetime;
        }
        case Elision::Error: break;
    }
    report_missing_lifetime(span, 1);
    lifetime.kind = hir::Lifetime::Kind::Error;
    return lifetime;
}

hir::Lifetime Lowerer::lower_lifetime(const ast::Ident& ident) {
    hir::Lifetime lifetime;
    lifetime.ident = name_of(ident);
    const std::string_view name = text(ident.name);
    if (name == "'static") {
        if (inputs_ != nullptr) inputs_->any_static = true;
        lifetime.kind = hir::Lifetime::Kind::Static;
        return lifetime;
    }
    if (name == "'_") {
        const hir::Lifetime elided = elided_lifetime(ident.span);
        lifetime.kind = elided.kind == hir::Lifetime::Kind::Elided ? hir::Lifetime::Kind::Infer : elided.kind;
        return lifetime;
    }
    const ScopeFound found = scopes_.find(s_, ident.name, ident.context, ScopeSpace::Lifetime);
    if (!found.entry) {
        error(Code::E0261, ident.span, fmt::format("use of undeclared lifetime name `{}`", name))
            .label(at(ident.span), "undeclared lifetime")
            .help(fmt::format("consider introducing lifetime `{}` here", name));
        lifetime.kind = hir::Lifetime::Kind::Error;
        return lifetime;
    }
    if (found.crossed_item) {
        error(Code::E0401, ident.span, "can't use generic parameters from outer item")
            .label(at(ident.span), "use of generic parameter from outer item")
            .label(found.entry->span, "lifetime parameter from outer item");
        lifetime.kind = hir::Lifetime::Kind::Error;
        return lifetime;
    }
    lifetime.kind = hir::Lifetime::Kind::Param;
    lifetime.param = DefId(found.entry->payload);
    if (inputs_ != nullptr && std::find(inputs_->named.begin(), inputs_->named.end(), lifetime.param) == inputs_->named.end()) inputs_->named.push_back(lifetime.param);
    return lifetime;
}

std::size_t Lowerer::lifetime_count(DefId def) {
    const ast::ItemId id = s_.origin[def].item;
    if (!id.valid()) return 0;
    const ast::Crate& crate = s_.ast(def);
    const ast::ItemData& data = crate[id].data;
    ast::GenericsId generics;
    if (const auto* s = std::get_if<ast::StructItem>(&data)) generics = s->generics;
    else if (const auto* e = std::get_if<ast::EnumItem>(&data)) generics = e->generics;
    else if (const auto* u = std::get_if<ast::UnionItem>(&data)) generics = u->generics;
    else if (const auto* a = std::get_if<ast::TypeAliasItem>(&data)) generics = a->generics;
    if (!generics.valid()) return 0;
    std::size_t count = 0;
    for (const ast::GenericParam& param : crate[generics].params) count += param.kind == ast::GenericParamKind::Lifetime ? 1 : 0;
    return count;
}

// `S` for `S<'a>`: the lifetimes are elided as `&`'s would be.
void Lowerer::note_hidden_lifetimes(const Res& res, Span span) {
    if (res.kind != Res::Kind::Def) return;
    const std::size_t count = lifetime_count(res.def);
    if (count == 0) return;
    if (elision_ == Elision::Header) {
        error(Code::E0726, span, "implicit elided lifetime not allowed here").label(at(span), "expected lifetime parameter").help("indicate the anonymous lifetime with `<'_>`");
        return;
    }
    if (elision_ == Elision::Fresh && inputs_ != nullptr) inputs_->elided += count;
    else if (elision_ == Elision::Error || elision_ == Elision::Output || elision_ == Elision::ImplType) elided_lifetime(span);
}

hir::TyId Lowerer::impl_trait_param(const ast::Type& type, ast::List<ast::Bound> bounds) {
    if (inside_impl_trait_) {
        error(Code::E0666, type.span, "nested `impl Trait` is not allowed").label(at(type.span), "nested `impl Trait` here");
        return error_ty(type.span);
    }
    const bool outer = std::exchange(inside_impl_trait_, true);
    const hir::TyId result = impl_trait_type(type, bounds);
    inside_impl_trait_ = outer;
    return result;
}

hir::TyId Lowerer::impl_trait_type(const ast::Type& type, ast::List<ast::Bound> bounds) {
    if (impl_trait_params_ == nullptr) {
        if (elision_ != Elision::Output) {
            const DefKind owner = owner_.valid() ? s_[owner_].kind : DefKind::Mod;
            if (owner == DefKind::TyAlias || owner == DefKind::AssocTy) error(Code::E0658, type.span, fmt::format("`impl Trait` in {} is unstable", owner == DefKind::TyAlias ? "type aliases" : "associated types"));
            else error(Code::E0562, type.span, "`impl Trait` is not allowed here").note("`impl Trait` is only allowed in arguments and return types of functions and methods");
            return error_ty(type.span);
        }
        const hir::Ident name{s_.names.intern(s_.sources.text(type.span)), at(type.span)};
        const DefId def = new_def(DefKind::ImplTrait, name, type.span);
        hir::TypeAliasDef data;
        data.bounds = lower_bounds(bounds);
        s_[def].data = data;
        return add_ty(type.span, hir::ImplTraitTy{def});
    }
    hir::GenericParam param;
    param.kind = hir::GenericParam::Kind::Type;
    param.ident = {s_.names.intern(s_.sources.text(type.span)), at(type.span)};
    param.span = at(type.span);
    param.from_impl_trait = true;
    param.def = new_def(DefKind::TyParam, param.ident, type.span);
    param.bounds = lower_bounds(bounds);
    impl_trait_params_->push_back(param);
    return res_ty(type.span, param.ident.name, def_res(param.def));
}

}  // namespace ockc::resolve
