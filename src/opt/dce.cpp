// Marks what is needed, from the instructions with effects backwards, and drops the rest: instructions and
// block parameters, also those that only feed each other around a loop. Branches are effects, so control flow
// stays as it is, infinite loops included.
#include <vector>

#include "ir/analysis/cfg.hpp"
#include "ir/analysis/uses.hpp"
#include "opt/edit.hpp"
#include "opt/pass.hpp"

namespace ockc::opt {

using namespace ir;

namespace {

class Dce {
  public:
    Dce(Function& function, Analyses& analyses)
        : function_(function),
          cfg_(analyses.cfg()),
          live_(function.values.size()),
          needed_(function.insts.size()) {}

    bool run() {
        for (const BlockId block : function_.layout) {
            for (const InstId id : function_.blocks[block].insts) {
                if (!is_removable(function_.insts[id])) need(id);
            }
        }
        while (!work_.empty()) {
            const ValueId value = work_.back();
            work_.pop_back();
            reach(value);
        }
        const bool params = sweep_params();
        return sweep_insts() || params;
    }

  private:
    void need(InstId id) {
        if (needed_[id.raw]) return;
        needed_[id.raw] = true;
        for (const ValueId arg : function_.insts[id].args)
            mark(arg);
    }
    void mark(ValueId value) {
        if (live_[value.raw]) return;
        live_[value.raw] = true;
        work_.push_back(value);
    }
    // A live result needs its instruction; a live parameter needs the arguments that arrive in it.
    void reach(ValueId value) {
        const Value& info = function_.values[value];
        if (info.inst.valid()) return need(info.inst);
        BlockId last;
        for (const BlockId pred : cfg_.preds(info.block)) {
            if (pred == last) continue;
            last = pred;
            for (const Target& target : function_.terminator(pred).targets) {
                if (target.block == info.block) mark(target.args[info.index]);
            }
        }
    }

    bool sweep_params() {
        SideMap<BlockId, std::vector<bool>> dead;
        bool any = false;
        for (const BlockId block : function_.layout) {
            if (block == function_.entry()) continue;  // the function's own parameters
            const auto& params = function_.blocks[block].params;
            for (std::size_t i = 0; i < params.size(); ++i) {
                if (live_[params[i].raw]) continue;
                if (dead[block].empty()) dead.set(block, std::vector<bool>(params.size()));
                dead.at(block)[i] = true;
                any = true;
            }
        }
        if (any) remove_params(function_, dead);
        return any;
    }

    bool sweep_insts() {
        bool any = false;
        for (const BlockId block : function_.layout) {
            any = std::erase_if(function_.blocks[block].insts, [&](InstId id) { return !needed_[id.raw]; }) !=
                      0 ||
                  any;
        }
        return any;
    }

    Function& function_;
    const Cfg& cfg_;
    std::vector<bool> live_;
    std::vector<bool> needed_;
    std::vector<ValueId> work_;
};

}  // namespace

bool run_dce(Function& function, const PassContext& context) {
    const bool cut = trim(function);
    return Dce(function, context.analyses).run() || cut;
}

bool run_remove_dead_blocks(Function& function, const PassContext&) {
    return trim(function);
}

}  // namespace ockc::opt
