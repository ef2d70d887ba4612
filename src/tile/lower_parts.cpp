// Tiles put together and taken apart. The whole tile lies row-major in shared memory; where some of its lanes may be absent, a
// byte for each behind it says whether it is there.
#include "tile/lowering.hpp"

namespace ockc::tile {

using namespace ir;

namespace {
constexpr std::uint64_t kPartAlign = 16;

// Places of one shape as places of another in which they have the same indices.
std::uint32_t place_in(std::uint32_t place, const Shape& from, const Shape& to) {
    std::uint32_t result = 0;
    for (std::size_t k = 0; k < from.size(); ++k) result += axis_index(from, k, place) * axis_weight(to, k);
    return result;
}

std::vector<std::uint32_t> bases_in(const TileType& part, const Shape& whole) {
    std::vector<std::uint32_t> result;
    for (const std::uint32_t basis : thread_bases(part.layout)) result.push_back(place_in(basis, part.shape, whole));
    return result;
}
}  // namespace

// The address of the thread's lane at `place` behind `offset`, which may be none.
ValueId Lowering::shared_lane(ValueId at, const std::vector<std::uint32_t>& bases, std::uint32_t place, ValueId offset, std::uint32_t bytes) {
    ValueId lane = builder_.binary(Op::Xor, Type::I32, coordinates_.combined(bases), i32(place));
    if (offset.valid()) lane = builder_.binary(Op::Iadd, Type::I32, lane, offset);
    return builder_.ptr_add(at, builder_.binary(Op::Imul, Type::I64, builder_.convert(Op::Zext, Type::I64, lane), i64(bytes)));
}

// Writes a tile of shape `shape` where it belongs in the whole, `offset` lanes from its beginning.
void Lowering::put_part(const Parts& parts, ValueId tile, const Shape& shape, std::uint32_t offset) {
    TileType type = type_of(tile);
    const std::uint32_t bytes = type_bytes(type.element);
    const std::vector<std::uint32_t> bases = bases_in(type, parts.type.shape);
    const Registers there = parts.present_at.valid() ? presence(limits(tile), type) : Registers();
    const BlockId after = function_.add_block();
    if (const ValueId first = coordinates_.is_first(type); first.valid()) {
        const BlockId mine = function_.add_block();
        builder_.br(first, mine, after);
        builder_.at_end(mine);
    }
    MemoryInfo memory, byte;
    memory.align = bytes;
    for (std::uint32_t r = 0; r < type.layout.register_count(); ++r) {
        const std::uint32_t place = place_in(register_place(type.layout, r), shape, parts.type.shape);
        const ValueId begin = offset == 0 ? ValueId::none() : i32(offset);
        builder_.store(shared_lane(parts.at, bases, place, begin, bytes), registers(tile)[r], memory);
        if (!parts.present_at.valid()) continue;
        const ValueId exists = there.empty() ? builder_.const_bool(true) : there[r];
        builder_.store(shared_lane(parts.present_at, bases, place, begin, 1), exists, byte);
    }
    builder_.jump(after);
    builder_.at_end(after);
}

// Reads the result from the whole; `offset`: the lane at which it begins, i32.
void Lowering::take_part(const Parts& parts, ValueId offset, ValueId result) {
    const TileType type = type_of(result);
    const std::uint32_t bytes = type_bytes(type.element);
    const std::vector<std::uint32_t> bases = bases_in(type, parts.type.shape);
    MemoryInfo memory, byte;
    memory.align = bytes;
    for (std::uint32_t r = 0; r < type.layout.register_count(); ++r) {
        const std::uint32_t place = place_in(register_place(type.layout, r), type.shape, parts.type.shape);
        registers(result).push_back(builder_.load(type.element, shared_lane(parts.at, bases, place, offset, bytes), memory));
        if (parts.present_at.valid()) limits(result).mask.push_back(builder_.load(Type::I1, shared_lane(parts.present_at, bases, place, offset, 1), byte));
    }
}

void Lowering::cat(const Instruction& inst) {
    Parts parts;
    parts.type = type_of(inst.result());
    const bool partial = !limits(inst.args[0]).everywhere() || !limits(inst.args[1]).everywhere();
    const std::uint64_t bytes = (std::uint64_t{parts.type.size()} * type_bytes(parts.type.element) + kPartAlign - 1) / kPartAlign * kPartAlign;
    parts.at = shared_buffer(partial ? bytes + parts.type.size() : bytes);
    if (partial) parts.present_at = builder_.ptr_add_const(parts.at, static_cast<std::int64_t>(bytes));
    builder_.barrier();   // whoever still reads the buffer
    const Shape shape = type_of(inst.args[0]).shape;
    put_part(parts, inst.args[0], shape, 0);
    const auto axis = static_cast<std::size_t>(function_.def(inst.args[2])->imm);
    put_part(parts, inst.args[1], shape, shape[axis] * axis_weight(parts.type.shape, axis));
    builder_.barrier();
    take_part(parts, {}, inst.result());
}

void Lowering::extract(const Instruction& inst) {
    Parts parts;
    parts.type = type_of(inst.args[0]);
    const Limits own = limits(inst.args[0]);
    const Shape to = type_of(inst.result()).shape;
    const std::uint64_t bytes = (std::uint64_t{parts.type.size()} * type_bytes(parts.type.element) + kPartAlign - 1) / kPartAlign * kPartAlign;
    parts.at = shared_buffer(own.mask.empty() ? bytes : bytes + parts.type.size());
    if (!own.mask.empty()) parts.present_at = builder_.ptr_add_const(parts.at, static_cast<std::int64_t>(bytes));
    builder_.barrier();   // whoever still reads the buffer
    put_part(parts, inst.args[0], parts.type.shape, 0);
    builder_.barrier();
    ValueId offset = i32(0);
    std::vector<ValueId> axes(own.axes.size());
    for (std::size_t k = 0; k < to.size(); ++k) {
        const ValueId first = builder_.binary(Op::Imul, Type::I32, inst.args[static_cast<std::uint32_t>(k) + 1], i32(to[k]));
        offset = builder_.binary(Op::Iadd, Type::I32, offset, builder_.binary(Op::Imul, Type::I32, first, i32(axis_weight(parts.type.shape, k))));
        if (own.axis(k).valid()) axes[k] = builder_.binary(Op::Isub, Type::I32, own.axis(k), first);
    }
    take_part(parts, offset, inst.result());
    limits(inst.result()).axes = std::move(axes);
}

}  // namespace ockc::tile
