// Integers of 1 to 64 bits. 8-bit values live in 16-bit registers: what looks at their upper byte extends
// them first.
#include "isel/selector.hpp"

namespace ockc::isel {

namespace {

using ir::Op;
using VT = ir::Type;
using PT = ptx::Type;

// Width in which an integer type is computed.
std::uint32_t width(VT type) {
    const std::uint32_t bits = ir::type_bits(type);
    return bits == 8 ? 16 : bits;
}
PT signed_type(VT type) {
    return width(type) == 16 ? PT::S16 : width(type) == 32 ? PT::S32 : PT::S64;
}
PT unsigned_type(VT type) {
    return width(type) == 16 ? PT::U16 : width(type) == 32 ? PT::U32 : PT::U64;
}
PT bits_type(VT type) {
    return width(type) == 16 ? PT::B16 : width(type) == 32 ? PT::B32 : PT::B64;
}

struct Comparison {
    ptx::Cmp cmp;
    bool is_signed;
    bool equality;
};
Comparison comparison(ir::IntCond cond) {
    using ir::IntCond;
    switch (cond) {
        case IntCond::Eq: return {ptx::Cmp::Eq, true, true};
        case IntCond::Ne: return {ptx::Cmp::Ne, true, true};
        case IntCond::Ult: return {ptx::Cmp::Lt, false, false};
        case IntCond::Ule: return {ptx::Cmp::Le, false, false};
        case IntCond::Ugt: return {ptx::Cmp::Gt, false, false};
        case IntCond::Uge: return {ptx::Cmp::Ge, false, false};
        case IntCond::Slt: return {ptx::Cmp::Lt, true, false};
        case IntCond::Sle: return {ptx::Cmp::Le, true, false};
        case IntCond::Sgt: return {ptx::Cmp::Gt, true, false};
        case IntCond::Sge: return {ptx::Cmp::Ge, true, false};
    }
    OCKC_UNREACHABLE("integer condition");
}
ptx::Cmp swapped(ptx::Cmp cmp) {
    if (cmp == ptx::Cmp::Lt) return ptx::Cmp::Gt;
    if (cmp == ptx::Cmp::Le) return ptx::Cmp::Ge;
    if (cmp == ptx::Cmp::Gt) return ptx::Cmp::Lt;
    if (cmp == ptx::Cmp::Ge) return ptx::Cmp::Le;
    return cmp;  // eq, ne: the same both ways
}

}  // namespace

// ------------------------------------------------------------------------------------------------ sums and
// products

// `value` as the 64-bit product of two 32-bit values: zext(x) * zext(y), zext(x) * c, zext(x) << k, and
// signed. With an addend, `to` = product + addend.
bool Selector::wide_product(const ir::Instruction& product, const ir::ValueId* addend, Reg to) {
    if (product.type != VT::I64 || (product.op != Op::Imul && product.op != Op::Shl)) return false;
    const auto extended_from = [this](ir::ValueId v, Op op) -> const ir::Instruction* {
        const ir::Instruction* def = foldable(v, op);
        return def != nullptr && in_.type_of(def->args[0]) == VT::I32 ? def : nullptr;
    };
    for (const Op op : {Op::Zext, Op::Sext}) {
        const bool is_signed = op == Op::Sext;
        const ir::Instruction* a = extended_from(product.args[0], op);
        if (a == nullptr) continue;
        std::optional<std::int64_t> factor;
        const ir::Instruction* b = nullptr;
        if (const auto c = int_constant(product.args[1])) {
            factor = static_cast<std::int64_t>(product.op == Op::Shl ? std::uint64_t{1} << (*c & 63) : *c);
            const bool fits = is_signed ? *factor >= INT32_MIN && *factor <= INT32_MAX
                                        : *factor >= 0 && *factor <= UINT32_MAX;
            if (!fits) continue;
        } else if (product.op == Op::Imul) {
            b = extended_from(product.args[1], op);
        }
        if (!factor && b == nullptr) continue;
        const Operand x = src(a->args[0]);
        const Operand y = factor ? imm(*factor) : src(b->args[0]);
        const PT type = is_signed ? PT::S32 : PT::U32;
        if (addend != nullptr) {
            emit(Form::MadWide, type, {r(to), x, y, src(*addend)});
        } else {
            emit(Form::MulWide, type, {r(to), x, y});
        }
        return true;
    }
    return false;
}

// a*b+c in one instruction where the product is used here only; a << k counts as a product in 32 bits.
bool Selector::multiply_add(const ir::Instruction& inst, ir::ValueId product, ir::ValueId addend) {
    const ir::InstId id = in_.values[product].inst;
    if (!id.valid() || !same_loop(id)) return false;
    const ir::Instruction& def = in_.insts[id];
    if (wide_product(def, &addend, result(inst))) return true;
    if (uses_[product] != 1) return false;
    if (def.op == Op::Imul && inst.type != VT::I8) {
        emit(Form::MadLo, signed_type(inst.type),
             {r(result(inst)), src(def.args[0]), src(def.args[1]), src(addend)});
        return true;
    }
    const auto amount = def.op == Op::Shl && inst.type == VT::I32 ? int_constant(def.args[1]) : std::nullopt;
    if (!amount || (*amount & 31) == 31) return false;
    emit(Form::MadLo, PT::S32,
         {r(result(inst)), src(def.args[0]), imm(std::int64_t{1} << (*amount & 31)), src(addend)});
    return true;
}

void Selector::add(const ir::Instruction& inst) {
    if (multiply_add(inst, inst.args[0], inst.args[1]) || multiply_add(inst, inst.args[1], inst.args[0]))
        return;
    simple_binary(inst, Form::AddI, true);
}

void Selector::multiply(const ir::Instruction& inst) {
    if (wide_product(inst, nullptr, result(inst))) return;
    simple_binary(inst, Form::MulLo, true);
}

// Operations whose low bits depend on the operands' low bits only.
void Selector::simple_binary(const ir::Instruction& inst, Form form, bool is_signed) {
    const PT type = is_signed ? signed_type(inst.type) : unsigned_type(inst.type);
    ir::ValueId a = inst.args[0];
    ir::ValueId b = inst.args[1];
    if (form != Form::SubI && constant_def(a) != nullptr) std::swap(a, b);
    const auto c = form == Form::SubI ? int_constant(b) : std::nullopt;
    const Operand left = src(a);
    const Operand right = src(b);
    if (c && right.value != INT64_MIN) {  // a - c as nvcc writes it
        emit(Form::AddI, type, {r(result(inst)), left, imm(-right.value)});
        return;
    }
    emit(form, type, {r(result(inst)), left, right});
}

void Selector::extended_binary(const ir::Instruction& inst, Form form, bool is_signed) {
    const PT type = is_signed ? signed_type(inst.type) : unsigned_type(inst.type);
    const Operand a = extended(inst.args[0], is_signed);
    const Operand b = extended(inst.args[1], is_signed);
    emit(form, type, {r(result(inst)), a, b});
}

void Selector::high_product(const ir::Instruction& inst, bool is_signed) {
    if (inst.type != VT::I8) return extended_binary(inst, Form::MulHi, is_signed);
    const Operand a = extended(inst.args[0], is_signed);
    const Operand b = extended(inst.args[1], is_signed);
    const Reg product = emit_to(RegClass::B16, Form::MulLo, PT::S16, {a, b});
    emit(Form::Shr, PT::U16, {r(result(inst)), r(product), imm(8)});
}

// ptxas (13.0, sm_90) widens a neg.s16 whose result is sign-extended and forgets that -(-32768) is -32768. So 16 bits are
// negated in 32 and truncated, however the negation is written; abs.s16 is the same operation on half of the values.
bool Selector::negates_16_bits(const ir::Instruction& inst) {
    if (inst.type != VT::I16) return false;
    const auto is = [this](ir::ValueId value, std::int16_t number) {
        const std::optional<std::uint64_t> known = int_constant(value);
        return known && static_cast<std::int16_t>(*known) == number;
    };
    const auto in_32_bits = [&](Form form, ir::ValueId value) {
        const Reg wide = emit_to(RegClass::B32, form, PT::S32, {as_32(value, true)});
        convert(result(inst), PT::U16, r(wide), PT::U32);
        return true;
    };
    const auto& args = inst.args;
    switch (inst.op) {
        case ir::Op::Ineg: return in_32_bits(Form::NegI, args[0]);
        case ir::Op::Iabs: return in_32_bits(Form::AbsI, args[0]);
        case ir::Op::Isub: return is(args[0], 0) && in_32_bits(Form::NegI, args[1]);
        case ir::Op::Imul: return is(args[0], -1) ? in_32_bits(Form::NegI, args[1]) : is(args[1], -1) && in_32_bits(Form::NegI, args[0]);
        default: return false;
    }
}

void Selector::negate(const ir::Instruction& inst) { emit(Form::NegI, signed_type(inst.type), {r(result(inst)), src(inst.args[0])}); }

void Selector::absolute(const ir::Instruction& inst) {
    emit(Form::AbsI, signed_type(inst.type), {r(result(inst)), extended(inst.args[0], true)});
}

// --------------------------------------------------------------------------------------------------------------
// logic

// Two floats that become halves in one register, `(b as f16) << 16 | (a as f16)` in bits, are one conversion.
bool Selector::pair_of_halves(const ir::Instruction& inst) {
    constexpr std::uint16_t kFirstTarget = 80;   // sm_80
    if (inst.op != ir::Op::Or || inst.type != VT::I32 || ptx::target_info(context_.options.target).sm < kFirstTarget) return false;
    const auto defined_by = [this](ir::ValueId value, ir::Op op) {
        const ir::Instruction* def = in_.def(value);
        return def != nullptr && def->op == op ? def : nullptr;
    };
    const auto rounded = [&](ir::ValueId word) -> const ir::Instruction* {
        const ir::Instruction* wide = defined_by(word, ir::Op::Zext);
        const ir::Instruction* bits = wide != nullptr ? defined_by(wide->args[0], ir::Op::Bitcast) : nullptr;
        const ir::Instruction* half = bits != nullptr ? defined_by(bits->args[0], ir::Op::Fcvt) : nullptr;
        return half != nullptr && ir::type_bits(half->type) == 16 && in_.type_of(half->args[0]) == VT::F32 ? half : nullptr;
    };
    for (const std::uint32_t upper : {0u, 1u}) {
        const ir::Instruction* shift = defined_by(inst.args[upper], ir::Op::Shl);
        if (shift == nullptr || int_constant(shift->args[1]) != 16) continue;
        const ir::Instruction *high = rounded(shift->args[0]), *low = rounded(inst.args[1 - upper]);
        if (high == nullptr || low == nullptr || high->type != low->type) continue;
        const auto form = ptx::form_from_words(low->type == VT::F16 ? "cvt.rn.f16x2.f32" : "cvt.rn.bf16x2.f32");
        OCKC_CHECK_MSG(form.has_value(), "no conversion of pairs");
        Instr& instr = emit(form->first, form->second.type, {r(result(inst)), r(use(high->args[0])), r(use(low->args[0]))});
        instr.mods = form->second;
        return true;
    }
    return false;
}

void Selector::logic(const ir::Instruction& inst, Form form) {
    if (pair_of_halves(inst)) return;
    ir::ValueId a = inst.args[0];
    ir::ValueId b = inst.args[1];
    if (constant_def(a) != nullptr) std::swap(a, b);
    const PT type = inst.type == VT::I1 ? PT::Pred : bits_type(inst.type);
    emit(form, type, {r(result(inst)), src(a), src(b)});
}

void Selector::logical_not(const ir::Instruction& inst) {
    const PT type = inst.type == VT::I1 ? PT::Pred : bits_type(inst.type);
    emit(Form::Not, type, {r(result(inst)), src(inst.args[0])});
}

// -------------------------------------------------------------------------------------------------------------
// shifts

// The amount modulo the width. PTX clamps large amounts, so a variable one is masked.
ptx::Operand Selector::shift_amount(ir::ValueId amount, std::uint32_t bits) {
    if (const auto c = int_constant(amount)) return imm(static_cast<std::int64_t>(*c & (bits - 1)));
    return r(emit_to(RegClass::B32, Form::And, PT::B32, {r(reg_of(amount)), imm(bits - 1)}));
}

void Selector::shift(const ir::Instruction& inst) {
    if (inst.op == Op::Shl && wide_product(inst, nullptr, result(inst))) return;
    const std::uint32_t bits = ir::type_bits(inst.type);
    const bool variable = constant_def(inst.args[1]) == nullptr;
    if (bits == 32 && variable &&
        inst.op != Op::Ashr) {  // the funnel shift takes the amount modulo 32 by itself
        const Operand value = src(inst.args[0]);
        const bool left = inst.op == Op::Shl;
        Instr& instr =
            emit(left ? Form::ShfL : Form::ShfR, PT::B32,
                 {r(result(inst)), left ? imm(0) : value, left ? value : imm(0), src(inst.args[1])});
        instr.mods.mode = ptx::Mode::Wrap;
        return;
    }
    const Operand amount = shift_amount(inst.args[1], bits);
    if (inst.op == Op::Shl) {
        emit(Form::Shl, bits_type(inst.type), {r(result(inst)), src(inst.args[0]), amount});
        return;
    }
    const bool is_signed = inst.op == Op::Ashr;
    const PT type = is_signed ? signed_type(inst.type) : unsigned_type(inst.type);
    const Operand value = extended(inst.args[0], is_signed);
    emit(Form::Shr, type, {r(result(inst)), value, amount});
}

void Selector::rotate(const ir::Instruction& inst) {
    const bool left = inst.op == Op::Rotl;
    const std::uint32_t bits = ir::type_bits(inst.type);
    if (bits == 32) {
        const Operand value = src(inst.args[0]);
        Instr& instr =
            emit(left ? Form::ShfL : Form::ShfR, PT::B32, {r(result(inst)), value, value, src(inst.args[1])});
        instr.mods.mode = ptx::Mode::Wrap;
        return;
    }
    // (a << k) | (a >> (-k mod width)), or mirrored.
    const Operand value = extended(inst.args[0], false);
    const RegClass c = reg_class(inst.type);
    const Operand amount = shift_amount(inst.args[1], bits);
    Operand rest = imm(-amount.value & (bits - 1));
    if (amount.is_reg()) {
        const Reg negative = emit_to(RegClass::B32, Form::NegI, PT::S32, {amount});
        rest = r(emit_to(RegClass::B32, Form::And, PT::B32, {r(negative), imm(bits - 1)}));
    }
    const Reg up = emit_to(c, Form::Shl, bits_type(inst.type), {value, left ? amount : rest});
    const Reg down = emit_to(c, Form::Shr, unsigned_type(inst.type), {value, left ? rest : amount});
    emit(Form::Or, bits_type(inst.type), {r(result(inst)), r(up), r(down)});
}

// ------------------------------------------------------------------------------------------------------- bit
// counting

// From a 32-bit count to the result's type.
void Selector::from_count(const ir::Instruction& inst, Reg count) {
    const Reg to = result(inst);
    switch (width(inst.type)) {
        case 16: convert(to, PT::U16, r(count), PT::U32); return;
        case 32: copy(to, r(count)); return;
        case 64: convert(to, PT::U64, r(count), PT::U32); return;
        default: OCKC_UNREACHABLE("integer width");
    }
}

void Selector::count_bits(const ir::Instruction& inst) {
    const std::uint32_t bits = ir::type_bits(inst.type);
    const bool is_64 = bits == 64;
    const PT type = is_64 ? PT::B64 : PT::B32;
    Operand value = is_64 ? src(inst.args[0]) : as_32(inst.args[0], false);
    if (inst.op == Op::Ctz) {
        const RegClass c = is_64 ? RegClass::B64 : RegClass::B32;
        if (bits < 32)
            value = r(emit_to(c, Form::Or, type, {value, imm(std::int64_t{1} << bits)}));  // a stop bit
        value = r(emit_to(c, Form::Brev, type, {value}));
    }
    const Form form = inst.op == Op::Popcnt ? Form::Popc : Form::Clz;
    const bool adjust = inst.op == Op::Clz && bits < 32;
    if (bits == 32) {
        emit(form, type, {r(result(inst)), value});
        return;
    }
    Reg count = emit_to(RegClass::B32, form, type, {value});
    if (adjust)
        count = emit_to(RegClass::B32, Form::AddI, PT::S32,
                        {r(count), imm(static_cast<std::int64_t>(bits) - 32)});
    from_count(inst, count);
}

void Selector::reverse_bits(const ir::Instruction& inst) {
    const std::uint32_t bits = ir::type_bits(inst.type);
    if (bits >= 32) {
        emit(Form::Brev, bits_type(inst.type), {r(result(inst)), src(inst.args[0])});
        return;
    }
    const Reg reversed = emit_to(RegClass::B32, Form::Brev, PT::B32, {as_32(inst.args[0], false)});
    const Reg down =
        emit_to(RegClass::B32, Form::Shr, PT::U32, {r(reversed), imm(32 - static_cast<std::int64_t>(bits))});
    from_count(inst, down);
}

void Selector::reverse_bytes(const ir::Instruction& inst) {
    switch (ir::type_bits(inst.type)) {
        case 8: return copy(result(inst), src(inst.args[0]));
        case 16: {
            const Reg swapped = emit_to(RegClass::B32, Form::Prmt, PT::B32,
                                        {as_32(inst.args[0], false), imm(0), imm(0x4401)});
            return from_count(inst, swapped);
        }
        case 32: emit(Form::Prmt, PT::B32, {r(result(inst)), src(inst.args[0]), imm(0), imm(0x0123)}); return;
        case 64: return swap_bytes(result(inst), r(use(inst.args[0])));
        default: OCKC_UNREACHABLE("integer width");
    }
}

// 64 bits: each half reversed, the halves exchanged.
void Selector::swap_bytes(Reg to, const Operand& from) {
    const Reg low = fresh(RegClass::B32);
    const Reg high = fresh(RegClass::B32);
    Operand value = from;
    if (!value.is_reg()) {
        const Reg reg = fresh(RegClass::B64);
        copy(reg, from);
        value = r(reg);
    }
    emit(Form::MovUnpack, PT::B64, {Operand::list(out_.new_list({r(low), r(high)})), value});
    const Reg new_high = emit_to(RegClass::B32, Form::Prmt, PT::B32, {r(low), imm(0), imm(0x0123)});
    const Reg new_low = emit_to(RegClass::B32, Form::Prmt, PT::B32, {r(high), imm(0), imm(0x0123)});
    emit(Form::MovPack, PT::B64, {r(to), Operand::list(out_.new_list({r(new_low), r(new_high)}))});
}

// -----------------------------------------------------------------------------------------------------------
// overflow

void Selector::overflow(const ir::Instruction& inst) {
    const bool narrow = ir::type_bits(inst.type) < 32;
    const bool is_signed = inst.op == Op::SaddOv || inst.op == Op::SsubOv || inst.op == Op::SmulOv;
    const bool product = inst.op == Op::UmulOv || inst.op == Op::SmulOv;
    const bool difference = inst.op == Op::UsubOv || inst.op == Op::SsubOv;
    if (inst.op == Op::UsubOv) {
        const Operand a = extended(inst.args[0], false);
        const Operand b = extended(inst.args[1], false);
        compare(result(inst), ptx::Cmp::Lt, unsigned_type(inst.type), a, b);
        return;
    }
    const Form form = product ? Form::MulLo : difference ? Form::SubI : Form::AddI;
    if (narrow) return narrow_overflow(inst, form, is_signed);
    if (product) return product_overflow(inst, is_signed);
    if (is_signed) return signed_sum_overflow(inst, form);
    const Operand a = src(inst.args[0]);
    const Reg sum = emit_to(reg_class(inst.type), Form::AddI, signed_type(inst.type), {a, src(inst.args[1])});
    compare(result(inst), ptx::Cmp::Lt, unsigned_type(inst.type), r(sum), a);
}

// Overflow when the upper half is not what the lower half's sign (unsigned: zero) says.
void Selector::product_overflow(const ir::Instruction& inst, bool is_signed) {
    const RegClass c = reg_class(inst.type);
    const PT type = is_signed ? signed_type(inst.type) : unsigned_type(inst.type);
    const Operand a = src(inst.args[0]);
    const Operand b = src(inst.args[1]);
    const Reg high = emit_to(c, Form::MulHi, type, {a, b});
    Operand expected = imm(0);
    if (is_signed) {
        const Reg low = emit_to(c, Form::MulLo, type, {a, b});
        expected = r(emit_to(c, Form::Shr, type, {r(low), imm(ir::type_bits(inst.type) - 1)}));
    }
    compare(result(inst), ptx::Cmp::Ne, signed_type(inst.type), r(high), expected);
}

// Overflow when the operands' signs (differing for a difference) do not allow the result's.
void Selector::signed_sum_overflow(const ir::Instruction& inst, Form form) {
    const RegClass c = reg_class(inst.type);
    const PT bits = bits_type(inst.type);
    const Operand a = src(inst.args[0]);
    const Operand b = src(inst.args[1]);
    const Reg sum = emit_to(c, form, signed_type(inst.type), {a, b});
    const Reg x = emit_to(c, Form::Xor, bits, {r(sum), a});
    const Reg y =
        form == Form::AddI ? emit_to(c, Form::Xor, bits, {r(sum), b}) : emit_to(c, Form::Xor, bits, {a, b});
    const Reg both = emit_to(c, Form::And, bits, {r(x), r(y)});
    compare(result(inst), ptx::Cmp::Lt, signed_type(inst.type), r(both), imm(0));
}

// 8 and 16 bits: exact in 32 bits, then tested against the range.
void Selector::narrow_overflow(const ir::Instruction& inst, Form form, bool is_signed) {
    const std::uint32_t bits = ir::type_bits(inst.type);
    const Operand a = as_32(inst.args[0], is_signed);
    const Reg exact = emit_to(RegClass::B32, form, PT::S32, {a, as_32(inst.args[1], is_signed)});
    if (!is_signed) {
        compare(result(inst), ptx::Cmp::Gt, PT::U32, r(exact), imm((std::int64_t{1} << bits) - 1));
        return;
    }
    const Reg again = fresh(RegClass::B32);
    convert(again, PT::S32, r(exact), bits == 8 ? PT::S8 : PT::S16);
    compare(result(inst), ptx::Cmp::Ne, PT::S32, r(exact), r(again));
}

// --------------------------------------------------------------------------------------------- comparison,
// selection

void Selector::compare_ints(const ir::Instruction& inst) {
    if (inst.type == VT::I1) return compare_bools(inst);
    Comparison c = comparison(inst.int_cond());
    ir::ValueId a = inst.args[0];
    ir::ValueId b = inst.args[1];
    if (constant_def(a) != nullptr && constant_def(b) == nullptr) {
        std::swap(a, b);
        c.cmp = swapped(c.cmp);
    }
    bool extend_signed = c.is_signed;
    if (c.equality && inst.type == VT::I8)
        extend_signed = extension(a) == Extension::Sign;  // whichever is there already
    const PT type = c.is_signed ? signed_type(inst.type) : unsigned_type(inst.type);
    const Operand left = extended(a, extend_signed);
    const Operand right = extended(b, extend_signed);
    compare(result(inst), c.cmp, type, left, right);
}

// Truth values: equality by xor, order (false < true) through 0 and 1.
void Selector::compare_bools(const ir::Instruction& inst) {
    const Comparison c = comparison(inst.int_cond());
    if (c.equality) {
        const Operand a = plain_predicate(inst.args[0]);
        const Operand b = plain_predicate(inst.args[1]);
        if (c.cmp == ptx::Cmp::Ne) {
            emit(Form::Xor, PT::Pred, {r(result(inst)), a, b});
            return;
        }
        const Reg differ = emit_to(RegClass::Pred, Form::Xor, PT::Pred, {a, b});
        emit(Form::Not, PT::Pred, {r(result(inst)), r(differ)});
        return;
    }
    const Operand a = as_32(inst.args[0], c.is_signed);
    const Operand b = as_32(inst.args[1], c.is_signed);
    compare(result(inst), c.cmp, c.is_signed ? PT::S32 : PT::U32, a, b);
}

void Selector::select_value(const ir::Instruction& inst) {
    Operand cond = predicate(inst.args[0]);
    ir::ValueId a = inst.args[1];
    ir::ValueId b = inst.args[2];
    if (cond.negated) std::swap(a, b);  // selp has no negated predicate
    cond.negated = false;
    if (inst.type == VT::I1) {
        const Reg yes = emit_to(RegClass::Pred, Form::And, PT::Pred, {cond, plain_predicate(a)});
        const Reg otherwise = emit_to(RegClass::Pred, Form::Not, PT::Pred, {cond});
        const Reg no = emit_to(RegClass::Pred, Form::And, PT::Pred, {r(otherwise), plain_predicate(b)});
        emit(Form::Or, PT::Pred, {r(result(inst)), r(yes), r(no)});
        return;
    }
    const RegClass c = reg_class(inst.type);
    PT type = move_type(c);
    if (type == PT::U32) type = PT::B32;
    if (type == PT::U64) type = PT::B64;
    emit(Form::Selp, type, {r(result(inst)), src(a), src(b), cond});
}

}  // namespace ockc::isel
