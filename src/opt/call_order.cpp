#include "opt/call_order.hpp"

#include "opt/compact.hpp"

namespace ockc::opt {

using namespace ir;

namespace {

std::vector<FuncId> callees_of(const Function& function) {
    std::vector<FuncId> out;
    for (const BlockId block : function.layout) {
        for (const InstId id : function.blocks[block].insts) {
            if (function.insts[id].callee.valid()) out.push_back(function.insts[id].callee);
        }
    }
    return out;
}

// Depth first from `root` with an explicit stack; appends finished functions to `order`.
void visit(const Module& module, FuncId root, std::vector<bool>& seen, std::vector<FuncId>& order) {
    struct Frame {
        FuncId function;
        std::vector<FuncId> callees;
        std::size_t next = 0;
    };
    std::vector<Frame> stack;
    const auto enter = [&](FuncId id) {
        if (seen[id.raw] || module.functions[id].removed) return;
        seen[id.raw] = true;
        stack.push_back({id, callees_of(module.functions[id]), 0});
    };
    enter(root);
    while (!stack.empty()) {
        Frame& frame = stack.back();
        if (frame.next == frame.callees.size()) {
            order.push_back(frame.function);
            stack.pop_back();
        } else {
            const FuncId callee = frame.callees[frame.next++];
            enter(callee);
        }
    }
}

}  // namespace

std::vector<FuncId> callees_first(const Module& module) {
    std::vector<FuncId> order;
    std::vector<bool> seen(module.functions.size());
    for (std::uint32_t i = 0; i < module.functions.size(); ++i)
        visit(module, FuncId(i), seen, order);
    return order;
}

void remove_uncalled(Module& module) {
    std::vector<FuncId> needed;
    std::vector<bool> seen(module.functions.size());
    for (std::uint32_t i = 0; i < module.functions.size(); ++i) {
        if (module.functions[FuncId(i)].is_kernel) visit(module, FuncId(i), seen, needed);
    }
    if (needed.empty()) return;
    for (std::uint32_t i = 0; i < module.functions.size(); ++i) {
        if (seen[i]) continue;
        Function& function = module.functions[FuncId(i)];
        function.removed = true;
        drop_body(function);
    }
}

}  // namespace ockc::opt
