// Changes to a function that many passes make: replacing values, making instructions, cutting blocks and
// parameters.
#pragma once
#include <span>
#include <vector>

#include "ir/analysis/cfg.hpp"
#include "ir/ir.hpp"

namespace ockc::opt {

// Values to be replaced by others, applied to all operands in one sweep. Chains are followed: after a -> b
// and b -> c, a resolves to c.
class Replacements {
  public:
    void replace(ir::ValueId from, ir::ValueId to);
    ir::ValueId resolve(ir::ValueId value) { return to_[value].valid() ? follow(value) : value; }
    bool empty() const { return count_ == 0; }
    // Rewrites every operand and branch argument of the placed instructions.
    void apply(ir::Function& function);

  private:
    ir::ValueId follow(ir::ValueId value);

    SideMap<ir::ValueId, ir::ValueId> to_;
    std::size_t count_ = 0;
};

// Whether the two operands may change places.
bool is_commutative(ir::Op op);

struct Constant {
    std::uint64_t low = 0;
    std::uint64_t high = 0;  // i128 only
    friend bool operator==(const Constant&, const Constant&) = default;
};

// The function's constants, one instruction each, at the top of the entry block, where they dominate
// everything. place() must be called before anything else reads the entry block's instructions.
class ConstantPool {
  public:
    explicit ConstantPool(ir::Function& function);
    ir::ValueId get(ir::Type type, Constant constant);
    ir::ValueId get(ir::Type type, std::uint64_t low) { return get(type, Constant{low, 0}); }
    // The pool's value for a constant instruction anywhere in the function.
    ir::ValueId get(const ir::Instruction& constant) {
        return get(constant.type, {constant.imm, constant.imm_high});
    }
    // Puts the constants made since into the entry block. Returns whether there were any.
    bool place();

  private:
    struct Key {
        std::uint64_t low;
        std::uint64_t high;
        ir::Type type;
        friend bool operator==(const Key&, const Key&) = default;
    };
    struct Entry {
        Key key;
        ir::ValueId value;
    };
    ir::ValueId& find_or_add(const Key& key);
    void grow();

    ir::Function& function_;
    std::vector<Entry> entries_;
    std::vector<std::uint32_t> slots_;  // open addressing: 1 + index into entries_; at most half full
    std::vector<ir::InstId> fresh_;
};

// The instruction of a constant value, or null.
inline const ir::Instruction* constant_def(const ir::Function& function, ir::ValueId value) {
    const ir::Instruction* def = function.def(value);
    return def != nullptr && def->op == ir::Op::Const ? def : nullptr;
}
bool is_constant(const ir::Function& function, ir::ValueId value, std::uint64_t low);

// Makes room in the instruction store, so that references to instructions survive the making of `count` new
// ones.
inline void keep_room(ir::Function& function, std::size_t count) {
    auto& insts = function.insts.raw();
    if (insts.capacity() - insts.size() < count) insts.reserve(insts.size() + insts.size() / 2 + count);
}
// Makes an instruction with one result of `result` (or none for Void) in the place of `like`: same span and
// scope.
ir::InstId make_inst(ir::Function& function, ir::Op op, ir::Type type, ir::Type result,
                     std::initializer_list<ir::ValueId> args, const ir::Instruction& like);
// A copy with results of its own.
ir::InstId clone_inst(ir::Function& function, ir::InstId original);
// Makes a binary operation, or an integer comparison, right before a block's terminator.
ir::ValueId put_at_end(ir::Function& function, ir::BlockId block, ir::Op op, ir::Type type, ir::ValueId a, ir::ValueId b,
                       ir::IntCond cond = ir::IntCond::Ult);
// Replaces a block's terminator by a jump.
void set_jump(ir::Function& function, ir::BlockId block, ir::Target target);
// Makes of a block's jump or branch one that depends on `condition`.
void set_branch(ir::Function& function, ir::BlockId block, ir::ValueId condition, ir::Target yes, ir::Target no);

// Drops the blocks that cannot be reached; returns whether there were any.
bool remove_unreachable(ir::Function& function);
// The same at the start of a pass: nothing is done when no pass has changed the function since it was last done.
inline bool trim(ir::Function& function) {
    return !function.all_reachable && remove_unreachable(function);
}
// Drops the parameters whose flag is set from a block and the arguments from every branch to it.
void remove_params(ir::Function& function, const SideMap<ir::BlockId, std::vector<bool>>& dead);
// Puts a new block with a jump on an edge.
ir::BlockId split_edge(ir::Function& function, ir::BlockId from, std::size_t target_index);

// A block that a branch leads to when what the launch contract promises does not hold: see drop_assumptions.cpp.
bool is_assumption(const ir::Function& function, ir::BlockId block);
// May the instruction be computed where it was not before, and dropped when its result is unused?
inline bool is_pure(ir::Op op) {
    return ir::op_info(op).effect == ir::Effect::Pure && op != ir::Op::Alloca;
}
// Are there stack slots?
inline bool has_slots(const ir::Function& function) {
    for (const ir::InstId id : function.blocks[function.entry()].insts) {
        if (function.insts[id].op == ir::Op::Alloca) return true;
    }
    return false;
}
// Does a load read memory that cannot change during the launch?
bool is_invariant_load(const ir::Function& function, const ir::Instruction& inst);
// May the instruction be dropped when its results are unused?
bool is_removable(const ir::Instruction& inst);

}  // namespace ockc::opt
