// Float arithmetic to nearest. Other rounding modes: exec_rounded.cpp; approximations: exec_approx.cpp.
#include "emu/float_formats.hpp"

namespace ockc::emu::OCKC_EMU_ISA {
namespace {

using ptx::Form;
using ptx::Mode;
using ptx::Type;

// One operation over format T, with .ftz on operands and result and .sat on the result.
template <class T, bool kFtz, bool kSat>
struct Shaped {
    using Bits = typename T::Bits;
    using D = Bits;
    using A = Bits;
    using B = Bits;
    using C = Bits;
    static Bits in(Bits a) { return kFtz ? T::flush(a) : a; }
    static Bits out(Bits r) {
        if (kFtz) r = T::flush(r);
        return kSat ? T::saturate(r) : r;
    }
};
template <class T, bool kFtz, bool kSat>
struct Add : Shaped<T, kFtz, kSat> {
    using S = Shaped<T, kFtz, kSat>;
    static typename T::Bits apply(typename T::Bits a, typename T::Bits b) {
        return S::out(T::add(S::in(a), S::in(b)));
    }
};
template <class T, bool kFtz, bool kSat>
struct Sub : Shaped<T, kFtz, kSat> {
    using S = Shaped<T, kFtz, kSat>;
    static typename T::Bits apply(typename T::Bits a, typename T::Bits b) {
        return S::out(T::sub(S::in(a), S::in(b)));
    }
};
template <class T, bool kFtz, bool kSat>
struct Mul : Shaped<T, kFtz, kSat> {
    using S = Shaped<T, kFtz, kSat>;
    static typename T::Bits apply(typename T::Bits a, typename T::Bits b) {
        return S::out(T::mul(S::in(a), S::in(b)));
    }
};
template <class T, bool kFtz, bool kSat>
struct Fma : Shaped<T, kFtz, kSat> {
    using S = Shaped<T, kFtz, kSat>;
    static typename T::Bits apply(typename T::Bits a, typename T::Bits b, typename T::Bits c) {
        return S::out(T::fma(S::in(a), S::in(b), S::in(c)));
    }
};
template <class T, bool kFtz>
struct Div : Shaped<T, kFtz, false> {
    using S = Shaped<T, kFtz, false>;
    static typename T::Bits apply(typename T::Bits a, typename T::Bits b) {
        return S::out(T::div(S::in(a), S::in(b)));
    }
};
template <class T, bool kFtz>
struct Rcp : Shaped<T, kFtz, false> {
    using S = Shaped<T, kFtz, false>;
    static typename T::Bits apply(typename T::Bits a) { return S::out(T::div(T::one(), S::in(a))); }
};
template <class T, bool kFtz>
struct Sqrt : Shaped<T, kFtz, false> {
    using S = Shaped<T, kFtz, false>;
    static typename T::Bits apply(typename T::Bits a) { return S::out(T::sqrt(S::in(a))); }
};
template <class T, bool kFtz>
struct Abs : Shaped<T, kFtz, false> {
    using S = Shaped<T, kFtz, false>;
    static typename T::Bits apply(typename T::Bits a) { return T::abs(S::in(a)); }
};
template <class T, bool kFtz>
struct Neg : Shaped<T, kFtz, false> {
    using S = Shaped<T, kFtz, false>;
    static typename T::Bits apply(typename T::Bits a) { return T::neg(S::in(a)); }
};
template <class T, bool kFtz, bool kMax, bool kNan>
struct Pick : Shaped<T, kFtz, false> {
    using S = Shaped<T, kFtz, false>;
    static typename T::Bits apply(typename T::Bits a, typename T::Bits b) {
        return PickOf<T, kMax, kNan>::apply(S::in(a), S::in(b));
    }
};
template <class T, bool kFtz, bool kMax, bool kNan>
struct PickMagnitude : Shaped<T, kFtz, false> {
    using S = Shaped<T, kFtz, false>;
    static typename T::Bits apply(typename T::Bits a, typename T::Bits b) {
        return PickMagnitudeOf<T, kMax, kNan>::apply(S::in(a), S::in(b));
    }
};
template <class T, bool kFtz>
struct FmaRelu : Shaped<T, kFtz, false> {
    using S = Shaped<T, kFtz, false>;
    static typename T::Bits apply(typename T::Bits a, typename T::Bits b, typename T::Bits c) {
        return T::relu(S::out(T::fma(S::in(a), S::in(b), S::in(c))));
    }
};
template <class T>
struct Copysign : Shaped<T, false, false> {
    static typename T::Bits apply(typename T::Bits a, typename T::Bits b) {
        return (b & ~T::kSign) | (a & T::kSign);
    }
};

// Zero counts as normal.
template <class Bits, unsigned kFraction>
bool has_property(Bits a, Mode mode) {
    constexpr unsigned kWidth = sizeof(Bits) * 8;
    const Bits exponent = (a >> kFraction) & ((Bits{1} << (kWidth - 1 - kFraction)) - 1);
    const Bits fraction = a & ((Bits{1} << kFraction) - 1);
    const bool top = exponent == (Bits{1} << (kWidth - 1 - kFraction)) - 1;
    switch (mode) {
        case Mode::Finite: return !top;
        case Mode::Infinite: return top && fraction == 0;
        case Mode::Number: return !top || fraction == 0;
        case Mode::NotANumber: return top && fraction != 0;
        case Mode::Normal: return !top && (exponent != 0 || fraction == 0);
        case Mode::Subnormal: return exponent == 0 && fraction != 0;
        default: return false;
    }
}
template <class Bits, unsigned kFraction>
const Op* run_testp(const Op& op, Warp& warp) {
    const Bits* a = warp.lanes<Bits>(op.source[0]);
    set_predicate(warp, op.dest,
                  gather_mask([&](U32 i) { return has_property<Bits, kFraction>(a[i], op.mode); }));
    return &op + 1;
}

// -----------------------------------------------------------------------------------------------------------
// selection

template <template <class, bool, bool> class F, class T>
Handlers flagged2(bool ftz, bool sat) {
    if (sat) return ftz ? binary<F<T, true, true>>() : binary<F<T, false, true>>();
    return ftz ? binary<F<T, true, false>>() : binary<F<T, false, false>>();
}
template <template <class, bool, bool> class F>
Handlers by_float2(const ptx::Mods& m) {
    switch (m.type) {
        case Type::F16: return flagged2<F, Half>(m.ftz, m.sat);
        case Type::BF16: return flagged2<F, Brain>(m.ftz, m.sat);
        case Type::F16X2: return flagged2<F, Pair<Half>>(m.ftz, m.sat);
        case Type::BF16X2: return flagged2<F, Pair<Brain>>(m.ftz, m.sat);
        case Type::F32: return flagged2<F, Single>(m.ftz, m.sat);
        case Type::F64: return binary<F<Double, false, false>>();
        default: return {};
    }
}
template <class T>
Handlers flagged_fma(bool ftz, bool sat) {
    if (sat) return ftz ? ternary<Fma<T, true, true>>() : ternary<Fma<T, false, true>>();
    return ftz ? ternary<Fma<T, true, false>>() : ternary<Fma<T, false, false>>();
}
Handlers fma(const ptx::Mods& m) {
    switch (m.type) {
        case Type::F16: return flagged_fma<Half>(m.ftz, m.sat);
        case Type::BF16: return flagged_fma<Brain>(m.ftz, m.sat);
        case Type::F16X2: return flagged_fma<Pair<Half>>(m.ftz, m.sat);
        case Type::BF16X2: return flagged_fma<Pair<Brain>>(m.ftz, m.sat);
        case Type::F32: return flagged_fma<Single>(m.ftz, m.sat);
        case Type::F64: return ternary<Fma<Double, false, false>>();
        default: return {};
    }
}
template <template <class, bool> class F>
Handlers by_float1(const ptx::Mods& m) {
    switch (m.type) {
        case Type::F16: return m.ftz ? unary<F<Half, true>>() : unary<F<Half, false>>();
        case Type::BF16: return unary<F<Brain, false>>();
        case Type::F16X2: return m.ftz ? unary<F<Pair<Half>, true>>() : unary<F<Pair<Half>, false>>();
        case Type::BF16X2: return unary<F<Pair<Brain>, false>>();
        case Type::F32: return m.ftz ? unary<F<Single, true>>() : unary<F<Single, false>>();
        case Type::F64: return unary<F<Double, false>>();
        default: return {};
    }
}
template <template <class, bool, bool, bool> class F, class T, bool kMax>
Handlers flagged_pick(bool ftz, bool nan) {
    if (nan) return ftz ? binary<F<T, true, kMax, true>>() : binary<F<T, false, kMax, true>>();
    return ftz ? binary<F<T, true, kMax, false>>() : binary<F<T, false, kMax, false>>();
}
template <template <class, bool, bool, bool> class F, bool kMax>
Handlers pick_by_type(const ptx::Mods& m) {
    switch (m.type) {
        case Type::F16: return flagged_pick<F, Half, kMax>(m.ftz, m.nan);
        case Type::BF16: return flagged_pick<F, Brain, kMax>(m.ftz, m.nan);
        case Type::F16X2: return flagged_pick<F, Pair<Half>, kMax>(m.ftz, m.nan);
        case Type::BF16X2: return flagged_pick<F, Pair<Brain>, kMax>(m.ftz, m.nan);
        case Type::F32: return flagged_pick<F, Single, kMax>(m.ftz, m.nan);
        default: return {};
    }
}
template <bool kMax>
Handlers extreme(const ptx::Mods& m) {
    return m.type == Type::F64 ? flagged_pick<Pick, Double, kMax>(false, m.nan) : pick_by_type<Pick, kMax>(m);
}
template <class T>
Handlers flagged_relu(bool ftz) {
    return ftz ? ternary<FmaRelu<T, true>>() : ternary<FmaRelu<T, false>>();
}
Handlers fma_relu(const ptx::Mods& m) {
    switch (m.type) {
        case Type::F16: return flagged_relu<Half>(m.ftz);
        case Type::BF16: return flagged_relu<Brain>(m.ftz);
        case Type::F16X2: return flagged_relu<Pair<Half>>(m.ftz);
        case Type::BF16X2: return flagged_relu<Pair<Brain>>(m.ftz);
        default: return {};
    }
}
template <template <class, bool> class F>
Handlers by_wide_float1(const ptx::Mods& m) {
    if (m.type == Type::F64) return unary<F<Double, false>>();
    return m.ftz ? unary<F<Single, true>>() : unary<F<Single, false>>();
}
Handlers div(const ptx::Mods& m) {
    if (m.type == Type::F64) return binary<Div<Double, false>>();
    return m.ftz ? binary<Div<Single, true>>() : binary<Div<Single, false>>();
}
bool directed(Round round) {
    return round == Round::Rz || round == Round::Rm || round == Round::Rp;
}

}  // namespace

Handlers select_float_arith(const Request& request) {
    const ptx::Mods& m = request.mods;
    if (directed(m.round)) return select_float_rounded(request);
    switch (request.form) {
        case Form::AddF: return by_float2<Add>(m);
        case Form::SubF: return by_float2<Sub>(m);
        case Form::MulF: return by_float2<Mul>(m);
        case Form::Fma: return fma(m);
        case Form::DivF: return div(m);
        case Form::AbsF: return by_float1<Abs>(m);
        case Form::NegF: return by_float1<Neg>(m);
        case Form::FmaRelu: return fma_relu(m);
        case Form::MinF: return extreme<false>(m);
        case Form::MaxF: return extreme<true>(m);
        case Form::MinXorsign: return pick_by_type<PickMagnitude, false>(m);
        case Form::MaxXorsign: return pick_by_type<PickMagnitude, true>(m);
        case Form::Copysign:
            return m.type == Type::F64 ? binary<Copysign<Double>>() : binary<Copysign<Single>>();
        case Form::Testp: return same(m.type == Type::F64 ? run_testp<U64, 52> : run_testp<U32, 23>);
        case Form::Rcp: return by_wide_float1<Rcp>(m);
        case Form::Sqrt: return by_wide_float1<Sqrt>(m);
        default: return {};
    }
}

}  // namespace ockc::emu::OCKC_EMU_ISA
