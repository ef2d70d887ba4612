// y = alpha * x + y over a million floats: the grid comes from the output, and a second stream reads the
// result.
#include <cmath>
#include <cstdio>
#include <vector>

#include "saxpy.h"

static int run() {
    auto ctx = ock::Context(0);
    auto compute = ctx.new_stream();
    auto copy = ctx.new_stream();

    constexpr std::size_t n = 1'000'003;  // no multiple of the block
    constexpr float alpha = 2.5f;
    std::vector<float> x_host(n);
    std::vector<float> y_host(n);
    for (std::size_t i = 0; i < n; ++i) {
        x_host[i] = static_cast<float>(i % 1000) * 0.25f;
        y_host[i] = static_cast<float>(i % 77);
    }
    auto x = ock::from_host(compute, x_host);
    auto y = ock::from_host(compute, y_host);

    auto module = kernels::load(ctx);
    module.saxpy(compute, ock::cover(y), alpha, x, y);

    // The buffer knows that `compute` still writes it: `copy` waits by itself.
    const std::vector<float> result = y.to_host(copy);
    for (std::size_t i = 0; i < n; ++i) {
        const float expected = std::fma(alpha, x_host[i], y_host[i]);
        if (result[i] != expected) {
            std::fprintf(stderr, "FAILED: element %zu is %g, not %g\n", i, static_cast<double>(result[i]),
                         static_cast<double>(expected));
            return 1;
        }
    }
    std::printf("PASSED: all %zu elements correct\n", n);
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
