// Structs, unions and enums.
//
//     struct = "struct" ident generics ( where? "{" field ,* "}" | "(" field ,* ")" where? ";" | where? ";" )
//     union  = "union" ident generics where? "{" field ,* "}"
//     enum   = "enum" ident generics where? "{" ( attribute* visibility ident ( "{" fields "}" | "(" fields
//     ")" )? ( "=" expr )? ) ,* "}"
#include <fmt/format.h>

#include "parse/parser_impl.hpp"

namespace ockc::parse {

void Parser::struct_item(ast::Item& item) {
    bump();
    ast::StructItem out;
    if (!expect_ident(item.ident)) return;
    out.generics = generics();
    struct_body(out);
    item.data = out;
}

void Parser::struct_body(ast::StructItem& out) {
    if (at(T::KwWhere)) {
        const Span where_start = span();
        where_into(out.generics);
        if (at(T::OpenParen) && !failed_) {
            const Span where_span = from(where_start);
            out.form = ast::VariantForm::Tuple;
            out.fields = tuple_fields();
            error(where_span, "where clauses are not allowed before tuple struct bodies")
                .label(where_span, "unexpected where clause")
                .help("move the where clause behind the fields");
            return expect_semi();
        }
        if (eat(T::Semi)) return;
        if (!check(T::OpenBrace)) return unexpected();
    } else if (eat(T::Semi)) {
        return;
    }
    if (check(T::OpenBrace)) {
        out.form = ast::VariantForm::Named;
        out.fields = named_fields();
        return;
    }
    if (!check(T::OpenParen)) return expected("`where`, `{`, `(`, or `;` after struct name");
    out.form = ast::VariantForm::Tuple;
    out.fields = tuple_fields();
    where_into(out.generics);
    expect_semi();
}

void Parser::union_item(ast::Item& item) {
    bump();
    ast::UnionItem out;
    if (!expect_ident(item.ident)) return;
    out.generics = generics();
    where_into(out.generics);
    if (!check(T::OpenBrace)) return expected("`where` or `{` after union name");
    out.fields = named_fields();
    item.data = out;
}

List<ast::FieldDef> Parser::named_fields() {
    Nested nested(*this);
    With with(*this, {});
    Scratch<ast::FieldDef> fields(*this);
    const std::uint32_t close = buffer_.partner(pos_);
    bump();
    while (!check(T::CloseBrace) && !failed_) {
        const Attributes attributes = outer_attributes();
        if (at(T::CloseBrace)) {
            reject_dangling(attributes, "field");
            break;
        }
        ast::FieldDef field = named_field();
        field.attributes = attributes;
        if (field.ident.name.valid()) fields.push(field);   // what has no name is no field
        if (failed_ || check(T::CloseBrace)) break;
        if (eat(T::Comma)) continue;
        if (at(T::Semi)) {
            error(span(), "struct fields are separated by `,`")
                .suggest(span(), ",", "replace `;` with `,`", Applicability::MachineApplicable);
            bump();
            continue;
        }
        const Attributes after = outer_attributes();
        const bool field_follows = lex::is_ident(kind_) || at(T::KwPub);
        if (!field_follows) {
            reject_dangling(after, "field");
            if (at(T::CloseBrace)) break;
            unexpected();
            break;
        }
        error(prev_span_.after(), fmt::format("expected `,`, or `}}`, found {}", describe_token()))
            .suggest(prev_span_.after(), ",", "try adding a comma", Applicability::MachineApplicable);
    }
    skip_to_close(close);
    return fields.finish();
}

ast::FieldDef Parser::named_field() {
    ast::FieldDef field;
    const Span start = span();
    field.visibility = visibility(false);
    if (expect_ident(field.ident)) {
        if (at(T::PathSep) || at(T::Equal)) {
            error(span(), fmt::format("expected `:`, found `{}`", token_text()))
                .suggest(span(), ":", "field names and their types are separated with `:`");
            bump();
            field.type = type();
        } else if (expect(T::Colon)) {
            field.type = type();
        }
        if (at(T::Equal) && !failed_) {
            const Span value = span();
            bump();
            expr();
            error(value.to(prev_span_), "default values on `struct` fields aren't supported")
                .suggest(value.to(prev_span_), "", "remove this unsupported default value",
                         Applicability::MachineApplicable);
        }
    }
    if (!field.type.valid()) field.type = make_type(span(), ast::ErrorType{});
    field.span = from(start);
    return field;
}

List<ast::FieldDef> Parser::tuple_fields() {
    Nested nested(*this);
    With with(*this, {});
    Scratch<ast::FieldDef> fields(*this);
    comma_list(T::CloseParen, [&] {
        ast::FieldDef field = tuple_field();
        fields.push(field);
    });
    return fields.finish();
}

ast::FieldDef Parser::tuple_field() {
    ast::FieldDef field;
    field.attributes = outer_attributes();
    const Span start = span();
    field.visibility = visibility(true);
    field.type = type();
    field.span = from(start);
    return field;
}

void Parser::enum_item(ast::Item& item) {
    bump();
    if (at(T::KwStruct)) {
        error(span().start().to(span()), "`enum` and `struct` are mutually exclusive")
            .suggest(prev_span_.to(span()), "enum", "replace `enum struct` with",
                     Applicability::MachineApplicable);
        bump();
    }
    ast::EnumItem out;
    if (!expect_ident(item.ident)) return;
    out.generics = generics();
    where_into(out.generics);
    if (!check(T::OpenBrace)) return unexpected();
    Nested nested(*this);
    With with(*this, {});
    Scratch<ast::Variant> variants(*this);
    comma_list(T::CloseBrace, [&] {
        const Attributes attributes = outer_attributes();
        if (at(T::CloseBrace)) return reject_dangling(attributes, "variant");
        ast::Variant one = variant();
        one.attributes = attributes;
        variants.push(one);
        if (at(T::Semi) && !failed_) {
            error(span(), fmt::format("expected one of `(`, `,`, `=`, `{{`, or `}}`, found `;`"))
                .label(span(), "expected one of `(`, `,`, `=`, `{`, or `}`");
            bump();
        }
    });
    out.variants = variants.finish();
    item.data = out;
}

ast::Variant Parser::variant() {
    ast::Variant out;
    const Span start = span();
    out.visibility = visibility(false);
    if (!expect_ident(out.ident)) return out;
    if (check(T::OpenBrace)) {
        out.form = ast::VariantForm::Named;
        out.fields = named_fields();
    } else if (check(T::OpenParen)) {
        out.form = ast::VariantForm::Tuple;
        out.fields = tuple_fields();
    }
    if (eat(T::Equal)) out.discriminant = expr();
    out.span = from(start);
    return out;
}

}  // namespace ockc::parse
