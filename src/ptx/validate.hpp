// Checks a ptx::Module against instr.def, special.def and target.def: operand shapes and types, modifiers
// that must go together, declared registers, labels and symbols, target and PTX version floors.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "ptx/ptx.hpp"

namespace ockc::ptx {

struct ValidationError {
    std::string function;  // empty at module level
    std::string text;      // the instruction, as printed
    std::string message;
};

std::vector<ValidationError> validate(const Module& module);

// The lowest PTX version that knows the target and every instruction, modifier and special register used
// (--ptx-isa min).
std::uint16_t lowest_ptx_version(const Module& module);

}  // namespace ockc::ptx
