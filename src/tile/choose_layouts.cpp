// How many warps a kernel has, and a layout for every tile.
//
// Every shape has one home layout in a kernel: blocked, with the vectors of the narrowest element that the kernel loads or
// stores, so that accesses are as wide as the machine has them. What comes from memory, from a scalar or from a loop is at
// home; operations lane by lane stay where their first tile is, reshape, permute and reductions where their operand was.
// Stores and broadcasts want the home layout (a broadcast's operand: what is left of it without the axes that are repeated,
// which is just what a reduction of such a tile gives). Where an operand is elsewhere, a conversion is put in front.
#include <algorithm>
#include <bit>

#include "ir/analysis/cfg.hpp"
#include "tile/layout.hpp"
#include "tile/tile.hpp"

namespace ockc::tile {

using namespace ir;

namespace {

constexpr std::uint32_t kVectorBytes = 16;
constexpr std::uint32_t kMostWarpBits = 3;

class LayoutChooser {
  public:
    LayoutChooser(Function& function, const Context& context) : function_(function), types_(context.module.tile_types) {}

    void run() {
        choose_threads();
        const std::vector<BlockId> order = reverse_postorder(function_);
        for (const BlockId block : order) {
            for (const ValueId param : function_.blocks[block].params) {
                if (is_tile(function_.type_of(param))) settle(param, home(type_of(param)));
            }
        }
        for (const BlockId block : order) {
            const std::vector<InstId> insts = std::move(function_.blocks[block].insts);
            function_.blocks[block].insts.clear();
            for (const InstId id : insts) {
                visit(block, id);
                function_.blocks[block].insts.push_back(id);
            }
        }
    }

  private:
    const TileType& type_of(ValueId value) const { return types_[function_.values[value].tile]; }

    // Two vectors for each thread of the largest tile in memory, in eight warps at most.
    void choose_threads() {
        std::uint32_t bytes = kVectorBytes, lanes = 1;
        for (const BlockId block : function_.layout) {
            for (const InstId id : function_.blocks[block].insts) {
                const Instruction& inst = function_.insts[id];
                if (inst.op != Op::TileLoad && inst.op != Op::TileStore) continue;
                const TileType& type = types_[inst.tile];
                bytes = std::min(bytes, type_bytes(type.element));
                lanes = std::max(lanes, type.size());
            }
        }
        vector_ = kVectorBytes / bytes;
        const std::uint32_t warps = std::max(1u, lanes / (vector_ * 2 << kLaneBits));
        warp_bits_ = std::min(kMostWarpBits, static_cast<std::uint32_t>(std::bit_width(warps)) - 1);
        function_.facts.block[0] = 1u << (kLaneBits + warp_bits_);
        function_.facts.block[1] = function_.facts.block[2] = 1;
    }

    TileLayout home(const TileType& type) const { return blocked(type.shape, vector_, warp_bits_); }

    void settle(ValueId value, TileLayout layout) {
        TileType type = type_of(value);
        type.layout = std::move(layout);
        function_.values[value].tile = types_.intern(std::move(type));
    }

    // The operand in a layout: itself, or a conversion in front of the instruction.
    ValueId in_layout(BlockId block, ValueId value, const TileLayout& layout, const Instruction& like) {
        TileType type = type_of(value);
        if (type.layout == layout) return value;
        type.layout = layout;
        Instruction convert;
        convert.op = Op::TileConvert;
        convert.type = Type::Tile;
        convert.args = {value};
        convert.tile = types_.intern(std::move(type));
        convert.span = like.span;
        convert.scope = like.scope;
        const TileTypeId tile = convert.tile;
        const Type result = Type::Tile;
        const InstId id = function_.make_inst(std::move(convert), {&result, 1});
        function_.blocks[block].insts.push_back(id);
        function_.values[function_.insts[id].result()].tile = tile;
        return function_.insts[id].result();
    }

    void convert_operand(BlockId block, InstId id, std::uint32_t index, const TileLayout& layout) {
        const Instruction like = function_.insts[id];   // a copy: conversions grow the store
        function_.insts[id].args[index] = in_layout(block, like.args[index], layout, like);
    }

