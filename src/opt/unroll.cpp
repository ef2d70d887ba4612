// Loop unrolling. An innermost loop whose number of iterations is a constant is unrolled entirely when it is
// short, or when `#[unroll]` asks for it; `#[unroll(N)]` puts N copies of the body into the loop, each with
// its own exit test.
//
// A loop of k copies is the original followed by k - 1 copies of all its blocks, each entered from the one
// before; the last goes back to the original. When k is the number of iterations, sccp finds that the way
// back is never taken and every test is known, and simplify_cfg leaves straight code. Barriers are copied
// only in that case: then all threads run the same copies.
#include <optional>
#include <vector>

#include "ir/analysis/cfg.hpp"
#include "ir/analysis/dominators.hpp"
#include "ir/analysis/loops.hpp"
#include "opt/clone.hpp"
#include "opt/const_fold.hpp"
#include "opt/edit.hpp"
#include "opt/pass.hpp"

namespace ockc::opt {

using namespace ir;

namespace {

constexpr std::uint32_t kMaxTrips = 4096;  // iterations that are counted
constexpr std::size_t kMaxUnasked = 192;   // instructions after unrolling, without an attribute
constexpr std::uint32_t kMaxUnaskedTrips = 16;
constexpr std::size_t kMaxAsked = 16384;  // and with one

class Unroll {
  public:
    explicit Unroll(Function& function)
        : function_(function),
          cfg_(function),
          dominators_(cfg_),
          loops_(cfg_, dominators_),
          copies_(function) {}

    bool run() {
        std::vector<bool> has_inner(loops_.all().size());
        for (const Loop& loop : loops_.all()) {
            if (loop.parent.valid()) has_inner[loop.parent.raw] = true;
        }
        bool changed = false;
        for (std::uint32_t i = 0; i < loops_.all().size(); ++i) {
            if (has_inner[i]) continue;
            const std::uint32_t copies = factor(LoopId(i));
            std::uint32_t& asked = function_.blocks[loops_[LoopId(i)].header].unroll;
            asked = asked == 1 ? 1 : 0;  // `#[unroll(1)]` is for unroll_counted too
            if (copies < 2) continue;
            unroll(loops_[LoopId(i)], copies);
            changed = true;
        }
        if (changed) copies_.repair();
        return changed;
    }

  private:
    // How many copies of the body the loop gets; 0 or 1: it stays as it is.
    std::uint32_t factor(LoopId id) const {
        const Loop& loop = loops_[id];
        std::size_t size = 0;
        bool convergent = false;
        for (const BlockId block : loop.blocks) {
            for (const InstId inst : function_.blocks[block].insts) {
                const Op op = function_.insts[inst].op;
                if (op != Op::Const) ++size;
                convergent = convergent || op == Op::Call || op_info(op).effect == Effect::Convergent;
            }
        }
        const std::uint32_t asked = function_.blocks[loop.header].unroll;
        const auto trips = trip_count(id);
        if (asked == 0) {
            const bool small = trips && *trips <= kMaxUnaskedTrips && *trips * size <= kMaxUnasked;
            return small && !convergent ? *trips : 0;
        }
        if (trips && *trips <= asked && *trips * size <= kMaxAsked) return *trips;
        if (asked == kUnrollFull || convergent) return 0;
        return asked * size <= kMaxAsked ? asked : 0;
    }

    // The number of times the header runs, when one test on a counter with constant start, step and bound
    // decides it.
    std::optional<std::uint32_t> trip_count(LoopId id) const {
        const Loop& loop = loops_[id];
        if (loop.latches.size() != 1) return std::nullopt;
        const BlockId latch = loop.latches[0];
        // Only the last block of an iteration may leave here: its test then counts whole iterations. A test
        // in the header counts them too.
        for (const BlockId tester : {latch, loop.header}) {
            const auto count = count_by(id, tester, latch);
            if (count) return count;
        }
        return std::nullopt;
    }

