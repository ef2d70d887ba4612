// Patterns, with default binding modes: a pattern that is no reference pattern looks through references, and its bindings
// then borrow.
#include <fmt/format.h>

#include "check/body.hpp"
#include "support/enum_table.hpp"

namespace ockc::check {

using hir::DefKind;

namespace {
constexpr std::uint32_t kNoRest = 0xFFFF'FFFFu;
}

bool BodyChecker::pattern_demand(PatId id, TypeId expected, TypeId found) {
    if (unify(expected, found)) return true;
    report_mismatch(pat(id).span, expected, found);
    return false;
}

// Wild, bindings, constants, reference and or-patterns take the value as it is.
bool BodyChecker::is_reference_pattern_like(PatId id) {
    return std::visit(ast::Overloaded{
                          [](std::monostate) { return true; },
                          [](const hir::WildPat&) { return true; },
                          [](const hir::BindingPat&) { return true; },
                          [](const hir::RefPat&) { return true; },
                          [](const hir::OrPat&) { return true; },
                          [](const hir::ErrorPat&) { return true; },
                          [](const hir::LiteralPat& p) { return p.value.kind == hir::Literal::Kind::Str || p.value.kind == hir::Literal::Kind::ByteStr; },
                          [&](const hir::PathPat& p) {
                              if (p.path->kind == hir::QPath::Kind::TypeRelative) return false;
                              const hir::Res& res = p.path->path.res;
                              if (res.kind != hir::Res::Kind::Def) return false;
                              const DefKind kind = program_.defs[res.def].kind;
                              return kind == DefKind::Const || kind == DefKind::AssocConst;
                          },
                          [](const hir::ConstBlockPat&) { return true; },
                          [](const hir::RangePat&) { return false; },
                          [](const hir::TuplePat&) { return false; },
                          [](const hir::TupleStructPat&) { return false; },
                          [](const hir::StructPat&) { return false; },
                          [](const hir::SlicePat&) { return false; },
                      },
                      pat(id).data);
}

TypeId BodyChecker::peel_refs(PatId id, TypeId expected, BindMode& mode) {
    for (;;) {
        const TypeId type = structural(expected);
        const TypeData data = types_[type];
        if (data.kind != TypeKind::Ref) return expected;
        pat_derefs_[id].push_back(type);
        if (data.mutability == Mutability::Not) {
            mode = BindMode::Ref;
        } else if (mode == BindMode::Value) {
            mode = BindMode::RefMut;
        }
        expected = data.element;
    }
}

void BodyChecker::check_pattern(PatId id, TypeId expected, BindMode mode) {
    if (!is_reference_pattern_like(id)) expected = peel_refs(id, expected, mode);
    tables_.pat_types.set(id, expected);
    check_pattern_kind(id, expected, mode);
}

void BodyChecker::check_pattern_kind(PatId id, TypeId expected, BindMode mode) {
    std::visit(ast::Overloaded{
                   [](std::monostate) {},
                   [](const hir::WildPat&) {},
                   [](const hir::ErrorPat&) {},
                   [&](const hir::BindingPat& p) { check_binding(id, p, expected, mode); },
                   [&](const hir::LiteralPat& p) { check_literal_pattern(id, p, expected); },
                   [&](const hir::PathPat& p) { check_path_pattern(id, p, expected); },
                   [&](const hir::RangePat& p) { check_range_pattern(id, p, expected); },
                   [&](const hir::RefPat& p) { check_ref_pattern(id, p, expected, mode); },
                   [&](const hir::TuplePat& p) { check_tuple_pattern(id, p, expected, mode); },
                   [&](const hir::TupleStructPat& p) { check_tuple_struct_pattern(id, p, expected, mode); },
                   [&](const hir::StructPat& p) { check_struct_pattern(id, p, expected, mode); },
                   [&](const hir::SlicePat& p) { check_slice_pattern(id, p, expected, mode); },
                   [&](const hir::OrPat& p) {
                       for (PatId alternative : p.alternatives) check_pattern(alternative, expected, mode);
                   },
                   [&](const hir::ConstBlockPat& p) {
                       state_.anon_const_types[p.constant] = types_.erase_regions(infer_.resolve(expected));
                       if (cx_.check_body(p.constant) == nullptr) return;
                       tables_.pat_items.set(id, {p.constant, types_.no_args});
                   },
               },
               pat(id).data);
}

void BodyChecker::check_binding(PatId id, const hir::BindingPat& p, TypeId expected, BindMode mode) {
    if (mode != BindMode::Value && (p.mode.by_ref || p.mode.is_mut)) {
        if (!cx_.options().edition_2021) {
            error(Code::None, pat(id).span, "binding modifiers may only be written when the default binding mode is `move`")
                .label(pat(id).span, "binding modifier not allowed under an implicit borrow");
        }
        mode = BindMode::Value;
    }
    if (p.mode.by_ref) mode = p.mode.ref_mut ? BindMode::RefMut : BindMode::Ref;
    tables_.bind_modes.set(id, mode);
    TypeId type = expected;
    if (mode != BindMode::Value) type = types_.ref(types_.erased, expected, mode == BindMode::RefMut ? Mutability::Mut : Mutability::Not);
    if (const TypeId known = tables_.local_types[p.local]; known.valid()) {
        pattern_demand(id, known, type);   // another alternative of an or-pattern
    } else {
        tables_.local_types.set(p.local, type);
        if (current_closure_.valid()) local_closure_[p.local] = current_closure_;
        require_sized(type, {p.ident.span, CauseKind::SizedVariable, {}, {}, {}});
    }
    if (p.sub.valid()) check_pattern(p.sub, expected, mode);
}

void BodyChecker::check_literal_pattern(PatId id, const hir::LiteralPat& p, TypeId expected) {
    TypeId type = check_literal(ExprId(), p.value, Expectation::has(expected));
    if (p.value.kind == hir::Literal::Kind::ByteStr) {
        const TypeId wanted = structural(expected);
        if (types_.kind(wanted) == TypeKind::Ref && types_.kind(shallow(types_[wanted].element)) == TypeKind::Slice) {
            type = types_.ref(types_.erased, types_.slice(types_.int_type(types::IntKind::U8)), Mutability::Not);
        }
    }
    if (!pattern_demand(id, expected, type)) return;
    const TypeData data = types_[shallow(type)];
    if (p.negative && data.kind == TypeKind::Int && !types::int_signed(data.int_kind)) {
        error(Code::E0600, pat(id).span, fmt::format("cannot apply unary operator `-` to type `{}`", text(type)))
            .label(pat(id).span, "cannot apply unary operator `-`")
            .note("unsigned values cannot be negated");
    }
}

TypeId BodyChecker::range_end_type(PatId id, TypeId expected) {
    check_pattern(id, infer_.new_var(pat(id).span));
    const TypeId type = structural(tables_.pat_types[id]);
    static_cast<void>(expected);
    return type;
}

void BodyChecker::check_range_pattern(PatId id, const hir::RangePat& p, TypeId expected) {
    Diagnostic* wrong = nullptr;   // one for both ends
    for (PatId end : {p.from, p.to}) {
        if (!end.valid()) continue;
        const TypeId type = range_end_type(end, expected);
        const TypeKind kind = types_.kind(type);
        const bool ordered = kind == TypeKind::Int || kind == TypeKind::Float || kind == TypeKind::Char || kind == TypeKind::Infer || kind == TypeKind::Error;
        if (ordered) continue;
        if (wrong == nullptr) wrong = &error(Code::E0029, pat(id).span, "only `char` and numeric types are allowed in range patterns");
        wrong->label(pat(end).span, fmt::format("this is of type `{}` but it should be `char` or numeric", text(type)));
    }
    bool good = wrong == nullptr;
    for (PatId end : {p.from, p.to}) {
        if (good && end.valid()) good = pattern_demand(end, expected, tables_.pat_types[end]);
    }
}

void BodyChecker::check_path_pattern(PatId id, const hir::PathPat& p, TypeId expected) {
    const auto value = resolve_value_path(*p.path, pat(id).span);
    if (!value) return;
    const DefKind kind = value->item.valid() ? program_.defs[value->item.def].kind : DefKind::Fn;
    const bool unit = kind == DefKind::Ctor && types_.kind(shallow(value->type)) == TypeKind::Adt;
    if (!unit && kind != DefKind::Const && kind != DefKind::AssocConst) {
        const bool tuple_ctor = kind == DefKind::Ctor;
        const bool qualified = p.path->kind == hir::QPath::Kind::Resolved;
        error(tuple_ctor || qualified ? Code::E0532 : Code::E0533, pat(id).span,
              fmt::format("expected unit struct, unit variant or constant, found {}", tuple_ctor ? "tuple variant" : hir::def_kind_text(kind)))
            .label(pat(id).span, "not a unit struct, unit variant or constant");
        return;
    }
    tables_.pat_items.set(id, value->item);
    if (!pattern_demand(id, expected, value->type)) return;
}

void BodyChecker::poison_pattern(PatId id) {
    std::visit(ast::Overloaded{
                   [&](const hir::BindingPat& p) {
                       if (!tables_.local_types[p.local].valid()) tables_.local_types.set(p.local, types_.error);
                       if (p.sub.valid()) poison_pattern(p.sub);
                   },
                   [&](const hir::RefPat& p) { poison_pattern(p.inner); },
                   [&](const hir::TuplePat& p) {
                       for (PatId inner : p.elements) poison_pattern(inner);
                   },
                   [&](const hir::TupleStructPat& p) {
                       for (PatId inner : p.elements) poison_pattern(inner);
                   },
                   [&](const hir::StructPat& p) {
                       for (const hir::FieldPat& field : p.fields) poison_pattern(field.pat);
                   },
                   [&](const hir::SlicePat& p) {
                       for (PatId inner : p.before) poison_pattern(inner);
                       for (PatId inner : p.after) poison_pattern(inner);
                       if (p.middle.valid()) poison_pattern(p.middle);
                   },
                   [&](const hir::OrPat& p) {
                       for (PatId inner : p.alternatives) poison_pattern(inner);
                   },
                   [](std::monostate) {},
                   [](const hir::WildPat&) {},
                   [](const hir::LiteralPat&) {},
                   [](const hir::PathPat&) {},
                   [](const hir::RangePat&) {},
                   [](const hir::ConstBlockPat&) {},
                   [](const hir::ErrorPat&) {},
               },
               pat(id).data);
}

void BodyChecker::check_ref_pattern(PatId id, const hir::RefPat& p, TypeId expected, BindMode mode) {
    if (mode != BindMode::Value && !cx_.options().edition_2021) {
        error(Code::None, pat(id).span, "reference pattern not allowed under `ref` default binding mode")
            .label(pat(id).span, "reference pattern not allowed under an implicit borrow");
        poison_pattern(p.inner);
        return;
    }
    const TypeId type = structural(expected);
    const TypeData data = types_[type];
    TypeId inner;
    if (data.kind == TypeKind::Ref && data.mutability == p.mutability) {
        inner = data.element;
    } else {
        inner = infer_.new_var(pat(p.inner).span);
        if (!pattern_demand(id, expected, types_.ref(types_.erased, inner, p.mutability))) {
            poison_pattern(p.inner);
            return;
        }
    }
    check_pattern(p.inner, inner, BindMode::Value);
}

void BodyChecker::check_tuple_pattern(PatId id, const hir::TuplePat& p, TypeId expected, BindMode mode) {
    const TypeId type = structural(expected);
    std::size_t length = p.elements.size();
    if (types_.kind(type) == TypeKind::Tuple && p.rest != kNoRest) length = std::max(length, types_[types_[type].elements].size());
    std::vector<TypeId> elements;
    for (std::size_t i = 0; i < length; ++i) elements.push_back(infer_.new_var(pat(id).span));
    if (!unify(expected, types_.tuple(elements))) {
        if (!has_error(type)) report_mismatch(pat(id).span, expected, types_.tuple(elements));
        for (PatId inner : p.elements) poison_pattern(inner);
        return;
    }
    const std::size_t skipped = length - p.elements.size();
    for (std::size_t i = 0; i < p.elements.size(); ++i) {
        const std::size_t at = p.rest != kNoRest && i >= p.rest ? i + skipped : i;
        check_pattern(p.elements[i], elements[at], mode);
    }
}

void BodyChecker::check_tuple_struct_pattern(PatId id, const hir::TupleStructPat& p, TypeId expected, BindMode mode) {
    const auto poison = [&] {
        for (PatId inner : p.elements) poison_pattern(inner);
    };
    const std::size_t errors = cx_.sink().error_count();
    const auto variant = resolve_variant_path(*p.path, pat(id).span, Code::E0164);
    if (!variant) {
        // `<T as Trait>::function(..)`: the path resolves, but to nothing that a pattern could take apart.
        const hir::Res& res = p.path->path.res;
        const bool resolved = p.path->kind == hir::QPath::Kind::Resolved && res.kind == hir::Res::Kind::Def;
        if (resolved && cx_.sink().error_count() == errors) {
            error(Code::E0532, p.path->span, fmt::format("expected tuple struct or tuple variant, found {} `{}`",
                                                        hir::def_kind_text(program_.defs[res.def].kind), program_.name(res.def)))
                .label(p.path->span, "not a tuple struct or tuple variant");
        }
        return poison();
    }
    const VariantInfo& info = variant->adt->variants[variant->variant];
    if (info.form != hir::VariantForm::Tuple) {
        error(Code::E0164, pat(id).span, fmt::format("expected tuple struct or tuple variant, found {} `{}`",
                                                     variant->adt->kind == AdtInfo::Kind::Enum ? (info.form == hir::VariantForm::Unit ? "unit variant" : "struct variant") : "struct", name(info.name)))
            .label(pat(id).span, "not a tuple struct or tuple variant");
        return poison();
    }
    tables_.pat_items.set(id, {variant->def, variant->args});
    if (!pattern_demand(id, expected, variant->type)) return poison();
    const std::size_t fields = info.fields.size();
    if (p.rest == kNoRest ? p.elements.size() != fields : p.elements.size() > fields) {
        const std::string kind = variant->adt->kind == AdtInfo::Kind::Enum ? "tuple variant" : "tuple struct";
        error(Code::E0023, pat(id).span, fmt::format("this pattern has {} field{}, but the corresponding {} has {} field{}", p.elements.size(),
                                                     p.elements.size() == 1 ? "" : "s", kind, fields, fields == 1 ? "" : "s"))
            .label(pat(id).span, fmt::format("expected {} field{}, found {}", fields, fields == 1 ? "" : "s", p.elements.size()))
            .note_at(program_.defs[info.def].name.span, fmt::format("the {} is defined here", kind));
        return poison();
    }
    const std::size_t skipped = fields - p.elements.size();
    for (std::size_t i = 0; i < p.elements.size(); ++i) {
        const std::size_t at = p.rest != kNoRest && i >= p.rest ? i + skipped : i;
        check_pattern(p.elements[i], field_type(info.fields[at], variant->args, pat(id).span), mode);
    }
}

void BodyChecker::check_struct_pattern(PatId id, const hir::StructPat& p, TypeId expected, BindMode mode) {
    const auto variant = resolve_variant_path(*p.path, p.path->span, Code::E0071);
    if (!variant || !pattern_demand(id, expected, variant->type)) {
        for (const hir::FieldPat& field : p.fields) poison_pattern(field.pat);
        return;
    }
    tables_.pat_items.set(id, {variant->def, variant->args});
    const VariantInfo& info = variant->adt->variants[variant->variant];
    const bool is_enum = variant->adt->kind == AdtInfo::Kind::Enum;
    std::vector<std::uint32_t> indices;
    std::vector<bool> seen(info.fields.size());
    bool unknown = false;
    for (const hir::FieldPat& field : p.fields) {
        std::uint32_t index = 0;
        while (index < info.fields.size() && info.fields[index].name != field.field.name) ++index;
        if (index == info.fields.size()) {
            unknown = true;
            poison_pattern(field.pat);
            const std::string owner = is_enum ? fmt::format("variant `{}::{}`", program_.name(variant->adt->def), name(info.name)) : fmt::format("struct `{}`", program_.name(variant->adt->def));
            Diagnostic& diagnostic = error(Code::E0026, field.field.span, fmt::format("{} does not have a field named `{}`", owner, name(field.field.name)));
            diagnostic.label(field.field.span, fmt::format("{} does not have this field", owner));
            std::vector<std::string_view> names;
            for (const FieldInfo& f : info.fields) names.push_back(name(f.name));
            const std::string_view near = nearest_name(names, name(field.field.name));
            if (!near.empty()) diagnostic.suggest(field.field.span, std::string(near), "a field with a similar name exists");
            continue;
        }
        if (seen[index]) {
            error(Code::E0025, field.span, fmt::format("field `{}` bound multiple times in the pattern", name(field.field.name)))
                .label(field.span, fmt::format("multiple uses of `{}` in pattern", name(field.field.name)));
        }
        seen[index] = true;
        indices.push_back(index);
        if (!is_enum && !is_visible(field_syntax(*variant->adt, variant->variant, index).visibility)) {
            error(Code::E0451, field.field.span, fmt::format("field `{}` of struct `{}` is private", name(field.field.name), program_.name(variant->adt->def)))
                .label(field.field.span, "private field");
        }
        check_pattern(field.pat, field_type(info.fields[index], variant->args, field.span), mode);
    }
    tables_.set_field_indices(id, indices);
    if (p.has_rest || unknown || variant->adt->kind == AdtInfo::Kind::Union) return;
    std::vector<std::string> missing;
    bool hidden = false;
    for (std::uint32_t i = 0; i < info.fields.size(); ++i) {
        if (seen[i]) continue;
        missing.push_back(fmt::format("`{}`", name(info.fields[i].name)));
        hidden |= !is_enum && !is_visible(field_syntax(*variant->adt, variant->variant, i).visibility);
    }
    if (missing.empty()) return;
    if (hidden) {
        error(Code::None, pat(id).span, "pattern requires `..` due to inaccessible fields");
        return;
    }
    const std::string list = fmt::format("{}", fmt::join(missing, ", "));
    error(Code::E0027, pat(id).span, fmt::format("pattern does not mention field{} {}", missing.size() == 1 ? "" : "s", list))
        .label(pat(id).span, fmt::format("missing field{} {}", missing.size() == 1 ? "" : "s", list));
}

void BodyChecker::check_slice_pattern(PatId id, const hir::SlicePat& p, TypeId expected, BindMode mode) {
    const TypeId type = structural_or_error(expected, pat(id).span);
    const TypeData data = types_[type];
    const std::size_t fixed = p.before.size() + p.after.size();
    TypeId element = types_.error, rest = types_.error;
    if (data.kind == TypeKind::Slice) {
        element = data.element;
        rest = type;
    } else if (data.kind == TypeKind::Array) {
        element = data.element;
        const auto length = cx_.usize_value(infer_.shallow(data.length));
        if (!length) {
            if (p.has_rest) {
                error(Code::E0730, pat(id).span, "cannot pattern-match on an array without a fixed length");
            } else if (!infer_.unify(data.length, types_.const_usize(fixed))) {   // the pattern says how long it would have to be
                report_mismatch(pat(id).span, type, types_.array(element, types_.const_usize(fixed)));
            }
        } else if (!p.has_rest && *length != fixed) {
            error(Code::E0527, pat(id).span, fmt::format("pattern requires {} element{} but array has {}", fixed, fixed == 1 ? "" : "s", *length))
                .label(pat(id).span, fmt::format("expected {} element{}", *length, *length == 1 ? "" : "s"));
        } else if (*length < fixed) {
            error(Code::E0528, pat(id).span, fmt::format("pattern requires at least {} element{} but array has {}", fixed, fixed == 1 ? "" : "s", *length))
                .label(pat(id).span, fmt::format("pattern cannot match array of {} element{}", *length, *length == 1 ? "" : "s"));
        } else {
            rest = types_.array(element, types_.const_usize(*length - fixed));
        }
    } else if (data.kind != TypeKind::Error) {
        error(Code::E0529, pat(id).span, fmt::format("expected an array or slice, found `{}`", text(type)))
            .label(pat(id).span, fmt::format("pattern cannot match with input type `{}`", text(type)));
    }
    for (PatId inner : p.before) check_pattern(inner, element, mode);
    if (p.middle.valid()) check_pattern(p.middle, rest, mode);
    for (PatId inner : p.after) check_pattern(inner, element, mode);
}

}  // namespace ockc::check
