#include "resolve/macro_match.hpp"

#include <fmt/format.h>

namespace ockc::resolve {

namespace {

using T = lex::TokenKind;

constexpr int kMaxDepth = 64;                       // of repetitions in a definition

class ElementReader {
  public:
    ElementReader(State& state, bool matcher) : s_(state), matcher_(matcher) {}

    bool read(lex::TokenRange range, std::vector<MacroElement>& out, int depth) {
        const lex::TokenBuffer& buffer = *range.buffer;
        if (depth > kMaxDepth) {
            s_.sink->error(buffer.span(range.begin), "macro repetitions are nested too deeply");
            return false;
        }
        for (std::uint32_t i = range.begin; i < range.end;) {
            if (buffer.kind(i) != T::Dollar || i + 1 >= range.end) {
                MacroElement token;
                token.token = i++;
                out.push_back(std::move(token));
                continue;
            }
            const T next = buffer.kind(i + 1);
            if (next == T::OpenParen) {
                if (!repeat(range, i, out, depth)) return false;
            } else if (next == T::KwCrate) {
                MacroElement element;
                element.kind = MacroElement::Kind::Crate;
                element.token = i + 1;
                out.push_back(std::move(element));
                i += 2;
            } else if (lex::is_ident(next) || lex::is_keyword(next)) {
                if (!variable(range, i, out)) return false;
            } else {
                s_.sink->error(buffer.span(i + 1), fmt::format("expected identifier, found `{}`", s_.sources.text(buffer.span(i + 1))));
                return false;
            }
        }
        return true;
    }

  private:
    bool variable(lex::TokenRange range, std::uint32_t& i, std::vector<MacroElement>& out) {
        const lex::TokenBuffer& buffer = *range.buffer;
        MacroElement element;
        element.kind = MacroElement::Kind::Variable;
        element.token = i + 1;
        element.name = s_.names.intern(s_.sources.text(buffer.span(i + 1)));
        i += 2;
        if (matcher_) {
            const bool typed = i + 1 < range.end && buffer.kind(i) == T::Colon;
            const std::string_view kind = typed ? s_.sources.text(buffer.span(i + 1)) : std::string_view();
            if (!typed || !parse::fragment_kind(kind, buffer.edition(), element.fragment)) {
                s_.sink->error(buffer.span(typed ? i + 1 : element.token), typed ? fmt::format("invalid fragment specifier `{}`", kind) : std::string("missing fragment specifier"));
                return false;
            }
            i += 2;
        }
        out.push_back(std::move(element));
        return true;
    }

    bool repeat(lex::TokenRange range, std::uint32_t& i, std::vector<MacroElement>& out, int depth) {
        const lex::TokenBuffer& buffer = *range.buffer;
        MacroElement element;
        element.kind = MacroElement::Kind::Repeat;
        element.token = i;
        const std::uint32_t close = buffer.partner(i + 1);
        if (!read({range.buffer, i + 2, close}, element.children, depth + 1)) return false;
        i = close + 1;
        const auto op_at = [&](std::uint32_t at) { return at < range.end && (buffer.kind(at) == T::Star || buffer.kind(at) == T::Plus || buffer.kind(at) == T::Question); };
        // `$(..)+*`: a separator that looks like an operator.
        if (i < range.end && (!op_at(i) || (op_at(i + 1) && buffer.kind(i) != T::Question && buffer.touches_next(i)))) {
            element.has_separator = true;
            element.separator = i++;
        }
        if (element.has_separator && i < range.end && buffer.kind(i) == T::Question) {
            s_.sink->error(buffer.span(i), "the `?` macro repetition operator does not take a separator");
            return false;
        }
        if (!op_at(i)) {
            s_.sink->error(buffer.span(element.token), "expected one of: `*`, `+`, or `?`");
            return false;
        }
        element.op = buffer.kind(i) == T::Star ? RepeatOp::ZeroOrMore : buffer.kind(i) == T::Plus ? RepeatOp::OneOrMore : RepeatOp::ZeroOrOne;
        ++i;
        out.push_back(std::move(element));
        return true;
    }

    State& s_;
    bool matcher_;
};

class Matcher {
  public:
    Matcher(State& state, const lex::TokenBuffer& pattern, lex::TokenRange tokens, std::uint32_t& farthest)
        : s_(state), pattern_(pattern), tokens_(tokens), farthest_(farthest) {}

    bool sequence(const std::vector<MacroElement>& elements, std::uint32_t& at, MacroMatches& matches) {
        for (const MacroElement& element : elements) {
            farthest_ = std::max(farthest_, at);
            switch (element.kind) {
                case MacroElement::Kind::Token:
                case MacroElement::Kind::Crate:
                    if (!token(element.token, at)) return false;
                    break;
                case MacroElement::Kind::Variable:
                    if (!variable(element, at, matches)) return false;
                    break;
                case MacroElement::Kind::Repeat:
                    if (!repeat(element, at, matches)) return false;
                    break;
            }
        }
        farthest_ = std::max(farthest_, at);
        return true;
    }

