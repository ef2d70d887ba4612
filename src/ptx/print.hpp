// ptx::Module -> text. The only place that writes PTX. Deterministic: a function of the module and the
// options alone.
#pragma once
#include <string>

#include "ptx/ptx.hpp"

namespace ockc::ptx {

struct PrintOptions {
    bool locations = true;  // .file and .loc (where instructions have one)
    bool comments = true;
};

std::string print(const Module& module, const PrintOptions& options = {});

// The text with .file and .loc and the text without, from one printing.
struct Texts {
    std::string with_locations;
    std::string plain;
};
Texts print_both(const Module& module);

// One instruction as in the text, without indentation and line end: for messages of validate and the
// emulator.
std::string print(const Module& module, const Function& function, const Instr& instr);

// The mnemonic with its words: `shfl.sync.idx.b32`.
std::string words_of(const Instr& instr);

}  // namespace ockc::ptx
