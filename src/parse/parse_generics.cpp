// Generic parameters, bounds and where clauses.
//
//     generics = "<" ( lifetime ( ":" lifetimes )? | ident ( ":" bounds )? ( "=" type )? | "const" ident ":"
//     type ( "=" const )? ) ,* ">" bound    = lifetime | "(" bound ")" | "use" "<" names ">" | for? ( "?" |
//     "!" | "~"? "const" | "[" "const" "]" | "async" )? for? path where    = "where" ( lifetime ":" lifetimes
//     | for? type ":" bounds ) ,*
#include <fmt/format.h>

#include "parse/parser_impl.hpp"

namespace ockc::parse {

GenericsId Parser::generics() {
    ast::Generics out;
    const Span start = span();
    out.span = prev_span_.after();
    out.where_span = out.span;
    if (check(T::Less) || at(T::LessLess)) {
        out.params = generic_params();
        out.span = from(start);
    }
    return add_generics(out);
}

// At `<`.
List<ast::GenericParam> Parser::generic_params() {
    Nested nested(*this);
    With with(*this, {});
    Scratch<ast::GenericParam> params(*this);
    eat_first(T::Less);
    while (!at_first(T::Greater) && !failed_) {
        const ast::GenericParam param = generic_param(params.size() == 0);
        if (param.ident.name.valid()) params.push(param);   // what has no name was reported
        if (failed_ || !eat(T::Comma)) break;
    }
    if (!failed_ && !eat_first(T::Greater)) {
        check(T::Comma);
        unexpected();
    }
    return params.finish();
}

ast::GenericParam Parser::generic_param(bool first) {
    ast::GenericParam param;
    param.attributes = outer_attributes();
    const Span start = span();
    if (lex::is_lifetime(kind_)) {
        param.kind = ast::GenericParamKind::Lifetime;
        param.ident = take_ident();
        check_lifetime_name(param.ident, "lifetimes");
        if (eat(T::Colon)) param.bounds = bounds();
    } else if (eat(T::KwConst)) {
        param.kind = ast::GenericParamKind::Const;
        if (expect_ident(param.ident) && expect(T::Colon)) {
            param.type = type();
            if (eat(T::Equal)) {
                if (at_const_arg()) {
                    param.value = const_arg();
                } else if (!at_path_start()) {
                    expected("expression");
                } else {
                    const Span value_start = span();
                    const PathId value = path(PathStyle::Expr);
                    param.value = make_expr(value_start, ast::PathExpr{value});
                }
            }
        }
        if (!param.type.valid()) param.type = make_type(span(), ast::ErrorType{});
    } else if (lex::is_ident(kind_)) {
        param.kind = ast::GenericParamKind::Type;
        param.ident = take_ident();
        if (eat(T::Colon)) param.bounds = bounds();
        if (eat_first(T::Equal)) param.type = type();
    } else {
        check(T::Greater);
        check(T::KwConst);
        also(Expect::Ident);
        also(Expect::Lifetime);
        if (!failed_ && !param.attributes.empty()) {
            error(crate_[param.attributes.back()].span, first ? "attribute without generic parameters"
                                                              : "trailing attribute after generic parameter")
                .label(crate_[param.attributes.back()].span, "attributes must go before parameters");
        }
        unexpected();
    }
    param.span = from(start);
    return param;
}

List<ast::GenericParam> Parser::for_binder() {
    if (!eat(T::KwFor)) return {};
    if (!at_first(T::Less)) {
        expect(T::Less);
        return {};
    }
    return generic_params();
}

bool Parser::at_bound() const {
    if (lex::is_lifetime(kind_) ||
        at_any({T::Question, T::Tilde, T::Not, T::KwFor, T::OpenParen, T::KwConst, T::KwAsync, T::KwUse}))
        return true;
    if (at(T::OpenBracket)) return peek() == T::KwConst && peek(2) == T::CloseBracket;
    return at_path_start() || at(T::OpenInvisible);
}

List<ast::Bound> Parser::bounds(AllowPlus plus) {
    Scratch<ast::Bound> list(*this);
    const Span start = span();
    while (at_bound() && !failed_) {
        list.push(bound());
        if (plus == AllowPlus::No) {
            if (!at(T::Plus) || failed_) break;
            while (eat(T::Plus) && at_bound())
                list.push(bound());
            error(from(start), "ambiguous `+` in a type")
                .suggest(from(start), "(" + std::string(context_.sources.text(from(start))) + ")",
                         "use parentheses to disambiguate", Applicability::MachineApplicable);
            break;
        }
        if (!eat_first(T::Plus)) break;  // `T: A +=` has the first half
    }
    return list.finish();
}

// `first + ..`
List<ast::Bound> Parser::more_bounds(ast::Bound first) {
    Scratch<ast::Bound> list(*this);
    list.push(first);
    while (eat(T::Plus) && at_bound())
        list.push(bound());
    return list.finish();
}

ast::Bound Parser::bound() {
    const Span start = span();
    if (lex::is_lifetime(kind_)) {
        ast::Bound out;
        out.kind = ast::BoundKind::Outlives;
        out.lifetime = take_ident();
        check_lifetime_name(out.lifetime, "lifetimes");
        out.span = start;
        return out;
    }
    if (at(T::KwUse)) return use_bound();
    if (!at(T::OpenParen)) return trait_bound();
    Nested nested(*this);
    const std::uint32_t close = buffer_.partner(pos_);
    bump();
    ast::Bound out = bound();
    if (!failed_ && out.kind == ast::BoundKind::Outlives) {
        error(out.span, "parenthesized lifetime bounds are not supported");
    }
    if (!check(T::CloseParen)) unexpected();
    skip_to_close(close);
    out.span = from(start);
    return out;
}

ast::Bound Parser::trait_bound() {
    ast::Bound out;
    const Span start = span();
    if (at(T::KwFor)) out.for_params = for_binder();
    if (eat(T::Question)) {
        out.modifier = ast::BoundModifier::Maybe;
    } else if (eat(T::Not)) {
        out.modifier = ast::BoundModifier::Negative;
    } else if (eat(T::Tilde)) {
        out.modifier = ast::BoundModifier::MaybeConst;
        expect(T::KwConst);
    } else if (at(T::OpenBracket)) {
        bump(), bump(), bump();
        out.modifier = ast::BoundModifier::MaybeConst;
    } else if (eat(T::KwConst)) {
        out.modifier = ast::BoundModifier::Const;
    } else if (eat(T::KwAsync)) {
        out.modifier = ast::BoundModifier::Async;
    }
    if (at(T::KwFor)) {
        if (out.modifier != ast::BoundModifier::None) {
            error(span(), "`for<...>` binder should be placed before trait bound modifiers");
        }
        out.for_params = for_binder();
    }
    if (lex::is_lifetime(kind_)) {
        error(span(), "`?` may only modify trait bounds, not lifetime bounds");
        out.kind = ast::BoundKind::Outlives;
        out.lifetime = take_ident();
    } else {
        out.path = path(PathStyle::Type);
    }
    out.span = from(start);
    return out;
}

// `use<'a, T, Self>`: what an `impl Trait` captures.
ast::Bound Parser::use_bound() {
    ast::Bound out;
    out.kind = ast::BoundKind::Use;
    const Span start = span();
    bump();
    Scratch<ast::PathSegment> captures(*this);
    if (expect_first(T::Less)) {
        while (!at_first(T::Greater) && !failed_) {
            ast::PathSegment segment;
            if (lex::is_lifetime(kind_)) {
                segment.ident = take_ident();
            } else if (at(T::KwSelfType)) {
                segment.kind = ast::SegmentKind::SelfType;
                segment.ident = take_ident();
            } else {
                also(Expect::Lifetime);
                expect_ident(segment.ident);
            }
            captures.push(segment);
            if (failed_ || !eat(T::Comma)) break;
        }
        if (!failed_ && !eat_first(T::Greater)) unexpected();
    }
    out.captures = captures.finish();
    out.span = from(start);
    return out;
}

// Adds the predicates of a where clause (when there is one) to `generics`.
void Parser::where_clause(ast::Generics& generics) {
    if (!eat(T::KwWhere)) return;
    const Span start = prev_span_;
    Scratch<ast::WherePredicate> list(*this);
    for (const ast::WherePredicate& earlier : generics.predicates)
        list.push(earlier);
    if (at_first(T::Less) && at_impl_generics()) {
        error(span(), "generic parameters on `where` clauses are reserved for future use")
            .label(span(), "currently unsupported");
        fail();
        return;
    }
    while (!failed_) {
        ast::WherePredicate predicate;
        predicate.attributes = outer_attributes();
        const Span predicate_start = span();
        if (lex::is_lifetime(kind_) && peek() != T::Plus) {
            predicate.lifetime = take_ident();
            if (expect(T::Colon)) predicate.bounds = bounds();
        } else if (at(T::KwFor) ||
                   at_any({T::OpenParen, T::OpenBracket, T::Star, T::And, T::AndAnd, T::Not, T::Underscore,
                           T::OpenInvisible, T::KwDyn, T::KwImpl, T::Question, T::KwFn, T::KwUnsafe,
                           T::KwExtern}) ||
                   at_path_start()) {
            if (at(T::KwFor)) predicate.for_params = for_binder();
            predicate.type = type();
            if (at(T::EqualEqual) || at(T::Equal)) {  // refused by validation, as in rustc
                bump();
                predicate.equal_type = type();
            } else if (expect(T::Colon)) {
                predicate.bounds = bounds();
            }
        } else {
            reject_dangling(predicate.attributes, "where clause");
            break;
        }
        predicate.span = from(predicate_start);
        list.push(predicate);
        if (failed_ || !eat(T::Comma)) break;
    }
    generics.predicates = list.finish();
    generics.where_span = from(start);
}

}  // namespace ockc::parse
