// Float forms. f32 and f64 are compared with the host's own arithmetic under the same rounding mode; f16 with
// exact integer arithmetic and a search for the nearest value; NaNs and edge cases by hand from the manual.
#include <cfenv>
#include <cmath>
#include <limits>

#include "harness.hpp"

using namespace emu_test;

namespace {

constexpr std::uint64_t kNan32 = 0x7FFF'FFFF;

constexpr double kInf64 = std::numeric_limits<double>::infinity();

struct Mode {
    const char* text;
    int host;
};
constexpr Mode kModes[] = {
    {"rn", FE_TONEAREST}, {"rz", FE_TOWARDZERO}, {"rm", FE_DOWNWARD}, {"rp", FE_UPWARD}};

const std::vector<float> kSamples = {0.0f,        -0.0f,       1.0f,          -1.0f,          0.1f,   -3.7f,
                                     1e30f,       -1e-30f,     3.4028235e38f, 1.1754944e-38f, 1e-45f, -1e-44f,
                                     0.33333334f, 16777217.0f, 1e10f,         -7.25f,         kInf,   -kInf};

// Applies `host` to volatile operands under a rounding mode.
template <class T, class F>
T under(int mode, F host) {
    std::fesetround(mode);
    const volatile T result = host();
    std::fesetround(FE_TONEAREST);
    return result;
}
bool same32(std::uint64_t got, float want) {
    return std::isnan(want) ? got == kNan32 : got == bits(want);
}
bool same64(std::uint64_t got, double want) {
    return std::isnan(want) ? std::isnan(to_double(got)) : got == bits(want);
}

template <class F>
void compare32(const char* name, F host) {
    std::vector<Row> rows;
    for (const float a : kSamples) {
        for (const float b : kSamples)
            rows.push_back({bits(a), bits(b)});
    }
    for (const Mode& mode : kModes) {
        const std::string body = std::string(name) + "." + mode.text + ".f32 %f9, %f1, %f2;";
        CAPTURE(body);
        const auto got = lanes(body, "%f9", rows);
        for (std::size_t i = 0; i < rows.size(); ++i) {
            volatile float a = to_float(rows[i][0]);
            volatile float b = to_float(rows[i][1]);
            const float want = under<float>(mode.host, [&] { return host(a, b); });
            CHECK_MESSAGE(same32(got[i], want), a, " ", b, " gave ", got[i], " not ", bits(want));
        }
    }
}
template <class F>
void compare64(const char* name, F host) {
    std::vector<Row> rows;
    for (const float a : kSamples) {
        for (const float b : kSamples)
            rows.push_back({bits(static_cast<double>(a) * 1.0000000001), bits(static_cast<double>(b) / 3)});
    }
    for (const Mode& mode : kModes) {
        const std::string body = std::string(name) + "." + mode.text + ".f64 %fd9, %fd1, %fd2;";
        CAPTURE(body);
        const auto got = lanes(body, "%fd9", rows);
        for (std::size_t i = 0; i < rows.size(); ++i) {
            volatile double a = to_double(rows[i][0]);
            volatile double b = to_double(rows[i][1]);
            const double want = under<double>(mode.host, [&] { return host(a, b); });
            CHECK_MESSAGE(same64(got[i], want), a, " ", b);
        }
    }
}

// f16, exactly: values are multiples of 2^-24.
double half_value(std::uint16_t h) {
    const int exponent = (h >> 10) & 31;
    const int fraction = h & 1023;
    const double magnitude =
        exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
    return (h & 0x8000) != 0 ? -magnitude : magnitude;
}
__int128 units(double v, int scale) {
    return static_cast<__int128>(std::ldexp(v, scale));
}

// The f16 nearest to n * 2^-48, ties to even, found by looking at all of them.
std::uint16_t nearest_half(__int128 n) {
    const bool negative = n < 0;
    if (negative) n = -n;
    std::uint16_t best = 0;
    __int128 best_distance = n;
    for (std::uint32_t h = 1; h <= 0x7C00; ++h) {
        const __int128 value =
            h == 0x7C00 ? units(65536, 48) : units(half_value(static_cast<std::uint16_t>(h)), 48);
        const __int128 distance = value > n ? value - n : n - value;
        if (distance < best_distance || (distance == best_distance && (h & 1) == 0)) {
            best = static_cast<std::uint16_t>(h);
            best_distance = distance;
        }
    }
    return static_cast<std::uint16_t>(best | (negative ? 0x8000 : 0));
}
const std::vector<std::uint16_t> kHalves = {0x3C00, 0xBC00, 0x0001, 0x83FF, 0x0400, 0x7BFF,
                                            0xFBFF, 0x3555, 0x4248, 0x2E66, 0xC900, 0x1001};

}  // namespace

