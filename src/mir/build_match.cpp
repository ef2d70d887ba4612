// `match`, `if let`, irrefutable patterns. The scrutinee's place is taken once; each arm becomes a Candidate of match pairs
// and bindings (match_pattern.cpp); the tree of tests is built over all candidates (match_tree.cpp, match_test.cpp); then
// every way into an arm binds its variables, checks the guard, and goes to the arm's body (this file).
//
// For the borrow checker each candidate that matched also has an imaginary edge to the next one, so that no arm is checked
// on the strength of another's test; and while a guard runs, the tested places are held by fake borrows. A guard sees the
// variables by shared reference; they are bound by value only when it has said yes.
#include "mir/match_builder.hpp"

namespace ockc::mir {

void Builder::match_into(Place destination, hir::ExprId id, const hir::MatchExpr& node) {
    const Span span = span_of(id);
    const Span scrutinee_span = span_of(node.scrutinee);
    const PlaceBuilder scrutinee = as_place_builder(full(node.scrutinee));
    const std::optional<Place> finished = try_place(scrutinee);
    if (finished) push(scrutinee_span, PlaceMentionStatement{*finished});
    MatchBuilder match(*this, scrutinee_span);
    std::vector<Candidate> candidates;
    for (const hir::Arm& arm : node.arms) candidates.push_back(match.candidate(scrutinee, arm.pat, arm.guard.valid()));
    match.fake_borrow_places(candidates);
    start(match.match(current_, candidates));
    if (finished) push(scrutinee_span, FakeReadStatement{FakeReadCause::ForMatchedPlace, *finished});
    terminate(scrutinee_span, UnreachableTerminator{});
    MatchBuilder::link_candidates(candidates);
    const BlockId join = new_block();
    const ScopeId outer = source_scope_;
    for (std::size_t i = 0; i < candidates.size(); ++i) {
        const hir::Arm& arm = node.arms[i];
        source_scope_ = body_.scopes.push(SourceScope{outer, arm.span});
        declare_bindings(arm.pat);
        const Depth depth = push_scope(true, arm.span);
        const BlockId body = new_block();
        match.bind_leaves(candidates[i], {arm.guard, depth}, body);
        start(body);
        into(destination, arm.body);
        pop_scope();
        go_to(span, join);
    }
    source_scope_ = outer;
    start(join);
}

void Builder::declare_bindings(hir::PatId pat) {
    for_each_binding(pat, [&](hir::PatId id, const hir::BindingPat& binding) {
        if (variables_[binding.local].valid()) return;
        const hir::Local& variable = hir_.locals[binding.local];
        const LocalId local = body_.locals.push(
            Local{.type = tables_.type(binding.local),
                  .mutability = variable.is_mut ? Mutability::Mut : Mutability::Not,
                  .kind = LocalKind::Var,
                  .info = variable.desugared ? LocalInfo::ForIterator : LocalInfo::Plain,
                  .name = variable.name.name,
                  .span = hir_.pats[id].span,
                  .scope = source_scope_,
                  .hir_local = binding.local,
                  .by_ref_binding = tables_.bind_modes[id] != check::BindMode::Value});
        variables_.set(binding.local, local);
    });
}

LocalId Builder::storage_live_binding(hir::LocalId variable, Span span, Depth depth) {
    const LocalId local = variables_[variable];
    if (depth != kForever) storage_live(span, local, depth);
    return local;
}

void Builder::bind_irrefutable(hir::PatId pat, PlaceBuilder place, Depth variables, Span value) {
    MatchBuilder match(*this, value);
    std::vector<Candidate> candidates;
    candidates.push_back(match.candidate(place, pat, false));
    const BlockId from = current_;
    const BlockId never = match.match(from, candidates);
    start(never);
    terminate(hir_.pats[pat].span, UnreachableTerminator{});
    const BlockId bound = new_block();
    match.bind_leaves(candidates[0], {hir::ExprId(), variables}, bound);
    start(bound);
}

void Builder::let_condition(hir::ExprId, const hir::LetExpr& node, const ElseTarget& on_false, Depth variables) {
    declare_bindings(node.pat);
    let_pattern(node.pat, node.init, on_false, variables);
}

// Goes on where `init` matches, with the variables bound.
void Builder::let_pattern(hir::PatId pat, hir::ExprId init, const ElseTarget& on_false, Depth variables) {
    const Span span = span_of(init);
    const PlaceBuilder place = as_place_builder(full(init));
    if (const std::optional<Place> finished = try_place(place)) push(span, PlaceMentionStatement{*finished});
    MatchBuilder match(*this, span);
    std::vector<Candidate> candidates;
    candidates.push_back(match.candidate(place, pat, false));
    const BlockId otherwise = match.match(current_, candidates);
    // The borrow checker must think that the pattern may fail.
    std::vector<const MatchBinding*> none;
    for_each_leaf(candidates[0], none, [&](Candidate& leaf, const auto&) {
        if (!leaf.next_start.valid()) leaf.next_start = otherwise;
    });
    start(otherwise);
    exit_to(hir_.pats[pat].span, on_false.depth, on_false.block);
    const BlockId bound = new_block();
    match.bind_leaves(candidates[0], {hir::ExprId(), variables}, bound);
    start(bound);
}

// ---- bindings -------------------------------------------------------------------------------------------------------------

void MatchBuilder::bind_leaves(Candidate& candidate, const Arm& arm, BlockId body) {
    bool first = true;
    Bindings bindings;
    for_each_leaf(candidate, bindings, [&](Candidate& leaf, const Bindings& all) {
        bind_leaf(leaf, all, arm, first, body);
        first = false;
    });
}

void MatchBuilder::bind_leaf(Candidate& leaf, const Bindings& bindings, const Arm& arm, bool first, BlockId body) {
    b_.start(leaf.matched_block);
    if (leaf.next_start.valid()) {
        const BlockId real = b_.new_block();
        b_.terminate(leaf.span, FalseEdgeTerminator{real, leaf.next_start});
        b_.start(real);
    }
    if (arm.guard.valid()) {
        guard(leaf, bindings, arm, first);
        Bindings by_value;
        for (const MatchBinding* binding : bindings) {
            if (binding->mode != check::BindMode::Value) continue;
            b_.push(binding->span, FakeReadStatement{FakeReadCause::ForGuardBinding,
                                                     Place{b_.guard_refs_[binding->local], {}}});
            by_value.push_back(binding);
        }
        for (const MatchBinding* binding : bindings) b_.guard_refs_.set(binding->local, LocalId());
        bind_for_body(by_value, first ? arm.depth : Builder::kForever);
    } else {
        bind_for_body(bindings, first ? arm.depth : Builder::kForever);
    }
    b_.go_to(leaf.span, body);
}

namespace {
BorrowKind borrow_kind(check::BindMode mode) {
    return mode == check::BindMode::RefMut ? BorrowKind::Mut : BorrowKind::Shared;
}
}  // namespace

// Later ways into the same arm make the storage live without scheduling its end a second time.
LocalId MatchBuilder::live_binding(const MatchBinding& binding, Builder::Depth depth) {
    const LocalId local = b_.variables_[binding.local];
    b_.body_.locals[local].match_span = span_;
    b_.push(binding.span, StorageLiveStatement{local});
    b_.schedule_drop(depth, local, Builder::DropKind::Storage);
    return local;
}

void MatchBuilder::bind_for_body(const Bindings& bindings, Builder::Depth depth) {
    for (const MatchBinding* binding : bindings) {
        const LocalId local = live_binding(*binding, depth);
        const Place target{local, {}};
        if (binding->mode == check::BindMode::Value) {
            b_.assign_use(binding->span, target, b_.consume(binding->source));
            if (b_.needs_drop(b_.body_.locals[local].type)) b_.schedule_drop(depth, local, Builder::DropKind::Value);
        } else {
            b_.assign(binding->span, target, Rvalue{RefRvalue{borrow_kind(binding->mode), b_.to_place(binding->source)}});
        }
    }
}

void MatchBuilder::bind_for_guard(const Bindings& bindings, Builder::Depth depth, bool first) {
    const Builder::Depth scheduled = first ? depth : Builder::kForever;
    for (const MatchBinding* binding : bindings) {
        const TypeId type = b_.body_.locals[b_.variables_[binding->local]].type;
        const LocalId ref = b_.new_temp(b_.types_.ref(b_.types_.erased, type, Mutability::Not), binding->span);
        b_.body_.locals[ref].info = LocalInfo::GuardRef;
        b_.body_.locals[ref].name = b_.body_.locals[b_.variables_[binding->local]].name;
        Place seen;
        if (binding->mode == check::BindMode::Value) {
            seen = b_.to_place(binding->source);
        } else {
            const LocalId local = live_binding(*binding, scheduled);
            b_.assign(binding->span, Place{local, {}},
                      Rvalue{RefRvalue{borrow_kind(binding->mode), b_.to_place(binding->source)}});
            seen = Place{local, {}};
        }
        b_.push(binding->span, StorageLiveStatement{ref});
        b_.schedule_drop(depth, ref, Builder::DropKind::Storage);
        b_.assign(binding->span, Place{ref, {}}, Rvalue{RefRvalue{BorrowKind::Shared, seen}});
        b_.guard_refs_.set(binding->local, ref);
    }
}

void MatchBuilder::guard(Candidate& leaf, const Bindings& bindings, const Arm& arm, bool first) {
    bind_for_guard(bindings, arm.depth, first);
    const Span span = b_.span_of(arm.guard);
    for (const FakeBorrow& borrow : fake_borrows_) {
        if (const std::optional<Place> place = b_.try_place(borrow.place)) {
            b_.assign(span, Place{borrow.temp, {}}, Rvalue{RefRvalue{BorrowKind::Fake, *place}});
        }
    }
    const BlockId failed = b_.new_block();
    const Builder::Depth scope = b_.push_scope(true, span);
    b_.condition(arm.guard, Builder::ElseTarget{failed, arm.depth}, scope);
    b_.pop_scope();
    const BlockId passed = b_.current_;
    b_.start(failed);
    if (leaf.next_start.valid() && leaf.next_start != leaf.otherwise_block) {
        b_.terminate(span, FalseEdgeTerminator{leaf.otherwise_block, leaf.next_start});
    } else {
        b_.go_to(span, leaf.otherwise_block);
    }
    b_.start(passed);
    for (const FakeBorrow& borrow : fake_borrows_) {
        if (b_.try_place(borrow.place)) {
            b_.push(span, FakeReadStatement{FakeReadCause::ForMatchGuard, Place{borrow.temp, {}}});
        }
    }
}

// ---- fake borrows -----------------------------------------------------------------------------------------------------------

void MatchBuilder::fake_borrow_places(const std::vector<Candidate>& candidates) {
    bool guarded = false;
    for (const Candidate& one : candidates) guarded = guarded || one.has_guard;
    if (!guarded) return;
    for (const Candidate& one : candidates) {
        collect_fake(one.pairs);
    }
}

void MatchBuilder::collect_fake(const std::vector<MatchPair>& pairs) {
    for (const MatchPair& pair : pairs) {
        if (pair.kind == MatchPair::Kind::Or) {
            for (const FlatPattern& alternative : pair.alternatives) collect_fake(alternative.pairs);
            continue;
        }
        fake_borrow(pair.place);
        // Every pointer on the way must stay as it is, too.
        for (std::uint32_t i = 0; i < pair.place.steps.size(); ++i) {
            if (pair.place.steps[i].kind != ProjectionKind::Deref) continue;
            PlaceBuilder pointer = pair.place;
            pointer.steps.resize(i);
            if (i == 0 && !pointer.local.valid()) continue;
            pointer.type = i == 0 ? b_.body_.locals[pointer.local].type : pointer.steps.back().type;
            fake_borrow(pointer);
        }
        collect_fake(pair.subpairs);
    }
}

void MatchBuilder::fake_borrow(const PlaceBuilder& place) {
    for (const FakeBorrow& known : fake_borrows_) {
        if (known.place == place) return;
    }
    const TypeId type = b_.types_.ref(b_.types_.erased, place.type, Mutability::Not);
    fake_borrows_.push_back({place, b_.new_temp(type, span_)});
}

}  // namespace ockc::mir
