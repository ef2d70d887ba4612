// A branch to a cold block that control cannot come to says what a launch contract has promised (`requires`). Until here
// the branches stand, for passes that learn from them; now they become jumps.
#include <vector>

#include "opt/edit.hpp"
#include "opt/pass.hpp"

namespace ockc::opt {

using namespace ir;

bool is_assumption(const Function& function, BlockId block) {
    const auto& insts = function.blocks[block].insts;
    return function.blocks[block].cold && insts.size() == 1 && function.insts[insts[0]].op == Op::Unreachable;
}

bool run_drop_assumptions(Function& function, const PassContext&) {
    bool changed = false;
    for (const BlockId block : function.layout) {
        const Instruction& branch = function.terminator(block);
        if (branch.op != Op::Br) continue;
        for (const std::size_t i : {std::size_t{0}, std::size_t{1}}) {
            if (!is_assumption(function, branch.targets[i].block)) continue;
            set_jump(function, block, Target(branch.targets[1 - i]));
            changed = true;
            break;
        }
    }
    return remove_unreachable(function) || changed;
}

}  // namespace ockc::opt
