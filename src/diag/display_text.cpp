#include "diag/display_text.hpp"

#include <cstdint>

namespace ockc {

namespace {

struct WidthRange {
    char32_t first;
    char32_t last;
    std::uint8_t width;
};

// Blocks whose characters are not one column wide: combining marks and joiners (0), East Asian wide forms and
// emoji (2).
constexpr WidthRange kWidths[] = {
    {0x0300, 0x036F, 0},   {0x0483, 0x0489, 0},   {0x0591, 0x05BD, 0},   {0x0610, 0x061A, 0},
    {0x064B, 0x065F, 0},   {0x093C, 0x093C, 0},   {0x0941, 0x0948, 0},   {0x1100, 0x115F, 2},
    {0x1AB0, 0x1AFF, 0},   {0x1DC0, 0x1DFF, 0},   {0x200B, 0x200F, 0},   {0x2028, 0x202E, 0},
    {0x2060, 0x2064, 0},   {0x20D0, 0x20F0, 0},   {0x231A, 0x231B, 2},   {0x23E9, 0x23EC, 2},
    {0x25FD, 0x25FE, 2},   {0x2614, 0x2615, 2},   {0x2648, 0x2653, 2},   {0x26A1, 0x26A1, 2},
    {0x26D4, 0x26D4, 2},   {0x2705, 0x2705, 2},   {0x270A, 0x270B, 2},   {0x2728, 0x2728, 2},
    {0x274C, 0x274C, 2},   {0x2753, 0x2755, 2},   {0x2795, 0x2797, 2},   {0x2B1B, 0x2B1C, 2},
    {0x2B50, 0x2B50, 2},   {0x2E80, 0x303E, 2},   {0x3041, 0x33FF, 2},   {0x3400, 0x4DBF, 2},
    {0x4E00, 0x9FFF, 2},   {0xA000, 0xA4CF, 2},   {0xA960, 0xA97F, 2},   {0xAC00, 0xD7A3, 2},
    {0xF900, 0xFAFF, 2},   {0xFE00, 0xFE0F, 0},   {0xFE20, 0xFE2F, 0},   {0xFE30, 0xFE6F, 2},
    {0xFEFF, 0xFEFF, 0},   {0xFF00, 0xFF60, 2},   {0xFFE0, 0xFFE6, 2},   {0x1F300, 0x1F64F, 2},
    {0x1F680, 0x1F6FF, 2}, {0x1F900, 0x1F9FF, 2}, {0x1FA70, 0x1FAFF, 2}, {0x20000, 0x3FFFD, 2},
    {0xE0100, 0xE01EF, 0},
};

bool is_direction_mark(char32_t c) {
    return (c >= 0x202A && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069);
}

}  // namespace

char32_t next_char(std::string_view text, std::size_t& at) {
    const auto byte = [&](std::size_t i) {
        return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u;
    };
    const unsigned first = byte(at);
    const std::size_t size = first < 0x80 ? 1 : first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : first >= 0xC2 ? 2 : 0;
    char32_t c = size == 1 ? first : size == 4 ? first & 7 : size == 3 ? first & 15 : first & 31;
    for (std::size_t i = 1; i < size; ++i) {
        if ((byte(at + i) & 0xC0) != 0x80) {
            ++at;
            return 0xFFFD;
        }
        c = (c << 6) | (byte(at + i) & 63);
    }
    at += size == 0 ? 1 : size;
    return size == 0 ? 0xFFFD : c;
}

void append_char(std::string& out, char32_t c) {
    const auto put = [&](char32_t b) { out += static_cast<char>(static_cast<unsigned char>(b)); };
    if (c < 0x80) {
        put(c);
    } else if (c < 0x800) {
        put(0xC0 | (c >> 6)), put(0x80 | (c & 63));
    } else if (c < 0x10000) {
        put(0xE0 | (c >> 12)), put(0x80 | ((c >> 6) & 63)), put(0x80 | (c & 63));
    } else {
        put(0xF0 | (c >> 18)), put(0x80 | ((c >> 12) & 63)), put(0x80 | ((c >> 6) & 63)),
            put(0x80 | (c & 63));
    }
}

std::string displayed(std::string_view source) {
    std::string out;
    out.reserve(source.size());
    for_each_char(source, [&](char32_t c) {
        if (c == '\t') {
            out += "    ";
        } else if (c < 0x20) {
            append_char(out, 0x2400 + c);  // the control pictures
        } else if (c == 0x7F) {
            append_char(out, 0x2421);
        } else if (is_direction_mark(c)) {
            append_char(out, 0xFFFD);
        } else if (c != 0x200D) {
            append_char(out, c);
        }
    });
    return out;
}

std::size_t display_width(char32_t c) {
    if (c == '\t') return 4;
    if (c == '\n') return 0;  // the end of a line, as at the end of a file
    if (c < 0x300) return 1;
    if (is_direction_mark(c)) return 1;
    for (const WidthRange& range : kWidths) {
        if (c < range.first) return 1;
        if (c <= range.last) return range.width;
    }
    return 1;
}

std::size_t display_width(std::string_view source) {
    std::size_t width = 0;
    for_each_char(source, [&](char32_t c) { width += display_width(c); });
    return width;
}

std::size_t char_count(std::string_view text) {
    std::size_t count = 0;
    for (const char c : text)
        count += (static_cast<unsigned char>(c) & 0xC0) != 0x80;
    return count;
}

}  // namespace ockc
