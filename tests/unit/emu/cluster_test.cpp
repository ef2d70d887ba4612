// Clusters: shared memory of other blocks, the cluster's barrier, bulk copies with a barrier that hears of them.
#include "harness.hpp"

using namespace emu_test;

namespace {

std::string clustered(const std::string& directives, const std::string& body) {
    return head() + ".visible .entry k(.param .u64 in, .param .u64 out)" + directives + "\n{\n" + registers() +
           ".shared .align 16 .b8 tile[256];\n.shared .align 8 .b64 bar;\n"
           "ld.param.u64 %rd30, [in];\nld.param.u64 %rd31, [out];\nmov.u32 %r30, %tid.x;\nmov.u32 %r31, %ctaid.x;\n" +
           body + "ret;\n}\n";
}
constexpr const char* kPairs = "\n.explicitcluster\n.reqnctapercluster 2, 1, 1";
// out[block * threads + thread] = %r9
constexpr const char* kStore =
    "mov.u32 %r20, %ntid.x;\nmad.lo.u32 %r20, %r31, %r20, %r30;\nmul.wide.u32 %rd20, %r20, 4;\nadd.u64 %rd20, %rd31, %rd20;\n"
    "st.global.u32 [%rd20], %r9;\n";

std::vector<std::uint32_t> run(const std::string& text, std::uint32_t blocks, std::uint32_t threads, const std::vector<std::uint32_t>& in = {0}) {
    Machine machine;
    machine.load(text);
    const auto from = machine.upload(in);
    const auto to = machine.upload(std::vector<std::uint32_t>(std::size_t{blocks} * threads));
    machine.run("k", {.grid = {blocks}, .block = {threads}}, {from, to});
    return machine.download<std::uint32_t>(to, std::size_t{blocks} * threads);
}

}  // namespace

TEST_CASE("mapa: another block's shared memory, by generic addresses and by those of the space") {
    const std::string write = "mov.u32 %r1, %cluster_ctarank;\nadd.u32 %r2, %r31, 40;\nst.shared.u32 [tile], %r2;\n"
                              "barrier.cluster.arrive;\nbarrier.cluster.wait;\nxor.b32 %r3, %r1, 1;\n";
    const std::string leave = "barrier.cluster.arrive;\nbarrier.cluster.wait;\n";
    const auto generic = run(clustered(kPairs, write + "mov.u64 %rd1, tile;\ncvta.shared.u64 %rd1, %rd1;\nmapa.u64 %rd2, %rd1, %r3;\n"
                                                    "ld.u32 %r9, [%rd2];\ngetctarank.u64 %r4, %rd2;\nmad.lo.u32 %r9, %r4, 100, %r9;\n" + leave + kStore), 4, 1);
    CHECK(generic == std::vector<std::uint32_t>{141, 40, 143, 42});
    const auto space = run(clustered(kPairs, write + "mapa.shared::cluster.u32 %r5, tile, %r3;\nld.shared::cluster.u32 %r9, [%r5];\n"
                                                  "getctarank.shared::cluster.u32 %r4, %r5;\nmad.lo.u32 %r9, %r4, 100, %r9;\n" + leave + kStore), 4, 1);
    CHECK(space == generic);
}

TEST_CASE("a block is a cluster of its own where nobody says otherwise") {
    const auto alone = run(clustered("", "mov.u32 %r1, %cluster_nctarank;\nmov.u32 %r2, %nclusterid.x;\nmad.lo.u32 %r9, %r2, 10, %r1;\n" + std::string(kStore)), 3, 1);
    CHECK(alone == std::vector<std::uint32_t>{31, 31, 31});
}

TEST_CASE("bulk copies: the barrier's phase completes with the last arrival and the last byte") {
    std::vector<std::uint32_t> in(64);
    for (std::uint32_t i = 0; i < 64; ++i) in[i] = 1000 + i;
    const std::string body =
        "mov.u64 %rd1, bar;\nmov.u64 %rd2, tile;\nsetp.eq.u32 %p1, %r30, 0;\nmov.u32 %r1, 1;\nmov.u32 %r2, 256;\n"
        "@%p1 mbarrier.init.shared.b64 [%rd1], %r1;\n@%p1 fence.mbarrier_init.release.cluster;\nbar.sync 0;\n"
        "@%p1 mbarrier.expect_tx.relaxed.cta.shared.b64 [%rd1], 128;\n"
        "@%p1 mbarrier.arrive.expect_tx.release.cta.shared.b64 %rd3, [%rd1], 128;\n"
        "mbarrier.test_wait.parity.shared.b64 %p2, [%rd1], 0;\nbar.sync 0;\nselp.u32 %r9, 7000, 0, %p2;\n"
        "@%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%rd2], [%rd30], %r2, [%rd1];\n"
        "WAIT: mbarrier.try_wait.parity.acquire.cluster.shared.b64 %p3, [%rd1], 0;\n@!%p3 bra WAIT;\n"
        "shl.b32 %r3, %r30, 2;\nmov.u32 %r4, tile;\nadd.u32 %r4, %r4, %r3;\nld.shared.u32 %r5, [%r4];\nadd.u32 %r5, %r5, %r9;\n"
        "st.shared.u32 [%r4], %r5;\nfence.proxy.async.shared::cta;\nfence.proxy.async;\nbar.sync 0;\n"
        "@%p1 cp.async.bulk.global.shared::cta.bulk_group [%rd31], [%rd2], %r2;\ncp.async.bulk.commit_group;\n"
        "cp.async.bulk.wait_group.read 0;\ncp.async.bulk.wait_group 0;\n";
    const auto out = run(clustered("", body), 1, 64, in);
    for (std::uint32_t i = 0; i < 64; ++i) CHECK(out[i] == 1000 + i);
}