  private:
    bool token(std::uint32_t wanted, std::uint32_t& at) {
        const lex::TokenBuffer& buffer = *tokens_.buffer;
        if (at >= tokens_.end || buffer.kind(at) != pattern_.kind(wanted) || buffer.is_opaque(at)) return false;
        const T kind = buffer.kind(at);
        const bool fixed = lex::info(kind).token_class == lex::TokenClass::Punctuation || lex::is_delimiter(kind);
        if (!fixed && s_.sources.text(buffer.span(at)) != s_.sources.text(pattern_.span(wanted))) return false;
        ++at;
        return true;
    }

    bool variable(const MacroElement& element, std::uint32_t& at, MacroMatches& matches) {
        MacroMatch match;
        match.fragment = element.fragment;
        if (at >= tokens_.end && element.fragment != parse::FragmentKind::Vis) return false;
        const bool bare = element.fragment == parse::FragmentKind::Ident || element.fragment == parse::FragmentKind::Lifetime;
        if (bare && tokens_.buffer->is_opaque(at)) return false;
        DiagSink scratch;
        parse::ParseContext context = {s_.sources, s_.names, scratch, scratch_ast_, s_.options.parse};
        const parse::Fragment fragment = parse::parse_fragment(element.fragment, {tokens_.buffer, at, tokens_.end}, context);
        if (!fragment.ok) return false;
        match.tokens = {tokens_.buffer, at, fragment.end};
        at = fragment.end;
        matches[element.name] = std::move(match);
        return true;
    }

    bool repeat(const MacroElement& element, std::uint32_t& at, MacroMatches& matches) {
        std::vector<MacroMatches> rounds;
        while (element.op != RepeatOp::ZeroOrOne || rounds.empty()) {
            std::uint32_t next = at;
            if (element.has_separator && !rounds.empty() && !token(element.separator, next)) break;
            MacroMatches round;
            if (next >= tokens_.end && !element.children.empty()) break;
            if (!sequence(element.children, next, round) || next == at) break;
            at = next;
            rounds.push_back(std::move(round));
        }
        if (element.op == RepeatOp::OneOrMore && rounds.empty()) return false;
        collect(element, rounds, matches);
        return true;
    }

    // Turns the rounds inside out: for each variable the list of what it matched.
    void collect(const MacroElement& element, std::vector<MacroMatches>& rounds, MacroMatches& matches) {
        for (const MacroElement& child : element.children) {
            if (child.kind == MacroElement::Kind::Repeat) {
                collect(child, rounds, matches);
                continue;
            }
            if (child.kind != MacroElement::Kind::Variable) continue;
            MacroMatch list;
            list.is_list = true;
            for (MacroMatches& round : rounds) list.list.push_back(std::move(round[child.name]));
            matches[child.name] = std::move(list);
        }
    }

    State& s_;
    const lex::TokenBuffer& pattern_;
    lex::TokenRange tokens_;
    std::uint32_t& farthest_;
    ast::Crate scratch_ast_;        // fragments are parsed again where they stand in the expansion
};

class Writer {
  public:
    Writer(State& state, const lex::TokenBuffer& body, const MacroMatches& matches, std::uint32_t context, Span call, lex::TokenBuffer& out)
        : s_(state), body_(body), matches_(matches), context_(context), call_(call), out_(out) {}

    bool write(const std::vector<MacroElement>& elements) {
        for (const MacroElement& element : elements) {
            if (out_.size() > kExpandedTokens) return true;   // the caller counts, and refuses it
            switch (element.kind) {
                case MacroElement::Kind::Token: own_token(element.token); break;
                case MacroElement::Kind::Crate: out_.push(T::DollarCrate, body_.span(element.token), context_); break;
                case MacroElement::Kind::Variable:
                    if (!variable(element)) return false;
                    break;
                case MacroElement::Kind::Repeat:
                    if (!repeat(element)) return false;
                    break;
            }
        }
        return true;
    }

  private:
    void own_token(std::uint32_t i) {
        const bool crate = body_.kind(i) == T::DollarCrate;   // of an outer macro
        out_.push(body_.kind(i), body_.span(i), crate ? body_.context(i) : context_);
    }

    // The match of a variable at the current position in all repetitions around it; null when it is no variable.
    const MacroMatch* current(Symbol name) const {
        const auto found = matches_.find(name);
        if (found == matches_.end()) return nullptr;
        const MacroMatch* match = &found->second;
        for (const std::size_t index : indices_) {
            if (!match->is_list || index >= match->list.size()) break;
            match = &match->list[index];
        }
        return match;
    }

