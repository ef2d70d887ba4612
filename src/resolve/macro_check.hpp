// What is wrong with a macro_rules definition itself, called or not: rules of the wrong form, names bound twice, repetitions
// without end, fragments followed by what may one day belong to them.
#pragma once
#include "resolve/state.hpp"

namespace ockc::resolve {

// Reports it; the macro then expands to nothing, in silence.
void check_macro_definition(State& state, DefId macro);

}  // namespace ockc::resolve
