// What const functions, constants and statics may do: call const functions only (E0015).
#include <fmt/format.h>

#include "check/passes.hpp"

namespace ockc::check {

using hir::DefKind;
using hir::ExprId;

namespace {

class ConstCheck {
  public:
    ConstCheck(Context& context, const TypeTables& tables)
        : cx_(context), program_(context.program()), types_(context.types()), tables_(tables), body_(*context.program().bodies[tables.body]) {}

    void run() {
        const hir::Def& owner = program_.defs[tables_.owner];
        switch (owner.kind) {
            case DefKind::Const:
            case DefKind::AssocConst:
            case DefKind::AnonConst: where_ = "constants"; break;
            case DefKind::Static: where_ = "statics"; break;
            case DefKind::Fn:
            case DefKind::AssocFn:
                if (!std::get<hir::FnDef>(owner.data).sig.is_const) return;
                where_ = "constant functions";
                break;
            default: return;
        }
        for (std::uint32_t i = 0; i < body_.exprs.size(); ++i) check(ExprId(i));
    }

  private:
    bool is_const_fn(ItemRef callee) const {
        const hir::Def& def = program_.defs[callee.def];
        if (def.kind == DefKind::Ctor) return true;
        if (const auto* fn = std::get_if<hir::FnDef>(&def.data)) return fn->sig.is_const;
        return false;
    }

    void refuse(Span at, ItemRef callee, std::string_view what) {
        const bool trait_item = program_.defs[program_.defs[callee.def].parent].kind == DefKind::Trait;
        cx_.sink().error(Code::E0015, at, fmt::format("cannot {} `{}` in {}", what, trait_item ? cx_.text(callee) : program_.path_text(callee.def), where_))
            .note(fmt::format("calls in {} are limited to constant functions, tuple structs and tuple variants", where_));
    }

    void check(ExprId id) {
        const hir::Expr& e = body_.exprs[id];
        if (!tables_.type(id).valid()) return;
        if (const ItemRef callee = tables_.callees[id]; callee.valid() && !is_const_fn(callee)) {
            const bool is_call = std::holds_alternative<hir::MethodCallExpr>(e.data);
            if (is_call) {
                refuse(e.span, callee, "call non-const method");
            } else {
                cx_.sink().error(Code::E0015, e.span, fmt::format("cannot call non-const operator in {}", where_));
            }
            return;
        }
        if (const auto* call = std::get_if<hir::CallExpr>(&e.data)) {
            const TypeData data = types_[tables_.adjusted_type(call->callee)];
            if (data.kind == TypeKind::FnDef && !is_const_fn({data.def, data.args})) {
                const bool loop = e.desugared;
                if (loop) {
                    cx_.sink().error(Code::E0015, e.span, fmt::format("cannot use `for` loop or `?` on this value in {}", where_));
                } else {
                    refuse(e.span, {data.def, data.args}, "call non-const function");
                }
            } else if (data.kind == TypeKind::FnPtr) {
                cx_.sink().error(e.span, fmt::format("function pointer calls are not allowed in {}", where_));
            }
        }
    }

    Context& cx_;
    const hir::Program& program_;
    TypeStore& types_;
    const TypeTables& tables_;
    const hir::Body& body_;
    std::string_view where_;
};

}  // namespace

void check_const_body(Context& context, const TypeTables& tables) { ConstCheck(context, tables).run(); }

}  // namespace ockc::check
