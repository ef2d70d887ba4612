// Decoding of single UTF-8 sequences.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace ockc::lex {

struct Decoded {
    char32_t c = 0;
    std::uint32_t size = 1;  // bytes taken; at least 1 also when invalid
    bool valid = true;
};

// The character at `text[at]` (at < size). Overlong forms, surrogates and cut sequences are invalid, one byte
// each.
inline Decoded decode_utf8(std::string_view text, std::size_t at) {
    const auto byte = [&](std::size_t i) {
        return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u;
    };
    const unsigned b0 = byte(at);
    if (b0 < 0x80) return {static_cast<char32_t>(b0), 1, true};
    const std::uint32_t size = b0 >= 0xF0 ? 4 : b0 >= 0xE0 ? 3 : 2;
    char32_t c = size == 4 ? b0 & 7u : size == 3 ? b0 & 15u : b0 & 31u;
    for (std::uint32_t i = 1; i < size; ++i) {
        const unsigned b = byte(at + i);
        if ((b & 0xC0) != 0x80) return {0xFFFD, 1, false};
        c = (c << 6) | (b & 63u);
    }
    constexpr char32_t kSmallest[] = {0, 0, 0x80, 0x800, 0x10000};
    if (b0 < 0xC2 || b0 > 0xF4 || c < kSmallest[size] || c > 0x10FFFF || (c >= 0xD800 && c < 0xE000))
        return {0xFFFD, 1, false};
    return {c, size, true};
}

inline void append_utf8(std::string& out, char32_t c) {
    const auto put = [&](char32_t b) { out += static_cast<char>(static_cast<unsigned char>(b)); };
    if (c < 0x80) {
        put(c);
    } else if (c < 0x800) {
        put(0xC0 | (c >> 6));
        put(0x80 | (c & 63));
    } else if (c < 0x10000) {
        put(0xE0 | (c >> 12));
        put(0x80 | ((c >> 6) & 63));
        put(0x80 | (c & 63));
    } else {
        put(0xF0 | (c >> 18));
        put(0x80 | ((c >> 12) & 63));
        put(0x80 | ((c >> 6) & 63));
        put(0x80 | (c & 63));
    }
}

}  // namespace ockc::lex
