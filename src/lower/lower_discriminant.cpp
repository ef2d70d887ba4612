// Enums: reading and writing which variant a value is, for both of rustc's tag encodings (types/layout.hpp).
#include "lower/find_values.hpp"
#include "lower/function_lowering.hpp"

namespace ockc::lower {

using types::TagEncoding;
using types::VariantsKind;

const Layout& FunctionLowering::variant_layout(TypeId type, std::uint32_t variant) { return variant_of(layout(type), variant); }

namespace {

std::uint64_t low64(unsigned __int128 value) { return static_cast<std::uint64_t>(value); }
std::uint64_t high64(unsigned __int128 value) { return static_cast<std::uint64_t>(value >> 64); }

}  // namespace

ir::ValueId FunctionLowering::discriminant(const PlaceRef& place, TypeId result) {
    const Layout& shape = layout(place.type);
    const ir::Type to = ir_type(layout(result).scalars[0]);
    const auto constant = [&](std::array<std::uint64_t, 2> bits) { return builder_.const_int(to, bits[0], bits[1]); };
    if (types_.kind(place.type) != types::TypeKind::Adt) return builder_.const_int(to, 0);
    const check::AdtInfo& adt = module_.context().adt(types_[place.type].def);
    if (shape.variants_kind == VariantsKind::Single) {
        return shape.single_variant < adt.variants.size() ? constant(adt.variants[shape.single_variant].discriminant)
                                                          : builder_.const_int(to, 0);
    }
    ir::ValueId tag = load_scalar(place, static_cast<std::int64_t>(shape.tag_offset), shape.tag, shape.tag.bytes);
    if (function_.type_of(tag) == ir::Type::Ptr) tag = builder_.convert(ir::Op::PtrToInt, ir::Type::I64, tag);
    const auto resize = [&](ir::ValueId value, bool sign) {
        const std::uint32_t from_bits = ir::type_bits(function_.type_of(value)), to_bits = ir::type_bits(to);
        if (from_bits == to_bits) return value;
        if (from_bits > to_bits) return builder_.convert(ir::Op::Trunc, to, value);
        return builder_.convert(sign ? ir::Op::Sext : ir::Op::Zext, to, value);
    };
    if (shape.tag_encoding == TagEncoding::Direct) return resize(tag, shape.tag.is_signed);
    const ir::Type tag_type = function_.type_of(tag);
    const ir::ValueId untagged = builder_.const_int(to, shape.untagged_variant);
    const ir::ValueId start = builder_.const_int(tag_type, low64(shape.niche_start), high64(shape.niche_start));
    if (shape.niche_first == shape.niche_last) {
        const ir::ValueId is_niche = builder_.icmp(ir::IntCond::Eq, tag, start);
        return builder_.select(is_niche, builder_.const_int(to, shape.niche_first), untagged);
    }
    const ir::ValueId relative = builder_.binary(ir::Op::Isub, tag_type, tag, start);
    const ir::ValueId last = builder_.const_int(tag_type, shape.niche_last - shape.niche_first);
    const ir::ValueId is_niche = builder_.icmp(ir::IntCond::Ule, relative, last);
    const ir::ValueId variant =
        builder_.binary(ir::Op::Iadd, to, resize(relative, false), builder_.const_int(to, shape.niche_first));
    return builder_.select(is_niche, variant, untagged);
}

void FunctionLowering::set_discriminant(const PlaceRef& place, std::uint32_t variant) {
    const Layout& shape = layout(place.type);
    if (shape.variants_kind == VariantsKind::Single) return;
    unsigned __int128 bits = 0;
    if (shape.tag_encoding == TagEncoding::Direct) {
        const auto& value = module_.context().adt(types_[place.type].def).variants[variant].discriminant;
        bits = static_cast<unsigned __int128>(value[1]) << 64 | value[0];
    } else {
        if (variant == shape.untagged_variant) return;
        bits = shape.niche_start + (variant - shape.niche_first);
    }
    const ir::Type type = ir_type(shape.tag);
    ir::ValueId tag;
    if (type == ir::Type::Ptr) {
        tag = builder_.convert(ir::Op::IntToPtr, type, builder_.const_int(ir::Type::I64, low64(bits)));
    } else {
        tag = builder_.const_int(type, low64(bits), high64(bits));
    }
    store_scalar(place, static_cast<std::int64_t>(shape.tag_offset), tag, shape.tag.bytes);
}

}  // namespace ockc::lower
