#include "lex/token_buffer.hpp"

namespace ockc::lex {

void TokenBuffer::reserve(std::size_t tokens) {
    if (tokens <= kinds_.size()) return;
    kinds_.resize(tokens);
    begins_.resize(tokens);
    ends_.resize(tokens);
    show_own();
}

void TokenBuffer::grow() { reserve(std::max<std::size_t>(64, kinds_.size() * 2)); }

void TokenBuffer::show_own() {
    at_ = {at_.size, kinds_.data(), begins_.data(), ends_.data(), partners_.data(),
           files_.empty() ? nullptr : files_.data(), contexts_.empty() ? nullptr : contexts_.data()};
}

void TokenBuffer::push(TokenKind kind, Span span, std::uint32_t context) {
    OCKC_DCHECK(files_.size() == at_.size);
    if (at_.size == kinds_.size()) grow();
    const std::uint32_t i = at_.size++;
    kinds_[i] = kind;
    begins_[i] = span.begin;
    ends_[i] = span.end;
    files_.push_back(span.file);
    contexts_.push_back(context);
    show_own();
}

bool TokenBuffer::link_delimiters() {
    partners_.assign(at_.size, 0);
    show_own();
    std::vector<std::uint32_t> open;
    balanced_ = true;
    for (std::uint32_t i = 0; i < at_.size; ++i) {
        const TokenKind kind = kinds_[i];
        if (is_open(kind)) {
            open.push_back(i);
        } else if (is_close(kind)) {
            if (open.empty() || closer_of(kinds_[open.back()]) != kind) {
                balanced_ = false;
                break;
            }
            partners_[i] = open.back();
            partners_[open.back()] = i;
            open.pop_back();
        }
    }
    balanced_ = balanced_ && open.empty();
    return balanced_;
}

}  // namespace ockc::lex
