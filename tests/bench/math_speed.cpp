// bench_math [NAME..]: what one evaluation of each elementary function of f32 and f64 costs on CUDA device 0, ours against
// nvcc's, in the same run. Every thread sums a function over 64 neighbouring arguments; both compilers get that loop, and the
// times are medians of 9 launches. Prints picoseconds for an evaluation and the ratio. Needs nvcc and a GPU.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "driver/device.hpp"
#include "driver/pipeline.hpp"
#include "driver/process.hpp"
#include "support/file_io.hpp"

namespace fs = std::filesystem;
using namespace ockc;

namespace {

constexpr std::uint32_t kThreads = 1u << 20, kBlock = 256, kSteps = 64;
constexpr int kLaunches = 9;

// `cuda`: the function's name with @ where f32 has an `f`; arguments are x and y. The first thread starts at `low`, the last
// at `high`.
struct Row {
    const char* name;
    const char* rust;
    const char* cuda;
    double low, high;
};
constexpr Row kRows[] = {
    {"exp", "x.exp()", "exp@(x)", -10, 10},
    {"exp2", "x.exp2()", "exp2@(x)", -10, 10},
    {"exp10", "x.exp10()", "exp10@(x)", -10, 10},
    {"exp_m1", "x.exp_m1()", "expm1@(x)", -2, 2},
    {"ln", "x.ln()", "log@(x)", 0.1, 100},
    {"log2", "x.log2()", "log2@(x)", 0.1, 100},
    {"log10", "x.log10()", "log10@(x)", 0.1, 100},
    {"ln_1p", "x.ln_1p()", "log1p@(x)", -0.5, 10},
    {"sin", "x.sin()", "sin@(x)", -30, 30},
    {"cos", "x.cos()", "cos@(x)", -30, 30},
    {"tan", "x.tan()", "tan@(x)", -30, 30},
    {"asin", "x.asin()", "asin@(x)", -0.9, 0.9},
    {"acos", "x.acos()", "acos@(x)", -0.9, 0.9},
    {"atan", "x.atan()", "atan@(x)", -5, 5},
    {"atan2", "x.atan2(y)", "atan2@(x, y)", -5, 5},
    {"sinh", "x.sinh()", "sinh@(x)", -5, 5},
    {"cosh", "x.cosh()", "cosh@(x)", -5, 5},
    {"tanh", "x.tanh()", "tanh@(x)", -3, 3},
    {"asinh", "x.asinh()", "asinh@(x)", -5, 5},
    {"acosh", "x.acosh()", "acosh@(x)", 1.1, 10},
    {"atanh", "x.atanh()", "atanh@(x)", -0.9, 0.9},
    {"cbrt", "x.cbrt()", "cbrt@(x)", 0.1, 100},
    {"sqrt", "x.sqrt()", "sqrt@(x)", 0.1, 100},
    {"rsqrt", "x.rsqrt()", "rsqrt@(x)", 0.1, 100},
    {"recip", "x.recip()", "(1 / x)", 0.1, 100},
    {"hypot", "x.hypot(y)", "hypot@(x, y)", 0.1, 100},
    {"powf", "x.powf(y)", "pow@(x, y)", 0.1, 10},
    {"erf", "x.erf()", "erf@(x)", -3, 3},
    {"erfc", "x.erfc()", "erfc@(x)", -3, 3},
    {"gamma", "x.gamma()", "tgamma@(x)", 0.5, 10},
    {"ln_gamma", "x.ln_gamma().0", "lgamma@(x)", 0.5, 10},
};

std::string rust_source(const std::vector<Row>& rows) {
    std::string text = "use cuda_device::{DisjointSlice, kernel, launch_contract, thread};\n";
    for (const Row& row : rows) {
        for (const char* type : {"f32", "f64"}) {
            text += fmt::format(
                "#[kernel]\n#[launch_contract(domain = 1, block = ({3}, 1, 1), requires = (a.len() >= out.len()))]\n"
                "pub fn {0}_{1}(a: &[{1}], mut out: DisjointSlice<{1}>) {{\n"
                "    let index = thread::index_1d();\n    let at = index.get();\n"
                "    if let Some(o) = out.get_mut(index) {{\n"
                "        let mut x = a[at];\n        let y: {1} = 1.25;\n        let mut sum: {1} = 0.0;\n        let mut k = 0u32;\n"
                "        while k < {4} {{\n            sum += {2};\n            x += 0.0009765625;\n            k += 1;\n        }}\n"
                "        *o = sum + y;\n    }}\n}}\n",
                row.name, type, row.rust, kBlock, kSteps);
        }
    }
    return text;
}

std::string cuda_source(const std::vector<Row>& rows) {
    std::string text;
    for (const Row& row : rows) {
        for (const bool wide : {false, true}) {
            std::string call = row.cuda;
            if (const std::size_t at = call.find('@'); at != std::string::npos) call.replace(at, 1, wide ? "" : "f");
            text += fmt::format(
                "extern \"C\" __global__ void __launch_bounds__({4}) {0}_{1}(const {2}* __restrict__ a, unsigned long long n, {2}* __restrict__ out,\n"
                "                                        unsigned long long m) {{\n"
                "    const unsigned long long at = (unsigned long long)blockIdx.x * blockDim.x + threadIdx.x;\n    if (at >= m) return;\n"
                "    {2} x = a[at];\n    const {2} y = ({2})1.25;\n    {2} sum = 0;\n"
                "    for (unsigned k = 0; k < {5}; ++k) {{\n        sum += {3};\n        x += ({2})0.0009765625;\n    }}\n    out[at] = sum + y;\n}}\n",
                row.name, wide ? "f64" : "f32", wide ? "double" : "float", call, kBlock, kSteps);
        }
    }
    return text;
}

template <class T>
std::string arguments_of(const Row& row) {
    std::vector<T> values(kThreads);
    for (std::uint32_t i = 0; i < kThreads; ++i) values[i] = static_cast<T>(row.low + (row.high - row.low) * i / kThreads);
    return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

std::string word(std::uint64_t value) { return {reinterpret_cast<const char*>(&value), sizeof value}; }

// Milliseconds of a launch; negative after a failure, which it has printed. Both devices have the process's one context, so
// that they share the memory.
double median_time(driver::LaunchDevice& device, const std::string& symbol, driver::DevicePtr in, driver::DevicePtr out) {
    abi::KernelAbi kernel;
    kernel.symbol = symbol;
    std::vector<double> times;
    for (int i = 0; i < kLaunches; ++i) {
        const Result<double> time =
            device.launch(kernel, {kThreads / kBlock, 1, 1}, {kBlock, 1, 1}, 0, {word(in), word(kThreads), word(out), word(kThreads)});
        if (!time.ok()) return fmt::print("{}: {}\n", symbol, time.error()), -1;
        times.push_back(time.value());
    }
    std::sort(times.begin(), times.end());
    return times[times.size() / 2];
}

// The image of nvcc's PTX.
bool compile_with_nvcc(const std::string& nvcc, const std::vector<Row>& rows, std::uint32_t capability, CompiledImage& image) {
    const std::string folder = (fs::temp_directory_path() / "ockc-bench").string();
    fs::create_directories(folder);
    if (!write_file_if_changed(folder + "/math.cu", cuda_source(rows)).ok()) return false;
    const Result<driver::ProcessResult> run =
        driver::run_process({nvcc, "-cubin", "-O3", fmt::format("-arch=sm_{}", capability), folder + "/math.cu", "-o", folder + "/math.cubin"});
    if (!run.ok() || run.value().exit_code != 0) {
        fmt::print("nvcc fails: {}\n", run.ok() ? run.value().error_output : run.error());
        return false;
    }
    const Result<std::string> cubin = read_file(folder + "/math.cubin", std::size_t{1} << 30);
    if (!cubin.ok()) return false;
    image.embedded = cubin.value();
    return true;
}

}  // namespace

int main(int argc, char** argv) {
    const std::string nvcc = driver::find_cuda_tool("nvcc");
    if (nvcc.empty()) return fmt::print("SKIPPED: nvcc was not found\n"), 77;
    auto ours = driver::open_cuda(0);
    auto theirs = driver::open_cuda(0);
    if (!ours.ok() || !theirs.ok()) return fmt::print("SKIPPED: {}\n", ours.ok() ? theirs.error() : ours.error()), 77;
    std::vector<Row> rows;
    for (const Row& row : kRows) {
        const bool wanted = argc < 2 || std::any_of(argv + 1, argv + argc, [&](const char* name) { return std::strcmp(name, row.name) == 0; });
        if (wanted) rows.push_back(row);
    }
    CompileOptions options;
    options.want_header = false;
    if (const Result<std::string> target = driver::native_target(); target.ok()) options.targets = {target.value()};
    abi::ModuleAbi abi;
    const CompileResult compiled = driver::compile_with_abi({"math.rsk", "", rust_source(rows)}, options, {}, abi);
    for (const DiagnosticText& one : compiled.diagnostics) fmt::print("{}\n", one.rendered);
    CompiledImage cuda;
    if (!compiled.ok || !compile_with_nvcc(nvcc, rows, theirs.value()->compute_capability(), cuda)) return 1;
    if (!ours.value()->load(compiled.images[0], abi.panic_sites).ok() || !theirs.value()->load(cuda, {}).ok()) return 1;
    fmt::print("{}; picoseconds for an evaluation\n{:<12}{:>10}{:>10}{:>8}\n", ours.value()->name(), "function", "ockc", "nvcc", "ratio");
    const Result<driver::DevicePtr> out = ours.value()->upload(std::string(std::size_t{kThreads} * sizeof(double), '\0'));
    if (!out.ok()) return fmt::print("{}\n", out.error()), 1;
    for (const Row& row : rows) {
        for (const bool wide : {false, true}) {
            const std::string symbol = fmt::format("{}_{}", row.name, wide ? "f64" : "f32");
            const std::string values = wide ? arguments_of<double>(row) : arguments_of<float>(row);
            const Result<driver::DevicePtr> in = ours.value()->upload(values);
            if (!in.ok()) return fmt::print("{}\n", in.error()), 1;
            const double a = median_time(*ours.value(), symbol, in.value(), out.value());
            const double b = median_time(*theirs.value(), symbol, in.value(), out.value());
            if (a < 0 || b < 0) return 1;
            constexpr double kScale = 1e9 / (double{kThreads} * kSteps);   // milliseconds to picoseconds
            fmt::print("{:<12}{:>10.2f}{:>10.2f}{:>8.2f}\n", symbol, a * kScale, b * kScale, a / b);
        }
    }
    return 0;
}
