// Selection of one function. Blocks are visited from the last to the first, instructions from the bottom up:
// when an instruction's turn comes, all its uses have been seen, so that pure instructions nobody asked for
// fall away and cheap ones (constants, addresses, products) are folded into their users without a pass of
// their own. Private to isel.
//
// Register classes: i1 %p, i8 and i16 %rs, i32 %r, i64 and pointers %rd, i128 two %rd, f16 and bf16 %h, f32
// %f, f64 %fd. An i8's upper byte is garbage unless its definition says otherwise (extension()); operations
// that look at it ask for zext8 or sext8.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "ir/analysis/cfg.hpp"
#include "ir/analysis/dominators.hpp"
#include "ir/ir.hpp"
#include "isel/library.hpp"
#include "isel/machine.hpp"
#include "isel/select.hpp"
#include "ptx/ptx.hpp"

namespace ockc::isel {

inline constexpr std::uint32_t kNoFile = 0xFFFF'FFFFu;

// What the functions of a module share while they are selected.
struct ModuleContext {
    const ir::Module& ir;
    const abi::ModuleAbi* abi = nullptr;  // null for the library's own functions
    const Options& options;
    ptx::Module& out;
    Library& library;
    const std::unordered_set<std::string>& taken_names;  // of functions and variables
    SideMap<FileId, std::uint32_t> files{0, kNoFile};    // FileId -> index into out.files
    DiagSink* sink = nullptr;                            // null for the library's own functions
    std::vector<std::pair<const ir::Function*, Span>> workspace_users{};   // functions with the grid's barrier, and where
    bool prints = false;                                 // some function calls vprintf
    bool panics = false;                                 // some function calls ock_panic
    bool wide_panics = false;                            // some function calls ock_panic_4
};

enum class Extension : std::uint8_t { Garbage, Zero, Sign };

class Selector {
  public:
    Selector(ModuleContext& context, const ir::Function& function);
    ptx::Function run();

  private:
    using Form = ptx::Form;
    using Operand = ptx::Operand;
    using Reg = ptx::Reg;
    using RegClass = ptx::RegClass;
    using Instr = ptx::Instr;
    using VT = ir::Type;  // value type
    using PT = ptx::Type;
    struct Wide {  // an i128
        Operand low;
        Operand high;
    };
    struct Passed {  // what a call hands over: a register or constant (i128: its low half)
        Operand value;
        VT type = VT::Void;
        Operand high;
    };
    struct Address {
        Operand base;  // AddrReg or AddrSym, offset included
        ptx::Space space = ptx::Space::None;
    };

    // selector.cpp: the frame
    void make_blocks();
    void find_loops();
    void find_touched_products();   // products.cpp
    void select_block(ir::BlockId block);
    void select_inst(const ir::Instruction& inst);
    void count_uses();
    void flush();  // current_ to the (reversed) block
    ptx::SourceLoc location(Span span) const;
    bool needed(const ir::Instruction& inst) const;
    void special_register(const ir::Instruction& inst);
    void fence(const ir::Instruction& inst);

    // operands.cpp: values as registers and operands
    static RegClass reg_class(VT type);
    static ptx::Type float_type(VT type);
    Reg fresh(RegClass c) { return out_.new_reg(c); }
    Reg reg_of(ir::ValueId value);  // the register of a value (low half of i128): asks for it
    Reg high_of(ir::ValueId value);
    Reg result(const ir::Instruction& inst) { return reg_of(inst.result()); }
    Reg use(ir::ValueId value);      // in a register; constants are moved into one
    Operand src(ir::ValueId value);  // register or immediate
    Wide wide(ir::ValueId value);
    Wide wide_result(const ir::Instruction& inst);
    Operand predicate(ir::ValueId value);        // %p or !%p
    Operand plain_predicate(ir::ValueId value);  // %p only
    Operand constant(const ir::Instruction& inst, bool high = false) const;
    const ir::Instruction* constant_def(ir::ValueId value) const;
    std::optional<std::uint64_t> int_constant(ir::ValueId value) const;
    const ir::Instruction* foldable(ir::ValueId value,
                                    ir::Op op) const;  // defined by op, may be selected again here
    const ir::Instruction* single_use(ir::ValueId value, ir::Op op) const;  // foldable and used only once
    bool same_loop(ir::InstId def) const;
    Extension extension(ir::ValueId value) const;
    Operand zext8(ir::ValueId value);                     // i8 in 16 bits, upper byte zero
    Operand sext8(ir::ValueId value);                     // i8 in 16 bits, upper byte the sign
    Operand extended(ir::ValueId value, bool is_signed);  // i8 as above, other types as they are
    Operand as_32(ir::ValueId value, bool is_signed);     // i1, i8, i16, i32 extended to 32 bits

