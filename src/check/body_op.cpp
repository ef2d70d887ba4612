// Operators. On scalars they are built in, as in rustc; everything else goes through the traits of core::ops and core::cmp.
#include <fmt/format.h>

#include "check/body.hpp"

namespace ockc::check {

using hir::BinaryOp;
using types::InferKind;

namespace {

enum class OpClass : std::uint8_t { Lazy, Shift, Math, Bits, Compare };

OpClass op_class(BinaryOp op) {
    switch (op) {
        case BinaryOp::And:
        case BinaryOp::Or: return OpClass::Lazy;
        case BinaryOp::Shl:
        case BinaryOp::Shr: return OpClass::Shift;
        case BinaryOp::Add:
        case BinaryOp::Sub:
        case BinaryOp::Mul:
        case BinaryOp::Div:
        case BinaryOp::Rem: return OpClass::Math;
        case BinaryOp::BitXor:
        case BinaryOp::BitAnd:
        case BinaryOp::BitOr: return OpClass::Bits;
        case BinaryOp::Eq:
        case BinaryOp::Ne:
        case BinaryOp::Lt:
        case BinaryOp::Le:
        case BinaryOp::Gt:
        case BinaryOp::Ge: return OpClass::Compare;
    }
    return OpClass::Lazy;
}

bool is_integral(const TypeData& t) { return t.kind == TypeKind::Int || (t.kind == TypeKind::Infer && t.infer_kind == InferKind::Int); }
bool is_floating(const TypeData& t) { return t.kind == TypeKind::Float || (t.kind == TypeKind::Infer && t.infer_kind == InferKind::Float); }
bool is_scalar(const TypeData& t) {
    return is_integral(t) || is_floating(t) || t.kind == TypeKind::Bool || t.kind == TypeKind::Char || t.kind == TypeKind::RawPtr ||
           t.kind == TypeKind::FnPtr;
}

// Key of the lang item: the trait's operator method, but for comparisons.
std::string_view lang_key(BinaryOp op, bool assign) {
    const ast::BinaryOpInfo& info = ast::info(op);
    if (op_class(op) == OpClass::Compare) return op == BinaryOp::Eq || op == BinaryOp::Ne ? "eq" : "partial_ord";
    return assign ? info.assign_method : info.method;
}

}  // namespace

TypeId BodyChecker::strip_ref(TypeId type) {
    const TypeId known = shallow(type);
    return types_.kind(known) == TypeKind::Ref ? shallow(types_[known].element) : known;
}

bool BodyChecker::is_builtin_binary(BinaryOp op, TypeId lhs, TypeId rhs) {
    const TypeData a = types_[strip_ref(lhs)], b = types_[strip_ref(rhs)];
    if (a.kind == TypeKind::Error || b.kind == TypeKind::Error) return true;
    switch (op_class(op)) {
        case OpClass::Lazy: return true;
        case OpClass::Shift: return is_integral(a) && is_integral(b);
        case OpClass::Math: return (is_integral(a) && is_integral(b)) || (is_floating(a) && is_floating(b));
        case OpClass::Bits: return (is_integral(a) && is_integral(b)) || (a.kind == TypeKind::Bool && b.kind == TypeKind::Bool);
        case OpClass::Compare: return is_scalar(a) && is_scalar(b);
    }
    return false;
}

// Both operands are scalars: the rule of the operator, and no trait.
TypeId BodyChecker::builtin_binary(ExprId id, BinaryOp op, ExprId lhs, ExprId rhs, TypeId lhs_type, TypeId rhs_type, Span op_span) {
    switch (op_class(op)) {
        case OpClass::Lazy: return types_.boolean;
        case OpClass::Shift: return lhs_type;
        case OpClass::Math:
        case OpClass::Bits:
            if (!unify(lhs_type, rhs_type)) {
                report_coercion(rhs, lhs_type, rhs_type);
                report_operands(id, op, lhs_type, rhs_type, op_span);
            }
            return lhs_type;
        case OpClass::Compare:
            if (unify(lhs_type, rhs_type)) return types_.boolean;
            report_coercion(rhs, lhs_type, rhs_type);
            const bool by_reference = types_.kind(shallow(tables_.expr_types[lhs])) == TypeKind::Ref;   // `&A: PartialEq<&B>` where A: PartialEq<B>
            if (by_reference) report_operands(id, op, lhs_type, rhs_type, op_span);
            return types_.boolean;
    }
    return types_.error;
}

TypeId BodyChecker::check_binary(ExprId id, const hir::BinaryExpr& e, Expectation) {
    if (op_class(e.op) == OpClass::Lazy) {
        check_coerce(e.lhs, types_.boolean);
        const bool lhs_diverges = diverges_;
        check_coerce(e.rhs, types_.boolean);
        diverges_ = lhs_diverges;   // the right side may not run
        return types_.boolean;
    }
    const OpClass kind = op_class(e.op);
    const TypeId lhs = structural(check_expr(e.lhs));
    if (has_error(lhs)) {
        check_expr(e.rhs);
        return kind == OpClass::Compare ? types_.boolean : types_.error;
    }
    if (is_scalar(types_[strip_ref(lhs)])) {
        const TypeId rhs = structural(check_expr(e.rhs));
        if (has_error(rhs)) return kind == OpClass::Compare ? types_.boolean : types_.error;
        // One reference on either side of arithmetic, on both sides of a comparison, is looked through.
        const bool left_ref = types_.kind(lhs) == TypeKind::Ref, right_ref = types_.kind(rhs) == TypeKind::Ref;
        const auto unique = [&](TypeId type) { return types_.kind(type) == TypeKind::Ref && types_[type].mutability == Mutability::Mut; };
        const bool shared = kind == OpClass::Compare || (!unique(lhs) && !unique(rhs));   // `&mut f32` has no operators but `==` and `<`
        const TypeId left = strip_ref(lhs), right = strip_ref(rhs);
        if (shared && is_scalar(types_[right]) && is_builtin_binary(e.op, left, right) && (kind != OpClass::Compare || left_ref == right_ref)) {
            if (left_ref) apply_adjustments(e.lhs, {{AdjustKind::Deref, Mutability::Not, false, {}, left}});
            if (right_ref) apply_adjustments(e.rhs, {{AdjustKind::Deref, Mutability::Not, false, {}, right}});
            return builtin_binary(id, e.op, e.lhs, e.rhs, left, right, e.op_span);
        }
    }
    return overloaded_binary(id, e.op, e.lhs, e.rhs, lhs, e.op_span, false);
}

TypeId BodyChecker::overloaded_binary(ExprId id, BinaryOp op, ExprId lhs, ExprId rhs, TypeId lhs_type, Span op_span, bool assign) {
    const DefId trait = state_.lang_item(lang_key(op, assign));
    const bool compare = op_class(op) == OpClass::Compare;
    const TypeId rhs_var = infer_.new_var(span(rhs));
    TypeId rhs_type = tables_.expr_types[rhs];   // checked already when the left side is a scalar
    const GenericArg args[] = {lhs_type, rhs_var};
    Predicate predicate;
    predicate.trait_ref = {trait, types_.args(args)};
    const bool possible = trait.valid() && selector_.evaluate(predicate) != Outcome::No;
    if (!possible) {
        if (!rhs_type.valid()) rhs_type = check_expr(rhs);
        if (!has_error(rhs_type) && !has_error(lhs_type)) report_no_binary(op, lhs, lhs_type, rhs_type, op_span, span(id), assign, rhs);
        return compare ? types_.boolean : assign ? types_.unit : types_.error;
    }
    add_obligation(predicate, {span(id), CauseKind::Operator, {}, op_span, id});
    run_obligations();
    if (!rhs_type.valid()) {
        const TypeId hint = shallow(rhs_var);
        rhs_type = check_expr(rhs, infer_.is_type_var(hint) ? Expectation::none() : Expectation::has(hint));
    }
    coerce(rhs, rhs_type, rhs_var, true);
    TypeId result = assign ? types_.unit : types_.boolean;
    if (!compare && !assign) {
        const DefId output = state_.item_named(trait, program_.interner.intern("Output"));
        result = normalize(types_.projection(output, types_.args(args)), span(id));
    }
    if (is_builtin_binary(op, lhs_type, rhs_type) && !infer_.is_type_var(strip_ref(lhs_type))) {
        // `5.0 + &6.0`: the scalars behind the references must agree.
        if (op_class(op) != OpClass::Shift) unify(strip_ref(lhs_type), strip_ref(rhs_type));
    }
    const ast::BinaryOpInfo& info = ast::info(op);
    const TypeId others[] = {rhs_var};
    tables_.callees.set(id, trait_method(trait, lhs_type, others, assign ? info.assign_method : info.method));
    operators_.push_back(id);
    if (compare) {
        apply_adjustments(lhs, {{AdjustKind::Borrow, Mutability::Not, false, {}, types_.ref(types_.erased, lhs_type, Mutability::Not)}});
        apply_adjustments(rhs, {{AdjustKind::Borrow, Mutability::Not, false, {}, types_.ref(types_.erased, rhs_var, Mutability::Not)}});
    }
    if (assign) {
        apply_adjustments(lhs, {{AdjustKind::Borrow, Mutability::Mut, true, {}, types_.ref(types_.erased, lhs_type, Mutability::Mut)}});
        make_place_mutable(lhs);
    }
    return result;
}

// Operators that were sent to a trait before both types were known, and are built in after all.
void BodyChecker::demote_builtin_ops() {
    for (ExprId id : operators_) {
        ExprId lhs, rhs;
        if (const auto* binary = std::get_if<hir::BinaryExpr>(&expr(id).data)) {
            lhs = binary->lhs;
            rhs = binary->rhs;
        } else if (const auto* assign = std::get_if<hir::AssignOpExpr>(&expr(id).data)) {
            lhs = assign->lhs;
            rhs = assign->rhs;
        }
        if (!lhs.valid()) continue;
        const TypeId a = shallow(tables_.expr_types[lhs]), b = shallow(tables_.expr_types[rhs]);
        if (!is_scalar(types_[a]) || !is_scalar(types_[b])) continue;
        tables_.callees.set(id, ItemRef{});
        for (ExprId side : {lhs, rhs}) {
            auto& steps = adjustments_[side];
            while (!steps.empty() && steps.back().kind == AdjustKind::Borrow) steps.pop_back();
        }
    }
}

void BodyChecker::report_no_binary(BinaryOp op, ExprId lhs, TypeId lhs_type, TypeId rhs_type, Span op_span, Span whole, bool assign, ExprId rhs) {
    const std::string_view symbol = assign ? ast::info(op).assign_text : ast::info(op).text;
    const std::string l = text(lhs_type), r = text(rhs_type);
    if (assign) {
        error(Code::E0368, whole, fmt::format("binary assignment operation `{}` cannot be applied to type `{}`", symbol, l))
            .label(span(lhs), fmt::format("cannot use `{}` on type `{}`", symbol, l));
        return;
    }
    std::string message;
    switch (op) {
        case BinaryOp::Add: message = fmt::format("cannot add `{}` to `{}`", r, l); break;
        case BinaryOp::Sub: message = fmt::format("cannot subtract `{}` from `{}`", r, l); break;
        case BinaryOp::Mul: message = fmt::format("cannot multiply `{}` by `{}`", l, r); break;
        case BinaryOp::Div: message = fmt::format("cannot divide `{}` by `{}`", l, r); break;
        case BinaryOp::Rem: message = fmt::format("cannot calculate the remainder of `{}` divided by `{}`", l, r); break;
        case BinaryOp::BitAnd:
        case BinaryOp::BitXor:
        case BinaryOp::BitOr:
        case BinaryOp::Shl:
        case BinaryOp::Shr: message = fmt::format("no implementation for `{} {} {}`", l, symbol, r); break;
        default: message = fmt::format("binary operation `{}` cannot be applied to type `{}`", symbol, l); break;
    }
    Diagnostic& diagnostic = error(Code::E0369, op_span, message);
    diagnostic.label(span(lhs), l).label(span(rhs), r);
    const TypeData data = types_[shallow(lhs_type)];
    if (data.kind == TypeKind::Param) {
        diagnostic.help(fmt::format("consider restricting type parameter `{}` with trait `{}`", l, ast::info(op).trait_name));
    } else if (data.kind == TypeKind::Adt) {
        diagnostic.note_at(program_.defs[data.def].name.span, fmt::format("an implementation of `{}` might be missing for `{}`", ast::info(op).trait_name, l));
    }
}

TypeId BodyChecker::check_assign_op(ExprId id, const hir::AssignOpExpr& e) {
    const TypeId lhs = structural(check_expr(e.lhs));
    if (has_error(lhs)) {
        check_expr(e.rhs);
        return types_.unit;
    }
    if (is_scalar(types_[lhs])) {
        const TypeId rhs = structural(check_expr(e.rhs));
        const TypeId right = strip_ref(rhs);
        const bool unique = types_.kind(rhs) == TypeKind::Ref && types_[rhs].mutability == Mutability::Mut;
        if (!has_error(rhs) && !unique && is_scalar(types_[right]) && is_builtin_binary(e.op, lhs, right)) {
            if (types_.kind(rhs) == TypeKind::Ref) apply_adjustments(e.rhs, {{AdjustKind::Deref, Mutability::Not, false, {}, right}});
            builtin_binary(id, e.op, e.lhs, e.rhs, lhs, right, e.op_span);
            require_place(e.lhs, Code::E0067, e.op_span);
            make_place_mutable(e.lhs);
            return types_.unit;
        }
        if (has_error(rhs)) return types_.unit;
    }
    overloaded_binary(id, e.op, e.lhs, e.rhs, lhs, e.op_span, true);
    require_place(e.lhs, Code::E0067, e.op_span);
    return types_.unit;
}

TypeId BodyChecker::check_unary(ExprId id, const hir::UnaryExpr& e, Expectation expected) {
    if (e.op == hir::UnaryOp::Deref) return check_deref(id, e, expected);
    TypeId operand = structural(check_expr(e.operand, expected));
    if (has_error(operand)) return types_.error;
    if (types_.kind(operand) == TypeKind::Ref && types_[operand].mutability == Mutability::Not && is_scalar(types_[strip_ref(operand)])) {
        operand = strip_ref(operand);
        apply_adjustments(e.operand, {{AdjustKind::Deref, Mutability::Not, false, {}, operand}});
    }
    const TypeData data = types_[operand];
    const bool negate = e.op == hir::UnaryOp::Neg;
    const bool builtin = negate ? is_floating(data) || (is_integral(data) && (data.kind == TypeKind::Infer || types::int_signed(data.int_kind)))
                                : is_integral(data) || data.kind == TypeKind::Bool;
    if (builtin && negate && data.kind == TypeKind::Infer) negated_.emplace_back(id, operand);
    if (builtin) return operand;
    if (infer_.is_type_var(operand)) return structural_or_error(operand, span(e.operand));
    const DefId trait = state_.lang_item(negate ? "neg" : "not");
    if (!trait.valid() || selector_.evaluate_trait(operand, trait) == Outcome::No) {
        Diagnostic& diagnostic = error(Code::E0600, span(id), fmt::format("cannot apply unary operator `{}` to type `{}`", ast::info(e.op).text, text(operand)));
        diagnostic.label(span(id), fmt::format("cannot apply unary operator `{}`", ast::info(e.op).text));
        if (negate && data.kind == TypeKind::Int) diagnostic.note("unsigned values cannot be negated");
        return types_.error;
    }
    require_trait(operand, trait, {span(id), CauseKind::Operator, {}, span(id), id});
    tables_.callees.set(id, trait_method(trait, operand, {}, ast::info(e.op).method));
    const GenericArg args[] = {operand};
    const DefId output = state_.item_named(trait, program_.interner.intern("Output"));
    return normalize(types_.projection(output, types_.args(args)), span(id));
}

// `-1` whose type turned out to be unsigned.
void BodyChecker::check_negated() {
    for (const auto& [id, type] : negated_) {
        const TypeData data = types_[shallow(type)];
        if (data.kind != TypeKind::Int || types::int_signed(data.int_kind)) continue;
        error(Code::E0277, span(id), fmt::format("the trait bound `{}: Neg` is not satisfied", text(type)))
            .label(span(id), fmt::format("the trait `Neg` is not implemented for `{}`", text(type)))
            .note("unsigned values cannot be negated");
    }
}

}  // namespace ockc::check
