// Source text as tokens: all of Rust's tokens of editions 2021 and 2024.
//
// In: one file of a SourceMap. Out: a TokenBuffer that ends with Eof and has its delimiters linked. One pass
// over the bytes, a table lookup for each token's first byte, no allocation per token. Errors go to the sink
// in rustc's words: the text then becomes an Error token (or the nearest good one) and lexing goes on. When
// delimiters do not match, the buffer is not balanced() and must not be parsed, as rustc does not either.
#pragma once
#include <string>

#include "diag/sink.hpp"
#include "lex/token_buffer.hpp"
#include "source/source_map.hpp"

namespace ockc::lex {

TokenBuffer lex(const SourceMap& sources, FileId file, DiagSink& sink, Edition edition = Edition::E2024);

// The `--emit=tokens` form: a line `line:column kind text` for each token, Eof included.
std::string dump_tokens(const TokenBuffer& tokens, const SourceMap& sources);

}  // namespace ockc::lex
