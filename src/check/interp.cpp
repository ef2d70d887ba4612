#include "check/interp.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ockc::check {

using hir::DefKind;

namespace {
constexpr std::uint32_t kFrameLimit = 128;
constexpr std::uint32_t kValueDepth = 512;
constexpr std::uint64_t kMemoryLimit = 2'000'000;   // values, elements and fields counted
}  // namespace

Interpreter::Interpreter(Context& context) : cx_(context), types_(context.types()), program_(context.program()) {}

Interpreter::Value Interpreter::fail(Span at, std::string message) {
    if (flow_ != Flow::Fail) {
        flow_ = Flow::Fail;
        failure_ = std::move(message);
        failure_span_ = at;
    }
    return {};
}

bool Interpreter::step(Span at) {
    if (flow_ == Flow::Fail) return false;
    if (memory_nodes_ > kMemoryLimit) {
        fail(at, "constant evaluation needs too much memory");
        return false;
    }
    if (++steps_ <= cx_.options().const_step_limit) return true;
    out_of_steps_ = true;
    fail(at, "constant evaluation is taking a long time");
    return false;
}

TypeId Interpreter::instantiate(TypeId type) {
    if (!type.valid()) return type;
    if (types_.has(type, types::kHasParam)) type = types_.subst(type, frame_->args);
    return cx_.normalize(type, cx_.empty_env());
}

ItemRef Interpreter::instantiate(ItemRef item) {
    if (!item.args.valid()) item.args = types_.no_args;
    if (types_.has(item.args, types::kHasParam)) item.args = types_.subst(item.args, frame_->args);
    item.args = cx_.normalize(item.args, cx_.empty_env());
    return item;
}

// ---- memory -------------------------------------------------------------------------------------------------------------------------------------

Interpreter::AllocId Interpreter::allocate(Value value) {
    memory_nodes_ += node_count(value);
    memory_.push_back(std::move(value));
    return static_cast<AllocId>(memory_.size() - 1);
}

std::uint64_t Interpreter::node_count(const Value& value) {
    std::uint64_t count = 1;
    for (const Value& field : value.fields) count += field.fields.empty() ? 1 : node_count(field);
    return count;
}

Interpreter::Value* Interpreter::resolve(const Place& place, Span at) {
    if (place.alloc == kNoAlloc) {
        fail(at, "a pointer that points nowhere is used");
        return nullptr;
    }
    Value* value = &memory_[place.alloc];
    for (std::uint32_t index : place.path) {
        if (value->kind != Value::Kind::Aggregate || index >= value->fields.size()) {
            fail(at, "memory that has no value is used");
            return nullptr;
        }
        value = &value->fields[index];
    }
    return value;
}

Interpreter::Value Interpreter::read(const Place& place, Span at) {
    const Value* value = resolve(place, at);
    if (value == nullptr) return {};
    if (value->kind == Value::Kind::Uninit) {
        const TypeId type = value->type;   // none: a variable that has no value yet
        const bool may_be = type.valid() && types_.kind(type) == TypeKind::Adt && types_[type].def == cx_.state().lang.maybe_uninit;
        if (!may_be) return fail(at, "an uninitialised value is read");
    }
    return *value;
}

Interpreter::Value Interpreter::to_value(Operand operand, Span at) { return operand.is_place ? read(operand.place, at) : std::move(operand.value); }

Interpreter::Place Interpreter::to_place(Operand operand) {
    if (operand.is_place) return std::move(operand.place);
    Place place;
    place.type = operand.type;
    place.alloc = allocate(std::move(operand.value));
    return place;
}

// ---- calls ----------------------------------------------------------------------------------------------------------------------------------------

Interpreter::Value Interpreter::construct(ItemRef ctor, std::vector<Value> fields) {
    const DefId owner = program_.defs[ctor.def].parent;
    const bool variant = program_.defs[owner].kind == DefKind::Variant;
    const DefId adt = variant ? program_.defs[owner].parent : owner;
    Value value;
    value.kind = Value::Kind::Aggregate;
    value.type = types_.adt(adt, ctor.args);
    value.variant = variant ? cx_.adt(adt).variant_index(owner) : 0;
    value.fields = std::move(fields);
    return value;
}

