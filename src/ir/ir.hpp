// The SSA IR between the front wing and PTX: typed values, block parameters instead of phis, byte-addressed
// memory. docs/ir.md is the reference of its text form; ops.def describes every operation; verify.hpp lists
// the invariants.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "intrinsic/intrinsic.hpp"
#include "ir/tile_type.hpp"
#include "source/span.hpp"
#include "support/index_map.hpp"
#include "support/interner.hpp"
#include "support/small_vec.hpp"
#include "support/tiny_vec.hpp"

namespace ockc::ir {

using ValueId = Id<struct ValueTag>;
using InstId = Id<struct InstTag>;
using BlockId = Id<struct BlockTag>;
using FuncId = Id<struct FuncTag>;
using GlobalId = Id<struct GlobalTag>;
using InlineScopeId = Id<struct InlineScopeTag>;

enum class TypeClass : std::uint8_t { None, Int, Float, Ptr, Tile };
enum class Type : std::uint8_t {
#define OCKC_IR_TYPE(name, text, bits, cls) name,
#include "ir/types.def"
};
struct TypeRow {
    std::string_view text;
    std::uint16_t bits;
    TypeClass cls;
};
inline constexpr TypeRow kTypes[] = {
#define OCKC_IR_TYPE(name, text, bits, cls) {text, bits, TypeClass::cls},
#include "ir/types.def"
};
inline std::string_view type_text(Type type) {
    return kTypes[static_cast<std::size_t>(type)].text;
}
inline std::uint32_t type_bits(Type type) {
    return kTypes[static_cast<std::size_t>(type)].bits;
}
inline TypeClass type_class(Type type) {
    return kTypes[static_cast<std::size_t>(type)].cls;
}
// Bytes in memory: i1 takes 1, pointers 8.
inline std::uint32_t type_bytes(Type type) {
    return (type_bits(type) + 7) / 8;
}
inline bool is_int(Type type) {
    return type_class(type) == TypeClass::Int;
}
inline bool is_float(Type type) {
    return type_class(type) == TypeClass::Float;
}
inline bool is_ptr(Type type) {
    return type_class(type) == TypeClass::Ptr;
}
inline bool is_tile(Type type) {
    return type == Type::Tile;
}
// The integer type of that many bits (1, 8, 16, 32, 64, 128).
Type int_type(std::uint32_t bits);

enum class Space : std::uint8_t { Generic, Global, Shared, Local, Const, Param };
Type ptr_type(Space space);
Space ptr_space(Type type);

enum class Op : std::uint8_t {
#define OCKC_IR_OP(name, text, arity, result, aux, effect, doc) name,
#include "ir/ops.def"
};
enum class ResultRule : std::uint8_t { None, Type, Bool, PtrLocal, Many };
enum class AuxKind : std::uint8_t { None, IntCond, FloatCond, Sreg, Scope, Order, Atomic, Machine };
enum class Effect : std::uint8_t { Pure, Read, Write, ReadWrite, Control, Convergent };
struct OpInfo {
    std::string_view text;
    std::int8_t arity;
    ResultRule result;
    AuxKind aux;
    Effect effect;
};
inline constexpr OpInfo kOps[] = {
#define OCKC_IR_OP(name, text, arity, result, aux, effect, doc) \
    {text, arity, ResultRule::result, AuxKind::aux, Effect::effect},
#include "ir/ops.def"
};
inline const OpInfo& op_info(Op op) {
    return kOps[static_cast<std::size_t>(op)];
}
inline bool is_terminator(Op op) {
    return op_info(op).effect == Effect::Control;
}
inline bool is_branch(Op op) {
    return op == Op::Jump || op == Op::Br || op == Op::Switch;
}

enum class IntCond : std::uint8_t { Eq, Ne, Ult, Ule, Ugt, Uge, Slt, Sle, Sgt, Sge };
// Ordered conditions are false when an operand is NaN, Ne (Rust's !=) is true then. The U* forms are the
// negations that simplification produces: Ult = not Oge ("unordered or less").
enum class FloatCond : std::uint8_t { Oeq, Une, Olt, Ole, Ogt, Oge, Ord, Uno, Ueq, One, Ult, Ule, Ugt, Uge };
enum class Sreg : std::uint8_t {
#define OCKC_IR_SREG(name, text, type) name,
#include "ir/sregs.def"
};
enum class Scope : std::uint8_t { Block, Device, System };
enum class AtomicOrder : std::uint8_t { Relaxed, Acquire, Release, AcqRel, SeqCst };
// inc: old >= b ? 0 : old + 1; dec: old == 0 || old > b ? b : old - 1.
enum class AtomicOp : std::uint8_t { Exchange, Add, And, Or, Xor, Smin, Smax, Umin, Umax, Inc, Dec, Fadd };
// What Instruction::aux of an atomic says.
struct AtomicInfo {
    AtomicOp op = AtomicOp::Exchange;  // AtomicRmw only
    AtomicOrder order = AtomicOrder::Relaxed;
    Scope scope = Scope::Device;
    constexpr std::uint16_t pack() const {
        return static_cast<std::uint16_t>(static_cast<unsigned>(op) << 8 | static_cast<unsigned>(order) << 4 |
                                          static_cast<unsigned>(scope));
    }
    static constexpr AtomicInfo unpack(std::uint16_t aux) {
        return {static_cast<AtomicOp>(aux >> 8), static_cast<AtomicOrder>(aux >> 4 & 15),
                static_cast<Scope>(aux & 15)};
    }
};
inline bool is_atomic(Op op) {
    return op == Op::AtomicLoad || op == Op::AtomicStore || op == Op::AtomicRmw || op == Op::AtomicCas;
}
inline bool is_tile_op(Op op) {
    return op >= Op::TileLoad && op <= Op::TileConvert;
}
inline bool is_machine(Op op) {
    return op == Op::Machine || op == Op::MachineMemory || op == Op::MachineSync;
}

// A branch target with arguments for the block's parameters.
using TargetArgs = SmallVec<ValueId, 2>;
struct Target {
    BlockId block;
    TargetArgs args;
};

struct MemoryInfo {
    std::uint32_t align = 1;   // known alignment of the accessed address in bytes, a power of two
    bool is_volatile = false;  // never removed, merged, reordered
    bool readonly =
        false;  // the memory is not written during the launch: ld.global.nc, movable across writes
};

// One level of inlining, for .loc and for messages that name the user's line.
struct InlineScope {
    InlineScopeId parent;  // the scope of the call itself
    Span call_span;
    Symbol callee;
};

struct Instruction {
    Op op = Op::Unreachable;
    Type type = Type::Void;  // controlling type: see the result column of ops.def
    std::uint16_t aux = 0;   // IntCond, FloatCond, Sreg, Scope, AtomicInfo or intrinsic::Machine
    MemoryInfo memory;       // Load, Store, Memcpy, Memset; Alloca (align only)
    std::uint64_t imm =
        0;  // Const value, Alloca/Memcpy/Memset bytes, Load/Store offset (as int64), Panic site
    std::uint64_t imm_high = 0;  // upper half of i128 constants
    SmallVec<ValueId, 3> args;
    SmallVec<ValueId, 1> results;
    TinyVec<Target> targets;       // terminators
    TinyVec<std::uint64_t> cases;  // Switch: zero-extended case values, targets[i + 1] each
    FuncId callee;                     // Call, TileMap
    GlobalId global;                   // GlobalAddr
    TileTypeId tile;                   // operations on tiles: the result's type, of TileStore the operand's
    Span span;
    InlineScopeId scope;  // none: not inlined

