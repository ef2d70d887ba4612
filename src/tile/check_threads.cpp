// A tile block is one logical thread. What only one of many threads can do has no meaning there: were it let through, threads
// would part ways in front of the barriers that operations on tiles need, and an atomic would be done by every one of them.
#include <fmt/format.h>

#include <algorithm>

#include "ir/names.hpp"
#include "tile/effects.hpp"
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
    if (inst.op == Op::GlobalAddr && module.globals[inst.global].space == Space::Shared) return "shared memory";
    return {};
}

}  // namespace

namespace {

class ThreadCheck {
  public:
    ThreadCheck(const Function& function, const Context& context) : function_(function), context_(context) {}

    bool run() {
        for (const BlockId block : function_.layout) {
            for (const InstId id : function_.blocks[block].insts) check(function_.insts[id]);
        }
        return good_;
    }

  private:
    void check(const Instruction& inst) {
        if (const std::string what = forbidden(inst, context_.module); !what.empty()) {
            return refuse(inst, fmt::format("{} in a tile kernel", what), "the tile block is one logical thread", "say what happens to tiles here, or write a SIMT kernel for it");
        }
        if (changes(function_, inst) == Reach::Unclear) {
            return refuse(inst, "a store that may go to a local variable or to other memory", "the tile block is one logical thread", "use one reference for each");
        }
        if (inst.op == Op::Call && changes_others(inst)) {
            return refuse(inst, "a function that changes memory must be inlined in a tile kernel", "not inlined", "put `#[inline(always)]` on it");
        }
        if (is_tile_op(inst.op) && inst.callee.valid()) check_lanes(inst);
    }

    // Does the call change more than the kernel's local variables?
    bool changes_others(const Instruction& call) const {
        const Changes callee = changes_of(context_.module, call.callee);
        bool others = callee.others;
        for (std::uint32_t i = 0; i < callee.params.size(); ++i) others = others || (callee.params[i] && reach_of(function_, call.args[i]) != Reach::Own);
        return others;
    }

    void check_lanes(const Instruction& inst) {
        const Changes changed = changes_of(context_.module, inst.callee);
        const bool any = changed.others || std::find(changed.params.begin(), changed.params.end(), true) != changed.params.end();
        if (any && inst.op != Op::TileEach) {
            return refuse(inst, "a function of lanes that changes memory or prints", "called here", "store a tile, or use what stores, counts or prints lane by lane");
        }
        std::vector<FuncId> open{inst.callee};
        for (std::size_t i = 0; i < open.size(); ++i) {
            const Function& lanes = context_.module.functions[open[i]];
            for (const BlockId block : lanes.layout) {
                for (const InstId id : lanes.blocks[block].insts) {
                    const Instruction& one = lanes.insts[id];
                    if (const std::string what = forbidden(one, context_.module); !what.empty()) {
                        return refuse(inst, fmt::format("{} in a function of lanes", what), "called here", "a function of lanes knows its lanes only");
                    }
                    if (one.op == Op::Call && std::find(open.begin(), open.end(), one.callee) == open.end()) open.push_back(one.callee);
                }
            }
        }
    }

    void refuse(const Instruction& inst, std::string message, std::string label, std::string help) {
        const Span at = user_span(function_, inst);
        context_.sink.error(Code::OCK0507, at, std::move(message)).label(at, std::move(label)).help(std::move(help));
        good_ = false;
    }

    const Function& function_;
    const Context& context_;
    bool good_ = true;
};

}  // namespace

bool check_threads(const Function& function, const Context& context) { return ThreadCheck(function, context).run(); }

}  // namespace ockc::tile
