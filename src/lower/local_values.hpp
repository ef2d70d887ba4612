// The locals of a body that never need an address, as SSA values from the start: one variable for each scalar of such a local.
// Inside a run of blocks in which each has the one before it as its only predecessor, a read gives the last value written.
// What comes from further away is a placeholder at first; finish() replaces it by the value that reaches it.
#pragma once
#include <cstdint>
#include <vector>

#include "ir/analysis/cfg.hpp"
#include "ir/ir.hpp"

namespace ockc::lower {

using VarId = std::uint32_t;
inline constexpr VarId kNoVar = 0xFFFF'FFFFu;

class LocalValues {
  public:
    explicit LocalValues(ir::Function& function) : function_(function) {}

    VarId add(ir::Type type);
    ir::Type type_of(VarId var) const { return types_[var]; }
    void write(VarId var, ir::BlockId block, ir::ValueId value);
    ir::ValueId read(VarId var, ir::BlockId block);

    // What is known at the end of a block; roll_back(mark) forgets what came later, roll_back(0) everything.
    std::size_t mark() const { return undo_.size(); }
    void roll_back(std::size_t mark);

    // Gives every placeholder its value, through parameters of the blocks where several meet. Reading what was never written
    // gives zero. Blocks that cannot be reached are dropped.
    void finish();

  private:
    struct Known {
        VarId var;
        ir::ValueId before;
    };
    struct Event {   // a write, or the first read in a block of a value from outside
        VarId var;
        ir::BlockId block;
        ir::ValueId value;
        bool is_read;
    };
    void know(VarId var, ir::ValueId value);
    void drop_unreachable(const ir::Cfg& cfg);
    void sort_events();
    void replace_placeholders(ir::ValueId first);

    ir::Function& function_;
    std::vector<ir::Type> types_;          // by VarId, as the next two
    std::vector<ir::ValueId> current_;     // the value here, or none: not known in this run
    std::vector<bool> is_exposed_;         // has placeholders
    std::vector<Known> undo_;
    std::vector<Event> events_;            // finish() sorts them by variable
    std::vector<ir::ValueId> placeholders_, reaching_;   // side by side
};

}  // namespace ockc::lower
