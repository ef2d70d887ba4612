// Types.
//
//     type = "(" types ")" | "!" | "*" ( "const" | "mut" ) type | "[" type ( ";" expr )? "]" | "&" lifetime?
//     "mut"? type | "_"
//          | for? qualifiers "fn" "(" params ")" ( "->" type )? | "impl" bounds | "dyn" bounds | path | path
//          "!" group | bounds
#include <fmt/format.h>

#include "parse/parser_impl.hpp"

namespace ockc::parse {

TypeId Parser::type(AllowPlus plus) {
    Nested nested(*this);
    if (failed_) return crate_.add(ast::Type{span(), ast::ErrorType{}});
    const TypeId out = type_inner(plus);
    if (plus == AllowPlus::Yes && at(T::Plus) && !failed_) reject_type_plus(out);
    return out;
}

TypeId Parser::type_inner(AllowPlus plus) {
    const Span start = span();
    switch (kind_) {
        case T::OpenInvisible: {
            const std::uint32_t close = buffer_.partner(pos_);
            bump();
            const TypeId inner = type();
            if (!failed_ && pos_ != close) unexpected();
            skip_to_close(close);
            return inner;
        }
        case T::OpenParen: return paren_type(plus);
        case T::Not: bump(); return make_type(start, ast::NeverType{});
        case T::Star: return pointer_type();
        case T::OpenBracket: return bracket_type();
        case T::And:
        case T::AndAnd: return reference_type();
        case T::Underscore: bump(); return make_type(start, ast::InferType{});
        case T::KwImpl: {
            bump();
            const List<ast::Bound> list = bounds(plus);
            return make_type(start, ast::ImplTraitType{list});
        }
        case T::KwDyn: {
            bump();
            const List<ast::Bound> list = bounds(plus);
            return make_type(start, ast::DynTraitType{false, list});
        }
        case T::KwTypeof: {
            bump();
            if (!check(T::OpenParen)) break;
            const std::uint32_t close = buffer_.partner(pos_);
            bump();
            With with(*this, {});
            expr();
            skip_to_close(close);
            error(Code::E0516, from(start), "`typeof` is a reserved keyword but unimplemented")
                .label(from(start), "reserved keyword");
            return make_type(start, ast::ErrorType{});
        }
        case T::DotDotDot:
            error(Code::E0743, start, "C-variadic type `...` may not be nested inside another type");
            bump();
            return make_type(start, ast::ErrorType{});
        case T::KwFor: return for_type(plus);
        case T::Question:
        case T::Lifetime:
        case T::RawLifetime: return bare_bounds_type(start, {}, plus);
        default: break;
    }
    if (at_fn_pointer()) return fn_pointer_type(start, {});
    if (at_path_start()) return path_type(plus);
    also(Expect::Type);
    expected("type");
    return crate_.add(ast::Type{start, ast::ErrorType{}});
}

// `(A)`, `(A,)`, `(A, B)`; `(Trait) + Bound` is a bare trait object.
TypeId Parser::paren_type(AllowPlus plus) {
    const Span start = span();
    Scratch<TypeId> elements(*this);
    const bool trailing = comma_list(T::CloseParen, [&] { elements.push(type()); });
    if (elements.size() != 1 || trailing) return make_type(start, ast::TupleType{elements.finish()});
    const TypeId inner = elements.back();
    const auto* as_path = ast::get_if<ast::PathType>(crate_[inner]);
    if (plus == AllowPlus::Yes && at(T::Plus) && as_path != nullptr) {
        ast::Bound bound;
        bound.span = from(start);
        bound.path = as_path->path;
        return bare_bounds_type(start, crate_.list({bound}), plus);
    }
    return make_type(start, ast::ParenType{inner});
}

TypeId Parser::bracket_type() {
    const Span start = span();
    const std::uint32_t close = buffer_.partner(pos_);
    bump();
    const TypeId element = type();
    if (eat(T::Semi)) {
        With with(*this, {});
        const ExprId length = expr();
        if (!check(T::CloseBracket)) unexpected();
        skip_to_close(close);
        return make_type(start, ast::ArrayType{element, length});
    }
    if (!check(T::CloseBracket)) unexpected();
    skip_to_close(close);
    return make_type(start, ast::SliceType{element});
}

TypeId Parser::reference_type() {
    const Span start = span();
    eat_first(T::And);
    if (at(T::And)) {  // `&&T`: the second half of the token
        Nested nested(*this);
        const TypeId inner = reference_type();
        return make_type(start, ast::ReferenceType{{}, false, inner});
    }
    ast::ReferenceType reference;
    if (lex::is_lifetime(kind_)) {
        reference.lifetime = take_ident();
        check_lifetime_name(reference.lifetime, "lifetimes");
    }
    reference.is_mut = eat(T::KwMut);
    reference.inner = type(AllowPlus::No);
    return make_type(start, reference);
}

TypeId Parser::pointer_type() {
    const Span start = span();
    bump();
    const bool is_mut = at(T::KwMut);
    if (!eat(T::KwMut) && !eat(T::KwConst)) {
        error(span(), fmt::format("expected `mut` or `const` keyword in raw pointer type"))
            .suggest(span().start(), "const ", "add `mut` or `const` here", Applicability::HasPlaceholders);
    }
    const TypeId inner = type(AllowPlus::No);
    return make_type(start, ast::PointerType{is_mut, inner});
}

// Qualifiers and then `fn`.
bool Parser::at_fn_pointer() const {
    std::uint32_t i = 0;
    for (; i < 7; ++i) {
        const TokenKind k = i == 0 ? kind_ : peek(i);
        if (k == T::KwFn) return true;
        const bool abi =
            i > 0 && (k == T::String || k == T::RawString) && (i == 1 ? kind_ : peek(i - 1)) == T::KwExtern;
        if (!abi && k != T::KwUnsafe && k != T::KwExtern && k != T::KwConst && k != T::KwAsync &&
            k != T::KwSafe)
            return false;
    }
    return false;
}

TypeId Parser::fn_pointer_type(Span start, List<ast::GenericParam> for_params) {
    ast::FnPointerType out;
    out.for_params = for_params;
    out.header = fn_header();
    if (out.header.is_const)
        error(out.header.span, "an `fn` pointer type cannot be `const`")
            .label(out.header.span, "`const` because of this");
    if (out.header.is_async)
        error(out.header.span, "an `fn` pointer type cannot be `async`")
            .label(out.header.span, "`async` because of this");
    if (!expect(T::KwFn)) return make_type(start, ast::ErrorType{});
    if (!at(T::OpenParen)) {
        missing_function_params();
        return make_type(start, ast::ErrorType{});
    }
    Scratch<ast::Param> params(*this);
    comma_list(T::CloseParen, [&] { params.push(fn_param(ParamNames::Optional)); });
    out.params = params.finish();
    out.output = return_type(AllowPlus::No);
    return make_type(start, out);
}

// `for<'a> fn(..)` or `for<'a> Trait`.
TypeId Parser::for_type(AllowPlus plus) {
    const Span start = span();
    const List<ast::GenericParam> params = for_binder();
    if (at_fn_pointer()) return fn_pointer_type(start, params);
    ast::Bound first;
    first.for_params = params;
    first.path = path(PathStyle::Type);
    first.span = from(start);
    return bare_bounds_type(start, crate_.list({first}), plus);
}

TypeId Parser::path_type(AllowPlus plus) {
    const Span start = span();
    const PathId type_path = path(PathStyle::Type);
    if (check(T::Not) && !failed_) {
        const ast::MacroCallId call = macro_call(type_path, start);
        return make_type(start, ast::MacroType{call});
    }
    if (plus == AllowPlus::Yes && check(T::Plus)) {
        ast::Bound first;
        first.path = type_path;
        first.span = from(start);
        return bare_bounds_type(start, crate_.list({first}), plus);
    }
    return make_type(start, ast::PathType{type_path});
}

// `&T + Send`: only paths can be followed by `+`.
void Parser::reject_type_plus(TypeId left) {
    const Span start = crate_[left].span;
    const bool is_path = ast::get_if<ast::PathType>(crate_[left]) != nullptr ||
                         ast::get_if<ast::DynTraitType>(crate_[left]) != nullptr ||
                         ast::get_if<ast::ImplTraitType>(crate_[left]) != nullptr;
    if (is_path) return;
    bump();
    bounds();
    error(Code::E0178, from(start), "expected a path on the left-hand side of `+`")
        .label(from(start), "expected a path");
}

// A trait object without `dyn`; name resolution refuses it (E0782) where it is used.
TypeId Parser::bare_bounds_type(Span start, List<ast::Bound> first, AllowPlus plus) {
    List<ast::Bound> all = first;
    if (first.empty()) {
        all = bounds(plus);
    } else if (plus == AllowPlus::Yes && at(T::Plus)) {
        all = more_bounds(first[0]);
    }
    return make_type(start, ast::DynTraitType{true, all});
}

TypeId Parser::return_type(AllowPlus plus) {
    if (!eat(T::Arrow)) return {};
    return type(plus);
}

}  // namespace ockc::parse
