#include "ir/analysis/cfg.hpp"

namespace ockc::ir {

// With an explicit stack; successors are visited last to first, so that the order follows the first target of a
// branch directly.
std::vector<BlockId> reverse_postorder(const Function& function) {
    struct Frame {
        BlockId block;
        const Target* targets;
        std::size_t remaining;
    };
    const std::size_t count = function.layout.size();
    std::vector<std::uint8_t> seen(function.blocks.size());
    std::vector<Frame> stack;
    stack.reserve(count);
    std::vector<BlockId> order(count);
    std::size_t place = count;  // filled from the end
    const auto enter = [&](BlockId block) {
        seen[block.raw] = 1;
        const auto& targets = function.terminator(block).targets;
        stack.push_back({block, targets.data(), targets.size()});
    };
    enter(function.entry());
    while (!stack.empty()) {
        Frame& frame = stack.back();
        if (frame.remaining == 0) {
            order[--place] = frame.block;
            stack.pop_back();
            continue;
        }
        const BlockId next = frame.targets[--frame.remaining].block;
        if (seen[next.raw] == 0) enter(next);
    }
    if (place != 0) order.erase(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(place));
    return order;
}

Cfg::Cfg(const Function& function)
    : pred_begin_(function.blocks.size() + 2), rpo_(reverse_postorder(function)),
      rpo_index_(function.blocks.size(), kUnreachable) {
    // Counting sort: pred_begin_[b + 2] counts, then points where the next one goes, so that in the end
    // pred_begin_[b + 1] is where the list of b ends.
    std::uint32_t index = 0;
    std::uint32_t edges = 0;
    for (const BlockId block : rpo_) {
        rpo_index_.at(block) = index++;
        for (const Target& target : function.terminator(block).targets) {
            ++pred_begin_[target.block.raw + 2];
            ++edges;
        }
    }
    for (std::size_t i = 2; i < pred_begin_.size(); ++i)
        pred_begin_[i] += pred_begin_[i - 1];
    preds_.resize(edges);
    for (const BlockId block : rpo_) {
        for (const Target& target : function.terminator(block).targets)
            preds_[pred_begin_[target.block.raw + 1]++] = block;
    }
}

}  // namespace ockc::ir
