// The announcement's program, and every form a launch can take: compiles without a warning.
#include <array>
#include <cstdio>
#include <utility>
#include <vector>

#include "vecadd.h"

static ock::DeviceBuffer<float> made_elsewhere(const ock::Stream& stream) {
    return ock::zeroed<float>(stream, 16);
}

int main() {
    auto ctx = ock::Context(0);
    auto stream = ctx.default_stream();
    const std::size_t n = 1024;
    std::vector<float> a_host(n), b_host(n);
    auto a = ock::from_host(stream, a_host);
    auto b = ock::from_host(stream, b_host);
    auto c = ock::zeroed<float>(stream, n);
    auto module = kernels::load(ctx);
    auto prepared = module.prepare_vecadd(ock::LaunchConfig1D(ock::div_ceil(n, 256), 256));
    module.vecadd(stream, prepared, a, b, c);
    module.vecadd(stream, prepared, a, a, c);  // two shared borrows of one buffer
    module.vecadd(stream, ock::cover(c), a, b, c);
    auto c_host = c.to_host(stream);

    // Buffers without a brand, spans, and a token kept elsewhere.
    ock::DeviceBuffer<float> plain = made_elsewhere(stream);
    ock::DeviceBuffer<float> moved = std::move(plain);
    const ock::PreparedLaunch<kernels::vecadd_kernel> kept = prepared;
    module.vecadd(stream, kept, moved, ock::DevSpan<const float>(a.span()), c);
    module.vecadd(stream, kept, a, b, ock::DevSpan<float>(c.device_pointer(), c.size()));
    std::vector<ock::DeviceBuffer<float>> many;
    many.push_back(ock::from_host(stream, std::array<float, 2>{1, 2}));
    many.push_back(ock::from_host(stream, {1.0f, 2.0f}));
    many.push_back(ock::zeroed<float>(stream, 2));
    module.vecadd(stream, ock::cover(2), many[0], many[1], many[2]);
    if (ock::Result<void> result = module.try_vecadd(stream, prepared, a, b, c); !result)
        std::puts(result.error().what());
    module.unsafe_launch_vecadd(stream, ock::LaunchConfig1D(1, 64), a, b, c);
    if (auto loaded = kernels::try_load(ctx)) c_host = c.to_host(stream);
    return static_cast<int>(c_host.size());
}
