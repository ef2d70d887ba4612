// The order in which diverged lanes take turns: topological, loops contiguous, their latch last.
#include "emu/block_order.hpp"

#include <doctest/doctest.h>

using namespace ockc::emu;

TEST_CASE("a diamond: the join comes last") {
    const BlockOrder order(FlowGraph{{{1, 2}, {3}, {3}, {}}});
    CHECK(order.rank(0) < order.rank(1));
    CHECK(order.rank(0) < order.rank(2));
    CHECK(order.rank(1) < order.rank(3));
    CHECK(order.rank(2) < order.rank(3));
    CHECK(order.edge_rank(1, 3) == order.rank(3));
}

TEST_CASE("a loop is contiguous and its exit comes behind the latch") {
    // 0 -> 1 (head) -> {3 (exit), 2 (body)}, 2 -> 1
    const BlockOrder order(FlowGraph{{{1}, {3, 2}, {1}, {}}});
    const Rank latch = order.edge_rank(2, 1);
    CHECK(order.rank(1) < order.rank(2));
    CHECK(order.rank(2) < latch);
    CHECK(latch < order.rank(3));
    CHECK(order.edge_rank(0, 1) == order.rank(1));
}

TEST_CASE("nested loops: the inner latch before the outer one, a continue waits at its latch") {
    // 0 -> 1 outer head; 1 -> {5, 2}; 2 inner head -> {4, 3}; 3 -> 2; 4 -> {1, 1}
    const BlockOrder order(FlowGraph{{{1}, {5, 2}, {4, 3}, {2}, {1}, {}}});
    const Rank inner = order.edge_rank(3, 2);
    const Rank outer = order.edge_rank(4, 1);
    CHECK(order.rank(3) < inner);
    CHECK(inner < order.rank(4));
    CHECK(order.rank(4) < outer);
    CHECK(outer < order.rank(5));
}

TEST_CASE("every edge goes up, or closes the loop that it is in; irreducible and unreachable code too") {
    // 0 -> {1, 2}; 1 <-> 2; 2 -> 3; 4 is unreachable and loops on itself.
    const FlowGraph graph{{{1, 2}, {2}, {1, 3}, {}, {4, 3}}};
    const BlockOrder order(graph);
    for (std::uint32_t from = 0; from < graph.size(); ++from) {
        for (const std::uint32_t to : graph.successors[from]) {
            if (order.rank(from) < order.rank(to))
                CHECK(order.edge_rank(from, to) == order.rank(to));
            else
                CHECK(order.edge_rank(from, to) > order.rank(from));
        }
    }
}

TEST_CASE("ten thousand nested loops are ordered without recursion") {
    FlowGraph graph;
    constexpr std::uint32_t kDepth = 300;
    graph.successors.resize(2 * kDepth + 1);
    for (std::uint32_t i = 0; i < kDepth; ++i) {
        graph.successors[i].push_back(i + 1);           // down
        graph.successors[2 * kDepth - i].push_back(i);  // back to the head
        if (i != 0) graph.successors[2 * kDepth - i].push_back(2 * kDepth - i + 1);
    }
    graph.successors[kDepth].push_back(kDepth + 1);
    const BlockOrder order(graph);
    CHECK(order.count() == 3 * kDepth + 1);
}
