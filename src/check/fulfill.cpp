#include <algorithm>

#include "check/solve.hpp"

namespace ockc::check {

void Fulfill::add(std::vector<Obligation> obligations) {
    pending_.insert(pending_.end(), std::make_move_iterator(obligations.begin()), std::make_move_iterator(obligations.end()));
}

bool Fulfill::still_stalled(const Obligation& obligation) {
    const ArgsId args = obligation.predicate.trait_ref.args;
    return args.valid() && selector_.infer_.is_type_var(selector_.types_[args][0].as_type());
}

Fulfill::Step Fulfill::process_trait(const Obligation& obligation, std::vector<Obligation>& fresh, std::vector<FulfillError>& errors) {
    Predicate predicate = obligation.predicate;
    predicate.trait_ref.args = selector_.infer_.resolve(predicate.trait_ref.args);
    const bool plain = !selector_.types_.has(predicate.trait_ref.args, types::kHasInfer);
    Outcome outcome = Outcome::No;
    Selection selection;
    if (plain) {
        outcome = selector_.evaluate(predicate, obligation.depth);
    } else {
        outcome = selector_.select(predicate.trait_ref, obligation.cause, obligation.depth, selection);
    }
    if (outcome == Outcome::Maybe) return Step::Wait;
    if (outcome == Outcome::No) {
        Obligation leaf = obligation;
        leaf.predicate = predicate;
        const bool overflow = std::exchange(selector_.overflowed_, false);
        errors.push_back({overflow ? FulfillError::Kind::Overflow : FulfillError::Kind::Unimplemented, leaf, {}});
        return Step::Done;
    }
    for (Obligation& nested : selection.nested) fresh.push_back(std::move(nested));
    return Step::Done;
}

Fulfill::Step Fulfill::process_projection(const Obligation& obligation, std::vector<Obligation>& fresh, std::vector<FulfillError>& errors) {
    const Predicate& predicate = obligation.predicate;
    TypeStore& types = selector_.types_;
    if (predicate.term.kind() != GenericArg::Kind::Type) {
        // Associated constants equal to a value: compared where the constant is known.
        const ConstId have = selector_.context().const_to_type_level(ItemRef{predicate.assoc, selector_.infer_.resolve(predicate.trait_ref.args)},
                                                                     types[predicate.term.as_const()].type);
        if (!selector_.infer_.unify(have, predicate.term.as_const())) {
            errors.push_back({FulfillError::Kind::Mismatch, obligation, have});
        }
        return Step::Done;
    }
    const auto before = selector_.infer_.snapshot();
    GenericArg known;
    const Selector::Projected outcome =
        selector_.project(predicate.assoc, predicate.trait_ref.args, obligation.cause, obligation.depth, fresh, known);
    TypeId found;
    switch (outcome) {
        case Selector::Projected::Ambiguous: selector_.infer_.rollback(before); return Step::Wait;
        case Selector::Projected::Failed: {
            selector_.infer_.rollback(before);
            fresh.clear();
            // What would have been the associated type is wrong too, silently.
            if (selector_.infer_.is_type_var(predicate.term.as_type())) selector_.infer_.unify(predicate.term.as_type(), types.error);
            Obligation leaf = obligation;
            const DefId trait = trait_of_assoc(selector_.context().program(), predicate.assoc);
            const auto args = types[selector_.infer_.resolve(predicate.trait_ref.args)];
            leaf.predicate.kind = Predicate::Kind::Trait;
            leaf.predicate.trait_ref = {trait, types.args(args.first(selector_.context().generics_of(trait).count()))};
            const bool overflow = std::exchange(selector_.overflowed_, false);
            errors.push_back({overflow ? FulfillError::Kind::Overflow : FulfillError::Kind::Unimplemented, leaf, {}});
            return Step::Done;
        }
        case Selector::Projected::Rigid: found = types.projection(predicate.assoc, selector_.infer_.resolve(predicate.trait_ref.args)); break;
        case Selector::Projected::Known: found = known.as_type(); break;
    }
    selector_.infer_.commit();
    if (!selector_.infer_.unify(found, predicate.term.as_type())) errors.push_back({FulfillError::Kind::Mismatch, obligation, found});
    return Step::Done;
}

Fulfill::Step Fulfill::process(const Obligation& obligation, std::vector<Obligation>& fresh, std::vector<FulfillError>& errors) {
    switch (obligation.predicate.kind) {
        case Predicate::Kind::Trait: return process_trait(obligation, fresh, errors);
        case Predicate::Kind::Projection: return process_projection(obligation, fresh, errors);
        case Predicate::Kind::TypeOutlives:
        case Predicate::Kind::RegionOutlives:
        case Predicate::Kind::ConstHasType: return Step::Done;
    }
    return Step::Done;
}

void Fulfill::run(std::vector<FulfillError>& errors) {
    for (;;) {
        const bool unchanged = seen_bindings_ == selector_.infer_.bindings();
        if (unchanged && settled_ == pending_.size()) return;
        const std::uint64_t bindings = selector_.infer_.bindings();
        // What waits moves to the front; what follows from an obligation comes to the end.
        std::size_t waiting = unchanged ? settled_ : 0;
        std::vector<Obligation> fresh;
        for (std::size_t i = waiting; i < pending_.size(); ++i) {
            if (still_stalled(pending_[i])) {
                if (i != waiting) pending_[waiting] = std::move(pending_[i]);
                ++waiting;
                continue;
            }
            const Obligation current = std::move(pending_[i]);
            if (process(current, fresh, errors) == Step::Wait) {
                pending_[waiting++] = current;
            } else {
                pending_.insert(pending_.end(), std::make_move_iterator(fresh.begin()), std::make_move_iterator(fresh.end()));
            }
            fresh.clear();
        }
        pending_.erase(pending_.begin() + static_cast<std::ptrdiff_t>(waiting), pending_.end());
        settled_ = pending_.size();
        seen_bindings_ = bindings;
    }
}

}  // namespace ockc::check
