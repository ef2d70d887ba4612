// How the matrices of the Mma forms, ldmatrix and stmatrix lie in the registers of a warp.
//
// With g = lane / 4, t = lane % 4 and e elements in a register (of 32 bits, lowest first; f64: one in 64), element j of register r is
//   A  row g + 8 (r % 2), column t e + j + 4 e (r / 2)
//   B  row t e + j + 4 e r, column g
//   C  row g + 8 (i / 2), column 2 t + i % 2, for the i-th of a lane's sums
// which is what the manual's figures for each shape say.
#pragma once
#include <cstddef>
#include <cstdint>

#include "ptx/form.hpp"

namespace ockc::ptx {

struct MmaShape {
    std::uint8_t a = 0, b = 0, c = 0;   // registers of a lane; 0: no Mma form
    std::uint8_t packed = 0;            // elements of A or B in a register
    std::uint16_t rows = 0, depth = 0;   // of A; B has `depth` rows and 8 columns
};
MmaShape mma_shape(Form form, const Mods& mods);

// Matrices that one ldmatrix or stmatrix moves; 0 for other forms.
std::uint32_t matrix_count(Form form, const Mods& mods);

// A product of a warpgroup?
bool is_wgmma(Form form);

// How many registers (or constants, or coordinates) the list at that operand has; 0: any number.
std::uint32_t matrix_registers(Form form, const Mods& mods, std::size_t operand);

}  // namespace ockc::ptx
