// One forward problem with union joins over the three sets together. A move makes a path and all below it uninitialised; an
// initialisation, or a call's return into its destination, makes them initialised.
#include "mir/init_flow.hpp"

namespace ockc::mir {

// Successors stand in reverse, so that the reverse post-order has the first of them first: the order in which rustc looks for
// errors.
FlowGraph flow_graph(const Body& body) {
    return FlowGraph(
        body.blocks.size(),
        [&](std::uint32_t node, auto&& emit) {
            for_each_successor(body.blocks[BlockId(node)].terminator, [&](BlockId to) { emit(to.raw); });
        },
        true);
}

void InitFlow::add(const MovePaths& paths, MovePathId path, bool init, std::uint32_t ever) {
    const std::uint32_t path_bits = empty_.path_bits_;
    const auto one = [&](MovePathId at) {
        const std::uint32_t yes = at.raw, no = path_bits + at.raw;
        effects_.push_back(init ? Effect{yes, no, ever, true} : Effect{no, yes, ever, false});
    };
    if (paths.is_leaf(path)) return one(path);
    paths.for_each_descendant(path, one);
}

void InitFlow::list_effects(const MovePaths& paths, std::uint32_t points) {
    const std::uint32_t ever = 2 * empty_.path_bits_;
    effects_.reserve(paths.moves().size() + paths.inits().size());
    begin_.resize(points + 1);
    for (std::uint32_t point = 0; point < points; ++point) {
        begin_[point] = static_cast<std::uint32_t>(effects_.size());
        for (const MoveOut& move : paths.moves_at(point)) {
            add(paths, move.path, false, move.ends_storage ? ever + move.path.raw : kNone);   // a local's path has the local's number
        }
        for (const Init& init : paths.inits_at(point)) add(paths, init.path, true, ever + paths.paths()[init.path].place.local.raw);
    }
    begin_[points] = static_cast<std::uint32_t>(effects_.size());
}

// A block's effect on a bit is to set it, to clear it, or nothing: what becomes of all zeros (gen) and of all ones (keep) tells
// which.
InitFlow::InitFlow(const Body& body, const MovePaths& paths, const FlowGraph& graph)
    : paths_(paths), empty_(paths.paths().size(), body.locals.size()) {
    const std::size_t width = empty_.words_.size();
    std::uint32_t points = 0;
    for (const BasicBlock& block : body.blocks) points += static_cast<std::uint32_t>(block.statements.size()) + 1;
    list_effects(paths, points);
    std::vector<std::uint64_t> gen(body.blocks.size() * width), keep(body.blocks.size() * width, ~std::uint64_t{0});
    std::uint32_t point = 0;
    for (std::uint32_t b = 0; b < body.blocks.size(); ++b) {
        const std::uint32_t begin = begin_[point];
        point += static_cast<std::uint32_t>(body.blocks[BlockId(b)].statements.size()) + 1;
        for (std::uint32_t i = begin; i < begin_[point]; ++i) {
            run(effects_[i], gen.data() + b * width);
            run(effects_[i], keep.data() + b * width);
        }
    }
    entry_.resize(body.blocks.size() * width);
    std::uint64_t* first = entry_.data();
    const auto set = [&](std::uint32_t bit) { first[bit / 64] |= std::uint64_t{1} << (bit % 64); };
    for (std::uint32_t i = 0; i < paths.paths().size(); ++i) set(empty_.path_bits_ + i);
    for (std::uint32_t i = 1; i <= body.arg_count; ++i) {
        paths.for_each_descendant(paths.of(LocalId(i)), [&](MovePathId path) {
            run(Effect{path.raw, empty_.path_bits_ + path.raw, 2 * empty_.path_bits_ + i, true}, first);
        });
    }
    solve(graph, gen, keep);
}

// In reverse post-order, so that once around is enough but for loops: again while a back edge brought something new.
void InitFlow::solve(const FlowGraph& graph, const std::vector<std::uint64_t>& gen, const std::vector<std::uint64_t>& keep) {
    const std::size_t width = empty_.words_.size();
    const auto order = graph.reverse_postorder();
    std::vector<std::uint32_t> rank(graph.size());
    for (std::uint32_t i = 0; i < order.size(); ++i) rank[order[i]] = i;
    for (bool again = true; again;) {
        again = false;
        for (const std::uint32_t node : order) {
            for (const std::uint32_t next : graph.successors(node)) {
                std::uint64_t added = 0;
                for (std::size_t w = 0; w < width; ++w) {
                    const std::uint64_t out = (entry_[node * width + w] & keep[node * width + w]) | gen[node * width + w];
                    std::uint64_t& in = entry_[next * width + w];
                    added |= out & ~in;
                    in |= out;
                }
                again = again || (added != 0 && rank[next] <= rank[node]);
            }
        }
    }
}

InitState InitFlow::before(Location at) const {
    InitState state = at_start(at.block);
    const std::uint32_t begin = paths_.point({at.block, 0});
    for (std::uint32_t i = 0; i < at.statement; ++i) apply(begin + i, state.words_.data());
    return state;
}

}  // namespace ockc::mir
