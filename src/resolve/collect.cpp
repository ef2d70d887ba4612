#include "resolve/collect.hpp"

#include <fmt/format.h>

#include "resolve/attributes.hpp"
#include "resolve/derive.hpp"
#include "resolve/imports.hpp"
#include "resolve/load.hpp"
#include "resolve/lookup.hpp"
#include "resolve/macro_check.hpp"
#include "resolve/macro_rules.hpp"
#include "resolve/suggest.hpp"
#include "resolve/validate.hpp"

namespace ockc::resolve {

namespace {

constexpr std::uint32_t kMaxExpansionDepth = 128;

Binding own_binding(DefId def, const hir::Visibility& visibility, Span span) {
    Binding binding;
    binding.res = def_res(def);
    binding.visibility = visibility;
    binding.span = span;
    return binding;
}

// Collects the items of one scope. `macros` grows as macro_rules definitions come by.
class Collector {
  public:
    Collector(State& state, ModuleId module, DefId parent, MacroScopeId macros)
        : s_(state), module_(module), parent_(parent), macros_(macros), crate_(state[module].crate) {}

    void items(ast::List<ast::ItemId> list) {
        for (const ast::ItemId id : list) item(id);
    }
    DefId item(ast::ItemId id);
    void impl_items(DefId impl, ast::List<ast::ItemId> list) {
        std::vector<DefId> made;
        associated(list, impl, {}, parse::ItemPlace::TraitImpl, made, 0);
        s_.impls[s_.origin[impl].index].items = std::move(made);
    }
    MacroScopeId macros() const { return macros_; }

    const ModuleFolder* folder = nullptr;
    std::uint32_t depth = 0;        // of macro expansions
    bool in_body = false;

  private:
    const ast::Crate& ast() const { return *s_.crates[crate_].ast; }
    bool strict() const { return s_[module_].device && !s_.crates[crate_].is_library; }

    DefId make(DefKind kind, const ast::Item& item, ast::ItemId id, DefId parent);
    void bind(DefId def, Ns ns, const ast::Item& item) {
        define(s_, module_, item.ident.name, ns, own_binding(def, s_.program.defs[def].visibility, head_span(s_, crate_, item)));
    }
    void note_lang_item(DefId def, const Attrs& attrs);
    DefId module_item(ast::ItemId id, const ast::Item& item, const ast::ModuleItem& data, const Attrs& attrs);
    DefId fn_item(ast::ItemId id, const ast::Item& item, const Attrs& attrs);
    DefId struct_item(ast::ItemId id, const ast::Item& item, const ast::StructItem& data, const Attrs& attrs);
    DefId enum_item(ast::ItemId id, const ast::Item& item, const ast::EnumItem& data, const Attrs& attrs);
    DefId trait_item(ast::ItemId id, const ast::Item& item, const ast::TraitItem& data);
    DefId impl_item(ast::ItemId id, const ast::Item& item, const ast::ImplItem& data);
    DefId plain_item(DefKind kind, Ns ns, ast::ItemId id, const ast::Item& item, const Attrs& attrs);
    void extern_block(const ast::ExternBlockItem& data, const Attrs& attrs);
    void extern_crate(const ast::Item& item, const ast::ExternCrateItem& data);
    void derives(DefId adt, const Attrs& attrs);
    void associated(ast::List<ast::ItemId> list, DefId owner, ModuleId scope, parse::ItemPlace place, std::vector<DefId>& out, std::uint32_t depth);
    void use_tree(ast::UseTreeId tree, std::vector<ImportSegment>& prefix, bool global, bool nested, const hir::Visibility& visibility, Span prefix_span);
    void macro_item(ast::ItemId id, const ast::MacroItem& data);
    hir::Visibility ctor_visibility(const hir::Visibility& own, ast::List<ast::FieldDef> fields);

