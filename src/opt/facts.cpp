// Decides comparisons that dominating branches and value ranges imply: the second bounds check of one index,
// the check of a loop index against the length that bounds the loop, a test of what a `match` arm already
// says.
//
// The dominator tree is walked with a stack of facts. Entering a block whose only predecessor branched on a
// condition adds: the condition's truth, equalities with constants, unsigned and signed order between two
// values, and tighter ranges. Leaving takes them back. A comparison is looked up among the known ones, then
// tried by ranges, then by a short search through the known orders (a < b and b <= c give a < c). Every step
// is bounded, so the walk is linear.
#include "opt/facts.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "ir/analysis/cfg.hpp"
#include "ir/analysis/dominators.hpp"
#include "ir/analysis/uses.hpp"
#include "ir/names.hpp"
#include "opt/edit.hpp"
#include "opt/pass.hpp"

namespace ockc::opt {

using namespace ir;

namespace {

class FactsPass {
  public:
    FactsPass(Function& function, Analyses& analyses)
        : function_(function), cfg_(analyses.cfg()), dominators_(analyses.dominators()), facts_(function), pool_(function) {}

    bool run() {
        struct Frame {
            BlockId block;
            std::size_t child = 0;
            Facts::Mark mark{};
        };
        std::vector<Frame> stack;
        const auto enter = [&](BlockId block) {
            stack.push_back({block, 0, facts_.mark()});
            learn_from_edge(block);
            visit(block);
        };
        enter(function_.entry());
        while (!stack.empty()) {
            Frame& frame = stack.back();
            const auto children = dominators_.children(frame.block);
            if (frame.child < children.size()) {
                const BlockId next = children[frame.child++];
                enter(next);
            } else {
                facts_.undo(frame.mark);
                stack.pop_back();
            }
        }
        pool_.place();
        if (changed_) remove_unreachable(function_);
        return changed_;
    }

  private:
    void learn_from_edge(BlockId block) {
        const auto preds = cfg_.preds(block);
        if (preds.size() != 1) return;
        const Instruction& branch = function_.terminator(preds[0]);
        if (branch.op == Op::Br) {
            const bool truth = branch.targets[0].block == block;
            facts_.assume(branch.args[0], truth);
        } else if (branch.op == Op::Switch) {
            for (std::size_t i = 0; i < branch.cases.size(); ++i) {
                if (branch.targets[i + 1].block == block)
                    facts_.assume_equal(branch.args[0], {branch.cases[i], 0});
            }
        }
    }

    void visit(BlockId block) {
        // The entry block's list may not grow under the loop: constants are placed at the end.
        for (const InstId id : function_.blocks[block].insts) {
            std::size_t uses = 0;
            for_each_use(function_.insts[id], [&](ValueId) { ++uses; });
            keep_room(function_, uses);  // each may need a new constant
            for_each_use(function_.insts[id], [&](ValueId& value) { replace_known(value); });
            decide(id);
        }
        simplify_edges(function_.blocks[block].insts.back());
    }

    // What a branch hands on is looked at with the knowledge of which way it goes.
    void simplify_edges(InstId id) {
        const Instruction& last = function_.insts[id];
        if (last.op != Op::Br || last.targets[0].block == last.targets[1].block) return;
        const Instruction branch = last;  // a copy: new constants may move it
        for (std::size_t i = 0; i < 2; ++i) {
            const Facts::Mark mark = facts_.mark();
            facts_.assume(branch.args[0], i == 0);
            for (std::size_t j = 0; j < branch.targets[i].args.size(); ++j) {
                ValueId value = chosen(branch.targets[i].args[j]);
                replace_known(value);
                function_.insts[id].targets[i].args[j] = value;
            }
            facts_.undo(mark);
        }
    }

    ValueId chosen(ValueId value) {
        const ValueId arm = facts_.chosen(value);
        changed_ = changed_ || arm != value;
        return arm;
    }

    // A value that is a known constant here is replaced by it.
    void replace_known(ValueId& value) {
        const auto known = facts_.constant(value);
        if (!known || constant_def(function_, value) != nullptr) return;
        value = pool_.get(function_.type_of(value), *known);
        changed_ = true;
    }

    void decide(InstId id) {
        const Instruction& inst = function_.insts[id];
        if (inst.op == Op::Icmp && is_int(inst.type)) {
            if (const auto truth = facts_.decide(inst.int_cond(), inst.args[0], inst.args[1])) {
                facts_.set_constant(inst.result(), {*truth ? 1u : 0u, 0});
            }
        } else if (inst.op == Op::UsubOv || inst.op == Op::UaddOv) {
            decide_overflow(inst);
        }
    }

    void decide_overflow(const Instruction& inst) {
        const Range a = facts_.range(inst.args[0]);
        const Range b = facts_.range(inst.args[1]);
        const std::uint32_t bits = type_bits(inst.type);
        if (bits > 64) return;
        const std::uint64_t all = ~std::uint64_t{0} >> (64 - bits);
        if (inst.op == Op::UsubOv) {
            if (const auto less = facts_.decide(IntCond::Ult, inst.args[0], inst.args[1])) {
                facts_.set_constant(inst.result(), {*less ? 1u : 0u, 0});
            }
        } else if (a.max <= all - b.max) {
            facts_.set_constant(inst.result(), {0, 0});
        }
    }

    Function& function_;
    const Cfg& cfg_;
    const Dominators& dominators_;
    Facts facts_;
    ConstantPool pool_;
    bool changed_ = false;
};

}  // namespace

bool run_facts(Function& function, const PassContext& context) {
    const bool cut = trim(function);
    return FactsPass(function, context.analyses).run() || cut;
}

}  // namespace ockc::opt
