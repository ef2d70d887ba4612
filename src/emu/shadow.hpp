// Which bytes of a global allocation have ever been written, for OCK_EMULATOR_CHECK=uninit. One flag byte per
// byte; worker threads mark disjoint bytes, and a flag only ever turns on, so relaxed stores are enough.
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>

namespace ockc::emu {

class GlobalShadow {
  public:
    explicit GlobalShadow(std::uint64_t bytes) : written_(std::make_unique<std::atomic<bool>[]>(bytes)) {}
    void mark_initialised(std::uint64_t offset, std::uint64_t bytes) {
        for (std::uint64_t i = 0; i < bytes; ++i)
            written_[offset + i].store(true, std::memory_order_relaxed);
    }
    bool initialised(std::uint64_t offset, std::uint64_t bytes) const {
        for (std::uint64_t i = 0; i < bytes; ++i) {
            if (!written_[offset + i].load(std::memory_order_relaxed)) return false;
        }
        return true;
    }

  private:
    std::unique_ptr<std::atomic<bool>[]> written_;
};

}  // namespace ockc::emu
