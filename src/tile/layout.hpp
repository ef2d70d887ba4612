// The algebra of layouts: what they are is said at ir::TileLayout. In: shapes of powers of two. Out: layouts.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "ir/ir.hpp"

namespace ockc::tile {

using ir::TileLayout;
using Shape = std::vector<std::uint32_t>;

constexpr std::uint32_t kLaneBits = 5;

// By how much the row-major place grows with the index on an axis.
std::uint32_t axis_weight(const Shape& shape, std::size_t axis);
// The index on an axis of a row-major place.
std::uint32_t axis_index(const Shape& shape, std::size_t axis, std::uint32_t place);

// Lanes and warps run along the last axis first, then along the one before; a thread has `vector` neighbours of the last
// axis (a power of two, less where the axis is shorter), and whatever is too much for the block on top.
TileLayout blocked(const Shape& shape, std::uint32_t vector, std::uint32_t warp_bits);
// The layout of the same lanes when axis k of the result is axis axes[k] of the operand.
TileLayout permuted(const TileLayout& layout, const Shape& from, std::span<const std::uint32_t> axes);
// What is left when the indices of the axes where `keep` has extent 1 are forgotten; `keep` has the rank of `shape`.
TileLayout projected(const TileLayout& layout, const Shape& shape, const Shape& keep);

// A tile in shared memory: panels of 128 bytes of the last axis (all of it where it is shorter), in a panel row after row.
// The 16-byte pieces of each eight rows change places, so that the same piece of all eight lies in different banks. These
// are the swizzles of the bulk tensor copies, and what matrix instructions that read shared memory take.
TileLayout swizzled(const Shape& shape, std::uint32_t element_bytes);
// The byte where the lane with that place lies.
std::uint32_t shared_offset(const TileLayout& layout, std::uint32_t place);
// Bytes of a tile of that layout.
std::uint32_t shared_bytes(const TileLayout& layout, std::uint32_t element_bytes);

// The place that a register's number contributes.
std::uint32_t register_place(const TileLayout& layout, std::uint32_t number);
// Lanes' bases, then warps': bit b belongs to bit b of the thread's number.
std::vector<std::uint32_t> thread_bases(const TileLayout& layout);

}  // namespace ockc::tile
