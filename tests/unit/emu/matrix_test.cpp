// Matrices in registers. Where an element stands is written here as the manual's figures have it, case by case; the sums
// are of small integers, exact in every order.
#include <algorithm>
#include <cmath>
#include <functional>
#include <tuple>

#include "harness.hpp"

using namespace emu_test;

namespace {

std::uint32_t half_of(int value) {   // exact for |value| < 2048
    if (value == 0) return 0;
    const int size = value < 0 ? -value : value;
    const int exponent = 31 - __builtin_clz(static_cast<unsigned>(size));
    const unsigned fraction = (static_cast<unsigned>(size) << (10 - exponent)) & 0x3FF;
    return (value < 0 ? 0x8000u : 0) | static_cast<unsigned>(exponent + 15) << 10 | fraction;
}
std::uint32_t brain_of(int value) { return static_cast<std::uint32_t>(bits(static_cast<float>(value))) >> 16; }
std::uint32_t single_of(int value) { return static_cast<std::uint32_t>(bits(static_cast<float>(value))); }
std::uint32_t byte_of(int value) { return static_cast<std::uint8_t>(value); }
std::uint32_t e5m2_of(int value) { return half_of(value) >> 8; }          // for values with 3 significant bits
std::uint32_t e4m3_of(int value) {                                          // the same
    if (value == 0) return 0;
    return (half_of(value) >> 8 & 0x80) | (((half_of(value) >> 10 & 31) - 15 + 7) << 3 | (half_of(value) >> 7 & 7));
}

struct Place {
    int row, column;
};
using Figure = std::function<Place(int lane, int i)>;   // i counts the lane's elements, lowest bits first

struct MmaCase {
    const char* words;
    int elements;   // in a register
    int a, b, c;    // registers
    int depth;
    Figure a_at, b_at;
    std::uint32_t (*encode)(int);
    std::uint32_t (*encode_sum)(int);
    bool half_sums = false;
    int range = 3;
};

Place k16_a(int lane, int i) {
    const bool low = (i >= 0 && i < 2) || (i >= 4 && i < 6);
    return {low ? lane / 4 : lane / 4 + 8, lane % 4 * 2 + (i & 1) + (i >= 4 ? 8 : 0)};
}
Place k16_b(int lane, int i) { return {lane % 4 * 2 + (i & 1) + (i >= 2 ? 8 : 0), lane / 4}; }
Place k8_a(int lane, int i) { return {i < 2 ? lane / 4 : lane / 4 + 8, lane % 4 * 2 + (i & 1)}; }
Place k8_b(int lane, int i) { return {lane % 4 * 2 + i, lane / 4}; }
Place tf32_a(int lane, int i) { return {i == 0 || i == 2 ? lane / 4 : lane / 4 + 8, i < 2 ? lane % 4 : lane % 4 + 4}; }
Place tf32_b(int lane, int i) { return {i == 0 ? lane % 4 : lane % 4 + 4, lane / 4}; }
Place k32_a(int lane, int i) {
    const bool low = (i >= 0 && i < 4) || (i >= 8 && i < 12);
    return {low ? lane / 4 : lane / 4 + 8, lane % 4 * 4 + (i & 3) + (i >= 8 ? 16 : 0)};
}
Place k32_b(int lane, int i) { return {lane % 4 * 4 + (i & 3) + (i >= 4 ? 16 : 0), lane / 4}; }
Place c_at(int lane, int i) { return {i < 2 ? lane / 4 : lane / 4 + 8, lane % 4 * 2 + (i & 1)}; }

int a_value(int row, int k, int range) { return (row * 7 + k * 3) % (2 * range + 1) - range; }
int b_value(int k, int column, int range) { return (k * 5 + column * 2 + 1) % (2 * range + 1) - range; }
int c_value(int row, int column) { return row * 8 - column; }

std::string brace_list(const char* prefix, int first, int count) {
    std::string out = "{";
    for (int i = 0; i < count; ++i) out += (i == 0 ? "" : ", ") + std::string(prefix) + std::to_string(first + i);
    return out + "}";
}

// Each lane's registers of A, B and C, sixteen words.
std::vector<std::uint32_t> mma_inputs(const MmaCase& test) {
    std::vector<std::uint32_t> words(32 * 16);
    const int shift = 32 / test.elements;
    for (int lane = 0; lane < 32; ++lane) {
        std::uint32_t* mine = &words[static_cast<std::size_t>(lane) * 16];
        for (int i = 0; i < test.a * test.elements; ++i) {
            const Place at = test.a_at(lane, i);
            mine[i / test.elements] |= test.encode(a_value(at.row, at.column, test.range)) << shift * (i % test.elements);
        }
        for (int i = 0; i < test.b * test.elements; ++i) {
            const Place at = test.b_at(lane, i);
            mine[test.a + i / test.elements] |= test.encode(b_value(at.row, at.column, test.range)) << shift * (i % test.elements);
        }
        for (int i = 0; i < (test.half_sums ? 4 : test.c); ++i) {
            const Place at = c_at(lane, i);
            const std::uint32_t sum = test.encode_sum(c_value(at.row, at.column));
            if (test.half_sums) mine[test.a + test.b + i / 2] |= sum << 16 * (i % 2);
            else mine[test.a + test.b + i] = sum;
        }
    }
    return words;
}

std::string mma_body(const MmaCase& test) {
    std::string body = "mad.wide.u32 %rd30, %r30, 64, %rd30;\n";
    for (int i = 0; i < test.a + test.b + test.c; ++i) {
        body += "ld.global.u32 %r" + std::to_string(1 + i) + ", [%rd30+" + std::to_string(4 * i) + "];\n";
    }
    body += std::string("mma.sync.aligned.") + test.words + " " + brace_list("%r", 20, test.c) + ", " + brace_list("%r", 1, test.a) + ", " +
            brace_list("%r", 1 + test.a, test.b) + ", " + brace_list("%r", 1 + test.a + test.b, test.c) + ";\n";
    body += "mad.wide.u32 %rd31, %r30, 8, %rd31;\n";   // 16 bytes a lane
    for (int i = 0; i < test.c; ++i) body += "st.global.u32 [%rd31+" + std::to_string(4 * i) + "], %r" + std::to_string(20 + i) + ";\n";
    return body + "ret;\n";
}

void check_mma(const MmaCase& test) {
    CAPTURE(test.words);
    Machine machine;
    machine.load(kernel(mma_body(test)));
    const DeviceAddress in = machine.upload(mma_inputs(test));
    const DeviceAddress out = machine.allocate(32 * 16);
    machine.run("k", {{1, 1, 1}, {32, 1, 1}}, {in, out});
    const auto got = machine.download<std::uint32_t>(out, 128);
    for (int lane = 0; lane < 32; ++lane) {
        for (int i = 0; i < (test.half_sums ? 4 : test.c); ++i) {   // with 8 rows a lane has two
            const Place at = c_at(lane, i);
            int sum = c_value(at.row, at.column);
            for (int k = 0; k < test.depth; ++k) sum += a_value(at.row, k, test.range) * b_value(k, at.column, test.range);
            const std::uint32_t* mine = &got[static_cast<std::size_t>(lane) * 4];
            const std::uint32_t have = test.half_sums ? mine[i / 2] >> 16 * (i % 2) & 0xFFFF : mine[i];
            CAPTURE(lane);
            CAPTURE(i);
            CHECK(have == test.encode_sum(sum));
        }
    }
}

}  // namespace

