// Layouts: every lane has a place, and only as many as the layout says.
#include <doctest/doctest.h>

#include <algorithm>
#include <map>

#include "tile/layout.hpp"
#include "tile/matrix.hpp"

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

TEST_CASE("swizzled: every lane has bytes of its own, 16 of a row together, and eight rows' pieces lie in different banks") {
    for (const Shape& shape : {Shape{64, 64}, Shape{32, 128}, Shape{16, 32}, Shape{8, 16}, Shape{64, 8}, Shape{4, 4}, Shape{1, 1, 16, 64}}) {
        for (const std::uint32_t bytes : {1u, 2u, 4u, 8u}) {
            const ir::TileLayout layout = tile::swizzled(shape, bytes);
            const std::uint32_t size = size_of(shape), columns = shape.back();
            std::map<std::uint32_t, std::uint32_t> at;
            for (std::uint32_t place = 0; place < size; ++place) ++at[tile::shared_offset(layout, place)];
            CHECK(at.size() == size);
            CHECK(tile::shared_bytes(layout, bytes) == size * bytes);
            for (std::uint32_t place = 0; place < size; ++place) {
                const std::uint32_t piece = place * bytes / 16 * 16 / bytes;
                if (columns * bytes >= 16) CHECK(tile::shared_offset(layout, place) == tile::shared_offset(layout, piece) + (place - piece) * bytes);
            }
            if (columns * bytes < 32 || size / columns < 8) continue;
            std::map<std::uint32_t, std::uint32_t> banks;
            for (std::uint32_t row = 0; row < 8; ++row) ++banks[tile::shared_offset(layout, row * columns) % 128 / 16];
            CHECK(banks.size() == 8);
        }
    }
}

TEST_CASE("permuted: a tile in shared memory stays where it is") {
    const Shape from = {16, 64}, to = {64, 16};
    const std::uint32_t axes[] = {1, 0};
    const ir::TileLayout layout = tile::swizzled(from, 2), moved = tile::permuted(layout, from, axes);
    for (std::uint32_t row = 0; row < 16; ++row) {
        for (std::uint32_t column = 0; column < 64; ++column) {
            CHECK(tile::shared_offset(moved, column * to[1] + row) == tile::shared_offset(layout, row * from[1] + column));
        }
    }
}

TEST_CASE("fragments: a block holds every lane of sums and operands, and 16-bit sums are a left operand") {
    constexpr tile::MatrixForm kForms[] = {{intrinsic::Machine::MmaM16n8k16F32Bf16, 80, ir::Type::BF16, tile::Format::Plain, ir::Type::F32, 16, 8, 16},
                                           {intrinsic::Machine::MmaM16n8k8F32Tf32, 80, ir::Type::F32, tile::Format::Tf32, ir::Type::F32, 16, 8, 8},
                                           {intrinsic::Machine::MmaM16n8k32S32S8, 80, ir::Type::I8, tile::Format::Signed, ir::Type::I32, 16, 8, 32},
                                           {intrinsic::Machine::MmaM8n8k4F64, 80, ir::Type::F64, tile::Format::Plain, ir::Type::F64, 8, 8, 4}};
    for (const tile::MatrixForm& form : kForms) {
        for (const Shape& sums : {Shape{16, 8}, Shape{64, 32}, Shape{32, 128}}) {
            for (const tile::WarpGrid grid : {tile::WarpGrid{0, 0}, tile::WarpGrid{1, 1}, tile::WarpGrid{2, 0}, tile::WarpGrid{0, 3}}) {
                const Shape lhs = {sums[0], 64}, rhs = {64, sums[1]};
                CHECK(holders(tile::sum_layout(form, sums, grid)).size() == size_of(sums));
                CHECK(holders(tile::lhs_layout(form, lhs, sums, grid)).size() == size_of(lhs));
                CHECK(holders(tile::rhs_layout(form, rhs, sums, grid)).size() == size_of(rhs));
                for (const Shape& small : {sums, Shape{4, 4}, Shape{8, 2}, Shape{1, 16}}) CHECK(holders(tile::scalar_sum_layout(small, grid)).size() == size_of(small));
            }
        }
    }
    const Shape shape = {64, 64};
    const tile::WarpGrid rows{2, 0};
    CHECK(tile::thread_bases(tile::sum_layout(kForms[0], shape, rows)) == tile::thread_bases(tile::lhs_layout(kForms[0], shape, shape, rows)));
}
