// Conversions that kernels are full of, as lane code; convert.cpp has the others.
#include "emu/convert.hpp"
#include "emu/float_formats.hpp"

namespace ockc::emu::OCKC_EMU_ISA {
namespace {

using ptx::Form;
using ptx::Type;

// Integer to integer without saturation, any register widths: cut to the source type, extend, cut to the
// destination type, extend. `sign` is the type's top bit if it is signed, else 0.
struct Cut {
    U64 mask;
    U64 sign;
    U64 operator()(U64 v) const { return ((v & mask) ^ sign) - sign; }
};
Cut cut_to(Type type) {
    switch (type) {
        case Type::U8: return {0xFF, 0};
        case Type::S8: return {0xFF, 0x80};
        case Type::U16: return {0xFFFF, 0};
        case Type::S16: return {0xFFFF, 0x8000};
        case Type::U32: return {0xFFFF'FFFFu, 0};
        case Type::S32: return {0xFFFF'FFFFu, 0x8000'0000u};
        default: return {~U64{0}, 0};
    }
}
template <class From, class To, bool kFull>
const Op* run_int(const Op& op, Warp& warp) {
    const From* a = warp.lanes<From>(op.source[0]);
    const Cut from = cut_to(op.source_type);
    const Cut to = cut_to(op.type);
    store_lanes<kFull>(warp, warp.lanes<To>(op.dest),
                       [=](U32 i) { return static_cast<To>(to(from(U64{a[i]}))); });
    return &op + 1;
}
template <class From, class To>
Handlers any_int() {
    return {run_int<From, To, true>, run_int<From, To, false>};
}
template <class From>
Handlers any_int_from(U32 dest_bytes) {
    switch (dest_bytes) {
        case 2: return any_int<From, U16>();
        case 4: return any_int<From, U32>();
        default: return any_int<From, U64>();
    }
}

template <class From, class To>
struct Cast {  // between registers as wide as their types
    using A = Unsigned<From>;
    using D = To;
    static D apply(A a) { return static_cast<D>(static_cast<From>(a)); }
};
template <class From>
struct ToSingle {
    using A = Unsigned<From>;
    using D = U32;
    static D apply(A a) { return bit_to<U32>(static_cast<float>(static_cast<From>(a))); }
};
template <class From>
struct ToDouble {
    using A = Unsigned<From>;
    using D = U64;
    static D apply(A a) { return bit_to<U64>(static_cast<double>(static_cast<From>(a))); }
};
struct SingleToDouble {
    using A = U32;
    using D = U64;
    static D apply(A a) { return bit_to<U64>(static_cast<double>(bit_to<float>(a))); }
};
struct SingleToInt {  // towards zero
    using A = U32;
    using D = U32;
    static D apply(A a) {
        const float v = bit_to<float>(a);
        const bool inside = v > -0x1p31f && v < 0x1p31f;
        const S32 whole = static_cast<S32>(inside ? v : 0.0f);
        const U32 outside = v >= 0x1p31f ? 0x7FFF'FFFFu : v <= -0x1p31f ? 0x8000'0000u : 0u;
        return inside ? static_cast<U32>(whole) : outside;
    }
};
struct HalfToSingle {
    using A = U16;
    using D = U32;
    static D apply(A a) { return bit_to<U32>(half_to_float(a)); }
};
struct BrainToSingle {
    using A = U16;
    using D = U32;
    static D apply(A a) { return static_cast<U32>(a) << 16; }
};
struct SingleToHalf {
    using A = U32;
    using D = U16;
    static D apply(A a) { return static_cast<U16>(narrow<5, 10>(bit_to<float>(a), Round::Rn)); }
};
struct SingleToBrain {
    using A = U32;
    using D = U16;
    static D apply(A a) {
        const U32 rounded = a + 0x7FFFu + ((a >> 16) & 1);
        return static_cast<U16>((a & 0x7FFF'FFFFu) > 0x7F80'0000u ? 0x7FFFu : rounded >> 16);
    }
};
template <Round kRound, bool kRelu>
struct Tf32 {
    using A = U32;
    using D = U32;
    static D apply(A a) {
        const float v = bit_to<float>(a);
        if (is_nan(v)) return Single::kNan;
        return kRelu && (a & Single::kSign) != 0 ? 0 : narrow<8, 10>(v, kRound) << 13;
    }
};
template <bool kRelu>
Handlers tf32(Round round) {
    return round == Round::Rz ? unary<Tf32<Round::Rz, kRelu>>() : unary<Tf32<Round::Rn, kRelu>>();
}

Handlers int_to_int(const Request& r) {
    const ptx::Mods& m = r.mods;
    const bool natural =
        r.dest_bytes * 8u == ptx::type_bits(m.type) && r.source_bytes * 8u == ptx::type_bits(m.source_type);
    if (natural && r.source_bytes == 4 && r.dest_bytes == 8) {
        return m.source_type == Type::S32 ? unary<Cast<S32, U64>>() : unary<Cast<U32, U64>>();
    }
    if (natural && r.source_bytes == 8 && r.dest_bytes == 4) return unary<Cast<U64, U32>>();
    switch (r.source_bytes) {
        case 2: return any_int_from<U16>(r.dest_bytes);
        case 4: return any_int_from<U32>(r.dest_bytes);
        default: return any_int_from<U64>(r.dest_bytes);
    }
}

// The common conversions to a float, to nearest, from a register as wide as its type.
Handlers to_float(const Request& r) {
    const ptx::Mods& m = r.mods;
    const bool natural = r.source_bytes * 8u == ptx::type_bits(m.source_type);
    if (!natural || m.sat || m.ftz || (m.round != Round::Rn && m.round != Round::None)) return {};
    if (m.type == Type::F32) {
        switch (m.source_type) {
            case Type::U32: return unary<ToSingle<U32>>();
            case Type::S32: return unary<ToSingle<S32>>();
            case Type::U64: return unary<ToSingle<U64>>();
            case Type::S64: return unary<ToSingle<S64>>();
            case Type::F16: return unary<HalfToSingle>();
            case Type::BF16: return unary<BrainToSingle>();
            default: return {};
        }
    }
    if (m.type == Type::F64) {
        switch (m.source_type) {
            case Type::U32: return unary<ToDouble<U32>>();
            case Type::S32: return unary<ToDouble<S32>>();
            case Type::U64: return unary<ToDouble<U64>>();
            case Type::S64: return unary<ToDouble<S64>>();
            case Type::F32: return unary<SingleToDouble>();
            default: return {};
        }
    }
    if (m.source_type != Type::F32) return {};
    return m.type == Type::F16    ? unary<SingleToHalf>()
           : m.type == Type::BF16 ? unary<SingleToBrain>()
                                  : Handlers{};
}

bool is_int(Type type) {
    return type >= Type::U8 && type <= Type::S64;
}

Handlers conversion(const Request& r) {
    const ptx::Mods& m = r.mods;
    if (is_int(m.type) && is_int(m.source_type)) return m.sat ? same(run_convert) : int_to_int(r);
    if (m.type == Type::S32 && m.source_type == Type::F32 && m.round == Round::Rzi && !m.ftz &&
        r.dest_bytes == 4) {
        return unary<SingleToInt>();
    }
    const Handlers fast = is_int(m.type) ? Handlers{} : to_float(r);
    return fast.valid() ? fast : same(run_convert);
}

}  // namespace

Handlers select_convert(const Request& request) {
    switch (request.form) {
        case Form::Cvt: return conversion(request);
        case Form::CvtTf32: return unary<Tf32<Round::Rna, false>>();
        case Form::CvtTf32Rounded: return tf32<false>(request.mods.round);
        case Form::CvtTf32Relu: return tf32<true>(request.mods.round);
        case Form::CvtPack: return same(run_convert_pack);
        case Form::CvtPackRelu: return same(run_convert_pack_relu);
        case Form::CvtFp8:
        case Form::CvtFp8Relu:
        case Form::CvtFp8Half:
        case Form::CvtFp8HalfRelu:
        case Form::CvtHalfFp8:
        case Form::CvtHalfFp8Relu: return same(fp8_handler(request.form, request.mods));
        default: return {};
    }
}

}  // namespace ockc::emu::OCKC_EMU_ISA
