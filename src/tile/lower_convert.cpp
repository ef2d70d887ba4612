// From one layout to another. Where every lane stays in its thread the registers change places; everything else goes through
// shared memory, where the tile lies row-major.
#include <algorithm>

#include "tile/lowering.hpp"

namespace ockc::tile {

using namespace ir;

void Lowering::convert(const Instruction& inst) {
    const Instruction* def = function_.def(inst.args[0]);
    const TileType from = type_of(inst.args[0]), to = type_of(inst.result());
    Registers out;
    if (def != nullptr && def->op == Op::TileSplat) {
        out.assign(to.layout.register_count(), def->args[0]);
    } else if (thread_bases(from.layout) == thread_bases(to.layout)) {
        for (std::uint32_t r = 0; r < to.layout.register_count(); ++r) {
            const std::uint32_t place = register_place(to.layout, r);
            std::uint32_t source = 0;
            while (source < from.layout.register_count() && register_place(from.layout, source) != place) ++source;
            OCKC_CHECK_MSG(source < from.layout.register_count(), "a lane that no register holds");
            out.push_back(registers(inst.args[0])[source]);
        }
    } else {
        through_shared(from, to, Registers(registers(inst.args[0])), out);
    }
    registers(inst.result()) = std::move(out);
    limits(inst.result()) = Limits(limits(inst.args[0]));
}

// One buffer for all conversions: a barrier keeps each from overtaking the one before.
ValueId Lowering::shared_buffer(std::uint64_t bytes) {
    if (!shared_.valid()) {
        Global global;
        global.name = function_.name + "_tiles";
        global.space = Space::Shared;
        global.align = 16;
        shared_ = context_.module.globals.push(std::move(global));
    }
    Global& global = context_.module.globals[shared_];
    global.size = std::max(global.size, bytes);
    return builder_.global_addr(shared_, Type::PtrShared);
}

void Lowering::through_shared(const TileType& from, const TileType& to, const Registers& values, Registers& out) {
    const std::uint32_t bytes = type_bytes(from.element);
    const ValueId buffer = shared_buffer(std::uint64_t{from.size()} * bytes);
    MemoryInfo memory;
    memory.align = bytes;
    const auto address = [&](const TileType& type, std::uint32_t number) {
        const ValueId place = builder_.binary(Op::Xor, Type::I32, coordinates_.place(type), i32(register_place(type.layout, number)));
        return builder_.ptr_add(buffer, builder_.binary(Op::Imul, Type::I64, builder_.convert(Op::Zext, Type::I64, place), i64(bytes)));
    };
    builder_.barrier();
    const BlockId after = function_.add_block();
    const ValueId first = coordinates_.is_first(from);
    if (first.valid()) {
        const BlockId mine = function_.add_block();
        builder_.br(first, mine, after);
        builder_.at_end(mine);
    }
    for (std::uint32_t r = 0; r < values.size(); ++r) builder_.store(address(from, r), values[r], memory);
    builder_.jump(after);
    builder_.at_end(after);
    builder_.barrier();
    for (std::uint32_t r = 0; r < to.layout.register_count(); ++r) out.push_back(builder_.load(to.element, address(to, r), memory));
}

}  // namespace ockc::tile
