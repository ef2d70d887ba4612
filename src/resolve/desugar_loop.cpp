// Loops: `while` and `for` become `loop`; break and continue get their targets.
#include <fmt/format.h>

#include "resolve/attributes.hpp"
#include "resolve/launch.hpp"
#include "resolve/lower.hpp"
#include "resolve/reach.hpp"

namespace ockc::resolve {

namespace {
constexpr std::uint32_t kFullUnroll = 0xFFFF'FFFFu;
}

void Lowerer::push_label(const ast::Ident& label, hir::ExprId target) {
    if (!label.valid()) return;
    scopes_.push({ScopeEntry::Kind::Label, label.name, label.context, target.raw, at(label.span), 0});
}

// Once the labelled loop or block is lowered.
void Lowerer::note_label_use(const ast::Ident& label, hir::ExprId target) {
    if (!label.valid() || s_.crates[crate_].is_library || body_->used_labels.contains(target.raw) || text(label.name).starts_with("'_")) return;
    s_.sink->lint("unused_labels", at(label.span), fmt::format("unused label `{}`", text(label.name)));
}

std::uint32_t Lowerer::unroll_factor(const Attrs& attrs) {
    const Attr* attr = find_attribute(s_, crate_, attrs, hir::AttributeKind::Unroll);
    if (attr == nullptr) return 0;
    if (attr->meta.kind == ast::MetaKind::Word) return kFullUnroll;
    std::optional<std::uint64_t> value;
    if (attr->meta.kind == ast::MetaKind::List && attr->meta.items.size() == 1 && attr->meta.items[0].value.valid()) {
        value = launch_number(s_, crate_, module_, attr->meta.items[0].value);
    } else if (attr->meta.kind == ast::MetaKind::List && attr->meta.items.size() == 1 && attr->meta.items[0].kind == ast::MetaKind::Word) {
        value = launch_number(s_, crate_, module_, attr->meta.items[0].path);
    }
    if (value && *value >= 2 && *value <= 1024) return static_cast<std::uint32_t>(*value);
    if (value) error(Code::OCK0110, attr->meta.items[0].span, "an unroll factor is between 2 and 1024");
    else error(Code::OCK0110, attr->span, "`#[unroll]` takes no argument, or one integer or constant that is computed from literals");
    return 0;
}

hir::ExprId Lowerer::lower_loop(const ast::LoopExpr& loop, Span span, std::uint32_t unroll) {
    const hir::ExprId id = reserve_expr(span);
    const ScopeGuard guard(*this);
    push_label(loop.label, id);
    body_->targets.push_back({JumpTarget::Kind::Loop, id, at(span), false, hir::LoopSource::Loop});
    const hir::BlockId block = lower_block(loop.body);
    body_->targets.pop_back();
    body().exprs[id].data = hir::LoopExpr{block, loop.label.name, hir::LoopSource::Loop, unroll};
    note_label_use(loop.label, id);
    return id;
}

// while c { b } => loop { if c { b } else { break } }
hir::ExprId Lowerer::desugar_while(const ast::WhileExpr& loop, Span span, std::uint32_t unroll) {
    const hir::ExprId id = reserve_expr(span);
    const ScopeGuard guard(*this);
    push_label(loop.label, id);
    body_->targets.push_back({JumpTarget::Kind::Loop, id, at(span), true, hir::LoopSource::While});
    hir::IfExpr branch;
    note_parens(loop.condition, "`while` condition");
    branch.condition = lower_expr(loop.condition);
    body_->targets.back().in_condition = false;
    branch.then_expr = block_expr(lower_block(loop.body), ast()[loop.body].span);
    body_->targets.pop_back();
    const hir::ExprId leave = add_expr(span, hir::BreakExpr{id, {}}, true);
    hir::Stmt stmt;
    stmt.kind = hir::Stmt::Kind::Semi;
    stmt.span = at(span);
    stmt.expr = leave;
    branch.else_expr = block_expr(make_block(span, {&stmt, 1}, {}), span, true);
    const hir::ExprId tail = add_expr(span, branch, true);
    body().exprs[id].data = hir::LoopExpr{make_block(span, {}, tail), loop.label.name, hir::LoopSource::While, unroll};
    note_label_use(loop.label, id);
    return id;
}

// for p in e { b } =>
//     match IntoIterator::into_iter(e) { mut iter => loop { match Iterator::next(&mut iter) { None => break, Some(p) => { b } } } }
hir::ExprId Lowerer::desugar_for(const ast::ForExpr& loop, Span span, std::uint32_t unroll) {
    for (const char* name : {"into_iter", "next"}) mention(s_, name);
    const Span head_span = ast()[loop.iterable].span;
    const hir::ExprId head = call_lang("into_iter", head_span, {lower_expr(loop.iterable)});
    const hir::LocalId iter = fresh_local("iter", head_span, true);

    const hir::ExprId id = reserve_expr(span);
    hir::Arm done, more;
    {
        const ScopeGuard guard(*this);
        push_label(loop.label, id);
        body_->targets.push_back({JumpTarget::Kind::Loop, id, at(span), false, hir::LoopSource::ForLoop});
        done.span = at(head_span);
        done.pat = lang_pattern("None", head_span, {});
        done.body = add_expr(head_span, hir::BreakExpr{id, {}}, true);
        Bindings bindings;
        bindings.place = PatternPlace::Loop;
        more.span = at(span);
        const Span pat_span = ast()[loop.pattern].span;
        more.pat = lang_pattern("Some", pat_span, {lower_pattern(loop.pattern, bindings)});
        declare(bindings);
        more.body = block_expr(lower_block(loop.body), ast()[loop.body].span);
        body_->targets.pop_back();
    }
    const hir::ExprId borrowed = add_expr(head_span, hir::AddressOfExpr{false, hir::Mutability::Mut, local_path(iter, head_span)}, true);
    const hir::ExprId next = call_lang("next", head_span, {borrowed});
    hir::Stmt step;
    step.kind = hir::Stmt::Kind::Expr;
    step.span = at(span);
    step.expr = add_expr(span, hir::MatchExpr{next, list({done, more}), hir::MatchSource::ForLoop}, true);
    body().exprs[id].data = hir::LoopExpr{make_block(span, {&step, 1}, {}), loop.label.name, hir::LoopSource::ForLoop, unroll};
    body().exprs[id].desugared = true;
    note_label_use(loop.label, id);

    hir::Arm all;
    all.span = at(span);
    all.pat = binding_pat(head_span, iter);
    all.body = id;
    return add_expr(span, hir::MatchExpr{head, list({all}), hir::MatchSource::ForLoop}, true);
}

// ---- leaving loops

// The target of a label; null when there is none, which is reported.
const Lowerer::JumpTarget* Lowerer::find_label(const ast::Ident& label, bool is_break, Span span) {
    const std::string_view name = text(label.name);
    const ScopeFound found = scopes_.find(s_, label.name, label.context, ScopeSpace::Label);
    if (!found.entry) {
        error(Code::E0426, label.span, fmt::format("use of undeclared label `{}`", name)).label(at(label.span), fmt::format("undeclared label `{}`", name));
        return nullptr;
    }
    if (found.crossed_closure || found.crossed_item || found.crossed_const || found.crossed_anon_const || found.crossed_inline_const) {
        error(Code::E0767, label.span, fmt::format("use of unreachable label `{}`", name))
            .label(at(label.span), fmt::format("unreachable label `{}`", name))
            .label(found.entry->span, "unreachable label defined here")
            .note("labels are unreachable through functions, closures, async blocks and modules");
        return nullptr;
    }
    body_->used_labels.insert(found.entry->payload);
    for (const JumpTarget& target : body_->targets) {
        if (target.kind == JumpTarget::Kind::Closure || target.expr.raw != found.entry->payload) continue;
        if (target.kind == JumpTarget::Kind::Block && !is_break) {
            error(Code::E0696, span, "`continue` pointing to a labeled block").label(at(span), "labeled blocks cannot be `continue`'d").label(target.span, "labeled block the `continue` points to");
        }
        return &target;
    }
    return nullptr;
}

const Lowerer::JumpTarget* Lowerer::find_target(const ast::Ident& label, bool is_break, Span span) {
    const std::string_view word = is_break ? "break" : "continue";
    if (label.valid()) {
        if (const JumpTarget* target = find_label(label, is_break, span)) return target;
    }
    for (std::size_t i = body_->targets.size(); i-- > 0;) {
        const JumpTarget& target = body_->targets[i];
        switch (target.kind) {
            case JumpTarget::Kind::Loop:
                if (!target.in_condition || label.valid()) return &target;
                error(Code::E0590, span, "`break` or `continue` with no label in the condition of a `while` loop")
                    .label(at(span), fmt::format("unlabeled `{}` in the condition of a `while` loop", word));
                return nullptr;
            case JumpTarget::Kind::Block:
                if (label.valid()) break;
                error(Code::E0695, span, fmt::format("unlabeled `{}` inside of a labeled block", word))
                    .label(at(span), fmt::format("`{}` statements that would diverge to or through a labeled block need to bear a label", word));
                return nullptr;
            case JumpTarget::Kind::Closure:
                error(Code::E0267, span, fmt::format("`{}` inside of a closure", word)).label(at(span), fmt::format("cannot `{}` inside of a closure", word)).label(target.span, "enclosing closure");
                return nullptr;
        }
    }
    const std::string_view outside = is_break ? "a loop or labeled block" : "a loop";
    error(Code::E0268, span, fmt::format("`{}` outside of {}", word, outside)).label(at(span), fmt::format("cannot `{}` outside of {}", word, outside));
    return nullptr;
}

hir::ExprId Lowerer::lower_break(const ast::BreakExpr& expr, Span span) {
    hir::BreakExpr result;
    if (const JumpTarget* target = find_target(expr.label, true, span)) {
        result.target = target->expr;
        if (expr.value.valid() && target->kind == JumpTarget::Kind::Loop && target->source != hir::LoopSource::Loop) {
            const std::string_view kind = target->source == hir::LoopSource::While ? "while" : "for";
            error(Code::E0571, span, fmt::format("`break` with value from a `{}` loop", kind))
                .label(at(span), "can only break with a value inside `loop` or breakable block")
                .label(target->span, fmt::format("you can't `break` with a value in a `{}` loop", kind));
            lower_expr(expr.value);   // for what is wrong inside it
            return add_expr(span, result);
        }
    }
    if (expr.value.valid()) result.value = lower_expr(expr.value);
    return add_expr(span, result);
}

hir::ExprId Lowerer::lower_continue(const ast::ContinueExpr& expr, Span span) {
    hir::ContinueExpr result;
    if (const JumpTarget* target = find_target(expr.label, false, span)) result.target = target->expr;
    return add_expr(span, result);
}

}  // namespace ockc::resolve