TEST_CASE("asynchronous copies arrive at a barrier") {
    // Two arrivals are expected: that of thread 0 by `noinc`, and an ordinary one; the other form counts itself in.
    const std::string body = "mov.u64 %rd1, bar;\nmov.u64 %rd2, tile;\nmov.u32 %r1, 2;\nmbarrier.init.shared.b64 [%rd1], %r1;\n"
                             "cp.async.ca.shared.global [%rd2], [%rd30], 4;\ncp.async.mbarrier.arrive.shared.b64 [%rd1];\ncp.async.mbarrier.arrive.noinc.shared.b64 [%rd1];\n"
                             "cp.async.wait_all;\nmbarrier.test_wait.parity.shared.b64 %p1, [%rd1], 0;\nmbarrier.arrive.shared.b64 %rd3, [%rd1];\n"
                             "WAIT: mbarrier.test_wait.parity.shared.b64 %p2, [%rd1], 0;\n@!%p2 bra WAIT;\nld.shared.u32 %r9, [tile];\n@%p1 add.u32 %r9, %r9, 1000;\n";
    CHECK(run(clustered("", body + kStore), 1, 1, {77}) == std::vector<std::uint32_t>{77});
}

TEST_CASE("mbarriers of another block") {
    const auto out = run(clustered(kPairs, "mov.u64 %rd1, bar;\nmov.u32 %r1, 1;\nmbarrier.init.shared.b64 [%rd1], %r1;\nbarrier.cluster.arrive;\nbarrier.cluster.wait;\n"
                                        "mov.u32 %r2, %cluster_ctarank;\nxor.b32 %r2, %r2, 1;\nmapa.shared::cluster.u64 %rd2, %rd1, %r2;\n"
                                        "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%rd2];\n"
                                        "WAIT: mbarrier.test_wait.parity.shared.b64 %p1, [%rd1], 0;\n@!%p1 bra WAIT;\nmov.u32 %r9, 5;\n"
                                        "barrier.cluster.arrive;\nbarrier.cluster.wait;\n" + std::string(kStore)), 4, 1);
    CHECK(out == std::vector<std::uint32_t>{5, 5, 5, 5});
}

TEST_CASE("what goes wrong with clusters") {
    Machine machine;
    if (machine.on_gpu()) return;
    machine.load(clustered(kPairs, "mov.u32 %r1, 2;\nmapa.shared::cluster.u32 %r2, tile, %r1;\nst.shared::cluster.u32 [%r2], %r1;\n"));
    CHECK(machine.fail("k", {.grid = {3}, .block = {1}}, {0, 0}).kind == ErrorKind::InvalidCluster);
    CHECK(machine.fail("k", {.grid = {4}, .block = {1}, .cluster = Dim3{4}}, {0, 0}).kind == ErrorKind::InvalidCluster);
    const LaunchError outside = machine.fail("k", {.grid = {2}, .block = {1}}, {0, 0});
    CHECK(outside.kind == ErrorKind::IllegalAddress);
    CHECK(outside.message.find("block 2 of a cluster of 2") != std::string::npos);
    Machine waiting;
    waiting.load(clustered(kPairs, "setp.eq.u32 %p1, %r31, 0;\n@%p1 bra WAIT;\nbar.sync 1, 64;\nWAIT: barrier.cluster.arrive;\nbarrier.cluster.wait;\n"));
    CHECK(waiting.fail("k", {.grid = {2}, .block = {32}}, {0, 0}).message.find("deadlock") != std::string::npos);
    Machine crooked;
    crooked.load(clustered("", "mov.u64 %rd1, bar;\nmov.u64 %rd2, tile;\nmov.u32 %r1, 8;\n"
                            "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%rd2], [%rd30], %r1, [%rd1];\n"));
    CHECK(crooked.fail("k", {.grid = {1}, .block = {1}}, {crooked.upload(std::vector<std::uint64_t>(4)), 0}).kind == ErrorKind::Misaligned);
}
