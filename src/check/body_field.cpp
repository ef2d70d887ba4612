// Places: automatic dereferences, fields, indexing, `*`, and the switch to DerefMut and IndexMut of places that are mutated.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "check/body.hpp"
#include "support/enum_table.hpp"

namespace ockc::check {

namespace {
constexpr std::size_t kAutoderefLimit = 128;
}

ItemRef BodyChecker::trait_method(DefId trait, TypeId self, std::span<const TypeId> others, std::string_view method) {
    std::vector<GenericArg> args{self};
    for (TypeId other : others) args.push_back(other);
    return {state_.item_named(trait, program_.interner.intern(method)), types_.args(args)};
}

std::optional<TypeId> BodyChecker::overloaded_deref_target(TypeId type, Span at) {
    if (probing_ || !lang_.deref.valid() || !lang_.deref_target.valid()) return std::nullopt;
    const TypeKind kind = types_.kind(type);
    if (kind != TypeKind::Adt && kind != TypeKind::Param && kind != TypeKind::Projection) return std::nullopt;
    if (selector_.evaluate_trait(type, lang_.deref) == Outcome::No) return std::nullopt;
    const GenericArg args[] = {type};
    return normalize(types_.projection(lang_.deref_target, types_.args(args)), at);
}

std::vector<BodyChecker::DerefStep> BodyChecker::autoderef(TypeId type, Span at, bool raw_pointers) {
    std::vector<DerefStep> steps{{type, false}};
    while (steps.size() <= kAutoderefLimit) {
        const TypeId current = structural(steps.back().type);
        const TypeData data = types_[current];
        if (data.kind == TypeKind::Ref || (raw_pointers && data.kind == TypeKind::RawPtr)) {
            steps.push_back({data.element, false});
        } else if (const auto target = overloaded_deref_target(current, at)) {
            steps.push_back({*target, true});
        } else {
            return steps;
        }
    }
    error(Code::E0055, at, fmt::format("reached the recursion limit while auto-dereferencing `{}`", text(type)));
    steps.resize(1);
    return steps;
}

std::vector<Adjustment> BodyChecker::deref_adjustments(const std::vector<DerefStep>& steps, std::uint32_t count, Span) {
    std::vector<Adjustment> out;
    for (std::uint32_t i = 1; i <= count; ++i) {
        Adjustment step;
        step.kind = steps[i].overloaded ? AdjustKind::OverloadedDeref : AdjustKind::Deref;
        if (steps[i].overloaded) step.callee = trait_method(lang_.deref, steps[i - 1].type, {}, "deref");
        step.target = steps[i].type;
        out.push_back(step);
    }
    return out;
}

// ---- fields ---------------------------------------------------------------------------------------------------------------------------------

TypeId BodyChecker::check_field(ExprId id, const hir::FieldExpr& e) {
    const TypeId base = structural(check_expr(e.base));
    if (has_error(base)) return types_.error;
    if (infer_.is_type_var(base)) return structural_or_error(base, span(e.base));
    DefId hidden;
    const std::vector<DerefStep> steps = autoderef(base, span(e.base));
    for (std::uint32_t i = 0; i < steps.size(); ++i) {
        const TypeId type = shallow(steps[i].type);
        const TypeData data = types_[type];
        if (data.kind == TypeKind::Adt && cx_.adt(data.def).kind != AdtInfo::Kind::Enum) {
            const AdtInfo& adt = cx_.adt(data.def);
            const auto& fields = adt.variants[0].fields;
            for (std::uint32_t f = 0; f < fields.size(); ++f) {
                if (fields[f].name != e.field.name) continue;
                if (!is_visible(field_syntax(adt, 0, f).visibility)) {
                    hidden = fields[f].def;
                    break;
                }
                apply_adjustments(e.base, deref_adjustments(steps, i, span(e.base)));
                tables_.fields.set(id, f);
                return field_type(fields[f], data.args, span(id));
            }
        } else if (data.kind == TypeKind::Tuple) {
            const std::string_view text = name(e.field.name);
            std::uint32_t index = 0;
            const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), index);
            const auto elements = types_[data.elements];
            if (problem == std::errc() && end == text.data() + text.size() && index < elements.size()) {
                apply_adjustments(e.base, deref_adjustments(steps, i, span(e.base)));
                tables_.fields.set(id, index);
                return elements[index];
            }
        }
    }
    return report_no_field(id, e, base, hidden);
}

