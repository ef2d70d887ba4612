// i128 as two 64-bit registers. Sums use the carry flag; comparisons and the rest work on halves; division
// and conversions from and to floats are library functions.
#include <utility>

#include "isel/selector.hpp"

namespace ockc::isel {

using ir::Op;

void Selector::wide_inst(const ir::Instruction& inst) {
    switch (inst.op) {
        case Op::Iadd: return wide_add(inst, false);
        case Op::Isub: return wide_add(inst, true);
        case Op::Imul: return wide_multiply(inst);
        case Op::Udiv: return library_call(inst, LibraryFunction::Udiv128);
        case Op::Sdiv: return library_call(inst, LibraryFunction::Sdiv128);
        case Op::Urem: return library_call(inst, LibraryFunction::Urem128);
        case Op::Srem: return library_call(inst, LibraryFunction::Srem128);
        case Op::Umulh: return wide_high_product(wide(inst.args[0]), wide(inst.args[1]), false, wide_result(inst));
        case Op::Smulh: return wide_high_product(wide(inst.args[0]), wide(inst.args[1]), true, wide_result(inst));
        case Op::Ineg: return wide_negate(wide(inst.args[0]), wide_result(inst));
        case Op::And: return wide_logic(inst, Form::And);
        case Op::Or: return wide_logic(inst, Form::Or);
        case Op::Xor: return wide_logic(inst, Form::Xor);
        case Op::Not: return wide_logic(inst, Form::Not);
        case Op::Shl:
        case Op::Lshr:
        case Op::Ashr: return wide_shift(inst);
        case Op::Rotl:
        case Op::Rotr: return wide_rotate(inst);
        case Op::Smin:
        case Op::Smax:
        case Op::Umin:
        case Op::Umax: return wide_min_max(inst);
        case Op::Iabs: return wide_absolute(inst);
        case Op::Popcnt:
        case Op::Clz:
        case Op::Ctz: return wide_count(inst);
        case Op::Bitrev:
        case Op::Bswap: return wide_reverse(inst);
        case Op::UaddOv:
        case Op::SaddOv:
        case Op::UsubOv:
        case Op::SsubOv:
        case Op::UmulOv:
        case Op::SmulOv: return wide_overflow(inst);
        case Op::Icmp: return wide_compare(inst);
        case Op::Select: return wide_select(inst);
        case Op::Trunc: return wide_truncate(inst);
        case Op::Zext: return wide_extend(inst, false);
        case Op::Sext: return wide_extend(inst, true);
        case Op::Fptosi: return wide_from_float(inst, LibraryFunction::F32ToS128, LibraryFunction::F64ToS128);
        case Op::Fptoui: return wide_from_float(inst, LibraryFunction::F32ToU128, LibraryFunction::F64ToU128);
        case Op::Sitofp: return wide_to_float(inst, true);
        case Op::Uitofp: return wide_to_float(inst, false);
        case Op::Bitcast: {
            const Wide from = wide(inst.args[0]), to = wide_result(inst);
            copy(to.low.as_reg(), from.low);
            copy(to.high.as_reg(), from.high);
            return;
        }
        case Op::Const:
        case Op::GlobalAddr:
        case Op::Fadd:
        case Op::Fsub:
        case Op::Fmul:
        case Op::Fdiv:
        case Op::Frem:
        case Op::Fma:
        case Op::Fneg:
        case Op::Fabs:
        case Op::Fcopysign:
        case Op::Fmin:
        case Op::Fmax:
        case Op::Fsqrt:
        case Op::Ffloor:
        case Op::Fceil:
        case Op::Ftrunc:
        case Op::Frint:
        case Op::Fcmp:
        case Op::Fcvt:
        case Op::PtrToInt:
        case Op::IntToPtr:
        case Op::SpaceCast:
        case Op::Nonnull:
        case Op::Alloca:
        case Op::PtrAdd:
        case Op::Load:
        case Op::Store:
        case Op::Memcpy:
        case Op::Memset:
        case Op::Sreg:
        case Op::LaunchDomain:
        case Op::Machine:
        case Op::MachineMemory:
        case Op::MachineSync:
        case Op::Vprintf:
        // clang-format off
        case Op::TileLoad: case Op::TileStore: case Op::TileSplat: case Op::TileIota: case Op::TileMap: case Op::TileReshape:
        case Op::TileBroadcast: case Op::TilePermute: case Op::TileReduce: case Op::TileScalar: case Op::TileMma: case Op::TileRing: case Op::TileCopy: case Op::TileSlot: case Op::TileConvert:
        case Op::TileReducePair: case Op::TileScan: case Op::TileCat: case Op::TileExtract: case Op::TileFill: case Op::TileEach:
        case Op::TileCount: case Op::TileInRange:
        case Op::Asm: case Op::AsmMemory: case Op::AsmSync:
        // clang-format on
        case Op::AtomicLoad:
        case Op::AtomicStore:
        case Op::AtomicRmw:
        case Op::AtomicCas:
        case Op::Barrier:
        case Op::Fence:
        case Op::Call:
        case Op::Jump:
        case Op::Br:
        case Op::Switch:
        case Op::Ret:
        case Op::Panic:
        case Op::Trap:
        case Op::Unreachable: break;
    }
    OCKC_UNREACHABLE("not an operation on i128");
}

Selector::Wide Selector::fresh_wide() {
    return {r(fresh(RegClass::B64)), r(fresh(RegClass::B64))};
}

// ---------------------------------------------------------------------------------------------------------
// arithmetic

void Selector::wide_sum(const Wide& a, const Wide& b, bool subtract, const Wide& to) {
    emit(subtract ? Form::SubCc : Form::AddCc, PT::U64, {to.low, a.low, b.low});
    emit(subtract ? Form::Subc : Form::Addc, PT::U64, {to.high, a.high, b.high});
}

void Selector::wide_add(const ir::Instruction& inst, bool subtract) {
    wide_sum(wide(inst.args[0]), wide(inst.args[1]), subtract, wide_result(inst));
}

void Selector::wide_negate(const Wide& a, const Wide& to) {
    wide_sum({imm(0), imm(0)}, a, true, to);
}

void Selector::wide_multiply(const ir::Instruction& inst) {
    const Wide to = wide_result(inst);
    // Both operands extended from 64 bits alike: the two halves of one product.
    for (const Op op : {Op::Zext, Op::Sext}) {
        const ir::Instruction* x = foldable(inst.args[0], op);
        const ir::Instruction* y = foldable(inst.args[1], op);
        if (x == nullptr || y == nullptr || in_.type_of(x->args[0]) != VT::I64 ||
            in_.type_of(y->args[0]) != VT::I64)
            continue;
        const Operand p = src(x->args[0]);
        const Operand q = src(y->args[0]);
        emit(Form::MulLo, PT::S64, {to.low, p, q});
        emit(Form::MulHi, op == Op::Sext ? PT::S64 : PT::U64, {to.high, p, q});
        return;
    }
    const Wide a = wide(inst.args[0]);
    const Wide b = wide(inst.args[1]);
    const Reg upper = emit_to(RegClass::B64, Form::MulHi, PT::U64, {a.low, b.low});
    const Reg middle = emit_to(RegClass::B64, Form::MadLo, PT::S64, {a.low, b.high, r(upper)});
    emit(Form::MadLo, PT::S64, {to.high, a.high, b.low, r(middle)});
    emit(Form::MulLo, PT::S64, {to.low, a.low, b.low});
}

// The upper 128 of 256 bits, from four products of halves; for signed operands each negative one takes the
// other off.
void Selector::wide_high_product(const Wide& a, const Wide& b, bool is_signed, const Wide& to) {
    const auto product = [&](Form form, const Operand& x, const Operand& y) {
        return r(emit_to(RegClass::B64, form, PT::U64, {x, y}));
    };
    const auto carrying = [&](Form form, const Operand& out, const Operand& x, const Operand& y,
                              bool carry_out) {
        emit(form, PT::U64, {out, x, y}).mods.carry_out = carry_out;
    };
    const Operand low = product(Form::MulHi, a.low, b.low);
    const Operand x_low = product(Form::MulLo, a.low, b.high);
    const Operand x_high = product(Form::MulHi, a.low, b.high);
    const Operand y_low = product(Form::MulLo, a.high, b.low);
    const Operand y_high = product(Form::MulHi, a.high, b.low);
    const Operand z_low = product(Form::MulLo, a.high, b.high);
    const Operand z_high = product(Form::MulHi, a.high, b.high);
    const Operand t0 = r(fresh(RegClass::B64));
    const Wide sum = fresh_wide();
    const Wide more = fresh_wide();
    const Wide all = is_signed ? fresh_wide() : to;
    carrying(Form::AddCc, t0, low, x_low, false);
    carrying(Form::Addc, sum.low, x_high, imm(0), true);
    carrying(Form::Addc, sum.high, imm(0), imm(0), false);
    const Operand t1 = r(fresh(RegClass::B64));
    carrying(Form::AddCc, t1, t0, y_low, false);
    carrying(Form::Addc, more.low, sum.low, y_high, true);
    carrying(Form::Addc, more.high, sum.high, imm(0), false);
    carrying(Form::AddCc, all.low, more.low, z_low, false);
    carrying(Form::Addc, all.high, more.high, z_high, false);
    if (!is_signed) return;
    const auto masked = [&](const Operand& sign_of, const Wide& value) -> Wide {
        const Operand mask = r(emit_to(RegClass::B64, Form::Shr, PT::S64, {sign_of, imm(63)}));
        return {r(emit_to(RegClass::B64, Form::And, PT::B64, {value.low, mask})),
                r(emit_to(RegClass::B64, Form::And, PT::B64, {value.high, mask}))};
    };
    const Wide once = fresh_wide();
    wide_sum(all, masked(a.high, b), true, once);
    wide_sum(once, masked(b.high, a), true, to);
}

void Selector::wide_absolute(const ir::Instruction& inst) {
    const Wide a = wide(inst.args[0]);
    const Operand mask = r(emit_to(RegClass::B64, Form::Shr, PT::S64, {a.high, imm(63)}));
    const Operand low = r(emit_to(RegClass::B64, Form::Xor, PT::B64, {a.low, mask}));
    const Operand high = r(emit_to(RegClass::B64, Form::Xor, PT::B64, {a.high, mask}));
    wide_sum({low, high}, {mask, mask}, true, wide_result(inst));
}

void Selector::wide_logic(const ir::Instruction& inst, Form form) {
    const Wide a = wide(inst.args[0]);
    const Wide to = wide_result(inst);
    if (form == Form::Not) {
        emit(form, PT::B64, {to.low, a.low});
        emit(form, PT::B64, {to.high, a.high});
        return;
    }
    const Wide b = wide(inst.args[1]);
    emit(form, PT::B64, {to.low, a.low, b.low});
    emit(form, PT::B64, {to.high, a.high, b.high});
}

// -------------------------------------------------------------------------------------------------------------
// shifts

void Selector::wide_shift(const ir::Instruction& inst) {
    const Operand amount = shift_amount(inst.args[1], 128);
    wide_shift_by(inst.op, wide(inst.args[0]), amount, wide_result(inst));
}

// PTX's 64-bit shifts give zero (or the sign) for amounts of 64 and more, and take them as unsigned: of the
// three terms below, those with an amount outside 0..63 fall away by themselves.
void Selector::wide_shift_by(Op op, const Wide& value, const Operand& amount, const Wide& to) {
    const auto one = [&](Form form, PT type, const Operand& a, const Operand& n) {
        return r(emit_to(RegClass::B64, form, type, {a, n}));
    };
    Operand up_amount = imm(64 - amount.value);   // 64 - n
    Operand far_amount = imm(amount.value - 64);  // n - 64
    if (amount.is_reg()) {
        up_amount = r(emit_to(RegClass::B32, Form::SubI, PT::S32, {imm(64), amount}));
        far_amount = r(emit_to(RegClass::B32, Form::AddI, PT::S32, {amount, imm(-64)}));
    }
    const bool left = op == Op::Shl;
    const Form near_form = left ? Form::Shl : Form::Shr;
    const PT near_type = left ? PT::B64 : PT::U64;
    const Operand& kept = left ? value.low : value.high;  // the half whose bits move into the other
    const Operand& other = left ? value.high : value.low;
    const Operand& to_kept = left ? to.low : to.high;
    const Operand& to_other = left ? to.high : to.low;
    const PT kept_type = op == Op::Ashr ? PT::S64 : near_type;
    if (!amount.is_reg()) {
        if (amount.value >= 64) {
            emit(near_form, kept_type, {to_other, kept, far_amount});
            if (op == Op::Ashr) {
                emit(Form::Shr, PT::S64, {to_kept, kept, imm(63)});
            } else {
                copy(to_kept.as_reg(), imm(0));
            }
            return;
        }
        const Operand crossing = one(left ? Form::Shr : Form::Shl, left ? PT::U64 : PT::B64, kept, up_amount);
        const Operand near = one(near_form, near_type, other, amount);
        emit(Form::Or, PT::B64, {to_other, near, crossing});
        emit(near_form, kept_type, {to_kept, kept, amount});
        return;
    }
    const Operand near = one(near_form, near_type, other, amount);
    const Operand crossing = one(left ? Form::Shr : Form::Shl, left ? PT::U64 : PT::B64, kept, up_amount);
    const Operand both = r(emit_to(RegClass::B64, Form::Or, PT::B64, {near, crossing}));
    const Operand far = one(near_form, kept_type, kept, far_amount);
    if (op == Op::Ashr) {  // the far term is the sign, not zero, when it does not apply
        const Reg below = fresh(RegClass::Pred);
        compare(below, ptx::Cmp::Lt, PT::U32, amount, imm(64));
        emit(Form::Selp, PT::B64, {to_other, both, far, r(below)});
    } else {
        emit(Form::Or, PT::B64, {to_other, both, far});
    }
    emit(near_form, kept_type, {to_kept, kept, amount});
}

void Selector::wide_rotate(const ir::Instruction& inst) {
    const Wide value = wide(inst.args[0]);
    const Operand amount = shift_amount(inst.args[1], 128);
    Operand rest = imm(-amount.value & 127);
    if (amount.is_reg()) {
        const Reg negative = emit_to(RegClass::B32, Form::NegI, PT::S32, {amount});
        rest = r(emit_to(RegClass::B32, Form::And, PT::B32, {r(negative), imm(127)}));
    }
    const bool left = inst.op == Op::Rotl;
    const Wide up = fresh_wide();
    const Wide down = fresh_wide();
    wide_shift_by(Op::Shl, value, left ? amount : rest, up);
    wide_shift_by(Op::Lshr, value, left ? rest : amount, down);
    const Wide to = wide_result(inst);
    emit(Form::Or, PT::B64, {to.low, up.low, down.low});
    emit(Form::Or, PT::B64, {to.high, up.high, down.high});
}

// --------------------------------------------------------------------------------------------- comparison,
// selection

void Selector::combined_compare(Reg to, ptx::Cmp cmp, ptx::BoolOp op, PT type, const Operand& a,
                                const Operand& b, Reg with) {
    Instr& instr = emit(Form::SetpBool, type, {r(to), Operand::none(), a, b, r(with)});
    instr.mods.cmp = cmp;
    instr.mods.bool_op = op;
}

void Selector::wide_less(Reg to, const Wide& a, const Wide& b, bool is_signed, bool or_equal) {
    const Reg low = fresh(RegClass::Pred);
    const Reg tie = fresh(RegClass::Pred);
    compare(low, or_equal ? ptx::Cmp::Le : ptx::Cmp::Lt, PT::U64, a.low, b.low);
    combined_compare(tie, ptx::Cmp::Eq, ptx::BoolOp::And, PT::S64, a.high, b.high, low);
    combined_compare(to, ptx::Cmp::Lt, ptx::BoolOp::Or, is_signed ? PT::S64 : PT::U64, a.high, b.high, tie);
}

void Selector::wide_equal(Reg to, const Wide& a, const Wide& b, bool equal) {
    const Reg low = fresh(RegClass::Pred);
    const ptx::Cmp cmp = equal ? ptx::Cmp::Eq : ptx::Cmp::Ne;
    compare(low, cmp, PT::S64, a.low, b.low);
    combined_compare(to, cmp, equal ? ptx::BoolOp::And : ptx::BoolOp::Or, PT::S64, a.high, b.high, low);
}

void Selector::wide_compare(const ir::Instruction& inst) {
    using ir::IntCond;
    const Wide a = wide(inst.args[0]);
    const Wide b = wide(inst.args[1]);
    const Reg to = result(inst);
    switch (inst.int_cond()) {
        case IntCond::Eq: return wide_equal(to, a, b, true);
        case IntCond::Ne: return wide_equal(to, a, b, false);
        case IntCond::Ult: return wide_less(to, a, b, false, false);
        case IntCond::Ule: return wide_less(to, a, b, false, true);
        case IntCond::Ugt: return wide_less(to, b, a, false, false);
        case IntCond::Uge: return wide_less(to, b, a, false, true);
        case IntCond::Slt: return wide_less(to, a, b, true, false);
        case IntCond::Sle: return wide_less(to, a, b, true, true);
        case IntCond::Sgt: return wide_less(to, b, a, true, false);
        case IntCond::Sge: return wide_less(to, b, a, true, true);
    }
}

void Selector::wide_choose(Reg cond, const Wide& a, const Wide& b, const Wide& to) {
    emit(Form::Selp, PT::B64, {to.low, a.low, b.low, r(cond)});
    emit(Form::Selp, PT::B64, {to.high, a.high, b.high, r(cond)});
}

void Selector::wide_select(const ir::Instruction& inst) {
    const Operand cond = predicate(inst.args[0]);
    const Wide a = wide(inst.args[1]);
    const Wide b = wide(inst.args[2]);
    wide_choose(cond.as_reg(), cond.negated ? b : a, cond.negated ? a : b, wide_result(inst));
}

void Selector::wide_min_max(const ir::Instruction& inst) {
    const Wide a = wide(inst.args[0]);
    const Wide b = wide(inst.args[1]);
    const bool is_signed = inst.op == Op::Smin || inst.op == Op::Smax;
    const bool minimum = inst.op == Op::Smin || inst.op == Op::Umin;
    const Reg less = fresh(RegClass::Pred);
    wide_less(less, a, b, is_signed, false);
    wide_choose(less, minimum ? a : b, minimum ? b : a, wide_result(inst));
}

// ---------------------------------------------------------------------------------------------------------------
// bits

void Selector::wide_count(const ir::Instruction& inst) {
    const Wide a = wide(inst.args[0]);
    const Wide to = wide_result(inst);
    Reg count;
    if (inst.op == Op::Popcnt) {
        const Reg low = emit_to(RegClass::B32, Form::Popc, PT::B64, {a.low});
        const Reg high = emit_to(RegClass::B32, Form::Popc, PT::B64, {a.high});
        count = emit_to(RegClass::B32, Form::AddI, PT::S32, {r(low), r(high)});
    } else {
        const bool leading = inst.op == Op::Clz;
        const auto zeros = [&](const Operand& half) {
            const Operand value = leading ? half : r(emit_to(RegClass::B64, Form::Brev, PT::B64, {half}));
            return r(emit_to(RegClass::B32, Form::Clz, PT::B64, {value}));
        };
        const Operand first = leading ? a.high : a.low;  // the half that is counted first
        const Operand in_first = zeros(first);
        const Operand in_second = zeros(leading ? a.low : a.high);
        const Reg behind = emit_to(RegClass::B32, Form::AddI, PT::S32, {in_second, imm(64)});
        const Reg empty = fresh(RegClass::Pred);
        compare(empty, ptx::Cmp::Eq, PT::S64, first, imm(0));
        count = emit_to(RegClass::B32, Form::Selp, PT::B32, {r(behind), in_first, r(empty)});
    }
    convert(to.low.as_reg(), PT::U64, r(count), PT::U32);
    copy(to.high.as_reg(), imm(0));
}

void Selector::wide_reverse(const ir::Instruction& inst) {
    const Wide a = wide(inst.args[0]);
    const Wide to = wide_result(inst);
    if (inst.op == Op::Bitrev) {
        emit(Form::Brev, PT::B64, {to.low, a.high});
        emit(Form::Brev, PT::B64, {to.high, a.low});
        return;
    }
    swap_bytes(to.low.as_reg(), a.high);
    swap_bytes(to.high.as_reg(), a.low);
}

void Selector::wide_overflow(const ir::Instruction& inst) {
    const Wide a = wide(inst.args[0]);
    const Wide b = wide(inst.args[1]);
    const Reg to = result(inst);
    if (inst.op == Op::UsubOv) return wide_less(to, a, b, false, false);
    if (inst.op == Op::UmulOv || inst.op == Op::SmulOv) {
        const bool is_signed = inst.op == Op::SmulOv;
        const Wide upper = fresh_wide();
        wide_high_product(a, b, is_signed, upper);
        Operand expected = imm(0);
        if (is_signed) {  // the sign of the lower half: bit 63 of its upper word
            const Reg carry = emit_to(RegClass::B64, Form::MulHi, PT::U64, {a.low, b.low});
            const Reg middle = emit_to(RegClass::B64, Form::MadLo, PT::S64, {a.low, b.high, r(carry)});
            const Reg word = emit_to(RegClass::B64, Form::MadLo, PT::S64, {a.high, b.low, r(middle)});
            expected = r(emit_to(RegClass::B64, Form::Shr, PT::S64, {r(word), imm(63)}));
        }
        return wide_equal(to, upper, {expected, expected}, false);
    }
    const bool subtract = inst.op == Op::SsubOv;
    const Wide sum = fresh_wide();
    wide_sum(a, b, subtract, sum);
    if (inst.op == Op::UaddOv) return wide_less(to, sum, a, false, false);
    const Reg x = emit_to(RegClass::B64, Form::Xor, PT::B64, {sum.high, a.high});
    const Reg y = emit_to(RegClass::B64, Form::Xor, PT::B64, {subtract ? a.high : sum.high, b.high});
    const Reg both = emit_to(RegClass::B64, Form::And, PT::B64, {r(x), r(y)});
    compare(to, ptx::Cmp::Lt, PT::S64, r(both), imm(0));
}

// --------------------------------------------------------------------------------------------------------
// conversions

void Selector::wide_truncate(const ir::Instruction& inst) {
    const Operand low = wide(inst.args[0]).low;
    const Reg to = result(inst);
    switch (ir::type_bits(inst.type)) {
        case 1: {
            const Reg bit = emit_to(RegClass::B64, Form::And, PT::B64, {low, imm(1)});
            compare(to, ptx::Cmp::Ne, PT::S64, r(bit), imm(0));
            return;
        }
        case 8:
        case 16: convert(to, PT::U16, low, PT::U64); return;
        case 32: convert(to, PT::U32, low, PT::U64); return;
        case 64: copy(to, low); return;
        default: OCKC_UNREACHABLE("integer width");
    }
}

// Only the halves that are read: wide() takes an extension apart where it can.
void Selector::wide_extend(const ir::Instruction& inst, bool is_signed) {
    const ir::ValueId arg = inst.args[0];
    const bool wants_high = highs_[inst.result()].valid();
    const VT from = in_.type_of(arg);
    if (wants_high && !is_signed) copy(high_of(inst.result()), imm(0));
    if (wants_high && is_signed) {
        const Operand low = from == VT::I64 ? src(arg) : r(reg_of(inst.result()));
        emit(Form::Shr, PT::S64, {r(high_of(inst.result())), low, imm(63)});
    }
    if (!regs_[inst.result()].valid()) return;
    std::vector<Instr> high_half = std::exchange(current_, {});  // it reads the low one
    const Reg low = reg_of(inst.result());
    switch (ir::type_bits(from)) {
        case 1:
            emit(Form::Selp, PT::B64, {r(low), imm(is_signed ? -1 : 1), imm(0), plain_predicate(arg)});
            break;
        case 8: convert(low, is_signed ? PT::S64 : PT::U64, r(use(arg)), is_signed ? PT::S8 : PT::U8); break;
        case 16:
            convert(low, is_signed ? PT::S64 : PT::U64, r(use(arg)), is_signed ? PT::S16 : PT::U16);
            break;
        case 32:
            convert(low, is_signed ? PT::S64 : PT::U64, r(use(arg)), is_signed ? PT::S32 : PT::U32);
            break;
        case 64: copy(low, src(arg)); break;
        default: OCKC_UNREACHABLE("integer width");
    }
    current_.insert(current_.end(), high_half.begin(), high_half.end());
}

void Selector::wide_from_float(const ir::Instruction& inst, LibraryFunction from_f32,
                               LibraryFunction from_f64) {
    const bool is_double = in_.type_of(inst.args[0]) == VT::F64;
    const Passed arg{is_double ? src(inst.args[0]) : as_f32(inst.args[0]), is_double ? VT::F64 : VT::F32, {}};
    call_library(is_double ? from_f64 : from_f32, {arg}, {received(inst.result())});
}

void Selector::wide_to_float(const ir::Instruction& inst, bool is_signed) {
    using F = LibraryFunction;
    if (inst.type == VT::F64) return library_call(inst, is_signed ? F::S128ToF64 : F::U128ToF64);
    if (inst.type == VT::F32) return library_call(inst, is_signed ? F::S128ToF32 : F::U128ToF32);
    const Reg odd = fresh(RegClass::F32);
    call_library(is_signed ? F::S128ToOddF32 : F::U128ToOddF32, {passed(inst.args[0])},
                 {{r(odd), VT::F32, {}}});
    to_half(result(inst), inst.type, r(odd));
}

// Word by word, each half tested against each case.
void Selector::switch_wide(const ir::Instruction& inst, std::span<const Case> cases, MBlockId otherwise) {
    const Wide value = wide(inst.args[0]);
    MBlockId at = machine_block_;
    for (std::size_t i = 0; i < cases.size(); ++i) {
        std::vector<Instr> before = std::exchange(current_, {});
        const Reg hit = fresh(RegClass::Pred);
        wide_equal(hit, value, {imm(static_cast<std::int64_t>(cases[i].value)), imm(0)}, true);
        const MBlockId next = i + 1 == cases.size() ? otherwise : new_block();
        end_branch(at, r(hit), cases[i].to, next);
        std::vector<Instr> tests = std::exchange(current_, std::move(before));
        if (i == 0) {
            current_.insert(current_.end(), tests.begin(), tests.end());
        } else {
            machine_.blocks[at].instrs.assign(tests.rbegin(), tests.rend());
        }
        at = next;
    }
}

}  // namespace ockc::isel
