// The syntax tree of a crate: what the parser leaves and name resolution reads.
//
// Every node lives (and stays) in a store of its family inside ast::Crate and is named by a 32-bit id (ExprId, PatId,
// TypeId, ..). A node of the five families is { span, .., data } where `data` is a std::variant over the
// payload structs that the rows of node.def describe; use std::visit with one overload for each (no generic
// fallback), so that a new row shows every place to extend:
//
//     std::visit(Overloaded{[&](const ast::BinaryExpr& e) {..}, [&](const ast::CallExpr& e) {..}, ..},
//     crate[id].data);
//
// Files (`mod x;`) and macro expansions are parsed INTO the same crate, so ids are unique crate-wide; a
// file's or expansion's own result is a SourceUnit or a single id. Nothing is changed after it was parsed:
// later phases keep facts in SideMaps.
//
// Depth: along every path through the tree there are at most ParseOptions::max_height nodes
// (parse/parser.hpp), so walkers may recurse over the tree.
#pragma once
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "lex/literal.hpp"
#include "lex/token_buffer.hpp"
#include "source/span.hpp"
#include "support/arena.hpp"
#include "support/index_map.hpp"
#include "support/interner.hpp"

namespace ockc::ast {

// An arena-owned sequence; trivially copyable, T may be incomplete where the list is only a member.
template <class T>
struct List {
    const T* items = nullptr;
    std::uint32_t count = 0;

    const T* begin() const { return items; }
    const T* end() const { return items + count; }
    std::uint32_t size() const { return count; }
    bool empty() const { return count == 0; }
    const T& operator[](std::size_t i) const { return items[i]; }
    const T& front() const { return items[0]; }
    const T& back() const { return items[count - 1]; }
};

// A name where it was written. Raw identifiers have the name without `r#` (a lifetime's name includes its
// `'`). `context` is the token's syntax context: 0 = written in source, else the number of the macro
// expansion that wrote it.
struct Ident {
    Symbol name;
    Span span;
    std::uint32_t context = 0;
    bool raw = false;

    bool valid() const { return name.valid(); }
};

using ExprId = Id<struct ExprTag>;
using PatId = Id<struct PatTag>;
using TypeId = Id<struct TypeTag>;
using StmtId = Id<struct StmtTag>;
using ItemId = Id<struct ItemTag>;
using LiteralId = Id<struct LiteralTag>;
#define OCKC_RECORD(name, fields) using name##Id = Id<struct name##Tag>;
#include "ast/node.def"

using Attributes = List<AttributeId>;
using lex::TokenRange;

#define V(value) value,
#define OCKC_ENUM(name, values) enum class name : std::uint8_t { values };
#include "ast/node.def"
#undef V
// The name of a value of any of these enumerations, for dumps.
#define OCKC_ENUM(name, values) std::string_view enum_name(name value);
#include "ast/node.def"

// ---- operators ----

enum class BinaryOp : std::uint8_t {
#define OCKC_BINARY_OP(name, text, token, precedence, trait, method) name,
#include "ast/operators.def"
};
enum class UnaryOp : std::uint8_t {
#define OCKC_UNARY_OP(name, text, token, trait, method) name,
#include "ast/operators.def"
};

// From loosest to tightest. Range and Assign are not left-associative operators of operators.def but share
// the ladder.
enum class Precedence : std::uint8_t {
    Lowest,
    Assign,
    Range,
    Or,
    And,
    Compare,
    BitOr,
    BitXor,
    BitAnd,
    Shift,
    Sum,
    Product,
    Cast,
    Unary
};

struct BinaryOpInfo {
    std::string_view text;  // "+"
    Precedence precedence;
    std::string_view trait_name;     // "Add"; empty for && and ||
    std::string_view method;         // "add"
    std::string_view assign_text;    // "+="; empty where there is none
    std::string_view assign_trait;   // "AddAssign"
    std::string_view assign_method;  // "add_assign"
};
struct UnaryOpInfo {
    std::string_view text;
    std::string_view trait_name;
    std::string_view method;
};
const BinaryOpInfo& info(BinaryOp op);
const UnaryOpInfo& info(UnaryOp op);

// ---- literals ----

// A decoded literal. Errors that rustc reports only where the literal is used (a wrong suffix, a too large
// integer) are kept in `error`, not reported: name resolution does that with lex::report_literal_error for
// literals it reaches.
struct Literal {
    Span span;
    lex::LiteralKind kind = lex::LiteralKind::Integer;
    lex::LiteralError error = lex::LiteralError::None;
    lex::UInt128 value = 0;  // Integer; Bool (0 or 1); Char and Byte (the code)
    Symbol
        text;  // String kinds: the decoded bytes; Float: digits without `_` and suffix, for lex::parse_float
    Symbol suffix;  // "u8", "f32", ..; none when there is none
};

// ---- payloads, generated from node.def ----

struct GenericArg;
#define OCKC_PART(name, fields) struct name;
#define OCKC_RECORD(name, fields) struct name;
#include "ast/node.def"

#define F(type, name) type name{};
#define OCKC_PART(name, fields) \
    struct name {               \
        fields                  \
    };
#define OCKC_RECORD(name, fields) \
    struct name {                 \
        fields                    \
    };
#define OCKC_GENERIC_ARG(name, fields) \
    struct name##GenericArg {          \
        fields                         \
    };
