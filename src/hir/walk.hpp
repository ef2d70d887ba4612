// Walking over a body. `walk(body, expr, visitor)` calls visitor.expr(ExprId) and visitor.pat(PatId) for what stands directly
// inside an expression, in order of evaluation, looking through blocks; visitor.stmt(const Stmt&) is told of each statement
// before its parts. `walk(body, pat, visitor)` calls visitor.pat. A visitor descends by walking on from its own functions.
#pragma once
#include "hir/hir.hpp"

namespace ockc::hir {

template <class V>
void walk(const Body& body, const Block& block, V& visitor);

template <class V>
void walk(const Body& body, const Expr& node, V& visitor) {
    const auto expr = [&](ExprId id) {
        if (id.valid()) visitor.expr(id);
    };
    const auto all = [&](List<ExprId> list) {
        for (const ExprId id : list) visitor.expr(id);
    };
    std::visit(ast::Overloaded{
                   [](std::monostate) {},
                   [](const LiteralExpr&) {},
                   [](const PathExpr&) {},
                   [](const ContinueExpr&) {},
                   [](const ConstBlockExpr&) {},
                   [](const ErrorExpr&) {},
                   [&](const UnaryExpr& e) { expr(e.operand); },
                   [&](const BinaryExpr& e) { expr(e.lhs), expr(e.rhs); },
                   [&](const AssignExpr& e) { expr(e.rhs), expr(e.lhs); },
                   [&](const AssignOpExpr& e) { expr(e.rhs), expr(e.lhs); },
                   [&](const AddressOfExpr& e) { expr(e.operand); },
                   [&](const FieldExpr& e) { expr(e.base); },
                   [&](const IndexExpr& e) { expr(e.base), expr(e.index); },
                   [&](const CallExpr& e) { expr(e.callee), all(e.args); },
                   [&](const MethodCallExpr& e) { expr(e.receiver), all(e.args); },
                   [&](const TupleExpr& e) { all(e.elements); },
                   [&](const ArrayExpr& e) { all(e.elements); },
                   [&](const RepeatExpr& e) { expr(e.value); },
                   [&](const StructExpr& e) {
                       for (const FieldInit& field : e.fields) expr(field.value);
                       expr(e.base);
                   },
                   [&](const CastExpr& e) { expr(e.operand); },
                   [&](const LetExpr& e) {
                       expr(e.init);
                       visitor.pat(e.pat);
                   },
                   [&](const IfExpr& e) { expr(e.condition), expr(e.then_expr), expr(e.else_expr); },
                   [&](const MatchExpr& e) {
                       expr(e.scrutinee);
                       for (const Arm& arm : e.arms) {
                           visitor.pat(arm.pat);
                           expr(arm.guard);
                           expr(arm.body);
                       }
                   },
                   [&](const LoopExpr& e) { walk(body, body.blocks[e.body], visitor); },
                   [&](const BlockExpr& e) { walk(body, body.blocks[e.block], visitor); },
                   [&](const BreakExpr& e) { expr(e.value); },
                   [&](const ReturnExpr& e) { expr(e.value); },
                   [&](const ClosureExpr& e) {
                       for (const ClosureParam& param : e.params) visitor.pat(param.pat);
                       expr(e.body);
                   },
                   [&](const PanicExpr& e) { all(e.args); },
               },
               node.data);
}

template <class V>
void walk(const Body& body, const Block& block, V& visitor) {
    for (const Stmt& stmt : block.stmts) {
        visitor.stmt(stmt);
        if (stmt.init.valid()) visitor.expr(stmt.init);
        if (stmt.pat.valid()) visitor.pat(stmt.pat);
        if (stmt.else_block.valid()) walk(body, body.blocks[stmt.else_block], visitor);
        if (stmt.expr.valid()) visitor.expr(stmt.expr);
    }
    if (block.tail.valid()) visitor.expr(block.tail);
}

template <class V>
void walk(const Body&, const Pat& node, V& visitor) {
    const auto pat = [&](PatId id) {
        if (id.valid()) visitor.pat(id);
    };
    const auto all = [&](List<PatId> list) {
        for (const PatId id : list) visitor.pat(id);
    };
    std::visit(ast::Overloaded{
                   [](std::monostate) {},
                   [](const WildPat&) {},
                   [](const LiteralPat&) {},
                   [](const PathPat&) {},
                   [](const ConstBlockPat&) {},
                   [](const ErrorPat&) {},
                   [&](const BindingPat& p) { pat(p.sub); },
                   [&](const RangePat& p) { pat(p.from), pat(p.to); },
                   [&](const RefPat& p) { pat(p.inner); },
                   [&](const TuplePat& p) { all(p.elements); },
                   [&](const TupleStructPat& p) { all(p.elements); },
                   [&](const StructPat& p) {
                       for (const FieldPat& field : p.fields) pat(field.pat);
                   },
                   [&](const SlicePat& p) {
                       all(p.before);
                       pat(p.middle);
                       all(p.after);
                   },
                   [&](const OrPat& p) { all(p.alternatives); },
               },
               node.data);
}

}  // namespace ockc::hir
