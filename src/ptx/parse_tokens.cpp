#include "ptx/parse_tokens.hpp"

namespace ockc::ptx {

void TokenStream::error(const Token& at, std::string message) {
    if (!full()) errors_.push_back({at.line, lexer_.column(at.begin), std::move(message)});
}

std::string TokenStream::quoted(const Token& token) {
    if (token.kind == TokenKind::End) return "the end of the text";
    std::string out = "`";
    if (token.kind == TokenKind::Dotted) out += '.';
    return (out += token.text) += '`';
}

bool TokenStream::expect(char punct) {
    if (accept(punct)) return true;
    error(token_, std::string("expected `") + punct + "`, found " + quoted(token_));
    return false;
}

std::optional<std::uint64_t> TokenStream::expect_integer() {
    if (token_.kind == TokenKind::Integer) return take().value;
    error(token_, "expected a number, found " + quoted(token_));
    return std::nullopt;
}

std::string_view TokenStream::expect_name() {
    if (token_.kind == TokenKind::Ident) return take().text;
    error(token_, "expected a name, found " + quoted(token_));
    return {};
}

void TokenStream::skip_statement() {
    while (!at_end() && !token_.is('{') && !token_.is('}')) {
        if (take().is(';')) return;
    }
}

void TokenStream::skip_braces() {
    std::size_t depth = 0;
    while (!at_end()) {
        const Token token = take();
        if (token.is('{')) ++depth;
        if (token.is('}') && --depth == 0) return;
    }
}

}  // namespace ockc::ptx
