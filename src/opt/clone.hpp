// Copies of blocks for some of their predecessors, and the repair of SSA form afterwards: a value defined in
// a copied block has several definitions then, and its uses elsewhere take the one that reaches them.
#pragma once
#include <vector>

#include "ir/ir.hpp"

namespace ockc::opt {

class BlockCopies {
  public:
    explicit BlockCopies(ir::Function& function) : function_(function) {}

    // Copies `block`, with parameters of its own. Its branch goes where the original's goes.
    ir::BlockId copy(ir::BlockId block);
    // Copies several blocks as a whole and returns the copies in the same order: branches among them stay
    // among the copies, but for those to `blocks[0]` (a loop's header), which keep going to the original.
    std::vector<ir::BlockId> copy_region(const std::vector<ir::BlockId>& blocks);
    // Puts the function back into SSA form. Edges must have their final shape and unreachable blocks must be
    // gone.
    void repair();

  private:
    struct Definition {
        ir::ValueId original;
        ir::BlockId block;
        ir::ValueId value;
    };
    struct Use {
        ir::ValueId value;
        ir::BlockId block;
        ir::InstId inst;
        std::uint32_t list;  // 0: operands; i + 1: arguments of target i
        std::uint32_t index;
    };
    ir::BlockId copy_params(ir::BlockId block);
    void copy_insts(ir::BlockId from, ir::BlockId to);
    void define(ir::ValueId original, ir::BlockId home, ir::BlockId block, ir::ValueId value);
    void collect_uses(std::vector<Use>& uses);
    ir::ValueId& slot(const Use& use);

    ir::Function& function_;
    std::vector<Definition> definitions_;     // of copied values, the originals' own included
    SideMap<ir::ValueId, ir::BlockId> home_;  // the block that defines a copied value
    SideMap<ir::ValueId, ir::ValueId> map_;   // original -> value in the copy being made
};

}  // namespace ockc::opt
