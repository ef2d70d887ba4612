// Float operations and conversions on the emulator against the host's, bit for bit (any NaN equals any NaN,
// but for the operations on the sign bit).
#include <bit>
#include <cmath>
#include <limits>

#include "harness.hpp"

using namespace ockc;
using namespace ockc::test;
using ir::FloatCond;
using ir::Op;
using ir::Type;
using ir::ValueId;

namespace {

template <class F>
struct Bits;
template <>
struct Bits<float> {
    using U = std::uint32_t;
    static constexpr Type type = Type::F32;
};
template <>
struct Bits<double> {
    using U = std::uint64_t;
    static constexpr Type type = Type::F64;
};

template <class F>
std::vector<F> float_samples() {
    using L = std::numeric_limits<F>;
    std::vector<F> out{F(0),
                       F(1),
                       F(2),
                       F(3),
                       F(0.5),
                       F(0.1),
                       F(1.5),
                       F(2.5),
                       F(-2.5),
                       F(0.49999997),
                       F(7),
                       F(100.75),
                       F(1e10),
                       F(1e30),
                       F(1e-30),
                       L::min(),
                       L::denorm_min(),
                       L::min() / 4,
                       L::max(),
                       L::infinity(),
                       L::epsilon(),
                       F(127),
                       F(128),
                       F(255),
                       F(256),
                       F(32767.5),
                       F(65535),
                       F(2147483647),
                       F(2147483648.0),
                       F(4294967296.0),
                       F(9223372036854775808.0),
                       F(18446744073709551616.0),
                       F(1.7014118346046923e38),
                       F(123456789.123)};
    const std::size_t n = out.size();
    for (std::size_t i = 0; i < n; ++i)
        out.push_back(-out[i]);
    out.push_back(L::quiet_NaN());
    return out;
}

template <class F>
U128 bits(F value) {
    return std::bit_cast<typename Bits<F>::U>(value);
}
template <class F>
F value(U128 bits) {
    return std::bit_cast<F>(static_cast<typename Bits<F>::U>(bits));
}
template <class F>
bool same(F a, F b) {
    return bits(a) == bits(b) || (std::isnan(a) && std::isnan(b));
}

template <class F>
void check_arithmetic() {
    constexpr Type T = Bits<F>::type;
    struct Row {
        Op op;
        std::function<F(F, F)> expected;
    };
    const std::vector<Row> binary{
        {Op::Fadd, [](F a, F b) { return a + b; }},
        {Op::Fsub, [](F a, F b) { return a - b; }},
        {Op::Fmul, [](F a, F b) { return a * b; }},
        {Op::Fdiv, [](F a, F b) { return a / b; }},
        {Op::Frem, [](F a, F b) { return std::fmod(a, b); }},
        {Op::Fcopysign, [](F a, F b) { return std::copysign(a, b); }},
        {Op::Fmin,
         [](F a, F b) {
             return std::isnan(a)   ? b
                    : std::isnan(b) ? a
                    : a == b        ? (std::signbit(a) ? a : b)
                    : a < b         ? a
                                    : b;
         }},
        {Op::Fmax,
         [](F a, F b) {
             return std::isnan(a)   ? b
                    : std::isnan(b) ? a
                    : a == b        ? (std::signbit(a) ? b : a)
                    : a > b         ? a
                                    : b;
         }},
    };
    struct Unary {
        Op op;
        std::function<F(F)> expected;
    };
    const std::vector<Unary> unary{
        {Op::Fneg, [](F a) { return -a; }},
        {Op::Fabs, [](F a) { return std::fabs(a); }},
        {Op::Fsqrt, [](F a) { return std::sqrt(a); }},
        {Op::Ffloor, [](F a) { return std::floor(a); }},
        {Op::Fceil, [](F a) { return std::ceil(a); }},
        {Op::Ftrunc, [](F a) { return std::trunc(a); }},
        {Op::Frint, [](F a) { return std::nearbyint(a); }},
    };
    const std::vector<F> values = float_samples<F>();
    std::vector<U128> rows;
    for (const F a : values) {
        for (const F b : values)
            rows.insert(rows.end(), {bits(a), bits(b)});
    }
    const LaneKernel kernel({T, T}, [&](ir::Builder& b, const std::vector<ValueId>& in) {
        std::vector<ValueId> out;
        for (const Row& row : binary)
            out.push_back(b.binary(row.op, T, in[0], in[1]));
        for (const Unary& row : unary)
            out.push_back(b.unary(row.op, T, in[0]));
        out.push_back(b.fma(T, in[0], in[1], in[0]));
        out.push_back(b.binary(Op::Fadd, T, b.unary(Op::Fneg, T, in[0]), b.unary(Op::Fabs, T, in[1])));
        for (int c = 0; c < 14; ++c)
            out.push_back(b.fcmp(static_cast<FloatCond>(c), in[0], in[1]));
        return out;
    });
    const std::vector<U128> got = kernel.run(rows);
    for (std::size_t lane = 0; lane < rows.size() / 2; ++lane) {
        const F a = value<F>(rows[2 * lane]);
        const F b = value<F>(rows[2 * lane + 1]);
        std::size_t at = lane * kernel.result_count();
        const auto check = [&](std::string_view name, F expected) {
            const F result = value<F>(got[at++]);
            if (!same(result, expected))
                FAIL_CHECK(name << "(" << a << ", " << b << ") gave " << result << ", expected " << expected);
        };
        for (const Row& row : binary)
            check(ir::op_info(row.op).text, row.expected(a, b));
        for (const Unary& row : unary)
            check(ir::op_info(row.op).text, row.expected(a));
        check("fma", std::fma(a, b, a));
        check("-a + |b|", -a + std::fabs(b));
        const bool nan = std::isnan(a) || std::isnan(b);
        const bool conditions[] = {a == b,       a != b,        a<b, a <= b, a> b, a >= b,
                                   !nan,         nan,           nan || a == b,     !nan && a != b,
                                   nan || a < b, nan || a <= b, nan || a > b,      nan || a >= b};
        for (int c = 0; c < 14; ++c) {
            const bool result = (got[at++] & 0xFF) != 0;
            if (result != conditions[c]) FAIL_CHECK("condition " << c << " of " << a << ", " << b);
        }
    }
}

// Rust's `as`: toward zero, saturating, NaN to 0.
template <class F>
I128 saturated(F v, I128 low, I128 high) {
    if (std::isnan(v)) return 0;
    if (v <= static_cast<F>(low)) return low;
    if (v >= static_cast<F>(high)) return high;
    return static_cast<I128>(v);
}
template <class F>
U128 saturated_unsigned(F v) {
    if (std::isnan(v) || v <= 0) return 0;
    if (v >= std::ldexp(F(1), 128)) return ~U128{0};
    return static_cast<U128>(v);
}

template <class F>
void check_float_conversions() {
    constexpr Type T = Bits<F>::type;
    const Type ints[] = {Type::I8, Type::I16, Type::I32, Type::I64, Type::I128};
    const std::vector<F> values = float_samples<F>();
    const LaneKernel to_int({T}, [&](ir::Builder& b, const std::vector<ValueId>& in) {
        std::vector<ValueId> out;
        for (const Type t : ints)
            out.push_back(b.convert(Op::Fptosi, t, in[0]));
        for (const Type t : ints)
            out.push_back(b.convert(Op::Fptoui, t, in[0]));
        return out;
    });
    std::vector<U128> rows;
    for (const F v : values)
        rows.push_back(bits(v));
    const std::vector<U128> got = to_int.run(rows);
    for (std::size_t lane = 0; lane < values.size(); ++lane) {
        const F v = values[lane];
        for (std::size_t i = 0; i < 10; ++i) {
            const std::uint32_t width = ir::type_bits(ints[i % 5]);
            const U128 mask = width == 128 ? ~U128{0} : (U128{1} << width) - 1;
            U128 expected = 0;
            if (i < 5) {
                const I128 high = static_cast<I128>(mask >> 1);
                expected = static_cast<U128>(saturated(v, -high - 1, high)) & mask;
            } else {
                const U128 wide = saturated_unsigned(v);
                expected = wide > mask ? mask : wide;
            }
            const U128 result = got[lane * 10 + i] & mask;
            if (result != expected)
                FAIL_CHECK((i < 5 ? "i" : "u")
                           << width << " of " << v << " gave " << static_cast<std::uint64_t>(result));
        }
    }
}

template <class F, class I, class U>
void check_from_int(Type type) {
    std::vector<U128> rows;
    for (int shift = 0; shift < static_cast<int>(sizeof(U) * 8); ++shift) {
        for (const U around : {static_cast<U>(U{1} << shift), static_cast<U>((U{1} << shift) - 1),
                               static_cast<U>((U{3} << shift) + 1), static_cast<U>(~(U{1} << shift)),
                               static_cast<U>((static_cast<U>(0xAAAAAB) << shift) ^ 1)}) {
            rows.push_back(around);
        }
    }
    const LaneKernel kernel({type}, [&](ir::Builder& b, const std::vector<ValueId>& in) {
        return std::vector<ValueId>{b.convert(Op::Sitofp, Bits<F>::type, in[0]),
                                    b.convert(Op::Uitofp, Bits<F>::type, in[0])};
    });
    const std::vector<U128> got = kernel.run(rows);
    for (std::size_t lane = 0; lane < rows.size(); ++lane) {
        const U v = static_cast<U>(rows[lane]);
        if (!same(value<F>(got[2 * lane]), static_cast<F>(static_cast<I>(v))))
            FAIL_CHECK("signed, lane " << lane);
        if (!same(value<F>(got[2 * lane + 1]), static_cast<F>(v))) FAIL_CHECK("unsigned, lane " << lane);
    }
}

// All 65,536 halves through f32 and back: exact both ways.
float half_to_float(std::uint32_t h) {
    const std::uint32_t exponent = h >> 10 & 31;
    const std::uint32_t mantissa = h & 1023;
    const float magnitude =
        exponent == 0    ? std::ldexp(static_cast<float>(mantissa), -24)
        : exponent == 31 ? (mantissa == 0 ? INFINITY : NAN)
                         : std::ldexp(static_cast<float>(mantissa + 1024), static_cast<int>(exponent) - 25);
    return (h >> 15) != 0 ? -magnitude : magnitude;
}

}  // namespace

