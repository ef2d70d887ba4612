// What the generator knows of the program it writes: types, variables, functions.
#pragma once
#include <array>
#include <bitset>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace ockc::difftest {

// Every construct and scalar method, by row of the tables.
enum class Construct : std::uint16_t {
#define DIFF_EXPR(id, weight, types, name) id,
#define DIFF_STMT(id, weight, name) id,
#define DIFF_PATTERN(id, weight, types, name) id##_,
#define DIFF_ITEM(id, percent, name) id##Item,
#define DIFF_CHAIN(id, weight, name) id,
#include "constructs.def"
#define DIFF_METHOD(name, receiver, shape, weight) method_##receiver##_##name,
#include "methods.def"
    Count
};
constexpr std::size_t kConstructs = static_cast<std::size_t>(Construct::Count);
using ConstructSet = std::bitset<kConstructs>;
struct ConstructInfo {
    const char* name;
    std::uint32_t weight;
};
const std::array<ConstructInfo, kConstructs>& constructs();

enum class Kind : std::uint8_t { Int, Float, Bool, Char, Tuple, Array, Struct, Enum, Option, Result, Param };

struct Type;
struct Field {
    std::string name;                 // "0", "1" in tuple variants
    const Type* type = nullptr;
};
enum class Shape : std::uint8_t { Unit, Tuple, Named };
struct Variant {
    std::string name;                 // empty for a struct
    Shape shape = Shape::Unit;
    std::vector<Field> fields;
};
struct Type {
    Kind kind = Kind::Int;
    std::string name;                 // as written in the program
    std::uint32_t bits = 0;           // Int and Float
    bool is_signed = false;
    std::vector<const Type*> parts;   // Tuple, Array (one), Option (one), Result (two)
    std::uint32_t length = 0;         // Array
    std::vector<Variant> variants;    // Struct (one) and Enum
    bool plain = false;               // an enum without payloads: casts to integers
    bool generic = false;             // an instance of a generic struct: written with its arguments in expressions as well
    bool scalar() const { return kind <= Kind::Char; }
    bool comparable() const;          // with == and <
};
using TypePtr = const Type*;

struct Variable {
    std::string text;                 // how to read it: `v3`, `(*v3)`
    TypePtr type = nullptr;
    bool is_mutable = false;
    bool known = false;               // rustc's lints may know its value
    std::uint32_t frozen = 0;         // > 0: borrowed, no writes
    std::uint32_t hidden = 0;         // > 0: borrowed mutably, no use at all
};

enum class Pass : std::uint8_t { Value, Ref, Mut, Slice, SliceMut };
struct Param {
    TypePtr type = nullptr;           // of the slice's elements for Slice and SliceMut
    Pass pass = Pass::Value;
};
struct Function {
    std::string path;                 // `f3`, `m1::f4`, `S0::new`
    std::string method;               // the name when called as a method of the first parameter
    std::vector<Param> params;
    TypePtr result = nullptr;
    std::uint64_t cost = 1;           // executed nodes, at most
};
struct Trait {
    std::string name;
    TypePtr argument = nullptr, result = nullptr;   // fn act(&self, x: argument) -> result; fn twice(&self) -> result; const K: result
    std::vector<TypePtr> implementors;
};
// fn NAME<T: TRAIT>(a: T, b: T, s) -> T or the trait's result.
struct GenericFunction {
    std::string path;
    std::size_t trait = 0;
    bool gives_param = false;
    std::uint64_t cost = 1;
};
// fn NAME<const N: usize>(a: [element; N]) -> result
struct ConstGenericFunction {
    std::string path;
    TypePtr element = nullptr, result = nullptr;
    std::uint64_t cost = 1;
};
// fn NAME(f: impl Fn(argument) -> result, s: u64) -> result
struct ClosureTaker {
    std::string path;
    TypePtr argument = nullptr, result = nullptr;
    std::uint64_t calls = 1;
};
// impl Iterator for NAME, with NAME::new(s) and at most `count` items.
struct OwnIterator {
    std::string name;
    TypePtr item = nullptr;
};
struct Constant {
    std::string path;
    TypePtr type = nullptr;
    bool in_patterns = false;
};

// One generated program: a module and the functions to call.
struct Program {
    std::uint64_t seed = 0;
    std::string text;                 // mod body
    std::uint32_t slots = 0;          // pub fn r0 .. r{slots-1}(s: u64) -> u64; and pub fn grid for one thread's part
    ConstructSet used;
};

}  // namespace ockc::difftest
