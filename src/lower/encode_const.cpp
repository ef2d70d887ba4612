// Constants as bytes, laid out as rustc would: for initialised globals and by-value pieces.
#include <algorithm>
#include <cstring>

#include "lower/module_lowering.hpp"

namespace ockc::lower {

namespace {

void put(std::span<std::uint8_t> out, std::uint64_t offset, unsigned __int128 value, std::uint32_t bytes) {
    for (std::uint32_t i = 0; i < bytes; ++i) out[offset + i] = static_cast<std::uint8_t>(value >> (8 * i));
}

// The tag of an enum value as it stands in memory; nothing to write for the untagged variant of a niche encoding.
void put_tag(const Layout& layout, std::uint32_t variant, const types::AdtShape& shape, std::span<std::uint8_t> out) {
    if (layout.variants_kind == types::VariantsKind::Single) return;
    if (layout.tag_encoding == types::TagEncoding::Direct) {
        const auto& bits = shape.variants[variant].discriminant;
        put(out, layout.tag_offset, static_cast<unsigned __int128>(bits[1]) << 64 | bits[0], layout.tag.bytes);
    } else if (variant != layout.untagged_variant) {
        put(out, layout.tag_offset, layout.niche_start + (variant - layout.niche_first), layout.tag.bytes);
    }
}

}  // namespace

void ModuleLowering::encode_tag(TypeId type, std::uint32_t variant, std::span<std::uint8_t> out) {
    put_tag(layout(type), variant, context().adt_shape(type), out);
}

unsigned __int128 ModuleLowering::decode_discriminant(TypeId type, std::span<const std::uint8_t> bytes) {
    const Layout& shape = layout(type);
    const types::AdtShape adt = context().adt_shape(type);
    const auto of = [&](std::uint32_t variant) {
        const auto& bits = adt.variants[variant].discriminant;
        return static_cast<unsigned __int128>(bits[1]) << 64 | bits[0];
    };
    if (shape.variants_kind == types::VariantsKind::Single) return shape.single_variant < adt.variants.size() ? of(shape.single_variant) : 0;
    unsigned __int128 tag = 0;
    for (std::uint32_t i = 0; i < shape.tag.bytes; ++i) tag |= static_cast<unsigned __int128>(bytes[shape.tag_offset + i]) << (8 * i);
    const std::uint32_t bits = shape.tag.bytes * 8;
    const unsigned __int128 mask = bits == 128 ? ~static_cast<unsigned __int128>(0) : (static_cast<unsigned __int128>(1) << bits) - 1;
    if (shape.tag_encoding == types::TagEncoding::Direct) {
        const bool negative = shape.tag.is_signed && (tag >> (bits - 1) & 1) != 0;
        return negative ? tag | ~mask : tag;
    }
    const unsigned __int128 relative = (tag - shape.niche_start) & mask;
    const bool niche = relative <= shape.niche_last - shape.niche_first;
    return of(niche ? shape.niche_first + static_cast<std::uint32_t>(relative) : shape.untagged_variant);
}

ConstImage ModuleLowering::image_of(const ConstValue& value) {
    ConstImage image;
    image.bytes.resize(layout(value.type).size);
    encode(value, 0, image);
    std::sort(image.relocations.begin(), image.relocations.end());
    return image;
}

// The target becomes a global of its own; slices and strings have their length beside the address.
void ModuleLowering::encode_reference(const ConstValue& value, std::uint64_t at, ConstImage& out) {
    const ConstValue& target = *value.target;
    ir::GlobalId global;
    std::uint64_t length = 0;
    if (target.kind == ConstValue::Kind::Bytes) {
        length = target.bytes.size();
        global = bytes_global({target.bytes.begin(), target.bytes.end()}, 1);
    } else {
        length = target.fields.size();
        global = image_global(image_of(target), layout(target.type).align);
    }
    out.relocations.push_back({at, global});
    if (layout(value.type).size == 16) put(std::span(out.bytes).subspan(at), 8, length, 8);
}

void ModuleLowering::encode(const ConstValue& value, std::uint64_t at, ConstImage& out) {
    const Layout& shape = layout(value.type);
    switch (value.kind) {
        case ConstValue::Kind::Scalar:
            put(std::span(out.bytes).subspan(at), 0, static_cast<unsigned __int128>(value.bits[1]) << 64 | value.bits[0],
                static_cast<std::uint32_t>(shape.size));
            return;
        case ConstValue::Kind::FnItem:
        case ConstValue::Kind::Uninit: return;
        case ConstValue::Kind::Bytes: std::memcpy(out.bytes.data() + at, value.bytes.data(), std::min<std::size_t>(shape.size, value.bytes.size())); return;
        case ConstValue::Kind::Ref: return encode_reference(value, at, out);
        case ConstValue::Kind::StaticRef: out.relocations.push_back({at, static_global(value.static_def)}); return;
        case ConstValue::Kind::FnPtr: put(std::span(out.bytes).subspan(at), 0, fn_address(value.fn_item), 8); return;
        case ConstValue::Kind::Aggregate: break;
    }
    if (types().kind(value.type) == types::TypeKind::Array) {
        for (std::size_t i = 0; i < value.fields.size(); ++i) {
            encode(*value.fields[i], at + i * shape.stride, out);
        }
        return;
    }
    const bool multiple = shape.variants_kind == types::VariantsKind::Multiple;
    const Layout& fields = multiple ? shape.variants[value.variant] : shape;
    for (std::size_t i = 0; i < value.fields.size(); ++i) {
        encode(*value.fields[i], at + fields.offsets[i], out);
    }
    if (multiple) put_tag(shape, value.variant, context().adt_shape(value.type), std::span(out.bytes).subspan(at, shape.size));
}

}  // namespace ockc::lower
