// Products of a warpgroup. The matrices are put into shared memory here as the manual's layouts have them, with a panel of rows for
// each swizzle; the sums are of small integers, exact in every order.
#include <functional>

#include "harness.hpp"

using namespace emu_test;

namespace {

struct Product {
    const char* words;                    // behind the shape: "f32.bf16.bf16"
    int columns = 16;
    int depth = 16;
    int bits = 16;                        // of an element
    std::uint32_t (*encode_a)(int) = nullptr;
    std::uint32_t (*encode_b)(int) = nullptr;
    std::uint32_t (*encode_sum)(int) = nullptr;
    int row_bytes = 128;                  // of a panel; 16: no swizzle
    bool a_down = false, b_down = false;
    bool a_in_registers = false;
    bool half_sums = false;
    const char* constants = ", 1, 1, 0, 0";
    int sign = 1;
    bool keeps = true;
};

std::uint32_t brain(int value) { return static_cast<std::uint32_t>(bits(static_cast<float>(value))) >> 16; }
std::uint32_t single(int value) { return static_cast<std::uint32_t>(bits(static_cast<float>(value))); }
std::uint32_t half(int value) {   // exact for |value| < 2048
    if (value == 0) return 0;
    const unsigned size = static_cast<unsigned>(value < 0 ? -value : value);
    const int exponent = 31 - __builtin_clz(size);
    return (value < 0 ? 0x8000u : 0) | static_cast<unsigned>(exponent + 15) << 10 | ((size << (10 - exponent)) & 0x3FF);
}
std::uint32_t e5m2(int value) { return half(value) >> 8; }   // for values with 3 significant bits
std::uint32_t e4m3(int value) {
    if (value == 0) return 0;
    return (half(value) >> 8 & 0x80) | (((half(value) >> 10 & 31) - 15 + 7) << 3 | (half(value) >> 7 & 7));
}
std::uint32_t byte(int value) { return static_cast<std::uint8_t>(value); }
std::uint32_t one_bit(int value) { return static_cast<std::uint32_t>(value) & 1; }
std::uint32_t whole(int value) { return static_cast<std::uint32_t>(value); }

int a_element(int row, int k) { return (row * 5 + k * 3) % 7 - 3; }
int b_element(int k, int column) { return (k * 2 + column * 3 + 1) % 7 - 3; }
int sum_before(int row, int column) { return row - column; }

// Where an element of row (A) or column (B) r stands, in bytes; `down`: rows of memory go along r.
std::uint32_t place(const Product& p, bool down, int rows, int r, int k) {
    const int bytes = p.bits < 8 ? 1 : p.bits / 8, w = p.row_bytes;
    const int kb = p.bits < 8 ? k / 8 : k * bytes;
    if (w == 16) return static_cast<std::uint32_t>(down ? r / 8 * p.depth * 16 + k * 16 + r % 8 * 2 : kb / 16 * rows * 16 + r * 16 + kb % 16);
    const int in_panel = w / bytes;
    const int plain = down ? r / in_panel * p.depth * w + k * w + r % in_panel * bytes : r * w + kb;
    return static_cast<std::uint32_t>(plain ^ ((plain / 8) & (w - 16)));   // rows of 128 bytes: bits 7 to 9 into 4 to 6
}
std::uint64_t descriptor(const Product& p, bool down, int rows) {
    const std::uint64_t w = static_cast<std::uint64_t>(p.row_bytes), depth = static_cast<std::uint64_t>(p.depth), r = static_cast<std::uint64_t>(rows);
    const std::uint64_t mode = w == 128 ? 1 : w == 64 ? 2 : w == 32 ? 3 : 0;
    const std::uint64_t leading = w == 16 ? (down ? 128 : r * 16) : down ? depth * w : 16;
    const std::uint64_t stride = w == 16 ? (down ? depth * 16 : 128) : 8 * w;
    return leading >> 4 << 16 | stride >> 4 << 32 | mode << 62;
}

constexpr int kTileBytes = 8192, kOtherBytes = 32768;

std::vector<std::uint32_t> image(const Product& p) {
    std::vector<std::uint8_t> memory(kTileBytes + kOtherBytes);
    const auto put = [&](std::size_t at, int k, std::uint32_t value) {
        if (p.bits == 1) memory[at] |= static_cast<std::uint8_t>(value << k % 8);
        else std::memcpy(&memory[at], &value, static_cast<std::size_t>(p.bits) / 8);
    };
    for (int k = 0; k < p.depth; ++k) {
        for (int r = 0; r < 64; ++r) put(place(p, p.a_down, 64, r, k), k, p.encode_a(a_element(r, k)));
        for (int c = 0; c < p.columns; ++c) put(kTileBytes + place(p, p.b_down, p.columns, c, k), k, p.encode_b(b_element(k, c)));
    }
    std::vector<std::uint32_t> words(memory.size() / 4);
    std::memcpy(words.data(), memory.data(), memory.size());
    return words;
}

std::string list(const char* prefix, int first, int count) {
    std::string out = "{";
    for (int i = 0; i < count; ++i) out += (i == 0 ? "" : ", ") + std::string(prefix) + std::to_string(first + i);
    return out + "}";
}

// The kernel: memory from `in`, sums from behind it, `steps` with SUMS, A and B in their places, sums to `out`.
std::string product_kernel(const Product& p, int registers, const std::string& steps) {
    std::string text = ".version 8.7\n.target sm_90a\n.address_size 64\n"
                       ".visible .entry k(.param .u64 in, .param .u64 out)\n{\n.reg .pred %p<4>;\n.reg .b32 %r<180>;\n.reg .b64 %rd<20>;\n"
                       ".shared .align 1024 .b8 tile[8192];\n.shared .align 1024 .b8 other[32768];\n"
                       "ld.param.u64 %rd1, [in];\nld.param.u64 %rd2, [out];\nmov.u32 %r1, %tid.x;\nmov.u32 %r2, tile;\nmov.u32 %r3, other;\n"
                       "mov.u32 %r4, %r1;\nCOPY:\nmul.wide.u32 %rd3, %r4, 4;\nadd.u64 %rd3, %rd1, %rd3;\nld.global.u32 %r5, [%rd3];\nshl.b32 %r6, %r4, 2;\n"
                       "add.u32 %r6, %r6, %r2;\nst.shared.u32 [%r6], %r5;\nadd.u32 %r4, %r4, 128;\nsetp.lt.u32 %p1, %r4, 10240;\n@%p1 bra COPY;\n"
                       "fence.proxy.async;\nbar.sync 0;\n";
    const auto descriptor_of = [&](const char* reg, const char* at, std::uint64_t bits) {
        return std::string("shr.u32 %r5, ") + at + ", 4;\ncvt.u64.u32 " + reg + ", %r5;\nor.b64 " + reg + ", " + reg + ", " + std::to_string(bits) + ";\n";
    };
    text += descriptor_of("%rd4", "%r2", descriptor(p, p.a_down, 64)) + descriptor_of("%rd5", "%r3", descriptor(p, p.b_down, p.columns));
    text += "mul.lo.u32 %r5, %r1, " + std::to_string(4 * (registers + 4)) + ";\ncvt.u64.u32 %rd6, %r5;\nadd.u64 %rd7, %rd1, %rd6;\n";
    for (int i = 0; i < registers + 4; ++i) text += "ld.global.u32 %r" + std::to_string(20 + i) + ", [%rd7+" + std::to_string(40960 + 4 * i) + "];\n";
    text += steps + "add.u64 %rd7, %rd2, %rd6;\n";
    for (int i = 0; i < registers; ++i) text += "st.global.u32 [%rd7+" + std::to_string(4 * i) + "], %r" + std::to_string(20 + i) + ";\n";
    return text + "ret;\n}\n";
}

int registers_of(const Product& p) { return p.half_sums ? p.columns / 4 : p.columns / 2; }
struct SumPlace {
    int row, column;
};
SumPlace sum_at(int thread, int i) {
    return {thread / 32 * 16 + thread % 32 / 4 + i / 2 % 2 * 8, i / 4 * 8 + thread % 4 * 2 + i % 2};
}

// Sums as they stand in the threads' registers, with the thread's part of A behind them.
std::vector<std::uint32_t> threads_registers(const Product& p) {
    const int registers = registers_of(p), in_register = 32 / p.bits;
    std::vector<std::uint32_t> words(static_cast<std::size_t>(128 * (registers + 4)));
    for (int t = 0; t < 128; ++t) {
        std::uint32_t* mine = &words[static_cast<std::size_t>(t * (registers + 4))];
        for (int i = 0; i < p.columns / 2; ++i) {
            const SumPlace at = sum_at(t, i);
            const std::uint32_t sum = p.encode_sum(sum_before(at.row, at.column));
            if (p.half_sums) mine[i / 2] |= sum << 16 * (i % 2);
            else mine[i] = sum;
        }
        for (int i = 0; i < 4 * in_register; ++i) {
            const int row = t / 32 * 16 + t % 32 / 4 + i / in_register % 2 * 8;
            const int k = t % 4 * in_register + i % in_register + i / (2 * in_register) * 4 * in_register;
            mine[registers + i / in_register] |= p.encode_a(a_element(row, k)) << p.bits * (i % in_register);
        }
    }
    return words;
}

std::string instruction(const Product& p) {
    const int registers = registers_of(p);
    const std::string a = p.a_in_registers ? list("%r", 20 + registers, 4) : "%rd4";
    return "wgmma.mma_async.sync.aligned.m64n" + std::to_string(p.columns) + "k" + std::to_string(p.depth) + "." + p.words + " " + list("%r", 20, registers) + ", " + a +
           ", %rd5, %p2" + p.constants + ";\n";
}

std::vector<std::uint32_t> run_steps(const Product& p, const std::string& steps) {
    Machine machine;
    machine.load(product_kernel(p, registers_of(p), steps));
    std::vector<std::uint32_t> in = image(p);
    const std::vector<std::uint32_t> registers = threads_registers(p);
    in.insert(in.end(), registers.begin(), registers.end());
    const DeviceAddress from = machine.upload(in), to = machine.allocate(registers.size() * 4);
    machine.run("k", {{1, 1, 1}, {128, 1, 1}}, {from, to});
    return machine.download<std::uint32_t>(to, registers.size());
}

void check_product(const Product& p, int times = 1) {
    CAPTURE(p.words);
    CAPTURE(p.columns);
    CAPTURE(p.row_bytes);
    CAPTURE(p.a_down);
    CAPTURE(p.b_down);
    std::string steps = std::string("setp.eq.u32 %p2, %r1, ") + (p.keeps ? "%r1" : "1000") + ";\nwgmma.fence.sync.aligned;\n";
    for (int i = 0; i < times; ++i) steps += instruction(p);
    steps += "wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\n";
    const auto got = run_steps(p, steps);
    const int registers = registers_of(p);
    int wrong = 0;
    for (int t = 0; t < 128; ++t) {
        for (int i = 0; i < p.columns / 2; ++i) {
            const SumPlace at = sum_at(t, i);
            int sum = 0;
            for (int k = 0; k < p.depth; ++k) {
                const int x = a_element(at.row, k), y = b_element(k, at.column);
                sum += p.bits == 1 ? (x & y & 1) : p.sign * x * y;
            }
            sum = sum * times + (p.keeps ? sum_before(at.row, at.column) : 0);
            const std::uint32_t* mine = &got[static_cast<std::size_t>(t * (registers + 4))];
            const std::uint32_t have = p.half_sums ? mine[i / 2] >> 16 * (i % 2) & 0xFFFF : mine[i];
            wrong += have == p.encode_sum(sum) ? 0 : 1;
        }
    }
    CHECK(wrong == 0);
}

Product halves(const char* words, std::uint32_t (*encode)(int), std::uint32_t (*sum)(int)) {
    Product p{words};
    p.encode_a = p.encode_b = encode;
    p.encode_sum = sum;
    return p;
}

}  // namespace

