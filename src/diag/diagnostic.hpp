// A diagnostic as data: code, message, primary span, labels, notes, helps and fix-its, in rustc's shape.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "source/span.hpp"

namespace ockc {

enum class Severity : std::uint8_t { Error, Warning, Note, Help };

enum class Code : std::uint16_t {
    None,  // errors without a number, as rustc's syntax errors
#define OCKC_CODE(code, severity, title) code,
#include "diag/codes.def"
};

std::string_view code_name(Code code);  // "E0382"; empty for None
std::string_view code_title(Code code);
Code code_from_name(std::string_view name);  // None when unknown
std::vector<Code> all_codes();               // every row but None

struct Label {
    Span span;
    std::string text;  // may be empty: only underlines
    bool primary = false;
};

enum class Applicability : std::uint8_t { MachineApplicable, MaybeIncorrect, HasPlaceholders, Unspecified };

// How a fix-it is shown: as a diff of its own, or inside the label of its place (with or without the
// replacement).
enum class SuggestionStyle : std::uint8_t { Diff, Inline, InlineShort };

struct SuggestionPart {
    Span span;  // what is replaced; empty span = insertion
    std::string replacement;
};

struct Suggestion {
    std::string text;  // "consider borrowing"
    Span span;         // what is replaced; empty span = insertion
    std::string replacement;
    Applicability applicability = Applicability::MaybeIncorrect;
    SuggestionStyle style = SuggestionStyle::Diff;
    std::vector<SuggestionPart> more = {};  // further places changed together with the first, in source order
};

// A note or help line below the diagnostic, with or without a place of its own.
struct SubDiagnostic {
    Severity severity = Severity::Note;
    std::string text;
    Span span;
};

struct Diagnostic {
    Severity severity = Severity::Error;
    Code code = Code::None;
    std::string lint;           // lint name ("unused_variables") for lints; its code in JSON, as in rustc
    std::string message;        // lower case, no full stop, code in backticks
    std::vector<Label> labels;  // the first primary label is the place
    std::vector<SubDiagnostic> children;
    std::vector<Suggestion> suggestions;

    Span primary_span() const;

    // Builders; each returns *this so that an emit site reads as one sentence.
    [[gnu::cold]] Diagnostic& label(Span span, std::string text);
    [[gnu::cold]] Diagnostic& note(std::string text);
    [[gnu::cold]] Diagnostic& help(std::string text);
    [[gnu::cold]] Diagnostic& note_at(Span span, std::string text);
    [[gnu::cold]] Diagnostic& help_at(Span span, std::string text);
    [[gnu::cold]] Diagnostic& suggest(Span span, std::string replacement, std::string text,
                        Applicability applicability = Applicability::MaybeIncorrect);
    // Shown in the label: "help: try this: `replacement`", or without the replacement.
    [[gnu::cold]] Diagnostic& suggest_inline(Span span, std::string replacement, std::string text,
                               Applicability applicability = Applicability::MaybeIncorrect);
    [[gnu::cold]] Diagnostic& suggest_short(Span span, std::string replacement, std::string text,
                              Applicability applicability = Applicability::MaybeIncorrect);
    // One change in several places, in source order.
    [[gnu::cold]] Diagnostic& suggest_parts(std::vector<SuggestionPart> parts, std::string text,
                              Applicability applicability = Applicability::MaybeIncorrect);
};

}  // namespace ockc
