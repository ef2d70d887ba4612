// Which bound, impl or built-in rule makes a trait goal true.
#include <algorithm>

#include "check/solve.hpp"

namespace ockc::check {

using types::InferKind;
using types::Mutability;

TypeKey type_key(const TypeStore& types, TypeId type) {
    const TypeData& data = types[type];
    const auto key = [&](std::uint32_t detail) { return (static_cast<TypeKey>(data.kind) + 1) << 32 | detail; };
    switch (data.kind) {
        case TypeKind::Param:
        case TypeKind::Projection:
        case TypeKind::Opaque:
        case TypeKind::Infer:
        case TypeKind::Error: return 0;
        case TypeKind::Int: return key(static_cast<std::uint32_t>(data.int_kind));
        case TypeKind::Float: return key(static_cast<std::uint32_t>(data.float_kind));
        case TypeKind::Ref:
        case TypeKind::RawPtr: return key(static_cast<std::uint32_t>(data.mutability));
        case TypeKind::Adt:
        case TypeKind::FnDef:
        case TypeKind::Closure: return key(data.def.raw);
        case TypeKind::Tuple: return key(static_cast<std::uint32_t>(types[data.elements].size()));
        case TypeKind::FnPtr: return key(static_cast<std::uint32_t>(types[data.elements].size()));
        case TypeKind::Never:
        case TypeKind::Bool:
        case TypeKind::Char:
        case TypeKind::Str:
        case TypeKind::Array:
        case TypeKind::Slice: return key(0);
    }
    return 0;
}

Selector::Selector(Context& context, InferCtxt& infer, const ParamEnv& env, ClosureSource* closures)
    : cx_(context), types_(context.types()), infer_(infer), env_(env), closures_(closures) {}

bool Selector::key_may_match(TypeKey impl_key, TypeId self) {
    if (impl_key == 0) return true;
    const TypeData& data = types_[self];
    switch (data.kind) {
        case TypeKind::Error: return true;
        case TypeKind::Infer:
            if (data.infer_kind == InferKind::Int) return impl_key >> 32 == static_cast<TypeKey>(TypeKind::Int) + 1;
            if (data.infer_kind == InferKind::Float) return impl_key >> 32 == static_cast<TypeKey>(TypeKind::Float) + 1;
            return true;
        case TypeKind::Param:
        case TypeKind::Projection:
        case TypeKind::Opaque: return false;   // only blanket impls
        default: return impl_key == type_key(types_, self);
    }
}

ArgsId Selector::fresh_args(DefId item, Span span) {
    std::vector<GenericArg> out;
    for (GenericArg arg : types_[cx_.identity_args(item)]) {
        switch (arg.kind()) {
            case GenericArg::Kind::Type: out.push_back(infer_.new_var(span)); break;
            case GenericArg::Kind::Region: out.push_back(types_.erased); break;
            case GenericArg::Kind::Const: out.push_back(infer_.new_const_var(types_[arg.as_const()].type, span)); break;
        }
    }
    return types_.args(out);
}

bool is_sized_by_head(const TypeData& type) {
    switch (type.kind) {
        case TypeKind::Never:
        case TypeKind::Bool:
        case TypeKind::Char:
        case TypeKind::Int:
        case TypeKind::Float:
        case TypeKind::Array:
        case TypeKind::Ref:
        case TypeKind::RawPtr:
        case TypeKind::FnDef:
        case TypeKind::FnPtr:
        case TypeKind::Closure: return true;
        case TypeKind::Infer: return type.infer_kind != InferKind::Type;
        case TypeKind::Error:
        case TypeKind::Str:
        case TypeKind::Slice:
        case TypeKind::Tuple:
        case TypeKind::Adt:
        case TypeKind::Param:
        case TypeKind::Projection:
        case TypeKind::Opaque: return false;
    }
    return false;
}

void Selector::item_obligations(DefId item, ArgsId args, const Cause& cause, std::uint32_t depth, std::vector<Obligation>& out) {
    for (const Predicate& written : cx_.predicates_of(item)) {
        if (written.kind != Predicate::Kind::Trait && written.kind != Predicate::Kind::Projection) continue;   // regions are the borrow checker's
        const ArgsId trait_args = types_.erase_regions(types_.subst(written.trait_ref.args, args));
        const bool is_sized = written.kind == Predicate::Kind::Trait && written.trait_ref.trait == cx_.state().lang.sized;
        if (is_sized && is_sized_by_head(types_[types_[trait_args][0].as_type()])) continue;
        Predicate predicate = written;
        predicate.trait_ref.args = trait_args;
        Cause own = cause;
        own.bound_span = written.span;
        own.written = &written;
        if (written.kind == Predicate::Kind::Projection) {
            if (written.term.kind() == GenericArg::Kind::Type) {
                predicate.term = types_.erase_regions(types_.subst(written.term.as_type(), args));
            } else {
                predicate.term = types_.subst(written.term.as_const(), args);
            }
        }
        out.push_back({normalize(predicate, own, depth, out), own, depth});
    }
}

// ---- built-in traits -----------------------------------------------------------------------------------------------------------------

void Selector::nested_trait(TypeId type, DefId trait, const Cause& cause, std::uint32_t depth, Selection& out) {
    Predicate predicate;
    const GenericArg args[] = {type};
    predicate.trait_ref = {trait, types_.args(args)};
    out.nested.push_back({normalize(predicate, cause, depth + 1, out.nested), cause, depth + 1});
}

Outcome Selector::select_sized(TypeId self, const Cause& cause, std::uint32_t depth, Selection& out, bool* undecided) {
    const TypeData data = types_[self];
    switch (data.kind) {
        case TypeKind::Str:
        case TypeKind::Slice: return Outcome::No;
        case TypeKind::Param:
        case TypeKind::Projection:
        case TypeKind::Opaque: *undecided = true; return Outcome::Maybe;
        case TypeKind::Tuple: {
            const auto elements = types_[data.elements];
            if (!elements.empty()) nested_trait(elements.back(), cx_.state().lang.sized, cause, depth, out);
            return Outcome::Yes;
        }
        case TypeKind::Adt: {
            const AdtInfo& adt = cx_.adt(data.def);
            if (adt.kind != AdtInfo::Kind::Struct || adt.variants[0].fields.empty()) return Outcome::Yes;
            const TypeId last = adt.variants[0].fields.back().type;
            if (!last.valid()) return Outcome::Yes;
            switch (types_.kind(last)) {
                case TypeKind::Str:
                case TypeKind::Slice:
                case TypeKind::Param:
                case TypeKind::Projection:
                case TypeKind::Adt:
                case TypeKind::Tuple:
                    nested_trait(types_.erase_regions(types_.subst(last, data.args)), cx_.state().lang.sized, cause, depth, out);
                    return Outcome::Yes;
                default: return Outcome::Yes;
            }
        }
        default: return Outcome::Yes;
    }
}

std::optional<Outcome> Selector::select_copy_clone(const TraitRef& goal, TypeId self, const Cause& cause, std::uint32_t depth, Selection& out) {
    const TypeData data = types_[self];
    switch (data.kind) {
        case TypeKind::Never:
        case TypeKind::Bool:
        case TypeKind::Char:
        case TypeKind::Int:
        case TypeKind::Float:
        case TypeKind::RawPtr:
        case TypeKind::FnDef:
        case TypeKind::FnPtr: return Outcome::Yes;
        case TypeKind::Ref: return data.mutability == Mutability::Mut ? Outcome::No : Outcome::Yes;
        case TypeKind::Str:
        case TypeKind::Slice: return Outcome::No;
        case TypeKind::Infer: return data.infer_kind == InferKind::Type ? Outcome::Maybe : Outcome::Yes;
        case TypeKind::Array: nested_trait(data.element, goal.trait, cause, depth, out); return Outcome::Yes;
        case TypeKind::Tuple:
            for (TypeId element : types_[data.elements]) nested_trait(element, goal.trait, cause, depth, out);
            return Outcome::Yes;
        case TypeKind::Closure: {
            const auto view = closures_ != nullptr ? closures_->closure_view(self) : std::nullopt;
            std::vector<TypeId> captures;
            if (view && !view->captures) return Outcome::Maybe;
            if (view) {
                captures = *view->captures;
            } else {
                for (const Capture& capture : cx_.closure_info(data.def).captures) {
                    captures.push_back(types_.subst(capture.type, data.args));
                }
            }
            for (TypeId capture : captures) nested_trait(capture, goal.trait, cause, depth, out);
            return Outcome::Yes;
        }
        case TypeKind::Error: return Outcome::Yes;
        case TypeKind::Adt:
        case TypeKind::Param:
        case TypeKind::Projection:
        case TypeKind::Opaque: return std::nullopt;
    }
    return std::nullopt;
}

// Fn, FnMut, FnOnce of closures, function items and function pointers; args[1] is the tuple of arguments.
std::optional<Outcome> Selector::select_callable(const TraitRef& goal, TypeId self, Selection& out) {
    const TypeData data = types_[self];
    const LangItems& lang = cx_.state().lang;
    std::vector<TypeId> inputs;
    TypeId output;
    if (data.kind == TypeKind::FnDef) {
        const FnSigInfo sig = cx_.fn_sig(ItemRef{data.def, data.args});
        if (sig.is_unsafe) return Outcome::No;
        inputs = sig.inputs;
        output = sig.output;
    } else if (data.kind == TypeKind::FnPtr) {
        if (data.is_unsafe) return Outcome::No;
        const auto all = types_[data.elements];
        inputs.assign(all.begin(), all.end() - 1);
        output = all.back();
    } else if (data.kind == TypeKind::Closure) {
        ClosureView view;
        const auto open = closures_ != nullptr ? closures_->closure_view(self) : std::nullopt;
        if (open) {
            view = *open;
        } else {
            const ClosureInfo& info = cx_.closure_info(data.def);
            for (TypeId input : info.inputs) view.inputs.push_back(types_.subst(input, data.args));
            view.output = types_.subst(info.output, data.args);
            view.kind = info.kind;
        }
        if (goal.trait != lang.fn_once) {
            if (!view.kind) return Outcome::Maybe;
            if (*view.kind == ClosureKind::FnOnce) return Outcome::No;
            if (*view.kind == ClosureKind::FnMut && goal.trait == lang.fn_trait) return Outcome::No;
        }
        inputs = std::move(view.inputs);
        output = view.output;
    } else {
        return std::nullopt;
    }
    std::vector<Obligation> nested;
    for (TypeId& input : inputs) input = normalize(input, Cause{}, 0, nested);
    output = normalize(output, Cause{}, 0, nested);
    if (!infer_.unify(types_[goal.args][1].as_type(), types_.tuple(inputs))) return Outcome::No;
    out.kind = Selection::Kind::Callable;
    out.output = output;
    out.nested.insert(out.nested.end(), nested.begin(), nested.end());
    return Outcome::Yes;
}

// Operators of scalars, by value and through one reference: `i32: Add<i32>`, `&i32: Add<&i32>` ..
std::optional<Outcome> Selector::select_scalar(const TraitRef& goal, TypeId self, Selection& out) {
    const auto found = cx_.state().scalar_traits.find(goal.trait);
    if (found == cx_.state().scalar_traits.end()) return std::nullopt;
    const ScalarTrait op = found->second;
    const auto strip = [&](TypeId type) {
        const bool shared = types_.kind(type) == TypeKind::Ref && types_[type].mutability == Mutability::Not;
        return shared ? infer_.shallow(types_[type].element) : type;
    };
    const auto integral = [](const TypeData& t) { return t.kind == TypeKind::Int || (t.kind == TypeKind::Infer && t.infer_kind == InferKind::Int); };
    const auto floating = [](const TypeData& t) { return t.kind == TypeKind::Float || (t.kind == TypeKind::Infer && t.infer_kind == InferKind::Float); };
    if (op.is_assign && types_.kind(self) == TypeKind::Ref) return std::nullopt;
    const TypeId left = strip(self);
    const TypeData l = types_[left];
    const auto decided = [&] {
        out.kind = Selection::Kind::Scalar;
        out.output = left;
        return Outcome::Yes;
    };
    if (op.is_unary) {
        const bool is_signed = l.kind != TypeKind::Int || types::int_signed(l.int_kind);
        const bool fits = op.unary == hir::UnaryOp::Neg ? floating(l) || (integral(l) && is_signed) : integral(l) || l.kind == TypeKind::Bool;
        if (!fits) return std::nullopt;
        return decided();
    }
    const bool shift = op.binary == hir::BinaryOp::Shl || op.binary == hir::BinaryOp::Shr;
    const bool bits = op.binary == hir::BinaryOp::BitAnd || op.binary == hir::BinaryOp::BitOr || op.binary == hir::BinaryOp::BitXor;
    if (!(integral(l) || (!shift && !bits && floating(l)) || (bits && l.kind == TypeKind::Bool))) return std::nullopt;
    const TypeId right = strip(infer_.shallow(types_[goal.args][1].as_type()));
    const TypeData r = types_[right];
    if (r.kind == TypeKind::Infer && r.infer_kind == InferKind::Type) return Outcome::Maybe;
    if (shift) {
        if (!integral(r)) return std::nullopt;
        if (r.kind == TypeKind::Infer || l.kind == TypeKind::Infer) return Outcome::Maybe;
        return decided();
    }
    if (!integral(r) && !floating(r) && r.kind != TypeKind::Bool) return std::nullopt;
    if (l.kind == TypeKind::Infer && r.kind == TypeKind::Infer) return l.infer_kind == r.infer_kind ? std::optional(Outcome::Maybe) : std::nullopt;
    if (!infer_.unify(left, right)) return std::nullopt;
    return decided();
}

// Send and Sync: what the parts are, unless an impl says otherwise.
std::optional<Outcome> Selector::select_auto(const TraitRef& goal, TypeId self, const Cause& cause, std::uint32_t depth, Selection& out) {
    const TypeData data = types_[self];
    const LangItems& lang = cx_.state().lang;
    if (data.kind == TypeKind::Param || data.kind == TypeKind::Projection) return std::nullopt;
    if (data.kind == TypeKind::Opaque) {   // the one thing that callers see of what it is
        nested_trait(types_.erase_regions(types_.subst(cx_.hidden_type(data.def), data.args)), goal.trait, cause, depth, out);
        return Outcome::Yes;
    }
    if (data.kind == TypeKind::Infer) return data.infer_kind == InferKind::Type ? Outcome::Maybe : Outcome::Yes;
    for (const ImplEntry& entry : cx_.state().impls_for(goal.trait, self)) {
        if (!key_may_match(entry.self_key, self)) continue;
        Selection ignored;
        const auto before = infer_.snapshot();
        const bool matches = match_impl(entry, goal, cause, depth, ignored);
        infer_.rollback(before);
        if (!matches) continue;
        if (cx_.program().as<hir::ImplDef>(entry.impl).is_negative) return Outcome::No;
        return std::nullopt;
    }
    switch (data.kind) {
        case TypeKind::RawPtr: return Outcome::No;
        case TypeKind::Ref:
            nested_trait(data.element, goal.trait == lang.send && data.mutability == Mutability::Not ? cx_.state().lang_item("sync") : goal.trait, cause, depth, out);
            break;
        case TypeKind::Array:
        case TypeKind::Slice: nested_trait(data.element, goal.trait, cause, depth, out); break;
        case TypeKind::Tuple:
            for (TypeId element : types_[data.elements]) nested_trait(element, goal.trait, cause, depth, out);
            break;
        case TypeKind::Adt:
            if (data.def == lang.phantom_data) {
                nested_trait(types_[data.args][0].as_type(), goal.trait, cause, depth, out);
                break;
            }
            for (const VariantInfo& variant : cx_.adt(data.def).variants) {
                for (const FieldInfo& field : variant.fields) {
                    nested_trait(types_.erase_regions(types_.subst(field.type, data.args)), goal.trait, cause, depth, out);
                }
            }
            break;
        default: break;
    }
    return Outcome::Yes;
}

std::optional<Outcome> Selector::select_builtin(const TraitRef& goal, const Cause& cause, std::uint32_t depth, Selection& out) {
    const LangItems& lang = cx_.state().lang;
    const TypeId self = infer_.shallow(types_[goal.args][0].as_type());
    if (goal.trait == lang.sized) {
        bool undecided = false;
        const Outcome outcome = select_sized(self, cause, depth, out, &undecided);
        if (undecided) return std::nullopt;
        return outcome;
    }
    if (goal.trait == lang.copy || goal.trait == lang.clone) return select_copy_clone(goal, self, cause, depth, out);
    if (goal.trait == lang.fn_once || goal.trait == lang.fn_mut || goal.trait == lang.fn_trait) return select_callable(goal, self, out);
    if (goal.trait == lang.send || goal.trait == lang.sync) return select_auto(goal, self, cause, depth, out);
    return select_scalar(goal, self, out);
}

// ---- bounds ----------------------------------------------------------------------------------------------------------------------------

// Every caller bound and item bound that could be the goal.
void Selector::collect_bounds(const TraitRef& goal, std::vector<TraitRef>& out) {
    const auto consider = [&](const TraitRef& bound) {
        if (bound.trait != goal.trait) return;
        const auto before = infer_.snapshot();
        const bool fits = infer_.unify(bound.args, goal.args);
        infer_.rollback(before);
        if (fits && std::find(out.begin(), out.end(), bound) == out.end()) out.push_back(bound);
    };
    for (const Predicate& predicate : env_.predicates) {
        if (predicate.kind == Predicate::Kind::Trait) consider(predicate.trait_ref);
    }
    const TypeData self = types_[infer_.shallow(types_[goal.args][0].as_type())];
    if (self.kind != TypeKind::Projection && self.kind != TypeKind::Opaque) return;
    for (const Predicate& predicate : cx_.item_bounds(self.def)) {
        if (predicate.kind != Predicate::Kind::Trait) continue;
        std::vector<TraitRef> stack{{predicate.trait_ref.trait, types_.erase_regions(types_.subst(predicate.trait_ref.args, self.args))}};
        for (std::size_t i = 0; i < stack.size() && i < 64; ++i) {
            const TraitRef bound = stack[i];
            consider(bound);
            for (const TraitRef& super : cx_.supertraits(bound.trait)) stack.push_back({super.trait, types_.subst(super.args, bound.args)});
        }
    }
}

Outcome Selector::select_bound(const TraitRef& goal, std::vector<TraitRef>& bounds, Selection& out) {
    if (bounds.size() > 1 && types_.has(goal.args, types::kHasInfer)) {
        // An exact match wins; otherwise the variables do not say which bound is meant.
        const ArgsId wanted = infer_.resolve(goal.args);
        const auto exact = std::find_if(bounds.begin(), bounds.end(), [&](const TraitRef& b) { return infer_.resolve(b.args) == wanted; });
        if (exact == bounds.end()) return Outcome::Maybe;
        std::swap(*exact, bounds.front());
    }
    infer_.unify(bounds.front().args, goal.args);
    out.kind = Selection::Kind::Bound;
    return Outcome::Yes;
}

// ---- impls ---------------------------------------------------------------------------------------------------------------------------------

// Unifies the impl's header with the goal and collects the impl's own bounds.
bool Selector::match_impl(const ImplEntry& entry, const TraitRef& goal, const Cause& cause, std::uint32_t depth, Selection& out) {
    const ArgsId args = fresh_args(entry.impl, cause.span);
    ArgsId header = types_.subst(entry.trait_ref.args, args);
    if (types_.has(header, types::kHasProjection)) header = normalize(header, cause, depth + 1, out.nested);
    if (!infer_.unify(header, goal.args)) return false;
    out.kind = Selection::Kind::Impl;
    out.impl = entry.impl;
    out.impl_args = args;
    return true;
}

Outcome Selector::select_impl(const TraitRef& goal, const Cause& cause, std::uint32_t depth, Selection& out) {
    const TypeId self = infer_.shallow(types_[goal.args][0].as_type());
    std::vector<const ImplEntry*> fitting;
    for (const ImplEntry& entry : cx_.state().impls_for(goal.trait, self)) {
        if (!key_may_match(entry.self_key, self) || cx_.program().as<hir::ImplDef>(entry.impl).is_negative) continue;
        Selection probe;
        const auto before = infer_.snapshot();
        if (match_impl(entry, goal, cause, depth, probe)) fitting.push_back(&entry);
        infer_.rollback(before);
    }
    if (fitting.size() > 1) {
        // Discard the impls whose own bounds fail.
        std::erase_if(fitting, [&](const ImplEntry* entry) {
            Selection probe;
            const auto before = infer_.snapshot();
            match_impl(*entry, goal, cause, depth, probe);
            item_obligations(entry->impl, probe.impl_args, cause, depth + 1, probe.nested);
            const Outcome outcome = evaluate_all(std::move(probe.nested), depth + 1);
            infer_.rollback(before);
            return outcome == Outcome::No;
        });
    }
    if (fitting.empty()) return Outcome::No;
    if (fitting.size() > 1) return types_.has(infer_.resolve(goal.args), types::kHasInfer) ? Outcome::Maybe : Outcome::Yes;
    match_impl(*fitting.front(), goal, cause, depth, out);
    item_obligations(fitting.front()->impl, out.impl_args, cause, depth + 1, out.nested);
    return Outcome::Yes;
}

Outcome Selector::select(const TraitRef& written, const Cause& cause, std::uint32_t depth, Selection& out) {
    const TraitRef goal{written.trait, infer_.resolve(written.args)};
    if (types_.has(goal.args, types::kHasError)) return Outcome::Yes;
    if (depth > kDepthLimit) {
        overflowed_ = true;
        return Outcome::No;
    }
    const TypeId self = types_[goal.args][0].as_type();
    if (infer_.is_type_var(self)) return Outcome::Maybe;
    if (const auto builtin = select_builtin(goal, cause, depth, out)) return *builtin;
    std::vector<TraitRef> bounds;
    collect_bounds(goal, bounds);
    if (!bounds.empty()) return select_bound(goal, bounds, out);
    return select_impl(goal, cause, depth, out);
}

// ---- evaluation -----------------------------------------------------------------------------------------------------------------------------

std::uint64_t Selector::cache_key(const TraitRef& goal) const {
    const bool generic = types_.has(goal.args, types::kHasParam | types::kHasProjection);
    const std::uint64_t env = generic && env_.owner.valid() ? env_.owner.raw + 1 : 0;
    return (static_cast<std::uint64_t>(goal.trait.raw) * 0x9E37'79B9'7F4A'7C15ull ^ goal.args.raw) * 0xFF51'AFD7'ED55'8CCDull ^ env << 1;
}

Outcome Selector::evaluate_all(std::vector<Obligation> nested, std::uint32_t depth) {
    if (depth > kDepthLimit) {
        overflowed_ = true;
        return Outcome::No;
    }
    Fulfill fulfill(*this);
    for (Obligation& obligation : nested) {
        obligation.depth = std::max(obligation.depth, depth);
        fulfill.add(std::move(obligation));
    }
    std::vector<FulfillError> errors;
    fulfill.run(errors);
    for (const FulfillError& error : errors) overflowed_ |= error.kind == FulfillError::Kind::Overflow;
    if (!errors.empty()) return Outcome::No;
    return fulfill.idle() ? Outcome::Yes : Outcome::Maybe;
}

// What an earlier query found about a goal without variables.
std::optional<Outcome> Selector::remembered(const TraitRef& goal) const {
    const auto& cache = cx_.state().evaluation_cache;
    const auto known = cache.find(cache_key(goal));
    if (known == cache.end() || known->second.goal != goal) return std::nullopt;
    return known->second.holds ? Outcome::Yes : Outcome::No;
}

Outcome Selector::evaluate_trait_goal(const TraitRef& goal, std::uint32_t depth) {
    Context::State& state = cx_.state();
    const bool under_raw_bounds = state.raw_envs != 0 && types_.has(goal.args, types::kHasParam | types::kHasProjection);
    const bool cacheable = !types_.has(goal.args, types::kHasInfer) && !under_raw_bounds && (closures_ == nullptr || !types_.has(goal.args, types::kHasClosure));
    const bool plain = !types_.has(goal.args, types::kHasInfer);
    if (plain) {
        if (const auto known = remembered(goal)) return *known;
        // A goal that needs itself: true for auto traits and Sized, which ask about parts; otherwise a cycle without a base.
        if (std::find(state.active_goals.begin(), state.active_goals.end(), goal) != state.active_goals.end()) {
            ++state.goal_cycles;
            const LangItems& lang = state.lang;
            const bool coinductive = goal.trait == lang.sized || goal.trait == lang.send || goal.trait == lang.sync;
            return coinductive ? Outcome::Yes : Outcome::No;
        }
    }
    const std::uint64_t cycles = state.goal_cycles;
    if (plain) state.active_goals.push_back(goal);
    Selection selection;
    Outcome outcome = select(goal, Cause{}, depth, selection);
    if (outcome == Outcome::Yes && !selection.nested.empty()) outcome = evaluate_all(std::move(selection.nested), depth + 1);
    if (plain) state.active_goals.pop_back();
    if (cacheable && outcome != Outcome::Maybe && cycles == state.goal_cycles && !overflowed_) {
        state.evaluation_cache[cache_key(goal)] = {goal, outcome == Outcome::Yes};
    }
    return outcome;
}

Outcome Selector::evaluate(const Predicate& predicate, std::uint32_t depth) {
    TraitRef goal;
    if (predicate.kind == Predicate::Kind::Trait) {
        goal = {predicate.trait_ref.trait, infer_.resolve(predicate.trait_ref.args)};
        if (!types_.has(goal.args, types::kHasInfer)) {
            if (const auto known = remembered(goal)) return *known;
        }
    }
    const auto before = infer_.snapshot();
    Outcome outcome = Outcome::Yes;
    if (predicate.kind == Predicate::Kind::Trait) {
        outcome = evaluate_trait_goal(goal, depth);
    } else {
        outcome = evaluate_all({Obligation{predicate, Cause{}, depth}}, depth);
    }
    infer_.rollback(before);
    return outcome;
}

Outcome Selector::evaluate_trait(TypeId type, DefId trait, std::uint32_t depth) {
    if (!trait.valid()) return Outcome::No;
    std::vector<GenericArg> args{type};
    const GenericsInfo& generics = cx_.generics_of(trait);
    for (std::size_t i = 1; i < generics.own.size(); ++i) args.push_back(infer_.new_var());
    Predicate predicate;
    predicate.trait_ref = {trait, types_.args(args)};
    return evaluate(predicate, depth);
}

}  // namespace ockc::check
