#include "driver/lints.hpp"

namespace ockc::driver {

void apply_lint_levels(DiagSink& sink, const std::vector<std::pair<char, std::string>>& levels) {
    if (levels.empty()) return;
    sink.retain([&](Diagnostic& diagnostic) {
        if (diagnostic.severity != Severity::Warning) return true;
        char level = 'W';
        for (const auto& [to, lint] : levels) {
            const bool all = lint == "warnings";
            if (all || lint == diagnostic.lint) level = to;
        }
        if (level == 'D') diagnostic.severity = Severity::Error;
        return level != 'A';
    });
}

}  // namespace ockc::driver
