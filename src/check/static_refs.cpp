// The lint static_mut_refs, which edition 2024 denies: references to `static mut` variables, written or made for a method's `self`.
#include <fmt/format.h>

#include "check/passes.hpp"

namespace ockc::check {

namespace {

class StaticRefCheck {
  public:
    StaticRefCheck(Context& context, const TypeTables& tables)
        : cx_(context), program_(context.program()), types_(context.types()), tables_(tables), body_(*context.program().bodies[tables.body]) {}

    void run() {
        for (std::uint32_t i = 0; i < body_.exprs.size(); ++i) {
            const hir::ExprId id(i);
            const hir::Expr& e = body_.exprs[id];
            if (const auto* borrow = std::get_if<hir::AddressOfExpr>(&e.data)) {
                if (!borrow->raw && is_static_mut(borrow->operand)) report(e.span, borrow->mutability == types::Mutability::Mut);
            } else if (const auto* call = std::get_if<hir::MethodCallExpr>(&e.data)) {
                if (is_static_mut(call->receiver)) method(id, call->receiver);
            }
        }
        for (const hir::Block& block : body_.blocks) {
            for (const hir::Stmt& stmt : block.stmts) {
                if (stmt.kind == hir::Stmt::Kind::Let && stmt.init.valid() && stmt.pat.valid()) binding(stmt.pat, stmt.init);
            }
        }
    }

  private:
    // The variable itself or a field of it.
    bool is_static_mut(hir::ExprId id) const {
        while (const auto* field = std::get_if<hir::FieldExpr>(&body_.exprs[id].data)) id = field->base;
        const ItemRef item = tables_.expr_items[id];
        if (!std::holds_alternative<hir::PathExpr>(body_.exprs[id].data) || !item.valid()) return false;
        return program_.defs[item.def].kind == hir::DefKind::Static && program_.as<hir::StaticDef>(item.def).is_mut;
    }

    void method(hir::ExprId call, hir::ExprId receiver) {
        const ItemRef callee = tables_.callees[call];
        if (!callee.valid()) return;
        const FnSigInfo& sig = cx_.fn_sig(callee.def);
        if (sig.inputs.empty() || types_.kind(sig.inputs[0]) != TypeKind::Ref || types_.kind(tables_.type(receiver)) == TypeKind::Ref) return;
        report(body_.exprs[receiver].span, types_[sig.inputs[0]].mutability == types::Mutability::Mut);
    }

    void binding(hir::PatId pat, hir::ExprId init) {
        const auto* name = std::get_if<hir::BindingPat>(&body_.pats[pat].data);
        if (name == nullptr || tables_.bind_modes[pat] == BindMode::Value || !is_static_mut(init)) return;
        report(body_.exprs[init].span, tables_.bind_modes[pat] == BindMode::RefMut);
    }

    void report(Span at, bool is_mut) {
        const std::string_view kind = is_mut ? "mutable" : "shared";
        cx_.sink()
            .lint("static_mut_refs", at, fmt::format("creating a {} reference to mutable static", kind))
            .label(at, fmt::format("{} reference to mutable static", kind))
            .note(is_mut ? "mutable references to mutable statics are dangerous: nothing else may use the variable while they live"
                         : "shared references to mutable statics are dangerous: nothing may change the variable while they live")
            .help(is_mut ? "use `&raw mut` instead to create a raw pointer" : "use `&raw const` instead to create a raw pointer");
    }

    Context& cx_;
    const hir::Program& program_;
    TypeStore& types_;
    const TypeTables& tables_;
    const hir::Body& body_;
};

}  // namespace

void check_static_refs(Context& context, const TypeTables& tables) {
    if (tables.names_statics) StaticRefCheck(context, tables).run();
}

}  // namespace ockc::check
