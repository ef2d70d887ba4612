// The emulated address space. Device memory lives above every address that a host process can own, so that a
// host pointer handed to a kernel by mistake, or a device pointer dereferenced on the host, is always caught.
// Shared, local and param memory have windows of their own in the generic space; inside its own state space
// each is addressed from 0.
#pragma once
#include <cstdint>

namespace ockc::emu {

using DeviceAddress = std::uint64_t;

inline constexpr DeviceAddress kHeapBase = 1ull << 48;  // cuMemAlloc and module variables
inline constexpr DeviceAddress kHeapEnd = 1ull << 52;
inline constexpr DeviceAddress kSharedWindow = 1ull << 53;
inline constexpr DeviceAddress kLocalWindow = kSharedWindow + (1ull << 32);
inline constexpr DeviceAddress kParamWindow = kSharedWindow + (2ull << 32);
inline constexpr std::uint64_t kWindowSize = 1ull << 32;
// Inside the shared window: the own block at 0, the block of rank r in the cluster (also) at (r + 1) strides.
inline constexpr std::uint64_t kClusterStride = 1ull << 24;
inline constexpr std::uint64_t kHeapAlign = 256;  // what the driver gives
inline constexpr std::uint64_t kHeapGap = 4096;   // never mapped, between two allocations

}  // namespace ockc::emu
