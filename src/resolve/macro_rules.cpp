#include "resolve/macro_rules.hpp"

#include <fmt/format.h>

#include "resolve/load.hpp"
#include "resolve/macro_match.hpp"

namespace ockc::resolve {

namespace {

using T = lex::TokenKind;

}  // namespace

// `(matcher) => { body }; ..`: done once for each macro.
bool parse_macro_rules(State& state, MacroInfo& info) {
    if (info.parsed) return !info.bad;
    info.parsed = true;
    const lex::TokenBuffer& buffer = *info.body.buffer;
    const auto found = [&](std::uint32_t at) { return at < info.body.end ? fmt::format("`{}`", state.sources.text(buffer.span(at))) : std::string("end of macro arguments"); };
    const auto bad = [&](std::uint32_t at, std::string message) {
        state.sink->error(at < info.body.end ? buffer.span(at) : buffer.span(info.body.end), std::move(message));
        info.bad = true;
        return false;
    };
    for (std::uint32_t i = info.body.begin; i < info.body.end;) {
        MacroRule rule;
        if (!lex::is_open(buffer.kind(i))) return bad(i, "wrong left-hand side of a macro rule: it stands in delimiters");
        const std::uint32_t close = buffer.partner(i);
        rule.matcher = {info.body.buffer, i + 1, close};
        i = close + 1;
        if (i >= info.body.end || buffer.kind(i) != T::FatArrow) return bad(i, fmt::format("expected `=>`, found {}", found(i)));
        ++i;
        if (i >= info.body.end || !lex::is_open(buffer.kind(i))) return bad(i, "macro rhs must be delimited");
        rule.body = {info.body.buffer, i + 1, buffer.partner(i)};
        i = buffer.partner(i) + 1;
        info.rules.push_back(rule);
        if (i < info.body.end && buffer.kind(i) != T::Semi) return bad(i, fmt::format("expected `;`, found {}", found(i)));
        ++i;
    }
    if (info.rules.empty()) return bad(info.body.begin, "macros must contain at least one rule");
    return true;
}

namespace {

// Counts what all expansions have written together: one that doubles itself would fill the memory long before it is too deep.
bool within_token_limit(State& state, DefId macro, const ast::MacroCall& call, std::size_t tokens) {
    const bool before = state.expanded_tokens <= kExpandedTokens;
    state.expanded_tokens += tokens;
    if (state.expanded_tokens <= kExpandedTokens) return true;
    if (!before) return false;   // said
    const std::string_view text = state.sources.text(call.span);
    constexpr std::size_t kShown = 80;
    state.sink->error(call.span, fmt::format("the macros of this program expand to more than {} tokens", kExpandedTokens))
        .label(call.span, fmt::format("expanding `{}!` here", state.name_of(macro)))
        .note(fmt::format("the expansion that goes too far is `{}{}`", text.substr(0, kShown), text.size() > kShown ? " .." : ""));
    return false;
}

// The expansion of a call as a token buffer of its own; null after an error.
const lex::TokenBuffer* expand(State& state, DefId macro, std::uint32_t crate, ast::MacroCallId id) {
    const ast::MacroCall call = state.ast_of(crate)[id];
    MacroInfo& info = state.macros[state.origin[macro].index];
    info.used = true;
    if (is_include(state, macro)) {
        const std::optional<FileId> file = included_file(state, crate, call);
        if (!file) return nullptr;
        const lex::TokenBuffer& tokens = file_tokens(state, crate, *file);
        return within_token_limit(state, macro, call, tokens.size()) ? &tokens : nullptr;
    }
    if (!parse_macro_rules(state, info)) return nullptr;
    std::uint32_t farthest = call.body.begin;
    for (std::size_t i = 0; i < info.rules.size(); ++i) {
        const MacroRule rule = info.rules[i];
        std::vector<MacroElement> pattern, body;
        if (!read_macro_elements(state, rule.matcher, true, pattern)) return nullptr;
        MacroMatches matches;
        if (!match_macro(state, rule.matcher, pattern, call.body, matches, farthest)) continue;
        if (!read_macro_elements(state, rule.body, false, body)) return nullptr;
        const auto context = static_cast<std::uint32_t>(state.expansions.size());
        state.expansions.push_back({macro, info.context, call.span, info.crate_root});
        const lex::TokenBuffer& source = *rule.body.buffer;
        auto out = std::make_unique<lex::TokenBuffer>(source.file(), source.edition());
        if (!write_macro(state, rule.body, body, matches, context, call.span, *out) || !within_token_limit(state, macro, call, out->size())) return nullptr;
        // What is missing at the end is missing in the rule.
        const std::uint32_t last = rule.body.end - 1;
        out->push(T::Eof, rule.body.empty() ? call.span.after() : source.span(last).after(), context);
        out->link_delimiters();
        return state.program.crates[crate].tokens.emplace_back(std::move(out)).get();
    }
    const bool end = farthest >= call.body.end;
    const Span span = end ? call.span : call.body.buffer->span(farthest);
    auto& error = state.sink->error(span, end ? std::string("unexpected end of macro invocation")
                                              : fmt::format("no rules expected `{}`", state.sources.text(span)));
    error.label(span, end ? "missing tokens in macro arguments" : "no rules expected this token in macro call");
    error.note_at(state.program.defs[macro].span, fmt::format("`{}` is defined here", state.name_of(macro)));
    return nullptr;
}

// Parses an expansion; errors in it tell of the call.
template <class F>
auto parse_expansion(State& state, DefId macro, std::uint32_t crate, ast::MacroCallId call, F&& parse) {
    const std::size_t first = state.sink->all().size();
    auto result = parse();
    note_expansion(state, first, macro, state.ast_of(crate)[call].span);
    return result;
}

template <class Node, class Data>
auto error_node(State& state, std::uint32_t crate, ast::MacroCallId call, Data data) {
    Node node;
    node.span = state.ast_of(crate)[call].span;
    node.data = data;
    return state.ast_of(crate).add(node);
}

lex::TokenRange all_of(const lex::TokenBuffer& buffer) { return {&buffer, 0, buffer.size() - 1}; }

}  // namespace

void note_expansion(State& state, std::size_t first, DefId macro, Span call) {
    std::deque<Diagnostic>& all = state.sink->all();
    for (std::size_t i = first; i < all.size(); ++i) {
        const Span place = all[i].primary_span();
        const bool written_in_call = place.file == call.file && call.begin <= place.begin && place.end <= call.end;
        if (written_in_call) continue;
        if (!all[i].labels.empty() && all[i].labels.back().text == "in this macro invocation") {   // said by an expansion inside: the outermost counts
            all[i].labels.back().span = call;
            continue;
        }
        all[i].label(call, "in this macro invocation").note(fmt::format("this {} originates in the macro `{}`", all[i].severity == Severity::Error ? "error" : "warning", state.name_of(macro)));
    }
}

ast::ExprId expand_expression(State& state, DefId macro, std::uint32_t crate, ast::MacroCallId call) {
    const lex::TokenBuffer* tokens = expand(state, macro, crate, call);
    if (tokens == nullptr) return error_node<ast::Expr>(state, crate, call, ast::ErrorExpr{});
    // `m!()` as an expression may end with `;` in its body, as rustc lets it.
    lex::TokenRange range = all_of(*tokens);
    if (!range.empty() && tokens->kind(range.end - 1) == T::Semi) --range.end;
    return parse_expansion(state, macro, crate, call, [&] { return parse::parse_expr(range, state.parse_context(crate)); });
}

ast::PatId expand_pattern(State& state, DefId macro, std::uint32_t crate, ast::MacroCallId call) {
    const lex::TokenBuffer* tokens = expand(state, macro, crate, call);
    if (tokens == nullptr) return error_node<ast::Pat>(state, crate, call, ast::ErrorPat{});
    return parse_expansion(state, macro, crate, call, [&] { return parse::parse_pat(all_of(*tokens), state.parse_context(crate)); });
}

ast::TypeId expand_type(State& state, DefId macro, std::uint32_t crate, ast::MacroCallId call) {
    const lex::TokenBuffer* tokens = expand(state, macro, crate, call);
    if (tokens == nullptr) return error_node<ast::Type>(state, crate, call, ast::ErrorType{});
    return parse_expansion(state, macro, crate, call, [&] { return parse::parse_type(all_of(*tokens), state.parse_context(crate)); });
}

ast::BlockId expand_stmts(State& state, DefId macro, std::uint32_t crate, ast::MacroCallId call) {
    const lex::TokenBuffer* tokens = expand(state, macro, crate, call);
    if (tokens == nullptr) {
        ast::Block block;
        block.span = state.ast_of(crate)[call].span;
        return state.ast_of(crate).add(block);
    }
    return parse_expansion(state, macro, crate, call, [&] { return parse::parse_stmts(all_of(*tokens), state.parse_context(crate)); });
}

ast::List<ast::ItemId> expand_items(State& state, DefId macro, std::uint32_t crate, ast::MacroCallId call, parse::ItemPlace place) {
    if (state.program.defs[macro].kind != DefKind::Macro) return {};
    if (state.macros[state.origin[macro].index].kind != MacroInfo::Kind::Rules && !is_include(state, macro)) return {};
    const lex::TokenBuffer* tokens = expand(state, macro, crate, call);
    if (tokens == nullptr) return {};
    return parse_expansion(state, macro, crate, call, [&] { return parse::parse_items(all_of(*tokens), place, state.parse_context(crate)); });
}

}  // namespace ockc::resolve
