// The first half of name resolution: all crates loaded and their names bound; nothing lowered.
#pragma once
#include "resolve/state.hpp"

namespace ockc::resolve {

void load_crates(State& state);
// Imports and item macros, by fixpoint.
void link_names(State& state);

}  // namespace ockc::resolve