TEST_CASE("mma: every shape and type") {
    const auto whole = [](int value) { return static_cast<std::uint32_t>(value); };
    check_mma({"m16n8k8.row.col.f32.f16.f16.f32", 2, 2, 1, 4, 8, k8_a, k8_b, half_of, single_of});
    check_mma({"m16n8k8.row.col.f16.f16.f16.f16", 2, 2, 1, 2, 8, k8_a, k8_b, half_of, half_of, true});
    check_mma({"m16n8k8.row.col.f32.bf16.bf16.f32", 2, 2, 1, 4, 8, k8_a, k8_b, brain_of, single_of});
    check_mma({"m16n8k8.row.col.f32.tf32.tf32.f32", 1, 4, 2, 4, 8, tf32_a, tf32_b, single_of, single_of});
    check_mma({"m16n8k16.row.col.f32.f16.f16.f32", 2, 4, 2, 4, 16, k16_a, k16_b, half_of, single_of});
    check_mma({"m16n8k16.row.col.f16.f16.f16.f16", 2, 4, 2, 2, 16, k16_a, k16_b, half_of, half_of, true});
    check_mma({"m16n8k16.row.col.f32.bf16.bf16.f32", 2, 4, 2, 4, 16, k16_a, k16_b, brain_of, single_of});
    check_mma({"m16n8k32.row.col.s32.s8.s8.s32", 4, 4, 2, 4, 32, k32_a, k32_b, byte_of, whole});
    check_mma({"m16n8k32.row.col.f32.e4m3.e4m3.f32", 4, 4, 2, 4, 32, k32_a, k32_b, e4m3_of, single_of});
    check_mma({"m16n8k32.row.col.f32.e5m2.e5m2.f32", 4, 4, 2, 4, 32, k32_a, k32_b, e5m2_of, single_of});
}

