#include "check/lower_ty.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "types/fold.hpp"

namespace ockc::check {

using hir::DefKind;
using types::Mutability;

TypeLowerer::TypeLowerer(Context& context, DefId owner, ElidedRegion elided)
    : cx_(context), types_(context.types()), program_(context.program()), owner_(owner), elided_(elided) {}

Diagnostic* TypeLowerer::error(Code code, Span span, std::string message) {
    failed_ = true;
    if (quiet_) {
        ignored_ = Diagnostic();
        return &ignored_;
    }
    return &cx_.sink().error(code, span, std::move(message));
}

TypeId TypeLowerer::infer_type(Span span) {
    error(Code::E0121, span, "the placeholder `_` is not allowed within types on item signatures")->label(span, "not allowed in type signatures");
    return types_.error;
}

ConstId TypeLowerer::infer_const(TypeId, Span span) {
    infer_type(span);
    return types_.error_const;
}

TypeId TypeLowerer::lower_result(hir::TyId id) {
    if (std::holds_alternative<hir::NeverTy>(program_.types[id].data)) return types_.never;
    return lower(id);
}

TypeId TypeLowerer::lower(hir::TyId id) {
    const hir::Ty& type = program_.types[id];
    return std::visit(ast::Overloaded{
                          [&](std::monostate) { return types_.error; },
                          [&](const hir::InferTy&) { return infer_type(type.span); },
                          [&](const hir::NeverTy&) {
                              const bool is_library = program_.crates[program_.defs[owner_].crate].is_library;
                              if (!is_library) error(Code::E0658, type.span, "the `!` type is experimental")->help("only the result of a function may be `!`");
                              return types_.never;
                          },
                          [&](const hir::PathTy& path) { return lower_path(*path.path); },
                          [&](const hir::RefTy& ref) {
                              const RegionId region = lower_lifetime(ref.lifetime, type.span);
                              return types_.ref(region, lower(ref.inner), ref.mutability);
                          },
                          [&](const hir::RawPtrTy& ptr) { return types_.raw_ptr(lower(ptr.inner), ptr.mutability); },
                          [&](const hir::SliceTy& slice) { return types_.slice(lower(slice.element)); },
                          [&](const hir::ArrayTy& array) { return lower_array(array); },
                          [&](const hir::TupleTy& tuple) {
                              std::vector<TypeId> elements;
                              for (hir::TyId element : tuple.elements) elements.push_back(lower(element));
                              return types_.tuple(elements);
                          },
                          [&](const hir::FnPtrTy& fn) { return lower_fn_ptr(fn.fn); },
                          [&](const hir::ImplTraitTy& opaque) { return lower_opaque(opaque.def); },
                          [&](const hir::ErrorTy&) {
                              failed_ = true;
                              return types_.error;
                          },
                      },
                      type.data);
}

TypeId TypeLowerer::lower_array(const hir::ArrayTy& array) {
    const TypeId element = lower(array.element);
    if (!array.length.valid()) return types_.array(element, infer_const(types_.usize(), program_.types[array.element].span));
    return types_.array(element, lower_const_arg(array.length, types_.usize()));
}

TypeId TypeLowerer::lower_fn_ptr(const hir::BareFn& fn) {
    const ElidedRegion saved = elided_;
    const RegionId saved_output = output_region_;
    if (!in_body()) elided_ = ElidedRegion::Bound;
    std::vector<TypeId> inputs;
    for (hir::TyId input : fn.inputs) inputs.push_back(lower(input));
    if (!in_body()) elided_ = ElidedRegion::Output;
    output_region_ = chosen_by(inputs);
    const TypeId output = fn.output.valid() ? lower_result(fn.output) : types_.unit;
    elided_ = saved;
    output_region_ = saved_output;
    if (fn.output.valid()) check_chosen(Code::E0581, inputs, output, program_.types[fn.output].span, "return type");
    return types_.fn_ptr(inputs, output, fn.is_unsafe);
}

RegionId TypeLowerer::elided_region(Span span) {
    switch (elided_) {
        case ElidedRegion::Erased: return types_.erased;
        case ElidedRegion::Static: return types_.static_region;
        case ElidedRegion::Fresh: return types_.region({types::RegionKind::LateParam, owner_, fresh_regions_++, {}});
        case ElidedRegion::Bound: return types_.region({types::RegionKind::Bound, owner_, fresh_regions_++, {}});
        case ElidedRegion::Output:
            if (output_region_.valid()) return output_region_;
            break;
        case ElidedRegion::Error: break;
    }
    static_cast<void>(span);   // a missing lifetime is reported by name resolution
    failed_ = true;
    return types_.error_region;
}

RegionId TypeLowerer::lower_lifetime(const hir::Lifetime& lifetime, Span where) {
    switch (lifetime.kind) {
        case hir::Lifetime::Kind::Elided:
        case hir::Lifetime::Kind::Infer: return elided_region(lifetime.ident.span.valid() ? lifetime.ident.span : where);
        case hir::Lifetime::Kind::Static: return types_.static_region;
        case hir::Lifetime::Kind::Error: return types_.error_region;
        case hir::Lifetime::Kind::Param: break;
    }
    const DefId owner = program_.defs[lifetime.param].parent;
    const hir::Generics* generics = owner.valid() ? hir_generics(program_, owner) : nullptr;
    if (generics != nullptr) {
        const GenericsInfo& info = cx_.generics_of(owner);
        for (std::uint32_t i = 0; i < info.own.size(); ++i) {
            if (info.own[i].def == lifetime.param) {
                return types_.region({types::RegionKind::EarlyParam, lifetime.param, info.parent_count + i, lifetime.ident.name});
            }
        }
    }
    return types_.region({types::RegionKind::Bound, lifetime.param, 0, lifetime.ident.name});
}

TypeId TypeLowerer::param_type(DefId param) {
    const DefId owner = program_.defs[param].parent;
    const GenericsInfo& info = cx_.generics_of(owner);
    for (std::uint32_t i = 0; i < info.own.size(); ++i) {
        if (info.own[i].def == param) return types_.param(info.parent_count + i, info.own[i].name);
    }
    return types_.error;
}

// ---- paths ----------------------------------------------------------------------------------------------------------------------

TypeId TypeLowerer::lower_path(const hir::QPath& path) {
    if (path.kind == hir::QPath::Kind::Resolved) return lower_resolved(path);
    return assoc_type(lower(path.self_type), path);
}

void TypeLowerer::forbid_args(const hir::PathSegment& segment, std::string_view what) {
    if (segment.args == nullptr || segment.args->args.empty()) return;
    error(Code::E0109, segment.args->args[0].span, fmt::format("generic arguments are not allowed on {}", what))
        ->label(segment.args->args[0].span, "generic argument not allowed");
}

TypeId TypeLowerer::lower_resolved(const hir::QPath& qpath) {
    const hir::Path& path = qpath.path;
    if (path.res.kind != hir::Res::Kind::Def || program_.defs[path.res.def].kind != DefKind::AssocTy) return lower_type_path(path);
    const DefId assoc = path.res.def;
    const DefId trait = program_.defs[assoc].parent;
    if (!qpath.self_type.valid()) {
        if (program_.defs[trait].kind == DefKind::Impl) return cx_.type_of(assoc);
        error(Code::E0223, path.span, "ambiguous associated type");
        return types_.error;
    }
    const TypeId self = lower(qpath.self_type);
    const std::size_t n = path.segments.size();
    const hir::GenericArgs* trait_args = n >= 2 ? path.segments[n - 2].args : nullptr;
    const GenericArg prefix[] = {self};
    const ArgsId trait_ref = lower_args(trait, prefix, trait_args, path.span, false);
    const ArgsId all = lower_args(assoc, types_[trait_ref], path.segments.back().args, path.span, false);
    return types_.projection(assoc, all);
}

namespace {
TypeId prim_type(TypeStore& types, hir::PrimTy prim) {
    switch (prim) {
        case hir::PrimTy::Bool: return types.boolean;
        case hir::PrimTy::Char: return types.character;
        case hir::PrimTy::Str: return types.str;
#define OCKC_ROW(name, ...) \
    case hir::PrimTy::name: return types.int_type(types::IntKind::name);
            OCKC_PRIM_INTS(OCKC_ROW)
#undef OCKC_ROW
#define OCKC_ROW(name, ...) \
    case hir::PrimTy::name: return types.float_type(types::FloatKind::name);
            OCKC_PRIM_FLOATS(OCKC_ROW)
#undef OCKC_ROW
    }
    return types.error;
}
}  // namespace

TypeId TypeLowerer::lower_type_path(const hir::Path& path) {
    const bool infer_missing = std::exchange(infer_next_path_, false);
    const hir::Res& res = path.res;
    switch (res.kind) {
        case hir::Res::Kind::Error: failed_ = true; return types_.error;
        case hir::Res::Kind::Local:
        case hir::Res::Kind::SelfCtor: return types_.error;
        case hir::Res::Kind::Prim:
            if (path.segments.back().args != nullptr) forbid_args(path.segments.back(), fmt::format("builtin type `{}`", program_.interner.text(path.segments.back().ident.name)));
            return prim_type(types_, res.prim);
        case hir::Res::Kind::SelfParam:
            forbid_args(path.segments.back(), "self type");
            return types_.param(0, program_.interner.intern("Self"));
        case hir::Res::Kind::SelfAlias:
            forbid_args(path.segments.back(), "self type");
            return cx_.type_of(res.def);
        case hir::Res::Kind::Def: break;
    }
    const hir::PathSegment& last = path.segments.back();
    switch (program_.defs[res.def].kind) {
        case DefKind::Struct:
        case DefKind::Union:
        case DefKind::Enum: return types_.adt(res.def, lower_args(res.def, {}, last.args, path.span, infer_missing));
        case DefKind::TyAlias: {
            const ArgsId args = lower_args(res.def, {}, last.args, path.span, infer_missing);
            return types_.subst(cx_.type_of(res.def), args);
        }
        case DefKind::TyParam:
            if (last.args != nullptr) forbid_args(last, fmt::format("type parameter `{}`", program_.interner.text(last.ident.name)));
            return param_type(res.def);
        case DefKind::Trait:
            error(Code::E0782, path.span, "expected a type, found a trait")
                ->help("`dyn Trait` is not part of the language: take a generic parameter with that bound");
            return types_.error;
        case DefKind::Opaque:   // of a host crate: refused by name resolution
        default:   // everything else is a value or module: name resolution has refused it
            failed_ = true;
            return types_.error;
    }
}

// ---- generic arguments ------------------------------------------------------------------------------------------------------------

namespace {
std::string plural(std::size_t n, std::string_view noun) { return fmt::format("{} {}{}", n, noun, n == 1 ? "" : "s"); }
}  // namespace

// Are more lifetimes given than those that a use of the function fixes, when others are left to each call?
bool TypeLowerer::late_lifetimes(DefId item, std::size_t declared, std::size_t given) {
    const DefKind kind = program_.defs[item].kind;
    if (kind != DefKind::Fn && kind != DefKind::AssocFn) return false;
    const std::size_t early = early_lifetime_count(cx_, item);
    return early < declared && given > early;
}

void TypeLowerer::check_arg_count(DefId item, const GenericsInfo& generics, const hir::GenericArgs* args, Span span, bool infer_missing) {
    std::size_t lifetimes = 0, others = 0, want_lifetimes = 0, want_max = 0, want_min = 0;
    bool has_types = false, has_consts = false;
    for (const auto& param : generics.own) {
        if (!param.def.valid() || param.synthetic) continue;
        if (param.kind == hir::GenericParam::Kind::Lifetime) {
            ++want_lifetimes;
            continue;
        }
        ++want_max;
        want_min += param.has_default ? 0 : 1;
        (param.kind == hir::GenericParam::Kind::Type ? has_types : has_consts) = true;
    }
    if (args != nullptr) {
        for (const auto& arg : args->args) {
            const bool is_lifetime = arg.kind == hir::GenericArg::Kind::Lifetime;
            if (is_lifetime && others != 0) out_of_order(arg.span, "lifetime provided when a type was expected");
            ++(is_lifetime ? lifetimes : others);
        }
    }
    const hir::Def& def = program_.defs[item];
    const std::string_view kind_text = hir::def_kind_text(def.kind);
    const std::string_view noun = !has_consts ? "generic argument" : !has_types ? "const argument" : "generic argument";
    const bool lent = def.kind == DefKind::AssocTy && want_lifetimes != 0 && lifetimes == 0;   // nothing to infer them from
    if (lent && elided_ != ElidedRegion::Erased) {
        error(Code::E0107, span, fmt::format("missing generics for {} `{}`", kind_text, program_.name(item)))
            ->label(span, fmt::format("expected {}", plural(want_lifetimes, "lifetime argument")))
            .note_at(def.name.span, "defined here");
    } else if (lifetimes != 0 && late_lifetimes(item, want_lifetimes, lifetimes)) {
        error(Code::E0794, args->args[0].span, "cannot specify lifetime arguments explicitly if late bound lifetime parameters are present")
            ->note_at(def.name.span, "its lifetimes are chosen at each call");
    } else if (lifetimes > want_lifetimes || (lifetimes != 0 && lifetimes < want_lifetimes)) {
        error(Code::E0107, span, fmt::format("{} takes {} but {} {} supplied", kind_text, plural(want_lifetimes, "lifetime argument"),
                                             plural(lifetimes, "lifetime argument"), lifetimes == 1 ? "was" : "were"))
            ->note_at(def.name.span, "defined here");
    }
    if (others > want_max) {
        error(Code::E0107, span, fmt::format("{} takes {} but {} {} supplied", kind_text, plural(want_max, noun), plural(others, noun), others == 1 ? "was" : "were"))
            ->note_at(def.name.span, "defined here");
    } else if (others < want_min && others == 0 && !infer_missing) {
        error(Code::E0107, span, fmt::format("missing generics for {} `{}`", kind_text, program_.name(item)))
            ->label(span, fmt::format("expected {}", plural(want_min, noun)))
            .note_at(def.name.span, "defined here");
    } else if (others < want_min && others != 0) {
        error(Code::E0107, span, fmt::format("{} takes {} but {} {} supplied", kind_text, plural(want_min, noun), plural(others, noun), others == 1 ? "was" : "were"))
            ->note_at(def.name.span, "defined here");
    }
}

// One message a list: the others follow from it.
void TypeLowerer::out_of_order(Span span, std::string message) {
    failed_ = true;
    if (!std::exchange(out_of_order_, true)) error(Code::E0747, span, std::move(message));
}

GenericArg TypeLowerer::lower_arg(const GenericsInfo::Param& param, const hir::GenericArg& arg) {
    const bool want_type = param.kind == hir::GenericParam::Kind::Type;
    if (arg.kind == hir::GenericArg::Kind::Type) {
        if (want_type) return lower(arg.type);
        if (std::holds_alternative<hir::InferTy>(program_.types[arg.type].data)) return infer_const(param.const_type, arg.span);
        out_of_order(arg.span, "type provided when a constant was expected");
        return types_.error_const;
    }
    if (!want_type) return lower_const_arg(arg.constant, param.const_type);
    out_of_order(arg.span, "constant provided when a type was expected");
    return types_.error;
}

GenericArg TypeLowerer::missing_arg(const GenericsInfo::Param& param, DefId item, std::span<const GenericArg> so_far, Span span,
                                    bool infer_missing, bool* defaulted) {
    *defaulted = false;
    const bool is_type = param.kind == hir::GenericParam::Kind::Type;
    if (infer_missing || param.synthetic) {
        if (is_type) return infer_type(span);
        return infer_const(param.const_type, span);
    }
    if (!param.has_default) {   // counted and reported by check_arg_count
        failed_ = true;
        if (is_type) return types_.error;
        return types_.error_const;
    }
    *defaulted = true;
    for (const hir::GenericParam& syntax : hir_generics(program_, item)->params) {
        if (syntax.def != param.def) continue;
        TypeLowerer lowerer(cx_, item, ElidedRegion::Static);
        lowerer.set_quiet(quiet_);
        if (is_type) return types_.subst(lowerer.lower(syntax.default_type), so_far);
        return types_.subst(lowerer.lower_const_arg(syntax.default_const, param.const_type), so_far);
    }
    return types_.error;
}

ArgsId TypeLowerer::parenthesized_args(const hir::GenericArgs& args, std::span<const GenericArg> prefix) {
    std::vector<GenericArg> out(prefix.begin(), prefix.end());
    const ElidedRegion saved = elided_;
    if (!in_body()) elided_ = ElidedRegion::Bound;
    for (const hir::GenericArg& arg : args.args) out.push_back(lower(arg.type));
    elided_ = saved;
    return types_.args(out);
}

namespace {

// Lifetimes of `for<..>` that stand in a type. Those that only a projection has are chosen by nothing.
void collect_bound(const TypeStore& types, TypeId type, bool into_projections, std::vector<RegionId>& out) {
    types::walk(types, type, [&](TypeId part) {
        const TypeData data = types[part];
        const auto note = [&](RegionId region) {
            if (types[region].kind == types::RegionKind::Bound) out.push_back(region);
        };
        if (data.kind == TypeKind::FnPtr || (data.kind == TypeKind::Projection && !into_projections)) return false;
        if (data.region.valid()) note(data.region);
        for (const GenericArg arg : types[data.args]) {
            if (arg.kind() == GenericArg::Kind::Region) note(arg.as_region());
        }
        return true;
    });
}

}  // namespace

void TypeLowerer::check_chosen(Code code, std::span<const TypeId> inputs, TypeId type, Span at, std::string_view what) {
    std::vector<RegionId> given, used;
    for (const TypeId input : inputs) collect_bound(types_, input, false, given);
    collect_bound(types_, type, true, used);
    for (const RegionId region : used) {
        if (!types_[region].name.valid() || std::find(given.begin(), given.end(), region) != given.end()) continue;
        const std::string name(program_.interner.text(types_[region].name));
        const std::string_view why = code == Code::E0581 ? "which is not constrained by the fn input types" : "which does not appear in the trait input types";
        error(code, at, fmt::format("{} references lifetime `{}`, {}", what, name, why));
        return;
    }
}

// Is the associated type of this bound another one for each lifetime of its `for<..>`?
bool TypeLowerer::depends_on_binder(const TraitRef& trait_ref) const {
    std::vector<RegionId> bound;
    for (const GenericArg arg : types_[trait_ref.args]) {
        if (arg.kind() == GenericArg::Kind::Type) collect_bound(types_, arg.as_type(), true, bound);
        if (arg.kind() == GenericArg::Kind::Region && types_[arg.as_region()].kind == types::RegionKind::Bound) bound.push_back(arg.as_region());
    }
    return !bound.empty();
}

RegionId TypeLowerer::chosen_by(std::span<const TypeId> inputs) const {
    std::vector<RegionId> regions;
    const auto note = [&](RegionId region) {
        if (std::find(regions.begin(), regions.end(), region) == regions.end()) regions.push_back(region);
    };
    for (const TypeId input : inputs) {
        types::walk(types_, input, [&](TypeId part) {
            const TypeData data = types_[part];
            if (data.region.valid()) note(data.region);
            for (const GenericArg arg : types_[data.args]) {
                if (arg.kind() == GenericArg::Kind::Region) note(arg.as_region());
            }
            return data.kind != TypeKind::FnPtr;
        });
    }
    return regions.size() == 1 ? regions[0] : RegionId();
}

// Error for every argument of its own.
ArgsId TypeLowerer::error_args(DefId item, std::span<const GenericArg> prefix) {
    std::vector<GenericArg> out(prefix.begin(), prefix.end());
    const GenericsInfo& generics = cx_.generics_of(item);
    for (std::size_t i = out.size() - generics.parent_count; i < generics.own.size(); ++i) {
        switch (generics.own[i].kind) {
            case hir::GenericParam::Kind::Lifetime: out.push_back(types_.error_region); break;
            case hir::GenericParam::Kind::Type: out.push_back(types_.error); break;
            case hir::GenericParam::Kind::Const: out.push_back(types_.error_const); break;
        }
    }
    return types_.args(out);
}

ArgsId TypeLowerer::lower_args(DefId item, std::span<const GenericArg> prefix, const hir::GenericArgs* args, Span span, bool infer_missing) {
    const GenericsInfo& generics = cx_.generics_of(item);
    if (args != nullptr && args->parenthesized) {
        const LangItems& lang = cx_.state().lang;
        if (item == lang.fn_trait || item == lang.fn_mut || item == lang.fn_once) return parenthesized_args(*args, prefix);
        error(Code::E0214, span, "parenthesized type parameters may only be used with a `Fn` trait")->label(span, "only `Fn` traits may use parentheses");
        return error_args(item, prefix);
    }
    if (args != nullptr && !args->constraints.empty() && program_.defs[item].kind != DefKind::Trait) {
        error(Code::E0229, args->constraints[0].span, "associated item constraints are not allowed here")
            ->label(args->constraints[0].span, "associated item constraint not allowed here");
    }
    out_of_order_ = false;
    check_arg_count(item, generics, args, span, infer_missing);
    std::vector<GenericArg> out(prefix.begin(), prefix.end());
    std::vector<const hir::GenericArg*> lifetimes, others;
    if (args != nullptr) {
        for (const auto& arg : args->args) (arg.kind == hir::GenericArg::Kind::Lifetime ? lifetimes : others).push_back(&arg);
    }
    const bool infer_rest = infer_missing && others.empty();
    std::size_t next_lifetime = 0, next = 0;
    for (std::size_t i = out.size() - generics.parent_count; i < generics.own.size(); ++i) {
        const auto& param = generics.own[i];
        if (param.kind == hir::GenericParam::Kind::Lifetime) {
            if (next_lifetime < lifetimes.size()) {
                out.push_back(lower_lifetime(lifetimes[next_lifetime]->lifetime, lifetimes[next_lifetime]->span));
                ++next_lifetime;
            } else {
                out.push_back(elided_region(span));
            }
        } else if (!param.synthetic && next < others.size()) {
            out.push_back(lower_arg(param, *others[next++]));
        } else {
            bool defaulted = false;
            out.push_back(missing_arg(param, item, out, span, infer_rest, &defaulted));
        }
    }
    return types_.args(out);
}

ConstId TypeLowerer::lower_const_arg(DefId anon, TypeId type) {
    if (!anon.valid()) return types_.error_const;
    cx_.state().anon_const_types[anon] = type;
    return cx_.anon_const(anon, type);
}

// ---- bounds -----------------------------------------------------------------------------------------------------------------------

TraitRef TypeLowerer::lower_trait_ref(const hir::Path& path, TypeId self, std::vector<Predicate>* constraints) {
    if (path.res.kind != hir::Res::Kind::Def || program_.defs[path.res.def].kind != DefKind::Trait) {
        failed_ = true;
        return {};
    }
    const hir::PathSegment& last = path.segments.back();
    const GenericArg prefix[] = {self};
    const TraitRef trait_ref{path.res.def, lower_args(path.res.def, prefix, last.args, path.span, false)};
    if (constraints != nullptr && last.args != nullptr) {
        const ElidedRegion saved = elided_;
        const RegionId saved_output = output_region_;
        if (last.args->parenthesized && !in_body() && types_[trait_ref.args].size() > 1) {
            const TypeId inputs[] = {types_[trait_ref.args][1].as_type()};
            elided_ = ElidedRegion::Output;
            output_region_ = chosen_by(inputs);
        }
        for (const hir::AssocConstraint& constraint : last.args->constraints) lower_constraint(trait_ref, constraint, *constraints);
        elided_ = saved;
        output_region_ = saved_output;
    }
    return trait_ref;
}

void TypeLowerer::lower_constraint(const TraitRef& trait_ref, const hir::AssocConstraint& constraint, std::vector<Predicate>& out) {
    const DefKind kind = constraint.constant.valid() ? DefKind::AssocConst : DefKind::AssocTy;
    const auto found = find_assoc_in_supertraits(cx_, trait_ref, constraint.name.name, kind);
    if (!found) {
        error(Code::E0220, constraint.name.span, fmt::format("associated type `{}` not found for `{}`", program_.interner.text(constraint.name.name),
                                                             program_.name(trait_ref.trait)))
            ->label(constraint.name.span, fmt::format("associated type `{}` not found", program_.interner.text(constraint.name.name)));
        return;
    }
    const ArgsId args = lower_args(found->item, types_[found->trait_ref.args], constraint.args, constraint.span, false);
    if (constraint.type.valid() || constraint.constant.valid()) {
        Predicate predicate;
        predicate.kind = Predicate::Kind::Projection;
        predicate.trait_ref = {found->trait_ref.trait, args};
        predicate.assoc = found->item;
        predicate.span = constraint.span;
        if (constraint.type.valid()) {
            predicate.term = lower(constraint.type);
            std::vector<TypeId> inputs;
            for (const GenericArg arg : types_[args]) {
                if (arg.kind() == GenericArg::Kind::Type) inputs.push_back(arg.as_type());
                if (arg.kind() == GenericArg::Kind::Region) inputs.push_back(types_.ref(arg.as_region(), types_.unit, Mutability::Not));
            }
            if (predicate.term.kind() == GenericArg::Kind::Type) {
                check_chosen(Code::E0582, inputs, predicate.term.as_type(), program_.types[constraint.type].span,
                             fmt::format("binding for associated type `{}`", program_.interner.text(constraint.name.name)));
            }
        } else {
            predicate.term = lower_const_arg(constraint.constant, cx_.type_of(found->item));
        }
        out.push_back(predicate);
    }
    if (!constraint.bounds.empty()) {
        lower_bounds(types_.projection(found->item, args), constraint.bounds, out, nullptr);
    }
}

void TypeLowerer::lower_bounds(TypeId self, hir::List<hir::Bound> bounds, std::vector<Predicate>& out, bool* maybe_sized) {
    for (const hir::Bound& bound : bounds) {
        Predicate predicate;
        predicate.span = bound.span;
        if (bound.kind == hir::Bound::Kind::Outlives) {
            predicate.kind = Predicate::Kind::TypeOutlives;
            predicate.type = self;
            predicate.region = lower_lifetime(bound.lifetime, bound.span);
            out.push_back(predicate);
            continue;
        }
        if (bound.kind == hir::Bound::Kind::Use) continue;   // for the borrow checker
        if (bound.maybe) {
            if (maybe_sized != nullptr) *maybe_sized = true;
            continue;
        }
        std::vector<Predicate> constraints;
        predicate.trait_ref = lower_trait_ref(bound.trait_path, self, &constraints);
        if (predicate.trait_ref.valid()) out.push_back(predicate);
        out.insert(out.end(), constraints.begin(), constraints.end());
    }
}

// ---- associated types by name ------------------------------------------------------------------------------------------------------

bool trait_may_have(Context& cx, DefId trait, Symbol name, DefKind kind) {
    const hir::Program& program = cx.program();
    std::vector<DefId> stack{trait};
    std::vector<DefId> seen;
    while (!stack.empty()) {
        const DefId at = stack.back();
        stack.pop_back();
        cx.state().need(at);
        if (std::find(seen.begin(), seen.end(), at) != seen.end() || !program.defs[at].lowered) continue;
        seen.push_back(at);
        const DefId item = cx.state().item_named(at, name);
        if (item.valid() && program.defs[item].kind == kind) return true;
        for (const hir::Bound& bound : program.as<hir::TraitDef>(at).supertraits) {
            if (bound.kind == hir::Bound::Kind::Trait && bound.trait_path.res.kind == hir::Res::Kind::Def &&
                program.defs[bound.trait_path.res.def].kind == DefKind::Trait) {
                stack.push_back(bound.trait_path.res.def);
            }
        }
    }
    return false;
}

std::optional<AssocInTrait> find_assoc_in_supertraits(Context& cx, const TraitRef& trait_ref, Symbol name, DefKind kind) {
    std::vector<TraitRef> stack{trait_ref};
    std::vector<DefId> seen;
    while (!stack.empty()) {
        const TraitRef at = stack.back();
        stack.pop_back();
        if (std::find(seen.begin(), seen.end(), at.trait) != seen.end()) continue;
        seen.push_back(at.trait);
        const DefId item = cx.state().item_named(at.trait, name);
        if (item.valid() && cx.program().defs[item].kind == kind) return AssocInTrait{at, item};
        if (!trait_may_have(cx, at.trait, name, kind)) continue;
        for (const TraitRef& super : cx.supertraits(at.trait)) {
            stack.push_back({super.trait, cx.types().subst(super.args, at.args)});
        }
    }
    return std::nullopt;
}

void TypeLowerer::find_in_bound_list(hir::List<hir::Bound> bounds, TypeId self, Symbol name, std::vector<AssocInTrait>& found) {
    for (const hir::Bound& bound : bounds) {
        if (bound.kind != hir::Bound::Kind::Trait || bound.maybe || bound.trait_path.res.kind != hir::Res::Kind::Def) continue;
        const DefId trait = bound.trait_path.res.def;
        if (program_.defs[trait].kind != DefKind::Trait || !trait_may_have(cx_, trait, name, DefKind::AssocTy)) continue;
        const TraitRef trait_ref = lower_trait_ref(bound.trait_path, self, nullptr);
        const auto item = find_assoc_in_supertraits(cx_, trait_ref, name, DefKind::AssocTy);
        if (!item) continue;
        const bool known = std::any_of(found.begin(), found.end(), [&](const AssocInTrait& f) { return f.item == item->item && f.trait_ref == item->trait_ref; });
        if (!known) found.push_back(*item);
    }
}

// Bounds on the parameter written at `owner` itself.
void TypeLowerer::find_in_generics(DefId owner, hir::Res param, Symbol name, std::vector<AssocInTrait>& found) {
    const hir::Generics* generics = hir_generics(program_, owner);
    if (generics == nullptr) return;
    const bool is_self = param.kind == hir::Res::Kind::SelfParam;
    const TypeId self = is_self ? types_.param(0, program_.interner.intern("Self")) : param_type(param.def);
    for (const hir::GenericParam& p : generics->params) {
        if (!is_self && p.def == param.def) find_in_bound_list(p.bounds, self, name, found);
    }
    for (const hir::WherePredicate& where : generics->predicates) {
        if (!where.bounded_type.valid()) continue;
        const auto* path = std::get_if<hir::PathTy>(&program_.types[where.bounded_type].data);
        if (path == nullptr || path->path->kind != hir::QPath::Kind::Resolved) continue;
        const hir::Res& res = path->path->path.res;
        if (res.kind == param.kind && res.def == param.def) find_in_bound_list(where.bounds, self, name, found);
    }
}

std::optional<AssocInTrait> TypeLowerer::find_in_bounds(hir::Res param, Symbol name, bool* ambiguous) {
    std::vector<AssocInTrait> found;
    if (param.kind == hir::Res::Kind::SelfParam && trait_may_have(cx_, param.def, name, DefKind::AssocTy)) {
        const TraitRef own{param.def, cx_.identity_args(param.def)};
        if (const DefId item = cx_.state().item_named(param.def, name); item.valid() && program_.defs[item].kind == DefKind::AssocTy) {
            found.push_back({own, item});
        } else {
            for (const TraitRef& super : cx_.supertraits(param.def)) {   // two that have it: which one is meant?
                const auto item_above = find_assoc_in_supertraits(cx_, super, name, DefKind::AssocTy);
                const auto same = [&](const AssocInTrait& f) { return f.item == item_above->item && f.trait_ref == item_above->trait_ref; };
                if (item_above && std::none_of(found.begin(), found.end(), same)) found.push_back(*item_above);
            }
        }
    }
    for (DefId owner = generics_owner(program_, owner_); found.empty() && owner.valid(); owner = cx_.generics_of(owner).parent) {
        find_in_generics(owner, param, name, found);
    }
    *ambiguous = found.size() > 1;
    if (found.empty()) return std::nullopt;
    return found.front();
}

TypeId TypeLowerer::ambiguous_assoc_type(TypeId self, const hir::QPath& path) {
    if (types_.has(self, types::kHasError)) {
        failed_ = true;
        return types_.error;
    }
    error(Code::E0223, path.span, "ambiguous associated type")
        ->help(fmt::format("if there were a trait named `Example` with associated type `{0}` implemented for `{1}`, you could use the "
                           "fully-qualified path: `<{1} as Example>::{0}`",
                           program_.interner.text(path.segment.ident.name), cx_.text(self)));
    return types_.error;
}

TypeId TypeLowerer::assoc_type(TypeId self, const hir::QPath& path) {
    const Symbol name = path.segment.ident.name;
    const auto* syntax = std::get_if<hir::PathTy>(&program_.types[path.self_type].data);
    const hir::Res res = syntax != nullptr && syntax->path->kind == hir::QPath::Kind::Resolved ? syntax->path->path.res : hir::Res{};
    std::optional<AssocInTrait> found;
    bool ambiguous = false;
    if (res.kind == hir::Res::Kind::SelfAlias && program_.defs[res.def].kind == DefKind::Impl) {
        const TraitRef trait_ref = cx_.impl_trait_ref(res.def);
        if (trait_ref.valid()) found = find_assoc_in_supertraits(cx_, trait_ref, name, DefKind::AssocTy);
    } else if (res.kind == hir::Res::Kind::SelfParam ||
               (res.kind == hir::Res::Kind::Def && program_.defs[res.def].kind == DefKind::TyParam)) {
        if (++depth_ > 16) {
            error(Code::E0391, path.span, "cycle detected when computing the bounds of a type parameter");
        } else {
            found = find_in_bounds(res, name, &ambiguous);
        }
        --depth_;
        if (!found && !failed_) {
            const std::string param(program_.interner.text(syntax->path->path.segments.back().ident.name));
            error(Code::E0220, path.segment.ident.span, fmt::format("associated type `{}` not found for `{}`", program_.interner.text(name), param))
                ->label(path.segment.ident.span, fmt::format("associated type `{}` not found", program_.interner.text(name)));
            return types_.error;
        }
        if (ambiguous) {
            error(Code::E0221, path.span, fmt::format("ambiguous associated type `{}` in bounds of `{}`", program_.interner.text(name), cx_.text(self)));
            return types_.error;
        }
        if (found && !in_body() && depends_on_binder(found->trait_ref)) {
            error(Code::E0212, path.span, "cannot use the associated type of a trait with uninferred generic parameters")
                ->help("use a fully qualified path with explicit lifetimes");
            return types_.error;
        }
    }
    if (!found) return ambiguous_assoc_type(self, path);
    return types_.projection(found->item, lower_args(found->item, types_[found->trait_ref.args], path.segment.args, path.span, false));
}

}  // namespace ockc::check
