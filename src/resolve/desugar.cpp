// Sugar that is not a loop, one function each: ranges, `?`, destructuring assignment.
#include <fmt/format.h>

#include "resolve/attributes.hpp"
#include "resolve/lower.hpp"
#include "resolve/reach.hpp"

namespace ockc::resolve {

namespace {
constexpr std::uint32_t kNoRest = 0xFFFF'FFFFu;
}

// a..b => Range { start: a, end: b }; a..=b => RangeInclusive::new(a, b); .. => RangeFull.
hir::ExprId Lowerer::desugar_range(const ast::RangeExpr& range, Span span) {
    const bool inclusive = range.end == ast::RangeEnd::Inclusive;
    const hir::ExprId from = range.from.valid() ? lower_expr(range.from) : hir::ExprId();
    const hir::ExprId to = range.to.valid() ? lower_expr(range.to) : hir::ExprId();
    if (!from.valid() && !to.valid()) return lang_path("RangeFull", span);
    if (inclusive && from.valid() && to.valid()) return call_lang("range_inclusive_new", span, {from, to});
    const std::string_view key = inclusive ? "RangeToInclusive" : !from.valid() ? "RangeTo" : !to.valid() ? "RangeFrom" : "Range";
    const DefId def = reach_lang(s_, key);
    if (!def.valid()) return lang_path(key, span);
    hir::QPath path;
    path.span = at(span);
    path.path = lang_item_path(def, span);
    std::vector<hir::FieldInit> fields;
    if (from.valid()) fields.push_back({{s_.names.intern("start"), at(span)}, from, at(span), false});
    if (to.valid()) fields.push_back({{s_.names.intern("end"), at(span)}, to, at(span), false});
    return add_expr(span, hir::StructExpr{kept(path), list(fields), {}}, true);
}

// A pattern of a lang item's variant: Some(x), None, Continue(x) ..
hir::PatId Lowerer::lang_pattern(std::string_view key, Span span, std::initializer_list<hir::PatId> elements) {
    const DefId variant = reach_lang(s_, key);
    if (!variant.valid()) {
        lang_path(key, span);
        return add_pat(span, hir::ErrorPat{});
    }
    hir::QPath path;
    path.span = at(span);
    path.path = lang_item_path(variant, span);
    path.path.res = def_res(DefId(variant.raw + 1));   // its constructor
    if (elements.size() == 0) return add_pat(span, hir::PathPat{kept(path)});
    return add_pat(span, hir::TupleStructPat{kept(path), list(elements), kNoRest});
}

// e? => match Try::branch(e) { Continue(value) => value, Break(residual) => return FromResidual::from_residual(residual) }
hir::ExprId Lowerer::desugar_try(const ast::TryExpr& expr, Span span) {
    for (const char* name : {"branch", "from_residual", "from_output", "from"}) mention(s_, name);
    const hir::ExprId operand = lower_expr(expr.operand);
    const Span question = span.valid() && span.size() > 0 ? Span{span.file, span.end - 1, span.end} : span;
    const hir::ExprId branch = call_lang("branch", span, {operand});

    const hir::LocalId value = fresh_local("val", span);
    hir::Arm go_on;
    go_on.span = at(span);
    go_on.pat = lang_pattern("Continue", span, {binding_pat(span, value)});
    go_on.body = local_path(value, span);

    const hir::LocalId residual = fresh_local("residual", question);
    hir::Arm stop;
    stop.span = at(question);
    stop.pat = lang_pattern("Break", question, {binding_pat(question, residual)});
    const hir::ExprId converted = call_lang("from_residual", question, {local_path(residual, question)});
    stop.body = add_expr(question, hir::ReturnExpr{converted}, true);
    return add_expr(span, hir::MatchExpr{branch, list({go_on, stop}), hir::MatchSource::Try}, true);
}

// ---- (a, b.c) = e => { let (lhs0, lhs1) = e; a = lhs0; b.c = lhs1; }

bool Lowerer::is_tuple_constructor(ast::ExprId callee) {
    const auto* path_expr = ast::get_if<ast::PathExpr>(ast()[callee]);
    if (path_expr == nullptr) return false;
    const ast::Path path = ast()[path_expr->path];
    if (path.qself.valid() || path.segments.empty()) return false;
    if (path.segments[0].kind == ast::SegmentKind::SelfType) return true;
    const PathEnd end = find_path(s_, segments_of(path), path.global, Ns::Value, module_, nullptr);
    return end.kind == PathEnd::Kind::Done && end.res.kind == Res::Kind::Def && s_[end.res.def].kind == DefKind::Ctor;
}

bool Lowerer::needs_destructuring(ast::ExprId lhs) {
    const ast::Expr& expr = ast()[lhs];
    if (const auto* paren = ast::get_if<ast::ParenExpr>(expr)) return needs_destructuring(paren->inner);
    if (const auto* call = ast::get_if<ast::CallExpr>(expr)) return is_tuple_constructor(call->callee);
    return ast::get_if<ast::TupleExpr>(expr) != nullptr || ast::get_if<ast::ArrayExpr>(expr) != nullptr ||
           ast::get_if<ast::StructExpr>(expr) != nullptr || ast::get_if<ast::UnderscoreExpr>(expr) != nullptr;
}

hir::List<hir::PatId> Lowerer::assignee_list(ast::List<ast::ExprId> elements, std::uint32_t& rest, std::vector<hir::Stmt>& assigns, Span op_span) {
    rest = kNoRest;
    std::vector<hir::PatId> lowered;
    for (const ast::ExprId id : elements) {
        const ast::Expr element = ast()[id];
        const auto* range = ast::get_if<ast::RangeExpr>(element);
        const bool dots = range != nullptr && !range->from.valid() && !range->to.valid() && range->end == ast::RangeEnd::Exclusive;
        if (!dots) {
            lowered.push_back(assignee_pattern(id, assigns, op_span));
        } else if (rest != kNoRest) {
            error(Code::None, element.span, "`..` can only be used once per tuple pattern");
        } else {
            rest = static_cast<std::uint32_t>(lowered.size());
        }
    }
    return list(lowered);
}

hir::PatId Lowerer::assignee_struct(const ast::StructExpr& s, Span span, std::vector<hir::Stmt>& assigns, Span op_span) {
    const hir::QPath path = lower_path(s.path, PathSource::Struct);
    std::vector<hir::FieldPat> fields;
    for (const ast::FieldInit& field : s.fields) {
        fields.push_back({name_of(field.name), assignee_pattern(field.value, assigns, op_span), at(field.span), field.shorthand});
    }
    if (s.rest == ast::StructRest::Base) error(Code::None, ast()[s.base].span, "functional record updates are not allowed in destructuring assignments");
    if (path.kind == hir::QPath::Kind::Resolved && path.path.res.kind == Res::Kind::Error) return add_pat(span, hir::ErrorPat{});
    return add_pat(span, hir::StructPat{kept(path), list(fields), s.rest != ast::StructRest::None});
}

hir::PatId Lowerer::assignee_pattern(ast::ExprId lhs, std::vector<hir::Stmt>& assigns, Span op_span) {
    const ast::Expr expr = ast()[lhs];
    const Span span = expr.span;
    if (const auto* paren = ast::get_if<ast::ParenExpr>(expr)) return assignee_pattern(paren->inner, assigns, op_span);
    if (ast::get_if<ast::UnderscoreExpr>(expr) != nullptr) return add_pat(span, hir::WildPat{});
    if (const auto* s = ast::get_if<ast::StructExpr>(expr)) return assignee_struct(*s, span, assigns, op_span);
    std::uint32_t rest = kNoRest;
    if (const auto* tuple = ast::get_if<ast::TupleExpr>(expr)) {
        const auto elements = assignee_list(tuple->elements, rest, assigns, op_span);
        return add_pat(span, hir::TuplePat{elements, rest});
    }
    if (const auto* array = ast::get_if<ast::ArrayExpr>(expr)) {
        const auto all = assignee_list(array->elements, rest, assigns, op_span);
        const std::size_t split = rest == kNoRest ? all.size() : rest;
        return add_pat(span, hir::SlicePat{all.subspan(0, split), {}, all.subspan(split), rest != kNoRest});
    }
    if (const auto* call = ast::get_if<ast::CallExpr>(expr); call != nullptr && is_tuple_constructor(call->callee)) {
        const ast::PathId path_id = ast::get_if<ast::PathExpr>(ast()[call->callee])->path;
        const hir::QPath path = lower_path(path_id, PathSource::TuplePattern);
        const auto elements = assignee_list(call->args, rest, assigns, op_span);
        if (path.path.res.kind == Res::Kind::Error && path.kind == hir::QPath::Kind::Resolved) return add_pat(span, hir::ErrorPat{});
        return add_pat(span, hir::TupleStructPat{kept(path), elements, rest});
    }
    const hir::LocalId local = fresh_local("lhs", span);
    const hir::PatId pat = binding_pat(span, local);
    hir::Stmt assign;
    assign.kind = hir::Stmt::Kind::Semi;
    assign.span = at(span);
    const hir::ExprId place = lower_expr(lhs);
    assign.expr = add_expr(span, hir::AssignExpr{at(op_span), place, local_path(local, span)}, true);
    assigns.push_back(assign);
    return pat;
}

hir::ExprId Lowerer::desugar_assign(const ast::AssignExpr& assign, Span span) {
    if (!needs_destructuring(assign.lhs)) {
        const hir::ExprId lhs = lower_expr(assign.lhs);
        return add_expr(span, hir::AssignExpr{at(assign.op_span), lhs, lower_expr(assign.rhs)});
    }
    hir::Stmt let;
    let.kind = hir::Stmt::Kind::Let;
    let.span = at(span);
    let.init = lower_expr(assign.rhs);
    std::vector<hir::Stmt> assigns;
    let.pat = assignee_pattern(assign.lhs, assigns, assign.op_span);
    assigns.insert(assigns.begin(), let);
    return block_expr(make_block(span, assigns, {}), span, true);
}

}  // namespace ockc::resolve
