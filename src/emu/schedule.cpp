// Divergence, reconvergence, calls and barriers: which lanes of a warp run next. See machine.hpp for the
// scheme.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "emu/machine.hpp"
#include "emu/race_detector.hpp"
#include "support/check.hpp"

namespace ockc::emu {
namespace {

struct Place {
    std::uint32_t frame;
    Rank rank;
    const Op* pc;
};

// The place in frame `frame`'s caller where the call stands.
Place caller(const Warp& warp, std::uint32_t frame) {
    const Frame& f = warp.frames[frame];
    return {f.parent, f.rank, f.call};
}

// Does `a` run before `b`? Compared in the innermost frame that both share; of two places in one block the
// earlier goes first, and a lane in front of a call before one inside it.
bool runs_before(const Warp& warp, Place a, Place b) {
    bool a_inside = false;
    while (a.frame != b.frame) {
        if (warp.frames[a.frame].depth >= warp.frames[b.frame].depth) {
            a = caller(warp, a.frame);
            a_inside = true;
        } else {
            b = caller(warp, b.frame);
        }
    }
    if (a.rank != b.rank) return a.rank < b.rank;
    if (a.pc != b.pc) return a.pc < b.pc;
    return !a_inside;
}

// The lowest rank in the running lanes' frame at which they must let `waiting` go first.
Rank limit_by(const Warp& warp, const Split& waiting) {
    if (waiting.frame == warp.frame) return waiting.rank;
    Place place{waiting.frame, waiting.rank, waiting.pc};
    const std::uint32_t depth = warp.frames[warp.frame].depth;
    while (warp.frames[place.frame].depth > depth)
        place = caller(warp, place.frame);
    return place.frame == warp.frame ? place.rank + 1 : kNoLimit;
}

void remove_split(Warp& warp, std::uint32_t at) {
    warp.splits[at] = warp.splits[--warp.split_count];
}

Split& add_ready(Warp& warp, const Op* pc, Rank rank, std::uint32_t mask) {
    for (std::uint32_t i = 0; i < warp.split_count; ++i) {
        Split& other = warp.splits[i];
        if (other.state == Split::State::Ready && other.pc == pc && other.frame == warp.frame &&
            other.rank == rank) {
            other.mask |= mask;
            return other;
        }
    }
    OCKC_DCHECK(warp.split_count < kLanes);
    Split& split = warp.splits[warp.split_count++];
    split = {pc, rank, warp.frame, mask, Split::State::Ready, 0, nullptr, 0, 0};
    return split;
}

Split& add_waiting(Warp& warp, const Op* pc, Rank rank, Split::State state, const Op* at) {
    OCKC_DCHECK(warp.split_count < kLanes);
    Split& split = warp.splits[warp.split_count++];
    split = {pc, rank, warp.frame, warp.active, state, 0, at, 0, 0};
    return split;
}

// Lets go the lanes that wait for each other, where all that were named have come or ended.
bool release_converged(Warp& warp) {
    std::uint32_t synced = 0;
    for (std::uint32_t i = 0; i < warp.split_count; ++i) {
        if (warp.splits[i].state == Split::State::WarpSync) synced |= warp.splits[i].mask;
    }
    bool any = false;
    for (std::uint32_t i = 0; i < warp.split_count; ++i) {
        Split& split = warp.splits[i];
        std::uint32_t here = synced;
        if (split.state == Split::State::Converge) {
            here = 0;
            for (std::uint32_t j = 0; j < warp.split_count; ++j) {
                const Split& other = warp.splits[j];
                if (other.state != Split::State::Barrier && other.pc == split.pc &&
                    other.frame == split.frame)
                    here |= other.mask;
            }
        } else if (split.state != Split::State::WarpSync) {
            continue;
        }
        if ((split.members & ~warp.exited & ~here) != 0) continue;
        split.state = Split::State::Ready;
        any = true;
    }
    return any;
}

// The split that runs next: the first in program order or, after a turn that ran out, the one that has waited
// longest, because lanes may wait in a loop for what others do.
std::uint32_t first_ready(const Warp& warp) {
    std::uint32_t best = kLanes;
    for (std::uint32_t i = 0; i < warp.split_count; ++i) {
        const Split& split = warp.splits[i];
        if (split.state != Split::State::Ready) continue;
        if (best == kLanes) {
            best = i;
            continue;
        }
        const Split& other = warp.splits[best];
        const bool before = warp.rotate ? split.stamp < other.stamp
                                        : runs_before(warp, {split.frame, split.rank, split.pc},
                                                      {other.frame, other.rank, other.pc});
        if (before) best = i;
    }
    return best;
}

void set_limit(Warp& warp) {
    warp.limit = kNoLimit;
    if (warp.rotate) return;  // a turn out of order lasts until it runs out
    for (std::uint32_t i = 0; i < warp.split_count; ++i) {
        if (warp.splits[i].state == Split::State::Ready)
            warp.limit = std::min(warp.limit, limit_by(warp, warp.splits[i]));
    }
}

void copy_params(Warp& warp, const std::vector<ParamCopy>& copies) {
    const std::uint32_t stride = warp.worker->program->local_bytes;
    for (std::uint32_t lanes = warp.active; lanes != 0; lanes &= lanes - 1) {
        std::byte* local = warp.local + static_cast<std::size_t>(__builtin_ctz(lanes)) * stride;
        for (const ParamCopy& copy : copies)
            std::memcpy(local + copy.to, local + copy.from, copy.bytes);
    }
}

std::uint32_t frame_of_call(Warp& warp, const Op& op) {
    for (std::uint32_t i = 1; i < warp.frames.size(); ++i) {
        if (warp.frames[i].call == &op && warp.frames[i].parent == warp.frame) return i;
    }
    const Rank rank = warp.worker->program->origin(op).rank;
    warp.frames.push_back({warp.frame, &op, rank, warp.frames[warp.frame].depth + 1});
    return static_cast<std::uint32_t>(warp.frames.size() - 1);
}

void release_cluster_if_complete(Cluster& cluster) {
    std::uint32_t expected = 0;
    for (const Block* block : cluster.blocks)
        expected += block->live_threads;
    if (cluster.arrived == 0 || cluster.arrived < expected) return;
    cluster.arrived = 0;
    ++cluster.phase;
    for (Block* block : cluster.blocks) {
        for (Warp* warp : block->warps) {
            for (std::uint32_t i = 0; i < warp->split_count; ++i) {
                if (warp->splits[i].state == Split::State::Cluster) warp->splits[i].state = Split::State::Ready;
            }
        }
    }
}

// Gives a bar.red its result in the lanes of a split that is let go.
void write_reduction(Warp& warp, const Split& split, const BarrierState& barrier) {
    const Op& op = *split.waiting_at;
    if (op.dest == kNoSlot) return;
    if (op.mode == ptx::Mode::None) {
        auto* out = warp.lanes<std::uint32_t>(op.dest);
        for (std::uint32_t lanes = split.mask; lanes != 0; lanes &= lanes - 1)
            out[__builtin_ctz(lanes)] = barrier.ones;
        return;
    }
    const bool result = op.mode == ptx::Mode::And ? barrier.ones == barrier.voters : barrier.ones != 0;
    std::uint32_t& out = warp.predicate(op.dest);
    out = result ? out | split.mask : out & ~split.mask;
}

void release_if_complete(Block& block, std::uint32_t number) {
    BarrierState& barrier = block.barriers[number];
    const std::uint32_t expected = barrier.expected != 0 ? barrier.expected : block.live_threads;
    if (barrier.arrived == 0 || barrier.arrived < expected) return;
    RaceDetector* detector = block.warps.front()->worker->detector;
    for (Warp* warp : block.warps) {
        for (std::uint32_t i = 0; i < warp->split_count; ++i) {
            Split& split = warp->splits[i];
            if (split.state != Split::State::Barrier || split.barrier != number) continue;
            write_reduction(*warp, split, barrier);
            split.state = Split::State::Ready;
            if (detector != nullptr) detector->leave(*warp, number);
        }
    }
    if (detector != nullptr) detector->barrier_done(block, number);
    barrier = {};
}

// Books the active lanes' arrival; false after reporting a wrong use.
bool book_arrival(Warp& warp, const Op& op, std::uint32_t number, std::uint32_t expected) {
    const std::uint32_t lane = static_cast<std::uint32_t>(__builtin_ctz(warp.active));
    if (number >= kBarriers) {
        fault(warp, op, ErrorKind::LaunchFailed, lane,
              fmt::format("there is no barrier {}: they are numbered 0 to 15", number));
        return false;
    }
    if (expected % kLanes != 0 || expected > 1024) {
        fault(warp, op, ErrorKind::LaunchFailed, lane,
              fmt::format("a barrier for {} threads: must be a multiple of 32", expected));
        return false;
    }
    BarrierState& barrier = warp.block->barriers[number];
    if (barrier.arrived != 0 && barrier.expected != expected) {
        fault(warp, op, ErrorKind::LaunchFailed, lane,
              fmt::format("barrier {} for {} threads, but others wait at it for {}", number, expected,
                          barrier.expected));
        return false;
    }
    if (RaceDetector* detector = warp.worker->detector; detector != nullptr) detector->arrive(warp, number);
    barrier.expected = expected;
    barrier.arrived += warp.active_count;
    if (expected == 0) return true;
    // A count is in whole warps: lanes that have ended count with the last of their warp to arrive.
    std::uint32_t elsewhere = ~(warp.active | warp.exited);
    for (std::uint32_t i = 0; i < warp.split_count; ++i) {
        if (warp.splits[i].state == Split::State::Barrier && warp.splits[i].barrier == number)
            elsewhere &= ~warp.splits[i].mask;
    }
    if (elsewhere == 0) barrier.arrived += static_cast<std::uint32_t>(__builtin_popcount(warp.exited));
    return true;
}

}  // namespace

const Op* pick_split(Warp& warp) {
    std::uint32_t at = first_ready(warp);
    if (at == kLanes && release_converged(warp)) at = first_ready(warp);
    if (at == kLanes) {
        warp.active = 0;
        warp.stop = warp.split_count == 0 ? Stop::Finished : Stop::Blocked;
        return nullptr;
    }
    const Split chosen = warp.splits[at];
    std::uint32_t mask = 0;
    for (std::uint32_t i = 0; i < warp.split_count;) {
        const Split& split = warp.splits[i];
        if (split.state == Split::State::Ready && split.pc == chosen.pc && split.frame == chosen.frame &&
            split.rank == chosen.rank) {
            mask |= split.mask;
            remove_split(warp, i);
        } else {
            ++i;
        }
    }
    warp.frame = chosen.frame;
    set_limit(warp);
    warp.rotate = false;
    if (mask != warp.active) warp.set_active(mask);
    return chosen.pc;
}

const Op* reschedule(Warp& warp, const Op* pc, Rank rank) {
    add_ready(warp, pc, rank, warp.active);
    return pick_split(warp);
}

void suspend(Warp& warp, const Op* pc) {
    add_ready(warp, pc, warp.worker->program->origin(*pc).rank, warp.active).stamp = ++warp.turns;
    warp.rotate = true;
}

const Op* diverge(Warp& warp, const Op& op, std::uint32_t taken) {
    Split low{op.target, op.target_rank, warp.frame, taken, Split::State::Ready, 0, nullptr, 0, 0};
    Split high{&op + 1, op.next_rank, warp.frame, warp.active & ~taken, Split::State::Ready, 0, nullptr, 0,
               0};
    if (high.rank < low.rank) std::swap(low, high);
    add_ready(warp, high.pc, high.rank, high.mask);
    warp.limit = std::min(warp.limit, high.rank);
    if (low.rank < warp.limit) {
        warp.set_active(low.mask);
        return low.pc;
    }
    add_ready(warp, low.pc, low.rank, low.mask);
    return pick_split(warp);
}

const Op* exit_lanes(Warp& warp, const Op&) {
    warp.exited |= warp.active;
    Block& block = *warp.block;
    block.live_threads -= warp.active_count;
    for (std::uint32_t number = 0; number < kBarriers; ++number) {
        if (block.barriers[number].arrived != 0) release_if_complete(block, number);
    }
    Cluster& cluster = *block.cluster;
    for (std::uint32_t lanes = warp.active; lanes != 0 && cluster.arrived != 0; lanes &= lanes - 1) {
        if (warp.cluster_phase[__builtin_ctz(lanes)] == cluster.phase + 1) --cluster.arrived;
    }
    release_cluster_if_complete(cluster);
    return pick_split(warp);
}

const Op* call_function(Warp& warp, const Op& op) {
    const CallSite& site = warp.worker->program->calls[op.index];
    copy_params(warp, site.arguments);
    warp.frame = frame_of_call(warp, op);
    return reschedule(warp, site.entry, 0);
}

const Op* return_from_function(Warp& warp, const Op& op) {
    if (warp.frame == 0) return exit_lanes(warp, op);
    const Frame& frame = warp.frames[warp.frame];
    const Op& call = *frame.call;
    copy_params(warp, warp.worker->program->calls[call.index].results);
    warp.frame = frame.parent;
    return reschedule(warp, &call + 1, call.next_rank);
}

const Op* wait_at_barrier(Warp& warp, const Op& op, std::uint32_t number, std::uint32_t expected,
                          std::uint32_t ones) {
    if (!book_arrival(warp, op, number, expected)) return nullptr;
    BarrierState& barrier = warp.block->barriers[number];
    barrier.ones += static_cast<std::uint32_t>(__builtin_popcount(ones & warp.active));
    barrier.voters += warp.active_count;
    add_waiting(warp, &op + 1, op.next_rank, Split::State::Barrier, &op).barrier =
        static_cast<std::uint8_t>(number);
    release_if_complete(*warp.block, number);
    return pick_split(warp);
}

const Op* arrive_at_barrier(Warp& warp, const Op& op, std::uint32_t number, std::uint32_t expected) {
    if (!book_arrival(warp, op, number, expected)) return nullptr;
    release_if_complete(*warp.block, number);
    return &op + 1;
}

void arrive_at_cluster(Warp& warp) {
    Cluster& cluster = *warp.block->cluster;
    for (std::uint32_t lanes = warp.active; lanes != 0; lanes &= lanes - 1)
        warp.cluster_phase[__builtin_ctz(lanes)] = cluster.phase + 1;
    cluster.arrived += warp.active_count;
    release_cluster_if_complete(cluster);
}

const Op* wait_for_cluster(Warp& warp, const Op& op) {
    std::uint32_t early = 0;  // lanes whose phase is not complete
    for (std::uint32_t lanes = warp.active; lanes != 0; lanes &= lanes - 1) {
        const auto lane = static_cast<std::uint32_t>(__builtin_ctz(lanes));
        if (warp.cluster_phase[lane] > warp.block->cluster->phase) early |= 1u << lane;
    }
    if (early == 0) return reschedule(warp, &op + 1, op.next_rank);
    if (early != warp.active) {
        add_ready(warp, &op + 1, op.next_rank, warp.active & ~early);
        warp.set_active(early);
    }
    add_waiting(warp, &op + 1, op.next_rank, Split::State::Cluster, &op);
    return pick_split(warp);
}

bool converged(Warp& warp, const Op& op, std::uint32_t members, const Op*& next) {
    if ((members & ~warp.exited & ~warp.active) == 0) [[likely]]
        return true;
    const Rank rank = warp.worker->program->origin(op).rank;
    add_waiting(warp, &op, rank, Split::State::Converge, &op).members = members;
    next = pick_split(warp);
    return false;
}

const Op* sync_lanes(Warp& warp, const Op& op, std::uint32_t members) {
    if (RaceDetector* detector = warp.worker->detector; detector != nullptr) detector->warp_barrier(warp);
    if ((members & ~warp.exited & ~warp.active) == 0) return &op + 1;
    add_waiting(warp, &op + 1, op.next_rank, Split::State::WarpSync, &op).members = members;
    return pick_split(warp);
}

}  // namespace ockc::emu