Interpreter::Value Interpreter::call(ItemRef callee, std::vector<Value> args, Span at) {
    constexpr std::uint64_t kCallSteps = 20;   // a frame costs as much as some expressions
    steps_ += kCallSteps;
    if (!step(at)) return {};
    if (program_.defs[callee.def].kind == DefKind::Ctor) return construct(callee, std::move(args));
    if (types_.has(callee.args, types::kHasParam)) {
        too_generic_ = true;
        return fail(at, "");
    }
    const auto instance = cx_.resolve_instance(callee);
    if (!instance) return fail(at, fmt::format("the function `{}` cannot be called here", cx_.text(callee)));
    switch (instance->kind) {
        case Instance::Kind::Item: return call_body(instance->item, std::move(args), at);
        case Instance::Kind::CloneShim: {
            if (args.empty() || args[0].kind != Value::Kind::Ref) return fail(at, "a value that cannot be cloned");
            return read(args[0].target, at);
        }
        case Instance::Kind::FnItemCall: {
            if (args.size() != 2) return fail(at, "a call with the wrong arguments");
            std::vector<Value> inner = std::move(args[1].fields);
            return call(instance->item, std::move(inner), at);
        }
        case Instance::Kind::ScalarOp: return scalar_operator(instance->item, args, at);
        case Instance::Kind::FnPtrCall:
        case Instance::Kind::ClosureCall:
        case Instance::Kind::DropGlue: return fail(at, "closures and function pointers cannot be called in constants");
    }
    return {};
}

Interpreter::Value Interpreter::scalar_operator(ItemRef method, const std::vector<Value>& args, Span at) {
    const Context::ScalarOperator op = cx_.scalar_operator(method.def);
    const auto plain = [&](const Value& value) { return value.kind == Value::Kind::Ref ? read(value.target, at) : value; };
    const Value lhs = plain(args[0]);
    if (flow_ != Flow::Normal) return {};
    if (op.is_unary) return unary(op.unary, lhs, lhs.type, at);
    const Value rhs = plain(args[1]);
    if (flow_ != Flow::Normal) return {};
    Value result = binary(op.binary, lhs, rhs, lhs.type, at);
    if (!op.is_assign) return result;
    if (Value* slot = flow_ == Flow::Normal ? resolve(args[0].target, at) : nullptr) *slot = std::move(result);
    return unit();
}

Interpreter::Value Interpreter::call_body(ItemRef fn, std::vector<Value> args, Span at) {
    const hir::Def& def = program_.defs[fn.def];
    if (!def.intrinsic.empty()) return intrinsic(def.intrinsic, fn, std::move(args), at);
    const auto* data = std::get_if<hir::FnDef>(&def.data);
    if (data == nullptr || !data->has_body) return fail(at, fmt::format("the function `{}` has no body", program_.name(fn.def)));
    const TypeTables* tables = cx_.check_body(fn.def);
    if (tables == nullptr) return fail(at, "");
    if (++depth_ > kFrameLimit) return fail(at, "reached the recursion limit of constant evaluation");
    Frame frame;
    frame.tables = tables;
    frame.body = program_.bodies[data->body].get();
    frame.args = fn.args;
    frame.owner = fn.def;
    Frame* caller = std::exchange(frame_, &frame);
    const std::size_t first = memory_.size();
    const std::uint64_t nodes = memory_nodes_;
    const bool pure = std::all_of(args.begin(), args.end(), [](const Value& arg) { return arg.kind == Value::Kind::Scalar; });
    for (std::size_t i = 0; i < frame.body->params.size() && i < args.size(); ++i) {
        Operand operand;
        operand.type = args[i].type;
        operand.value = std::move(args[i]);
        match(frame.body->params[i].pat, std::move(operand));
    }
    Value result = eval(frame.body->value);
    if (flow_ == Flow::Return) {
        flow_ = Flow::Normal;
        result = std::move(flow_value_);
    }
    if (flow_ == Flow::Fail) failure_frames_.push_back({fn.def, at});
    frame_ = caller;
    --depth_;
    if (pure && !has_reference(result)) {   // nothing can point into the call's memory any more
        memory_.resize(first);
        memory_nodes_ = nodes;
    }
    return result;
}

