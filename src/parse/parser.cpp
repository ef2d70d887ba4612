// The token stream as the grammar functions see it, and the entry points.
#include "parse/parser.hpp"

#include "parse/parser_impl.hpp"

namespace ockc::parse {

Parser::Parser(lex::TokenRange range, const ParseContext& context)
    : buffer_(*range.buffer), context_(context), crate_(context.into), pos_(range.begin), end_(range.end) {
    OCKC_CHECK(buffer_.balanced());
    prev_span_ = buffer_.span(pos_ > 0 ? pos_ - 1 : 0);
    if (pos_ == 0) prev_span_ = prev_span_.start();
    look();
}

bool Parser::at_any(std::initializer_list<TokenKind> kinds) const {
    return std::find(kinds.begin(), kinds.end(), kind_) != kinds.end();
}

bool Parser::expect(TokenKind kind) {
    if (eat(kind)) return true;
    unexpected();
    return false;
}

namespace {

// Whether `kind` is a longer punctuation whose first character alone is `first`.
bool splits_to(TokenKind kind, TokenKind first) {
    const lex::TokenInfo& row = lex::info(kind);
    return row.token_class == lex::TokenClass::Punctuation && row.rest != T::Eof &&
           row.text.substr(0, 1) == lex::info(first).text;
}

}  // namespace

bool Parser::at_first(TokenKind first) const {
    return kind_ == first || splits_to(kind_, first);
}

bool Parser::eat_first(TokenKind first) {
    if (check(first)) {
        bump();
        return true;
    }
    if (!splits_to(kind_, first)) return false;
    const Span whole = span();
    prev_span_ = {whole.file, whole.begin, whole.begin + 1};
    ++split_;
    ++span_.begin;
    kind_ = lex::info(kind_).rest;
    expected_.reset();
    expected_extra_ = 0;
    return true;
}

bool Parser::expect_first(TokenKind first) {
    if (eat_first(first)) return true;
    unexpected();
    return false;
}

Ident Parser::ident_here() const {
    Ident ident;
    ident.span = span();
    ident.context = pos_ < end_ ? buffer_.context(pos_) : 0;
    std::string_view name = token_text();
    if (kind_ == T::RawIdent) {
        name.remove_prefix(2);
        ident.raw = true;
    }
    if (kind_ == T::RawLifetime) {  // 'r#name is the lifetime 'name
        std::string plain = "'";
        plain += name.substr(3);
        ident.raw = true;
        ident.name = context_.interner.intern(plain);
        return ident;
    }
    ident.name = context_.interner.intern(name);
    return ident;
}

Ident Parser::take_ident() {
    const Ident ident = ident_here();
    bump();
    return ident;
}

bool Parser::expect_ident(Ident& out) {
    if (lex::is_ident(kind_)) {
        out = take_ident();
        return true;
    }
    also(Expect::Ident);
    if (failed_) return false;
    const Span place = at_end() ? prev_span_ : span();
    const bool keyword = lex::is_keyword(kind_) && kind_ != T::Underscore;
    const bool escapable = keyword && !at_any({T::KwSelfValue, T::KwSelfType, T::KwSuper, T::KwCrate});
    std::string label = "expected identifier";
    if (keyword) label += kind_ >= T::KwAbstract ? ", found reserved keyword" : ", found keyword";
    Diagnostic& diagnostic = error(place, "expected identifier, found " + describe_token());
    diagnostic.label(place, std::move(label));
    if (!escapable) {
        fail();
        return false;
    }
    diagnostic.suggest(place.start(), "r#",
                       "escape `" + std::string(token_text()) + "` to use it as an identifier");
    out = take_ident();  // read on as if it had been escaped
    return true;
}

bool Parser::finished() {
    if (failed_) return false;
    if (at_end()) return true;
    unexpected();
    return false;
}

// ---- entry points ----

ast::SourceUnit parse(const lex::TokenBuffer& tokens, const ParseContext& context) {
    if (!tokens.balanced()) return {};
    Parser parser({&tokens, 0, tokens.size() - 1}, context);
    return parser.source_unit();
}

ast::ExprId parse_expr(lex::TokenRange range, const ParseContext& context) {
    Parser parser(range, context);
    const ExprId expr = parser.expr();
    parser.finished();
    return expr;
}

ast::PatId parse_pat(lex::TokenRange range, const ParseContext& context) {
    Parser parser(range, context);
    const PatId pat = parser.pattern();
    parser.finished();
    return pat;
}

ast::TypeId parse_type(lex::TokenRange range, const ParseContext& context) {
    Parser parser(range, context);
    const TypeId type = parser.type();
    parser.finished();
    return type;
}

ast::BlockId parse_stmts(lex::TokenRange range, const ParseContext& context) {
    Parser parser(range, context);
    return parser.block_contents(parser.span(), {}, range.end);
}

ast::BlockId parse_body(lex::TokenRange range, const ParseContext& context) {
    Parser parser(range, context);
    const BlockId body = parser.block();
    parser.finished();
    return body;
}

ast::List<ast::ItemId> parse_items(lex::TokenRange range, ItemPlace place, const ParseContext& context) {
    Parser parser(range, context);
    return parser.items_until_end(place);
}

ast::List<ast::ExprId> parse_expr_list(lex::TokenRange range, const ParseContext& context) {
    Parser parser(range, context);
    std::vector<ExprId> out;
    while (!parser.at_end()) {
        out.push_back(parser.expr());
        if (parser.failed() || !parser.eat(T::Comma)) break;
    }
    parser.finished();
    return context.into.list(out);
}

}  // namespace ockc::parse
