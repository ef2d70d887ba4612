// The runtime and the generated headers against a driver that writes down every call (fake_driver.hpp).
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <cstdlib>
#include <cstring>
#include <new>
#include <optional>
#include <string>
#include <vector>

#include "fake_driver.hpp"
#include "vecadd.h"
#include "zoo.h"

// Counts allocations, for the promise that enqueueing makes none.
static std::size_t allocations = 0;
void* operator new(std::size_t size) {
    ++allocations;
    if (void* const memory = std::malloc(size)) return memory;
    throw std::bad_alloc();
}
void operator delete(void* memory) noexcept {
    std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
    std::free(memory);
}

namespace {

using Kind = ock::ContractErrorKind;

// A fresh driver for each test; the context is made after the test has changed the device.
struct Device {
    Device() { fake_driver()->reset(); }
    FakeDriver& driver = *fake_driver();
};

std::vector<std::string> take_calls() {
    std::vector<std::string> calls;
    calls.swap(fake_driver()->calls);
    return calls;
}

template <class Work>
std::optional<ock::Error> error_of(Work&& work) {
    try {
        work();
    } catch (const ock::Error& error) {
        return error;
    }
    return std::nullopt;
}

template <class Work>
std::optional<Kind> kind_of(Work&& work) {
    try {
        work();
    } catch (const ock::LaunchContractError& error) {
        return error.kind();
    }
    return std::nullopt;
}

template <class T>
T value_of(const std::vector<unsigned char>& bytes) {
    REQUIRE(bytes.size() == sizeof(T));
    T value;
    std::memcpy(&value, bytes.data(), sizeof value);
    return value;
}

}  // namespace

TEST_CASE("vecadd, from host data to host data") {
    Device device;
    ock::Context ctx(0);
    auto stream = ctx.default_stream();
    std::vector<float> a_host(1000), b_host(1000);
    for (std::size_t i = 0; i < 1000; ++i) {
        a_host[i] = static_cast<float>(i);
        b_host[i] = static_cast<float>(2 * i);
    }
    auto a = ock::from_host(stream, a_host);
    auto b = ock::from_host(stream, b_host);
    auto c = ock::zeroed<float>(stream, 1000);
    auto module = kernels::load(ctx);
    auto prepared = module.prepare_vecadd(ock::LaunchConfig1D(ock::div_ceil(1000, 256), 256));
    take_calls();
    module.vecadd(stream, prepared, a, b, c);
    CHECK(take_calls() ==
          std::vector<std::string>{"launch vecadd grid 4,1,1 block 256,1,1 shared 0 stream 0"});
    const std::vector<float> c_host = c.to_host(stream);
    for (std::size_t i = 0; i < 1000; ++i)
        REQUIRE(c_host[i] == static_cast<float>(3 * i));
    CHECK(value_of<std::uint64_t>(device.driver.parameters[1]) == 1000);

    module.vecadd(stream, ock::cover(c), a, b, c);
    CHECK(take_calls() ==
          std::vector<std::string>{"launch vecadd grid 4,1,1 block 256,1,1 shared 0 stream 0"});
    module.vecadd(stream, ock::cover(0), a, b, c);
    CHECK(take_calls().empty());
    module.unsafe_launch_vecadd(stream, ock::LaunchConfig2D({1, 2}, {3, 4}), a, b, c);
    CHECK(take_calls() == std::vector<std::string>{"launch vecadd grid 1,2,1 block 3,4,1 shared 0 stream 0"});
}

TEST_CASE("a prepared launch allocates nothing") {
    Device device;
    ock::Context ctx(0);
    auto stream = ctx.default_stream();
    auto other = ctx.new_stream();
    auto a = ock::zeroed<float>(stream, 256);
    auto c = ock::zeroed<float>(stream, 256);
    auto module = kernels::load(ctx);
    auto prepared = module.prepare_vecadd(ock::LaunchConfig1D(1, 256));
    module.vecadd(stream, prepared, a, a, c);
    device.driver.calls.reserve(64);
    // What the fake driver itself allocates for a launch, measured through the raw function table.
    const auto count = [](auto&& work) {
        const std::size_t before = allocations;
        work();
        return allocations - before;
    };
    std::uint64_t words[6] = {};
    void* params[] = {&words[0], &words[1], &words[2], &words[3], &words[4], &words[5]};
    const ock::driver::Api& api = ock::driver::api();
    CUfunc_st* function = nullptr;
    ock::Module raw(ctx, std::span<const ock::Image>(kernels::images));
    REQUIRE(api.cuModuleGetFunction(&function, raw.handle(), "vecadd") == 0);
    const std::size_t floor =
        count([&] { api.cuLaunchKernel(function, 1, 1, 1, 256, 1, 1, 0, nullptr, params, nullptr); });
    const std::size_t used = count([&] { module.vecadd(stream, prepared, a, a, c); });
    CHECK(used == floor);
}

