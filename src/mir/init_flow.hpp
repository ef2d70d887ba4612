// Where each move path may be initialised, may be uninitialised, and which initialisations may ever have happened. Solved
// per block; InitCursor replays the statements of a block up to a point.
#pragma once
#include "mir/move_paths.hpp"
#include "support/dataflow.hpp"

namespace ockc::mir {

FlowGraph flow_graph(const Body& body);

struct InitState {
    BitSet maybe_init, maybe_uninit;   // by MovePathId
    BitSet ever_init;                  // by InitId: may have happened on a way here without the storage ending since
};

class InitFlow {
  public:
    InitFlow(const Body& body, const MovePaths& paths, const FlowGraph& graph);
    InitState at_start(BlockId block) const;
    // The state after the statement or terminator at `at`, of which `state` is that before it.
    void apply(Location at, InitState& state) const;
    InitState before(Location at) const;

  private:
    template <class Fn>
    void effects(Location at, Fn&& effect) const;

    const Body& body_;
    const MovePaths& paths_;
    std::vector<BitSet> maybe_init_, maybe_uninit_, ever_init_;
    std::vector<std::vector<InitId>> inits_of_local_;
};

}  // namespace ockc::mir
