#include "hir/hir.hpp"

namespace ockc::hir {

std::string_view def_kind_text(DefKind kind) {
    switch (kind) {
        case DefKind::Mod: return "module";
        case DefKind::Struct: return "struct";
        case DefKind::Union: return "union";
        case DefKind::Enum: return "enum";
        case DefKind::Variant: return "variant";
        case DefKind::Trait: return "trait";
        case DefKind::TyAlias: return "type alias";
        case DefKind::AssocTy: return "associated type";
        case DefKind::Fn: return "function";
        case DefKind::AssocFn: return "associated function";
        case DefKind::Const: return "constant";
        case DefKind::AssocConst: return "associated constant";
        case DefKind::Static: return "static";
        case DefKind::Ctor: return "constructor";
        case DefKind::Field: return "field";
        case DefKind::Impl: return "implementation";
        case DefKind::TyParam: return "type parameter";
        case DefKind::ConstParam: return "const parameter";
        case DefKind::LifetimeParam: return "lifetime parameter";
        case DefKind::Closure: return "closure";
        case DefKind::AnonConst: return "constant expression";
        case DefKind::Macro: return "macro";
        case DefKind::Crate: return "crate";
        case DefKind::ForeignFn: return "function";
        case DefKind::ImplTrait: return "opaque type";
        case DefKind::Opaque: return "host item";
    }
    OCKC_UNREACHABLE("definition kind");
}

namespace {

// What stands for an unnamed definition in a path.
std::string unnamed_text(DefKind kind) {
    if (kind == DefKind::Closure) return "{closure}";
    if (kind == DefKind::AnonConst) return "{constant}";
    return "{impl}";
}

}  // namespace

std::string Program::path_text(DefId def) const {
    std::vector<DefId> chain;
    for (DefId at = def; at.valid(); at = defs[at].parent) chain.push_back(at);
    std::string text;
    for (std::size_t i = chain.size(); i-- > 0;) {
        const Def& d = defs[chain[i]];
        if (!d.parent.valid() && d.kind == DefKind::Mod && !crates[d.crate].is_library && chain.size() > 1) continue;   // the user's crate
        if (d.kind == DefKind::Ctor) continue;   // named as what it makes
        if (!text.empty()) text += "::";
        text += d.name.name.valid() ? std::string(name(chain[i])) : unnamed_text(d.kind);
    }
    return text;
}

}  // namespace ockc::hir
