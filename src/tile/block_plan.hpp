// What a kernel's tiles say about its block as a whole, before any of them has a layout: how many warps there are, how they
// share products of matrices, where tiles of a shape are at home, and which loads go to shared memory.
#pragma once
#include <unordered_set>

#include "tile/layout.hpp"
#include "tile/matrix.hpp"
#include "tile/tile.hpp"

namespace ockc::tile {

struct BlockPlan {
    struct Product {
        Shape shape;                             // of its sums
        TileLayout sums;
    };
    std::uint32_t vector = 1;                    // elements of a wide access to memory
    std::uint32_t warp_bits = 0;
    WarpGrid grid;                               // of products
    std::vector<Product> products;               // each shape once
    std::unordered_set<std::uint32_t> copied;    // loads whose tiles are operands of products and nothing else

    TileLayout home(const Shape& shape) const;
    TileLayout in_memory(const Shape& shape) const { return blocked(shape, vector, warp_bits); }
};

BlockPlan plan_block(const ir::Function& function, const Context& context);

}  // namespace ockc::tile
