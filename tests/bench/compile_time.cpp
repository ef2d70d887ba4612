// bench_compile [RUNS]: whole-process compile time of vecadd, ockc against `nvcc -ptx` on the same kernel in the same run.
// Prints the medians and their ratio; the aim is 1/50 or better. Needs nvcc (PATH or the toolkit's usual places).
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "driver/process.hpp"
#include "support/file_io.hpp"

namespace fs = std::filesystem;
using namespace ockc;

namespace {

constexpr const char* kCuda = R"(extern "C" __global__ void __launch_bounds__(256)
vecadd(const float* a, unsigned long long a_len, const float* b, unsigned long long b_len, float* c, unsigned long long c_len) {
    const unsigned long long i = (unsigned long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= c_len) return;
    if (i >= a_len || i >= b_len) __trap();
    c[i] = a[i] + b[i];
}
)";

// Median wall time of whole processes in milliseconds; negative when one fails.
double median_time(const std::vector<std::string>& command, int runs) {
    std::vector<double> times;
    for (int i = 0; i < runs; ++i) {
        const auto start = std::chrono::steady_clock::now();
        const Result<driver::ProcessResult> run = driver::run_process(command);
        if (!run.ok() || run.value().exit_code != 0) {
            fmt::print("{} fails: {}\n", command[0], run.ok() ? run.value().error_output : run.error());
            return -1;
        }
        times.push_back(std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count());
    }
    std::sort(times.begin(), times.end());
    return times[times.size() / 2];
}

}  // namespace

int main(int argc, char** argv) {
    const int runs = argc > 1 ? std::max(1, std::atoi(argv[1])) : 21;
    const std::string nvcc = driver::find_cuda_tool("nvcc");
    if (nvcc.empty()) {
        fmt::print("SKIPPED: nvcc was not found\n");
        return 0;
    }
    const std::string folder = (fs::temp_directory_path() / "ockc-bench").string();
    fs::create_directories(folder);
    if (!write_file_if_changed(folder + "/vecadd.cu", kCuda).ok()) return 1;
    const double ours = median_time({OCKC_BINARY, OCKC_SOURCE_DIR "/samples/vecadd/vecadd.rsk", "--verify", "off", "--out-dir", folder}, runs);
    const double theirs = median_time({nvcc, "-ptx", "-O3", "-arch=sm_80", folder + "/vecadd.cu", "-o", folder + "/vecadd_nvcc.ptx"}, std::max(3, runs / 4));
    if (ours < 0 || theirs < 0) return 1;
    fmt::print("ockc          {:9.2f} ms  (median of {} processes)\n", ours, runs);
    fmt::print("nvcc -ptx     {:9.2f} ms  (median of {} processes)\n", theirs, std::max(3, runs / 4));
    fmt::print("ratio         1/{:.0f}\n", theirs / ours);
    return 0;
}
