// Calls: which function a callee means at these types, and how its arguments and result travel.
#include <fmt/format.h>

#include "lower/find_values.hpp"
#include "lower/function_lowering.hpp"

namespace ockc::lower {

using check::Instance;
using types::TypeKind;

void FunctionLowering::lower_call(const mir::CallTerminator& node, Span span) {
    const types::TypeData callee = types_[subst(body_.type_of(node.callee))];
    OCKC_CHECK_MSG(callee.kind == TypeKind::FnDef || callee.kind == TypeKind::FnPtr, "call of something that is no function");
    std::vector<Value> args;
    args.reserve(node.args.size());
    for (const mir::Operand& one : node.args) args.push_back(operand(one));
    const TypeId output = type_of(node.destination);
    const PlaceRef destination = lower_place(node.destination);
    builder_.set_span(span);
    if (callee.kind == TypeKind::FnPtr) {
        call_pointer(operand(node.callee), args, &destination, output);
    } else {
        call_instance({callee.def, callee.args}, args, &destination, output);
    }
    if (builder_.terminated()) return;   // an intrinsic that diverges
    if (node.target.valid()) return go_on(node.target);
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
            return call_function(item, module_.shape_of(item), args, destination);
        }
        case Instance::Kind::CloneShim: {
            const TypeId type = types_[args[0].type].element;
            const PlaceRef from{args[0].a, 0, {}, type, &layout(type)};
            if (!destination->in_values()) return clone_builtin(from, *destination);
            const PlaceRef copy = temporary(type);   // its parts are cloned one by one
            clone_builtin(from, copy);
            return store(*destination, load(copy));
        }
        case Instance::Kind::FnItemCall: {
            const std::vector<Value> spread = spread_tuple(args);
            return call_instance(instance->item, std::span(spread).subspan(1), destination, output);
        }
        case Instance::Kind::ClosureCall: {
            const types::TypeData& closure = types_[instance->closure];
            const ItemRef item{closure.def, closure.args};
            const std::vector<Value> spread = spread_tuple(args);
            return call_function(item, module_.shape_of(item), spread, destination);
        }
        case Instance::Kind::DropGlue: return drop_value({args[0].a, 0, args[0].b, types_[args[0].type].element, &layout(types_[args[0].type].element)});
        case Instance::Kind::ScalarOp: return lower_scalar_op(instance->item, args, *destination, builder_.span());
        case Instance::Kind::FnPtrCall: {
            // `self` is the pointer or a reference to it.
            std::vector<Value> spread = spread_tuple(args);
            while (types_.kind(spread[0].type) == TypeKind::Ref) {
                const TypeId pointer = types_[spread[0].type].element;
                spread[0] = load({spread[0].a, 0, {}, pointer, &layout(pointer)});
            }
            return call_pointer(spread[0], std::span(spread).subspan(1), destination, output);
        }
    }
    OCKC_UNREACHABLE("instance kind");
}

// Fn::call(&f, (a, b)): the callee and the tuple's elements.
std::vector<Value> FunctionLowering::spread_tuple(std::span<const Value> args) {
    std::vector<Value> spread{args[0]};
    const PlaceRef tuple = in_memory(args[1]);
    const auto elements = types_[types_[args[1].type].elements];
    for (std::uint32_t i = 0; i < elements.size(); ++i) spread.push_back(load(field(tuple, i, elements[i])));
    return spread;
}

void FunctionLowering::call_function(ItemRef callee, const CallShape& shape, std::span<const Value> args, const PlaceRef* destination) {
    std::vector<TypeId> fn_targets;
    for (const Value& arg : args) fn_targets.push_back(arg.fn_target);
    call_ir(module_.function_of(callee, std::move(fn_targets), builder_.span()), shape, args, destination);
}

void FunctionLowering::call_ir(ir::FuncId function, const CallShape& shape, std::span<const Value> args, const PlaceRef* destination) {
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
    const std::vector<ir::ValueId> results = builder_.call(function, values, shape.results);
    if (shape.returns_memory) return store(*destination, load(result));
    Value value{shape.output, form_of(layout(shape.output)), {}, {}, {}};
    if (!results.empty()) value.a = results[0];
    if (results.size() > 1) value.b = results[1];
    store(*destination, value);
}

// Where a value of this variant can be put together from its parts: `to` itself, or memory that is to be copied there.
PlaceRef FunctionLowering::for_parts(const PlaceRef& to, const Layout& variant, std::span<const Value> parts) {
    if (!to.in_values()) return to;
    const Layout& whole = *to.layout;
    bool fits = whole.variants_kind == types::VariantsKind::Single || is_component(whole, whole.tag_offset, whole.tag);
    for (std::size_t i = 0; i < parts.size() && i < variant.offsets.size(); ++i) {
        fits = fits && is_component(whole, variant.offsets[i], layout(parts[i].type));
    }
    return fits ? to : temporary(to.type);
}

void FunctionLowering::construct(DefId ctor, TypeId type, std::span<const Value> args, const PlaceRef& destination) {
    const check::AdtInfo& adt = module_.context().adt(types_[type].def);
    const std::uint32_t variant = adt.variant_index(ctor);
    const Layout& shape = variant_layout(type, variant);
    const PlaceRef to = for_parts(destination, shape, args);
    PlaceRef fields = to;
    fields.layout = &shape;
    for (std::uint32_t i = 0; i < args.size(); ++i) store(field(fields, i, args[i].type), args[i]);
    if (adt.kind == check::AdtInfo::Kind::Enum) set_discriminant(to, variant);
    if (to.in_values() != destination.in_values()) store(destination, load(to));
}

}  // namespace ockc::lower
