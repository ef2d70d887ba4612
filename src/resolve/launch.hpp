// The launch attributes of a kernel: #[kernel(..)], #[launch_bounds], #[launch_contract], #[cluster_launch], #[cooperative_launch].
#pragma once
#include <span>

#include "resolve/state.hpp"

namespace ockc::resolve {

// Parses and checks them, for everything that needs no types; leaves a hir::LaunchSpec in Program::launches.
// How many types and constants a function is generic over (kernel_instances.cpp).
std::size_t generic_parameters(State& state, DefId fn);
void check_launch_attributes(State& state, DefId fn, std::span<const hir::FnParam> params);

// The value of a number there, or of a constant that a word names; nothing when it is not computed from literals alone.
std::optional<std::uint64_t> launch_number(State& state, std::uint32_t crate, ModuleId module, ast::ExprId value);
std::optional<std::uint64_t> launch_number(State& state, std::uint32_t crate, ModuleId module, ast::PathId constant);

}  // namespace ockc::resolve
