#include "resolve/lookup.hpp"

#include <fmt/format.h>

#include "resolve/imports.hpp"
#include "resolve/library.hpp"

namespace ockc::resolve {

const Binding* find(const State& state, ModuleId module, Symbol name, Ns ns) {
    const Module& m = state[module];
    const NameKey key{name, ns};
    auto found = m.names.find(key);
    // What a glob brought may be hidden by a definition that has not been read yet.
    if (m.image_row != kNoImageRow && !m.complete && (found == m.names.end() || found->second.glob)) {
        state.library->bind(module, name, ns);
        found = m.names.find(key);
    }
    return found == m.names.end() ? nullptr : &found->second;
}

namespace {

Binding public_binding(Res res) {
    Binding binding;
    binding.res = res;
    binding.visibility.is_public = true;
    return binding;
}

std::optional<Binding> find_macro_everywhere(const State& state, Symbol name) {
    const auto found = state.builtin_macros.find(name);
    if (found == state.builtin_macros.end()) return std::nullopt;
    return public_binding(def_res(found->second));
}

}  // namespace

std::optional<Binding> find_lexical(const State& state, ModuleId from, Symbol name, Ns ns) {
    for (ModuleId m = from;; m = state[m].parent) {
        if (const Binding* binding = find(state, m, name, ns)) return *binding;
        if (state[m].kind == ModuleKind::Module) break;
    }
    if (ns == Ns::Type) {
        const auto crate = state.extern_crates.find(name);
        if (crate != state.extern_crates.end()) return public_binding(def_res(state[crate->second].def));
    }
    if (state.prelude.valid()) {
        if (const Binding* binding = find(state, state.prelude, name, ns)) return *binding;
    }
    if (ns == Ns::Macro) return find_macro_everywhere(state, name);
    if (ns == Ns::Type) {
        if (const auto prim = prim_type(state.text(name))) return public_binding(prim_res(*prim));
    }
    return std::nullopt;
}

ModuleId scope_of(const State& state, const Res& res) {
    if (res.kind != Res::Kind::Def) return {};
    return state.origin[res.def].scope;
}

bool visible(const State& state, const hir::Visibility& visibility, ModuleId from) {
    if (visibility.is_public) return true;
    for (DefId def = state.normal_def(from); def.valid(); def = state.program.defs[def].parent) {
        if (def == visibility.module) return true;
    }
    return false;
}

bool at_least(const State& state, const hir::Visibility& a, const hir::Visibility& b) {
    if (a.is_public) return true;
    if (b.is_public) return false;
    for (DefId def = b.module; def.valid(); def = state.program.defs[def].parent) {
        if (def == a.module) return true;
    }
    return false;
}

PathEnd walk(const State& state, Res start, PathSegments segments, std::uint32_t from, Ns ns, PathTrace* trace) {
    PathEnd end;
    end.res = start;
    for (std::uint32_t i = from; i < segments.size(); ++i) {
        end.at = i;
        const bool last = i + 1 == segments.size();
        const ModuleId scope = scope_of(state, end.res);
        if (!scope.valid()) {
            end.kind = PathEnd::Kind::Partial;
            return end;
        }
        const Module& module = state[scope];
        end.in = scope;
        if (module.kind == ModuleKind::Opaque) {   // whatever a host crate has
            end.kind = PathEnd::Kind::Done;
            if (trace != nullptr) trace->res.resize(static_cast<std::uint32_t>(segments.size()), end.res);
            return end;
        }
        const Symbol name = segments[i].ident.name;
        const Binding* binding = find(state, scope, name, last ? ns : Ns::Type);
        if (binding == nullptr) {
            if (module.kind == ModuleKind::Enum) {   // an associated function or constant, perhaps
                end.kind = PathEnd::Kind::Partial;
                return end;
            }
            end.kind = PathEnd::Kind::Failed;
            return end;
        }
        end.res = binding->res;
        if (trace != nullptr) {
            trace->res.push_back(binding->res);
            trace->bindings.push_back({*binding, i});
        }
        if (end.res.kind == Res::Kind::Error) {
            end.kind = PathEnd::Kind::Done;
            return end;
        }
    }
    end.kind = PathEnd::Kind::Done;
    return end;
}

std::optional<PathStart> path_start(const State& state, PathSegments segments, bool global, ModuleId from) {
    PathStart start;
    const auto fail = [&](PathEnd::Kind kind, std::uint32_t at) {
        start.failed = true;
        start.failure.kind = kind;
        start.failure.at = at;
    };
    if (global) {
        const auto crate = state.extern_crates.find(segments[0].ident.name);
        if (crate == state.extern_crates.end()) {
            fail(PathEnd::Kind::Failed, 0);
            start.failure.unlinked_crate = true;
        } else {
            start.res = def_res(state[crate->second].def);
            start.taken = 1;
        }
        return start;
    }
    using ast::SegmentKind;
    const ModuleId normal = state.normal_module(from);
    switch (segments[0].kind) {
        case SegmentKind::Name:
        case SegmentKind::SelfType: return std::nullopt;
        case SegmentKind::Crate:
            start.res = def_res(state[state.crates[state[from].crate].root].def);
            start.taken = 1;
            return start;
        case SegmentKind::DollarCrate: {
            const DefId written_in = state.expansions[segments[0].context].crate_root;
            const DefId root = written_in.valid() ? written_in : state[state.crates[state[from].crate].root].def;
            start.res = def_res(root);
            start.taken = 1;
            return start;
        }
        case SegmentKind::SelfValue:
        case SegmentKind::Super: break;
    }
    ModuleId module = normal;
    std::uint32_t i = segments[0].kind == SegmentKind::SelfValue ? 1 : 0;
    for (; i < segments.size() && segments[i].kind == SegmentKind::Super; ++i) {
        const ModuleId parent = state[module].parent;
        if (!parent.valid()) {
            fail(PathEnd::Kind::TooManySuper, i);
            return start;
        }
        module = state.normal_module(parent);
    }
    start.res = def_res(state[module].def);
    start.taken = i;
    return start;
}

PathEnd find_path(const State& state, PathSegments segments, bool global, Ns ns, ModuleId from, PathTrace* trace) {
    if (segments.empty()) {   // the parser found no name and said so
        PathEnd end;
        end.kind = PathEnd::Kind::Done;
        end.res.kind = Res::Kind::Error;
        return end;
    }
    if (const auto start = path_start(state, segments, global, from)) {
        if (start->failed) return start->failure;
        if (trace != nullptr) trace->res.resize(start->taken, start->res);
        return walk(state, start->res, segments, start->taken, ns, trace);
    }
    const bool last = segments.size() == 1;
    const auto binding = find_lexical(state, from, segments[0].ident.name, last ? ns : Ns::Type);
    if (!binding) return PathEnd{};
    if (trace != nullptr) {
        trace->res.push_back(binding->res);
        trace->bindings.push_back({*binding, 0});
    }
    if (binding->res.kind == Res::Kind::Error) {
        PathEnd end;
        end.kind = PathEnd::Kind::Done;
        return end;
    }
    return walk(state, binding->res, segments, 1, ns, trace);
}

namespace {

void report_ambiguity(State& state, const Binding& binding, Span span, Symbol name) {
    const auto text = state.text(name);
    auto& error = state.sink->error(Code::E0659, span, fmt::format("`{}` is ambiguous", text)).label(span, "ambiguous name");
    error.note("ambiguous because of multiple glob imports of a name in the same module");
    const auto origin = [&](std::string_view could, const Res& res, ImportId import) {
        error.note_at(state.imports[import.raw].span, fmt::format("`{}` {} refer to the {} imported here", text, could, res_text(state, res)));
    };
    origin("could", binding.res, binding.import);
    origin("could also", binding.other, binding.other_import);
    error.help(fmt::format("consider adding an explicit import of `{}` to disambiguate", text));
}

void report_private(State& state, const Binding& binding, Span span, Symbol name) {
    std::string what = res_text(state, binding.res);
    if (binding.import.valid()) what += " import";
    if (binding.res.kind == Res::Kind::Def && state.program.defs[binding.res.def].kind == DefKind::Ctor) what += " constructor";
    auto& error = state.sink->error(Code::E0603, span, fmt::format("{} `{}` is private", what, state.text(name)));
    error.label(span, fmt::format("private {}", what));
    if (binding.span.valid()) error.note_at(binding.span, fmt::format("the {} `{}` is defined here", what, state.text(name)));
}

}  // namespace

bool use_binding(State& state, const Binding& binding, Span span, Symbol name, ModuleId from) {
    if (binding.res.kind == Res::Kind::Error) {
        if (binding.import.valid()) report_failed_import(state, binding.import);
        return false;
    }
    if (binding.import.valid()) state.imports[binding.import.raw].used = true;
    if (binding.ambiguous()) report_ambiguity(state, binding, span, name);
    if (!visible(state, binding.visibility, from)) report_private(state, binding, span, name);
    return true;
}

}  // namespace ockc::resolve
