// non_snake_case, non_camel_case_types, non_upper_case_globals. Names that a trait decides are the trait's matter.
#include <algorithm>

#include <fmt/format.h>

#include <unordered_set>

#include "hir/walk.hpp"
#include "lints/lint.hpp"

namespace ockc::lints {

namespace {

using hir::DefKind;

bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
bool is_cased(char c) { return is_upper(c) || is_lower(c); }

std::string_view trimmed(std::string_view name) {
    while (name.starts_with('_')) name.remove_prefix(1);
    while (name.ends_with('_')) name.remove_suffix(1);
    return name;
}
bool is_snake(std::string_view name) {
    if (name.starts_with('\'')) name.remove_prefix(1);
    name = trimmed(name);
    return name.find("__") == std::string_view::npos && std::none_of(name.begin(), name.end(), is_upper);
}
bool is_camel(std::string_view name) {
    name = trimmed(name);
    if (name.empty()) return true;
    if (is_lower(name.front()) || name.find("__") != std::string_view::npos) return false;
    for (std::size_t i = 1; i + 1 < name.size(); ++i) {
        if (name[i] == '_' && (is_cased(name[i - 1]) || is_cased(name[i + 1]))) return false;
    }
    return true;
}
bool is_screaming(std::string_view name) { return std::none_of(name.begin(), name.end(), is_lower); }

// `_Big` as `_big`, `a__b` as `a_b`: underscores in front stay, inside each is one.
std::string snake(std::string_view name) {
    std::string out;
    for (std::size_t i = 0; i < name.size(); ++i) {
        const bool again = name[i] == '_' && i > 0 && name[i - 1] == '_' && out.find_first_not_of("_'") != std::string::npos;
        if (again) continue;
        const bool word = is_upper(name[i]) && i > 0 && name[i - 1] != '_' && (!is_upper(name[i - 1]) || (i + 1 < name.size() && is_lower(name[i + 1])));
        if (word) out += '_';
        out += is_upper(name[i]) ? static_cast<char>(name[i] - 'A' + 'a') : name[i];
    }
    return out;
}
std::string camel(std::string_view name) {
    std::string out;
    bool start = true;
    for (const char c : name) {
        if (c == '_') {
            start = true;
            continue;
        }
        out += start && is_lower(c) ? static_cast<char>(c - 'a' + 'A') : c;
        start = false;
    }
    return out;
}
std::string screaming(std::string_view name) {
    std::string out = snake(name);
    for (char& c : out) c = is_lower(c) ? static_cast<char>(c - 'a' + 'A') : c;
    return out;
}

class NameLint {
  public:
    NameLint(const hir::Program& program, check::Context& context) : program_(program), cx_(context) {}

    void run() {
        for (DefId def(0); def.raw < program_.defs.size(); def = DefId(def.raw + 1)) {
            const hir::Def& d = program_.defs[def];
            if (d.lowered && d.name.name.valid() && is_user_code(program_, def)) item(def, d);
        }
        for (const DefId owner : cx_.checked_bodies()) {
            if (!is_user_code(program_, owner)) continue;
            if (const check::TypeTables* tables = cx_.check_body(owner)) variables(*program_.bodies[tables->body]);
        }
    }

  private:
    bool of_trait_impl(const hir::Def& d) const {
        const auto* impl = d.parent.valid() ? std::get_if<hir::ImplDef>(&program_.defs[d.parent].data) : nullptr;
        return impl != nullptr && impl->has_trait;
    }
    bool in_trait(const hir::Def& d) const { return d.parent.valid() && program_.defs[d.parent].kind == DefKind::Trait; }
    bool is_c(DefId type) const {
        const auto* adt = std::get_if<hir::AdtDef>(&program_.defs[type].data);
        return adt != nullptr && adt->repr.c;
    }

