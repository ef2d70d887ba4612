// The inside of character and string literals, unit by unit: plain characters and escape sequences.
#pragma once
#include <cstdint>
#include <string_view>

#include "lex/utf8.hpp"

namespace ockc::lex {

enum class EscapeMode : std::uint8_t { Char, Byte, Str, ByteStr, CStr, RawStr, RawByteStr, RawCStr };

constexpr bool is_raw(EscapeMode mode) {
    return mode >= EscapeMode::RawStr;
}
constexpr bool is_single(EscapeMode mode) {
    return mode <= EscapeMode::Byte;
}
constexpr bool is_bytes(EscapeMode mode) {
    return mode == EscapeMode::Byte || mode == EscapeMode::ByteStr || mode == EscapeMode::RawByteStr;
}
constexpr bool is_c_string(EscapeMode mode) {
    return mode == EscapeMode::CStr || mode == EscapeMode::RawCStr;
}

enum class EscapeError : std::uint8_t {
    None,
    LoneBackslash,  // at the end of the literal
    UnknownEscape,
    BareCarriageReturn,
    MustBeEscaped,  // ' newline tab in a character literal
    HexTooShort,
    HexInvalidCharacter,
    HexOutOfRange,
    UnicodeNoBrace,
    UnicodeInvalidStart,  // \u{_
    UnicodeInvalidCharacter,
    UnicodeEmpty,
    UnicodeUnclosed,
    UnicodeOverlong,
    UnicodeSurrogate,
    UnicodeOutOfRange,
    UnicodeInBytes,
    NonAscii,
    NullInCString,
    SkipsSeveralLines,  // a warning: `\` newline newline
};

struct EscapeUnit {
    std::size_t begin = 0;  // in the content; errors narrow it to what rustc underlines
    std::size_t end = 0;
    char32_t value = 0;
    bool is_byte = false;  // from \xHH: one byte in byte and C strings
    EscapeError error = EscapeError::None;
};

// Reads the unit at `at` and moves `at` behind it. A skipped line end (`\` newline) is a unit with begin ==
// end, no value.
EscapeUnit next_unit(EscapeMode mode, std::string_view content, std::size_t& at);

}  // namespace ockc::lex
