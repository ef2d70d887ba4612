// Where every phase puts what it has to tell the user. Diagnostics are collected, never thrown; the driver renders them.
#pragma once
#include <deque>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "diag/diagnostic.hpp"
#include "diag/lint_levels.hpp"

namespace ockc {

// What makes a diagnostic is cold: the compiler lays the code around such calls out apart from what runs every time.
class DiagSink {
  public:
    // The returned reference stays valid until the sink dies: add labels to it in the same statement.
    [[gnu::cold]] Diagnostic& error(Code code, Span span, std::string message);
    [[gnu::cold]] Diagnostic& error(Span span, std::string message) { return error(Code::None, span, std::move(message)); }
    // A lint of lints.def, at its level for this place: where it is allowed, what the reference leads to is thrown away.
    [[gnu::cold]] Diagnostic& lint(std::string_view name, Span span, std::string message);
    LintLevels& levels() { return levels_; }
    // Once all phases have spoken: attributes that name no lint, weaken a forbid (E0453) or expected what did not happen.
    void report_lint_attributes();
    [[gnu::cold]] Diagnostic& add(Severity severity, Code code, Span span, std::string message);

    std::size_t error_count() const { return errors_; }
    std::size_t warning_count() const { return warnings_; }
    bool has_errors() const { return errors_ != 0; }
    const std::deque<Diagnostic>& all() const { return diagnostics_; }
    std::deque<Diagnostic>& all() { return diagnostics_; }

    // Stable order by (file, begin, end) of the place inside the range [from, end); phases keep their own order among each other.
    void sort_from(std::size_t from);

    // Diagnostics by their places in all(): what `work` says joins the part.
    using Part = std::vector<std::pair<std::size_t, std::size_t>>;
    template <class Work>
    void add_to(Part& part, Work&& work) {
        const std::size_t first = diagnostics_.size();
        work();
        if (diagnostics_.size() != first) part.emplace_back(first, diagnostics_.size());
    }
    // Puts a part behind all the rest, or forgets it.
    void put_last(const Part& part, bool keep);

    // Says what was said in the same words with the same labels once only, as rustc does.
    void drop_repeats();

    // Keeps the diagnostics for which keep(Diagnostic&) is true; it may change severities.
    template <class Keep>
    void retain(Keep&& keep) {
        std::deque<Diagnostic> kept;
        errors_ = warnings_ = 0;
        for (Diagnostic& one : diagnostics_) {
            if (!keep(one)) continue;
            errors_ += one.severity == Severity::Error;
            warnings_ += one.severity == Severity::Warning;
            kept.push_back(std::move(one));
        }
        diagnostics_ = std::move(kept);
    }

  private:
    std::deque<Diagnostic> diagnostics_;
    std::size_t errors_ = 0;
    std::size_t warnings_ = 0;
    LintLevels levels_;
    Diagnostic allowed_;        // the last lint that was allowed
};

}  // namespace ockc
