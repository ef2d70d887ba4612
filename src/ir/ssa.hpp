// SSA construction for one variable at a time: the caller says which blocks define it and which need it at
// their start, and gets the value that reaches each block, through new block parameters where different
// definitions meet. Lowering and mem2reg build SSA with it; jump threading, rotation and unrolling repair SSA with it.
//
// Algorithm: walk back from the needing blocks to the definitions, which gives the region where the variable
// is live. Inside, propagate values forward in reverse postorder, assuming at first that every block has one
// reaching value; where two different values meet, the block gets a parameter and the propagation starts
// again. Each round is linear in the region, and the number of rounds follows the nesting of loops, not the
// size.
#pragma once
#include <vector>

#include "ir/analysis/cfg.hpp"
#include "ir/ir.hpp"

namespace ockc::ir {

class SsaBuilder {
  public:
    // The function must have no unreachable blocks, and its edges must stay as they are while the builder is
    // used.
    SsaBuilder(Function& function, const Cfg& cfg);

    // One variable: start, then define and need in any order, then finish, then ask.
    void start();
    void define(BlockId block, ValueId value);  // the variable's value at the end of the block
    void need(BlockId block);                       // the variable is read before the block defines it
    // `undefined` is what a path without definition gives; asked for only if there is one.
    template <class Undefined>
    void finish(Type type, Undefined undefined) {
        collect_region();
        if (entry_needed_) set_in(entry_, undefined());
        solve(type);
    }
    ValueId at_start(BlockId block) const { return in_[block.raw]; }
    ValueId at_end(BlockId block) const {
        return out_[block.raw].valid() ? out_[block.raw] : in_[block.raw];
    }

  private:
    void collect_region();
    void set_in(BlockId block, ValueId value) { in_[block.raw] = value; }
    void propagate();
    bool find_conflicts(std::vector<BlockId>& joins);
    void solve(Type type);

    Function& function_;
    const Cfg& cfg_;
    BlockId entry_;
    bool entry_needed_ = false;
    // Dense by block, reset through touched_ and region_.
    std::vector<ValueId> in_;
    std::vector<ValueId> out_;
    std::vector<bool> in_region_;
    std::vector<bool> is_join_;         // has a parameter for the variable
    std::vector<BlockId> region_;   // blocks that need the variable at their start
    std::vector<BlockId> touched_;  // blocks with a definition
};

}  // namespace ockc::ir
