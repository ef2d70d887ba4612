// Associated types: what `<T as Trait>::Name` is, and types with all such places filled in.
#include <fmt/format.h>

#include "check/solve.hpp"
#include "types/fold.hpp"

namespace ockc::check {

using types::ConstKind;

namespace {

class Normalizer final : public types::Folder {
  public:
    Normalizer(Selector& selector, TypeStore& types, const Cause& cause, std::uint32_t depth, std::vector<Obligation>& nested)
        : Folder(types, types::kHasProjection), selector_(selector), cause_(cause), depth_(depth), nested_(nested) {}

  protected:
    TypeId type_of(TypeId type) override {
        const TypeData data = types_[type];
        if (data.kind == TypeKind::Opaque) return opaque(type, data);
        if (data.kind != TypeKind::Projection) return super_type(type);
        const ArgsId args = fold(data.args);
        GenericArg known;
        switch (selector_.project(data.def, args, cause_, depth_, nested_, known)) {
            case Selector::Projected::Known: return known.as_type();
            case Selector::Projected::Rigid: return types_.projection(data.def, args);
            case Selector::Projected::Ambiguous: return wait_for(data.def, args);
            case Selector::Projected::Failed: break;
        }
        require_trait(data.def, args);
        return types_.error;
    }

    ConstId const_of(ConstId constant) override {
        const types::ConstData data = types_[constant];
        if (data.kind != ConstKind::Unevaluated) return super_const(constant);
        const ArgsId args = fold(data.args);
        if (types_.has(args, types::kHasInfer | types::kHasParam)) return types_.const_unevaluated(data.def, args, data.type);
        return selector_.context().const_to_type_level(ItemRef{data.def, args}, data.type);
    }

  private:
    TypeId opaque(TypeId type, const TypeData& data) {
        Context& cx = selector_.context();
        if (selector_.env().owner.valid()) return super_type(type);   // generic code knows the bounds only
        const TypeId hidden = cx.hidden_type(data.def);
        return fold(types_.erase_regions(types_.subst(hidden, data.args)));
    }

    TypeId wait_for(DefId assoc, ArgsId args) {
        Obligation obligation;
        obligation.cause = cause_;
        obligation.depth = depth_;
        obligation.predicate.kind = Predicate::Kind::Projection;
        obligation.predicate.assoc = assoc;
        obligation.predicate.trait_ref = {trait_of_assoc(selector_.context().program(), assoc), args};
        const TypeId var = selector_.infer().new_var(cause_.span);
        obligation.predicate.term = var;
        nested_.push_back(obligation);
        return var;
    }

    // The failing trait goal, so that it is reported.
    void require_trait(DefId assoc, ArgsId args) {
        Context& cx = selector_.context();
        const DefId trait = trait_of_assoc(cx.program(), assoc);
        Obligation obligation;
        obligation.cause = cause_;
        obligation.depth = depth_;
        obligation.predicate.trait_ref = {trait, types_.args(types_[args].first(cx.generics_of(trait).count()))};
        nested_.push_back(obligation);
    }

