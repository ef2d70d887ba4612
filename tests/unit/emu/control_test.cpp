// Divergence: whatever way lanes go, each computes what it would alone, and they come together where they
// should.
#include "harness.hpp"

using namespace emu_test;

namespace {

std::vector<std::uint64_t> run(const std::string& body, std::uint32_t threads = 32,
                               std::string_view before = "") {
    Machine machine;
    machine.load(kernel(body, before));
    const DeviceAddress in = machine.upload(std::vector<std::uint64_t>(64));
    const DeviceAddress out = machine.allocate(threads * 8);
    machine.run("k", {{1, 1, 1}, {threads, 1, 1}}, {in, out});
    return machine.download<std::uint64_t>(out, threads);
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

TEST_CASE("if and else, and the warp whole again behind them") {
    const auto got =
        run("and.b32 %r1, %r30, 1;\nsetp.eq.u32 %p1, %r1, 0;\n@%p1 bra EVEN;\nmul.lo.u32 %r2, %r30, "
            "3;\nbra.uni JOIN;\n"
            "EVEN: add.u32 %r2, %r30, 1000;\nJOIN: activemask.b32 %r3;\npopc.b32 %r3, %r3;\nmad.lo.u32 %r2, "
            "%r3, 10000, %r2;\n" +
            finish("%r2"));
    check(got, [](std::uint64_t i) { return 320000 + (i % 2 == 0 ? i + 1000 : 3 * i); });
}

TEST_CASE("nested ifs") {
    const auto got =
        run("setp.lt.u32 %p1, %r30, 20;\nmov.u32 %r2, 1;\n@!%p1 bra OUT;\nsetp.lt.u32 %p2, %r30, 10;\n@%p2 "
            "bra LOW;\nadd.u32 %r2, %r2, 20;\nbra INNER;\n"
            "LOW: add.u32 %r2, %r2, 10;\nsetp.lt.u32 %p3, %r30, 3;\n@!%p3 bra INNER;\nadd.u32 %r2, %r2, "
            "5;\nINNER: activemask.b32 %r3;\npopc.b32 %r3, %r3;\n"
            "mad.lo.u32 %r2, %r3, 100, %r2;\nOUT: activemask.b32 %r4;\npopc.b32 %r4, %r4;\nmad.lo.u32 %r2, "
            "%r4, 100000, %r2;\n" +
            finish("%r2"));
    check(got, [](std::uint64_t i) {
        if (i >= 20) return 3200001;
        return 3200000 + 2000 + 1 + (i < 10 ? 10 : 20) + (i < 3 ? 5 : 0);
    });
}

TEST_CASE("loops with trip counts of their own") {
    // sum of 0 .. i, and the lanes still together at the end.
    const auto got =
        run("mov.u32 %r1, 0;\nmov.u32 %r2, 0;\nL: setp.gt.u32 %p1, %r1, %r30;\n@%p1 bra E;\nadd.u32 %r2, "
            "%r2, %r1;\nadd.u32 %r1, %r1, 1;\nbra L;\n"
            "E: activemask.b32 %r3;\npopc.b32 %r3, %r3;\nmad.lo.u32 %r2, %r3, 10000, %r2;\n" +
            finish("%r2"));
    check(got, [](std::uint64_t i) { return 320000 + i * (i + 1) / 2; });
}

TEST_CASE("break and continue") {
    // Odd n are skipped, the loop is left at n = 2i: sum of even n below 2i, where the latch sees every lane
    // that is still in.
    const auto got =
        run("mov.u32 %r1, 0;\nmov.u32 %r2, 0;\nshl.b32 %r5, %r30, 1;\nmov.u32 %r7, 0;\n"
            "L: activemask.b32 %r6;\npopc.b32 %r6, %r6;\nadd.u32 %r7, %r7, %r6;\nsetp.eq.u32 %p1, %r1, "
            "%r5;\n@%p1 bra E;\nadd.u32 %r1, %r1, 1;\n"
            "xor.b32 %r8, %r1, %r30;\nand.b32 %r8, %r8, 1;\nsetp.eq.u32 %p2, %r8, 0;\n@%p2 bra L;\nadd.u32 "
            "%r2, %r2, %r1;\nbra L;\n"
            "E: mad.lo.u32 %r2, %r7, 10000, %r2;\n" +
            finish("%r2"));
    check(got, [](std::uint64_t i) {
        std::uint64_t sum = 0;
        for (std::uint64_t n = 1; n <= 2 * i; ++n) {
            if (n % 2 != i % 2) sum += n;
        }
        std::uint64_t seen = 0;  // at the head in round n are the lanes with 2j >= n
        for (std::uint64_t n = 0; n <= 2 * i; ++n)
            seen += 32 - (n + 1) / 2;
        return seen * 10000 + sum;
    });
}

TEST_CASE("nested loops") {
    const auto got =
        run("mov.u32 %r1, 0;\nmov.u32 %r2, 0;\nO: setp.ge.u32 %p1, %r1, %r30;\n@%p1 bra E;\nmov.u32 %r3, "
            "0;\nI: setp.gt.u32 %p2, %r3, %r1;\n@%p2 bra N;\n"
            "add.u32 %r2, %r2, 1;\nadd.u32 %r3, %r3, 1;\nbra I;\nN: add.u32 %r1, %r1, 1;\nbra O;\nE:\n" +
            finish("%r2"));
    check(got, [](std::uint64_t i) { return i * (i + 1) / 2; });
}

TEST_CASE("an early return does not keep the others apart") {
    const std::string body =
        "mov.u32 %r9, 7;\n" + store_result("%r9") +
        "st.global.u64 [%rd31], %rd39;\nsetp.lt.u32 %p1, %r30, 16;\n@%p1 bra LOW;\n"
        "setp.eq.u32 %p2, %r30, 20;\n@%p2 ret;\nadd.u32 %r1, %r30, 100;\nbra JOIN;\nLOW: setp.eq.u32 %p3, "
        "%r30, 3;\n@%p3 exit;\nadd.u32 %r1, %r30, 200;\n"
        "JOIN: activemask.b32 %r2;\npopc.b32 %r2, %r2;\nmad.lo.u32 %r1, %r2, 1000, %r1;\n" +
        finish("%r1");
    check(run(body),
          [](std::uint64_t i) { return i == 20 || i == 3 ? 7 : 30000 + i + (i < 16 ? 200 : 100); });
}

TEST_CASE("a trap behind a check keeps no lane waiting") {
    const auto got = run("setp.gt.u32 %p1, %r30, 99;\n@%p1 bra BAD;\nadd.u32 %r1, %r30, 1;\n" +
                         finish("%r1") + "BAD: trap;\n");
    check(got, [](std::uint64_t i) { return i + 1; });
}

TEST_CASE("a loop with two entries") {
    // Irreducible: half of the lanes jump into the middle.
    const auto got =
        run("mov.u32 %r1, 0;\nmov.u32 %r2, 0;\nand.b32 %r3, %r30, 1;\nsetp.eq.u32 %p1, %r3, 0;\n@%p1 bra "
            "B;\nA: add.u32 %r2, %r2, 1;\nB: add.u32 %r2, %r2, 100;\n"
            "add.u32 %r1, %r1, 1;\nsetp.lt.u32 %p2, %r1, 4;\n@%p2 bra A;\n" +
            finish("%r2"));
    check(got, [](std::uint64_t i) { return 400 + (i % 2 == 0 ? 3 : 4); });
}

TEST_CASE("predicated instructions, in and out of divergent code") {
    const auto got =
        run("mov.u32 %r1, 5;\nsetp.lt.u32 %p1, %r30, 10;\n@%p1 mov.u32 %r1, 6;\n@!%p1 add.u32 %r1, %r1, "
            "%r30;\nsetp.eq.u32 %p2, %r30, 31;\n"
            "@%p2 bra ODD;\n@%p1 add.u32 %r1, %r1, 100;\nODD:\n" +
            finish("%r1"));
    check(got, [](std::uint64_t i) { return i < 10 ? 106 : 5 + i; });
}

TEST_CASE("a lane may wait for a later one: progress is fair") {
    // Lane 0 spins until lane 31, which comes later in program order, sets the flag.
    const auto got =
        run("setp.ne.u32 %p1, %r30, 0;\n@%p1 bra OTHERS;\nS: nanosleep.u32 20;\npmevent 3;\nld.volatile.global.u32 %r1, "
            "[%rd30];\nsetp.eq.u32 %p2, %r1, 0;\n@%p2 bra S;\nbra E;\n"
            "OTHERS: setp.ne.u32 %p3, %r30, 31;\n@%p3 bra E;\nst.volatile.global.u32 [%rd30], 9;\nE: mov.u32 "
            "%r2, 1;\n" +
            finish("%r2"));
    check(got, [](std::uint64_t) { return 1; });
}

TEST_CASE("two lanes hand a counter back and forth while a third waits for its end") {
    const auto got =
        run("mov.u32 %r1, %r30;\nsetp.eq.u32 %p3, %r30, 2;\n@%p3 mov.u32 %r1, 8;\nS: ld.volatile.global.u32 "
            "%r2, [%rd30];\nsetp.ne.u32 %p1, %r2, %r1;\n@%p1 bra S;\n"
            "@%p3 bra E;\nadd.u32 %r3, %r2, 1;\nst.volatile.global.u32 [%rd30], %r3;\nadd.u32 %r1, %r1, "
            "2;\nsetp.lt.u32 %p2, %r1, 8;\n@%p2 bra S;\nE:\n" +
                finish("%r1"),
            3);
    CHECK(got == std::vector<std::uint64_t>{8, 9, 8});
}

TEST_CASE("a lock taken by one lane at a time") {
    const auto got =
        run("L: atom.global.cas.b32 %r1, [%rd30], 0, 1;\nsetp.ne.u32 %p1, %r1, 0;\n@%p1 bra "
            "L;\nld.volatile.global.u32 %r2, [%rd30+8];\nadd.u32 %r2, %r2, 1;\n"
            "st.volatile.global.u32 [%rd30+8], %r2;\nmembar.gl;\natom.global.exch.b32 %r3, [%rd30], 0;\n" +
                finish("%r2"),
            64);
    std::uint64_t sum = 0;
    for (const std::uint64_t v : got)
        sum += v;
    CHECK(sum == 64 * 65 / 2);
}

// ------------------------------------------------------------------------------------------------------------------
// calls

namespace {

const char* const kFunctions = R"(
.func (.param .b32 result) square(.param .b32 x)
{
    .reg .b32 %r<4>;
    ld.param.b32 %r1, [x];
    mul.lo.u32 %r2, %r1, %r1;
    st.param.b32 [result], %r2;
    ret;
}
.func (.param .b32 result) choose(.param .b32 n, .param .align 8 .b8 pair[16])
{
    .reg .pred %p<3>;
    .reg .b32 %r<6>;
    .reg .b64 %rd<4>;
    .param .b32 arg;
    .param .b32 res;
    ld.param.b32 %r1, [n];
    setp.gt.u32 %p1, %r1, 15;
    @%p1 bra BIG;
    st.param.b32 [arg], %r1;
    call (res), square, (arg);
    ld.param.b32 %r2, [res];
    st.param.b32 [result], %r2;
    ret;
BIG:
    ld.param.u64 %rd1, [pair+8];
    cvt.u32.u64 %r3, %rd1;
    st.param.b32 [result], %r3;
    ret;
}
.func nothing()
{
    ret;
}
)";

}  // namespace

TEST_CASE("calls with results and arguments, some lanes deeper than others") {
    const auto got =
        run(".param .b32 a;\n.param .align 8 .b8 b[16];\n.param .b32 r;\nst.param.b32 [a], "
            "%r30;\ncvt.u64.u32 %rd1, %r30;\nadd.u64 %rd1, %rd1, 5000;\n"
            "st.param.u64 [b+8], %rd1;\ncall (r), choose, (a, b);\nld.param.b32 %r1, [r];\ncall.uni "
            "nothing;\nactivemask.b32 %r2;\npopc.b32 %r2, %r2;\n"
            "mad.lo.u32 %r1, %r2, 10000, %r1;\n" +
                finish("%r1"),
            32, kFunctions);
    check(got, [](std::uint64_t i) { return 320000 + (i > 15 ? i + 5000 : i * i); });
}

TEST_CASE("a call under a predicate, and one function from two places") {
    const auto got =
        run(".param .b32 a;\n.param .b32 r;\nmov.u32 %r1, 1;\nsetp.lt.u32 %p1, %r30, 4;\nst.param.b32 [a], "
            "%r30;\n@%p1 call (r), square, (a);\n"
            "@%p1 ld.param.b32 %r1, [r];\nst.param.b32 [a], %r1;\ncall (r), square, (a);\nld.param.b32 %r1, "
            "[r];\n" +
                finish("%r1"),
            32, kFunctions);
    check(got, [](std::uint64_t i) { return i < 4 ? i * i * i * i : 1; });
}

TEST_CASE("recursion is refused by name") {
    Device device{Options{}};
    const auto loaded =
        device.load(head() + ".func f()\n{\ncall f;\nret;\n}\n.visible .entry k()\n{\ncall f;\nret;\n}\n");
    REQUIRE(!loaded.ok());
    CHECK(loaded.error.message.find("`f` calls itself") != std::string::npos);
}

TEST_CASE("the step limit stops a loop without end") {
    Options options;
    options.max_steps = 1000;
    Machine machine(options);
    if (machine.on_gpu()) return;
    machine.load(kernel("L: bra L;\n"));
    const LaunchError error = machine.fail("k", {}, {0, 0});
    CHECK(error.kind == ErrorKind::Timeout);
    CHECK(error.message.find("more than 1000 instructions") != std::string::npos);
}

TEST_CASE("special registers") {
    Machine machine;
    machine.load(kernel(
        "mov.u32 %r1, %tid.y;\nmov.u32 %r2, %tid.z;\nmov.u32 %r3, %ntid.y;\nmov.u32 %r4, %nctaid.x;\nmov.u32 "
        "%r5, %laneid;\nmov.u32 %r6, %warpid;\n"
        "mov.u32 %r7, %lanemask_lt;\nmov.u32 %r8, %tid.x;\nmad.lo.u32 %r10, %r1, 4, %r8;\nmad.lo.u32 %r10, "
        "%r2, 8, %r10;\nmov.u64 %rd1, %clock64;\nmov.u64 %rd2, %globaltimer;\n"
        "mov.u32 %r20, %lanemask_ge;\nxor.b32 %r20, %r20, %r7;\nsetp.eq.u32 %p1, %r20, -1;\nselp.u32 %r21, "
        "1, 0, %p1;\n"
        "mad.wide.u32 %rd5, %r10, 8, 0;\nld.param.u64 %rd6, [out];\nadd.u64 %rd5, %rd5, %rd6;\nmul.lo.u32 "
        "%r11, %r6, 100;\nadd.u32 %r11, %r11, %r5;\nmad.lo.u32 %r11, %r3, 1000, %r11;\n"
        "mad.lo.u32 %r11, %r4, 10000, %r11;\nmad.lo.u32 %r11, %r21, 100000, %r11;\n" +
        store_result("%r11") + "st.global.u64 [%rd5], %rd39;\nret;\n"));
    const DeviceAddress out = machine.allocate(40 * 8);
    machine.run("k", {{1, 1, 1}, {4, 2, 5}}, {0, out});
    const auto got = machine.download<std::uint64_t>(out, 40);
    for (std::uint64_t i = 0; i < 40; ++i)
        CHECK(got[i] == 100000 + 10000 + 2000 + i / 32 * 100 + i % 32);
}
