// Merges block parameters that always carry equal values: the counter of `enumerate` and the position of the
// slice iterator below it, the positions of two slices that are zipped. Which values are equal is found
// optimistically: all parameters of a block start out equal, and what their arguments tell apart is told
// apart, round after round in reverse postorder, until nothing changes (Simpson's value numbering by reverse
// postorder). Only parameters are merged; equal instructions are gvn's work.
#include <unordered_map>
#include <vector>

#include "ir/analysis/cfg.hpp"
#include "ir/analysis/dominators.hpp"
#include "ir/analysis/loops.hpp"
#include "opt/edit.hpp"
#include "opt/pass.hpp"

namespace ockc::opt {

using namespace ir;

namespace {

constexpr int kMaxNumberingRounds = 16;  // without a fixed point by then, nothing is merged

// What a value is computed from, as words.
using Recipe = std::vector<std::uint64_t>;

struct RecipeHash {
    std::size_t operator()(const Recipe& recipe) const {
        std::uint64_t hash = recipe.size();
        for (const std::uint64_t word : recipe)
            hash = (hash ^ word) * 0x9E37'79B9'7F4A'7C15u + (hash >> 32);
        return static_cast<std::size_t>(hash ^ (hash >> 29));
    }
};

class MergeParams {
  public:
    MergeParams(Function& function, Analyses& analyses) : function_(function), cfg_(analyses.cfg()) {}

    bool run() {
        if (!is_worth_it() || !number_all()) return false;
        Replacements replacements;
        SideMap<BlockId, std::vector<bool>> dead;
        for (const BlockId block : cfg_.rpo()) {
            const auto& params = function_.blocks[block].params;
            for (std::size_t i = 0; i < params.size(); ++i) {
                const ValueId leader = number_[params[i]];
                if (leader == params[i] || block == function_.entry()) continue;
                replacements.replace(params[i], leader);
                std::vector<bool> flags = dead[block];
                flags.resize(params.size());
                flags[i] = true;
                dead.set(block, std::move(flags));
            }
        }
        if (replacements.empty()) return false;
        remove_params(function_, dead);
        replacements.apply(function_);
        return true;
    }

  private:
    // Is there a loop with two parameters of one type?
    bool is_worth_it() const {
        const Dominators dominators(cfg_);
        const Loops loops(cfg_, dominators);
        for (const Loop& loop : loops.all()) {
            std::uint32_t seen = 0;
            for (const ValueId param : function_.blocks[loop.header].params) {
                const std::uint32_t bit = 1u << static_cast<unsigned>(function_.type_of(param));
                if ((seen & bit) != 0) return true;
                seen |= bit;
            }
        }
        return false;
    }

    bool number_all() {
        number_ = SideMap<ValueId, ValueId>(function_.values.size());
        for (int round = 0; round < kMaxNumberingRounds; ++round) {
            known_.clear();
            changed_ = false;
            for (const BlockId block : cfg_.rpo())
                number_block(block);
            if (!changed_) return true;
        }
        return false;
    }

    void number_block(BlockId block) {
        const auto& params = function_.blocks[block].params;
        for (std::size_t i = 0; i < params.size(); ++i) {
            if (block == function_.entry()) {
                give(params[i], params[i]);
                continue;
            }
            recipe_.assign({std::uint64_t{block.raw} << 8 | 0xFF,
                            static_cast<std::uint64_t>(function_.type_of(params[i]))});
            BlockId last;
            for (const BlockId pred : cfg_.preds(block)) {
                if (pred == last) continue;  // its other edges are taken with the first
                last = pred;
                for (const Target& target : function_.terminator(pred).targets) {
                    if (target.block == block) recipe_.push_back(number_[target.args[i]].raw);
                }
            }
            give(params[i], known_.try_emplace(recipe_, params[i]).first->second);
        }
        for (const InstId id : function_.blocks[block].insts)
            number_inst(function_.insts[id]);
    }

    void number_inst(const Instruction& inst) {
        if (inst.results.size() != 1 || !is_pure(inst.op)) {
            for (const ValueId result : inst.results)
                give(result, result);
            return;
        }
        recipe_.assign({static_cast<std::uint64_t>(inst.op) | static_cast<std::uint64_t>(inst.type) << 16 |
                            std::uint64_t{inst.aux} << 32,
                        inst.imm, inst.imm_high, inst.global.raw});
        for (const ValueId arg : inst.args)
            recipe_.push_back(number_[arg].raw | static_cast<std::uint64_t>(function_.type_of(arg)) << 32);
        give(inst.result(), known_.try_emplace(recipe_, inst.result()).first->second);
    }

    void give(ValueId value, ValueId number) {
        if (number_[value] == number) return;
        number_.set(value, number);
        changed_ = true;
    }

    Function& function_;
    const Cfg& cfg_;
    SideMap<ValueId, ValueId> number_;  // none: nothing known yet
    std::unordered_map<Recipe, ValueId, RecipeHash> known_;
    Recipe recipe_;
    bool changed_ = false;
};

}  // namespace

bool run_merge_params(Function& function, const PassContext& context) {
    const bool cut = trim(function);
    return MergeParams(function, context.analyses).run() || cut;
}

}  // namespace ockc::opt
