// What type checking adds to one HIR body: side maps from its expressions, patterns and locals to types, adjustments and
// resolved items. MIR building reads a body together with its tables and never looks a name up again.
//
// Every type is fully inferred and normalised as far as the body's own bounds allow; Param types of the owner stay, so that
// one table serves all instances. All regions are Erased. Tables exist only for bodies without errors.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "hir/hir.hpp"
#include "support/index_map.hpp"
#include "types/type.hpp"

namespace ockc::check {

using types::ArgsId;
using types::ConstId;
using types::Mutability;
using types::TypeId;

struct ConstValue;   // check/const_value.hpp

// An item with its generic arguments (the parents' first): a function, constant, static, constructor, variant or struct.
struct ItemRef {
    DefId def;
    ArgsId args;
    bool valid() const { return def.valid(); }
    friend bool operator==(const ItemRef&, const ItemRef&) = default;
};

// ---- adjustments: implicit steps between an expression as written and its use, applied in order ---------------------------

enum class AdjustKind : std::uint8_t {
    NeverToAny,        // ! to any type
    Deref,             // built-in * of a reference or raw pointer: a place
    OverloadedDeref,   // *Deref::deref(&place) or *DerefMut::deref_mut(&mut place): a place; mutability says which, callee is it
    Borrow,            // &place or &mut place
    RawBorrow,         // &raw const *place, &raw mut *place: reference to raw pointer
    MutToConst,        // *mut T to *const T
    Unsize,            // pointer to [T; N] becomes pointer to [T] (references and raw pointers)
    ReifyFn,           // function item to function pointer
    ClosureToFnPtr,    // closure without captures to function pointer
    UnsafeFnPtr,       // fn() to unsafe fn()
};
struct Adjustment {
    AdjustKind kind = AdjustKind::Deref;
    Mutability mutability = Mutability::Not;   // Borrow, RawBorrow, OverloadedDeref
    bool two_phase = false;                    // Borrow Mut: activated at the call (autoref of receivers and operators)
    ItemRef callee;                            // OverloadedDeref: deref or deref_mut
    TypeId target;                             // the type after this step
};

// ---- casts ------------------------------------------------------------------------------------------------------------------

enum class CastKind : std::uint8_t {
    Coercion,      // the operand's adjustments do all of it
    IntToInt,      // sign- or zero-extends by the source's sign, or truncates
    IntToFloat,
    FloatToInt,    // saturates; NaN gives 0
    FloatToFloat,
    BoolToInt,
    CharToInt,
    U8ToChar,
    EnumToInt,     // field-less enum: its discriminant
    PtrToPtr,      // thin to thin, or slice to slice
    FatToThin,     // *const [T] to *const U
    PtrToInt,
    IntToPtr,
    FnPtrToPtr,
    FnPtrToInt,
    ArrayPtrToElement,   // &[T; N] or *const [T; N] to *const T
};

// ---- closures ---------------------------------------------------------------------------------------------------------------

enum class ClosureKind : std::uint8_t { Fn, FnMut, FnOnce };
enum class CaptureKind : std::uint8_t { ByValue, ByRef, ByMutRef };   // ByMutRef: a unique borrow
struct CaptureProjection {
    enum class Kind : std::uint8_t { Deref, Field } kind = Kind::Deref;
    std::uint32_t field = 0;
    TypeId type;          // after the step
};
// A captured place of the enclosing body and the field of the closure that holds it.
struct Capture {
    hir::LocalId local;
    std::vector<CaptureProjection> projections;
    CaptureKind kind = CaptureKind::ByRef;
    TypeId place_type;
    TypeId type;          // of the closure's field: place_type, &place_type or &mut place_type
    Span use_span;        // the use that decided the capture kind
};
struct ClosureInfo {
    DefId def;
    DefId owner;                      // the item whose body it lies in; its generics are the closure's
    hir::ExprId expr;
    ClosureKind kind = ClosureKind::Fn;
    bool is_move = false;
    std::vector<TypeId> inputs;
    TypeId output;
    // A function pointer type beside inputs and output that says whose their lifetimes are: Bound where each call chooses, a
    // lifetime that the user named, or Erased (of the surroundings). Where it has another form than they, all are of the surroundings.
    TypeId lifetimes;
    std::vector<Capture> captures;    // in field order
};

// ---- the tables -------------------------------------------------------------------------------------------------------------

enum class BindMode : std::uint8_t { Value, Ref, RefMut };

class TypeTables {
  public:
    DefId owner;
    hir::BodyId body;
    bool has_errors = false;

