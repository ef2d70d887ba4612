// What a failing launch says: kind, place, address, block and thread.
#include "harness.hpp"

using namespace emu_test;

namespace {

bool has(const LaunchError& error, std::string_view text) {
    return error.message.find(text) != std::string::npos;
}

LaunchError fail(const std::string& body, std::uint32_t threads = 32, std::string_view before = "",
                 std::uint32_t blocks = 1) {
    Machine machine;
    machine.load(kernel(body, before));
    const DeviceAddress in = machine.upload(std::vector<std::uint64_t>(8));
    const DeviceAddress out = machine.allocate(std::uint64_t{threads} * blocks * 8);
    return machine.fail("k", {{blocks, 1, 1}, {threads, 1, 1}}, {in, out});
}

}  // namespace

TEST_CASE("out of bounds: who, where, and what is near") {
    const LaunchError error =
        fail(".loc 1 12 18\nmad.wide.u32 %rd1, %r30, 8, %rd30;\nld.global.u64 %rd2, [%rd1];\nret;\n", 32,
             ".file 1 \"kernels.rsk\"\n", 2);
    CHECK(error.kind == ErrorKind::IllegalAddress);
    CHECK(error.kernel == "k");
    CHECK(error.file == "kernels.rsk");
    CHECK(error.line == 12);
    CHECK(error.column == 18);
    CHECK(error.block == Dim3{0, 0, 0});
    CHECK(error.thread == Dim3{8, 0, 0});
    CHECK(error.instruction == "ld.global.u64 %rd2, [%rd1]");
    CAPTURE(error.message);
    CHECK(has(error, "illegal address: reads 8 bytes of global memory"));
    CHECK(has(error, "it is 0 bytes past the end of device allocation #1 of 64 bytes"));
    CHECK(has(error, "at kernels.rsk:12:18, in kernel `k`, block (0,0,0) thread (8,0,0)"));
}

TEST_CASE("without .loc the line of the PTX text is named") {
    const LaunchError error = fail("st.global.u32 [%rd30+64], 1;\nret;\n", 1);
    CHECK(error.file.empty());
    CHECK(error.line != 0);
    CHECK(has(error, "PTX line " + std::to_string(error.line)));
    CHECK(has(error, "writes 4 bytes"));
}

TEST_CASE("the last bytes, the null pointer and the far end of the address space") {
    CHECK(has(fail("ld.global.u64 %rd1, [%rd30+60];\nret;\n", 1), "misaligned address: reads 8 bytes"));
    CHECK(has(fail("mov.u64 %rd1, 0;\nld.global.u8 %r1, [%rd1];\nret;\n", 1),
              "reads 1 bytes of global memory at 0x0"));
    CHECK(has(fail("mov.u64 %rd1, -1;\nld.global.u8 %r1, [%rd1];\nret;\n", 1), "at 0xffffffffffffffff"));
    CHECK(has(fail("mov.u64 %rd1, -4;\nld.u32 %r1, [%rd1];\nret;\n", 1), "illegal address"));
    CHECK(has(fail("ld.global.u8 %r1, [%rd30+-1];\nret;\n", 1), "it is 1 bytes before device allocation #1"));
}

TEST_CASE("misaligned accesses") {
    const LaunchError error = fail("ld.global.u32 %r1, [%rd30+2];\nret;\n", 1);
    CHECK(error.kind == ErrorKind::Misaligned);
    CHECK(has(error, "not a multiple of 4"));
    CHECK(fail("ld.global.v4.u32 {%r1, %r2, %r3, %r4}, [%rd30+8];\nret;\n", 1).kind == ErrorKind::Misaligned);
    CHECK(fail("atom.global.add.u64 %rd1, [%rd30+4], 1;\nret;\n", 1).kind == ErrorKind::Misaligned);
    CHECK(fail("st.shared.u32 [tile+1], 1;\nret;\n", 1, ".shared .align 4 .b8 tile[8];\n").kind ==
          ErrorKind::Misaligned);
}

TEST_CASE("use after free") {
    Machine machine;
    machine.load(kernel("ld.global.u32 %r1, [%rd30+16];\nret;\n"));
    const DeviceAddress in = machine.allocate(64);
    machine.allocate(64);
    REQUIRE(machine.device().memory().release(in, MemoryKind::Device));
    const LaunchError error = machine.fail("k", {}, {in, 0});
    CAPTURE(error.message);
    CHECK(error.kind == ErrorKind::IllegalAddress);
    CHECK(error.address == in + 16);
    CHECK(has(error, "byte 16 of device allocation #1 of 64 bytes"));
    CHECK(has(error, "which has been freed"));
}

TEST_CASE("shared, local, constant and parameter memory have bounds too") {
    CHECK(has(
        fail("mov.u64 %rd1, 16;\nld.shared.u32 %r1, [%rd1];\nret;\n", 1, ".shared .align 4 .b8 tile[16];\n"),
        "the block has 0 bytes of shared memory"));
    CHECK(has(fail("ld.shared.u32 %r1, [tile+16];\nret;\n", 1, ".shared .align 4 .b8 tile[16];\n"),
              "the block has 16 bytes of shared memory"));
    CHECK(has(fail(".local .align 4 .b8 own[16];\nmov.u64 %rd1, own;\nst.local.u32 [%rd1+16], 1;\nret;\n", 1),
              "the thread has 16 bytes of local memory"));
    CHECK(has(fail("mov.u64 %rd1, c;\nst.u32 [%rd1], 1;\nret;\n", 1, ".const .align 4 .u32 c = 5;\n"),
              "constant variable `c` cannot be written"));
    CHECK(has(fail("mov.u64 %rd1, tile;\ncvta.shared.u64 %rd1, %rd1;\nld.u32 %r1, [%rd1+16];\nret;\n", 1,
                   ".shared .align 4 .b8 tile[16];\n"),
              "shared memory"));
}

