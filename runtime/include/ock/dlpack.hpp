// Tensors of other frameworks (PyTorch, CuPy, JAX, TVM) as kernel arguments, without a copy. Optional:
// include it where <dlpack/dlpack.h> is on the include path; ock has no copy of that header. Both functions
// borrow: whoever owns the memory keeps it alive, and orders its own streams with the launches.
#pragma once
#include <dlpack/dlpack.h>

#include <cstdint>
#include <ock/buffer.hpp>
#include <string>
#include <type_traits>

namespace ock {

namespace detail {

template <class T>
constexpr DLDataType dlpack_type() {
    using Bare = std::remove_const_t<T>;
    constexpr auto bits = static_cast<std::uint8_t>(sizeof(Bare) * 8);
    if constexpr (std::is_same_v<Bare, bool>) {
        return {kDLBool, bits, 1};
    } else if constexpr (std::is_same_v<Bare, bf16>) {
        return {kDLBfloat, bits, 1};
    } else if constexpr (std::is_same_v<Bare, f16> || std::is_floating_point_v<Bare>) {
        return {kDLFloat, bits, 1};
    } else {
        static_assert(std::is_integral_v<Bare>, "DLPack has no name for this element type");
        return {static_cast<std::uint8_t>(std::is_signed_v<Bare> ? kDLInt : kDLUInt), bits, 1};
    }
}

// True when the elements stand in row-major order without gaps. Axes of extent 1 may have any stride.
inline bool is_contiguous(const DLTensor& tensor) {
    if (tensor.strides == nullptr) return true;
    std::int64_t expected = 1;
    for (int axis = tensor.ndim - 1; axis >= 0; --axis) {
        if (tensor.shape[axis] != 1 && tensor.strides[axis] != expected) return false;
        expected *= tensor.shape[axis];
    }
    return true;
}

}  // namespace detail

// The elements of a contiguous CUDA tensor of T. `DevSpan<const T>` for tensors that are only to be read.
template <class T>
[[nodiscard]] DevSpan<T> from_dlpack(const DLTensor& tensor, Where where = Where::here()) {
    const auto refuse = [&](const std::string& why) {
        throw Error(ErrorCode::InvalidArgument, "the DLPack tensor " + why, where);
    };
    const DLDeviceType device = tensor.device.device_type;
    if (device != kDLCUDA && device != kDLCUDAManaged) refuse("is not on a CUDA device");
    const DLDataType wanted = detail::dlpack_type<T>();
    if (tensor.dtype.code != wanted.code || tensor.dtype.bits != wanted.bits || tensor.dtype.lanes != 1) {
        refuse("has elements of another type: code " + std::to_string(tensor.dtype.code) + ", " +
               std::to_string(tensor.dtype.bits) + " bits, " + std::to_string(tensor.dtype.lanes) + " lanes");
    }
    std::uint64_t size = 1;
    for (int axis = 0; axis < tensor.ndim; ++axis) {
        if (tensor.shape[axis] < 0) refuse("has a negative extent");
        size *= static_cast<std::uint64_t>(tensor.shape[axis]);
    }
    if (size != 0 && !detail::is_contiguous(tensor)) refuse("is not contiguous");
    const auto address = reinterpret_cast<std::uintptr_t>(tensor.data) + tensor.byte_offset;
    if (size != 0 && address % alignof(T) != 0) refuse("is not aligned to its elements");
    return DevSpan<T>(reinterpret_cast<T*>(address), static_cast<std::size_t>(size));
}

// A one-dimensional DLTensor over device memory. It points into itself: keep it where it is while it is in
// use.
template <class T>
class DlpackView {
  public:
    explicit DlpackView(DevSpan<T> span, int device_id = 0) : size_(static_cast<std::int64_t>(span.size())) {
        tensor_.data = const_cast<std::remove_const_t<T>*>(span.data());
        tensor_.device = {kDLCUDA, device_id};
        tensor_.ndim = 1;
        tensor_.dtype = detail::dlpack_type<T>();
        tensor_.shape = &size_;
        tensor_.strides = nullptr;
        tensor_.byte_offset = 0;
    }
    DlpackView(const DlpackView&) = delete;
    DlpackView& operator=(const DlpackView&) = delete;

    [[nodiscard]] const DLTensor& tensor() const { return tensor_; }

  private:
    std::int64_t size_;
    DLTensor tensor_{};
};

}  // namespace ock
