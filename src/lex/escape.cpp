#include "lex/escape.hpp"

namespace ockc::lex {

namespace {

int hex_digit(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

EscapeUnit failed(EscapeError error, std::size_t begin, std::size_t end) {
    return {begin, end, 0xFFFD, false, error};
}

// The width of the character at `at`, for underlining it.
std::size_t char_end(std::string_view content, std::size_t at) {
    return at + decode_utf8(content, at).size;
}

// \xHH; `at` is behind the x. In text only up to 7F.
EscapeUnit hex_escape(EscapeMode mode, std::string_view content, std::size_t begin, std::size_t& at) {
    char32_t value = 0;
    for (int i = 0; i < 2; ++i) {
        if (at >= content.size()) return failed(EscapeError::HexTooShort, begin, at);
        const int digit = hex_digit(content[at]);
        if (digit < 0) {
            const std::size_t bad = at;
            at = char_end(content, at);
            return failed(EscapeError::HexInvalidCharacter, bad, at);
        }
        value = value * 16 + static_cast<char32_t>(digit);
        ++at;
    }
    if (value > 0x7F && !is_bytes(mode) && !is_c_string(mode))
        return failed(EscapeError::HexOutOfRange, begin, at);
    return {begin, at, value, true, EscapeError::None};
}

// \u{H..}; `at` is behind the u.
EscapeUnit unicode_escape(EscapeMode mode, std::string_view content, std::size_t begin, std::size_t& at) {
    if (at >= content.size() || content[at] != '{') return failed(EscapeError::UnicodeNoBrace, begin, at);
    ++at;
    if (at < content.size() && content[at] == '_') {
        ++at;
        return failed(EscapeError::UnicodeInvalidStart, at - 1, at);
    }
    if (at < content.size() && content[at] == '}') {
        ++at;
        return failed(EscapeError::UnicodeEmpty, begin, at);
    }
    char32_t value = 0;
    int digits = 0;
    for (;; ++at) {
        if (at >= content.size()) return failed(EscapeError::UnicodeUnclosed, begin, at);
        if (content[at] == '_') continue;
        if (content[at] == '}') break;
        const int digit = hex_digit(content[at]);
        if (digit < 0) {
            const std::size_t bad = at;
            at = char_end(content, at);
            return failed(EscapeError::UnicodeInvalidCharacter, bad, at);
        }
        if (++digits <= 6) value = value * 16 + static_cast<char32_t>(digit);
    }
    ++at;
    if (digits > 6) return failed(EscapeError::UnicodeOverlong, begin, at);
    if (is_bytes(mode)) return failed(EscapeError::UnicodeInBytes, begin, at);
    if (value > 0x10FFFF) return failed(EscapeError::UnicodeOutOfRange, begin, at);
    if (value >= 0xD800 && value < 0xE000) return failed(EscapeError::UnicodeSurrogate, begin, at);
    return {begin, at, value, false, EscapeError::None};
}

// `\` and a line end: the white space that follows is not part of the string.
EscapeUnit skip_line_end(std::string_view content, std::size_t begin, std::size_t& at) {
    int lines = 0;
    while (at < content.size() &&
           (content[at] == ' ' || content[at] == '\t' || content[at] == '\n' || content[at] == '\r')) {
        if (content[at] == '\n') ++lines;
        ++at;
    }
    if (lines > 1) return {begin, at, 0, false, EscapeError::SkipsSeveralLines};
    return {at, at, 0, false, EscapeError::None};
}

EscapeUnit escape(EscapeMode mode, std::string_view content, std::size_t begin, std::size_t& at) {
    if (at >= content.size()) return failed(EscapeError::LoneBackslash, begin, at);
    const char c = content[at];
    if (!is_single(mode)) {
        if (c == '\n') return skip_line_end(content, begin, at);
        if (c == '\r' && at + 1 < content.size() && content[at + 1] == '\n')
            return skip_line_end(content, begin, at);
    }
    ++at;
    switch (c) {
        case 'n': return {begin, at, '\n', true, EscapeError::None};
        case 'r': return {begin, at, '\r', true, EscapeError::None};
        case 't': return {begin, at, '\t', true, EscapeError::None};
        case '\\': return {begin, at, '\\', true, EscapeError::None};
        case '0': return {begin, at, '\0', true, EscapeError::None};
        case '\'': return {begin, at, '\'', true, EscapeError::None};
        case '"': return {begin, at, '"', true, EscapeError::None};
        case 'x': return hex_escape(mode, content, begin, at);
        case 'u': return unicode_escape(mode, content, begin, at);
        default: break;
    }
    --at;
    const std::size_t bad = at;
    at = char_end(content, at);
    return failed(EscapeError::UnknownEscape, bad, at);
}

}  // namespace

EscapeUnit next_unit(EscapeMode mode, std::string_view content, std::size_t& at) {
    const std::size_t begin = at;
    const Decoded d = decode_utf8(content, at);
    at += d.size;
    EscapeUnit unit{begin, at, d.c, false, EscapeError::None};
    if (d.c == '\\' && !is_raw(mode)) {
        unit = escape(mode, content, begin, at);
    } else if (d.c == '\r') {
        const bool line_end = at < content.size() && content[at] == '\n';
        if (line_end && !is_single(mode)) {
            ++at;  // a CRLF line end counts as a newline
            unit = {begin, at, '\n', false, EscapeError::None};
        } else {
            unit.error = is_single(mode) ? EscapeError::MustBeEscaped : EscapeError::BareCarriageReturn;
        }
    } else if (is_single(mode) && (d.c == '\n' || d.c == '\t' || d.c == '\'')) {
        unit.error = EscapeError::MustBeEscaped;
    } else if (d.c >= 0x80 && is_bytes(mode)) {
        unit.error = EscapeError::NonAscii;
    }
    const bool is_value = unit.error == EscapeError::None && unit.begin != unit.end;
    if (is_value && unit.value == 0 && is_c_string(mode)) unit.error = EscapeError::NullInCString;
    return unit;
}

}  // namespace ockc::lex
