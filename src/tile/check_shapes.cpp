// Operations that change shapes: does the result's shape follow from the operand's. The library leaves the result's shape to
// the place where it is used, so that this is the first place where both are known.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <optional>

#include "tile/layout.hpp"
#include "tile/tile.hpp"

namespace ockc::tile {

using namespace ir;

namespace {

std::string text(const Shape& shape) { return fmt::format("[{}]", fmt::join(shape, ", ")); }

class ShapeCheck {
  public:
    ShapeCheck(const Function& function, const Context& context) : function_(function), types_(context.module.tile_types), sink_(context.sink) {}

    bool run() {
        for (const BlockId block : function_.layout) {
            for (const InstId id : function_.blocks[block].insts) extents(function_.insts[id]);
        }
        for (const BlockId block : function_.layout) {
            for (const InstId id : function_.blocks[block].insts) {
                if (good_) check(function_.insts[id]);
            }
        }
        return good_;
    }

  private:
    const Shape& shape_of(ValueId value) const { return types_[function_.values[value].tile].shape; }

    // Each shape is spoken of once.
    void extents(const Instruction& inst) {
        if (!inst.tile.valid()) return;
        const Shape& shape = types_[inst.tile].shape;
        const auto bad = [](std::uint32_t extent) { return !std::has_single_bit(extent); };
        if (std::none_of(shape.begin(), shape.end(), bad) || std::find(refused_.begin(), refused_.end(), shape) != refused_.end()) return;
        good_ = false;
        refused_.push_back(shape);
        const Span at = user_span(function_, inst);
        sink_.error(Code::OCK0502, at, fmt::format("a tile cannot have the shape {}", text(shape)))
            .label(at, fmt::format("{} is no power of two", static_cast<std::int32_t>(*std::find_if(shape.begin(), shape.end(), bad))))
            .help("tiles have powers of two as extents; tensors may have any: what lies outside them is left out");
    }

    void check(const Instruction& inst) {
        if (inst.op == Op::TileReshape) return reshape(inst);
        if (inst.op == Op::TileBroadcast) return broadcast(inst);
        if (inst.op == Op::TilePermute) return permute(inst);
        if (inst.op == Op::TileReduce || inst.op == Op::TileReducePair || inst.op == Op::TileScan) return fold(inst);
        if (inst.op == Op::TileCat) return cat(inst);
        if (inst.op == Op::TileExtract) return extract(inst);
        if (inst.op == Op::TileMma) return product(inst);
        if (inst.op == Op::TileIota) {
            axis_of(inst, types_[inst.tile].shape, "count");
            return;
        }
        if (inst.op == Op::TileScalar && types_[inst.tile].size() != 1) {
            refuse(inst, fmt::format("a tile of shape {} is no scalar", text(types_[inst.tile].shape)), "reduce its axes first");
        }
    }

    void refuse(const Instruction& inst, std::string message, std::string help) {
        good_ = false;
        const Span at = user_span(function_, inst);
        sink_.error(Code::OCK0506, at, std::move(message)).label(at, "in this call").help(std::move(help));
    }

    void reshape(const Instruction& inst) {
        const Shape& from = shape_of(inst.args[0]);
        const Shape& to = types_[inst.tile].shape;
        if (types_[inst.tile].size() == types_[function_.values[inst.args[0]].tile].size()) return;
        refuse(inst, fmt::format("a tile of shape {} cannot be reshaped to {}", text(from), text(to)), "both shapes must have equally many lanes");
    }

    void broadcast(const Instruction& inst) {
        const Shape& from = shape_of(inst.args[0]);
        const Shape& to = types_[inst.tile].shape;
        bool good = from.size() == to.size();
        for (std::size_t k = 0; good && k < from.size(); ++k) good = from[k] == to[k] || from[k] == 1;
        if (good) return;
        refuse(inst, fmt::format("a tile of shape {} cannot be broadcast to {}", text(from), text(to)), "both have the same number of axes, and only axes of extent 1 are repeated: `.reshape` it first");
    }