namespace {

// The manual's figures for the integers of 4 bits and the bits, and for the smaller shapes: e elements side by side in a register.
Figure narrow_a(int e) {
    return [e](int lane, int i) { return Place{lane / 4 + i / e % 2 * 8, lane % 4 * e + i % e + i / (2 * e) * 4 * e}; };
}
Figure eight_rows_a(int e) {
    return [e](int lane, int i) { return Place{lane / 4, lane % 4 * e + i % e}; };
}
Figure narrow_b(int e) {
    return [e](int lane, int i) { return Place{lane % 4 * e + i % e + i / e * 4 * e, lane / 4}; };
}
std::uint32_t nibble_of(int value) { return static_cast<std::uint32_t>(value) & 15; }
std::uint32_t whole_of(int value) { return static_cast<std::uint32_t>(value); }

}  // namespace

TEST_CASE("mma of integers: shapes, signs, clamped sums") {
    const auto check = [](const char* words, int e, int a, int b, int c, int depth, auto encode, int range) {
        MmaCase test{words, e, a, b, c, depth, a == 1 ? eight_rows_a(e) : narrow_a(e), narrow_b(e), encode, whole_of};
        test.range = range;
        check_mma(test);
    };
    check("m8n8k16.row.col.s32.s8.s8.s32", 4, 1, 1, 2, 16, byte_of, 9);
    check("m16n8k16.row.col.s32.s8.s8.s32", 4, 2, 1, 4, 16, byte_of, 9);
    check("m16n8k32.row.col.satfinite.s32.s8.s8.s32", 4, 4, 2, 4, 32, byte_of, 9);
    check("m8n8k32.row.col.s32.s4.s4.s32", 8, 1, 1, 2, 32, nibble_of, 7);
    check("m16n8k32.row.col.s32.s4.s4.s32", 8, 2, 1, 4, 32, nibble_of, 7);
    check("m16n8k64.row.col.s32.s4.s4.s32", 8, 4, 2, 4, 64, nibble_of, 7);
}

TEST_CASE("mma of 8-bit floats of two kinds, in the shorter shape, with sums in f16; of tf32 in the shortest") {
    const auto check = [](const char* words, int e, int a, int b, int depth, auto encode, auto encode_sum, bool half_sums) {
        check_mma({words, e, a, b, half_sums ? 2 : 4, depth, narrow_a(e), narrow_b(e), encode, encode_sum, half_sums});
    };
    check("m16n8k16.row.col.f32.e4m3.e4m3.f32", 4, 2, 1, 16, e4m3_of, single_of, false);
    check("m16n8k16.row.col.f16.e5m2.e5m2.f16", 4, 2, 1, 16, e5m2_of, half_of, true);
    check("m16n8k32.row.col.f16.e4m3.e4m3.f16", 4, 4, 2, 32, e4m3_of, half_of, true);
    check("m16n8k4.row.col.f32.tf32.tf32.f32", 1, 2, 1, 4, single_of, single_of, false);
}

namespace {

// Values of bit patterns, for sums of any numbers.
double half_value(std::uint32_t bits) {
    const int exponent = static_cast<int>(bits >> 10 & 31);
    const double size = exponent == 0 ? std::ldexp(bits & 1023, -24) : std::ldexp(1024 + (bits & 1023), exponent - 25);
    return (bits & 0x8000) != 0 ? -size : size;
}
double brain_value(std::uint32_t bits) { return to_float(bits << 16); }
double tf32_value(std::uint32_t bits) { return to_float(bits & 0xFFFFE000u); }
double e5m2_value(std::uint32_t bits) { return half_value(bits << 8); }
double e4m3_value(std::uint32_t bits) {
    const int exponent = static_cast<int>(bits >> 3 & 15);
    const double size = exponent == 0 ? std::ldexp(bits & 7, -9) : std::ldexp(8 + (bits & 7), exponent - 10);
    return (bits & 0x80) != 0 ? -size : size;
}
std::uint32_t next_random(std::uint64_t& state) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return static_cast<std::uint32_t>(state >> 32);
}

