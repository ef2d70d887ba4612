// The human shape: header, snippets, notes, suggestions. And the short shape: all on one line.
#include <fmt/format.h>

#include <algorithm>

#include "diag/display_text.hpp"
#include "diag/render_impl.hpp"

namespace ockc {

namespace {

// Appends text that may have several lines; the later ones are indented by `indent`.
void append_lines(StyledBuffer& buffer, std::size_t row, std::string_view text, std::size_t indent,
                  Style style) {
    for (;;) {
        const std::size_t line_end = text.find('\n');
        buffer.append(row, displayed(text.substr(0, line_end)), style);
        if (line_end == std::string_view::npos) return;
        text.remove_prefix(line_end + 1);
        ++row;
        buffer.ensure(row + 1);
        if (!text.empty()) buffer.append(row, std::string(indent, ' '), Style::None);
    }
}

std::size_t word_count(std::string_view text) {
    std::size_t words = 0;
    bool inside = false;
    for (const char c : text) {
        const bool space = c == ' ' || c == '\n' || c == '\t';
        words += !space && !inside;
        inside = !space;
    }
    return words;
}

std::string_view trimmed(std::string_view text) {
    const std::size_t begin = text.find_first_not_of(" \t\n\r");
    if (begin == std::string_view::npos) return {};
    return text.substr(begin, text.find_last_not_of(" \t\n\r") - begin + 1);
}

// The labels to draw: named ones in their order, an inline suggestion, then primary spans that have no text.
std::vector<Label> labels_to_draw(const Diagnostic& diagnostic, const SourceMap& sources) {
    std::vector<Label> out;
    const auto is_primary = [&](Span span) {
        return std::any_of(diagnostic.labels.begin(), diagnostic.labels.end(),
                           [&](const Label& l) { return l.primary && l.span == span; });
    };
    for (const Label& label : diagnostic.labels) {
        if (!label.text.empty() || !label.primary)
            out.push_back({label.span, label.text, is_primary(label.span)});
    }
    if (shown_inline(diagnostic)) {
        const Suggestion& suggestion = diagnostic.suggestions.front();
        const std::string_view code = trimmed(suggestion.replacement);
        const bool bare = code.empty() || suggestion.style == SuggestionStyle::InlineShort;
        out.push_back(
            {suggestion.span,
             bare ? fmt::format("help: {}", suggestion.text)
                  : fmt::format("help: {}{}: `{}`", suggestion.text, case_hint(suggestion, sources), code),
             is_primary(suggestion.span)});
    }
    for (const Label& label : diagnostic.labels) {
        if (!label.text.empty() || !label.primary) continue;
        const bool named =
            std::any_of(out.begin(), out.end(), [&](const Label& l) { return l.span == label.span; });
        if (!named) out.push_back(label);
    }
    return out;
}

std::size_t gutter_width(const Diagnostic& diagnostic, const SourceMap& sources) {
    std::uint32_t last = 0;
    const auto take = [&](Span span) { last = std::max(last, last_line(span, sources)); };
    for (const Label& label : diagnostic.labels)
        take(label.span);
    for (const SubDiagnostic& child : diagnostic.children)
        take(child.span);
    for (const Suggestion& suggestion : diagnostic.suggestions) {
        take(suggestion.span);
        for (const SuggestionPart& part : suggestion.more)
            take(part.span);
    }
    return last == 0 ? 0 : fmt::formatted_size("{}", last);
}

void draw_header(StyledBuffer& buffer, const Diagnostic& diagnostic) {
    std::string level(severity_name(diagnostic.severity));
    if (diagnostic.code != Code::None) level += fmt::format("[{}]", code_name(diagnostic.code));
    buffer.puts(0, 0, level, Style::Level);
    buffer.append(0, ": ", Style::HeaderMessage);
    append_lines(buffer, 0, diagnostic.message, level.size() + 2, Style::HeaderMessage);
}

// `= note: ..`, or with a place a small diagnostic of its own.
void draw_child(StyledBuffer& buffer, const SubDiagnostic& child, const SourceMap& sources,
                std::size_t gutter) {
    const std::size_t row = buffer.lines();
    const std::string_view name = severity_name(child.severity);
    if (child.span.valid()) {
        buffer.puts(row, 0, name, Style::Level);
        buffer.append(row, ": ", Style::None);
        append_lines(buffer, row, child.text, name.size() + 2, Style::None);
        draw_snippets(buffer, {{child.span, {}, true}}, sources, gutter);
        return;
    }
    buffer.puts(row, gutter + 1, "= ", Style::LineNumber);
    buffer.append(row, name, Style::HeaderMessage);
    buffer.append(row, ": ", Style::None);
    append_lines(buffer, row, child.text, gutter + name.size() + 5, Style::None);
}

}  // namespace

bool shown_inline(const Diagnostic& diagnostic) {
    if (diagnostic.suggestions.size() != 1) return false;
    const Suggestion& only = diagnostic.suggestions.front();
    return only.style != SuggestionStyle::Diff && only.more.empty() && word_count(only.text) < 10 &&
           only.replacement.find('\n') == std::string::npos;
}

std::string render_text(const Diagnostic& diagnostic, const SourceMap& sources, bool color) {
    const std::size_t gutter = gutter_width(diagnostic, sources);
    const bool inline_suggestion = shown_inline(diagnostic);
    std::string out;
    const auto flush = [&](StyledBuffer& buffer, Severity severity) {
        out += buffer.print(color, severity_color(severity));
        buffer = StyledBuffer();
    };
    StyledBuffer buffer;
    draw_header(buffer, diagnostic);
    const std::vector<Label> labels = labels_to_draw(diagnostic, sources);
    if (!labels.empty()) draw_snippets(buffer, labels, sources, gutter);
    const bool more = !diagnostic.children.empty() || (!diagnostic.suggestions.empty() && !inline_suggestion);
    if (more) draw_bar(buffer, buffer.lines(), gutter);
    flush(buffer, diagnostic.severity);
    for (const SubDiagnostic& child : diagnostic.children) {
        draw_child(buffer, child, sources, gutter);
        flush(buffer, child.severity);
    }
    if (!inline_suggestion) {
        for (const Suggestion& suggestion : diagnostic.suggestions) {
            buffer.puts(0, 0, "help", Style::Level);
            buffer.append(0, ": ", Style::None);
            append_lines(buffer, 0, suggestion.text + std::string(case_hint(suggestion, sources)),
                         gutter + 15, Style::None);
            draw_suggestion(buffer, suggestion, sources, gutter, diagnostic.primary_span().file);
            flush(buffer, Severity::Help);
        }
    }
    return out + "\n";
}

std::string render_short(const Diagnostic& diagnostic, const SourceMap& sources, bool color) {
    StyledBuffer buffer;
    const Span primary = diagnostic.primary_span();
    if (primary.valid()) {
        const LineColumn at = sources.line_column(primary.file, primary.begin);
        buffer.puts(0, 0, fmt::format("{}:{}:{}: ", sources.file(primary.file).display_name(), at.line, at.column),
                    Style::None);
    }
    std::string level(severity_name(diagnostic.severity));
    if (diagnostic.code != Code::None) level += fmt::format("[{}]", code_name(diagnostic.code));
    buffer.append(0, level, Style::Level);
    std::string message = diagnostic.message;
    for (const Label& label : diagnostic.labels) {
        if (label.primary && !label.text.empty())
            message += (message == diagnostic.message ? ": " : ", ") + label.text;
    }
    std::replace(message.begin(), message.end(), '\n', ' ');
    buffer.append(0, ": ", Style::HeaderMessage);
    buffer.append(0, message, Style::HeaderMessage);
    return buffer.print(color, severity_color(diagnostic.severity));
}

}  // namespace ockc
