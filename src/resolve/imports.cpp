#include "resolve/imports.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "resolve/collect.hpp"
#include "resolve/library.hpp"
#include "resolve/lookup.hpp"
#include "resolve/suggest.hpp"

namespace ockc::resolve {

namespace {

std::string_view ns_text(Ns ns) {
    switch (ns) {
        case Ns::Type: return "type";
        case Ns::Value: return "value";
        case Ns::Macro: return "macro";
    }
    OCKC_UNREACHABLE("namespace");
}

bool is_opaque(const State& state, const Res& res) {
    return res.kind == Res::Kind::Def && state.program.defs[res.def].kind == DefKind::Opaque;
}

// A definition or import that meets another of the same name. Rust's order: the later one is the error, but an import never
// displaces an item.
void report_duplicate(State& state, Symbol name, Ns ns, const Binding& old, const Binding& fresh) {
    const auto text = state.text(name);
    const bool old_import = old.import.valid(), new_import = fresh.import.valid();
    Code code = Code::E0428;
    if (old.extern_crate && fresh.extern_crate) code = Code::E0259;
    else if (old.extern_crate || fresh.extern_crate) code = old_import || new_import ? Code::E0254 : Code::E0260;
    else if (old_import && new_import) code = Code::E0252;
    else if (old_import || new_import) code = Code::E0255;
    const bool later = old.span.file != fresh.span.file || old.span.begin <= fresh.span.begin;
    const Binding& first = later ? old : fresh;
    const Binding& second = later ? fresh : old;
    // The name in a second name space is the same mistake.
    if (const auto [seen, added] = state.duplicates.try_emplace(name, second.span); !added) {
        if (seen->second == second.span) return;
        seen->second = second.span;
    }
    const std::string what(ns == Ns::Type && res_text(state, first.res) == "module" ? "module" : ns_text(ns));
    auto& error = state.sink->error(code, second.span, fmt::format("the name `{}` is defined multiple times", text));
    error.label(second.span, fmt::format("`{}` {} here", text, second.import.valid() ? "reimported" : "redefined"));
    error.label(first.span, fmt::format("previous {} of the {} `{}` here", first.import.valid() ? "import" : "definition", what, text));
    error.note(fmt::format("`{}` must be defined only once in the {} namespace of this module", text, ns_text(ns)));
    if (second.import.valid() || first.import.valid()) error.help("you can use `as` to change the binding name of the import");
}

void forward_to_globs(State& state, ModuleId module, NameKey key);

// Binds or improves a binding; true when something changed.
bool bind(State& state, ModuleId module, NameKey key, const Binding& fresh) {
    Module& m = state[module];
    const auto [place, added] = m.names.try_emplace(key, fresh);
    Binding& old = place->second;
    if (added) {
        m.order.push_back(key);
        forward_to_globs(state, module, key);
        return true;
    }
    if (fresh.glob && !old.glob) return false;
    if (!fresh.glob && old.glob) {
        old = fresh;
        forward_to_globs(state, module, key);
        return true;
    }
    if (fresh.glob && old.glob) {
        if (same_res(old.res, fresh.res)) {
            if (at_least(state, old.visibility, fresh.visibility)) return false;
            old.visibility = fresh.visibility;
            forward_to_globs(state, module, key);
            return true;
        }
        if (old.ambiguous() || old.import == fresh.import) return false;
        if (is_opaque(state, old.res) || old.res.kind == Res::Kind::Error) {   // a real name displaces an unknown one
            old = fresh;
            return true;
        }
        if (is_opaque(state, fresh.res) || fresh.res.kind == Res::Kind::Error) return false;
        old.other = fresh.res;
        old.other_import = fresh.import;
        return true;
    }
    return false;
}

// A glob passes on what its source shows to it.
void import_by_glob(State& state, ImportId id, ModuleId from, NameKey key) {
    const Import& import = state.imports[id.raw];
    const auto found = state[from].names.find(key);
    const Binding source = found->second;
    if (source.res.kind == Res::Kind::Error && !source.import.valid()) return;
    if (from == import.module || !visible(state, source.visibility, import.module)) return;
    Binding copy = source;
    copy.glob = true;
    copy.import = source.res.kind == Res::Kind::Error ? source.import : id;
    copy.span = import.span;
    copy.visibility = at_least(state, import.visibility, source.visibility) ? source.visibility : import.visibility;
    bind(state, import.module, key, copy);
}

void forward_to_globs(State& state, ModuleId module, NameKey key) {
    const auto importers = state[module].glob_importers;   // a copy: binding may add more
    for (const ImportId id : importers) import_by_glob(state, id, module, key);
}

// An unresolved import of the same name may still shadow what globs brought.
bool may_be_shadowed(const State& state, ModuleId module, Symbol name, ImportId self) {
    for (const ImportId id : state[module].imports) {
        const Import& import = state.imports[id.raw];
        if (id != self && !import.done && !import.any() && import.name.name == name) return true;
    }
    return false;
}

struct Step {
    bool changed = false;
};

// Notes where a path stopped, for the error message.
void note_failure(Import& import, const PathEnd& end) {
    import.failed_at = end.at;
    import.failed_in = end.in;
}

void bind_single(State& state, ImportId id, Ns ns, Res res, const hir::Visibility& source_visibility) {
    Import& import = state.imports[id.raw];
    import.found[static_cast<std::size_t>(ns)] = res;
    Binding binding;
    binding.res = res;
    binding.import = id;
    binding.span = import.span;
    binding.visibility = import.visibility;
    // A re-export cannot show more than its source does; what cannot be re-exported at all is E0364 or E0365, later.
    if (!at_least(state, source_visibility, import.visibility)) binding.visibility = source_visibility;
    if (state.text(import.name.name) == "_") {
        if (res.kind == Res::Kind::Def && state.program.defs[res.def].kind == DefKind::Trait) {
            state[import.module].unnamed_traits.push_back(res.def);
        }
        return;
    }
    define(state, import.module, import.name.name, ns, binding);
}

Step try_single(State& state, ImportId id, bool forced) {
    Step step;
    bool all = true;
    for (const Ns ns : kAllNs) {
        const Import& import = state.imports[id.raw];
        if (import.found[static_cast<std::size_t>(ns)].kind != Res::Kind::Error) continue;
        if (import.only_type && ns != Ns::Type) continue;
        PathTrace trace;
        PathEnd end = find_path(state, import.path, import.global, ns, import.module, &trace);
        if (ns == Ns::Macro && import.path.size() == 1 && !import.global) {   // macro_rules in scope come first
            if (const DefId macro = find_textual_macro(state, import.macros, import.path[0].ident.name); macro.valid()) {
                end = {};
                end.kind = PathEnd::Kind::Done;
                end.res = def_res(macro);
                trace = {};
            }
        }
        if (end.kind != PathEnd::Kind::Done) {
            if (ns == Ns::Type) note_failure(state.imports[id.raw], end);
            all = false;
            continue;
        }
        if (end.res.kind == Res::Kind::Error) continue;   // through an import that failed
        hir::Visibility source;
        source.is_public = true;
        if (!trace.bindings.empty() && trace.bindings.back().segment + 1 == import.path.size()) {
            const Binding& binding = trace.bindings.back().binding;
            if (binding.import == id) continue;   // its own binding
            if (!forced && binding.glob && end.in.valid() && may_be_shadowed(state, end.in, import.path.back().ident.name, id)) {
                all = false;
                continue;
            }
            source = binding.visibility;
            const bool is_visible = visible(state, source, import.module);
            const bool is_ctor = end.res.kind == Res::Kind::Def && state.program.defs[end.res.def].kind == DefKind::Ctor;
            if (!is_visible && is_ctor) continue;   // the type is imported, what makes its values is not
            if (!is_visible) source = import.visibility;   // E0603 comes later
        }
        bind_single(state, id, ns, end.res, source);
        step.changed = true;
    }
    if (all) state.imports[id.raw].done = true;
    return step;
}

Step try_glob(State& state, ImportId id) {
    Import& import = state.imports[id.raw];
    PathTrace trace;
    PathEnd end;
    if (import.path.empty()) {   // `use *;` or `use ::*;`
        end.kind = PathEnd::Kind::Done;
        end.res = def_res(state.normal_def(import.module));
    } else {
        end = find_path(state, import.path, import.global, Ns::Type, import.module, nullptr);
    }
    if (end.kind != PathEnd::Kind::Done) {
        note_failure(import, end);
        return {};
    }
    import.done = true;
    import.source = scope_of(state, end.res);
    if (!import.source.valid()) {
        import.failed = end.res.kind != Res::Kind::Error;
        import.failed_at = static_cast<std::uint32_t>(import.path.size()) - 1;
        return {};
    }
    import.found[0] = end.res;
    if (state[import.source].kind == ModuleKind::Opaque || import.source == import.module) return {};
    // Within the library, names come through globs when they are asked for.
    const bool on_demand = state[import.module].image_row != kNoImageRow && !state[import.module].complete;
    if (state.library != nullptr && !on_demand) state.library->complete(import.source);
    state[import.source].glob_importers.push_back(id);
    const auto names = state[import.source].order;
    for (const NameKey& key : names) import_by_glob(state, id, import.source, key);
    for (const DefId trait : state[import.source].unnamed_traits) state[import.module].unnamed_traits.push_back(trait);
    return {true};
}

bool run_fixpoint(State& state, std::size_t first, bool forced) {
    bool any = false;
    for (bool changed = true; changed;) {
        changed = false;
        for (std::size_t i = first; i < state.imports.size(); ++i) {
            if (state.imports[i].done) continue;
            const ImportId id(static_cast<std::uint32_t>(i));
            const Step step = state.imports[i].kind == Import::Kind::Glob ? try_glob(state, id) : try_single(state, id, forced);
            changed = changed || step.changed;
        }
        any = any || changed;
    }
    return any;
}

// `use tokio::..` in host code: the crate is not ours, its names are opaque. Also what std has and our core does not.
bool make_opaque(State& state, ImportId id) {
    Import& import = state.imports[id.raw];
    const Module& module = state[import.module];
    if (module.device || state.is_library(import.module) || import.path.empty()) return false;
    const bool unknown_crate = import.failed_at == 0 && !import.failed_in.valid() && import.path[0].kind == ast::SegmentKind::Name;
    const bool std_path = import.path[0].kind == ast::SegmentKind::Name &&
                          (state.text(import.path[0].ident.name) == "std" || state.text(import.path[0].ident.name) == "alloc");
    if (!unknown_crate && !std_path) return false;
    import.done = true;
    if (import.kind == Import::Kind::Glob) return true;
    std::string full;
    for (const ImportSegment& segment : import.path) {
        if (!full.empty()) full += "::";
        full += state.text(segment.ident.name);
    }
    DefSource source;
    source.module = import.module;
    const hir::Ident name{state.names.intern(full), import.span};
    const DefId def = state.new_def(DefKind::Opaque, name, {}, import.span, module.crate, source);
    state.origin[def].scope = state.new_module(ModuleKind::Opaque, def, {}, module.crate, false);
    hir::Visibility everywhere;
    everywhere.is_public = true;
    const auto only_type = state.imports[id.raw].only_type;
    for (const Ns ns : kAllNs) {
        if (!only_type || ns == Ns::Type) bind_single(state, id, ns, def_res(def), everywhere);
    }
    return true;
}

void bind_failure(State& state, ImportId id) {
    Import& import = state.imports[id.raw];
    import.done = import.failed = true;
    if (import.kind == Import::Kind::Glob || state.text(import.name.name) == "_") return;
    Binding binding;
    binding.import = id;
    binding.span = import.span;
    binding.visibility = import.visibility;
    for (const Ns ns : kAllNs) bind(state, import.module, NameKey{import.name.name, ns}, binding);
}

std::string path_text(const State& state, const Import& import, std::size_t count) {
    std::string text = import.global ? "::" : "";
    for (std::size_t i = 0; i < count && i < import.path.size(); ++i) {
        if (i != 0) text += "::";
        text += state.text(import.path[i].ident.name);
    }
    return text;
}

std::string scope_text(const State& state, ModuleId scope, const Import& import, std::size_t at) {
    if (!state[scope].parent.valid() && state[scope].kind == ModuleKind::Module) return "the root";
    return fmt::format("`{}`", at == 0 ? state.name_of(state[scope].def) : state.text(import.path[at - 1].ident.name));
}

void report_missing_last(State& state, const Import& import) {
    const auto& last = import.path.back().ident;
    auto& error = state.sink->error(Code::E0432, import.span, fmt::format("unresolved import `{}`", path_text(state, import, import.path.size())));
    error.label(import.span, fmt::format("no `{}` in {}", state.text(last.name), scope_text(state, import.failed_in, import, import.failed_at)));
    const Symbol near = similar_in_scope(state, import.failed_in, last.name, import.module);
    if (near.valid()) {
        error.suggest(last.span, std::string(state.text(near)), "a similar name exists in the module", Applicability::MaybeIncorrect);
    } else {
        suggest_imports(state, error, last.name, Ns::Type, import.module, {}, " instead");
    }
}

void report_missing_inner(State& state, const Import& import) {
    const auto& segment = import.path[import.failed_at];
    const auto text = state.text(segment.ident.name);
    auto& error = state.sink->error(Code::E0432, segment.ident.span,
                                    fmt::format("unresolved import `{}`", path_text(state, import, import.failed_at + 1)));
    if (!import.failed_in.valid()) {
        if (import.global) {
            error.label(segment.ident.span, fmt::format("could not find `{}` in the list of imported crates", text));
            return;
        }
        error.label(segment.ident.span, fmt::format("use of unresolved module or unlinked crate `{}`", text));
        if (!suggest_imports(state, error, segment.ident.name, Ns::Type, import.module, {}, "")) {
            error.help(fmt::format("you might be missing a crate named `{}`", text));
        }
        return;
    }
    const ModuleId scope = import.failed_in;
    const bool root = !state[scope].parent.valid();
    error.label(segment.ident.span, root ? fmt::format("could not find `{}` in the crate root", text)
                                         : fmt::format("could not find `{}` in `{}`", text, state.name_of(state[scope].def)));
    const Symbol near = similar_in_scope(state, scope, segment.ident.name, import.module);
    if (near.valid()) error.suggest(segment.ident.span, std::string(state.text(near)), "a similar name exists in the module");
}

// E0603 along the path, E0364 and E0365 for what may not be shown.
void check_visibility(State& state, ImportId id) {
    const Import import = state.imports[id.raw];
    if (import.failed) return;
    bool checked_path = false;
    const Binding* hidden = nullptr;
    Ns hidden_ns = Ns::Type;
    bool shown = false;
    PathTrace traces[3];
    for (const Ns ns : kAllNs) {
        if (import.kind == Import::Kind::Glob && ns != Ns::Type) break;
        if (import.path.empty() || (import.kind == Import::Kind::Single && import.found[static_cast<std::size_t>(ns)].kind == Res::Kind::Error)) continue;
        PathTrace& trace = traces[static_cast<std::size_t>(ns)];
        find_path(state, import.path, import.global, ns, import.module, &trace);
        for (const auto& [binding, at] : trace.bindings) {
            const bool last = at + 1 == import.path.size();
            if (last && import.kind == Import::Kind::Single) {
                if (binding.import == id) continue;
                if (binding.import.valid()) state.imports[binding.import.raw].used = true;
                if (!visible(state, binding.visibility, import.module)) {
                    if (hidden == nullptr) hidden = &binding, hidden_ns = ns;
                } else if (!at_least(state, binding.visibility, import.visibility)) {
                    if (hidden == nullptr) hidden = &binding, hidden_ns = ns;
                } else {
                    shown = true;
                }
            } else if (!checked_path) {
                use_binding(state, binding, import.path[at].ident.span, import.path[at].ident.name, import.module);
            }
        }
        checked_path = true;
    }
    for (const Res& res : import.found) {
        const DefId owner = res.kind == Res::Kind::Def && import.kind == Import::Kind::Single ? state[res.def].parent : DefId();
        if (!owner.valid() || state[owner].kind != DefKind::Trait) continue;
        state.sink->error(Code::E0658, import.path.back().ident.span, "`use` associated items of traits is unstable");
        return;
    }
    if (hidden == nullptr || shown) return;
    const Span last_span = import.path.back().ident.span;
    if (!visible(state, hidden->visibility, import.module)) {
        use_binding(state, *hidden, last_span, import.path.back().ident.name, import.module);
        return;
    }
    const auto text = state.text(import.path.back().ident.name);
    const bool type_only = hidden_ns == Ns::Type && res_text(state, hidden->res) == "module";
    auto& error = state.sink->error(type_only ? Code::E0365 : Code::E0364, import.span, fmt::format("`{}` is private, and cannot be re-exported", text));
    if (type_only) error.label(import.span, fmt::format("re-export of private `{}`", text)).note(fmt::format("consider declaring type or module `{}` with `pub`", text));
    else error.note_at(hidden->span, fmt::format("consider marking `{}` as `pub` in the imported module", text));
}

// Outside device modules an import that fails is only worth a message when it is clearly a slip: the library has a name that
// is nearly the same.
bool worth_reporting(const State& state, const Import& import) {
    if (state[import.module].device || state.is_library(import.module)) return true;
    if (!import.failed_in.valid() || import.failed_at + 1 != import.path.size()) return false;
    return state.crates[state[import.failed_in].crate].is_library &&
           similar_in_scope(state, import.failed_in, import.path.back().ident.name, import.module).valid();
}

}  // namespace

void define(State& state, ModuleId module, Symbol name, Ns ns, const Binding& fresh) {
    const NameKey key{name, ns};
    const auto found = state[module].names.find(key);
    if (found == state[module].names.end() || found->second.glob) {
        bind(state, module, key, fresh);
        return;
    }
    Binding& old = found->second;
    if (is_opaque(state, fresh.res) || fresh.res.kind == Res::Kind::Error) return;
    if (is_opaque(state, old.res) || old.res.kind == Res::Kind::Error) {
        old = fresh;
        return;
    }
    if (old.import.valid() && fresh.import.valid() && state.imports[old.import.raw].reported) return;
    // The same name in both namespaces of one import pair is one error.
    if (fresh.import.valid()) {
        if (state.imports[fresh.import.raw].reported) return;
        state.imports[fresh.import.raw].reported = true;
    }
    report_duplicate(state, name, ns, old, fresh);
}

namespace {

// The failed import whose name a failed import's path runs into, or none: then the fault is its own.
ImportId failed_before(const State& state, ImportId id) {
    const Import& import = state.imports[id.raw];
    if (import.path.empty()) return {};
    PathTrace trace;
    find_path(state, import.path, import.global, Ns::Type, import.module, &trace);
    for (const auto& [binding, at] : trace.bindings) {
        if (binding.res.kind == Res::Kind::Error && binding.import.valid() && binding.import != id) return binding.import;
    }
    return {};
}

void report_one_import(State& state, ImportId id) {
    const Import copy = state.imports[id.raw];
    if (copy.path.empty()) return;
    const PathEnd end = find_path(state, copy.path, copy.global, Ns::Type, copy.module, nullptr);
    if (end.kind == PathEnd::Kind::TooManySuper) {
        const Span span = copy.path[end.at].ident.span;
        state.sink->error(Code::E0433, span, "too many leading `super` keywords").label(span, "there are too many leading `super` keywords");
        return;
    }
    if (copy.path.size() > 1 && state.text(copy.path[0].ident.name) == "cuda_device" && copy.failed_at == 1 &&
        report_refused_name(state, state.text(copy.path[1].ident.name), copy.path[1].ident.span, RefusedUse::DevicePath)) {
        return;
    }
    const bool in_enum = end.in.valid() && state[end.in].kind == ModuleKind::Enum;
    if ((end.kind == PathEnd::Kind::Partial && !in_enum) || (copy.kind == Import::Kind::Glob && copy.failed_at + 1 == copy.path.size() && end.kind == PathEnd::Kind::Done)) {
        const std::size_t at = end.kind == PathEnd::Kind::Partial ? end.at - 1 : copy.path.size() - 1;
        const Span span = copy.path[at].ident.span;
        const std::string what = res_text(state, end.res);
        state.sink->error(Code::E0432, span, fmt::format("unresolved import `{}`", path_text(state, copy, at + 1)))
            .label(span, fmt::format("`{}` is {} {}, not a module", state.text(copy.path[at].ident.name), article(what), what));
        return;
    }
    const bool last = copy.failed_at + 1 == copy.path.size() && copy.kind == Import::Kind::Single;
    if (last && copy.failed_in.valid()) report_missing_last(state, copy);
    else if (last && copy.path.size() == 1) report_missing_inner(state, copy);
    else report_missing_inner(state, copy);
}

}  // namespace

void report_failed_import(State& state, ImportId id) {
    std::vector<ImportId> chain{id};
    ImportId culprit;
    while (!culprit.valid()) {
        if (state.imports[chain.back().raw].reported) return;
        const ImportId next = failed_before(state, chain.back());
        const auto met = std::find(chain.begin(), chain.end(), next);
        if (!next.valid()) {
            culprit = chain.back();
        } else if (met != chain.end()) {   // a circle: its first import in the source speaks for all
            culprit = *std::min_element(met, chain.end(), [](ImportId a, ImportId b) { return a.raw < b.raw; });
        } else {
            chain.push_back(next);
        }
    }
    for (const ImportId one : chain) state.imports[one.raw].reported = true;
    report_one_import(state, culprit);
}

void resolve_imports(State& state, std::size_t first, bool final) {
    run_fixpoint(state, first, false);
    if (!final) return;
    run_fixpoint(state, first, true);
    const std::size_t count = state.imports.size();
    for (bool changed = true; changed;) {
        changed = false;
        for (std::size_t i = first; i < count; ++i) {
            const Import& import = state.imports[i];
            if (import.done || import.any()) continue;
            changed = make_opaque(state, ImportId(static_cast<std::uint32_t>(i))) || changed;
        }
        if (changed) run_fixpoint(state, first, true);
    }
    for (std::size_t i = first; i < count; ++i) {
        const ImportId id(static_cast<std::uint32_t>(i));
        Import& import = state.imports[i];
        if (!import.failed && (import.done || import.any())) continue;
        bind_failure(state, id);
    }
    for (std::size_t i = first; i < count; ++i) {
        const ImportId id(static_cast<std::uint32_t>(i));
        if (state.imports[i].failed) {
            if (worth_reporting(state, state.imports[i])) report_failed_import(state, id);
        } else if (!state.is_library(state.imports[i].module)) {
            check_visibility(state, id);
        }
    }
}

}  // namespace ockc::resolve
