// Counted limits of what the compiler takes in. More is an error, never a crash or a hang.
#pragma once
#include <cstdint>

namespace ockc::driver {

inline constexpr std::uint64_t kMaxSourceBytes = 64ull << 20;   // of one file
inline constexpr std::uint64_t kMaxArrayBytes = 16ull << 30;    // of one .npy file

}  // namespace ockc::driver
