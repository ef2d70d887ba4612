// Function pointers. A pointer's bits are a number that differs from function to function. Where the target of a call is
// known when it is lowered, the call is direct: a variable that is set once, from a function, a closure without captures or
// another such variable, has a known target; a function whose parameter is a function pointer gets an instance for each
// target that callers hand in. Other calls go to the dispatcher of the pointer's signature, a function that chooses by the
// number among all functions that the program makes such pointers to: registers and local memory of a kernel stay known, as
// they would not with the indirect calls of the machine, and the optimiser sees through it.
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
        const ModuleLowering::Dispatcher& dispatcher = module_.dispatcher_of(callee.type);
        std::vector<Value> all{callee};
        all.insert(all.end(), args.begin(), args.end());
        return call_ir(dispatcher.function, dispatcher.shape, all, destination);
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

// The body of a dispatcher: _1 is the pointer. A number that is none of the targets' stands for a value that no program without
// undefined behaviour makes.
void FunctionLowering::run_dispatcher(const CallShape& shape, std::span<const TypeId> targets) {
    declare_parameters(shape);
    if (!make_locals()) return give_up();
    bind_arguments(shape);
    const Value pointer = load(locals_[1]);
    std::vector<Value> args;
    for (std::size_t i = 2; i < locals_.size(); ++i) args.push_back(load(locals_[i]));
    const ir::ValueId number = builder_.convert(ir::Op::PtrToInt, ir::Type::I64, pointer.a);
    const std::size_t mark = values_.mark();
    for (const TypeId target : targets) {
        const ir::ValueId wanted = builder_.const_int(ir::Type::I64, module_.fn_address(target));
        const ir::BlockId here = function_.add_block(), next = function_.add_block();
        builder_.br(builder_.icmp(ir::IntCond::Eq, number, wanted), here, next);
        builder_.at_end(here);
        Value known = pointer;
        known.fn_target = target;
        call_pointer(known, args, &locals_[0], shape.output);
        if (!builder_.terminated()) types_.kind(shape.output) == TypeKind::Never ? builder_.unreachable() : lower_return();
        values_.roll_back(mark);
        builder_.at_end(next);
    }
    function_.blocks[builder_.block()].cold = true;
    builder_.panic(module_.panic_site(builder_.span(), "call through a pointer to none of the program's functions"), {});
    finish();
}

// ---- the module's side --------------------------------------------------------------------------------------------------

std::uint64_t ModuleLowering::fn_address(TypeId function) {
    constexpr std::uint64_t kAlign = 16;
    const auto [known, fresh] = fn_numbers_.emplace(function, fn_numbers_.size() + 1);
    if (fresh) fn_pointees_.push_back(function);
    return known->second * kAlign;
}

// Inputs, then the output, of a type that can be called: lifetimes do not tell functions apart.
std::vector<TypeId> ModuleLowering::signature_of(TypeId callable) {
    const types::TypeData data = types()[callable];
    std::vector<TypeId> signature;
    if (data.kind == TypeKind::FnPtr) {
        for (const TypeId part : types()[data.elements]) signature.push_back(subst(part, {}));
        return signature;
    }
    const CallShape& shape = shape_of(ItemRef{data.def, data.args});
    const bool has_environment = data.kind == TypeKind::Closure;
    signature.assign(shape.inputs.begin() + (has_environment ? 1 : 0), shape.inputs.end());
    signature.push_back(shape.output);
    return signature;
}

const ModuleLowering::Dispatcher& ModuleLowering::dispatcher_of(TypeId pointer) {
    std::vector<TypeId> signature = signature_of(pointer);
    const auto [known, fresh] = dispatchers_.emplace(signature, Dispatcher());
    Dispatcher& dispatcher = known->second;
    if (!fresh) return dispatcher;
    dispatcher.body = std::make_unique<mir::Body>();
    dispatcher.body->arg_count = static_cast<std::uint32_t>(signature.size());
    const TypeId output = signature.back();
    signature.pop_back();
    signature.insert(signature.begin(), pointer);
    dispatcher.body->locals.push({output});
    for (const TypeId input : signature) dispatcher.body->locals.push({input});
    dispatcher.shape = shape_of(std::move(signature), output);
    ir::Function function;
    function.name = unique_symbol("ock_call_pointer");
    dispatcher.function = module().functions.push(std::move(function));
    origins_[dispatcher.function] = {{}, current_, {}, pointer};
    return dispatcher;
}

// Writes the dispatchers whose targets are not all written yet; what they call may make more targets. False: nothing was left.
bool ModuleLowering::write_dispatchers() {
    bool any = false;
    for (auto& [signature, dispatcher] : dispatchers_) {
        std::vector<TypeId> targets;
        for (std::size_t i = 0; i < fn_pointees_.size(); ++i) {
            if (signature_of(fn_pointees_[i]) == signature) targets.push_back(fn_pointees_[i]);
        }
        if (dispatcher.written == targets.size()) continue;
        any = true;
        dispatcher.written = targets.size();
        ir::Function function;
        function.name = module().functions[dispatcher.function].name;
        module().functions[dispatcher.function] = std::move(function);
        current_ = dispatcher.function;
        FunctionLowering(*this, *dispatcher.body, {}, dispatcher.function).run_dispatcher(dispatcher.shape, targets);
    }
    return any;
}

}  // namespace ockc::lower
