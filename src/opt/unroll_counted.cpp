// A short loop that counts to a bound which is not known gets four iterations without a test between them; up to three are
// left for the loop as it was.
//
//   do { body } while (++i < n)
// becomes
//   m = i + ((n - i) & ~3)
//   if (n - i > 3) do { body; body; body; body } while (i < m)
//   if (i < n) do { body } while (++i < n)
//
// The iterations stay in order: sums of floats do not change.
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

constexpr std::uint32_t kTimes = 4;
constexpr std::size_t kMaxBody = 16;  // instructions

class UnrollCounted {
  public:
    explicit UnrollCounted(Function& function)
        : function_(function),
          cfg_(function),
          loops_(cfg_, Dominators(cfg_)),
          shapes_(function, cfg_, loops_),
          pool_(function),
          copies_(function) {}

    bool run() {
        bool changed = false;
        for (std::uint32_t i = 0; i < loops_.all().size(); ++i) {
            const auto loop = shapes_.counted(LoopId(i));
            if (!loop || !wanted(LoopId(i), *loop)) continue;
            unroll(*loop);
            changed = true;
        }
        if (!changed) return false;
        pool_.place();
        copies_.repair();
        return true;
    }

  private:
    // One block that reads memory: what waits for each other can wait together then.
    bool wanted(LoopId id, const CountedLoop& loop) const {
        const Block& block = function_.blocks[loop.header];
        if (loop.header != loop.latch || block.cold || block.unroll != 0 || shapes_.size(id) > kMaxBody) return false;
        for (const InstId inst : block.insts) {
            if (function_.insts[inst].op == Op::Load) return true;
        }
        return false;
    }

    // Also through a parameter of the block in front.
    bool starts_at_zero(const CountedLoop& loop) const {
        if (is_constant(function_, loop.start, 0)) return true;
        const Value& param = function_.values[loop.start];
        if (param.inst.valid() || param.block != loop.preheader || loop.preheader == function_.entry()) return false;
        for (const BlockId pred : cfg_.preds(loop.preheader)) {
            for (const Target& target : function_.terminator(pred).targets) {
                if (target.block == loop.preheader && !is_constant(function_, target.args[param.index], 0)) return false;
            }
        }
        return true;
    }

    void unroll(const CountedLoop& loop) {
        const Type type = function_.type_of(loop.counter);
        const IntCond less = loop.is_signed ? IntCond::Slt : IntCond::Ult;
        std::vector<BlockId> bodies;
        for (std::uint32_t k = 0; k < kTimes; ++k)
            bodies.push_back(copies_.copy(loop.header));
        // In front: are there four to make? The bound may lie below the start.
        const BlockId before = loop.preheader;
        const ValueId count = put_at_end(function_, before, Op::Isub, type, loop.bound, loop.start);
        ValueId enough = put_at_end(function_, before, Op::Icmp, type, count, pool_.get(type, kTimes - 1), IntCond::Ugt);
        if (loop.is_signed || !starts_at_zero(loop)) {
            const ValueId ordered = put_at_end(function_, before, Op::Icmp, type, loop.start, loop.bound, less);
            enough = put_at_end(function_, before, Op::And, Type::I1, enough, ordered);
        }
        const ValueId whole = put_at_end(function_, before, Op::And, type, count, pool_.get(type, ~std::uint64_t{kTimes - 1}));
        const ValueId end = put_at_end(function_, before, Op::Iadd, type, loop.start, whole);
        const Target in = function_.terminator(before).targets[0];
        set_branch(function_, before, enough, Target{bodies[0], in.args}, in);
        // Each body goes on to the next one, the last one round or out.
        for (std::uint32_t k = 0; k + 1 < kTimes; ++k) {
            const Target& around = function_.terminator(bodies[k]).targets[loop.stay];
            set_jump(function_, bodies[k], Target{bodies[k + 1], around.args});
        }
        const BlockId last = bodies.back();
        const Target around = function_.terminator(last).targets[loop.stay];
        const ValueId next = around.args[loop.index];
        const BlockId behind = split_edge(function_, last, 1 - loop.stay);
        const Target out = function_.terminator(behind).targets[0];
        const ValueId more = put_at_end(function_, behind, Op::Icmp, type, next, loop.bound, less);
        set_branch(function_, behind, more, Target{loop.header, around.args}, out);
        const ValueId again = put_at_end(function_, last, Op::Icmp, type, next, end, IntCond::Ne);
        set_branch(function_, last, again, Target{bodies[0], around.args}, Target{behind, {}});
        function_.blocks[loop.header].unroll = 1;
    }

    Function& function_;
    Cfg cfg_;
    Loops loops_;
    LoopShapes shapes_;
    ConstantPool pool_;
    BlockCopies copies_;
};

}  // namespace

bool run_unroll_counted(Function& function, const PassContext&) {
    const bool cut = trim(function);
    return UnrollCounted(function).run() || cut;
}

}  // namespace ockc::opt
