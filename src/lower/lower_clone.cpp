// Clone::clone of the types whose Clone is the compiler's: scalars, references, function items, tuples, arrays, closures.
// Copyable values are copied (as rustc does); otherwise every part is cloned by its own impl, in order.
#include "lower/function_lowering.hpp"

namespace ockc::lower {

using types::TypeKind;

void FunctionLowering::for_each_index(std::uint64_t count, const std::function<void(ir::ValueId)>& body) {
    constexpr std::uint64_t kUnrolled = 16;
    if (count <= kUnrolled) {
        for (std::uint64_t i = 0; i < count; ++i) body(builder_.const_int(ir::Type::I64, i));
        return;
    }
    const ir::BlockId head = function_.add_block(), inside = function_.add_block(), done = function_.add_block();
    builder_.jump(head, {builder_.const_int(ir::Type::I64, 0)});
    const ir::ValueId index = function_.add_block_param(head, ir::Type::I64);
    builder_.at_end(head);
    builder_.br(builder_.icmp(ir::IntCond::Ult, index, builder_.const_int(ir::Type::I64, count)), inside, done);
    builder_.at_end(inside);
    body(index);
    builder_.jump(head, {builder_.binary(ir::Op::Iadd, ir::Type::I64, index, builder_.const_int(ir::Type::I64, 1))});
    builder_.at_end(done);
}

void FunctionLowering::clone_builtin(const PlaceRef& from, const PlaceRef& to) {
    check::Context& context = module_.context();
    if (context.is_copy(from.type, context.empty_env())) return store(to, load(from));
    const types::TypeData data = types_[from.type];
    if (data.kind == TypeKind::Array) {
        return for_each_index(from.layout->count, [&](ir::ValueId i) { clone_part(element(from, i, data.element), element(to, i, data.element)); });
    }
    std::vector<TypeId> parts;
    if (data.kind == TypeKind::Tuple) {
        parts.assign(types_[data.elements].begin(), types_[data.elements].end());
    } else {
        OCKC_CHECK_MSG(data.kind == TypeKind::Closure, "built-in Clone of this type");
        for (const check::Capture& capture : context.closure_info(data.def).captures) {
            parts.push_back(module_.subst(capture.type, types_[data.args]));
        }
    }
    for (std::uint32_t i = 0; i < parts.size(); ++i) clone_part(field(from, i, parts[i]), field(to, i, parts[i]));
}

void FunctionLowering::clone_part(const PlaceRef& from, const PlaceRef& to) {
    const types::GenericArg self[] = {from.type};
    const Value reference = scalar_value(types_.ref(types_.erased, from.type, types::Mutability::Not), address(from));
    const PlaceRef copy = temporary(from.type);   // not the destination itself: it may be where we read from
    call_instance({module_.context().clone_method(), types_.args(self)}, {&reference, 1}, &copy, from.type);
    store(to, load(copy));
}

}  // namespace ockc::lower
