// Chooses the shape, and writes the closing lines.
#include "diag/render.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "diag/render_impl.hpp"

namespace ockc {

std::string_view severity_name(Severity severity) {
    switch (severity) {
        case Severity::Error: return "error";
        case Severity::Warning: return "warning";
        case Severity::Note: return "note";
        case Severity::Help: return "help";
    }
    return {};
}

std::string_view severity_color(Severity severity) {
    switch (severity) {
        case Severity::Error: return "\x1b[1m\x1b[91m";
        case Severity::Warning: return "\x1b[1m\x1b[33m";
        case Severity::Note: return "\x1b[1m\x1b[92m";
        case Severity::Help: return "\x1b[1m\x1b[96m";
    }
    return {};
}

std::string_view shown_code(const Diagnostic& diagnostic) {
    return diagnostic.code != Code::None ? code_name(diagnostic.code) : std::string_view(diagnostic.lint);
}

namespace {

// Is `span` a range of a file that exists; an end before its start is pulled up to it.
bool repair(Span& span, const SourceMap& sources) {
    if (!span.valid() || span.file.index() >= sources.size()) return false;
    span.end = std::max(span.begin, span.end);
    return true;
}

constexpr std::size_t kMostChildren = 32;   // notes of one diagnostic that somebody reads

// A chain of calls that goes round has the same note many times: one of them and the number of the others are enough.
void cap_children(std::vector<SubDiagnostic>& children) {
    std::vector<SubDiagnostic> kept;
    std::size_t left_out = 0;
    for (std::size_t i = 0; i < children.size();) {
        std::size_t end = i + 1;
        while (end < children.size() && children[end].text == children[i].text && children[end].span == children[i].span) ++end;
        const std::size_t repeats = end - i - 1;
        if (kept.size() < kMostChildren) {
            kept.push_back(children[i]);
            if (repeats != 0) kept.push_back({Severity::Note, fmt::format("the same {} more times", repeats), {}});
        } else {
            left_out += end - i;
        }
        i = end;
    }
    if (left_out != 0) kept.push_back({Severity::Note, fmt::format("{} more notes are left out", left_out), {}});
    children = std::move(kept);
}

// What can be drawn of a diagnostic: an emit site with a wrong place costs its underline, never the message.
Diagnostic drawable(Diagnostic diagnostic, const SourceMap& sources) {
    std::erase_if(diagnostic.labels, [&](Label& label) { return !repair(label.span, sources); });
    for (SubDiagnostic& child : diagnostic.children) {
        if (!repair(child.span, sources)) child.span = {};
    }
    std::erase_if(diagnostic.suggestions, [&](Suggestion& suggestion) {
        std::erase_if(suggestion.more, [&](SuggestionPart& part) { return !repair(part.span, sources); });
        return !repair(suggestion.span, sources);
    });
    cap_children(diagnostic.children);
    return diagnostic;
}

}  // namespace

std::string render(const Diagnostic& given, const SourceMap& sources, const RenderOptions& options) {
    const Diagnostic diagnostic = drawable(given, sources);
    switch (options.format) {
        case ErrorFormat::Human: return render_text(diagnostic, sources, options.color);
        case ErrorFormat::Short: return render_short(diagnostic, sources, options.color);
        case ErrorFormat::Json: return render_json(diagnostic, sources, options);
    }
    return {};
}

namespace {

std::string plural(std::size_t count, std::string_view what) {
    return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

// "aborting due to ..", or "1 warning emitted".
std::string closing_message(const DiagSink& sink, Severity& severity) {
    const std::size_t errors = sink.error_count(), warnings = sink.warning_count();
    severity = errors != 0 ? Severity::Error : Severity::Warning;
    const std::string emitted = fmt::format("{} emitted", plural(warnings, "warning"));
    if (errors == 0) return emitted;
    std::string message = fmt::format("aborting due to {}", plural(errors, "previous error"));
    if (warnings != 0) message += "; " + emitted;
    return message;
}

// "For more information about this error, .."
std::vector<std::string> explain_lines(const DiagSink& sink) {
    std::set<std::string> codes;
    for (const Diagnostic& diagnostic : sink.all()) {
        if (diagnostic.severity == Severity::Error && diagnostic.code != Code::None)
            codes.emplace(code_name(diagnostic.code));
    }
    if (codes.empty()) return {};
    if (codes.size() == 1)
        return {fmt::format("For more information about this error, try `ockc explain {}`.", *codes.begin())};
    constexpr std::size_t kShown = 9;
    std::string list;
    std::size_t shown = 0;
    for (const std::string& code : codes) {
        if (shown == kShown) break;
        list += (shown++ == 0 ? "" : ", ") + code;
    }
    return {fmt::format("Some errors have detailed explanations: {}{}", list,
                        codes.size() > kShown ? "..." : "."),
            fmt::format("For more information about an error, try `ockc explain {}`.", *codes.begin())};
}

}  // namespace

std::string render_summary(const DiagSink& sink, const SourceMap& sources, const RenderOptions& options) {
    if (sink.error_count() == 0 && sink.warning_count() == 0) return {};
    Diagnostic closing;
    closing.message = closing_message(sink, closing.severity);
    std::string out = render(closing, sources, options);
    if (options.format == ErrorFormat::Short) return out;
    const std::vector<std::string> explain = explain_lines(sink);
    for (const std::string& line : explain) {
        if (options.format == ErrorFormat::Json) {
            out += fmt::format(
                "{{\"$message_type\":\"diagnostic\",\"message\":\"{0}\",\"code\":null,\"level\":\"failure-"
                "note\",\"spans\":[],"
                "\"children\":[],\"rendered\":\"{0}\\n\"}}\n",
                line);
        } else {
            out += options.color ? "\x1b[1m" + line + "\x1b[0m\n" : line + "\n";
        }
    }
    return out;
}

}  // namespace ockc
