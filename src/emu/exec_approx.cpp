// The hardware's approximate functions. The emulator rounds the true value once, which is inside every
// documented bound; special values follow the manual's tables. The results differ from a GPU's in the last
// bits, as documented.
#include <cmath>

#include "emu/float_formats.hpp"

namespace ockc::emu {
namespace {

using namespace baseline;
using ptx::Form;
using ptx::Type;

template <double (*kFunction)(double)>
const Op* run_f32(const Op& op, Warp& warp) {
    const std::uint32_t* a = warp.lanes<std::uint32_t>(op.source[0]);
    std::uint32_t* out = warp.lanes<std::uint32_t>(op.dest);
    each_active(warp, [&](std::uint32_t i) {
        const std::uint32_t in = op.ftz ? Single::flush(a[i]) : a[i];
        const std::uint32_t r = Single::bits(static_cast<float>(kFunction(Single::value(in))));
        out[i] = op.ftz ? Single::flush(r) : r;
    });
    return &op + 1;
}
// One half, or two side by side.
template <double (*kFunction)(double), class T, bool kFtz>
const Op* run_half(const Op& op, Warp& warp) {
    using Bits = typename T::Bits;
    const Bits* a = warp.lanes<Bits>(op.source[0]);
    Bits* out = warp.lanes<Bits>(op.dest);
    each_active(warp, [&](std::uint32_t i) {
        const auto one = [&](auto element, auto bits) {
            using E = decltype(element);
            const bool flush = kFtz || op.ftz;
            const auto r = E::bits(kFunction(E::value(flush ? E::flush(bits) : bits)));
            return flush ? E::flush(r) : r;
        };
        out[i] = T::map(a[i], one);
    });
    return &op + 1;
}
template <class E>
struct OneHalf {
    using Bits = U16;
    template <class F>
    static U16 map(U16 a, F f) {
        return f(E{}, a);
    }
};
template <class E>
struct TwoHalves {
    using Bits = U32;
    template <class F>
    static U32 map(U32 a, F f) {
        return static_cast<U32>(f(E{}, static_cast<U16>(a))) | static_cast<U32>(f(E{}, static_cast<U16>(a >> 16))) << 16;
    }
};
const Op* run_rsqrt_f64(const Op& op, Warp& warp) {
    const std::uint64_t* a = warp.lanes<std::uint64_t>(op.source[0]);
    std::uint64_t* out = warp.lanes<std::uint64_t>(op.dest);
    each_active(warp, [&](std::uint32_t i) {
        out[i] = Double::result(1.0 / std::sqrt(Double::value(a[i])), a[i], a[i]);
    });
    return &op + 1;
}

double rcp(double a) {
    return 1.0 / a;
}
double rsqrt(double a) {
    return 1.0 / std::sqrt(a);
}
double root(double a) {
    return std::sqrt(a);
}
double power_of_two(double a) {
    return std::exp2(a);
}
double log_of_two(double a) {
    return std::log2(a);
}
double sine(double a) {
    return std::sin(a);
}
double cosine(double a) {
    return std::cos(a);
}
double tangent(double a) {
    return std::tanh(a);
}

// a * (1/b): divisors above 2^126 have a subnormal reciprocal, which the hardware takes for zero.
float div_approx(float a, float b) {
    const float size = std::fabs(b);
    if (size > 0x1p126f && !std::isinf(b))
        return std::isinf(a) || std::isnan(a) ? NAN : std::copysign(0.0f, a) * std::copysign(1.0f, b);
    return static_cast<float>(static_cast<double>(a) / static_cast<double>(b));
}
float div_full(float a, float b) {
    return a / b;
}

template <float (*kFunction)(float, float)>
const Op* run_div(const Op& op, Warp& warp) {
    const std::uint32_t* a = warp.lanes<std::uint32_t>(op.source[0]);
    const std::uint32_t* b = warp.lanes<std::uint32_t>(op.source[1]);
    std::uint32_t* out = warp.lanes<std::uint32_t>(op.dest);
    each_active(warp, [&](std::uint32_t i) {
        const float x = Single::value(op.ftz ? Single::flush(a[i]) : a[i]);
        const float y = Single::value(op.ftz ? Single::flush(b[i]) : b[i]);
        const std::uint32_t r = Single::bits(kFunction(x, y));
        out[i] = op.ftz ? Single::flush(r) : r;
    });
    return &op + 1;
}

template <double (*kFunction)(double), bool kFtz = false>
Handlers by_type(Type type) {
    switch (type) {
        case Type::F16: return same(run_half<kFunction, OneHalf<Half>, kFtz>);
        case Type::BF16: return same(run_half<kFunction, OneHalf<Brain>, kFtz>);
        case Type::F16X2: return same(run_half<kFunction, TwoHalves<Half>, kFtz>);
        case Type::BF16X2: return same(run_half<kFunction, TwoHalves<Brain>, kFtz>);
        default: return same(run_f32<kFunction>);
    }
}

}  // namespace

Handlers select_float_approx(const Request& request) {
    switch (request.form) {
        case Form::DivFull: return same(run_div<div_full>);
        case Form::DivApprox: return same(run_div<div_approx>);
        case Form::RcpApprox: return same(run_f32<rcp>);
        case Form::SqrtApprox: return same(run_f32<root>);
        case Form::RsqrtApprox: return same(request.mods.type == Type::F64 ? run_rsqrt_f64 : run_f32<rsqrt>);
        case Form::Ex2Approx: return by_type<power_of_two>(request.mods.type);
        case Form::Ex2ApproxBf16: return by_type<power_of_two, true>(request.mods.type);
        case Form::Lg2Approx: return same(run_f32<log_of_two>);
        case Form::SinApprox: return same(run_f32<sine>);
        case Form::CosApprox: return same(run_f32<cosine>);
        case Form::TanhApprox: return by_type<tangent>(request.mods.type);
        default: return {};
    }
}

}  // namespace ockc::emu