#define OCKC_EXPR(name, fields) \
    struct name##Expr {         \
        fields                  \
    };
#define OCKC_PAT(name, fields) \
    struct name##Pat {         \
        fields                 \
    };
#define OCKC_TYPE(name, fields) \
    struct name##Type {         \
        fields                  \
    };
#define OCKC_STMT(name, fields) \
    struct name##Stmt {         \
        fields                  \
    };
#define OCKC_ITEM(name, fields) \
    struct name##Item {         \
        fields                  \
    };
#include "ast/node.def"
#undef F

// A variant over the rows of one family. The leading void* swallows the comma rule of the expansion and is
// dropped.
template <class First, class... Rest>
using VariantOf = std::variant<Rest...>;

using GenericArgData = VariantOf<void
#define OCKC_GENERIC_ARG(name, fields) , name##GenericArg
#include "ast/node.def"
                                 >;
using ExprData = VariantOf<void
#define OCKC_EXPR(name, fields) , name##Expr
#include "ast/node.def"
                           >;
using PatData = VariantOf<void
#define OCKC_PAT(name, fields) , name##Pat
#include "ast/node.def"
                          >;
using TypeData = VariantOf<void
#define OCKC_TYPE(name, fields) , name##Type
#include "ast/node.def"
                           >;
using StmtData = VariantOf<void
#define OCKC_STMT(name, fields) , name##Stmt
#include "ast/node.def"
                           >;
using ItemData = VariantOf<void
#define OCKC_ITEM(name, fields) , name##Item
#include "ast/node.def"
                           >;

struct GenericArg {
    Span span;
    GenericArgData data;
};
struct Expr {
    Span span;
    Attributes attributes;
    ExprData data;
};
struct Pat {
    Span span;
    PatData data;
};
struct Type {
    Span span;
    TypeData data;
};
struct Stmt {
    Span span;
    Attributes attributes;
    StmtData data;
};
struct Item {
    Span span;              // from the visibility or first keyword to the end; attributes stand before it
    Attributes attributes;  // outer ones, and the inner ones of modules, traits, impls and extern blocks (a
                            // function's: its body block)
    Visibility visibility;
    Ident ident;  // none for use, impl, extern blocks, macro calls
    ItemData data;
    TokenRange tokens;  // what it was parsed from, attributes included
};

// The result of parsing one file or the items of one expansion.
struct SourceUnit {
    Span span;
    Attributes attributes;  // inner attributes of the file
    List<ItemId> items;
};

// All nodes of a crate.
class Crate {
  public:
    // `crate[id]` for every kind of id; `add` stores a node and returns its id.
#define OCKC_STORE(name, node)                       \
    const node& operator[](name##Id id) const {      \
        return name##_store_[id];                    \
    }                                                \
    name##Id add(const node& value) {                \
        return name##_store_.push(value);            \
    }                                                \
    std::size_t name##_count() const {               \
        return name##_store_.size();                 \
    }
#define OCKC_RECORD(name, fields) OCKC_STORE(name, name)
    OCKC_STORE(Expr, Expr)
    OCKC_STORE(Pat, Pat)
    OCKC_STORE(Type, Type)
    OCKC_STORE(Stmt, Stmt)
    OCKC_STORE(Item, Item)
    OCKC_STORE(Literal, Literal)
#include "ast/node.def"
#undef OCKC_STORE

    template <class T>
    List<T> list(const std::vector<T>& items) {
        return list(std::span<const T>(items));
    }
    template <class T>
    List<T> list(std::span<const T> items) {
        const auto copy = arena_.copy(items);
        return {copy.data(), static_cast<std::uint32_t>(copy.size())};
    }
    template <class T>
    List<T> list(std::initializer_list<T> items) {
        return list(std::span<const T>(items.begin(), items.size()));
    }

    // For the parser alone: an expression gets its outer attributes, and a parenthesised one its place, after
    // it was made.
    Expr& mutable_expr(ExprId id) {
        return Expr_store_[id];
    }
    // Likewise: an item learns where it ends.
    Item& mutable_item(ItemId id) {
        return Item_store_[id];
    }

  private:
    Arena arena_;
#define OCKC_STORE(name, node) StableVec<name##Id, node> name##_store_;
#define OCKC_RECORD(name, fields) OCKC_STORE(name, name)
    OCKC_STORE(Expr, Expr)
    OCKC_STORE(Pat, Pat)
    OCKC_STORE(Type, Type)
    OCKC_STORE(Stmt, Stmt)
    OCKC_STORE(Item, Item)
    OCKC_STORE(Literal, Literal)
#include "ast/node.def"
#undef OCKC_STORE
};

// std::visit with one lambda per alternative.
template <class... Fs>
struct Overloaded : Fs... {
    using Fs::operator()...;
};
template <class... Fs>
Overloaded(Fs...) -> Overloaded<Fs...>;

// The payload of a node when it is a T, else null: `get_if<ast::PathExpr>(crate[id])`.
template <class T, class Node>
const T* get_if(const Node& node) {
    return std::get_if<T>(&node.data);
}

}  // namespace ockc::ast
