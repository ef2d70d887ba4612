// Tensor maps: what a kernel's `&TmaDescriptor` is on the host. A map says where a tensor is in device memory and which boxes of
// it the kernel copies; it is made once, checked here, and goes with each launch by value. It refers to memory as a
// DevSpan does: who owns that orders the streams.
#pragma once
#include <array>
#include <cstdint>
#include <ock/buffer.hpp>
#include <string>
#include <type_traits>
#include <vector>

namespace ock {

// How the 16-byte pieces of a box's rows are exchanged in shared memory, so that columns are read without bank conflicts. A row of
// the box is at most that long.
enum class Swizzle : std::uint8_t { None, Bytes32, Bytes64, Bytes128 };
// How far a copy of a box reaches ahead in the second cache.
enum class Promotion : std::uint8_t { None, Bytes64, Bytes128, Bytes256 };
// What elements outside of the tensor are in a box.
enum class Outside : std::uint8_t { Zero, NaN };

// Extents of all kinds are one for each axis, outermost first, as in a shape; the kernel's coordinates come the other way round.
struct TensorMapOptions {
    std::vector<std::uint64_t> shape;
    std::vector<std::uint32_t> box;
    std::vector<std::uint64_t> strides = {};   // elements, of all axes but the last; empty: row by row
    std::vector<std::uint32_t> steps = {};     // every so manieth element of the box is copied; empty: each
    Swizzle swizzle = Swizzle::None;
    Promotion promotion = Promotion::Bytes256;
    Outside outside = Outside::Zero;
};

class alignas(64) TensorMap {
  public:
    TensorMap() = default;
    [[nodiscard]] const void* data() const { return bits_.data(); }   // the 128 bytes, which only the device understands

  private:
    std::array<std::uint64_t, 16> bits_{};
};
static_assert(sizeof(TensorMap) == 128);

namespace detail {

// The driver's number for the type of the elements; -1: tensors have no such elements.
template <class T>
constexpr int tensor_type() {
    using U = std::remove_cv_t<T>;
    if constexpr (std::is_same_v<U, f16>) return 6;
    else if constexpr (std::is_same_v<U, bf16>) return 9;
    else if constexpr (std::is_same_v<U, float>) return 7;
    else if constexpr (std::is_same_v<U, double>) return 8;
    else if constexpr (!std::is_integral_v<U> || std::is_same_v<U, bool>) return -1;
    else if constexpr (sizeof(U) == 1) return 0;
    else if constexpr (sizeof(U) == 2) return 1;
    else if constexpr (sizeof(U) == 4) return std::is_signed_v<U> ? 3 : 2;
    else return std::is_signed_v<U> ? 5 : 4;
}

}  // namespace detail

// Checks what the driver would only call a wrong value.
class TensorMapBuilder {
  public:
    TensorMapBuilder(const TensorMapOptions& options, int type, std::uint64_t element_bytes, Where where)
        : options_(options), where_(where), type_(type), element_bytes_(element_bytes) {}

    TensorMap build(const driver::Api& api, std::uint64_t address, std::uint64_t elements) {
        check_axes();
        check_memory(address, elements);
        check_box();
        if (api.cuTensorMapEncodeTiled == nullptr) throw Error(ErrorCode::Driver, "this driver makes no tensor maps", where_);
        TensorMap map;
        const driver::CUresult code = api.cuTensorMapEncodeTiled(
            &map, type_, static_cast<std::uint32_t>(rank_), reinterpret_cast<void*>(static_cast<std::uintptr_t>(address)), dims_.data(), strides_.data(),
            box_.data(), steps_.data(), 0, static_cast<int>(options_.swizzle), static_cast<int>(options_.promotion), static_cast<int>(options_.outside));
        if (code != driver::kSuccess) detail::throw_driver_error(api, code, "making a tensor map", where_);
        return map;
    }

  private:
    static constexpr std::size_t kMostAxes = 5;
    static constexpr std::uint64_t kMostExtent = std::uint64_t{1} << 32, kMostStride = std::uint64_t{1} << 40;
    static constexpr std::uint32_t kMostBox = 256, kMostStep = 8, kAlign = 16;

    [[noreturn]] void wrong(const std::string& what) const { throw Error(ErrorCode::InvalidArgument, "tensor map: " + what, where_); }
    void need(bool holds, const std::string& what) const {
        if (!holds) wrong(what);
    }