    ValueId result() const { return results.empty() ? ValueId::none() : results[0]; }
    IntCond int_cond() const { return static_cast<IntCond>(aux); }
    FloatCond float_cond() const { return static_cast<FloatCond>(aux); }
    Sreg sreg() const { return static_cast<Sreg>(aux); }
    Scope fence_scope() const { return static_cast<Scope>(aux); }
    AtomicInfo atomic() const { return AtomicInfo::unpack(aux); }
    intrinsic::Machine machine() const { return static_cast<intrinsic::Machine>(aux); }
};

struct Value {
    Type type = Type::Void;
    InstId inst;              // defining instruction, or none for a block parameter
    BlockId block;            // block parameters: their block
    std::uint32_t index = 0;  // which result or parameter
    TileTypeId tile{};        // Type::Tile: its type, once tile::infer_types has run
};

// Block::unroll of a loop that is to be unrolled entirely: #[unroll] without a number.
inline constexpr std::uint32_t kUnrollFull = 0xFFFF'FFFFu;

struct Block {
    std::vector<ValueId> params;
    std::vector<InstId> insts;  // the last one is the terminator
    bool cold = false;          // failed checks: placed after `ret`
    bool removed = false;       // no longer part of the function (ids stay)
    std::uint32_t unroll = 0;   // on a loop header: #[unroll] = kUnrollFull, #[unroll(N)] = N
};

struct ParamAttrs {
    bool readonly = false;    // pointer to memory that nothing writes during the launch (&[T] of a kernel)
    bool noalias = false;     // no other pointer of this function reaches that memory
    bool nonnull = false;     // a reference: its address is not 0
    std::uint32_t align = 1;  // of the pointee
};

enum class Inline : std::uint8_t { Auto, Always, Never };

// What is known of every launch of a kernel; 0 = not known.
// What must hold of a launch so that tile indices lead to tiles: `least` is at most `most`.
struct LaunchTerm {
    enum class Kind : std::uint8_t { Number, Grid, Tiles } kind = Kind::Number;
    std::uint32_t number = 0;            // Number; Grid: the axis; Tiles: lanes of one tile
    std::uint32_t slot = 0;              // Tiles: the kernel's parameter with the extent
    friend bool operator==(const LaunchTerm&, const LaunchTerm&) = default;
};
struct LaunchCheck {
    LaunchTerm least, most;
    friend bool operator==(const LaunchCheck&, const LaunchCheck&) = default;
};

struct KernelFacts {
    std::uint32_t domain = 0;            // of the launch contract
    std::uint32_t block[3] = {0, 0, 0};  // exact block
    std::uint32_t max_threads = 0;
    std::uint32_t dynamic_shared = 0;        // exact bytes
    bool is_tile = false;                    // a block is one logical thread
    bool deny_checks = false;                // of a tile kernel: no check of a tile index may be left to the device
    bool skip_checks = false;                // of a tile kernel: who launches it vouches for its tile indices
    std::vector<LaunchCheck> launch_checks;  // of a tile kernel
};

// The entry block is blocks[0] of `layout`; its parameters are the function's parameters. A kernel has one
// parameter for each abi::ParamSlot, in order: the scalar's value (pointers as ptr.global), or a ptr.param
// for a slot of bytes.
struct Function {
    std::string name;  // PTX symbol
    bool is_kernel = false;
    Inline inline_hint = Inline::Auto;
    bool removed = false;            // no longer part of the module (ids stay)
    std::uint32_t kernel_index = 0;  // kernels: index into abi::ModuleAbi::kernels
    KernelFacts facts;               // kernels
    std::vector<Type> results;
    std::vector<ParamAttrs> param_attrs;  // one per entry block parameter
    IndexVec<ValueId, Value> values;
    IndexVec<InstId, Instruction> insts;
    IndexVec<BlockId, Block> blocks;
    std::vector<BlockId> layout;  // blocks in order; entry first; removed blocks are not in it
    IndexVec<InlineScopeId, InlineScope> inline_scopes;
    Span span;
    bool all_reachable = false;  // every block of the layout is known to be reachable: see opt/edit.hpp

