// Products of matrices that no tile divides on any axis against sums in double on the host; outputs are filled with a value
// that no result has.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <vector>

#include "tile_products.h"

namespace {

constexpr float kPoison = -12345.0f;
constexpr double kBound = 1e-5;   // relative to the root of the sum of squares that an element's products have

struct Sizes {
    std::int64_t batches, m, n, k;
};

template <class T>
std::vector<T> random_elements(std::int64_t count, std::uint64_t seed) {
    std::uint64_t state = seed * 0x9E3779B97F4A7C15u + 1;
    std::vector<T> elements;
    for (std::int64_t i = 0; i < count; ++i) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        elements.push_back(T(static_cast<float>(static_cast<double>(state >> 40) / (1 << 23)) - 1.0f));   // [-1, 1)
    }
    return elements;
}

template <class T>
double at(const std::vector<T>& elements, std::int64_t index) {
    return static_cast<double>(static_cast<float>(elements[static_cast<std::size_t>(index)]));
}

template <class T>
bool compare(const char* name, const char* type, const Sizes& s, const std::vector<T>& x, const std::vector<T>& y, const std::vector<float>& got) {
    double worst = got.size() == static_cast<std::size_t>(s.batches * s.m * s.n) ? 0 : INFINITY;
    for (std::int64_t i = 0; i < s.batches * s.m * s.n && worst < INFINITY; ++i) {
        const std::int64_t batch = i / (s.m * s.n), row = i / s.n % s.m, column = i % s.n;
        double sum = 0, squares = 1e-12;
        for (std::int64_t k = 0; k < s.k; ++k) {
            const double product = at(x, (batch * s.m + row) * s.k + k) * at(y, (batch * s.k + k) * s.n + column);
            sum += product;
            squares += product * product;
        }
        const double error = std::abs(at(got, i) - sum) / std::sqrt(squares);
        if (!(error <= worst)) worst = error;   // NaN too
    }
    const bool good = worst < kBound;
    std::printf("%-10s %-4s %lld x %3lld x %3lld x %3lld: largest error %.2e%s\n", name, type, static_cast<long long>(s.batches), static_cast<long long>(s.m),
                static_cast<long long>(s.n), static_cast<long long>(s.k), worst, good ? "" : "  WRONG");
    return good;
}

template <class T>
bool run_batched(const ock::Stream& stream, const char* type, const Sizes& s) {
    const std::vector<T> x_host = random_elements<T>(s.batches * s.m * s.k, 1), y_host = random_elements<T>(s.batches * s.k * s.n, 2);
    auto x = ock::tensor({s.batches, s.m, s.k}, x_host);
    auto y = ock::tensor({s.batches, s.k, s.n}, y_host);
    auto z = ock::full<float>({s.batches, s.m, s.n}, kPoison).partition({1, 32, 32});
    return compare("batched", type, s, x_host, y_host, products::batched(std::move(z), x, y).first().unpartition().to_host().sync_on(stream));
}

template <class T>
bool run_persistent(const ock::Stream& stream, const char* type, const Sizes& s, std::uint32_t blocks) {
    const std::vector<T> x_host = random_elements<T>(s.m * s.k, 3), y_host = random_elements<T>(s.k * s.n, 4);
    auto x = ock::tensor({s.m, s.k}, x_host);
    auto y = ock::tensor({s.k, s.n}, y_host);
    auto z = ock::full<float>({s.m, s.n}, kPoison).partition({32, 32}).map({2, 1}, blocks);
    return compare("persistent", type, s, x_host, y_host, products::persistent(std::move(z), x, y).first().unpartition().to_host().sync_on(stream));
}

bool run_bytes(const ock::Stream& stream, const Sizes& s) {
    std::vector<std::int8_t> x_host, y_host;
    for (const float value : random_elements<float>(s.m * s.k, 5)) x_host.push_back(static_cast<std::int8_t>(value * 127));
    for (const float value : random_elements<float>(s.k * s.n, 6)) y_host.push_back(static_cast<std::int8_t>(value * 127));
    auto x = ock::tensor({s.m, s.k}, x_host);
    auto y = ock::tensor({s.k, s.n}, y_host);
    auto z = ock::full<std::int32_t>({s.m, s.n}, -12345678).partition({32, 32});
    const std::vector<std::int32_t> got = products::bytes(std::move(z), x, y).first().unpartition().to_host().sync_on(stream);
    std::int64_t wrong = 0;
    for (std::int64_t i = 0; i < s.m * s.n; ++i) {
        std::int32_t sum = 0;
        for (std::int64_t k = 0; k < s.k; ++k) sum += x_host[static_cast<std::size_t>(i / s.n * s.k + k)] * y_host[static_cast<std::size_t>(k * s.n + i % s.n)];
        wrong += got[static_cast<std::size_t>(i)] != sum ? 1 : 0;
    }
    std::printf("bytes      i8   1 x %3lld x %3lld x %3lld: %lld wrong\n", static_cast<long long>(s.m), static_cast<long long>(s.n), static_cast<long long>(s.k), static_cast<long long>(wrong));
    return wrong == 0;
}

template <class T>
bool run_type(const ock::Stream& stream, const char* type) {
    bool good = run_batched<T>(stream, type, {3, 45, 70, 83});
    good = run_persistent<T>(stream, type, {1, 100, 70, 83}, 5) && good;   // 12 tiles
    return run_persistent<T>(stream, type, {1, 33, 31, 17}, 1) && good;
}

int run() {
    auto ctx = ock::Context(0);
    auto stream = ctx.default_stream();
    bool good = run_type<float>(stream, "f32");
    good = run_type<ock::f16>(stream, "f16") && good;
    good = run_type<ock::bf16>(stream, "bf16") && good;
    good = run_bytes(stream, {1, 75, 41, 90}) && good;
    if (!good) return 1;
    std::printf("PASSED: all 10 products correct\n");
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
