// `if` and conditions. A condition is built for its control flow: the code goes on where it holds, and jumps to an
// ElseTarget, leaving the scopes made since, where it does not. Let chains and `!` need no boolean values then.
#include "mir/builder.hpp"

namespace ockc::mir {

bool Builder::contains_let(hir::ExprId cond) const {
    for (;;) {
        const hir::ExprData& data = expr(cond).data;
        if (std::holds_alternative<hir::LetExpr>(data)) return true;
        const auto* binary = std::get_if<hir::BinaryExpr>(&data);
        if (binary == nullptr || binary->op != hir::BinaryOp::And) return false;
        if (contains_let(binary->rhs)) return true;
        cond = binary->lhs;
    }
}

// Since 2024 the temporaries of the condition are dropped before `else`.
void Builder::if_into(Place destination, hir::ExprId id, const hir::IfExpr& node) {
    const Span span = span_of(id);
    const BlockId join = new_block();
    const Depth depth = push_scope(is_edition_2024(), span_of(node.then_expr));
    const ElseTarget on_false{new_block(), depth};
    condition(node.condition, on_false, depth);
    push_scope(true, span_of(node.then_expr));
    into(destination, node.then_expr);
    pop_scope();
    pop_scope();
    go_to(span, join);
    start(on_false.block);
    if (node.else_expr.valid()) {
        push_scope(true, span_of(node.else_expr));
        into(destination, node.else_expr);
        pop_scope();
    } else {
        assign_use(span, destination, unit(span));
    }
    go_to(span, join);
    start(join);
}

void Builder::condition(hir::ExprId cond, const ElseTarget& on_false, Depth variables) {
    const hir::Expr& source = expr(cond);
    if (!enter_nested(source.span)) return;
    const bool plain = tables_.adjustments(cond).empty() && !tables_.callees[cond].valid();
    const auto* binary = std::get_if<hir::BinaryExpr>(&source.data);
    const auto* unary = std::get_if<hir::UnaryExpr>(&source.data);
    if (const auto* let = std::get_if<hir::LetExpr>(&source.data)) {
        let_condition(cond, *let, on_false, variables);
    } else if (plain && binary != nullptr && binary->op == hir::BinaryOp::And) {
        condition(binary->lhs, on_false, variables);
        condition(binary->rhs, on_false, variables);
    } else if (plain && binary != nullptr && binary->op == hir::BinaryOp::Or) {
        const BlockId holds = new_block();
        const ElseTarget lhs_false{new_block(), push_scope(false, source.span)};
        condition(binary->lhs, lhs_false, lhs_false.depth);
        pop_scope();
        go_to(source.span, holds);
        start(lhs_false.block);
        condition(binary->rhs, on_false, variables);
        go_to(source.span, holds);
        start(holds);
    } else if (plain && unary != nullptr && unary->op == hir::UnaryOp::Not) {
        const ElseTarget inner_false{new_block(), push_scope(false, source.span)};
        condition(unary->operand, inner_false, inner_false.depth);
        pop_scope();
        exit_to(source.span, on_false.depth, on_false.block);
        start(inner_false.block);
    } else {
        bool_condition(cond, on_false);
    }
    leave_nested();
}

void Builder::bool_condition(hir::ExprId cond, const ElseTarget& on_false) {
    const Span span = span_of(cond);
    const LocalId value = new_temp(types_.boolean, span);
    push_scope(true, span);
    into(Place{value, {}}, cond);
    pop_scope();
    const BlockId yes = new_block(), no = new_block();
    const std::vector<SwitchCase> cases{SwitchCase{0, 0, no}};
    terminate(span, SwitchIntTerminator{Operand::move(Place{value, {}}), list(cases), yes});
    start(no);
    exit_to(span, on_false.depth, on_false.block);
    start(yes);
}

// `a && b` and `a || b` as values.
void Builder::lazy_bool_into(Place destination, hir::ExprId id, const hir::BinaryExpr& node) {
    const Span span = span_of(id);
    const bool is_and = node.op == hir::BinaryOp::And;
    const BlockId join = new_block();
    const ElseTarget lhs_false{new_block(), push_scope(false, span)};
    condition(node.lhs, lhs_false, lhs_false.depth);
    pop_scope();
    const auto right = [&] {
        push_scope(true, span_of(node.rhs));
        into(destination, node.rhs);
        pop_scope();
        go_to(span, join);
    };
    const auto decided = [&] {
        assign_use(span, destination, scalar(span, types_.boolean, is_and ? 0 : 1));
        go_to(span, join);
    };
    is_and ? right() : decided();
    start(lhs_false.block);
    is_and ? decided() : right();
    start(join);
}

}  // namespace ockc::mir
