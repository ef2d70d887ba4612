// Copies and what is left of them. remove_dead drops the halves of 128-bit results and the loop variables
// that turned out to be unused: one pass from the end, in which a dropped instruction gives back its reads.
//
// Parallel moves as a sequence: a move may be written once nobody still has to read its destination; when
// only cycles are left, one of their values is saved in a new register. Linear in the number of moves.
#include <array>
#include <unordered_map>
#include <utility>

#include "isel/machine.hpp"

namespace ockc::isel {

ptx::Type move_type(ptx::RegClass reg_class) {
    switch (reg_class) {
        case ptx::RegClass::Pred: return ptx::Type::Pred;
        case ptx::RegClass::B16:
        case ptx::RegClass::Half: return ptx::Type::B16;
        case ptx::RegClass::B32: return ptx::Type::U32;
        case ptx::RegClass::F32: return ptx::Type::F32;
        case ptx::RegClass::B64: return ptx::Type::U64;
        case ptx::RegClass::F64: return ptx::Type::F64;
        case ptx::RegClass::B128: return ptx::Type::B128;
    }
    OCKC_UNREACHABLE("register class");
}

ptx::Instr move_instr(ptx::Reg to, const ptx::Operand& from) {
    return ptx::make(ptx::Form::Mov, move_type(to.reg_class()), {ptx::Operand::reg(to), from});
}

void remove_dead(MFunction& function) {
    ptx::Function& out = *function.out;
    std::array<std::vector<std::uint32_t>, ptx::kRegClassCount> reads;
    for (std::size_t c = 0; c < ptx::kRegClassCount; ++c)
        reads[c].resize(out.reg_counts[c], 0);
    const auto count = [&](ptx::Reg reg) -> std::uint32_t& {
        return reads[static_cast<std::size_t>(reg.reg_class())][reg.number()];
    };
    for (MBlock& block : function.blocks) {
        if (block.end == End::Cond) ++count(block.cond.as_reg());
        for (ptx::Instr& instr : block.instrs) {
            for_each_reg(out, instr, [&](ptx::Reg& reg, bool is_def) { count(reg) += is_def ? 0 : 1; });
        }
    }
    for (std::uint32_t b = static_cast<std::uint32_t>(function.blocks.size()); b-- > 0;) {
        std::vector<ptx::Instr>& instrs = function.blocks[MBlockId(b)].instrs;
        std::size_t kept = instrs.size();   // what is wanted gathers at the end
        for (std::size_t i = instrs.size(); i-- > 0;) {
            ptx::Instr& instr = instrs[i];
            bool wanted = instr.info().effects != ptx::Effects::Pure;
            for_each_reg(out, instr, [&](ptx::Reg& reg, bool is_def) { wanted |= is_def && count(reg) != 0; });
            if (!wanted) {
                for_each_reg(out, instr, [&](ptx::Reg& reg, bool is_def) { count(reg) -= is_def ? 0 : 1; });
            } else if (--kept != i) {
                instrs[kept] = instr;
            }
        }
        instrs.erase(instrs.begin(), instrs.begin() + static_cast<std::ptrdiff_t>(kept));
    }
}

void sequence_moves(ptx::Function& function, std::vector<Move> moves, ptx::SourceLoc loc,
                    std::vector<ptx::Instr>& out) {
    std::unordered_map<std::uint32_t, std::uint32_t> readers;  // register -> moves that still have to read it
    std::unordered_map<std::uint32_t, std::size_t> writer;     // register -> the move that writes it
    std::vector<std::size_t> ready;
    std::vector<bool> done(moves.size(), false);
    const auto emit = [&](ptx::Reg to, const ptx::Operand& from) {
        out.push_back(move_instr(to, from));
        out.back().loc = loc;
    };
    for (std::size_t i = 0; i < moves.size(); ++i) {
        done[i] = moves[i].from.is_reg() && moves[i].from.as_reg() == moves[i].to;
        if (done[i]) continue;
        writer.emplace(moves[i].to.raw, i);
        if (moves[i].from.is_reg()) ++readers[moves[i].from.index];
    }
    const auto is_ready = [&](std::size_t i) {
        const auto it = readers.find(moves[i].to.raw);
        return it == readers.end() || it->second == 0;
    };
    const auto finish = [&](std::size_t first) {
        ready.push_back(first);
        while (!ready.empty()) {
            const std::size_t i = ready.back();
            ready.pop_back();
            if (done[i]) continue;
            done[i] = true;
            emit(moves[i].to, moves[i].from);
            if (!moves[i].from.is_reg() || --readers[moves[i].from.index] != 0) continue;
            const auto next = writer.find(moves[i].from.index);
            if (next != writer.end() && !done[next->second]) ready.push_back(next->second);
        }
    };
    for (std::size_t i = 0; i < moves.size(); ++i) {
        if (!done[i] && is_ready(i)) finish(i);
    }
    for (std::size_t i = 0; i < moves.size(); ++i) {  // only cycles are left
        if (done[i]) continue;
        const ptx::Reg saved = function.new_reg(moves[i].to.reg_class());
        emit(saved, ptx::Operand::reg(moves[i].to));
        for (Move& move : moves) {
            if (move.from.is_reg() && move.from.as_reg() == moves[i].to) move.from = ptx::Operand::reg(saved);
        }
        readers[moves[i].to.raw] = 0;
        finish(i);
    }
}

}  // namespace ockc::isel
