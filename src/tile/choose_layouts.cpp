// A layout for every tile, and conversions where two do not fit.
//
// Every shape has one home layout in a kernel. The sums of a product have the layout of the instructions that do it, and what reductions leave of it is home to the smaller shapes; all others are blocked, with the vectors of the
// narrowest element that the kernel loads or stores. Loads and stores are always blocked, so that accesses are as wide as
// the machine has them. What comes from a scalar or from a loop is at home; operations lane by lane stay where their first
// tile is, reshape, permute and reductions where their operand was. A broadcast's operand is what is left of the home layout
// without the axes that are repeated, which is just what a reduction of such a tile gives. Where an operand is elsewhere, a
// conversion is put in front; a tile that is made of scalars and counts only is made again instead.
//
// Operands of products lie in shared memory: tiles that are loaded for nothing else are copied there, others are converted.
// Where a tile lies in its threads as a matrix instruction wants it, it stays in registers.
#include <algorithm>
#include <bit>

#include "ir/analysis/cfg.hpp"
#include "tile/block_plan.hpp"
#include "tile/tile.hpp"

namespace ockc::tile {

using namespace ir;

namespace {

class LayoutChooser {
  public:
    LayoutChooser(Function& function, const Context& context)
        : function_(function), context_(context), types_(context.module.tile_types), plan_(plan_block(function, context)) {}

