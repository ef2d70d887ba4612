// Control flow made plain. In rounds until nothing changes (each linear):
//   * branches on constants, on negations, with equal targets; switches of one case or none different
//   * blocks that cannot be reached go
//   * a block parameter whose arguments are all one value (or itself) is that value
//   * a block that only jumps is skipped by its predecessors
//   * a block with one successor, which has no other predecessor, absorbs it
// A branch to a panic or trap is never folded on the ground that it must not happen; a branch to
// `unreachable` is.
#include <algorithm>
#include <optional>
#include <vector>

#include "ir/analysis/uses.hpp"
#include "opt/edit.hpp"
#include "opt/pass.hpp"

namespace ockc::opt {

using namespace ir;

namespace {

constexpr int kMaxCfgRounds = 12;

class SimplifyCfg {
  public:
    explicit SimplifyCfg(Function& function) : function_(function) {}

    bool run() {
        bool changed = false;
        for (int round = 0; round < kMaxCfgRounds; ++round) {
            bool again = fold_branches();
            if (again) remove_unreachable(function_);
            again = drop_redundant_params() || again;
            const bool skipped = skip_empty_blocks();
            if (skipped) remove_unreachable(function_);
            again = merge_blocks() || skipped || again;
            if (!again) break;
            changed = true;
        }
        return changed;
    }

  private:
    // ---- branches
    // ----------------------------------------------------------------------------------------------------

    bool fold_branches() {
        bool changed = false;
        for (const BlockId block : function_.layout) {
            Instruction& inst = function_.terminator(block);
            if (inst.op == Op::Br) {
                changed = fold_br(block, inst) || changed;
            } else if (inst.op == Op::Switch) {
                changed = fold_switch(block, inst) || changed;
            }
        }
        if (pool_) pool_->place();
        pool_.reset();
        return changed;
    }

    bool is_unreachable(BlockId block) const {
        const auto& insts = function_.blocks[block].insts;
        return insts.size() == 1 && function_.insts[insts[0]].op == Op::Unreachable && !is_assumption(function_, block);
    }
    static bool same(const Target& a, const Target& b) { return a.block == b.block && a.args == b.args; }

    bool fold_br(BlockId block, Instruction& inst) {
        const auto take = [&](std::size_t i) {
            set_jump(function_, block, Target(inst.targets[i]));
            return true;
        };
        if (const Instruction* known = constant_def(function_, inst.args[0]))
            return take(known->imm != 0 ? 0 : 1);
        if (same(inst.targets[0], inst.targets[1])) return take(0);
        if (is_unreachable(inst.targets[0].block)) return take(1);
        if (is_unreachable(inst.targets[1].block)) return take(0);
        const Instruction* def = function_.def(inst.args[0]);
        if (def != nullptr && def->op == Op::Not) {
            inst.args[0] = def->args[0];
            std::swap(inst.targets[0], inst.targets[1]);
            return true;
        }
        return false;
    }

    bool fold_switch(BlockId block, Instruction& inst) {
        if (const Instruction* known = constant_def(function_, inst.args[0])) {
            std::size_t taken = 0;
            for (std::size_t i = 0; i < inst.cases.size(); ++i) {
                if (inst.cases[i] == known->imm && known->imm_high == 0) taken = i + 1;
            }
            set_jump(function_, block, Target(inst.targets[taken]));
            return true;
        }
        bool changed = false;
        for (std::size_t i = inst.cases.size();
             i-- > 0;) {  // cases that go where the default goes, or nowhere
            if (!same(inst.targets[i + 1], inst.targets[0]) && !is_unreachable(inst.targets[i + 1].block))
                continue;
            inst.cases.erase(inst.cases.begin() + static_cast<std::ptrdiff_t>(i));
            inst.targets.erase(inst.targets.begin() + static_cast<std::ptrdiff_t>(i) + 1);
            changed = true;
        }
        if (!inst.cases.empty() &&
            is_unreachable(inst.targets[0].block)) {  // the last case is the default then
            inst.targets[0] = std::move(inst.targets.back());
            inst.targets.pop_back();
            inst.cases.pop_back();
            changed = true;
        }
        if (inst.cases.empty()) {
            set_jump(function_, block, Target(inst.targets[0]));
            return true;
        }
        if (inst.cases.size() == 1) {
            switch_to_br(block);
            return true;
        }
        return changed;
    }

