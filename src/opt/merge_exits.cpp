// Two tests in a row that leave a loop for the same block with the same arguments, with nothing but a few
// values between them, become one.
//   merge_exits  In a header that leaves when its counter reaches either of two bounds from outside the loop
//                (`while i < n { if !(i < m) break; .. }`, what iterating over two slices at once comes to)
//                the test is `i < min(n, m)`; licm takes the minimum out.
//   join_exits   Elsewhere (a step that may overflow, then the bound) it is the `and` of both. Late: passes
//                that learn from branches see more in two.
#include <optional>
#include <utility>

#include "ir/analysis/cfg.hpp"
#include "ir/analysis/dominators.hpp"
#include "ir/analysis/loops.hpp"
#include "ir/names.hpp"
#include "opt/edit.hpp"
#include "opt/pass.hpp"

namespace ockc::opt {

using namespace ir;

namespace {

constexpr std::size_t kMaxBetween = 6;  // values that are computed once more when the loop is left

// The loop goes on while `value < bound`.
struct LoopTest {
    ValueId value, bound;
    bool is_signed = false;
    std::size_t stay = 0;  // which target goes on
};

class MergeExits {
  public:
    explicit MergeExits(Function& function)
        : function_(function),
          cfg_(function),
          dominators_(cfg_),
          loops_(cfg_, dominators_),
          home_(function.values.size()) {
        for (const BlockId block : cfg_.rpo()) {
            for (const ValueId param : function.blocks[block].params)
                home_.set(param, block);
            for (const InstId id : function.blocks[block].insts) {
                for (const ValueId result : function.insts[id].results)
                    home_.set(result, block);
            }
        }
    }

    bool run() {
        bool changed = false;
        for (std::uint32_t i = 0; i < loops_.all().size(); ++i) {
            while (merge(LoopId(i)))
                changed = true;
        }
        return changed;
    }

    bool run_join() {
        bool changed = false;
        for (const BlockId block : cfg_.rpo())
            changed = join_tests(block) || changed;
        return changed;
    }

  private:
    bool merge(LoopId loop) {
        const BlockId header = loops_[loop].header;
        const auto first = test_of(loop, header);
        if (!first) return false;
        const BlockId next = next_test(header, function_.terminator(header).targets[first->stay].block);
        if (!next.valid()) return false;
        const auto second = test_of(loop, next);
        if (!second || second->value != first->value || second->is_signed != first->is_signed) return false;
        const Target& exit = function_.terminator(header).targets[1 - first->stay];
        const Target& other = function_.terminator(next).targets[1 - second->stay];
        if (exit.block != other.block || exit.args != other.args) return false;
        join(header, next, *first, *second);
        return true;
    }

    // The target that stays in the loop when the other leaves it.
    std::optional<std::size_t> stay_of(LoopId loop, BlockId block) const {
        const Instruction& branch = function_.terminator(block);
        if (branch.op != Op::Br || branch.targets[0].block == branch.targets[1].block) return std::nullopt;
        const std::size_t stay = loops_.contains(loop, branch.targets[0].block) ? 0 : 1;
        const bool leaves = !loops_.contains(loop, branch.targets[1 - stay].block);
        return leaves && loops_.contains(loop, branch.targets[stay].block) ? std::optional(stay)
                                                                           : std::nullopt;
    }

    bool join_tests(BlockId block) {
        const LoopId loop = loops_.of(block);
        if (!loop.valid()) return false;
        const auto first = stay_of(loop, block);
        if (!first || function_.blocks[function_.terminator(block).targets[1 - *first].block].cold)
            return false;
        const BlockId next =
            next_test(loops_[loop].header, function_.terminator(block).targets[*first].block);
        if (!next.valid() || next == block || loops_.of(next) != loop) return false;
        const auto second = stay_of(loop, next);
        if (!second || function_.terminator(block).targets[*first].block != next) return false;
        const Target exit = function_.terminator(block).targets[1 - *first];
        const Target& other = function_.terminator(next).targets[1 - *second];
        if (exit.block != other.block || exit.args != other.args) return false;
        keep_room(function_, 3);
        auto& insts = function_.blocks[block].insts;
        auto& moved = function_.blocks[next].insts;
        insts.insert(insts.end() - 1, moved.begin(), moved.end() - 1);
        moved.erase(moved.begin(), moved.end() - 1);
        const ValueId a = holds(block, function_.terminator(block).args[0], *first);
        const ValueId b = holds(block, function_.terminator(next).args[0], *second);
        const InstId both =
            make_inst(function_, Op::And, Type::I1, Type::I1, {a, b}, function_.terminator(block));
        insts.insert(insts.end() - 1, both);
        Instruction& branch = function_.terminator(block);
        branch.args[0] = function_.insts[both].result();
        branch.targets[0] = {next, {}};
        branch.targets[1] = exit;
        set_jump(function_, next, Target(function_.terminator(next).targets[*second]));
        return true;
    }

