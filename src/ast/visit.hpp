// Walking over the tree, generated from node.def.
//
//     each_field(payload, f)        calls f("name", field) for every field of one payload struct, in row
//     order walk(crate, node, visitor)    calls visitor.visit(id) for every child that is an ExprId, PatId,
//     TypeId, StmtId, ItemId or BlockId,
//                                   looking through paths, generics, closures, arms and other parts; not
//                                   deeper than those children
// A visitor descends by calling walk(crate, crate[id], *this) from its visit functions, each of which it must
// have.
#pragma once
#include <type_traits>
#include <variant>

#include "ast/ast.hpp"

namespace ockc::ast {

#define F(type, name) f(#name, node.name);
#define OCKC_FIELDS(name, fields)                                                 \
    template <class Fn>                                                           \
    void each_field([[maybe_unused]] const name& node, [[maybe_unused]] Fn&& f) { \
        fields                                                                    \
    }
#define OCKC_PART(name, fields) OCKC_FIELDS(name, fields)
#define OCKC_RECORD(name, fields) OCKC_FIELDS(name, fields)
#define OCKC_GENERIC_ARG(name, fields) OCKC_FIELDS(name##GenericArg, fields)
#define OCKC_EXPR(name, fields) OCKC_FIELDS(name##Expr, fields)
#define OCKC_PAT(name, fields) OCKC_FIELDS(name##Pat, fields)
#define OCKC_TYPE(name, fields) OCKC_FIELDS(name##Type, fields)
#define OCKC_STMT(name, fields) OCKC_FIELDS(name##Stmt, fields)
#define OCKC_ITEM(name, fields) OCKC_FIELDS(name##Item, fields)
#include "ast/node.def"
#undef OCKC_FIELDS
#undef F

namespace detail {

template <class Field>
inline constexpr bool is_child =
    std::is_same_v<Field, ExprId> || std::is_same_v<Field, PatId> || std::is_same_v<Field, TypeId> ||
    std::is_same_v<Field, StmtId> || std::is_same_v<Field, ItemId> || std::is_same_v<Field, BlockId>;

// Ids of records that a walk looks through; attributes are no children.
template <class Field>
inline constexpr bool is_transparent =
    std::is_same_v<Field, PathId> || std::is_same_v<Field, GenericArgsId> ||
    std::is_same_v<Field, GenericsId> || std::is_same_v<Field, FnDeclId> || std::is_same_v<Field, ClosureId>;

#define OCKC_PART(name, fields) std::true_type part_test(const name*);
#include "ast/node.def"
std::true_type part_test(const GenericArg*);
std::false_type part_test(const void*);
template <class Field>
inline constexpr bool is_part =
    decltype(part_test(static_cast<const Field*>(nullptr)))::value && !std::is_same_v<Field, MetaItem>;

template <class V>
struct FieldWalk {
    const Crate& crate;
    V& visitor;

    template <class Field>
    void operator()(const char*, const Field& field) const {
        value(field);
    }
    template <class T>
    void value(const List<T>& list) const {
        for (const T& element : list)
            value(element);
    }
    void value(const GenericArg& arg) const {
        std::visit([&](const auto& payload) { each_field(payload, *this); }, arg.data);
    }
    template <class Field>
    void value(const Field& field) const {
        if constexpr (is_child<Field>) {
            if (field.valid()) visitor.visit(field);
        } else if constexpr (is_transparent<Field>) {
            if (field.valid()) each_field(crate[field], *this);
        } else if constexpr (is_part<Field>) {
            each_field(field, *this);
        }
    }
};

}  // namespace detail

// `node`: an Expr, Pat, Type, Stmt or Item.
template <class Node, class V>
void walk(const Crate& crate, const Node& node, V& visitor) {
    const detail::FieldWalk<V> walk_fields{crate, visitor};
    if constexpr (std::is_same_v<Node, Item>) walk_fields.value(node.visibility);
    std::visit([&](const auto& payload) { each_field(payload, walk_fields); }, node.data);
}
template <class V>
void walk(const Crate& crate, const Block& block, V& visitor) {
    each_field(block, detail::FieldWalk<V>{crate, visitor});
}

}  // namespace ockc::ast
