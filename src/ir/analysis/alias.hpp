// Where pointers point. Two questions: what is a pointer derived from by constant and variable offsets, and
// which accesses can touch the same memory. The second is answered with classes: two accesses conflict when
// the class sets that `clobbers` lists for the writer contain the reader's class.
#pragma once
#include <optional>
#include <vector>

#include "ir/analysis/cfg.hpp"
#include "ir/ir.hpp"

namespace ockc::ir {

// Follows ptradd with constant offsets and spacecast back to where they start.
struct PointerBase {
    ValueId base;
    std::int64_t offset = 0;
};
PointerBase constant_base(const Function& function, ValueId pointer);
// Follows ptradd with any offset and spacecast.
ValueId object_of(const Function& function, ValueId pointer);
// Is the pointer known not to be 0 (as a generic address)?
bool is_nonnull(const Function& function, ValueId pointer);

// Memory classes of one function. Class 0 is everything that is not told apart; then one class per address
// space for pointers of that space with unknown object, then one class per object (alloca, noalias parameter,
// module variable) whose address does not escape from the loads, stores and offsets that use it.
class MemoryClasses {
  public:
    MemoryClasses(const Function& function, const Cfg& cfg);

    std::uint32_t count() const { return count_; }
    std::uint32_t of(ValueId pointer) const { return class_of_[pointer]; }
    // The classes that a write through a pointer of class `written` may change.
    const std::vector<std::uint32_t>& clobbers(std::uint32_t written) const { return clobbers_[written]; }
    // The classes that a call or a barrier may change: all but unescaped allocas.
    const std::vector<std::uint32_t>& shared_classes() const { return shared_; }
    // Is this the class of an alloca that only this function's own loads and stores reach?
    bool is_private(std::uint32_t memory_class) const { return private_[memory_class]; }

  private:
    static constexpr std::uint32_t kSpaces = 6;
    static constexpr std::uint32_t kMaxObjects = 256;  // later objects fall into their space's class

    std::uint32_t count_ = 0;
    SideMap<ValueId, std::uint32_t> class_of_;
    std::vector<std::vector<std::uint32_t>> clobbers_;
    std::vector<std::uint32_t> shared_;
    std::vector<bool> private_;
};

}  // namespace ockc::ir
