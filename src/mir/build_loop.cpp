// Loops, labelled blocks' jumps, return.
#include "mir/builder.hpp"

namespace ockc::mir {

void Builder::loop_into(Place destination, hir::ExprId id, const hir::LoopExpr& node) {
    const Span span = span_of(id);
    const BlockId head = new_block();
    go_to(span, head);
    start(head);
    const BlockId body = new_block();
    terminate(span, FalseUnwindTerminator{body});
    start(body);
    const BlockId after = new_block();
    breakables_.push_back(Breakable{id, destination, after, head, static_cast<Depth>(scopes_.size())});
    const hir::Block& block = hir_.blocks[node.body];
    push_scope(true, block.span);
    const LocalId ignored = new_temp(types_.unit, block.span);
    block_contents_into(Place{ignored, {}}, block);
    pop_scope();
    go_to(span, head);
    breakables_.pop_back();
    start(after);
}

Builder::Breakable* Builder::breakable(hir::ExprId target) {
    for (std::size_t i = breakables_.size(); i-- > 0;) {
        if (breakables_[i].target == target) return &breakables_[i];
    }
    return nullptr;
}

void Builder::break_expr(const hir::BreakExpr& node, Span span) {
    const Breakable* found = breakable(node.target);
    OCKC_CHECK(found != nullptr);
    const Breakable target = *found;   // building the value may add breakables
    if (node.value.valid()) {
        into(target.destination, node.value);
    } else {
        assign_use(span, target.destination, unit(span));
    }
    exit_to(span, target.depth, target.break_block);
    start_new();
}

void Builder::continue_expr(const hir::ContinueExpr& node, Span span) {
    const Breakable* target = breakable(node.target);
    OCKC_CHECK(target != nullptr && target->continue_block.valid());
    exit_to(span, target->depth, target->continue_block);
    start_new();
}

void Builder::return_expr(const hir::ReturnExpr& node, Span span) {
    if (node.value.valid()) {
        into(Place{kReturnLocal, {}}, node.value);
    } else {
        assign_use(span, Place{kReturnLocal, {}}, unit(span));
    }
    exit_to(span, 0, return_block_);
    start_new();
}

}  // namespace ockc::mir