    // Everything the other way round: the driver's first dimension is the fastest.
    void check_axes() {
        rank_ = options_.shape.size();
        need(rank_ >= 1 && rank_ <= kMostAxes, "a tensor has 1 to 5 axes, not " + std::to_string(rank_));
        need(options_.box.size() == rank_, "the box has " + std::to_string(options_.box.size()) + " axes, the tensor " + std::to_string(rank_));
        need(options_.strides.empty() || options_.strides.size() == rank_ - 1, "there is a stride for each axis but the last");
        need(options_.steps.empty() || options_.steps.size() == rank_, "there is a step for each axis");
        std::uint64_t packed = 1;
        for (std::size_t d = 0; d < rank_; ++d) {
            const std::size_t axis = rank_ - 1 - d;
            dims_[d] = options_.shape[axis];
            box_[d] = options_.box[axis];
            steps_[d] = options_.steps.empty() ? 1 : options_.steps[axis];
            need(dims_[d] >= 1 && dims_[d] <= kMostExtent, "axis " + std::to_string(axis) + " has extent " + std::to_string(dims_[d]));
            need(steps_[d] >= 1 && steps_[d] <= kMostStep, "the step of axis " + std::to_string(axis) + " is not 1 to 8");
            need(d != 0 || steps_[d] == 1, "the last axis has no step");
            packed *= dims_[d];
            if (axis == 0) break;
            const std::uint64_t stride = options_.strides.empty() ? packed : options_.strides[axis - 1];
            need(stride >= (d == 0 ? dims_[0] : strides_[d - 1] / element_bytes_), "the stride of axis " + std::to_string(axis - 1) + " is shorter than what lies in it");
            strides_[d] = stride * element_bytes_;
            need(strides_[d] % kAlign == 0 && strides_[d] < kMostStride,
                 "the stride of axis " + std::to_string(axis - 1) + " is " + std::to_string(strides_[d]) + " bytes: it must be a multiple of 16 below 2^40");
        }
    }

    void check_memory(std::uint64_t address, std::uint64_t elements) const {
        need(address % kAlign == 0, "the memory does not begin at a multiple of 16 bytes");
        std::uint64_t last = dims_[0] - 1;
        for (std::size_t d = 1; d < rank_; ++d) last += (dims_[d] - 1) * (strides_[d - 1] / element_bytes_);
        need(last < elements, "the tensor has an element " + std::to_string(last) + ", the memory only " + std::to_string(elements));
    }

    void check_box() const {
        for (std::size_t d = 0; d < rank_; ++d) {
            need(box_[d] >= 1 && box_[d] <= kMostBox, "the box has extent " + std::to_string(box_[d]) + " on axis " + std::to_string(rank_ - 1 - d) + ": 1 to 256 are possible");
        }
        const std::uint64_t row = box_[0] * element_bytes_;
        need(row % kAlign == 0, "a row of the box has " + std::to_string(row) + " bytes: it must be a multiple of 16");
        const std::uint64_t swizzle = options_.swizzle == Swizzle::None ? row : std::uint64_t{16} << static_cast<unsigned>(options_.swizzle);
        need(row <= swizzle, "a row of the box has " + std::to_string(row) + " bytes, more than the swizzle's " + std::to_string(swizzle));
        constexpr int kFirstFloat = 6;
        need(options_.outside == Outside::Zero || type_ >= kFirstFloat, "only floats can be NaN outside of the tensor");
    }

    const TensorMapOptions& options_;
    Where where_;
    int type_;
    std::uint64_t element_bytes_;
    std::size_t rank_ = 0;
    std::array<std::uint64_t, kMostAxes> dims_{}, strides_{};
    std::array<std::uint32_t, kMostAxes> box_{}, steps_{};
};

// A map of the tensor in that memory.
//
//     auto map = ock::tensor_map(a, {.shape = {rows, columns}, .box = {64, 64}, .swizzle = ock::Swizzle::Bytes128});
template <class T>
[[nodiscard]] TensorMap tensor_map(DeviceBuffer<T>& memory, const TensorMapOptions& options, Where where = Where::here()) {
    static_assert(detail::tensor_type<T>() >= 0, "elements of a tensor map are numbers of 8 to 64 bits");
    auto& live = memory.live(where);
    return TensorMapBuilder(options, detail::tensor_type<T>(), sizeof(T), where).build(live.context(where).api(), live.address(), live.bytes() / sizeof(T));
}
template <class T>
[[nodiscard]] Result<TensorMap> try_tensor_map(DeviceBuffer<T>& memory, const TensorMapOptions& options, Where where = Where::here()) {
    return attempt([&] { return tensor_map(memory, options, where); });
}

}  // namespace ock
