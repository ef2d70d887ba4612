#include <algorithm>

#include <fmt/format.h>

#include "resolve/attributes.hpp"
#include "resolve/lower.hpp"
#include "resolve/macro_rules.hpp"
#include "resolve/reach.hpp"

namespace ockc::resolve {

namespace {
constexpr std::uint32_t kNoRest = 0xFFFF'FFFFu;
}

hir::PatId Lowerer::add_pat(Span span, hir::PatData data) { return body().pats.push(hir::Pat{at(span), std::move(data)}); }

hir::LocalId Lowerer::fresh_local(std::string_view name, Span span, bool is_mut) {
    hir::Local local;
    local.name = {s_.names.intern(name), at(span)};
    local.is_mut = is_mut;
    local.desugared = true;
    return body().locals.push(local);
}

hir::PatId Lowerer::binding_pat(Span span, hir::LocalId local) {
    const hir::Local& l = body().locals[local];
    const hir::PatId pat = add_pat(span, hir::BindingPat{local, hir::BindingMode{false, false, l.is_mut}, l.name, {}});
    body().locals[local].pat = pat;
    return pat;
}

void Lowerer::declare(const Bindings& bindings) {
    for (const Bound& bound : bindings.bound) {
        scopes_.push({ScopeEntry::Kind::Local, bound.name, bound.context, bound.local.raw, bound.span, 0});
    }
}

// A new variable, or in later alternatives of an or-pattern the one that the first has made.
hir::LocalId Lowerer::bind_name(const ast::IdentPat& pat, Bindings& bindings, hir::BindingMode mode) {
    const auto same = [&](const Bound& bound) { return bound.name == pat.ident.name && bound.context == pat.ident.context; };
    const auto twice = std::find_if(bindings.bound.begin(), bindings.bound.end(), same);
    if (twice != bindings.bound.end()) {
        const bool parameter = bindings.place == PatternPlace::Param || bindings.place == PatternPlace::Closure;
        const bool same_pattern = !parameter && static_cast<std::size_t>(twice - bindings.bound.begin()) >= bindings.pattern_start;
        if (same_pattern) {
            error(Code::E0416, pat.ident.span, fmt::format("identifier `{}` is bound more than once in the same pattern", text(pat.ident.name)))
                .label(at(pat.ident.span), "used in a pattern more than once");
        } else {
            error(Code::E0415, pat.ident.span, fmt::format("identifier `{}` is bound more than once in this parameter list", text(pat.ident.name)))
                .label(at(pat.ident.span), "used as parameter more than once");
        }
        return twice->local;
    }
    hir::LocalId local;
    if (bindings.inherited != nullptr) {
        const auto first = std::find_if(bindings.inherited->begin(), bindings.inherited->end(), same);
        if (first != bindings.inherited->end()) local = first->local;
    }
    if (!local.valid()) {
        hir::Local made;
        made.name = name_of(pat.ident);
        made.is_mut = pat.is_mut;
        local = body().locals.push(made);
    }
    bindings.bound.push_back({pat.ident.name, pat.ident.context, local, at(pat.ident.span), mode});
    return local;
}

// A plain name may be a constant or a unit struct; some items may not be shadowed at all (E0530).
std::optional<Res> Lowerer::constant_for_binding(const ast::IdentPat& pat, PatternPlace place, bool& refused) {
    const auto binding = find_lexical(s_, module_, pat.ident.name, Ns::Value);
    if (!binding || binding->res.kind != Res::Kind::Def) return std::nullopt;
    const hir::Def& def = s_.program.defs[binding->res.def];
    const bool plain = !pat.by_ref && !pat.is_mut && !pat.sub.valid();
    const bool constant = def.kind == DefKind::Const || (def.kind == DefKind::Ctor && s_.origin[binding->res.def].form == hir::VariantForm::Unit);
    if (constant && plain) return binding->res;
    if (def.kind != DefKind::Const && def.kind != DefKind::Ctor && def.kind != DefKind::Static) return std::nullopt;
    refused = true;
    const std::string_view who = place == PatternPlace::Param    ? "function parameters"
                                 : place == PatternPlace::Closure ? "closure parameters"
                                 : place == PatternPlace::Let     ? "let bindings"
                                 : place == PatternPlace::Loop    ? "for loop bindings"
                                                                  : "match bindings";
    const std::string what = res_text(s_, binding->res);
    auto& e = error(Code::E0530, pat.ident.span, fmt::format("{} cannot shadow {}s", who, what));
    e.label(at(pat.ident.span), fmt::format("cannot be named the same as {} {}", article(what), what));
    e.label(def.span, fmt::format("the {} `{}` is {} here", what, text(pat.ident.name), binding->import.valid() ? "imported" : "defined"));
    return std::nullopt;
}

hir::PatId Lowerer::lower_ident_pattern(const ast::IdentPat& pat, Span span, Bindings& bindings) {
    bool refused = false;
    const ScopeFound outer = scopes_.find(s_, pat.ident.name, pat.ident.context, ScopeSpace::Value);
    if (outer.entry && outer.entry->kind == ScopeEntry::Kind::ConstParam && !outer.crossed_item) {
        error(Code::E0158, pat.ident.span, "constant parameters cannot be referenced in patterns").label(at(pat.ident.span), "can't be used in patterns")
            .label(outer.entry->span, "constant defined here");
        return add_pat(span, hir::ErrorPat{});
    }
    if (const auto constant = constant_for_binding(pat, bindings.place, refused)) {
        const auto binding = find_lexical(s_, module_, pat.ident.name, Ns::Value);
        if (!use_binding(s_, *binding, at(pat.ident.span), pat.ident.name, module_)) return add_pat(span, hir::ErrorPat{});
        hir::QPath path;
        path.span = path.path.span = at(span);
        path.path.res = reached(*constant, span);
        hir::PathSegment segment;
        segment.ident = name_of(pat.ident);
        segment.res = *constant;
        path.path.segments = list({segment});
        return add_pat(span, hir::PathPat{kept(path)});
    }
    if (refused) return add_pat(span, hir::ErrorPat{});
    const hir::BindingMode mode{pat.by_ref, pat.ref_mut, pat.is_mut};
    const hir::LocalId local = bind_name(pat, bindings, mode);
    const hir::PatId sub = pat.sub.valid() ? lower_pattern(pat.sub, bindings) : hir::PatId();
    const hir::PatId result = add_pat(span, hir::BindingPat{local, mode, name_of(pat.ident), sub});
    if (!body().locals[local].pat.valid()) body().locals[local].pat = result;
    return result;
}

// E0408: not in every alternative; E0409: bound differently.
void Lowerer::check_alternatives(const std::vector<Bound>& first, Span first_span, const std::vector<Bound>& other, Span other_span) {
    const auto find_in = [](const std::vector<Bound>& list, const Bound& wanted) {
        return std::find_if(list.begin(), list.end(), [&](const Bound& b) { return b.name == wanted.name && b.context == wanted.context; });
    };
    const auto missing = [&](const Bound& bound, Span where) {
        error(Code::E0408, where, fmt::format("variable `{}` is not bound in all patterns", text(bound.name)))
            .label(at(where), fmt::format("pattern doesn't bind `{}`", text(bound.name)))
            .label(bound.span, "variable not in all patterns");
    };
    for (const Bound& bound : first) {
        const auto found = find_in(other, bound);
        if (found == other.end()) {
            missing(bound, other_span);
        } else if (found->mode.by_ref != bound.mode.by_ref || found->mode.ref_mut != bound.mode.ref_mut || found->mode.is_mut != bound.mode.is_mut) {
            error(Code::E0409, found->span, fmt::format("variable `{}` is bound inconsistently across alternatives separated by `|`", text(bound.name)))
                .label(found->span, "bound in different ways")
                .label(bound.span, "first binding");
        }
    }
    for (const Bound& bound : other) {
        if (find_in(first, bound) == first.end()) missing(bound, first_span);
    }
}

hir::PatId Lowerer::lower_or_pattern(ast::List<ast::PatId> alternatives, Span span, Bindings& bindings) {
    const std::size_t start = bindings.bound.size();
    std::vector<hir::PatId> lowered{lower_pattern(alternatives[0], bindings)};
    std::vector<Bound> first(bindings.bound.begin() + static_cast<std::ptrdiff_t>(start), bindings.bound.end());
    const Span first_span = ast()[alternatives[0]].span;
    for (std::uint32_t i = 1; i < alternatives.size(); ++i) {
        Bindings own = bindings;
        own.bound.resize(start);
        own.inherited = &first;
        lowered.push_back(lower_pattern(alternatives[i], own));
        const std::vector<Bound> bound(own.bound.begin() + static_cast<std::ptrdiff_t>(start), own.bound.end());
        check_alternatives(first, first_span, bound, ast()[alternatives[i]].span);
        for (const Bound& b : bound) {   // names that only this alternative has: known after the error
            const bool known = std::any_of(first.begin(), first.end(), [&](const Bound& f) { return f.name == b.name && f.context == b.context; });
            if (!known) bindings.bound.push_back(b);
        }
    }
    return add_pat(span, hir::OrPat{list(lowered)});
}

hir::List<hir::PatId> Lowerer::lower_pattern_list(ast::List<ast::PatId> elements, std::uint32_t& rest, Bindings& bindings) {
    rest = kNoRest;
    std::vector<hir::PatId> lowered;
    for (const ast::PatId element : elements) {
        if (ast::get_if<ast::RestPat>(ast()[element]) != nullptr) {
            if (rest != kNoRest) {
                error(Code::None, ast()[element].span, "`..` can only be used once per tuple pattern").label(at(ast()[element].span), "can only be used once per tuple pattern");
            } else {
                rest = static_cast<std::uint32_t>(lowered.size());
            }
            continue;
        }
        lowered.push_back(lower_pattern(element, bindings));
    }
    return list(lowered);
}

hir::PatId Lowerer::lower_slice_pattern(ast::List<ast::PatId> elements, Span span, Bindings& bindings) {
    std::vector<hir::PatId> before, after;
    hir::PatId middle;
    bool has_rest = false;
    for (const ast::PatId id : elements) {
        const ast::Pat element = ast()[id];
        const auto* ident = ast::get_if<ast::IdentPat>(element);
        const bool named_rest = ident != nullptr && ident->sub.valid() && ast::get_if<ast::RestPat>(ast()[ident->sub]) != nullptr;
        if (!named_rest && ast::get_if<ast::RestPat>(element) == nullptr) {
            (has_rest ? after : before).push_back(lower_pattern(id, bindings));
            continue;
        }
        if (std::exchange(has_rest, true)) {
            error(Code::None, element.span, "`..` can only be used once per slice pattern").label(at(element.span), "can only be used once per slice pattern");
            continue;
        }
        if (named_rest) {
            ast::IdentPat plain = *ident;
            plain.sub = {};
            middle = lower_ident_pattern(plain, element.span, bindings);
        }
    }
    return add_pat(span, hir::SlicePat{list(before), middle, list(after), has_rest});
}

hir::PatId Lowerer::lower_struct_pattern(const ast::StructPat& pat, Span span, Bindings& bindings) {
    const hir::QPath path = lower_path(pat.path, PathSource::Struct);
    std::vector<hir::FieldPat> fields;
    for (const ast::FieldPat& field : pat.fields) {
        if (!cfg_enabled(s_, crate_, field.attributes)) continue;
        fields.push_back({name_of(field.name), lower_pattern(field.pattern, bindings), at(field.span), field.shorthand});
    }
    if (path.kind == hir::QPath::Kind::Resolved && path.path.res.kind == Res::Kind::Error) return add_pat(span, hir::ErrorPat{});
    return add_pat(span, hir::StructPat{kept(path), list(fields), pat.has_rest});
}

hir::PatId Lowerer::lower_literal_pattern(ast::ExprId value, Span span) {
    const ast::Expr expr = ast()[value];
    if (const auto* literal = ast::get_if<ast::LiteralExpr>(expr)) return add_pat(span, hir::LiteralPat{literal_value(ast()[literal->literal]), false});
    if (const auto* unary = ast::get_if<ast::UnaryExpr>(expr); unary != nullptr && unary->op == ast::UnaryOp::Neg) {
        if (const auto* literal = ast::get_if<ast::LiteralExpr>(ast()[unary->operand])) return add_pat(span, hir::LiteralPat{literal_value(ast()[literal->literal]), true});
    }
    return add_pat(span, hir::ErrorPat{});
}

hir::PatId Lowerer::lower_range_end(ast::ExprId value) {
    if (!value.valid()) return {};
    const ast::Expr expr = ast()[value];
    if (const auto* path = ast::get_if<ast::PathExpr>(expr)) {
        const hir::QPath lowered = lower_path(path->path, PathSource::UnitPattern);
        if (lowered.kind == hir::QPath::Kind::Resolved && lowered.path.res.kind == Res::Kind::Error) return add_pat(expr.span, hir::ErrorPat{});
        return add_pat(expr.span, hir::PathPat{kept(lowered)});
    }
    if (ast::get_if<ast::BlockExpr>(expr) != nullptr) {
        error(Code::None, expr.span, "const blocks cannot be used as patterns").help("give the value a name: `const NAME: Type = ..;`");
        return add_pat(expr.span, hir::ErrorPat{});
    }
    return lower_literal_pattern(value, expr.span);
}

// E0783. The tree does not keep the operator's place: it stands between the two ends.
void Lowerer::report_obsolete_range(const ast::RangePat& range, Span span) {
    const Span from = ast()[range.from].span, to = ast()[range.to].span;
    Span op = span;
    if (from.file == to.file && from.end <= to.begin) {
        const std::size_t dots = s_.sources.text(Span{from.file, from.end, to.begin}).find("...");
        if (dots != std::string_view::npos) op = {from.file, from.end + static_cast<std::uint32_t>(dots), from.end + static_cast<std::uint32_t>(dots) + 3};
    }
    error(Code::E0783, op, "`...` range patterns are not allowed").suggest(at(op), "..=", "use `..=` for an inclusive range", Applicability::MachineApplicable);
}

hir::PatId Lowerer::lower_pattern(ast::PatId id, Bindings& bindings) {
    const ast::Pat pat = ast()[id];
    const Span span = pat.span;
    const auto wrong = [](const hir::QPath& path) { return path.kind == hir::QPath::Kind::Resolved && path.path.res.kind == Res::Kind::Error; };
    return std::visit(
        ast::Overloaded{
            [&](const ast::WildPat&) { return add_pat(span, hir::WildPat{}); },
            [&](const ast::RestPat&) {
                error(Code::None, span, "`..` patterns are not allowed here").note("only allowed in tuple, tuple struct, and slice patterns");
                return add_pat(span, hir::ErrorPat{});
            },
            [&](const ast::IdentPat& p) { return lower_ident_pattern(p, span, bindings); },
            [&](const ast::LiteralPat& p) { return lower_literal_pattern(p.value, span); },
            [&](const ast::RangePat& p) {
                const hir::PatId from = lower_range_end(p.from);
                const hir::PatId to = lower_range_end(p.to);
                if (p.end == ast::RangeEnd::Obsolete && p.from.valid() && p.to.valid()) report_obsolete_range(p, span);
                return add_pat(span, hir::RangePat{from, to, p.end == ast::RangeEnd::Exclusive ? hir::RangeEnd::Excluded : hir::RangeEnd::Included});
            },
            [&](const ast::ReferencePat& p) {
                return add_pat(span, hir::RefPat{p.is_mut ? hir::Mutability::Mut : hir::Mutability::Not, lower_pattern(p.inner, bindings)});
            },
            [&](const ast::TuplePat& p) {
                std::uint32_t rest = kNoRest;
                const auto elements = lower_pattern_list(p.elements, rest, bindings);
                return add_pat(span, hir::TuplePat{elements, rest});
            },
            [&](const ast::SlicePat& p) { return lower_slice_pattern(p.elements, span, bindings); },
            [&](const ast::PathPat& p) {
                const hir::QPath path = lower_path(p.path, PathSource::UnitPattern);
                return wrong(path) ? add_pat(span, hir::ErrorPat{}) : add_pat(span, hir::PathPat{kept(path)});
            },
            [&](const ast::TupleStructPat& p) {
                const hir::QPath path = lower_path(p.path, PathSource::TuplePattern);
                std::uint32_t rest = kNoRest;
                const auto elements = lower_pattern_list(p.elements, rest, bindings);
                return wrong(path) ? add_pat(span, hir::ErrorPat{}) : add_pat(span, hir::TupleStructPat{kept(path), elements, rest});
            },
            [&](const ast::StructPat& p) { return lower_struct_pattern(p, span, bindings); },
            [&](const ast::OrPat& p) { return lower_or_pattern(p.alternatives, span, bindings); },
            [&](const ast::ParenPat& p) { return lower_pattern(p.inner, bindings); },
            [&](const ast::ConstPat& p) {
                static_cast<void>(p);
                error(Code::None, span, "const blocks cannot be used as patterns").help("give the value a name: `const NAME: Type = ..;`");
                return add_pat(span, hir::ErrorPat{});
            },
            [&](const ast::MacroPat& p) { return lower_macro_pattern(p.call, span, bindings); },
            [&](const ast::ErrorPat&) {
                body().has_errors = true;
                return add_pat(span, hir::ErrorPat{});
            },
        },
        pat.data);
}

// `line!()`, `concat!(..)` ..: those that stand for a literal.
hir::PatId Lowerer::lower_builtin_pattern(DefId macro, const ast::MacroCall& call, Span span) {
    const MacroInfo& info = s_.macros[s_.origin[macro].index];
    const bool textual = info.kind == MacroInfo::Kind::Builtin && is_literal_macro(info.builtin);
    if (!textual) {
        error(Code::None, span, fmt::format("non-pattern macro in pattern position: {}", s_.name_of(macro)));
        return add_pat(span, hir::ErrorPat{});
    }
    const hir::ExprId value = lower_builtin_macro(info.builtin, call, span);
    const auto* literal = std::get_if<hir::LiteralExpr>(&body().exprs[value].data);
    return literal == nullptr ? add_pat(span, hir::ErrorPat{}) : add_pat(span, hir::LiteralPat{literal->value, false});
}

hir::PatId Lowerer::lower_macro_pattern(ast::MacroCallId id, Span span, Bindings& bindings) {
    const DefId macro = find_macro(ast()[id]);
    if (!macro.valid()) return add_pat(span, hir::ErrorPat{});
    if (s_.macros[s_.origin[macro].index].kind != MacroInfo::Kind::Rules && !is_include(s_, macro)) return lower_builtin_pattern(macro, ast()[id], span);
    if (!enter_expansion(span)) return add_pat(span, hir::ErrorPat{});
    const hir::PatId result = lower_pattern(expand_pattern(s_, macro, crate_, id), bindings);
    --expansion_depth_;
    return result;
}

}  // namespace ockc::resolve
