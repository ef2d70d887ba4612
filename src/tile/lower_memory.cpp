// Tiles from and to global memory. A block asks once for each access whether the tile lies inside the tensor, row for row
// at addresses that wide accesses need; then a thread moves its registers 16 bytes at a time. At an edge, and where rows are
// not contiguous, every lane is asked for on its own: those outside read as zero and are not written.
#include <algorithm>
#include <bit>

#include "tile/lowering.hpp"

namespace ockc::tile {

using namespace ir;

namespace {
constexpr std::uint32_t kWidestAccess = 16;   // bytes
constexpr std::uint32_t kWordBytes = 4;
}

Lowering::Access Lowering::access(const Instruction& inst, const TileType& type, std::uint32_t base, std::uint32_t first) {
    Access access;
    access.type = type;
    access.base = inst.args[base];
    if (const Instruction* def = function_.def(access.base); def != nullptr && def->op == Op::SpaceCast && function_.type_of(def->args[0]) == Type::PtrGlobal) {
        access.base = def->args[0];
    }
    const std::size_t rank = access.type.shape.size();
    for (std::size_t k = 0; k < rank; ++k) {
        access.origin.push_back(inst.args[static_cast<std::uint32_t>(first + k)]);
        access.extents.push_back(inst.args[static_cast<std::uint32_t>(first + rank + k)]);
        access.strides.push_back(inst.args[static_cast<std::uint32_t>(first + 2 * rank + k)]);
        access.limits.push_back(builder_.binary(Op::Isub, Type::I32, access.extents[k], access.origin[k]));
        access.index.push_back(builder_.binary(Op::Iadd, Type::I32, access.origin[k], coordinates_.index(access.type, k)));
    }
    return access;
}

// Byte offset from the base of the lane whose place a register contributes, i64.
ValueId Lowering::offset(const Access& access, std::uint32_t place) {
    ValueId sum = i64(0);
    for (std::size_t k = 0; k < access.index.size(); ++k) {
        const ValueId index = builder_.binary(Op::Iadd, Type::I32, access.index[k], i32(axis_index(access.type.shape, k, place)));
        sum = builder_.binary(Op::Iadd, Type::I64, sum, builder_.binary(Op::Imul, Type::I64, widen(index), widen(access.strides[k])));
    }
    return builder_.binary(Op::Imul, Type::I64, sum, i64(type_bytes(access.type.element)));
}

// Does the lane lie in the tensor, and in the stored tile? An index below zero is a large unsigned number.
ValueId Lowering::exists(const Access& access, std::uint32_t number) {
    const std::uint32_t place = register_place(access.type.layout, number);
    ValueId all = is_present(access.stored, access.type, number);
    if (!all.valid()) all = builder_.const_bool(true);
    for (std::size_t k = 0; k < access.index.size(); ++k) {
        const ValueId index = builder_.binary(Op::Iadd, Type::I32, access.index[k], i32(axis_index(access.type.shape, k, place)));
        all = builder_.binary(Op::And, Type::I1, all, builder_.icmp(IntCond::Ult, index, access.extents[k]));
    }
    return all;
}

// The same for all threads of the block: no lane of the tile is outside, or absent from what is stored.
ValueId Lowering::is_inside(const Access& access) {
    ValueId inside = builder_.const_bool(access.stored.mask.empty());
    for (std::size_t k = 0; k < access.type.shape.size(); ++k) {
        const ValueId fits = builder_.icmp(IntCond::Sge, access.limits[k], i32(access.type.shape[k]));
        inside = builder_.binary(Op::And, Type::I1, inside, fits);
        inside = builder_.binary(Op::And, Type::I1, inside, builder_.icmp(IntCond::Sge, access.origin[k], i32(0)));
        if (const ValueId limit = access.stored.axis(k); limit.valid()) {
            inside = builder_.binary(Op::And, Type::I1, inside, builder_.icmp(IntCond::Sge, limit, i32(access.type.shape[k])));
        }
    }
    return inside;
}

// The same for all threads of the block: the last axis is contiguous, and rows begin at multiples of the widest access. Only
// the low bits of addresses matter, which 32-bit arithmetic keeps.
ValueId Lowering::is_aligned(const Access& access) {
    const std::size_t rank = access.type.shape.size();
    const ValueId bytes = i32(type_bytes(access.type.element));
    ValueId place = builder_.convert(Op::Trunc, Type::I32, builder_.convert(Op::PtrToInt, Type::I64, access.base));
    ValueId rows = i32(0), contiguous = builder_.const_bool(true);
    for (std::size_t k = 0; k < rank; ++k) {
        const ValueId row = builder_.binary(Op::Imul, Type::I32, access.strides[k], bytes);
        place = builder_.binary(Op::Iadd, Type::I32, place, builder_.binary(Op::Imul, Type::I32, access.origin[k], row));
        if (k + 1 == rank) contiguous = builder_.icmp(IntCond::Eq, access.strides[k], i32(1));
        else if (access.type.shape[k] != 1) rows = builder_.binary(Op::Or, Type::I32, rows, row);
    }
    const ValueId low = builder_.binary(Op::And, Type::I32, builder_.binary(Op::Or, Type::I32, place, rows), i32(kWidestAccess - 1));
    return builder_.binary(Op::And, Type::I1, contiguous, builder_.icmp(IntCond::Eq, low, i32(0)));
}

// The address of the thread's row that a register lies in, without the register's index on the last axis.
ValueId Lowering::row_pointer(const Access& access, std::uint32_t place, std::map<std::uint32_t, ValueId>& rows) {
    const std::uint32_t last = access.type.shape.empty() ? 1 : access.type.shape.back();
    const std::uint32_t row = place / last * last;
    const auto known = rows.find(row);
    if (known != rows.end()) return known->second;
    return rows[row] = builder_.ptr_add(access.base, offset(access, row));
}

// Of an access so many bytes behind the beginning of a thread's vector.
MemoryInfo Lowering::wide(const Access& access, std::uint32_t bytes) const {
    std::uint32_t vector = type_bytes(access.type.element);   // bytes that follow each other in a thread's registers
    for (const std::uint32_t basis : access.type.layout.registers) {
        if (basis * type_bytes(access.type.element) != vector) break;
        vector *= 2;
    }
    MemoryInfo memory;
    const std::uint32_t widest = std::min(vector, kWidestAccess);
    memory.align = bytes == 0 ? widest : std::min(widest, 1u << std::countr_zero(bytes));
    return memory;
}

// How many registers of narrow elements one 32-bit access moves: vectors are made of such.
std::uint32_t Lowering::word_lanes(const Access& access) const {
    const std::uint32_t bytes = type_bytes(access.type.element);
    return bytes < kWordBytes && wide(access, 0).align >= kWordBytes && access.type.element != Type::I1 ? kWordBytes / bytes : 1;
}

Registers Lowering::load_whole(const Access& access) {
    Registers out;
    std::map<std::uint32_t, ValueId> rows;
    const Type element = access.type.element;
    const std::uint32_t bytes = type_bytes(element), together = word_lanes(access);
    const std::uint32_t last = access.type.shape.empty() ? 1 : access.type.shape.back();
    for (std::uint32_t r = 0; r < access.type.layout.register_count(); r += together) {
        const std::uint32_t place = register_place(access.type.layout, r);
        const std::uint32_t at = place % last * bytes;
        const Type moved = together == 1 ? element : Type::I32;
        const ValueId word = builder_.load(moved, row_pointer(access, place, rows), wide(access, at), at);
        for (std::uint32_t i = 0; i < together; ++i) out.push_back(together == 1 ? word : part_of(word, i * bytes * 8, element));
    }
    return out;
}

// The element in a word's bits from `bit` on.
ValueId Lowering::part_of(ValueId word, std::uint32_t bit, Type element) {
    if (bit != 0) word = builder_.binary(Op::Lshr, Type::I32, word, i32(bit));
    const Type bits = int_type(type_bits(element));
    const ValueId part = builder_.convert(Op::Trunc, bits, word);
    return bits == element ? part : builder_.convert(Op::Bitcast, element, part);
}

// Neighbouring registers as one word.
ValueId Lowering::word_of(std::span<const ValueId> parts) {
    ValueId word;
    const std::uint32_t width = type_bits(function_.type_of(parts[0]));
    for (std::uint32_t i = 0; i < parts.size(); ++i) {
        const ValueId bits = is_float(function_.type_of(parts[i])) ? builder_.convert(Op::Bitcast, int_type(width), parts[i]) : parts[i];
        ValueId wide = builder_.convert(Op::Zext, Type::I32, bits);
        if (i != 0) wide = builder_.binary(Op::Shl, Type::I32, wide, i32(i * width));
        word = word.valid() ? builder_.binary(Op::Or, Type::I32, word, wide) : wide;
    }
    return word;
}

Registers Lowering::load_edge(const Access& access) {
    Registers out;
    const Type element = access.type.element;
    const ValueId zero = this->zero(element);
    MemoryInfo memory;
    memory.align = type_bytes(element);
    for (std::uint32_t r = 0; r < access.type.layout.register_count(); ++r) {
        const std::uint32_t place = register_place(access.type.layout, r);
        const ValueId there = exists(access, r);
        // A lane outside reads the tensor's first element and forgets it.
        const ValueId at = builder_.select(there, offset(access, place), i64(0));
        const ValueId value = builder_.load(element, builder_.ptr_add(access.base, at), memory);
        out.push_back(builder_.select(there, value, zero));
    }
    return out;
}

void Lowering::load(const Instruction& inst) {
    const Access access = this->access(inst, context_.module.tile_types[inst.tile], 0, 1);
    const BlockId whole = function_.add_block(), edge = function_.add_block(), after = function_.add_block();
    builder_.br(builder_.binary(Op::And, Type::I1, is_inside(access), is_aligned(access)), whole, edge);
    for (const bool is_edge : {false, true}) {
        builder_.at_end(is_edge ? edge : whole);
        const Registers values = is_edge ? load_edge(access) : load_whole(access);
        builder_.jump(after, ir::TargetArgs(values));
    }
    builder_.at_end(after);
    for (std::uint32_t r = 0; r < access.type.layout.register_count(); ++r) {
        registers(inst.result()).push_back(function_.add_block_param(after, access.type.element));
    }
    limits(inst.result()).axes = access.limits;
}

void Lowering::store_whole(const Access& access, const Registers& values) {
    std::map<std::uint32_t, ValueId> rows;
    const std::uint32_t bytes = type_bytes(access.type.element);
    const std::uint32_t last = access.type.shape.empty() ? 1 : access.type.shape.back();
    const std::uint32_t together = word_lanes(access);
    for (std::uint32_t r = 0; r < values.size(); r += together) {
        const std::uint32_t place = register_place(access.type.layout, r);
        const std::uint32_t at = place % last * bytes;
        const ValueId value = together == 1 ? values[r] : word_of(std::span(values).subspan(r, together));
        builder_.store(row_pointer(access, place, rows), value, wide(access, at), at);
    }
}

void Lowering::store_edge(const Access& access, const Registers& values, BlockId after) {
    MemoryInfo memory;
    memory.align = type_bytes(access.type.element);
    for (std::uint32_t r = 0; r < values.size(); ++r) {
        const std::uint32_t place = register_place(access.type.layout, r);
        const BlockId there = function_.add_block();
        const BlockId next = r + 1 == values.size() ? after : function_.add_block();
        builder_.br(exists(access, r), there, next);
        builder_.at_end(there);
        builder_.store(builder_.ptr_add(access.base, offset(access, place)), values[r], memory);
        builder_.jump(next);
        builder_.at_end(next);
    }
}

void Lowering::store(const Instruction& inst) {
    Access access = this->access(inst, context_.module.tile_types[inst.tile], 0, 2);
    access.stored = limits(inst.args[1]);
    const Registers values = registers(inst.args[1]);
    const BlockId after = function_.add_block();
    if (const ValueId first = coordinates_.is_first(access.type); first.valid()) {   // lanes that several threads hold
        const BlockId mine = function_.add_block();
        builder_.br(first, mine, after);
        builder_.at_end(mine);
    }
    const BlockId whole = function_.add_block(), edge = function_.add_block();
    builder_.br(builder_.binary(Op::And, Type::I1, is_inside(access), is_aligned(access)), whole, edge);
    builder_.at_end(whole);
    store_whole(access, values);
    builder_.jump(after);
    builder_.at_end(edge);
    store_edge(access, values, after);
    builder_.at_end(after);
}

}  // namespace ockc::tile
