// 64-bit integer arithmetic on values that are known to be small is done in 32 bits: additions, subtractions,
// products, divisions, bit operations, shifts and comparisons of zero-extended 32-bit values whose result
// still fits. GPUs have 32-bit integer units; a 64-bit operation takes two to many of their instructions, a
// division some seventy. Products whose result needs 64 bits stay zext * zext, and scaled offsets of
// addresses stay zext << k: isel has mul.wide for both.
//
// One sweep in reverse postorder: an operand is narrow when it is a zext of an i32 (or less), a constant
// below 2^32, or has a range that says so and was narrowed itself. Ranges come from facts.hpp without branch
// facts.
#include <algorithm>
#include <vector>

#include "ir/analysis/cfg.hpp"
#include "ir/analysis/uses.hpp"
#include "ir/names.hpp"
#include "opt/edit.hpp"
#include "opt/facts.hpp"
#include "opt/pass.hpp"

namespace ockc::opt {

using namespace ir;

namespace {

constexpr std::uint64_t kMax32 = 0xFFFF'FFFFu;

class Narrow {
  public:
    explicit Narrow(Function& function)
        : function_(function), uses_(function), facts_(function), pool_(function) {}

    bool run() {
        const Cfg cfg(function_);
        for (const BlockId block : cfg.rpo()) {
            out_.clear();
            const std::vector<InstId> insts = function_.blocks[block].insts;
            for (const InstId id : insts)
                visit(id);
            function_.blocks[block].insts = out_;
        }
        replacements_.apply(function_);
        pool_.place();
        return changed_;
    }

  private:
    void visit(InstId id) {
        for_each_use(function_.insts[id], [&](ValueId& value) { value = replacements_.resolve(value); });
        const Instruction inst = function_.insts[id];
        if (inst.op == Op::Trunc && narrow_trunc(inst)) return;
        if (inst.type == Type::I64 && narrow_op(inst)) return;
        out_.push_back(id);
    }

    // The i32 that zero-extends to the value, if there is one at hand.
    ValueId low_half(ValueId value) {
        const Instruction* def = function_.def(value);
        if (def == nullptr) return ValueId::none();
        if (def->op == Op::Const)
            return def->imm <= kMax32 ? pool_.get(Type::I32, def->imm) : ValueId::none();
        if (def->op != Op::Zext || function_.type_of(value) != Type::I64) return ValueId::none();
        const ValueId from = def->args[0];
        if (function_.type_of(from) == Type::I32) return from;
        if (type_bits(function_.type_of(from)) > 32 || function_.type_of(from) == Type::I1)
            return ValueId::none();
        return emit(Op::Zext, Type::I32, {from}, Instruction(*def));
    }

    ValueId emit(Op op, Type type, std::initializer_list<ValueId> args, const Instruction& like,
                 std::uint16_t aux = 0) {
        const Type result = op_info(op).result == ResultRule::Bool ? Type::I1 : type;
        const InstId made = make_inst(function_, op, type, result, args, like);
        function_.insts[made].aux = aux;
        out_.push_back(made);
        return function_.insts[made].result();
    }

    void replace(const Instruction& inst, ValueId value) {
        replacements_.replace(inst.result(), value);
        changed_ = true;
    }

    // Operations whose low 32 bits depend on the operands' low 32 bits only, when the result fits into 32
    // bits.
    static bool keeps_low_half(Op op) {
        switch (op) {
            case Op::Iadd:
            case Op::Isub:
            case Op::Imul:
            case Op::And:
            case Op::Or:
            case Op::Xor: return true;
            default: return false;
        }
    }
    // Operations that see the same numbers in 32 bits when both operands fit.
    static bool same_in_32(Op op) {
        switch (op) {
            case Op::Udiv:
            case Op::Urem:
            case Op::Umin:
            case Op::Umax: return true;
            default: return false;
        }
    }