TEST_CASE("f32 sums, products and quotients in every rounding mode") {
    compare32("add", [](float a, float b) { return a + b; });
    compare32("sub", [](float a, float b) { return a - b; });
    compare32("mul", [](float a, float b) { return a * b; });
    compare32("div", [](float a, float b) { return a / b; });
}

TEST_CASE("f64 sums, products and quotients in every rounding mode") {
    compare64("add", [](double a, double b) { return a + b; });
    compare64("sub", [](double a, double b) { return a - b; });
    compare64("mul", [](double a, double b) { return a * b; });
    compare64("div", [](double a, double b) { return a / b; });
}

TEST_CASE("fma rounds once") {
    std::vector<Row> rows;
    for (const float a : kSamples) {
        for (const float b : kSamples)
            rows.push_back({bits(a), bits(b), bits(a * 0.7f)});
    }
    for (const Mode& mode : kModes) {
        const auto got = lanes(std::string("fma.") + mode.text + ".f32 %f9, %f1, %f2, %f3;", "%f9", rows);
        for (std::size_t i = 0; i < rows.size(); ++i) {
            volatile float a = to_float(rows[i][0]);
            volatile float b = to_float(rows[i][1]);
            volatile float c = to_float(rows[i][2]);
            CHECK(same32(got[i], under<float>(mode.host, [&] { return std::fma(a, b, c); })));
        }
    }
    // (1 + 2^-12)^2 - (1 + 2^-11) = 2^-24: lost if the product were rounded first.
    CHECK(lane("fma.rn.f32 %f9, %f1, %f1, %f2;", "%f9", {bits(1.000244140625f), bits(-1.00048828125f)}) ==
          bits(5.9604645e-8f));
    CHECK(lane("fma.rn.f64 %fd9, %fd1, %fd1, %fd2;", "%fd9", {bits(1 + 0x1p-30), bits(-(1 + 0x1p-29))}) ==
          bits(0x1p-60));
    CHECK(lane("fma.rz.f64 %fd9, %fd1, %fd2, %fd3;", "%fd9", {bits(1.0), bits(1.0), bits(0x1p-60)}) ==
          bits(1.0));
    CHECK(lane("fma.rp.f64 %fd9, %fd1, %fd2, %fd3;", "%fd9", {bits(1.0), bits(1.0), bits(0x1p-60)}) ==
          bits(1 + 0x1p-52));
}

