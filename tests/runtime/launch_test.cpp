// Launches through the generated headers: parameters, aliasing, images, errors, and no allocation.
#include "driver_test.hpp"

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
    CHECK(take_calls() == Calls{"launch vecadd grid 4,1,1 block 256,1,1 shared 0 stream 0"});
    const std::vector<float> c_host = c.to_host(stream);
    for (std::size_t i = 0; i < 1000; ++i)
        REQUIRE(c_host[i] == static_cast<float>(3 * i));
    CHECK(value_of<std::uint64_t>(device.driver.parameters[1]) == 1000);

    module.vecadd(stream, ock::cover(c), a, b, c);
    CHECK(take_calls() == Calls{"launch vecadd grid 4,1,1 block 256,1,1 shared 0 stream 0"});
    module.vecadd(stream, ock::cover(0), a, b, c);
    CHECK(take_calls().empty());
    module.unsafe_launch_vecadd(stream, ock::LaunchConfig2D({1, 2}, {3, 4}), a, b, c);
    CHECK(take_calls() == Calls{"launch vecadd grid 1,2,1 block 3,4,1 shared 0 stream 0"});
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
        const std::size_t before = allocation_count;
        work();
        return allocation_count - before;
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
    CHECK(take_calls() == Calls{"launch image grid 40,1,1 block 16,16,1 shared 0 stream 0"});
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

TEST_CASE("clusters and cooperation go through the extended launch") {
    Device device;
    ock::Context ctx(0);
    auto stream = ctx.default_stream();
    auto module = zoo::inner::load(ctx);
    auto out = ock::zeroed<float>(stream, 300);
    take_calls();
    module.clustered(stream, ock::cover(out), out);
    CHECK(take_calls() == Calls{"launch clustered grid 4,1,1 block 128,1,1 shared 0 stream 0 cluster 2"});
    module.grid_wide(stream, ock::cover(out), out);
    CHECK(take_calls() == Calls{"launch grid_wide grid 3,1,1 block 128,1,1 shared 0 stream 0 cooperative"});
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
    CHECK(text.find("launch_test.cpp:") != std::string::npos);
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