    // What there is in the body at all: checks that look for something else need not look.
    template <class Node>
    bool has() const { return (expr_kinds & hir::kExprBit<Node>) != 0; }
    std::uint64_t expr_kinds = 0;         // of hir::kExprBit
    bool has_unsafe_parts = false;        // raw pointers, unions, statics, unsafe functions
    bool names_statics = false;
    bool names_intrinsics = false;

    SideMap<hir::ExprId, TypeId> expr_types;     // before adjustments
    SideMap<hir::PatId, TypeId> pat_types;       // of the value that this very pattern matches, after implicit derefs
    SideMap<hir::LocalId, TypeId> local_types;   // of the variable itself (a `ref` binding: the reference)
    std::unordered_map<hir::TyId, TypeId> written_types;    // `let x: T`, `as T`, closure parameters; regions kept

    // Path expressions: function, constructor, constant, static, associated items, generic arguments filled in. Not for locals.
    // Struct expressions and unit/tuple struct paths: the struct or variant (Ctor paths: the constructor's def).
    SideMap<hir::ExprId, ItemRef> expr_items;
    // Patterns: variant or struct of Path, TupleStruct, Struct; constant of Path.
    SideMap<hir::PatId, ItemRef> pat_items;
    // The function that is called: method calls; overloaded unary, binary, compound-assignment, index operators; calls through
    // Fn/FnMut/FnOnce (arguments then form one tuple). None: built in, or a plain call of the callee expression.
    SideMap<hir::ExprId, ItemRef> callees;
    SideMap<hir::ExprId, std::uint32_t> fields;      // Field: index within the struct, tuple
    SideMap<hir::ExprId, CastKind> casts;
    // Scalar literals as values of their type (no sign: negation is an operator). Integers, floats, bool, char.
    SideMap<hir::ExprId, ConstId> literals;
    // Literal patterns (sign included), constant patterns and range ends; null elsewhere.
    SideMap<hir::PatId, const ConstValue*> pat_values;
    SideMap<hir::PatId, BindMode> bind_modes;        // Binding: after default binding modes

    // The index of every written field, in source order, of a Struct expression or pattern.
    std::span<const std::uint32_t> field_indices(hir::ExprId struct_expr) const { return list(expr_fields_[struct_expr]); }
    std::span<const std::uint32_t> field_indices(hir::PatId struct_pat) const { return list(pat_fields_[struct_pat]); }
    // Struct update `..base`: types of all fields as the base has them are those of expr_types[struct_expr].
    std::span<const Adjustment> adjustments(hir::ExprId expr) const {
        const Range r = adjustments_[expr];
        return {adjustment_pool_.data() + r.begin, r.count};
    }
    // References that default binding modes go through before the pattern matches, outermost first (their types).
    std::span<const TypeId> implicit_derefs(hir::PatId pat) const {
        const Range r = pat_derefs_[pat];
        return {type_pool_.data() + r.begin, r.count};
    }
    TypeId type(hir::ExprId expr) const { return expr_types[expr]; }
    TypeId adjusted_type(hir::ExprId expr) const {
        const auto steps = adjustments(expr);
        return steps.empty() ? expr_types[expr] : steps.back().target;
    }
    TypeId type(hir::PatId pat) const { return pat_types[pat]; }
    TypeId type(hir::LocalId local) const { return local_types[local]; }

    std::vector<std::unique_ptr<ClosureInfo>> closures;
    // Written in by Writeback.
    void set_adjustments(hir::ExprId expr, std::span<const Adjustment> steps);
    void set_implicit_derefs(hir::PatId pat, std::span<const TypeId> types);
    void set_field_indices(hir::ExprId expr, std::span<const std::uint32_t> indices);
    void set_field_indices(hir::PatId pat, std::span<const std::uint32_t> indices);

  private:
    struct Range {
        std::uint32_t begin = 0, count = 0;
    };
    std::span<const std::uint32_t> list(Range r) const { return {index_pool_.data() + r.begin, r.count}; }
    SideMap<hir::ExprId, Range> adjustments_, expr_fields_;
    SideMap<hir::PatId, Range> pat_derefs_, pat_fields_;
    std::vector<Adjustment> adjustment_pool_;
    std::vector<TypeId> type_pool_;
    std::vector<std::uint32_t> index_pool_;
};

}  // namespace ockc::check
