// The library's functions, written with the IR builder.
//   division     restoring, one quotient bit a round, starting at the first bit that can be set; 64-bit
//   operands divide at once remainder    of floats: the same on the mantissas, one exponent step a round,
//   exact int -> float the leading 64 bits with the rest as a sticky bit are rounded once, then scaled by a
//   power of two float -> int the mantissa shifted to its place, saturating, NaN to 0
#include "isel/library.hpp"

namespace ockc::isel {

namespace {

using ir::BlockId;
using ir::FloatCond;
using ir::IntCond;
using ir::Op;
using ir::Type;
using ir::ValueId;

// A function under construction with a few words to make arithmetic readable.
class Writer {
  public:
    Writer(std::string_view name, std::vector<Type> params, Type result) : b(f) {
        f.name = std::string(name);
        f.inline_hint = ir::Inline::Never;
        f.results = {result};
        const BlockId entry = f.add_block();
        for (const Type type : params) {
            args.push_back(f.add_block_param(entry, type));
            f.param_attrs.emplace_back();
        }
        b.at_end(entry);
    }
    ValueId i32(std::int64_t v) { return b.const_int(Type::I32, static_cast<std::uint64_t>(v)); }
    ValueId i128(std::uint64_t low, std::uint64_t high = 0) { return b.const_int(Type::I128, low, high); }
    ValueId op(Op op, ValueId a, ValueId c) { return b.binary(op, f.type_of(a), a, c); }
    ValueId op(Op op, ValueId a) { return b.unary(op, f.type_of(a), a); }
    ValueId to(Op op, Type type, ValueId a) { return b.convert(op, type, a); }
    // |a| and whether a was negative.
    ValueId magnitude(ValueId a, ValueId negative) { return b.select(negative, op(Op::Ineg, a), a); }
    ValueId is_negative(ValueId a) { return b.icmp(IntCond::Slt, a, i128(0)); }
    ValueId with_sign(ValueId a, ValueId negative) { return b.select(negative, op(Op::Ineg, a), a); }
    BlockId block() { return f.add_block(); }
    void ret(ValueId value) { b.ret({&value, 1}); }

