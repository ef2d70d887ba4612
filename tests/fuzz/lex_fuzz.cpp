// The lexer on any bytes: tokens in order, literals decodable, dumps and diagnostics printable.
#include <cstddef>
#include <cstdint>

#include "fuzz_checks.hpp"
#include "lex/literal.hpp"

using namespace ockc;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    SourceMap sources;
    DiagSink sink;
    const FileId file = sources.add("input.rsk", "", std::string(reinterpret_cast<const char*>(data), size));
    const lex::TokenBuffer tokens = lex::lex(sources, file, sink, fuzz::edition_of(data, size));
    fuzz::check_tokens(tokens, sources);
    OCKC_CHECK(tokens.balanced() || sink.has_errors());
    for (std::uint32_t i = 0; i < tokens.size(); ++i) {
        if (!lex::is_literal(tokens.kind(i))) continue;
        const std::string_view text = sources.text(tokens.span(i));
        const lex::DecodedLiteral literal = lex::decode_literal(tokens.kind(i), text);
        lex::report_literal_error(literal.error, text, tokens.span(i), sink);
        if (literal.kind == lex::LiteralKind::Float) {
            const double value = lex::parse_f64(literal.text);
            OCKC_CHECK(value >= 0);  // literals have no sign and are never NaN
        }
    }
    OCKC_CHECK(!lex::dump_tokens(tokens, sources).empty());
    fuzz::check_diagnostics(sink, sources);
    return 0;
}
