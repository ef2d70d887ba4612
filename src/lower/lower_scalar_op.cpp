// Operators of scalars that generic code reaches through their traits: `T: Add` with T = i32. By value or through references;
// checked as where it is written out: division always, overflow and shift counts under --overflow-checks.
#include <fmt/format.h>

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

std::string overflow_text(BinOp op) { return fmt::format("attempt to {} with overflow", mir::binop_verb(op)); }

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
    if (!is_signed(lhs.type)) return;
    const ir::ValueId is_minus_one = builder_.icmp(ir::IntCond::Eq, rhs.a, builder_.unary(ir::Op::Not, type, builder_.const_int(type, 0)));
    refuse_if(builder_.binary(ir::Op::And, ir::Type::I1, is_min(lhs), is_minus_one), span, overflow_text(op));
}

// Is it the least value of its signed type?
ir::ValueId FunctionLowering::is_min(const Value& value) {
    const ir::Type type = function_.type_of(value.a);
    const std::uint32_t bits = ir::type_bits(type);
    const std::uint64_t top = std::uint64_t{1} << ((bits - 1) % 64);
    return builder_.icmp(ir::IntCond::Eq, value.a, bits > 64 ? builder_.const_int(type, 0, top) : builder_.const_int(type, top));
}

// `+ - * << >>` under --overflow-checks.
void FunctionLowering::check_overflow(BinOp op, const Value& lhs, const Value& rhs, Span span) {
    if (op == BinOp::Add || op == BinOp::Sub || op == BinOp::Mul || op == BinOp::Shl || op == BinOp::Shr) {
        refuse_if(overflows(op, lhs.a, rhs.a, is_signed(lhs.type)), span, overflow_text(op));
    }
}

void FunctionLowering::lower_scalar_op(ItemRef method, std::span<const Value> args, const PlaceRef& destination, Span span) {
    const check::Context::ScalarOperator op = module_.context().scalar_operator(method.def);
    const bool checks = module_.context().options().overflow_checks;
    const Value lhs = through_reference(args[0]);
    if (op.is_unary) {
        const bool negates_int = op.unary == hir::UnaryOp::Neg && !is_float(lhs.type);
        if (negates_int && checks) refuse_if(is_min(lhs), span, "attempt to negate with overflow");
        const mir::UnOp which = op.unary == hir::UnaryOp::Neg ? mir::UnOp::Neg : mir::UnOp::Not;
        return store(destination, unary(which, lhs, lhs.type));
    }
    const Value rhs = through_reference(args[1]);
    const BinOp which = binop_of(op.binary);
    if (types_.kind(lhs.type) == TypeKind::Int) {
        if (which == BinOp::Div || which == BinOp::Rem) check_division(which, lhs, rhs, span);
        if (checks) check_overflow(which, lhs, rhs, span);
    }
    const Value result = binary(which, lhs, rhs, lhs.type);
    if (!op.is_assign) return store(destination, result);
    store({args[0].a, 0, {}, lhs.type, &layout(lhs.type)}, result);
}

}  // namespace ockc::lower
