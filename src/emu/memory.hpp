// The device's memory manager: every byte range that a kernel may touch in the global space. In: allocation
// requests and host copies. Out: for an address the allocation that holds it, or what is known about the
// nearest one. Addresses are never reused, so a use after free is told apart from a stray access for the last
// few thousand frees.
//
// Launches hold the lock shared for their whole run (MemoryReader), which makes look-ups inside a kernel free
// of locks; allocation and release wait for running kernels, as cuMemFree does.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <string>

#include "emu/address.hpp"

namespace ockc::emu {

enum class MemoryKind : std::uint8_t {
    Device,    // cuMemAlloc
    Host,      // cuMemAllocHost: the device address is the host address
    Variable,  // .global variable of a module
    Constant,  // .const variable of a module
};
std::string_view memory_kind_name(MemoryKind kind);

class GlobalShadow;  // shadow.hpp: what the optional checks know about each byte

struct Allocation {
    DeviceAddress base = 0;
    std::uint64_t size = 0;
    std::byte* host = nullptr;  // where byte 0 lies in this process
    MemoryKind kind = MemoryKind::Device;
    std::uint64_t serial = 0;              // 1 for the first allocation of the device
    std::string name;                      // of module variables
    std::shared_ptr<GlobalShadow> shadow;  // only under OCK_EMULATOR_CHECK

    bool contains(DeviceAddress address, std::uint64_t bytes) const {
        return address >= base && address - base <= size && bytes <= size - (address - base);
    }
    DeviceAddress end() const { return base + size; }
    std::byte* at(DeviceAddress address) const { return host + (address - base); }
};

// What an error report can say about an address that no live allocation holds.
struct NearestAllocation {
    enum class Relation : std::uint8_t { None, Inside, Past, Before, Freed } relation = Relation::None;
    Allocation allocation;  // meaningless for None
    std::uint64_t distance =
        0;  // Inside, Freed: offset; Past: bytes past the end; Before: bytes before the start
};

class Memory {
  public:
    explicit Memory(std::uint64_t capacity);
    ~Memory();
    Memory(const Memory&) = delete;
    Memory& operator=(const Memory&) = delete;

    // Nothing when the capacity or the host's memory is used up.
    std::optional<DeviceAddress> allocate(std::uint64_t bytes, MemoryKind kind,
                                          std::uint64_t align = kHeapAlign, std::string name = {});
    // False when `base` is not the start of a live allocation of that kind.
    bool release(DeviceAddress base, MemoryKind kind);
    // Memory of the host that kernels may use under its own address; `adopt` is cuMemHostRegister.
    void* allocate_host(std::uint64_t bytes);
    bool adopt_host(void* pointer, std::uint64_t bytes);
    bool release_host(void* pointer, bool adopted);

    // Host access. False when [address, address + bytes) is not inside one allocation.
    bool copy_in(DeviceAddress to, const void* from, std::uint64_t bytes);
    bool copy_out(void* to, DeviceAddress from, std::uint64_t bytes);
    bool copy_between(DeviceAddress to, DeviceAddress from, std::uint64_t bytes);
    // `width` is 1, 2 or 4 bytes.
    bool fill(DeviceAddress to, std::uint32_t value, std::uint32_t width, std::uint64_t count);

    // A copy: safe to keep.
    std::optional<Allocation> find_copy(DeviceAddress address) const;
    std::uint64_t capacity() const { return capacity_; }
    std::uint64_t used() const;

    // From now on new allocations get shadow state for the optional checks, and so do those that exist.
    void enable_shadow();

  private:
    friend class MemoryReader;
    const Allocation* find(DeviceAddress address) const;  // a lock is held
    NearestAllocation nearest(DeviceAddress address) const;
    Allocation* find_mutable(DeviceAddress address, std::uint64_t bytes);
    void attach_shadow(Allocation& allocation) const;

    mutable std::shared_mutex mutex_;
    std::map<DeviceAddress, Allocation> live_;
    std::deque<Allocation> freed_;  // the newest last
    DeviceAddress next_ = kHeapBase;
    std::uint64_t capacity_;
    std::uint64_t used_ = 0;
    std::uint64_t serial_ = 0;
    bool shadow_ = false;
};

// The view of a running kernel: holds the allocation map still.
class MemoryReader {
  public:
    explicit MemoryReader(const Memory& memory) : memory_(memory), lock_(memory.mutex_) {}
    const Allocation* find(DeviceAddress address) const { return memory_.find(address); }
    NearestAllocation nearest(DeviceAddress address) const { return memory_.nearest(address); }

  private:
    const Memory& memory_;
    std::shared_lock<std::shared_mutex> lock_;
};

}  // namespace ockc::emu
