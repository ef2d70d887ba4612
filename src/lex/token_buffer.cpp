#include "lex/token_buffer.hpp"

namespace ockc::lex {

void TokenBuffer::reserve(std::size_t tokens) {
    kinds_.reserve(tokens);
    begins_.reserve(tokens);
    ends_.reserve(tokens);
    show_own();
}

void TokenBuffer::show_own() {
    at_ = {static_cast<std::uint32_t>(kinds_.size()), kinds_.data(), begins_.data(), ends_.data(), partners_.data(),
           files_.empty() ? nullptr : files_.data(), contexts_.empty() ? nullptr : contexts_.data()};
}

void TokenBuffer::push(TokenKind kind, std::uint32_t begin, std::uint32_t end) {
    OCKC_DCHECK(files_.empty());
    const bool grows = kinds_.size() == kinds_.capacity() || begins_.size() == begins_.capacity() || ends_.size() == ends_.capacity();
    kinds_.push_back(kind);
    begins_.push_back(begin);
    ends_.push_back(end);
    if (grows) return show_own();
    at_.size = static_cast<std::uint32_t>(kinds_.size());
}

void TokenBuffer::push(TokenKind kind, Span span, std::uint32_t context) {
    OCKC_DCHECK(files_.size() == kinds_.size());
    kinds_.push_back(kind);
    begins_.push_back(span.begin);
    ends_.push_back(span.end);
    files_.push_back(span.file);
    contexts_.push_back(context);
    show_own();
}

bool TokenBuffer::link_delimiters() {
    partners_.assign(kinds_.size(), 0);
    show_own();
    std::vector<std::uint32_t> open;
    balanced_ = true;
    for (std::uint32_t i = 0; i < kinds_.size(); ++i) {
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
