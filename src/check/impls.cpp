// An impl against its trait: what is missing, and whether each item has the form that the trait promises.
#include <fmt/format.h>

#include <algorithm>

#include "check/item_env.hpp"
#include "check/outlives.hpp"
#include "check/passes.hpp"
#include "types/fold.hpp"

namespace ockc::check {

using hir::DefKind;

namespace {

class ImplCheck {
  public:
    ImplCheck(Context& context, DefId impl)
        : cx_(context), program_(context.program()), types_(context.types()), impl_(impl), data_(context.program().as<hir::ImplDef>(impl)) {}

    void run() {
        cx_.type_of(impl_);
        cx_.predicates_of(impl_);
        if (!data_.has_trait) return;
        trait_ref_ = cx_.impl_trait_ref(impl_);
        if (!trait_ref_.valid() || types_.has(trait_ref_.args, types::kHasError)) return;
        safety();
        if (data_.is_negative) return;
        const bool is_adt = types_.kind(types_[trait_ref_.args][0].as_type()) == TypeKind::Adt;
        if (is_adt || trait_ref_.trait != cx_.state().lang.copy) requirements();   // E0206 says enough
        for (DefId item : data_.items) {
            if (!program_.defs[item].lowered) continue;
            const DefId promised = cx_.state().item_named(trait_ref_.trait, program_.defs[item].name.name);
            if (!promised.valid() || !program_.defs[promised].lowered || program_.defs[promised].kind != program_.defs[item].kind) continue;
            switch (program_.defs[item].kind) {
                case DefKind::AssocFn: method(item, promised); break;
                case DefKind::AssocConst: constant(item, promised); break;
                case DefKind::AssocTy: assoc_type(item, promised); break;
                default: break;
            }
        }
        missing_items();
        if (data_.derived) derived_fields();
    }

  private:
    Diagnostic& error(Code code, Span at, std::string message) { return cx_.sink().error(code, at, std::move(message)); }
    Span head() const { return data_.has_trait ? data_.trait_path.span : program_.types[data_.self_type].span; }
    std::string_view trait_name() const { return program_.name(trait_ref_.trait); }

    void safety() {
        const bool unsafe_trait = program_.as<hir::TraitDef>(trait_ref_.trait).is_unsafe;
        if (data_.is_negative && data_.is_unsafe) {
            error(Code::E0198, head(), "negative impls cannot be unsafe");
        } else if (unsafe_trait && !data_.is_unsafe && !data_.is_negative) {
            error(Code::E0200, program_.defs[impl_].span, fmt::format("the trait `{}` requires an `unsafe impl` declaration", trait_name()));
        } else if (!unsafe_trait && data_.is_unsafe) {
            error(Code::E0199, program_.defs[impl_].span, fmt::format("implementing the trait `{}` is not unsafe", trait_name()));
        }
    }

    // Supertraits and the trait's own bounds must hold for the implementing type.
    void requirements() {
        const bool adt = types_.kind(types_[trait_ref_.args][0].as_type()) == types::TypeKind::Adt;
        if (trait_ref_.trait == cx_.state().lang.copy && !adt) return;   // E0206: coherence.cpp
        ItemEnv env(cx_, impl_);
        const TypeData self = types_[types_[trait_ref_.args][0].as_type()];
        const Span at = data_.derived && self.kind == TypeKind::Adt ? program_.defs[self.def].name.span : program_.types[data_.self_type].span;
        env.well_formed(types_[trait_ref_.args][0].as_type(), at);
        for (const Predicate& written : cx_.predicates_of(trait_ref_.trait)) {
            if (written.kind != Predicate::Kind::Trait && written.kind != Predicate::Kind::Projection) continue;
            if (written.kind == Predicate::Kind::Trait && written.trait_ref.trait == trait_ref_.trait && written.trait_ref.args == cx_.identity_args(trait_ref_.trait)) continue;
            Predicate predicate = written;
            predicate.trait_ref.args = types_.subst(written.trait_ref.args, trait_ref_.args);
            if (written.term.kind() == GenericArg::Kind::Type) predicate.term = types_.subst(written.term.as_type(), trait_ref_.args);
            env.require(predicate, at);
        }
        env.finish();
        ItemOutlives known(cx_, impl_);
        known.assume(types_[trait_ref_.args][0].as_type());
        for (const Predicate& written : cx_.predicates_of(trait_ref_.trait)) {
            if (written.kind == Predicate::Kind::TypeOutlives) require_outlives(known, types_.subst(written.type, trait_ref_.args), written.region, at);
        }
    }

