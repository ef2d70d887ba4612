// The item queries of check::Context: generics, types, signatures and predicates of definitions, read off the HIR on demand.
#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "check/lower_ty.hpp"
#include "check/state.hpp"
#include "types/fold.hpp"

namespace ockc::check {

using hir::DefKind;
using types::Mutability;

// ---- helpers over definitions ---------------------------------------------------------------------------------------------------

const hir::Generics* hir_generics(const hir::Program& program, DefId def) {
    const hir::Def& d = program.defs[def];
    if (!d.lowered) return nullptr;
    if (const auto* x = std::get_if<hir::AdtDef>(&d.data)) return &x->generics;
    if (const auto* x = std::get_if<hir::TraitDef>(&d.data)) return &x->generics;
    if (const auto* x = std::get_if<hir::ImplDef>(&d.data)) return &x->generics;
    if (const auto* x = std::get_if<hir::FnDef>(&d.data)) return &x->generics;
    if (const auto* x = std::get_if<hir::ConstDef>(&d.data)) return &x->generics;
    if (const auto* x = std::get_if<hir::TypeAliasDef>(&d.data)) return &x->generics;
    return nullptr;
}

DefId generics_owner(const hir::Program& program, DefId def) {
    while (def.valid()) {
        switch (program.defs[def].kind) {
            case DefKind::Variant:
            case DefKind::Ctor:
            case DefKind::Field:
            case DefKind::TyParam:
            case DefKind::ConstParam:
            case DefKind::LifetimeParam:
            case DefKind::Closure:
            case DefKind::ImplTrait:
            case DefKind::AnonConst: def = program.defs[def].parent; break;
            case DefKind::Mod:
            case DefKind::Struct:
            case DefKind::Union:
            case DefKind::Enum:
            case DefKind::Trait:
            case DefKind::TyAlias:
            case DefKind::AssocTy:
            case DefKind::Fn:
            case DefKind::AssocFn:
            case DefKind::Const:
            case DefKind::AssocConst:
            case DefKind::Static:
            case DefKind::Impl:
            case DefKind::Macro:
            case DefKind::Crate:
            case DefKind::ForeignFn:
            case DefKind::Opaque: return def;
        }
    }
    return def;
}

bool is_trait_item(const hir::Program& program, DefId def) {
    const DefId parent = program.defs[def].parent;
    return parent.valid() && program.defs[parent].kind == DefKind::Trait;
}

DefId trait_of_assoc(const hir::Program& program, DefId assoc) {
    const DefId parent = program.defs[assoc].parent;
    return program.defs[assoc].kind == DefKind::ImplTrait ? program.defs[parent].parent : parent;
}

bool is_inside(const hir::Program& program, DefId def, DefId module) {
    while (def.valid() && def != module) def = program.defs[def].parent;
    return def.valid();
}

DefId enclosing_module(const hir::Program& program, DefId def) {
    while (def.valid() && program.defs[def].kind != DefKind::Mod && program.defs[def].kind != DefKind::Crate) def = program.defs[def].parent;
    return def;
}

std::string with_article(std::string_view noun) {
    const bool vowel = !noun.empty() && std::string_view("aeiou").find(noun[0]) != std::string_view::npos;
    return fmt::format("{} {}", vowel ? "an" : "a", noun);
}

// ---- generics -----------------------------------------------------------------------------------------------------------------------

namespace {

// The item whose parameters stand in front of those of `def`.
DefId generics_parent(const hir::Program& program, DefId def) {
    const hir::Def& d = program.defs[def];
    if (!d.parent.valid()) return {};
    switch (d.kind) {
        case DefKind::AssocFn:
        case DefKind::AssocConst:
        case DefKind::AssocTy: return d.parent;
        case DefKind::Variant:
        case DefKind::Ctor:
        case DefKind::Field:
        case DefKind::Closure:
        case DefKind::ImplTrait:
        case DefKind::AnonConst: return generics_owner(program, d.parent);
        default: return {};
    }
}

}  // namespace

const GenericsInfo& Context::generics_of(DefId def) {
    if (const GenericsInfo* known = state_->generics.find(def)) return *known;
    state_->need(def);
    GenericsInfo info;
    info.parent = generics_parent(program_, def);
    if (info.parent.valid()) info.parent_count = generics_of(info.parent).count();
    info.has_self = program_.defs[def].kind == DefKind::Trait;
    if (info.has_self) info.own.push_back({DefId(), program_.interner.intern("Self"), hir::GenericParam::Kind::Type, false, false, {}});
    const hir::Generics* generics = hir_generics(program_, def);
    if (generics != nullptr) {
        for (const hir::GenericParam& param : generics->params) {
            const bool has_default = param.default_type.valid() || param.default_const.valid();
            info.own.push_back({param.def, param.ident.name, param.kind, has_default, param.from_impl_trait, {}});
        }
    }
    GenericsInfo& stored = state_->generics.put(def, std::move(info));
    if (generics == nullptr) return stored;
    for (std::size_t i = 0; i < generics->params.size(); ++i) {
        const hir::GenericParam& param = generics->params[i];
        if (param.kind != hir::GenericParam::Kind::Const) continue;
        TypeLowerer lowerer(*this, def, ElidedRegion::Static);
        stored.own[i + (stored.has_self ? 1 : 0)].const_type = lowerer.lower(param.const_type);
    }
    return stored;
}

types::ArgsId Context::identity_args(DefId def) {
    if (const ArgsId* known = state_->identity.find(def)) return *known;
    const GenericsInfo& info = generics_of(def);
    std::vector<GenericArg> args;
    if (info.parent.valid()) {
        const auto parent = types_[identity_args(info.parent)];
        args.assign(parent.begin(), parent.end());
    }
    for (const auto& param : info.own) {
        const auto index = static_cast<std::uint32_t>(args.size());
        switch (param.kind) {
            case hir::GenericParam::Kind::Lifetime:
                args.push_back(types_.region({types::RegionKind::EarlyParam, param.def, index, param.name}));
                break;
            case hir::GenericParam::Kind::Type: args.push_back(types_.param(index, param.name)); break;
            case hir::GenericParam::Kind::Const: args.push_back(types_.const_param(index, param.name, param.const_type)); break;
        }
    }
    return state_->identity.put(def, types_.args(args));
}

// ---- types of definitions -------------------------------------------------------------------------------------------------------------

namespace {

constexpr std::uint64_t query_key(std::uint32_t query, DefId def) { return static_cast<std::uint64_t>(query) << 32 | def.raw; }
enum Query : std::uint32_t { kTypeOf, kSupertraits, kPredicates, kEnv, kAdt };

class TypeOf {
  public:
    TypeOf(Context& context, DefId def) : cx_(context), program_(context.program()), types_(context.types()), def_(def) {}

