// tensor_map_test [--gpu]: a kernel that takes two tensor maps, and maps that the host refuses with their reason; on the emulator,
// or with --gpu on CUDA device 0 (77 without one).
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "tensor_map.h"

namespace {

int failures = 0;

void expect(bool holds, const std::string& what) {
    if (holds) return;
    ++failures;
    std::fprintf(stderr, "not so: %s\n", what.c_str());
}

// A matrix whose edges cut boxes in two.
void transposes(const ock::Context& context) {
    constexpr std::size_t kRows = 72, kColumns = 100;
    const auto stream = context.new_stream();
    const auto module = boxes::load(context);
    std::vector<float> values(kRows * kColumns);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
    auto from = ock::from_host(stream, values);
    auto to = ock::zeroed<float>(stream, values.size());
    const auto in = ock::tensor_map(from, {.shape = {kRows, kColumns}, .box = {32, 32}, .swizzle = ock::Swizzle::Bytes128});
    const auto out = ock::tensor_map(to, {.shape = {kColumns, kRows}, .box = {32, 32}, .swizzle = ock::Swizzle::Bytes128});
    const auto prepared = module.prepare_transpose(ock::LaunchConfig2D({ock::div_ceil(kColumns, 32), ock::div_ceil(kRows, 32)}, {32, 1}));
    module.transpose(stream, prepared, in, out);
    const std::vector<float> result = to.to_host(stream);
    bool right = true;
    for (std::size_t r = 0; r < kRows; ++r) {
        for (std::size_t c = 0; c < kColumns; ++c) right = right && result[c * kRows + r] == values[r * kColumns + c];
    }
    expect(right, "the matrix is transposed");
}

void refuses(const ock::Context& context) {
    const auto stream = context.new_stream();
    auto memory = ock::zeroed<float>(stream, 64 * 64);
    const auto reason = [&](const ock::TensorMapOptions& options) {
        const auto result = ock::try_tensor_map(memory, options);
        return result.has_value() ? std::string("nothing") : std::string(result.error().what());
    };
    const auto check = [&](const ock::TensorMapOptions& options, std::string_view words) {
        const std::string text = reason(options);
        expect(text.find(words) != std::string::npos, std::string(words) + ", but: " + text);
    };
    check({.shape = {64, 64}, .box = {8, 8}}, "nothing");
    check({.shape = {}, .box = {}}, "a tensor has 1 to 5 axes, not 0");
    check({.shape = {64, 64}, .box = {8}}, "the box has 1 axes, the tensor 2");
    check({.shape = {64, 64}, .box = {8, 2}}, "a row of the box has 8 bytes: it must be a multiple of 16");
    check({.shape = {64, 64}, .box = {0, 8}}, "the box has extent 0 on axis 0");
    check({.shape = {64, 64}, .box = {8, 64}, .swizzle = ock::Swizzle::Bytes128}, "a row of the box has 256 bytes, more than the swizzle's 128");
    check({.shape = {64, 63}, .box = {8, 8}}, "the stride of axis 0 is 252 bytes: it must be a multiple of 16");
    check({.shape = {65, 64}, .box = {8, 8}}, "the tensor has an element 4159, the memory only 4096");
    check({.shape = {32, 64}, .box = {8, 8}, .strides = {32}}, "the stride of axis 0 is shorter than what lies in it");
    check({.shape = {32, 32}, .box = {8, 8}, .strides = {64}, .steps = {2, 1}}, "nothing");
    check({.shape = {32, 32}, .box = {8, 8}, .steps = {1, 2}}, "the last axis has no step");
    auto words = ock::zeroed<std::uint32_t>(stream, 64);
    const auto result = ock::try_tensor_map(words, {.shape = {64}, .box = {8}, .outside = ock::Outside::NaN});
    expect(!result.has_value() && std::string(result.error().what()).find("only floats can be NaN") != std::string::npos, "integers have no NaN");
}

}  // namespace

int main(int argc, char** argv) {
    const bool gpu = argc > 1 && std::string_view(argv[1]) == "--gpu";
    setenv("OCK_DEVICE", gpu ? "cuda:0" : "emulator", 1);
    try {
        const ock::Context context(0);
        transposes(context);
        refuses(context);
    } catch (const ock::Error& error) {
        if (gpu && (error.code() == ock::ErrorCode::Loader || error.code() == ock::ErrorCode::NoDevice || error.code() == ock::ErrorCode::NoImage)) return 77;
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
    return failures == 0 ? 0 : 1;
}
