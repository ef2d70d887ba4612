// Float arithmetic rounded towards zero, down or up, on the host's own rounding modes. Operands come from
// memory and results go there, so the compiler cannot move the arithmetic past the calls that set the mode.
#include <cfenv>

#include "emu/float_formats.hpp"

namespace ockc::emu {
namespace {

using namespace baseline;
using ptx::Form;
using ptx::Type;

class HostRounding {
  public:
    explicit HostRounding(Round round) {
        switch (round) {
            case Round::Rz: std::fesetround(FE_TOWARDZERO); break;
            case Round::Rm: std::fesetround(FE_DOWNWARD); break;
            case Round::Rp: std::fesetround(FE_UPWARD); break;
            default: break;
        }
    }
    ~HostRounding() { std::fesetround(FE_TONEAREST); }
};

template <class T>
struct AddOf {
    static typename T::Bits apply(typename T::Bits a, typename T::Bits b, typename T::Bits) {
        return T::add(a, b);
    }
};
template <class T>
struct SubOf {
    static typename T::Bits apply(typename T::Bits a, typename T::Bits b, typename T::Bits) {
        return T::sub(a, b);
    }
};
template <class T>
struct MulOf {
    static typename T::Bits apply(typename T::Bits a, typename T::Bits b, typename T::Bits) {
        return T::mul(a, b);
    }
};
template <class T>
struct FmaOf {
    static typename T::Bits apply(typename T::Bits a, typename T::Bits b, typename T::Bits c) {
        return T::fma(a, b, c);
    }
};
template <class T>
struct DivOf {
    static typename T::Bits apply(typename T::Bits a, typename T::Bits b, typename T::Bits) {
        return T::div(a, b);
    }
};
template <class T>
struct RcpOf {
    static typename T::Bits apply(typename T::Bits a, typename T::Bits, typename T::Bits) {
        return T::div(T::one(), a);
    }
};
template <class T>
struct SqrtOf {
    static typename T::Bits apply(typename T::Bits a, typename T::Bits, typename T::Bits) {
        return T::sqrt(a);
    }
};

template <class T, class F>
const Op* run_rounded(const Op& op, Warp& warp) {
    using Bits = typename T::Bits;
    const auto source = [&](std::uint32_t i) {
        return warp.lanes<Bits>(op.source[i] != kNoSlot ? op.source[i] : op.source[0]);
    };
    const Bits* a = source(0);
    const Bits* b = source(1);
    const Bits* c = source(2);
    Bits* out = warp.lanes<Bits>(op.dest);
    const HostRounding mode(op.round);
    each_active(warp, [&](std::uint32_t i) {
        Bits r =
            op.ftz ? F::apply(T::flush(a[i]), T::flush(b[i]), T::flush(c[i])) : F::apply(a[i], b[i], c[i]);
        if (op.ftz) r = T::flush(r);
        out[i] = op.sat ? T::saturate(r) : r;
    });
    return &op + 1;
}

template <template <class> class F>
Handlers by_type(Type type) {
    if (type == Type::F32) return same(run_rounded<Single, F<Single>>);
    if (type == Type::F64) return same(run_rounded<Double, F<Double>>);
    return {};  // the halves only round to nearest
}

}  // namespace

Handlers select_float_rounded(const Request& request) {
    const Type type = request.mods.type;
    switch (request.form) {
        case Form::AddF: return by_type<AddOf>(type);
        case Form::SubF: return by_type<SubOf>(type);
        case Form::MulF: return by_type<MulOf>(type);
        case Form::Fma: return by_type<FmaOf>(type);
        case Form::DivF: return by_type<DivOf>(type);
        case Form::Rcp: return by_type<RcpOf>(type);
        case Form::Sqrt: return by_type<SqrtOf>(type);
        default: return {};
    }
}

}  // namespace ockc::emu
