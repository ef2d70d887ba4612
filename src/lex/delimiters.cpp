// Delimiters that do not match, told as rustc tells it: which opener is unclosed, and, by comparing
// indentation, which block was probably meant to be closed. One pass with a stack of openers.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "lex/lexer_impl.hpp"

namespace ockc::lex {

namespace {

struct Opener {
    TokenKind kind;
    Span span;
};

class DelimiterReport {
  public:
    DelimiterReport(const TokenBuffer& tokens, const SourceMap& sources, DiagSink& sink)
        : tokens_(tokens), sources_(sources), sink_(sink) {}

    void run() {
        for (std::uint32_t i = 0; i < tokens_.size(); ++i) {
            const TokenKind kind = tokens_.kind(i);
            if (is_open(kind)) {
                open_.push_back({kind, tokens_.span(i)});
                ++open_count_[static_cast<std::size_t>(kind)];
                last_open_ = i;
            } else if (is_close(kind) && !close(i)) {
                return;  // a closer that nothing opened: what follows means nothing
            }
        }
        if (!open_.empty()) unclosed();
    }

  private:
    static TokenKind opener_of(TokenKind closer) {
        return static_cast<TokenKind>(static_cast<int>(closer) - 1);
    }

    Opener pop() {
        const Opener top = open_.back();
        open_.pop_back();
        --open_count_[static_cast<std::size_t>(top.kind)];
        return top;
    }

    bool close(std::uint32_t i) {
        const TokenKind kind = tokens_.kind(i);
        const Span span = tokens_.span(i);
        if (open_.empty()) {
            unexpected(kind, span);
            return false;
        }
        if (open_.back().kind == opener_of(kind)) {
            const Opener opener = pop();
            if (kind == TokenKind::CloseBrace) {
                // `{}` on one line; an empty block over several was written on purpose.
                const Span block = opener.span.to(span);
                if (last_open_ + 1 == i && sources_.text(block).find('\n') == std::string_view::npos)
                    empty_blocks_.push_back(block);
                blocks_.push_back({opener.span, span});
            }
            return true;
        }
        mismatched(kind, span);
        // An outer opener may be the one this closes: unwind to it.
        while (!open_.empty() && open_.back().kind != opener_of(kind) && has_open(opener_of(kind)))
            pop();
        if (!open_.empty() && open_.back().kind == opener_of(kind)) pop();
        return true;
    }

    bool has_open(TokenKind kind) const { return open_count_[static_cast<std::size_t>(kind)] != 0; }

    void mismatched(TokenKind kind, Span span) {
        const Span unclosed_span = open_.back().span;
        if (++mismatches_ > kMaxMismatches) {
            pop();
            return;
        }
        std::optional<Span> candidate;
        for (auto it = open_.rbegin(); it != open_.rend(); ++it) {
            if (it->kind == opener_of(kind) && margin(it->span) == margin(span)) {
                candidate = it->span;
                break;
            }
        }
        pop();
        Diagnostic& error =
            sink_.error(span, fmt::format("mismatched closing delimiter: `{}`", info(kind).text));
        error.label(span, "mismatched closing delimiter");
        error.labels.push_back({unclosed_span, "unclosed delimiter", true});
        if (candidate) error.label(*candidate, "closing delimiter possibly meant for this");
    }

    void unexpected(TokenKind kind, Span span) {
        Diagnostic& error =
            sink_.error(span, fmt::format("unexpected closing delimiter: `{}`", info(kind).text));
        error.label(span, "unexpected closing delimiter");
        explain_by_indentation(error, kind == TokenKind::CloseBrace);
    }

    void unclosed() {
        constexpr std::size_t kShown = 5;
        const Span end = tokens_.span(tokens_.size() - 1);
        Diagnostic& error = sink_.error(end, "this file contains an unclosed delimiter");
        for (std::size_t i = 0; i < open_.size() && i < kShown; ++i)
            error.label(open_[i].span, "unclosed delimiter");
        if (open_.size() > kShown) {
            error.label(open_[kShown].span,
                        fmt::format("another {} unclosed delimiters begin from here", open_.size() - kShown));
        }
        explain_by_indentation(error, open_.back().kind == TokenKind::OpenBrace);
    }

    // Leading white space of the line a place is in, in characters.
    std::uint32_t margin(Span span) const {
        const std::string_view text = sources_.file(span.file).text;
        const SourceFile& file = sources_.file(span.file);
        const auto next = std::upper_bound(file.line_starts().begin(), file.line_starts().end(), span.begin);
        std::uint32_t at = *(next - 1);
        const std::uint32_t begin = at;
        while (at < text.size() && (text[at] == ' ' || text[at] == '\t'))
            ++at;
        return at - begin;
    }

    void explain_by_indentation(Diagnostic& error, bool brace) {
        std::sort(blocks_.begin(), blocks_.end(),
                  [](const auto& a, const auto& b) { return a.first.begin < b.first.begin; });
        const std::pair<Span, Span>* suspect = nullptr;
        std::uint32_t covered_to = 0;  // blocks inside a well indented block are not suspects
        for (const auto& block : blocks_) {
            const bool aligned = margin(block.first) == margin(block.second);
            if (!aligned && block.second.begin > covered_to) suspect = &block;
            if (aligned) covered_to = std::max(covered_to, block.second.begin);
        }
        if (suspect != nullptr) {
            error.label(suspect->first.start(), "this delimiter might not be properly closed...");
            error.label(suspect->second.start(), "...as it matches this but it has different indentation");
            if (!brace) return;
            for (const Span empty : empty_blocks_) {
                if (empty.begin < suspect->first.begin || empty.end > suspect->second.begin) continue;
                error.label(empty, "block is empty, you might have not meant to close it");
                return;
            }
            return;
        }
        if (blocks_.empty() || !open_.empty()) return;
        const auto& last =
            *std::max_element(blocks_.begin(), blocks_.end(),
                              [](const auto& a, const auto& b) { return a.second.begin < b.second.begin; });
        const bool is_empty = std::find(empty_blocks_.begin(), empty_blocks_.end(),
                                        last.first.to(last.second)) != empty_blocks_.end();
        if (is_empty) return;
        error.label(last.first, "this opening brace...");
        error.label(last.second, "...matches this closing brace");
    }

    static constexpr int kMaxMismatches = 20;

    const TokenBuffer& tokens_;
    const SourceMap& sources_;
    DiagSink& sink_;
    std::vector<Opener> open_;
    std::uint32_t open_count_[kTokenKindCount] = {};
    std::uint32_t last_open_ = 0;
    int mismatches_ = 0;
    std::vector<Span> empty_blocks_;
    std::vector<std::pair<Span, Span>> blocks_;  // matched braces: opener, closer
};

}  // namespace

void report_delimiters(const TokenBuffer& tokens, const SourceMap& sources, DiagSink& sink) {
    DelimiterReport(tokens, sources, sink).run();
}

}  // namespace ockc::lex
