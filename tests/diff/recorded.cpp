#include "recorded.hpp"

#include <fmt/format.h>

#include <cstdio>

namespace ockc::difftest {

namespace {

// FNV-1a, over words.
struct Hash {
    std::uint64_t value = 0xCBF2'9CE4'8422'2325ull;
    void add(std::uint64_t word) { value = (value ^ word) * 0x0000'0100'0000'01B3ull; }
};

}  // namespace

std::vector<RecordedProgram> summaries(const std::vector<Program>& programs, const Outcome& outcome) {
    std::size_t total = 0;
    for (const Program& program : programs) total += program.slots + 1;
    std::vector<RecordedProgram> out;
    std::size_t first = 0;
    for (const Program& program : programs) {
        Hash source, results;
        for (const char c : program.text) source.add(static_cast<unsigned char>(c));
        for (std::size_t thread = 0; thread < kThreads; ++thread) {
            for (std::size_t slot = 0; slot <= program.slots; ++slot) {
                const std::size_t at = thread * total + first + slot;
                results.add(at < outcome.words.size() ? outcome.words[at] : 0);
            }
        }
        first += program.slots + 1;
        out.push_back({source.value, results.value});
    }
    return out;
}

std::string format_record(const Record& record) {
    std::string text = fmt::format("# Written by difftest --record: results of rustc. seed, hash of the source, hash of the results.\nprograms {} {} batch {}\n", record.first_seed, record.count, record.batch);
    for (const auto& [seed, program] : record.programs) text += fmt::format("{} {:016x} {:016x}\n", seed, program.source, program.results);
    return text;
}

Result<Record> parse_record(const std::string& text) {
    Record record;
    std::size_t at = text.find('\n');
    unsigned long long first = 0;
    if (at == std::string::npos || std::sscanf(text.c_str() + at + 1, "programs %llu %u batch %u", &first, &record.count, &record.batch) != 3 || record.batch == 0) {
        return Failure{"this is no record of difftest's"};
    }
    record.first_seed = first;
    for (at = text.find('\n', at + 1); at != std::string::npos && at + 1 < text.size(); at = text.find('\n', at + 1)) {
        unsigned long long seed = 0, source = 0, results = 0;
        if (std::sscanf(text.c_str() + at + 1, "%llu %llx %llx", &seed, &source, &results) != 3) return Failure{"a line of the record cannot be read"};
        record.programs[seed] = {source, results};
    }
    return record;
}

}  // namespace ockc::difftest
