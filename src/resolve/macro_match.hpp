// The two halves of a macro_rules rule: a matcher over the call's tokens and a body to write out, both as trees over the
// definition's tokens.
#pragma once
#include <memory>
#include <unordered_map>
#include <vector>

#include "resolve/state.hpp"

namespace ockc::resolve {

enum class RepeatOp : std::uint8_t { ZeroOrMore, OneOrMore, ZeroOrOne };

// One element of a matcher or body.
struct MacroElement {
    enum class Kind : std::uint8_t {
        Token,       // token of the definition, delimiters included
        Variable,    // $name:fragment in matchers, $name in bodies
        Repeat,      // $( children ) separator op
        Crate,       // $crate
    } kind = Kind::Token;
    std::uint32_t token = 0;
    Symbol name;
    parse::FragmentKind fragment{};
    std::vector<MacroElement> children;
    bool has_separator = false;
    std::uint32_t separator = 0;
    RepeatOp op = RepeatOp::ZeroOrMore;
};

// What a variable matched: tokens, or a list of matches for each repetition around it.
struct MacroMatch {
    bool is_list = false;
    lex::TokenRange tokens;
    parse::FragmentKind fragment{};
    std::vector<MacroMatch> list;
};
using MacroMatches = std::unordered_map<Symbol, MacroMatch>;

// Reads `$`-syntax from tokens. Reports what is malformed and gives false.
bool read_macro_elements(State& state, lex::TokenRange range, bool matcher, std::vector<MacroElement>& out);
// Matches all of `tokens`. On failure `farthest` is the token that no rule expected.
bool match_macro(State& state, lex::TokenRange pattern_tokens, const std::vector<MacroElement>& pattern, lex::TokenRange tokens,
                 MacroMatches& matches, std::uint32_t& farthest);
// Appends the body with its variables filled in. False after an error.
// At most so many tokens in all expansions of a program; a single one stops soon after that many.
inline constexpr std::uint64_t kExpandedTokens = 1'000'000;
bool write_macro(State& state, lex::TokenRange body_tokens, const std::vector<MacroElement>& body, const MacroMatches& matches, std::uint32_t context,
                 Span call, lex::TokenBuffer& out);

}  // namespace ockc::resolve