    Selector& selector_;
    const Cause& cause_;
    std::uint32_t depth_;
    std::vector<Obligation>& nested_;
};

}  // namespace

TypeId Selector::normalize(TypeId type, const Cause& cause, std::uint32_t depth, std::vector<Obligation>& nested) {
    if (!types_.has(type, types::kHasProjection)) return type;
    return Normalizer(*this, types_, cause, depth, nested).fold(infer_.resolve(type));
}
ArgsId Selector::normalize(ArgsId args, const Cause& cause, std::uint32_t depth, std::vector<Obligation>& nested) {
    if (!types_.has(args, types::kHasProjection)) return args;
    return Normalizer(*this, types_, cause, depth, nested).fold(infer_.resolve(args));
}
ConstId Selector::normalize(ConstId constant, const Cause& cause, std::uint32_t depth, std::vector<Obligation>& nested) {
    if (!types_.has(constant, types::kHasProjection)) return constant;
    return Normalizer(*this, types_, cause, depth, nested).fold(infer_.resolve(constant));
}

Predicate Selector::normalize(Predicate predicate, const Cause& cause, std::uint32_t depth, std::vector<Obligation>& nested) {
    if (predicate.kind == Predicate::Kind::Trait || predicate.kind == Predicate::Kind::Projection) {
        predicate.trait_ref.args = normalize(predicate.trait_ref.args, cause, depth, nested);
    }
    if (predicate.kind == Predicate::Kind::Projection && predicate.term.kind() == GenericArg::Kind::Type) {
        predicate.term = normalize(predicate.term.as_type(), cause, depth, nested);
    }
    return predicate;
}

bool Selector::project_from_predicates(std::span<const Predicate> predicates, std::span<const GenericArg> subst, DefId assoc, ArgsId args,
                                       GenericArg& out) {
    for (const Predicate& predicate : predicates) {
        if (predicate.kind != Predicate::Kind::Projection || predicate.assoc != assoc) continue;
        ArgsId have = predicate.trait_ref.args;
        if (!subst.empty()) have = types_.erase_regions(types_.subst(have, subst));
        // A generic associated type's own arguments are not part of the bound.
        const auto wanted = types_[args];
        const auto held = types_[have];
        if (held.size() < wanted.size()) {
            if (!infer_.unify(have, types_.args(wanted.first(held.size())))) continue;
        } else if (!infer_.unify(have, args)) {
            continue;
        }
        out = predicate.term;
        if (!subst.empty() && out.kind() == GenericArg::Kind::Type) out = types_.erase_regions(types_.subst(out.as_type(), subst));
        return true;
    }
    return false;
}

// Two bounds may say different things of one associated type; rustc then knows neither.
bool Selector::contradicted(DefId assoc, ArgsId args, GenericArg first, const Cause& cause) {
    constexpr auto kOpen = static_cast<types::TypeFlags>(types::kHasProjection | types::kHasInfer | types::kHasError);
    if (!cause.span.valid() || first.kind() != GenericArg::Kind::Type || types_.has(first.as_type(), kOpen)) return false;
    for (const Predicate& predicate : env_.predicates) {
        if (predicate.kind != Predicate::Kind::Projection || predicate.assoc != assoc || predicate.trait_ref.args != args) continue;
        if (predicate.term == first || predicate.term.kind() != GenericArg::Kind::Type || types_.has(predicate.term.as_type(), kOpen)) continue;
        const std::string projection = cx_.text(types_.projection(assoc, args));
        cx_.sink().error(Code::E0284, cause.span, fmt::format("type annotations needed: cannot satisfy `{} == {}`", projection, cx_.text(first.as_type())))
            .label(cause.span, fmt::format("cannot satisfy `{} == {}`", projection, cx_.text(first.as_type())))
            .note(fmt::format("another bound says that `{} == {}`", projection, cx_.text(predicate.term.as_type())));
        return true;
    }
    return false;
}

Selector::Projected Selector::project_impl(DefId assoc, ArgsId args, Selection& selection, const Cause& cause, std::uint32_t depth,
                                           std::vector<Obligation>& nested, GenericArg& out) {
    const hir::Program& program = cx_.program();
    if (program.defs[assoc].kind == hir::DefKind::ImplTrait) return project_unnamed(assoc, args, selection, cause, depth, nested, out);
    const DefId item = cx_.state().item_named(selection.impl, program.defs[assoc].name.name);
    nested.insert(nested.end(), selection.nested.begin(), selection.nested.end());
    if (!item.valid() || !program.defs[item].lowered) {
        out = types_.error;   // the impl lacks it: reported with the impl
        return Projected::Known;
    }
    std::vector<GenericArg> all(types_[selection.impl_args].begin(), types_[selection.impl_args].end());
    const auto trait_count = cx_.generics_of(program.defs[assoc].parent).count();
    for (GenericArg own : types_[args].subspan(trait_count)) all.push_back(own);
    const TypeId type = types_.erase_regions(types_.subst(cx_.type_of(item), all));
    out = normalize(type, cause, depth + 1, nested);
    return Projected::Known;
}

// `fn f() -> impl Trait` of a trait: what stands there in the result of the impl's function, or of the trait's own body.
Selector::Projected Selector::project_unnamed(DefId assoc, ArgsId args, Selection& selection, const Cause& cause, std::uint32_t depth,
                                              std::vector<Obligation>& nested, GenericArg& out) {
    const hir::Program& program = cx_.program();
    const DefId promised = program.defs[assoc].parent;
    const DefId method = cx_.state().item_named(selection.impl, program.defs[promised].name.name);
    nested.insert(nested.end(), selection.nested.begin(), selection.nested.end());
    const auto all = types_[args];
    if (!method.valid() || !program.defs[method].lowered) {
        out = normalize(types_.erase_regions(types_.subst(cx_.hidden_type(assoc), all)), cause, depth + 1, nested);
        return Projected::Known;
    }
    std::vector<GenericArg> mine(types_[selection.impl_args].begin(), types_[selection.impl_args].end());
    std::vector<GenericArg> own;
    const std::size_t trait_count = cx_.generics_of(program.defs[promised].parent).count();
    for (GenericArg arg : all.subspan(trait_count, cx_.generics_of(promised).own.size())) {
        if (arg.kind() != GenericArg::Kind::Region) own.push_back(arg);
    }
    std::size_t next = 0;
    for (const auto& param : cx_.generics_of(method).own) {
        if (param.kind == hir::GenericParam::Kind::Lifetime) {
            mine.push_back(types_.erased);
        } else if (next < own.size()) {
            mine.push_back(own[next++]);
        }
    }
    if (mine.size() != cx_.generics_of(method).count()) {   // E0049, reported with the impl
        out = types_.error;
        return Projected::Known;
    }
    TypeId variable;
    const TypeId pattern = cx_.open_unnamed(promised, types_.erase_regions(types_.subst(cx_.fn_sig(promised).output, all)), [&](DefId def) {
        const TypeId var = infer_.new_var(cause.span);
        if (def == assoc) variable = var;
        return var;
    });
    const TypeId have = normalize(types_.erase_regions(types_.subst(cx_.fn_sig(method).output, mine)), cause, depth + 1, nested);
    if (!infer_.unify(pattern, have) || !variable.valid()) return Projected::Failed;
    out = infer_.resolve(variable);
    return Projected::Known;
}

Selector::Projected Selector::project(DefId assoc, ArgsId written, const Cause& cause, std::uint32_t depth, std::vector<Obligation>& nested,
                                      GenericArg& out) {
    const ArgsId args = infer_.resolve(written);
    const hir::Program& program = cx_.program();
    const TypeId self = types_[args][0].as_type();
    if (types_.has(args, types::kHasError)) {
        out = types_.error;
        return Projected::Known;
    }
    if (depth > kDepthLimit) {
        overflowed_ = true;
        return Projected::Failed;
    }
    if (infer_.is_type_var(self)) return Projected::Ambiguous;
    if (project_from_predicates(env_.predicates, {}, assoc, args, out)) {
        if (contradicted(assoc, args, out, cause)) out = types_.error;
        return Projected::Known;
    }
    const TypeData self_data = types_[self];
    if ((self_data.kind == TypeKind::Projection || self_data.kind == TypeKind::Opaque) && project_from_predicates(cx_.item_bounds(self_data.def), types_[self_data.args], assoc, args, out)) {
        if (out.kind() == GenericArg::Kind::Type) out = normalize(out.as_type(), cause, depth + 1, nested);
        return Projected::Known;
    }
    const DefId trait = trait_of_assoc(program, assoc);
    const TraitRef goal{trait, types_.args(types_[args].first(cx_.generics_of(trait).count()))};
    Selection selection;
    switch (select(goal, cause, depth, selection)) {
        case Outcome::Maybe: return Projected::Ambiguous;
        case Outcome::No: return Projected::Failed;
        case Outcome::Yes: break;
    }
    switch (selection.kind) {
        case Selection::Kind::Impl: return project_impl(assoc, args, selection, cause, depth, nested, out);
        case Selection::Kind::Bound: return Projected::Rigid;
        case Selection::Kind::Callable:
        case Selection::Kind::Scalar:
            out = selection.output;
            nested.insert(nested.end(), selection.nested.begin(), selection.nested.end());
            return Projected::Known;
        case Selection::Kind::Builtin: return Projected::Failed;
    }
    return Projected::Failed;
}

}  // namespace ockc::check
