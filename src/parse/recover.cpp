// Errors in rustc's words, and the places where parsing goes on after one.
#include <fmt/format.h>

#include <string>
#include <vector>

#include "parse/parser_impl.hpp"

namespace ockc::parse {

namespace {

constexpr std::size_t kMaxErrors = 100;  // a file with more syntax errors is something else than source text

std::string expect_name(Expect what) {
    switch (what) {
        case Expect::Operator: return "an operator";
        case Expect::Ident: return "identifier";
        case Expect::Path: return "path";
        case Expect::Type: return "type";
        case Expect::Lifetime: return "lifetime";
        case Expect::Literal: return "literal";
        case Expect::Const: return "a const expression";
        case Expect::Pattern: return "pattern";
    }
    return {};
}

std::string list_of(const std::vector<std::string>& names) {
    std::string out;
    for (std::size_t i = 0; i < names.size(); ++i) {
        if (i != 0) out += i + 1 == names.size() ? (names.size() == 2 ? " or " : ", or ") : ", ";
        out += names[i];
    }
    return out;
}

}  // namespace

Diagnostic& Parser::error(Code code, Span span, std::string message) {
    if (failed_ || quiet_ > 0 || stopped_) {
        if (quiet_ > 0) fail();
        silent_ = Diagnostic{};
        return silent_;
    }
    if (++reported_ > kMaxErrors) {
        stopped_ = true;
        fail();
        silent_ = Diagnostic{};
        return silent_;
    }
    return context_.sink.error(code, span, std::move(message));
}

void Parser::fail() {
    failed_ = true;
    kind_ = T::Eof;
    expected_.reset();
    expected_extra_ = 0;
}

std::string Parser::describe_token() const {
    if (pos_ >= end_) return pos_ + 1 < buffer_.size() ? "end of input" : "`<eof>`";
    const std::string text(token_text());
    if (kind_ == T::OuterDoc || kind_ == T::InnerDoc) return fmt::format("doc comment `{}`", text);
    if (kind_ == T::Underscore) return "reserved identifier `_`";
    if (kind_ >= T::KwAbstract && lex::is_keyword(kind_)) return fmt::format("reserved keyword `{}`", text);
    if (lex::is_keyword(kind_)) return fmt::format("keyword `{}`", text);
    return fmt::format("`{}`", text);
}

void Parser::unexpected() {
    if (failed_) return;
    std::vector<std::string> names;
    for (std::size_t i = 0; i < lex::kTokenKindCount; ++i) {
        if (!expected_.test(i)) continue;
        const auto kind = static_cast<TokenKind>(i);
        if (kind == T::Eof) continue;
        const lex::TokenInfo& row = lex::info(kind);
        names.push_back(row.token_class == lex::TokenClass::Variable ? std::string(row.text)
                                                                     : fmt::format("`{}`", row.text));
    }
    for (unsigned i = 0; i <= static_cast<unsigned>(Expect::Pattern); ++i) {
        if (expected_extra_ & (1u << i)) names.push_back(expect_name(static_cast<Expect>(i)));
    }
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
    constexpr std::size_t kMaxInLabel = 6;
    std::string message, label;
    if (names.empty()) {
        message = fmt::format("unexpected token: {}", describe_token());
        label = "unexpected token";
    } else if (names.size() == 1) {
        message = fmt::format("expected {}, found {}", names[0], describe_token());
        label = fmt::format("expected {}", names[0]);
    } else {
        message = fmt::format("expected one of {}, found {}", list_of(names), describe_token());
        label = names.size() > kMaxInLabel ? fmt::format("expected one of {} possible tokens", names.size())
                                           : fmt::format("expected one of {}", list_of(names));
    }
    const bool end = pos_ >= end_;
    const Span place = end ? end_span() : span();
    Diagnostic& diagnostic = error(place, std::move(message));
    const bool same_line = end || prev_span_.file != place.file || prev_span_.end > place.begin ||
                           context_.sources.text(Span{place.file, prev_span_.end, place.begin}).find('\n') ==
                               std::string_view::npos;
    if (same_line) {
        diagnostic.label(place, std::move(label));
    } else {
        diagnostic.label(place, "unexpected token");
        diagnostic.label(prev_span_.after(), std::move(label));
    }
    fail();
}

// Where something is missing at the end: behind the last token, or at the end of the macro's rule that left it out.
Span Parser::end_span() const {
    const bool expansion = end_ < buffer_.size() && buffer_.kind(end_) == T::Eof && buffer_.context(end_) != 0;
    return expansion ? buffer_.span(end_) : prev_span_;
}

void Parser::expected(std::string_view what) {
    if (failed_) return;
    const Span place = pos_ >= end_ ? end_span() : span();
    error(place, fmt::format("expected {}, found {}", what, describe_token()))
        .label(place, fmt::format("expected {}", what));
    fail();
}

void Parser::too_deep() {
    if (stopped_) return;
    if (depth_ > context_.options.max_depth) {
        error(prev_span_, "this code is nested too deeply")
            .label(prev_span_,
                   fmt::format("more than {} levels inside each other", context_.options.max_depth))
            .help("move inner parts into functions or variables of their own");
    } else {
        error(prev_span_, "this chain of expressions is too long")
            .label(prev_span_, fmt::format("more than {} links up to here", context_.options.max_height))
            .help("split it with variables, or use an array and a loop");
    }
    if (quiet_ == 0) stopped_ = true;
    fail();
}

void Parser::unstable(Span span, std::string message) {
    error(Code::E0658, span, std::move(message));
}

// Lifetimes and labels may not be keywords; `what` is the plural for the message.
void Parser::check_lifetime_name(const Ident& name, std::string_view what) {
    if (name.raw) return;
    const std::string_view bare = text(name.name).substr(1);
    const bool special = what == "lifetimes" && (bare == "static" || bare == "_");
    if (special || !lex::is_keyword(lex::word_kind(bare, edition()))) return;
    error(name.span, fmt::format("{} cannot use keyword names", what));
}

void Parser::resume_at(std::uint32_t position) {
    if (quiet_ > 0 && failed_) return;  // an attempt stays failed
    rewind(position);
}

void Parser::rewind(std::uint32_t position) {
    if (stopped_) return;
    failed_ = false;
    pos_ = position;
    if (pos_ > 0) prev_span_ = buffer_.span(pos_ - 1);
    look();
}

void Parser::skip_to_close(std::uint32_t close) {
    if (failed_ || pos_ != close) resume_at(close);
    bump();
}

void Parser::skip_tree() {
    if (lex::is_open(kind_) && split_ == 0) {
        const std::uint32_t close = buffer_.partner(pos_);
        resume_at(close);
    }
    bump();
}

// Where statements go on: behind a `;`, behind a block, or before a word that starts a statement on a new
// line.
void Parser::skip_statement(std::uint32_t end) {
    const std::uint32_t from = pos_;
    resume_at(pos_);
    while (pos_ < end && !at_end()) {
        if (pos_ != from &&
            at_any({T::KwLet, T::KwFn, T::KwStruct, T::KwEnum, T::KwImpl, T::KwTrait, T::KwMod, T::KwUse}))
            return;
        const TokenKind taken = kind_;
        skip_tree();
        if (taken == T::Semi) return;
        if (taken == T::OpenBrace) {
            eat(T::Semi);
            return;
        }
    }
}

// Where items go on. `start` is where the failed item began, so that the same keyword does not fail twice.
void Parser::skip_to_item(std::uint32_t start) {
    resume_at(pos_);
    while (!at_end() && !lex::is_close(kind_)) {
        const bool fresh = pos_ > start;
        if (fresh && at_any({T::Semi, T::OpenBrace})) {
            const bool brace = at(T::OpenBrace);
            skip_tree();
            if (brace && !at_item_start() && !at_any({T::Pound, T::OuterDoc}) && !at_end() &&
                !lex::is_close(kind_))
                continue;
            return;
        }
        if (fresh && at_item_start() &&
            !at_any({T::KwConst, T::KwUnsafe, T::KwExtern, T::KwAsync, T::KwCrate}))
            return;
        skip_tree();
    }
}

}  // namespace ockc::parse