    // The trait item's arguments as the impl sees them: the trait's from the header, the item's own as the impl names them.
    ArgsId args_for(DefId item, DefId promised) {
        std::vector<GenericArg> args(types_[trait_ref_.args].begin(), types_[trait_ref_.args].end());
        const GenericsInfo& own = cx_.generics_of(item);
        std::vector<GenericArg> mine;
        const auto identity = types_[cx_.identity_args(item)];
        for (std::size_t i = own.parent_count; i < identity.size(); ++i) {
            if (identity[i].kind() != GenericArg::Kind::Region) mine.push_back(identity[i]);
        }
        std::size_t next = 0;
        for (const auto& param : cx_.generics_of(promised).own) {
            if (param.kind == hir::GenericParam::Kind::Lifetime) {
                args.push_back(types_.erased);
            } else if (next < mine.size()) {
                args.push_back(mine[next++]);
            }
        }
        return types_.args(args);
    }

    struct Counts {
        std::size_t types = 0, consts = 0;
    };
    Counts count(DefId item) {
        Counts out;
        for (const auto& param : cx_.generics_of(item).own) {
            switch (param.kind) {
                case hir::GenericParam::Kind::Lifetime: break;   // early_lifetime_count
                case hir::GenericParam::Kind::Type: ++out.types; break;
                case hir::GenericParam::Kind::Const: ++out.consts; break;
            }
        }
        return out;
    }

    // E0643: `impl Trait` for a parameter and a named one are not the same: callers may give the latter.
    bool spelt_otherwise(DefId item, DefId promised, std::string_view name) {
        using Param = GenericsInfo::Param;
        std::vector<const Param*> mine, theirs;
        const auto types_of = [&](DefId fn, std::vector<const Param*>& out) {
            for (const Param& param : cx_.generics_of(fn).own) {
                if (param.kind == hir::GenericParam::Kind::Type) out.push_back(&param);
            }
        };
        types_of(item, mine);
        types_of(promised, theirs);
        for (std::size_t i = 0; i < mine.size() && i < theirs.size(); ++i) {
            if (mine[i]->synthetic == theirs[i]->synthetic) continue;
            const Span span = program_.defs[mine[i]->def].name.span;
            error(Code::E0643, span, fmt::format("method `{}` has incompatible signature for trait: the type parameters do not have the same form", name))
                .label(span, mine[i]->synthetic ? "expected generic parameter, found `impl Trait`" : "expected `impl Trait`, found generic parameter")
                .label(program_.defs[theirs[i]->def].name.span, "declaration in trait here");
            return true;
        }
        return false;
    }

