// rustc's deny-by-default lints on MIR: `arithmetic_overflow` and `unconditional_panic`.
#pragma once
#include "check/context.hpp"
#include "mir/mir.hpp"

namespace ockc::mir {

// Reports operations of the body that are known to overflow or to fail whenever they run. False when there is one. `order`: the
// reverse post-order of its blocks.
bool lint_known_panics(const Body& body, check::Context& context, std::span<const std::uint32_t> order);

}  // namespace ockc::mir
