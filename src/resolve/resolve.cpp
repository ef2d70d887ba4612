#include "resolve/resolve.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "resolve/attributes.hpp"
#include "resolve/collect.hpp"
#include "resolve/imports.hpp"
#include "resolve/library.hpp"
#include "resolve/link.hpp"
#include "resolve/lookup.hpp"
#include "resolve/lower.hpp"
#include "resolve/reach.hpp"
#include "resolve/state.hpp"

namespace ockc::resolve {

namespace {

// A crate with an empty root module.
std::uint32_t add_crate(State& state, std::string_view name, FileId file, bool library) {
    const auto index = static_cast<std::uint32_t>(state.crates.size());
    hir::Crate& crate = state.program.crates.emplace_back();
    crate.name = state.names.intern(name);
    crate.is_library = library;
    crate.ast = std::make_unique<ast::Crate>();
    DefSource source;
    const Span span = file.valid() ? Span{file, 0, 0} : Span{};
    const DefId root = state.new_def(DefKind::Mod, {crate.name, span}, {}, span, index, source);
    const ModuleId module = state.new_module(ModuleKind::Module, root, {}, index, false);
    state.origin[root].scope = module;
    state.origin[root].module = module;
    state[root].visibility.is_public = true;
    state[root].lowered = true;
    crate.root = root;
    state.crates.push_back({crate.name, module, file, library, crate.ast.get()});
    if (library) state.extern_crates.emplace(crate.name, module);
    return index;
}

DefId add_macro(State& state, std::string_view name, MacroInfo info) {
    DefSource source;
    source.index = static_cast<std::uint32_t>(state.macros.size());
    state.macros.push_back(std::move(info));
    const DefId def = state.new_def(DefKind::Macro, {state.names.intern(name), {}}, {}, {}, 0, source);
    state[def].visibility.is_public = true;
    return def;
}

enum class MacroOrigin : std::uint8_t { Core, Device };

// A macro or attribute that no source file defines, as a name of library crates' roots.
void offer_macro(State& state, std::initializer_list<const char*> crates, std::string_view name, DefId macro) {
    Binding binding;
    binding.res = def_res(macro);
    binding.visibility.is_public = true;
    for (const char* crate : crates) {
        const auto found = state.extern_crates.find(state.names.intern(crate));
        if (found != state.extern_crates.end()) define(state, found->second, state.names.intern(name), Ns::Macro, binding);
    }
}

void add_known_macros(State& state) {
    const auto builtin = [&](BuiltinMacro kind, std::string_view name, MacroOrigin origin) {
        MacroInfo info;
        info.kind = MacroInfo::Kind::Builtin;
        info.builtin = kind;
        const DefId macro = add_macro(state, name, std::move(info));
        if (origin == MacroOrigin::Core) state.builtin_macros.emplace(state.names.intern(name), macro);
        if (origin == MacroOrigin::Core) offer_macro(state, {"core"}, name, macro);
        else offer_macro(state, {"cuda_device", "cutile"}, name, macro);
    };
#define OCKC_BUILTIN_MACRO(kind, name, origin, gives) builtin(BuiltinMacro::kind, name, MacroOrigin::origin);
#include "resolve/macros.def"
    const auto attribute = [&](hir::AttributeKind kind) {
        if (!is_device_attribute(kind)) return;
        MacroInfo info;
        info.kind = MacroInfo::Kind::Attribute;
        info.attribute = kind;
        const std::string_view name = attribute_name(kind);
        offer_macro(state, {"cuda_device", "cuda_host", "cuda_macros", "cutile"}, name, add_macro(state, name, std::move(info)));
    };
#define OCKC_ATTRIBUTE(kind, name, origin, targets) attribute(hir::AttributeKind::kind);
#include "hir/attributes.def"
}

// Crates that exist for their attributes, or for types that are the language's own.
void add_synthetic_crates(State& state) {
    for (const char* name : {"cuda_device", "cuda_host", "cuda_macros", "half"}) {
        if (state.extern_crates.contains(state.names.intern(name))) continue;
        const std::uint32_t crate = add_crate(state, name, {}, true);
        if (std::string_view(name) != "half") continue;
        for (const hir::PrimTy prim : {hir::PrimTy::F16, hir::PrimTy::BF16}) {
            Binding binding;
            binding.res = prim_res(prim);
            binding.visibility.is_public = true;
            define(state, state.crates[crate].root, state.names.intern(prim_name(prim)), Ns::Type, binding);
        }
    }
    const auto core = state.extern_crates.find(state.names.intern("core"));
    if (core != state.extern_crates.end()) state.extern_crates.emplace(state.names.intern("std"), core->second);
}

}  // namespace

void load_crates(State& state) {
    std::vector<ModuleId> roots;
    for (const LibraryCrate& library : state.inputs.libraries) {
        roots.push_back(state.crates[add_crate(state, library.name, library.root, true)].root);
    }
    if (state.library != nullptr) state.library->start(roots);
    add_synthetic_crates(state);
    add_known_macros(state);
    const std::uint32_t user = add_crate(state, state.inputs.crate_name, state.inputs.main, false);
    state.user_root = state.crates[user].root;
    for (std::uint32_t i = 0; i < state.crates.size(); ++i) {
        if (state.library != nullptr && state.crates[i].is_library) continue;
        if (state.crates[i].file.valid()) collect_crate(state, i, state.crates[i].file);
    }
}

void link_names(State& state) {
    const Symbol core = state.names.intern("core");
    const auto find_prelude = [&] {
        const auto crate = state.extern_crates.find(core);
        if (crate == state.extern_crates.end()) return;
        const Binding* prelude = find(state, crate->second, state.names.intern("prelude"), Ns::Type);
        if (prelude != nullptr) state.prelude = scope_of(state, prelude->res);
    };
    find_prelude();
    do {
        resolve_imports(state, 0, false);
    } while (expand_pending_macros(state));
    report_pending_macros(state);
    resolve_imports(state, 0, true);
}

namespace {

// Imports of device modules that nothing went through. Those of macros and attributes are used in ways that leave no trace,
// and what is public may be used from elsewhere.
void list_unused_imports(State& state) {
    for (const Import& import : state.imports) {
        const Module& module = state[import.module];
        if (import.visibility.is_public && !state.is_library(import.module)) {
            for (const Res& res : import.found) {
                if (res.kind == Res::Kind::Def) state.program.reexported.push_back(res.def);
            }
        }
        if (import.used || import.failed || !import.any() || !module.device || state.is_library(import.module) || import.visibility.is_public) continue;
        if (import.found[static_cast<std::size_t>(Ns::Macro)].kind != Res::Kind::Error) continue;
        hir::UnusedImport unused;
        unused.span = import.span;
        unused.name = import.name.name;
        const auto trait_of = [&](const Res& res) { return res.kind == Res::Kind::Def && state[res.def].kind == DefKind::Trait ? res.def : DefId(); };
        if (import.kind == Import::Kind::Single) {
            unused.trait = trait_of(import.found[static_cast<std::size_t>(Ns::Type)]);
        } else {
            const Module& source = state[import.source];
            const bool traits = !source.unnamed_traits.empty() || std::any_of(source.order.begin(), source.order.end(), [&](const NameKey& key) {
                return key.ns == Ns::Macro || trait_of(source.names.at(key).res).valid();
            });
            if (traits || source.kind == ModuleKind::Opaque) continue;
        }
        state.program.unused_imports.push_back(unused);
    }
}

// macro_rules of device modules that nothing calls.
void report_unused_macros(State& state) {
    for (DefId def(0); def.raw < state.program.defs.size(); def = DefId(def.raw + 1)) {
        if (state[def].kind != DefKind::Macro || state.crates[state[def].crate].is_library || !state.origin[def].module.valid()) continue;
        const MacroInfo& info = state.macros[state.origin[def].index];
        if (info.kind != MacroInfo::Kind::Rules || info.used || info.exported || !state[state.origin[def].module].device) continue;
        if (state.name_of(def).starts_with('_')) continue;
        state.sink->lint("unused_macros", state[def].name.span, fmt::format("unused macro definition: `{}`", state.name_of(def)));
    }
}

void fill_modules(State& state) {
    for (const auto& module : state.modules) {
        if (module->kind != ModuleKind::Module || !module->def.valid()) continue;
        auto& data = std::get<hir::ModDef>(state[module->def].data);
        data.items = state.program.arena.copy(std::span<const DefId>(module->items));
        state[module->def].lowered = true;
    }
}

void require_device_code(State& state) {
    if (!state.options.require_device_code || state.sink->has_errors() || !state.program.device_roots.empty()) return;
    for (const auto& module : state.modules) {
        if (module->device && !state.crates[module->crate].is_library) return;   // an empty device module
    }
    const FileId main = state.inputs.main;
    state.sink->error(Code::OCK0101, Span{main, 0, 0}, fmt::format("no device code in `{}`", state.sources.file(main).name))
        .help("mark a function with `#[kernel]` or `#[device]`, or a module with `#[cuda_module]`");
}

}  // namespace

struct Resolver::Work {
    Work(const Inputs& in, const Options& how, Interner& names, SourceMap& sources, DiagSink& sink)
        : inputs(in), options(how), program(std::make_unique<hir::Program>(names)), state(inputs, options, names, sources, sink, *program) {}