TEST_CASE_TEMPLATE("float arithmetic", F, float, double) {
    check_arithmetic<F>();
}
TEST_CASE_TEMPLATE("float to integer", F, float, double) {
    check_float_conversions<F>();
}

TEST_CASE("integer to float") {
    check_from_int<float, std::int8_t, std::uint8_t>(Type::I8);
    check_from_int<float, std::int16_t, std::uint16_t>(Type::I16);
    check_from_int<float, std::int32_t, std::uint32_t>(Type::I32);
    check_from_int<float, std::int64_t, std::uint64_t>(Type::I64);
    check_from_int<float, I128, U128>(Type::I128);
    check_from_int<double, std::int8_t, std::uint8_t>(Type::I8);
    check_from_int<double, std::int16_t, std::uint16_t>(Type::I16);
    check_from_int<double, std::int32_t, std::uint32_t>(Type::I32);
    check_from_int<double, std::int64_t, std::uint64_t>(Type::I64);
    check_from_int<double, I128, U128>(Type::I128);
}

TEST_CASE("f32 and f64 convert into each other") {
    const LaneKernel kernel({Type::F32, Type::F64}, [](ir::Builder& b, const std::vector<ValueId>& in) {
        return std::vector<ValueId>{b.convert(Op::Fcvt, Type::F64, in[0]),
                                    b.convert(Op::Fcvt, Type::F32, in[1])};
    });
    std::vector<U128> rows;
    for (const double v : float_samples<double>())
        rows.insert(rows.end(), {bits(static_cast<float>(v)), bits(v * 1.0000001)});
    const std::vector<U128> got = kernel.run(rows);
    for (std::size_t lane = 0; lane < rows.size() / 2; ++lane) {
        CHECK(same(value<double>(got[2 * lane]), static_cast<double>(value<float>(rows[2 * lane]))));
        CHECK(same(value<float>(got[2 * lane + 1]), static_cast<float>(value<double>(rows[2 * lane + 1]))));
    }
}

