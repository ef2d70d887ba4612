#include "host/names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

namespace ockc::host {
namespace {

// Sorted. C++20's keywords and alternative tokens, macros of the standard library and of gcc's gnu dialects,
// and the two namespaces that generated code names.
// clang-format off
constexpr std::string_view kReserved[] = {
    "EOF",          "NULL",          "alignas",      "alignof",      "and",          "and_eq",
    "asm",          "assert",        "auto",         "bitand",       "bitor",        "bool",
    "break",        "case",          "catch",        "char",         "char16_t",     "char32_t",
    "char8_t",      "class",         "co_await",     "co_return",    "co_yield",     "compl",
    "concept",      "const",         "const_cast",   "consteval",    "constexpr",    "constinit",
    "continue",     "decltype",      "default",      "delete",       "do",           "double",
    "dynamic_cast", "else",          "enum",         "errno",        "explicit",     "export",
    "extern",       "false",         "float",        "for",          "friend",       "goto",
    "if",           "inline",        "int",          "linux",        "long",         "major",
    "makedev",      "minor",         "mutable",      "namespace",    "new",          "noexcept",
    "not",          "not_eq",        "nullptr",      "ock",          "offsetof",     "operator",
    "or",           "or_eq",         "private",      "protected",    "public",       "register",
    "reinterpret_cast", "requires",  "return",       "short",        "signed",       "sizeof",
    "static",       "static_assert", "static_cast",  "std",          "stderr",       "stdin",
    "stdout",       "struct",        "switch",       "template",     "this",         "thread_local",
    "throw",        "true",          "try",          "typedef",      "typeid",       "typename",
    "union",        "unix",          "unsigned",     "using",        "virtual",      "void",
    "volatile",     "wchar_t",       "while",        "xor",          "xor_eq",
};
// clang-format on

// Sorted. Functions and types of the C library that C++ headers also declare at global scope: a namespace of
// that name would clash.
// clang-format off
constexpr std::string_view kGlobalNames[] = {
    "abs",    "acos",   "acosh",  "asin",   "asinh",  "atan",   "atan2",  "atanh",  "atof",   "atoi",   "bsearch",
    "cbrt",   "ceil",   "clock",  "copysign", "cos",  "cosh",   "div",    "erf",    "erfc",   "exit",   "exp",
    "exp2",   "expm1",  "fabs",   "fdim",   "floor",  "fma",    "fmax",   "fmin",   "fmod",   "fpclassify", "free",
    "frexp",  "gamma",  "hypot",  "ilogb",  "index",  "isinf",  "isnan",  "j0",     "j1",     "jn",     "labs",
    "ldexp",  "ldiv",   "lgamma", "link",   "log",    "log10",  "log1p",  "log2",   "logb",   "lrint",  "lround",
    "malloc", "memcpy", "memset", "modf",   "nan",    "nearbyint", "nextafter", "pow", "printf", "qsort", "raise",
    "rand",   "random", "read",   "realloc", "remainder", "remove", "rename", "rindex", "rint", "round", "scalbn",
    "select", "signal", "signbit", "sin",   "sinh",   "sleep",  "sqrt",   "stat",   "strlen", "swab",   "sync",
    "system", "tan",    "tanh",   "tgamma", "time",   "trunc",  "write",  "y0",     "y1",     "yn",
};
// clang-format on

bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
           (static_cast<unsigned char>(c) & 0x80) != 0;
}
bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

}  // namespace

std::string cpp_identifier(std::string_view name) {
    static_assert(std::ranges::is_sorted(kReserved));
    std::string result;
    for (const char c : name)
        result += is_letter(c) || is_digit(c) ? c : '_';
    if (result.empty() || is_digit(result.front())) result.insert(0, "_");
    if (std::ranges::binary_search(kReserved, std::string_view(result))) result += '_';
    return result;
}

std::string cpp_namespace(std::string_view name) {
    static_assert(std::ranges::is_sorted(kGlobalNames));
    const auto is_odd = [](char c) { return !is_letter(c) && !is_digit(c); };  // "<stdin>" becomes "stdin"
    while (!name.empty() && is_odd(name.front()))
        name.remove_prefix(1);
    while (!name.empty() && is_odd(name.back()))
        name.remove_suffix(1);
    std::string result = cpp_identifier(name);
    if (result.front() == '_') result.insert(0, "k");  // global names with a leading underscore are reserved
    if (std::ranges::binary_search(kGlobalNames, std::string_view(result))) result += '_';
    return result;
}

std::string upper_camel(std::string_view name) {
    std::string result;
    bool start = true;
    for (const char c : name) {
        if (c == '_') {
            start = true;
            continue;
        }
        result += start && c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
        start = false;
    }
    return cpp_identifier(result);
}

std::string_view file_stem(std::string_view file) {
    const std::size_t slash = file.find_last_of("/\\");
    if (slash != std::string_view::npos) file.remove_prefix(slash + 1);
    const std::size_t dot = file.find_last_of('.');
    if (dot != std::string_view::npos && dot != 0) file = file.substr(0, dot);
    return file;
}

std::string cpp_string(std::string_view text) {
    std::string result = "\"";
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (c == '"' || c == '\\') {
            result += '\\';
            result += c;
        } else if (c == '\n') {
            result += "\\n";
        } else if (byte < 0x20 || byte == 0x7f) {
            result += fmt::format("\\{:03o}", byte);
        } else {
            result += c;
        }
    }
    result += '"';
    return result;
}

std::string UniqueNames::take(std::string name) {
    if (taken_.insert(name).second) return name;
    const std::string base = name + suffix_;
    std::string candidate = base;
    for (int n = 2; !taken_.insert(candidate).second; ++n)
        candidate = base + std::to_string(n);
    return candidate;
}

// Word by word, little-endian: xor, multiply by an odd constant, fold the upper half down.
std::uint64_t content_hash(std::string_view bytes) {
    std::uint64_t hash = bytes.size();
    const auto mix = [&hash](std::uint64_t word) {
        hash = (hash ^ word) * 0x9E37'79B9'7F4A'7C15u;
        hash ^= hash >> 29;
    };
    std::size_t at = 0;
    if constexpr (std::endian::native == std::endian::little) {
        for (std::uint64_t word = 0; bytes.size() - at >= 8; at += 8) {
            std::memcpy(&word, bytes.data() + at, 8);
            mix(word);
        }
    }
    while (at < bytes.size()) {
        std::uint64_t word = 0;
        for (int i = 0; i < 8 && at < bytes.size(); ++i)
            word |= static_cast<std::uint64_t>(static_cast<unsigned char>(bytes[at++])) << (8 * i);
        mix(word);
    }
    return hash;
}

}  // namespace ockc::host
