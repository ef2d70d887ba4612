// Patterns.
//
//     pattern = "|"? single ( "|" single )*
//     single  = "_" | ".." | "&" "mut"? single | "(" pattern ,* ")" | "[" pattern ,* "]" | "mut"? ident ( "@"
//     single )?
//             | "ref" "mut"? ident ( "@" single )? | literal | range | "const" block | path ( "(" pattern ,*
//             ")" | "{" fields "}" )? | path "!" group
//     range   = end ".." | end ( ".." | "..=" ) end | ( ".." | "..=" ) end
#include <fmt/format.h>

#include "parse/parser_impl.hpp"

namespace ockc::parse {

PatId Parser::pattern(bool top_alternatives) {
    const Span start = span();
    bool leading = false;
    if (top_alternatives && check(T::Or)) {
        bump();
        leading = true;
    } else if (top_alternatives && at(T::OrOr)) {
        error(span(), "unexpected token `||` in pattern")
            .suggest(span(), "|", "use a single `|` to separate multiple alternative patterns",
                     Applicability::MachineApplicable);
        bump();
        leading = true;
    }
    const PatId first = pattern_single();
    if (!top_alternatives || !(check(T::Or) || at(T::OrOr))) {
        // A lone leading bar leaves one alternative.
        if (!leading || failed_) return first;
        return make_pat(start, ast::OrPat{crate_.list({first})});
    }
    Scratch<PatId> alternatives(*this);
    alternatives.push(first);
    while ((at(T::Or) || at(T::OrOr)) && !failed_) {
        if (at(T::OrOr)) {
            error(span(), "unexpected token `||` in pattern")
                .suggest(span(), "|", "use a single `|` to separate multiple alternative patterns",
                         Applicability::MachineApplicable);
        }
        bump();
        // A trailing bar, as in `A | => ..`, has a message of its own.
        if (at_any({T::FatArrow, T::KwIf, T::Equal, T::Colon, T::CloseParen, T::CloseBracket, T::CloseBrace,
                    T::Comma, T::Semi, T::KwIn})) {
            error(prev_span_, "a trailing `|` is not allowed in an or-pattern")
                .label(start.to(prev_span_), "while parsing this or-pattern starting here")
                .suggest(prev_span_, "", "remove the `|`", Applicability::MachineApplicable);
            break;
        }
        alternatives.push(pattern_single());
    }
    return make_pat(start, ast::OrPat{alternatives.finish()});
}

// `let` and parameters take one alternative; more are told apart from a syntax error.
PatId Parser::pattern_no_top_alternatives(std::string_view where) {
    const Span start = span();
    const PatId out = pattern(true);
    if (!failed_ && ast::get_if<ast::OrPat>(crate_[out]) != nullptr) {
        const std::string inside(context_.sources.text(from(start)));
        error(from(start), fmt::format("{}", where))
            .suggest(from(start), "(" + inside + ")", "wrap the pattern in parentheses",
                     Applicability::MachineApplicable);
    }
    return out;
}

PatId Parser::pattern_single(bool allow_range) {
    Nested nested(*this);
    if (failed_) return crate_.add(ast::Pat{span(), ast::ErrorPat{}});
    const PatId out = pattern_inner();
    const auto* range_pat = ast::get_if<ast::RangePat>(crate_[out]);
    if (!allow_range && !failed_ && range_pat != nullptr && range_pat->end != ast::RangeEnd::Obsolete) {
        const Span where = crate_[out].span;
        error(where, "the range pattern here has ambiguous interpretation")
            .suggest(where, "(" + std::string(context_.sources.text(where)) + ")",
                     "add parentheses to clarify the precedence");
    }
    return out;
}

PatId Parser::pattern_inner() {
    const Span start = span();
    const std::string_view word = std::exchange(pattern_word_, "pattern");
    switch (kind_) {
        case T::OpenInvisible: {
            const std::uint32_t close = buffer_.partner(pos_);
            bump();
            // A literal or path fragment may be the start of a range.
            const PatId inner = pattern();
            if (!failed_ && pos_ != close) unexpected();
            skip_to_close(close);
            if (!at_range_operator()) return inner;
            const auto* literal_pat = ast::get_if<ast::LiteralPat>(crate_[inner]);
            return literal_pat != nullptr ? range_rest(start, literal_pat->value) : inner;
        }
        case T::And:
        case T::AndAnd: return reference_pattern();
        case T::OpenParen: return paren_pattern();
        case T::OpenBracket: return make_pat(start, ast::SlicePat{pattern_list(T::CloseBracket)});
        case T::Underscore: bump(); return make_pat(start, ast::WildPat{});
        case T::DotDotDot:
            bump();
            if (at_range_end()) {
                error(start, "range-to patterns with `...` are not allowed")
                    .suggest(start, "..=", "use `..=` instead", Applicability::MachineApplicable);
                resume_at(pos_ - 1);
                return range_rest(start, {});
            }
            error(start, "unexpected `...`")
                .label(start, "not a valid pattern")
                .suggest(start, "..", "for a rest pattern, use `..` instead of `...`",
                         Applicability::MachineApplicable);
            return make_pat(start, ast::RestPat{});
        case T::KwBox:
            if (lex::is_close(peek()) || peek() == T::Comma || peek() == T::FatArrow || peek() == T::Equal ||
                peek() == T::Semi || peek() == T::Colon) {
                bump();
                expected("pattern");
                break;
            }
            unstable(start, "box pattern syntax is experimental");
            bump();
            return pattern_single();
        case T::DotDot:
        case T::DotDotEqual:
            bump();
            if (!at_range_end() && buffer_.kind(pos_ - 1) == T::DotDot)
                return make_pat(start, ast::RestPat{});
            resume_at(pos_ - 1);
            return range_rest(start, {});
        case T::KwMut:
            bump();
            if (at(T::KwMut)) {
                error(span(), "`mut` on a binding may not be repeated")
                    .suggest(span(), "", "remove the additional `mut`s", Applicability::MachineApplicable);
                while (eat(T::KwMut)) {
                }
            }
            if (at(T::KwRef) || !lex::is_ident(kind_)) {
                const bool no_pattern =
                    at_any({T::KwSelfValue, T::FatArrow, T::Semi, T::Equal, T::Comma, T::Colon}) ||
                    lex::is_close(kind_) || at_end();
                if (no_pattern) return ident_pattern(start, false, false, true);
                const PatId inner = pattern_single();
                if (!failed_) {
                    const ast::PatData& data = crate_[inner].data;
                    const bool group = std::holds_alternative<ast::TuplePat>(data) ||
                                       std::holds_alternative<ast::SlicePat>(data) ||
                                       std::holds_alternative<ast::StructPat>(data) ||
                                       std::holds_alternative<ast::TupleStructPat>(data);
                    error(from(start), group ? "`mut` must be attached to each individual binding"
                                             : "`mut` must be followed by a named binding")
                        .note("`mut` may be followed by `variable` and `variable @ pattern`")
                        .suggest(start.to(crate_[inner].span.start()), "", "remove the `mut` prefix");
                }
                return inner;
            }
            return ident_pattern(start, false, false, true);
        case T::KwRef: {
            bump();
            const bool ref_mut = eat(T::KwMut);
            return ident_pattern(start, true, ref_mut, false);
        }
        case T::KwConst: {
            bump();
            if (!check(T::OpenBrace)) {
                unexpected();
                break;
            }
            const BlockId body = block();
            reject_const_block(start);
            if (!at_range_operator()) return make_pat(start, ast::ConstPat{body});
            const ExprId from_expr = make_expr(start, ast::BlockExpr{ast::BlockKind::Const, false, {}, body});
            return range_rest(start, from_expr);
        }
        default: break;
    }
    if (failed_) return crate_.add(ast::Pat{start, ast::ErrorPat{}});
    if (lex::is_literal(kind_) || at_any({T::Minus, T::KwTrue, T::KwFalse})) return literal_or_range(start);
    const TokenKind next = peek();
    const bool lone_name = lex::is_ident(kind_) && next != T::OpenParen && next != T::OpenBrace &&
                           next != T::DotDot && next != T::DotDotEqual && next != T::DotDotDot &&
                           next != T::PathSep && next != T::Not;
    if (lone_name) return ident_pattern(start, false, false, false);
    if (at_path_start()) return path_pattern();
    const bool misused_keyword = lex::is_keyword(kind_) && !at_any({T::KwIn, T::KwLet, T::KwMut, T::KwRef});
    if (misused_keyword) return ident_pattern(start, false, false, false);
    expected(word);
    return crate_.add(ast::Pat{start, ast::ErrorPat{}});
}

void Parser::reject_const_block(Span start) {
    if (failed_) return;
    error(from(start), "const blocks cannot be used as patterns")
        .help("use a named `const`-item or an `if`-guard (`x if x == const { ... }`) instead");
}

PatId Parser::reference_pattern() {
    const Span start = span();
    eat_first(T::And);
    if (at(T::And)) {  // the second half of `&&`
        Nested nested(*this);
        const PatId inner = reference_pattern();
        return make_pat(start, ast::ReferencePat{false, inner});
    }
    if (lex::is_lifetime(kind_)) {
        error(span(), fmt::format("unexpected lifetime `{}` in pattern", token_text()))
            .suggest(span(), "", "remove the lifetime", Applicability::MachineApplicable);
        bump();
    }
    const bool is_mut = at(T::KwMut);
    if (is_mut) bump();
    const PatId inner = pattern_single(false);
    return make_pat(start, ast::ReferencePat{is_mut, inner});
}

List<PatId> Parser::pattern_list(T close) {
    Scratch<PatId> list(*this);
    comma_list(close, [&] {
        reject_dangling(outer_attributes(), "pattern");
        list.push(pattern());
        check(T::KwIf);
    });
    return list.finish();
}

PatId Parser::paren_pattern() {
    const Span start = span();
    Scratch<PatId> list(*this);
    const bool trailing = comma_list(T::CloseParen, [&] {
        list.push(pattern());
        check(T::KwIf);
    });
    const bool rest = list.size() == 1 && ast::get_if<ast::RestPat>(crate_[list.back()]) != nullptr;
    if (list.size() != 1 || trailing || rest) return make_pat(start, ast::TuplePat{list.finish()});
    const PatId inner = list.back();
    // `(1)..=2` starts a range with the literal in parentheses: not a pattern, and reported as what follows.
    return make_pat(start, ast::ParenPat{inner});
}

PatId Parser::ident_pattern(Span start, bool by_ref, bool ref_mut, bool is_mut) {
    ast::IdentPat out{by_ref, ref_mut, is_mut, {}, {}};
    if (!expect_ident(out.ident)) return crate_.add(ast::Pat{start, ast::ErrorPat{}});
    if (eat(T::At)) {
        pattern_word_ = "binding pattern";
        out.sub = pattern_single();
    } else if (at(T::OpenParen) && (by_ref || is_mut)) {
        error(start.to(prev_span_), "expected identifier, found enum pattern")
            .label(start.to(prev_span_), "expected identifier, found enum pattern");
        fail();
    }
    return make_pat(start, out);
}

PatId Parser::path_pattern() {
    const Span start = span();
    const PathId name = path(PathStyle::Expr);
    if (failed_) return crate_.add(ast::Pat{start, ast::ErrorPat{}});
    if (at(T::Not) && !crate_[name].qself.valid()) {
        const ast::MacroCallId call = macro_call(name, start);
        return make_pat(start, ast::MacroPat{call});
    }
    if (at_range_operator()) {
        const ExprId from_expr = make_expr(start, ast::PathExpr{name});
        return range_rest(start, from_expr);
    }
    if (check(T::OpenParen)) return make_pat(start, ast::TupleStructPat{name, pattern_list(T::CloseParen)});
    if (check(T::OpenBrace)) return struct_pattern(start, name);
    return make_pat(start, ast::PathPat{name});
}

PatId Parser::struct_pattern(Span start, PathId name) {
    Scratch<ast::FieldPat> fields(*this);
    ast::StructPat out;
    out.path = name;
    const std::uint32_t close = buffer_.partner(pos_);
    bump();
    while (!check(T::CloseBrace) && !failed_) {
        const Attributes attributes = outer_attributes();
        if (at(T::DotDot) || at(T::DotDotDot)) {
            out.rest_span = span();
            out.has_rest = true;
            if (at(T::DotDotDot))
                error(span(), "expected field pattern, found `...`")
                    .suggest(span(), "..", "to omit remaining fields, use `..`",
                             Applicability::MachineApplicable);
            bump();
            if (!failed_ && !at(T::CloseBrace)) {
                error(span(), fmt::format("expected `}}`, found {}", describe_token()))
                    .label(out.rest_span, "`..` must be at the end and cannot have a trailing comma")
                    .label(span(), "expected `}`");
            }
            break;
        }
        ast::FieldPat field = field_pattern();
        field.attributes = attributes;
        if (field.name.name.valid()) {
            fields.push(field);
        } else {
            out.has_rest = true;   // whichever fields were meant: nothing is missing
        }
        if (failed_ || check(T::CloseBrace)) break;
        if (!eat(T::Comma)) {
            error(span(), "expected `,`")
                .label(start.to(prev_span_), "while parsing the fields for this pattern");
            fail();
        }
    }
    skip_to_close(close);
    out.fields = fields.finish();
    return make_pat(start, out);
}

// `name: pattern`, `0: pattern`, `ref mut name`, `name`
ast::FieldPat Parser::field_pattern() {
    ast::FieldPat field;
    const Span start = span();
    if ((lex::is_ident(kind_) || at(T::Integer)) && peek() == T::Colon) {
        field.name = take_ident();
        bump();
        field.pattern = pattern();
    } else {
        field.shorthand = true;
        const bool by_ref = eat(T::KwRef);
        const bool is_mut = eat(T::KwMut);
        ast::IdentPat binding{by_ref, by_ref && is_mut, !by_ref && is_mut, {}, {}};
        expect_ident(binding.ident);
        field.name = binding.ident;
        field.pattern = make_pat(start, binding);
    }
    field.span = from(start);
    return field;
}

PatId Parser::literal_or_range(Span start) {
    const ExprId value = negative_or_literal();
    if (at_range_operator() && !failed_) return range_rest(start, value);
    check(T::DotDot), check(T::DotDotEqual), check(T::DotDotDot);
    return make_pat(start, ast::LiteralPat{value});
}

bool Parser::at_range_end() const {
    return lex::is_literal(kind_) || at_any({T::Minus, T::KwTrue, T::KwFalse, T::OpenInvisible}) ||
           (at(T::KwConst) && peek() == T::OpenBrace) || at_path_start();
}

ExprId Parser::range_end() {
    const Span start = span();
    if (at(T::OpenInvisible)) {
        const std::uint32_t close = buffer_.partner(pos_);
        bump();
        const ExprId inner = range_end();
        if (!failed_ && pos_ != close) unexpected();
        skip_to_close(close);
        return inner;
    }
    if (at(T::KwConst)) {
        bump();
        const ExprId out = block_expr(ast::BlockKind::Const, false, {}, start);
        reject_const_block(start);
        return out;
    }
    if (at_path_start()) {
        const PathId name = path(PathStyle::Expr);
        return make_expr(start, ast::PathExpr{name});
    }
    return negative_or_literal();
}

// At `..`, `..=` or `...` behind `from` (or none).
PatId Parser::range_rest(Span start, ExprId from_expr) {
    ast::RangePat out;
    out.from = from_expr;
    const Span op = span();
    out.end = at(T::DotDot)        ? ast::RangeEnd::Exclusive
              : at(T::DotDotEqual) ? ast::RangeEnd::Inclusive
                                   : ast::RangeEnd::Obsolete;
    bump();
    if (at_range_end()) {
        out.to = range_end();
    } else if (out.end != ast::RangeEnd::Exclusive && !failed_) {
        error(Code::E0586, op, "inclusive range with no end")
            .suggest(op, "..", "use `..` instead")
            .note("inclusive ranges must be bounded at the end (`..=b` or `a..=b`)");
    }
    return make_pat(start, out);
}

}  // namespace ockc::parse
