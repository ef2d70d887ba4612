// Method lookup, in rustc's order: for every dereference of the receiver by value, then by `&`, then by `&mut`; at each of these
// inherent methods (and those of bounds) before methods of traits in scope.
#include <algorithm>

#include "check/body.hpp"

namespace ockc::check {

using hir::DefKind;

struct BodyChecker::Probe {
    struct Candidate {
        DefId item;
        MethodPick::Source source = MethodPick::Source::Inherent;
        DefId container;
        TraitRef bound;
    };
    enum class Fit : std::uint8_t { Yes, No, Unsatisfied };

    BodyChecker& body;
    Symbol name;
    Span span;
    bool path_mode;                  // `Type::name`: no receiver, constants too
    std::vector<Candidate> inherent, extension;
    bool has_extension = false;
    MethodProbeResult result;

    Probe(BodyChecker& checker, Symbol wanted, Span at, bool path) : body(checker), name(wanted), span(at), path_mode(path) {}

    bool is_usable(DefId item) {
        body.state_.need(item);
        const hir::Def& def = body.program_.defs[item];
        if (!def.lowered) return false;
        if (def.kind == DefKind::AssocConst) return path_mode;
        if (def.kind != DefKind::AssocFn) return false;
        if (path_mode || body.cx_.fn_sig(item).has_self) return true;
        if (!result.not_a_method.valid()) result.not_a_method = item;
        return false;
    }

    static void add(std::vector<Candidate>& list, Candidate candidate) {
        for (const Candidate& c : list) {
            if (c.item == candidate.item && c.bound == candidate.bound) return;
        }
        list.push_back(candidate);
    }

    void add_bound(const TraitRef& bound, TypeId self) {
        if (body.shallow(body.types_[bound.args][0].as_type()) != self) return;
        const DefId item = body.state_.item_named(bound.trait, name);
        if (item.valid() && is_usable(item)) add(inherent, {item, MethodPick::Source::Bound, bound.trait, bound});
    }

    void assemble_inherent(TypeId self) {
        const TypeData data = body.types_[self];
        for (const AssocItem& found : body.cx_.inherent_items(self, name)) {
            if (is_usable(found.def)) add(inherent, {found.def, MethodPick::Source::Inherent, found.container, {}});
        }
        const bool has_item_bounds = data.kind == TypeKind::Projection || data.kind == TypeKind::Opaque;
        if (data.kind != TypeKind::Param && !has_item_bounds) return;
        for (const Predicate& predicate : body.env_.predicates) {
            if (predicate.kind == Predicate::Kind::Trait) add_bound(predicate.trait_ref, self);
        }
        if (!has_item_bounds) return;
        for (const Predicate& predicate : body.cx_.item_bounds(data.def)) {
            if (predicate.kind != Predicate::Kind::Trait) continue;
            std::vector<TraitRef> all{{predicate.trait_ref.trait, body.types_.erase_regions(body.types_.subst(predicate.trait_ref.args, data.args))}};
            for (std::size_t i = 0; i < all.size() && i < 64; ++i) {
                const TraitRef bound = all[i];
                add_bound(bound, self);
                for (const TraitRef& super : body.cx_.supertraits(bound.trait)) all.push_back({super.trait, body.types_.subst(super.args, bound.args)});
            }
        }
    }

    // Of traits in scope: only when no inherent method fits a type.
    void assemble_extension() {
        if (std::exchange(has_extension, true)) return;
        const auto scope = body.body_.traits_in_scope;
        const std::unordered_set<DefId>& traits = body.state_.traits_in(scope);
        for (const AssocItem& found : body.cx_.trait_items(name)) {   // each item once
            if (!traits.contains(found.container)) continue;
            if (is_usable(found.def)) extension.push_back({found.def, MethodPick::Source::Trait, found.container, {}});
        }
    }

    // Methods that the library adds to Rust's: looked for when nothing else has the name.
    bool only_beyond_std() {
        const DefId trait = body.state_.lang_item("beyond_std");
        const DefId item = trait.valid() ? body.state_.item_named(trait, name) : DefId();
        inherent.clear();
        extension.clear();
        has_extension = true;
        if (!item.valid() || !is_usable(item)) return false;
        extension.push_back({item, MethodPick::Source::Trait, trait, {}});
        return true;
    }

    // Does the candidate take a receiver (or, in path mode, belong to a type) of type `self`?
    Fit consider(const Candidate& candidate, TypeId self) {
        const auto before = body.infer_.snapshot();
        const Fit fit = consider_inner(candidate, self);
        body.infer_.rollback(before);
        return fit;
    }

