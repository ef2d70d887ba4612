// The mid-level IR: one control-flow graph per function, constant, static, promoted constant or closure, over *places*.
// Not SSA, still generic (types hold Params), with every implicit step of the source made a statement: temporaries,
// adjustments, bounds checks, match tests, storage and drops. mir.def lists the nodes; docs/mir.md is the reference.
//
// Ownership: mir::Program owns the arena that all lists and strings of its bodies lie in. Everything in a body is
// trivially copyable, so a place or operand is passed by value.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <variant>
#include <vector>

#include "hir/hir.hpp"
#include "source/span.hpp"
#include "support/arena.hpp"
#include "support/index_map.hpp"
#include "types/type.hpp"

namespace ockc::mir {

using types::Mutability;
using types::TypeId;
using LocalId = Id<struct MirLocalTag>;
using BlockId = Id<struct MirBlockTag>;
using ScopeId = Id<struct MirScopeTag>;        // lexical scope of variables
using ConstantId = Id<struct MirConstantTag>;  // into Body::constants
template <class T>
using List = std::span<const T>;

inline constexpr LocalId kReturnLocal{0};      // _0; the arguments follow as _1 .. _arg_count

// ---- places -----------------------------------------------------------------------------------------------------------

enum class ProjectionKind : std::uint8_t {
    Deref,           // *p: of a reference or raw pointer
    Field,           // p.index: of a struct, tuple, closure, or of an enum place after Downcast
    Index,           // p[local]: an array or slice; the bounds check stands before
    ConstantIndex,   // p[offset], or p[len - offset] with from_end; the length is known to be at least min_length
    Subslice,        // p[from..to], or p[from..len - to] with from_end
    Downcast,        // p as variant `index`
};
struct Projection {
    ProjectionKind kind = ProjectionKind::Deref;
    bool from_end = false;
    std::uint32_t index = 0;          // Field, Downcast
    LocalId local{};                  // Index
    std::uint64_t offset = 0;         // ConstantIndex: offset; Subslice: from
    std::uint64_t min_length = 0;     // ConstantIndex: min_length; Subslice: to
    TypeId type{};                    // of the place up to and with this projection (regions erased)
};
struct Place {
    LocalId local;
    List<Projection> projections;

    bool is_local() const { return projections.empty(); }
    bool is_indirect() const {
        for (const Projection& step : projections) {
            if (step.kind == ProjectionKind::Deref) return true;
        }
        return false;
    }
    // The first `count` projections only.
    Place prefix(std::size_t count) const { return {local, projections.first(count)}; }
};
bool same_projection(const Projection& a, const Projection& b);
bool operator==(const Place& a, const Place& b);

// ---- operands ---------------------------------------------------------------------------------------------------------

// A value known without running the body.
struct Constant {
    enum class Kind : std::uint8_t {
        Scalar,      // bits: an integer (zero-extended from its type's width), bool, char or float (its bits)
        ZeroSized,   // a function item, (), or any other value that its type tells: FnDef and its arguments stand in `type`
        Item,        // the value of const item or anonymous constant `def` with `args`
        Param,       // a const generic parameter: `value`
        Const,       // a type-level constant: `value` (array lengths, struct-like constant values)
        Static,      // the address of static `def`: a reference, or a raw pointer for `static mut`
        Promoted,    // a reference to the value of Body::promoted[index], which lives for ever
        Str,         // text, as &'static str
        Bytes,       // text, as &'static [u8; N]
    } kind = Kind::ZeroSized;
    TypeId type{};
    Span span{};
    std::uint64_t low = 0, high = 0;
    types::ConstId value{};
    DefId def{};
    types::ArgsId args{};
    std::uint32_t index = 0;
    std::string_view text{};
};

struct Operand {
    enum class Kind : std::uint8_t { Copy, Move, Constant } kind = Kind::Constant;
    ConstantId constant;   // in front, where there is room: most of a body is operands
    Place place;

