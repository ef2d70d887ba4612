// The order in which diverged lanes of a warp take their turns. In: a function's control-flow graph. Out: a
// rank for every block such that always running the lanes with the lowest rank first brings lanes together
// again at the immediate post-dominator of the branch that parted them, early returns notwithstanding.
//
// Algorithm: a weak topological order (Bourdoncle 1993): strongly connected components in topological order,
// each opened at its head and ordered again without it. Every component gets one more rank behind its last
// block, the latch: a lane that jumps back to the head waits there until the other lanes of the iteration
// have arrived too. Components are contiguous, so lanes that left a loop (rank above the latch) wait for
// those still inside.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

namespace ockc::emu {

using Rank = std::uint32_t;

struct FlowGraph {
    std::vector<std::vector<std::uint32_t>> successors;  // by block; block 0 is the entry
    std::size_t size() const { return successors.size(); }
};

class BlockOrder {
  public:
    explicit BlockOrder(const FlowGraph& graph);
    Rank rank(std::uint32_t block) const { return rank_[block]; }
    // The rank at which a lane waits that goes from `from` to `to`: the latch of `to` when the edge closes a
    // loop.
    Rank edge_rank(std::uint32_t from, std::uint32_t to) const {
        return rank_[from] >= rank_[to] ? latch_[to] : rank_[to];
    }
    Rank count() const { return count_; }

  private:
    std::vector<Rank> rank_;
    std::vector<Rank> latch_;  // by head block
    Rank count_ = 0;
};

}  // namespace ockc::emu