    TypeId compute() {
        const hir::Def& def = program_.defs[def_];
        switch (def.kind) {
            case DefKind::Struct:
            case DefKind::Union:
            case DefKind::Enum: return types_.adt(def_, cx_.identity_args(def_));
            case DefKind::Variant: return cx_.type_of(def.parent);
            case DefKind::Ctor: return ctor(def.parent);
            case DefKind::Field: return field(def.parent);
            case DefKind::TyAlias:
            case DefKind::AssocTy: return alias();
            case DefKind::Fn:
            case DefKind::AssocFn:
            case DefKind::ForeignFn: return types_.fn_def(def_, cx_.identity_args(def_));
            case DefKind::Const:
            case DefKind::AssocConst: return def.lowered ? lower(program_.as<hir::ConstDef>(def_).type, ElidedRegion::Static) : types_.error;
            case DefKind::Static: return def.lowered ? lower(program_.as<hir::StaticDef>(def_).type, ElidedRegion::Static) : types_.error;
            case DefKind::Impl: return impl();
            case DefKind::TyParam: return param();
            case DefKind::ConstParam: return const_param();
            case DefKind::Closure: return types_.closure(def_, cx_.identity_args(def_));
            case DefKind::AnonConst: return anon_const();
            case DefKind::Mod:
            case DefKind::Trait:
            case DefKind::LifetimeParam:
            case DefKind::Macro:
            case DefKind::Crate:
            case DefKind::ImplTrait:
            case DefKind::Opaque: return types_.error;
        }
        return types_.error;
    }

