// Conversions between types. Float to integer saturates and gives 0 for NaN, as `as` does.
#include "isel/selector.hpp"

namespace ockc::isel {

namespace {

using ir::Op;
using VT = ir::Type;
using PT = ptx::Type;

// cvt's name for an integer type; it reads and writes the low bits of a wider register.
PT int_type(VT type, bool is_signed) {
    switch (ir::type_bits(type)) {
        case 8: return is_signed ? PT::S8 : PT::U8;
        case 16: return is_signed ? PT::S16 : PT::U16;
        case 32: return is_signed ? PT::S32 : PT::U32;
        case 64: return is_signed ? PT::S64 : PT::U64;
        default: OCKC_UNREACHABLE("integer width");
    }
}

}  // namespace

void Selector::truncate(const ir::Instruction& inst) {
    const VT from = in_.type_of(inst.args[0]);
    if (inst.type == VT::I1) {
        const std::uint32_t bits = ir::type_bits(from);
        const PT type = bits <= 16 ? PT::B16 : bits == 32 ? PT::B32 : PT::B64;
        const Reg bit = emit_to(reg_class(from), Form::And, type, {src(inst.args[0]), imm(1)});
        compare(result(inst), ptx::Cmp::Ne,
                bits <= 16   ? PT::S16
                : bits == 32 ? PT::S32
                             : PT::S64,
                r(bit), imm(0));
        return;
    }
    const Operand value = src(inst.args[0]);
    if (from == VT::I16) {  // i8 shares its register class; the upper byte may be anything
        copy(result(inst), value);
        return;
    }
    const PT to = reg_class(inst.type) == RegClass::B16 ? PT::U16 : PT::U32;
    convert(result(inst), to, value, int_type(from, false));
}

void Selector::extend(const ir::Instruction& inst, bool is_signed) {
    const VT from = in_.type_of(inst.args[0]);
    const Reg to = result(inst);
    if (from == VT::I1) {
        PT type = move_type(reg_class(inst.type));
        if (type == PT::U32) type = PT::B32;
        if (type == PT::U64) type = PT::B64;
        emit(Form::Selp, type, {r(to), imm(is_signed ? -1 : 1), imm(0), plain_predicate(inst.args[0])});
        return;
    }
    if (from == VT::I8 && inst.type == VT::I16)
        return copy(to, is_signed ? sext8(inst.args[0]) : zext8(inst.args[0]));
    const bool clean =
        from == VT::I8 && extension(inst.args[0]) == (is_signed ? Extension::Sign : Extension::Zero);
    const PT from_type = clean ? (is_signed ? PT::S16 : PT::U16) : int_type(from, is_signed);
    convert(to, int_type(inst.type, is_signed), r(use(inst.args[0])), from_type);
}

void Selector::float_to_float(const ir::Instruction& inst) {
    const VT from = in_.type_of(inst.args[0]);
    const Reg to = result(inst);
    const bool bf16 = from == VT::BF16 || inst.type == VT::BF16;
    if (!bf16) {
        const bool narrows = ir::type_bits(inst.type) < ir::type_bits(from);
        convert(to, float_type(inst.type), src(inst.args[0]), float_type(from),
                narrows ? ptx::Round::Rn : ptx::Round::None);
        return;
    }
    if (from == VT::F64) {
        if (ptx::target_info(context_.options.target).sm >= 90) {
            convert(to, PT::BF16, src(inst.args[0]), PT::F64, ptx::Round::Rn);
        } else {
            to_half(to, VT::BF16, rounded_to_odd(src(inst.args[0])));
        }
        return;
    }
    const Operand middle = as_f32(inst.args[0]);  // exact
    if (inst.type == VT::BF16 || inst.type == VT::F16) return to_half(to, inst.type, middle);
    if (inst.type == VT::F32) return copy(to, middle);
    convert(to, PT::F64, middle, PT::F32);
}

// cvt gives 0 for NaN, but 1 << (width - 1) when the source is f64 or the result has 64 bits.
void Selector::float_to_int(const ir::Instruction& inst, bool is_signed) {
    const VT from = in_.type_of(inst.args[0]);
    const bool bf16 = from == VT::BF16;
    const PT from_type = bf16 ? PT::F32 : float_type(from);
    const Operand value = bf16 ? as_f32(inst.args[0]) : src(inst.args[0]);
    const PT type = int_type(inst.type, is_signed);
    const bool fix_nan = from_type == PT::F64 || ptx::type_bits(type) == 64;
    const Reg to = fix_nan ? fresh(reg_class(inst.type)) : result(inst);
    Instr& instr = convert(to, type, value, from_type, ptx::Round::Rzi);
    instr.mods.sat = ptx::type_bits(type) < 32;
    if (!fix_nan) return;
    const Reg number = fresh(RegClass::Pred);
    compare(number, ptx::Cmp::Num, from_type, value, value);
    const PT bits = ptx::type_bits(type) == 64 ? PT::B64 : ptx::type_bits(type) == 32 ? PT::B32 : PT::B16;
    emit(Form::Selp, bits, {r(result(inst)), r(to), imm(0), r(number)});
}

void Selector::int_to_float(const ir::Instruction& inst, bool is_signed) {
    const VT from = in_.type_of(inst.args[0]);
    const PT from_type = int_type(from, is_signed);
    const Operand value = r(use(inst.args[0]));
    if (inst.type != VT::BF16) {
        convert(result(inst), float_type(inst.type), value, from_type, ptx::Round::Rn);
        return;
    }
    if (ptx::target_info(context_.options.target).sm >= 90 && ir::type_bits(from) > 8) {
        convert(result(inst), PT::BF16, value, from_type, ptx::Round::Rn);
        return;
    }
    const Reg middle = fresh(RegClass::F32);
    if (ir::type_bits(from) <= 16) {  // exact in f32
        convert(middle, PT::F32, value, from_type, ptx::Round::Rn);
        to_half(result(inst), inst.type, r(middle));
        return;
    }
    convert(middle, PT::F32, value, from_type, ptx::Round::Rz);
    const Reg back = fresh(reg_class(from));
    convert(back, from_type, r(middle), PT::F32, ptx::Round::Rzi);
    const Reg lost = fresh(RegClass::Pred);
    compare(lost, ptx::Cmp::Ne, from_type, r(back), value);
    to_half(result(inst), inst.type, with_sticky_bit(middle, lost));
}

void Selector::bit_cast(const ir::Instruction& inst) {
    const std::uint32_t bits = ir::type_bits(inst.type);
    const PT type = bits == 1 ? PT::Pred : bits <= 16 ? PT::B16 : bits == 32 ? PT::B32 : PT::B64;
    emit(Form::Mov, type, {r(result(inst)), r(use(inst.args[0]))});
}

void Selector::space_cast(const ir::Instruction& inst) {
    const ir::Space from = ir::ptr_space(in_.type_of(inst.args[0]));
    const ir::Space to = ir::ptr_space(inst.type);
    const Reg out = result(inst);
    if (from == to) return copy(out, src(inst.args[0]));
    const bool to_generic = to == ir::Space::Generic;
    const ptx::Space space = ptx_space(to_generic ? from : to);
    Instr& instr = emit(to_generic ? Form::Cvta : Form::CvtaTo, PT::U64, {r(out), r(use(inst.args[0]))});
    instr.mods.space = space;
}

}  // namespace ockc::isel
