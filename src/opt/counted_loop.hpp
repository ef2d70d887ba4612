// Innermost loops that count up by one and test at their end: `do { body } while (++counter < bound)`, what rotate_loops and
// licm leave of `for i in a..b`.
#pragma once
#include <optional>
#include <vector>

#include "ir/analysis/cfg.hpp"
#include "ir/analysis/loops.hpp"
#include "ir/ir.hpp"

namespace ockc::opt {

struct CountedLoop {
    ir::BlockId preheader;  // jumps to the header; nothing else enters the loop
    ir::BlockId header, latch;
    ir::ValueId counter;  // a parameter of the header
    std::uint32_t index = 0;  // which
    ir::ValueId start, next, bound;  // next = counter + 1; start and bound come from outside
    bool is_signed = false;  // how next is compared with bound
    std::size_t stay = 0;  // which of the latch's targets goes round
};

// What the loops of a function are made of.
class LoopShapes {
  public:
    LoopShapes(const ir::Function& function, const ir::Cfg& cfg, const ir::Loops& loops);

    // The loop in that form; none when it is not, has loops inside, or holds barriers or calls.
    std::optional<CountedLoop> counted(ir::LoopId id) const;
    // Instructions of the loop beside constants.
    std::size_t size(ir::LoopId id) const;
    // Is the value defined outside of the loop?
    bool is_outside(ir::LoopId id, ir::ValueId value) const;

  private:
    bool is_plain(ir::LoopId id) const;

    const ir::Function& function_;
    const ir::Cfg& cfg_;
    const ir::Loops& loops_;
    SideMap<ir::ValueId, ir::BlockId> home_;  // the block that defines a value
    std::vector<bool> has_inner_;             // by loop
};

// `value < bound` as the condition of going on to one of a branch's targets, in whatever way it is written.
struct LessThan {
    ir::ValueId value, bound;
    bool is_signed = false;
};
std::optional<LessThan> less_than(const ir::Function& function, ir::ValueId condition, bool truth);

}  // namespace ockc::opt
