// The main loop: white space, identifiers and their prefixes, punctuation, characters that start nothing.
#include "lex/lexer.hpp"

#include <fmt/format.h>

#include <array>
#include <cstring>
#include <string_view>

#include "lex/lexer_impl.hpp"

namespace ockc::lex {

namespace {

// ASCII identifier characters.
constexpr std::array<bool, 256> make_ident_table() {
    std::array<bool, 256> table{};
    for (int c = 0; c < 128; ++c) {
        table[static_cast<std::size_t>(c)] =
            (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    }
    return table;
}
constexpr std::array<bool, 256> kIdentByte = make_ident_table();

// Longest-match tables of the punctuation rows: by first character, by the first two, and the few of three.
struct PunctTables {
    std::array<TokenKind, 128> one{};
    std::array<std::array<TokenKind, 128>, 128> two{};
};
constexpr PunctTables make_punct() {
    PunctTables tables;
    for (std::size_t i = 0; i < kTokenKindCount; ++i) {
        const TokenInfo& row = kTokenInfos[i];
        if (row.token_class != TokenClass::Punctuation && row.token_class != TokenClass::Delimiter) continue;
        if (row.text.size() == 1)
            tables.one[static_cast<std::size_t>(row.text[0])] = static_cast<TokenKind>(i);
        if (row.text.size() == 2) {
            tables.two[static_cast<std::size_t>(row.text[0])][static_cast<std::size_t>(row.text[1])] =
                static_cast<TokenKind>(i);
        }
    }
    return tables;
}
constexpr PunctTables kPunct = make_punct();

// The kind of a three-character punctuation that starts with the two-character `prefix`, or Eof.
TokenKind three(TokenKind prefix, char third) {
    if (prefix == TokenKind::DotDot && third == '=') return TokenKind::DotDotEqual;
    if (prefix == TokenKind::DotDot && third == '.') return TokenKind::DotDotDot;
    if (prefix == TokenKind::LessLess && third == '=') return TokenKind::LessLessEqual;
    if (prefix == TokenKind::GreaterGreater && third == '=') return TokenKind::GreaterGreaterEqual;
    return TokenKind::Eof;
}

// Pattern_White_Space beyond ASCII.
constexpr bool is_wide_space(char32_t c) {
    return c == 0x85 || c == 0x200E || c == 0x200F || c == 0x2028 || c == 0x2029;
}

struct Confusable {
    char32_t c;
    std::string_view name;
    std::string_view looks_like;
    std::string_view looks_like_name;
};
constexpr Confusable kConfusables[] = {
#define OCKC_CONFUSABLE(c, name, ascii, ascii_name) {c, name, ascii, ascii_name},
#include "lex/confusable.def"
};

}  // namespace

TokenBuffer lex(const SourceMap& sources, FileId file, DiagSink& sink, Edition edition) {
    const std::string_view text = sources.file(file).text;
    TokenBuffer tokens(file, edition);
    tokens.reserve(text.size() / 2 + 16);
    Lexer lexer(text, file, sink, tokens);
    if (lexer.run() && !tokens.link_delimiters()) report_delimiters(tokens, sources, sink);
    return tokens;
}

bool Lexer::run() {
    const bool valid = check_utf8();
    if (valid) {
        if (text_.substr(0, 3) == "\xEF\xBB\xBF") at_ = 3;
        skip_shebang();
        // A file with this many errors is no source text; the rest would say the same.
        constexpr std::size_t kMaxErrors = 100;
        const std::size_t error_limit = sink_.error_count() + kMaxErrors;
        while (!at_end() && !fatal_) {
            next_token();
            if (sink_.error_count() >= error_limit) fatal();
        }
    }
    const auto end = static_cast<std::uint32_t>(text_.size());
    out_.push(TokenKind::Eof, end, end);
    return valid && !fatal_;
}

bool Lexer::check_utf8() {
    std::size_t i = 0;
    while (i < text_.size()) {
        std::uint64_t block;
        if (i + sizeof block <= text_.size()) {
            std::memcpy(&block, text_.data() + i, sizeof block);
            if ((block & 0x8080'8080'8080'8080u) == 0) {
                i += sizeof block;
                continue;
            }
        }
        const Decoded d = decode_utf8(text_, i);
        if (!d.valid) {
            const auto at = static_cast<std::uint32_t>(i);
            sink_.error(here(at, at + 1), "source file is not valid UTF-8 text")
                .label(here(at, at + 1),
                       fmt::format("byte `{}` is not valid utf-8", static_cast<unsigned char>(text_[i])));
            return false;
        }
        i += d.size;
    }
    return true;
}

// `#!/usr/bin/..` on the first line; `#![attribute]` is none, also with white space or comments before the
// bracket.
void Lexer::skip_shebang() {
    if (peek() != '#' || peek(1) != '!') return;
    std::size_t i = at_ + 2;
    for (;;) {
        while (i < text_.size() &&
               (text_[i] == ' ' || text_[i] == '\t' || text_[i] == '\n' || text_[i] == '\r'))
            ++i;
        const std::string_view rest = text_.substr(i);
        if (rest.substr(0, 2) == "//") {
            i = text_.find('\n', i);
        } else if (rest.substr(0, 2) == "/*") {
            const std::size_t close = text_.find("*/", i + 2);
            i = close == std::string_view::npos ? close : close + 2;
        } else {
            break;
        }
        if (i == std::string_view::npos) break;
    }
    if (i < text_.size() && text_[i] == '[') return;
    const std::size_t line_end = text_.find('\n', at_);
    at_ = static_cast<std::uint32_t>(line_end == std::string_view::npos ? text_.size() : line_end);
}

void Lexer::next_token() {
    start_ = at_;
    const char c = text_[at_];
    switch (c) {
        case ' ':
        case '\t':
        case '\n':
        case '\r':
        case '\v':
        case '\f': return white_space();
        case '/':
            if (peek(1) == '/') return line_comment();
            if (peek(1) == '*') return block_comment();
            return punctuation();
        case '0':
        case '1':
        case '2':
        case '3':
        case '4':
        case '5':
        case '6':
        case '7':
        case '8':
        case '9': return number();
        case '"': return string(TokenKind::String, EscapeMode::Str);
        case '\'': return quote();
        case 'r':
            if (peek(1) == '#' && starts_ident(2)) return raw_identifier();
            if (peek(1) == '"' || peek(1) == '#')
                return at_ += 1, raw_string(TokenKind::RawString, EscapeMode::RawStr);
            return word();
        case 'b':
            if (peek(1) == '\'') return at_ += 1, quoted_character(TokenKind::Byte, EscapeMode::Byte);
            return raw_or_prefixed(TokenKind::ByteString, TokenKind::RawByteString);
        case 'c': return raw_or_prefixed(TokenKind::CString, TokenKind::RawCString);
        case '#': return pound();
        default: break;
    }
    if (kIdentByte[static_cast<unsigned char>(c)]) return word();
    if (static_cast<unsigned char>(c) < 0x80) return punctuation();
    if (starts_ident(0)) return word();
    unknown_character();
}

bool Lexer::starts_ident(std::uint32_t ahead) const {
    const std::size_t i = at_ + std::size_t{ahead};
    return i < text_.size() && is_ident_start(decode_utf8(text_, i).c);
}

// Indentation comes in runs.
void Lexer::white_space() {
    std::uint32_t at = at_ + 1;
    while (at < text_.size() && (text_[at] == ' ' || text_[at] == '\n'))
        ++at;
    at_ = at;
}

void Lexer::eat_ident() {
    for (;;) {
        std::uint32_t at = at_;
        while (at < text_.size() && kIdentByte[static_cast<unsigned char>(text_[at])])
            ++at;
        at_ = at;
        if (at_end() || static_cast<unsigned char>(text_[at_]) < 0x80) return;
        const Decoded d = decode_utf8(text_, at_);
        if (!is_ident_continue(d.c)) return;
        at_ += d.size;
    }
}

// b"..", br"..", c"..", cr".." or an identifier that starts with b or c.
void Lexer::raw_or_prefixed(TokenKind string_kind, TokenKind raw_kind) {
    const bool bytes = string_kind == TokenKind::ByteString;
    if (peek(1) == '"') {
        ++at_;
        return string(string_kind, bytes ? EscapeMode::ByteStr : EscapeMode::CStr);
    }
    if (peek(1) == 'r' && (peek(2) == '"' || peek(2) == '#')) {
        at_ += 2;
        return raw_string(raw_kind, bytes ? EscapeMode::RawByteStr : EscapeMode::RawCStr);
    }
    word();
}

void Lexer::word() {
    eat_ident();
    const char next = peek();
    if (next == '"' || next == '\'' || next == '#') {
        const std::string_view prefix = text_.substr(start_, at_ - start_);
        sink_.error(token_span(), fmt::format("prefix `{}` is unknown", prefix))
            .label(token_span(), "unknown prefix")
            .note("prefixed identifiers and literals are reserved since Rust 2021")
            .suggest(here(at_, at_), " ", "consider inserting whitespace here",
                     Applicability::MaybeIncorrect);
    }
    emit(word_kind(text_.substr(start_, at_ - start_), edition_));
}

void Lexer::raw_identifier() {
    at_ += 2;
    const std::uint32_t name_begin = at_;
    eat_ident();
    const std::string_view name = text_.substr(name_begin, at_ - name_begin);
    if (name == "_" || name == "self" || name == "Self" || name == "super" || name == "crate") {
        sink_.error(token_span(), fmt::format("`{}` cannot be a raw identifier", name));
    }
    emit(TokenKind::RawIdent);
}

void Lexer::punctuation() {
    const auto first = static_cast<unsigned char>(text_[at_]);
    const auto second = static_cast<unsigned char>(peek(1));
    if (second < 0x80 && at_ + 1 < text_.size()) {
        if (const TokenKind two = kPunct.two[first][second]; two != TokenKind::Eof) {
            const TokenKind longer = three(two, peek(2));
            at_ += longer != TokenKind::Eof ? 3 : 2;
            return emit(longer != TokenKind::Eof ? longer : two);
        }
    }
    const TokenKind one = kPunct.one[first];
    if (one == TokenKind::Eof) return unknown_character();
    ++at_;
    emit(one);
}

// `#`; edition 2024 reserves `##` and `#".."#`.
void Lexer::pound() {
    std::uint32_t hashes = 0;
    while (peek(hashes) == '#')
        ++hashes;
    const bool guarded = peek(hashes) == '"';
    if (edition_ < Edition::E2024 || (hashes < 2 && !guarded)) return punctuation();
    if (!guarded) {
        at_ += 2;
        sink_.error(token_span(), "reserved multi-hash token is forbidden")
            .note("sequences of two or more # are reserved for future use since Rust 2024")
            .suggest(here(start_ + 1, start_ + 1), " ", "consider inserting whitespace here");
        return emit(TokenKind::Error);
    }
    at_ += hashes;
    const std::size_t errors = sink_.error_count();
    ++at_;
    if (!find_closing_quote()) {
        at_ = start_ + 1;  // the string itself will say that it is unterminated
        return emit(TokenKind::Pound);
    }
    for (std::uint32_t i = 0; i < hashes && peek() == '#'; ++i)
        ++at_;
    if (sink_.error_count() == errors) {
        sink_.error(token_span(), "invalid string literal")
            .note("unprefixed guarded string literals are reserved for future use since Rust 2024")
            .suggest(here(start_ + 1, start_ + 1), " ", "consider inserting whitespace here");
    }
    emit(TokenKind::Error);
}

void Lexer::unknown_character() {
    const Decoded d = decode_utf8(text_, at_);
    at_ += d.size;
    if (is_wide_space(d.c)) return;
    if (d.c >= 0x1F300 && d.c <= 0x1FAFF) {
        eat_ident();
        sink_.error(token_span(), fmt::format("identifiers cannot contain emoji: `{}`",
                                              text_.substr(start_, at_ - start_)));
        return emit(TokenKind::Error);
    }
    const std::string_view one = text_.substr(start_, d.size);
    std::uint32_t repeats = 0;
    while (text_.substr(at_, d.size) == one) {
        at_ += d.size;
        ++repeats;
    }
    const bool printable = d.c > 0x20 && d.c < 0x7F;
    Diagnostic& error = sink_.error(
        token_span(),
        printable ? fmt::format("unknown start of token: {}", one)
                  : fmt::format("unknown start of token: \\u{{{:x}}}", static_cast<std::uint32_t>(d.c)));
    if (repeats == 1) error.note("character appears once more");
    if (repeats > 1) error.note(fmt::format("character appears {} more times", repeats));
    if (d.c == 0) {
        error.help(
            "source files must contain UTF-8 encoded text, unexpected null bytes might occur when a "
            "different encoding is used");
    }
    if (d.c == 0x200B || d.c == 0x200C || d.c == 0x2060 || d.c == 0xAD) {
        error.help(
            fmt::format("invisible characters like '\\u{{{:x}}}' are not usually visible in text editors",
                        static_cast<std::uint32_t>(d.c)));
    }
    for (const Confusable& row : kConfusables) {
        if (row.c != d.c) continue;
        error.suggest(token_span(), std::string(row.looks_like),
                      fmt::format("Unicode character '{}' ({}) looks like '{}' ({}), but it is not", one,
                                  row.name, row.looks_like, row.looks_like_name));
        if (row.looks_like == " ") return;
        const TokenKind kind = kPunct.one[static_cast<std::size_t>(row.looks_like[0])];
        if (kind != TokenKind::Eof) return emit(kind);
    }
}

}  // namespace ockc::lex
