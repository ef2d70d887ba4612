// The tile type of every value that is a tile. Operations say theirs; a block parameter has the type of what arrives in it,
// which may itself be a parameter, so that the types go round until nothing is new.
#include <fmt/format.h>

#include "ir/analysis/cfg.hpp"
#include "tile/tile.hpp"

namespace ockc::tile {

using namespace ir;

namespace {

class TypeInference {
  public:
    TypeInference(Function& function, const Context& context) : function_(function), context_(context) {}

    bool run() {
        const std::vector<BlockId> order = reverse_postorder(function_);
        for (const BlockId block : order) {
            for (const InstId id : function_.blocks[block].insts) own_type(function_.insts[id]);
        }
        do {
            changed_ = false;
            for (const BlockId block : order) {
                for (const InstId id : function_.blocks[block].insts) handed_on(function_.insts[id]);
            }
        } while (changed_);
        return good_;
    }

  private:
    void own_type(const Instruction& inst) {
        if (inst.op == Op::TileStore || inst.op == Op::TileScalar) return;
        if (inst.tile.valid()) return set(inst.result(), inst.tile);
        const bool in_memory = (inst.op == Op::Load || inst.op == Op::Store) && is_tile(inst.type);
        const bool in_call = inst.op == Op::Call && handles_tiles(inst);
        if (!good_ || (!in_memory && !in_call)) return;
        good_ = false;
        Diagnostic& error = context_.sink.error(Code::OCK0503, user_span(function_, inst), in_memory ? "a tile cannot be kept in memory" : "a function that handles tiles must be inlined");
        if (in_memory) error.help("index arrays of tiles by constants only, and take no references to tiles that stay");
        else error.help("take `#[inline(never)]` off the function");
    }

    bool handles_tiles(const Instruction& inst) const {
        for (const ValueId value : inst.args) {
            if (is_tile(function_.type_of(value))) return true;
        }
        for (const ValueId value : inst.results) {
            if (is_tile(function_.type_of(value))) return true;
        }
        return false;
    }

    void handed_on(const Instruction& inst) {
        if (inst.op == Op::Select && is_tile(inst.type)) {
            for (const ValueId value : {inst.args[1], inst.args[2]}) set(inst.result(), function_.values[value].tile);
        }
        for (const Target& target : inst.targets) {
            const auto& params = function_.blocks[target.block].params;
            for (std::size_t i = 0; i < params.size(); ++i) set(params[i], function_.values[target.args[i]].tile);
        }
    }

    void set(ValueId value, TileTypeId type) {
        TileTypeId& known = function_.values[value].tile;
        if (!type.valid() || known.valid()) return;
        known = type;
        changed_ = true;
    }

    Function& function_;
    const Context& context_;
    bool changed_ = false;
    bool good_ = true;
};

}  // namespace

bool infer_types(Function& function, const Context& context) { return TypeInference(function, context).run(); }

}  // namespace ockc::tile
