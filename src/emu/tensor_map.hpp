// The 128 bytes of a tensor map as the emulator writes them (tensor_map.cpp) and reads them (exec_tensor.cpp): opaque to
// everybody else, as a GPU's are.
#pragma once
#include <cstdint>

namespace ockc::emu {

inline constexpr std::uint32_t kMostDims = 5;

// Numbers as in the driver's interface.
enum class TensorType : std::uint8_t { U8, U16, U32, S32, U64, S64, F16, F32, F64, BF16, F32Ftz, TF32, TF32Ftz };
enum class TensorSwizzle : std::uint8_t { None, B32, B64, B128 };

constexpr std::uint32_t tensor_element_bytes(TensorType type) {
    switch (type) {
        case TensorType::U8: return 1;
        case TensorType::U16:
        case TensorType::F16:
        case TensorType::BF16: return 2;
        case TensorType::U64:
        case TensorType::S64:
        case TensorType::F64: return 8;
        default: return 4;
    }
}
// Bytes of a row of the box that a swizzle permutes; 0: none.
constexpr std::uint32_t swizzle_bytes(TensorSwizzle swizzle) {
    return swizzle == TensorSwizzle::None ? 0 : 16u << static_cast<unsigned>(swizzle);
}
// The swizzle exchanges the 16-byte pieces of a row by the number of the row, both taken from the address.
constexpr std::uint64_t swizzled(std::uint64_t address, TensorSwizzle swizzle) {
    const std::uint32_t bytes = swizzle_bytes(swizzle);
    return bytes == 0 ? address : address ^ ((address >> 3) & (bytes - 16));
}

inline constexpr std::uint64_t kTensorMapMagic = 0x6f63'6b54'656e'736full;
struct alignas(64) TensorMap {
    std::uint64_t magic = 0;
    std::uint64_t address = 0;
    std::uint64_t strides[kMostDims - 1] = {};   // bytes, of the second dimension onward
    std::uint32_t dims[kMostDims] = {};          // elements less one; the fastest first
    std::uint16_t box[kMostDims] = {};
    std::uint8_t steps[kMostDims] = {};          // every so manieth element of the box is copied
    std::uint8_t rank = 0;
    TensorType type = TensorType::U8;
    TensorSwizzle swizzle = TensorSwizzle::None;
    bool fill_nan = false;
    std::uint8_t unused[128 - 8 - 8 - 32 - 20 - 10 - 5 - 4 - 1] = {};
};
static_assert(sizeof(TensorMap) == 128);

// What a map is made of; `strides` of rank - 1, the others of rank elements.
struct TensorRequest {
    TensorType type = TensorType::U8;
    TensorSwizzle swizzle = TensorSwizzle::None;
    bool fill_nan = false;
    std::uint32_t rank = 0;
    std::uint64_t address = 0;
    const std::uint64_t* dims = nullptr;
    const std::uint64_t* strides = nullptr;
    const std::uint32_t* box = nullptr;
    const std::uint32_t* steps = nullptr;
};
// False when a limit is broken.
bool encode_tensor_map(const TensorRequest& request, TensorMap& map);

}  // namespace ockc::emu