    void run() {
        function_.facts.block[0] = 1u << (kLaneBits + plan_.warp_bits);
        function_.facts.block[1] = function_.facts.block[2] = 1;
        const std::vector<BlockId> order = reverse_postorder(function_);
        for (const BlockId block : order) {
            for (const ValueId param : function_.blocks[block].params) {
                if (is_tile(function_.type_of(param))) settle(param, plan_.home(type_of(param).shape));
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

    void settle(ValueId value, TileLayout layout) {
        TileType type = type_of(value);
        type.layout = std::move(layout);
        function_.values[value].tile = types_.intern(std::move(type));
    }

    ValueId place(BlockId block, Instruction inst, TileType type) {
        inst.tile = types_.intern(std::move(type));
        inst.results.clear();
        const TileTypeId tile = inst.tile;
        const Type result = Type::Tile;
        const InstId id = function_.make_inst(std::move(inst), {&result, 1});
        function_.blocks[block].insts.push_back(id);
        function_.values[function_.insts[id].result()].tile = tile;
        return function_.insts[id].result();
    }

    // Made of scalars and counts only, in a few steps: as cheap to make again as to move.
    bool is_remade(ValueId value, int steps = kMostSteps) const {
        const Instruction* def = function_.def(value);
        if (def == nullptr || steps == 0) return false;
        switch (def->op) {
            case Op::TileSplat:
            case Op::TileIota: return true;
            case Op::TileReshape:
            case Op::TileBroadcast: return is_remade(def->args[0], steps - 1);
            case Op::TileMap:
                for (std::uint32_t i = static_cast<std::uint32_t>(def->imm); i < def->args.size(); ++i) {
                    if (!is_remade(def->args[i], steps - 1)) return false;
                }
                return true;
            default: return false;
        }
    }

    ValueId remade(BlockId block, ValueId value, const TileLayout& layout) {
        Instruction inst = *function_.def(value);
        TileType type = type_of(value);
        for (ValueId& arg : inst.args) {
            if (!is_tile(function_.type_of(arg))) continue;
            const Shape from = type_of(arg).shape;
            arg = in_layout(block, arg, inst.op == Op::TileBroadcast ? projected(layout, type.shape, from) : layout, inst);
        }
        type.layout = layout;
        return place(block, std::move(inst), std::move(type));
    }

    // The operand in a layout: itself, made again, or a conversion in front of the instruction.
    ValueId in_layout(BlockId block, ValueId value, const TileLayout& layout, const Instruction& like) {
        TileType type = type_of(value);
        if (type.layout == layout) return value;
        if (!layout.is_shared() && is_remade(value)) return remade(block, value, layout);
        type.layout = layout;
        Instruction convert;
        convert.op = Op::TileConvert;
        convert.type = Type::Tile;
        convert.args = {value};
        convert.span = like.span;
        convert.scope = like.scope;
        return place(block, std::move(convert), std::move(type));
    }

    void convert_operand(BlockId block, InstId id, std::uint32_t index, const TileLayout& layout) {
        const Instruction like = function_.insts[id];   // a copy: conversions grow the store
        const ValueId value = in_layout(block, like.args[index], layout, like);
        function_.insts[id].args[index] = value;
    }

    void visit(BlockId block, InstId id) {
        const Op op = function_.insts[id].op;
        if (is_tile_op(op) || (op == Op::Select && is_tile(function_.insts[id].type))) {
            tile_operation(block, id);
        } else if (op == Op::Const && is_tile(function_.insts[id].type)) {   // a variable that has no value yet
            const ValueId value = function_.insts[id].result();
            if (function_.values[value].tile.valid()) settle(value, plan_.home(type_of(value).shape));
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

    void lane_by_lane(BlockId block, InstId id, std::uint32_t first) {
        const auto count = static_cast<std::uint32_t>(function_.insts[id].args.size());
        std::uint32_t leader = first;
        while (leader + 1 < count && is_remade(function_.insts[id].args[leader])) ++leader;
        if (is_remade(function_.insts[id].args[leader])) leader = first;
        const TileLayout layout = type_of(function_.insts[id].args[leader]).layout;
        for (std::uint32_t i = first; i < count; ++i) convert_operand(block, id, i, layout);
        settle(function_.insts[id].result(), layout);
    }

    // Of the operand of a reduction without the axis that is reduced.
    TileLayout without_axis(const TileType& tile, const Instruction& inst) const {
        Shape keep = tile.shape;
        keep[function_.def(inst.args[inst.args.size() - 1])->imm] = 1;
        return projected(tile.layout, tile.shape, keep);
    }

    // A product by matrix instructions.
    void matrix_product(BlockId block, InstId id, const MatrixForm& form) {
        const Shape sums = types_[function_.insts[id].tile].shape;
        const TileLayout layout = sum_layout(form, sums, plan_.grid);
        settle(function_.insts[id].result(), layout);
        convert_operand(block, id, 2, layout);
        for (std::uint32_t side = 0; side < 2; ++side) {
            const TileType operand = type_of(function_.insts[id].args[side]);
            if (operand.layout.is_shared()) continue;
            const TileLayout wanted = side == 0 ? lhs_layout(form, operand.shape, sums, plan_.grid) : rhs_layout(form, operand.shape, sums, plan_.grid);
            const bool in_threads = thread_bases(operand.layout) == thread_bases(wanted);
            convert_operand(block, id, side, in_threads ? wanted : swizzled(operand.shape, type_bytes(operand.element)));
        }
    }

    // A product that is added up lane by lane.
    void scalar_product(BlockId block, InstId id) {
        const TileLayout layout = scalar_sum_layout(types_[function_.insts[id].tile].shape, plan_.grid);
        settle(function_.insts[id].result(), layout);
        convert_operand(block, id, 2, layout);
        for (std::uint32_t side = 0; side < 2; ++side) {
            const TileType operand = type_of(function_.insts[id].args[side]);
            if (!operand.layout.is_shared()) convert_operand(block, id, side, swizzled(operand.shape, type_bytes(operand.element)));
        }
    }

    void tile_operation(BlockId block, InstId id) {
        const Instruction& inst = function_.insts[id];
        const auto operand = [&](std::uint32_t i) -> const TileType& { return type_of(inst.args[i]); };
        switch (inst.op) {
            case Op::TileLoad: {
                const TileType& type = types_[inst.tile];
                const bool shared = plan_.copied.contains(id.raw);
                return settle(inst.result(), shared ? swizzled(type.shape, type_bytes(type.element)) : plan_.in_memory(type.shape));
            }
            case Op::TileSplat:
            case Op::TileIota: return settle(inst.result(), plan_.home(types_[inst.tile].shape));
            case Op::TileStore: {
                convert_operand(block, id, 1, plan_.in_memory(types_[inst.tile].shape));
                function_.insts[id].tile = function_.values[function_.insts[id].args[1]].tile;
                return;
            }
            case Op::TileEach:
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
                const TileLayout layout = plan_.home(to);
                settle(inst.result(), layout);
                return convert_operand(block, id, 0, projected(layout, to, from));
            }
            case Op::TileReduce: {
                const TileType& tile = operand(static_cast<std::uint32_t>(inst.imm & 0xFFu) + 1);
                return settle(inst.result(), without_axis(tile, inst));
            }
            case Op::TileReducePair: {
                const auto first = static_cast<std::uint32_t>(inst.imm & 0xFFu) + 2;
                convert_operand(block, id, first + 1, operand(first).layout);
                const Instruction& pair = function_.insts[id];
                return settle(pair.result(), without_axis(type_of(pair.args[first]), pair));
            }
            case Op::TileScan: {
                const TileLayout layout = plan_.in_memory(types_[inst.tile].shape);   // where a basis moves one bit of one index
                settle(inst.result(), layout);
                return convert_operand(block, id, static_cast<std::uint32_t>(inst.imm & 0xFFu) + 1, layout);
            }
            case Op::TileCat:
            case Op::TileExtract: return settle(inst.result(), plan_.home(types_[inst.tile].shape));
            case Op::TileFill: return settle(inst.result(), operand(0).layout);
            case Op::TileMma: {
                if (const MatrixForm* form = matrix_form(context_.module, function_, inst, context_.device)) return matrix_product(block, id, *form);
                return scalar_product(block, id);
            }
            case Op::TileScalar:
            case Op::TileConvert: return;
            default: OCKC_UNREACHABLE("not an operation on tiles");
        }
    }

    static constexpr int kMostSteps = 6;

    Function& function_;
    const Context& context_;
    TileTypes& types_;
    const BlockPlan plan_;
};

}  // namespace

void choose_layouts(Function& function, const Context& context) { LayoutChooser(function, context).run(); }

}  // namespace ockc::tile
