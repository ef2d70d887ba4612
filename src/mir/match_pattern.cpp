// Patterns to match pairs and bindings. What cannot fail (tuples, structs, references, enums of one variant) leaves no
// pair behind: its parts join the list. Or-patterns stand last, so that everything else is tested before they branch.
#include "mir/match_builder.hpp"

namespace ockc::mir {

using types::TypeKind;

FlatPattern MatchBuilder::flatten(const PlaceBuilder& place, hir::PatId pat) {
    FlatPattern flat;
    flat.span = b_.hir_.pats[pat].span;
    add(flat, place, pat);
    std::stable_partition(flat.pairs.begin(), flat.pairs.end(),
                          [](const MatchPair& pair) { return pair.kind != MatchPair::Kind::Or; });
    return flat;
}

Candidate MatchBuilder::candidate(const PlaceBuilder& place, hir::PatId pat, bool has_guard) {
    FlatPattern flat = flatten(place, pat);
    Candidate made;
    made.pairs = std::move(flat.pairs);
    made.bindings = std::move(flat.bindings);
    made.has_guard = has_guard;
    made.span = flat.span;
    return made;
}

void MatchBuilder::add_pair(FlatPattern& out, MatchPair pair) { out.pairs.push_back(std::move(pair)); }

void MatchBuilder::add(FlatPattern& out, PlaceBuilder place, hir::PatId id) {
    for (const TypeId reference : b_.tables_.implicit_derefs(id)) b_.deref(place, b_.pointee(reference));
    const hir::Pat& pat = b_.hir_.pats[id];
    if (!b_.enter_nested(pat.span)) return;
    if (const auto* binding = std::get_if<hir::BindingPat>(&pat.data)) {
        // `x @ p`: what p binds is bound before x takes the whole.
        if (binding->sub.valid()) add(out, place, binding->sub);
        out.bindings.push_back({binding->local, pat.span, place, b_.tables_.bind_modes[id]});
    } else if (const auto* ref = std::get_if<hir::RefPat>(&pat.data)) {
        PlaceBuilder inner = place;
        b_.deref(inner, b_.pointee(place.type));
        add(out, inner, ref->inner);
    } else if (const auto* tuple = std::get_if<hir::TuplePat>(&pat.data)) {
        add_elements(out, place, tuple->elements, tuple->rest);
    } else if (const auto* tuple_struct = std::get_if<hir::TupleStructPat>(&pat.data)) {
        add_tuple_struct(out, place, id, *tuple_struct);
    } else if (const auto* st = std::get_if<hir::StructPat>(&pat.data)) {
        add_struct(out, place, id, *st);
    } else if (const auto* slice = std::get_if<hir::SlicePat>(&pat.data)) {
        add_slice(out, place, id, *slice);
    } else if (const auto* range = std::get_if<hir::RangePat>(&pat.data)) {
        add_range(out, place, id, *range);
    } else if (const auto* alternatives = std::get_if<hir::OrPat>(&pat.data)) {
        MatchPair pair{.kind = MatchPair::Kind::Or, .place = place, .span = pat.span};
        for (const hir::PatId alternative : alternatives->alternatives) pair.alternatives.push_back(flatten(place, alternative));
        add_pair(out, std::move(pair));
    } else if (const check::ConstValue* value = b_.tables_.pat_values[id]) {
        add_value(out, place, *value, pat.span);
    } else if (std::holds_alternative<hir::PathPat>(pat.data) && b_.tables_.pat_items[id].valid()) {
        add_variant(out, place, id, b_.tables_.pat_items[id], {});
    } else {
        OCKC_CHECK(std::holds_alternative<hir::WildPat>(pat.data));
    }
    b_.leave_nested();
}

// ---- structs, tuples, enums ---------------------------------------------------------------------------------------------------

namespace {
// The field that the i-th written element names, when `..` stands at position `rest`.
std::uint32_t element_index(std::size_t i, std::size_t written, std::size_t count, std::uint32_t rest) {
    return static_cast<std::uint32_t>(rest == 0xFFFFFFFFu || i < rest ? i : i + count - written);
}
}  // namespace

void MatchBuilder::add_elements(FlatPattern& out, const PlaceBuilder& place, hir::List<hir::PatId> elements,
                                std::uint32_t rest) {
    const std::size_t count = b_.types_[b_.types_[place.type].elements].size();
    for (std::size_t i = 0; i < elements.size(); ++i) {
        const std::uint32_t index = element_index(i, elements.size(), count, rest);
        PlaceBuilder part = place;
        b_.field(part, index, b_.field_type(place.type, 0, index));
        add(out, part, elements[i]);
    }
}

void MatchBuilder::add_tuple_struct(FlatPattern& out, const PlaceBuilder& place, hir::PatId pat,
                                    const hir::TupleStructPat& node) {
    const check::ItemRef item = b_.tables_.pat_items[pat];
    const check::AdtInfo& adt = b_.context_.adt(b_.types_[place.type].def);
    const std::size_t count = adt.variants[adt.variant_index(item.def)].fields.size();
    std::vector<std::pair<std::uint32_t, hir::PatId>> fields;
    for (std::size_t i = 0; i < node.elements.size(); ++i) {
        fields.emplace_back(element_index(i, node.elements.size(), count, node.rest), node.elements[i]);
    }
    add_variant(out, place, pat, item, fields);
}

void MatchBuilder::add_struct(FlatPattern& out, const PlaceBuilder& place, hir::PatId pat, const hir::StructPat& node) {
    const std::span<const std::uint32_t> indices = b_.tables_.field_indices(pat);
    std::vector<std::pair<std::uint32_t, hir::PatId>> fields;
    for (std::size_t i = 0; i < node.fields.size(); ++i) fields.emplace_back(indices[i], node.fields[i].pat);
    add_variant(out, place, pat, b_.tables_.pat_items[pat], fields);
}

bool MatchBuilder::is_irrefutable_variant(TypeId type, std::uint32_t variant) {
    const check::AdtInfo& adt = b_.context_.adt(b_.types_[type].def);
    if (adt.kind != check::AdtInfo::Kind::Enum) return true;
    for (std::uint32_t i = 0; i < adt.variants.size(); ++i) {
        if (i == variant) continue;
        bool inhabited = true;
        for (std::uint32_t f = 0; f < adt.variants[i].fields.size(); ++f) {
            inhabited = inhabited && b_.is_inhabited(b_.field_type(type, i, f));
        }
        if (inhabited) return false;
    }
    return true;
}

void MatchBuilder::add_variant(FlatPattern& out, const PlaceBuilder& place, hir::PatId pat, check::ItemRef item,
                               std::span<const std::pair<std::uint32_t, hir::PatId>> fields) {
    const check::AdtInfo& adt = b_.context_.adt(b_.types_[place.type].def);
    MatchPair pair{.kind = MatchPair::Kind::Variant, .place = place, .span = b_.hir_.pats[pat].span};
    pair.variant = adt.variant_index(item.def);
    FlatPattern inner;
    for (const auto& [index, field_pat] : fields) {
        PlaceBuilder part = place;
        if (adt.kind == check::AdtInfo::Kind::Enum) b_.downcast(part, pair.variant);
        b_.field(part, index, b_.field_type(place.type, pair.variant, index));
        add(inner, part, field_pat);
    }
    add_adt_test(out, std::move(pair), std::move(inner));
}

void MatchBuilder::add_adt_test(FlatPattern& out, MatchPair pair, FlatPattern inner) {
    out.bindings.insert(out.bindings.end(), inner.bindings.begin(), inner.bindings.end());
    if (is_irrefutable_variant(pair.place.type, pair.variant)) {
        for (MatchPair& part : inner.pairs) add_pair(out, std::move(part));
        return;
    }
    pair.subpairs = std::move(inner.pairs);
    add_pair(out, std::move(pair));
}

// ---- slices and arrays ----------------------------------------------------------------------------------------------------------

PlaceBuilder MatchBuilder::element(const PlaceBuilder& base, TypeId type, std::uint64_t offset, std::uint64_t min_length,
                                   bool from_end) {
    PlaceBuilder part = base;
    part.steps.push_back(Projection{.kind = ProjectionKind::ConstantIndex,
                                    .from_end = from_end,
                                    .offset = offset,
                                    .min_length = min_length,
                                    .type = type});
    part.type = type;
    return part;
}

// An array's length is known, so all its elements count from the front.
void MatchBuilder::add_slice(FlatPattern& out, const PlaceBuilder& place, hir::PatId pat, const hir::SlicePat& node) {
    const types::TypeData data = b_.types_[place.type];
    const bool is_array = data.kind == TypeKind::Array;
    const std::uint64_t written = node.before.size() + node.after.size();
    std::uint64_t length = written;
    if (is_array) length = b_.context_.usize_value(data.length).value_or(written);
    FlatPattern inner;
    for (std::size_t i = 0; i < node.before.size(); ++i) {
        add(inner, element(place, data.element, i, length, false), node.before[i]);
    }
    if (node.middle.valid()) {
        const std::uint64_t to = is_array ? length - node.after.size() : node.after.size();
        const TypeId type = is_array ? b_.types_.array(data.element, b_.types_.const_usize(to - node.before.size()))
                                     : b_.types_.slice(data.element);
        PlaceBuilder middle = place;
        middle.steps.push_back(Projection{.kind = ProjectionKind::Subslice,
                                          .from_end = !is_array,
                                          .offset = node.before.size(),
                                          .min_length = to,
                                          .type = type});
        middle.type = type;
        add(inner, middle, node.middle);
    }
    for (std::size_t i = 0; i < node.after.size(); ++i) {
        const std::uint64_t from_back = node.after.size() - i;
        add(inner, element(place, data.element, is_array ? length - from_back : from_back, length, !is_array), node.after[i]);
    }
    out.bindings.insert(out.bindings.end(), inner.bindings.begin(), inner.bindings.end());
    if (is_array || (node.has_rest && written == 0)) {
        for (MatchPair& part : inner.pairs) add_pair(out, std::move(part));
        return;
    }
    MatchPair pair{.kind = MatchPair::Kind::Slice, .place = place, .span = b_.hir_.pats[pat].span};
    pair.length = written;
    pair.has_rest = node.has_rest;
    pair.subpairs = std::move(inner.pairs);
    add_pair(out, std::move(pair));
}

// ---- values ---------------------------------------------------------------------------------------------------------------------

void MatchBuilder::add_range(FlatPattern& out, const PlaceBuilder& place, hir::PatId pat, const hir::RangePat& node) {
    MatchPair pair{.kind = MatchPair::Kind::Range, .place = place, .span = b_.hir_.pats[pat].span};
    const auto bound = [&](hir::PatId end, ScalarBits& bits, bool& has) {
        if (!end.valid()) return;
        const check::ConstValue* value = b_.tables_.pat_values[end];
        OCKC_CHECK(value != nullptr);
        bits = {value->bits[0], value->bits[1]};
        has = true;
    };
    bound(node.from, pair.low, pair.has_low);
    bound(node.to, pair.high, pair.has_high);
    pair.high_included = node.end == hir::RangeEnd::Included;
    if (pair.has_low || pair.has_high) add_pair(out, std::move(pair));
}

void MatchBuilder::add_value(FlatPattern& out, PlaceBuilder place, const check::ConstValue& value, Span span) {
    switch (value.kind) {
        case check::ConstValue::Kind::Scalar: {
            const bool is_float = b_.types_.kind(place.type) == TypeKind::Float;
            MatchPair pair{.kind = is_float ? MatchPair::Kind::Value : MatchPair::Kind::Int, .place = place, .span = span};
            pair.low = {value.bits[0], value.bits[1]};
            return add_pair(out, std::move(pair));
        }
        case check::ConstValue::Kind::Aggregate: return add_aggregate(out, place, value, span);
        case check::ConstValue::Kind::Ref:
            b_.deref(place, b_.pointee(place.type));
            return add_value(out, place, *value.target, span);
        case check::ConstValue::Kind::Bytes: return add_bytes(out, place, value.bytes, span);
        case check::ConstValue::Kind::StaticRef:
        case check::ConstValue::Kind::FnItem:
        case check::ConstValue::Kind::FnPtr:
        case check::ConstValue::Kind::Uninit: break;   // refused as patterns
    }
    OCKC_UNREACHABLE("a constant that is no pattern");
}

// Text: its length, then its bytes.
void MatchBuilder::add_bytes(FlatPattern& out, const PlaceBuilder& place, std::string_view bytes, Span span) {
    FlatPattern inner;
    const TypeId byte = b_.types_.int_type(types::IntKind::U8);
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        MatchPair pair{.kind = MatchPair::Kind::Int, .place = element(place, byte, i, bytes.size(), false), .span = span};
        pair.low = {static_cast<unsigned char>(bytes[i]), 0};
        add_pair(inner, std::move(pair));
    }
    MatchPair pair{.kind = MatchPair::Kind::Slice, .place = place, .span = span};
    pair.length = bytes.size();
    pair.subpairs = std::move(inner.pairs);
    add_pair(out, std::move(pair));
}