TypeId BodyChecker::report_no_field(ExprId, const hir::FieldExpr& e, TypeId type, DefId hidden) {
    const std::string_view field = name(e.field.name);
    std::vector<DerefStep> steps;
    if (hidden.valid()) {
        const hir::Def& owner = program_.defs[program_.defs[hidden].parent];
        error(Code::E0616, e.field.span, fmt::format("field `{}` of struct `{}` is private", field, name(owner.name.name))).label(e.field.span, "private field");
        return types_.error;
    }
    const MethodProbeResult method = probe_method(type, e.field.name, e.field.span, steps);
    // A library method that nothing calls is known by name only.
    const bool named = std::any_of(steps.begin(), steps.end(), [&](const DerefStep& step) {
        const auto& items = cx_.inherent_items(shallow(step.type), e.field.name);
        return std::any_of(items.begin(), items.end(), [&](const AssocItem& item) {
            const hir::Def& def = program_.defs[item.def];
            return def.kind == hir::DefKind::AssocFn && (!def.lowered || cx_.fn_sig(item.def).has_self);
        });
    });
    if (method.pick || method.private_item.valid() || named) {
        error(Code::E0615, e.field.span, fmt::format("attempted to take value of method `{}` on type `{}`", field, text(type)))
            .label(e.field.span, "method, not a field")
            .suggest(e.field.span.after(), "()", "use parentheses to call the method");
        return types_.error;
    }
    TypeId head = shallow(steps.empty() ? type : steps.back().type);
    switch (types_.kind(head)) {
        case TypeKind::Bool:
        case TypeKind::Char:
        case TypeKind::Int:
        case TypeKind::Float:
            if (head == shallow(type)) {
                error(Code::E0610, e.field.span, fmt::format("`{}` is a primitive type and therefore doesn't have fields", text(type)));
                return types_.error;
            }
            break;
        case TypeKind::Infer:
            error(Code::E0610, e.field.span, fmt::format("`{}` is a primitive type and therefore doesn't have fields", text(type)));
            return types_.error;
        default: break;
    }
    Diagnostic& diagnostic = error(Code::E0609, e.field.span, fmt::format("no field `{}` on type `{}`", field, text(type)));
    diagnostic.label(e.field.span, "unknown field");
    for (const DerefStep& step : steps) {
        const TypeData data = types_[shallow(step.type)];
        if (data.kind != TypeKind::Adt || cx_.adt(data.def).kind == AdtInfo::Kind::Enum) continue;
        std::vector<std::string_view> names;
        for (const FieldInfo& candidate : cx_.adt(data.def).variants[0].fields) names.push_back(name(candidate.name));
        const std::string_view near = nearest_name(names, field);
        if (!near.empty()) {
            diagnostic.suggest(e.field.span, std::string(near), "a field with a similar name exists");
        } else if (!names.empty()) {
            std::string list;
            for (std::size_t i = 0; i < names.size() && i < 5; ++i) list += fmt::format("{}`{}`", i == 0 ? "" : ", ", names[i]);
            diagnostic.note(fmt::format("available field{}: {}", names.size() == 1 ? " is" : "s are", list));
        }
        break;
    }
    return types_.error;
}

// ---- indexing ---------------------------------------------------------------------------------------------------------------------------------

std::optional<TypeId> BodyChecker::try_index_step(ExprId id, const hir::IndexExpr& e, TypeId self, TypeId index, const std::vector<Adjustment>& derefs) {
    const TypeData data = types_[self];
    if (data.kind == TypeKind::Array || data.kind == TypeKind::Slice) {
        const TypeData& by = types_[index];
        const bool number = index == types_.usize() || (by.kind == TypeKind::Infer && by.infer_kind == types::InferKind::Int);
        if (number) {
            unify(index, types_.usize());
            apply_adjustments(e.base, derefs);
            return data.element;
        }
    }
    if (is_shared_array(self)) {
        return shared_index_step(id, e, self, index, derefs);
    }
    std::vector<Adjustment> steps = derefs;
    TypeId place = self;
    const bool unsize = data.kind == TypeKind::Array;
    if (unsize) place = types_.slice(data.element);
    const DefId trait = state_.lang_item("index");
    if (!trait.valid()) return std::nullopt;
    const GenericArg args[] = {place, index};
    Predicate predicate;
    predicate.trait_ref = {trait, types_.args(args)};
    if (selector_.evaluate(predicate) == Outcome::No) return std::nullopt;
    add_obligation(predicate, {span(e.index), CauseKind::Misc, {}, {}, {}});
    const DefId output = state_.item_named(trait, program_.interner.intern("Output"));
    steps.push_back({AdjustKind::Borrow, Mutability::Not, false, {}, types_.ref(types_.erased, self, Mutability::Not)});
    if (unsize) steps.push_back({AdjustKind::Unsize, Mutability::Not, false, {}, types_.ref(types_.erased, place, Mutability::Not)});
    apply_adjustments(e.base, steps);
    const TypeId others[] = {index};
    tables_.callees.set(id, trait_method(trait, place, others, "index"));
    return normalize(types_.projection(output, types_.args(args)), span(id));
}

