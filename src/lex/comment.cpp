// Comments. Ordinary ones leave no token; documentation comments (`///`, `//!`, `/** */`, `/*! */`) do.
#include <fmt/format.h>

#include "lex/lexer_impl.hpp"

namespace ockc::lex {

void Lexer::line_comment() {
    const std::size_t line_end = text_.find('\n', at_);
    at_ = static_cast<std::uint32_t>(line_end == std::string_view::npos ? text_.size() : line_end);
    std::uint32_t end = at_;
    if (end < text_.size() && text_[end - 1] == '\r') --end;
    const bool outer = text_[start_ + 2 < text_.size() ? start_ + 2 : start_] == '/' && start_ + 2 < end &&
                       (start_ + 3 >= end || text_[start_ + 3] != '/');
    const bool inner = start_ + 2 < end && text_[start_ + 2] == '!';
    check_bidi(start_, end, outer || inner ? "doc comment" : "comment");
    if (!outer && !inner) return;
    check_doc_returns(start_ + 3, end, false);
    out_.push(outer ? TokenKind::OuterDoc : TokenKind::InnerDoc, start_, end);
}

void Lexer::block_comment() {
    const bool inner = peek(2) == '!';
    const bool outer = peek(2) == '*' && peek(3) != '*' && peek(3) != '/';
    std::uint32_t depth = 1;
    std::uint32_t last_open = start_;  // of the nested comments, the last that was opened
    std::uint32_t last_close = 0;
    at_ += 2;
    while (depth != 0) {
        const std::size_t next = text_.find_first_of("/*", at_);
        if (next == std::string_view::npos) {
            at_ = static_cast<std::uint32_t>(text_.size());
            break;
        }
        at_ = static_cast<std::uint32_t>(next);
        if (peek() == '/' && peek(1) == '*') {
            last_open = at_;
            ++depth;
            at_ += 2;
        } else if (peek() == '*' && peek(1) == '/') {
            --depth;
            at_ += 2;
            last_close = at_;
        } else {
            ++at_;
        }
    }
    if (depth != 0) {
        const char* message =
            inner || outer ? "unterminated block doc-comment" : "unterminated block comment";
        Diagnostic& error = sink_.error(Code::E0758, token_span(), message);
        if (last_open != start_ && last_close != 0) {
            error.label(token_span(), "unterminated block comment")
                .label(here(last_open, last_open + 2),
                       "...as last nested comment starts here, maybe you want to close this instead?")
                .label(here(last_close - 2, last_close), "...and last nested comment terminates here.");
        }
        return fatal();
    }
    check_bidi(start_, at_, inner || outer ? "doc comment" : "comment");
    if (!outer && !inner) return;
    check_doc_returns(start_ + 3, at_ - 2, true);
    emit(outer ? TokenKind::OuterDoc : TokenKind::InnerDoc);
}

void Lexer::check_doc_returns(std::uint32_t begin, std::uint32_t end, bool block) {
    for (std::size_t at = text_.find('\r', begin); at < end; at = text_.find('\r', at + 1)) {
        if (at + 1 < text_.size() && text_[at + 1] == '\n') continue;
        const auto where = static_cast<std::uint32_t>(at);
        sink_.error(here(where, where + 1), block ? "bare CR not allowed in block doc-comment"
                                                  : "bare CR not allowed in doc-comment");
    }
}

// Characters that change the direction of text make source look unlike what it means (rustc denies them by a
// lint).
void Lexer::check_bidi(std::uint32_t begin, std::uint32_t end, std::string_view place) {
    for (std::size_t at = text_.find('\xE2', begin); at < end; at = text_.find('\xE2', at + 1)) {
        const char32_t c = decode_utf8(text_, at).c;
        if (!((c >= 0x202A && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069))) continue;
        const auto where = static_cast<std::uint32_t>(at);
        Diagnostic& error = sink_.lint(
            place == "literal" ? "text_direction_codepoint_in_literal" : "text_direction_codepoint_in_comment",
            here(begin, end),
            fmt::format("unicode codepoint changing visible direction of text present in {}", place));
        error.label(here(where, where + 3), fmt::format("'\\u{{{:x}}}'", static_cast<std::uint32_t>(c)))
            .note(
                "these kind of unicode codepoints change the way text flows on applications that support "
                "them, but can cause "
                "confusion because they change the order of characters on the screen");
        return;
    }
}

}  // namespace ockc::lex
