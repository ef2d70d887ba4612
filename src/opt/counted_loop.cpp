#include "opt/counted_loop.hpp"

#include <utility>

#include "ir/names.hpp"
#include "opt/edit.hpp"

namespace ockc::opt {

using namespace ir;

LoopShapes::LoopShapes(const Function& function, const Cfg& cfg, const Loops& loops)
    : function_(function), cfg_(cfg), loops_(loops), home_(function.values.size()), has_inner_(loops.all().size()) {
    for (const BlockId block : cfg.rpo()) {
        for (const ValueId param : function.blocks[block].params)
            home_.set(param, block);
        for (const InstId id : function.blocks[block].insts) {
            for (const ValueId result : function.insts[id].results)
                home_.set(result, block);
        }
    }
    for (const Loop& loop : loops.all()) {
        if (loop.parent.valid()) has_inner_[loop.parent.raw] = true;
    }
}

bool LoopShapes::is_outside(LoopId id, ValueId value) const {
    return !loops_.contains(id, home_[value]);
}

std::size_t LoopShapes::size(LoopId id) const {
    std::size_t count = 0;
    for (const BlockId block : loops_[id].blocks) {
        for (const InstId inst : function_.blocks[block].insts)
            count += function_.insts[inst].op != Op::Const ? 1 : 0;
    }
    return count;
}

bool LoopShapes::is_plain(LoopId id) const {
    for (const BlockId block : loops_[id].blocks) {
        for (const InstId inst : function_.blocks[block].insts) {
            const Op op = function_.insts[inst].op;
            if (op == Op::Call || op_info(op).effect == Effect::Convergent) return false;
        }
    }
    return true;
}

std::optional<LessThan> less_than(const Function& function, ValueId condition, bool truth) {
    const Instruction* compare = function.def(condition);
    if (compare == nullptr || compare->op != Op::Icmp || !is_int(compare->type)) return std::nullopt;
    LessThan test{compare->args[0], compare->args[1], false};
    const IntCond cond = truth ? compare->int_cond() : invert(compare->int_cond());
    if (cond == IntCond::Ugt || cond == IntCond::Sgt) std::swap(test.value, test.bound);
    test.is_signed = cond == IntCond::Slt || cond == IntCond::Sgt;
    const bool is_less = test.is_signed || cond == IntCond::Ult || cond == IntCond::Ugt;
    return is_less ? std::optional(test) : std::nullopt;
}

std::optional<CountedLoop> LoopShapes::counted(LoopId id) const {
    const Loop& loop = loops_[id];
    if (has_inner_[id.raw] || loop.latches.size() != 1 || !is_plain(id)) return std::nullopt;
    CountedLoop out;
    out.header = loop.header;
    out.latch = loop.latches[0];
    for (const BlockId pred : cfg_.preds(loop.header)) {
        if (pred == out.latch) continue;
        if (out.preheader.valid() || function_.terminator(pred).op != Op::Jump) return std::nullopt;
        out.preheader = pred;
    }
    const Instruction& branch = function_.terminator(out.latch);
    if (!out.preheader.valid() || branch.op != Op::Br) return std::nullopt;
    out.stay = branch.targets[0].block == loop.header ? 0 : 1;
    if (branch.targets[out.stay].block != loop.header || loops_.contains(id, branch.targets[1 - out.stay].block))
        return std::nullopt;
    const auto test = less_than(function_, branch.args[0], out.stay == 0);
    if (!test || !is_outside(id, test->bound)) return std::nullopt;
    out.next = test->value;
    out.bound = test->bound;
    out.is_signed = test->is_signed;
    const Instruction* sum = function_.def(out.next);
    if (sum == nullptr || sum->op != Op::Iadd || type_bits(sum->type) > 64 || !is_constant(function_, sum->args[1], 1)) return std::nullopt;
    out.counter = sum->args[0];
    const Value& param = function_.values[out.counter];
    if (param.inst.valid() || param.block != loop.header) return std::nullopt;
    out.index = param.index;
    if (branch.targets[out.stay].args[out.index] != out.next) return std::nullopt;
    out.start = function_.terminator(out.preheader).targets[0].args[out.index];
    return out;
}

}  // namespace ockc::opt
