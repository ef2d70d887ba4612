// Text <-> enum for everything that the text form spells out, and the algebra of comparison conditions.
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "ir/ir.hpp"

namespace ockc::ir {

std::string_view op_text(Op op);
std::string_view int_cond_text(IntCond cond);
std::string_view float_cond_text(FloatCond cond);
std::string_view sreg_text(Sreg reg);
std::string_view scope_text(Scope scope);
// "add.relaxed.device" of an AtomicRmw; "relaxed.device" of the other atomics.
std::string atomic_text(AtomicInfo info, bool with_op);
Type sreg_type(Sreg reg);
// Does the mnemonic end in the instruction's type ("iadd.i32"), or does the operation alone say it ("jump",
// "alloca")?
bool mnemonic_has_type(Op op);

// How an operation's operands are written after the mnemonic.
enum class TextForm : std::uint8_t {
    Plain,   // values, then branch targets
    Const,   // a number
    Global,  // @name
    Alloca,  // bytes align N
    Load,    // %p + offset align N flags
    Store,   // %p + offset, %v align N flags
    Bulk,    // %a, %b, bytes align N flags
    Call,    // @name(values) -> types
    Panic, Asm,   // site(values)
    Bounded, // %p, bytes
    Tile,    // @callee imm(values): tile type
};
TextForm text_form(Op op);

std::optional<Op> op_from_text(std::string_view text);
std::optional<Type> type_from_text(std::string_view text);
std::optional<IntCond> int_cond_from_text(std::string_view text);
std::optional<FloatCond> float_cond_from_text(std::string_view text);
std::optional<Sreg> sreg_from_text(std::string_view text);
std::optional<Scope> scope_from_text(std::string_view text);
std::optional<AtomicInfo> atomic_from_text(std::string_view text, bool with_op);

// The operation for a row of machine.def, and the type that a letter there stands for (P: any pointer).
Op machine_op(intrinsic::Effect effect);
Type machine_type(char letter);
// How many results the operation has with so many operands.
std::size_t machine_results(const intrinsic::MachineInfo& row, std::size_t operands);

// !(a cond b) = a invert(cond) b, and a cond b = b swap(cond) a.
IntCond invert(IntCond cond);
IntCond swap(IntCond cond);
FloatCond invert(FloatCond cond);
FloatCond swap(FloatCond cond);
bool is_signed_cond(IntCond cond);
// Is the condition true of two equal integers?
bool true_when_equal(IntCond cond);

}  // namespace ockc::ir
