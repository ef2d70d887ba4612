// Block and warp barriers, and fences.
#include <fmt/format.h>

#include <atomic>

#include "emu/isa.hpp"
#include "emu/machine.hpp"
#include "emu/race_detector.hpp"

namespace ockc::emu {
namespace {

using ptx::Form;

std::uint32_t first_lane(const Warp& warp) {
    return static_cast<std::uint32_t>(__builtin_ctz(warp.active));
}

// A barrier's number and count are read from the first lane: they are the same in all.
std::uint32_t value_of(Warp& warp, Slot slot) {
    return slot == kNoSlot ? 0 : warp.lanes<std::uint32_t>(slot)[first_lane(warp)];
}

// Under OCK_EMULATOR_CHECK=sync the lanes of a warp must come to an aligned barrier together.
bool aligned(Warp& warp, const Op& op) {
    const std::uint32_t elsewhere = ~(warp.active | warp.exited);
    if (elsewhere == 0 || !warp.worker->launch->options->check_sync) [[likely]]
        return true;
    fault(warp, op, ErrorKind::LaunchFailed, first_lane(warp),
          fmt::format("divergent barrier: {} of the warp's threads come to it while {} are elsewhere",
                      warp.active_count, __builtin_popcount(elsewhere)));
    return false;
}

const Op* run_bar_sync(const Op& op, Warp& warp) {
    if (!aligned(warp, op)) return nullptr;
    return wait_at_barrier(warp, op, value_of(warp, op.source[0]), value_of(warp, op.source[1]), 0);
}
const Op* run_barrier_sync(const Op& op, Warp& warp) {
    return wait_at_barrier(warp, op, value_of(warp, op.source[0]), value_of(warp, op.source[1]), 0);
}
const Op* run_bar_arrive(const Op& op, Warp& warp) {
    if (!aligned(warp, op)) return nullptr;
    return arrive_at_barrier(warp, op, value_of(warp, op.source[0]), value_of(warp, op.source[1]));
}
const Op* run_bar_red(const Op& op, Warp& warp) {
    if (!aligned(warp, op)) return nullptr;
    const std::uint32_t ones = warp.predicate(op.source[2]) ^ op.flip;
    return wait_at_barrier(warp, op, value_of(warp, op.source[0]), value_of(warp, op.source[1]), ones);
}
const Op* run_bar_warp(const Op& op, Warp& warp) {
    std::uint32_t members = 0;
    const std::uint32_t* masks = warp.lanes<std::uint32_t>(op.source[0]);
    for (std::uint32_t lanes = warp.active; lanes != 0; lanes &= lanes - 1)
        members |= masks[__builtin_ctz(lanes)];
    return sync_lanes(warp, op, members);
}
const Op* run_fence(const Op& op, Warp&) {
    std::atomic_thread_fence(std::memory_order_seq_cst);
    return &op + 1;
}

Handlers both(Handler handler) {
    return {handler, handler};
}

}  // namespace

Handlers select_barrier(const Request& request) {
    switch (request.form) {
        case Form::BarSync: return both(run_bar_sync);
        case Form::BarArrive: return both(run_bar_arrive);
        case Form::BarRedPopc:
        case Form::BarRed: return both(run_bar_red);
        case Form::Barrier: return both(run_barrier_sync);
        case Form::BarWarpSync: return both(run_bar_warp);
        case Form::Membar:
        case Form::Fence: return both(run_fence);
        default: return {};
    }
}

}  // namespace ockc::emu
