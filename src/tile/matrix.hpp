// Products of matrices: which instruction, and how its fragments lie in the threads of a block.
//
// A warp's fragment is made of 8 x 8 matrices. In an operand, four neighbouring lanes share a row of one: each has as many
// elements along the summed axis as a 32-bit register holds (of f64, one). In sums they have two neighbours each. The
// larger fragments repeat this in their registers: 8 rows below first, then along the summed axis. So the sums of one
// product are, lane for lane, the 16-bit left operand of another.
#pragma once
#include "tile/layout.hpp"
#include "tile/tile.hpp"

namespace ockc::tile {

enum class Format : std::uint8_t { Plain, Tf32, E4m3, E5m2, Signed, Unsigned };

struct MatrixForm {
    intrinsic::Machine machine;
    std::uint16_t sm;
    ir::Type element;
    Format format;
    ir::Type sum;
    std::uint32_t rows, columns, depth;

    // Elements of a thread that follow each other along the summed axis, in one register.
    std::uint32_t packed() const { return std::max(4 / ir::type_bytes(element), 1u); }
    std::uint32_t lhs_registers() const { return rows * depth / 32; }
    std::uint32_t rhs_registers() const { return columns * depth / 32; }
    std::uint32_t sum_registers() const { return rows * columns / 32; }
};

// The instruction for a `tile_mma`; null: there is none for these types, this shape or this target.
const MatrixForm* matrix_form(const ir::Module& module, const ir::Function& function, const ir::Instruction& mma, const Device& device);

// How the warps of a block share a product: bits of their number that count rows, then columns.
struct WarpGrid {
    std::uint32_t row_bits = 0, column_bits = 0;
};

// Of a product that no matrix instruction does: four columns of several rows in a thread, eight threads along a row.
TileLayout scalar_sum_layout(const Shape& shape, WarpGrid grid);

TileLayout sum_layout(const MatrixForm& form, const Shape& shape, WarpGrid grid);
TileLayout lhs_layout(const MatrixForm& form, const Shape& shape, const Shape& sums, WarpGrid grid);
TileLayout rhs_layout(const MatrixForm& form, const Shape& shape, const Shape& sums, WarpGrid grid);

}  // namespace ockc::tile
