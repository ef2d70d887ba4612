#include "emu/memory.hpp"

#include <cstring>

#include "emu/shadow.hpp"
#include "support/check.hpp"

namespace ockc::emu {
namespace {

constexpr std::size_t kRememberedFrees = 4096;

constexpr std::uint64_t aligned_up(std::uint64_t value, std::uint64_t align) {
    return (value + align - 1) / align * align;
}

template <class T>
void fill_with(std::byte* at, std::uint32_t value, std::uint64_t count) {
    const T element = static_cast<T>(value);
    for (std::uint64_t i = 0; i < count; ++i)
        std::memcpy(at + i * sizeof(T), &element, sizeof(T));
}
void fill_elements(std::byte* at, std::uint32_t value, std::uint32_t width, std::uint64_t count) {
    switch (width) {
        case 1: std::memset(at, static_cast<int>(value & 0xFF), count); break;
        case 2: fill_with<std::uint16_t>(at, value, count); break;
        default: fill_with<std::uint32_t>(at, value, count); break;
    }
}

}  // namespace

std::string_view memory_kind_name(MemoryKind kind) {
    switch (kind) {
        case MemoryKind::Device: return "device allocation";
        case MemoryKind::Host: return "host allocation";
        case MemoryKind::Variable: return "module variable";
        case MemoryKind::Constant: return "constant variable";
    }
    OCKC_UNREACHABLE("memory kind");
}

Memory::Memory(std::uint64_t capacity) : capacity_(capacity) {}

Memory::~Memory() {
    for (auto& [base, allocation] : live_) {
        if (allocation.kind != MemoryKind::Host) std::free(allocation.host);
    }
}

std::optional<DeviceAddress> Memory::allocate(std::uint64_t bytes, MemoryKind kind, std::uint64_t align,
                                              std::string name) {
    std::unique_lock lock(mutex_);
    if (bytes > capacity_ - used_ || align > kHeapEnd) return std::nullopt;
    const DeviceAddress base = aligned_up(next_, align < kHeapAlign ? kHeapAlign : align);
    if (bytes > kHeapEnd - base) return std::nullopt;
    // calloc leaves big blocks untouched by the process until a page is used; a fresh allocation reads as
    // zero.
    auto* host = static_cast<std::byte*>(std::calloc(bytes == 0 ? 1 : bytes, 1));
    if (host == nullptr) return std::nullopt;
    Allocation allocation{base, bytes, host, kind, ++serial_, std::move(name), nullptr};
    if (shadow_) attach_shadow(allocation);
    live_.emplace_hint(live_.end(), base, std::move(allocation));
    next_ = base + bytes + kHeapGap;
    used_ += bytes;
    return base;
}

bool Memory::release(DeviceAddress base, MemoryKind kind) {
    std::unique_lock lock(mutex_);
    const auto found = live_.find(base);
    if (found == live_.end() || found->second.kind != kind) return false;
    Allocation dead = std::move(found->second);
    live_.erase(found);
    used_ -= dead.size;
    std::free(dead.host);
    dead.host = nullptr;
    dead.shadow.reset();
    freed_.push_back(std::move(dead));
    if (freed_.size() > kRememberedFrees) freed_.pop_front();
    return true;
}

void* Memory::allocate_host(std::uint64_t bytes) {
    void* pointer = std::aligned_alloc(kHeapGap, aligned_up(bytes == 0 ? 1 : bytes, kHeapGap));
    if (pointer == nullptr) return nullptr;
    std::memset(pointer, 0, bytes);
    if (adopt_host(pointer, bytes)) return pointer;
    std::free(pointer);
    return nullptr;
}

bool Memory::adopt_host(void* pointer, std::uint64_t bytes) {
    const auto base = reinterpret_cast<DeviceAddress>(pointer);
    if (pointer == nullptr || bytes == 0 || base + bytes > kHeapBase) return false;
    std::unique_lock lock(mutex_);
    const auto after = live_.lower_bound(base);
    if (after != live_.end() && after->second.base < base + bytes) return false;
    if (after != live_.begin() && std::prev(after)->second.end() > base) return false;
    Allocation allocation{base, bytes,  static_cast<std::byte*>(pointer), MemoryKind::Host, ++serial_,
                          {},   nullptr};
    if (shadow_) {
        attach_shadow(allocation);
        allocation.shadow->mark_initialised(0, bytes);
    }
    live_.emplace(base, std::move(allocation));
    return true;
}

bool Memory::release_host(void* pointer, bool adopted) {
    std::unique_lock lock(mutex_);
    const auto found = live_.find(reinterpret_cast<DeviceAddress>(pointer));
    if (found == live_.end() || found->second.kind != MemoryKind::Host) return false;
    Allocation dead = std::move(found->second);
    live_.erase(found);
    dead.host = nullptr;
    dead.shadow.reset();
    freed_.push_back(std::move(dead));
    if (freed_.size() > kRememberedFrees) freed_.pop_front();
    if (!adopted) std::free(pointer);
    return true;
}

bool Memory::copy_in(DeviceAddress to, const void* from, std::uint64_t bytes) {
    std::shared_lock lock(mutex_);
    Allocation* target = find_mutable(to, bytes);
    if (target == nullptr) return bytes == 0;
    std::memcpy(target->at(to), from, bytes);
    if (target->shadow) target->shadow->mark_initialised(to - target->base, bytes);
    return true;
}

bool Memory::copy_out(void* to, DeviceAddress from, std::uint64_t bytes) {
    std::shared_lock lock(mutex_);
    const Allocation* source = find_mutable(from, bytes);
    if (source == nullptr) return bytes == 0;
    std::memcpy(to, source->at(from), bytes);
    return true;
}

bool Memory::copy_between(DeviceAddress to, DeviceAddress from, std::uint64_t bytes) {
    std::shared_lock lock(mutex_);
    Allocation* target = find_mutable(to, bytes);
    const Allocation* source = find_mutable(from, bytes);
    if (target == nullptr || source == nullptr) return bytes == 0;
    std::memmove(target->at(to), source->at(from), bytes);
    if (target->shadow) target->shadow->mark_initialised(to - target->base, bytes);
    return true;
}

bool Memory::fill(DeviceAddress to, std::uint32_t value, std::uint32_t width, std::uint64_t count) {
    std::shared_lock lock(mutex_);
    const std::uint64_t bytes = count * width;
    Allocation* target = find_mutable(to, bytes);
    if (target == nullptr) return count == 0;
    fill_elements(target->at(to), value, width, count);
    if (target->shadow) target->shadow->mark_initialised(to - target->base, bytes);
    return true;
}

std::optional<Allocation> Memory::find_copy(DeviceAddress address) const {
    std::shared_lock lock(mutex_);
    const Allocation* found = find(address);
    return found == nullptr ? std::nullopt : std::optional(*found);
}

std::uint64_t Memory::used() const {
    std::shared_lock lock(mutex_);
    return used_;
}

void Memory::enable_shadow() {
    std::unique_lock lock(mutex_);
    if (shadow_) return;
    shadow_ = true;
    for (auto& [base, allocation] : live_) {
        attach_shadow(allocation);
        allocation.shadow->mark_initialised(0, allocation.size);  // written before anyone watched
    }
}

const Allocation* Memory::find(DeviceAddress address) const {
    auto after = live_.upper_bound(address);
    if (after == live_.begin()) return nullptr;
    const Allocation& candidate = std::prev(after)->second;
    return address < candidate.end() ? &candidate : nullptr;
}

NearestAllocation Memory::nearest(DeviceAddress address) const {
    using Relation = NearestAllocation::Relation;
    const auto after = live_.upper_bound(address);
    const Allocation* below = after == live_.begin() ? nullptr : &std::prev(after)->second;
    const Allocation* above = after == live_.end() ? nullptr : &after->second;
    if (below != nullptr && address < below->end()) return {Relation::Inside, *below, address - below->base};
    for (auto dead = freed_.rbegin(); dead != freed_.rend(); ++dead) {
        if (dead->contains(address, 1)) return {Relation::Freed, *dead, address - dead->base};
    }
    const std::uint64_t past = below == nullptr ? ~0ull : address - below->end();
    const std::uint64_t before = above == nullptr ? ~0ull : above->base - address;
    if (below == nullptr && above == nullptr) return {};
    if (past <= before) return {Relation::Past, *below, past};
    return {Relation::Before, *above, before};
}

Allocation* Memory::find_mutable(DeviceAddress address, std::uint64_t bytes) {
    const Allocation* found = find(address);
    return found != nullptr && found->contains(address, bytes) ? const_cast<Allocation*>(found) : nullptr;
}

void Memory::attach_shadow(Allocation& allocation) const {
    allocation.shadow = std::make_shared<GlobalShadow>(allocation.size);
}

}  // namespace ockc::emu
