// Contracts: every condition that a launch can miss, by kind, in order, and with its numbers.
#include "driver_test.hpp"

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
    CHECK(std::string(error->where().file).ends_with("contract_test.cpp"));
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
    CHECK(take_calls() == Calls{"set with_shared 8 to 65536"});
    module.with_shared(stream, prepared, out);
    CHECK(take_calls() == Calls{"launch with_shared grid 1,1,1 block 64,1,1 shared 2048 stream 0"});
    module.unsafe_launch_with_shared(stream, ock::LaunchConfig1D(1, 64, 50000), out);
    CHECK(take_calls().front() == "set with_shared 8 to 50000");
    CHECK(
        error_of([&] { module.unsafe_launch_with_shared(stream, ock::LaunchConfig1D(1ull << 32, 1), out); }));
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