TEST_CASE("parameters are laid out as the kernel reads them") {
    Device device;
    ock::Context ctx(0);
    auto stream = ctx.default_stream();
    auto module = zoo::load(ctx);
    auto inner = zoo::inner::load(ctx);

    auto particles = ock::zeroed<zoo::Particle>(stream, 32);
    zoo::Pair pair{};
    pair._0 = ock::i128(-2);
    pair._1.mass = 1.5;
    module.move_particle(stream, ock::cover(particles), particles, pair, zoo::Packed{7, 2.5f}, U'\u00e9',
                         true);
    const auto& p = device.driver.parameters;
    REQUIRE(p.size() == 6);
    CHECK(value_of<std::uint64_t>(p[0]) == reinterpret_cast<std::uint64_t>(particles.device_pointer()));
    CHECK(value_of<std::uint64_t>(p[1]) == 32);
    CHECK(value_of<zoo::Pair>(p[2])._0 == ock::i128(-1, ~std::uint64_t{1}));
    CHECK(value_of<zoo::Pair>(p[2])._1.mass == 1.5);
    CHECK(p[3][0] == 7);
    CHECK(value_of<std::uint32_t>(p[4]) == 0xe9);
    CHECK(value_of<bool>(p[5]));

    auto pixels = ock::zeroed<ock::f16>(stream, 640 * 3 + 1);
    take_calls();
    module.image(stream, ock::cover(ock::RowWidth(pixels, 640)), ock::RowWidth(pixels, 640), 9u);
    CHECK(take_calls() ==
          std::vector<std::string>{"launch image grid 40,1,1 block 16,16,1 shared 0 stream 0"});
    REQUIRE(device.driver.parameters.size() == 4);
    CHECK(value_of<std::uint64_t>(device.driver.parameters[1]) == 640 * 3 + 1);
    CHECK(value_of<std::uint32_t>(device.driver.parameters[2]) == 640);
    CHECK(value_of<std::uint32_t>(device.driver.parameters[3]) == 9);

    auto x = ock::zeroed<float>(stream, 4);
    inner.unsafe_delete_(stream, ock::cover(4), x.device_pointer(), x.device_pointer(), -5);
    CHECK(value_of<std::int32_t>(device.driver.parameters[2]) == -5);

    const auto bad = error_of([&] {
        module.move_particle(stream, ock::cover(particles), particles, pair, zoo::Packed{}, char32_t{0xd800},
                             true);
    });
    REQUIRE(bad);
    CHECK(bad->code() == ock::ErrorCode::InvalidArgument);
}

TEST_CASE("contract errors are typed, in the table's order") {
    Device device;
    ock::Context ctx(0);
    auto module = kernels::load(ctx);
    auto animals = zoo::load(ctx);
    auto inner = zoo::inner::load(ctx);
    const auto vecadd = [&](std::uint64_t grid, std::uint64_t block, std::uint64_t shared = 0) {
        return kind_of([&] { (void)module.prepare_vecadd(ock::LaunchConfig1D(grid, block, shared)); });
    };
    CHECK(vecadd(4, 256) == std::nullopt);
    CHECK(vecadd(0, 256) == Kind::ZeroDimension);
    CHECK(vecadd(4, 0) == Kind::ZeroDimension);
    CHECK(vecadd(4, 128) == Kind::BlockShapeMismatch);
    CHECK(vecadd(4, 256, 16) == Kind::DynamicSharedMemoryExactMismatch);
    CHECK(vecadd(0x80000000ull, 256) == Kind::DeviceDimensionExceeded);
    CHECK(vecadd(static_cast<std::uint64_t>(-1), 256) == Kind::DeviceDimensionExceeded);
    CHECK(kind_of([&] {
              (void)animals.prepare_volume(ock::LaunchConfig3D({1ull << 40, 1ull << 40, 1}, {4, 4, 4}));
          }) == Kind::DimensionProductOverflow);

    CHECK(kind_of([&] { (void)animals.prepare_scale(ock::LaunchConfig1D(1, 129)); }) ==
          Kind::BlockThreadsExceedContract);
    CHECK(kind_of([&] { (void)animals.prepare_scale(ock::LaunchConfig1D(1, 1)); }) == std::nullopt);
    CHECK(kind_of([&] { (void)animals.prepare_with_shared(ock::LaunchConfig1D(1, 64, 512)); }) ==
          Kind::DynamicSharedMemoryOutsideRange);
    CHECK(kind_of([&] { (void)animals.prepare_with_shared(ock::LaunchConfig1D(1, 64, 70000)); }) ==
          Kind::DynamicSharedMemoryOutsideRange);
    CHECK(kind_of([&] { (void)inner.prepare_clustered(ock::LaunchConfig1D(3, 128)); }) ==
          Kind::ClusterDoesNotDivideGrid);
    CHECK(kind_of([&] { (void)inner.prepare_clustered(ock::LaunchConfig1D(1u << 26, 128)); }) ==
          Kind::CoordinateRangeExceedsU32);
    CHECK(kind_of([&] { (void)inner.prepare_grid_wide(ock::LaunchConfig1D(21, 128)); }) ==
          Kind::CooperativeGridTooLarge);
    CHECK(kind_of([&] { (void)inner.prepare_grid_wide(ock::LaunchConfig1D(20, 128)); }) == std::nullopt);
    device.driver.potential_cluster_size = 1;
    CHECK(kind_of([&] { (void)inner.prepare_clustered(ock::LaunchConfig1D(2, 128)); }) ==
          Kind::ClusterSizeExceeded);
    device.driver.potential_cluster_size = 8;
    device.driver.active_clusters_result = 1;
    CHECK(kind_of([&] { (void)inner.prepare_clustered(ock::LaunchConfig1D(2, 128)); }) ==
          Kind::ClusterShapeUnsupported);
    device.driver.active_clusters_result = 0;
    device.driver.active_clusters = 0;
    CHECK(kind_of([&] { (void)inner.prepare_clustered(ock::LaunchConfig1D(2, 128)); }) ==
          Kind::ClusterHasNoResidency);

    const auto error = error_of([&] { (void)module.prepare_vecadd(ock::LaunchConfig1D(4, 128)); });
    REQUIRE(error);
    CHECK(error->code() == ock::ErrorCode::LaunchContract);
    CHECK(std::string(error->what()).find("the contract says (256, 1, 1), the launch (128, 1, 1)") !=
          std::string::npos);
    CHECK(std::string(error->what()).find("BlockShapeMismatch") != std::string::npos);
    CHECK(std::string(error->where().file).ends_with("runtime_test.cpp"));
}

