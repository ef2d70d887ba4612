// Operands: literals, paths and what may follow them, parentheses, arrays, struct literals, jumps.
#include <fmt/format.h>

#include "parse/parser_impl.hpp"

namespace ockc::parse {

// `attributes` are those before the operand; a match adds the inner ones of its body.
ExprId Parser::primary(Attributes& attributes) {
    const Span start = span();
    if (lex::is_literal(kind_) || at(T::KwTrue) || at(T::KwFalse)) return literal();
    switch (kind_) {
        case T::OpenInvisible: {  // a fragment that a macro put in whole
            const std::uint32_t close = buffer_.partner(pos_);
            bump();
            const ExprId inner = expr();
            if (!failed_ && pos_ != close) unexpected();
            skip_to_close(close);
            const auto* as_path = ast::get_if<ast::PathExpr>(crate_[inner]);
            return as_path != nullptr ? after_path(as_path->path, start) : inner;
        }
        case T::OpenParen: return paren_expr();
        case T::OpenBracket: return bracket_expr();
        case T::OpenBrace: return block_expr(ast::BlockKind::Plain, false, {}, start);
        case T::Or:
        case T::OrOr: return closure();
        case T::Lifetime:
        case T::RawLifetime: return labelled();
        case T::Underscore: bump(); return make_expr(start, ast::UnderscoreExpr{});
        case T::Error: bump(); return make_expr(start, ast::ErrorExpr{});
        default: break;
    }
    if (lex::is_keyword(kind_)) {
        if (const ExprId out = keyword_expr(attributes); out.valid()) return out;
    }
    if (at_path_start()) return path_expr();
    if (!failed_) also(Expect::Operator);
    expected("expression");
    return error_expr();
}

ast::LiteralId Parser::literal_token() {
    ast::Literal out;
    out.span = span();
    if (at(T::KwTrue) || at(T::KwFalse)) {
        out.kind = lex::LiteralKind::Bool;
        out.value = at(T::KwTrue) ? 1 : 0;
        bump();
        return crate_.add(out);
    }
    const lex::DecodedLiteral decoded = lex::decode_literal(kind_, token_text());
    out.kind = decoded.kind;
    out.error = decoded.error;
    out.value = decoded.value;
    const bool has_text = decoded.kind != lex::LiteralKind::Integer &&
                          decoded.kind != lex::LiteralKind::Char && decoded.kind != lex::LiteralKind::Byte;
    if (has_text) out.text = intern(decoded.text);
    if (!decoded.suffix.empty()) out.suffix = intern(decoded.suffix);
    bump();
    return crate_.add(out);
}

ExprId Parser::literal() {
    const Span start = span();
    const ast::LiteralId value = literal_token();
    return make_expr(start, ast::LiteralExpr{value});
}

// `1`, `-1`, `true`
ExprId Parser::negative_or_literal() {
    const Span start = span();
    if (at(T::Minus)) {
        bump();
        const ExprId operand = negative_or_literal();
        return make_expr(start, ast::UnaryExpr{ast::UnaryOp::Neg, operand});
    }
    if (at(T::OpenInvisible)) {
        const std::uint32_t close = buffer_.partner(pos_);
        bump();
        const ExprId inner = negative_or_literal();
        skip_to_close(close);
        return inner;
    }
    if (lex::is_literal(kind_) || at(T::KwTrue) || at(T::KwFalse)) return literal();
    expected("literal");
    return error_expr();
}

// `(a)`, `()`, `(a,)`, `(a, b)`
ExprId Parser::paren_expr() {
    const Span start = span();
    Scratch<ExprId> list(*this);
    const bool trailing = comma_list(T::CloseParen, [&] { list.push(expr()); });
    if (list.size() == 1 && !trailing) return make_expr(start, ast::ParenExpr{list.back()});
    return make_expr(start, ast::TupleExpr{list.finish()});
}

// `[]`, `[a, b]`, `[a; n]`
ExprId Parser::bracket_expr() {
    const Span start = span();
    const std::uint32_t close = buffer_.partner(pos_);
    Scratch<ExprId> list(*this);
    ExprId count;
    bump();
    while (!check(T::CloseBracket) && !failed_) {
        list.push(expr());
        if (failed_ || check(T::CloseBracket)) break;
        if (list.size() == 1 && eat(T::Semi)) {
            count = expr();
            if (!failed_ && !check(T::CloseBracket)) unexpected();
            break;
        }
        if (!eat(T::Comma)) {
            unexpected();
            break;
        }
    }
    skip_to_close(close);
    if (count.valid()) return make_expr(start, ast::RepeatExpr{list.back(), count});
    return make_expr(start, ast::ArrayExpr{list.finish()});
}

ExprId Parser::path_expr() {
    const Span start = span();
    const PathId name = path(PathStyle::Expr);
    if (failed_) return make_expr(start, ast::ErrorExpr{});
    return after_path(name, start);
}

ExprId Parser::after_path(PathId name, Span start) {
    if (check(T::Not) && !crate_[name].qself.valid()) {
        const ast::MacroCallId call = macro_call(name, start);
        return make_expr(start, ast::MacroExpr{call});
    }
    if (check(T::OpenBrace) && struct_literal_follows()) return struct_literal(name, start);
    return make_expr(start, ast::PathExpr{name});
}

// At `{` behind a path. Where struct literals are not allowed, `{ name, ` and `{ name: ` can still be nothing
// else.
bool Parser::struct_literal_follows() {
    if (!restrictions_.no_struct) return true;
    const bool short_value = peek(4) == T::Comma || peek(5) == T::Comma || peek(4) == T::CloseBrace;
    if (!lex::is_ident(peek()) || !(peek(2) == T::Comma || (peek(2) == T::Colon && short_value)))
        return false;
    const std::uint32_t close = buffer_.partner(pos_);
    const Span whole = prev_span_.file == span().file ? prev_span_.to(buffer_.span(close)) : span();
    error(whole, "struct literals are not allowed here")
        .suggest(whole, "(" + std::string(context_.sources.text(whole)) + ")",
                 "surround the struct literal with parentheses", Applicability::MachineApplicable);
    return true;
}

ExprId Parser::struct_literal(PathId name, Span start) {
    With with(*this, {});
    Scratch<ast::FieldInit> fields(*this);
    ast::StructExpr out;
    out.path = name;
    const std::uint32_t close = buffer_.partner(pos_);
    bump();
    while (!check(T::CloseBrace) && !failed_) {
        const Attributes attributes = outer_attributes();
        if (at(T::CloseBrace)) {
            reject_dangling(attributes, "field");
            break;
        }
        if (eat(T::DotDot)) {
            const Span dots = prev_span_;
            out.rest = at(T::CloseBrace) ? ast::StructRest::Rest : ast::StructRest::Base;
            if (out.rest == ast::StructRest::Base) out.base = expr();
            if (at(T::Comma)) {
                error(dots.to(prev_span_), "cannot use a comma after the base struct")
                    .suggest(span(), "", "remove this comma", Applicability::MachineApplicable)
                    .note("the base struct must always be the last field");
                bump();
            }
            if (!failed_ && !check(T::CloseBrace)) unexpected();
            break;
        }
        ast::FieldInit field = field_init();
        field.attributes = attributes;
        if (field.name.name.valid()) fields.push(field);   // what has no name is no field
        if (failed_ || check(T::CloseBrace)) break;
        if (!eat(T::Comma)) unexpected();
    }
    skip_to_close(close);
    out.fields = fields.finish();
    return make_expr(start, out);
}

// `name: value`, `0: value`, `name`
ast::FieldInit Parser::field_init() {
    ast::FieldInit field;
    const Span start = span();
    if ((lex::is_ident(kind_) || at(T::Integer)) && (peek() == T::Colon || peek() == T::Equal)) {
        field.name = take_ident();
        if (at(T::Equal)) {
            error(span(), "expected `:`, found `=`")
                .suggest(start.to(span()).after(), ":", "replace equals symbol with a colon",
                         Applicability::MachineApplicable);
        }
        bump();
        field.value = expr();
    } else {
        field.shorthand = true;
        if (!expect_ident(field.name)) {
            field.span = from(start);
            field.value = error_expr();
            return field;
        }
        if (!at(T::Comma) && !at(T::CloseBrace)) check(T::Colon);
        ast::PathSegment segment;
        segment.ident = field.name;
        ast::Path name;
        name.span = start;
        name.segments = crate_.list({segment});
        field.value = make_expr(start, ast::PathExpr{crate_.add(name)});
    }
    field.span = from(start);
    return field;
}

// `return` and `break` take an expression when one can start here.
ExprId Parser::jump_value() {
    if (!at_expr_start()) return {};
    return expr();
}

ExprId Parser::break_expr() {
    const Span start = span();
    bump();
    ast::BreakExpr out;
    const bool labelled_value = lex::is_lifetime(kind_) && peek() == T::Colon;
    if (lex::is_lifetime(kind_) && !labelled_value) out.label = take_ident();
    if (out.label.valid()) check_lifetime_name(out.label, "labels");
    if (labelled_value) {
        const Span value_start = span();
        out.value = labelled();
        error(from(value_start),
              "parentheses are required around this expression to avoid confusion with a labeled break "
              "expression")
            .suggest(from(value_start), "(" + std::string(context_.sources.text(from(value_start))) + ")",
                     "wrap the expression in parentheses", Applicability::MachineApplicable);
    } else if (!(at(T::OpenBrace) && restrictions_.no_struct)) {
        out.value = jump_value();
    }
    return make_expr(start, out);
}

ExprId Parser::let_expr() {
    const Span start = span();
    if (!restrictions_.allow_let) {
        error(start, "expected expression, found `let` statement")
            .note("only supported directly in conditions of `if` and `while` expressions");
    }
    bump();
    ast::LetExpr out;
    out.pattern = pattern();
    if (!failed_ && at(T::EqualEqual)) {
        error(span(), "unexpected `==`")
            .suggest(span(), "=", "try using `=` instead", Applicability::MachineApplicable);
        bump();
    } else {
        expect(T::Equal);
    }
    Restrictions inner = restrictions_;
    inner.allow_let = inner.statement = false;
    With with(*this, inner);
    // Everything that binds tighter than `&&`.
    out.value = expr_assoc(Precedence::Compare, outer_attributes());
    return make_expr(start, out);
}

}  // namespace ockc::parse