    // Appending to current_.
    Instr& emit(Form form, PT type, std::initializer_list<Operand> operands);
    Reg emit_to(RegClass c, Form form, PT type,
                std::initializer_list<Operand> sources);  // into a new register
    Instr& convert(Reg to, PT type, const Operand& from, PT from_type, ptx::Round round = ptx::Round::None);
    Instr& compare(Reg to, ptx::Cmp cmp, PT type, const Operand& a, const Operand& b);
    void copy(Reg to, const Operand& from);
    static Operand imm(std::int64_t value) { return Operand::imm(value); }
    static Operand r(Reg reg) { return Operand::reg(reg); }

    // integers.cpp
    void add(const ir::Instruction& inst);
    void multiply(const ir::Instruction& inst);
    bool wide_product(const ir::Instruction& product, const ir::ValueId* addend, Reg to);
    bool multiply_add(const ir::Instruction& inst, ir::ValueId product, ir::ValueId addend);
    void simple_binary(const ir::Instruction& inst, Form form, bool is_signed);
    void extended_binary(const ir::Instruction& inst, Form form, bool is_signed);
    void high_product(const ir::Instruction& inst, bool is_signed);
    bool pair_of_halves(const ir::Instruction& inst);
    void logic(const ir::Instruction& inst, Form form);
    void logical_not(const ir::Instruction& inst);
    bool negates_16_bits(const ir::Instruction& inst);   // then it has been selected
    void negate(const ir::Instruction& inst);
    void absolute(const ir::Instruction& inst);
    Operand shift_amount(ir::ValueId amount, std::uint32_t bits);
    void shift(const ir::Instruction& inst);
    void rotate(const ir::Instruction& inst);
    void from_count(const ir::Instruction& inst, Reg count);
    void count_bits(const ir::Instruction& inst);
    void reverse_bits(const ir::Instruction& inst);
    void reverse_bytes(const ir::Instruction& inst);
    void swap_bytes(Reg to, const Operand& from);
    void overflow(const ir::Instruction& inst);
    void product_overflow(const ir::Instruction& inst, bool is_signed);
    void signed_sum_overflow(const ir::Instruction& inst, Form form);
    void narrow_overflow(const ir::Instruction& inst, Form form, bool is_signed);
    void compare_ints(const ir::Instruction& inst);
    void compare_bools(const ir::Instruction& inst);
    void select_value(const ir::Instruction& inst);

    // wide.cpp: i128
    Wide fresh_wide();
    void wide_inst(const ir::Instruction& inst);
    void wide_sum(const Wide& a, const Wide& b, bool subtract, const Wide& to);
    void wide_add(const ir::Instruction& inst, bool subtract);
    void wide_negate(const Wide& a, const Wide& to);
    void wide_multiply(const ir::Instruction& inst);
    void wide_high_product(const Wide& a, const Wide& b, bool is_signed, const Wide& to);
    void wide_absolute(const ir::Instruction& inst);
    void wide_logic(const ir::Instruction& inst, Form form);
    void wide_shift(const ir::Instruction& inst);
    void wide_shift_by(ir::Op op, const Wide& value, const Operand& amount, const Wide& to);
    void wide_rotate(const ir::Instruction& inst);
    void combined_compare(Reg to, ptx::Cmp cmp, ptx::BoolOp op, PT type, const Operand& a, const Operand& b,
                          Reg with);
    void wide_less(Reg to, const Wide& a, const Wide& b, bool is_signed, bool or_equal);
    void wide_equal(Reg to, const Wide& a, const Wide& b, bool equal);
    void wide_compare(const ir::Instruction& inst);
    void wide_choose(Reg cond, const Wide& a, const Wide& b, const Wide& to);
    void wide_select(const ir::Instruction& inst);
    void wide_min_max(const ir::Instruction& inst);
    void wide_count(const ir::Instruction& inst);
    void wide_reverse(const ir::Instruction& inst);
    void wide_overflow(const ir::Instruction& inst);
    void wide_truncate(const ir::Instruction& inst);
    void wide_extend(const ir::Instruction& inst, bool is_signed);
    void wide_from_float(const ir::Instruction& inst, LibraryFunction from_f32, LibraryFunction from_f64);
    void wide_to_float(const ir::Instruction& inst, bool is_signed);
    void library_call(const ir::Instruction& inst, LibraryFunction function);
    void call_library(LibraryFunction function, std::vector<Passed> args, std::vector<Passed> results);