TEST_CASE("contract errors of a lesser device") {
    Device device;
    using namespace ock::driver;
    SUBCASE("threads") {
        device.driver.device_attributes[kMaxThreadsPerBlock] = 128;
        ock::Context ctx(0);
        auto module = kernels::load(ctx);
        CHECK(kind_of([&] { (void)module.prepare_vecadd(ock::LaunchConfig1D(1, 256)); }) ==
              Kind::DeviceThreadsPerBlockExceeded);
    }
    SUBCASE("registers") {
        device.driver.function_attributes[kFunctionMaxThreadsPerBlock] = 128;
        ock::Context ctx(0);
        auto module = kernels::load(ctx);
        CHECK(kind_of([&] { (void)module.prepare_vecadd(ock::LaunchConfig1D(1, 256)); }) ==
              Kind::FunctionThreadsPerBlockExceeded);
    }
    SUBCASE("shared memory, opt-in") {
        device.driver.function_attributes[kFunctionSharedSizeBytes] = 200000;
        ock::Context ctx(0);
        auto module = zoo::load(ctx);
        const auto error =
            error_of([&] { (void)module.prepare_with_shared(ock::LaunchConfig1D(1, 64, 1024)); });
        REQUIRE(error);
        REQUIRE(error->violation());
        CHECK(error->violation()->kind == Kind::DeviceSharedMemoryExceeded);
        CHECK(error->violation()->actual == 265536);  // the contract's maximum counts
        CHECK(error->violation()->limit == 232448);
        CHECK(error->violation()->opt_in);
    }
    SUBCASE("compute capability") {
        device.driver.device_attributes[kComputeCapabilityMajor] = 8;
        ock::Context ctx(0);
        auto module = zoo::load(ctx);
        CHECK(kind_of([&] { (void)module.prepare_with_shared(ock::LaunchConfig1D(1, 64, 1024)); }) ==
              std::nullopt);
    }
    SUBCASE("clusters") {
        device.driver.device_attributes.erase(kClusterLaunch);  // a driver that has never heard of them
        ock::Context ctx(0);
        auto module = zoo::inner::load(ctx);
        CHECK(kind_of([&] { (void)module.prepare_clustered(ock::LaunchConfig1D(2, 128)); }) ==
              Kind::ClusterLaunchUnsupported);
    }
    SUBCASE("another compiled cluster") {
        device.driver.function_attributes[kFunctionRequiredClusterWidth] = 4;
        device.driver.function_attributes[kFunctionRequiredClusterHeight] = 1;
        device.driver.function_attributes[kFunctionRequiredClusterDepth] = 1;
        ock::Context ctx(0);
        auto module = zoo::inner::load(ctx);
        CHECK(kind_of([&] { (void)module.prepare_clustered(ock::LaunchConfig1D(2, 128)); }) ==
              Kind::FunctionClusterShapeMismatch);
    }
    SUBCASE("a cluster that the contract does not name") {
        device.driver.function_attributes[kFunctionClusterSizeMustBeSet] = 1;
        ock::Context ctx(0);
        auto module = kernels::load(ctx);
        CHECK(kind_of([&] { (void)module.prepare_vecadd(ock::LaunchConfig1D(1, 256)); }) ==
              Kind::RequiredClusterDimensionsMissing);
    }
    SUBCASE("cooperation") {
        device.driver.device_attributes[kCooperativeLaunch] = 0;
        ock::Context ctx(0);
        auto module = zoo::inner::load(ctx);
        CHECK(kind_of([&] { (void)module.prepare_grid_wide(ock::LaunchConfig1D(1, 128)); }) ==
              Kind::CooperativeLaunchUnsupported);
    }
}

