// The natural loops of a function, nested. A loop's header dominates all its blocks; its latches branch back
// to it. Cycles whose entry does not dominate them (none come from structured source) are not loops here.
#pragma once
#include <vector>

#include "ir/analysis/cfg.hpp"
#include "ir/analysis/dominators.hpp"
#include "ir/ir.hpp"

namespace ockc::ir {

using LoopId = Id<struct LoopTag>;

struct Loop {
    BlockId header;
    LoopId parent;  // the loop around it, or none
    std::uint32_t depth = 1;
    std::vector<BlockId> blocks;  // in reverse postorder, header first, inner loops' blocks included
    std::vector<BlockId> latches;
};

class Loops {
  public:
    Loops(const Cfg& cfg, const Dominators& dominators);

    // Outer loops stand before the loops inside them.
    const IndexVec<LoopId, Loop>& all() const { return loops_; }
    const Loop& operator[](LoopId id) const { return loops_[id]; }
    // The innermost loop around a block, or none.
    LoopId of(BlockId block) const { return innermost_[block]; }
    std::uint32_t depth(BlockId block) const {
        return innermost_[block].valid() ? loops_[innermost_[block]].depth : 0;
    }
    bool contains(LoopId loop, BlockId block) const;
    bool is_header(BlockId block) const {
        return innermost_[block].valid() && loops_[innermost_[block]].header == block;
    }

  private:
    IndexVec<LoopId, Loop> loops_;
    SideMap<BlockId, LoopId> innermost_;
};

}  // namespace ockc::ir
