// Lexing a text in a test, with everything that belongs to it kept alive.
#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "lex/lexer.hpp"

namespace ockc::lex {

struct Lexed {
    SourceMap sources;
    DiagSink sink;
    std::unique_ptr<TokenBuffer> tokens;

    explicit Lexed(std::string_view text, Edition edition = Edition::E2024) {
        const FileId file = sources.add("t.rsk", "", std::string(text));
        tokens = std::make_unique<TokenBuffer>(lex(sources, file, sink, edition));
    }
    // The names of the token kinds, without Eof.
    std::string kinds() const {
        std::string out;
        for (std::uint32_t i = 0; i + 1 < tokens->size(); ++i) {
            if (i != 0) out += ' ';
            out += info(tokens->kind(i)).name;
        }
        return out;
    }
    std::string text(std::uint32_t i) const { return std::string(sources.text(tokens->span(i))); }
    // "CODE message" of the first diagnostic.
    std::string first_error() const {
        if (sink.all().empty()) return {};
        const Diagnostic& first = sink.all().front();
        const std::string code(code_name(first.code));
        return code.empty() ? first.message : code + " " + first.message;
    }
};

}  // namespace ockc::lex
