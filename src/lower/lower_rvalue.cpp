// Rvalues and assignment: what a statement computes and where it goes.
#include "lower/function_lowering.hpp"

namespace ockc::lower {

using mir::RvalueKind;
using types::TypeKind;

void FunctionLowering::assign(const mir::Place& place, const mir::Rvalue& value) {
    const TypeId type = type_of(place);
    const PlaceRef to = lower_place(place);
    if (const auto* node = std::get_if<mir::AggregateRvalue>(&value.data)) return assign_aggregate(to, *node);
    if (const auto* node = std::get_if<mir::RepeatRvalue>(&value.data)) return assign_repeat(to, *node);
    store(to, rvalue(value, type));
}

Value FunctionLowering::operand(const mir::Operand& operand) {
    if (operand.is_constant()) return constant(body_.constants[operand.constant]);
    Value value = load(lower_place(operand.place));
    value.fn_target = fn_target(operand);
    return value;
}

Value FunctionLowering::rvalue(const mir::Rvalue& value, TypeId type) {
    switch (mir::kind(value)) {
        case RvalueKind::None:
        case RvalueKind::Aggregate:
        case RvalueKind::Repeat: break;
        case RvalueKind::Use: return operand(std::get<mir::UseRvalue>(value.data).operand);
        case RvalueKind::Ref: return reference(std::get<mir::RefRvalue>(value.data).place, type);
        case RvalueKind::RawPtr: return reference(std::get<mir::RawPtrRvalue>(value.data).place, type);
        case RvalueKind::Len: return scalar_value(type, length(lower_place(std::get<mir::LenRvalue>(value.data).place)));
        case RvalueKind::Cast: return cast(std::get<mir::CastRvalue>(value.data), type);
        case RvalueKind::BinaryOp: {
            const auto& node = std::get<mir::BinaryOpRvalue>(value.data);
            const Value lhs = operand(node.lhs);
            return binary(node.op, lhs, operand(node.rhs), type);
        }
        case RvalueKind::CheckedBinaryOp: return checked_binary(std::get<mir::CheckedBinaryOpRvalue>(value.data), type);
        case RvalueKind::UnaryOp: {
            const auto& node = std::get<mir::UnaryOpRvalue>(value.data);
            return unary(node.op, operand(node.operand), type);
        }
        case RvalueKind::Discriminant:
            return scalar_value(type, discriminant(lower_place(std::get<mir::DiscriminantRvalue>(value.data).place), type));
        case RvalueKind::NullaryOp: {
            const auto& node = std::get<mir::NullaryOpRvalue>(value.data);
            const Layout& shape = layout(subst(node.type));
            return scalar_value(type, builder_.const_int(ir::Type::I64, node.op == mir::NullOp::SizeOf ? shape.size : shape.align));
        }
    }
    OCKC_UNREACHABLE("rvalue without a value");
}

// The pointer p, of which is known that it is not null and that what is reached through it lies in the next `bytes` bytes; 0: anywhere.
ir::ValueId FunctionLowering::within(ir::ValueId pointer, std::uint64_t bytes) {
    const ir::ValueId result = builder_.convert(ir::Op::Nonnull, function_.type_of(pointer), pointer);
    function_.insts[function_.values[result].inst].imm = bytes;
    return result;
}

Value FunctionLowering::reference(const mir::Place& place, TypeId type) {
    const PlaceRef at = lower_place(place);
    Value value{type, form_of(layout(type)), address(at), {}, {}};
    // Not for stack slots: their addresses are known, and hiding them would keep the slots in memory.
    const bool through_pointer = at.ptr.valid() && function_.type_of(at.ptr) == ir::Type::Ptr;
    if (types_.kind(type) == TypeKind::Ref && through_pointer) value.a = within(value.a, at.layout->is_unsized ? 0 : at.layout->size);
    if (value.form == ValueForm::Pair) value.b = length(at);
    return value;
}

// Operands are read before anything is written: `p = (p.1, p.0)` may name its own target.
void FunctionLowering::assign_aggregate(const PlaceRef& to, const mir::AggregateRvalue& node) {
    std::vector<Value> values;
    values.reserve(node.operands.size());
    for (const mir::Operand& one : node.operands) values.push_back(operand(one));
    if (types_.kind(to.type) == TypeKind::Array) {
        const std::uint64_t stride = to.layout->stride;
        for (std::size_t i = 0; i < values.size(); ++i) {
            PlaceRef at = to;
            at.offset += static_cast<std::int64_t>(i * stride);
            at.type = values[i].type;
            at.layout = &layout(at.type);
            store(at, values[i]);
        }
        return;
    }
    const Layout& shape = variant_layout(to.type, node.kind.variant);
    const PlaceRef whole = for_parts(to, shape, values);
    PlaceRef fields = whole;
    fields.layout = &shape;
    for (std::size_t i = 0; i < values.size(); ++i) {
        store(field(fields, static_cast<std::uint32_t>(i), values[i].type), values[i]);
    }
    if (node.kind.kind == mir::AggregateKind::Kind::Adt) set_discriminant(whole, node.kind.variant);
    if (whole.in_values() != to.in_values()) store(to, load(whole));
}

// A short array is written out; a long one by a loop over its elements.
void FunctionLowering::assign_repeat(const PlaceRef& to, const mir::RepeatRvalue& node) {
    const Value value = operand(node.operand);
    if (to.layout->size == 0) return;
    for_each_index(to.layout->count, [&](ir::ValueId i) { store(element(to, i, value.type), value); });
}

Value FunctionLowering::cast(const mir::CastRvalue& node, TypeId to) {
    const Value from = operand(node.operand);
    const ir::Type to_type = form_of(layout(to)) == ValueForm::Zero ? ir::Type::Void : ir_type(layout(to).scalars[0]);
    switch (node.cast) {
        case mir::CastKind::IntToInt: {
            const ir::Type from_type = function_.type_of(from.a);
            const std::uint32_t from_bits = ir::type_bits(from_type), to_bits = ir::type_bits(to_type);
            if (from_bits == to_bits) return scalar_value(to, from.a);
            const ir::Op op = from_bits > to_bits ? ir::Op::Trunc : is_signed(from.type) ? ir::Op::Sext : ir::Op::Zext;
            return scalar_value(to, builder_.convert(op, to_type, from.a));
        }
        case mir::CastKind::IntToFloat:
            return scalar_value(to, builder_.convert(is_signed(from.type) ? ir::Op::Sitofp : ir::Op::Uitofp, to_type, from.a));
        case mir::CastKind::FloatToInt:
            return scalar_value(to, builder_.convert(is_signed(to) ? ir::Op::Fptosi : ir::Op::Fptoui, to_type, from.a));
        case mir::CastKind::FloatToFloat:
            if (function_.type_of(from.a) == to_type) return scalar_value(to, from.a);
            return scalar_value(to, builder_.convert(ir::Op::Fcvt, to_type, from.a));
        case mir::CastKind::PtrToPtr:
        case mir::CastKind::ArrayToPointer: {
            // A slice pointer that becomes thin drops its length.
            const ValueForm form = form_of(layout(to));
            return {to, form, from.a, form == ValueForm::Pair ? from.b : ir::ValueId(), {}};
        }
        case mir::CastKind::PtrToInt: {
            const ir::ValueId bits = builder_.convert(ir::Op::PtrToInt, ir::Type::I64, from.a);
            if (to_type == ir::Type::I64) return scalar_value(to, bits);
            return scalar_value(to, builder_.convert(ir::type_bits(to_type) < 64 ? ir::Op::Trunc : ir::Op::Zext, to_type, bits));
        }
        case mir::CastKind::IntToPtr: {
            ir::ValueId bits = from.a;
            const std::uint32_t from_bits = ir::type_bits(function_.type_of(bits));
            if (from_bits > 64) bits = builder_.convert(ir::Op::Trunc, ir::Type::I64, bits);
            if (from_bits < 64) bits = builder_.convert(is_signed(from.type) ? ir::Op::Sext : ir::Op::Zext, ir::Type::I64, bits);
            return scalar_value(to, builder_.convert(ir::Op::IntToPtr, ir::Type::Ptr, bits));
        }
        case mir::CastKind::Unsize: {
            const TypeId array = types_[from.type].element;
            return {to, ValueForm::Pair, from.a, builder_.const_int(ir::Type::I64, layout(array).count), {}};
        }
        case mir::CastKind::ReifyFn:
        case mir::CastKind::ClosureFn: return fn_pointer(from.type, to);
    }
    OCKC_UNREACHABLE("cast kind");
}

Value FunctionLowering::unary(mir::UnOp op, const Value& value, TypeId type) {
    const ir::Type ir = function_.type_of(value.a);
    switch (op) {
        case mir::UnOp::Not: return scalar_value(type, builder_.unary(ir::Op::Not, ir, value.a));
        case mir::UnOp::Neg: return scalar_value(type, builder_.unary(ir::is_float(ir) ? ir::Op::Fneg : ir::Op::Ineg, ir, value.a));
    }
    OCKC_UNREACHABLE("unary operator");
}

}  // namespace ockc::lower
