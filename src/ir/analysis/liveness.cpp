#include "ir/analysis/liveness.hpp"

namespace ockc::ir {

Liveness::Liveness(const Function& function, const Cfg& cfg, const Uses& uses)
    : live_in_(function.blocks.size()), live_out_(function.blocks.size()) {
    std::vector<BlockId> work;
    for (std::uint32_t raw = 0; raw < function.values.size(); ++raw) {
        const ValueId value(raw);
        const Value& info = function.values[value];
        const BlockId home = info.inst.valid() ? uses.block_of(info.inst) : info.block;
        if (!home.valid() || !cfg.reachable(home)) continue;
        const auto enter = [&](BlockId block) {
            auto& list = live_in_.at(block);
            if (block == home || (!list.empty() && list.back() == value)) return;
            list.push_back(value);
            work.push_back(block);
        };
        for (const InstId user : uses.of(value)) {
            if (cfg.reachable(uses.block_of(user))) enter(uses.block_of(user));
        }
        while (!work.empty()) {
            const BlockId block = work.back();
            work.pop_back();
            for (const BlockId pred : cfg.preds(block)) {
                auto& list = live_out_.at(pred);
                if (list.empty() || list.back() != value) list.push_back(value);
                enter(pred);
            }
        }
    }
}

}  // namespace ockc::ir
