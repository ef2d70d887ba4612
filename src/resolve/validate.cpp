#include "resolve/validate.hpp"

#include <fmt/format.h>

#include "resolve/attributes.hpp"

namespace ockc::resolve {

namespace {

// What surrounds an item.
enum class Home : std::uint8_t { Module, Trait, Impl, TraitImpl, Extern };
enum class Defaults : std::uint8_t { Allowed, Refused };

constexpr std::string_view kAbis[] = {"Rust", "C", "C-unwind", "system", "system-unwind", "cdecl", "stdcall", "fastcall", "aapcs", "win64", "sysv64", "efiapi"};

class ItemValidator {
  public:
    ItemValidator(State& state, DefId def, const ast::Item& item, Home home)
        : s_(state), crate_(state.program.defs[def].crate), ast_(state.ast(def)), item_(item), home_(home) {}

    void run() {
        std::visit([&](const auto& data) { check(data); }, item_.data);
    }

  private:
    Diagnostic& error(Code code, Span span, std::string message) { return s_.sink->error(code, span, std::move(message)); }
    Diagnostic& error(Span span, std::string message) { return error(Code::None, span, std::move(message)); }
    Diagnostic& lint(std::string_view name, Span span, std::string message) { return s_.sink->lint(name, span, std::move(message)); }

    // ---- items, one overload for each kind
    void check(const ast::FnItem& fn) {
        shared_visibility();
        default_keyword(fn.is_default);
        const ast::FnDecl& decl = ast_[fn.decl];
        header(decl);
        if (!fn.body.valid()) params_without_body(decl);
        generics(decl.generics, Defaults::Refused);
    }
    void check(const ast::ConstItem& constant) {
        shared_visibility();
        default_keyword(constant.is_default);
        generics(constant.generics, Defaults::Refused);
    }
    void check(const ast::TypeAliasItem& alias) {
        shared_visibility();
        default_keyword(alias.is_default);
        if (home_ != Home::Trait && !alias.bounds.empty()) {
            const Span span = alias.bounds.front().span.to(alias.bounds.back().span);
            error(span, fmt::format("bounds on `type`s in {} have no effect", home_ == Home::Module ? "this context" : "`impl`s"));
        }
        generics(alias.generics, home_ == Home::Module ? Defaults::Allowed : Defaults::Refused);
    }
    void check(const ast::StructItem& item) { generics(item.generics, Defaults::Allowed); }
    void check(const ast::UnionItem& item) {
        if (item.fields.empty()) error(item_.span, "unions cannot have zero fields");
        generics(item.generics, Defaults::Allowed);
    }
    void check(const ast::EnumItem& item) {
        constexpr const char* kNote = "enum variants and their fields always share the visibility of the enum they are in";
        for (const ast::Variant& variant : item.variants) {
            if (!cfg_enabled(s_, crate_, variant.attributes)) continue;
            no_visibility(variant.visibility, kNote);
            for (const ast::FieldDef& field : variant.fields) no_visibility(field.visibility, kNote);
        }
        generics(item.generics, Defaults::Allowed);
    }
    void check(const ast::TraitItem& item) {
        if (item.is_auto) error(Code::E0658, item_.span, "auto traits are experimental and possibly buggy");
        for (const ast::Bound& bound : item.supertraits) {
            if (bound.modifier == ast::BoundModifier::Maybe) error(bound.span, "relaxed bounds are not permitted in supertrait bounds");
        }
        generics(item.generics, Defaults::Allowed);
    }
    void check(const ast::ImplItem& item) {
        const bool of_trait = item.trait_path.valid();
        no_visibility(item_.visibility, of_trait ? "trait items always share the visibility of their trait" : "place qualifiers on individual impl items instead");
        if (item.is_default && of_trait) error(Code::E0658, item_.span, "specialization is experimental");
        if (item.is_negative && of_trait) negative_impl(item);
        generics(item.generics, Defaults::Refused);
    }
    void check(const ast::StaticItem&) {}
    void check(const ast::ModuleItem&) {}
    void check(const ast::ExternBlockItem&) {}
    void check(const ast::ExternCrateItem&) {}
    void check(const ast::UseItem&) {}
    void check(const ast::MacroRulesItem&) {}
    void check(const ast::MacroItem&) {}
    void check(const ast::ErrorItem&) {}

