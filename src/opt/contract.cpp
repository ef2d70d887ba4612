// Makes one fma of a multiplication and an addition, as nvcc does by default. The rule: every fadd or fsub
// (f32, f64) with an operand that is an fmul becomes an fma, whether or not the product has other uses (those
// keep the fmul); when both operands are products, the first one goes in. So the result of a * b + c does not
// depend on what else the program does with a * b.
//   a * b + c -> fma(a, b, c)    a * b - c -> fma(a, b, -c)    c - a * b -> fma(-a, b, c)
#include <vector>

#include "opt/edit.hpp"
#include "opt/pass.hpp"

namespace ockc::opt {

using namespace ir;

namespace {

const Instruction* product(const Function& function, ValueId value) {
    const Instruction* def = function.def(value);
    return def != nullptr && def->op == Op::Fmul ? def : nullptr;
}

class Contract {
  public:
    explicit Contract(Function& function) : function_(function) {}

    bool run() {
        for (const BlockId block : function_.layout) {
            out_.clear();
            std::vector<InstId>& insts = function_.blocks[block].insts;
            for (const InstId id : insts) {
                visit(id);
                out_.push_back(id);
            }
            if (out_.size() != insts.size()) insts = out_;
        }
        return changed_;
    }

  private:
    void visit(InstId id) {
        const Instruction& found = function_.insts[id];
        if ((found.op != Op::Fadd && found.op != Op::Fsub) ||
            (found.type != Type::F32 && found.type != Type::F64))
            return;
        const Instruction inst = found;  // a copy: what is made in front of it may move it
        const bool subtract = inst.op == Op::Fsub;
        if (const Instruction* first = product(function_, inst.args[0])) {
            const ValueId x = first->args[0];
            const ValueId y = first->args[1];
            become_fma(id, x, y, subtract ? negated(inst.args[1], inst) : inst.args[1]);
        } else if (const Instruction* second = product(function_, inst.args[1])) {
            const ValueId x = second->args[0];
            const ValueId y = second->args[1];
            become_fma(id, subtract ? negated(x, inst) : x, y, inst.args[0]);
        }
    }

    ValueId negated(ValueId value, const Instruction& like) {
        const InstId made = make_inst(function_, Op::Fneg, like.type, like.type, {value}, like);
        out_.push_back(made);
        return function_.insts[made].result();
    }

    void become_fma(InstId id, ValueId a, ValueId b, ValueId c) {
        Instruction& inst = function_.insts[id];
        inst.op = Op::Fma;
        inst.args = {a, b, c};
        changed_ = true;
    }

    Function& function_;
    std::vector<InstId> out_;
    bool changed_ = false;
};

}  // namespace

bool run_contract(Function& function, const PassContext& context) {
    return context.options.fmad && Contract(function).run();
}

}  // namespace ockc::opt
