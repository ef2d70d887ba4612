// A vector with inline storage for N trivially copyable elements; most operand lists never touch the heap.
#pragma once
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <span>
#include <type_traits>
#include <utility>

#include "support/check.hpp"

namespace ockc {

template <class T, std::uint32_t N>
class SmallVec {
    static_assert(std::is_trivially_copyable_v<T>, "SmallVec moves its elements with memcpy");

  public:
    SmallVec() = default;
    SmallVec(std::initializer_list<T> items) { append(std::span<const T>(items.begin(), items.size())); }
    explicit SmallVec(std::span<const T> items) { append(items); }
    SmallVec(const SmallVec& other) {
        if (other.size_ > N) {
            append(other.view());
        } else {   // so many bytes of a fixed size; a heap block has more
            std::memcpy(static_cast<void*>(store_.items), other.data(), sizeof(T) * N);
            size_ = other.size_;
        }
    }
    SmallVec(SmallVec&& other) noexcept { take(other); }
    SmallVec& operator=(const SmallVec& other) {
        if (this != &other) {
            size_ = 0;
            append(other.view());
        }
        return *this;
    }
    SmallVec& operator=(SmallVec&& other) noexcept {
        if (this != &other) {
            release();
            take(other);
        }
        return *this;
    }
    ~SmallVec() { release(); }

    T* data() { return on_heap() ? store_.heap : inline_data(); }
    const T* data() const { return on_heap() ? store_.heap : inline_data(); }
    std::uint32_t size() const { return size_; }
    bool empty() const { return size_ == 0; }
    T* begin() { return data(); }
    T* end() { return data() + size_; }
    const T* begin() const { return data(); }
    const T* end() const { return data() + size_; }
    T& operator[](std::size_t i) {
        OCKC_DCHECK(i < size_);
        return data()[i];
    }
    const T& operator[](std::size_t i) const {
        OCKC_DCHECK(i < size_);
        return data()[i];
    }
    T& front() { return (*this)[0]; }
    const T& front() const { return (*this)[0]; }
    T& back() { return (*this)[size_ - 1]; }
    const T& back() const { return (*this)[size_ - 1]; }
    std::span<T> view() { return {data(), size_}; }
    std::span<const T> view() const { return {data(), size_}; }

    void push_back(const T& value) {
        const T copy = value;   // `value` may live in the buffer that grows
        if (size_ == capacity_) grow(size_ + 1);
        data()[size_++] = copy;
    }
    void append(std::span<const T> items) {
        if (size_ + items.size() > capacity_) grow(size_ + static_cast<std::uint32_t>(items.size()));
        if (!items.empty()) std::memcpy(static_cast<void*>(data() + size_), items.data(), items.size_bytes());
        size_ += static_cast<std::uint32_t>(items.size());
    }
    void pop_back() { --size_; }
    void clear() { size_ = 0; }
    void resize(std::uint32_t n, const T& fill = T{}) {
        while (size_ < n) push_back(fill);
        size_ = n;
    }
    void erase_at(std::uint32_t i) {
        std::copy(begin() + i + 1, end(), begin() + i);
        --size_;
    }
    friend bool operator==(const SmallVec& a, const SmallVec& b) {
        return a.size_ == b.size_ && std::equal(a.begin(), a.end(), b.begin());
    }

  private:
    bool on_heap() const { return capacity_ > N; }
    T* inline_data() { return reinterpret_cast<T*>(store_.items); }
    const T* inline_data() const { return reinterpret_cast<const T*>(store_.items); }
    void grow(std::uint32_t at_least) {
        const std::uint32_t capacity = std::max(at_least, capacity_ * 2);
        T* fresh = static_cast<T*>(::operator new(sizeof(T) * capacity));
        std::memcpy(static_cast<void*>(fresh), data(), sizeof(T) * size_);
        release();
        store_.heap = fresh;
        capacity_ = capacity;
    }
    void release() {
        if (on_heap()) ::operator delete(store_.heap);
        capacity_ = N;
    }
    void take(SmallVec& other) noexcept {
        std::memcpy(&store_, &other.store_, sizeof store_);   // the elements, or where they are
        size_ = std::exchange(other.size_, 0);
        capacity_ = std::exchange(other.capacity_, N);
    }

    static constexpr std::size_t kBytes = (std::max(sizeof(T) * N, sizeof(T*)) + sizeof(T*) - 1) / sizeof(T*) * sizeof(T*);
    union Store {
        alignas(T) unsigned char items[kBytes] = {};
        T* heap;   // when there are more
    };
    Store store_;
    std::uint32_t size_ = 0;
    std::uint32_t capacity_ = N;
};

}  // namespace ockc