    void method(DefId item, DefId promised) {
        const hir::FnDef& mine = program_.as<hir::FnDef>(item);
        const hir::FnDef& theirs = program_.as<hir::FnDef>(promised);
        const std::string_view name = program_.name(item);
        const Span at = mine.sig.span;
        if (mine.sig.has_self && !theirs.sig.has_self) {
            error(Code::E0185, at, fmt::format("method `{}` has a `self` declaration in the impl, but not in the trait", name)).label(at, "`self` used in impl").label(theirs.sig.span, "trait method declared without `self`");
            return;
        }
        if (!mine.sig.has_self && theirs.sig.has_self) {
            error(Code::E0186, at, fmt::format("method `{}` has a `self` declaration in the trait, but not in the impl", name)).label(at, "expected `self` in impl").label(theirs.sig.span, "`self` used in trait");
            return;
        }
        const Counts a = count(item), b = count(promised);
        if (a.types != b.types || a.consts != b.consts) {
            const bool by_type = a.types != b.types;
            const std::size_t have = by_type ? a.types : a.consts, want = by_type ? b.types : b.consts;
            const hir::Generics& generics = mine.generics;
            error(Code::E0049, generics.span.valid() && !generics.params.empty() ? generics.span : program_.defs[item].name.span,
                  fmt::format("associated function `{}` has {} {} parameter{} but its trait declaration has {} {} parameter{}", name, have, by_type ? "type" : "const", have == 1 ? "" : "s", want,
                              by_type ? "type" : "const", want == 1 ? "" : "s"));
            return;
        }
        if (spelt_otherwise(item, promised, name)) return;
        if (early_lifetime_count(cx_, item) != early_lifetime_count(cx_, promised)) {
            error(Code::E0195, mine.generics.span.valid() && !mine.generics.params.empty() ? mine.generics.span : program_.defs[item].name.span,
                  fmt::format("lifetime parameters or bounds on associated function `{}` do not match the trait declaration", name))
                .label(program_.defs[item].name.span, "lifetimes do not match associated function in trait");
            return;
        }
        if (mine.sig.inputs.size() != theirs.sig.inputs.size()) {
            error(Code::E0050, mine.sig.inputs.empty() ? at : program_.types[mine.sig.inputs.back().type].span,
                  fmt::format("method `{}` has {} parameter{} but the declaration in trait `{}::{}` has {}", name, mine.sig.inputs.size(), mine.sig.inputs.size() == 1 ? "" : "s",
                              program_.path_text(trait_ref_.trait), name, theirs.sig.inputs.size()));
            return;
        }
        compare_signatures(item, promised, mine);
        compare_bounds(item, promised);
        compare_unnamed(item, promised, mine);
    }

    // What the trait's `impl Trait` promises must hold for the type that the impl has in its place.
    void compare_unnamed(DefId item, DefId promised, const hir::FnDef& mine) {
        const ArgsId args = args_for(item, promised);
        std::vector<DefId> unnamed;
        cx_.open_unnamed(promised, cx_.fn_sig(promised).output, [&](DefId def) {
            unnamed.push_back(def);
            return types_.error;
        });
        ItemEnv env(cx_, item);
        for (DefId def : unnamed) {
            for (const Predicate& written : cx_.item_bounds(def)) {
                if (written.kind != Predicate::Kind::Trait && written.kind != Predicate::Kind::Projection) continue;
                Predicate predicate = written;
                predicate.trait_ref.args = types_.subst(written.trait_ref.args, args);
                if (written.term.kind() == GenericArg::Kind::Type) predicate.term = types_.subst(written.term.as_type(), args);
                env.require(predicate, mine.sig.output_span);
            }
        }
        env.finish();
    }

    void compare_signatures(DefId item, DefId promised, const hir::FnDef& mine) {
        const ParamEnv& env = cx_.param_env(item);
        const FnSigInfo have = cx_.fn_sig(ItemRef{item, cx_.identity_args(item)});
        const FnSigInfo want = cx_.fn_sig(ItemRef{promised, args_for(item, promised)});
        const auto same = [&](TypeId a, TypeId b) {
            a = cx_.normalize(a, env);
            b = cx_.normalize(b, env);
            return a == b || types_.has(a, types::kHasError) || types_.has(b, types::kHasError);
        };
        const auto mismatch = [&](Span at, TypeId wanted, TypeId found) {
            error(Code::E0053, at, fmt::format("method `{}` has an incompatible type for trait", program_.name(item)))
                .label(at, fmt::format("expected `{}`, found `{}`", cx_.text(cx_.normalize(wanted, env)), cx_.text(cx_.normalize(found, env))))
                .note_at(program_.as<hir::FnDef>(promised).sig.span, "type in trait");
        };
        for (std::size_t i = 0; i < have.inputs.size(); ++i) {
            if (!same(have.inputs[i], want.inputs[i])) return mismatch(program_.types[mine.sig.inputs[i].type].span, want.inputs[i], have.inputs[i]);
        }
        if (!same(have.output, want.output)) mismatch(mine.sig.output_span.valid() ? mine.sig.output_span : mine.sig.span, want.output, have.output);
        if (have.is_unsafe != want.is_unsafe) {
            mismatch(mine.sig.span, types_.fn_ptr(want.inputs, want.output, want.is_unsafe), types_.fn_ptr(have.inputs, have.output, have.is_unsafe));
        }
    }

