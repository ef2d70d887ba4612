// A grid of styled characters: the renderer draws source lines, underlines and labels anywhere, in any order,
// and prints once.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ockc {

enum class Style : std::uint8_t {
    None,
    HeaderMessage,
    LineNumber,
    Primary,
    Secondary,
    Level,
    Addition,
    Removal,
    Highlight
};

// `severity_color` is the ANSI colour of the diagnostic's level, used by Level and Primary.
std::string_view style_code(Style style, std::string_view severity_color);

class StyledBuffer {
  public:
    void put(std::size_t line, std::size_t column, char32_t c, Style style);
    // One cell for each character of the UTF-8 text.
    void puts(std::size_t line, std::size_t column, std::string_view text, Style style);
    void append(std::size_t line, std::string_view text, Style style);
    void recolor(std::size_t line, std::size_t begin, std::size_t end, Style style);
    std::size_t lines() const { return rows_.size(); }
    void ensure(std::size_t lines) {
        if (rows_.size() < lines) rows_.resize(lines);
    }
    std::string print(bool color, std::string_view severity_color) const;

  private:
    struct Cell {
        char32_t c = ' ';
        Style style = Style::None;
    };
    std::vector<std::vector<Cell>> rows_;
};

}  // namespace ockc
