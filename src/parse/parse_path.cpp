// Paths and generic arguments.
//
//     path           = ( "<" type ( "as" path )? ">" "::" | "::" )? segment ( "::" segment )*
//     segment        = ( ident | "self" | "Self" | "super" | "crate" ) ( "::"? "<" args ">" | "(" types ")" (
//     "->" type )? )? args           = ( lifetime | type | const | ident args? ( "=" ( type | const ) | ":"
//     bounds ) ) ,*
#include <fmt/format.h>

#include "parse/parser_impl.hpp"

namespace ockc::parse {

bool Parser::at_path_start() const {
    return lex::is_ident(kind_) || at_any({T::KwSelfValue, T::KwSelfType, T::KwSuper, T::KwCrate,
                                           T::DollarCrate, T::PathSep, T::Less, T::LessLess});
}

PathId Parser::path(PathStyle style) {
    if (at(T::OpenInvisible)) {  // a `$p:path` fragment
        const std::uint32_t close = buffer_.partner(pos_);
        bump();
        const PathId inner = path(style);
        if (!failed_ && pos_ != close) unexpected();
        skip_to_close(close);
        return inner;
    }
    if (style != PathStyle::Mod && (at(T::Less) || at(T::LessLess))) return qualified_path(style);
    ast::Path out;
    const Span start = span();
    Scratch<ast::PathSegment> segments(*this);
    out.global = at(T::PathSep);
    if (out.global) bump();
    for (;;) {
        ast::PathSegment segment;
        if (!path_segment(style, segment)) break;
        segments.push(segment);
        // A use tree takes the `::` before its braces or star.
        if (!check(T::PathSep) || (style == PathStyle::Mod && (peek() == T::OpenBrace || peek() == T::Star)))
            break;
        bump();
    }
    out.segments = segments.finish();
    out.span = from(start);
    return crate_.add(out);
}

// `<T>::a`, `<T as Trait>::a`
PathId Parser::qualified_path(PathStyle style) {
    Nested nested(*this);
    ast::Path out;
    const Span start = span();
    Scratch<ast::PathSegment> segments(*this);
    eat_first(T::Less);
    out.qself = type();
    if (eat(T::KwAs)) {
        const PathId trait_path = path(PathStyle::Type);
        for (const ast::PathSegment& segment : crate_[trait_path].segments)
            segments.push(segment);
        out.global = crate_[trait_path].global;
    }
    out.qself_position = static_cast<std::uint32_t>(segments.size());
    if (expect_first(T::Greater) && expect(T::PathSep)) {
        for (;;) {
            ast::PathSegment segment;
            if (!path_segment(style, segment)) break;
            segments.push(segment);
            if (!eat(T::PathSep)) break;
        }
    }
    out.segments = segments.finish();
    out.span = from(start);
    return crate_.add(out);
}

namespace {

ast::SegmentKind segment_kind(TokenKind kind) {
    if (kind == T::KwSelfValue) return ast::SegmentKind::SelfValue;
    if (kind == T::KwSelfType) return ast::SegmentKind::SelfType;
    if (kind == T::KwSuper) return ast::SegmentKind::Super;
    if (kind == T::KwCrate) return ast::SegmentKind::Crate;
    if (kind == T::DollarCrate) return ast::SegmentKind::DollarCrate;
    return ast::SegmentKind::Name;
}

}  // namespace

bool Parser::path_segment(PathStyle style, ast::PathSegment& segment) {
    segment.kind = segment_kind(kind_);
    if (segment.kind != ast::SegmentKind::Name) {
        segment.ident = take_ident();
    } else if (!expect_ident(segment.ident)) {
        return false;
    }
    if (style == PathStyle::Mod) return true;
    const bool angle = at_first(T::Less) && !at(T::LessEqual) && !at(T::LessLessEqual);
    const bool separated =
        at(T::PathSep) && (peek() == T::Less || peek() == T::LessLess || peek() == T::LeftArrow || peek() == T::OpenParen);
    if (style == PathStyle::Type ? !(angle || at(T::OpenParen) || separated) : !separated) {
        check(T::PathSep);
        if (style == PathStyle::Type) check(T::Less), check(T::OpenParen);
        return true;
    }
    if (separated) bump();
    if (at(T::OpenParen)) {
        segment.args = paren_args();
    } else {
        segment.args = angle_args();
    }
    return !failed_;
}

ast::GenericArgsId Parser::angle_args() {
    Nested nested(*this);
    With with(*this, {});
    ast::GenericArgs out;
    const Span start = span();
    Scratch<ast::GenericArg> args(*this);
    eat_first(T::Less);
    while (!at_first(T::Greater) && !failed_) {
        args.push(generic_arg());
        if (failed_ || !eat(T::Comma)) break;
    }
    if (!failed_ && !eat_first(T::Greater)) {
        if (args.size() != 0 &&
            at_any({T::Plus, T::Minus, T::Star, T::Slash, T::Percent, T::And, T::Or, T::Caret})) {
            error(args.back().span.to(span()),
                  "expressions must be enclosed in braces to be used as const generic arguments")
                .help("enclose the `const` expression in braces: `{ .. }`");
            fail();
        }
        check(T::Comma);
        unexpected();
    }
    out.args = args.finish();
    out.span = from(start);
    return crate_.add(out);
}

// `Fn(A, B) -> C`, and `method(..)` of return type notation.
ast::GenericArgsId Parser::paren_args() {
    Nested nested(*this);
    With with(*this, {});
    ast::GenericArgs out;
    out.form = ast::ArgsForm::Paren;
    const Span start = span();
    if (peek() == T::DotDot && peek(2) == T::CloseParen) {
        out.form = ast::ArgsForm::ReturnNotation;
        bump(), bump(), bump();
        out.span = from(start);
        return crate_.add(out);
    }
    Scratch<ast::GenericArg> args(*this);
    comma_list(T::CloseParen, [&] {
        const Span arg_start = span();
        if (lex::is_lifetime(kind_) && peek() != T::Plus) return expected("type");
        const TypeId arg = type();
        args.push({from(arg_start), ast::TypeGenericArg{arg}});
    });
    out.args = args.finish();
    out.output = return_type(AllowPlus::No);
    out.span = from(start);
    return crate_.add(out);
}

bool Parser::at_const_arg() const {
    return at(T::OpenBrace) || lex::is_literal(kind_) || at_any({T::KwTrue, T::KwFalse, T::Minus});
}

// `{ expr }`, a literal or a negative literal.
ExprId Parser::const_arg() {
    if (!at(T::OpenBrace)) return negative_or_literal();
    return block_expr(ast::BlockKind::Plain, false, {}, span());
}

ast::GenericArg Parser::generic_arg() {
    const Span start = span();
    if (lex::is_lifetime(kind_) && peek() != T::Plus) {
        const Ident lifetime = take_ident();
        check_lifetime_name(lifetime, "lifetimes");
        return {from(start), ast::LifetimeGenericArg{lifetime}};
    }
    if (at_const_arg()) {
        const ExprId value = const_arg();
        return {from(start), ast::ConstGenericArg{value}};
    }
    const bool starts_type = at_path_start() || at_bound() || at_fn_pointer() ||
                             at_any({T::OpenParen, T::OpenBracket, T::Star, T::And, T::AndAnd, T::Underscore,
                                     T::KwImpl, T::KwDyn, T::DotDotDot, T::KwTypeof});
    if (!starts_type) {
        check(T::Greater);
        also(Expect::Const), also(Expect::Lifetime), also(Expect::Type);
        unexpected();
    }
    const TypeId arg = type();
    if (check(T::Colon) || check(T::Equal) || at(T::EqualEqual)) return constraint(start, arg);
    return {from(start), ast::TypeGenericArg{arg}};
}

// `Name = type`, `Name<..>: Bounds`: what was read as a type is the name of an associated item.
ast::GenericArg Parser::constraint(Span start, TypeId name_type) {
    const auto* as_path = ast::get_if<ast::PathType>(crate_[name_type]);
    const ast::Path* name_path = as_path != nullptr ? &crate_[as_path->path] : nullptr;
    if (name_path == nullptr || name_path->segments.size() != 1 || name_path->qself.valid() ||
        name_path->global) {
        unexpected();
        return {start, ast::TypeGenericArg{name_type}};
    }
    const ast::PathSegment segment = name_path->segments[0];
    if (eat(T::Colon)) {
        const List<ast::Bound> list = bounds();
        return {from(start), ast::BoundGenericArg{segment.ident, segment.args, list}};
    }
    ast::EqualGenericArg equal{segment.ident, segment.args, {}, {}};
    if (!expect_first(T::Equal)) return {start, equal};
    if (at_const_arg()) {
        equal.value = const_arg();
    } else if (at_first(T::Greater) || at(T::Comma)) {
        expected("type");
    } else if (lex::is_lifetime(kind_) && peek() != T::Plus) {
        error(span(), "lifetimes are not permitted in this context")
            .label(span(), "lifetime is not allowed here");
        bump();
    } else {
        equal.type = type();
    }
    return {from(start), equal};
}

}  // namespace ockc::parse
