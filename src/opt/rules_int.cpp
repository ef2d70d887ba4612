// Rules for integer arithmetic, bits, shifts, selects and special registers.
#include <bit>

#include "ir/names.hpp"
#include "opt/rules.hpp"

namespace ockc::opt {

using namespace ir;

namespace {

Constant constant_op(Op op, Type type, Constant a, Constant b) {
    Instruction inst;
    inst.op = op;
    inst.type = type;
    const Constant args[] = {a, b};
    return *fold(inst, type, args);
}

// (x op c1) op c2 = x op (c1 op c2), for associative and commutative op.
ValueId reassociate(Rewriter& r) {
    const Instruction& inst = r.inst();
    const auto outer = r.constant(inst.args[1]);
    const Instruction* inner = r.match(inst.args[0], inst.op);
    if (!outer || inner == nullptr) return ValueId::none();
    const auto inner_constant = r.constant(inner->args[1]);
    if (!inner_constant) return ValueId::none();
    const ValueId combined =
        r.make_constant(inst.type, constant_op(inst.op, inst.type, *inner_constant, *outer));
    return r.become(inst.op, inst.type, {inner->args[0], combined});
}

ValueId simplify_add(Rewriter& r) {
    const Instruction& inst = r.inst();
    const ValueId a = inst.args[0];
    const ValueId b = inst.args[1];
    if (r.is(b, 0)) return a;
    for (const auto& [x, y] : {std::pair(a, b), std::pair(b, a)}) {
        if (const Instruction* sub = r.match(x, Op::Isub)) {
            if (sub->args[1] == y) return sub->args[0];  // (p - y) + y
        }
        if (const Instruction* neg = r.match(x, Op::Ineg))
            return r.become(Op::Isub, inst.type, {y, neg->args[0]});
    }
    return reassociate(r);
}

ValueId simplify_sub(Rewriter& r) {
    const Instruction& inst = r.inst();
    const ValueId a = inst.args[0];
    const ValueId b = inst.args[1];
    if (a == b) return r.make_constant(inst.type, 0);
    if (r.is(b, 0)) return a;
    if (r.is(a, 0)) return r.become(Op::Ineg, inst.type, {b});
    if (const auto c = r.constant(b)) {
        const Constant negated = opt::narrow(cut(-wide(*c), type_bits(inst.type)));
        return r.become(Op::Iadd, inst.type, {a, r.make_constant(inst.type, negated)});
    }
    if (const Instruction* add = r.match(a, Op::Iadd)) {
        if (add->args[0] == b) return add->args[1];
        if (add->args[1] == b) return add->args[0];
    }
    if (const Instruction* neg = r.match(b, Op::Ineg))
        return r.become(Op::Iadd, inst.type, {a, neg->args[0]});
    return ValueId::none();
}

ValueId simplify_mul(Rewriter& r) {
    const Instruction& inst = r.inst();
    const ValueId a = inst.args[0];
    const ValueId b = inst.args[1];
    const auto c = r.constant(b);
    if (!c) return ValueId::none();
    if (wide(*c) == 0) return b;
    if (wide(*c) == 1) return a;
    if (r.is_all_ones(b)) return r.become(Op::Ineg, inst.type, {a});
    if (std::has_single_bit(c->low) && c->high == 0) {
        const auto shift = static_cast<std::uint64_t>(std::countr_zero(c->low));
        return r.become(Op::Shl, inst.type, {a, r.make_constant(Type::I32, shift)});
    }
    if (const Instruction* shl = r.match(a, Op::Shl)) {  // (x << k) * c
        if (const auto k = r.constant(shl->args[1])) {
            const Constant factor = constant_op(Op::Shl, inst.type, *c, *k);
            return r.become(Op::Imul, inst.type, {shl->args[0], r.make_constant(inst.type, factor)});
        }
    }
    return reassociate(r);
}

ValueId simplify_and(Rewriter& r) {
    const Instruction& inst = r.inst();
    const ValueId a = inst.args[0];
    const ValueId b = inst.args[1];
    if (a == b || r.is_all_ones(b)) return a;
    if (r.is(b, 0)) return b;
    for (const auto& [x, y] : {std::pair(a, b), std::pair(b, a)}) {
        const Instruction* complement = r.match(x, Op::Not);
        if (complement != nullptr && complement->args[0] == y) return r.make_constant(inst.type, 0);
    }
    if (const auto c = r.constant(b); c && type_bits(inst.type) <= 64) {
        // A mask that covers every bit that can be set.
        const std::uint64_t max = r.unsigned_max(a);
        const std::uint64_t possible = max == 0 ? 0 : ~std::uint64_t{0} >> std::countl_zero(max);
        if ((possible & ~c->low) == 0) return a;
    }
    return reassociate(r);
}

ValueId simplify_or(Rewriter& r) {
    const Instruction& inst = r.inst();
    const ValueId a = inst.args[0];
    const ValueId b = inst.args[1];
    if (a == b || r.is(b, 0)) return a;
    if (r.is_all_ones(b)) return b;
    return reassociate(r);
}

ValueId simplify_xor(Rewriter& r) {
    const Instruction& inst = r.inst();
    const ValueId a = inst.args[0];
    const ValueId b = inst.args[1];
    if (a == b) return r.make_constant(inst.type, 0);
    if (r.is(b, 0)) return a;
    if (r.is_all_ones(b)) return r.become(Op::Not, inst.type, {a});
    return reassociate(r);
}

ValueId simplify_not(Rewriter& r) {
    const Instruction& inst = r.inst();
    const Instruction* def = r.function.def(inst.args[0]);
    if (def == nullptr) return ValueId::none();
    if (def->op == Op::Not) return def->args[0];
    if (def->op == Op::Icmp) {
        const auto cond = static_cast<std::uint8_t>(invert(def->int_cond()));
        return r.become(Op::Icmp, def->type, {def->args[0], def->args[1]}, cond);
    }
    if (def->op == Op::Fcmp) {
        const auto cond = static_cast<std::uint8_t>(invert(def->float_cond()));
        return r.become(Op::Fcmp, def->type, {def->args[0], def->args[1]}, cond);
    }
    return ValueId::none();
}

// The hardware sees the amount modulo the width only: cut constants, drop masks that do the same.
ValueId simplify_shift_amount(Rewriter& r) {
    const Instruction& inst = r.inst();
    const std::uint32_t bits = type_bits(inst.type);
    if (const auto c = r.constant(inst.args[1])) {
        if (c->low < bits) return ValueId::none();
        return r.become(inst.op, inst.type, {inst.args[0], r.make_constant(Type::I32, c->low % bits)});
    }
    if (const Instruction* mask = r.match(inst.args[1], Op::And)) {
        const auto c = r.constant(mask->args[1]);
        if (c && (c->low & (bits - 1)) == bits - 1)
            return r.become(inst.op, inst.type, {inst.args[0], mask->args[0]});
    }
    return ValueId::none();
}

ValueId simplify_shift(Rewriter& r) {
    const Instruction& inst = r.inst();
    const ValueId a = inst.args[0];
    const auto c = r.constant(inst.args[1]);
    const std::uint32_t bits = type_bits(inst.type);
    if (r.is(a, 0)) return a;
    if (c && c->low % bits == 0) return a;
    const ValueId amount = simplify_shift_amount(r);
    if (!c || c->low >= bits) return amount;
    const Instruction* inner = r.function.def(a);
    if (inner == nullptr || (inner->op != Op::Shl && inner->op != Op::Lshr && inner->op != Op::Ashr)) {
        return ValueId::none();
    }
    const auto k = r.constant(inner->args[1]);
    if (!k || k->low >= bits) return ValueId::none();
    if (inner->op == inst.op) {  // two shifts the same way
        const std::uint64_t sum = c->low + k->low;
        if (sum < bits)
            return r.become(inst.op, inst.type, {inner->args[0], r.make_constant(Type::I32, sum)});
        if (inst.op == Op::Ashr) {
            return r.become(inst.op, inst.type, {inner->args[0], r.make_constant(Type::I32, bits - 1)});
        }
        return r.make_constant(inst.type, 0);
    }
    // There and back clears bits: at the top, or at the bottom, where an arithmetic shift there does as well.
    const bool back_down = inst.op == Op::Lshr && inner->op == Op::Shl;
    const bool back_up = inst.op == Op::Shl;
    if (c->low != k->low || (!back_down && !back_up)) return ValueId::none();
    const Uint128 ones = cut(~Uint128{0}, bits);
    const Uint128 mask = back_down ? ones >> c->low : cut(ones << c->low, bits);
    return r.become(Op::And, inst.type, {inner->args[0], r.make_constant(inst.type, opt::narrow(mask))});
}

ValueId simplify_min_max(Rewriter& r) {
    const Instruction& inst = r.inst();
    if (inst.args[0] == inst.args[1]) return inst.args[0];
    const auto c = r.constant(inst.args[1]);
    if (!c) return ValueId::none();
    const std::uint32_t bits = type_bits(inst.type);
    if (inst.op == Op::Umin && bits <= 64 && r.unsigned_max(inst.args[0]) <= c->low) return inst.args[0];
    if (inst.op == Op::Umax && bits <= 64 && r.unsigned_max(inst.args[0]) <= c->low) return inst.args[1];
    if (inst.op == Op::Umax && wide(*c) == 0) return inst.args[0];
    return reassociate(r);
}

ValueId simplify_overflow(Rewriter& r) {
    const Instruction& inst = r.inst();
    if (r.is(inst.args[1], 0)) return r.make_bool(false);
    const bool multiply = inst.op == Op::UmulOv || inst.op == Op::SmulOv;
    if (multiply && r.is(inst.args[1], 1) && type_bits(inst.type) > 1) return r.make_bool(false);
    if (type_bits(inst.type) > 64) return ValueId::none();
    const std::uint64_t a = r.unsigned_max(inst.args[0]);
    const std::uint64_t b = r.unsigned_max(inst.args[1]);
    const Uint128 limit = cut(~Uint128{0}, type_bits(inst.type));
    if (inst.op == Op::UaddOv && static_cast<Uint128>(a) + b <= limit) return r.make_bool(false);
    if (inst.op == Op::UmulOv && static_cast<Uint128>(a) * b <= limit) return r.make_bool(false);
    if (inst.op == Op::SaddOv && static_cast<Uint128>(a) + b <= limit / 2) return r.make_bool(false);
    if (inst.op == Op::SmulOv && static_cast<Uint128>(a) * b <= limit / 2) return r.make_bool(false);
    if (inst.op == Op::UsubOv) {  // a - b overflows when a < b
        return r.become(Op::Icmp, inst.type, {inst.args[0], inst.args[1]},
                        static_cast<std::uint8_t>(IntCond::Ult));
    }
    return ValueId::none();
}

ValueId simplify_machine(Rewriter& r) {
    const Instruction& inst = r.inst();
    if (inst.op == Op::Sreg) {
        const auto value = sreg_value(r.function, inst.sreg());
        return value ? r.make_constant(inst.type, *value) : ValueId::none();
    }
    // A function of its own may still be inlined into a kernel: only kernels know.
    return r.function.is_kernel ? r.make_constant(inst.type, r.function.facts.domain) : ValueId::none();
}

}  // namespace

ValueId simplify_int(Rewriter& r) {
    const Instruction& inst = r.inst();
    if (is_commutative(inst.op) && r.constant(inst.args[0]) && !r.constant(inst.args[1])) {
        return r.become(inst.op, inst.type, {inst.args[1], inst.args[0]});
    }
    switch (inst.op) {
        case Op::Iadd: return simplify_add(r);
        case Op::Isub: return simplify_sub(r);
        case Op::Imul: return simplify_mul(r);
        case Op::And: return simplify_and(r);
        case Op::Or: return simplify_or(r);
        case Op::Xor: return simplify_xor(r);
        case Op::Not: return simplify_not(r);
        case Op::Shl:
        case Op::Lshr:
        case Op::Ashr: return simplify_shift(r);
        case Op::Rotl:
        case Op::Rotr: return simplify_shift_amount(r);
        case Op::Umin:
        case Op::Umax:
        case Op::Smin:
        case Op::Smax: return simplify_min_max(r);
        case Op::UaddOv:
        case Op::SaddOv:
        case Op::UsubOv:
        case Op::SsubOv:
        case Op::UmulOv:
        case Op::SmulOv: return simplify_overflow(r);
        case Op::Ineg:
            if (const Instruction* neg = r.match(inst.args[0], Op::Ineg)) return neg->args[0];
            if (const Instruction* sub = r.match(inst.args[0], Op::Isub)) {
                return r.become(Op::Isub, inst.type, {sub->args[1], sub->args[0]});
            }
            return ValueId::none();
        case Op::Sreg:
        case Op::LaunchDomain: return simplify_machine(r);
        default: return ValueId::none();  // folded when constant, else left alone
    }
}

namespace {

// select(a < b, a, b) and its relatives are minimum and maximum.
ValueId select_min_max(Rewriter& r, const Instruction& compare, ValueId a, ValueId b) {
    const Instruction& inst = r.inst();
    if (!is_int(inst.type) || inst.type == Type::I1) return ValueId::none();
    IntCond cond = compare.int_cond();
    if (compare.args[0] == b && compare.args[1] == a) {
        cond = swap(cond);
    } else if (compare.args[0] != a || compare.args[1] != b) {
        return ValueId::none();
    }
    switch (cond) {
        case IntCond::Ult:
        case IntCond::Ule: return r.become(Op::Umin, inst.type, {a, b});
        case IntCond::Ugt:
        case IntCond::Uge: return r.become(Op::Umax, inst.type, {a, b});
        case IntCond::Slt:
        case IntCond::Sle: return r.become(Op::Smin, inst.type, {a, b});
        case IntCond::Sgt:
        case IntCond::Sge: return r.become(Op::Smax, inst.type, {a, b});
        case IntCond::Eq: return b;
        case IntCond::Ne: return a;
    }
    return ValueId::none();
}

ValueId select_truth(Rewriter& r, ValueId c, ValueId a, ValueId b) {
    if (r.is(a, 1) && r.is(b, 0)) return c;
    if (r.is(a, 0) && r.is(b, 1)) return r.become(Op::Not, Type::I1, {c});
    if (r.is(b, 0)) return r.become(Op::And, Type::I1, {c, a});
    if (r.is(a, 1)) return r.become(Op::Or, Type::I1, {c, b});
    if (r.is(a, 0)) return r.become(Op::And, Type::I1, {r.make(Op::Not, Type::I1, {c}), b});
    if (r.is(b, 1)) return r.become(Op::Or, Type::I1, {r.make(Op::Not, Type::I1, {c}), a});
    return ValueId::none();
}

}  // namespace

ValueId simplify_select(Rewriter& r) {
    const Instruction& inst = r.inst();
    const ValueId c = inst.args[0];
    const ValueId a = inst.args[1];
    const ValueId b = inst.args[2];
    if (a == b) return a;
    if (const auto known = r.constant(c)) return known->low != 0 ? a : b;
    if (const Instruction* inverse = r.match(c, Op::Not)) {
        return r.become(Op::Select, inst.type, {inverse->args[0], b, a});
    }
    if (inst.type == Type::I1) return select_truth(r, c, a, b);
    if (is_int(inst.type) && r.is(a, 1) && r.is(b, 0)) return r.become(Op::Zext, inst.type, {c});
    if (const Instruction* inner = r.match(a, Op::Select); inner != nullptr && inner->args[0] == c) {
        return r.become(Op::Select, inst.type, {c, inner->args[1], b});
    }
    if (const Instruction* inner = r.match(b, Op::Select); inner != nullptr && inner->args[0] == c) {
        return r.become(Op::Select, inst.type, {c, a, inner->args[2]});
    }
    if (const Instruction* compare = r.match(c, Op::Icmp)) return select_min_max(r, *compare, a, b);
    return ValueId::none();
}

}  // namespace ockc::opt
