// bench_emu: lane-instructions a second of the emulator on one core, with all accesses checked, for three
// kernels in PTX: vecadd (memory), matvec (a loop per thread over a row) and collatz (an integer loop that
// parts every warp). Each must reach 50 million; a run below that is an error.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <ctime>
#include <span>
#include <string>
#include <vector>

#include "emu/emulator.hpp"

namespace {

using namespace ockc::emu;

constexpr double kLeast = 50e6;

constexpr const char* kText = R"(
.version 7.0
.target sm_80
.address_size 64
.visible .entry vecadd(.param .u64 a, .param .u64 b, .param .u64 c, .param .u64 n)
{
    .reg .pred %p<2>;
    .reg .b32 %r<5>;
    .reg .f32 %f<4>;
    .reg .b64 %rd<10>;
    ld.param.u64 %rd1, [a];
    ld.param.u64 %rd2, [b];
    ld.param.u64 %rd3, [c];
    ld.param.u64 %rd4, [n];
    mov.u32 %r1, %ctaid.x;
    mov.u32 %r2, %ntid.x;
    mov.u32 %r3, %tid.x;
    mad.lo.u32 %r4, %r1, %r2, %r3;
    cvt.u64.u32 %rd5, %r4;
    setp.ge.u64 %p1, %rd5, %rd4;
    @%p1 bra DONE;
    shl.b64 %rd6, %rd5, 2;
    add.u64 %rd7, %rd1, %rd6;
    add.u64 %rd8, %rd2, %rd6;
    add.u64 %rd9, %rd3, %rd6;
    ld.global.f32 %f1, [%rd7];
    ld.global.f32 %f2, [%rd8];
    add.rn.f32 %f3, %f1, %f2;
    st.global.f32 [%rd9], %f3;
DONE:
    ret;
}
.visible .entry matvec(.param .u64 m, .param .u64 x, .param .u64 y, .param .u64 n)
{
    .reg .pred %p<3>;
    .reg .b32 %r<5>;
    .reg .f32 %f<4>;
    .reg .b64 %rd<12>;
    ld.param.u64 %rd1, [m];
    ld.param.u64 %rd2, [x];
    ld.param.u64 %rd3, [y];
    ld.param.u64 %rd4, [n];
    mov.u32 %r1, %ctaid.x;
    mov.u32 %r2, %ntid.x;
    mov.u32 %r3, %tid.x;
    mad.lo.u32 %r4, %r1, %r2, %r3;
    cvt.u64.u32 %rd5, %r4;
    setp.ge.u64 %p1, %rd5, %rd4;
    @%p1 bra DONE;
    mul.lo.u64 %rd6, %rd5, %rd4;
    shl.b64 %rd6, %rd6, 2;
    add.u64 %rd7, %rd1, %rd6;
    mov.u64 %rd8, %rd2;
    mov.u64 %rd9, 0;
    mov.f32 %f1, 0f00000000;
LOOP:
    ld.global.f32 %f2, [%rd7];
    ld.global.f32 %f3, [%rd8];
    fma.rn.f32 %f1, %f2, %f3, %f1;
    add.u64 %rd7, %rd7, 4;
    add.u64 %rd8, %rd8, 4;
    add.u64 %rd9, %rd9, 1;
    setp.lt.u64 %p2, %rd9, %rd4;
    @%p2 bra LOOP;
    shl.b64 %rd10, %rd5, 2;
    add.u64 %rd11, %rd3, %rd10;
    st.global.f32 [%rd11], %f1;
DONE:
    ret;
}
.visible .entry collatz(.param .u64 out)
{
    .reg .pred %p<3>;
    .reg .b32 %r<9>;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, %ctaid.x;
    mov.u32 %r2, %ntid.x;
    mov.u32 %r3, %tid.x;
    mad.lo.u32 %r4, %r1, %r2, %r3;
    add.u32 %r5, %r4, 1;
    mov.u32 %r6, 0;
LOOP:
    setp.eq.u32 %p1, %r5, 1;
    @%p1 bra DONE;
    and.b32 %r7, %r5, 1;
    setp.eq.u32 %p2, %r7, 0;
    add.u32 %r6, %r6, 1;
    @%p2 bra EVEN;
    mad.lo.u32 %r5, %r5, 3, 1;
    bra LOOP;
EVEN:
    shr.u32 %r5, %r5, 1;
    bra LOOP;
DONE:
    mul.wide.u32 %rd2, %r4, 4;
    add.u64 %rd3, %rd1, %rd2;
    st.global.u32 [%rd3], %r6;
    ret;
}
)";

class Bench {
  public:
    Bench() : device_(one_thread()) {
        auto loaded = device_.load(kText);
        if (loaded.ok())
            module_ = std::move(*loaded.value);
        else
            error_ = loaded.error.message;
    }
    std::uint64_t floats(std::size_t count) {
        const std::vector<float> values(count, 1.5f);
        const auto address = device_.memory().allocate(count * 4, MemoryKind::Device).value_or(0);
        device_.memory().copy_in(address, values.data(), count * 4);
        return address;
    }
    void run(benchmark::State& state, const char* kernel, std::uint32_t blocks,
             std::vector<std::uint64_t> params) {
        if (module_ == nullptr) return state.SkipWithError(error_.c_str());
        const LaunchConfig config{{blocks, 1, 1}, {256, 1, 1}};
        std::uint64_t lanes = 0;
        const std::clock_t start = std::clock();  // processor time: other programs may run
        for (auto step : state) {
            static_cast<void>(step);
            const auto outcome = device_.launch(*module_, *module_->find_kernel(kernel), config,
                                                std::as_bytes(std::span(params)));
            if (!outcome.ok()) return state.SkipWithError(outcome.error.message.c_str());
            lanes += outcome.value->lane_steps;
        }
        const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
        state.counters["lane-instr/s"] =
            benchmark::Counter(static_cast<double>(lanes), benchmark::Counter::kIsRate);
        if (static_cast<double>(lanes) / seconds < kLeast)
            state.SkipWithError("below 50 million lane-instructions a second");
    }

  private:
    static Options one_thread() {
        Options options;
        options.host_threads = 1;
        return options;
    }
    Device device_;
    std::unique_ptr<Module> module_;
    std::string error_;
};

void vecadd(benchmark::State& state) {
    constexpr std::uint32_t kCount = 1 << 20;
    Bench bench;
    const auto a = bench.floats(kCount);
    const auto b = bench.floats(kCount);
    const auto c = bench.floats(kCount);
    bench.run(state, "vecadd", kCount / 256, {a, b, c, kCount});
}
void matvec(benchmark::State& state) {
    constexpr std::uint32_t kRows = 1024;
    Bench bench;
    const auto m = bench.floats(std::size_t{kRows} * kRows);
    const auto x = bench.floats(kRows);
    const auto y = bench.floats(kRows);
    bench.run(state, "matvec", kRows / 256, {m, x, y, kRows});
}
void collatz(benchmark::State& state) {
    constexpr std::uint32_t kCount = 1 << 16;
    Bench bench;
    bench.run(state, "collatz", kCount / 256, {bench.floats(kCount)});
}

BENCHMARK(vecadd)->Unit(benchmark::kMillisecond);
BENCHMARK(matvec)->Unit(benchmark::kMillisecond);
BENCHMARK(collatz)->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
