// One body: stack slots for its locals, its parameters, its blocks, statement by statement.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "lower/find_values.hpp"
#include "lower/function_lowering.hpp"

namespace ockc::lower {

using mir::StatementKind;
using mir::TerminatorKind;

FunctionLowering::FunctionLowering(ModuleLowering& module, const mir::Body& body, std::span<const types::GenericArg> args,
                                   ir::FuncId function)
    : module_(module), types_(module.types()), body_(body), args_(args.begin(), args.end()), function_id_(function),
      function_(std::move(module.module().functions[function])), builder_(function_), values_(function_), blocks_(body.blocks.size()) {
    builder_.at_end(function_.add_block());
    builder_.set_span(body.span);
}

void FunctionLowering::run(const CallShape& shape, std::span<const TypeId> fn_targets) {
    const hir::Def& def = module_.context().program().defs[body_.owner];
    for (const hir::Attribute& attribute : def.attributes) {
        if (attribute.kind != hir::AttributeKind::Inline) continue;
        const bool never = module_.context().program().interner.text(attribute.word) == "never";
        function_.inline_hint = never ? ir::Inline::Never : ir::Inline::Always;
        break;
    }
    declare_parameters(shape);
    if (!make_locals()) return give_up();
    find_fn_targets(fn_targets);
    bind_arguments(shape);
    lower_blocks();
    finish();
}

void FunctionLowering::declare_parameters(const CallShape& shape) {
    function_.results = shape.results;
    returns_memory_ = shape.returns_memory;
    for (ir::Type type : shape.params) {
        function_.add_block_param(function_.entry(), type);
        function_.param_attrs.push_back({});
    }
}

void FunctionLowering::run_kernel(const abi::KernelAbi& abi) {
    is_kernel_ = true;
    std::vector<ir::ValueId> slots;
    for (const abi::KernelParam& param : abi.params) {
        const bool pointer = param.kind == abi::ParamKind::Slice || param.kind == abi::ParamKind::DisjointSlice ||
                             param.kind == abi::ParamKind::Pointer || param.kind == abi::ParamKind::Tensor;
        for (std::uint32_t i = 0; i < param.slot_count; ++i) {
            const abi::ParamSlot& slot = abi.slots[param.first_slot + i];
            ir::ParamAttrs attrs;
            ir::Type type = ir::Type::PtrParam;
            if (!slot.bytes) type = slot.scalar == abi::Scalar::Bool ? ir::Type::I8 : scalar_slot_type(slot.scalar);
            if (pointer && i == 0) {
                type = ir::Type::PtrGlobal;
                attrs.readonly = (param.kind == abi::ParamKind::Slice && !param.is_atomic) || (param.kind == abi::ParamKind::Tensor && !param.writable);
                attrs.noalias = param.kind == abi::ParamKind::DisjointSlice || (param.kind == abi::ParamKind::Tensor && param.writable);
                attrs.align = param.type.align;
            }
            slots.push_back(function_.add_block_param(function_.entry(), type));
            function_.param_attrs.push_back(attrs);
        }
    }
    if (!make_locals()) return give_up();
    find_fn_targets({});
    for (std::uint32_t i = 0; i < body_.arg_count; ++i) {
        const abi::KernelParam& param = abi.params[i];
        bind_kernel_parameter(mir::LocalId(i + 1), param, std::span(slots).subspan(param.first_slot, param.slot_count));
    }
    for (const abi::Requirement& one : abi.launch.requirements) assume(one, abi, slots);
    lower_blocks();
    finish();
}

// One side of a `requires` relation, which the host has evaluated without overflow.
ir::ValueId FunctionLowering::size_value(const abi::SizeExpr& expr, const abi::KernelAbi& abi, std::span<const ir::ValueId> slots) {
    const auto widened = [&](ir::ValueId value) {
        return function_.type_of(value) == ir::Type::I64 ? value : builder_.convert(ir::Op::Zext, ir::Type::I64, value);
    };
    const auto both = [&](ir::Op op) {
        const ir::ValueId a = size_value(expr.operands[0], abi, slots), b = size_value(expr.operands[1], abi, slots);
        return builder_.binary(op, ir::Type::I64, a, b);
    };
    switch (expr.kind) {
        case abi::SizeExpr::Kind::Literal: return builder_.const_int(ir::Type::I64, expr.literal);
        case abi::SizeExpr::Kind::Param: return widened(slots[abi.params[expr.param].first_slot]);
        case abi::SizeExpr::Kind::Len: return slots[abi.params[expr.param].first_slot + 1];
        case abi::SizeExpr::Kind::RowWidth: return widened(slots[abi.params[expr.param].first_slot + 2]);
        case abi::SizeExpr::Kind::Add: return both(ir::Op::Iadd);
        case abi::SizeExpr::Kind::Sub: return both(ir::Op::Isub);
        case abi::SizeExpr::Kind::Mul: return both(ir::Op::Imul);
    }
    OCKC_UNREACHABLE("size expression");
}

// What the launcher has checked before the launch holds: control cannot come to where it does not.
void FunctionLowering::assume(const abi::Requirement& one, const abi::KernelAbi& abi, std::span<const ir::ValueId> slots) {
    static constexpr ir::IntCond kConds[] = {ir::IntCond::Ult, ir::IntCond::Ule, ir::IntCond::Ugt, ir::IntCond::Uge, ir::IntCond::Eq, ir::IntCond::Ne};
    const ir::ValueId lhs = size_value(one.lhs, abi, slots), rhs = size_value(one.rhs, abi, slots);
    const ir::ValueId holds = builder_.icmp(kConds[static_cast<std::size_t>(one.relation)], lhs, rhs);
    const ir::BlockId go_on = function_.add_block(), not_so = function_.add_block();
    function_.blocks[not_so].cold = true;
    builder_.br(holds, go_on, not_so);
    builder_.at_end(not_so);
    builder_.unreachable();
    builder_.at_end(go_on);
}

ir::Type FunctionLowering::scalar_slot_type(abi::Scalar scalar) {
    switch (scalar) {
        case abi::Scalar::F16: return ir::Type::F16;
        case abi::Scalar::BF16: return ir::Type::BF16;
        case abi::Scalar::F32: return ir::Type::F32;
        case abi::Scalar::F64: return ir::Type::F64;
        case abi::Scalar::Bool:
        case abi::Scalar::Char:
        case abi::Scalar::I8:
        case abi::Scalar::I16:
        case abi::Scalar::I32:
        case abi::Scalar::I64:
        case abi::Scalar::I128:
        case abi::Scalar::Isize:
        case abi::Scalar::U8:
        case abi::Scalar::U16:
        case abi::Scalar::U32:
        case abi::Scalar::U64:
        case abi::Scalar::U128:
        case abi::Scalar::Usize: return ir::int_type(abi::scalar_info(scalar).bytes * 8);
    }
    OCKC_UNREACHABLE("scalar");
}

bool FunctionLowering::make_locals() {
    const std::function<TypeId(TypeId)> concrete = [this](TypeId type) { return subst(type); };
    BodyTypes types{module_, {}, concrete};
    std::vector<TypeId> local_types;
    types.locals.reserve(body_.locals.size());
    local_types.reserve(body_.locals.size());
    for (const mir::Local& local : body_.locals) {
        local_types.push_back(subst(local.type));
        // One error for a value and the temporaries on its way.
        if (!check_size(local_types.back(), local.span)) return false;
        types.locals.push_back(&layout(local_types.back()));
    }
    const std::vector<bool> in_values = find_value_locals(body_, types);
    locals_.reserve(body_.locals.size());
    for (std::size_t i = 0; i < local_types.size(); ++i) {
        locals_.push_back(in_values[i] ? in_variables(local_types[i]) : temporary(local_types[i]));
    }
    return true;
}

bool FunctionLowering::check_size(TypeId type, Span span) {
    constexpr std::uint64_t kLocalMemory = 512 * 1024;   // bytes that the hardware gives a thread at most
    const Layout& shape = layout(type);
    const auto refuse = [&](Code code, std::string text) -> Diagnostic& { return module_.context().sink().error(code, span, std::move(text)); };
    switch (shape.error) {
        case types::LayoutError::None: break;
        case types::LayoutError::TooLarge:
            refuse(Code::OCK0404, fmt::format("values of the type `{}` are too big for the target architecture", module_.context().text(type)));
            return false;
        case types::LayoutError::Generic:
        case types::LayoutError::Recursive:
        case types::LayoutError::Unsized:
            refuse(Code::OCK0404, fmt::format("values of type `{}` have no fixed size", module_.context().text(type)));
            return false;
    }
    if (shape.size <= kLocalMemory) return true;
    refuse(Code::OCK0404, fmt::format("a value of type `{}` takes {} bytes, more than the {} bytes of a thread's local memory",
                                      module_.context().text(type), shape.size, kLocalMemory))
        .help("keep large data in memory that the kernel receives as a slice");
    return false;
}

TypeId FunctionLowering::subst(TypeId type) {
    if (args_.empty()) return module_.subst(type, args_);
    const auto [known, fresh] = concrete_.emplace(type, TypeId());
    if (fresh) known->second = module_.subst(type, args_);
    return known->second;
}

// An error was reported: a body that holds together and does nothing.
void FunctionLowering::give_up() {
    builder_.unreachable();
    finish();
}

void FunctionLowering::bind_arguments(const CallShape& shape) {
    const std::vector<ir::ValueId> params = function_.blocks[function_.entry()].params;
    std::size_t next = 0;
    if (returns_memory_) {
        return_place_ = locals_[0];
        return_place_.ptr = params[next++];
        locals_[0] = return_place_;
    }
    for (std::uint32_t i = 0; i < shape.inputs.size(); ++i) {
        PlaceRef& local = locals_[i + 1];
        const Layout& input = layout(local.type);
        Value value{local.type, form_of(input), {}, {}, {}};
        switch (value.form) {
            case ValueForm::Zero: break;
            case ValueForm::Scalar: value.a = params[next++]; break;
            case ValueForm::Pair:
                value.a = params[next++];
                value.b = params[next++];
                break;
            case ValueForm::Memory: local.ptr = params[next++]; continue;   // the caller's copy is the local
        }
        store(local, value);
    }
}

void FunctionLowering::bind_kernel_parameter(mir::LocalId id, const abi::KernelParam& param, std::span<const ir::ValueId> slots) {
    const PlaceRef& local = locals_[id.raw];
    const Layout& shape = layout(local.type);
    switch (param.kind) {
        case abi::ParamKind::ZeroSized: return;
        case abi::ParamKind::Tensor: return bind_tensor(local, param, slots);
        case abi::ParamKind::Slice:
        case abi::ParamKind::DisjointSlice: {
            if (param.has_row_width) return bind_rows(local, slots);
            // Both are a pair of pointer and length; DisjointSlice declares its fields in that order.
            OCKC_CHECK(form_of(shape) == ValueForm::Pair && shape.scalars[0].kind == types::ScalarKind::Pointer);
            const ir::ValueId ptr = builder_.convert(ir::Op::SpaceCast, ir::Type::Ptr, slots[0]);
            return store(local, {local.type, ValueForm::Pair, ptr, slots[1], {}});
        }
        case abi::ParamKind::TensorMap:
        case abi::ParamKind::Pointer:
            return store(local, scalar_value(local.type, builder_.convert(ir::Op::SpaceCast, ir::Type::Ptr, slots[0])));
        case abi::ParamKind::Scalar:
        case abi::ParamKind::Uniform: {
            ir::ValueId value = slots[0];
            if (param.type.scalar == abi::Scalar::Bool) value = builder_.convert(ir::Op::Trunc, ir::Type::I1, value);
            return store(local, scalar_value(local.type, value));
        }
        case abi::ParamKind::Struct: {
            const PlaceRef from{slots[0], 0, {}, local.type, &shape};
            return store(local, load(from));
        }
    }
}

// How many edges lead to each block from those that control can come to.
void FunctionLowering::count_predecessors() {
    predecessors_.assign(body_.blocks.size(), 0);
    std::vector<mir::BlockId> work{mir::BlockId(0)};
    std::vector<bool> seen(body_.blocks.size());
    seen[0] = true;
    while (!work.empty()) {
        const mir::BlockId block = work.back();
        work.pop_back();
        for_each_real_successor(body_.blocks[block].terminator, [&](mir::BlockId next) {
            ++predecessors_[next.raw];
            if (seen[next.raw]) return;
            seen[next.raw] = true;
            work.push_back(next);
        });
    }
}

// A DisjointSlice of a space with a row width: its first three fields are pointer, length and a struct of the width.
void FunctionLowering::bind_rows(const PlaceRef& local, std::span<const ir::ValueId> slots) {
    const types::TypeData& data = types_[local.type];
    const auto& fields = module_.context().adt(data.def).variants[0].fields;
    const auto type = [&](std::size_t i) { return module_.context().field_type(fields[i], data.args, module_.context().empty_env()); };
    const ir::ValueId ptr = builder_.convert(ir::Op::SpaceCast, ir::Type::Ptr, slots[0]);
    const ir::ValueId values[] = {ptr, slots[1], slots[2]};
    for (std::uint32_t i = 0; i < 3; ++i) store(field(local, i, type(i)), scalar_value(type(i), values[i]));
}

// A block with one predecessor sees the values that are known at that one's end, and is lowered while they are; a block where
// several meet starts anew. Blocks that control cannot come to are not lowered.
void FunctionLowering::lower_blocks() {
    struct Waiting {
        mir::BlockId block;
        std::size_t mark;
    };
    count_predecessors();
    std::vector<Waiting> inside;           // the tree of blocks below the last one that started anew
    std::vector<mir::BlockId> anew;
    std::vector<bool> met(body_.blocks.size());
    if (predecessors_[0] == 0) {
        blocks_[0] = builder_.block();
        inside.push_back({mir::BlockId(0), values_.mark()});
    } else {
        builder_.jump(block_of(mir::BlockId(0)));
        anew.push_back(mir::BlockId(0));
        met[0] = true;
    }
    for (std::size_t taken = 0; !inside.empty() || taken < anew.size();) {
        const Waiting at = inside.empty() ? Waiting{anew[taken++], 0} : inside.back();
        if (!inside.empty()) inside.pop_back();
        values_.roll_back(at.mark);
        if (!blocks_[at.block.raw].valid()) continue;   // the edge to it came to nothing: a call that diverges
        builder_.at_end(blocks_[at.block.raw]);
        mir::BlockId last = at.block;
        for (next_ = at.block; next_.valid();) {
            last = std::exchange(next_, {});
            lower_block(last);
        }
        const std::size_t first = inside.size();
        for_each_real_successor(body_.blocks[last].terminator, [&](mir::BlockId next) {
            if (predecessors_[next.raw] == 1) {
                inside.push_back({next, values_.mark()});
            } else if (!met[next.raw]) {
                met[next.raw] = true;
                anew.push_back(next);
            }
        });
        std::reverse(inside.begin() + static_cast<std::ptrdiff_t>(first), inside.end());
    }
}

void FunctionLowering::lower_block(mir::BlockId id) {
    const mir::BasicBlock& block = body_.blocks[id];
    for (const mir::Statement& statement : block.statements) {
        builder_.set_span(statement.span);
        lower_statement(statement);
    }
    builder_.set_span(block.terminator.span);
    lower_terminator(block.terminator);
}

// To a block without a test: it continues this one where nothing else leads there.
void FunctionLowering::go_on(mir::BlockId target) {
    if (predecessors_[target.raw] == 1) {
        next_ = target;
    } else {
        builder_.jump(block_of(target));
    }
}

void FunctionLowering::finish() {
    values_.finish();
    auto& entry = function_.blocks[function_.entry()].insts;
    entry.insert(entry.begin(), allocas_.begin(), allocas_.end());
    const auto is_tile = [](const ir::Value& value) { return ir::is_tile(value.type); };
    const bool has_tiles = std::any_of(function_.values.begin(), function_.values.end(), is_tile);
    if (has_tiles && !is_kernel_) function_.inline_hint = ir::Inline::Always;   // tiles never cross a call
    module_.module().functions[function_id_] = std::move(function_);
}

void FunctionLowering::lower_statement(const mir::Statement& statement) {
    switch (statement.kind()) {
        case StatementKind::Assign: {
            const auto& node = statement.as<mir::AssignStatement>();
            return assign(node.place, node.value);
        }
        case StatementKind::SetDiscriminant: {
            const auto& node = statement.as<mir::SetDiscriminantStatement>();
            return set_discriminant(lower_place(node.place), node.variant);
        }
        case StatementKind::None:
        case StatementKind::StorageLive:
        case StatementKind::StorageDead:
        case StatementKind::FakeRead:
        case StatementKind::PlaceMention:
        case StatementKind::AscribeType:
        case StatementKind::DeepAccess:
        case StatementKind::Nop: return;   // for the borrow checker only
    }
}

void FunctionLowering::lower_terminator(const mir::Terminator& terminator) {
    switch (terminator.kind()) {
        case TerminatorKind::None: break;
        case TerminatorKind::Goto: return go_on(terminator.as<mir::GotoTerminator>().target);
        case TerminatorKind::SwitchInt: return lower_switch(terminator.as<mir::SwitchIntTerminator>());
        case TerminatorKind::Return: return lower_return();
        case TerminatorKind::Unreachable: return builder_.unreachable();
        case TerminatorKind::Drop: return lower_drop(terminator.as<mir::DropTerminator>());
        case TerminatorKind::Call: return lower_call(terminator.as<mir::CallTerminator>(), terminator.span);
        case TerminatorKind::Assert: return lower_assert(terminator.as<mir::AssertTerminator>(), terminator.span);
        case TerminatorKind::Panic: return lower_panic(terminator.as<mir::PanicTerminator>(), terminator.span);
        case TerminatorKind::FalseEdge: return go_on(terminator.as<mir::FalseEdgeTerminator>().real_target);
        case TerminatorKind::FalseUnwind: return go_on(terminator.as<mir::FalseUnwindTerminator>().real_target);
    }
    OCKC_UNREACHABLE("block without a terminator");
}

void FunctionLowering::lower_switch(const mir::SwitchIntTerminator& node) {
    const ir::ValueId value = scalar_operand(node.operand);
    ir::BlockId otherwise;
    std::span<const mir::SwitchCase> cases = node.cases;
    if (node.otherwise.valid()) {
        otherwise = block_of(node.otherwise);
    } else {   // the cases are all there are: the last one needs no test
        otherwise = block_of(cases.back().target);
        cases = cases.first(cases.size() - 1);
    }
    if (function_.type_of(value) == ir::Type::I1 && cases.size() == 1) {
        const ir::BlockId target = block_of(cases[0].target);
        return cases[0].low == 0 ? builder_.br(value, otherwise, target) : builder_.br(value, target, otherwise);
    }
    if (cases.empty()) return builder_.jump(otherwise);
    if (cases.size() == 1 || ir::type_bits(function_.type_of(value)) > 64) {   // a chain of comparisons
        for (const mir::SwitchCase& one : cases) {
            const ir::ValueId bits = builder_.const_int(function_.type_of(value), one.low, one.high);
            const ir::ValueId equal = builder_.icmp(ir::IntCond::Eq, value, bits);
            const bool last = &one == &cases.back();
            const ir::BlockId next = last ? otherwise : function_.add_block();
            builder_.br(equal, block_of(one.target), next);
            if (!last) builder_.at_end(next);
        }
        return;
    }
    std::vector<std::uint64_t> keys;
    std::vector<ir::Target> targets{{otherwise, {}}};
    for (const mir::SwitchCase& one : cases) {
        keys.push_back(one.low);
        targets.push_back({block_of(one.target), {}});
    }
    builder_.switch_on(value, std::move(keys), std::move(targets));
}

void FunctionLowering::lower_return() {
    if (is_kernel_ || returns_memory_) return builder_.ret();
    const Value value = load(locals_[0]);
    std::vector<ir::ValueId> results;
    if (value.a.valid()) results.push_back(value.a);
    if (value.b.valid()) results.push_back(value.b);
    builder_.ret(results);
}

}  // namespace ockc::lower