    BlockId entry() const { return layout.front(); }
    Type type_of(ValueId value) const { return values[value].type; }
    const Instruction* def(ValueId value) const {
        const InstId inst = values[value].inst;
        return inst.valid() ? &insts[inst] : nullptr;
    }
    const Instruction& terminator(BlockId block) const { return insts[blocks[block].insts.back()]; }
    Instruction& terminator(BlockId block) { return insts[blocks[block].insts.back()]; }
    BlockId add_block();  // appended to the layout
    ValueId add_block_param(BlockId block, Type type);
    // Makes an instruction with results of the given types; not placed in any block yet.
    InstId make_inst(Instruction&& inst, std::span<const Type> result_types);
};

// A module variable: shared array, constant memory, device static, string or table.
// The generic address of another global, in 8 bytes at a multiple of 8.
struct Relocation {
    std::uint64_t offset = 0;
    GlobalId target;
    friend bool operator==(const Relocation&, const Relocation&) = default;
    friend auto operator<=>(const Relocation&, const Relocation&) = default;
};

struct Global {
    std::string name;  // PTX symbol
    Space space = Space::Global;
    std::uint64_t size = 0;  // bytes
    std::uint32_t align = 1;
    std::vector<std::uint8_t> init;  // empty: zero (shared: uninitialised)
    std::vector<Relocation> relocations;  // by offset; init has zeros there
    bool is_extern = false;          // dynamic shared memory: size 0
    bool visible = false;            // reachable by name from the host
    Span span;
};

using TileType = BasicTileType<Type>;

// The types of tiles, each once.
class TileTypes {
  public:
    TileTypeId intern(TileType type);
    const TileType& operator[](TileTypeId id) const { return types_[id]; }

