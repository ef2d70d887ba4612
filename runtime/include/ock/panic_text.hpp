// The text of a failed check: holes of a message filled with the words that the device wrote, as Rust's formatter shows
// them. `{}` is an unsigned 64-bit number; `{i32}`, `{f32:.3}`, `{char:?}` name the type and the layout; `{{` and `}}` are
// braces. Used by programs and by the compiler's own launcher.
#pragma once
#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>
#include <string_view>

namespace ock::detail {

// `[[fill]align][+][#][0][width][.precision][kind]`, kind: nothing, ?, x, X, o, b, e, E.
struct ValueLayout {
    std::string fill = " ";   // UTF-8
    char align = 0;           // < > ^
    bool plus = false, alternate = false, zero = false;
    std::size_t width = 0;
    int precision = -1;
    char kind = 0;

    explicit ValueLayout(std::string_view spec) {
        const auto is_align = [](char c) { return c == '<' || c == '>' || c == '^'; };
        std::size_t at = 0;
        const std::size_t first = spec.empty() ? 0 : utf8_length(spec[0]);
        if (first < spec.size() && is_align(spec[first])) {
            fill = spec.substr(0, first);
            align = spec[first];
            at = first + 1;
        } else if (!spec.empty() && is_align(spec[0])) {
            align = spec[at++];
        }
        for (; at < spec.size() && (spec[at] == '+' || spec[at] == '#' || spec[at] == '0'); ++at) {
            plus |= spec[at] == '+';
            alternate |= spec[at] == '#';
            zero |= spec[at] == '0';
        }
        width = number(spec, at);
        if (at < spec.size() && spec[at] == '.') precision = static_cast<int>(number(spec, ++at));
        if (at < spec.size()) kind = spec.back() == '?' ? '?' : spec[at];
    }

    // `sign` and `prefix` stand before zeros that fill the width.
    std::string apply(const std::string& sign_and_prefix, const std::string& digits, bool numeric) const {
        std::string text = sign_and_prefix + digits;
        std::size_t letters = 0;
        for (const char c : text) letters += (static_cast<unsigned char>(c) & 0xC0u) != 0x80u ? 1 : 0;
        if (letters >= width) return text;
        const std::size_t missing = width - letters;
        if (zero && numeric) return sign_and_prefix + std::string(missing, '0') + digits;
        const char side = align != 0 ? align : numeric ? '>' : '<';
        const std::size_t before = side == '<' ? 0 : side == '>' ? missing : missing / 2;
        std::string out;
        for (std::size_t i = 0; i < before; ++i) out += fill;
        out += text;
        for (std::size_t i = before; i < missing; ++i) out += fill;
        return out;
    }

