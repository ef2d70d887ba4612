#include "tile/matrix.hpp"

#include <algorithm>

namespace ockc::tile {

using namespace ir;

namespace {

constexpr MatrixForm kMatrixForms[] = {
#define OCKC_MATRIX_FORM(machine, sm, element, format, sum, rows, columns, depth) \
    {intrinsic::Machine::machine, sm, Type::element, Format::format, Type::sum, rows, columns, depth},
#include "tile/matrix_forms.def"
};

// How the function that adds one product widens its integers; Plain: not all in one way.
Format sign_of(const Function& adds) {
    bool is_signed = false, is_unsigned = false;
    for (const BlockId block : adds.layout) {
        for (const InstId id : adds.blocks[block].insts) {
            const Instruction& inst = adds.insts[id];
            is_signed = is_signed || inst.op == Op::Sext;
            is_unsigned = is_unsigned || inst.op == Op::Zext;
        }
    }
    if (is_signed == is_unsigned) return Format::Plain;
    return is_signed ? Format::Signed : Format::Unsigned;
}

// Bases along one axis: `first`, twice that, .. below `end`.
void rise(std::vector<std::uint32_t>& bases, std::uint32_t first, std::uint32_t end, std::uint32_t weight) {
    for (std::uint32_t index = first; index < end; index *= 2) bases.push_back(index * weight);
}

// What each of 2^bits warps has of an axis: a whole number of fragments.
std::uint32_t share(std::uint32_t extent, std::uint32_t fragment, std::uint32_t bits) { return std::max(extent >> bits, fragment); }

void warp_bases(std::vector<std::uint32_t>& bases, std::uint32_t own, std::uint32_t extent, std::uint32_t bits, std::uint32_t weight) {
    for (std::uint32_t b = 0; b < bits; ++b) bases.push_back((own << b) < extent ? (own << b) * weight : 0);
}

}  // namespace

const MatrixForm* matrix_form(const Module& module, const Function& function, const Instruction& mma, const Device& device) {
    const auto type = [&](ValueId value) -> const TileType& { return module.tile_types[function.values[value].tile]; };
    const TileType &lhs = type(mma.args[0]), &rhs = type(mma.args[1]), &sum = type(mma.args[2]);
    for (const MatrixForm& form : kMatrixForms) {
        if (lhs.element != form.element || rhs.element != form.element || sum.element != form.sum) continue;
        if (sum.shape[0] < form.rows || sum.shape[1] < form.columns || lhs.shape[1] < form.depth) continue;
        const auto format = static_cast<Format>(mma.imm);
        const bool is_integer = form.format == Format::Signed || form.format == Format::Unsigned;
        const bool fits = is_integer ? format == Format::Plain && form.format == sign_of(module.functions[mma.callee]) : form.format == format;
        if (fits && device.sm >= form.sm) return &form;
    }
    return nullptr;
}

TileLayout scalar_sum_layout(const Shape& shape, WarpGrid grid) {
    constexpr std::size_t kColumnRegisters = 2, kColumnLanes = 3;   // bits
    TileLayout layout;
    const std::uint32_t row = shape[1];
    const std::uint32_t own_rows = share(shape[0], 1, grid.row_bits), own_columns = share(shape[1], 1, grid.column_bits);
    std::vector<std::uint32_t> rows, columns;   // that nobody has yet
    rise(rows, 1, own_rows, row);
    rise(columns, 1, own_columns, 1);
    const auto take = [](std::vector<std::uint32_t>& from, std::vector<std::uint32_t>& to, std::size_t most) {
        const auto count = static_cast<std::ptrdiff_t>(std::min(most, from.size()));
        to.insert(to.end(), from.begin(), from.begin() + count);
        from.erase(from.begin(), from.begin() + count);
    };
    take(columns, layout.registers, kColumnRegisters);
    take(columns, layout.lanes, kColumnLanes);
    take(rows, layout.lanes, kLaneBits - layout.lanes.size());
    take(columns, layout.lanes, kLaneBits - layout.lanes.size());
    layout.lanes.resize(kLaneBits, 0);
    take(columns, layout.registers, columns.size());
    take(rows, layout.registers, rows.size());
    warp_bases(layout.warps, own_rows, shape[0], grid.row_bits, row);
    warp_bases(layout.warps, own_columns, shape[1], grid.column_bits, 1);
    return layout;
}

TileLayout sum_layout(const MatrixForm& form, const Shape& shape, WarpGrid grid) {
    TileLayout layout;
    const std::uint32_t row = shape[1];
    const std::uint32_t own_rows = share(shape[0], form.rows, grid.row_bits), own_columns = share(shape[1], form.columns, grid.column_bits);
    layout.registers = {1};
    rise(layout.registers, 8, form.rows, row);
    rise(layout.registers, form.columns, own_columns, 1);
    rise(layout.registers, form.rows, own_rows, row);
    layout.lanes = {2, 4, row, 2 * row, 4 * row};
    warp_bases(layout.warps, own_rows, shape[0], grid.row_bits, row);
    warp_bases(layout.warps, own_columns, shape[1], grid.column_bits, 1);
    return layout;
}

TileLayout lhs_layout(const MatrixForm& form, const Shape& shape, const Shape& sums, WarpGrid grid) {
    TileLayout layout;
    const std::uint32_t row = shape[1], packed = form.packed();
    const std::uint32_t own_rows = share(sums[0], form.rows, grid.row_bits);
    rise(layout.registers, 1, packed, 1);
    rise(layout.registers, 8, form.rows, row);
    rise(layout.registers, 4 * packed, form.depth, 1);
    rise(layout.registers, form.depth, shape[1], 1);
    rise(layout.registers, form.rows, own_rows, row);
    layout.lanes = {packed, 2 * packed, row, 2 * row, 4 * row};
    warp_bases(layout.warps, own_rows, shape[0], grid.row_bits, row);
    layout.warps.insert(layout.warps.end(), grid.column_bits, 0);
    return layout;
}

TileLayout rhs_layout(const MatrixForm& form, const Shape& shape, const Shape& sums, WarpGrid grid) {
    TileLayout layout;
    const std::uint32_t row = shape[1], packed = form.packed();
    const std::uint32_t own_columns = share(sums[1], form.columns, grid.column_bits);
    rise(layout.registers, 1, packed, row);
    rise(layout.registers, 4 * packed, form.depth, row);
    rise(layout.registers, form.depth, shape[0], row);
    rise(layout.registers, form.columns, own_columns, 1);
    layout.lanes = {packed * row, 2 * packed * row, 1, 2, 4};
    layout.warps.assign(grid.row_bits, 0);
    warp_bases(layout.warps, own_columns, shape[1], grid.column_bits, 1);
    return layout;
}

}  // namespace ockc::tile
