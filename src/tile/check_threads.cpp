// A tile block is one logical thread. What only one of many threads can do has no meaning there: were it let through, threads
// would part ways in front of the barriers that operations on tiles need, and an atomic would be done by every one of them.
#include <fmt/format.h>

#include "ir/names.hpp"
#include "tile/tile.hpp"

namespace ockc::tile {

using namespace ir;

namespace {

// Not the same in all threads of a block.
bool tells_threads_apart(Sreg reg) {
    switch (reg) {
        case Sreg::TidX:
        case Sreg::TidY:
        case Sreg::TidZ:
        case Sreg::LaneId:
        case Sreg::WarpId:
        case Sreg::LanemaskEq:
        case Sreg::LanemaskLe:
        case Sreg::LanemaskLt:
        case Sreg::LanemaskGe:
        case Sreg::LanemaskGt: return true;
        default: return false;
    }
}

// What the instruction does that a logical thread cannot; empty when it can.
std::string forbidden(const Instruction& inst, const Module& module) {
    if (inst.op == Op::Sreg && tells_threads_apart(inst.sreg())) return fmt::format("the special register `%{}`", sreg_text(inst.sreg()));
    if (inst.op == Op::Barrier) return "a barrier of threads";
    if (inst.op == Op::MachineSync || inst.op == Op::MachineMemory) return fmt::format("the machine operation `{}`", intrinsic::info(inst.machine()).key);
    if (is_atomic(inst.op)) return "an atomic operation";
    if (inst.op == Op::GlobalAddr && module.globals[inst.global].space == Space::Shared) return "shared memory";
    return {};
}

}  // namespace

bool check_threads(const Function& function, const Context& context) {
    bool good = true;
    for (const BlockId block : function.layout) {
        for (const InstId id : function.blocks[block].insts) {
            const Instruction& inst = function.insts[id];
            const std::string what = forbidden(inst, context.module);
            if (what.empty()) continue;
            const Span at = user_span(function, inst);
            context.sink.error(Code::OCK0507, at, fmt::format("{} in a tile kernel", what))
                .label(at, "the tile block is one logical thread")
                .help("say what happens to tiles here, or write a SIMT kernel for it");
            good = false;
        }
    }
    return good;
}

}  // namespace ockc::tile
