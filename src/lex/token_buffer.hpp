// The tokens of one file, or of one macro expansion, as parallel arrays: no allocation per token.
//
// The last token is always Eof. White space and ordinary comments are not kept; whether two tokens touch is
// known from their positions (`touches_next`). `partner` links the two delimiters of each pair, so a token
// tree is skipped in one step.
//
// A lexed buffer lies in one file. A buffer that macro expansion builds (the second `push`) gives each token
// its own file and its syntax context, so that text, places and hygiene stay exact.
#pragma once
#include <cstdint>
#include <vector>

#include "lex/token.hpp"
#include "source/span.hpp"
#include "support/check.hpp"

namespace ockc::lex {

using TokenId = Id<struct TokenTag>;

class TokenBuffer {
  public:
    TokenBuffer(FileId file, Edition edition) : file_(file), edition_(edition) {}

    FileId file() const { return file_; }
    Edition edition() const { return edition_; }
    std::uint32_t size() const { return static_cast<std::uint32_t>(kinds_.size()); }  // Eof included

    TokenKind kind(std::uint32_t i) const { return kinds_[i]; }
    TokenKind kind(TokenId id) const { return kinds_[id.raw]; }
    Span span(std::uint32_t i) const { return {files_.empty() ? file_ : files_[i], begins_[i], ends_[i]}; }
    Span span(TokenId id) const { return span(id.raw); }
    // The syntax context of a token: 0 = written in a source file.
    std::uint32_t context(std::uint32_t i) const { return contexts_.empty() ? 0 : contexts_[i]; }
    // The matching delimiter of a delimiter. Only in balanced buffers.
    std::uint32_t partner(std::uint32_t i) const {
        OCKC_DCHECK(balanced_ && is_delimiter(kinds_[i]));
        return partners_[i];
    }
    // No white space or comment between token i and the next.
    bool touches_next(std::uint32_t i) const {
        const Span a = span(i), b = span(i + 1);
        return a.file == b.file && a.end == b.begin;
    }
    // False when delimiters do not match: already reported, and such a buffer is not parsed.
    bool balanced() const { return balanced_; }

    void reserve(std::size_t tokens);
    void push(TokenKind kind, std::uint32_t begin, std::uint32_t end);  // a token of file()
    void push(TokenKind kind, Span span, std::uint32_t context);        // a token of an expansion
    // Links delimiters; call once, after the Eof. Returns whether all match (lex() reports it when they do
    // not).
    bool link_delimiters();

  private:
    FileId file_;
    Edition edition_;
    bool balanced_ = false;
    std::vector<TokenKind> kinds_;
    std::vector<std::uint32_t> begins_;
    std::vector<std::uint32_t> ends_;
    std::vector<std::uint32_t> partners_;
    std::vector<FileId> files_;            // empty while every token lies in file_
    std::vector<std::uint32_t> contexts_;  // empty while every token has context 0
};

// Tokens [begin, end) of a buffer that outlives the range.
struct TokenRange {
    const TokenBuffer* buffer = nullptr;
    std::uint32_t begin = 0;
    std::uint32_t end = 0;

    bool empty() const { return begin == end; }
    std::uint32_t size() const { return end - begin; }
};

}  // namespace ockc::lex
