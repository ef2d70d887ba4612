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
    } else if (!to.layout.is_shared() && thread_bases(from.layout) == thread_bases(to.layout)) {
        for (std::uint32_t r = 0; r < to.layout.register_count(); ++r) {
            const std::uint32_t place = register_place(to.layout, r);
            std::uint32_t source = 0;
            while (source < from.layout.register_count() && register_place(from.layout, source) != place) ++source;
            OCKC_CHECK_MSG(source < from.layout.register_count(), "a lane that no register holds");
            out.push_back(registers(inst.args[0])[source]);
        }
    } else if (to.layout.is_shared()) {
        const ValueId buffer = scratch();
        store_once(from, to.layout, buffer, present_or_zero(inst.args[0]));
        registers(inst.result()) = {buffer};
        return;   // of an operand, lanes that do not exist count as 0
    } else {
        const TileLayout between = swizzled(to.shape, type_bytes(to.element));
        const ValueId buffer = scratch();
        store_once(from, between, buffer, Registers(registers(inst.args[0])));
        out = load_shared(to, between, buffer);
    }
    registers(inst.result()) = std::move(out);
    limits(inst.result()) = Limits(limits(inst.args[0]));
}

}  // namespace ockc::tile
