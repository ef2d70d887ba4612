// The frame of selection: machine blocks, loops, use counts, the walk from the last instruction to the first,
// and the switch that knows every IR operation.
#include "isel/selector.hpp"

#include <algorithm>
#include <utility>

namespace ockc::isel {

Selector::Selector(ModuleContext& context, const ir::Function& function)
    : context_(context), in_(function), cfg_(function), dominators_(cfg_) {
    machine_.out = &out_;
}

ptx::Function Selector::run() {
    const CrashContext note("selecting instructions of", in_.name);
    count_uses();
    find_loops();
    find_touched_products();
    make_blocks();
    declare_params();
    for (auto it = cfg_.rpo().rbegin(); it != cfg_.rpo().rend(); ++it)
        select_block(*it);
    for (MBlock& block : machine_.blocks)
        std::reverse(block.instrs.begin(), block.instrs.end());
    std::reverse(out_.locals.begin(), out_.locals.end());  // those of calls were met last one first
    remove_dead(machine_);
    join_copies(machine_);
    place_blocks(machine_);
    invert_compares(out_);
    number_registers(out_);
    return std::move(out_);
}

// Operations on i128 have an implementation of their own; loads, stores and control handle it in passing.
static bool is_wide(const ir::Function& function, const ir::Instruction& inst) {
    if (inst.op == ir::Op::Load || inst.op == ir::Op::Store || inst.op == ir::Op::Const) return false;
    const ir::Effect effect = ir::op_info(inst.op).effect;
    if (effect != ir::Effect::Pure || inst.op == ir::Op::Asm) return false;
    if (inst.type == ir::Type::I128) return true;
    return !inst.args.empty() && function.type_of(inst.args[0]) == ir::Type::I128;
}

// Calls, and operations that may become calls of the library.
static bool may_call(const ir::Function& function, const ir::Instruction& inst) {
    return inst.op == ir::Op::Call || inst.op == ir::Op::Vprintf || inst.op == ir::Op::Frem || is_wide(function, inst);
}

// Operations that turn any NaN into the canonical one (or into a truth value, or an integer).
static bool is_float_arithmetic(ir::Op op) {
    using ir::Op;
    static constexpr Op kOps[] = {Op::Fadd,  Op::Fsub, Op::Fmul,   Op::Fdiv,  Op::Fma,
                                  Op::Fsqrt, Op::Fcmp, Op::Fptosi, Op::Fptoui, Op::Machine};
    return std::find(std::begin(kOps), std::end(kOps), op) != std::end(kOps);
}

void Selector::count_uses() {
    const auto use = [this](ir::ValueId value) { ++uses_.at(value); };
    for (const ir::BlockId b : cfg_.rpo()) {
        for (const ir::InstId id : in_.blocks[b].insts) {
            const ir::Instruction& inst = in_.insts[id];
            inst_block_.set(id, b);
            if (inst.op == ir::Op::Panic && !context_.options.panic_record) continue;  // its values go nowhere
            const bool arithmetic = is_float_arithmetic(inst.op);
            for (const ir::ValueId value : inst.args) {
                use(value);
                if (!arithmetic) sees_bits_.set(value, 1);
            }
            for (const ir::Target& target : inst.targets) {
                for (const ir::ValueId value : target.args) {
                    use(value);
                    sees_bits_.set(value, 1);
                }
            }
        }
    }
}

// Natural loops: for every edge back to a dominator, the blocks that reach it without passing the header.
// Headers are visited outer loops first, so that the innermost one remains.
void Selector::find_loops() {
    for (const ir::BlockId header : cfg_.rpo()) {
        std::vector<ir::BlockId> work;
        for (const ir::BlockId pred : cfg_.preds(header)) {
            if (dominators_.dominates(header, pred)) work.push_back(pred);
        }
        if (work.empty()) continue;
        const std::uint32_t depth = depth_[header] + 1;
        loop_of_.set(header, header);
        depth_.set(header, depth);
        while (!work.empty()) {
            const ir::BlockId b = work.back();
            work.pop_back();
            if (loop_of_[b] == header) continue;
            loop_of_.set(b, header);
            depth_.set(b, depth);
            for (const ir::BlockId pred : cfg_.preds(b))
                work.push_back(pred);
        }
    }
}

void Selector::make_blocks() {
    for (const ir::BlockId b : cfg_.rpo()) {
        MBlock block;
        const ir::Op last = in_.terminator(b).op;
        block.cold = in_.blocks[b].cold || last == ir::Op::Panic || last == ir::Op::Trap ||
                     last == ir::Op::Unreachable;
        block.loop_depth = depth_[b];
        entries_.set(b, machine_.blocks.push(std::move(block)));
        for (const ir::InstId id : in_.blocks[b].insts) {
            if (in_.insts[id].op == ir::Op::Alloca) slot_symbol(id);
            if (may_call(in_, in_.insts[id])) ++calls_;  // counted down again, so that the text counts up
        }
    }
}

MBlockId Selector::new_block() {
    MBlock block;
    block.cold = machine_.blocks[machine_block_].cold;
    block.loop_depth = machine_.blocks[machine_block_].loop_depth;
    return machine_.blocks.push(std::move(block));
}

void Selector::select_block(ir::BlockId block) {
    block_ = block;
    machine_block_ = entries_[block];
    const auto& insts = in_.blocks[block].insts;
    find_vectors(block);
    for (std::size_t i = insts.size(); i-- > 0;) {
        const ir::Instruction& inst = in_.insts[insts[i]];
        if (vector_access(insts[i])) continue;
        if (!needed(inst)) continue;
        loc_ = location(inst.span);
        inst_ = insts[i];
        select_inst(inst);
        flush();
    }
    if (block == in_.entry()) {
        load_params();
        flush();
    }
}

void Selector::flush() {
    std::vector<Instr>& out = machine_.blocks[machine_block_].instrs;
    out.insert(out.end(), std::make_move_iterator(current_.rbegin()),
               std::make_move_iterator(current_.rend()));
    current_.clear();
}

bool Selector::needed(const ir::Instruction& inst) const {
    const ir::Effect effect = ir::op_info(inst.op).effect;
    const bool removable =
        effect == ir::Effect::Pure || (effect == ir::Effect::Read && !inst.memory.is_volatile);
    if (!removable) return true;
    return std::any_of(inst.results.begin(), inst.results.end(),
                       [this](ir::ValueId v) { return regs_[v].valid() || highs_[v].valid(); });
}

ptx::SourceLoc Selector::location(Span span) const {
    const Options& options = context_.options;
    if (!options.line_info || options.sources == nullptr || !span.valid()) return loc_;
    std::uint32_t& index = context_.files.at(span.file);
    if (index == kNoFile) {
        index = static_cast<std::uint32_t>(context_.out.files.size());
        context_.out.files.push_back(options.sources->file(span.file).name);
    }
    const LineColumn at = options.sources->line_column(span.file, span.begin);
    return {index, at.line, at.column};
}

void Selector::select_inst(const ir::Instruction& inst) {
    using ir::Op;
    if (is_wide(in_, inst)) return wide_inst(inst);
    if (negates_16_bits(inst)) return;
    switch (inst.op) {
        case Op::Const: return copy(result(inst), constant(inst));
        case Op::GlobalAddr: return global_address(inst);
        case Op::Iadd: return add(inst);
        case Op::Isub: return simple_binary(inst, Form::SubI, true);
        case Op::Imul: return multiply(inst);
        case Op::Udiv: return extended_binary(inst, Form::DivI, false);
        case Op::Sdiv: return extended_binary(inst, Form::DivI, true);
        case Op::Urem: return extended_binary(inst, Form::RemI, false);
        case Op::Srem: return extended_binary(inst, Form::RemI, true);
        case Op::Umulh: return high_product(inst, false);
        case Op::Smulh: return high_product(inst, true);
        case Op::Ineg: return negate(inst);
        case Op::And: return logic(inst, Form::And);
        case Op::Or: return logic(inst, Form::Or);
        case Op::Xor: return logic(inst, Form::Xor);
        case Op::Not: return logical_not(inst);
        case Op::Shl:
        case Op::Lshr:
        case Op::Ashr: return shift(inst);
        case Op::Rotl:
        case Op::Rotr: return rotate(inst);
        case Op::Smin: return extended_binary(inst, Form::MinI, true);
        case Op::Smax: return extended_binary(inst, Form::MaxI, true);
        case Op::Umin: return extended_binary(inst, Form::MinI, false);
        case Op::Umax: return extended_binary(inst, Form::MaxI, false);
        case Op::Iabs: return absolute(inst);
        case Op::Popcnt:
        case Op::Clz:
        case Op::Ctz: return count_bits(inst);
        case Op::Bitrev: return reverse_bits(inst);
        case Op::Bswap: return reverse_bytes(inst);
        case Op::UaddOv:
        case Op::SaddOv:
        case Op::UsubOv:
        case Op::SsubOv:
        case Op::UmulOv:
        case Op::SmulOv: return overflow(inst);
        case Op::Icmp: return compare_ints(inst);
        case Op::Select: return select_value(inst);
        case Op::Fadd: return float_binary(inst, Form::AddF);
        case Op::Fsub: return float_binary(inst, Form::SubF);
        case Op::Fmul: return float_binary(inst, Form::MulF);
        case Op::Fdiv: return divide(inst);
        case Op::Frem: return float_remainder(inst);
        case Op::Fma: return fused(inst);
        case Op::Fneg:
        case Op::Fabs: return sign_op(inst);
        case Op::Fcopysign: return copy_sign(inst);
        case Op::Fmin: return min_max(inst, Form::MinF);
        case Op::Fmax: return min_max(inst, Form::MaxF);
        case Op::Fsqrt: return square_root(inst);
        case Op::Ffloor: return round_integral(inst, ptx::Round::Rmi);
        case Op::Fceil: return round_integral(inst, ptx::Round::Rpi);
        case Op::Ftrunc: return round_integral(inst, ptx::Round::Rzi);
        case Op::Frint: return round_integral(inst, ptx::Round::Rni);
        case Op::Fcmp: return compare_floats(inst);
        case Op::Trunc: return truncate(inst);
        case Op::Zext: return extend(inst, false);
        case Op::Sext: return extend(inst, true);
        case Op::Fcvt: return float_to_float(inst);
        case Op::Fptosi: return float_to_int(inst, true);
        case Op::Fptoui: return float_to_int(inst, false);
        case Op::Sitofp: return int_to_float(inst, true);
        case Op::Uitofp: return int_to_float(inst, false);
        case Op::Bitcast: return bit_cast(inst);
        case Op::Nonnull:
        case Op::PtrToInt:
        case Op::IntToPtr: return copy(result(inst), src(inst.args[0]));
        case Op::SpaceCast: return space_cast(inst);
        case Op::Alloca: return local_slot(inst);
        case Op::PtrAdd: return pointer_add(inst);
        case Op::Load: return load(inst);
        case Op::Store: return store(inst);
        case Op::Memcpy: return copy_memory(inst);
        case Op::Memset: return set_memory(inst);
        case Op::Sreg: return special_register(inst);
        case Op::LaunchDomain: return copy(result(inst), imm(in_.facts.domain));
        case Op::Barrier: return static_cast<void>(emit(Form::BarSync, PT::None, {imm(0), Operand::none()}));
        case Op::Fence: return fence(inst);
        case Op::Machine:
        case Op::MachineMemory:
        case Op::MachineSync: return machine_op(inst);
        case Op::Vprintf: return print_values(inst);
        // clang-format off
        case Op::TileLoad: case Op::TileStore: case Op::TileSplat: case Op::TileIota: case Op::TileMap: case Op::TileReshape:
        case Op::TileBroadcast: case Op::TilePermute: case Op::TileReduce: case Op::TileScalar: case Op::TileMma:
        case Op::TileReducePair: case Op::TileScan: case Op::TileCat: case Op::TileExtract: case Op::TileFill: case Op::TileEach:
        case Op::TileCount: case Op::TileInRange: case Op::TileRing: case Op::TileCopy: case Op::TileSlot: case Op::TileConvert:
            OCKC_UNREACHABLE("an operation on tiles after tile::lower");
        // clang-format on
        case Op::Asm:
        case Op::AsmMemory:
        case Op::AsmSync: return inline_asm(inst);
        case Op::AtomicLoad: return atomic_load(inst);
        case Op::AtomicStore: return atomic_store(inst);
        case Op::AtomicRmw: return atomic_rmw(inst);
        case Op::AtomicCas: return atomic_cas(inst);
        case Op::Call: return call(inst);
        case Op::Jump: return jump(inst);
        case Op::Br: return branch(inst);
        case Op::Switch: return switch_on(inst);
        case Op::Ret: return return_values(inst);
        case Op::Panic: return panic(inst);
        case Op::Trap:
        case Op::Unreachable: return leave(Form::Trap);
    }
    OCKC_UNREACHABLE("IR operation");
}

void Selector::special_register(const ir::Instruction& inst) {
    static constexpr std::string_view kTexts[] = {
#define OCKC_IR_SREG(name, text, type) "%" text,
#include "ir/sregs.def"
    };
    const std::optional<ptx::Special> found = ptx::special_from_text(kTexts[inst.aux]);
    OCKC_CHECK_MSG(found.has_value(), kTexts[inst.aux]);
    const ptx::Special special = *found;
    if (special == ptx::Special::Envreg1) context_.workspace_users.emplace_back(&in_, user_span(inst));
    const PT type = ptx::special_info(special).bits == 64 ? PT::U64 : PT::U32;
    need(inst, emit(Form::Mov, type, {r(result(inst)), Operand::special(special)}));
}

void Selector::fence(const ir::Instruction& inst) {
    Instr& instr = emit(Form::Membar, PT::None, {});
    switch (inst.fence_scope()) {
        case ir::Scope::Block: instr.mods.mode = ptx::Mode::Cta; return;
        case ir::Scope::Device: instr.mods.mode = ptx::Mode::Gl; return;
        case ir::Scope::System: instr.mods.mode = ptx::Mode::Sys; return;
    }
}

}  // namespace ockc::isel
