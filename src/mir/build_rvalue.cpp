// Operands, operators and casts, with the checks that belong to them: division by zero, MIN / -1, and overflow when asked.
#include "mir/builder.hpp"

namespace ockc::mir {

using check::AdjustKind;
using types::TypeKind;

LocalId Builder::as_temp(Adjusted node) { return as_temp_in(node, temp_depth(node.expr)); }
LocalId Builder::as_value(Adjusted node) { return as_temp_in(node, temp_depth(node.expr), true); }

// Of what nothing can be borrowed, and nothing is left to drop, no one asks where its storage begins and ends.
bool Builder::needs_storage(TypeId type) const {
    switch (types_.kind(type)) {
        case TypeKind::Never: case TypeKind::Bool: case TypeKind::Char: case TypeKind::Int: case TypeKind::Float: case TypeKind::Ref:
        case TypeKind::RawPtr: case TypeKind::FnDef: case TypeKind::FnPtr: return false;
        case TypeKind::Tuple: return type != types_.unit;
        case TypeKind::Error: case TypeKind::Str: case TypeKind::Array: case TypeKind::Slice: case TypeKind::Adt: case TypeKind::Closure:
        case TypeKind::Param: case TypeKind::Projection: case TypeKind::Opaque: case TypeKind::Infer: return true;
    }
    OCKC_UNREACHABLE("type kind");
}

LocalId Builder::as_temp_in(Adjusted node, Depth depth, bool only_value) {
    const Span span = span_of(node);
    const LocalId temp = new_temp(type_of(node), span);
    if (!only_value || needs_storage(body_.locals[temp].type)) storage_live(span, temp, depth);
    into(Place{temp, {}}, node);
    if (needs_drop(body_.locals[temp].type)) schedule_drop(depth, temp, DropKind::Value);
    return temp;
}

Operand Builder::as_operand(Adjusted node) {
    if (const std::optional<Operand> constant = as_constant(node)) return *constant;
    return Operand::move(Place{as_value(node), {}});
}

LocalId Builder::assign_temp(Span span, TypeId type, Rvalue value) {
    const LocalId temp = new_temp(type, span);
    assign(span, Place{temp, {}}, value);
    return temp;
}

void Builder::assert_that(Span span, Operand condition, bool expected, AssertKind kind, BinOp op, Operand a, Operand b) {
    const BlockId next = new_block();
    terminate(span, AssertTerminator{condition, expected, kind, op, a, b, next});
    start(next);
}

// ---- constants --------------------------------------------------------------------------------------------------------------

namespace {
// -value in two's complement of `bits`.
ScalarBits negate_int(ScalarBits value, std::uint32_t bits) {
    const unsigned __int128 wide = (static_cast<unsigned __int128>(value.high) << 64) | value.low;
    unsigned __int128 negated = -wide;
    if (bits < 128) negated &= (static_cast<unsigned __int128>(1) << bits) - 1;
    return {static_cast<std::uint64_t>(negated), static_cast<std::uint64_t>(negated >> 64)};
}
}  // namespace

std::optional<Operand> Builder::literal_constant(hir::ExprId id, bool negated) {
    const auto& literal = std::get<hir::LiteralExpr>(expr(id).data).value;
    const TypeId type = tables_.type(id);
    const Span span = span_of(id);
    if (literal.kind == hir::Literal::Kind::Str || literal.kind == hir::Literal::Kind::CStr) {
        return Operand::of(constant(Constant{.kind = Constant::Kind::Str, .type = type, .span = span, .text = literal.text}));
    }
    if (literal.kind == hir::Literal::Kind::ByteStr) {
        return Operand::of(constant(Constant{.kind = Constant::Kind::Bytes, .type = type, .span = span, .text = literal.text}));
    }
    const types::ConstId value = tables_.literals[id];
    if (!value.valid()) return std::nullopt;
    const types::ConstData& data = types_[value];
    ScalarBits bits{data.bits[0], data.bits[1]};
    const types::TypeData& type_data = types_[type];
    if (negated && type_data.kind == TypeKind::Int) bits = negate_int(bits, types::int_bits(type_data.int_kind));
    if (negated && type_data.kind == TypeKind::Float) {
        bits.low ^= std::uint64_t{1} << (types::float_bits(type_data.float_kind) - 1);
    }
    return scalar(span, type, bits.low, bits.high);
}

// Literals, negated literals, function items, constants, const parameters: what needs no code.
std::optional<Operand> Builder::as_constant(Adjusted node) {
    if (node.steps > 0) return std::nullopt;
    const hir::Expr& source = expr(node.expr);
    const TypeId type = type_of(node);
    if (std::holds_alternative<hir::LiteralExpr>(source.data)) return literal_constant(node.expr, false);
    if (const auto* unary = std::get_if<hir::UnaryExpr>(&source.data)) {
        const bool is_literal = std::holds_alternative<hir::LiteralExpr>(expr(unary->operand).data);
        if (unary->op != hir::UnaryOp::Neg || !is_literal || tables_.callees[node.expr].valid()) return std::nullopt;
        const std::optional<Operand> value = literal_constant(unary->operand, true);
        if (value) body_.constants[value->constant].span = source.span;
        return value;
    }
    if (const auto* block = std::get_if<hir::ConstBlockExpr>(&source.data)) {
        return Operand::of(constant(Constant{.kind = Constant::Kind::Item,
                                             .type = type,
                                             .span = source.span,
                                             .def = block->constant,
                                             .args = context_.identity_args(tables_.owner)}));
    }
    if (!std::holds_alternative<hir::PathExpr>(source.data) || path_local(node.expr)) return std::nullopt;
    const check::ItemRef item = tables_.expr_items[node.expr];
    if (!item.valid()) return std::nullopt;
    switch (hir_program_.defs[item.def].kind) {
        case hir::DefKind::Const:
        case hir::DefKind::AssocConst:
        case hir::DefKind::AnonConst:
            return Operand::of(constant(Constant{
                .kind = Constant::Kind::Item, .type = type, .span = source.span, .def = item.def, .args = item.args}));
        case hir::DefKind::ConstParam: {
            const auto& generics = context_.generics_of(hir_program_.defs[item.def].parent);
            const std::uint32_t index = generics.parent_count + (generics.has_self ? 1 : 0) +
                                        hir_program_.as<hir::ParamDef>(item.def).position;
            const types::ConstId value = types_.const_param(index, hir_program_.defs[item.def].name.name, type);
            return Operand::of(constant(
                Constant{.kind = Constant::Kind::Param, .type = type, .span = source.span, .value = value, .def = item.def}));
        }
        case hir::DefKind::Fn:
        case hir::DefKind::AssocFn:
        case hir::DefKind::ForeignFn:
            return Operand::of(constant(Constant{
                .kind = Constant::Kind::ZeroSized, .type = type, .span = source.span, .def = item.def, .args = item.args}));
        case hir::DefKind::Ctor:
            if (types_.kind(type) != TypeKind::FnDef) return std::nullopt;   // a unit value: an aggregate
            return Operand::of(constant(Constant{
                .kind = Constant::Kind::ZeroSized, .type = type, .span = source.span, .def = item.def, .args = item.args}));
        case hir::DefKind::Mod: case hir::DefKind::Struct: case hir::DefKind::Union: case hir::DefKind::Enum:
        case hir::DefKind::Variant: case hir::DefKind::Trait: case hir::DefKind::TyAlias: case hir::DefKind::AssocTy:
        case hir::DefKind::Static: case hir::DefKind::Field: case hir::DefKind::Impl: case hir::DefKind::TyParam:
        case hir::DefKind::LifetimeParam: case hir::DefKind::Closure: case hir::DefKind::Macro: case hir::DefKind::Crate:
        case hir::DefKind::ImplTrait: case hir::DefKind::Opaque: return std::nullopt;
    }
    OCKC_UNREACHABLE("definition kind");
}

// ---- adjustments ------------------------------------------------------------------------------------------------------------

Rvalue Builder::as_rvalue(Adjusted node) {
    if (const std::optional<Operand> constant = as_constant(node)) return Rvalue{UseRvalue{*constant}};
    if (is_place(node)) return Rvalue{UseRvalue{consume(as_place_builder(node))}};
    if (node.steps > 0 && last_step(node).kind != AdjustKind::NeverToAny) return adjustment_rvalue(node);
    if (node.steps == 0) return as_rvalue_unadjusted(node.expr);
    return Rvalue{UseRvalue{as_operand(node)}};
}

Rvalue Builder::adjustment_rvalue(Adjusted node) {
    const check::Adjustment& step = last_step(node);
    const Adjusted inner{node.expr, node.steps - 1};
    const auto cast = [&](CastKind kind) { return Rvalue{CastRvalue{kind, as_operand(inner), step.target}}; };
    switch (step.kind) {
        case AdjustKind::Borrow: return borrow_rvalue(inner, step.mutability, step.two_phase, step.target);
        case AdjustKind::RawBorrow: return Rvalue{RawPtrRvalue{step.mutability, as_place(inner)}};
        case AdjustKind::MutToConst: return cast(CastKind::PtrToPtr);
        case AdjustKind::Unsize: return cast(CastKind::Unsize);
        case AdjustKind::ReifyFn: return cast(CastKind::ReifyFn);
        case AdjustKind::ClosureToFnPtr: return cast(CastKind::ClosureFn);
        case AdjustKind::UnsafeFnPtr: return Rvalue{UseRvalue{as_operand(inner)}};
        case AdjustKind::NeverToAny:
        case AdjustKind::Deref:
        case AdjustKind::OverloadedDeref: break;   // a jump and places: never here
    }
    OCKC_UNREACHABLE("adjustment kind");
}

Rvalue Builder::borrow_rvalue(Adjusted operand, Mutability mutability, bool two_phase, TypeId type) {
    const bool is_mut = mutability == Mutability::Mut;
    if (!is_mut && operand.steps == 0 && !is_place(operand) && is_promotable(operand.expr)) {
        return Rvalue{UseRvalue{promote(operand.expr, type, span_of(operand.expr))}};
    }
    const BorrowKind kind = !is_mut ? BorrowKind::Shared : two_phase ? BorrowKind::TwoPhaseMut : BorrowKind::Mut;
    return Rvalue{RefRvalue{kind, to_place(as_place_builder(operand, !is_mut))}};
}

// ---- operators --------------------------------------------------------------------------------------------------------------

Rvalue Builder::as_rvalue_unadjusted(hir::ExprId id) {
    const hir::Expr& source = expr(id);
    if (!enter_nested(source.span)) return Rvalue{UseRvalue{unit(source.span)}};
    const auto build = [&]() -> Rvalue {
        if (const auto* address = std::get_if<hir::AddressOfExpr>(&source.data)) {
            if (address->raw) return Rvalue{RawPtrRvalue{address->mutability, as_place(address->operand)}};
            return borrow_rvalue(full(address->operand), address->mutability, false, tables_.type(id));
        }
        if (const auto* binary = std::get_if<hir::BinaryExpr>(&source.data);
            binary != nullptr && !tables_.callees[id].valid() && binary->op != hir::BinaryOp::And &&
            binary->op != hir::BinaryOp::Or) {
            return binary_rvalue(id, *binary);
        }
        if (const auto* unary = std::get_if<hir::UnaryExpr>(&source.data);
            unary != nullptr && !tables_.callees[id].valid()) {
            return unary_rvalue(id, *unary);
        }
        if (const auto* cast = std::get_if<hir::CastExpr>(&source.data)) return cast_rvalue(id, *cast);
        if (const auto* tuple = std::get_if<hir::TupleExpr>(&source.data)) {
            std::vector<Operand> operands;
            for (const hir::ExprId element : tuple->elements) operands.push_back(as_operand(element));
            return aggregate({AggregateKind::Kind::Tuple, tables_.type(id), DefId(), 0}, operands);
        }
        if (const auto* array = std::get_if<hir::ArrayExpr>(&source.data)) {
            std::vector<Operand> operands;
            for (const hir::ExprId element : array->elements) operands.push_back(as_operand(element));
            return aggregate({AggregateKind::Kind::Array, tables_.type(id), DefId(), 0}, operands);
        }
        if (const auto* repeat = std::get_if<hir::RepeatExpr>(&source.data)) {
            const types::ConstId count = types_[tables_.type(id)].length;
            return Rvalue{RepeatRvalue{as_operand(repeat->value), count}};
        }
        if (const auto* st = std::get_if<hir::StructExpr>(&source.data)) return struct_rvalue(id, *st);
        if (const auto* closure = std::get_if<hir::ClosureExpr>(&source.data)) return closure_rvalue(id, *closure);
        if (std::holds_alternative<hir::PathExpr>(source.data) && tables_.expr_items[id].valid() &&
            is_constructor(tables_.expr_items[id].def)) {
            return constructor_rvalue(id, tables_.expr_items[id], {});
        }
        return Rvalue{UseRvalue{as_operand(Adjusted{id, 0})}};   // calls, blocks, jumps ..: by way of a temporary
    };
    const Rvalue value = build();
    leave_nested();
    return value;
}

namespace {
BinOp to_binop(hir::BinaryOp op) {
    switch (op) {
        case hir::BinaryOp::Mul: return BinOp::Mul;
        case hir::BinaryOp::Div: return BinOp::Div;
        case hir::BinaryOp::Rem: return BinOp::Rem;
        case hir::BinaryOp::Add: return BinOp::Add;
        case hir::BinaryOp::Sub: return BinOp::Sub;
        case hir::BinaryOp::Shl: return BinOp::Shl;
        case hir::BinaryOp::Shr: return BinOp::Shr;
        case hir::BinaryOp::BitAnd: return BinOp::BitAnd;
        case hir::BinaryOp::BitXor: return BinOp::BitXor;
        case hir::BinaryOp::BitOr: return BinOp::BitOr;
        case hir::BinaryOp::Eq: return BinOp::Eq;
        case hir::BinaryOp::Ne: return BinOp::Ne;
        case hir::BinaryOp::Lt: return BinOp::Lt;
        case hir::BinaryOp::Le: return BinOp::Le;
        case hir::BinaryOp::Gt: return BinOp::Gt;
        case hir::BinaryOp::Ge: return BinOp::Ge;
        case hir::BinaryOp::And:
        case hir::BinaryOp::Or: break;
    }
    OCKC_UNREACHABLE("lazy operators are control flow");
}
}  // namespace

Rvalue Builder::binary_rvalue(hir::ExprId id, const hir::BinaryExpr& node) {
    const Operand lhs = as_operand(node.lhs);
    const Operand rhs = as_operand(node.rhs);
    return arithmetic(span_of(id), to_binop(node.op), tables_.adjusted_type(node.lhs), lhs, rhs);
}

Rvalue Builder::arithmetic(Span span, BinOp op, TypeId type, Operand lhs, Operand rhs) {
    const bool is_int = types_.kind(type) == TypeKind::Int;
    if (is_int && (op == BinOp::Div || op == BinOp::Rem)) check_division(span, op, type, lhs, rhs);
    if (is_int && options_.overflow_checks) {
        if (op == BinOp::Add || op == BinOp::Sub || op == BinOp::Mul) return checked_arithmetic(span, op, type, lhs, rhs);
        if (op == BinOp::Shl || op == BinOp::Shr) return checked_shift(span, op, lhs, rhs);
    }
    return Rvalue{BinaryOpRvalue{op, lhs, rhs}};
}

namespace {
Operand as_copy(Operand operand) { return operand.is_constant() ? operand : Operand::copy(operand.place); }
}  // namespace

void Builder::check_division(Span span, BinOp op, TypeId type, Operand lhs, Operand rhs) {
    const types::IntKind kind = types_[type].int_kind;
    const std::uint32_t bits = types::int_bits(kind);
    const auto compare = [&](Operand value, ScalarBits with) {
        const Operand constant = scalar(span, type, with.low, with.high);
        return assign_temp(span, types_.boolean, Rvalue{BinaryOpRvalue{BinOp::Eq, as_copy(value), constant}});
    };
    const LocalId is_zero = compare(rhs, {0, 0});
    assert_that(span, Operand::move(Place{is_zero, {}}), false,
                op == BinOp::Div ? AssertKind::DivisionByZero : AssertKind::RemainderByZero, op, as_copy(lhs));
    if (!types::int_signed(kind)) return;
    const LocalId is_minus_one = compare(rhs, negate_int({1, 0}, bits));
    const ScalarBits min = bits == 128 ? ScalarBits{0, std::uint64_t{1} << 63} : ScalarBits{std::uint64_t{1} << (bits - 1), 0};
    const LocalId is_min = compare(lhs, min);
    const LocalId overflows =
        assign_temp(span, types_.boolean,
                    Rvalue{BinaryOpRvalue{BinOp::BitAnd, Operand::move(Place{is_minus_one, {}}), Operand::move(Place{is_min, {}})}});
    assert_that(span, Operand::move(Place{overflows, {}}), false, AssertKind::Overflow, op, as_copy(lhs), as_copy(rhs));
}

Rvalue Builder::checked_arithmetic(Span span, BinOp op, TypeId type, Operand lhs, Operand rhs) {
    const TypeId parts[] = {type, types_.boolean};
    const LocalId pair = assign_temp(span, types_.tuple(parts), Rvalue{CheckedBinaryOpRvalue{op, as_copy(lhs), as_copy(rhs)}});
    PlaceBuilder value = root(pair), overflowed = root(pair);
    field(value, 0, type);
    field(overflowed, 1, types_.boolean);
    assert_that(span, Operand::move(to_place(overflowed)), false, AssertKind::Overflow, op, lhs, rhs);
    return Rvalue{UseRvalue{Operand::move(to_place(value))}};
}

// The count must be below the width; negative counts are large unsigned numbers.
Rvalue Builder::checked_shift(Span span, BinOp op, Operand lhs, Operand rhs) {
    const TypeId count_type = body_.type_of(rhs);
    const std::uint32_t width = types::int_bits(types_[body_.type_of(lhs)].int_kind);
    TypeId compared = count_type;
    Operand count = as_copy(rhs);
    if (types::int_signed(types_[count_type].int_kind)) {
        constexpr types::IntKind kUnsigned[] = {types::IntKind::U8,   types::IntKind::U16,   types::IntKind::U32,
                                                types::IntKind::U64,  types::IntKind::U128,  types::IntKind::Usize};
        compared = types_.int_type(kUnsigned[static_cast<std::size_t>(types_[count_type].int_kind)]);
        count = Operand::move(
            Place{assign_temp(span, compared, Rvalue{CastRvalue{CastKind::IntToInt, count, compared}}), {}});
    }
    const LocalId in_range = assign_temp(
        span, types_.boolean, Rvalue{BinaryOpRvalue{BinOp::Lt, count, scalar(span, compared, width)}});
    assert_that(span, Operand::move(Place{in_range, {}}), true, AssertKind::Overflow, op, as_copy(lhs), as_copy(rhs));
    return Rvalue{BinaryOpRvalue{op, lhs, rhs}};
}

Rvalue Builder::unary_rvalue(hir::ExprId id, const hir::UnaryExpr& node) {
    const Span span = span_of(id);
    const Operand operand = as_operand(node.operand);
    if (node.op == hir::UnaryOp::Not) return Rvalue{UnaryOpRvalue{UnOp::Not, operand}};
    OCKC_CHECK(node.op == hir::UnaryOp::Neg);
    const TypeId type = tables_.adjusted_type(node.operand);
    if (options_.overflow_checks && types_.kind(type) == TypeKind::Int) {
        const std::uint32_t bits = types::int_bits(types_[type].int_kind);
        const ScalarBits min =
            bits == 128 ? ScalarBits{0, std::uint64_t{1} << 63} : ScalarBits{std::uint64_t{1} << (bits - 1), 0};
        const LocalId is_min =
            assign_temp(span, types_.boolean,
                        Rvalue{BinaryOpRvalue{BinOp::Eq, as_copy(operand), scalar(span, type, min.low, min.high)}});
        assert_that(span, Operand::move(Place{is_min, {}}), false, AssertKind::OverflowNeg, BinOp::Sub, as_copy(operand));
    }
    return Rvalue{UnaryOpRvalue{UnOp::Neg, operand}};
}

Rvalue Builder::cast_rvalue(hir::ExprId id, const hir::CastExpr& node) {
    const TypeId type = tables_.type(id);
    const auto cast = [&](CastKind kind) { return Rvalue{CastRvalue{kind, as_operand(node.operand), type}}; };
    switch (tables_.casts[id]) {
        case check::CastKind::Coercion: return as_rvalue(full(node.operand));
        case check::CastKind::IntToInt:
        case check::CastKind::BoolToInt:
        case check::CastKind::CharToInt:
        case check::CastKind::U8ToChar: return cast(CastKind::IntToInt);
        case check::CastKind::IntToFloat: return cast(CastKind::IntToFloat);
        case check::CastKind::FloatToInt: return cast(CastKind::FloatToInt);
        case check::CastKind::FloatToFloat: return cast(CastKind::FloatToFloat);
        case check::CastKind::EnumToInt: {
            const LocalId value = as_temp(full(node.operand));
            const TypeId source = body_.locals[value].type;
            const TypeId tag = types_.int_type(context_.adt(types_[source].def).discriminant_type);
            const Span span = span_of(id);
            const LocalId discriminant = assign_temp(span, tag, Rvalue{DiscriminantRvalue{Place{value, {}}}});
            return Rvalue{CastRvalue{CastKind::IntToInt, Operand::move(Place{discriminant, {}}), type}};
        }
        case check::CastKind::PtrToPtr:
        case check::CastKind::FatToThin:
        case check::CastKind::FnPtrToPtr: return cast(CastKind::PtrToPtr);
        case check::CastKind::PtrToInt:
        case check::CastKind::FnPtrToInt: return cast(CastKind::PtrToInt);
        case check::CastKind::IntToPtr: return cast(CastKind::IntToPtr);
        case check::CastKind::ArrayPtrToElement: return cast(CastKind::ArrayToPointer);
    }
    OCKC_UNREACHABLE("cast kind");
}

}  // namespace ockc::mir
