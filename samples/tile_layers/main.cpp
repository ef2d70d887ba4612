// Layers of a language model on ragged tensors, against the same in double on the host. Outputs are filled with a value that
// no result has, so that an element which nobody writes is found.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <vector>

#include "tile_layers.h"

namespace {

constexpr float kPoison = -12345.0f;
constexpr double kBound = 1e-5;

std::vector<float> random_floats(std::int64_t count, std::uint64_t seed) {
    std::vector<float> elements;
    std::uint64_t state = seed * 0x9E3779B97F4A7C15u + 1;
    for (std::int64_t i = 0; i < count; ++i) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        elements.push_back(static_cast<float>(static_cast<double>(state >> 40) / (1 << 23)) - 1.0f);   // [-1, 1)
    }
    return elements;
}

std::vector<std::int32_t> random_numbers(std::int64_t count, std::int32_t below, std::uint64_t seed) {
    std::vector<std::int32_t> numbers;
    for (const float value : random_floats(count, seed)) numbers.push_back(static_cast<std::int32_t>((value + 1.0f) * 0.499999f * static_cast<float>(below)));
    return numbers;
}

std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

// `want(i)` is element i in double; errors are relative to `scale`.
template <class Want>
bool compare(const char* name, const std::vector<float>& got, std::int64_t count, double scale, Want want) {
    double worst = got.size() == at(count) ? 0 : INFINITY;
    for (std::int64_t i = 0; i < count && worst < INFINITY; ++i) {
        const double error = std::abs(got[at(i)] - want(i)) / scale;
        if (!(error <= worst)) worst = error;   // NaN too
    }
    const bool good = worst < kBound;
    std::printf("%-14s %6lld elements: largest error %.2e%s\n", name, static_cast<long long>(count), worst, good ? "" : "  WRONG");
    return good;
}

bool run_saxpy(const ock::Stream& stream) {
    const std::int64_t n = 1003;
    const std::vector<float> x_host = random_floats(n, 1), y_host = random_floats(n, 2);
    auto x = ock::tensor({n}, x_host);
    auto y = ock::tensor({n}, y_host);
    auto z = ock::full<float>({n}, kPoison).partition({256});
    const auto got = layers::saxpy(std::move(z), x, y, 1.5f).first().unpartition().to_host().sync_on(stream);
    return compare("saxpy", got, n, 1, [&](std::int64_t i) { return 1.5 * x_host[at(i)] + y_host[at(i)]; });
}

bool run_argmax(const ock::Stream& stream) {
    const std::int64_t rows = 5, columns = 700;
    std::vector<float> x_host = random_floats(rows * columns, 3);
    x_host[at(2 * columns + 650)] = x_host[at(2 * columns + 20)] = x_host[at(2 * columns + 300)] = 2.0f;   // equal ones
    auto x = ock::tensor({rows, columns}, x_host);
    auto value = ock::full<float>({rows}, kPoison).partition({1});
    auto place = ock::full<std::int32_t>({rows}, -7).partition({1});
    auto [value_out, place_out, x_out] = layers::argmax(std::move(value), std::move(place), x).sync_on(stream);
    const std::vector<float> best = std::move(value_out).unpartition().to_host(stream);
    const std::vector<std::int32_t> where = std::move(place_out).unpartition().to_host(stream);
    const auto first = [&](std::int64_t r) { return std::max_element(x_host.begin() + r * columns, x_host.begin() + (r + 1) * columns); };
    bool good = compare("argmax", best, rows, 1, [&](std::int64_t r) { return static_cast<double>(*first(r)); });
    for (std::int64_t r = 0; r < rows; ++r) good = good && where[at(r)] == first(r) - (x_host.begin() + r * columns);
    return good;
}

bool run_embed(const ock::Stream& stream) {
    const std::int64_t tokens = 9, words = 40, width = 100;
    const std::vector<float> table_host = random_floats(words * width, 4);
    const std::vector<std::int32_t> ids_host = random_numbers(tokens, words, 5);
    auto table = ock::tensor({words, width}, table_host);
    auto ids = ock::tensor({tokens}, ids_host);
    auto z = ock::full<float>({tokens, width}, kPoison).partition({1, 64});
    const auto got = layers::embed(std::move(z), ids, table).first().unpartition().to_host().sync_on(stream);
    return compare("embed", got, tokens * width, 1, [&](std::int64_t i) { return static_cast<double>(table_host[at(ids_host[at(i / width)] * width + i % width)]); });
}

bool run_dropout(const ock::Stream& stream) {
    const std::int64_t rows = 19, columns = 150;
    const std::vector<float> x_host = random_floats(rows * columns, 6), random_host = random_floats(rows * columns, 7);
    auto x = ock::tensor({rows, columns}, x_host);
    auto random = ock::tensor({rows, columns}, random_host);
    auto z = ock::full<float>({rows, columns}, kPoison).partition({8, 64});
    const auto got = layers::dropout(std::move(z), x, random, 0.25f).first().unpartition().to_host().sync_on(stream);
    return compare("dropout", got, rows * columns, 1, [&](std::int64_t i) { return random_host[at(i)] >= 0.25f ? x_host[at(i)] / 0.75 : 0.0; });
}

