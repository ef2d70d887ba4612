// Where in the block's shared memory everything lies. Rings of slots and converted operands live from where they are made to
// their last use, around every loop that uses them; what a conversion or a reduction passes through shared memory lives
// there only while it runs. Things that never live at the same time share bytes: whoever writes first waits at a barrier for
// those that read before.
#pragma once
#include <unordered_map>

#include "tile/tile.hpp"

namespace ockc::tile {

struct Placement {
    std::unordered_map<std::uint32_t, std::uint64_t> offsets;   // bytes, by instruction
    std::uint64_t size = 0;
};

// Bytes of shared memory that an instruction makes or passes through; 0: none.
std::uint64_t shared_need(const ir::Module& module, const ir::Function& function, const ir::Instruction& inst);

// None: it does not fit, which is reported.
bool place_shared(const ir::Function& function, const Context& context, Placement& placement);

}  // namespace ockc::tile
