// The end of a body: every recorded type is resolved; what is still unknown is E0282, once.
#include <algorithm>

#include "check/body.hpp"
#include "check/literal_value.hpp"
#include "types/fold.hpp"

namespace ockc::check {

using hir::DefKind;

void TypeTables::set_adjustments(ExprId expr, std::span<const Adjustment> steps) {
    if (steps.empty()) return;
    adjustments_.set(expr, {static_cast<std::uint32_t>(adjustment_pool_.size()), static_cast<std::uint32_t>(steps.size())});
    adjustment_pool_.insert(adjustment_pool_.end(), steps.begin(), steps.end());
}
void TypeTables::set_implicit_derefs(PatId pat, std::span<const TypeId> types) {
    if (types.empty()) return;
    pat_derefs_.set(pat, {static_cast<std::uint32_t>(type_pool_.size()), static_cast<std::uint32_t>(types.size())});
    type_pool_.insert(type_pool_.end(), types.begin(), types.end());
}
void TypeTables::set_field_indices(ExprId expr, std::span<const std::uint32_t> indices) {
    if (indices.empty()) return;
    expr_fields_.set(expr, {static_cast<std::uint32_t>(index_pool_.size()), static_cast<std::uint32_t>(indices.size())});
    index_pool_.insert(index_pool_.end(), indices.begin(), indices.end());
}
void TypeTables::set_field_indices(PatId pat, std::span<const std::uint32_t> indices) {
    if (indices.empty()) return;
    pat_fields_.set(pat, {static_cast<std::uint32_t>(index_pool_.size()), static_cast<std::uint32_t>(indices.size())});
    index_pool_.insert(index_pool_.end(), indices.begin(), indices.end());
}

TypeId BodyChecker::resolved(TypeId type, Span at) {
    if (!type.valid() || !types_.has(type, types::kHasInfer | types::kHasRegion | types::kHasError)) return type;
    const TypeId known = types_.erase_regions(infer_.resolve(type));
    if (types_.has(known, types::kHasError)) tables_.has_errors = true;
    if (!types_.has(known, types::kHasInfer)) return known;
    bool open_type = false;
    types::walk(types_, known, [&](TypeId part) {
        open_type |= types_.kind(part) == TypeKind::Infer;
        return true;
    });
    if (open_type) {
        report_need_type(at, known);
    } else {
        report_need_const(at);
    }
    return types_.error;
}

void BodyChecker::report_need_const(Span at) {
    if (cx_.sink().error_count() != errors_before_) return;
    error(Code::E0284, at, "type annotations needed").label(at, "cannot infer the value of a const parameter");
}

ItemRef BodyChecker::resolved(ItemRef item, Span at) {
    if (!item.valid()) return item;
    const ArgsId known = types_.erase_regions(infer_.resolve(item.args));
    if (!types_.has(known, types::kHasInfer)) return {item.def, known};
    for (GenericArg arg : types_[known]) {
        if (arg.kind() == GenericArg::Kind::Type && types_.has(arg.as_type(), types::kHasInfer)) {
            report_need_type(at, arg.as_type());
            return {item.def, known};
        }
    }
    report_need_const(at);
    return {item.def, known};
}

// Notes what a type or an item of the body may make necessary to check.
void BodyChecker::note_type(TypeId type) {
    if (!type.valid()) return;
    const TypeData& data = types_[type];
    switch (data.kind) {
        case TypeKind::RawPtr:
        case TypeKind::FnPtr: tables_.has_unsafe_parts = true; return;
        case TypeKind::Adt: tables_.has_unsafe_parts |= program_.defs[data.def].kind == DefKind::Union; return;
        case TypeKind::FnDef: return note_item(data.def);
        default: return;
    }
}
void BodyChecker::note_item(DefId item) {
    if (!item.valid()) return;
    const hir::Def& def = program_.defs[item];
    const auto* fn = std::get_if<hir::FnDef>(&def.data);
    tables_.has_unsafe_parts |= def.kind == DefKind::Static || def.kind == DefKind::Union || (fn != nullptr && (!def.lowered || fn->sig.is_unsafe));
    tables_.names_statics |= def.kind == DefKind::Static;
    tables_.names_intrinsics |= !def.lowered || !def.intrinsic.empty();
}

void BodyChecker::write_back() {
    for (std::uint32_t i = 0; i < body_.locals.size(); ++i) {
        const LocalId local(i);
        tables_.local_types.set(local, resolved(tables_.local_types[local], body_.locals[local].name.span));
    }
    for (std::uint32_t i = 0; i < body_.exprs.size(); ++i) {
        const ExprId id(i);
        const TypeId type = resolved(tables_.expr_types[id], span(id));
        tables_.expr_types.set(id, type);
        tables_.expr_kinds |= std::uint64_t{1} << expr(id).data.index();
        note_type(type);
        if (tables_.expr_items[id].valid()) {
            tables_.expr_items.set(id, resolved(tables_.expr_items[id], span(id)));
            note_item(tables_.expr_items[id].def);
        }
        if (tables_.callees[id].valid()) {
            tables_.callees.set(id, resolved(tables_.callees[id], span(id)));
            note_item(tables_.callees[id].def);
        }
        const auto* literal = std::get_if<hir::LiteralExpr>(&expr(id).data);
        if (literal != nullptr && type.valid()) {
            const ConstId value = scalar_literal(types_, literal->value, type);
            if (value.valid()) tables_.literals.set(id, value);
        }
    }
    // Expression order, not hash order: the tables are the same on every machine.
    std::vector<ExprId> adjusted;
    for (const auto& [id, steps] : adjustments_) adjusted.push_back(id);
    std::sort(adjusted.begin(), adjusted.end());
    for (const ExprId id : adjusted) {
        std::vector<Adjustment>& steps = adjustments_.at(id);
        for (Adjustment& step : steps) {
            step.target = resolved(step.target, span(id));
            note_type(step.target);
            step.callee = resolved(step.callee, span(id));
        }
        tables_.set_adjustments(id, steps);
    }
    for (std::uint32_t i = 0; i < body_.pats.size(); ++i) {
        const PatId id(i);
        tables_.pat_types.set(id, resolved(tables_.pat_types[id], pat(id).span));
        if (tables_.pat_items[id].valid()) {
            tables_.pat_items.set(id, resolved(tables_.pat_items[id], pat(id).span));
            note_item(tables_.pat_items[id].def);
        }
        if (const auto found = pat_derefs_.find(id); found != pat_derefs_.end()) {
            for (TypeId& type : found->second) type = resolved(type, pat(id).span);
            tables_.set_implicit_derefs(id, found->second);
        }
    }
    for (auto& [syntax, type] : tables_.written_types) type = infer_.resolve(type);
    for (DefId def : closure_order_) {
        ClosureState& state = closures_.at(def);
        ClosureInfo& info = *state.info;
        info.kind = state.kind.value_or(ClosureKind::Fn);
        for (TypeId& input : info.inputs) input = resolved(input, span(info.expr));
        info.output = resolved(info.output, span(info.expr));
        for (Capture& capture : info.captures) {
            capture.place_type = resolved(capture.place_type, capture.use_span);
            capture.type = resolved(capture.type, capture.use_span);
            for (CaptureProjection& step : capture.projections) step.type = resolved(step.type, capture.use_span);
        }
        tables_.closures.push_back(std::move(state.info));
    }
    write_back_opaques();
    tables_.has_errors |= cx_.sink().error_count() != errors_before_;
}

}  // namespace ockc::check
