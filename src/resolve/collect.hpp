// From files to the module tree: loads crates and `mod x;` files, evaluates cfg, expands item macros, gives every item a DefId
// and binds its name. Nothing is resolved or lowered here.
#pragma once
#include "resolve/state.hpp"

namespace ockc::resolve {

// Loads a crate from its root file and collects all of it.
void collect_crate(State& state, std::uint32_t crate, FileId root);

// Where the items of a function body go. `macros` is advanced by macro_rules definitions.
struct BlockItems {
    ModuleId module;
    DefId owner;                    // the function, for parents
    MacroScopeId* macros = nullptr;
    std::vector<DefId> defs;        // one for each item, in order; none for `use`, macros and what cfg removed
};
void collect_block_item(State& state, BlockItems& block, ast::ItemId item);

// One item of the library when it is read on demand; `macros` are those visible after it.
struct LibraryItem {
    DefId def;
    MacroScopeId macros;
};
LibraryItem collect_library_item(State& state, ModuleId module, MacroScopeId macros, ast::ItemId item);
// The `{ .. }` at the end of a function whose body the parser stepped over; nothing when it ends otherwise.
lex::TokenRange skipped_body(const ast::Item& item);

// The items of a derived impl, made after the impl itself.
void collect_impl_items(State& state, DefId impl, ast::List<ast::ItemId> items);

// Item macros that wait for an import: tries them again. True when one was expanded.
bool expand_pending_macros(State& state);
void report_pending_macros(State& state);

hir::Visibility visibility_of(State& state, const ast::Visibility& visibility, ModuleId module);
// The head of an item, for labels: `fn f(x: i32)`, `struct S`.
Span head_span(const State& state, std::uint32_t crate, const ast::Item& item);
// A macro_rules name visible at `scope`, or none.
DefId find_textual_macro(const State& state, MacroScopeId scope, Symbol name);
MacroScopeId define_macro_rules(State& state, std::uint32_t crate, ModuleId module, const ast::Item& item, MacroScopeId outer, std::uint32_t context);

}  // namespace ockc::resolve
