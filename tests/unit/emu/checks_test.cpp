// OCK_EMULATOR_CHECK=races,uninit,sync: what each reports, and that clean kernels stay clean.
#include <cstdlib>

#include "harness.hpp"

using namespace emu_test;

namespace {

Options with(bool races, bool uninit, bool sync) {
    Options options;
    options.check_races = races;
    options.check_uninit = uninit;
    options.check_sync = sync;
    return options;
}
const Options kRaces = with(true, false, false);
const Options kUninit = with(false, true, false);
const Options kSync = with(false, false, true);
constexpr const char* kTile = ".file 1 \"k.rsk\"\n.shared .align 4 .b8 tile[1024];\n";

// The message of a failing launch, or an empty text.
std::string run(const Options& options, const std::string& body, std::uint32_t threads,
                std::uint32_t blocks = 1, bool cooperative = false) {
    Machine machine(options);
    machine.load(kernel(body + "ret;\n", kTile));
    const DeviceAddress in = machine.upload(std::vector<std::uint64_t>(512));
    const DeviceAddress out = machine.allocate(std::uint64_t{threads} * blocks * 8);
    const auto outcome = machine.launch("k", {{blocks, 1, 1}, {threads, 1, 1}, 0, cooperative}, {in, out});
    return outcome.ok() ? std::string() : outcome.error.message;
}
bool has(const std::string& message, std::string_view text) {
    return message.find(text) != std::string::npos;
}

// Every thread writes its own word and reads the word of thread (n - 1 - i).
std::string exchange(const char* between) {
    return "mov.u64 %rd1, tile;\nmad.wide.u32 %rd2, %r30, 4, %rd1;\nmov.u32 %r1, %ntid.x;\nsub.u32 %r1, %r1, "
           "%r30;\nsub.u32 %r1, %r1, 1;\nmad.wide.u32 %rd3, %r1, 4, %rd1;\n"
           ".loc 1 10 5\nst.shared.u32 [%rd2], %r30;\n" +
           std::string(between) + "\n.loc 1 12 9\nld.shared.u32 %r2, [%rd3];\n";
}

}  // namespace

TEST_CASE("races in shared memory") {
    CHECK(run(kRaces, exchange("bar.sync 0;"), 64) == "");
    CHECK(run(kRaces, exchange("bar.warp.sync -1;"), 32) == "");
    const std::string missing = run(kRaces, exchange(""), 64);
    CAPTURE(missing);
    CHECK(has(missing, "data race on shared memory"));
    CHECK(has(missing, "k.rsk:10:5"));
    CHECK(has(missing, "k.rsk:12:9"));
    CHECK(has(run(kRaces, exchange(""), 32), "data race"));  // within a warp too
    CHECK(has(run(kRaces, exchange("bar.warp.sync -1;"), 64),
              "data race"));  // a warp barrier does not order two warps
    CHECK(has(run(kRaces, "st.shared.u32 [tile], %r30;\n", 64), "writes it, and thread"));
    CHECK(run(kRaces, "red.shared.add.u32 [tile], 1;\n", 64) == "");
    CHECK(has(
        run(kRaces,
            "red.shared.add.u32 [tile], 1;\nsetp.eq.u32 %p1, %r30, 40;\n@%p1 ld.shared.u32 %r1, [tile];\n",
            64),
        "data race"));
    CHECK(run(kRaces, "ld.shared.u32 %r1, [tile];\n", 64) == "");
    // A second round of writes after the reads needs a barrier of its own.
    CHECK(has(run(kRaces, exchange("bar.sync 0;") + "st.shared.u32 [%rd2], 1;\n", 64), "data race"));
    CHECK(run(kRaces, exchange("bar.sync 0;") + "bar.sync 0;\nst.shared.u32 [%rd2], 1;\n", 64) == "");
    // bar.arrive orders what came before it with those that wait.
    CHECK(run(kRaces,
              "shr.u32 %r1, %r30, 5;\nsetp.eq.u32 %p1, %r1, 1;\n@%p1 bra C;\nsetp.eq.u32 %p2, %r30, 0;\n@%p2 "
              "st.shared.u32 [tile], 7;\nbar.arrive 1, 64;\nbra E;\n"
              "C: bar.sync 1, 64;\nld.shared.u32 %r2, [tile];\nE:\n",
              64) == "");
}

