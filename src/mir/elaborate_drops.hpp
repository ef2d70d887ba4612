// Drops as they are executed. In: a body whose Drop terminators say "if it still holds a value". Out: the same body, where a
// Drop is always of a whole, initialised place: drops of moved values are gone, partly moved ones became drops of the parts,
// and where only the way taken tells, a boolean drop flag does. Runs after the borrow checker, which wants the former.
#pragma once
#include "check/context.hpp"
#include "mir/mir.hpp"

namespace ockc::mir {

void elaborate_drops(Program& program, check::Context& context, Body& body);
// All bodies of the program.
void elaborate_drops(Program& program, check::Context& context);

}  // namespace ockc::mir
