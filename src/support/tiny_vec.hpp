// A vector that is one pointer: for lists that most of their owners do not have. Size and capacity stand in front of the elements.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#include "support/check.hpp"

namespace ockc {

template <class T>
class TinyVec {
    static_assert(alignof(T) <= 8);

  public:
    TinyVec() = default;
    TinyVec(std::vector<T> items) { take(std::make_move_iterator(items.begin()), items.size()); }   // NOLINT: implicit on purpose
    TinyVec(const TinyVec& other) { take(other.begin(), other.size()); }
    TinyVec(TinyVec&& other) noexcept : items_(std::exchange(other.items_, nullptr)) {}
    TinyVec& operator=(const TinyVec& other) { return *this = TinyVec(other); }
    TinyVec& operator=(TinyVec&& other) noexcept {
        TinyVec taken(std::move(other));
        std::swap(items_, taken.items_);
        return *this;
    }
    ~TinyVec() {
        if (items_ != nullptr) release();
    }

    std::size_t size() const { return items_ != nullptr ? head().size : 0; }
    bool empty() const { return size() == 0; }
    T* data() { return items_; }
    const T* data() const { return items_; }
    T* begin() { return items_; }
    T* end() { return items_ + size(); }
    const T* begin() const { return items_; }
    const T* end() const { return items_ + size(); }
    T& operator[](std::size_t i) {
        OCKC_DCHECK(i < size());
        return items_[i];
    }
    const T& operator[](std::size_t i) const {
        OCKC_DCHECK(i < size());
        return items_[i];
    }
    T& back() { return (*this)[size() - 1]; }
    const T& back() const { return (*this)[size() - 1]; }

    void push_back(T item) {
        if (items_ == nullptr || head().size == head().capacity) grow();
        new (items_ + head().size) T(std::move(item));
        ++head().size;
    }
    void pop_back() { std::destroy_at(items_ + --head().size); }
    void erase(T* at) {
        std::move(at + 1, end(), at);
        pop_back();
    }
    void clear() {
        std::destroy(begin(), end());
        if (items_ != nullptr) head().size = 0;
    }

  private:
    struct Head {
        std::uint32_t size, capacity;
    };
    Head& head() const { return *reinterpret_cast<Head*>(reinterpret_cast<std::byte*>(items_) - sizeof(Head)); }
    static T* make(std::size_t capacity) {
        auto* const block = static_cast<std::byte*>(::operator new(sizeof(Head) + capacity * sizeof(T)));
        new (block) Head{0, static_cast<std::uint32_t>(capacity)};
        return reinterpret_cast<T*>(block + sizeof(Head));
    }
    template <class Iterator>
    void take(Iterator from, std::size_t count) {
        if (count == 0) return;
        items_ = make(count);
        std::uninitialized_copy_n(from, count, items_);
        head().size = static_cast<std::uint32_t>(count);
    }
    void grow() {
        const std::size_t count = size();
        TinyVec larger;
        larger.items_ = make(count == 0 ? 2 : count * 2);   // branches have one target or two
        std::uninitialized_move_n(begin(), count, larger.items_);
        larger.head().size = static_cast<std::uint32_t>(count);
        std::swap(items_, larger.items_);
    }
    void release() {
        std::destroy(begin(), end());
        ::operator delete(&head());
    }

    T* items_ = nullptr;
};

}  // namespace ockc