bool Interpreter::has_reference(const Value& value) {
    return value.kind == Value::Kind::Ref || std::any_of(value.fields.begin(), value.fields.end(), [](const Value& field) { return has_reference(field); });
}

Interpreter::Value Interpreter::constant_item(ItemRef item, Span at) {
    const hir::Def& def = program_.defs[item.def];
    if (def.kind == DefKind::AssocConst && program_.defs[def.parent].kind == DefKind::Trait) {
        if (types_.has(item.args, types::kHasParam)) {
            too_generic_ = true;
            return fail(at, "");
        }
        const auto instance = cx_.resolve_instance(item);
        if (!instance) return fail(at, "");
        item = instance->item;
    }
    const ConstValue* value = cx_.eval_const(item);
    if (value == nullptr) {
        too_generic_ |= types_.has(item.args, types::kHasParam);
        return fail(at, "");
    }
    return from_const(*value);
}

// A const generic argument as a value.
Interpreter::Value Interpreter::constant_argument(ConstId constant, Span at) {
    const types::ConstData data = types_[constant];
    if (data.kind != types::ConstKind::Value) {
        too_generic_ = true;
        return fail(at, "");
    }
    if (types_.kind(data.type) != TypeKind::Array) return scalar(data.type, static_cast<UInt128>(data.bits[1]) << 64 | data.bits[0]);
    Value array = unit();
    array.type = data.type;
    for (ConstId element : types_.const_elements(constant)) array.fields.push_back(constant_argument(element, at));
    return array;
}

// ---- constants in and out ------------------------------------------------------------------------------------------------------------------------------

Interpreter::Value Interpreter::from_const(const ConstValue& constant) {
    Value value;
    value.type = constant.type;
    value.bits = static_cast<UInt128>(constant.bits[1]) << 64 | constant.bits[0];
    value.variant = constant.variant;
    switch (constant.kind) {
        case ConstValue::Kind::Scalar: value.kind = Value::Kind::Scalar; break;
        case ConstValue::Kind::Aggregate:
            value.kind = Value::Kind::Aggregate;
            for (const ConstValue* field : constant.fields) value.fields.push_back(from_const(*field));
            break;
        case ConstValue::Kind::Ref: {
            value.kind = Value::Kind::Ref;
            value.target.alloc = allocate(from_const(*constant.target));
            const TypeId pointee = types_[constant.type].element;
            value.target.type = pointee;
            if (types_.kind(pointee) == TypeKind::Slice) {
                value.target.is_slice = true;
                value.target.length = constant.target->fields.size();
            }
            break;
        }
        case ConstValue::Kind::Bytes:
            value.kind = Value::Kind::Bytes;
            value.bytes = constant.bytes;
            break;
        case ConstValue::Kind::StaticRef:
            value.kind = Value::Kind::StaticRef;
            value.static_def = constant.static_def;
            break;
        case ConstValue::Kind::FnItem: value.kind = Value::Kind::FnItem; break;
        case ConstValue::Kind::FnPtr:
            value.kind = Value::Kind::FnPtr;
            value.fn_item = constant.fn_item;
            break;
        case ConstValue::Kind::Uninit: break;
    }
    return value;
}

