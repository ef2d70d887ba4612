// Buffers, streams, events and contexts: who waits for whom, who owns what, and what a moved-from object
// says.
#include "driver_test.hpp"

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
    CHECK(std::string(used->where().file).ends_with("memory_test.cpp"));
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
