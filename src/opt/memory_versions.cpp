#include "opt/memory_versions.hpp"

#include "intrinsic/intrinsic.hpp"

namespace ockc::opt {

using namespace ir;

namespace {

constexpr std::uint32_t kUnknownVersion = 0xFFFF'FFFFu;
constexpr std::uint64_t kMaxCells = std::uint64_t{1} << 23;  // above: a new version in every block

// Barriers do; shuffles, votes and the like exchange registers only.
bool orders_memory(const Instruction& inst) {
    return inst.op != Op::MachineSync || intrinsic::info(inst.machine()).words.starts_with("bar");
}

}  // namespace

const std::vector<std::uint32_t>& MemoryVersions::clobbered(const Instruction& inst) const {
    switch (op_info(inst.op).effect) {
        case Effect::Pure:
        case Effect::Read:
        case Effect::Control: return none_;
        case Effect::Convergent: return orders_memory(inst) ? classes_.shared_classes() : none_;
        case Effect::Write:
        case Effect::ReadWrite: break;
    }
    if (inst.op == Op::Store || inst.op == Op::Memset || inst.op == Op::Memcpy) {
        return classes_.clobbers(classes_.of(inst.args[0]));
    }
    return classes_.shared_classes();  // calls and fences
}

MemoryVersions::MemoryVersions(const Function& function, const Cfg& cfg, const MemoryClasses& classes)
    : classes_(classes),
      class_count_(classes.count()),
      versions_(function.blocks.size() * classes.count(), 0) {
    const std::size_t blocks = function.blocks.size();
    if (static_cast<std::uint64_t>(blocks) * class_count_ > kMaxCells) {
        for (const BlockId block : cfg.rpo()) {
            for (std::uint32_t c = 0; c < class_count_; ++c)
                versions_[block.raw * class_count_ + c] = at_join(block);
        }
        return;
    }
    // The last write of each class in each block; kUnknownVersion where there is none.
    std::vector<std::vector<std::uint32_t>> last(class_count_);
    for (const BlockId block : cfg.rpo()) {
        for (const InstId id : function.blocks[block].insts) {
            for (const std::uint32_t c : clobbered(function.insts[id])) {
                if (last[c].empty()) last[c].assign(blocks, kUnknownVersion);
                last[c][block.raw] = after(id);
            }
        }
    }
    for (std::uint32_t c = 0; c < class_count_; ++c) {
        if (!last[c].empty()) solve(c, cfg, last[c]);  // a class that nothing writes stays at version 0
    }
}

// The same rounds as SsaBuilder: propagate forward optimistically, start a version where different ones meet,
// repeat.
void MemoryVersions::solve(std::uint32_t memory_class, const Cfg& cfg,
                           const std::vector<std::uint32_t>& last_write) {
    const auto& rpo = cfg.rpo();
    std::vector<bool> join(last_write.size());
    std::vector<std::uint32_t> in(last_write.size(), kUnknownVersion);
    const auto out = [&](BlockId block) {
        return last_write[block.raw] != kUnknownVersion ? last_write[block.raw] : in[block.raw];
    };
    for (bool again = true; again;) {
        for (const BlockId block : rpo)
            in[block.raw] = join[block.raw] ? at_join(block) : kUnknownVersion;
        in[rpo[0].raw] = 0;
        for (const BlockId block : rpo) {
            if (in[block.raw] != kUnknownVersion) continue;
            for (const BlockId pred : cfg.preds(block)) {
                if (out(pred) == kUnknownVersion) continue;
                in[block.raw] = out(pred);
                break;
            }
        }
        again = false;
        for (const BlockId block : rpo) {
            if (block == rpo[0] || join[block.raw]) continue;
            for (const BlockId pred : cfg.preds(block)) {
                if (out(pred) == in[block.raw]) continue;
                join[block.raw] = true;
                again = true;
                break;
            }
        }
    }
    for (const BlockId block : rpo)
        versions_[block.raw * class_count_ + memory_class] = in[block.raw];
}

}  // namespace ockc::opt
