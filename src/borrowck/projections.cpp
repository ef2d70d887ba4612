// Associated types with regions, and impls and bounds against bounds with regions.
#include "borrowck/region_types.hpp"

namespace ockc::borrowck {

using types::GenericArg;
using types::RegionKind;
using types::TypeData;
using types::TypeKind;

namespace {
constexpr std::uint32_t kDeepestImpl = 16;   // deeper ones say nothing about regions

bool is_known(GenericArg arg) { return arg.raw() != GenericArg().raw(); }
}  // namespace

// The associated type, with regions: from what is called, the function's bounds or the impl when it can be told, else with fresh
// regions that everything in the projection's arguments outlives.
TypeId RegionTypes::normalize_projection(TypeId projection) {
    // Where nothing depends on the function's own bounds, the answer is the same for every function.
    const TypeId plain = erase(projection);
    const bool is_item = context_.program().defs[types_[plain].def].kind != hir::DefKind::ImplTrait;
    const bool is_alone = is_item && env_.predicates.empty() && !types_.has(types_[plain].args, types::kHasProjection | types::kHasParam);
    const TypeId erased = context_.normalize(plain, is_alone ? context_.empty_env() : env_);
    if (types_.kind(erased) == TypeKind::Projection) return projection;
    if (!may_hold_regions(erased)) return erased;
    const TypeData data = types_[projection];
    if (const TypeId called = from_callable(data); called.valid()) return called;
    if (const TypeId bounded = from_bounds(data); bounded.valid()) return bounded;
    if (const TypeId precise = from_impl(data, erased); precise.valid()) return precise;
    const TypeId out = replace(erased, nullptr, false);
    std::vector<RegionVid> inside;
    collect(projection, inside);
    for (const RegionVid longer : inside) {
        for (const RegionVid shorter : regions_of(out)) outlives(Outlives{longer, shorter, Category::Boring, {}, {}, false});
    }
    return out;
}

void RegionTypes::equate(RegionVid a, RegionVid b) {
    if (a == b) return;
    Outlives constraint = reason_;
    constraint.sup = a;
    constraint.sub = b;
    outlives(constraint);
    std::swap(constraint.sup, constraint.sub);
    outlives(constraint);
}

bool RegionTypes::same_but_regions(ArgsId a, ArgsId b) {
    if (types_[a].size() != types_[b].size()) return false;
    for (std::size_t i = 0; i < types_[a].size(); ++i) {
        const GenericArg x = types_[a][i], y = types_[b][i];
        if (x.kind() != y.kind()) return false;
        if (x.kind() == GenericArg::Kind::Type && erase(x.as_type()) != erase(y.as_type())) return false;
        if (x.kind() == GenericArg::Kind::Const && x != y) return false;
    }
    return true;
}

// ---- what can be called ----------------------------------------------------------------------------------------------------------

std::optional<RegionTypes::CallSignature> RegionTypes::call_signature(TypeId callable, LateRegions* bound) {
    const TypeData data = types_[callable];
    LateRegions own;
    LateRegions* const late = bound != nullptr ? bound : &own;
    CallSignature out;
    if (data.kind == TypeKind::FnDef) {
        const check::FnSigInfo& sig = context_.fn_sig(data.def);
        std::vector<GenericArg> args(types_[data.args].begin(), types_[data.args].end());
        if (context_.program().defs[data.def].kind != hir::DefKind::Ctor) {
            const std::vector<std::uint8_t>& chosen_by_call = context_.late_bound(data.def);
            for (std::size_t i = 0, first = args.size() - chosen_by_call.size(); i < chosen_by_call.size(); ++i) {
                if (chosen_by_call[i] != 0) args[first + i] = facts_.variable(types_, fresh());
            }
        }
        const ArgsId filled = types_.args(args);
        for (const TypeId input : sig.inputs) out.inputs.push_back(instantiate(input, filled, late));
        out.output = instantiate(sig.output, filled, late);
        return out;
    }
    TypeId pointer = callable;
    if (data.kind == TypeKind::Closure) {
        const std::span<const GenericArg> args = types_[data.args];
        pointer = args[args.size() - 2].as_type();   // the tuple of captures is the last
    } else if (data.kind != TypeKind::FnPtr) {
        return std::nullopt;
    }
    const std::vector<TypeId> parts(types_[types_[pointer].elements].begin(), types_[types_[pointer].elements].end());
    for (const TypeId part : parts) out.inputs.push_back(normalize(replace(part, late, false)));
    out.output = out.inputs.back();
    out.inputs.pop_back();
    return out;
}

// `<F as FnOnce<Args>>::Output`.
TypeId RegionTypes::from_callable(const TypeData& projection) {
    if (context_.program().defs[projection.def].lang_item != "fn_once_output") return {};
    const TypeId self = types_[projection.args][0].as_type(), tuple = types_[projection.args][1].as_type();
    if (types_.kind(tuple) != TypeKind::Tuple) return {};
    const std::optional<CallSignature> signature = call_signature(self);
    if (!signature) return {};
    const std::vector<TypeId> given(types_[types_[tuple].elements].begin(), types_[types_[tuple].elements].end());
    for (std::size_t i = 0; i < std::min(given.size(), signature->inputs.size()); ++i) {
        relate(given[i], signature->inputs[i], Variance::Invariant, reason_);
    }
    return signature->output;
}

// A closure's signature with the lifetimes that are known of it; `lifetimes` has the same form, or another where nothing is known.
TypeId RegionTypes::closure_lifetimes(TypeId type, TypeId lifetimes) {
    const TypeData data = types_[type], known = types_[lifetimes];
    if (data.kind != known.kind || !may_hold_regions(type)) return type;
    switch (data.kind) {
        case TypeKind::Ref: {
            const bool is_known_region = types_[known.region].kind != RegionKind::Erased;
            return types_.ref(is_known_region ? known.region : data.region, closure_lifetimes(data.element, known.element), data.mutability);
        }
        case TypeKind::RawPtr: return types_.raw_ptr(closure_lifetimes(data.element, known.element), data.mutability);
        case TypeKind::Slice: return types_.slice(closure_lifetimes(data.element, known.element));
        case TypeKind::Array: return types_.array(closure_lifetimes(data.element, known.element), data.length);
        case TypeKind::FnPtr:
        case TypeKind::Tuple: {
            std::vector<TypeId> parts(types_[data.elements].begin(), types_[data.elements].end());
            for (std::size_t i = 0; i < std::min(parts.size(), types_[known.elements].size()); ++i) {
                parts[i] = closure_lifetimes(parts[i], types_[known.elements][i]);
            }
            if (data.kind == TypeKind::Tuple) return types_.tuple(parts);
            const TypeId output = parts.back();
            parts.pop_back();
            return types_.fn_ptr(parts, output, data.is_unsafe);
        }
        case TypeKind::Adt: {
            if (data.def != known.def) return type;
            std::vector<GenericArg> args(types_[data.args].begin(), types_[data.args].end());
            for (std::size_t i = 0; i < std::min(args.size(), types_[known.args].size()); ++i) {
                const GenericArg from = types_[known.args][i];
                if (args[i].kind() != from.kind()) continue;
                if (from.kind() == GenericArg::Kind::Type) args[i] = closure_lifetimes(args[i].as_type(), from.as_type());
                if (from.kind() == GenericArg::Kind::Region && types_[from.as_region()].kind != RegionKind::Erased) args[i] = from;
            }
            return types_.adt(data.def, types_.args(args));
        }
        default: return type;   // no form that a bound and a type share
    }
}

// ---- bounds ------------------------------------------------------------------------------------------------------------------------

// The function's own bounds with their regions, and those of the traits above.
const std::vector<check::Predicate>& RegionTypes::own_bounds() {
    if (own_bounds_) return *own_bounds_;
    std::vector<check::Predicate> all;
    if (env_.owner.valid()) all = context_.predicates_of(env_.owner);
    constexpr std::size_t kMost = 256;
    for (std::size_t i = 0; i < all.size() && i < kMost; ++i) {
        if (all[i].kind != check::Predicate::Kind::Trait) continue;
        const check::TraitRef bound = all[i].trait_ref;
        for (const check::Predicate& above : context_.predicates_of(bound.trait)) {
            const bool is_trait = above.kind == check::Predicate::Kind::Trait;
            if ((!is_trait && above.kind != check::Predicate::Kind::Projection) || (is_trait && above.trait_ref.trait == bound.trait)) continue;
            check::Predicate filled = above;
            filled.trait_ref.args = types_.subst(above.trait_ref.args, bound.args);
            if (!is_trait && above.term.kind() == GenericArg::Kind::Type) filled.term = types_.subst(above.term.as_type(), bound.args);
            all.push_back(filled);
        }
    }
    own_bounds_ = std::move(all);
    return *own_bounds_;
}

std::vector<ArgsId> RegionTypes::bounds_like(DefId trait, ArgsId trait_args) {
    std::vector<ArgsId> found;
    for (const check::Predicate& bound : own_bounds()) {
        if (bound.kind != check::Predicate::Kind::Trait || bound.trait_ref.trait != trait) continue;
        LateRegions late;
        const std::size_t before = constraints_.size();
        const ArgsId args = instantiate(bound.trait_ref.args, ArgsId(), &late);
        if (same_but_regions(args, trait_args)) {
            found.push_back(args);
        } else {
            constraints_.resize(before);
        }
    }
    return found;
}

// From `T: Trait<Assoc = Type>` among the function's bounds, and what a trait says of its associated types.
TypeId RegionTypes::from_bounds(const TypeData& projection) {
    const auto consider = [&](const check::Predicate& bound, ArgsId filling) -> TypeId {
        const bool fits = bound.kind == check::Predicate::Kind::Projection && bound.assoc == projection.def && bound.term.kind() == GenericArg::Kind::Type;
        if (!fits || depth_ >= kDeepestImpl) return {};
        LateRegions late;
        const std::size_t before = constraints_.size();
        ++depth_;
        const ArgsId args = instantiate(bound.trait_ref.args, filling, &late);
        --depth_;
        if (!same_but_regions(args, projection.args)) {
            constraints_.resize(before);
            return {};
        }
        equate_args(args, projection.args, reason_);
        return instantiate(bound.term.as_type(), filling, &late);
    };
    const TypeData self = types_[types_[projection.args][0].as_type()];
    if (self.kind == TypeKind::Adt) return {};   // an impl's
    for (const check::Predicate& bound : own_bounds()) {
        if (const TypeId found = consider(bound, ArgsId()); found.valid()) return found;
    }
    if (self.kind != TypeKind::Projection && self.kind != TypeKind::Opaque) return {};
    for (const check::Predicate& bound : context_.item_bounds(self.def)) {
        if (const TypeId found = consider(bound, self.args); found.valid()) return found;
    }
    return {};
}

// ---- impls -------------------------------------------------------------------------------------------------------------------------

TypeId RegionTypes::from_impl(const TypeData& projection, TypeId erased) {
    const hir::Program& program = context_.program();
    const DefId trait = program.defs[projection.def].parent;
    const std::size_t trait_count = context_.generics_of(trait).count();
    const ArgsId goal = types_.args(types_[projection.args].first(trait_count));
    for (const DefId impl : context_.impls_that_may_match(trait, types_[projection.args][0].as_type())) {
        const std::size_t before = constraints_.size();
        const std::optional<ArgsId> args = match_impl(impl, goal, reason_);
        if (!args) continue;
        std::vector<GenericArg> all(types_[*args].begin(), types_[*args].end());
        const auto own = types_[projection.args].subspan(trait_count);
        all.insert(all.end(), own.begin(), own.end());
        for (const DefId item : program.as<hir::ImplDef>(impl).items) {
            if (program.defs[item].kind != hir::DefKind::AssocTy || program.defs[item].name.name != program.defs[projection.def].name.name) continue;
            LateRegions late = impl_regions_;
            const TypeId found = normalize(replace(types_.subst(context_.type_of(item), all), &late, false));
            if (erase(found) == types_.erase_regions(erased)) return found;
        }
        constraints_.resize(before);
    }
    return {};
}

std::optional<ArgsId> RegionTypes::match_impl(DefId impl, ArgsId trait_args, const Outlives& reason) {
    if (depth_ >= kDeepestImpl) return std::nullopt;
    ++depth_;
    const Outlives outer = std::exchange(reason_, reason);
    const check::TraitRef header = context_.impl_trait_ref(impl);
    std::vector<GenericArg> bound(context_.generics_of(impl).count());
    LateRegions late;
    const std::size_t before = constraints_.size();
    const bool fits = types_[header.args].size() == types_[trait_args].size() && match(header.args, trait_args, bound, late) && complete(impl, bound, late);
    if (!fits) constraints_.resize(before);
    reason_ = outer;
    --depth_;
    impl_regions_ = std::move(late);
    if (!fits) return std::nullopt;
    return types_.args(bound);
}

// Parameters that the header does not have are what the impl's bounds say: `impl<I, F, B> Iterator for Map<I, F> where F: FnMut(..) -> B`.
bool RegionTypes::complete(DefId impl, std::vector<GenericArg>& bound, LateRegions& late) {
    const auto all_known = [&](ArgsId args) {
        bool known = true;
        const auto constant = [&](types::ConstId id) {
            const types::ConstData& data = types_[id];
            known = known && (data.kind != types::ConstKind::Param || (data.index < bound.size() && is_known(bound[data.index])));
        };
        for (const GenericArg arg : types_[args]) {
            if (arg.kind() == GenericArg::Kind::Const) constant(arg.as_const());
            if (arg.kind() != GenericArg::Kind::Type) continue;
            types::walk(types_, arg.as_type(), [&](TypeId part) {
                const TypeData data = types_[part];
                known = known && (data.kind != TypeKind::Param || (data.index < bound.size() && is_known(bound[data.index])));
                if (data.kind == TypeKind::Array) constant(data.length);
                for (const GenericArg inner : types_[data.args]) {
                    if (inner.kind() == GenericArg::Kind::Const) constant(inner.as_const());
                }
                return known;
            });
        }
        return known;
    };
    const auto is_complete = [&] { return std::all_of(bound.begin(), bound.end(), is_known); };
    bool changed = true;
    while (changed && !is_complete()) {
        changed = false;
        for (const check::Predicate& predicate : context_.predicates_of(impl)) {
            if (predicate.kind != check::Predicate::Kind::Projection || predicate.term.kind() != GenericArg::Kind::Type) continue;
            const TypeData term = types_[predicate.term.as_type()];
            if (term.kind != TypeKind::Param || term.index >= bound.size() || is_known(bound[term.index]) || !all_known(predicate.trait_ref.args)) continue;
            LateRegions scoped = late;
            const ArgsId filled = replace(types_.subst(predicate.trait_ref.args, bound), &scoped, false);
            bound[term.index] = normalize(types_.projection(predicate.assoc, filled));
            changed = true;
        }
    }
    return is_complete();
}

void RegionTypes::match_region(RegionId pattern, RegionId actual, std::vector<GenericArg>& bound, LateRegions& late) {
    const types::RegionData data = types_[pattern];
    if (data.kind == RegionKind::Static) return equate(kStatic, vid(actual));
    if (data.kind == RegionKind::LateParam) {
        const auto [at, is_new] = late.try_emplace(late_key(data), vid(actual));
        if (!is_new) equate(at->second, vid(actual));
    }
    if (data.kind != RegionKind::EarlyParam || data.index >= bound.size()) return;
    if (bound[data.index].kind() == GenericArg::Kind::Region) return equate(vid(bound[data.index].as_region()), vid(actual));
    bound[data.index] = actual;
}

bool RegionTypes::match(ArgsId pattern, ArgsId actual, std::vector<GenericArg>& bound, LateRegions& late) {
    const std::span<const GenericArg> a = types_[pattern], b = types_[actual];
    if (a.size() > b.size()) return false;
    for (std::size_t i = 0; i < a.size(); ++i) {
        if (a[i].kind() != b[i].kind()) return false;
        switch (a[i].kind()) {
            case GenericArg::Kind::Type:
                if (!match(a[i].as_type(), b[i].as_type(), bound, late)) return false;
                break;
            case GenericArg::Kind::Region: match_region(a[i].as_region(), b[i].as_region(), bound, late); break;
            case GenericArg::Kind::Const: {
                const types::ConstData& data = types_[a[i].as_const()];
                if (data.kind == types::ConstKind::Param && data.index < bound.size()) {
                    bound[data.index] = b[i];
                } else if (a[i] != b[i]) {
                    return false;
                }
                break;
            }
        }
    }
    return true;
}

// One-way: the pattern's parameters become what stands in their place.
bool RegionTypes::match(TypeId pattern, TypeId actual, std::vector<GenericArg>& bound, LateRegions& late) {
    const TypeData a = types_[pattern], b = types_[actual];
    if (a.kind == TypeKind::Param) {
        if (a.index >= bound.size()) return false;
        if (bound[a.index].kind() == GenericArg::Kind::Type) {
            const TypeId known = bound[a.index].as_type();
            if (erase(known) != erase(actual)) return false;
            relate(known, actual, Variance::Invariant, reason_);
            return true;
        }
        bound[a.index] = actual;
        return true;
    }
    if (!may_hold_regions(pattern) && !types_.has(pattern, types::kHasParam)) return erase(pattern) == erase(actual);
    if (a.kind != b.kind || a.mutability != b.mutability || a.def != b.def) return false;
    if (a.kind == TypeKind::Projection) return true;   // it constrains nothing
    if (a.region.valid()) match_region(a.region, b.region, bound, late);
    if (a.element.valid() && !match(a.element, b.element, bound, late)) return false;
    if (a.kind == TypeKind::Array) {
        const types::ConstData& length = types_[a.length];
        if (length.kind == types::ConstKind::Param && length.index < bound.size()) {
            bound[length.index] = b.length;
        } else if (a.length != b.length) {
            return false;
        }
    }
    if (a.args.valid() && !match(a.args, b.args, bound, late)) return false;
    if (!a.elements.valid()) return true;
    const std::vector<TypeId> x(types_[a.elements].begin(), types_[a.elements].end());
    const std::vector<TypeId> y(types_[b.elements].begin(), types_[b.elements].end());
    if (x.size() != y.size()) return false;
    for (std::size_t i = 0; i < x.size(); ++i) {
        if (!match(x[i], y[i], bound, late)) return false;
    }
    return true;
}

}  // namespace ockc::borrowck
