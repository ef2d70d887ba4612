// Parsing a text in a test. Dumps have their white space folded, so that an expectation stands on one line.
#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "ast/print.hpp"
#include "lex/lexer.hpp"
#include "parse/parser.hpp"

namespace ockc::parse {

inline std::string folded(std::string_view text) {
    std::string out;
    for (const char c : text) {
        const bool space = c == ' ' || c == '\n';
        if (space && (out.empty() || out.back() == ' ')) continue;
        out += space ? ' ' : c;
    }
    while (!out.empty() && out.back() == ' ')
        out.pop_back();
    return out;
}

struct Parsed {
    SourceMap sources;
    DiagSink sink;
    Interner interner;
    ast::Crate crate;
    std::unique_ptr<lex::TokenBuffer> tokens;
    ast::SourceUnit unit;
    ParseOptions options;

    explicit Parsed(std::string_view text, lex::Edition edition = lex::Edition::E2024,
                    ParseOptions parse_options = {})
        : options(parse_options) {
        const FileId file = sources.add("t.rsk", "", std::string(text));
        tokens = std::make_unique<lex::TokenBuffer>(lex::lex(sources, file, sink, edition));
        unit = parse(*tokens, context());
    }
    ParseContext context() { return {sources, interner, sink, crate, options}; }
    ast::PrintContext printing() const { return {crate, sources, interner}; }
    std::string dump() const { return folded(ast::print(unit, printing())); }
    // "line:message" of every error.
    std::vector<std::string> errors() const {
        std::vector<std::string> out;
        for (const Diagnostic& diagnostic : sink.all()) {
            const Span span = diagnostic.primary_span();
            const std::string code(code_name(diagnostic.code));
            out.push_back(std::to_string(sources.line_column(span.file, span.begin).line) + ":" +
                          (code.empty() ? "" : code + " ") + diagnostic.message);
        }
        return out;
    }
    std::string first_error() const {
        const auto all = errors();
        return all.empty() ? std::string() : all.front();
    }
    lex::TokenRange all_tokens() const { return {tokens.get(), 0, tokens->size() - 1}; }
};

// The dump of one expression, pattern or type, parsed as a fragment.
inline std::string expr(std::string_view text) {
    Parsed parsed("");
    const FileId file = parsed.sources.add("e.rsk", "", std::string(text));
    const lex::TokenBuffer tokens = lex::lex(parsed.sources, file, parsed.sink);
    const ast::ExprId id = parse_expr({&tokens, 0, tokens.size() - 1}, parsed.context());
    return parsed.sink.has_errors() ? "error: " + parsed.sink.all().front().message
                                    : folded(ast::print(id, parsed.printing()));
}
inline std::string pat(std::string_view text) {
    Parsed parsed("");
    const FileId file = parsed.sources.add("p.rsk", "", std::string(text));
    const lex::TokenBuffer tokens = lex::lex(parsed.sources, file, parsed.sink);
    const ast::PatId id = parse_pat({&tokens, 0, tokens.size() - 1}, parsed.context());
    return parsed.sink.has_errors() ? "error: " + parsed.sink.all().front().message
                                    : folded(ast::print(id, parsed.printing()));
}
inline std::string type(std::string_view text) {
    Parsed parsed("");
    const FileId file = parsed.sources.add("y.rsk", "", std::string(text));
    const lex::TokenBuffer tokens = lex::lex(parsed.sources, file, parsed.sink);
    const ast::TypeId id = parse_type({&tokens, 0, tokens.size() - 1}, parsed.context());
    return parsed.sink.has_errors() ? "error: " + parsed.sink.all().front().message
                                    : folded(ast::print(id, parsed.printing()));
}
inline std::string items(std::string_view text) {
    const Parsed parsed(text);
    return parsed.sink.has_errors() ? "error: " + parsed.first_error() : parsed.dump();
}

}  // namespace ockc::parse
