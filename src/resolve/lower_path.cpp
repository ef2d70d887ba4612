#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <functional>

#include "resolve/library.hpp"
#include "resolve/lower.hpp"
#include "resolve/reach.hpp"

namespace ockc::resolve {

namespace {
bool mentions_word(std::string_view text, std::string_view word) {
    const auto in_word = [&](std::size_t at) { return at < text.size() && (std::isalnum(static_cast<unsigned char>(text[at])) != 0 || text[at] == '_'); };
    for (std::size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
        if ((at == 0 || !in_word(at - 1)) && !in_word(at + word.size())) return true;
    }
    return false;
}
}  // namespace

namespace {

struct NamespaceRow {
    Ns ns;
};
constexpr NamespaceRow kNamespaces[] = {
#define OCKC_PATH_SOURCE(name, ns, ...) {Ns::ns},
#include "resolve/path_sources.def"
};
Ns ns_of(PathSource source) { return kNamespaces[static_cast<std::size_t>(source)].ns; }

hir::QPath error_path(Span span) {
    hir::QPath path;
    path.span = path.path.span = span;
    return path;
}

}  // namespace

SmallVec<ImportSegment, 4> Lowerer::segments_of(const ast::Path& path) {
    SmallVec<ImportSegment, 4> result;
    for (const ast::PathSegment& segment : path.segments) {
        result.push_back({segment.kind, {segment.ident.name, segment.ident.span}, segment.ident.context});
    }
    return result;
}

// ---- what a name means

// Does the type that `Self` stands for there have a type or const parameter in it?
bool Lowerer::generic_self(const ScopeEntry& entry) {
    if (entry.kind == ScopeEntry::Kind::SelfParam) return true;
    const DefId def(entry.payload);
    if (!s_.origin[def].item.valid()) return false;
    const ast::Crate& ast = s_.ast_of(s_[def].crate);
    const ast::Item& item = ast[s_.origin[def].item];
    const auto any_param = [&](ast::GenericsId generics, const std::function<bool(std::string_view)>& wanted) {
        if (!generics.valid()) return false;
        const auto params = ast[generics].params;
        return std::any_of(params.begin(), params.end(), [&](const ast::GenericParam& param) { return param.kind != ast::GenericParamKind::Lifetime && wanted(text(param.ident.name)); });
    };
    const auto all = [](std::string_view) { return true; };
    if (const auto* data = std::get_if<ast::StructItem>(&item.data)) return any_param(data->generics, all);
    if (const auto* data = std::get_if<ast::EnumItem>(&item.data)) return any_param(data->generics, all);
    if (const auto* data = std::get_if<ast::UnionItem>(&item.data)) return any_param(data->generics, all);
    const auto* impl = std::get_if<ast::ImplItem>(&item.data);
    if (impl == nullptr) return false;
    const std::string_view self = s_.sources.text(ast[impl->self_type].span);
    return any_param(impl->generics, [&](std::string_view name) { return mentions_word(self, name); });
}

// A local variable or generic parameter is used: not across every boundary.
std::optional<Res> Lowerer::use_entry(const ScopeFound& found, const ast::Ident& ident) {
    const ScopeEntry& entry = *found.entry;
    Res res;
    res.def = DefId(entry.payload);
    if (entry.kind == ScopeEntry::Kind::Local) {
        if (found.crossed_item) {
            error(Code::E0434, ident.span, "can't capture dynamic environment in a fn item").help("use the `|| { ... }` closure form instead");
            return std::nullopt;
        }
        if (found.crossed_const || found.crossed_anon_const || found.crossed_inline_const) {
            error(Code::E0435, ident.span, "attempt to use a non-constant value in a constant")
                .label(at(ident.span), "non-constant value")
                .label(entry.span, "this would need to be a `const`");
            return std::nullopt;
        }
        res.kind = Res::Kind::Local;
        res.def = {};
        res.local = hir::LocalId(entry.payload);
        return res;
    }
    const bool self = entry.kind == ScopeEntry::Kind::SelfAlias || entry.kind == ScopeEntry::Kind::SelfParam;
    if (found.crossed_item || found.crossed_const) {
        const std::string_view what = self ? "`Self`" : "generic parameters";
        error(Code::E0401, ident.span, fmt::format("can't use {} from outer item", what))
            .label(at(ident.span), fmt::format("use of {} from outer item", self ? "`Self`" : "generic parameter"))
            .label(entry.span, self ? "`Self` type implicitly declared here" : fmt::format("{} parameter from outer item", entry.kind == ScopeEntry::Kind::TyParam ? "type" : "const"))
            .note("nested items are independent from their parent item for everything except for privacy and name resolution");
        return std::nullopt;
    }
    if (!self && const_param_type_) {
        error(Code::E0770, ident.span, "the type of const parameters must not depend on other generic parameters")
            .label(at(ident.span), fmt::format("the type must not depend on the parameter `{}`", text(ident.name)));
        return std::nullopt;
    }
    if (entry.kind == ScopeEntry::Kind::SelfAlias && first_undeclared_ != 0 && !const_param_type_) {
        error(Code::E0735, ident.span, "generic parameters cannot use `Self` in their defaults");
        return std::nullopt;
    }
    if (!self && first_undeclared_ != 0) {
        const std::vector<ScopeEntry>& entries = scopes_.entries();
        for (std::uint32_t i = first_undeclared_ - 1; i < entries.size(); ++i) {
            if (entries[i].payload != entry.payload || entries[i].kind != entry.kind) continue;
            error(Code::E0128, ident.span, "generic parameter defaults cannot reference parameters before they are declared")
                .label(at(ident.span), fmt::format("cannot reference `{}` before it is declared", text(ident.name)));
            return std::nullopt;
        }
    }
    const bool type_in_count = found.crossed_repeat_count && entry.kind == ScopeEntry::Kind::TyParam;   // judged by what it is used for
    if (!self && found.crossed_anon_const && !allow_bare_param_ && !type_in_count) {
        auto& e = error(Code::None, ident.span, "generic parameters may not be used in const operations");
        e.label(at(ident.span), fmt::format("cannot perform const operation using `{}`", text(ident.name)));
        if (entry.kind == ScopeEntry::Kind::ConstParam) e.help(fmt::format("const parameters may only be used as standalone arguments here, i.e. `{}`", text(ident.name)));
        return std::nullopt;
    }
    if (self && found.crossed_anon_const && !found.crossed_repeat_count && generic_self(entry)) {
        const bool alias = entry.kind == ScopeEntry::Kind::SelfAlias;
        auto& e = error(Code::None, ident.span, alias ? "generic `Self` types are currently not permitted in anonymous constants" : "generic parameters may not be used in const operations");
        if (!alias) e.label(at(ident.span), "cannot perform const operation using `Self`");
        return std::nullopt;
    }
    switch (entry.kind) {
        case ScopeEntry::Kind::SelfAlias: res.kind = Res::Kind::SelfAlias; break;
        case ScopeEntry::Kind::SelfParam: res.kind = Res::Kind::SelfParam; break;
        case ScopeEntry::Kind::TyParam:
        case ScopeEntry::Kind::ConstParam: res.kind = Res::Kind::Def; break;
        case ScopeEntry::Kind::Local:
        case ScopeEntry::Kind::Lifetime:
        case ScopeEntry::Kind::Label: OCKC_UNREACHABLE("scope entry is not a path");
    }
    return res;
}

Lowerer::First Lowerer::find_first(const ast::PathSegment& segment, Ns ns) {
    First first;
    const ScopeSpace space = ns == Ns::Type ? ScopeSpace::Type : ScopeSpace::Value;
    const ScopeFound found = scopes_.find(s_, segment.ident.name, segment.ident.context, space);
    if (found.entry) {
        first.res = use_entry(found, segment.ident);
        first.failed = !first.res.has_value();
        return first;
    }
    first.binding = found.binding ? found.binding : find_lexical(s_, s_.normal_module(module_), segment.ident.name, ns);
    if (first.binding) first.res = first.binding->res;
    return first;
}

// ---- acceptance

bool Lowerer::accepted(const Res& res, PathSource source) const {
    const auto is = [&](std::initializer_list<DefKind> kinds) {
        if (res.kind != Res::Kind::Def) return false;
        for (const DefKind kind : kinds) {
            if (s_.program.defs[res.def].kind == kind) return true;
        }
        return false;
    };
    switch (source) {
        case PathSource::Type:
            return res.kind == Res::Kind::Prim || res.kind == Res::Kind::SelfParam || res.kind == Res::Kind::SelfAlias ||
                   is({DefKind::Struct, DefKind::Union, DefKind::Enum, DefKind::TyAlias, DefKind::AssocTy, DefKind::TyParam});
        case PathSource::Trait: return is({DefKind::Trait});
        case PathSource::Value:
        case PathSource::Call:
            return res.kind == Res::Kind::Local || res.kind == Res::Kind::SelfCtor ||
                   is({DefKind::Ctor, DefKind::Const, DefKind::Static, DefKind::Fn, DefKind::AssocFn, DefKind::AssocConst, DefKind::ConstParam, DefKind::ForeignFn});
        case PathSource::Struct:
            return res.kind == Res::Kind::SelfAlias || res.kind == Res::Kind::SelfParam || is({DefKind::Struct, DefKind::Union, DefKind::Variant, DefKind::TyAlias, DefKind::AssocTy});
        case PathSource::UnitPattern:
            return res.kind == Res::Kind::SelfCtor || is({DefKind::Const, DefKind::AssocConst, DefKind::ConstParam}) ||
                   (is({DefKind::Ctor}) && s_.origin[res.def].form == hir::VariantForm::Unit);
        case PathSource::TuplePattern:
            return res.kind == Res::Kind::SelfCtor || (is({DefKind::Ctor}) && s_.origin[res.def].form == hir::VariantForm::Tuple);
    }
    OCKC_UNREACHABLE("path source");
}

bool Lowerer::refuse_opaque(const Res& res, Span span) {
    if (res.kind != Res::Kind::Def) return false;
    if (s_[res.def].kind == DefKind::ForeignFn) {
        refuse(Code::OCK0911, span, fmt::format("`{}` of an `extern` block is", s_.name_of(res.def)), "write it in this language");
        return true;
    }
    if (s_[res.def].kind != DefKind::Opaque) return false;
    const std::string name(s_.name_of(res.def));
    // The most telling part of `std::sync::Arc` comes last, of `std::collections::hash_map::Entry` in the middle.
    std::size_t end = name.size();
    while (end != std::string::npos) {
        const std::size_t start = name.rfind("::", end - 1);
        const std::string part = start == std::string::npos ? name.substr(0, end) : name.substr(start + 2, end - start - 2);
        if (name.starts_with("std::") && report_refused_name(s_, part, span, RefusedUse::StdPath)) return true;
        if (name.starts_with("cuda_device::") && report_refused_name(s_, part, span, RefusedUse::DevicePath)) return true;
        end = start == std::string::npos || start == 0 ? std::string::npos : start;
    }
    error(Code::OCK0908, span, fmt::format("`{}` is an item of a host crate, which device code cannot use", name))
        .label(at(span), "used by device code here")
        .label(s_[res.def].span, "imported here");
    return true;
}

// Notes that device code refers to `res` and passes it on.
Res Lowerer::reached(const Res& res, Span span) {
    static_cast<void>(span);
    if (res.kind == Res::Kind::Def) reach(s_, res.def);
    else if (res.kind == Res::Kind::Prim) reach_prim(s_, res.prim);
    return res;
}

// ---- generic arguments

bool Lowerer::type_arg_is_const(ast::TypeId id) {
    const auto* type = ast::get_if<ast::PathType>(ast()[id]);
    if (type == nullptr) return false;
    const ast::Path& path = ast()[type->path];
    if (path.global || path.qself.valid() || path.segments.size() != 1 || path.segments[0].args.valid() || path.segments[0].kind != ast::SegmentKind::Name) return false;
    const ast::Ident& ident = path.segments[0].ident;
    const auto known = [&](ScopeSpace space, Ns ns) {
        const ScopeFound found = scopes_.find(s_, ident.name, ident.context, space);
        return found.entry || found.binding || find_lexical(s_, s_.normal_module(module_), ident.name, ns);
    };
    return !known(ScopeSpace::Type, Ns::Type) && known(ScopeSpace::Value, Ns::Value);
}

void Lowerer::lower_arg(const ast::GenericArg& arg, std::vector<hir::GenericArg>& args, std::vector<hir::AssocConstraint>& constraints) {
    hir::GenericArg result;
    result.span = at(arg.span);
    hir::AssocConstraint constraint;
    constraint.span = at(arg.span);
    const auto constant = [&](ast::ExprId value) { return anon_const(value, ScopeBarrier::Kind::AnonConst, {}, ast()[value].span); };
    std::visit(ast::Overloaded{
                   [&](const ast::LifetimeGenericArg& a) {
                       result.kind = hir::GenericArg::Kind::Lifetime;
                       result.lifetime = lower_lifetime(a.lifetime);
                       args.push_back(result);
                   },
                   [&](const ast::TypeGenericArg& a) {
                       if (type_arg_is_const(a.type)) {
                           const ast::PathId path = ast::get_if<ast::PathType>(ast()[a.type])->path;
                           ast::Expr expr;
                           expr.span = arg.span;
                           expr.data = ast::PathExpr{path};
                           result.kind = hir::GenericArg::Kind::Const;
                           result.constant = constant(s_.ast_of(crate_).add(expr));
                       } else {
                           result.type = lower_type(a.type);
                       }
                       args.push_back(result);
                   },
                   [&](const ast::ConstGenericArg& a) {
                       result.kind = hir::GenericArg::Kind::Const;
                       result.constant = constant(a.value);
                       args.push_back(result);
                   },
                   [&](const ast::EqualGenericArg& a) {
                       const bool inside = std::exchange(inside_impl_trait_, false);
                       constraint.name = name_of(a.name);
                       constraint.args = lower_args(a.args);
                       if (a.type.valid()) constraint.type = lower_type(a.type);
                       else constraint.constant = constant(a.value);
                       inside_impl_trait_ = inside;
                       constraints.push_back(constraint);
                   },
                   [&](const ast::BoundGenericArg& a) {
                       constraint.name = name_of(a.name);
                       constraint.args = lower_args(a.args);
                       constraint.bounds = lower_bounds(a.bounds);
                       constraints.push_back(constraint);
                   },
               },
               arg.data);
}

const hir::GenericArgs* Lowerer::lower_args(ast::GenericArgsId id) {
    if (!id.valid()) return nullptr;
    const ast::GenericArgs syntax = ast()[id];
    hir::GenericArgs result;
    result.span = at(syntax.span);
    std::vector<hir::GenericArg> args;
    std::vector<hir::AssocConstraint> constraints;
    switch (syntax.form) {
        case ast::ArgsForm::ReturnNotation: error(Code::E0658, syntax.span, "return type notation is experimental"); break;
        case ast::ArgsForm::Angle:
            for (const ast::GenericArg& arg : syntax.args) lower_arg(arg, args, constraints);
            break;
        case ast::ArgsForm::Paren: {   // Fn(A, B) -> C: lifetimes are elided as in a function's signature
            result.parenthesized = true;
            InputLifetimes lifetimes;
            InputLifetimes* const inputs = std::exchange(inputs_, &lifetimes);
            const InputLifetimes* const outputs = output_inputs_;
            std::vector<hir::TyId> types;
            {
                const ElisionScope scope(*this, Elision::Fresh);
                for (const ast::GenericArg& arg : syntax.args) {
                    if (const auto* type = std::get_if<ast::TypeGenericArg>(&arg.data)) types.push_back(lower_type(type->type));
                }
            }
            hir::GenericArg tuple;
            tuple.span = result.span;
            tuple.type = add_ty(syntax.span, hir::TupleTy{list(types)});
            args.push_back(tuple);
            inputs_ = nullptr;
            output_inputs_ = &lifetimes;
            hir::AssocConstraint output;
            output.name = {s_.names.intern("Output"), result.span};
            output.span = result.span;
            {
                const ElisionScope scope(*this, Elision::Output);
                std::vector<hir::GenericParam>* const params = std::exchange(impl_trait_params_, nullptr);
                output.type = syntax.output.valid() ? lower_type(syntax.output) : add_ty(syntax.span, hir::TupleTy{});
                impl_trait_params_ = params;
            }
            constraints.push_back(output);
            inputs_ = inputs;
            output_inputs_ = outputs;
            break;
        }
    }
    result.args = list(args);
    result.constraints = list(constraints);
    return s_.program.arena.make<hir::GenericArgs>(result);
}

hir::PathSegment Lowerer::lower_segment(const ast::PathSegment& segment, const Res& res) {
    hir::PathSegment result;
    result.ident = name_of(segment.ident);
    result.res = res;
    result.args = lower_args(segment.args);
    return result;
}

// ---- paths

// `base`::segment[from]::.. : associated items, found by types later.
hir::QPath Lowerer::type_relative(hir::TyId base, const Res& base_res, const ast::Path& path, std::uint32_t from) {
    hir::QPath result;
    for (std::uint32_t i = from; i < path.segments.size(); ++i) {
        const Symbol name = path.segments[i].ident.name;
        if (s_.library != nullptr) s_.library->read_traits(name);
        if (i == from) mention_of(s_, head_of_res(s_, base_res), name);
        else mention(s_, name);
        hir::QPath step;
        step.kind = hir::QPath::Kind::TypeRelative;
        step.span = at(path.span);
        step.self_type = base;
        step.segment = lower_segment(path.segments[i], {});
        result = step;
        if (i + 1 < path.segments.size()) base = add_ty(path.span, hir::PathTy{kept(step)});
    }
    return result;
}

namespace {

bool has_lifetimes(const hir::GenericArgs* args) {
    if (args == nullptr) return false;
    for (const hir::GenericArg& arg : args->args) {
        if (arg.kind == hir::GenericArg::Kind::Lifetime) return true;
    }
    return false;
}

}  // namespace

hir::QPath Lowerer::finish_path(const ast::Path& path, PathSegments segments, const PathEnd& end, const PathTrace& trace, PathSource source, bool lexical) {
    static_cast<void>(lexical);
    for (const auto& [binding, index] : trace.bindings) {
        if (!use_binding(s_, binding, at(segments[index].ident.span), segments[index].ident.name, module_)) return error_path(at(path.span));
    }
    if (end.kind == PathEnd::Kind::Failed || end.kind == PathEnd::Kind::TooManySuper) {
        report_not_found(path, segments, end, source);
        return error_path(at(path.span));
    }
    if (refuse_opaque(end.res, path.span)) return error_path(at(path.span));
    const bool partial = end.kind == PathEnd::Kind::Partial;
    if (partial && !accepted(end.res, PathSource::Type)) {
        if (end.res.kind == Res::Kind::Error) return error_path(at(path.span));
        const Span span = segments[end.at - 1].ident.span;
        const std::string what = res_text(s_, end.res);
        error(Code::E0433, span, fmt::format("failed to resolve: `{}` is {} {}, not a module", text(segments[end.at - 1].ident.name), article(what), what))
            .label(at(span), fmt::format("`{}` is {} {}, not a module", text(segments[end.at - 1].ident.name), article(what), what));
        return error_path(at(path.span));
    }
    if (!partial && !accepted(end.res, source)) {
        if (end.res.kind != Res::Kind::Error) report_wrong_kind(path, end.res, source);
        return error_path(at(path.span));
    }
    reached(end.res, path.span);
    const std::uint32_t count = partial ? end.at : static_cast<std::uint32_t>(segments.size());
    std::vector<hir::PathSegment> lowered;
    for (std::uint32_t i = 0; i < count; ++i) {
        Res res = i < trace.res.size() ? trace.res[i] : end.res;
        if (i + 1 == count) res = end.res;
        lowered.push_back(lower_segment(path.segments[i], res));
    }
    hir::QPath result;
    result.span = at(path.span);
    result.path.span = at(path.span);
    result.path.res = end.res;
    result.path.segments = list(lowered);
    if (source == PathSource::Type && !partial && !has_lifetimes(lowered.back().args)) note_hidden_lifetimes(end.res, segments.back().ident.span);
    if (!partial) return result;
    const Span base_span = path.span.file == segments[count - 1].ident.span.file ? Span{path.span.file, path.span.begin, segments[count - 1].ident.span.end} : path.span;
    result.span = result.path.span = at(base_span);
    return type_relative(add_ty(base_span, hir::PathTy{kept(result)}), end.res, path, end.at);
}

// `x` of a local variable, which most paths are; nothing when it is something else or must not be used here.
std::optional<hir::QPath> Lowerer::lower_variable(const ast::Path& path, PathSource source) {
    if (source != PathSource::Value && source != PathSource::Call) return std::nullopt;
    const ast::PathSegment& segment = path.segments[0];
    if (path.segments.size() != 1 || path.global || segment.kind != ast::SegmentKind::Name || segment.args.valid()) return std::nullopt;
    const ScopeFound found = scopes_.find(s_, segment.ident.name, segment.ident.context, ScopeSpace::Value);
    const bool forbidden = found.crossed_item || found.crossed_const || found.crossed_anon_const || found.crossed_inline_const;
    if (!found.entry || found.entry->kind != ScopeEntry::Kind::Local || forbidden) return std::nullopt;
    hir::PathSegment lowered;
    lowered.ident = name_of(segment.ident);
    lowered.res.kind = Res::Kind::Local;
    lowered.res.local = hir::LocalId(found.entry->payload);
    hir::QPath result;
    result.span = result.path.span = at(path.span);
    result.path.res = lowered.res;
    result.path.segments = list({lowered});
    return result;
}

hir::QPath Lowerer::lower_path(ast::PathId id, PathSource source) {
    const ast::Path path = ast()[id];
    if (path.segments.empty()) return error_path(at(path.span));
    if (!path.qself.valid()) {
        if (std::optional<hir::QPath> variable = lower_variable(path, source)) return *variable;
    }
    if (path.qself.valid()) return lower_qualified_path(path, source);
    const SmallVec<ImportSegment, 4> segments = segments_of(path);
    const Ns ns = ns_of(source);
    const bool single = segments.size() == 1;
    PathTrace trace;
    const bool self_value = single && segments[0].kind == ast::SegmentKind::SelfValue && ns == Ns::Value;
    if (!self_value) {
        if (const auto start = path_start(s_, segments, path.global, module_)) {
            if (start->failed) return finish_path(path, segments, start->failure, trace, source, false);
            trace.res.resize(start->taken, start->res);
            const PathEnd end = walk(s_, start->res, segments, start->taken, ns, &trace);
            return finish_path(path, segments, end, trace, source, false);
        }
    }
    const bool self_type = segments[0].kind == ast::SegmentKind::SelfType;
    const First first = find_first(path.segments[0], single && !self_type ? ns : Ns::Type);
    if (first.failed) return error_path(at(path.span));
    PathEnd end;
    if (!first.res) return finish_path(path, segments, end, trace, source, true);
    Res start = *first.res;
    if (first.binding) trace.bindings.push_back({*first.binding, 0});
    if (start.kind == Res::Kind::Error) return finish_path(path, segments, end, trace, source, true);
    if (single && self_type && ns == Ns::Value && start.kind == Res::Kind::SelfAlias) start.kind = Res::Kind::SelfCtor;
    trace.res.push_back(start);
    end = walk(s_, start, segments, 1, ns, &trace);
    prefer_primitive(segments, ns, end, trace);
    return finish_path(path, segments, end, trace, source, true);
}

// `f32` and `f32::MAX` where a module `f32` is in scope too: the type, unless the module has what is asked for.
void Lowerer::prefer_primitive(PathSegments segments, Ns ns, PathEnd& end, PathTrace& trace) const {
    if (ns != Ns::Type && segments.size() == 1) return;
    const bool module = end.kind == PathEnd::Kind::Done && end.res.kind == Res::Kind::Def && s_.program.defs[end.res.def].kind == DefKind::Mod;
    if (!module && end.kind != PathEnd::Kind::Failed) return;
    const auto prim = prim_type(text(segments[0].ident.name));
    if (!prim) return;
    end = PathEnd{};
    end.res = prim_res(*prim);
    end.at = 1;
    end.kind = segments.size() == 1 ? PathEnd::Kind::Done : PathEnd::Kind::Partial;
    trace.bindings.clear();
    trace.res.clear();
    trace.res.push_back(end.res);
}

// <T as Trait>::name.. and <T>::name..
hir::QPath Lowerer::lower_qualified_path(const ast::Path& path, PathSource source) {
    const hir::TyId self = lower_type(path.qself);
    if (path.qself_position == 0) return type_relative(self, {}, path, 0);
    ast::Path trait_syntax = path;
    trait_syntax.qself = {};
    trait_syntax.qself_position = 0;
    trait_syntax.segments.count = path.qself_position;
    trait_syntax.span = path.segments[0].ident.span.to(path.segments[path.qself_position - 1].ident.span);
    const hir::QPath trait = lower_path(s_.ast_of(crate_).add(trait_syntax), PathSource::Trait);
    if (trait.path.res.kind != Res::Kind::Def) return error_path(at(path.span));

    const ast::PathSegment name = path.segments[path.qself_position];
    const bool last = path.qself_position + 1 == path.segments.size();
    const Ns ns = last ? ns_of(source) : Ns::Type;
    const ModuleId scope = s_.origin[trait.path.res.def].scope;
    const Binding* item = find(s_, scope, name.ident.name, ns);
    if (item == nullptr) {
        const std::string_view what = ns == Ns::Type ? "associated type" : source == PathSource::Call ? "method or associated constant" : "method or associated constant";
        error(Code::E0576, name.ident.span, fmt::format("cannot find {} `{}` in trait `{}`", what, text(name.ident.name), s_.name_of(trait.path.res.def)))
            .label(at(name.ident.span), fmt::format("not found in `{}`", s_.name_of(trait.path.res.def)));
        return error_path(at(path.span));
    }
    const Res res = reached(item->res, path.span);
    std::vector<hir::PathSegment> segments(trait.path.segments.begin(), trait.path.segments.end());
    segments.push_back(lower_segment(name, res));
    hir::QPath result;
    result.span = result.path.span = at(path.span);
    result.self_type = self;
    result.path.res = res;
    result.path.segments = list(segments);
    if (last) return result;
    return type_relative(add_ty(path.span, hir::PathTy{kept(result)}), {}, path, path.qself_position + 1);
}

hir::Path Lowerer::lower_trait_path(ast::PathId id) {
    const hir::QPath path = lower_path(id, PathSource::Trait);
    if (path.kind == hir::QPath::Kind::TypeRelative) {   // `i32::Foo`: types have no traits inside
        error(Code::E0405, path.segment.ident.span, fmt::format("cannot find trait `{}` in this type", text(path.segment.ident.name)))
            .label(path.segment.ident.span, "not found here");
        hir::Path result;
        result.span = path.span;
        return result;
    }
    return path.path;
}

}  // namespace ockc::resolve
