#include "opt/float_bits.hpp"

namespace ockc::opt {

namespace {

std::int32_t bit_length(Uint128 value) {
    const auto high = static_cast<std::uint64_t>(value >> 64);
    const auto low = static_cast<std::uint64_t>(value);
    if (high != 0) return 128 - __builtin_clzll(high);
    return low != 0 ? 64 - __builtin_clzll(low) : 0;
}

}  // namespace

FloatFormat float_format(ir::Type type) {
    if (type == ir::Type::F16) return {16, 10, 15};
    if (type == ir::Type::BF16) return {16, 7, 127};
    if (type == ir::Type::F32) return {32, 23, 127};
    OCKC_CHECK(type == ir::Type::F64);
    return {64, 52, 1023};
}

Unpacked unpack(ir::Type type, std::uint64_t bits) {
    const FloatFormat format = float_format(type);
    const std::uint32_t exponent_bits = format.bits - 1 - format.mantissa_bits;
    const std::uint64_t fraction = bits & ((std::uint64_t{1} << format.mantissa_bits) - 1);
    const auto exponent =
        static_cast<std::int32_t>((bits >> format.mantissa_bits) & ((1u << exponent_bits) - 1));
    Unpacked number;
    number.negative = (bits >> (format.bits - 1)) & 1;
    if (exponent == (1 << exponent_bits) - 1) {
        number.kind = fraction != 0 ? FloatKind::Nan : FloatKind::Infinite;
        return number;
    }
    number.mantissa = exponent == 0 ? fraction : fraction | (std::uint64_t{1} << format.mantissa_bits);
    number.kind = number.mantissa == 0 ? FloatKind::Zero : FloatKind::Finite;
    const std::int32_t scale = exponent == 0 ? 1 : exponent;
    number.exponent = scale - format.bias - static_cast<std::int32_t>(format.mantissa_bits);
    return number;
}

std::uint64_t pack(ir::Type type, const Unpacked& number, bool inexact) {
    const FloatFormat format = float_format(type);
    const auto mantissa_bits = static_cast<std::int32_t>(format.mantissa_bits);
    const std::uint64_t sign = number.negative ? std::uint64_t{1} << (format.bits - 1) : 0;
    const std::uint32_t exponent_bits = format.bits - 1 - format.mantissa_bits;
    const std::uint64_t infinity = ((std::uint64_t{1} << exponent_bits) - 1) << format.mantissa_bits;
    OCKC_CHECK(number.kind != FloatKind::Nan);
    if (number.kind == FloatKind::Infinite) return sign | infinity;
    if (number.kind == FloatKind::Zero) return sign;

    // The last place of the result has weight 2^lowest: given by the leading bit, or by the subnormal range.
    const std::int32_t smallest = 1 - format.bias - mantissa_bits;
    std::int32_t lowest = number.exponent + bit_length(number.mantissa) - 1 - mantissa_bits;
    if (lowest < smallest) lowest = smallest;
    const std::int32_t drop = lowest - number.exponent;
    Uint128 kept = 0;
    if (drop <= 0) {
        kept = number.mantissa << -drop;  // exact: at most mantissa_bits + 1 bits remain
    } else {
        const bool all = drop > 127;
        kept = all ? 0 : number.mantissa >> drop;
        const Uint128 rest = all ? number.mantissa : number.mantissa & ((Uint128{1} << drop) - 1);
        const Uint128 half = all ? ~Uint128{0} : Uint128{1} << (drop - 1);
        const bool above = rest > half || (rest == half && inexact);
        const bool tie = rest == half && !inexact;
        if (above || (tie && (kept & 1) != 0)) ++kept;
    }
    // kept may have grown to the next power of two; the sum below carries into the exponent then.
    const auto fraction = static_cast<std::uint64_t>(kept);
    const std::uint64_t hidden = std::uint64_t{1} << format.mantissa_bits;
    std::uint64_t result = fraction;
    if (fraction >= hidden) {
        const auto exponent = static_cast<std::uint64_t>(lowest - smallest + 1);
        result = (exponent << format.mantissa_bits) + (fraction - hidden);
    }
    return sign | (result >= infinity ? infinity : result);
}

}  // namespace ockc::opt
