// Expressions that begin with a keyword: blocks, conditions, loops, matches, closures.
//
//     if      = "if" condition block ( "else" ( if | block ) )?
//     match   = "match" expr "{" ( attribute* pattern ( "if" condition )? "=>" ( block ","? | expr "," ) )*
//     "}" loop    = label? ( "loop" block | "while" condition block | "for" pattern "in" expr block | block )
//     closure = for? "static"? "const"? "async"? "move"? "|" params "|" ( "->" type block | expr )
#include <fmt/format.h>

#include "parse/parser_impl.hpp"

namespace ockc::parse {

bool Parser::at_block_start(T keyword) const {
    return at(keyword) && peek() == T::OpenBrace;
}

// `move |`, `async |`, `static |`, `const |`, `for<`: words before a closure's bars, in any order that rustc
// takes.
bool Parser::at_closure() const {
    std::uint32_t i = 0;
    TokenKind k = kind_;
    if (k == T::KwFor) return peek() == T::Less || peek() == T::LessLess;
    while (i < 5 && (k == T::KwStatic || k == T::KwConst || k == T::KwAsync || k == T::KwMove))
        k = peek(++i);
    return k == T::Or || k == T::OrOr;
}

// None when the keyword starts no expression.
ExprId Parser::keyword_expr(Attributes& attributes) {
    const Span start = span();
    if (at_closure()) return closure();
    switch (kind_) {
        case T::KwIf: return if_expr();
        case T::KwMatch: return match_expr(attributes);
        case T::KwLoop:
        case T::KwWhile:
        case T::KwFor: return loop_like({}, start);
        case T::KwLet: return let_expr();
        case T::KwReturn: {
            bump();
            const ExprId value = jump_value();
            return make_expr(start, ast::ReturnExpr{value});
        }
        case T::KwBreak: return break_expr();
        case T::KwContinue: {
            bump();
            ast::ContinueExpr out;
            if (lex::is_lifetime(kind_)) out.label = take_ident();
            if (out.label.valid()) check_lifetime_name(out.label, "labels");
            return make_expr(start, out);
        }
        case T::KwYield: {
            unstable(start, "yield syntax is experimental");
            bump();
            const ExprId value = jump_value();
            return make_expr(start, ast::ReturnExpr{value});
        }
        case T::KwBox:
            error(start, "`box_syntax` has been removed").help("use `Box::new()` instead");
            bump();
            return prefix({});
        case T::KwTry:
            if (peek() != T::OpenBrace) return {};
            unstable(start, "`try` expression is experimental");
            bump();
            return block_expr(ast::BlockKind::Plain, false, {}, start);
        case T::KwUnsafe: bump(); return block_expr(ast::BlockKind::Unsafe, false, {}, start);
        case T::KwConst: bump(); return block_expr(ast::BlockKind::Const, false, {}, start);
        case T::KwAsync: {
            bump();
            const bool is_move = eat(T::KwMove);
            return block_expr(ast::BlockKind::Async, is_move, {}, start);
        }
        default: return {};
    }
}

ExprId Parser::block_expr(ast::BlockKind kind, bool is_move, Ident label, Span start) {
    const BlockId body = block();
    return make_expr(start, ast::BlockExpr{kind, is_move, label, body});
}

// The condition of `if` and `while`: `let` in `&&` chains (from edition 2024 on), no struct literals.
ExprId Parser::condition(Restrictions restrictions) {
    const ExprId out = expr_with(restrictions);
    if (edition() >= lex::Edition::E2024 || failed_) return out;
    std::vector<ExprId> lets;  // from right to left
    const auto* chain = ast::get_if<ast::BinaryExpr>(crate_[out]);
    for (ExprId at = out; chain != nullptr && chain->op == ast::BinaryOp::And;
         chain = ast::get_if<ast::BinaryExpr>(crate_[at])) {
        for (const ExprId side : {chain->rhs, chain->lhs}) {
            if (ast::get_if<ast::LetExpr>(crate_[side]) != nullptr) lets.push_back(side);
        }
        at = chain->lhs;
    }
    for (auto let = lets.rbegin(); let != lets.rend(); ++let) {
        error(crate_[*let].span, "let chains are only allowed in Rust 2024 or later");
    }
    return out;
}

// The block when `expr` is a plain one: in `if {}` it was meant as the body.
BlockId Parser::plain_block(ExprId expr) const {
    const auto* block_node = ast::get_if<ast::BlockExpr>(crate_[expr]);
    return block_node != nullptr && block_node->kind == ast::BlockKind::Plain ? block_node->block : BlockId{};
}

// `else if` chains are read in a loop and linked from the last to the first.
ExprId Parser::if_expr() {
    struct Link {
        Span start;
        ExprId condition;
        BlockId then_block;
    };
    std::vector<Link> links;
    ExprId last;
    for (;;) {
        Link link{span(), {}, {}};
        bump();
        link.condition = condition({true, false, true});
        const BlockId lone_block = failed_ || at(T::OpenBrace) ? BlockId{} : plain_block(link.condition);
        if (lone_block.valid()) {
            error(link.start.after(), "missing condition for `if` expression")
                .label(link.start.after(), "expected condition here");
            link.condition = error_expr();
        } else if (!failed_ && !at(T::OpenBrace)) {
            const Span if_span = link.start;
            if (at(T::KwElse) || at(T::Semi) || lex::is_close(kind_) || at_end()) {
                error(if_span, "this `if` expression is missing a block after the condition")
                    .help_at(crate_[link.condition].span, "add a block here");
                fail();
            } else {
                Diagnostic& diagnostic =
                    error(span(), fmt::format("expected `{{`, found {}", describe_token()));
                diagnostic.label(span(), "expected `{`")
                    .note_at(if_span.to(crate_[link.condition].span),
                             "the `if` expression is missing a block after this condition");
                fail();
            }
        }
        if (failed_) return error_expr();
        link.then_block = lone_block.valid() ? lone_block : block();
        links.push_back(link);
        grow();
        if (!eat(T::KwElse)) break;
        if (at(T::KwIf)) continue;
        const Span start = span();
        if (!check(T::OpenBrace)) {
            unexpected();
            break;
        }
        last = block_expr(ast::BlockKind::Plain, false, {}, start);
        break;
    }
    for (auto link = links.rbegin(); link != links.rend(); ++link) {
        last = make_expr(link->start, ast::IfExpr{link->condition, link->then_block, last});
    }
    return last;
}

ExprId Parser::match_expr(Attributes& attributes) {
    const Span start = span();
    bump();
    ast::MatchExpr out;
    Restrictions inner;
    inner.no_struct = true;
    out.scrutinee = expr_with(inner);
    if (!check(T::OpenBrace)) {
        unexpected();
        return make_expr(start, ast::ErrorExpr{});
    }
    Nested nested(*this);
    With with(*this, {});
    const std::uint32_t close = buffer_.partner(pos_);
    bump();
    attributes = join(attributes, inner_attributes());
    Scratch<ast::MatchArm> arms(*this);
    while (!at(T::CloseBrace) && !failed_)
        arms.push(match_arm());
    skip_to_close(close);
    out.arms = arms.finish();
    return make_expr(start, out);
}

ast::MatchArm Parser::match_arm() {
    ast::MatchArm arm;
    arm.attributes = outer_attributes();
    const Span start = span();
    if (at(T::CloseBrace)) {
        reject_dangling(arm.attributes, "arm");
        fail();
        return arm;
    }
    arm.pattern = pattern();
    if (eat(T::KwIf)) arm.guard = expr_with({false, false, true});
    if (!expect(T::FatArrow)) return arm;
    Restrictions inner;
    inner.statement = true;
    arm.body = expr_with(inner);
    arm.span = from(start);
    if (failed_ || eat(T::Comma) || at(T::CloseBrace)) return arm;
    With with(*this, inner);
    if (is_complete(arm.body)) return arm;
    if (arm_follows()) {
        error(prev_span_.after(), "expected `,` following `match` arm")
            .suggest_short(prev_span_.after(), ",", "missing a comma here to end this `match` arm",
                           Applicability::MachineApplicable);
        return arm;
    }
    if (at(T::FatArrow) || !check(T::CloseBrace)) {
        check(T::Comma);
        also(Expect::Operator);
        unexpected();
    }
    return arm;
}

// Whether `pattern =>` stands here: then only a comma is missing.
bool Parser::arm_follows() {
    const std::uint32_t position = pos_;
    const bool found = attempt([&] {
        pattern();
        if (!failed_ && !at(T::FatArrow)) fail();
    });
    if (found) rewind(position);
    return found;
}

// `'a: loop {}` and friends.
ExprId Parser::labelled() {
    const Span start = span();
    const Ident label = take_ident();
    check_lifetime_name(label, "labels");
    const bool colon = eat(T::Colon);
    const bool body = at_any({T::KwLoop, T::KwWhile, T::KwFor, T::OpenBrace});
    if (!colon && body && !failed_) {
        error(span(), "labeled expression must be followed by `:`")
            .label(label.span, "the label")
            .note("labels are used before loops and blocks, allowing e.g., `break 'label` to them")
            .suggest(label.span.after(), ": ", "add `:` after the label", Applicability::MachineApplicable);
    }
    if (at(T::OpenBrace)) return block_expr(ast::BlockKind::Plain, false, label, start);
    if (body) return loop_like(label, start);
    if (!failed_) {
        error(span(), "expected `while`, `for`, `loop` or `{` after a label")
            .label(span(), "expected `while`, `for`, `loop` or `{` after a label");
        fail();
    }
    return error_expr();
}

ExprId Parser::loop_like(Ident label, Span start) {
    Restrictions no_struct;
    no_struct.no_struct = true;
    if (eat(T::KwLoop)) {
        const BlockId body = block();
        return make_expr(start, ast::LoopExpr{label, body});
    }
    if (eat(T::KwWhile)) {
        const ExprId test = condition({true, false, true});
        const BlockId body = block();
        return make_expr(start, ast::WhileExpr{label, test, body});
    }
    bump();
    ast::ForExpr out;
    out.label = label;
    out.pattern = pattern();
    if (!failed_ && !at(T::KwIn)) {
        const bool wrong_word = at(T::Equal) || (at(T::Ident) && token_text() == "of");
        if (wrong_word) {
            error(prev_span_.after(), "missing `in` in `for` loop")
                .suggest(span(), "in", "try using `in` here instead", Applicability::MachineApplicable);
            bump();
        } else {
            error(prev_span_.after(), "missing `in` in `for` loop")
                .suggest(prev_span_.after(), " in ", "try adding `in` here",
                         Applicability::MachineApplicable);
        }
    } else {
        eat(T::KwIn);
    }
    const Span before = prev_span_.after();
    out.iterable = expr_with(no_struct);
    if (const BlockId lone = failed_ || at(T::OpenBrace) ? BlockId{} : plain_block(out.iterable);
        lone.valid()) {
        error(before, "missing expression to iterate on in `for` loop")
            .suggest(before, " /* expression */", "try adding an expression to the `for` loop",
                     Applicability::HasPlaceholders);
        out.iterable = error_expr();
        out.body = lone;
        return make_expr(start, out);
    }
    out.body = block();
    return make_expr(start, out);
}

ExprId Parser::closure() {
    const Span start = span();
    ast::Closure out;
    out.for_params = for_binder();
    // Modifiers, each at most once, in rustc's order.
    out.is_const = at(T::KwConst) && eat(T::KwConst);
    out.is_static = at(T::KwStatic) && eat(T::KwStatic);
    out.is_async = at(T::KwAsync) && eat(T::KwAsync);
    out.is_move = at(T::KwMove) && eat(T::KwMove);
    if (at(T::KwAsync) && out.is_move && !failed_) {
        error(start.to(span()), "the order of `move` and `async` is incorrect")
            .suggest(start.to(span()), "async move", "try switching the order",
                     Applicability::MachineApplicable);
        bump();
        out.is_async = true;
    }
    out.params = closure_params();
    out.output = return_type();
    out.head_span = from(start);
    Restrictions inner = restrictions_;
    inner.statement = inner.allow_let = false;
    Nested nested(*this);
    if (out.output.valid()) {
        With with(*this, {});
        const Span body_start = span();
        out.body = block_expr(ast::BlockKind::Plain, false, {}, body_start);
    } else {
        out.body = expr_with(inner);
    }
    return make_expr(start, ast::ClosureExpr{crate_.add(out)});
}

List<ast::Param> Parser::closure_params() {
    Scratch<ast::Param> params(*this);
    if (eat(T::OrOr)) return {};
    if (!expect(T::Or)) return {};
    while (!at_first(T::Or) && !failed_) {
        ast::Param param;
        param.attributes = outer_attributes();
        const Span start = span();
        pattern_word_ = "parameter name";
        param.pattern = pattern(false);
        if (eat(T::Colon)) param.type = type();
        param.span = from(start);
        params.push(param);
        if (!eat(T::Comma)) break;
    }
    expect_first(T::Or);
    return params.finish();
}

}  // namespace ockc::parse