  private:
    TypeId lower(hir::TyId type, ElidedRegion elided) { return TypeLowerer(cx_, def_, elided).lower(type); }

    TypeId ctor(DefId owner) {
        const DefId adt = program_.defs[owner].kind == DefKind::Variant ? program_.defs[owner].parent : owner;
        const hir::AdtDef& data = program_.as<hir::AdtDef>(adt);
        for (const hir::VariantData& variant : data.variants) {
            if (variant.ctor != def_) continue;
            return variant.form == hir::VariantForm::Tuple ? types_.fn_def(def_, cx_.identity_args(adt)) : cx_.type_of(adt);
        }
        return types_.error;
    }

    TypeId field(DefId owner) {
        const DefId adt = program_.defs[owner].kind == DefKind::Variant ? program_.defs[owner].parent : owner;
        for (const hir::VariantData& variant : program_.as<hir::AdtDef>(adt).variants) {
            for (const hir::FieldDef& field : variant.fields) {
                if (field.def == def_) return TypeLowerer(cx_, adt, ElidedRegion::Error).lower(field.type);
            }
        }
        return types_.error;
    }

    TypeId alias() {
        if (!program_.defs[def_].lowered) return types_.error;
        const hir::TypeAliasDef& alias = program_.as<hir::TypeAliasDef>(def_);
        if (alias.type.valid()) return lower(alias.type, ElidedRegion::Error);
        if (is_trait_item(program_, def_)) return types_.projection(def_, cx_.identity_args(def_));
        return types_.error;
    }

    TypeId impl() {
        TypeLowerer lowerer(cx_, def_, ElidedRegion::Fresh);
        return lowerer.lower(program_.as<hir::ImplDef>(def_).self_type);
    }

    TypeId param() {
        const GenericsInfo& info = cx_.generics_of(program_.defs[def_].parent);
        for (std::uint32_t i = 0; i < info.own.size(); ++i) {
            if (info.own[i].def == def_) return types_.param(info.parent_count + i, info.own[i].name);
        }
        return types_.error;
    }

    TypeId const_param() {
        const GenericsInfo& info = cx_.generics_of(program_.defs[def_].parent);
        for (const auto& param : info.own) {
            if (param.def == def_) return param.const_type;
        }
        return types_.error;
    }

    TypeId anon_const() {
        const auto noted = cx_.state().anon_const_types.find(def_);
        if (noted != cx_.state().anon_const_types.end()) return noted->second;
        const hir::AnonConstDef& data = program_.as<hir::AnonConstDef>(def_);
        return data.expected.valid() ? lower(data.expected, ElidedRegion::Static) : TypeId();
    }

    Context& cx_;
    const hir::Program& program_;
    TypeStore& types_;
    DefId def_;
};

}  // namespace

namespace {

constexpr std::uint64_t kAliasParts = std::uint64_t{1} << 16;

// How many types a type is written with, shared parts counted each time; at most kAliasParts + 1.
std::uint64_t written_parts(TypeStore& types, TypeId type, std::unordered_map<TypeId, std::uint64_t>& known) {
    if (const auto found = known.find(type); found != known.end()) return found->second;
    const TypeData data = types[type];
    std::uint64_t sum = 1;
    const auto add = [&](TypeId part) { sum = std::min(sum + written_parts(types, part, known), kAliasParts + 1); };
    if (data.element.valid()) add(data.element);
    if (data.elements.valid()) {
        for (const TypeId part : types[data.elements]) add(part);
    }
    if (data.args.valid()) {
        for (const GenericArg arg : types[data.args]) {
            if (arg.kind() == GenericArg::Kind::Type) add(arg.as_type());
        }
    }
    known.emplace(type, sum);
    return sum;
}

}  // namespace

types::TypeId Context::type_of(DefId def) {
    if (const TypeId* known = state_->types_of.find(def)) return *known;
    state_->need(def);
    if (!state_->in_progress.insert(query_key(kTypeOf, def)).second) {
        const hir::Def& d = program_.defs[def];
        sink_.error(Code::E0391, d.span, fmt::format("cycle detected when expanding {} `{}`", hir::def_kind_text(d.kind), program_.name(def)));
        return state_->types_of.put(def, types_.error);
    }
    const TypeId type = TypeOf(*this, def).compute();
    state_->in_progress.erase(query_key(kTypeOf, def));
    if (const TypeId* cyclic = state_->types_of.find(def)) return *cyclic;
    if (program_.defs[def].kind == DefKind::AnonConst) return type;   // may be noted later
    if (program_.defs[def].kind == DefKind::TyAlias) {   // aliases of aliases double in size with every line
        std::unordered_map<TypeId, std::uint64_t> known;
        if (written_parts(types_, type, known) > kAliasParts) {
            sink_.error(Code::OCK0403, program_.defs[def].span, fmt::format("the type that `{}` stands for has more than {} parts", program_.name(def), kAliasParts));
            return state_->types_of.put(def, types_.error);
        }
    }
    return state_->types_of.put(def, type);
}

// ---- signatures -------------------------------------------------------------------------------------------------------------------------

namespace {

class RegionCollector final : public types::Folder {
  public:
    explicit RegionCollector(TypeStore& types) : Folder(types, types::kHasRegion) {}
    std::vector<RegionId> regions;

