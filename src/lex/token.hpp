// Token kinds and what is known about each from its row in token.def.
#pragma once
#include <cstdint>
#include <string_view>

#include "support/id.hpp"

namespace ockc::lex {

enum class Edition : std::uint16_t { E2021 = 2021, E2024 = 2024 };

enum class TokenKind : std::uint8_t {
#define OCKC_TOKEN(name, description) name,
#define OCKC_DELIM(name, text) name,
#define OCKC_PUNCT(name, text, rest) name,
#define OCKC_KEYWORD(name, text, first_edition) name,
#define OCKC_WEAK_KEYWORD(name, text) name,
#include "lex/token.def"
};

enum class TokenClass : std::uint8_t { Variable, Delimiter, Punctuation, Keyword, WeakKeyword };

struct TokenInfo {
    std::string_view name;  // of the enumerator
    std::string_view text;  // fixed text; the description for Variable tokens
    TokenClass token_class;
    TokenKind rest;  // Punctuation: what remains after its first character; Eof = cannot be split
    std::uint16_t first_edition;  // Keyword: from then on; 0 otherwise
};

inline constexpr TokenInfo kTokenInfos[] = {
#define OCKC_TOKEN(name, description) {#name, description, TokenClass::Variable, TokenKind::Eof, 0},
#define OCKC_DELIM(name, text) {#name, text, TokenClass::Delimiter, TokenKind::Eof, 0},
#define OCKC_PUNCT(name, text, rest) {#name, text, TokenClass::Punctuation, TokenKind::rest, 0},
#define OCKC_KEYWORD(name, text, first_edition) \
    {#name, text, TokenClass::Keyword, TokenKind::Eof, first_edition},
#define OCKC_WEAK_KEYWORD(name, text) {#name, text, TokenClass::WeakKeyword, TokenKind::Eof, 0},
#include "lex/token.def"
};
inline constexpr std::size_t kTokenKindCount = sizeof(kTokenInfos) / sizeof(kTokenInfos[0]);

constexpr const TokenInfo& info(TokenKind kind) {
    return kTokenInfos[static_cast<std::size_t>(kind)];
}

// What the parser may take as a name without `r#`: plain, raw and weak-keyword identifiers.
constexpr bool is_ident(TokenKind kind) {
    return kind == TokenKind::Ident || kind == TokenKind::RawIdent ||
           info(kind).token_class == TokenClass::WeakKeyword;
}
constexpr bool is_keyword(TokenKind kind) {
    return info(kind).token_class == TokenClass::Keyword;
}
constexpr bool is_literal(TokenKind kind) {
    return kind >= TokenKind::Integer && kind <= TokenKind::RawCString;
}
constexpr bool is_lifetime(TokenKind kind) {
    return kind == TokenKind::Lifetime || kind == TokenKind::RawLifetime;
}
constexpr bool is_doc(TokenKind kind) {
    return kind == TokenKind::OuterDoc || kind == TokenKind::InnerDoc;
}
constexpr bool is_delimiter(TokenKind kind) {
    return info(kind).token_class == TokenClass::Delimiter;
}
constexpr bool is_open(TokenKind kind) {
    return is_delimiter(kind) && (static_cast<int>(kind) - static_cast<int>(TokenKind::OpenParen)) % 2 == 0;
}
constexpr bool is_close(TokenKind kind) {
    return is_delimiter(kind) && !is_open(kind);
}
constexpr TokenKind closer_of(TokenKind open) {
    return static_cast<TokenKind>(static_cast<int>(open) + 1);
}

// The kind of an identifier-shaped word in an edition: a keyword's kind, a weak keyword's, or Ident.
TokenKind word_kind(std::string_view text, Edition edition);

// XID_Start / XID_Continue and `_` (start), as Rust's identifiers have them.
bool is_ident_start(char32_t c);
bool is_ident_continue(char32_t c);

}  // namespace ockc::lex
