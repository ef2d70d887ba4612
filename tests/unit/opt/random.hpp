// xorshift64*: the same numbers on every machine.
#pragma once
#include <cstdint>

namespace ockc::test {

class Random {
  public:
    explicit Random(std::uint64_t seed) : state_(seed * 0x9E37'79B9'7F4A'7C15u + 1) {}
    std::uint64_t next() {
        state_ ^= state_ << 13;
        state_ ^= state_ >> 7;
        state_ ^= state_ << 17;
        return state_ * 0x2545'F491'4F6C'DD1Du;
    }
    std::uint64_t below(std::uint64_t n) { return (next() >> 11) % n; }
    bool one_in(std::uint64_t n) { return below(n) == 0; }

  private:
    std::uint64_t state_;
};

}  // namespace ockc::test