    // switch v, bb0, 7: bb1  ->  br (v == 7), bb1, bb0
    void switch_to_br(BlockId block) {
        const InstId id = function_.blocks[block].insts.back();
        const Instruction like = function_.insts[id];
        if (!pool_) pool_.emplace(function_);
        const ValueId value = pool_->get(like.type, like.cases[0]);
        const InstId compare =
            make_inst(function_, Op::Icmp, like.type, Type::I1, {like.args[0], value}, like);
        function_.insts[compare].aux = static_cast<std::uint8_t>(IntCond::Eq);
        auto& insts = function_.blocks[block].insts;
        insts.insert(insts.end() - 1, compare);
        Instruction& branch = function_.insts[id];
        branch.op = Op::Br;
        branch.type = Type::Void;
        branch.args = {function_.insts[compare].result()};
        branch.cases.clear();
        std::swap(branch.targets[0], branch.targets[1]);
    }

    // ---- parameters
    // --------------------------------------------------------------------------------------------------

    // One look at every edge: a parameter in which one value arrives, beside itself, is that value. What becomes equal
    // by that is found in the next round.
    bool drop_redundant_params() {
        if (!has_params()) return false;
        arriving_.assign(function_.values.size(), Arriving{});
        for (const BlockId block : function_.layout) {
            for (const Target& target : function_.terminator(block).targets) {
                const auto& params = function_.blocks[target.block].params;
                for (std::size_t i = 0; i < params.size(); ++i)
                    arriving_[params[i].raw].add(target.args[i], params[i]);
            }
        }
        Replacements replacements;
        SideMap<BlockId, std::vector<bool>> dead;
        for (const BlockId block : function_.layout) {
            if (block == function_.entry()) continue;
            const auto& params = function_.blocks[block].params;
            for (std::uint32_t i = 0; i < params.size(); ++i) {
                const Arriving& arriving = arriving_[params[i].raw];
                if (arriving.several || !arriving.only.valid()) continue;
                const ValueId value = replacements.resolve(arriving.only);
                if (value == params[i]) continue;  // a ring of parameters that nothing enters
                replacements.replace(params[i], value);
                if (dead[block].empty()) dead.set(block, std::vector<bool>(params.size()));
                dead.at(block)[i] = true;
            }
        }
        if (replacements.empty()) return false;
        remove_params(function_, dead);
        replacements.apply(function_);
        return true;
    }

    bool has_params() const {
        return std::any_of(function_.layout.begin() + 1, function_.layout.end(),
                           [&](BlockId block) { return !function_.blocks[block].params.empty(); });
    }

    // What arrives in a parameter beside the parameter itself.
    struct Arriving {
        ValueId only;
        bool several = false;
        void add(ValueId value, ValueId param) {
            if (value == param || value == only) return;
            several = several || only.valid();
            only = value;
        }
    };

    // ---- blocks
    // ------------------------------------------------------------------------------------------------------

    // A block of nothing but a jump is skipped when its parameters are used by that jump only.
    bool skip_empty_blocks() {
        bool any = false, with_params = false;
        for (const BlockId block : function_.layout) {
            if (!is_empty(block)) continue;
            any = true;
            with_params = with_params || !function_.blocks[block].params.empty();
        }
        if (!any) return false;
        const std::vector<std::uint32_t> outside =
            with_params ? uses_outside_own_jump() : std::vector<std::uint32_t>();
        bool changed = false;
        for (const BlockId block : function_.layout) {
            for (Target& target : function_.terminator(block).targets) {
                // A chain of empty blocks is followed to its end; the limit stops at empty infinite loops.
                for (int step = 0; step < 64 && can_skip(target.block, outside); ++step) {
                    target = through(target);
                    changed = true;
                }
            }
        }
        return changed;
    }

