// Computes pure operations on constants, bit for bit as the device does. Nothing is returned where the
// device's bits are not known: division by zero, float results that are NaN (its payload is the hardware's),
// min and max of zeros of different sign.
#pragma once
#include <optional>
#include <span>

#include "ir/ir.hpp"
#include "opt/edit.hpp"

namespace ockc::opt {

__extension__ typedef unsigned __int128 Uint128;
__extension__ typedef __int128 Int128;

inline Uint128 wide(Constant c) {
    return (static_cast<Uint128>(c.high) << 64) | c.low;
}
inline Constant narrow(Uint128 v) {
    return {static_cast<std::uint64_t>(v), static_cast<std::uint64_t>(v >> 64)};
}
// The value as a signed number of `bits` bits, and cut to `bits` bits.
Int128 sign_extend(Uint128 value, std::uint32_t bits);
Uint128 cut(Uint128 value, std::uint32_t bits);

// `operand` is the type of the first operand (conversions; else the instruction's own).
std::optional<Constant> fold(const ir::Instruction& inst, ir::Type operand, std::span<const Constant> args);
bool fold_icmp(ir::IntCond cond, std::uint32_t bits, Constant a, Constant b);

}  // namespace ockc::opt
