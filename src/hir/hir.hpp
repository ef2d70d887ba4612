// The resolved and desugared program: names are definitions or locals, macros are expanded, sugar is gone (`while`, `for`,
// `?`, ranges, `assert!` ..). What needs types (method names, fields, associated paths, operators) stays for check.
// node.def lists the node kinds; this file gives the payload types that the rows name.
//
// Ownership: hir::Program owns all definitions and type syntax of all crates; each hir::Body owns its expressions,
// patterns and locals, whose ids are local to that body. Lists are spans into Program::arena.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_map>
#include <variant>
#include <vector>

#include "ast/ast.hpp"
#include "hir/launch.hpp"
#include "source/span.hpp"
#include "support/arena.hpp"
#include "support/index_map.hpp"
#include "support/interner.hpp"
#include "types/def_id.hpp"
#include "types/type.hpp"

namespace ockc::hir {

using types::FloatKind;
using types::IntKind;
using types::Mutability;

using BodyId = Id<struct HirBodyTag>;
using ExprId = Id<struct HirExprTag>;      // per body
using PatId = Id<struct HirPatTag>;        // per body
using LocalId = Id<struct HirLocalTag>;    // per body
using BlockId = Id<struct HirBlockTag>;    // per body
using TyId = Id<struct HirTyTag>;          // per program
template <class T>
using List = std::span<const T>;

struct Ident {
    Symbol name;
    Span span;
};

// ---- what a name means ------------------------------------------------------------------------------------------------

enum class DefKind : std::uint8_t {
    Mod, Struct, Union, Enum, Variant, Trait, TyAlias, AssocTy, Fn, AssocFn, Const, AssocConst, Static,
    Ctor,          // the constructor of a tuple or unit struct or variant, as a function or value; parent = struct or variant
    Field, Impl, TyParam, ConstParam, LifetimeParam, Closure,
    AnonConst,     // array length, const generic argument, discriminant, inline `const {}`: a body of its own
    Macro, Crate, ForeignFn,
    ImplTrait,     // `impl Trait` in a function's result; parent = the function
    Opaque,        // item of a host crate: may be imported, must not be used by device code
};
std::string_view def_kind_text(DefKind kind);   // "struct", "function", "associated type" .. as rustc says it

enum class PrimTy : std::uint8_t {
    Bool, Char, Str,
#define OCKC_PRIM_ROW(name, ...) name,
    OCKC_PRIM_INTS(OCKC_PRIM_ROW) OCKC_PRIM_FLOATS(OCKC_PRIM_ROW)
#undef OCKC_PRIM_ROW
};

// The result of resolving a path.
struct Res {
    enum class Kind : std::uint8_t {
        Error,          // reported
        Def,            // def (kind: Program::defs[def].kind)
        Local,          // local
        Prim,           // prim
        SelfParam,      // `Self` inside trait `def`
        SelfAlias,      // `Self` inside impl `def`, or inside struct/enum `def` itself
        SelfCtor,       // `Self(..)` or `Self` as a value inside impl `def`
    } kind = Kind::Error;
    DefId def;
    LocalId local;
    PrimTy prim = PrimTy::Bool;
};

struct Lifetime {
    enum class Kind : std::uint8_t { Elided, Static, Param, Infer, Error } kind = Kind::Elided;   // Infer: '_
    DefId param;
    Ident ident;
};

struct GenericArg {
    enum class Kind : std::uint8_t { Lifetime, Type, Const } kind = Kind::Type;
    Span span;
    Lifetime lifetime;
    TyId type;         // a lone path that names a constant has already become Const
    DefId constant;    // AnonConst
};
struct AssocConstraint {      // Item = u32, Item: Bound, N = 3, Item<'a> = &'a u32
    Ident name;
    const struct GenericArgs* args = nullptr;   // of the name, or null
    TyId type;                // none for bounds and constants
    DefId constant;           // AnonConst, or none
    List<struct Bound> bounds;
    Span span;
};
struct GenericArgs {
    Span span;
    List<GenericArg> args;
    List<AssocConstraint> constraints;
    bool parenthesized = false;     // Fn(A, B) -> C: one tuple type argument, constraint Output = C
};
// `#[kernel(f32)]`: what stands for the kernel's generic parameters in one of its instances.
struct KernelInstance {
    const GenericArgs* args = nullptr;
    Span span;
};
struct PathSegment {
    Ident ident;
    Res res;                        // what the path up to here means (modules, types, traits)
    const GenericArgs* args = nullptr;
};
struct Path {
    Span span;
    Res res;
    List<PathSegment> segments;
};
// Resolved: `self_type` is set for <T as Trait>::Name (the path then names the trait's item).
// TypeRelative: `self_type`::segment, where segment is an associated item or a variant that needs types to be found.
struct QPath {
    enum class Kind : std::uint8_t { Resolved, TypeRelative } kind = Kind::Resolved;
    Span span;
    TyId self_type;
    Path path;
    PathSegment segment;
};

struct Bound {
    enum class Kind : std::uint8_t { Trait, Outlives, Use } kind = Kind::Trait;   // Use: `use<'a, T>` of an `impl Trait`
    bool maybe = false;             // ?Sized
    Span span;
    Path trait_path;
    List<DefId> for_lifetimes;      // for<'a>
    Lifetime lifetime;
    List<Lifetime> captures;        // Use: the lifetimes; type parameters are captured always
};

struct GenericParam {
    enum class Kind : std::uint8_t { Lifetime, Type, Const } kind = Kind::Type;
    DefId def;
    Ident ident;
    Span span;
    List<Bound> bounds;             // as written at the parameter
    TyId default_type;              // Type: default, or none
    TyId const_type;                // Const
    DefId default_const;            // AnonConst, or none
    bool from_impl_trait = false;   // argument-position `impl Trait`
};
struct WherePredicate {
    Span span;
    List<DefId> for_lifetimes;
    TyId bounded_type;              // none: a lifetime predicate
    Lifetime lifetime;
    List<Bound> bounds;
};
// Own parameters only, lifetimes first; the parent's stand in front when counting indices (a trait's Self has index 0).
struct Generics {
    Span span;
    List<GenericParam> params;
    List<WherePredicate> predicates;
};

// ---- definitions --------------------------------------------------------------------------------------------------------

struct Visibility {
    bool is_public = false;
    DefId module;                   // visible inside this module and below; its own crate root for pub(crate)
};

enum class AttributeKind : std::uint8_t {
#define OCKC_ATTRIBUTE(kind, ...) kind,
#include "hir/attributes.def"
};

// An attribute that the compiler knows (attributes.def), with where it stood. Unknown ones are refused by resolve.
struct Attribute {
    AttributeKind kind{};
    Span span;
    ast::AttributeId ast;           // in the crate's ast::Crate
    ast::MetaItem meta;             // its path and arguments; cfg_attr has been evaluated
    Symbol word;                    // its only argument when that is one name: `never` of `inline(never)`
};

struct FnParam {
    PatId pat;                      // in the function's body; none without a body
    TyId type;
    Span span;
    Ident name;                     // when the pattern is a plain name
};
struct FnSig {
    bool is_const = false, is_unsafe = false, is_extern = false, is_async = false;
    bool has_self = false;          // the first input is `self`
    List<FnParam> inputs;           // `self` included, with its type spelt out
    TyId output;                    // none: ()
    Span output_span;
    Span span;                      // the head, from `fn` or its first qualifier to the output type
};
struct FieldDef {
    DefId def;
    Ident name;                     // "0", "1" for tuple fields
    TyId type;
    Visibility visibility;
    Span span;
};
enum class VariantForm : std::uint8_t { Named, Tuple, Unit };
struct VariantData {
    DefId def;                      // the variant, or the struct itself
    DefId ctor;                     // Tuple and Unit: the constructor's def
    Ident name;
    VariantForm form = VariantForm::Unit;
    List<FieldDef> fields;
    DefId discriminant;             // AnonConst of an explicit discriminant, or none
    Span span;
};

// #[repr(..)]
struct Repr {
    bool c = false, transparent = false, packed = false;
    std::uint32_t align = 0;        // align(N) or packed(N); 0 when not given
    std::optional<IntKind> integer; // repr(u8) on enums
    Span span;
};

struct ModDef { List<DefId> items; bool is_device = false; bool is_tile = false; };   // #[cuda_module], #[cutile::module]
struct AdtDef { Generics generics; List<VariantData> variants; Repr repr; };            // Struct, Union: one variant
struct TraitDef { Generics generics; List<Bound> supertraits; List<DefId> items; bool is_unsafe = false; bool is_auto = false; };
struct ImplDef {
    Generics generics;
    bool has_trait = false, is_negative = false, is_unsafe = false;
    Path trait_path;
    TyId self_type;
    List<DefId> items;
    bool derived = false;           // from #[derive]; its bodies are generated
};
struct FnDef { Generics generics; FnSig sig; BodyId body; bool has_body = false; };     // body none: required method, intrinsic, foreign, or has_body: not lowered yet
struct ConstDef { Generics generics; TyId type; BodyId body; };                         // Const, AssocConst; body none: required
struct StaticDef { TyId type; BodyId body; bool is_mut = false; };
struct TypeAliasDef { Generics generics; List<Bound> bounds; TyId type; };              // TyAlias, AssocTy, ImplTrait; type none: required
struct AnonConstDef { BodyId body; TyId expected; };                                    // expected: const parameter's type when known from syntax
struct ParamDef { std::uint32_t position = 0; };                                        // TyParam, ConstParam, LifetimeParam: among own params
struct PlainDef {};                                                                     // Variant, Ctor, Field, Closure, Macro, Crate, Opaque: see parent

// Only what device code refers to is lowered: `data` of other definitions is default-made (of the right alternative) and must
// not be read, but for FnDef::has_body, which is always right. An associated item that no reached code mentions by name (as a
// method, path segment, operator or desugaring) stays unlowered although its impl or trait is lowered: method lookup and
// completeness checks go by Def::name and skip or count it without looking inside.
struct Def {
    bool lowered = false;
    DefKind kind = DefKind::Mod;
    Ident name;
    DefId parent;                   // enclosing module, trait, impl, enum, function ..
    Span span;                      // the whole item
    Visibility visibility;
    std::uint32_t crate = 0;        // index into Program::crates
    List<Attribute> attributes;
    std::string_view intrinsic;     // key of #[intrinsic("key")], else empty
    std::string_view lang_item;     // key of #[lang = "key"], else empty
    std::string_view doc;
    std::variant<PlainDef, ModDef, AdtDef, TraitDef, ImplDef, FnDef, ConstDef, StaticDef, TypeAliasDef, AnonConstDef, ParamDef> data;
};

// ---- type syntax ----------------------------------------------------------------------------------------------------------

struct BareFn { bool is_unsafe = false; bool is_extern = false; List<DefId> for_lifetimes; List<TyId> inputs; TyId output; };

// ---- bodies ---------------------------------------------------------------------------------------------------------------

using UnaryOp = ast::UnaryOp;
using BinaryOp = ast::BinaryOp;

// A literal's decoded value. Integers: 128 bits without sign (negation is an operator). Floats: their text without `_` and suffix.
struct Literal {
    enum class Kind : std::uint8_t { Bool, Char, Byte, Int, Float, Str, ByteStr, CStr, Error } kind = Kind::Error;
    std::uint64_t low = 0, high = 0;      // Bool, Char, Byte, Int
    std::string_view text;                // Float: digits; Str, ByteStr, CStr: decoded bytes
    bool has_suffix = false;
    PrimTy suffix = PrimTy::I32;
};

// Where a desugared node came from, so that messages speak of what the user wrote.
enum class MatchSource : std::uint8_t { Match, ForLoop, Try };
enum class LoopSource : std::uint8_t { Loop, While, ForLoop };
enum class BlockSafety : std::uint8_t { Safe, Unsafe };
// The panics that are expressions; arithmetic and bounds checks are MIR's.
enum class PanicKind : std::uint8_t { Panic, Assert, AssertEq, AssertNe, Unreachable, Todo, Unimplemented };

struct Arm { Span span; PatId pat; ExprId guard; ExprId body; };                        // guard or none; may hold Let
struct FieldInit { Ident field; ExprId value; Span span; bool shorthand = false; };
struct FieldPat { Ident field; PatId pat; Span span; bool shorthand = false; };
struct ClosureParam { PatId pat; TyId type; Span span; };                                 // type or none
struct BindingMode { bool by_ref = false; bool ref_mut = false; bool is_mut = false; };
enum class RangeEnd : std::uint8_t { Included, Excluded };
struct Stmt {
    enum class Kind : std::uint8_t { Let, Expr, Semi, Item } kind = Kind::Expr;         // Expr: block-like without `;`, must be ()
    Span span;
    PatId pat; TyId type; ExprId init; BlockId else_block;                                // Let; type, init, else_block or none
    ExprId expr;                                                                          // Expr, Semi
    DefId item;                                                                           // Item: defined in this block
};
struct Block {
    Span span;
    List<Stmt> stmts;
    ExprId tail;                    // or none
    BlockSafety safety = BlockSafety::Safe;
    Symbol label;                   // 'a: { .. break 'a v .. }, or none; its break target is the Block expression
};

// The payload structs and variants, generated from node.def.
#define F(type, name) type name{};
#define OCKC_HIR_TY(name, fields) struct name##Ty { fields };
#define OCKC_HIR_EXPR(name, fields) struct name##Expr { fields };
#define OCKC_HIR_PAT(name, fields) struct name##Pat { fields };
#include "hir/node.def"
#undef F

using TyData = std::variant<std::monostate
#define OCKC_HIR_TY(name, fields) , name##Ty
#include "hir/node.def"
    >;
using ExprData = std::variant<std::monostate
#define OCKC_HIR_EXPR(name, fields) , name##Expr
#include "hir/node.def"
    >;
using PatData = std::variant<std::monostate
#define OCKC_HIR_PAT(name, fields) , name##Pat
#include "hir/node.def"
    >;

// A bit for each kind of expression, so that a word says which kinds a body has.
template <class Node, class... Nodes>
constexpr std::uint64_t kind_bit_in(const std::variant<Nodes...>*) {
    static_assert(sizeof...(Nodes) <= 64 && (std::is_same_v<Node, Nodes> || ...));
    std::uint64_t bit = 1, found = 0;
    ((found |= std::is_same_v<Node, Nodes> ? bit : 0, bit <<= 1), ...);
    return found;
}
template <class Node>
inline constexpr std::uint64_t kExprBit = kind_bit_in<Node>(static_cast<const ExprData*>(nullptr));

struct Ty { Span span; TyData data; };
struct Expr {
    Span span;
    bool desugared = false;         // made by a desugaring: spans are the user's, warnings stay quiet
    ExprData data;
};
struct Pat { Span span; PatData data; };
struct Local {
    Ident name;
    bool is_mut = false;            // `mut x`
    PatId pat;                      // the first pattern that binds it (or-patterns bind it in each alternative)
    bool desugared = false;         // made by a desugaring
};

// The body of a function, constant, static or anonymous constant. Closures lie inside the body of their owner.
struct Body {
    DefId owner;
    List<DefId> traits_in_scope;    // traits whose methods are visible here: of the module, its globs, the prelude, and the body's own blocks
    List<FnParam> params;           // patterns and types, as in the signature
    ExprId value;
    IndexVec<ExprId, Expr> exprs;
    IndexVec<PatId, Pat> pats;
    IndexVec<LocalId, Local> locals;
    IndexVec<BlockId, Block> blocks;
    bool has_errors = false;        // some name or form in it was refused: what that leaves open is no error of its own
};

// An import of a device module that no path went through. A trait may still be used for its methods: src/lints decides.
struct UnusedImport {
    Span span;
    Symbol name;
    DefId trait;                    // or none
};

struct Crate {
    Symbol name;                    // "crate" name: file stem, core, cuda_device ..
    DefId root;                     // its root module
    bool is_library = false;        // built-in library
    std::unique_ptr<ast::Crate> ast;
    std::vector<std::unique_ptr<lex::TokenBuffer>> tokens;   // what token ranges in `ast` point into
};

struct Program {
    explicit Program(Interner& names) : interner(names) {}
    Interner& interner;
    Arena arena;
    std::vector<Crate> crates;      // built-in library crates first, the user's last
    StableVec<DefId, Def> defs;
    StableVec<TyId, Ty> types;
    IndexVec<BodyId, std::unique_ptr<Body>> bodies;
    std::vector<DefId> impls;       // every lowered Impl of every crate
    std::vector<DefId> device_roots;          // kernels, #[device] functions, items of device modules, in source order
    std::vector<DefId> kernels;     // the functions with #[kernel] or #[cutile::entry] among device_roots, in source order
    std::unordered_map<DefId, const LaunchSpec*> launches;    // of kernels with launch attributes; in the arena
    std::unordered_map<DefId, std::vector<KernelInstance>> kernel_instances;   // of generic kernels, as their attribute lists them
    std::unordered_map<std::string_view, DefId> lang_items;
    std::vector<UnusedImport> unused_imports; // in source order
    std::vector<DefId> reexported;            // what a `pub use` of the user's shows: items, or modules whose names it passes on

    const Attribute* attribute(DefId def, AttributeKind kind) const {
        for (const Attribute& a : defs[def].attributes) {
            if (a.kind == kind) return &a;
        }
        return nullptr;
    }
    DefId lang_item(std::string_view key) const {
        const auto found = lang_items.find(key);
        return found == lang_items.end() ? DefId::none() : found->second;
    }
    template <class T>
    const T& as(DefId def) const { return std::get<T>(defs[def].data); }
    std::string_view name(DefId def) const { return interner.text(defs[def].name.name); }
    // "kernels::helper", "core::option::Option"; the user's crate has no prefix.
    std::string path_text(DefId def) const;
};

}  // namespace ockc::hir
