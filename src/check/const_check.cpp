// What const functions, constants and statics may do: call const functions only (E0015), and keep no reference to something
// that changes (E0764, E0492): the value of a constant is one for all its users.
#include <fmt/format.h>

#include <algorithm>

#include "check/passes.hpp"
#include "check/state.hpp"

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
        const auto* item = std::get_if<hir::StaticDef>(&owner.data);
        const bool is_value = owner.kind == DefKind::Const || owner.kind == DefKind::AssocConst || (item != nullptr && !item->is_mut);
        if (is_value) lives_on(body_.value);
    }

  private:
    // The expressions whose temporaries live as long as the value that `id` gives (Rust's extending expressions).
    void lives_on(ExprId id) {
        if (!id.valid()) return;
        const auto& data = body_.exprs[id].data;
        if (const auto* address = std::get_if<hir::AddressOfExpr>(&data)) {
            if (!address->raw) borrowed_for_ever(id, *address);
        } else if (const auto* tuple = std::get_if<hir::TupleExpr>(&data)) {
            for (const ExprId one : tuple->elements) lives_on(one);
        } else if (const auto* array = std::get_if<hir::ArrayExpr>(&data)) {
            for (const ExprId one : array->elements) lives_on(one);
        } else if (const auto* st = std::get_if<hir::StructExpr>(&data)) {
            for (const hir::FieldInit& one : st->fields) lives_on(one.value);
        } else if (const auto* call = std::get_if<hir::CallExpr>(&data)) {
            const TypeData callee = types_[tables_.adjusted_type(call->callee)];
            if (callee.kind != TypeKind::FnDef || program_.defs[callee.def].kind != DefKind::Ctor) return;
            for (const ExprId one : call->args) lives_on(one);
        } else if (const auto* cast = std::get_if<hir::CastExpr>(&data)) {
            lives_on(cast->operand);
        } else if (const auto* block = std::get_if<hir::BlockExpr>(&data)) {
            lives_on(body_.blocks[block->block].tail);
        } else if (const auto* branch = std::get_if<hir::IfExpr>(&data)) {
            lives_on(branch->then_expr);
            lives_on(branch->else_expr);
        } else if (const auto* match = std::get_if<hir::MatchExpr>(&data)) {
            for (const hir::Arm& arm : match->arms) lives_on(arm.body);
        }
    }

    // `&x.y[z]`, `&*&mut x`: what is inside lives on too.
    void borrowed_for_ever(ExprId id, const hir::AddressOfExpr& address) {
        ExprId at = address.operand;
        bool place = false;
        while (true) {
            const auto& data = body_.exprs[at].data;
            if (const auto* field = std::get_if<hir::FieldExpr>(&data)) {
                at = field->base;
            } else if (const auto* index = std::get_if<hir::IndexExpr>(&data)) {
                at = index->base;
            } else if (const auto* unary = std::get_if<hir::UnaryExpr>(&data); unary != nullptr && unary->op == hir::UnaryOp::Deref) {
                at = unary->operand;
                place = true;
            } else {
                break;
            }
        }
        lives_on(at);
        if (const auto* path = std::get_if<hir::PathExpr>(&body_.exprs[at].data)) {
            const DefKind kind = tables_.expr_items[at].valid() ? program_.defs[tables_.expr_items[at].def].kind : DefKind::Static;
            static_cast<void>(path);
            place = place || (kind != DefKind::Const && kind != DefKind::AssocConst && kind != DefKind::Fn && kind != DefKind::Ctor && kind != DefKind::ConstParam);
        }
        if (place) return;
        const Span span = body_.exprs[id].span;
        const bool is_mut = address.mutability == Mutability::Mut;
        if (!is_mut && !changes_inside(address.operand)) return;
        cx_.sink().error(is_mut ? Code::E0764 : Code::E0492, span,
                         fmt::format("{} borrows of temporaries that have their lifetime extended until the end of the program are not allowed", is_mut ? "mutable" : "interior mutable shared"))
            .label(span, fmt::format("this {} borrow refers to such a temporary", is_mut ? "mutable" : "interior mutable"))
            .note("temporaries in constants and statics can have their lifetime extended until the end of the program")
            .note("to avoid accidentally creating global mutable state, such temporaries must be immutable")
            .help("if you really want global mutable state, try using static mut or a global UnsafeCell");
    }

    // A value with a cell in it, made here: a variant without fields has none, whatever its type.
    bool changes_inside(ExprId operand) {
        if (std::holds_alternative<hir::PathExpr>(body_.exprs[operand].data)) {
            const ItemRef item = tables_.expr_items[operand];
            if (item.valid() && program_.defs[item.def].kind == DefKind::Ctor) return false;
        }
        return has_cell(tables_.type(operand), 0);
    }
    bool has_cell(TypeId type, std::uint32_t depth) {
        constexpr std::uint32_t kDeep = 64;
        if (depth > kDeep) return false;
        const TypeData data = types_[type];
        if (data.kind == TypeKind::Array) return has_cell(data.element, depth + 1);
        if (data.kind == TypeKind::Tuple) return std::any_of(types_[data.elements].begin(), types_[data.elements].end(), [&](TypeId part) { return has_cell(part, depth + 1); });
        if (data.kind != TypeKind::Adt) return false;
        if (data.def == cx_.state().lang.unsafe_cell) return true;
        for (const VariantInfo& variant : cx_.adt(data.def).variants) {
            for (const FieldInfo& field : variant.fields) {
                if (has_cell(cx_.field_type(field, data.args, cx_.param_env(tables_.owner)), depth + 1)) return true;
            }
        }
        return false;
    }

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