TEST_CASE("wgmma: both directions of both matrices, every swizzle") {
    for (const int row_bytes : {16, 32, 64, 128}) {
        for (const bool a_down : {false, true}) {
            for (const bool b_down : {false, true}) {
                Product p = halves("f32.bf16.bf16", brain, single);
                p.row_bytes = row_bytes;
                p.columns = 128;
                p.a_down = a_down;
                p.b_down = b_down;
                const std::string constants = std::string(", 1, 1, ") + (a_down ? "1" : "0") + ", " + (b_down ? "1" : "0");
                p.constants = constants.c_str();
                check_product(p);
            }
        }
    }
}

TEST_CASE("wgmma: numbers of columns, several products of one group, sums in f16") {
    for (const int columns : {8, 24, 40, 256}) {
        Product p = halves("f32.f16.f16", half, single);
        p.columns = columns;
        check_product(p, 3);
    }
    Product p = halves("f16.f16.f16", half, half);
    p.half_sums = true;
    p.columns = 64;
    check_product(p, 2);
}

TEST_CASE("wgmma: other types") {
    Product tf32 = halves("f32.tf32.tf32", single, single);
    tf32.depth = 8, tf32.bits = 32, tf32.constants = ", 1, 1";
    check_product(tf32);
    Product fp8 = halves("f32.e4m3.e5m2", e4m3, single);
    fp8.encode_b = e5m2, fp8.depth = 32, fp8.bits = 8, fp8.constants = ", 1, 1";
    check_product(fp8);
    fp8.words = "f16.e4m3.e5m2", fp8.encode_sum = half, fp8.half_sums = true;
    check_product(fp8);
    Product bytes = halves("s32.s8.s8", byte, whole);
    bytes.depth = 32, bytes.bits = 8, bytes.constants = "";
    check_product(bytes);
    bytes.columns = 24;
    check_product(bytes, 2);
    Product one = halves("s32.b1.b1.and.popc", one_bit, whole);
    one.depth = 256, one.bits = 1, one.constants = "", one.columns = 32;
    check_product(one);
}

