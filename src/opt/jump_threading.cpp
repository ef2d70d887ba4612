// A block whose branch is decided by where control comes from is copied for the predecessors that decide it,
// and each copy's branch becomes a jump. This is what makes an inlined `if let Some(x) = f()` free: the
// discriminant arrives in a block parameter as a constant from each `return` of f.
//
// In rounds: find (predecessor, block) edges whose branch is known, copy the block for each, redirect the
// edge, then bring the values that the block defines back into SSA form where they are used below. Never
// copied: blocks with barriers, calls or slots, and blocks that are too long. A loop header is copied only
// when every way in and round is decided, so that it disappears (the first round of `step_by` differs from
// the others), and when the rest of the loop has one entry: testing at the end is rotate_loops' work.
#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "ir/analysis/alias.hpp"
#include "ir/analysis/cfg.hpp"
#include "ir/analysis/dominators.hpp"
#include "ir/analysis/loops.hpp"
#include "ir/analysis/uses.hpp"
#include "ir/names.hpp"
#include "opt/clone.hpp"
#include "opt/const_fold.hpp"
#include "opt/edit.hpp"
#include "opt/pass.hpp"

namespace ockc::opt {

using namespace ir;

namespace {

constexpr int kMaxThreadRounds = 8;
constexpr int kMaxTestsAbove = 4;          // branches above an edge that are looked at
constexpr std::size_t kMaxCopied = 8;      // instructions, beside constants and the branch
constexpr std::size_t kMaxCopiedAll = 24;  // when no predecessor keeps the original

// What is known of a value on one edge.
struct Known {
    enum class Kind : std::uint8_t { Nothing, Constant, NonNull } kind = Kind::Nothing;
    Constant value;
};

class JumpThreading {
  public:
    JumpThreading(Function& function, Analyses& analyses) : function_(function), analyses_(analyses) {}

    bool run() {
        bool changed = false;
        for (int round = 0; round < kMaxThreadRounds && run_round(); ++round) {
            analyses_.forget();
            changed = true;
        }
        return changed;
    }

  private:
    struct Edge {
        BlockId pred;
        std::size_t target;  // index into the predecessor's targets
        std::size_t taken;   // index into the block's targets
    };

    bool run_round() {
        const Cfg& cfg = analyses_.cfg();
        BlockCopies copies(function_);
        std::vector<bool> touched(
            function_.blocks.size());  // edges of these blocks have changed in this round
        bool changed = false;
        for (const BlockId block : cfg.rpo()) {
            if (touched[block.raw] || block == function_.entry()) continue;
            const std::size_t size = copy_size(block);
            if (size > kMaxCopiedAll) continue;
            const std::vector<Edge> edges = known_edges(cfg, block);
            if (edges.empty()) continue;
            const bool all = edges.size() == cfg.preds(block).size();
            if (size > kMaxCopied && !all) continue;
            const Loops& loops = analyses_.loops();
            if (loops.is_header(block) && (!all || !header_can_go(cfg, loops, block, edges))) continue;
            const bool busy =
                std::any_of(edges.begin(), edges.end(), [&](const Edge& e) { return touched[e.pred.raw]; });
            if (busy) continue;
            for (const Edge& edge : edges) {
                thread(copies, block, edge);
                touched[edge.pred.raw] = true;
            }
            touched[block.raw] = true;
            for (const Target& target : function_.terminator(block).targets)
                touched[target.block.raw] = true;
            changed = true;
        }
        if (!changed) return false;
        remove_unreachable(function_);
        copies.repair();
        return true;
    }

    // Without its header, does the loop still have one entry? What goes round then are the blocks between the
    // targets of the back edges and the latches.
    bool header_can_go(const Cfg& cfg, const Loops& loops, BlockId header, const std::vector<Edge>& edges) {
        const LoopId loop = loops.of(header);
        std::vector<BlockId> starts, latches;
        for (const Edge& edge : edges) {
            if (!loops.contains(loop, edge.pred)) continue;
            starts.push_back(function_.terminator(header).targets[edge.taken].block);
            latches.push_back(edge.pred);
        }
        SideMap<BlockId, std::uint8_t> seen(function_.blocks.size());  // 1: after a start, 2: before a latch
        const auto spread = [&](std::vector<BlockId> work, std::uint8_t bit, auto neighbours) {
            while (!work.empty()) {
                const BlockId block = work.back();
                work.pop_back();
                if (block == header || !loops.contains(loop, block) || (seen[block] & bit) != 0) continue;
                seen.set(block, seen[block] | bit);
                neighbours(block, work);
            }
        };
        spread(starts, 1, [&](BlockId block, std::vector<BlockId>& work) {
            for (const Target& target : function_.terminator(block).targets)
                work.push_back(target.block);
        });
        spread(latches, 2, [&](BlockId block, std::vector<BlockId>& work) {
            work.insert(work.end(), cfg.preds(block).begin(), cfg.preds(block).end());
        });
        BlockId entry;
        for (const BlockId block : loops[loop].blocks) {
            if (seen[block] != 3) continue;
            for (const BlockId pred : cfg.preds(block)) {
                if (pred == header || seen[pred] == 3 || block == entry) continue;
                if (entry.valid()) return false;
                entry = block;
            }
        }
        // The ways in that the header leads to itself.
        for (const Edge& edge : edges) {
            const BlockId target = function_.terminator(header).targets[edge.taken].block;
            if (loops.contains(loop, edge.pred) || seen[target] != 3 || target == entry) continue;
            if (entry.valid()) return false;
            entry = target;
        }
        const std::uint32_t asked = function_.blocks[header].unroll;
        if (asked != 0 && entry.valid())
            function_.blocks[entry].unroll = asked;  // the loop's header from now on
        return true;
    }

