// Memory off the fast path: which space a generic address is in, whether the access is allowed there, and
// what to say if it is not.
#include <fmt/format.h>

#include "emu/machine.hpp"
#include "emu/race_detector.hpp"
#include "support/check.hpp"

namespace ockc::emu {
namespace {

using ptx::Space;

// A state space with the offset of an address in it.
struct Located {
    Space space = Space::Global;
    std::uint64_t offset = 0;
};

Located locate(const Op& op, std::uint64_t address) {
    switch (op.space) {
        case Space::Shared:
        case Space::SharedCluster: return {Space::Shared, address};
        case Space::Local: return {Space::Local, address};
        case Space::Param: return {Space::Param, address};
        case Space::Global:
        case Space::Const: return {Space::Global, address};
        case Space::None: break;
    }
    if (address - kSharedWindow < kWindowSize) return {Space::Shared, address - kSharedWindow};
    if (address - kLocalWindow < kWindowSize) return {Space::Local, address - kLocalWindow};
    if (address - kParamWindow < kWindowSize) return {Space::Param, address - kParamWindow};
    return {Space::Global, address};
}

std::string_view verb(bool write) {
    return write ? "writes" : "reads";
}

std::string nearest_text(const NearestAllocation& near) {
    using Relation = NearestAllocation::Relation;
    if (near.relation == Relation::None) return "no memory is allocated";
    const Allocation& a = near.allocation;
    const std::string name = a.name.empty() ? fmt::format("#{}", a.serial) : fmt::format("`{}`", a.name);
    const std::string what =
        fmt::format("{} {} of {} bytes at {:#x}", memory_kind_name(a.kind), name, a.size, a.base);
    switch (near.relation) {
        case Relation::Inside: return fmt::format("it starts at byte {} of {}", near.distance, what);
        case Relation::Past: return fmt::format("it is {} bytes past the end of {}", near.distance, what);
        case Relation::Before: return fmt::format("it is {} bytes before {}", near.distance, what);
        case Relation::Freed:
            return fmt::format("it is byte {} of {}, which has been freed", near.distance, what);
        case Relation::None: break;
    }
    OCKC_UNREACHABLE("relation to an allocation");
}

std::string outside_text(Warp& warp, Located at, std::uint32_t bytes) {
    const Launch& launch = *warp.worker->launch;
    switch (at.space) {
        case Space::Shared:
            if (at.offset >= kClusterStride)
                return fmt::format("block {} of a cluster of {}, whose blocks have {} bytes of shared memory", at.offset / kClusterStride - 1,
                                   warp.block->cluster->blocks.size(), warp.block->shared_bytes);
            return fmt::format("the block has {} bytes of shared memory", warp.block->shared_bytes);
        case Space::Local:
            return fmt::format("the thread has {} bytes of local memory", launch.program->local_bytes);
        case Space::Param:
            return fmt::format("the kernel has {} bytes of parameters", launch.program->param_bytes);
        case Space::Global:
        case Space::Const:
        case Space::SharedCluster:
        case Space::None: break;
    }
    const Allocation* found = launch.memory->find(at.offset);
    if (found != nullptr && found->contains(at.offset, bytes)) {
        return fmt::format("constant variable `{}` cannot be written", found->name);
    }
    return nearest_text(launch.memory->nearest(at.offset));
}

const Op* out_of_bounds(Warp& warp, const Op& op, std::uint64_t address, std::uint32_t lane,
                        std::uint32_t bytes, bool write) {
    const Located at = locate(op, address);
    const std::string_view space =
        at.space == Space::Global ? std::string_view("global") : ptx::text(at.space);
    std::string what =
        fmt::format("illegal address: {} {} bytes of {} memory at {:#x}", verb(write), bytes, space, address);
    what += "\n  " + outside_text(warp, at, bytes);
    return fault(warp, op, ErrorKind::IllegalAddress, lane, std::move(what), address);
}

const Op* misaligned(Warp& warp, const Op& op, std::uint64_t address, std::uint32_t lane, std::uint32_t bytes,
                     bool write) {
    return fault(warp, op, ErrorKind::Misaligned, lane,
                 fmt::format("misaligned address: {} {} bytes at {:#x}, which is not a multiple of {}",
                             verb(write), bytes, address, bytes),
                 address);
}

}  // namespace

std::byte* shared_place(Warp& warp, std::uint64_t offset, std::uint32_t bytes) {
    const std::uint64_t window = offset / kClusterStride, within = offset % kClusterStride;
    const std::vector<Block*>& blocks = warp.block->cluster->blocks;
    if (window > blocks.size()) return nullptr;
    const Block& block = window == 0 ? *warp.block : *blocks[window - 1];
    return bytes <= block.shared_bytes && within <= block.shared_bytes - bytes ? block.shared + within : nullptr;
}

std::uint64_t lane_address(Warp& warp, const Op& op, std::uint32_t lane) {
    const std::uint64_t base = op.address_bytes == 8 ? warp.lanes<std::uint64_t>(op.source[0])[lane]
                                                     : warp.lanes<std::uint32_t>(op.source[0])[lane];
    return op.address_bytes == 8 ? base + op.imm : static_cast<std::uint32_t>(base + op.imm);
}

bool open_window(Warp& warp, const Op& op, Window& window, std::uint64_t address, std::uint32_t lane,
                 bool write) {
    const std::uint32_t bytes = op.access_bytes;
    if (address % bytes != 0) {
        misaligned(warp, op, address, lane, bytes, write);
        return false;
    }
    const Located at = locate(op, address);
    if (at.space == Space::Global) {
        const Allocation* found = warp.worker->launch->memory->find(address);
        if (found != nullptr && found->contains(address, bytes) &&
            !(write && found->kind == MemoryKind::Constant)) {
            window = {found->base, found->size - bytes + 1, found->host,
                      !write || found->kind != MemoryKind::Constant, found};
            return true;
        }
    }
    out_of_bounds(warp, op, address, lane, bytes, write);
    return false;
}

std::byte* resolve(Warp& warp, const Op& op, std::uint64_t address, std::uint32_t lane, std::uint32_t bytes,
                   bool write) {
    if (address % bytes != 0) {
        misaligned(warp, op, address, lane, bytes, write);
        return nullptr;
    }
    const Located at = locate(op, address);
    Launch& launch = *warp.worker->launch;
    const auto inside = [&](std::uint64_t size) { return bytes <= size && at.offset <= size - bytes; };
    switch (at.space) {
        case Space::Shared:
            if (std::byte* place = shared_place(warp, at.offset, bytes)) return place;
            break;
        case Space::Local: {
            const std::uint32_t stride = launch.program->local_bytes;
            if (inside(stride)) return warp.local + std::size_t{lane} * stride + at.offset;
            break;
        }
        case Space::Param:
            // Kernel parameters are constant: a launch's workers share one block of them.
            if (!write && inside(launch.program->param_bytes))
                return const_cast<std::byte*>(launch.params) + at.offset;
            break;
        case Space::Global:
        case Space::Const:
        case Space::SharedCluster:
        case Space::None: {
            Window& window = warp.worker->windows[op.site];
            if (address - window.base < window.span) return window.host + (address - window.base);
            if (!open_window(warp, op, window, address, lane, write)) return nullptr;
            return window.host + (address - window.base);
        }
    }
    out_of_bounds(warp, op, address, lane, bytes, write);
    return nullptr;
}

const Op* bad_access(Warp& warp, const Op& op, std::uint64_t address, std::uint32_t lane, bool write) {
    if (address % op.access_bytes != 0) return misaligned(warp, op, address, lane, op.access_bytes, write);
    return out_of_bounds(warp, op, address, lane, op.access_bytes, write);
}

bool address_in_space(Warp& warp, std::uint64_t address, Space space) {
    const auto in = [address](std::uint64_t window) { return address - window < kWindowSize; };
    switch (space) {
        case Space::Shared:
        case Space::SharedCluster: return in(kSharedWindow);
        case Space::Local: return in(kLocalWindow);
        case Space::Param: return in(kParamWindow);
        case Space::Global:
            return !in(kSharedWindow) && !in(kLocalWindow) && !in(kParamWindow) &&
                   !address_in_space(warp, address, Space::Const);
        case Space::Const: {
            const Allocation* found = warp.worker->launch->memory->find(address);
            return found != nullptr && found->kind == MemoryKind::Constant;
        }
        case Space::None: return false;
    }
    return false;
}

bool watch_access(Warp& warp, const Op& op, bool write, bool atomic) {
    RaceDetector* detector = warp.worker->detector;
    for (std::uint32_t lanes = warp.active; lanes != 0; lanes &= lanes - 1) {
        const auto lane = static_cast<std::uint32_t>(__builtin_ctz(lanes));
        const std::uint64_t address = lane_address(warp, op, lane);
        const Located at = locate(op, address);
        if (at.space != Space::Shared && at.space != Space::Global) continue;
        if (at.space == Space::Shared && at.offset >= kClusterStride) continue;  // another block's: not watched
        if (!detector->access(warp, op, at.space == Space::Shared, at.offset, lane, write, atomic))
            return false;
    }
    return true;
}

}  // namespace ockc::emu
