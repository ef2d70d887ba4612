// The enums and tables behind PTX: types, modifier words, special registers, targets and instruction forms,
// all generated from the .def files of this folder. Pure data; ptx.hpp builds instructions from it, print,
// parse, validate and the emulator read it.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

namespace ockc::ptx {

// ----------------------------------------------------------------------------------------------------------------
// types

enum class Type : std::uint8_t {
    None,
#define OCKC_PTX_TYPE(name, text, bits, kind) name,
#include "ptx/types.def"
};

enum class TypeKind : std::uint8_t { None, Untyped, Unsigned, Signed, Float, Packed, Predicate };

struct TypeInfo {
    std::string_view text;  // without the dot
    std::uint16_t bits;
    TypeKind kind;
};
const TypeInfo& type_info(Type type);
inline std::uint32_t type_bits(Type type) {
    return type_info(type).bits;
}
inline std::uint32_t type_bytes(Type type) {
    return (type_bits(type) + 7) / 8;
}  // 1 for predicates

using TypeSet = std::uint64_t;
constexpr TypeSet type_bit(Type type) {
    return TypeSet{1} << static_cast<unsigned>(type);
}
constexpr bool contains(TypeSet set, Type type) {
    return (set & type_bit(type)) != 0;
}

constexpr TypeSet set_of(auto... types) {
    return (TypeSet{0} | ... | type_bit(types));
}

// The type columns of instr.def.
inline constexpr TypeSet kNoTypes = 0;
inline constexpr TypeSet kAnyType = ~TypeSet{0};
#define OCKC_PTX_TYPE(name, text, bits, kind) inline constexpr TypeSet k##name = type_bit(Type::name);
#include "ptx/types.def"
inline constexpr TypeSet kBits = kB16 | kB32 | kB64;
inline constexpr TypeSet kSigned = kS16 | kS32 | kS64;
inline constexpr TypeSet kInts = kU16 | kU32 | kU64 | kSigned;
inline constexpr TypeSet kInts1632 = kU16 | kU32 | kS16 | kS32;
inline constexpr TypeSet kInts3264 = kU32 | kU64 | kS32 | kS64;
inline constexpr TypeSet kFloats = kF16 | kBF16 | kF32 | kF64;
inline constexpr TypeSet kPacked = kF16X2 | kBF16X2;
inline constexpr TypeSet kHalves = kF16 | kBF16 | kPacked;
inline constexpr TypeSet kBytes = kU8 | kS8;
inline constexpr TypeSet kNibbles = kU4 | kS4;
inline constexpr TypeSet kFp8 = kE4M3 | kE5M2;
inline constexpr TypeSet kFp8Pairs = kE4M3X2 | kE5M2X2;
inline constexpr TypeSet kComparable = kBits | kInts | kFloats;
inline constexpr TypeSet kSelectable = kBits | kInts | kF32 | kF64;
inline constexpr TypeSet kMovable = kPred | kSelectable | kB128;
inline constexpr TypeSet kConvertible = kU8 | kS8 | kInts | kFloats;
inline constexpr TypeSet kMemory = kB8 | kU8 | kS8 | kBits | kInts | kF32 | kF64;

enum class RegClass : std::uint8_t {
#define OCKC_PTX_REG_CLASS(name, prefix, type, bits) name,
#include "ptx/types.def"
};
struct RegClassInfo {
    std::string_view prefix;  // "%rd"
    Type type;                // as declared
    std::uint16_t bits;
};
#define OCKC_PTX_REG_CLASS(name, prefix, type, bits) +1
inline constexpr std::size_t kRegClassCount = 0
#include "ptx/types.def"
    ;
const RegClassInfo& reg_class_info(RegClass reg_class);

// ------------------------------------------------------------------------------------------------------
// modifier words

enum class Space : std::uint8_t {
    None,
#define OCKC_PTX_SPACE(name, text) name,
#include "ptx/mods.def"
};
enum class Sem : std::uint8_t {
    None,
#define OCKC_PTX_SEM(name, text) name,
#include "ptx/mods.def"
};
enum class Scope : std::uint8_t {
    None,
#define OCKC_PTX_SCOPE(name, text) name,
#include "ptx/mods.def"
};
enum class Cache : std::uint8_t {
    None,
#define OCKC_PTX_CACHE(name, text) name,
#include "ptx/mods.def"
};
enum class Vec : std::uint8_t {
    None,
#define OCKC_PTX_VEC(name, text) name,
#include "ptx/mods.def"
};
enum class Cmp : std::uint8_t {
    None,
#define OCKC_PTX_CMP(name, text) name,
#include "ptx/mods.def"
};
enum class BoolOp : std::uint8_t {
    None,
#define OCKC_PTX_BOOL(name, text) name,
#include "ptx/mods.def"
};
enum class Round : std::uint8_t {
    None,
#define OCKC_PTX_ROUND(name, text) name,
#include "ptx/mods.def"
};
enum class Mode : std::uint8_t {
    None,
#define OCKC_PTX_MODE(name, text) name,
#include "ptx/mods.def"
};

// The text of a word without its dot; empty for None.
std::string_view text(Space value);
std::string_view text(Sem value);
std::string_view text(Scope value);
std::string_view text(Cache value);
std::string_view text(Vec value);
std::string_view text(Cmp value);
std::string_view text(BoolOp value);
std::string_view text(Round value);
std::string_view text(Mode value);
inline std::uint32_t lanes(Vec vec) {
    return vec == Vec::V4 ? 4 : vec == Vec::V2 ? 2 : 1;
}

// Everything between mnemonic and operands. A form uses the fields that its syntax has slots for; the others
// stay None.
struct Mods {
    Type type = Type::None;         // .type
    Type source_type = Type::None;  // .stype
    Type other_type = Type::None;   // .btype: of the second factor of a product, where it has one of its own
    Space space = Space::None;      // None: generic
    Sem sem = Sem::None;
    Scope scope = Scope::None;
    Cache cache = Cache::None;
    Vec vec = Vec::None;
    Cmp cmp = Cmp::None;
    BoolOp bool_op = BoolOp::None;
    Round round = Round::None;
    Mode mode = Mode::None;
    std::uint8_t columns = 0;       // of B in a product of a warpgroup, divided by 8
    std::uint8_t dims = 0;          // of a tensor
    bool ftz = false;
    bool sat = false;
    bool sat_finite = false;
    bool nan = false;
    bool carry_out = false;
    bool uni = false;
    bool shift_amount = false;
    friend bool operator==(const Mods&, const Mods&) = default;
};

// The field of Mods that a slot fills in.
enum class Field : std::uint8_t {
    Literal,  // no field: the word itself stands in the syntax
    Type,
    SourceType,
    OtherType,
    Space,
    Sem,
    Scope,
    Cache,
    Vec,
    Cmp,
    Bool,
    Round,
    Mode,
    Ftz,
    Sat,
    SatFinite,
    NanFlag,
    CarryOut,
    UniFlag,
    ShiftAmount,
    ColumnsK8,
    ColumnsK16,
    ColumnsK32,
    ColumnsK256,
    Dims,
};
// The field's value as a number (enum value, or 0/1), and the reverse.
std::uint32_t get_field(const Mods& mods, Field field);
void set_field(Mods& mods, Field field, std::uint32_t value);
// The same where text is read: false when the syntax has the slot twice (mma's types) and the words differ.
bool fill_slot(Mods& mods, Field field, std::uint32_t value);
// The word for a field's value; empty for 0.
std::string_view field_text(Field field, std::uint32_t value);
// The value among `allowed` (bit mask over values; ignored for Type and SourceType) whose word is `word`, or
// nothing.
std::optional<std::uint32_t> field_value(Field field, std::uint64_t allowed, std::string_view word);

// ------------------------------------------------------------------------------------------------------
// special registers

enum class Special : std::uint8_t {
#define OCKC_PTX_SPECIAL(name, text, bits, sm, ptx) name,
#include "ptx/special.def"
};
struct SpecialInfo {
    std::string_view text;  // "%tid.x"
    std::uint16_t bits;
    std::uint16_t sm;
    std::uint16_t ptx;
};
const SpecialInfo& special_info(Special special);
std::optional<Special> special_from_text(std::string_view text);

// ----------------------------------------------------------------------------------------------------------------
// targets

enum class Target : std::uint8_t {
#define OCKC_PTX_TARGET(name, text, sm, ptx, shared, shared_optin, threads, registers, specific) name,
#include "ptx/target.def"
};
struct TargetInfo {
    std::string_view text;        // "sm_90a"
    std::uint16_t sm;             // 90
    std::uint16_t ptx;            // lowest PTX version that knows it, times 10
    std::uint32_t static_shared;  // bytes a block may declare statically
    std::uint32_t shared_optin;   // bytes a block may have after cuFuncSetAttribute
    std::uint32_t max_threads;    // a block
    std::uint32_t registers;      // a block, 32 bits each
    bool specific;                // runs on exactly this compute capability
};
const TargetInfo& target_info(Target target);
std::optional<Target> target_from_text(std::string_view text);
std::span<const TargetInfo> all_targets();  // in table order: index = enum value
inline constexpr std::uint16_t kNewestPtx = 90;

// ------------------------------------------------------------------------------------------------------
// instruction forms

enum class Form : std::uint16_t {
#define OCKC_PTX_FORM(name, syntax, types, stypes, operands, sm, ptx, effects, doc) name,
#include "ptx/instr.def"
};
#define OCKC_PTX_FORM(name, syntax, types, stypes, operands, sm, ptx, effects, doc) +1
inline constexpr std::size_t kFormCount = 0
#include "ptx/instr.def"
    ;

enum class Effects : std::uint8_t { Pure, Read, Write, Control, Sync, Carry };

inline constexpr std::size_t kMaxWords = 12;  // after the mnemonic
inline constexpr std::size_t kMaxOperands = 6;

// One word of a form's syntax after the mnemonic.
struct Word {
    std::string_view text;  // a literal word, or the slot's name
    Field field = Field::Literal;
    bool optional = false;
    std::uint64_t allowed = 0;  // bit mask over the field's values
};

enum class Role : std::uint8_t {
    Dest,
    Sink,  // `_`: the form has no result here
    Source,
    SourceReg,
    SourceAny,
    Immediate,
    VectorOrReg,
    List,
    Updated,     // a list that is read and written
    Immediates,  // constants to the end of the operands, as one list
    Address,
    TensorMap,   // `[address, {..}]`: the list is the next operand
    Label,
    Function,
    Params
};
enum class OperandType : std::uint8_t {
    None,
    Type,
    SourceType,
    Wide,
    Element,
    Predicate,
    Bytes2,
    Bytes4,
    Bytes8
};
struct OperandSpec {
    Role role = Role::Source;
    OperandType type = OperandType::None;
    bool optional = false;
    bool joined = false;  // written after `|` instead of `,`
};

struct FormInfo {
    std::string_view name;  // enum name
    std::string_view syntax;
    std::string_view mnemonic;  // first word of syntax
    std::string_view doc;
    TypeSet types = 0;
    TypeSet source_types = 0;
    std::uint16_t sm = 0;
    std::uint16_t ptx = 0;
    Effects effects = Effects::Pure;
    std::uint8_t word_count = 0;
    std::uint8_t operand_count = 0;
    std::uint8_t defs = 0;     // bit i: operand i is written
    std::uint8_t updates = 0;  // bit i: it is read, too
    Word words[kMaxWords];
    OperandSpec operands[kMaxOperands];

