// Well-formedness of declarations: structs and enums, signatures, constants. Impls have files of their own.
#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "check/item_env.hpp"
#include "check/lower_ty.hpp"
#include "check/outlives.hpp"
#include "check/passes.hpp"
#include "types/fold.hpp"

namespace ockc::check {

using hir::DefKind;

namespace {

class UsedParams final : public types::Folder {
  public:
    explicit UsedParams(TypeStore& types) : Folder(types, types::kHasParam) {}
    std::unordered_set<std::uint32_t> used;

  protected:
    TypeId type_of(TypeId type) override {
        if (types_.kind(type) == TypeKind::Param) used.insert(types_[type].index);
        return super_type(type);
    }
    RegionId region_of(RegionId region) override {
        if (types_[region].kind == types::RegionKind::EarlyParam) used.insert(types_[region].index);
        return region;
    }
};

class ItemCheck {
  public:
    ItemCheck(Context& context, DefId def) : cx_(context), program_(context.program()), types_(context.types()), def_(def) {}

    void run() {
        const_params();
        defaults();
        switch (program_.defs[def_].kind) {
            case DefKind::Struct:
            case DefKind::Enum:
            case DefKind::Union: adt(); return;
            case DefKind::Fn:
            case DefKind::AssocFn: function(); return;
            case DefKind::Const:
            case DefKind::AssocConst:
            case DefKind::Static: constant(); return;
            case DefKind::TyAlias: cx_.type_of(def_); return;
            case DefKind::AssocTy: assoc_type(); return;
            case DefKind::Trait:
                cx_.supertraits(def_);
                cx_.predicates_of(def_);
                return;
            case DefKind::Impl: check_impl_items(cx_, def_); return;
            default: return;
        }
    }

  private:
    Diagnostic& error(Code code, Span at, std::string message) { return cx_.sink().error(code, at, std::move(message)); }

    // Constants among the parameters are integers, bool or char; shapes are arrays of these.
    void const_params() {
        const hir::Generics* generics = hir_generics(program_, def_);
        if (generics == nullptr) return;
        for (const hir::GenericParam& param : generics->params) {
            if (param.kind != hir::GenericParam::Kind::Const) continue;
            TypeId type = cx_.type_of(param.def);
            // `[i32]` is an array of any length: shapes in the library of tiles.
            const bool is_library = program_.crates[program_.defs[def_].crate].is_library;
            while (types_.kind(type) == TypeKind::Array || (is_library && types_.kind(type) == TypeKind::Slice)) type = types_[type].element;
            const TypeKind kind = types_.kind(type);
            if (kind == TypeKind::Int || kind == TypeKind::Bool || kind == TypeKind::Char || kind == TypeKind::Error) continue;
            const Span at = program_.types[param.const_type].span;
            error(Code::None, at, fmt::format("`{}` is forbidden as the type of a const generic parameter", cx_.text(type)))
                .note("the only supported types are integers, `bool`, and `char`");
        }
    }

    // A default for a type parameter meets the parameter's bounds, when it says by itself what it is.
    void defaults() {
        const hir::Generics* generics = hir_generics(program_, def_);
        if (generics == nullptr) return;
        const GenericsInfo& info = cx_.generics_of(def_);
        for (std::uint32_t i = 0; i < info.own.size(); ++i) {
            if (!info.own[i].has_default || info.own[i].kind != hir::GenericParam::Kind::Type) continue;
            for (const hir::GenericParam& syntax : generics->params) {
                if (syntax.def == info.own[i].def) default_meets_bounds(info.parent_count + i, syntax.default_type);
            }
        }
    }

    void default_meets_bounds(std::uint32_t index, hir::TyId syntax) {
        TypeLowerer lowerer(cx_, def_, ElidedRegion::Static);
        lowerer.set_quiet(true);   // uses of the default tell what is wrong with it
        const TypeId type = lowerer.lower(syntax);
        if (types_.has(type, types::kHasParam | types::kHasProjection | types::kHasError)) return;
        std::vector<GenericArg> args(types_[cx_.identity_args(def_)].begin(), types_[cx_.identity_args(def_)].end());
        args[index] = type;
        ItemEnv env(cx_, def_);
        for (const Predicate& written : cx_.predicates_of(def_)) {
            if (written.kind != Predicate::Kind::Trait) continue;
            const TypeData self = types_[types_[written.trait_ref.args][0].as_type()];
            Predicate predicate = written;
            predicate.trait_ref.args = types_.subst(written.trait_ref.args, args);
            const bool is_told = self.kind == TypeKind::Param && self.index == index && !types_.has(predicate.trait_ref.args, types::kHasParam);
            if (is_told) env.require(predicate, program_.types[syntax].span);
        }
        env.finish();
    }

