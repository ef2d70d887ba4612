// Values as they cross the launch: what Rust's scalar types are in C++, and proofs that the layouts agree.
// f16, bf16, i128 and u128 are carriers: storage with conversions, no arithmetic.
#pragma once
#if !defined(__CUDACC__) && __cplusplus < 202002L && !(defined(_MSVC_LANG) && _MSVC_LANG >= 202002L)
#error "the launcher headers of ockc need C++20: compile with -std=c++20"
#include <ock/needs-cxx20>   // no such file: the compiler stops here
#endif
#include <bit>
#include <climits>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace ock {

// The number of this header/runtime contract; a generated header asserts the one that it was written for.
inline constexpr int kRuntimeAbi = 3;

// IEEE binary16: Rust's f16, CUDA's __half.
struct f16 {
    std::uint16_t bits = 0;

    f16() = default;
    constexpr explicit f16(float value) : bits(from_f32(value)) {}
    static constexpr f16 from_bits(std::uint16_t bits) {
        f16 result;
        result.bits = bits;
        return result;
    }
    constexpr explicit operator float() const {
        const std::uint32_t sign = static_cast<std::uint32_t>(bits & 0x8000u) << 16;
        const std::uint32_t magnitude = bits & 0x7fffu;
        if (magnitude >= 0x7c00u) {  // infinity, NaN: the payload moves up
            return std::bit_cast<float>(sign | 0x7f800000u | ((magnitude & 0x3ffu) << 13));
        }
        if (magnitude >= 0x0400u) return std::bit_cast<float>(sign | ((magnitude << 13) + 0x38000000u));
        const float subnormal = static_cast<float>(magnitude) * 0x1p-24f;
        return std::bit_cast<float>(sign | std::bit_cast<std::uint32_t>(subnormal));
    }
    friend constexpr bool operator==(f16 a, f16 b) { return static_cast<float>(a) == static_cast<float>(b); }

  private:
    static constexpr std::uint16_t from_f32(float value) {
        const std::uint32_t all = std::bit_cast<std::uint32_t>(value);
        const std::uint32_t sign = (all >> 16) & 0x8000u;
        const std::uint32_t magnitude = all & 0x7fffffffu;
        std::uint32_t half = 0;
        if (magnitude > 0x7f800000u) {
            half = 0x7e00u | ((magnitude >> 13) & 0x3ffu);  // NaN, made quiet
        } else if (magnitude >= 0x477ff000u) {
            half = 0x7c00u;  // rounds to 65536 or more
        } else if (magnitude >= 0x38800000u) {
            half = (magnitude - 0x38000000u + 0xfffu + ((magnitude >> 13) & 1u)) >>
                   13;  // to nearest, ties to even
        } else {
            // Subnormal halves are multiples of 2^-24, the spacing of floats in [0.5, 1): the addition
            // rounds.
            half = std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude) + 0.5f) - 0x3f000000u;
        }
        return static_cast<std::uint16_t>(sign | half);
    }
};

// The upper half of an f32: Rust's bf16, CUDA's __nv_bfloat16.
struct bf16 {
    std::uint16_t bits = 0;

    bf16() = default;
    constexpr explicit bf16(float value) : bits(from_f32(value)) {}
    static constexpr bf16 from_bits(std::uint16_t bits) {
        bf16 result;
        result.bits = bits;
        return result;
    }
    constexpr explicit operator float() const {
        return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
    }
    friend constexpr bool operator==(bf16 a, bf16 b) {
        return static_cast<float>(a) == static_cast<float>(b);
    }

  private:
    static constexpr std::uint16_t from_f32(float value) {
        const std::uint32_t all = std::bit_cast<std::uint32_t>(value);
        if ((all & 0x7fffffffu) > 0x7f800000u)
            return static_cast<std::uint16_t>((all >> 16) | 0x40u);  // quiet NaN
        return static_cast<std::uint16_t>((all + 0x7fffu + ((all >> 16) & 1u)) >>
                                          16);  // to nearest, ties to even
    }
};

namespace detail {
#ifdef __SIZEOF_INT128__
__extension__ typedef __int128 int128;
__extension__ typedef unsigned __int128 uint128;
#endif
// The upper 64 bits of a number of up to 64 bits: its sign.
template <class Int>
constexpr std::int64_t high_half(Int value) {
    if constexpr (std::is_signed_v<Int>) {
        return value < 0 ? -1 : 0;
    } else {
        return static_cast<void>(value), 0;
    }
}
}  // namespace detail

// Rust's u128 and i128: 16 bytes, aligned to 16, low half first.
struct alignas(16) u128 {
    std::uint64_t low = 0;
    std::uint64_t high = 0;

    u128() = default;
    // From integers that are not negative; numbers of 128 bits convert where the compiler has them.
    template <std::unsigned_integral Int>
    constexpr u128(Int value)  // NOLINT: widening is implicit
        : low(static_cast<std::uint64_t>(value)), high(static_cast<std::uint64_t>(detail::high_half(value))) {}
    template <std::signed_integral Int>
    constexpr explicit u128(Int value)
        : low(static_cast<std::uint64_t>(value)), high(static_cast<std::uint64_t>(detail::high_half(value))) {}
    constexpr u128(std::uint64_t high_half, std::uint64_t low_half) : low(low_half), high(high_half) {}
#ifdef __SIZEOF_INT128__
    constexpr u128(detail::uint128 value)  // NOLINT: the same number
        : low(static_cast<std::uint64_t>(value)), high(static_cast<std::uint64_t>(value >> 64)) {}
    constexpr explicit operator detail::uint128() const { return static_cast<detail::uint128>(high) << 64 | low; }
#endif
    friend constexpr bool operator==(const u128&, const u128&) = default;
};
struct alignas(16) i128 {
    std::uint64_t low = 0;
    std::int64_t high = 0;

    i128() = default;
    template <std::integral Int>
    constexpr i128(Int value)  // NOLINT: widening is implicit
        : low(static_cast<std::uint64_t>(value)), high(static_cast<std::int64_t>(detail::high_half(value))) {}
    constexpr i128(std::int64_t high_half, std::uint64_t low_half) : low(low_half), high(high_half) {}
#ifdef __SIZEOF_INT128__
    constexpr i128(detail::int128 value)  // NOLINT: the same number
        : low(static_cast<std::uint64_t>(value)), high(static_cast<std::int64_t>(value >> 64)) {}
    constexpr explicit operator detail::int128() const {
        return static_cast<detail::int128>(static_cast<detail::uint128>(static_cast<std::uint64_t>(high)) << 64 | low);
    }
#endif
    friend constexpr bool operator==(const i128&, const i128&) = default;
};

static_assert(std::endian::native == std::endian::little && CHAR_BIT == 8);
static_assert(sizeof(bool) == 1 && sizeof(char32_t) == 4 && sizeof(float) == 4 && sizeof(double) == 8);
static_assert(alignof(std::uint64_t) == 8 && alignof(double) == 8 && sizeof(void*) == 8);
static_assert(sizeof(f16) == 2 && sizeof(bf16) == 2 && alignof(f16) == 2 && alignof(bf16) == 2);
static_assert(sizeof(u128) == 16 && alignof(u128) == 16 && sizeof(i128) == 16 && alignof(i128) == 16);

// What a device buffer may hold: bytes are copied, nothing is constructed or destroyed.
template <class T>
concept DeviceCopy = std::is_trivially_copyable_v<T> && !std::is_const_v<T> && !std::is_volatile_v<T> &&
                     !std::is_reference_v<T> && !std::is_pointer_v<T>;

}  // namespace ock
