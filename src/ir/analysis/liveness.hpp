// Which values are live at the start and the end of each block. Built per value by walking back from its
// uses, so the work is the size of the answer.
#pragma once
#include <vector>

#include "ir/analysis/cfg.hpp"
#include "ir/analysis/uses.hpp"
#include "ir/ir.hpp"

namespace ockc::ir {

class Liveness {
  public:
    Liveness(const Function& function, const Cfg& cfg, const Uses& uses);

    // A block's own parameters are not live in: they are defined by it. Ascending by id.
    const std::vector<ValueId>& live_in(BlockId block) const { return live_in_[block]; }
    // Branch arguments count as used at the end of the branching block.
    const std::vector<ValueId>& live_out(BlockId block) const { return live_out_[block]; }

  private:
    SideMap<BlockId, std::vector<ValueId>> live_in_;
    SideMap<BlockId, std::vector<ValueId>> live_out_;
};

}  // namespace ockc::ir
