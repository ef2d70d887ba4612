// Blocks and statements.
//
//     block     = "{" inner_attribute* statement* expr? "}"
//     statement = ";" | item | "let" pattern ( ":" type )? ( "=" expr ( "else" block )? )? ";" | path "!" "{"
//     tokens "}" | expr ";"
//               | block-like expr
#include <fmt/format.h>

#include "parse/parser_impl.hpp"

namespace ockc::parse {

BlockId Parser::block() {
    Nested nested(*this);
    const Span start = span();
    if (at(T::OpenInvisible)) {  // a `$b:block` fragment
        const std::uint32_t close = buffer_.partner(pos_);
        bump();
        const BlockId inner = block();
        skip_to_close(close);
        return inner;
    }
    if (!check(T::OpenBrace)) {
        expected_.reset();
        expected_extra_ = 0;
        check(T::OpenBrace);
        unexpected();
        ast::Block empty;
        empty.span = start;
        return crate_.add(empty);
    }
    With with(*this, {});
    const std::uint32_t close = buffer_.partner(pos_);
    bump();
    const Attributes inner = inner_attributes();
    return block_contents(start, inner, close);
}

// Statements up to token `end`: a block's closer, which is then taken, or the end of the range.
BlockId Parser::block_contents(Span start, Attributes inner, std::uint32_t end) {
    Scratch<StmtId> list(*this);
    ast::Block out;
    out.attributes = inner;
    while (pos_ < end && !failed_) {
        statement(list, out.tail, end);
        if (failed_) skip_statement(end);
        if (out.tail.valid() &&
            pos_ < end) {  // only after an error: what was taken for the tail is a statement
            list.push(crate_.add(ast::Stmt{crate_[out.tail].span, {}, ast::ExprStmt{out.tail, false}}));
            out.tail = {};
        }
    }
    if (end < end_ || failed_) skip_to_close(end);
    out.statements = list.finish();
    out.span = from(start);
    return crate_.add(out);
}

void Parser::statement(Scratch<StmtId>& out, ExprId& tail, std::uint32_t end) {
    const Span start = span();
    if (at(T::Semi)) {
        bump();
        out.push(crate_.add(ast::Stmt{start, {}, ast::EmptyStmt{}}));
        return;
    }
    const Attributes attributes = outer_attributes();
    if (pos_ >= end || at(T::CloseBrace) || (at(T::Semi) && !failed_)) {
        reject_dangling(attributes, "statement");
        return;
    }
    if (failed_) return;
    if (at(T::KwLet)) return let_statement(start, attributes, out);
    if (bad_declaration()) {
        error(span(), "invalid variable declaration")
            .suggest(at(T::KwMut) ? span().start() : span(), at(T::KwMut) ? "let " : "let",
                     at(T::KwMut) ? "missing keyword"
                                  : "write `let` instead of `" + std::string(token_text()) +
                                        "` to introduce a new variable");
        return let_statement(start, attributes, out);
    }
    const Span first = span();
    if (const ItemId item = item_after_attributes(attributes, ItemPlace::Module, true); item.valid()) {
        out.push(crate_.add(ast::Stmt{crate_[item].span, {}, ast::ItemStmt{item}}));
        return;
    }
    if (failed_) return;
    Restrictions inner;
    inner.statement = true;
    With with(*this, inner);
    const bool plain_path = at_path_start() && !at(T::Less) && !at(T::LessLess);
    if (!plain_path) {
        const ExprId value = expr_assoc(Precedence::Lowest, {});
        attach(value, attributes);
        return expression_statement(value, first, out, tail);
    }
    Nested nested(*this);
    const PathId name = path(PathStyle::Expr);
    if (failed_) return;
    if (at(T::Not) && macro_statement(name, first, attributes, out, tail)) return;
    ExprId value = postfix(after_path(name, first));
    attach(value, attributes);
    value = expr_rest(value, Precedence::Lowest);
    expression_statement(value, first, out, tail);
}

// `m! {..}` is a statement by itself unless `.` or `?` follows; other macro calls are operands. At the `!`.
bool Parser::macro_statement(PathId name, Span start, Attributes attributes, Scratch<StmtId>& out,
                             ExprId& tail) {
    const ast::MacroCallId call = macro_call(name, start);
    if (failed_) return true;
    const bool braces = crate_[call].delimiter == ast::Delimiter::Brace;
    if (braces && !at(T::Dot) && !at(T::Question)) {
        if (at(T::CloseBrace) || at_end()) {
            tail = make_expr(start, ast::MacroExpr{call});
            attach(tail, attributes);
            return true;
        }
        const bool semi = at(T::Semi);
        if (semi) bump();
        out.push(crate_.add(ast::Stmt{from(start), attributes, ast::MacroStmt{call, semi}}));
        return true;
    }
    if (!braces && at(T::Semi)) {
        bump();
        out.push(crate_.add(ast::Stmt{from(start), attributes, ast::MacroStmt{call, true}}));
        return true;
    }
    ExprId value = postfix(make_expr(start, ast::MacroExpr{call}));
    attach(value, attributes);
    value = expr_rest(value, Precedence::Lowest);
    expression_statement(value, start, out, tail);
    return true;
}

void Parser::expression_statement(ExprId value, Span start, Scratch<StmtId>& out, ExprId& tail) {
    if (failed_) {
        out.push(crate_.add(ast::Stmt{from(start), {}, ast::ExprStmt{value, true}}));
        return;
    }
    if (eat(T::Semi)) {
        out.push(crate_.add(ast::Stmt{from(start), {}, ast::ExprStmt{value, true}}));
        return;
    }
    if (check(T::CloseBrace) || at_end()) {
        tail = value;
        return;
    }
    if (!is_complete(value)) end_statement(true);
    out.push(crate_.add(ast::Stmt{from(start), {}, ast::ExprStmt{value, !is_complete(value)}}));
}

// Behind a statement that needs a `;`. Where only that is missing, parsing goes on as if it were there.
void Parser::end_statement(bool may_be_tail) {
    if (eat(T::Semi) || failed_) return;
    const Span next = span();
    const bool new_line = prev_span_.file == next.file && prev_span_.end <= next.begin &&
                          context_.sources.text(Span{next.file, prev_span_.end, next.begin}).find('\n') !=
                              std::string_view::npos;
    const bool starts_something = at_expr_start() || at_item_start() || at(T::CloseBrace) || at(T::KwLet);
    const bool instead =
        (at(T::Comma) || at(T::Colon)) && (peek() == T::CloseBrace || peek() == T::Eof || new_line);
    if (instead && !new_line) {
        error(next, fmt::format("expected `;`, found {}", describe_token()))
            .suggest(next, ";", "change this to `;`", Applicability::MachineApplicable);
        bump();
        return;
    }
    if (new_line && starts_something && !at(T::Pound)) {
        error(prev_span_.after(), fmt::format("expected `;`, found {}", describe_token()))
            .suggest_short(prev_span_.after(), ";", "add `;` here", Applicability::MachineApplicable)
            .label(next, "unexpected token");
        return;
    }
    if (may_be_tail) check(T::CloseBrace);
    unexpected();
}

// `auto x = ..`, `var x = ..`, `mut x = ..`: habits from other languages.
bool Parser::bad_declaration() const {
    if (at(T::KwMut)) return true;
    const bool other_word = at(T::KwAuto) || (at(T::Ident) && token_text() == "var");
    return other_word && lex::is_ident(peek());
}

void Parser::let_statement(Span start, Attributes attributes, Scratch<StmtId>& out) {
    if (!at(T::KwMut)) bump();
    ast::LetStmt let;
    if (at(T::KwLet) && !failed_) {
        error(span(), "expected pattern, found `let`")
            .suggest(span(), "", "remove the unnecessary `let` keyword", Applicability::MachineApplicable);
        bump();
    }
    let.pattern = pattern_no_top_alternatives("`let` bindings require top-level or-patterns in parentheses");
    if (eat(T::Colon)) let.type = type();
    if (at(T::EqualEqual)) {
        error(span(), "unexpected `==`")
            .suggest(span(), "=", "try using `=` instead", Applicability::MachineApplicable);
        bump();
        let.init = expr();
    } else if (!failed_ && let.type.valid() ? eat_first(T::Equal) : eat(T::Equal)) {
        let.init = expr();
        if (check(T::KwElse) && !failed_) {
            bump();
            reject_let_else(let.init);
            let.else_block = block();
        }
    } else if (at_compound_assignment()) {
        error(span(), "can't reassign to an uninitialized variable")
            .help("if you meant to overwrite, remove the `let` binding");
        bump();
        let.init = expr();
    }
    if (!failed_) end_statement(false);
    out.push(crate_.add(ast::Stmt{from(start), attributes, let}));
}

bool Parser::at_compound_assignment() const {
    return at_any({T::PlusEqual, T::MinusEqual, T::StarEqual, T::SlashEqual, T::PercentEqual, T::CaretEqual,
                   T::AndEqual, T::OrEqual, T::LessLessEqual, T::GreaterGreaterEqual});
}

// `let P = a && b else {}` and `let P = S {..} else {}` read like something else and are refused.
void Parser::reject_let_else(ExprId init) {
    if (failed_) return;
    const ast::Expr& node = crate_[init];
    if (const auto* lazy = ast::get_if<ast::BinaryExpr>(node);
        lazy != nullptr && (lazy->op == ast::BinaryOp::And || lazy->op == ast::BinaryOp::Or)) {
        error(node.span, fmt::format("a `{}` expression cannot be directly assigned in `let...else`",
                                     ast::info(lazy->op).text))
            .suggest(node.span, "(" + std::string(context_.sources.text(node.span)) + ")",
                     "wrap the expression in parentheses", Applicability::MachineApplicable);
        return;
    }
    if (ends_in_brace(init)) {
        const Span brace{node.span.file, node.span.end - 1, node.span.end};
        error(brace, "right curly brace `}` before `else` in a `let...else` statement not allowed")
            .suggest(node.span, "(" + std::string(context_.sources.text(node.span)) + ")",
                     "wrap the expression in parentheses", Applicability::MachineApplicable);
    }
}

// Whether the last token of an expression is a `}` that belongs to its outermost right spine.
bool Parser::ends_in_brace(ExprId expr) const {
    for (;;) {
        const ast::ExprData& data = crate_[expr].data;
        ExprId next;
        if (const auto* e = std::get_if<ast::AddressOfExpr>(&data)) next = e->operand;
        if (const auto* e = std::get_if<ast::UnaryExpr>(&data)) next = e->operand;
        if (const auto* e = std::get_if<ast::BinaryExpr>(&data)) next = e->rhs;
        if (const auto* e = std::get_if<ast::AssignExpr>(&data)) next = e->rhs;
        if (const auto* e = std::get_if<ast::AssignOpExpr>(&data)) next = e->rhs;
        if (const auto* e = std::get_if<ast::RangeExpr>(&data)) next = e->to;
        if (const auto* e = std::get_if<ast::BreakExpr>(&data)) next = e->value;
        if (const auto* e = std::get_if<ast::ReturnExpr>(&data)) next = e->value;
        if (const auto* e = std::get_if<ast::ClosureExpr>(&data)) next = crate_[e->closure].body;
        if (next.valid()) {
            expr = next;
            continue;
        }
        if (const auto* e = std::get_if<ast::MacroExpr>(&data))
            return crate_[e->call].delimiter == ast::Delimiter::Brace;
        return std::holds_alternative<ast::BlockExpr>(data) || std::holds_alternative<ast::IfExpr>(data) ||
               std::holds_alternative<ast::MatchExpr>(data) || std::holds_alternative<ast::WhileExpr>(data) ||
               std::holds_alternative<ast::LoopExpr>(data) || std::holds_alternative<ast::ForExpr>(data) ||
               std::holds_alternative<ast::StructExpr>(data);
    }
}

}  // namespace ockc::parse
