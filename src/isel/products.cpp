// Which products of warpgroups must be waited for at once. Their sums may not be touched before a wait covers them; where the
// program does so (sums that are indexed at run time lie in memory, everything does at -O0), the product is followed by a wait
// of its own, which is slow and right.
//
// Forward over the blocks until nothing changes: the products on their way, each with how many groups have been committed since.
// A wait for N groups ends those that more than N follow; where paths meet, the fewest count.
#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "isel/selector.hpp"

namespace ockc::isel {

namespace {

using intrinsic::Machine;
using ir::InstId;
using ir::ValueId;

constexpr std::uint32_t kMostGroups = 64;   // more are not told apart

bool is_machine(const ir::Instruction& inst, Machine which) { return inst.op == ir::Op::MachineSync && inst.machine() == which; }

// Sums that the instruction passes on: a product's, a wait's.
bool has_sums(const ir::Instruction& inst) {
    return inst.op == ir::Op::MachineSync && intrinsic::info(inst.machine()).results.starts_with('*');
}
bool is_product(const ir::Instruction& inst) { return has_sums(inst) && intrinsic::info(inst.machine()).ptx_operands.starts_with('*'); }

class ProductsOnTheirWay {
  public:
    ProductsOnTheirWay(const ir::Function& function, const ir::Cfg& cfg) : function_(function), cfg_(cfg) {}

    std::vector<InstId> run() {
        find_origins();
        if (!any_) return {};
        for (bool changed = true; changed;) {
            changed = false;
            for (const ir::BlockId block : cfg_.rpo()) changed |= flow(block);
        }
        return {touched_.begin(), touched_.end()};
    }

  private:
    using State = std::map<InstId, std::uint32_t>;   // groups committed since the product

    // The products whose sums a value may be, through block parameters.
    void find_origins() {
        for (const ir::BlockId block : cfg_.rpo()) {
            for (const InstId id : function_.blocks[block].insts) {
                if (!is_product(function_.insts[id])) continue;
                any_ = true;
                for (const ValueId result : function_.insts[id].results) origins_[result].insert(id);
            }
        }
        for (bool changed = any_; changed;) {
            changed = false;
            for (const ir::BlockId block : cfg_.rpo()) {
                for (const ir::Target& target : function_.terminator(block).targets) changed |= flow_into(target);
            }
        }
    }
    bool flow_into(const ir::Target& target) {
        bool changed = false;
        const std::vector<ValueId>& params = function_.blocks[target.block].params;
        for (std::size_t i = 0; i < params.size(); ++i) {
            const auto from = origins_.find(target.args[i]);
            if (from == origins_.end() || from->first == params[i]) continue;
            const std::set<InstId> products = from->second;
            std::set<InstId>& to = origins_[params[i]];
            const std::size_t before = to.size();
            to.insert(products.begin(), products.end());
            changed |= to.size() != before;
        }
        return changed;
    }

    bool flow(ir::BlockId block) {
        State state = at_start_[block];
        for (const InstId id : function_.blocks[block].insts) step(id, state);
        bool changed = false;
        for (const ir::Target& target : function_.terminator(block).targets) {
            for (const auto& [product, groups] : state) {
                const auto [at, added] = at_start_[target.block].try_emplace(product, groups);
                changed |= added || groups < at->second;
                at->second = std::min(at->second, groups);
            }
        }
        return changed;
    }

    void step(InstId id, State& state) {
        const ir::Instruction& inst = function_.insts[id];
        look_at_operands(inst, state);
        if (is_product(inst)) {
            state[id] = 0;
        } else if (is_machine(inst, Machine::WgmmaCommit)) {
            for (auto& [product, groups] : state) groups = std::min(groups + 1, kMostGroups);
        } else if (is_machine(inst, Machine::WgmmaWait) || is_machine(inst, Machine::WgmmaWaitF32) || is_machine(inst, Machine::WgmmaWaitI32)) {
            const ir::Instruction* newest = function_.def(inst.args[0]);
            const bool known = newest != nullptr && newest->op == ir::Op::Const;
            std::erase_if(state, [&](const auto& entry) { return known && entry.second > newest->imm; });
            if (has_sums(inst)) look_at(inst, inst.args.size() - inst.results.size(), inst.args.size(), state);   // is that wait enough?
        }
    }

    // The sums may go on to another product, or to the wait, and along branches.
    void look_at_operands(const ir::Instruction& inst, const State& state) {
        const std::size_t sums = has_sums(inst) && !is_fence(inst) ? inst.args.size() - inst.results.size() : inst.args.size();
        look_at(inst, 0, sums, state);
    }
    void look_at(const ir::Instruction& inst, std::size_t begin, std::size_t end, const State& state) {
        for (std::size_t i = begin; i < end; ++i) {
            const auto origins = origins_.find(inst.args[i]);
            if (origins == origins_.end()) continue;
            for (const InstId product : origins->second) {
                if (state.contains(product)) touched_.insert(product);
            }
        }
    }
    static bool is_fence(const ir::Instruction& inst) { return intrinsic::info(inst.machine()).ptx_operands == "<"; }

    const ir::Function& function_;
    const ir::Cfg& cfg_;
    bool any_ = false;
    std::map<ValueId, std::set<InstId>> origins_;
    std::map<ir::BlockId, State> at_start_;
    std::set<InstId> touched_;
};

}  // namespace

void Selector::find_touched_products() {
    for (const InstId id : ProductsOnTheirWay(in_, cfg_).run()) waits_at_once_.set(id, 1);
}

}  // namespace ockc::isel
