// Blocks and `let`. A block's variables live to its end; the temporaries of a statement to the statement's end, but those
// that a `let` keeps a reference to (extended temporaries) live as long as its variables.
#include "mir/builder.hpp"

namespace ockc::mir {

void Builder::block_into(Place destination, hir::ExprId id, hir::BlockId block_id) {
    const hir::Block& block = hir_.blocks[block_id];
    if (!block.label.valid()) return block_contents_into(destination, block);
    const BlockId after = new_block();
    breakables_.push_back(Breakable{id, destination, after, BlockId(), static_cast<Depth>(scopes_.size())});
    block_contents_into(destination, block);
    breakables_.pop_back();
    go_to(block.span, after);
    start(after);
}

void Builder::block_contents_into(Place destination, const hir::Block& block) {
    const ScopeId outer = source_scope_;
    push_scope(false, block.span);
    for (const hir::Stmt& stmt : block.stmts) block_statement(block, stmt);
    if (block.tail.valid()) {
        push_scope(is_edition_2024(), span_of(block.tail));
        into(destination, block.tail);
        scopes_.back().end = scopes_[scopes_.size() - 2].end;
        pop_scope();
    } else if (types_.kind(body_.type_of(destination)) == types::TypeKind::Tuple) {
        assign_use(block.span, destination, unit(block.span));
    }
    pop_scope();
    source_scope_ = outer;
}

void Builder::block_statement(const hir::Block& block, const hir::Stmt& stmt) {
    switch (stmt.kind) {
        case hir::Stmt::Kind::Item: return;
        case hir::Stmt::Kind::Let: return let_statement(block, stmt);
        case hir::Stmt::Kind::Expr:
        case hir::Stmt::Kind::Semi:
            push_scope(true, stmt.span);
            statement(stmt.expr);
            pop_scope();
            return;
    }
}

void Builder::let_statement(const hir::Block& block, const hir::Stmt& stmt) {
    source_scope_ = body_.scopes.push(SourceScope{source_scope_, Span{stmt.span.file, stmt.span.begin, block.span.end}});
    if (stmt.else_block.valid()) return let_else(block, stmt);
    const Depth variables = static_cast<Depth>(scopes_.size() - 1);
    declare_bindings(stmt.pat);
    if (!stmt.init.valid()) {
        for_each_binding(stmt.pat, [&](hir::PatId pat, const hir::BindingPat& binding) {
            const LocalId local = storage_live_binding(binding.local, hir_.pats[pat].span, variables);
            if (needs_drop(body_.locals[local].type)) schedule_drop(variables, local, DropKind::Value);
            ascribe(stmt.span, Place{local, {}}, stmt.type);
        });
        return;
    }
    extend_let_temporaries(stmt.pat, stmt.init, variables);
    push_scope(true, stmt.span);
    let_into(stmt.pat, stmt.init, stmt.type, variables, stmt.span);
    pop_scope();
}

void Builder::let_into(hir::PatId pat, hir::ExprId init, hir::TyId written, Depth variables, Span) {
    const auto* binding = std::get_if<hir::BindingPat>(&hir_.pats[pat].data);
    if (binding != nullptr && !binding->sub.valid() && tables_.bind_modes[pat] == check::BindMode::Value) {
        const Span span = hir_.pats[pat].span;
        const LocalId local = storage_live_binding(binding->local, span, variables);
        into(Place{local, {}}, init);
        push(span, FakeReadStatement{FakeReadCause::ForLet, Place{local, {}}});
        ascribe(span, Place{local, {}}, written);
        if (needs_drop(body_.locals[local].type)) schedule_drop(variables, local, DropKind::Value);
        return;
    }
    const PlaceBuilder place = as_place_builder(full(init));
    if (const std::optional<Place> finished = try_place(place)) {
        push(span_of(init), PlaceMentionStatement{*finished});
        ascribe(span_of(init), *finished, written);
    }
    bind_irrefutable(pat, place, variables, span_of(init));
}

void Builder::ascribe(Span span, Place place, hir::TyId written) {
    if (!written.valid()) return;
    const auto found = tables_.written_types.find(written);
    if (found == tables_.written_types.end()) return;
    const TypeId type = found->second;
    if (type.valid() && types_.has(type, types::kHasRegion)) push(span, AscribeTypeStatement{place, type});
}

// `let PAT = INIT else { .. };`: the initialiser's temporaries are dropped before either way goes on.
void Builder::let_else(const hir::Block&, const hir::Stmt& stmt) {
    const Depth variables = static_cast<Depth>(scopes_.size() - 1);
    declare_bindings(stmt.pat);
    const std::size_t outer_drops = scopes_[variables].drops.size();
    const ElseTarget on_false{new_block(), push_scope(true, span_of(stmt.init))};
    let_pattern(stmt.pat, stmt.init, on_false, variables);
    pop_scope();
    const BlockId matched = current_;
    // The pattern's variables do not exist in the else block, which never comes back.
    std::vector<DropEntry>& drops = scopes_[variables].drops;
    const std::vector<DropEntry> bound(drops.begin() + static_cast<std::ptrdiff_t>(outer_drops), drops.end());
    drops.resize(outer_drops);
    start(on_false.block);
    const hir::Block& else_block = hir_.blocks[stmt.else_block];
    const LocalId never = new_temp(types_.never, else_block.span);
    block_contents_into(Place{never, {}}, else_block);
    terminate(else_block.span, UnreachableTerminator{});
    scopes_[variables].drops.insert(scopes_[variables].drops.end(), bound.begin(), bound.end());
    start(matched);
}

// ---- extended temporaries -----------------------------------------------------------------------------------------------

namespace {
// Does the pattern keep a reference to what it matches: `ref x`, alone or inside structs and tuples.
bool binds_by_ref(const hir::Body& body, hir::PatId id) {
    std::vector<hir::PatId> open{id};
    while (!open.empty()) {
        const hir::PatData& data = body.pats[open.back()].data;
        open.pop_back();
        if (const auto* binding = std::get_if<hir::BindingPat>(&data)) {
            if (binding->mode.by_ref) return true;
        } else if (const auto* tuple = std::get_if<hir::TuplePat>(&data)) {
            open.insert(open.end(), tuple->elements.begin(), tuple->elements.end());
        } else if (const auto* ts = std::get_if<hir::TupleStructPat>(&data)) {
            open.insert(open.end(), ts->elements.begin(), ts->elements.end());
        } else if (const auto* st = std::get_if<hir::StructPat>(&data)) {
            for (const hir::FieldPat& one : st->fields) open.push_back(one.pat);
        } else if (const auto* slice = std::get_if<hir::SlicePat>(&data)) {
            open.insert(open.end(), slice->before.begin(), slice->before.end());
            if (slice->middle.valid()) open.push_back(slice->middle);
            open.insert(open.end(), slice->after.begin(), slice->after.end());
        } else if (const auto* alternatives = std::get_if<hir::OrPat>(&data)) {
            open.insert(open.end(), alternatives->alternatives.begin(), alternatives->alternatives.end());
        }
    }
    return false;
}
}  // namespace

void Builder::extend_let_temporaries(hir::PatId pat, hir::ExprId init, Depth depth) {
    extend_if_borrow(init, depth);
    if (binds_by_ref(hir_, pat)) extend_operand(init, depth);
}

// The syntactic forms through which a `let` keeps a reference: `&e`, and aggregates, blocks and branches that end in one.
void Builder::extend_if_borrow(hir::ExprId id, Depth depth) {
    std::vector<hir::ExprId> open{id};
    while (!open.empty()) {
        const hir::ExprId at = open.back();
        open.pop_back();
        const hir::ExprData& data = expr(at).data;
        if (const auto* address = std::get_if<hir::AddressOfExpr>(&data)) {
            extend_operand(address->operand, depth);
            open.push_back(address->operand);
        } else if (const auto* st = std::get_if<hir::StructExpr>(&data)) {
            for (const hir::FieldInit& one : st->fields) open.push_back(one.value);
        } else if (const auto* tuple = std::get_if<hir::TupleExpr>(&data)) {
            open.insert(open.end(), tuple->elements.begin(), tuple->elements.end());
        } else if (const auto* array = std::get_if<hir::ArrayExpr>(&data)) {
            open.insert(open.end(), array->elements.begin(), array->elements.end());
        } else if (const auto* cast = std::get_if<hir::CastExpr>(&data)) {
            open.push_back(cast->operand);
        } else if (const auto* block = std::get_if<hir::BlockExpr>(&data)) {
            if (hir_.blocks[block->block].tail.valid()) open.push_back(hir_.blocks[block->block].tail);
        } else if (const auto* cond = std::get_if<hir::IfExpr>(&data); cond != nullptr && cond->else_expr.valid()) {
            open.push_back(cond->then_expr);
            open.push_back(cond->else_expr);
        } else if (const auto* match = std::get_if<hir::MatchExpr>(&data)) {
            for (const hir::Arm& arm : match->arms) open.push_back(arm.body);
        } else if (const auto* call = std::get_if<hir::CallExpr>(&data)) {
            const check::ItemRef item = tables_.expr_items[call->callee];
            if (!item.valid() || !is_constructor(item.def)) continue;
            open.insert(open.end(), call->args.begin(), call->args.end());
        }
    }
}

// The temporaries that hold the operand of an extended `&`: its own and those of the bases it is a part of.
void Builder::extend_operand(hir::ExprId id, Depth depth) {
    for (;;) {
        extended_.set(id, depth == kForever ? kForever : depth + 1);
        const hir::ExprData& data = expr(id).data;
        if (const auto* address = std::get_if<hir::AddressOfExpr>(&data)) {
            id = address->operand;
        } else if (const auto* unary = std::get_if<hir::UnaryExpr>(&data); unary != nullptr && unary->op == hir::UnaryOp::Deref) {
            id = unary->operand;
        } else if (const auto* part = std::get_if<hir::FieldExpr>(&data)) {
            id = part->base;
        } else if (const auto* element = std::get_if<hir::IndexExpr>(&data)) {
            id = element->base;
        } else {
            return;
        }
    }
}

}  // namespace ockc::mir
