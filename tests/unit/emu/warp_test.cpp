// Warp operations and barriers.
#include "harness.hpp"

using namespace emu_test;

namespace {

std::vector<std::uint64_t> run(const std::string& body, std::uint32_t threads = 32,
                               std::string_view before = "", std::uint32_t blocks = 1,
                               bool cooperative = false) {
    Machine machine;
    machine.load(kernel(body, before));
    const DeviceAddress in = machine.upload(std::vector<std::uint64_t>(64));
    const DeviceAddress out = machine.allocate(std::uint64_t{threads} * blocks * 8);
    machine.run("k", {{blocks, 1, 1}, {threads, 1, 1}, 0, cooperative}, {in, out});
    return machine.download<std::uint64_t>(out, std::size_t{threads} * blocks);
}
std::string finish(const char* reg) {
    return store_result(reg) + "st.global.u64 [%rd31], %rd39;\nret;\n";
}
void check(const std::vector<std::uint64_t>& got, auto f) {
    for (std::uint64_t i = 0; i < got.size(); ++i) {
        CAPTURE(i);
        CHECK(got[i] == f(i));
    }
}

}  // namespace

TEST_CASE("shuffles: the value, and whether the lane was in range") {
    const auto shuffle = [](const std::string& mode, int b, int c) {
        return run("add.u32 %r1, %r30, 100;\nshfl.sync." + mode + ".b32 %r2|%p1, %r1, " + std::to_string(b) +
                   ", " + std::to_string(c) + ", -1;\nselp.u32 %r3, 1000, 0, %p1;\nadd.u32 %r2, %r2, %r3;\n" +
                   finish("%r2"));
    };
    check(shuffle("up", 3, 0), [](std::uint64_t i) { return i >= 3 ? 1000 + 100 + i - 3 : 100 + i; });
    check(shuffle("down", 3, 31), [](std::uint64_t i) { return i <= 28 ? 1000 + 100 + i + 3 : 100 + i; });
    check(shuffle("bfly", 5, 31), [](std::uint64_t i) { return 1100 + (i ^ 5); });
    check(shuffle("idx", 9, 31), [](std::uint64_t) { return 1109; });
    // Segments of 8 lanes: c = (32 - 8) << 8 | clamp.
    check(shuffle("idx", 9, 0x181F), [](std::uint64_t i) { return 1100 + i / 8 * 8 + 1; });
    check(shuffle("down", 6, 0x1807), [](std::uint64_t i) { return i % 8 < 2 ? 1100 + i + 6 : 100 + i; });
    check(shuffle("up", 6, 0x1800), [](std::uint64_t i) { return i % 8 >= 6 ? 1100 + i - 6 : 100 + i; });
}

TEST_CASE("a reduction by shuffles") {
    const auto got =
        run("mov.u32 %r1, %r30;\nshfl.sync.bfly.b32 %r2, %r1, 16, 31, -1;\nadd.u32 %r1, %r1, "
            "%r2;\nshfl.sync.bfly.b32 %r2, %r1, 8, 31, -1;\nadd.u32 %r1, %r1, %r2;\n"
            "shfl.sync.bfly.b32 %r2, %r1, 4, 31, -1;\nadd.u32 %r1, %r1, %r2;\nshfl.sync.bfly.b32 %r2, %r1, "
            "2, 31, -1;\nadd.u32 %r1, %r1, %r2;\n"
            "shfl.sync.bfly.b32 %r2, %r1, 1, 31, -1;\nadd.u32 %r1, %r1, %r2;\n" +
            finish("%r1"));
    check(got, [](std::uint64_t) { return 496; });
}

