// The VALUE of `--arg NAME=VALUE` as bytes: scalars, .npy files, and arrays that are zeros, ones, counting up or random.
#pragma once
#include <string>

#include "abi/kernel_abi.hpp"
#include "driver/npy.hpp"
#include "support/result.hpp"

namespace ockc::driver {

// The first element that no value of the type has: a bool above 1, a char that is no Unicode scalar value.
std::optional<std::uint64_t> invalid_element(abi::Scalar type, std::string_view bytes);
// `3`, `-2`, `2.5`, `true`, `'a'`-less: as one element of the type.
Result<std::string> parse_scalar(abi::Scalar type, const std::string& text);
bool is_nan_element(const Array& array, std::uint64_t index);

// `@file.npy`, `zeros:f32[1024]`, `ones:f32[64,64]`, `iota:i32[1024]`, `rand:f32[1024]:SEED[:LO:HI]`.
Result<Array> parse_array(const std::string& text);

// The counter-based generator behind `rand`: element i of seed s, the same on every machine. SplitMix64 of both.
std::uint64_t random_bits(std::uint64_t seed, std::uint64_t index);

// "[0, 3, 6, ..]": the first elements for a person to read.
std::string preview(const Array& array, std::size_t limit = 8);

}  // namespace ockc::driver
