// Softmax, RMS normalisation and layer normalisation of matrices whose rows no tile divides, against the same in double on the
// host. The outputs are filled with a value that no result has, so that an element which nobody writes is found.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <vector>

#include "tile_rows.h"

namespace {

constexpr float kEpsilon = 1e-5f;
constexpr float kPoison = -12345.0f;
constexpr double kBound = 1e-5;   // relative to the largest element of the row

struct Matrix {
    std::int64_t rows, columns;
    std::vector<float> elements;
    const float* row(std::int64_t r) const { return elements.data() + r * columns; }
};

Matrix random_matrix(std::int64_t rows, std::int64_t columns, std::uint64_t seed) {
    Matrix matrix{rows, columns, std::vector<float>(static_cast<std::size_t>(rows * columns))};
    std::uint64_t state = seed * 0x9E3779B97F4A7C15u + 1;
    for (float& element : matrix.elements) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        element = static_cast<float>(static_cast<double>(state >> 40) / (1 << 22)) - 3.0f;   // [-3, 1)
    }
    return matrix;
}

// `expected(row, columns)` is one row in double.
template <class Expected>
bool compare(const char* name, const Matrix& x, const std::vector<float>& got, Expected expected) {
    double worst = 0;
    for (std::int64_t r = 0; r < x.rows; ++r) {
        const std::vector<double> want = expected(x.row(r), x.columns);
        double largest = 1e-6;   // a row of zeros has no scale of its own
        for (const double value : want) largest = std::max(largest, std::abs(value));
        for (std::int64_t c = 0; c < x.columns; ++c) {
            const double error = std::abs(got[static_cast<std::size_t>(r * x.columns + c)] - want[static_cast<std::size_t>(c)]) / largest;
            if (!(error <= worst)) worst = error;   // NaN too
        }
    }
    const bool good = worst < kBound;
    std::printf("%-10s %3lld x %5lld: largest error %.2e%s\n", name, static_cast<long long>(x.rows), static_cast<long long>(x.columns), worst, good ? "" : "  WRONG");
    return good;
}

std::vector<double> softmax_row(const float* x, std::int64_t n) {
    const double largest = *std::max_element(x, x + n);
    std::vector<double> out;
    double sum = 0;
    for (std::int64_t c = 0; c < n; ++c) sum += std::exp(x[c] - largest);
    for (std::int64_t c = 0; c < n; ++c) out.push_back(std::exp(x[c] - largest) / sum);
    return out;
}

std::vector<double> rms_norm_row(const float* x, std::int64_t n, const std::vector<float>& weight) {
    double squares = 0;
    for (std::int64_t c = 0; c < n; ++c) squares += static_cast<double>(x[c]) * x[c];
    const double scale = 1 / std::sqrt(squares / static_cast<double>(n) + kEpsilon);
    std::vector<double> out;
    for (std::int64_t c = 0; c < n; ++c) out.push_back(x[c] * scale * weight[static_cast<std::size_t>(c)]);
    return out;
}

std::vector<double> layer_norm_row(const float* x, std::int64_t n) {
    double sum = 0, squares = 0;
    for (std::int64_t c = 0; c < n; ++c) sum += x[c];
    const double mean = sum / static_cast<double>(n);
    for (std::int64_t c = 0; c < n; ++c) squares += (x[c] - mean) * (x[c] - mean);
    const double scale = 1 / std::sqrt(squares / static_cast<double>(n) + kEpsilon);
    std::vector<double> out;
    for (std::int64_t c = 0; c < n; ++c) out.push_back((x[c] - mean) * scale);
    return out;
}

bool run_softmax(const ock::Stream& stream, std::int64_t rows, std::int64_t columns) {
    const Matrix m = random_matrix(rows, columns, 1);
    auto x = ock::tensor({rows, columns}, m.elements);
    auto z = ock::full<float>({rows, columns}, kPoison).partition({2, 1024});
    return compare("softmax", m, rows::softmax(std::move(z), x).first().unpartition().to_host().sync_on(stream), softmax_row);
}

bool run_rms_norm(const ock::Stream& stream, std::int64_t rows, std::int64_t columns) {
    const Matrix m = random_matrix(rows, columns, 2);
    const std::vector<float> weight = random_matrix(1, columns, 3).elements;
    auto x = ock::tensor({rows, columns}, m.elements);
    auto w = ock::tensor({columns}, weight);
    auto z = ock::full<float>({rows, columns}, kPoison).partition({1, 4096});
    const auto n = static_cast<std::int32_t>(columns);
    return compare("rms_norm", m, rows::rms_norm(std::move(z), x, w, n, kEpsilon).first().unpartition().to_host().sync_on(stream),
                   [&](const float* row, std::int64_t count) { return rms_norm_row(row, count, weight); });
}

bool run_layer_norm(const ock::Stream& stream, std::int64_t rows, std::int64_t columns) {
    const Matrix m = random_matrix(rows, columns, 4);
    auto x = ock::tensor({rows, columns}, m.elements);
    auto z = ock::full<float>({rows, columns}, kPoison).partition({1, 4096});
    const auto n = static_cast<std::int32_t>(columns);
    return compare("layer_norm", m, rows::layer_norm(std::move(z), x, n, kEpsilon).first().unpartition().to_host().sync_on(stream), layer_norm_row);
}

int run() {
    auto ctx = ock::Context(0);
    auto stream = ctx.default_stream();
    bool good = true;
    for (const std::int64_t columns : {1, 7, 700, 1024}) good = run_softmax(stream, 5, columns) && good;
    for (const std::int64_t columns : {1, 255, 1300, 4096}) {
        good = run_rms_norm(stream, 3, columns) && good;
        good = run_layer_norm(stream, 3, columns) && good;
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
