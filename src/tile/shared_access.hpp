// Addresses in a tile that lies in shared memory, as one thread computes them: what its number contributes is the same for
// all of its accesses, what a register or a fragment contributes is known now. Both are joined by exclusive or; where their
// bits do not meet, the second is a constant offset of the access.
#pragma once
#include <map>

#include "tile/lowering.hpp"

namespace ockc::tile {

class SharedAccess {
  public:
    // `places`: by bit of the thread's number. Made for one stretch of code without branches.
    SharedAccess(ir::Builder& builder, Coordinates& coordinates, ir::ValueId base, const TileLayout& layout, const std::vector<std::uint32_t>& places);

    struct Address {
        ir::ValueId pointer;
        std::int64_t offset;
    };
    Address at(std::uint32_t place);

  private:
    ir::Builder& builder_;
    Coordinates& coordinates_;
    ir::ValueId base_;
    const TileLayout& layout_;
    std::vector<std::uint32_t> by_thread_;   // bytes, by bit of its number
    std::uint32_t bits_ = 0;                 // of the offset that depend on the thread
    std::map<std::uint32_t, ir::ValueId> pointers_;
};

}  // namespace ockc::tile
