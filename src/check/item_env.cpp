#include "check/item_env.hpp"

#include <fmt/format.h>

#include "types/fold.hpp"

namespace ockc::check {

TypeId ItemEnv::normalize(TypeId type, Span span) {
    std::vector<Obligation> nested;
    const TypeId result = selector_.normalize(cx_.types().erase_regions(type), Cause{span, CauseKind::Misc, {}, {}, {}}, 0, nested);
    fulfill_.add(std::move(nested));
    return result;
}

void ItemEnv::require(Predicate predicate, Span span, CauseKind kind) {
    std::vector<Obligation> nested;
    const Cause cause{span, kind, {}, predicate.span, {}};
    predicate.trait_ref.args = cx_.types().erase_regions(predicate.trait_ref.args);
    if (predicate.term.kind() == GenericArg::Kind::Type) predicate.term = cx_.types().erase_regions(predicate.term.as_type());
    predicate = selector_.normalize(predicate, cause, 0, nested);
    fulfill_.add(std::move(nested));
    fulfill_.add(Obligation{std::move(predicate), cause, 0});
}

void ItemEnv::require_trait(TypeId type, DefId trait, Span span, CauseKind kind) {
    if (!trait.valid()) return;
    Predicate predicate;
    const GenericArg args[] = {type};
    predicate.trait_ref = {trait, cx_.types().args(args)};
    require(predicate, span, kind);
}

void ItemEnv::require_all(DefId item, ArgsId args, Span span) {
    std::vector<Obligation> nested;
    selector_.item_obligations(item, args, Cause{span, CauseKind::ItemBound, item, {}, {}}, 0, nested);
    fulfill_.add(std::move(nested));
}

void ItemEnv::well_formed(TypeId type, Span span) {
    TypeStore& types = cx_.types();
    types::walk(types, types.erase_regions(type), [&](TypeId part) {
        const TypeData data = types[part];
        switch (data.kind) {
            case TypeKind::Adt: require_all(data.def, data.args, span); break;
            case TypeKind::Array:
            case TypeKind::Slice: require_trait(data.element, cx_.state().lang.sized, span); break;
            case TypeKind::Projection: {
                const DefId trait = trait_of_assoc(cx_.program(), data.def);
                Predicate predicate;
                predicate.trait_ref = {trait, types.args(types[data.args].first(cx_.generics_of(trait).count()))};
                require(predicate, span);
                break;
            }
            default: break;
        }
        return true;
    });
}

void ItemEnv::finish() {
    std::vector<FulfillError> errors;
    fulfill_.run(errors);
    for (const FulfillError& failure : errors) report(failure);
}

void ItemEnv::report(const FulfillError& failure) {
    TypeStore& types = cx_.types();
    const Obligation& obligation = failure.obligation;
    const ArgsId args = infer_.resolve(obligation.predicate.trait_ref.args);
    if (types.has(args, types::kHasError)) return;
    const TypeId self = types[args][0].as_type();
    const std::string who = cx_.text(self);
    const Span at = obligation.cause.span;
    const Names& names = cx_.state().names;
    const std::string trait = std::string(cx_.program().name(obligation.predicate.trait_ref.trait)) + types::args_text(types, names, args, 1);
    if (failure.kind == FulfillError::Kind::Overflow) {
        cx_.sink().error(Code::E0275, at, fmt::format("overflow evaluating the requirement `{}: {}`", who, trait));
        return;
    }
    if (failure.kind == FulfillError::Kind::Mismatch) {
        const GenericArg term = obligation.predicate.term;
        if (term.kind() == GenericArg::Kind::Type && types.has(infer_.resolve(term.as_type()), types::kHasError)) return;
        cx_.sink()
            .error(Code::E0271, at, fmt::format("type mismatch resolving `{} == {}`", cx_.text(types.projection(obligation.predicate.assoc, args)), types::arg_text(types, names, term)))
            .label(at, fmt::format("expected `{}`, found `{}`", types::arg_text(types, names, term), types::arg_text(types, names, failure.found)));
        return;
    }
    const bool sized = obligation.predicate.trait_ref.trait == cx_.state().lang.sized;
    if (sized && reported_at_ == at) return;   // what is wrong with the type was said
    reported_at_ = at;
    if (sized) {
        cx_.sink()
            .error(Code::E0277, at, fmt::format("the size for values of type `{}` cannot be known at compilation time", who))
            .label(at, "doesn't have a size known at compile-time");
        return;
    }
    Diagnostic& diagnostic = cx_.sink().error(Code::E0277, at, fmt::format("the trait bound `{}: {}` is not satisfied", who, trait));
    diagnostic.label(at, fmt::format("the trait `{}` is not implemented for `{}`", trait, who));
    if (obligation.cause.item.valid() && obligation.cause.bound_span.valid()) {
        diagnostic.note_at(obligation.cause.bound_span, fmt::format("required by a bound in `{}`", cx_.program().name(obligation.cause.item)));
    }
}

}  // namespace ockc::check
