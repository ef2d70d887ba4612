// The lint unused_assignments: values given to variables that nothing reads before they are written over or end.
#pragma once
#include "check/context.hpp"
#include "mir/mir.hpp"

namespace ockc::mir {

void lint_unused_assignments(const Program& program, check::Context& context);

}  // namespace ockc::mir
