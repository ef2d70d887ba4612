// Items: the common frame (attributes, visibility, keyword) and the small ones.
//
//     item = attribute* visibility ( fn | "const" .. | "static" .. | "mod" .. | "extern" .. | "use" .. |
//     "type" .. | "struct" .. | "enum" ..
//          | "union" .. | "unsafe"? "auto"? "trait" .. | "unsafe"? "impl" .. | macro_rules | path "!" group )
#include <fmt/format.h>

#include "parse/parser_impl.hpp"

namespace ockc::parse {

namespace {

// What rustc calls an item that stands in the wrong place.
std::string_view item_description(const ast::ItemData& data) {
    return std::visit(ast::Overloaded{
                          [](const ast::ExternCrateItem&) { return "extern crate"; },
                          [](const ast::UseItem&) { return "`use` import"; },
                          [](const ast::StaticItem&) { return "static item"; },
                          [](const ast::ConstItem&) { return "constant item"; },
                          [](const ast::FnItem&) { return "function"; },
                          [](const ast::ModuleItem&) { return "module"; },
                          [](const ast::ExternBlockItem&) { return "extern block"; },
                          [](const ast::TypeAliasItem&) { return "type alias"; },
                          [](const ast::EnumItem&) { return "enum"; },
                          [](const ast::StructItem&) { return "struct"; },
                          [](const ast::UnionItem&) { return "union"; },
                          [](const ast::TraitItem&) { return "trait"; },
                          [](const ast::ImplItem&) { return "implementation"; },
                          [](const ast::MacroRulesItem&) { return "macro definition"; },
                          [](const ast::MacroItem&) { return "macro call"; },
                          [](const ast::ErrorItem&) { return "item"; },
                      },
                      data);
}

}  // namespace

ast::SourceUnit Parser::source_unit() {
    ast::SourceUnit unit;
    const Span start = span();
    unit.attributes = inner_attributes();
    unit.items = items_until_end(ItemPlace::Module);
    unit.span = from(start.start());
    return unit;
}

List<ItemId> Parser::items_until_end(ItemPlace place) {
    return item_list(place, end_);
}

List<ItemId> Parser::item_list(ItemPlace place, std::uint32_t end) {
    Scratch<ItemId> list(*this);
    while (pos_ < end && !stopped_) {
        const std::uint32_t start = pos_;
        if (at(T::Semi)) {
            error(span(), "expected item, found `;`")
                .suggest(span(), "", "remove this semicolon", Applicability::MachineApplicable);
            bump();
            continue;
        }
        const Attributes attributes = outer_attributes();
        if (pos_ >= end && !failed_) {
            reject_dangling(attributes, place == ItemPlace::Module ? "item" : "associated item");
            break;
        }
        const ItemId found = failed_ ? ItemId{} : item_after_attributes(attributes, place);
        if (found.valid()) {
            crate_.mutable_item(found).tokens = {&buffer_, start, pos_};
            list.push(found);
        }
        if (!found.valid() && !failed_) not_an_item(attributes, place);
        if (failed_) {
            if (quiet_ > 0) break;
            skip_to_item(start);
            if (pos_ == start) skip_tree();
        }
    }
    return list.finish();
}

void Parser::not_an_item(Attributes attributes, ItemPlace place) {
    if (!attributes.empty() && at_end()) return reject_dangling(attributes, "item");
    if (at(T::KwLet) && place == ItemPlace::Module) {
        error(span(), "`let` cannot be used for global variables")
            .suggest(span(), "static", "consider using `static` and a type annotation or `const` instead");
        return fail();
    }
    const char* what = place == ItemPlace::Module ? "item" : nullptr;
    if (what != nullptr) {
        error(span(), fmt::format("expected item, found {}", describe_token()))
            .label(span(), "expected item")
            .note(
                "for a full list of items that can appear in modules, see "
                "<https://doc.rust-lang.org/reference/items.html>");
    } else {
        error(span(), fmt::format("non-item in item list")).label(span(), "non-item starts here");
    }
    fail();
}

// `{ inner_attribute* item* }`
List<ItemId> Parser::braced_items(ItemPlace place, Attributes& attributes) {
    if (!check(T::OpenBrace)) {
        unexpected();
        return {};
    }
    Nested nested(*this);
    With with(*this, {});
    const std::uint32_t close = buffer_.partner(pos_);
    bump();
    attributes = join(attributes, inner_attributes());
    const List<ItemId> items = item_list(place, close);
    skip_to_close(close);
    return items;
}

// Words that can start an item here and nothing else, or an item more likely than an expression.
bool Parser::at_item_start() const {
    if (at_any({T::KwFn, T::KwStruct, T::KwEnum, T::KwTrait, T::KwImpl, T::KwMod, T::KwUse, T::KwType,
                T::KwPub, T::KwStatic, T::KwConst, T::KwUnsafe, T::KwExtern, T::KwAsync})) {
        return true;
    }
    if (at(T::KwMacroRules)) return peek() == T::Not;
    if (at(T::KwUnion)) return lex::is_ident(peek());
    return false;
}

ItemId Parser::item(ItemPlace place) {
    return item_after_attributes(outer_attributes(), place);
}

// None when no item starts here. `statement`: inside a block, where most of what could be a macro item is an
// expression.
ItemId Parser::item_after_attributes(Attributes attributes, ItemPlace place, bool statement) {
    if (statement && !at_item_start() && !at_any({T::KwSafe, T::KwAuto, T::KwDefault, T::KwMacro})) return {};
    Nested nested(*this);
    ast::Item out;
    out.data = ast::ErrorItem{};
    out.attributes = attributes;
    const Span start = span();
    out.visibility = visibility(false);
    const std::uint32_t before = pos_;
    if (!item_kind(out, place, statement)) {
        const bool wrote_visibility = out.visibility.kind != ast::VisibilityKind::Inherited;
        if (wrote_visibility && !failed_) {
            error(out.visibility.span, fmt::format("visibility `{}` is not followed by an item",
                                                   context_.sources.text(out.visibility.span)))
                .label(out.visibility.span, "the visibility")
                .help("you likely meant to define an item, e.g., `pub fn foo() {}`");
            fail();
        }
        if (!failed_ || pos_ == before) return {};
        out.data = ast::ErrorItem{};
    }
    if (failed_ && pos_ == before) return {};
    out.span = from(start);
    check_place(out, place);
    return crate_.add(out);
}

// Items that may not stand in a trait, impl or extern block.
void Parser::check_place(const ast::Item& item, ItemPlace place) {
    if (place == ItemPlace::Module || failed_) return;
    const bool is_extern = place == ItemPlace::ExternBlock;
    const ast::ItemData& data = item.data;
    if (std::holds_alternative<ast::ConstItem>(data)) {
        if (is_extern) {
            error(item.ident.span, "extern items cannot be `const`")
                .note("for more information, visit https://doc.rust-lang.org/std/keyword.extern.html")
                .help("try using a static value");
        }
        return;
    }
    if (std::holds_alternative<ast::StaticItem>(data)) {
        if (!is_extern) error(item.span, "associated `static` items are not allowed");
        return;
    }
    const bool fits =
        std::holds_alternative<ast::FnItem>(data) || std::holds_alternative<ast::TypeAliasItem>(data) ||
        std::holds_alternative<ast::MacroItem>(data) || std::holds_alternative<ast::ErrorItem>(data);
    if (fits) return;
    const char* where = is_extern ? "`extern` blocks" : "`trait`s or `impl`s";
    error(item.span, fmt::format("{} is not supported in {}", item_description(data), where))
        .help(is_extern ? "move the item out of the block"
                        : "consider moving the item out to a nearby module scope");
}

// Dispatches on the keyword; false when none fits.
bool Parser::item_kind(ast::Item& item, ItemPlace place, bool statement) {
    // `default` modifies associated items and impls when a keyword follows.
    const bool is_default =
        at(T::KwDefault) && (lex::is_keyword(peek()) && peek() != T::KwAs && peek() != T::KwIn);
    if (is_default) bump();
    if (at_fn()) return fn_item(item, place, is_default), true;
    switch (kind_) {
        case T::KwUse: return use_item(item), true;
        case T::KwStatic:
            if (at_closure()) return false;
            return static_item(item, ast::Safety::Default), true;
        case T::KwConst:
            if (peek() == T::OpenBrace || at_closure()) return false;
            if (peek() == T::KwUnsafe && peek(2) == T::OpenBrace) return false;
            return const_item(item, is_default), true;
        case T::KwType: return type_alias(item, is_default), true;
        case T::KwStruct: return struct_item(item), true;
        case T::KwEnum: return enum_item(item), true;
        case T::KwMod: return module_item(item, ast::Safety::Default), true;
        case T::KwTrait: return trait_item(item, ast::Safety::Default, false), true;
        case T::KwImpl: return impl_item(item, ast::Safety::Default, is_default), true;
        case T::KwExtern: return extern_item(item, ast::Safety::Default), true;
        case T::KwUnsafe: {
            const TokenKind next = peek();
            if (next != T::KwTrait && next != T::KwAuto && next != T::KwImpl && next != T::KwExtern &&
                next != T::KwMod && next != T::KwStatic)
                return false;
            bump();
            if (at(T::KwStatic)) return static_item(item, ast::Safety::Unsafe), true;
            if (at(T::KwImpl)) return impl_item(item, ast::Safety::Unsafe, is_default), true;
            if (at(T::KwExtern)) return extern_item(item, ast::Safety::Unsafe), true;
            if (at(T::KwMod)) return module_item(item, ast::Safety::Unsafe), true;
            const bool is_auto = at(T::KwAuto);
            if (is_auto) bump();
            return trait_item(item, ast::Safety::Unsafe, is_auto), true;
        }
        case T::KwSafe:
            if (peek() != T::KwStatic) break;
            bump();
            return static_item(item, ast::Safety::Safe), true;
        case T::KwAuto:
            if (peek() != T::KwTrait) break;
            bump();
            return trait_item(item, ast::Safety::Default, true), true;
        case T::KwMacro:
            if (!lex::is_ident(peek())) break;
            return decl_macro_item(item), true;
        case T::KwUnion:
            if (!lex::is_ident(peek())) break;
            return union_item(item), true;
        case T::KwMacroRules:
            if (peek() != T::Not || !(lex::is_ident(peek(2)) || lex::is_keyword(peek(2)))) break;
            macro_with_visibility(item, "macro_rules");
            return macro_rules_item(item), true;
        default: break;
    }
    if (statement || at(T::Less) || at(T::LessLess) || !at_path_start()) return false;
    if (item.visibility.kind != ast::VisibilityKind::Inherited && peek() != T::Not && peek() != T::PathSep) {
        missing_item_keyword(item);
        return true;
    }
    macro_with_visibility(item, "macro");
    return macro_item(item), true;
}

// `pub name ..`: a keyword is missing; what follows says which.
void Parser::missing_item_keyword(ast::Item& item) {
    const Span after = prev_span_.after();
    const TokenKind next = peek();
    const std::string name(token_text());
    item.data = ast::ErrorItem{};
    if (next == T::OpenParen || next == T::OpenBrace || next == T::Less) {
        const bool brace = next == T::OpenBrace;
        error(after.to(span().start()),
              brace ? fmt::format("missing `struct` for struct definition")
                    : fmt::format("missing `fn` or `struct` for function or struct definition"))
            .suggest(after, brace ? " struct" : " fn",
                     brace ? "add `struct` here to parse `" + name + "` as a struct"
                           : "if you meant to call a macro, try",
                     Applicability::MaybeIncorrect);
        return fail();
    }
    bump();
    check(T::Not);
    check(T::PathSep);
    unexpected();
}

void Parser::expect_semi() {
    if (eat(T::Semi) || failed_) return;
    check(T::Semi);
    const Span next = span();
    const bool new_line = prev_span_.file == next.file && prev_span_.end <= next.begin &&
                          context_.sources.text(Span{next.file, prev_span_.end, next.begin}).find('\n') !=
                              std::string_view::npos;
    if (new_line && (at_item_start() || at_expr_start() || at(T::CloseBrace)) && !at(T::Pound)) {
        error(prev_span_.after(), fmt::format("expected `;`, found {}", describe_token()))
            .suggest_short(prev_span_.after(), ";", "add `;` here", Applicability::MachineApplicable)
            .label(next, "unexpected token");
        return;
    }
    unexpected();
}

// `const NAME: T = value;`, `const _: T = value;`
void Parser::const_item(ast::Item& item, bool is_default) {
    bump();
    ast::ConstItem out;
    out.is_default = is_default;
    if (at(T::KwMut)) {
        error(span(), "const globals cannot be mutable")
            .label(span(), "cannot be mutable")
            .suggest(prev_span_.to(span()), "static", "you might want to declare a static instead");
        bump();
    }
    if (at(T::Underscore)) {
        item.ident = take_ident();
    } else if (!expect_ident(item.ident)) {
        return;
    }
    out.generics = generics();
    if (eat(T::Colon)) {
        out.type = type();
    } else if (!failed_) {
        const bool value = at(T::Equal) || at(T::Semi);
        if (!value) return unexpected();
        error(prev_span_.after(), "missing type for `const` item")
            .suggest(prev_span_.after(), ": <type>", "provide a type for the item",
                     Applicability::HasPlaceholders);
        out.type = crate_.add(ast::Type{prev_span_.after(), ast::ErrorType{}});
    }
    if (eat_first(T::Equal)) out.value = expr();
    where_into(out.generics);
    item.data = out;
    expect_semi();
}

// Where clauses of a generic item come after it was stored: the record is remade with them.
void Parser::where_into(GenericsId& id) {
    if (!at(T::KwWhere)) {
        check(T::KwWhere);
        return;
    }
    ast::Generics generics = crate_[id];
    where_clause(generics);
    id = add_generics(generics);
}

void Parser::static_item(ast::Item& item, ast::Safety safety) {
    bump();
    ast::StaticItem out;
    out.safety = safety;
    out.is_mut = eat(T::KwMut);
    if (!expect_ident(item.ident)) return;
    if (eat(T::Colon)) {
        out.type = type();
    } else if (!failed_) {
        if (!at(T::Equal) && !at(T::Semi)) return unexpected();
        error(prev_span_.after(), "missing type for `static` item")
            .suggest(prev_span_.after(), ": <type>", "provide a type for the item",
                     Applicability::HasPlaceholders);
        out.type = crate_.add(ast::Type{prev_span_.after(), ast::ErrorType{}});
    }
    if (eat_first(T::Equal)) out.value = expr();
    item.data = out;
    expect_semi();
}

// `mod name;`, `mod name { items }`
void Parser::module_item(ast::Item& item, ast::Safety safety) {
    bump();
    ast::ModuleItem out;
    out.safety = safety;
    if (!expect_ident(item.ident)) return;
    if (!eat(T::Semi)) {
        out.is_inline = true;
        check(T::OpenBrace);
        out.items = braced_items(ItemPlace::Module, item.attributes);
    }
    item.data = out;
}

// `extern crate name (as rename)?;`, `extern "abi"? { items }`
void Parser::extern_item(ast::Item& item, ast::Safety safety) {
    bump();
    if (eat(T::KwCrate)) {
        ast::ExternCrateItem out;
        if (at(T::KwSelfValue)) {
            item.ident = take_ident();
        } else if (!expect_ident(item.ident)) {
            return;
        }
        if (eat(T::KwAs)) {
            if (at(T::Underscore)) {
                out.rename = take_ident();
            } else {
                expect_ident(out.rename);
            }
        }
        item.data = out;
        return expect_semi();
    }
    ast::ExternBlockItem out;
    out.safety = safety;
    if (at(T::String) || at(T::RawString)) {
        out.abi = crate_[literal_token()].text;
    } else if (!at(T::OpenBrace)) {
        check(T::KwFn);
        check(T::KwCrate);
        check(T::OpenBrace);
        also(Expect::Literal);
        return unexpected();
    }
    out.items = braced_items(ItemPlace::ExternBlock, item.attributes);
    item.data = out;
}

void Parser::use_item(ast::Item& item) {
    bump();
    const ast::UseTreeId tree = use_tree();
    item.data = ast::UseItem{tree};
    expect_semi();
}

// `a::b`, `a::b as c`, `a::*`, `a::{..}`, and the last two alone.
ast::UseTreeId Parser::use_tree() {
    Nested nested(*this);
    ast::UseTree out;
    const Span start = span();
    const bool root_list = at(T::PathSep) && (peek() == T::OpenBrace || peek() == T::Star);
    const bool bare = at(T::OpenBrace) || at(T::Star);
    if (root_list || bare) {
        ast::Path root;
        root.global = root_list;
        root.span = start;
        if (root_list) bump();
        if (root_list) out.path = crate_.add(root);
    } else {
        out.path = path(PathStyle::Mod);
        if (!at(T::PathSep) || failed_) {
            if (eat(T::KwAs)) {
                if (at(T::Underscore)) {
                    out.rename = take_ident();
                } else {
                    expect_ident(out.rename);
                }
            }
            out.span = from(start);
            return crate_.add(out);
        }
        bump();
    }
    if (eat(T::Star)) {
        out.kind = ast::UseKind::Glob;
    } else if (check(T::OpenBrace)) {
        out.kind = ast::UseKind::Nested;
        Scratch<ast::UseTreeId> children(*this);
        comma_list(T::CloseBrace, [&] { children.push(use_tree()); });
        out.children = children.finish();
    }
    out.span = from(start);
    return crate_.add(out);
}

// `type Name<..>: Bounds where .. = T where ..;`
void Parser::type_alias(ast::Item& item, bool is_default) {
    bump();
    ast::TypeAliasItem out;
    out.is_default = is_default;
    if (!expect_ident(item.ident)) return;
    out.generics = generics();
    if (eat(T::Colon)) out.bounds = bounds();
    where_into(out.generics);
    if (eat_first(T::Equal)) out.type = type();
    where_into(out.generics);
    item.data = out;
    expect_semi();
}

}  // namespace ockc::parse
