// Floats of the four IR formats as sign, exponent and whole-number mantissa, with one rounding function for
// all of them.
#pragma once
#include <cstdint>

#include "ir/ir.hpp"
#include "opt/const_fold.hpp"

namespace ockc::opt {

struct FloatFormat {
    std::uint32_t bits;
    std::uint32_t mantissa_bits;  // stored ones
    std::int32_t bias;
};
FloatFormat float_format(ir::Type type);

enum class FloatKind : std::uint8_t { Zero, Finite, Infinite, Nan };

// A finite number is mantissa * 2^exponent.
struct Unpacked {
    FloatKind kind = FloatKind::Zero;
    bool negative = false;
    Uint128 mantissa = 0;
    std::int32_t exponent = 0;
};
Unpacked unpack(ir::Type type, std::uint64_t bits);
// Rounds to nearest even. `inexact` says that the number is a little larger in magnitude than the mantissa
// tells. A NaN must not be passed.
std::uint64_t pack(ir::Type type, const Unpacked& number, bool inexact = false);

}  // namespace ockc::opt
