// Enums: two candidates, a tag in front of the variants, or the niche of the largest variant as tag when all others fit
// around it. The smaller one wins; of equal sizes the one with more room for further niches, then the tagged one.
#include <algorithm>
#include <bit>
#include <optional>

#include "types/layout_builder.hpp"

namespace ockc::types {

namespace {

bool is_absent(const Fields& fields) {
    bool uninhabited = false;
    for (const Layout* field : fields) {
        uninhabited |= field->abi == AbiKind::Uninhabited;
        if (field->size != 0) return false;
    }
    return uninhabited;
}

bool any_uninhabited(const Fields& fields) {
    return std::any_of(fields.begin(), fields.end(), [](const Layout* f) { return f->abi == AbiKind::Uninhabited; });
}

bool all_uninhabited(const std::vector<Layout>& variants) {
    return std::all_of(variants.begin(), variants.end(), [](const Layout& v) { return v.abi == AbiKind::Uninhabited; });
}

bool has_fixed_layout(const Repr& repr) { return repr.c || repr.has_int; }

using Wide = __int128;

Wide discriminant(const AdtShape& shape, std::size_t i) {
    const auto& d = shape.variants[i].discriminant;
    return static_cast<Wide>(static_cast<UInt128>(d[1]) << 64 | d[0]);
}

bool has_counting_discriminants(const AdtShape& shape) {
    for (std::size_t i = 0; i < shape.variants.size(); ++i) {
        if (discriminant(shape, i) != static_cast<Wide>(i)) return false;
    }
    return true;
}

std::uint32_t unsigned_fit(UInt128 value) {
    for (std::uint32_t bytes = 1; bytes < 16; bytes *= 2) {
        if (value <= bit_mask(bytes)) return bytes;
    }
    return 16;
}

std::uint32_t signed_fit(Wide value) {
    for (std::uint32_t bytes = 1; bytes < 16; bytes *= 2) {
        const Wide limit = static_cast<Wide>(1) << (bytes * 8 - 1);
        if (value >= -limit && value < limit) return bytes;
    }
    return 16;
}

class EnumBuilder {
  public:
    EnumBuilder(const AdtShape& shape, const std::vector<Fields>& variants) : shape_(shape), variants_(variants) {}

    Layout run() {
        if (!has_fixed_layout(shape_.repr)) {
            std::vector<std::uint32_t> present;
            for (std::uint32_t i = 0; i < variants_.size(); ++i) {
                if (!is_absent(variants_[i])) present.push_back(i);
            }
            if (present.empty()) return uninhabited();
            if (present.size() == 1) return single(present[0]);
        } else if (variants_.empty()) {
            return uninhabited();
        }
        std::optional<Layout> niche = niche_filled();
        Layout tagged = with_tag();
        if (!niche) return tagged;
        if (tagged.size > niche->size) return std::move(*niche);
        if (tagged.size == niche->size && niche_available(tagged) < niche_available(*niche)) return std::move(*niche);
        return tagged;
    }

  private:
    static Layout uninhabited() {
        Layout layout;
        layout.abi = AbiKind::Uninhabited;
        return layout;
    }

    Layout single(std::uint32_t index) {
        Layout layout = univariant(variants_[index], shape_.repr, StructKind{});
        set_struct_abi(layout, variants_[index]);
        layout.single_variant = index;
        return layout;
    }

