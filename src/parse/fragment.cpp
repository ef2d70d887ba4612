// Single fragments at the start of a range, as macro_rules matchers need them: how far `$x:expr` and the
// others reach.
#include "parse/parser_impl.hpp"

namespace ockc::parse {

bool fragment_kind(std::string_view name, lex::Edition edition, FragmentKind& kind) {
    struct Row {
        std::string_view name;
        FragmentKind kind;
    };
    static constexpr Row kRows[] = {
        {"block", FragmentKind::Block},
        {"expr", FragmentKind::Expr},
        {"expr_2021", FragmentKind::Expr2021},
        {"ident", FragmentKind::Ident},
        {"item", FragmentKind::Item},
        {"lifetime", FragmentKind::Lifetime},
        {"literal", FragmentKind::Literal},
        {"meta", FragmentKind::Meta},
        {"pat", FragmentKind::Pat},
        {"pat_param", FragmentKind::PatParam},
        {"path", FragmentKind::Path},
        {"stmt", FragmentKind::Stmt},
        {"tt", FragmentKind::Tt},
        {"ty", FragmentKind::Ty},
        {"vis", FragmentKind::Vis},
    };
    for (const Row& row : kRows) {
        if (row.name != name) continue;
        kind = row.kind == FragmentKind::Expr && edition < lex::Edition::E2024 ? FragmentKind::Expr2021
                                                                               : row.kind;
        return true;
    }
    return false;
}

Fragment parse_fragment(FragmentKind kind, lex::TokenRange range, const ParseContext& context) {
    Parser parser(range, context);
    return parser.fragment(kind);
}

Fragment Parser::fragment(FragmentKind kind) {
    const std::uint32_t begin = pos_;
    switch (kind) {
        case FragmentKind::Block: block(); break;
        case FragmentKind::Expr: expr(); break;
        case FragmentKind::Expr2021:  // before 2024, neither `_` nor `const {}` was an expression here
            if (at(T::Underscore) || at_block_start(T::KwConst)) {
                expected("expression");
            } else {
                expr();
            }
            break;
        case FragmentKind::Ident:
            if (lex::is_ident(kind_) || (lex::is_keyword(kind_) && kind_ != T::Underscore)) {
                bump();
            } else {
                also(Expect::Ident);
                unexpected();
            }
            break;
        case FragmentKind::Item:
            if (!item(ItemPlace::Module).valid()) expected("an item");
            break;
        case FragmentKind::Lifetime:
            also(Expect::Lifetime);
            if (lex::is_lifetime(kind_)) {
                bump();
            } else {
                unexpected();
            }
            break;
        case FragmentKind::Literal: negative_or_literal(); break;
        case FragmentKind::Meta: meta_item(); break;
        case FragmentKind::Pat: pattern(); break;
        case FragmentKind::PatParam: pattern(false); break;
        case FragmentKind::Path: path(PathStyle::Type); break;
        case FragmentKind::Stmt: one_statement(); break;
        case FragmentKind::Tt:
            if (at_end() || lex::is_close(kind_)) {
                expected("a token tree");
            } else {
                skip_tree();
            }
            break;
        case FragmentKind::Ty: type(AllowPlus::No); break;
        case FragmentKind::Vis: visibility(false); break;
    }
    return {!failed_ && (pos_ > begin || kind == FragmentKind::Vis), pos_};
}

// A statement without its `;`, as `$s:stmt` takes it.
void Parser::one_statement() {
    const Attributes attributes = outer_attributes();
    if (at(T::KwLet)) {
        bump();
        pattern(false);
        if (eat(T::Colon)) type();
        if (eat_first(T::Equal)) expr();
        if (at(T::KwElse)) {
            bump();
            block();
        }
        return;
    }
    if (item_after_attributes(attributes, ItemPlace::Module, true).valid()) return;
    Restrictions inner;
    inner.statement = true;
    expr_with(inner);
}

}  // namespace ockc::parse