    Fit consider_inner(const Candidate& candidate, TypeId self) {
        Selector& selector = body.selector_;
        TypeStore& types = body.types_;
        const Cause cause{span, CauseKind::Misc, {}, {}, {}};
        std::vector<Obligation> nested;
        const auto fresh = types[selector.fresh_args(candidate.item, span)];
        std::vector<GenericArg> args(fresh.begin(), fresh.end());
        if (candidate.source == MethodPick::Source::Bound) std::copy(types[candidate.bound.args].begin(), types[candidate.bound.args].end(), args.begin());
        TypeId wanted;
        if (!path_mode) {
            wanted = types.erase_regions(types.subst(body.cx_.fn_sig(candidate.item).inputs[0], args));
        } else if (candidate.source == MethodPick::Source::Inherent) {
            wanted = types.erase_regions(types.subst(body.cx_.type_of(candidate.container), args));
        } else {
            wanted = args[0].as_type();
        }
        wanted = selector.normalize(wanted, cause, 0, nested);
        if (!body.infer_.unify(wanted, self)) return Fit::No;
        if (candidate.source == MethodPick::Source::Inherent) {
            const std::uint32_t count = body.cx_.generics_of(candidate.container).count();
            const ArgsId impl_args = types.args(std::span<const GenericArg>(args).first(count));
            selector.item_obligations(candidate.container, impl_args, cause, 1, nested);
        } else if (candidate.source == MethodPick::Source::Trait) {
            const std::uint32_t count = body.cx_.generics_of(candidate.container).count();
            const TraitRef goal{candidate.container, body.infer_.resolve(types.args(std::span<const GenericArg>(args).first(count)))};
            Predicate predicate;
            predicate.trait_ref = goal;
            if (selector.evaluate(predicate, 1) == Outcome::No) {
                result.unsatisfied.push_back(goal);
                return Fit::Unsatisfied;
            }
            return Fit::Yes;
        }
        for (Obligation& obligation : nested) {
            if (selector.evaluate(obligation.predicate, 1) != Outcome::No) continue;
            if (obligation.predicate.kind == Predicate::Kind::Trait) result.unsatisfied.push_back({obligation.predicate.trait_ref.trait, body.infer_.resolve(obligation.predicate.trait_ref.args)});
            return Fit::Unsatisfied;
        }
        return Fit::Yes;
    }

    // True when the list decides: a pick, or an ambiguity.
    bool pick_from(const std::vector<Candidate>& list, TypeId self) {
        std::vector<const Candidate*> fitting;
        for (const Candidate& candidate : list) {
            if (consider(candidate, self) != Fit::Yes) continue;
            const hir::Def& def = body.program_.defs[candidate.item];
            if (candidate.source == MethodPick::Source::Inherent && !body.is_visible(def.visibility)) {
                if (!result.private_item.valid()) result.private_item = candidate.item;
                continue;
            }
            fitting.push_back(&candidate);
        }
        if (fitting.empty()) return false;
        for (const Candidate* candidate : fitting) {
            if (candidate->item == fitting.front()->item) continue;
            for (const Candidate* c : fitting) result.ambiguous.push_back(c->item);
            return true;
        }
        MethodPick pick;
        pick.item = fitting.front()->item;
        pick.source = fitting.front()->source;
        pick.container = fitting.front()->container;
        pick.bound = fitting.front()->bound;
        // Several bounds of one trait: the arguments decide later.
        if (fitting.size() > 1 && pick.source == MethodPick::Source::Bound) pick.source = MethodPick::Source::Trait;
        pick.self_type = self;
        result.pick = pick;
        return true;
    }

    bool decide(TypeId self) {
        if (pick_from(inherent, self)) return true;
        assemble_extension();
        return pick_from(extension, self);
    }

    // A type that the receiver may be taken as, behind so many dereferences.
    struct Try {
        TypeId type;
        std::uint32_t derefs;
        bool unsize;
    };

