// What values in a loop are computed from: the same computation for another iteration. In: a loop and one of its values that
// counts. Out: copies of pure instructions, with another count in the place of the loop's.
#pragma once
#include "ir/analysis/loops.hpp"
#include "ir/ir.hpp"

namespace ockc::tile {

class LoopSlice {
  public:
    // `builder` says where copies are put.
    LoopSlice(ir::Function& function, ir::Builder& builder, const ir::Loops& loops, ir::LoopId loop);

    bool is_outside(ir::ValueId value) const;
    // Is the value a function of `count` and of what is known in front of the loop?
    bool depends_on_count_only(ir::ValueId value, ir::ValueId count) const { return depends(value, count, kMostSteps); }
    // The value, were `count` `other`.
    ir::ValueId with_count(ir::ValueId value, ir::ValueId count, ir::ValueId other);

  private:
    bool depends(ir::ValueId value, ir::ValueId count, int steps) const;
    static constexpr int kMostSteps = 12;

    ir::Function& function_;
    ir::Builder& builder_;
    const ir::Loops& loops_;
    ir::LoopId loop_;
    SideMap<ir::InstId, ir::BlockId> homes_;
};

}  // namespace ockc::tile
