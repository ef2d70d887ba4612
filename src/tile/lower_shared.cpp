// Tiles in shared memory: slots of rings, copies from global memory into them, and registers that are stored there.
//
// A copy asks once for the whole block. Where the tile lies inside the tensor with rows at multiples of 16 bytes, every
// thread starts asynchronous copies of 16 bytes each; at an edge those copies read as many bytes as exist and fill the rest
// with zeros; where rows lie anywhere, elements are copied one by one, which is done when the block meets at the barrier.
#include <algorithm>
#include <bit>

#include "tile/shared_access.hpp"

namespace ockc::tile {

using namespace ir;

namespace {
constexpr std::uint32_t kPieceBytes = 16;
constexpr std::uint64_t kSlotAlign = 1024;
constexpr std::uint64_t kStaticShared = 48 * 1024;   // bytes; more is dynamic shared memory
constexpr std::uint32_t kPackedBytes = 4;
}  // namespace

SharedAccess::SharedAccess(Builder& builder, Coordinates& coordinates, ValueId base, const TileLayout& layout, const std::vector<std::uint32_t>& places, const Moving& moving)
    : builder_(builder), coordinates_(coordinates), base_(base), layout_(layout), number_(moving.number) {
    for (const std::uint32_t place : places) by_thread_.push_back(shared_offset(layout, place));
    for (const std::uint32_t place : moving.places) by_number_.push_back(shared_offset(layout, place));
    for (const std::uint32_t offset : by_thread_) bits_ |= offset;
    for (const std::uint32_t offset : by_number_) bits_ |= offset;
}

SharedAccess::Address SharedAccess::at(std::uint32_t place) {
    const std::uint32_t own = shared_offset(layout_, place);
    ValueId& pointer = pointers_[own & bits_];
    if (!pointer.valid()) {
        ValueId offset = coordinates_.combined(by_thread_);
        if (!by_number_.empty()) offset = builder_.binary(Op::Xor, Type::I32, offset, combined_bits(builder_, number_, by_number_));
        if ((own & bits_) != 0) offset = builder_.binary(Op::Xor, Type::I32, offset, builder_.const_int(Type::I32, own & bits_));
        pointer = builder_.ptr_add(base_, builder_.convert(Op::Zext, Type::I64, offset));
    }
    return {pointer, own & ~bits_};
}

// ----------------------------------------------------------------------------------------------------------
// the block's shared memory

void Lowering::make_shared_memory() {
    if (placement_.size == 0) return;
    Global global;
    global.name = function_.name + "_tiles";
    global.space = Space::Shared;
    global.align = kSlotAlign;
    if (placement_.size <= kStaticShared) {
        global.size = placement_.size;
    } else {
        global.is_extern = true;
        function_.facts.dynamic_shared = static_cast<std::uint32_t>(placement_.size);
    }
    shared_ = context_.module.globals.push(std::move(global));
}

ValueId Lowering::shared_memory(InstId inst) {
    return builder_.ptr_add_const(builder_.global_addr(shared_, Type::PtrShared), static_cast<std::int64_t>(placement_.offsets.at(inst.raw)));
}

// So many bytes for the instruction that is being lowered, as shared_need has said.
ValueId Lowering::shared_buffer(std::uint64_t bytes) {
    OCKC_CHECK_MSG(bytes <= need_, "more shared memory than was placed");
    return scratch();
}

// By the first of the threads that hold a lane, for all that want it.
void Lowering::through_shared(const TileType& from, const TileType& to, const Registers& values, Registers& out) {
    const TileLayout between = swizzled(to.shape, type_bytes(to.element));
    const ValueId buffer = scratch();
    store_once(from, between, buffer, values);
    out = load_shared(to, between, buffer);
}

void Lowering::slot(const Instruction& inst) {
    const TileType type = type_of(inst.result());
    const std::uint64_t bytes = (shared_bytes(type.layout, type_bytes(type.element)) + kSlotAlign - 1) / kSlotAlign * kSlotAlign;
    const ValueId offset = builder_.binary(Op::Imul, Type::I32, inst.args[1], i32(static_cast<std::uint32_t>(bytes)));
    const ValueId ring = registers(inst.args[0])[0];
    registers(inst.result()) = {builder_.ptr_add(ring, builder_.convert(Op::Zext, Type::I64, offset))};
}

// ----------------------------------------------------------------------------------------------------------
// registers

// How many neighbouring registers hold neighbouring lanes that lie side by side in shared memory, 16 bytes at most.
std::uint32_t Lowering::neighbours(const TileType& type, const TileLayout& shared) const {
    const std::uint32_t bytes = type_bytes(type.element);
    std::uint32_t count = 1;
    for (const std::uint32_t basis : type.layout.registers) {
        if (basis != count || shared_offset(shared, count) != count * bytes || 2 * count * bytes > kPieceBytes) break;
        count *= 2;
    }
    const auto aligned = [&](std::uint32_t bit) { return thread_clear_of(type, bit); };
    while (count > 1 && !aligned(count - 1)) count /= 2;
    return count;
}

// Does no other basis than the first registers' reach into these low bits of the place?
bool Lowering::thread_clear_of(const TileType& type, std::uint32_t low) const {
    const auto clear = [low](std::uint32_t basis) { return (basis & low) == 0; };
    const std::vector<std::uint32_t> bases = thread_bases(type.layout);
    return std::all_of(bases.begin(), bases.end(), clear);
}

void Lowering::store_shared(const TileType& type, const TileLayout& shared, ValueId base, const Registers& values) {
    SharedAccess access(builder_, coordinates_, base, shared, thread_bases(type.layout));
    const std::uint32_t bytes = type_bytes(type.element), run = neighbours(type, shared);
    const std::uint32_t together = type.element != Type::I1 && bytes < kPackedBytes && run * bytes >= kPackedBytes ? kPackedBytes / bytes : 1;
    MemoryInfo memory;
    memory.align = run * bytes;
    for (std::uint32_t r = 0; r < values.size(); r += run) {
        const SharedAccess::Address at = access.at(register_place(type.layout, r));
        for (std::uint32_t i = 0; i < run; i += together) {
            memory.align = i == 0 ? run * bytes : std::min(run * bytes, 1u << std::countr_zero(i * bytes));
            const ValueId value = together == 1 ? values[r + i] : word_of(std::span(values).subspan(r + i, together));
            builder_.store(at.pointer, value, memory, at.offset + i * bytes);
        }
    }
}

Registers Lowering::load_shared(const TileType& type, const TileLayout& shared, ValueId base) {
    SharedAccess access(builder_, coordinates_, base, shared, thread_bases(type.layout));
    const std::uint32_t bytes = type_bytes(type.element), run = neighbours(type, shared);
    const std::uint32_t together = type.element != Type::I1 && bytes < kPackedBytes && run * bytes >= kPackedBytes ? kPackedBytes / bytes : 1;
    MemoryInfo memory;
    Registers values;
    for (std::uint32_t r = 0; r < type.layout.register_count(); r += run) {
        const SharedAccess::Address at = access.at(register_place(type.layout, r));
        for (std::uint32_t i = 0; i < run; i += together) {
            memory.align = i == 0 ? run * bytes : std::min(run * bytes, 1u << std::countr_zero(i * bytes));
            const ValueId word = builder_.load(together == 1 ? type.element : Type::I32, at.pointer, memory, at.offset + i * bytes);
            for (std::uint32_t k = 0; k < together; ++k) values.push_back(together == 1 ? word : part_of(word, k * bytes * 8, type.element));
        }
    }
    return values;
}

// The registers' values, 0 where a lane is absent.
Registers Lowering::present_or_zero(ValueId tile) {
    Registers values = registers(tile);
    const TileType type = type_of(tile);
    for (std::uint32_t r = 0; r < values.size() && !limits(tile).everywhere(); ++r) {
        const ValueId there = is_present(limits(tile), type, r);
        if (there.valid()) values[r] = builder_.select(there, values[r], zero(type.element));
    }
    return values;
}

// By the first of the threads that hold the same lanes.
void Lowering::store_once(const TileType& type, const TileLayout& shared, ValueId base, const Registers& values) {
    builder_.barrier();   // whoever still reads that memory
    const BlockId after = function_.add_block();
    if (const ValueId first = coordinates_.is_first(type); first.valid()) {
        const BlockId mine = function_.add_block();
        builder_.br(first, mine, after);
        builder_.at_end(mine);
    }
    store_shared(type, shared, base, values);
    builder_.jump(after);
    builder_.at_end(after);
    builder_.barrier();
}

// ----------------------------------------------------------------------------------------------------------
// copies

namespace {

// A register of a copy's layout begins a piece of 16 bytes.
std::uint32_t piece_lanes(const TileType& type) { return kPieceBytes / type_bytes(type.element); }

}  // namespace

// From the row that a thread's pieces begin in to another row, or from that one on to the next: few steps that differ stay in
// registers over a loop.
ValueId Lowering::next_row(const Access& access, ValueId pointer, std::uint32_t from, std::uint32_t to) {
    for (std::size_t k = 0; k + 1 < access.type.shape.size(); ++k) {
        const std::int64_t rows = std::int64_t{axis_index(access.type.shape, k, to)} - axis_index(access.type.shape, k, from);
        if (rows == 0) continue;
        pointer = builder_.ptr_add(pointer, builder_.binary(Op::Imul, Type::I64, widen(access.strides[k]), i64(rows * type_bytes(access.type.element))));
    }
    return pointer;
}

// Bytes from the tensor's first element to the thread's first piece.
ValueId Lowering::own_offset(const Access& access) {
    ValueId tile = i64(0), thread = i64(0);
    for (std::size_t k = 0; k < access.type.shape.size(); ++k) {
        const ValueId stride = widen(access.strides[k]);
        tile = builder_.binary(Op::Iadd, Type::I64, tile, builder_.binary(Op::Imul, Type::I64, widen(access.origin[k]), stride));
        thread = builder_.binary(Op::Iadd, Type::I64, thread, builder_.binary(Op::Imul, Type::I64, widen(coordinates_.index(access.type, k)), stride));
    }
    return builder_.binary(Op::Imul, Type::I64, builder_.binary(Op::Iadd, Type::I64, thread, tile), i64(type_bytes(access.type.element)));
}

// How many bytes of a piece exist, i32.
ValueId Lowering::piece_bytes(const Access& access, std::uint32_t place) {
    const std::size_t last = access.type.shape.size() - 1;
    ValueId all;
    const auto index = [&](std::size_t k) { return builder_.binary(Op::Iadd, Type::I32, access.index[k], i32(axis_index(access.type.shape, k, place))); };
    for (std::size_t k = 0; k <= last; ++k) {
        const ValueId there = builder_.icmp(IntCond::Ult, index(k), access.extents[k]);
        all = all.valid() ? builder_.binary(Op::And, Type::I1, all, there) : there;
    }
    const ValueId left = builder_.binary(Op::Isub, Type::I32, access.extents[last], index(last));
    const ValueId lanes = builder_.binary(Op::Umin, Type::I32, left, i32(piece_lanes(access.type)));
    return builder_.select(all, builder_.binary(Op::Imul, Type::I32, lanes, i32(type_bytes(access.type.element))), i32(0));
}

void Lowering::copy_pieces(const Access& access, const TileLayout& shared, ValueId to, bool is_edge) {
    SharedAccess at(builder_, coordinates_, to, shared, thread_bases(access.type.layout));
    const std::uint32_t columns = access.type.shape.back();
    ValueId row = builder_.ptr_add(access.base, own_offset(access));
    std::uint32_t before = 0;
    for (std::uint32_t r = 0; r < access.type.layout.register_count(); r += piece_lanes(access.type)) {
        const std::uint32_t place = register_place(access.type.layout, r), column = place % columns;
        row = next_row(access, row, before, place - column);
        before = place - column;
        const SharedAccess::Address target = at.at(place);
        const ValueId from = builder_.ptr_add_const(row, std::int64_t{column} * type_bytes(access.type.element));
        std::vector<ValueId> args{builder_.ptr_add_const(target.pointer, target.offset), from};
        if (is_edge) args.push_back(piece_bytes(access, place));
        builder_.machine(is_edge ? intrinsic::Machine::CpAsyncCg16Fill : intrinsic::Machine::CpAsyncCg16, args);
    }
}

// Element by element, in a loop over those of a piece. Ends in the block behind the loop.
void Lowering::copy_elements(const Access& access, const TileLayout& shared, ValueId to, BlockId after) {
    const std::uint32_t bytes = type_bytes(access.type.element), lanes = piece_lanes(access.type);
    MemoryInfo memory;
    memory.align = bytes;
    const BlockId step = function_.add_block();
    builder_.jump(step, ir::TargetArgs{i32(0)});
    const ValueId lane = function_.add_block_param(step, Type::I32);
    builder_.at_end(step);
    Access moved = access;
    moved.index.back() = builder_.binary(Op::Iadd, Type::I32, access.index.back(), lane);
    const ValueId byte = builder_.convert(Op::Zext, Type::I64, builder_.binary(Op::Imul, Type::I32, lane, i32(bytes)));
    SharedAccess at(builder_, coordinates_, builder_.ptr_add(to, byte), shared, thread_bases(access.type.layout));
    const ValueId none = zero(access.type.element);
    for (std::uint32_t r = 0; r < access.type.layout.register_count(); r += lanes) {
        const ValueId there = exists(moved, r);
        const ValueId from = builder_.select(there, offset(moved, register_place(access.type.layout, r)), i64(0));
        const ValueId value = builder_.select(there, builder_.load(access.type.element, builder_.ptr_add(access.base, from), memory), none);
        const SharedAccess::Address target = at.at(register_place(access.type.layout, r));
        builder_.store(target.pointer, value, memory, target.offset);
    }
    const ValueId next = builder_.binary(Op::Iadd, Type::I32, lane, i32(1));
    builder_.br(builder_.icmp(IntCond::Ult, next, i32(lanes)), Target{step, {next}}, Target{after, {}});
}

void Lowering::copy(const Instruction& inst) {
    const TileType type = context_.module.tile_types[inst.tile];
    const std::uint64_t bytes = (shared_bytes(type.layout, type_bytes(type.element)) + kSlotAlign - 1) / kSlotAlign * kSlotAlign;
    const BlockId wanted = function_.add_block(), after = function_.add_block();
    builder_.br(inst.args[2], wanted, after);
    builder_.at_end(wanted);
    const ValueId slot = builder_.binary(Op::Imul, Type::I32, inst.args[1], i32(static_cast<std::uint32_t>(bytes)));
    const ValueId to = builder_.ptr_add(registers(inst.args[0])[0], builder_.convert(Op::Zext, Type::I64, slot));

    TileType pieces = type;
    pieces.layout = blocked(type.shape, kPieceBytes / type_bytes(type.element), warp_bits());
    const Access access = this->access(inst, pieces, 3, 4);
    if (const ValueId first = coordinates_.is_first(pieces); first.valid()) {
        const BlockId mine = function_.add_block();
        builder_.br(first, mine, after);
        builder_.at_end(mine);
    }
    const BlockId whole = function_.add_block(), ragged = function_.add_block(), edge = function_.add_block(), slow = function_.add_block();
    const ValueId aligned = is_aligned(access);
    builder_.br(builder_.binary(Op::And, Type::I1, is_inside(access), aligned), whole, ragged);
    builder_.at_end(whole);
    copy_pieces(access, type.layout, to, false);
    builder_.jump(after);
    builder_.at_end(ragged);
    builder_.br(aligned, edge, slow);
    builder_.at_end(edge);
    copy_pieces(access, type.layout, to, true);
    builder_.jump(after);
    builder_.at_end(slow);
    copy_elements(access, type.layout, to, after);
    builder_.at_end(after);
}

}  // namespace ockc::tile
