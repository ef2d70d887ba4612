// Three forward gen/kill problems with union joins. A move makes a path and all below it uninitialised; an
// initialisation, or a call's return into its destination, makes them initialised.
#include "mir/init_flow.hpp"

namespace ockc::mir {

// Successors stand in reverse, so that the reverse post-order has the first of them first: the order in which rustc looks for
// errors.
FlowGraph flow_graph(const Body& body) {
    std::vector<std::uint32_t> next;
    return FlowGraph(body.blocks.size(), [&](std::uint32_t node, auto&& emit) {
        next.clear();
        for_each_successor(body.blocks[BlockId(node)].terminator, [&](BlockId to) { next.push_back(to.raw); });
        for (std::size_t i = next.size(); i-- > 0;) emit(next[i]);
    });
}

namespace {
enum class Effect : std::uint8_t { Init, Uninit, EverInit, EndStorage };
}

// Calls effect(Effect, index) in order: paths for Init and Uninit, InitId for EverInit, LocalId for EndStorage.
template <class Fn>
void InitFlow::effects(Location at, Fn&& effect) const {
    for (const MoveOutId move : paths_.moves_at(at)) {
        paths_.for_each_descendant(paths_.moves()[move].path, [&](MovePathId path) { effect(Effect::Uninit, path.raw); });
    }
    const BasicBlock& block = body_.blocks[at.block];
    if (at.statement < block.statements.size()) {
        if (const auto* dead = block.statements[at.statement].get_if<StorageDeadStatement>()) {
            effect(Effect::EndStorage, dead->local.raw);
        }
    }
    for (const InitId init : paths_.inits_at(at)) {
        paths_.for_each_descendant(paths_.inits()[init].path, [&](MovePathId path) { effect(Effect::Init, path.raw); });
        effect(Effect::EverInit, init.raw);
    }
}

InitFlow::InitFlow(const Body& body, const MovePaths& paths, const FlowGraph& graph) : body_(body), paths_(paths) {
    const std::size_t path_count = paths.paths().size(), init_count = paths.inits().size();
    inits_of_local_.resize(body.locals.size());
    for (std::uint32_t i = 0; i < init_count; ++i) {
        inits_of_local_[paths.paths()[paths.inits()[InitId(i)].path].place.local.raw].push_back(InitId(i));
    }
    std::vector<GenKill> init(body.blocks.size()), uninit(body.blocks.size()), ever(body.blocks.size());
    for (std::uint32_t b = 0; b < body.blocks.size(); ++b) {
        init[b] = GenKill{BitSet(path_count), BitSet(path_count)};
        uninit[b] = init[b];
        ever[b] = GenKill{BitSet(init_count), BitSet(init_count)};
        const auto set = [](GenKill& sets, std::size_t i, bool gen) {
            (gen ? sets.gen : sets.kill).set(i);
            (gen ? sets.kill : sets.gen).reset(i);
        };
        for (std::uint32_t i = 0; i <= body.blocks[BlockId(b)].statements.size(); ++i) {
            effects(Location{BlockId(b), i}, [&](Effect effect, std::uint32_t index) {
                switch (effect) {
                    case Effect::Init:
                    case Effect::Uninit:
                        set(init[b], index, effect == Effect::Init);
                        set(uninit[b], index, effect == Effect::Uninit);
                        break;
                    case Effect::EverInit: set(ever[b], index, true); break;
                    case Effect::EndStorage:
                        for (const InitId ended : inits_of_local_[index]) set(ever[b], ended.raw, false);
                        break;
                }
            });
        }
    }
    BitSet entry_init(path_count), entry_uninit(path_count, true), entry_ever(init_count);
    for (std::uint32_t i = 0; i < body.arg_count; ++i) {
        entry_ever.set(i);
        paths.for_each_descendant(paths.of(LocalId(i + 1)), [&](MovePathId path) {
            entry_init.set(path.raw);
            entry_uninit.reset(path.raw);
        });
    }
    maybe_init_ = solve(graph, init, entry_init, Direction::Forward);
    maybe_uninit_ = solve(graph, uninit, entry_uninit, Direction::Forward);
    ever_init_ = solve(graph, ever, entry_ever, Direction::Forward);
}

InitState InitFlow::at_start(BlockId block) const {
    return {maybe_init_[block.raw], maybe_uninit_[block.raw], ever_init_[block.raw]};
}

void InitFlow::apply(Location at, InitState& state) const {
    effects(at, [&](Effect effect, std::uint32_t index) {
        switch (effect) {
            case Effect::Init:
                state.maybe_init.set(index);
                state.maybe_uninit.reset(index);
                break;
            case Effect::Uninit:
                state.maybe_init.reset(index);
                state.maybe_uninit.set(index);
                break;
            case Effect::EverInit: state.ever_init.set(index); break;
            case Effect::EndStorage:
                for (const InitId ended : inits_of_local_[index]) state.ever_init.reset(ended.raw);
                break;
        }
    });
}

InitState InitFlow::before(Location at) const {
    InitState state = at_start(at.block);
    for (std::uint32_t i = 0; i < at.statement; ++i) apply(Location{at.block, i}, state);
    return state;
}

}  // namespace ockc::mir
