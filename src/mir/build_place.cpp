// Places: variables, statics, dereferences, fields, elements, and what overloaded `*` and `[]` give. An expression that
// is no place becomes a temporary.
#include "mir/builder.hpp"

namespace ockc::mir {

using check::AdjustKind;

std::optional<hir::LocalId> Builder::path_local(hir::ExprId id) const {
    const auto* path = std::get_if<hir::PathExpr>(&expr(id).data);
    if (path == nullptr || path->path->kind != hir::QPath::Kind::Resolved) return std::nullopt;
    if (path->path->path.res.kind != hir::Res::Kind::Local) return std::nullopt;
    return path->path->path.res.local;
}

bool Builder::is_place(Adjusted node) {
    if (node.steps > 0) {
        const AdjustKind kind = last_step(node).kind;
        return kind == AdjustKind::Deref || kind == AdjustKind::OverloadedDeref;
    }
    const hir::ExprData& data = expr(node.expr).data;
    if (std::holds_alternative<hir::PathExpr>(data)) {
        if (path_local(node.expr)) return true;
        const check::ItemRef item = tables_.expr_items[node.expr];
        return item.valid() && hir_program_.defs[item.def].kind == hir::DefKind::Static;
    }
    if (const auto* unary = std::get_if<hir::UnaryExpr>(&data)) return unary->op == hir::UnaryOp::Deref;
    return std::holds_alternative<hir::FieldExpr>(data) || std::holds_alternative<hir::IndexExpr>(data);
}

PlaceBuilder Builder::as_place_builder(Adjusted node, bool promote) {
    if (node.steps > 0) {
        const check::Adjustment& step = last_step(node);
        if (step.kind == AdjustKind::OverloadedDeref) return overloaded_deref(node);
        if (step.kind != AdjustKind::Deref) return root(as_temp(node));
        PlaceBuilder place = as_place_builder({node.expr, node.steps - 1});
        deref(place, step.target);
        return place;
    }
    if (!is_place(node)) {
        return promote && is_promotable(node.expr) ? promoted_place(node.expr) : root(as_temp(node));
    }
    if (!enter_nested(span_of(node.expr))) return root(new_temp(type_of(node), span_of(node.expr)));
    const hir::Expr& source = expr(node.expr);
    PlaceBuilder place;
    if (const auto local = path_local(node.expr)) {
        place = local_place(*local);
    } else if (std::holds_alternative<hir::PathExpr>(source.data)) {
        place = static_place(tables_.expr_items[node.expr], source.span);
    } else if (const auto* unary = std::get_if<hir::UnaryExpr>(&source.data)) {
        const check::ItemRef callee = tables_.callees[node.expr];
        if (callee.valid()) {
            place = call_place(node.expr, callee, {as_operand(unary->operand)}, type_of(node));
        } else {
            place = as_place_builder(full(unary->operand));
            deref(place, type_of(node));
        }
    } else if (const auto* field_expr = std::get_if<hir::FieldExpr>(&source.data)) {
        place = as_place_builder(full(field_expr->base), promote);
        field(place, tables_.fields[node.expr], type_of(node));
    } else {
        place = index_place(node.expr, std::get<hir::IndexExpr>(source.data), promote);
    }
    leave_nested();
    return place;
}

PlaceBuilder Builder::local_place(hir::LocalId local) {
    if (const LocalId guard_ref = guard_refs_[local]; guard_ref.valid()) {
        PlaceBuilder place = root(guard_ref);
        deref(place, tables_.type(local));
        return place;
    }
    if (const LocalId variable = variables_[local]; variable.valid()) return root(variable);
    OCKC_CHECK_MSG(closure_ != nullptr, "a variable without storage");
    return {LocalId(), local, {}, tables_.type(local)};
}

// `*_t` where _t holds the static's address.
PlaceBuilder Builder::static_place(check::ItemRef item, Span span) {
    const bool is_mut = hir_program_.as<hir::StaticDef>(item.def).is_mut;
    const TypeId type = context_.type_of(item.def);
    const TypeId address = is_mut ? types_.raw_ptr(type, Mutability::Mut) : types_.ref(types_.erased, type, Mutability::Not);
    const LocalId temp = new_temp(address, span);
    body_.locals[temp].info = LocalInfo::RefToStatic;
    body_.locals[temp].static_def = item.def;
    storage_live(span, temp, innermost_terminating());
    assign_use(span, Place{temp, {}},
               Operand::of(constant(Constant{
                   .kind = Constant::Kind::Static, .type = address, .span = span, .def = item.def, .args = item.args})));
    PlaceBuilder place = root(temp);
    deref(place, type);
    return place;
}

// The base's place first, then the index's value, then the check; the index is held in a temporary of its own so that
// nothing can change it between the check and the access.
PlaceBuilder Builder::index_place(hir::ExprId id, const hir::IndexExpr& node, bool promote) {
    const check::ItemRef callee = tables_.callees[id];
    const bool is_shared = callee.valid() && hir_program_.defs[hir_program_.defs[callee.def].parent].lang_item == "shared_cells";
    if (callee.valid() && !is_shared) {
        Operand base = as_operand(node.base);
        Operand index = as_operand(node.index);
        return call_place(id, callee, {base, index}, type_of({id, 0}));
    }
    const Span span = span_of(id);
    PlaceBuilder place = is_shared ? shared_cells_place(id, callee, as_operand(node.base)) : as_place_builder(full(node.base), promote);
    const LocalId index = as_value(full(node.index));
    const Place base = to_place(place);
    Operand length;
    const types::TypeData base_type = types_[place.type];
    if (base_type.kind == types::TypeKind::Array) {
        length = array_length(span, base_type.length);
    } else {
        length = Operand::move(Place{assign_temp(span, types_.usize(), Rvalue{LenRvalue{base}}), {}});
    }
    const Operand index_copy = Operand::copy(Place{index, {}});
    const Operand shown_length = length.is_constant() ? length : Operand::copy(length.place);
    const LocalId less =
        assign_temp(span, types_.boolean, Rvalue{BinaryOpRvalue{BinOp::Lt, index_copy, shown_length}});
    assert_that(span, Operand::move(Place{less, {}}), true, AssertKind::BoundsCheck, BinOp::Lt, length, index_copy);
    place.steps.push_back(Projection{.kind = ProjectionKind::Index, .local = index, .type = type_of({id, 0})});
    place.type = type_of({id, 0});
    return place;
}

// `*p`, where p is what a shared array says its cells are: `*mut [T; N]` or `*mut [T]`.
PlaceBuilder Builder::shared_cells_place(hir::ExprId id, check::ItemRef callee, Operand array) {
    const Span span = span_of(id);
    const TypeId pointer = context_.normalize(context_.fn_sig(callee).output, env_);
    const LocalId temp = new_temp(pointer, span);
    storage_live(span, temp, temp_depth(id));
    emit_call(span, span, fn_operand(span, callee), {std::move(array)}, Place{temp, {}}, CallSource::Operator);
    PlaceBuilder place = root(temp);
    deref(place, pointee(pointer));
    return place;
}

// `*p`, where p refers to a promoted constant.
PlaceBuilder Builder::promoted_place(hir::ExprId value) {
    const Span span = span_of(value);
    const TypeId type = types_.ref(types_.erased, tables_.type(value), Mutability::Not);
    PlaceBuilder place = root(assign_temp(span, type, Rvalue{UseRvalue{promote(value, type, span)}}));
    deref(place, tables_.type(value));
    return place;
}

// `*callee(args)`: the call returns a reference to `pointee`.
PlaceBuilder Builder::call_place(hir::ExprId id, check::ItemRef callee, std::vector<Operand> args, TypeId pointee_type) {
    const Span span = span_of(id);
    const TypeId output = context_.fn_sig(callee).output;
    const bool is_mut = types_.kind(output) == types::TypeKind::Ref && types_[output].mutability == Mutability::Mut;
    const TypeId ref = types_.ref(types_.erased, pointee_type, is_mut ? Mutability::Mut : Mutability::Not);
    const LocalId temp = new_temp(ref, span);
    storage_live(span, temp, temp_depth(id));
    emit_call(span, span, fn_operand(span, callee), std::move(args), Place{temp, {}}, CallSource::Operator);
    PlaceBuilder place = root(temp);
    deref(place, pointee_type);
    return place;
}

PlaceBuilder Builder::overloaded_deref(Adjusted node) {
    const check::Adjustment& step = last_step(node);
    const Span span = span_of(node.expr);
    const PlaceBuilder base = as_place_builder({node.expr, node.steps - 1});
    const bool is_mut = step.mutability == Mutability::Mut;
    const TypeId ref = types_.ref(types_.erased, base.type, step.mutability);
    const LocalId temp = new_temp(ref, span);
    storage_live(span, temp, temp_depth(node.expr));
    assign(span, Place{temp, {}}, Rvalue{RefRvalue{is_mut ? BorrowKind::Mut : BorrowKind::Shared, to_place(base)}});
    return call_place(node.expr, step.callee, {Operand::move(Place{temp, {}})}, step.target);
}

void Builder::deref(PlaceBuilder& place, TypeId type) {
    place.steps.push_back(Projection{.kind = ProjectionKind::Deref, .type = type});
    place.type = type;
}
void Builder::field(PlaceBuilder& place, std::uint32_t index, TypeId type) {
    place.steps.push_back(Projection{.kind = ProjectionKind::Field, .index = index, .type = type});
    place.type = type;
}
void Builder::downcast(PlaceBuilder& place, std::uint32_t variant) {
    place.steps.push_back(Projection{.kind = ProjectionKind::Downcast, .index = variant, .type = place.type});
}

std::optional<Place> Builder::try_place(const PlaceBuilder& place) {
    if (!place.local.valid()) {
        const std::optional<PlaceBuilder> resolved = resolve_upvar(place);
        if (!resolved) return std::nullopt;
        return Place{resolved->local, program_.arena.copy(std::span<const Projection>(resolved->steps.view()))};
    }
    return Place{place.local, program_.arena.copy(std::span<const Projection>(place.steps.view()))};
}
Place Builder::to_place(const PlaceBuilder& place) {
    const std::optional<Place> done = try_place(place);
    OCKC_CHECK_MSG(done.has_value(), "a place that its closure does not capture");
    return *done;
}

TypeId Builder::pointee(TypeId pointer) { return types_[pointer].element; }

TypeId Builder::field_type(TypeId type, std::uint32_t variant, std::uint32_t index) {
    const types::TypeData data = types_[type];
    if (data.kind == types::TypeKind::Tuple) return types_[data.elements][index];
    OCKC_CHECK(data.kind == types::TypeKind::Adt);
    return context_.field_type(context_.adt(data.def).variants[variant].fields[index], data.args, env_);
}

}  // namespace ockc::mir
