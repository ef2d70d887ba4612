// Traits and impls.
//
//     trait = "unsafe"? "auto"? "trait" ident generics ( ":" bounds )? where? "{" item* "}"
//     impl  = "default"? "unsafe"? "impl" generics "const"? "!"? type ( "for" type )? where? "{" item* "}"
#include <fmt/format.h>

#include "parse/parser_impl.hpp"

namespace ockc::parse {

void Parser::trait_item(ast::Item& item, ast::Safety safety, bool is_auto) {
    bump();
    ast::TraitItem out;
    out.safety = safety;
    out.is_auto = is_auto;
    if (!expect_ident(item.ident)) return;
    out.generics = generics();
    if (eat(T::Colon)) out.supertraits = bounds();
    if (check(T::Equal) && !failed_) {
        const Span start = span();
        bump();
        bounds();
        where_into(out.generics);
        error(Code::E0658, start.to(prev_span_), "trait aliases are experimental")
            .help("write a trait with the bounds as supertraits, and a blanket impl of it");
        return expect_semi();
    }
    where_into(out.generics);
    out.items = braced_items(ItemPlace::Trait, item.attributes);
    item.data = out;
}

// Whether the `<` here opens generic parameters of the impl, and not a qualified path as in `impl <T as
// Tr>::X {}`.
bool Parser::at_impl_generics() const {
    if (!at(T::Less)) return false;
    const TokenKind next = peek();
    if (next == T::Pound || next == T::Greater || next == T::KwConst) return true;
    if (!lex::is_lifetime(next) && !lex::is_ident(next)) return false;
    const TokenKind after = peek(2);
    return after == T::Greater || after == T::Comma || after == T::Colon || after == T::Equal;
}

void Parser::impl_item(ast::Item& item, ast::Safety safety, bool is_default) {
    bump();
    ast::ImplItem out;
    out.safety = safety;
    out.is_default = is_default;
    if (at_impl_generics()) {
        out.generics = generics();
    } else {
        ast::Generics none;
        none.span = none.where_span = prev_span_.after();
        out.generics = add_generics(none);
    }
    if (at(T::KwConst)) bump();  // `impl const Trait` is unstable Rust; the trait keeps its meaning
    out.is_negative = at(T::Not) && peek() != T::OpenBrace && peek() != T::KwFor;
    if (out.is_negative) bump();
    if (at(T::KwFor) && !failed_ && peek() != T::Less) {
        error(prev_span_.after(), "missing trait in a trait impl")
            .suggest(prev_span_.after(), " Trait ", "add a trait here", Applicability::HasPlaceholders);
        bump();
        out.self_type = type();
    } else {
        const TypeId first = type();
        if (eat(T::KwFor)) {
            const auto* as_path = ast::get_if<ast::PathType>(crate_[first]);
            if (as_path != nullptr) {
                out.trait_path = as_path->path;
            } else if (!failed_) {
                error(crate_[first].span, "expected a trait, found type");
            }
            if (at(T::OpenBrace) && !failed_) {
                error(prev_span_.after(), "missing type in a trait impl");
                out.self_type = crate_.add(ast::Type{prev_span_.after(), ast::ErrorType{}});
            } else {
                out.self_type = type();
            }
        } else {
            out.self_type = first;
        }
    }
    if (!out.trait_path.valid() && !failed_) reject_inherent(out);
    where_into(out.generics);
    if (!failed_)
        out.items =
            braced_items(out.trait_path.valid() ? ItemPlace::TraitImpl : ItemPlace::Impl, item.attributes);
    item.data = out;
}

// What only an impl of a trait can be.
void Parser::reject_inherent(const ast::ImplItem& impl) {
    const Span self_type = crate_[impl.self_type].span;
    const auto reject = [&](Code code, std::string_view what) {
        error(code, self_type, fmt::format("inherent impls cannot be {}", what))
            .label(self_type, "inherent impl for this type");
    };
    if (impl.safety == ast::Safety::Unsafe) reject(Code::E0197, "unsafe");
    if (impl.is_default) reject(Code::None, "default");
    if (impl.is_negative) reject(Code::None, "negative");
}

}  // namespace ockc::parse
