// OCK_EMULATOR_CHECK=races,uninit. For every cell of shared and global memory the last writer and two
// readers, each with the time at which it happened; two accesses of different threads race when one is a
// plain write, or a plain read against a write, and neither happened before the other.
//
// Time is a vector clock per warp (FastTrack's epochs, at warp grain): a barrier joins the clocks of those
// that arrive into those that wait, bar.warp.sync advances the warp's own. Between blocks, an atomic access
// releases what its block did before to the next atomic access of the same cell; nothing else orders blocks.
// Cells are as wide as the program's smallest access. A launch under these checks runs on one host thread.
#pragma once
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "emu/machine.hpp"

namespace ockc::emu {

class RaceDetector {
  public:
    explicit RaceDetector(const Launch& launch);

    void start_block(const Block& block);
    // The warp arrives at a barrier; later, what it joined is passed on to a warp that is let go.
    void arrive(const Warp& warp, std::uint32_t barrier);
    void leave(const Warp& warp, std::uint32_t barrier);
    void barrier_done(const Block& block, std::uint32_t barrier);
    void warp_barrier(const Warp& warp);

    // One lane's access of op.access_bytes at an offset of shared memory or a global address; false after a
    // report.
    bool access(Warp& warp, const Op& op, bool shared, std::uint64_t at, std::uint32_t lane, bool write,
                bool atomic);

  private:
    using Clock = std::uint32_t;
    using Clocks = std::vector<Clock>;  // by warp of the block
    struct Access {
        std::uint32_t op = 0;
        std::uint32_t block = 0;
        Clock clock = 0;    // of the warp; 0: no access
        Clock release = 0;  // of the block: its `released` at the time
        std::uint16_t thread = 0;
        bool atomic = false;
    };
    struct Cell {
        Access writer;
        Access readers[2];
    };
    struct BlockState {
        std::vector<Clocks> warps;
        std::vector<Clocks> barriers;  // what arrivals have brought
        std::vector<Cell> shared;
        std::vector<bool> shared_written;  // by byte
        Clock released = 1;                // advances with every atomic access to global memory
        std::unordered_map<std::uint32_t, Clock>
            seen;  // of other blocks: their `released` when they released to this one
    };
    struct Release {
        std::unordered_map<std::uint32_t, Clock> blocks;
    };

    bool check_uninit(Warp& warp, const Op& op, BlockState& state, bool shared, std::uint64_t at,
                      std::uint32_t lane, bool write);
    bool check_race(Warp& warp, const Op& op, Cell& cell, const Access& now, bool shared, std::uint64_t at,
                    std::uint32_t lane, bool write);
    bool ordered(const BlockState& state, const Access& before, const Access& now, bool shared) const;
    const Op* report(Warp& warp, const Op& op, const Access& before, bool before_writes, bool shared,
                     std::uint64_t at, std::uint32_t lane, bool write);
    void order_blocks(BlockState& state, std::uint32_t block, std::uint64_t address);
    BlockState& state_of(std::uint64_t block);
    const Allocation* allocation_of(std::uint64_t address);
    Cell& global_cell(const Allocation& allocation, std::uint64_t address);

    const Launch& launch_;
    std::uint32_t grain_;
    std::unordered_map<std::uint64_t, BlockState> blocks_;         // those that run, by linear number
    std::unordered_map<std::uint64_t, std::vector<Cell>> global_;  // by allocation
    // What the last access looked up: accesses come in runs.
    BlockState* last_state_ = nullptr;
    std::uint64_t last_block_ = 0;
    const Allocation* last_allocation_ = nullptr;
    std::vector<Cell>* last_cells_ = nullptr;              // of last_allocation_
    std::unordered_map<std::uint64_t, Release> releases_;  // by address of an atomic
};

}  // namespace ockc::emu
