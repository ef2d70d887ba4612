// Division and remainder by constants: shifts for powers of two, else multiplication with a rounded-up
// reciprocal (Granlund and Montgomery, "Division by Invariant Integers using Multiplication"). A divisor of 0
// may give anything.
#include <bit>

#include "opt/rules.hpp"

namespace ockc::opt {

using namespace ir;

namespace {

ValueId shift_of(Rewriter& r, std::uint64_t amount) {
    return r.make_constant(Type::I32, amount);
}

// x - (x / d) * d
ValueId remainder_from_quotient(Rewriter& r, Op division, ValueId x, ValueId d) {
    const Type type = r.inst().type;
    const ValueId quotient = r.make(division, type, {x, d});
    const ValueId product = r.make(Op::Imul, type, {quotient, d});
    return r.become(Op::Isub, type, {x, product});
}

// m = ceil(2^(N + l) / d) - 2^N with l = ceil(log2 d); then x / d = (((x - t) >> 1) + t) >> (l - 1) where t =
// umulh(m, x).
ValueId unsigned_reciprocal(Rewriter& r, ValueId x, std::uint64_t d) {
    const Type type = r.inst().type;
    const std::uint32_t bits = type_bits(type);
    const auto l = static_cast<std::uint32_t>(std::bit_width(d - 1));
    const Uint128 excess = ((Uint128{1} << l) - d) << bits;  // 2^N * (2^l - d) < 2^(2N)
    const auto m = static_cast<std::uint64_t>(excess / d + 1);
    const ValueId t = r.make(Op::Umulh, type, {x, r.make_constant(type, m)});
    const ValueId half = r.make(Op::Lshr, type, {r.make(Op::Isub, type, {x, t}), shift_of(r, 1)});
    const ValueId sum = r.make(Op::Iadd, type, {half, t});
    return r.become(Op::Lshr, type, {sum, shift_of(r, l - 1)});
}

// The short form for x known to be below 2^(N-1): one multiplication and one shift suffice.
ValueId unsigned_reciprocal_short(Rewriter& r, ValueId x, std::uint64_t d) {
    const Type type = r.inst().type;
    const std::uint32_t bits = type_bits(type);
    const auto l = static_cast<std::uint32_t>(std::bit_width(d - 1));
    const Uint128 power = Uint128{1} << (bits - 1 + l);
    const auto m = static_cast<std::uint64_t>((power + d - 1) / d);  // ceil(2^(N-1+l) / d) < 2^N
    const ValueId t = r.make(Op::Umulh, type, {x, r.make_constant(type, m)});
    return r.become(Op::Lshr, type, {t, shift_of(r, l - 1)});
}

// Adds 2^k - 1 to negative x, so that the arithmetic shift rounds toward zero.
ValueId signed_power_of_two(Rewriter& r, ValueId x, std::uint32_t k) {
    const Type type = r.inst().type;
    const std::uint32_t bits = type_bits(type);
    const ValueId sign = r.make(Op::Ashr, type, {x, shift_of(r, bits - 1)});
    const ValueId bias = r.make(Op::Lshr, type, {sign, shift_of(r, bits - k)});
    return r.become(Op::Ashr, type, {r.make(Op::Iadd, type, {x, bias}), shift_of(r, k)});
}

// m = 2^N * 2^(l-1) / |d| rounded up, less 2^N: q0 = x + smulh(m, x), shifted by l - 1, plus 1 for negative
// x.
ValueId signed_reciprocal(Rewriter& r, ValueId x, Int128 d) {
    const Type type = r.inst().type;
    const std::uint32_t bits = type_bits(type);
    const auto magnitude = static_cast<std::uint64_t>(d < 0 ? -d : d);
    const auto l = std::max<std::uint32_t>(1, static_cast<std::uint32_t>(std::bit_width(magnitude - 1)));
    const Uint128 m = (Uint128{1} << (bits + l - 1)) / magnitude + 1;  // between 2^(N-1) and 2^N
    const ValueId factor = r.make_constant(type, opt::narrow(cut(m, bits)));
    const ValueId t = r.make(Op::Smulh, type, {x, factor});  // the factor counts as m - 2^N here
    const ValueId q0 = r.make(Op::Iadd, type, {t, x});
    const ValueId shifted = r.make(Op::Ashr, type, {q0, shift_of(r, l - 1)});
    const ValueId sign = r.make(Op::Ashr, type, {x, shift_of(r, bits - 1)});
    if (d < 0) return r.become(Op::Isub, type, {sign, shifted});
    return r.become(Op::Isub, type, {shifted, sign});
}

ValueId divide_unsigned(Rewriter& r, ValueId x, Constant d) {
    const Instruction& inst = r.inst();
    const std::uint32_t bits = type_bits(inst.type);
    if (d.high == 0 && std::has_single_bit(d.low)) {
        return r.become(Op::Lshr, inst.type,
                        {x, shift_of(r, static_cast<std::uint64_t>(std::countr_zero(d.low)))});
    }
    if (bits != 32 && bits != 64) return ValueId::none();
    if (r.unsigned_max(x) >> (bits - 1) == 0 && d.low >> (bits - 1) == 0)
        return unsigned_reciprocal_short(r, x, d.low);
    return unsigned_reciprocal(r, x, d.low);
}

ValueId divide_signed(Rewriter& r, ValueId x, Constant c) {
    const Instruction& inst = r.inst();
    const std::uint32_t bits = type_bits(inst.type);
    const Int128 d = sign_extend(wide(c), bits);
    if (d == -1) return r.become(Op::Ineg, inst.type, {x});  // MIN / -1 may give anything
    if (bits > 64) return ValueId::none();
    const auto magnitude = static_cast<std::uint64_t>(d < 0 ? -d : d);
    if (std::has_single_bit(magnitude) && d > 0) {
        return signed_power_of_two(r, x, static_cast<std::uint32_t>(std::countr_zero(magnitude)));
    }
    if ((bits != 32 && bits != 64) || std::has_single_bit(magnitude)) return ValueId::none();
    return signed_reciprocal(r, x, d);
}

}  // namespace

ValueId simplify_division(Rewriter& r) {
    const Instruction& inst = r.inst();
    const ValueId x = inst.args[0];
    const ValueId y = inst.args[1];
    const bool is_signed = inst.op == Op::Sdiv || inst.op == Op::Srem;
    const bool remainder = inst.op == Op::Urem || inst.op == Op::Srem;
    const auto d = r.constant(y);
    if (!d || wide(*d) == 0) return ValueId::none();
    if (wide(*d) == 1) return remainder ? r.make_constant(inst.type, 0) : x;
    const std::uint32_t bits = type_bits(inst.type);
    // Below half the range there is no sign.
    if (is_signed && bits <= 64 && r.unsigned_max(x) >> (bits - 1) == 0 && wide(*d) >> (bits - 1) == 0) {
        return r.become(remainder ? Op::Urem : Op::Udiv, inst.type, {x, y});
    }
    if (!remainder) return is_signed ? divide_signed(r, x, *d) : divide_unsigned(r, x, *d);
    if (!is_signed && d->high == 0 && std::has_single_bit(d->low)) {
        return r.become(Op::And, inst.type, {x, r.make_constant(inst.type, d->low - 1)});
    }
    if (bits != 32 && bits != 64) return ValueId::none();
    return remainder_from_quotient(r, is_signed ? Op::Sdiv : Op::Udiv, x, y);
}

}  // namespace ockc::opt
