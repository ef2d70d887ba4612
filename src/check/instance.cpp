// What a call means at concrete types: trait methods become the method of the chosen impl or the trait's default one.
#include "check/solve.hpp"

namespace ockc::check {

using hir::DefKind;

namespace {

class InstanceResolver {
  public:
    InstanceResolver(Context& context, ItemRef callee) : cx_(context), types_(context.types()), callee_(callee) {}

    std::optional<Instance> run() {
        const hir::Program& program = cx_.program();
        const hir::Def& def = program.defs[callee_.def];
        callee_.args = cx_.normalize(types_.erase_regions(callee_.args), cx_.empty_env());
        if (def.kind != DefKind::AssocFn && def.kind != DefKind::AssocConst) return item(callee_);
        if (program.defs[def.parent].kind != DefKind::Trait) return item(callee_);
        const std::uint32_t trait_count = cx_.generics_of(def.parent).count();
        const TraitRef goal{def.parent, types_.args(types_[callee_.args].first(trait_count))};
        InferCtxt infer(types_);
        Selector selector(cx_, infer, cx_.empty_env());
        Selection selection;
        if (selector.select(goal, Cause{}, 0, selection) != Outcome::Yes) return std::nullopt;
        switch (selection.kind) {
            case Selection::Kind::Impl: return from_impl(infer, selector, selection, trait_count);
            case Selection::Kind::Callable: return callable(goal);
            case Selection::Kind::Builtin: return builtin(goal);
            case Selection::Kind::Scalar: return Instance{Instance::Kind::ScalarOp, {callee_.def, goal.args}, {}};
            case Selection::Kind::Bound: return std::nullopt;   // not monomorphic
        }
        return std::nullopt;
    }

  private:
    static Instance item(ItemRef ref) { return {Instance::Kind::Item, ref, {}}; }

    std::optional<Instance> from_impl(InferCtxt& infer, Selector& selector, Selection& selection, std::uint32_t trait_count) {
        // The impl's own bounds may determine parameters (`impl<T, U> .. where T: Iterator<Item = U>`).
        Fulfill fulfill(selector);
        fulfill.add(std::move(selection.nested));
        std::vector<FulfillError> errors;
        fulfill.run(errors);
        const DefId found = cx_.state().item_named(selection.impl, cx_.program().defs[callee_.def].name.name);
        if (!found.valid()) return item(callee_);   // the trait's default
        std::vector<GenericArg> args;
        for (GenericArg arg : types_[infer.resolve(selection.impl_args)]) args.push_back(arg);
        std::vector<GenericArg> own;
        for (GenericArg arg : types_[callee_.args].subspan(trait_count)) {
            if (arg.kind() != GenericArg::Kind::Region) own.push_back(arg);
        }
        std::size_t next = 0;
        for (const auto& param : cx_.generics_of(found).own) {
            if (param.kind == hir::GenericParam::Kind::Lifetime) {
                args.push_back(types_.erased);
            } else if (next < own.size()) {
                args.push_back(own[next++]);
            }
        }
        return item({found, types_.args(args)});
    }

    std::optional<Instance> callable(const TraitRef& goal) {
        const TypeId self = types_[goal.args][0].as_type();
        const TypeData data = types_[self];
        if (data.kind == TypeKind::Closure) return Instance{Instance::Kind::ClosureCall, {data.def, data.args}, self};
        if (data.kind == TypeKind::FnDef) return Instance{Instance::Kind::FnItemCall, {data.def, data.args}, {}};
        return Instance{Instance::Kind::FnPtrCall, callee_, {}};
    }

    std::optional<Instance> builtin(const TraitRef& goal) {
        const bool is_clone = cx_.program().name(callee_.def) == "clone" && goal.trait == cx_.state().lang.clone;
        if (is_clone) return Instance{Instance::Kind::CloneShim, {callee_.def, goal.args}, {}};
        return item(callee_);
    }

    Context& cx_;
    TypeStore& types_;
    ItemRef callee_;
};

}  // namespace

std::optional<Instance> Context::resolve_instance(ItemRef callee) { return InstanceResolver(*this, callee).run(); }

}  // namespace ockc::check
