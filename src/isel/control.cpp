// Terminators, calls, returns. Values for block parameters are copied at the end of the jump's own block, or
// in a block of their own on the edge of a branch; join_copies makes most of them vanish and place_blocks the
// empty blocks with them.
#include <algorithm>

#include "isel/selector.hpp"

namespace ockc::isel {

using ir::Op;

// -------------------------------------------------------------------------------------------------------------
// edges

void Selector::copy_arguments(const ir::Target& target, std::vector<Move>& moves) {
    const std::vector<ir::ValueId>& params = in_.blocks[target.block].params;
    // Behind us in the walk every use has been seen; a loop's parameters are still to come, so all are taken.
    const bool all = cfg_.rpo_index(target.block) <= cfg_.rpo_index(block_);
    for (std::size_t i = 0; i < params.size(); ++i) {
        const ir::ValueId param = params[i];
        if (!all && !regs_[param].valid() && !highs_[param].valid()) continue;
        const ir::ValueId arg = target.args[i];
        if (in_.type_of(param) == VT::I128) {
            const Wide from = wide(arg);
            moves.push_back({reg_of(param), from.low});
            moves.push_back({high_of(param), from.high});
            continue;
        }
        const ir::Instruction* def = constant_def(arg);
        moves.push_back({reg_of(param), def != nullptr ? constant(*def) : r(reg_of(arg))});
    }
}

MBlockId Selector::edge(const ir::Target& target) {
    const MBlockId to = entries_[target.block];
    std::vector<Move> moves;
    copy_arguments(target, moves);
    if (moves.empty()) return to;
    const MBlockId id = new_block();
    std::vector<Instr> copies;
    sequence_moves(out_, std::move(moves), loc_, copies);
    MBlock& block = machine_.blocks[id];
    block.cold |= machine_.blocks[to].cold;
    block.loop_depth = std::min(block.loop_depth, machine_.blocks[to].loop_depth);
    block.instrs.assign(std::make_move_iterator(copies.rbegin()), std::make_move_iterator(copies.rend()));
    block.end = End::Jump;
    block.taken = to;
    block.loc = loc_;
    return id;
}

void Selector::end_jump(MBlockId to) {
    MBlock& block = machine_.blocks[machine_block_];
    block.end = End::Jump;
    block.taken = to;
    block.loc = loc_;
}

void Selector::end_branch(MBlockId in, const Operand& cond, MBlockId taken, MBlockId other) {
    MBlock& block = machine_.blocks[in];
    block.end = End::Cond;
    block.cond = cond;
    block.taken = taken;
    block.other = other;
    block.loc = loc_;
}

void Selector::jump(const ir::Instruction& inst) {
    const ir::Target& target = inst.targets[0];
    std::vector<Move> moves;
    copy_arguments(target, moves);
    sequence_moves(out_, std::move(moves), loc_, current_);
    end_jump(entries_[target.block]);
}

void Selector::branch(const ir::Instruction& inst) {
    if (const auto c = int_constant(inst.args[0])) return end_jump(edge(inst.targets[(*c & 1) != 0 ? 0 : 1]));
    const MBlockId taken = edge(inst.targets[0]);
    const MBlockId other = edge(inst.targets[1]);
    if (taken == other) return end_jump(taken);
    const Operand cond = predicate(inst.args[0]);
    end_branch(machine_block_, cond, taken, other);
}

// ------------------------------------------------------------------------------------------------------------
// switch

// Up to this many cases are tested one after the other; more are halved by a comparison first.
static constexpr std::size_t kLinearCases = 4;

void Selector::switch_on(const ir::Instruction& inst) {
    std::vector<Case> cases;
    for (std::size_t i = 0; i < inst.cases.size(); ++i)
        cases.push_back({inst.cases[i], edge(inst.targets[i + 1])});
    const MBlockId otherwise = edge(inst.targets[0]);
    if (const auto c = int_constant(inst.args[0])) {
        const auto it =
            std::find_if(cases.begin(), cases.end(), [&](const Case& x) { return x.value == *c; });
        return end_jump(it == cases.end() ? otherwise : it->to);
    }
    if (cases.empty()) return end_jump(otherwise);
    if (in_.type_of(inst.args[0]) == VT::I128) return switch_wide(inst, cases, otherwise);
    const VT type = in_.type_of(inst.args[0]);
    const Operand value = type == VT::I1 ? as_32(inst.args[0], false) : extended(inst.args[0], false);
    const std::uint32_t bits = std::max(ir::type_bits(type), 16u);
    const PT compare_type = type == VT::I1 || bits == 32 ? PT::U32 : bits == 64 ? PT::U64 : PT::U16;
    if (cases.size() > kLinearCases)
        std::sort(cases.begin(), cases.end(), [](const Case& a, const Case& b) { return a.value < b.value; });
    test_cases(machine_block_, value, compare_type, cases, otherwise, current_);
}

// Tests in block `at`, whose last instructions are appended to `out`. The depth of this recursion is the
// logarithm of the number of cases.
void Selector::test_cases(MBlockId at, const Operand& value, PT type, std::span<const Case> cases,
                          MBlockId otherwise, std::vector<Instr>& out) {
    const Reg hit = fresh(RegClass::Pred);
    const auto test = [&](ptx::Cmp cmp, std::uint64_t with) {
        const std::uint32_t shift = 64 - ptx::type_bits(type);
        Instr instr = ptx::make(
            Form::Setp, type,
            {r(hit), Operand::none(), value, imm(static_cast<std::int64_t>(with << shift) >> shift)});
        instr.mods.cmp = cmp;
        instr.loc = loc_;
        out.push_back(instr);
    };
    const auto rest = [&](std::span<const Case> part) {
        const MBlockId id = new_block();
        std::vector<Instr> instrs;
        test_cases(id, value, type, part, otherwise, instrs);
        machine_.blocks[id].instrs.assign(std::make_move_iterator(instrs.rbegin()),
                                          std::make_move_iterator(instrs.rend()));
        return id;
    };
    if (cases.size() > kLinearCases) {
        const std::size_t middle = cases.size() / 2;
        test(ptx::Cmp::Lt, cases[middle].value);
        const MBlockId low = rest(cases.first(middle));
        const MBlockId high = rest(cases.subspan(middle));
        return end_branch(at, r(hit), low, high);
    }
    test(ptx::Cmp::Eq, cases[0].value);
    end_branch(at, r(hit), cases[0].to, cases.size() == 1 ? otherwise : rest(cases.subspan(1)));
}

// ------------------------------------------------------------------------------------------------- calls and
// returns

ParamLayout layout_results(std::span<const ir::Type> types) {
    ParamLayout layout;
    for (const ir::Type type : types) {
        const std::uint32_t bytes = ir::type_bytes(type);
        layout.size = (layout.size + bytes - 1) / bytes * bytes;
        layout.offsets.push_back(layout.size);
        layout.size += bytes;
        layout.align = std::max(layout.align, bytes);
    }
    return layout;
}

// What a .param of these types looks like: one scalar, or bytes for several or for an i128.
void Selector::param_shape(std::span<const VT> types, PT& type, std::uint32_t& align, bool& array,
                           std::uint64_t& count) const {
    if (types.size() == 1 && types[0] != VT::I128) {
        const PT memory = memory_type(types[0]);
        type = memory == PT::U8    ? PT::B8
               : memory == PT::U16 ? PT::B16
               : memory == PT::U32 ? PT::B32
               : memory == PT::U64 ? PT::B64
                                   : memory;
        return;
    }
    const ParamLayout layout = layout_results(types);
    type = PT::B8;
    align = layout.align;
    array = true;
    count = layout.size;
}

void Selector::to_param(ptx::SymbolId param, std::int64_t offset, const Passed& passed) {
    const Address at{Operand::at(param, offset), ptx::Space::Param};
    if (passed.type == VT::I128) {
        store_piece(PT::U64, at, 0, Operand::list(out_.new_list({passed.value, passed.high})), {});
    } else if (passed.type == VT::I1 && passed.value.is_reg()) {
        const Reg byte = emit_to(RegClass::B16, Form::Selp, PT::B16, {imm(1), imm(0), passed.value});
        store_piece(PT::U8, at, 0, r(byte), {});
    } else {
        store_piece(memory_type(passed.type), at, 0, passed.value, {});
    }
}

void Selector::from_param(ptx::SymbolId param, std::int64_t offset, const Passed& passed) {
    const Address at{Operand::at(param, offset), ptx::Space::Param};
    if (passed.type == VT::I128) {
        load_piece(Operand::list(out_.new_list({passed.value, passed.high})), PT::U64, at, 0, {});
    } else if (passed.type == VT::I1) {
        const Reg byte = fresh(RegClass::B16);
        load_piece(r(byte), PT::U8, at, 0, {});
        compare(passed.value.as_reg(), ptx::Cmp::Ne, PT::S16, r(byte), imm(0));
    } else {
        load_piece(passed.value, memory_type(passed.type), at, 0, {});
    }
}

Selector::Passed Selector::passed(ir::ValueId value) {
    const VT type = in_.type_of(value);
    if (type != VT::I128) return {stored(value), type, {}};
    const Wide w = wide(value);
    return {w.low, type, w.high};
}

// A result of a call: its register, or a sink when nobody reads it.
Selector::Passed Selector::received(ir::ValueId value) {
    const VT type = in_.type_of(value);
    if (type == VT::I128) return {r(reg_of(value)), type, r(high_of(value))};
    return {regs_[value].valid() ? r(reg_of(value)) : Operand::none(), type, {}};
}

void Selector::return_values(const ir::Instruction& inst) {
    const ParamLayout layout = layout_results(in_.results);
    for (std::size_t i = 0; i < inst.args.size(); ++i) {
        to_param(out_.results[0].name, static_cast<std::int64_t>(layout.offsets[i]), passed(inst.args[i]));
    }
    leave(Form::Ret);
}

void Selector::leave(Form form) {
    emit(form, PT::None, {});
    machine_.blocks[machine_block_].end = End::Leave;
}

ptx::SymbolId Selector::call_param(std::string_view part, std::span<const VT> types) {
    ptx::Variable v;
    v.name = context_.out.symbol("$call" + std::to_string(calls_) + "_" + std::string(part));
    v.space = ptx::Space::Param;
    param_shape(types, v.type, v.align, v.array, v.count);
    out_.locals.push_back(v);
    return v.name;
}

// Arguments are stored to .param variables of this call, the results loaded back.
void Selector::call_symbol(ptx::SymbolId callee, std::span<const Passed> args,
                           std::span<const Passed> results) {
    std::vector<VT> result_types;
    for (const Passed& result : results)
        result_types.push_back(result.type);
    ptx::SymbolId result_param;
    if (!results.empty()) result_param = call_param("ret", result_types);
    std::vector<Operand> params;
    for (std::size_t i = 0; i < args.size(); ++i) {
        const ptx::SymbolId param = call_param("arg" + std::to_string(i), {&args[i].type, 1});
        to_param(param, 0, args[i]);
        params.push_back(Operand::symbol(param));
    }
    Instr instr = ptx::make(Form::Call, PT::None, {});
    instr.loc = loc_;
    instr.mods.uni = true;
    if (result_param.valid())
        instr.operands[0] = Operand::list(out_.new_list({Operand::symbol(result_param)}));
    instr.operands[1] = Operand::symbol(callee);
    if (!params.empty()) instr.operands[2] = Operand::list(out_.new_list(std::move(params)));
    current_.push_back(instr);
    const ParamLayout layout = layout_results(result_types);
    for (std::size_t i = 0; i < results.size(); ++i) {
        if (results[i].value.present())
            from_param(result_param, static_cast<std::int64_t>(layout.offsets[i]), results[i]);
    }
    --calls_;
}

void Selector::call(const ir::Instruction& inst) {
    std::vector<Passed> args;
    std::vector<Passed> results;
    for (const ir::ValueId value : inst.results)
        results.push_back(received(value));
    for (const ir::ValueId value : inst.args)
        args.push_back(passed(value));
    call_symbol(context_.out.symbol(context_.ir.functions[inst.callee].name), args, results);
}

// The driver's function; the module declares it.
void Selector::print_values(const ir::Instruction& inst) {
    context_.prints = true;
    call_symbol(context_.out.symbol("vprintf"), std::vector<Passed>{passed(inst.args[0]), passed(inst.args[1])}, std::vector<Passed>{received(inst.result())});
}

void Selector::call_library(LibraryFunction function, std::vector<Passed> args, std::vector<Passed> results) {
    context_.library.need(function);
    call_symbol(context_.out.symbol(library_symbol(function)), args, results);
}

void Selector::library_call(const ir::Instruction& inst, LibraryFunction function) {
    std::vector<Passed> args;
    for (const ir::ValueId value : inst.args)
        args.push_back(passed(value));
    call_library(function, std::move(args), {received(inst.result())});
}

}  // namespace ockc::isel
