// Replaces calls by the callee's body. The pipeline visits callees before callers, so a body is already
// simplified, and holds no call that could be inlined further, when it is copied; one sweep over the caller
// is enough. Each copy gets an InlineScope, so that every instruction still knows the chain of calls it came
// through. A function that calls itself, directly or around a cycle, is never inlined into the cycle: the
// pipeline's order makes such callees later ones, which `calls_itself` finds by the calls that remain in the
// body.
#include <algorithm>
#include <vector>

#include "ir/analysis/uses.hpp"
#include "opt/edit.hpp"
#include "opt/pass.hpp"

namespace ockc::opt {

using namespace ir;

namespace {

constexpr std::size_t kSmallCallee = 400;        // instructions: copied without further question
constexpr std::size_t kLargestCaller = 200'000;  // a caller of that size takes in only `inline always`

std::size_t size_of(const Function& function) {
    std::size_t size = 0;
    for (const BlockId block : function.layout)
        size += function.blocks[block].insts.size();
    return size;
}

class Inliner {
  public:
    Inliner(Function& caller, const PassContext& context)
        : caller_(caller), context_(context), size_(size_of(caller)) {}

    bool run() {
        if (!has_calls()) return false;
        const std::vector<BlockId> original = caller_.layout;
        caller_.layout.clear();
        for (const BlockId block : original) {
            caller_.layout.push_back(block);
            expand(block);
        }
        auto& entry = caller_.blocks[caller_.entry()].insts;
        entry.insert(entry.begin(), allocas_.begin(), allocas_.end());
        replacements_.apply(caller_);
        return changed_;
    }

  private:
    bool has_calls() const {
        return std::any_of(caller_.layout.begin(), caller_.layout.end(), [&](BlockId block) {
            const auto& insts = caller_.blocks[block].insts;
            return std::any_of(insts.begin(), insts.end(), [&](InstId id) { return caller_.insts[id].op == Op::Call; });
        });
    }

    // Splits `block` at each call that is inlined; what follows the call continues in a new block.
    void expand(BlockId block) {
        std::vector<InstId> insts = std::move(caller_.blocks[block].insts);
        caller_.blocks[block].insts.clear();
        for (const InstId id : insts) {
            if (caller_.insts[id].op == Op::Call && wanted(caller_.insts[id])) {
                block = inline_call(block, id);
            } else {
                caller_.blocks[block].insts.push_back(id);
            }
        }
    }

    bool wanted(const Instruction& call) {
        const Function& callee = context_.module.functions[call.callee];
        if (callee.inline_hint == Inline::Never || &callee == &caller_ || calls_itself(callee)) return false;
        if (callee.inline_hint == Inline::Always) return true;
        const std::size_t size = size_of(callee);
        if (context_.options.level == 0 || size_ + size > kLargestCaller) return false;
        return size <= kSmallCallee || called_once(call.callee);
    }

    // Does the callee still lead back to itself or to the caller? Only one step is looked at: longer cycles
    // have been inlined into shorter ones by the time they matter, or keep a call and stop there.
    bool calls_itself(const Function& callee) const {
        for (const BlockId block : callee.layout) {
            for (const InstId id : callee.blocks[block].insts) {
                const Instruction& inst = callee.insts[id];
                if (inst.op != Op::Call) continue;
                const Function& next = context_.module.functions[inst.callee];
                if (&next == &callee || &next == &caller_) return true;
            }
        }
        return false;
    }

    bool called_once(FuncId callee) {
        if (call_counts_.size() == 0) count_calls();
        return call_counts_[callee] == 1;
    }
    void count_calls() {
        call_counts_ = SideMap<FuncId, std::uint32_t>(context_.module.functions.size(), 0);
        for (const Function& function : context_.module.functions) {
            if (function.removed) continue;
            for (const BlockId block : function.layout) {
                for (const InstId id : function.blocks[block].insts) {
                    const Instruction& inst = function.insts[id];
                    if (inst.op == Op::Call) ++call_counts_.at(inst.callee);
                }
            }
        }
    }

