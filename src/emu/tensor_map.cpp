// The limits of tensor maps as the driver's manual states them.
#include "emu/tensor_map.hpp"

namespace ockc::emu {

namespace {

constexpr std::uint64_t kTensorAlign = 16;   // of the address, the strides and a row of the box
constexpr std::uint64_t kMostTensorStride = std::uint64_t{1} << 40;
constexpr std::uint64_t kMostTensorDim = std::uint64_t{1} << 32;
constexpr std::uint32_t kMostBox = 256, kMostStep = 8;

bool tensor_strides_fit(const TensorRequest& request) {
    std::uint64_t least = request.dims[0] * tensor_element_bytes(request.type);
    for (std::uint32_t d = 1; d < request.rank; ++d) {
        const std::uint64_t stride = request.strides[d - 1];
        if (stride % kTensorAlign != 0 || stride >= kMostTensorStride || stride < least) return false;
        least = stride;
    }
    return true;
}

bool tensor_boxes_fit(const TensorRequest& request) {
    for (std::uint32_t d = 0; d < request.rank; ++d) {
        const bool dim = request.dims[d] != 0 && request.dims[d] <= kMostTensorDim;
        const bool box = request.box[d] != 0 && request.box[d] <= kMostBox;
        const bool step = request.steps[d] != 0 && request.steps[d] <= kMostStep;
        if (!dim || !box || !step) return false;
    }
    const std::uint32_t row = request.box[0] * tensor_element_bytes(request.type), swizzle = swizzle_bytes(request.swizzle);
    return row % kTensorAlign == 0 && (swizzle == 0 || row <= swizzle);
}

}  // namespace

bool encode_tensor_map(const TensorRequest& request, TensorMap& map) {
    if (request.rank == 0 || request.rank > kMostDims || request.address % kTensorAlign != 0) return false;
    if (request.fill_nan && request.type <= TensorType::S64) return false;
    if (!tensor_strides_fit(request) || !tensor_boxes_fit(request)) return false;
    map = {};
    map.magic = kTensorMapMagic;
    map.address = request.address;
    map.rank = static_cast<std::uint8_t>(request.rank);
    map.type = request.type;
    map.swizzle = request.swizzle;
    map.fill_nan = request.fill_nan;
    for (std::uint32_t d = 0; d < request.rank; ++d) {
        map.dims[d] = static_cast<std::uint32_t>(request.dims[d] - 1);
        map.box[d] = static_cast<std::uint16_t>(request.box[d]);
        map.steps[d] = static_cast<std::uint8_t>(d == 0 ? 1 : request.steps[d]);   // the fastest dimension has no step
        if (d != 0) map.strides[d - 1] = request.strides[d - 1];
    }
    return true;
}

}  // namespace ockc::emu
