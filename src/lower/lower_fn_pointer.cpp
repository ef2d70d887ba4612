// Function pointers. Every call's target must be known when it is lowered: a variable that is set once, from a function, a
// closure without captures or another such variable, has a known target; a function whose parameter is a function pointer
// gets an instance for each target that callers hand in. Other calls are OCK0909. The pointer's own bits are a number that
// differs from function to function; nothing looks at it but comparisons and casts.
#include <fmt/format.h>

#include "lower/function_lowering.hpp"

namespace ockc::lower {

using types::TypeKind;

namespace {

// What one pass over a body finds out about its variables.
struct FnPointerUses {
    std::vector<std::uint32_t> writes;            // by local
    std::vector<const mir::Rvalue*> value;        // the last one assigned
};

FnPointerUses fn_pointer_uses(const mir::Body& body) {
    FnPointerUses uses{std::vector<std::uint32_t>(body.locals.size()), std::vector<const mir::Rvalue*>(body.locals.size())};
    const auto written = [&](const mir::Place& place) { ++uses.writes[place.local.raw]; };
    for (const mir::BasicBlock& block : body.blocks) {
        for (const mir::Statement& statement : block.statements) {
            const auto* assign = statement.get_if<mir::AssignStatement>();
            if (assign == nullptr) continue;
            written(assign->place);
            uses.value[assign->place.local.raw] = &assign->value;
            const auto* ref = std::get_if<mir::RefRvalue>(&assign->value.data);
            if (ref != nullptr && ref->borrow != mir::BorrowKind::Shared) written(ref->place);
            if (const auto* raw = std::get_if<mir::RawPtrRvalue>(&assign->value.data)) written(raw->place);
        }
        if (const auto* call = block.terminator.get_if<mir::CallTerminator>()) {
            written(call->destination);
            uses.value[call->destination.local.raw] = nullptr;
        }
    }
    return uses;
}

}  // namespace

// `targets`: of the parameters, in order; none where unknown.
void FunctionLowering::find_fn_targets(std::span<const TypeId> targets) {
    fn_targets_.assign(body_.locals.size(), TypeId());
    const auto is_pointer = [&](std::size_t i) { return types_.kind(locals_[i].type) == TypeKind::FnPtr; };
    bool any = false;
    for (std::size_t i = 0; i < locals_.size(); ++i) any = any || is_pointer(i);
    if (!any) return;
    const FnPointerUses uses = fn_pointer_uses(body_);
    const auto target_of = [&](const mir::Rvalue& value) {
        const auto* cast = std::get_if<mir::CastRvalue>(&value.data);
        const auto* use = std::get_if<mir::UseRvalue>(&value.data);
        if (cast == nullptr && use == nullptr) return TypeId();
        const mir::Operand& from = cast != nullptr ? cast->operand : use->operand;
        const TypeId type = subst(body_.type_of(from));
        if (types_.kind(type) == TypeKind::FnDef || types_.kind(type) == TypeKind::Closure) return type;
        if (from.is_constant()) return const_fn_target(body_.constants[from.constant]);
        return from.place.projections.empty() ? fn_targets_[from.place.local.raw] : TypeId();
    };
    for (std::uint32_t i = 1; i <= body_.arg_count && i <= targets.size(); ++i) {
        if (uses.writes[i] == 0) fn_targets_[i] = targets[i - 1];
    }
    // Copies of copies: each round settles those whose source the last one settled.
    for (bool changed = true; changed;) {
        changed = false;
        for (std::size_t i = 0; i < locals_.size(); ++i) {
            if (fn_targets_[i].valid() || uses.writes[i] != 1 || uses.value[i] == nullptr || !is_pointer(i)) continue;
            fn_targets_[i] = target_of(*uses.value[i]);
            changed = changed || fn_targets_[i].valid();
        }
    }
}

TypeId FunctionLowering::const_fn_target(const mir::Constant& constant) {
    if (constant.kind != mir::Constant::Kind::Item) return {};
    check::Context& context = module_.context();
    const types::ArgsId args = types_.subst(constant.args, args_);
    const ConstValue* value = context.eval_const({constant.def, context.normalize(args, context.empty_env())});
    return value != nullptr && value->kind == ConstValue::Kind::FnPtr ? value->fn_item : TypeId();
}

TypeId FunctionLowering::fn_target(const mir::Operand& operand) {
    if (operand.is_constant()) return const_fn_target(body_.constants[operand.constant]);
    return operand.place.projections.empty() ? fn_targets_[operand.place.local.raw] : TypeId();
}

Value FunctionLowering::fn_pointer(TypeId function, TypeId type) {
    const ir::ValueId number = builder_.const_int(ir::Type::I64, module_.fn_address(function));
    Value value = scalar_value(type, builder_.convert(ir::Op::IntToPtr, ir::Type::Ptr, number));
    value.fn_target = function;
    return value;
}

void FunctionLowering::call_pointer(const Value& callee, std::span<const Value> args, const PlaceRef* destination, TypeId output) {
    if (!callee.fn_target.valid()) {
        module_.context()
            .sink()
            .error(Code::OCK0909, builder_.span(), "the target of this call through a function pointer is not known at compile time")
            .help("take the function as a generic parameter, `F: Fn(..) -> ..`, or choose with `match`");
        return;
    }
    const types::TypeData target = types_[callee.fn_target];
    if (target.kind == TypeKind::FnDef) return call_instance({target.def, target.args}, args, destination, output);
    // A closure without captures: its environment has no bytes.
    const ItemRef item{target.def, target.args};
    const CallShape shape = module_.shape_of(item);
    const TypeId env = shape.inputs[0];
    std::vector<Value> all{zero_value(env)};
    if (types_.kind(env) == TypeKind::Ref) {
        all[0] = scalar_value(env, builder_.convert(ir::Op::IntToPtr, ir::Type::Ptr, builder_.const_int(ir::Type::I64, 1)));
    }
    all.insert(all.end(), args.begin(), args.end());
    call_function(item, shape, all, destination);
}

}  // namespace ockc::lower
