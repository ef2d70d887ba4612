// The borrow checker: verdicts about MIR, never a change to it. In: mir bodies and what check knows about their items.
// Out: diagnostics in the sink. docs/mir.md has the algorithm; facts.hpp the tables that later checks may read.
#pragma once
#include "check/context.hpp"
#include "mir/mir.hpp"

namespace ockc::borrowck {

// Checks one body that was built without errors. False when errors were reported.
bool check_body(const mir::Body& body, const mir::Program& program, check::Context& context);

// Checks the lifetimes of the user's impl methods against their traits'. False when errors were reported.
bool check_impl_signatures(check::Context& context);

// Checks all bodies of the user's crate and those of the library that were built, in order. False when errors were reported.
bool check(const mir::Program& program, check::Context& context);

}  // namespace ockc::borrowck
