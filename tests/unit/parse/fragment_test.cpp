#include <doctest/doctest.h>

#include "parse_helper.hpp"

using namespace ockc;
using namespace ockc::parse;

namespace {

// How many tokens of `text` a fragment takes; -1 when it does not match.
int taken(FragmentKind kind, std::string_view text, lex::Edition edition = lex::Edition::E2024) {
    SourceMap sources;
    DiagSink sink;
    Interner interner;
    ast::Crate crate;
    const FileId file = sources.add("t", "", std::string(text));
    const lex::TokenBuffer tokens = lex::lex(sources, file, sink, edition);
    const Fragment fragment =
        parse_fragment(kind, {&tokens, 0, tokens.size() - 1}, {sources, interner, sink, crate});
    return fragment.ok ? static_cast<int>(fragment.end) : -1;
}

}  // namespace

TEST_CASE("fragments end where their syntax ends") {
    CHECK(taken(FragmentKind::Expr, "a + b, c") == 3);
    CHECK(taken(FragmentKind::Expr, "_") == 1);
    CHECK(taken(FragmentKind::Expr2021, "_") == -1);
    CHECK(taken(FragmentKind::Ident, "a.b") == 1);
    CHECK(taken(FragmentKind::Ident, "_") == -1);
    CHECK(taken(FragmentKind::Ty, "Vec<Vec<u8>> x") == 6);
    CHECK(taken(FragmentKind::Ty, "A + B") == 1);
    CHECK(taken(FragmentKind::Pat, "A | B => c") == 3);
    CHECK(taken(FragmentKind::PatParam, "A | B") == 1);
    CHECK(taken(FragmentKind::Path, "a::b<c> d") == 6);
    CHECK(taken(FragmentKind::Stmt, "let x = 1; y") == 4);
    CHECK(taken(FragmentKind::Block, "{ a; b } c") == 5);
    CHECK(taken(FragmentKind::Item, "fn f() {} x") == 6);
    CHECK(taken(FragmentKind::Lifetime, "'a b") == 1);
    CHECK(taken(FragmentKind::Literal, "-1 x") == 2);
    CHECK(taken(FragmentKind::Literal, "x") == -1);
    CHECK(taken(FragmentKind::Meta, "a(b = c) d") == 6);
    CHECK(taken(FragmentKind::Tt, "(a b) c") == 4);
    CHECK(taken(FragmentKind::Tt, "") == -1);
    CHECK(taken(FragmentKind::Vis, "pub(crate) x") == 4);
    CHECK(taken(FragmentKind::Vis, "x") == 0);
}

TEST_CASE("fragment names") {
    FragmentKind kind{};
    CHECK(fragment_kind("expr", lex::Edition::E2024, kind));
    CHECK(kind == FragmentKind::Expr);
    CHECK(fragment_kind("expr", lex::Edition::E2021, kind));
    CHECK(kind == FragmentKind::Expr2021);
    CHECK_FALSE(fragment_kind("type", lex::Edition::E2024, kind));
}

TEST_CASE("a macro's argument parses from its token range") {
    Parsed parsed("m!(a + 1, b);");
    const auto& macro = std::get<ast::MacroItem>(parsed.crate[parsed.unit.items[0]].data);
    const lex::TokenRange body = parsed.crate[macro.call].body;
    const auto list = parse_expr_list(body, parsed.context());
    REQUIRE(list.size() == 2);
    CHECK(ast::print(list[0], parsed.printing()) == "(Binary op=+ lhs=a rhs=1)");
    CHECK(ast::print(list[1], parsed.printing()) == "b");
}

TEST_CASE("what is left over in a range is an error") {
    Parsed parsed("");
    const FileId file = parsed.sources.add("e", "", "a b");
    const lex::TokenBuffer tokens = lex::lex(parsed.sources, file, parsed.sink);
    parse_expr({&tokens, 0, 2}, parsed.context());
    CHECK(parsed.sink.error_count() == 1);
}

TEST_CASE("substituted fragments keep their grouping") {
    // $a * 2 with $a = 1 + 2, as macro expansion writes it.
    Parsed parsed("");
    const FileId file = parsed.sources.add("e", "", "1+2*2");
    lex::TokenBuffer tokens(file, lex::Edition::E2024);
    const auto push = [&](lex::TokenKind kind, std::uint32_t begin, std::uint32_t end) {
        tokens.push(kind, begin, end);
    };
    push(lex::TokenKind::OpenInvisible, 0, 0);
    push(lex::TokenKind::Integer, 0, 1);
    push(lex::TokenKind::Plus, 1, 2);
    push(lex::TokenKind::Integer, 2, 3);
    push(lex::TokenKind::CloseInvisible, 3, 3);
    push(lex::TokenKind::Star, 3, 4);
    push(lex::TokenKind::Integer, 4, 5);
    push(lex::TokenKind::Eof, 5, 5);
    REQUIRE(tokens.link_delimiters());
    const ast::ExprId id = parse_expr({&tokens, 0, tokens.size() - 1}, parsed.context());
    CHECK_FALSE(parsed.sink.has_errors());
    CHECK(ast::print(id, parsed.printing()) == "(Binary op=* lhs=(Binary op=+ lhs=1 rhs=2) rhs=2)");
}

TEST_CASE("statements and items from ranges") {
    Parsed parsed("m! { let x = 1; x } n! { fn f(); type T; }");
    const auto body = [&](std::size_t i) {
        return parsed.crate[std::get<ast::MacroItem>(parsed.crate[parsed.unit.items[i]].data).call].body;
    };
    const ast::BlockId block = parse_stmts(body(0), parsed.context());
    CHECK(folded(ast::print(block, parsed.printing())) == "{ (Let pattern=x init=1) tail x }");
    const auto items = parse_items(body(1), ItemPlace::Trait, parsed.context());
    CHECK(items.size() == 2);
    CHECK(parsed.first_error() == "");
}