  protected:
    RegionId region_of(RegionId region) override {
        if (std::find(regions.begin(), regions.end(), region) == regions.end()) regions.push_back(region);
        return region;
    }
};

// The region of the reference in `self`'s type (&Self, &mut Self), looking through nothing else.
RegionId self_region(const TypeStore& types, TypeId self) {
    const TypeData& data = types[self];
    return data.kind == TypeKind::Ref ? data.region : RegionId();
}

FnSigInfo lower_signature(Context& cx, DefId fn) {
    const hir::FnSig& sig = cx.program().as<hir::FnDef>(fn).sig;
    TypeStore& types = cx.types();
    FnSigInfo info;
    info.has_self = sig.has_self;
    info.is_unsafe = sig.is_unsafe;
    info.is_const = sig.is_const;
    TypeLowerer lowerer(cx, fn, ElidedRegion::Fresh);
    RegionCollector collector(types);
    for (const hir::FnParam& param : sig.inputs) {
        info.inputs.push_back(lowerer.lower(param.type));
        collector.fold(info.inputs.back());
    }
    lowerer.set_elided(ElidedRegion::Output);
    RegionId chosen = sig.has_self && !info.inputs.empty() ? self_region(types, info.inputs[0]) : RegionId();
    if (!chosen.valid() && collector.regions.size() == 1) chosen = collector.regions[0];
    lowerer.set_output_region(chosen);
    std::erase_if(collector.regions, [&](RegionId region) { return types[region].kind != types::RegionKind::LateParam; });
    cx.state().captured_regions[fn] = std::move(collector.regions);
    info.output = sig.output.valid() ? lowerer.lower_result(sig.output) : types.unit;
    return info;
}

FnSigInfo ctor_signature(Context& cx, DefId ctor) {
    const hir::Program& program = cx.program();
    const DefId owner = program.defs[ctor].parent;
    const DefId adt = program.defs[owner].kind == DefKind::Variant ? program.defs[owner].parent : owner;
    FnSigInfo info;
    const AdtInfo& data = cx.adt(adt);
    for (const FieldInfo& field : data.variants[data.variant_index(ctor)].fields) info.inputs.push_back(field.type);
    info.output = cx.type_of(adt);
    info.is_const = true;
    return info;
}

}  // namespace

const FnSigInfo& Context::fn_sig(DefId fn) {
    if (const FnSigInfo* known = state_->signatures.find(fn)) return *known;
    state_->need(fn);
    if (program_.defs[fn].kind == DefKind::Ctor) return state_->signatures.put(fn, ctor_signature(*this, fn));
    OCKC_CHECK_MSG(program_.defs[fn].lowered, "signature of a function that was not lowered");
    return state_->signatures.put(fn, lower_signature(*this, fn));
}

FnSigInfo Context::fn_sig(ItemRef fn) {
    FnSigInfo info = fn_sig(fn.def);
    for (TypeId& input : info.inputs) input = types_.erase_regions(types_.subst(input, fn.args));
    info.output = types_.erase_regions(types_.subst(info.output, fn.args));
    return info;
}

SelfKind Context::self_kind(DefId fn) {
    const FnSigInfo& sig = fn_sig(fn);
    if (!sig.has_self || sig.inputs.empty()) return SelfKind::None;
    const TypeData& data = types_[sig.inputs[0]];
    if (data.kind != TypeKind::Ref) return SelfKind::Value;
    return data.mutability == Mutability::Mut ? SelfKind::RefMut : SelfKind::Ref;
}

// ---- Adts ---------------------------------------------------------------------------------------------------------------------------------

std::uint32_t AdtInfo::variant_index(DefId variant_or_ctor) const {
    for (std::uint32_t i = 0; i < variants.size(); ++i) {
        if (variants[i].def == variant_or_ctor || variants[i].ctor == variant_or_ctor) return i;
    }
    return 0;
}

namespace {

types::Repr convert_repr(const hir::Repr& repr) {
    types::Repr out;
    out.c = repr.c;
    out.transparent = repr.transparent;
    out.has_int = repr.integer.has_value();
    if (repr.integer) out.int_kind = *repr.integer;
    if (repr.packed) {
        out.pack = repr.align != 0 ? repr.align : 1;
    } else {
        out.align = repr.align;
    }
    return out;
}

__int128 sign_extend(std::uint64_t low, std::uint64_t high, types::IntKind kind) {
    unsigned __int128 value = static_cast<unsigned __int128>(high) << 64 | low;
    const std::uint32_t bits = types::int_bits(kind);
    if (bits < 128 && types::int_signed(kind) && (value >> (bits - 1) & 1) != 0) value |= ~static_cast<unsigned __int128>(0) << bits;
    return static_cast<__int128>(value);
}

// Explicit discriminants are evaluated, the others count on from the one before.
void set_discriminants(Context& cx, AdtInfo& info, const hir::AdtDef& data) {
    const types::IntKind kind = info.discriminant_type;
    const std::uint32_t bits = types::int_bits(kind);
    const __int128 max = types::int_signed(kind) ? (static_cast<__int128>(1) << (bits - 1)) - 1 : (bits >= 127 ? static_cast<__int128>(~std::uint64_t{0}) : (static_cast<__int128>(1) << bits) - 1);
    __int128 next = 0;
    bool overflowed = false;
    for (std::size_t i = 0; i < data.variants.size(); ++i) {
        if (data.variants[i].discriminant.valid()) {
            cx.state().anon_const_types[data.variants[i].discriminant] = cx.types().int_type(kind);
            const ConstValue* value = cx.eval_const({data.variants[i].discriminant, cx.identity_args(data.variants[i].discriminant)});
            if (value != nullptr) next = sign_extend(value->bits[0], value->bits[1], kind);
            overflowed = false;
        } else if (overflowed) {
            cx.sink().error(Code::E0370, data.variants[i].span, "enum discriminant overflowed");
        }
        info.variants[i].discriminant = {static_cast<std::uint64_t>(next), static_cast<std::uint64_t>(static_cast<unsigned __int128>(next) >> 64)};
        overflowed = next == max;
        ++next;
    }
}

}  // namespace

const AdtInfo& Context::adt(DefId def) {
    if (const AdtInfo* known = state_->adts.find(def)) return *known;
    state_->need(def);
    const hir::Def& d = program_.defs[def];
    OCKC_CHECK_MSG(d.lowered, "struct or enum that was not lowered");
    const hir::AdtDef& data = program_.as<hir::AdtDef>(def);
    AdtInfo& info = state_->adts.put(def, AdtInfo{});
    info.def = def;
    info.kind = d.kind == DefKind::Enum ? AdtInfo::Kind::Enum : d.kind == DefKind::Union ? AdtInfo::Kind::Union : AdtInfo::Kind::Struct;
    info.repr = convert_repr(data.repr);
    if (info.repr.has_int) info.discriminant_type = info.repr.int_kind;
    info.is_box_like_no_drop = def == state_->lang.manually_drop;
    for (const hir::VariantData& variant : data.variants) {
        VariantInfo& v = info.variants.emplace_back();
        v.def = variant.def;
        v.ctor = variant.ctor;
        v.name = variant.name.name;
        v.form = variant.form;
        for (const hir::FieldDef& field : variant.fields) v.fields.push_back({field.def, field.name.name, TypeId()});
    }
    for (std::size_t v = 0; v < info.variants.size(); ++v) {
        for (std::size_t f = 0; f < info.variants[v].fields.size(); ++f) {
            TypeLowerer lowerer(*this, def, ElidedRegion::Error);
            info.variants[v].fields[f].type = lowerer.lower(data.variants[v].fields[f].type);
        }
    }
    if (info.kind == AdtInfo::Kind::Enum) set_discriminants(*this, info, data);
    return info;
}

types::TypeId Context::field_type(const FieldInfo& field, types::ArgsId args, const ParamEnv& env) {
    return normalize(types_.erase_regions(types_.subst(field.type, args)), env);
}

// ---- traits and predicates ------------------------------------------------------------------------------------------------------------------

TraitRef Context::impl_trait_ref(DefId impl) {
    if (const TraitRef* known = state_->impl_trait_refs.find(impl)) return *known;
    const hir::ImplDef& data = program_.as<hir::ImplDef>(impl);
    TraitRef trait_ref;
    if (data.has_trait) {
        const TypeId self = type_of(impl);
        TypeLowerer lowerer(*this, impl, ElidedRegion::Fresh);
        trait_ref = lowerer.lower_trait_ref(data.trait_path, self, nullptr);
    }
    return state_->impl_trait_refs.put(impl, trait_ref);
}

const std::vector<TraitRef>& Context::supertraits(DefId trait) {
    if (const auto* known = state_->supertraits.find(trait)) return *known;
    state_->need(trait);
    std::vector<TraitRef> out;
    if (!program_.defs[trait].lowered) return state_->supertraits.put(trait, std::move(out));
    if (!state_->in_progress.insert(query_key(kSupertraits, trait)).second) {
        sink_.error(Code::E0391, program_.defs[trait].span, fmt::format("cycle detected when computing the super predicates of `{}`", program_.name(trait)));
        return state_->supertraits.put(trait, std::move(out));
    }
    const hir::TraitDef& data = program_.as<hir::TraitDef>(trait);
    const TypeId self = types_.param(0, program_.interner.intern("Self"));
    TypeLowerer lowerer(*this, trait, ElidedRegion::Error);
    const auto add = [&](hir::List<hir::Bound> bounds) {
        for (const hir::Bound& bound : bounds) {
            if (bound.kind != hir::Bound::Kind::Trait || bound.maybe) continue;
            const TraitRef super = lowerer.lower_trait_ref(bound.trait_path, self, nullptr);
            if (super.valid()) out.push_back({super.trait, types_.erase_regions(super.args)});
        }
    };
    add(data.supertraits);
    for (const hir::WherePredicate& where : data.generics.predicates) {
        if (!where.bounded_type.valid()) continue;
        const auto* path = std::get_if<hir::PathTy>(&program_.types[where.bounded_type].data);
        if (path != nullptr && path->path->kind == hir::QPath::Kind::Resolved && path->path->path.res.kind == hir::Res::Kind::SelfParam) add(where.bounds);
    }
    // A trait that is its own supertrait, at any distance.
    for (const TraitRef& super : out) supertraits(super.trait);
    state_->in_progress.erase(query_key(kSupertraits, trait));
    if (const auto* cyclic = state_->supertraits.find(trait)) return *cyclic;
    return state_->supertraits.put(trait, std::move(out));
}

namespace {

class PredicateCollector {
  public:
    PredicateCollector(Context& context, DefId def, std::vector<Predicate>& out)
        : cx_(context), program_(context.program()), types_(context.types()), def_(def), out_(out), lowerer_(context, def, ElidedRegion::Fresh) {}

