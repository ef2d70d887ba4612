// `impl Trait` in results: what callers may know of it (its bounds) and what it really is (what the body returns).
//
// Callers see types_.opaque(def, args): the function's arguments, then the regions of its inputs that have no name. The function's
// own body sees a variable that must satisfy the bounds; monomorphic code (empty_env) sees through it. In a trait's function it is
// an associated type without a name: types_.projection(def, args).
#include <fmt/format.h>

#include <algorithm>

#include "check/body.hpp"
#include "types/fold.hpp"

namespace ockc::check {

using hir::DefKind;

// ---- what is promised ------------------------------------------------------------------------------------------------------------

const std::vector<Predicate>& Context::item_bounds(DefId item) {
    if (const auto* known = state_->item_bounds.find(item)) return *known;
    std::vector<Predicate> out;
    state_->need(item);
    const DefKind kind = program_.defs[item].kind;
    if (program_.defs[item].lowered && (kind == DefKind::AssocTy || kind == DefKind::ImplTrait)) {
        if (kind == DefKind::ImplTrait) fn_sig(program_.defs[item].parent);   // says what it captures
        TypeLowerer lowerer(*this, item, kind == DefKind::AssocTy ? ElidedRegion::Error : ElidedRegion::Erased);
        const TypeId self = kind == DefKind::AssocTy ? types_.projection(item, identity_args(item)) : lowerer.lower_opaque(item);
        bool maybe_sized = false;
        lowerer.lower_bounds(self, program_.as<hir::TypeAliasDef>(item).bounds, out, &maybe_sized);
        if (!maybe_sized && state_->lang.sized.valid()) {
            Predicate predicate;
            const GenericArg args[] = {self};
            predicate.trait_ref = {state_->lang.sized, types_.args(args)};
            predicate.span = program_.defs[item].span;
            out.push_back(predicate);
        }
    }
    return state_->item_bounds.put(item, std::move(out));
}

TypeId TypeLowerer::lower_opaque(DefId def) {
    const auto identity = types_[cx_.identity_args(generics_owner(program_, def))];
    std::vector<GenericArg> args(identity.begin(), identity.end());
    for (RegionId region : cx_.state().captured_regions[program_.defs[def].parent]) args.push_back(region);
    if (is_trait_item(program_, program_.defs[def].parent)) return types_.projection(def, types_.args(args));   // the impls decide
    return types_.opaque(def, types_.args(args));
}

// ---- what it is ---------------------------------------------------------------------------------------------------------------------

namespace {

// Replaces the opaque types that `owner` defines.
class OwnOpaques final : public types::Folder {
  public:
    OwnOpaques(Context& context, DefId owner, std::function<TypeId(DefId)> replace)
        : Folder(context.types(), types::kHasProjection), program_(context.program()), owner_(owner), replace_(std::move(replace)) {}

  protected:
    TypeId type_of(TypeId type) override {
        const TypeData data = types_[type];
        const bool unnamed = data.kind == TypeKind::Opaque || (data.kind == TypeKind::Projection && program_.defs[data.def].kind == DefKind::ImplTrait);
        if (unnamed && program_.defs[data.def].parent == owner_) return replace_(data.def);
        return super_type(type);
    }