    // Copies the callee behind `block` and returns the block that continues after the call.
    BlockId inline_call(BlockId block, InstId call_id) {
        changed_ = true;
        const Instruction call = caller_.insts[call_id];
        const Function& callee = context_.module.functions[call.callee];
        const InlineScopeId scope = enter_scope(call, callee);
        SideMap<ValueId, ValueId> values(callee.values.size());
        SideMap<BlockId, BlockId> blocks(callee.blocks.size());
        const auto& params = callee.blocks[callee.entry()].params;
        for (std::size_t i = 0; i < params.size(); ++i)
            values.set(params[i], call.args[i]);
        copy_blocks(callee, block, values, blocks);

        const BlockId after = caller_.add_block();
        caller_.blocks[after].cold = caller_.blocks[block].cold;
        for (const ValueId result : call.results) {
            replacements_.replace(result, caller_.add_block_param(after, caller_.type_of(result)));
        }
        for (const BlockId from : callee.layout) {
            for (const InstId id : callee.blocks[from].insts) {
                copy_inst(callee.insts[id], from == callee.entry(), blocks[from], after, values, blocks,
                          scope);
            }
        }
        return after;
    }

    // The callee's entry continues in the calling block itself; its other blocks are made, with their
    // parameters.
    void copy_blocks(const Function& callee, BlockId block, SideMap<ValueId, ValueId>& values,
                     SideMap<BlockId, BlockId>& blocks) {
        const bool cold = caller_.blocks[block].cold;
        for (const BlockId from : callee.layout) {
            const bool is_entry = from == callee.entry();
            const BlockId to = is_entry ? block : caller_.add_block();
            blocks.set(from, to);
            if (!is_entry) {
                caller_.blocks[to].cold = cold || callee.blocks[from].cold;
                caller_.blocks[to].unroll = callee.blocks[from].unroll;
                for (const ValueId param : callee.blocks[from].params) {
                    values.set(param, caller_.add_block_param(to, callee.type_of(param)));
                }
            }
            for (const InstId id : callee.blocks[from].insts) {  // results first: uses may stand above them
                for (const ValueId result : callee.insts[id].results) {
                    values.set(result, caller_.values.push({callee.type_of(result), InstId::none(), {}, 0}));
                }
            }
        }
    }

    void copy_inst(const Instruction& from, bool in_entry, BlockId to, BlockId after,
                   const SideMap<ValueId, ValueId>& values, const SideMap<BlockId, BlockId>& blocks,
                   InlineScopeId scope) {
        Instruction copy = from;
        for_each_use(copy, [&](ValueId& value) { value = values[value]; });
        for (Target& target : copy.targets)
            target.block = blocks[target.block];
        copy.scope = from.scope.valid() ? InlineScopeId(scope_base_ + from.scope.raw) : scope;
        if (copy.op == Op::Ret) {
            copy.op = Op::Jump;
            copy.targets.push_back({after, TargetArgs(copy.args.view())});
            copy.args.clear();
        }
        const InstId id = caller_.insts.next_id();
        for (std::uint32_t i = 0; i < copy.results.size(); ++i) {
            copy.results[i] = values[copy.results[i]];
            caller_.values[copy.results[i]].inst = id;
            caller_.values[copy.results[i]].index = i;
        }
        const bool is_alloca = in_entry && copy.op == Op::Alloca;
        caller_.insts.push(std::move(copy));
        ++size_;
        if (is_alloca) {
            allocas_.push_back(id);
        } else {
            caller_.blocks[to].insts.push_back(id);
        }
    }

    // A scope for this call, and copies of the callee's own scopes below it.
    InlineScopeId enter_scope(const Instruction& call, const Function& callee) {
        const InlineScopeId scope = caller_.inline_scopes.push({call.scope, call.span, callee_name(callee)});
        scope_base_ = caller_.inline_scopes.next_id().raw;
        for (InlineScope inner : callee.inline_scopes) {
            inner.parent = inner.parent.valid() ? InlineScopeId(scope_base_ + inner.parent.raw) : scope;
            caller_.inline_scopes.push(inner);
        }
        return scope;
    }
    Symbol callee_name(const Function& callee) const {
        Interner* interner = context_.module.interner;
        return interner != nullptr ? interner->intern(callee.name) : Symbol::none();
    }

    Function& caller_;
    const PassContext& context_;
    std::size_t size_;
    bool changed_ = false;
    std::uint32_t scope_base_ = 0;
    std::vector<InstId> allocas_;
    SideMap<FuncId, std::uint32_t> call_counts_;
    Replacements replacements_;
};

bool has_calls(const Function& function) {
    for (const BlockId block : function.layout) {
        for (const InstId id : function.blocks[block].insts) {
            if (function.insts[id].op == Op::Call) return true;
        }
    }
    return false;
}

}  // namespace

bool run_inline(Function& function, const PassContext& context) {
    return has_calls(function) && Inliner(function, context).run();
}

}  // namespace ockc::opt
