// Structs: fields sorted by descending alignment (by "effective" alignment, so that arrays of small things count as big), the
// one with the largest niche at the start of its group, or at the end when that leaves the niche nearer to an edge. That is
// the order rustc chooses; tests/unit/types compares with recorded rustc answers.
#include "types/layout.hpp"

#include <algorithm>
#include <bit>
#include <tuple>

#include "types/layout_builder.hpp"

namespace ockc::types {

namespace {
constexpr std::uint64_t kMaxSize = std::uint64_t{1} << 47;
constexpr std::uint32_t kMaxDepth = 256;
enum class NicheBias : std::uint8_t { Start, End };
}  // namespace

UInt128 bit_mask(std::uint32_t bytes) { return bytes >= 16 ? ~UInt128{0} : (UInt128{1} << (bytes * 8)) - 1; }

Scalar full_scalar(ScalarKind kind, std::uint32_t bytes, bool is_signed) {
    Scalar scalar;
    scalar.kind = kind;
    scalar.bytes = static_cast<std::uint8_t>(bytes);
    scalar.is_signed = is_signed;
    scalar.valid_high = bit_mask(bytes);
    return scalar;
}

Scalar pointer_scalar(bool non_null) {
    Scalar scalar = full_scalar(ScalarKind::Pointer, 8, false);
    if (non_null) scalar.valid_low = 1;
    return scalar;
}

UInt128 niche_available(const Scalar& scalar) {
    return (scalar.valid_low - (scalar.valid_high + 1)) & bit_mask(scalar.bytes);
}

bool niche_reserve(Scalar& scalar, UInt128 count, UInt128& start) {
    const UInt128 mask = bit_mask(scalar.bytes);
    if (count > niche_available(scalar)) return false;
    const auto move_start = [&] {
        start = (scalar.valid_low - count) & mask;
        scalar.valid_low = start;
    };
    const auto move_end = [&] {
        start = (scalar.valid_high + 1) & mask;
        scalar.valid_high = (scalar.valid_high + count) & mask;
    };
    const UInt128 distance_end_zero = mask - scalar.valid_high;
    if (scalar.valid_low > scalar.valid_high) {
        move_end();   // zero is taken
    } else if (scalar.valid_low <= distance_end_zero) {
        if (count <= scalar.valid_low) {
            move_start();
        } else {
            move_end();
        }
    } else {
        const UInt128 end = (scalar.valid_high + count) & mask;
        if (end >= 1 && end <= scalar.valid_high) {
            move_start();
        } else {
            move_end();
        }
    }
    return true;
}

void set_niche(Layout& layout, std::uint64_t offset, const Scalar& scalar) {
    layout.has_niche = niche_available(scalar) != 0;
    layout.niche_offset = offset;
    layout.niche = scalar;
}

namespace {

// One arrangement of the fields, with niches pulled toward one end of their group.
class StructArranger {
  public:
    StructArranger(const Fields& fields, const Repr& repr, const StructKind& kind, NicheBias bias)
        : fields_(fields), repr_(repr), kind_(kind), bias_(bias) {}

    Layout run() {
        order();
        place();
        return std::move(layout_);
    }

  private:
    std::uint64_t group_key(const Layout& field) const {
        if (repr_.pack != 0) return std::min(field.align, repr_.pack);
        const auto size_as_align = static_cast<std::uint64_t>(std::countr_zero(std::max<std::uint64_t>(field.align, field.size)));
        if (largest_niche_ == 0) return size_as_align;
        if (bias_ == NicheBias::Start) return std::min(static_cast<std::uint64_t>(std::countr_zero(max_align_)), size_as_align);
        if (niche_available(field) == largest_niche_) return static_cast<std::uint64_t>(std::countr_zero(field.align));
        return size_as_align;
    }

    std::uint64_t inner_niche_key(const Layout& field) const {
        if (!field.has_niche) return 0;
        return bias_ == NicheBias::Start ? field.niche_offset : ~(field.size - field.niche.bytes - field.niche_offset);
    }

