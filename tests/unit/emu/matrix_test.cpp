// Matrices in registers. Where an element stands is written here as the manual's figures have it, case by case; the sums
// are of small integers, exact in every order.
#include <functional>

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
        for (int i = 0; i < 4; ++i) {
            const Place at = c_at(lane, i);
            const std::uint32_t sum = test.encode_sum(c_value(at.row, at.column));
            if (test.half_sums) mine[test.a + test.b + i / 2] |= sum << 16 * (i % 2);
            else mine[test.a + test.b + i] = sum;
        }
    }
    return words;
}

void check_mma(const MmaCase& test) {
    CAPTURE(test.words);
    std::string body = "mad.wide.u32 %rd30, %r30, 64, %rd30;\n";
    for (int i = 0; i < test.a + test.b + test.c; ++i) {
        body += "ld.global.u32 %r" + std::to_string(1 + i) + ", [%rd30+" + std::to_string(4 * i) + "];\n";
    }
    body += std::string("mma.sync.aligned.") + test.words + " " + brace_list("%r", 20, test.c) + ", " + brace_list("%r", 1, test.a) + ", " +
            brace_list("%r", 1 + test.a, test.b) + ", " + brace_list("%r", 1 + test.a + test.b, test.c) + ";\n";
    body += "mad.wide.u32 %rd31, %r30, 8, %rd31;\n";   // 16 bytes a lane
    for (int i = 0; i < test.c; ++i) body += "st.global.u32 [%rd31+" + std::to_string(4 * i) + "], %r" + std::to_string(20 + i) + ";\n";
    Machine machine;
    machine.load(kernel(body + "ret;\n"));
    const DeviceAddress in = machine.upload(mma_inputs(test));
    const DeviceAddress out = machine.allocate(32 * 16);
    machine.run("k", {{1, 1, 1}, {32, 1, 1}}, {in, out});
    const auto got = machine.download<std::uint32_t>(out, 128);
    for (int lane = 0; lane < 32; ++lane) {
        for (int i = 0; i < 4; ++i) {
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
