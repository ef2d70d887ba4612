// What copies that the hardware does on its own have in common (exec_async.cpp, exec_tensor.cpp).
#pragma once
#include <cstddef>
#include <cstdint>

#include "emu/machine.hpp"

namespace ockc::emu {

// Tells the race detector of the bytes that a lane's copy touches; false after a report.
bool watch_bytes(Warp& warp, const Op& op, bool shared, std::uint64_t at, std::uint32_t bytes, std::uint32_t lane, bool write);

// The mbarrier at that place hears of bytes.
void bytes_have_come(std::byte* barrier, std::uint32_t bytes);

}  // namespace ockc::emu
