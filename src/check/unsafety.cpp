// E0133: dereferences of raw pointers, calls of unsafe functions, uses of mutable statics, reads of union fields outside unsafe
// code. The walk carries whether it is inside an `unsafe` block or function.
#include <fmt/format.h>

#include "check/passes.hpp"

namespace ockc::check {

using hir::BlockId;
using hir::DefKind;
using hir::ExprId;

namespace {

class UnsafetyCheck {
  public:
    UnsafetyCheck(Context& context, const TypeTables& tables)
        : cx_(context), program_(context.program()), types_(context.types()), tables_(tables), body_(*context.program().bodies[tables.body]) {
        // In edition 2024 an unsafe function's body is not an unsafe block: that is a lint, not an error.
        const auto* fn = std::get_if<hir::FnDef>(&program_.defs[tables.owner].data);
        unsafe_ = fn != nullptr && fn->sig.is_unsafe;
    }

    void run() { visit(body_.value); }

  private:
    void require(Span at, std::string what, std::string_view note) {
        if (unsafe_) return;
        cx_.sink().error(Code::E0133, at, fmt::format("{} is unsafe and requires unsafe function or block", what))
            .label(at, what)
            .note(std::string(note));
    }

    void visit_all(hir::List<ExprId> list) {
        for (ExprId id : list) visit(id);
    }

    void visit_block(BlockId id) {
        const hir::Block& block = body_.blocks[id];
        const bool before = unsafe_;
        if (block.safety == hir::BlockSafety::Unsafe) unsafe_ = true;
        for (const hir::Stmt& stmt : block.stmts) {
            visit(stmt.init);
            visit(stmt.expr);
            if (stmt.else_block.valid()) visit_block(stmt.else_block);
            if (stmt.kind == hir::Stmt::Kind::Let) visit_pattern(stmt.pat);
        }
        visit(block.tail);
        unsafe_ = before;
    }

    // Reading a union's field by a pattern.
    void visit_pattern(hir::PatId id) {
        const ItemRef item = tables_.pat_items[id];
        if (item.valid() && program_.defs[item.def].kind == DefKind::Union) {
            require(body_.pats[id].span, "access to union field", "the field may not be properly initialized: using uninitialized data will cause undefined behavior");
        }
    }

    void call_of(DefId fn, Span at) {
        const hir::Def& def = program_.defs[fn];
        const auto* data = std::get_if<hir::FnDef>(&def.data);
        if (data == nullptr || !def.lowered || !data->sig.is_unsafe) return;
        require(at, fmt::format("call to unsafe function `{}`", program_.path_text(fn)), "consult the function's documentation for information on how to avoid undefined behavior");
    }

    void visit_path(ExprId id) {
        const ItemRef item = tables_.expr_items[id];
        if (!item.valid() || program_.defs[item.def].kind != DefKind::Static) return;
        if (program_.as<hir::StaticDef>(item.def).is_mut) {
            require(body_.exprs[id].span, "use of mutable static",
                    "mutable statics can be mutated by multiple threads: aliasing violations or data races will cause undefined behavior");
        }
    }

    void visit_adjustments(ExprId id) {
        TypeId type = tables_.type(id);
        for (const Adjustment& step : tables_.adjustments(id)) {
            if (step.kind == AdjustKind::Deref && types_.kind(type) == TypeKind::RawPtr) raw_deref(body_.exprs[id].span);
            type = step.target;
        }
    }

    void raw_deref(Span at) {
        require(at, "dereference of raw pointer", "raw pointers may be null, dangling or unaligned; they can violate aliasing rules and cause data races: all of these are undefined behavior");
    }