TEST_CASE("negation and absolute value keep the payload of a NaN where its bits can be seen") {
    const LaneKernel kernel({Type::F32, Type::F64}, [](ir::Builder& b, const std::vector<ValueId>& in) {
        return std::vector<ValueId>{b.unary(Op::Fneg, Type::F32, in[0]), b.unary(Op::Fabs, Type::F32, in[0]),
                                    b.unary(Op::Fneg, Type::F64, in[1]), b.unary(Op::Fabs, Type::F64, in[1])};
    });
    const std::vector<U128> got = kernel.run({0xFFC12345u, 0xFFF8000000054321u});
    CHECK(got[0] == 0x7FC12345u);
    CHECK(got[1] == 0x7FC12345u);
    CHECK(got[2] == 0x7FF8000000054321u);
    CHECK(got[3] == 0x7FF8000000054321u);
}

TEST_CASE("f16 and bf16: exact conversions, and the same results natively and through f32") {
    for (const Type type : {Type::F16, Type::BF16}) {
        const LaneKernel conversions({type}, [&](ir::Builder& b, const std::vector<ValueId>& in) {
            const ValueId wide = b.convert(Op::Fcvt, Type::F32, in[0]);
            return std::vector<ValueId>{wide, b.convert(Op::Fcvt, type, wide), b.unary(Op::Fneg, type, in[0]),
                                        b.convert(Op::Fptosi, Type::I32, in[0])};
        });
        std::vector<U128> rows;
        for (std::uint32_t h = 0; h < 65536; h += 7)
            rows.push_back(h);
        for (const ptx::Target target : {ptx::Target::Sm75, ptx::Target::Sm90}) {
            const std::vector<U128> got = conversions.run(rows, target);
            for (std::size_t lane = 0; lane < rows.size(); ++lane) {
                const auto h = static_cast<std::uint32_t>(rows[lane]);
                const float expected = type == Type::F16 ? half_to_float(h) : std::bit_cast<float>(h << 16);
                const float wide = value<float>(got[4 * lane]);
                if (!same(wide, expected)) FAIL_CHECK("half " << h << " gave " << wide);
                if (!std::isnan(expected) && (got[4 * lane + 1] & 0xFFFF) != h)
                    FAIL_CHECK("half " << h << " does not come back");
                if ((got[4 * lane + 2] & 0xFFFF) != (h ^ 0x8000)) FAIL_CHECK("negation of " << h);
                const auto whole = static_cast<std::int32_t>(saturated(expected, INT32_MIN, INT32_MAX));
                if (static_cast<std::int32_t>(got[4 * lane + 3]) != whole)
                    FAIL_CHECK("integer of half " << h);
            }
        }
        const LaneKernel arithmetic({type, type}, [&](ir::Builder& b, const std::vector<ValueId>& in) {
            std::vector<ValueId> out;
            for (const Op op :
                 {Op::Fadd, Op::Fsub, Op::Fmul, Op::Fdiv, Op::Fmin, Op::Fmax, Op::Frem, Op::Fcopysign})
                out.push_back(b.binary(op, type, in[0], in[1]));
            for (const Op op : {Op::Fsqrt, Op::Ffloor, Op::Frint})
                out.push_back(b.unary(op, type, in[0]));
            for (int c = 0; c < 14; ++c)
                out.push_back(b.fcmp(static_cast<FloatCond>(c), in[0], in[1]));
            return out;
        });
        std::vector<U128> pairs;
        for (std::uint32_t i = 0; i < 4000; ++i)
            pairs.insert(pairs.end(), {i * 0x9E37u & 0xFFFF, (i * 0x85EBu + 0x3C00) & 0xFFFF});
        const std::vector<U128> old = arithmetic.run(pairs, ptx::Target::Sm75);
        const std::vector<U128> native = arithmetic.run(pairs, ptx::Target::Sm90);
        const auto is_nan = [&](U128 h) {
            return type == Type::F16 ? (h & 0x7FFF) > 0x7C00 : (h & 0x7FFF) > 0x7F80;
        };
        for (std::size_t i = 0; i < old.size(); ++i) {
            const U128 a = old[i] & 0xFFFF;
            const U128 b = native[i] & 0xFFFF;
            if (a != b && !(is_nan(a) && is_nan(b)))
                FAIL_CHECK("result " << i % arithmetic.result_count() << " of pair "
                                     << i / arithmetic.result_count());
        }
    }
}

