// Integer arithmetic, bit fields, logic and shifts. Signed types compute in unsigned lanes, so everything
// wraps.
#include "emu/lanes.hpp"

namespace ockc::emu::OCKC_EMU_ISA {
namespace {

using ptx::Form;
using ptx::Mode;
using ptx::Type;

template <class T>
struct Int2 {
    using U = Unsigned<T>;
    using D = U;
    using A = U;
    using B = U;
};
template <class T>
struct Int3 : Int2<T> {
    using C = Unsigned<T>;
};

template <class T>
struct Add : Int2<T> {
    static Unsigned<T> apply(Unsigned<T> a, Unsigned<T> b) { return static_cast<Unsigned<T>>(a + b); }
};
template <class T>
struct Sub : Int2<T> {
    static Unsigned<T> apply(Unsigned<T> a, Unsigned<T> b) { return static_cast<Unsigned<T>>(a - b); }
};
inline U32 clamp_s32(S64 value) {
    if (value > 0x7FFF'FFFFll) return 0x7FFF'FFFFu;
    if (value < -0x8000'0000ll) return 0x8000'0000u;
    return static_cast<U32>(value);
}
struct AddSat : Int2<S32> {
    static U32 apply(U32 a, U32 b) { return clamp_s32(S64{static_cast<S32>(a)} + static_cast<S32>(b)); }
};
struct SubSat : Int2<S32> {
    static U32 apply(U32 a, U32 b) { return clamp_s32(S64{static_cast<S32>(a)} - static_cast<S32>(b)); }
};

template <class T>
inline Unsigned<T> product_low(Unsigned<T> a, Unsigned<T> b) {
    return static_cast<Unsigned<T>>(U64{a} * U64{b});
}
template <class T>
inline Unsigned<T> product_high(Unsigned<T> a, Unsigned<T> b) {
    return static_cast<Unsigned<T>>((Wide<T>(static_cast<T>(a)) * Wide<T>(static_cast<T>(b))) >> kBits<T>);
}
template <class T>
struct MulLo : Int2<T> {
    static Unsigned<T> apply(Unsigned<T> a, Unsigned<T> b) { return product_low<T>(a, b); }
};
template <class T>
struct MulHi : Int2<T> {
    static Unsigned<T> apply(Unsigned<T> a, Unsigned<T> b) { return product_high<T>(a, b); }
};
template <class T>
struct MulWide {
    using A = Unsigned<T>;
    using B = A;
    using D = Unsigned<Wide<T>>;
    static D apply(A a, B b) {
        return static_cast<D>(Wide<T>(static_cast<T>(a)) * Wide<T>(static_cast<T>(b)));
    }
};
template <class T>
struct MadLo : Int3<T> {
    static Unsigned<T> apply(Unsigned<T> a, Unsigned<T> b, Unsigned<T> c) {
        return static_cast<Unsigned<T>>(product_low<T>(a, b) + c);
    }
};
template <class T>
struct MadHi : Int3<T> {
    static Unsigned<T> apply(Unsigned<T> a, Unsigned<T> b, Unsigned<T> c) {
        return static_cast<Unsigned<T>>(product_high<T>(a, b) + c);
    }
};
struct MadHiSat : Int3<S32> {
    static U32 apply(U32 a, U32 b, U32 c) {
        return clamp_s32(S64{static_cast<S32>(product_high<S32>(a, b))} + static_cast<S32>(c));
    }
};
template <class T>
struct MadWide : MulWide<T> {
    using D = typename MulWide<T>::D;
    using C = D;
    static D apply(Unsigned<T> a, Unsigned<T> b, D c) { return static_cast<D>(MulWide<T>::apply(a, b) + c); }
};

// By zero PTX leaves the result open; ptxas folds both to all ones, and so does this. MIN / -1 wraps.
template <class T>
struct Div : Int2<T> {
    static Unsigned<T> apply(Unsigned<T> a, Unsigned<T> b) {
        if (b == 0) return static_cast<Unsigned<T>>(~Unsigned<T>{0});
        if (kSigned<T> && static_cast<T>(b) == T(-1)) return static_cast<Unsigned<T>>(0u - a);
        return static_cast<Unsigned<T>>(static_cast<T>(a) / static_cast<T>(b));
    }
};
template <class T>
struct Rem : Int2<T> {
    static Unsigned<T> apply(Unsigned<T> a, Unsigned<T> b) {
        if (b == 0) return static_cast<Unsigned<T>>(~Unsigned<T>{0});
        if (kSigned<T> && static_cast<T>(b) == T(-1)) return 0;
        return static_cast<Unsigned<T>>(static_cast<T>(a) % static_cast<T>(b));
    }
};

template <class T>
struct Neg {
    using A = Unsigned<T>;
    using D = A;
    static D apply(A a) { return static_cast<D>(0u - a); }
};
template <class T>
struct Abs : Neg<T> {
    static Unsigned<T> apply(Unsigned<T> a) { return static_cast<T>(a) < 0 ? Neg<T>::apply(a) : a; }
};
template <class T>
struct Min : Int2<T> {
    static Unsigned<T> apply(Unsigned<T> a, Unsigned<T> b) {
        return static_cast<T>(b) < static_cast<T>(a) ? b : a;
    }
};
template <class T>
struct Max : Int2<T> {
    static Unsigned<T> apply(Unsigned<T> a, Unsigned<T> b) {
        return static_cast<T>(a) < static_cast<T>(b) ? b : a;
    }
};

// -------------------------------------------------------------------------------------------------------
// bits of a word

inline U32 ones_of(U32 a) {
    return static_cast<U32>(__builtin_popcount(a));
}
inline U32 ones_of(U64 a) {
    return static_cast<U32>(__builtin_popcountll(a));
}
inline U32 leading_zeros(U32 a) {
    return a == 0 ? 32 : static_cast<U32>(__builtin_clz(a));
}
inline U32 leading_zeros(U64 a) {
    return a == 0 ? 64 : static_cast<U32>(__builtin_clzll(a));
}

template <class T>
struct Popc {
    using A = T;
    using D = U32;
    static D apply(A a) { return ones_of(a); }
};
template <class T>
struct Clz {
    using A = T;
    using D = U32;
    static D apply(A a) { return leading_zeros(a); }
};
template <class T, bool kShiftAmount>
struct Bfind {
    using A = Unsigned<T>;
    using D = U32;
    static D apply(A a) {
        if (kSigned<T> && static_cast<T>(a) < 0) a = static_cast<A>(~a);
        if (a == 0) return 0xFFFF'FFFFu;
        const U32 leading = leading_zeros(a);
        return kShiftAmount ? leading : kBits<T> - 1 - leading;
    }
};
template <class T>
struct Brev {
    using A = T;
    using D = T;
    static D apply(A a) {
        D out = 0;
        for (unsigned bit = 0; bit < kBits<T>; ++bit)
            out |= static_cast<D>((a >> bit) & 1) << (kBits<T> - 1 - bit);
        return out;
    }
};
// Position and length count modulo 256; bits beyond the top copy the sign (of the field's end, or of the
// word's top).
template <class T>
struct Bfe {
    using A = Unsigned<T>;
    using D = A;
    using B = U32;
    using C = U32;
    static D apply(A a, U32 b, U32 c) {
        const unsigned top = kBits<T> - 1;
        const unsigned position = b & 0xFF;
        const unsigned length = c & 0xFF;
        if (length == 0) return 0;
        D sign = 0;
        if (kSigned<T>) {
            const unsigned at = position + length - 1 < top ? position + length - 1 : top;
            sign = static_cast<D>(a >> at) & 1;
        }
        const D fill = sign != 0 ? static_cast<D>(~D{0}) : 0;
        const unsigned available = position <= top ? top + 1 - position : 0;
        const unsigned taken = length < available ? length : available;
        if (taken == 0) return fill;
        const D kept = taken > top ? static_cast<D>(~D{0}) : static_cast<D>((D{1} << taken) - 1);
        return static_cast<D>(((a >> position) & kept) | (fill & ~kept));
    }
};
template <class T>
struct Bfi {
    using A = T;
    using B = T;
    using C = U32;
    using E = U32;
    using D = T;
    static D apply(A a, B b, U32 c, U32 d) {
        const unsigned position = c & 0xFF;
        const unsigned length = d & 0xFF;
        if (length == 0 || position >= kBits<T>) return b;
        const T ones = length >= kBits<T> ? static_cast<T>(~T{0}) : static_cast<T>((T{1} << length) - 1);
        const T field = static_cast<T>(ones << position);
        return static_cast<T>((b & ~field) | ((a << position) & field));
    }
};

// c + the products of kCount parts of a, each of kWide bits, with bytes of b from byte kFirst on; each side as signed or
// unsigned numbers. The sum wraps.
template <bool kSignedA, bool kSignedB, unsigned kCount, unsigned kWide, unsigned kFirst>
struct DotProduct {
    using A = U32;
    using B = U32;
    using C = U32;
    using D = U32;
    static std::int32_t part(U32 word, unsigned at, unsigned width, bool is_signed) {
        const U32 up = word << (32 - at - width);
        return is_signed ? static_cast<std::int32_t>(up) >> (32 - width) : static_cast<std::int32_t>(up >> (32 - width));
    }
    static D apply(A a, B b, C c) {
        D sum = c;
        for (unsigned i = 0; i < kCount; ++i) {
            const std::int32_t x = part(a, i * kWide, kWide, kSignedA), y = part(b, (kFirst + i) * 8, 8, kSignedB);
            sum += static_cast<U32>(x) * static_cast<U32>(y);
        }
        return sum;
    }
};

// ---------------------------------------------------------------------------------------------------- logic
// and shifts

template <class T>
struct And : Int2<T> {
    static T apply(T a, T b) { return a & b; }
};
template <class T>
struct Or : Int2<T> {
    static T apply(T a, T b) { return a | b; }
};
template <class T>
struct Xor : Int2<T> {
    static T apply(T a, T b) { return a ^ b; }
};
template <class T>
struct Not {
    using A = T;
    using D = T;
    static D apply(A a) { return static_cast<T>(~a); }
};
template <class T>
struct Cnot {
    using A = T;
    using D = T;
    static D apply(A a) { return a == 0 ? 1 : 0; }
};
template <class T>
struct Shl {
    using A = T;
    using B = U32;
    using D = T;
    static D apply(A a, U32 b) { return b >= kBits<T> ? 0 : static_cast<T>(U64{a} << b); }
};
template <class T>
struct Shr {
    using A = Unsigned<T>;
    using B = U32;
    using D = A;
    static D apply(A a, U32 b) {
        if constexpr (kSigned<T>)
            return static_cast<D>(static_cast<T>(a) >> (b >= kBits<T> ? kBits<T> - 1 : b));
        else
            return b >= kBits<T> ? 0 : static_cast<D>(a >> b);
    }
};
struct Funnel {
    using A = U32;
    using B = U32;
    using C = U32;
    using D = U32;
};
inline U32 funnel_amount(U32 amount, bool wrap) {
    return wrap ? amount & 31 : amount > 32 ? 32 : amount;
}
template <bool kWrap>
struct ShfL : Funnel {
    static U32 apply(U32 a, U32 b, U32 c) {
        return static_cast<U32>((((U64{b} << 32) | a) << funnel_amount(c, kWrap)) >> 32);
    }
};
template <bool kWrap>
struct ShfR : Funnel {
    static U32 apply(U32 a, U32 b, U32 c) {
        return static_cast<U32>(((U64{b} << 32) | a) >> funnel_amount(c, kWrap));
    }
};

// The byte selectors of prmt's modes, four hexadecimal digits as in the general mode.
inline U32 byte_selectors(Mode mode, U32 c) {
    const U32 n = c & 3;
    switch (mode) {
        case Mode::F4e: return 0x3210u + 0x1111u * n;
        case Mode::B4e: {
            U32 out = 0;
            for (U32 i = 0; i < 4; ++i)
                out |= ((n + 8 - i) & 7) << (4 * i);
            return out;
        }
        case Mode::Rc8: return 0x1111u * n;
        case Mode::Ecl: {
            U32 out = 0;
            for (U32 i = 0; i < 4; ++i)
                out |= (i < n ? n : i) << (4 * i);
            return out;
        }
        case Mode::Ecr: {
            U32 out = 0;
            for (U32 i = 0; i < 4; ++i)
                out |= (i < n ? i : n) << (4 * i);
            return out;
        }
        case Mode::Rc16: return (n & 1) != 0 ? 0x3232u : 0x1010u;
        default: return c;
    }
}
template <Mode kMode>
struct Prmt : Funnel {
    static U32 apply(U32 a, U32 b, U32 c) {
        const U64 bytes = (U64{b} << 32) | a;
        const U32 selectors = byte_selectors(kMode, c);
        U32 out = 0;
        for (U32 i = 0; i < 4; ++i) {
            const U32 selector = (selectors >> (4 * i)) & 0xF;
            U32 byte = static_cast<U32>(bytes >> (8 * (selector & 7))) & 0xFF;
            if ((selector & 8) != 0) byte = (byte & 0x80) != 0 ? 0xFF : 0;  // the sign, over the whole byte
            out |= byte << (8 * i);
        }
        return out;
    }
};

// The table's bit number (a,b,c) is the result for these three bits: eight terms, of which those that are set
// are joined.
template <bool kFull>
const Op* run_lop3(const Op& op, Warp& warp) {
    const U32* a = warp.lanes<U32>(op.source[0]);
    const U32* b = warp.lanes<U32>(op.source[1]);
    const U32* c = warp.lanes<U32>(op.source[2]);
    U32 term[8];
    for (U32 i = 0; i < 8; ++i)
        term[i] = ((op.imm >> i) & 1) != 0 ? 0xFFFF'FFFFu : 0u;
    store_lanes<kFull>(warp, warp.lanes<U32>(op.dest), [=](U32 i) {
        const U32 low = (~c[i] & ((~b[i] & term[0]) | (b[i] & term[2]))) |
                        (c[i] & ((~b[i] & term[1]) | (b[i] & term[3])));
        const U32 high = (~c[i] & ((~b[i] & term[4]) | (b[i] & term[6]))) |
                         (c[i] & ((~b[i] & term[5]) | (b[i] & term[7])));
        return (~a[i] & low) | (a[i] & high);
    });
    return &op + 1;
}

// Predicates: 32 lanes in one word.
template <class F>
const Op* run_predicate2(const Op& op, Warp& warp) {
    set_predicate(warp, op.dest, F::apply(warp.predicate(op.source[0]), warp.predicate(op.source[1])));
    return &op + 1;
}
const Op* run_predicate_not(const Op& op, Warp& warp) {
    set_predicate(warp, op.dest, ~warp.predicate(op.source[0]));
    return &op + 1;
}

// -----------------------------------------------------------------------------------------------------------
// selection

template <template <class> class F>
Handlers by_int2(Type type) {
    switch (type) {
        case Type::U16: return binary<F<U16>>();
        case Type::S16: return binary<F<S16>>();
        case Type::U32: return binary<F<U32>>();
        case Type::S32: return binary<F<S32>>();
        case Type::U64: return binary<F<U64>>();
        case Type::S64: return binary<F<S64>>();
        default: return {};
    }
}
template <template <class> class F>
Handlers by_int3(Type type) {
    switch (type) {
        case Type::U16: return ternary<F<U16>>();
        case Type::S16: return ternary<F<S16>>();
        case Type::U32: return ternary<F<U32>>();
        case Type::S32: return ternary<F<S32>>();
        case Type::U64: return ternary<F<U64>>();
        case Type::S64: return ternary<F<S64>>();
        default: return {};
    }
}
template <template <class> class F>
Handlers by_signed(Type type) {
    switch (type) {
        case Type::S16: return unary<F<S16>>();
        case Type::S32: return unary<F<S32>>();
        case Type::S64: return unary<F<S64>>();
        default: return {};
    }
}
template <template <class> class F>
Handlers by_bits1(Type type) {
    switch (type) {
        case Type::B16: return unary<F<U16>>();
        case Type::B32: return unary<F<U32>>();
        case Type::B64: return unary<F<U64>>();
        default: return {};
    }
}
template <template <class> class F>
Handlers by_bits2(Type type) {
    switch (type) {
        case Type::B16: return binary<F<U16>>();
        case Type::B32: return binary<F<U32>>();
        case Type::B64: return binary<F<U64>>();
        default: return {};
    }
}
template <template <class> class F>
Handlers by_word(Type type) {
    return type == Type::B32 ? unary<F<U32>>() : type == Type::B64 ? unary<F<U64>>() : Handlers{};
}
Handlers mul_wide(Type type) {
    switch (type) {
        case Type::U16: return binary<MulWide<U16>>();
        case Type::S16: return binary<MulWide<S16>>();
        case Type::U32: return binary<MulWide<U32>>();
        case Type::S32: return binary<MulWide<S32>>();
        default: return {};
    }
}
Handlers mad_wide(Type type) {
    switch (type) {
        case Type::U16: return ternary<MadWide<U16>>();
        case Type::S16: return ternary<MadWide<S16>>();
        case Type::U32: return ternary<MadWide<U32>>();
        case Type::S32: return ternary<MadWide<S32>>();
        default: return {};
    }
}
template <bool kShiftAmount>
Handlers bfind(Type type) {
    switch (type) {
        case Type::U32: return unary<Bfind<U32, kShiftAmount>>();
        case Type::S32: return unary<Bfind<S32, kShiftAmount>>();
        case Type::U64: return unary<Bfind<U64, kShiftAmount>>();
        case Type::S64: return unary<Bfind<S64, kShiftAmount>>();
        default: return {};
    }
}
Handlers bfe(Type type) {
    switch (type) {
        case Type::U32: return ternary<Bfe<U32>>();
        case Type::S32: return ternary<Bfe<S32>>();
        case Type::U64: return ternary<Bfe<U64>>();
        case Type::S64: return ternary<Bfe<S64>>();
        default: return {};
    }
}
template <unsigned kCount, unsigned kWide, unsigned kFirst>
Handlers dot_product(Type a, Type b) {
    if (a == Type::S32) {
        return b == Type::S32 ? ternary<DotProduct<true, true, kCount, kWide, kFirst>>() : ternary<DotProduct<true, false, kCount, kWide, kFirst>>();
    }
    return b == Type::S32 ? ternary<DotProduct<false, true, kCount, kWide, kFirst>>() : ternary<DotProduct<false, false, kCount, kWide, kFirst>>();
}
Handlers prmt(Mode mode) {
    switch (mode) {
        case Mode::None: return ternary<Prmt<Mode::None>>();
        case Mode::F4e: return ternary<Prmt<Mode::F4e>>();
        case Mode::B4e: return ternary<Prmt<Mode::B4e>>();
        case Mode::Rc8: return ternary<Prmt<Mode::Rc8>>();
        case Mode::Ecl: return ternary<Prmt<Mode::Ecl>>();
        case Mode::Ecr: return ternary<Prmt<Mode::Ecr>>();
        case Mode::Rc16: return ternary<Prmt<Mode::Rc16>>();
        default: return {};
    }
}
Handlers shr(Type type) {
    switch (type) {
        case Type::B16:
        case Type::U16: return binary<Shr<U16>>();
        case Type::B32:
        case Type::U32: return binary<Shr<U32>>();
        case Type::B64:
        case Type::U64: return binary<Shr<U64>>();
        case Type::S16: return binary<Shr<S16>>();
        case Type::S32: return binary<Shr<S32>>();
        case Type::S64: return binary<Shr<S64>>();
        default: return {};
    }
}

}  // namespace

Handlers select_integer(const Request& request) {
    const Type type = request.mods.type;
    switch (request.form) {
        case Form::AddI: return request.mods.sat ? binary<AddSat>() : by_int2<Add>(type);
        case Form::SubI: return request.mods.sat ? binary<SubSat>() : by_int2<Sub>(type);
        case Form::MulLo: return by_int2<MulLo>(type);
        case Form::MulHi: return by_int2<MulHi>(type);
        case Form::MulWide: return mul_wide(type);
        case Form::MadLo: return by_int3<MadLo>(type);
        case Form::MadHi: return request.mods.sat ? ternary<MadHiSat>() : by_int3<MadHi>(type);
        case Form::MadWide: return mad_wide(type);
        case Form::DivI: return by_int2<Div>(type);
        case Form::RemI: return by_int2<Rem>(type);
        case Form::AbsI: return by_signed<Abs>(type);
        case Form::NegI: return by_signed<Neg>(type);
        case Form::MinI: return by_int2<Min>(type);
        case Form::MaxI: return by_int2<Max>(type);
        case Form::Popc: return by_word<Popc>(type);
        case Form::Clz: return by_word<Clz>(type);
        case Form::Bfind: return request.mods.shift_amount ? bfind<true>(type) : bfind<false>(type);
        case Form::Brev: return by_word<Brev>(type);
        case Form::Bfe: return bfe(type);
        case Form::Dp4a: return dot_product<4, 8, 0>(type, request.mods.source_type);
        case Form::Dp2a:
            return request.mods.mode == Mode::Lo ? dot_product<2, 16, 0>(type, request.mods.source_type)
                                                 : dot_product<2, 16, 2>(type, request.mods.source_type);
        case Form::Bfi:
            return type == Type::B32   ? quaternary<Bfi<U32>>()
                   : type == Type::B64 ? quaternary<Bfi<U64>>()
                                       : Handlers{};
        default: return {};
    }
}

Handlers select_logic(const Request& request) {
    const Type type = request.mods.type;
    const bool predicate = type == Type::Pred;
    const bool wrap = request.mods.mode == Mode::Wrap;
    switch (request.form) {
        case Form::And: return predicate ? same(run_predicate2<And<U32>>) : by_bits2<And>(type);
        case Form::Or: return predicate ? same(run_predicate2<Or<U32>>) : by_bits2<Or>(type);
        case Form::Xor: return predicate ? same(run_predicate2<Xor<U32>>) : by_bits2<Xor>(type);
        case Form::Not: return predicate ? same(run_predicate_not) : by_bits1<Not>(type);
        case Form::Cnot: return by_bits1<Cnot>(type);
        case Form::Lop3: return {run_lop3<true>, run_lop3<false>};
        case Form::Shl: return by_bits2<Shl>(type);
        case Form::Shr: return shr(type);
        case Form::ShfL: return wrap ? ternary<ShfL<true>>() : ternary<ShfL<false>>();
        case Form::ShfR: return wrap ? ternary<ShfR<true>>() : ternary<ShfR<false>>();
        case Form::Prmt: return prmt(request.mods.mode);
        default: return {};
    }
}

}  // namespace ockc::emu::OCKC_EMU_ISA
