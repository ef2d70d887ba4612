// Rules for conversions: chains of them collapse, and what cannot change the value goes away.
#include "opt/rules.hpp"

namespace ockc::opt {

using namespace ir;

namespace {

ValueId simplify_trunc(Rewriter& r, const Instruction& inner) {
    const Instruction& inst = r.inst();
    if (inner.op == Op::Trunc) return r.become(Op::Trunc, inst.type, {inner.args[0]});
    if (inner.op != Op::Zext && inner.op != Op::Sext) return ValueId::none();
    const Type from = r.type_of(inner.args[0]);
    if (from == inst.type) return inner.args[0];
    const bool shrinks = type_bits(from) > type_bits(inst.type);
    return r.become(shrinks ? Op::Trunc : inner.op, inst.type, {inner.args[0]});
}

ValueId simplify_extension(Rewriter& r, const Instruction& inner) {
    const Instruction& inst = r.inst();
    if (inner.op == Op::Zext) return r.become(Op::Zext, inst.type, {inner.args[0]});  // also sext of zext
    if (inner.op == Op::Sext && inst.op == Op::Sext) return r.become(Op::Sext, inst.type, {inner.args[0]});
    if (inner.op != Op::Trunc || inst.op != Op::Zext) return ValueId::none();
    // zext(trunc x) where the bits cut off are known to be zero.
    const Type from = r.type_of(inner.args[0]);
    const std::uint32_t kept = type_bits(inner.type);
    if (type_bits(from) > 64 || r.unsigned_max(inner.args[0]) >> kept != 0) return ValueId::none();
    if (from == inst.type) return inner.args[0];
    const bool shrinks = type_bits(from) > type_bits(inst.type);
    return r.become(shrinks ? Op::Trunc : Op::Zext, inst.type, {inner.args[0]});
}

ValueId simplify_bitcast(Rewriter& r, const Instruction& inner) {
    const Instruction& inst = r.inst();
    if (inner.op != Op::Bitcast) return ValueId::none();
    if (r.type_of(inner.args[0]) == inst.type) return inner.args[0];
    return r.become(Op::Bitcast, inst.type, {inner.args[0]});
}

// f32 -> f64 -> f32 and the like: widening is exact.
ValueId simplify_fcvt(Rewriter& r, const Instruction& inner) {
    const Instruction& inst = r.inst();
    if (inner.op != Op::Fcvt) return ValueId::none();
    const Type from = r.type_of(inner.args[0]);
    const bool widened = inner.type == Type::F64 || (inner.type == Type::F32 && from != Type::F64);
    if (!widened) return ValueId::none();
    if (from == inst.type) return inner.args[0];
    return r.become(Op::Fcvt, inst.type, {inner.args[0]});
}

}  // namespace

ValueId simplify_conversion(Rewriter& r) {
    const Instruction& inst = r.inst();
    const Type from = r.type_of(inst.args[0]);
    if (inst.op == Op::Bitcast && from == inst.type) return inst.args[0];
    const Instruction* inner = r.function.def(inst.args[0]);
    // A value that cannot be negative extends with zeros.
    if (inst.op == Op::Sext && from != Type::I1 && type_bits(from) <= 64 &&
        r.unsigned_max(inst.args[0]) >> (type_bits(from) - 1) == 0) {
        return r.become(Op::Zext, inst.type, {inst.args[0]});
    }
    if (inner == nullptr) return ValueId::none();
    switch (inst.op) {
        case Op::Trunc: return simplify_trunc(r, *inner);
        case Op::Zext:
        case Op::Sext: return simplify_extension(r, *inner);
        case Op::Bitcast: return simplify_bitcast(r, *inner);
        case Op::Fcvt: return simplify_fcvt(r, *inner);
        case Op::Sitofp:
            // A zero-extended integer has no sign.
            if (inner->op == Op::Zext) return r.become(Op::Uitofp, inst.type, {inst.args[0]});
            return ValueId::none();
        case Op::PtrToInt:
            if (inner->op == Op::IntToPtr) return inner->args[0];
            return ValueId::none();
        case Op::IntToPtr:
            if (inner->op == Op::PtrToInt && r.type_of(inner->args[0]) == inst.type) return inner->args[0];
            return ValueId::none();
        case Op::SpaceCast:
            if (inner->op == Op::SpaceCast && r.type_of(inner->args[0]) == inst.type) return inner->args[0];
            return ValueId::none();
        default: return ValueId::none();
    }
}

}  // namespace ockc::opt