    // floats.cpp
    void float_binary(const ir::Instruction& inst, Form form);
    void fused(const ir::Instruction& inst);
    void fused_bf16(const ir::Instruction& inst);
    void divide(const ir::Instruction& inst);
    void float_remainder(const ir::Instruction& inst);
    void square_root(const ir::Instruction& inst);
    bool reciprocal(const ir::Instruction& inst);                  // false: nothing was written
    bool approximate_f32(const ir::Instruction& inst, Form form);  // under fast_math; false: nothing was written
    void sign_op(const ir::Instruction& inst);
    void copy_sign(const ir::Instruction& inst);
    void min_max(const ir::Instruction& inst, Form form);
    void round_integral(const ir::Instruction& inst, ptx::Round round);
    void compare_floats(const ir::Instruction& inst);
    bool only_arithmetic_uses(ir::ValueId value) const;
    bool native(VT type, Form form) const;       // does the target compute in this type
    Operand as_f32(ir::ValueId value);           // f16, bf16, f32 exactly as f32
    Operand rounded_to_odd(const Operand& f64);  // an f64 as f32, its last bit set when bits were lost
    Operand with_sticky_bit(Reg f32, Reg lost);
    void bf16_by_fma(const ir::Instruction& inst, Form form);
    void to_half(Reg to, VT type, const Operand& f32);  // f32 rounded to f16 or bf16

    // convert.cpp
    void truncate(const ir::Instruction& inst);
    void extend(const ir::Instruction& inst, bool is_signed);
    void float_to_float(const ir::Instruction& inst);
    void float_to_int(const ir::Instruction& inst, bool is_signed);
    void int_to_float(const ir::Instruction& inst, bool is_signed);
    void bit_cast(const ir::Instruction& inst);
    void space_cast(const ir::Instruction& inst);

    // memory.cpp
    Address address(ir::ValueId pointer, std::int64_t offset);
    Operand stored(ir::ValueId value);  // as the source of a store
    ptx::SymbolId global_symbol(ir::GlobalId global) const;
    void pointer_add(const ir::Instruction& inst);
    void load(const ir::Instruction& inst);
    void store(const ir::Instruction& inst);
    ptx::Vec lanes_of(const Operand& list) const;
    void load_piece(const Operand& to, PT type, const Address& at, std::int64_t offset,
                    const ir::MemoryInfo& memory);
    void store_piece(PT type, const Address& at, std::int64_t offset, const Operand& value,
                     const ir::MemoryInfo& memory);
    void load_unaligned(const ir::Instruction& inst, const Address& at);
    Reg load_pieces(std::uint32_t bytes, const Address& at, std::int64_t offset,
                    const ir::MemoryInfo& memory);
    void store_unaligned(const ir::Instruction& inst, const Address& at);
    void store_pieces(std::uint32_t bytes, const Address& at, std::int64_t offset, const Operand& value,
                      const ir::MemoryInfo& memory);
    void copy_memory(const ir::Instruction& inst);
    void set_memory(const ir::Instruction& inst);
    void move_words(const ir::Instruction& inst, const Address& to, const Address* from, const Operand& fill);
    void move_tail(std::uint64_t done, std::uint64_t bytes, std::uint32_t word, const Address& to,
                   const Address* from, const Operand& fill, const ir::MemoryInfo& memory);
    void move_word(std::uint32_t word, const Address& to, const Address* from, const Operand& fill,
                   std::int64_t offset, const ir::MemoryInfo& memory);
    void word_loop(std::uint64_t bytes, std::uint32_t word, const Address& to, const Address* from,
                   const Operand& fill, const ir::MemoryInfo& memory);
    void local_slot(const ir::Instruction& inst);
    void global_address(const ir::Instruction& inst);
    ptx::SymbolId slot_symbol(ir::InstId alloca);

    // machine_op.cpp
    Operand machine_list(const ir::Instruction& inst, std::string_view words);
    ptx::Operand machine_constants(const ir::Instruction& inst, std::string_view words);
    ptx::Operand machine_sums(const ir::Instruction& inst);
    bool product_exists(const ir::Instruction& inst, ptx::Form form, const ptx::Mods& mods);
    Operand machine_operand(const ir::Instruction& inst, std::string_view word, const ptx::OperandSpec& spec, const ptx::Mods& mods,
                            ptx::Space& space);
    Reg in_space(ir::ValueId pointer, ir::Space space);
    Reg in_cluster(ir::ValueId pointer);
    void machine_op(const ir::Instruction& inst);
    void order_before(const ir::AtomicInfo& info);
    void finish_atomic(const ir::Instruction& inst, Instr& instr, ptx::Space space);
    void atomic_load(const ir::Instruction& inst);
    void atomic_store(const ir::Instruction& inst);
    void atomic_rmw(const ir::Instruction& inst);
    void atomic_cas(const ir::Instruction& inst);
    Span user_span(const ir::Instruction& inst) const;
    void need(const ir::Instruction& inst, const Instr& instr);  // OCK0402 when the target does not have it

