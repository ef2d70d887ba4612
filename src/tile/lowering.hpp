// State of the last step for one kernel: every tile value as the registers that a thread has of it, and what is known of
// where the thread stands in a layout.
#pragma once
#include <bit>
#include <functional>
#include <map>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "ir/ir.hpp"
#include "tile/layout.hpp"
#include "tile/limits.hpp"
#include "tile/matrix.hpp"
#include "tile/place_shared.hpp"
#include "tile/tile.hpp"

namespace ockc::tile {

// The thread's index on every axis of a tile in a layout (coordinates.cpp). Made in the entry block, once for each layout.
class Coordinates {
  public:
    explicit Coordinates(ir::Function& function) : function_(function), builder_(function) {}
    // `i32`: what the thread's number contributes to the index on an axis.
    ir::ValueId index(const ir::TileType& type, std::size_t axis);
    // `i32`: what it contributes to the row-major place.
    ir::ValueId place(const ir::TileType& type);
    // `i1`: is this the first of the threads that hold the same lanes? None: no two do.
    ir::ValueId is_first(const ir::TileType& type);
    // `i32`: the exclusive or of contributions[b] over the bits b of the thread's number.
    ir::ValueId combined(const std::vector<std::uint32_t>& contributions);
    // `i1`: bit b of the thread's number; are all bits of a mask 0 (none: the mask is).
    ir::ValueId has_bit(std::uint32_t bit);
    ir::ValueId has_none_of(std::uint32_t mask);
    // Puts what was made in front of the entry block's other instructions.
    void finish();

  private:
    void start();

    ir::Function& function_;
    ir::Builder builder_;
    bool started_ = false;
    ir::BlockId scratch_;                        // what was made so far; never part of the layout
    ir::ValueId thread_;
    std::map<std::vector<std::uint32_t>, ir::ValueId> combined_;
};

// `i32`: the exclusive or of contributions[b] over the bits b of a number (coordinates.cpp).
ir::ValueId combined_bits(ir::Builder& builder, ir::ValueId number, const std::vector<std::uint32_t>& contributions);

class Lowering {
  public:
    Lowering(ir::Function& function, const Context& context, const Placement& placement)
        : function_(function), context_(context), placement_(placement), builder_(function), coordinates_(function), analysis_(function, context.module.tile_types) {}
    void run();

  private:
    friend class FragmentReader;   // lower_matrix.cpp

    // lowering.cpp
    void note_uses(const ir::Instruction& inst);
    void expand_params(ir::BlockId block);
    void begin_limits(ir::BlockId block);
    void expand_argument(ir::ValueId value, ir::ValueId param, std::vector<ir::ValueId>& out);
    void instruction(ir::InstId id);
    void expand_targets(ir::InstId id);
    void change_shape(const ir::Instruction& inst);
    void splat(const ir::Instruction& inst);
    void iota(const ir::Instruction& inst);
    Registers counted(const ir::TileType& type, std::size_t axis);
    bool may_fail(ir::FuncId callee) const;
    void map(const ir::Instruction& inst);
    void select(const ir::Instruction& inst);
    void fill(const ir::Instruction& inst);
    void broadcast(const ir::Instruction& inst);
    void scalar(ir::InstId id);
    const ir::TileType& type_of(ir::ValueId value) const { return context_.module.tile_types[function_.values[value].tile]; }
    Registers& registers(ir::ValueId value) { return registers_[value.raw]; }
    Limits& limits(ir::ValueId value) { return limits_[value.raw]; }

    // limits.cpp
    Limits common_limits(std::span<const ir::ValueId> tiles);
    std::vector<ir::ValueId> broadcast_limits(const Limits& own, const Shape& from, const Shape& to);
    Limits reshape_limits(const Limits& own, const ir::TileType& from, const Shape& to);
    ir::ValueId all_or_nothing(ir::ValueId limit);
    ir::ValueId is_present(const Limits& limits, const ir::TileType& type, std::uint32_t number);
    Registers presence(const Limits& limits, const ir::TileType& type);

