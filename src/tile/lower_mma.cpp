// Products of matrices that no matrix instruction does. Both operands go to shared memory, row-major; then every thread goes along their common axis and adds
// the products of its own lanes with the accumulator's function. A lane that does not exist is stored as 0.
#include <algorithm>
#include <map>

#include "tile/lowering.hpp"

namespace ockc::tile {

using namespace ir;

namespace {
constexpr std::uint32_t kUnrollStep = 4;
}  // namespace

Lowering::Staged Lowering::stage(ValueId tile, ValueId at) {
    const Staged staged{type_of(tile), at};
    const std::uint32_t bytes = type_bytes(staged.type.element);
    MemoryInfo memory;
    memory.align = bytes;
    const BlockId after = function_.add_block();
    if (const ValueId first = coordinates_.is_first(staged.type); first.valid()) {
        const BlockId mine = function_.add_block();
        builder_.br(first, mine, after);
        builder_.at_end(mine);
    }
    for (std::uint32_t r = 0; r < registers(tile).size(); ++r) {
        const ValueId there = is_present(limits(tile), staged.type, r);
        const ValueId own = registers(tile)[r];
        const ValueId value = there.valid() ? builder_.select(there, own, zero(staged.type.element)) : own;
        const ValueId place = builder_.binary(Op::Xor, Type::I32, coordinates_.place(staged.type), i32(register_place(staged.type.layout, r)));
        builder_.store(builder_.ptr_add(at, builder_.binary(Op::Imul, Type::I64, builder_.convert(Op::Zext, Type::I64, place), i64(bytes))), value, memory);
    }
    builder_.jump(after);
    builder_.at_end(after);
    return staged;
}

// By register of the result: the operand's lane that it needs in this step. `axis`: of the result and of the operand, the one
// that is not summed over.
std::vector<ValueId> Lowering::staged_lanes(const Staged& operand, const TileType& result, std::size_t axis, ValueId step) {
    const std::uint32_t bytes = type_bytes(operand.type.element);
    MemoryInfo memory;
    memory.align = bytes;
    std::map<std::uint32_t, ValueId> loaded;   // by index on the axis
    std::vector<ValueId> lanes;
    for (std::uint32_t r = 0; r < result.layout.register_count(); ++r) {
        const std::uint32_t own = axis_index(result.shape, axis, register_place(result.layout, r));
        ValueId& lane = loaded[own];
        if (!lane.valid()) {
            const ValueId index = builder_.binary(Op::Iadd, Type::I32, coordinates_.index(result, axis), i32(own));
            const ValueId row = axis == 0 ? index : step, column = axis == 0 ? step : index;
            const ValueId place = builder_.binary(Op::Iadd, Type::I32, builder_.binary(Op::Imul, Type::I32, row, i32(operand.type.shape[1])), column);
            const ValueId offset = builder_.binary(Op::Imul, Type::I64, builder_.convert(Op::Zext, Type::I64, place), i64(bytes));
            lane = builder_.load(operand.type.element, builder_.ptr_add(operand.at, offset), memory);
        }
        lanes.push_back(lane);
    }
    return lanes;
}

void Lowering::mma(const Instruction& inst) {
    if (const MatrixForm* form = matrix_form(context_.module, function_, inst, context_.device)) return matrix_product(inst, *form);
    const TileType lhs = type_of(inst.args[0]), rhs = type_of(inst.args[1]), result = type_of(inst.result());
    const std::uint64_t lhs_bytes = (std::uint64_t{lhs.size()} * type_bytes(lhs.element) + 15) / 16 * 16;
    const ValueId buffer = scratch();
    builder_.barrier();   // whoever still reads the buffer
    const Staged a = stage(inst.args[0], buffer);
    const Staged b = stage(inst.args[1], builder_.ptr_add_const(buffer, static_cast<std::int64_t>(lhs_bytes)));
    builder_.barrier();

    // bb(step, accumulators): one step along the common axis.
    const std::uint32_t steps = lhs.shape[1];
    const BlockId step_block = function_.add_block(), after = function_.add_block();
    std::vector<ValueId> entry{i32(0)};
    entry.insert(entry.end(), registers(inst.args[2]).begin(), registers(inst.args[2]).end());
    builder_.jump(step_block, ir::TargetArgs(entry));
    builder_.at_end(step_block);
    function_.blocks[step_block].unroll = std::min(steps, kUnrollStep);
    const ValueId step = function_.add_block_param(step_block, Type::I32);
    Registers sums;
    for (std::uint32_t r = 0; r < result.layout.register_count(); ++r) sums.push_back(function_.add_block_param(step_block, result.element));
    const std::vector<ValueId> left = staged_lanes(a, result, 0, step), right = staged_lanes(b, result, 1, step);
    for (std::uint32_t r = 0; r < sums.size(); ++r) {
        const ValueId args[] = {sums[r], left[r], right[r]};
        sums[r] = builder_.call(inst.callee, args, {&result.element, 1})[0];
    }
    std::vector<ValueId> next{builder_.binary(Op::Iadd, Type::I32, step, i32(1))};
    next.insert(next.end(), sums.begin(), sums.end());
    builder_.br(builder_.icmp(IntCond::Ult, next[0], i32(steps)), Target{step_block, ir::TargetArgs(next)}, Target{after, ir::TargetArgs(sums)});
    builder_.at_end(after);
    for (std::uint32_t r = 0; r < sums.size(); ++r) registers(inst.result()).push_back(function_.add_block_param(after, result.element));
    limits(inst.result()) = Limits(limits(inst.args[2]));
}

}  // namespace ockc::tile
