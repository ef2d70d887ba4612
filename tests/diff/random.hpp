// The generator's numbers: SplitMix64, the same on every machine.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

namespace ockc::difftest {

class Random {
  public:
    explicit Random(std::uint64_t seed) : state_(seed) {}

    std::uint64_t bits() {
        std::uint64_t z = (state_ += 0x9E3779B97F4A7C15ull);
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
        z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
        return z ^ (z >> 31);
    }
    // 0 .. bound-1; bound is positive.
    std::uint32_t below(std::uint32_t bound) { return static_cast<std::uint32_t>((bits() >> 32) * bound >> 32); }
    std::uint32_t between(std::uint32_t low, std::uint32_t high) { return low + below(high - low + 1); }
    bool chance(std::uint32_t percent) { return below(100) < percent; }

    template <class T>
    const T& pick(const std::vector<T>& from) {
        return from[below(static_cast<std::uint32_t>(from.size()))];
    }

  private:
    std::uint64_t state_;
};

// A seed for one of many: neighbours give unrelated streams.
inline std::uint64_t mix_seed(std::uint64_t seed, std::uint64_t index) { return Random(seed * 0x2545F4914F6CDD1Dull + index).bits(); }

}  // namespace ockc::difftest