    State& s_;
    ModuleId module_;
    DefId parent_;
    MacroScopeId macros_;
    ast::ItemId use_item_;          // whose tree is being flattened
    std::uint32_t crate_;
};

DefId Collector::make(DefKind kind, const ast::Item& item, ast::ItemId id, DefId parent) {
    DefSource source;
    source.item = id;
    source.module = module_;
    source.macros = macros_;
    source.strict = strict() || in_body;
    source.in_body = in_body;
    const DefId def = s_.new_def(kind, hir_ident(item.ident), parent, item.span, crate_, source);
    s_[def].visibility = visibility_of(s_, item.visibility, module_);
    return def;
}

void Collector::note_lang_item(DefId def, const Attrs& attrs) {
    if (!s_.crates[crate_].is_library) return;
    if (const Attr* lang = find_attribute(s_, crate_, attrs, hir::AttributeKind::Lang)) {
        if (const auto key = meta_string(s_, crate_, lang->meta)) {
            s_[def].lang_item = *key;
            s_.program.lang_items.emplace(*key, def);
        }
    }
    if (const Attr* intrinsic = find_attribute(s_, crate_, attrs, hir::AttributeKind::Intrinsic)) {
        if (const auto key = meta_string(s_, crate_, intrinsic->meta)) s_[def].intrinsic = *key;
    }
}

DefId Collector::item(ast::ItemId id) {
    const ast::Item item = ast()[id];
    const Evaluated attributes = evaluate(s_, crate_, item.attributes);
    if (!attributes.enabled) return {};
    const Attrs& attrs = attributes.attrs;
    note_lint_levels(s_, crate_, attrs, item.span);
    const bool module = std::holds_alternative<ast::ModuleItem>(item.data);
    if (strict() && (module || std::holds_alternative<ast::UseItem>(item.data))) {   // neither is lowered
        check_attributes(s_, crate_, attrs, module ? Target::Mod : Target::Other, module ? "module" : "use statement", true);
    }
    if (find_attribute(s_, crate_, attrs, hir::AttributeKind::Test) != nullptr || find_attribute(s_, crate_, attrs, hir::AttributeKind::Bench) != nullptr) return {};
    const bool library = s_.crates[crate_].is_library;
    if (!library && !strict() && !in_body) report_near_miss(s_, crate_, attrs);
    DefId def = std::visit(
        ast::Overloaded{
            [&](const ast::ExternCrateItem& data) { return extern_crate(item, data), DefId(); },
            [&](const ast::UseItem& data) {
                std::vector<ImportSegment> prefix;
                use_item_ = id;
                use_tree(data.tree, prefix, false, false, visibility_of(s_, item.visibility, module_), {});
                return DefId();
            },
            [&](const ast::StaticItem&) { return plain_item(DefKind::Static, Ns::Value, id, item, attrs); },
            [&](const ast::ConstItem&) { return plain_item(DefKind::Const, Ns::Value, id, item, attrs); },
            [&](const ast::FnItem&) { return fn_item(id, item, attrs); },
            [&](const ast::ModuleItem& data) { return module_item(id, item, data, attrs); },
            [&](const ast::ExternBlockItem& data) { return extern_block(data, attrs), DefId(); },
            [&](const ast::TypeAliasItem&) { return plain_item(DefKind::TyAlias, Ns::Type, id, item, attrs); },
            [&](const ast::EnumItem& data) { return enum_item(id, item, data, attrs); },
            [&](const ast::StructItem& data) { return struct_item(id, item, data, attrs); },
            [&](const ast::UnionItem&) { return plain_item(DefKind::Union, Ns::Type, id, item, attrs); },
            [&](const ast::TraitItem& data) { return trait_item(id, item, data); },
            [&](const ast::ImplItem& data) { return impl_item(id, item, data); },
            [&](const ast::MacroRulesItem&) {
                macros_ = define_macro_rules(s_, crate_, module_, item, macros_, item.ident.context);
                if (strict() || (in_body && !library)) check_macro_definition(s_, s_.macro_scopes[macros_].macro);
                return DefId();
            },
            [&](const ast::MacroItem& data) { return macro_item(id, data), DefId(); },
            [&](const ast::ErrorItem&) { return DefId(); },
        },
        item.data);
    if (!def.valid()) return def;
    note_lang_item(def, attrs);
    s_[module_].items.push_back(def);
    if (strict() && !in_body) s_.program.device_roots.push_back(def);
    return def;
}

DefId Collector::plain_item(DefKind kind, Ns ns, ast::ItemId id, const ast::Item& item, const Attrs& attrs) {
    const DefId def = make(kind, item, id, parent_);
    if (s_.text(item.ident.name) != "_") bind(def, ns, item);
    if (!strict() && kind == DefKind::Static && find_attribute(s_, crate_, attrs, hir::AttributeKind::Constant) != nullptr) {
        s_.origin[def].strict = true;
        s_.program.device_roots.push_back(def);
    }
    if (kind == DefKind::Union) derives(def, attrs);
    return def;
}

DefId Collector::fn_item(ast::ItemId id, const ast::Item& item, const Attrs& attrs) {
    const DefId def = make(DefKind::Fn, item, id, parent_);
    bind(def, Ns::Value, item);
    if (s_.crates[crate_].is_library) return def;
    const auto has = [&](hir::AttributeKind kind) { return find_attribute(s_, crate_, attrs, kind) != nullptr; };
    const bool kernel = has(hir::AttributeKind::Kernel) || has(hir::AttributeKind::TileEntry);
    if (kernel) s_.program.kernels.push_back(def);
    if (!strict() && (kernel || has(hir::AttributeKind::Device))) {
        s_.origin[def].strict = true;
        s_.program.device_roots.push_back(def);
    }
    return def;
}

DefId Collector::module_item(ast::ItemId id, const ast::Item& item, const ast::ModuleItem& data, const Attrs& attrs) {
    const DefId def = make(DefKind::Mod, item, id, parent_);
    bind(def, Ns::Type, item);
    if (strict()) validate_module(s_, item);
    const bool library = s_.crates[crate_].is_library;
    const bool cuda = !library && find_attribute(s_, crate_, attrs, hir::AttributeKind::CudaModule) != nullptr;
    const bool tile = !library && find_attribute(s_, crate_, attrs, hir::AttributeKind::TileModule) != nullptr;
    auto& mod = s_[def].data.emplace<hir::ModDef>();
    mod.is_device = cuda;
    mod.is_tile = tile;
    const ModuleId scope = s_.new_module(ModuleKind::Module, def, module_, crate_, s_[module_].device || cuda || tile);
    s_.origin[def].scope = scope;
    Collector inner(s_, scope, def, macros_);
    inner.depth = depth;
    ModuleFolder nested;
    if (data.is_inline) {
        if (folder != nullptr) {
            nested = *folder;
            nested.folder += std::string(s_.text(item.ident.name)) + "/";
            nested.file_folder = nested.folder;
            inner.folder = &nested;
        }
        inner.items(data.items);
    } else {
        std::optional<std::string_view> path;
        if (const Attr* attr = find_attribute(s_, crate_, attrs, hir::AttributeKind::Path)) path = meta_string(s_, crate_, attr->meta);
        if (in_body && !path) {
            s_.sink->error(item.span, "cannot declare a file module inside a block unless it has a path attribute");
            return def;
        }
        auto loaded = load_module_file(s_, crate_, folder != nullptr ? *folder : folder_of_root(s_, item.span.file), hir_ident(item.ident), path);
        if (!loaded) return def;
        const Evaluated inner_attributes = evaluate(s_, crate_, loaded->unit.attributes);
        if (!inner_attributes.enabled) return def;
        note_lint_levels(s_, crate_, inner_attributes.attrs, loaded->unit.span);
        inner.folder = &loaded->folder;
        inner.items(loaded->unit.items);
    }
    if (find_attribute(s_, crate_, attrs, hir::AttributeKind::MacroUse) != nullptr) macros_ = inner.macros();
    return def;
}

hir::Visibility Collector::ctor_visibility(const hir::Visibility& own, ast::List<ast::FieldDef> fields) {
    hir::Visibility result = own;
    for (const ast::FieldDef& field : fields) {
        if (!cfg_enabled(s_, crate_, field.attributes)) continue;
        const hir::Visibility visibility = visibility_of(s_, field.visibility, module_);
        if (at_least(s_, result, visibility)) result = visibility;
    }
    return result;
}

DefId Collector::struct_item(ast::ItemId id, const ast::Item& item, const ast::StructItem& data, const Attrs& attrs) {
    const DefId def = make(DefKind::Struct, item, id, parent_);
    const auto form = static_cast<hir::VariantForm>(data.form == ast::VariantForm::Named   ? hir::VariantForm::Named
                                                    : data.form == ast::VariantForm::Tuple ? hir::VariantForm::Tuple
                                                                                           : hir::VariantForm::Unit);
    s_.origin[def].form = form;
    bind(def, Ns::Type, item);
    if (form != hir::VariantForm::Named) {
        const DefId ctor = make(DefKind::Ctor, item, id, def);
        s_.origin[ctor].form = form;
        s_.origin[ctor].item = {};
        s_.origin[def].index = ctor.raw;
        s_[ctor].visibility = ctor_visibility(s_[def].visibility, data.fields);
        bind(ctor, Ns::Value, item);
    }
    derives(def, attrs);
    return def;
}

DefId Collector::enum_item(ast::ItemId id, const ast::Item& item, const ast::EnumItem& data, const Attrs& attrs) {
    const DefId def = make(DefKind::Enum, item, id, parent_);
    bind(def, Ns::Type, item);
    const ModuleId scope = s_.new_module(ModuleKind::Enum, def, module_, crate_, s_[module_].device);
    s_.origin[def].scope = scope;
    std::uint32_t index = 0;
    for (const ast::Variant& variant : data.variants) {
        const Evaluated evaluated = evaluate(s_, crate_, variant.attributes);
        if (!evaluated.enabled) continue;
        note_lint_levels(s_, crate_, evaluated.attrs, variant.span);
        DefSource source;
        source.module = module_;
        source.strict = strict() || in_body;
        source.index = index++;
        source.form = variant.form == ast::VariantForm::Named   ? hir::VariantForm::Named
                      : variant.form == ast::VariantForm::Tuple ? hir::VariantForm::Tuple
                                                                : hir::VariantForm::Unit;
        const hir::Visibility visibility = s_[def].visibility;
        const DefId variant_def = s_.new_def(DefKind::Variant, hir_ident(variant.ident), def, variant.span, crate_, source);
        s_[variant_def].visibility = visibility;
        note_lang_item(variant_def, evaluated.attrs);
        hir::Visibility everywhere;
        everywhere.is_public = true;
        DefId value = variant_def;
        if (source.form != hir::VariantForm::Named) {
            value = s_.new_def(DefKind::Ctor, hir_ident(variant.ident), variant_def, variant.span, crate_, source);
            s_[value].visibility = visibility;
        }
        s_[scope].items.push_back(variant_def);
        define(s_, scope, variant.ident.name, Ns::Type, own_binding(variant_def, everywhere, variant.span));
        if (find(s_, scope, variant.ident.name, Ns::Value) == nullptr) {
            define(s_, scope, variant.ident.name, Ns::Value, own_binding(value, everywhere, variant.span));
        }
    }
    derives(def, attrs);
    return def;
}

// The functions, constants and types of a trait or impl; `scope` gets their names for traits.
void Collector::associated(ast::List<ast::ItemId> list, DefId owner, ModuleId scope, parse::ItemPlace place, std::vector<DefId>& out, std::uint32_t level) {
    for (const ast::ItemId id : list) {
        const ast::Item item = ast()[id];
        const Evaluated attributes = evaluate(s_, crate_, item.attributes);
        if (!attributes.enabled) continue;
        note_lint_levels(s_, crate_, attributes.attrs, item.span);
        DefKind kind{};
        Ns ns = Ns::Value;
        bool has_body = false;
        if (const auto* fn = std::get_if<ast::FnItem>(&item.data)) {
            kind = DefKind::AssocFn;
            has_body = fn->body.valid() || skipped_body(item).buffer != nullptr;
        } else if (std::holds_alternative<ast::ConstItem>(item.data)) {
            kind = DefKind::AssocConst;
        } else if (std::holds_alternative<ast::TypeAliasItem>(item.data)) {
            kind = DefKind::AssocTy;
            ns = Ns::Type;
        } else if (const auto* call = std::get_if<ast::MacroItem>(&item.data)) {
            if (level >= kMaxExpansionDepth) {
                s_.sink->error(item.span, "recursion limit reached while expanding macros");
                continue;
            }
            if (const DefId macro = find_item_macro(s_, module_, macros_, crate_, ast()[call->call]); macro.valid()) {
                if (is_include(s_, macro)) {
                    s_.sink->error(item.span, place == parse::ItemPlace::Trait ? "non-trait item macro in trait item position: include" : "non-impl item macro in impl item position: include");
                    continue;
                }
                associated(expand_items(s_, macro, crate_, call->call, place), owner, scope, place, out, level + 1);
            } else if (strict()) {
                report_unknown_macro(s_, module_, macros_, crate_, ast()[call->call]);
            }
            continue;
        } else {
            continue;   // Error items; the parser lets nothing else through
        }
        const DefId def = make(kind, item, id, owner);
        s_[def].visibility = place == parse::ItemPlace::Impl ? visibility_of(s_, item.visibility, module_) : s_[owner].visibility;
        if (place == parse::ItemPlace::TraitImpl) s_[def].visibility.is_public = true;
        if (kind == DefKind::AssocFn) s_[def].data.emplace<hir::FnDef>().has_body = has_body;
        note_lang_item(def, attributes.attrs);
        out.push_back(def);
        if (!s_.is_on_demand(def)) s_.items_by_name[item.ident.name].push_back(def);
        if (scope.valid()) {
            hir::Visibility everywhere;
            everywhere.is_public = true;
            define(s_, scope, item.ident.name, ns, own_binding(def, everywhere, head_span(s_, crate_, item)));
        }
    }
}

DefId Collector::trait_item(ast::ItemId id, const ast::Item& item, const ast::TraitItem& data) {
    const DefId def = make(DefKind::Trait, item, id, parent_);
    bind(def, Ns::Type, item);
    const ModuleId scope = s_.new_module(ModuleKind::Trait, def, module_, crate_, s_[module_].device);
    s_.origin[def].scope = scope;
    std::vector<DefId> items;
    associated(data.items, def, scope, parse::ItemPlace::Trait, items, depth);
    s_[scope].items = std::move(items);
    return def;
}

DefId Collector::impl_item(ast::ItemId id, const ast::Item& item, const ast::ImplItem& data) {
    const DefId def = make(DefKind::Impl, item, id, parent_);
    s_.origin[def].index = static_cast<std::uint32_t>(s_.impls.size());
    ImplInfo& info = s_.impls.emplace_back();
    info.def = def;
    info.has_trait = data.trait_path.valid();
    std::vector<DefId> items;
    associated(data.items, def, {}, info.has_trait ? parse::ItemPlace::TraitImpl : parse::ItemPlace::Impl, items, depth);
    s_.impls[s_.origin[def].index].items = std::move(items);
    return def;
}

void Collector::derives(DefId adt, const Attrs& attrs) {
    for (const Attr& attr : attrs) {
        if (attr.doc.valid() || known_attribute(s_, crate_, attr.meta) != hir::AttributeKind::Derive) continue;
        for (const ast::MetaItem& trait : attr.meta.items) {
            const auto kind = derive_kind(s_, crate_, trait);
            if (!kind || derive_is_silent(*kind)) continue;
            DefSource source = s_.origin[adt];
            source.item = {};
            source.scope = {};
            source.state = DefSource::State::Idle;
            source.index = static_cast<std::uint32_t>(s_.impls.size());
            const DefId def = s_.new_def(DefKind::Impl, {}, parent_, trait.span, crate_, source);
            ImplInfo& info = s_.impls.emplace_back();
            info.def = def;
            info.has_trait = true;
            info.derive = kind;
            info.derive_span = trait.span;
            info.head.kind = ImplHead::Kind::Adt;
            info.head.adt = adt;
        }
    }
}

void Collector::extern_block(const ast::ExternBlockItem& data, const Attrs& attrs) {
    const bool device = find_attribute(s_, crate_, attrs, hir::AttributeKind::Device) != nullptr;
    for (const ast::ItemId id : data.items) {
        const ast::Item item = ast()[id];
        if (!cfg_enabled(s_, crate_, item.attributes)) continue;
        const bool fn = std::holds_alternative<ast::FnItem>(item.data);
        if (!fn && !std::holds_alternative<ast::StaticItem>(item.data)) continue;
        const DefId def = make(DefKind::ForeignFn, item, id, parent_);
        bind(def, Ns::Value, item);
        if (strict() || device) s_.program.device_roots.push_back(def);
    }
}

void Collector::extern_crate(const ast::Item& item, const ast::ExternCrateItem& data) {
    const std::string_view name = s_.text(item.ident.name);
    const ast::Ident bound = data.rename.valid() ? data.rename : item.ident;
    Binding binding;
    binding.visibility = visibility_of(s_, item.visibility, module_);
    binding.span = item.span;
    binding.extern_crate = true;
    if (name == "self") {
        binding.res = def_res(s_[s_.crates[crate_].root].def);
    } else {
        const auto found = s_.extern_crates.find(item.ident.name);
        if (found == s_.extern_crates.end()) {
            if (strict()) s_.sink->error(Code::E0463, item.span, fmt::format("can't find crate for `{}`", name)).label(item.span, "can't find crate");
            return;
        }
        binding.res = def_res(s_[found->second].def);
    }
    if (s_.text(bound.name) != "_") define(s_, module_, bound.name, Ns::Type, binding);
}

// Flattens a use tree into imports. `prefix` is what stands in front.
void Collector::use_tree(ast::UseTreeId id, std::vector<ImportSegment>& prefix, bool global, bool nested, const hir::Visibility& visibility, Span prefix_span) {
    const ast::UseTree tree = ast()[id];
    const std::size_t depth_before = prefix.size();
    Span span = tree.span;
    if (tree.path.valid()) {
        const ast::Path path = ast()[tree.path];
        if (depth_before == 0) global = global || path.global;
        for (const ast::PathSegment& segment : path.segments) {
            prefix.push_back({segment.kind, hir_ident(segment.ident), segment.ident.context});
        }
        span = path.span;
    }
    if (!prefix_span.valid()) prefix_span = span;
    const auto done = [&] { prefix.resize(depth_before); };
    Import import;
    import.module = module_;
    import.item = use_item_;
    import.macros = macros_;
    import.global = global;
    import.from_list = nested;
    import.visibility = visibility;
    import.span = tree.rename.valid() && span.file == tree.rename.span.file ? span.to(tree.rename.span) : tree.kind == ast::UseKind::Glob ? tree.span : span;
    switch (tree.kind) {
        case ast::UseKind::Nested:
            for (const ast::UseTreeId child : tree.children) use_tree(child, prefix, global, true, visibility, prefix_span);
            return done();
        case ast::UseKind::Glob:
            import.kind = Import::Kind::Glob;
            import.path = prefix;
            s_.imports.push_back(std::move(import));
            return done();
        case ast::UseKind::Simple: break;
    }
    if (prefix.empty()) return done();
    const ImportSegment last = prefix.back();
    const auto error = [&](Code code, std::string text) { s_.sink->error(code, last.ident.span, std::move(text)); };
    if (last.kind == ast::SegmentKind::SelfValue && (prefix.size() > 1 || !tree.rename.valid())) {
        if (prefix.size() > 1 && nested && depth_before == prefix.size() - 1) {   // `a::{self}`
            prefix.pop_back();
            import.only_type = true;
            const ImportSegment named = prefix.back();
            import.path = prefix;
            import.name = tree.rename.valid() ? hir_ident(tree.rename) : named.ident;
            prefix.push_back(last);
            if (named.kind != ast::SegmentKind::Name && !tree.rename.valid()) {
                error(Code::None, "imports need to be explicitly named");
                return done();
            }
            import.span = last.ident.span;
            s_.imports.push_back(std::move(import));
            s_[module_].imports.push_back(ImportId(static_cast<std::uint32_t>(s_.imports.size() - 1)));
            return done();
        }
        if (prefix.size() > 1) error(Code::E0429, "`self` imports are only allowed within a { } list");
        else error(Code::None, "imports need to be explicitly named");
        return done();
    }
    if (last.kind != ast::SegmentKind::Name && !tree.rename.valid()) {
        error(Code::None, "imports need to be explicitly named");
        return done();
    }
    import.path = prefix;
    import.only_type = last.kind != ast::SegmentKind::Name;
    import.name = tree.rename.valid() ? hir_ident(tree.rename) : last.ident;
    s_.imports.push_back(std::move(import));
    s_[module_].imports.push_back(ImportId(static_cast<std::uint32_t>(s_.imports.size() - 1)));
    done();
}

void Collector::macro_item(ast::ItemId id, const ast::MacroItem& data) {
    const ast::MacroCall call = ast()[data.call];
    if (depth >= kMaxExpansionDepth) {
        s_.sink->error(call.span, "recursion limit reached while expanding macros");
        return;
    }
    const DefId macro = find_item_macro(s_, module_, macros_, crate_, call);
    if (!macro.valid()) {
        s_.pending_macros.push_back({module_, id, macros_, folder != nullptr ? std::optional(*folder) : std::nullopt, depth});
        return;
    }
    if (expand_builtin_item(s_, macro, crate_, call, strict())) return;
    // Host code may hold macros that we cannot expand: then it defines nothing that device code could name.
    DiagSink scratch;
    DiagSink* const kept = s_.sink;
    const bool quiet = !strict() && !in_body && !s_.crates[crate_].is_library;
    if (quiet) s_.sink = &scratch;
    const auto expanded = expand_items(s_, macro, crate_, data.call, parse::ItemPlace::Module);
    s_.sink = kept;
    if (quiet && scratch.has_errors()) return;
    ++depth;
    items(expanded);
    --depth;
}

}  // namespace

hir::Visibility visibility_of(State& state, const ast::Visibility& visibility, ModuleId module) {
    hir::Visibility result;
    const ModuleId normal = state.normal_module(module);
    result.module = state[normal].def;
    switch (visibility.kind) {
        case ast::VisibilityKind::Inherited:
        case ast::VisibilityKind::Self: break;
        case ast::VisibilityKind::Public: result.is_public = true; break;
        case ast::VisibilityKind::Crate: result.module = state[state.crates[state[module].crate].root].def; break;
        case ast::VisibilityKind::Super: {
            const ModuleId parent = state[normal].parent;
            if (parent.valid()) result.module = state.normal_def(parent);
            else state.sink->error(Code::E0433, visibility.span, "too many leading `super` keywords");
            break;
        }
        case ast::VisibilityKind::In: {
            std::vector<ImportSegment> segments;
            const ast::Path& path = state.ast_of(state[module].crate)[visibility.path];
            if (path.segments.empty()) break;   // the parser found no name and said so
            if (!path.global && path.segments[0].kind == ast::SegmentKind::Name) {
                state.sink->error(path.span, "relative paths are not supported in visibilities in 2018 edition or later").suggest(path.span.start(), "crate::", "try", Applicability::MaybeIncorrect);
                break;
            }
            for (const ast::PathSegment& segment : path.segments) segments.push_back({segment.kind, hir_ident(segment.ident), segment.ident.context});
            const PathEnd end = find_path(state, segments, path.global, Ns::Type, normal, nullptr);
            bool ancestor = false;
            for (DefId def = result.module; def.valid(); def = state.program.defs[def].parent) {
                ancestor = ancestor || (end.kind == PathEnd::Kind::Done && end.res.def == def);
            }
            if (ancestor) result.module = end.res.def;
            else if (end.kind == PathEnd::Kind::Done) state.sink->error(Code::E0742, path.span, "visibilities can only be restricted to ancestor modules");
            else state.sink->error(Code::E0433, path.span, "cannot find the module of this visibility");
            break;
        }
    }
    return result;
}

Span head_span(const State& state, std::uint32_t crate, const ast::Item& item) {
    const ast::Crate& ast = *state.crates[crate].ast;
    if (const auto* fn = std::get_if<ast::FnItem>(&item.data)) {
        const Span decl = ast[fn->decl].span;
        return decl.file == item.span.file ? Span{item.span.file, item.span.begin, decl.end} : item.span;
    }
    if (!item.ident.valid() || item.ident.span.file != item.span.file) return item.span;
    return {item.span.file, item.span.begin, item.ident.span.end};
}

DefId find_textual_macro(const State& state, MacroScopeId scope, Symbol name) {
    for (; scope.valid(); scope = state.macro_scopes[scope].outer) {
        if (state.macro_scopes[scope].name == name) return state.macro_scopes[scope].macro;
    }
    return {};
}

MacroScopeId define_macro_rules(State& state, std::uint32_t crate, ModuleId module, const ast::Item& item, MacroScopeId outer, std::uint32_t context) {
    DefSource source;
    source.module = module;
    source.index = static_cast<std::uint32_t>(state.macros.size());
    const DefId def = state.new_def(DefKind::Macro, hir_ident(item.ident), state.normal_def(module), item.span, crate, source);
    MacroInfo& info = state.macros.emplace_back();
    info.body = std::get<ast::MacroRulesItem>(item.data).body;
    info.context = context;
    info.item = item.tokens;
    info.outer = outer;
    info.crate_root = state[state.crates[crate].root].def;
    const Evaluated attributes = evaluate(state, crate, item.attributes);
    if (find_attribute(state, crate, attributes.attrs, hir::AttributeKind::MacroExport) != nullptr) {
        hir::Visibility everywhere;
        everywhere.is_public = true;
        info.exported = true;
        define(state, state.crates[crate].root, item.ident.name, Ns::Macro, own_binding(def, everywhere, item.span));
    }
    return state.macro_scopes.push({outer, item.ident.name, def});
}

void collect_crate(State& state, std::uint32_t crate, FileId root) {
    const ast::SourceUnit unit = parse_file(state, crate, root);
    const CrateInfo& info = state.crates[crate];
    const Evaluated attributes = evaluate(state, crate, unit.attributes);
    if (!attributes.enabled) return;
    note_lint_levels(state, crate, attributes.attrs, Span{root, 0, static_cast<std::uint32_t>(state.sources.file(root).text.size())});
    Collector collector(state, info.root, state[info.root].def, {});
    const ModuleFolder folder = folder_of_root(state, root);
    collector.folder = &folder;
    collector.items(unit.items);
}

lex::TokenRange skipped_body(const ast::Item& item) {
    const lex::TokenRange all = item.tokens;
    if (all.buffer == nullptr || all.buffer->kind(all.end - 1) != lex::TokenKind::CloseBrace) return {};
    return {all.buffer, all.buffer->partner(all.end - 1), all.end};
}

LibraryItem collect_library_item(State& state, ModuleId module, MacroScopeId macros, ast::ItemId item) {
    Collector collector(state, module, state[module].def, macros);
    const DefId def = collector.item(item);
    return {def, collector.macros()};
}

void collect_block_item(State& state, BlockItems& block, ast::ItemId item) {
    Collector collector(state, block.module, block.owner, *block.macros);
    collector.in_body = true;
    const DefId def = collector.item(item);
    if (def.valid()) block.defs.push_back(def);
    *block.macros = collector.macros();
}

void collect_impl_items(State& state, DefId impl, ast::List<ast::ItemId> items) {
    Collector collector(state, state.origin[impl].module, impl, state.origin[impl].macros);
    collector.in_body = state.origin[impl].in_body;
    collector.impl_items(impl, items);
}

bool expand_pending_macros(State& state) {
    const auto waiting = std::exchange(state.pending_macros, {});
    bool any = false;
    for (const PendingMacro& pending : waiting) {
        const std::uint32_t crate = state[pending.module].crate;
        const auto& item = state.ast_of(crate)[pending.item];
        const ast::MacroCall call = state.ast_of(crate)[std::get<ast::MacroItem>(item.data).call];
        if (!find_item_macro(state, pending.module, pending.macros, crate, call).valid()) {
            state.pending_macros.push_back(pending);
            continue;
        }
        any = true;
        Collector collector(state, pending.module, state[pending.module].def, pending.macros);
        collector.depth = pending.depth;
        if (pending.folder) collector.folder = &*pending.folder;
        collector.item(pending.item);
    }
    return any;
}

void report_pending_macros(State& state) {
    for (const PendingMacro& pending : state.pending_macros) {
        const Module& module = state[pending.module];
        if (!module.device && !state.crates[module.crate].is_library) continue;
        const auto& item = state.ast_of(module.crate)[pending.item];
        report_unknown_macro(state, pending.module, pending.macros, module.crate, state.ast_of(module.crate)[std::get<ast::MacroItem>(item.data).call]);
    }
    state.pending_macros.clear();
}

}  // namespace ockc::resolve
