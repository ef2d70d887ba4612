// Adds two vectors of 1024 floats with the kernel of vecadd.rsk, and checks the result.
#include <cmath>
#include <cstdio>
#include <vector>

#include "vecadd.h"

static int run() {
    auto ctx = ock::Context(0);
    auto stream = ctx.default_stream();

    constexpr std::size_t n = 1024;
    std::vector<float> a_host(n);
    std::vector<float> b_host(n);
    for (std::size_t i = 0; i < n; ++i) {
        a_host[i] = static_cast<float>(i);
        b_host[i] = static_cast<float>(2 * i);
    }
    auto a = ock::from_host(stream, a_host);
    auto b = ock::from_host(stream, b_host);
    auto c = ock::zeroed<float>(stream, n);

    // The token says that 4 blocks of 256 threads meet the kernel's contract on this device; vecadd() takes
    // nothing less.
    auto module = kernels::load(ctx);
    auto prepared = module.prepare_vecadd(ock::LaunchConfig1D(ock::div_ceil(n, 256), 256));
    module.vecadd(stream, prepared, a, b, c);
    // module.vecadd(stream, prepared, c, b, c);   error[E0502]: does not compile

    const std::vector<float> c_host = c.to_host(stream);
    std::size_t errors = 0;
    for (std::size_t i = 0; i < n; ++i) {
        if (std::abs(c_host[i] - (a_host[i] + b_host[i])) > 1e-5f) ++errors;
    }
    if (errors != 0) {
        std::fprintf(stderr, "FAILED: %zu errors\n", errors);
        return 1;
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
