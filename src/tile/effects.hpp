// What a kernel with tiles does to memory. A tile block is one logical thread: a change that others see is made by one of the
// block's threads, while each has its own copy of local variables.
#pragma once
#include <vector>

#include "ir/ir.hpp"

namespace ockc::tile {

// Whose memory an address leads to. Unclear: local variables or others, as the launch goes.
enum class Reach : std::uint8_t { Own, Shared, Unclear };

// The values that an address may be made from: allocations, parameters, globals, pointers that were loaded.
std::vector<ir::ValueId> roots_of(const ir::Function& function, ir::ValueId address);
Reach reach_of(const ir::Function& function, ir::ValueId address);

// Does the instruction change memory that others see, or print? Reach::Own: no.
Reach changes(const ir::Function& function, const ir::Instruction& inst);
// What a function changes, and those that it calls: what some of its parameters lead to, or other memory (or it prints).
struct Changes {
    std::vector<bool> params;   // by parameter
    bool others = false;
};
Changes changes_of(const ir::Module& module, ir::FuncId function);

}  // namespace ockc::tile
