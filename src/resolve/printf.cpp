// gpu_printf!("format", a, b) => vprintf("format", (PrintValue::print_value(&a), PrintSigned::print_signed(&b)))
//
// What the library gets as `format` is the text with `\x01 layout kind` for each value; what C calls the value is known once
// its type is (lower/lower_print.cpp).
#include <algorithm>

#include <fmt/format.h>

#include "resolve/format_string.hpp"
#include "resolve/lower.hpp"
#include "resolve/reach.hpp"

namespace ockc::resolve {

namespace {

constexpr char kHoleMark = '\x01';

void append_text(std::string& out, std::string_view text, bool plain) {
    for (const char c : text) {
        out += c;
        if (c == kHoleMark || (plain && c == '%')) out += c;
    }
}

bool is_position(std::string_view text) {
    return !text.empty() && text.size() < 6 && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

bool Lowerer::string_literal(ast::ExprId id, Code code, std::string_view message, std::string& text, std::vector<std::uint32_t>& offsets) {
    const ast::Expr expr = ast()[id];
    if (const auto* literal = ast::get_if<ast::LiteralExpr>(expr); literal != nullptr && ast()[literal->literal].kind == lex::LiteralKind::String) {
        text = this->text(ast()[literal->literal].text);
        offsets = literal_offsets(s_.sources.text(expr.span), text.size());
        return true;
    }
    const hir::ExprId lowered = ast::get_if<ast::MacroExpr>(expr) != nullptr ? lower_expr(id) : hir::ExprId();
    const auto* value = lowered.valid() ? std::get_if<hir::LiteralExpr>(&body().exprs[lowered].data) : nullptr;
    if (value == nullptr || value->value.kind != hir::Literal::Kind::Str) {
        error(code, expr.span, std::string(message));
        return false;
    }
    text = value->value.text;
    return true;
}

// A variable that the format string names itself.
ast::ExprId Lowerer::captured_name(std::string_view name, Span span) {
    ast::PathSegment segment;
    segment.kind = name == "self" ? ast::SegmentKind::SelfValue : ast::SegmentKind::Name;
    segment.ident.name = s_.names.intern(name);
    segment.ident.span = span;
    ast::Path path;
    path.span = span;
    path.segments = s_.ast_of(crate_).list({segment});
    ast::Expr expr;
    expr.span = span;
    expr.data = ast::PathExpr{s_.ast_of(crate_).add(path)};
    return s_.ast_of(crate_).add(expr);
}

hir::ExprId Lowerer::printf_macro(const ast::MacroCall& call, Span span) {
    std::vector<ast::ExprId> args;
    std::vector<ast::Ident> names;
    format_arguments(call.body, args, names);
    if (args.empty()) {
        error(Code::OCK0115, span, "`gpu_printf!` takes a format string").help("`gpu_printf!(\"{} {}\\n\", a, b)`");
        return error_expr(span);
    }
    std::string text;
    std::vector<std::uint32_t> offsets;
    if (!string_literal(args[0], Code::OCK0115, "the format must be a string literal", text, offsets)) return error_expr(span);
    const Span whole = ast()[args[0]].span;
    const auto place = [&](std::size_t begin, std::size_t end) {
        return offsets.empty() ? whole : Span{whole.file, whole.begin + offsets[begin], whole.begin + offsets[end]};
    };
    PrintFormat format = read_print_format(text);
    if (format.mistake) {
        auto& diagnostic = error(Code::OCK0115, place(format.mistake->begin, format.mistake->end), format.mistake->text);
        if (!format.mistake->help.empty()) diagnostic.help(format.mistake->help);
        return error_expr(span);
    }
    const std::size_t given = args.size() - 1;
    std::vector<std::uint32_t> uses(given);
    std::vector<hir::ExprId> wires;
    std::string message;
    std::size_t next = 0;
    append_text(message, format.texts[0], false);
    for (std::size_t h = 0; h < format.holes.size(); ++h) {
        const PrintHole& hole = format.holes[h];
        const Span at_hole = place(hole.begin, hole.end);
        std::optional<std::size_t> index;
        if (hole.argument.empty()) index = next++;
        else if (is_position(hole.argument)) index = static_cast<std::size_t>(std::stoul(std::string(hole.argument)));
        for (std::size_t i = 0; !index && i < given; ++i) {
            if (names[i + 1].valid() && this->text(names[i + 1].name) == hole.argument) index = i;
        }
        if (index && *index >= given) {
            error(Code::OCK0115, at_hole, fmt::format("there is no value for this: {} value{} given", given, given == 1 ? " is" : "s are"));
            return error_expr(span);
        }
        const ast::ExprId arg = index ? args[*index + 1] : captured_name(hole.argument, at_hole);
        const ast::Expr shown = ast()[arg];
        if (index && ++uses[*index] > 1 && ast::get_if<ast::PathExpr>(shown) == nullptr && ast::get_if<ast::LiteralExpr>(shown) == nullptr) {
            error(Code::OCK0115, at_hole, "a value that is computed is shown once").help("put it into a variable first");
            return error_expr(span);
        }
        message += hole.prefix;
        const auto* literal = ast::get_if<ast::LiteralExpr>(shown);
        const bool as_text = hole.method == "print_value" || hole.method == "print_text";
        if (literal != nullptr && as_text && hole.layout.empty() && ast()[literal->literal].kind == lex::LiteralKind::String) {
            append_text(message, this->text(ast()[literal->literal].text), true);   // part of the text
        } else {
            mention(s_, hole.method);
            const hir::ExprId value = lower_expr(arg);
            const hir::ExprId borrowed = add_expr(shown.span, hir::AddressOfExpr{false, hir::Mutability::Not, value}, true);
            wires.push_back(call_lang(hole.method, at_hole, {borrowed}));
            (((message += kHoleMark) += hole.layout) += hole.kind);
        }
        append_text(message, format.texts[h + 1], false);
    }
    for (std::size_t i = 0; i < given; ++i) {
        if (uses[i] != 0) continue;
        error(Code::OCK0115, ast()[args[i + 1]].span, "the format string does not show this value").label(at(whole), fmt::format("it has {} hole{}", format.holes.size(), format.holes.size() == 1 ? "" : "s"));
        return error_expr(span);
    }
    const hir::ExprId tuple = add_expr(span, hir::TupleExpr{list(wires)}, true);
    const hir::ExprId format_expr = string_expr(message, span);
    return call_lang("printf", span, {format_expr, tuple});
}

}  // namespace ockc::resolve