    // vectors.cpp
    void find_vectors(ir::BlockId block);
    void group_accesses(std::vector<ir::InstId>& open);
    std::size_t vector_length(std::span<const ir::InstId> sorted) const;
    bool vector_access(ir::InstId id);

    // control.cpp
    struct Case {
        std::uint64_t value = 0;
        MBlockId to;
    };
    void jump(const ir::Instruction& inst);
    void branch(const ir::Instruction& inst);
    void switch_on(const ir::Instruction& inst);
    void switch_wide(const ir::Instruction& inst, std::span<const Case> cases,
                     MBlockId otherwise);  // wide.cpp
    void test_cases(MBlockId at, const Operand& value, PT type, std::span<const Case> cases,
                    MBlockId otherwise, std::vector<Instr>& out);
    void end_jump(MBlockId to);
    void end_branch(MBlockId in, const Operand& cond, MBlockId taken, MBlockId other);
    MBlockId edge(
        const ir::Target& target);  // the block to jump to: with arguments, one that copies them first
    void copy_arguments(const ir::Target& target, std::vector<Move>& moves);
    MBlockId new_block();
    void return_values(const ir::Instruction& inst);
    void leave(Form form);
    void panic(const ir::Instruction& inst);  // panic.cpp
    Operand panic_value(ir::ValueId value);
    void call(const ir::Instruction& inst);
    void print_values(const ir::Instruction& inst);

    // inline_asm.cpp
    class AsmInsertion;
    void inline_asm(const ir::Instruction& inst);
    void call_symbol(ptx::SymbolId callee, std::span<const Passed> args, std::span<const Passed> results);
    ptx::SymbolId call_param(std::string_view part, std::span<const VT> types);
    Passed passed(ir::ValueId value);
    Passed received(ir::ValueId value);
    void to_param(ptx::SymbolId param, std::int64_t offset, const Passed& passed);
    void from_param(ptx::SymbolId param, std::int64_t offset, const Passed& passed);
    void param_shape(std::span<const VT> types, PT& type, std::uint32_t& align, bool& array,
                     std::uint64_t& count) const;

    // entry.cpp
    void declare_params();
    void load_params();

    ModuleContext& context_;
    const ir::Function& in_;
    ptx::Function out_;
    MFunction machine_;
    ir::Cfg cfg_;
    ir::Dominators dominators_;

    SideMap<ir::ValueId, Reg> regs_;
    SideMap<ir::ValueId, Reg> highs_;
    SideMap<ir::ValueId, std::uint32_t> uses_;
    SideMap<ir::ValueId, std::uint8_t> sees_bits_;  // 1: read by something that can see the bits of a NaN
    SideMap<ir::BlockId, MBlockId> entries_;        // machine block that stands for an IR block's start
    SideMap<ir::BlockId, ir::BlockId> loop_of_;     // innermost loop's header
    SideMap<ir::BlockId, std::uint32_t> depth_;
    SideMap<ir::InstId, ptx::SymbolId> slots_;    // allocas
    SideMap<ir::ValueId, ptx::SymbolId> params_;  // by-value struct parameters of a kernel
    std::uint32_t slot_count_ = 0;
    SideMap<ir::InstId, ir::BlockId> inst_block_;
    SideMap<ir::InstId, std::uint8_t> waits_at_once_;   // products of warpgroups whose sums are touched too early
    SideMap<ir::InstId, ir::InstId> leader_of_;   // of a vector access that the load or store is part of
    std::unordered_map<ir::InstId, std::vector<ir::InstId>> vectors_;   // of the block: by leader, lanes at rising offsets

    ir::BlockId block_;  // being selected
    ir::InstId inst_;
    MBlockId machine_block_;      // where its instructions go, last one first
    std::vector<Instr> current_;  // of the IR instruction being selected, first one first
    ptx::SourceLoc loc_;
    std::uint32_t calls_ = 0;
    std::array<ptx::SymbolId, 5> panic_params_;  // of every call of ock_panic and ock_panic_4; invalid before the first
};

inline constexpr std::size_t kShortPanicWords = 2;   // of most messages

// The function that writes the record of a failed check, and the variable with the record's address. panic.cpp
ptx::Function panic_function(ptx::Module& module, std::size_t words);   // 2 or 4
ptx::Variable panic_record_variable(ptx::Module& module);

// Offsets and sizes of what a call passes and returns in .param space.
struct ParamLayout {
    std::vector<std::uint64_t> offsets;
    std::uint64_t size = 0;
    std::uint32_t align = 1;
};
ParamLayout layout_results(std::span<const ir::Type> types);
ptx::Space ptx_space(ir::Space space);
ptx::Type memory_type(ir::Type type);  // of a load or store; i1 as u8

}  // namespace ockc::isel
