// A hash table of indices into someone else's store: the store holds the keys, the table only where they are. Open addressing
// in one block, so that a lookup is one or two cache lines and interning allocates nothing.
#pragma once
#include <cstdint>
#include <cstring>
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
        const char* at = text.data();
        std::size_t left = text.size();
        for (; left >= 8; at += 8, left -= 8) add(load<std::uint64_t>(at));
        // The last, shorter word: two halves that overlap, or three bytes that do.
        std::uint64_t rest = 0;
        if (left >= 4) {
            rest = load<std::uint32_t>(at) | std::uint64_t{load<std::uint32_t>(at + left - 4)} << 32;
        } else if (left != 0) {
            const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(at[i]); };
            rest = byte(0) | byte(left / 2) << 8 | byte(left - 1) << 16;
        }
        return add(rest ^ text.size() << 56);
    }
    std::uint32_t value() const { return static_cast<std::uint32_t>(state_ ^ state_ >> 32); }

  private:
    template <class Word>
    static Word load(const char* at) {
        Word word;
        std::memcpy(&word, at, sizeof word);
        return word;
    }
    std::uint64_t state_ = 0;
};

}  // namespace ockc
