// y = A x for a 1000 x 300 matrix, one row a thread, through the try_ twins: no exception is used.
#include <cmath>
#include <cstdio>
#include <vector>

#include "matvec.h"

namespace {

constexpr std::uint32_t kRows = 1000;
constexpr std::uint32_t kColumns = 300;

struct Problem {
    std::vector<float> a = std::vector<float>(std::size_t{kRows} * kColumns);
    std::vector<float> x = std::vector<float>(kColumns);

    Problem() {
        for (std::size_t i = 0; i < a.size(); ++i)
            a[i] = static_cast<float>(i * 7 % 32) - 16.0f;
        for (std::size_t i = 0; i < x.size(); ++i)
            x[i] = static_cast<float>(i % 9) * 0.5f;
    }
};

int failed(const ock::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
}

// Every product and sum here is a multiple of 0.5 below 2^23: f32 has no rounding to argue about.
int verify(const Problem& problem, const std::vector<float>& y) {
    for (std::size_t row = 0; row < kRows; ++row) {
        double expected = 0;
        for (std::size_t column = 0; column < kColumns; ++column) {
            expected += static_cast<double>(problem.a[row * kColumns + column]) *
                        static_cast<double>(problem.x[column]);
        }
        if (static_cast<double>(y[row]) != expected) {
            std::fprintf(stderr, "FAILED: row %zu is %g, not %g\n", row, static_cast<double>(y[row]),
                         expected);
            return 1;
        }
    }
    std::printf("PASSED: all %zu elements correct\n", y.size());
    return 0;
}

}  // namespace

int main() {
    const Problem problem;
    auto ctx = ock::try_context(0);
    if (!ctx) return failed(ctx.error());
    auto module = kernels::try_load(*ctx);
    if (!module) return failed(module.error());
    auto prepared = module->try_prepare_matvec(ock::LaunchConfig1D(ock::div_ceil(kRows, 128), 128));
    if (!prepared) return failed(prepared.error());

    const auto stream = ctx->new_stream();
    auto a = ock::try_from_host(stream, problem.a);
    if (!a) return failed(a.error());
    auto x = ock::try_from_host(stream, problem.x);
    if (!x) return failed(x.error());
    auto y = ock::try_zeroed<float>(stream, kRows);
    if (!y) return failed(y.error());

    if (auto launched = module->try_matvec(stream, *prepared, *a, *x, kColumns, *y); !launched) {
        return failed(launched.error());
    }
    const auto result = y->try_to_host(stream);
    if (!result) return failed(result.error());
    return verify(problem, result.value());
}
