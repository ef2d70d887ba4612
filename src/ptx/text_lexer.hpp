// Tokens of PTX text, made one at a time. Private to the parser.
#pragma once
#include <cstdint>
#include <string_view>

namespace ockc::ptx {

enum class TokenKind : std::uint8_t {
    End,
    Ident,    // name, register, mnemonic: [A-Za-z_$%][A-Za-z0-9_$]*
    Dotted,   // `.word`, text without the dot; may hold `::`
    Integer,  // value
    Float32,  // 0fXXXXXXXX: value = bits
    Float64,  // 0dX16 or a decimal with a point or exponent: value = bits
    String,   // text without the quotes
    Punct,    // one character, text
    Bad,      // a character or number that PTX does not have; text
};

struct Token {
    TokenKind kind = TokenKind::End;
    std::string_view text;
    std::uint64_t value = 0;
    std::uint32_t line = 1;
    std::uint32_t begin = 0;  // byte offset
    bool attached = false;    // no blank before it: `ld.global` against `ld .global`

    bool is(char punct) const { return kind == TokenKind::Punct && text[0] == punct; }
};

class TextLexer {
  public:
    explicit TextLexer(std::string_view text) : text_(text) {}
    Token next();
    // Column of a byte offset in its line, from 1.
    std::uint32_t column(std::uint32_t offset) const;

  private:
    void skip_blanks();
    Token make(TokenKind kind, std::size_t begin, std::size_t end);
    Token number(std::size_t begin);
    Token bits(std::size_t begin, std::size_t digits, TokenKind kind);
    Token decimal_float(std::size_t begin);

    std::string_view text_;
    std::size_t at_ = 0;
    std::uint32_t line_ = 1;
    bool attached_ = false;
};

}  // namespace ockc::ptx
