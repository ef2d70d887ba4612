// Tensors for tile kernels. A Tensor<T> has a shape and says what its elements are to be at first; device memory is taken
// when the first operation on it runs. Its storage is counted: an operation shares that of its inputs. A Partition is a
// tensor cut into tiles, one for each tile block of a launch; it owns the tensor, so nobody else writes it meanwhile.
#pragma once
#include <array>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <mutex>
#include <ock/buffer.hpp>
#include <ock/operation.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace ock {

inline constexpr unsigned kMaxRank = 6;

// Extents, one for each axis, outermost first.
class TensorShape {
  public:
    constexpr TensorShape() = default;
    TensorShape(std::initializer_list<std::int64_t> extents, Where where = Where::here()) {  // NOLINT: written as {64, 128}
        if (extents.size() > kMaxRank) throw Error(ErrorCode::InvalidArgument, "a shape has at most 6 axes", where);
        for (const std::int64_t extent : extents) {
            if (extent <= 0 || extent > INT32_MAX) {
                throw Error(ErrorCode::InvalidArgument, "an extent is a number from 1 to 2^31 - 1, not " + std::to_string(extent), where);
            }
            extents_[rank_++] = static_cast<std::int32_t>(extent);
        }
    }

    [[nodiscard]] unsigned rank() const { return rank_; }
    [[nodiscard]] std::int32_t operator[](unsigned axis) const { return extents_[axis]; }
    [[nodiscard]] const std::int32_t* data() const { return extents_.data(); }
    [[nodiscard]] std::size_t size() const {
        std::size_t count = 1;
        for (unsigned k = 0; k < rank_; ++k) count *= static_cast<std::size_t>(extents_[k]);
        return count;
    }
    [[nodiscard]] std::string text() const {
        std::string all = "[";
        for (unsigned k = 0; k < rank_; ++k) all += (k == 0 ? "" : ", ") + std::to_string(extents_[k]);
        return all + "]";
    }
    friend bool operator==(const TensorShape&, const TensorShape&) = default;

  private:
    std::array<std::int32_t, kMaxRank> extents_{};
    unsigned rank_ = 0;
};

namespace detail {

// Device memory that comes to be when it is first needed.
template <class T>
class TensorStorage {
  public:
    using Maker = std::function<DeviceBuffer<T>(const Stream&, Where)>;
    explicit TensorStorage(Maker maker) : maker_(std::move(maker)) {}
    explicit TensorStorage(DeviceBuffer<T>&& buffer) : buffer_(std::move(buffer)) {}

    DeviceBuffer<T>& on(const Stream& stream, Where where) {
        const std::lock_guard<std::mutex> lock(mutex_);
        if (!buffer_) {
            buffer_ = maker_(stream, where);
            maker_ = nullptr;
        }
        return *buffer_;
    }

  private:
    std::mutex mutex_;
    Maker maker_;
    std::optional<DeviceBuffer<T>> buffer_;
};

template <class T>
inline constexpr bool always_false = false;

}  // namespace detail

template <class T>
class Partition;
template <class T>
class MappedPartition;

template <class T>
class [[nodiscard]] Tensor {
  public:
    using element_type = T;

    Tensor(TensorShape shape, std::shared_ptr<detail::TensorStorage<T>> storage) : shape_(shape), storage_(std::move(storage)) {}
    Tensor(Tensor&&) noexcept = default;
    Tensor& operator=(Tensor&&) noexcept = default;
    Tensor(const Tensor&) = delete;

    [[nodiscard]] const TensorShape& shape(Where where = Where::here()) const {
        live(where);
        return shape_;
    }
    [[nodiscard]] std::size_t size(Where where = Where::here()) const { return shape(where).size(); }

    // Cut into tiles of that shape; a tile at the end may reach beyond the tensor.
    [[nodiscard]] Partition<T> partition(TensorShape tile, Where where = Where::here()) &&;
    template <class Never = void>
    Partition<T> partition(TensorShape, Where = Where::here()) & {
        static_assert(detail::always_false<Never>,
                      "error[E0382]: a partition owns its tensor: write std::move(tensor).partition({..}), and get the tensor back with "
                      "unpartition()");
    }

    [[nodiscard]] std::vector<T> to_host(const Stream& stream, Where where = Where::here()) const {
        return live(where).on(stream, where).to_host(stream, where);
    }

    // For the launchers: the same elements under another name.
    [[nodiscard]] Tensor shared(Where where) const {
        live(where);
        return Tensor(shape_, storage_);
    }
    detail::TensorStorage<T>& live(Where where) const {
        if (!storage_) detail::throw_moved_from("tensor", where);
        return *storage_;
    }

  private:
    TensorShape shape_;
    std::shared_ptr<detail::TensorStorage<T>> storage_;
};

template <class T>
class [[nodiscard]] Partition {
  public:
    using element_type = T;

    Partition(Tensor<T>&& tensor, TensorShape tile) : tensor_(std::move(tensor)), tile_(tile) {}
    Partition(Partition&&) noexcept = default;
    Partition& operator=(Partition&&) noexcept = default;
    template <class Other>
    requires std::is_same_v<Other, Partition> Partition(Other& other) : tensor_(std::move(other.tensor_)) {
        static_assert(detail::always_false<Other>,
                      "error[E0382]: a launch takes its outputs and hands them back: write std::move(output)");
    }

