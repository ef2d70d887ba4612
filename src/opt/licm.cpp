// Loop-invariant code motion: values whose operands come from outside a loop are computed once, in the block
// in front of it. Inner loops go first, so a value can leave several loops. Pure instructions move always;
// loads move when the loop does not write their memory and they are executed whenever the loop is entered;
// everything else stays, barriers, traps and volatile accesses above all.
#include <optional>
#include <vector>

#include "ir/analysis/alias.hpp"
#include "ir/analysis/cfg.hpp"
#include "ir/analysis/dominators.hpp"
#include "ir/analysis/loops.hpp"
#include "ir/analysis/uses.hpp"
#include "opt/edit.hpp"
#include "opt/memory_versions.hpp"
#include "opt/pass.hpp"

namespace ockc::opt {

using namespace ir;

namespace {

// Gives every loop a block of its own in front of the header, unless there is one. Returns whether any was
// made; nothing when there are no loops.
std::optional<bool> make_preheaders(Function& function) {
    const Cfg cfg(function);
    const Dominators dominators(cfg);
    const Loops loops(cfg, dominators);
    if (loops.all().empty()) return std::nullopt;
    bool made = false;
    for (std::uint32_t i = 0; i < loops.all().size(); ++i) {
        const BlockId header = loops[LoopId(i)].header;
        std::vector<BlockId> entries;
        for (const BlockId pred : cfg.preds(header)) {
            if (!loops.contains(LoopId(i), pred)) entries.push_back(pred);
        }
        if (entries.size() == 1 && function.terminator(entries[0]).op == Op::Jump) continue;
        const BlockId block = function.add_block();
        Instruction jump;
        jump.op = Op::Jump;
        jump.targets.push_back({header, {}});
        for (const ValueId param : std::vector<ValueId>(function.blocks[header].params)) {
            jump.targets[0].args.push_back(function.add_block_param(block, function.type_of(param)));
        }
        jump.span = function.terminator(header).span;
        jump.scope = function.terminator(header).scope;
        function.blocks[block].insts.push_back(function.make_inst(std::move(jump), {}));
        for (const BlockId pred : entries) {
            for (Target& target : function.terminator(pred).targets) {
                if (target.block == header) target.block = block;
            }
        }
        made = true;
    }
    return made;
}

class Licm {
  public:
    explicit Licm(Function& function)
        : function_(function),
          cfg_(function),
          dominators_(cfg_),
          loops_(cfg_, dominators_),
          classes_(function, cfg_),
          versions_(function, cfg_, classes_),
          home_(function.values.size()),
          stamp_(function.blocks.size(), 0),
          written_(classes_.count(), 0) {
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
        for (std::uint32_t i = static_cast<std::uint32_t>(loops_.all().size()); i-- > 0;)
            hoist(LoopId(i), i + 1);
        return changed_;
    }

  private:
    void hoist(LoopId id, std::uint32_t stamp) {
        const Loop& loop = loops_[id];
        BlockId preheader;
        for (const BlockId pred : cfg_.preds(loop.header)) {
            if (!loops_.contains(id, pred)) preheader = pred;
        }
        for (const BlockId block : loop.blocks)
            stamp_[block.raw] = stamp;
        for (const BlockId block : loop.blocks) {
            for (const InstId inst : function_.blocks[block].insts) {
                for (const std::uint32_t c : versions_.clobbered(function_.insts[inst]))
                    written_[c] = stamp;
            }
        }
        auto& to = function_.blocks[preheader].insts;
        const InstId jump = to.back();
        to.pop_back();
        const BlockId passed = always_passed(loop, stamp);
        for (const BlockId block : loop.blocks) {
            const bool always = dominators_.dominates(block, passed);
            std::erase_if(function_.blocks[block].insts, [&](InstId inst) {
                if (!movable(function_.insts[inst], stamp, always)) return false;
                to.push_back(inst);
                for (const ValueId result : function_.insts[inst].results)
                    home_.set(result, preheader);
                changed_ = true;
                return true;
            });
        }
        to.push_back(jump);
    }

    // The last block that control passes on every way through the loop's body: the common dominator of the
    // blocks that leave it or go round again. What dominates it runs whenever the loop is entered.
    BlockId always_passed(const Loop& loop, std::uint32_t stamp) const {
        BlockId common;
        for (const BlockId block : loop.blocks) {
            bool leaves = false;
            for (const Target& target : function_.terminator(block).targets) {
                leaves = leaves || stamp_[target.block.raw] != stamp || target.block == loop.header;
            }
            if (leaves) common = common.valid() ? dominators_.common(common, block) : block;
        }
        return common;
    }

    bool movable(const Instruction& inst, std::uint32_t stamp, bool always) const {
        if (inst.op == Op::Const || inst.results.empty()) return false;
        for (const ValueId arg : inst.args) {
            if (stamp_[home_[arg].raw] == stamp) return false;
        }
        if (is_pure(inst.op)) return true;
        if (inst.op != Op::Load || inst.memory.is_volatile || !always) return false;
        return is_invariant_load(function_, inst) || written_[classes_.of(inst.args[0])] != stamp;
    }

    Function& function_;
    Cfg cfg_;
    Dominators dominators_;
    Loops loops_;
    MemoryClasses classes_;
    MemoryVersions versions_;
    SideMap<ValueId, BlockId> home_;
    std::vector<std::uint32_t> stamp_;    // the loop being worked on, by block
    std::vector<std::uint32_t> written_;  // the last loop that writes the class
    bool changed_ = false;
};

}  // namespace

bool run_licm(Function& function, const PassContext&) {
    const bool cut = trim(function);
    const std::optional<bool> made = make_preheaders(function);
    if (!made) return cut;
    return Licm(function).run() || *made || cut;
}

}  // namespace ockc::opt