    void order() {
        for (std::uint32_t i = 0; i < fields_.size(); ++i) order_.push_back(i);
        if (repr_.c || repr_.has_int || repr_.simd || fields_.size() < 2) return;
        const std::size_t movable = kind_.fixed_tail ? fields_.size() - 1 : fields_.size();
        for (std::size_t i = 0; i < movable; ++i) {
            max_align_ = std::max(max_align_, fields_[i]->align);
            largest_niche_ = std::max(largest_niche_, niche_available(*fields_[i]));
        }
        const auto last = order_.begin() + static_cast<std::ptrdiff_t>(movable);
        if (kind_.prefixed) {
            std::stable_sort(order_.begin(), last, [&](std::uint32_t a, std::uint32_t b) {
                const Layout &x = *fields_[a], &y = *fields_[b];
                return std::tuple(group_key(x), niche_available(x)) < std::tuple(group_key(y), niche_available(y));
            });
            return;
        }
        const auto key = [&](const Layout& f) {
            const UInt128 niche = bias_ == NicheBias::Start ? ~niche_available(f) : niche_available(f);
            return std::tuple(~group_key(f), niche, inner_niche_key(f));
        };
        std::stable_sort(order_.begin(), last,
                         [&](std::uint32_t a, std::uint32_t b) { return key(*fields_[a]) < key(*fields_[b]); });
    }

    void place() {
        layout_.offsets.assign(fields_.size(), 0);
        std::uint64_t offset = 0;
        if (kind_.prefixed) {
            const std::uint32_t prefix_align = repr_.pack != 0 ? std::min(kind_.prefix_align, repr_.pack) : kind_.prefix_align;
            layout_.align = prefix_align;
            offset = align_up(kind_.prefix_size, prefix_align);
        }
        UInt128 best = 0;
        for (std::uint32_t index : order_) {
            const Layout& field = *fields_[index];
            const std::uint32_t align = repr_.pack != 0 ? std::min(field.align, repr_.pack) : field.align;
            offset = align_up(offset, align);
            layout_.align = std::max(layout_.align, align);
            layout_.offsets[index] = offset;
            if (field.abi == AbiKind::Uninhabited) layout_.abi = AbiKind::Uninhabited;
            const UInt128 available = niche_available(field);
            if (available != 0 && (bias_ == NicheBias::Start ? available > best : available >= best)) {
                best = available;
                set_niche(layout_, offset + field.niche_offset, field.niche);
            }
            if (field.is_unsized) layout_.is_unsized = true;
            offset += field.is_unsized ? 0 : field.size;
        }
        layout_.align = std::max(layout_.align, repr_.align);
        layout_.size = align_up(offset, layout_.align);
    }

