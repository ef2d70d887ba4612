// Lint levels of the command line applied to what was reported: allow drops a warning, deny makes it an error.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "diag/sink.hpp"

namespace ockc::driver {

// `levels`: ('W' | 'A' | 'D', lint name or "warnings"), later ones win.
void apply_lint_levels(DiagSink& sink, const std::vector<std::pair<char, std::string>>& levels);

}  // namespace ockc::driver
