// Rules for floats: only those that keep every bit of every result that is not a NaN.
#include <bit>

#include "opt/float_bits.hpp"
#include "opt/rules.hpp"

namespace ockc::opt {

using namespace ir;

namespace {

bool is_bits_of(Rewriter& r, ValueId value, double number) {
    const auto c = r.constant(value);
    if (!c) return false;
    return c->low == pack(r.type_of(value), unpack(Type::F64, std::bit_cast<std::uint64_t>(number)));
}

// The constant 1 / c, when c is a power of two and both are normal: then x / c = x * (1 / c) exactly.
std::optional<std::uint64_t> exact_reciprocal(Type type, std::uint64_t bits) {
    const FloatFormat format = float_format(type);
    const std::uint64_t fraction = bits & ((std::uint64_t{1} << format.mantissa_bits) - 1);
    const std::uint32_t exponent_bits = format.bits - 1 - format.mantissa_bits;
    const std::uint64_t all = (std::uint64_t{1} << exponent_bits) - 1;
    const std::uint64_t exponent = (bits >> format.mantissa_bits) & all;
    const std::uint64_t twice_bias = 2 * static_cast<std::uint64_t>(format.bias);
    if (fraction != 0 || exponent == 0 || exponent == all || exponent >= twice_bias) return std::nullopt;
    const std::uint64_t sign = bits >> (format.bits - 1) << (format.bits - 1);
    return sign | ((twice_bias - exponent) << format.mantissa_bits);
}

}  // namespace

ValueId simplify_float(Rewriter& r) {
    const Instruction& inst = r.inst();
    const ValueId a = inst.args[0];
    const ValueId b = inst.args.size() > 1 ? inst.args[1] : ValueId::none();
    if (is_commutative(inst.op) && r.constant(a) && !r.constant(b))
        return r.become(inst.op, inst.type, {b, a});
    switch (inst.op) {
        case Op::Fadd:
            if (is_bits_of(r, b, -0.0)) return a;
            if (const Instruction* neg = r.match(b, Op::Fneg))
                return r.become(Op::Fsub, inst.type, {a, neg->args[0]});
            return ValueId::none();
        case Op::Fsub:
            if (is_bits_of(r, b, 0.0)) return a;
            if (const Instruction* neg = r.match(b, Op::Fneg))
                return r.become(Op::Fadd, inst.type, {a, neg->args[0]});
            return ValueId::none();
        case Op::Fmul: return is_bits_of(r, b, 1.0) ? a : ValueId::none();
        case Op::Fdiv:
            if (is_bits_of(r, b, 1.0)) return a;
            if (const auto c = r.constant(b)) {
                const auto reciprocal = exact_reciprocal(inst.type, c->low);
                if (reciprocal) {
                    return r.become(Op::Fmul, inst.type, {a, r.make_constant(inst.type, *reciprocal)});
                }
            }
            return ValueId::none();
        case Op::Fneg: {
            const Instruction* neg = r.match(a, Op::Fneg);
            return neg != nullptr ? neg->args[0] : ValueId::none();
        }
        case Op::Fabs: {
            const Instruction* inner = r.function.def(a);
            if (inner == nullptr) return ValueId::none();
            if (inner->op == Op::Fabs) return a;
            if (inner->op == Op::Fneg || inner->op == Op::Fcopysign) {
                return r.become(Op::Fabs, inst.type, {inner->args[0]});
            }
            return ValueId::none();
        }
        default: return ValueId::none();
    }
}

}  // namespace ockc::opt
