// Runs one golden test: diagnostics against marks, dumps against side files, PTX through ptxas for every target, launches on
// the emulator at -O0 and -O3.
#pragma once
#include <string>
#include <vector>

#include "test_file.hpp"

namespace ockc::filetest {

struct Report {
    std::vector<std::string> failures;
    std::uint32_t launches = 0;      // run on the emulator
    std::uint32_t gpu_launches = 0;  // run on the GPU as well
    std::uint32_t assembled = 0;     // images that ptxas took
    std::uint32_t compared = 0;      // side files
    std::uint32_t blessed = 0;
};
struct RunOptions {
    bool bless = false;
    std::string ptxas;               // empty: not there
    bool whole_library = false;      // read all of the built-in library: every golden must say the same
    bool gpu = false;                // launches run on CUDA device 0 too, and every array must have the emulator's bits
    bool clean_only = false;         // with gpu: leaves out the launches that must fail, as a sanitizer would count them as errors
    std::string self;                // this program: launches that must fail run in a process of their own on a GPU
    std::uint32_t only_line = 0;     // that process: the launch on this line, at level only_level, on the GPU alone
    int only_level = 0;
};

// The child process of a launch that must fail on the GPU: 0 when it does.
int run_failing_launch(const TestFile& test, const RunOptions& options);

void run_test(const TestFile& test, const RunOptions& options, Report& report);

}  // namespace ockc::filetest
