// A bump arena for trivially destructible data; everything is freed with the arena.
#pragma once
#include <cstddef>
#include <cstring>
#include <memory>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace ockc {

class Arena {
  public:
    void* allocate(std::size_t bytes, std::size_t align) {
        std::size_t at = (used_ + align - 1) & ~(align - 1);
        if (at + bytes > capacity_) {
            grow(bytes + align);
            at = (used_ + align - 1) & ~(align - 1);
        }
        used_ = at + bytes;
        return chunks_.back().get() + at;
    }
    template <class T, class... Args>
    T* make(Args&&... args) {
        static_assert(std::is_trivially_destructible_v<T>, "the arena runs no destructors");
        return new (allocate(sizeof(T), alignof(T))) T{std::forward<Args>(args)...};
    }
    template <class T>
    std::span<T> copy(std::span<const T> items) {
        static_assert(std::is_trivially_copyable_v<T>);
        if (items.empty()) return {};
        T* out = static_cast<T*>(allocate(items.size_bytes(), alignof(T)));
        std::memcpy(static_cast<void*>(out), items.data(), items.size_bytes());
        return {out, items.size()};
    }
    std::string_view copy(std::string_view text) {
        if (text.empty()) return {};
        char* out = static_cast<char*>(allocate(text.size(), 1));
        std::memcpy(out, text.data(), text.size());
        return {out, text.size()};
    }

  private:
    void grow(std::size_t at_least) {
        capacity_ = at_least > kChunk ? at_least : kChunk;
        chunks_.push_back(std::make_unique_for_overwrite<std::byte[]>(capacity_));
        used_ = 0;
    }
    static constexpr std::size_t kChunk = 32 * 1024 - 64;   // a block that driver/allocator.cpp serves itself
    std::vector<std::unique_ptr<std::byte[]>> chunks_;
    std::size_t used_ = 0;
    std::size_t capacity_ = 0;
};

}  // namespace ockc
