// The elements and sums of matrix products (exec_matrix.cpp, exec_wgmma.cpp): bits to values and back.
#pragma once
#include <limits>

#include "emu/fp8.hpp"

namespace ockc::emu::baseline {

// What the elements of A and B are, how many bits each has, and what their products add up to.
template <class SumOf, U32 kWidth>
struct Kind {
    using Sum = SumOf;
    static constexpr U32 kBits = kWidth;
    static Sum product(Sum a, Sum b) { return a * b; }
};
struct OfF16 : Kind<double, 16> {
    static double value(U32 bits) { return Half::value(static_cast<U16>(bits)); }
};
struct OfBf16 : Kind<double, 16> {
    static double value(U32 bits) { return Brain::value(static_cast<U16>(bits)); }
};
struct OfTf32 : Kind<double, 32> {   // the last 13 bits are not looked at
    static double value(U32 bits) { return Single::value(bits & 0xFFFF'E000u); }
};
struct OfE4m3 : Kind<double, 8> {
    static double value(U32 bits) { return fp8_value<true>(static_cast<U8>(bits)); }
};
struct OfE5m2 : Kind<double, 8> {
    static double value(U32 bits) { return fp8_value<false>(static_cast<U8>(bits)); }
};
struct OfU8 : Kind<S64, 8> {
    static S64 value(U32 bits) { return bits; }
};
struct OfS8 : Kind<S64, 8> {
    static S64 value(U32 bits) { return static_cast<S8>(bits); }
};
struct OfU4 : Kind<S64, 4> {
    static S64 value(U32 bits) { return bits; }
};
struct OfS4 : Kind<S64, 4> {
    static S64 value(U32 bits) { return static_cast<S64>(bits ^ 8u) - 8; }
};
template <bool kXor>
struct OfBit : Kind<S64, 1> {
    static S64 value(U32 bits) { return bits; }
    static S64 product(S64 a, S64 b) { return kXor ? a ^ b : a & b; }
};

// The j-th element of a register.
template <class K>
inline typename K::Sum element(U32 reg, U32 j) {
    constexpr U32 kMask = K::kBits == 32 ? ~0u : (1u << K::kBits % 32) - 1;
    return K::value(reg >> K::kBits * j % 32 & kMask);
}

// What the sums are in the registers.
enum class Sums : std::uint8_t { F32, F16, Wrapping, Clamped };

// A sum as it stands in a register.
template <Sums kSums, class Sum>
inline U32 sum_bits(Sum sum) {
    if constexpr (kSums == Sums::F16) return Half::bits(sum);
    if constexpr (kSums == Sums::F32) return Single::bits(static_cast<float>(sum));
    if constexpr (kSums == Sums::Clamped) {
        constexpr Sum kLeast = std::numeric_limits<S32>::min(), kMost = std::numeric_limits<S32>::max();
        sum = sum < kLeast ? kLeast : sum > kMost ? kMost : sum;
    }
    return static_cast<U32>(static_cast<U64>(sum));
}

}  // namespace ockc::emu::baseline