TEST_CASE("races in global memory, in a block and between blocks") {
    CHECK(run(kRaces, "st.global.u64 [%rd31], 5;\n", 64, 3) == "");
    CHECK(has(run(kRaces, "st.global.u32 [%rd30], 5;\n", 1, 2), "data race on global memory"));
    CHECK(has(
        run(kRaces,
            "setp.eq.u32 %p1, %r31, 0;\n@%p1 st.global.u32 [%rd30], 5;\nld.global.u32 %r1, [%rd30];\n", 1, 2),
        "of block (0,0,0) writes it"));
    CHECK(run(kRaces, "red.global.add.u32 [%rd30], 5;\n", 32, 4) == "");
    // A flag: block 0 writes, then releases by an atomic; block 1 acquires, then reads.
    CHECK(run(kRaces,
              "setp.ne.u32 %p1, %r31, 0;\n@%p1 bra R;\nst.global.u32 [%rd30], "
              "5;\nmembar.gl;\natom.global.exch.b32 %r1, [%rd30+8], 1;\nbra E;\n"
              "R: atom.global.add.u32 %r1, [%rd30+8], 0;\nld.global.u32 %r2, [%rd30];\nE:\n",
              1, 2) == "");
}

TEST_CASE("reads of what nothing has written") {
    CHECK(has(run(kUninit, "ld.shared.u32 %r1, [tile+8];\n", 1),
              "uninitialised read: nothing has written shared memory byte 8"));
    CHECK(run(kUninit, exchange("bar.sync 0;"), 64) == "");
    CHECK(has(run(kUninit, "ld.global.u32 %r1, [%rd31];\n", 1),
              "nothing has written byte 0 of device allocation #2"));
    CHECK(run(kUninit,
              "ld.global.u32 %r1, [%rd30];\nst.global.u64 [%rd31], 1;\nld.global.u8 %r1, [%rd31+7];\n",
              8) == "");
    CHECK(has(run(kUninit, "st.global.u8 [%rd31], 1;\nld.global.u16 %r1, [%rd31];\n", 1), "uninitialised"));
    CHECK(has(run(kUninit, "atom.global.add.u32 %r1, [%rd31], 1;\n", 1), "uninitialised"));
}

TEST_CASE("barriers and warp operations in divergent code") {
    const std::string divergent =
        "setp.lt.u32 %p1, %r30, 10;\n@%p1 bra A;\nbar.sync 0;\nbra E;\nA: bar.sync 0;\nE:\n";
    CHECK(run(Options{}, divergent, 64) == "");
    CHECK(has(run(kSync, divergent, 64),
              "divergent barrier: 22 of the warp's threads come to it while 10 are elsewhere"));
    CHECK(run(kSync, "setp.lt.u32 %p1, %r30, 10;\n@%p1 ret;\nbar.sync 0;\n", 64) == "");
    CHECK(has(run(kSync, "redux.sync.add.u32 %r1, %r30, 0xFFFF;\n", 32), "lane 16 is not in the mask"));
}

TEST_CASE("the environment chooses") {
    const auto set = [](const char* name, const char* value) { setenv(name, value, 1); };
    set("OCK_EMULATOR_CHECK", "races,sync");
    set("OCK_EMULATOR_SM", "80");
    set("OCK_EMULATOR_MAX_STEPS", "5000");
    const auto options = options_from_environment();
    REQUIRE(options.ok());
    CHECK(options.value().check_races);
    CHECK(options.value().check_sync);
    CHECK_FALSE(options.value().check_uninit);
    CHECK(options.value().sm == 80);
    CHECK(options.value().max_steps == 5000);
    set("OCK_EMULATOR_CHECK", "racs");
    CHECK(options_from_environment().error() == "OCK_EMULATOR_CHECK: `racs` is none of races, uninit, sync");
    unsetenv("OCK_EMULATOR_CHECK");
    set("OCK_EMULATOR_SM", "91");
    CHECK(options_from_environment().error().find("OCK_EMULATOR_SM=`91`") != std::string::npos);
    set("OCK_EMULATOR_SM", "many");
    CHECK(options_from_environment().error() == "OCK_EMULATOR_SM=`many` is not a number");
    unsetenv("OCK_EMULATOR_SM");
    unsetenv("OCK_EMULATOR_MAX_STEPS");
}