const ConstValue* Interpreter::to_const(const Value& value, Span at, std::uint32_t depth) {
    if (depth > kValueDepth) {
        fail(at, "a constant is nested too deeply");
        return nullptr;
    }
    if (++converted_ > kMemoryLimit) {
        fail(at, "a constant is too large to evaluate");
        return nullptr;
    }
    Arena& arena = cx_.state().arena;
    ConstValue* out = arena.make<ConstValue>();
    out->type = types_.erase_regions(value.type);
    out->variant = value.variant;
    out->bits = {static_cast<std::uint64_t>(value.bits), static_cast<std::uint64_t>(value.bits >> 64)};
    switch (value.kind) {
        case Value::Kind::Uninit: out->kind = ConstValue::Kind::Uninit; break;
        case Value::Kind::Scalar: out->kind = ConstValue::Kind::Scalar; break;
        case Value::Kind::Aggregate: {
            out->kind = ConstValue::Kind::Aggregate;
            std::vector<const ConstValue*> fields;
            for (const Value& field : value.fields) {
                const ConstValue* inner = to_const(field, at, depth + 1);
                if (inner == nullptr) return nullptr;
                fields.push_back(inner);
            }
            out->fields = arena.copy(std::span<const ConstValue* const>(fields));
            break;
        }
        case Value::Kind::Ref: {
            out->kind = ConstValue::Kind::Ref;
            const Value* target = resolve(value.target, at);
            if (target == nullptr) return nullptr;
            if (value.target.is_slice) {
                Value part;
                part.kind = Value::Kind::Aggregate;
                part.type = types_.array(types_[value.target.type].element, types_.const_usize(value.target.length));
                part.fields.assign(target->fields.begin() + static_cast<std::ptrdiff_t>(value.target.start),
                                   target->fields.begin() + static_cast<std::ptrdiff_t>(value.target.start + value.target.length));
                out->target = to_const(part, at, depth + 1);
            } else {
                out->target = to_const(*target, at, depth + 1);
            }
            if (out->target == nullptr) return nullptr;
            break;
        }
        case Value::Kind::Bytes:
            out->kind = ConstValue::Kind::Bytes;
            out->bytes = value.bytes;
            break;
        case Value::Kind::StaticRef:
            out->kind = ConstValue::Kind::StaticRef;
            out->static_def = value.static_def;
            break;
        case Value::Kind::FnItem: out->kind = ConstValue::Kind::FnItem; break;
        case Value::Kind::FnPtr:
            out->kind = ConstValue::Kind::FnPtr;
            out->fn_item = value.fn_item;
            break;
    }
    return out;
}

const ConstValue* Interpreter::run(ItemRef item) {
    const TypeTables* tables = cx_.check_body(item.def);
    if (tables == nullptr) return nullptr;
    Frame frame;
    frame.tables = tables;
    frame.body = program_.bodies[tables->body].get();
    frame.args = item.args;
    frame.owner = item.def;
    frame_ = &frame;
    const Span at = frame.body->exprs[frame.body->value].span;
    const Value value = eval(frame.body->value);
    const ConstValue* result = flow_ == Flow::Normal ? to_const(value, at, 0) : nullptr;
    if (flow_ == Flow::Normal && result != nullptr) return result;
    if (too_generic_ || failure_.empty()) return nullptr;   // generic, or reported elsewhere
    // The place is in the constant itself; where inside a called function it failed is a note.
    const bool inside_call = !failure_frames_.empty();
    const Span place = inside_call ? failure_frames_.back().second : failure_span_;
    const std::string name = program_.defs[item.def].kind != DefKind::AnonConst ? fmt::format("`{}`", program_.path_text(item.def)) : std::string("this constant");
    const bool lint = out_of_steps_ && cx_.sink().levels().at("long_running_const_eval", place) == LintLevel::Deny;
    Diagnostic& diagnostic = lint ? cx_.sink().lint("long_running_const_eval", place, failure_) : cx_.sink().error(Code::E0080, place, failure_);
    diagnostic.label(place, fmt::format("evaluation of {} failed {}", name, inside_call ? "inside this call" : "here"));
    for (std::size_t i = failure_frames_.size(); i-- > 0;) {
        const auto& [fn, call_span] = failure_frames_[i];
        const Span inner = i == 0 ? failure_span_ : failure_frames_[i - 1].second;
        static_cast<void>(call_span);
        diagnostic.note_at(inner, fmt::format("inside `{}`{}", program_.path_text(fn), i == 0 ? ", the failure occurred here" : ""));
    }
    return nullptr;
}

}  // namespace ockc::check