    void run() {
        if (program_.defs[def_].kind == DefKind::Trait) trait_self();
        const hir::Generics* generics = hir_generics(program_, def_);
        if (generics == nullptr) return;
        for (const hir::GenericParam& param : generics->params) {
            if (param.kind == hir::GenericParam::Kind::Type) type_param(param, *generics);
            if (param.kind == hir::GenericParam::Kind::Lifetime) lifetime_param(param);
        }
        for (const hir::WherePredicate& where : generics->predicates) where_predicate(where);
    }

  private:
    void trait_self() {
        Predicate self;
        self.trait_ref = {def_, cx_.identity_args(def_)};
        self.span = program_.defs[def_].name.span;
        out_.push_back(self);
        const TypeId type = types_.param(0, program_.interner.intern("Self"));
        lowerer_.lower_bounds(type, program_.as<hir::TraitDef>(def_).supertraits, out_, nullptr);
    }

    bool relaxed_by_where(DefId param, const hir::Generics& generics) const {
        for (const hir::WherePredicate& where : generics.predicates) {
            if (!where.bounded_type.valid()) continue;
            const auto* path = std::get_if<hir::PathTy>(&program_.types[where.bounded_type].data);
            if (path == nullptr || path->path->kind != hir::QPath::Kind::Resolved || path->path->path.res.def != param) continue;
            for (const hir::Bound& bound : where.bounds) {
                if (bound.maybe) return true;
            }
        }
        return false;
    }

