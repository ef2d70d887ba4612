// Places: addresses of locals, fields, elements; loads and stores of values by form.
#include <algorithm>

#include "lower/function_lowering.hpp"

namespace ockc::lower {

using mir::ProjectionKind;
using types::TypeKind;

namespace {

constexpr ir::Type kPtrLocal = ir::Type::PtrLocal;

// Alignment that is left at a constant distance from an address of known alignment.
std::uint32_t align_at(std::uint32_t align, std::int64_t offset) {
    while (align > 1 && offset % align != 0) align /= 2;
    return align;
}

// Of a part of a place: by the type of the place, or by what the place is a part of.
std::uint32_t known_align(const PlaceRef& place, std::int64_t offset, std::uint32_t align) {
    return std::max(align_at(align, offset), align_at(place.align, place.offset + offset));
}

}  // namespace

PlaceRef FunctionLowering::lower_place(const mir::Place& place) {
    PlaceRef at = locals_[place.local.raw];
    for (const mir::Projection& step : place.projections) at = project(at, step);
    return at;
}

PlaceRef FunctionLowering::project(PlaceRef base, const mir::Projection& step) {
    const TypeId type = subst(step.type);
    switch (step.kind) {
        case ProjectionKind::Deref: {
            const Value pointer = load(base);
            PlaceRef at{pointer.a, 0, pointer.b, type, nullptr};
            at.layout = &layout(type);
            at.align = at.layout->align;
            return at;
        }
        case ProjectionKind::Field: return field(base, step.index, type);
        case ProjectionKind::Index: {
            const Value index = load(locals_[step.local.raw]);
            return element(base, index.a, type);
        }
        case ProjectionKind::ConstantIndex: {
            if (!step.from_end) {
                PlaceRef at = base;
                const Layout& element_layout = layout(type);
                at.offset += static_cast<std::int64_t>(step.offset * element_layout.size);
                at.type = type;
                at.layout = &element_layout;
                at.meta = {};
                return at;
            }
            const ir::ValueId back = builder_.const_int(ir::Type::I64, step.offset);
            return element(base, builder_.binary(ir::Op::Isub, ir::Type::I64, length(base), back), type);
        }
        case ProjectionKind::Subslice: {
            PlaceRef at = base;
            const Layout& element_layout = layout(types_[base.type].element);
            at.offset += static_cast<std::int64_t>(step.offset * element_layout.size);
            at.type = type;
            at.layout = &layout(type);
            at.meta = {};
            if (types_.kind(type) == TypeKind::Slice) {
                const std::uint64_t cut = step.from_end ? step.offset + step.min_length : 0;
                at.meta = step.from_end
                              ? builder_.binary(ir::Op::Isub, ir::Type::I64, length(base), builder_.const_int(ir::Type::I64, cut))
                              : builder_.const_int(ir::Type::I64, step.min_length - step.offset);
            }
            return at;
        }
        case ProjectionKind::Downcast: {
            base.layout = &variant_layout(base.type, step.index);
            return base;
        }
    }
    OCKC_UNREACHABLE("projection kind");
}

PlaceRef FunctionLowering::field(const PlaceRef& base, std::uint32_t index, TypeId type) {
    PlaceRef at = base;
    const bool absent = base.layout->abi == types::AbiKind::Uninhabited && base.layout->offsets.empty();   // see variant_layout
    OCKC_CHECK_MSG(absent || index < base.layout->offsets.size(), "field index");
    if (!absent) at.offset += static_cast<std::int64_t>(base.layout->offsets[index]);
    at.type = type;
    at.layout = &layout(type);
    if (!at.layout->is_unsized) at.meta = {};
    return at;
}

PlaceRef FunctionLowering::element(const PlaceRef& base, ir::ValueId index, TypeId type) {
    const Layout& element_layout = layout(type);
    OCKC_CHECK_MSG(!base.in_values(), "element of a local without an address");
    PlaceRef at{base.ptr, base.offset, {}, type, &element_layout};
    if (element_layout.size == 0) return at;
    at.align = align_at(align_at(base.align, base.offset), static_cast<std::int64_t>(element_layout.size));
    ir::ValueId bytes = index;
    if (element_layout.size != 1) {
        bytes = builder_.binary(ir::Op::Imul, ir::Type::I64, index, builder_.const_int(ir::Type::I64, element_layout.size));
    }
    // An array that is a part of something: the index has been checked, so that the rest is not reached.
    const bool part = base.layout != nullptr && types_.kind(base.type) == TypeKind::Array && base.ptr.valid();
    if (part && function_.type_of(base.ptr) == ir::Type::PtrLocal) {
        at.ptr = within(builder_.ptr_add_const(base.ptr, base.offset), base.layout->size);
        at.offset = 0;
    }
    if (!at.ptr.valid()) at.ptr = address(base);   // an array of no elements has no memory
    at.ptr = builder_.ptr_add(at.ptr, bytes);
    return at;
}

ir::ValueId FunctionLowering::address(const PlaceRef& place) {
    OCKC_CHECK_MSG(!place.in_values(), "address of a local that has none");
    if (!place.ptr.valid()) {
        // A zero-sized place without memory: any aligned address will do.
        const std::uint32_t align = place.layout != nullptr ? place.layout->align : 1;
        return builder_.convert(ir::Op::IntToPtr, ir::Type::Ptr, builder_.const_int(ir::Type::I64, align));
    }
    ir::ValueId ptr = builder_.ptr_add_const(place.ptr, place.offset);
    if (function_.type_of(ptr) != ir::Type::Ptr) ptr = builder_.convert(ir::Op::SpaceCast, ir::Type::Ptr, ptr);
    return ptr;
}

ir::ValueId FunctionLowering::length(const PlaceRef& place) {
    if (types_.kind(place.type) == TypeKind::Array) return builder_.const_int(ir::Type::I64, place.layout->count);
    OCKC_CHECK_MSG(place.meta.valid(), "length of an unsized place");
    return place.meta;
}

// Which variable is the scalar at this distance from the place.
VarId FunctionLowering::var_at(const PlaceRef& place, std::int64_t offset) const { return place.offset + offset == 0 ? place.var : place.var + 1; }

ir::ValueId FunctionLowering::load_scalar(const PlaceRef& place, std::int64_t offset, const types::Scalar& scalar, std::uint32_t align) {
    if (place.in_values()) return values_.read(var_at(place, offset), builder_.block());
    ir::MemoryInfo memory;
    memory.align = known_align(place, offset, align);
    return builder_.load(ir_type(scalar), base_pointer(place), memory, place.offset + offset);
}

void FunctionLowering::store_scalar(const PlaceRef& place, std::int64_t offset, ir::ValueId value, std::uint32_t align) {
    if (place.in_values()) return values_.write(var_at(place, offset), builder_.block(), value);
    ir::MemoryInfo memory;
    memory.align = known_align(place, offset, align);
    builder_.store(base_pointer(place), value, memory, place.offset + offset);
}

Value FunctionLowering::load(const PlaceRef& place) {
    const Layout& shape = layout(place.type);
    Value value{place.type, form_of(shape), {}, {}, {}};
    switch (value.form) {
        case ValueForm::Zero: break;
        case ValueForm::Scalar: value.a = load_scalar(place, 0, shape.scalars[0], shape.align); break;
        case ValueForm::Pair:
            value.a = load_scalar(place, 0, shape.scalars[0], shape.align);
            value.b = load_scalar(place, shape.pair_offset, shape.scalars[1], shape.align);
            break;
        case ValueForm::Memory: value.memory = place; break;
    }
    return value;
}

void FunctionLowering::store(const PlaceRef& place, const Value& value) {
    const Layout& shape = layout(place.type);
    switch (value.form) {
        case ValueForm::Zero: return;
        case ValueForm::Scalar: return store_scalar(place, 0, value.a, shape.align);
        case ValueForm::Pair:
            store_scalar(place, 0, value.a, shape.align);
            return store_scalar(place, shape.pair_offset, value.b, shape.align);
        case ValueForm::Memory: {
            const ir::ValueId to = builder_.ptr_add_const(base_pointer(place), place.offset);
            const ir::ValueId from = builder_.ptr_add_const(base_pointer(value.memory), value.memory.offset);
            if (to != from) builder_.memcpy(to, from, shape.size, shape.align);
            return;
        }
    }
}

PlaceRef FunctionLowering::temporary(TypeId type) {
    const Layout& shape = layout(type);
    PlaceRef place{{}, 0, {}, type, &shape};
    if (shape.size == 0) return place;
    ir::Instruction slot;
    slot.op = ir::Op::Alloca;
    slot.type = ir::Type::PtrLocal;
    slot.imm = shape.size;
    slot.memory.align = shape.align;
    slot.span = body_.span;
    allocas_.push_back(function_.make_inst(std::move(slot), {&kPtrLocal, 1}));
    place.ptr = function_.insts[allocas_.back()].result();
    return place;
}

// A place for a scalar or a pair, of which only these are read and written, as a whole or one by one.
PlaceRef FunctionLowering::in_variables(TypeId type) {
    const Layout& shape = layout(type);
    PlaceRef place{{}, 0, {}, type, &shape};
    const ValueForm form = form_of(shape);
    if (form == ValueForm::Zero) return place;
    OCKC_CHECK_MSG(form != ValueForm::Memory, "a value too large for variables");
    place.var = values_.add(ir_type(shape.scalars[0]));
    if (form == ValueForm::Pair) values_.add(ir_type(shape.scalars[1]));
    return place;
}

PlaceRef FunctionLowering::in_memory(const Value& value) {
    if (value.form == ValueForm::Memory) return value.memory;
    PlaceRef place = temporary(value.type);
    store(place, value);
    return place;
}

}  // namespace ockc::lower