    void negative_impl(const ast::ImplItem& item) {
        const Span place = ast_[item.trait_path].span;
        if (item.safety == ast::Safety::Unsafe) error(Code::E0198, place, "negative impls cannot be unsafe");
        else error(Code::E0658, place, "negative impls are experimental");
    }

    // ---- visibility and `default`
    void no_visibility(const ast::Visibility& visibility, const char* note) {
        if (visibility.kind == ast::VisibilityKind::Inherited) return;
        error(Code::E0449, visibility.span, "visibility qualifiers are not permitted here")
            .note(note)
            .suggest_short(visibility.span, "", "remove the qualifier", Applicability::MachineApplicable);
    }
    void shared_visibility() {
        if (home_ == Home::Trait || home_ == Home::TraitImpl) no_visibility(item_.visibility, "trait items always share the visibility of their trait");
    }
    void default_keyword(bool is_default) {
        if (!is_default) return;
        if (home_ == Home::TraitImpl) error(Code::E0658, item_.span, "specialization is experimental");
        else error(item_.ident.span, "`default` is only allowed on items in trait impls");
    }

    // ---- functions
    void header(const ast::FnDecl& decl) {
        if ((home_ == Home::Module || home_ == Home::Extern) && decl.self_param.kind != ast::SelfKind::None) {
            error(decl.self_param.span, "`self` parameter is only allowed in associated functions")
                .label(decl.self_param.span, "not semantically valid as function parameter")
                .note("associated functions are those in `impl` or `trait` definitions");
        }
        const ast::FnHeader& header = decl.header;
        if (header.is_const && (home_ == Home::Trait || home_ == Home::TraitImpl)) {
            const char* where = home_ == Home::Trait ? "traits" : "trait impls";
            error(Code::E0379, header.span, fmt::format("functions in {} cannot be declared const", where))
                .label(header.span, fmt::format("functions in {} cannot be const", where));
        }
        if (header.is_const && header.is_async) error(header.span, "functions cannot be both `const` and `async`");
        if (header.safety == ast::Safety::Safe && home_ != Home::Extern) {
            error(item_.span, "items outside of `unsafe extern { }` cannot be declared with `safe` safety qualifier");
        }
        if (header.is_extern && header.abi.valid()) abi(s_.text(header.abi), header.span);
    }
    void abi(std::string_view name, Span span) {
        if (std::find(std::begin(kAbis), std::end(kAbis), name) != std::end(kAbis)) return;
        error(Code::E0703, span, fmt::format("invalid ABI: found `{}`", name)).label(span, "invalid ABI");
    }
    void params_without_body(const ast::FnDecl& decl) {
        if (home_ != Home::Trait && home_ != Home::Extern) return;
        for (const ast::Param& param : decl.params) {
            if (!param.pattern.valid() || ast::get_if<ast::WildPat>(ast_[param.pattern]) != nullptr) continue;
            const Span span = ast_[param.pattern].span;
            const auto* name = ast::get_if<ast::IdentPat>(ast_[param.pattern]);
            const bool plain = name != nullptr && !name->by_ref && !name->sub.valid();
            if (plain && !name->is_mut) continue;
            if (home_ == Home::Extern) {
                error(Code::E0130, span, "patterns aren't allowed in foreign function declarations").label(span, "pattern not allowed in foreign function");
            } else if (plain) {
                lint("patterns_in_fns_without_body", span, "patterns aren't allowed in functions without bodies");
            } else {
                error(Code::E0642, span, "patterns aren't allowed in functions without bodies").label(span, "pattern not allowed in function without body");
            }
        }
    }