TEST_CASE("contracts that no compiler writes are refused too") {
    Device device;
    ock::Context ctx(0);
    ock::Module module(ctx, std::span<const ock::Image>(kernels::images));
    const auto prepare = [&](const ock::KernelContract& contract, std::uint64_t shared) {
        return kind_of([&] {
            const ock::Function function = module.function(contract);
            (void)function.check(ock::LaunchConfig1D(1, 32, shared), ock::Where::here());
        });
    };
    ock::KernelContract contract;
    contract.domain = 1;
    CHECK(prepare(contract, 0) == Kind::EmptyKernelName);
    contract.name = "k";
    CHECK(prepare(contract, 0) == std::nullopt);
    contract.dynamic_shared_alignment = 24;
    CHECK(prepare(contract, 0) == Kind::InvalidSharedMemoryAlignment);
    contract.dynamic_shared_alignment = 16;
    contract.dynamic_shared_min = 8;
    CHECK(prepare(contract, 0) == Kind::InvalidSharedMemoryRange);
    contract.dynamic_shared_max = UINT64_MAX;
    CHECK(prepare(contract, 8) == Kind::DeviceSharedMemoryExceeded);
    device.driver.function_attributes[ock::driver::kFunctionSharedSizeBytes] = 8;
    CHECK(prepare(contract, 8) == Kind::SharedMemoryTotalOverflow);
    contract.dynamic_shared_max = 8;
    contract.min_compute_capability = 100;
    CHECK(prepare(contract, 8) == Kind::ComputeCapabilityTooLow);
}

TEST_CASE("preparing raises the dynamic shared memory limit when it must") {
    Device device;
    ock::Context ctx(0);
    auto stream = ctx.default_stream();
    auto module = zoo::load(ctx);
    auto out = ock::zeroed<float>(stream, 64);
    take_calls();
    auto prepared = module.prepare_with_shared(ock::LaunchConfig1D(1, 64, 2048));
    CHECK(take_calls() == std::vector<std::string>{"set with_shared 8 to 65536"});
    module.with_shared(stream, prepared, out);
    CHECK(take_calls() ==
          std::vector<std::string>{"launch with_shared grid 1,1,1 block 64,1,1 shared 2048 stream 0"});
    module.unsafe_launch_with_shared(stream, ock::LaunchConfig1D(1, 64, 50000), out);
    CHECK(take_calls().front() == "set with_shared 8 to 50000");
    CHECK(
        error_of([&] { module.unsafe_launch_with_shared(stream, ock::LaunchConfig1D(1ull << 32, 1), out); }));
}

TEST_CASE("clusters and cooperation go through the extended launch") {
    Device device;
    ock::Context ctx(0);
    auto stream = ctx.default_stream();
    auto module = zoo::inner::load(ctx);
    auto out = ock::zeroed<float>(stream, 300);
    take_calls();
    module.clustered(stream, ock::cover(out), out);
    CHECK(take_calls() ==
          std::vector<std::string>{"launch clustered grid 4,1,1 block 128,1,1 shared 0 stream 0 cluster 2"});
    module.grid_wide(stream, ock::cover(out), out);
    CHECK(take_calls() == std::vector<std::string>{
                              "launch grid_wide grid 3,1,1 block 128,1,1 shared 0 stream 0 cooperative"});
}

TEST_CASE("requires relations are checked at each launch") {
    Device device;
    ock::Context ctx(0);
    auto stream = ctx.default_stream();
    auto module = zoo::load(ctx);
    auto x = ock::zeroed<float>(stream, 20);
    auto fits = ock::zeroed<float>(stream, 10);
    auto large = ock::zeroed<float>(stream, 11);
    const auto prepared = module.prepare_scale(ock::LaunchConfig1D(1, 64));
    module.scale(stream, prepared, 2.0f, x, fits);
    take_calls();
    const auto error = error_of([&] { module.scale(stream, prepared, 2.0f, x, large); });
    CHECK(take_calls().empty());
    REQUIRE(error);
    REQUIRE(error->violation());
    CHECK(error->violation()->kind == Kind::SizeRequirementViolated);
    CHECK(error->violation()->relation == "x.len() >= out.len() * 2");
    CHECK(error->violation()->actual == 20);
    CHECK(error->violation()->limit == 22);
    CHECK(std::string(error->what()).find("x.len() >= out.len() * 2, with 20 and 22") != std::string::npos);

    const ock::DevSpan<float> endless(ock::driver::CUdeviceptr{1 << 20}, std::size_t{1} << 63);
    CHECK(kind_of([&] { module.scale(stream, prepared, 2.0f, x, endless); }) ==
          Kind::SizeRequirementOverflow);
}

