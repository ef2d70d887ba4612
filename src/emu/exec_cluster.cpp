// Clusters: addresses in the shared memory of the other blocks, and the barrier of all of them. All blocks of a cluster run on
// one host thread.
#include "emu/isa.hpp"
#include "emu/machine.hpp"

namespace ockc::emu {
namespace {

using ptx::Form;
using ptx::Space;
using U32 = std::uint32_t;
using U64 = std::uint64_t;

Handlers cluster_handlers(Handler handler) {
    return {handler, handler};
}

// The offset in the shared window that `rank`'s copy of an address has.
U64 mapped_offset(U64 offset, U32 rank) {
    return (U64{rank} + 1) * kClusterStride + (offset & (kClusterStride - 1));
}

template <class Address>
const Op* run_mapa(const Op& op, Warp& warp) {
    const U64 base = op.space == Space::SharedCluster ? 0 : kSharedWindow;
    const Address* from = warp.lanes<Address>(op.source[0]);
    const U32* rank = warp.lanes<U32>(op.source[1]);
    Address* to = warp.lanes<Address>(op.dest);
    for (U32 lanes = warp.active; lanes != 0; lanes &= lanes - 1) {
        const auto lane = static_cast<U32>(__builtin_ctz(lanes));
        to[lane] = static_cast<Address>(base + mapped_offset(from[lane] - base, rank[lane]));
    }
    return &op + 1;
}

template <class Address>
const Op* run_getctarank(const Op& op, Warp& warp) {
    const U64 base = op.space == Space::SharedCluster ? 0 : kSharedWindow;
    const Address* from = warp.lanes<Address>(op.source[0]);
    U32* to = warp.lanes<U32>(op.dest);
    for (U32 lanes = warp.active; lanes != 0; lanes &= lanes - 1) {
        const auto lane = static_cast<U32>(__builtin_ctz(lanes));
        const U64 window = (from[lane] - base) / kClusterStride;
        to[lane] = window == 0 ? warp.block->cluster_rank : static_cast<U32>(window - 1);
    }
    return &op + 1;
}

const Op* run_cluster_arrive(const Op& op, Warp& warp) {
    arrive_at_cluster(warp);
    return &op + 1;
}
const Op* run_cluster_wait(const Op& op, Warp& warp) {
    return wait_for_cluster(warp, op);
}

}  // namespace

Handlers select_cluster(const Request& request) {
    switch (request.form) {
        case Form::Mapa: return request.dest_bytes == 8 ? cluster_handlers(run_mapa<U64>) : cluster_handlers(run_mapa<U32>);
        case Form::Getctarank: return request.source_bytes == 8 ? cluster_handlers(run_getctarank<U64>) : cluster_handlers(run_getctarank<U32>);
        case Form::ClusterArrive: return cluster_handlers(run_cluster_arrive);
        case Form::ClusterWait: return cluster_handlers(run_cluster_wait);
        default: return {};
    }
}

}  // namespace ockc::emu
