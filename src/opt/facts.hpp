// What is known about values at one point of the dominator tree: constants, ranges and orders, with undo.
#pragma once
#include <optional>
#include <vector>

#include "ir/ir.hpp"
#include "opt/edit.hpp"

namespace ockc::opt {

// Bounds of a value as an unsigned number; wider values than 64 bits have the full range.
struct Range {
    std::uint64_t min = 0;
    std::uint64_t max = ~std::uint64_t{0};
};

class Facts {
  public:
    explicit Facts(const ir::Function& function)
        : function_(function),
          constants_(function.values.size()),
          ranges_(function.values.size()),
          orders_(function.values.size()) {}

    // The condition (an i1) is true or false from here on.
    void assume(ir::ValueId condition, bool truth);
    void assume_equal(ir::ValueId value, Constant constant);
    void set_constant(ir::ValueId value, Constant constant);

    std::optional<Constant> constant(ir::ValueId value) const;
    Range range(ir::ValueId value) const { return range(value, 4); }
    std::optional<bool> decide(ir::IntCond cond, ir::ValueId a, ir::ValueId b) const;
    // The arm that a select takes, when that is known; else the value itself.
    ir::ValueId chosen(ir::ValueId value) const;

    struct Mark {
        std::size_t changes = 0;
    };
    Mark mark() const { return {changes_.size()}; }
    void undo(Mark mark);

  private:
    // value < other, or value <= other.
    struct Order {
        ir::ValueId other;
        bool strict;
        bool is_signed;
    };
    struct Change {
        enum class Kind : std::uint8_t { Constant, Range, Order } kind;
        ir::ValueId value;
        std::optional<Constant> old_constant;
        std::optional<Range> old_range;
    };
    void assume_compare(ir::IntCond cond, ir::ValueId a, ir::ValueId b);
    void assume_range(ir::ValueId value, Range range);
    void add_order(ir::ValueId less, ir::ValueId greater, bool strict, bool is_signed);
    Range range(ir::ValueId value, int depth) const;
    Range computed_range(const ir::Instruction& def, int depth) const;
    bool proves_less(ir::ValueId a, ir::ValueId b, bool strict, bool is_signed) const;
    bool below_by_definition(ir::ValueId a, ir::ValueId b, bool strict) const;
    bool not_negative(ir::ValueId value) const;
    std::optional<bool> decide_by_range(ir::IntCond cond, ir::ValueId a, ir::ValueId b) const;

    const ir::Function& function_;
    SideMap<ir::ValueId, std::optional<Constant>> constants_;
    SideMap<ir::ValueId, std::optional<Range>> ranges_;
    SideMap<ir::ValueId, std::vector<Order>> orders_;
    std::vector<Change> changes_;
};

}  // namespace ockc::opt
