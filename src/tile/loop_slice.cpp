#include "tile/loop_slice.hpp"

#include <algorithm>

namespace ockc::tile {

using namespace ir;

LoopSlice::LoopSlice(Function& function, Builder& builder, const Loops& loops, LoopId loop)
    : function_(function), builder_(builder), loops_(loops), loop_(loop) {
    for (const BlockId block : function.layout) {
        for (const InstId inst : function.blocks[block].insts) homes_.set(inst, block);
    }
}

bool LoopSlice::is_outside(ValueId value) const {
    const Value& data = function_.values[value];
    return !loops_.contains(loop_, data.inst.valid() ? homes_[data.inst] : data.block);
}

bool LoopSlice::depends(ValueId value, ValueId count, int steps) const {
    if (value == count || is_outside(value)) return true;
    const Instruction* def = function_.def(value);
    if (def == nullptr || steps == 0 || op_info(def->op).effect != Effect::Pure || is_tile(def->type)) return false;
    return std::all_of(def->args.begin(), def->args.end(), [&](ValueId arg) { return depends(arg, count, steps - 1); });
}

ValueId LoopSlice::with_count(ValueId value, ValueId count, ValueId other) {
    if (value == count) return other;
    if (is_outside(value)) return value;
    Instruction inst = *function_.def(value);
    inst.results.clear();
    for (ValueId& arg : inst.args) arg = with_count(arg, count, other);
    const Type result = function_.type_of(value);
    const InstId id = builder_.append(std::move(inst), {&result, 1});
    return function_.insts[id].result();
}

}  // namespace ockc::tile