    void visit(ExprId id) {
        if (!id.valid()) return;
        visit_adjustments(id);
        const hir::Expr& e = body_.exprs[id];
        if (const ItemRef callee = tables_.callees[id]; callee.valid()) call_of(callee.def, e.span);
        std::visit(ast::Overloaded{
                       [](std::monostate) {},
                       [](const hir::LiteralExpr&) {},
                       [](const hir::ContinueExpr&) {},
                       [](const hir::ConstBlockExpr&) {},
                       [](const hir::ErrorExpr&) {},
                       [&](const hir::PathExpr&) { visit_path(id); },
                       [&](const hir::UnaryExpr& x) {
                           if (x.op == hir::UnaryOp::Deref && !tables_.callees[id].valid() && types_.kind(tables_.adjusted_type(x.operand)) == TypeKind::RawPtr) raw_deref(e.span);
                           visit(x.operand);
                       },
                       [&](const hir::BinaryExpr& x) {
                           visit(x.lhs);
                           visit(x.rhs);
                       },
                       [&](const hir::AssignExpr& x) {
                           assigned_ = x.lhs;
                           visit(x.lhs);
                           visit(x.rhs);
                       },
                       [&](const hir::AssignOpExpr& x) {
                           visit(x.lhs);
                           visit(x.rhs);
                       },
                       [&](const hir::AddressOfExpr& x) {
                           // The address of a static or of `*p` is taken without touching it.
                           if (x.raw && skips_access(x.operand)) return visit_inside(x.operand);
                           visit(x.operand);
                       },
                       [&](const hir::FieldExpr& x) {
                           const TypeData data = types_[tables_.adjusted_type(x.base)];
                           const bool is_union = data.kind == TypeKind::Adt && cx_.adt(data.def).kind == AdtInfo::Kind::Union;
                           if (is_union && assigned_ != id) {
                               require(e.span, "access to union field", "the field may not be properly initialized: using uninitialized data will cause undefined behavior");
                           }
                           visit(x.base);
                       },
                       [&](const hir::IndexExpr& x) {
                           visit(x.base);
                           visit(x.index);
                       },
                       [&](const hir::CallExpr& x) {
                           const TypeData data = types_[tables_.adjusted_type(x.callee)];
                           if (data.kind == TypeKind::FnDef) call_of(data.def, e.span);
                           if (data.kind == TypeKind::FnPtr && data.is_unsafe) require(e.span, "call to unsafe function", "consult the function's documentation for information on how to avoid undefined behavior");
                           visit(x.callee);
                           visit_all(x.args);
                       },
                       [&](const hir::MethodCallExpr& x) {
                           visit(x.receiver);
                           visit_all(x.args);
                       },
                       [&](const hir::TupleExpr& x) { visit_all(x.elements); },
                       [&](const hir::ArrayExpr& x) { visit_all(x.elements); },
                       [&](const hir::RepeatExpr& x) { visit(x.value); },
                       [&](const hir::StructExpr& x) {
                           for (const hir::FieldInit& field : x.fields) visit(field.value);
                           visit(x.base);
                       },
                       [&](const hir::CastExpr& x) { visit(x.operand); },
                       [&](const hir::LetExpr& x) {
                           visit(x.init);
                           visit_pattern(x.pat);
                       },
                       [&](const hir::IfExpr& x) {
                           visit(x.condition);
                           visit(x.then_expr);
                           visit(x.else_expr);
                       },
                       [&](const hir::MatchExpr& x) {
                           visit(x.scrutinee);
                           for (const hir::Arm& arm : x.arms) {
                               visit_pattern(arm.pat);
                               visit(arm.guard);
                               visit(arm.body);
                           }
                       },
                       [&](const hir::LoopExpr& x) { visit_block(x.body); },
                       [&](const hir::BlockExpr& x) { visit_block(x.block); },
                       [&](const hir::BreakExpr& x) { visit(x.value); },
                       [&](const hir::ReturnExpr& x) { visit(x.value); },
                       [&](const hir::ClosureExpr& x) { visit(x.body); },
                       [&](const hir::PanicExpr& x) { visit_all(x.args); },
                   },
                   e.data);
    }

    bool skips_access(ExprId id) const {
        const auto* unary = std::get_if<hir::UnaryExpr>(&body_.exprs[id].data);
        if (unary != nullptr) return unary->op == hir::UnaryOp::Deref && types_.kind(tables_.adjusted_type(unary->operand)) == TypeKind::RawPtr;
        return std::holds_alternative<hir::PathExpr>(body_.exprs[id].data);
    }
    void visit_inside(ExprId id) {
        if (const auto* unary = std::get_if<hir::UnaryExpr>(&body_.exprs[id].data)) visit(unary->operand);
    }

    Context& cx_;
    const hir::Program& program_;
    TypeStore& types_;
    const TypeTables& tables_;
    const hir::Body& body_;
    bool unsafe_ = false;
    ExprId assigned_;   // the place of the assignment at hand: writing a union's field is safe
};

}  // namespace

void check_unsafety(Context& context, const TypeTables& tables) {
    if (tables.has_unsafe_parts) UnsafetyCheck(context, tables).run();
}

}  // namespace ockc::check
