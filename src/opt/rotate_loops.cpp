// `while c { body }` becomes `if c { do body while c }`: the loop's header, which tests, is copied in front
// of the loop and tests the first time there; the original then tests at the end. One branch for each
// iteration instead of two, and what the body loads in every case can move out of the loop. A header is
// copied when it is small, branches out of the loop, and every way round the loop ends in a plain jump to it;
// never with a barrier or a call inside.
#include <algorithm>
#include <utility>

#include "ir/analysis/cfg.hpp"
#include "ir/analysis/dominators.hpp"
#include "ir/analysis/loops.hpp"
#include "opt/clone.hpp"
#include "opt/edit.hpp"
#include "opt/pass.hpp"

namespace ockc::opt {

using namespace ir;

namespace {

constexpr std::size_t kMaxTest = 4;     // a bare test
constexpr std::size_t kMaxHeader = 24;  // instructions beside constants

class RotateLoops {
  public:
    explicit RotateLoops(Function& function)
        : function_(function),
          cfg_(function),
          dominators_(cfg_),
          loops_(cfg_, dominators_),
          copies_(function) {}

    bool run() {
        // Inner loops first: a header that leads straight into an inner loop is then copied with its edge
        // already right.
        bool changed = false;
        for (std::uint32_t i = static_cast<std::uint32_t>(loops_.all().size()); i-- > 0;) {
            changed = rotate(LoopId(i)) || changed;
        }
        if (changed) copies_.repair();
        return changed;
    }

  private:
    bool rotate(LoopId id) {
        const Loop& loop = loops_[id];
        const Instruction& test = function_.terminator(loop.header);
        if (test.op != Op::Br || !copyable(loop.header)) return false;
        const bool inside[2] = {loops_.contains(id, test.targets[0].block),
                                loops_.contains(id, test.targets[1].block)};
        if (inside[0] == inside[1]) return false;
        // Not a failed check: it is no way to leave.
        if (function_.blocks[test.targets[inside[0] ? 1 : 0].block].cold) return false;
        const BlockId body = test.targets[inside[0] ? 0 : 1].block;
        if (body == loop.header) return false;  // tests at its end already
        if (!ends_in_jumps(loop) && size_of(loop.header) > kMaxTest) return false;
        const BlockId copy = copies_.copy(loop.header);
        for (const BlockId pred : cfg_.preds(loop.header)) {
            if (loops_.contains(id, pred)) continue;
            for (Target& target : function_.terminator(pred).targets) {
                if (target.block == loop.header) target.block = copy;
            }
        }
        const std::uint32_t asked = std::exchange(function_.blocks[loop.header].unroll, 0);
        if (asked != 0) function_.blocks[body].unroll = asked;  // the body is the header now
        return true;
    }

    bool ends_in_jumps(const Loop& loop) const {
        return std::all_of(loop.latches.begin(), loop.latches.end(),
                           [&](BlockId latch) { return function_.terminator(latch).op == Op::Jump; });
    }

    std::size_t size_of(BlockId block) const {
        const auto& insts = function_.blocks[block].insts;
        return static_cast<std::size_t>(std::count_if(
            insts.begin(), insts.end(), [&](InstId id) { return function_.insts[id].op != Op::Const; }));
    }

    bool copyable(BlockId block) const {
        for (const InstId id : function_.blocks[block].insts) {
            const Op op = function_.insts[id].op;
            if (op == Op::Call || op_info(op).effect == Effect::Convergent) return false;
        }
        return size_of(block) <= kMaxHeader;
    }

    Function& function_;
    Cfg cfg_;
    Dominators dominators_;
    Loops loops_;
    BlockCopies copies_;
};

}  // namespace

bool run_rotate_loops(Function& function, const PassContext&) {
    const bool cut = trim(function);
    return RotateLoops(function).run() || cut;
}

}  // namespace ockc::opt