    void visit(BlockId block, InstId id) {
        const Op op = function_.insts[id].op;
        if (is_tile_op(op) || (op == Op::Select && is_tile(function_.insts[id].type))) {
            tile_operation(block, id);
        } else if (op == Op::Const && is_tile(function_.insts[id].type)) {   // a variable that has no value yet
            const ValueId value = function_.insts[id].result();
            if (function_.values[value].tile.valid()) settle(value, home(type_of(value)));
        }
        for (std::size_t t = 0; t < function_.insts[id].targets.size(); ++t) branch(block, id, t);
        const Instruction& inst = function_.insts[id];
        if (inst.results.empty() || !is_tile(function_.type_of(inst.result()))) return;
        if (inst.op != Op::Const) function_.insts[id].tile = function_.values[inst.result()].tile;
    }

    void branch(BlockId block, InstId id, std::size_t target) {
        const BlockId to = function_.insts[id].targets[target].block;
        for (std::size_t i = 0; i < function_.blocks[to].params.size(); ++i) {
            const ValueId param = function_.blocks[to].params[i];
            if (!is_tile(function_.type_of(param))) continue;
            const Instruction like = function_.insts[id];
            const ValueId value = in_layout(block, like.targets[target].args[i], type_of(param).layout, like);
            function_.insts[id].targets[target].args[i] = value;
        }
    }

    // Which layout costs nothing: a scalar or a count is made in any.
    bool is_free(ValueId value) const {
        const Instruction* def = function_.def(value);
        return def != nullptr && (def->op == Op::TileSplat || def->op == Op::TileIota);
    }

    void lane_by_lane(BlockId block, InstId id, std::uint32_t first) {
        const auto count = static_cast<std::uint32_t>(function_.insts[id].args.size());
        std::uint32_t leader = first;
        while (leader + 1 < count && is_free(function_.insts[id].args[leader])) ++leader;
        if (is_free(function_.insts[id].args[leader])) leader = first;
        const TileLayout layout = type_of(function_.insts[id].args[leader]).layout;
        for (std::uint32_t i = first; i < count; ++i) convert_operand(block, id, i, layout);
        settle(function_.insts[id].result(), layout);
    }

    void tile_operation(BlockId block, InstId id) {
        const Instruction& inst = function_.insts[id];
        const auto operand = [&](std::uint32_t i) -> const TileType& { return type_of(inst.args[i]); };
        switch (inst.op) {
            case Op::TileLoad:
            case Op::TileSplat:
            case Op::TileIota: return settle(inst.result(), home(types_[inst.tile]));
            case Op::TileStore: {
                const TileLayout layout = home(types_[inst.tile]);
                convert_operand(block, id, 1, layout);
                function_.insts[id].tile = function_.values[function_.insts[id].args[1]].tile;
                return;
            }
            case Op::TileMap: return lane_by_lane(block, id, static_cast<std::uint32_t>(inst.imm));
            case Op::Select: return lane_by_lane(block, id, 1);
            case Op::TileReshape: return settle(inst.result(), operand(0).layout);
            case Op::TilePermute: {
                std::vector<std::uint32_t> axes;
                for (std::size_t k = 0; k < operand(0).shape.size(); ++k) axes.push_back(inst.imm >> (4 * k) & 15u);
                return settle(inst.result(), permuted(operand(0).layout, operand(0).shape, axes));
            }
            case Op::TileBroadcast: {
                const Shape from = operand(0).shape, to = types_[inst.tile].shape;
                const TileLayout layout = home(types_[inst.tile]);
                settle(inst.result(), layout);
                return convert_operand(block, id, 0, projected(layout, to, from));
            }
            case Op::TileReduce: {
                const TileType& tile = operand(static_cast<std::uint32_t>(inst.imm & 0xFFu) + 1);
                Shape keep = tile.shape;
                keep[function_.def(inst.args[inst.args.size() - 1])->imm] = 1;
                return settle(inst.result(), projected(tile.layout, tile.shape, keep));
            }
            case Op::TileMma: {
                const TileLayout layout = home(types_[inst.tile]);
                settle(inst.result(), layout);
                return convert_operand(block, id, 2, layout);
            }
            case Op::TileScalar: return;
            case Op::TileConvert: return;
            default: OCKC_UNREACHABLE("not an operation on tiles");
        }
    }

    Function& function_;
    TileTypes& types_;
    std::uint32_t vector_ = 1;      // elements
    std::uint32_t warp_bits_ = 0;
};

}  // namespace

void choose_layouts(Function& function, const Context& context) { LayoutChooser(function, context).run(); }

}  // namespace ockc::tile