    // By value, by `&`, by `&mut`, for each of them in turn; true when that decides.
    bool search(const std::vector<Try>& tries) {
        for (const Try& attempt : tries) {
            const auto done = [&](MethodPick::Autoref autoref) {
                if (!result.pick) return;
                result.pick->autoderefs = attempt.derefs;
                result.pick->autoref = autoref;
                result.pick->unsize = attempt.unsize;
            };
            if (!attempt.unsize && decide(attempt.type)) {
                done(MethodPick::Autoref::None);
                return true;
            }
            if (decide(body.types_.ref(body.types_.erased, attempt.type, Mutability::Not))) {
                done(MethodPick::Autoref::Ref);
                return true;
            }
            if (decide(body.types_.ref(body.types_.erased, attempt.type, Mutability::Mut))) {
                done(MethodPick::Autoref::RefMut);
                return true;
            }
            const TypeData data = body.types_[attempt.type];
            if (data.kind == TypeKind::RawPtr && data.mutability == Mutability::Mut) {
                const TypeId constant = body.types_.raw_ptr(data.element, Mutability::Not);
                assemble_inherent(constant);
                if (decide(constant)) {
                    done(MethodPick::Autoref::MutToConst);
                    return true;
                }
            }
        }
        return false;
    }
};

MethodProbeResult BodyChecker::probe_method(TypeId receiver, Symbol wanted, Span at, std::vector<DerefStep>& steps) {
    steps = autoderef(receiver, at);
    Probe probe(*this, wanted, at, false);
    const TypeId last = structural(steps.back().type);
    if (infer_.is_type_var(last)) {
        probe.result.unknown_receiver = true;
        return std::move(probe.result);
    }
    std::vector<Probe::Try> tries;
    for (std::uint32_t i = 0; i < steps.size(); ++i) tries.push_back({structural(steps[i].type), i, false});
    if (types_.kind(last) == TypeKind::Array) tries.push_back({types_.slice(types_[last].element), static_cast<std::uint32_t>(steps.size() - 1), true});
    for (const Probe::Try& attempt : tries) probe.assemble_inherent(attempt.type);
    if (probe.search(tries) || (probe.only_beyond_std() && probe.search(tries))) return std::move(probe.result);
    if (types_.kind(last) == TypeKind::Infer) {
        // Any number's method: the message asks for the number's type.
        for (std::size_t i = 0; i <= static_cast<std::size_t>(types::IntKind::Usize); ++i) {
            probe.result.numeric_receiver |= !cx_.inherent_items(types_.int_type(static_cast<types::IntKind>(i)), wanted).empty();
        }
        for (std::size_t i = 0; i <= static_cast<std::size_t>(types::FloatKind::F64); ++i) {
            probe.result.numeric_receiver |= !cx_.inherent_items(types_.float_type(static_cast<types::FloatKind>(i)), wanted).empty();
        }
    }
    return std::move(probe.result);
}

MethodProbeResult BodyChecker::probe_path(TypeId self, Symbol wanted, Span at) {
    Probe probe(*this, wanted, at, true);
    probe.assemble_inherent(self);
    if (!probe.decide(self) && probe.only_beyond_std()) probe.decide(self);
    return std::move(probe.result);
}

// ---- the chosen method -------------------------------------------------------------------------------------------------------------------------

BodyChecker::CallSig BodyChecker::confirm_method(ExprId call, const hir::MethodCallExpr& e, const MethodPick& pick, const std::vector<DerefStep>& steps) {
    const Span at = e.method->ident.span;
    std::vector<Adjustment> adjustments = deref_adjustments(steps, pick.autoderefs, span(e.receiver));
    const TypeId place = steps[pick.autoderefs].type;
    const TypeData by_value = types_[shallow(place)];
    bool mutates = false;
    switch (pick.autoref) {
        case MethodPick::Autoref::None:
            // A reference that is passed on is reborrowed, so that it can be used again.
            if (by_value.kind == TypeKind::Ref) {
                mutates = by_value.mutability == Mutability::Mut;
                adjustments.push_back({AdjustKind::Deref, Mutability::Not, false, {}, by_value.element});
                adjustments.push_back({AdjustKind::Borrow, by_value.mutability, mutates, {}, types_.ref(types_.erased, by_value.element, by_value.mutability)});
            }
            break;
        case MethodPick::Autoref::Ref:
        case MethodPick::Autoref::RefMut: {
            mutates = pick.autoref == MethodPick::Autoref::RefMut;
            const Mutability mutability = mutates ? Mutability::Mut : Mutability::Not;
            adjustments.push_back({AdjustKind::Borrow, mutability, mutates, {}, types_.ref(types_.erased, place, mutability)});
            if (pick.unsize) adjustments.push_back({AdjustKind::Unsize, mutability, false, {}, pick.self_type});
            break;
        }
        case MethodPick::Autoref::MutToConst:
            adjustments.push_back({AdjustKind::MutToConst, Mutability::Not, false, {}, types_.raw_ptr(by_value.element, Mutability::Not)});
            break;
    }
    apply_adjustments(e.receiver, std::move(adjustments));
    if (mutates) make_place_mutable(e.receiver);

    std::vector<GenericArg> parent;
    if (pick.source == MethodPick::Source::Bound) {
        parent.assign(types_[pick.bound.args].begin(), types_[pick.bound.args].end());
    } else {
        const ArgsId fresh = selector_.fresh_args(pick.container, at);
        parent.assign(types_[fresh].begin(), types_[fresh].end());
    }
    const ArgsId args = types_.erase_regions(lowerer_.lower_args(pick.item, parent, e.method->args, at, true));
    const FnSigInfo info = cx_.fn_sig(ItemRef{pick.item, args});
    const TypeId receiver = normalize(info.inputs[0], at);
    unify(receiver, pick.self_type);
    std::vector<Obligation> nested;
    selector_.item_obligations(pick.item, args, {at, CauseKind::ItemBound, pick.item, {}, {}}, 0, nested);
    add_obligations(std::move(nested));
    tables_.callees.set(call, {pick.item, args});
    CallSig sig;
    for (std::size_t i = 1; i < info.inputs.size(); ++i) sig.inputs.push_back(normalize(info.inputs[i], at));
    sig.output = normalize(info.output, at);
    sig.fn = pick.item;
    sig.is_method = true;
    return sig;
}

}  // namespace ockc::check
