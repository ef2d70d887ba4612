// Scopes: what is dropped and whose storage ends where. A stack of scopes follows the nesting of the source; jumping out
// of several repeats their drops on the way (Builder::exit_to), innermost first and in reverse order of scheduling.
#include "mir/builder.hpp"

namespace ockc::mir {

Builder::Depth Builder::push_scope(bool terminating, Span whole) {
    Scope scope;
    scope.terminating = terminating;
    scope.end = whole;
    if (whole.valid() && whole.end > whole.begin) scope.end.begin = whole.end - 1;
    scopes_.push_back(std::move(scope));
    return static_cast<Depth>(scopes_.size() - 1);
}

void Builder::pop_scope() {
    emit_drops(scopes_.back());
    scopes_.pop_back();
}

Builder::Depth Builder::innermost_terminating() const {
    for (std::size_t i = scopes_.size(); i-- > 0;) {
        if (scopes_[i].terminating) return static_cast<Depth>(i);
    }
    return in_constant_ ? kForever : 0;
}

Builder::Depth Builder::temp_depth(hir::ExprId expr) const {
    const std::uint32_t extended = extended_[expr];
    if (extended == kForever) return kForever;
    return extended != 0 ? extended - 1 : innermost_terminating();
}

void Builder::schedule_drop(Depth depth, LocalId local, DropKind kind) {
    if (depth == kForever) return;
    scopes_[depth].drops.push_back(DropEntry{local, kind});
}

void Builder::schedule_drops(Depth depth, LocalId local) {
    schedule_drop(depth, local, DropKind::Storage);
    if (needs_drop(body_.locals[local].type)) schedule_drop(depth, local, DropKind::Value);
}

void Builder::emit_drops(const Scope& scope) {
    for (std::size_t i = scope.drops.size(); i-- > 0;) {
        const DropEntry& entry = scope.drops[i];
        switch (entry.kind) {
            case DropKind::Storage: push(scope.end, StorageDeadStatement{entry.local}); break;
            case DropKind::Value: {
                const BlockId next = new_block();
                terminate(scope.end, DropTerminator{Place{entry.local, {}}, next, false});
                start(next);
                break;
            }
        }
    }
}

void Builder::exit_to(Span span, Depth depth, BlockId target) {
    for (std::size_t i = scopes_.size(); i-- > depth;) {
        const Scope scope = scopes_[i];   // a copy: emitting may not see the vector move
        emit_drops(scope);
    }
    go_to(span, target);
}

void Builder::storage_live(Span span, LocalId local, Depth depth) {
    push(span, StorageLiveStatement{local});
    schedule_drop(depth, local, DropKind::Storage);
}

}  // namespace ockc::mir