TEST_CASE("sizes remember overflow") {
    using ock::Size;
    CHECK((Size(2) + Size(3)).value() == 5);
    CHECK_FALSE((Size(2) - Size(2)).overflowed());
    CHECK((Size(2) - Size(3)).overflowed());
    CHECK((Size(UINT64_MAX) + Size(1)).overflowed());
    CHECK((Size(1ull << 32) * Size(1ull << 32)).overflowed());
    CHECK_FALSE((Size(0) * Size(UINT64_MAX)).overflowed());
    CHECK((Size(1) < Size(2) - Size(3)).overflowed);
    CHECK((Size(3) != Size(2)).holds);
    CHECK((Size(3) > Size(2)).holds);
    CHECK_FALSE((Size(3) <= Size(2)).holds);
    CHECK_FALSE((Size(3) == Size(2)).holds);
}

TEST_CASE("overlapping memory is refused before anything is launched") {
    Device device;
    ock::Context ctx(0);
    auto stream = ctx.default_stream();
    auto module = kernels::load(ctx);
    auto animals = zoo::load(ctx);
    ock::DeviceBuffer<float> a = ock::zeroed<float>(stream, 64);
    ock::DeviceBuffer<float> c = ock::zeroed<float>(stream, 64);
    const auto prepared = module.prepare_vecadd(ock::LaunchConfig1D(1, 256));
    take_calls();

    const auto same = error_of([&] { module.vecadd(stream, prepared, c, a, c); });
    REQUIRE(same);
    CHECK(same->code() == ock::ErrorCode::Aliasing);
    CHECK(std::string(same->what()).find("E0502") != std::string::npos);
    CHECK(std::string(same->what()).find("`c` as mutable") != std::string::npos);
    CHECK(std::string(same->what()).find("overlaps `a`") != std::string::npos);

    // A window of the output, one element in common.
    const ock::DevSpan<float> whole = c.span();
    const auto part =
        error_of([&] { module.vecadd(stream, prepared, a, whole.subspan(0, 32), whole.subspan(31, 33)); });
    REQUIRE(part);
    CHECK(std::string(part->what()).find("overlaps `b`") != std::string::npos);
    CHECK(take_calls().empty());
    module.vecadd(stream, prepared, whole.subspan(0, 32), whole.subspan(0, 32), whole.subspan(32, 32));
    module.vecadd(stream, prepared, whole.subspan(32, 0), a, c);  // nothing overlaps an empty slice
    CHECK(take_calls().size() == 2);
    CHECK(error_of([&] { (void)whole.subspan(1, 64); }));

    const auto twice = error_of([&] { animals.swap_halves(stream, ock::cover(32), c, c); });
    REQUIRE(twice);
    CHECK(std::string(twice->what()).find("E0499") != std::string::npos);

    ock::DeviceBuffer<std::uint32_t> keys = ock::zeroed<std::uint32_t>(stream, 64);
    const auto atomic = error_of([&] { animals.histogram(stream, ock::cover(64), keys, keys); });
    REQUIRE(atomic);
    CHECK(std::string(atomic->what()).find("`bins` as mutable") != std::string::npos);
    take_calls();
    module.unsafe_launch_vecadd(stream, ock::LaunchConfig1D(1, 256), c, a, c);
    CHECK(take_calls().size() == 1);
}

TEST_CASE("two streams never race on a buffer") {
    Device device;
    ock::Context ctx(0);
    auto first = ctx.new_stream();
    auto second = ctx.new_stream();
    auto third = ctx.new_stream();
    auto module = kernels::load(ctx);
    const auto prepared = module.prepare_vecadd(ock::LaunchConfig1D(1, 256));
    auto a = ock::zeroed<float>(first, 64);
    auto b = ock::zeroed<float>(first, 64);
    auto c = ock::zeroed<float>(first, 64);
    auto d = ock::zeroed<float>(first, 64);
    take_calls();
    const auto orders = [] {  // only the orders, without the numbers that depend on earlier tests
        std::size_t count = 0;
        for (const std::string& call : take_calls())
            count += call.starts_with("stream ") ? 1 : 0;
        return count;
    };

    module.vecadd(first, prepared, a, b, c);
    CHECK(orders() == 0);  // one stream is in order by itself
    module.vecadd(second, prepared, a, b, d);
    CHECK(orders() == 3);  // after what wrote a and b, and after the clearing of d
    module.vecadd(second, prepared, a, b, d);
    CHECK(orders() == 0);  // known to be after
    module.vecadd(first, prepared, a, b, c);
    CHECK(orders() == 0);  // reading beside the other reader
    module.vecadd(third, prepared, c, d, a);
    CHECK(orders() == 5);  // after the writers of c and d; after a's writer and its two readers
    CHECK(a.to_host(first).size() == 64);
    CHECK(orders() == 1);  // reads what the third wrote
}

