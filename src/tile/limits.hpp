// Which lanes of a tile exist. A tile that reaches beyond its tensor has lanes that nothing was loaded for; they are absent,
// and so is what is computed from them lane by lane. Reductions pass over absent lanes and stores drop them.
//
// What is absent is said axis by axis: a lane exists when its index on each axis is below that axis's limit, an i32 that the
// block knows when it runs. A tile from a scalar has no limits. Where control meets, limits travel beside the tile, except to
// a variable that is updated from itself (`sum = sum + x`): there a lane that is absent in the new value keeps the old one,
// and the limits stay those with which the variable began. So a row of several tiles of which the last is ragged adds up.
//
// What no limit can say is kept lane by lane, as a mask beside the limits: when ragged axes become one (`[4, 8]` reshaped to
// `[32]`), and when a ragged tile is put in front of another (`cat`).
#pragma once
#include <unordered_map>
#include <vector>

#include "ir/ir.hpp"
#include "tile/layout.hpp"

namespace ockc::tile {

using Registers = std::vector<ir::ValueId>;   // of one thread, by register number of the layout

// The lanes of a tile that exist: those below the limit of every axis that their mask, if there is one, does not exclude.
struct Limits {
    std::vector<ir::ValueId> axes;   // i32 by axis, none where all lanes exist; empty: no axis has one
    Registers mask;                  // i1 by register; empty: excludes nothing

    bool everywhere() const { return axes.empty() && mask.empty(); }
    ir::ValueId axis(std::size_t k) const { return k < axes.size() ? axes[k] : ir::ValueId::none(); }
};

class LimitAnalysis {
  public:
    LimitAnalysis(const ir::Function& function, const ir::TileTypes& types);

    // May the tile have absent lanes?
    bool is_partial(ir::ValueId value) const { return partial_[value.raw]; }
    // May it have a mask?
    bool is_masked(ir::ValueId value) const { return masked_[value.raw]; }
    // Does `value` depend on the block parameter to which it is passed?
    bool is_update(ir::ValueId value, ir::ValueId param) const;
    // Does the parameter's block take the limits as parameters, because several edges bring their own?
    bool takes_limits(ir::ValueId param) const;
    // The one value that gives a partial parameter its limits, when it does not take them.
    ir::ValueId begins_as(ir::ValueId param) const;

  private:
    void spread();
    void spread_from(const ir::Instruction& inst);
    void mark(std::vector<bool>& marks, ir::ValueId value);
    bool needs_mask(const ir::Instruction& inst) const;
    std::vector<ir::ValueId> beginnings(ir::ValueId param) const;

    const ir::Function& function_;
    const ir::TileTypes& types_;
    std::vector<bool> partial_, masked_;                                       // by value
    bool changed_ = false;
    std::unordered_map<std::uint32_t, std::vector<ir::ValueId>> incoming_;     // of tile parameters
};

// Axes are matched from the end: runs of axes with equally many lanes. The axis of the result that can say the limit of the
// operand's axis k: the one that ends where k ends, when it is k itself or counts whole rows of it. None: a mask must.
std::size_t reshaped_axis(const Shape& from, std::size_t k, const Shape& to);
inline constexpr std::size_t kNoAxis = ~std::size_t{0};

}  // namespace ockc::tile
