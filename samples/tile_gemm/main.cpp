// Products of matrices that no tile divides on any axis, in f32 and with f16 and bf16 operands, against sums in double on the
// host. The latter need more shared memory than a block has without asking; the launch asks.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <vector>

#include "tile_gemm.h"

namespace {

constexpr float kPoison = -12345.0f;

struct Sizes {
    std::int64_t m, n, k;
};

float random_float(std::uint64_t& state) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return static_cast<float>(static_cast<double>(state >> 40) / (1 << 23)) - 1.0f;   // [-1, 1)
}

template <class T>
std::vector<T> random_matrix(std::int64_t count, std::uint64_t seed) {
    std::uint64_t state = seed * 0x9E3779B97F4A7C15u + 1;
    std::vector<T> elements;
    for (std::int64_t i = 0; i < count; ++i) elements.push_back(T(random_float(state)));
    return elements;
}

// The largest error, relative to the root of the sum of squares that an element's products have.
template <class T>
double worst_error(const Sizes& s, const std::vector<T>& x, const std::vector<T>& y, const std::vector<float>& got) {
    double worst = 0;
    for (std::int64_t i = 0; i < s.m; ++i) {
        for (std::int64_t j = 0; j < s.n; ++j) {
            double sum = 0, squares = 1e-12;
            for (std::int64_t k = 0; k < s.k; ++k) {
                const double product = static_cast<double>(static_cast<float>(x[static_cast<std::size_t>(i * s.k + k)])) *
                                       static_cast<double>(static_cast<float>(y[static_cast<std::size_t>(k * s.n + j)]));
                sum += product;
                squares += product * product;
            }
            const double error = std::abs(got[static_cast<std::size_t>(i * s.n + j)] - sum) / std::sqrt(squares);
            if (!(error <= worst)) worst = error;   // NaN too
        }
    }
    return worst;
}

template <class T>
bool run_one(const ock::Stream& stream, const char* name, const Sizes& s) {
    const std::vector<T> x_host = random_matrix<T>(s.m * s.k, 1), y_host = random_matrix<T>(s.k * s.n, 2);
    auto x = ock::tensor({s.m, s.k}, x_host);
    auto y = ock::tensor({s.k, s.n}, y_host);
    auto z = ock::full<float>({s.m, s.n}, kPoison).partition({64, 128});
    const std::vector<float> got = matrices::gemm(std::move(z), x, y).first().unpartition().to_host().sync_on(stream);
    const double worst = worst_error(s, x_host, y_host, got);
    const bool good = worst < 1e-5;
    std::printf("%-4s %4lld x %4lld x %4lld: largest error %.2e%s\n", name, static_cast<long long>(s.m), static_cast<long long>(s.n),
                static_cast<long long>(s.k), worst, good ? "" : "  WRONG");
    return good;
}

int run() {
    auto ctx = ock::Context(0);
    auto stream = ctx.default_stream();
    bool good = true;
    for (const Sizes& sizes : {Sizes{1, 1, 1}, Sizes{64, 128, 64}, Sizes{130, 264, 456}, Sizes{33, 129, 47}}) {
        good = run_one<float>(stream, "f32", sizes) && good;
        good = run_one<ock::f16>(stream, "f16", sizes) && good;
        good = run_one<ock::bf16>(stream, "bf16", sizes) && good;
    }
    if (!good) return 1;
    std::printf("PASSED: all 12 matrices correct\n");
    return 0;
}

}  // namespace

int main() {
    try {
        return run();
    } catch (const ock::Error& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
}