TEST_CASE("streams: default, own, borrowed, pooled") {
    Device device;
    ock::Context ctx(0);
    CHECK(ctx.default_stream().handle() == nullptr);
    ock::driver::CUstream handle = nullptr;
    {
        auto own = ctx.new_stream();
        handle = own.handle();
        CHECK(handle != nullptr);
        CHECK(own.is_idle());
        own.synchronize();
    }
    auto again = ctx.new_stream();
    CHECK(again.handle() == handle);  // pooled: buffers may remember it

    ock::driver::CUstream foreign = nullptr;
    REQUIRE(ock::driver::api().cuStreamCreate(&foreign, 0) == 0);
    {
        auto borrowed = ock::Stream::borrow(ctx, foreign);
        auto twice = ock::Stream::borrow(ctx, foreign);
        CHECK(borrowed.handle() == foreign);
        auto buffer = ock::zeroed<float>(borrowed, 4);
        buffer.set_zero(twice);
        take_calls();
        buffer.set_zero(again);
        CHECK(take_calls().size() == 1);
    }
    ock::driver::api().cuStreamDestroy_v2(foreign);

    std::vector<ock::Stream> many;
    const auto full = error_of([&] {
        for (int i = 0; i < 64; ++i)
            many.push_back(ctx.new_stream());
    });
    REQUIRE(full);
    CHECK(many.size() ==
          62);  // 64 slots without the default stream and `again`; the borrowed one is free again
    many.clear();
    auto moved = std::move(again);
    CHECK(error_of([&] { again.synchronize(); })->code() == ock::ErrorCode::MovedFrom);
    moved.synchronize();
}

TEST_CASE("events") {
    Device device;
    ock::Context ctx(0);
    auto stream = ctx.new_stream();
    ock::Event start(ctx);
    ock::Event end(ctx);
    start.record(stream);
    end.record(stream);
    take_calls();
    ctx.default_stream().wait(end);
    CHECK(take_calls().size() == 1);
    end.synchronize();
    CHECK(end.elapsed_since(start) == 1.5f);
    ock::Event other = std::move(start);
    CHECK(error_of([&] { start.record(stream); })->code() == ock::ErrorCode::MovedFrom);
    CHECK(other.handle() != nullptr);
}

TEST_CASE("moved-from and default-made objects throw") {
    Device device;
    ock::Context ctx(0);
    auto stream = ctx.default_stream();
    auto module = kernels::load(ctx);
    auto a = ock::zeroed<float>(stream, 64);
    auto c = ock::zeroed<float>(stream, 64);
    ock::DeviceBuffer<float> kept = std::move(a);
    const auto used = error_of([&] { module.vecadd(stream, ock::cover(64), a, kept, c); });
    REQUIRE(used);
    CHECK(used->code() == ock::ErrorCode::MovedFrom);
    CHECK(std::string(used->where().file).ends_with("runtime_test.cpp"));
    CHECK(error_of([&] { (void)a.size(); }));
    ock::DeviceBuffer<float> empty;
    CHECK(error_of([&] { (void)empty.to_host(stream); }));
    empty = ock::zeroed<float>(stream, 2);
    CHECK(empty.size() == 2);
    kernels::Module other = std::move(module);
    CHECK(error_of([&] { (void)module.prepare_vecadd(ock::LaunchConfig1D(1, 256)); })->code() ==
          ock::ErrorCode::MovedFrom);
    CHECK_FALSE(error_of([&] { (void)other.prepare_vecadd(ock::LaunchConfig1D(1, 256)); }));
    ock::Context elsewhere = std::move(ctx);
    CHECK(error_of([&] { (void)ctx.default_stream(); })->code() == ock::ErrorCode::MovedFrom);
}

TEST_CASE("everything is given back, in any order") {
    Device device;
    {
        std::optional<ock::Context> ctx(std::in_place, 0);
        std::optional<ock::Stream> stream(ctx->new_stream());
        std::optional<kernels::Module> module(kernels::load(*ctx));
        std::optional<ock::PreparedLaunch<kernels::vecadd_kernel>> prepared(
            module->prepare_vecadd(ock::LaunchConfig1D(1, 256)));
        auto buffer = ock::zeroed<float>(*stream, 64);
        auto output = ock::zeroed<float>(*stream, 64);
        ctx.reset();
        const kernels::Module last = std::move(*module);
        last.vecadd(*stream, *prepared, buffer, buffer, output);
        stream.reset();
        CHECK(device.driver.live_allocations == 2);
        CHECK(device.driver.live_modules == 1);
    }
    CHECK(device.driver.live_allocations == 0);
    CHECK(device.driver.live_modules == 0);
}

TEST_CASE("other contexts' streams and buffers") {
    Device device;
    ock::Context ctx(0);
    ock::Context other(1);
    ock::Context same(0);
    auto stream = ctx.default_stream();
    auto strange = other.default_stream();
    auto module = kernels::load(ctx);
    auto a = ock::zeroed<float>(stream, 64);
    auto c = ock::zeroed<float>(stream, 64);
    auto far = ock::zeroed<float>(strange, 64);
    const auto prepared = module.prepare_vecadd(ock::LaunchConfig1D(1, 256));
    CHECK(kind_of([&] { module.vecadd(strange, prepared, a, a, c); }) == Kind::ContextMismatch);
    CHECK(kind_of([&] { module.vecadd(stream, prepared, a, a, far); }) == Kind::ContextMismatch);
    CHECK(error_of([&] { (void)a.to_host(strange); }));
    CHECK(kind_of([&] { module.vecadd(same.default_stream(), prepared, a, a, c); }) == std::nullopt);
    const auto missing = error_of([&] { ock::Context third(2); });
    REQUIRE(missing);
    CHECK(missing->code() == ock::ErrorCode::NoDevice);
}

