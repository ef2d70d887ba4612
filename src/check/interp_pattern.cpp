// Pattern matching in constants. A pattern matches a place, so that `ref` bindings borrow it.
#include "check/interp.hpp"

namespace ockc::check {

using hir::DefKind;
using hir::PatId;
using types::Mutability;

namespace {
constexpr std::uint32_t kNoRest = 0xFFFF'FFFFu;
}

Interpreter::Operand Interpreter::part(const Operand& operand, std::uint32_t index, TypeId type) {
    Operand out;
    out.type = type;
    if (operand.is_place) {
        out.is_place = true;
        out.place = operand.place;
        out.place.path.push_back(index);
        out.place.is_slice = false;
        out.place.static_def = DefId();
        out.place.type = type;
        return out;
    }
    if (index < operand.value.fields.size()) out.value = operand.value.fields[index];
    return out;
}

void Interpreter::bind(PatId id, const hir::BindingPat& p, const Operand& operand) {
    Value value;
    switch (frame_->tables->bind_modes[id]) {
        case BindMode::Value:
            if (!operand.is_place) {
                value = operand.value;
            } else {
                value = read(operand.place, pat(id).span);
            }
            break;
        case BindMode::Ref:
        case BindMode::RefMut:
            value.kind = Value::Kind::Ref;
            value.target = to_place(operand);
            value.type = instantiate(frame_->tables->type(p.local));
            break;
    }
    frame_->locals[p.local] = allocate(std::move(value));
}

bool Interpreter::equals_const(const Operand& operand, const ConstValue& value, Span at) {
    const Value have = to_value(operand, at);
    if (flow_ != Flow::Normal) return false;
    switch (value.kind) {
        case ConstValue::Kind::Scalar: {
            const UInt128 bits = static_cast<UInt128>(value.bits[1]) << 64 | value.bits[0];
            if (types_.kind(value.type) == TypeKind::Float) return compare(hir::BinaryOp::Eq, have, scalar(value.type, bits), at).bits != 0;
            return have.kind == Value::Kind::Scalar && have.bits == bits;
        }
        case ConstValue::Kind::Aggregate: {
            if (have.kind != Value::Kind::Aggregate || have.variant != value.variant || have.fields.size() != value.fields.size()) return false;
            for (std::size_t i = 0; i < have.fields.size(); ++i) {
                Operand field;
                field.type = value.fields[i]->type;
                field.value = have.fields[i];
                if (!equals_const(field, *value.fields[i], at)) return false;
            }
            return true;
        }
        case ConstValue::Kind::Ref: {
            if (have.kind != Value::Kind::Ref) return false;
            Operand target;
            target.is_place = true;
            target.place = have.target;
            target.type = have.target.type;
            if (have.target.is_slice) {
                if (have.target.length != value.target->fields.size()) return false;
                for (std::size_t i = 0; i < value.target->fields.size(); ++i) {
                    Operand element = part(target, static_cast<std::uint32_t>(have.target.start + i), value.target->fields[i]->type);
                    if (!equals_const(element, *value.target->fields[i], at)) return false;
                }
                return true;
            }
            return equals_const(target, *value.target, at);
        }
        case ConstValue::Kind::Bytes: return have.kind == Value::Kind::Bytes && have.bytes == value.bytes;
        case ConstValue::Kind::StaticRef:
        case ConstValue::Kind::FnItem:
        case ConstValue::Kind::FnPtr:
        case ConstValue::Kind::Uninit: return false;
    }
    return false;
}

bool Interpreter::match_range(const hir::RangePat& p, const Operand& operand, Span at) {
    const Value value = to_value(operand, at);
    if (flow_ != Flow::Normal) return false;
    const auto end = [&](PatId id) {
        const ConstValue* constant = frame_->tables->pat_values[id];
        return constant != nullptr ? from_const(*constant) : Value{};
    };
    if (p.from.valid() && compare(hir::BinaryOp::Ge, value, end(p.from), at).bits == 0) return false;
    if (!p.to.valid()) return true;
    return compare(p.end == hir::RangeEnd::Included ? hir::BinaryOp::Le : hir::BinaryOp::Lt, value, end(p.to), at).bits != 0;
}

bool Interpreter::match_slice(PatId, const hir::SlicePat& p, const Operand& operand) {
    Operand place = operand;
    if (!place.is_place) {
        place.place = to_place(operand);
        place.is_place = true;
    }
    const Value* array = resolve(place.place, {});
    if (array == nullptr) return false;
    const std::uint64_t start = place.place.is_slice ? place.place.start : 0;
    const std::uint64_t length = place.place.is_slice ? place.place.length : array->fields.size();
    const std::size_t fixed = p.before.size() + p.after.size();
    if (p.has_rest ? length < fixed : length != fixed) return false;
    const TypeId element = types_[operand.type].element;
    for (std::size_t i = 0; i < p.before.size(); ++i) {
        if (!match(p.before[i], part(place, static_cast<std::uint32_t>(start + i), element))) return false;
    }
    for (std::size_t i = 0; i < p.after.size(); ++i) {
        if (!match(p.after[i], part(place, static_cast<std::uint32_t>(start + length - p.after.size() + i), element))) return false;
    }
    if (!p.middle.valid()) return true;
    Operand middle = place;
    middle.type = instantiate(frame_->tables->type(p.middle));
    middle.place.is_slice = true;
    middle.place.start = start + p.before.size();
    middle.place.length = length - fixed;
    middle.place.type = middle.type;
    if (types_.kind(middle.type) == TypeKind::Array) {   // by value: a part of an array is an array
        Value part_value = unit();
        part_value.type = middle.type;
        const Value* whole = resolve(place.place, {});
        for (std::uint64_t i = 0; i < middle.place.length; ++i) part_value.fields.push_back(whole->fields[middle.place.start + i]);
        Operand copy;
        copy.type = middle.type;
        copy.value = std::move(part_value);
        return match(p.middle, std::move(copy));
    }
    return match(p.middle, std::move(middle));
}

bool Interpreter::match(PatId id, Operand operand) {
    for (TypeId reference : frame_->tables->implicit_derefs(id)) {
        operand = eval_deref(std::move(operand), types_[instantiate(reference)].element, pat(id).span);
        if (flow_ != Flow::Normal) return false;
    }
    return match_kind(id, std::move(operand));
}

bool Interpreter::match_kind(PatId id, Operand operand) {
    const TypeTables& tables = *frame_->tables;
    const Span at = pat(id).span;
    const auto fields = [&](hir::List<PatId> list, std::uint32_t rest, std::size_t total) {
        for (std::size_t i = 0; i < list.size(); ++i) {
            const std::size_t index = rest != kNoRest && i >= rest ? i + total - list.size() : i;
            if (!match(list[i], part(operand, static_cast<std::uint32_t>(index), instantiate(tables.type(list[i]))))) return false;
        }
        return true;
    };
    const auto variant_fits = [&](std::size_t* count) {
        const ItemRef item = tables.pat_items[id];
        const TypeId type = instantiate(tables.type(id));
        const AdtInfo& adt = cx_.adt(types_[type].def);
        const std::uint32_t variant = adt.kind == AdtInfo::Kind::Enum ? adt.variant_index(item.def) : 0;
        *count = adt.variants[variant].fields.size();
        if (adt.kind != AdtInfo::Kind::Enum) return true;
        const Value value = to_value(operand, at);
        return flow_ == Flow::Normal && value.variant == variant;
    };
    return std::visit(ast::Overloaded{
                          [&](std::monostate) { return false; },
                          [&](const hir::ErrorPat&) { return false; },
                          [&](const hir::WildPat&) { return true; },
                          [&](const hir::BindingPat& p) {
                              if (p.sub.valid() && !match(p.sub, operand)) return false;
                              if (operand.is_place || operand.value.kind != Value::Kind::Uninit || operand.value.type.valid()) {
                                  bind(id, p, operand);
                              } else {
                                  frame_->locals[p.local] = allocate(Value{});   // `let x;`
                              }
                              return flow_ == Flow::Normal;
                          },
                          [&](const hir::LiteralPat&) {
                              const ConstValue* value = tables.pat_values[id];
                              return value != nullptr && equals_const(operand, *value, at);
                          },
                          [&](const hir::ConstBlockPat&) {
                              const ConstValue* value = tables.pat_values[id];
                              return value != nullptr && equals_const(operand, *value, at);
                          },
                          [&](const hir::PathPat&) {
                              if (const ConstValue* value = tables.pat_values[id]; value != nullptr) return equals_const(operand, *value, at);
                              std::size_t count = 0;
                              return variant_fits(&count);
                          },
                          [&](const hir::RangePat& p) { return match_range(p, operand, at); },
                          [&](const hir::RefPat& p) {
                              Operand target = eval_deref(operand, instantiate(tables.type(p.inner)), at);
                              return flow_ == Flow::Normal && match(p.inner, std::move(target));
                          },
                          [&](const hir::TuplePat& p) {
                              const TypeId type = instantiate(tables.type(id));
                              return fields(p.elements, p.rest, types_[types_[type].elements].size());
                          },
                          [&](const hir::TupleStructPat& p) {
                              std::size_t count = 0;
                              return variant_fits(&count) && fields(p.elements, p.rest, count);
                          },
                          [&](const hir::StructPat& p) {
                              std::size_t count = 0;
                              if (!variant_fits(&count)) return false;
                              const auto indices = tables.field_indices(id);
                              for (std::size_t i = 0; i < p.fields.size() && i < indices.size(); ++i) {
                                  if (!match(p.fields[i].pat, part(operand, indices[i], instantiate(tables.type(p.fields[i].pat))))) return false;
                              }
                              return true;
                          },
                          [&](const hir::SlicePat& p) { return match_slice(id, p, operand); },
                          [&](const hir::OrPat& p) {
                              for (PatId alternative : p.alternatives) {
                                  if (match(alternative, operand)) return true;
                                  if (flow_ != Flow::Normal) return false;
                              }
                              return false;
                          },
                      },
                      pat(id).data);
}

}  // namespace ockc::check
