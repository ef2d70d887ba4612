// Blocks, statements and control flow.
#include <fmt/format.h>

#include "check/body.hpp"

namespace ockc::check {

TypeId BodyChecker::check_block(BlockId id, Expectation expected, ExprId as_expr, bool coerce_tail) {
    const hir::Block& block = body_.blocks[id];
    for (const hir::Stmt& stmt : block.stmts) {
        if (stmt.kind != hir::Stmt::Kind::Item) note_unreachable(stmt.span, "statement", stmt.expr.valid() && body_.exprs[stmt.expr].desugared);
        check_stmt(stmt);
    }
    if (block.tail.valid()) {
        note_unreachable(span(block.tail), "expression", body_.exprs[block.tail].desugared);
        const TypeId found = check_expr(block.tail, expected);
        if (expected.kind == Expectation::Kind::HasType && coerce_tail) return coerce(block.tail, found, expected.type);
        return found;
    }
    if (diverges_) return types_.never;
    if (expected.kind == Expectation::Kind::HasType && coerce_tail && !unify(expected.type, types_.unit)) {
        if (has_error(expected.type)) return types_.error;
        const bool is_body = as_expr == body_.value && !in_closure_;
        const Span at = is_body && return_span_.valid() ? return_span_ : as_expr.valid() ? span(as_expr) : block.span;
        Diagnostic* diagnostic = report_mismatch(at, expected.type, types_.unit);
        if (diagnostic != nullptr && is_body && std::holds_alternative<hir::FnDef>(program_.defs[owner_].data)) {
            diagnostic->label(program_.defs[owner_].name.span, "implicitly returns `()` as its body has no tail or `return` expression");
        }
        if (diagnostic != nullptr && !block.stmts.empty() && block.stmts.back().kind == hir::Stmt::Kind::Semi) {
            const hir::Stmt& last = block.stmts.back();
            const TypeId type = tables_.expr_types[last.expr];
            if (type.valid() && can_coerce(type, expected.type)) {
                const Span semicolon{last.span.file, last.span.end - 1, last.span.end};
                diagnostic->suggest(semicolon, "", "remove this semicolon to return this value", Applicability::MachineApplicable);
            }
        }
        return types_.error;
    }
    return types_.unit;
}

// unreachable_code, once for all that one jump makes unreachable.
void BodyChecker::note_unreachable(Span at, std::string_view what, bool desugared) {
    if (!diverges_) unreachable_noted_ = false;
    if (!diverges_ || unreachable_noted_ || desugared || probing_ || program_.crates[program_.defs[owner_].crate].is_library) return;
    unreachable_noted_ = true;
    cx_.sink().lint("unreachable_code", at, fmt::format("unreachable {}", what)).label(at, fmt::format("unreachable {}", what));
}

void BodyChecker::check_stmt(const hir::Stmt& stmt) {
    switch (stmt.kind) {
        case hir::Stmt::Kind::Let: check_let_stmt(stmt); return;
        case hir::Stmt::Kind::Expr: check_has_type(stmt.expr, types_.unit); return;
        case hir::Stmt::Kind::Semi: check_expr(stmt.expr); return;
        case hir::Stmt::Kind::Item: return;   // checked on its own
    }
}

bool BodyChecker::pattern_has_ref(PatId id) const {
    const auto any = [&](hir::List<PatId> list) {
        for (PatId inner : list) {
            if (pattern_has_ref(inner)) return true;
        }
        return false;
    };
    return std::visit(ast::Overloaded{
                          [&](const hir::BindingPat& p) { return p.mode.by_ref || (p.sub.valid() && pattern_has_ref(p.sub)); },
                          [&](const hir::RefPat& p) { return pattern_has_ref(p.inner); },
                          [&](const hir::TuplePat& p) { return any(p.elements); },
                          [&](const hir::TupleStructPat& p) { return any(p.elements); },
                          [&](const hir::StructPat& p) {
                              for (const hir::FieldPat& field : p.fields) {
                                  if (pattern_has_ref(field.pat)) return true;
                              }
                              return false;
                          },
                          [&](const hir::SlicePat& p) { return any(p.before) || any(p.after) || (p.middle.valid() && pattern_has_ref(p.middle)); },
                          [&](const hir::OrPat& p) { return any(p.alternatives); },
                          [&](std::monostate) { return false; },
                          [&](const hir::WildPat&) { return false; },
                          [&](const hir::LiteralPat&) { return false; },
                          [&](const hir::PathPat&) { return false; },
                          [&](const hir::RangePat&) { return false; },
                          [&](const hir::ConstBlockPat&) { return false; },
                          [&](const hir::ErrorPat&) { return false; },
                      },
                      pat(id).data);
}

void BodyChecker::check_let_stmt(const hir::Stmt& stmt) {
    const TypeId declared = stmt.type.valid() ? lower_type(stmt.type) : infer_.new_var(pat(stmt.pat).span);
    if (stmt.init.valid()) {
        if (pattern_has_ref(stmt.pat)) {
            check_has_type(stmt.init, declared);
        } else {
            check_coerce(stmt.init, declared);
        }
    }
    check_pattern(stmt.pat, declared);
    if (stmt.else_block.valid()) {
        const bool before = diverges_;
        diverges_ = false;
        const TypeId type = check_block(stmt.else_block, Expectation::has(types_.never), ExprId(), false);
        if (!diverges_ && types_.kind(shallow(type)) != TypeKind::Never && !has_error(type)) {
            const hir::Block& block = body_.blocks[stmt.else_block];
            report_mismatch(block.tail.valid() ? span(block.tail) : block.span, types_.never, type);
        }
        diverges_ = before;
    }
}

TypeId BodyChecker::check_let_condition(const hir::LetExpr& e) {
    const TypeId declared = infer_.new_var(pat(e.pat).span);
    if (pattern_has_ref(e.pat)) {
        check_has_type(e.init, declared);
    } else {
        check_coerce(e.init, declared);
    }
    check_pattern(e.pat, declared);
    return types_.boolean;
}

// ---- branches ------------------------------------------------------------------------------------------------------------------------------

namespace {

// The expression whose value a block gives, for the place of a message.
Span tail_span(const hir::Body& body, ExprId id) {
    for (;;) {
        const auto* block = std::get_if<hir::BlockExpr>(&body.exprs[id].data);
        if (block == nullptr || !body.blocks[block->block].tail.valid()) return body.exprs[id].span;
        id = body.blocks[block->block].tail;
    }
}

}  // namespace

void BodyChecker::join_branch(Branches& branches, ExprId branch, TypeId type, Span at, std::string_view what) {
    branches.exprs.push_back(branch);
    if (branches.expected.valid()) {
        const TypeId result = coerce(branch, type, branches.expected);
        if (!branches.merged.valid() || types_.kind(shallow(branches.merged)) == TypeKind::Never) branches.merged = result;
        return;
    }
    const bool first = !branches.merged.valid();
    if (first || types_.kind(shallow(branches.merged)) == TypeKind::Never) {
        if (!first && types_.kind(shallow(type)) != TypeKind::Never) {
            for (std::size_t i = 0; i + 1 < branches.exprs.size(); ++i) {
                apply_adjustments(branches.exprs[i], {{AdjustKind::NeverToAny, Mutability::Not, false, {}, type}});
            }
        }
        branches.merged = type;
        return;
    }
    if (try_coerce(branch, type, branches.merged, false)) return;
    // Different functions meet in a function pointer.
    const TypeId a = shallow(branches.merged), b = shallow(type);
    const auto is_fn = [&](TypeId t) { return types_.kind(t) == TypeKind::FnDef || types_.kind(t) == TypeKind::Closure; };
    if (is_fn(a) && is_fn(b)) {
        std::vector<TypeId> inputs;
        TypeId output;
        if (types_.kind(a) == TypeKind::FnDef) {
            const FnSigInfo sig = cx_.fn_sig(ItemRef{types_[a].def, types_[a].args});
            inputs = sig.inputs;
            output = sig.output;
        } else if (const auto view = closure_view(a)) {
            inputs = view->inputs;
            output = view->output;
        }
        const TypeId pointer = types_.fn_ptr(inputs, output, false);
        if (output.valid() && can_coerce(a, pointer) && can_coerce(b, pointer)) {
            for (std::size_t i = 0; i + 1 < branches.exprs.size(); ++i) try_coerce(branches.exprs[i], a, pointer, false);
            try_coerce(branch, b, pointer, false);
            branches.merged = pointer;
            return;
        }
    }
    if (has_error(branches.merged) || has_error(type)) {
        branches.merged = types_.error;
        return;
    }
    if (what.empty()) {
        report_coercion(branch, branches.merged, type);
    } else {
        error(Code::E0308, tail_span(body_, branch), std::string(what))
            .label(tail_span(body_, branch), fmt::format("expected `{}`, found `{}`", text(branches.merged), text(type)))
            .label(tail_span(body_, branches.exprs[0]), "expected because of this");
    }
    static_cast<void>(at);
    branches.merged = types_.error;
}

TypeId BodyChecker::check_if(ExprId id, const hir::IfExpr& e, Expectation expected) {
    check_has_type(e.condition, types_.boolean);
    const bool condition_diverges = diverges_;
    Branches branches;
    Expectation inner = expected;
    if (expected.kind == Expectation::Kind::HasType) {
        const TypeId wanted = structural(expected.type);
        if (infer_.is_type_var(wanted)) {
            inner = Expectation::none();
        } else if (e.else_expr.valid()) {
            branches.expected = wanted;
        }
    }
    if (!e.else_expr.valid()) {
        // The value of an `if` without `else` is (), which its block must give.
        diverges_ = false;
        const TypeId then_type = check_expr(e.then_expr, inner);
        diverges_ = condition_diverges;
        if (types_.kind(shallow(then_type)) == TypeKind::Never) {
            apply_adjustments(e.then_expr, {{AdjustKind::NeverToAny, Mutability::Not, false, {}, types_.unit}});
        } else if (!unify(then_type, types_.unit) && !has_error(then_type)) {
            const bool wanted_unit = expected.kind == Expectation::Kind::HasType && shallow(expected.type) == types_.unit;
            if (wanted_unit) {
                report_mismatch(tail_span(body_, e.then_expr), types_.unit, then_type);
            } else {
                error(Code::E0317, span(id), "`if` may be missing an `else` clause")
                    .label(span(id), fmt::format("expected `{}`, found `()`", text(then_type)))
                    .note("`if` expressions without `else` evaluate to `()`")
                    .help("consider adding an `else` block that evaluates to the expected type");
            }
            return types_.error;
        }
        return types_.unit;
    }
    diverges_ = false;
    const TypeId then_type = check_expr(e.then_expr, inner);
    const bool then_diverges = diverges_;
    join_branch(branches, e.then_expr, then_type, span(e.then_expr), "");
    diverges_ = false;
    const TypeId else_type = check_expr(e.else_expr, inner);
    const bool else_diverges = diverges_;
    join_branch(branches, e.else_expr, else_type, span(e.else_expr), "`if` and `else` have incompatible types");
    diverges_ = condition_diverges || (then_diverges && else_diverges);
    return joined(branches);
}

TypeId BodyChecker::check_match(ExprId, const hir::MatchExpr& e, Expectation expected) {
    const TypeId scrutinee = check_expr(e.scrutinee);
    const bool scrutinee_diverges = diverges_;
    for (const hir::Arm& arm : e.arms) check_pattern(arm.pat, scrutinee);
    Branches branches;
    Expectation inner = expected;
    if (expected.kind == Expectation::Kind::HasType) {
        const TypeId wanted = structural(expected.type);
        if (infer_.is_type_var(wanted)) {
            inner = Expectation::none();
        } else if (wanted != types_.unit) {   // a match that should be () is wrong as a whole
            branches.expected = wanted;
        }
    }
    bool all_diverge = true;
    for (const hir::Arm& arm : e.arms) {
        diverges_ = false;
        if (arm.guard.valid()) check_has_type(arm.guard, types_.boolean);
        diverges_ = false;
        const TypeId type = check_expr(arm.body, inner);
        all_diverge = all_diverge && diverges_;
        join_branch(branches, arm.body, type, arm.span, "`match` arms have incompatible types");
    }
    diverges_ = scrutinee_diverges || all_diverge;
    if (e.arms.empty()) diverges_ = true;
    return joined(branches);
}

// ---- loops ---------------------------------------------------------------------------------------------------------------------------------------

TypeId BodyChecker::check_loop(ExprId id, const hir::LoopExpr& e, Expectation expected) {
    LoopContext& context = loops_[id];
    context.is_loop = e.source == hir::LoopSource::Loop;
    if (context.is_loop && expected.kind == Expectation::Kind::HasType && !infer_.is_type_var(expected.type)) context.expected = expected.type;
    context.span = span(id);
    const bool before = diverges_;
    const TypeId body = check_block(e.body, Expectation::has(types_.unit), ExprId(), true);
    static_cast<void>(body);
    LoopContext& after = loops_[id];   // the map may have grown
    if (!after.may_break) {
        diverges_ = true;
        return types_.never;
    }
    diverges_ = before;
    return after.merged.valid() ? after.merged : types_.unit;
}

TypeId BodyChecker::check_labelled_block(ExprId id, BlockId block, Expectation expected) {
    LoopContext& context = loops_[id];
    context.is_block = true;
    context.span = span(id);
    if (expected.kind == Expectation::Kind::HasType && !infer_.is_type_var(expected.type)) context.expected = expected.type;
    const bool before = diverges_;
    const TypeId type = check_block(block, expected, id, true);
    LoopContext& after = loops_[id];
    if (!after.may_break) return type;
    diverges_ = before;
    if (types_.kind(shallow(type)) == TypeKind::Never) return after.merged;
    if (!after.merged.valid() || types_.kind(shallow(after.merged)) == TypeKind::Never) return type;
    const hir::Block& data = body_.blocks[block];
    if (data.tail.valid()) return coerce(data.tail, type, after.merged);
    if (!unify(after.merged, type)) report_mismatch(span(id), after.merged, type);
    return after.merged;
}

TypeId BodyChecker::check_break(ExprId id, const hir::BreakExpr& e) {
    const auto found = e.target.valid() ? loops_.find(e.target) : loops_.end();
    if (found == loops_.end()) {
        if (e.value.valid()) check_expr(e.value);
        return types_.never;
    }
    if (!e.value.valid()) {
        LoopContext& context = found->second;
        context.may_break = true;
        const TypeId known = context.merged.valid() ? context.merged : context.expected;
        if (!known.valid()) {
            context.merged = types_.unit;
        } else if (!unify(known, types_.unit)) {
            if (Diagnostic* diagnostic = report_mismatch(span(id), known, types_.unit)) {
                diagnostic->help("give the `break` a value of the expected type");
            }
            context.merged = types_.error;   // the loop as a whole is not wrong once more
        } else {
            context.merged = known;
        }
        return types_.never;
    }
    const TypeId known = found->second.merged.valid() ? found->second.merged : found->second.expected;
    const TypeId type = check_expr(e.value, known.valid() ? Expectation::has(known) : Expectation::none());
    LoopContext& context = loops_[e.target];
    context.may_break = true;
    if (!known.valid() || types_.kind(shallow(known)) == TypeKind::Never) {
        context.merged = type;
    } else {
        coerce(e.value, type, known);
        context.merged = known;
    }
    return types_.never;
}

TypeId BodyChecker::check_continue(ExprId, const hir::ContinueExpr&) { return types_.never; }

TypeId BodyChecker::check_return(ExprId id, const hir::ReturnExpr& e) {
    if (!return_type_.valid()) {
        if (e.value.valid()) check_expr(e.value);
        error(Code::E0572, span(id), "return statement outside of function body");
        return types_.never;
    }
    if (e.value.valid()) {
        check_coerce(e.value, return_type_);
    } else if (!unify(return_type_, types_.unit) && !has_error(return_type_)) {
        Diagnostic& diagnostic = error(Code::E0069, span(id), "`return;` in a function whose return type is not `()`");
        diagnostic.label(span(id), "return type is not `()`");
        if (return_span_.valid() && !in_closure_) diagnostic.label(return_span_, "expected because of this return type");
    }
    return types_.never;
}

}  // namespace ockc::check
