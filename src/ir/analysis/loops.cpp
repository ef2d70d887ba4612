#include "ir/analysis/loops.hpp"

namespace ockc::ir {

// Headers in postorder of the graph find their bodies from the inside out: walking backwards from the
// latches, a block that already has a loop stands for its outermost loop found so far, whose header's
// predecessors are walked next. Each block is entered once per loop around it at most through that shortcut,
// so the whole is near linear.
Loops::Loops(const Cfg& cfg, const Dominators& dominators) : innermost_(cfg.block_count()) {
    struct Found {
        BlockId header;
        std::uint32_t parent = 0xFFFF'FFFFu;
        std::vector<BlockId> latches;
    };
    constexpr std::uint32_t kNone = 0xFFFF'FFFFu;
    std::vector<Found> found;
    SideMap<BlockId, std::uint32_t> owner(cfg.block_count(), kNone);
    const auto& rpo = cfg.rpo();
    for (std::size_t i = rpo.size(); i-- > 0;) {
        std::vector<BlockId> latches;
        for (const BlockId pred : cfg.preds(rpo[i])) {
            if (dominators.dominates(rpo[i], pred) && (latches.empty() || latches.back() != pred)) {
                latches.push_back(pred);
            }
        }
        if (latches.empty()) continue;
        const auto self = static_cast<std::uint32_t>(found.size());
        found.push_back({rpo[i], kNone, latches});
        std::vector<BlockId> work = latches;
        owner.set(rpo[i], owner[rpo[i]] == kNone ? self : owner[rpo[i]]);
        while (!work.empty()) {
            const BlockId block = work.back();
            work.pop_back();
            std::uint32_t inner = owner[block];
            if (inner == kNone) {
                owner.set(block, self);
                for (const BlockId pred : cfg.preds(block))
                    work.push_back(pred);
                continue;
            }
            while (found[inner].parent != kNone)
                inner = found[inner].parent;
            if (inner == self) continue;
            found[inner].parent = self;
            for (const BlockId pred : cfg.preds(found[inner].header)) {
                if (!dominators.dominates(found[inner].header, pred)) work.push_back(pred);
            }
        }
    }
    // `found` has inner loops first: turn it round.
    const auto id_of = [&](std::uint32_t index) {
        return index == kNone ? LoopId::none() : LoopId(static_cast<std::uint32_t>(found.size()) - 1 - index);
    };
    for (std::size_t i = found.size(); i-- > 0;) {
        Loop loop;
        loop.header = found[i].header;
        loop.parent = id_of(found[i].parent);
        loop.depth = loop.parent.valid() ? loops_[loop.parent].depth + 1 : 1;
        loop.latches = std::move(found[i].latches);
        loops_.push(std::move(loop));
    }
    for (const BlockId block : rpo) {
        innermost_.set(block, id_of(owner[block]));
        for (LoopId loop = innermost_[block]; loop.valid(); loop = loops_[loop].parent) {
            loops_[loop].blocks.push_back(block);
        }
    }
}

bool Loops::contains(LoopId loop, BlockId block) const {
    LoopId inner = innermost_[block];
    while (inner.valid() && loops_[inner].depth > loops_[loop].depth)
        inner = loops_[inner].parent;
    return inner == loop;
}

}  // namespace ockc::ir
