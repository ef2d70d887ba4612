// Which state each class of memory is in at the start of each block: two places with one version see the same
// bytes. A version is born at an instruction that may change the class, or where different versions meet.
#pragma once
#include <cstdint>
#include <vector>

#include "ir/analysis/alias.hpp"
#include "ir/analysis/cfg.hpp"
#include "ir/ir.hpp"

namespace ockc::opt {

class MemoryVersions {
  public:
    MemoryVersions(const ir::Function& function, const ir::Cfg& cfg, const ir::MemoryClasses& classes);

    std::uint32_t at_start(ir::BlockId block, std::uint32_t memory_class) const {
        return versions_[block.raw * class_count_ + memory_class];
    }
    // The version that an instruction's write starts.
    static std::uint32_t after(ir::InstId inst) { return (inst.raw << 1) | 1; }
    // The classes that an instruction may change; empty for most.
    const std::vector<std::uint32_t>& clobbered(const ir::Instruction& inst) const;

  private:
    static std::uint32_t at_join(ir::BlockId block) { return (block.raw + 1) << 1; }
    void solve(std::uint32_t memory_class, const ir::Cfg& cfg, const std::vector<std::uint32_t>& last_write);

    const ir::MemoryClasses& classes_;
    std::uint32_t class_count_;
    std::vector<std::uint32_t> versions_;  // by block, then class
    std::vector<std::uint32_t> none_;
};

}  // namespace ockc::opt