  private:
    const hir::Program& program_;
    DefId owner_;
    std::function<TypeId(DefId)> replace_;
};

}  // namespace

types::TypeId Context::hidden_type(DefId impl_trait) {
    const auto known = state_->hidden_types.find(impl_trait);
    if (known != state_->hidden_types.end()) return known->second;
    check_body(program_.defs[impl_trait].parent);
    const auto found = state_->hidden_types.find(impl_trait);
    return found == state_->hidden_types.end() ? types_.error : found->second;
}

types::TypeId Context::reveal_own(DefId fn, types::TypeId type) {
    if (!types_.has(type, types::kHasProjection)) return type;
    return OwnOpaques(*this, fn, [&](DefId def) { return hidden_type(def); }).fold(type);
}

types::TypeId Context::open_unnamed(DefId fn, types::TypeId type, const std::function<types::TypeId(DefId)>& replace) {
    return OwnOpaques(*this, fn, replace).fold(type);
}

// The result type as the body sees it: a variable for each `impl Trait`, with its bounds to be met.
TypeId BodyChecker::open_opaques(TypeId type, Span at) {
    if (!types_.has(type, types::kHasProjection)) return type;
    std::vector<DefId> fresh;
    const auto variable = [&](DefId def) {
        const auto [slot, is_new] = opaques_.try_emplace(def, TypeId());
        if (is_new) {
            slot->second = infer_.new_var(at);
            infer_.define_opaque(def, slot->second);
            fresh.push_back(def);
        }
        return slot->second;
    };
    OwnOpaques opener(cx_, owner_, variable);
    const TypeId opened = opener.fold(type);
    for (std::size_t i = 0; i < fresh.size(); ++i) {   // bounds may hold further ones
        std::vector<Obligation> nested;
        Cause cause{program_.defs[fresh[i]].span, CauseKind::Misc, {}, {}, {}};
        for (const Predicate& written : cx_.item_bounds(fresh[i])) {
            Predicate predicate = written;
            cause.written = &written;
            if (predicate.kind != Predicate::Kind::Trait && predicate.kind != Predicate::Kind::Projection) continue;
            predicate.trait_ref.args = opener.fold(types_.erase_regions(predicate.trait_ref.args));
            if (predicate.term.kind() == GenericArg::Kind::Type) predicate.term = opener.fold(types_.erase_regions(predicate.term.as_type()));
            nested.push_back({selector_.normalize(predicate, cause, 0, nested), cause, 0});
        }
        add_obligations(std::move(nested));
    }
    return opened;
}

void BodyChecker::write_back_opaques() {
    for (const auto& [def, variable] : opaques_) {
        const TypeId hidden = resolved(variable, program_.defs[def].span);
        state_.hidden_types[def] = hidden;
        std::vector<DefId> path{def};
        if (!needs_itself(hidden, path)) continue;
        for (DefId part : path) {   // every opaque type of the circle
            if (program_.defs[part].kind != DefKind::ImplTrait) continue;
            error(Code::E0720, program_.defs[part].span, "cannot resolve opaque type").label(program_.defs[part].span, "the type is defined by itself");
            state_.hidden_types[part] = types_.error;
        }
    }
}

// Does the type need one of the opaque types or closures on `path` to be known? Opaque types are what stands behind them,
// closures what they capture.
bool BodyChecker::needs_itself(TypeId type, std::vector<DefId>& path) {
    constexpr std::size_t kDeepest = 64;
    bool found = path.size() > kDeepest;
    types::walk(types_, type, [&](TypeId part) {
        const TypeData data = types_[part];
        if (found || (data.kind != TypeKind::Opaque && data.kind != TypeKind::Closure)) return !found;
        if (std::find(path.begin(), path.end(), data.def) != path.end()) {
            found = true;
            return false;
        }
        path.push_back(data.def);   // stays there when it closes a circle
        if (data.kind == TypeKind::Opaque) {
            const auto known = state_.hidden_types.find(data.def);
            if (known != state_.hidden_types.end()) found |= needs_itself(known->second, path);
        } else if (const ClosureInfo* closure = known_closure(data.def)) {
            for (const Capture& capture : closure->captures) found |= needs_itself(capture.type, path);
        }
        if (!found) path.pop_back();
        return !found;
    });
    return found;
}

const ClosureInfo* BodyChecker::known_closure(DefId def) {
    for (const auto& closure : tables_.closures) {
        if (closure->def == def) return closure.get();
    }
    const auto found = state_.closures.find(def);
    return found == state_.closures.end() ? nullptr : found->second;
}

}  // namespace ockc::check
