#include "opt/clone.hpp"

#include <algorithm>

#include "ir/analysis/cfg.hpp"
#include "ir/analysis/uses.hpp"
#include "opt/edit.hpp"
#include "ir/ssa.hpp"

namespace ockc::opt {

using namespace ir;

BlockId BlockCopies::copy(BlockId block) {
    map_ = {};
    const BlockId to = copy_params(block);
    copy_insts(block, to);
    return to;
}

std::vector<BlockId> BlockCopies::copy_region(const std::vector<BlockId>& blocks) {
    map_ = {};
    SideMap<BlockId, BlockId> to;
    std::vector<BlockId> copies;
    for (const BlockId block : blocks) {
        copies.push_back(copy_params(block));
        if (block != blocks[0]) to.set(block, copies.back());
        for (const InstId id :
             function_.blocks[block].insts) {  // results first: uses may stand above in the list
            const InstId made = clone_inst(function_, id);
            function_.blocks[copies.back()].insts.push_back(made);
            for (std::uint32_t i = 0; i < function_.insts[id].results.size(); ++i) {
                define(function_.insts[id].results[i], block, copies.back(),
                       function_.insts[made].results[i]);
            }
        }
    }
    for (const BlockId copy : copies) {
        for (const InstId id : function_.blocks[copy].insts) {
            Instruction& inst = function_.insts[id];
            for_each_use(inst, [&](ValueId& value) { value = map_[value].valid() ? map_[value] : value; });
            for (Target& target : inst.targets) {
                if (to[target.block].valid()) target.block = to[target.block];
            }
        }
    }
    return copies;
}

BlockId BlockCopies::copy_params(BlockId block) {
    const BlockId to = function_.add_block();
    function_.blocks[to].cold = function_.blocks[block].cold;
    const std::vector<ValueId> params = function_.blocks[block].params;
    for (const ValueId param : params) {
        define(param, block, to, function_.add_block_param(to, function_.type_of(param)));
    }
    return to;
}

void BlockCopies::copy_insts(BlockId from, BlockId to) {
    for (const InstId id : std::vector<InstId>(function_.blocks[from].insts)) {
        const InstId made = clone_inst(function_, id);
        Instruction& inst = function_.insts[made];
        for_each_use(inst, [&](ValueId& value) { value = map_[value].valid() ? map_[value] : value; });
        function_.blocks[to].insts.push_back(made);
        for (std::uint32_t i = 0; i < inst.results.size(); ++i) {
            define(function_.insts[id].results[i], from, to, inst.results[i]);
        }
    }
}

void BlockCopies::define(ValueId original, BlockId home, BlockId block, ValueId value) {
    map_.set(original, value);
    if (!home_[original].valid()) {
        home_.set(original, home);
        definitions_.push_back({original, home, original});
    }
    definitions_.push_back({original, block, value});
}

void BlockCopies::collect_uses(std::vector<Use>& uses) {
    for (const BlockId block : function_.layout) {
        for (const InstId id : function_.blocks[block].insts) {
            const Instruction& inst = function_.insts[id];
            const auto look = [&](std::span<const ValueId> values, std::uint32_t list) {
                for (std::uint32_t i = 0; i < values.size(); ++i) {
                    const BlockId home = home_[values[i]];
                    if (home.valid() && home != block) uses.push_back({values[i], block, id, list, i});
                }
            };
            look(inst.args.view(), 0);
            for (std::uint32_t t = 0; t < inst.targets.size(); ++t)
                look(inst.targets[t].args, t + 1);
        }
    }
}

ValueId& BlockCopies::slot(const Use& use) {
    Instruction& inst = function_.insts[use.inst];
    return use.list == 0 ? inst.args[use.index] : inst.targets[use.list - 1].args[use.index];
}

void BlockCopies::repair() {
    std::vector<Use> uses;
    collect_uses(uses);
    if (uses.empty()) return;
    const auto by_value = [](const auto& a, const auto& b) { return a.value < b.value; };
    std::stable_sort(uses.begin(), uses.end(), by_value);
    std::stable_sort(definitions_.begin(), definitions_.end(),
                     [](const Definition& a, const Definition& b) { return a.original < b.original; });
    const Cfg cfg(function_);
    SsaBuilder ssa(function_, cfg);
    auto definition = definitions_.begin();
    for (std::size_t i = 0; i < uses.size();) {
        const ValueId value = uses[i].value;
        while (definition->original < value)
            ++definition;
        ssa.start();
        for (; definition != definitions_.end() && definition->original == value; ++definition) {
            if (cfg.reachable(definition->block)) ssa.define(definition->block, definition->value);
        }
        std::size_t end = i;
        for (; end < uses.size() && uses[end].value == value; ++end)
            ssa.need(uses[end].block);
        ssa.finish(function_.type_of(value),
                   []() -> ValueId { OCKC_UNREACHABLE("a copied value is used where no copy reaches"); });
        for (; i < end; ++i)
            slot(uses[i]) = ssa.at_start(uses[i].block);
    }
}

}  // namespace ockc::opt
