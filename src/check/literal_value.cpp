#include "check/literal_value.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <string>

#include "lex/literal.hpp"

namespace ockc::check {

using types::FloatKind;
using types::TypeKind;

namespace {

// A binary16-like format with `mantissa` stored bits and `exponent` exponent bits, rounded from a double.
std::uint64_t round_to_small(double value, int mantissa, int exponent) {
    const std::uint64_t bits = std::bit_cast<std::uint64_t>(value);
    const std::uint64_t sign = bits >> 63;
    const int total = 1 + exponent + mantissa;
    const int bias = (1 << (exponent - 1)) - 1;
    const std::uint64_t infinity = ((std::uint64_t{1} << exponent) - 1) << mantissa;
    const std::uint64_t out_sign = sign << (total - 1);
    if (std::isnan(value)) return out_sign | infinity | std::uint64_t{1} << (mantissa - 1);
    if (std::isinf(value)) return out_sign | infinity;
    if (value == 0) return out_sign;
    int e = 0;
    const double fraction = std::frexp(std::fabs(value), &e);   // fraction in [0.5, 1)
    int unbiased = e - 1;
    const int smallest = 1 - bias;
    const int shift = unbiased < smallest ? smallest - unbiased : 0;
    // The significand as an integer with `mantissa` fraction bits, rounded to nearest even.
    const double scaled = std::ldexp(fraction * 2, mantissa - shift);
    const double rounded = std::nearbyint(scaled);
    auto significand = static_cast<std::uint64_t>(rounded);
    if (shift != 0) return out_sign | significand;   // subnormal; a carry gives the smallest normal by itself
    if (significand == std::uint64_t{2} << mantissa) {
        significand >>= 1;
        ++unbiased;
    }
    if (unbiased > bias) return out_sign | infinity;
    return out_sign | static_cast<std::uint64_t>(unbiased + bias) << mantissa | (significand & ((std::uint64_t{1} << mantissa) - 1));
}

double small_value(std::uint64_t bits, int mantissa, int exponent) {
    const bool negative = (bits >> (exponent + mantissa) & 1) != 0;
    const auto e = static_cast<int>(bits >> mantissa & ((std::uint64_t{1} << exponent) - 1));
    const std::uint64_t m = bits & ((std::uint64_t{1} << mantissa) - 1);
    const int bias = (1 << (exponent - 1)) - 1;
    double value = 0;
    if (e == (1 << exponent) - 1) {
        value = m != 0 ? std::nan("") : HUGE_VAL;
    } else if (e == 0) {
        value = std::ldexp(static_cast<double>(m), 1 - bias - mantissa);
    } else {
        value = std::ldexp(static_cast<double>(m | std::uint64_t{1} << mantissa), e - bias - mantissa);
    }
    return negative ? -value : value;
}

bool is_half(FloatKind kind) { return kind == FloatKind::F16 || kind == FloatKind::BF16; }

// A decimal number as 0.DIGITS * 10^exponent, without zeros at either end of the digits.
struct Decimal {
    std::string digits;
    long exponent = 0;
    friend bool operator==(const Decimal&, const Decimal&) = default;
};

Decimal decimal_of(std::string_view text) {
    Decimal out;
    const std::size_t e = std::min(text.find_first_of("eE"), text.size());
    if (e < text.size()) {
        const std::string_view power = text.substr(e + (text.substr(e + 1, 1) == "+" ? 2 : 1));
        const auto [end, error] = std::from_chars(power.data(), power.data() + power.size(), out.exponent);
        if (error != std::errc()) out.exponent = 0;   // beyond every format: the number is 0 or infinite then
    }
    const std::string_view number = text.substr(0, e);
    const std::size_t point = std::min(number.find('.'), number.size());
    out.exponent += static_cast<long>(point);
    for (const char c : number) {
        if (c == '.') continue;
        if (c == '0' && out.digits.empty()) --out.exponent;
        else out.digits += c;
    }
    while (!out.digits.empty() && out.digits.back() == '0') out.digits.pop_back();
    return out;
}

// `nearest`, the double nearest to the number that `digits` writes, moved by one unit toward that number when it has an even
// significand and is not the number itself: rounding that to 51 bits or fewer rounds the number itself.
double rounded_to_odd(std::string_view digits, double nearest) {
    if (!std::isfinite(nearest) || nearest == 0 || (std::bit_cast<std::uint64_t>(nearest) & 1) != 0) return nearest;
    char buffer[800];
    const auto [end, error] = std::to_chars(buffer, buffer + sizeof buffer, nearest, std::chars_format::scientific, 766);
    if (error != std::errc()) return nearest;
    const Decimal exact = decimal_of({buffer, static_cast<std::size_t>(end - buffer)}), wanted = decimal_of(digits);
    if (exact == wanted) return nearest;
    const bool above = wanted.exponent != exact.exponent ? wanted.exponent > exact.exponent : wanted.digits > exact.digits;
    return std::nextafter(nearest, above ? HUGE_VAL : 0.0);
}

}  // namespace

std::uint64_t bits_of_double(double value, FloatKind kind) {
    switch (kind) {
        case FloatKind::F16: return round_to_small(value, 10, 5);
        case FloatKind::BF16: return round_to_small(value, 7, 8);
        case FloatKind::F32: return std::bit_cast<std::uint32_t>(static_cast<float>(value));
        case FloatKind::F64: return std::bit_cast<std::uint64_t>(value);
    }
    return 0;
}

double float_value(std::uint64_t bits, FloatKind kind) {
    switch (kind) {
        case FloatKind::F16: return small_value(bits, 10, 5);
        case FloatKind::BF16: return small_value(bits, 7, 8);
        case FloatKind::F32: return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
        case FloatKind::F64: return std::bit_cast<double>(bits);
    }
    return 0;
}

std::uint64_t float_bits_of(std::string_view digits, FloatKind kind) {
    if (kind == FloatKind::F32) return std::bit_cast<std::uint32_t>(lex::parse_f32(digits));
    const double nearest = lex::parse_f64(digits);
    return bits_of_double(is_half(kind) ? rounded_to_odd(digits, nearest) : nearest, kind);
}

std::uint64_t bits_of_int(unsigned __int128 value, bool negative, FloatKind kind) {
    unsigned __int128 magnitude = negative ? -value : value;
    if (kind == FloatKind::F32) return std::bit_cast<std::uint32_t>(negative ? -static_cast<float>(magnitude) : static_cast<float>(magnitude));
    int dropped = 0;   // bits, of which the last one that is kept says whether they were zeros: the rounding below is the only one
    bool lost = false;
    while (is_half(kind) && magnitude >> 53 != 0) {
        lost = lost || (magnitude & 1) != 0;
        magnitude >>= 1;
        ++dropped;
    }
    const double size = std::ldexp(static_cast<double>(magnitude | (lost ? 1 : 0)), dropped);
    return bits_of_double(negative ? -size : size, kind);
}

types::ConstId scalar_literal(types::TypeStore& types, const hir::Literal& literal, types::TypeId type) {
    using Kind = hir::Literal::Kind;
    const types::TypeData data = types[type];
    switch (literal.kind) {
        case Kind::Bool:
            if (data.kind == TypeKind::Bool) return types.const_value(type, literal.low);
            break;
        case Kind::Char:
            if (data.kind == TypeKind::Char) return types.const_value(type, literal.low);
            break;
        case Kind::Byte:
        case Kind::Int:
            if (data.kind == TypeKind::Int) {
                const std::uint32_t bits = types::int_bits(data.int_kind);
                const std::uint64_t low = bits >= 64 ? literal.low : literal.low & ((std::uint64_t{1} << bits) - 1);
                return types.const_value(type, low, bits == 128 ? literal.high : 0);
            }
            break;
        case Kind::Float:
            if (data.kind == TypeKind::Float) return types.const_value(type, float_bits_of(literal.text, data.float_kind));
            break;
        case Kind::Str:
        case Kind::ByteStr:
        case Kind::CStr:
        case Kind::Error: break;
    }
    return {};
}

}  // namespace ockc::check
