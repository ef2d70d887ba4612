// Rules for addresses: constant offsets gather at the end of a chain of ptradds and go into loads and stores.
#include "ir/analysis/alias.hpp"
#include "opt/rules.hpp"

namespace ockc::opt {

using namespace ir;

namespace {

constexpr std::int64_t kMaxOffset = std::int64_t{1} << 24;  // fits every load's immediate field

// Splits b = x + c (also (x + c) << k and (x + c) * m, and a + (x + c) for x + c) into a part without the constant and the
// constant.
struct Split {
    ValueId rest;
    std::uint64_t constant = 0;
};
std::optional<Split> split_sum(Rewriter& r, const Instruction& sum) {
    if (const auto c = r.constant(sum.args[1])) return Split{sum.args[0], c->low};
    for (std::uint32_t i = 0; i < 2; ++i) {
        const Instruction* inner = r.match(sum.args[i], Op::Iadd);
        const auto c = inner != nullptr ? r.constant(inner->args[1]) : std::nullopt;
        if (!c) continue;
        const ValueId other = sum.args[1 - i];
        return Split{r.make(Op::Iadd, Type::I64, {other, inner->args[0]}), c->low};
    }
    return std::nullopt;
}
std::optional<Split> split_offset(Rewriter& r, ValueId b) {
    const Instruction* def = r.function.def(b);
    if (def == nullptr) return std::nullopt;
    if (def->op == Op::Iadd) return split_sum(r, *def);
    if (def->op != Op::Shl && def->op != Op::Imul) return std::nullopt;
    const Instruction* sum = r.match(def->args[0], Op::Iadd);
    const auto factor = r.constant(def->args[1]);
    if (sum == nullptr || !factor) return std::nullopt;
    const Op op = def->op;
    const ValueId factor_value = def->args[1];
    const auto split = split_sum(r, *sum);
    if (!split) return std::nullopt;
    const std::uint64_t constant =
        op == Op::Shl ? split->constant << (factor->low % 64) : split->constant * factor->low;
    return Split{r.make(op, Type::I64, {split->rest, factor_value}), constant};
}

bool small(std::uint64_t offset) {
    const auto value = static_cast<std::int64_t>(offset);
    return value > -kMaxOffset && value < kMaxOffset;
}

ValueId simplify_ptradd(Rewriter& r) {
    const Instruction& inst = r.inst();
    const ValueId p = inst.args[0];
    const ValueId b = inst.args[1];
    if (r.is(b, 0)) return p;
    const Type type = inst.type;
    const Instruction* inner = r.match(p, Op::PtrAdd);
    const auto inner_constant = inner != nullptr ? r.constant(inner->args[1]) : std::nullopt;
    if (inner_constant) {
        if (const auto c = r.constant(b)) {  // (p + c1) + c2
            return r.become(Op::PtrAdd, type,
                            {inner->args[0], r.make_constant(Type::I64, inner_constant->low + c->low)});
        }
        const ValueId base = r.make(Op::PtrAdd, type, {inner->args[0], b});  // (p + c) + x = (p + x) + c
        return r.become(Op::PtrAdd, type, {base, inner->args[1]});
    }
    if (const auto split = split_offset(r, b); split && small(split->constant)) {
        const ValueId base = r.make(Op::PtrAdd, type, {p, split->rest});
        return r.become(Op::PtrAdd, type, {base, r.make_constant(Type::I64, split->constant)});
    }
    return ValueId::none();
}

// Loads and stores take the constant of their address into their own offset.
ValueId absorb_offset(Rewriter& r) {
    const Instruction& inst = r.inst();
    const Instruction* add = r.match(inst.args[0], Op::PtrAdd);
    if (add == nullptr) return ValueId::none();
    const auto c = r.constant(add->args[1]);
    if (!c || !small(c->low) || !small(inst.imm) || !small(inst.imm + c->low)) return ValueId::none();
    Instruction& changed = r.mutate();
    changed.args[0] = add->args[0];
    changed.imm += c->low;
    return ValueId::none();
}

// A load from a constant table at a constant place.
ValueId load_constant_data(Rewriter& r) {
    const Instruction& inst = r.inst();
    if (inst.memory.is_volatile || is_ptr(inst.type)) return ValueId::none();
    const PointerBase place = constant_base(r.function, inst.args[0]);
    const Instruction* address = r.match(place.base, Op::GlobalAddr);
    if (address == nullptr) return ValueId::none();
    const Global& global = r.module.globals[address->global];
    const std::uint32_t size = type_bytes(inst.type);
    const auto offset = static_cast<std::uint64_t>(place.offset) + inst.imm;
    if (global.space != Space::Const || global.visible || !global.relocations.empty() || global.init.size() < size ||
        offset > global.init.size() - size) {
        return ValueId::none();
    }
    Uint128 value = 0;
    for (std::uint32_t i = size; i-- > 0;)
        value = (value << 8) | global.init[offset + i];
    return r.make_constant(inst.type, opt::narrow(cut(value, type_bits(inst.type))));
}

}  // namespace

ValueId simplify_memory(Rewriter& r) {
    switch (r.inst().op) {
        case Op::PtrAdd: return simplify_ptradd(r);
        case Op::Load: {
            const ValueId known = load_constant_data(r);
            return known.valid() ? known : absorb_offset(r);
        }
        case Op::Store: return absorb_offset(r);
        default: return ValueId::none();
    }
}

}  // namespace ockc::opt
