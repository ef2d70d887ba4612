// Sets of points and the dataflow solver, against naive computations.
#include <doctest/doctest.h>

#include <random>
#include <set>

#include "support/dataflow.hpp"
#include "support/interval_set.hpp"

using namespace ockc;

TEST_CASE("interval sets behave like sets") {
    std::mt19937 random(7);
    for (int round = 0; round < 200; ++round) {
        IntervalSet a, b;
        std::set<std::uint32_t> x, y;
        for (int i = 0; i < 30; ++i) {
            const std::uint32_t begin = random() % 100, end = begin + random() % 8;
            (i % 2 != 0 ? a : b).insert(begin, end);
            for (std::uint32_t v = begin; v < end; ++v) (i % 2 != 0 ? x : y).insert(v);
        }
        const bool grows = !std::includes(x.begin(), x.end(), y.begin(), y.end());
        CHECK(a.unite(b) == grows);
        x.insert(y.begin(), y.end());
        std::set<std::uint32_t> members;
        a.for_each([&](std::uint32_t v) { members.insert(v); });
        CHECK(members == x);
        for (std::uint32_t v = 0; v < 110; ++v) CHECK(a.contains(v) == (x.count(v) != 0));
        for (std::size_t i = 1; i < a.intervals().size(); ++i) CHECK(a.intervals()[i - 1].end < a.intervals()[i].begin);
    }
}

TEST_CASE("bit sets keep to their size") {
    BitSet all(70, true);
    std::size_t members = 0;
    all.for_each([&](std::size_t) { ++members; });
    CHECK(members == 70);
    BitSet some(70);
    some.set(3);
    some.set(69);
    CHECK(!all.unite(some));
    CHECK(some.unite(all));
    CHECK(some == all);
    some.reset(69);
    CHECK(all.intersect(some));
    CHECK(!all.test(69));
}

TEST_CASE("forward and backward solutions of a loop") {
    // 0 -> 1, 1 -> 2 | 3, 2 -> 1, 3 ends.
    const FlowGraph graph(4, [](std::uint32_t node, auto&& emit) {
        if (node == 0) emit(1);
        if (node == 1) {
            emit(2);
            emit(3);
        }
        if (node == 2) emit(1);
    });
    CHECK(graph.reverse_postorder().front() == 0);
    std::vector<GenKill> effects(4, GenKill{BitSet(3), BitSet(3)});
    effects[0].gen.set(0);
    effects[2].gen.set(1);
    effects[2].kill.set(0);
    const std::vector<BitSet> forward = solve(graph, effects, BitSet(3), Direction::Forward);
    CHECK(forward[1].test(0));
    CHECK(forward[1].test(1));
    CHECK(forward[3].test(1));
    CHECK(!forward[0].any());
    const std::vector<BitSet> backward = solve(graph, effects, BitSet(3), Direction::Backward);
    CHECK(backward[0].test(1));
    CHECK(!backward[3].any());
}
