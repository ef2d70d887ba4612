// The excerpt of source below a message: annotated lines with gutter, underlines, labels and the brackets of
// spans that cover several lines. Drawn as rustc draws it.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "diag/diagnostic.hpp"
#include "diag/styled_buffer.hpp"
#include "source/source_map.hpp"

namespace ockc {

// The width of a terminal that nobody measured, as rustc assumes it.
inline constexpr std::size_t kRenderWidth = 140;

// Draws the snippets of all labels, file by file, the primary file first, at the end of `buffer`.
// `gutter` is the width of the longest line number.
void draw_snippets(StyledBuffer& buffer, const std::vector<Label>& labels, const SourceMap& sources,
                   std::size_t gutter);

// The largest line number that a span touches; 0 for none.
std::uint32_t last_line(Span span, const SourceMap& sources);

// ` --> file:line:column` or `::: ..` for a place, at the end of the buffer.
void draw_location(StyledBuffer& buffer, Span span, const SourceMap& sources, std::size_t gutter,
                   bool primary);
// A line number, set to the right of the gutter.
void draw_line_number(StyledBuffer& buffer, std::size_t row, std::uint32_t line, std::size_t gutter);
// The gutter's bar on a line.
void draw_bar(StyledBuffer& buffer, std::size_t line, std::size_t gutter);

}  // namespace ockc
