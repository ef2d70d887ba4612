// Values as registers and operands: classes, constants, predicates, what may be folded, the extension of
// 8-bit values.
#include <algorithm>

#include "isel/selector.hpp"

namespace ockc::isel {

ptx::RegClass Selector::reg_class(VT type) {
    switch (type) {
        case VT::I1: return RegClass::Pred;
        case VT::I8:
        case VT::I16: return RegClass::B16;
        case VT::I32: return RegClass::B32;
        case VT::F16:
        case VT::BF16: return RegClass::Half;
        case VT::F32: return RegClass::F32;
        case VT::F64: return RegClass::F64;
        case VT::I64:
        case VT::I128:
        case VT::Ptr:
        case VT::PtrGlobal:
        case VT::PtrShared:
        case VT::PtrLocal:
        case VT::PtrConst:
        case VT::PtrParam: return RegClass::B64;
        case VT::Tile:
        case VT::Void: break;
    }
    OCKC_UNREACHABLE("a value of type void");
}

ptx::Type Selector::float_type(VT type) {
    switch (type) {
        case VT::F16: return ptx::Type::F16;
        case VT::BF16: return ptx::Type::BF16;
        case VT::F32: return ptx::Type::F32;
        case VT::F64: return ptx::Type::F64;
        case VT::Void:
        case VT::Tile:
        case VT::I1:
        case VT::I8:
        case VT::I16:
        case VT::I32:
        case VT::I64:
        case VT::I128:
        case VT::Ptr:
        case VT::PtrGlobal:
        case VT::PtrShared:
        case VT::PtrLocal:
        case VT::PtrConst:
        case VT::PtrParam: break;
    }
    OCKC_UNREACHABLE("not a float type");
}

ptx::Reg Selector::reg_of(ir::ValueId value) {
    Reg& reg = regs_.at(value);
    if (!reg.valid()) reg = fresh(reg_class(in_.type_of(value)));
    return reg;
}

ptx::Reg Selector::high_of(ir::ValueId value) {
    Reg& reg = highs_.at(value);
    if (!reg.valid()) reg = fresh(RegClass::B64);
    return reg;
}

// ---------------------------------------------------------------------------------------------------------
// constants

const ir::Instruction* Selector::constant_def(ir::ValueId value) const {
    const ir::Instruction* def = in_.def(value);
    return def != nullptr && (def->op == ir::Op::Const || def->op == ir::Op::LaunchDomain) ? def : nullptr;
}

std::optional<std::uint64_t> Selector::int_constant(ir::ValueId value) const {
    const ir::Instruction* def = constant_def(value);
    if (def == nullptr) return std::nullopt;
    return def->op == ir::Op::Const ? def->imm : in_.facts.domain;
}

static std::int64_t sign_extend(std::uint64_t value, std::uint32_t bits) {
    const std::uint32_t shift = 64 - bits;
    return static_cast<std::int64_t>(value << shift) >> shift;
}

ptx::Operand Selector::constant(const ir::Instruction& inst, bool high) const {
    if (inst.op == ir::Op::LaunchDomain) return imm(in_.facts.domain);
    switch (inst.type) {
        case VT::I1: return imm(static_cast<std::int64_t>(inst.imm & 1));
        case VT::I8: return imm(sign_extend(inst.imm, 8));
        case VT::I16: return imm(sign_extend(inst.imm, 16));
        case VT::I32: return imm(sign_extend(inst.imm, 32));
        case VT::F16:
        case VT::BF16: return imm(static_cast<std::int64_t>(inst.imm & 0xFFFF));
        case VT::F32: return Operand::f32(static_cast<std::uint32_t>(inst.imm));
        case VT::F64: return Operand::f64(inst.imm);
        case VT::I128: return imm(static_cast<std::int64_t>(high ? inst.imm_high : inst.imm));
        case VT::I64:
        case VT::Ptr:
        case VT::PtrGlobal:
        case VT::PtrShared:
        case VT::PtrLocal:
        case VT::PtrConst:
        case VT::PtrParam: return imm(static_cast<std::int64_t>(inst.imm));
        case VT::Tile:
        case VT::Void: break;
    }
    OCKC_UNREACHABLE("a constant of type void");
}

ptx::Reg Selector::use(ir::ValueId value) {
    const ir::Instruction* def = constant_def(value);
    if (def == nullptr) return reg_of(value);
    const Reg reg = fresh(reg_class(in_.type_of(value)));
    copy(reg, constant(*def));
    return reg;
}

ptx::Operand Selector::src(ir::ValueId value) {
    const ir::Instruction* def = constant_def(value);
    if (def == nullptr) return r(reg_of(value));
    // PTX has no literals of 16-bit float types and no predicate literals outside mov.
    const VT type = def->type;
    if (type == VT::F16 || type == VT::BF16 || type == VT::I1) return r(use(value));
    return constant(*def);
}

Selector::Wide Selector::wide(ir::ValueId value) {
    if (const ir::Instruction* def = constant_def(value)) return {constant(*def), constant(*def, true)};
    const ir::Instruction* def = in_.def(value);
    const bool zext = def != nullptr && def->op == ir::Op::Zext;
    if (zext && in_.type_of(def->args[0]) == VT::I64) return {src(def->args[0]), imm(0)};
    if (zext) return {r(reg_of(value)), imm(0)};
    return {r(reg_of(value)), r(high_of(value))};
}

Selector::Wide Selector::wide_result(const ir::Instruction& inst) {
    return {r(reg_of(inst.result())), r(high_of(inst.result()))};
}

// ---------------------------------------------------------------------------------------------------------
// predicates

ptx::Operand Selector::predicate(ir::ValueId value) {
    bool negated = false;
    for (;;) {
        const ir::Instruction* def = in_.def(value);
        if (def == nullptr || def->type != VT::I1) break;
        if (def->op == ir::Op::Not) {
            value = def->args[0];
        } else if (def->op == ir::Op::Xor && int_constant(def->args[1]) == std::uint64_t{1}) {
            value = def->args[0];
        } else {
            break;
        }
        negated = !negated;
    }
    return Operand::reg(use(value), negated);
}

ptx::Operand Selector::plain_predicate(ir::ValueId value) {
    return r(use(value));
}

// ------------------------------------------------------------------------------------------------------------
// folding

bool Selector::same_loop(ir::InstId def) const {
    const ir::BlockId from = inst_block_[def];
    return from == block_ || (from.valid() && loop_of_[from] == loop_of_[block_]);
}

const ir::Instruction* Selector::foldable(ir::ValueId value, ir::Op op) const {
    const ir::InstId id = in_.values[value].inst;
    if (!id.valid() || in_.insts[id].op != op || !same_loop(id)) return nullptr;
    return &in_.insts[id];
}

const ir::Instruction* Selector::single_use(ir::ValueId value, ir::Op op) const {
    return uses_[value] == 1 ? foldable(value, op) : nullptr;
}

// ------------------------------------------------------------------------------------------------ extension
// of bytes

Extension Selector::extension(ir::ValueId value) const {
    using ir::Op;
    const ir::Instruction* def = in_.def(value);
    if (def == nullptr) {  // a parameter: of the function (loaded as u8) or of a block
        return in_.values[value].block == in_.entry() ? Extension::Zero : Extension::Garbage;
    }
    const auto is_one_of = [op = def->op](std::initializer_list<Op> ops) {
        return std::find(ops.begin(), ops.end(), op) != ops.end();
    };
    if (def->op == Op::Load) return Extension::Zero;
    if (is_one_of({Op::Zext, Op::Udiv, Op::Urem, Op::Umin, Op::Umax, Op::Lshr, Op::Popcnt, Op::Clz, Op::Ctz,
                   Op::Call})) {
        return Extension::Zero;
    }
    if (is_one_of({Op::Sext, Op::Srem, Op::Smin, Op::Smax, Op::Ashr})) return Extension::Sign;
    return Extension::Garbage;
}

ptx::Operand Selector::zext8(ir::ValueId value) {
    if (const auto c = int_constant(value)) return imm(static_cast<std::int64_t>(*c & 0xFF));
    const Reg reg = reg_of(value);
    if (extension(value) == Extension::Zero) return r(reg);
    return r(emit_to(RegClass::B16, Form::And, PT::B16, {r(reg), imm(255)}));
}

ptx::Operand Selector::sext8(ir::ValueId value) {
    if (const auto c = int_constant(value)) return imm(sign_extend(*c, 8));
    const Reg reg = reg_of(value);
    if (extension(value) == Extension::Sign) return r(reg);
    const Reg out = fresh(RegClass::B16);
    convert(out, PT::S16, r(reg), PT::S8);
    return r(out);
}

ptx::Operand Selector::extended(ir::ValueId value, bool is_signed) {
    if (in_.type_of(value) != VT::I8) return src(value);
    return is_signed ? sext8(value) : zext8(value);
}

ptx::Operand Selector::as_32(ir::ValueId value, bool is_signed) {
    const VT type = in_.type_of(value);
    if (type == VT::I32) return src(value);
    if (const auto c = int_constant(value)) {
        return imm(is_signed ? sign_extend(*c, ir::type_bits(type)) : static_cast<std::int64_t>(*c));
    }
    if (type == VT::I1) {
        return r(emit_to(RegClass::B32, Form::Selp, PT::B32,
                         {imm(is_signed ? -1 : 1), imm(0), plain_predicate(value)}));
    }
    const Reg out = fresh(RegClass::B32);
    const bool byte = type == VT::I8;
    if (is_signed) {
        convert(out, PT::S32, r(reg_of(value)), byte ? PT::S8 : PT::S16);
    } else {
        convert(out, PT::U32, r(reg_of(value)),
                byte && extension(value) != Extension::Zero ? PT::U8 : PT::U16);
    }
    return r(out);
}

// -----------------------------------------------------------------------------------------------------------
// emission

ptx::Instr& Selector::emit(Form form, PT type, std::initializer_list<Operand> operands) {
    current_.push_back(ptx::make(form, type, operands));
    current_.back().loc = loc_;
    return current_.back();
}

ptx::Reg Selector::emit_to(RegClass c, Form form, PT type, std::initializer_list<Operand> sources) {
    const Reg to = fresh(c);
    Instr& instr = emit(form, type, {r(to)});
    OCKC_CHECK(sources.size() < ptx::form_info(form).operand_count);
    std::copy(sources.begin(), sources.end(), instr.operands.begin() + 1);
    return to;
}

ptx::Instr& Selector::convert(Reg to, PT type, const Operand& from, PT from_type, ptx::Round round) {
    Instr& instr = emit(Form::Cvt, type, {r(to), from});
    instr.mods.source_type = from_type;
    instr.mods.round = round;
    return instr;
}

ptx::Instr& Selector::compare(Reg to, ptx::Cmp cmp, PT type, const Operand& a, const Operand& b) {
    Instr& instr = emit(Form::Setp, type, {r(to), Operand::none(), a, b});
    instr.mods.cmp = cmp;
    return instr;
}

void Selector::copy(Reg to, const Operand& from) {
    current_.push_back(move_instr(to, from));
    current_.back().loc = loc_;
}

}  // namespace ockc::isel
