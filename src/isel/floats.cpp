// Floats. f32 and f64 are the machine's; f16 and bf16 where the target computes in them, else exactly through
// f32 (24 bits are enough for one correctly rounded +, -, *, / or square root of 11 or 8 bits). Rounding is
// always written out.
#include "isel/selector.hpp"

namespace ockc::isel {

namespace {

using ir::Op;
using VT = ir::Type;
using PT = ptx::Type;

bool is_half(VT type) {
    return type == VT::F16 || type == VT::BF16;
}

ptx::Cmp comparison(ir::FloatCond cond) {
    using ir::FloatCond;
    switch (cond) {
        case FloatCond::Oeq: return ptx::Cmp::Eq;
        case FloatCond::Une: return ptx::Cmp::Neu;
        case FloatCond::Olt: return ptx::Cmp::Lt;
        case FloatCond::Ole: return ptx::Cmp::Le;
        case FloatCond::Ogt: return ptx::Cmp::Gt;
        case FloatCond::Oge: return ptx::Cmp::Ge;
        case FloatCond::Ord: return ptx::Cmp::Num;
        case FloatCond::Uno: return ptx::Cmp::Nan;
        case FloatCond::Ueq: return ptx::Cmp::Equ;
        case FloatCond::One: return ptx::Cmp::Ne;
        case FloatCond::Ult: return ptx::Cmp::Ltu;
        case FloatCond::Ule: return ptx::Cmp::Leu;
        case FloatCond::Ugt: return ptx::Cmp::Gtu;
        case FloatCond::Uge: return ptx::Cmp::Geu;
    }
    OCKC_UNREACHABLE("float condition");
}

}  // namespace

bool Selector::native(VT type, Form form) const {
    ptx::Mods mods;
    mods.type = float_type(type);
    return ptx::target_info(context_.options.target).sm >= ptx::form_floor(form, mods).sm;
}

ptx::Operand Selector::as_f32(ir::ValueId value) {
    const VT type = in_.type_of(value);
    if (type == VT::F32) return src(value);
    const Reg out = fresh(RegClass::F32);
    if (type == VT::F16) {
        convert(out, PT::F32, r(use(value)), PT::F16);
    } else {  // a bf16 is the upper half of an f32
        const Reg zero = fresh(RegClass::B16);
        copy(zero, imm(0));
        const Reg bits = fresh(RegClass::B32);
        emit(Form::MovPack, PT::B32, {r(bits), Operand::list(out_.new_list({r(zero), r(use(value))}))});
        emit(Form::Mov, PT::B32, {r(out), r(bits)});
    }
    return r(out);
}

void Selector::to_half(Reg to, VT type, const Operand& f32) {
    if (type == VT::F16) {
        convert(to, PT::F16, f32, PT::F32, ptx::Round::Rn);
        return;
    }
    if (ptx::target_info(context_.options.target).sm >= 80) {
        convert(to, PT::BF16, f32, PT::F32, ptx::Round::Rn);
        return;
    }
    // To nearest, ties to even: add 0x7fff plus the lowest kept bit, keep the upper half. NaN becomes the
    // canonical one.
    const Reg bits = fresh(RegClass::B32);
    emit(Form::Mov, PT::B32, {r(bits), f32});
    const Reg low_bit = emit_to(RegClass::B32, Form::Bfe, PT::U32, {r(bits), imm(16), imm(1)});
    const Reg bias = emit_to(RegClass::B32, Form::AddI, PT::S32, {r(low_bit), imm(0x7FFF)});
    const Reg sum = emit_to(RegClass::B32, Form::AddI, PT::S32, {r(bits), r(bias)});
    const Reg is_nan = fresh(RegClass::Pred);
    compare(is_nan, ptx::Cmp::Nan, PT::F32, f32, f32);
    const Reg chosen = emit_to(RegClass::B32, Form::Selp, PT::B32, {imm(0x7FFF0000), r(sum), r(is_nan)});
    const Reg upper = emit_to(RegClass::B32, Form::Shr, PT::U32, {r(chosen), imm(16)});
    convert(to, PT::U16, r(upper), PT::U32);
}

void Selector::float_binary(const ir::Instruction& inst, Form form) {
    if (!is_half(inst.type) || native(inst.type, form)) {
        Instr& instr =
            emit(form, float_type(inst.type), {r(result(inst)), src(inst.args[0]), src(inst.args[1])});
        instr.mods.round = ptx::Round::Rn;
        return;
    }
    if (native(inst.type, Form::Fma)) return bf16_by_fma(inst, form);
    const Operand a = as_f32(inst.args[0]);
    const Reg exact = emit_to(RegClass::F32, form, PT::F32, {a, as_f32(inst.args[1])});
    current_.back().mods.round = ptx::Round::Rn;
    to_half(result(inst), inst.type, r(exact));
}

// sm_80 has fma.bf16 only: a * 1 + b, b * -1 + a, a * b + -0. Each has the one rounding and the zeros' signs of the
// operation itself.
void Selector::bf16_by_fma(const ir::Instruction& inst, Form form) {
    const auto constant = [&](std::int64_t bits) {
        const Reg out = fresh(RegClass::Half);
        emit(Form::Mov, PT::B16, {r(out), imm(bits)});
        return r(out);
    };
    const Operand a = src(inst.args[0]), b = src(inst.args[1]);
    const Operand to = r(result(inst));
    Instr& instr = form == Form::AddF   ? emit(Form::Fma, PT::BF16, {to, a, constant(0x3F80), b})
                   : form == Form::SubF ? emit(Form::Fma, PT::BF16, {to, b, constant(0xBF80), a})
                                        : emit(Form::Fma, PT::BF16, {to, a, b, constant(0x8000)});
    instr.mods.round = ptx::Round::Rn;
}

void Selector::fused(const ir::Instruction& inst) {
    if (is_half(inst.type) && !native(inst.type, Form::Fma)) return fused_bf16(inst);
    Instr& instr = emit(Form::Fma, float_type(inst.type),
                        {r(result(inst)), src(inst.args[0]), src(inst.args[1]), src(inst.args[2])});
    instr.mods.round = ptx::Round::Rn;
}

// In f64, where the product is exact and the sum is rounded to odd: toward zero, and the last bit set when
// the sum rounded down differs from the sum rounded up. Rounding that once more, to 8 bits, gives the correct
// result.
void Selector::fused_bf16(const ir::Instruction& inst) {
    std::vector<Operand> args;
    for (const ir::ValueId arg : inst.args) {
        const Reg wide = fresh(RegClass::F64);
        convert(wide, PT::F64, as_f32(arg), PT::F32);
        args.push_back(r(wide));
    }
    const auto sum = [&](ptx::Round round) {
        const Reg out = emit_to(RegClass::F64, Form::Fma, PT::F64, {args[0], args[1], args[2]});
        current_.back().mods.round = round;
        return out;
    };
    const Reg toward_zero = sum(ptx::Round::Rz);
    const Reg lost = fresh(RegClass::Pred);
    const Reg down = sum(ptx::Round::Rm);
    compare(lost, ptx::Cmp::Neu, PT::F64, r(down), r(sum(ptx::Round::Rp)));
    const Reg bits = fresh(RegClass::B64);
    emit(Form::Mov, PT::B64, {r(bits), r(toward_zero)});
    const Reg sticky = emit_to(RegClass::B64, Form::Selp, PT::B64, {imm(1), imm(0), r(lost)});
    const Reg odd_bits = emit_to(RegClass::B64, Form::Or, PT::B64, {r(bits), r(sticky)});
    const Reg odd = fresh(RegClass::F64);
    emit(Form::Mov, PT::B64, {r(odd), r(odd_bits)});
    to_half(result(inst), inst.type, rounded_to_odd(r(odd)));
}

ptx::Operand Selector::with_sticky_bit(Reg f32, Reg lost) {
    const Reg bits = fresh(RegClass::B32);
    emit(Form::Mov, PT::B32, {r(bits), r(f32)});
    const Reg sticky = emit_to(RegClass::B32, Form::Selp, PT::B32, {imm(1), imm(0), r(lost)});
    const Reg all = emit_to(RegClass::B32, Form::Or, PT::B32, {r(bits), r(sticky)});
    const Reg out = fresh(RegClass::F32);
    emit(Form::Mov, PT::B32, {r(out), r(all)});
    return r(out);
}

ptx::Operand Selector::rounded_to_odd(const Operand& f64) {
    const Reg toward_zero = fresh(RegClass::F32);
    convert(toward_zero, PT::F32, f64, PT::F64, ptx::Round::Rz);
    const Reg back = fresh(RegClass::F64);
    convert(back, PT::F64, r(toward_zero), PT::F32);
    const Reg lost = fresh(RegClass::Pred);
    compare(lost, ptx::Cmp::Neu, PT::F64, r(back), f64);
    return with_sticky_bit(toward_zero, lost);
}

// Under fast_math, division and square root of f32 are approximate.
bool Selector::approximate_f32(const ir::Instruction& inst, Form form) {
    if (!context_.options.fast_math || inst.type != VT::F32) return false;
    const Operand to = r(result(inst));
    Instr& instr = inst.args.size() == 1 ? emit(form, PT::F32, {to, src(inst.args[0])})
                                         : emit(form, PT::F32, {to, src(inst.args[0]), src(inst.args[1])});
    instr.mods.ftz = true;
    return true;
}

// 1 / b of f32 and f64 has an instruction of its own, rounded as the quotient is.
bool Selector::reciprocal(const ir::Instruction& inst) {
    const ir::Instruction* one = constant_def(inst.args[0]);
    const std::uint64_t bits = inst.type == VT::F32 ? 0x3F80'0000u : 0x3FF0'0000'0000'0000u;
    if (is_half(inst.type) || one == nullptr || one->imm != bits) return false;
    emit(Form::Rcp, float_type(inst.type), {r(result(inst)), src(inst.args[1])}).mods.round = ptx::Round::Rn;
    return true;
}

void Selector::divide(const ir::Instruction& inst) {
    if (approximate_f32(inst, Form::DivFull)) return;
    if (reciprocal(inst)) return;
    const bool half = is_half(inst.type);
    const Operand a = half ? as_f32(inst.args[0]) : src(inst.args[0]);
    const Operand b = half ? as_f32(inst.args[1]) : src(inst.args[1]);
    const Reg to = half ? fresh(RegClass::F32) : result(inst);
    Instr& instr = emit(Form::DivF, half ? PT::F32 : float_type(inst.type), {r(to), a, b});
    instr.mods.round = ptx::Round::Rn;
    if (half) to_half(result(inst), inst.type, r(to));
}

void Selector::square_root(const ir::Instruction& inst) {
    if (approximate_f32(inst, Form::SqrtApprox)) return;
    const bool half = is_half(inst.type);
    const Operand a = half ? as_f32(inst.args[0]) : src(inst.args[0]);
    const Reg to = half ? fresh(RegClass::F32) : result(inst);
    Instr& instr = emit(Form::Sqrt, half ? PT::F32 : float_type(inst.type), {r(to), a});
    instr.mods.round = ptx::Round::Rn;
    if (half) to_half(result(inst), inst.type, r(to));
}

// The remainder is exact in every type; that of two halves, taken in f32, is a value of their type.
void Selector::float_remainder(const ir::Instruction& inst) {
    if (inst.type == VT::F32) return library_call(inst, LibraryFunction::FremF32);
    if (inst.type == VT::F64) return library_call(inst, LibraryFunction::FremF64);
    const Operand a = as_f32(inst.args[0]);
    const Operand b = as_f32(inst.args[1]);
    const Reg out = fresh(RegClass::F32);
    call_library(LibraryFunction::FremF32, {{a, VT::F32, {}}, {b, VT::F32, {}}}, {{r(out), VT::F32, {}}});
    to_half(result(inst), inst.type, r(out));
}

// -------------------------------------------------------------------------------------------------------------
// signs

// Is the value read by arithmetic only, where the bits of a NaN do not matter? Only then may neg and abs be
// used: on a NaN they give the canonical NaN, while Rust's negation flips the sign bit of any value.
bool Selector::only_arithmetic_uses(ir::ValueId value) const {
    return !sees_bits_[value];
}

void Selector::sign_op(const ir::Instruction& inst) {
    const bool negate = inst.op == Op::Fneg;
    const Form form = negate ? Form::NegF : Form::AbsF;
    const bool arithmetic = only_arithmetic_uses(inst.result());
    if (arithmetic && !is_half(inst.type)) {
        emit(form, float_type(inst.type), {r(result(inst)), src(inst.args[0])});
        return;
    }
    const std::uint32_t bits = ir::type_bits(inst.type);
    const PT type = bits == 16 ? PT::B16 : bits == 32 ? PT::B32 : PT::B64;
    const std::uint64_t sign = std::uint64_t{1} << (bits - 1);
    const auto mask = static_cast<std::int64_t>(negate ? sign : sign - 1);
    emit(negate ? Form::Xor : Form::And, type, {r(result(inst)), r(use(inst.args[0])), imm(mask)});
}

void Selector::copy_sign(const ir::Instruction& inst) {
    if (!is_half(inst.type)) {  // PTX names the sign first
        emit(Form::Copysign, float_type(inst.type), {r(result(inst)), src(inst.args[1]), src(inst.args[0])});
        return;
    }
    const Reg magnitude = emit_to(RegClass::Half, Form::And, PT::B16, {r(use(inst.args[0])), imm(0x7FFF)});
    const Reg sign = emit_to(RegClass::Half, Form::And, PT::B16, {r(use(inst.args[1])), imm(0x8000)});
    emit(Form::Or, PT::B16, {r(result(inst)), r(magnitude), r(sign)});
}

// -------------------------------------------------------------------------------------------- order and
// whole numbers

void Selector::min_max(const ir::Instruction& inst, Form form) {
    if (!is_half(inst.type) || native(inst.type, form)) {
        emit(form, float_type(inst.type), {r(result(inst)), src(inst.args[0]), src(inst.args[1])});
        return;
    }
    const Operand a = as_f32(inst.args[0]);
    const Reg exact = emit_to(RegClass::F32, form, PT::F32, {a, as_f32(inst.args[1])});
    to_half(result(inst), inst.type, r(exact));
}

void Selector::round_integral(const ir::Instruction& inst, ptx::Round round) {
    if (inst.type == VT::BF16) {
        const Reg whole = fresh(RegClass::F32);
        convert(whole, PT::F32, as_f32(inst.args[0]), PT::F32, round);
        to_half(result(inst), inst.type, r(whole));
        return;
    }
    const PT type = float_type(inst.type);
    convert(result(inst), type, src(inst.args[0]), type, round);
}

void Selector::compare_floats(const ir::Instruction& inst) {
    const bool through_f32 = is_half(inst.type) && !native(inst.type, Form::Setp);
    const Operand a = through_f32 ? as_f32(inst.args[0]) : src(inst.args[0]);
    const Operand b = through_f32 ? as_f32(inst.args[1]) : src(inst.args[1]);
    compare(result(inst), comparison(inst.float_cond()), through_f32 ? PT::F32 : float_type(inst.type), a, b);
}

}  // namespace ockc::isel
