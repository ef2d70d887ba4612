// Coercions: the implicit conversions at places with a known target type.
#include "check/body.hpp"

namespace ockc::check {

void BodyChecker::apply_adjustments(ExprId id, std::vector<Adjustment> steps) {
    if (steps.empty()) return;
    auto& have = adjustments_[id];
    have.insert(have.end(), std::make_move_iterator(steps.begin()), std::make_move_iterator(steps.end()));
}

TypeId BodyChecker::coerce(ExprId id, TypeId from, TypeId to, bool two_phase) {
    if (has_error(from)) return to;
    if (has_error(to)) return types_.error;
    if (try_coerce(id, from, to, two_phase)) return to;
    report_coercion(id, to, from);
    return types_.error;
}

bool BodyChecker::try_coerce(ExprId id, TypeId from, TypeId to, bool two_phase) {
    std::vector<Adjustment> steps;
    if (!coerce_inner(structural(from), to, two_phase, id, steps)) return false;
    apply_adjustments(id, std::move(steps));
    return true;
}

bool BodyChecker::can_coerce(TypeId from, TypeId to) {
    const bool before = std::exchange(probing_, true);
    const auto snapshot = infer_.snapshot();
    std::vector<Adjustment> steps;
    const bool ok = coerce_inner(from, to, false, ExprId(), steps);
    infer_.rollback(snapshot);
    probing_ = before;
    return ok;
}

bool BodyChecker::coerce_inner(TypeId from, TypeId to, bool two_phase, ExprId id, std::vector<Adjustment>& steps) {
    from = shallow(from);
    const TypeId target = shallow(to);
    if (from == target) {
        // `&mut` is reborrowed where it is used, so that it can be used again.
        const TypeData& data = types_[from];
        if (data.kind != TypeKind::Ref || data.mutability == Mutability::Not) return true;
    }
    const TypeData source = types_[from], wanted = types_[target];
    if (source.kind == TypeKind::Never) {
        if (wanted.kind == TypeKind::Never) return true;
        if (infer_.is_type_var(target)) {
            const TypeId diverging = infer_.new_diverging_var(id.valid() ? span(id) : Span{});
            unify(diverging, target);
        }
        steps.push_back({AdjustKind::NeverToAny, Mutability::Not, false, {}, target});
        return true;
    }
    if (infer_.is_type_var(from) || infer_.is_type_var(target)) return unify(from, target);
    if (coerce_unsized(from, target, steps)) return true;
    switch (wanted.kind) {
        case TypeKind::Ref: return coerce_to_ref(from, target, two_phase, id.valid() ? span(id) : Span{}, steps);
        case TypeKind::RawPtr: return coerce_to_raw(from, target, steps);
        case TypeKind::FnPtr: return coerce_to_fn_ptr(from, target, steps);
        default: return unify(target, from);
    }
}

// Pointer to an array becomes pointer to a slice.
bool BodyChecker::coerce_unsized(TypeId from, TypeId to, std::vector<Adjustment>& steps) {
    const TypeData source = types_[from], wanted = types_[to];
    const bool to_ref = wanted.kind == TypeKind::Ref, to_raw = wanted.kind == TypeKind::RawPtr;
    if (!to_ref && !to_raw) return false;
    const bool from_ref = source.kind == TypeKind::Ref;
    if (!from_ref && !(source.kind == TypeKind::RawPtr && to_raw)) return false;
    const TypeId slice = shallow(wanted.element);
    if (types_.kind(slice) != TypeKind::Slice) return false;
    const TypeId array = structural(source.element);   // an iterator's item may be known by its obligations only
    if (types_.kind(array) != TypeKind::Array) return false;
    if (wanted.mutability == Mutability::Mut && source.mutability == Mutability::Not) return false;
    if (!unify(types_[slice].element, types_[array].element)) return false;
    if (from_ref) {
        steps.push_back({AdjustKind::Deref, Mutability::Not, false, {}, array});
        const TypeId thin = to_ref ? types_.ref(types_.erased, array, wanted.mutability) : types_.raw_ptr(array, wanted.mutability);
        steps.push_back({to_ref ? AdjustKind::Borrow : AdjustKind::RawBorrow, wanted.mutability, false, {}, thin});
    } else if (source.mutability != wanted.mutability) {
        steps.push_back({AdjustKind::MutToConst, Mutability::Not, false, {}, types_.raw_ptr(array, Mutability::Not)});
    }
    steps.push_back({AdjustKind::Unsize, wanted.mutability, false, {}, to});
    return true;
}

bool BodyChecker::coerce_to_ref(TypeId from, TypeId to, bool two_phase, Span at, std::vector<Adjustment>& steps) {
    const TypeData source = types_[from], wanted = types_[to];
    if (source.kind != TypeKind::Ref) return unify(to, from);
    if (wanted.mutability == Mutability::Mut && source.mutability == Mutability::Not) return false;
    const std::vector<DerefStep> derefs = autoderef(from, at);
    for (std::uint32_t i = 1; i < derefs.size(); ++i) {
        if (!unify(wanted.element, derefs[i].type)) continue;
        if (i == 1 && wanted.mutability == Mutability::Not && source.mutability == Mutability::Not) return true;
        steps = deref_adjustments(derefs, i, at);
        if (wanted.mutability == Mutability::Mut) {
            TypeId self = from;
            for (Adjustment& step : steps) {
                if (step.kind == AdjustKind::OverloadedDeref) {
                    step.mutability = Mutability::Mut;
                    const DefId trait = state_.lang_item("deref_mut");
                    step.callee = trait_method(trait, self, {}, "deref_mut");
                    require_trait(self, trait, {at, CauseKind::Misc, {}, {}, {}});
                }
                self = step.target;
            }
        }
        steps.push_back({AdjustKind::Borrow, wanted.mutability, two_phase && wanted.mutability == Mutability::Mut, {}, to});
        return true;
    }
    return false;
}

bool BodyChecker::coerce_to_raw(TypeId from, TypeId to, std::vector<Adjustment>& steps) {
    const TypeData source = types_[from], wanted = types_[to];
    if (source.kind != TypeKind::Ref && source.kind != TypeKind::RawPtr) return unify(to, from);
    if (wanted.mutability == Mutability::Mut && source.mutability == Mutability::Not) return false;
    if (!unify(wanted.element, source.element)) return false;
    if (source.kind == TypeKind::Ref) {
        steps.push_back({AdjustKind::Deref, Mutability::Not, false, {}, source.element});
        steps.push_back({AdjustKind::RawBorrow, wanted.mutability, false, {}, to});
    } else if (source.mutability != wanted.mutability) {
        steps.push_back({AdjustKind::MutToConst, Mutability::Not, false, {}, to});
    }
    return true;
}

bool BodyChecker::coerce_to_fn_ptr(TypeId from, TypeId to, std::vector<Adjustment>& steps) {
    const TypeData source = types_[from], wanted = types_[to];
    std::vector<TypeId> inputs;
    TypeId output;
    bool is_unsafe = false;
    AdjustKind kind = AdjustKind::ReifyFn;
    if (source.kind == TypeKind::FnDef) {
        const FnSigInfo sig = cx_.fn_sig(ItemRef{source.def, source.args});
        for (TypeId input : sig.inputs) inputs.push_back(probing_ ? input : normalize(input, Span{}));
        output = probing_ ? sig.output : normalize(sig.output, Span{});
        is_unsafe = sig.is_unsafe;
    } else if (source.kind == TypeKind::FnPtr) {
        if (source.is_unsafe == wanted.is_unsafe) return unify(to, from);
        const auto all = types_[source.elements];
        inputs.assign(all.begin(), all.end() - 1);
        output = all.back();
        is_unsafe = source.is_unsafe;
        kind = AdjustKind::UnsafeFnPtr;
    } else if (source.kind == TypeKind::Closure) {
        const auto view = closure_view(from);
        if (!view || closures_.at(source.def).mentions_outer) return false;
        inputs = view->inputs;
        output = view->output;
        kind = AdjustKind::ClosureToFnPtr;
    } else {
        return unify(to, from);
    }
    if (is_unsafe && !wanted.is_unsafe) return false;
    if (!unify(to, types_.fn_ptr(inputs, output, wanted.is_unsafe))) return false;
    steps.push_back({kind, Mutability::Not, false, {}, to});
    return true;
}

void BodyChecker::demand_eq(Span at, TypeId expected, TypeId found) {
    if (!unify(expected, found)) report_mismatch(at, expected, found);
}

}  // namespace ockc::check