TEST_CASE("votes, ballots, matches and reductions") {
    check(run("setp.lt.u32 %p1, %r30, 32;\nvote.sync.all.pred %p2, %p1, -1;\nselp.u32 %r1, 1, 0, %p2;\n" +
              finish("%r1")),
          [](auto) { return 1; });
    check(run("setp.lt.u32 %p1, %r30, 31;\nvote.sync.all.pred %p2, %p1, -1;\nselp.u32 %r1, 1, 0, %p2;\n" +
              finish("%r1")),
          [](auto) { return 0; });
    check(run("setp.eq.u32 %p1, %r30, 31;\nvote.sync.any.pred %p2, %p1, -1;\nselp.u32 %r1, 1, 0, %p2;\n" +
              finish("%r1")),
          [](auto) { return 1; });
    check(run("setp.eq.u32 %p1, %r30, 31;\nvote.sync.uni.pred %p2, %p1, -1;\nselp.u32 %r1, 1, 0, %p2;\n" +
              finish("%r1")),
          [](auto) { return 0; });
    check(run("setp.eq.u32 %p1, %r30, 99;\nvote.sync.uni.pred %p2, !%p1, -1;\nselp.u32 %r1, 1, 0, %p2;\n" +
              finish("%r1")),
          [](auto) { return 1; });
    check(run("setp.ge.u32 %p1, %r30, 28;\nvote.sync.ballot.b32 %r1, %p1, -1;\n" + finish("%r1")),
          [](auto) { return 0xF000'0000; });
    check(run("shr.u32 %r1, %r30, 3;\nmatch.any.sync.b32 %r2, %r1, -1;\n" + finish("%r2")),
          [](std::uint64_t i) { return 0xFFull << (i / 8 * 8); });
    check(run("cvt.u64.u32 %rd1, %r30;\nshr.u64 %rd1, %rd1, 4;\nmatch.any.sync.b64 %r2, %rd1, -1;\n" +
              finish("%r2")),
          [](std::uint64_t i) { return 0xFFFFull << (i / 16 * 16); });
    check(run("mov.u32 %r1, 5;\nmatch.all.sync.b32 %r2|%p1, %r1, -1;\nselp.u32 %r3, 1, 0, %p1;\nand.b32 %r2, "
              "%r2, 0xFFFF;\nadd.u32 %r2, %r2, %r3;\n" +
              finish("%r2")),
          [](auto) { return 0x10000; });
    check(run("match.all.sync.b32 %r2|%p1, %r30, -1;\nselp.u32 %r3, 1, 0, %p1;\nadd.u32 %r2, %r2, %r3;\n" +
              finish("%r2")),
          [](auto) { return 0; });
    check(run("redux.sync.add.u32 %r1, %r30, -1;\n" + finish("%r1")), [](auto) { return 496; });
    check(run("sub.s32 %r1, %r30, 10;\nredux.sync.min.s32 %r1, %r1, -1;\n" + finish("%r1")),
          [](auto) { return 0xFFFF'FFF6; });
    check(run("sub.s32 %r1, %r30, 10;\nredux.sync.max.u32 %r1, %r1, -1;\n" + finish("%r1")),
          [](auto) { return 0xFFFF'FFFF; });
    check(run("shl.b32 %r1, 1, %r30;\nredux.sync.or.b32 %r1, %r1, -1;\n" + finish("%r1")),
          [](auto) { return 0xFFFF'FFFF; });
    check(run("or.b32 %r1, %r30, 64;\nredux.sync.and.b32 %r1, %r1, -1;\n" + finish("%r1")),
          [](auto) { return 64; });
    check(run("redux.sync.xor.b32 %r1, %r30, -1;\n" + finish("%r1")), [](auto) { return 0; });
    check(run("mov.u32 %r1, 0;\nsetp.lt.u32 %p2, %r30, 4;\n@%p2 bra E;\nelect.sync %r1|%p1, -16;\nselp.u32 "
              "%r2, 100, 0, %p1;\nadd.u32 %r1, %r1, %r2;\nE:\n" +
              finish("%r1")),
          [](std::uint64_t i) { return i == 4  ? 104
                                       : i < 4 ? 0
                                               : 4; });
}

TEST_CASE("two halves with masks of their own, at one instruction and at two") {
    const auto one =
        run("setp.lt.u32 %p1, %r30, 16;\nselp.b32 %r1, 0x0000FFFF, 0xFFFF0000, %p1;\nredux.sync.add.u32 %r2, "
            "%r30, %r1;\n" +
            finish("%r2"));
    check(one, [](std::uint64_t i) { return i < 16 ? 120 : 376; });
    const auto two =
        run("setp.lt.u32 %p1, %r30, 16;\n@%p1 bra LOW;\nredux.sync.add.u32 %r2, %r30, 0xFFFF0000;\nbra "
            "E;\nLOW: redux.sync.max.u32 %r2, %r30, 0x0000FFFF;\nE:\n" +
            finish("%r2"));
    check(two, [](std::uint64_t i) { return i < 16 ? 15 : 376; });
}

TEST_CASE("a warp operation waits for all the lanes that it names") {
    // Lanes come to the shuffle out of loops of different lengths.
    const auto got =
        run("mov.u32 %r1, 0;\nL: add.u32 %r1, %r1, 1;\nsetp.le.u32 %p1, %r1, %r30;\n@%p1 bra "
            "L;\nshfl.sync.idx.b32 %r2, %r1, 31, 31, -1;\n" +
            finish("%r2"));
    check(got, [](auto) { return 32; });
    // Lanes that have ended are not waited for.
    const auto ended = run("mov.u32 %r9, 0;\n" + store_result("%r9") +
                           "st.global.u64 [%rd31], %rd39;\nsetp.ge.u32 %p1, %r30, 20;\n@%p1 "
                           "ret;\nredux.sync.add.u32 %r2, %r30, -1;\n" +
                           finish("%r2"));
    check(ended, [](std::uint64_t i) { return i < 20 ? 190 : 0; });
}

TEST_CASE("bar.warp.sync joins lanes from different places") {
    const auto got =
        run("mov.u64 %rd1, tile;\nmad.wide.u32 %rd2, %r30, 4, %rd1;\nsetp.lt.u32 %p1, %r30, 16;\n@%p1 bra "
            "LOW;\nst.shared.u32 [%rd2], 1;\nbar.warp.sync -1;\nbra E;\n"
            "LOW: st.shared.u32 [%rd2], 2;\nbar.warp.sync -1;\nE: xor.b32 %r1, %r30, 31;\nmad.wide.u32 %rd2, "
            "%r1, 4, %rd1;\nld.shared.u32 %r2, [%rd2];\n" +
                finish("%r2"),
            32, ".shared .align 4 .b8 tile[128];\n");
    check(got, [](std::uint64_t i) { return i < 16 ? 1 : 2; });
}

// ---------------------------------------------------------------------------------------------------------------
// barriers

TEST_CASE("a block barrier in a loop: a reduction over the block") {
    const std::string body =
        "mov.u64 %rd1, tile;\nmad.wide.u32 %rd2, %r30, 4, %rd1;\nst.shared.u32 [%rd2], %r30;\nmov.u32 %r1, "
        "128;\nL: bar.sync 0;\nsetp.lt.u32 %p1, %r30, %r1;\n@!%p1 bra N;\n"
        "add.u32 %r2, %r30, %r1;\nmad.wide.u32 %rd3, %r2, 4, %rd1;\nld.shared.u32 %r3, "
        "[%rd3];\nld.shared.u32 %r4, [%rd2];\nadd.u32 %r3, %r3, %r4;\nst.shared.u32 [%rd2], %r3;\n"
        "N: shr.u32 %r1, %r1, 1;\nsetp.ne.u32 %p2, %r1, 0;\n@%p2 bra L;\nbar.sync 0;\nld.shared.u32 %r5, "
        "[tile];\n";
    check(run(body + finish("%r5"), 256, ".shared .align 4 .b8 tile[1024];\n"),
          [](auto) { return 255 * 256 / 2; });
}

TEST_CASE("threads that have returned are not waited for") {
    const auto got = run("mov.u32 %r9, 5;\n" + store_result("%r9") +
                             "st.global.u64 [%rd31], %rd39;\nsetp.ge.u32 %p1, %r30, 40;\n@%p1 "
                             "ret;\nred.shared.add.u32 [n], 1;\nbar.sync 0;\nld.shared.u32 %r1, [n];\n" +
                             finish("%r1"),
                         128, ".shared .align 4 .u32 n;\n");
    check(got, [](std::uint64_t i) { return i < 40 ? 40 : 5; });
}

TEST_CASE("barriers with numbers and counts: producers and consumers") {
    // Warp 0 writes and only arrives, warp 1 waits for it; warps 2 and 3 have a barrier of their own.
    const auto got =
        run("shr.u32 %r1, %r30, 5;\nmov.u32 %r9, 0;\nsetp.ge.u32 %p1, %r1, 2;\n@%p1 bra REST;\nsetp.eq.u32 "
            "%p2, %r1, 1;\n@%p2 bra CONSUME;\nst.shared.u32 [n], 77;\nmembar.cta;\n"
            "bar.arrive 1, 64;\nbra E;\nCONSUME: bar.sync 1, 64;\nld.shared.u32 %r9, [n];\nbra E;\nREST: "
            "barrier.sync 2, 64;\nmov.u32 %r9, 3;\nE: fence.acq_rel.cta;\n" +
                finish("%r9"),
            128, ".shared .align 4 .u32 n;\n");
    check(got, [](std::uint64_t i) { return i < 32 ? 0 : i < 64 ? 77 : 3; });
}

TEST_CASE("barriers that reduce a predicate") {
    const auto with = [](const std::string& instr, const char* result) {
        return run("setp.lt.u32 %p1, %r30, 70;\n" + instr + "\n" + finish(result), 96);
    };
    check(with("bar.red.popc.u32 %r1, 0, %p1;", "%r1"), [](auto) { return 70; });
    check(with("bar.red.popc.u32 %r1, 0, !%p1;", "%r1"), [](auto) { return 26; });
    check(with("bar.red.and.pred %p2, 0, %p1;", "%p2"), [](auto) { return 0; });
    check(with("bar.red.or.pred %p2, 0, 96, %p1;", "%p2"), [](auto) { return 1; });
}

TEST_CASE("a barrier that half of a warp reaches later") {
    const auto got =
        run("setp.lt.u32 %p1, %r30, 16;\nmov.u32 %r1, 1;\n@%p1 bra LOW;\nmov.u32 %r1, 2;\nbarrier.sync "
            "0;\nbra E;\nLOW: barrier.sync 0;\nE:\n" +
                finish("%r1"),
            64);
    check(got, [](std::uint64_t i) { return i < 16 ? 1 : 2; });
}

TEST_CASE("cooperating blocks may wait for each other") {
    // Each block adds itself and spins until all 40 have come.
    const auto got =
        run("atom.global.add.u32 %r1, [%rd30], 1;\nL: ld.acquire.gpu.global.u32 %r2, [%rd30];\nsetp.lt.u32 "
            "%p1, %r2, 40;\n@%p1 bra L;\n" +
                finish("%r2"),
            1, "", 40, true);
    check(got, [](auto) { return 40; });
}
