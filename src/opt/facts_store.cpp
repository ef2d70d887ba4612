#include <algorithm>
#include <array>

#include "ir/names.hpp"
#include "opt/const_fold.hpp"
#include "opt/facts.hpp"
#include "opt/rules.hpp"

namespace ockc::opt {

using namespace ir;

namespace {

std::uint64_t all_ones(std::uint32_t bits) {
    return bits >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1;
}
std::uint64_t signed_max(std::uint32_t bits) {
    return all_ones(bits) >> 1;
}

}  // namespace

void Facts::undo(Mark mark) {
    while (changes_.size() > mark.changes) {
        Change& change = changes_.back();
        switch (change.kind) {
            case Change::Kind::Constant: constants_.set(change.value, change.old_constant); break;
            case Change::Kind::Range: ranges_.set(change.value, change.old_range); break;
            case Change::Kind::Order: orders_.at(change.value).pop_back(); break;
        }
        changes_.pop_back();
    }
}

void Facts::set_constant(ValueId value, Constant constant) {
    changes_.push_back({Change::Kind::Constant, value, constants_[value], std::nullopt});
    constants_.set(value, constant);
}

std::optional<Constant> Facts::constant(ValueId value) const {
    if (const Instruction* def = constant_def(function_, value)) return Constant{def->imm, def->imm_high};
    return constants_[value];
}

void Facts::assume_range(ValueId value, Range range) {
    const Range old = this->range(value);
    const Range both{std::max(old.min, range.min), std::min(old.max, range.max)};
    if (both.min > both.max || (both.min == old.min && both.max == old.max))
        return;  // impossible path, or nothing new
    changes_.push_back({Change::Kind::Range, value, std::nullopt, ranges_[value]});
    ranges_.set(value, both);
}

void Facts::add_order(ValueId less, ValueId greater, bool strict, bool is_signed) {
    changes_.push_back({Change::Kind::Order, less, std::nullopt, std::nullopt});
    orders_.at(less).push_back({greater, strict, is_signed});
}

void Facts::assume_equal(ValueId value, Constant constant) {
    if (constant_def(function_, value) != nullptr) return;
    set_constant(value, constant);
    // zext x = c says x = c, and the like for what the condition was made from.
    const Instruction* def = function_.def(value);
    if (def != nullptr && def->op == Op::Zext) {
        const std::uint32_t bits = type_bits(function_.type_of(def->args[0]));
        if (cut(wide(constant), bits) == wide(constant)) assume_equal(def->args[0], constant);
    }
}

void Facts::assume(ValueId condition, bool truth) {
    std::array<std::pair<ValueId, bool>, 16>
        work;  // conditions to look at; deeper nests than that stay opaque
    std::size_t count = 1;
    work[0] = {condition, truth};
    while (count > 0) {
        const auto [value, holds] = work[--count];
        if (constant_def(function_, value) != nullptr) continue;
        set_constant(value, {holds ? 1u : 0u, 0});
        const Instruction* def = function_.def(value);
        if (def == nullptr) continue;
        if (def->op == Op::Not && count + 1 <= work.size()) work[count++] = {def->args[0], !holds};
        const bool both = (def->op == Op::And && holds) || (def->op == Op::Or && !holds);
        if (both && count + 2 <= work.size()) {
            work[count++] = {def->args[0], holds};
            work[count++] = {def->args[1], holds};
        }
        if (def->op == Op::Icmp && is_int(def->type)) {
            assume_compare(holds ? def->int_cond() : invert(def->int_cond()), def->args[0], def->args[1]);
        }
        // A difference in the overflow test: a < b when a - b overflows.
        if (def->op == Op::UsubOv)
            assume_compare(holds ? IntCond::Ult : IntCond::Uge, def->args[0], def->args[1]);
    }
}

void Facts::assume_compare(IntCond cond, ValueId a, ValueId b) {
    const auto ca = constant(a);
    const auto cb = constant(b);
    const std::uint32_t bits = type_bits(function_.type_of(a));
    if (cond == IntCond::Eq) {
        if (cb) assume_equal(a, *cb);
        if (ca) assume_equal(b, *ca);
        if (ca || cb) return;
        for (const bool is_signed : {false, true}) {
            add_order(a, b, false, is_signed);
            add_order(b, a, false, is_signed);
        }
        return;
    }
    if (cond == IntCond::Ne) {
        if (cb && wide(*cb) == 0 && bits <= 64) assume_range(a, {1, all_ones(bits)});
        return;
    }
    const bool greater =
        cond == IntCond::Ugt || cond == IntCond::Uge || cond == IntCond::Sgt || cond == IntCond::Sge;
    if (greater) return assume_compare(swap(cond), b, a);
    const bool strict = cond == IntCond::Ult || cond == IntCond::Slt;
    const bool is_signed = is_signed_cond(cond);
    add_order(a, b, strict, is_signed);
    if (bits > 64) return;
    const std::uint64_t step = strict ? 1 : 0;
    if (!is_signed) {
        const Range ra = range(a);
        const Range rb = range(b);
        if (rb.max >= step) assume_range(a, {0, rb.max - step});
        if (ra.min <= all_ones(bits) - step) assume_range(b, {ra.min + step, all_ones(bits)});
        return;
    }
    // Signed bounds matter where they keep a value on the side of the non-negative numbers.
    if (not_negative(a)) {
        assume_range(b, {range(a).min + step, signed_max(bits)});
    } else if (strict && ca && wide(*ca) == all_ones(bits)) {  // -1 < b
        assume_range(b, {0, signed_max(bits)});
    }
    if (not_negative(a) && not_negative(b) && range(b).max >= step) assume_range(a, {0, range(b).max - step});
}

bool Facts::not_negative(ValueId value) const {
    const std::uint32_t bits = type_bits(function_.type_of(value));
    return bits <= 64 && range(value).max <= signed_max(bits);
}

// ---- ranges
// ----------------------------------------------------------------------------------------------------------

Range Facts::range(ValueId value, int depth) const {
    const std::uint32_t bits = type_bits(function_.type_of(value));
    Range out{0, all_ones(bits)};
    if (bits > 64) return out;
    if (const auto known = constant(value)) return {known->low, known->low};
    const Instruction* def = function_.def(value);
    if (def != nullptr && depth > 0) {
        const Range computed = computed_range(*def, depth - 1);
        out = {std::max(out.min, computed.min), std::min(out.max, computed.max)};
    }
    if (const auto& known = ranges_[value])
        out = {std::max(out.min, known->min), std::min(out.max, known->max)};
    return out.min <= out.max ? out : Range{0, all_ones(bits)};
}

Range Facts::computed_range(const Instruction& def, int depth) const {
    const std::uint32_t bits = type_bits(def.type);
    const Range full{0, all_ones(bits)};
    if (bits > 64) return full;
    const auto arg = [&](std::uint32_t i) { return range(def.args[i], depth); };
    const auto checked = [&](Uint128 low, Uint128 high) {
        return high <= full.max ? Range{static_cast<std::uint64_t>(low), static_cast<std::uint64_t>(high)}
                                : full;
    };
    switch (def.op) {
        case Op::Zext: return arg(0);
        case Op::Trunc:
            return arg(0).max <= full.max && type_bits(function_.type_of(def.args[0])) <= 64 ? arg(0) : full;
        case Op::Iadd: {
            const Range a = arg(0);
            const Range b = arg(1);
            return checked(static_cast<Uint128>(a.min) + b.min, static_cast<Uint128>(a.max) + b.max);
        }
        case Op::Isub: {
            const Range a = arg(0);
            const Range b = arg(1);
            if (a.min >= b.max) return {a.min - b.max, a.max - b.min};
            return proves_less(def.args[1], def.args[0], false, false) ? Range{0, a.max - b.min} : full;
        }
        case Op::Imul: {
            const Range a = arg(0);
            const Range b = arg(1);
            return checked(static_cast<Uint128>(a.min) * b.min, static_cast<Uint128>(a.max) * b.max);
        }
        case Op::And: return {0, std::min(arg(0).max, arg(1).max)};
        case Op::Udiv:
            return arg(1).min != 0 ? Range{arg(0).min / arg(1).max, arg(0).max / arg(1).min} : full;
        case Op::Urem: return arg(1).min != 0 ? Range{0, std::min(arg(0).max, arg(1).max - 1)} : full;
        case Op::Umin: return {std::min(arg(0).min, arg(1).min), std::min(arg(0).max, arg(1).max)};
        case Op::Umax: return {std::max(arg(0).min, arg(1).min), std::max(arg(0).max, arg(1).max)};
        case Op::Select: return {std::min(arg(1).min, arg(2).min), std::max(arg(1).max, arg(2).max)};
        case Op::Lshr: {
            const auto shift = constant(def.args[1]);
            return shift ? Range{arg(0).min >> (shift->low % bits), arg(0).max >> (shift->low % bits)}
                         : Range{0, arg(0).max};
        }
        case Op::Shl: {
            const auto shift = constant(def.args[1]);
            if (!shift) return full;
            return checked(static_cast<Uint128>(arg(0).min) << (shift->low % bits),
                           static_cast<Uint128>(arg(0).max) << (shift->low % bits));
        }
        case Op::Popcnt:
        case Op::Clz:
        case Op::Ctz: return {0, bits};
        case Op::Sreg: {
            const bool extent = def.sreg() >= Sreg::NtidX && def.sreg() <= Sreg::NtidZ;
            return {extent ? 1u : 0u, sreg_max(function_, def.sreg())};
        }
        default: return full;
    }
}

// ---- order
// -----------------------------------------------------------------------------------------------------------

// a <= b (or a < b) by what a or b is computed as, unsigned.
bool Facts::below_by_definition(ValueId a, ValueId b, bool strict) const {
    const Instruction* def = function_.def(a);
    if (def != nullptr) {
        switch (def->op) {
            case Op::Urem:
                if (def->args[1] == b && range(b).min != 0) return true;
                break;
            case Op::And:
            case Op::Umin:
                if (!strict && (def->args[0] == b || def->args[1] == b)) return true;
                break;
            case Op::Lshr:
                if (!strict && def->args[0] == b) return true;
                break;
            case Op::Udiv:
                if (!strict && def->args[0] == b && range(def->args[1]).min != 0) return true;
                break;
            case Op::Zext: {  // zext(trunc b) <= b
                const Instruction* inner = function_.def(def->args[0]);
                if (!strict && inner != nullptr && inner->op == Op::Trunc && inner->args[0] == b) return true;
                break;
            }
            default: break;
        }
    }
    const Instruction* upper = function_.def(b);
    return !strict && upper != nullptr && upper->op == Op::Umax &&
           (upper->args[0] == a || upper->args[1] == a);
}

// A bounded breadth-first search along known orders from a; b is reached, strictly if any step was strict.
bool Facts::proves_less(ValueId a, ValueId b, bool strict, bool is_signed) const {
    constexpr std::size_t kMaxVisited = 24;
    struct Step {
        ValueId value;
        bool strict;
    };
    std::array<Step, kMaxVisited> queue;
    std::size_t count = 0;
    queue[count++] = {a, false};
    for (std::size_t i = 0; i < count; ++i) {
        const Step step = queue[i];
        const bool enough = step.strict || !strict;
        if (step.value == b && enough && i != 0) return true;
        if (!is_signed && below_by_definition(step.value, b, !enough)) return true;
        for (const Order& order : orders_[step.value]) {
            const bool usable = order.is_signed == is_signed;
            if (!usable || count == kMaxVisited) continue;
            const bool now_strict = step.strict || order.strict;
            if (order.other == b && (now_strict || !strict)) return true;
            queue[count++] = {order.other, now_strict};
        }
        // Smaller by definition than one of its own operands.
        const Instruction* def = function_.def(step.value);
        if (is_signed || def == nullptr || count == kMaxVisited) continue;
        const bool divides = def->op == Op::Udiv && range(def->args[1]).min != 0;  // by zero gives anything
        if (def->op == Op::Umin || def->op == Op::And || def->op == Op::Lshr || divides) {
            queue[count++] = {def->args[0], step.strict};
        } else if (def->op == Op::Zext) {
            const Instruction* inner = function_.def(def->args[0]);
            if (inner != nullptr && inner->op == Op::Trunc &&
                function_.type_of(inner->args[0]) == def->type) {
                queue[count++] = {inner->args[0], step.strict};
            }
        }
    }
    return false;
}

std::optional<bool> Facts::decide_by_range(IntCond cond, ValueId a, ValueId b) const {
    const std::uint32_t bits = type_bits(function_.type_of(a));
    if (bits > 64) return std::nullopt;
    const Range ra = range(a);
    const Range rb = range(b);
    if (is_signed_cond(cond) && (ra.max > signed_max(bits) || rb.max > signed_max(bits))) return std::nullopt;
    switch (cond) {
        case IntCond::Eq:
        case IntCond::Ne:
            if (ra.max < rb.min || rb.max < ra.min) return cond == IntCond::Ne;
            if (ra.min == ra.max && rb.min == rb.max && ra.min == rb.min) return cond == IntCond::Eq;
            return std::nullopt;
        case IntCond::Ult:
        case IntCond::Slt:
            if (ra.max < rb.min) return true;
            if (ra.min >= rb.max) return false;
            return std::nullopt;
        case IntCond::Ule:
        case IntCond::Sle:
            if (ra.max <= rb.min) return true;
            if (ra.min > rb.max) return false;
            return std::nullopt;
        case IntCond::Ugt:
        case IntCond::Uge:
        case IntCond::Sgt:
        case IntCond::Sge: return decide_by_range(swap(cond), b, a);
    }
    return std::nullopt;
}

ValueId Facts::chosen(ValueId value) const {
    const Instruction* def = function_.def(value);
    if (def == nullptr || def->op != Op::Select) return value;
    std::optional<bool> truth;
    if (const auto known = constant(def->args[0])) truth = known->low != 0;
    const Instruction* test = function_.def(def->args[0]);
    const auto is_select = [&](ValueId v) {
        return function_.def(v) != nullptr && function_.def(v)->op == Op::Select;
    };
    if (!truth && test != nullptr && test->op == Op::Icmp && is_int(test->type) &&
        !is_select(test->args[0]) && !is_select(test->args[1])) {
        truth = decide(test->int_cond(), test->args[0], test->args[1]);
    }
    return truth ? def->args[*truth ? 1 : 2] : value;
}

std::optional<bool> Facts::decide(IntCond cond, ValueId a, ValueId b) const {
    a = chosen(a);
    b = chosen(b);
    if (const auto known = decide_by_range(cond, a, b)) return known;
    const bool is_signed = is_signed_cond(cond);
    switch (cond) {
        case IntCond::Eq:
        case IntCond::Ne:
            for (const bool sign : {false, true}) {
                if (proves_less(a, b, true, sign) || proves_less(b, a, true, sign))
                    return cond == IntCond::Ne;
            }
            return std::nullopt;
        case IntCond::Ult:
        case IntCond::Slt:
            if (proves_less(a, b, true, is_signed)) return true;
            if (proves_less(b, a, false, is_signed)) return false;
            break;
        case IntCond::Ule:
        case IntCond::Sle:
            if (proves_less(a, b, false, is_signed)) return true;
            if (proves_less(b, a, true, is_signed)) return false;
            break;
        case IntCond::Ugt:
        case IntCond::Uge:
        case IntCond::Sgt:
        case IntCond::Sge: return decide(swap(cond), b, a);
    }
    // Between numbers that are not negative both orders agree, and extensions compare as what they extend.
    if (is_signed && not_negative(a) && not_negative(b)) {
        const auto other = cond == IntCond::Slt ? IntCond::Ult : IntCond::Ule;
        return decide(other, a, b);
    }
    const Instruction* da = function_.def(a);
    const Instruction* db = function_.def(b);
    if (!is_signed && da != nullptr && db != nullptr && da->op == Op::Zext && db->op == Op::Zext &&
        function_.type_of(da->args[0]) == function_.type_of(db->args[0])) {
        return decide(cond, da->args[0], db->args[0]);
    }
    // a + 1 <= b when a < b; the sum cannot wrap then. Both ways round: b < a + 1 is false.
    const auto is_successor = [&](const Instruction* def) {
        return def != nullptr && def->op == Op::Iadd && is_constant(function_, def->args[1], 1);
    };
    if ((cond == IntCond::Ule || cond == IntCond::Sle) && is_successor(da) &&
        proves_less(da->args[0], b, true, is_signed)) {
        return true;
    }
    if ((cond == IntCond::Ult || cond == IntCond::Slt) && is_successor(db) &&
        proves_less(db->args[0], a, true, is_signed)) {
        return false;
    }
    return std::nullopt;
}

}  // namespace ockc::opt