    // Instructions that a copy would add; more than the limit when the block must not be copied.
    std::size_t copy_size(BlockId block) const {
        const Instruction& last = function_.terminator(block);
        if (last.op != Op::Br && last.op != Op::Switch) return kMaxCopiedAll + 1;
        std::size_t size = 0;
        for (const InstId id : function_.blocks[block].insts) {
            const Op op = function_.insts[id].op;
            if (op == Op::Call || op == Op::Alloca || op_info(op).effect == Effect::Convergent)
                return kMaxCopiedAll + 1;
            if (op != Op::Const && !is_terminator(op)) ++size;
        }
        return size;
    }

    std::vector<Edge> known_edges(const Cfg& cfg, BlockId block) {
        std::vector<Edge> edges;
        if (cfg.preds(block).size() < 2 && function_.blocks[block].params.empty())
            return edges;  // facts' work
        BlockId last;
        for (const BlockId pred : cfg.preds(block)) {
            if (pred == last || pred == block) continue;
            last = pred;
            const auto& targets = function_.terminator(pred).targets;
            for (std::size_t i = 0; i < targets.size(); ++i) {
                if (targets[i].block != block) continue;
                const auto taken = decide(cfg, block, pred, i);
                if (taken) edges.push_back({pred, i, *taken});
            }
        }
        return edges;
    }

    // ---- what the branch does when control comes along one edge
    // ----------------------------------------------------

    std::optional<std::size_t> decide(const Cfg& cfg, BlockId block, BlockId pred, std::size_t target) {
        touched_facts_.clear();
        collect_tests(cfg, pred, target);
        arguments_ = &function_.terminator(pred).targets[target].args;
        params_ = &function_.blocks[block].params;
        const Instruction& from = function_.terminator(pred);
        const auto& params = function_.blocks[block].params;
        for (std::size_t i = 0; i < params.size(); ++i)
            learn(params[i], known(from.targets[target].args[i]));
        if (from.op == Op::Br && from.targets[0].block != from.targets[1].block) {  // the branch itself tells
            learn(from.args[0], {Known::Kind::Constant, {target == 0 ? 1u : 0u, 0}});
        }
        own_.clear();
        for (const InstId id : function_.blocks[block].insts) {
            evaluate(function_.insts[id]);
            for (const ValueId result : function_.insts[id].results)
                own_.push_back(result);
        }
        const Instruction& last = function_.terminator(block);
        const Known decision = known(last.args[0]);
        for (const ValueId value : touched_facts_)
            facts_.set(value, {});
        if (decision.kind != Known::Kind::Constant) return std::nullopt;
        if (last.op == Op::Br) return decision.value.low != 0 ? 0 : 1;
        for (std::size_t i = 0; i < last.cases.size(); ++i) {
            if (last.cases[i] == decision.value.low && decision.value.high == 0) return i + 1;
        }
        return 0;
    }

    // The comparisons that have come out one way on the way to this edge: those of its branch and of the
    // branches right above it.
    void collect_tests(const Cfg& cfg, BlockId block, std::size_t target) {
        tests_.clear();
        for (int depth = 0; depth < kMaxTestsAbove; ++depth) {
            const Instruction& branch = function_.terminator(block);
            if (branch.op == Op::Br && branch.targets[0].block != branch.targets[1].block)
                add_test(branch.args[0], target == 0);
            if (cfg.preds(block).size() != 1) return;
            const BlockId above = cfg.preds(block)[0];
            target = function_.terminator(above).targets[0].block == block ? 0 : 1;
            block = above;
        }
    }

    void add_test(ValueId condition, bool truth) {
        const Instruction* def = function_.def(condition);
        if (def == nullptr) return;
        if (def->op == Op::Icmp) tests_.push_back({def, truth});
        if (def->op != Op::And || !truth) return;
        for (const ValueId part : def->args) {
            const Instruction* inner = function_.def(part);
            if (inner != nullptr && inner->op == Op::Icmp) tests_.push_back({inner, true});
        }
    }

