// How a scalar function becomes a handler: loops over the 32 lanes of register slots that the compiler turns
// into vector code. The files that include this header (exec_int, exec_float, exec_convert, exec_move,
// exec_memory) are compiled once for the baseline and once for AVX2, each in the namespace OCKC_EMU_ISA;
// isa.cpp picks one set at run time. So that no AVX2 code can leak into the baseline, everything here lives
// in that namespace and calls no library function.
//
// A scalar function is a struct with lane types D (result) and A, B, C, .. (operands), all unsigned integers
// as wide as the register, and `static D apply(..)`. Floats are bit patterns outside of apply.
#pragma once
#include <cstdint>

#include "emu/isa.hpp"
#include "emu/machine.hpp"

#ifndef OCKC_EMU_ISA
#define OCKC_EMU_ISA baseline
#endif

// Source and destination may be the same slot, never slots that overlap in part: lanes are independent.
#if defined(__clang__)
#define OCKC_EMU_LANES _Pragma("clang loop vectorize(assume_safety)")
#else
#define OCKC_EMU_LANES _Pragma("GCC ivdep")
#endif

namespace ockc::emu::OCKC_EMU_ISA {

using U8 = std::uint8_t;
using U16 = std::uint16_t;
using U32 = std::uint32_t;
using U64 = std::uint64_t;
using S8 = std::int8_t;
using S16 = std::int16_t;
using S32 = std::int32_t;
using S64 = std::int64_t;
using U128 = unsigned __int128;
using S128 = __int128;

template <class To, class From>
inline To bit_to(From value) {
    static_assert(sizeof(To) == sizeof(From));
    return __builtin_bit_cast(To, value);
}

template <class T>
struct UnsignedOf;
template <>
struct UnsignedOf<U8> {
    using Type = U8;
};
template <>
struct UnsignedOf<S8> {
    using Type = U8;
};
template <>
struct UnsignedOf<U16> {
    using Type = U16;
};
template <>
struct UnsignedOf<S16> {
    using Type = U16;
};
template <>
struct UnsignedOf<U32> {
    using Type = U32;
};
template <>
struct UnsignedOf<S32> {
    using Type = U32;
};
template <>
struct UnsignedOf<U64> {
    using Type = U64;
};
template <>
struct UnsignedOf<S64> {
    using Type = U64;
};
template <class T>
using Unsigned = typename UnsignedOf<T>::Type;

template <class T>
struct WideOf;
template <>
struct WideOf<U16> {
    using Type = U32;
};
template <>
struct WideOf<S16> {
    using Type = S32;
};
template <>
struct WideOf<U32> {
    using Type = U64;
};
template <>
struct WideOf<S32> {
    using Type = S64;
};
template <>
struct WideOf<U64> {
    using Type = U128;
};
template <>
struct WideOf<S64> {
    using Type = S128;
};
template <class T>
using Wide = typename WideOf<T>::Type;

template <class T>
inline constexpr bool kSigned = T(-1) < T(0);
template <class T>
inline constexpr unsigned kBits = sizeof(T) * 8;

// Stores `value(lane)` in the active lanes of `out`.
template <bool kFull, class D, class Value>
inline void store_lanes(const Warp& warp, D* out, Value value) {
    OCKC_EMU_LANES
    for (U32 lane = 0; lane < kLanes; ++lane) {
        if constexpr (kFull) {
            out[lane] = value(lane);
        } else {
            out[lane] = warp.lane_mask[lane] != 0 ? static_cast<D>(value(lane)) : out[lane];
        }
    }
}

template <class F, bool kFull>
const Op* run1(const Op& op, Warp& warp) {
    const auto* a = warp.lanes<typename F::A>(op.source[0]);
    store_lanes<kFull>(warp, warp.lanes<typename F::D>(op.dest), [=](U32 i) { return F::apply(a[i]); });
    return &op + 1;
}
template <class F, bool kFull>
const Op* run2(const Op& op, Warp& warp) {
    const auto* a = warp.lanes<typename F::A>(op.source[0]);
    const auto* b = warp.lanes<typename F::B>(op.source[1]);
    store_lanes<kFull>(warp, warp.lanes<typename F::D>(op.dest), [=](U32 i) { return F::apply(a[i], b[i]); });
    return &op + 1;
}
template <class F, bool kFull>
const Op* run3(const Op& op, Warp& warp) {
    const auto* a = warp.lanes<typename F::A>(op.source[0]);
    const auto* b = warp.lanes<typename F::B>(op.source[1]);
    const auto* c = warp.lanes<typename F::C>(op.source[2]);
    store_lanes<kFull>(warp, warp.lanes<typename F::D>(op.dest),
                       [=](U32 i) { return F::apply(a[i], b[i], c[i]); });
    return &op + 1;
}
template <class F, bool kFull>
const Op* run4(const Op& op, Warp& warp) {
    const auto* a = warp.lanes<typename F::A>(op.source[0]);
    const auto* b = warp.lanes<typename F::B>(op.source[1]);
    const auto* c = warp.lanes<typename F::C>(op.source[2]);
    const auto* d = warp.lanes<typename F::E>(op.source[3]);
    store_lanes<kFull>(warp, warp.lanes<typename F::D>(op.dest),
                       [=](U32 i) { return F::apply(a[i], b[i], c[i], d[i]); });
    return &op + 1;
}

template <class F>
inline Handlers unary() {
    return {run1<F, true>, run1<F, false>};
}
template <class F>
inline Handlers binary() {
    return {run2<F, true>, run2<F, false>};
}
template <class F>
inline Handlers ternary() {
    return {run3<F, true>, run3<F, false>};
}
template <class F>
inline Handlers quaternary() {
    return {run4<F, true>, run4<F, false>};
}
inline Handlers same(Handler handler) {
    return {handler, handler};
}

// One bit per lane of `test(lane)`; inactive lanes give whatever they give.
template <class Test>
inline U32 gather_mask(Test test) {
    U32 words[kLanes];
    OCKC_EMU_LANES
    for (U32 lane = 0; lane < kLanes; ++lane)
        words[lane] = test(lane) ? 1u << lane : 0u;
    U32 mask = 0;
    for (U32 lane = 0; lane < kLanes; ++lane)
        mask |= words[lane];
    return mask;
}
inline void set_predicate(Warp& warp, Slot slot, U32 value) {
    U32& out = warp.predicate(slot);
    out = (out & ~warp.active) | (value & warp.active);
}

// Calls `each(lane)` for the active lanes, lowest first; for work that has side effects or cannot be vector
// code.
template <class Each>
inline void each_active(const Warp& warp, Each each) {
    for (U32 lanes = warp.active; lanes != 0; lanes &= lanes - 1)
        each(static_cast<U32>(__builtin_ctz(lanes)));
}

}  // namespace ockc::emu::OCKC_EMU_ISA
