#include "ir/parse_lex.hpp"

namespace ockc::ir {

namespace {

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}
bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$';
}
bool is_word(char c) {
    return is_letter(c) || is_digit(c) || c == '.';
}

}  // namespace

template <class Predicate>
std::size_t TextLexer::scan(std::size_t from, Predicate predicate) const {
    while (from < text_.size() && predicate(text_[from]))
        ++from;
    return from;
}

void TextLexer::skip_blanks() {
    while (at_ < text_.size()) {
        const char c = text_[at_];
        if (c == '\n') {
            ++line_;
            ++at_;
        } else if (c == ' ' || c == '\t' || c == '\r') {
            ++at_;
        } else if (text_.substr(at_, 2) == "//") {
            at_ = scan(at_, [](char other) { return other != '\n'; });
        } else {
            return;
        }
    }
}

void TextLexer::take(TextToken kind, std::size_t end) {
    kind_ = kind;
    token_ = text_.substr(at_, end - at_);
    at_ = end;
}

void TextLexer::advance() {
    skip_blanks();
    if (at_ >= text_.size()) return take(TextToken::End, at_);
    const char c = text_[at_];
    const char next = at_ + 1 < text_.size() ? text_[at_ + 1] : '\0';
    if (is_letter(c)) return take(TextToken::Word, scan(at_, is_word));
    if (is_digit(c) || (c == '-' && is_digit(next))) {
        std::size_t end = scan(at_ + 1, is_word);
        // The sign of an exponent belongs to the number: 2e-07, but not the digit e of 0x1e.
        const bool hex = text_.substr(at_, 2) == "0x";
        if (!hex && end < text_.size() && (text_[end - 1] == 'e') &&
            (text_[end] == '-' || text_[end] == '+')) {
            end = scan(end + 1, is_digit);
        }
        return take(TextToken::Number, end);
    }
    if (c == '%' || c == '@') {
        ++at_;
        if (c == '%') return take(TextToken::Value, scan(at_, is_digit));
        return take(TextToken::Name, scan(at_, is_word));
    }
    if (c == '"') {
        ++at_;
        const std::size_t end = scan(at_, [](char other) { return other != '"' && other != '\n'; });
        take(TextToken::String, end);
        if (at_ < text_.size() && text_[at_] == '"') ++at_;
        return;
    }
    if (c == '-' && next == '>') return take(TextToken::Arrow, at_ + 2);
    const bool punct = std::string_view("(){}[],:=+-").find(c) != std::string_view::npos;
    take(punct ? TextToken::Punct : TextToken::Bad, at_ + 1);
}

}  // namespace ockc::ir
