// Products of matrices that no matrix instruction does. Both operands lie in shared memory; every thread goes along their
// common axis, a few lanes at a time, and adds the products of its own lanes with the accumulator's function, in order.
#include <algorithm>
#include <bit>

#include "tile/shared_access.hpp"

namespace ockc::tile {

using namespace ir;

namespace {

constexpr std::uint32_t kWideBytes = 16;
constexpr std::uint32_t kUnrolled = 2;      // steps
constexpr std::uint32_t kColumnsTogether = 4;

// One operand's lanes of a step, as a thread needs them.
class StepReader {
  public:
    // `most`: lanes along the last axis of which a thread has all, beginning at a multiple of them.
    StepReader(Builder& builder, SharedAccess access, const TileType& type, std::uint32_t most)
        : builder_(builder), access_(std::move(access)), type_(type) {
        const std::uint32_t bytes = type_bytes(type.element);
        while (run_ < most && 2 * run_ * bytes <= kWideBytes && shared_offset(type.layout, run_) == run_ * bytes) run_ *= 2;
    }

    // The lane at `index` of a row; loads of lanes that lie side by side have one address.
    ValueId lane(std::uint32_t row, std::uint32_t index) {
        const std::uint32_t bytes = type_bytes(type_.element), within = index % run_ * bytes;
        const SharedAccess::Address at = access_.at(row + index - index % run_);
        MemoryInfo memory;
        memory.align = within == 0 ? run_ * bytes : std::min(run_ * bytes, 1u << std::countr_zero(within));
        return builder_.load(type_.element, at.pointer, memory, at.offset + within);
    }

  private:
    Builder& builder_;
    SharedAccess access_;
    const TileType& type_;
    std::uint32_t run_ = 1;
};

// What bits of a number contribute that counts steps of `first` places.
std::vector<std::uint32_t> step_places(std::uint32_t first, std::uint32_t steps) {
    std::vector<std::uint32_t> places;
    for (std::uint32_t b = 1; b < steps; b *= 2) places.push_back(first * b);
    return places;
}

}  // namespace

// `depth` lanes of the summed axis from step * depth on.
void Lowering::scalar_step(const Instruction& inst, ValueId step, std::uint32_t depth, Registers& sums) {
    const TileType lhs = type_of(inst.args[0]), rhs = type_of(inst.args[1]), result = type_of(inst.result());
    const std::uint32_t row = lhs.shape[1], line = rhs.shape[1], steps = row / depth;
    std::vector<std::uint32_t> left_places, right_places;
    for (const std::uint32_t basis : thread_bases(result.layout)) {
        left_places.push_back(axis_index(result.shape, 0, basis) * row);
        right_places.push_back(axis_index(result.shape, 1, basis));
    }
    const SharedAccess::Moving down{step, step_places(depth, steps)}, along{step, step_places(depth * line, steps)};
    StepReader left(builder_, SharedAccess(builder_, coordinates_, registers(inst.args[0])[0], lhs.layout, left_places, down), lhs, depth);
    StepReader right(builder_, SharedAccess(builder_, coordinates_, registers(inst.args[1])[0], rhs.layout, right_places, along), rhs, std::min(line, kColumnsTogether));

    std::map<std::uint32_t, std::vector<ValueId>> rows;   // by index of the row
    for (std::uint32_t r = 0; r < sums.size(); ++r) {
        std::vector<ValueId>& lanes = rows[axis_index(result.shape, 0, register_place(result.layout, r))];
        if (!lanes.empty()) continue;
        for (std::uint32_t k = 0; k < depth; ++k) lanes.push_back(left.lane(axis_index(result.shape, 0, register_place(result.layout, r)) * row, k));
    }
    for (std::uint32_t k = 0; k < depth; ++k) {
        std::map<std::uint32_t, ValueId> columns;         // by index of the column
        for (std::uint32_t r = 0; r < sums.size(); ++r) {
            const std::uint32_t place = register_place(result.layout, r), column = axis_index(result.shape, 1, place);
            ValueId& lane = columns[column];
            if (!lane.valid()) lane = right.lane(k * line, column);
        }
        for (std::uint32_t r = 0; r < sums.size(); ++r) {
            const std::uint32_t place = register_place(result.layout, r);
            const ValueId args[] = {sums[r], rows[axis_index(result.shape, 0, place)][k], columns[axis_index(result.shape, 1, place)]};
            sums[r] = builder_.call(inst.callee, args, {&result.element, 1})[0];
        }
    }
}

void Lowering::mma(const Instruction& inst) {
    if (const MatrixForm* form = matrix_form(context_.module, function_, inst, context_.device)) return matrix_product(inst, *form);
    const TileType lhs = type_of(inst.args[0]), result = type_of(inst.result());
    const std::uint32_t depth = std::min(lhs.shape[1], std::max(kWideBytes / type_bytes(lhs.element), 1u)), steps = lhs.shape[1] / depth;
    Registers sums = registers(inst.args[2]);
    limits(inst.result()) = Limits(limits(inst.args[2]));
    if (steps == 1) {
        scalar_step(inst, ValueId::none(), depth, sums);
        registers(inst.result()) = std::move(sums);
        return;
    }
    // bb(step, sums)
    const BlockId step_block = function_.add_block(), after = function_.add_block();
    std::vector<ValueId> entry{i32(0)};
    entry.insert(entry.end(), sums.begin(), sums.end());
    builder_.jump(step_block, ir::TargetArgs(entry));
    builder_.at_end(step_block);
    function_.blocks[step_block].unroll = std::min(steps, kUnrolled);
    const ValueId step = function_.add_block_param(step_block, Type::I32);
    for (ValueId& sum : sums) sum = function_.add_block_param(step_block, result.element);
    scalar_step(inst, step, depth, sums);
    std::vector<ValueId> next{builder_.binary(Op::Iadd, Type::I32, step, i32(1))};
    next.insert(next.end(), sums.begin(), sums.end());
    builder_.br(builder_.icmp(IntCond::Ult, next[0], i32(steps)), Target{step_block, ir::TargetArgs(next)}, Target{after, ir::TargetArgs(sums)});
    builder_.at_end(after);
    for (std::uint32_t r = 0; r < sums.size(); ++r) registers(inst.result()).push_back(function_.add_block_param(after, result.element));
}

}  // namespace ockc::tile
