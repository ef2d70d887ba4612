#include "resolve/state.hpp"

#include <fmt/format.h>

#include "types/type.hpp"

namespace ockc::resolve {

DefId State::new_def(DefKind kind, hir::Ident name, DefId parent, Span span, std::uint32_t crate, DefSource source) {
    hir::Def def;
    def.kind = kind;
    def.name = name;
    def.parent = parent;
    def.span = span;
    def.crate = crate;
    switch (kind) {
        case DefKind::Mod: def.data = hir::ModDef{}; break;
        case DefKind::Struct:
        case DefKind::Union:
        case DefKind::Enum: def.data = hir::AdtDef{}; break;
        case DefKind::Trait: def.data = hir::TraitDef{}; break;
        case DefKind::TyAlias:
        case DefKind::AssocTy:
        case DefKind::ImplTrait: def.data = hir::TypeAliasDef{}; break;
        case DefKind::Fn:
        case DefKind::AssocFn:
        case DefKind::ForeignFn: def.data = hir::FnDef{}; break;
        case DefKind::Const:
        case DefKind::AssocConst: def.data = hir::ConstDef{}; break;
        case DefKind::Static: def.data = hir::StaticDef{}; break;
        case DefKind::Impl: def.data = hir::ImplDef{}; break;
        case DefKind::TyParam:
        case DefKind::ConstParam:
        case DefKind::LifetimeParam: def.data = hir::ParamDef{}; break;
        case DefKind::AnonConst: def.data = hir::AnonConstDef{}; break;
        case DefKind::Variant:
        case DefKind::Ctor:
        case DefKind::Field:
        case DefKind::Closure:
        case DefKind::Macro:
        case DefKind::Crate:
        case DefKind::Opaque: def.data = hir::PlainDef{}; break;
    }
    origin.push(source);
    return program.defs.push(std::move(def));
}

ModuleId State::new_module(ModuleKind kind, DefId def, ModuleId parent, std::uint32_t crate, bool device) {
    auto module = std::make_unique<Module>();
    module->kind = kind;
    module->def = def;
    module->parent = parent;
    module->crate = crate;
    module->device = device;
    modules.push_back(std::move(module));
    return ModuleId(static_cast<std::uint32_t>(modules.size() - 1));
}

ModuleId State::normal_module(ModuleId module) const {
    while (modules[module.raw]->kind != ModuleKind::Module && modules[module.raw]->parent.valid()) module = modules[module.raw]->parent;
    return module;
}

namespace {

std::string form_text(hir::VariantForm form, std::string_view what) {
    switch (form) {
        case hir::VariantForm::Named: return std::string(what);
        case hir::VariantForm::Tuple: return fmt::format("tuple {}", what);
        case hir::VariantForm::Unit: return fmt::format("unit {}", what);
    }
    OCKC_UNREACHABLE("variant form");
}

}  // namespace

std::string res_text(const State& state, const Res& res) {
    switch (res.kind) {
        case Res::Kind::Error: return "unresolved item";
        case Res::Kind::Local: return "local variable";
        case Res::Kind::Prim: return "builtin type";
        case Res::Kind::SelfParam:
        case Res::Kind::SelfAlias: return "self type";
        case Res::Kind::SelfCtor: return "self constructor";
        case Res::Kind::Def: break;
    }
    const hir::Def& def = state.program.defs[res.def];
    const DefSource& origin = state.origin[res.def];
    if (def.kind == DefKind::Ctor) {
        return form_text(origin.form, state.program.defs[def.parent].kind == DefKind::Struct ? "struct" : "variant");
    }
    if (def.kind == DefKind::Variant && origin.form != hir::VariantForm::Named) return form_text(origin.form, "variant");
    if (def.kind == DefKind::Mod && !def.parent.valid()) return "crate";
    return std::string(hir::def_kind_text(def.kind));
}

std::string_view article(std::string_view noun) {
    return !noun.empty() && std::string_view("aeio").find(noun[0]) != std::string_view::npos ? "an" : "a";
}

namespace {

constexpr std::string_view kPrimNames[] = {
    "bool", "char", "str",
#define OCKC_PRIM_ROW(name, text, ...) text,
    OCKC_PRIM_INTS(OCKC_PRIM_ROW) OCKC_PRIM_FLOATS(OCKC_PRIM_ROW)
#undef OCKC_PRIM_ROW
};

}  // namespace

std::optional<hir::PrimTy> prim_type(std::string_view name) {
    if (name.size() < 2 || name.size() > 5 || std::string_view("bcfisu").find(name[0]) == std::string_view::npos) return std::nullopt;
    for (std::size_t i = 0; i < std::size(kPrimNames); ++i) {
        if (kPrimNames[i].size() == name.size() && kPrimNames[i][0] == name[0] && kPrimNames[i] == name) return static_cast<hir::PrimTy>(i);
    }
    return std::nullopt;
}

std::string_view prim_name(hir::PrimTy prim) { return kPrimNames[static_cast<std::size_t>(prim)]; }

}  // namespace ockc::resolve
