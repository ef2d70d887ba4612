// rustc's everyday warnings about programs without errors: what nothing uses, and names that are written against the custom.
// In: the program and its type tables. Out: lints (diag/lints.def) in the sink, at the levels that hold where they are found.
//   unused.cpp   variables, results that must be used, statements without effect
//   dead.cpp     items, fields and variants that nothing reaches
//   imports.cpp  imports
//   names.cpp    snake_case, UpperCamelCase, UPPER_CASE
#pragma once
#include "check/context.hpp"
#include "hir/hir.hpp"

namespace ockc::lints {

// All of them; call it once the borrow checker is content.
void run(const hir::Program& program, check::Context& context);

// One kind each, in the order above.
void check_unused(const hir::Program& program, check::Context& context);
void check_dead_code(const hir::Program& program, check::Context& context);
void check_imports(const hir::Program& program, check::Context& context);
void check_names(const hir::Program& program, check::Context& context);

// Written by the user, not by a derive.
bool is_user_code(const hir::Program& program, DefId def);

}  // namespace ockc::lints