TEST_CASE("wgmma: A in registers") {
    Product p = halves("f32.bf16.bf16", brain, single);
    p.a_in_registers = true, p.constants = ", 1, 1, 0";
    check_product(p);
    Product tf32 = halves("f32.tf32.tf32", single, single);
    tf32.depth = 8, tf32.bits = 32, tf32.constants = ", 1, 1", tf32.a_in_registers = true;
    check_product(tf32);
    Product fp8 = halves("f32.e5m2.e5m2", e5m2, single);
    fp8.depth = 32, fp8.bits = 8, fp8.constants = ", 1, 1", fp8.a_in_registers = true;
    check_product(fp8);
    Product bytes = halves("s32.s8.s8", byte, whole);
    bytes.depth = 32, bytes.bits = 8, bytes.constants = "", bytes.a_in_registers = true;
    check_product(bytes);
    Product one = halves("s32.b1.b1.and.popc", one_bit, whole);
    one.depth = 256, one.bits = 1, one.constants = "", one.a_in_registers = true;
    check_product(one);
}

TEST_CASE("wgmma: signs, and sums that are not kept") {
    Product p = halves("f32.bf16.bf16", brain, single);
    p.constants = ", -1, 1, 0, 0", p.sign = -1;
    check_product(p);
    p.constants = ", -1, -1, 0, 0", p.sign = 1;
    check_product(p);
    p.constants = ", 1, 1, 0, 0", p.keeps = false;
    check_product(p);
}

