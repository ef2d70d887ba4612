// A counting loop with bounds checks inside becomes two: the first runs as long as every check holds and makes none, the
// second is the loop as it was, for what is left.
//
//   do { if !(i < len) panic; body } while (++i < n)
// becomes
//   m = min(n, len)
//   if (start < m) do { body } while (++i < m)
//   if (i < n) do { if !(i < len) panic; body } while (++i < n)
//
// Where the second one runs at all, a check fails in it sooner or later: it is cold. Nothing is done earlier or later than
// before. A check is `x < len` with x the counter, or the counter plus a value from outside, and ends in a panic.
// The idea is that of Bodik, Gupta, Sarkar: "ABCD", of LLVM's inductive range check elimination, among others.
#include <optional>
#include <vector>

#include "ir/analysis/cfg.hpp"
#include "ir/analysis/dominators.hpp"
#include "ir/analysis/loops.hpp"
#include "opt/clone.hpp"
#include "opt/counted_loop.hpp"
#include "opt/edit.hpp"
#include "opt/pass.hpp"

namespace ockc::opt {

using namespace ir;

namespace {

constexpr std::size_t kMaxSplit = 64;  // instructions of the loop: they are there twice afterwards

class SplitChecks {
  public:
    explicit SplitChecks(Function& function)
        : function_(function),
          cfg_(function),
          loops_(cfg_, Dominators(cfg_)),
          shapes_(function, cfg_, loops_),
          copies_(function) {}

    bool run() {
        bool changed = false;
        for (std::uint32_t i = 0; i < loops_.all().size(); ++i)
            changed = split(LoopId(i)) || changed;
        if (!changed) return false;
        remove_unreachable(function_);
        copies_.repair();
        return true;
    }

  private:
    struct Check {
        BlockId block;
        std::size_t stay;
        ValueId bound;
        ValueId added;  // what is added to the counter, or none
    };

    bool split(LoopId id) {
        const auto loop = shapes_.counted(id);
        if (!loop || loop->is_signed || function_.blocks[loop->header].cold || shapes_.size(id) > kMaxSplit) return false;
        std::vector<Check> checks;
        for (const BlockId block : loops_[id].blocks) {
            if (block == loop->latch) continue;
            if (const auto check = check_of(id, block, loop->counter)) checks.push_back(*check);
        }
        if (checks.empty()) return false;
        const std::vector<BlockId> rest = copies_.copy_region(loops_[id].blocks);
        for (const BlockId block : rest) {
            function_.blocks[block].cold = true;
            for (Target& target : function_.terminator(block).targets) {
                if (target.block == loop->header) target.block = rest[0];
            }
        }
        const ValueId limit = enter(*loop, checks, rest[0]);
        leave(*loop, limit, rest[0]);
        for (const Check& check : checks)
            set_jump(function_, check.block, Target(function_.terminator(check.block).targets[check.stay]));
        return true;
    }

    std::optional<Check> check_of(LoopId id, BlockId block, ValueId counter) const {
        const Instruction& branch = function_.terminator(block);
        if (branch.op != Op::Br) return std::nullopt;
        const std::size_t stay = loops_.contains(id, branch.targets[0].block) ? 0 : 1;
        const BlockId failed = branch.targets[1 - stay].block;
        if (!loops_.contains(id, branch.targets[stay].block) || loops_.contains(id, failed)) return std::nullopt;
        const Op end = function_.terminator(failed).op;
        if (end != Op::Panic && end != Op::Trap) return std::nullopt;
        const auto test = less_than(function_, branch.args[0], stay == 0);
        if (!test || test->is_signed || !shapes_.is_outside(id, test->bound)) return std::nullopt;
        if (test->value == counter) return Check{block, stay, test->bound, ValueId::none()};
        const Instruction* sum = function_.def(test->value);
        if (sum == nullptr || sum->op != Op::Iadd) return std::nullopt;
        for (std::uint32_t i = 0; i < 2; ++i) {
            if (sum->args[i] == counter && shapes_.is_outside(id, sum->args[1 - i]))
                return Check{block, stay, test->bound, sum->args[1 - i]};
        }
        return std::nullopt;
    }

    // The first iteration that must not be made without checks: counter + added < bound holds as long as the counter is below
    // bound - added, or never when added is above bound.
    ValueId enter(const CountedLoop& loop, const std::vector<Check>& checks, BlockId rest) {
        const BlockId block = loop.preheader;
        const Type type = function_.type_of(loop.counter);
        ValueId limit = loop.bound;
        for (const Check& check : checks) {
            ValueId most = check.bound;
            if (check.added.valid()) {
                most = put_at_end(function_, block, Op::Umax, type, most, check.added);
                most = put_at_end(function_, block, Op::Isub, type, most, check.added);
            }
            limit = put_at_end(function_, block, Op::Umin, type, limit, most);
        }
        const ValueId any = put_at_end(function_, block, Op::Icmp, type, loop.start, limit);
        const Target in = function_.terminator(block).targets[0];
        set_branch(function_, block, any, in, Target{rest, in.args});
        return limit;
    }

    void leave(const CountedLoop& loop, ValueId limit, BlockId rest) {
        const Type type = function_.type_of(loop.counter);
        const BlockId middle = split_edge(function_, loop.latch, 1 - loop.stay);
        const ValueId more = put_at_end(function_, middle, Op::Icmp, type, loop.next, loop.bound);
        const ValueId again = put_at_end(function_, loop.latch, Op::Icmp, type, loop.next, limit);
        const Target around = function_.terminator(loop.latch).targets[loop.stay];
        const Target out = function_.terminator(middle).targets[0];
        set_branch(function_, middle, more, Target{rest, around.args}, out);
        set_branch(function_, loop.latch, again, around, Target{middle, {}});
    }

    Function& function_;
    Cfg cfg_;
    Loops loops_;
    LoopShapes shapes_;
    BlockCopies copies_;
};

}  // namespace

bool run_split_checks(Function& function, const PassContext&) {
    const bool cut = trim(function);
    return SplitChecks(function).run() || cut;
}

}  // namespace ockc::opt
