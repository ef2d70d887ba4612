#include "opt/const_fold.hpp"

#include <bit>
#include <cmath>

#include "ir/names.hpp"
#include "opt/float_bits.hpp"

namespace ockc::opt {

using namespace ir;

Int128 sign_extend(Uint128 value, std::uint32_t bits) {
    return static_cast<Int128>(value << (128 - bits)) >> (128 - bits);
}

Uint128 cut(Uint128 value, std::uint32_t bits) {
    return bits == 128 ? value : value & ((Uint128{1} << bits) - 1);
}

bool fold_icmp(IntCond cond, std::uint32_t bits, Constant a, Constant b) {
    const Uint128 ua = wide(a);
    const Uint128 ub = wide(b);
    const Int128 sa = sign_extend(ua, bits);
    const Int128 sb = sign_extend(ub, bits);
    switch (cond) {
        case IntCond::Eq: return ua == ub;
        case IntCond::Ne: return ua != ub;
        case IntCond::Ult: return ua < ub;
        case IntCond::Ule: return ua <= ub;
        case IntCond::Ugt: return ua > ub;
        case IntCond::Uge: return ua >= ub;
        case IntCond::Slt: return sa < sb;
        case IntCond::Sle: return sa <= sb;
        case IntCond::Sgt: return sa > sb;
        case IntCond::Sge: return sa >= sb;
    }
    OCKC_UNREACHABLE("condition");
}

namespace {

// ---- integers
// --------------------------------------------------------------------------------------------------------

struct IntArgs {
    Uint128 a = 0;
    Uint128 b = 0;
    std::uint32_t bits = 0;
    Int128 sa() const { return sign_extend(a, bits); }
    Int128 sb() const { return sign_extend(b, bits); }
    std::uint32_t shift() const { return static_cast<std::uint32_t>(b) % bits; }
};

Uint128 reverse_bits(Uint128 value, std::uint32_t bits) {
    Uint128 out = 0;
    for (std::uint32_t i = 0; i < bits; ++i) {
        if ((value >> i) & 1) out |= Uint128{1} << (bits - 1 - i);
    }
    return out;
}

Uint128 swap_bytes(Uint128 value, std::uint32_t bits) {
    Uint128 out = 0;
    for (std::uint32_t i = 0; i < bits; i += 8)
        out |= ((value >> i) & 0xFF) << (bits - 8 - i);
    return out;
}

std::uint32_t population(Uint128 value) {
    return static_cast<std::uint32_t>(std::popcount(static_cast<std::uint64_t>(value)) +
                                      std::popcount(static_cast<std::uint64_t>(value >> 64)));
}

std::uint32_t leading_zeros(Uint128 value, std::uint32_t bits) {
    std::uint32_t count = 0;
    while (count < bits && ((value >> (bits - 1 - count)) & 1) == 0)
        ++count;
    return count;
}

// The upper 128 bits of a 256-bit product of magnitudes are never needed: i128 products fold only when they
// fit.
bool product_fits(Uint128 a, Uint128 b) {
    return a == 0 || b <= ~Uint128{0} / a;
}

std::optional<Uint128> high_product(const IntArgs& x, bool is_signed) {
    if (x.bits == 128) return std::nullopt;
    if (is_signed) return static_cast<Uint128>((x.sa() * x.sb()) >> x.bits);
    return (x.a * x.b) >> x.bits;
}

std::optional<Uint128> divide(Op op, const IntArgs& x) {
    if (x.b == 0) return std::nullopt;
    const bool is_signed = op == Op::Sdiv || op == Op::Srem;
    if (is_signed && x.sb() == -1 && x.a == Uint128{1} << (x.bits - 1)) return std::nullopt;
    if (op == Op::Udiv) return x.a / x.b;
    if (op == Op::Urem) return x.a % x.b;
    if (op == Op::Sdiv) return static_cast<Uint128>(x.sa() / x.sb());
    return static_cast<Uint128>(x.sa() % x.sb());
}

// Does the exact result leave the signed range of x.bits?
bool leaves_signed(Int128 value, std::uint32_t bits) {
    return sign_extend(static_cast<Uint128>(value), bits) != value;
}

std::optional<Uint128> overflow(Op op, const IntArgs& x) {
    if (op == Op::UaddOv) return cut(x.a + x.b, x.bits) < x.a;
    if (op == Op::UsubOv) return x.a < x.b;
    if (op == Op::UmulOv) return !product_fits(x.a, x.b) || cut(x.a * x.b, x.bits) != x.a * x.b;
    Int128 exact = 0;
    bool wide_overflow = false;
    if (op == Op::SaddOv) wide_overflow = __builtin_add_overflow(x.sa(), x.sb(), &exact);
    if (op == Op::SsubOv) wide_overflow = __builtin_sub_overflow(x.sa(), x.sb(), &exact);
    if (op == Op::SmulOv) wide_overflow = __builtin_mul_overflow(x.sa(), x.sb(), &exact);
    return wide_overflow || leaves_signed(exact, x.bits);
}

std::optional<Uint128> fold_int(Op op, const IntArgs& x) {
    const std::uint32_t s = x.bits != 0 ? x.shift() : 0;
    switch (op) {
        case Op::Iadd: return x.a + x.b;
        case Op::Isub: return x.a - x.b;
        case Op::Imul: return x.a * x.b;
        case Op::Udiv:
        case Op::Sdiv:
        case Op::Urem:
        case Op::Srem: return divide(op, x);
        case Op::Umulh: return high_product(x, false);
        case Op::Smulh: return high_product(x, true);
        case Op::Ineg: return -x.a;
        case Op::And: return x.a & x.b;
        case Op::Or: return x.a | x.b;
        case Op::Xor: return x.a ^ x.b;
        case Op::Not: return ~x.a;
        case Op::Shl: return x.a << s;
        case Op::Lshr: return x.a >> s;
        case Op::Ashr: return static_cast<Uint128>(x.sa() >> s);
        case Op::Rotl: return s == 0 ? x.a : (x.a << s) | (x.a >> (x.bits - s));
        case Op::Rotr: return s == 0 ? x.a : (x.a >> s) | (x.a << (x.bits - s));
        case Op::Smin: return x.sa() < x.sb() ? x.a : x.b;
        case Op::Smax: return x.sa() > x.sb() ? x.a : x.b;
        case Op::Umin: return x.a < x.b ? x.a : x.b;
        case Op::Umax: return x.a > x.b ? x.a : x.b;
        case Op::Iabs: return x.sa() < 0 ? -x.a : x.a;
        case Op::Popcnt: return population(x.a);
        case Op::Clz: return leading_zeros(x.a, x.bits);
        case Op::Ctz: return leading_zeros(reverse_bits(x.a, x.bits), x.bits);
        case Op::Bitrev: return reverse_bits(x.a, x.bits);
        case Op::Bswap: return swap_bytes(x.a, x.bits);
        case Op::UaddOv:
        case Op::SaddOv:
        case Op::UsubOv:
        case Op::SsubOv:
        case Op::UmulOv:
        case Op::SmulOv: return overflow(op, x);
        default: return std::nullopt;
    }
}

// ---- floats
// ----------------------------------------------------------------------------------------------------------

bool is_nan(Type type, std::uint64_t bits) {
    return unpack(type, bits).kind == FloatKind::Nan;
}

double to_double(Type type, std::uint64_t bits) {
    if (type == Type::F64) return std::bit_cast<double>(bits);
    return std::bit_cast<double>(pack(Type::F64, unpack(type, bits)));  // exact: every format fits into f64
}

std::uint64_t sign_bit(Type type) {
    return std::uint64_t{1} << (type_bits(type) - 1);
}

// Results that f64 arithmetic gives exactly, or with one innocuous second rounding: add, subtract, multiply,
// divide and square root of formats with at most 25 bits of precision may be rounded to f64 first.
std::optional<std::uint64_t> from_double(Type type, double value) {
    if (std::isnan(value)) return std::nullopt;
    const auto bits = std::bit_cast<std::uint64_t>(value);
    return type == Type::F64 ? bits : pack(type, unpack(Type::F64, bits));
}

std::optional<std::uint64_t> fold_minmax(Op op, Type type, std::uint64_t a, std::uint64_t b) {
    const bool a_nan = is_nan(type, a);
    const bool b_nan = is_nan(type, b);
    if (a_nan && b_nan) return std::nullopt;
    if (a_nan) return b;
    if (b_nan) return a;
    const double da = to_double(type, a);
    const double db = to_double(type, b);
    if (da == db) return a == b ? std::optional(a) : std::nullopt;
    return (op == Op::Fmin) == (da < db) ? a : b;
}

// The product of two halves is exact in f64; their sum with a third is rounded to odd, so that the second rounding is the
// only one that counts.
std::optional<std::uint64_t> fold_half_fma(Type type, std::span<const Constant> args) {
    const double product = to_double(type, args[0].low) * to_double(type, args[1].low);
    const double c = to_double(type, args[2].low);
    const double sum = product + c;
    if (!std::isfinite(sum)) return from_double(type, sum);
    const double part = sum - product;
    const double lost = (product - (sum - part)) + (c - part);
    const bool even = (std::bit_cast<std::uint64_t>(sum) & 1) == 0;
    return from_double(type, lost != 0 && even ? std::nextafter(sum, lost > 0 ? HUGE_VAL : -HUGE_VAL) : sum);
}

std::optional<std::uint64_t> fold_fma(Type type, std::span<const Constant> args) {
    if (type == Type::F64) {
        return from_double(type, std::fma(to_double(type, args[0].low), to_double(type, args[1].low),
                                          to_double(type, args[2].low)));
    }
    if (type != Type::F32) return fold_half_fma(type, args);
    const auto f = [&](int i) { return std::bit_cast<float>(static_cast<std::uint32_t>(args[i].low)); };
    const float value = std::fma(f(0), f(1), f(2));
    if (std::isnan(value)) return std::nullopt;
    return std::bit_cast<std::uint32_t>(value);
}

std::optional<std::uint64_t> fold_float(Op op, Type type, std::span<const Constant> args) {
    const std::uint64_t a = args[0].low;
    const std::uint64_t b = args.size() > 1 ? args[1].low : 0;
    if (op == Op::Fneg) return a ^ sign_bit(type);
    if (op == Op::Fabs) return a & ~sign_bit(type);
    if (op == Op::Fcopysign) return (a & ~sign_bit(type)) | (b & sign_bit(type));
    if (op == Op::Fmin || op == Op::Fmax) return fold_minmax(op, type, a, b);
    if (op == Op::Fma) return fold_fma(type, args);
    if (is_nan(type, a) || (args.size() > 1 && is_nan(type, b))) return std::nullopt;
    const double x = to_double(type, a);
    const double y = args.size() > 1 ? to_double(type, b) : 0;
    switch (op) {
        case Op::Fadd: return from_double(type, x + y);
        case Op::Fsub: return from_double(type, x - y);
        case Op::Fmul: return from_double(type, x * y);
        case Op::Fdiv: return from_double(type, x / y);
        case Op::Frem: return from_double(type, std::fmod(x, y));
        case Op::Fsqrt: return from_double(type, std::sqrt(x));
        case Op::Ffloor: return from_double(type, std::floor(x));
        case Op::Fceil: return from_double(type, std::ceil(x));
        case Op::Ftrunc: return from_double(type, std::trunc(x));
        case Op::Frint: return from_double(type, std::nearbyint(x));
        default: return std::nullopt;
    }
}

bool fold_fcmp(FloatCond cond, Type type, std::uint64_t a, std::uint64_t b) {
    const bool unordered = is_nan(type, a) || is_nan(type, b);
    const bool negated_form = cond == FloatCond::Une || (cond >= FloatCond::Uno && cond != FloatCond::One);
    if (cond == FloatCond::Ord) return !unordered;
    if (cond == FloatCond::Uno) return unordered;
    if (unordered) return negated_form;
    const double x = to_double(type, a);
    const double y = to_double(type, b);
    switch (cond) {
        case FloatCond::Oeq:
        case FloatCond::Ueq: return x == y;
        case FloatCond::Une:
        case FloatCond::One: return x != y;
        case FloatCond::Olt:
        case FloatCond::Ult: return x < y;
        case FloatCond::Ole:
        case FloatCond::Ule: return x <= y;
        case FloatCond::Ogt:
        case FloatCond::Ugt: return x > y;
        case FloatCond::Oge:
        case FloatCond::Uge: return x >= y;
        case FloatCond::Ord:
        case FloatCond::Uno: break;
    }
    OCKC_UNREACHABLE("condition");
}

// ---- conversions
// -----------------------------------------------------------------------------------------------------

Uint128 float_to_int(Type from, std::uint64_t bits, std::uint32_t width, bool is_signed) {
    const Unpacked number = unpack(from, bits);
    const Uint128 largest = is_signed ? (Uint128{1} << (width - 1)) - 1 : cut(~Uint128{0}, width);
    const Uint128 most_negative = is_signed ? largest + 1 : 0;  // magnitude
    const Uint128 limit = number.negative ? most_negative : largest;
    if (number.kind == FloatKind::Nan || number.kind == FloatKind::Zero) return 0;
    Uint128 magnitude = limit;
    if (number.kind == FloatKind::Finite) {
        if (number.exponent <= -128) {
            magnitude = 0;
        } else if (number.exponent <= 0) {
            magnitude = number.mantissa >> -number.exponent;
        } else if (number.exponent < 128 &&
                   (number.mantissa << number.exponent) >> number.exponent == number.mantissa) {
            magnitude = number.mantissa << number.exponent;
        }
    }
    if (magnitude > limit) magnitude = limit;
    return cut(number.negative ? -magnitude : magnitude, width);
}

std::uint64_t int_to_float(Type to, Uint128 value, std::uint32_t width, bool is_signed) {
    Unpacked number;
    number.negative = is_signed && sign_extend(value, width) < 0;
    number.mantissa = number.negative ? -static_cast<Uint128>(sign_extend(value, width)) : value;
    number.kind = number.mantissa == 0 ? FloatKind::Zero : FloatKind::Finite;
    return pack(to, number);
}

std::optional<Constant> fold_conversion(const Instruction& inst, Type from, Constant a) {
    const std::uint32_t to_bits = type_bits(inst.type);
    const std::uint32_t from_bits = type_bits(from);
    switch (inst.op) {
        case Op::Trunc: return opt::narrow(cut(wide(a), to_bits));
        case Op::Zext: return a;
        case Op::Sext:
            return opt::narrow(cut(static_cast<Uint128>(sign_extend(wide(a), from_bits)), to_bits));
        case Op::Fcvt: {
            const Unpacked number = unpack(from, a.low);
            if (number.kind == FloatKind::Nan) return std::nullopt;
            return Constant{pack(inst.type, number), 0};
        }
        case Op::Fptosi: return opt::narrow(float_to_int(from, a.low, to_bits, true));
        case Op::Fptoui: return opt::narrow(float_to_int(from, a.low, to_bits, false));
        case Op::Sitofp: return Constant{int_to_float(inst.type, wide(a), from_bits, true), 0};
        case Op::Uitofp: return Constant{int_to_float(inst.type, wide(a), from_bits, false), 0};
        case Op::Bitcast:
        case Op::PtrToInt:
        case Op::IntToPtr: return a;
        default: return std::nullopt;
    }
}

}  // namespace

std::optional<Constant> fold(const Instruction& inst, Type operand, std::span<const Constant> args) {
    if (args.empty()) return std::nullopt;
    const std::uint32_t bits = type_bits(inst.type);
    if (inst.op == Op::Icmp) return Constant{fold_icmp(inst.int_cond(), bits, args[0], args[1]) ? 1u : 0u, 0};
    if (inst.op == Op::Fcmp) {
        return Constant{fold_fcmp(inst.float_cond(), inst.type, args[0].low, args[1].low) ? 1u : 0u, 0};
    }
    if (inst.op == Op::Select) return args[0].low != 0 ? args[1] : args[2];
    if (inst.op >= Op::Trunc && inst.op <= Op::SpaceCast) return fold_conversion(inst, operand, args[0]);
    if (is_float(inst.type) && op_info(inst.op).effect == Effect::Pure) {
        const auto value = fold_float(inst.op, inst.type, args);
        return value ? std::optional(Constant{*value, 0}) : std::nullopt;
    }
    if (!is_int(inst.type)) return std::nullopt;
    IntArgs x;
    x.a = wide(args[0]);
    x.b = args.size() > 1 ? wide(args[1]) : 0;
    x.bits = bits;
    const auto value = fold_int(inst.op, x);
    if (!value) return std::nullopt;
    const bool truth = op_info(inst.op).result == ResultRule::Bool;
    return opt::narrow(cut(*value, truth ? 1 : bits));
}

}  // namespace ockc::opt
