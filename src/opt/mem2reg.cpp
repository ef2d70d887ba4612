// Stack slots whose every use is a load or store of the whole slot become SSA values (sroa has split the
// others as far as they go). Reading a slot before any write gives zero. A slot is handled block by block:
// inside a block, loads take the last store's value; what crosses blocks goes through SsaBuilder.
#include <algorithm>
#include <vector>

#include "ir/analysis/uses.hpp"
#include "opt/edit.hpp"
#include "opt/pass.hpp"
#include "ir/ssa.hpp"

namespace ockc::opt {

using namespace ir;

namespace {

// The slot's accesses in layout order, each with its block: consecutive for one block.
struct Access {
    BlockId block;
    InstId inst;
};

struct PromotedSlot {
    InstId alloca;
    Type type = Type::Void;  // of the first access; others of that size are converted
    bool promotable = true;
    std::vector<Access> accesses;
};

bool convertible(Type a, Type b) {
    if (a == b) return true;
    if (is_ptr(a) || is_ptr(b)) {
        // Between spaces there is no conversion that keeps the bits' meaning; integers are taken as
        // addresses.
        return !(is_ptr(a) && is_ptr(b)) && type_bytes(a) == type_bytes(b) && !is_float(a) && !is_float(b);
    }
    return type_bytes(a) == type_bytes(b);
}

class Mem2Reg {
  public:
    Mem2Reg(Function& function, Analyses& analyses) : function_(function), analyses_(analyses), pool_(function) {}

    bool run() {
        collect();
        if (std::none_of(slots_.begin(), slots_.end(), [](const PromotedSlot& slot) { return slot.promotable; }))
            return false;
        bool changed = false;
        SsaBuilder ssa(function_, analyses_.cfg());
        dead_.assign(function_.insts.size(), false);
        for (PromotedSlot& slot : slots_) {
            if (!slot.promotable) continue;
            promote(slot, ssa);
            changed = true;
        }
        if (!changed) return false;
        sweep();
        replacements_.apply(function_);
        pool_.place();
        return true;
    }

  private:
    // Finds the slots and their accesses; any other use of an address keeps its slot in memory.
    void collect() {
        for (const InstId id : function_.blocks[function_.entry()].insts) {
            if (function_.insts[id].op != Op::Alloca) continue;
            slots_.push_back({id, Type::Void, true, {}});
            slot_of_.set(function_.insts[id].result(), static_cast<std::uint32_t>(slots_.size()));
        }
        for (const BlockId block : function_.layout) {
            for (const InstId id : function_.blocks[block].insts)
                collect_uses(block, id);
        }
    }

    void collect_uses(BlockId block, InstId id) {
        const Instruction& inst = function_.insts[id];
        std::size_t position = 0;
        for_each_use(inst, [&](ValueId value) {
            const std::size_t here = position++;
            if (slot_of_[value] == 0) return;
            PromotedSlot& slot = slots_[slot_of_[value] - 1];
            const bool access = here == 0 && (inst.op == Op::Load || inst.op == Op::Store);
            if (!access || !whole_access(slot, inst)) {
                slot.promotable = false;
            } else {
                slot.accesses.push_back({block, id});
            }
        });
    }

    bool whole_access(PromotedSlot& slot, const Instruction& inst) {
        // A byte that is also accessed as a number keeps all its bits.
        if (slot.type == Type::Void || (slot.type == Type::I1 && inst.type == Type::I8))
            slot.type = inst.type;
        return inst.imm == 0 && !inst.memory.is_volatile && convertible(slot.type, inst.type) &&
               type_bytes(inst.type) == function_.insts[slot.alloca].imm;
    }

    void promote(const PromotedSlot& slot, SsaBuilder& ssa) {
        dead_[slot.alloca.raw] = true;
        ssa.start();
        ValueId current;
        BlockId block;
        std::vector<Access> exposed;  // loads that no store in their block precedes
        for (const Access& access : slot.accesses) {
            if (access.block != block) {
                if (current.valid()) ssa.define(block, current);
                current = ValueId::none();
                block = access.block;
            }
            const Instruction& inst = function_.insts[access.inst];
            if (inst.op == Op::Store) {
                dead_[access.inst.raw] = true;
                current = convert(slot.type, inst.args[1], access.inst);
            } else if (current.valid()) {
                replace_load(slot, access.inst, current);
            } else {
                ssa.need(block);
                exposed.push_back(access);
            }
        }
        if (current.valid()) ssa.define(block, current);
        ssa.finish(slot.type, [&] { return pool_.get(slot.type, 0); });
        for (const Access& access : exposed)
            replace_load(slot, access.inst, ssa.at_start(access.block));
    }

    void replace_load(const PromotedSlot& slot, InstId load, ValueId value) {
        const Type type = function_.insts[load].type;
        if (type == slot.type) {
            dead_[load.raw] = true;
            replacements_.replace(function_.insts[load].result(), value);
        } else {
            become_conversion(load, slot.type, value);
        }
    }

    // Turns a load of another type than the slot's into the conversion of the slot's value.
    void become_conversion(InstId load, Type from, ValueId value) {
        Instruction& inst = function_.insts[load];
        inst.op = conversion(from, inst.type);
        inst.args = {value};
        inst.memory = {};
        inst.imm = 0;
    }

    // Same bytes in memory, other type: i1 and i8 share their byte, all else is a change of view.
    static Op conversion(Type from, Type to) {
        if (from == Type::I1) return Op::Zext;
        if (to == Type::I1) return Op::Trunc;
        if (is_ptr(from)) return Op::PtrToInt;
        if (is_ptr(to)) return Op::IntToPtr;
        return Op::Bitcast;
    }

    // The stored value in the slot's type; a conversion takes the store's place.
    ValueId convert(Type type, ValueId value, InstId store) {
        const Type from = function_.type_of(value);
        if (from == type) return value;
        const Instruction like = function_.insts[store];
        const InstId made = make_inst(function_, conversion(from, type), type, type, {value}, like);
        instead_.set(store, made);
        return function_.insts[made].result();
    }

    // Drops the dead instructions and puts conversions where stores stood.
    void sweep() {
        for (const BlockId block : function_.layout) {
            auto& insts = function_.blocks[block].insts;
            std::size_t kept = 0;
            for (const InstId id : insts) {
                if (id.raw >= dead_.size() || !dead_[id.raw]) {
                    insts[kept++] = id;
                } else if (instead_[id].valid()) {
                    insts[kept++] = instead_[id];
                }
            }
            insts.resize(kept);
        }
    }

    Function& function_;
    Analyses& analyses_;
    ConstantPool pool_;
    std::vector<PromotedSlot> slots_;
    SideMap<ValueId, std::uint32_t> slot_of_;  // 1 + index into slots_
    std::vector<bool> dead_;
    SideMap<InstId, InstId> instead_;
    Replacements replacements_;
};

}  // namespace

bool run_mem2reg(Function& function, const PassContext& context) {
    const bool cut = trim(function);
    return (has_slots(function) && Mem2Reg(function, context.analyses).run()) || cut;
}

}  // namespace ockc::opt
