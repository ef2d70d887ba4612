#include "ir/analysis/cfg.hpp"

#include <algorithm>

namespace ockc::ir {

Cfg::Cfg(const Function& function) : rpo_index_(function.blocks.size(), kUnreachable) {
    order(function);
    pred_begin_.assign(function.blocks.size() + 1, 0);
    for (const BlockId block : rpo_) {
        for (const Target& target : function.terminator(block).targets)
            ++pred_begin_[target.block.raw + 1];
    }
    for (std::size_t i = 1; i < pred_begin_.size(); ++i)
        pred_begin_[i] += pred_begin_[i - 1];
    preds_.resize(pred_begin_.back());
    std::vector<std::uint32_t> next(pred_begin_.begin(), pred_begin_.end() - 1);
    for (const BlockId block : rpo_) {
        for (const Target& target : function.terminator(block).targets)
            preds_[next[target.block.raw]++] = block;
    }
}

// Depth first with an explicit stack; successors are visited last to first, so that the order follows the
// first target of a branch directly.
void Cfg::order(const Function& function) {
    struct Frame {
        BlockId block;
        std::size_t remaining;
    };
    std::vector<bool> seen(function.blocks.size());
    std::vector<Frame> stack;
    const auto enter = [&](BlockId block) {
        seen[block.raw] = true;
        stack.push_back({block, function.terminator(block).targets.size()});
    };
    enter(function.entry());
    while (!stack.empty()) {
        Frame& frame = stack.back();
        if (frame.remaining == 0) {
            rpo_.push_back(frame.block);
            stack.pop_back();
            continue;
        }
        const BlockId next = function.terminator(frame.block).targets[--frame.remaining].block;
        if (!seen[next.raw]) enter(next);
    }
    std::reverse(rpo_.begin(), rpo_.end());
    for (std::uint32_t i = 0; i < rpo_.size(); ++i)
        rpo_index_.set(rpo_[i], i);
}

}  // namespace ockc::ir