    // lower_memory.cpp: a tile's place in a tensor, as this thread sees it.
    struct Access {
        ir::TileType type;
        ir::ValueId base;                         // address of the tensor
        std::vector<ir::ValueId> origin, extents, strides;   // i32 each
        std::vector<ir::ValueId> index;           // origin plus the thread's own part, i32
        std::vector<ir::ValueId> limits;          // of the tile at that place, by axis
        Limits stored;                            // of the tile that is stored
    };
    Access access(const ir::Instruction& inst, const ir::TileType& type, std::uint32_t base, std::uint32_t first);
    ir::ValueId is_inside(const Access& access);
    ir::ValueId is_aligned(const Access& access);
    ir::ValueId offset(const Access& access, std::uint32_t place);
    ir::ValueId exists(const Access& access, std::uint32_t number);
    ir::ValueId row_pointer(const Access& access, std::uint32_t place, std::map<std::uint32_t, ir::ValueId>& rows);
    ir::MemoryInfo wide(const Access& access, std::uint32_t bytes) const;
    std::uint32_t word_lanes(const Access& access) const;
    ir::ValueId part_of(ir::ValueId word, std::uint32_t bit, ir::Type element);
    ir::ValueId word_of(std::span<const ir::ValueId> parts);
    Registers load_whole(const Access& access);
    Registers load_edge(const Access& access);
    void store_whole(const Access& access, const Registers& values);
    void store_edge(const Access& access, const Registers& values, ir::BlockId after);
    void load(const ir::Instruction& inst);
    void store(const ir::Instruction& inst);

    // lower_reduce.cpp: what is folded is one value for each lane, or a pair.
    using Lane = SmallVec<ir::ValueId, 2>;
    using Lanes = std::vector<Lane>;              // by register
    struct Reduction {
        ir::FuncId callee;                        // none: the disjunction of truth values
        std::vector<ir::ValueId> same;            // the callee's own operands
        Lane identity;
        std::vector<ir::ValueId> tiles;
        std::vector<ir::Type> elements;
        std::uint32_t axis = 0;
        bool commutes = false;
        bool swapped = false;                     // of a pair's results the second comes first
        ir::TileType from, to;
    };
    Reduction reduction(const ir::Instruction& inst);
    Lane fold(const Reduction& reduction, const Lane& a, const Lane& b);
    Lane chosen(ir::ValueId which, const Lane& yes, const Lane& no);
    Lanes present_values(const Reduction& reduction);
    std::uint32_t thread_step(const Reduction& reduction) const;
    void reduce_registers(const Reduction& reduction, std::uint32_t below, std::vector<std::uint32_t>& bases, Lanes& values);
    ir::ValueId moved_word(ir::ValueId value, const std::function<ir::ValueId(ir::ValueId word)>& move);
    Lane from_lane(const Lane& value, std::uint32_t mask);
    void reduce_lanes(const Reduction& reduction, Lanes& values);
    void reduce_warps(const Reduction& reduction, const std::vector<std::uint32_t>& registers_left, Lanes& values);
    void reduce_values(const Reduction& reduction, Lanes& values);
    Limits reduced_limits(const Reduction& reduction);
    void reduce(const ir::Instruction& inst);

    // lower_scan.cpp
    struct Scan;
    void scan(const ir::Instruction& inst);
    void scan_warp(const Scan& scan, Registers& values);
    void scan_block(const Scan& scan, Registers& values);

    // lower_effects.cpp: what a block does once, however many threads it has.
    void find_effects();
    void once(ir::InstId id);
    void each(const ir::Instruction& inst);
    ir::ValueId each_lane(const ir::Instruction& inst, std::uint32_t number, ir::ValueId there);

    // lower_parts.cpp: tiles put together and taken apart.
    struct Parts {
        ir::TileType type;                        // of the whole, row-major in shared memory
        ir::ValueId at, present_at;               // its lanes, and whether they exist; none: they do
    };
    void put_part(const Parts& parts, ir::ValueId tile, const Shape& shape, std::uint32_t offset);
    void take_part(const Parts& parts, ir::ValueId offset, ir::ValueId result);
    ir::ValueId shared_lane(ir::ValueId at, const std::vector<std::uint32_t>& bases, std::uint32_t place, ir::ValueId offset, std::uint32_t bytes);
    void cat(const ir::Instruction& inst);
    void extract(const ir::Instruction& inst);

