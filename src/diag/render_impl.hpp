// Shared by the renderers, private to this folder.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "diag/diagnostic.hpp"
#include "diag/render.hpp"
#include "diag/snippet.hpp"
#include "diag/styled_buffer.hpp"

namespace ockc {

std::string_view severity_name(Severity severity);
std::string_view severity_color(Severity severity);
// "E0382", a lint's name, or nothing.
std::string_view shown_code(const Diagnostic& diagnostic);

// A lone short suggestion is told inside a label; the rest get a diff of their own.
bool shown_inline(const Diagnostic& diagnostic);

// " (notice the capitalization)" when a fix-it only changes case.
std::string_view case_hint(const Suggestion& suggestion, const SourceMap& sources);

std::string render_text(const Diagnostic& diagnostic, const SourceMap& sources, bool color);
std::string render_short(const Diagnostic& diagnostic, const SourceMap& sources, bool color);
std::string render_json(const Diagnostic& diagnostic, const SourceMap& sources, const RenderOptions& options);

// The changed code of one suggestion below its "help: text" line, in `buffer`.
void draw_suggestion(StyledBuffer& buffer, const Suggestion& suggestion, const SourceMap& sources,
                     std::size_t gutter, FileId primary_file);

}  // namespace ockc