TEST_CASE("the best image is loaded, a refusal explains itself") {
    Device device;
    const auto targets = [] {
        std::string text;
        for (const std::string& call : take_calls()) {
            if (call.starts_with("load ")) text += call.substr(5) + ";";
        }
        return text;
    };
    static constexpr unsigned char sm_75[] = ".version 6.3\n.target sm_75\n";
    static constexpr unsigned char sm_80[] = ".version 7.0\n.target sm_80\n";
    static constexpr unsigned char sm_90[] = ".version 7.8\n.target sm_90\n";
    static constexpr unsigned char sm_90a[] = ".version 8.0\n.target sm_90a\n";
    static constexpr unsigned char sm_120[] = ".version 8.7\n.target sm_120\n";
    const ock::Image images[] = {{"sm_75", 75, false, sm_75, sizeof sm_75 - 1},
                                 {"sm_120", 120, false, sm_120, sizeof sm_120 - 1},
                                 {"sm_90", 90, false, sm_90, sizeof sm_90 - 1},
                                 {"sm_90a", 90, true, sm_90a, sizeof sm_90a - 1},
                                 {"sm_80", 80, false, sm_80, sizeof sm_80 - 1}};
    const auto load = [&](int major, int minor) {
        device.driver.device_attributes[ock::driver::kComputeCapabilityMajor] = major;
        device.driver.device_attributes[ock::driver::kComputeCapabilityMinor] = minor;
        ock::Context ctx(0);
        take_calls();
        const ock::Module module(ctx, images);
        return targets();
    };
    CHECK(load(9, 0) == "sm_90a;");
    CHECK(load(10, 0) == "sm_90;");
    CHECK(load(12, 1) == "sm_120;");
    CHECK(load(8, 6) == "sm_80;");
    CHECK(load(7, 5) == "sm_75;");
    const auto none = error_of([&] { load(7, 0); });
    REQUIRE(none);
    CHECK(none->code() == ock::ErrorCode::NoImage);
    CHECK(std::string(none->what()).find("sm_75, sm_120, sm_90, sm_90a, sm_80") != std::string::npos);
    CHECK(std::string(none->what()).find("--target=sm_70") != std::string::npos);

    device.driver.refused_target = "sm_90a";
    device.driver.refusal = ock::driver::kErrorUnsupportedPtxVersion;
    CHECK(load(9, 0) == "sm_90a;sm_90;");
    device.driver.refusal = 218;
    device.driver.refusal_log = "line 3; error: what is this";
    const auto refused = error_of([&] { load(9, 0); });
    REQUIRE(refused);
    CHECK(refused->code() == ock::ErrorCode::Jit);
    CHECK(refused->jit_log() == "line 3; error: what is this");
    CHECK(refused->driver_name() == "CUDA_ERROR_INVALID_PTX");
    CHECK(std::string(refused->what()).find("what is this") != std::string::npos);
}

TEST_CASE("a failed launch says what the driver and the emulator say") {
    Device device;
    ock::Context ctx(0);
    auto stream = ctx.default_stream();
    auto module = kernels::load(ctx);
    auto a = ock::zeroed<float>(stream, 64);
    auto c = ock::zeroed<float>(stream, 64);
    device.driver.launch_result = 715;
    device.driver.account = "vecadd.rsk:12:9: index out of bounds";
    const auto error = error_of([&] { module.vecadd(stream, ock::cover(c), a, a, c); });
    REQUIRE(error);
    CHECK(error->code() == ock::ErrorCode::Driver);
    CHECK(error->driver_code() == 715);
    CHECK(error->driver_name() == "CUDA_ERROR_ILLEGAL_INSTRUCTION");
    const std::string text = error->what();
    CHECK(text.find("launching `vecadd`: CUDA_ERROR_ILLEGAL_INSTRUCTION (words of the driver)") !=
          std::string::npos);
    CHECK(text.find("vecadd.rsk:12:9: index out of bounds") != std::string::npos);
    CHECK(text.find("runtime_test.cpp:") != std::string::npos);
    device.driver.launch_result = 0;
    device.driver.synchronize_result = 715;
    CHECK(error_of([&] { (void)c.to_host(stream); })->driver_code() == 715);
    CHECK(error_of([&] { ctx.synchronize(); })->driver_code() == 715);
    CHECK(error_of([&] { (void)ock::zeroed<float>(stream, std::size_t{1} << 40); })->driver_name() ==
          "CUDA_ERROR_OUT_OF_MEMORY");
    CHECK(error_of([&] { (void)ock::zeroed<float>(stream, SIZE_MAX / 2); })->code() ==
          ock::ErrorCode::InvalidArgument);
}

