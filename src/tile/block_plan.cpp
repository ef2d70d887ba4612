#include "tile/block_plan.hpp"

#include <algorithm>
#include <bit>

namespace ockc::tile {

using namespace ir;

namespace {

constexpr std::uint32_t kVectorBytes = 16;
constexpr std::uint32_t kMostWarpBits = 3;
constexpr std::uint32_t kSumsOfThread = 64;         // registers of sums that a thread of a single product should have
constexpr std::uint32_t kMostSumsOfThread = 192;    // of all products together, when their results meet in registers
constexpr std::uint32_t kScalarRows = 4, kScalarColumns = 32;   // of a warp that adds product by product, at least
constexpr std::uint16_t kFirstCopyTarget = 80;      // sm_80: copies to shared memory that nobody waits for
constexpr std::uint32_t kFewWarpBits = 2;           // enough to keep the four schedulers of a multiprocessor busy

class BlockPlanner {
  public:
    BlockPlanner(const Function& function, const Context& context) : function_(function), context_(context), types_(context.module.tile_types) {
        for (const BlockId block : function_.layout) {
            for (const InstId id : function_.blocks[block].insts) {
                const Instruction& inst = function_.insts[id];
                if (inst.op == Op::TileMma) products_.push_back({id, matrix_form(context.module, function_, inst, context.device)});
            }
        }
    }

    BlockPlan run() {
        choose_vector();
        if (products_.empty()) {
            const std::uint32_t warps = std::max(1u, lanes_ / (plan_.vector * 2 << kLaneBits));
            plan_.warp_bits = std::min(kMostWarpBits, static_cast<std::uint32_t>(std::bit_width(warps)) - 1);
        } else {
            share_products();
            if (context_.device.sm >= kFirstCopyTarget) find_copied();
        }
        return std::move(plan_);
    }

  private:
    struct Product {
        InstId inst;
        const MatrixForm* form;   // null: product by product
    };

    const Shape& shape_of(ValueId value) const { return types_[function_.values[value].tile].shape; }

    // Two vectors for each thread of the largest tile in memory, in eight warps at most.
    void choose_vector() {
        std::uint32_t bytes = kVectorBytes;
        for (const BlockId block : function_.layout) {
            for (const InstId id : function_.blocks[block].insts) {
                const Instruction& inst = function_.insts[id];
                if (inst.op != Op::TileLoad && inst.op != Op::TileStore) continue;
                bytes = std::min(bytes, type_bytes(types_[inst.tile].element));
                lanes_ = std::max(lanes_, types_[inst.tile].size());
            }
        }
        plan_.vector = kVectorBytes / bytes;
    }

    // Do the sums of products meet other tiles row by row: in reductions, or as operands of further products?
    bool rows_matter() const {
        for (const BlockId block : function_.layout) {
            for (const InstId id : function_.blocks[block].insts) {
                const Instruction& inst = function_.insts[id];
                if (inst.op != Op::TileReduce) continue;
                const Shape& shape = shape_of(inst.args[static_cast<std::uint32_t>(inst.imm & 0xFFu) + 1]);
                const auto same = [&](const Product& product) { return shape_of(function_.insts[product.inst].result()) == shape; };
                if (std::any_of(products_.begin(), products_.end(), same)) return true;
            }
        }
        return false;
    }

    void share_products() {
        const bool by_rows = rows_matter();
        std::uint32_t sums = 0, rows = 0, columns = 0, row_fragment = 1, column_fragment = 1;
        for (const Product& product : products_) {
            const Shape& shape = shape_of(function_.insts[product.inst].result());
            if (shape[0] * shape[1] > rows * columns) {
                rows = shape[0];
                columns = shape[1];
                row_fragment = product.form != nullptr ? product.form->rows : std::min(rows, kScalarRows);
                column_fragment = product.form != nullptr ? product.form->columns * 2 : std::min(columns, kScalarColumns);   // two are loaded at once
            }
            const bool seen = std::any_of(plan_.products.begin(), plan_.products.end(), [&](const auto& other) { return other.shape == shape; });
            const Instruction* sum = function_.def(function_.insts[product.inst].args[2]);
            if (sum == nullptr || sum->op != Op::TileMma) sums += shape[0] * shape[1];   // not further products in the same registers
            if (seen) continue;
            plan_.products.push_back({shape, {}});
        }
        const auto bits_of = [](std::uint32_t count) { return count == 0 ? 0u : static_cast<std::uint32_t>(std::bit_width(count)) - 1; };
        const std::uint32_t row_pieces = bits_of(rows / row_fragment), column_pieces = bits_of(columns / column_fragment);
        if (by_rows) {
            const std::uint32_t warps = ((sums >> kLaneBits) + kMostSumsOfThread - 1) / kMostSumsOfThread;
            const auto needed = static_cast<std::uint32_t>(std::bit_width(warps - 1));
            plan_.warp_bits = std::min({std::max(needed, kFewWarpBits), kMostWarpBits, row_pieces});
            plan_.grid = {plan_.warp_bits, 0};
        } else {
            const std::uint32_t wanted = std::max(bits_of((sums >> kLaneBits) / kSumsOfThread), kFewWarpBits);
            plan_.warp_bits = std::min({wanted, kMostWarpBits, row_pieces + column_pieces});
            plan_.grid = nearly_square(rows, columns, row_pieces, column_pieces);
        }
        for (BlockPlan::Product& product : plan_.products) {
            const auto own = [&](const Product& one) { return shape_of(function_.insts[one.inst].result()) == product.shape; };
            const MatrixForm* form = std::find_if(products_.begin(), products_.end(), own)->form;
            product.sums = form != nullptr ? sum_layout(*form, product.shape, plan_.grid) : scalar_sum_layout(product.shape, plan_.grid);
        }
    }

