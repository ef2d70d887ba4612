// Paths as values, struct expressions, and what struct paths mean in patterns.
#include <fmt/format.h>

#include <algorithm>

#include "check/body.hpp"
#include "support/enum_table.hpp"

namespace ockc::check {

using hir::DefKind;

TypeId BodyChecker::lower_expr_self(hir::TyId type) {
    if (std::holds_alternative<hir::PathTy>(program_.types[type].data)) lowerer_.infer_next_path();
    const TypeId lowered = lowerer_.lower(type);
    return normalize(types_.erase_regions(lowered), program_.types[type].span);
}

BodyChecker::ValuePath BodyChecker::instantiate_value(ItemRef item, Span at) {
    ValuePath value;
    value.item = item;
    std::vector<Obligation> nested;
    const Cause cause{at, CauseKind::ItemBound, item.def, {}, {}};
    selector_.item_obligations(item.def, item.args, cause, 0, nested);
    const TypeId type = types_.erase_regions(types_.subst(cx_.type_of(item.def), item.args));
    value.type = selector_.normalize(type, cause, 0, nested);
    add_obligations(std::move(nested));
    return value;
}

// Generic arguments of an enum may stand on the enum's segment or on the variant's.
ArgsId BodyChecker::variant_args(const hir::Path& path, DefId adt, Span at) {
    const std::size_t n = path.segments.size();
    const hir::GenericArgs* args = path.segments[n - 1].args;
    if (args != nullptr && n >= 2 && path.segments[n - 2].args != nullptr) {
        error(Code::E0109, path.segments[n - 1].ident.span, fmt::format("type arguments are not allowed on variant `{}`", name(path.segments[n - 1].ident.name)))
            .label(path.segments[n - 1].ident.span, "type argument not allowed")
            .note("generic arguments may stand on the enum or on its variant, not on both");
        args = nullptr;
    }
    if (args == nullptr && n >= 2) args = path.segments[n - 2].args;
    return types_.erase_regions(lowerer_.lower_args(adt, {}, args, at, true));
}

std::optional<BodyChecker::ValuePath> BodyChecker::value_of_def(const hir::QPath& qpath, Span at) {
    const hir::Path& path = qpath.path;
    const DefId def = path.res.def;
    const hir::Def& d = program_.defs[def];
    const hir::GenericArgs* own = path.segments.back().args;
    switch (d.kind) {
        case DefKind::Ctor: {
            const bool variant = program_.defs[d.parent].kind == DefKind::Variant;
            const DefId adt = variant ? program_.defs[d.parent].parent : d.parent;
            const ArgsId args = variant ? variant_args(path, adt, at) : types_.erase_regions(lowerer_.lower_args(adt, {}, own, at, true));
            return instantiate_value({def, args}, at);
        }
        case DefKind::Fn:
        case DefKind::ForeignFn:
        case DefKind::Const:
        case DefKind::Static: return instantiate_value({def, types_.erase_regions(lowerer_.lower_args(def, {}, own, at, true))}, at);
        case DefKind::ConstParam: return ValuePath{path.res, {def, types_.no_args}, cx_.type_of(def)};
        case DefKind::AssocFn:
        case DefKind::AssocConst: {
            const DefId container = d.parent;
            ArgsId parent;
            if (program_.defs[container].kind == DefKind::Trait) {
                const TypeId self = qpath.self_type.valid() ? lower_expr_self(qpath.self_type) : infer_.new_var(at);
                const GenericArg prefix[] = {self};
                const std::size_t n = path.segments.size();
                parent = lowerer_.lower_args(container, prefix, n >= 2 ? path.segments[n - 2].args : nullptr, at, true);
            } else {
                parent = selector_.fresh_args(container, at);
            }
            return instantiate_value({def, types_.erase_regions(lowerer_.lower_args(def, types_[parent], own, at, true))}, at);
        }
        default: return std::nullopt;   // types, modules, host items: refused by name resolution
    }
}

// `Type::name`: a variant, or an item of the type's impls or of a trait in scope.
std::optional<BodyChecker::ValuePath> BodyChecker::resolve_assoc_value(const hir::QPath& path, Span at) {
    const TypeId self = structural_or_error(lower_expr_self(path.self_type), at);
    if (has_error(self)) return std::nullopt;
    const Symbol wanted = path.segment.ident.name;
    const TypeData data = types_[self];
    if (data.kind == TypeKind::Adt && cx_.adt(data.def).kind == AdtInfo::Kind::Enum) {
        for (const VariantInfo& variant : cx_.adt(data.def).variants) {
            if (variant.name != wanted) continue;
            if (variant.form == hir::VariantForm::Named) {
                error(Code::E0533, at, fmt::format("expected value, found struct variant `{}::{}`", program_.name(data.def), name(wanted)))
                    .label(at, "not a value");
                return std::nullopt;
            }
            return instantiate_value({variant.ctor, data.args}, at);
        }
    }
    const MethodProbeResult result = probe_path(self, wanted, at);
    if (!result.pick) {
        if (!result.ambiguous.empty()) {
            Diagnostic& diagnostic = error(Code::E0034, path.segment.ident.span, "multiple applicable items in scope");
            diagnostic.label(path.segment.ident.span, fmt::format("multiple `{}` found", name(wanted)));
            for (DefId item : result.ambiguous) diagnostic.note_at(program_.defs[item].name.span, "a candidate is defined here");
            return std::nullopt;
        }
        if (result.private_item.valid()) {
            const std::string_view kind = hir::def_kind_text(program_.defs[result.private_item].kind);
            error(Code::E0624, path.segment.ident.span, fmt::format("{} `{}` is private", kind, name(wanted)))
                .label(path.segment.ident.span, fmt::format("private {}", kind))
                .label(program_.defs[result.private_item].name.span, fmt::format("private {} defined here", kind));
            return std::nullopt;
        }
        const bool is_enum = data.kind == TypeKind::Adt && cx_.adt(data.def).kind == AdtInfo::Kind::Enum;
        const std::string_view what = is_enum ? "variant or associated item" : data.kind == TypeKind::Param ? "associated item" : "associated item";
        const std::string called = data.kind == TypeKind::Param || !is_enum
                                       ? fmt::format("no function or associated item named `{}` found for {} in the current scope", name(wanted), describe(self))
                                       : fmt::format("no {} named `{}` found for {} in the current scope", what, name(wanted), describe(self));
        Diagnostic& diagnostic = error(Code::E0599, path.segment.ident.span, called);
        diagnostic.label(path.segment.ident.span, fmt::format("{} not found in `{}`", is_enum ? "variant or associated item" : "function or associated item", text(self)));
        suggest_names(diagnostic, self, wanted, path.segment.ident.span);
        return std::nullopt;
    }
    const MethodPick& pick = *result.pick;
    std::vector<GenericArg> parent;
    if (program_.defs[pick.container].kind == DefKind::Trait) {
        const ArgsId args = pick.source == MethodPick::Source::Bound ? pick.bound.args : selector_.fresh_args(pick.container, at);
        parent.assign(types_[args].begin(), types_[args].end());
        if (pick.source == MethodPick::Source::Bound) {
            unify(parent[0].as_type(), self);
        } else {
            parent[0] = self;
        }
    } else {
        const ArgsId args = selector_.fresh_args(pick.container, at);
        std::vector<Obligation> nested;
        const TypeId impl_self = selector_.normalize(types_.erase_regions(types_.subst(cx_.type_of(pick.container), args)), Cause{at, {}, {}, {}, {}}, 0, nested);
        add_obligations(std::move(nested));
        unify(impl_self, self);
        parent.assign(types_[args].begin(), types_[args].end());
    }
    return instantiate_value({pick.item, types_.erase_regions(lowerer_.lower_args(pick.item, parent, path.segment.args, at, true))}, at);
}

// A variable named inside closures that did not declare it.
void BodyChecker::note_capture(LocalId local) {
    const auto owner = local_closure_.find(local);
    const DefId declared_in = owner == local_closure_.end() ? DefId() : owner->second;
    for (DefId at = current_closure_; at.valid() && at != declared_in; at = program_.defs[at].parent) {
        if (program_.defs[at].kind != DefKind::Closure) break;
        closures_[at].mentions_outer = true;
    }
}

std::optional<BodyChecker::ValuePath> BodyChecker::resolve_value_path(const hir::QPath& path, Span at) {
    if (path.kind == hir::QPath::Kind::TypeRelative) return resolve_assoc_value(path, at);
    const hir::Res& res = path.path.res;
    switch (res.kind) {
        case hir::Res::Kind::Local: {
            const TypeId type = tables_.local_types[res.local];
            note_capture(res.local);
            return ValuePath{res, {}, type.valid() ? type : types_.error};
        }
        case hir::Res::Kind::Def: {
            std::optional<ValuePath> value = value_of_def(path, at);
            if (value) value->res = res;
            return value;
        }
        case hir::Res::Kind::SelfCtor: {
            const TypeId self = types_.erase_regions(cx_.type_of(res.def));
            const TypeData data = types_[self];
            if (data.kind != TypeKind::Adt || cx_.adt(data.def).kind != AdtInfo::Kind::Struct || !cx_.adt(data.def).variants[0].ctor.valid()) {
                if (!has_error(self)) error(Code::None, at, "the `Self` constructor must be used with unit or tuple struct");
                return std::nullopt;
            }
            ValuePath value = instantiate_value({cx_.adt(data.def).variants[0].ctor, data.args}, at);
            value.res = res;
            return value;
        }
        case hir::Res::Kind::Error:
        case hir::Res::Kind::Prim:
        case hir::Res::Kind::SelfParam:
        case hir::Res::Kind::SelfAlias: return std::nullopt;
    }
    return std::nullopt;
}

TypeId BodyChecker::check_path(ExprId id, const hir::QPath& path, Expectation) {
    const std::optional<ValuePath> value = resolve_value_path(path, span(id));
    if (!value) return types_.error;
    if (value->item.valid()) tables_.expr_items.set(id, value->item);
    return value->type;
}

// ---- struct paths --------------------------------------------------------------------------------------------------------------------------

// `Type::function(..)` as a pattern.
bool BodyChecker::report_not_ctor(TypeId self, const hir::QPath& path) {
    const MethodProbeResult found = probe_path(self, path.segment.ident.name, path.segment.ident.span);
    if (!found.pick) return false;
    error(Code::E0164, path.span, fmt::format("expected tuple struct or tuple variant, found {} `{}`", hir::def_kind_text(program_.defs[found.pick->item].kind),
                                              name(path.segment.ident.name)))
        .label(path.span, "not a tuple struct or tuple variant");
    return true;
}

std::optional<BodyChecker::VariantRef> BodyChecker::resolve_variant_path(const hir::QPath& path, Span at, Code code) {
    VariantRef out;
    if (path.kind == hir::QPath::Kind::TypeRelative) {
        // `Alias::Variant`, `Self::Variant`, `<T as Trait>::Assoc`.
        const TypeId self = structural(lower_expr_self(path.self_type));
        const TypeData data = types_[self];
        if (data.kind == TypeKind::Adt && cx_.adt(data.def).kind == AdtInfo::Kind::Enum) {
            const AdtInfo& adt = cx_.adt(data.def);
            for (std::uint32_t i = 0; i < adt.variants.size(); ++i) {
                if (adt.variants[i].name == path.segment.ident.name) return VariantRef{&adt, i, data.args, self, adt.variants[i].def};
            }
            if (code == Code::E0164 && report_not_ctor(self, path)) return std::nullopt;
            Diagnostic& diagnostic = error(Code::E0599, path.segment.ident.span,
                                           fmt::format("no variant named `{}` found for {}", name(path.segment.ident.name), describe(self)));
            diagnostic.label(path.segment.ident.span, fmt::format("variant not found in `{}`", text(self)));
            suggest_names(diagnostic, self, path.segment.ident.name, path.segment.ident.span);
            return std::nullopt;
        }
        if (code == Code::E0164 && report_not_ctor(self, path)) return std::nullopt;
        if (!has_error(self)) error(Code::E0223, at, "ambiguous associated type");
        return std::nullopt;
    }
    const hir::Res& res = path.path.res;
    DefId def = res.def;
    if (res.kind == hir::Res::Kind::Error) return std::nullopt;
    if (res.kind == hir::Res::Kind::Def && program_.defs[def].kind == DefKind::Ctor) def = program_.defs[def].parent;
    if (res.kind == hir::Res::Kind::Def && program_.defs[def].kind == DefKind::Variant) {
        const DefId owner = program_.defs[def].parent;
        out.adt = &cx_.adt(owner);
        out.variant = out.adt->variant_index(def);
        out.args = variant_args(path.path, owner, at);
        out.type = types_.adt(owner, out.args);
        out.def = def;
    } else {
        TypeId type;
        if (res.kind == hir::Res::Kind::SelfCtor) {
            type = cx_.type_of(res.def);
        } else if (res.kind == hir::Res::Kind::Def && program_.defs[res.def].kind == DefKind::Ctor) {
            type = types_.adt(def, lowerer_.lower_args(def, {}, path.path.segments.back().args, at, true));
        } else {
            lowerer_.infer_next_path();
            type = lowerer_.lower_type_path(path.path);
        }
        out.type = structural(normalize(types_.erase_regions(type), at));
        const TypeData data = types_[out.type];
        if (data.kind != TypeKind::Adt || cx_.adt(data.def).kind == AdtInfo::Kind::Enum) {
            if (!has_error(out.type)) {
                error(code, at, fmt::format("expected struct, variant or union type, found {}", describe(out.type))).label(at, "not a struct");
            }
            return std::nullopt;
        }
        out.adt = &cx_.adt(data.def);
        out.args = data.args;
        out.def = data.def;
    }
    std::vector<Obligation> nested;
    selector_.item_obligations(out.adt->def, out.args, {at, CauseKind::ItemBound, out.adt->def, {}, {}}, 0, nested);
    add_obligations(std::move(nested));
    return out;
}

TypeId BodyChecker::field_type(const FieldInfo& field, ArgsId args, Span at) {
    return normalize(types_.erase_regions(types_.subst(field.type, args)), at);
}

bool BodyChecker::is_visible(const hir::Visibility& visibility) const {
    return visibility.is_public || !visibility.module.valid() || is_inside(program_, owner_, visibility.module);
}

const hir::FieldDef& BodyChecker::field_syntax(const AdtInfo& adt, std::uint32_t variant, std::uint32_t field) const {
    return program_.as<hir::AdtDef>(adt.def).variants[variant].fields[field];
}

TypeId BodyChecker::check_struct(ExprId id, const hir::StructExpr& e, Expectation expected) {
    const auto variant = resolve_variant_path(*e.path, e.path->span, Code::E0071);
    if (!variant) {
        for (const hir::FieldInit& field : e.fields) check_expr(field.value);
        if (e.base.valid()) check_expr(e.base);
        return types_.error;
    }
    tables_.expr_items.set(id, {variant->def, variant->args});
    // The expected type tells arguments that the path leaves open, so that fields can coerce.
    if (expected.kind == Expectation::Kind::HasType && !infer_.is_type_var(expected.type) && infer_.can_unify(expected.type, variant->type)) unify(expected.type, variant->type);
    check_struct_fields(id, e, *variant);
    if (e.base.valid()) check_struct_base(e, *variant, id);
    return variant->type;
}

namespace {

std::string field_list(const std::vector<std::string>& names) {
    std::string out;
    for (std::size_t i = 0; i < names.size() && i < 3; ++i) {
        if (i != 0) out += i + 1 == names.size() ? " and " : ", ";
        out += "`" + names[i] + "`";
    }
    if (names.size() > 3) out += fmt::format(" and {} other field{}", names.size() - 3, names.size() == 4 ? "" : "s");
    return out;
}

}  // namespace

void BodyChecker::check_struct_fields(ExprId id, const hir::StructExpr& e, const VariantRef& variant) {
    const VariantInfo& info = variant.adt->variants[variant.variant];
    const bool is_enum = variant.adt->kind == AdtInfo::Kind::Enum;
    std::vector<std::uint32_t> indices;
    std::vector<ExprId> given(info.fields.size());
    bool bad = false;
    for (const hir::FieldInit& init : e.fields) {
        std::uint32_t index = 0;
        while (index < info.fields.size() && info.fields[index].name != init.field.name) ++index;
        if (index == info.fields.size()) {
            bad = true;
            check_expr(init.value);
            Diagnostic& diagnostic =
                is_enum ? error(Code::E0559, init.field.span, fmt::format("variant `{}::{}` has no field named `{}`", program_.name(variant.adt->def), name(info.name), name(init.field.name)))
                        : error(Code::E0560, init.field.span, fmt::format("struct `{}` has no field named `{}`", program_.name(variant.adt->def), name(init.field.name)));
            std::vector<std::string_view> names;
            for (const FieldInfo& field : info.fields) names.push_back(name(field.name));
            const std::string_view near = nearest_name(names, name(init.field.name));
            if (near.empty()) {
                diagnostic.label(init.field.span, "unknown field");
            } else {
                diagnostic.label(init.field.span, "unknown field").suggest(init.field.span, std::string(near), "a field with a similar name exists");
            }
            continue;
        }
        indices.push_back(index);
        if (given[index].valid()) {
            error(Code::E0062, init.field.span, fmt::format("field `{}` specified more than once", name(init.field.name)))
                .label(init.field.span, "used more than once");
            bad = true;
        }
        given[index] = init.value;
        const hir::FieldDef& syntax = field_syntax(*variant.adt, variant.variant, index);
        if (!is_enum && !is_visible(syntax.visibility)) {
            error(Code::E0451, init.field.span, fmt::format("field `{}` of struct `{}` is private", name(init.field.name), program_.name(variant.adt->def)))
                .label(init.field.span, "private field");
        }
        check_coerce(init.value, field_type(info.fields[index], variant.args, init.span));
    }
    tables_.set_field_indices(id, indices);
    if (variant.adt->kind == AdtInfo::Kind::Union) {
        if (e.fields.size() != 1) error(Code::E0784, span(id), "union expressions should have exactly one field");
        return;
    }
    if (e.base.valid() || bad) return;
    std::vector<std::string> missing;
    bool hidden = false;
    for (std::uint32_t i = 0; i < info.fields.size(); ++i) {
        if (given[i].valid()) continue;
        hidden |= !is_enum && !is_visible(field_syntax(*variant.adt, variant.variant, i).visibility);
        missing.emplace_back(name(info.fields[i].name));
    }
    if (missing.empty()) return;
    if (hidden) {
        error(Code::None, span(id), fmt::format("cannot construct `{}` with struct literal syntax due to private fields", text(variant.type)));
        return;
    }
    error(Code::E0063, e.path->span, fmt::format("missing field{} {} in initializer of `{}`", missing.size() == 1 ? "" : "s", field_list(missing), text(variant.type)))
        .label(e.path->span, fmt::format("missing {}", field_list(missing)));
}

void BodyChecker::check_struct_base(const hir::StructExpr& e, const VariantRef& variant, ExprId) {
    if (variant.adt->kind != AdtInfo::Kind::Struct) {
        check_expr(e.base);
        error(Code::E0436, span(e.base), "functional record update syntax requires a struct");
        return;
    }
    check_has_type(e.base, variant.type);
    const VariantInfo& info = variant.adt->variants[0];
    for (std::uint32_t i = 0; i < info.fields.size(); ++i) {
        const bool written = std::any_of(e.fields.begin(), e.fields.end(), [&](const hir::FieldInit& f) { return f.field.name == info.fields[i].name; });
        if (!written && !is_visible(field_syntax(*variant.adt, 0, i).visibility)) {
            error(Code::E0451, span(e.base), fmt::format("field `{}` of struct `{}` is private", name(info.fields[i].name), program_.name(variant.adt->def)))
                .label(span(e.base), fmt::format("field `{}` is private", name(info.fields[i].name)));
        }
    }
}

}  // namespace ockc::check