// A product of random numbers with exponents around 1; how far the worst sum is off, in parts of |c| + sum of |a b|.
double worst_error(const MmaCase& test, double (*value)(std::uint32_t), std::uint32_t keep, std::uint32_t set) {
    std::uint64_t state = 7;
    std::vector<std::uint32_t> words(32 * 16);
    std::vector<double> a(16 * 256), b(256 * 8), c(128);
    const int width = 32 / test.elements;
    const std::uint32_t mask = width == 32 ? ~0u : (1u << width % 32) - 1;
    const auto element = [&] { return ((next_random(state) & keep) | set) & mask; };
    for (int lane = 0; lane < 32; ++lane) {
        std::uint32_t* mine = &words[static_cast<std::size_t>(lane) * 16];
        for (int i = 0; i < (test.a + test.b) * test.elements; ++i) {
            const std::uint32_t bits = element();
            mine[i / test.elements] |= bits << width * (i % test.elements);
            const bool of_a = i < test.a * test.elements;
            const Place at = of_a ? test.a_at(lane, i) : test.b_at(lane, i - test.a * test.elements);
            (of_a ? a[static_cast<std::size_t>(at.row * 256 + at.column)] : b[static_cast<std::size_t>(at.row * 8 + at.column)]) = value(bits);
        }
        for (int i = 0; i < 4; ++i) {
            const Place at = c_at(lane, i);
            double& sum = c[static_cast<std::size_t>(at.row * 8 + at.column)];
            if (test.half_sums) {
                const std::uint32_t bits = (next_random(state) & 0x83FF) | 0x3C00;
                mine[test.a + test.b + i / 2] |= bits << 16 * (i % 2);
                sum = half_value(bits);
            } else {
                const std::uint32_t bits = (next_random(state) & 0x807FFFFF) | 0x3F800000;
                mine[test.a + test.b + i] = bits;
                sum = to_float(bits);
            }
        }
    }
    Machine machine;
    machine.load(kernel(mma_body(test)));
    const DeviceAddress in = machine.upload(words), out = machine.allocate(32 * 16);
    machine.run("k", {{1, 1, 1}, {32, 1, 1}}, {in, out});
    const auto got = machine.download<std::uint32_t>(out, 128);
    double worst = 0;
    for (int lane = 0; lane < 32; ++lane) {
        for (int i = 0; i < 4; ++i) {
            const Place at = c_at(lane, i);
            long double sum = c[static_cast<std::size_t>(at.row * 8 + at.column)], size = std::fabs(sum);
            for (int k = 0; k < test.depth; ++k) {
                const long double product = static_cast<long double>(a[static_cast<std::size_t>(at.row * 256 + k)]) * b[static_cast<std::size_t>(k * 8 + at.column)];
                sum += product;
                size += std::fabs(product);
            }
            const std::uint32_t* mine = &got[static_cast<std::size_t>(lane) * 4];
            const double have = test.half_sums ? half_value(mine[i / 2] >> 16 * (i % 2) & 0xFFFF) : to_float(mine[i]);
            worst = std::max(worst, static_cast<double>(std::fabs(have - sum) / size));
        }
    }
    return worst;
}

}  // namespace

TEST_CASE("mma: sums of any numbers are within the bound that is promised for the hardware") {
    struct Row {
        const char* words;
        int elements, a, b, depth;
        double (*value)(std::uint32_t);
        std::uint32_t keep, set;   // signs and fractions are random, exponents within a few of 1
    };
    constexpr std::uint32_t kHalf[2] = {0x8FFF, 0x3000}, kBrain[2] = {0x81FF, 0x3E00}, kWord[2] = {0x81FFFFFF, 0x3E000000};
    constexpr std::uint32_t kE4m3[2] = {0x9F, 0x20}, kE5m2[2] = {0x8F, 0x30};
    for (const Row& row : {Row{"m16n8k8.row.col.f32.f16.f16.f32", 2, 2, 1, 8, half_value, kHalf[0], kHalf[1]},
                           {"m16n8k16.row.col.f32.f16.f16.f32", 2, 4, 2, 16, half_value, kHalf[0], kHalf[1]},
                           {"m16n8k16.row.col.f16.f16.f16.f16", 2, 4, 2, 16, half_value, kHalf[0], kHalf[1]},
                           {"m16n8k8.row.col.f32.bf16.bf16.f32", 2, 2, 1, 8, brain_value, kBrain[0], kBrain[1]},
                           {"m16n8k16.row.col.f32.bf16.bf16.f32", 2, 4, 2, 16, brain_value, kBrain[0], kBrain[1]},
                           {"m16n8k4.row.col.f32.tf32.tf32.f32", 1, 2, 1, 4, tf32_value, kWord[0], kWord[1]},
                           {"m16n8k8.row.col.f32.tf32.tf32.f32", 1, 4, 2, 8, tf32_value, kWord[0], kWord[1]},
                           {"m16n8k16.row.col.f32.e4m3.e4m3.f32", 4, 2, 1, 16, e4m3_value, kE4m3[0], kE4m3[1]},
                           {"m16n8k32.row.col.f32.e4m3.e4m3.f32", 4, 4, 2, 32, e4m3_value, kE4m3[0], kE4m3[1]},
                           {"m16n8k32.row.col.f16.e4m3.e4m3.f16", 4, 4, 2, 32, e4m3_value, kE4m3[0], kE4m3[1]},
                           {"m16n8k32.row.col.f32.e5m2.e5m2.f32", 4, 4, 2, 32, e5m2_value, kE5m2[0], kE5m2[1]}}) {
        CAPTURE(row.words);
        const bool half_sums = std::string_view(row.words).ends_with(".f16");
        const MmaCase test{row.words, row.elements, row.a, row.b, half_sums ? 2 : 4, row.depth, narrow_a(row.elements), narrow_b(row.elements), nullptr, nullptr, half_sums};
        const double worst = worst_error(test, row.value, row.keep, row.set);
        CAPTURE(worst);
        CHECK(worst <= row.depth * (half_sums ? 0x1p-10 : 0x1p-22));
    }
}

