// Coherence of the user's impls: who may implement what for whom, overlap, and the special rules of Copy, Drop and the traits that
// the compiler provides.
#include <fmt/format.h>

#include "check/passes.hpp"
#include "check/solve.hpp"
#include "types/fold.hpp"

namespace ockc::check {

using hir::DefKind;

namespace {

class Coherence {
  public:
    explicit Coherence(Context& context) : cx_(context), program_(context.program()), types_(context.types()), state_(context.state()) {}

    void run() {
        const std::vector<DefId> impls = program_.impls;   // the library's may grow
        for (DefId impl : impls) {
            if (is_library(impl)) continue;
            const hir::ImplDef& data = program_.as<hir::ImplDef>(impl);
            const TypeId self = types_.erase_regions(cx_.type_of(impl));
            if (types_.has(self, types::kHasError)) continue;
            if (data.has_trait) {
                trait_impl(impl, data, self);
            } else {
                inherent_impl(impl, data, self);
            }
            unconstrained(impl, data, self);
        }
        inherent_overlap();
    }

  private:
    Diagnostic& error(Code code, Span at, std::string message) { return cx_.sink().error(code, at, std::move(message)); }
    bool is_library(DefId def) const { return program_.crates[program_.defs[def].crate].is_library; }
    Span self_span(const hir::ImplDef& data) const { return program_.types[data.self_type].span; }
    // From `impl` to the type.
    Span head(DefId impl, const hir::ImplDef& data) const {
        const Span whole = program_.defs[impl].span;
        return {whole.file, whole.begin, self_span(data).end};
    }

    // ---- inherent impls
    void inherent_impl(DefId impl, const hir::ImplDef& data, TypeId self) {
        const TypeData type = types_[self];
        const Span at = self_span(data);
        switch (type.kind) {
            case TypeKind::Adt:
                if (!is_library(type.def)) return;
                error(Code::E0116, head(impl, data), "cannot define inherent `impl` for a type outside of the crate where the type is defined")
                    .label(head(impl, data), "impl for type defined outside of crate")
                    .help("define a trait and implement it, or wrap the type in a struct of this file");
                return;
            case TypeKind::Param:
            case TypeKind::Projection:
            case TypeKind::Opaque:
                error(Code::E0118, at, fmt::format("no nominal type found for inherent implementation")).label(at, "impl requires a nominal type");
                return;
            case TypeKind::Error: return;
            default:
                error(Code::E0390, head(impl, data), "cannot define inherent `impl` for primitive types").help("consider using an extension trait instead");
                return;
        }
    }