void MatchBuilder::add_aggregate(FlatPattern& out, const PlaceBuilder& place, const check::ConstValue& value, Span span) {
    const types::TypeData data = b_.types_[place.type];
    FlatPattern inner;
    if (data.kind == TypeKind::Array || data.kind == TypeKind::Slice) {
        for (std::size_t i = 0; i < value.fields.size(); ++i) {
            add_value(inner, element(place, data.element, i, value.fields.size(), false), *value.fields[i], span);
        }
        if (data.kind == TypeKind::Array) {
            for (MatchPair& part : inner.pairs) add_pair(out, std::move(part));
            return;
        }
        MatchPair pair{.kind = MatchPair::Kind::Slice, .place = place, .span = span};
        pair.length = value.fields.size();
        pair.subpairs = std::move(inner.pairs);
        return add_pair(out, std::move(pair));
    }
    const bool is_enum = data.kind == TypeKind::Adt && b_.context_.adt(data.def).kind == check::AdtInfo::Kind::Enum;
    for (std::uint32_t i = 0; i < value.fields.size(); ++i) {
        PlaceBuilder part = place;
        if (is_enum) b_.downcast(part, value.variant);
        b_.field(part, i, b_.field_type(place.type, value.variant, i));
        add_value(inner, part, *value.fields[i], span);
    }
    if (data.kind == TypeKind::Adt) {
        MatchPair pair{.kind = MatchPair::Kind::Variant, .place = place, .span = span, .variant = value.variant};
        return add_adt_test(out, std::move(pair), std::move(inner));
    }
    for (MatchPair& part : inner.pairs) add_pair(out, std::move(part));
}

}  // namespace ockc::mir
