// panic!, assert! and their relatives: a Panic expression with a message and the values that the message shows.
//
// Format strings are taken apart here: the HIR message has `{}` (or `{:spec}`) for each value, in order; braces that are meant
// as such are doubled, as in the source.
#include <algorithm>

#include <fmt/format.h>

#include "resolve/lower.hpp"
#include "resolve/reach.hpp"

namespace ockc::resolve {

hir::ExprId Lowerer::panic_expr(hir::PanicKind kind, std::string message, std::span<const hir::ExprId> args, Span span) {
    hir::PanicExpr panic;
    panic.kind = kind;
    panic.message = s_.program.arena.copy(std::string_view(message));
    panic.args = s_.program.arena.copy(args);
    return add_expr(span, panic);
}

// `a, b, name = c`: an assignment to a plain name is a named argument.
bool Lowerer::format_arguments(lex::TokenRange range, std::vector<ast::ExprId>& args, std::vector<ast::Ident>& names) {
    for (const ast::ExprId id : parse::parse_expr_list(range, s_.parse_context(crate_))) {
        const auto* assign = ast::get_if<ast::AssignExpr>(ast()[id]);
        const auto* path = assign != nullptr ? ast::get_if<ast::PathExpr>(ast()[assign->lhs]) : nullptr;
        if (path != nullptr && ast()[path->path].segments.size() == 1) {
            names.push_back(ast()[path->path].segments[0].ident);
            args.push_back(assign->rhs);
        } else {
            names.emplace_back();
            args.push_back(id);
        }
    }
    return true;
}

namespace {

// One `{..}` of a format string.
struct Hole {
    std::string_view argument;   // "", "0", "name"
    std::string_view spec;       // with its ':', or empty
};

// Splits a format string; text pieces go to `pieces` (one more than holes). False when braces do not match.
bool split_format(std::string_view format, std::vector<std::string>& pieces, std::vector<Hole>& holes) {
    pieces.emplace_back();
    for (std::size_t i = 0; i < format.size(); ++i) {
        const char c = format[i];
        if (c != '{' && c != '}') {
            pieces.back() += c;
            continue;
        }
        if (i + 1 < format.size() && format[i + 1] == c) {
            pieces.back() += c;
            pieces.back() += c;
            ++i;
            continue;
        }
        if (c == '}') return false;
        const std::size_t end = format.find('}', i);
        if (end == std::string_view::npos) return false;
        const std::string_view inside = format.substr(i + 1, end - i - 1);
        const std::size_t colon = inside.find(':');
        Hole hole;
        hole.argument = inside.substr(0, colon);
        if (colon != std::string_view::npos) hole.spec = inside.substr(colon);
        while (!hole.argument.empty() && hole.argument.back() == ' ') hole.argument.remove_suffix(1);
        while (!hole.argument.empty() && hole.argument.front() == ' ') hole.argument.remove_prefix(1);
        holes.push_back(hole);
        pieces.emplace_back();
        i = end;
    }
    return true;
}

bool is_number(std::string_view text) {
    return !text.empty() && text.size() < 6 && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

bool Lowerer::format_message(std::span<const ast::ExprId> args, std::span<const ast::Ident> names, Span span, std::string& message, std::vector<hir::ExprId>& values) {
    if (args.empty()) return true;
    const ast::Expr first = ast()[args[0]];
    const auto* literal_expr = ast::get_if<ast::LiteralExpr>(first);
    std::string format;
    if (literal_expr != nullptr && ast()[literal_expr->literal].kind == lex::LiteralKind::String) {
        format = text(ast()[literal_expr->literal].text);
    } else {
        const hir::ExprId lowered = ast::get_if<ast::MacroExpr>(first) != nullptr ? lower_expr(args[0]) : hir::ExprId();
        const auto* value = lowered.valid() ? std::get_if<hir::LiteralExpr>(&body().exprs[lowered].data) : nullptr;
        if (value == nullptr || value->value.kind != hir::Literal::Kind::Str) {
            error(Code::None, first.span, "format argument must be a string literal").help("you might be missing a string literal to format with: `\"{}\", `");
            return false;
        }
        format = value->value.text;
    }
    std::vector<std::string> pieces;
    std::vector<Hole> holes;
    if (!split_format(format, pieces, holes)) {
        error(Code::None, first.span, "invalid format string: unmatched brace").note("if you intended to print a brace, you can escape it by doubling it: `{{` or `}}`");
        return false;
    }
    const std::size_t given = args.size() - 1;
    std::vector<std::uint32_t> uses(given);
    std::size_t next = 0;
    message += pieces[0];
    for (std::size_t h = 0; h < holes.size(); ++h) {
        const Hole& hole = holes[h];
        if (hole.spec.find('$') != std::string_view::npos || hole.spec.find('*') != std::string_view::npos) {
            refuse(Code::OCK0903, first.span, "widths and precisions taken from arguments are", "write the number into the message: `{:8}`, `{:.3}`");
            return false;
        }
        std::optional<std::size_t> index;
        if (hole.argument.empty()) index = next++;
        else if (is_number(hole.argument)) index = static_cast<std::size_t>(std::stoul(std::string(hole.argument)));
        for (std::size_t i = 0; !index && i < given; ++i) {
            if (names[i + 1].valid() && text(names[i + 1].name) == hole.argument) index = i;
        }
        if (index && *index >= given) {
            error(Code::None, first.span, fmt::format("{} positional argument{} in format string, but there {} {} argument{}", holes.size(), holes.size() == 1 ? "" : "s",
                                                     given == 1 ? "is" : "are", given, given == 1 ? "" : "s"));
            return false;
        }
        if (index) {
            const ast::Expr& arg = ast()[args[*index + 1]];
            if (++uses[*index] > 1 && ast::get_if<ast::PathExpr>(arg) == nullptr && ast::get_if<ast::LiteralExpr>(arg) == nullptr) {
                refuse(Code::OCK0903, first.span, "computed arguments that a message shows twice are", "put the value into a variable first");
                return false;
            }
            values.push_back(lower_expr(args[*index + 1]));
        } else {   // a captured variable
            values.push_back(lower_expr(captured_name(hole.argument, first.span)));
        }
        message += fmt::format("{{{}}}", hole.spec);
        message += pieces[h + 1];
    }
    for (std::size_t i = 0; i < given; ++i) {
        if (uses[i] != 0) continue;
        error(Code::None, ast()[args[i + 1]].span, names[i + 1].valid() ? "named argument never used" : "argument never used").label(at(ast()[args[i + 1]].span), "argument never used");
        return false;
    }
    static_cast<void>(span);
    return true;
}

hir::ExprId Lowerer::panic_macro(hir::PanicKind kind, const ast::MacroCall& call, Span span) {
    std::vector<ast::ExprId> args;
    std::vector<ast::Ident> names;
    format_arguments(call.body, args, names);
    std::string message;
    switch (kind) {
        case hir::PanicKind::Panic: message = args.empty() ? "explicit panic" : ""; break;
        case hir::PanicKind::Unreachable: message = args.empty() ? "internal error: entered unreachable code" : "internal error: entered unreachable code: "; break;
        case hir::PanicKind::Todo: message = args.empty() ? "not yet implemented" : "not yet implemented: "; break;
        case hir::PanicKind::Unimplemented: message = args.empty() ? "not implemented" : "not implemented: "; break;
        case hir::PanicKind::Assert:
        case hir::PanicKind::AssertEq:
        case hir::PanicKind::AssertNe: OCKC_UNREACHABLE("asserts have macros of their own");
    }
    std::vector<hir::ExprId> values;
    if (!format_message(args, names, span, message, values)) return error_expr(span);
    return panic_expr(kind, std::move(message), values, span);
}

// assert!(c, ..) => if c {} else { panic }
hir::ExprId Lowerer::assert_macro(const ast::MacroCall& call, Span span) {
    std::vector<ast::ExprId> args;
    std::vector<ast::Ident> names;
    format_arguments(call.body, args, names);
    if (args.empty()) {
        error(Code::None, span, "macro requires a boolean expression as an argument").label(at(span), "boolean expression required");
        return error_expr(span);
    }
    hir::IfExpr branch;
    branch.condition = lower_expr(args[0]);
    branch.then_expr = block_expr(make_block(span, {}, {}), span, true);
    std::string message;
    std::vector<hir::ExprId> values;
    if (args.size() == 1) {
        std::string source(s_.sources.text(ast()[args[0]].span));
        message = "assertion failed: ";
        for (const char c : source) {
            const bool space = c == ' ' || c == '\n' || c == '\t' || c == '\r';
            if (space && message.back() == ' ') continue;
            message += space ? ' ' : c;
            if (c == '{' || c == '}') message += c;
        }
    } else if (!format_message(std::span(args).subspan(1), std::span(names).subspan(1), span, message, values)) {
        return error_expr(span);
    }
    hir::Stmt stmt;
    stmt.kind = hir::Stmt::Kind::Semi;
    stmt.span = at(span);
    stmt.expr = panic_expr(hir::PanicKind::Assert, std::move(message), values, span);
    branch.else_expr = block_expr(make_block(span, {&stmt, 1}, {}), span, true);
    return add_expr(span, branch, true);
}

// assert_eq!(a, b, ..) => match (&a, &b) { (left_val, right_val) => if *left_val == *right_val {} else { panic } }
hir::ExprId Lowerer::assert_compare_macro(hir::PanicKind kind, const ast::MacroCall& call, Span span) {
    std::vector<ast::ExprId> args;
    std::vector<ast::Ident> names;
    format_arguments(call.body, args, names);
    if (args.size() < 2) {
        error(Code::None, span, "unexpected end of macro invocation").label(at(span), "missing tokens in macro arguments").help("two expressions are compared");
        return error_expr(span);
    }
    const bool equal = kind == hir::PanicKind::AssertEq;
    mention(s_, equal ? "eq" : "ne");
    mention(s_, "deref");
    const auto borrow = [&](ast::ExprId arg) {
        const hir::ExprId value = lower_expr(arg);
        return add_expr(ast()[arg].span, hir::AddressOfExpr{false, hir::Mutability::Not, value}, true);
    };
    const hir::ExprId left_ref = borrow(args[0]);
    const hir::ExprId right_ref = borrow(args[1]);
    const hir::ExprId pair = add_expr(span, hir::TupleExpr{list({left_ref, right_ref})}, true);
    const hir::LocalId left = fresh_local("left_val", span), right = fresh_local("right_val", span);
    hir::Arm arm;
    arm.span = at(span);
    const hir::PatId left_pat = binding_pat(span, left);
    const hir::PatId right_pat = binding_pat(span, right);
    arm.pat = add_pat(span, hir::TuplePat{list({left_pat, right_pat}), 0xFFFF'FFFFu});

    const auto value = [&](hir::LocalId local) { return add_expr(span, hir::UnaryExpr{ast::UnaryOp::Deref, local_path(local, span)}, true); };
    const hir::ExprId lhs = value(left);
    const hir::ExprId rhs = value(right);
    hir::IfExpr branch;
    branch.condition = add_expr(span, hir::BinaryExpr{equal ? ast::BinaryOp::Eq : ast::BinaryOp::Ne, at(span), lhs, rhs}, true);
    branch.then_expr = block_expr(make_block(span, {}, {}), span, true);
    std::string message = equal ? "assertion `left == right` failed" : "assertion `left != right` failed";
    std::vector<hir::ExprId> values;
    if (args.size() > 2) {
        message += ": ";
        if (!format_message(std::span(args).subspan(2), std::span(names).subspan(2), span, message, values)) return error_expr(span);
    }
    message += "\n  left: {:?}\n right: {:?}";
    values.push_back(value(left));
    values.push_back(value(right));
    hir::Stmt stmt;
    stmt.kind = hir::Stmt::Kind::Semi;
    stmt.span = at(span);
    stmt.expr = panic_expr(kind, std::move(message), values, span);
    branch.else_expr = block_expr(make_block(span, {&stmt, 1}, {}), span, true);
    arm.body = add_expr(span, branch, true);
    return add_expr(span, hir::MatchExpr{pair, list({arm}), hir::MatchSource::Match}, true);
}

}  // namespace ockc::resolve