    static Operand copy(Place place) { return {Kind::Copy, ConstantId(), place}; }
    static Operand move(Place place) { return {Kind::Move, ConstantId(), place}; }
    static Operand of(ConstantId constant) { return {Kind::Constant, constant, Place()}; }
    bool is_constant() const { return kind == Kind::Constant; }
};

// ---- the small enumerations ---------------------------------------------------------------------------------------------

enum class BorrowKind : std::uint8_t {
    Shared,
    Fake,           // of what a match guard must not change; no code (Shallow in older compilers)
    Mut,
    TwoPhaseMut,    // reserved until its temporary is first used
    UniqueCapture,  // &mut of a place reached through a captured & (closures): the place itself need not be mutable
};
inline bool is_mutable(BorrowKind kind) { return kind >= BorrowKind::Mut; }

enum class FakeReadCause : std::uint8_t { ForMatchedPlace, ForLet, ForGuardBinding, ForMatchGuard, ForIndex };
enum class UnOp : std::uint8_t { Not, Neg };
enum class NullOp : std::uint8_t { SizeOf, AlignOf };
enum class CallSource : std::uint8_t { Normal, Method, Operator };
enum class BinOp : std::uint8_t {
#define OCKC_MIR_BINOP(name, text, verb) name,
#include "mir/mir.def"
};
enum class CastKind : std::uint8_t {
#define OCKC_MIR_CAST(name, doc) name,
#include "mir/mir.def"
};
enum class AssertKind : std::uint8_t {
#define OCKC_MIR_ASSERT(name, operands, text) name,
#include "mir/mir.def"
};
std::string_view binop_name(BinOp op);        // "Add"
std::string_view binop_text(BinOp op);        // "+"
std::string_view binop_verb(BinOp op);        // "add"
std::string_view cast_name(CastKind kind);
std::string_view assert_name(AssertKind kind);
std::string_view assert_text(AssertKind kind);
inline bool is_comparison(BinOp op) { return op >= BinOp::Eq; }

struct AggregateKind {
    enum class Kind : std::uint8_t { Tuple, Array, Adt, Closure } kind = Kind::Tuple;
    TypeId type;                  // of the value made
    DefId def;                    // Adt, Closure
    std::uint32_t variant = 0;    // Adt
};
struct SwitchCase {
    std::uint64_t low = 0, high = 0;   // zero-extended from the operand's width
    BlockId target;
};

// ---- nodes, generated from mir.def ---------------------------------------------------------------------------------------

#define F(type, name) type name{};
#define OCKC_MIR_RVALUE(name, fields) struct name##Rvalue { fields };
#include "mir/mir.def"
#define OCKC_MIR_RVALUE(name, fields) , name##Rvalue
struct Rvalue {
    std::variant<std::monostate
#include "mir/mir.def"
                 > data;
};
#define OCKC_MIR_STATEMENT(name, fields) struct name##Statement { fields };
#include "mir/mir.def"
#define OCKC_MIR_TERMINATOR(name, fields) struct name##Terminator { fields };
#include "mir/mir.def"
#undef F

using StatementData = std::variant<std::monostate
#define OCKC_MIR_STATEMENT(name, fields) , name##Statement
#include "mir/mir.def"
    >;
using TerminatorData = std::variant<std::monostate
#define OCKC_MIR_TERMINATOR(name, fields) , name##Terminator
#include "mir/mir.def"
    >;
// The alternatives by name, for switches without a default.
enum class RvalueKind : std::uint8_t { None
#define OCKC_MIR_RVALUE(name, fields) , name
#include "mir/mir.def"
};
enum class StatementKind : std::uint8_t { None
#define OCKC_MIR_STATEMENT(name, fields) , name
#include "mir/mir.def"
};
enum class TerminatorKind : std::uint8_t { None
#define OCKC_MIR_TERMINATOR(name, fields) , name
#include "mir/mir.def"
};

struct Statement {
    Span span;
    ScopeId scope;
    StatementData data;
    StatementKind kind() const { return static_cast<StatementKind>(data.index()); }
    template <class T> const T& as() const { return std::get<T>(data); }
    template <class T> const T* get_if() const { return std::get_if<T>(&data); }
};
struct Terminator {
    Span span;
    ScopeId scope;
    TerminatorData data;
    TerminatorKind kind() const { return static_cast<TerminatorKind>(data.index()); }
    template <class T> const T& as() const { return std::get<T>(data); }
    template <class T> const T* get_if() const { return std::get_if<T>(&data); }
};
inline RvalueKind kind(const Rvalue& value) { return static_cast<RvalueKind>(value.data.index()); }

// A point of a body: before statement `statement` of `block`, or before its terminator when statement == statements.size().
struct Location {
    BlockId block;
    std::uint32_t statement = 0;
    friend bool operator==(const Location&, const Location&) = default;
    friend auto operator<=>(const Location&, const Location&) = default;
};

// ---- bodies -----------------------------------------------------------------------------------------------------------------

enum class LocalKind : std::uint8_t { Return, Arg, Var, Temp };
// How a variable was bound, for messages and for the rules of match guards.
enum class LocalInfo : std::uint8_t {
    Plain,
    SelfValue,        // `self` by value
    RefToStatic,      // temporary holding the address of a static
    GuardRef,         // a match binding as its guard sees it: a reference to the value
    BlockTail,        // temporary of a block's tail expression
    ForIterator,      // made by the desugaring of `for`
};
struct Local {
    TypeId type{};                   // regions erased
    Mutability mutability = Mutability::Mut;
    LocalKind kind = LocalKind::Temp;
    LocalInfo info = LocalInfo::Plain;
    Symbol name{};                   // user variables, named arguments
    Span span{};
    ScopeId scope{};
    hir::LocalId hir_local{};        // user variables
    DefId static_def{};              // RefToStatic
    Span match_span{};               // of the value that a pattern took it from; none: not bound by a pattern
    bool by_ref_binding = false;     // `ref x`, or a binding that a default binding mode made a reference
};
struct BasicBlock {
    std::vector<Statement> statements;
    Terminator terminator;
};
struct SourceScope {
    ScopeId parent;
    Span span;
};
// A closure's captured variable: field `index` of the closure value.
struct Upvar {
    Symbol name{};
    hir::LocalId variable{};         // the captured variable (its root, for places)
    bool by_ref = false;
    Mutability mutability = Mutability::Not;   // may the closure's body change it
    bool behind_shared = false;      // borrowed through a shared reference: no one may change it, and its owner is told so
    Span span{};                     // the use that made it captured
};
struct Body {
    DefId owner;
    std::uint32_t promoted_index = 0xFFFFFFFFu;   // this is Program::promoted of the owner
    Span span;
    IndexVec<LocalId, Local> locals;
    IndexVec<BlockId, BasicBlock> blocks;         // block 0 is the entry
    std::uint32_t arg_count = 0;
    IndexVec<ScopeId, SourceScope> scopes;        // scope 0 is the whole body
    IndexVec<ConstantId, Constant> constants;
    std::vector<std::unique_ptr<Body>> promoted;  // `&CONSTANT EXPRESSION`, each a body that returns the value
    std::vector<Upvar> upvars;                    // closures; _1 is the closure or a reference to it
    bool is_closure = false;
    bool has_errors = false;                      // made from ill-typed code: for dumps only

    TypeId type_of(const Place& place) const {
        return place.projections.empty() ? locals[place.local].type : place.projections.back().type;
    }
    TypeId type_of(const Operand& operand) const {
        return operand.is_constant() ? constants[operand.constant].type : type_of(operand.place);
    }
    Span span_at(Location at) const {
        const BasicBlock& block = blocks[at.block];
        return at.statement < block.statements.size() ? block.statements[at.statement].span : block.terminator.span;
    }
};

struct Program {
    Arena arena;
    std::unordered_map<DefId, std::unique_ptr<Body>> bodies;   // functions, constants, statics, anonymous constants, closures
    std::vector<DefId> order;                                  // keys of `bodies`, in the order they were built
    const Body* body(DefId owner) const {
        const auto found = bodies.find(owner);
        return found == bodies.end() ? nullptr : found->second.get();
    }
};

// Calls f(BlockId) for each successor, in order; imaginary ones too.
template <class Fn>
void for_each_successor(const Terminator& terminator, Fn&& f);

}  // namespace ockc::mir

#include "mir/visit.hpp"
