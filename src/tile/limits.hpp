// Which lanes of a tile exist. A tile that reaches beyond its tensor has lanes that nothing was loaded for; they are absent,
// and so is what is computed from them lane by lane. Reductions pass over absent lanes and stores drop them.
//
// What is absent is said axis by axis: a lane exists when its index on each axis is below that axis's limit, an i32 that the
// block knows when it runs. A tile from a scalar has no limits. Where control meets, limits travel beside the tile, except to
// a variable that is updated from itself (`sum = sum + x`): there a lane that is absent in the new value keeps the old one,
// and the limits stay those with which the variable began. So a row of several tiles of which the last is ragged adds up.
#pragma once
#include <unordered_map>
#include <vector>

#include "ir/ir.hpp"

namespace ockc::tile {

class LimitAnalysis {
  public:
    explicit LimitAnalysis(const ir::Function& function);

    // May the tile have absent lanes?
    bool is_partial(ir::ValueId value) const { return partial_[value.raw]; }
    // Does `value` depend on the block parameter to which it is passed?
    bool is_update(ir::ValueId value, ir::ValueId param) const;
    // Does the parameter's block take the limits as parameters, because several edges bring their own?
    bool takes_limits(ir::ValueId param) const;
    // The one value that gives a partial parameter its limits, when it does not take them.
    ir::ValueId begins_as(ir::ValueId param) const;

  private:
    void spread();
    std::vector<ir::ValueId> beginnings(ir::ValueId param) const;

    const ir::Function& function_;
    std::vector<bool> partial_;                                                // by value
    std::unordered_map<std::uint32_t, std::vector<ir::ValueId>> incoming_;     // of tile parameters
};

}  // namespace ockc::tile
