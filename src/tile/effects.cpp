#include "tile/effects.hpp"

#include <algorithm>

namespace ockc::tile {

using namespace ir;

namespace {

bool is_store(Op op) { return op == Op::Store || op == Op::Memcpy || op == Op::Memset; }

class Roots {
  public:
    explicit Roots(const Function& function) : function_(function) {}

    std::vector<ValueId> of(ValueId address) {
        reach(address);
        for (std::size_t i = 0; i < seen_.size(); ++i) follow(seen_[i]);
        return std::move(roots_);
    }

  private:
    void reach(ValueId value) {
        if (std::find(seen_.begin(), seen_.end(), value) == seen_.end()) seen_.push_back(value);
    }

    void follow(ValueId value) {
        const Instruction* def = function_.def(value);
        if (def == nullptr) return arrive(value);
        if (def->op == Op::PtrAdd || def->op == Op::SpaceCast || def->op == Op::Nonnull) return reach(def->args[0]);
        if (def->op != Op::Select) return roots_.push_back(value);
        reach(def->args[1]);
        reach(def->args[2]);
    }

    // A block's parameter is what its predecessors bring; the entry's comes from the caller.
    void arrive(ValueId param) {
        bool brought = false;
        for (const BlockId block : function_.layout) {
            for (const Target& target : function_.terminator(block).targets) {
                const auto& params = function_.blocks[target.block].params;
                const auto found = std::find(params.begin(), params.end(), param);
                if (found == params.end()) continue;
                reach(target.args[static_cast<std::size_t>(found - params.begin())]);
                brought = true;
            }
        }
        if (!brought) roots_.push_back(param);
    }

    const Function& function_;
    std::vector<ValueId> seen_, roots_;
};

bool is_allocation(const Function& function, ValueId value) {
    const Instruction* def = function.def(value);
    return def != nullptr && def->op == Op::Alloca;
}

// Is the address of a local variable itself kept in memory, where a loaded pointer may have it from?
bool keeps_local_addresses(const Function& function) {
    for (const BlockId block : function.layout) {
        for (const InstId id : function.blocks[block].insts) {
            const Instruction& inst = function.insts[id];
            if (inst.op != Op::Store || !is_ptr(function.type_of(inst.args[1]))) continue;
            for (const ValueId root : roots_of(function, inst.args[1])) {
                if (is_allocation(function, root)) return true;
            }
        }
    }
    return false;
}

}  // namespace

std::vector<ValueId> roots_of(const Function& function, ValueId address) { return Roots(function).of(address); }

Reach reach_of(const Function& function, ValueId address) {
    bool own = false, shared = false, loaded = false;
    for (const ValueId root : roots_of(function, address)) {
        const Instruction* def = function.def(root);
        own = own || is_allocation(function, root);
        loaded = loaded || (def != nullptr && def->op == Op::Load);
        shared = shared || !is_allocation(function, root);
    }
    if ((own && shared) || (loaded && keeps_local_addresses(function))) return Reach::Unclear;
    return own ? Reach::Own : Reach::Shared;
}

Reach changes(const Function& function, const Instruction& inst) {
    if (is_atomic(inst.op) || inst.op == Op::Vprintf) return Reach::Shared;
    return is_store(inst.op) ? reach_of(function, inst.args[0]) : Reach::Own;
}

namespace {

class ChangeSearch {
  public:
    explicit ChangeSearch(const Module& module) : module_(module) {}

    Changes of(FuncId id) {
        const Function& function = module_.functions[id];
        Changes result;
        result.params.resize(function.blocks[function.entry()].params.size());
        if (std::find(open_.begin(), open_.end(), id) != open_.end()) return result;   // calls itself: the outer search says
        open_.push_back(id);
        for (const BlockId block : function.layout) {
            for (const InstId inst_id : function.blocks[block].insts) add(function, function.insts[inst_id], result);
        }
        open_.pop_back();
        return result;
    }

  private:
    void add(const Function& function, const Instruction& inst, Changes& result) {
        if (is_atomic(inst.op) || inst.op == Op::Vprintf) result.others = true;
        if (is_store(inst.op)) through(function, inst.args[0], result);
        if (inst.op != Op::Call) return;
        const Changes callee = of(inst.callee);
        result.others = result.others || callee.others;
        for (std::uint32_t i = 0; i < callee.params.size(); ++i) {
            if (callee.params[i]) through(function, inst.args[i], result);
        }
    }

    void through(const Function& function, ValueId address, Changes& result) {
        const auto& params = function.blocks[function.entry()].params;
        for (const ValueId root : roots_of(function, address)) {
            const auto found = std::find(params.begin(), params.end(), root);
            if (found != params.end()) result.params[static_cast<std::size_t>(found - params.begin())] = true;
            else if (!is_allocation(function, root)) result.others = true;
        }
    }

    const Module& module_;
    std::vector<FuncId> open_;
};

}  // namespace

Changes changes_of(const Module& module, FuncId function) { return ChangeSearch(module).of(function); }

}  // namespace ockc::tile
