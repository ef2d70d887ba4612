// Tokens of the IR's text form. `//` starts a comment that runs to the end of the line.
#pragma once
#include <cstdint>
#include <string_view>

namespace ockc::ir {

enum class TextToken : std::uint8_t {
    End,
    Word,    // iadd.i32, bb3, kernel, ptr.global
    Value,   // %12: text is the digits
    Name,    // @vecadd: text is the name
    Number,  // -5, 0x1f, 1.5, 2e-07
    String,  // "x.rsk": text is what stands between the quotes
    Arrow,   // ->
    Punct,   // one character: ( ) { } [ ] , : = + -
    Bad,     // a character that no token starts with
};

class TextLexer {
  public:
    explicit TextLexer(std::string_view text) : text_(text) { advance(); }
    TextToken kind() const { return kind_; }
    std::string_view text() const { return token_; }
    std::uint32_t line() const { return line_; }
    void advance();

  private:
    void skip_blanks();
    void take(TextToken kind, std::size_t end);
    template <class Predicate>
    std::size_t scan(std::size_t from, Predicate predicate) const;

    std::string_view text_;
    std::size_t at_ = 0;
    std::uint32_t line_ = 1;
    TextToken kind_ = TextToken::End;
    std::string_view token_;
};

}  // namespace ockc::ir
