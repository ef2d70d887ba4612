#include "driver/launch_value.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>

#include "check/literal_value.hpp"
#include "driver/limits.hpp"
#include "lex/utf8.hpp"
#include "support/file_io.hpp"

namespace ockc::driver {

namespace {

constexpr std::uint64_t kMaxElements = 1ull << 32;

std::optional<abi::Scalar> scalar_by_name(std::string_view name) {
    static constexpr std::string_view kNames[] = {
#define OCKC_NAME_ROW(scalar, rust, cpp, bytes, kind) rust,
        OCKC_ABI_SCALARS(OCKC_NAME_ROW)
#undef OCKC_NAME_ROW
    };
    for (std::size_t i = 0; i < std::size(kNames); ++i) {
        if (kNames[i] == name) return static_cast<abi::Scalar>(i);
    }
    return std::nullopt;
}

template <class T>
std::string bytes_of(T value) {
    std::string bytes(sizeof value, '\0');
    std::memcpy(bytes.data(), &value, sizeof value);
    return bytes;
}

bool is_float(abi::Scalar type) { return abi::scalar_info(type).npy_kind == 'f'; }
types::FloatKind float_kind(abi::Scalar type) {
    switch (type) {
        case abi::Scalar::F16: return types::FloatKind::F16;
        case abi::Scalar::BF16: return types::FloatKind::BF16;
        case abi::Scalar::F32: return types::FloatKind::F32;
        default: return types::FloatKind::F64;
    }
}
bool is_signed(abi::Scalar type) { return abi::scalar_info(type).npy_kind == 'i'; }

// An integer of the type's width, or a float, from a double or a 64-bit pattern.
std::string element(abi::Scalar type, double real, std::uint64_t integer) {
    const std::uint32_t width = abi::scalar_info(type).bytes;
    if (is_float(type)) return bytes_of(check::bits_of_double(real, float_kind(type))).substr(0, width);
    std::string bytes = bytes_of(integer);
    const char fill = is_signed(type) && static_cast<std::int64_t>(integer) < 0 ? '\xFF' : '\0';
    bytes.resize(width, fill);
    return bytes;
}

double float_at(abi::Scalar type, const char* at) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, at, abi::scalar_info(type).bytes);
    return check::float_value(bits, float_kind(type));
}

bool is_char(std::uint64_t value) { return value < 0xD800 || (value > 0xDFFF && value <= 0x10FFFF); }

template <class T>
std::optional<T> number(std::string_view text) {
    T value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return value;
}

// A decimal number of 128 bits, as its bit pattern.
std::optional<unsigned __int128> wide_number(bool is_signed, std::string_view text) {
    const bool negative = is_signed && text.substr(0, 1) == "-";
    if (negative) text.remove_prefix(1);
    unsigned __int128 value = 0;
    for (char c : text) {
        if (c < '0' || c > '9' || __builtin_mul_overflow(value, static_cast<unsigned __int128>(10), &value) ||
            __builtin_add_overflow(value, static_cast<unsigned __int128>(c - '0'), &value)) {
            return std::nullopt;
        }
    }
    const unsigned __int128 limit = static_cast<unsigned __int128>(1) << 127;
    if (text.empty() || (is_signed && (value > limit || (value == limit && !negative)))) return std::nullopt;
    return negative ? ~value + 1 : value;
}

struct Generator {
    std::string kind;              // zeros, ones, iota, rand
    abi::Scalar type = abi::Scalar::F32;
    std::vector<std::uint64_t> shape;
    std::uint64_t seed = 0;
    double low = 0, high = 0;
};