    void permute(const Instruction& inst) {
        const Shape& from = shape_of(inst.args[0]);
        const Shape& to = types_[inst.tile].shape;
        std::uint64_t seen = 0;
        bool good = from.size() == to.size();
        for (std::size_t k = 0; good && k < to.size(); ++k) {
            const std::uint64_t axis = inst.imm >> (4 * k) & 15u;
            good = axis < from.size() && to[k] == from[axis] && (seen >> axis & 1u) == 0;
            seen |= std::uint64_t{1} << axis;
        }
        if (!good) refuse(inst, fmt::format("this permutation of the axes of {} does not give {}", text(from), text(to)), "name every axis once; axis k of the result is axis AXES[k] of the operand");
    }

    // The last operand. None: reported.
    std::optional<std::size_t> axis_of(const Instruction& inst, const Shape& shape, std::string_view what) {
        const Instruction* axis = function_.def(inst.args[inst.args.size() - 1]);
        if (axis == nullptr || axis->op != Op::Const) {
            refuse(inst, fmt::format("the axis of a {} must be a constant", what), "write a number or a const parameter");
            return std::nullopt;
        }
        if (axis->imm < shape.size()) return static_cast<std::size_t>(axis->imm);
        refuse(inst, fmt::format("a tile of shape {} has no axis {}", text(shape), static_cast<std::int32_t>(axis->imm)), "axes are counted from 0");
        return std::nullopt;
    }

    void fold(const Instruction& inst) {
        const std::uint32_t width = inst.op == Op::TileReducePair ? 2 : 1;
        const Shape& from = shape_of(inst.args[static_cast<std::uint32_t>(inst.imm & 0xFFu) + width]);
        const std::optional<std::size_t> axis = axis_of(inst, from, inst.op == Op::TileScan ? "scan" : "reduction");
        if (!axis || inst.op == Op::TileScan) return;   // a scan keeps its shape, by its type
        Shape want = from;
        want.erase(want.begin() + static_cast<std::ptrdiff_t>(*axis));
        const Shape& to = types_[inst.tile].shape;
        if (want != to) refuse(inst, fmt::format("reducing axis {} of {} gives shape {}, not {}", *axis, text(from), text(want), text(to)), "the reduced axis is dropped: `.reshape` the result to put one of extent 1 there");
    }

    void cat(const Instruction& inst) {
        const Shape& from = shape_of(inst.args[0]);
        const Shape& to = types_[inst.tile].shape;
        const std::optional<std::size_t> axis = axis_of(inst, from, "`cat`");
        if (!axis) return;
        Shape want = from;
        want[*axis] *= 2;
        if (want != to) refuse(inst, fmt::format("two tiles of shape {} behind each other on axis {} have shape {}, not {}", text(from), *axis, text(want), text(to)), "only this axis grows");
    }

    void extract(const Instruction& inst) {
        const Shape& from = shape_of(inst.args[0]);
        const Shape& to = types_[inst.tile].shape;
        bool good = from.size() == to.size() && inst.args.size() == from.size() + 1;
        for (std::size_t k = 0; good && k < to.size(); ++k) good = to[k] <= from[k];
        if (!good) refuse(inst, fmt::format("a tile of shape {} has no parts of shape {}", text(from), text(to)), "both have the same number of axes, with one index for each, and a part is no longer than the tile on any");
    }

    // [.., m, k] times [.., k, n] is [.., m, n]; at most one axis in front counts products.
    void product(const Instruction& inst) {
        const Shape &a = shape_of(inst.args[0]), &b = shape_of(inst.args[1]), &c = types_[inst.tile].shape;
        const std::size_t rank = c.size();
        bool good = (rank == 2 || rank == 3) && a.size() == rank && b.size() == rank;
        good = good && a[rank - 1] == b[rank - 2] && a[rank - 2] == c[rank - 2] && b[rank - 1] == c[rank - 1];
        if (good && rank == 3) good = a[0] == c[0] && b[0] == c[0];
        if (!good) refuse(inst, fmt::format("the product of {} and {} is no {}", text(a), text(b), text(c)), "[m, k] times [k, n] is [m, n], and with one axis more in front it is so for each of its indices");
    }

    const Function& function_;
    const TileTypes& types_;
    DiagSink& sink_;
    std::vector<Shape> refused_;
    bool good_ = true;
};

}  // namespace

bool check_shapes(const Function& function, const Context& context) { return ShapeCheck(function, context).run(); }

}  // namespace ockc::tile