namespace {

// All elements of A are a, of B b, of the sums c: one sum.
std::uint64_t uniform_mma(const std::string& words, int a_registers, int b_registers, int sums, std::uint32_t a, std::uint32_t b, std::uint32_t c) {
    const auto list = [](int count, const char* reg) {
        std::string out = "{";
        for (int i = 0; i < count; ++i) out += (i == 0 ? "" : ", ") + std::string(reg);
        return out + "}";
    };
    const std::string body = "mov.u32 %r1, " + std::to_string(a) + ";\nmov.u32 %r2, " + std::to_string(b) + ";\nmov.u32 %r3, " + std::to_string(c) + ";\n" +
                             "mma.sync.aligned." + words + " " + brace_list("%r", 9, sums) + ", " + list(a_registers, "%r1") + ", " + list(b_registers, "%r2") + ", " +
                             list(sums, "%r3") + ";\n" + store_result("%r9") + "st.global.u64 [%rd31], %rd39;\nret;\n";
    Machine machine;
    machine.load(kernel(body));
    const DeviceAddress out = machine.allocate(32 * 8);
    machine.run("k", {{1, 1, 1}, {32, 1, 1}}, {out, out});
    return machine.download<std::uint64_t>(out, 32)[7];
}

}  // namespace

TEST_CASE("mma of two types: signed and unsigned, kinds of 8-bit floats, bits") {
    CHECK(uniform_mma("m16n8k32.row.col.s32.u8.s8.s32", 4, 2, 4, 0xFFFFFFFF, 0xFFFFFFFF, 5) == static_cast<std::uint32_t>(255 * -1 * 32 + 5));
    CHECK(uniform_mma("m16n8k16.row.col.s32.s8.u8.s32", 2, 1, 4, 0xFFFFFFFF, 0xFFFFFFFF, 5) == static_cast<std::uint32_t>(-1 * 255 * 16 + 5));
    CHECK(uniform_mma("m8n8k32.row.col.s32.u4.s4.s32", 1, 1, 2, 0xFFFFFFFF, 0xFFFFFFFF, 5) == static_cast<std::uint32_t>(15 * -1 * 32 + 5));
    CHECK(uniform_mma("m16n8k64.row.col.s32.s4.u4.s32", 4, 2, 4, 0xFFFFFFFF, 0xFFFFFFFF, 5) == static_cast<std::uint32_t>(-1 * 15 * 64 + 5));
    CHECK(uniform_mma("m16n8k32.row.col.satfinite.s32.u8.u8.s32", 4, 2, 4, 0xFFFFFFFF, 0xFFFFFFFF, 0x7FFFFFFF) == 0x7FFFFFFF);
    CHECK(uniform_mma("m16n8k32.row.col.s32.u8.u8.s32", 4, 2, 4, 0xFFFFFFFF, 0xFFFFFFFF, 0x7FFFFFFF) == 0x7FFFFFFFu + 255 * 255 * 32);
    CHECK(uniform_mma("m16n8k64.row.col.satfinite.s32.s4.s4.s32", 4, 2, 4, 0x88888888, 0x77777777, 0x80000000) == 0x80000000);
    // 1.5 in e4m3 is 0x3c, -2 in e5m2 is 0xc0
    CHECK(uniform_mma("m16n8k32.row.col.f32.e4m3.e5m2.f32", 4, 2, 4, 0x3C3C3C3C, 0xC0C0C0C0, 0x3F800000) == bits(1.0F - 3.0F * 32));
    CHECK(uniform_mma("m16n8k16.row.col.f32.e5m2.e4m3.f32", 2, 1, 4, 0xC0C0C0C0, 0x3C3C3C3C, 0x3F800000) == bits(1.0F - 3.0F * 16));
    CHECK(uniform_mma("m8n8k128.row.col.s32.b1.b1.s32.xor.popc", 1, 1, 2, 0xF0F0F0F0, 0x3C3C3C3C, 3) == 128 / 2 + 3);
    CHECK(uniform_mma("m16n8k128.row.col.s32.b1.b1.s32.and.popc", 2, 1, 4, 0xF0F0F0F0, 0x3C3C3C3C, 3) == 128 / 4 + 3);
    CHECK(uniform_mma("m16n8k256.row.col.s32.b1.b1.s32.and.popc", 4, 2, 4, 0xF0F0F0F0, 0xFFFFFFFF, 3) == 256 / 2 + 3);
}

