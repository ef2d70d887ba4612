// The JSON shape: rustc's schema, one object a line, so that tools made for rustc read it.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "diag/display_text.hpp"
#include "diag/render_impl.hpp"

namespace ockc {

namespace {

class JsonWriter {
  public:
    explicit JsonWriter(const SourceMap& sources) : sources_(sources) {}
    std::string take() { return std::move(out_); }

    void key(std::string_view name) {
        separate();
        string(name);
        out_ += ':';
        fresh_ = true;
    }
    void open(char bracket) {
        separate();
        out_ += bracket;
        fresh_ = true;
    }
    void close(char bracket) {
        out_ += bracket;
        fresh_ = false;
    }
    void text(std::string_view value) {
        separate();
        string(value);
    }
    void raw(std::string_view value) {
        separate();
        out_ += value;
    }
    void number(std::size_t value) { raw(fmt::format("{}", value)); }

    void member(std::string_view name, std::string_view value) { key(name), text(value); }
    void number_member(std::string_view name, std::size_t value) { key(name), number(value); }
    void raw_member(std::string_view name, std::string_view value) { key(name), raw(value); }

    void span(Span span, bool primary, const std::string* label, const SuggestionPart* replacement,
              Applicability applicability) {
        const SourceFile& file = sources_.file(span.file);
        const auto size = static_cast<std::uint32_t>(file.text.size());
        const LineColumn begin = sources_.line_column(span.file, std::min(span.begin, size));
        const LineColumn end = sources_.line_column(span.file, std::min(span.end, size));
        open('{');
        member("file_name", file.display_name());
        number_member("byte_start", span.begin);
        number_member("byte_end", span.end);
        number_member("line_start", begin.line);
        number_member("line_end", end.line);
        number_member("column_start", begin.column);
        number_member("column_end", end.column);
        raw_member("is_primary", primary ? "true" : "false");
        key("text");
        open('[');
        for (std::uint32_t line = begin.line; line <= end.line; ++line)
            text_line(span.file, line, begin, end);
        close(']');
        key("label");
        label != nullptr && !label->empty() ? text(*label) : raw("null");
        key("suggested_replacement");
        replacement != nullptr ? text(replacement->replacement) : raw("null");
        key("suggestion_applicability");
        replacement != nullptr ? text(name_of(applicability)) : raw("null");
        raw_member("expansion", "null");
        close('}');
    }

  private:
    static std::string_view name_of(Applicability applicability) {
        switch (applicability) {
            case Applicability::MachineApplicable: return "MachineApplicable";
            case Applicability::MaybeIncorrect: return "MaybeIncorrect";
            case Applicability::HasPlaceholders: return "HasPlaceholders";
            case Applicability::Unspecified: return "Unspecified";
        }
        return {};
    }

    void text_line(FileId file, std::uint32_t line, LineColumn begin, LineColumn end) {
        const std::string_view content = sources_.line_text(file, line);
        open('{');
        member("text", content);
        number_member("highlight_start", line == begin.line ? begin.column : 1);
        number_member("highlight_end", line == end.line ? end.column : char_count(content) + 1);
        close('}');
    }

    void separate() {
        if (!fresh_) out_ += ',';
        fresh_ = false;
    }

    void string(std::string_view value) {
        out_ += '"';
        for (const char c : value) {
            switch (c) {
                case '"': out_ += "\\\""; break;
                case '\\': out_ += "\\\\"; break;
                case '\n': out_ += "\\n"; break;
                case '\r': out_ += "\\r"; break;
                case '\t': out_ += "\\t"; break;
                case '\b': out_ += "\\b"; break;
                case '\f': out_ += "\\f"; break;
                default:
                    if (static_cast<unsigned char>(c) < 0x20) {
                        fmt::format_to(std::back_inserter(out_), "\\u{:04x}", static_cast<unsigned>(c));
                    } else {
                        out_ += c;
                    }
            }
        }
        out_ += '"';
    }

    const SourceMap& sources_;
    std::string out_;
    bool fresh_ = true;
};

// A child has no code of its own.
void head(JsonWriter& json, std::string_view message, std::string_view level) {
    json.open('{');
    json.member("message", message);
    json.raw_member("code", "null");
    json.member("level", level);
    json.key("spans");
    json.open('[');
}

void tail(JsonWriter& json) {
    json.close(']');
    json.raw_member("children", "[]");
    json.raw_member("rendered", "null");
    json.close('}');
}

void suggestion_child(JsonWriter& json, const Suggestion& suggestion) {
    head(json, suggestion.text, "help");
    const SuggestionPart first{suggestion.span, suggestion.replacement};
    json.span(suggestion.span, true, nullptr, &first, suggestion.applicability);
    for (const SuggestionPart& part : suggestion.more)
        json.span(part.span, true, nullptr, &part, suggestion.applicability);
    tail(json);
}

}  // namespace

std::string render_json(const Diagnostic& diagnostic, const SourceMap& sources, const RenderOptions& options) {
    JsonWriter json(sources);
    json.open('{');
    json.member("$message_type", "diagnostic");
    json.member("message", diagnostic.message);
    json.key("code");
    if (const std::string_view code = shown_code(diagnostic); code.empty()) {
        json.raw("null");
    } else {
        json.open('{');
        json.member("code", code);
        const std::string_view page = options.explanation != nullptr ? options.explanation(code) : std::string_view();
        if (page.empty()) {
            json.raw_member("explanation", "null");
        } else {
            json.member("explanation", page);
        }
        json.close('}');
    }
    json.member("level", severity_name(diagnostic.severity));
    json.key("spans");
    json.open('[');
    for (const Label& label : diagnostic.labels)
        json.span(label.span, label.primary, &label.text, nullptr, Applicability::Unspecified);
    json.close(']');
    json.key("children");
    json.open('[');
    for (const SubDiagnostic& child : diagnostic.children) {
        head(json, child.text, severity_name(child.severity));
        if (child.span.valid()) json.span(child.span, true, nullptr, nullptr, Applicability::Unspecified);
        tail(json);
    }
    for (const Suggestion& suggestion : diagnostic.suggestions)
        suggestion_child(json, suggestion);
    json.close(']');
    json.member("rendered", render_text(diagnostic, sources, options.color));
    json.close('}');
    return json.take() + "\n";
}

}  // namespace ockc
