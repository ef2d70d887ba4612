#include "check/body.hpp"

#include <fmt/format.h>

#include "types/fold.hpp"

namespace ockc::check {

using hir::DefKind;
using types::InferKind;

BodyLowerer::BodyLowerer(Context& context, BodyChecker& body, DefId owner)
    : TypeLowerer(context, owner, ElidedRegion::Erased), body_(body) {}

TypeId BodyLowerer::infer_type(Span span) { return body_.infer().new_var(span); }
ConstId BodyLowerer::infer_const(TypeId type, Span span) { return body_.infer().new_const_var(type, span); }

namespace {

hir::BodyId body_of(const hir::Program& program, DefId owner) {
    const hir::Def& def = program.defs[owner];
    if (const auto* fn = std::get_if<hir::FnDef>(&def.data)) return fn->body;
    if (const auto* constant = std::get_if<hir::ConstDef>(&def.data)) return constant->body;
    if (const auto* item = std::get_if<hir::StaticDef>(&def.data)) return item->body;
    if (const auto* anon = std::get_if<hir::AnonConstDef>(&def.data)) return anon->body;
    return {};
}

}  // namespace

BodyChecker::BodyChecker(Context& context, DefId owner, TypeTables& tables)
    : cx_(context),
      state_(context.state()),
      lang_(state_.lang),
      types_(context.types()),
      program_(context.program()),
      owner_(owner),
      body_(*program_.bodies[body_of(program_, owner)]),
      env_(context.param_env(owner)),
      tables_(tables),
      infer_(types_),
      selector_(context, infer_, env_, this),
      fulfill_(selector_),
      lowerer_(context, *this, generics_owner(program_, context.body_owner(owner))),
      module_(enclosing_module(program_, owner)),
      errors_before_(context.sink().error_count()) {
    tables_.owner = owner;
    tables_.body = body_of(program_, owner);
    tables_.expr_types = SideMap<ExprId, TypeId>(body_.exprs.size());
    tables_.pat_types = SideMap<PatId, TypeId>(body_.pats.size());
    tables_.local_types = SideMap<LocalId, TypeId>(body_.locals.size());
}

bool BodyChecker::run() {
    const CrashContext crash("type checking", program_.name(owner_));
    if (std::holds_alternative<hir::FnDef>(program_.defs[owner_].data)) {
        const FnSigInfo sig = cx_.fn_sig(ItemRef{owner_, cx_.identity_args(owner_)});
        const hir::FnSig& syntax = program_.as<hir::FnDef>(owner_).sig;
        for (std::size_t i = 0; i < body_.params.size(); ++i) {
            const TypeId type = normalize(sig.inputs[i], body_.params[i].span);
            check_pattern(body_.params[i].pat, type);
            const bool is_variable = std::holds_alternative<hir::BindingPat>(pat(body_.params[i].pat).data);   // asks itself
            if (!is_variable) require_sized(type, {body_.params[i].span, CauseKind::SizedVariable, {}, {}, {}});
        }
        return_type_ = normalize(open_opaques(sig.output, syntax.output_span), syntax.output_span);
        return_span_ = syntax.output_span;
        require_sized(return_type_, {syntax.output_span.valid() ? syntax.output_span : syntax.span, CauseKind::SizedReturn, {}, {}, {}});
        check_coerce(body_.value, return_type_);
    } else {
        check_constant();
    }
    finish();
    return !tables_.has_errors;
}

void BodyChecker::check_constant() {
    const TypeId declared = cx_.type_of(owner_);
    const Span at = span(body_.value);
    if (declared.valid()) {
        check_coerce(body_.value, normalize(types_.erase_regions(declared), at));
    } else {
        check_expr(body_.value);   // an inline `const { .. }`: its type is what it is
    }
}

void BodyChecker::finish() {
    run_obligations();
    resolve_deferred_calls();
    apply_fallback();
    run_obligations();
    check_casts();
    run_obligations();
    analyze_captures();
    fulfill_.reconsider();
    resolve_deferred_calls();
    for (const auto& [type, cause] : sized_locals_) {
        const TypeId known = shallow(type);
        if (types_.kind(known) != TypeKind::Infer && !is_sized_by_head(types_[known])) require_trait(known, lang_.sized, cause);
    }
    run_obligations();
    demote_builtin_ops();
    check_negated();
    report_unresolved_obligations();
    write_back();
}

// What no use has determined: {integer} is i32, {float} is f64, diverging code is `!`.
void BodyChecker::apply_fallback() {
    run_obligations();
    const std::size_t count = infer_.var_count();
    for (std::uint32_t i = 0; i < count; ++i) {
        if (infer_.is_bound(i)) continue;   // the variable at the chain's end has its own turn
        const TypeId known = infer_.var_type(i);
        const InferKind kind = types_[known].infer_kind;
        if (kind == InferKind::Int) unify(known, types_.int_type(types::IntKind::I32));
        if (kind == InferKind::Float) unify(known, types_.float_type(types::FloatKind::F64));
    }
    const TypeId never = cx_.options().edition_2021 ? types_.unit : types_.never;
    for (TypeId var : infer_.diverging_vars()) {
        if (infer_.is_type_var(var)) unify(var, never);
    }
}

void BodyChecker::run_obligations() {
    std::vector<FulfillError> errors;
    fulfill_.run(errors);
    for (const FulfillError& failure : errors) report(failure);
}

void BodyChecker::add_obligation(Predicate predicate, const Cause& cause) { fulfill_.add(Obligation{std::move(predicate), cause, 0}); }

void BodyChecker::require_trait(TypeId type, DefId trait, const Cause& cause) {
    if (!trait.valid()) return;
    Predicate predicate;
    const GenericArg args[] = {type};
    predicate.trait_ref = {trait, types_.args(args)};
    add_obligation(predicate, cause);
}

void BodyChecker::require_sized(TypeId type, const Cause& cause) {
    switch (types_.kind(type)) {   // most types are sized by their head
        case TypeKind::Str:
        case TypeKind::Slice:
        case TypeKind::Param:
        case TypeKind::Projection:
        case TypeKind::Adt:
        case TypeKind::Tuple:
        case TypeKind::Infer: sized_locals_.push_back({type, cause}); return;
        default: return;
    }
}

TypeId BodyChecker::lower_type(hir::TyId type) {
    const TypeId lowered = lowerer_.lower(type);
    tables_.written_types[type] = lowered;
    require_well_formed(lowered, program_.types[type].span);
    return normalize(types_.erase_regions(lowered), program_.types[type].span);
}

// The bounds of the structs and enums that a written type names.
void BodyChecker::require_well_formed(TypeId type, Span span) {
    std::vector<Obligation> nested;
    types::walk(types_, types_.erase_regions(type), [&](TypeId part) {
        const TypeData data = types_[part];
        if (data.kind == TypeKind::Adt) selector_.item_obligations(data.def, data.args, Cause{span, CauseKind::ItemBound, data.def, {}, {}}, 0, nested);
        if (data.kind == TypeKind::Array || data.kind == TypeKind::Slice) require_sized(data.element, {span, CauseKind::WellFormed, {}, {}, {}});
        return true;
    });
    add_obligations(std::move(nested));
}

TypeId BodyChecker::normalize(TypeId type, Span span) {
    if (!types_.has(type, types::kHasProjection)) return type;
    std::vector<Obligation> nested;
    const TypeId result = selector_.normalize(type, Cause{span, CauseKind::Misc, {}, {}, {}}, 0, nested);
    add_obligations(std::move(nested));
    return result;
}

TypeId BodyChecker::structural(TypeId type) {
    const TypeId known = shallow(type);
    if (probing_ || types_.kind(known) != TypeKind::Infer) return known;   // numbers too: a closure may tell their type
    run_obligations();
    return shallow(known);
}

TypeId BodyChecker::structural_or_error(TypeId type, Span span) {
    const TypeId known = structural(type);
    if (!infer_.is_type_var(known)) return known;
    report_need_type(span, known);
    unify(known, types_.error);
    return types_.error;
}

Diagnostic& BodyChecker::error(Code code, Span span, std::string message) { return cx_.sink().error(code, span, std::move(message)); }

TypeId BodyChecker::set_type(ExprId id, TypeId type) {
    tables_.expr_types.set(id, type);
    return type;
}

void BodyChecker::report_unresolved_obligations() {
    if (cx_.sink().error_count() != errors_before_ || body_.has_errors) return;   // followers of an earlier error
    // `_: Sized` says least, so it comes last.
    for (const bool sized : {false, true}) {
        for (const Obligation& obligation : fulfill_.pending()) {
            if ((obligation.predicate.trait_ref.trait == lang_.sized) != sized) continue;
            report_ambiguous(obligation);
            if (ambiguity_reported_) return;
        }
    }
}

}  // namespace ockc::check
