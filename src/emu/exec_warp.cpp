// Operations between the lanes of a warp. Lanes that name different masks form groups of their own.
#include <fmt/format.h>

#include <algorithm>

#include "emu/isa.hpp"
#include "emu/machine.hpp"

namespace ockc::emu {
namespace {

using ptx::Form;
using ptx::Mode;
using ptx::Type;
using U32 = std::uint32_t;
using U64 = std::uint64_t;

// All the lanes named by the active ones.
U32 members_of(Warp& warp, Slot masks) {
    const U32* mask = warp.lanes<U32>(masks);
    U32 members = 0;
    for (U32 lanes = warp.active; lanes != 0; lanes &= lanes - 1)
        members |= mask[__builtin_ctz(lanes)];
    return members;
}

// Under OCK_EMULATOR_CHECK=sync: every lane must be in the mask that it names.
bool named(Warp& warp, const Op& op, Slot masks) {
    if (!warp.worker->launch->options->check_sync) [[likely]]
        return true;
    const U32* mask = warp.lanes<U32>(masks);
    for (U32 lanes = warp.active; lanes != 0; lanes &= lanes - 1) {
        const U32 lane = static_cast<U32>(__builtin_ctz(lanes));
        if (((mask[lane] >> lane) & 1) != 0) continue;
        fault(warp, op, ErrorKind::LaunchFailed, lane,
              fmt::format("lane {} is not in the mask {:#x} that it names", lane, mask[lane]));
        return false;
    }
    return true;
}

// Waits until all named lanes are here; then calls `body(group)` for each set of lanes with one mask.
template <class Body>
const Op* in_groups(const Op& op, Warp& warp, Slot masks, Body body) {
    const Op* next = nullptr;
    if (!named(warp, op, masks)) return nullptr;
    if (!converged(warp, op, members_of(warp, masks), next)) return next;
    const U32* mask = warp.lanes<U32>(masks);
    U32 left = warp.active;
    while (left != 0) {
        const U32 common = mask[__builtin_ctz(left)];
        U32 group = 0;
        for (U32 lanes = left; lanes != 0; lanes &= lanes - 1) {
            const U32 lane = static_cast<U32>(__builtin_ctz(lanes));
            if (mask[lane] == common) group |= 1u << lane;
        }
        left &= ~group;
        body(group);
    }
    return &op + 1;
}
template <class Each>
void each_lane(U32 lanes, Each each) {
    for (; lanes != 0; lanes &= lanes - 1)
        each(static_cast<U32>(__builtin_ctz(lanes)));
}
void assign(Warp& warp, Slot slot, U32 lanes, U32 values) {
    if (slot == kNoSlot) return;
    U32& out = warp.predicate(slot);
    out = (out & ~lanes) | (values & lanes);
}

struct Source {
    U32 lane;
    bool in_range;
};
Source shuffle_source(Mode mode, U32 lane, U32 b, U32 c) {
    const U32 segment = (c >> 8) & 31;
    const U32 last = (lane & segment) | (c & 31 & ~segment);
    const U32 first = lane & segment;
    const U32 amount = b & 31;
    switch (mode) {
        case Mode::Up: {
            const int from = static_cast<int>(lane) - static_cast<int>(amount);
            const bool in = from >= static_cast<int>(last);
            return {in ? static_cast<U32>(from) : lane, in};
        }
        case Mode::Down: return lane + amount <= last ? Source{lane + amount, true} : Source{lane, false};
        case Mode::Bfly: return (lane ^ amount) <= last ? Source{lane ^ amount, true} : Source{lane, false};
        case Mode::Idx: {
            const U32 from = first | (amount & ~segment);
            return from <= last ? Source{from, true} : Source{lane, false};
        }
        default: return {lane, false};
    }
}
const Op* run_shuffle(const Op& op, Warp& warp) {
    return in_groups(op, warp, op.source[3], [&](U32 group) {
        U32 before[kLanes];
        std::copy_n(warp.lanes<U32>(op.source[0]), kLanes, before);
        const U32* b = warp.lanes<U32>(op.source[1]);
        const U32* c = warp.lanes<U32>(op.source[2]);
        U32* out = warp.lanes<U32>(op.dest);
        U32 in_range = 0;
        each_lane(group, [&](U32 lane) {
            const Source from = shuffle_source(op.mode, lane, b[lane], c[lane]);
            out[lane] = before[from.lane];
            in_range |= (from.in_range ? 1u : 0u) << lane;
        });
        assign(warp, op.dest2, group, in_range);
    });
}

const Op* run_vote(const Op& op, Warp& warp) {
    return in_groups(op, warp, op.source[1], [&](U32 group) {
        const U32 yes = (warp.predicate(op.source[0]) ^ op.flip) & group;
        const bool result = op.mode == Mode::All   ? yes == group
                            : op.mode == Mode::Any ? yes != 0
                                                   : yes == group || yes == 0;
        assign(warp, op.dest, group, result ? kAllLanes : 0);
    });
}
const Op* run_ballot(const Op& op, Warp& warp) {
    return in_groups(op, warp, op.source[1], [&](U32 group) {
        const U32 yes = (warp.predicate(op.source[0]) ^ op.flip) & group;
        each_lane(group, [&](U32 lane) { warp.lanes<U32>(op.dest)[lane] = yes; });
    });
}

template <class T>
const Op* run_match_any(const Op& op, Warp& warp) {
    return in_groups(op, warp, op.source[1], [&](U32 group) {
        T value[kLanes];
        std::copy_n(warp.lanes<T>(op.source[0]), kLanes, value);
        each_lane(group, [&](U32 lane) {
            U32 equal = 0;
            each_lane(group, [&](U32 other) { equal |= (value[other] == value[lane] ? 1u : 0u) << other; });
            warp.lanes<U32>(op.dest)[lane] = equal;
        });
    });
}
template <class T>
const Op* run_match_all(const Op& op, Warp& warp) {
    return in_groups(op, warp, op.source[1], [&](U32 group) {
        const T* value = warp.lanes<T>(op.source[0]);
        const T first = value[__builtin_ctz(group)];
        bool equal = true;
        each_lane(group, [&](U32 lane) { equal = equal && value[lane] == first; });
        each_lane(group, [&](U32 lane) { warp.lanes<U32>(op.dest)[lane] = equal ? group : 0; });
        assign(warp, op.dest2, group, equal ? kAllLanes : 0);
    });
}

U32 reduce(const Op& op, U32 a, U32 b) {
    const bool is_signed = op.type == Type::S32;
    const bool less = is_signed ? static_cast<std::int32_t>(a) < static_cast<std::int32_t>(b) : a < b;
    switch (op.mode) {
        case Mode::Add: return a + b;
        case Mode::Min: return less ? a : b;
        case Mode::Max: return less ? b : a;
        case Mode::And: return a & b;
        case Mode::Or: return a | b;
        case Mode::Xor: return a ^ b;
        default: return a;
    }
}
const Op* run_redux(const Op& op, Warp& warp) {
    return in_groups(op, warp, op.source[1], [&](U32 group) {
        const U32* value = warp.lanes<U32>(op.source[0]);
        U32 result = value[__builtin_ctz(group)];
        each_lane(group & (group - 1), [&](U32 lane) { result = reduce(op, result, value[lane]); });
        each_lane(group, [&](U32 lane) { warp.lanes<U32>(op.dest)[lane] = result; });
    });
}

const Op* run_activemask(const Op& op, Warp& warp) {
    each_lane(warp.active, [&](U32 lane) { warp.lanes<U32>(op.dest)[lane] = warp.active; });
    return &op + 1;
}
const Op* run_elect(const Op& op, Warp& warp) {
    return in_groups(op, warp, op.source[0], [&](U32 group) {
        const U32 leader = static_cast<U32>(__builtin_ctz(group));
        if (op.dest != kNoSlot) each_lane(group, [&](U32 lane) { warp.lanes<U32>(op.dest)[lane] = leader; });
        assign(warp, op.dest2, group, 1u << leader);
    });
}

Handlers both(Handler handler) {
    return {handler, handler};
}

}  // namespace

Handlers select_warp_op(const Request& request) {
    const bool wide = request.mods.type == Type::B64;
    switch (request.form) {
        case Form::Shfl: return both(run_shuffle);
        case Form::Vote: return both(run_vote);
        case Form::VoteBallot: return both(run_ballot);
        case Form::MatchAny: return both(wide ? run_match_any<U64> : run_match_any<U32>);
        case Form::MatchAll: return both(wide ? run_match_all<U64> : run_match_all<U32>);
        case Form::Redux:
        case Form::ReduxLogic: return both(run_redux);
        case Form::Activemask: return both(run_activemask);
        case Form::Elect: return both(run_elect);
        default: return {};
    }
}

}  // namespace ockc::emu