    // The impl's method may not demand more than the trait's.
    void compare_bounds(DefId item, DefId promised) {
        const std::size_t inherited = cx_.predicates_of(impl_).size();
        const std::vector<Predicate>& mine = cx_.predicates_of(item);
        const auto demands = [&](const Predicate& predicate) { return predicate.kind == Predicate::Kind::Trait && predicate.trait_ref.trait != cx_.state().lang.sized; };
        if (std::none_of(mine.begin() + static_cast<std::ptrdiff_t>(inherited), mine.end(), demands)) return;
        ParamEnv env;
        env.owner = item;
        const ArgsId args = args_for(item, promised);
        for (const Predicate& predicate : cx_.param_env(impl_).predicates) env.predicates.push_back(predicate);
        for (const Predicate& written : cx_.param_env(promised).predicates) {
            Predicate predicate = written;
            predicate.trait_ref.args = types_.erase_regions(types_.subst(written.trait_ref.args, args));
            if (predicate.term.kind() == GenericArg::Kind::Type) predicate.term = types_.erase_regions(types_.subst(written.term.as_type(), args));
            if (predicate.kind == Predicate::Kind::Trait && predicate.trait_ref.trait == trait_ref_.trait) continue;   // the impl at hand
            env.predicates.push_back(predicate);
        }
        cx_.state().evaluation_cache.clear();   // another environment under the method's name
        for (std::size_t i = inherited; i < mine.size(); ++i) {
            if (!demands(mine[i])) continue;
            InferCtxt infer(types_);
            Selector selector(cx_, infer, env);
            Predicate predicate = mine[i];
            predicate.trait_ref.args = types_.erase_regions(predicate.trait_ref.args);
            if (selector.evaluate(predicate) == Outcome::Yes) continue;
            error(Code::E0276, mine[i].span, "impl has stricter requirements than trait")
                .label(mine[i].span, fmt::format("impl has extra requirement `{}: {}`", cx_.text(types_[predicate.trait_ref.args][0].as_type()), program_.name(predicate.trait_ref.trait)));
            break;
        }
        cx_.state().evaluation_cache.clear();
    }

    void constant(DefId item, DefId promised) {
        const ParamEnv& env = cx_.param_env(item);
        const TypeId have = cx_.normalize(types_.erase_regions(cx_.type_of(item)), env);
        const TypeId want = cx_.normalize(types_.erase_regions(types_.subst(cx_.type_of(promised), args_for(item, promised))), env);
        if (have == want || types_.has(have, types::kHasError) || types_.has(want, types::kHasError)) return;
        const Span at = program_.types[program_.as<hir::ConstDef>(item).type].span;
        error(Code::E0326, at, fmt::format("implemented const `{}` has an incompatible type for trait", program_.name(item)))
            .label(at, fmt::format("expected `{}`, found `{}`", cx_.text(want), cx_.text(have)));
    }

    void assoc_type(DefId item, DefId promised) {
        const hir::TypeAliasDef& alias = program_.as<hir::TypeAliasDef>(item);
        if (!alias.type.valid()) return;
        const Span at = program_.types[alias.type].span;
        ItemEnv env(cx_, item);
        const TypeId type = cx_.type_of(item);
        env.well_formed(type, at);
        leaks_no_private_type(type, at);
        lifetimes(item, promised, type, at);
        for (const Predicate& written : cx_.item_bounds(promised)) {
            if (written.kind != Predicate::Kind::Trait && written.kind != Predicate::Kind::Projection) continue;
            Predicate predicate = written;
            predicate.trait_ref.args = types_.subst(written.trait_ref.args, args_for(item, promised));
            if (written.term.kind() == GenericArg::Kind::Type) predicate.term = types_.subst(written.term.as_type(), args_for(item, promised));
            env.require(predicate, at);
        }
        env.finish();
    }

