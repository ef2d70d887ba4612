// Floating-point formats as bit patterns: f32, f64, f16, bf16 and pairs of the latter, with the NaN,
// subnormal and rounding rules of the GPU. Each format is a struct of static functions over `Bits`.
//
// NaN results. f32, f16, bf16: always the canonical NaN (all ones but the sign). f64 keeps payloads: the
// first NaN operand, made quiet; an invalid operation gives 0xfff8000000000000; fma.f64 gives that for NaN
// operands too (the manual: it "maps input NaNs to a canonical NaN"). Which operand of two NaNs wins, and the
// signs that abs.f64 and neg.f64 leave on a NaN, are not documented; the run of the emulator's tests on a GPU
// decides.
#pragma once
#include "emu/lanes.hpp"

namespace ockc::emu::OCKC_EMU_ISA {

using ptx::Round;

inline bool is_nan(float v) {
    return v != v;
}
inline bool is_nan(double v) {
    return v != v;
}

// `value` rounded to a format of E exponent and M fraction bits, in the low 1 + E + M bits. NaN becomes all
// ones but the sign. Exact for any double that is exact or was rounded to odd.
template <unsigned E, unsigned M>
inline U32 narrow(double value, Round round) {
    constexpr int kBias = (1 << (E - 1)) - 1;
    constexpr int kLowest = 1 - kBias;
    constexpr U32 kSign = 1u << (E + M);
    constexpr U32 kInfinity = ((1u << E) - 1) << M;
    const U64 bits = bit_to<U64>(value);
    const U32 sign = (bits >> 63) != 0 ? kSign : 0;
    const U64 magnitude = bits & ~(U64{1} << 63);
    if (magnitude > 0x7FF0'0000'0000'0000ull) return kSign - 1;
    if (magnitude == 0x7FF0'0000'0000'0000ull) return sign | kInfinity;
    if (magnitude == 0) return sign;
    const int field = static_cast<int>(magnitude >> 52);
    const int exponent = field == 0 ? -1022 : field - 1023;
    const U64 significand = (magnitude & ((U64{1} << 52) - 1)) | (field == 0 ? 0 : U64{1} << 52);
    const int kept_exponent = exponent > kLowest ? exponent : kLowest;
    const int shift = kept_exponent - exponent + 52 - static_cast<int>(M);
    U64 whole = shift > 63 ? 0 : significand >> shift;
    const U64 rest = shift > 63 ? 1 : significand & ((U64{1} << shift) - 1);
    const U64 half =
        shift > 63 ? 2 : U64{1} << (shift - 1);  // beyond 63 places the rest is far below one half
    bool up = false;
    switch (round) {
        case Round::Rz: break;
        case Round::Rm: up = sign != 0 && rest != 0; break;
        case Round::Rp: up = sign == 0 && rest != 0; break;
        case Round::Rna: up = rest >= half; break;
        default: up = rest > half || (rest == half && (whole & 1) != 0); break;
    }
    if (up) ++whole;
    const U64 out = (static_cast<U64>(kept_exponent - kLowest) << M) + whole;
    if (out < kInfinity) return sign | static_cast<U32>(out);
    const bool to_infinity =
        up || !(round == Round::Rz || (round == Round::Rm && sign == 0) || (round == Round::Rp && sign != 0));
    return sign | (to_infinity ? kInfinity : kInfinity - 1);
}

inline float half_to_float(U16 half) {
    // The exponent field moved into place is 112 too small; the product is exact, subnormals included.
    const U32 magnitude = half & 0x7FFFu;
    const U32 sign = static_cast<U32>(half & 0x8000u) << 16;
    const U32 finite = bit_to<U32>(bit_to<float>(magnitude << 13) * 0x1p112f);
    const U32 special = magnitude > 0x7C00u ? 0x7FFF'FFFFu : 0x7F80'0000u | sign;
    return bit_to<float>(magnitude >= 0x7C00u ? special : finite | sign);
}
// bf16 widens by a shift, payloads and all: that is the code ptxas makes for cvt.f32.bf16.
inline float bfloat_to_float(U16 half) {
    return bit_to<float>(static_cast<U32>(half) << 16);
}

// a * b + c for factors whose product is exact, rounded to odd: rounding again to at most 51 bits is then
// right.
inline double fma_to_odd(double a, double b, double c) {
    const double product = a * b;
    const double sum = product + c;
    const double c_part = sum - product;
    const double error = (product - (sum - c_part)) + (c - c_part);
    U64 bits = bit_to<U64>(sum);
    if (error == 0 || error != error || (bits & 1) != 0) return sum;
    bits += (error > 0) == (sum > 0) ? 1 : ~U64{0};
    return bit_to<double>(bits);
}

struct Single {
    using Bits = U32;
    using Value = float;
    static constexpr U32 kNan = 0x7FFF'FFFFu;
    static constexpr U32 kSign = 0x8000'0000u;
    static float value(U32 a) { return bit_to<float>(a); }
    static U32 bits(float v) { return is_nan(v) ? kNan : bit_to<U32>(v); }
    static bool nan(U32 a) { return is_nan(value(a)); }
    static U32 flush(U32 a) { return (a & 0x7F80'0000u) == 0 ? a & kSign : a; }
    static U32 saturate(U32 a) {
        const float v = value(a);
        return bit_to<U32>(v > 0.0f ? (v < 1.0f ? v : 1.0f) : 0.0f);
    }
    static U32 add(U32 a, U32 b) { return bits(value(a) + value(b)); }
    static U32 sub(U32 a, U32 b) { return bits(value(a) - value(b)); }
    static U32 mul(U32 a, U32 b) { return bits(value(a) * value(b)); }
    static U32 fma(U32 a, U32 b, U32 c) { return bits(__builtin_fmaf(value(a), value(b), value(c))); }
    static U32 div(U32 a, U32 b) { return bits(value(a) / value(b)); }
    static U32 sqrt(U32 a) { return bits(__builtin_sqrtf(value(a))); }
    static U32 one() { return 0x3F80'0000u; }
    static U32 abs(U32 a) { return nan(a) ? kNan : a & ~kSign; }
    static U32 neg(U32 a) { return nan(a) ? kNan : a ^ kSign; }
    static U32 both_nan(U32, U32) { return kNan; }
};

struct Double {
    using Bits = U64;
    using Value = double;
    static constexpr U64 kNan = 0xFFF8'0000'0000'0000ull;
    static constexpr U64 kSign = U64{1} << 63;
    static constexpr U64 kQuiet = U64{1} << 51;
    static double value(U64 a) { return bit_to<double>(a); }
    static bool nan(U64 a) { return is_nan(value(a)); }
    static U64 flush(U64 a) { return a; }
    static U64 saturate(U64 a) {
        const double v = value(a);
        return bit_to<U64>(v > 0.0 ? (v < 1.0 ? v : 1.0) : 0.0);
    }
    static U64 result(double v, U64 a, U64 b) {
        if (!is_nan(v)) return bit_to<U64>(v);
        return nan(a) ? a | kQuiet : nan(b) ? b | kQuiet : kNan;
    }
    static U64 add(U64 a, U64 b) { return result(value(a) + value(b), a, b); }
    static U64 sub(U64 a, U64 b) { return result(value(a) - value(b), a, b); }
    static U64 mul(U64 a, U64 b) { return result(value(a) * value(b), a, b); }
    static U64 fma(U64 a, U64 b, U64 c) {
        const double v = __builtin_fma(value(a), value(b), value(c));
        return is_nan(v) ? kNan : bit_to<U64>(v);
    }
    static U64 div(U64 a, U64 b) { return result(value(a) / value(b), a, b); }
    static U64 sqrt(U64 a) { return result(__builtin_sqrt(value(a)), a, a); }
    static U64 one() { return 0x3FF0'0000'0000'0000ull; }
    static U64 quiet(U64 a) { return nan(a) ? a | kQuiet : a; }
    static U64 abs(U64 a) { return quiet(a) & ~kSign; }
    static U64 neg(U64 a) { return quiet(a) ^ kSign; }
    static U64 both_nan(U64, U64 b) { return b | kQuiet; }
};

// f16 and bf16: exact or odd-rounded in double, then narrowed.
template <bool kBrain>
struct Small {
    using Bits = U16;
    static constexpr U16 kNan = 0x7FFF;
    static constexpr U16 kSign = 0x8000;
    static constexpr U16 kExponent = kBrain ? 0x7F80 : 0x7C00;
    static double value(U16 a) { return kBrain ? bfloat_to_float(a) : half_to_float(a); }
    static U16 bits(double v, Round round = Round::Rn) {
        return static_cast<U16>(kBrain ? narrow<8, 7>(v, round) : narrow<5, 10>(v, round));
    }
    static bool nan(U16 a) { return (a & 0x7FFF) > kExponent; }
    static U16 flush(U16 a) { return (a & kExponent) == 0 ? a & kSign : a; }
    static U16 saturate(U16 a) {
        const double v = value(a);
        return v > 0.0 ? (v < 1.0 ? a : one()) : 0;
    }
    static U16 add(U16 a, U16 b) { return bits(fma_to_odd(value(a), 1.0, value(b))); }
    static U16 sub(U16 a, U16 b) { return bits(fma_to_odd(value(a), 1.0, -value(b))); }
    static U16 mul(U16 a, U16 b) { return bits(value(a) * value(b)); }
    static U16 fma(U16 a, U16 b, U16 c) { return bits(fma_to_odd(value(a), value(b), value(c))); }
    static U16 one() { return kBrain ? 0x3F80 : 0x3C00; }
    static U16 abs(U16 a) { return nan(a) ? kNan : a & 0x7FFF; }
    static U16 neg(U16 a) { return nan(a) ? kNan : a ^ kSign; }
    static U16 both_nan(U16, U16) { return kNan; }
    static U16 relu(U16 a) { return nan(a) ? kNan : (a & kSign) != 0 ? 0 : a; }
};
using Half = Small<false>;
using Brain = Small<true>;

// Smaller and larger: a number beats a NaN, -0 is below +0.
template <class T, bool kMax, bool kNanWins>
inline typename T::Bits pick(typename T::Bits a, typename T::Bits b) {
    const auto x = T::value(a);
    const auto y = T::value(b);
    if (x != x || y != y) {
        if (kNanWins) return T::kNan;
        return x == x ? a : y == y ? b : T::both_nan(a, b);
    }
    if (x == y) return kMax ? a & b : a | b;  // equal, or zeros of two signs
    return (x < y) != kMax ? a : b;
}

// Two halves in one register, each on its own.
template <class T>
struct Pair {
    using Bits = U32;
    template <class F>
    static U32 each(U32 a, F f) {
        return static_cast<U32>(f(static_cast<U16>(a))) | static_cast<U32>(f(static_cast<U16>(a >> 16)))
                                                              << 16;
    }
    template <class F>
    static U32 each(U32 a, U32 b, F f) {
        return static_cast<U32>(f(static_cast<U16>(a), static_cast<U16>(b))) |
               static_cast<U32>(f(static_cast<U16>(a >> 16), static_cast<U16>(b >> 16))) << 16;
    }
    static U32 flush(U32 a) { return each(a, T::flush); }
    static U32 saturate(U32 a) { return each(a, T::saturate); }
    static U32 add(U32 a, U32 b) { return each(a, b, T::add); }
    static U32 sub(U32 a, U32 b) { return each(a, b, T::sub); }
    static U32 mul(U32 a, U32 b) { return each(a, b, T::mul); }
    static U32 fma(U32 a, U32 b, U32 c) {
        return static_cast<U32>(T::fma(static_cast<U16>(a), static_cast<U16>(b), static_cast<U16>(c))) |
               static_cast<U32>(
                   T::fma(static_cast<U16>(a >> 16), static_cast<U16>(b >> 16), static_cast<U16>(c >> 16)))
                   << 16;
    }
    static U32 abs(U32 a) { return each(a, T::abs); }
    static U32 neg(U32 a) { return each(a, T::neg); }
    static U32 relu(U32 a) { return each(a, T::relu); }
};
template <class T, bool kMax, bool kNanWins>
struct PickOf {
    static typename T::Bits apply(typename T::Bits a, typename T::Bits b) {
        return pick<T, kMax, kNanWins>(a, b);
    }
};
template <class T, bool kMax, bool kNanWins>
struct PickOf<Pair<T>, kMax, kNanWins> {
    static U32 apply(U32 a, U32 b) { return Pair<T>::each(a, b, pick<T, kMax, kNanWins>); }
};

// The same of the magnitudes; its sign is the exclusive or of both.
template <class T, bool kMax, bool kNanWins>
inline typename T::Bits pick_magnitude(typename T::Bits a, typename T::Bits b) {
    const typename T::Bits r = pick<T, kMax, kNanWins>(T::abs(a), T::abs(b));
    return T::nan(r) ? r : static_cast<typename T::Bits>(r | ((a ^ b) & T::kSign));
}
template <class T, bool kMax, bool kNanWins>
struct PickMagnitudeOf {
    static typename T::Bits apply(typename T::Bits a, typename T::Bits b) {
        return pick_magnitude<T, kMax, kNanWins>(a, b);
    }
};
template <class T, bool kMax, bool kNanWins>
struct PickMagnitudeOf<Pair<T>, kMax, kNanWins> {
    static U32 apply(U32 a, U32 b) { return Pair<T>::each(a, b, pick_magnitude<T, kMax, kNanWins>); }
};

}  // namespace ockc::emu::OCKC_EMU_ISA
