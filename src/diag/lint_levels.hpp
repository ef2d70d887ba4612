// What becomes of a lint where it is found: nothing, a warning or an error. Decided by rustc's rules from, in this order, the
// lint's own default (lints.def), the command line, and the attributes around the place, innermost last.
#pragma once
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "source/span.hpp"

namespace ockc {

enum class LintLevel : std::uint8_t { Allow, Expect, Warn, Deny, Forbid };

struct LintInfo {
    std::string_view name;
    LintLevel level;
    std::string_view group;
};
// Null when there is no such lint.
const LintInfo* find_lint(std::string_view name);
bool is_lint_group(std::string_view name);

class LintLevels {
  public:
    // The command line's, later ones win. `lint`: a lint, a group or "warnings".
    void set(LintLevel level, std::string lint) { options_.push_back({level, std::move(lint)}); }

    // An attribute: `span` is the code that it stands on, `place` the lint's name in it.
    void add_scope(Span span, Span place, std::string_view lint, LintLevel level);

    // The level of a lint found at `span`. Never Forbid (then Deny). Notes that an expectation came true.
    LintLevel at(std::string_view lint, Span span);

    struct Scope {
        Span span, place;
        std::string lint;
        LintLevel level = LintLevel::Allow;
        bool fulfilled = false;         // Expect
    };
    const std::vector<Scope>& scopes() const { return scopes_; }
    // The forbid that a scope tries to weaken, or null.
    const Scope* forbidden(const Scope& scope) const;

  private:
    struct Option {
        LintLevel level;
        std::string lint;
    };
    // The innermost attribute about the lint (or, for "warnings", about that group); null when there is none.
    Scope* innermost(std::string_view lint, Span span, bool warnings);

    std::vector<Option> options_;
    std::vector<Scope> scopes_;
};

}  // namespace ockc