    // lower_mma.cpp
    void mma(const ir::Instruction& inst);
    void scalar_step(const ir::Instruction& inst, ir::ValueId step, std::uint32_t depth, Registers& sums);

    // lower_matrix.cpp
    void matrix_product(const ir::Instruction& inst, const MatrixForm& form);
    WarpGrid warp_grid(const MatrixForm& form, const ir::TileType& sums) const;
    static std::uint32_t count_fragments(const ir::TileType& sums, std::size_t axis, std::uint32_t fragment, std::uint32_t warp_bits);
    Registers packed_sums(const Registers& values, std::uint32_t together);

    // lower_convert.cpp
    void convert(const ir::Instruction& inst);
    Registers moved(const ir::TileType& from, const ir::TileType& to, const Registers& values);
    void through_shared(const ir::TileType& from, const ir::TileType& to, const Registers& values, Registers& out);

    // lower_shared.cpp
    void make_shared_memory();
    ir::ValueId shared_memory(ir::InstId inst);
    ir::ValueId shared_buffer(std::uint64_t bytes);
    ir::ValueId scratch() { return shared_memory(current_); }   // of the instruction that is being lowered
    void slot(const ir::Instruction& inst);
    std::uint32_t neighbours(const ir::TileType& type, const TileLayout& shared) const;
    bool thread_clear_of(const ir::TileType& type, std::uint32_t low) const;
    void store_shared(const ir::TileType& type, const TileLayout& shared, ir::ValueId base, const Registers& values);
    void store_once(const ir::TileType& type, const TileLayout& shared, ir::ValueId base, const Registers& values);
    Registers load_shared(const ir::TileType& type, const TileLayout& shared, ir::ValueId base);
    Registers present_or_zero(ir::ValueId tile);
    ir::ValueId own_offset(const Access& access);
    ir::ValueId next_row(const Access& access, ir::ValueId pointer, std::uint32_t from, std::uint32_t to);
    ir::ValueId piece_bytes(const Access& access, std::uint32_t place);
    void copy_pieces(const Access& access, const TileLayout& shared, ir::ValueId to, bool is_edge);
    void copy_elements(const Access& access, const TileLayout& shared, ir::ValueId to, ir::BlockId after);
    void copy(const ir::Instruction& inst);
    std::uint32_t warp_bits() const { return static_cast<std::uint32_t>(std::countr_zero(function_.facts.block[0])) - kLaneBits; }

    ir::ValueId i32(std::uint32_t value) { return builder_.const_int(ir::Type::I32, value); }
    ir::ValueId zero(ir::Type type) { return ir::is_float(type) ? builder_.const_float(type, 0) : builder_.const_int(type, 0); }
    ir::ValueId i64(std::int64_t value) { return builder_.const_int(ir::Type::I64, static_cast<std::uint64_t>(value)); }
    ir::ValueId widen(ir::ValueId value) { return builder_.convert(ir::Op::Sext, ir::Type::I64, value); }

    ir::Function& function_;
    const Context& context_;
    const Placement& placement_;
    ir::Builder builder_;
    Coordinates coordinates_;
    LimitAnalysis analysis_;
    std::vector<Registers> registers_;            // by value
    std::vector<Limits> limits_;                  // by value
    std::vector<std::vector<ir::ValueId>> params_;   // by block: as they were
    ir::GlobalId shared_;
    ir::InstId current_;
    std::vector<std::uint64_t> needs_;            // by instruction
    std::uint64_t need_ = 0;                      // bytes of shared memory that it was said to pass through
    struct Paired {                               // the last paired reduction: its other result costs nothing
        ir::BlockId block;
        ir::FuncId callee;
        std::vector<ir::ValueId> args;
        Lanes values;
    } paired_;
    ir::BlockId at_;                              // the block as it was, whose instructions are being lowered
    std::vector<bool> used_;                      // by value: by an instruction as they were
    std::set<std::uint32_t> once_, ordered_;      // instructions: done by one thread; behind a barrier
};

}  // namespace ockc::tile
