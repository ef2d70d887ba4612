#include <utility>

#include "ir/ir.hpp"
#include "ir/names.hpp"

namespace ockc::ir {

namespace {

Instruction make(Op op, Type type) {
    Instruction inst;
    inst.op = op;
    inst.type = type;
    return inst;
}

}  // namespace

InstId Builder::append(Instruction&& inst, std::span<const Type> results) {
    if (!inst.span.valid()) inst.span = span_;
    const InstId id = function_.make_inst(std::move(inst), results);
    function_.blocks[block_].insts.push_back(id);
    return id;
}

bool Builder::terminated() const {
    const auto& insts = function_.blocks[block_].insts;
    return !insts.empty() && is_terminator(function_.insts[insts.back()].op);
}

ValueId Builder::const_int(Type type, std::uint64_t value, std::uint64_t high) {
    const std::uint32_t bits = type_bits(type);
    Instruction inst = make(Op::Const, type);
    inst.imm = bits < 64 ? value & ((std::uint64_t{1} << bits) - 1) : value;
    inst.imm_high = bits == 128 ? high : 0;
    return function_.insts[append(std::move(inst), {&type, 1})].result();
}

ValueId Builder::const_float(Type type, std::uint64_t bits) {
    Instruction inst = make(Op::Const, type);
    inst.imm = bits;
    return function_.insts[append(std::move(inst), {&type, 1})].result();
}

ValueId Builder::global_addr(GlobalId global, Type type) {
    Instruction inst = make(Op::GlobalAddr, type);
    inst.global = global;
    return function_.insts[append(std::move(inst), {&type, 1})].result();
}

ValueId Builder::unary(Op op, Type type, ValueId a) {
    Instruction inst = make(op, type);
    inst.args = {a};
    return function_.insts[append(std::move(inst), {&type, 1})].result();
}

ValueId Builder::binary(Op op, Type type, ValueId a, ValueId b) {
    Instruction inst = make(op, type);
    inst.args = {a, b};
    const Type result = op_info(op).result == ResultRule::Bool ? Type::I1 : type;
    return function_.insts[append(std::move(inst), {&result, 1})].result();
}

ValueId Builder::icmp(IntCond cond, ValueId a, ValueId b) {
    Instruction inst = make(Op::Icmp, function_.type_of(a));
    inst.aux = static_cast<std::uint8_t>(cond);
    inst.args = {a, b};
    const Type result = Type::I1;
    return function_.insts[append(std::move(inst), {&result, 1})].result();
}

ValueId Builder::tile_count(ValueId lanes, ValueId tile) { return binary(Op::TileCount, Type::I32, lanes, tile); }

ValueId Builder::tile_in_range(ValueId index, ValueId lanes, ValueId tile) {
    Instruction inst = make(Op::TileInRange, Type::I32);
    inst.args = {index, lanes, tile};
    const Type result = Type::I1;
    return function_.insts[append(std::move(inst), {&result, 1})].result();
}

ValueId Builder::fcmp(FloatCond cond, ValueId a, ValueId b) {
    Instruction inst = make(Op::Fcmp, function_.type_of(a));
    inst.aux = static_cast<std::uint8_t>(cond);
    inst.args = {a, b};
    const Type result = Type::I1;
    return function_.insts[append(std::move(inst), {&result, 1})].result();
}

ValueId Builder::select(ValueId cond, ValueId a, ValueId b) {
    const Type type = function_.type_of(a);
    Instruction inst = make(Op::Select, type);
    inst.args = {cond, a, b};
    return function_.insts[append(std::move(inst), {&type, 1})].result();
}

ValueId Builder::fma(Type type, ValueId a, ValueId b, ValueId c) {
    Instruction inst = make(Op::Fma, type);
    inst.args = {a, b, c};
    return function_.insts[append(std::move(inst), {&type, 1})].result();
}

ValueId Builder::convert(Op op, Type to, ValueId a) {
    return unary(op, to, a);
}

ValueId Builder::alloca_slot(std::uint64_t bytes, std::uint32_t align) {
    Instruction inst = make(Op::Alloca, Type::PtrLocal);
    inst.imm = bytes;
    inst.memory.align = align;
    inst.span = span_;
    const Type result = Type::PtrLocal;
    const InstId id = function_.make_inst(std::move(inst), {&result, 1});
    auto& insts = function_.blocks[function_.entry()].insts;
    insts.insert(insts.begin(), id);
    return function_.insts[id].result();
}

ValueId Builder::ptr_add(ValueId ptr, ValueId bytes) {
    return binary(Op::PtrAdd, function_.type_of(ptr), ptr, bytes);
}

ValueId Builder::ptr_add_const(ValueId ptr, std::int64_t bytes) {
    if (bytes == 0) return ptr;
    return ptr_add(ptr, const_int(Type::I64, static_cast<std::uint64_t>(bytes)));
}

ValueId Builder::load(Type type, ValueId ptr, MemoryInfo memory, std::int64_t offset) {
    Instruction inst = make(Op::Load, type);
    inst.args = {ptr};
    inst.memory = memory;
    inst.imm = static_cast<std::uint64_t>(offset);
    return function_.insts[append(std::move(inst), {&type, 1})].result();
}

void Builder::store(ValueId ptr, ValueId value, MemoryInfo memory, std::int64_t offset) {
    Instruction inst = make(Op::Store, function_.type_of(value));
    inst.args = {ptr, value};
    inst.memory = memory;
    inst.imm = static_cast<std::uint64_t>(offset);
    append(std::move(inst), {});
}

void Builder::memcpy(ValueId to, ValueId from, std::uint64_t bytes, std::uint32_t align) {
    if (bytes == 0) return;
    Instruction inst = make(Op::Memcpy, Type::Void);
    inst.args = {to, from};
    inst.imm = bytes;
    inst.memory.align = align;
    append(std::move(inst), {});
}

ValueId Builder::sreg(Sreg reg) {
    static constexpr Type kTypes[] = {
#define OCKC_IR_SREG(name, text, type) Type::type,
#include "ir/sregs.def"
    };
    const Type type = kTypes[static_cast<std::size_t>(reg)];
    Instruction inst = make(Op::Sreg, type);
    inst.aux = static_cast<std::uint8_t>(reg);
    return function_.insts[append(std::move(inst), {&type, 1})].result();
}

void Builder::barrier() {
    append(make(Op::Barrier, Type::Void), {});
}

void Builder::fence(Scope scope) {
    Instruction inst = make(Op::Fence, Type::Void);
    inst.aux = static_cast<std::uint8_t>(scope);
    append(std::move(inst), {});
}

std::vector<ValueId> Builder::machine(intrinsic::Machine which, std::span<const ValueId> args) {
    const intrinsic::MachineInfo& info = intrinsic::info(which);
    Instruction inst = make(machine_op(info.effect), Type::Void);
    inst.aux = static_cast<std::uint16_t>(which);
    inst.args.append(args);
    std::vector<Type> results;
    const std::size_t count = machine_results(info, args.size());
    for (std::size_t i = 0; i < count; ++i) results.push_back(machine_type(intrinsic::letter_at(info.results, i)));
    if (!results.empty()) inst.type = results[0];  // as of calls
    const Instruction& made = function_.insts[append(std::move(inst), results)];
    return {made.results.begin(), made.results.end()};
}

ValueId Builder::atomic_load(Type type, ValueId ptr, AtomicInfo info) {
    Instruction inst = make(Op::AtomicLoad, type);
    inst.aux = info.pack();
    inst.args = {ptr};
    return function_.insts[append(std::move(inst), {&type, 1})].result();
}

ValueId Builder::vprintf(ValueId format, ValueId values) {
    const Type type = Type::I32;
    Instruction inst = make(Op::Vprintf, type);
    inst.args = {format, values};
    return function_.insts[append(std::move(inst), {&type, 1})].result();
}

std::vector<ValueId> Builder::inline_asm(Op op, std::uint64_t text, std::span<const ValueId> args, std::span<const Type> results) {
    Instruction inst = make(op, results.empty() ? Type::Void : results[0]);
    inst.imm = text;
    inst.args.append(args);
    const Instruction& made = function_.insts[append(std::move(inst), results)];
    return {made.results.begin(), made.results.end()};
}

void Builder::atomic_store(ValueId ptr, ValueId value, AtomicInfo info) {
    Instruction inst = make(Op::AtomicStore, function_.type_of(value));
    inst.aux = info.pack();
    inst.args = {ptr, value};
    append(std::move(inst), {});
}

ValueId Builder::atomic_rmw(ValueId ptr, ValueId value, AtomicInfo info) {
    const Type type = function_.type_of(value);
    Instruction inst = make(Op::AtomicRmw, type);
    inst.aux = info.pack();
    inst.args = {ptr, value};
    return function_.insts[append(std::move(inst), {&type, 1})].result();
}

ValueId Builder::atomic_cas(ValueId ptr, ValueId expected, ValueId wanted, AtomicInfo info) {
    const Type type = function_.type_of(wanted);
    Instruction inst = make(Op::AtomicCas, type);
    inst.aux = info.pack();
    inst.args = {ptr, expected, wanted};
    return function_.insts[append(std::move(inst), {&type, 1})].result();
}

std::vector<ValueId> Builder::call(FuncId callee, std::span<const ValueId> args,
                                   std::span<const Type> results) {
    Instruction inst = make(Op::Call, results.empty() ? Type::Void : results[0]);
    inst.callee = callee;
    inst.args.append(args);
    const Instruction& made = function_.insts[append(std::move(inst), results)];
    return {made.results.begin(), made.results.end()};
}

void Builder::jump(BlockId to, TargetArgs args) {
    Instruction inst = make(Op::Jump, Type::Void);
    inst.targets.push_back({to, std::move(args)});
    append(std::move(inst), {});
}

void Builder::br(ValueId cond, BlockId then_block, BlockId else_block) {
    br(cond, Target{then_block, {}}, Target{else_block, {}});
}

void Builder::br(ValueId cond, Target then_target, Target else_target) {
    Instruction inst = make(Op::Br, Type::Void);
    inst.args = {cond};
    inst.targets.push_back(std::move(then_target));
    inst.targets.push_back(std::move(else_target));
    append(std::move(inst), {});
}

void Builder::switch_on(ValueId value, std::vector<std::uint64_t> cases, std::vector<Target> targets) {
    OCKC_CHECK(targets.size() == cases.size() + 1);
    Instruction inst = make(Op::Switch, function_.type_of(value));
    inst.args = {value};
    inst.cases = std::move(cases);
    inst.targets = std::move(targets);
    append(std::move(inst), {});
}

void Builder::ret(std::span<const ValueId> values) {
    Instruction inst = make(Op::Ret, Type::Void);
    inst.args.append(values);
    append(std::move(inst), {});
}

void Builder::panic(std::uint32_t site, std::span<const ValueId> values) {
    Instruction inst = make(Op::Panic, Type::Void);
    inst.imm = site;
    inst.args.append(values);
    append(std::move(inst), {});
}

void Builder::trap() {
    append(make(Op::Trap, Type::Void), {});
}
void Builder::unreachable() {
    append(make(Op::Unreachable, Type::Void), {});
}

}  // namespace ockc::ir
