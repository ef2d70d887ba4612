// Number literals. `1..2`, `1.foo` and `1._x` are integers followed by something else; `1.` and `1.5` are
// floats.
#include <fmt/format.h>

#include "lex/lexer_impl.hpp"

namespace ockc::lex {

namespace {

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}
bool is_hex_digit(char c) {
    return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

std::string_view base_name(int base) {
    return base == 16 ? "hexadecimal" : base == 8 ? "octal" : "binary";
}

}  // namespace

void Lexer::eat_decimal_digits() {
    while (is_digit(peek()) || peek() == '_')
        ++at_;
}

// Takes digits and `_`; whether there was a digit. For bases below 10 all decimal digits are taken, and
// checked afterwards.
bool Lexer::digits(int base) {
    bool any = false;
    for (;; ++at_) {
        const char c = peek();
        if (c == '_') continue;
        if (base == 16 ? !is_hex_digit(c) : !is_digit(c)) return any;
        any = true;
    }
}

void Lexer::check_digits(std::uint32_t begin, int base) {
    for (std::uint32_t i = begin; i < at_; ++i) {
        if (is_digit(text_[i]) && text_[i] - '0' >= base) {
            sink_.error(here(i, i + 1), fmt::format("invalid digit for a base {} literal", base));
        }
    }
}

void Lexer::number() {
    int base = 10;
    bool any_digits = true;
    const std::uint32_t digits_begin = at_ + 2;
    if (peek() == '0' && (peek(1) == 'b' || peek(1) == 'o' || peek(1) == 'x')) {
        base = peek(1) == 'b' ? 2 : peek(1) == 'o' ? 8 : 16;
        at_ += 2;
        any_digits = digits(base);
    } else {
        digits(10);
    }
    if (!any_digits) {
        sink_.error(Code::E0768, token_span(), "no valid digits found for number");
        return finish_literal(TokenKind::Error);
    }
    const std::uint32_t digits_end = at_;
    TokenKind kind = TokenKind::Integer;
    bool exponent_ok = true;
    if (peek() == '.' && peek(1) != '.' && !starts_ident(1)) {
        kind = TokenKind::Float;
        ++at_;
        if (is_digit(peek())) eat_decimal_digits();
    }
    // `1.e5` is a field access, so an exponent needs a digit before it.
    if ((peek() == 'e' || peek() == 'E') && text_[at_ - 1] != '.') {
        kind = TokenKind::Float;
        ++at_;
        if (peek() == '+' || peek() == '-') ++at_;
        exponent_ok = digits(10);
    }
    if (kind == TokenKind::Float && base != 10) {
        sink_.error(token_span(), fmt::format("{} float literal is not supported", base_name(base)));
        kind = TokenKind::Error;
    } else if (!exponent_ok) {
        sink_.error(token_span(), "expected at least one digit in exponent");
        kind = TokenKind::Error;
    }
    if (base < 10 && kind == TokenKind::Integer) {
        const std::uint32_t end = at_;
        at_ = digits_end;
        check_digits(digits_begin, base);
        at_ = end;
    }
    finish_literal(kind);
}

}  // namespace ockc::lex
