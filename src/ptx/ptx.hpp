// PTX as data: what isel builds, print writes, parse reads back, validate checks and the emulator decodes.
// Operands are typed, modifiers are enums, and the only strings are the names of symbols, labels and files.
// Blocks are stretches of text between labels: control falls through from one to the next, and only `Bra`,
// `Ret`, `Exit` and `Trap` leave the line, anywhere in a block.
#pragma once
#include <array>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ptx/form.hpp"
#include "support/id.hpp"
#include "support/index_map.hpp"

namespace ockc::ptx {

using SymbolId = Id<struct PtxSymbolTag>;  // Module::symbols: names of variables, functions, parameters
using LabelId = Id<struct PtxLabelTag>;    // Function::labels
using ListId = Id<struct PtxListTag>;      // Function::lists

// A virtual register: its class and its number, which is its name (`%rd7`).
struct Reg {
    std::uint32_t raw = 0xFFFF'FFFFu;
    constexpr Reg() = default;
    constexpr Reg(RegClass reg_class, std::uint32_t number)
        : raw(static_cast<std::uint32_t>(reg_class) << 28 | number) {}
    constexpr bool valid() const { return raw != 0xFFFF'FFFFu; }
    constexpr RegClass reg_class() const { return static_cast<RegClass>(raw >> 28); }
    constexpr std::uint32_t number() const { return raw & 0x0FFF'FFFFu; }
    friend constexpr bool operator==(Reg, Reg) = default;
    friend constexpr auto operator<=>(Reg, Reg) = default;
};

enum class OperandKind : std::uint8_t {
    None,     // an optional operand that is absent
    Reg,      // index = Reg::raw; `negated` for a predicate source written `!%p`
    Sink,     // `_`: a destination that nobody wants
    Imm,      // value = the integer, sign-extended from how it was written
    ImmF32,   // value = the bits, low 32
    ImmF64,   // value = the bits
    Special,  // index = Special
    Symbol,   // index = SymbolId: the address of a variable or function; value = byte offset added
    AddrReg,  // [reg + value]: index = Reg::raw
    AddrSym,  // [symbol + value]: index = SymbolId
    AddrImm,  // [value]
    Label,    // index = LabelId
    List,     // index = ListId: `{a, b}`; in calls `(a, b)` with Symbol elements
};

struct Operand {
    OperandKind kind = OperandKind::None;
    bool negated = false;
    std::uint32_t index = 0;
    std::int64_t value = 0;

    static Operand none() { return {}; }
    static Operand reg(Reg r, bool negated = false) { return {OperandKind::Reg, negated, r.raw, 0}; }
    static Operand sink() { return {OperandKind::Sink, false, 0, 0}; }
    static Operand imm(std::int64_t v) { return {OperandKind::Imm, false, 0, v}; }
    static Operand f32(std::uint32_t bits) {
        return {OperandKind::ImmF32, false, 0, static_cast<std::int64_t>(bits)};
    }
    static Operand f64(std::uint64_t bits) {
        return {OperandKind::ImmF64, false, 0, static_cast<std::int64_t>(bits)};
    }
    static Operand special(Special s) {
        return {OperandKind::Special, false, static_cast<std::uint32_t>(s), 0};
    }
    static Operand symbol(SymbolId s, std::int64_t offset = 0) {
        return {OperandKind::Symbol, false, s.raw, offset};
    }
    static Operand at(Reg r, std::int64_t offset = 0) { return {OperandKind::AddrReg, false, r.raw, offset}; }
    static Operand at(SymbolId s, std::int64_t offset = 0) {
        return {OperandKind::AddrSym, false, s.raw, offset};
    }
    static Operand label(LabelId l) { return {OperandKind::Label, false, l.raw, 0}; }
    static Operand list(ListId l) { return {OperandKind::List, false, l.raw, 0}; }

    bool present() const { return kind != OperandKind::None; }
    bool is_reg() const { return kind == OperandKind::Reg; }
    bool is_address() const {
        return kind == OperandKind::AddrReg || kind == OperandKind::AddrSym || kind == OperandKind::AddrImm;
    }
    // Of Reg and AddrReg.
    Reg as_reg() const {
        Reg r;
        r.raw = index;
        return r;
    }
    SymbolId as_symbol() const { return SymbolId(index); }
    LabelId as_label() const { return LabelId(index); }
    ListId as_list() const { return ListId(index); }
    Special as_special() const { return static_cast<Special>(index); }
    friend bool operator==(const Operand&, const Operand&) = default;
};

// A place in the kernel's source, written as `.loc file line column`. line 0: unknown; in the text such an
// instruction takes the place of the one before it.
struct SourceLoc {
    std::uint32_t file = 0;  // index into Module::files
    std::uint32_t line = 0;
    std::uint32_t column = 0;
    bool valid() const { return line != 0; }
    friend bool operator==(const SourceLoc&, const SourceLoc&) = default;
};

struct Instr {
    Form form = Form::Ret;
    Mods mods;
    Reg guard;                                     // `@%p`; invalid: always
    bool guard_negated = false;                    // `@!%p`
    std::array<Operand, kMaxOperands> operands{};  // positions as in the form's row
    SourceLoc loc;
    std::uint32_t comment = 0;  // Function::comments; 0 = none. Not part of equality
    std::uint32_t text_line =
        0;  // line of the PTX text it was parsed from; 0 when built. Not part of equality

    bool guarded() const { return guard.valid(); }
    const FormInfo& info() const { return form_info(form); }
    // Equality of what is executed and of .loc.
    friend bool operator==(const Instr& a, const Instr& b) {
        return a.form == b.form && a.mods == b.mods && a.guard == b.guard &&
               a.guard_negated == b.guard_negated && a.operands == b.operands && a.loc == b.loc;
    }
};

struct Block {
    LabelId label;  // none only for a function's first block
    std::vector<Instr> instrs;
    friend bool operator==(const Block&, const Block&) = default;
};

enum class Linkage : std::uint8_t { None, Visible, Extern, Weak };

// One initial value of a variable: a constant of the element type, or the address of another variable.
struct Init {
    std::uint64_t bits = 0;  // the value; with a symbol: byte offset added to its address
    SymbolId symbol;
    bool generic = false;  // generic(symbol): its generic address
    friend bool operator==(const Init&, const Init&) = default;
};

struct Variable {
    SymbolId name;
    Linkage linkage = Linkage::None;
    Space space = Space::Global;  // Const, Global, Shared, Local; Param for the arguments of calls
    Type type = Type::B8;         // element type
    std::uint32_t align = 0;      // bytes; 0 = the type's own
    bool array = false;
    std::uint64_t count = 1;  // elements; with array and 0: unsized (`.extern .shared .b8 name[]`)
    std::vector<Init> init;   // shorter than count: the rest is zero
    std::uint64_t size() const { return count * type_bytes(type); }
    std::uint32_t alignment() const { return align != 0 ? align : type_bytes(type); }
    friend bool operator==(const Variable&, const Variable&) = default;
};

// A parameter of an entry or a function, always in .param space.
struct Param {
    SymbolId name;
    Type type = Type::B32;
    std::uint32_t align = 0;
    bool array = false;
    std::uint64_t count = 1;
    std::uint64_t size() const { return count * type_bytes(type); }
    std::uint32_t alignment() const { return align != 0 ? align : type_bytes(type); }
    friend bool operator==(const Param&, const Param&) = default;
};

using Dim3 = std::array<std::uint32_t, 3>;

// Performance-tuning directives between a function's head and its body.
struct Directives {
    std::optional<Dim3> maxntid;
    std::optional<Dim3> reqntid;
    std::optional<Dim3> reqnctapercluster;
    std::optional<std::uint32_t> minnctapersm;
    std::optional<std::uint32_t> maxnreg;
    std::optional<std::uint32_t> maxclusterrank;
    bool explicitcluster = false;
    bool noreturn = false;
    friend bool operator==(const Directives&, const Directives&) = default;
};

struct Function {
    SymbolId name;
    bool entry = false;
    bool has_body = true;  // false: a declaration that comes before the definition
    Linkage linkage = Linkage::None;
    std::vector<Param> results;  // .func only
    std::vector<Param> params;
    Directives directives;
    std::vector<Variable> locals;  // .local, .shared and .param variables of the body
    std::array<std::uint32_t, kRegClassCount> reg_counts{};  // numbers below this are declared; by RegClass
    IndexVec<LabelId, std::string> labels;
    IndexVec<ListId, std::vector<Operand>> lists;
    std::vector<Block> blocks;  // in text order
    std::vector<std::string> comments{std::string()};

    // The next unused register of a class; numbers start at 1, as in nvcc's output.
    Reg new_reg(RegClass reg_class);
    LabelId new_label(std::string name) { return labels.push(std::move(name)); }
    ListId new_list(std::vector<Operand> items) { return lists.push(std::move(items)); }
    const std::vector<Operand>& list_of(const Operand& operand) const { return lists[operand.as_list()]; }
};

struct Module {
    std::uint16_t ptx_version = 63;  // times 10
    Target target = Target::Sm80;
    std::uint32_t address_size = 64;
    std::vector<std::string> files;  // of .loc, written as `.file index+1 "name"`
    IndexVec<SymbolId, std::string> symbols;
    std::vector<Variable> variables;  // .global, .const, .shared, in order of declaration
    std::vector<Function> functions;  // declarations and definitions, in text order
    std::string comment;              // head comment, one line a line; not part of equality

    // The id of a name, added when new.
    SymbolId symbol(std::string_view name);
    std::string_view name(SymbolId id) const { return symbols[id]; }
    const Function* find_function(std::string_view name) const;  // the definition if there is one
    const Variable* find_variable(SymbolId id) const;

  private:
    std::unordered_map<std::string, SymbolId> symbol_index_;
};
// Bytes of a function's parameters in .param space, each at its alignment.
std::uint64_t param_space(const Function& function);
// What a launch can pass: 4 KiB, from PTX 8.1 on nearly 32.
inline constexpr std::uint64_t kSmallParamSpace = 4096;
inline constexpr std::uint64_t kLargeParamSpace = 32764;
inline constexpr std::uint16_t kLargeParamPtx = 81;

// Equality of everything that reaches the machine and of .loc: symbols and labels are compared by name, lists
// by their elements; comments are left out.
bool equal(const Module& a, const Module& b);

// An instruction with its operands in row order; further modifiers are set on the result.
Instr make(Form form, Type type, std::initializer_list<Operand> operands);

}  // namespace ockc::ptx
