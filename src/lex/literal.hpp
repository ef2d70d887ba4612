// Literal tokens as values: integers up to 128 bits, characters, strings and their escapes; floats stay text
// until their type is known. The lexer has already reported what is wrong with a literal's form (escapes,
// missing quotes, no digits); what rustc reports only where the literal is used comes back as a LiteralError.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "diag/sink.hpp"
#include "lex/token.hpp"
#include "source/span.hpp"

namespace ockc::lex {

using UInt128 = unsigned __int128;

enum class LiteralKind : std::uint8_t { Bool, Integer, Float, Char, Byte, String, ByteString, CString };

enum class LiteralError : std::uint8_t {
    None,
    IntegerTooLarge,     // does not fit 128 bits
    InvalidIntSuffix,    // 1foo, 1u20
    InvalidFloatSuffix,  // 1.0foo, 1.0u8
    NonDecimalFloat,     // 0x1f32 is fine, 0b1.0 and 0o1f32 are not
    SuffixNotAllowed,    // "text"suffix
    Malformed,           // reported by the lexer
};

struct DecodedLiteral {
    LiteralKind kind = LiteralKind::Integer;
    LiteralError error = LiteralError::None;
    int base = 10;            // Integer: 2, 8, 10 or 16
    UInt128 value = 0;        // Integer; Char and Byte: the code
    std::string text;         // strings: the decoded bytes; Float: the digits without `_`
    std::string_view suffix;  // into the token's text
};

// `text` is the whole token of a literal kind (is_literal(kind)). Integers with a float suffix (`1f32`) come
// out as Float.
DecodedLiteral decode_literal(TokenKind kind, std::string_view text);

// The error that rustc gives for a literal in expression or pattern position; nothing for None and Malformed.
void report_literal_error(LiteralError error, std::string_view text, Span span, DiagSink& sink);

// The nearest f32 / f64 of a Float's text (round to nearest even; infinity when out of range).
float parse_f32(std::string_view digits);
double parse_f64(std::string_view digits);

}  // namespace ockc::lex
