// The rows of machine_floats.def: each is one PTX form with its modifiers written out. Under fast_math, division and
// square root of f32 are approximate too.
#include "isel/selector.hpp"

namespace ockc::isel {

namespace {

constexpr ptx::Form kMachineForms[] = {
#define OCKC_MACHINE_FLOAT(name, text, arity, kind, types, form, doc) ptx::Form::form,
#include "ir/machine_floats.def"
};

ptx::Round ptx_round(ir::FloatRounding rounding) {
    switch (rounding) {
        case ir::FloatRounding::Rn: return ptx::Round::Rn;
        case ir::FloatRounding::Rz: return ptx::Round::Rz;
        case ir::FloatRounding::Rm: return ptx::Round::Rm;
        case ir::FloatRounding::Rp: return ptx::Round::Rp;
    }
    OCKC_UNREACHABLE("rounding");
}

}  // namespace

void Selector::machine_float(const ir::Instruction& inst) {
    const ir::MachineFloat what = inst.machine_float();
    const auto& args = inst.args;
    const ptx::Form form = kMachineForms[static_cast<std::size_t>(what.op)];
    const ptx::Type type = float_type(inst.type);
    const Operand to = r(result(inst));
    Instr& instr = args.size() == 1   ? emit(form, type, {to, src(args[0])})
                   : args.size() == 2 ? emit(form, type, {to, src(args[0]), src(args[1])})
                                      : emit(form, type, {to, src(args[0]), src(args[1]), src(args[2])});
    if (ir::machine_float_info(what.op).kind != ir::MachineFloatKind::Approx) {
        instr.mods.round = ptx_round(what.rounding);
    }
    instr.mods.ftz = what.ftz;
    instr.mods.sat = what.sat;
}

bool Selector::approximate_f32(const ir::Instruction& inst, Form form) {
    if (!context_.options.fast_math || inst.type != ir::Type::F32) return false;
    const Operand to = r(result(inst));
    Instr& instr = inst.args.size() == 1 ? emit(form, ptx::Type::F32, {to, src(inst.args[0])})
                                         : emit(form, ptx::Type::F32, {to, src(inst.args[0]), src(inst.args[1])});
    instr.mods.ftz = true;
    return true;
}

}  // namespace ockc::isel
