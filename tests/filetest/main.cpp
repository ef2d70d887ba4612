// ockc_filetest [--bless] [--gpu [--clean-only]] [--whole-library] PATH..: runs every .rsk below the given folders or files as a golden test (test_file.hpp says what
// they may hold). Exit code 1 when one fails. OCK_BLESS=1 is --bless.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "driver/device.hpp"
#include "driver/ptxas.hpp"
#include "runner.hpp"

namespace fs = std::filesystem;
using namespace ockc;
using namespace ockc::filetest;

namespace {

constexpr int kSkipped = 77;

std::vector<std::string> find_tests(const std::vector<std::string>& paths) {
    std::vector<std::string> tests;
    for (const std::string& path : paths) {
        if (!fs::is_directory(path)) {
            tests.push_back(path);
            continue;
        }
        for (const auto& entry : fs::recursive_directory_iterator(path)) {
            // Folders named `support` hold files that tests take in with `mod`.
            const bool is_part = entry.path().parent_path().filename() == "support";
            if (entry.is_regular_file() && entry.path().extension() == ".rsk" && !is_part) tests.push_back(entry.path().string());
        }
    }
    std::sort(tests.begin(), tests.end());
    return tests;
}

}  // namespace

int main(int argc, char** argv) {
    RunOptions options;
    std::vector<std::string> paths;
    options.self = argv[0];
    if (argc == 5 && std::string(argv[1]) == "--failing-launch") {
        options.only_line = static_cast<std::uint32_t>(std::atoi(argv[2]));
        options.only_level = std::atoi(argv[3]);
        const Result<TestFile> test = read_test(argv[4]);
        return test.ok() ? run_failing_launch(test.value(), options) : 2;
    }
    for (int i = 1; i < argc; ++i) {
        if (std::string(argv[i]) == "--bless") {
            options.bless = true;
        } else if (std::string(argv[i]) == "--whole-library") {
            options.whole_library = true;
        } else if (std::string(argv[i]) == "--gpu") {
            options.gpu = true;
        } else if (std::string(argv[i]) == "--clean-only") {
            options.clean_only = true;
        } else {
            paths.emplace_back(argv[i]);
        }
    }
    if (const char* bless = std::getenv("OCK_BLESS"); bless != nullptr && std::string(bless) == "1") options.bless = true;
    if (options.gpu) {
        if (const auto device = driver::open_cuda(0); !device.ok()) {
            fmt::print("SKIPPED: {}\n", device.error());
            return kSkipped;
        }
    }
    options.ptxas = driver::find_ptxas();
    if (options.ptxas.empty()) fmt::print("SKIPPED: assembling the goldens (ptxas was not found)\n");

    const std::vector<std::string> tests = find_tests(paths);
    Report report;
    std::size_t failed = 0;
    for (const std::string& path : tests) {
        const std::size_t before = report.failures.size();
        Result<TestFile> test = read_test(path);
        if (test.ok()) {
            test.value().options.whole_library = options.whole_library;
            run_test(test.value(), options, report);
        } else {
            report.failures.push_back(test.error());
        }
        failed += report.failures.size() != before;
    }
    for (const std::string& failure : report.failures) fmt::print("{}\n", failure);
    fmt::print("{} files, {} side files, {} launches on the emulator, {} on the GPU, {} images assembled by ptxas, {} blessed\n", tests.size(),
               report.compared, report.launches, report.gpu_launches, report.assembled, report.blessed);
    if (tests.empty()) fmt::print("no tests found\n");
    fmt::print("{} passed, {} failed\n", tests.size() - failed, failed);
    return failed == 0 && !tests.empty() ? 0 : 1;
}