bool BodyChecker::is_shared_array(TypeId type) const {
    return types_.kind(type) == TypeKind::Adt && (types_[type].def == lang_.shared_array || types_[type].def == lang_.dynamic_shared);
}

// An element of a shared array: a place inside the cells that a `&` to the array leads to, each of which may be written.
std::optional<TypeId> BodyChecker::shared_index_step(ExprId id, const hir::IndexExpr& e, TypeId self, TypeId index, std::vector<Adjustment> steps) {
    const TypeData by = types_[index];
    if (index != types_.usize() && !(by.kind == TypeKind::Infer && by.infer_kind == types::InferKind::Int)) return std::nullopt;
    unify(index, types_.usize());
    steps.push_back({AdjustKind::Borrow, Mutability::Not, false, {}, types_.ref(types_.erased, self, Mutability::Not)});
    apply_adjustments(e.base, steps);
    tables_.callees.set(id, trait_method(state_.lang_item("shared_cells"), self, {}, "shared_cells"));
    for (const GenericArg arg : types_[types_[self].args]) {
        if (arg.kind() == GenericArg::Kind::Type) return arg.as_type();
    }
    return std::nullopt;
}

// `x[-1]`: the literal takes the type usize, which has no negation; the index is what is wrong.
void BodyChecker::refuse_negative_index(const hir::IndexExpr& e, TypeId self) {
    const auto* minus = std::get_if<hir::UnaryExpr>(&expr(e.index).data);
    if (minus == nullptr || minus->op != hir::UnaryOp::Neg || !std::holds_alternative<hir::LiteralExpr>(expr(minus->operand).data)) return;
    const TypeKind kind = types_.kind(self);
    if (kind != TypeKind::Array && kind != TypeKind::Slice && !is_shared_array(self)) return;
    const std::string what = is_shared_array(self) ? text(self) : fmt::format("[{}]", text(types_[self].element));
    Diagnostic& diagnostic = error(Code::None, span(e.index), fmt::format("negative integers cannot be used to index on a `{}`", what));
    diagnostic.label(span(e.index), fmt::format("cannot use a negative integer for indexing on `{}`", what));
    std::erase_if(negated_, [&](const auto& one) { return one.first == e.index; });   // nothing more is said of it
    if (std::holds_alternative<hir::PathExpr>(expr(e.base).data) && cx_.sources() != nullptr) {
        diagnostic.suggest(span(e.index).start(), fmt::format("{}.len() ", cx_.sources()->text(span(e.base))),
                           fmt::format("to access an element starting from the end of the `{}`, compute the index", what));
    }
}

TypeId BodyChecker::check_index(ExprId id, const hir::IndexExpr& e) {
    const TypeId base = structural(check_expr(e.base));
    const TypeId index = structural(check_expr(e.index));
    if (has_error(base) || has_error(index)) return types_.error;
    if (infer_.is_type_var(base)) return structural_or_error(base, span(e.base));
    const std::vector<DerefStep> steps = autoderef(base, span(e.base));
    for (std::uint32_t i = 0; i < steps.size(); ++i) {
        const TypeId self = structural(steps[i].type);
        if (const auto element = try_index_step(id, e, self, index, deref_adjustments(steps, i, span(e.base)))) {
            refuse_negative_index(e, self);
            return *element;
        }
        const TypeKind kind = types_.kind(self);
        const bool is_shared = is_shared_array(self);
        if (kind != TypeKind::Array && kind != TypeKind::Slice && !is_shared) continue;
        const std::string what = is_shared ? text(self) : fmt::format("[{}]", text(types_[self].element));
        Diagnostic& diagnostic = error(Code::E0277, span(e.index), fmt::format("the type `{}` cannot be indexed by `{}`", what, text(index)));
        diagnostic.label(span(e.index), is_shared ? "indices of shared arrays are of type `usize`" : "slice indices are of type `usize` or ranges of `usize`");
        if (types_.kind(index) == TypeKind::Int) {
            const bool is_atom = !std::holds_alternative<hir::BinaryExpr>(expr(e.index).data) && !std::holds_alternative<hir::CastExpr>(expr(e.index).data);
            if (is_atom) diagnostic.suggest(span(e.index).after(), " as usize", "convert with `as usize`");
            if (!is_atom) diagnostic.help("convert the index: `(..) as usize`");
        }
        return types_.error;
    }
    if (const TypeId last = shallow(steps.back().type); types_.kind(last) == TypeKind::Str) {
        error(Code::E0277, span(e.index), fmt::format("the type `str` cannot be indexed by `{}`", text(index)))
            .label(span(e.index), "string indices are ranges of `usize`");
        return types_.error;
    }
    for (const DerefStep& step : steps) {   // one that has other indices
        if (types_.kind(structural(step.type)) != TypeKind::Adt || !lang_.index.valid() || cx_.impls_that_may_match(lang_.index, structural(step.type)).empty()) continue;
        error(Code::E0277, span(e.index), fmt::format("the type `{}` cannot be indexed by `{}`", text(step.type), text(index)));
        return types_.error;
    }
    error(Code::E0608, span(id), fmt::format("cannot index into a value of type `{}`", text(base)));
    return types_.error;
}

