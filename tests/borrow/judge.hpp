// What ockc and rustc say about generated functions. Many functions stand in one file, so that starting rustc costs little.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "rustc.hpp"

namespace ockc::borrow_test {

struct Finding {
    std::string code;          // "lifetime" for "lifetime may not live long enough"
    std::uint32_t line = 0;    // of the function, from 0
    std::string message;
    bool operator==(const Finding& other) const { return code == other.code && line == other.line; }
};

// The errors of one function by line; empty: accepted.
struct Verdict {
    std::vector<Finding> findings;
    bool is_known = true;      // false: not judged, because the program is not well typed
    bool is_final = false;     // a lifetime that name resolution refuses: rustc looks no further, so the others are judged without it
    std::string text() const;  // "ok", "E0382:3 E0499:5", "ill-typed"
};

struct Batch {
    std::vector<std::uint64_t> seeds;
    std::vector<std::string> functions;
    std::string prelude;
    // The whole file without the functions that `known` says are ill-typed, and the line where each begins (0: left out).
    std::string file(const std::vector<Verdict>& known, std::vector<std::uint32_t>& lines) const;
};

std::string read_text(const std::string& path);
// The first `count` seeds from `first` on.
Batch make_batch(const std::string& prelude, std::uint64_t first, std::uint32_t count);
Batch make_batch(const std::string& prelude, const std::vector<std::uint64_t>& seeds);

// A type error anywhere keeps both compilers from checking borrows: functions with one are left out and the others judged
// again.
std::vector<Verdict> ask_rustc(const Batch& batch, const oracle::Rustc& rustc, const std::string& work, std::size_t slot);
std::vector<Verdict> ask_ockc(const Batch& batch, const std::vector<Verdict>& rustc);

}  // namespace ockc::borrow_test
