// Predecessors and reverse postorder of a function's blocks. Blocks that cannot be reached from the entry are
// in the layout but not in the order, and their edges are not listed.
#pragma once
#include <span>
#include <vector>

#include "ir/ir.hpp"

namespace ockc::ir {

// Every reachable block, each before its successors but for back edges. Depth first; what follows directly on a
// block is its first target's part.
std::vector<BlockId> reverse_postorder(const Function& function);

class Cfg {
  public:
    explicit Cfg(const Function& function);

    // One entry per edge: a branch with both targets on one block lists its block twice.
    std::span<const BlockId> preds(BlockId block) const {
        const std::uint32_t begin = pred_begin_[block.raw];
        return {preds_.data() + begin, pred_begin_[block.raw + 1] - begin};
    }
    const std::vector<BlockId>& rpo() const { return rpo_; }
    bool reachable(BlockId block) const { return rpo_index_[block] != kUnreachable; }
    // Position in rpo(); kUnreachable for blocks that are not in it.
    std::uint32_t rpo_index(BlockId block) const { return rpo_index_[block]; }
    std::size_t block_count() const { return pred_begin_.size() - 2; }

    static constexpr std::uint32_t kUnreachable = 0xFFFF'FFFFu;

  private:
    std::vector<std::uint32_t> pred_begin_;
    std::vector<BlockId> preds_;
    std::vector<BlockId> rpo_;
    SideMap<BlockId, std::uint32_t> rpo_index_;
};

}  // namespace ockc::ir
