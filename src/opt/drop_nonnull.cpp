// Drops `nonnull`. In: a function whose comparisons with null have had their chance to be decided. Out: the
// same function where every nonnull is its operand, so that address arithmetic is seen through.
#include "opt/edit.hpp"
#include "opt/pass.hpp"

namespace ockc::opt {

bool run_drop_nonnull(ir::Function& function, const PassContext&) {
    Replacements replacements;
    for (const ir::BlockId block : function.layout) {
        std::erase_if(function.blocks[block].insts, [&](ir::InstId id) {
            const ir::Instruction& inst = function.insts[id];
            if (inst.op != ir::Op::Nonnull) return false;
            replacements.replace(inst.result(), inst.args[0]);
            return true;
        });
    }
    if (replacements.empty()) return false;
    replacements.apply(function);
    return true;
}

}  // namespace ockc::opt
