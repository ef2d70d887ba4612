// Character and string literals of all kinds, and lifetimes, which start like characters.
#include <fmt/format.h>

#include <algorithm>

#include "lex/lexer_impl.hpp"

namespace ockc::lex {

namespace {

// How a character is named in a message: itself, or its escape.
std::string shown(char32_t c) {
    switch (c) {
        case '\n': return "\\n";
        case '\r': return "\\r";
        case '\t': return "\\t";
        case '\0': return "\\u{0}";
        case '\'': return "\\'";
        case '\\': return "\\\\";
        default: break;
    }
    std::string text;
    if (c < 0x20 || c == 0x7F) return fmt::format("\\u{{{:x}}}", static_cast<std::uint32_t>(c));
    append_utf8(text, c);
    return text;
}

constexpr const char* kLiteralsPage =
    "for more information, visit <https://doc.rust-lang.org/reference/tokens.html#literals>";

}  // namespace

// Takes a suffix (`1u8`) and emits the token.
void Lexer::finish_literal(TokenKind kind) {
    if (starts_ident(0)) {
        const std::uint32_t suffix = at_;
        eat_ident();
        if (text_.substr(suffix, at_ - suffix) == "_") {
            sink_.error(here(suffix, at_), "underscore literal suffix is not allowed");
        }
    }
    emit(kind);
}

// After `'`: a lifetime when an identifier follows that no other `'` ends.
void Lexer::quote() {
    const Decoded first = at_ + 1 < text_.size() ? decode_utf8(text_, at_ + 1) : Decoded{0, 1, true};
    const bool digit = first.c >= '0' && first.c <= '9';
    const bool one_character = at_ + 1 + first.size < text_.size() && text_[at_ + 1 + first.size] == '\'';
    if (at_ + 1 < text_.size() && !one_character && (is_ident_start(first.c) || digit)) return lifetime();
    quoted_character(TokenKind::Char, EscapeMode::Char);
}

void Lexer::lifetime() {
    ++at_;
    TokenKind kind = TokenKind::Lifetime;
    const bool digit = peek() >= '0' && peek() <= '9';
    if (peek() == 'r' && peek(1) == '#' && starts_ident(2)) {
        kind = TokenKind::RawLifetime;
        at_ += 2;
    }
    eat_ident();
    if (peek() == '\'' &&
        kind == TokenKind::Lifetime) {  // 'ab': a character literal with too many characters
        ++at_;
        check_content(EscapeMode::Char, start_ + 1, at_ - 1);
        return finish_literal(TokenKind::Char);
    }
    const std::string_view name = text_.substr(start_, at_ - start_);
    if (kind == TokenKind::RawLifetime) {
        const std::string_view bare = name.substr(3);
        if (bare == "self" || bare == "Self" || bare == "super" || bare == "crate" || bare == "_" ||
            bare == "static") {
            sink_.error(token_span(), fmt::format("`{}` cannot be a raw lifetime", bare));
        }
    } else if (digit) {
        sink_.error(token_span(), "lifetimes cannot start with a number");
    } else if (peek() == '#') {
        sink_.error(token_span(), fmt::format("prefix `{}` is unknown", name))
            .label(token_span(), "unknown prefix")
            .note("prefixed identifiers and literals are reserved since Rust 2021")
            .suggest(here(at_, at_), " ", "consider inserting whitespace here");
    }
    emit(kind);
}

// At the opening `'` (behind a `b`). The literal ends at the next `'`; without one on this line it is
// unterminated.
void Lexer::quoted_character(TokenKind kind, EscapeMode mode) {
    const std::uint32_t open = at_++;
    const Decoded first = !at_end() ? decode_utf8(text_, at_) : Decoded{};
    bool closed = false;
    if (!at_end() && first.c != '\\' && at_ + first.size < text_.size() && text_[at_ + first.size] == '\'') {
        at_ += first.size + 1;  // exactly one character, `'` and newline included
        closed = true;
    }
    while (!closed && !at_end()) {
        const char c = peek();
        if (c == '\'') {
            ++at_;
            closed = true;
        } else if (c == '/' || (c == '\n' && peek(1) != '\'')) {
            break;
        } else {
            at_ += c == '\\' && at_ + 1 < text_.size() ? 2 : 1;
        }
    }
    if (!closed) {
        const bool byte = mode == EscapeMode::Byte;
        sink_.error(byte ? Code::E0763 : Code::E0762, here(open, at_),
                    byte ? "unterminated byte constant" : "unterminated character literal");
        return fatal();
    }
    check_content(mode, open + 1, at_ - 1);
    finish_literal(kind);
}

// From behind an opening `"` to behind the closing one; false when there is none.
bool Lexer::find_closing_quote() {
    for (;;) {
        const std::size_t next = text_.find_first_of("\"\\", at_);
        if (next == std::string_view::npos) return false;
        at_ = static_cast<std::uint32_t>(next + 1);
        if (text_[next] == '"') return true;
        if (at_end()) return false;
        ++at_;
    }
}

void Lexer::string(TokenKind kind, EscapeMode mode) {
    const std::uint32_t open = at_++;
    if (!find_closing_quote()) {
        at_ = static_cast<std::uint32_t>(text_.size());
        const Code code = mode == EscapeMode::Str       ? Code::E0765
                          : mode == EscapeMode::ByteStr ? Code::E0766
                                                        : Code::E0767;
        const char* what = mode == EscapeMode::Str       ? "unterminated double quote string"
                           : mode == EscapeMode::ByteStr ? "unterminated double quote byte string"
                                                         : "unterminated C string";
        sink_.error(code, here(open, at_), what);
        return fatal();
    }
    check_content(mode, open + 1, at_ - 1);
    finish_literal(kind);
}

// At the first `#` or the `"` of a raw string.
void Lexer::raw_string(TokenKind kind, EscapeMode mode) {
    std::uint32_t hashes = 0;
    while (peek() == '#') {
        ++hashes;
        ++at_;
    }
    if (peek() != '"') {
        const Decoded d = !at_end() ? decode_utf8(text_, at_) : Decoded{};
        const std::uint32_t end = at_end() ? at_ : at_ + d.size;
        sink_.error(here(start_, end),
                    fmt::format("found invalid character; only `#` is allowed in raw string delimitation: {}",
                                at_end() ? "" : shown(d.c)));
        return fatal();
    }
    if (hashes > 255) {
        sink_.error(
            here(start_, at_),
            fmt::format(
                "too many `#` symbols: raw strings may be delimited by up to 255 `#` symbols, but found {}",
                hashes));
        return fatal();
    }
    const std::uint32_t open = at_++;
    std::uint32_t likely = 0, likely_hashes = 0;  // the place that came nearest to being the end
    for (;;) {
        const std::size_t next = text_.find('"', at_);
        if (next == std::string_view::npos) {
            at_ = static_cast<std::uint32_t>(text_.size());
            return raw_unterminated(hashes, likely, likely_hashes);
        }
        at_ = static_cast<std::uint32_t>(next + 1);
        std::uint32_t found = 0;
        while (found < hashes && peek() == '#') {
            ++found;
            ++at_;
        }
        if (found == hashes) break;
        if (found > likely_hashes) {
            likely = static_cast<std::uint32_t>(next + 1);
            likely_hashes = found;
        }
    }
    check_content(mode, open + 1, at_ - 1 - hashes);
    finish_literal(kind);
}

void Lexer::raw_unterminated(std::uint32_t hashes, std::uint32_t likely, std::uint32_t likely_hashes) {
    const std::string closer = std::string(hashes, '#');
    Diagnostic& error = sink_.error(Code::E0748, here(start_, start_ + 1), "unterminated raw string");
    error.label(here(start_, start_ + 1), "unterminated raw string");
    if (hashes != 0) error.note(fmt::format("this raw string should be terminated with `\"{}`", closer));
    if (likely_hashes != 0) {
        error.suggest(here(likely, likely + likely_hashes), closer, "consider terminating the string here");
    }
    fatal();
}

// Reports what is wrong between the quotes. Most literals have nothing to look at.
void Lexer::check_content(EscapeMode mode, std::uint32_t begin, std::uint32_t end) {
    const std::string_view content = text_.substr(begin, end - begin);
    const bool plain = std::none_of(content.begin(), content.end(), [](char c) {
        return c == '\\' || c == '\r' || c == '\0' || static_cast<unsigned char>(c) >= 0x80;
    });
    if (plain && !is_single(mode)) return;
    if (!plain) check_bidi(begin, end, "literal");
    std::size_t units = 0;
    bool failed = false;
    for (std::size_t at = 0; at < content.size();) {
        const EscapeUnit unit = next_unit(mode, content, at);
        ++units;
        if (unit.error == EscapeError::None) continue;
        if (is_single(mode) && units == 1 && at < content.size() && unit.error == EscapeError::MustBeEscaped)
            continue;
        report_escape(mode, begin, unit);
        failed = true;
        if (is_single(mode)) return;
    }
    if (!is_single(mode) || failed) return;
    if (units == 0) {
        sink_.error(here(begin, end + 1), "empty character literal")
            .label(here(begin, end + 1), "empty character literal");
    } else if (units > 1) {
        const Span whole = here(begin - 1, end + 1);
        const bool byte = mode == EscapeMode::Byte;
        std::string replacement = byte ? "b\"" : "\"";
        for (char c : content)
            replacement += c == '"' ? std::string("\\\"") : std::string(1, c);
        const Span literal = byte ? here(begin - 2, end + 1) : whole;
        sink_.error(literal, "character literal may only contain one codepoint")
            .suggest(literal, replacement + "\"",
                     fmt::format("if you meant to write a {} literal, use double quotes",
                                 byte ? "byte string" : "string"),
                     Applicability::MachineApplicable);
    }
}

namespace {

const char* literal_place(EscapeMode mode) {
    switch (mode) {
        case EscapeMode::Byte: return "byte literal";
        case EscapeMode::ByteStr: return "byte string literal";
        case EscapeMode::RawByteStr: return "raw byte string literal";
        case EscapeMode::Char:
        case EscapeMode::Str:
        case EscapeMode::CStr:
        case EscapeMode::RawStr:
        case EscapeMode::RawCStr: break;
    }
    return "literal";
}

}  // namespace

void Lexer::report_escape(EscapeMode mode, std::uint32_t base, const EscapeUnit& unit) {
    const Span span =
        here(base + static_cast<std::uint32_t>(unit.begin), base + static_cast<std::uint32_t>(unit.end));
    const std::string_view source = text_.substr(span.begin, span.size());
    const char32_t c = source.empty() ? 0 : decode_utf8(source, 0).c;
    const auto say = [&](std::string message) -> Diagnostic& {
        return sink_.error(span, std::move(message));
    };
    const auto say_label = [&](std::string message, std::string label) -> Diagnostic& {
        return sink_.error(span, std::move(message)).label(span, std::move(label));
    };
    switch (unit.error) {
        case EscapeError::None: return;
        case EscapeError::LoneBackslash:
            say_label("invalid trailing slash in literal", "invalid trailing slash in literal");
            return;
        case EscapeError::UnknownEscape: {
            const bool byte = is_bytes(mode);
            const std::string what = byte ? "unknown byte escape" : "unknown character escape";
            Diagnostic& error = say_label(fmt::format("{}: `{}`", what, shown(c)), what);
            if (c == '\r') {
                error.help(
                    "this is an isolated carriage return; consider checking your editor and version control "
                    "settings");
                return;
            }
            if (c == '{' || c == '}')
                error.help("if used in a formatting string, curly braces are escaped with `{{` and `}}`");
            error.help(kLiteralsPage);
            return;
        }
        case EscapeError::BareCarriageReturn:
            if (is_raw(mode)) {
                say("bare CR not allowed in raw string");
            } else {
                say("bare CR not allowed in string, use `\\r` instead")
                    .suggest(span, "\\r", "escape the character", Applicability::MachineApplicable);
            }
            return;
        case EscapeError::MustBeEscaped:
            say(fmt::format("{} constant must be escaped: `{}`",
                            mode == EscapeMode::Byte ? "byte" : "character", c == '\'' ? "'" : shown(c)))
                .suggest(span, shown(c), "escape the character", Applicability::MachineApplicable);
            return;
        case EscapeError::HexTooShort:
            say_label("numeric character escape is too short", "numeric character escape is too short");
            return;
        case EscapeError::HexInvalidCharacter:
            say_label(fmt::format("invalid character in numeric character escape: `{}`", shown(c)),
                      "invalid character in numeric character escape");
            return;
        case EscapeError::HexOutOfRange: {
            Diagnostic& error =
                say_label("out of range hex escape", "must be a character in the range [\\x00-\\x7f]");
            if (mode == EscapeMode::Char) {
                error.help(fmt::format("if you want to write a byte literal, use `b'{}'`", source))
                    .help(fmt::format("if you want to write a Unicode character, use `'\\u{{{}}}'`",
                                      source.substr(2)));
            }
            return;
        }
        case EscapeError::UnicodeNoBrace:
            say("incorrect unicode escape sequence").help("format of unicode escape sequences is `\\u{...}`");
            return;
        case EscapeError::UnicodeInvalidStart:
            say_label("invalid start of unicode escape: `_`", "invalid start of unicode escape");
            return;
        case EscapeError::UnicodeInvalidCharacter:
            say_label(fmt::format("invalid character in unicode escape: `{}`", shown(c)),
                      "invalid character in unicode escape");
            return;
        case EscapeError::UnicodeEmpty:
            say_label("empty unicode escape", "this escape must have at least 1 hex digit");
            return;
        case EscapeError::UnicodeUnclosed:
            say_label("unterminated unicode escape", "missing a closing `}`");
            return;
        case EscapeError::UnicodeOverlong:
            say_label("overlong unicode escape", "must have at most 6 hex digits");
            return;
        case EscapeError::UnicodeSurrogate:
            say_label("invalid unicode character escape", "invalid escape")
                .help("unicode escape must not be a surrogate");
            return;
        case EscapeError::UnicodeOutOfRange:
            say_label("invalid unicode character escape", "invalid escape")
                .help("unicode escape must be at most 10FFFF");
            return;
        case EscapeError::UnicodeInBytes:
            say_label("unicode escape in byte string", "unicode escape in byte string")
                .help("unicode escape sequences cannot be used as a byte or in a byte string");
            return;
        case EscapeError::NonAscii: {
            Diagnostic& error =
                say_label(fmt::format("non-ASCII character in {}", literal_place(mode)), "must be ASCII");
            if (c <= 0xFF && !is_raw(mode)) {
                error.suggest(
                    span, fmt::format("\\x{:X}", static_cast<std::uint32_t>(c)),
                    fmt::format("if you meant to use the unicode code point for '{}', use a \\xHH escape",
                                source));
            }
            return;
        }
        case EscapeError::NullInCString:
            say("null characters in C string literals are not supported");
            return;
        case EscapeError::SkipsSeveralLines:
            sink_.add(Severity::Warning, Code::None, span, "multiple lines skipped by escaped newline")
                .label(span, "skipping everything up to and including this point");
            return;
    }
}

}  // namespace ockc::lex
