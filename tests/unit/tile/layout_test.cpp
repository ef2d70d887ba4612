// Layouts: every lane has a place, and only as many as the layout says.
#include <doctest/doctest.h>

#include <algorithm>
#include <map>

#include "tile/layout.hpp"

using namespace ockc;
using tile::Shape;

namespace {

// How often each place is held, over all threads and registers.
std::map<std::uint32_t, std::uint32_t> holders(const ir::TileLayout& layout) {
    std::map<std::uint32_t, std::uint32_t> counts;
    const std::vector<std::uint32_t> bases = tile::thread_bases(layout);
    for (std::uint32_t thread = 0; thread < 1u << bases.size(); ++thread) {
        std::uint32_t base = 0;
        for (std::size_t b = 0; b < bases.size(); ++b) base ^= (thread >> b & 1u) != 0 ? bases[b] : 0u;
        for (std::uint32_t r = 0; r < layout.register_count(); ++r) ++counts[base ^ tile::register_place(layout, r)];
    }
    return counts;
}

std::uint32_t size_of(const Shape& shape) {
    std::uint32_t size = 1;
    for (const std::uint32_t extent : shape) size *= extent;
    return size;
}

const Shape kShapes[] = {{}, {1}, {2}, {128}, {4096}, {1, 1}, {1, 64}, {64, 1}, {16, 64}, {8, 4, 32}, {2, 2, 2, 2, 2, 2}};

}  // namespace

TEST_CASE("blocked: each lane is held equally often, and neighbours of the last axis lie in neighbouring registers") {
    for (const Shape& shape : kShapes) {
        for (const std::uint32_t vector : {1u, 4u, 16u}) {
            for (const std::uint32_t warp_bits : {0u, 2u, 3u}) {
                const ir::TileLayout layout = tile::blocked(shape, vector, warp_bits);
                CHECK(layout.lanes.size() == 5);
                CHECK(layout.warps.size() == warp_bits);
                const auto counts = holders(layout);
                CHECK(counts.size() == size_of(shape));
                for (const auto& [place, count] : counts) CHECK(count == counts.begin()->second);
                const std::uint32_t together = std::min(vector, shape.empty() ? 1u : shape.back());
                for (std::uint32_t r = 0; r < together; ++r) CHECK(tile::register_place(layout, r) == r);
            }
        }
    }
}

TEST_CASE("permuted: a thread holds the same lanes under their new indices") {
    const Shape from = {8, 4, 32}, to = {32, 8, 4};
    const std::uint32_t axes[] = {2, 0, 1};
    const ir::TileLayout layout = tile::blocked(from, 4, 2);
    const ir::TileLayout moved = tile::permuted(layout, from, axes);
    for (std::uint32_t r = 0; r < layout.register_count(); ++r) {
        const std::uint32_t before = tile::register_place(layout, r), after = tile::register_place(moved, r);
        for (std::size_t k = 0; k < to.size(); ++k) CHECK(tile::axis_index(to, k, after) == tile::axis_index(from, axes[k], before));
    }
    CHECK(holders(moved).size() == size_of(to));
}

TEST_CASE("projected: what is left covers the axes that are kept, without registers that are the same") {
    for (const Shape& shape : kShapes) {
        for (std::size_t axis = 0; axis < shape.size(); ++axis) {
            Shape keep = shape;
            keep[axis] = 1;
            const ir::TileLayout layout = tile::projected(tile::blocked(shape, 4, 2), shape, keep);
            CHECK(holders(layout).size() == size_of(keep));
            CHECK(std::find(layout.registers.begin(), layout.registers.end(), 0u) == layout.registers.end());
        }
    }
}
