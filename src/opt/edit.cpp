#include "opt/edit.hpp"

#include <algorithm>

#include "ir/analysis/uses.hpp"

namespace ockc::opt {

using namespace ir;

void Replacements::replace(ValueId from, ValueId to) {
    OCKC_DCHECK(from != to);
    to_.set(from, to);
    ++count_;
}

ValueId Replacements::follow(ValueId value) {
    ValueId end = value;
    while (to_[end].valid())
        end = to_[end];
    while (to_[value].valid() && to_[value] != end) {  // shorten the path for the next time
        const ValueId next = to_[value];
        to_.set(value, end);
        value = next;
    }
    return end;
}

void Replacements::apply(Function& function) {
    if (empty()) return;
    for (const BlockId block : function.layout) {
        for (const InstId inst : function.blocks[block].insts) {
            for_each_use(function.insts[inst], [&](ValueId& value) { value = resolve(value); });
        }
    }
}

ConstantPool::ConstantPool(Function& function) : function_(function) {
    for (const InstId id : function.blocks[function.entry()].insts) {
        const Instruction& inst = function.insts[id];
        if (inst.op != Op::Const) break;
        ValueId& known = find_or_add(Key{inst.imm, inst.imm_high, inst.type});
        if (!known.valid()) known = inst.result();
    }
}

ValueId& ConstantPool::find_or_add(const Key& key) {
    if (entries_.size() * 2 >= slots_.size()) grow();
    std::uint64_t hash = key.low * 0x9E37'79B9'7F4A'7C15u;
    hash ^= (key.high + static_cast<std::uint64_t>(key.type)) * 0xC2B2'AE3D'27D4'EB4Fu;
    hash ^= hash >> 29;
    for (std::size_t at = hash & (slots_.size() - 1);; at = (at + 1) & (slots_.size() - 1)) {
        if (slots_[at] == 0) {
            entries_.push_back({key, ValueId::none()});
            slots_[at] = static_cast<std::uint32_t>(entries_.size());
            return entries_.back().value;
        }
        if (entries_[slots_[at] - 1].key == key) return entries_[slots_[at] - 1].value;
    }
}

void ConstantPool::grow() {
    slots_.assign(std::max<std::size_t>(32, slots_.size() * 2), 0);
    std::vector<Entry> old = std::move(entries_);
    entries_.clear();
    entries_.reserve(slots_.size() / 2);
    for (const Entry& entry : old)
        find_or_add(entry.key) = entry.value;
}

ValueId ConstantPool::get(Type type, Constant constant) {
    const std::uint32_t bits = type_bits(type);
    if (bits < 64) constant.low &= (std::uint64_t{1} << bits) - 1;
    if (bits < 128) constant.high = 0;
    ValueId& known = find_or_add(Key{constant.low, constant.high, type});
    if (known.valid()) return known;
    Instruction inst;
    inst.op = Op::Const;
    inst.type = type;
    inst.imm = constant.low;
    inst.imm_high = constant.high;
    const InstId id = function_.make_inst(std::move(inst), {&type, 1});
    fresh_.push_back(id);
    return known = function_.insts[id].result();
}

bool ConstantPool::place() {
    if (fresh_.empty()) return false;
    auto& insts = function_.blocks[function_.entry()].insts;
    insts.insert(insts.begin(), fresh_.begin(), fresh_.end());
    fresh_.clear();
    return true;
}

bool is_constant(const Function& function, ValueId value, std::uint64_t low) {
    const Instruction* def = constant_def(function, value);
    return def != nullptr && def->imm == low && def->imm_high == 0;
}

InstId make_inst(Function& function, Op op, Type type, Type result, std::initializer_list<ValueId> args,
                 const Instruction& like) {
    Instruction inst;
    inst.op = op;
    inst.type = type;
    inst.args = args;
    inst.span = like.span;
    inst.scope = like.scope;
    if (result == Type::Void) return function.make_inst(std::move(inst), {});
    return function.make_inst(std::move(inst), {&result, 1});
}

InstId clone_inst(Function& function, InstId original) {
    Instruction copy = function.insts[original];
    SmallVec<Type, 4> types;
    for (const ValueId result : copy.results)
        types.push_back(function.type_of(result));
    copy.results.clear();
    return function.make_inst(std::move(copy), types.view());
}

ValueId put_at_end(Function& function, BlockId block, Op op, Type type, ValueId a, ValueId b, IntCond cond) {
    const Instruction like = function.terminator(block);
    const Type result = op_info(op).result == ResultRule::Bool ? Type::I1 : type;
    const InstId made = make_inst(function, op, type, result, {a, b}, like);
    if (op == Op::Icmp) function.insts[made].aux = static_cast<std::uint8_t>(cond);
    auto& insts = function.blocks[block].insts;
    insts.insert(insts.end() - 1, made);
    return function.insts[made].result();
}

void set_branch(Function& function, BlockId block, ValueId condition, Target yes, Target no) {
    Instruction& branch = function.terminator(block);
    branch.op = Op::Br;
    branch.args = {condition};
    branch.targets.clear();
    branch.targets.push_back(std::move(yes));
    branch.targets.push_back(std::move(no));
}

void set_jump(Function& function, BlockId block, Target target) {
    Instruction& inst = function.terminator(block);
    inst.op = Op::Jump;
    inst.type = Type::Void;
    inst.aux = 0;
    inst.args.clear();
    inst.cases.clear();
    inst.targets.clear();
    inst.targets.push_back(std::move(target));
}

bool remove_unreachable(Function& function) {
    std::vector<std::uint8_t> reached(function.blocks.size());
    std::vector<BlockId> work;
    work.reserve(function.layout.size());
    work.push_back(function.entry());
    reached[function.entry().raw] = 1;
    for (std::size_t i = 0; i < work.size(); ++i) {
        for (const Target& target : function.terminator(work[i]).targets) {
            if (reached[target.block.raw] != 0) continue;
            reached[target.block.raw] = 1;
            work.push_back(target.block);
        }
    }
    function.all_reachable = true;
    if (work.size() == function.layout.size()) return false;
    std::erase_if(function.layout, [&](BlockId block) {
        if (reached[block.raw] != 0) return false;
        function.blocks[block].removed = true;
        function.blocks[block].insts.clear();
        return true;
    });
    return true;
}

void remove_params(Function& function, const SideMap<BlockId, std::vector<bool>>& dead) {
    const auto compact = [](auto& items, const std::vector<bool>& flags) {
        std::size_t kept = 0;
        for (std::size_t i = 0; i < items.size(); ++i) {
            if (!flags[i]) items[kept++] = items[i];
        }
        items.resize(kept);
    };
    for (const BlockId block : function.layout) {
        for (Target& target : function.terminator(block).targets) {
            const auto& flags = dead[target.block];
            if (!flags.empty()) compact(target.args, flags);
        }
    }
    for (const BlockId block : function.layout) {
        const auto& flags = dead[block];
        if (flags.empty()) continue;
        auto& params = function.blocks[block].params;
        compact(params, flags);
        for (std::uint32_t i = 0; i < params.size(); ++i)
            function.values[params[i]].index = i;
    }
}

BlockId split_edge(Function& function, BlockId from, std::size_t target_index) {
    const BlockId middle = function.add_block();
    Instruction& branch = function.terminator(from);
    Instruction jump;
    jump.op = Op::Jump;
    jump.span = branch.span;
    jump.scope = branch.scope;
    jump.targets.push_back(std::move(branch.targets[target_index]));
    branch.targets[target_index] = Target{middle, {}};
    function.blocks[middle].cold = function.blocks[jump.targets[0].block].cold;
    const InstId id = function.make_inst(std::move(jump), {});
    function.blocks[middle].insts.push_back(id);
    return middle;
}

bool is_invariant_load(const Function& function, const Instruction& inst) {
    if (inst.op != Op::Load || inst.memory.is_volatile) return false;
    const Type pointer = function.type_of(inst.args[0]);
    return inst.memory.readonly || pointer == Type::PtrConst || pointer == Type::PtrParam;
}

bool is_removable(const Instruction& inst) {
    const Effect effect = op_info(inst.op).effect;
    return effect == Effect::Pure || (effect == Effect::Read && !inst.memory.is_volatile);
}

bool is_commutative(Op op) {
    switch (op) {
        case Op::Iadd:
        case Op::Imul:
        case Op::Umulh:
        case Op::Smulh:
        case Op::And:
        case Op::Or:
        case Op::Xor:
        case Op::Smin:
        case Op::Smax:
        case Op::Umin:
        case Op::Umax:
        case Op::UaddOv:
        case Op::SaddOv:
        case Op::UmulOv:
        case Op::SmulOv:
        case Op::Fadd:
        case Op::Fmul:
        case Op::Fmin:
        case Op::Fmax: return true;
        default: return false;
    }
}

}  // namespace ockc::opt
