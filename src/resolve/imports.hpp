// Import resolution by fixpoint: every `use` is tried until none makes progress; globs forward what is added later.
#pragma once
#include "resolve/state.hpp"

namespace ockc::resolve {

// Adds a name to a scope; reports E0428, E0252, E0254, E0255 where two definitions meet, keeps the first.
void define(State& state, ModuleId module, Symbol name, Ns ns, const Binding& binding);
// Resolves imports [first, end) as far as they go. With `final`, those that remain become failed bindings; failures in
// device modules are reported at once, others when device code uses the name.
void resolve_imports(State& state, std::size_t first, bool final);
// E0432, E0433, E0364, E0365 of an import, once.
void report_failed_import(State& state, ImportId import);

}  // namespace ockc::resolve
