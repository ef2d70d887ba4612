// Expressions that store their value into a given place, and expressions evaluated for their effect.
#include "mir/builder.hpp"

namespace ockc::mir {

void Builder::into(Place destination, Adjusted node) {
    if (node.steps == 0) return into_unadjusted(destination, node.expr);
    if (last_step(node).kind == check::AdjustKind::NeverToAny) return never_to_any({node.expr, node.steps - 1});
    const Rvalue value = as_rvalue(node);
    assign(span_of(node), destination, value);
}

// The value never comes to be: the code after it hangs in the air.
void Builder::never_to_any(Adjusted inner) {
    const hir::ExprData& data = expr(inner.expr).data;
    const bool jumps = std::holds_alternative<hir::BreakExpr>(data) || std::holds_alternative<hir::ContinueExpr>(data) ||
                       std::holds_alternative<hir::ReturnExpr>(data) || std::holds_alternative<hir::PanicExpr>(data);
    if (inner.steps == 0 && jumps) {
        statement(inner.expr);   // has no value that a temporary could hold
    } else {
        as_temp(inner);
    }
    terminate(span_of(inner.expr), UnreachableTerminator{});
    start_new();
}

void Builder::into_unadjusted(Place destination, hir::ExprId id) {
    const hir::Expr& source = expr(id);
    if (!enter_nested(source.span)) return;
    const bool overloaded = tables_.callees[id].valid();
    if (const auto* block = std::get_if<hir::BlockExpr>(&source.data)) {
        block_into(destination, id, block->block);
    } else if (const auto* cond = std::get_if<hir::IfExpr>(&source.data)) {
        if_into(destination, id, *cond);
    } else if (const auto* match = std::get_if<hir::MatchExpr>(&source.data)) {
        match_into(destination, id, *match);
    } else if (const auto* loop = std::get_if<hir::LoopExpr>(&source.data)) {
        loop_into(destination, id, *loop);
    } else if (const auto* call = std::get_if<hir::CallExpr>(&source.data)) {
        call_into(destination, id, *call);
    } else if (const auto* method = std::get_if<hir::MethodCallExpr>(&source.data)) {
        method_into(destination, id, *method);
    } else if (const auto* binary = std::get_if<hir::BinaryExpr>(&source.data);
               binary != nullptr && (binary->op == hir::BinaryOp::And || binary->op == hir::BinaryOp::Or)) {
        lazy_bool_into(destination, id, *binary);
    } else if (binary != nullptr && overloaded) {
        operator_into(destination, id, {binary->lhs, binary->rhs});
    } else if (const auto* unary = std::get_if<hir::UnaryExpr>(&source.data);
               unary != nullptr && overloaded && unary->op != hir::UnaryOp::Deref) {
        operator_into(destination, id, {unary->operand});
    } else if (std::holds_alternative<hir::AssignExpr>(source.data) ||
               std::holds_alternative<hir::AssignOpExpr>(source.data)) {
        statement(id);
        assign_use(source.span, destination, unit(source.span));
    } else if (std::holds_alternative<hir::BreakExpr>(source.data) ||
               std::holds_alternative<hir::ContinueExpr>(source.data) ||
               std::holds_alternative<hir::ReturnExpr>(source.data) || std::holds_alternative<hir::PanicExpr>(source.data)) {
        statement(id);
    } else {
        const Rvalue value = as_rvalue({id, 0});
        assign(source.span, destination, value);
    }
    leave_nested();
}

void Builder::statement(hir::ExprId id) {
    const hir::Expr& source = expr(id);
    if (tables_.adjustments(id).empty()) {
        if (const auto* assignment = std::get_if<hir::AssignExpr>(&source.data)) {
            return assign_expr(*assignment, source.span);
        }
        if (const auto* compound = std::get_if<hir::AssignOpExpr>(&source.data)) return assign_op_expr(id, *compound);
    }
    if (const auto* jump = std::get_if<hir::BreakExpr>(&source.data)) return break_expr(*jump, source.span);
    if (const auto* jump = std::get_if<hir::ContinueExpr>(&source.data)) return continue_expr(*jump, source.span);
    if (const auto* jump = std::get_if<hir::ReturnExpr>(&source.data)) return return_expr(*jump, source.span);
    if (const auto* panic = std::get_if<hir::PanicExpr>(&source.data)) return panic_expr(*panic, source.span);
    as_value(full(id));
}

// The right side is evaluated first, then the place on the left.
void Builder::assign_expr(const hir::AssignExpr& node, Span span) {
    const TypeId type = tables_.type(node.lhs);
    if (!needs_drop(type)) {
        // A place is read before the left side is computed, which may write it; and a borrow that it goes through ends there.
        const Rvalue value = is_place(full(node.rhs)) ? Rvalue{UseRvalue{as_operand(node.rhs)}} : as_rvalue(full(node.rhs));
        assign(span, as_place(node.lhs), value);
        return;
    }
    const Operand value = as_operand(node.rhs);
    const Place place = as_place(node.lhs);
    const BlockId next = new_block();
    terminate(span, DropTerminator{place, next, true});
    start(next);
    assign_use(span, place, value);
}

void Builder::assign_op_expr(hir::ExprId id, const hir::AssignOpExpr& node) {
    const Span span = span_of(id);
    if (tables_.callees[id].valid()) {
        const LocalId temp = new_temp(types_.unit, span);
        return operator_into(Place{temp, {}}, id, {node.lhs, node.rhs});
    }
    const Operand rhs = as_operand(node.rhs);
    const Place place = as_place(node.lhs);
    BinOp op = BinOp::Add;
    switch (node.op) {
        case hir::BinaryOp::Mul: op = BinOp::Mul; break;
        case hir::BinaryOp::Div: op = BinOp::Div; break;
        case hir::BinaryOp::Rem: op = BinOp::Rem; break;
        case hir::BinaryOp::Add: op = BinOp::Add; break;
        case hir::BinaryOp::Sub: op = BinOp::Sub; break;
        case hir::BinaryOp::Shl: op = BinOp::Shl; break;
        case hir::BinaryOp::Shr: op = BinOp::Shr; break;
        case hir::BinaryOp::BitAnd: op = BinOp::BitAnd; break;
        case hir::BinaryOp::BitXor: op = BinOp::BitXor; break;
        case hir::BinaryOp::BitOr: op = BinOp::BitOr; break;
        case hir::BinaryOp::Eq: case hir::BinaryOp::Ne: case hir::BinaryOp::Lt: case hir::BinaryOp::Le:
        case hir::BinaryOp::Gt: case hir::BinaryOp::Ge: case hir::BinaryOp::And: case hir::BinaryOp::Or:
            OCKC_UNREACHABLE("no such compound assignment");
    }
    const Rvalue value = arithmetic(span, op, tables_.type(node.lhs), Operand::copy(place), rhs);
    assign(span, place, value);
}

// The arguments of the message are only looked at: each is borrowed.
void Builder::panic_expr(const hir::PanicExpr& node, Span span) {
    std::vector<Operand> args;
    for (const hir::ExprId arg : node.args) {
        const Place place = as_place(arg);
        const TypeId type = types_.ref(types_.erased, tables_.adjusted_type(arg), Mutability::Not);
        args.push_back(Operand::move(Place{assign_temp(span_of(arg), type, Rvalue{RefRvalue{BorrowKind::Shared, place}}), {}}));
    }
    terminate(span, PanicTerminator{node.kind, program_.arena.copy(node.message), list(args)});
    start_new();
}

}  // namespace ockc::mir