    static bool is_wrapped(parse::FragmentKind kind) {
        switch (kind) {
            case parse::FragmentKind::Block:
            case parse::FragmentKind::Expr:
            case parse::FragmentKind::Expr2021:
            case parse::FragmentKind::Literal:
            case parse::FragmentKind::Pat:
            case parse::FragmentKind::PatParam:
            case parse::FragmentKind::Path:
            case parse::FragmentKind::Ty: return true;
            case parse::FragmentKind::Ident:
            case parse::FragmentKind::Item:
            case parse::FragmentKind::Lifetime:
            case parse::FragmentKind::Meta:
            case parse::FragmentKind::Stmt:
            case parse::FragmentKind::Tt:
            case parse::FragmentKind::Vis: return false;
        }
        OCKC_UNREACHABLE("fragment kind");
    }

    bool variable(const MacroElement& element) {
        const MacroMatch* match = current(element.name);
        if (match == nullptr) {   // `$x` of a macro that this one defines
            own_token(element.token - 1);
            own_token(element.token);
            return true;
        }
        if (match->is_list) {
            s_.sink->error(body_.span(element.token), fmt::format("variable `{}` is still repeating at this depth", s_.text(element.name)));
            return false;
        }
        const lex::TokenBuffer& from = *match->tokens.buffer;
        // A group around one identifier or literal would only be in the way of `$x` as a name.
        const bool wrap = is_wrapped(match->fragment) && match->tokens.size() > 1 && from.kind(match->tokens.begin) != T::OpenInvisible;
        const Span first = match->tokens.empty() ? call_ : from.span(match->tokens.begin);
        if (wrap) out_.push(T::OpenInvisible, first.start(), 0);
        const bool opaque = is_wrapped(match->fragment) && match->tokens.size() == 1;
        for (std::uint32_t i = match->tokens.begin; i < match->tokens.end; ++i) {
            out_.push(from.kind(i), from.span(i), from.context(i));
            if (opaque || from.is_opaque(i)) out_.mark_opaque();
        }
        if (wrap) out_.push(T::CloseInvisible, from.span(match->tokens.end - 1).after(), 0);
        return true;
    }

    // How often a repetition is written: as often as the variables in it were matched.
    bool count_rounds(const std::vector<MacroElement>& elements, std::optional<std::size_t>& count, Span span) {
        for (const MacroElement& element : elements) {
            if (element.kind == MacroElement::Kind::Repeat) {
                if (!count_rounds(element.children, count, span)) return false;
                continue;
            }
            if (element.kind != MacroElement::Kind::Variable) continue;
            const MacroMatch* match = current(element.name);
            if (match == nullptr || !match->is_list) continue;
            if (count && *count != match->list.size()) {
                s_.sink->error(span, fmt::format("meta-variable `{}` repeats {} times, but another repeats {} times", s_.text(element.name), match->list.size(), *count));
                return false;
            }
            count = match->list.size();
        }
        return true;
    }

    bool repeat(const MacroElement& element) {
        std::optional<std::size_t> count;
        const Span span = body_.span(element.token);
        if (!count_rounds(element.children, count, span)) return false;
        if (!count) {
            s_.sink->error(span, "attempted to repeat an expression containing no syntax variables matched as repeating at this depth");
            return false;
        }
        for (std::size_t i = 0; i < *count; ++i) {
            if (i != 0 && element.has_separator) own_token(element.separator);
            indices_.push_back(i);
            const bool good = write(element.children);
            indices_.pop_back();
            if (!good) return false;
        }
        return true;
    }

    State& s_;
    const lex::TokenBuffer& body_;
    const MacroMatches& matches_;
    std::uint32_t context_;
    Span call_;
    lex::TokenBuffer& out_;
    std::vector<std::size_t> indices_;
};

}  // namespace

bool read_macro_elements(State& state, lex::TokenRange range, bool matcher, std::vector<MacroElement>& out) {
    return ElementReader(state, matcher).read(range, out, 0);
}

bool match_macro(State& state, lex::TokenRange pattern_tokens, const std::vector<MacroElement>& pattern, lex::TokenRange tokens,
                 MacroMatches& matches, std::uint32_t& farthest) {
    std::uint32_t at = tokens.begin;
    return Matcher(state, *pattern_tokens.buffer, tokens, farthest).sequence(pattern, at, matches) && at == tokens.end;
}

bool write_macro(State& state, lex::TokenRange body_tokens, const std::vector<MacroElement>& body, const MacroMatches& matches, std::uint32_t context,
                 Span call, lex::TokenBuffer& out) {
    return Writer(state, *body_tokens.buffer, matches, context, call, out).write(body);
}

}  // namespace ockc::resolve
