// Constants of MIR as values: scalars become immediates, strings and arrays module variables.
#include "lower/function_lowering.hpp"

namespace ockc::lower {

using types::TypeKind;

ir::ValueId FunctionLowering::generic_address(ir::GlobalId global) {
    const ir::Space space = module_.module().globals[global].space;
    const ir::ValueId at = builder_.global_addr(global, ir::ptr_type(space));
    return builder_.convert(ir::Op::SpaceCast, ir::Type::Ptr, at);
}

Value FunctionLowering::scalar_constant(TypeId type, std::uint64_t low, std::uint64_t high) {
    const Layout& shape = layout(type);
    if (form_of(shape) == ValueForm::Zero) return zero_value(type);
    const ir::Type ir = ir_type(shape.scalars[0]);
    if (ir::is_float(ir)) return scalar_value(type, builder_.const_float(ir, low));
    if (ir == ir::Type::Ptr) {
        return scalar_value(type, builder_.convert(ir::Op::IntToPtr, ir, builder_.const_int(ir::Type::I64, low)));
    }
    return scalar_value(type, builder_.const_int(ir, low, high));
}

Value FunctionLowering::constant(const mir::Constant& constant) {
    const TypeId type = subst(constant.type);
    check::Context& context = module_.context();
    switch (constant.kind) {
        case mir::Constant::Kind::Scalar: return scalar_constant(type, constant.low, constant.high);
        case mir::Constant::Kind::ZeroSized: return zero_value(type);
        case mir::Constant::Kind::Item: {
            const types::ArgsId args = types_.subst(constant.args, args_);
            const ConstValue* value = context.eval_const({constant.def, context.normalize(args, context.empty_env())});
            return value != nullptr ? const_value(*value, type) : load(temporary(type));   // an error was reported
        }
        case mir::Constant::Kind::Param:
        case mir::Constant::Kind::Const: {
            const types::ConstId id = context.normalize(types_.subst(constant.value, args_), context.empty_env());
            const types::ConstData& data = types_[id];
            OCKC_CHECK_MSG(data.kind == types::ConstKind::Value && data.elements_count == 0, "constant argument without a scalar value");
            return scalar_constant(type, data.bits[0], data.bits[1]);
        }
        case mir::Constant::Kind::Static: return scalar_value(type, generic_address(module_.static_global(constant.def)));
        case mir::Constant::Kind::Promoted: {
            // The promoted body gives the value; it is computed where it is used and lives in this frame.
            const mir::Body& promoted = *body_.promoted[constant.index];
            const TypeId value_type = subst(promoted.locals[mir::kReturnLocal].type);
            return promoted_reference(promoted, value_type, type);
        }
        case mir::Constant::Kind::Str: return bytes_constant(constant.text, type, true);
        case mir::Constant::Kind::Bytes: return bytes_constant(constant.text, type, false);
    }
    OCKC_UNREACHABLE("constant kind");
}

Value FunctionLowering::bytes_constant(std::string_view bytes, TypeId type, bool fat) {
    const ir::GlobalId global = module_.bytes_global({bytes.begin(), bytes.end()}, 1);
    const ir::ValueId at = generic_address(global);
    if (!fat) return scalar_value(type, at);
    return {type, ValueForm::Pair, at, builder_.const_int(ir::Type::I64, bytes.size()), {}};
}

Value FunctionLowering::const_value(const ConstValue& value, TypeId type) {
    switch (value.kind) {
        case ConstValue::Kind::Scalar: return scalar_constant(type, value.bits[0], value.bits[1]);
        case ConstValue::Kind::FnItem: return zero_value(type);
        case ConstValue::Kind::Uninit: return load(temporary(type));
        case ConstValue::Kind::Ref: return const_pointer(value, type);
        case ConstValue::Kind::StaticRef: return scalar_value(type, generic_address(module_.static_global(value.static_def)));
        case ConstValue::Kind::FnPtr: return fn_pointer(value.fn_item, type);
        case ConstValue::Kind::Bytes: break;   // only behind references
        case ConstValue::Kind::Aggregate: {
            const Layout& shape = layout(type);
            if (form_of(shape) == ValueForm::Zero) return zero_value(type);
            constexpr std::uint64_t kByStores = 64;   // longer values are read from a module variable
            if (shape.size > kByStores) {
                return load({generic_address(module_.image_global(module_.image_of(value), shape.align)), 0, {}, type, &shape});
            }
            const PlaceRef at = temporary(type);
            store_const(at, value);
            return load(at);
        }
    }
    OCKC_UNREACHABLE("constant value");
}

void FunctionLowering::store_const(const PlaceRef& to, const ConstValue& value) {
    if (value.kind != ConstValue::Kind::Aggregate) return store(to, const_value(value, to.type));
    if (types_.kind(to.type) == TypeKind::Array) {
        for (std::size_t i = 0; i < value.fields.size(); ++i) {
            PlaceRef at = to;
            at.offset += static_cast<std::int64_t>(i * to.layout->stride);
            at.type = value.fields[i]->type;
            at.layout = &layout(at.type);
            store_const(at, *value.fields[i]);
        }
        return;
    }
    PlaceRef fields = to;
    fields.layout = &variant_layout(to.type, value.variant);
    for (std::size_t i = 0; i < value.fields.size(); ++i) {
        store_const(field(fields, static_cast<std::uint32_t>(i), value.fields[i]->type), *value.fields[i]);
    }
    set_discriminant(to, value.variant);
}

// A reference to a constant: its bytes as a module variable, with the length when it is a slice.
Value FunctionLowering::const_pointer(const ConstValue& value, TypeId type) {
    const ConstValue& target = *value.target;
    const bool fat = form_of(layout(type)) == ValueForm::Pair;
    if (target.kind == ConstValue::Kind::Bytes) return bytes_constant(target.bytes, type, fat);
    const ir::ValueId at = generic_address(module_.image_global(module_.image_of(target), layout(target.type).align));
    if (!fat) return scalar_value(type, at);
    return {type, ValueForm::Pair, at, builder_.const_int(ir::Type::I64, target.fields.size()), {}};
}

}  // namespace ockc::lower
