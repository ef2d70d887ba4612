// One value converted from any scalar type to any other: the rules of cvt in one place. exec_convert.cpp has
// the common conversions as lane code and hands the rest to run_convert.
#pragma once
#include <cstdint>

#include "emu/op.hpp"

namespace ockc::emu {

struct Conversion {
    ptx::Type to = ptx::Type::None;
    ptx::Type from = ptx::Type::None;
    ptx::Round round = ptx::Round::None;
    bool ftz = false;
    bool sat = false;
};

// `raw` holds the source in its low bits; the result is zero- or sign-extended to 64 bits as its type asks.
std::uint64_t convert(const Conversion& conversion, std::uint64_t raw);

const Op* run_convert(const Op& op, Warp& warp);
const Op* run_convert_pack(const Op& op, Warp& warp);
const Op* run_convert_pack_relu(const Op& op, Warp& warp);

// fp8.cpp: pairs of fp8 from f32 and f16, and back.
Handler fp8_handler(ptx::Form form, const ptx::Mods& mods);

}  // namespace ockc::emu