    // The condition, or its negation when the second target is meant.
    ValueId holds(BlockId block, ValueId condition, std::size_t target) {
        if (target == 0) return condition;
        const InstId negated =
            make_inst(function_, Op::Not, Type::I1, Type::I1, {condition}, function_.terminator(block));
        auto& insts = function_.blocks[block].insts;
        insts.insert(insts.end() - 1, negated);
        return function_.insts[negated].result();
    }

    // The block with the test behind the header's, over blocks whose tests have been merged already; none
    // when something else than values comes before it.
    BlockId next_test(BlockId header, BlockId block) const {
        while (block != header && cfg_.preds(block).size() == 1 && function_.blocks[block].params.empty() &&
               is_plain(block)) {
            const Instruction& last = function_.terminator(block);
            if (last.op != Op::Jump) return block;
            block = last.targets[0].block;
        }
        return BlockId::none();
    }

    std::optional<LoopTest> test_of(LoopId loop, BlockId block) const {
        const auto stay = stay_of(loop, block);
        if (!stay) return std::nullopt;
        const Instruction* compare = function_.def(function_.terminator(block).args[0]);
        if (compare == nullptr || compare->op != Op::Icmp || !is_int(compare->type)) return std::nullopt;
        LoopTest test;
        test.stay = *stay;
        test.value = compare->args[0];
        test.bound = compare->args[1];
        const IntCond condition = test.stay == 0 ? compare->int_cond() : invert(compare->int_cond());
        switch (condition) {
            case IntCond::Ult: break;
            case IntCond::Slt: test.is_signed = true; break;
            case IntCond::Ugt: std::swap(test.value, test.bound); break;
            case IntCond::Sgt:
                test.is_signed = true;
                std::swap(test.value, test.bound);
                break;
            case IntCond::Eq:
            case IntCond::Ne:
            case IntCond::Ule:
            case IntCond::Uge:
            case IntCond::Sle:
            case IntCond::Sge: return std::nullopt;
        }
        const BlockId home = home_[test.bound];
        if (home.valid() && loops_.contains(loop, home)) return std::nullopt;
        return test;
    }

    // Nothing but values in front of the branch, and few.
    bool is_plain(BlockId block) const {
        std::size_t count = 0;
        for (const InstId id : function_.blocks[block].insts) {
            const Op op = function_.insts[id].op;
            if (is_terminator(op)) continue;
            if (!is_pure(op)) return false;
            if (op != Op::Const) ++count;
        }
        return count <= kMaxBetween;
    }

    void join(BlockId header, BlockId next, const LoopTest& first, const LoopTest& second) {
        keep_room(function_, 2);
        const Type type = function_.type_of(first.value);
        const Instruction& like = function_.terminator(header);
        const InstId least = make_inst(function_, first.is_signed ? Op::Smin : Op::Umin, type, type,
                                       {first.bound, second.bound}, like);
        const ValueId bound = function_.insts[least].result();
        const InstId compare = make_inst(function_, Op::Icmp, type, Type::I1, {first.value, bound}, like);
        function_.insts[compare].aux =
            static_cast<std::uint8_t>(first.is_signed ? IntCond::Slt : IntCond::Ult);
        home_.set(bound, BlockId::none());  // as good as outside
        auto& insts = function_.blocks[header].insts;
        insts.insert(insts.end() - 1, {least, compare});
        Instruction& branch = function_.terminator(header);
        branch.args[0] = function_.insts[compare].result();
        if (first.stay == 1) std::swap(branch.targets[0], branch.targets[1]);
        set_jump(function_, next, Target(function_.terminator(next).targets[second.stay]));
    }

    Function& function_;
    Cfg cfg_;
    Dominators dominators_;
    Loops loops_;
    SideMap<ValueId, BlockId> home_;
};

}  // namespace

bool run_merge_exits(Function& function, const PassContext&) {
    const bool cut = trim(function);
    return MergeExits(function).run() || cut;
}

bool run_join_exits(Function& function, const PassContext&) {
    const bool cut = trim(function);
    return MergeExits(function).run_join() || cut;
}

}  // namespace ockc::opt
