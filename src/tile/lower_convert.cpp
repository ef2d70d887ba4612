// From one layout to another. Where every lane stays in its thread the registers change places; everything else goes through
// shared memory.
#include <algorithm>

#include "tile/lowering.hpp"

namespace ockc::tile {

using namespace ir;

void Lowering::convert(const Instruction& inst) {
    const Instruction* def = function_.def(inst.args[0]);
    const TileType from = type_of(inst.args[0]), to = type_of(inst.result());
    Registers out;
    if (def != nullptr && def->op == Op::TileSplat && !to.layout.is_shared()) {
        out.assign(to.layout.register_count(), def->args[0]);
    } else if (def != nullptr && def->op == Op::TileIota && !to.layout.is_shared()) {
        out = counted(to, static_cast<std::size_t>(function_.def(def->args[0])->imm));
    } else if (to.layout.is_shared()) {
        const ValueId buffer = scratch();
        store_once(from, to.layout, buffer, present_or_zero(inst.args[0]));
        registers(inst.result()) = {buffer};
        return;   // of an operand, lanes that do not exist count as 0
    } else {
        out = moved(from, to, registers(inst.args[0]));
    }
    registers(inst.result()) = std::move(out);
    Limits own = limits(inst.args[0]);
    if (!own.mask.empty()) {
        TileType before = from, after = to;
        before.element = after.element = Type::I1;
        own.mask = moved(before, after, own.mask);
    }
    limits(inst.result()) = std::move(own);
}

// The registers of one layout as those of another.
Registers Lowering::moved(const TileType& from, const TileType& to, const Registers& values) {
    Registers out;
    if (thread_bases(from.layout) != thread_bases(to.layout)) {
        through_shared(from, to, Registers(values), out);
        return out;
    }
    for (std::uint32_t r = 0; r < to.layout.register_count(); ++r) {
        const std::uint32_t place = register_place(to.layout, r);
        std::uint32_t source = 0;
        while (source < from.layout.register_count() && register_place(from.layout, source) != place) ++source;
        OCKC_CHECK_MSG(source < from.layout.register_count(), "a lane that no register holds");
        out.push_back(values[source]);
    }
    return out;
}

}  // namespace ockc::tile
