// Constants: from the place where they stand to values, cached by item and arguments.
#include <fmt/format.h>

#include "check/interp.hpp"
#include "check/literal_value.hpp"
#include "check/solve.hpp"

namespace ockc::check {

using hir::DefKind;

namespace {

std::uint64_t const_key(ItemRef item) { return static_cast<std::uint64_t>(item.def.raw) << 32 | item.args.raw; }

}  // namespace

namespace {

// Name resolution has already refused something in the constant.
bool has_refused_body(const hir::Program& program, DefId def) {
    const auto& data = program.defs[def].data;
    hir::BodyId body;
    if (const auto* constant = std::get_if<hir::ConstDef>(&data)) body = constant->body;
    if (const auto* statik = std::get_if<hir::StaticDef>(&data)) body = statik->body;
    if (const auto* anon = std::get_if<hir::AnonConstDef>(&data)) body = anon->body;
    return body.valid() && program.bodies[body]->has_errors;
}

}  // namespace

const ConstValue* Context::eval_const(ItemRef item) {
    if (!item.args.valid()) item.args = types_.no_args;
    const hir::Def& def = program_.defs[item.def];
    if (def.kind == DefKind::AssocConst && program_.defs[def.parent].kind == DefKind::Trait) {
        const auto instance = resolve_instance(item);   // the impl's, or the trait's default
        if (!instance) return nullptr;
        item = instance->item;
    }
    item.args = types_.erase_regions(item.args);
    state_->need(item.def);
    if (has_refused_body(program_, item.def)) return nullptr;
    const std::uint64_t key = const_key(item);
    if (const auto known = state_->const_values.find(key); known != state_->const_values.end()) return known->second;
    if (!state_->const_open.insert(key).second) {
        sink_.error(Code::E0391, def.span, fmt::format("cycle detected when evaluating the constant `{}`", program_.name(item.def)));
        return state_->const_values[key] = nullptr;
    }
    Interpreter interpreter(*this);
    const ConstValue* value = interpreter.run(item);
    state_->const_open.erase(key);
    return state_->const_values[key] = value;
}

const ConstValue* Context::eval_static(DefId def) { return eval_const({def, types_.no_args}); }

namespace {

// A constant value in the type system, or none when it is not of a kind that types may hold.
ConstId type_level(TypeStore& types, const ConstValue& value) {
    if (value.kind == ConstValue::Kind::Scalar) return types.const_value(value.type, value.bits[0], value.bits[1]);
    if (value.kind == ConstValue::Kind::Aggregate && types.kind(value.type) == TypeKind::Array) {
        std::vector<ConstId> elements;
        for (const ConstValue* element : value.fields) {
            elements.push_back(type_level(types, *element));
            if (!elements.back().valid()) return {};
        }
        return types.const_array(value.type, elements);
    }
    return {};
}

}  // namespace

types::ConstId Context::const_to_type_level(ItemRef item, types::TypeId type) {
    if (types_.has(item.args, types::kHasParam | types::kHasInfer | types::kHasError)) {
        return types_.has(item.args, types::kHasError) ? types_.error_const : types_.const_unevaluated(item.def, item.args, type);
    }
    const ConstValue* value = eval_const(item);
    const ConstId result = value != nullptr ? type_level(types_, *value) : ConstId();
    return result.valid() ? result : types_.error_const;
}

namespace {

// What is inside blocks that have nothing but a tail.
hir::ExprId without_blocks(const hir::Body& body, hir::ExprId at) {
    for (;;) {
        const auto* block = std::get_if<hir::BlockExpr>(&body.exprs[at].data);
        if (block == nullptr || !body.blocks[block->block].stmts.empty() || !body.blocks[block->block].tail.valid()) return at;
        at = body.blocks[block->block].tail;
    }
}

}  // namespace

// A literal, its negation, or a parameter: no body needs checking for those. None for anything else.
types::ConstId Context::plain_const(const hir::Body& body, hir::ExprId expr, types::TypeId type) {
    const hir::ExprId at = without_blocks(body, expr);
    if (const auto* minus = std::get_if<hir::UnaryExpr>(&body.exprs[at].data); minus != nullptr && minus->op == hir::UnaryOp::Neg) {
        const auto* literal = std::get_if<hir::LiteralExpr>(&body.exprs[without_blocks(body, minus->operand)].data);
        if (literal == nullptr || types_.kind(type) != TypeKind::Int || !types::int_signed(types_[type].int_kind)) return {};
        const ConstId positive = plain_const(body, minus->operand, type);
        if (!positive.valid() || types::int_bits(types_[type].int_kind) > 64) return {};
        const std::uint64_t mask = ~std::uint64_t{0} >> (64 - types::int_bits(types_[type].int_kind));
        return types_.const_value(type, (0 - types_[positive].bits[0]) & mask);
    }
    if (const auto* literal = std::get_if<hir::LiteralExpr>(&body.exprs[at].data); literal != nullptr && !literal->value.has_suffix) {
        const TypeData target = types_[type];
        const bool fits = target.kind != TypeKind::Int || types::int_bits(target.int_kind) >= 64 || literal->value.low >> (types::int_bits(target.int_kind) - (types::int_signed(target.int_kind) ? 1 : 0)) == 0;
        return fits && literal->value.high == 0 ? scalar_literal(types_, literal->value, type) : ConstId();
    }
    const auto* path = std::get_if<hir::PathExpr>(&body.exprs[at].data);
    if (path == nullptr || path->path->kind != hir::QPath::Kind::Resolved) return {};
    const hir::Res& res = path->path->path.res;
    if (res.kind == hir::Res::Kind::Error) return types_.error_const;
    if (res.kind != hir::Res::Kind::Def || program_.defs[res.def].kind != DefKind::ConstParam) return {};
    const TypeId own = type_of(res.def);
    // A shape of any rank takes one of a known rank.
    const bool is_shape = types_.kind(type) == TypeKind::Slice && types_.kind(own) == TypeKind::Array && types_[own].element == types_[type].element;
    if (own != type && !is_shape) return {};
    const GenericsInfo& generics = generics_of(program_.defs[res.def].parent);
    for (std::uint32_t i = 0; i < generics.own.size(); ++i) {
        if (generics.own[i].def == res.def) return types_.const_param(generics.parent_count + i, generics.own[i].name, own);
    }
    return {};
}

// `[BM, 1]` where a shape is wanted: element by element, so that parameters stay visible in the type. None when some
// element is an expression of its own.
types::ConstId Context::shape_const(const hir::Body& body, types::TypeId& type) {
    if (types_.kind(type) != TypeKind::Slice && types_.kind(type) != TypeKind::Array) return {};
    const auto* array = std::get_if<hir::ArrayExpr>(&body.exprs[without_blocks(body, body.value)].data);
    if (array == nullptr) return {};
    const TypeId element = types_[type].element;
    const TypeId of_length = types_.array(element, types_.const_usize(array->elements.size()));
    if (types_.kind(type) == TypeKind::Slice) type = of_length;
    if (type != of_length) return {};
    std::vector<ConstId> elements;
    for (const hir::ExprId one : array->elements) {
        elements.push_back(plain_const(body, one, element));
        if (!elements.back().valid()) return {};
    }
    return types_.const_array(type, elements);
}

// Most constants in types are a literal or a parameter, or an array of those.
types::ConstId Context::anon_const(DefId anon, types::TypeId type) {
    const auto& data = program_.as<hir::AnonConstDef>(anon);
    if (!data.body.valid()) return types_.error_const;
    const hir::Body& body = *program_.bodies[data.body];
    if (const ConstId plain = plain_const(body, body.value, type); plain.valid()) return plain;
    if (const ConstId shape = shape_const(body, type); shape.valid()) return shape;
    state_->anon_const_types[anon] = type;   // a shape has its length now
    const ItemRef item{anon, identity_args(anon)};
    const ConstValue* value = eval_const(item);
    if (value != nullptr) {
        const ConstId result = type_level(types_, *value);
        return result.valid() ? result : types_.error_const;
    }
    if (check_body(anon) == nullptr) return types_.error_const;
    // Still generic: evaluated when the arguments are known.
    return types_.has(item.args, types::kHasParam) ? types_.const_unevaluated(anon, item.args, type) : types_.error_const;
}

std::optional<std::uint64_t> Context::usize_value(types::ConstId constant) {
    if (!constant.valid()) return std::nullopt;
    const types::ConstData& data = types_[normalize(constant, empty_env_)];
    if (data.kind != types::ConstKind::Value || types_.kind(data.type) == TypeKind::Array) return std::nullopt;
    return data.bits[0];
}

}  // namespace ockc::check
