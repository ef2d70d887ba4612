// Promotion: `&EXPR`, where EXPR is computed from constants alone, cannot fail and drops nothing, refers to a constant that
// lives for ever instead of a temporary. The value gets a body of its own in Body::promoted.
#include "mir/builder.hpp"

namespace ockc::mir {

namespace {
constexpr std::uint32_t kMaxPromotedDepth = 64;
}

bool Builder::is_promotable(hir::ExprId id) {
    return !needs_drop(tables_.type(id)) && is_promotable_node(id, 0);
}

bool Builder::is_promotable_node(hir::ExprId id, std::uint32_t depth) {
    if (depth > kMaxPromotedDepth || tables_.callees[id].valid()) return false;
    const hir::ExprData& data = expr(id).data;
    const auto all = [&](hir::List<hir::ExprId> list) {
        for (const hir::ExprId one : list) {
            if (!is_promotable_node(one, depth + 1)) return false;
        }
        return true;
    };
    // What is promoted is the expression before its own adjustments: one of them is the borrow, as in `[1, 2].iter()`.
    const auto adjustments = depth == 0 ? decltype(tables_.adjustments(id)){} : tables_.adjustments(id);
    for (const check::Adjustment& step : adjustments) {
        if (step.kind != check::AdjustKind::Borrow && step.kind != check::AdjustKind::Unsize &&
            step.kind != check::AdjustKind::ReifyFn) {
            return false;
        }
        if (step.kind == check::AdjustKind::Borrow && step.mutability == Mutability::Mut) return false;
    }
    if (std::holds_alternative<hir::LiteralExpr>(data)) return true;
    if (std::holds_alternative<hir::ConstBlockExpr>(data)) return true;
    if (std::holds_alternative<hir::PathExpr>(data)) {
        if (path_local(id)) return false;
        const check::ItemRef item = tables_.expr_items[id];
        if (!item.valid()) return false;
        const hir::DefKind kind = hir_program_.defs[item.def].kind;
        return kind == hir::DefKind::Const || kind == hir::DefKind::AssocConst || kind == hir::DefKind::ConstParam ||
               kind == hir::DefKind::Fn || kind == hir::DefKind::AssocFn || kind == hir::DefKind::Ctor;
    }
    if (const auto* unary = std::get_if<hir::UnaryExpr>(&data)) {
        return unary->op != hir::UnaryOp::Deref && !tables_.callees[id].def.valid() && is_promotable_node(unary->operand, depth + 1);
    }
    if (const auto* binary = std::get_if<hir::BinaryExpr>(&data)) {
        if (binary->op == hir::BinaryOp::And || binary->op == hir::BinaryOp::Or) return false;
        // Overloaded operators are calls, and addresses are known to the loader only.
        const types::TypeKind operand = types_.kind(tables_.type(binary->lhs));
        if (tables_.callees[id].def.valid() || operand == types::TypeKind::RawPtr || operand == types::TypeKind::FnPtr) return false;
        const bool divides = binary->op == hir::BinaryOp::Div || binary->op == hir::BinaryOp::Rem;
        if (divides && types_.kind(tables_.type(binary->lhs)) == types::TypeKind::Int) {
            const auto* literal = std::get_if<hir::LiteralExpr>(&expr(binary->rhs).data);
            if (literal == nullptr || (literal->value.low == 0 && literal->value.high == 0)) return false;
        }
        return is_promotable_node(binary->lhs, depth + 1) && is_promotable_node(binary->rhs, depth + 1);
    }
    if (const auto* address = std::get_if<hir::AddressOfExpr>(&data)) {
        return !address->raw && address->mutability == Mutability::Not && is_promotable_node(address->operand, depth + 1);
    }
    if (const auto* cast = std::get_if<hir::CastExpr>(&data)) {
        const types::TypeKind from = types_.kind(tables_.type(cast->operand));
        const bool address = from == types::TypeKind::RawPtr || from == types::TypeKind::FnPtr || from == types::TypeKind::FnDef;
        return !(address && types_.kind(tables_.type(id)) == types::TypeKind::Int) && is_promotable_node(cast->operand, depth + 1);
    }
    if (const auto* tuple = std::get_if<hir::TupleExpr>(&data)) return all(tuple->elements);
    if (const auto* array = std::get_if<hir::ArrayExpr>(&data)) return all(array->elements);
    if (const auto* repeat = std::get_if<hir::RepeatExpr>(&data)) return is_promotable_node(repeat->value, depth + 1);
    if (const auto* st = std::get_if<hir::StructExpr>(&data)) {
        for (const hir::FieldInit& one : st->fields) {
            if (!is_promotable_node(one.value, depth + 1)) return false;
        }
        return !st->base.valid();
    }
    if (const auto* call = std::get_if<hir::CallExpr>(&data)) {
        const check::ItemRef item = tables_.expr_items[call->callee];
        return item.valid() && is_constructor(item.def) && all(call->args);
    }
    return false;
}

Operand Builder::promote(hir::ExprId value, TypeId reference_type, Span span) {
    auto body = std::make_unique<Body>();
    body->owner = body_.owner;
    body->promoted_index = static_cast<std::uint32_t>(body_.promoted.size());
    Builder(program_, context_, tables_, options_, *body).build_promoted(value);
    failed_ = failed_ || body->has_errors;
    const std::uint32_t index = body->promoted_index;
    body_.promoted.push_back(std::move(body));
    return Operand::of(constant(Constant{
        .kind = Constant::Kind::Promoted, .type = reference_type, .span = span, .index = index}));
}

}  // namespace ockc::mir
