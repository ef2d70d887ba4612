// Macro calls and definitions: their bodies stay token ranges.
//
//     macro_call  = path "!" delimited
//     macro_rules = "macro_rules" "!" ident delimited ";"?
#include <fmt/format.h>

#include "parse/parser_impl.hpp"

namespace ockc::parse {

namespace {

bool is_written_open(TokenKind kind) {
    return kind == T::OpenParen || kind == T::OpenBracket || kind == T::OpenBrace;
}

}  // namespace

// Takes a delimited group; false (and panic) when there is none.
bool Parser::delimited_body(ast::Delimiter& delimiter, lex::TokenRange& body) {
    check(T::OpenParen);
    check(T::OpenBracket);
    check(T::OpenBrace);
    if (!is_written_open(kind_)) {
        unexpected();
        return false;
    }
    delimiter = static_cast<ast::Delimiter>((static_cast<int>(kind_) - static_cast<int>(T::OpenParen)) / 2);
    const std::uint32_t close = buffer_.partner(pos_);
    body = {&buffer_, pos_ + 1, close};
    resume_at(close);
    bump();
    return true;
}

ast::MacroCallId Parser::macro_call(PathId path, Span start) {
    bump();
    check(T::Not);
    ast::MacroCall call;
    call.path = path;
    delimited_body(call.delimiter, call.body);
    call.span = from(start);
    return crate_.add(call);
}

// An item's macro call: with `;` unless it has braces.
void Parser::macro_item(ast::Item& item) {
    const Span start = span();
    const PathId macro_path = path(PathStyle::Mod);
    if (!check(T::Not)) return unexpected();
    const ast::MacroCallId call = macro_call(macro_path, start);
    item.data = ast::MacroItem{call};
    if (failed_ || crate_[call].delimiter == ast::Delimiter::Brace || eat(T::Semi)) return;
    error(crate_[call].span,
          "macros that expand to items must be delimited with braces or followed by a semicolon")
        .suggest(prev_span_.after(), ";", "add a semicolon");
}

// `pub name!(..)`: a macro call is no definition that could be seen from elsewhere.
void Parser::macro_with_visibility(const ast::Item& item, std::string_view what) {
    if (item.visibility.kind == ast::VisibilityKind::Inherited || failed_) return;
    const std::string written(context_.sources.text(item.visibility.span));
    Diagnostic& diagnostic =
        error(item.visibility.span, fmt::format("can't qualify {} invocation with `{}`", what, written));
    if (what == "macro_rules") {
        diagnostic.suggest(item.visibility.span, "#[macro_export]", "try exporting the macro");
    } else {
        diagnostic.help("try adjusting the macro to put `" + written + "` inside the invocation");
    }
}

// `macro name(..) { .. }`, macros 2.0: unstable Rust.
void Parser::decl_macro_item(ast::Item& item) {
    const Span start = span();
    bump();
    expect_ident(item.ident);
    while (at(T::OpenParen) || at(T::OpenBrace)) {
        const bool body = at(T::OpenBrace);
        skip_tree();
        if (body) break;
    }
    unstable(from(start), "`macro` is experimental");
    item.data = ast::ErrorItem{};
}

void Parser::macro_rules_item(ast::Item& item) {
    bump();
    bump();
    ast::MacroRulesItem rules;
    if (!expect_ident(item.ident)) return;
    delimited_body(rules.delimiter, rules.body);
    item.data = rules;
    if (failed_ || rules.delimiter == ast::Delimiter::Brace) return;
    if (!eat(T::Semi)) {
        error(prev_span_,
              "macros that expand to items must be delimited with braces or followed by a semicolon")
            .suggest(prev_span_.after(), ";", "add a semicolon");
    }
}

}  // namespace ockc::parse
