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
    const std::uint32_t width = inst.op == Op::TileReducePair ? 2 : 1;
    Reduction reduction;
    reduction.callee = inst.callee;
    for (std::uint32_t i = 0; i < own; ++i) reduction.same.push_back(inst.args[i]);
    for (std::uint32_t i = 0; i < width; ++i) {
        reduction.identity.push_back(inst.args[own + i]);
        reduction.tiles.push_back(inst.args[own + width + i]);
        reduction.elements.push_back(type_of(reduction.tiles[i]).element);
    }
    reduction.axis = static_cast<std::uint32_t>(function_.def(inst.args[own + 2 * width])->imm);
    reduction.commutes = (inst.imm >> 8 & 1u) != 0;
    reduction.swapped = (inst.imm >> 10 & 1u) != 0;
    reduction.from = type_of(reduction.tiles[0]);
    reduction.to = type_of(inst.result());
    return reduction;
}

Lowering::Lane Lowering::fold(const Reduction& reduction, const Lane& a, const Lane& b) {
    if (!reduction.callee.valid()) return {builder_.binary(Op::Or, Type::I1, a[0], b[0])};
    std::vector<ValueId> args = reduction.same;
    args.insert(args.end(), a.begin(), a.end());
    args.insert(args.end(), b.begin(), b.end());
    std::vector<Type> types = reduction.elements;
    if (reduction.swapped) std::swap(types[0], types[1]);
    const std::vector<ValueId> results = builder_.call(reduction.callee, args, types);
    Lane folded;
    for (std::size_t i = 0; i < results.size(); ++i) folded.push_back(results[reduction.swapped ? results.size() - 1 - i : i]);
    return folded;
}

Lowering::Lane Lowering::chosen(ValueId which, const Lane& yes, const Lane& no) {
    Lane result;
    for (std::uint32_t i = 0; i < yes.size(); ++i) result.push_back(builder_.select(which, yes[i], no[i]));
    return result;
}

