// Special registers. Clocks are the host's; everything else follows from the launch.
#include <chrono>

#include "emu/isa.hpp"
#include "emu/machine.hpp"

namespace ockc::emu {
namespace {

using ptx::Special;
using U32 = std::uint32_t;
using U64 = std::uint64_t;

U64 nanoseconds() {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    return static_cast<U64>(std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
}
U64 ticks() {
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    return static_cast<U64>(std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
}

// The registers that differ between lanes.
const U32* thread_coordinate(const Warp& warp, Special special) {
    switch (special) {
        case Special::TidX: return warp.tid[0];
        case Special::TidY: return warp.tid[1];
        case Special::TidZ: return warp.tid[2];
        default: return nullptr;
    }
}
bool lane_value(Special special, U32 lane, U32& value) {
    const U32 bit = 1u << lane;
    switch (special) {
        case Special::Laneid: value = lane; return true;
        case Special::LanemaskEq: value = bit; return true;
        case Special::LanemaskLt: value = bit - 1; return true;
        case Special::LanemaskLe: value = bit | (bit - 1); return true;
        case Special::LanemaskGe: value = ~(bit - 1); return true;
        case Special::LanemaskGt: value = ~(bit | (bit - 1)); return true;
        default: return false;
    }
}

U64 common_value(const Warp& warp, Special special) {
    const Launch& launch = *warp.worker->launch;
    const Dim3 index = warp.block->index;
    switch (special) {
        case Special::TidX:
        case Special::TidY:
        case Special::TidZ:
        case Special::Laneid:
        case Special::LanemaskEq:
        case Special::LanemaskLe:
        case Special::LanemaskLt:
        case Special::LanemaskGe:
        case Special::LanemaskGt: return 0;  // of each lane
        case Special::NtidX: return launch.block.x;
        case Special::NtidY: return launch.block.y;
        case Special::NtidZ: return launch.block.z;
        case Special::CtaidX: return index.x;
        case Special::ClusteridX: return index.x / launch.cluster.x;
        case Special::CtaidY: return index.y;
        case Special::ClusteridY: return index.y / launch.cluster.y;
        case Special::CtaidZ: return index.z;
        case Special::ClusteridZ: return index.z / launch.cluster.z;
        case Special::NctaidX: return launch.grid.x;
        case Special::NclusteridX: return launch.grid.x / launch.cluster.x;
        case Special::NctaidY: return launch.grid.y;
        case Special::NclusteridY: return launch.grid.y / launch.cluster.y;
        case Special::NctaidZ: return launch.grid.z;
        case Special::NclusteridZ: return launch.grid.z / launch.cluster.z;
        case Special::Warpid: return warp.index;
        case Special::Nwarpid: return warp.block->warps.size();
        case Special::Smid: return warp.block->linear % kMultiprocessors;
        case Special::Nsmid: return kMultiprocessors;
        case Special::Gridid: return launch.serial;
        case Special::Clock:
        case Special::Clock64: return ticks();
        case Special::ClockHi: return ticks() >> 32;
        case Special::Globaltimer:
        case Special::GlobaltimerLo: return nanoseconds();
        case Special::GlobaltimerHi: return nanoseconds() >> 32;
        case Special::DynamicSmemSize: return launch.dynamic_shared_bytes;
        case Special::TotalSmemSize: return launch.shared_bytes;
        case Special::Envreg1: return launch.workspace >> 32;
        case Special::Envreg2: return launch.workspace;
        case Special::ClusterCtaidX: return index.x % launch.cluster.x;
        case Special::ClusterCtaidY: return index.y % launch.cluster.y;
        case Special::ClusterCtaidZ: return index.z % launch.cluster.z;
        case Special::ClusterCtarank: return warp.block->cluster_rank;
        case Special::ClusterNctaidX: return launch.cluster.x;
        case Special::ClusterNctaidY: return launch.cluster.y;
        case Special::ClusterNctaidZ: return launch.cluster.z;
        case Special::ClusterNctarank: return launch.cluster_blocks;
    }
    return 0;
}

template <class T>
const Op* run_special(const Op& op, Warp& warp) {
    const auto special = static_cast<Special>(op.index);
    T values[kLanes];
    U32 own = 0;
    if (const U32* coordinate = thread_coordinate(warp, special); coordinate != nullptr) {
        for (U32 lane = 0; lane < kLanes; ++lane)
            values[lane] = static_cast<T>(coordinate[lane]);
    } else if (lane_value(special, 0, own)) {
        for (U32 lane = 0; lane < kLanes; ++lane) {
            lane_value(special, lane, own);
            values[lane] = static_cast<T>(own);
        }
    } else {
        const T common = static_cast<T>(common_value(warp, special));
        for (T& value : values)
            value = common;
    }
    T* out = warp.lanes<T>(op.dest);
    for (U32 lane = 0; lane < kLanes; ++lane) {
        if (((warp.active >> lane) & 1) != 0) out[lane] = values[lane];
    }
    return &op + 1;
}

}  // namespace

Handlers select_special(const Request& request) {
    const Handler handler = request.dest_bytes == 8 ? run_special<U64> : run_special<U32>;
    return {handler, handler};
}

}  // namespace ockc::emu
