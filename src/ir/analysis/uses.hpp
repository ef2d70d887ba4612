// Def-use lists of a function, built in one sweep and dense. They describe the function as it was when they
// were built.
#pragma once
#include <span>
#include <vector>

#include "ir/ir.hpp"

namespace ockc::ir {

class Uses {
  public:
    explicit Uses(const Function& function);

    // The instructions that use a value as operand or branch argument, once per use, in layout order.
    std::span<const InstId> of(ValueId value) const {
        if (value.raw + 1 >= begin_.size()) return {};
        return {users_.data() + begin_[value.raw], begin_[value.raw + 1] - begin_[value.raw]};
    }
    std::uint32_t count(ValueId value) const { return static_cast<std::uint32_t>(of(value).size()); }
    // The block of a placed instruction; none for the others.
    BlockId block_of(InstId inst) const { return block_of_[inst]; }

  private:
    std::vector<std::uint32_t> begin_;
    std::vector<InstId> users_;
    SideMap<InstId, BlockId> block_of_;
};

// Calls visit(ValueId&) for every operand and branch argument. Inst is Instruction or const Instruction.
template <class Inst, class Visit>
void for_each_use(Inst& inst, Visit visit) {
    for (auto& value : inst.args)
        visit(value);
    for (auto& target : inst.targets) {
        for (auto& value : target.args)
            visit(value);
    }
}

}  // namespace ockc::ir
