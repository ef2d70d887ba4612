// The impl of a #[derive]: `impl<'a, T: Bound + Trait, const N: usize> Trait for Adt<'a, T, N> where .. { generated items }`, made as
// syntax and lowered like any other.
#include <fmt/format.h>

#include <algorithm>

#include "ast/visit.hpp"
#include "lex/lexer.hpp"
#include "resolve/collect.hpp"
#include "resolve/derive.hpp"
#include "resolve/lower.hpp"

namespace ockc::resolve {

namespace {

class ImplBuilder {
  public:
    ImplBuilder(State& state, std::uint32_t crate, Span span) : s_(state), ast_(state.ast_of(crate)), span_(span) {}

    ast::Ident ident(Symbol name) const {
        ast::Ident ident;
        ident.name = name;
        ident.span = span_;
        return ident;
    }
    ast::PathId path(std::string_view text) {
        ast::Path path;
        path.span = span_;
        path.global = true;
        std::vector<ast::PathSegment> segments;
        while (!text.empty()) {
            text.remove_prefix(2);   // "::"
            const std::size_t end = std::min(text.find("::"), text.size());
            segments.push_back({ast::SegmentKind::Name, ident(s_.names.intern(text.substr(0, end))), {}});
            text.remove_prefix(end);
        }
        path.segments = ast_.list(segments);
        return ast_.add(path);
    }
    ast::TypeId path_type(Symbol name, ast::GenericArgsId args) {
        ast::Path path;
        path.span = span_;
        path.segments = ast_.list({ast::PathSegment{ast::SegmentKind::Name, ident(name), args}});
        ast::Type type;
        type.span = span_;
        type.data = ast::PathType{ast_.add(path)};
        return ast_.add(type);
    }
    // The type's parameters, each type parameter bounded by the trait, as what fields have of them (`T::Item`); defaults dropped.
    // No trait: no bounds.
    ast::GenericsId generics(ast::GenericsId of_type, std::string_view trait, std::span<const ast::TypeId> projections) {
        ast::Generics generics = ast_[of_type];
        std::vector<ast::GenericParam> params(generics.params.begin(), generics.params.end());
        for (ast::GenericParam& param : params) {
            param.attributes = {};
            param.value = {};
            if (param.kind != ast::GenericParamKind::Type) continue;
            param.type = {};
            if (trait.empty()) continue;
            std::vector<ast::Bound> bounds(param.bounds.begin(), param.bounds.end());
            bounds.push_back(bound(trait));
            param.bounds = ast_.list(bounds);
        }
        generics.params = ast_.list(params);
        if (trait.empty() || projections.empty()) return ast_.add(generics);
        std::vector<ast::WherePredicate> predicates(generics.predicates.begin(), generics.predicates.end());
        for (const ast::TypeId type : projections) {
            ast::WherePredicate& predicate = predicates.emplace_back();
            predicate.span = span_;
            predicate.type = type;
            const std::vector<ast::Bound> bounds{bound(trait)};
            predicate.bounds = ast_.list(bounds);
        }
        generics.predicates = ast_.list(predicates);
        return ast_.add(generics);
    }
    ast::Bound bound(std::string_view trait) {
        ast::Bound bound;
        bound.span = span_;
        bound.path = path(trait);
        return bound;
    }
    ast::TypeId self_type(Symbol name, ast::GenericsId of_type) {
        const ast::Generics generics = ast_[of_type];
        if (generics.params.empty()) return path_type(name, {});
        std::vector<ast::GenericArg> args;
        for (const ast::GenericParam& param : generics.params) {
            ast::GenericArg arg;
            arg.span = span_;
            if (param.kind == ast::GenericParamKind::Lifetime) arg.data = ast::LifetimeGenericArg{ident(param.ident.name)};
            else arg.data = ast::TypeGenericArg{path_type(param.ident.name, {})};
            args.push_back(arg);
        }
        ast::GenericArgs list;
        list.span = span_;
        list.args = ast_.list(args);
        return path_type(name, ast_.add(list));
    }

