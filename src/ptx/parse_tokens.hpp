// The parser's view of the text: two tokens of look-ahead, and the errors met so far. Private to the parser.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ptx/parse.hpp"
#include "ptx/text_lexer.hpp"

namespace ockc::ptx {

class TokenStream {
  public:
    explicit TokenStream(std::string_view text) : lexer_(text) {
        token_ = lexer_.next();
        ahead_ = lexer_.next();
    }

    const Token& peek() const { return token_; }
    const Token& ahead() const { return ahead_; }
    // The tokens from the second one on, without taking any.
    TextLexer look_ahead() const { return lexer_; }
    bool at_end() const { return token_.kind == TokenKind::End; }
    bool at_directive() const { return token_.kind == TokenKind::Dotted; }
    bool at_directive(std::string_view word) const { return at_directive() && token_.text == word; }
    Token take() {
        const Token token = token_;
        token_ = ahead_;
        ahead_ = lexer_.next();
        return token;
    }
    bool accept(char punct) {
        if (!token_.is(punct)) return false;
        take();
        return true;
    }
    bool expect(char punct);
    std::optional<std::uint64_t> expect_integer();
    std::string_view expect_name();  // empty after an error

    // To behind the next `;`, or in front of a brace or the end.
    void skip_statement();
    // Past a balanced `{ .. }`.
    void skip_braces();

    void error(const Token& at, std::string message);
    bool full() const { return errors_.size() >= kMaxParseErrors; }
    std::vector<ParseError> take_errors() { return std::move(errors_); }
    static std::string quoted(const Token& token);

  private:
    TextLexer lexer_;
    Token token_;
    Token ahead_;
    std::vector<ParseError> errors_;
};

}  // namespace ockc::ptx
