#include <fmt/format.h>

#include "resolve/collect.hpp"
#include "resolve/lower.hpp"
#include "resolve/suggest.hpp"
#include "support/enum_table.hpp"

namespace ockc::resolve {

namespace {

struct SourceRow {
    Ns ns;
    std::string_view expected;
    std::string_view missing;
    Code not_found;
    Code wrong_kind;
};
constexpr SourceRow kSources[] = {
#define OCKC_PATH_SOURCE(name, ns, expected, missing, not_found, wrong_kind) {Ns::ns, expected, missing, Code::not_found, Code::wrong_kind},
#include "resolve/path_sources.def"
};
const SourceRow& row(PathSource source) { return kSources[static_cast<std::size_t>(source)]; }

enum class RefusedKind : std::uint8_t { Prelude, Std, Macro, Device };
struct RefusedRow {
    std::string_view name;
    RefusedKind kind;
    Code code;
    std::string_view what;
    std::string_view help;
};
constexpr RefusedRow kRefused[] = {
#define OCKC_REFUSED(name, kind, code, text, help) {name, RefusedKind::kind, Code::code, text, help},
#include "resolve/refusals.def"
};

bool starts_upper(std::string_view name) { return !name.empty() && name[0] >= 'A' && name[0] <= 'Z'; }

// "`m`", "the crate root", "`core`": where a name was not found.
std::string scope_text(const State& state, ModuleId scope, PathSegments segments, std::uint32_t at) {
    if (at > 0 && segments[at - 1].kind == ast::SegmentKind::Crate) return "the crate root";
    if (at > 0) return fmt::format("`{}`", state.text(segments[at - 1].ident.name));
    return fmt::format("`{}`", state.name_of(state[scope].def));
}

}  // namespace

bool report_refused_name(State& state, std::string_view name, Span span, RefusedUse use) {
    for (const RefusedRow& r : kRefused) {
        if (r.name != name || (r.kind == RefusedKind::Macro) != (use == RefusedUse::Macro)) continue;
        if (r.kind == RefusedKind::Std && use != RefusedUse::StdPath) continue;
        if ((r.kind == RefusedKind::Device) != (use == RefusedUse::DevicePath)) continue;
        const bool plural = !r.what.starts_with('`') && r.what.ends_with('s') && !r.what.ends_with("access");
        state.sink->error(r.code, span, fmt::format("{} {} not supported in device code", r.what, plural ? "are" : "is")).help(std::string(r.help));
        return true;
    }
    return false;
}

void Lowerer::report_not_found(const ast::Path& path, PathSegments segments, const PathEnd& end, PathSource source) {
    if (end.kind == PathEnd::Kind::TooManySuper) {
        error(Code::E0433, segments[end.at].ident.span, "too many leading `super` keywords").label(at(segments[end.at].ident.span), "there are too many leading `super` keywords");
        return;
    }
    if (text(segments[0].ident.name) == "std" && end.in.valid() && !s_.is_library(module_)) {
        for (std::uint32_t i = end.at; i < segments.size(); ++i) {
            if (report_refused_name(s_, text(segments[i].ident.name), path.span, RefusedUse::StdPath)) return;
        }
    }
    if (text(segments[0].ident.name) == "cuda_device" && end.at == 1 && segments.size() > 1 && report_refused_name(s_, text(segments[1].ident.name), path.span, RefusedUse::DevicePath)) return;
    if (end.at > 0 && end.in.valid() && s_[end.in].kind == ModuleKind::Trait && source != PathSource::Trait) {
        error(Code::E0782, segments[end.at - 1].ident.span, "expected a type, found a trait")
            .note(fmt::format("the trait has no `{}`, so that it would have to be a type", text(segments[end.at].ident.name)));
        return;
    }
    if (end.at + 1 < segments.size() || end.unlinked_crate) return report_unresolved_prefix(path, segments, end);
    report_missing_name(path, segments, end, source);
}

// E0433: something before the last segment.
void Lowerer::report_unresolved_prefix(const ast::Path& path, PathSegments segments, const PathEnd& end) {
    static_cast<void>(path);
    const hir::Ident ident = segments[end.at].ident;
    const std::string_view name = text(ident.name);
    if (end.unlinked_crate) {
        error(Code::E0433, ident.span, fmt::format("cannot find `{}` in the crate root", name)).label(at(ident.span), fmt::format("could not find `{}` in the list of imported crates", name));
        return;
    }
    if (end.in.valid()) {
        const std::string where = scope_text(s_, end.in, segments, end.at);
        auto& e = error(Code::E0433, ident.span, fmt::format("cannot find `{}` in {}", name, where));
        e.label(at(ident.span), fmt::format("could not find `{}` in {}", name, where));
        const Symbol near = similar_in_scope(s_, end.in, ident.name, module_);
        if (near.valid()) e.suggest(ident.span, std::string(text(near)), "an item with a similar name exists");
        return;
    }
    if (segments[end.at].kind == ast::SegmentKind::SelfType) {
        error(Code::E0433, ident.span, "cannot find `Self` in this scope").label(at(ident.span), "`Self` is only available in impls, traits, or type definitions");
        return;
    }
    if (!s_.is_library(module_) && report_refused_name(s_, name, ident.span, RefusedUse::Plain)) return;
    const bool type = starts_upper(name);
    auto& e = error(Code::E0433, ident.span, type ? fmt::format("cannot find type `{}` in this scope", name) : fmt::format("cannot find module or crate `{}` in this scope", name));
    e.label(at(ident.span), type ? fmt::format("use of undeclared type `{}`", name) : fmt::format("use of unresolved module or unlinked crate `{}`", name));
    const auto is_scope = [&](const Res& res) {
        const DefKind kind = s_.program.defs[res.def].kind;
        return kind == DefKind::Mod || kind == DefKind::Struct || kind == DefKind::Enum || kind == DefKind::Trait || kind == DefKind::TyAlias || kind == DefKind::Union;
    };
    if (suggest_imports(s_, e, ident.name, Ns::Type, module_, is_scope, "")) return;
    const Symbol near = similar_in_scope(s_, s_.normal_module(module_), ident.name, module_, [&](const Res& res) { return res.kind == Res::Kind::Def && is_scope(res); });
    if (near.valid()) e.suggest(ident.span, std::string(text(near)), "an item with a similar name exists");
    else if (!type) e.help(fmt::format("you might be missing a crate named `{}`", name));
}

void Lowerer::report_missing_self_value(Span span) {
    auto& e = error(Code::E0424, span, "expected value, found module `self`");
    e.label(at(span), "`self` value is a keyword only available in methods with a `self` parameter");
    if (owner_.valid() && s_[owner_].name.span.valid()) e.label(s_[owner_].name.span, "this function can't have a `self` parameter");
}

// The last segment: E0425, E0405, E0422, E0531; or something of that name in another name space: E0423, E0573 ..
void Lowerer::report_missing_name(const ast::Path& path, PathSegments segments, const PathEnd& end, PathSource source) {
    const ImportSegment last = segments.back();
    const std::string_view name = text(last.ident.name);
    if (segments.size() == 1) {
        if (last.kind == ast::SegmentKind::SelfValue) return report_missing_self_value(path.span);
        if (last.kind == ast::SegmentKind::SelfType) {
            auto& e = error(Code::E0411, path.span, "cannot find type `Self` in this scope");
            e.label(at(path.span), "`Self` is only available in impls, traits, and type definitions");
            if (owner_.valid() && s_[owner_].kind == DefKind::Fn) e.label(s_[owner_].name.span, "`Self` not allowed in a function");
            return;
        }
    }
    const SourceRow& r = row(source);
    const Ns other = r.ns == Ns::Value ? Ns::Type : Ns::Value;
    std::optional<Res> found;
    if (end.in.valid()) {
        if (const Binding* binding = find(s_, end.in, last.ident.name, other); binding != nullptr && visible(s_, binding->visibility, module_)) found = binding->res;
    } else if (segments.size() == 1) {
        const ScopeFound scope = scopes_.find(s_, last.ident.name, last.context, other == Ns::Type ? ScopeSpace::Type : ScopeSpace::Value);
        if (scope.entry) {
            Res res;
            res.kind = scope.entry->kind == ScopeEntry::Kind::Local ? Res::Kind::Local : Res::Kind::Def;
            res.def = DefId(scope.entry->payload);
            found = res;
        } else if (scope.binding) {
            found = scope.binding->res;
        } else if (const auto binding = find_lexical(s_, s_.normal_module(module_), last.ident.name, other)) {
            found = binding->res;
        }
    }
    if (found && found->kind != Res::Kind::Error) {
        if (!refuse_opaque(*found, path.span)) report_wrong_kind(path, *found, source);
        return;
    }
    if (segments.size() == 1 && !s_.is_library(module_) && report_refused_name(s_, name, path.span, RefusedUse::Plain)) return;
    if (segments.size() == 1 && (find_textual_macro(s_, macros_, last.ident.name).valid() || s_.builtin_macros.contains(last.ident.name))) {
        error(r.wrong_kind, path.span, fmt::format("expected {}, found macro `{}`", r.expected, name)).label(at(path.span), fmt::format("not a {}", r.expected)).help(fmt::format("a macro is called with `!`: `{}!(..)`", name));
        return;
    }
    std::string where = "in this scope";
    if (end.in.valid()) {
        const Module& m = s_[end.in];
        const bool crate = !m.parent.valid();
        const bool trait = m.kind == ModuleKind::Trait;
        const std::string scope = scope_text(s_, end.in, segments, end.at);
        where = scope == "the crate root" ? "in the crate root" : fmt::format("in {} {}", crate ? "crate" : trait ? "trait" : m.kind == ModuleKind::Enum ? "enum" : "module", scope);
    }
    auto& e = error(r.not_found, last.ident.span, fmt::format("cannot find {} `{}` {}", r.missing, name, where));
    const auto acceptable = [&](const Res& res) { return accepted(res, source); };
    if (end.in.valid()) {
        e.label(at(last.ident.span), fmt::format("not found {}", where.starts_with("in the") ? where : fmt::format("in {}", scope_text(s_, end.in, segments, end.at))));
        const Symbol near = similar_in_scope(s_, end.in, last.ident.name, module_, acceptable);
        if (near.valid()) e.suggest(last.ident.span, std::string(text(near)), "an item with a similar name exists");
        return;
    }
    if (suggest_local_name(e, path.segments[0].ident, source)) return;
    e.label(at(last.ident.span), "not found in this scope");
    suggest_imports(s_, e, last.ident.name, r.ns, module_, acceptable, "");
}

bool Lowerer::suggest_local_name(Diagnostic& e, const ast::Ident& ident, PathSource source) {
    const Ns ns = row(source).ns;
    std::vector<std::string_view> names;
    std::vector<std::string> kinds;
    const bool values = ns == Ns::Value;
    for (const ScopeEntry& entry : scopes_.entries()) {
        const bool local = values && entry.kind == ScopeEntry::Kind::Local;
        const bool param = entry.kind == (values ? ScopeEntry::Kind::ConstParam : ScopeEntry::Kind::TyParam);
        if ((!local && !param) || entry.name == ident.name || text(entry.name) == "self") continue;
        names.push_back(text(entry.name));
        kinds.emplace_back(local ? "local variable" : values ? "const parameter" : "type parameter");
    }
    const auto add_scope = [&](ModuleId scope) {
        if (!scope.valid()) return;
        for (const NameKey& key : s_[scope].order) {
            const Binding& binding = s_[scope].names.at(key);
            if (key.ns != ns || binding.res.kind == Res::Kind::Error || !accepted(binding.res, source)) continue;
            names.push_back(text(key.name));
            kinds.push_back(res_text(s_, binding.res));
        }
    };
    for (const ScopeBarrier& barrier : scopes_.barriers()) {
        if (barrier.kind == ScopeBarrier::Kind::Block) add_scope(ModuleId(barrier.payload));
    }
    add_scope(s_.normal_module(module_));
    add_scope(s_.prelude);
    if (ns == Ns::Type && source == PathSource::Type) {
        for (int i = 0; i <= static_cast<int>(hir::PrimTy::F64); ++i) {
            names.push_back(prim_name(static_cast<hir::PrimTy>(i)));
            kinds.emplace_back("builtin type");
        }
    }
    const std::string_view best = nearest_name(names, text(ident.name));
    if (best.empty()) return false;
    for (std::size_t i = 0; i < names.size(); ++i) {
        if (names[i] != best) continue;
        e.suggest(at(ident.span), std::string(best), fmt::format("{} {} with a similar name exists", article(kinds[i]), kinds[i]));
        return true;
    }
    return false;
}

void Lowerer::report_wrong_kind(const ast::Path& path, const Res& res, PathSource source) {
    const SourceRow& r = row(source);
    const std::string what = res_text(s_, res);
    std::string name;
    for (const ast::PathSegment& segment : path.segments) {
        if (!name.empty()) name += "::";
        name += text(segment.ident.name);
    }
    if (path.segments.size() == 1 && path.segments[0].kind == ast::SegmentKind::SelfValue) return report_missing_self_value(path.span);
    const bool def = res.kind == Res::Kind::Def;
    if (source == PathSource::Type && def && s_[res.def].kind == DefKind::Trait) {
        error(Code::E0782, path.span, "expected a type, found a trait").help("use a generic parameter `T: Trait` or `impl Trait`");
        return;
    }
    // A named-field variant through its enum's full path is E0533 in rustc, by its own name or that of a struct E0423.
    const bool struct_variant = def && s_[res.def].kind == DefKind::Variant && s_.origin[res.def].form == hir::VariantForm::Named;
    const bool qualified = struct_variant && path.segments.size() > 1 && row(source).ns == Ns::Value;
    const Code code = !qualified ? r.wrong_kind : source == PathSource::TuplePattern ? Code::E0164 : Code::E0533;
    const std::string found = qualified ? "struct variant" : what;
    auto& e = error(code, path.span, fmt::format("expected {}, found {} `{}`", code == Code::E0533 ? "value" : r.expected, found, name));
    switch (source) {
        case PathSource::Type:
            e.label(at(path.span), "not a type");
            if (def && (s_[res.def].kind == DefKind::Variant || s_[res.def].kind == DefKind::Ctor)) e.help("try using the variant's enum");
            break;
        case PathSource::Trait: e.label(at(path.span), "not a trait"); break;
        case PathSource::Struct: e.label(at(path.span), "not a struct, variant or union type"); break;
        case PathSource::Value:
        case PathSource::Call:
        case PathSource::UnitPattern:
        case PathSource::TuplePattern:
            e.label(at(path.span), fmt::format("not a {}", r.expected));
            if (def && (s_[res.def].kind == DefKind::Struct || struct_variant) && r.ns == Ns::Value) e.help(fmt::format("use struct literal syntax: `{} {{ .. }}`", name));
            break;
    }
    if (def && s_[res.def].name.span.valid() && s_[res.def].kind != DefKind::Mod) e.label(s_[res.def].name.span, fmt::format("`{}` defined here", name));
}

}  // namespace ockc::resolve