TEST_CASE("mma of bits: where they stand") {
    const auto bit_of = [](int value) { return static_cast<std::uint32_t>(value) & 1; };
    for (const auto& [words, a, b, c, depth] : {std::tuple("m16n8k256.row.col.s32.b1.b1.s32.xor.popc", 4, 2, 4, 256),
                                                std::tuple("m8n8k128.row.col.s32.b1.b1.s32.and.popc", 1, 1, 2, 128)}) {
        CAPTURE(words);
        const bool with_xor = std::string_view(words).find("xor") != std::string_view::npos;
        const MmaCase test{words, 32, a, b, c, depth, a == 1 ? eight_rows_a(32) : narrow_a(32), narrow_b(32), bit_of, whole_of, false, 3};
        Machine machine;
        machine.load(kernel(mma_body(test)));
        const DeviceAddress in = machine.upload(mma_inputs(test)), out = machine.allocate(32 * 16);
        machine.run("k", {{1, 1, 1}, {32, 1, 1}}, {in, out});
        const auto got = machine.download<std::uint32_t>(out, 128);
        for (int lane = 0; lane < 32; ++lane) {
            for (int i = 0; i < c; ++i) {
                const Place at = c_at(lane, i);
                int sum = c_value(at.row, at.column);
                for (int k = 0; k < depth; ++k) {
                    const int x = a_value(at.row, k, 3) & 1, y = b_value(k, at.column, 3) & 1;
                    sum += with_xor ? x ^ y : x & y;
                }
                CHECK(got[static_cast<std::size_t>(lane * 4 + i)] == static_cast<std::uint32_t>(sum));
            }
        }
    }
}

TEST_CASE("mma of doubles with 16 rows") {
    for (const int depth : {4, 8, 16}) {
        const int a = depth / 2, b = depth / 4;
        std::string body = "mul.lo.u32 %r1, %r30, 128;\ncvt.u64.u32 %rd1, %r1;\nadd.u64 %rd30, %rd30, %rd1;\n";
        for (int i = 0; i < a + b + 4; ++i) body += "ld.global.f64 %fd" + std::to_string(i) + ", [%rd30+" + std::to_string(8 * i) + "];\n";
        body += "mma.sync.aligned.m16n8k" + std::to_string(depth) + ".row.col.f64.f64.f64.f64 {%fd16, %fd17, %fd18, %fd19}, " + brace_list("%fd", 0, a) + ", " +
                brace_list("%fd", a, b) + ", " + brace_list("%fd", a + b, 4) + ";\nmad.wide.u32 %rd31, %r30, 24, %rd31;\n";
        for (int i = 0; i < 4; ++i) body += "st.global.f64 [%rd31+" + std::to_string(8 * i) + "], %fd" + std::to_string(16 + i) + ";\n";
        Machine machine;
        machine.load(kernel(body + "ret;\n"));
        std::vector<double> in(32 * 16);
        for (int lane = 0; lane < 32; ++lane) {
            double* mine = &in[static_cast<std::size_t>(lane) * 16];
            for (int i = 0; i < a; ++i) mine[i] = a_value(lane / 4 + i % 2 * 8, lane % 4 + i / 2 * 4, 9) + 0.5;
            for (int i = 0; i < b; ++i) mine[a + i] = b_value(lane % 4 + i * 4, lane / 4, 9);
            for (int i = 0; i < 4; ++i) mine[a + b + i] = c_value(lane / 4 + i / 2 * 8, lane % 4 * 2 + i % 2);
        }
        const DeviceAddress from = machine.upload(in), out = machine.allocate(32 * 32);
        machine.run("k", {{1, 1, 1}, {32, 1, 1}}, {from, out});
        const auto got = machine.download<double>(out, 128);
        for (int lane = 0; lane < 32; ++lane) {
            for (int i = 0; i < 4; ++i) {
                const int row = lane / 4 + i / 2 * 8, column = lane % 4 * 2 + i % 2;
                double sum = c_value(row, column);
                for (int k = 0; k < depth; ++k) sum += (a_value(row, k, 9) + 0.5) * b_value(k, column, 9);
                CHECK(got[static_cast<std::size_t>(lane * 4 + i)] == sum);
            }
        }
    }
}

