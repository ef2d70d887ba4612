// The final order of blocks: reverse postorder, in which a loop's blocks stay together, the first target of a
// branch follows it where it can, and cold blocks (failed checks) stand at the end.
#include <algorithm>
#include <vector>

#include "ir/analysis/cfg.hpp"
#include "ir/analysis/dominators.hpp"
#include "ir/analysis/loops.hpp"
#include "opt/edit.hpp"
#include "opt/pass.hpp"

namespace ockc::opt {

using namespace ir;

bool run_order_blocks(Function& function, const PassContext& context) {
    remove_unreachable(function);
    const Cfg& cfg = context.analyses.cfg();
    const Loops& loops = context.analyses.loops();
    for (const BlockId block : cfg.rpo()) {
        const Op op = function.terminator(block).op;
        if (block != function.entry() && (op == Op::Panic || op == Op::Trap))
            function.blocks[block].cold = true;
    }
    // Postorder puts last what is visited first: leave loops first, and among the rest take the last target
    // first.
    struct Frame {
        BlockId block;
        std::vector<BlockId> next;  // popped from the back
    };
    std::vector<bool> seen(function.blocks.size());
    std::vector<BlockId> order;
    std::vector<Frame> stack;
    const auto enter = [&](BlockId block) {
        seen[block.raw] = true;
        Frame frame{block, {}};
        for (const Target& target : function.terminator(block).targets)
            frame.next.push_back(target.block);
        std::stable_sort(frame.next.begin(), frame.next.end(),
                         [&](BlockId a, BlockId b) { return loops.depth(a) > loops.depth(b); });
        stack.push_back(std::move(frame));
    };
    enter(function.entry());
    while (!stack.empty()) {
        Frame& frame = stack.back();
        if (frame.next.empty()) {
            order.push_back(frame.block);
            stack.pop_back();
            continue;
        }
        const BlockId next = frame.next.back();
        frame.next.pop_back();
        if (!seen[next.raw]) enter(next);
    }
    std::reverse(order.begin(), order.end());
    std::stable_partition(order.begin(), order.end(),
                          [&](BlockId block) { return !function.blocks[block].cold; });
    const bool changed = order != function.layout;
    function.layout = std::move(order);
    return changed;
}

}  // namespace ockc::opt
