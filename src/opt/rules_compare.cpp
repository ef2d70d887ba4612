// Rules for comparisons.
#include "ir/analysis/alias.hpp"
#include "ir/names.hpp"
#include "opt/rules.hpp"

namespace ockc::opt {

using namespace ir;

namespace {

ValueId icmp(Rewriter& r, IntCond cond, Type type, ValueId a, ValueId b) {
    return r.become(Op::Icmp, type, {a, b}, static_cast<std::uint8_t>(cond));
}

ValueId compare_truth(Rewriter& r, IntCond cond, ValueId a, ValueId b) {
    // On i1, 0 < 1 unsigned and -1 < 0 signed.
    if (cond == IntCond::Ne && r.is(b, 0)) return a;
    if (cond == IntCond::Eq && r.is(b, 1)) return a;
    if (cond == IntCond::Eq && r.is(b, 0)) return r.become(Op::Not, Type::I1, {a});
    if (cond == IntCond::Ne && r.is(b, 1)) return r.become(Op::Not, Type::I1, {a});
    return ValueId::none();
}

ValueId compare_pointers(Rewriter& r, IntCond cond, ValueId a, ValueId b) {
    if (r.is(b, 0) && is_nonnull(r.function, a)) {
        if (cond == IntCond::Eq) return r.make_bool(false);
        if (cond == IntCond::Ne) return r.make_bool(true);
    }
    // A global pointer is the same number as its generic address.
    const Instruction* cast = r.match(a, Op::SpaceCast);
    if (cast != nullptr && r.is(b, 0) && r.type_of(cast->args[0]) == Type::PtrGlobal) {
        return icmp(r, cond, Type::PtrGlobal, cast->args[0], r.make_constant(Type::PtrGlobal, 0));
    }
    const PointerBase pa = constant_base(r.function, a);
    const PointerBase pb = constant_base(r.function, b);
    if (pa.base == pb.base && (cond == IntCond::Eq || cond == IntCond::Ne)) {
        return r.make_bool((pa.offset == pb.offset) == (cond == IntCond::Eq));
    }
    return ValueId::none();
}

// Comparisons that the range of the left side decides, and strict conditions instead of inclusive ones.
ValueId compare_with_constant(Rewriter& r, IntCond cond, ValueId a, Constant c) {
    const Type type = r.inst().type;
    const std::uint32_t bits = type_bits(type);
    const Uint128 ones = cut(~Uint128{0}, bits);
    const Uint128 smax = ones >> 1;
    const Uint128 smin = smax + 1;
    const Uint128 value = wide(c);
    const auto with = [&](IntCond strict, Uint128 other) {
        return icmp(r, strict, type, a, r.make_constant(type, opt::narrow(cut(other, bits))));
    };
    switch (cond) {
        case IntCond::Ule: return value == ones ? r.make_bool(true) : with(IntCond::Ult, value + 1);
        case IntCond::Uge: return value == 0 ? r.make_bool(true) : with(IntCond::Ugt, value - 1);
        case IntCond::Sle: return value == smax ? r.make_bool(true) : with(IntCond::Slt, value + 1);
        case IntCond::Sge: return value == smin ? r.make_bool(true) : with(IntCond::Sgt, value - 1);
        case IntCond::Ult:
            if (value == 0) return r.make_bool(false);
            if (value == 1) return with(IntCond::Eq, 0);
            if (bits <= 64 && r.unsigned_max(a) < c.low) return r.make_bool(true);
            return ValueId::none();
        case IntCond::Ugt:
            if (value == ones) return r.make_bool(false);
            if (value == 0) return with(IntCond::Ne, 0);
            if (bits <= 64 && r.unsigned_max(a) <= c.low) return r.make_bool(false);
            return ValueId::none();
        case IntCond::Slt:
            if (value == smin) return r.make_bool(false);
            if (bits <= 64 && value <= smax && r.unsigned_max(a) < c.low) return r.make_bool(true);
            if (bits <= 64 && value == 0 && r.unsigned_max(a) <= smax) return r.make_bool(false);
            return ValueId::none();
        case IntCond::Sgt:
            if (value == smax) return r.make_bool(false);
            if (bits <= 64 && value <= smax && r.unsigned_max(a) <= c.low) return r.make_bool(false);
            if (value == ones && bits <= 64 && r.unsigned_max(a) <= smax) return r.make_bool(true);
            return ValueId::none();
        case IntCond::Eq:
        case IntCond::Ne:
            if (bits <= 64 && r.unsigned_max(a) < c.low) return r.make_bool(cond == IntCond::Ne);
            return ValueId::none();
    }
    return ValueId::none();
}

// A comparison of a select of two constants is the select's condition, its opposite, or known.
ValueId compare_select(Rewriter& r, IntCond cond, const Instruction& select, Constant c) {
    const auto a = r.constant(select.args[1]);
    const auto b = r.constant(select.args[2]);
    if (!a || !b) return ValueId::none();
    const std::uint32_t bits = type_bits(select.type);
    const bool when_true = fold_icmp(cond, bits, *a, c);
    const bool when_false = fold_icmp(cond, bits, *b, c);
    if (when_true == when_false) return r.make_bool(when_true);
    if (when_true) return select.args[0];
    return r.become(Op::Not, Type::I1, {select.args[0]});
}

// Equality moves over invertible operations.
ValueId compare_equal(Rewriter& r, IntCond cond, ValueId a, Constant c) {
    const Type type = r.inst().type;
    const Instruction* def = r.function.def(a);
    if (def == nullptr || !is_int(type)) return ValueId::none();
    const std::uint32_t bits = type_bits(type);
    if (def->op == Op::Iadd || def->op == Op::Xor) {
        if (const auto k = r.constant(def->args[1])) {
            const Uint128 moved = def->op == Op::Iadd ? wide(c) - wide(*k) : wide(c) ^ wide(*k);
            return icmp(r, cond, type, def->args[0], r.make_constant(type, opt::narrow(cut(moved, bits))));
        }
    }
    const bool difference = def->op == Op::Isub || def->op == Op::Xor;
    if (difference && wide(c) == 0) return icmp(r, cond, type, def->args[0], def->args[1]);
    return ValueId::none();
}

// Extensions on both sides, or on one side against a constant that the narrow type can hold.
ValueId compare_extended(Rewriter& r, IntCond cond, const Instruction& ext, ValueId b) {
    const Type from = r.type_of(ext.args[0]);
    const bool zero = ext.op == Op::Zext;
    const bool order_kept =
        zero ? true : (is_signed_cond(cond) || cond == IntCond::Eq || cond == IntCond::Ne);
    if (!order_kept) return ValueId::none();
    // Zero-extended values are not negative: signed order is unsigned order.
    IntCond narrow_cond = cond;
    if (zero && is_signed_cond(cond)) {
        narrow_cond = static_cast<IntCond>(static_cast<int>(cond) - static_cast<int>(IntCond::Slt) +
                                           static_cast<int>(IntCond::Ult));
    }
    if (const Instruction* other = r.match(b, ext.op);
        other != nullptr && r.type_of(other->args[0]) == from) {
        return icmp(r, narrow_cond, from, ext.args[0], other->args[0]);
    }
    const auto c = r.constant(b);
    if (!c) return ValueId::none();
    const std::uint32_t from_bits = type_bits(from);
    const Uint128 low = cut(wide(*c), from_bits);
    const Uint128 again =
        zero ? low : cut(static_cast<Uint128>(sign_extend(low, from_bits)), type_bits(r.inst().type));
    if (again != wide(*c)) return ValueId::none();  // compare_with_constant knows the range
    return icmp(r, narrow_cond, from, ext.args[0], r.make_constant(from, opt::narrow(low)));
}

// x == ((x + bias) & -2^k), where bias is 2^k - 1 for negative x: what `x % 2^k == 0` has become. True
// exactly when the low k bits are zero.
ValueId compare_rounded(Rewriter& r, IntCond cond, ValueId x, ValueId rounded) {
    const Instruction* mask = r.match(rounded, Op::And);
    const auto kept = mask != nullptr ? r.constant(mask->args[1]) : std::nullopt;
    const Instruction* sum = kept ? r.match(mask->args[0], Op::Iadd) : nullptr;
    if (sum == nullptr || sum->args[0] != x) return ValueId::none();
    const Type type = r.inst().type;
    const std::uint32_t bits = type_bits(type);
    const Uint128 low = cut(~wide(*kept), bits);
    const Instruction* bias = r.match(sum->args[1], Op::Lshr);
    const Instruction* sign = bias != nullptr ? r.match(bias->args[0], Op::Ashr) : nullptr;
    if (sign == nullptr || sign->args[0] != x || !r.is(sign->args[1], bits - 1)) return ValueId::none();
    const auto shift = r.constant(bias->args[1]);
    if (!shift || shift->low >= bits || low != cut(~Uint128{0}, bits) >> shift->low) return ValueId::none();
    const ValueId tested = r.make(Op::And, type, {x, r.make_constant(type, opt::narrow(low))});
    return icmp(r, cond, type, tested, r.make_constant(type, 0));
}

}  // namespace

ValueId simplify_icmp(Rewriter& r) {
    const Instruction& inst = r.inst();
    const IntCond cond = inst.int_cond();
    const ValueId a = inst.args[0];
    const ValueId b = inst.args[1];
    if (a == b) return r.make_bool(true_when_equal(cond));
    const auto c = r.constant(b);
    if (r.constant(a) && !c) return icmp(r, swap(cond), inst.type, b, a);
    if (is_ptr(inst.type)) return compare_pointers(r, cond, a, b);
    if (inst.type == Type::I1) return compare_truth(r, cond, a, b);
    const Instruction* def = r.function.def(a);
    if (def != nullptr && (def->op == Op::Zext || def->op == Op::Sext)) {
        const ValueId value = compare_extended(r, cond, *def, b);
        if (value.valid() || r.mutated()) return value;
    }
    if (!c && (cond == IntCond::Eq || cond == IntCond::Ne)) return compare_rounded(r, cond, a, b);
    if (!c) return ValueId::none();
    if (def != nullptr && def->op == Op::Select) {
        const ValueId value = compare_select(r, cond, *def, *c);
        if (value.valid() || r.mutated()) return value;
    }
    if (def != nullptr && def->op == Op::PtrToInt && wide(*c) == 0 &&
        (cond == IntCond::Eq || cond == IntCond::Ne)) {
        const Type pointer = r.type_of(def->args[0]);
        return icmp(r, cond, pointer, def->args[0], r.make_constant(pointer, 0));
    }
    if (cond == IntCond::Eq || cond == IntCond::Ne) {
        const ValueId value = compare_equal(r, cond, a, *c);
        if (value.valid() || r.mutated()) return value;
    }
    return compare_with_constant(r, cond, a, *c);
}

ValueId simplify_fcmp(Rewriter& r) {
    const Instruction& inst = r.inst();
    const FloatCond cond = inst.float_cond();
    const ValueId a = inst.args[0];
    const ValueId b = inst.args[1];
    const auto become = [&](FloatCond other, ValueId x, ValueId y) {
        return r.become(Op::Fcmp, inst.type, {x, y}, static_cast<std::uint8_t>(other));
    };
    if (r.constant(a) && !r.constant(b)) return become(swap(cond), b, a);
    if (a != b) return ValueId::none();
    switch (cond) {
        case FloatCond::Oeq:
        case FloatCond::Ole:
        case FloatCond::Oge: return become(FloatCond::Ord, a, b);
        case FloatCond::Une:
        case FloatCond::Ult:
        case FloatCond::Ugt: return become(FloatCond::Uno, a, b);
        case FloatCond::Olt:
        case FloatCond::Ogt:
        case FloatCond::One: return r.make_bool(false);
        case FloatCond::Ueq:
        case FloatCond::Ule:
        case FloatCond::Uge: return r.make_bool(true);
        case FloatCond::Ord:
        case FloatCond::Uno: return ValueId::none();
    }
    return ValueId::none();
}

}  // namespace ockc::opt
