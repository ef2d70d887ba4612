// Operators: precedence climbing over the rows of ast/operators.def, and what stands before and behind an
// operand.
//
//     expr    = prefix ( operator prefix | "as" type | ( ".." | "..=" ) expr? | "=" expr | "+=" expr .. )*
//     prefix  = attribute* ( "-" | "!" | "*" | "&" "raw"? "mut"? ) prefix | ( ".." | "..=" ) expr? | postfix
//     postfix = primary ( "?" | "." name | "." name args "(" exprs ")" | "." "await" | "." number | "(" exprs
//     ")" | "[" expr "]" )*
#include <fmt/format.h>

#include <array>

#include "parse/parser_impl.hpp"

namespace ockc::parse {

namespace {

// What a token means behind an operand.
struct Infix {
    enum class Kind : std::uint8_t { None, Binary, Assign, AssignOp, Range, Cast };
    Kind kind = Kind::None;
    ast::BinaryOp op = ast::BinaryOp::Add;
    Precedence precedence = Precedence::Lowest;
};

constexpr std::array<Infix, lex::kTokenKindCount> make_infixes() {
    std::array<Infix, lex::kTokenKindCount> table{};
    const auto row = [&](TokenKind token) -> Infix& { return table[static_cast<std::size_t>(token)]; };
#define OCKC_BINARY_OP(name, text, token, precedence, trait, method) \
    row(T::token) = {Infix::Kind::Binary, ast::BinaryOp::name, Precedence::precedence};
#define OCKC_ASSIGN_OP(name, text, token, trait, method) \
    row(T::token) = {Infix::Kind::AssignOp, ast::BinaryOp::name, Precedence::Assign};
#include "ast/operators.def"
    row(T::Equal) = {Infix::Kind::Assign, ast::BinaryOp::Add, Precedence::Assign};
    row(T::DotDot) = {Infix::Kind::Range, ast::BinaryOp::Add, Precedence::Range};
    row(T::DotDotEqual) = {Infix::Kind::Range, ast::BinaryOp::Add, Precedence::Range};
    row(T::DotDotDot) = {Infix::Kind::Range, ast::BinaryOp::Add, Precedence::Range};
    row(T::KwAs) = {Infix::Kind::Cast, ast::BinaryOp::Add, Precedence::Cast};
    return table;
}

constexpr std::array<Infix, lex::kTokenKindCount> kInfixes = make_infixes();

Precedence above(Precedence p) {
    return static_cast<Precedence>(static_cast<int>(p) + 1);
}

}  // namespace

ExprId Parser::expr_with(Restrictions restrictions) {
    With with(*this, restrictions);
    return expr_assoc(Precedence::Lowest, outer_attributes());
}

ExprId Parser::expr_assoc(Precedence min, Attributes attributes) {
    Nested nested(*this);
    if (failed_) return error_expr();
    if (at_any({T::DotDot, T::DotDotEqual, T::DotDotDot})) {
        const ExprId range_expr = prefix_range();
        attach(range_expr, attributes);
        return range_expr;
    }
    return expr_rest(prefix(attributes), min);
}

// Goes on behind `lhs` with the operators that bind at least as tightly as `min`.
ExprId Parser::expr_rest(ExprId lhs, Precedence min) {
    while (!failed_) {
        if (is_complete(lhs)) return lhs;
        also(Expect::Operator);
        const Infix infix = kInfixes[static_cast<std::size_t>(kind_)];
        if (infix.kind == Infix::Kind::None || infix.precedence < min) return lhs;
        const Span start = crate_[lhs].span;
        const bool keeps_let = infix.kind == Infix::Kind::Binary && infix.op == ast::BinaryOp::And;
        if (!keeps_let) check_let_operand(lhs);
        switch (infix.kind) {
            case Infix::Kind::None: return lhs;
            case Infix::Kind::Cast: lhs = cast(lhs, start); break;
            case Infix::Kind::Range: return range(lhs, start);
            case Infix::Kind::Binary: lhs = binary(infix.op, lhs); break;
            case Infix::Kind::Assign:
            case Infix::Kind::AssignOp: {
                const Span op_span = span();
                bump();
                Restrictions inner = restrictions_;
                inner.statement = inner.allow_let = false;
                With with(*this, inner);
                const ExprId rhs = expr_assoc(Precedence::Assign, outer_attributes());
                lhs = infix.kind == Infix::Kind::Assign
                          ? make_expr(start, ast::AssignExpr{op_span, lhs, rhs})
                          : make_expr(start, ast::AssignOpExpr{infix.op, op_span, lhs, rhs});
                break;
            }
        }
        grow();
    }
    return lhs;
}

ExprId Parser::binary(ast::BinaryOp op, ExprId lhs) {
    const Span start = crate_[lhs].span;
    const Span op_span = span();
    const Precedence precedence = ast::info(op).precedence;
    const bool chained = precedence == Precedence::Compare && check_chained_comparison(lhs, op, op_span);
    bump();
    Restrictions inner = restrictions_;
    inner.statement = false;
    inner.allow_let = restrictions_.allow_let && op == ast::BinaryOp::And;
    With with(*this, inner);
    const ExprId rhs = expr_assoc(above(precedence), outer_attributes());
    if (chained) return make_expr(start, ast::ErrorExpr{});   // its types would be errors of their own
    return make_expr(start, ast::BinaryExpr{op, op_span, lhs, rhs});
}

// Was it one: reported.
bool Parser::check_chained_comparison(ExprId lhs, ast::BinaryOp op, Span op_span) {
    const auto* left = ast::get_if<ast::BinaryExpr>(crate_[lhs]);
    if (left == nullptr || ast::info(left->op).precedence != Precedence::Compare) return false;
    Diagnostic& diagnostic = error(left->op_span, "comparison operators cannot be chained");
    diagnostic.labels.push_back({op_span, {}, true});
    if (left->op == ast::BinaryOp::Lt && op == ast::BinaryOp::Gt) {
        diagnostic.suggest(left->op_span.start(), "::",
                           "use `::<...>` instead of `<...>` to specify lifetime, type, or const arguments");
    } else if (left->op != ast::BinaryOp::Eq && op != ast::BinaryOp::Eq && left->op != ast::BinaryOp::Ne && op != ast::BinaryOp::Ne) {
        diagnostic.suggest(crate_[left->rhs].span.after(), " && " + std::string(context_.sources.text(crate_[left->rhs].span)),
                           "split the comparison into two");
    }
    return true;
}

// `let` may be an operand of `&&` alone.
void Parser::check_let_operand(ExprId lhs) {
    if (!restrictions_.allow_let) return;
    for (;;) {
        if (ast::get_if<ast::LetExpr>(crate_[lhs]) != nullptr) break;
        const auto* both = ast::get_if<ast::BinaryExpr>(crate_[lhs]);
        if (both == nullptr || both->op != ast::BinaryOp::And) return;
        if (ast::get_if<ast::LetExpr>(crate_[both->rhs]) != nullptr) {
            lhs = both->rhs;
            break;
        }
        lhs = both->lhs;
    }
    Diagnostic& diagnostic = error(crate_[lhs].span, "expected expression, found `let` statement");
    diagnostic.note("only supported directly in conditions of `if` and `while` expressions");
    if (at(T::OrOr)) diagnostic.note("`||` operators are not supported in let chain expressions");
}

ExprId Parser::cast(ExprId operand, Span start) {
    bump();
    const TypeId target = type(AllowPlus::No);
    // `x as usize < y`: the type took `< y` for generic arguments; rustc reports this case as ambiguous,
    // which `type` did.
    return make_expr(start, ast::CastExpr{operand, target});
}

// `from ..`, at the operator.
ExprId Parser::range(ExprId from_expr, Span start) {
    ast::RangeExpr out;
    out.from = from_expr;
    const Span op = span();
    out.end = at(T::DotDot) ? ast::RangeEnd::Exclusive : ast::RangeEnd::Inclusive;
    if (at(T::DotDotDot)) {
        error(op, "unexpected token: `...`")
            .suggest(op, "..", "use `..` for an exclusive range")
            .suggest(op, "..=", "or `..=` for an inclusive range");
    }
    bump();
    if (out.end == ast::RangeEnd::Inclusive && at(T::Equal) && !failed_) {
        error(op.to(span()), "unexpected `=` after inclusive range")
            .suggest(op.to(span()), "..=", "use `..=` instead")
            .note("inclusive ranges end with a single equals sign (`..=`)");
        bump();
    }
    if (at_expr_start() && !(restrictions_.no_struct && at(T::OpenBrace))) {
        Restrictions inner = restrictions_;  // `..if a {} else {}` ends a statement
        inner.allow_let = false;
        With with(*this, inner);
        out.to = expr_assoc(above(Precedence::Range), outer_attributes());
    } else if (out.end == ast::RangeEnd::Inclusive && !failed_) {
        error(Code::E0586, op, "inclusive range with no end")
            .suggest(op, "..", "use `..` instead")
            .note("inclusive ranges must be bounded at the end (`..=b` or `a..=b`)");
        return error_expr();
    }
    grow();
    return make_expr(start, out);
}

ExprId Parser::prefix_range() {
    return range({}, span());
}

ExprId Parser::prefix(Attributes attributes) {
    const Span start = span();
    ExprId out;
    switch (kind_) {
        case T::Not: out = unary(ast::UnaryOp::Not); break;
        case T::Minus: out = unary(ast::UnaryOp::Neg); break;
        case T::Star: out = unary(ast::UnaryOp::Deref); break;
        case T::And:
        case T::AndAnd: out = address_of(); break;
        case T::Plus: out = leading_plus(); break;
        case T::Tilde:
            error(start, "`~` cannot be used as a unary operator")
                .suggest(start, "!", "use `!` to perform bitwise not", Applicability::MachineApplicable);
            out = unary(ast::UnaryOp::Not);
            break;
        default: {
            const ExprId base = primary(attributes);
            // With attributes on it, `#[a] x.y` attaches to the whole postfix expression.
            out = postfix(base);
        }
    }
    attach(out, attributes);
    return out;
}

ExprId Parser::unary(ast::UnaryOp op) {
    Nested nested(*this);
    const Span start = span();
    bump();
    if (failed_) return error_expr();
    Restrictions inner = restrictions_;
    inner.statement = inner.allow_let = false;
    With with(*this, inner);
    const ExprId operand = prefix(outer_attributes());
    return make_expr(start, ast::UnaryExpr{op, operand});
}

ExprId Parser::leading_plus() {
    const Span start = span();
    if (peek() == T::Plus && buffer_.touches_next(pos_)) {
        error(start.to(buffer_.span(pos_ + 1)), "Rust has no prefix increment operator")
            .label(start.to(buffer_.span(pos_ + 1)), "not a valid prefix operator")
            .help("use `+= 1` instead");
        Nested nested(*this);
        bump(), bump();
        return failed_ ? error_expr() : prefix({});
    }
    error(start, "leading `+` is not supported")
        .label(start, "unexpected `+`")
        .suggest(start, "", "try removing the `+`", Applicability::MachineApplicable);
    Nested nested(*this);
    bump();
    if (failed_) return error_expr();
    return prefix({});
}

// `&x`, `&mut x`, `&raw const x`, `&raw mut x`; `&&x` is two of them.
ExprId Parser::address_of() {
    Nested nested(*this);
    const Span start = span();
    eat_first(T::And);
    if (failed_) return error_expr();
    Restrictions inner = restrictions_;
    inner.statement = inner.allow_let = false;
    With with(*this, inner);
    if (at(T::And) && split_ != 0) {
        const ExprId operand = address_of();
        return make_expr(start, ast::AddressOfExpr{ast::RefKind::Reference, false, operand});
    }
    ast::AddressOfExpr out;
    if (at(T::KwRaw) && (peek() == T::KwMut || (peek() == T::KwConst && peek(2) != T::OpenBrace))) {
        bump();
        out.kind = ast::RefKind::Raw;
        out.is_mut = at(T::KwMut);
        bump();
    } else {
        if (lex::is_lifetime(kind_) && peek() != T::Colon) {
            error(span(), "borrow expressions cannot be annotated with lifetimes")
                .suggest(span(), "", "remove the lifetime annotation", Applicability::MachineApplicable);
            bump();
        }
        out.is_mut = eat(T::KwMut);
    }
    out.operand = prefix(outer_attributes());
    return make_expr(start, out);
}

ExprId Parser::postfix(ExprId base) {
    while (!failed_) {
        const Span start = crate_[base].span;
        if (eat(T::Question)) {
            base = make_expr(start, ast::TryExpr{base});
        } else if (check(T::Dot)) {
            bump();
            base = dot_suffix(base, start);
        } else if (is_complete(base)) {
            return base;
        } else if (at(T::OpenParen)) {
            base = call(base, start);
        } else if (at(T::OpenBracket)) {
            const std::uint32_t close = buffer_.partner(pos_);
            bump();
            const ExprId index = expr();
            if (!check(T::CloseBracket)) unexpected();
            skip_to_close(close);
            base = make_expr(start, ast::IndexExpr{base, index});
        } else {
            return base;
        }
        grow();
    }
    return base;
}

List<ExprId> Parser::expr_list(T close) {
    Scratch<ExprId> list(*this);
    comma_list(close, [&] { list.push(expr()); });
    return list.finish();
}

ExprId Parser::call(ExprId callee, Span start) {
    const List<ExprId> args = expr_list(T::CloseParen);
    return make_expr(start, ast::CallExpr{callee, args});
}

// Behind the dot.
ExprId Parser::dot_suffix(ExprId base, Span start) {
    if (at(T::KwAwait)) {
        bump();
        if (at(T::OpenParen) && peek() == T::CloseParen) {
            const Span call_start = span();
            bump(), bump();
            error(from(start), "incorrect use of `await`")
                .suggest(from(call_start), "", "`await` is not a method call, remove the parentheses",
                         Applicability::MachineApplicable);
        }
        return make_expr(start, ast::AwaitExpr{base});
    }
    if (at(T::Integer) || at(T::Float)) return tuple_index(base, start);
    if (!lex::is_ident(kind_) && !lex::is_keyword(kind_)) {
        if (!failed_)
            error(span(), fmt::format("unexpected token: {}", describe_token()))
                .label(span(), "unexpected token");
        fail();
        return base;
    }
    ast::PathSegment segment;
    if (!path_segment(PathStyle::Expr, segment)) return base;
    if (check(T::OpenParen)) {
        const Span args_start = span();
        const List<ExprId> args = expr_list(T::CloseParen);
        return make_expr(start, ast::MethodCallExpr{base, segment, args, from(args_start)});
    }
    if (segment.args.valid()) {
        error(crate_[segment.args].span, "field expressions cannot have generic arguments");
    }
    return make_expr(start, ast::FieldExpr{base, segment.ident});
}

// `t.0`; `t.0.1` has the float `0.1` behind its first dot.
ExprId Parser::tuple_index(ExprId base, Span start) {
    const Span whole = span();
    const std::string_view digits = token_text();
    const std::uint32_t context = buffer_.context(pos_);
    const auto piece = [&](std::size_t begin, std::size_t end) {
        Ident name;
        name.name = intern(digits.substr(begin, end - begin));
        name.span = {whole.file, whole.begin + static_cast<std::uint32_t>(begin),
                     whole.begin + static_cast<std::uint32_t>(end)};
        name.context = context;
        return name;
    };
    const auto field = [&](ExprId inner, Ident name) {
        return crate_.add(ast::Expr{
            start.file == name.span.file ? start.to(name.span) : start, {}, ast::FieldExpr{inner, name}});
    };
    const std::size_t dot = digits.find('.');
    const bool plain = digits.find_first_not_of("0123456789.") == std::string_view::npos;
    if (!plain) {
        const std::size_t suffix = digits.find_first_not_of("0123456789_");
        if (at(T::Integer) && digits.substr(0, 2) != "0x" && digits.substr(0, 2) != "0b" &&
            digits.substr(0, 2) != "0o") {
            error(whole, "suffixes on a tuple index are invalid")
                .label(whole, fmt::format("invalid suffix `{}`", digits.substr(suffix)));
        } else if (at(T::Float)) {
            error(whole, fmt::format("unexpected token: `{}`", digits)).label(whole, "unexpected token");
            fail();
            return base;
        }
    }
    if (at(T::Integer) || dot == std::string_view::npos) {
        bump();
        return field(base, piece(0, digits.size()));
    }
    bump();
    const ExprId outer = field(base, piece(0, dot));
    if (dot + 1 < digits.size()) {
        grow();
        return field(outer, piece(dot + 1, digits.size()));
    }
    return dot_suffix(outer, start);  // `t.0.` and then a name
}

void Parser::attach(ExprId expr, Attributes attributes) {
    if (attributes.empty()) return;
    ast::Expr& node = crate_.mutable_expr(expr);
    node.attributes = join(attributes, node.attributes);
}

// Whether `expr` stands at the start of a statement and ends it by itself.
bool Parser::is_complete(ExprId expr) const {
    if (!restrictions_.statement) return false;
    const ast::ExprData& data = crate_[expr].data;
    if (const auto* b = std::get_if<ast::BlockExpr>(&data)) return b->kind != ast::BlockKind::Async;
    return std::holds_alternative<ast::IfExpr>(data) || std::holds_alternative<ast::MatchExpr>(data) ||
           std::holds_alternative<ast::WhileExpr>(data) || std::holds_alternative<ast::LoopExpr>(data) ||
           std::holds_alternative<ast::ForExpr>(data);
}

bool Parser::at_expr_start() const {
    if (lex::is_literal(kind_) || lex::is_lifetime(kind_) || at_path_start()) return true;
    return at_any({T::OpenParen,  T::OpenBracket, T::OpenBrace, T::OpenInvisible, T::Not,      T::Minus,
                   T::Star,       T::Or,          T::OrOr,      T::And,           T::AndAnd,   T::DotDot,
                   T::DotDotDot,  T::DotDotEqual, T::Pound,     T::KwAsync,       T::KwBreak,  T::KwConst,
                   T::KwContinue, T::KwFalse,     T::KwFor,     T::KwYield,       T::KwTry,    T::KwIf,
                   T::KwLet,      T::KwLoop,      T::KwMatch,   T::KwMove,        T::KwReturn, T::KwTrue,
                   T::KwUnsafe,   T::KwWhile,     T::KwStatic});
}

}  // namespace ockc::parse