    // ---- structs, enums, unions
    void adt() {
        const hir::AdtDef& data = program_.as<hir::AdtDef>(def_);
        const AdtInfo& info = cx_.adt(def_);
        cx_.predicates_of(def_);
        if (is_recursive(info, data)) return;
        ItemEnv env(cx_, def_);
        for (std::size_t v = 0; v < info.variants.size(); ++v) {
            const auto& fields = info.variants[v].fields;
            for (std::size_t f = 0; f < fields.size(); ++f) {
                const Span at = program_.types[data.variants[v].fields[f].type].span;
                env.well_formed(fields[f].type, at);
                const bool may_be_unsized = info.kind == AdtInfo::Kind::Struct && f + 1 == fields.size();
                if (!may_be_unsized) env.require_trait(fields[f].type, cx_.state().lang.sized, at, CauseKind::SizedField);
            }
        }
        env.finish();
        unused_params(info);
        if (info.kind == AdtInfo::Kind::Enum) discriminants(info, data);
        if (info.kind == AdtInfo::Kind::Union) union_fields(info, data);
        static_fields(info, data);
        if (info.repr.transparent) transparent(info, data);
        if (data.repr.packed) {
            std::unordered_set<std::uint32_t> seen;
            if (const DefId inside = aligned_inside(info, seen); inside.valid()) {
                error(Code::E0588, program_.defs[def_].name.span, "packed type cannot transitively contain a `#[repr(align)]` type")
                    .note_at(program_.defs[inside].name.span, fmt::format("`{}` has a `#[repr(align)]` attribute", program_.name(inside)));
            }
        }
    }

    // The first type with `repr(align)` among the fields of a type and theirs; none when there is none. As rustc does, not in
    // arrays and tuples.
    DefId aligned_inside(const AdtInfo& info, std::unordered_set<std::uint32_t>& seen) {
        for (const VariantInfo& variant : info.variants) {
            for (const FieldInfo& field : variant.fields) {
                const TypeData data = types_[field.type];
                if (data.kind != TypeKind::Adt || !seen.insert(data.def.raw).second) continue;
                const hir::Repr& repr = program_.as<hir::AdtDef>(data.def).repr;
                const DefId found = !repr.packed && repr.align != 0 ? data.def : aligned_inside(cx_.adt(data.def), seen);
                if (found.valid()) return found;
            }
        }
        return {};
    }

    // `&'static T` needs `T: 'static`; other lifetimes of a struct's own fields are implied.
    void static_fields(const AdtInfo& info, const hir::AdtDef& data) {
        for (std::size_t v = 0; v < info.variants.size(); ++v) {
            for (std::size_t f = 0; f < info.variants[v].fields.size(); ++f) {
                const TypeId type = info.variants[v].fields[f].type;
                if (types_.has(type, types::kHasParam)) ItemOutlives(cx_, def_).well_formed(type, program_.types[data.variants[v].fields[f].type].span, true);
            }
        }
    }

    void transparent(const AdtInfo& info, const hir::AdtDef& data) {
        if (info.kind != AdtInfo::Kind::Struct || types_.has(cx_.identity_args(def_), types::kHasParam)) return;   // sizes of generic ones are not known
        std::vector<Span> sized;
        for (std::size_t f = 0; f < info.variants[0].fields.size(); ++f) {
            const TypeId type = cx_.normalize(types_.erase_regions(info.variants[0].fields[f].type), cx_.param_env(def_));
            if (types_.has(type, types::kHasError)) return;
            const types::Layout& layout = cx_.layout_of(type);
            if (layout.size != 0 || layout.is_unsized || layout.align > 1) sized.push_back(program_.types[data.variants[0].fields[f].type].span);
        }
        if (sized.size() < 2) return;
        const Span at = program_.defs[def_].name.span;
        Diagnostic& diagnostic = error(Code::E0690, at, fmt::format("transparent struct needs at most one field with non-trivial size or alignment, but has {}", sized.size()));
        diagnostic.label(at, fmt::format("needs at most one field with non-trivial size or alignment, but has {}", sized.size()));
        for (Span field : sized) diagnostic.label(field, "this field has non-zero size or requires alignment");
    }