    void item(DefId def, const hir::Def& d) {
        switch (d.kind) {
            case DefKind::Mod:
                if (d.parent.valid()) snake_case(d.name, "module");
                return;
            case DefKind::Fn:
                if (program_.attribute(def, hir::AttributeKind::NoMangle) == nullptr) snake_case(d.name, "function");
                return;
            case DefKind::AssocFn:
                if (!of_trait_impl(d)) snake_case(d.name, associated(d, def));
                return;
            case DefKind::Struct:
            case DefKind::Union:
            case DefKind::Enum:
            case DefKind::TyAlias:
                if (!is_c(def)) camel_case(d.name, "type");
                fields(def);
                return;
            case DefKind::Trait: return camel_case(d.name, "trait");
            case DefKind::AssocTy:
                if (!of_trait_impl(d)) camel_case(d.name, "associated type");
                return;
            case DefKind::Const: return upper_case(d.name, "constant");
            case DefKind::AssocConst:
                if (!of_trait_impl(d)) upper_case(d.name, "associated constant");
                return;
            case DefKind::Static: return upper_case(d.name, "static variable");
            case DefKind::TyParam:
                if (program_.interner.text(d.name.name).find(' ') == std::string_view::npos) camel_case(d.name, "type parameter");   // not of `impl Trait`
                return;
            case DefKind::ConstParam: return upper_case(d.name, "const parameter");
            case DefKind::LifetimeParam: return snake_case(d.name, "lifetime");
            case DefKind::Variant:
            case DefKind::Ctor:
            case DefKind::Field:
            case DefKind::Impl:
            case DefKind::Closure:
            case DefKind::AnonConst:
            case DefKind::Macro:
            case DefKind::Crate:
            case DefKind::ForeignFn:
            case DefKind::ImplTrait:
            case DefKind::Opaque: return;
        }
    }
    const char* associated(const hir::Def& d, DefId def) const {
        const bool method = std::get<hir::FnDef>(program_.defs[def].data).sig.has_self;
        if (in_trait(d)) return method ? "trait method" : "associated function";
        return method ? "method" : "associated function";
    }
    void fields(DefId type) {
        const auto* adt = std::get_if<hir::AdtDef>(&program_.defs[type].data);
        if (adt == nullptr) return;
        for (const hir::VariantData& variant : adt->variants) {
            if (program_.defs[type].kind == DefKind::Enum) camel_case(variant.name, "variant");
            if (variant.form != hir::VariantForm::Named) continue;
            for (const hir::FieldDef& field : variant.fields) snake_case(field.name, "structure field");
        }
    }
    void variables(const hir::Body& body) {
        const std::unordered_set<std::uint32_t> fields = shorthands(body);
        for (const hir::Local& local : body.locals) {
            if (local.desugared || !local.name.name.valid() || !local.pat.valid()) continue;
            if (!fields.contains(local.pat.raw)) snake_case(local.name, "variable");
        }
    }
    // The patterns of `S { Field }`: named by the field and reported there.
    static std::unordered_set<std::uint32_t> shorthands(const hir::Body& body) {
        std::unordered_set<std::uint32_t> found;
        for (const hir::Pat& pat : body.pats) {
            const auto* fields = std::get_if<hir::StructPat>(&pat.data);
            if (fields == nullptr) continue;
            for (const hir::FieldPat& field : fields->fields) {
                if (field.shorthand) found.insert(field.pat.raw);
            }
        }
        return found;
    }

    void snake_case(const hir::Ident& name, const char* what) {
        const std::string_view text = program_.interner.text(name.name);
        if (is_snake(text)) return;
        cx_.sink().lint("non_snake_case", name.span, fmt::format("{} `{}` should have a snake case name", what, text))
            .suggest(name.span, snake(text), "convert the identifier to snake case", Applicability::MaybeIncorrect);
    }
    void camel_case(const hir::Ident& name, const char* what) {
        const std::string_view text = program_.interner.text(name.name);
        if (is_camel(text)) return;
        cx_.sink().lint("non_camel_case_types", name.span, fmt::format("{} `{}` should have an upper camel case name", what, text))
            .suggest(name.span, camel(text), "convert the identifier to upper camel case", Applicability::MaybeIncorrect);
    }
    void upper_case(const hir::Ident& name, const char* what) {
        const std::string_view text = program_.interner.text(name.name);
        if (is_screaming(text)) return;
        cx_.sink().lint("non_upper_case_globals", name.span, fmt::format("{} `{}` should have an upper case name", what, text))
            .suggest(name.span, screaming(text), "convert the identifier to upper case", Applicability::MaybeIncorrect);
    }

    const hir::Program& program_;
    check::Context& cx_;
};

}  // namespace

void check_names(const hir::Program& program, check::Context& context) { NameLint(program, context).run(); }

}  // namespace ockc::lints