    void type_param(const hir::GenericParam& param, const hir::Generics& generics) {
        const TypeId type = cx_.type_of(param.def);
        const std::size_t at = out_.size();
        bool maybe_sized = false;
        lowerer_.lower_bounds(type, param.bounds, out_, &maybe_sized);
        const DefId sized = cx_.state().lang.sized;
        if (maybe_sized || !sized.valid() || relaxed_by_where(param.def, generics)) return;
        Predicate predicate;
        const GenericArg args[] = {type};
        predicate.trait_ref = {sized, types_.args(args)};
        predicate.span = param.span;
        out_.insert(out_.begin() + static_cast<std::ptrdiff_t>(at), predicate);
    }

    void lifetime_param(const hir::GenericParam& param) {
        hir::Lifetime lifetime;
        lifetime.kind = hir::Lifetime::Kind::Param;
        lifetime.param = param.def;
        lifetime.ident = param.ident;
        outlives(lowerer_.lower_lifetime(lifetime, param.span), param.bounds);
    }

    void outlives(RegionId longer, hir::List<hir::Bound> bounds) {
        for (const hir::Bound& bound : bounds) {
            if (bound.kind != hir::Bound::Kind::Outlives) continue;
            Predicate predicate;
            predicate.kind = Predicate::Kind::RegionOutlives;
            predicate.longer = longer;
            predicate.region = lowerer_.lower_lifetime(bound.lifetime, bound.span);
            predicate.span = bound.span;
            out_.push_back(predicate);
        }
    }

