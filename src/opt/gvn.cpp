// Dominator-based value numbering: an instruction that computes what an instruction above it computed is
// replaced by that one. Loads take part with the version of their memory as one more operand
// (memory_versions.hpp), and a store leaves its value behind for loads; a store of what is there already goes
// away.
//
// Blocks are visited in preorder of the dominator tree. A table entry whose block does not dominate the
// current block never will again, so one entry for each key is enough, and it is overwritten.
#include <algorithm>
#include <vector>

#include "ir/analysis/alias.hpp"
#include "ir/analysis/cfg.hpp"
#include "ir/analysis/dominators.hpp"
#include "ir/analysis/uses.hpp"
#include "ir/names.hpp"
#include "opt/edit.hpp"
#include "opt/memory_versions.hpp"
#include "opt/pass.hpp"

namespace ockc::opt {

using namespace ir;

namespace {

struct Key {
    Op op = Op::Const;
    Type type = Type::Void;
    Type from = Type::Void;  // of the first operand: conversions differ by it
    std::uint16_t aux = 0;
    std::uint32_t global = 0;
    std::uint32_t version = 0;  // loads
    ValueId args[3];
    std::uint64_t imm = 0;
    std::uint64_t imm_high = 0;
    friend bool operator==(const Key&, const Key&) = default;
};

std::uint64_t hash_of(const Key& key) {
    std::uint64_t hash = static_cast<std::uint64_t>(key.op) | static_cast<std::uint64_t>(key.type) << 8 |
                         static_cast<std::uint64_t>(key.aux) << 16 |
                         static_cast<std::uint64_t>(key.version) << 32;
    const auto mix = [&hash](std::uint64_t word) {
        hash = (hash ^ word) * 0x9E37'79B9'7F4A'7C15u + (hash >> 32);
    };
    mix(key.imm);
    mix(key.imm_high ^ key.global);
    mix(std::uint64_t{key.args[0].raw} << 32 | key.args[1].raw);
    mix(key.args[2].raw);
    return hash ^ (hash >> 31);
}

// Open addressing; never more than half full.
class ValueTable {
  public:
    struct Entry {
        Key key;
        ValueId value;
        BlockId block;
    };
    explicit ValueTable(std::size_t most) {
        std::size_t size = 16;
        while (size < most * 2)
            size *= 2;
        slots_.resize(size, 0);
        entries_.reserve(most);
    }
    Entry& find_or_add(const Key& key) {
        for (std::size_t at = hash_of(key) & (slots_.size() - 1);; at = (at + 1) & (slots_.size() - 1)) {
            if (slots_[at] == 0) {
                entries_.push_back({key, ValueId::none(), BlockId::none()});
                slots_[at] = static_cast<std::uint32_t>(entries_.size());
                return entries_.back();
            }
            if (entries_[slots_[at] - 1].key == key) return entries_[slots_[at] - 1];
        }
    }

  private:
    std::vector<std::uint32_t> slots_;  // 1 + index into entries_
    std::vector<Entry> entries_;
};

class Gvn {
  public:
    Gvn(Function& function, Analyses& analyses)
        : function_(function),
          cfg_(analyses.cfg()),
          dominators_(analyses.dominators()),
          classes_(function, cfg_),
          versions_(function, cfg_, classes_),
          table_(placed(function) * 2 + 1),  // a store looks up two keys
          current_(classes_.count()),
          current_block_(classes_.count()) {}

    bool run() {
        for (const BlockId block : dominators_.preorder()) {
            auto& insts = function_.blocks[block].insts;
            std::erase_if(insts, [&](InstId id) { return !visit(block, id); });
        }
        replacements_.apply(function_);
        return changed_;
    }

  private:
    static std::size_t placed(const Function& function) {
        std::size_t count = 0;
        for (const BlockId block : function.layout)
            count += function.blocks[block].insts.size();
        return count;
    }

    // Returns whether the instruction stays.
    bool visit(BlockId block, InstId id) {
        Instruction& inst = function_.insts[id];
        for_each_use(inst, [&](ValueId& value) { value = replacements_.resolve(value); });
        bool keep = true;
        if (is_pure(inst.op)) {
            keep = reuse(block, inst, key_of(inst));
        } else if (inst.op == Op::Load && !inst.memory.is_volatile) {
            keep = reuse(block, inst, load_key(block, inst));
        } else if (inst.op == Op::Store && !inst.memory.is_volatile && already_there(block, inst)) {
            keep = false;
        }
        if (!keep) {
            changed_ = true;
            return false;
        }
        for (const std::uint32_t c : versions_.clobbered(inst)) {
            current_[c] = MemoryVersions::after(id);
            current_block_[c] = block;
        }
        if (inst.op == Op::Store && !inst.memory.is_volatile) {
            ValueTable::Entry& entry = table_.find_or_add(load_key(block, inst));
            entry.value = inst.args[1];
            entry.block = block;
        }
        return true;
    }

    bool holds(const ValueTable::Entry& entry, BlockId block) const {
        return entry.block.valid() && dominators_.dominates(entry.block, block);
    }

    bool reuse(BlockId block, const Instruction& inst, const Key& key) {
        ValueTable::Entry& entry = table_.find_or_add(key);
        if (holds(entry, block)) {
            replacements_.replace(inst.result(), entry.value);
            return false;
        }
        entry.value = inst.result();
        entry.block = block;
        return true;
    }

    bool already_there(BlockId block, const Instruction& store) {
        const ValueTable::Entry& entry = table_.find_or_add(load_key(block, store));
        return holds(entry, block) && entry.value == store.args[1];
    }

    Key key_of(const Instruction& inst) const {
        Key key;
        key.op = inst.op;
        key.type = inst.type;
        key.aux = inst.aux;
        key.imm = inst.imm;
        key.imm_high = inst.imm_high;
        key.global = inst.global.raw;
        for (std::uint32_t i = 0; i < inst.args.size() && i < 3; ++i)
            key.args[i] = inst.args[i];
        if (!inst.args.empty()) key.from = function_.type_of(inst.args[0]);
        if (is_commutative(inst.op) && key.args[1] < key.args[0]) std::swap(key.args[0], key.args[1]);
        if (inst.op == Op::Icmp && key.args[1] < key.args[0]) {
            std::swap(key.args[0], key.args[1]);
            key.aux = static_cast<std::uint16_t>(swap(inst.int_cond()));
        }
        return key;
    }

    // Of a load, or of the load that would read back what a store has written.
    Key load_key(BlockId block, const Instruction& inst) {
        Key key;
        key.op = Op::Load;
        key.type = inst.type;
        key.args[0] = inst.args[0];
        key.imm = inst.imm;
        const bool invariant = inst.op == Op::Load && is_invariant_load(function_, inst);
        key.version = invariant ? 0xFFFF'FFFFu : version(block, classes_.of(inst.args[0]));
        return key;
    }

    std::uint32_t version(BlockId block, std::uint32_t memory_class) const {
        return current_block_[memory_class] == block ? current_[memory_class]
                                                     : versions_.at_start(block, memory_class);
    }

    Function& function_;
    const Cfg& cfg_;
    const Dominators& dominators_;
    MemoryClasses classes_;
    MemoryVersions versions_;
    ValueTable table_;
    std::vector<std::uint32_t> current_;  // version of each class inside the current block,
    std::vector<BlockId> current_block_;  // where it has been written in that block
    Replacements replacements_;
    bool changed_ = false;
};

}  // namespace

bool run_gvn(Function& function, const PassContext& context) {
    const bool cut = trim(function);
    return Gvn(function, context.analyses).run() || cut;
}

}  // namespace ockc::opt
