// Dead stores: one that is overwritten further down its block before anything can read it, and one to a
// private stack slot that nothing reads before the function returns. Each block is walked backwards with the
// set of places whose present contents nobody will see.
#include <vector>

#include "ir/analysis/alias.hpp"
#include "ir/analysis/cfg.hpp"
#include "opt/edit.hpp"
#include "opt/memory_versions.hpp"
#include "opt/pass.hpp"

namespace ockc::opt {

using namespace ir;

namespace {

constexpr std::size_t kMaxPlaces = 32;  // overwritten places remembered at once

class Dse {
  public:
    Dse(Function& function, Analyses& analyses)
        : function_(function),
          cfg_(analyses.cfg()),
          classes_(function, cfg_),
          versions_(function, cfg_, classes_) {}

    bool run() {
        bool changed = false;
        for (const BlockId block : cfg_.rpo())
            changed = visit(block) || changed;
        return changed;
    }

  private:
    struct Place {
        ValueId pointer;
        std::int64_t offset;
        std::uint32_t size;
        std::uint32_t memory_class;
    };

    bool visit(BlockId block) {
        places_.clear();
        private_dead_ = false;
        auto& insts = function_.blocks[block].insts;
        std::vector<InstId> kept;
        for (std::size_t i = insts.size(); i-- > 0;) {
            const Instruction& inst = function_.insts[insts[i]];
            if (inst.op == Op::Store && !inst.memory.is_volatile && is_dead(inst)) continue;
            note(inst);
            kept.push_back(insts[i]);
        }
        if (kept.size() == insts.size()) return false;
        insts.assign(kept.rbegin(), kept.rend());
        return true;
    }

    Place place_of(const Instruction& inst) const {
        return {inst.args[0], static_cast<std::int64_t>(inst.imm), type_bytes(inst.type),
                classes_.of(inst.args[0])};
    }

    bool is_dead(const Instruction& store) const {
        const Place place = place_of(store);
        if (private_dead_ && classes_.is_private(place.memory_class)) return true;
        for (const Place& later : places_) {
            if (later.pointer == place.pointer && later.offset <= place.offset &&
                later.offset + later.size >= place.offset + place.size) {
                return true;
            }
        }
        return false;
    }

    // What the instruction means for the stores above it.
    void note(const Instruction& inst) {
        if (inst.op == Op::Ret || inst.op == Op::Panic || inst.op == Op::Trap || inst.op == Op::Unreachable) {
            private_dead_ = true;
        } else if (inst.op == Op::Store && !inst.memory.is_volatile) {
            if (places_.size() < kMaxPlaces) places_.push_back(place_of(inst));
        } else if (inst.op == Op::Load || inst.op == Op::Memcpy) {
            read(classes_.of(inst.args[inst.op == Op::Memcpy ? 1 : 0]));
        } else if (!is_pure(inst.op) && !is_branch(inst.op) && inst.op != Op::Memset &&
                   inst.op != Op::Alloca) {
            std::erase_if(places_,
                          [&](const Place& place) { return !classes_.is_private(place.memory_class); });
        }
    }

    // A read through a pointer of one class sees what a write through it would change.
    void read(std::uint32_t memory_class) {
        if (classes_.is_private(memory_class)) private_dead_ = false;
        for (const std::uint32_t c : classes_.clobbers(memory_class)) {
            std::erase_if(places_, [&](const Place& place) { return place.memory_class == c; });
        }
    }

    Function& function_;
    const Cfg& cfg_;
    MemoryClasses classes_;
    MemoryVersions versions_;
    std::vector<Place> places_;  // overwritten below, and not read in between
    bool private_dead_ = false;  // nothing below reads any private slot
};

}  // namespace

bool run_dse(Function& function, const PassContext& context) {
    const bool cut = trim(function);
    return Dse(function, context.analyses).run() || cut;
}

}  // namespace ockc::opt