    const Fields& fields_;
    const Repr& repr_;
    const StructKind& kind_;
    NicheBias bias_;
    std::vector<std::uint32_t> order_;
    std::uint32_t max_align_ = 1;
    UInt128 largest_niche_ = 0;
    Layout layout_;
};

std::uint64_t edge_distance(const Layout& layout) {
    return std::min(layout.niche_offset, layout.size - layout.niche_offset - layout.niche.bytes);
}

}  // namespace

Layout univariant(const Fields& fields, const Repr& repr, const StructKind& kind) {
    Layout layout = StructArranger(fields, repr, kind, NicheBias::Start).run();
    if (kind.fixed_tail || !layout.has_niche || fields.size() < 2 || edge_distance(layout) == 0) return layout;
    Layout other = StructArranger(fields, repr, kind, NicheBias::End).run();
    return edge_distance(layout) > edge_distance(other) ? other : layout;
}

void set_struct_abi(Layout& layout, const Fields& fields) {
    if (layout.abi == AbiKind::Uninhabited || layout.size == 0 || layout.is_unsized) return;
    std::vector<std::uint32_t> solid;
    for (std::uint32_t i = 0; i < fields.size(); ++i) {
        if (fields[i]->size != 0) solid.push_back(i);
    }
    if (solid.size() == 1) {
        const Layout& field = *fields[solid[0]];
        if (layout.offsets[solid[0]] != 0 || field.size != layout.size) return;
        layout.abi = field.abi;
        layout.scalars = field.scalars;
        layout.pair_offset = field.pair_offset;
        return;
    }
    if (solid.size() != 2) return;
    if (layout.offsets[solid[0]] > layout.offsets[solid[1]]) std::swap(solid[0], solid[1]);
    const Layout &a = *fields[solid[0]], &b = *fields[solid[1]];
    if (a.abi != AbiKind::Scalar || b.abi != AbiKind::Scalar || layout.offsets[solid[0]] != 0) return;
    layout.abi = AbiKind::ScalarPair;
    layout.scalars = {a.scalars[0], b.scalars[0]};
    layout.pair_offset = static_cast<std::uint32_t>(layout.offsets[solid[1]]);
}

namespace {

Layout scalar_layout(const Scalar& scalar) {
    Layout layout;
    layout.size = scalar.bytes;
    layout.align = scalar.bytes;
    layout.abi = AbiKind::Scalar;
    layout.scalars[0] = scalar;
    set_niche(layout, 0, scalar);
    return layout;
}

Layout failed(LayoutError error) {
    Layout layout;
    layout.error = error;
    return layout;
}

Layout sequence(const Layout& element, std::uint64_t count) {
    Layout layout;
    layout.align = element.align;
    layout.stride = element.size;
    layout.count = count;
    layout.size = element.size * count;
    if (count != 0 && element.abi == AbiKind::Uninhabited) layout.abi = AbiKind::Uninhabited;
    return layout;
}

}  // namespace

Layout LayoutBuilder::build(TypeId type) {
    const TypeData data = types_[type];
    switch (data.kind) {
        case TypeKind::Error:
        case TypeKind::Param:
        case TypeKind::Projection:
        case TypeKind::Opaque:
        case TypeKind::Infer: return failed(LayoutError::Generic);
        case TypeKind::Never: {
            Layout layout;
            layout.abi = AbiKind::Uninhabited;
            return layout;
        }
        case TypeKind::Bool: {
            Scalar scalar = full_scalar(ScalarKind::Int, 1, false);
            scalar.valid_high = 1;
            return scalar_layout(scalar);
        }
        case TypeKind::Char: {
            Scalar scalar = full_scalar(ScalarKind::Int, 4, false);
            scalar.valid_high = 0x10FFFF;
            return scalar_layout(scalar);
        }
        case TypeKind::Int: return scalar_layout(full_scalar(ScalarKind::Int, int_bits(data.int_kind) / 8, int_signed(data.int_kind)));
        case TypeKind::Float: {
            const ScalarKind kind = data.float_kind == FloatKind::BF16 ? ScalarKind::BFloat : ScalarKind::Float;
            return scalar_layout(full_scalar(kind, float_bits(data.float_kind) / 8, true));
        }
        case TypeKind::Str: {
            Layout layout = sequence(scalar_layout(full_scalar(ScalarKind::Int, 1, false)), 0);
            layout.is_unsized = true;
            return layout;
        }
        case TypeKind::Slice: {
            const Layout& element = cache_.layout_of(data.element);
            if (element.error != LayoutError::None) return failed(element.error);
            Layout layout = sequence(element, 0);
            layout.is_unsized = true;
            return layout;
        }
        case TypeKind::Array: return build_array(data);
        case TypeKind::Ref: return build_pointer(data.element, true);
        case TypeKind::RawPtr: return build_pointer(data.element, false);
        case TypeKind::FnPtr: return scalar_layout(pointer_scalar(true));
        case TypeKind::FnDef: return Layout{};
        case TypeKind::Tuple: {
            const auto elements = types_[data.elements];
            return build_struct({elements.begin(), elements.end()}, Repr{}, !elements.empty());
        }
        case TypeKind::Adt:
        case TypeKind::Closure: return build_adt(type);
    }
    OCKC_UNREACHABLE("type kind");
}

Layout LayoutBuilder::build_array(const TypeData& data) {
    const ConstData& length = types_[data.length];
    if (length.kind != ConstKind::Value) return failed(LayoutError::Generic);
    const std::uint64_t count = length.bits[0];
    const Layout& element = cache_.layout_of(data.element);
    if (element.error != LayoutError::None) return failed(element.error);
    if (element.is_unsized) return failed(LayoutError::Unsized);
    if (element.size != 0 && count > kMaxSize / element.size) return failed(LayoutError::TooLarge);
    Layout layout = sequence(element, count);
    if (count != 0) {
        layout.has_niche = element.has_niche;
        layout.niche_offset = element.niche_offset;
        layout.niche = element.niche;
    }
    return layout;
}

// A thin pointer, or pointer and length when the pointee is a slice or str.
Layout LayoutBuilder::build_pointer(TypeId pointee, bool non_null) {
    const Scalar pointer = pointer_scalar(non_null);
    const TypeKind kind = types_.kind(pointee);
    if (kind != TypeKind::Slice && kind != TypeKind::Str) return scalar_layout(pointer);
    Layout layout;
    layout.size = 16;
    layout.align = 8;
    layout.abi = AbiKind::ScalarPair;
    layout.scalars = {pointer, full_scalar(ScalarKind::Int, 8, false)};
    layout.pair_offset = 8;
    layout.offsets = {0, 8};
    set_niche(layout, 0, pointer);
    return layout;
}

bool LayoutBuilder::collect(const std::vector<TypeId>& types, Fields& fields, LayoutError& error) {
    for (std::size_t i = 0; i < types.size(); ++i) {
        const Layout& field = cache_.layout_of(types[i]);
        if (field.error != LayoutError::None) {
            error = field.error;
            return false;
        }
        if (field.is_unsized && i + 1 != types.size()) {
            error = LayoutError::Unsized;
            return false;
        }
        fields.push_back(&field);
    }
    return true;
}

Layout LayoutBuilder::build_struct(const std::vector<TypeId>& types, const Repr& repr, bool fixed_tail) {
    Fields fields;
    LayoutError error = LayoutError::None;
    if (!collect(types, fields, error)) return failed(error);
    StructKind kind;
    kind.fixed_tail = fixed_tail;
    Layout layout = univariant(fields, repr, kind);
    set_struct_abi(layout, fields);
    return layout;
}

Layout LayoutBuilder::build_adt(TypeId type) {
    const AdtShape shape = source_.adt_shape(type);
    Layout layout;
    switch (shape.kind) {
        case AdtShape::Kind::Struct: layout = build_struct(shape.variants[0].fields, shape.repr, shape.fixed_tail); break;
        case AdtShape::Kind::Union: layout = build_union(shape); break;
        case AdtShape::Kind::Enum: layout = build_enum(shape); break;
    }
    if (shape.hides_niches) layout.has_niche = false;
    if (shape.is_tile) layout.scalars[0].kind = ScalarKind::Tile;
    if (shape.has_valid_range && layout.abi == AbiKind::Scalar) {
        Scalar& scalar = layout.scalars[0];
        scalar.valid_low = static_cast<UInt128>(shape.valid_low[1]) << 64 | shape.valid_low[0];
        scalar.valid_high = static_cast<UInt128>(shape.valid_high[1]) << 64 | shape.valid_high[0];
        scalar.valid_high &= bit_mask(scalar.bytes);
        set_niche(layout, 0, scalar);
    }
    return layout;
}

Layout LayoutBuilder::build_union(const AdtShape& shape) {
    Fields fields;
    LayoutError error = LayoutError::None;
    if (!collect(shape.variants[0].fields, fields, error)) return failed(error);
    Layout layout;
    for (const Layout* field : fields) {
        layout.align = std::max(layout.align, shape.repr.pack != 0 ? std::min(field->align, shape.repr.pack) : field->align);
        layout.size = std::max(layout.size, field->size);
    }
    layout.align = std::max(layout.align, shape.repr.align);
    layout.size = align_up(layout.size, layout.align);
    layout.offsets.assign(fields.size(), 0);
    return layout;
}

Layout LayoutBuilder::build_enum(const AdtShape& shape) {
    std::vector<Fields> variants;
    LayoutError error = LayoutError::None;
    for (const VariantShape& variant : shape.variants) {
        Fields& fields = variants.emplace_back();
        if (!collect(variant.fields, fields, error)) return failed(error);
    }
    return enum_layout(shape, variants);
}

const Layout& LayoutCache::layout_of(TypeId type) {
    if (const auto found = cache_.find(type); found != cache_.end()) return *found->second;
    Layout layout;
    if (open_.size() >= kMaxDepth || std::find(open_.begin(), open_.end(), type) != open_.end()) {
        static const Layout recursive = failed(LayoutError::Recursive);
        return recursive;   // not cached: the types on the way say it
    }
    open_.push_back(type);
    layout = LayoutBuilder(*this, types_, source_).build(type);
    open_.pop_back();
    if (layout.size >= kMaxSize) layout = failed(LayoutError::TooLarge);
    return *cache_.emplace(type, std::make_unique<Layout>(std::move(layout))).first->second;
}

}  // namespace ockc::types
