// "did you mean" and "consider importing": only computed when there is an error to help with.
#pragma once
#include <functional>

#include "resolve/state.hpp"

namespace ockc::resolve {

using ResFilter = std::function<bool(const Res&)>;

// The name in a scope nearest to `name` that `from` may see, or none.
Symbol similar_in_scope(const State& state, ModuleId scope, Symbol name, ModuleId from, const ResFilter& filter = {});
// Names of std that device code cannot have (refusals.def): reports and gives true when `name` is one, used in this way.
enum class RefusedUse : std::uint8_t { Plain, StdPath, Macro, DevicePath };
bool report_refused_name(State& state, std::string_view name, Span span, RefusedUse use);
// Adds "consider importing this .." for what public modules call `name`. False when there is nothing.
bool suggest_imports(const State& state, Diagnostic& error, Symbol name, Ns ns, ModuleId from, const ResFilter& filter, std::string_view suffix);

}  // namespace ockc::resolve