namespace {

// Correct rounding to bf16 by comparing exact neighbours: `exact` orders the true value against a double.
std::uint32_t to_bf16(double magnitude_source) {
    // A double rounds to bf16 directly: 53 bits to 8, ties to even, on the bits.
    const float toward = static_cast<float>(magnitude_source);
    float f = toward;
    // Undo the first rounding where it went away from zero, then keep what was lost as a sticky bit.
    if (std::fabs(static_cast<double>(f)) > std::fabs(magnitude_source)) f = std::nextafter(f, 0.0f);
    std::uint32_t bits = std::bit_cast<std::uint32_t>(f);
    const bool lost = static_cast<double>(f) != magnitude_source;
    const std::uint32_t low = bits & 0xFFFF;
    std::uint32_t upper = bits >> 16;
    if (low > 0x8000 || (low == 0x8000 && (lost || (upper & 1) != 0))) ++upper;
    return upper & 0xFFFF;
}

}  // namespace

TEST_CASE("bf16 from wider values is rounded once") {
    const LaneKernel kernel(
        {Type::F64, Type::I64, Type::I32, Type::I128}, [](ir::Builder& b, const std::vector<ValueId>& in) {
            return std::vector<ValueId>{
                b.convert(Op::Fcvt, Type::BF16, in[0]), b.convert(Op::Sitofp, Type::BF16, in[1]),
                b.convert(Op::Uitofp, Type::BF16, in[2]), b.convert(Op::Sitofp, Type::BF16, in[3])};
        });
    std::vector<U128> rows;
    // Values at, just below and just above the middle between two bf16 values, where a second rounding would
    // go wrong.
    for (int exponent = -20; exponent < 60; exponent += 3) {
        for (const std::int64_t m : {129, 131, 201, 255}) {  // odd ninth bit: ties
            for (const std::int64_t nudge : {-1, 0, 1}) {
                const double d =
                    std::ldexp(static_cast<double>(m), exponent) * (1 + static_cast<double>(nudge) * 0x1p-40);
                const std::int64_t i = (m << (std::abs(exponent) % 50 + 4)) + nudge;
                const std::int32_t w =
                    static_cast<std::int32_t>((m << (std::abs(exponent) % 20 + 3)) + nudge);
                rows.insert(rows.end(),
                            {bits(d), static_cast<std::uint64_t>(-i), static_cast<std::uint32_t>(w),
                             static_cast<U128>(static_cast<I128>(i) << 40) + static_cast<U128>(nudge == 1)});
            }
        }
    }
    for (const ptx::Target target : {ptx::Target::Sm75, ptx::Target::Sm80, ptx::Target::Sm90}) {
        const std::vector<U128> got = kernel.run(rows, target);
        for (std::size_t lane = 0; lane < rows.size() / 4; ++lane) {
            CAPTURE(lane);
            const auto wide = static_cast<std::int64_t>(rows[4 * lane + 1]);
            // 55 bits of i128 at most, but for the nudge far below the ninth: sticky by hand.
            const I128 huge = static_cast<I128>(rows[4 * lane + 3]);
            const bool nudged = (huge & 1) != 0;
            const double huge_double = static_cast<double>(huge - (nudged ? 1 : 0));
            CHECK((got[4 * lane] & 0xFFFF) == to_bf16(value<double>(rows[4 * lane])));
            CHECK((got[4 * lane + 1] & 0xFFFF) == to_bf16(static_cast<double>(wide)));
            CHECK((got[4 * lane + 2] & 0xFFFF) ==
                  to_bf16(static_cast<double>(static_cast<std::uint32_t>(rows[4 * lane + 2]))));
            CHECK((got[4 * lane + 3] & 0xFFFF) ==
                  to_bf16(nudged ? std::nextafter(huge_double, INFINITY) : huge_double));
        }
    }
}