    // The comparison of what the block's parameters carry on the edge, when it has been made on the way.
    std::optional<bool> tested(const Instruction& compare) const {
        const auto carried = [&](ValueId value) {
            const auto at = std::find(params_->begin(), params_->end(), value);
            return at == params_->end() ? value
                                        : (*arguments_)[static_cast<std::size_t>(at - params_->begin())];
        };
        // What the block computes itself is another value each time that control comes round.
        const auto is_own = [&](ValueId value) {
            return std::find(own_.begin(), own_.end(), value) != own_.end();
        };
        if (is_own(compare.args[0]) || is_own(compare.args[1])) return std::nullopt;
        const ValueId a = carried(compare.args[0]);
        const ValueId b = carried(compare.args[1]);
        for (const auto& [test, truth] : tests_) {
            if (test->type != compare.type) continue;
            IntCond known = test->int_cond();
            if (test->args[0] == b && test->args[1] == a) {
                known = swap(known);
            } else if (test->args[0] != a || test->args[1] != b) {
                continue;
            }
            if (known == compare.int_cond()) return truth;
            if (invert(known) == compare.int_cond()) return !truth;
        }
        return std::nullopt;
    }

    void learn(ValueId value, Known what) {
        if (what.kind == Known::Kind::Nothing) return;
        facts_.set(value, what);
        touched_facts_.push_back(value);
    }

    Known known(ValueId value) const {
        const Known fact = facts_[value];
        if (fact.kind != Known::Kind::Nothing) return fact;
        if (const Instruction* constant = constant_def(function_, value)) {
            return {Known::Kind::Constant, {constant->imm, constant->imm_high}};
        }
        if (is_ptr(function_.type_of(value)) && is_nonnull(function_, value))
            return {Known::Kind::NonNull, {}};
        return {};
    }

    void evaluate(const Instruction& inst) {
        if (op_info(inst.op).effect != Effect::Pure || inst.results.empty() || inst.args.size() > 3) return;
        if (inst.op == Op::Const) return;
        std::array<Constant, 3> args;
        std::size_t constants = 0;
        Known first{};
        for (std::uint32_t i = 0; i < inst.args.size(); ++i) {
            const Known arg = known(inst.args[i]);
            if (i == 0) first = arg;
            if (arg.kind != Known::Kind::Constant) continue;
            args[i] = arg.value;
            ++constants;
        }
        if (!inst.args.empty() && constants == inst.args.size() && inst.op != Op::SpaceCast) {
            const auto value = fold(inst, function_.type_of(inst.args[0]), {args.data(), constants});
            if (value) learn(inst.result(), {Known::Kind::Constant, *value});
            return;
        }
        evaluate_partly(inst, first);
    }

    void evaluate_partly(const Instruction& inst, Known first) {
        const auto is_known = [&](std::uint32_t arg, std::uint64_t low) {
            const Known k = known(inst.args[arg]);
            return k.kind == Known::Kind::Constant && k.value.low == low && k.value.high == 0;
        };
        if (inst.op == Op::Nonnull) {
            learn(inst.result(), {Known::Kind::NonNull, {}});
        } else if (inst.op == Op::SpaceCast && first.kind == Known::Kind::Constant && first.value.low == 0 &&
                   (function_.type_of(inst.args[0]) == Type::PtrGlobal || inst.type == Type::PtrGlobal)) {
            learn(inst.result(), first);  // null stays null between generic and global
        } else if ((inst.op == Op::PtrAdd || inst.op == Op::SpaceCast) &&
                   first.kind == Known::Kind::NonNull) {
            learn(inst.result(), first);
        } else if (inst.op == Op::Icmp && tested(inst)) {
            learn(inst.result(), {Known::Kind::Constant, {*tested(inst) ? 1u : 0u, 0}});
        } else if (inst.op == Op::Icmp && first.kind == Known::Kind::NonNull && is_known(1, 0)) {
            if (inst.int_cond() == IntCond::Eq) learn(inst.result(), {Known::Kind::Constant, {0, 0}});
            if (inst.int_cond() == IntCond::Ne) learn(inst.result(), {Known::Kind::Constant, {1, 0}});
        } else if (inst.op == Op::And && (is_known(0, 0) || is_known(1, 0))) {
            learn(inst.result(), {Known::Kind::Constant, {0, 0}});
        } else if (inst.op == Op::Or && inst.type == Type::I1 && (is_known(0, 1) || is_known(1, 1))) {
            learn(inst.result(), {Known::Kind::Constant, {1, 0}});
        } else if (inst.op == Op::Select && first.kind == Known::Kind::Constant) {
            learn(inst.result(), known(inst.args[first.value.low != 0 ? 1 : 2]));
        }
    }

    // ---- copying
    // -----------------------------------------------------------------------------------------------------

    void thread(BlockCopies& copies, BlockId block, const Edge& edge) {
        const BlockId copy = copies.copy(block);
        function_.terminator(edge.pred).targets[edge.target].block = copy;
        Target out = function_.terminator(copy).targets[edge.taken];
        set_jump(function_, copy, std::move(out));
    }

    Function& function_;
    Analyses& analyses_;
    SideMap<ValueId, Known> facts_;
    std::vector<ValueId> touched_facts_;
    std::vector<std::pair<const Instruction*, bool>> tests_;
    std::vector<ValueId> own_;
    const TargetArgs* arguments_ = nullptr;
    const std::vector<ValueId>* params_ = nullptr;
};

}  // namespace

bool run_jump_threading(Function& function, const PassContext& context) {
    const bool cut = trim(function);
    return JumpThreading(function, context.analyses).run() || cut;
}

}  // namespace ockc::opt
