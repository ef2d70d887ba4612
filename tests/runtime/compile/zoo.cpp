// Every kind of parameter and contract, used as meant: compiles without a warning.
#include "zoo.h"

#include <type_traits>

#include "vecadd.h"

void launch(const ock::Context& ctx, const ock::Stream& stream) {
    auto module = zoo::load(ctx);
    auto x = ock::zeroed<float>(stream, 256);
    auto out = ock::zeroed<float>(stream, 128);
    module.scale(stream, ock::cover(out), 2.0f, x, out);

    auto pixels = ock::zeroed<ock::f16>(stream, 640 * 480);
    const ock::RowWidth rows(pixels, 640);
    module.image(stream, ock::cover(rows), rows, 1u);
    module.image(stream, module.prepare_image(ock::LaunchConfig2D({40, 30}, {16, 16})), rows, 2u);

    auto cells = ock::zeroed<std::uint64_t>(stream, 512);
    module.volume(stream, ock::cover(8, 8, 8), cells);

    auto particles = ock::zeroed<zoo::Particle>(stream, 64);
    auto bins = ock::zeroed<std::uint32_t>(stream, 16);
    module.count(stream, ock::cover(particles), particles, bins, bins);  // atomics may be shared
    module.move_particle(stream, ock::cover(particles), particles, zoo::Pair{}, zoo::Packed{}, U'x', true);

    const auto prepared = module.prepare_with_shared(ock::LaunchConfig1D(1, 256, 4096));
    module.with_shared(stream, prepared, out);
    module.set_WEIGHTS(stream, {1, 2, 3, 4});

    auto inner = zoo::inner::load(ctx);
    inner.clustered(stream, ock::cover(out), out);
    inner.grid_wide(stream, ock::cover(out), out);
    inner.unsafe_launch_loose(stream, ock::LaunchConfig1D(1, 32), x, out);
    inner.unsafe_delete_(stream, ock::cover(128), x.device_pointer(), out.device_pointer(), 1);
    module.free_kernel(stream, ock::cover(64), 64u);
}

static_assert(std::is_same_v<zoo::Particle, zoo::inner::Particle>);
