// Products by matrix instructions. A thread goes along the summed axis, one instruction's depth at a time: fragments of both
// operands from shared memory (or from its registers), then an instruction for each fragment of its sums. A few columns take
// their turn after the other; what the next turn needs is asked for before the instructions of this one.
#include <algorithm>
#include <bit>

#include "tile/matrix.hpp"
#include "tile/shared_access.hpp"

namespace ockc::tile {

using namespace ir;

static constexpr std::uint32_t kRegisterBytes = 4;
static constexpr std::uint32_t kMostMatrices = 4;      // that one instruction loads
static constexpr std::uint32_t kMatrixRowBytes = 16;   // of the 8 x 8 matrices that one instruction loads

// One operand, and how its registers would lie: bits of a register's number are those within 32 bits, those of the
// fragment, steps along the summed axis, and fragments along the other one.
struct MatrixOperand {
    TileType type;
    TileLayout layout;
    std::uint32_t packed, fragment_registers, steps;
    std::uint32_t axis;        // that is summed over
    ValueId base;              // in shared memory
    Registers values;          // otherwise

    std::uint32_t number(std::uint32_t fragment, std::uint32_t step) const { return (fragment * steps + step) * fragment_registers; }
};

// How fragments come from shared memory by instructions that load matrices: places by bit of the lane's number.
struct MatrixLoad {
    std::vector<std::uint32_t> row;   // three bits: the row of a matrix
    bool transposed = false;
};

// None: rows of 16 bytes lie along neither axis.
static bool find_matrix_load(const MatrixOperand& operand, MatrixLoad& load) {
    const std::uint32_t bytes = type_bytes(operand.type.element);
    const std::uint32_t along = axis_weight(operand.type.shape, operand.axis);
    const auto lies_in_row = [&](std::uint32_t weight) {
        for (std::uint32_t i = 1; i * bytes < kMatrixRowBytes; i *= 2) {
            if (shared_offset(operand.type.layout, i * weight) != i * bytes) return false;
        }
        return true;
    };
    const std::vector<std::uint32_t>& lanes = operand.layout.lanes;
    const std::uint32_t across = operand.axis == 1 ? lanes[2] : 1;   // weight of the other axis
    if (bytes <= kRegisterBytes && lies_in_row(along)) {
        load.row = {lanes[2], lanes[3], lanes[4]};
        return true;
    }
    load.transposed = true;
    load.row = {along, 2 * along, 4 * along};
    return bytes == 2 && lies_in_row(across);
}

static intrinsic::Machine matrix_load(std::size_t count_bits, bool transposed) {
    using intrinsic::Machine;
    constexpr Machine kLoads[2][3] = {{Machine::LdmatrixX1, Machine::LdmatrixX2, Machine::LdmatrixX4},
                                      {Machine::LdmatrixX1Trans, Machine::LdmatrixX2Trans, Machine::LdmatrixX4Trans}};
    return kLoads[transposed ? 1 : 0][count_bits];
}

// The 32-bit registers (elements, where those are wider) of fragments, from registers of the thread.
class FragmentReader {
  public:
    FragmentReader(Lowering& lowering, MatrixOperand operand) : lowering_(lowering), operand_(std::move(operand)) {
        by_matrices_ = operand_.base.valid() && find_matrix_load(operand_, load_);
    }

    // Of `count` fragments along the other axis from `first` on: a power of two.
    std::vector<ValueId> read(std::uint32_t first, std::uint32_t count, std::uint32_t step) {
        std::vector<ValueId> words;
        const std::uint32_t of_one = operand_.fragment_registers / operand_.packed;
        if (!by_matrices_) {
            for (std::uint32_t f = first; f < first + count; ++f) {
                for (std::uint32_t w = 0; w < of_one; ++w) words.push_back(word(operand_.number(f, step) + w * operand_.packed));
            }
            return words;
        }
        for (std::uint32_t f = first; f < first + count;) {
            const std::uint32_t together = std::min(count, std::max(kMostMatrices / of_one, 1u));
            matrices(operand_.number(f, step), of_one, together, words);
            f += together;
        }
        return words;
    }

  private:
    ValueId word(std::uint32_t number) {
        std::vector<ValueId> parts;
        for (std::uint32_t i = 0; i < operand_.packed; ++i) parts.push_back(operand_.base.valid() ? element(number + i) : operand_.values[number + i]);
        if (operand_.packed > 1) return lowering_.word_of(parts);
        return operand_.type.element == Type::F32 ? lowering_.builder_.convert(Op::Bitcast, Type::I32, parts[0]) : parts[0];
    }

    ValueId element(std::uint32_t number) {
        if (!access_) access_.emplace(lowering_.builder_, lowering_.coordinates_, operand_.base, operand_.type.layout, thread_bases(operand_.layout));
        const SharedAccess::Address at = access_->at(register_place(operand_.layout, number));
        MemoryInfo memory;
        memory.align = type_bytes(operand_.type.element);
        return lowering_.builder_.load(operand_.type.element, at.pointer, memory, at.offset);
    }

    // Matrices of one fragment, and those of the next fragments behind them.
    void matrices(std::uint32_t number, std::uint32_t of_one, std::uint32_t together, std::vector<ValueId>& words) {
        if (!access_) make_access(of_one, together);
        const SharedAccess::Address at = access_->at(register_place(operand_.layout, number));
        const ValueId address[] = {lowering_.builder_.ptr_add_const(at.pointer, at.offset)};
        const std::size_t bits = static_cast<std::size_t>(std::countr_zero(of_one * together));
        const std::vector<ValueId> loaded = lowering_.builder_.machine(matrix_load(bits, load_.transposed), address);
        words.insert(words.end(), loaded.begin(), loaded.end());
    }

