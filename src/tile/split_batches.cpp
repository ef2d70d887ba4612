// A product with an axis in front is a product for each index on that axis: operands are taken apart, results put together
// again, two by two.
#include "tile/layout.hpp"
#include "tile/tile.hpp"

namespace ockc::tile {

using namespace ir;

namespace {

class BatchSplit {
  public:
    BatchSplit(Function& function, TileTypes& types) : function_(function), types_(types) {}

    void run() {
        for (const BlockId block : function_.layout) {
            block_ = block;
            const std::vector<InstId> insts = std::move(function_.blocks[block].insts);
            function_.blocks[block].insts.clear();
            for (const InstId id : insts) {
                const Instruction inst = function_.insts[id];   // a copy: the store grows
                if (inst.op == Op::TileMma && types_[inst.tile].shape.size() == 3) split(inst, id);
                else function_.blocks[block].insts.push_back(id);
            }
        }
    }

  private:
    ValueId append(Instruction inst, const Instruction& like) {
        inst.span = like.span;
        inst.scope = like.scope;
        const Type result = inst.type;
        const TileTypeId tile = inst.tile;
        const InstId id = function_.make_inst(std::move(inst), {&result, 1});
        function_.blocks[block_].insts.push_back(id);
        const ValueId value = function_.insts[id].result();
        function_.values[value].tile = tile;
        return value;
    }

    ValueId tile_op(Op op, Type element, Shape shape, std::vector<ValueId> args, const Instruction& like) {
        Instruction inst;
        inst.op = op;
        inst.type = Type::Tile;
        for (const ValueId arg : args) inst.args.push_back(arg);
        TileType type;
        type.element = element;
        type.shape = std::move(shape);
        inst.tile = types_.intern(std::move(type));
        if (op == Op::TileMma) inst.callee = like.callee;
        return append(std::move(inst), like);
    }

    ValueId number(std::uint32_t value, const Instruction& like) {
        Instruction inst;
        inst.op = Op::Const;
        inst.type = Type::I32;
        inst.imm = value;
        return append(std::move(inst), like);
    }

    // The matrix with that index.
    ValueId matrix(ValueId tile, std::uint32_t index, const Instruction& like) {
        const TileType type = types_[function_.values[tile].tile];
        const ValueId zero = number(0, like);
        const ValueId part = tile_op(Op::TileExtract, type.element, {1, type.shape[1], type.shape[2]}, {tile, number(index, like), zero, zero}, like);
        return tile_op(Op::TileReshape, type.element, {type.shape[1], type.shape[2]}, {part}, like);
    }

    void split(const Instruction& inst, InstId id) {
        const TileType type = types_[inst.tile];
        std::vector<ValueId> parts;
        for (std::uint32_t i = 0; i < type.shape[0]; ++i) {
            const ValueId product = tile_op(Op::TileMma, type.element, {type.shape[1], type.shape[2]}, {matrix(inst.args[0], i, inst), matrix(inst.args[1], i, inst), matrix(inst.args[2], i, inst)}, inst);
            parts.push_back(tile_op(Op::TileReshape, type.element, {1, type.shape[1], type.shape[2]}, {product}, inst));
        }
        for (std::uint32_t together = 2; parts.size() > 1; together *= 2) {
            std::vector<ValueId> pairs;
            for (std::size_t i = 0; i < parts.size(); i += 2) {
                pairs.push_back(tile_op(Op::TileCat, type.element, {together, type.shape[1], type.shape[2]}, {parts[i], parts[i + 1], number(0, inst)}, inst));
            }
            parts = std::move(pairs);
        }
        // What uses the product stays as it is: it becomes the last step itself.
        Instruction& product = function_.insts[id];
        product.op = Op::TileReshape;
        product.callee = {};
        product.args = {parts[0]};
        function_.blocks[block_].insts.push_back(id);
    }

    Function& function_;
    TileTypes& types_;
    BlockId block_;
};

}  // namespace

void split_batches(Function& function, const Context& context) { BatchSplit(function, context.module.tile_types).run(); }

}  // namespace ockc::tile
