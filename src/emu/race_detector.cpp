#include "emu/race_detector.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "emu/shadow.hpp"

namespace ockc::emu {
namespace {

void join(std::vector<std::uint32_t>& into, const std::vector<std::uint32_t>& from) {
    for (std::size_t i = 0; i < into.size(); ++i)
        into[i] = std::max(into[i], from[i]);
}
std::string thread_text(const Launch& launch, std::uint32_t thread) {
    return fmt::format("({},{},{})", thread % launch.block.x, thread / launch.block.x % launch.block.y,
                       thread / launch.block.x / launch.block.y);
}
std::string block_text(const Launch& launch, std::uint64_t block) {
    return fmt::format("({},{},{})", block % launch.grid.x, block / launch.grid.x % launch.grid.y,
                       block / launch.grid.x / launch.grid.y);
}

}  // namespace

RaceDetector::RaceDetector(const Launch& launch) : launch_(launch), grain_(launch.program->smallest_access) {}

void RaceDetector::start_block(const Block& block) {
    if (!launch_.cooperative) blocks_.clear();  // blocks come one after the other
    BlockState& state = state_of(block.linear);
    const std::size_t warps = block.warps.size();
    state.warps.assign(warps, Clocks(warps, 0));
    for (std::size_t i = 0; i < warps; ++i)
        state.warps[i][i] = 1;
    state.barriers.assign(kBarriers, Clocks(warps, 0));
    state.shared.assign(block.shared_bytes / grain_ + 1, Cell{});
    state.shared_written.assign(block.shared_bytes, false);
    state.released = 1;
    state.seen.clear();
}

void RaceDetector::arrive(const Warp& warp, std::uint32_t barrier) {
    BlockState& state = state_of(warp.block->linear);
    join(state.barriers[barrier], state.warps[warp.index]);
    ++state.warps[warp.index][warp.index];
}
void RaceDetector::leave(const Warp& warp, std::uint32_t barrier) {
    BlockState& state = state_of(warp.block->linear);
    join(state.warps[warp.index], state.barriers[barrier]);
}
void RaceDetector::barrier_done(const Block& block, std::uint32_t barrier) {
    Clocks& clocks = state_of(block.linear).barriers[barrier];
    std::fill(clocks.begin(), clocks.end(), 0);
}
void RaceDetector::warp_barrier(const Warp& warp) {
    ++state_of(warp.block->linear).warps[warp.index][warp.index];
}

RaceDetector::BlockState& RaceDetector::state_of(std::uint64_t block) {
    if (last_state_ == nullptr || last_block_ != block) {
        last_state_ = &blocks_[block];  // a map's elements stay where they are
        last_block_ = block;
    }
    return *last_state_;
}

const Allocation* RaceDetector::allocation_of(std::uint64_t address) {
    if (last_allocation_ == nullptr || !last_allocation_->contains(address, 1)) {
        last_allocation_ = launch_.memory->find(address);
        last_cells_ = nullptr;
    }
    return last_allocation_;
}

RaceDetector::Cell& RaceDetector::global_cell(const Allocation& allocation, std::uint64_t address) {
    if (last_cells_ == nullptr || &allocation != last_allocation_) {
        last_cells_ = &global_[allocation.base];
        if (last_cells_->empty()) last_cells_->resize(allocation.size / grain_ + 1);
    }
    return (*last_cells_)[(address - allocation.base) / grain_];
}

void RaceDetector::order_blocks(BlockState& state, std::uint32_t block, std::uint64_t address) {
    Release& release = releases_[address];
    for (const auto& [other, clock] : release.blocks) {
        Clock& seen = state.seen[other];
        seen = std::max(seen, clock);
    }
    for (const auto& [other, clock] : state.seen) {
        Clock& known = release.blocks[other];
        known = std::max(known, clock);
    }
    release.blocks[block] = state.released++;
}

bool RaceDetector::ordered(const BlockState& state, const Access& before, const Access& now,
                           bool shared) const {
    if (before.clock == 0) return true;
    if (before.block != now.block) {
        if (shared) return true;  // another block's shared memory
        const auto seen = state.seen.find(before.block);
        return seen != state.seen.end() && seen->second >= before.release;
    }
    if (before.thread == now.thread) return true;
    const std::uint32_t from = before.thread / kLanes;
    const std::uint32_t to = now.thread / kLanes;
    // In one warp only a barrier between the two orders them; between warps, what has come over by barriers.
    if (from == to) return before.clock < state.warps[to][to];
    return before.clock <= state.warps[to][from];
}

const Op* RaceDetector::report(Warp& warp, const Op& op, const Access& before, bool before_writes,
                               bool shared, std::uint64_t at, std::uint32_t lane, bool write) {
    const Op& other = launch_.program->ops[before.op];
    const std::string where =
        shared ? fmt::format("shared memory byte {}", at) : fmt::format("global memory at {:#x}", at);
    std::string what = fmt::format(
        "data race on {}: this thread {} it, and thread {} of block {} {} it at {}, with nothing to order "
        "the two",
        where, write ? "writes" : "reads", thread_text(launch_, before.thread),
        block_text(launch_, before.block), before_writes ? "writes" : "reads",
        place_of(*launch_.program, other));
    return fault(warp, op, ErrorKind::LaunchFailed, lane, std::move(what), at);
}

bool RaceDetector::check_race(Warp& warp, const Op& op, Cell& cell, const Access& now, bool shared,
                              std::uint64_t at, std::uint32_t lane, bool write) {
    const BlockState& state = state_of(warp.block->linear);
    if (!(now.atomic && cell.writer.atomic) && !ordered(state, cell.writer, now, shared)) {
        report(warp, op, cell.writer, true, shared, at, lane, write);
        return false;
    }
    if (!write) {
        Access& slot = ordered(state, cell.readers[0], now, shared) ? cell.readers[0] : cell.readers[1];
        slot = now;
        return true;
    }
    for (const Access& reader : cell.readers) {
        if ((now.atomic && reader.atomic) || ordered(state, reader, now, shared)) continue;
        report(warp, op, reader, false, shared, at, lane, write);
        return false;
    }
    cell.writer = now;
    cell.readers[0] = cell.readers[1] = Access{};
    return true;
}

bool RaceDetector::check_uninit(Warp& warp, const Op& op, BlockState& state, bool shared, std::uint64_t at,
                                std::uint32_t lane, bool write) {
    const std::uint32_t bytes = op.access_bytes;
    if (shared) {
        for (std::uint32_t i = 0; i < bytes; ++i) {
            if (write)
                state.shared_written[at + i] = true;
            else if (!state.shared_written[at + i]) {
                fault(
                    warp, op, ErrorKind::LaunchFailed, lane,
                    fmt::format("uninitialised read: nothing has written shared memory byte {} in this block",
                                at + i),
                    at + i);
                return false;
            }
        }
        return true;
    }
    const Allocation* allocation = allocation_of(at);
    if (allocation == nullptr || allocation->shadow == nullptr) return true;
    if (write) {
        allocation->shadow->mark_initialised(at - allocation->base, bytes);
        return true;
    }
    if (allocation->shadow->initialised(at - allocation->base, bytes)) return true;
    fault(warp, op, ErrorKind::LaunchFailed, lane,
          fmt::format("uninitialised read: nothing has written byte {} of {} #{}", at - allocation->base,
                      memory_kind_name(allocation->kind), allocation->serial),
          at);
    return false;
}

bool RaceDetector::access(Warp& warp, const Op& op, bool shared, std::uint64_t at, std::uint32_t lane,
                          bool write, bool atomic) {
    BlockState& state = state_of(warp.block->linear);
    const Options& options = *launch_.options;
    // An atomic update reads before it writes.
    if (options.check_uninit && atomic && write && op.dest != kNoSlot &&
        !check_uninit(warp, op, state, shared, at, lane, false))
        return false;
    if (options.check_uninit && !check_uninit(warp, op, state, shared, at, lane, write)) return false;
    if (!options.check_races) return true;
    const auto block = static_cast<std::uint32_t>(warp.block->linear);
    if (!shared && atomic) order_blocks(state, block, at);
    Access now;
    now.op = launch_.program->index_of(op);
    now.block = block;
    now.thread = static_cast<std::uint16_t>(warp.index * kLanes + lane);
    now.atomic = atomic;
    now.clock = state.warps[warp.index][warp.index];
    now.release = state.released;
    const Allocation* allocation = shared ? nullptr : allocation_of(at);
    for (std::uint64_t offset = 0; offset < op.access_bytes; offset += grain_) {
        Cell& cell = shared ? state.shared[(at + offset) / grain_] : global_cell(*allocation, at + offset);
        if (!check_race(warp, op, cell, now, shared, at + offset, lane, write)) return false;
    }
    return true;
}

}  // namespace ockc::emu
