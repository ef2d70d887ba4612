// Binary operators on scalars: integers wrap, shift counts are masked, floats are IEEE.
#include "lower/function_lowering.hpp"

namespace ockc::lower {

using mir::BinOp;
using types::TypeKind;

bool FunctionLowering::is_signed(TypeId type) {
    const types::TypeData& data = types_[type];
    if (data.kind == TypeKind::Int) return types::int_signed(data.int_kind);
    if (data.kind == TypeKind::Adt) {   // field-less enum as an integer
        const Layout& shape = layout(type);
        return shape.abi == types::AbiKind::Scalar && shape.scalars[0].is_signed;
    }
    return false;
}

ir::ValueId FunctionLowering::integer_binary(BinOp op, ir::ValueId a, ir::ValueId b, bool is_signed) {
    const ir::Type type = function_.type_of(a);
    const auto emit = [&](ir::Op ir_op) { return builder_.binary(ir_op, type, a, b); };
    switch (op) {
        case BinOp::Add: return emit(ir::Op::Iadd);
        case BinOp::Sub: return emit(ir::Op::Isub);
        case BinOp::Mul: return emit(ir::Op::Imul);
        case BinOp::Div: return emit(is_signed ? ir::Op::Sdiv : ir::Op::Udiv);
        case BinOp::Rem: return emit(is_signed ? ir::Op::Srem : ir::Op::Urem);
        case BinOp::BitXor: return emit(ir::Op::Xor);
        case BinOp::BitAnd: return emit(ir::Op::And);
        case BinOp::BitOr: return emit(ir::Op::Or);
        case BinOp::Shl:
        case BinOp::Shr: return shift(op, a, b, is_signed);
        case BinOp::Eq:
        case BinOp::Ne:
        case BinOp::Lt:
        case BinOp::Le:
        case BinOp::Gt:
        case BinOp::Ge: break;
    }
    OCKC_UNREACHABLE("comparison as arithmetic");
}

ir::ValueId FunctionLowering::shift(BinOp op, ir::ValueId a, ir::ValueId count, bool is_signed) {
    // The count may have any integer type; its low bits are all that matter, as widths are powers of two.
    const std::uint32_t bits = ir::type_bits(function_.type_of(count));
    if (bits > 32) count = builder_.convert(ir::Op::Trunc, ir::Type::I32, count);
    if (bits < 32) count = builder_.convert(ir::Op::Zext, ir::Type::I32, count);
    const ir::Op ir_op = op == BinOp::Shl ? ir::Op::Shl : is_signed ? ir::Op::Ashr : ir::Op::Lshr;
    return builder_.binary(ir_op, function_.type_of(a), a, count);
}

namespace {

ir::Op float_op(BinOp op) {
    switch (op) {
        case BinOp::Add: return ir::Op::Fadd;
        case BinOp::Sub: return ir::Op::Fsub;
        case BinOp::Mul: return ir::Op::Fmul;
        case BinOp::Div: return ir::Op::Fdiv;
        case BinOp::Rem: return ir::Op::Frem;
        case BinOp::BitXor:
        case BinOp::BitAnd:
        case BinOp::BitOr:
        case BinOp::Shl:
        case BinOp::Shr:
        case BinOp::Eq:
        case BinOp::Ne:
        case BinOp::Lt:
        case BinOp::Le:
        case BinOp::Gt:
        case BinOp::Ge: break;
    }
    OCKC_UNREACHABLE("operator on floats");
}

struct Conditions {
    ir::IntCond is_signed, is_unsigned;
    ir::FloatCond floating;
};

Conditions conditions(BinOp op) {
    switch (op) {
        case BinOp::Eq: return {ir::IntCond::Eq, ir::IntCond::Eq, ir::FloatCond::Oeq};
        case BinOp::Ne: return {ir::IntCond::Ne, ir::IntCond::Ne, ir::FloatCond::Une};
        case BinOp::Lt: return {ir::IntCond::Slt, ir::IntCond::Ult, ir::FloatCond::Olt};
        case BinOp::Le: return {ir::IntCond::Sle, ir::IntCond::Ule, ir::FloatCond::Ole};
        case BinOp::Gt: return {ir::IntCond::Sgt, ir::IntCond::Ugt, ir::FloatCond::Ogt};
        case BinOp::Ge: return {ir::IntCond::Sge, ir::IntCond::Uge, ir::FloatCond::Oge};
        case BinOp::Add:
        case BinOp::Sub:
        case BinOp::Mul:
        case BinOp::Div:
        case BinOp::Rem:
        case BinOp::BitXor:
        case BinOp::BitAnd:
        case BinOp::BitOr:
        case BinOp::Shl:
        case BinOp::Shr: break;
    }
    OCKC_UNREACHABLE("not a comparison");
}

}  // namespace

ir::ValueId FunctionLowering::compare(BinOp op, const Value& lhs, const Value& rhs) {
    const Conditions cond = conditions(op);
    if (lhs.form == ValueForm::Zero) {   // unit: all values are equal
        return builder_.const_bool(op == BinOp::Eq || op == BinOp::Le || op == BinOp::Ge);
    }
    if (lhs.form == ValueForm::Pair) {   // slice pointers: by address, then by length
        const ir::ValueId a = builder_.icmp(ir::IntCond::Eq, lhs.a, rhs.a);
        const ir::ValueId b = builder_.icmp(cond.is_unsigned, lhs.b, rhs.b);
        if (op == BinOp::Eq) return builder_.binary(ir::Op::And, ir::Type::I1, a, b);
        if (op == BinOp::Ne) return builder_.binary(ir::Op::Or, ir::Type::I1, builder_.unary(ir::Op::Not, ir::Type::I1, a), b);
        return builder_.select(a, b, builder_.icmp(cond.is_unsigned, lhs.a, rhs.a));
    }
    if (is_float(lhs.type)) return builder_.fcmp(cond.floating, lhs.a, rhs.a);
    return builder_.icmp(is_signed(lhs.type) ? cond.is_signed : cond.is_unsigned, lhs.a, rhs.a);
}

Value FunctionLowering::binary(BinOp op, const Value& lhs, const Value& rhs, TypeId type) {
    if (mir::is_comparison(op)) return scalar_value(type, compare(op, lhs, rhs));
    if (is_float(lhs.type)) return scalar_value(type, builder_.binary(float_op(op), function_.type_of(lhs.a), lhs.a, rhs.a));
    return scalar_value(type, integer_binary(op, lhs.a, rhs.a, is_signed(lhs.type)));
}

// Does the exact result not fit? Shifts: is the count outside of the width (negative counts are large unsigned numbers)?
ir::ValueId FunctionLowering::overflows(BinOp op, ir::ValueId a, ir::ValueId b, bool sign) {
    const ir::Type ir = function_.type_of(a);
    switch (op) {
        case BinOp::Add: return builder_.binary(sign ? ir::Op::SaddOv : ir::Op::UaddOv, ir, a, b);
        case BinOp::Sub: return builder_.binary(sign ? ir::Op::SsubOv : ir::Op::UsubOv, ir, a, b);
        case BinOp::Mul: return builder_.binary(sign ? ir::Op::SmulOv : ir::Op::UmulOv, ir, a, b);
        case BinOp::Shl:
        case BinOp::Shr: {
            const ir::Type count = function_.type_of(b);
            return builder_.icmp(ir::IntCond::Uge, b, builder_.const_int(count, ir::type_bits(ir)));
        }
        case BinOp::Div:
        case BinOp::Rem:
        case BinOp::BitXor:
        case BinOp::BitAnd:
        case BinOp::BitOr:
        case BinOp::Eq:
        case BinOp::Ne:
        case BinOp::Lt:
        case BinOp::Le:
        case BinOp::Gt:
        case BinOp::Ge: break;
    }
    OCKC_UNREACHABLE("operator without an overflow form");
}

Value FunctionLowering::checked_binary(const mir::CheckedBinaryOpRvalue& node, TypeId type) {
    const Value lhs = operand(node.lhs);
    const Value rhs = operand(node.rhs);
    const bool sign = is_signed(lhs.type);
    const ir::ValueId result = integer_binary(node.op, lhs.a, rhs.a, sign);
    const ir::ValueId overflow = overflows(node.op, lhs.a, rhs.a, sign);
    // (T, bool): the two fields in declaration order; the layout may have swapped them in memory.
    const bool swapped = layout(type).offsets[0] != 0;
    return {type, ValueForm::Pair, swapped ? overflow : result, swapped ? result : overflow, {}};
}

}  // namespace ockc::lower