    void where_predicate(const hir::WherePredicate& where) {
        if (!where.bounded_type.valid()) return outlives(lowerer_.lower_lifetime(where.lifetime, where.span), where.bounds);
        lowerer_.lower_bounds(lowerer_.lower(where.bounded_type), where.bounds, out_, nullptr);
    }

    Context& cx_;
    const hir::Program& program_;
    TypeStore& types_;
    DefId def_;
    std::vector<Predicate>& out_;
    TypeLowerer lowerer_;
};

}  // namespace

const std::vector<Predicate>& Context::predicates_of(DefId def) {
    if (const auto* known = state_->predicates.find(def)) return *known;
    std::vector<Predicate> out;
    const GenericsInfo& info = generics_of(def);
    if (info.parent.valid()) out = predicates_of(info.parent);
    if (!state_->in_progress.insert(query_key(kPredicates, def)).second) {
        sink_.error(Code::E0391, program_.defs[def].span, fmt::format("cycle detected when computing predicates of `{}`", program_.name(def)));
        return state_->predicates.put(def, {});
    }
    PredicateCollector(*this, def, out).run();
    state_->in_progress.erase(query_key(kPredicates, def));
    if (const auto* cyclic = state_->predicates.find(def)) return *cyclic;
    return state_->predicates.put(def, std::move(out));
}

DefId Context::body_owner(DefId def) const {
    while (def.valid() && (program_.defs[def].kind == DefKind::Closure || program_.defs[def].kind == DefKind::AnonConst)) def = program_.defs[def].parent;
    return def;
}

}  // namespace ockc::check
