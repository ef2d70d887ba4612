// A hash table of indices into someone else's store: the store holds the keys, the table only where they are. Open addressing
// in one block, so that a lookup is one or two cache lines and interning allocates nothing.
#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

namespace ockc {

class HashIndex {
  public:
    static constexpr std::uint32_t kNone = 0xFFFF'FFFFu;

    // The index with this hash for which same(index) holds, or kNone.
    template <class Same>
    std::uint32_t find(std::uint32_t hash, Same&& same) const {
        if (slots_.empty()) return kNone;
        const std::size_t mask = slots_.size() - 1;
        for (std::size_t at = hash & mask; slots_[at].index != kNone; at = (at + 1) & mask) {
            if (slots_[at].hash == hash && same(slots_[at].index)) return slots_[at].index;
        }
        return kNone;
    }
    // An index that is not in it yet.
    void insert(std::uint32_t hash, std::uint32_t index) {
        if ((count_ + 1) * 2 > slots_.size()) grow();
        place({hash, index});
        ++count_;
    }

  private:
    struct Slot {
        std::uint32_t hash = 0;
        std::uint32_t index = kNone;
    };
    void place(Slot slot) {
        const std::size_t mask = slots_.size() - 1;
        std::size_t at = slot.hash & mask;
        while (slots_[at].index != kNone) at = (at + 1) & mask;
        slots_[at] = slot;
    }
    void grow() {
        std::vector<Slot> old(slots_.empty() ? 64 : slots_.size() * 2);
        old.swap(slots_);
        for (const Slot& slot : old) {
            if (slot.index != kNone) place(slot);
        }
    }

    std::vector<Slot> slots_;   // a power of two
    std::size_t count_ = 0;
};

// A word-wise hash (multiply and rotate), for a handful of ids or a short text.
class Hasher {
  public:
    Hasher& add(std::uint64_t word) {
        state_ = ((state_ << 5 | state_ >> 59) ^ word) * 0x517c'c1b7'2722'0a95ull;
        return *this;
    }
    Hasher& add(std::string_view text) {
        std::size_t i = 0;
        for (; i + 8 <= text.size(); i += 8) {
            std::uint64_t word = 0;
            for (std::size_t b = 0; b < 8; ++b) word |= std::uint64_t{static_cast<unsigned char>(text[i + b])} << 8 * b;
            add(word);
        }
        std::uint64_t rest = text.size();
        for (; i < text.size(); ++i) rest = rest << 8 | static_cast<unsigned char>(text[i]);
        return add(rest);
    }
    std::uint32_t value() const { return static_cast<std::uint32_t>(state_ ^ state_ >> 32); }

  private:
    std::uint64_t state_ = 0;
};

}  // namespace ockc
