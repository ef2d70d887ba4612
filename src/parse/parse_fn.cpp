// Functions.
//
//     fn     = "const"? "async"? ( "unsafe" | "safe" )? ( "extern" string? )? "fn" ident generics "(" params
//     ")" ( "->" type )? where? ( block | ";" ) params = self ( "," param )* | param ,* self   = ( "&"
//     lifetime? )? "mut"? "self" | "mut"? "self" ":" type param  = attribute* ( pattern ":" ( type | "..." )
//     | "..." )
#include <fmt/format.h>

#include "parse/parser_impl.hpp"

namespace ockc::parse {

// Qualifiers up to `fn`, in the order that Rust fixes.
ast::FnHeader Parser::fn_header() {
    ast::FnHeader out;
    const Span start = span();
    int stage = 0;  // const 1, async 2, unsafe/safe 3, extern 4
    while (!at(T::KwFn) && !failed_) {
        const int now = at(T::KwConst)                       ? 1
                        : at(T::KwAsync)                     ? 2
                        : (at(T::KwUnsafe) || at(T::KwSafe)) ? 3
                        : at(T::KwExtern)                    ? 4
                                                             : 0;
        if (now == 0) break;
        if (now <= stage) {
            static constexpr TokenKind kLater[] = {T::KwConst, T::KwAsync, T::KwUnsafe, T::KwExtern};
            for (int i = stage; i < 4; ++i)
                check(kLater[i]);
            check(T::KwFn);
            unexpected();
            break;
        }
        stage = now;
        if (now == 1) out.is_const = true;
        if (now == 2) out.is_async = true;
        if (now == 3) out.safety = at(T::KwUnsafe) ? ast::Safety::Unsafe : ast::Safety::Safe;
        bump();
        if (now != 4) continue;
        out.is_extern = true;
        if (at(T::String) || at(T::RawString)) out.abi = crate_[literal_token()].text;
    }
    out.span = start == span() ? start.start() : from(start);
    return out;
}

void Parser::fn_item(ast::Item& item, ItemPlace place, bool is_default) {
    ast::FnItem out;
    out.is_default = is_default;
    ast::FnDecl decl;
    const Span start = span();
    decl.header = fn_header();
    if (!expect(T::KwFn)) return;
    if (!expect_ident(item.ident)) return;
    decl.generics = generics();
    if (at(T::OpenParen)) {
        fn_params(decl, ParamNames::Required);
    } else {
        missing_function_params();
    }
    if (at(T::Colon) && !failed_) {
        error(span(), "return types are denoted using `->`")
            .suggest(span(), "->", "use `->` instead", Applicability::MachineApplicable);
        bump();
        decl.output = type();
    } else {
        decl.output = return_type();
    }
    where_into(decl.generics);
    decl.span = from(start);
    out.decl = crate_.add(decl);
    item.data = out;
    if (failed_) return;
    if (at(T::Equal) && peek() == T::OpenBrace) {
        error(span(), "function body cannot be `= expression;`").help("remove the `=`");
        bump();
    }
    const bool may_lack_body = place == ItemPlace::Trait || place == ItemPlace::ExternBlock;
    if (may_lack_body ? check(T::Semi) : at(T::Semi)) return bump();
    check(T::KwWhere);
    if (!check(T::OpenBrace)) {
        if (!decl.output.valid()) check(T::Arrow);
        return may_lack_body ? expect_semi() : unexpected();
    }
    if (context_.options.skip_bodies) return rewind(buffer_.partner(pos_) + 1);
    out.body = block();
    item.data = out;
}

// `fn name {..}`: read on as if `()` stood there.
void Parser::missing_function_params() {
    if (failed_) return;
    error(prev_span_.after(), "missing parameters for function definition")
        .suggest(prev_span_.after(), "()", "add a parameter list", Applicability::MachineApplicable);
    if (!at(T::OpenBrace) && !at(T::Arrow) && !at(T::Semi)) fail();
}

void Parser::fn_params(ast::FnDecl& decl, ParamNames names) {
    Scratch<ast::Param> params(*this);
    bool first = true;
    comma_list(T::CloseParen, [&] {
        const bool maybe_self = first;
        first = false;
        const Attributes attributes = outer_attributes();
        if (maybe_self && self_param(decl.self_param)) {
            decl.self_param.attributes = attributes;
            return;
        }
        ast::SelfParam misplaced;
        if (!maybe_self && self_param(misplaced)) {
            error(misplaced.span, "unexpected `self` parameter in function")
                .label(misplaced.span, "must be the first parameter of an associated function");
            return;
        }
        ast::Param param = fn_param(names);
        param.attributes = join(attributes, param.attributes);
        params.push(param);
    });
    decl.params = params.finish();
}

// `self`, `mut self`, `&self`, `&'a mut self`, `self: T`; false (and nothing taken) when the parameter is
// none of these.
bool Parser::self_param(ast::SelfParam& self) {
    const Span start = span();
    std::uint32_t i = 0;  // tokens before `self`
    const auto token = [&](std::uint32_t ahead) { return ahead == 0 ? kind_ : peek(ahead); };
    const bool reference = at(T::And);
    if (reference) {
        ++i;
        if (lex::is_lifetime(token(i))) ++i;
    } else if (at(T::Star) &&
               ((peek() == T::KwMut || peek() == T::KwConst) ? peek(2) : peek()) == T::KwSelfValue) {
        error(span(), "cannot pass `self` by raw pointer").label(span(), "cannot pass `self` by raw pointer");
        ++i;
        if (token(i) == T::KwConst) ++i;
    }
    if (token(i) == T::KwMut) ++i;
    if (token(i) != T::KwSelfValue || token(i + 1) == T::PathSep) return false;
    self.kind = reference ? ast::SelfKind::Reference : ast::SelfKind::Value;
    while (!at(T::KwSelfValue) && !failed_) {
        if (lex::is_lifetime(kind_)) self.lifetime = ident_here();
        self.is_mut = self.is_mut || at(T::KwMut);
        bump();
    }
    self.ident = take_ident();
    if (!reference && eat(T::Colon)) {
        self.kind = ast::SelfKind::Typed;
        self.type = type();
    }
    self.span = from(start);
    return true;
}

// In a function pointer: `name: type`, which patterns may not replace (but are read for a good message).
bool Parser::at_named_param() const {
    std::uint32_t i = 0;
    if (at(T::And) || at(T::AndAnd) || at(T::KwMut)) i = 1;
    const TokenKind name = i == 0 ? kind_ : peek(i);
    return (lex::is_ident(name) || name == T::Underscore) && peek(i + 1) == T::Colon;
}

ast::Param Parser::fn_param(ParamNames names) {
    ast::Param param;
    param.attributes = outer_attributes();
    const Span start = span();
    if (names == ParamNames::Optional && !at_named_param()) {
        if (eat(T::DotDotDot)) {
            param.variadic = true;
        } else {
            param.type = type();
        }
        param.span = from(start);
        return param;
    }
    if (at(T::DotDotDot)) {  // `...` without a name
        bump();
        param.variadic = true;
        param.span = from(start);
        return param;
    }
    pattern_word_ = "parameter name";
    param.pattern =
        pattern_no_top_alternatives("function parameters require top-level or-patterns in parentheses");
    if (!failed_ && !check(T::Colon)) {
        check(T::At);
        check(T::Or);
        unexpected();
        return param;
    }
    eat(T::Colon);
    if (eat(T::DotDotDot)) {
        param.variadic = true;
    } else {
        param.type = type();
        if (at(T::Equal) && !failed_) {
            const Span equal = span();
            bump();
            expr();
            error(equal.to(prev_span_), "default parameter values are not supported")
                .help("use an `Option`, or a second function");
        }
    }
    param.span = from(start);
    return param;
}

}  // namespace ockc::parse