    // For each value, how often it is used by anything but the jump of its own otherwise empty block.
    std::vector<std::uint32_t> uses_outside_own_jump() const {
        std::vector<std::uint32_t> counts(function_.values.size());
        for (const BlockId block : function_.layout) {
            for (const InstId id : function_.blocks[block].insts) {
                const Instruction& inst = function_.insts[id];
                const bool own_jump = inst.op == Op::Jump && function_.blocks[block].insts.size() == 1;
                for_each_use(inst, [&](ValueId value) {
                    const bool own = own_jump && function_.values[value].block == block;
                    if (!own) ++counts[value.raw];
                });
            }
        }
        return counts;
    }

    // Nothing but a jump to another block?
    bool is_empty(BlockId block) const {
        const Block& b = function_.blocks[block];
        if (b.insts.size() != 1 || block == function_.entry()) return false;
        const Instruction& jump = function_.insts[b.insts[0]];
        return jump.op == Op::Jump && jump.targets[0].block != block;
    }
    bool can_skip(BlockId block, const std::vector<std::uint32_t>& outside) const {
        if (!is_empty(block)) return false;
        const auto& params = function_.blocks[block].params;
        return std::all_of(params.begin(), params.end(), [&](ValueId param) { return outside[param.raw] == 0; });
    }

    // Where an edge into an empty block ends up, with which arguments.
    Target through(const Target& edge) const {
        const Target& next = function_.terminator(edge.block).targets[0];
        Target out{next.block, next.args};
        for (ValueId& value : out.args) {
            const Value& info = function_.values[value];
            if (!info.inst.valid() && info.block == edge.block) value = edge.args[info.index];
        }
        return out;
    }

    bool merge_blocks() {
        entered_.assign(function_.blocks.size(), Entered{});
        for (const BlockId block : function_.layout) {
            for (const Target& target : function_.terminator(block).targets) {
                ++entered_[target.block.raw].edges;
                entered_[target.block.raw].from = block;
            }
        }
        Replacements replacements;
        bool changed = false;
        for (const BlockId block : function_.layout) {
            // From the head of a chain down, so that each block moves once.
            if (function_.blocks[block].removed || (block != function_.entry() && is_absorbed(block))) continue;
            while (absorb_successor(block, replacements))
                changed = true;
        }
        if (!changed) return false;
        std::erase_if(function_.layout, [&](BlockId block) { return function_.blocks[block].removed; });
        replacements.apply(function_);
        return true;
    }

    bool is_absorbed(BlockId block) const {
        const Entered& entered = entered_[block.raw];
        return entered.edges == 1 && entered.from != block && !function_.blocks[entered.from].removed &&
               function_.terminator(entered.from).op == Op::Jump;
    }

    bool absorb_successor(BlockId block, Replacements& replacements) {
        const Instruction& jump = function_.terminator(block);
        if (jump.op != Op::Jump) return false;
        const BlockId next = jump.targets[0].block;
        if (next == block || next == function_.entry() || entered_[next.raw].edges != 1 ||
            function_.blocks[next].removed)
            return false;
        Block& from = function_.blocks[next];
        for (std::size_t i = 0; i < from.params.size(); ++i) {
            replacements.replace(from.params[i], replacements.resolve(jump.targets[0].args[i]));
        }
        Block& to = function_.blocks[block];
        to.insts.pop_back();
        to.insts.insert(to.insts.end(), from.insts.begin(), from.insts.end());
        if (to.unroll == 0) to.unroll = from.unroll;
        to.cold = to.cold && from.cold;
        from.insts.clear();
        from.params.clear();
        from.removed = true;
        return true;
    }

    struct Entered {
        std::uint32_t edges = 0;
        BlockId from;  // the last of them
    };
    Function& function_;
    std::optional<ConstantPool> pool_;  // while branches are folded
    std::vector<Arriving> arriving_;    // by value
    std::vector<Entered> entered_;      // by block
};

}  // namespace

bool run_simplify_cfg(Function& function, const PassContext&) {
    const bool cut = trim(function);
    if (function.layout.size() == 1 && !is_branch(function.terminator(function.entry()).op)) return cut;
    return SimplifyCfg(function).run() || cut;
}

}  // namespace ockc::opt
