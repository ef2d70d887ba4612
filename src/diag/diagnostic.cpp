#include "diag/diagnostic.hpp"

#include <array>
#include <utility>

namespace ockc {

namespace {

struct CodeRow {
    std::string_view name;
    std::string_view title;
};

constexpr CodeRow kCodes[] = {
    {"", ""},
#define OCKC_CODE(code, severity, title) {#code, title},
#include "diag/codes.def"
};

}  // namespace

std::string_view code_name(Code code) {
    return kCodes[static_cast<std::size_t>(code)].name;
}
std::string_view code_title(Code code) {
    return kCodes[static_cast<std::size_t>(code)].title;
}

Code code_from_name(std::string_view name) {
    for (std::size_t i = 1; i < std::size(kCodes); ++i) {
        if (kCodes[i].name == name) return static_cast<Code>(i);
    }
    return Code::None;
}

std::vector<Code> all_codes() {
    std::vector<Code> codes;
    for (std::size_t i = 1; i < std::size(kCodes); ++i)
        codes.push_back(static_cast<Code>(i));
    return codes;
}

Span Diagnostic::primary_span() const {
    for (const Label& label : labels) {
        if (label.primary) return label.span;
    }
    return {};
}

Diagnostic& Diagnostic::label(Span span, std::string text) {
    // A label on the primary span itself gives the primary label its text.
    for (Label& existing : labels) {
        if (existing.primary && existing.span == span && existing.text.empty()) {
            existing.text = std::move(text);
            return *this;
        }
    }
    labels.push_back({span, std::move(text), false});
    return *this;
}

Diagnostic& Diagnostic::note(std::string text) {
    return note_at({}, std::move(text));
}
Diagnostic& Diagnostic::help(std::string text) {
    return help_at({}, std::move(text));
}

Diagnostic& Diagnostic::note_at(Span span, std::string text) {
    children.push_back({Severity::Note, std::move(text), span});
    return *this;
}

Diagnostic& Diagnostic::help_at(Span span, std::string text) {
    children.push_back({Severity::Help, std::move(text), span});
    return *this;
}

Diagnostic& Diagnostic::suggest(Span span, std::string replacement, std::string text,
                                Applicability applicability) {
    suggestions.push_back(
        {std::move(text), span, std::move(replacement), applicability, SuggestionStyle::Diff, {}});
    return *this;
}

Diagnostic& Diagnostic::suggest_inline(Span span, std::string replacement, std::string text,
                                       Applicability applicability) {
    suggest(span, std::move(replacement), std::move(text), applicability);
    suggestions.back().style = SuggestionStyle::Inline;
    return *this;
}

Diagnostic& Diagnostic::suggest_short(Span span, std::string replacement, std::string text,
                                      Applicability applicability) {
    suggest(span, std::move(replacement), std::move(text), applicability);
    suggestions.back().style = SuggestionStyle::InlineShort;
    return *this;
}

Diagnostic& Diagnostic::suggest_parts(std::vector<SuggestionPart> parts, std::string text,
                                      Applicability applicability) {
    suggest(parts.front().span, std::move(parts.front().replacement), std::move(text), applicability);
    parts.erase(parts.begin());
    suggestions.back().more = std::move(parts);
    return *this;
}

}  // namespace ockc
