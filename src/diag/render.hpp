// Diagnostics as text: rustc's human, short and JSON shapes.
#pragma once
#include <string>
#include <string_view>

#include "diag/sink.hpp"
#include "source/source_map.hpp"

namespace ockc {

enum class ErrorFormat : std::uint8_t { Human, Short, Json };

struct RenderOptions {
    ErrorFormat format = ErrorFormat::Human;
    bool color = false;
    std::string_view (*explanation)(std::string_view code) = nullptr;   // a code's page for the JSON shape; empty: it has none
};

// One diagnostic in the chosen shape, each ending with a newline (JSON: one object on one line).
std::string render(const Diagnostic& diagnostic, const SourceMap& sources, const RenderOptions& options);

// The closing "error: aborting due to 2 previous errors; 1 warning emitted" block; empty when there is
// nothing to say.
std::string render_summary(const DiagSink& sink, const SourceMap& sources, const RenderOptions& options);

}  // namespace ockc
