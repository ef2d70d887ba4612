// Reductions along one axis, from the nearest lanes to the farthest: registers of one thread, then lanes of a warp by
// shuffles, then warps through shared memory. Absent lanes count as the identity. The order in which lanes meet depends on
// the layout only, so that a kernel gives the same bits each time.
#include <algorithm>
#include <bit>

#include "tile/lowering.hpp"

namespace ockc::tile {

using namespace ir;

namespace {
constexpr std::uint32_t kAllLanes = 0xFFFF'FFFFu;
constexpr std::uint32_t kEverything = 0xFFFF'FFFFu;
constexpr std::uint32_t kXorClamp = 31;   // of shfl.bfly: the whole warp is one segment

// Where the registers that are left lie in the result: their place in it, and a row for each of those on the axis that have
// yet to meet.
class RegisterRows {
  public:
    RegisterRows(const Shape& shape, std::uint32_t axis, const std::vector<std::uint32_t>& bases) {
        const std::uint32_t weight = axis_weight(shape, axis);
        for (const std::uint32_t basis : bases) {
            const bool on_axis = axis_index(shape, axis, basis) != 0;
            places_.push_back(on_axis ? 0 : basis / (weight * shape[axis]) * weight + basis % weight);
            rows_.push_back(on_axis ? count_ : 0);
            count_ *= on_axis ? 2 : 1;
        }
    }
    std::uint32_t count() const { return count_; }
    std::uint32_t place(std::uint32_t number) const { return sum(places_, number); }
    std::uint32_t row(std::uint32_t number) const { return sum(rows_, number); }