// The registers' values, absent lanes as the identity.
Lowering::Lanes Lowering::present_values(const Reduction& reduction) {
    Lanes values(reduction.from.layout.register_count());
    for (const ValueId tile : reduction.tiles) {
        for (std::uint32_t r = 0; r < values.size(); ++r) values[r].push_back(registers(tile)[r]);
    }
    const Registers there = presence(common_limits(reduction.tiles), reduction.from);
    for (std::uint32_t r = 0; r < there.size(); ++r) values[r] = chosen(there[r], values[r], reduction.identity);
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
void Lowering::reduce_registers(const Reduction& reduction, std::uint32_t below, std::vector<std::uint32_t>& bases, Lanes& values) {
    for (std::size_t b = 0; b < bases.size();) {
        const std::uint32_t step = axis_index(reduction.from.shape, reduction.axis, bases[b]);
        if (step == 0 || step >= below) {
            ++b;
            continue;
        }
        Lanes folded;
        for (std::uint32_t r = 0; r < values.size(); ++r) {
            if ((r >> b & 1u) == 0) folded.push_back(fold(reduction, values[r], values[r | 1u << b]));
        }
        values = std::move(folded);
        bases.erase(bases.begin() + static_cast<std::ptrdiff_t>(b));
    }
}

// A value of any type moved between threads by what moves 32 bits.
ValueId Lowering::moved_word(ValueId value, const std::function<ValueId(ValueId word)>& move) {
    const Type type = function_.type_of(value);
    if (is_float(type)) {
        const Type bits = int_type(type_bits(type));
        return builder_.convert(Op::Bitcast, type, moved_word(builder_.convert(Op::Bitcast, bits, value), move));
    }
    if (type == Type::I32) return move(value);
    if (type_bits(type) < 32) return builder_.convert(Op::Trunc, type, move(builder_.convert(Op::Zext, Type::I32, value)));
    const ValueId low = move(builder_.convert(Op::Trunc, Type::I32, value));
    const ValueId high = move(builder_.convert(Op::Trunc, Type::I32, builder_.binary(Op::Lshr, Type::I64, value, i32(32))));
    const ValueId upper = builder_.binary(Op::Shl, Type::I64, builder_.convert(Op::Zext, Type::I64, high), i32(32));
    return builder_.binary(Op::Or, Type::I64, upper, builder_.convert(Op::Zext, Type::I64, low));
}

// The value of the lane whose number differs in `mask`.
Lowering::Lane Lowering::from_lane(const Lane& value, std::uint32_t mask) {
    const auto shuffle = [&](ValueId word) {
        const ValueId args[] = {word, i32(mask), i32(kXorClamp), i32(kAllLanes)};
        return builder_.machine(intrinsic::Machine::ShflXor, args)[0];
    };
    Lane result;
    for (const ValueId one : value) result.push_back(moved_word(one, shuffle));
    return result;
}

// After this every lane of a warp that differs on the axis only has the same value.
void Lowering::reduce_lanes(const Reduction& reduction, Lanes& values) {
    const std::vector<std::uint32_t>& lanes = reduction.from.layout.lanes;
    for (std::uint32_t b = 0; b < lanes.size(); ++b) {
        if (axis_index(reduction.from.shape, reduction.axis, lanes[b]) == 0) continue;
        const ValueId upper = reduction.commutes ? ValueId::none() : coordinates_.has_bit(b);
        for (Lane& value : values) {
            const Lane other = from_lane(value, 1u << b);
            if (reduction.commutes) {
                value = fold(reduction, value, other);
            } else {   // the lower index comes first in both lanes
                value = fold(reduction, chosen(upper, other, value), chosen(upper, value, other));
            }
        }
    }
}

// Each warp's part lies in shared memory at its number along the axis; every thread folds those of its own lanes.
void Lowering::reduce_warps(const Reduction& reduction, const std::vector<std::uint32_t>& registers_left, Lanes& values) {
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
    const std::uint32_t size = reduction.to.size() * rows.count();
    std::vector<std::uint64_t> begins;   // of each value of a lane
    std::uint64_t all_bytes = 0;
    for (const Type element : reduction.elements) {
        all_bytes = (all_bytes + 15) / 16 * 16;
        begins.push_back(all_bytes);
        all_bytes += std::uint64_t{size} * parts * type_bytes(element);
    }
    const ValueId buffer = shared_buffer(all_bytes);
    const auto memory = [&](std::uint32_t which) {
        MemoryInfo info;
        info.align = type_bytes(reduction.elements[which]);
        return info;
    };
    const auto address = [&](std::uint32_t which, std::uint32_t number, ValueId of_part) {
        const ValueId place = builder_.binary(Op::Iadd, Type::I32, coordinates_.place(reduction.to), i32(rows.place(number) + rows.row(number) * reduction.to.size()));
        const ValueId at = builder_.binary(Op::Iadd, Type::I32, place, builder_.binary(Op::Imul, Type::I32, of_part, i32(size)));
        const ValueId begin = builder_.ptr_add_const(buffer, static_cast<std::int64_t>(begins[which]));
        return builder_.ptr_add(begin, builder_.binary(Op::Imul, Type::I64, builder_.convert(Op::Zext, Type::I64, at), i64(type_bytes(reduction.elements[which]))));
    };
    const ValueId own_part = coordinates_.combined(part);
    builder_.barrier();   // whoever still reads the buffer
    const BlockId mine = function_.add_block(), after = function_.add_block();
    const ValueId one_of = coordinates_.has_none_of(repeated);
    if (one_of.valid()) builder_.br(one_of, mine, after);
    else builder_.jump(mine);
    builder_.at_end(mine);
    for (std::uint32_t r = 0; r < values.size(); ++r) {
        for (std::uint32_t i = 0; i < values[r].size(); ++i) builder_.store(address(i, r, own_part), values[r][i], memory(i));
    }
    builder_.jump(after);
    builder_.at_end(after);
    builder_.barrier();
    for (std::uint32_t r = 0; r < values.size(); ++r) {
        Lane sum;
        for (std::uint32_t p = 0; p < parts; ++p) {
            Lane one;
            for (std::uint32_t i = 0; i < values[r].size(); ++i) one.push_back(builder_.load(reduction.elements[i], address(i, r, i32(p)), memory(i)));
            sum = p == 0 ? one : fold(reduction, sum, one);
        }
        values[r] = sum;
    }
}

void Lowering::reduce_values(const Reduction& reduction, Lanes& values) {
    std::vector<std::uint32_t> bases = reduction.from.layout.registers;   // those that are left
    reduce_registers(reduction, reduction.commutes ? kEverything : thread_step(reduction), bases, values);
    reduce_lanes(reduction, values);
    reduce_warps(reduction, bases, values);
    reduce_registers(reduction, kEverything, bases, values);
}

// A lane of the result exists when one of those that it was made of does.
Limits Lowering::reduced_limits(const Reduction& reduction) {
    Limits own = common_limits(reduction.tiles);
    if (!own.axes.empty()) own.axes.erase(own.axes.begin() + reduction.axis);
    if (own.mask.empty()) return own;
    Reduction any = reduction;
    any.callee = {};
    any.elements = {Type::I1};
    any.commutes = true;
    Lanes values;
    for (const ValueId one : own.mask) values.push_back({one});
    reduce_values(any, values);
    own.mask.clear();
    for (const Lane& value : values) own.mask.push_back(value[0]);
    return own;
}

void Lowering::reduce(const Instruction& inst) {
    const Reduction reduction = this->reduction(inst);
    const bool pair = inst.op == Op::TileReducePair;
    Lanes values;
    if (pair && paired_.block == at_ && paired_.callee == inst.callee && std::equal(inst.args.begin(), inst.args.end(), paired_.args.begin(), paired_.args.end())) {
        values = paired_.values;
    } else {
        values = present_values(reduction);
        reduce_values(reduction, values);
    }
    if (pair) paired_ = {at_, inst.callee, std::vector<ValueId>(inst.args.begin(), inst.args.end()), values};
    for (const Lane& value : values) registers(inst.result()).push_back(value[pair ? inst.imm >> 9 & 1u : 0]);
    limits(inst.result()) = reduced_limits(reduction);
}

}  // namespace ockc::tile