    std::optional<std::uint32_t> count_by(LoopId id, BlockId tester, BlockId latch) const {
        const Loop& loop = loops_[id];
        const Instruction& branch = function_.terminator(tester);
        if (branch.op != Op::Br) return std::nullopt;
        const bool stays_on_true = loops_.contains(id, branch.targets[0].block);
        if (stays_on_true == loops_.contains(id, branch.targets[1].block)) return std::nullopt;
        const Instruction* test = function_.def(branch.args[0]);
        if (test == nullptr || test->op != Op::Icmp || !is_int(test->type)) return std::nullopt;
        const Instruction* bound = constant_def(function_, test->args[1]);
        if (bound == nullptr) return std::nullopt;
        // The tested value is the counter or its successor.
        ValueId counter = test->args[0];
        bool tests_next = false;
        const Instruction* sum = function_.def(counter);
        if (sum != nullptr && sum->op == Op::Iadd) {
            tests_next = true;
            counter = sum->args[0];
        }
        const Value& param = function_.values[counter];
        if (param.inst.valid() || param.block != loop.header) return std::nullopt;
        const auto start = start_of(id, param.index);
        const auto step = step_of(loop.header, latch, counter, param.index);
        if (!start || !step) return std::nullopt;
        if (tests_next && !is_step(sum, *step)) return std::nullopt;
        const std::uint32_t bits = type_bits(test->type);
        Uint128 value = wide(*start);
        for (std::uint32_t trips = 1; trips <= kMaxTrips; ++trips) {
            const Uint128 tested = tests_next ? cut(value + wide(*step), bits) : value;
            const bool truth =
                fold_icmp(test->int_cond(), bits, opt::narrow(tested), {bound->imm, bound->imm_high});
            if (truth != stays_on_true) return trips;
            value = cut(value + wide(*step), bits);
        }
        return std::nullopt;
    }

    bool is_step(const Instruction* sum, Constant step) const {
        const Instruction* c = constant_def(function_, sum->args[1]);
        return c != nullptr && c->imm == step.low && c->imm_high == step.high;
    }

    // The one constant that enters the header's parameter from outside.
    std::optional<Constant> start_of(LoopId id, std::uint32_t index) const {
        const BlockId header = loops_[id].header;
        std::optional<Constant> start;
        for (const BlockId pred : cfg_.preds(header)) {
            if (loops_.contains(id, pred)) continue;
            for (const Target& target : function_.terminator(pred).targets) {
                if (target.block != header) continue;
                const Instruction* c = constant_def(function_, target.args[index]);
                if (c == nullptr) return std::nullopt;
                const Constant value{c->imm, c->imm_high};
                if (start && !(*start == value)) return std::nullopt;
                start = value;
            }
        }
        return start;
    }

    std::optional<Constant> step_of(BlockId header, BlockId latch, ValueId counter,
                                    std::uint32_t index) const {
        std::optional<Constant> step;
        for (const Target& target : function_.terminator(latch).targets) {
            if (target.block != header) continue;
            const Instruction* sum = function_.def(target.args[index]);
            if (step || sum == nullptr || sum->op != Op::Iadd || sum->args[0] != counter) return std::nullopt;
            const Instruction* c = constant_def(function_, sum->args[1]);
            if (c == nullptr) return std::nullopt;
            step = Constant{c->imm, c->imm_high};
        }
        return step;
    }

    void unroll(const Loop& loop, std::uint32_t copies) {
        std::vector<std::vector<BlockId>> all;
        for (std::uint32_t k = 1; k < copies; ++k)
            all.push_back(copies_.copy_region(loop.blocks));
        // Link each copy's way back to the next copy; the last one's stays on the original.
        for (std::uint32_t k = 0; k + 1 < copies; ++k) {
            for (std::size_t i = 0; i < loop.blocks.size(); ++i) {
                const BlockId block = k == 0 ? loop.blocks[i] : all[k - 1][i];
                for (Target& target : function_.terminator(block).targets) {
                    if (target.block == loop.header) target.block = all[k][0];
                }
            }
        }
    }

    Function& function_;
    Cfg cfg_;
    Dominators dominators_;
    Loops loops_;
    BlockCopies copies_;
};

}  // namespace

bool run_unroll(Function& function, const PassContext&) {
    const bool cut = trim(function);
    return Unroll(function).run() || cut;
}

}  // namespace ockc::opt