    // Each warp reads its rows of one operand and its columns of the other: as few as possible.
    WarpGrid nearly_square(std::uint32_t rows, std::uint32_t columns, std::uint32_t row_pieces, std::uint32_t column_pieces) const {
        WarpGrid best;
        std::uint32_t least = UINT32_MAX;
        for (std::uint32_t bits = 0; bits <= plan_.warp_bits; ++bits) {
            const WarpGrid grid{bits, plan_.warp_bits - bits};
            if (grid.row_bits > row_pieces || grid.column_bits > column_pieces) continue;
            const std::uint32_t read = (rows >> grid.row_bits) + (columns >> grid.column_bits);
            if (read < least) {
                least = read;
                best = grid;
            }
        }
        return best;
    }

    // By value: is it an operand of a product, as it is or in another shape, wherever it is used?
    void find_copied() {
        std::vector<bool> elsewhere(function_.values.size()), operand(function_.values.size());
        for (const Product& product : products_) {
            const Instruction& inst = function_.insts[product.inst];
            operand[inst.args[0].raw] = operand[inst.args[1].raw] = true;
            elsewhere[inst.args[2].raw] = true;
        }
        const auto is_product = [&](InstId id) {
            return std::any_of(products_.begin(), products_.end(), [id](const Product& one) { return one.inst == id; });
        };
        const auto use = [&](ValueId value) { elsewhere[value.raw] = true; };
        for (const BlockId block : function_.layout) {
            for (const InstId id : function_.blocks[block].insts) {
                const Instruction& inst = function_.insts[id];
                const bool changes_shape = inst.op == Op::TileReshape || inst.op == Op::TilePermute;
                if (!changes_shape && !is_product(id)) std::for_each(inst.args.begin(), inst.args.end(), use);
                for (const Target& target : inst.targets) std::for_each(target.args.begin(), target.args.end(), use);
            }
        }
        spread_back(elsewhere);
        spread_back(operand);
        for (const BlockId block : function_.layout) {
            for (const InstId id : function_.blocks[block].insts) {
                const Instruction& inst = function_.insts[id];
                if (inst.op != Op::TileLoad) continue;
                const TileType& type = types_[inst.tile];
                const bool wide = !type.shape.empty() && type.shape.back() * type_bytes(type.element) >= kVectorBytes;
                if (wide && operand[inst.result().raw] && !elsewhere[inst.result().raw]) plan_.copied.insert(id.raw);
            }
        }
    }

    // From what has another shape to what it was made of.
    void spread_back(std::vector<bool>& marked) const {
        for (bool changed = true; changed;) {
            changed = false;
            for (const BlockId block : function_.layout) {
                for (const InstId id : function_.blocks[block].insts) {
                    const Instruction& inst = function_.insts[id];
                    if (inst.op != Op::TileReshape && inst.op != Op::TilePermute) continue;
                    if (!marked[inst.result().raw] || marked[inst.args[0].raw]) continue;
                    marked[inst.args[0].raw] = changed = true;
                }
            }
        }
    }

    const Function& function_;
    const Context& context_;
    const TileTypes& types_;
    std::vector<Product> products_;
    std::uint32_t lanes_ = 1;
    BlockPlan plan_;
};

}  // namespace

TileLayout BlockPlan::home(const Shape& shape) const {
    for (const Product& product : products) {
        if (shape == product.shape) return product.sums;
    }
    for (const Product& product : products) {
        const std::uint32_t rows = product.shape[0], columns = product.shape[1];
        if (shape == Shape{rows, 1} || shape == Shape{rows}) return projected(product.sums, product.shape, {rows, 1});
        if (shape == Shape{1, columns} || shape == Shape{columns}) return projected(product.sums, product.shape, {1, columns});
    }
    return in_memory(shape);
}

BlockPlan plan_block(const Function& function, const Context& context) { return BlockPlanner(function, context).run(); }

}  // namespace ockc::tile
