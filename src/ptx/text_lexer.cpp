#include "ptx/text_lexer.hpp"

#include <bit>
#include <charconv>

namespace ockc::ptx {

namespace {

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}
bool is_name_start(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$' || c == '%';
}
bool is_name(char c) {
    return is_name_start(c) || is_digit(c);
}
int hex_digit(char c) {
    if (is_digit(c)) return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return 16;
}

}  // namespace

void TextLexer::skip_blanks() {
    attached_ = true;
    while (at_ < text_.size()) {
        const char c = text_[at_];
        if (c == '\n') ++line_;
        if (c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v') {
            ++at_;
        } else if (c == '/' && text_.substr(at_).starts_with("//")) {
            at_ = text_.find('\n', at_);
            if (at_ == std::string_view::npos) at_ = text_.size();
        } else if (c == '/' && text_.substr(at_).starts_with("/*")) {
            std::size_t end = text_.find("*/", at_ + 2);
            end = end == std::string_view::npos ? text_.size() : end + 2;
            for (; at_ < end; ++at_)
                line_ += text_[at_] == '\n' ? 1 : 0;
        } else {
            return;
        }
        attached_ = false;
    }
}

Token TextLexer::make(TokenKind kind, std::size_t begin, std::size_t end) {
    at_ = end;
    return {kind, text_.substr(begin, end - begin), 0, line_, static_cast<std::uint32_t>(begin), attached_};
}

Token TextLexer::next() {
    skip_blanks();
    const std::size_t begin = at_;
    if (at_ >= text_.size()) return make(TokenKind::End, begin, begin);
    const char c = text_[begin];
    std::size_t end = begin + 1;
    if (is_digit(c)) return number(begin);
    if (is_name_start(c)) {
        while (end < text_.size() && is_name(text_[end]))
            ++end;
        return make(TokenKind::Ident, begin, end);
    }
    if (c == '.' && end < text_.size() && is_name(text_[end])) {
        while (end < text_.size()) {
            if (text_.substr(end).starts_with("::")) {
                end += 2;
            } else if (is_name(text_[end])) {
                ++end;
            } else {
                break;
            }
        }
        Token token = make(TokenKind::Dotted, begin, end);
        token.text.remove_prefix(1);
        return token;
    }
    if (c == '"') {
        end = text_.find_first_of("\"\n", begin + 1);
        if (end == std::string_view::npos || text_[end] == '\n')
            return make(TokenKind::Bad, begin, begin + 1);
        Token token = make(TokenKind::String, begin, end + 1);
        token.text = token.text.substr(1, token.text.size() - 2);
        return token;
    }
    if (std::string_view(",;:{}()[]<>|@!+-=*_").find(c) != std::string_view::npos)
        return make(TokenKind::Punct, begin, end);
    return make(TokenKind::Bad, begin, end);
}

// 0fXXXXXXXX and 0dXXXXXXXXXXXXXXXX.
Token TextLexer::bits(std::size_t begin, std::size_t digits, TokenKind kind) {
    std::uint64_t value = 0;
    std::size_t end = begin + 2;
    while (end < text_.size() && hex_digit(text_[end]) < 16) {
        value = value << 4 | static_cast<std::uint64_t>(hex_digit(text_[end]));
        ++end;
    }
    Token token = make(end - begin - 2 == digits ? kind : TokenKind::Bad, begin, end);
    token.value = value;
    return token;
}

Token TextLexer::decimal_float(std::size_t begin) {
    double value = 0;
    const auto result = std::from_chars(text_.data() + begin, text_.data() + text_.size(), value);
    Token token = make(TokenKind::Float64, begin, static_cast<std::size_t>(result.ptr - text_.data()));
    token.value = std::bit_cast<std::uint64_t>(value);
    return token;
}

Token TextLexer::number(std::size_t begin) {
    const std::string_view rest = text_.substr(begin);
    const char second = rest.size() > 1 ? rest[1] : '\0';
    if (rest[0] == '0' && (second == 'f' || second == 'F')) return bits(begin, 8, TokenKind::Float32);
    if (rest[0] == '0' && (second == 'd' || second == 'D')) return bits(begin, 16, TokenKind::Float64);
    int base = 10;
    std::size_t at = begin;
    if (rest[0] == '0' && (second == 'x' || second == 'X')) {
        base = 16;
        at += 2;
    } else if (rest[0] == '0' && (second == 'b' || second == 'B')) {
        base = 2;
        at += 2;
    } else if (rest[0] == '0' && is_digit(second)) {
        base = 8;
        at += 1;
    }
    std::uint64_t value = 0;
    const auto result = std::from_chars(text_.data() + at, text_.data() + text_.size(), value, base);
    std::size_t end = static_cast<std::size_t>(result.ptr - text_.data());
    const char after = end < text_.size() ? text_[end] : '\0';
    if (base == 10 && (after == '.' || after == 'e' || after == 'E') && end + 1 < text_.size() &&
        (is_digit(text_[end + 1]) || after != '.')) {
        return decimal_float(begin);
    }
    bool bad = result.ec != std::errc() || end == at;
    if (end < text_.size() && (text_[end] == 'U' || text_[end] == 'u')) ++end;
    while (end < text_.size() && is_name(text_[end])) {
        ++end;
        bad = true;
    }
    Token token = make(bad ? TokenKind::Bad : TokenKind::Integer, begin, end);
    token.value = value;
    return token;
}

std::uint32_t TextLexer::column(std::uint32_t offset) const {
    const std::size_t start = offset == 0 ? std::string_view::npos : text_.rfind('\n', offset - 1);
    return offset - (start == std::string_view::npos ? 0 : static_cast<std::uint32_t>(start) + 1) + 1;
}

}  // namespace ockc::ptx
