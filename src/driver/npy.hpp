// NumPy's .npy files: arrays of scalars with a shape. Versions 1 to 3, little endian, C order.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "abi/kernel_abi.hpp"
#include "support/result.hpp"

namespace ockc::driver {

struct Array {
    abi::Scalar type = abi::Scalar::F32;
    std::vector<std::uint64_t> shape;
    std::string bytes;                      // elements in C order
    std::uint64_t size() const;             // number of elements
};

Result<Array> parse_npy(std::string_view file);
// bf16 has no type in NumPy: it is written, and read back, as its bits (u2).
std::string format_npy(const Array& array);

}  // namespace ockc::driver
