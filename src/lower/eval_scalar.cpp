#include "lower/eval_scalar.hpp"

#include <cmath>

#include "check/literal_value.hpp"

namespace ockc::lower {

using mir::BinOp;
using types::FloatKind;
using types::TypeKind;

namespace {

struct Shape {
    std::uint32_t bits = 0;
    bool is_signed = false, is_float = false;
    FloatKind kind{};   // is_float
    double number(Bits value) const { return check::float_value(static_cast<std::uint64_t>(value), kind); }
    Bits rounded(double value) const { return check::bits_of_double(value, kind); }
};

std::optional<Shape> shape_of(const types::TypeStore& types, types::TypeId type) {
    const types::TypeData& data = types[type];
    if (data.kind == TypeKind::Bool) return Shape{1, false, false};
    if (data.kind == TypeKind::Char) return Shape{32, false, false};
    if (data.kind == TypeKind::Int) return Shape{types::int_bits(data.int_kind), types::int_signed(data.int_kind), false};
    if (data.kind == TypeKind::Float) return Shape{types::float_bits(data.float_kind), true, true, data.float_kind};
    return std::nullopt;
}

Bits cut(Bits value, std::uint32_t bits) { return bits == 128 ? value : value & ((Bits{1} << bits) - 1); }

__int128 as_signed(Bits value, std::uint32_t bits) {
    if (bits == 128) return static_cast<__int128>(value);
    const Bits sign = Bits{1} << (bits - 1);
    return static_cast<__int128>(value ^ sign) - static_cast<__int128>(sign);
}

std::optional<Bits> compare(BinOp op, bool less, bool equal, bool ordered) {
    switch (op) {
        case BinOp::Eq: return equal;
        case BinOp::Ne: return !equal;
        case BinOp::Lt: return less;
        case BinOp::Le: return less || equal;
        case BinOp::Gt: return ordered && !less && !equal;
        case BinOp::Ge: return ordered && !less;
        default: return std::nullopt;
    }
}

// Sums, products and quotients of doubles that hold values of a smaller format round once more to the right one.
std::optional<Bits> float_binary(BinOp op, double a, double b, const Shape& shape) {
    switch (op) {
        case BinOp::Add: return shape.rounded(a + b);
        case BinOp::Sub: return shape.rounded(a - b);
        case BinOp::Mul: return shape.rounded(a * b);
        case BinOp::Div: return shape.rounded(a / b);
        case BinOp::Rem: return shape.rounded(std::fmod(a, b));
        default: return compare(op, a < b, a == b, !std::isnan(a) && !std::isnan(b));
    }
}

}  // namespace

std::optional<Bits> eval_unary(const types::TypeStore& types, mir::UnOp op, types::TypeId type, Bits a) {
    const auto shape = shape_of(types, type);
    if (!shape) return std::nullopt;
    switch (op) {
        case mir::UnOp::Not: return cut(~a, shape->bits);
        case mir::UnOp::Neg: return shape->is_float ? a ^ (Bits{1} << (shape->bits - 1)) : cut(-a, shape->bits);
    }
    return std::nullopt;
}

std::optional<Bits> eval_binary(const types::TypeStore& types, BinOp op, types::TypeId type, Bits a, Bits b) {
    const auto shape = shape_of(types, type);
    if (!shape) return std::nullopt;
    const std::uint32_t bits = shape->bits;
    if (shape->is_float) return float_binary(op, shape->number(a), shape->number(b), *shape);
    const __int128 sa = as_signed(a, bits), sb = as_signed(b, bits);
    const auto amount = static_cast<std::uint32_t>(b & (bits - 1));
    switch (op) {
        case BinOp::Add: return cut(a + b, bits);
        case BinOp::Sub: return cut(a - b, bits);
        case BinOp::Mul: return cut(a * b, bits);
        case BinOp::Div:
        case BinOp::Rem: {
            if (b == 0 || (shape->is_signed && sb == -1)) return std::nullopt;
            if (!shape->is_signed) return op == BinOp::Div ? a / b : a % b;
            return cut(static_cast<Bits>(op == BinOp::Div ? sa / sb : sa % sb), bits);
        }
        case BinOp::BitXor: return a ^ b;
        case BinOp::BitAnd: return a & b;
        case BinOp::BitOr: return a | b;
        case BinOp::Shl: return cut(a << amount, bits);
        case BinOp::Shr: return shape->is_signed ? cut(static_cast<Bits>(sa >> amount), bits) : a >> amount;
        case BinOp::Eq:
        case BinOp::Ne:
        case BinOp::Lt:
        case BinOp::Le:
        case BinOp::Gt:
        case BinOp::Ge: return compare(op, shape->is_signed ? sa < sb : a < b, a == b, true);
    }
    return std::nullopt;
}

std::optional<Bits> eval_cast(const types::TypeStore& types, mir::CastKind cast, types::TypeId from, types::TypeId to, Bits a) {
    const auto source = shape_of(types, from), target = shape_of(types, to);
    if (!source || !target) return std::nullopt;
    switch (cast) {
        case mir::CastKind::IntToInt: return cut(source->is_signed ? static_cast<Bits>(as_signed(a, source->bits)) : a, target->bits);
        case mir::CastKind::IntToFloat: {
            const __int128 value = as_signed(a, source->bits);
            const bool negative = source->is_signed && value < 0;
            return check::bits_of_int(negative ? static_cast<Bits>(value) : a, negative, target->kind);
        }
        case mir::CastKind::FloatToFloat: return target->rounded(source->number(a));
        case mir::CastKind::FloatToInt: {
            const double value = std::trunc(source->number(a));
            const double limit = std::ldexp(1.0, static_cast<int>(target->bits - (target->is_signed ? 1 : 0)));
            const Bits most = target->is_signed ? (Bits{1} << (target->bits - 1)) - 1 : cut(~Bits{0}, target->bits);
            if (std::isnan(value)) return Bits{0};
            if (value >= limit) return most;
            if (value < (target->is_signed ? -limit : 0.0)) return target->is_signed ? cut(most + 1, target->bits) : Bits{0};
            return target->is_signed ? cut(static_cast<Bits>(static_cast<__int128>(value)), target->bits) : static_cast<Bits>(value);
        }
        case mir::CastKind::PtrToPtr:
        case mir::CastKind::PtrToInt:
        case mir::CastKind::IntToPtr:
        case mir::CastKind::ArrayToPointer:
        case mir::CastKind::Unsize:
        case mir::CastKind::ReifyFn:
        case mir::CastKind::ClosureFn: return std::nullopt;
    }
    return std::nullopt;
}

}  // namespace ockc::lower
