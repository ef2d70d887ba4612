// Calls, overloaded operators, and the values that are made of operands: structs, variants, tuples.
#include "mir/builder.hpp"

namespace ockc::mir {

using types::TypeKind;

bool Builder::is_inhabited(TypeId type) {
    const types::TypeData data = types_[type];   // a copy: adt() may intern
    if (data.kind == TypeKind::Never) return false;
    return data.kind != TypeKind::Adt || context_.adt(data.def).kind != check::AdtInfo::Kind::Enum ||
           !context_.adt(data.def).variants.empty();
}

void Builder::emit_call(Span span, Span fn_span, Operand callee, std::vector<Operand> args, Place destination,
                        CallSource source) {
    const BlockId next = new_block();
    const BlockId target = is_inhabited(body_.type_of(destination)) ? next : BlockId();
    terminate(span, CallTerminator{callee, list(args), destination, target, source, fn_span});
    start(next);
}

// Calls through Fn, FnMut and FnOnce hand the arguments over as one tuple.
void Builder::call_into(Place destination, hir::ExprId id, const hir::CallExpr& node) {
    const Span span = span_of(id);
    const Span fn_span = span_of(node.callee);
    const check::ItemRef overloaded = tables_.callees[id];
    if (overloaded.valid()) {
        const Operand receiver = as_operand(node.callee);
        std::vector<Operand> args;
        std::vector<TypeId> types;
        for (const hir::ExprId arg : node.args) {
            args.push_back(as_operand(arg));
            types.push_back(tables_.adjusted_type(arg));
        }
        const TypeId tuple = types_.tuple(types);
        const LocalId packed =
            assign_temp(span, tuple, aggregate({AggregateKind::Kind::Tuple, tuple, DefId(), 0}, args));
        return emit_call(span, fn_span, fn_operand(fn_span, overloaded), {receiver, Operand::move(Place{packed, {}})},
                         destination, CallSource::Operator);
    }
    const check::ItemRef item = tables_.expr_items[node.callee];
    if (std::holds_alternative<hir::PathExpr>(expr(node.callee).data) && item.valid() && is_constructor(item.def)) {
        const Rvalue value = constructor_rvalue(id, item, node.args);
        assign(span, destination, value);
        return;
    }
    const Operand callee = as_operand(node.callee);
    std::vector<Operand> args;
    for (const hir::ExprId arg : node.args) args.push_back(as_operand(arg));
    emit_call(span, fn_span, callee, std::move(args), destination, CallSource::Normal);
}

void Builder::method_into(Place destination, hir::ExprId id, const hir::MethodCallExpr& node) {
    const Span fn_span = node.method->ident.span;
    const Operand callee = fn_operand(fn_span, tables_.callees[id]);
    std::vector<Operand> args{as_operand(node.receiver)};
    for (const hir::ExprId arg : node.args) args.push_back(as_operand(arg));
    emit_call(span_of(id), fn_span, callee, std::move(args), destination, CallSource::Method);
}

void Builder::operator_into(Place destination, hir::ExprId id, std::initializer_list<hir::ExprId> operands) {
    const Span span = span_of(id);
    std::vector<Operand> args;
    for (const hir::ExprId operand : operands) args.push_back(as_operand(operand));
    emit_call(span, span, fn_operand(span, tables_.callees[id]), std::move(args), destination, CallSource::Operator);
}

Rvalue Builder::aggregate(AggregateKind kind, const std::vector<Operand>& operands) {
    return Rvalue{AggregateRvalue{kind, list(operands)}};
}

AggregateKind Builder::adt_kind(TypeId type, DefId variant_or_struct) {
    const DefId def = types_[type].def;
    return {AggregateKind::Kind::Adt, type, def, context_.adt(def).variant_index(variant_or_struct)};
}

Rvalue Builder::constructor_rvalue(hir::ExprId id, check::ItemRef ctor, hir::List<hir::ExprId> args) {
    std::vector<Operand> operands;
    for (const hir::ExprId arg : args) operands.push_back(as_operand(arg));
    return aggregate(adt_kind(tables_.type(id), ctor.def), operands);
}

// Written fields in source order, then the base's place for the rest.
Rvalue Builder::struct_rvalue(hir::ExprId id, const hir::StructExpr& node) {
    const TypeId type = tables_.type(id);
    const AggregateKind kind = adt_kind(type, tables_.expr_items[id].def);
    const check::VariantInfo& variant = context_.adt(kind.def).variants[kind.variant];
    const std::span<const std::uint32_t> indices = tables_.field_indices(id);
    std::vector<Operand> operands(variant.fields.size());
    std::vector<bool> written(variant.fields.size());
    for (std::size_t i = 0; i < node.fields.size(); ++i) {
        operands[indices[i]] = as_operand(node.fields[i].value);
        written[indices[i]] = true;
    }
    if (node.base.valid()) {
        const PlaceBuilder base = as_place_builder(full(node.base));
        for (std::uint32_t i = 0; i < operands.size(); ++i) {
            if (written[i]) continue;
            PlaceBuilder part = base;
            field(part, i, field_type(type, kind.variant, i));
            operands[i] = consume(part);
        }
    }
    return aggregate(kind, operands);
}

}  // namespace ockc::mir