    bool narrow_op(const Instruction& inst) {
        if (inst.op == Op::Icmp) return narrow_compare(inst);
        const bool shift = inst.op == Op::Shl || inst.op == Op::Lshr;
        if (!keeps_low_half(inst.op) && !same_in_32(inst.op) && !shift) return false;
        const bool may_grow = keeps_low_half(inst.op) || inst.op == Op::Shl;
        if (may_grow && facts_.range(inst.result()).max > kMax32) return false;
        if (!at_hand(inst.args[0]) || (!shift && !at_hand(inst.args[1]))) return false;
        if (constant_def(function_, inst.args[0]) != nullptr &&
            constant_def(function_, inst.args[1]) != nullptr)
            return false;
        if ((inst.op == Op::Shl || inst.op == Op::Imul) && only_offsets(inst.result())) return false;
        if (shift) {  // amounts from 32 up mean something else there
            const Instruction* amount = constant_def(function_, inst.args[1]);
            if (amount == nullptr || amount->imm >= 32) return false;
        }
        const ValueId a = low_half(inst.args[0]);
        const ValueId b = shift ? inst.args[1] : low_half(inst.args[1]);
        const ValueId low = emit(inst.op, Type::I32, {a, b}, inst);
        replace(inst, emit(Op::Zext, Type::I64, {low}, inst));
        return true;
    }

    bool only_offsets(ValueId value) const {
        const auto users = uses_.of(value);
        return std::all_of(users.begin(), users.end(),
                           [&](InstId user) { return function_.insts[user].op == Op::PtrAdd; });
    }

    bool at_hand(ValueId value) const {
        const Instruction* def = function_.def(value);
        if (def == nullptr) return false;
        if (def->op == Op::Const) return def->imm <= kMax32;
        if (def->op != Op::Zext) return false;
        const Type from = function_.type_of(def->args[0]);
        return type_bits(from) <= 32 && from != Type::I1;
    }

    // Both sides fit: compare as unsigned 32-bit numbers.
    bool narrow_compare(const Instruction& inst) {
        if (!at_hand(inst.args[0]) || !at_hand(inst.args[1])) return false;
        IntCond cond = inst.int_cond();
        if (is_signed_cond(cond)) {
            cond = static_cast<IntCond>(static_cast<int>(cond) - static_cast<int>(IntCond::Slt) +
                                        static_cast<int>(IntCond::Ult));
        }
        const ValueId a = low_half(inst.args[0]);
        const ValueId b = low_half(inst.args[1]);
        replace(inst, emit(Op::Icmp, Type::I32, {a, b}, inst, static_cast<std::uint8_t>(cond)));
        return true;
    }

    // trunc.i32(a op b) in 64 bits, of extended operands, is a op b in 32 bits.
    bool narrow_trunc(const Instruction& inst) {
        const Instruction* def = function_.def(inst.args[0]);
        if (inst.type != Type::I32 || def == nullptr || def->type != Type::I64 || !keeps_low_half(def->op))
            return false;
        const Instruction wide = *def;
        if (!truncates(wide.args[0]) || !truncates(wide.args[1])) return false;
        const ValueId a = truncated(wide.args[0]);
        const ValueId b = truncated(wide.args[1]);
        replace(inst, emit(wide.op, Type::I32, {a, b}, inst));
        return true;
    }
    bool truncates(ValueId value) const {
        const Instruction* def = function_.def(value);
        if (def == nullptr) return false;
        const bool extension = def->op == Op::Zext || def->op == Op::Sext;
        return def->op == Op::Const || (extension && function_.type_of(def->args[0]) == Type::I32);
    }
    ValueId truncated(ValueId value) {
        const Instruction* def = function_.def(value);
        return def->op == Op::Const ? pool_.get(Type::I32, def->imm) : def->args[0];
    }

    Function& function_;
    Uses uses_;  // as they were before the pass
    Facts facts_;
    ConstantPool pool_;
    Replacements replacements_;
    std::vector<InstId> out_;
    bool changed_ = false;
};

}  // namespace

bool run_narrow(Function& function, const PassContext&) {
    return Narrow(function).run();
}

}  // namespace ockc::opt
