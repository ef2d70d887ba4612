// The tokens of one file, or of one macro expansion, as parallel arrays: no allocation per token.
//
// The last token is always Eof. White space and ordinary comments are not kept; whether two tokens touch is
// known from their positions (`touches_next`). `partner` links the two delimiters of each pair, so a token
// tree is skipped in one step.
//
// A lexed buffer lies in one file. A buffer that macro expansion builds (the second `push`) gives each token
// its own file and its syntax context, so that text, places and hygiene stay exact. A borrowed buffer shows
// arrays that lie elsewhere: the library's tokens, made when the compiler was built.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "lex/token.hpp"
#include "source/span.hpp"
#include "support/check.hpp"

namespace ockc::lex {

using TokenId = Id<struct TokenTag>;

// The arrays of a buffer. `files` is null while every token lies in one file, `contexts` while all are 0.
struct TokenArrays {
    std::uint32_t size = 0;
    const TokenKind* kinds = nullptr;
    const std::uint32_t* begins = nullptr;
    const std::uint32_t* ends = nullptr;
    const std::uint32_t* partners = nullptr;
    const FileId* files = nullptr;
    const std::uint32_t* contexts = nullptr;
};

class TokenBuffer {
  public:
    TokenBuffer(FileId file, Edition edition) : file_(file), edition_(edition) {}
    TokenBuffer(FileId file, Edition edition, const TokenArrays& borrowed)
        : file_(file), edition_(edition), balanced_(true), at_(borrowed) {}
    TokenBuffer(TokenBuffer&&) = default;
    TokenBuffer(const TokenBuffer&) = delete;
    TokenBuffer& operator=(const TokenBuffer&) = delete;

    FileId file() const { return file_; }
    Edition edition() const { return edition_; }
    std::uint32_t size() const { return at_.size; }  // Eof included
    const TokenArrays& arrays() const { return at_; }

    TokenKind kind(std::uint32_t i) const { return at_.kinds[i]; }
    TokenKind kind(TokenId id) const { return at_.kinds[id.raw]; }
    Span span(std::uint32_t i) const {
        return {at_.files == nullptr ? file_ : at_.files[i], at_.begins[i], at_.ends[i]};
    }
    Span span(TokenId id) const { return span(id.raw); }
    // The syntax context of a token: 0 = written in a source file.
    std::uint32_t context(std::uint32_t i) const { return at_.contexts == nullptr ? 0 : at_.contexts[i]; }
    // The matching delimiter of a delimiter. Only in balanced buffers.
    std::uint32_t partner(std::uint32_t i) const {
        OCKC_DCHECK(balanced_ && is_delimiter(at_.kinds[i]));
        return at_.partners[i];
    }
    // No white space or comment between token i and the next.
    bool touches_next(std::uint32_t i) const {
        const Span a = span(i), b = span(i + 1);
        return a.file == b.file && a.end == b.begin;
    }
    // False when delimiters do not match: already reported, and such a buffer is not parsed.
    bool balanced() const { return balanced_; }

    void reserve(std::size_t tokens);
    // A token of file().
    void push(TokenKind kind, std::uint32_t begin, std::uint32_t end) {
        OCKC_DCHECK(files_.empty());
        if (at_.size == kinds_.size()) grow();
        const std::uint32_t i = at_.size++;
        kinds_[i] = kind;
        begins_[i] = begin;
        ends_[i] = end;
    }
    void push(TokenKind kind, Span span, std::uint32_t context);  // a token of an expansion
    // The last token is all of a fragment (`$e:expr`) that a macro passes on: another macro sees no token in it.
    void mark_opaque() { opaque_.push_back(size() - 1); }
    bool is_opaque(std::uint32_t i) const { return std::binary_search(opaque_.begin(), opaque_.end(), i); }
    // Links delimiters; call once, after the Eof. Returns whether all match (lex() reports it when they do
    // not).
    bool link_delimiters();

  private:
    void grow();
    void show_own();

    FileId file_;
    Edition edition_;
    bool balanced_ = false;
    TokenArrays at_;  // the vectors below, or borrowed
    std::vector<TokenKind> kinds_;   // with room behind at_.size; begins_ and ends_ too
    std::vector<std::uint32_t> begins_;
    std::vector<std::uint32_t> ends_;
    std::vector<std::uint32_t> partners_;
    std::vector<FileId> files_;            // empty while every token lies in file_
    std::vector<std::uint32_t> contexts_;  // empty while every token has context 0
    std::vector<std::uint32_t> opaque_;    // ascending
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
