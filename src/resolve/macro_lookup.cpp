#include <fmt/format.h>

#include "resolve/collect.hpp"
#include "resolve/lookup.hpp"
#include "resolve/macro_rules.hpp"
#include "resolve/suggest.hpp"
#include "support/enum_table.hpp"

namespace ockc::resolve {

namespace {
enum class MacroGives : std::uint8_t { Value, Literal, Syntax };
constexpr MacroGives kMacroGives[] = {
#define OCKC_BUILTIN_MACRO(kind, name, origin, gives) MacroGives::gives,
#include "resolve/macros.def"
};
MacroGives gives(BuiltinMacro macro) { return kMacroGives[static_cast<std::size_t>(macro)]; }
}  // namespace

bool is_literal_macro(BuiltinMacro macro) { return gives(macro) == MacroGives::Literal; }

bool is_include(const State& state, DefId macro) {
    if (state.program.defs[macro].kind != DefKind::Macro) return false;
    const MacroInfo& info = state.macros[state.origin[macro].index];
    return info.kind == MacroInfo::Kind::Builtin && gives(info.builtin) == MacroGives::Syntax;
}

DefId find_item_macro(const State& state, ModuleId module, MacroScopeId macros, std::uint32_t crate, const ast::MacroCall& call) {
    const ast::Path& path = (*state.crates[crate].ast)[call.path];
    if (path.segments.size() == 1 && path.segments[0].kind == ast::SegmentKind::Name && !path.global) {
        const DefId textual = find_textual_macro(state, macros, path.segments[0].ident.name);
        if (textual.valid()) return textual;
    }
    std::vector<ImportSegment> segments;
    for (const ast::PathSegment& segment : path.segments) segments.push_back({segment.kind, hir_ident(segment.ident), segment.ident.context});
    const PathEnd end = find_path(state, segments, path.global, Ns::Macro, module, nullptr);
    if (end.kind != PathEnd::Kind::Done || end.res.kind != Res::Kind::Def) return {};
    const DefKind kind = state.program.defs[end.res.def].kind;
    return kind == DefKind::Macro || kind == DefKind::Opaque ? end.res.def : DefId();
}

void report_unknown_macro(State& state, ModuleId module, MacroScopeId macros, std::uint32_t crate, const ast::MacroCall& call) {
    const ast::Path& path = (*state.crates[crate].ast)[call.path];
    const std::string_view first = state.text(path.segments[0].ident.name);
    const bool plain = path.segments.size() == 1 || first == "std" || first == "core";
    if (plain && report_refused_name(state, state.text(path.segments.back().ident.name), call.span, RefusedUse::Macro)) return;
    std::string name;
    for (const ast::PathSegment& segment : path.segments) {
        if (!name.empty()) name += "::";
        name += state.text(segment.ident.name);
    }
    auto& error = state.sink->error(path.span, fmt::format("cannot find macro `{}` in this scope", name));
    if (path.segments.size() != 1) return;
    std::vector<std::string_view> names;
    for (MacroScopeId scope = macros; scope.valid(); scope = state.macro_scopes[scope].outer) names.push_back(state.text(state.macro_scopes[scope].name));
    for (const NameKey& key : state[state.normal_module(module)].order) {
        if (key.ns == Ns::Macro) names.push_back(state.text(key.name));
    }
    static constexpr std::string_view kBuiltin[] = {
#define OCKC_BUILTIN_MACRO(kind, name, origin, gives) name,
#include "resolve/macros.def"
    };
    names.insert(names.end(), std::begin(kBuiltin), std::end(kBuiltin));
    const std::string_view near = nearest_name(names, name);
    if (near == name) error.help(fmt::format("import it: `use cuda_device::{};`", name));
    else if (!near.empty()) error.suggest(path.span, std::string(near), "a macro with a similar name exists");
}

bool expand_builtin_item(State& state, DefId macro, std::uint32_t crate, const ast::MacroCall& call, bool strict) {
    if (state.program.defs[macro].kind == DefKind::Macro && state.macros[state.origin[macro].index].kind == MacroInfo::Kind::Rules) return false;
    if (is_include(state, macro)) return false;
    const bool builtin = state.program.defs[macro].kind == DefKind::Macro && state.macros[state.origin[macro].index].kind == MacroInfo::Kind::Builtin;
    if (builtin && state.macros[state.origin[macro].index].builtin == BuiltinMacro::CompileError) {
        const auto args = parse::parse_expr_list(call.body, state.parse_context(crate));
        const ast::Crate& ast = state.ast_of(crate);
        const auto* literal = args.size() == 1 ? ast::get_if<ast::LiteralExpr>(ast[args[0]]) : nullptr;
        state.sink->error(call.span, literal != nullptr ? std::string(state.text(ast[literal->literal].text)) : "compile_error! takes 1 argument");
    } else if (strict) {
        state.sink->error(call.span, fmt::format("non-item macro in item position: {}", state.name_of(macro)));
    }
    return true;
}

}  // namespace ockc::resolve
