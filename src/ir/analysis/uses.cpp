#include "ir/analysis/uses.hpp"

namespace ockc::ir {

// Counting sort: count the uses of each value, turn counts into offsets, then place the users.
Uses::Uses(const Function& function) : begin_(function.values.size() + 1), block_of_(function.insts.size()) {
    const auto each = [&](auto visit) {
        for (const BlockId block : function.layout) {
            for (const InstId inst : function.blocks[block].insts)
                visit(block, inst, function.insts[inst]);
        }
    };
    each([&](BlockId block, InstId id, const Instruction& inst) {
        block_of_.set(id, block);
        for_each_use(inst, [&](ValueId value) { ++begin_[value.raw + 1]; });
    });
    for (std::size_t i = 1; i < begin_.size(); ++i)
        begin_[i] += begin_[i - 1];
    users_.resize(begin_.back());
    std::vector<std::uint32_t> next(begin_.begin(), begin_.end() - 1);
    each([&](BlockId, InstId id, const Instruction& inst) {
        for_each_use(inst, [&](ValueId value) { users_[next[value.raw]++] = id; });
    });
}

}  // namespace ockc::ir
