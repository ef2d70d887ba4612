// Operators of scalars that generic code reaches through their traits: `T: Add` with T = i32. By value or through references;
// division is checked as where it is written out, other operators wrap.
#include "lower/function_lowering.hpp"

namespace ockc::lower {

using mir::BinOp;
using types::TypeKind;

namespace {

BinOp binop_of(hir::BinaryOp op) {
    switch (op) {
        case hir::BinaryOp::Add: return BinOp::Add;
        case hir::BinaryOp::Sub: return BinOp::Sub;
        case hir::BinaryOp::Mul: return BinOp::Mul;
        case hir::BinaryOp::Div: return BinOp::Div;
        case hir::BinaryOp::Rem: return BinOp::Rem;
        case hir::BinaryOp::BitAnd: return BinOp::BitAnd;
        case hir::BinaryOp::BitXor: return BinOp::BitXor;
        case hir::BinaryOp::BitOr: return BinOp::BitOr;
        case hir::BinaryOp::Shl: return BinOp::Shl;
        case hir::BinaryOp::Shr: return BinOp::Shr;
        case hir::BinaryOp::Eq:
        case hir::BinaryOp::Ne:
        case hir::BinaryOp::Lt:
        case hir::BinaryOp::Le:
        case hir::BinaryOp::Gt:
        case hir::BinaryOp::Ge:
        case hir::BinaryOp::And:
        case hir::BinaryOp::Or: break;
    }
    OCKC_UNREACHABLE("operator without a trait of its own");
}

}  // namespace

Value FunctionLowering::through_reference(const Value& value) {
    if (types_.kind(value.type) != TypeKind::Ref) return value;
    const TypeId pointee = types_[value.type].element;
    return load({value.a, 0, {}, pointee, &layout(pointee)});
}

// Goes on only when `bad` is false.
void FunctionLowering::refuse_if(ir::ValueId bad, Span span, std::string text) {
    const ir::BlockId failed = function_.add_block(), good = function_.add_block();
    function_.blocks[failed].cold = true;
    builder_.br(bad, failed, good);
    builder_.at_end(failed);
    builder_.panic(module_.panic_site(span, std::move(text)), {});
    builder_.at_end(good);
}

void FunctionLowering::check_division(BinOp op, const Value& lhs, const Value& rhs, Span span) {
    const ir::Type type = function_.type_of(rhs.a);
    const ir::ValueId zero = builder_.icmp(ir::IntCond::Eq, rhs.a, builder_.const_int(type, 0));
    refuse_if(zero, span, op == BinOp::Div ? "attempt to divide by zero" : "attempt to calculate the remainder with a divisor of zero");
    if (!is_signed(lhs.type) || ir::type_bits(type) > 64) return;
    const std::uint64_t min = std::uint64_t{1} << (ir::type_bits(type) - 1);
    const ir::ValueId is_min = builder_.icmp(ir::IntCond::Eq, lhs.a, builder_.const_int(type, min));
    const ir::ValueId is_minus_one = builder_.icmp(ir::IntCond::Eq, rhs.a, builder_.const_int(type, ~std::uint64_t{0} >> (64 - ir::type_bits(type))));
    refuse_if(builder_.binary(ir::Op::And, ir::Type::I1, is_min, is_minus_one), span,
              op == BinOp::Div ? "attempt to divide with overflow" : "attempt to calculate the remainder with overflow");
}

void FunctionLowering::lower_scalar_op(ItemRef method, std::span<const Value> args, const PlaceRef& destination, Span span) {
    const check::Context::ScalarOperator op = module_.context().scalar_operator(method.def);
    const Value lhs = through_reference(args[0]);
    if (op.is_unary) {
        const mir::UnOp which = op.unary == hir::UnaryOp::Neg ? mir::UnOp::Neg : mir::UnOp::Not;
        return store(destination, unary(which, lhs, lhs.type));
    }
    const Value rhs = through_reference(args[1]);
    const BinOp which = binop_of(op.binary);
    if ((which == BinOp::Div || which == BinOp::Rem) && !is_float(lhs.type)) check_division(which, lhs, rhs, span);
    const Value result = binary(which, lhs, rhs, lhs.type);
    if (!op.is_assign) return store(destination, result);
    store({args[0].a, 0, {}, lhs.type, &layout(lhs.type)}, result);
}

}  // namespace ockc::lower
