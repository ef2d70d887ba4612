// The launch attributes of a kernel: #[kernel(..)], #[launch_bounds], #[launch_contract], #[cluster_launch], #[cooperative_launch].
#pragma once
#include <span>

#include "resolve/state.hpp"

namespace ockc::resolve {

// Parses and checks them, for everything that needs no types; leaves a hir::LaunchSpec in Program::launches.
void check_launch_attributes(State& state, DefId fn, std::span<const hir::FnParam> params);

}  // namespace ockc::resolve