    [[nodiscard]] const TensorShape& tile() const { return tile_; }
    [[nodiscard]] const TensorShape& shape(Where where = Where::here()) const { return tensor_.shape(where); }
    [[nodiscard]] Tensor<T> unpartition() && { return std::move(tensor_); }
    // Tiles on each axis of a launch's grid: axis k counts tiles of axis k; above three axes the leading ones are one.
    [[nodiscard]] Dim3 grid(Where where = Where::here()) const {
        const TensorShape& all = tensor_.shape(where);
        std::array<std::uint64_t, 3> tiles{1, 1, 1};
        const unsigned together = tile_.rank() > 3 ? tile_.rank() - 2 : 1;
        for (unsigned k = 0; k < tile_.rank(); ++k) {
            const auto extent = static_cast<std::uint64_t>(all[k]), step = static_cast<std::uint64_t>(tile_[k]);
            tiles[k < together ? 0 : k - together + 1] *= (extent + step - 1) / step;
        }
        return {tiles[0], tiles[1], tiles[2]};
    }
    const Tensor<T>& tensor() const { return tensor_; }

    // For kernels that go through the tiles themselves, `blocks` blocks together. `map` has an entry for each axis: how many
    // tiles neighbouring blocks take of it before they go on along the others; 0: a block has the whole axis.
    [[nodiscard]] MappedPartition<T> map(std::initializer_list<std::int32_t> map, std::uint32_t blocks, Where where = Where::here()) &&;

  private:
    Tensor<T> tensor_;
    TensorShape tile_;
};

template <class T>
class [[nodiscard]] MappedPartition {
  public:
    using element_type = T;

    MappedPartition(Partition<T>&& partition, std::array<std::int32_t, kMaxRank> map, std::uint32_t blocks)
        : partition_(std::move(partition)), map_(map), blocks_(blocks) {}
    MappedPartition(MappedPartition&&) noexcept = default;
    MappedPartition& operator=(MappedPartition&&) noexcept = default;

    [[nodiscard]] const TensorShape& tile() const { return partition_.tile(); }
    [[nodiscard]] const TensorShape& shape(Where where = Where::here()) const { return partition_.shape(where); }
    [[nodiscard]] Tensor<T> unpartition() && { return std::move(partition_).unpartition(); }
    [[nodiscard]] const std::array<std::int32_t, kMaxRank>& map() const { return map_; }
    [[nodiscard]] std::uint32_t blocks() const { return blocks_; }
    const Tensor<T>& tensor() const { return partition_.tensor(); }

  private:
    Partition<T> partition_;
    std::array<std::int32_t, kMaxRank> map_;
    std::uint32_t blocks_;
};

// Every block has something to do, so that there are not more than tiles on the axes that blocks go along.
template <class T>
MappedPartition<T> Partition<T>::map(std::initializer_list<std::int32_t> map, std::uint32_t blocks, Where where) && {
    const TensorShape& all = shape(where);
    if (map.size() != all.rank() || map.size() > 3) {
        throw Error(ErrorCode::InvalidArgument, "a map has an entry for each of one to three axes; the tensor has " + std::to_string(all.rank()), where);
    }
    std::array<std::int32_t, kMaxRank> entries{};
    std::uint64_t tiles = 1;
    unsigned k = 0;
    for (const std::int32_t entry : map) {
        if (entry < 0) throw Error(ErrorCode::InvalidArgument, "an entry of a map is 0 or more, not " + std::to_string(entry), where);
        entries[k] = entry;
        if (entry != 0) tiles *= (static_cast<std::uint64_t>(all[k]) + static_cast<std::uint64_t>(tile_[k]) - 1) / static_cast<std::uint64_t>(tile_[k]);
        ++k;
    }
    if (blocks == 0 || blocks > tiles) {
        throw Error(ErrorCode::InvalidArgument, std::to_string(blocks) + " blocks for " + std::to_string(tiles) + " tiles: there are 1 to as many as tiles", where);
    }
    return MappedPartition<T>(std::move(*this), entries, blocks);
}

template <class T>
Partition<T> Tensor<T>::partition(TensorShape tile, Where where) && {
    live(where);
    if (tile.rank() != shape_.rank()) {
        throw Error(ErrorCode::InvalidArgument, "a tensor of shape " + shape_.text() + " has no partition into tiles of shape " + tile.text(), where);
    }
    return Partition<T>(std::move(*this), tile);
}

// Every element is `value`.
template <DeviceCopy T>
[[nodiscard]] Tensor<T> full(TensorShape shape, T value) {
    return Tensor<T>(shape, std::make_shared<detail::TensorStorage<T>>([count = shape.size(), value](const Stream& stream, Where where) {
        const std::vector<T> elements(count, value);
        return DeviceBuffer<T>::from_host(stream, elements, where);
    }));
}
template <DeviceCopy T>
[[nodiscard]] Tensor<T> ones(TensorShape shape) {
    return full<T>(shape, static_cast<T>(1));
}
template <DeviceCopy T>
[[nodiscard]] Tensor<T> zeros(TensorShape shape) {
    return Tensor<T>(shape, std::make_shared<detail::TensorStorage<T>>([count = shape.size()](const Stream& stream, Where where) {
        return DeviceBuffer<T>::zeroed(stream, count, where);
    }));
}
// The elements of a host vector, row-major. The vector is copied now.
template <DeviceCopy T>
[[nodiscard]] Tensor<T> tensor(TensorShape shape, std::vector<T> elements, Where where = Where::here()) {
    if (elements.size() != shape.size()) {
        throw Error(ErrorCode::InvalidArgument, std::to_string(elements.size()) + " elements for a tensor of shape " + shape.text(), where);
    }
    return Tensor<T>(shape, std::make_shared<detail::TensorStorage<T>>([held = std::move(elements)](const Stream& stream, Where at) {
        return DeviceBuffer<T>::from_host(stream, held, at);
    }));
}

}  // namespace ock
