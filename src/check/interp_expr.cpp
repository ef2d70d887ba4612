// Expressions of constants.
#include <fmt/format.h>

#include "check/interp.hpp"
#include "check/literal_value.hpp"

namespace ockc::check {

using hir::DefKind;
using hir::ExprId;
using types::Mutability;

Interpreter::Value Interpreter::eval(ExprId id) {
    const Span at = expr(id).span;
    Operand operand = eval_operand(id);
    if (flow_ != Flow::Normal) return {};
    return to_value(std::move(operand), at);
}

Interpreter::Operand Interpreter::eval_operand(ExprId id) {
    Operand operand = eval_bare(id);
    for (const Adjustment& step : frame_->tables->adjustments(id)) {
        if (flow_ != Flow::Normal) return {};
        operand = adjust(std::move(operand), step, expr(id).span);
    }
    return operand;
}

Interpreter::Place Interpreter::eval_place(ExprId id) { return to_place(eval_operand(id)); }

Interpreter::Operand Interpreter::eval_deref(Operand pointer, TypeId type, Span at) {
    const Value value = to_value(std::move(pointer), at);
    Operand out;
    out.type = type;
    if (flow_ != Flow::Normal) return out;
    if (value.kind == Value::Kind::StaticRef) {
        const ConstValue* constant = cx_.eval_static(value.static_def);
        if (constant == nullptr) {
            fail(at, "");
            return out;
        }
        out.value = from_const(*constant);
        return out;
    }
    if (value.kind != Value::Kind::Ref) {
        fail(at, "a pointer that points nowhere is dereferenced");
        return out;
    }
    out.is_place = true;
    out.place = value.target;
    out.place.type = type;
    return out;
}

Interpreter::Operand Interpreter::adjust(Operand operand, const Adjustment& step, Span at) {
    const TypeId target = instantiate(step.target);
    Operand out;
    out.type = target;
    switch (step.kind) {
        case AdjustKind::NeverToAny: return operand;
        case AdjustKind::Deref: return eval_deref(std::move(operand), target, at);
        case AdjustKind::OverloadedDeref: {
            Value reference;
            reference.kind = Value::Kind::Ref;
            const TypeId from = operand.type;
            reference.target = to_place(std::move(operand));
            reference.type = types_.ref(types_.erased, from, step.mutability);
            Operand result;
            result.type = types_.ref(types_.erased, target, step.mutability);
            result.value = call(instantiate(step.callee), {reference}, at);
            return eval_deref(std::move(result), target, at);
        }
        case AdjustKind::Borrow:
        case AdjustKind::RawBorrow: {
            if (operand.is_place && operand.place.static_def.valid()) {
                out.value.kind = Value::Kind::StaticRef;
                out.value.static_def = operand.place.static_def;
            } else {
                out.value.kind = Value::Kind::Ref;
                out.value.target = to_place(std::move(operand));
            }
            out.value.type = target;
            return out;
        }
        case AdjustKind::Unsize: {
            out.value = to_value(std::move(operand), at);
            if (out.value.kind == Value::Kind::Ref) {
                const Value* array = resolve(out.value.target, at);
                if (array == nullptr) return out;
                out.value.target.is_slice = true;
                out.value.target.length = array->fields.size();
                out.value.target.type = types_[target].element;
            }
            out.value.type = target;
            return out;
        }
        case AdjustKind::MutToConst:
        case AdjustKind::UnsafeFnPtr:
            out.value = to_value(std::move(operand), at);
            out.value.type = target;
            return out;
        case AdjustKind::ReifyFn: {
            out.value.kind = Value::Kind::FnPtr;
            out.value.fn_item = operand.type;
            out.value.type = target;
            return out;
        }
        case AdjustKind::ClosureToFnPtr:
            out.value.kind = Value::Kind::FnPtr;
            out.value.fn_item = operand.type;
            out.value.type = target;
            return out;
    }
    return out;
}

Interpreter::Operand Interpreter::eval_bare(ExprId id) {
    Operand out;
    const hir::Expr& e = expr(id);
    out.type = type_of(id);
    if (!step(e.span)) return out;
    const auto value = [&](Value v) { out.value = std::move(v); };
    std::visit(ast::Overloaded{
                   [&](std::monostate) {},
                   [&](const hir::ErrorExpr&) { fail(e.span, ""); },
                   [&](const hir::LiteralExpr& x) { value(eval_literal(id, x.value)); },
                   [&](const hir::PathExpr& x) {
                       const bool resolved = x.path->kind == hir::QPath::Kind::Resolved;
                       if (resolved && x.path->path.res.kind == hir::Res::Kind::Local) {
                           const auto local = frame_->locals.find(x.path->path.res.local);
                           if (local == frame_->locals.end()) {
                               fail(e.span, "a variable without a value is used");
                               return;
                           }
                           out.is_place = true;
                           out.place.alloc = local->second;
                           out.place.type = out.type;
                           return;
                       }
                       const ItemRef item = frame_->tables->expr_items[id];
                       if (item.valid() && program_.defs[item.def].kind == DefKind::Static) {
                           if (program_.as<hir::StaticDef>(item.def).is_mut) {
                               fail(e.span, "constant accesses mutable global memory");
                               return;
                           }
                           out.is_place = true;
                           out.place.static_def = item.def;
                           out.place.type = out.type;
                           const ConstValue* constant = cx_.eval_static(item.def);
                           if (constant != nullptr) out.place.alloc = allocate(from_const(*constant));
                           return;
                       }
                       value(eval_path(id));
                   },
                   [&](const hir::UnaryExpr& x) {
                       const ItemRef callee = frame_->tables->callees[id];
                       if (x.op == hir::UnaryOp::Deref) {
                           Operand pointer = eval_operand(x.operand);
                           if (callee.valid() && flow_ == Flow::Normal) {
                               Operand result;
                               result.value = call(instantiate(callee), {to_value(std::move(pointer), e.span)}, e.span);
                               pointer = std::move(result);
                           }
                           if (flow_ == Flow::Normal) out = eval_deref(std::move(pointer), out.type, e.span);
                           return;
                       }
                       Value operand = eval(x.operand);
                       if (flow_ != Flow::Normal) return;
                       // `-128` is one literal: 128 alone does not fit an i8.
                       const bool literal = x.op == hir::UnaryOp::Neg && std::holds_alternative<hir::LiteralExpr>(expr(x.operand).data);
                       if (literal && types_.kind(out.type) == TypeKind::Int) {
                           value(negated(operand));
                           return;
                       }
                       value(callee.valid() ? call(instantiate(callee), {std::move(operand)}, e.span) : unary(x.op, operand, out.type, e.span));
                   },
                   [&](const hir::BinaryExpr& x) {
                       Value lhs = eval(x.lhs);
                       if (flow_ != Flow::Normal) return;
                       if (x.op == hir::BinaryOp::And || x.op == hir::BinaryOp::Or) {
                           const bool decided = (lhs.bits != 0) == (x.op == hir::BinaryOp::Or);
                           value(decided ? std::move(lhs) : eval(x.rhs));
                           return;
                       }
                       Value rhs = eval(x.rhs);
                       if (flow_ != Flow::Normal) return;
                       const ItemRef callee = frame_->tables->callees[id];
                       value(callee.valid() ? call(instantiate(callee), {std::move(lhs), std::move(rhs)}, e.span) : binary(x.op, lhs, rhs, out.type, e.span));
                   },
                   [&](const hir::AssignExpr& x) {
                       Value rhs = eval(x.rhs);
                       if (flow_ != Flow::Normal) return;
                       const Place place = eval_place(x.lhs);
                       if (Value* slot = flow_ == Flow::Normal ? resolve(place, e.span) : nullptr) *slot = std::move(rhs);
                       value(unit());
                   },
                   [&](const hir::AssignOpExpr& x) { value(eval_assign_op(id, x)); },
                   [&](const hir::AddressOfExpr& x) {
                       Operand operand = eval_operand(x.operand);
                       if (flow_ != Flow::Normal) return;
                       out = adjust(std::move(operand), {AdjustKind::Borrow, x.mutability, false, {}, frame_->tables->type(id)}, e.span);
                   },
                   [&](const hir::FieldExpr& x) {
                       Operand base = eval_operand(x.base);
                       if (flow_ == Flow::Normal) out = part(base, frame_->tables->fields[id], out.type);
                   },
                   [&](const hir::IndexExpr& x) { out = eval_index(id, x); },
                   [&](const hir::CallExpr& x) { value(eval_call(id, x)); },
                   [&](const hir::MethodCallExpr& x) { value(eval_method(id, x)); },
                   [&](const hir::TupleExpr& x) {
                       Value tuple = unit();
                       tuple.type = out.type;
                       for (ExprId element : x.elements) {
                           tuple.fields.push_back(eval(element));
                           if (flow_ != Flow::Normal) return;
                       }
                       value(std::move(tuple));
                   },
                   [&](const hir::ArrayExpr& x) {
                       Value array = unit();
                       array.type = out.type;
                       for (ExprId element : x.elements) {
                           array.fields.push_back(eval(element));
                           if (flow_ != Flow::Normal) return;
                       }
                       value(std::move(array));
                   },
                   [&](const hir::RepeatExpr& x) {
                       Value element = eval(x.value);
                       if (flow_ != Flow::Normal) return;
                       const auto count = cx_.usize_value(types_[out.type].length);
                       if (!count) {
                           too_generic_ = true;
                           fail(e.span, "");
                           return;
                       }
                       constexpr std::uint64_t kElementLimit = 2'000'000;   // values, those inside the elements counted
                       if (*count > kElementLimit / node_count(element)) {
                           fail(e.span, "an array in a constant is too large to evaluate");
                           return;
                       }
                       steps_ += *count;
                       Value array = unit();
                       array.type = out.type;
                       array.fields.assign(*count, element);
                       value(std::move(array));
                   },
                   [&](const hir::StructExpr& x) { value(eval_struct(id, x)); },
                   [&](const hir::CastExpr& x) {
                       const CastKind kind = frame_->tables->casts[id];
                       Value operand = eval(x.operand);
                       if (flow_ == Flow::Normal) value(cast(kind, operand, out.type, e.span));
                   },
                   [&](const hir::LetExpr& x) {
                       Operand operand = eval_operand(x.init);
                       if (flow_ == Flow::Normal) value(scalar(types_.boolean, match(x.pat, std::move(operand)) ? 1 : 0));
                   },
                   [&](const hir::IfExpr& x) { value(eval_if(x)); },
                   [&](const hir::MatchExpr& x) { value(eval_match(id, x)); },
                   [&](const hir::LoopExpr& x) { value(eval_loop(id, x)); },
                   [&](const hir::BlockExpr& x) {
                       Value result = eval_block(x.block);
                       if (flow_ == Flow::Break && flow_target_ == id) {
                           flow_ = Flow::Normal;
                           result = std::move(flow_value_);
                       }
                       value(std::move(result));
                   },
                   [&](const hir::BreakExpr& x) {
                       Value result = x.value.valid() ? eval(x.value) : unit();
                       if (flow_ != Flow::Normal) return;
                       flow_ = Flow::Break;
                       flow_target_ = x.target;
                       flow_value_ = std::move(result);
                   },
                   [&](const hir::ContinueExpr& x) {
                       flow_ = Flow::Continue;
                       flow_target_ = x.target;
                   },
                   [&](const hir::ReturnExpr& x) {
                       Value result = x.value.valid() ? eval(x.value) : unit();
                       if (flow_ != Flow::Normal) return;
                       flow_ = Flow::Return;
                       flow_value_ = std::move(result);
                   },
                   [&](const hir::ClosureExpr& x) {
                       if (!cx_.closure_info(x.def).captures.empty()) return static_cast<void>(fail(e.span, "closures that capture cannot be made in constants"));
                       Value closure;
                       closure.kind = Value::Kind::Aggregate;
                       closure.type = out.type;
                       value(std::move(closure));
                   },
                   [&](const hir::ConstBlockExpr& x) { value(constant_item({x.constant, frame_->args}, e.span)); },
                   [&](const hir::PanicExpr& x) { value(eval_panic(id, x)); },
               },
               e.data);
    return out;
}

Interpreter::Value Interpreter::eval_literal(ExprId id, const hir::Literal& literal) {
    const TypeId type = type_of(id);
    if (const ConstId known = frame_->tables->literals[id]; known.valid()) {
        const types::ConstData& data = types_[known];
        return scalar(type, static_cast<UInt128>(data.bits[1]) << 64 | data.bits[0]);
    }
    Value target;
    if (literal.kind == hir::Literal::Kind::ByteStr) {
        target = unit();
        target.type = types_[type].element;
        for (const char c : literal.text) target.fields.push_back(scalar(types_.int_type(types::IntKind::U8), static_cast<unsigned char>(c)));
    } else {
        target.kind = Value::Kind::Bytes;
        target.type = types_.str;
        target.bytes = literal.text;
    }
    Value reference;
    reference.kind = Value::Kind::Ref;
    reference.type = type;
    reference.target.type = target.type;
    reference.target.alloc = allocate(std::move(target));
    return reference;
}

Interpreter::Value Interpreter::eval_path(ExprId id) {
    const ItemRef item = instantiate(frame_->tables->expr_items[id]);
    const Span at = expr(id).span;
    if (!item.valid()) return fail(at, "");
    switch (program_.defs[item.def].kind) {
        case DefKind::Const:
        case DefKind::AssocConst: return constant_item(item, at);
        case DefKind::ConstParam: {
            const GenericsInfo& generics = cx_.generics_of(program_.defs[item.def].parent);
            for (std::uint32_t i = 0; i < generics.own.size(); ++i) {
                if (generics.own[i].def != item.def) continue;
                const auto args = types_[frame_->args];
                if (generics.parent_count + i >= args.size()) break;
                return constant_argument(args[generics.parent_count + i].as_const(), at);
            }
            too_generic_ = true;
            return fail(at, "");
        }
        case DefKind::Ctor:
            if (types_.kind(type_of(id)) == TypeKind::Adt) return construct(item, {});
            [[fallthrough]];
        default: {
            Value value;
            value.kind = Value::Kind::FnItem;
            value.type = type_of(id);
            return value;
        }
    }
}

// ---- control flow ------------------------------------------------------------------------------------------------------------------------------------

bool Interpreter::exec_stmt(const hir::Stmt& stmt) {
    switch (stmt.kind) {
        case hir::Stmt::Kind::Item: return true;
        case hir::Stmt::Kind::Expr:
        case hir::Stmt::Kind::Semi: eval_operand(stmt.expr); return flow_ == Flow::Normal;
        case hir::Stmt::Kind::Let: break;
    }
    if (!stmt.init.valid()) {
        Operand none;
        match(stmt.pat, std::move(none));
        return flow_ == Flow::Normal;
    }
    Operand operand = eval_operand(stmt.init);
    if (flow_ != Flow::Normal) return false;
    if (!match(stmt.pat, std::move(operand)) && flow_ == Flow::Normal && stmt.else_block.valid()) eval_block(stmt.else_block);
    return flow_ == Flow::Normal;
}

Interpreter::Value Interpreter::eval_block(hir::BlockId id) {
    const hir::Block& block = frame_->body->blocks[id];
    for (const hir::Stmt& stmt : block.stmts) {
        if (!exec_stmt(stmt)) return {};
    }
    return block.tail.valid() ? eval(block.tail) : unit();
}

Interpreter::Value Interpreter::eval_if(const hir::IfExpr& e) {
    const Value condition = eval(e.condition);
    if (flow_ != Flow::Normal) return {};
    if (condition.bits != 0) return eval(e.then_expr);
    return e.else_expr.valid() ? eval(e.else_expr) : unit();
}

Interpreter::Value Interpreter::eval_match(ExprId id, const hir::MatchExpr& e) {
    Operand scrutinee;
    const TypeId type = type_of(e.scrutinee);
    scrutinee.is_place = true;
    scrutinee.type = type;
    scrutinee.place = eval_place(e.scrutinee);
    if (flow_ != Flow::Normal) return {};
    for (const hir::Arm& arm : e.arms) {
        if (!match(arm.pat, scrutinee)) {
            if (flow_ != Flow::Normal) return {};
            continue;
        }
        if (arm.guard.valid()) {
            const Value guard = eval(arm.guard);
            if (flow_ != Flow::Normal) return {};
            if (guard.bits == 0) continue;
        }
        return eval(arm.body);
    }
    return fail(expr(id).span, "no arm of a `match` fits");
}

Interpreter::Value Interpreter::eval_loop(ExprId id, const hir::LoopExpr& e) {
    for (;;) {
        if (!step(expr(id).span)) return {};
        eval_block(e.body);
        if (flow_ == Flow::Break && flow_target_ == id) {
            flow_ = Flow::Normal;
            return std::move(flow_value_);
        }
        if (flow_ == Flow::Continue && flow_target_ == id) flow_ = Flow::Normal;
        if (flow_ != Flow::Normal) return {};
    }
}

Interpreter::Value Interpreter::eval_panic(ExprId id, const hir::PanicExpr& e) {
    const std::string_view text = e.message.empty() ? std::string_view("explicit panic") : e.message;
    return fail(expr(id).span, fmt::format("evaluation panicked: {}", text));
}

// ---- calls, structs, indexes -----------------------------------------------------------------------------------------------------------------------

Interpreter::Value Interpreter::eval_call(ExprId id, const hir::CallExpr& e) {
    const Value callee = eval(e.callee);
    if (flow_ != Flow::Normal) return {};
    std::vector<Value> args;
    for (ExprId arg : e.args) {
        args.push_back(eval(arg));
        if (flow_ != Flow::Normal) return {};
    }
    TypeId fn = callee.kind == Value::Kind::FnPtr ? callee.fn_item : instantiate(frame_->tables->adjusted_type(e.callee));
    if (types_.kind(fn) != TypeKind::FnDef) return fail(expr(id).span, "closures cannot be called in constants");
    return call({types_[fn].def, types_[fn].args}, std::move(args), expr(id).span);
}

Interpreter::Value Interpreter::eval_method(ExprId id, const hir::MethodCallExpr& e) {
    std::vector<Value> args{eval(e.receiver)};
    if (flow_ != Flow::Normal) return {};
    for (ExprId arg : e.args) {
        args.push_back(eval(arg));
        if (flow_ != Flow::Normal) return {};
    }
    return call(instantiate(frame_->tables->callees[id]), std::move(args), expr(id).span);
}

Interpreter::Value Interpreter::eval_struct(ExprId id, const hir::StructExpr& e) {
    const TypeId type = type_of(id);
    const AdtInfo& adt = cx_.adt(types_[type].def);
    Value value;
    value.kind = Value::Kind::Aggregate;
    value.type = type;
    value.variant = adt.kind == AdtInfo::Kind::Enum ? adt.variant_index(frame_->tables->expr_items[id].def) : 0;
    if (e.base.valid()) {
        Value base = eval(e.base);
        if (flow_ != Flow::Normal) return {};
        value.fields = std::move(base.fields);
    }
    value.fields.resize(adt.variants[value.variant].fields.size());
    const auto indices = frame_->tables->field_indices(id);
    for (std::size_t i = 0; i < e.fields.size() && i < indices.size(); ++i) {
        value.fields[indices[i]] = eval(e.fields[i].value);
        if (flow_ != Flow::Normal) return {};
    }
    return value;
}

Interpreter::Value Interpreter::eval_assign_op(ExprId id, const hir::AssignOpExpr& e) {
    const Span at = expr(id).span;
    const ItemRef callee = frame_->tables->callees[id];
    if (callee.valid()) {
        Value place = eval(e.lhs);
        Value rhs = flow_ == Flow::Normal ? eval(e.rhs) : Value{};
        if (flow_ != Flow::Normal) return {};
        return call(instantiate(callee), {std::move(place), std::move(rhs)}, at);
    }
    Value rhs = eval(e.rhs);
    if (flow_ != Flow::Normal) return {};
    const Place place = eval_place(e.lhs);
    if (flow_ != Flow::Normal) return {};
    const Value lhs = read(place, at);
    if (flow_ != Flow::Normal) return {};
    Value result = binary(e.op, lhs, rhs, lhs.type, at);
    if (Value* slot = flow_ == Flow::Normal ? resolve(place, at) : nullptr) *slot = std::move(result);
    return unit();
}

Interpreter::Operand Interpreter::eval_index(ExprId id, const hir::IndexExpr& e) {
    const Span at = expr(id).span;
    Operand base = eval_operand(e.base);
    if (flow_ != Flow::Normal) return {};
    Value index = eval(e.index);
    if (flow_ != Flow::Normal) return {};
    const TypeId type = type_of(id);
    if (const ItemRef callee = frame_->tables->callees[id]; callee.valid()) {
        Operand result;
        result.value = call(instantiate(callee), {to_value(std::move(base), at), std::move(index)}, at);
        if (flow_ != Flow::Normal) return {};
        return eval_deref(std::move(result), type, at);
    }
    Operand out;
    out.is_place = true;
    out.type = type;
    out.place = to_place(std::move(base));
    const Value* array = resolve(out.place, at);
    if (array == nullptr) return out;
    const std::uint64_t length = out.place.is_slice ? out.place.length : array->fields.size();
    const auto i = static_cast<std::uint64_t>(index.bits);
    if (i >= length) {
        fail(at, fmt::format("index out of bounds: the length is {} but the index is {}", length, i));
        return out;
    }
    out.place.path.push_back(static_cast<std::uint32_t>(i + (out.place.is_slice ? out.place.start : 0)));
    out.place.is_slice = false;
    out.place.static_def = DefId();
    out.place.start = out.place.length = 0;
    out.place.type = type;
    return out;
}

}  // namespace ockc::check