    std::optional<Layout> niche_filled() {
        if (has_fixed_layout(shape_.repr) || !has_counting_discriminants(shape_) || variants_.size() < 2) return std::nullopt;
        std::vector<Layout> layouts;
        Layout result;
        std::uint32_t largest = 0;
        for (std::uint32_t i = 0; i < variants_.size(); ++i) {
            layouts.push_back(single(i));
            result.align = std::max(result.align, layouts.back().align);
            if (layouts.back().size >= layouts[largest].size) largest = i;
        }
        const Layout payload = layouts[largest];
        if (!payload.has_niche) return std::nullopt;
        std::uint32_t first = 0xFFFF'FFFFu, last = 0;
        for (std::uint32_t i = 0; i < variants_.size(); ++i) {
            if (i == largest || is_absent(variants_[i])) continue;
            first = std::min(first, i);
            last = i;
        }
        result.tag = payload.niche;
        if (!niche_reserve(result.tag, last - first + 1, result.niche_start)) return std::nullopt;
        result.size = align_up(payload.size, result.align);
        if (!fit_around(layouts, largest, payload, result.size)) return std::nullopt;
        result.variants_kind = VariantsKind::Multiple;
        result.tag_encoding = TagEncoding::Niche;
        result.tag_offset = payload.niche_offset;
        result.untagged_variant = largest;
        result.niche_first = first;
        result.niche_last = last;
        set_niche_abi(result, layouts, largest, payload);
        set_niche(result, payload.niche_offset, result.tag);
        result.variants = std::move(layouts);
        return result;
    }

    // Moves the small variants before or behind the niche of the largest one.
    static bool fit_around(std::vector<Layout>& layouts, std::uint32_t largest, const Layout& payload, std::uint64_t size) {
        for (std::uint32_t i = 0; i < layouts.size(); ++i) {
            Layout& layout = layouts[i];
            layout.has_niche = false;
            if (i == largest || layout.size <= payload.niche_offset) continue;
            const std::uint64_t shift = align_up(payload.niche_offset + payload.niche.bytes, layout.align);
            if (shift + layout.size > size) return false;
            for (std::uint64_t& offset : layout.offsets) offset += shift;
            if (layout.abi != AbiKind::Uninhabited) layout.abi = AbiKind::Aggregate;
            layout.size += shift;
        }
        return true;
    }

    static void set_niche_abi(Layout& result, const std::vector<Layout>& layouts, std::uint32_t largest, const Layout& payload) {
        bool others_empty = true;
        for (std::uint32_t i = 0; i < layouts.size(); ++i) others_empty &= i == largest || layouts[i].size == 0;
        if (all_uninhabited(layouts)) {
            result.abi = AbiKind::Uninhabited;
        } else if (result.size == payload.size && result.align == payload.align && others_empty) {
            result.abi = payload.abi == AbiKind::Uninhabited ? AbiKind::Aggregate : payload.abi;
            result.scalars = payload.scalars;
            result.pair_offset = payload.pair_offset;
            if (result.abi == AbiKind::Scalar) result.scalars[0] = result.tag;
            if (result.abi == AbiKind::ScalarPair) {
                const std::size_t which = payload.niche_offset == 0 ? 0 : 1;
                Scalar& other = result.scalars[1 - which];
                result.scalars[which] = result.tag;
                other.valid_low = 0;   // only the niche is always initialised
                other.valid_high = bit_mask(other.bytes);
            }
        }
    }

    Layout with_tag() {
        Wide low = 0, high = 0;
        discriminant_range(low, high);
        const std::uint32_t min_bytes = tag_bytes(low, high);
        std::uint32_t prefix_align = min_bytes;
        if (shape_.repr.c) {
            for (const Fields& fields : variants_) {
                for (const Layout* field : fields) prefix_align = std::max(prefix_align, field->align);
            }
        }
        Layout result;
        std::uint32_t start_align = 256;
        std::vector<Layout> layouts;
        for (const Fields& fields : variants_) {
            layouts.push_back(univariant(fields, shape_.repr, StructKind{true, false, min_bytes, prefix_align}));
            start_align = std::min(start_align, first_field_align(layouts.back(), fields));
            result.size = std::max(result.size, layouts.back().size);
            result.align = std::max(result.align, layouts.back().align);
        }
        result.size = align_up(result.size, result.align);
        const std::uint32_t bytes = widen_tag(layouts, min_bytes, start_align);
        result.variants_kind = VariantsKind::Multiple;
        result.tag_encoding = TagEncoding::Direct;
        result.tag = full_scalar(ScalarKind::Int, bytes, low < 0 || (shape_.repr.has_int && int_signed(shape_.repr.int_kind)));
        result.tag.valid_low = static_cast<UInt128>(low) & bit_mask(bytes);
        result.tag.valid_high = static_cast<UInt128>(high) & bit_mask(bytes);
        set_tagged_abi(result, layouts);
        set_niche(result, 0, result.tag);
        result.variants = std::move(layouts);
        return result;
    }

