// Every source becomes a sign and a 64-bit magnitude (integers) or an exact double (floats); every
// destination is rounded from one of these. No host rounding mode is involved: narrow() rounds a double,
// rounded_to_odd() makes an integer one.
#include "emu/convert.hpp"

#include <cmath>

#include "emu/float_formats.hpp"

namespace ockc::emu {
namespace {

using namespace baseline;
using ptx::Type;
using ptx::TypeKind;

bool is_float(Type type) {
    return ptx::type_info(type).kind == TypeKind::Float;
}
bool is_signed(Type type) {
    return ptx::type_info(type).kind == TypeKind::Signed;
}

U64 low_bits(U64 value, U32 bits) {
    return bits >= 64 ? value : value & ((U64{1} << bits) - 1);
}
U64 extend(Type type, U64 value) {
    const U32 bits = ptx::type_bits(type);
    value = low_bits(value, bits);
    if (!is_signed(type) || bits == 64) return value;
    const U64 sign = U64{1} << (bits - 1);
    return (value ^ sign) - sign;
}

struct Magnitude {
    bool negative;
    U64 value;
};
Magnitude magnitude_of(Type type, U64 raw) {
    const U64 value = extend(type, raw);
    const bool negative = is_signed(type) && static_cast<S64>(value) < 0;
    return {negative, negative ? 0 - value : value};
}

// The double nearest to an integer below 2^64 in direction `round`.
double to_double(Magnitude m, Round round) {
    const U32 width = m.value == 0 ? 0 : 64 - static_cast<U32>(__builtin_clzll(m.value));
    U64 kept = m.value;
    if (width > 53) {
        const U32 shift = width - 53;
        const U64 rest = low_bits(m.value, shift);
        const U64 half = U64{1} << (shift - 1);
        kept = m.value >> shift;
        const bool up = round == Round::Rz   ? false
                        : round == Round::Rm ? m.negative && rest != 0
                        : round == Round::Rp ? !m.negative && rest != 0
                                             : rest > half || (rest == half && (kept & 1) != 0);
        kept += up ? 1 : 0;
        const double scaled = std::ldexp(static_cast<double>(kept), static_cast<int>(shift));
        return m.negative ? -scaled : scaled;
    }
    return m.negative ? -static_cast<double>(kept) : static_cast<double>(kept);
}
// Exact up to 53 bits, otherwise with the last bit set if anything was cut off: narrowing it further rounds
// right.
double to_odd_double(Magnitude m) {
    const U32 width = m.value == 0 ? 0 : 64 - static_cast<U32>(__builtin_clzll(m.value));
    if (width <= 53) return to_double(m, Round::Rn);
    const U32 shift = width - 53;
    const U64 kept = (m.value >> shift) | (low_bits(m.value, shift) != 0 ? 1 : 0);
    const double scaled = std::ldexp(static_cast<double>(kept), static_cast<int>(shift));
    return m.negative ? -scaled : scaled;
}

double float_value(Type type, U64 raw, bool ftz) {
    switch (type) {
        case Type::F16: return half_to_float(static_cast<U16>(raw));
        case Type::BF16: return bfloat_to_float(static_cast<U16>(raw));
        case Type::F32: {
            const U32 bits = static_cast<U32>(raw);
            return Single::value(ftz ? Single::flush(bits) : bits);
        }
        default: return bit_to<double>(raw);
    }
}

U64 float_bits(Type type, double v, Round round) {
    switch (type) {
        case Type::F16: return narrow<5, 10>(v, round);
        case Type::BF16: return narrow<8, 7>(v, round);
        case Type::F32: return narrow<8, 23>(v, round);
        default: return bit_to<U64>(v);
    }
}

U64 finish_float(const Conversion& c, U64 bits) {
    switch (c.to) {
        case Type::F16: return c.sat ? Half::saturate(static_cast<U16>(bits)) : bits;
        case Type::BF16: return c.sat ? Brain::saturate(static_cast<U16>(bits)) : bits;
        case Type::F32: {
            const U32 out = c.ftz ? Single::flush(static_cast<U32>(bits)) : static_cast<U32>(bits);
            return c.sat ? Single::saturate(out) : out;
        }
        default: return c.sat ? Double::saturate(bits) : bits;
    }
}

double to_integral(double v, Round round) {
    switch (round) {
        case Round::Rni: return std::nearbyint(v);
        case Round::Rzi: return std::trunc(v);
        case Round::Rmi: return std::floor(v);
        case Round::Rpi: return std::ceil(v);
        default: return v;
    }
}

// Out of range clamps. NaN: 0 if neither side has 64 bits, else the top bit alone (the manual's rule).
U64 float_to_int(const Conversion& c, double v) {
    const U32 bits = ptx::type_bits(c.to);
    if (v != v) return c.from != Type::F64 && bits != 64 ? 0 : extend(c.to, U64{1} << (bits - 1));
    v = to_integral(v, c.round);
    if (is_signed(c.to)) {
        const double limit = std::ldexp(1.0, static_cast<int>(bits) - 1);
        if (v >= limit) return (U64{1} << (bits - 1)) - 1;
        if (v < -limit) return extend(c.to, U64{1} << (bits - 1));
        return static_cast<U64>(static_cast<S64>(v));
    }
    if (v <= 0) return 0;
    if (v >= std::ldexp(1.0, static_cast<int>(bits))) return low_bits(~U64{0}, bits);
    return static_cast<U64>(v);
}

U64 int_to_int(const Conversion& c, U64 raw) {
    if (!c.sat) return extend(c.to, extend(c.from, raw));
    const Magnitude m = magnitude_of(c.from, raw);
    const U32 bits = ptx::type_bits(c.to);
    const U64 top = is_signed(c.to) ? (U64{1} << (bits - 1)) - 1 : low_bits(~U64{0}, bits);
    if (!m.negative) return m.value > top ? top : m.value;
    if (!is_signed(c.to)) return 0;
    return m.value > top + 1 ? 0 - (top + 1) : 0 - m.value;
}

// NaNs: widening to f64 and narrowing from it keep the payload, quiet; bf16 widens by a shift; the rest is
// canonical.
U64 float_to_float(const Conversion& c, U64 raw) {
    const double v = float_value(c.from, raw, c.ftz);
    if (v != v) {
        if (c.sat) return 0;
        if (c.to == Type::F64) return bit_to<U64>(v) | Double::kQuiet;
        if (c.to == Type::F32 && c.from == Type::F64) {
            return ((raw >> 32) & Single::kSign) | 0x7FC0'0000u |
                   (static_cast<U32>(raw >> 29) & 0x003F'FFFFu);
        }
        if (c.to == Type::F32) return c.from == Type::BF16 ? raw << 16 : Single::kNan;
        return float_bits(c.to, v, Round::Rn);
    }
    return finish_float(c, float_bits(c.to, to_integral(v, c.round), c.round));
}

U64 load_lane(Warp& warp, Slot slot, U32 bytes, U32 lane) {
    switch (bytes) {
        case 2: return warp.lanes<U16>(slot)[lane];
        case 4: return warp.lanes<U32>(slot)[lane];
        default: return warp.lanes<U64>(slot)[lane];
    }
}
void store_lane(Warp& warp, Slot slot, U32 bytes, U32 lane, U64 value) {
    switch (bytes) {
        case 2: warp.lanes<U16>(slot)[lane] = static_cast<U16>(value); break;
        case 4: warp.lanes<U32>(slot)[lane] = static_cast<U32>(value); break;
        default: warp.lanes<U64>(slot)[lane] = value; break;
    }
}

}  // namespace

std::uint64_t convert(const Conversion& c, std::uint64_t raw) {
    if (is_float(c.from)) {
        return is_float(c.to) ? float_to_float(c, raw) : float_to_int(c, float_value(c.from, raw, c.ftz));
    }
    if (!is_float(c.to)) return int_to_int(c, raw);
    const Magnitude m = magnitude_of(c.from, raw);
    if (c.to == Type::F64) return finish_float(c, bit_to<U64>(to_double(m, c.round)));
    return finish_float(c, float_bits(c.to, to_odd_double(m), c.round));
}

const Op* run_convert(const Op& op, Warp& warp) {
    const Conversion conversion{op.type, op.source_type, op.round, op.ftz, op.sat};
    each_active(warp, [&](U32 lane) {
        const U64 raw = load_lane(warp, op.source[0], op.source_bytes, lane);
        store_lane(warp, op.dest, op.dest_bytes, lane, convert(conversion, raw));
    });
    return &op + 1;
}

// The first source goes to the high half.
template <bool kRelu>
static const Op* convert_pack(const Op& op, Warp& warp) {
    const Type half = op.type == Type::F16X2 ? Type::F16 : Type::BF16;
    const Conversion conversion{half, Type::F32, op.round, op.ftz, op.sat};
    const U32* high = warp.lanes<U32>(op.source[0]);
    const U32* low = warp.lanes<U32>(op.source[1]);
    U32* out = warp.lanes<U32>(op.dest);
    each_active(warp, [&](U32 i) {
        const U32 pair = static_cast<U32>(convert(conversion, high[i]) << 16 | convert(conversion, low[i]));
        out[i] = !kRelu ? pair : half == Type::F16 ? Pair<Half>::relu(pair) : Pair<Brain>::relu(pair);
    });
    return &op + 1;
}

const Op* run_convert_pack(const Op& op, Warp& warp) { return convert_pack<false>(op, warp); }
const Op* run_convert_pack_relu(const Op& op, Warp& warp) { return convert_pack<true>(op, warp); }

}  // namespace ockc::emu