    std::span<const Word> word_list() const { return {words, word_count}; }
    std::span<const OperandSpec> operand_list() const { return {operands, operand_count}; }
};
const FormInfo& form_info(Form form);
std::span<const FormInfo> all_forms();                      // index = enum value
std::span<const Form> forms_of(std::string_view mnemonic);  // in table order; empty when unknown

// Does the form have these types: each in its column, and not a combination that is left out.
bool types_exist(Form form, const Mods& mods);

// The form and modifiers that a mnemonic with its words means ("shfl.sync.idx.b32"), or nothing.
std::optional<std::pair<Form, Mods>> form_from_words(std::string_view text);

// Is it an operand of an instruction on halves or pairs of small floats, which takes no constants?
bool takes_registers_only(const OperandSpec& spec, const Mods& mods);

// Which targets from the floor on: all, the arch-specific ones, or the arch-specific one of exactly that number.
enum class Only : std::uint8_t { Any, Specific, Exact };

// The floor of a form with these modifiers: its own, its types' and its words'.
struct Floor {
    std::uint16_t sm = 0;
    std::uint16_t ptx = 0;
    Only only = Only::Any;
};
Floor form_floor(Form form, const Mods& mods);
bool target_has(const TargetInfo& target, const Floor& floor);
// The oldest target that has it.
Target lowest_target(const Floor& floor);

}  // namespace ockc::ptx
