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
    std::uint32_t assembled = 0;     // images that ptxas took
    std::uint32_t compared = 0;      // side files
    std::uint32_t blessed = 0;
};
struct RunOptions {
    bool bless = false;
    std::string ptxas;               // empty: not there
};

void run_test(const TestFile& test, const RunOptions& options, Report& report);

}  // namespace ockc::filetest
