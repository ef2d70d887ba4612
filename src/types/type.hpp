// Semantic types, hash-consed: equal types have equal ids. Terms are rustc's: Adt (struct, enum, union), FnDef (the
// zero-sized type of a function item), Param (a generic parameter), Projection (an associated type not yet known),
// Infer (a variable of one body's inference).
#pragma once
#include <array>
#include <cstdint>
#include <string_view>

#include "support/id.hpp"
#include "support/interner.hpp"
#include "types/def_id.hpp"

namespace ockc::types {

using TypeId = Id<struct TypeTag>;
using RegionId = Id<struct RegionTag>;
using ConstId = Id<struct ConstTag>;
using ArgsId = Id<struct ArgsTag>;           // an interned list of generic arguments
using TypeListId = Id<struct TypeListTag>;   // an interned list of types

enum class Mutability : std::uint8_t { Not, Mut };

// ONE ROW PER PRIMITIVE NUMBER TYPE: OCKC_PRIM_INT(enum, "name", bits, signed), OCKC_PRIM_FLOAT(enum, "name", bits).
#define OCKC_PRIM_INTS(X)       \
    X(I8, "i8", 8, true)        \
    X(I16, "i16", 16, true)     \
    X(I32, "i32", 32, true)     \
    X(I64, "i64", 64, true)     \
    X(I128, "i128", 128, true)  \
    X(Isize, "isize", 64, true) \
    X(U8, "u8", 8, false)       \
    X(U16, "u16", 16, false)    \
    X(U32, "u32", 32, false)    \
    X(U64, "u64", 64, false)    \
    X(U128, "u128", 128, false) \
    X(Usize, "usize", 64, false)
#define OCKC_PRIM_FLOATS(X) \
    X(F16, "f16", 16)       \
    X(BF16, "bf16", 16)     \
    X(F32, "f32", 32)       \
    X(F64, "f64", 64)

enum class IntKind : std::uint8_t {
#define OCKC_ENUM_ROW(name, ...) name,
    OCKC_PRIM_INTS(OCKC_ENUM_ROW)
};
enum class FloatKind : std::uint8_t {
    OCKC_PRIM_FLOATS(OCKC_ENUM_ROW)
#undef OCKC_ENUM_ROW
};
std::string_view int_name(IntKind kind);
std::uint32_t int_bits(IntKind kind);
bool int_signed(IntKind kind);
std::string_view float_name(FloatKind kind);
std::uint32_t float_bits(FloatKind kind);

enum class TypeKind : std::uint8_t {
    Error,       // already reported; silences what follows
    Never,       // !
    Bool,
    Char,
    Str,         // str, unsized
    Int,         // int_kind
    Float,       // float_kind
    Tuple,       // elements; () is the empty one
    Array,       // element, length
    Slice,       // element; unsized
    Ref,         // region, mutability, element
    RawPtr,      // mutability, element
    Adt,         // def, args
    FnDef,       // def, args
    FnPtr,       // elements = inputs then output; is_unsafe
    Closure,     // def, args = the generic arguments of the enclosing item
    Param,       // index, name: position in the generics of the item, parents first
    Projection,  // def = the associated type, args = Self then the trait's and its own arguments
    Opaque,      // `impl Trait` in return position: def, args
    Infer,       // index = inference variable, infer_kind
};

enum class InferKind : std::uint8_t { Type, Int, Float };   // {integer} and {float} are the literals' variables

// What may occur somewhere inside a type; lets substitution and resolution stop early.
enum TypeFlags : std::uint8_t {
    kHasInfer = 1,
    kHasParam = 2,
    kHasProjection = 4,
    kHasError = 8,
    kHasRegion = 16,   // a region other than Erased
    kHasClosure = 32,
};

struct TypeData {
    TypeKind kind = TypeKind::Error;
    IntKind int_kind = IntKind::I32;
    FloatKind float_kind = FloatKind::F32;
    Mutability mutability = Mutability::Not;
    InferKind infer_kind = InferKind::Type;
    bool is_unsafe = false;
    std::uint8_t flags = 0;          // TypeFlags; they follow from the rest
    std::uint8_t unused = 0;         // so that equal types are equal bytes
    DefId def;
    ArgsId args;
    TypeId element;
    ConstId length;
    RegionId region;
    TypeListId elements;
    std::uint32_t index = 0;
    Symbol name;
};

enum class RegionKind : std::uint8_t {
    Erased,      // inside bodies, until the borrow checker makes fresh variables
    Static,
    EarlyParam,  // a lifetime parameter of an item: def, index, name
    LateParam,   // elided in a function's signature or an impl's header: def, index
    Bound,       // of the `for<..>`, written or implied, of the bound or function pointer it stands in: def, index, name
    Var,         // borrow checker variable: index
    Error,
};
struct RegionData {
    RegionKind kind = RegionKind::Erased;
    DefId def;
    std::uint32_t index = 0;
    Symbol name;
};

enum class ConstKind : std::uint8_t {
    Error,
    Value,       // type and bits; arrays of constants (tile shapes) are elements
    Param,       // index, name: as TypeKind::Param
    Infer,       // index
    Unevaluated, // def (a const item or an anonymous constant's DefId), args
};
struct ConstData {
    ConstKind kind = ConstKind::Error;
    std::uint8_t flags = 0;          // TypeFlags
    TypeId type;
    std::array<std::uint64_t, 2> bits{};      // low, high; zero-extended to the type's width
    DefId def;
    ArgsId args;
    std::uint32_t index = 0;
    Symbol name;
    std::uint32_t elements_begin = 0;         // Value of array type: range in TypeStore's element pool
    std::uint32_t elements_count = 0;
};

// A type, region or constant in one word.
class GenericArg {
  public:
    enum class Kind : std::uint8_t { Type, Region, Const };
    GenericArg() = default;
    GenericArg(TypeId id) : raw_(id.raw << 2 | 0) {}      // NOLINT: implicit on purpose
    GenericArg(RegionId id) : raw_(id.raw << 2 | 1) {}    // NOLINT: implicit on purpose
    GenericArg(ConstId id) : raw_(id.raw << 2 | 2) {}     // NOLINT: implicit on purpose
    Kind kind() const { return static_cast<Kind>(raw_ & 3); }
    TypeId as_type() const { return kind() == Kind::Type ? TypeId(raw_ >> 2) : TypeId(); }
    RegionId as_region() const { return kind() == Kind::Region ? RegionId(raw_ >> 2) : RegionId(); }
    ConstId as_const() const { return kind() == Kind::Const ? ConstId(raw_ >> 2) : ConstId(); }
    std::uint32_t raw() const { return raw_; }
    friend bool operator==(GenericArg, GenericArg) = default;

  private:
    std::uint32_t raw_ = 3;
};

}  // namespace ockc::types
