// The follow rule is that of the Rust reference, "Follow-set ambiguity restrictions" and its formal appendix: for every fragment
// in a matcher, FIRST of what stands behind it must lie in the fragment's FOLLOW set.
#include "resolve/macro_check.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "resolve/macro_match.hpp"
#include "resolve/macro_rules.hpp"

namespace ockc::resolve {

namespace {

using T = lex::TokenKind;
using parse::FragmentKind;

// Tokens or fragments that can start or end something; `maybe_empty`: there may be none.
struct TokenSet {
    std::vector<const MacroElement*> elements;
    bool maybe_empty = true;

    void clear(bool empty) {
        elements.clear();
        maybe_empty = empty;
    }
    void add(const TokenSet& other) {
        for (const MacroElement* one : other.elements) {
            if (std::find(elements.begin(), elements.end(), one) == elements.end()) elements.push_back(one);
        }
        maybe_empty = maybe_empty && other.maybe_empty;
    }
};

bool followed_by_anything(FragmentKind kind) {
    switch (kind) {
        case FragmentKind::Block:
        case FragmentKind::Ident:
        case FragmentKind::Item:
        case FragmentKind::Lifetime:
        case FragmentKind::Literal:
        case FragmentKind::Meta:
        case FragmentKind::Tt: return true;
        case FragmentKind::Expr:
        case FragmentKind::Expr2021:
        case FragmentKind::Pat:
        case FragmentKind::PatParam:
        case FragmentKind::Path:
        case FragmentKind::Stmt:
        case FragmentKind::Ty:
        case FragmentKind::Vis: return false;
    }
    OCKC_UNREACHABLE("fragment kind");
}

bool one_of(T kind, std::initializer_list<T> kinds) { return std::find(kinds.begin(), kinds.end(), kind) != kinds.end(); }

bool may_begin_type(T kind) {
    return lex::is_ident(kind) || one_of(kind, {T::OpenParen, T::OpenBracket, T::Not, T::Star, T::And, T::AndAnd, T::Question, T::Less, T::LessLess, T::PathSep, T::KwFor,
                                                T::KwFn, T::KwUnsafe, T::KwExtern, T::KwImpl, T::KwDyn, T::KwSelfType, T::KwSelfValue, T::KwSuper, T::KwCrate, T::Underscore}) ||
           lex::is_lifetime(kind);
}

class DefinitionCheck {
  public:
    DefinitionCheck(State& state, MacroInfo& info) : s_(state), info_(info), buffer_(*info.body.buffer) {}

    bool run() {
        for (const MacroRule& rule : info_.rules) {
            std::vector<MacroElement> pattern, body;
            if (!read_macro_elements(s_, rule.matcher, true, pattern) || !read_macro_elements(s_, rule.body, false, body)) {
                good_ = false;
                continue;
            }
            std::unordered_map<Symbol, std::uint32_t> names;
            bind(pattern, names);
            repetitions(pattern);
            follow(pattern, TokenSet{});
        }
        return good_;
    }

  private:
    Diagnostic& error(std::uint32_t token, std::string message) {
        good_ = false;
        return s_.sink->error(buffer_.span(token), std::move(message));
    }

    void bind(const std::vector<MacroElement>& elements, std::unordered_map<Symbol, std::uint32_t>& names) {
        for (const MacroElement& element : elements) {
            if (element.kind == MacroElement::Kind::Repeat) bind(element.children, names);
            if (element.kind != MacroElement::Kind::Variable) continue;
            const auto [first, fresh] = names.emplace(element.name, element.token);
            if (!fresh) error(element.token, "duplicate matcher binding").label(buffer_.span(first->second), "previous binding");
        }
    }

    // A repetition whose round may be empty would match for ever.
    void repetitions(const std::vector<MacroElement>& elements) {
        for (const MacroElement& element : elements) {
            if (element.kind != MacroElement::Kind::Repeat) continue;
            const bool empty = !element.has_separator && std::all_of(element.children.begin(), element.children.end(), [](const MacroElement& child) {
                return (child.kind == MacroElement::Kind::Variable && child.fragment == FragmentKind::Vis) ||
                       (child.kind == MacroElement::Kind::Repeat && child.op != RepeatOp::OneOrMore);
            });
            if (empty) error(element.token, "repetition matches empty token tree");
            repetitions(element.children);
        }
    }

    const MacroElement* separator_of(const MacroElement& repeat) {
        MacroElement& token = separators_[repeat.token];
        token.token = repeat.separator;
        return &token;
    }

