// The lexer's state, private to this folder. One member function for each family of tokens; they read from
// `at_` and leave it behind what they took.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "diag/sink.hpp"
#include "lex/escape.hpp"
#include "lex/token_buffer.hpp"
#include "source/source_map.hpp"

namespace ockc::lex {

class Lexer {
  public:
    Lexer(std::string_view text, FileId file, DiagSink& sink, TokenBuffer& out)
        : text_(text), file_(file), sink_(sink), out_(out), edition_(out.edition()) {}

    // Fills the buffer, Eof included. False after an error that leaves no sensible rest (rustc stops there
    // too).
    bool run();

  private:
    // lexer.cpp
    bool check_utf8();
    void skip_shebang();
    void next_token();
    void white_space();
    void word();
    void raw_or_prefixed(TokenKind string, TokenKind raw_string);
    void raw_identifier();
    void punctuation();
    void pound();
    void unknown_character();

    // comment.cpp
    void line_comment();
    void block_comment();
    void check_doc_returns(std::uint32_t begin, std::uint32_t end, bool block);
    void check_bidi(std::uint32_t begin, std::uint32_t end, std::string_view place);

    // number.cpp
    void number();
    bool digits(int base);
    void check_digits(std::uint32_t begin, int base);

    // quoted.cpp
    void quote();
    void lifetime();
    void quoted_character(TokenKind kind, EscapeMode mode);
    bool find_closing_quote();
    void string(TokenKind kind, EscapeMode mode);
    void raw_string(TokenKind kind, EscapeMode mode);
    void raw_unterminated(std::uint32_t hashes, std::uint32_t likely, std::uint32_t likely_hashes);
    void finish_literal(TokenKind kind);
    void check_content(EscapeMode mode, std::uint32_t begin, std::uint32_t end);
    void report_escape(EscapeMode mode, std::uint32_t base, const EscapeUnit& unit);

    char peek(std::uint32_t ahead = 0) const {
        const std::size_t i = at_ + std::size_t{ahead};
        return i < text_.size() ? text_[i] : '\0';
    }
    bool at_end() const { return at_ >= text_.size(); }
    bool starts_ident(std::uint32_t ahead) const;
    void eat_ident();  // continues an identifier at at_
    void eat_decimal_digits();
    Span here(std::uint32_t begin, std::uint32_t end) const { return {file_, begin, end}; }
    Span token_span() const { return here(start_, at_); }
    void emit(TokenKind kind) { out_.push(kind, start_, at_); }
    void fatal() { fatal_ = true; }

    std::string_view text_;
    FileId file_;
    DiagSink& sink_;
    TokenBuffer& out_;
    Edition edition_;
    std::uint32_t at_ = 0;
    std::uint32_t start_ = 0;
    bool fatal_ = false;
};

// Says in rustc's words which delimiters of an unbalanced buffer do not match.
void report_delimiters(const TokenBuffer& tokens, const SourceMap& sources, DiagSink& sink);

}  // namespace ockc::lex