    void inherent_overlap() {
        std::unordered_map<std::uint64_t, std::vector<DefId>> by_name;
        const std::vector<DefId> impls = program_.impls;
        for (DefId impl : impls) {
            const hir::ImplDef& data = program_.as<hir::ImplDef>(impl);
            if (data.has_trait || is_library(impl)) continue;
            const TypeKey key = type_key(types_, types_.erase_regions(cx_.type_of(impl)));
            for (DefId item : data.items) {
                std::vector<DefId>& others = by_name[key * 0x9E37'79B9'7F4A'7C15ull ^ program_.defs[item].name.name.raw];
                for (DefId other : others) {
                    if (program_.defs[other].name.name != program_.defs[item].name.name) continue;
                    if (program_.defs[other].parent == impl) {
                        error(Code::E0592, program_.defs[item].name.span, fmt::format("duplicate definitions with name `{}`", program_.name(item)))
                            .label(program_.defs[item].name.span, fmt::format("duplicate definitions for `{}`", program_.name(item)))
                            .label(program_.defs[other].name.span, fmt::format("other definition for `{}`", program_.name(item)));
                        break;
                    }
                    if (!headers_overlap(program_.defs[other].parent, impl)) continue;
                    error(Code::E0592, program_.defs[other].name.span, fmt::format("duplicate definitions with name `{}`", program_.name(item)))
                        .label(program_.defs[other].name.span, fmt::format("duplicate definitions for `{}`", program_.name(item)))
                        .label(program_.defs[item].name.span, fmt::format("other definition for `{}`", program_.name(item)));
                    break;
                }
                others.push_back(item);
            }
        }
    }

    bool headers_overlap(DefId a, DefId b) {
        InferCtxt infer(types_);
        Selector selector(cx_, infer, cx_.empty_env());
        const auto header = [&](DefId impl) { return types_.erase_regions(types_.subst(cx_.type_of(impl), selector.fresh_args(impl, {}))); };
        return infer.unify(header(a), header(b));
    }

    // ---- trait impls
    void trait_impl(DefId impl, const hir::ImplDef& data, TypeId self) {
        const TraitRef trait_ref = cx_.impl_trait_ref(impl);
        if (!trait_ref.valid() || types_.has(trait_ref.args, types::kHasError)) return;
        const LangItems& lang = state_.lang;
        const bool is_local = orphan(impl, data, trait_ref);
        if (!is_local && trait_ref.trait == lang.drop) drop_impl(impl, data, self);   // these say more than E0117
        if (!is_local && trait_ref.trait == lang.copy && types_.kind(self) != TypeKind::Adt) copy_impl(impl, data, self);
        if (!is_local) return;
        if (trait_ref.trait == lang.sized) {
            error(Code::E0322, head(impl, data), "explicit impls for the `Sized` trait are not permitted").label(head(impl, data), "impl of `Sized` not allowed");
        } else if (trait_ref.trait == lang.fn_trait || trait_ref.trait == lang.fn_mut || trait_ref.trait == lang.fn_once) {
            error(Code::E0183, head(impl, data), fmt::format("manual implementations of `{}` are experimental", program_.name(trait_ref.trait)));
        } else if (trait_ref.trait == lang.copy) {
            copy_impl(impl, data, self);
        } else if (trait_ref.trait == lang.drop) {
            drop_impl(impl, data, self);
        }
        overlap(impl, data, trait_ref);
    }

    // A foreign trait may be implemented only when a local type stands first.
    bool orphan(DefId impl, const hir::ImplDef& data, const TraitRef& trait_ref) {
        if (!is_library(trait_ref.trait)) return true;
        for (GenericArg arg : types_[trait_ref.args]) {
            if (arg.kind() != GenericArg::Kind::Type) continue;
            TypeId type = arg.as_type();
            while (types_.kind(type) == TypeKind::Ref) type = types_[type].element;   // references are fundamental
            const TypeData t = types_[type];
            if (t.kind == TypeKind::Adt && !is_library(t.def)) return true;
            if (t.kind == TypeKind::Error) return true;
            if (t.kind != TypeKind::Param) continue;
            const std::string name = cx_.text(type);
            error(Code::E0210, head(impl, data), fmt::format("type parameter `{}` must be used as an argument to some local type", name))
                .note("implementing a foreign trait is only possible if at least one of the types for which it is implemented is local");
            return false;
        }
        const TypeId self = types_[trait_ref.args][0].as_type();
        const TypeKind kind = types_.kind(self);
        const bool primitive = kind != TypeKind::Adt && kind != TypeKind::Param;
        error(Code::E0117, head(impl, data), fmt::format("only traits defined in the current crate can be implemented for {}", primitive ? "primitive types" : "types defined outside of the crate"))
            .label(self_span(data), fmt::format("`{}` is not defined in the current crate", cx_.text(self)))
            .help("define and implement a trait or new type instead");
        return false;
    }

    void copy_impl(DefId impl, const hir::ImplDef& data, TypeId self) {
        const TypeData type = types_[self];
        if (type.kind != TypeKind::Adt) {
            error(Code::E0206, self_span(data), "the trait `Copy` cannot be implemented for this type").label(self_span(data), "type is not a structure or enumeration");
            return;
        }
        const ParamEnv& env = cx_.param_env(impl);
        const hir::AdtDef& syntax = program_.as<hir::AdtDef>(type.def);
        const AdtInfo& adt = cx_.adt(type.def);
        for (std::size_t v = 0; v < adt.variants.size(); ++v) {
            for (std::size_t f = 0; f < adt.variants[v].fields.size(); ++f) {
                const TypeId field = cx_.field_type(adt.variants[v].fields[f], type.args, env);
                if (types_.has(field, types::kHasError) || cx_.is_copy(field, env)) continue;
                const Span where = data.derived ? program_.defs[type.def].name.span : self_span(data);
                error(Code::E0204, where, fmt::format("the trait `Copy` cannot be implemented for type `{}`", cx_.text(self)))
                    .label(syntax.variants[v].fields[f].span, "this field does not implement `Copy`");
                return;
            }
        }
        if (cx_.drop_impl(self).valid()) {
            error(Code::E0184, data.derived ? program_.defs[type.def].name.span : self_span(data), "the trait `Copy` cannot be implemented for type `" + cx_.text(self) + "`; the type has a destructor")
                .label(self_span(data), "`Copy` not allowed on types with destructors");
        }
    }

    void drop_impl(DefId impl, const hir::ImplDef& data, TypeId self) {
        const TypeData type = types_[self];
        if (type.kind != TypeKind::Adt || is_library(type.def)) {
            if (type.kind != TypeKind::Adt) error(Code::E0120, self_span(data), "the `Drop` trait may only be implemented for local structs, enums, and unions").label(self_span(data), "must be a struct, enum, or union in the current crate");
            return;
        }
        // Each argument a parameter of its own, and no bound that the type lacks.
        std::unordered_set<std::uint32_t> seen;
        for (GenericArg arg : types_[type.args]) {
            const bool param = arg.kind() == GenericArg::Kind::Type    ? types_.kind(arg.as_type()) == TypeKind::Param && seen.insert(types_[arg.as_type()].index).second
                               : arg.kind() == GenericArg::Kind::Const ? types_[arg.as_const()].kind == types::ConstKind::Param && seen.insert(types_[arg.as_const()].index).second
                                                                       : true;
            if (param) continue;
            error(Code::E0366, head(impl, data), "`Drop` impls cannot be specialized").note("the `Drop` impl must cover every instance of the type");
            return;
        }
        ParamEnv type_env;
        type_env.owner = impl;
        for (const Predicate& written : cx_.param_env(type.def).predicates) {
            Predicate predicate = written;
            predicate.trait_ref.args = types_.erase_regions(types_.subst(written.trait_ref.args, type.args));
            if (predicate.term.kind() == GenericArg::Kind::Type) predicate.term = types_.erase_regions(types_.subst(written.term.as_type(), type.args));
            type_env.predicates.push_back(predicate);
        }
        state_.evaluation_cache.clear();
        for (const Predicate& written : cx_.predicates_of(impl)) {
            if (written.kind != Predicate::Kind::Trait) continue;
            InferCtxt infer(types_);
            Selector selector(cx_, infer, type_env);
            Predicate predicate = written;
            predicate.trait_ref.args = types_.erase_regions(predicate.trait_ref.args);
            if (selector.evaluate(predicate) == Outcome::Yes) continue;
            error(Code::E0367, written.span, fmt::format("`Drop` impl requires `{}: {}` but the {} it is implemented for does not", cx_.text(types_[predicate.trait_ref.args][0].as_type()),
                                                         program_.name(predicate.trait_ref.trait), hir::def_kind_text(program_.defs[type.def].kind)));
            break;
        }
        state_.evaluation_cache.clear();
    }

    // Derived impls come after those written out.
    bool is_later(DefId a, DefId b) {
        const bool derived_a = program_.as<hir::ImplDef>(a).derived, derived_b = program_.as<hir::ImplDef>(b).derived;
        return derived_a != derived_b ? derived_a : a > b;
    }

    // Could one type implement the trait by both impls?
    void overlap(DefId impl, const hir::ImplDef& data, const TraitRef& trait_ref) {
        const TypeId self = types_.erase_regions(types_[trait_ref.args][0].as_type());
        const bool blanket = type_key(types_, self) == 0;
        for (const ImplEntry& other : blanket ? state_.impls(trait_ref.trait) : state_.impls_for(trait_ref.trait, self)) {
            if (other.impl == impl) continue;
            if (!is_library(other.impl) && is_later(other.impl, impl)) continue;   // each pair once, at the later impl
            if (!overlaps(impl, other.impl)) continue;
            Diagnostic& diagnostic = error(Code::E0119, head(impl, data), fmt::format("conflicting implementations of trait `{}` for type `{}`", program_.name(trait_ref.trait), cx_.text(types_[trait_ref.args][0].as_type())));
            diagnostic.label(head(impl, data), fmt::format("conflicting implementation for `{}`", cx_.text(types_[trait_ref.args][0].as_type())));
            if (!is_library(other.impl)) {
                diagnostic.label(head(other.impl, program_.as<hir::ImplDef>(other.impl)), "first implementation here");
            } else {
                diagnostic.note(fmt::format("conflicting implementation in crate `{}`", program_.interner.text(program_.crates[program_.defs[other.impl].crate].name)));
            }
            return;
        }
        builtin_overlap(impl, data, trait_ref);
    }

    // Copy and Clone of built-in types are the compiler's.
    void builtin_overlap(DefId impl, const hir::ImplDef& data, const TraitRef& trait_ref) {
        if (trait_ref.trait != state_.lang.clone) return;
        const TypeKind kind = types_.kind(types_[trait_ref.args][0].as_type());
        if (kind != TypeKind::Param) return;
        error(Code::E0119, head(impl, data), "conflicting implementations of trait `Clone`");
    }

    bool overlaps(DefId a, DefId b) {
        InferCtxt infer(types_);
        Selector selector(cx_, infer, cx_.empty_env());
        const ArgsId args_a = selector.fresh_args(a, {}), args_b = selector.fresh_args(b, {});
        const auto header = [&](DefId impl, ArgsId args) { return types_.subst(types_.erase_regions(cx_.impl_trait_ref(impl).args), args); };
        std::vector<Obligation> nested;
        const ArgsId x = selector.normalize(header(a, args_a), Cause{}, 0, nested), y = selector.normalize(header(b, args_b), Cause{}, 0, nested);
        if (!infer.unify(x, y)) return false;
        selector.item_obligations(a, args_a, Cause{}, 0, nested);
        selector.item_obligations(b, args_b, Cause{}, 0, nested);
        for (const Obligation& obligation : nested) {
            if (selector.evaluate(obligation.predicate) != Outcome::No) continue;
            if (negation_is_sure(infer, obligation.predicate)) return false;
        }
        return true;
    }

    // A foreign trait may yet be implemented for a foreign type, so its absence proves nothing.
    bool negation_is_sure(InferCtxt& infer, const Predicate& predicate) {
        if (predicate.kind != Predicate::Kind::Trait) return true;
        const DefId trait = predicate.trait_ref.trait;
        if (!is_library(trait)) return true;
        TypeId self = infer.resolve(types_[predicate.trait_ref.args][0].as_type());
        while (types_.kind(self) == TypeKind::Ref) self = types_[self].element;
        const TypeData data = types_[self];
        if (data.kind == TypeKind::Adt && !is_library(data.def)) return true;
        return trait == state_.lang.sized;
    }

    // ---- E0207
    void unconstrained(DefId impl, const hir::ImplDef& data, TypeId self) {
        std::unordered_set<std::uint32_t> known;
        const auto add = [&](TypeId type) {
            types::walk(types_, type, [&](TypeId part) {
                const TypeData t = types_[part];
                if (t.kind == TypeKind::Param) known.insert(t.index);
                if (t.kind == TypeKind::Array && types_[t.length].kind == types::ConstKind::Param) known.insert(types_[t.length].index);
                if (t.args.valid() && t.kind != TypeKind::Projection) {
                    for (GenericArg arg : types_[t.args]) {
                        if (arg.kind() == GenericArg::Kind::Const && types_[arg.as_const()].kind == types::ConstKind::Param) known.insert(types_[arg.as_const()].index);
                    }
                }
                return t.kind != TypeKind::Projection;   // a projection does not determine its arguments
            });
        };
        add(self);
        if (data.has_trait) {
            const TraitRef trait_ref = cx_.impl_trait_ref(impl);
            if (!trait_ref.valid()) return;
            for (GenericArg arg : types_[trait_ref.args]) {
                if (arg.kind() == GenericArg::Kind::Type) add(arg.as_type());
                if (arg.kind() == GenericArg::Kind::Const && types_[arg.as_const()].kind == types::ConstKind::Param) known.insert(types_[arg.as_const()].index);
            }
        }
        // `T: Iterator<Item = U>` determines U once T is.
        for (bool grew = true; grew;) {
            grew = false;
            for (const Predicate& predicate : cx_.predicates_of(impl)) {
                if (predicate.kind != Predicate::Kind::Projection || predicate.term.kind() != GenericArg::Kind::Type) continue;
                bool inputs_known = true;
                for (GenericArg arg : types_[predicate.trait_ref.args]) {
                    if (arg.kind() != GenericArg::Kind::Type) continue;
                    types::walk(types_, arg.as_type(), [&](TypeId part) {
                        if (types_.kind(part) == TypeKind::Param && known.count(types_[part].index) == 0) inputs_known = false;
                        return true;
                    });
                }
                const std::size_t before = known.size();
                if (inputs_known) add(predicate.term.as_type());
                grew |= known.size() != before;
            }
        }
        const GenericsInfo& generics = cx_.generics_of(impl);
        for (std::uint32_t i = 0; i < generics.own.size(); ++i) {
            const auto& param = generics.own[i];
            if (param.kind == hir::GenericParam::Kind::Lifetime || known.count(generics.parent_count + i) != 0) continue;
            const bool is_const = param.kind == hir::GenericParam::Kind::Const;
            const Span at = program_.defs[param.def].name.span;
            error(Code::E0207, at, fmt::format("the {} parameter `{}` is not constrained by the impl trait, self type, or predicates", is_const ? "const" : "type", program_.interner.text(param.name)))
                .label(at, fmt::format("unconstrained {} parameter", is_const ? "const" : "type"));
        }
    }

    Context& cx_;
    const hir::Program& program_;
    TypeStore& types_;
    Context::State& state_;
};

}  // namespace

void check_coherence(Context& context) { Coherence(context).run(); }

}  // namespace ockc::check
