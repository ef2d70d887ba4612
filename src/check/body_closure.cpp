// Closures: what the context says about their signature, their bodies.
#include <fmt/format.h>

#include "check/body.hpp"
#include "types/fold.hpp"

namespace ockc::check {

std::optional<ClosureView> BodyChecker::closure_view(TypeId closure) {
    const auto found = closures_.find(types_[closure].def);
    if (found == closures_.end()) return std::nullopt;
    const ClosureState& state = found->second;
    ClosureView view;
    view.inputs = state.info->inputs;
    view.output = state.info->output;
    view.kind = state.kind;
    if (state.captures_known) {
        view.captures.emplace();
        for (const Capture& capture : state.info->captures) view.captures->push_back(capture.type);
    }
    return view;
}

// The pending bounds on the type that the closure is expected to have: `F: Fn(A) -> B`.
void BodyChecker::deduce_closure(TypeId expected, ExpectedSig& sig, std::optional<ClosureKind>& kind) {
    const TypeId wanted = shallow(expected);
    if (types_.kind(wanted) == TypeKind::FnPtr) {
        const auto all = types_[types_[wanted].elements];
        sig.inputs.assign(all.begin(), all.end() - 1);
        sig.output = all.back();
        sig.known = sig.from_fn_ptr = true;
        return;
    }
    if (!infer_.is_type_var(wanted)) return;
    const auto set_inputs = [&](const Obligation& from) {
        const TypeId tuple = shallow(types_[from.predicate.trait_ref.args][1].as_type());
        if (sig.known || types_.kind(tuple) != TypeKind::Tuple) return;
        const auto elements = types_[types_[tuple].elements];
        sig.inputs.assign(elements.begin(), elements.end());
        sig.known = true;
        const Predicate* written = from.cause.written;
        if (written == nullptr || written->kind != from.predicate.kind || written->trait_ref.trait != from.predicate.trait_ref.trait) return;
        const TypeId inputs = types_[written->trait_ref.args][1].as_type();
        if (types_.kind(inputs) != TypeKind::Tuple) return;
        const auto list = types_[types_[inputs].elements];
        sig.written_inputs.assign(list.begin(), list.end());
    };
    for (const Obligation& obligation : fulfill_.pending()) {
        const Predicate& p = obligation.predicate;
        if (!p.trait_ref.args.valid() || types_[p.trait_ref.args].empty() || shallow(types_[p.trait_ref.args][0].as_type()) != wanted) continue;
        if (p.kind == Predicate::Kind::Projection && p.assoc == lang_.fn_once_output && p.term.kind() == GenericArg::Kind::Type) {
            set_inputs(obligation);
            sig.output = p.term.as_type();
            const Predicate* written = obligation.cause.written;
            if (written != nullptr && written->kind == p.kind && written->assoc == p.assoc) sig.written_output = written->term.as_type();
        }
        if (p.kind != Predicate::Kind::Trait || !p.trait_ref.trait.valid()) continue;
        const DefId trait = p.trait_ref.trait;
        const std::optional<ClosureKind> bound = trait == lang_.fn_trait  ? std::optional(ClosureKind::Fn)
                                                 : trait == lang_.fn_mut  ? std::optional(ClosureKind::FnMut)
                                                 : trait == lang_.fn_once ? std::optional(ClosureKind::FnOnce)
                                                                          : std::nullopt;
        if (!bound) continue;
        set_inputs(obligation);
        if (!kind || *bound < *kind) kind = bound;
    }
}

TypeId BodyChecker::lower_closure_result(hir::TyId type) {
    if (std::holds_alternative<hir::NeverTy>(program_.types[type].data)) return types_.never;
    return lower_type(type);
}

namespace {

// Of the lifetimes in a bound, those that each call chooses stay.
class BoundLifetimes final : public types::Folder {
  public:
    explicit BoundLifetimes(types::TypeStore& types) : Folder(types, types::kHasRegion) {}

  protected:
    RegionId region_of(RegionId region) override { return types_[region].kind == types::RegionKind::Bound ? region : types_.erased; }
};

// What is elided in a parameter's written type is chosen by each call.
class WrittenLifetimes {
  public:
    WrittenLifetimes(types::TypeStore& types, DefId closure) : types_(types), closure_(closure) {}

    TypeId bind(TypeId type) {
        const TypeData data = types_[type];
        switch (data.kind) {
            case TypeKind::Ref: {
                const RegionId region = bind(data.region);
                return types_.ref(region, bind(data.element), data.mutability);
            }
            case TypeKind::RawPtr: return types_.raw_ptr(bind(data.element), data.mutability);
            case TypeKind::Slice: return types_.slice(bind(data.element));
            case TypeKind::Array: return types_.array(bind(data.element), data.length);
            case TypeKind::Tuple: {
                std::vector<TypeId> elements(types_[data.elements].begin(), types_[data.elements].end());
                for (TypeId& element : elements) element = bind(element);
                return types_.tuple(elements);
            }
            case TypeKind::Adt: {
                std::vector<GenericArg> args(types_[data.args].begin(), types_[data.args].end());
                for (GenericArg& arg : args) {
                    if (arg.kind() == GenericArg::Kind::Type) arg = bind(arg.as_type());
                    if (arg.kind() == GenericArg::Kind::Region) arg = bind(arg.as_region());
                }
                return types_.adt(data.def, types_.args(args));
            }
            default: return type;   // others hold no lifetimes, or none that is chosen here
        }
    }

