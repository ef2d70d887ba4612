// Moves pure instructions down to where their results are needed: into the nearest block that dominates all
// uses, as long as that is in no deeper loop, and in front of the first use there. What only one arm of a
// branch needs is not computed on the other; addresses stand beside their accesses; and the step of a loop
// counter stands at the loop's end, where it can take the counter's register.
//
// Blocks and instructions are visited backwards, so users move before what they use.
#include <algorithm>
#include <vector>

#include "ir/analysis/cfg.hpp"
#include "ir/analysis/dominators.hpp"
#include "ir/analysis/loops.hpp"
#include "ir/analysis/uses.hpp"
#include "opt/edit.hpp"
#include "opt/pass.hpp"

namespace ockc::opt {

using namespace ir;

namespace {

class Sink {
  public:
    Sink(Function& function, Analyses& analyses)
        : function_(function),
          cfg_(analyses.cfg()),
          dominators_(analyses.dominators()),
          loops_(analyses.loops()),
          uses_(function),
          block_of_(function.insts.size()),
          moved_(function.insts.size()),
          arrivals_(function.blocks.size()) {
        for (const BlockId block : function.layout) {
            for (const InstId id : function.blocks[block].insts)
                block_of_.set(id, block);
        }
    }

    bool run() {
        const auto& rpo = cfg_.rpo();
        for (std::size_t i = rpo.size(); i-- > 0;) {
            auto& insts = function_.blocks[rpo[i]].insts;
            for (std::size_t j = insts.size(); j-- > 0;)
                visit(rpo[i], insts[j]);
        }
        if (!changed_) return false;
        for (const BlockId block : rpo)
            rebuild(block);
        return true;
    }

  private:
    void visit(BlockId home, InstId id) {
        const Instruction& inst = function_.insts[id];
        if (!is_pure(inst.op) || inst.op == Op::Const || uses_.count(inst.result()) == 0) return;
        BlockId target;
        for (const InstId user : uses_.of(inst.result())) {
            const BlockId block = block_of_[user];
            if (!block.valid() || !cfg_.reachable(block)) return;
            target = target.valid() ? dominators_.common(target, block) : block;
        }
        while (target != home && in_deeper_loop(target, home))
            target = dominators_.idom(target);
        if (target == home && !is_counter_step(home, inst)) return;
        moved_[id.raw] = true;
        block_of_.set(id, target);
        arrivals_.at(target).push_back(id);
        changed_ = true;
    }

    bool in_deeper_loop(BlockId target, BlockId home) const {
        const LoopId loop = loops_.of(target);
        return loop.valid() && !loops_.contains(loop, home);
    }

    // x + constant that this block hands on as the next x.
    bool is_counter_step(BlockId home, const Instruction& inst) const {
        if (inst.op != Op::Iadd && inst.op != Op::PtrAdd) return false;
        const Value& counter = function_.values[inst.args[0]];
        if (counter.inst.valid() || constant_def(function_, inst.args[1]) == nullptr) return false;
        const auto& targets = function_.terminator(home).targets;
        return std::any_of(targets.begin(), targets.end(), [&](const Target& target) {
            return target.block == counter.block && target.args[counter.index] == inst.result();
        });
    }

    // The block's own instructions in their order, each preceded by the arrivals that it needs.
    void rebuild(BlockId block) {
        auto& insts = function_.blocks[block].insts;
        const bool leaves =
            std::any_of(insts.begin(), insts.end(), [&](InstId id) { return moved_[id.raw]; });
        if (!leaves && arrivals_[block].empty()) return;
        waiting_.assign(arrivals_[block].begin(), arrivals_[block].end());
        for (const InstId id : waiting_)
            here_.set(id, block);
        std::vector<InstId> out;
        for (const InstId id : insts) {
            if (moved_[id.raw]) continue;
            if (is_terminator(function_.insts[id].op)) {  // what only blocks below need
                for (std::size_t i = waiting_.size(); i-- > 0;)
                    emit(waiting_[i], block, out);
            }
            emit_operands(id, block, out);
            out.push_back(id);
        }
        insts = std::move(out);
    }

    bool is_waiting(InstId id, BlockId block) const { return id.valid() && here_[id] == block; }

    void emit_operands(InstId id, BlockId block, std::vector<InstId>& out) {
        for_each_use(function_.insts[id],
                     [&](ValueId value) { emit(function_.values[value].inst, block, out); });
    }

    // Operands first, with an explicit stack: chains can be long.
    void emit(InstId root, BlockId block, std::vector<InstId>& out) {
        if (!is_waiting(root, block)) return;
        std::vector<InstId> stack = {root};
        while (!stack.empty()) {
            const InstId id = stack.back();
            bool ready = true;
            for (const ValueId arg : function_.insts[id].args) {
                const InstId def = function_.values[arg].inst;
                if (!is_waiting(def, block)) continue;
                stack.push_back(def);
                ready = false;
            }
            if (!ready) continue;
            stack.pop_back();
            if (!is_waiting(id, block)) continue;
            here_.set(id, BlockId::none());
            out.push_back(id);
        }
    }

    Function& function_;
    const Cfg& cfg_;
    const Dominators& dominators_;
    const Loops& loops_;
    Uses uses_;
    SideMap<InstId, BlockId> block_of_;  // where the instruction stands now
    std::vector<bool> moved_;
    SideMap<BlockId, std::vector<InstId>> arrivals_;
    std::vector<InstId> waiting_;    // arrivals of the block being rebuilt,
    SideMap<InstId, BlockId> here_;  // set while they wait
    bool changed_ = false;
};

}  // namespace

bool run_sink(Function& function, const PassContext& context) {
    const bool cut = trim(function);
    return Sink(function, context.analyses).run() || cut;
}

}  // namespace ockc::opt
