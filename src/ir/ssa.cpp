#include "ir/ssa.hpp"

#include <algorithm>

namespace ockc::ir {


SsaBuilder::SsaBuilder(Function& function, const Cfg& cfg)
    : function_(function),
      cfg_(cfg),
      entry_(function.entry()),
      in_(function.blocks.size()),
      out_(function.blocks.size()),
      in_region_(function.blocks.size()),
      is_join_(function.blocks.size()) {}

void SsaBuilder::start() {
    for (const BlockId block : region_) {
        in_[block.raw] = ValueId::none();
        in_region_[block.raw] = false;
        is_join_[block.raw] = false;
    }
    for (const BlockId block : touched_)
        out_[block.raw] = ValueId::none();
    region_.clear();
    touched_.clear();
    entry_needed_ = false;
}

void SsaBuilder::define(BlockId block, ValueId value) {
    if (!out_[block.raw].valid()) touched_.push_back(block);
    out_[block.raw] = value;
}

void SsaBuilder::need(BlockId block) {
    if (in_region_[block.raw]) return;
    in_region_[block.raw] = true;
    region_.push_back(block);
}

void SsaBuilder::collect_region() {
    for (std::size_t i = 0; i < region_.size(); ++i) {  // grows while it is walked
        const BlockId block = region_[i];
        if (block == entry_) entry_needed_ = true;
        for (const BlockId pred : cfg_.preds(block)) {
            if (!out_[pred.raw].valid()) need(pred);
        }
    }
    std::sort(region_.begin(), region_.end(),
              [&](BlockId a, BlockId b) { return cfg_.rpo_index(a) < cfg_.rpo_index(b); });
}

// Fills in_ of the blocks without a parameter from the predecessors seen so far.
void SsaBuilder::propagate() {
    for (const BlockId block : region_) {
        if (block != entry_ && !is_join_[block.raw]) set_in(block, ValueId::none());
    }
    for (const BlockId block : region_) {
        if (block == entry_ || is_join_[block.raw]) continue;
        for (const BlockId pred : cfg_.preds(block)) {
            const ValueId value = at_end(pred);
            if (!value.valid()) continue;  // a back edge: find_conflicts looks again
            set_in(block, value);
            break;
        }
    }
}

// Marks the blocks where different values meet and appends them to `joins`. Downstream the first such value
// counted as the truth in this round; the next round sees the parameters.
bool SsaBuilder::find_conflicts(std::vector<BlockId>& joins) {
    const std::size_t before = joins.size();
    for (const BlockId block : region_) {
        if (block == entry_ || is_join_[block.raw]) continue;
        for (const BlockId pred : cfg_.preds(block)) {
            if (at_end(pred) == in_[block.raw]) continue;
            is_join_[block.raw] = true;
            joins.push_back(block);
            break;
        }
    }
    return joins.size() != before;
}

void SsaBuilder::solve(Type type) {
    std::vector<BlockId> joins;
    std::size_t done = 0;
    for (propagate(); find_conflicts(joins); propagate()) {
        for (; done < joins.size(); ++done)
            set_in(joins[done], function_.add_block_param(joins[done], type));
    }
    for (const BlockId block : joins) {
        BlockId last;
        for (const BlockId pred : cfg_.preds(block)) {
            if (pred == last) continue;  // both targets of one branch: done together
            last = pred;
            for (Target& target : function_.terminator(pred).targets) {
                if (target.block == block) target.args.push_back(at_end(pred));
            }
        }
    }
}

}  // namespace ockc::ir