  private:
    static std::size_t utf8_length(char lead) {
        const auto byte = static_cast<unsigned char>(lead);
        return byte < 0x80 ? 1 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4;
    }
    static std::size_t number(std::string_view spec, std::size_t& at) {
        std::size_t value = 0;
        for (; at < spec.size() && spec[at] >= '0' && spec[at] <= '9'; ++at) value = std::min<std::size_t>(value * 10 + static_cast<std::size_t>(spec[at] - '0'), 4096);
        return value;
    }
};

// Digits of a 128-bit number.
inline std::string digits_of(std::uint64_t low, std::uint64_t high, unsigned base, bool upper) {
    std::array<std::uint32_t, 4> parts{static_cast<std::uint32_t>(high >> 32), static_cast<std::uint32_t>(high), static_cast<std::uint32_t>(low >> 32), static_cast<std::uint32_t>(low)};
    std::string out;
    do {
        std::uint64_t rest = 0;
        for (std::uint32_t& part : parts) {
            const std::uint64_t value = rest << 32 | part;
            part = static_cast<std::uint32_t>(value / base);
            rest = value % base;
        }
        out += (upper ? "0123456789ABCDEF" : "0123456789abcdef")[rest];
    } while ((parts[0] | parts[1] | parts[2] | parts[3]) != 0);
    return {out.rbegin(), out.rend()};
}

// Of `bits` bits; bits above them in the words do not count.
inline std::string integer_text(std::uint64_t low, std::uint64_t high, unsigned bits, bool is_signed, const ValueLayout& layout) {
    if (bits < 64) low &= (std::uint64_t{1} << bits) - 1;
    if (bits < 128) high = 0;
    const unsigned base = layout.kind == 'x' || layout.kind == 'X' ? 16 : layout.kind == 'o' ? 8 : layout.kind == 'b' ? 2 : 10;
    const bool negative = is_signed && base == 10 && ((bits == 128 ? high >> 63 : low >> (bits - 1)) & 1) != 0;
    if (negative) {
        low = ~low + 1;
        high = ~high + (low == 0 ? 1 : 0);
        if (bits < 64) low &= (std::uint64_t{1} << bits) - 1;
        if (bits < 128) high = 0;
    }
    std::string before = negative ? "-" : layout.plus ? "+" : "";
    if (layout.alternate && base != 10) before += base == 16 ? "0x" : base == 8 ? "0o" : "0b";
    return layout.apply(before, digits_of(low, high, base, layout.kind == 'X'), true);
}

// 1.5e+03 as Rust writes it: 1.5e3.
inline std::string short_exponent(std::string digits) {
    const std::size_t e = digits.find('e');
    return e == std::string::npos ? digits : digits.substr(0, e + 1) + std::to_string(std::atoi(digits.c_str() + e + 1));
}

template <class Float>
std::string exact_digits(Float magnitude, bool exponent, int precision) {
    std::array<char, 1536> room{};
    char* const first = room.data();
    const char* const last = std::to_chars(first, first + room.size(), magnitude, exponent ? std::chars_format::scientific : std::chars_format::fixed, std::min(precision, 1000)).ptr;
    return short_exponent({static_cast<const char*>(first), last});
}

// Zeros stand where the shortest digits end: 1e16 is 10000000000000000 in any precision.
template <class Float>
std::string shortest_digits(Float magnitude, bool exponent) {
    std::array<char, 64> room{};
    char* const first = room.data();
    const char* const last = std::to_chars(first, first + room.size(), magnitude, std::chars_format::scientific).ptr;
    const std::string text(static_cast<const char*>(first), last);
    if (exponent) return short_exponent(text);
    const int power = std::atoi(text.c_str() + text.find('e') + 1);
    std::string digits = text.substr(0, text.find('e'));
    std::erase(digits, '.');
    if (power < 0) return "0." + std::string(static_cast<std::size_t>(-power - 1), '0') + digits;
    const auto whole = static_cast<std::size_t>(power) + 1;
    if (digits.size() <= whole) return digits + std::string(whole - digits.size(), '0');
    return digits.substr(0, whole) + "." + digits.substr(whole);
}

// Rust shows the shortest digits that give the value back, without an exponent; `{:?}` has one for very large and small values.
template <class Float>
std::string float_text(Float value, const ValueLayout& layout) {
    if (value != value) {
        ValueLayout plain = layout;
        plain.zero = false;
        return plain.apply("", "NaN", true);
    }
    const std::string before = std::signbit(value) ? "-" : layout.plus ? "+" : "";
    const Float magnitude = std::fabs(value);
    if (std::isinf(value)) return layout.apply(before, "inf", true);
    const bool debug = layout.kind == '?';
    const bool exponent = layout.kind == 'e' || layout.kind == 'E' || (debug && layout.precision < 0 && magnitude != 0 && (magnitude >= Float(1e16) || magnitude < Float(1e-4)));
    std::string digits = layout.precision < 0 ? shortest_digits(magnitude, exponent) : exact_digits(magnitude, exponent, layout.precision);
    if (layout.kind == 'E') std::replace(digits.begin(), digits.end(), 'e', 'E');
    if (debug && !exponent && layout.precision < 0 && digits.find('.') == std::string::npos) digits += ".0";
    return layout.apply(before, digits, true);
}

// binary16; bf16 is the upper half of an f32.
inline float from_half(std::uint32_t bits) {
    const float sign = (bits & 0x8000u) != 0 ? -1.0f : 1.0f;
    const std::uint32_t exponent = bits >> 10 & 0x1F, fraction = bits & 0x3FF;
    if (exponent == 0x1F) return fraction != 0 ? std::bit_cast<float>(0x7FC00000u) : sign * std::bit_cast<float>(0x7F800000u);
    if (exponent == 0) return sign * std::ldexp(static_cast<float>(fraction), -24);
    return sign * std::ldexp(static_cast<float>(fraction | 0x400u), static_cast<int>(exponent) - 25);
}

inline std::string char_text(std::uint32_t code, const ValueLayout& layout) {
    std::string text;
    const auto byte = [&](std::uint32_t value) { text += static_cast<char>(value); };
    if (code < 0x80) {
        byte(code);
    } else if (code < 0x800) {
        byte(0xC0 | code >> 6);
        byte(0x80 | (code & 0x3F));
    } else if (code < 0x10000) {
        byte(0xE0 | code >> 12);
        byte(0x80 | (code >> 6 & 0x3F));
        byte(0x80 | (code & 0x3F));
    } else {
        byte(0xF0 | (code >> 18 & 7));
        byte(0x80 | (code >> 12 & 0x3F));
        byte(0x80 | (code >> 6 & 0x3F));
        byte(0x80 | (code & 0x3F));
    }
    if (layout.kind != '?') return layout.apply("", text, false);
    switch (code) {
        case 0: text = "\\0"; break;
        case '\n': text = "\\n"; break;
        case '\r': text = "\\r"; break;
        case '\t': text = "\\t"; break;
        case '\'': text = "\\'"; break;
        case '\\': text = "\\\\"; break;
        default:
            if (code < 0x20 || code == 0x7F) text = "\\u{" + digits_of(code, 0, 16, false) + "}";
    }
    return layout.apply("", "'" + text + "'", false);
}

// One hole; takes its words from `words`. Nothing when there are too few.
inline bool fill_hole(std::string_view hole, std::span<const std::uint64_t>& words, std::string& out) {
    const std::size_t colon = hole.find(':');
    const std::string_view type = hole.substr(0, colon);
    const ValueLayout layout(colon == std::string_view::npos ? std::string_view() : hole.substr(colon + 1));
    const bool wide = type == "i128" || type == "u128";
    if (words.size() < (wide ? 2u : 1u)) return false;
    const std::uint64_t low = words[0], high = wide ? words[1] : 0;
    if (type.empty()) {
        out += std::to_string(low);
    } else if (type == "bool") {
        out += layout.apply("", (low & 1) != 0 ? "true" : "false", false);
    } else if (type == "char") {
        out += char_text(static_cast<std::uint32_t>(low), layout);
    } else if (type == "f32") {
        out += float_text(std::bit_cast<float>(static_cast<std::uint32_t>(low)), layout);
    } else if (type == "f64") {
        out += float_text(std::bit_cast<double>(low), layout);
    } else if (type == "f16") {
        out += float_text(from_half(static_cast<std::uint32_t>(low)), layout);
    } else if (type == "bf16") {
        out += float_text(std::bit_cast<float>(static_cast<std::uint32_t>(low << 16)), layout);
    } else if (type.size() > 1 && (type[0] == 'i' || type[0] == 'u')) {
        unsigned bits = 0;
        std::from_chars(type.data() + 1, type.data() + type.size(), bits);
        if (bits == 0 || bits > 128) return false;
        out += integer_text(low, high, bits, type[0] == 'i', layout);
    } else {
        return false;
    }
    words = words.subspan(wide ? 2 : 1);
    return true;
}

// The message with its values; a hole without words stays as it is.
inline std::string fill_message(std::string_view text, std::span<const std::uint64_t> words) {
    std::string out;
    for (std::size_t at = 0; at < text.size(); ++at) {
        const bool brace = text[at] == '{' || text[at] == '}';
        if (brace && at + 1 < text.size() && text[at + 1] == text[at]) {
            out += text[at++];
            continue;
        }
        const std::size_t end = text[at] == '{' ? text.find('}', at) : std::string_view::npos;
        if (end == std::string_view::npos || !fill_hole(text.substr(at + 1, end - at - 1), words, out)) {
            out += text[at];
            continue;
        }
        at = end;
    }
    return out;
}

}  // namespace ock::detail