    // A type that holds itself by value.
    bool is_recursive(const AdtInfo& info, const hir::AdtDef& data) {
        for (std::size_t v = 0; v < info.variants.size(); ++v) {
            for (std::size_t f = 0; f < info.variants[v].fields.size(); ++f) {
                std::unordered_set<TypeId> seen;
                if (!holds_self(info.variants[v].fields[f].type, seen, 0)) continue;
                // Types that hold each other are one error, at the first of them.
                bool known = false;
                for (TypeId part : seen) known |= types_.kind(part) == TypeKind::Adt && cx_.state().recursive_types.contains(types_[part].def);
                if (!cx_.state().recursive_types.insert(def_).second || known) return true;
                const hir::Def& d = program_.defs[def_];
                error(Code::E0072, d.name.span, fmt::format("recursive type `{}` has infinite size", program_.name(def_)))
                    .label(program_.types[data.variants[v].fields[f].type].span, "recursive without indirection")
                    .help("refer to it through a reference, a raw pointer or an index");
                return true;
            }
        }
        return false;
    }

    bool holds_self(TypeId type, std::unordered_set<TypeId>& seen, std::uint32_t depth) {
        if (depth > 64 || !seen.insert(type).second) return false;
        const TypeData data = types_[type];
        if (data.kind == TypeKind::Array) return holds_self(data.element, seen, depth + 1);
        if (data.kind == TypeKind::Tuple) {
            for (TypeId element : types_[data.elements]) {
                if (holds_self(element, seen, depth + 1)) return true;
            }
            return false;
        }
        if (data.kind != TypeKind::Adt) return false;
        if (data.def == def_) return true;
        if (!program_.defs[data.def].lowered) return false;
        for (const VariantInfo& variant : cx_.adt(data.def).variants) {
            for (const FieldInfo& field : variant.fields) {
                if (field.type.valid() && holds_self(types_.subst(field.type, data.args), seen, depth + 1)) return true;
            }
        }
        return false;
    }

    void unused_params(const AdtInfo& info) {
        UsedParams params(types_);
        for (const VariantInfo& variant : info.variants) {
            for (const FieldInfo& field : variant.fields) {
                params.fold(field.type);
                if (types_.has(field.type, types::kHasError)) return;
            }
        }
        const GenericsInfo& generics = cx_.generics_of(def_);
        for (std::uint32_t i = 0; i < generics.own.size(); ++i) {
            const auto& param = generics.own[i];
            if (param.kind == hir::GenericParam::Kind::Const || params.used.count(i) != 0) continue;
            const bool lifetime = param.kind == hir::GenericParam::Kind::Lifetime;
            const Span at = program_.defs[param.def].name.span;
            error(Code::E0392, at, fmt::format("{} parameter `{}` is never used", lifetime ? "lifetime" : "type", program_.interner.text(param.name)))
                .label(at, fmt::format("unused {} parameter", lifetime ? "lifetime" : "type"))
                .help(fmt::format("consider removing `{}`, referring to it in a field, or using a marker such as `PhantomData`", program_.interner.text(param.name)));
        }
    }

