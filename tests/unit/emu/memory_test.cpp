// Loads, stores and atomics in every state space, and module variables.
#include <algorithm>
#include <numeric>

#include "harness.hpp"

using namespace emu_test;

namespace {

// Runs a kernel body over one block and gives back `count` 64-bit results.
std::vector<std::uint64_t> run(const std::string& body, std::uint32_t threads, std::size_t count,
                               std::string_view before = "",
                               const std::vector<std::uint64_t>& input = std::vector<std::uint64_t>(64),
                               std::uint32_t blocks = 1, std::uint32_t dynamic_shared = 0) {
    Machine machine;
    machine.load(kernel(body, before));
    const DeviceAddress in = machine.upload(input);
    const DeviceAddress out = machine.allocate(count * 8);
    machine.run("k", {{blocks, 1, 1}, {threads, 1, 1}, dynamic_shared}, {in, out});
    return machine.download<std::uint64_t>(out, count);
}

}  // namespace

TEST_CASE("loads extend, stores cut") {
    const std::vector<std::uint64_t> input = {0xFEDC'BA98'8765'43F1};
    const auto load = [&](const char* instr, const char* result) {
        return run(std::string(instr) + "\n" + store_result(result) + "st.global.u64 [%rd31], %rd39;\nret;",
                   1, 1, "", input)[0];
    };
    CHECK(load("ld.global.u8 %rs9, [%rd30];", "%rs9") == 0xF1);
    CHECK(load("ld.global.s8 %rs9, [%rd30];", "%rs9") == 0xFFF1);
    CHECK(load("ld.global.s8 %r9, [%rd30];", "%r9") == 0xFFFF'FFF1);
    CHECK(load("ld.global.b8 %r9, [%rd30+1];", "%r9") == 0x43);
    CHECK(load("ld.global.u16 %r9, [%rd30+2];", "%r9") == 0x8765);
    CHECK(load("ld.global.s16 %rd9, [%rd30+2];", "%rd9") == 0xFFFF'FFFF'FFFF'8765);
    CHECK(load("ld.global.s32 %rd9, [%rd30+4];", "%rd9") == 0xFFFF'FFFF'FEDC'BA98);
    CHECK(load("ld.global.u32 %rd9, [%rd30+4];", "%rd9") == 0xFEDC'BA98);
    CHECK(load("ld.global.f32 %f9, [%rd30];", "%f9") == 0x8765'43F1);
    CHECK(load("ld.global.nc.b64 %rd9, [%rd30];", "%rd9") == input[0]);
    CHECK(load("ld.u64 %rd9, [%rd30];", "%rd9") == input[0]);  // generic
    CHECK(load("ld.volatile.global.u32 %r9, [%rd30];", "%r9") == 0x8765'43F1);
    CHECK(load("ld.acquire.gpu.global.u32 %r9, [%rd30];", "%r9") == 0x8765'43F1);
    CHECK(load("ld.relaxed.sys.global.u32 %r9, [%rd30];", "%r9") == 0x8765'43F1);
    CHECK(load("mov.u32 %r1, 0xABCDEF12;\nst.global.u8 [%rd30], %r1;\nst.global.b16 [%rd30+2], "
               "%r1;\nld.global.u64 %rd9, [%rd30];",
               "%rd9") == 0xFEDC'BA98'EF12'4312);
    CHECK(load("mov.u64 %rd1, -1;\nst.global.u32 [%rd30+4], %rd1;\nst.release.gpu.global.u8 [%rd30], "
               "%rd1;\nld.global.u64 %rd9, [%rd30];",
               "%rd9") == 0xFFFF'FFFF'8765'43FF);
}

TEST_CASE("vector accesses") {
    const std::vector<std::uint64_t> input = {0x0000'0002'0000'0001, 0x0000'0004'0000'0003, 5, 6};
    const auto out = run(
        "ld.global.v4.u32 {%r1, %r2, %r3, %r4}, [%rd30];\nadd.u32 %r1, %r1, %r2;\nadd.u32 %r3, %r3, %r4;\n"
        "ld.global.v2.u64 {%rd1, %rd2}, [%rd30+16];\nst.global.v2.u32 [%rd31], {%r1, %r3};\n"
        "ld.param.u64 %rd5, [out];\nst.global.v2.b64 [%rd5+16], {%rd2, %rd1};\nret;",
        1, 4, "", input);
    CHECK(out == std::vector<std::uint64_t>{0x0000'0007'0000'0003, 0, 6, 5});
}

TEST_CASE("a full warp: contiguous, uniform, strided and scattered addresses") {
    std::vector<std::uint64_t> input(64);
    std::iota(input.begin(), input.end(), 100);
    const auto gather = [&](const std::string& index) {
        return run(index +
                       "mad.wide.u32 %rd1, %r1, 8, %rd30;\nld.global.u64 %rd2, [%rd1];\nst.global.u64 "
                       "[%rd31], %rd2;\nret;",
                   32, 32, "", input);
    };
    const auto expect = [&](auto f) {
        std::vector<std::uint64_t> out;
        for (std::uint64_t i = 0; i < 32; ++i)
            out.push_back(100 + f(i));
        return out;
    };
    CHECK(gather("mov.u32 %r1, %r30;\n") == expect([](auto i) { return i; }));
    CHECK(gather("mov.u32 %r1, 7;\n") == expect([](auto) { return 7; }));
    CHECK(gather("shl.b32 %r1, %r30, 1;\n") == expect([](auto i) { return 2 * i; }));
    CHECK(gather("mul.lo.u32 %r1, %r30, 13;\nand.b32 %r1, %r1, 63;\n") ==
          expect([](auto i) { return 13 * i % 64; }));
    CHECK(gather("sub.u32 %r1, 31, %r30;\n") == expect([](auto i) { return 31 - i; }));
}

TEST_CASE("shared memory, static and dynamic") {
    // Lane i writes i, reads what lane 63 - i wrote.
    const std::string body =
        "mov.u64 %rd1, tile;\nmad.wide.u32 %rd2, %r30, 8, %rd1;\ncvt.u64.u32 %rd3, %r30;\nst.shared.u64 "
        "[%rd2], %rd3;\n"
        "bar.sync 0;\nsub.u32 %r1, 63, %r30;\nmad.wide.u32 %rd2, %r1, 8, %rd1;\nld.shared.u64 %rd4, [%rd2];\n"
        "st.global.u64 [%rd31], %rd4;\nret;";
    std::vector<std::uint64_t> want(64);
    for (std::uint64_t i = 0; i < 64; ++i)
        want[i] = 63 - i;
    CHECK(run(body, 64, 64, ".shared .align 8 .b8 tile[512];\n") == want);
    CHECK(run(body, 64, 64, ".extern .shared .align 8 .b8 tile[];\n", std::vector<std::uint64_t>(64), 1,
              512) == want);
    // 32-bit addresses, and two variables that do not overlap.
    const std::string two =
        "mov.u32 %r1, a;\nmov.u32 %r2, b;\nst.shared.u32 [%r1+4], 11;\nst.shared.u32 [%r2], "
        "22;\nld.shared.u32 %r3, [a+4];\n"
        "ld.shared.u32 %r4, [b];\nmad.lo.u32 %r5, %r3, 100, %r4;\n" +
        store_result("%r5") + "st.global.u64 [%rd31], %rd39;\nret;";
    CHECK(run(two, 1, 1, ".shared .align 4 .b8 a[8];\n.shared .align 4 .b8 b[4];\n")[0] == 1122);
}

TEST_CASE("local memory belongs to the thread") {
    const std::string body =
        ".local .align 8 .b8 own[16];\nmov.u64 %rd1, own;\ncvt.u64.u32 %rd2, %r30;\nst.local.u64 [%rd1+8], "
        "%rd2;\n"
        "cvta.local.u64 %rd3, %rd1;\nld.u64 %rd4, [%rd3+8];\nld.local.u64 %rd5, [own+8];\nadd.u64 %rd4, "
        "%rd4, %rd5;\n"
        "st.global.u64 [%rd31], %rd4;\nret;";
    const auto out = run(body, 40, 40);
    for (std::uint64_t i = 0; i < 40; ++i)
        CHECK(out[i] == 2 * i);
}

TEST_CASE("frames of functions that never wait for each other share memory") {
    const auto function = [](const std::string& name, const std::string& add) {
        return ".func (.param .b32 result) " + name + "(.param .b32 x)\n{\n.local .align 4 .b8 own[300000];\n.reg .b32 %r<3>;\n"
               "ld.param.b32 %r1, [x];\nst.local.u32 [own+299996], %r1;\nld.local.u32 %r2, [own+299996];\nadd.u32 %r2, %r2, " +
               add + ";\nst.param.b32 [result], %r2;\nret;\n}\n";
    };
    const std::string body =
        ".param .b32 a;\n.param .b32 r;\nmov.u32 %r1, 5;\nst.param.b32 [a], %r1;\ncall (r), one, (a);\nld.param.b32 %r2, [r];\n"
        "st.param.b32 [a], %r2;\ncall (r), two, (a);\nld.param.b32 %r3, [r];\nadd.u32 %r4, %r2, %r3;\n" +
        store_result("%r4") + "st.global.u64 [%rd31], %rd39;\nret;";
    CHECK(run(body, 1, 1, function("one", "1") + function("two", "2"))[0] == 14);
}

TEST_CASE("generic addresses say where they point") {
    const std::string body =
        ".local .align 8 .b8 own[8];\nmov.u64 %rd1, tile;\ncvta.shared.u64 %rd2, %rd1;\nmov.u64 %rd3, "
        "own;\ncvta.local.u64 %rd4, %rd3;\n"
        "st.u32 [%rd2], 5;\nld.shared.u32 %r1, [tile];\ncvta.to.shared.u64 %rd5, %rd2;\nsub.u64 %rd6, %rd5, "
        "%rd1;\ncvt.u32.u64 %r2, %rd6;\n"
        "cvta.global.u64 %rd7, %rd31;\nisspacep.shared %p1, %rd2;\nisspacep.local %p2, "
        "%rd4;\nisspacep.global %p3, %rd7;\nisspacep.shared %p4, %rd7;\n"
        "isspacep.const %p5, %rd7;\nselp.u32 %r3, 10, 0, %p1;\nselp.u32 %r4, 100, 0, %p2;\nselp.u32 %r5, "
        "1000, 0, %p3;\nselp.u32 %r6, 10000, 0, %p4;\nselp.u32 %r7, 10000, 0, %p5;\n"
        "add.u32 %r1, %r1, %r2;\nadd.u32 %r1, %r1, %r3;\nadd.u32 %r1, %r1, %r4;\nadd.u32 %r1, %r1, "
        "%r5;\nadd.u32 %r1, %r1, %r6;\nadd.u32 %r1, %r1, %r7;\n" +
        store_result("%r1") + "st.global.u64 [%rd31], %rd39;\nret;";
    CHECK(run(body, 1, 1, ".shared .align 8 .b8 tile[8];\n")[0] == 1115);
}

TEST_CASE("module variables have addresses and initial values") {
    const std::string before =
        ".visible .global .align 4 .u32 numbers[4] = {7, 8, 9};\n.visible .const .align 8 .f64 factor = "
        "0d4000000000000000;\n"
        ".visible .global .align 8 .u64 link = numbers;\n.visible .global .align 4 .b8 bytes[4] = {1, 2, 3, "
        "4};\n";
    const std::string body =
        "ld.global.u32 %r1, [numbers+8];\nld.global.u32 %r2, [numbers+12];\nld.const.f64 %fd1, "
        "[factor];\ncvt.rzi.u32.f64 %r3, %fd1;\n"
        "ld.global.u64 %rd1, [link];\nld.global.u32 %r4, [%rd1+4];\nld.global.u32 %r5, [bytes];\nmov.u64 "
        "%rd2, factor;\nld.f64 %fd2, [%rd2];\n"
        "cvt.rzi.u32.f64 %r6, %fd2;\nadd.u32 %r1, %r1, %r2;\nmad.lo.u32 %r1, %r3, 1000, %r1;\nmad.lo.u32 "
        "%r1, %r4, 100000, %r1;\n"
        "mad.lo.u32 %r1, %r6, 10000000, %r1;\n" +
        store_result("%r1") +
        "cvt.u64.u32 %rd5, %r5;\nshl.b64 %rd5, %rd5, 32;\nor.b64 %rd39, %rd39, %rd5;\n"
        "st.global.u64 [%rd31], %rd39;\nret;";
    CHECK(run(body, 1, 1, before)[0] == ((0x0403'0201ull << 32) | 20802009));
}

TEST_CASE("parameters of every shape") {
    Machine machine;
    if (machine.on_gpu()) return;  // looks at how the emulator lays them out
    machine.load(
        head() +
        ".visible .entry k(.param .u64 out, .param .u8 a, .param .align 8 .b8 pair[16], .param .f32 x)\n{\n" +
        registers() +
        "ld.param.u64 %rd1, [out];\nld.param.u8 %r1, [a];\nld.param.u64 %rd2, [pair+8];\nld.param.v2.u32 "
        "{%r2, %r3}, [pair];\nld.param.f32 %f1, [x];\n"
        "cvt.rzi.u64.f32 %rd3, %f1;\ncvt.u64.u32 %rd4, %r1;\ncvt.u64.u32 %rd5, %r3;\nadd.u64 %rd2, %rd2, "
        "%rd3;\nadd.u64 %rd2, %rd2, %rd4;\nadd.u64 %rd2, %rd2, %rd5;\n"
        "st.global.u64 [%rd1], %rd2;\nret;\n}\n");
    const KernelInfo& info = machine.module().kernels()[0];
    REQUIRE(info.params.size() == 4);
    CHECK(info.params[1].offset == 8);
    CHECK(info.params[2].offset == 16);
    CHECK(info.params[3].offset == 32);
    CHECK(info.param_bytes == 36);
    const DeviceAddress out = machine.allocate(8);
    std::array<std::byte, 36> block{};
    const std::uint64_t second = 1000;
    const std::uint32_t high = 200;
    const float x = 30.0f;
    std::memcpy(block.data(), &out, 8);
    block[8] = std::byte{4};
    std::memcpy(block.data() + 20, &high, 4);
    std::memcpy(block.data() + 24, &second, 8);
    std::memcpy(block.data() + 32, &x, 4);
    CHECK(machine.device().launch(machine.module(), 0, {}, block).ok());
    CHECK(machine.download<std::uint64_t>(out, 1)[0] == 1234);
}

// ----------------------------------------------------------------------------------------------------------------
// atomics

TEST_CASE("atomics return the old value and leave the new one") {
    // One thread: result = old value << 32 | new value.
    const auto one = [](const std::string& instr, std::uint64_t memory, const char* type = "u32") {
        const std::string body = instr + "\nld.global." + type +
                                 " %r8, [%rd30];\ncvt.u64.u32 %rd1, %r8;\ncvt.u64.u32 %rd2, %r9;\nshl.b64 "
                                 "%rd2, %rd2, 32;\nor.b64 %rd1, %rd1, %rd2;\n"
                                 "st.global.u64 [%rd31], %rd1;\nret;";
        return run(body, 1, 1, "", {memory, 0})[0];
    };
    const auto pair = [](std::uint64_t old, std::uint64_t now) { return old << 32 | now; };
    CHECK(one("atom.global.add.u32 %r9, [%rd30], 5;", 7) == pair(7, 12));
    CHECK(one("atom.global.add.s32 %r9, [%rd30], -8;", 7) == pair(7, 0xFFFF'FFFF));
    CHECK(one("atom.add.u32 %r9, [%rd30], 5;", 7) == pair(7, 12));  // generic
    CHECK(one("atom.global.and.b32 %r9, [%rd30], 12;", 10) == pair(10, 8));
    CHECK(one("atom.global.or.b32 %r9, [%rd30], 12;", 10) == pair(10, 14));
    CHECK(one("atom.global.xor.b32 %r9, [%rd30], 12;", 10) == pair(10, 6));
    CHECK(one("atom.global.exch.b32 %r9, [%rd30], 12;", 10) == pair(10, 12));
    CHECK(one("atom.global.cas.b32 %r9, [%rd30], 10, 99;", 10) == pair(10, 99));
    CHECK(one("atom.global.cas.b32 %r9, [%rd30], 11, 99;", 10) == pair(10, 10));
    CHECK(one("atom.global.inc.u32 %r9, [%rd30], 10;", 10) == pair(10, 0));
    CHECK(one("atom.global.inc.u32 %r9, [%rd30], 11;", 10) == pair(10, 11));
    CHECK(one("atom.global.dec.u32 %r9, [%rd30], 5;", 0) == pair(0, 5));
    CHECK(one("atom.global.dec.u32 %r9, [%rd30], 5;", 9) == pair(9, 5));
    CHECK(one("atom.global.dec.u32 %r9, [%rd30], 5;", 4) == pair(4, 3));
    CHECK(one("atom.global.min.s32 %r9, [%rd30], -1;", 4) == pair(4, 0xFFFF'FFFF));
    CHECK(one("atom.global.min.u32 %r9, [%rd30], -1;", 4) == pair(4, 4));
    CHECK(one("atom.global.max.u32 %r9, [%rd30], -1;", 4) == pair(4, 0xFFFF'FFFF));
    CHECK(one("atom.acq_rel.gpu.global.max.s32 %r9, [%rd30], 5;", 4) == pair(4, 5));
    CHECK(one("mov.b32 %f1, 0f3F800000;\natom.global.add.f32 %f2, [%rd30], %f1;\nmov.b32 %r9, %f2;",
              0x4000'0000) == pair(0x4000'0000, 0x4040'0000));
    CHECK(one("mov.b16 %rs1, 0x3C00;\natom.global.add.noftz.f16 %rs2, [%rd30], %rs1;\ncvt.u32.u16 %r9, %rs2;",
              0x4000) == pair(0x4000, 0x4200));
    CHECK(one("mov.u32 %r1, 0x3C003C00;\natom.global.add.noftz.f16x2 %r9, [%rd30], %r1;", 0x3C00'4000) ==
          pair(0x3C00'4000, 0x4000'4200));
    CHECK(
        one("mov.b16 %rs1, 0x3F80;\natom.global.add.noftz.bf16 %rs2, [%rd30], %rs1;\ncvt.u32.u16 %r9, %rs2;",
            0x4000) == pair(0x4000, 0x4040));
    CHECK(one("mov.b16 %rs1, 3;\nmov.b16 %rs3, 9;\natom.global.cas.b16 %rs2, [%rd30], %rs1, "
              "%rs3;\ncvt.u32.u16 %r9, %rs2;",
              3) == pair(3, 9));
    // Reductions have no result.
    CHECK(one("mov.u32 %r9, 0;\nred.global.add.u32 [%rd30], 5;", 7) == 12);
    CHECK(one("mov.u32 %r9, 0;\nred.global.and.b32 [%rd30], 5;", 7) == 5);
    CHECK(one("mov.u32 %r9, 0;\nred.global.max.s32 [%rd30], -5;", 7) == 7);
    CHECK(one("mov.u32 %r9, 0;\nred.global.inc.u32 [%rd30], 7;", 7) == 0);
    CHECK(one("mov.u32 %r9, 0;\nmov.u32 %r1, 0x3F803F80;\nred.relaxed.gpu.global.add.noftz.bf16x2 [%rd30], %r1;", 0x4000'4000) ==
          0x4040'4040);
    // Subnormals are flushed in global memory and kept in shared memory.
    CHECK(one("mov.b32 %f1, 0f00000001;\natom.global.add.f32 %f2, [%rd30], %f1;\nmov.u32 %r9, 0;", 1) == 0);
}

TEST_CASE("64-bit atomics") {
    const auto one = [](const std::string& instr, std::uint64_t memory) {
        return run(instr + "\nld.global.u64 %rd1, [%rd30];\nst.global.u64 [%rd31], %rd1;\nret;", 1, 1, "",
                   {memory})[0];
    };
    CHECK(one("atom.global.add.u64 %rd9, [%rd30], -1;", 5) == 4);
    CHECK(one("atom.global.min.s64 %rd9, [%rd30], -1;", 5) == ~0ull);
    CHECK(one("atom.global.max.u64 %rd9, [%rd30], -1;", 5) == ~0ull);
    CHECK(one("atom.global.exch.b64 %rd9, [%rd30], 77;", 5) == 77);
    CHECK(one("atom.global.cas.b64 %rd9, [%rd30], 5, 77;", 5) == 77);
    CHECK(one("atom.global.xor.b64 %rd9, [%rd30], 1;", 5) == 4);
    CHECK(one("mov.f64 %fd1, 0d3FF0000000000000;\natom.global.add.f64 %fd2, [%rd30], %fd1;", bits(2.0)) ==
          bits(3.0));
}

TEST_CASE("atomics from all lanes, warps and blocks add up") {
    const std::string body =
        "atom.global.add.u64 %rd1, [%rd30], 3;\nred.shared.add.u32 [n], 1;\nbar.sync 0;\nld.shared.u32 %r1, "
        "[n];\n" +
        store_result("%r1") + "st.global.u64 [%rd31], %rd39;\nret;";
    Machine machine;
    machine.load(kernel(body, ".shared .align 4 .u32 n;\n"));
    const DeviceAddress in = machine.upload(std::vector<std::uint64_t>(1));
    const DeviceAddress out = machine.allocate(100 * 96 * 8);
    machine.run("k", {{100, 1, 1}, {96, 1, 1}}, {in, out});
    CHECK(machine.download<std::uint64_t>(in, 1)[0] == 100 * 96 * 3);
    for (const std::uint64_t n : machine.download<std::uint64_t>(out, 100 * 96))
        CHECK(n == 96);
}

TEST_CASE("lanes of a warp take their turns at an atomic in order") {
    const auto out =
        run("atom.global.add.u64 %rd1, [%rd30], 1;\nst.global.u64 [%rd31], %rd1;\nret;", 32, 32, "", {0});
    for (std::uint64_t i = 0; i < 32; ++i)
        CHECK(out[i] == i);
}

TEST_CASE("asynchronous copies: all bytes, or some and zeros") {
    const std::vector<std::uint64_t> input = {0x1122'3344'5566'7788, 0x99AA'BBCC'DDEE'FF00, 3, 4};
    const auto copy = [&](const std::string& instrs) {
        return run("mov.u64 %rd1, tile;\nmov.u64 %rd2, -1;\nst.shared.u64 [tile], %rd2;\nst.shared.u64 [tile+8], %rd2;\n" + instrs +
                       "ld.shared.u64 %rd9, [tile];\nst.global.u64 [%rd31], %rd9;\nld.shared.u64 %rd9, [tile+8];\n"
                       "ld.param.u64 %rd5, [out];\nst.global.u64 [%rd5+8], %rd9;\nret;",
                   1, 2, ".shared .align 16 .b8 tile[16];\n", input);
    };
    CHECK(copy("cp.async.ca.shared.global [%rd1], [%rd30], 4;\ncp.async.wait_all;\n")[0] == 0xFFFF'FFFF'5566'7788);
    CHECK(copy("cp.async.ca.shared.global [%rd1], [%rd30], 8;\ncp.async.commit_group;\ncp.async.wait_group 0;\n")[0] == input[0]);
    const auto whole = copy("cp.async.cg.shared.global [%rd1], [%rd30], 16;\ncp.async.commit_group;\ncp.async.wait_group 0;\n");
    CHECK(whole[0] == input[0]);
    CHECK(whole[1] == input[1]);
    const auto some = copy("mov.u32 %r1, 9;\ncp.async.ca.shared.global [%rd1], [%rd30], 16, %r1;\ncp.async.wait_all;\n");
    CHECK(some[0] == input[0]);
    CHECK(some[1] == 0);   // the lowest byte of the second word is 0x00
    CHECK(copy("mov.u32 %r1, 0;\ncp.async.ca.shared.global [%rd1], [%rd30], 8, %r1;\ncp.async.wait_all;\n")[0] == 0);
}

TEST_CASE("mbarriers: a phase completes with its last arrival") {
    const auto wait = [](const std::string& count) {
        return run("mov.u64 %rd1, bar;\nmov.u32 %r1, %tid.x;\nsetp.eq.u32 %p1, %r1, 0;\nmov.u32 %r2, " + count +
                       ";\n@%p1 mbarrier.init.shared.b64 [%rd1], %r2;\nbar.sync 0;\nmbarrier.arrive.shared.b64 %rd2, [%rd1];\n"
                       "bar.sync 0;\nmbarrier.test_wait.shared.b64 %p2, [%rd1], %rd2;\nselp.u32 %r9, 1, 0, %p2;\n"
                       "mbarrier.test_wait.parity.shared.b64 %p2, [%rd1], 0;\nselp.u32 %r3, 2, 0, %p2;\nadd.u32 %r9, %r9, %r3;\n"
                       "mbarrier.test_wait.parity.shared.b64 %p2, [%rd1], 1;\nselp.u32 %r3, 4, 0, %p2;\nadd.u32 %r9, %r9, %r3;\n"
                       "mbarrier.try_wait.shared.b64 %p2, [%rd1], %rd2;\nselp.u32 %r3, 8, 0, %p2;\nadd.u32 %r9, %r9, %r3;\n"
                       "mbarrier.try_wait.parity.shared.b64 %p2, [%rd1], 0;\nselp.u32 %r3, 16, 0, %p2;\nadd.u32 %r9, %r9, %r3;\n"
                       "cvt.u64.u32 %rd9, %r9;\nst.global.u64 [%rd31], %rd9;\nbar.sync 0;\n@%p1 mbarrier.inval.shared.b64 [%rd1];\nret;",
                   64, 64, ".shared .align 8 .b64 bar;\n");
    };
    for (const std::uint64_t result : wait("64")) CHECK(result == 27);   // all but the phase before
    for (const std::uint64_t result : wait("65")) CHECK(result == 4);    // one arrival is missing
}