Result<Generator> parse_generator(const std::string& text) {
    std::vector<std::string> parts;
    for (std::size_t begin = 0; begin <= text.size();) {
        const std::size_t end = std::min(text.find(':', begin), text.size());
        parts.push_back(text.substr(begin, end - begin));
        begin = end + 1;
    }
    Generator g;
    g.kind = parts[0];
    const bool random = g.kind == "rand";
    if (!random && g.kind != "zeros" && g.kind != "ones" && g.kind != "iota") {
        return Failure{fmt::format("`{}` is no array: write @file.npy, zeros:f32[N], ones:.., iota:.. or rand:f32[N]:SEED", text)};
    }
    if (parts.size() < 2 || (!random && parts.size() > 2) || (random && parts.size() != 3 && parts.size() != 5)) {
        return Failure{fmt::format("`{}` is not {}", text, random ? "rand:TYPE[DIMS]:SEED[:LO:HI]" : g.kind + ":TYPE[DIMS]")};
    }
    const std::size_t bracket = parts[1].find('[');
    if (bracket == std::string::npos || parts[1].back() != ']') return Failure{fmt::format("`{}` is not TYPE[DIMS]", parts[1])};
    const auto type = scalar_by_name(parts[1].substr(0, bracket));
    if (!type) return Failure{fmt::format("`{}` is not an element type", parts[1].substr(0, bracket))};
    g.type = *type;
    std::uint64_t count = 1;
    const std::string dims = parts[1].substr(bracket + 1, parts[1].size() - bracket - 2);
    for (std::size_t begin = 0; begin <= dims.size();) {
        const std::size_t end = std::min(dims.find(',', begin), dims.size());
        const auto dim = number<std::uint64_t>(std::string_view(dims).substr(begin, end - begin));
        if (!dim) return Failure{fmt::format("`{}` is not a list of dimensions", dims)};
        if (*dim != 0 && count > kMaxElements / *dim) return Failure{fmt::format("`{}` has too many elements", parts[1])};
        count *= *dim;
        g.shape.push_back(*dim);
        begin = end + 1;
    }
    if (!random) return g;
    const auto seed = number<std::uint64_t>(parts[2]);
    if (!seed) return Failure{fmt::format("`{}` is not a seed", parts[2])};
    g.seed = *seed;
    g.low = is_float(g.type) ? -1.0 : 0.0;
    g.high = is_float(g.type) ? 1.0 : g.type == abi::Scalar::Bool ? 2.0 : 100.0;
    if (parts.size() == 5) {
        const auto low = number<double>(parts[3]), high = number<double>(parts[4]);
        if (!low || !high || !(*low < *high)) return Failure{fmt::format("`{}:{}` is not LO:HI with LO < HI", parts[3], parts[4])};
        g.low = *low;
        g.high = *high;
    }
    return g;
}

std::string random_element(const Generator& g, std::uint64_t index) {
    const std::uint64_t bits = random_bits(g.seed, index);
    if (is_float(g.type)) {
        const double unit = static_cast<double>(bits >> 11) * 0x1p-53;
        return element(g.type, g.low + (g.high - g.low) * unit, 0);
    }
    const double span = g.high - g.low;
    const auto range = static_cast<std::uint64_t>(span < 1 ? 1 : span);
    const auto offset = static_cast<std::uint64_t>(static_cast<unsigned __int128>(bits) * range >> 64);
    return element(g.type, 0, static_cast<std::uint64_t>(static_cast<std::int64_t>(g.low)) + offset);
}

}  // namespace

std::uint64_t random_bits(std::uint64_t seed, std::uint64_t index) {
    const auto mix = [](std::uint64_t z) {
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
        z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
        return z ^ (z >> 31);
    };
    constexpr std::uint64_t kGamma = 0x9E3779B97F4A7C15ull;
    return mix(mix(seed + kGamma) + (index + 1) * kGamma);
}

bool is_nan_element(const Array& array, std::uint64_t index) {
    return is_float(array.type) && std::isnan(float_at(array.type, array.bytes.data() + index * abi::scalar_info(array.type).bytes));
}

std::optional<std::uint64_t> invalid_element(abi::Scalar type, std::string_view bytes) {
    for (std::size_t i = 0; type == abi::Scalar::Bool && i < bytes.size(); ++i) {
        if (static_cast<unsigned char>(bytes[i]) > 1) return i;
    }
    for (std::size_t i = 0; type == abi::Scalar::Char && i + 4 <= bytes.size(); i += 4) {
        std::uint32_t value = 0;
        std::memcpy(&value, bytes.data() + i, sizeof value);
        if (!is_char(value)) return i / 4;
    }
    return std::nullopt;
}

namespace {

// A char that is not given by its number: itself, in quotes or without.
Result<std::string> character_value(const std::string& text) {
    std::string_view inside = text;
    if (inside.size() > 2 && inside.front() == '\'' && inside.back() == '\'') inside = inside.substr(1, inside.size() - 2);
    const lex::Decoded one = inside.empty() ? lex::Decoded{0, 1, false} : lex::decode_utf8(inside, 0);
    if (!one.valid || one.size != inside.size()) {
        return Failure{fmt::format("`{}` is not a value of type char: give the character itself, as in c=a, or its number, as in c=97", text)};
    }
    return element(abi::Scalar::Char, 0, one.c);
}

}  // namespace

