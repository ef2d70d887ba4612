// Text of a crate as a tree: all of Rust's syntax of editions 2021 and 2024.
//
// In: a lexed TokenBuffer, or a range of one (a macro's arguments, an expansion). Out: nodes in an
// ast::Crate. Recursive descent with precedence climbing for operators; chains (`a + b + ..`, `x.f().g()..`,
// `else if ..`) are loops. Errors go to the sink in rustc's words; the parser then goes on at the next item,
// statement, comma or closing delimiter and leaves an Error node, which later phases pass over in silence.
#pragma once
#include <cstdint>
#include <string_view>

#include "ast/ast.hpp"
#include "diag/sink.hpp"
#include "lex/token_buffer.hpp"
#include "source/source_map.hpp"
#include "support/interner.hpp"

namespace ockc::parse {

struct ParseOptions {
    // How many delimiters, operators, types, .. may stand inside each other. More is an error, not a crash.
    std::uint32_t max_depth = 256;
    // The longest path from a crate's root to a leaf, with chains (`a + a + ..` is a left-deep tree) counted
    // link by link. Walkers of the tree recurse at most this deep.
    std::uint32_t max_height = 1000;
    // Steps over the bodies of functions: they have none then, and parse_body makes it from the end of
    // ast::Item::tokens.
    bool skip_bodies = false;
};

// What every entry point needs. `into` receives the nodes.
struct ParseContext {
    const SourceMap& sources;
    Interner& interner;
    DiagSink& sink;
    ast::Crate& into;
    ParseOptions options = {};
};

// A whole file: inner attributes and items. An unbalanced buffer (already reported) gives an empty unit.
ast::SourceUnit parse(const lex::TokenBuffer& tokens, const ParseContext& context);

// A range of tokens as one fragment. The whole range must be used up; what is left over is reported as
// "macro expansion ignores .." does in rustc. On errors the result is an Error node (never a none id).
ast::ExprId parse_expr(lex::TokenRange range, const ParseContext& context);
ast::PatId parse_pat(lex::TokenRange range,
                     const ParseContext& context);  // with top-level alternatives `A | B`
ast::TypeId parse_type(lex::TokenRange range, const ParseContext& context);
ast::BlockId parse_stmts(lex::TokenRange range,
                         const ParseContext& context);  // statements and an optional tail expression
ast::BlockId parse_body(lex::TokenRange range, const ParseContext& context);  // `{ .. }`, braces included
enum class ItemPlace : std::uint8_t { Module, Trait, Impl, TraitImpl, ExternBlock };
ast::List<ast::ItemId> parse_items(lex::TokenRange range, ItemPlace place, const ParseContext& context);

// For macro arguments and macro_rules matching: parses one fragment at the start of `range` and says where it
// ended. With a sink of its own the caller can try and drop the errors.
enum class FragmentKind : std::uint8_t {
    Block,
    Expr,
    Expr2021,
    Ident,
    Item,
    Lifetime,
    Literal,
    Meta,
    Pat,
    PatParam,
    Path,
    Stmt,
    Tt,
    Ty,
    Vis
};
struct Fragment {
    bool ok = false;
    std::uint32_t end = 0;  // first token after the fragment
};
Fragment parse_fragment(FragmentKind kind, lex::TokenRange range, const ParseContext& context);
// "expr" -> Expr; false when there is no such fragment specifier.
bool fragment_kind(std::string_view name, lex::Edition edition, FragmentKind& kind);

// `a, b, c` as expressions, trailing comma allowed: the arguments of assert!, shared!, ..
ast::List<ast::ExprId> parse_expr_list(lex::TokenRange range, const ParseContext& context);

}  // namespace ockc::parse