    void discriminant_range(Wide& low, Wide& high) const {
        bool first = true;
        for (std::size_t i = 0; i < variants_.size(); ++i) {
            if (!shape_.repr.c && any_uninhabited(variants_[i])) continue;
            const Wide value = discriminant(shape_, i);
            low = first ? value : std::min(low, value);
            high = first ? value : std::max(high, value);
            first = false;
        }
    }

    std::uint32_t tag_bytes(Wide low, Wide high) const {
        if (shape_.repr.has_int) return int_bits(shape_.repr.int_kind) / 8;
        const std::uint32_t at_least = shape_.repr.c ? 4 : 1;
        if (low >= 0) return std::max(unsigned_fit(static_cast<UInt128>(high)), at_least);
        return std::max({signed_fit(low), signed_fit(high), at_least});
    }

    // Alignment of the first field that cannot make way for a wider tag.
    static std::uint32_t first_field_align(const Layout& layout, const Fields& fields) {
        std::uint64_t best_offset = ~std::uint64_t{0};
        std::uint32_t best = 256;
        for (std::size_t i = 0; i < fields.size(); ++i) {
            if (fields[i]->size == 0 && fields[i]->align == 1) continue;
            if (layout.offsets[i] < best_offset) {
                best_offset = layout.offsets[i];
                best = fields[i]->align;
            }
        }
        return best;
    }

    // A tag as wide as the gap before the payload costs nothing and is cheaper to read.
    std::uint32_t widen_tag(std::vector<Layout>& layouts, std::uint32_t min_bytes, std::uint32_t start_align) const {
        if (has_fixed_layout(shape_.repr)) return min_bytes;
        const std::uint32_t bytes = start_align <= 8 ? start_align : min_bytes;
        if (bytes <= min_bytes) return min_bytes;
        for (Layout& layout : layouts) {
            for (std::uint64_t& offset : layout.offsets) {
                if (offset <= min_bytes) offset = bytes;
            }
            if (layout.size <= min_bytes) layout.size = bytes;
        }
        return bytes;
    }

    void set_tagged_abi(Layout& result, const std::vector<Layout>& layouts) const {
        if (all_uninhabited(layouts)) {
            result.abi = AbiKind::Uninhabited;
        } else if (result.tag.bytes == result.size) {
            result.abi = AbiKind::Scalar;
            result.scalars[0] = result.tag;
        } else {
            set_common_pair(result, layouts);
        }
    }

    // (tag, payload) when every variant has at most one scalar, of one kind and at one offset.
    void set_common_pair(Layout& result, const std::vector<Layout>& layouts) const {
        std::optional<Scalar> common;
        std::uint64_t offset = 0;
        for (std::size_t v = 0; v < variants_.size(); ++v) {
            const Fields& fields = variants_[v];
            bool seen = false;
            for (std::size_t i = 0; i < fields.size(); ++i) {
                if (fields[i]->size == 0) continue;
                if (seen || fields[i]->abi != AbiKind::Scalar) return;
                seen = true;
                const Scalar& scalar = fields[i]->scalars[0];
                if (common && (common->kind != scalar.kind || common->bytes != scalar.bytes || offset != layouts[v].offsets[i])) return;
                common = full_scalar(scalar.kind, scalar.bytes, scalar.is_signed);
                offset = layouts[v].offsets[i];
            }
        }
        if (!common || align_up(result.tag.bytes, common->bytes) != offset) return;
        if (align_up(offset + common->bytes, result.align) != result.size) return;
        result.abi = AbiKind::ScalarPair;
        result.scalars = {result.tag, *common};
        result.pair_offset = static_cast<std::uint32_t>(offset);
    }

    const AdtShape& shape_;
    const std::vector<Fields>& variants_;
};

}  // namespace

Layout enum_layout(const AdtShape& shape, const std::vector<Fields>& variants) { return EnumBuilder(shape, variants).run(); }

}  // namespace ockc::types
