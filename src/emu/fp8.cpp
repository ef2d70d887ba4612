// Conversions between pairs of fp8 (16 bits) and f32 or pairs of f16.
#include "emu/fp8.hpp"

#include "emu/convert.hpp"

namespace ockc::emu {
namespace {

using namespace baseline;
using ptx::Form;
using ptx::Type;

template <bool kE4m3, bool kRelu>
U16 fp8_pair(double high, double low) {
    const auto one = [](double value) -> U8 {
        if (kRelu && (bit_to<U64>(value) >> 63) != 0 && !is_nan(value)) return 0;
        return fp8_bits<kE4m3>(value);
    };
    return static_cast<U16>(one(high) << 8 | one(low));
}

// The first source goes to the high byte.
template <bool kE4m3, bool kRelu>
const Op* run_fp8_of_f32(const Op& op, Warp& warp) {
    const U32* high = warp.lanes<U32>(op.source[0]);
    const U32* low = warp.lanes<U32>(op.source[1]);
    U16* out = warp.lanes<U16>(op.dest);
    each_active(warp, [&](U32 i) { out[i] = fp8_pair<kE4m3, kRelu>(Single::value(high[i]), Single::value(low[i])); });
    return &op + 1;
}

template <bool kE4m3, bool kRelu>
const Op* run_fp8_of_f16(const Op& op, Warp& warp) {
    const U32* in = warp.lanes<U32>(op.source[0]);
    U16* out = warp.lanes<U16>(op.dest);
    each_active(warp, [&](U32 i) {
        out[i] = fp8_pair<kE4m3, kRelu>(Half::value(static_cast<U16>(in[i] >> 16)), Half::value(static_cast<U16>(in[i])));
    });
    return &op + 1;
}

template <bool kE4m3, bool kRelu>
const Op* run_f16_of_fp8(const Op& op, Warp& warp) {
    const U16* in = warp.lanes<U16>(op.source[0]);
    U32* out = warp.lanes<U32>(op.dest);
    each_active(warp, [&](U32 i) {
        const auto one = [](U32 byte) { return static_cast<U32>(Half::bits(fp8_value<kE4m3>(static_cast<U8>(byte)))); };
        const U32 pair = one(in[i] >> 8) << 16 | one(in[i] & 0xFF);
        out[i] = kRelu ? Pair<Half>::relu(pair) : pair;
    });
    return &op + 1;
}

template <bool kE4m3>
Handler handler_of(Form form) {
    switch (form) {
        case Form::CvtFp8: return run_fp8_of_f32<kE4m3, false>;
        case Form::CvtFp8Relu: return run_fp8_of_f32<kE4m3, true>;
        case Form::CvtFp8Half: return run_fp8_of_f16<kE4m3, false>;
        case Form::CvtFp8HalfRelu: return run_fp8_of_f16<kE4m3, true>;
        case Form::CvtHalfFp8: return run_f16_of_fp8<kE4m3, false>;
        case Form::CvtHalfFp8Relu: return run_f16_of_fp8<kE4m3, true>;
        default: return nullptr;
    }
}

}  // namespace

Handler fp8_handler(Form form, const ptx::Mods& mods) {
    const bool e4m3 = mods.type == Type::E4M3X2 || mods.source_type == Type::E4M3X2;
    return e4m3 ? handler_of<true>(form) : handler_of<false>(form);
}

}  // namespace ockc::emu