TEST_CASE("roots and reciprocals") {
    for (const Mode& mode : kModes) {
        for (const float v : {2.0f, 3.0f, 0.1f, 1e-40f, 7.5e37f}) {
            volatile float a = v;
            CHECK(lane(std::string("sqrt.") + mode.text + ".f32 %f9, %f1;", "%f9", {bits(v)}) ==
                  bits(under<float>(mode.host, [&] { return std::sqrt(a); })));
            CHECK(lane(std::string("rcp.") + mode.text + ".f32 %f9, %f1;", "%f9", {bits(v)}) ==
                  bits(under<float>(mode.host, [&] { return 1.0f / a; })));
            volatile double d = v * 1.1;
            CHECK(lane(std::string("sqrt.") + mode.text + ".f64 %fd9, %fd1;", "%fd9", {bits(v * 1.1)}) ==
                  bits(under<double>(mode.host, [&] { return std::sqrt(d); })));
            CHECK(lane(std::string("rcp.") + mode.text + ".f64 %fd9, %fd1;", "%fd9", {bits(v * 1.1)}) ==
                  bits(under<double>(mode.host, [&] { return 1.0 / d; })));
        }
    }
    CHECK(lane("sqrt.rn.f32 %f9, %f1;", "%f9", {bits(-1.0f)}) == kNan32);
    CHECK(lane("sqrt.rn.f32 %f9, %f1;", "%f9", {bits(-0.0f)}) == bits(-0.0f));
    CHECK(lane("sqrt.rn.f64 %fd9, %fd1;", "%fd9", {bits(-1.0)}) == 0xFFF8'0000'0000'0000);  // as ptxas has it
    CHECK(lane("rcp.rn.f32 %f9, %f1;", "%f9", {bits(-0.0f)}) == bits(-kInf));
}

TEST_CASE("subnormals stay, or go with .ftz; .sat clamps") {
    CHECK(lane("add.rn.f32 %f9, %f1, %f2;", "%f9", {1, 1}) == 2);
    CHECK(lane("add.rn.ftz.f32 %f9, %f1, %f2;", "%f9", {0x0070'0000, 0x0070'0000}) == 0);
    CHECK(lane("add.rn.ftz.f32 %f9, %f1, %f2;", "%f9", {0x8000'0001, 0x8000'0001}) == 0x8000'0000);
    CHECK(lane("mul.rn.ftz.f32 %f9, %f1, %f2;", "%f9", {bits(1e-20f), bits(-1e-20f)}) == 0x8000'0000);
    CHECK(lane("mul.rz.ftz.f32 %f9, %f1, %f2;", "%f9", {bits(1e-20f), bits(1e-20f)}) == 0);
    CHECK(lane("add.rn.sat.f32 %f9, %f1, %f2;", "%f9", {bits(0.75f), bits(0.5f)}) == bits(1.0f));
    CHECK(lane("sub.rn.sat.f32 %f9, %f1, %f2;", "%f9", {bits(0.5f), bits(0.75f)}) == bits(0.0f));
    CHECK(lane("mul.rn.sat.f32 %f9, %f1, %f2;", "%f9", {kNan32, bits(1.0f)}) == bits(0.0f));
    CHECK(lane("fma.rn.sat.f32 %f9, %f1, %f2, %f3;", "%f9", {bits(0.5f), bits(0.5f), bits(0.125f)}) ==
          bits(0.375f));
    CHECK(lane("div.rn.ftz.f32 %f9, %f1, %f2;", "%f9", {0x0040'0000, bits(1.0f)}) == 0);
}

TEST_CASE("NaN results") {
    CHECK(lane("add.rn.f32 %f9, %f1, %f2;", "%f9", {0xFFC0'0123, bits(1.0f)}) == kNan32);
    CHECK(lane("add.rn.f32 %f9, %f1, %f2;", "%f9", {bits(kInf), bits(-kInf)}) == kNan32);
    CHECK(lane("mul.rn.f32 %f9, %f1, %f2;", "%f9", {bits(kInf), 0}) == kNan32);
    CHECK(lane("add.rn.f64 %fd9, %fd1, %fd2;", "%fd9", {bits(kInf64), bits(-kInf64)}) ==
          0xFFF8'0000'0000'0000);
    CHECK(lane("add.rn.f64 %fd9, %fd1, %fd2;", "%fd9", {0x7FF0'0000'0000'0123, bits(1.0)}) ==
          0x7FF8'0000'0000'0123);
    CHECK(lane("mul.rn.f64 %fd9, %fd1, %fd2;", "%fd9", {bits(1.0), 0xFFF8'0000'0000'0456}) ==
          0xFFF8'0000'0000'0456);
}

TEST_CASE("sign operations and order") {
    CHECK(lane("abs.f32 %f9, %f1;", "%f9", {bits(-1.5f)}) == bits(1.5f));
    CHECK(lane("abs.ftz.f32 %f9, %f1;", "%f9", {0x8000'0001}) == 0);
    CHECK(lane("abs.f64 %fd9, %fd1;", "%fd9", {bits(-0.0)}) == 0);
    CHECK(lane("neg.f32 %f9, %f1;", "%f9", {bits(0.0f)}) == bits(-0.0f));
    CHECK(lane("neg.f64 %fd9, %fd1;", "%fd9", {bits(2.5)}) == bits(-2.5));
    CHECK(lane("min.f32 %f9, %f1, %f2;", "%f9", {bits(0.0f), bits(-0.0f)}) == bits(-0.0f));
    CHECK(lane("max.f32 %f9, %f1, %f2;", "%f9", {bits(-0.0f), bits(0.0f)}) == bits(0.0f));
    CHECK(lane("min.f32 %f9, %f1, %f2;", "%f9", {kNan32, bits(3.0f)}) == bits(3.0f));
    CHECK(lane("max.f32 %f9, %f1, %f2;", "%f9", {bits(3.0f), 0xFFC0'0001}) == bits(3.0f));
    CHECK(lane("max.f32 %f9, %f1, %f2;", "%f9", {0x7FC0'0001, 0xFFC0'0001}) == kNan32);
    CHECK(lane("min.NaN.f32 %f9, %f1, %f2;", "%f9", {0xFFC0'0001, bits(3.0f)}) == kNan32);
    CHECK(lane("min.ftz.f32 %f9, %f1, %f2;", "%f9", {1, bits(3.0f)}) == 0);
    CHECK(lane("max.f64 %fd9, %fd1, %fd2;", "%fd9", {bits(-1.0), bits(2.0)}) == bits(2.0));
    CHECK(lane("min.f64 %fd9, %fd1, %fd2;", "%fd9", {0x7FF8'0000'0000'0000, bits(2.0)}) == bits(2.0));
    CHECK(lane("copysign.f32 %f9, %f1, %f2;", "%f9", {bits(-1.0f), bits(7.0f)}) == bits(-7.0f));
    CHECK(lane("copysign.f64 %fd9, %fd1, %fd2;", "%fd9", {bits(1.0), bits(-7.0)}) == bits(7.0));
}

TEST_CASE("classes of floats") {
    const auto is = [](const char* what, float v) {
        return lane(std::string("testp.") + what + ".f32 %p9, %f1;", "%p9", {bits(v)}) == 1;
    };
    CHECK(is("finite", 1.0f));
    CHECK_FALSE(is("finite", kInf));
    CHECK(is("infinite", -kInf));
    CHECK(is("number", kInf));
    CHECK(is("notanumber", NAN));
    CHECK_FALSE(is("number", NAN));
    CHECK(is("normal", 0.0f));  // zero counts as normal
    CHECK_FALSE(is("normal", 1e-40f));
    CHECK(is("subnormal", 1e-40f));
    CHECK(lane("testp.subnormal.f64 %p9, %fd1;", "%p9", {1}) == 1);
    CHECK(lane("testp.normal.f64 %p9, %fd1;", "%p9", {bits(1.0)}) == 1);
}

TEST_CASE("float comparison, ordered and not") {
    struct Case {
        const char* cmp;
        bool less, equal, greater, unordered;
    };
    constexpr Case kCases[] = {
        {"eq", false, true, false, false}, {"ne", true, false, true, false},
        {"lt", true, false, false, false}, {"le", true, true, false, false},
        {"gt", false, false, true, false}, {"ge", false, true, true, false},
        {"equ", false, true, false, true}, {"neu", true, false, true, true},
        {"ltu", true, false, false, true}, {"leu", true, true, false, true},
        {"gtu", false, false, true, true}, {"geu", false, true, true, true},
        {"num", true, true, true, false},  {"nan", false, false, false, true},
    };
    for (const Case& c : kCases) {
        CAPTURE(c.cmp);
        const auto got = lanes(std::string("setp.") + c.cmp + ".f32 %p9, %f1, %f2;", "%p9",
                               {{bits(1.0f), bits(2.0f)},
                                {bits(0.0f), bits(-0.0f)},
                                {bits(2.0f), bits(-1.0f)},
                                {kNan32, bits(1.0f)}});
        CHECK(got == std::vector<std::uint64_t>{c.less, c.equal, c.greater, c.unordered});
        const auto got64 = lanes(
            std::string("setp.") + c.cmp + ".f64 %p9, %fd1, %fd2;", "%p9",
            {{bits(1.0), bits(2.0)}, {bits(3.0), bits(3.0)}, {bits(2.0), bits(-1.0)}, {bits(1.0), ~0ull}});
        CHECK(got64 == got);
        const auto got16 = lanes(std::string("setp.") + c.cmp + ".f16 %p9, %rs1, %rs2;", "%p9",
                                 {{0x3C00, 0x4000}, {0x0000, 0x8000}, {0x4000, 0xBC00}, {0x7E00, 0x3C00}});
        CHECK(got16 == got);
    }
    CHECK(lane("setp.eq.ftz.f32 %p9, %f1, %f2;", "%p9", {1, 0}) == 1);
    CHECK(lane("setp.lt.bf16 %p9, %rs1, %rs2;", "%p9", {0x3F80, 0x4000}) == 1);
}

TEST_CASE("f16 arithmetic is exact arithmetic rounded once") {
    std::vector<Row> rows;
    for (const std::uint16_t a : kHalves) {
        for (const std::uint16_t b : kHalves)
            rows.push_back({a, b, static_cast<std::uint64_t>(b ^ 0x8101)});
    }
    const auto sums = lanes("add.rn.f16 %rs9, %rs1, %rs2;", "%rs9", rows);
    const auto differences = lanes("sub.rn.f16 %rs9, %rs1, %rs2;", "%rs9", rows);
    const auto products = lanes("mul.rn.f16 %rs9, %rs1, %rs2;", "%rs9", rows);
    const auto fused = lanes("fma.rn.f16 %rs9, %rs1, %rs2, %rs3;", "%rs9", rows);
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const double a = half_value(static_cast<std::uint16_t>(rows[i][0]));
        const double b = half_value(static_cast<std::uint16_t>(rows[i][1]));
        const double c = half_value(static_cast<std::uint16_t>(rows[i][2]));
        CAPTURE(a);
        CAPTURE(b);
        const __int128 product = units(a, 24) * units(b, 24);
        if (a + b != 0) CHECK(sums[i] == nearest_half(units(a, 48) + units(b, 48)));
        if (a - b != 0) CHECK(differences[i] == nearest_half(units(a, 48) - units(b, 48)));
        if (nearest_half(product) != 0) CHECK(products[i] == nearest_half(product));
        if (product + units(c, 48) != 0) CHECK(fused[i] == nearest_half(product + units(c, 48)));
    }
    CHECK(lane("add.rn.f16 %rs9, %rs1, %rs2;", "%rs9", {0x7C00, 0xFC00}) == 0x7FFF);
    CHECK(lane("add.rn.ftz.f16 %rs9, %rs1, %rs2;", "%rs9", {1, 1}) == 0);
    CHECK(lane("add.rn.sat.f16 %rs9, %rs1, %rs2;", "%rs9", {0x3C00, 0x3C00}) == 0x3C00);
    CHECK(lane("abs.f16 %rs9, %rs1;", "%rs9", {0xBC00}) == 0x3C00);
    CHECK(lane("neg.f16 %rs9, %rs1;", "%rs9", {0x3C00}) == 0xBC00);
    CHECK(lane("min.f16 %rs9, %rs1, %rs2;", "%rs9", {0x7E00, 0x3C00}) == 0x3C00);
    CHECK(lane("max.NaN.f16 %rs9, %rs1, %rs2;", "%rs9", {0x7E00, 0x3C00}) == 0x7FFF);
}

TEST_CASE("bf16 arithmetic") {
    CHECK(lane("add.rn.bf16 %rs9, %rs1, %rs2;", "%rs9", {0x3F80, 0x3F80}) == 0x4000);  // 1 + 1
    CHECK(lane("add.rn.bf16 %rs9, %rs1, %rs2;", "%rs9", {0x4380, 0x3F80}) ==
          0x4380);  // 256 + 1: a tie, to even
    CHECK(lane("add.rn.bf16 %rs9, %rs1, %rs2;", "%rs9", {0x4382, 0x3F80}) ==
          0x4382);  // 260 + 1 = 261: below half way to 262
    CHECK(lane("sub.rn.bf16 %rs9, %rs1, %rs2;", "%rs9", {0x3F80, 0x4000}) == 0xBF80);
    CHECK(lane("mul.rn.bf16 %rs9, %rs1, %rs2;", "%rs9", {0x3FC0, 0x3FC0}) == 0x4010);  // 1.5 * 1.5 = 2.25
    CHECK(lane("fma.rn.bf16 %rs9, %rs1, %rs2, %rs3;", "%rs9", {0x3F81, 0x3F81, 0xBF82}) ==
          0x3880);  // (1+2^-7)^2 - (1+2^-6) = 2^-14
    CHECK(lane("neg.bf16 %rs9, %rs1;", "%rs9", {0x3F80}) == 0xBF80);
    CHECK(lane("min.bf16 %rs9, %rs1, %rs2;", "%rs9", {0x3F80, 0x4000}) == 0x3F80);
    CHECK(lane("add.rn.f16x2 %r9, %r1, %r2;", "%r9", {0x4000'3C00, 0x3C00'3C00}) == 0x4200'4000);
    CHECK(lane("fma.rn.f16x2 %r9, %r1, %r2, %r3;", "%r9", {0x4000'3C00, 0x4000'4000, 0x3C00'0000}) ==
          0x4500'4000);
    CHECK(lane("mul.rn.bf16x2 %r9, %r1, %r2;", "%r9", {0x3FC0'3F80, 0x3FC0'4000}) == 0x4010'4000);
    CHECK(lane("max.f16x2 %r9, %r1, %r2;", "%r9", {0x3C00'4000, 0x4000'3C00}) == 0x4000'4000);
    CHECK(lane("abs.bf16x2 %r9, %r1;", "%r9", {0xBF80'3F80}) == 0x3F80'3F80);
    CHECK(lane("fma.rn.relu.f16x2 %r9, %r1, %r2, %r3;", "%r9", {0x4000'3C00, 0x4000'4000, 0xC600'0000}) == 0x0000'4000);
    CHECK(lane("fma.rn.relu.bf16 %rs9, %rs1, %rs2, %rs3;", "%rs9", {0x3F80, 0xBF80, 0}) == 0);
    CHECK(lane("min.xorsign.abs.f16x2 %r9, %r1, %r2;", "%r9", {0xC000'3C00, 0x3C00'BC00}) == 0xBC00'BC00);
    CHECK(lane("max.xorsign.abs.bf16 %rs9, %rs1, %rs2;", "%rs9", {0xC000, 0xBF80}) == 0x4000);
    CHECK(lane("max.NaN.xorsign.abs.f32 %f9, %f1, %f2;", "%f9", {0x7FC0'0000, bits(1.0f)}) == kNan32);
    CHECK(lane("ex2.approx.f16x2 %r9, %r1;", "%r9", {0x4000'0000}) == 0x4400'3C00);
    CHECK(lane("ex2.approx.ftz.bf16 %rs9, %rs1;", "%rs9", {0xBF80}) == 0x3F00);
    CHECK(lane("tanh.approx.f16 %rs9, %rs1;", "%rs9", {0x7C00}) == 0x3C00);
    CHECK(lane("tanh.approx.bf16x2 %r9, %r1;", "%r9", {0x0000'FF80}) == 0x0000'BF80);
}

TEST_CASE("approximate functions stay within their bounds") {
    struct Function {
        const char* text;
        double (*exact)(double);
        double relative;
    };
    const Function functions[] = {
        {"rcp.approx", [](double a) { return 1 / a; }, 0x1p-23},
        {"sqrt.approx", [](double a) { return std::sqrt(a); }, 0x1p-23},
        {"rsqrt.approx", [](double a) { return 1 / std::sqrt(a); }, 0x1p-22},
        {"ex2.approx", [](double a) { return std::exp2(a); }, 0x1p-22},
        {"lg2.approx", [](double a) { return std::log2(a); }, 0x1p-21},
        {"sin.approx", [](double a) { return std::sin(a); }, 0x1p-20},
        {"cos.approx", [](double a) { return std::cos(a); }, 0x1p-20},
        {"tanh.approx", [](double a) { return std::tanh(a); }, 0x1p-11},
    };
    for (const Function& function : functions) {
        CAPTURE(function.text);
        for (const float v : {0.5f, 1.0f, 2.75f, 0.015625f, 3.0f}) {
            const double got =
                to_float(lane(std::string(function.text) + ".f32 %f9, %f1;", "%f9", {bits(v)}));
            CHECK(std::fabs(got - function.exact(v)) <=
                  function.relative * std::fmax(1e-3, std::fabs(function.exact(v))));
        }
    }
    CHECK(lane("rcp.approx.f32 %f9, %f1;", "%f9", {bits(0.0f)}) == bits(kInf));
    CHECK(lane("rcp.approx.ftz.f32 %f9, %f1;", "%f9", {0x8000'0001}) == bits(-kInf));
    CHECK(lane("lg2.approx.f32 %f9, %f1;", "%f9", {bits(0.0f)}) == bits(-kInf));
    CHECK(lane("ex2.approx.f32 %f9, %f1;", "%f9", {bits(-kInf)}) == 0);
    CHECK(lane("rsqrt.approx.f64 %fd9, %fd1;", "%fd9", {bits(4.0)}) == bits(0.5));
    CHECK(lane("div.full.f32 %f9, %f1, %f2;", "%f9", {bits(7.0f), bits(2.0f)}) == bits(3.5f));
    CHECK(lane("div.approx.f32 %f9, %f1, %f2;", "%f9", {bits(7.0f), bits(2.0f)}) == bits(3.5f));
    CHECK(lane("div.approx.f32 %f9, %f1, %f2;", "%f9", {bits(1.0f), bits(2e38f)}) ==
          0);  // divisor above 2^126
    CHECK(lane("div.approx.f32 %f9, %f1, %f2;", "%f9", {bits(kInf), bits(2e38f)}) == kNan32);
}