Result<std::string> parse_scalar(abi::Scalar type, const std::string& text) {
    const Failure bad{fmt::format("`{}` is not a value of type {}", text, abi::scalar_info(type).rust)};
    if (type == abi::Scalar::Bool) {
        if (text == "true" || text == "1") return std::string(1, '\1');
        if (text == "false" || text == "0") return std::string(1, '\0');
        return bad;
    }
    if (is_float(type)) {
        const auto value = number<double>(text);
        if (!value) return bad;
        const std::string bytes = element(type, *value, 0);
        if (std::isfinite(*value) && !std::isfinite(float_at(type, bytes.data()))) {
            return Failure{fmt::format("`{}` is too large for {}; write inf when infinity is meant", text, abi::scalar_info(type).rust)};
        }
        return bytes;
    }
    const std::uint32_t bits = abi::scalar_info(type).bytes * 8u;
    if (bits == 128) {
        const auto value = wide_number(is_signed(type), text);
        return value ? Result<std::string>(bytes_of(*value)) : bad;
    }
    if (is_signed(type)) {
        const auto value = number<std::int64_t>(text);
        if (!value || (bits < 64 && (*value < -(std::int64_t{1} << (bits - 1)) || *value >= std::int64_t{1} << (bits - 1)))) return bad;
        return element(type, 0, static_cast<std::uint64_t>(*value));
    }
    if (type == abi::Scalar::Char && !number<std::uint64_t>(text)) return character_value(text);
    const auto value = number<std::uint64_t>(text);
    if (!value || (bits < 64 && *value >> bits != 0)) return bad;
    if (type == abi::Scalar::Char && !is_char(*value)) return Failure{fmt::format("{} is not a character: chars are 0 to 0xD7FF and 0xE000 to 0x10FFFF", text)};
    return element(type, 0, *value);
}

Result<Array> parse_array(const std::string& text) {
    if (!text.empty() && text[0] == '@') {
        const Result<std::string> file = read_file(text.substr(1), kMaxArrayBytes);
        if (!file.ok()) return Failure{"cannot read " + file.error()};
        Result<Array> array = parse_npy(file.value());
        if (!array.ok()) return Failure{text.substr(1) + ": " + array.error()};
        return array;
    }
    const Result<Generator> parsed = parse_generator(text);
    if (!parsed.ok()) return Failure{parsed.error()};
    const Generator& g = parsed.value();
    Array array{g.type, g.shape, {}};
    const std::uint64_t count = array.size();
    const std::uint32_t width = abi::scalar_info(g.type).bytes;
    if (g.kind == "zeros") {
        array.bytes.assign(count * width, '\0');
        return array;
    }
    array.bytes.reserve(count * width);
    const std::string one = element(g.type, 1.0, 1);
    for (std::uint64_t i = 0; i < count; ++i) {
        if (g.kind == "ones") array.bytes += one;
        if (g.kind == "iota") array.bytes += element(g.type, static_cast<double>(i), i);
        if (g.kind == "rand") array.bytes += random_element(g, i);
    }
    return array;
}

std::string preview(const Array& array, std::size_t limit) {
    const std::uint32_t width = abi::scalar_info(array.type).bytes;
    std::string text = "[";
    const std::uint64_t count = array.size();
    for (std::uint64_t i = 0; i < count && i < limit; ++i) {
        const char* at = array.bytes.data() + i * width;
        if (i != 0) text += ", ";
        if (array.type == abi::Scalar::F64) {
            text += fmt::format("{}", float_at(array.type, at));
        } else if (is_float(array.type)) {
            text += fmt::format("{}", static_cast<float>(float_at(array.type, at)));
        } else if (width == 16) {
            unsigned __int128 bits = 0;
            std::memcpy(&bits, at, sizeof bits);
            text += is_signed(array.type) ? fmt::format("{}", static_cast<__int128>(bits)) : fmt::format("{}", bits);
        } else {
            std::uint64_t bits = 0;
            std::memcpy(&bits, at, width);
            if (is_signed(array.type) && width < 8 && bits >> (width * 8 - 1) != 0) bits |= ~std::uint64_t{0} << (width * 8);
            text += is_signed(array.type) ? fmt::format("{}", static_cast<std::int64_t>(bits)) : fmt::format("{}", bits);
        }
    }
    if (count > limit) text += ", ..";
    return text + "]";
}

}  // namespace ockc::driver
