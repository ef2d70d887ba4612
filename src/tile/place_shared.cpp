#include "tile/place_shared.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "ir/analysis/loops.hpp"
#include "tile/layout.hpp"

namespace ockc::tile {

using namespace ir;

namespace {

constexpr std::uint64_t kTileAlign = 1024;      // of the widest swizzle
constexpr std::uint64_t kScratchAlign = 128;
constexpr std::uint64_t kPieceAlign = 16;
constexpr std::uint64_t kOneResult = 16;        // of what a block does once

std::uint64_t rounded(std::uint64_t bytes, std::uint64_t align) { return (bytes + align - 1) / align * align; }

// Every warp that has a part of the axis leaves it there, for each lane of the result.
std::uint64_t reduction_need(const TileType& from, const TileType& to, std::uint32_t axis, bool commutes) {
    std::uint64_t parts = 1, rows = 1;
    for (const std::uint32_t basis : from.layout.warps) parts *= axis_index(from.shape, axis, basis) != 0 ? 2 : 1;
    for (const std::uint32_t basis : from.layout.registers) rows *= !commutes && axis_index(from.shape, axis, basis) != 0 ? 2 : 1;
    return parts == 1 ? 0 : to.size() * rows * parts * type_bytes(to.element);
}

// The last lanes of the runs that warps tell apart; 0 when all of the axis is in one warp.
std::uint64_t scan_need(const TileType& tile, std::uint32_t axis) {
    std::uint32_t run = 0;
    for (const std::uint32_t basis : tile.layout.warps) {
        const std::uint32_t step = axis_index(tile.shape, axis, basis);
        if (step != 0 && (run == 0 || step < run)) run = step;
    }
    return run == 0 ? 0 : std::uint64_t{tile.size()} / run * type_bytes(tile.element);
}

// A tile, and a byte for each lane that says whether it is there.
std::uint64_t parts_need(const TileType& tile) {
    return rounded(std::uint64_t{tile.size()} * type_bytes(tile.element), kPieceAlign) + tile.size();
}

bool has_repeated_lanes(const TileLayout& layout) {
    const std::vector<std::uint32_t> bases = thread_bases(layout);
    return std::find(bases.begin(), bases.end(), 0u) != bases.end();
}

std::uint64_t moved_need(const TileType& tile) { return shared_bytes(swizzled(tile.shape, type_bytes(tile.element)), type_bytes(tile.element)); }

struct Allocation {
    InstId inst;
    std::uint64_t bytes = 0, align = 1, offset = 0;
    std::uint32_t begin = 0, end = 0;
};

class Placer {
  public:
    Placer(const Function& function, const Context& context, Placement& placement)
        : function_(function), context_(context), placement_(placement), cfg_(function), dominators_(cfg_), loops_(cfg_, dominators_) {}

    bool run() {
        number();
        find();
        std::stable_sort(allocations_.begin(), allocations_.end(), [](const Allocation& a, const Allocation& b) { return a.bytes > b.bytes; });
        for (std::size_t i = 0; i < allocations_.size(); ++i) place(i);
        return placement_.size <= context_.device.shared_bytes || refuse();
    }

  private:
    struct Range {
        std::uint32_t begin = 0, end = 0;
    };

    // Instructions one after the other; of each loop the first and the last.
    void number() {
        std::uint32_t next = 0;
        for (const BlockId block : cfg_.rpo()) {
            for (const InstId id : function_.blocks[block].insts) {
                position_.set(id, next++);
                home_.set(id, block);
            }
        }
        for (const Loop& loop : loops_.all()) {
            Range range{UINT32_MAX, 0};
            for (const BlockId block : loop.blocks) {
                range.begin = std::min(range.begin, position_[function_.blocks[block].insts.front()]);
                range.end = std::max(range.end, position_[function_.blocks[block].insts.back()]);
            }
            loop_range_.push_back(range);
        }
    }

    // The instruction that made what a tile in shared memory lies in.
    InstId origin(ValueId value) const {
        for (;;) {
            const InstId id = function_.values[value].inst;
            const Op op = function_.insts[id].op;
            if (op != Op::TileSlot && op != Op::TileReshape && op != Op::TilePermute) return id;
            value = function_.insts[id].args[0];
        }
    }

    bool is_shared(ValueId value) const {
        return is_tile(function_.type_of(value)) && function_.values[value].tile.valid() && context_.module.tile_types[function_.values[value].tile].layout.is_shared();
    }

    void find() {
        std::unordered_map<std::uint32_t, std::size_t> by_inst;
        for (const BlockId block : cfg_.rpo()) {
            for (const InstId id : function_.blocks[block].insts) {
                const Instruction& inst = function_.insts[id];
                if (const std::uint64_t bytes = shared_need(context_.module, function_, inst); bytes != 0) {
                    const bool tile = !inst.results.empty() && is_shared(inst.result());
                    by_inst[id.raw] = allocations_.size();
                    allocations_.push_back({id, bytes, tile ? kTileAlign : kScratchAlign, 0, position_[id], position_[id]});
                }
                for (const ValueId arg : inst.args) {
                    if (is_shared(arg)) reach(allocations_[by_inst.at(origin(arg).raw)], block, id);
                }
            }
        }
    }

