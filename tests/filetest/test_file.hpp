// A golden test file: its directives and marks.
//
//   //@ args: -O0 --target sm_90            options of the compilation (those that CompileOptions knows)
//   //@ launch: vecadd a=iota:f32[8] c=zeros:f32[8] grid=1 block=8     runs on the emulator, at -O0 and -O3
//                                           const:TABLE=iota:f32[4] among them sets constant memory
//   //@ expect: c = [0, 1, 2]               after the launch above it; `..` at the end of a list: only a prefix
//   //@ expect: c[5] = 7                    one element
//   //@ expect: c all 3                     every element
//   //@ prints: 1.500000                  a line of what the launch above prints on the emulator; all lines are given
//   //@ fails: index out of bounds          the launch above fails with this text
//   //@ ptx-has: ld.global.nc               the PTX (sm_80, -O3) has this text; ptx-lacks: does not; ptx-count: N TEXT
//   //@ reads: parts/a.in                 other files, which it finds by its own path
//   //@ rustc: skip REASON                 for tests/oracle
//   .. //~ E0502 [text]                     an error with this code (and text) on this line; //~^ the line above, //~^^ ..
//
// Side files x.ptx, x.ir, x.ir-tile, x.mir, x.hir, x.ast, x.h, x.stderr hold dumps; their presence opts in.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ockc/compiler.hpp"
#include "support/result.hpp"

namespace ockc::filetest {

struct Mark {
    std::uint32_t line = 0;
    std::string code;            // a code, a lint's name, or "error" for errors without a code
    std::string text;            // part of the message; may be empty
};
struct Expectation {
    enum class Kind : std::uint8_t { List, Element, All } kind = Kind::List;
    std::string array;
    std::uint64_t index = 0;
    bool prefix = false;
    std::vector<std::string> values;
    std::uint32_t line = 0;
};
struct Launch {
    std::string kernel;
    std::vector<std::pair<std::string, std::string>> args;
    std::optional<std::array<std::uint32_t, 3>> grid, block;
    std::vector<Expectation> expectations;
    std::optional<std::string> prints;   // lines
    std::string fails;           // part of the failure's text
    std::uint32_t line = 0;
};
struct PtxFact {
    enum class Kind : std::uint8_t { Has, Lacks, Count } kind = Kind::Has;
    std::string text;
    std::uint32_t count = 0;
    std::uint32_t line = 0;
};
struct TestFile {
    std::string path;
    std::string name;            // file name
    std::string text;
    std::vector<Mark> marks;
    std::vector<Launch> launches;
    std::vector<PtxFact> facts;
    CompileOptions options;
    bool has_target = false;
    bool reads_files = false;
};

// The failure text says which line cannot be read.
Result<TestFile> read_test(const std::string& path);

}  // namespace ockc::filetest
