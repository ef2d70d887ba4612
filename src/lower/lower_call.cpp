// Calls: which function a callee means at these types, and how its arguments and result travel.
#include <fmt/format.h>

#include "lower/function_lowering.hpp"

namespace ockc::lower {

using check::Instance;
using types::TypeKind;

void FunctionLowering::lower_call(const mir::CallTerminator& node, Span span) {
    const TypeId callee_type = subst(body_.type_of(node.callee));
    const types::TypeData& callee = types_[callee_type];
    OCKC_CHECK_MSG(callee.kind == TypeKind::FnDef, "call of something that is no function item");
    std::vector<Value> args;
    args.reserve(node.args.size());
    for (const mir::Operand& one : node.args) args.push_back(operand(one));
    const TypeId output = type_of(node.destination);
    const PlaceRef destination = lower_place(node.destination);
    const ItemRef item{callee.def, callee.args};
    builder_.set_span(span);
    call_instance(item, args, &destination, output);
    if (builder_.terminated()) return;   // an intrinsic that diverges
    if (node.target.valid()) return builder_.jump(block_of(node.target));
    builder_.unreachable();
}

bool FunctionLowering::is_ctor(DefId def) const { return module_.context().program().defs[def].kind == hir::DefKind::Ctor; }

void FunctionLowering::call_instance(ItemRef callee, std::span<const Value> args, const PlaceRef* destination, TypeId output) {
    if (is_ctor(callee.def)) return construct(callee.def, output, args, *destination);
    const std::optional<Instance> instance = module_.context().resolve_instance(callee);
    OCKC_CHECK_MSG(instance.has_value(), "call without an instance");
    switch (instance->kind) {
        case Instance::Kind::Item: {
            const ItemRef item = instance->item;
            const hir::Def& def = module_.context().program().defs[item.def];
            if (is_ctor(item.def)) return construct(item.def, output, args, *destination);
            if (!def.intrinsic.empty()) {
                const auto which = intrinsic::from_key(def.intrinsic);
                OCKC_CHECK_MSG(which.has_value(), def.intrinsic);
                return lower_intrinsic(*which, item, args, *destination);
            }
            return call_function(module_.function_of(item), module_.shape_of(item), args, destination);
        }
        case Instance::Kind::CloneShim: {
            const TypeId type = types_[args[0].type].element;
            return clone_builtin({args[0].a, 0, {}, type, &layout(type)}, *destination);
        }
        case Instance::Kind::FnItemCall: {
            const std::vector<Value> spread = spread_tuple(args);
            return call_instance(instance->item, std::span(spread).subspan(1), destination, output);
        }
        case Instance::Kind::ClosureCall: {
            const types::TypeData& closure = types_[instance->closure];
            const ItemRef item{closure.def, closure.args};
            const std::vector<Value> spread = spread_tuple(args);
            return call_function(module_.function_of(item), module_.shape_of(item), spread, destination);
        }
        case Instance::Kind::DropGlue: return drop_value({args[0].a, 0, args[0].b, types_[args[0].type].element, &layout(types_[args[0].type].element)});
        case Instance::Kind::ScalarOp: return lower_scalar_op(instance->item, args, *destination, builder_.span());
        case Instance::Kind::FnPtrCall: break;   // refused by check
    }
    OCKC_UNREACHABLE("call through a function pointer");
}

// Fn::call(&f, (a, b)): the callee and the tuple's elements.
std::vector<Value> FunctionLowering::spread_tuple(std::span<const Value> args) {
    std::vector<Value> spread{args[0]};
    const PlaceRef tuple = in_memory(args[1]);
    const auto elements = types_[types_[args[1].type].elements];
    for (std::uint32_t i = 0; i < elements.size(); ++i) spread.push_back(load(field(tuple, i, elements[i])));
    return spread;
}

void FunctionLowering::call_function(ir::FuncId callee, const CallShape& shape, std::span<const Value> args, const PlaceRef* destination) {
    std::vector<ir::ValueId> values;
    PlaceRef result;
    if (shape.returns_memory) {
        result = temporary(shape.output);   // not the destination itself: an argument may lie there
        values.push_back(address(result));
    }
    for (const Value& arg : args) {
        switch (arg.form) {
            case ValueForm::Zero: break;
            case ValueForm::Scalar: values.push_back(arg.a); break;
            case ValueForm::Pair:
                values.push_back(arg.a);
                values.push_back(arg.b);
                break;
            case ValueForm::Memory: {
                const PlaceRef copy = temporary(arg.type);
                store(copy, arg);
                values.push_back(address(copy));
                break;
            }
        }
    }
    OCKC_CHECK_MSG(values.size() == shape.params.size(), "arguments against parameters");
    const std::vector<ir::ValueId> results = builder_.call(callee, values, shape.results);
    if (shape.returns_memory) return store(*destination, load(result));
    Value value{shape.output, form_of(layout(shape.output)), {}, {}, {}};
    if (!results.empty()) value.a = results[0];
    if (results.size() > 1) value.b = results[1];
    store(*destination, value);
}

void FunctionLowering::construct(DefId ctor, TypeId type, std::span<const Value> args, const PlaceRef& destination) {
    const check::AdtInfo& adt = module_.context().adt(types_[type].def);
    const std::uint32_t variant = adt.variant_index(ctor);
    PlaceRef fields = destination;
    fields.layout = &variant_layout(type, variant);
    for (std::uint32_t i = 0; i < args.size(); ++i) store(field(fields, i, args[i].type), args[i]);
    if (adt.kind == check::AdtInfo::Kind::Enum) set_discriminant(destination, variant);
}

void FunctionLowering::lower_drop(const mir::DropTerminator& node) {
    drop_value(lower_place(node.place));
    builder_.jump(block_of(node.target));
}

// Drop glue, written out: the type's own `drop`, then its fields in declaration order.
void FunctionLowering::drop_value(const PlaceRef& place) {
    check::Context& context = module_.context();
    if (!context.needs_drop(place.type, context.empty_env())) return;
    const types::TypeData& data = types_[place.type];
    switch (data.kind) {
        case TypeKind::Tuple: {
            const auto elements = types_[data.elements];
            for (std::uint32_t i = 0; i < elements.size(); ++i) drop_value(field(place, i, elements[i]));
            return;
        }
        case TypeKind::Array:
            return for_each_index(place.layout->count, [&](ir::ValueId i) { drop_value(element(place, i, types_[place.type].element)); });
        case TypeKind::Adt: break;
        default: OCKC_UNREACHABLE("drop glue of this type");
    }
    const ItemRef own = context.drop_impl(place.type);
    if (own.valid()) {
        const CallShape shape = module_.shape_of(own);
        const Value self = scalar_value(shape.inputs[0], address(place));
        const PlaceRef unit = temporary(shape.output);
        call_function(module_.function_of(own), shape, {&self, 1}, &unit);
    }
    const check::AdtInfo& adt = context.adt(data.def);
    if (adt.kind == check::AdtInfo::Kind::Struct) {
        for (std::uint32_t i = 0; i < adt.variants[0].fields.size(); ++i) {
            drop_value(field(place, i, context.field_type(adt.variants[0].fields[i], data.args, context.empty_env())));
        }
        return;
    }
    drop_enum(place, adt);
}

void FunctionLowering::drop_enum(const PlaceRef& place, const check::AdtInfo& adt) {
    check::Context& context = module_.context();
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
        for (std::uint32_t i = 0; i < adt.variants[v].fields.size(); ++i) {
            drop_value(field(fields, i, context.field_type(adt.variants[v].fields[i], types_[place.type].args, context.empty_env())));
        }
        builder_.jump(done);
        builder_.at_end(next);
    }
    builder_.jump(done);
    builder_.at_end(done);
}

}  // namespace ockc::lower
