// Rules about the form of items that the grammar leaves open, as rustc checks them after parsing: visibilities where none may
// stand, patterns and `self` in the wrong functions, the order of generic parameters, modifiers that no stable Rust has.
// Patterns, types and bounds inside items are judged where they are lowered.
#pragma once
#include "resolve/state.hpp"

namespace ockc::resolve {

// Reports what is wrong with an item of the user's; `def` is any kind that Lowerer::item takes.
void validate_item(State& state, DefId def);

// `pub`, `unsafe mod` ..: for items that are never lowered.
void validate_module(State& state, const ast::Item& item);

}  // namespace ockc::resolve
