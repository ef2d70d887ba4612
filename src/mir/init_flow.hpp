// Where each move path may be initialised, may be uninitialised, and which variables may have been initialised before. Solved
// per block; InitState replays the statements of a block up to a point.
#pragma once
#include "mir/move_paths.hpp"
#include "support/dataflow.hpp"

namespace ockc::mir {

FlowGraph flow_graph(const Body& body);

// Three sets in one row of bits: paths that may be initialised, paths that may not be, locals that were initialised at least
// once on a way here without their storage ending since.
class InitState {
  public:
    InitState() = default;
    InitState(std::size_t paths, std::size_t locals) : InitState(words_for(paths), words_for(locals), 0) {}

    bool maybe_init(MovePathId path) const { return test(path.raw); }
    bool maybe_uninit(MovePathId path) const { return test(path_bits_ + path.raw); }
    bool ever_init(LocalId local) const { return test(2 * path_bits_ + local.raw); }

  private:
    friend class InitFlow;
    InitState(std::uint32_t path_words, std::uint32_t local_words, std::uint64_t fill) : path_bits_(path_words * 64) {
        words_.resize(2 * path_words + local_words, fill);
    }
    static std::uint32_t words_for(std::size_t bits) { return static_cast<std::uint32_t>((bits + 63) / 64); }
    bool test(std::uint32_t bit) const { return (words_[bit / 64] >> (bit % 64) & 1) != 0; }

    SmallVec<std::uint64_t, 6> words_;
    std::uint32_t path_bits_ = 0;
};

class InitFlow {
  public:
    InitFlow(const Body& body, const MovePaths& paths, const FlowGraph& graph);
    InitState at_start(BlockId block) const {
        InitState state = empty_;
        enter(block, state);
        return state;
    }
    // The same into a state of this body that is there already.
    void enter(BlockId block, InitState& state) const {
        std::copy_n(entry_.data() + block.raw * empty_.words_.size(), empty_.words_.size(), state.words_.begin());
    }
    // The state after the statement or terminator at `at`, of which `state` is that before it.
    void apply(Location at, InitState& state) const { apply(paths_.point(at), state.words_.data()); }
    // The same with the point's number (MovePaths::point).
    void apply(std::uint32_t point, InitState& state) const { apply(point, state.words_.data()); }
    InitState before(Location at) const;

  private:
    // Sets one bit of a state and clears another. `ever`: the local's bit, which an initialisation sets and a storage's end clears.
    struct Effect {
        std::uint32_t set, clear, ever;
        bool sets_ever;
    };
    static constexpr std::uint32_t kNone = 0xFFFFFFFFu;
    static void run(const Effect& effect, std::uint64_t* words) {
        words[effect.set / 64] |= std::uint64_t{1} << (effect.set % 64);
        words[effect.clear / 64] &= ~(std::uint64_t{1} << (effect.clear % 64));
        if (effect.ever == kNone) return;
        const std::uint64_t bit = std::uint64_t{1} << (effect.ever % 64);
        std::uint64_t& word = words[effect.ever / 64];
        word = effect.sets_ever ? word | bit : word & ~bit;
    }
    void apply(std::uint32_t point, std::uint64_t* words) const {
        const Effect* end = effects_.data() + begin_[point + 1];
        for (const Effect* one = effects_.data() + begin_[point]; one != end; ++one) run(*one, words);
    }
    void list_effects(const MovePaths& paths, std::uint32_t points);
    void add(const MovePaths& paths, MovePathId path, bool init, std::uint32_t ever);
    void solve(const FlowGraph& graph, const std::vector<std::uint64_t>& gen, const std::vector<std::uint64_t>& keep);

    const MovePaths& paths_;
    InitState empty_;
    std::vector<Effect> effects_;        // in the order of the points
    std::vector<std::uint32_t> begin_;   // by point: into effects_
    std::vector<std::uint64_t> entry_;   // by block: the words of the state at its start
};

}  // namespace ockc::mir