bool run_extend_cache(const ock::Stream& stream) {
    const std::int64_t rows = 50, width = 100, position = 17, fresh_rows = 6;
    const std::vector<float> cache_host = random_floats(rows * width, 8), fresh_host = random_floats(fresh_rows * width, 9);
    auto fresh = ock::tensor({fresh_rows, width}, fresh_host);
    auto cache = ock::tensor({rows, width}, cache_host).partition({1, 64}).map({1, 1}, 5);
    const auto got = layers::extend_cache(std::move(cache), fresh, static_cast<std::int32_t>(position), static_cast<std::int32_t>(fresh_rows))
                         .first().unpartition().to_host().sync_on(stream);
    return compare("extend_cache", got, rows * width, 1, [&](std::int64_t i) {
        const std::int64_t row = i / width - position;
        return static_cast<double>(row >= 0 && row < fresh_rows ? fresh_host[at(row * width + i % width)] : cache_host[at(i)]);
    });
}

bool run_rotate(const ock::Stream& stream) {
    const std::int64_t tokens = 11, heads = 3, width = 64, half = width / 2;
    const std::vector<float> x_host = random_floats(tokens * heads * width, 10);
    auto x = ock::tensor({tokens, heads, width}, x_host);
    auto z = ock::full<float>({tokens, heads, width}, kPoison).partition({1, 1, 64});
    const auto got = layers::rotate(std::move(z), x, 10000.0f).first().unpartition().to_host().sync_on(stream);
    return compare("rotate", got, tokens * heads * width, 1, [&](std::int64_t i) {
        const std::int64_t row = i / width * width, e = i % width, token = i / (heads * width);
        const double angle = static_cast<double>(token) * std::pow(10000.0, -static_cast<double>(e % half) / static_cast<double>(half));
        const double first = x_host[at(row + e % half)], second = x_host[at(row + half + e % half)];
        return e < half ? first * std::cos(angle) - second * std::sin(angle) : second * std::cos(angle) + first * std::sin(angle);
    });
}

bool run_cross_entropy(const ock::Stream& stream) {
    const std::int64_t rows = 7, words = 500;
    const std::vector<float> logits_host = random_floats(rows * words, 11);
    const std::vector<std::int32_t> targets_host = random_numbers(rows, words, 12);
    auto logits = ock::tensor({rows, words}, logits_host);
    auto targets = ock::tensor({rows}, targets_host);
    auto loss = ock::full<float>({rows}, kPoison).partition({1});
    const auto got = layers::cross_entropy(std::move(loss), logits, targets).first().unpartition().to_host().sync_on(stream);
    return compare("cross_entropy", got, rows, 1, [&](std::int64_t r) {
        double sum = 0;
        for (std::int64_t c = 0; c < words; ++c) sum += std::exp(static_cast<double>(logits_host[at(r * words + c)]));
        return std::log(sum) - logits_host[at(r * words + targets_host[at(r)])];
    });
}

bool run_transpose(const ock::Stream& stream) {
    const std::int64_t rows = 75, columns = 41;
    const std::vector<float> x_host = random_floats(rows * columns, 13);
    auto x = ock::tensor({columns, rows}, x_host);
    auto z = ock::full<float>({rows, columns}, kPoison).partition({32, 16});
    const auto got = layers::transpose(std::move(z), x).first().unpartition().to_host().sync_on(stream);
    return compare("transpose", got, rows * columns, 1, [&](std::int64_t i) { return static_cast<double>(x_host[at(i % columns * rows + i / columns)]); });
}

bool run_running_sums(const ock::Stream& stream) {
    const std::int64_t rows = 3, columns = 1500;
    const std::vector<float> x_host = random_floats(rows * columns, 14);
    auto x = ock::tensor({rows, columns}, x_host);
    auto z = ock::full<float>({rows, columns}, kPoison).partition({1, 2048});
    const auto got = layers::running_sums(std::move(z), x).first().unpartition().to_host().sync_on(stream);
    std::vector<double> sums;
    for (std::int64_t i = 0; i < rows * columns; ++i) sums.push_back(i % columns == 0 ? x_host[at(i)] : sums.back() + x_host[at(i)]);
    return compare("running_sums", got, rows * columns, 10, [&](std::int64_t i) { return sums[at(i)]; });
}

bool run_permute_heads(const ock::Stream& stream) {
    const std::int64_t batches = 2, tokens = 21, heads = 3, width = 25;
    const std::vector<float> x_host = random_floats(batches * tokens * heads * width, 15);
    auto x = ock::tensor({batches, tokens, heads, width}, x_host);
    auto z = ock::full<float>({batches, heads, tokens, width}, kPoison).partition({1, 1, 16, 32});
    const auto got = layers::permute_heads(std::move(z), x, static_cast<std::int32_t>(heads)).first().unpartition().to_host().sync_on(stream);
    return compare("permute_heads", got, batches * tokens * heads * width, 1, [&](std::int64_t i) {
        const std::int64_t e = i % width, token = i / width % tokens, head = i / (width * tokens) % heads, batch = i / (width * tokens * heads);
        return static_cast<double>(x_host[at(((batch * tokens + token) * heads + head) * width + e)]);
    });
}

int run() {
    auto ctx = ock::Context(0);
    auto stream = ctx.default_stream();
    bool good = true;
    for (const auto layer : {run_saxpy, run_argmax, run_embed, run_dropout, run_extend_cache, run_rotate, run_cross_entropy, run_transpose, run_running_sums, run_permute_heads}) {
        good = layer(stream) && good;
    }
    if (!good) return 1;
    std::printf("PASSED: all 10 layers correct\n");
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
