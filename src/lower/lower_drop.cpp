// Drop glue, written out where a value is dropped: the type's own `drop`, then its parts in order.
#include "lower/function_lowering.hpp"

namespace ockc::lower {

using types::TypeKind;

void FunctionLowering::lower_drop(const mir::DropTerminator& node) {
    check::Context& context = module_.context();
    if (context.needs_drop(type_of(node.place), context.empty_env())) drop_value(lower_place(node.place));
    go_on(node.target);
}

void FunctionLowering::drop_value(const PlaceRef& place) {
    check::Context& context = module_.context();
    if (!context.needs_drop(place.type, context.empty_env())) return;
    const types::TypeData data = types_[place.type];
    switch (data.kind) {
        case TypeKind::Tuple: {
            const std::vector<TypeId> parts(types_[data.elements].begin(), types_[data.elements].end());
            return drop_fields(place, parts);
        }
        case TypeKind::Closure: {
            std::vector<TypeId> parts;
            for (const check::Capture& capture : context.closure_info(data.def).captures) {
                parts.push_back(module_.subst(capture.type, types_[data.args]));
            }
            return drop_fields(place, parts);
        }
        case TypeKind::Array:
        case TypeKind::Slice: return drop_elements(place, data.element);
        case TypeKind::Adt: return drop_adt(place, data);
        // These own nothing, or are gone when types are concrete: needs_drop refuses them.
        case TypeKind::Bool: case TypeKind::Char: case TypeKind::Int: case TypeKind::Float: case TypeKind::Str:
        case TypeKind::Never: case TypeKind::Ref: case TypeKind::RawPtr: case TypeKind::FnDef: case TypeKind::FnPtr:
        case TypeKind::Param: case TypeKind::Projection: case TypeKind::Opaque: case TypeKind::Infer: case TypeKind::Error: break;
    }
    OCKC_UNREACHABLE("a type without drop glue");
}

void FunctionLowering::drop_fields(const PlaceRef& place, std::span<const TypeId> parts) {
    for (std::uint32_t i = 0; i < parts.size(); ++i) drop_value(field(place, i, parts[i]));
}

// First to last.
void FunctionLowering::drop_elements(const PlaceRef& place, TypeId type) {
    if (types_.kind(place.type) == TypeKind::Array) {
        return for_each_index(place.layout->count, [&](ir::ValueId index) { drop_value(element(place, index, type)); });
    }
    const ir::ValueId count = length(place);
    const ir::BlockId head = function_.add_block(), body = function_.add_block(), done = function_.add_block();
    builder_.jump(head, {builder_.const_int(ir::Type::I64, 0)});
    const ir::ValueId index = function_.add_block_param(head, ir::Type::I64);
    builder_.at_end(head);
    builder_.br(builder_.icmp(ir::IntCond::Ult, index, count), body, done);
    builder_.at_end(body);
    drop_value(element(place, index, type));
    builder_.jump(head, {builder_.binary(ir::Op::Iadd, ir::Type::I64, index, builder_.const_int(ir::Type::I64, 1))});
    builder_.at_end(done);
}

void FunctionLowering::drop_adt(const PlaceRef& place, const types::TypeData& data) {
    check::Context& context = module_.context();
    const check::ItemRef own = context.drop_impl(place.type);
    if (own.valid()) {
        const CallShape shape = module_.shape_of(own);
        const Value self = scalar_value(shape.inputs[0], address(place));
        const PlaceRef unit = temporary(shape.output);
        call_function(own, shape, {&self, 1}, &unit);
    }
    const check::AdtInfo& adt = context.adt(data.def);
    switch (adt.kind) {
        case check::AdtInfo::Kind::Struct: return drop_fields(place, variant_types(adt, 0, data.args));
        case check::AdtInfo::Kind::Enum: return drop_enum(place, adt);
        case check::AdtInfo::Kind::Union: return;   // which field is there nobody knows
    }
}

std::vector<TypeId> FunctionLowering::variant_types(const check::AdtInfo& adt, std::uint32_t variant, types::ArgsId args) {
    check::Context& context = module_.context();
    std::vector<TypeId> parts;
    for (const check::FieldInfo& field : adt.variants[variant].fields) {
        parts.push_back(module_.subst(context.field_type(field, args, context.empty_env()), {}));
    }
    return parts;
}

void FunctionLowering::drop_enum(const PlaceRef& place, const check::AdtInfo& adt) {
    const TypeId tag_type = types_.int_type(adt.discriminant_type);
    const ir::ValueId tag = discriminant(place, tag_type);
    const ir::BlockId done = function_.add_block();
    for (std::uint32_t v = 0; v < adt.variants.size(); ++v) {
        const ir::BlockId here = function_.add_block(), next = function_.add_block();
        const auto& bits = adt.variants[v].discriminant;
        builder_.br(builder_.icmp(ir::IntCond::Eq, tag, builder_.const_int(function_.type_of(tag), bits[0], bits[1])), here, next);
        builder_.at_end(here);
        PlaceRef fields = place;
        fields.layout = &variant_layout(place.type, v);
        drop_fields(fields, variant_types(adt, v, types_[place.type].args));
        builder_.jump(done);
        builder_.at_end(next);
    }
    builder_.jump(done);
    builder_.at_end(done);
}

}  // namespace ockc::lower
