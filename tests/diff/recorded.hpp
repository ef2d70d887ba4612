// Results of the fixed seeds, recorded from rustc: what machines without rustc compare with.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "harness.hpp"
#include "support/result.hpp"

namespace ockc::difftest {

// Of each program, by its seed: of its source, so that a record of another generator is told apart, and of its results.
struct RecordedProgram {
    std::uint64_t source = 0, results = 0;
};
struct Record {
    std::uint64_t first_seed = 1;
    std::uint32_t count = 0, batch = 0;   // programs in one file decide their input
    std::map<std::uint64_t, RecordedProgram> programs;
};

// Of the programs of one file, in their order.
std::vector<RecordedProgram> summaries(const std::vector<Program>& programs, const Outcome& outcome);
std::string format_record(const Record& record);
Result<Record> parse_record(const std::string& text);

}  // namespace ockc::difftest
