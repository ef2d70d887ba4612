// Macro calls in bodies: finding the macro, expanding macro_rules, lowering the built-in ones.
#include <fmt/format.h>

#include "lex/utf8.hpp"
#include "resolve/attributes.hpp"
#include "resolve/load.hpp"
#include "resolve/lower.hpp"
#include "resolve/macro_rules.hpp"
#include "resolve/reach.hpp"
#include "resolve/suggest.hpp"

namespace ockc::resolve {

namespace {
constexpr std::uint32_t kMaxExpansionDepth = 128;
}

bool Lowerer::enter_expansion(Span span) {
    if (expansion_depth_ >= kMaxExpansionDepth) {
        error(Code::None, span, "recursion limit reached while expanding macros");
        return false;
    }
    ++expansion_depth_;
    return true;
}

DefId Lowerer::find_macro(const ast::MacroCall& call) {
    const ast::Path path = ast()[call.path];
    const DefId found = find_item_macro(s_, module_, macros_, crate_, call);
    if (found.valid() && s_[found].kind == DefKind::Opaque) {
        if (!report_refused_name(s_, text(path.segments.back().ident.name), call.span, RefusedUse::Macro)) refuse_opaque(def_res(found), call.span);
        return {};
    }
    if (found.valid()) return found;
    report_unknown_macro(s_, module_, macros_, crate_, call);
    return {};
}

hir::ExprId Lowerer::lower_macro_expr(ast::MacroCallId id, Span span) {
    const ast::MacroCall call = ast()[id];
    const DefId macro = find_macro(call);
    if (!macro.valid()) return error_expr(span);
    if (s_.macros[s_.origin[macro].index].kind == MacroInfo::Kind::Rules || is_include(s_, macro)) return expand_expr(macro, id, span);
    return lower_builtin_call(macro, call, span);
}

hir::ExprId Lowerer::expand_expr(DefId macro, ast::MacroCallId id, Span span) {
    if (!enter_expansion(span)) return error_expr(span);
    const std::size_t first = s_.sink->all().size();
    const hir::ExprId result = lower_expr(expand_expression(s_, macro, crate_, id));
    note_expansion(s_, first, macro, span);
    --expansion_depth_;
    return result;
}

hir::TyId Lowerer::lower_macro_type(DefId macro, ast::MacroCallId call, Span span) {
    if (!enter_expansion(span)) return error_ty(span);
    const hir::TyId result = lower_type(expand_type(s_, macro, crate_, call));
    --expansion_depth_;
    return result;
}

hir::ExprId Lowerer::lower_builtin_call(DefId macro, const ast::MacroCall& call, Span span) {
    const MacroInfo& info = s_.macros[s_.origin[macro].index];
    if (info.kind != MacroInfo::Kind::Builtin) {
        error(Code::None, call.span, fmt::format("cannot find macro `{}` in this scope", s_.name_of(macro))).note(fmt::format("`{}` is an attribute", s_.name_of(macro)));
        return error_expr(span);
    }
    return lower_builtin_macro(info.builtin, call, span);
}

hir::ExprId Lowerer::lower_builtin_macro(BuiltinMacro macro, const ast::MacroCall& call, Span span) {
    const auto debug_only = [&](auto&& lower) {
        // Checked always, run only where debug assertions are on.
        hir::Literal on;
        on.kind = hir::Literal::Kind::Bool;
        for (const CfgEntry& entry : s_.options.cfg) on.low |= entry.name == "debug_assertions" && !entry.has_value ? 1u : 0u;
        hir::IfExpr branch;
        branch.condition = add_expr(span, hir::LiteralExpr{on}, true);
        hir::Stmt stmt;
        stmt.kind = hir::Stmt::Kind::Semi;
        stmt.span = at(span);
        stmt.expr = lower();
        branch.then_expr = block_expr(make_block(span, {&stmt, 1}, {}), span, true);
        return add_expr(span, branch, true);
    };
    switch (macro) {
        case BuiltinMacro::Panic: return panic_macro(hir::PanicKind::Panic, call, span);
        case BuiltinMacro::Unreachable: return panic_macro(hir::PanicKind::Unreachable, call, span);
        case BuiltinMacro::Todo: return panic_macro(hir::PanicKind::Todo, call, span);
        case BuiltinMacro::Unimplemented: return panic_macro(hir::PanicKind::Unimplemented, call, span);
        case BuiltinMacro::Assert: return assert_macro(call, span);
        case BuiltinMacro::AssertEq: return assert_compare_macro(hir::PanicKind::AssertEq, call, span);
        case BuiltinMacro::AssertNe: return assert_compare_macro(hir::PanicKind::AssertNe, call, span);
        case BuiltinMacro::DebugAssert: return debug_only([&] { return assert_macro(call, span); });
        case BuiltinMacro::DebugAssertEq: return debug_only([&] { return assert_compare_macro(hir::PanicKind::AssertEq, call, span); });
        case BuiltinMacro::DebugAssertNe: return debug_only([&] { return assert_compare_macro(hir::PanicKind::AssertNe, call, span); });
        case BuiltinMacro::Matches: return matches_macro(call, span);
        case BuiltinMacro::Concat:
        case BuiltinMacro::Stringify:
        case BuiltinMacro::File:
        case BuiltinMacro::ModulePath:
        case BuiltinMacro::Line:
        case BuiltinMacro::Column:
        case BuiltinMacro::Cfg: return text_macro(macro, call, span);
        case BuiltinMacro::CompileError: {
            const auto args = parse::parse_expr_list(call.body, s_.parse_context(crate_));
            const auto* literal = args.size() == 1 ? ast::get_if<ast::LiteralExpr>(ast()[args[0]]) : nullptr;
            error(Code::None, span, literal != nullptr ? std::string(text(ast()[literal->literal].text)) : "compile_error! takes 1 argument");
            return error_expr(span);
        }
        case BuiltinMacro::Include: OCKC_UNREACHABLE("include! is an expansion");
        case BuiltinMacro::IncludeStr:
        case BuiltinMacro::IncludeBytes: return include_text_macro(macro, call, span);
        case BuiltinMacro::GpuAssert: return assert_macro(call, span);
        case BuiltinMacro::GpuPrintf: return printf_macro(call, span);
        case BuiltinMacro::PtxAsm: return ptx_asm_macro(call, span);
    }
    OCKC_UNREACHABLE("builtin macro");
}

// The bytes of a file as `&'static str` or `&'static [u8; N]`.
hir::ExprId Lowerer::include_text_macro(BuiltinMacro macro, const ast::MacroCall& call, Span span) {
    const std::optional<FileId> file = included_file(s_, crate_, call);
    if (!file) return error_expr(span);
    const std::string_view bytes = s_.sources.file(*file).text;
    if (macro == BuiltinMacro::IncludeStr) {
        for (std::size_t i = 0; i < bytes.size();) {
            const lex::Decoded next = lex::decode_utf8(bytes, i);
            if (!next.valid) {
                error(Code::None, span, fmt::format("`{}` wasn't a utf-8 file", s_.sources.file(*file).name));
                return error_expr(span);
            }
            i += next.size;
        }
        return string_expr(bytes, span);
    }
    hir::Literal literal;
    literal.kind = hir::Literal::Kind::ByteStr;
    literal.text = bytes;
    reach_prim(s_, hir::PrimTy::U8);
    return add_expr(span, hir::LiteralExpr{literal}, true);
}

// matches!(e, p if g) => match e { p if g => true, _ => false }
hir::ExprId Lowerer::matches_macro(const ast::MacroCall& call, Span span) {
    const parse::ParseContext context = s_.parse_context(crate_);
    const auto bad = [&] {
        error(Code::None, span, "`matches!` takes an expression, a comma and a pattern");
        return error_expr(span);
    };
    const auto head = parse::parse_fragment(parse::FragmentKind::Expr, call.body, context);
    if (!head.ok || head.end >= call.body.end || call.body.buffer->kind(head.end) != lex::TokenKind::Comma) return bad();
    const ast::ExprId scrutinee = parse::parse_expr({call.body.buffer, call.body.begin, head.end}, context);
    const lex::TokenRange rest{call.body.buffer, head.end + 1, call.body.end};
    const auto pattern = parse::parse_fragment(parse::FragmentKind::Pat, rest, context);
    if (!pattern.ok) return bad();
    const ast::PatId pat = parse::parse_pat({rest.buffer, rest.begin, pattern.end}, context);
    std::uint32_t next = pattern.end;
    const hir::ExprId value = lower_expr(scrutinee);
    hir::Arm yes, no;
    {
        const ScopeGuard guard(*this);
        Bindings bindings;
        yes.pat = lower_pattern(pat, bindings);
        declare(bindings);
        if (next < rest.end && rest.buffer->kind(next) == lex::TokenKind::KwIf) {
            const auto condition = parse::parse_fragment(parse::FragmentKind::Expr, {rest.buffer, next + 1, rest.end}, context);
            if (!condition.ok) return bad();
            yes.guard = lower_expr(parse::parse_expr({rest.buffer, next + 1, condition.end}, context));
            next = condition.end;
        }
    }
    if (next < rest.end && rest.buffer->kind(next) == lex::TokenKind::Comma) ++next;
    if (next != rest.end) return bad();
    const auto boolean = [&](bool which) {
        hir::Literal literal;
        literal.kind = hir::Literal::Kind::Bool;
        literal.low = which ? 1 : 0;
        return add_expr(span, hir::LiteralExpr{literal}, true);
    };
    yes.span = no.span = at(span);
    yes.body = boolean(true);
    no.pat = add_pat(span, hir::WildPat{});
    no.body = boolean(false);
    return add_expr(span, hir::MatchExpr{value, list({yes, no}), hir::MatchSource::Match}, true);
}

hir::ExprId Lowerer::string_expr(std::string_view value, Span span) {
    reach_prim(s_, hir::PrimTy::Str);
    hir::Literal literal;
    literal.kind = hir::Literal::Kind::Str;
    literal.text = s_.program.arena.copy(value);
    return add_expr(span, hir::LiteralExpr{literal}, true);
}

namespace {

// The tokens of a range as one line: a space where the source has white space between them.
std::string tokens_text(const State& state, lex::TokenRange range) {
    std::string text;
    for (std::uint32_t i = range.begin; i < range.end; ++i) {
        const Span span = range.buffer->span(i);
        const std::string_view token = state.sources.text(span);
        if (!text.empty() && i > range.begin && !range.buffer->touches_next(i - 1)) text += ' ';
        text += token;
    }
    return text;
}

// The value of a literal in concat!.
std::optional<std::string> literal_text(const State& state, const ast::Crate& ast, ast::ExprId id) {
    const ast::Expr& expr = ast[id];
    if (const auto* unary = ast::get_if<ast::UnaryExpr>(expr); unary != nullptr && unary->op == ast::UnaryOp::Neg) {
        const auto inner = literal_text(state, ast, unary->operand);
        return inner ? std::optional("-" + *inner) : std::nullopt;
    }
    const auto* literal_expr = ast::get_if<ast::LiteralExpr>(expr);
    if (literal_expr == nullptr) return std::nullopt;
    const ast::Literal& literal = ast[literal_expr->literal];
    switch (literal.kind) {
        case lex::LiteralKind::Bool: return literal.value != 0 ? "true" : "false";
        case lex::LiteralKind::Integer: return fmt::format("{}", static_cast<std::uint64_t>(literal.value));
        case lex::LiteralKind::Float:
        case lex::LiteralKind::String: return std::string(state.text(literal.text));
        case lex::LiteralKind::Char: {
            std::string text;
            const auto c = static_cast<std::uint32_t>(literal.value);
            if (c < 0x80) text += static_cast<char>(c);
            else text = std::string(state.sources.text(literal.span)).substr(1, literal.span.size() - 2);
            return text;
        }
        case lex::LiteralKind::Byte:
        case lex::LiteralKind::ByteString:
        case lex::LiteralKind::CString: return std::nullopt;
    }
    OCKC_UNREACHABLE("literal kind");
}

}  // namespace

hir::ExprId Lowerer::text_macro(BuiltinMacro macro, const ast::MacroCall& call, Span span) {
    const Span place = at(span);
    const LineColumn position = s_.sources.line_column(place.file, place.begin);
    const auto number = [&](std::uint32_t value) {
        hir::Literal literal;
        literal.kind = hir::Literal::Kind::Int;
        literal.low = value;
        literal.has_suffix = true;
        literal.suffix = hir::PrimTy::U32;
        reach_prim(s_, hir::PrimTy::U32);
        return add_expr(span, hir::LiteralExpr{literal}, true);
    };
    const bool bare = macro == BuiltinMacro::Line || macro == BuiltinMacro::Column || macro == BuiltinMacro::File || macro == BuiltinMacro::ModulePath;
    if (bare && !call.body.empty()) error(Code::None, span, fmt::format("{}! takes no arguments", text(ast()[call.path].segments.back().ident.name)));
    if (macro == BuiltinMacro::Line) return number(position.line);
    if (macro == BuiltinMacro::Column) return number(position.column);
    if (macro == BuiltinMacro::File) return string_expr(s_.sources.file(place.file).name, span);
    if (macro == BuiltinMacro::ModulePath) {
        const DefId module = s_.normal_def(module_);
        return string_expr(s_.program.path_text(module), span);
    }
    if (macro == BuiltinMacro::Stringify) return string_expr(tokens_text(s_, call.body), span);
    if (macro == BuiltinMacro::Cfg) {
        hir::Literal literal;
        literal.kind = hir::Literal::Kind::Bool;
        lex::TokenRange predicate = call.body;
        if (!predicate.empty() && predicate.buffer->kind(predicate.end - 1) == lex::TokenKind::Comma) --predicate.end;
        const auto holds = cfg_tokens_hold(s_, predicate);
        literal.low = holds.value_or(false) ? 1 : 0;
        if (!holds) report_cfg_macro(s_, predicate, at(span));
        return add_expr(span, hir::LiteralExpr{literal}, true);
    }
    std::string all;
    for (const ast::ExprId arg : parse::parse_expr_list(call.body, s_.parse_context(crate_))) {
        if (const auto* nested = ast::get_if<ast::MacroExpr>(ast()[arg])) {
            const hir::ExprId value = lower_macro_expr(nested->call, ast()[arg].span);
            if (const auto* literal = std::get_if<hir::LiteralExpr>(&body().exprs[value].data)) {
                if (literal->value.kind == hir::Literal::Kind::Str) all += literal->value.text;
                else all += fmt::format("{}", literal->value.low);
                continue;
            }
        }
        if (const auto value = literal_text(s_, ast(), arg)) {
            all += *value;
        } else {
            error(Code::None, ast()[arg].span, "expected a literal").note("only literals (like `\"foo\"`, `-42` and `3.14`) can be passed to `concat!()`");
            return error_expr(span);
        }
    }
    return string_expr(all, span);
}

}  // namespace ockc::resolve
