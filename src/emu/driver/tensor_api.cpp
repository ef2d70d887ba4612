// cuTensorMapEncodeTiled.
#include <cstdint>

#include "emu/driver/state.hpp"
#include "emu/tensor_map.hpp"

using namespace ockc::emu;
using namespace ockc::emu::driver;

// Interleaved tensors are not emulated: they are refused as a wrong value.
OCKC_CUDA_EXPORT CUresult cuTensorMapEncodeTiled(void* out, int type, std::uint32_t rank, void* address, const std::uint64_t* dims,
                                                 const std::uint64_t* strides, const std::uint32_t* box, const std::uint32_t* steps,
                                                 int interleave, int swizzle, int promotion, int fill) {
    constexpr int kTypes = 13, kSwizzles = 4, kPromotions = 4, kFills = 2;
    const auto below = [](int value, int count) { return value >= 0 && value < count; };
    const bool pointers = dims != nullptr && box != nullptr && steps != nullptr && (strides != nullptr || rank == 1);
    const bool aligned = out != nullptr && reinterpret_cast<std::uintptr_t>(out) % alignof(TensorMap) == 0;
    const bool values = below(type, kTypes) && below(swizzle, kSwizzles) && below(promotion, kPromotions) && below(fill, kFills) && interleave == 0;
    if (!pointers || !aligned || !values) return code(Result::InvalidValue);
    TensorRequest request;
    request.type = static_cast<TensorType>(type);
    request.swizzle = static_cast<TensorSwizzle>(swizzle);
    request.fill_nan = fill != 0;
    request.rank = rank;
    request.address = reinterpret_cast<std::uintptr_t>(address);
    request.dims = dims;
    request.strides = strides;
    request.box = box;
    request.steps = steps;
    return encode_tensor_map(request, *static_cast<TensorMap*>(out)) ? 0 : code(Result::InvalidValue);
}