  private:
    IndexVec<TileTypeId, TileType> types_;   // few: searched from the start
};
// "f32[64, 128]", and with its layout "f32[64, 128] registers (0, 1) (0, 2) lanes .. warps ..".
std::string tile_type_text(const TileType& type);

struct Module {
    std::string source_name;
    IndexVec<FuncId, Function> functions;
    IndexVec<GlobalId, Global> globals;
    TileTypes tile_types;
    std::vector<std::string> asm_texts;   // of inline PTX, as resolve/ptx_asm.cpp writes them
    Interner* interner = nullptr;  // names of inline scopes
};

// Appends instructions to one block; every method returns the (first) result.
class Builder {
  public:
    explicit Builder(Function& function) : function_(function) {}
    void at_end(BlockId block) { block_ = block; }
    BlockId block() const { return block_; }
    void set_span(Span span) { span_ = span; }
    Span span() const { return span_; }
    Function& function() { return function_; }

    ValueId const_int(Type type, std::uint64_t value,
                      std::uint64_t high = 0);  // value is cut to the type's width
    ValueId const_float(Type type, std::uint64_t bits);
    ValueId const_bool(bool value) { return const_int(Type::I1, value ? 1 : 0); }
    ValueId global_addr(GlobalId global, Type ptr_type);
    ValueId unary(Op op, Type type, ValueId a);
    ValueId binary(Op op, Type type, ValueId a, ValueId b);  // also the Bool-result *_ov forms
    ValueId icmp(IntCond cond, ValueId a, ValueId b);
    ValueId fcmp(FloatCond cond, ValueId a, ValueId b);
    ValueId select(ValueId cond, ValueId a, ValueId b);
    ValueId fma(Type type, ValueId a, ValueId b, ValueId c);
    ValueId convert(Op op, Type to, ValueId a);
    ValueId alloca_slot(std::uint64_t bytes, std::uint32_t align);  // placed in the entry block
    ValueId ptr_add(ValueId ptr, ValueId bytes);
    ValueId ptr_add_const(ValueId ptr, std::int64_t bytes);  // `ptr` itself for 0
    ValueId load(Type type, ValueId ptr, MemoryInfo memory, std::int64_t offset = 0);
    void store(ValueId ptr, ValueId value, MemoryInfo memory, std::int64_t offset = 0);
    void memcpy(ValueId to, ValueId from, std::uint64_t bytes, std::uint32_t align);
    ValueId sreg(Sreg reg);
    void barrier();
    void fence(Scope scope);
    // A row of machine.def: its results, none to two.
    std::vector<ValueId> machine(intrinsic::Machine which, std::span<const ValueId> args);
    ValueId tile_count(ValueId lanes, ValueId tile);
    ValueId tile_in_range(ValueId index, ValueId lanes, ValueId tile);
    ValueId atomic_load(Type type, ValueId ptr, AtomicInfo info);
    void atomic_store(ValueId ptr, ValueId value, AtomicInfo info);
    ValueId vprintf(ValueId format, ValueId values);
    std::vector<ValueId> inline_asm(Op op, std::uint64_t text, std::span<const ValueId> args, std::span<const Type> results);
    ValueId atomic_rmw(ValueId ptr, ValueId value, AtomicInfo info);
    ValueId atomic_cas(ValueId ptr, ValueId expected, ValueId wanted, AtomicInfo info);
    std::vector<ValueId> call(FuncId callee, std::span<const ValueId> args, std::span<const Type> results);
    void jump(BlockId to, TargetArgs args = {});
    void br(ValueId cond, BlockId then_block, BlockId else_block);
    void br(ValueId cond, Target then_target, Target else_target);
    void switch_on(ValueId value, std::vector<std::uint64_t> cases,
                   std::vector<Target> targets);  // targets[0] = default
    void ret(std::span<const ValueId> values = {});
    void panic(std::uint32_t site, std::span<const ValueId> values);
    void trap();
    void unreachable();
    InstId append(Instruction&& inst, std::span<const Type> results);
    bool terminated() const;  // does the current block end in a terminator already

  private:
    Function& function_;
    BlockId block_;
    Span span_;
};

}  // namespace ockc::ir