    // The associated type may be formed, and outlives what the trait says.
    void lifetimes(DefId item, DefId promised, TypeId type, Span at) {
        if (!types_.has(type, types::kHasParam)) return;
        ItemOutlives known(cx_, item);
        for (const GenericArg arg : types_[trait_ref_.args]) {
            if (arg.kind() == GenericArg::Kind::Type) known.assume(arg.as_type());
        }
        known.well_formed(type, at);
        for (const Predicate& bound : cx_.item_bounds(promised)) {
            if (bound.kind == Predicate::Kind::TypeOutlives) require_outlives(known, type, bound.region, at);
        }
    }

    // `region` is the trait's.
    void require_outlives(ItemOutlives& known, TypeId type, RegionId region, Span at) {
        const types::RegionData data = types_[region];
        const auto args = types_[trait_ref_.args];
        if (data.kind == types::RegionKind::EarlyParam && data.index < args.size()) region = args[data.index].as_region();
        if (region.valid() && (region == types_.static_region || types_[region].kind == types::RegionKind::EarlyParam)) known.require(type, region, at);
    }

    // E0446: whoever sees the trait and its implementing type sees this type.
    void leaks_no_private_type(TypeId type, Span at) {
        hir::Visibility required = program_.defs[trait_ref_.trait].visibility;
        const auto narrow = [&](DefId def) {
            if (!at_least(program_.defs[def].visibility, required)) required = program_.defs[def].visibility;
        };
        for (const GenericArg arg : types_[trait_ref_.args]) {
            if (arg.kind() == GenericArg::Kind::Type) for_each_named(arg.as_type(), narrow);
        }
        bool reported = false;
        for_each_named(type, [&](DefId def) {
            const hir::Visibility& have = program_.defs[def].visibility;
            if (reported || at_least(have, required)) return;
            reported = true;
            const bool crate = have.module.valid() && !program_.defs[have.module].parent.valid();
            const std::string_view how = crate ? "crate-private" : have.module == module_of(def) ? "private" : "restricted";
            const std::string name(program_.name(def));
            error(Code::E0446, at, fmt::format("{} {} `{}` in public interface", how, program_.defs[def].kind == DefKind::Trait ? "trait" : "type", name))
                .label(at, fmt::format("can't leak {} {}", how, program_.defs[def].kind == DefKind::Trait ? "trait" : "type"))
                .label(program_.defs[def].name.span, fmt::format("`{}` declared as {}", name, how));
        });
    }

    // Structs, enums and the traits of projections in a type.
    template <class F>
    void for_each_named(TypeId type, F&& each) {
        types::walk(types_, type, [&](TypeId part) {
            const TypeData data = types_[part];
            if (data.kind == TypeKind::Adt) each(data.def);
            if (data.kind == TypeKind::Projection) each(trait_of_assoc(program_, data.def));
            return true;
        });
    }

    DefId module_of(DefId def) const {
        do def = program_.defs[def].parent;
        while (def.valid() && program_.defs[def].kind != DefKind::Mod && program_.defs[def].kind != DefKind::Crate);
        return def;
    }

    // Is everything that sees `b` allowed to see `a`?
    bool at_least(const hir::Visibility& a, const hir::Visibility& b) const {
        if (a.is_public) return true;
        if (b.is_public) return false;
        for (DefId def = b.module; def.valid(); def = program_.defs[def].parent) {
            if (def == a.module) return true;
        }
        return false;
    }