    // Lanes give the addresses of rows: eight for each matrix.
    void make_access(std::uint32_t of_one, std::uint32_t together) {
        std::vector<std::uint32_t> places = load_.row;
        for (std::uint32_t w = 1; w < of_one; w *= 2) places.push_back(register_place(operand_.layout, w * operand_.packed));
        for (std::uint32_t f = 1; f < together; f *= 2) places.push_back(register_place(operand_.layout, operand_.number(f, 0)));
        places.resize(kLaneBits, 0);
        places.insert(places.end(), operand_.layout.warps.begin(), operand_.layout.warps.end());
        access_.emplace(lowering_.builder_, lowering_.coordinates_, operand_.base, operand_.type.layout, places);
    }

    Lowering& lowering_;
    MatrixOperand operand_;
    MatrixLoad load_;
    bool by_matrices_ = false;
    std::optional<SharedAccess> access_;
};

// Sums narrower than 32 bits travel in pairs.
Registers Lowering::packed_sums(const Registers& values, std::uint32_t together) {
    if (together == 1) return values;
    Registers words;
    for (std::uint32_t r = 0; r < values.size(); r += together) words.push_back(word_of(std::span(values).subspan(r, together)));
    return words;
}

void Lowering::matrix_product(const Instruction& inst, const MatrixForm& form) {
    const TileType result = type_of(inst.result());
    const WarpGrid grid = warp_grid(form, result);
    const auto reader = [&](std::uint32_t side) {
        const TileType type = type_of(inst.args[side]);
        MatrixOperand operand{type, {}, form.packed(), 0, type.shape[1 - side] / form.depth, 1 - side, ValueId::none(), {}};
        operand.layout = side == 0 ? lhs_layout(form, type.shape, result.shape, grid) : rhs_layout(form, type.shape, result.shape, grid);
        operand.fragment_registers = side == 0 ? form.lhs_registers() : form.rhs_registers();
        if (type.layout.is_shared()) operand.base = registers(inst.args[side])[0];
        else operand.values = present_or_zero(inst.args[side]);
        return FragmentReader(*this, std::move(operand));
    };
    FragmentReader lhs = reader(0), rhs = reader(1);
    const std::uint32_t steps = type_of(inst.args[0]).shape[1] / form.depth;
    const std::uint32_t rows = count_fragments(result, 0, form.rows, grid.row_bits), columns = count_fragments(result, 1, form.columns, grid.column_bits);
    const std::uint32_t together = std::max(4 / type_bytes(result.element), 1u), of_sum = form.sum_registers() / together;
    const std::uint32_t of_lhs = form.lhs_registers() / form.packed(), of_rhs = form.rhs_registers() / form.packed();
    Registers sums = packed_sums(registers(inst.args[2]), together);

    const std::uint32_t group = std::min(columns, std::max(kMostMatrices / of_rhs, 1u)), groups = columns / group;
    std::vector<ValueId> left = lhs.read(0, rows, 0), right = rhs.read(0, group, 0), next_left, next_right;
    for (std::uint32_t turn = 0; turn < steps * groups; ++turn) {
        const std::uint32_t step = turn / groups, own = turn % groups;
        if (own == groups / 2 && step + 1 < steps) next_left = lhs.read(0, rows, step + 1);
        if (turn + 1 < steps * groups) next_right = rhs.read((turn + 1) % groups * group, group, (turn + 1) / groups);
        for (std::uint32_t i = 0; i < rows; ++i) {
            for (std::uint32_t j = 0; j < group; ++j) {
                const std::uint32_t first = (i * columns + own * group + j) * of_sum;
                std::vector<ValueId> args(left.begin() + i * of_lhs, left.begin() + (i + 1) * of_lhs);
                args.insert(args.end(), right.begin() + j * of_rhs, right.begin() + (j + 1) * of_rhs);
                args.insert(args.end(), sums.begin() + first, sums.begin() + first + of_sum);
                const std::vector<ValueId> made = builder_.machine(form.machine, args);
                std::copy(made.begin(), made.end(), sums.begin() + first);
            }
        }
        if (own + 1 == groups) left = next_left;
        right = next_right;
    }
    Registers& out = registers(inst.result());
    for (const ValueId word : sums) {
        for (std::uint32_t i = 0; i < together; ++i) out.push_back(together == 1 ? word : part_of(word, i * type_bits(result.element), result.element));
    }
    limits(inst.result()) = Limits(limits(inst.args[2]));
}

// How the warps share the sums, read off their layout.
WarpGrid Lowering::warp_grid(const MatrixForm& form, const TileType& sums) const {
    for (std::uint32_t row_bits = 0; row_bits <= sums.layout.warps.size(); ++row_bits) {
        const WarpGrid grid{row_bits, static_cast<std::uint32_t>(sums.layout.warps.size()) - row_bits};
        if (sum_layout(form, sums.shape, grid) == sums.layout) return grid;
    }
    OCKC_UNREACHABLE("sums that no grid of warps has");
}

std::uint32_t Lowering::count_fragments(const TileType& sums, std::size_t axis, std::uint32_t fragment, std::uint32_t warp_bits) {
    return std::max(sums.shape[axis] >> warp_bits, fragment) / fragment;
}

}  // namespace ockc::tile