TEST_CASE("mma of unsigned bytes: -1 is 255") {
    const std::string ones = "mov.u32 %r1, -1;\nmov.u32 %r2, 0x01010101;\nmov.u32 %r3, 5;\n";
    const std::string lists = " {%r9, %r10, %r11, %r12}, {%r1, %r1, %r1, %r1}, {%r2, %r2}, {%r3, %r3, %r3, %r3};\n";
    const auto sum = [&](const char* type) {
        Machine machine;
        machine.load(kernel(ones + "mma.sync.aligned.m16n8k32.row.col.s32." + type + "." + type + ".s32" + lists + store_result("%r9") +
                            "st.global.u64 [%rd31], %rd39;\nret;\n"));
        const DeviceAddress out = machine.allocate(32 * 8);
        machine.run("k", {{1, 1, 1}, {32, 1, 1}}, {out, out});
        return machine.download<std::uint64_t>(out, 32)[31];
    };
    CHECK(sum("u8") == 255 * 32 + 5);
    CHECK(sum("s8") == static_cast<std::uint32_t>(-32 + 5));
}

TEST_CASE("mma of doubles") {
    std::string body = "mad.wide.u32 %rd30, %r30, 32, %rd30;\n";
    for (int i = 1; i <= 4; ++i) body += "ld.global.f64 %fd" + std::to_string(i) + ", [%rd30+" + std::to_string(8 * i - 8) + "];\n";
    body += "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%fd5, %fd6}, {%fd1}, {%fd2}, {%fd3, %fd4};\n"
            "mad.wide.u32 %rd31, %r30, 8, %rd31;\nst.global.f64 [%rd31], %fd5;\nst.global.f64 [%rd31+8], %fd6;\nret;\n";
    Machine machine;
    machine.load(kernel(body));
    std::vector<double> in;
    for (int lane = 0; lane < 32; ++lane) {
        in.push_back(a_value(lane / 4, lane % 4, 9) + 0.5);
        in.push_back(b_value(lane % 4, lane / 4, 9));
        for (int i = 0; i < 2; ++i) in.push_back(c_value(lane / 4, lane % 4 * 2 + i));
    }
    const DeviceAddress from = machine.upload(in);
    const DeviceAddress out = machine.allocate(32 * 16);
    machine.run("k", {{1, 1, 1}, {32, 1, 1}}, {from, out});
    const auto got = machine.download<double>(out, 64);
    for (int lane = 0; lane < 32; ++lane) {
        for (int i = 0; i < 2; ++i) {
            double sum = c_value(lane / 4, lane % 4 * 2 + i);
            for (int k = 0; k < 4; ++k) sum += (a_value(lane / 4, k, 9) + 0.5) * b_value(k, lane % 4 * 2 + i, 9);
            CHECK(got[static_cast<std::size_t>(lane * 2 + i)] == sum);
        }
    }
}

