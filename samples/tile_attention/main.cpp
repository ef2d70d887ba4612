// Attention over lengths that no tile divides, causal and full, with heads that share their keys and values, in f16 and bf16,
// against a reference in double.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <vector>

#include "tile_attention.h"

namespace {

constexpr std::int64_t kWidth = 64;   // of a head
constexpr float kPoison = -12345.0f;

struct Sizes {
    std::int64_t batches, heads, key_heads, queries, keys;
};

float random_float(std::uint64_t& state) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return static_cast<float>(static_cast<double>(state >> 40) / (1 << 23)) - 1.0f;   // [-1, 1)
}

template <class T>
std::vector<T> random_heads(std::int64_t count, std::uint64_t seed, float size) {
    std::uint64_t state = seed * 0x9E3779B97F4A7C15u + 1;
    std::vector<T> elements;
    for (std::int64_t i = 0; i < count; ++i) elements.push_back(T(size * random_float(state)));
    return elements;
}

template <class T>
double number(const std::vector<T>& all, std::int64_t index) {
    return static_cast<double>(static_cast<float>(all[static_cast<std::size_t>(index)]));
}

// One row of the result in double.
template <class T>
std::vector<double> expected_row(const Sizes& s, const std::vector<T>& q, const std::vector<T>& k, const std::vector<T>& v, std::int64_t head,
                                 std::int64_t row, bool causal) {
    const std::int64_t b = head / s.heads, hk = head % s.heads / (s.heads / s.key_heads);
    const std::int64_t first = (b * s.key_heads + hk) * s.keys * kWidth, own = (head * s.queries + row) * kWidth;
    const std::int64_t keys = causal ? std::min(s.keys, row + 1 + s.keys - s.queries) : s.keys;
    std::vector<double> weights, result(static_cast<std::size_t>(kWidth));
    for (std::int64_t j = 0; j < keys; ++j) {
        double score = 0;
        for (std::int64_t d = 0; d < kWidth; ++d) score += number(q, own + d) * number(k, first + j * kWidth + d);
        weights.push_back(score / std::sqrt(static_cast<double>(kWidth)));
    }
    const double largest = *std::max_element(weights.begin(), weights.end());
    double total = 0;
    for (double& weight : weights) total += weight = std::exp(weight - largest);
    for (std::int64_t j = 0; j < keys; ++j) {
        for (std::int64_t d = 0; d < kWidth; ++d) {
            result[static_cast<std::size_t>(d)] += weights[static_cast<std::size_t>(j)] / total * number(v, first + j * kWidth + d);
        }
    }
    return result;
}

// The largest difference of the heads' elements, relative to the elements' size.
template <class T>
bool run_one(const ock::Stream& stream, const char* name, const Sizes& s, bool causal) {
    const std::vector<T> q_host = random_heads<T>(s.batches * s.heads * s.queries * kWidth, 1, 2.0f);
    const std::vector<T> k_host = random_heads<T>(s.batches * s.key_heads * s.keys * kWidth, 2, 2.0f);
    const std::vector<T> v_host = random_heads<T>(s.batches * s.key_heads * s.keys * kWidth, 3, 1.0f);
    auto q = ock::tensor({s.batches, s.heads, s.queries, kWidth}, q_host);
    auto k = ock::tensor({s.batches, s.key_heads, s.keys, kWidth}, k_host);
    auto v = ock::tensor({s.batches, s.key_heads, s.keys, kWidth}, v_host);
    auto out = ock::full<T>({s.batches * s.heads, s.queries, kWidth}, T(kPoison)).partition({1, 64, 64});
    const float scale = 1.0f / std::sqrt(static_cast<float>(kWidth));
    const auto shared = static_cast<std::int32_t>(s.heads / s.key_heads);
    const std::vector<T> got =
        attention::flash(std::move(out), q, k, v, scale, shared, causal ? 1 : 0).first().unpartition().to_host().sync_on(stream);
    double worst = 0;
    for (std::int64_t head = 0; head < s.batches * s.heads; ++head) {
        for (std::int64_t row = 0; row < s.queries; ++row) {
            const std::vector<double> expected = expected_row(s, q_host, k_host, v_host, head, row, causal);
            for (std::int64_t d = 0; d < kWidth; ++d) {
                const double want = expected[static_cast<std::size_t>(d)];
                const double error = std::abs(number(got, (head * s.queries + row) * kWidth + d) - want) / std::max(1.0, std::abs(want));
                if (!(error <= worst)) worst = error;   // NaN too
            }
        }
    }
    const bool good = worst < 5e-3;
    std::printf("%-4s %-6s %2lld heads, %3lld queries, %3lld keys: largest error %.2e%s\n", name, causal ? "causal" : "full",
                static_cast<long long>(s.batches * s.heads), static_cast<long long>(s.queries), static_cast<long long>(s.keys), worst,
                good ? "" : "  WRONG");
    return good;
}

int run() {
    auto ctx = ock::Context(0);
    auto stream = ctx.default_stream();
    bool good = true;
    for (const bool causal : {false, true}) {
        for (const Sizes& sizes : {Sizes{1, 2, 1, 77, 131}, Sizes{1, 2, 2, 64, 64}}) {
            good = run_one<ock::f16>(stream, "f16", sizes, causal) && good;
            good = run_one<ock::bf16>(stream, "bf16", sizes, causal) && good;
        }
    }
    if (!good) return 1;
    std::printf("PASSED: all 16 heads correct\n");
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
