// Peephole rules, grouped by operation family (rules_int.cpp, rules_compare.cpp, rules_convert.cpp,
// rules_float.cpp, rules_memory.cpp). A rule looks at one instruction whose operands are already simplified,
// and either
//   * returns a value that is equal to the instruction's result: the instruction goes away; or
//   * turns the instruction into a better one with Rewriter::become: the rules then look at it again; or
//   * returns none without touching anything.
// Canonical forms that rules and isel rely on: constants are the second operand of commutative operations,
// comparisons and additions (x - c is x + -c); comparisons with constants use strict conditions (x <= 4 is x
// < 5); the constant part of an address is its last ptradd and moves into the offset of loads and stores;
// not(compare) is the inverted compare.
#pragma once
#include <initializer_list>
#include <optional>
#include <utility>
#include <vector>

#include "ir/ir.hpp"
#include "opt/const_fold.hpp"
#include "opt/edit.hpp"

namespace ockc::opt {

class Rewriter {
  public:
    Rewriter(ir::Function& function, const ir::Module& module, ConstantPool& pool,
             std::vector<ir::InstId>& out, const std::vector<std::uint32_t>& use_counts)
        : function(function), module(module), pool_(pool), out_(out), use_counts_(use_counts) {}

    ir::Function& function;
    const ir::Module& module;

    void set_current(ir::InstId inst) { current_ = inst; }
    const ir::Instruction& inst() const { return function.insts[current_]; }
    ir::Type type_of(ir::ValueId value) const { return function.type_of(value); }
    // The defining instruction when it is an `op`, else null.
    const ir::Instruction* match(ir::ValueId value, ir::Op op) const;
    std::optional<Constant> constant(ir::ValueId value) const;
    bool is(ir::ValueId value, std::uint64_t low) const { return is_constant(function, value, low); }
    bool is_all_ones(ir::ValueId value) const;
    // Used once at the start of the sweep; such a value dies when its only user is rewritten.
    bool single_use(ir::ValueId value) const {
        return value.raw < use_counts_.size() && use_counts_[value.raw] == 1;
    }
    // An upper bound of the value as an unsigned number (at most 64 bits).
    std::uint64_t unsigned_max(ir::ValueId value) const;

    ir::ValueId make_constant(ir::Type type, Constant constant) { return pool_.get(type, constant); }
    ir::ValueId make_constant(ir::Type type, std::uint64_t low) { return pool_.get(type, low); }
    ir::ValueId make_bool(bool truth) { return pool_.get(ir::Type::I1, truth ? 1 : 0); }
    // A new instruction in front of the current one.
    ir::ValueId make(ir::Op op, ir::Type type, std::initializer_list<ir::ValueId> args, std::uint16_t aux = 0);
    // The current instruction becomes another one with the same result type. Returns none, as the rules do.
    ir::ValueId become(ir::Op op, ir::Type type, std::initializer_list<ir::ValueId> args,
                       std::uint16_t aux = 0);
    ir::Instruction& mutate() {
        mutated_ = true;
        return function.insts[current_];
    }
    bool mutated() const { return mutated_; }
    bool take_mutated() { return std::exchange(mutated_, false); }

  private:
    std::uint64_t unsigned_max(ir::ValueId value, int depth) const;

    ConstantPool& pool_;
    std::vector<ir::InstId>& out_;
    const std::vector<std::uint32_t>& use_counts_;
    ir::InstId current_;
    bool mutated_ = false;
};

ir::ValueId simplify_int(Rewriter& r);
ir::ValueId simplify_division(Rewriter& r);
ir::ValueId simplify_select(Rewriter& r);
ir::ValueId simplify_icmp(Rewriter& r);
ir::ValueId simplify_fcmp(Rewriter& r);
ir::ValueId simplify_conversion(Rewriter& r);
ir::ValueId simplify_float(Rewriter& r);
ir::ValueId simplify_memory(Rewriter& r);
// The largest value a special register can have in this function's launches.
std::uint64_t sreg_max(const ir::Function& function, ir::Sreg reg);
// Its only value, when the launch facts fix it.
std::optional<std::uint64_t> sreg_value(const ir::Function& function, ir::Sreg reg);

}  // namespace ockc::opt