  private:
    static std::uint32_t sum(const std::vector<std::uint32_t>& parts, std::uint32_t number) {
        std::uint32_t all = 0;
        for (std::size_t b = 0; b < parts.size(); ++b) all += (number >> b & 1u) != 0 ? parts[b] : 0u;
        return all;
    }
    std::vector<std::uint32_t> places_, rows_;   // by bit of the register's number
    std::uint32_t count_ = 1;
};

}  // namespace

Lowering::Reduction Lowering::reduction(const Instruction& inst) {
    const auto own = static_cast<std::uint32_t>(inst.imm & 0xFFu);
    Reduction reduction;
    reduction.callee = inst.callee;
    for (std::uint32_t i = 0; i < own; ++i) reduction.same.push_back(inst.args[i]);
    reduction.identity = inst.args[own];
    reduction.tile = inst.args[own + 1];
    reduction.axis = static_cast<std::uint32_t>(function_.def(inst.args[own + 2])->imm);
    reduction.commutes = (inst.imm >> 8 & 1u) != 0;
    reduction.from = type_of(reduction.tile);
    reduction.to = type_of(inst.result());
    return reduction;
}

ValueId Lowering::fold(const Reduction& reduction, ValueId a, ValueId b) {
    std::vector<ValueId> args = reduction.same;
    args.push_back(a);
    args.push_back(b);
    return builder_.call(reduction.callee, args, {&reduction.from.element, 1})[0];
}

// The registers' values, absent lanes as the identity.
Registers Lowering::present_values(const Reduction& reduction) {
    Registers values = registers(reduction.tile);
    const Limits& limits = this->limits(reduction.tile);
    for (std::uint32_t r = 0; r < values.size() && !limits.empty(); ++r) {
        const ValueId there = is_present(limits, reduction.from, r);
        if (there.valid()) values[r] = builder_.select(there, values[r], reduction.identity);
    }
    return values;
}

// The nearest lane of another thread along the axis: registers below it are folded before threads are, others behind them
// when the order matters.
std::uint32_t Lowering::thread_step(const Reduction& reduction) const {
    std::uint32_t nearest = reduction.from.shape[reduction.axis];
    for (const std::uint32_t basis : thread_bases(reduction.from.layout)) {
        const std::uint32_t step = axis_index(reduction.from.shape, reduction.axis, basis);
        if (step != 0) nearest = std::min(nearest, step);
    }
    return nearest;
}

// Registers that differ on the axis only, by less than `below`, become one; the lower index comes first.
void Lowering::reduce_registers(const Reduction& reduction, std::uint32_t below, std::vector<std::uint32_t>& bases, Registers& values) {
    for (std::size_t b = 0; b < bases.size();) {
        const std::uint32_t step = axis_index(reduction.from.shape, reduction.axis, bases[b]);
        if (step == 0 || step >= below) {
            ++b;
            continue;
        }
        Registers folded;
        for (std::uint32_t r = 0; r < values.size(); ++r) {
            if ((r >> b & 1u) == 0) folded.push_back(fold(reduction, values[r], values[r | 1u << b]));
        }
        values = std::move(folded);
        bases.erase(bases.begin() + static_cast<std::ptrdiff_t>(b));
    }
}

// The value of the lane whose number differs in `mask`. Shuffles move 32 bits.
ValueId Lowering::from_lane(ValueId value, std::uint32_t mask) {
    const Type type = function_.type_of(value);
    const auto shuffle = [&](ValueId word) {
        const ValueId args[] = {word, i32(mask), i32(kXorClamp), i32(kAllLanes)};
        return builder_.machine(intrinsic::Machine::ShflXor, args)[0];
    };
    if (is_float(type)) {
        const Type bits = int_type(type_bits(type));
        return builder_.convert(Op::Bitcast, type, from_lane(builder_.convert(Op::Bitcast, bits, value), mask));
    }
    if (type == Type::I32) return shuffle(value);
    if (type_bits(type) < 32) return builder_.convert(Op::Trunc, type, shuffle(builder_.convert(Op::Zext, Type::I32, value)));
    const ValueId low = shuffle(builder_.convert(Op::Trunc, Type::I32, value));
    const ValueId high = shuffle(builder_.convert(Op::Trunc, Type::I32, builder_.binary(Op::Lshr, Type::I64, value, i32(32))));
    const ValueId upper = builder_.binary(Op::Shl, Type::I64, builder_.convert(Op::Zext, Type::I64, high), i32(32));
    return builder_.binary(Op::Or, Type::I64, upper, builder_.convert(Op::Zext, Type::I64, low));
}

// After this every lane of a warp that differs on the axis only has the same value.
void Lowering::reduce_lanes(const Reduction& reduction, Registers& values) {
    const std::vector<std::uint32_t>& lanes = reduction.from.layout.lanes;
    for (std::uint32_t b = 0; b < lanes.size(); ++b) {
        if (axis_index(reduction.from.shape, reduction.axis, lanes[b]) == 0) continue;
        const ValueId upper = reduction.commutes ? ValueId::none() : coordinates_.has_bit(b);
        for (ValueId& value : values) {
            const ValueId other = from_lane(value, 1u << b);
            if (reduction.commutes) {
                value = fold(reduction, value, other);
            } else {   // the lower index comes first in both lanes
                value = fold(reduction, builder_.select(upper, other, value), builder_.select(upper, value, other));
            }
        }
    }
}

// Each warp's part lies in shared memory at its number along the axis; every thread folds those of its own lanes.
void Lowering::reduce_warps(const Reduction& reduction, const std::vector<std::uint32_t>& registers_left, Registers& values) {
    const std::vector<std::uint32_t> bases = thread_bases(reduction.from.layout);
    std::vector<std::uint32_t> part(bases.size());   // contribution to the part's number
    std::uint32_t parts = 1, repeated = 0;
    for (std::size_t b = 0; b < bases.size(); ++b) {
        const bool on_axis = axis_index(reduction.from.shape, reduction.axis, bases[b]) != 0;
        if (on_axis && b >= kLaneBits) {
            part[b] = parts;
            parts *= 2;
        } else if (on_axis || bases[b] == 0) {
            repeated |= 1u << b;   // these threads have the same value
        }
    }
    if (parts == 1) return;
    const RegisterRows rows(reduction.from.shape, reduction.axis, registers_left);
    const std::uint32_t bytes = type_bytes(reduction.to.element), size = reduction.to.size() * rows.count();
    const ValueId buffer = scratch();
    MemoryInfo memory;
    memory.align = bytes;
    const auto address = [&](std::uint32_t number, ValueId of_part) {
        const ValueId place = builder_.binary(Op::Iadd, Type::I32, coordinates_.place(reduction.to), i32(rows.place(number) + rows.row(number) * reduction.to.size()));
        const ValueId at = builder_.binary(Op::Iadd, Type::I32, place, builder_.binary(Op::Imul, Type::I32, of_part, i32(size)));
        return builder_.ptr_add(buffer, builder_.binary(Op::Imul, Type::I64, builder_.convert(Op::Zext, Type::I64, at), i64(bytes)));
    };
    const ValueId own_part = coordinates_.combined(part);
    builder_.barrier();   // whoever still reads the buffer
    const BlockId mine = function_.add_block(), after = function_.add_block();
    const ValueId one_of = coordinates_.has_none_of(repeated);
    if (one_of.valid()) builder_.br(one_of, mine, after);
    else builder_.jump(mine);
    builder_.at_end(mine);
    for (std::uint32_t r = 0; r < values.size(); ++r) builder_.store(address(r, own_part), values[r], memory);
    builder_.jump(after);
    builder_.at_end(after);
    builder_.barrier();
    for (std::uint32_t r = 0; r < values.size(); ++r) {
        ValueId sum;
        for (std::uint32_t p = 0; p < parts; ++p) {
            const ValueId one = builder_.load(reduction.to.element, address(r, i32(p)), memory);
            sum = sum.valid() ? fold(reduction, sum, one) : one;
        }
        values[r] = sum;
    }
}

void Lowering::reduce(const Instruction& inst) {
    const Reduction reduction = this->reduction(inst);
    Registers values = present_values(reduction);
    std::vector<std::uint32_t> bases = reduction.from.layout.registers;   // those that are left
    reduce_registers(reduction, reduction.commutes ? kEverything : thread_step(reduction), bases, values);
    reduce_lanes(reduction, values);
    reduce_warps(reduction, bases, values);
    reduce_registers(reduction, kEverything, bases, values);
    registers(inst.result()) = std::move(values);
    Limits own = limits(reduction.tile);
    if (!own.empty()) own.erase(own.begin() + reduction.axis);
    limits(inst.result()) = std::move(own);
}

}  // namespace ockc::tile