  private:
    State& s_;
    ast::Crate& ast_;
    Span span_;
};

// The types `T::Name..` in the types of fields, where T is a type parameter.
struct ProjectionFinder {
    const ast::Crate& ast;
    std::vector<Symbol> params;
    std::vector<ast::TypeId> found;

    void visit(ast::TypeId id) {
        if (const auto* type = std::get_if<ast::PathType>(&ast[id].data)) {
            const ast::Path& path = ast[type->path];
            const bool starts = !path.global && !path.qself.valid() && path.segments.size() > 1 && path.segments[0].kind == ast::SegmentKind::Name &&
                                std::find(params.begin(), params.end(), path.segments[0].ident.name) != params.end();
            if (starts) found.push_back(id);
        }
        ast::walk(ast, ast[id], *this);
    }
    void visit(ast::ExprId) {}
    void visit(ast::PatId) {}
    void visit(ast::StmtId) {}
    void visit(ast::ItemId) {}
    void visit(ast::BlockId) {}

    void fields(std::span<const ast::FieldDef> list) {
        for (const ast::FieldDef& field : list) visit(field.type);
    }
};

std::vector<ast::TypeId> projections_in(const ast::Crate& ast, const ast::Item& item, ast::GenericsId generics) {
    ProjectionFinder finder{ast, {}, {}};
    for (const ast::GenericParam& param : ast[generics].params) {
        if (param.kind == ast::GenericParamKind::Type) finder.params.push_back(param.ident.name);
    }
    if (const auto* s = std::get_if<ast::StructItem>(&item.data)) finder.fields(s->fields);
    if (const auto* e = std::get_if<ast::EnumItem>(&item.data)) {
        for (const ast::Variant& variant : e->variants) finder.fields(variant.fields);
    }
    return finder.found;
}

ast::GenericsId generics_of(const ast::Item& item) {
    if (const auto* s = std::get_if<ast::StructItem>(&item.data)) return s->generics;
    if (const auto* e = std::get_if<ast::EnumItem>(&item.data)) return e->generics;
    return std::get<ast::UnionItem>(item.data).generics;
}

}  // namespace

// Makes the syntax of a derived impl; from then on it is an impl like others.
void Lowerer::make_derived_impl(DefId def) {
    const std::uint32_t index = s_.origin[def].index;
    const DeriveKind kind = *s_.impls[index].derive;
    const DefId adt = s_.impls[index].head.adt;
    const Span span = s_.impls[index].derive_span;
    const ast::Item type = ast()[s_.origin[adt].item];
    ImplBuilder builder(s_, crate_, span);
    ast::ImplItem impl;
    // The default of an enum is a variant without fields: it asks for nothing.
    const bool bare = kind == DeriveKind::Default && std::holds_alternative<ast::EnumItem>(type.data);
    const std::vector<ast::TypeId> projections = projections_in(ast(), type, generics_of(type));
    impl.generics = builder.generics(generics_of(type), bare ? std::string_view() : derived_trait_path(kind), projections);
    impl.trait_path = builder.path(derived_trait_path(kind));
    impl.self_type = builder.self_type(type.ident.name, generics_of(type));
    if (const std::string text = derived_items(s_, adt, kind, span); !text.empty()) {
        const FileId file = s_.sources.add("<derive>", {}, text, true);
        auto tokens = std::make_unique<lex::TokenBuffer>(lex::lex(s_.sources, file, *s_.sink, lex::Edition::E2024));
        const lex::TokenBuffer& buffer = *s_.program.crates[crate_].tokens.emplace_back(std::move(tokens));
        impl.items = parse::parse_items({&buffer, 0, buffer.size() - 1}, parse::ItemPlace::TraitImpl, s_.parse_context(crate_));
    }
    ast::Item item;
    item.span = span;
    item.data = impl;
    s_.origin[def].item = s_.ast_of(crate_).add(item);
    collect_impl_items(s_, def, impl.items);
}

}  // namespace ockc::resolve