// ---- dereference --------------------------------------------------------------------------------------------------------------------------------

TypeId BodyChecker::check_deref(ExprId id, const hir::UnaryExpr& e, Expectation) {
    const TypeId operand = structural(check_expr(e.operand));
    if (has_error(operand)) return types_.error;
    if (infer_.is_type_var(operand)) return structural_or_error(operand, span(e.operand));
    const TypeData data = types_[operand];
    if (data.kind == TypeKind::Ref || data.kind == TypeKind::RawPtr) return data.element;
    if (const auto target = overloaded_deref_target(operand, span(id))) {
        apply_adjustments(e.operand, {{AdjustKind::Borrow, Mutability::Not, false, {}, types_.ref(types_.erased, operand, Mutability::Not)}});
        tables_.callees.set(id, trait_method(lang_.deref, operand, {}, "deref"));
        return *target;
    }
    error(Code::E0614, span(id), fmt::format("type `{}` cannot be dereferenced", text(operand))).label(span(id), "can't be dereferenced");
    return types_.error;
}

// ---- mutated places --------------------------------------------------------------------------------------------------------------------------------

void BodyChecker::make_place_mutable(ExprId id) {
    std::vector<ExprId> chain{id};
    for (;;) {
        const hir::Expr& e = expr(chain.back());
        if (const auto* field = std::get_if<hir::FieldExpr>(&e.data)) {
            chain.push_back(field->base);
        } else if (const auto* index = std::get_if<hir::IndexExpr>(&e.data)) {
            chain.push_back(index->base);
        } else if (const auto* unary = std::get_if<hir::UnaryExpr>(&e.data); unary != nullptr && unary->op == hir::UnaryOp::Deref) {
            chain.push_back(unary->operand);
        } else {
            break;
        }
    }
    for (auto it = chain.rbegin(); it != chain.rend(); ++it) make_mutable_once(*it);
}

void BodyChecker::make_mutable_once(ExprId id) {
    if (const auto found = adjustments_.find(id); found != adjustments_.end()) {
        TypeId self = tables_.expr_types[id];
        for (Adjustment& step : found->second) {
            const bool shared = step.kind == AdjustKind::OverloadedDeref && step.mutability == Mutability::Not;
            if (const DefId trait = shared ? state_.lang_item("deref_mut") : DefId(); trait.valid() && selector_.evaluate_trait(shallow(self), trait) != Outcome::No) {
                step.mutability = Mutability::Mut;
                step.callee = trait_method(trait, self, {}, "deref_mut");
            }
            self = step.target;
        }
    }
    const ItemRef callee = tables_.callees[id];
    if (!callee.valid()) return;
    const hir::Expr& e = expr(id);
    const auto* index = std::get_if<hir::IndexExpr>(&e.data);
    const auto* unary = std::get_if<hir::UnaryExpr>(&e.data);
    const bool is_deref = unary != nullptr && unary->op == hir::UnaryOp::Deref;
    if (index == nullptr && !is_deref) return;
    const DefId from = is_deref ? lang_.deref : lang_.index;
    if (program_.defs[callee.def].parent != from) return;
    const DefId to = state_.lang_item(is_deref ? "deref_mut" : "index_mut");
    if (!to.valid()) return;
    Predicate predicate;
    predicate.trait_ref = {to, callee.args};
    if (selector_.evaluate(predicate) == Outcome::No) return;
    add_obligation(predicate, {span(id), CauseKind::Misc, {}, {}, {}});
    tables_.callees.set(id, {state_.item_named(to, program_.interner.intern(is_deref ? "deref_mut" : "index_mut")), callee.args});
    for (Adjustment& step : adjustments_[is_deref ? unary->operand : index->base]) {
        if (step.kind == AdjustKind::Borrow || step.kind == AdjustKind::Unsize) {
            const TypeData data = types_[step.target];
            step.mutability = Mutability::Mut;
            step.target = types_.ref(types_.erased, data.element, Mutability::Mut);
        }
    }
}

}  // namespace ockc::check
