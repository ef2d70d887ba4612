// The Tile program of the announcement with its host part in C++: adds two tensors of 1024 ones tile by tile. Then the same
// kernel on a length that no tile divides, against sums made on the host.
#include <cmath>
#include <cstdio>
#include <vector>

#include "tile_add.h"

static std::size_t count_errors(const std::vector<float>& got, const std::vector<float>& expected) {
    std::size_t errors = got.size() == expected.size() ? 0 : 1;
    for (std::size_t i = 0; i < got.size() && i < expected.size(); ++i) {
        if (!(std::abs(got[i] - expected[i]) <= 1e-5f)) ++errors;
    }
    return errors;
}

// `tile` elements a tile: 128 and 1024 are the instances that CMakeLists.txt asks for.
static std::size_t add_ragged(const ock::Stream& stream, std::size_t n, int tile) {
    std::vector<float> x_host(n), y_host(n), expected(n);
    for (std::size_t i = 0; i < n; ++i) {
        x_host[i] = static_cast<float>(i % 1000) * 0.25f;
        y_host[i] = 100.0f - static_cast<float>(i % 77);
        expected[i] = x_host[i] + y_host[i];
    }
    const auto extent = static_cast<std::int64_t>(n);
    auto x = ock::tensor({extent}, x_host);
    auto y = ock::tensor({extent}, y_host);
    auto z = ock::full<float>({extent}, -1.0f).partition({tile});
    return count_errors(kernel::add(std::move(z), x, y).first().unpartition().to_host().sync_on(stream), expected);
}

static int run() {
    auto ctx = ock::Context(0);
    auto stream = ctx.default_stream();

    auto x = ock::ones<float>({1024});                    // lazy: nothing has touched the GPU
    auto y = ock::ones<float>({1024});
    auto z = ock::zeros<float>({1024}).partition({128});  // owner of 8 disjoint chunks; fixes the grid; supplies B
    std::vector<float> c = kernel::add(std::move(z), x, y).first().unpartition().to_host().sync_on(stream);
    // kernel::add(z, x, y);   error[E0382]: a launch takes its outputs and hands them back

    std::size_t errors = count_errors(c, std::vector<float>(1024, 2.0f));
    errors += add_ragged(stream, 1, 128) + add_ragged(stream, 1000, 128) + add_ragged(stream, 100003, 1024);
    if (errors != 0) {
        std::fprintf(stderr, "FAILED: %zu errors\n", errors);
        return 1;
    }
    std::printf("PASSED: all %zu elements correct\n", c.size());
    return 0;
}

int main() {
    try {
        return run();
    } catch (const ock::Error& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
}
