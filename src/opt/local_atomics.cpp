// Atomic accesses to a thread's own stack become plain ones: nobody else sees that memory, and the hardware has no atomics there.
// In: pointers whose origin is plain, as far as inlining and infer_spaces have made it so.
#include "opt/edit.hpp"
#include "opt/pass.hpp"

namespace ockc::opt {

namespace {

using ir::AtomicOp;
using ir::InstId;
using ir::Instruction;
using ir::Op;
using ir::Type;
using ir::ValueId;

bool is_on_stack(const ir::Function& function, ValueId pointer) {
    while (function.type_of(pointer) != Type::PtrLocal) {
        const Instruction* def = function.def(pointer);
        const bool passes_on = def != nullptr && (def->op == Op::SpaceCast || def->op == Op::PtrAdd || def->op == Op::Nonnull);
        if (!passes_on) return false;
        pointer = def->args[0];
    }
    return true;
}

// Makes the instructions for one access, behind each other.
class PlainAccess {
  public:
    PlainAccess(ir::Function& function, ConstantPool& constants, InstId atomic, std::vector<InstId>& out)
        : function_(function), constants_(constants), atomic_(atomic), like_(function.insts[atomic]), out_(out) {}

    void make() {
        switch (like_.op) {
            case Op::AtomicLoad: return become_load();
            case Op::AtomicStore:
                access(Op::Store);
                out_.push_back(atomic_);
                return;
            case Op::AtomicRmw: {
                become_load();
                return store(changed(old(), like_.args[1]));
            }
            case Op::AtomicCas: {
                become_load();
                return store(select(compare(ir::IntCond::Eq, old(), like_.args[1]), like_.args[2], old()));
            }
            default: OCKC_UNREACHABLE("no atomic access");
        }
    }

  private:
    ValueId old() const { return function_.insts[atomic_].result(); }

    // The instruction keeps its result: the value before the change.
    void become_load() {
        access(Op::Load);
        function_.insts[atomic_].args = {like_.args[0]};
        out_.push_back(atomic_);
    }
    void access(Op op) {
        Instruction& inst = function_.insts[atomic_];
        inst.op = op;
        inst.aux = 0;
        inst.memory = {ir::type_bytes(inst.type), false, false};
    }

    ValueId changed(ValueId old, ValueId value) {
        switch (like_.atomic().op) {
            case AtomicOp::Exchange: return value;
            case AtomicOp::Add: return binary(Op::Iadd, old, value);
            case AtomicOp::Fadd: return binary(Op::Fadd, old, value);
            case AtomicOp::And: return binary(Op::And, old, value);
            case AtomicOp::Or: return binary(Op::Or, old, value);
            case AtomicOp::Xor: return binary(Op::Xor, old, value);
            case AtomicOp::Smin: return binary(Op::Smin, old, value);
            case AtomicOp::Smax: return binary(Op::Smax, old, value);
            case AtomicOp::Umin: return binary(Op::Umin, old, value);
            case AtomicOp::Umax: return binary(Op::Umax, old, value);
            case AtomicOp::Inc: return select(compare(ir::IntCond::Uge, old, value), number(0), binary(Op::Iadd, old, number(1)));
            case AtomicOp::Dec: {
                const ValueId wraps = select(compare(ir::IntCond::Ugt, old, value), value, binary(Op::Isub, old, number(1)));
                return select(compare(ir::IntCond::Eq, old, number(0)), value, wraps);
            }
        }
        OCKC_UNREACHABLE("atomic operation");
    }

    ValueId number(std::uint64_t value) { return constants_.get(like_.type, value); }
    ValueId append(InstId id) {
        out_.push_back(id);
        return function_.insts[id].result();
    }
    ValueId binary(Op op, ValueId a, ValueId b) { return append(make_inst(function_, op, like_.type, like_.type, {a, b}, like_)); }
    ValueId select(ValueId condition, ValueId a, ValueId b) {
        return append(make_inst(function_, Op::Select, like_.type, like_.type, {condition, a, b}, like_));
    }
    ValueId compare(ir::IntCond cond, ValueId a, ValueId b) {
        const InstId id = make_inst(function_, Op::Icmp, like_.type, Type::I1, {a, b}, like_);
        function_.insts[id].aux = static_cast<std::uint16_t>(cond);
        return append(id);
    }
    void store(ValueId value) {
        const InstId id = make_inst(function_, Op::Store, like_.type, Type::Void, {like_.args[0], value}, like_);
        function_.insts[id].memory = {ir::type_bytes(like_.type), false, false};
        out_.push_back(id);
    }

    ir::Function& function_;
    ConstantPool& constants_;
    InstId atomic_;
    const Instruction like_;   // as it was
    std::vector<InstId>& out_;
};

}  // namespace

bool run_local_atomics(ir::Function& function, const PassContext&) {
    bool found = false;
    for (const ir::BlockId block : function.layout) {
        for (const InstId id : function.blocks[block].insts)
            found = found || (ir::is_atomic(function.insts[id].op) && is_on_stack(function, function.insts[id].args[0]));
    }
    if (!found) return false;
    ConstantPool constants(function);
    for (const ir::BlockId block : function.layout) {
        std::vector<InstId> out;
        for (const InstId id : function.blocks[block].insts) {
            const bool own = ir::is_atomic(function.insts[id].op) && is_on_stack(function, function.insts[id].args[0]);
            if (own) PlainAccess(function, constants, id, out).make();
            else out.push_back(id);
        }
        function.blocks[block].insts = std::move(out);
    }
    constants.place();
    return true;
}

}  // namespace ockc::opt
