#include "opt/compact.hpp"

#include <utility>

#include "ir/analysis/uses.hpp"

namespace ockc::opt {

using namespace ir;

void compact(Function& function) {
    std::size_t inst_count = 0, value_count = 0;
    for (const BlockId block : function.layout) {
        inst_count += function.blocks[block].insts.size();
        value_count += function.blocks[block].params.size();
        for (const InstId inst : function.blocks[block].insts)
            value_count += function.insts[inst].results.size();
    }
    if (inst_count == function.insts.size() && value_count == function.values.size() &&
        function.layout.size() == function.blocks.size())
        return;
    IndexVec<BlockId, Block> blocks;
    IndexVec<InstId, Instruction> insts;
    IndexVec<ValueId, Value> values;
    blocks.reserve(function.layout.size());
    insts.reserve(inst_count);
    values.reserve(value_count);
    std::vector<BlockId> new_block(function.blocks.size());
    std::vector<ValueId> new_value(function.values.size());
    const auto renumber = [&](ValueId& value, InstId inst, BlockId block) {
        Value info = function.values[value];
        info.inst = inst;
        info.block = block;
        value = new_value[value.raw] = values.push(info);
    };
    for (const BlockId old : function.layout) {
        const BlockId block = new_block[old.raw] = blocks.push(std::move(function.blocks[old]));
        for (ValueId& param : blocks[block].params)
            renumber(param, InstId::none(), block);
        for (InstId& inst : blocks[block].insts) {
            inst = insts.push(std::move(function.insts[inst]));
            for (ValueId& result : insts[inst].results)
                renumber(result, inst, BlockId::none());
        }
    }
    for (Instruction& inst : insts) {
        for_each_use(inst, [&](ValueId& value) { value = new_value[value.raw]; });
        for (Target& target : inst.targets)
            target.block = new_block[target.block.raw];
    }
    for (BlockId& block : function.layout)
        block = new_block[block.raw];
    function.blocks = std::move(blocks);
    function.insts = std::move(insts);
    function.values = std::move(values);
}

void drop_body(Function& function) {
    function.blocks = {};
    function.insts = {};
    function.values = {};
    function.layout = {};
    function.inline_scopes = {};
}

}  // namespace ockc::opt