    // ---- generics
    void generics(ast::GenericsId id, Defaults defaults) {
        if (!id.valid()) return;
        const ast::Generics& generics = ast_[id];
        bool after_lifetimes = false;
        std::vector<Span> misplaced, early;
        for (const ast::GenericParam& param : generics.params) {
            const bool lifetime = param.kind == ast::GenericParamKind::Lifetime;
            if (lifetime && after_lifetimes) misplaced.push_back(param.ident.span);
            after_lifetimes = after_lifetimes || !lifetime;
            relaxed_bounds(param);
            const bool type = param.kind == ast::GenericParamKind::Type;
            if (type ? param.type.valid() : param.value.valid()) {
                if (defaults == Defaults::Allowed) early.push_back(param.ident.span);
                else refused_default(param, type);
            } else if (!lifetime && !early.empty()) {
                several(early, "generic parameters with a default must be trailing");
                early.clear();
            }
        }
        if (!misplaced.empty()) several(misplaced, "lifetime parameters must be declared prior to type and const parameters");
        for (const ast::WherePredicate& predicate : generics.predicates) {
            if (!predicate.equal_type.valid()) continue;
            error(predicate.span, "equality constraints are not yet supported in `where` clauses").label(predicate.span, "not supported");
        }
    }
    void refused_default(const ast::GenericParam& param, bool type) {
        constexpr const char* kMessage = "defaults for generic parameters are not allowed here";
        if (type) lint("invalid_type_param_default", param.span, kMessage);
        else error(param.span, kMessage);
    }
    void relaxed_bounds(const ast::GenericParam& param) {
        const ast::Bound* first = nullptr;
        for (const ast::Bound& bound : param.bounds) {
            if (bound.modifier != ast::BoundModifier::Maybe) continue;
            if (first != nullptr) {
                error(Code::E0203, first->span, "duplicate relaxed `Sized` bounds").label(bound.span, "again here");
                return;
            }
            first = &bound;
        }
    }
    // One error with several primary places.
    void several(const std::vector<Span>& places, std::string message) {
        Diagnostic& diagnostic = error(places.front(), std::move(message));
        for (std::size_t i = 1; i < places.size(); ++i) diagnostic.labels.push_back({places[i], {}, true});
    }

    State& s_;
    std::uint32_t crate_;
    const ast::Crate& ast_;
    const ast::Item& item_;
    Home home_;
};

Home home_of(const State& state, DefId def) {
    const hir::Def& d = state.program.defs[def];
    if (d.kind == DefKind::ForeignFn) return Home::Extern;
    if (d.kind != DefKind::AssocFn && d.kind != DefKind::AssocConst && d.kind != DefKind::AssocTy) return Home::Module;
    if (state.program.defs[d.parent].kind == DefKind::Trait) return Home::Trait;
    return state.impls[state.origin[d.parent].index].has_trait ? Home::TraitImpl : Home::Impl;
}

bool is_derived(const State& state, DefId def) {
    if (state.program.defs[def].kind == DefKind::Impl) return state.impls[state.origin[def].index].derive.has_value();
    const DefId parent = state.program.defs[def].parent;
    return parent.valid() && state.program.defs[parent].kind == DefKind::Impl && is_derived(state, parent);
}

}  // namespace

void validate_item(State& state, DefId def) {
    const ast::ItemId id = state.origin[def].item;
    if (!id.valid() || is_derived(state, def)) return;
    const ast::Item item = state.ast(def)[id];
    ItemValidator(state, def, item, home_of(state, def)).run();
}

void validate_module(State& state, const ast::Item& item) {
    const auto& data = std::get<ast::ModuleItem>(item.data);
    if (data.safety == ast::Safety::Unsafe) state.sink->error(item.span, "module cannot be declared unsafe");
}

}  // namespace ockc::resolve
