// What must hold for any input, shared by the fuzzers.
#pragma once
#include <algorithm>
#include <cstdint>
#include <string>

#include "diag/render.hpp"
#include "lex/lexer.hpp"
#include "source/source_map.hpp"
#include "support/check.hpp"

namespace ockc::fuzz {

// Tokens stand in order inside the file and end with Eof; a balanced buffer has mutual partners.
inline void check_tokens(const lex::TokenBuffer& tokens, const SourceMap& sources) {
    const auto size = static_cast<std::uint32_t>(sources.file(tokens.file()).text.size());
    std::uint32_t end = 0;
    for (std::uint32_t i = 0; i < tokens.size(); ++i) {
        const Span span = tokens.span(i);
        OCKC_CHECK(span.begin >= end && span.end >= span.begin && span.end <= size);
        end = span.end;
        if (tokens.balanced() && lex::is_delimiter(tokens.kind(i)))
            OCKC_CHECK(tokens.partner(tokens.partner(i)) == i);
    }
    OCKC_CHECK(tokens.size() != 0 && tokens.kind(tokens.size() - 1) == lex::TokenKind::Eof);
}

// Every place of every diagnostic lies in the file, and all of them can be drawn.
inline void check_diagnostics(const DiagSink& sink, const SourceMap& sources) {
    const auto inside = [&](Span span) {
        return !span.valid() || (span.begin <= span.end && span.end <= sources.file(span.file).text.size());
    };
    int drawn = 0;
    for (const Diagnostic& diagnostic : sink.all()) {
        OCKC_CHECK(!diagnostic.message.empty());
        for (const Label& label : diagnostic.labels)
            OCKC_CHECK(inside(label.span));
        for (const SubDiagnostic& child : diagnostic.children)
            OCKC_CHECK(inside(child.span));
        for (const Suggestion& suggestion : diagnostic.suggestions)
            OCKC_CHECK(inside(suggestion.span));
        constexpr int kDrawn = 20;
        if (++drawn > kDrawn) continue;
        for (const ErrorFormat format : {ErrorFormat::Human, ErrorFormat::Short, ErrorFormat::Json}) {
            OCKC_CHECK(!render(diagnostic, sources, {format, true}).empty());
        }
    }
}

// The first byte of an input chooses the edition, so that both are reached.
inline lex::Edition edition_of(const std::uint8_t* data, std::size_t size) {
    return size != 0 && data[0] == '2' ? lex::Edition::E2021 : lex::Edition::E2024;
}

}  // namespace ockc::fuzz
