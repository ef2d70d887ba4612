// Calls: of functions, constructors, pointers, closures, through Fn traits, and of methods; their arguments.
#include <fmt/format.h>

#include "check/body.hpp"

namespace ockc::check {

using hir::DefKind;

bool BodyChecker::is_destructor(DefId fn) const {
    const DefId parent = program_.defs[fn].parent;
    return lang_.drop.valid() && parent == lang_.drop && program_.name(fn) == "drop";
}

// ---- what is called --------------------------------------------------------------------------------------------------------------------------

std::optional<BodyChecker::CallSig> BodyChecker::callable_sig(ExprId, ExprId callee, TypeId type) {
    const TypeData data = types_[type];
    CallSig sig;
    if (data.kind == TypeKind::FnDef) {
        const FnSigInfo info = cx_.fn_sig(ItemRef{data.def, data.args});
        for (TypeId input : info.inputs) sig.inputs.push_back(normalize(input, span(callee)));
        sig.output = normalize(info.output, span(callee));
        sig.fn = data.def;
        return sig;
    }
    if (data.kind == TypeKind::FnPtr) {
        const auto all = types_[data.elements];
        sig.inputs.assign(all.begin(), all.end() - 1);
        sig.output = all.back();
        return sig;
    }
    return std::nullopt;
}

// A call through Fn, FnMut or FnOnce; the narrowest that holds.
std::optional<BodyChecker::CallSig> BodyChecker::overloaded_call(ExprId call, ExprId callee, TypeId self, std::uint32_t autoderefs, std::size_t arg_count) {
    struct Way {
        DefId trait;
        std::string_view method;
        MethodPick::Autoref autoref;
    };
    const Way ways[] = {{state_.lang_item("fn"), "call", MethodPick::Autoref::Ref},
                        {state_.lang_item("fn_mut"), "call_mut", MethodPick::Autoref::RefMut},
                        {state_.lang_item("fn_once"), "call_once", MethodPick::Autoref::None}};
    static_cast<void>(autoderefs);
    for (const Way& way : ways) {
        if (!way.trait.valid()) continue;
        std::vector<TypeId> inputs;
        for (std::size_t i = 0; i < arg_count; ++i) inputs.push_back(infer_.new_var(span(callee)));
        // The number of arguments is the bound's to say: one variable for the whole tuple.
        const TypeId tuple = infer_.new_var(span(callee));
        const GenericArg args[] = {self, tuple};
        Predicate predicate;
        predicate.trait_ref = {way.trait, types_.args(args)};
        if (selector_.evaluate(predicate) == Outcome::No) continue;
        add_obligation(predicate, {span(callee), CauseKind::Misc, {}, {}, {}});
        run_obligations();
        const TypeId known = shallow(tuple);
        if (types_.kind(known) != TypeKind::Tuple) unify(known, types_.tuple(inputs));
        CallSig sig;
        const auto elements = types_[types_[shallow(tuple)].elements];
        sig.inputs.assign(elements.begin(), elements.end());
        const GenericArg once[] = {self, tuple};
        sig.output = normalize(types_.projection(lang_.fn_once_output, types_.args(once)), span(callee));
        sig.tupled = true;
        const DefId method = state_.item_named(way.trait, program_.interner.intern(way.method));
        tables_.callees.set(call, {method, types_.args(args)});
        std::vector<Adjustment> steps;
        if (way.autoref != MethodPick::Autoref::None) {
            const Mutability mutability = way.autoref == MethodPick::Autoref::RefMut ? Mutability::Mut : Mutability::Not;
            steps.push_back({AdjustKind::Borrow, mutability, false, {}, types_.ref(types_.erased, self, mutability)});
        }
        apply_adjustments(callee, std::move(steps));
        if (way.autoref == MethodPick::Autoref::RefMut) make_place_mutable(callee);
        return sig;
    }
    return std::nullopt;
}

TypeId BodyChecker::report_not_callable(ExprId, const hir::CallExpr& e, TypeId type) {
    for (ExprId arg : e.args) check_expr(arg);
    if (has_error(type)) return types_.error;
    Diagnostic& diagnostic = error(Code::E0618, span(e.callee), fmt::format("expected function, found `{}`", text(type)));
    if (const auto* path = std::get_if<hir::PathExpr>(&expr(e.callee).data);
        path != nullptr && path->path->kind == hir::QPath::Kind::Resolved && path->path->path.res.kind == hir::Res::Kind::Local) {
        const hir::Local& local = body_.locals[path->path->path.res.local];
        diagnostic.label(local.name.span, fmt::format("`{}` has type `{}`", name(local.name.name), text(type)));
    }
    diagnostic.label(span(e.callee), "call expression requires function");
    return types_.error;
}

TypeId BodyChecker::check_call(ExprId id, const hir::CallExpr& e, Expectation expected) {
    const TypeId callee = structural(check_expr(e.callee));
    if (const ItemRef item = tables_.expr_items[e.callee]; item.valid() && is_destructor(item.def)) {
        error(Code::E0040, span(e.callee), "explicit use of destructor method").label(span(e.callee), "explicit destructor calls not allowed");
    }
    const std::vector<DerefStep> steps = autoderef(callee, span(e.callee));
    for (std::uint32_t i = 0; i < steps.size(); ++i) {
        const TypeId type = structural(steps[i].type);
        if (infer_.is_type_var(type)) {
            structural_or_error(type, span(e.callee));
            for (ExprId arg : e.args) check_expr(arg);
            return types_.error;
        }
        if (auto sig = callable_sig(id, e.callee, type)) {
            apply_adjustments(e.callee, deref_adjustments(steps, i, span(e.callee)));
            return check_args(id, *sig, e.args, expected, span(e.callee));
        }
        const auto open = types_.kind(type) == TypeKind::Closure ? closure_view(type) : std::nullopt;
        if (open) {
            CallSig sig;
            sig.inputs = open->inputs;
            sig.output = open->output;
            sig.tupled = true;
            apply_adjustments(e.callee, deref_adjustments(steps, i, span(e.callee)));
            calls_.push_back({id, e.callee, types_[type].def, i});
            return check_args(id, sig, e.args, expected, span(e.callee));
        }
        const TypeKind kind = types_.kind(type);
        if (kind == TypeKind::Param || kind == TypeKind::Adt || kind == TypeKind::Projection || kind == TypeKind::Opaque || kind == TypeKind::Closure) {
            apply_adjustments(e.callee, deref_adjustments(steps, i, span(e.callee)));
            if (auto sig = overloaded_call(id, e.callee, type, i, e.args.size())) return check_args(id, *sig, e.args, expected, span(e.callee));
            adjustments_.erase(e.callee);
        }
    }
    return report_not_callable(id, e, callee);
}

// Closures called before their kind was known get the trait that the kind allows.
void BodyChecker::resolve_deferred_calls() {
    for (auto it = calls_.begin(); it != calls_.end();) {
        const ClosureState& closure = closures_.at(it->closure);
        if (!closure.kind) {
            ++it;
            continue;
        }
        const ClosureKind kind = *closure.kind;
        const DefId trait = state_.lang_item(kind == ClosureKind::Fn ? "fn" : kind == ClosureKind::FnMut ? "fn_mut" : "fn_once");
        const std::string_view method = kind == ClosureKind::Fn ? "call" : kind == ClosureKind::FnMut ? "call_mut" : "call_once";
        const auto adjusted = adjustments_.find(it->callee);
        const TypeId self = adjusted == adjustments_.end() || adjusted->second.empty() ? shallow(tables_.expr_types[it->callee]) : shallow(adjusted->second.back().target);
        if (trait.valid()) {
            const GenericArg args[] = {self, types_.tuple(closure.info->inputs)};
            tables_.callees.set(it->call, {state_.item_named(trait, program_.interner.intern(method)), types_.args(args)});
            if (kind != ClosureKind::FnOnce) {
                const Mutability mutability = kind == ClosureKind::FnMut ? Mutability::Mut : Mutability::Not;
                adjustments_[it->callee].push_back({AdjustKind::Borrow, mutability, false, {}, types_.ref(types_.erased, self, mutability)});
                if (mutability == Mutability::Mut) make_place_mutable(it->callee);
            }
        }
        it = calls_.erase(it);
    }
}

// ---- arguments ----------------------------------------------------------------------------------------------------------------------------------

// What the inputs are if the output is to be the expected type: lets arguments coerce to what the result needs.
std::vector<TypeId> BodyChecker::inputs_for_output(const CallSig& sig, Expectation expected) {
    if (expected.kind != Expectation::Kind::HasType) return {};
    const TypeId wanted = infer_.resolve(expected.type);
    if (infer_.is_type_var(wanted) || !types_.has(infer_.resolve(sig.output), types::kHasInfer)) return {};
    std::vector<TypeId> inputs;
    const auto before = infer_.snapshot();
    if (infer_.unify(wanted, sig.output)) {
        for (TypeId input : sig.inputs) inputs.push_back(infer_.resolve(input));
    }
    infer_.rollback(before);
    return inputs;
}

void BodyChecker::report_arg_count(ExprId call, const CallSig& sig, hir::List<ExprId> args, Span callee_span) {
    const std::size_t wanted = sig.inputs.size(), given = args.size();
    const bool is_closure = sig.tupled;
    const auto count = [](std::size_t n) { return fmt::format("{} argument{}", n, n == 1 ? "" : "s"); };
    const bool is_ctor = sig.fn.valid() && program_.defs[sig.fn].kind == DefKind::Ctor;
    const std::string_view what = is_ctor ? (program_.defs[program_.defs[sig.fn].parent].kind == DefKind::Variant ? "enum variant" : "struct")
                                          : sig.is_method ? "method" : "function";
    Diagnostic& diagnostic = error(is_closure ? Code::E0057 : Code::E0061, callee_span,
                                   fmt::format("this {} takes {} but {} {} supplied", what, count(wanted), count(given), given == 1 ? "was" : "were"));
    if (given > wanted) {
        for (std::size_t i = wanted; i < given; ++i) diagnostic.label(span(args[i]), fmt::format("unexpected argument #{} of type `{}`", i + 1, text(tables_.expr_types[args[i]])));
    } else {
        diagnostic.label(span(call), wanted - given == 1 ? fmt::format("argument #{} of type `{}` is missing", given + 1, text(sig.inputs[given])) : std::string("arguments are missing"));
    }
    if (sig.fn.valid()) {
        const DefId at = is_ctor ? program_.defs[sig.fn].parent : sig.fn;
        diagnostic.note_at(program_.defs[at].name.span, fmt::format("{} defined here", is_ctor ? what : hir::def_kind_text(program_.defs[at].kind)));
    }
}

TypeId BodyChecker::check_args(ExprId call, const CallSig& sig, hir::List<ExprId> args, Expectation expected, Span callee_span) {
    if (args.size() != sig.inputs.size()) {
        for (std::size_t i = 0; i < args.size(); ++i) check_expr(args[i], i < sig.inputs.size() ? Expectation::has(sig.inputs[i]) : Expectation::none());
        report_arg_count(call, sig, args, callee_span);
        return sig.output;
    }
    const std::vector<TypeId> wanted = inputs_for_output(sig, expected);
    const std::size_t first_error = cx_.sink().all().size();
    // Closures come second: the other arguments may tell what they take.
    for (const bool closures : {false, true}) {
        if (closures) run_obligations();
        for (std::size_t i = 0; i < args.size(); ++i) {
            if (std::holds_alternative<hir::ClosureExpr>(expr(args[i]).data) != closures) continue;
            const TypeId formal = sig.inputs[i];
            const TypeId hint = i < wanted.size() ? wanted[i] : formal;
            const TypeId found = check_expr(args[i], Expectation::has(hint));
            if (hint != formal && try_coerce(args[i], found, hint, true)) {
                if (!unify(formal, hint)) report_coercion(args[i], formal, found);
            } else {
                coerce(args[i], found, formal, true);
            }
        }
        if (!closures) {
            bool any = false;
            for (ExprId arg : args) any |= std::holds_alternative<hir::ClosureExpr>(expr(arg).data);
            if (!any) break;
        }
    }
    merge_argument_errors(args, first_error, callee_span);
    return sig.output;
}

// Several arguments of wrong types are one error, at the callee.
void BodyChecker::merge_argument_errors(hir::List<ExprId> args, std::size_t first, Span callee_span) {
    auto& all = cx_.sink().all();
    const auto is_argument = [&](const Diagnostic& d) {
        return d.code == Code::E0308 && std::any_of(args.begin(), args.end(), [&](ExprId arg) { return span(arg) == d.primary_span(); });
    };
    std::vector<const Diagnostic*> wrong;
    for (std::size_t i = first; i < all.size(); ++i) {
        if (is_argument(all[i])) wrong.push_back(&all[i]);
    }
    if (wrong.size() < 2) return;
    Diagnostic merged = *wrong.front();
    merged.message = "arguments to this function are incorrect";
    merged.labels = {{callee_span, {}, true}};
    for (const Diagnostic* one : wrong) merged.labels.push_back({one->primary_span(), one->labels.front().text, false});
    std::size_t at = 0;
    bool placed = false;
    cx_.sink().retain([&](Diagnostic& d) {
        if (at++ < first || !is_argument(d)) return true;
        if (std::exchange(placed, true)) return false;
        d = std::move(merged);
        return true;
    });
}

TypeId BodyChecker::check_method_call(ExprId id, const hir::MethodCallExpr& e, Expectation expected) {
    const TypeId receiver = structural(check_expr(e.receiver));
    const auto check_rest = [&] {
        for (ExprId arg : e.args) {
            const bool closure = std::holds_alternative<hir::ClosureExpr>(expr(arg).data);
            check_expr(arg, closure ? Expectation::has(types_.error) : Expectation::none());
        }
        return types_.error;
    };
    if (has_error(receiver)) return check_rest();
    std::vector<DerefStep> steps;
    const MethodProbeResult result = probe_method(receiver, e.method->ident.name, e.method->ident.span, steps);
    if (!result.pick) {
        check_rest();
        return report_no_method(id, e, receiver, result);
    }
    if (is_destructor(result.pick->item) || (result.pick->source == MethodPick::Source::Trait && is_destructor(result.pick->item))) {
        error(Code::E0040, e.method->ident.span, "explicit use of destructor method").label(e.method->ident.span, "explicit destructor calls not allowed");
    }
    const CallSig sig = confirm_method(id, e, *result.pick, steps);
    return check_args(id, sig, e.args, expected, e.method->ident.span);
}

}  // namespace ockc::check
