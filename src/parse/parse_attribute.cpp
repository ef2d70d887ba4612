// Attributes, documentation comments and visibility.
//
//     attribute  = "#" "!"? "[" ( "unsafe" "(" meta ")" | meta ) "]" | doc comment
//     meta       = path ( "=" expr | "(" tokens ")" | "[" tokens "]" | "{" tokens "}" )?
//     visibility = "pub" ( "(" ( "crate" | "self" | "super" | "in" path ) ")" )?
#include <fmt/format.h>

#include "parse/parser_impl.hpp"

namespace ockc::parse {

Attributes Parser::outer_attributes() {
    if (!check(T::Pound) && kind_ != T::OuterDoc && kind_ != T::InnerDoc) return {};
    Scratch<ast::AttributeId> list(*this);
    for (;;) {
        if (at(T::OuterDoc) || (at(T::Pound) && peek() != T::Not)) {
            list.push(one_attribute(false));
        } else if (at(T::InnerDoc)) {
            const bool block = token_text().substr(0, 2) == "/*";
            error(Code::E0753, span(), "expected outer doc comment")
                .note(
                    "inner doc comments like this (starting with `//!` or `/*!`) can only appear before "
                    "items")
                .suggest(span(), (block ? "/*" : "//") + std::string(token_text().substr(3)),
                         "you might have meant to write a regular comment");
            list.push(one_attribute(false));
        } else if (at(T::Pound) && peek() == T::Not && peek(2) == T::OpenBracket) {
            const Span start = span();
            const ast::AttributeId id = one_attribute(true);
            error(from(start), list.size() == 0
                                   ? "an inner attribute is not permitted in this context"
                                   : "an inner attribute is not permitted following an outer attribute")
                .note(
                    "inner attributes, like `#![no_std]`, annotate the item enclosing them, and are usually "
                    "found at the beginning of source files")
                .note("outer attributes, like `#[test]`, annotate the item following them");
            list.push(id);
        } else {
            return list.finish();
        }
        if (failed_) return list.finish();
    }
}

Attributes Parser::inner_attributes() {
    if (kind_ != T::Pound && kind_ != T::InnerDoc) return {};
    Scratch<ast::AttributeId> list(*this);
    while (at(T::InnerDoc) || (at(T::Pound) && peek() == T::Not && peek(2) == T::OpenBracket))
        list.push(one_attribute(true));
    return list.finish();
}

Attributes Parser::join(Attributes a, Attributes b) {
    if (a.empty()) return b;
    if (b.empty()) return a;
    Scratch<ast::AttributeId> list(*this);
    for (const ast::AttributeId id : a)
        list.push(id);
    for (const ast::AttributeId id : b)
        list.push(id);
    return list.finish();
}

// The text of the doc comment at the current token, without its markers.
Symbol Parser::doc_text() const {
    std::string_view text = token_text();
    const bool block = text.substr(0, 2) == "/*";
    text.remove_prefix(3);
    if (block) text.remove_suffix(2);
    return context_.interner.intern(text);
}

ast::AttributeId Parser::one_attribute(bool inner) {
    ast::Attribute attribute;
    attribute.is_inner = inner;
    const Span start = span();
    if (lex::is_doc(kind_)) {
        attribute.kind = ast::AttributeKind::Doc;
        attribute.doc = doc_text();
        bump();
        attribute.span = start;
        return crate_.add(attribute);
    }
    bump();
    if (inner) bump();
    if (!check(T::OpenBracket)) {
        if (!inner) check(T::Not);
        unexpected();
        attribute.span = start;
        return crate_.add(attribute);
    }
    const std::uint32_t close = buffer_.partner(pos_);
    bump();
    attribute.is_unsafe = at(T::KwUnsafe) && peek() == T::OpenParen;
    if (attribute.is_unsafe) {
        bump();
        const std::uint32_t inner_close = buffer_.partner(pos_);
        bump();
        attribute.meta = meta_item();
        if (!failed_) check(T::CloseParen) ? void() : unexpected();
        skip_to_close(inner_close);
    } else {
        attribute.meta = meta_item();
    }
    if (!failed_ && !check(T::CloseBracket)) unexpected();
    skip_to_close(close);
    attribute.span = from(start);
    return crate_.add(attribute);
}

// The meta of an attribute; its list arguments are parsed one by one as far as they have a known form.
ast::MetaItem Parser::meta_item() {
    Nested nested(*this);
    ast::MetaItem meta;
    const Span start = span();
    meta.path = path(PathStyle::Mod);
    const std::uint32_t input = pos_;
    if (eat(T::Equal)) {
        meta.kind = ast::MetaKind::NameValue;
        meta.value = expr();
    } else if (check(T::OpenParen) || check(T::OpenBracket) || check(T::OpenBrace)) {
        meta.kind = ast::MetaKind::List;
        meta.delimiter =
            static_cast<ast::Delimiter>((static_cast<int>(kind_) - static_cast<int>(T::OpenParen)) / 2);
        meta.items = meta_list(pos_);
    }
    meta.tokens = {&buffer_, input, failed_ ? input : pos_};
    meta.span = from(start);
    return meta;
}

// The arguments inside the delimiter at `open`, split at commas. Never an error: what has no known form stays
// tokens.
List<ast::MetaItem> Parser::meta_list(std::uint32_t open) {
    Scratch<ast::MetaItem> list(*this);
    const std::uint32_t close = buffer_.partner(open);
    bump();
    while (pos_ < close && !failed_) {
        std::uint32_t end = pos_;
        while (end < close && buffer_.kind(end) != T::Comma)
            end = lex::is_open(buffer_.kind(end)) ? buffer_.partner(end) + 1 : end + 1;
        list.push(meta_argument(end));
        if (!failed_) resume_at(end < close ? end + 1 : end);
    }
    skip_to_close(close);
    return list.finish();
}

ast::MetaItem Parser::meta_argument(std::uint32_t end) {
    const std::uint32_t begin = pos_;
    const Span start = span();
    ast::MetaItem meta;
    const auto all_used = [&] {
        if (!failed_ && pos_ != end) fail();
    };
    const bool structured = at_path_start() && !at(T::Less) && attempt([&] {
                                meta = meta_item();
                                all_used();
                            });
    if (!structured) {
        meta = {};
        const bool is_value = end != begin && attempt([&] {
                                  meta.value = expr();
                                  all_used();
                              });
        meta.kind = is_value ? ast::MetaKind::Value : ast::MetaKind::Tokens;
        if (!is_value) resume_at(end);
    }
    meta.tokens = {&buffer_, begin, end};
    meta.span = end > begin ? start.to(buffer_.span(end - 1)) : start.start();
    return meta;
}

ast::Visibility Parser::visibility(bool tuple_field) {
    ast::Visibility vis;
    vis.span = span().start();
    if (!check(T::KwPub)) return vis;
    const Span start = span();
    bump();
    vis.kind = ast::VisibilityKind::Public;
    const bool one_word = at(T::OpenParen) && peek(2) == T::CloseParen;
    if (one_word && peek() == T::KwCrate) vis.kind = ast::VisibilityKind::Crate;
    if (one_word && peek() == T::KwSelfValue) vis.kind = ast::VisibilityKind::Self;
    if (one_word && peek() == T::KwSuper) vis.kind = ast::VisibilityKind::Super;
    if (vis.kind != ast::VisibilityKind::Public) {
        bump(), bump(), bump();
    } else if (at(T::OpenParen) && peek() == T::KwIn) {
        const std::uint32_t close = buffer_.partner(pos_);
        bump(), bump();
        vis.kind = ast::VisibilityKind::In;
        vis.path = path(PathStyle::Mod);
        if (!check(T::CloseParen)) unexpected();
        skip_to_close(close);
    } else if (at(T::OpenParen) && !tuple_field) {
        const std::uint32_t close = buffer_.partner(pos_);
        bump();
        const Span inside = span();
        const std::string written(token_text());
        path(PathStyle::Mod);
        error(Code::E0704, from(inside), "incorrect visibility restriction")
            .help(
                "some possible visibility restrictions are:\n`pub(crate)`: visible only on the current "
                "crate\n"
                "`pub(super)`: visible only in the current module's parent\n"
                "`pub(in path::to::module)`: visible only on the specified path")
            .suggest(from(inside), "in " + written,
                     fmt::format("make this visible only to module `{}` with `in`", written),
                     Applicability::MachineApplicable);
        skip_to_close(close);
    }
    vis.span = from(start);
    return vis;
}

// Attributes with nothing behind them that could carry them: rustc's "expected item after attributes" and
// friends.
void Parser::reject_dangling(Attributes attributes, std::string_view what) {
    if (attributes.empty() || failed_) return;
    const ast::Attribute& last = crate_[attributes.back()];
    if (last.kind == ast::AttributeKind::Doc) {
        if (what == "item") {
            error(last.span, "expected item after doc comment")
                .label(last.span, "this doc comment doesn't document anything");
            return;
        }
        const Code code = what == "associated item" ? Code::E0584 : Code::E0585;
        error(code, last.span, "found a documentation comment that doesn't document anything")
            .help("doc comments must come before what they document, if a comment was intended use `//`");
    } else {
        const bool item_place = what == "item" || what == "associated item";
        error(last.span,
              item_place ? "expected item after attributes" : "expected statement after outer attribute");
    }
}

}  // namespace ockc::parse