TEST_CASE("a fused multiply-add of bf16 is rounded once, with and without the instruction") {
    const LaneKernel kernel({Type::BF16, Type::BF16, Type::BF16},
                            [](ir::Builder& b, const std::vector<ValueId>& in) {
                                return std::vector<ValueId>{b.fma(Type::BF16, in[0], in[1], in[2])};
                            });
    std::vector<U128> rows;
    for (std::uint32_t i = 0; i < 6000; ++i) {
        // Products near ties with an addend far below them, and anything at all.
        const std::uint32_t a = i % 2 == 0 ? 0x3F80u + i % 128 : i * 0x9E37u & 0xFFFF;
        const std::uint32_t b = i % 2 == 0 ? 0x3F81u + i * 7 % 126 : (i * 0x85EBu + 77) & 0xFFFF;
        const std::uint32_t c =
            i % 2 == 0 ? (0x2000u + i % 64) | (i % 4 == 0 ? 0x8000u : 0) : (i * 0xC2B2u + 1) & 0xFFFF;
        rows.insert(rows.end(), {a, b, c});
    }
    const std::vector<U128> old = kernel.run(rows, ptx::Target::Sm75);
    const std::vector<U128> native = kernel.run(rows, ptx::Target::Sm90);
    for (std::size_t lane = 0; lane < old.size(); ++lane) {
        const U128 a = old[lane] & 0xFFFF;
        const U128 b = native[lane] & 0xFFFF;
        const bool nans = (a & 0x7FFF) > 0x7F80 && (b & 0x7FFF) > 0x7F80;
        if (a != b && !nans)
            FAIL_CHECK("lane " << lane << ": " << static_cast<unsigned>(a) << " and "
                               << static_cast<unsigned>(b));
    }
}
