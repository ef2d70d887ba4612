#include <fmt/format.h>

#include <iterator>

#include "lex/lexer.hpp"

namespace ockc::lex {

std::string dump_tokens(const TokenBuffer& tokens, const SourceMap& sources) {
    std::string out;
    // Lines only grow in a lexed file, so positions are found by walking along instead of searching from each
    // line's start.
    std::uint32_t line = 1, column = 1, at = 0;
    const std::string_view text = sources.file(tokens.file()).text;
    for (std::uint32_t i = 0; i < tokens.size(); ++i) {
        const Span span = tokens.span(i);
        if (span.file != tokens.file() || span.begin < at) {
            const LineColumn where = sources.line_column(span.file, span.begin);
            fmt::format_to(std::back_inserter(out), "{}:{} {} {}\n", where.line, where.column,
                           info(tokens.kind(i)).name, sources.text(span));
            continue;
        }
        for (; at < span.begin; ++at) {
            if (text[at] == '\n') {
                ++line;
                column = 1;
            } else if ((static_cast<unsigned char>(text[at]) & 0xC0) != 0x80) {
                ++column;
            }
        }
        fmt::format_to(std::back_inserter(out), "{}:{} {}", line, column, info(tokens.kind(i)).name);
        if (span.size() != 0) fmt::format_to(std::back_inserter(out), " {}", sources.text(span));
        out += '\n';
    }
    return out;
}

}  // namespace ockc::lex
