#include <fmt/format.h>

#include "resolve/attribute_forms.hpp"
#include "resolve/collect.hpp"
#include "resolve/derive.hpp"
#include "resolve/launch.hpp"
#include "resolve/lower.hpp"
#include "resolve/reach.hpp"
#include "resolve/suggest.hpp"
#include "resolve/validate.hpp"

namespace ockc::resolve {

DefId Lowerer::new_def(DefKind kind, hir::Ident name, Span span) {
    DefSource source;
    source.module = module_;
    source.macros = macros_;
    source.state = DefSource::State::Done;
    source.strict = true;
    const DefId def = s_.new_def(kind, name, owner_, at(span), crate_, source);
    s_[def].lowered = true;
    s_[def].visibility.module = s_.normal_def(module_);
    return def;
}

void Lowerer::refuse(Code code, Span span, std::string_view what, std::string_view way_round) {
    error(code, span, fmt::format("{} not supported in device code", what)).help(std::string(way_round));
}

void Lowerer::item(DefId def) {
    if (s_.origin[def].state == DefSource::State::Done) return;
    const DefId parent = s_[def].parent;
    if (parent.valid()) {
        const DefKind kind = s_[parent].kind;
        if (kind == DefKind::Impl || kind == DefKind::Trait) item(parent);
    }
    const CrashContext context("resolving", s_.name_of(def));
    OCKC_CHECK(scopes_.size() == 0 && body_ == nullptr);
    enter(def);
    lower_kind(def);
    forced_span_ = {};
}

void Lowerer::enter(DefId def) {
    DefSource& origin = s_.origin[def];
    origin.state = DefSource::State::Done;
    crate_ = s_[def].crate;
    module_ = origin.module;
    macros_ = origin.macros;
    owner_ = def;
    elision_ = Elision::Error;
    forced_span_ = {};
    const DefId parent = s_[def].parent;
    if (parent.valid() && s_[parent].kind == DefKind::Impl) {
        const ImplInfo& impl = s_.impls[s_.origin[parent].index];
        if (impl.derive) forced_span_ = impl.derive_span;
    }
}

void Lowerer::lower_kind(DefId def) {
    const ScopeGuard guard(*this);
    const DefId outer = std::exchange(owner_, def);
    const std::size_t errors = s_.sink->error_count();
    if (!s_.crates[crate_].is_library) validate_item(s_, def);
    switch (s_[def].kind) {
        case DefKind::Fn:
        case DefKind::AssocFn: lower_fn(def); break;
        case DefKind::Const:
        case DefKind::AssocConst: lower_const(def); break;
        case DefKind::Static: lower_static(def); break;
        case DefKind::TyAlias:
        case DefKind::AssocTy: lower_alias(def); break;
        case DefKind::Struct:
        case DefKind::Union: lower_struct(def); break;
        case DefKind::Enum: lower_enum(def); break;
        case DefKind::Trait: lower_trait(def); break;
        case DefKind::Impl: lower_impl(def); break;
        case DefKind::ForeignFn:
            if (s_.sink->error_count() == errors) lower_foreign(def);
            break;
        case DefKind::Mod:
        case DefKind::Variant:
        case DefKind::Ctor:
        case DefKind::Field:
        case DefKind::TyParam:
        case DefKind::ConstParam:
        case DefKind::LifetimeParam:
        case DefKind::Closure:
        case DefKind::AnonConst:
        case DefKind::Macro:
        case DefKind::Crate:
        case DefKind::ImplTrait:
        case DefKind::Opaque: break;
    }
    s_[def].lowered = true;
    if (s_[def].kind == DefKind::Impl || s_[def].kind == DefKind::Trait) s_.lowered_late.push_back(def);
    owner_ = outer;
}

namespace {

Target target_of(DefKind kind) {
    switch (kind) {
        case DefKind::Fn:
        case DefKind::AssocFn:
        case DefKind::ForeignFn: return Target::Fn;
        case DefKind::Struct:
        case DefKind::Union:
        case DefKind::Enum: return Target::Adt;
        case DefKind::Trait: return Target::Trait;
        case DefKind::Impl: return Target::Impl;
        case DefKind::Static: return Target::Static;
        case DefKind::Mod: return Target::Mod;
        case DefKind::Variant: return Target::Variant;
        case DefKind::TyAlias:
        case DefKind::AssocTy:
        case DefKind::Const:
        case DefKind::AssocConst:
        case DefKind::Ctor:
        case DefKind::Field:
        case DefKind::TyParam:
        case DefKind::ConstParam:
        case DefKind::LifetimeParam:
        case DefKind::Closure:
        case DefKind::AnonConst:
        case DefKind::Macro:
        case DefKind::Crate:
        case DefKind::ImplTrait:
        case DefKind::Opaque: return Target::Other;
    }
    OCKC_UNREACHABLE("definition kind");
}

}  // namespace

void Lowerer::finish_attributes(DefId def, ast::Attributes attributes) {
    if (attributes.empty()) return;
    const Evaluated evaluated = evaluate(s_, crate_, attributes);
    const DefKind kind = s_[def].kind;
    const auto known = check_attributes(s_, crate_, evaluated.attrs, target_of(kind), hir::def_kind_text(kind), s_.origin[def].strict && !s_.crates[crate_].is_library);
    s_[def].attributes = list(known);
    s_[def].doc = documentation(s_, crate_, evaluated.attrs);
}

// ---- bodies

void Lowerer::open_body(OpenBody& open, DefId owner) {
    open.id = s_.program.bodies.push(std::make_unique<hir::Body>());
    open.state.body = s_.program.bodies[open.id].get();
    open.state.body->owner = owner;
    open.outer = body_;
    open.outer_elision = elision_;
    open.errors = s_.sink->error_count();
    body_ = &open.state;
    elision_ = Elision::Infer;
}

void Lowerer::close_body(OpenBody& open, hir::ExprId value, std::span<const hir::FnParam> params) {
    hir::Body& done = *open.state.body;
    done.value = value;
    done.has_errors = done.has_errors || s_.sink->error_count() != open.errors;
    done.params = s_.program.arena.copy(params);
    done.traits_in_scope = traits_in_scope();
    body_ = open.outer;
    elision_ = open.outer_elision;
}

namespace {

// `N` or `{ N }`: the only forms in which a generic parameter may stand in an anonymous constant.
bool is_bare_path(const ast::Crate& ast, ast::ExprId id) {
    const ast::Expr& expr = ast[id];
    if (const auto* path = ast::get_if<ast::PathExpr>(expr)) return ast[path->path].segments.size() == 1;
    if (const auto* block = ast::get_if<ast::BlockExpr>(expr)) {
        const ast::Block& b = ast[block->block];
        return block->kind == ast::BlockKind::Plain && b.statements.empty() && b.tail.valid() &&
               !ast::get_if<ast::BlockExpr>(ast[b.tail]) && is_bare_path(ast, b.tail);
    }
    if (const auto* array = ast::get_if<ast::ArrayExpr>(expr)) {   // a shape: `[BM, 1]`
        for (const ast::ExprId element : array->elements) {
            const bool literal = ast::get_if<ast::LiteralExpr>(ast[element]) != nullptr || ast::get_if<ast::UnaryExpr>(ast[element]) != nullptr;
            if (!literal && !is_bare_path(ast, element)) return false;
        }
        return true;
    }
    return false;
}

}  // namespace

DefId Lowerer::anon_const(ast::ExprId value, ScopeBarrier::Kind barrier, hir::TyId expected, Span span) {
    const DefId def = new_def(DefKind::AnonConst, {}, span);
    const DefId outer = std::exchange(owner_, def);
    const bool bare = std::exchange(allow_bare_param_, is_bare_path(ast(), value));
    const ScopeGuard guard(*this);
    scopes_.push_barrier(barrier);
    OpenBody open;
    open_body(open, def);
    const hir::ExprId lowered = lower_expr(value);
    close_body(open, lowered, {});
    s_[def].data = hir::AnonConstDef{open.id, expected};
    owner_ = outer;
    allow_bare_param_ = bare;
    return def;
}

// ---- functions

void Lowerer::lower_self_param(const ast::SelfParam& self, std::vector<hir::FnParam>& inputs) {
    hir::FnParam param;
    param.span = at(self.span);
    param.name = {self.ident.name, at(self.ident.span)};
    const auto self_type = [&](Span span) {
        const Symbol name = s_.names.intern("Self");
        const ScopeFound found = scopes_.find(s_, name, 0, ScopeSpace::Type);
        Res res;
        if (found.entry) {
            res.kind = found.entry->kind == ScopeEntry::Kind::SelfParam ? Res::Kind::SelfParam : Res::Kind::SelfAlias;
            res.def = DefId(found.entry->payload);
        }
        return res_ty(span, name, res);
    };
    switch (self.kind) {
        case ast::SelfKind::None: return;
        case ast::SelfKind::Value: param.type = self_type(self.span); break;
        case ast::SelfKind::Reference: {
            hir::RefTy ref;
            ref.lifetime = self.lifetime.valid() ? lower_lifetime(self.lifetime) : elided_lifetime(self.span);
            ref.mutability = self.is_mut ? hir::Mutability::Mut : hir::Mutability::Not;
            ref.inner = self_type(self.span);
            if (inputs_ != nullptr) inputs_->self_reference = true;
            param.type = add_ty(self.span, ref);
            break;
        }
        case ast::SelfKind::Typed:
            param.type = lower_type(self.type);
            if (inputs_ != nullptr && std::holds_alternative<hir::RefTy>(s_.program.types[param.type].data)) inputs_->self_reference = true;
            break;
    }
    inputs.push_back(param);
}

void Lowerer::lower_params(const ast::FnDecl& decl, hir::FnSig& sig, std::vector<hir::FnParam>& inputs) {
    const ElisionScope fresh(*this, Elision::Fresh);
    if (decl.self_param.kind != ast::SelfKind::None) {
        sig.has_self = true;
        lower_self_param(decl.self_param, inputs);
    }
    for (const ast::Param& param : decl.params) {
        if (!cfg_enabled(s_, crate_, param.attributes)) continue;
        hir::FnParam lowered;
        lowered.span = at(param.span);
        if (param.variadic) error(Code::E0658, param.span, "C-variadic functions are unstable");
        lowered.type = param.type.valid() ? lower_type(param.type) : error_ty(param.span);
        if (param.pattern.valid()) {
            if (const auto* ident = ast::get_if<ast::IdentPat>(ast()[param.pattern]); ident != nullptr && !ident->sub.valid()) lowered.name = name_of(ident->ident);
        }
        inputs.push_back(lowered);
    }
}

void Lowerer::lower_output(const ast::FnDecl& decl, hir::FnSig& sig) {
    if (!decl.output.valid()) {
        sig.output_span = at(decl.span.after());
        return;
    }
    const ElisionScope scope(*this, Elision::Output);
    output_inputs_ = inputs_;
    inputs_ = nullptr;
    sig.output = lower_type(decl.output);
    sig.output_span = at(ast()[decl.output].span);
    output_inputs_ = nullptr;
}

void Lowerer::lower_fn(DefId def) {
    const ast::Item item = ast()[s_.origin[def].item];
    const ast::FnItem fn = std::get<ast::FnItem>(item.data);
    const ast::FnDecl decl = ast()[fn.decl];
    finish_attributes(def, item.attributes);
    if (s_[def].kind == DefKind::AssocFn) push_parent_scope(s_[def].parent);

    hir::FnDef result;
    result.has_body = fn.body.valid() || skipped_body(item).buffer != nullptr;
    result.sig.span = at(decl.span);
    result.sig.is_const = decl.header.is_const;
    result.sig.is_unsafe = decl.header.safety == ast::Safety::Unsafe;
    result.sig.is_extern = decl.header.is_extern;
    result.sig.is_async = decl.header.is_async;
    if (decl.header.is_async && !decl.header.is_const) error(Code::OCK0904, decl.span, "`async` functions are not supported in device code").help("use an ordinary function");

    std::vector<hir::GenericParam> extra;
    std::vector<hir::WherePredicate> extra_bounds;
    result.generics = lower_generics(def, decl.generics);
    impl_trait_params_ = &extra;
    InputLifetimes lifetimes;
    inputs_ = &lifetimes;
    std::vector<hir::FnParam> inputs;
    lower_params(decl, result.sig, inputs);
    impl_trait_params_ = nullptr;
    lower_output(decl, result.sig);
    inputs_ = nullptr;
    if (!extra.empty()) {
        std::vector<hir::GenericParam> all(result.generics.params.begin(), result.generics.params.end());
        for (hir::GenericParam& param : extra) {
            std::get<hir::ParamDef>(s_[param.def].data).position = static_cast<std::uint32_t>(all.size());
            all.push_back(param);
        }
        result.generics.params = list(all);
    }

    const bool intrinsic = !s_[def].intrinsic.empty();
    const bool required = s_[def].kind == DefKind::AssocFn && s_[s_[def].parent].kind == DefKind::Trait;
    if (!result.has_body && !intrinsic && !required) {
        error(Code::None, item.span, s_[def].kind == DefKind::Fn ? "free function without a body" : "associated function in `impl` without body");
    }
    if (fn.body.valid() && !ast()[fn.body].attributes.empty()) note_lint_levels(s_, crate_, evaluate(s_, crate_, ast()[fn.body].attributes).attrs, item.span);
    if (s_[def].kind == DefKind::Fn && !s_.crates[crate_].is_library) {
        check_launch_attributes(s_, def, inputs);
        lower_kernel_instances(def);
    }
    if (result.has_body && !s_.is_on_demand(def)) result.body = lower_fn_body(def, inputs);
    result.sig.inputs = list(inputs);
    s_[def].data = result;
}

// Gives the inputs their patterns.
hir::BodyId Lowerer::lower_fn_body(DefId def, std::vector<hir::FnParam>& inputs) {
    const ast::Item item = ast()[s_.origin[def].item];
    const ast::FnItem fn = std::get<ast::FnItem>(item.data);
    const ast::FnDecl decl = ast()[fn.decl];
    const ast::BlockId block = fn.body.valid() ? fn.body : parse::parse_body(skipped_body(item), s_.parse_context(crate_));
    OpenBody open;
    open_body(open, def);
    Bindings bindings;
    bindings.place = PatternPlace::Param;
    std::size_t next = 0;
    if (decl.self_param.kind != ast::SelfKind::None) {
        ast::IdentPat self;
        self.ident = decl.self_param.ident;
        self.is_mut = decl.self_param.kind != ast::SelfKind::Reference && decl.self_param.is_mut;
        const hir::BindingMode mode{false, false, self.is_mut};
        const hir::LocalId local = bind_name(self, bindings, mode);
        inputs[next].pat = add_pat(decl.self_param.span, hir::BindingPat{local, mode, name_of(self.ident), {}});
        body().locals[local].pat = inputs[next].pat;
        ++next;
    }
    for (const ast::Param& param : decl.params) {
        if (!cfg_enabled(s_, crate_, param.attributes)) continue;
        bindings.pattern_start = bindings.bound.size();
        inputs[next].pat = param.pattern.valid() ? lower_pattern(param.pattern, bindings) : add_pat(param.span, hir::WildPat{});
        ++next;
    }
    const auto launch = s_.program.launches.find(def);
    hir::LocalId context;
    if (launch != s_.program.launches.end() && launch->second->context.valid()) {
        ast::IdentPat pat;
        pat.ident = {launch->second->context, launch->second->context_span};
        bindings.pattern_start = bindings.bound.size();
        context = bind_name(pat, bindings, {});
    }
    declare(bindings);
    const Span span = ast()[block].span;
    body().exprs.reserve(span.size() / 8 + 8);   // about as many as there will be
    hir::ExprId value = block_expr(lower_block(block), span);
    if (context.valid()) value = with_launch_context(context, *launch->second, value, span);
    close_body(open, value, inputs);
    return open.id;
}

// { let context = <what the contract says>; value }
hir::ExprId Lowerer::with_launch_context(hir::LocalId context, const hir::LaunchSpec& launch, hir::ExprId value, Span span) {
    const Span at_name = launch.context_span;
    const bool typed = launch.coordinates_u32 && launch.domain.value < 3;
    const std::string_view key = !typed ? "launch_context" : launch.domain.value == 1 ? "launch_context_1d_u32" : "launch_context_2d_u32";
    hir::Stmt let;
    let.kind = hir::Stmt::Kind::Let;
    let.span = at(at_name);
    let.pat = binding_pat(at_name, context);
    let.init = call_lang(key, at_name, {});
    hir::Block block;
    block.span = at(span);
    block.stmts = list({let});
    block.tail = value;
    return block_expr(body().blocks.push(block), span, true);
}

void Lowerer::late_body(DefId def) {
    const CrashContext context("resolving the body of", s_.name_of(def));
    OCKC_CHECK(scopes_.size() == 0 && body_ == nullptr);
    auto& fn = std::get<hir::FnDef>(s_[def].data);
    enter(def);
    {
        const ScopeGuard guard(*this);
        if (s_[def].kind == DefKind::AssocFn) push_parent_scope(s_[def].parent);
        push_generics_of(def);
        std::vector<hir::FnParam> inputs(fn.sig.inputs.begin(), fn.sig.inputs.end());
        fn.body = lower_fn_body(def, inputs);
        fn.sig.inputs = list(inputs);
    }
    forced_span_ = {};
}

// ---- constants, statics, aliases

void Lowerer::lower_const(DefId def) {
    const ast::Item item = ast()[s_.origin[def].item];
    const auto data = std::get<ast::ConstItem>(item.data);
    finish_attributes(def, item.attributes);
    const bool associated = s_[def].kind == DefKind::AssocConst;
    if (associated) push_parent_scope(s_[def].parent);
    hir::ConstDef result;
    if (data.generics.valid()) result.generics = lower_generics(def, data.generics);
    {
        const ElisionScope scope(*this, Elision::Static);
        result.type = data.type.valid() ? lower_type(data.type) : error_ty(item.span);
    }
    if (data.value.valid()) {
        OpenBody open;
        open_body(open, def);
        const hir::ExprId value = lower_expr(data.value);
        close_body(open, value, {});
        result.body = open.id;
    } else if (!associated || s_[s_[def].parent].kind != DefKind::Trait) {
        error(Code::None, item.span, associated ? "associated constant in `impl` without body" : "free constant item without body");
    }
    s_[def].data = result;
}

void Lowerer::lower_static(DefId def) {
    const ast::Item item = ast()[s_.origin[def].item];
    const auto data = std::get<ast::StaticItem>(item.data);
    finish_attributes(def, item.attributes);
    hir::StaticDef result;
    result.is_mut = data.is_mut;
    {
        const ElisionScope scope(*this, Elision::Static);
        result.type = data.type.valid() ? lower_type(data.type) : error_ty(item.span);
    }
    if (data.value.valid()) {
        OpenBody open;
        open_body(open, def);
        const hir::ExprId value = lower_expr(data.value);
        close_body(open, value, {});
        result.body = open.id;
    } else {
        error(Code::None, item.span, "free static item without body");
    }
    s_[def].data = result;
}

void Lowerer::lower_alias(DefId def) {
    const ast::Item item = ast()[s_.origin[def].item];
    const auto data = std::get<ast::TypeAliasItem>(item.data);
    finish_attributes(def, item.attributes);
    const bool associated = s_[def].kind == DefKind::AssocTy;
    if (associated) push_parent_scope(s_[def].parent);
    hir::TypeAliasDef result;
    result.generics = lower_generics(def, data.generics);
    const bool in_impl = associated && s_[s_[def].parent].kind == DefKind::Impl;
    const ElisionScope scope(*this, in_impl ? Elision::ImplType : Elision::Error);
    result.bounds = lower_bounds(data.bounds);
    if (data.type.valid()) {
        result.type = lower_type(data.type);
    } else if (!associated || s_[s_[def].parent].kind != DefKind::Trait) {
        error(Code::None, item.span, associated ? "associated type in `impl` without body" : "free type alias without body");
    }
    s_[def].data = result;
}

void Lowerer::lower_foreign(DefId def) {
    const ast::Item item = ast()[s_.origin[def].item];
    if (const auto* fn = std::get_if<ast::FnItem>(&item.data)) {
        for (const ast::GenericParam& param : ast()[ast()[fn->decl].generics].params) {
            if (param.kind == ast::GenericParamKind::Lifetime) continue;
            error(Code::E0044, item.span, "foreign items may not have type or const parameters").label(at(param.span), "can't have type or const parameters");
            return;
        }
    }
    refuse(Code::OCK0911, item.span, "functions and statics of `extern` blocks are", "write the function in this language");
}

// ---- structs and enums

hir::VariantData Lowerer::lower_variant(DefId variant, DefId ctor, hir::Ident name, hir::VariantForm form, ast::List<ast::FieldDef> fields,
                                        Span span, const hir::Visibility* enum_visibility) {
    hir::VariantData data;
    data.def = variant;
    data.ctor = ctor;
    data.name = name;
    data.form = form;
    data.span = at(span);
    std::vector<hir::FieldDef> lowered;
    std::unordered_map<Symbol, Span> seen;
    for (const ast::FieldDef& field : fields) {
        const Evaluated evaluated = evaluate(s_, crate_, field.attributes);
        if (!evaluated.enabled) continue;
        note_lint_levels(s_, crate_, evaluated.attrs, field.span);
        hir::FieldDef result;
        result.name = form == hir::VariantForm::Named ? name_of(field.ident)
                                                      : hir::Ident{s_.names.intern(fmt::format("{}", lowered.size())), at(field.span)};
        result.span = at(field.span);
        const auto [first, fresh] = seen.emplace(result.name.name, result.span);
        if (!fresh) {
            error(Code::E0124, field.span, fmt::format("field `{}` is already declared", text(result.name.name)))
                .label(at(field.span), "field already declared")
                .label(first->second, fmt::format("`{}` first declared here", text(result.name.name)));
        }
        result.def = new_def(DefKind::Field, result.name, field.span);
        s_[result.def].parent = variant;
        result.visibility = enum_visibility != nullptr ? *enum_visibility : visibility_of(s_, field.visibility, module_);
        s_[result.def].visibility = result.visibility;
        result.type = lower_type(field.type);
        lowered.push_back(result);
    }
    data.fields = list(lowered);
    return data;
}

void Lowerer::lower_struct(DefId def) {
    const ast::Item item = ast()[s_.origin[def].item];
    finish_attributes(def, item.attributes);
    hir::AdtDef adt;
    scopes_.push({ScopeEntry::Kind::SelfAlias, s_.names.intern("Self"), 0, def.raw, at(item.span), 0});
    const ElisionScope scope(*this, Elision::Error);
    if (const auto* u = std::get_if<ast::UnionItem>(&item.data)) {
        const ast::UnionItem data = *u;
        adt.generics = lower_generics(def, data.generics);
        adt.variants = list({lower_variant(def, {}, s_[def].name, hir::VariantForm::Named, data.fields, item.span, nullptr)});
    } else {
        const auto data = std::get<ast::StructItem>(item.data);
        const hir::VariantForm form = s_.origin[def].form;
        const DefId ctor = form == hir::VariantForm::Named ? DefId() : DefId(s_.origin[def].index);
        adt.generics = lower_generics(def, data.generics);
        adt.variants = list({lower_variant(def, ctor, s_[def].name, form, data.fields, item.span, nullptr)});
        if (ctor.valid()) s_[ctor].lowered = true;
    }
    check_adt_attributes(def, item, adt);
    s_[def].data = adt;
}

void Lowerer::lower_enum(DefId def) {
    const ast::Item item = ast()[s_.origin[def].item];
    const auto data = std::get<ast::EnumItem>(item.data);
    finish_attributes(def, item.attributes);
    hir::AdtDef adt;
    scopes_.push({ScopeEntry::Kind::SelfAlias, s_.names.intern("Self"), 0, def.raw, at(item.span), 0});
    const ElisionScope scope(*this, Elision::Error);
    adt.generics = lower_generics(def, data.generics);
    check_adt_attributes(def, item, adt);
    const hir::TyId discriminant = res_ty(item.span, s_.names.intern("isize"), prim_res(adt.repr.integer ? static_cast<hir::PrimTy>(static_cast<int>(hir::PrimTy::I8) + static_cast<int>(*adt.repr.integer)) : hir::PrimTy::Isize));
    const ModuleId variants = s_.origin[def].scope;
    std::vector<hir::VariantData> lowered;
    std::size_t next = 0;
    for (const ast::Variant& variant : data.variants) {
        if (!cfg_enabled(s_, crate_, variant.attributes)) continue;
        const DefId variant_def = s_[variants].items[next++];
        const hir::VariantForm form = s_.origin[variant_def].form;
        const DefId ctor = form == hir::VariantForm::Named ? DefId() : DefId(variant_def.raw + 1);   // made right after the variant
        hir::Visibility everywhere = s_[def].visibility;
        hir::VariantData result = lower_variant(variant_def, ctor, s_[variant_def].name, form, variant.fields, variant.span, &everywhere);
        if (variant.discriminant.valid()) {
            result.discriminant = anon_const(variant.discriminant, ScopeBarrier::Kind::AnonConst, discriminant, ast()[variant.discriminant].span);
        }
        finish_attributes(variant_def, variant.attributes);
        s_[variant_def].lowered = true;
        if (ctor.valid()) s_[ctor].lowered = true;
        lowered.push_back(result);
    }
    adt.variants = list(lowered);
    s_[def].data = adt;
}

// #[repr(..)] and the names in #[derive(..)].
void Lowerer::check_adt_attributes(DefId def, const ast::Item& item, hir::AdtDef& adt) {
    adt.repr = read_reprs(s_, def, item);
    for (const hir::Attribute& attribute : s_[def].attributes) {
        if (attribute.kind != hir::AttributeKind::Derive || !s_.origin[def].strict) continue;
        for (const ast::MetaItem& trait : attribute.meta.items) check_derive_name(s_, crate_, module_, trait);
    }
}

// ---- traits and impls

void Lowerer::push_generics_of(DefId def) {
    const hir::Generics* generics = nullptr;
    if (const auto* impl = std::get_if<hir::ImplDef>(&s_[def].data)) generics = &impl->generics;
    if (const auto* trait = std::get_if<hir::TraitDef>(&s_[def].data)) generics = &trait->generics;
    if (const auto* fn = std::get_if<hir::FnDef>(&s_[def].data)) generics = &fn->generics;
    OCKC_CHECK(generics != nullptr);
    for (const hir::GenericParam& param : generics->params) {
        ScopeEntry entry;
        entry.kind = param.kind == hir::GenericParam::Kind::Lifetime ? ScopeEntry::Kind::Lifetime
                     : param.kind == hir::GenericParam::Kind::Type   ? ScopeEntry::Kind::TyParam
                                                                     : ScopeEntry::Kind::ConstParam;
        entry.name = param.ident.name;
        entry.payload = param.def.raw;
        entry.span = param.ident.span;
        scopes_.push(entry);
    }
}

void Lowerer::push_parent_scope(DefId parent) {
    ScopeEntry self;
    self.kind = s_[parent].kind == DefKind::Trait ? ScopeEntry::Kind::SelfParam : ScopeEntry::Kind::SelfAlias;
    self.name = s_.names.intern("Self");
    self.payload = parent.raw;
    self.span = s_[parent].span;
    scopes_.push(self);
    push_generics_of(parent);
}

void Lowerer::lower_trait(DefId def) {
    const ast::Item item = ast()[s_.origin[def].item];
    const auto data = std::get<ast::TraitItem>(item.data);
    finish_attributes(def, item.attributes);
    hir::TraitDef trait;
    trait.is_unsafe = data.safety == ast::Safety::Unsafe;
    trait.is_auto = data.is_auto;
    scopes_.push({ScopeEntry::Kind::SelfParam, s_.names.intern("Self"), 0, def.raw, at(item.span), 0});
    const ElisionScope scope(*this, Elision::Error);
    trait.generics = lower_generics(def, data.generics);
    trait.supertraits = lower_bounds(data.supertraits);
    const std::vector<DefId> items = s_[s_.origin[def].scope].items;
    trait.items = list(items);
    s_[def].data = trait;
    for (const DefId member : items) {
        const auto* fn = std::get_if<hir::FnDef>(&s_[member].data);
        const bool wanted = fn == nullptr || !fn->has_body || s_.origin[def].strict || s_.mentioned.contains(s_[member].name.name);
        if (wanted) want(s_, member);
    }
}

void Lowerer::lower_impl(DefId def) {
    ImplInfo& info = s_.impls[s_.origin[def].index];
    info.active = true;
    if (info.derive) {
        forced_span_ = info.derive_span;
        make_derived_impl(def);
    }
    const ast::Item item = ast()[s_.origin[def].item];
    const auto data = std::get<ast::ImplItem>(item.data);
    finish_attributes(def, item.attributes);
    hir::ImplDef impl;
    impl.has_trait = data.trait_path.valid();
    impl.is_negative = data.is_negative;
    impl.derived = info.derive.has_value();
    impl.is_unsafe = data.safety == ast::Safety::Unsafe;
    scopes_.push({ScopeEntry::Kind::SelfAlias, s_.names.intern("Self"), 0, def.raw, at(item.span), 0});
    {
        const ElisionScope scope(*this, Elision::Header);
        impl.generics = lower_generics(def, data.generics);
        if (impl.has_trait) impl.trait_path = lower_trait_path(data.trait_path);
        impl.self_type = lower_type(data.self_type);
    }
    impl.items = list(info.items);
    s_[def].data = impl;
    s_.program.impls.push_back(def);
    if (impl.has_trait && impl.trait_path.res.kind == Res::Kind::Def && !s_.crates[crate_].is_library && !info.derive) check_impl_members(def);
    queue_impl_items(s_, info);
}

namespace {

struct MemberKind {
    Code code;
    std::string_view what;
    Ns ns;
};
MemberKind member_kind(DefKind kind) {
    if (kind == DefKind::AssocFn) return {Code::E0407, "method", Ns::Value};
    if (kind == DefKind::AssocConst) return {Code::E0438, "const", Ns::Value};
    return {Code::E0437, "type", Ns::Type};
}

}  // namespace

// E0407, E0437, E0438: not in the trait; E0201: twice; E0323..: of another kind. What is in the trait is lowered there too.
void Lowerer::check_impl_members(DefId def) {
    const auto impl = std::get<hir::ImplDef>(s_[def].data);
    const ModuleId scope = s_.origin[impl.trait_path.res.def].scope;
    std::unordered_map<Symbol, Span> seen;
    for (const DefId member : impl.items) {
        const hir::Ident name = s_[member].name;
        const MemberKind kind = member_kind(s_[member].kind);
        const Span whole = s_[member].span;
        const auto [first, fresh] = seen.emplace(name.name, whole);
        if (!fresh) {
            error(Code::E0201, whole, fmt::format("duplicate definitions with name `{}`:", text(name.name)))
                .label(at(whole), "duplicate definition")
                .label(first->second, "previous definition here");
            continue;
        }
        const Binding* declared = find(s_, scope, name.name, kind.ns);
        if (declared == nullptr) declared = find(s_, scope, name.name, kind.ns == Ns::Type ? Ns::Value : Ns::Type);
        if (declared == nullptr) {
            const std::string trait = std::string(s_.name_of(impl.trait_path.res.def));
            auto& e = error(kind.code, whole, fmt::format("{} `{}` is not a member of trait `{}`", kind.what, text(name.name), trait));
            e.label(at(whole), fmt::format("not a member of trait `{}`", trait));
            const DefKind wanted = s_[member].kind;
            const Symbol near = similar_in_scope(s_, scope, name.name, module_, [&](const Res& res) { return s_[res.def].kind == wanted; });
            if (near.valid()) e.suggest(name.span, std::string(text(near)), fmt::format("there is an {} with a similar name", hir::def_kind_text(wanted)));
            continue;
        }
        const DefKind in_trait = s_[declared->res.def].kind;
        if (in_trait != s_[member].kind) {
            const Code code = s_[member].kind == DefKind::AssocConst ? Code::E0323 : s_[member].kind == DefKind::AssocFn ? Code::E0324 : Code::E0325;
            const std::string_view what = s_[member].kind == DefKind::AssocConst ? "const" : s_[member].kind == DefKind::AssocFn ? "method" : "type";
            error(code, whole, fmt::format("item `{}` is an associated {}, which doesn't match its trait `{}`", text(name.name), what, s_.name_of(impl.trait_path.res.def)))
                .label(at(whole), "does not match trait")
                .label(s_[declared->res.def].span, "item in trait");
            continue;
        }
        want(s_, declared->res.def);
    }
}

}  // namespace ockc::resolve
