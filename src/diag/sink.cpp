#include "diag/sink.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

namespace ockc {

Diagnostic& DiagSink::add(Severity severity, Code code, Span span, std::string message) {
    if (severity == Severity::Error) ++errors_;
    if (severity == Severity::Warning) ++warnings_;
    Diagnostic& diagnostic = diagnostics_.emplace_back();
    diagnostic.severity = severity;
    diagnostic.code = code;
    diagnostic.message = std::move(message);
    if (span.valid()) diagnostic.labels.push_back({span, {}, true});
    return diagnostic;
}

Diagnostic& DiagSink::error(Code code, Span span, std::string message) {
    return add(Severity::Error, code, span, std::move(message));
}

Diagnostic& DiagSink::lint(std::string_view name, Span span, std::string message) {
    const LintLevel level = levels_.at(name, span);
    if (level == LintLevel::Allow || level == LintLevel::Expect) return allowed_ = Diagnostic{};
    Diagnostic& diagnostic = add(level == LintLevel::Warn ? Severity::Warning : Severity::Error, Code::None, span, std::move(message));
    diagnostic.lint = name;
    return diagnostic;
}

void DiagSink::report_lint_attributes() {
    const std::vector<LintLevels::Scope> scopes = levels_.scopes();
    for (const LintLevels::Scope& scope : scopes) {
        const bool other_tool = scope.lint.find("::") != std::string::npos;
        if (const LintLevels::Scope* outer = levels_.forbidden(scope)) {
            error(Code::E0453, scope.place, "a lint level for `" + scope.lint + "` is incompatible with the previous forbid of `" + outer->lint + "`")
                .label(scope.place, "overruled by previous forbid")
                .label(outer->place, "`forbid` level set here");
        }
        if (scope.level == LintLevel::Expect && !scope.fulfilled && !other_tool && find_lint(scope.lint) != nullptr) {
            lint("unfulfilled_lint_expectations", scope.place, "this lint expectation is unfulfilled");
        }
    }
}

void DiagSink::sort_from(std::size_t from) {
    const auto key = [](const Diagnostic& d) {
        const Span span = d.primary_span();
        return std::tuple(span.file.raw, span.begin, span.end);
    };
    std::stable_sort(diagnostics_.begin() + static_cast<std::ptrdiff_t>(from), diagnostics_.end(),
                     [&](const Diagnostic& a, const Diagnostic& b) { return key(a) < key(b); });
}

void DiagSink::put_last(const Part& part, bool keep) {
    if (part.empty()) return;
    std::vector<bool> is_in(diagnostics_.size());
    for (const auto& [first, end] : part) std::fill(is_in.begin() + static_cast<std::ptrdiff_t>(first), is_in.begin() + static_cast<std::ptrdiff_t>(end), true);
    std::deque<Diagnostic> last;
    std::size_t at = 0;
    retain([&](Diagnostic& one) {
        if (!is_in[at++]) return true;
        if (keep) last.push_back(std::move(one));
        return false;
    });
    for (Diagnostic& one : last) {
        errors_ += one.severity == Severity::Error;
        warnings_ += one.severity == Severity::Warning;
        diagnostics_.push_back(std::move(one));
    }
}

void DiagSink::drop_repeats() {
    std::set<std::tuple<Severity, Code, std::uint32_t, std::uint32_t, std::uint32_t, std::string>> seen;
    retain([&](const Diagnostic& d) {
        const Span span = d.primary_span();
        std::string words = d.message;
        for (const Label& label : d.labels) words += fmt::format("\n{} {} {} {}", label.span.file.raw, label.span.begin, label.span.end, label.text);
        return !span.valid() || seen.emplace(d.severity, d.code, span.file.raw, span.begin, span.end, std::move(words)).second;
    });
}

}  // namespace ockc
