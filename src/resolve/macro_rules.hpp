// macro_rules!: finding macros, matching a call's tokens against the rules, writing out the body. Locals and labels are
// hygienic: tokens that come from the definition carry the expansion's syntax context.
#pragma once
#include "resolve/state.hpp"

namespace ockc::resolve {

// ---- macro_lookup.cpp
// The macro that a call names: macro_rules in scope, then paths and imports, then built-in ones. None when there is none.
DefId find_item_macro(const State& state, ModuleId module, MacroScopeId macros, std::uint32_t crate, const ast::MacroCall& call);
void report_unknown_macro(State& state, ModuleId module, MacroScopeId macros, std::uint32_t crate, const ast::MacroCall& call);
// line!(), concat!(..) ..: may stand as a pattern.
bool is_literal_macro(BuiltinMacro macro);
bool is_include(const State& state, DefId macro);
// A built-in macro in item position: compile_error!, or an error. True when `macro` makes no items (macro_rules and include! do). Silent when not `strict`.
bool expand_builtin_item(State& state, DefId macro, std::uint32_t crate, const ast::MacroCall& call, bool strict);

// Says of the errors from sink.all()[first] on, which lie in a macro's definition, by which call they came about.
void note_expansion(State& state, std::size_t first, DefId macro, Span call);
// Splits a definition into its rules, once; reports what is malformed and gives false.
bool parse_macro_rules(State& state, MacroInfo& info);

// ---- macro_rules.cpp: the expansion of a call, parsed as what stands in its place. After an error: an Error node or nothing.
ast::ExprId expand_expression(State& state, DefId macro, std::uint32_t crate, ast::MacroCallId call);
ast::PatId expand_pattern(State& state, DefId macro, std::uint32_t crate, ast::MacroCallId call);
ast::TypeId expand_type(State& state, DefId macro, std::uint32_t crate, ast::MacroCallId call);
ast::BlockId expand_stmts(State& state, DefId macro, std::uint32_t crate, ast::MacroCallId call);
ast::List<ast::ItemId> expand_items(State& state, DefId macro, std::uint32_t crate, ast::MacroCallId call, parse::ItemPlace place);

}  // namespace ockc::resolve
