// The parser on any bytes: it ends, its tree can be printed, and what it could not read is reported.
#include <cstddef>
#include <cstdint>

#include "ast/print.hpp"
#include "fuzz_checks.hpp"
#include "parse/parser.hpp"

using namespace ockc;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    SourceMap sources;
    DiagSink sink;
    Interner interner;
    ast::Crate crate;
    const FileId file = sources.add("input.rsk", "", std::string(reinterpret_cast<const char*>(data), size));
    const lex::TokenBuffer tokens = lex::lex(sources, file, sink, fuzz::edition_of(data, size));
    const parse::ParseContext context{sources, interner, sink, crate};
    const ast::SourceUnit unit = parse::parse(tokens, context);
    const std::string dump = ast::print(unit, {crate, sources, interner});
    OCKC_CHECK(dump.find("(Error)") == std::string::npos || sink.has_errors());
    if (tokens.balanced()) {
        // The same tokens as every kind of fragment: must end, and must not take more than there is.
        constexpr int kKinds = static_cast<int>(parse::FragmentKind::Vis) + 1;
        for (int kind = 0; kind < kKinds; ++kind) {
            DiagSink dropped;
            const parse::ParseContext quiet{sources, interner, dropped, crate};
            const lex::TokenRange all{&tokens, 0, tokens.size() - 1};
            const parse::Fragment fragment =
                parse::parse_fragment(static_cast<parse::FragmentKind>(kind), all, quiet);
            OCKC_CHECK(fragment.end <= all.end);
            OCKC_CHECK(fragment.ok || dropped.has_errors() || all.empty() || fragment.end == 0);
        }
    }
    fuzz::check_diagnostics(sink, sources);
    return 0;
}
