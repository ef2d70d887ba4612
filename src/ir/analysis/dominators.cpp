#include "ir/analysis/dominators.hpp"

#include <algorithm>

namespace ockc::ir {

namespace {

constexpr std::uint32_t kUnset = 0xFFFF'FFFFu;

// Cooper-Harvey-Kennedy over nodes numbered in reverse postorder: node 0 is the root, preds(i, visit) calls
// visit for every predecessor's number. Returns each node's immediate dominator; the root is its own.
template <class Preds>
std::vector<std::uint32_t> solve(std::size_t count, Preds preds) {
    std::vector<std::uint32_t> idom(count, kUnset);
    if (count == 0) return idom;
    idom[0] = 0;
    const auto intersect = [&idom](std::uint32_t a, std::uint32_t b) {
        while (a != b) {
            while (a > b)
                a = idom[a];
            while (b > a)
                b = idom[b];
        }
        return a;
    };
    for (bool changed = true; changed;) {
        changed = false;
        for (std::uint32_t node = 1; node < count; ++node) {
            std::uint32_t best = kUnset;
            preds(node, [&](std::uint32_t pred) {
                if (idom[pred] == kUnset) return;
                best = best == kUnset ? pred : intersect(pred, best);
            });
            if (best != idom[node]) {
                idom[node] = best;
                changed = true;
            }
        }
    }
    return idom;
}

}  // namespace

Dominators::Dominators(const Cfg& cfg)
    : idom_(cfg.block_count()),
      depth_(cfg.block_count(), 0),
      enter_(cfg.block_count(), 1),
      leave_(cfg.block_count(), 0) {
    const auto& rpo = cfg.rpo();
    const auto idom = solve(rpo.size(), [&](std::uint32_t node, auto visit) {
        for (const BlockId pred : cfg.preds(rpo[node]))
            visit(cfg.rpo_index(pred));
    });
    for (std::uint32_t i = 1; i < rpo.size(); ++i) {
        idom_.set(rpo[i], rpo[idom[i]]);
        depth_.set(rpo[i], depth_[rpo[idom[i]]] + 1);
    }
    number(cfg);
}

// Children lists and an interval per block: a dominates b exactly when b's interval lies in a's.
void Dominators::number(const Cfg& cfg) {
    child_begin_.assign(cfg.block_count() + 1, 0);
    for (const BlockId block : cfg.rpo()) {
        if (idom_[block].valid()) ++child_begin_[idom_[block].raw + 1];
    }
    for (std::size_t i = 1; i < child_begin_.size(); ++i)
        child_begin_[i] += child_begin_[i - 1];
    children_.resize(child_begin_.back());
    std::vector<std::uint32_t> next(child_begin_.begin(), child_begin_.end() - 1);
    for (const BlockId block : cfg.rpo()) {
        if (idom_[block].valid()) children_[next[idom_[block].raw]++] = block;
    }
    if (cfg.rpo().empty()) return;
    std::vector<BlockId> stack = {cfg.rpo()[0]};
    while (!stack.empty()) {
        const BlockId block = stack.back();
        stack.pop_back();
        enter_.set(block, static_cast<std::uint32_t>(preorder_.size()));
        preorder_.push_back(block);
        const auto below = children(block);
        for (std::size_t i = below.size(); i-- > 0;)
            stack.push_back(below[i]);
    }
    for (const BlockId block : preorder_)
        leave_.set(block, enter_[block]);
    for (std::size_t i = preorder_.size(); i-- > 1;) {
        const BlockId parent = idom_[preorder_[i]];
        leave_.set(parent, std::max(leave_[parent], leave_[preorder_[i]]));
    }
}

BlockId Dominators::common(BlockId a, BlockId b) const {
    while (a != b) {
        if (depth_[a] < depth_[b]) std::swap(a, b);
        a = idom_[a];
    }
    return a;
}

// The same on the reversed graph, from a virtual node behind every block without successors.
PostDominators::PostDominators(const Function& function, const Cfg& cfg) : ipdom_(cfg.block_count()) {
    struct Frame {
        BlockId block;
        std::size_t next;
    };
    std::vector<BlockId> post;
    std::vector<bool> seen(cfg.block_count());
    std::vector<Frame> stack;
    for (const BlockId end : cfg.rpo()) {
        if (!function.terminator(end).targets.empty() || seen[end.raw]) continue;
        seen[end.raw] = true;
        stack.push_back({end, 0});
        while (!stack.empty()) {
            Frame& frame = stack.back();
            const auto preds = cfg.preds(frame.block);
            if (frame.next == preds.size()) {
                post.push_back(frame.block);
                stack.pop_back();
                continue;
            }
            const BlockId pred = preds[frame.next++];
            if (seen[pred.raw]) continue;
            seen[pred.raw] = true;
            stack.push_back({pred, 0});
        }
    }
    // Node 0 is the virtual end; node i > 0 is order[i - 1].
    const std::vector<BlockId> order(post.rbegin(), post.rend());
    SideMap<BlockId, std::uint32_t> index(cfg.block_count(), kUnset);
    for (std::uint32_t i = 0; i < order.size(); ++i)
        index.set(order[i], i + 1);
    const auto idom = solve(order.size() + 1, [&](std::uint32_t node, auto visit) {
        const auto& targets = function.terminator(order[node - 1]).targets;
        if (targets.empty()) visit(0);
        for (const Target& target : targets) {
            if (index[target.block] != kUnset) visit(index[target.block]);
        }
    });
    for (std::uint32_t i = 1; i <= order.size(); ++i) {
        if (idom[i] != 0 && idom[i] != kUnset) ipdom_.set(order[i - 1], order[idom[i] - 1]);
    }
}

}  // namespace ockc::ir
