#include "resolve/derive.hpp"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "lex/token.hpp"
#include "resolve/attributes.hpp"
#include "resolve/lookup.hpp"
#include "support/enum_table.hpp"

namespace ockc::resolve {

namespace {

struct DeriveRow {
    std::string_view name;
    std::string_view path;
    bool silent;
};
constexpr DeriveRow kDerives[] = {
#define OCKC_DERIVE(kind, name, path, silent) {name, path, silent},
#include "resolve/macros.def"
};
const DeriveRow& derive_row(DeriveKind kind) { return kDerives[static_cast<std::size_t>(kind)]; }

// A struct or variant as text needs it.
struct Shape {
    std::string name;                   // "Self" or "Self::A"
    hir::VariantForm form = hir::VariantForm::Unit;
    std::vector<std::string> fields;    // names, or "0", "1"
    Span span;                          // of the variant's name
    bool is_default = false;            // #[default]
};
struct Adt {
    bool is_enum = false;
    bool has_type_params = false;
    std::vector<Shape> shapes;
};

std::string written(const State& state, Symbol name, lex::Edition edition) {
    const std::string_view text = state.text(name);
    const lex::TokenKind kind = lex::word_kind(text, edition);
    return lex::is_keyword(kind) ? fmt::format("r#{}", text) : std::string(text);
}

hir::VariantForm form_of(ast::VariantForm form) {
    switch (form) {
        case ast::VariantForm::Unit: return hir::VariantForm::Unit;
        case ast::VariantForm::Tuple: return hir::VariantForm::Tuple;
        case ast::VariantForm::Named: return hir::VariantForm::Named;
    }
    OCKC_UNREACHABLE("variant form");
}

Adt read_adt(State& state, DefId def) {
    const std::uint32_t crate = state[def].crate;
    const ast::Item item = state.ast_of(crate)[state.origin[def].item];
    Adt adt;
    ast::GenericsId generics;
    const auto add = [&](std::string name, hir::VariantForm form, ast::List<ast::FieldDef> fields) -> Shape& {
        Shape shape;
        shape.name = std::move(name);
        shape.form = form;
        for (const ast::FieldDef& field : fields) {
            if (!cfg_enabled(state, crate, field.attributes)) continue;
            shape.fields.push_back(form == hir::VariantForm::Named ? written(state, field.ident.name, state.options.edition) : fmt::format("{}", shape.fields.size()));
        }
        return adt.shapes.emplace_back(std::move(shape));
    };
    if (const auto* s = std::get_if<ast::StructItem>(&item.data)) {
        generics = s->generics;
        add("Self", form_of(s->form), s->fields);
    } else if (const auto* e = std::get_if<ast::EnumItem>(&item.data)) {
        adt.is_enum = true;
        generics = e->generics;
        for (const ast::Variant& variant : e->variants) {
            const Evaluated evaluated = evaluate(state, crate, variant.attributes);
            if (!evaluated.enabled) continue;
            Shape& shape = add("Self::" + written(state, variant.ident.name, state.options.edition), form_of(variant.form), variant.fields);
            shape.span = variant.ident.span;
            shape.is_default = find_attribute(state, crate, evaluated.attrs, hir::AttributeKind::DefaultVariant) != nullptr;
        }
    }
    if (generics.valid()) {
        for (const ast::GenericParam& param : state.ast_of(crate)[generics].params) adt.has_type_params |= param.kind == ast::GenericParamKind::Type;
    }
    return adt;
}

// `Self::A(a0, a1)`, `Self::B { x: a0 }`: a pattern or an expression.
template <class F>
std::string build(const Shape& shape, F&& value) {
    std::string text = shape.name;
    if (shape.form == hir::VariantForm::Unit) return text;
    text += shape.form == hir::VariantForm::Tuple ? "(" : " { ";
    for (std::size_t i = 0; i < shape.fields.size(); ++i) {
        if (shape.form == hir::VariantForm::Named) text += shape.fields[i] + ": ";
        text += value(i) + ", ";
    }
    text += shape.form == hir::VariantForm::Tuple ? ")" : "}";
    return text;
}
std::string pattern(const Shape& shape, char prefix) {
    return build(shape, [&](std::size_t i) { return fmt::format("{}{}", prefix, i); });
}

std::string clone_items(const Adt& adt, bool also_copy) {
    std::string body;
    const auto clone = [](const std::string& place) { return fmt::format("::core::clone::Clone::clone({})", place); };
    if (also_copy && !adt.has_type_params) {
        body = "*self";
    } else if (!adt.is_enum) {
        body = build(adt.shapes[0], [&](std::size_t i) { return clone("&self." + adt.shapes[0].fields[i]); });
    } else if (adt.shapes.empty()) {
        body = "match *self {}";
    } else {
        body = "match self { ";
        for (const Shape& shape : adt.shapes) {
            body += pattern(shape, 'a') + " => " + build(shape, [&](std::size_t i) { return clone(fmt::format("a{}", i)); }) + ", ";
        }
        body += "}";
    }
    return fmt::format("#[inline] fn clone(&self) -> Self {{ {} }}", body);
}

std::string eq_items(const Adt& adt) {
    std::string body;
    if (!adt.is_enum) {
        for (const std::string& field : adt.shapes[0].fields) body += fmt::format("{}self.{} == other.{}", body.empty() ? "" : " && ", field, field);
        if (body.empty()) body = "true";
    } else if (adt.shapes.empty()) {
        body = "match *self {}";
    } else {
        body = "match (self, other) { ";
        for (const Shape& shape : adt.shapes) {
            std::string test;
            for (std::size_t i = 0; i < shape.fields.size(); ++i) test += fmt::format("{}*a{} == *b{}", i == 0 ? "" : " && ", i, i);
            body += fmt::format("({}, {}) => {}, ", pattern(shape, 'a'), pattern(shape, 'b'), test.empty() ? "true" : test);
        }
        body += adt.shapes.size() > 1 ? "_ => false }" : "}";
    }
    return fmt::format("#[inline] fn eq(&self, other: &Self) -> bool {{ {} }}", body);
}

// Lexicographic: the first pair that differs decides.
std::string compare_chain(const std::vector<std::pair<std::string, std::string>>& pairs, std::string_view call, std::string_view equal) {
    std::string text(equal);
    for (std::size_t i = pairs.size(); i-- > 0;) {
        text = fmt::format("match {}({}, {}) {{ {} => {}, unequal => unequal }}", call, pairs[i].first, pairs[i].second, equal, text);
    }
    return text;
}

std::string compare_items(const Adt& adt, bool partial) {
    const std::string_view call = partial ? "::core::cmp::PartialOrd::partial_cmp" : "::core::cmp::Ord::cmp";
    const std::string_view equal = partial ? "::core::option::Option::Some(::core::cmp::Ordering::Equal)" : "::core::cmp::Ordering::Equal";
    std::vector<std::pair<std::string, std::string>> pairs;
    std::string body;
    if (!adt.is_enum) {
        for (const std::string& field : adt.shapes[0].fields) pairs.emplace_back("&self." + field, "&other." + field);
        body = compare_chain(pairs, call, equal);
    } else if (adt.shapes.empty()) {
        body = "match *self {}";
    } else {
        body = "match (self, other) { ";
        for (const Shape& shape : adt.shapes) {
            pairs.clear();
            for (std::size_t i = 0; i < shape.fields.size(); ++i) pairs.emplace_back(fmt::format("a{}", i), fmt::format("b{}", i));
            if (!pairs.empty()) body += fmt::format("({}, {}) => {}, ", pattern(shape, 'a'), pattern(shape, 'b'), compare_chain(pairs, call, equal));
        }
        // Variants without fields, and two different variants: their order of declaration.
        const auto position = [&](std::string_view which) {
            std::string text = fmt::format("&match {} {{ ", which);
            for (std::size_t i = 0; i < adt.shapes.size(); ++i) text += fmt::format("{} {{ .. }} => {}isize, ", adt.shapes[i].name, i);
            return text + "}";
        };
        body += fmt::format("_ => {}({}, {}) }}", call, position("self"), position("other"));
    }
    const std::string_view result = partial ? "::core::option::Option<::core::cmp::Ordering>" : "::core::cmp::Ordering";
    return fmt::format("#[inline] fn {}(&self, other: &Self) -> {} {{ {} }}", partial ? "partial_cmp" : "cmp", result, body);
}

// `at`: the word in the #[derive].
std::string default_items(State& state, Span at, const Adt& adt) {
    const Shape* shape = adt.shapes.empty() ? nullptr : &adt.shapes[0];
    if (adt.is_enum) {
        shape = nullptr;
        bool several = false;
        for (const Shape& s : adt.shapes) {
            if (!s.is_default) continue;
            several = several || shape != nullptr;
            shape = &s;
        }
        const bool unit = shape != nullptr && shape->form == hir::VariantForm::Unit;
        if (shape == nullptr) state.sink->error(Code::E0665, at, "`#[derive(Default)]` on enum with no `#[default]`").help("mark a unit variant with `#[default]`");
        else if (several) state.sink->error(at, "multiple declared defaults").note("only one variant can be default");
        else if (!unit) state.sink->error(shape->span, "the `#[default]` attribute may only be used on unit enum variants").help("consider a manual implementation of `Default`");
        if (!unit || several) return "fn default() -> Self { loop {} }";   // an impl all the same: what uses it is no error of its own
    }
    const std::string body = build(*shape, [](std::size_t) { return std::string("::core::default::Default::default()"); });
    return fmt::format("#[inline] fn default() -> Self {{ {} }}", body);
}

// Is Copy derived for the type too? What the library derives stands in no index until a program reaches it.
bool derives_copy(const State& state, DefId adt) {
    const auto is_that = [&](const ImplInfo& impl) { return impl.derive == DeriveKind::Copy && impl.head.adt == adt; };
    const auto known = state.impls_of_adt.find(adt);
    if (state.is_on_demand(adt) || known == state.impls_of_adt.end()) return std::any_of(state.impls.begin(), state.impls.end(), is_that);
    return std::any_of(known->second.begin(), known->second.end(), [&](std::uint32_t index) { return is_that(state.impls[index]); });
}

}  // namespace

std::optional<DeriveKind> derive_kind(const State& state, std::uint32_t crate, const ast::MetaItem& meta) {
    const std::string path = meta_path_text(state, crate, meta);
    const std::size_t colon = path.rfind(':');
    const std::string_view last = std::string_view(path).substr(colon == std::string::npos ? 0 : colon + 1);
    for (std::size_t i = 0; i < std::size(kDerives); ++i) {
        if (kDerives[i].name == last) return static_cast<DeriveKind>(i);
    }
    return std::nullopt;
}

bool derive_is_silent(DeriveKind kind) { return derive_row(kind).silent; }
std::string_view derive_name(DeriveKind kind) { return derive_row(kind).name; }
std::string_view derived_trait_path(DeriveKind kind) { return derive_row(kind).path; }

DefId derived_trait(const State& state, DeriveKind kind) {
    std::vector<ImportSegment> segments;
    std::string_view rest = derive_row(kind).path;
    while (!rest.empty()) {
        rest.remove_prefix(2);   // "::"
        const std::size_t end = std::min(rest.find("::"), rest.size());
        ImportSegment segment;
        segment.ident.name = state.names.intern(rest.substr(0, end));
        segments.push_back(segment);
        rest.remove_prefix(end);
    }
    if (segments.empty() || !state.user_root.valid()) return {};
    const PathEnd end = find_path(state, segments, true, Ns::Type, state.user_root, nullptr);
    return end.kind == PathEnd::Kind::Done && end.res.kind == Res::Kind::Def ? end.res.def : DefId();
}

void check_derive_name(State& state, std::uint32_t crate, ModuleId module, const ast::MetaItem& meta) {
    if (derive_kind(state, crate, meta) || !meta.path.valid()) return;
    const ast::Path& path = state.ast_of(crate)[meta.path];
    std::vector<ImportSegment> segments;
    for (const ast::PathSegment& segment : path.segments) segments.push_back({segment.kind, hir_ident(segment.ident), segment.ident.context});
    const PathEnd end = find_path(state, segments, path.global, Ns::Macro, module, nullptr);
    if (end.kind == PathEnd::Kind::Done) return;   // of a host crate: its impls are for the host
    auto& error = state.sink->error(meta.span, fmt::format("cannot find derive macro `{}` in this scope", meta_path_text(state, crate, meta)));
    std::vector<std::string_view> names;
    for (const DeriveRow& r : kDerives) names.push_back(r.name);
    const std::string_view near = nearest_name(names, state.text(path.segments.back().ident.name));
    if (!near.empty()) error.suggest(meta.span, std::string(near), "a derive macro with a similar name exists");
}

std::string derived_items(State& state, DefId def, DeriveKind kind, Span at) {
    const Adt adt = read_adt(state, def);
    if (!adt.is_enum && adt.shapes.empty()) return {};   // a union: refused where it is lowered
    switch (kind) {
        case DeriveKind::Copy:
        case DeriveKind::Eq: return {};
        case DeriveKind::Clone: return clone_items(adt, derives_copy(state, def));
        case DeriveKind::PartialEq: return eq_items(adt);
        case DeriveKind::PartialOrd: return compare_items(adt, true);
        case DeriveKind::Ord: return compare_items(adt, false);
        case DeriveKind::Default: return default_items(state, at, adt);
        case DeriveKind::Debug: return "fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result { let _ = f; ::core::result::Result::Ok(()) }";
        case DeriveKind::Hash:
        case DeriveKind::DeviceCopy: OCKC_UNREACHABLE("this derive makes no impl");
    }
    OCKC_UNREACHABLE("derive kind");
}

}  // namespace ockc::resolve