TEST_CASE("setmaxnreg changes no value") {
    Product p = halves("f32.bf16.bf16", brain, single);
    const auto got = run_steps(p, "setmaxnreg.dec.sync.aligned.u32 64;\nsetmaxnreg.inc.sync.aligned.u32 64;\n");
    CHECK(got[0] == p.encode_sum(sum_before(0, 0)));
}

TEST_CASE("wgmma: sums come with the wait, and rules that are broken") {
    Machine machine;
    if (machine.on_gpu()) return;
    const Product p = halves("f32.bf16.bf16", brain, single);
    const std::string begin = "setp.eq.u32 %p2, %r1, %r1;\n", fence = "wgmma.fence.sync.aligned;\n", commit = "wgmma.commit_group.sync.aligned;\n";
    const std::string wait = "wgmma.wait_group.sync.aligned 0;\n";
    // A product that nobody waits for leaves a pattern.
    CHECK(run_steps(p, begin + fence + instruction(p) + commit)[0] == 0xFFFFDEADu);
    CHECK(run_steps(p, begin + fence + instruction(p) + commit + "wgmma.wait_group.sync.aligned 1;\n")[0] == 0xFFFFDEADu);
    const auto message = [&](const std::string& steps) {
        Machine other;
        other.load(product_kernel(p, registers_of(p), steps));
        std::vector<std::uint32_t> in = image(p);
        in.resize(in.size() + 128 * 16);
        return other.fail("k", {{1, 1, 1}, {128, 1, 1}}, {other.upload(in), other.allocate(128 * 64)}).message;
    };
    CHECK(message(begin + instruction(p)).find("`wgmma.fence`") != std::string::npos);
    CHECK(message(begin + fence + instruction(p) + commit + wait + "mov.u32 %r20, 7;\n" + instruction(p)).find("the sums have changed") != std::string::npos);
    Product registers = p;
    registers.a_in_registers = true, registers.constants = ", 1, 1, 0";
    std::string overlapping = instruction(registers);
    overlapping.replace(overlapping.find("{%r28"), std::string("{%r28, %r29, %r30, %r31}").size(), "{%r20, %r21, %r22, %r23}");
    CHECK(message(begin + fence + instruction(p) + overlapping).find("A is in registers of a product") != std::string::npos);
    machine.load(product_kernel(p, registers_of(p), begin + fence));
    CHECK(machine.fail("k", {{1, 1, 1}, {96, 1, 1}}, {machine.upload(std::vector<std::uint32_t>(20000)), machine.allocate(8192)}).message.find("four whole warps") != std::string::npos);
}
