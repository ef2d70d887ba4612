// Constants as bytes, laid out as rustc would: for initialised globals and by-value pieces.
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

bool ModuleLowering::encode(const ConstValue& value, std::span<std::uint8_t> out) {
    switch (value.kind) {
        case ConstValue::Kind::Scalar:
            put(out, 0, static_cast<unsigned __int128>(value.bits[1]) << 64 | value.bits[0], static_cast<std::uint32_t>(out.size()));
            return true;
        case ConstValue::Kind::FnItem:
        case ConstValue::Kind::Uninit: return true;
        case ConstValue::Kind::Bytes: std::memcpy(out.data(), value.bytes.data(), std::min(out.size(), value.bytes.size())); return true;
        case ConstValue::Kind::Ref:
        case ConstValue::Kind::StaticRef:
        case ConstValue::Kind::FnPtr: return false;
        case ConstValue::Kind::Aggregate: break;
    }
    const Layout& shape = layout(value.type);
    const types::TypeKind kind = types().kind(value.type);
    if (kind == types::TypeKind::Array) {
        for (std::size_t i = 0; i < value.fields.size(); ++i) {
            if (!encode(*value.fields[i], out.subspan(i * shape.stride, shape.stride))) return false;
        }
        return true;
    }
    const bool multiple = shape.variants_kind == types::VariantsKind::Multiple;
    const Layout& fields = multiple ? shape.variants[value.variant] : shape;
    for (std::size_t i = 0; i < value.fields.size(); ++i) {
        const std::uint64_t size = layout(value.fields[i]->type).size;
        if (!encode(*value.fields[i], out.subspan(fields.offsets[i], size))) return false;
    }
    if (multiple) put_tag(shape, value.variant, context().adt_shape(value.type), out);
    return true;
}

}  // namespace ockc::lower
