// The 8-bit floats. e4m3: bias 7, no infinity, NaN is all ones but the sign, the largest number 448. e5m2: the upper half of
// an f16, the largest number 57344.
#pragma once
#include "emu/float_formats.hpp"

namespace ockc::emu::OCKC_EMU_ISA {

// To nearest even, clamped to the largest finite number; NaN becomes 0x7f.
template <bool kE4m3>
inline U8 fp8_bits(double value) {
    if (is_nan(value)) return 0x7F;
    constexpr U32 kLargest = kE4m3 ? 0x7E : 0x7B;
    // With one exponent bit more and a bias of 15, a number of e4m3 scaled by 2^-8 has its very bits.
    const U32 bits = kE4m3 ? narrow<5, 3>(value * 0x1p-8, Round::Rn) : narrow<5, 2>(value, Round::Rn);
    const U32 magnitude = bits & (kE4m3 ? 0xFFu : 0x7Fu);
    const U32 sign = bit_to<U64>(value) >> 63 != 0 ? 0x80 : 0;
    return static_cast<U8>(sign | (magnitude < kLargest ? magnitude : kLargest));
}

template <bool kE4m3>
inline double fp8_value(U8 bits) {
    if (!kE4m3) return half_to_float(static_cast<U16>(bits << 8));
    const U32 magnitude = bits & 0x7Fu;
    if (magnitude == 0x7F) return bit_to<float>(Single::kNan);
    const U32 exponent = magnitude >> 3, fraction = magnitude & 7;
    const double size = exponent == 0 ? fraction * 0x1p-9 : (8 + fraction) * bit_to<double>(static_cast<U64>(exponent + 1023 - 10) << 52);
    return (bits & 0x80) != 0 ? -size : size;
}

}  // namespace ockc::emu::OCKC_EMU_ISA
