#include "diag/styled_buffer.hpp"

#include "diag/display_text.hpp"

namespace ockc {

std::string_view style_code(Style style, std::string_view severity_color) {
    switch (style) {
        case Style::None: return {};
        case Style::HeaderMessage: return "\x1b[1m";
        case Style::LineNumber: return "\x1b[1m\x1b[94m";
        case Style::Secondary: return "\x1b[1m\x1b[94m";
        case Style::Primary: return severity_color;
        case Style::Level: return severity_color;
        case Style::Addition: return "\x1b[92m";
        case Style::Removal: return "\x1b[91m";
        case Style::Highlight: return "\x1b[1m\x1b[35m";
    }
    return {};
}

void StyledBuffer::put(std::size_t line, std::size_t column, char32_t c, Style style) {
    ensure(line + 1);
    auto& row = rows_[line];
    if (row.size() <= column) row.resize(column + 1);
    row[column] = {c, style};
}

void StyledBuffer::puts(std::size_t line, std::size_t column, std::string_view text, Style style) {
    ensure(line + 1);
    for_each_char(text, [&](char32_t c) { put(line, column++, c, style); });
}

void StyledBuffer::append(std::size_t line, std::string_view text, Style style) {
    ensure(line + 1);
    puts(line, rows_[line].size(), text, style);
}

void StyledBuffer::recolor(std::size_t line, std::size_t begin, std::size_t end, Style style) {
    if (line >= rows_.size()) return;
    for (std::size_t i = begin; i < end && i < rows_[line].size(); ++i)
        rows_[line][i].style = style;
}

std::string StyledBuffer::print(bool color, std::string_view severity_color) const {
    std::string out;
    for (const auto& row : rows_) {
        std::size_t end = row.size();
        while (end > 0 && row[end - 1].c == ' ')
            --end;
        Style current = Style::None;
        for (std::size_t i = 0; i < end; ++i) {
            if (color && row[i].style != current) {
                if (!style_code(current, severity_color).empty()) out += "\x1b[0m";
                out += style_code(row[i].style, severity_color);
                current = row[i].style;
            }
            append_char(out, row[i].c);
        }
        if (color && !style_code(current, severity_color).empty()) out += "\x1b[0m";
        out += '\n';
    }
    return out;
}

}  // namespace ockc
