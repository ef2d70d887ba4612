// The type of a tile value: what its lanes are, its shape, and how the lanes lie in the threads of a block.
//
// A layout is linear over bits. Every extent is a power of two, so a lane's place in the tile, counted row-major, is a number
// of log2(size) bits. Bit b of a register's number, of the lane's number in its warp, or of the warp's number contributes
// basis[b] to that place; the contributions are joined by exclusive or. A basis of 0 means that both settings of the bit hold
// the same lane. Reshape leaves such a layout alone, permute and broadcast move bits, a reduction drops the bits of an axis;
// fragments of matrix instructions are of the same kind, and so is swizzled shared memory, the other way round: bit b of a
// place contributes shared[b] to the byte where that lane lies.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "support/index_map.hpp"

namespace ockc::ir {

using TileTypeId = Id<struct TileTypeTag>;

struct TileLayout {
    std::vector<std::uint32_t> registers;   // of one thread
    std::vector<std::uint32_t> lanes;       // five, or none: not chosen yet
    std::vector<std::uint32_t> warps;
    std::vector<std::uint32_t> shared;      // bytes, by bit of the place; none of the others then

    bool chosen() const { return !lanes.empty() || is_shared(); }
    bool is_shared() const { return !shared.empty(); }
    std::uint32_t register_count() const { return 1u << registers.size(); }
    friend bool operator==(const TileLayout&, const TileLayout&) = default;
};

template <class Type>
struct BasicTileType {
    Type element{};
    std::vector<std::uint32_t> shape;       // powers of two; none: one lane
    TileLayout layout;

    std::uint32_t size() const {
        std::uint32_t lanes = 1;
        for (const std::uint32_t extent : shape) lanes *= extent;
        return lanes;
    }
    friend bool operator==(const BasicTileType&, const BasicTileType&) = default;
};

}  // namespace ockc::ir
