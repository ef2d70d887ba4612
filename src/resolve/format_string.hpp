// The format string of `gpu_printf!`, taken apart: texts and the holes between them. Two spellings are read: Rust's (`{}`,
// `{name:>8.3}`) and C's (`%d`, `%08.3f`); a string with a hole of Rust's is Rust's.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ockc::resolve {

struct PrintHole {
    std::size_t begin = 0, end = 0;    // in the string's value
    std::string_view argument;         // "" the next one; "0", "name"
    std::string_view method = "print_value";   // the lang item of the library that shows the value
    std::string prefix;                // text that `#` puts in front
    std::string layout;                // C's flags, width and precision; `>`: to the right, whatever the type
    char kind = 'v';                   // C's conversion; v: by the type
};
struct PrintMistake {
    std::size_t begin = 0, end = 0;
    std::string text;
    std::string help;
};
struct PrintFormat {
    std::vector<std::string> texts;    // one more than holes; `%` doubled where it stands for itself
    std::vector<PrintHole> holes;
    std::optional<PrintMistake> mistake;
};

// The views of the result point into `format`.
PrintFormat read_print_format(std::string_view format);

// For each byte of a string literal's value, and for its end, where in the literal's text it stands; empty when the value has
// other bytes than the text tells (a literal that a macro put together).
std::vector<std::uint32_t> literal_offsets(std::string_view literal, std::size_t value_size);

}  // namespace ockc::resolve
