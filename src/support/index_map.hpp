// IndexVec and StableVec own the elements that an Id names; SideMap holds facts that a later phase adds about them.
#pragma once
#include <cstddef>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#include "support/check.hpp"
#include "support/id.hpp"

namespace ockc {

// The owning store: push returns the new element's id; ids are dense from 0.
template <class IdT, class T>
class IndexVec {
  public:
    IdT push(const T& value) {
        items_.push_back(value);
        return IdT(static_cast<std::uint32_t>(items_.size() - 1));
    }
    IdT push(T&& value) {
        items_.push_back(std::move(value));
        return IdT(static_cast<std::uint32_t>(items_.size() - 1));
    }
    IdT next_id() const { return IdT(static_cast<std::uint32_t>(items_.size())); }
    T& operator[](IdT id) {
        OCKC_DCHECK(id.raw < items_.size());
        return items_[id.raw];
    }
    const T& operator[](IdT id) const {
        OCKC_DCHECK(id.raw < items_.size());
        return items_[id.raw];
    }
    bool contains(IdT id) const { return id.raw < items_.size(); }
    std::size_t size() const { return items_.size(); }
    bool empty() const { return items_.empty(); }
    void reserve(std::size_t n) { items_.reserve(n); }
    void resize(std::size_t n) { items_.resize(n); }
    auto begin() { return items_.begin(); }
    auto end() { return items_.end(); }
    auto begin() const { return items_.begin(); }
    auto end() const { return items_.end(); }
    std::vector<T>& raw() { return items_; }
    const std::vector<T>& raw() const { return items_; }

  private:
    std::vector<T> items_;
};

// An owning store whose elements never move: a reference stays good while others are added, and growing copies nothing.
template <class IdT, class T>
class StableVec {
  public:
    StableVec() = default;
    StableVec(StableVec&& other) noexcept : chunks_(std::move(other.chunks_)), size_(std::exchange(other.size_, 0)) {}
    StableVec& operator=(StableVec&&) = delete;
    StableVec(const StableVec&) = delete;
    StableVec& operator=(const StableVec&) = delete;
    ~StableVec() {
        for (std::size_t i = 0; i < size_; ++i) at(i).~T();
    }

    IdT push(const T& value) {
        new (room()) T(value);
        return IdT(static_cast<std::uint32_t>(size_++));
    }
    IdT push(T&& value) {
        new (room()) T(std::move(value));
        return IdT(static_cast<std::uint32_t>(size_++));
    }
    IdT next_id() const { return IdT(static_cast<std::uint32_t>(size_)); }
    T& operator[](IdT id) {
        OCKC_DCHECK(id.raw < size_);
        return at(id.raw);
    }
    const T& operator[](IdT id) const {
        OCKC_DCHECK(id.raw < size_);
        return at(id.raw);
    }
    bool contains(IdT id) const { return id.raw < size_; }
    std::size_t size() const { return size_; }
    bool empty() const { return size_ == 0; }

  private:
    static constexpr std::size_t kChunk = 64;
    struct Chunk {
        alignas(T) std::byte bytes[kChunk * sizeof(T)];
    };
    void* room() {   // for one more
        if (size_ == chunks_.size() * kChunk) chunks_.push_back(std::make_unique_for_overwrite<Chunk>());
        return chunks_.back()->bytes + (size_ % kChunk) * sizeof(T);
    }
    T& at(std::size_t i) const { return *std::launder(reinterpret_cast<T*>(chunks_[i / kChunk]->bytes + (i % kChunk) * sizeof(T))); }

    std::vector<std::unique_ptr<Chunk>> chunks_;
    std::size_t size_ = 0;
};

// A dense side table with a default for ids that were never set.
template <class IdT, class T>
class SideMap {
  public:
    SideMap() = default;
    explicit SideMap(std::size_t size, T fallback = T{}) : items_(size, fallback), fallback_(std::move(fallback)) {}
    void set(IdT id, T value) { at(id) = std::move(value); }
    T& at(IdT id) {
        if (id.raw >= items_.size()) reach(id.raw);
        return items_[id.raw];
    }
    const T& operator[](IdT id) const { return id.raw < items_.size() ? items_[id.raw] : fallback_; }
    std::size_t size() const { return items_.size(); }

  private:
    // Most ids come in order, so that one element is missing: less work than a call of resize.
    void reach(std::uint32_t raw) {
        if (raw - items_.size() >= 8) return items_.resize(raw + std::size_t{1}, fallback_);
        while (items_.size() <= raw) items_.push_back(fallback_);
    }

    std::vector<T> items_;
    T fallback_{};
};

}  // namespace ockc