    // FIRST of elements[from ..].
    TokenSet first(const std::vector<MacroElement>& elements, std::size_t from) {
        TokenSet result;
        for (std::size_t i = from; i < elements.size(); ++i) {
            const MacroElement& element = elements[i];
            if (element.kind != MacroElement::Kind::Repeat) {
                result.elements.push_back(&element);
                result.maybe_empty = false;
                return result;
            }
            TokenSet inner = first(element.children, 0);
            if (inner.maybe_empty && element.has_separator) inner.elements.push_back(separator_of(element));
            const bool skippable = inner.maybe_empty || element.op != RepeatOp::OneOrMore;
            inner.maybe_empty = skippable;
            result.add(inner);
            if (!skippable) return result;
            result.maybe_empty = true;
        }
        result.maybe_empty = true;
        return result;
    }

    // Checks what follows each fragment, `after` being what may stand behind all of it; gives what it may end with.
    TokenSet follow(const std::vector<MacroElement>& elements, const TokenSet& after) {
        TokenSet last;
        for (std::size_t i = 0; i < elements.size(); ++i) {
            const MacroElement& element = elements[i];
            TokenSet next = first(elements, i + 1);
            if (next.maybe_empty) next.add(after);
            if (element.kind == MacroElement::Kind::Repeat) {
                TokenSet inside = next;
                if (element.has_separator) {
                    inside.clear(false);
                    inside.elements.push_back(separator_of(element));
                    inside.add(next);
                }
                // Without a separator the next round is not looked at: rustc takes `$($t:ty)*`.
                const TokenSet end = follow(element.children, inside);
                if (end.maybe_empty || element.op != RepeatOp::OneOrMore) last.add(end);
                else last = end;
                continue;
            }
            last.clear(false);
            if (element.kind != MacroElement::Kind::Variable || followed_by_anything(element.fragment)) continue;
            last.elements.push_back(&element);
            for (const MacroElement* token : next.elements) check_pair(element, *token);
        }
        return last;
    }

    void check_pair(const MacroElement& fragment, const MacroElement& next) {
        if (allowed(fragment.fragment, next)) return;
        const std::string kind(s_.sources.text(buffer_.span(fragment.token + 2)));
        const std::string shown = next.kind == MacroElement::Kind::Variable ? fmt::format("${}:{}", s_.text(next.name), s_.sources.text(buffer_.span(next.token + 2)))
                                                                            : std::string(s_.sources.text(buffer_.span(next.token)));
        error(next.token, fmt::format("`${}:{}` is followed by `{}`, which is not allowed for `{}` fragments", s_.text(fragment.name), kind, shown, kind))
            .label(buffer_.span(next.token), fmt::format("not allowed after `{}` fragments", kind));
    }

    bool allowed(FragmentKind kind, const MacroElement& next) const {
        const bool variable = next.kind == MacroElement::Kind::Variable;
        const T token = variable ? T::Eof : next.kind == MacroElement::Kind::Crate ? T::KwCrate : buffer_.kind(next.token);
        if (!variable && lex::is_close(token)) return true;
        switch (kind) {
            case FragmentKind::Expr:
            case FragmentKind::Expr2021:
            case FragmentKind::Stmt: return one_of(token, {T::FatArrow, T::Comma, T::Semi});
            case FragmentKind::PatParam:
                if (token == T::Or) return true;
                [[fallthrough]];
            case FragmentKind::Pat:
                return one_of(token, {T::FatArrow, T::Comma, T::Equal, T::KwIf, T::KwIn});
            case FragmentKind::Path:
            case FragmentKind::Ty:
                if (variable) return next.fragment == FragmentKind::Block;
                return one_of(token, {T::OpenBrace, T::OpenBracket, T::FatArrow, T::Comma, T::Greater, T::GreaterGreater, T::Equal, T::Colon, T::Semi, T::Or, T::KwAs, T::KwWhere});
            case FragmentKind::Vis:
                if (variable) return next.fragment == FragmentKind::Ident || next.fragment == FragmentKind::Ty || next.fragment == FragmentKind::Path;
                return token == T::Comma || may_begin_type(token) || (lex::is_keyword(token) && token != T::KwPub);
            case FragmentKind::Block:
            case FragmentKind::Ident:
            case FragmentKind::Item:
            case FragmentKind::Lifetime:
            case FragmentKind::Literal:
            case FragmentKind::Meta:
            case FragmentKind::Tt: return true;
        }
        OCKC_UNREACHABLE("fragment kind");
    }

    State& s_;
    MacroInfo& info_;
    const lex::TokenBuffer& buffer_;
    std::unordered_map<std::uint32_t, MacroElement> separators_;   // by the repetition's token
    bool good_ = true;
};

}  // namespace

void check_macro_definition(State& state, DefId macro) {
    MacroInfo& info = state.macros[state.origin[macro].index];
    if (!parse_macro_rules(state, info)) return;
    if (!DefinitionCheck(state, info).run()) info.bad = true;
}

}  // namespace ockc::resolve
