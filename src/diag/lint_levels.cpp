#include "diag/lint_levels.hpp"

#include <algorithm>

namespace ockc {

namespace {

constexpr LintInfo kLints[] = {
#define OCKC_LINT(name, level, group, phase, doc) {#name, LintLevel::level, #group},
#include "diag/lints.def"
};

// Does an attribute or option about `named` speak of the lint?
bool names(std::string_view named, const LintInfo* info, std::string_view lint) { return named == lint || (info != nullptr && named == info->group); }

bool covers(Span outer, Span inner) { return outer.file == inner.file && outer.begin <= inner.begin && inner.begin < std::max(outer.end, outer.begin + 1); }

}  // namespace

const LintInfo* find_lint(std::string_view name) {
    const auto found = std::find_if(std::begin(kLints), std::end(kLints), [&](const LintInfo& info) { return info.name == name; });
    return found == std::end(kLints) ? nullptr : found;
}

bool is_lint_group(std::string_view name) {
    return name == "warnings" || (name != "none" && std::any_of(std::begin(kLints), std::end(kLints), [&](const LintInfo& info) { return info.group == name; }));
}

void LintLevels::add_scope(Span span, Span place, std::string_view lint, LintLevel level) {
    scopes_.push_back({span, place, std::string(lint), level, false});
}

LintLevels::Scope* LintLevels::innermost(std::string_view lint, Span span, bool warnings) {
    const LintInfo* info = find_lint(lint);
    Scope* best = nullptr;
    for (Scope& scope : scopes_) {
        if (!covers(scope.span, span) || !(warnings ? scope.lint == "warnings" : names(scope.lint, info, lint))) continue;
        if (best == nullptr || scope.span.size() <= best->span.size()) best = &scope;
    }
    return best;
}

LintLevel LintLevels::at(std::string_view lint, Span span) {
    const LintInfo* info = find_lint(lint);
    LintLevel level = info != nullptr ? info->level : LintLevel::Warn;
    for (const Option& option : options_) {
        if (names(option.lint, info, lint)) level = option.level;
    }
    const auto apply = [&](Scope* scope) {
        if (scope == nullptr) return;
        level = scope->level;
        if (level == LintLevel::Expect) scope->fulfilled = true;
    };
    apply(innermost(lint, span, false));
    if (level == LintLevel::Warn) {
        for (const Option& option : options_) {
            if (option.lint == "warnings") level = option.level;
        }
        apply(innermost(lint, span, true));
    }
    return level == LintLevel::Forbid ? LintLevel::Deny : level;
}

const LintLevels::Scope* LintLevels::forbidden(const Scope& scope) const {
    if (scope.level == LintLevel::Forbid || scope.level == LintLevel::Deny) return nullptr;
    for (const Scope& outer : scopes_) {   // of a group rustc only warns
        const bool inside = outer.span.size() > scope.span.size() && covers(outer.span, scope.span);
        if (outer.level == LintLevel::Forbid && inside && names(scope.lint, find_lint(outer.lint), outer.lint)) return &outer;
    }
    return nullptr;
}

}  // namespace ockc
