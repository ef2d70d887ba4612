// Source text as a terminal shows it: tabs as four columns, control characters as visible symbols, wide and
// combining characters with their width.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

namespace ockc {

// The UTF-8 character at `text[at]`; `at` moves behind it. Invalid bytes come out as U+FFFD, one at a time.
char32_t next_char(std::string_view text, std::size_t& at);
void append_char(std::string& out, char32_t c);
template <class F>
void for_each_char(std::string_view text, F f) {
    for (std::size_t at = 0; at < text.size();)
        f(next_char(text, at));
}

// What is shown for source text: tabs as spaces, control characters as symbols, direction marks as U+FFFD.
std::string displayed(std::string_view source);
// The columns that one source character takes once displayed.
std::size_t display_width(char32_t c);
std::size_t display_width(std::string_view source);
std::size_t char_count(std::string_view text);

}  // namespace ockc