    ir::Function f;
    ir::Builder b;
    std::vector<ValueId> args;
};

// ----------------------------------------------------------------------------------------------------- i128
// division

void division(Writer& w, bool is_signed, bool remainder) {
    ir::Builder& b = w.b;
    ValueId x = w.args[0];
    ValueId y = w.args[1];
    ValueId negative;
    if (is_signed) {
        const ValueId x_negative = w.is_negative(x);
        const ValueId y_negative = w.is_negative(y);
        negative = remainder ? x_negative : w.op(Op::Xor, x_negative, y_negative);
        x = w.magnitude(x, x_negative);
        y = w.magnitude(y, y_negative);
    }
    const BlockId narrow = w.block();
    const BlockId wide = w.block();
    const BlockId setup = w.block();
    const BlockId loop = w.block();
    const BlockId done = w.block();
    const ValueId result = w.f.add_block_param(done, Type::I128);

    const ValueId upper = w.to(Op::Trunc, Type::I64, w.op(Op::Lshr, w.op(Op::Or, x, y), w.i32(64)));
    b.br(b.icmp(IntCond::Eq, upper, b.const_int(Type::I64, 0)), narrow, wide);

    b.at_end(narrow);
    const ValueId small =
        w.op(remainder ? Op::Urem : Op::Udiv, w.to(Op::Trunc, Type::I64, x), w.to(Op::Trunc, Type::I64, y));
    b.jump(done, {w.to(Op::Zext, Type::I128, small)});

    b.at_end(wide);
    b.br(b.icmp(IntCond::Ult, x, y), {done, {remainder ? x : w.i128(0)}}, {setup, {}});

    b.at_end(setup);
    const ValueId rounds = w.op(Op::Isub, w.to(Op::Trunc, Type::I32, w.op(Op::Clz, y)),
                                w.to(Op::Trunc, Type::I32, w.op(Op::Clz, x)));
    b.jump(loop, {x, w.op(Op::Shl, y, rounds), w.i128(0), rounds});

    const ValueId rest = w.f.add_block_param(loop, Type::I128);
    const ValueId divisor = w.f.add_block_param(loop, Type::I128);
    const ValueId quotient = w.f.add_block_param(loop, Type::I128);
    const ValueId left = w.f.add_block_param(loop, Type::I32);
    b.at_end(loop);
    const ValueId fits = b.icmp(IntCond::Uge, rest, divisor);
    const ValueId new_rest = b.select(fits, w.op(Op::Isub, rest, divisor), rest);
    const ValueId new_quotient =
        w.op(Op::Or, w.op(Op::Shl, quotient, w.i32(1)), w.to(Op::Zext, Type::I128, fits));
    const ValueId new_divisor = w.op(Op::Lshr, divisor, w.i32(1));
    const ValueId new_left = w.op(Op::Iadd, left, w.i32(-1));
    b.br(b.icmp(IntCond::Eq, left, w.i32(0)), {done, {remainder ? new_rest : new_quotient}},
         {loop, {new_rest, new_divisor, new_quotient, new_left}});

    b.at_end(done);
    w.ret(is_signed ? w.with_sign(result, negative) : result);
}

// --------------------------------------------------------------------------------------------------- float
// remainder

struct Format {
    Type type;
    Type bits;
    std::uint32_t width;
    std::uint32_t mantissa;
    std::int64_t bias;
    std::uint64_t infinity;
    std::uint64_t nan;
};
constexpr Format kF32{Type::F32, Type::I32, 32, 23, 127, 0x7F80'0000u, 0x7FFF'FFFFu};
constexpr Format kF64{Type::F64, Type::I64, 64, 52, 1023, 0x7FF0'0000'0000'0000u, 0x7FFF'FFFF'FFFF'FFFFu};

// Mantissa with its leading one at bit `mantissa`, and the biased exponent (zero or below for subnormals).
struct Split {
    ValueId mantissa;
    ValueId exponent;  // i32
};
Split split(Writer& w, const Format& k, ValueId bits) {
    ir::Builder& b = w.b;
    const auto constant = [&](std::uint64_t v) { return b.const_int(k.bits, v); };
    const auto narrowed = [&](ValueId v) { return k.bits == Type::I32 ? v : w.to(Op::Trunc, Type::I32, v); };
    const std::uint64_t one = std::uint64_t{1} << k.mantissa;
    const ValueId raw = narrowed(w.op(Op::Lshr, bits, w.i32(k.mantissa)));
    const ValueId subnormal = b.icmp(IntCond::Eq, raw, w.i32(0));
    const ValueId shift = w.op(Op::Isub, narrowed(w.op(Op::Clz, bits)), w.i32(k.width - k.mantissa - 1));
    const ValueId normal_mantissa = w.op(Op::Or, w.op(Op::And, bits, constant(one - 1)), constant(one));
    return {b.select(subnormal, w.op(Op::Shl, bits, shift), normal_mantissa),
            b.select(subnormal, w.op(Op::Isub, w.i32(1), shift), raw)};
}

void float_remainder(Writer& w, const Format& k) {
    ir::Builder& b = w.b;
    const auto constant = [&](std::uint64_t v) { return b.const_int(k.bits, v); };
    const auto narrowed = [&](ValueId v) { return k.bits == Type::I32 ? v : w.to(Op::Trunc, Type::I32, v); };
    const std::uint64_t sign_bit = std::uint64_t{1} << (k.width - 1);
    const std::uint64_t one = std::uint64_t{1} << k.mantissa;
    const BlockId undefined = w.block();
    const BlockId compare = w.block();
    const BlockId smaller = w.block();
    const BlockId setup = w.block();
    const BlockId test = w.block();
    const BlockId step = w.block();
    const BlockId finish = w.block();
    const BlockId zero = w.block();
    const BlockId scale = w.block();

    const ValueId x_bits = w.to(Op::Bitcast, k.bits, w.args[0]);
    const ValueId sign = w.op(Op::And, x_bits, constant(sign_bit));
    const ValueId x = w.op(Op::And, x_bits, constant(sign_bit - 1));
    const ValueId y = w.op(Op::And, w.to(Op::Bitcast, k.bits, w.args[1]), constant(sign_bit - 1));
    const ValueId x_bad = b.icmp(IntCond::Uge, x, constant(k.infinity));
    const ValueId y_bad = b.icmp(IntCond::Ugt, y, constant(k.infinity));
    const ValueId bad = w.op(Op::Or, w.op(Op::Or, x_bad, y_bad), b.icmp(IntCond::Eq, y, constant(0)));
    b.br(bad, undefined, compare);

    b.at_end(undefined);
    w.ret(b.const_float(k.type, k.nan));

    b.at_end(compare);
    b.br(b.icmp(IntCond::Ult, x, y), smaller, setup);
    b.at_end(smaller);
    w.ret(w.args[0]);

    b.at_end(setup);
    const Split xs = split(w, k, x);
    const Split ys = split(w, k, y);
    b.jump(test, {xs.mantissa, xs.exponent});

    const ValueId mantissa = w.f.add_block_param(test, k.bits);
    const ValueId exponent = w.f.add_block_param(test, Type::I32);
    b.at_end(test);
    const ValueId less = w.op(Op::Isub, mantissa, ys.mantissa);
    const ValueId reduced = b.select(b.icmp(IntCond::Uge, mantissa, ys.mantissa), less, mantissa);
    b.br(b.icmp(IntCond::Sgt, exponent, ys.exponent), step, finish);
    b.at_end(step);
    b.jump(test, {w.op(Op::Shl, reduced, w.i32(1)), w.op(Op::Iadd, exponent, w.i32(-1))});

    b.at_end(finish);
    b.br(b.icmp(IntCond::Eq, reduced, constant(0)), zero, scale);
    b.at_end(zero);
    w.ret(w.to(Op::Bitcast, k.type, sign));

    b.at_end(scale);
    const ValueId shift = w.op(Op::Isub, narrowed(w.op(Op::Clz, reduced)), w.i32(k.width - k.mantissa - 1));
    const ValueId normal = w.op(Op::Shl, reduced, shift);
    const ValueId e = w.op(Op::Isub, ys.exponent, shift);
    const ValueId e_bits =
        w.op(Op::Shl, k.bits == Type::I32 ? e : w.to(Op::Sext, Type::I64, e), w.i32(k.mantissa));
    const ValueId as_normal = w.op(Op::Or, w.op(Op::Isub, normal, constant(one)), e_bits);
    const ValueId as_subnormal = w.op(Op::Lshr, normal, w.op(Op::Isub, w.i32(1), e));
    const ValueId magnitude = b.select(b.icmp(IntCond::Sgt, e, w.i32(0)), as_normal, as_subnormal);
    w.ret(w.to(Op::Bitcast, k.type, w.op(Op::Or, magnitude, sign)));
}

// ------------------------------------------------------------------------------------------------------
// conversions

// `odd`: to f32 with the leading 24 bits, the last of them set when lower ones were lost.
void int_to_float(Writer& w, const Format& k, bool is_signed, bool odd = false) {
    ir::Builder& b = w.b;
    ValueId x = w.args[0];
    ValueId negative;
    if (is_signed) {
        negative = w.is_negative(x);
        x = w.magnitude(x, negative);
    }
    const BlockId zero = w.block();
    const BlockId other = w.block();
    b.br(b.icmp(IntCond::Eq, x, w.i128(0)), zero, other);
    b.at_end(zero);
    w.ret(b.const_float(k.type, 0));

    b.at_end(other);
    const ValueId leading = w.to(Op::Trunc, Type::I32, w.op(Op::Clz, x));
    const ValueId top = w.op(Op::Shl, x, leading);
    const ValueId upper = w.to(Op::Trunc, Type::I64, w.op(Op::Lshr, top, w.i32(64)));
    const ValueId lower = w.to(Op::Trunc, Type::I64, top);
    const auto i64 = [&](std::uint64_t v) { return b.const_int(Type::I64, v); };
    const ValueId lower_lost = b.icmp(IntCond::Ne, lower, i64(0));
    ValueId leading_bits = upper;
    ValueId lost = lower_lost;
    if (odd) {
        const ValueId cut = w.op(Op::And, upper, i64((std::uint64_t{1} << 40) - 1));
        leading_bits = w.op(Op::Lshr, upper, w.i32(40));
        lost = w.op(Op::Or, lower_lost, b.icmp(IntCond::Ne, cut, i64(0)));
    }
    const ValueId sticky = w.to(Op::Zext, Type::I64, lost);
    const ValueId rounded = w.to(Op::Uitofp, k.type, w.op(Op::Or, leading_bits, sticky));
    const ValueId e = w.op(Op::Isub, w.i32(k.bias + (odd ? 104 : 64)), leading);
    const ValueId e_wide = k.bits == Type::I32 ? e : w.to(Op::Zext, Type::I64, e);
    const ValueId scale = w.to(Op::Bitcast, k.type, w.op(Op::Shl, e_wide, w.i32(k.mantissa)));
    const ValueId result = w.op(Op::Fmul, rounded, scale);
    w.ret(is_signed ? b.select(negative, w.op(Op::Fneg, result), result) : result);
}

void float_to_int(Writer& w, const Format& k, bool is_signed) {
    ir::Builder& b = w.b;
    const auto constant = [&](std::uint64_t v) { return b.const_int(k.bits, v); };
    const std::uint64_t sign_bit = std::uint64_t{1} << (k.width - 1);
    const std::uint64_t one = std::uint64_t{1} << k.mantissa;
    const std::int64_t limit = is_signed ? 127 : 128;  // magnitudes of 2^limit and more saturate
    const BlockId zero = w.block();
    const BlockId check = w.block();
    const BlockId saturate = w.block();
    const BlockId convert = w.block();

    const ValueId bits = w.to(Op::Bitcast, k.bits, w.args[0]);
    const ValueId negative = b.icmp(IntCond::Ne, w.op(Op::And, bits, constant(sign_bit)), constant(0));
    const ValueId x = w.op(Op::And, bits, constant(sign_bit - 1));
    const ValueId below_one =
        b.icmp(IntCond::Ult, x, constant(static_cast<std::uint64_t>(k.bias) << k.mantissa));
    const ValueId is_nan = b.icmp(IntCond::Ugt, x, constant(k.infinity));
    ValueId is_zero = w.op(Op::Or, below_one, is_nan);
    if (!is_signed) is_zero = w.op(Op::Or, is_zero, negative);
    b.br(is_zero, zero, check);

    b.at_end(zero);
    w.ret(w.i128(0));

    b.at_end(check);
    const ValueId too_large =
        b.icmp(IntCond::Uge, x, constant(static_cast<std::uint64_t>(k.bias + limit) << k.mantissa));
    b.br(too_large, saturate, convert);

    b.at_end(saturate);
    if (is_signed) {
        w.ret(b.select(negative, w.i128(0, std::uint64_t{1} << 63),
                       w.i128(~std::uint64_t{0}, ~std::uint64_t{0} >> 1)));
    } else {
        w.ret(w.i128(~std::uint64_t{0}, ~std::uint64_t{0}));
    }

    b.at_end(convert);
    const ValueId raw = w.op(Op::Lshr, x, w.i32(k.mantissa));
    const ValueId e = w.op(Op::Isub, k.bits == Type::I32 ? raw : w.to(Op::Trunc, Type::I32, raw),
                           w.i32(k.bias + k.mantissa));
    const ValueId mantissa =
        w.to(Op::Zext, Type::I128, w.op(Op::Or, w.op(Op::And, x, constant(one - 1)), constant(one)));
    const ValueId up = w.op(Op::Shl, mantissa, e);
    const ValueId down = w.op(Op::Lshr, mantissa, w.op(Op::Ineg, e));
    const ValueId magnitude = b.select(b.icmp(IntCond::Sge, e, w.i32(0)), up, down);
    w.ret(is_signed ? w.with_sign(magnitude, negative) : magnitude);
}

}  // namespace

std::string_view library_symbol(LibraryFunction function) {
    static constexpr std::string_view kSymbols[] = {
#define OCKC_ISEL_LIBRARY_SYMBOL(name, symbol) symbol,
        OCKC_ISEL_LIBRARY(OCKC_ISEL_LIBRARY_SYMBOL)
#undef OCKC_ISEL_LIBRARY_SYMBOL
    };
    return kSymbols[static_cast<std::size_t>(function)];
}

ir::Function build_library_function(LibraryFunction function) {
    const auto build = [&](std::vector<Type> params, Type result, auto&& write) {
        Writer w(library_symbol(function), std::move(params), result);
        write(w);
        return std::move(w.f);
    };
    const std::vector<Type> two{Type::I128, Type::I128};
    switch (function) {
        case LibraryFunction::Udiv128:
            return build(two, Type::I128, [](Writer& w) { division(w, false, false); });
        case LibraryFunction::Urem128:
            return build(two, Type::I128, [](Writer& w) { division(w, false, true); });
        case LibraryFunction::Sdiv128:
            return build(two, Type::I128, [](Writer& w) { division(w, true, false); });
        case LibraryFunction::Srem128:
            return build(two, Type::I128, [](Writer& w) { division(w, true, true); });
        case LibraryFunction::FremF32:
            return build({Type::F32, Type::F32}, Type::F32, [](Writer& w) { float_remainder(w, kF32); });
        case LibraryFunction::FremF64:
            return build({Type::F64, Type::F64}, Type::F64, [](Writer& w) { float_remainder(w, kF64); });
        case LibraryFunction::U128ToF32:
            return build({Type::I128}, Type::F32, [](Writer& w) { int_to_float(w, kF32, false); });
        case LibraryFunction::U128ToF64:
            return build({Type::I128}, Type::F64, [](Writer& w) { int_to_float(w, kF64, false); });
        case LibraryFunction::S128ToF32:
            return build({Type::I128}, Type::F32, [](Writer& w) { int_to_float(w, kF32, true); });
        case LibraryFunction::S128ToF64:
            return build({Type::I128}, Type::F64, [](Writer& w) { int_to_float(w, kF64, true); });
        case LibraryFunction::U128ToOddF32:
            return build({Type::I128}, Type::F32, [](Writer& w) { int_to_float(w, kF32, false, true); });
        case LibraryFunction::S128ToOddF32:
            return build({Type::I128}, Type::F32, [](Writer& w) { int_to_float(w, kF32, true, true); });
        case LibraryFunction::F32ToU128:
            return build({Type::F32}, Type::I128, [](Writer& w) { float_to_int(w, kF32, false); });
        case LibraryFunction::F64ToU128:
            return build({Type::F64}, Type::I128, [](Writer& w) { float_to_int(w, kF64, false); });
        case LibraryFunction::F32ToS128:
            return build({Type::F32}, Type::I128, [](Writer& w) { float_to_int(w, kF32, true); });
        case LibraryFunction::F64ToS128:
            return build({Type::F64}, Type::I128, [](Writer& w) { float_to_int(w, kF64, true); });
    }
    OCKC_UNREACHABLE("library function");
}

}  // namespace ockc::isel