    void discriminants(const AdtInfo& info, const hir::AdtDef& data) {
        if (info.variants.empty() && data.repr.span.valid()) {
            error(Code::E0084, data.repr.span, "unsupported representation for zero-variant enum").label(program_.defs[def_].name.span, "zero-variant enum");
        }
        bool explicit_one = false, has_fields = false;
        for (const hir::VariantData& variant : data.variants) {
            explicit_one |= variant.discriminant.valid();
            has_fields |= variant.form != hir::VariantForm::Unit;
        }
        if (explicit_one && has_fields && !info.repr.has_int) {
            error(Code::E0732, program_.defs[def_].name.span, "`#[repr(inttype)]` must be specified for enums with explicit discriminants and non-unit variants");
        }
        std::unordered_map<std::uint64_t, std::size_t> seen;
        for (std::size_t i = 0; i < info.variants.size(); ++i) {
            const auto& value = info.variants[i].discriminant;
            const auto [at, fresh] = seen.emplace(value[0] ^ value[1] * 0x9E37'79B9'7F4A'7C15ull, i);
            if (fresh || info.variants[at->second].discriminant != value) continue;
            const TypeId type = types_.int_type(info.discriminant_type);
            const std::string text = types::scalar_text(types_, type, value[0], value[1]);
            error(Code::E0081, program_.defs[def_].name.span, fmt::format("discriminant value `{}` assigned more than once", text))
                .label(data.variants[at->second].span, fmt::format("`{}` assigned here", text))
                .label(data.variants[i].span, fmt::format("`{}` assigned here", text));
            return;
        }
    }

    void union_fields(const AdtInfo& info, const hir::AdtDef& data) {
        const ParamEnv& env = cx_.param_env(def_);
        for (std::size_t f = 0; f < info.variants[0].fields.size(); ++f) {
            const TypeId type = cx_.normalize(types_.erase_regions(info.variants[0].fields[f].type), env);
            const TypeData field = types_[type];
            const bool fine = cx_.is_copy(type, env) || field.kind == TypeKind::Ref || (field.kind == TypeKind::Adt && field.def == cx_.state().lang.manually_drop);
            if (fine || types_.has(type, types::kHasError)) continue;
            error(Code::E0740, data.variants[0].fields[f].span, "field must implement `Copy` or be wrapped in `ManuallyDrop<...>` to be used in a union");
        }
    }

    // ---- functions and constants
    void function() {
        const hir::FnDef& fn = program_.as<hir::FnDef>(def_);
        if (!program_.defs[def_].lowered) return;
        const FnSigInfo& sig = cx_.fn_sig(def_);
        cx_.predicates_of(def_);
        ItemEnv env(cx_, def_);
        for (std::size_t i = 0; i < sig.inputs.size(); ++i) env.well_formed(sig.inputs[i], program_.types[fn.sig.inputs[i].type].span);
        env.well_formed(sig.output, fn.sig.output_span.valid() ? fn.sig.output_span : fn.sig.span);
        if (sig.has_self) check_self_type(sig.inputs[0], program_.types[fn.sig.inputs[0].type].span);
        env.finish();
    }

    // `self` is Self or a reference to it.
    void check_self_type(TypeId type, Span at) {
        TypeId wanted = program_.defs[program_.defs[def_].parent].kind == DefKind::Trait ? types_.param(0, program_.interner.intern("Self"))
                                                                                         : types_.erase_regions(cx_.type_of(program_.defs[def_].parent));
        TypeId have = types_.erase_regions(type);
        if (types_.has(have, types::kHasError) || types_.has(wanted, types::kHasError)) return;
        wanted = cx_.normalize(wanted, cx_.param_env(def_));
        have = cx_.normalize(have, cx_.param_env(def_));
        for (int depth = 0; depth < 4; ++depth) {
            if (have == wanted) return;
            if (types_.kind(have) != TypeKind::Ref) break;
            have = types_[have].element;
        }
        if (types_.kind(have) == TypeKind::RawPtr && types_[have].element == wanted) {
            error(Code::E0658, at, fmt::format("`{}` cannot be used as the type of `self` without the `arbitrary_self_types_pointers` feature", cx_.text(type)));
            return;
        }
        error(Code::E0307, at, fmt::format("invalid `self` parameter type: `{}`", cx_.text(type))).note("type of `self` must be `Self` or a reference to it");
    }

    void constant() {
        if (!program_.defs[def_].lowered) return;
        const TypeId type = cx_.type_of(def_);
        const auto* item = std::get_if<hir::StaticDef>(&program_.defs[def_].data);
        const hir::TyId syntax = item != nullptr ? item->type : program_.as<hir::ConstDef>(def_).type;
        if (!syntax.valid()) return;
        const Span at = program_.types[syntax].span;
        ItemEnv env(cx_, def_);
        env.well_formed(type, at);
        const bool has_value = item != nullptr || program_.as<hir::ConstDef>(def_).body.valid();   // a trait's constant may have none
        if (has_value) env.require_trait(type, cx_.state().lang.sized, at);
        if (item != nullptr && !item->is_mut) {
            const DefId sync = cx_.state().lang_item("sync");
            if (!types_.has(type, types::kHasError) && sync.valid() && !cx_.implements(types_.erase_regions(type), sync, cx_.param_env(def_))) {
                error(Code::E0277, at, fmt::format("`{}` cannot be shared between threads safely", cx_.text(type)))
                    .label(at, fmt::format("`{}` cannot be shared between threads safely", cx_.text(type)))
                    .note("shared static variables must have a type that implements `Sync`");
            }
        }
        env.finish();
        // A constant outside generic code is evaluated even when nothing uses it.
        const bool generic = types_.has(cx_.identity_args(def_), types::kHasParam);
        const bool required = program_.defs[def_].kind != DefKind::AssocConst;
        if (!generic && required) cx_.eval_const({def_, types_.no_args});
    }

    void assoc_type() {
        if (!program_.defs[def_].lowered) return;
        const bool in_trait = is_trait_item(program_, def_);
        const DefId parent = program_.defs[def_].parent;
        const Span at = program_.defs[def_].span;
        if (in_trait && program_.as<hir::TypeAliasDef>(def_).type.valid()) error(Code::E0658, at, "associated type defaults are unstable");
        if (!in_trait && !program_.as<hir::ImplDef>(parent).has_trait) error(Code::E0658, at, "inherent associated types are unstable");
        if (!in_trait) cx_.type_of(def_);
    }

    Context& cx_;
    const hir::Program& program_;
    TypeStore& types_;
    DefId def_;
};

}  // namespace

void check_item(Context& context, DefId def) {
    if (!context.state().checked_items.insert(def).second || !context.program().defs[def].lowered) return;
    ItemCheck(context, def).run();
}

}  // namespace ockc::check
