// Dominator and post-dominator trees (Cooper, Harvey, Kennedy: "A Simple, Fast Dominance Algorithm").
#pragma once
#include <span>
#include <vector>

#include "ir/analysis/cfg.hpp"
#include "ir/ir.hpp"

namespace ockc::ir {

// Answers are for reachable blocks only.
class Dominators {
  public:
    explicit Dominators(const Cfg& cfg);

    // None for the entry block and for unreachable blocks.
    BlockId idom(BlockId block) const { return idom_[block]; }
    bool dominates(BlockId a, BlockId b) const { return enter_[a] <= enter_[b] && leave_[b] <= leave_[a]; }
    BlockId common(BlockId a, BlockId b) const;
    std::span<const BlockId> children(BlockId block) const {
        const std::uint32_t begin = child_begin_[block.raw];
        return {children_.data() + begin, child_begin_[block.raw + 1] - begin};
    }
    // The blocks in preorder of the tree: parents before children.
    const std::vector<BlockId>& preorder() const { return preorder_; }

  private:
    void number(const Cfg& cfg);

    SideMap<BlockId, BlockId> idom_;
    SideMap<BlockId, std::uint32_t> depth_;
    SideMap<BlockId, std::uint32_t> enter_;
    SideMap<BlockId, std::uint32_t> leave_;
    std::vector<std::uint32_t> child_begin_;
    std::vector<BlockId> children_;
    std::vector<BlockId> preorder_;
};

// A block's immediate post-dominator: the first block that every path from it to the function's end passes.
// None when that is only the end itself, and for blocks from which no end can be reached (infinite loops).
class PostDominators {
  public:
    PostDominators(const Function& function, const Cfg& cfg);
    BlockId ipdom(BlockId block) const { return ipdom_[block]; }

  private:
    SideMap<BlockId, BlockId> ipdom_;
};

}  // namespace ockc::ir