    Inputs inputs;
    Options options;
    std::unique_ptr<hir::Program> program;
    State state;
    std::optional<Library> library;
};

Resolver::Resolver(const Inputs& inputs, const Options& options, Interner& interner, SourceMap& sources, DiagSink& sink)
    : work_(std::make_unique<Work>(inputs, options, interner, sources, sink)) {
    State& state = work_->state;
    if (!inputs.library_image.empty()) state.library = &work_->library.emplace(state, inputs.library_image);
    const std::size_t before = sink.all().size();
    load_crates(state);
    link_names(state);
    sink.sort_from(before);

    const std::size_t late = sink.all().size();
    index_impls(state, 0);
    start_reaching(state);
    drain_queue(state);
    fill_modules(state);
    list_unused_imports(state);
    report_unused_macros(state);
    require_device_code(state);
    sink.sort_from(late);
}

Resolver::~Resolver() = default;

const hir::Program& Resolver::program() const { return *work_->program; }
bool Resolver::has_syntax_errors() const { return work_->state.has_syntax_errors; }
std::unique_ptr<hir::Program> Resolver::take_program() { return std::move(work_->program); }

void Resolver::item(DefId id) {
    State& state = work_->state;
    const hir::Def& def = state[id];
    if (def.lowered || !state.is_on_demand(id)) return;
    if (def.kind == DefKind::Variant || def.kind == DefKind::Ctor || def.kind == DefKind::Field) return item(def.parent);
    Lowerer(state).item(id);
    drain_queue(state);   // its constants may mention the user's items
}

void Resolver::body(DefId fn) {
    State& state = work_->state;
    if (!state.is_on_demand(fn)) return;
    item(fn);
    const auto* data = std::get_if<hir::FnDef>(&state[fn].data);
    if (data == nullptr || !data->has_body || data->body.valid()) return;
    Lowerer(state).late_body(fn);
    drain_queue(state);
}

void Resolver::impls(DefId trait, const hir::TypeHead& self) {
    if (work_->library) for (const DefId impl : work_->library->read_impls(trait, self)) item(impl);
}

void Resolver::inherent_impls(const hir::TypeHead& self, Symbol name) {
    if (work_->library) for (const DefId impl : work_->library->read_inherent_impls(self, name)) item(impl);
}

void Resolver::traits_with_item(Symbol name) {
    if (work_->library) for (const DefId trait : work_->library->read_traits(name)) item(trait);
}

void Resolver::lang_item(std::string_view key) {
    if (work_->library) work_->library->read_lang_item(key);
}

std::vector<DefId> Resolver::take_new() { return std::exchange(work_->state.lowered_late, {}); }

std::unique_ptr<hir::Program> resolve(const Inputs& inputs, const Options& options, Interner& interner, SourceMap& sources, DiagSink& sink) {
    return Resolver(inputs, options, interner, sources, sink).take_program();
}

}  // namespace ockc::resolve