  private:
    RegionId bind(RegionId region) {
        if (types_[region].kind != types::RegionKind::Erased) return region;
        return types_.region({types::RegionKind::Bound, closure_, count_++, {}});
    }
    types::TypeStore& types_;
    DefId closure_;
    std::uint32_t count_ = 0;
};

}  // namespace

// rustc's rule: what the expected signature binds is chosen by each call; without one, what is elided in written parameter types.
TypeId BodyChecker::closure_lifetimes(const hir::ClosureExpr& closure, const ExpectedSig& sig, const ClosureInfo& info) {
    BoundLifetimes from_bound(types_);
    WrittenLifetimes from_user(types_, closure.def);
    const auto written = [&](hir::TyId type) {
        const auto found = type.valid() ? tables_.written_types.find(type) : tables_.written_types.end();
        return found == tables_.written_types.end() ? types_.error : found->second;
    };
    std::vector<TypeId> inputs;
    for (std::size_t i = 0; i < closure.params.size(); ++i) {
        TypeId input = types_.error;
        if (sig.known && i < sig.written_inputs.size()) {
            input = from_bound.fold(sig.written_inputs[i]);
        } else if (sig.from_fn_ptr) {
            input = from_user.bind(info.inputs[i]);
        } else if (!sig.known) {
            input = from_user.bind(written(closure.params[i].type));
        }
        inputs.push_back(input);
    }
    TypeId output = types_.error;
    if (sig.written_output.valid()) {
        output = from_bound.fold(sig.written_output);
    } else if (sig.from_fn_ptr && types_.kind(info.output) == TypeKind::Ref && inputs.size() == 1 && types_.kind(inputs[0]) == TypeKind::Ref) {
        output = types_.ref(types_[inputs[0]].region, types_.error, types_[info.output].mutability);
    } else if (!sig.known) {
        output = written(closure.output);
    }
    return types_.fn_ptr(inputs, output, false);
}

TypeId BodyChecker::check_closure(ExprId id, const hir::ClosureExpr& e, Expectation expected) {
    ExpectedSig sig;
    std::optional<ClosureKind> kind;
    const bool of_nothing = expected.kind == Expectation::Kind::HasType && expected.type == types_.error;
    if (expected.kind == Expectation::Kind::HasType && !of_nothing) deduce_closure(expected.type, sig, kind);
    if (of_nothing) {   // an argument of what does not exist: nothing is known of its parameters, and nothing is wrong with that
        sig.known = true;
        sig.inputs.assign(e.params.size(), types_.error);
    }
    auto info = std::make_unique<ClosureInfo>();
    info->def = e.def;
    info->owner = generics_owner(program_, cx_.body_owner(owner_));
    info->expr = id;
    info->is_move = e.is_move;
    bool miscounted = false;
    if (sig.known && sig.inputs.size() != e.params.size()) {
        error(Code::E0593, e.head_span, fmt::format("closure is expected to take {} argument{}, but it takes {} argument{}", sig.inputs.size(),
                                                    sig.inputs.size() == 1 ? "" : "s", e.params.size(), e.params.size() == 1 ? "" : "s"))
            .label(e.head_span, fmt::format("takes {} argument{}", e.params.size(), e.params.size() == 1 ? "" : "s"));
        miscounted = true;
        sig = {};
        sig.known = true;
        for (std::size_t i = 0; i < e.params.size(); ++i) sig.inputs.push_back(types_.error);
        sig.output = types_.error;
    }
    for (std::size_t i = 0; i < e.params.size(); ++i) {
        const TypeId hint = sig.known ? sig.inputs[i] : TypeId();
        TypeId type = e.params[i].type.valid() ? lower_type(e.params[i].type) : hint.valid() ? hint : infer_.new_var(e.params[i].span);
        const bool fits = !e.params[i].type.valid() || !hint.valid() || unify(hint, type);
        if (!fits && sig.from_fn_ptr) {   // one message for the whole signature
            report_mismatch(span(id), hint, type);
            miscounted = true;
            sig.output = types_.error;
            type = types_.error;
        } else if (!fits) {
            error(Code::E0631, e.head_span, "type mismatch in closure arguments")
                .label(program_.types[e.params[i].type].span, fmt::format("found `{}`, expected `{}`", text(type), text(hint)));
            type = types_.error;
        }
        info->inputs.push_back(type);
    }
    info->output = e.output.valid() ? lower_closure_result(e.output) : sig.output.valid() ? sig.output : infer_.new_var(span(e.body));
    info->lifetimes = closure_lifetimes(e, sig, *info);
    ClosureState& state = closures_[e.def];
    state.body = e.body;
    state.kind = kind;
    const std::vector<TypeId> inputs = info->inputs;
    const TypeId output = info->output;
    state.info = std::move(info);

    const TypeId saved_return = std::exchange(return_type_, output);
    const Span saved_span = std::exchange(return_span_, Span{});
    const bool saved_in = std::exchange(in_closure_, true);
    const bool saved_diverges = std::exchange(diverges_, false);
    const DefId saved_closure = std::exchange(current_closure_, e.def);
    for (std::size_t i = 0; i < e.params.size(); ++i) check_pattern(e.params[i].pat, inputs[i]);
    check_coerce(e.body, output);
    current_closure_ = saved_closure;
    return_type_ = saved_return;
    return_span_ = saved_span;
    in_closure_ = saved_in;
    diverges_ = saved_diverges;
    closure_order_.push_back(e.def);   // inner closures stand before the outer one
    if (miscounted) return types_.error;   // what follows from it is no error of its own
    return types_.closure(e.def, types_.erase_regions(cx_.identity_args(e.def)));
}

}  // namespace ockc::check
