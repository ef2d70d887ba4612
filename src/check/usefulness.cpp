#include "check/usefulness.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>

#include "types/print.hpp"

namespace ockc::check {

using UInt128 = unsigned __int128;
using Kind = Constructor::Kind;

namespace {
constexpr std::uint64_t kStepLimit = 2'000'000;
constexpr std::size_t kWitnessLimit = 64;

bool is_pointer_sized(const TypeData& data) {
    return data.kind == TypeKind::Int && (data.int_kind == types::IntKind::Usize || data.int_kind == types::IntKind::Isize);
}
UInt128 all_ones(std::uint32_t bits) { return bits >= 128 ? ~UInt128{0} : (UInt128{1} << bits) - 1; }
}  // namespace

MatchPat* Usefulness::make(Constructor ctor, std::vector<const MatchPat*> fields, TypeId type) {
    store_.push_back({std::move(ctor), std::move(fields), type});
    return &store_.back();
}

// ---- integers as ordered keys --------------------------------------------------------------------------------------------------------------

UInt128 Usefulness::range_key(TypeId type, UInt128 bits) const {
    const TypeData& data = types_[type];
    if (data.kind != TypeKind::Int || !types::int_signed(data.int_kind)) return bits;
    const std::uint32_t width = types::int_bits(data.int_kind);
    const UInt128 flipped = (bits ^ UInt128{1} << (width - 1)) & all_ones(width);
    return is_pointer_sized(data) ? flipped + 1 : flipped;
}

void Usefulness::full_range(TypeId type, UInt128& low, UInt128& high) const {
    const TypeData& data = types_[type];
    low = 0;
    switch (data.kind) {
        case TypeKind::Bool: high = 1; return;
        case TypeKind::Char: high = 0x10FFFF; return;
        case TypeKind::Int:
            high = all_ones(types::int_bits(data.int_kind));
            if (data.int_kind == types::IntKind::Usize) high += 1;
            if (data.int_kind == types::IntKind::Isize) high += 2;
            return;
        default: high = 0; return;
    }
}

std::string Usefulness::key_text(TypeId type, UInt128 key) {
    const TypeData& data = types_[type];
    if (data.kind != TypeKind::Int) return types::scalar_text(types_, type, static_cast<std::uint64_t>(key), 0);
    const std::uint32_t width = types::int_bits(data.int_kind);
    UInt128 bits = key;
    if (types::int_signed(data.int_kind)) {
        if (is_pointer_sized(data)) bits -= 1;
        bits = (bits ^ UInt128{1} << (width - 1)) & all_ones(width);
    }
    const UInt128 max = types::int_signed(data.int_kind) ? all_ones(width - 1) : all_ones(width);
    if (bits == max && (width > 8 || !is_pointer_sized(data))) return fmt::format("{}::MAX", types::int_name(data.int_kind));
    if (types::int_signed(data.int_kind) && bits == max + 1) return fmt::format("{}::MIN", types::int_name(data.int_kind));
    return fmt::format("{}_{}", types::scalar_text(types_, type, static_cast<std::uint64_t>(bits), static_cast<std::uint64_t>(bits >> 64)), types::int_name(data.int_kind));
}

std::string Usefulness::range_text(const Constructor& ctor, TypeId type) {
    const TypeData& data = types_[type];
    UInt128 low = 0, high = 0;
    full_range(type, low, high);
    if (data.kind == TypeKind::Bool) return ctor.low == ctor.high ? (ctor.low != 0 ? "true" : "false") : "_";
    if (ctor.low == low && ctor.high == high) return "_";
    if (is_pointer_sized(data)) {
        if (ctor.high == high) return ctor.low == high ? fmt::format("{}::MAX..", types::int_name(data.int_kind)) : fmt::format("{}..", key_text(type, ctor.low));
        if (ctor.low == low && data.int_kind == types::IntKind::Isize) return ctor.high == low ? fmt::format("..{}::MIN", types::int_name(data.int_kind)) : fmt::format("..={}", key_text(type, ctor.high));
    }
    if (ctor.low == ctor.high) return key_text(type, ctor.low);
    return fmt::format("{}..={}", key_text(type, ctor.low), key_text(type, ctor.high));
}

// ---- what types are made of -----------------------------------------------------------------------------------------------------------------

bool Usefulness::is_uninhabited(TypeId type) {
    const TypeData data = types_[type];
    if (data.kind == TypeKind::Never) return true;
    if (uninhabited_depth_ > 16) return false;
    ++uninhabited_depth_;
    bool result = false;
    if (data.kind == TypeKind::Tuple) {
        for (TypeId element : types_[data.elements]) result |= is_uninhabited(element);
    } else if (data.kind == TypeKind::Array) {
        const auto length = cx_.usize_value(data.length);
        result = length && *length != 0 && is_uninhabited(data.element);
    } else if (data.kind == TypeKind::Adt) {
        const AdtInfo& adt = cx_.adt(data.def);
        const auto variant_empty = [&](const VariantInfo& variant) {
            return std::any_of(variant.fields.begin(), variant.fields.end(), [&](const FieldInfo& field) { return is_uninhabited(cx_.field_type(field, data.args, env_)); });
        };
        result = adt.kind != AdtInfo::Kind::Union && std::all_of(adt.variants.begin(), adt.variants.end(), variant_empty);
    }
    --uninhabited_depth_;
    return result;
}

std::vector<TypeId> Usefulness::field_types(const Constructor& ctor, TypeId type) {
    const TypeData data = types_[type];
    std::vector<TypeId> out;
    switch (data.kind) {
        case TypeKind::Tuple: {
            const auto elements = types_[data.elements];
            out.assign(elements.begin(), elements.end());
            break;
        }
        case TypeKind::Ref: out.push_back(data.element); break;
        case TypeKind::Array:
        case TypeKind::Slice: out.assign(ctor.before + ctor.after, data.element); break;
        case TypeKind::Adt: {
            const AdtInfo& adt = cx_.adt(data.def);
            if (adt.variants.empty()) break;
            const VariantInfo& variant = adt.variants[ctor.kind == Kind::Variant ? ctor.index : 0];
            for (const FieldInfo& field : variant.fields) out.push_back(cx_.field_type(field, data.args, env_));
            break;
        }
        default: break;
    }
    if (ctor.kind == Kind::Range || ctor.kind == Kind::Float || ctor.kind == Kind::Text || ctor.kind == Kind::Missing || ctor.kind == Kind::Opaque) out.clear();
    return out;
}

// ---- splitting the constructors of a column -----------------------------------------------------------------------------------------------------

void Usefulness::split_ranges(const std::vector<Row>& rows, TypeId type, Split& out) {
    // Every border where some range begins or has ended.
    std::set<UInt128> starts;
    std::vector<const Constructor*> ranges;
    UInt128 low = 0, high = 0;
    full_range(type, low, high);
    for (const Row& row : rows) {
        const Constructor& c = row.patterns.back()->ctor;
        if (c.kind != Kind::Range || c.low > c.high) continue;
        ranges.push_back(&c);
        starts.insert(c.low);
        if (c.high != high) starts.insert(c.high + 1);
    }
    starts.insert(low);
    if (types_.kind(type) == TypeKind::Char) {
        starts.insert(0xD800);
        starts.insert(0xE000);
    }
    std::sort(ranges.begin(), ranges.end(), [](const Constructor* a, const Constructor* b) { return a->low < b->low; });
    // No range begins or ends inside a piece: one that begins before it and reaches its end covers it.
    std::size_t begun = 0;
    UInt128 reach = 0;
    for (auto it = starts.begin(); it != starts.end(); ++it) {
        const auto next = std::next(it);
        Constructor piece;
        piece.kind = Kind::Range;
        piece.low = *it;
        piece.high = next == starts.end() ? high : *next - 1;
        if (types_.kind(type) == TypeKind::Char && piece.low == 0xD800) continue;   // surrogates are no characters
        for (; begun < ranges.size() && ranges[begun]->low <= piece.low; ++begun) reach = std::max(reach, ranges[begun]->high);
        const bool seen = begun != 0 && piece.high <= reach;
        auto& list = seen ? out.present : out.missing;
        // Neighbouring missing pieces are one.
        if (!seen && !list.empty() && list.back().high + 1 == piece.low) {
            list.back().high = piece.high;
        } else {
            list.push_back(piece);
        }
    }
}

void Usefulness::split_slices(const std::vector<Row>& rows, TypeId type, Split& out) {
    const TypeData data = types_[type];
    std::uint32_t max_fixed = 0, max_before = 0, max_after = 0;
    bool any = false;
    for (const Row& row : rows) {
        const Constructor& c = row.patterns.back()->ctor;
        if (c.kind != Kind::Slice) continue;
        any = true;
        if (c.is_open) {
            max_before = std::max(max_before, c.before);
            max_after = std::max(max_after, c.after);
        } else {
            max_fixed = std::max(max_fixed, c.before + c.after + 1);
        }
    }
    std::vector<Constructor> all;
    const auto fixed = [](std::uint32_t length) {
        Constructor c;
        c.kind = Kind::Slice;
        c.before = length;
        return c;
    };
    if (data.kind == TypeKind::Array) {
        const auto length = cx_.usize_value(data.length);
        if (!length || *length > 4096) {
            out.all_listed = false;
            return;
        }
        all.push_back(fixed(static_cast<std::uint32_t>(*length)));
    } else {
        const std::uint32_t border = std::max(max_fixed, max_before + max_after);
        for (std::uint32_t length = 0; length < border; ++length) all.push_back(fixed(length));
        Constructor rest;
        rest.kind = Kind::Slice;
        rest.before = border - max_after;
        rest.after = max_after;
        rest.is_open = true;
        all.push_back(rest);
    }
    for (const Constructor& ctor : all) {
        bool seen = false;
        for (const Row& row : rows) seen |= any && row.patterns.back()->ctor.kind == Kind::Slice && covers(row.patterns.back()->ctor, ctor);
        (seen ? out.present : out.missing).push_back(ctor);
    }
}

Usefulness::Split Usefulness::split(const std::vector<Row>& rows, TypeId type) {
    Split out;
    const TypeData data = types_[type];
    switch (data.kind) {
        case TypeKind::Bool:
        case TypeKind::Char:
        case TypeKind::Int: split_ranges(rows, type, out); return out;
        case TypeKind::Array:
        case TypeKind::Slice: split_slices(rows, type, out); return out;
        case TypeKind::Never: return out;
        case TypeKind::Adt: {
            const AdtInfo& adt = cx_.adt(data.def);
            if (adt.kind == AdtInfo::Kind::Union) {
                out.all_listed = false;
                break;
            }
            for (std::uint32_t i = 0; i < adt.variants.size(); ++i) {
                Constructor c;
                c.kind = adt.kind == AdtInfo::Kind::Enum ? Kind::Variant : Kind::Single;
                c.index = i;
                bool seen = false;
                for (const Row& row : rows) seen |= covers(row.patterns.back()->ctor, c) && row.patterns.back()->ctor.kind != Kind::Wildcard;
                if (!seen) {
                    bool empty = false;
                    for (TypeId field : field_types(c, type)) empty |= is_uninhabited(field);
                    if (empty) continue;   // no value has this form
                }
                (seen ? out.present : out.missing).push_back(c);
            }
            // The library may come to have more of them.
            const hir::Program& program = cx_.program();
            const bool open = program.crates[program.defs[data.def].crate].is_library && program.attribute(data.def, hir::AttributeKind::NonExhaustive) != nullptr;
            if (open && adt.kind == AdtInfo::Kind::Enum) out.all_listed = false;
            return out;
        }
        case TypeKind::Tuple:
        case TypeKind::Ref: {
            Constructor c;
            c.kind = Kind::Single;
            out.present.push_back(c);
            return out;
        }
        default: out.all_listed = false; break;
    }
    // Constants without an end: each distinct one, and all the others.
    for (const Row& row : rows) {
        const Constructor& c = row.patterns.back()->ctor;
        if (c.kind != Kind::Float && c.kind != Kind::Text) continue;
        const bool known = std::any_of(out.present.begin(), out.present.end(), [&](const Constructor& p) { return p.kind == c.kind && p.low == c.low && p.high == c.high && p.text == c.text; });
        if (!known) out.present.push_back(c);
    }
    return out;
}

bool Usefulness::covers(const Constructor& pattern, const Constructor& ctor) const {
    if (pattern.kind == Kind::Wildcard) return true;
    if (ctor.kind == Kind::Missing || pattern.kind == Kind::Opaque) return false;
    if (pattern.kind != ctor.kind) return false;
    switch (pattern.kind) {
        case Kind::Single: return true;
        case Kind::Variant: return pattern.index == ctor.index;
        case Kind::Range:
        case Kind::Float: return pattern.low <= ctor.low && ctor.high <= pattern.high;
        case Kind::Text: return pattern.text == ctor.text;
        case Kind::Slice:
            if (!pattern.is_open) return !ctor.is_open && pattern.before + pattern.after == ctor.before + ctor.after;
            return pattern.before + pattern.after <= ctor.before + ctor.after;
        case Kind::Wildcard:
        case Kind::Opaque:
        case Kind::Or:
        case Kind::Missing: return false;
    }
    return false;
}

std::vector<const MatchPat*> Usefulness::specialize(const MatchPat& pattern, const Constructor& ctor, const std::vector<TypeId>& fields) {
    std::vector<const MatchPat*> out;
    if (pattern.ctor.kind == Kind::Wildcard || pattern.ctor.kind != Kind::Slice) {
        for (std::size_t i = 0; i < fields.size(); ++i) out.push_back(i < pattern.fields.size() ? pattern.fields[i] : wildcard(fields[i]));
        return out;
    }
    // A slice pattern spread over the constructor's length.
    const std::size_t total = ctor.before + ctor.after;
    for (std::size_t i = 0; i < total; ++i) {
        if (i < pattern.ctor.before) {
            out.push_back(pattern.fields[i]);
        } else if (i >= total - pattern.ctor.after) {
            out.push_back(pattern.fields[pattern.ctor.before + (i - (total - pattern.ctor.after))]);
        } else {
            out.push_back(wildcard(fields[i]));
        }
    }
    return out;
}

// ---- the algorithm -----------------------------------------------------------------------------------------------------------------------------------

void Usefulness::expand_or(std::vector<Row>& rows) {
    for (std::size_t i = 0; i < rows.size();) {
        if (rows[i].patterns.back()->ctor.kind != Kind::Or) {
            ++i;
            continue;
        }
        const Row row = rows[i];
        std::vector<Row> expanded;
        for (const MatchPat* alternative : row.patterns.back()->fields) {
            expanded.push_back(row);
            expanded.back().patterns.back() = alternative;
        }
        rows.erase(rows.begin() + static_cast<std::ptrdiff_t>(i));
        rows.insert(rows.begin() + static_cast<std::ptrdiff_t>(i), expanded.begin(), expanded.end());
    }
}

// Does the first row take every value? Then no later one is reached from here: what has one pattern a column, `(true, _, _)`,
// `(_, true, _)` .., would otherwise be split in all ways.
bool Usefulness::taken_whole(const std::vector<Row>& rows, const std::vector<TypeId>& columns) {
    if (std::any_of(columns.begin(), columns.end(), [&](TypeId type) { return is_uninhabited(type); })) return false;
    for (const Row& row : rows) {
        const bool all = std::all_of(row.patterns.begin(), row.patterns.end(), [](const MatchPat* pattern) { return pattern->ctor.kind == Kind::Wildcard; });
        if (!all) return false;
        useful_[row.arm] = true;
        if (!row.guarded) return true;
    }
    return false;
}

// Is a row that takes every value among them, and is it known already that each row up to it can match? Then nothing is left to
// find out here: many arms over many columns, `[true, _, false, ..]`, are told apart long before all ways are gone.
bool Usefulness::nothing_to_learn(const std::vector<Row>& rows) {
    for (const Row& row : rows) {
        if (!useful_[row.arm]) return false;
        const bool all = std::all_of(row.patterns.begin(), row.patterns.end(), [](const MatchPat* pattern) { return pattern->ctor.kind == Kind::Wildcard; });
        if (all && !row.guarded) return true;
    }
    return false;
}

// Which rows a constructor of the last column must be tried on: of a column with many single numbers only those of that number, and
// whatever is no single number.
Usefulness::RowIndex::RowIndex(const std::vector<Row>& rows) {
    for (std::uint32_t i = 0; i < rows.size(); ++i) {
        const Constructor& head = rows[i].patterns.back()->ctor;
        if (head.kind == Kind::Range && head.low == head.high) {
            single_.emplace_back(head.low, i);
        } else {
            others_.push_back(i);
        }
    }
    std::sort(single_.begin(), single_.end());
}

std::vector<std::uint32_t> Usefulness::RowIndex::candidates(const Constructor& ctor) const {
    if (single_.empty()) return others_;
    std::vector<std::uint32_t> own;
    if (ctor.kind == Kind::Range && ctor.low == ctor.high) {
        for (auto at = std::lower_bound(single_.begin(), single_.end(), std::pair(ctor.low, 0u)); at != single_.end() && at->first == ctor.low; ++at) own.push_back(at->second);
    }
    std::vector<std::uint32_t> all;
    std::merge(own.begin(), own.end(), others_.begin(), others_.end(), std::back_inserter(all));
    return all;
}

std::vector<Usefulness::Witness> Usefulness::solve(std::vector<Row> rows, std::vector<TypeId> columns, bool top) {
    if (++steps_ > kStepLimit) return {};
    if (columns.empty()) {
        for (const Row& row : rows) {
            useful_[row.arm] = true;
            if (!row.guarded) return {};
        }
        return {Witness{}};
    }
    expand_or(rows);
    if (taken_whole(rows, columns) || nothing_to_learn(rows)) return {};
    for (const Row& row : rows) {   // what cannot be compared with others is no dead arm either
        if (row.patterns.back()->ctor.kind == Kind::Opaque) useful_[row.arm] = true;
        if (row.patterns.back()->ctor.kind == Kind::Wildcard && row.patterns.size() == 1 && !row.guarded) break;
    }
    const TypeId type = columns.back();
    columns.pop_back();
    const Split parts = split(rows, type);
    std::vector<Constructor> todo = parts.present;
    const bool has_missing = !parts.missing.empty() || !parts.all_listed;
    if (has_missing) {
        Constructor missing;
        missing.kind = Kind::Missing;
        todo.push_back(missing);
    }
    std::vector<Witness> out;
    const RowIndex index(rows);
    for (const Constructor& ctor : todo) {
        const std::vector<TypeId> fields = field_types(ctor, type);
        std::vector<TypeId> inner = columns;
        inner.insert(inner.end(), fields.rbegin(), fields.rend());
        std::vector<Row> matching;
        for (const std::uint32_t i : index.candidates(ctor)) {
            const Row& row = rows[i];
            const MatchPat& head = *row.patterns.back();
            if (!covers(head.ctor, ctor)) continue;
            Row next{{row.patterns.begin(), row.patterns.end() - 1}, row.guarded, row.arm};
            const auto parts_of = specialize(head, ctor, fields);
            next.patterns.insert(next.patterns.end(), parts_of.rbegin(), parts_of.rend());
            matching.push_back(std::move(next));
        }
        for (Witness& witness : solve(std::move(matching), std::move(inner), false)) {
            if (out.size() >= kWitnessLimit) break;
            std::vector<std::string> texts(witness.rbegin(), witness.rbegin() + static_cast<std::ptrdiff_t>(fields.size()));
            witness.resize(witness.size() - fields.size());
            if (ctor.kind != Kind::Missing) {
                witness.push_back(text(ctor, type, texts));
                out.push_back(std::move(witness));
                continue;
            }
            // Name what is missing, unless that is everything.
            const bool all = parts.present.empty();
            const TypeKind kind = types_.kind(type);
            const bool is_enum = kind == TypeKind::Adt;
            if (!parts.all_listed || (all && !(top && is_enum))) {
                const bool reference = kind == TypeKind::Ref;
                witness.push_back(parts.all_listed || !reference ? "_" : "&_");
                out.push_back(std::move(witness));
                continue;
            }
            for (const Constructor& missing : parts.missing) {
                Witness named = witness;
                named.push_back(text(missing, type, std::vector<std::string>(field_types(missing, type).size(), "_")));
                out.push_back(std::move(named));
            }
        }
    }
    return out;
}

MatchReport Usefulness::check(const std::vector<MatchRow>& rows, TypeId scrutinee) {
    useful_.assign(rows.size(), false);
    steps_ = 0;
    std::vector<Row> start;
    for (std::uint32_t i = 0; i < rows.size(); ++i) start.push_back({{rows[i].pattern}, rows[i].guarded, i});
    MatchReport report;
    if (rows.empty()) {   // a reference to nothing is something
        if (!is_uninhabited(scrutinee)) report.witnesses.emplace_back("_");
        return report;
    }
    for (const Witness& witness : solve(std::move(start), {scrutinee}, true)) report.witnesses.push_back(witness.back());
    report.useful = useful_;
    report.too_complex = steps_ > kStepLimit;
    return report;
}

// ---- witnesses as text ---------------------------------------------------------------------------------------------------------------------------------

std::string Usefulness::text(const Constructor& ctor, TypeId type, const std::vector<std::string>& fields) {
    const TypeData data = types_[type];
    switch (ctor.kind) {
        case Kind::Range: return range_text(ctor, type);
        case Kind::Slice: {
            std::string out = "[";
            for (std::size_t i = 0; i < fields.size(); ++i) {
                if (ctor.is_open && i == ctor.before) out += i == 0 ? ".., " : ".., ";
                out += fields[i];
                if (i + 1 != fields.size() || (ctor.is_open && i + 1 == ctor.before)) out += ", ";
            }
            if (ctor.is_open && ctor.before == fields.size()) out += "..";
            return out + "]";
        }
        case Kind::Single:
        case Kind::Variant: break;
        case Kind::Float:
        case Kind::Text:
        case Kind::Wildcard:
        case Kind::Opaque:
        case Kind::Or:
        case Kind::Missing: return "_";
    }
    if (data.kind == TypeKind::Ref) return "&" + fields[0];
    std::string list;
    for (std::size_t i = 0; i < fields.size(); ++i) list += (i == 0 ? "" : ", ") + fields[i];
    if (data.kind == TypeKind::Tuple) return "(" + list + (fields.size() == 1 ? ",)" : ")");
    if (data.kind != TypeKind::Adt) return "_";
    const AdtInfo& adt = cx_.adt(data.def);
    const VariantInfo& variant = adt.variants[ctor.kind == Kind::Variant ? ctor.index : 0];
    const hir::Program& program = cx_.program();
    std::string name(program.interner.text(variant.name));
    // The prelude's variants go by their own name.
    const bool plain = data.def == cx_.state().lang.option || data.def == cx_.state().lang.result || ctor.kind != Kind::Variant;
    if (!plain) name = fmt::format("{}::{}", program.name(data.def), name);
    switch (variant.form) {
        case hir::VariantForm::Unit: return name;
        case hir::VariantForm::Tuple: return fmt::format("{}({})", name, list);
        case hir::VariantForm::Named: break;
    }
    const bool all_wild = std::all_of(fields.begin(), fields.end(), [](const std::string& f) { return f == "_"; });
    if (all_wild && !fields.empty()) return fmt::format("{} {{ .. }}", name);
    std::string named;
    for (std::size_t i = 0; i < fields.size(); ++i) named += fmt::format("{}{}: {}", i == 0 ? "" : ", ", program.interner.text(variant.fields[i].name), fields[i]);
    return fmt::format("{} {{ {} }}", name, named);
}

}  // namespace ockc::check