    void reach(Allocation& allocation, BlockId block, InstId use) const {
        allocation.end = std::max(allocation.end, position_[use]);
        for (LoopId loop = loops_.of(block); loop.valid(); loop = loops_[loop].parent) {
            if (loops_.contains(loop, home_[allocation.inst])) break;
            allocation.begin = std::min(allocation.begin, loop_range_[loop.raw].begin);
            allocation.end = std::max(allocation.end, loop_range_[loop.raw].end);
        }
    }

    // The lowest free bytes, the largest thing first.
    void place(std::size_t index) {
        Allocation& own = allocations_[index];
        for (bool moved = true; moved;) {
            moved = false;
            for (std::size_t i = 0; i < index; ++i) {
                const Allocation& other = allocations_[i];
                const bool together = own.begin <= other.end && other.begin <= own.end;
                const bool overlaps = own.offset < other.offset + other.bytes && other.offset < own.offset + own.bytes;
                if (!together || !overlaps) continue;
                own.offset = rounded(other.offset + other.bytes, own.align);
                moved = true;
            }
        }
        placement_.offsets[own.inst.raw] = own.offset;
        placement_.size = std::max(placement_.size, own.offset + own.bytes);
    }

    bool refuse() const {
        const Instruction& largest = function_.insts[allocations_[0].inst];
        const Span at = user_span(function_, largest);
        context_.sink.error(at, fmt::format("the tiles of this kernel take {} bytes of shared memory; a block has {}", placement_.size, context_.device.shared_bytes))
            .label(at, fmt::format("{} bytes for this alone", allocations_[0].bytes))
            .help("make the tiles smaller; operands of `mma` along the axis that is summed over");
        return false;
    }

    const Function& function_;
    const Context& context_;
    Placement& placement_;
    const Cfg cfg_;
    const Dominators dominators_;
    const Loops loops_;
    SideMap<InstId, std::uint32_t> position_;
    SideMap<InstId, BlockId> home_;
    std::vector<Range> loop_range_;   // by loop
    std::vector<Allocation> allocations_;
};

}  // namespace

std::uint64_t shared_need(const Module& module, const Function& function, const Instruction& inst) {
    const auto type = [&](ValueId value) -> const TileType& { return module.tile_types[function.values[value].tile]; };
    const auto slot = [](const TileType& tile) { return rounded(shared_bytes(tile.layout, type_bytes(tile.element)), kTileAlign); };
    switch (inst.op) {
        case Op::TileRing: return slot(module.tile_types[inst.tile]) * inst.imm;
        case Op::TileConvert: {
            const TileType &from = type(inst.args[0]), &to = type(inst.result());
            if (to.layout.is_shared()) return slot(to);
            const Instruction* def = function.def(inst.args[0]);
            const bool moves = thread_bases(from.layout) != thread_bases(to.layout) && (def == nullptr || def->op != Op::TileSplat);
            return moves ? moved_need(to) : 0;
        }
        case Op::TileReduce: {
            const auto own = static_cast<std::uint32_t>(inst.imm & 0xFFu);
            const auto axis = static_cast<std::uint32_t>(function.def(inst.args[own + 2])->imm);
            return reduction_need(type(inst.args[own + 1]), type(inst.result()), axis, (inst.imm >> 8 & 1u) != 0);
        }
        case Op::TileReducePair: {
            const auto own = static_cast<std::uint32_t>(inst.imm & 0xFFu);
            const auto axis = static_cast<std::uint32_t>(function.def(inst.args[own + 4])->imm);
            std::uint64_t bytes = 0;
            for (const std::uint32_t tile : {own + 2, own + 3}) {
                TileType to = type(inst.result());
                to.element = type(inst.args[tile]).element;
                bytes += rounded(reduction_need(type(inst.args[tile]), to, axis, false), kPieceAlign);
            }
            return bytes;
        }
        case Op::TileScan: {
            const auto own = static_cast<std::uint32_t>(inst.imm & 0xFFu);
            return scan_need(type(inst.result()), static_cast<std::uint32_t>(function.def(inst.args[own + 2])->imm));
        }
        case Op::TileCat: return parts_need(type(inst.result()));
        case Op::TileExtract: return parts_need(type(inst.args[0]));
        case Op::TileEach: return has_repeated_lanes(type(inst.result()).layout) ? moved_need(type(inst.result())) : 0;
        case Op::AtomicLoad:
        case Op::AtomicRmw:
        case Op::AtomicCas:
        case Op::Vprintf: return kOneResult;
        default: return 0;
    }
}

bool place_shared(const Function& function, const Context& context, Placement& placement) {
    return Placer(function, context, placement).run();
}

}  // namespace ockc::tile