namespace {

// Element (row, column) of matrix m is m * 64 + row * 8 + column; each lane writes two of each matrix, as u16.
const char* const kFill =
    "shl.b32 %r1, %r30, 2;\nmul.lo.u32 %r2, %r30, 0x00020002;\nadd.u32 %r2, %r2, 0x00010000;\nmov.u32 %r3, tile;\nadd.u32 %r3, %r3, %r1;\n"
    "st.shared.u32 [%r3], %r2;\nadd.u32 %r2, %r2, 0x00400040;\nst.shared.u32 [%r3+128], %r2;\nadd.u32 %r2, %r2, 0x00400040;\n"
    "st.shared.u32 [%r3+256], %r2;\nadd.u32 %r2, %r2, 0x00400040;\nst.shared.u32 [%r3+384], %r2;\nbar.sync 0;\n"
    "shl.b32 %r4, %r30, 4;\nmov.u32 %r5, tile;\nadd.u32 %r5, %r5, %r4;\n";
const char* const kTile = ".shared .align 16 .b8 tile[512];\n.shared .align 16 .b8 other[512];\n";

std::vector<std::uint64_t> moved_matrix(const std::string& body, const char* reg) {
    Machine machine;
    machine.load(kernel(kFill + body + store_result(reg) + "st.global.u64 [%rd31], %rd39;\nret;\n", kTile));
    const DeviceAddress out = machine.allocate(32 * 8);
    machine.run("k", {{1, 1, 1}, {32, 1, 1}}, {out, out});
    return machine.download<std::uint64_t>(out, 32);
}
std::uint64_t plain_matrix(std::uint64_t lane, std::uint64_t m) {
    const std::uint64_t first = m * 64 + lane / 4 * 8 + lane % 4 * 2;
    return first | (first + 1) << 16;
}
std::uint64_t transposed_matrix(std::uint64_t lane, std::uint64_t m) {
    const std::uint64_t first = m * 64 + lane % 4 * 2 * 8 + lane / 4;
    return first | (first + 8) << 16;
}
void check_matrix_lanes(const std::vector<std::uint64_t>& got, auto expected, std::uint64_t m) {
    for (std::uint64_t lane = 0; lane < 32; ++lane) {
        CAPTURE(lane);
        CHECK(got[lane] == expected(lane, m));
    }
}

}  // namespace

TEST_CASE("ldmatrix and its transposed form") {
    const std::string load = "ldmatrix.sync.aligned.m8n8.";
    check_matrix_lanes(moved_matrix(load + "x1.shared.b16 {%r9}, [%r5];\n", "%r9"), plain_matrix, 0);
    check_matrix_lanes(moved_matrix(load + "x2.shared.b16 {%r9, %r10}, [%r5];\n", "%r10"), plain_matrix, 1);
    check_matrix_lanes(moved_matrix(load + "x4.shared.b16 {%r9, %r10, %r11, %r12}, [%r5];\n", "%r12"), plain_matrix, 3);
    check_matrix_lanes(moved_matrix(load + "x1.trans.shared.b16 {%r9}, [%r5];\n", "%r9"), transposed_matrix, 0);
    check_matrix_lanes(moved_matrix(load + "x4.trans.shared.b16 {%r9, %r10, %r11, %r12}, [%r5];\n", "%r11"), transposed_matrix, 2);
}

TEST_CASE("movmatrix transposes, twice is nothing") {
    const std::string load = "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r9}, [%r5];\nmovmatrix.sync.aligned.m8n8.trans.b16 %r10, %r9;\n";
    check_matrix_lanes(moved_matrix(load, "%r10"), transposed_matrix, 0);
    check_matrix_lanes(moved_matrix(load + "movmatrix.sync.aligned.m8n8.trans.b16 %r11, %r10;\n", "%r11"), plain_matrix, 0);
}

TEST_CASE("stmatrix: what ldmatrix reads") {
    const std::string copy = "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r9, %r10, %r11, %r12}, [%r5];\nmov.u32 %r6, other;\nadd.u32 %r6, %r6, %r4;\n";
    const std::string back = "bar.sync 0;\nldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r13, %r14, %r15, %r16}, [%r6];\n";
    const std::string store = "stmatrix.sync.aligned.m8n8.x4.";
    check_matrix_lanes(moved_matrix(copy + store + "shared.b16 [%r6], {%r9, %r10, %r11, %r12};\n" + back, "%r15"), plain_matrix, 2);
    check_matrix_lanes(moved_matrix(copy + store + "trans.shared.b16 [%r6], {%r9, %r10, %r11, %r12};\n" + back, "%r14"), transposed_matrix, 1);
    check_matrix_lanes(moved_matrix(copy + "stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r6], {%r12};\n" + back, "%r13"), plain_matrix, 3);
}

TEST_CASE("a matrix operation in a warp with fewer than 32 lanes is an error") {
    Machine machine;
    if (machine.on_gpu()) return;
    machine.load(kernel("movmatrix.sync.aligned.m8n8.trans.b16 %r10, %r30;\nret;\n"));
    const auto error = machine.fail("k", {{1, 1, 1}, {31, 1, 1}}, {0, 0});
    CHECK(error.message.find("a matrix operation needs all 32") != std::string::npos);
}