    // A derived impl uses the trait's functions on every field.
    void derived_fields() {
        const TypeData self = types_[types_[trait_ref_.args][0].as_type()];
        const LangItems& lang = cx_.state().lang;
        if (self.kind != TypeKind::Adt || trait_ref_.trait == lang.copy) return;   // Copy: coherence
        const hir::AdtDef& syntax = program_.as<hir::AdtDef>(self.def);
        const AdtInfo& adt = cx_.adt(self.def);
        // The default of an enum is a variant without fields.
        if (adt.kind == AdtInfo::Kind::Enum && program_.name(trait_ref_.trait) == "Default") return;
        const ParamEnv& env = cx_.param_env(impl_);
        for (std::size_t v = 0; v < adt.variants.size(); ++v) {
            for (std::size_t f = 0; f < adt.variants[v].fields.size(); ++f) {
                const TypeId field = cx_.field_type(adt.variants[v].fields[f], self.args, env);
                if (types_.has(field, types::kHasError) || field_has_trait(field, env)) continue;
                cx_.state().failed_derives.insert(impl_);
                derived_field_error(field, program_.types[syntax.variants[v].fields[f].type].span);
            }
        }
    }

    bool field_has_trait(TypeId field, const ParamEnv& env) {
        InferCtxt infer(types_);
        Selector selector(cx_, infer, env);
        std::vector<GenericArg> args;   // PartialEq<Self> and PartialOrd<Self>: the field with itself
        for (std::size_t i = 0; i < types_[trait_ref_.args].size(); ++i) args.push_back(field);
        Predicate predicate;
        predicate.trait_ref = {trait_ref_.trait, types_.args(args)};
        return selector.evaluate(predicate) == Outcome::Yes;
    }

    void derived_field_error(TypeId field, Span at) {
        const std::string who = cx_.text(field);
        if (trait_ref_.trait == cx_.state().lang.partial_eq) {
            error(Code::E0369, at, fmt::format("binary operation `==` cannot be applied to type `{}`", who)).note_at(head(), "needed by this derive");
        } else if (trait_ref_.trait == cx_.state().lang.partial_ord) {
            error(Code::E0277, at, fmt::format("can't compare `{0}` with `{0}`", who)).note_at(head(), "needed by this derive");
        } else {
            error(Code::E0277, at, fmt::format("the trait bound `{}: {}` is not satisfied", who, trait_name()))
                .label(at, fmt::format("the trait `{}` is not implemented for `{}`", trait_name(), who))
                .note_at(head(), "needed by this derive");
        }
    }

    void missing_items() {
        std::vector<std::string> missing;
        for (DefId item : program_.as<hir::TraitDef>(trait_ref_.trait).items) {
            const hir::Def& def = program_.defs[item];
            cx_.state().need(item);
            const DefId given = cx_.state().item_named(impl_, def.name.name);
            if ((given.valid() && program_.defs[given].kind == def.kind) || has_default(item)) continue;
            missing.push_back(fmt::format("`{}`", program_.name(item)));
        }
        if (missing.empty()) return;
        const Span whole = program_.defs[impl_].span;
        const Span at = head().valid() ? Span{whole.file, whole.begin, program_.types[data_.self_type].span.end} : whole;
        error(Code::E0046, at, fmt::format("not all trait items implemented, missing: {}", fmt::join(missing, ", ")))
            .label(at, fmt::format("missing {} in implementation", fmt::join(missing, ", ")));
    }

    bool has_default(DefId item) const {
        const hir::Def& def = program_.defs[item];
        if (const auto* fn = std::get_if<hir::FnDef>(&def.data)) return fn->has_body || fn->body.valid();
        if (const auto* constant = std::get_if<hir::ConstDef>(&def.data)) return !def.lowered || constant->body.valid();
        if (const auto* alias = std::get_if<hir::TypeAliasDef>(&def.data)) return def.lowered && alias->type.valid();
        return true;
    }

    Context& cx_;
    const hir::Program& program_;
    TypeStore& types_;
    DefId impl_;
    const hir::ImplDef& data_;
    TraitRef trait_ref_;
};

}  // namespace

void check_impl_items(Context& context, DefId impl) { ImplCheck(context, impl).run(); }

}  // namespace ockc::check
