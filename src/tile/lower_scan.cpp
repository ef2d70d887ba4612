// Scans along one axis. The bits of a lane's index on the axis are taken from the lowest up: in front of bit k, each run of
// 2^k lanes is scanned, and the last lane of a run whose bit is 0 is what the run behind it lacks. Bits that registers and
// lanes of a warp hold are done so with shuffles; from the first bit that tells warps apart on, the runs' last lanes go
// through shared memory once, and every thread folds those in front of its own.
//
// Tiles are scanned in their home layout, where a basis moves one bit of one index. Backwards, bits change their parts.
#include <algorithm>
#include <bit>

#include "tile/lowering.hpp"

namespace ockc::tile {

using namespace ir;

namespace {
constexpr std::uint32_t kEveryLane = 0xFFFF'FFFFu;
constexpr std::uint32_t kWholeWarp = 31;   // clamp of shfl.idx: the warp is one segment

// Which bit of a number contributes 2^k to the index on the axis; none: no bit of this number does.
std::uint32_t bit_on_axis(const std::vector<std::uint32_t>& bases, const TileType& type, std::uint32_t axis, std::uint32_t k) {
    for (std::uint32_t b = 0; b < bases.size(); ++b) {
        if (axis_index(type.shape, axis, bases[b]) == 1u << k) return 1u << b;
    }
    return 0;
}
}  // namespace

struct Lowering::Scan {
    Reduction fold;
    bool reverse = false;
    std::uint32_t bits = 0;                               // of the index on the axis
    std::uint32_t low = 0;                                // those that warps do not hold, from the lowest up
    std::vector<std::uint32_t> register_bit, lane_bit, warp_bit;   // by bit of the index: of the numbers, 0 where another holds it
    // Bits below k in a number.
    static std::uint32_t below(const std::vector<std::uint32_t>& parts, std::uint32_t k) {
        std::uint32_t mask = 0;
        for (std::uint32_t i = 0; i < k; ++i) mask |= parts[i];
        return mask;
    }
};

// The low bits, inside each warp.
void Lowering::scan_warp(const Scan& scan, Registers& values) {
    for (std::uint32_t k = 0; k < scan.low; ++k) {
        const Registers before = values;
        const std::uint32_t own_register = scan.register_bit[k], own_lane = scan.lane_bit[k];
        const std::uint32_t lower_registers = Scan::below(scan.register_bit, k), lower_lanes = Scan::below(scan.lane_bit, k);
        const std::uint32_t lanes = lower_lanes | own_lane;
        ValueId source_lane, is_behind;
        if (lanes != 0) {
            const std::uint32_t wanted = scan.reverse ? own_lane : lower_lanes;
            const ValueId lane = builder_.binary(Op::And, Type::I32, builder_.sreg(Sreg::LaneId), i32(~lanes));
            source_lane = builder_.binary(Op::Or, Type::I32, lane, i32(wanted));
        }
        if (own_lane != 0) {
            is_behind = coordinates_.has_bit(static_cast<std::uint32_t>(std::countr_zero(own_lane)));
            if (scan.reverse) is_behind = builder_.unary(Op::Not, Type::I1, is_behind);
        }
        const auto move = [&](ValueId word) {
            const ValueId args[] = {word, source_lane, i32(kWholeWarp), i32(kEveryLane)};
            return builder_.machine(intrinsic::Machine::ShflIdx, args)[0];
        };
        for (std::uint32_t r = 0; r < values.size(); ++r) {
            if (own_register != 0 && ((r & own_register) != 0) == scan.reverse) continue;   // in front of the other half
            std::uint32_t source = scan.reverse ? (r & ~lower_registers) | own_register : (r & ~own_register) | lower_registers;
            const ValueId in_front = source_lane.valid() ? moved_word(before[source], move) : before[source];
            const ValueId both = fold(scan.fold, {in_front}, {values[r]})[0];
            values[r] = is_behind.valid() ? builder_.select(is_behind, both, values[r]) : both;
        }
    }
}

// The other bits: runs of 2^low lanes, a chunk of them in all warps for each setting of the registers' bits.
void Lowering::scan_block(const Scan& scan, Registers& values) {
    if (scan.low == scan.bits) return;
    const TileType& type = scan.fold.from;
    const std::uint32_t axis = scan.fold.axis, run = 1u << scan.low, runs = 1u << (scan.bits - scan.low), bytes = type_bytes(type.element);
    Shape short_axis = type.shape;
    short_axis[axis] = runs;
    const auto place_of_run = [&](std::uint32_t place) {
        std::uint32_t result = 0;
        for (std::size_t k = 0; k < type.shape.size(); ++k) {
            const std::uint32_t index = axis_index(type.shape, k, place);
            result += (k == axis ? index / run : index) * axis_weight(short_axis, k);
        }
        return result;
    };
    const std::vector<std::uint32_t> bases = thread_bases(type.layout);
    std::vector<std::uint32_t> places, run_numbers;
    std::uint32_t repeated = 0, low_lanes = 0;
    for (std::uint32_t b = 0; b < bases.size(); ++b) {
        const std::uint32_t index = axis_index(type.shape, axis, bases[b]);
        places.push_back(place_of_run(bases[b]));
        run_numbers.push_back(index / run);
        if (bases[b] == 0) repeated |= 1u << b;
        if (index != 0 && index < run) low_lanes |= 1u << b;
    }
    const std::uint32_t low_registers = Scan::below(scan.register_bit, scan.low), lane_count = type.size() / run;
    const ValueId buffer = shared_buffer(std::uint64_t{lane_count} * bytes);
    MemoryInfo memory;
    memory.align = bytes;
    const auto address = [&](ValueId place) {
        return builder_.ptr_add(buffer, builder_.binary(Op::Imul, Type::I64, builder_.convert(Op::Zext, Type::I64, place), i64(bytes)));
    };
    builder_.barrier();   // whoever still reads the buffer
    const BlockId mine = function_.add_block(), after = function_.add_block();
    // The thread with the run's last lane, backwards its first.
    const ValueId thread = builder_.binary(Op::And, Type::I32, builder_.sreg(Sreg::TidX), i32(repeated | low_lanes));
    builder_.br(builder_.icmp(IntCond::Eq, thread, i32(scan.reverse ? 0 : low_lanes)), mine, after);
    builder_.at_end(mine);
    for (std::uint32_t r = 0; r < values.size(); ++r) {
        if ((r & low_registers) != (scan.reverse ? 0 : low_registers)) continue;
        const ValueId place = builder_.binary(Op::Xor, Type::I32, coordinates_.combined(places), i32(place_of_run(register_place(type.layout, r))));
        builder_.store(address(place), values[r], memory);
    }
    builder_.jump(after);
    builder_.at_end(after);
    builder_.barrier();

    // Of all places on the other axes: the runs in order, those in front of the thread's own folded.
    std::uint32_t chunk = 1;   // runs that registers do not tell apart
    for (std::uint32_t k = scan.low; k < scan.bits; ++k) chunk *= scan.register_bit[k] == 0 ? 2 : 1;
    const ValueId own_run = coordinates_.combined(run_numbers);
    const std::uint32_t high_registers = Scan::below(scan.register_bit, scan.bits) & ~low_registers;
    std::map<std::uint32_t, std::vector<ValueId>> in_front;   // by the register's places on other axes: by chunk
    const auto outer = [&](std::uint32_t r) {
        const std::uint32_t place = register_place(type.layout, r & ~(high_registers | low_registers));
        return place_of_run(place);
    };
    std::vector<std::uint32_t> thread_outer;   // what the thread contributes to the place on other axes
    for (std::uint32_t b = 0; b < bases.size(); ++b) thread_outer.push_back(run_numbers[b] != 0 ? 0 : places[b]);
    const ValueId own_outer = coordinates_.combined(thread_outer);
    const std::uint32_t weight = axis_weight(short_axis, axis);
    const auto before_run = [&](std::uint32_t outer_place) {
        std::vector<ValueId> result(runs / chunk);
        ValueId all = scan.fold.identity[0];
        for (std::uint32_t i = 0; i < runs / chunk; ++i) {
            const std::uint32_t c = scan.reverse ? runs / chunk - 1 - i : i;
            ValueId own = all;
            for (std::uint32_t j = 0; j < chunk; ++j) {
                const std::uint32_t p = scan.reverse ? chunk - 1 - j : j;
                const ValueId place = builder_.binary(Op::Iadd, Type::I32, own_outer, i32(outer_place + (c * chunk + p) * weight));
                const ValueId total = builder_.load(type.element, address(place), memory);
                const ValueId is_before = builder_.icmp(scan.reverse ? IntCond::Ult : IntCond::Ugt, own_run, i32(p));
                own = builder_.select(is_before, fold(scan.fold, {own}, {total})[0], own);
                all = fold(scan.fold, {all}, {total})[0];
            }
            result[c] = own;
        }
        return result;
    };
    for (std::uint32_t r = 0; r < values.size(); ++r) {
        const std::uint32_t at = outer(r);
        if (!in_front.contains(at)) in_front[at] = before_run(at);
        const std::uint32_t number = axis_index(type.shape, axis, register_place(type.layout, r & high_registers)) / run / chunk;
        values[r] = fold(scan.fold, {in_front[at][number]}, {values[r]})[0];
    }
}

void Lowering::scan(const Instruction& inst) {
    Scan scan;
    scan.fold = reduction(inst);
    scan.reverse = (inst.imm >> 9 & 1u) != 0;
    const TileType& type = scan.fold.from;
    const std::uint32_t axis = scan.fold.axis;
    scan.bits = static_cast<std::uint32_t>(std::countr_zero(type.shape[axis]));
    scan.low = scan.bits;
    for (std::uint32_t k = 0; k < scan.bits; ++k) {
        scan.register_bit.push_back(bit_on_axis(type.layout.registers, type, axis, k));
        scan.lane_bit.push_back(bit_on_axis(type.layout.lanes, type, axis, k));
        scan.warp_bit.push_back(bit_on_axis(type.layout.warps, type, axis, k));
        if (scan.warp_bit[k] != 0) scan.low = std::min(scan.low, k);
    }
    Registers values;
    for (const Lane& value : present_values(scan.fold)) values.push_back(value[0]);
    scan_warp(scan, values);
    scan_block(scan, values);
    registers(inst.result()) = std::move(values);
    limits(inst.result()) = Limits(limits(inst.args[static_cast<std::uint32_t>(inst.imm & 0xFFu) + 1]));
}

}  // namespace ockc::tile
