// Addresses in a tile that lies in shared memory, as one thread computes them: what its number contributes is the same for
// all of its accesses, what a register or a fragment contributes is known now. Both are joined by exclusive or; where their
// bits do not meet, the second is a constant offset of the access.
#pragma once
#include <map>

#include "tile/lowering.hpp"

namespace ockc::tile {

class SharedAccess {
  public:
    // A number that is not known now moves the thread's lanes: places by its bits.
    struct Moving {
        ir::ValueId number;
        std::vector<std::uint32_t> places;
    };
    // `places`: by bit of the thread's number. Made for one stretch of code without branches.
    SharedAccess(ir::Builder& builder, Coordinates& coordinates, ir::ValueId base, const TileLayout& layout, const std::vector<std::uint32_t>& places, const Moving& moving = {});

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
    ir::ValueId number_;
    std::vector<std::uint32_t> by_number_;   // bytes, by bit of the number
    std::uint32_t bits_ = 0;                 // of the offset that are not known now
    std::map<std::uint32_t, ir::ValueId> pointers_;
};

}  // namespace ockc::tile
