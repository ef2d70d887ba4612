#include "lex/literal.hpp"

#include <fmt/format.h>

#include <charconv>
#include <iterator>
#include <limits>

#include "lex/escape.hpp"
#include "support/check.hpp"

namespace ockc::lex {

namespace {

constexpr std::string_view kIntSuffixes[] = {"u8", "u16", "u32", "u64", "u128", "usize",
                                             "i8", "i16", "i32", "i64", "i128", "isize"};
// f16 and f128 are Rust's (unstable); bf16 is written by conversion only.
constexpr std::string_view kFloatSuffixes[] = {"f16", "f32", "f64", "f128"};

template <std::size_t N>
bool is_one_of(const std::string_view (&names)[N], std::string_view name) {
    for (const std::string_view candidate : names) {
        if (candidate == name) return true;
    }
    return false;
}

struct Quoted {
    TokenKind token;
    LiteralKind kind;
    EscapeMode mode;
    std::size_t prefix;  // characters before the quote or the first `#`
};

constexpr Quoted kQuoted[] = {
    {TokenKind::Char, LiteralKind::Char, EscapeMode::Char, 0},
    {TokenKind::Byte, LiteralKind::Byte, EscapeMode::Byte, 1},
    {TokenKind::String, LiteralKind::String, EscapeMode::Str, 0},
    {TokenKind::RawString, LiteralKind::String, EscapeMode::RawStr, 1},
    {TokenKind::ByteString, LiteralKind::ByteString, EscapeMode::ByteStr, 1},
    {TokenKind::RawByteString, LiteralKind::ByteString, EscapeMode::RawByteStr, 2},
    {TokenKind::CString, LiteralKind::CString, EscapeMode::CStr, 1},
    {TokenKind::RawCString, LiteralKind::CString, EscapeMode::RawCStr, 2},
};

const Quoted& quoted_form(TokenKind token) {
    const Quoted* row = std::begin(kQuoted);
    while (row->token != token) {
        ++row;
        OCKC_CHECK_MSG(row != std::end(kQuoted), "not a literal token");
    }
    return *row;
}

DecodedLiteral decode_quoted(TokenKind token, std::string_view text) {
    const Quoted& form = quoted_form(token);
    DecodedLiteral out;
    out.kind = form.kind;
    std::size_t open = form.prefix;
    std::size_t hashes = 0;
    while (open < text.size() && text[open] == '#')
        ++open, ++hashes;
    const char quote = is_single(form.mode) ? '\'' : '"';
    const std::size_t close = text.rfind(quote);
    if (close == std::string_view::npos || close <= open) {
        out.error = LiteralError::Malformed;
        return out;
    }
    out.suffix = text.substr(close + 1 + hashes);
    const std::string_view content = text.substr(open + 1, close - open - 1);
    std::size_t units = 0;
    for (std::size_t at = 0; at < content.size();) {
        const EscapeUnit unit = next_unit(form.mode, content, at);
        if (unit.error == EscapeError::SkipsSeveralLines || unit.begin == unit.end) continue;
        if (unit.error != EscapeError::None) out.error = LiteralError::Malformed;
        ++units;
        out.value = unit.value;
        const bool one_byte = unit.is_byte && (is_bytes(form.mode) || is_c_string(form.mode));
        if (one_byte) {
            out.text += static_cast<char>(static_cast<unsigned char>(unit.value));
        } else {
            append_utf8(out.text, unit.value);
        }
    }
    if (is_single(form.mode) && units != 1) out.error = LiteralError::Malformed;
    if (out.error == LiteralError::None && !out.suffix.empty()) out.error = LiteralError::SuffixNotAllowed;
    return out;
}

int digit_value(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return 99;
}

// Where the digits of a number end and its suffix begins.
std::size_t suffix_begin(std::string_view text, int base) {
    std::size_t i = base == 10 ? 0 : 2;
    if (base == 16) {
        while (i < text.size() && (digit_value(text[i]) < 16 || text[i] == '_'))
            ++i;
        return i;
    }
    while (i < text.size() && ((text[i] >= '0' && text[i] <= '9') || text[i] == '_' || text[i] == '.'))
        ++i;
    const bool exponent = base == 10 && i < text.size() && (text[i] == 'e' || text[i] == 'E');
    if (!exponent) return i;
    ++i;
    if (i < text.size() && (text[i] == '+' || text[i] == '-')) ++i;
    while (i < text.size() && ((text[i] >= '0' && text[i] <= '9') || text[i] == '_'))
        ++i;
    return i;
}

void decode_float(std::string_view digits, DecodedLiteral& out) {
    out.kind = LiteralKind::Float;
    for (const char c : digits) {
        if (c != '_') out.text += c;
    }
    if (!out.suffix.empty() && !is_one_of(kFloatSuffixes, out.suffix))
        out.error = LiteralError::InvalidFloatSuffix;
}

void decode_integer(std::string_view digits, DecodedLiteral& out) {
    out.kind = LiteralKind::Integer;
    if (!out.suffix.empty() && !is_one_of(kIntSuffixes, out.suffix))
        out.error = LiteralError::InvalidIntSuffix;
    constexpr UInt128 kMax = ~UInt128{0};
    const auto base = static_cast<UInt128>(out.base);
    for (const char c : digits) {
        if (c == '_') continue;
        const int digit = digit_value(c);
        if (digit >= out.base) {
            out.error = LiteralError::Malformed;
            return;
        }
        if (out.value > kMax / base || out.value * base > kMax - static_cast<UInt128>(digit)) {
            out.error = LiteralError::IntegerTooLarge;
            return;
        }
        out.value = out.value * base + static_cast<UInt128>(digit);
    }
}

}  // namespace

DecodedLiteral decode_literal(TokenKind kind, std::string_view text) {
    if (kind != TokenKind::Integer && kind != TokenKind::Float) return decode_quoted(kind, text);
    DecodedLiteral out;
    if (text.size() > 1 && text[0] == '0')
        out.base = text[1] == 'x' ? 16 : text[1] == 'o' ? 8 : text[1] == 'b' ? 2 : 10;
    const std::size_t end = suffix_begin(text, out.base);
    out.suffix = text.substr(end);
    const std::string_view digits = text.substr(0, end);
    const bool float_suffix = is_one_of(kFloatSuffixes, out.suffix);
    if (kind == TokenKind::Float || (float_suffix && out.base == 10)) {
        decode_float(digits, out);
    } else if (float_suffix) {  // 0b1f32, 0o7f64; with base 16 the `f32` is digits
        out.error = LiteralError::NonDecimalFloat;
    } else {
        decode_integer(digits.substr(out.base == 10 ? 0 : 2), out);
    }
    return out;
}

namespace {

// `u20` has a type's letter and a width that no type has.
bool is_width_suffix(std::string_view suffix, std::string_view letters) {
    if (suffix.size() < 2 || letters.find(suffix[0]) == std::string_view::npos) return false;
    return suffix.substr(1).find_first_not_of("0123456789") == std::string_view::npos;
}

// Base prefixes in upper case read as suffixes: `0X1` is `0` with suffix `X1`.
bool is_upper_base(std::string_view text, std::string_view suffix) {
    if (text.substr(0, text.size() - suffix.size()) != "0" || suffix.size() < 2) return false;
    const std::string_view digits = suffix.substr(1);
    switch (suffix[0]) {
        case 'X': return digits.find_first_not_of("0123456789abcdefABCDEF_") == std::string_view::npos;
        case 'O': return digits.find_first_not_of("01234567_") == std::string_view::npos;
        case 'B': return digits.find_first_not_of("01_") == std::string_view::npos;
        default: return false;
    }
}

void report_int_suffix(std::string_view text, std::string_view suffix, Span span, DiagSink& sink) {
    if (is_width_suffix(suffix, "iu")) {
        sink.error(span, fmt::format("invalid width `{}` for integer literal", suffix.substr(1)))
            .help("valid widths are 8, 16, 32, 64 and 128");
    } else if (is_upper_base(text, suffix)) {
        std::string fixed(text);
        fixed[1] = static_cast<char>(fixed[1] - 'A' + 'a');
        sink.error(span, "invalid base prefix for number literal")
            .note("base prefixes (`0xff`, `0b1010`, `0o755`) are lowercase")
            .suggest_inline(span, fixed, "try making the prefix lowercase");
    } else {
        sink.error(span, fmt::format("invalid suffix `{}` for number literal", suffix))
            .label(span, fmt::format("invalid suffix `{}`", suffix))
            .help("the suffix must be one of the numeric types (`u32`, `isize`, `f32`, etc.)");
    }
}

void report_float_suffix(std::string_view suffix, Span span, DiagSink& sink) {
    if (is_width_suffix(suffix, "f")) {
        sink.error(span, fmt::format("invalid width `{}` for float literal", suffix.substr(1)))
            .help("valid widths are 32 and 64");
        return;
    }
    sink.error(span, fmt::format("invalid suffix `{}` for float literal", suffix))
        .label(span, fmt::format("invalid suffix `{}`", suffix))
        .help("valid suffixes are `f32` and `f64`");
}

std::string_view kind_name(std::string_view text) {
    if (text.substr(0, 2) == "b'") return "byte";
    if (text.substr(0, 1) == "'") return "char";
    if (text.substr(0, 1) == "b") return "byte string";
    if (text.substr(0, 1) == "c") return "C string";
    return "string";
}

}  // namespace

void report_literal_error(LiteralError error, std::string_view text, Span span, DiagSink& sink) {
    const auto suffix_of = [&](TokenKind kind) { return decode_literal(kind, text).suffix; };
    switch (error) {
        case LiteralError::None:
        case LiteralError::Malformed: return;
        case LiteralError::IntegerTooLarge:
            sink.error(span, "integer literal is too large")
                .note("value exceeds limit of `340282366920938463463374607431768211455`");
            return;
        case LiteralError::InvalidIntSuffix:
            report_int_suffix(text, suffix_of(TokenKind::Integer), span, sink);
            return;
        case LiteralError::InvalidFloatSuffix:
            report_float_suffix(suffix_of(TokenKind::Float), span, sink);
            return;
        case LiteralError::NonDecimalFloat: {
            const std::string_view base = text.substr(0, 2) == "0b" ? "binary" : "octal";
            sink.error(span, fmt::format("{} float literal is not supported", base))
                .label(span, "not supported");
            return;
        }
        case LiteralError::SuffixNotAllowed: {
            const std::size_t close = text.find_last_of("\"'");
            std::string_view suffix = text.substr(close + 1);
            while (!suffix.empty() && suffix.front() == '#')
                suffix.remove_prefix(1);
            sink.error(span, fmt::format("suffixes on {} literals are invalid", kind_name(text)))
                .label(span, fmt::format("invalid suffix `{}`", suffix));
            return;
        }
    }
}

namespace {

template <class T>
T parse_float_as(std::string_view digits) {
    std::string text(digits);
    if (!text.empty() && text.back() == '.')
        text.pop_back();  // "1." is no float for from_chars in every library
    T value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc::result_out_of_range) return value;
    // Too large or too small: decided by the decimal exponent of the first non-zero digit.
    const std::size_t e = text.find_first_of("eE");
    long exponent = 0;
    if (e != std::string::npos) {
        const bool negative = e + 1 < text.size() && text[e + 1] == '-';
        exponent = negative ? -1'000'000 : 1'000'000;
    }
    std::size_t point = text.find('.');
    if (point == std::string::npos) point = e == std::string::npos ? text.size() : e;
    const std::size_t first = text.find_first_of("123456789");
    const long magnitude = static_cast<long>(point) - static_cast<long>(first);
    return magnitude + exponent > 0 ? std::numeric_limits<T>::infinity() : T{0};
}

}  // namespace

float parse_f32(std::string_view digits) {
    return parse_float_as<float>(digits);
}
double parse_f64(std::string_view digits) {
    return parse_float_as<double>(digits);
}

}  // namespace ockc::lex
