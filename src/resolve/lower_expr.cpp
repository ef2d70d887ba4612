#include <fmt/format.h>

#include "resolve/attributes.hpp"
#include "resolve/lower.hpp"
#include "resolve/reach.hpp"

namespace ockc::resolve {

namespace {

// How many expressions may stand inside each other, macro expansions included. The parser bounds each file alone.
constexpr std::uint32_t kMaxDepth = 2500;

}  // namespace

hir::ExprId Lowerer::add_expr(Span span, hir::ExprData data, bool desugared) {
    return body().exprs.push(hir::Expr{at(span), desugared || forced_span_.valid(), data});
}

hir::ExprId Lowerer::reserve_expr(Span span) { return add_expr(span, {}); }

hir::List<hir::ExprId> Lowerer::lower_exprs(ast::List<ast::ExprId> exprs) {
    std::vector<hir::ExprId> lowered;
    lowered.reserve(exprs.size());
    for (const ast::ExprId id : exprs) {
        if (cfg_enabled(s_, crate_, ast()[id].attributes)) lowered.push_back(lower_expr(id));
    }
    return list(lowered);
}

hir::ExprId Lowerer::lower_expr(ast::ExprId id) {
    const ast::Expr expr = ast()[id];
    if (++depth_ > kMaxDepth) {
        --depth_;
        error(Code::None, expr.span, "expression is nested too deeply");
        return error_expr(expr.span);
    }
    const hir::ExprId result = lower_expr_data(expr);
    --depth_;
    return result;
}

// Parentheses around all of a condition or value say nothing, but where a struct literal or a block stands in them.
void Lowerer::note_parens(ast::ExprId value, std::string_view what) {
    const ast::Expr& expr = ast()[value];
    const auto* paren = ast::get_if<ast::ParenExpr>(expr);
    if (paren == nullptr || s_.crates[crate_].is_library || forced_span_.valid()) return;
    const ast::Expr& inner = ast()[paren->inner];
    const bool plain = ast::get_if<ast::BinaryExpr>(inner) != nullptr || ast::get_if<ast::PathExpr>(inner) != nullptr || ast::get_if<ast::LiteralExpr>(inner) != nullptr ||
                       ast::get_if<ast::UnaryExpr>(inner) != nullptr || ast::get_if<ast::CallExpr>(inner) != nullptr || ast::get_if<ast::MethodCallExpr>(inner) != nullptr ||
                       ast::get_if<ast::FieldExpr>(inner) != nullptr || ast::get_if<ast::IndexExpr>(inner) != nullptr || ast::get_if<ast::CastExpr>(inner) != nullptr;
    const std::string_view text = s_.sources.text(expr.span);
    if (!plain || !text.starts_with('(') || text.find('{') != std::string_view::npos || text.find('\n') != std::string_view::npos) return;
    s_.sink->lint("unused_parens", expr.span, fmt::format("unnecessary parentheses around {}", what));
}

hir::ExprId Lowerer::lower_expr_data(const ast::Expr& expr) {
    const Span span = expr.span;
    std::uint32_t unroll = 0;
    if (!expr.attributes.empty()) {
        const Evaluated evaluated = evaluate(s_, crate_, expr.attributes);
        const bool loop = ast::get_if<ast::WhileExpr>(expr) != nullptr || ast::get_if<ast::ForExpr>(expr) != nullptr || ast::get_if<ast::LoopExpr>(expr) != nullptr;
        const bool closure = ast::get_if<ast::ClosureExpr>(expr) != nullptr;
        check_attributes(s_, crate_, evaluated.attrs, loop ? Target::Loop : closure ? Target::Closure : Target::Other, loop ? "loop" : closure ? "closure" : "expression", !s_.crates[crate_].is_library);
        note_lint_levels(s_, crate_, evaluated.attrs, span);
        unroll = unroll_factor(evaluated.attrs);
    }
    return std::visit(
        ast::Overloaded{
            [&](const ast::LiteralExpr& e) { return lower_literal(e.literal, span); },
            [&](const ast::PathExpr& e) { return lower_path_expr(e.path, span, PathSource::Value); },
            [&](const ast::ParenExpr& e) { return lower_expr(e.inner); },
            [&](const ast::TupleExpr& e) { return add_expr(span, hir::TupleExpr{lower_exprs(e.elements)}); },
            [&](const ast::ArrayExpr& e) { return add_expr(span, hir::ArrayExpr{lower_exprs(e.elements)}); },
            [&](const ast::RepeatExpr& e) {
                const hir::ExprId value = lower_expr(e.value);
                DefId count;
                if (ast::get_if<ast::UnderscoreExpr>(ast()[e.count]) == nullptr) count = anon_const(e.count, ScopeBarrier::Kind::RepeatCount, {}, ast()[e.count].span);
                return add_expr(span, hir::RepeatExpr{value, count});
            },
            [&](const ast::StructExpr& e) { return lower_struct(e, span); },
            [&](const ast::CallExpr& e) { return lower_call(e, span); },
            [&](const ast::MethodCallExpr& e) { return lower_method_call(e, span); },
            [&](const ast::FieldExpr& e) { return add_expr(span, hir::FieldExpr{lower_expr(e.base), name_of(e.field)}); },
            [&](const ast::IndexExpr& e) {
                mention(s_, "index");
                mention(s_, "index_mut");
                const hir::ExprId base = lower_expr(e.base);
                return add_expr(span, hir::IndexExpr{base, lower_expr(e.index)});
            },
            [&](const ast::UnaryExpr& e) { return lower_unary(e, span); },
            [&](const ast::BinaryExpr& e) { return lower_binary(e, span); },
            [&](const ast::AssignExpr& e) { return desugar_assign(e, span); },
            [&](const ast::AssignOpExpr& e) {
                mention(s_, ast::info(e.op).assign_method);
                const hir::ExprId lhs = lower_expr(e.lhs);
                return add_expr(span, hir::AssignOpExpr{e.op, at(e.op_span), lhs, lower_expr(e.rhs)});
            },
            [&](const ast::AddressOfExpr& e) { return lower_address_of(e, span); },
            [&](const ast::CastExpr& e) {
                const hir::ExprId operand = lower_expr(e.operand);
                return add_expr(span, hir::CastExpr{operand, lower_type(e.type)});
            },
            [&](const ast::RangeExpr& e) { return desugar_range(e, span); },
            [&](const ast::LetExpr& e) { return lower_let(e, span); },
            [&](const ast::IfExpr& e) { return lower_if(e, span); },
            [&](const ast::WhileExpr& e) { return desugar_while(e, span, unroll); },
            [&](const ast::LoopExpr& e) { return lower_loop(e, span, unroll); },
            [&](const ast::ForExpr& e) { return desugar_for(e, span, unroll); },
            [&](const ast::MatchExpr& e) { return lower_match(e, span); },
            [&](const ast::BlockExpr& e) { return lower_block_expr(e, span); },
            [&](const ast::ClosureExpr& e) { return lower_closure(e.closure, span); },
            [&](const ast::BreakExpr& e) { return lower_break(e, span); },
            [&](const ast::ContinueExpr& e) { return lower_continue(e, span); },
            [&](const ast::ReturnExpr& e) { return lower_return(e, span); },
            [&](const ast::AwaitExpr&) {
                error(Code::OCK0904, span, "`async` code is not supported in device code").help("use ordinary functions");
                return error_expr(span);
            },
            [&](const ast::TryExpr& e) { return desugar_try(e, span); },
            [&](const ast::UnderscoreExpr&) {
                error(Code::None, span, "in expressions, `_` can only be used on the left-hand side of an assignment").label(at(span), "`_` not allowed here");
                return error_expr(span);
            },
            [&](const ast::MacroExpr& e) { return lower_macro_expr(e.call, span); },
            [&](const ast::ErrorExpr&) {
                body().has_errors = true;   // the parser has reported it
                return error_expr(span);
            },
        },
        expr.data);
}

// ---- literals and paths

hir::Literal Lowerer::literal_value(const ast::Literal& literal) {
    hir::Literal result;
    if (literal.error != lex::LiteralError::None) {
        lex::report_literal_error(literal.error, s_.sources.text(literal.span), literal.span, *s_.sink);
        return result;
    }
    result.low = static_cast<std::uint64_t>(literal.value);
    result.high = static_cast<std::uint64_t>(literal.value >> 64);
    if (literal.text.valid()) result.text = text(literal.text);
    switch (literal.kind) {
        case lex::LiteralKind::Bool: result.kind = hir::Literal::Kind::Bool; break;
        case lex::LiteralKind::Integer: result.kind = hir::Literal::Kind::Int; break;
        case lex::LiteralKind::Float: result.kind = hir::Literal::Kind::Float; break;
        case lex::LiteralKind::Char:
            result.kind = hir::Literal::Kind::Char;
            reach_prim(s_, hir::PrimTy::Char);
            break;
        case lex::LiteralKind::Byte:
            result.kind = hir::Literal::Kind::Byte;
            reach_prim(s_, hir::PrimTy::U8);
            break;
        case lex::LiteralKind::String:
            result.kind = hir::Literal::Kind::Str;
            reach_prim(s_, hir::PrimTy::Str);
            break;
        case lex::LiteralKind::ByteString:
            result.kind = hir::Literal::Kind::ByteStr;
            reach_prim(s_, hir::PrimTy::U8);
            break;
        case lex::LiteralKind::CString: result.kind = hir::Literal::Kind::CStr; break;
    }
    if (literal.suffix.valid()) {
        if (const auto prim = prim_type(text(literal.suffix))) {
            result.has_suffix = true;
            result.suffix = *prim;
            reach_prim(s_, *prim);
        }
    }
    return result;
}

hir::ExprId Lowerer::lower_literal(ast::LiteralId id, Span span) {
    const ast::Literal literal = ast()[id];
    if (literal.kind == lex::LiteralKind::CString) {
        refuse(Code::OCK0911, span, "C string literals are", "use a byte string `b\"..\\0\"`");
        return error_expr(span);
    }
    const hir::Literal value = literal_value(literal);
    return value.kind == hir::Literal::Kind::Error ? error_expr(span) : add_expr(span, hir::LiteralExpr{value});
}

hir::ExprId Lowerer::lower_path_expr(ast::PathId path, Span span, PathSource source) {
    const hir::QPath lowered = lower_path(path, source);
    if (lowered.kind == hir::QPath::Kind::Resolved && lowered.path.res.kind == Res::Kind::Error) return error_expr(span);
    return add_expr(span, hir::PathExpr{kept(lowered)});
}

hir::Path Lowerer::lang_item_path(DefId def, Span span) {
    hir::Path path;
    path.span = at(span);
    path.res = def_res(def);
    std::vector<hir::PathSegment> segments;
    const DefId parent = s_[def].parent;
    const auto add = [&](DefId d) {
        hir::PathSegment segment;
        segment.ident = {s_[d].name.name, at(span)};
        segment.res = def_res(d);
        segments.push_back(segment);
    };
    if (parent.valid() && (s_[parent].kind == DefKind::Trait || s_[parent].kind == DefKind::Enum)) add(parent);
    add(def);
    path.segments = list(segments);
    return path;
}

// An item that a desugaring needs, by its key; an associated function of an impl is type-relative, as `Type::new` is.
hir::ExprId Lowerer::lang_path(std::string_view key, Span span) {
    const DefId def = reach_lang(s_, key);
    if (!def.valid()) {
        error(Code::None, span, fmt::format("the library has no item for `{}`", key)).note("this construct needs the library's `core` crate");
        return error_expr(span);
    }
    hir::QPath path;
    path.span = at(span);
    DefId target = def;
    if (s_[def].kind == DefKind::Variant && s_.origin[def].form != hir::VariantForm::Named) target = DefId(def.raw + 1);
    else if (s_[def].kind == DefKind::Struct && s_.origin[def].form != hir::VariantForm::Named) target = DefId(s_.origin[def].index);
    path.path = lang_item_path(def, span);
    path.path.res = def_res(target);
    return add_expr(span, hir::PathExpr{kept(path)}, true);
}

hir::ExprId Lowerer::local_path(hir::LocalId local, Span span) {
    hir::PathSegment segment;
    segment.ident = body().locals[local].name;
    segment.res.kind = Res::Kind::Local;
    segment.res.local = local;
    hir::QPath path;
    path.span = path.path.span = at(span);
    path.path.res = segment.res;
    path.path.segments = list({segment});
    return add_expr(span, hir::PathExpr{kept(path)}, true);
}

hir::ExprId Lowerer::call_lang(std::string_view key, Span span, std::initializer_list<hir::ExprId> args) {
    const hir::ExprId callee = lang_path(key, span);
    return add_expr(span, hir::CallExpr{callee, list(args)}, true);
}

// ---- operators and calls

hir::ExprId Lowerer::lower_struct(const ast::StructExpr& expr, Span span) {
    const hir::QPath path = lower_path(expr.path, PathSource::Struct);
    std::vector<hir::FieldInit> fields;
    for (const ast::FieldInit& field : expr.fields) {
        if (!cfg_enabled(s_, crate_, field.attributes)) continue;
        fields.push_back({name_of(field.name), lower_expr(field.value), at(field.span), field.shorthand});
    }
    if (expr.rest == ast::StructRest::Rest) error(Code::E0797, span, "base expression required after `..`");
    const hir::ExprId base = expr.rest == ast::StructRest::Base ? lower_expr(expr.base) : hir::ExprId();
    if (path.kind == hir::QPath::Kind::Resolved && path.path.res.kind == Res::Kind::Error) return error_expr(span);
    return add_expr(span, hir::StructExpr{kept(path), list(fields), base});
}

hir::ExprId Lowerer::lower_call(const ast::CallExpr& call, Span span) {
    const ast::Expr callee = ast()[call.callee];
    const auto* path = ast::get_if<ast::PathExpr>(callee);
    const hir::ExprId lowered = path != nullptr ? lower_path_expr(path->path, callee.span, PathSource::Call) : lower_expr(call.callee);
    return add_expr(span, hir::CallExpr{lowered, lower_exprs(call.args)});
}

hir::ExprId Lowerer::lower_method_call(const ast::MethodCallExpr& call, Span span) {
    mention_member(s_, call.method.ident.name);
    const hir::ExprId receiver = lower_expr(call.receiver);
    const hir::PathSegment method = lower_segment(call.method, {});
    return add_expr(span, hir::MethodCallExpr{receiver, s_.program.arena.make<hir::PathSegment>(method), lower_exprs(call.args), at(call.args_span)});
}

hir::ExprId Lowerer::lower_binary(const ast::BinaryExpr& expr, Span span) {
    if (const std::string_view method = ast::info(expr.op).method; !method.empty()) mention(s_, method);
    const hir::ExprId lhs = lower_expr(expr.lhs);
    return add_expr(span, hir::BinaryExpr{expr.op, at(expr.op_span), lhs, lower_expr(expr.rhs)});
}

hir::ExprId Lowerer::lower_unary(const ast::UnaryExpr& expr, Span span) {
    mention(s_, ast::info(expr.op).method);
    return add_expr(span, hir::UnaryExpr{expr.op, lower_expr(expr.operand)});
}

hir::ExprId Lowerer::lower_address_of(const ast::AddressOfExpr& expr, Span span) {
    const auto mutability = expr.is_mut ? hir::Mutability::Mut : hir::Mutability::Not;
    return add_expr(span, hir::AddressOfExpr{expr.kind == ast::RefKind::Raw, mutability, lower_expr(expr.operand)});
}

// ---- conditions

// `let P = e` in a condition: the names of P are in scope from here to the end of the condition's owner.
hir::ExprId Lowerer::lower_let(const ast::LetExpr& expr, Span span) {
    const hir::ExprId init = lower_expr(expr.value);
    Bindings bindings;
    const hir::PatId pat = lower_pattern(expr.pattern, bindings);
    declare(bindings);
    return add_expr(span, hir::LetExpr{pat, init});
}

hir::ExprId Lowerer::lower_if(const ast::IfExpr& first, Span span) {
    // `else if` chains are loops here, so that a long one does not nest C++ calls.
    struct Link {
        hir::ExprId id;
        hir::IfExpr data;
    };
    std::vector<Link> links;
    ast::IfExpr current = first;
    Span current_span = span;
    hir::ExprId last_else;
    while (true) {
        Link link;
        link.id = reserve_expr(current_span);
        {
            const ScopeGuard guard(*this);
            note_parens(current.condition, "`if` condition");
            link.data.condition = lower_expr(current.condition);
            link.data.then_expr = block_expr(lower_block(current.then_block), ast()[current.then_block].span);
        }
        links.push_back(link);
        if (!current.else_expr.valid()) break;
        const ast::Expr next = ast()[current.else_expr];
        const auto* more = ast::get_if<ast::IfExpr>(next);
        if (more == nullptr) {
            last_else = lower_expr(current.else_expr);
            break;
        }
        current = *more;
        current_span = next.span;
    }
    for (std::size_t i = links.size(); i-- > 0;) {
        links[i].data.else_expr = i + 1 < links.size() ? links[i + 1].id : last_else;
        body().exprs[links[i].id].data = links[i].data;
    }
    return links.front().id;
}

hir::ExprId Lowerer::lower_match(const ast::MatchExpr& expr, Span span) {
    note_parens(expr.scrutinee, "`match` scrutinee expression");
    const hir::ExprId scrutinee = lower_expr(expr.scrutinee);
    std::vector<hir::Arm> arms;
    for (const ast::MatchArm& arm : expr.arms) {
        if (!cfg_enabled(s_, crate_, arm.attributes)) continue;
        const ScopeGuard guard(*this);
        hir::Arm lowered;
        lowered.span = at(arm.span);
        Bindings bindings;
        lowered.pat = lower_pattern(arm.pattern, bindings);
        declare(bindings);
        if (arm.guard.valid()) lowered.guard = lower_expr(arm.guard);
        lowered.body = arm.body.valid() ? lower_expr(arm.body) : error_expr(arm.span);
        arms.push_back(lowered);
    }
    return add_expr(span, hir::MatchExpr{scrutinee, list(arms), hir::MatchSource::Match});
}

hir::ExprId Lowerer::lower_return(const ast::ReturnExpr& expr, Span span) {
    if (expr.value.valid()) note_parens(expr.value, "`return` value");
    return add_expr(span, hir::ReturnExpr{expr.value.valid() ? lower_expr(expr.value) : hir::ExprId()});
}

hir::ExprId Lowerer::lower_block_expr(const ast::BlockExpr& expr, Span span) {
    switch (expr.kind) {
        case ast::BlockKind::Async:
            error(Code::OCK0904, span, "`async` blocks are not supported in device code").help("use an ordinary block");
            return error_expr(span);
        case ast::BlockKind::Const: {
            ast::Expr inner;
            inner.span = span;
            ast::BlockExpr data;
            data.block = expr.block;
            inner.data = data;
            return add_expr(span, hir::ConstBlockExpr{anon_const(s_.ast_of(crate_).add(inner), ScopeBarrier::Kind::InlineConst, {}, span)});
        }
        case ast::BlockKind::Unsafe: return block_expr(lower_block(expr.block, {}, hir::BlockSafety::Unsafe), span);
        case ast::BlockKind::Plain: break;
    }
    if (!expr.label.valid()) return block_expr(lower_block(expr.block), span);
    const hir::ExprId id = reserve_expr(span);
    const ScopeGuard guard(*this);
    push_label(expr.label, id);
    body_->targets.push_back({JumpTarget::Kind::Block, id, at(span), false, hir::LoopSource::Loop});
    const hir::BlockId block = lower_block(expr.block, expr.label.name);
    body_->targets.pop_back();
    body().exprs[id].data = hir::BlockExpr{block};
    note_label_use(expr.label, id);
    return id;
}

}  // namespace ockc::resolve
