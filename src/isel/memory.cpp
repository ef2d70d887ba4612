// Addresses, loads, stores, block copies. Constant offsets, variables and casts to generic are folded into
// the address, so that an access says in which space it is.
#include <algorithm>
#include <utility>

#include "isel/selector.hpp"

namespace ockc::isel {

using ir::Op;

ptx::Space ptx_space(ir::Space space) {
    switch (space) {
        case ir::Space::Generic: return ptx::Space::None;
        case ir::Space::Global: return ptx::Space::Global;
        case ir::Space::Shared: return ptx::Space::Shared;
        case ir::Space::Local: return ptx::Space::Local;
        case ir::Space::Const: return ptx::Space::Const;
        case ir::Space::Param: return ptx::Space::Param;
    }
    OCKC_UNREACHABLE("address space");
}

ptx::Type memory_type(ir::Type type) {
    using ir::Type;
    switch (type) {
        case Type::I1:
        case Type::I8: return ptx::Type::U8;
        case Type::I16: return ptx::Type::U16;
        case Type::I32: return ptx::Type::U32;
        case Type::F16:
        case Type::BF16: return ptx::Type::B16;
        case Type::F32: return ptx::Type::F32;
        case Type::F64: return ptx::Type::F64;
        case Type::I64:
        case Type::I128:  // in two halves
        case Type::Ptr:
        case Type::PtrGlobal:
        case Type::PtrShared:
        case Type::PtrLocal:
        case Type::PtrConst:
        case Type::PtrParam: return ptx::Type::U64;
        case Type::Tile:
        case Type::Void: break;
    }
    OCKC_UNREACHABLE("a value that is in no memory");
}

// ----------------------------------------------------------------------------------------------------------
// addresses

static bool fits_offset(std::int64_t offset) {
    return offset >= INT32_MIN && offset <= INT32_MAX;
}

Selector::Address Selector::address(ir::ValueId pointer, std::int64_t offset) {
    for (;;) {
        const ptx::Space space = ptx_space(ir::ptr_space(in_.type_of(pointer)));
        const ir::ValueId value = pointer;
        const ir::Instruction* def = in_.def(pointer);
        if (const ptx::SymbolId param = params_[value]; param.valid())
            return {Operand::at(param, offset), space};
        if (def == nullptr) return {Operand::at(reg_of(value), offset), space};
        if (def->op == Op::PtrAdd) {
            const auto c = int_constant(def->args[1]);
            const std::int64_t sum =
                c ? static_cast<std::int64_t>(static_cast<std::uint64_t>(offset) + *c) : 0;
            if (!c || !fits_offset(sum) || !fits_offset(static_cast<std::int64_t>(*c)))
                return {Operand::at(reg_of(value), offset), space};
            offset = sum;
            pointer = def->args[0];
        } else if (def->op == Op::SpaceCast && space == ptx::Space::None) {
            pointer = def->args[0];
        } else if (def->op == Op::GlobalAddr) {
            return {Operand::at(global_symbol(def->global), offset),
                    ptx_space(context_.ir.globals[def->global].space)};
        } else if (def->op == Op::Alloca) {
            return {Operand::at(slot_symbol(in_.values[value].inst), offset), ptx::Space::Local};
        } else {
            return {Operand::at(use(value), offset), space};
        }
    }
}

void Selector::pointer_add(const ir::Instruction& inst) {
    const Reg to = result(inst);
    if (const auto c = int_constant(inst.args[1])) {
        const Address at = address(inst.args[0], static_cast<std::int64_t>(*c));
        const bool same_space = at.space == ptx_space(ir::ptr_space(inst.type));
        if (same_space && at.base.kind == ptx::OperandKind::AddrSym) {
            emit(Form::Mov, PT::U64, {r(to), Operand::symbol(at.base.as_symbol(), at.base.value)});
        } else if (same_space) {
            emit(Form::AddI, PT::S64, {r(to), r(at.base.as_reg()), imm(at.base.value)});
        } else {
            emit(Form::AddI, PT::S64, {r(to), r(use(inst.args[0])), imm(static_cast<std::int64_t>(*c))});
        }
        return;
    }
    const ir::InstId id = in_.values[inst.args[1]].inst;
    const ir::Instruction* offset = id.valid() && same_loop(id) ? &in_.insts[id] : nullptr;
    if (offset != nullptr && wide_product(*offset, &inst.args[0], to)) return;
    if (offset != nullptr && offset->op == Op::Imul && uses_[inst.args[1]] == 1) {
        emit(Form::MadLo, PT::S64, {r(to), src(offset->args[0]), src(offset->args[1]), src(inst.args[0])});
        return;
    }
    emit(Form::AddI, PT::S64, {r(to), src(inst.args[0]), src(inst.args[1])});
}

ptx::SymbolId Selector::global_symbol(ir::GlobalId global) const {
    return context_.out.symbol(context_.ir.globals[global].name);
}

void Selector::global_address(const ir::Instruction& inst) {
    const ir::Global& global = context_.ir.globals[inst.global];
    const Operand symbol = Operand::symbol(global_symbol(inst.global));
    const bool generic = ir::ptr_space(inst.type) == ir::Space::Generic && global.space != ir::Space::Generic;
    Instr& instr = emit(generic ? Form::Cvta : Form::Mov, PT::U64, {r(result(inst)), symbol});
    if (generic) instr.mods.space = ptx_space(global.space);
}

// -------------------------------------------------------------------------------------------------------
// stack slots

// One .local variable for each alloca. `$` keeps the name apart from the user's.
ptx::SymbolId Selector::slot_symbol(ir::InstId alloca) {
    ptx::SymbolId& symbol = slots_.at(alloca);
    if (symbol.valid()) return symbol;
    const ir::Instruction& inst = in_.insts[alloca];
    symbol = context_.out.symbol("$local" + std::to_string(++slot_count_));
    ptx::Variable v;
    v.name = symbol;
    v.space = ptx::Space::Local;
    v.align = std::max<std::uint32_t>(inst.memory.align, 1);
    v.array = true;
    v.count = std::max<std::uint64_t>(inst.imm, 1);
    out_.locals.push_back(std::move(v));
    return symbol;
}

void Selector::local_slot(const ir::Instruction& inst) {
    emit(Form::Mov, PT::U64, {r(result(inst)), Operand::symbol(slot_symbol(inst_))});
}

// ---------------------------------------------------------------------------------------------------- loads
// and stores

static ptx::Operand moved_by(ptx::Operand base, std::int64_t offset) {
    base.value += offset;
    return base;
}

ptx::Vec Selector::lanes_of(const Operand& list) const {
    return out_.list_of(list).size() == 4 ? ptx::Vec::V4 : ptx::Vec::V2;
}

void Selector::load_piece(const Operand& to, PT type, const Address& at, std::int64_t offset,
                          const ir::MemoryInfo& memory) {
    const bool unchanging = memory.readonly && !memory.is_volatile && at.space == ptx::Space::Global;
    Instr& instr = emit(unchanging ? Form::LdNc : Form::Ld, type, {to, moved_by(at.base, offset)});
    if (!unchanging) instr.mods.space = at.space;
    if (memory.is_volatile && at.space != ptx::Space::Local) instr.mods.sem = ptx::Sem::Volatile;   // nobody else sees local memory
    if (to.kind == ptx::OperandKind::List) instr.mods.vec = lanes_of(to);
}

void Selector::store_piece(PT type, const Address& at, std::int64_t offset, const Operand& value,
                           const ir::MemoryInfo& memory) {
    Instr& instr = emit(Form::St, type, {moved_by(at.base, offset), value});
    instr.mods.space = at.space;
    if (memory.is_volatile && at.space != ptx::Space::Local) instr.mods.sem = ptx::Sem::Volatile;
    if (value.kind == ptx::OperandKind::List) instr.mods.vec = lanes_of(value);
}

void Selector::load(const ir::Instruction& inst) {
    const Address at = address(inst.args[0], static_cast<std::int64_t>(inst.imm));
    const std::uint32_t bytes = ir::type_bytes(inst.type);
    if (inst.memory.align < std::min(bytes, 8u)) return load_unaligned(inst, at);
    if (inst.type == VT::I128) {
        const Wide to = wide_result(inst);
        if (inst.memory.align >= 16) {
            load_piece(Operand::list(out_.new_list({to.low, to.high})), PT::U64, at, 0, inst.memory);
        } else {  // the low half last: it may hold the address
            load_piece(to.high, PT::U64, at, 8, inst.memory);
            load_piece(to.low, PT::U64, at, 0, inst.memory);
        }
        return;
    }
    if (inst.type == VT::I1) {
        const Reg byte = fresh(RegClass::B16);
        load_piece(r(byte), PT::U8, at, 0, inst.memory);
        compare(result(inst), ptx::Cmp::Ne, PT::S16, r(byte), imm(0));
        return;
    }
    load_piece(r(result(inst)), memory_type(inst.type), at, 0, inst.memory);
}

// A constant may be stored as it is; of a byte or a half only the low bits count.
ptx::Operand Selector::stored(ir::ValueId value) {
    const ir::Instruction* def = constant_def(value);
    if (def == nullptr) return r(reg_of(value));
    return constant(*def);
}

void Selector::store(const ir::Instruction& inst) {
    const Address at = address(inst.args[0], static_cast<std::int64_t>(inst.imm));
    const ir::ValueId value = inst.args[1];
    const VT type = in_.type_of(value);
    const std::uint32_t bytes = ir::type_bytes(type);
    if (inst.memory.align < std::min(bytes, 8u)) return store_unaligned(inst, at);
    if (type == VT::I128) {
        const Wide from = wide(value);
        if (inst.memory.align >= 16) {
            store_piece(PT::U64, at, 0, Operand::list(out_.new_list({from.low, from.high})), inst.memory);
        } else {
            store_piece(PT::U64, at, 0, from.low, inst.memory);
            store_piece(PT::U64, at, 8, from.high, inst.memory);
        }
        return;
    }
    if (type == VT::I1 && constant_def(value) == nullptr) {
        const Reg byte =
            emit_to(RegClass::B16, Form::Selp, PT::B16, {imm(1), imm(0), plain_predicate(value)});
        store_piece(PT::U8, at, 0, r(byte), inst.memory);
        return;
    }
    store_piece(memory_type(type), at, 0, stored(value), inst.memory);
}

// ----------------------------------------------------------------------------------------------
// under-aligned accesses

static ptx::Type piece_type(std::uint32_t bytes) {
    switch (bytes) {
        case 1: return ptx::Type::U8;
        case 2: return ptx::Type::U16;
        case 4: return ptx::Type::U32;
        case 8: return ptx::Type::U64;
        default: OCKC_UNREACHABLE("size of a memory access");
    }
}

// The pieces that the alignment allows, put together in 64 bits.
ptx::Reg Selector::load_pieces(std::uint32_t bytes, const Address& at, std::int64_t offset,
                               const ir::MemoryInfo& memory) {
    Reg sum;
    for (std::uint32_t done = 0; done < bytes; done += memory.align) {
        Reg piece = fresh(RegClass::B64);  // loads may fill a wider register
        load_piece(r(piece), piece_type(memory.align), at, offset + done, memory);
        if (done != 0) {
            const Reg up = emit_to(RegClass::B64, Form::Shl, PT::B64,
                                   {r(piece), imm(8 * static_cast<std::int64_t>(done))});
            piece = emit_to(RegClass::B64, Form::Or, PT::B64, {r(sum), r(up)});
        }
        sum = piece;
    }
    return sum;
}

void Selector::load_unaligned(const ir::Instruction& inst, const Address& at) {
    const std::uint32_t bytes = ir::type_bytes(inst.type);
    if (inst.type == VT::I128) {
        const Reg high = load_pieces(8, at, 8, inst.memory);
        const Reg low = load_pieces(8, at, 0, inst.memory);
        const Wide to = wide_result(inst);
        copy(to.high.as_reg(), r(high));
        copy(to.low.as_reg(), r(low));
        return;
    }
    const Reg all = load_pieces(bytes, at, 0, inst.memory);
    const Reg to = result(inst);
    if (bytes == 8) {
        emit(Form::Mov, PT::B64, {r(to), r(all)});
    } else if (reg_class(inst.type) == RegClass::F32) {
        const Reg word = fresh(RegClass::B32);
        convert(word, PT::U32, r(all), PT::U64);
        emit(Form::Mov, PT::B32, {r(to), r(word)});
    } else {
        convert(to, bytes == 4 ? PT::U32 : PT::U16, r(all), PT::U64);
    }
}

void Selector::store_pieces(std::uint32_t bytes, const Address& at, std::int64_t offset, const Operand& value,
                            const ir::MemoryInfo& memory) {
    for (std::uint32_t done = 0; done < bytes; done += memory.align) {
        Operand piece = value;  // stores take the low bits of a wider register
        if (done != 0)
            piece = r(emit_to(RegClass::B64, Form::Shr, PT::U64,
                              {value, imm(8 * static_cast<std::int64_t>(done))}));
        store_piece(piece_type(memory.align), at, offset + done, piece, memory);
    }
}

void Selector::store_unaligned(const ir::Instruction& inst, const Address& at) {
    const ir::ValueId value = inst.args[1];
    const VT type = in_.type_of(value);
    const std::uint32_t bytes = ir::type_bytes(type);
    if (type == VT::I128) {
        const auto in_register = [this](const Operand& half) {
            if (half.is_reg()) return half;
            const Reg reg = fresh(RegClass::B64);
            copy(reg, half);
            return r(reg);
        };
        const Wide from = wide(value);
        store_pieces(8, at, 0, in_register(from.low), inst.memory);
        store_pieces(8, at, 8, in_register(from.high), inst.memory);
        return;
    }
    const Reg from = use(value);
    const Reg all = fresh(RegClass::B64);
    if (bytes == 8) {
        emit(Form::Mov, PT::B64, {r(all), r(from)});
    } else if (reg_class(type) == RegClass::F32) {
        const Reg word = fresh(RegClass::B32);
        emit(Form::Mov, PT::B32, {r(word), r(from)});
        convert(all, PT::U64, r(word), PT::U32);
    } else {
        convert(all, PT::U64, r(from), bytes == 4 ? PT::U32 : PT::U16);
    }
    store_pieces(bytes, at, 0, r(all), inst.memory);
}

// ------------------------------------------------------------------------------------------------- copies
// and fills

// Up to this many accesses are written out; more become a loop over the words and a few accesses for the
// rest.
static constexpr std::uint64_t kUnrolledWords = 16;

void Selector::copy_memory(const ir::Instruction& inst) {
    const Address to = address(inst.args[0], 0);
    const Address from = address(inst.args[1], 0);
    move_words(inst, to, &from, Operand::none());
}

// The byte repeated in every position of a word.
void Selector::set_memory(const ir::Instruction& inst) {
    const Address to = address(inst.args[0], 0);
    Operand fill;
    if (const auto c = int_constant(inst.args[1])) {
        fill = imm(static_cast<std::int64_t>((*c & 0xFF) * 0x0101'0101'0101'0101u));
    } else {
        const Reg byte = fresh(RegClass::B64);
        convert(byte, PT::U64, r(reg_of(inst.args[1])), PT::U8);
        fill = r(emit_to(RegClass::B64, Form::MulLo, PT::S64, {r(byte), imm(0x0101'0101'0101'0101)}));
    }
    move_words(inst, to, nullptr, fill);
}

void Selector::move_words(const ir::Instruction& inst, const Address& to, const Address* from,
                          const Operand& fill) {
    const std::uint64_t bytes = inst.imm;
    const std::uint32_t word = std::min(inst.memory.align, 8u);
    const bool loop = bytes / word > kUnrolledWords;
    const std::uint64_t looped = loop ? bytes / word * word : 0;
    std::vector<Instr> before = std::exchange(current_, {});  // what computes addresses and fill
    move_tail(looped, bytes, word, to, from, fill, inst.memory);
    if (loop) word_loop(looped, word, to, from, fill, inst.memory);
    current_.insert(current_.begin(), std::make_move_iterator(before.begin()),
                    std::make_move_iterator(before.end()));
}

// Bytes [done, bytes) in accesses of `word` bytes and, at the end, smaller ones.
void Selector::move_tail(std::uint64_t done, std::uint64_t bytes, std::uint32_t word, const Address& to,
                         const Address* from, const Operand& fill, const ir::MemoryInfo& memory) {
    while (done < bytes) {
        while (word > bytes - done)
            word /= 2;
        move_word(word, to, from, fill, static_cast<std::int64_t>(done), memory);
        done += word;
    }
}

void Selector::move_word(std::uint32_t word, const Address& to, const Address* from, const Operand& fill,
                         std::int64_t offset, const ir::MemoryInfo& memory) {
    const PT type = piece_type(word);
    Operand value = fill;
    if (fill.kind == ptx::OperandKind::Imm && word < 8) value.value &= (std::int64_t{1} << (8 * word)) - 1;
    if (from != nullptr) {
        value = r(fresh(word == 8 ? RegClass::B64 : word == 4 ? RegClass::B32 : RegClass::B16));
        ir::MemoryInfo source = memory;
        source.readonly = false;
        load_piece(value, type, *from, offset, source);
    }
    store_piece(type, to, offset, value, memory);
}

// offset = 0; do { word at offset; offset += word } while (offset != bytes). The block is cut in two around
// it: what has been selected so far comes after the loop.
void Selector::word_loop(std::uint64_t bytes, std::uint32_t word, const Address& to, const Address* from,
                         const Operand& fill, const ir::MemoryInfo& memory) {
    flush();
    const MBlockId after = new_block();
    const MBlockId loop = new_block();
    MBlock& head = machine_.blocks[machine_block_];
    machine_.blocks[after] = std::move(head);
    head = MBlock{};
    head.cold = machine_.blocks[after].cold;
    head.loop_depth = machine_.blocks[after].loop_depth;
    head.end = End::Jump;
    head.taken = loop;
    head.loc = loc_;

    const Reg offset = fresh(RegClass::B64);
    std::vector<Instr> before{move_instr(offset, imm(0))};  // in the head, in front of the loop
    before.back().loc = loc_;
    const auto pointer = [&](const Address& at) -> Address {
        Reg base = at.base.as_reg();
        if (at.base.kind == ptx::OperandKind::AddrSym) {
            base = fresh(RegClass::B64);
            before.push_back(move_instr(base, Operand::symbol(at.base.as_symbol())));
            before.back().loc = loc_;
        }
        const Reg sum = emit_to(RegClass::B64, Form::AddI, PT::S64, {r(base), r(offset)});
        return {Operand::at(sum, at.base.value), at.space};
    };
    Address source;
    if (from != nullptr) source = pointer(*from);
    move_word(word, pointer(to), from != nullptr ? &source : nullptr, fill, 0, memory);
    emit(Form::AddI, PT::S64, {r(offset), r(offset), imm(word)});
    const Reg more = fresh(RegClass::Pred);
    compare(more, ptx::Cmp::Ne, PT::S64, r(offset), imm(static_cast<std::int64_t>(bytes)));
    MBlock& body = machine_.blocks[loop];
    body.loop_depth = head.loop_depth + 1;
    body.end = End::Cond;
    body.cond = r(more);
    body.taken = loop;
    body.other = after;
    body.loc = loc_;
    body.instrs.assign(std::make_move_iterator(current_.rbegin()), std::make_move_iterator(current_.rend()));
    current_ = std::move(before);
}

}  // namespace ockc::isel
