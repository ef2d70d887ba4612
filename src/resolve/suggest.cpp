#include "resolve/suggest.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "resolve/lookup.hpp"
#include "support/enum_table.hpp"

namespace ockc::resolve {

Symbol similar_in_scope(const State& state, ModuleId scope, Symbol name, ModuleId from, const ResFilter& filter) {
    if (!scope.valid()) return {};
    std::vector<std::string_view> names;
    std::vector<Symbol> symbols;
    for (const NameKey& key : state[scope].order) {
        const Binding& binding = state[scope].names.at(key);
        if (key.name == name || binding.res.kind == Res::Kind::Error || !visible(state, binding.visibility, from)) continue;
        if (filter && !filter(binding.res)) continue;
        names.push_back(state.text(key.name));
        symbols.push_back(key.name);
    }
    const std::string_view best = nearest_name(names, state.text(name));
    if (best.empty()) return {};
    return symbols[static_cast<std::size_t>(std::find(names.begin(), names.end(), best) - names.begin())];
}

namespace {

struct Candidate {
    std::string path;
    Res res;
};

// Breadth first over public modules, so that the shortest path to each thing is found first.
void search_crate(const State& state, std::uint32_t crate, Symbol name, Ns ns, ModuleId from, const ResFilter& filter, std::vector<Candidate>& out) {
    struct Step {
        ModuleId module;
        std::string path;
    };
    const bool library = state.crates[crate].is_library;
    std::vector<Step> steps{{state.crates[crate].root, library ? std::string(state.text(state.crates[crate].name)) : std::string("crate")}};
    std::vector<bool> seen(state.modules.size());
    for (std::size_t i = 0; i < steps.size(); ++i) {
        const Step step = steps[i];
        if (seen[step.module.raw]) continue;
        seen[step.module.raw] = true;
        for (const NameKey& key : state[step.module].order) {
            const Binding& binding = state[step.module].names.at(key);
            if (!visible(state, binding.visibility, from) || binding.res.kind != Res::Kind::Def) continue;
            if (!library && binding.import.valid()) continue;
            const hir::Def& def = state.program.defs[binding.res.def];
            if (key.name == name && key.ns == ns && def.kind != DefKind::Opaque && (!filter || filter(binding.res))) {
                const bool known = std::any_of(out.begin(), out.end(), [&](const Candidate& c) { return same_res(c.res, binding.res); });
                if (!known) out.push_back({step.path + "::" + std::string(state.text(name)), binding.res});
            }
            const ModuleId inner = scope_of(state, binding.res);
            if (key.ns != Ns::Type || !inner.valid() || state[inner].kind == ModuleKind::Trait || state[inner].kind == ModuleKind::Opaque) continue;
            if (def.kind == DefKind::Mod && def.crate != crate) continue;
            steps.push_back({inner, step.path + "::" + std::string(state.text(key.name))});
        }
    }
}

// Where a `use` line goes: before the first item of the module, with that line's indentation.
Span insertion_place(const State& state, ModuleId from, std::string& indentation) {
    const Module& module = state[state.normal_module(from)];
    Span first;
    for (const Import& import : state.imports) {
        if (import.module == state.normal_module(from) && (!first.valid() || import.span.begin < first.begin)) first = import.span;
    }
    for (const DefId item : module.items) {
        const Span span = state.program.defs[item].span;
        if (!first.valid() || (span.file == first.file && span.begin < first.begin)) first = span;
    }
    if (!first.valid()) return {};
    const SourceFile& file = state.sources.file(first.file);
    std::uint32_t begin = first.begin;
    while (begin > 0 && file.text[begin - 1] != '\n') --begin;
    std::uint32_t end = begin;
    while (end < first.begin && (file.text[end] == ' ' || file.text[end] == '\t')) ++end;
    indentation = file.text.substr(begin, end - begin);
    return {first.file, begin, begin};
}

}  // namespace

bool suggest_imports(const State& state, Diagnostic& error, Symbol name, Ns ns, ModuleId from, const ResFilter& filter, std::string_view suffix) {
    std::vector<Candidate> candidates;
    for (std::uint32_t crate = 0; crate < state.crates.size(); ++crate) search_crate(state, crate, name, ns, from, filter, candidates);
    if (candidates.empty()) return false;
    std::sort(candidates.begin(), candidates.end(), [](const Candidate& a, const Candidate& b) { return a.path < b.path; });
    const std::string what = res_text(state, candidates[0].res);
    bool same = true;
    for (const Candidate& c : candidates) same = same && res_text(state, c.res) == what;
    const std::string text = candidates.size() == 1 ? fmt::format("consider importing this {}{}", what, suffix)
                                                    : fmt::format("consider importing one of these {}s{}", same ? what : "item", suffix);
    std::string indentation;
    const Span place = insertion_place(state, from, indentation);
    if (candidates.size() > 4) candidates.resize(4);
    for (const Candidate& c : candidates) {
        if (place.valid()) error.suggest(place, fmt::format("{}use {};\n", indentation, c.path), text);
        else error.help(fmt::format("{}: `use {};`", text, c.path));
    }
    return true;
}

}  // namespace ockc::resolve