TEST_CASE("try_ twins return errors as values, with their type") {
    Device device;
    ock::Context ctx(0);
    auto stream = ctx.default_stream();
    auto module = kernels::try_load(ctx).value();
    auto bad = module.try_prepare_vecadd(ock::LaunchConfig1D(1, 64));
    REQUIRE_FALSE(bad);
    CHECK(bad.error().violation()->kind == Kind::BlockShapeMismatch);
    CHECK_THROWS_AS(bad.value(), ock::LaunchContractError);
    auto good = module.try_prepare_vecadd(ock::LaunchConfig1D(1, 256));
    REQUIRE(good);
    auto a = ock::try_zeroed<float>(stream, 8);
    REQUIRE(a);
    ock::DeviceBuffer<float> c = ock::try_from_host(stream, std::vector<float>(8)).value();
    CHECK(module.try_vecadd(stream, *good, *a, *a, c));
    const ock::Result<void> aliased = module.try_vecadd(stream, *good, c, *a, c);
    REQUIRE_FALSE(aliased);
    CHECK(aliased.error().code() == ock::ErrorCode::Aliasing);
    CHECK_THROWS_AS(aliased.value(), ock::Error);
    CHECK(c.try_to_host(stream).value().size() == 8);
    CHECK(stream.try_synchronize());
    CHECK_FALSE(ock::try_context(7));
}

TEST_CASE("buffers of every element, empty ones, and copies") {
    Device device;
    ock::Context ctx(0);
    auto stream = ctx.default_stream();
    auto flags = ock::from_host(stream, {true, false, true});
    CHECK(flags.to_host(stream) == std::vector<bool>{true, false, true});
    auto none = ock::zeroed<double>(stream, 0);
    CHECK(none.empty());
    CHECK(none.to_host(stream).empty());
    auto module = kernels::load(ctx);
    auto a = ock::zeroed<float>(stream, 0);
    auto c = ock::zeroed<float>(stream, 0);
    module.vecadd(stream, module.prepare_vecadd(ock::LaunchConfig1D(1, 256)), a, a, c);

    auto x = ock::from_host(stream, {1, 2, 3});
    auto y = ock::zeroed<int>(stream, 3);
    y.copy_from(stream, x);
    CHECK(y.to_host(stream) == std::vector<int>{1, 2, 3});
    const int other[] = {4, 5, 6};
    y.copy_from(stream, other);
    int back[3] = {};
    y.copy_to(stream, back);
    CHECK(back[2] == 6);
    y.set_zero(stream);
    CHECK(y.to_host(stream) == std::vector<int>{0, 0, 0});
    auto wrong = ock::zeroed<int>(stream, 4);
    CHECK(error_of([&] { wrong.copy_from(stream, x); }));
}

TEST_CASE("constants") {
    Device device;
    ock::Context ctx(0);
    auto stream = ctx.default_stream();
    auto module = zoo::load(ctx);
    module.set_WEIGHTS(stream, {1.0f, 2.0f, 3.0f, 4.0f});
    ock::Module raw(ctx, std::span<const ock::Image>(zoo::images));
    CHECK(error_of([&] { raw.set_constant(stream, "WEIGHTS", 1.0f); })->code() ==
          ock::ErrorCode::InvalidArgument);
    CHECK(error_of([&] { raw.set_constant(stream, "NOTHING", 1.0f); })->driver_name() ==
          "CUDA_ERROR_NOT_FOUND");
}

TEST_CASE("f16 and bf16 round to nearest, ties to even") {
    CHECK(ock::f16(1.0f).bits == 0x3c00);
    CHECK(ock::f16(-0.0f).bits == 0x8000);
    CHECK(ock::f16(65519.0f).bits == 0x7bff);
    CHECK(ock::f16(65520.0f).bits == 0x7c00);
    CHECK(ock::f16(0x1p-24f).bits == 0x0001);
    CHECK(ock::f16(0x1p-25f).bits == 0x0000);
    CHECK(ock::f16(0x1.8p-25f).bits == 0x0001);
    CHECK(ock::f16(1.0f + 0x1p-11f).bits == 0x3c00);
    CHECK(ock::f16(1.0f + 0x1.8p-10f).bits == 0x3c02);
    CHECK(ock::bf16(1.0f + 0x1p-8f).bits == 0x3f80);
    CHECK(ock::bf16(1.0f + 0x1.8p-7f).bits == 0x3f82);
    // Every f16 that is no NaN survives the way through float.
    for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
        if ((bits & 0x7fff) > 0x7c00) continue;
        const ock::f16 value = ock::f16::from_bits(static_cast<std::uint16_t>(bits));
        REQUIRE(ock::f16(static_cast<float>(value)).bits == bits);
    }
}

int main(int argc, char** argv) {
    setenv("OCK_CUDA_LIBRARY", OCK_FAKE_DRIVER, 1);
    unsetenv("OCK_DEVICE");
    doctest::Context context(argc, argv);
    return context.run();
}