TEST_CASE("trap, and the call that led there") {
    const LaunchError error =
        fail(".loc 1 3 5\ncall f;\nret;\n", 32,
             ".file 1 \"k.rsk\"\n.func f()\n{\n.reg .pred %p<2>;\n.reg .b32 %r<2>;\nmov.u32 %r1, "
             "%tid.x;\nsetp.ne.u32 %p1, %r1, 9;\n@%p1 ret;\n.loc 1 40 9\ntrap;\n}\n");
    CHECK(error.kind == ErrorKind::Trap);
    CHECK(error.thread.x == 9);
    CAPTURE(error.message);
    CHECK(has(error, "at k.rsk:40:9"));
    CHECK(has(error, "called at k.rsk:3:5"));
    CHECK(fail("brkpt;\nret;\n").kind == ErrorKind::Trap);
}

TEST_CASE("the first failing block is reported, however many host threads run") {
    for (int i = 0; i < 5; ++i) {
        const LaunchError error = fail("setp.lt.u32 %p1, %r31, 37;\n@%p1 ret;\ntrap;\n", 32, "", 200);
        CHECK(error.block.x == 37);
        CHECK(error.thread.x == 0);
    }
}

TEST_CASE("deadlocks are reported with all who wait") {
    const LaunchError error =
        fail("setp.lt.u32 %p1, %r30, 32;\n@%p1 bra A;\nbar.sync 1;\nret;\nA: bar.sync 2;\nret;\n", 64);
    CAPTURE(error.message);
    CHECK(error.kind == ErrorKind::LaunchFailed);
    CHECK(has(error, "deadlock: 64 of 64 threads wait"));
    CHECK(has(error, "32 threads in 1 warp at `bar.sync 2`"));
    CHECK(has(error, "32 threads in 1 warp at `bar.sync 1`"));
    CHECK(has(fail("setp.lt.u32 %p1, %r30, 16;\n@%p1 bra A;\nshfl.sync.idx.b32 %r1, %r30, 0, 31, "
                   "-1;\nret;\nA: bar.sync 0;\nret;\n",
                   32),
              "deadlock"));
    CHECK(has(fail("bar.sync 16;\nret;\n"), "there is no barrier 16"));
    CHECK(has(fail("bar.sync 1, 40;\nret;\n"), "must be a multiple of 32"));
    CHECK(
        has(fail("setp.lt.u32 %p1, %r30, 32;\n@%p1 bra A;\nbar.sync 1, 64;\nret;\nA: bar.sync 1, 96;\nret;\n",
                 64),
            "others wait at it for"));
}

TEST_CASE("launches that the driver would refuse") {
    Machine machine;
    machine.load(head() +
                 ".visible .entry k()\n.reqntid 64\n{\nret;\n}\n.visible .entry m()\n.maxntid 128, 1, "
                 "1\n{\nret;\n}\n");
    CHECK(machine.launch("k", {{1, 1, 1}, {64, 1, 1}}, {}).ok());
    const LaunchError wrong_block = machine.fail("k", {{1, 1, 1}, {32, 1, 1}}, {});
    CHECK(wrong_block.kind == ErrorKind::InvalidValue);
    CHECK(has(wrong_block, "needs blocks of (64,1,1)"));
    CHECK(has(machine.fail("m", {{1, 1, 1}, {256, 1, 1}}, {}), "the kernel allows 128"));
    CHECK(has(machine.fail("m", {{0, 1, 1}, {32, 1, 1}}, {}), "the grid is empty"));
    CHECK(has(machine.fail("m", {{1, 1, 1}, {0, 1, 1}}, {}), "the block is empty"));
    CHECK(has(machine.fail("m", {{1, 65536, 1}, {32, 1, 1}}, {}), "a grid of"));
    CHECK(has(machine.fail("m", {{1, 1, 1}, {1025, 1, 1}}, {}), "a block of"));
    CHECK(has(machine.fail("m", {{1, 1, 1}, {32, 1, 1}, 300000}, {}), "bytes of shared memory"));
    CHECK(machine.fail("m", {{100000, 1, 1}, {32, 1, 1}, 0, true}, {}).kind ==
          ErrorKind::CooperativeTooLarge);
}

TEST_CASE("images that cannot be loaded") {
    Device device{Options{}};
    const auto load = [&](const std::string& text) {
        auto loaded = device.load(text);
        REQUIRE(!loaded.ok());
        return loaded.error;
    };
    CHECK(load("this is no PTX").kind == ErrorKind::InvalidImage);
    CHECK(load("").kind == ErrorKind::InvalidImage);
    CHECK(load(kernel("add.u32 %r1, %rd1, %r2;\nret;\n")).kind == ErrorKind::InvalidImage);
    CHECK(load(".version 8.6\n.target sm_100\n.address_size 64\n").kind == ErrorKind::NoBinary);
    CHECK(load(kernel("call missing;\nret;\n", ".extern .func missing();\n"))
              .message.find("`missing` has no body") != std::string::npos);
    CHECK(load(kernel("ld.param.u64 %rd1, [out+8];\nret;\n")).message.find("reads beyond the parameter") !=
          std::string::npos);
    CHECK(load(kernel("st.global.u64 [tile], %rd1;\nret;\n", ".shared .b8 tile[8];\n"))
              .message.find("another space") != std::string::npos);
}
