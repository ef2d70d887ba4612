// The function under selection between IR and ptx::Function: blocks of PTX instructions with their jumps
// still abstract, so that copies can be joined and blocks placed before any label exists. Private to isel.
#pragma once
#include <bit>
#include <cstdint>
#include <string>
#include <vector>

#include "ptx/ptx.hpp"
#include "support/index_map.hpp"

namespace ockc::isel {

using MBlockId = Id<struct MBlockTag>;

// How a machine block ends. Cond is two-way; Leave means that the last instruction does not come back (ret,
// trap).
enum class End : std::uint8_t { None, Leave, Jump, Cond };

struct MBlock {
    std::vector<ptx::Instr> instrs;
    End end = End::None;
    ptx::Operand cond;   // Cond: predicate register, may be negated
    MBlockId taken;      // Jump; Cond: when true
    MBlockId other;      // Cond: when false
    ptx::SourceLoc loc;  // of the jump
    bool cold = false;
    std::uint32_t loop_depth = 0;
};

struct MFunction {
    IndexVec<MBlockId, MBlock> blocks;  // the entry is block 0
    ptx::Function* out =
        nullptr;  // registers, lists, labels, locals; its blocks are filled in by place_blocks
};

// Calls `f(Reg&, bool is_def)` for every register that an instruction names: guard, operands, list elements,
// addresses. What is read and written comes twice.
template <class F>
void for_each_reg(ptx::Function& function, ptx::Instr& instr, F f) {
    const auto visit = [&f](ptx::Operand& operand, bool is_def) {
        if (operand.kind != ptx::OperandKind::Reg && operand.kind != ptx::OperandKind::AddrReg) return;
        ptx::Reg reg = operand.as_reg();
        f(reg, is_def && operand.kind == ptx::OperandKind::Reg);
        operand.index = reg.raw;
    };
    if (instr.guarded()) f(instr.guard, false);
    const ptx::FormInfo& info = instr.info();
    const unsigned all = (1u << info.operand_count) - 1;
    // Sources before destinations, as the machine reads and writes them.
    for (const bool is_def : {false, true}) {
        for (unsigned left = is_def ? info.defs : (all & ~info.defs) | info.updates; left != 0; left &= left - 1) {
            ptx::Operand& operand = instr.operands[static_cast<std::size_t>(std::countr_zero(left))];
            if (operand.kind == ptx::OperandKind::List) {
                for (ptx::Operand& item : function.lists[operand.as_list()])
                    visit(item, is_def);
            } else {
                visit(operand, is_def);
            }
        }
    }
}

// The steps after selection, in this order.
void remove_dead(MFunction& function);  // copies.cpp: pure instructions whose results nobody reads
void join_copies(
    MFunction& function);  // coalesce.cpp: copies between registers that are never alive together vanish
void place_blocks(MFunction& function);  // layout.cpp: jump threading, order, fallthrough, labels
void invert_compares(
    ptx::Function& function);  // layout.cpp: `@!%p` on the only use of a setp becomes its negation
void number_registers(ptx::Function& function);  // layout.cpp: dense numbers from 1 in text order

// A set of moves that happen at once: to[i] = from[i]. Appends plain moves in an order that gives the same
// result, using a new register for each cycle. copies.cpp
struct Move {
    ptx::Reg to;
    ptx::Operand from;  // register, constant, symbol
};
void sequence_moves(ptx::Function& function, std::vector<Move> moves, ptx::SourceLoc loc,
                    std::vector<ptx::Instr>& out);
ptx::Instr move_instr(ptx::Reg to, const ptx::Operand& from);
// The type that mov and selp use for a register class.
ptx::Type move_type(ptx::RegClass reg_class);

}  // namespace ockc::isel
