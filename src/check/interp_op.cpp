// Arithmetic of constants: two's complement in 128 bits, floats in their own precision.
#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <limits>

#include "check/interp.hpp"
#include "check/literal_value.hpp"
#include "types/print.hpp"

namespace ockc::check {

using hir::BinaryOp;
using types::FloatKind;
using types::IntKind;

namespace {

UInt128 mask_of(std::uint32_t bits) { return bits >= 128 ? ~UInt128{0} : (UInt128{1} << bits) - 1; }

struct IntType {
    std::uint32_t bits = 64;
    bool is_signed = false;
};
IntType int_type(const TypeStore& types, TypeId type) {
    const TypeData& data = types[type];
    switch (data.kind) {
        case TypeKind::Int: return {types::int_bits(data.int_kind), types::int_signed(data.int_kind)};
        case TypeKind::Bool: return {1, false};
        case TypeKind::Char: return {32, false};
        default: return {64, false};
    }
}

Int128 extend(UInt128 value, IntType type) {
    if (type.bits < 128 && type.is_signed && (value >> (type.bits - 1) & 1) != 0) value |= ~mask_of(type.bits);
    return static_cast<Int128>(value);
}

bool fits(Int128 value, UInt128 raw, IntType type) {
    if (type.bits == 128) return true;
    return type.is_signed ? extend(raw & mask_of(type.bits), type) == value : value >= 0 && (raw & ~mask_of(type.bits)) == 0;
}

// i128 itself.
bool wide_add_overflows(Int128 a, Int128 b) {
    Int128 ignored = 0;
    return __builtin_add_overflow(a, b, &ignored);
}
bool wide_sub_overflows(Int128 a, Int128 b) {
    Int128 ignored = 0;
    return __builtin_sub_overflow(a, b, &ignored);
}
bool wide_mul_overflows(Int128 a, Int128 b) {
    if (a == 0 || b == 0) return false;
    const UInt128 x = a < 0 ? -static_cast<UInt128>(a) : static_cast<UInt128>(a);
    const UInt128 y = b < 0 ? -static_cast<UInt128>(b) : static_cast<UInt128>(b);
    const UInt128 limit = mask_of(127) + ((a < 0) != (b < 0) ? 1 : 0);
    return x > limit / y;
}

}  // namespace

Interpreter::Value Interpreter::scalar(TypeId type, UInt128 bits) {
    Value value;
    value.kind = Value::Kind::Scalar;
    value.type = type;
    value.bits = bits;
    return value;
}

Interpreter::Value Interpreter::unit() {
    Value value;
    value.kind = Value::Kind::Aggregate;
    value.type = types_.unit;
    return value;
}

Int128 Interpreter::signed_value(const Value& value) { return extend(value.bits, int_type(types_, value.type)); }

std::string Interpreter::number_text(const Value& value) {
    const TypeData& data = types_[value.type];
    std::string text = types::scalar_text(types_, value.type, static_cast<std::uint64_t>(value.bits), static_cast<std::uint64_t>(value.bits >> 64));
    if (data.kind != TypeKind::Int) return text;
    const IntType type = int_type(types_, value.type);
    const UInt128 max = type.is_signed ? mask_of(type.bits - 1) : mask_of(type.bits);
    if (value.bits == max) return fmt::format("{}::MAX", types::int_name(data.int_kind));
    if (type.is_signed && value.bits == UInt128{1} << (type.bits - 1)) return fmt::format("{}::MIN", types::int_name(data.int_kind));
    return fmt::format("{}_{}", text, types::int_name(data.int_kind));
}

Interpreter::Value Interpreter::integer_binary(BinaryOp op, const Value& lhs, const Value& rhs, TypeId result, Span at) {
    const IntType type = int_type(types_, lhs.type);
    const UInt128 mask = mask_of(type.bits);
    const Int128 a = signed_value(lhs), b = signed_value(rhs);
    UInt128 value = 0;
    bool overflow = false;
    const auto overflowed = [&] {
        return fail(at, fmt::format("attempt to compute `{} {} {}`, which would overflow", number_text(lhs), ast::info(op).text, number_text(rhs)));
    };
    switch (op) {
        case BinaryOp::Add:
            value = static_cast<UInt128>(a) + static_cast<UInt128>(b);
            overflow = type.bits == 128 ? (type.is_signed ? wide_add_overflows(a, b) : lhs.bits + rhs.bits < lhs.bits) : !fits(static_cast<Int128>(value), value, type);
            break;
        case BinaryOp::Sub:
            value = static_cast<UInt128>(a) - static_cast<UInt128>(b);
            overflow = type.is_signed ? (type.bits == 128 ? wide_sub_overflows(a, b) : !fits(static_cast<Int128>(value), value, type)) : lhs.bits < rhs.bits;
            break;
        case BinaryOp::Mul:
            value = static_cast<UInt128>(a) * static_cast<UInt128>(b);
            if (type.bits <= 64) {
                overflow = type.is_signed ? !fits(static_cast<Int128>(value), value, type) : (value & ~mask) != 0;
            } else {
                overflow = type.is_signed ? wide_mul_overflows(a, b) : lhs.bits != 0 && (lhs.bits * rhs.bits) / lhs.bits != rhs.bits;
            }
            break;
        case BinaryOp::Div:
        case BinaryOp::Rem: {
            if (rhs.bits == 0) {
                return fail(at, op == BinaryOp::Div ? fmt::format("attempt to divide `{}` by zero", number_text(lhs))
                                                    : fmt::format("attempt to calculate the remainder of `{}` with a divisor of zero", number_text(lhs)));
            }
            if (!type.is_signed) {
                value = op == BinaryOp::Div ? lhs.bits / rhs.bits : lhs.bits % rhs.bits;
                break;
            }
            if (b == -1 && lhs.bits == UInt128{1} << (type.bits - 1)) return overflowed();
            value = static_cast<UInt128>(op == BinaryOp::Div ? a / b : a % b);
            break;
        }
        case BinaryOp::BitXor: value = lhs.bits ^ rhs.bits; break;
        case BinaryOp::BitAnd: value = lhs.bits & rhs.bits; break;
        case BinaryOp::BitOr: value = lhs.bits | rhs.bits; break;
        case BinaryOp::Shl:
        case BinaryOp::Shr: {
            if (b < 0 || rhs.bits >= type.bits) return overflowed();
            const auto count = static_cast<std::uint32_t>(rhs.bits);
            value = op == BinaryOp::Shl ? lhs.bits << count : type.is_signed ? static_cast<UInt128>(a >> count) : lhs.bits >> count;
            break;
        }
        default: return compare(op, lhs, rhs, at);
    }
    if (overflow) return overflowed();
    return scalar(result, value & mask);
}

Interpreter::Value Interpreter::float_binary(BinaryOp op, const Value& lhs, const Value& rhs, TypeId result) {
    const FloatKind kind = types_[lhs.type].float_kind;
    const double a = float_value(static_cast<std::uint64_t>(lhs.bits), kind), b = float_value(static_cast<std::uint64_t>(rhs.bits), kind);
    const auto apply = [&](auto x, auto y) -> double {
        switch (op) {
            case BinaryOp::Add: return x + y;
            case BinaryOp::Sub: return x - y;
            case BinaryOp::Mul: return x * y;
            case BinaryOp::Div: return x / y;
            case BinaryOp::Rem: return std::fmod(x, y);
            default: return 0;
        }
    };
    // In f32 itself; the second rounding, from double to a half format, cannot go wrong for these operations.
    double value = kind == FloatKind::F32 ? apply(static_cast<float>(a), static_cast<float>(b)) : apply(a, b);
    // A NaN that arises here is positive, as rustc's; the host's may be negative.
    if (std::isnan(value) && !std::isnan(a) && !std::isnan(b)) value = std::numeric_limits<double>::quiet_NaN();
    return scalar(result, bits_of_double(value, kind));
}

Interpreter::Value Interpreter::compare(BinaryOp op, const Value& lhs, const Value& rhs, Span at) {
    const auto answer = [&](auto a, auto b) {
        switch (op) {
            case BinaryOp::Eq: return a == b;
            case BinaryOp::Ne: return a != b;
            case BinaryOp::Lt: return a < b;
            case BinaryOp::Le: return a <= b;
            case BinaryOp::Gt: return a > b;
            case BinaryOp::Ge: return a >= b;
            default: return false;
        }
    };
    const TypeData& data = types_[lhs.type];
    if (lhs.kind != Value::Kind::Scalar || rhs.kind != Value::Kind::Scalar) return fail(at, "pointers cannot be compared in constants");
    if (data.kind == TypeKind::Float) {
        return scalar(types_.boolean, answer(float_value(static_cast<std::uint64_t>(lhs.bits), data.float_kind), float_value(static_cast<std::uint64_t>(rhs.bits), data.float_kind)));
    }
    if (data.kind == TypeKind::Int && types::int_signed(data.int_kind)) return scalar(types_.boolean, answer(signed_value(lhs), signed_value(rhs)));
    return scalar(types_.boolean, answer(lhs.bits, rhs.bits));
}

Interpreter::Value Interpreter::binary(BinaryOp op, const Value& lhs, const Value& rhs, TypeId result, Span at) {
    const bool comparison = op >= BinaryOp::Eq && op <= BinaryOp::Ge;
    if (comparison) return compare(op, lhs, rhs, at);
    if (types_.kind(lhs.type) == TypeKind::Float) return float_binary(op, lhs, rhs, result);
    return integer_binary(op, lhs, rhs, result, at);
}

Interpreter::Value Interpreter::negated(const Value& operand) { return scalar(operand.type, -operand.bits & mask_of(int_type(types_, operand.type).bits)); }

Interpreter::Value Interpreter::unary(hir::UnaryOp op, const Value& operand, TypeId result, Span at) {
    const TypeData& data = types_[operand.type];
    if (data.kind == TypeKind::Float) return scalar(result, operand.bits ^ UInt128{1} << (types::float_bits(data.float_kind) - 1));
    const IntType type = int_type(types_, operand.type);
    if (op == hir::UnaryOp::Not) return scalar(result, ~operand.bits & mask_of(type.bits));
    if (operand.bits == UInt128{1} << (type.bits - 1)) return fail(at, fmt::format("attempt to negate `{}`, which would overflow", number_text(operand)));
    return scalar(result, -operand.bits & mask_of(type.bits));
}

// ---- casts ---------------------------------------------------------------------------------------------------------------------------------------

namespace {

// Toward zero, saturating; NaN gives 0.
UInt128 float_to_int(double value, IntType type) {
    if (std::isnan(value)) return 0;
    const double low = type.is_signed ? -std::ldexp(1.0, static_cast<int>(type.bits) - 1) : 0;
    const double high = std::ldexp(1.0, static_cast<int>(type.is_signed ? type.bits - 1 : type.bits));
    if (value >= high) return type.is_signed ? mask_of(type.bits - 1) : mask_of(type.bits);
    if (value <= low) return type.is_signed ? UInt128{1} << (type.bits - 1) : 0;
    const double whole = std::trunc(value);
    const UInt128 magnitude = static_cast<UInt128>(std::fabs(whole));
    return (whole < 0 ? -magnitude : magnitude) & mask_of(type.bits);
}

}  // namespace

Interpreter::Value Interpreter::cast(CastKind kind, const Value& value, TypeId to, Span at) {
    const TypeData& from = types_[value.type];
    const TypeData& target = types_[to];
    switch (kind) {
        case CastKind::Coercion: {
            Value out = value;
            out.type = to;
            return out;
        }
        case CastKind::IntToInt:
        case CastKind::BoolToInt:
        case CastKind::CharToInt:
        case CastKind::U8ToChar: return scalar(to, static_cast<UInt128>(signed_value(value)) & mask_of(int_type(types_, to).bits));
        case CastKind::EnumToInt: {
            const AdtInfo& adt = cx_.adt(from.def);
            const auto& d = adt.variants[value.variant].discriminant;
            return scalar(to, (static_cast<UInt128>(d[1]) << 64 | d[0]) & mask_of(int_type(types_, to).bits));
        }
        case CastKind::IntToFloat: return scalar(to, bits_of_int(value.bits, int_type(types_, value.type).is_signed && signed_value(value) < 0, target.float_kind));
        case CastKind::FloatToInt: return scalar(to, float_to_int(float_value(static_cast<std::uint64_t>(value.bits), from.float_kind), int_type(types_, to)));
        case CastKind::FloatToFloat: return scalar(to, bits_of_double(float_value(static_cast<std::uint64_t>(value.bits), from.float_kind), target.float_kind));
        case CastKind::PtrToPtr:
        case CastKind::ArrayPtrToElement: {
            Value out = value;
            out.type = to;
            if (kind == CastKind::ArrayPtrToElement && out.kind == Value::Kind::Ref) {
                out.target.path.push_back(0);
                out.target.type = target.element;
            }
            return out;
        }
        case CastKind::IntToPtr: return scalar(to, value.bits);
        case CastKind::FatToThin:
        case CastKind::PtrToInt:
        case CastKind::FnPtrToPtr:
        case CastKind::FnPtrToInt: return fail(at, "pointers cannot be cast to integers during const eval");
    }
    return {};
}

// ---- intrinsics -----------------------------------------------------------------------------------------------------------------------------------

// Rounding, signs and order of floats; nothing for other keys.
std::optional<double> Interpreter::float_intrinsic(std::string_view key, const std::vector<Value>& args) {
    const auto number = [&](std::size_t i) { return float_value(static_cast<std::uint64_t>(args[i].bits), types_[args[i].type].float_kind); };
    const double a = number(0);
    if (args.size() == 1) {
        // The root of a float, taken in double, is the correctly rounded one after the second rounding.
        if (key == "float.sqrt") return std::sqrt(a);
        if (key == "float.abs") return std::fabs(a);
        if (key == "float.floor") return std::floor(a);
        if (key == "float.ceil") return std::ceil(a);
        if (key == "float.trunc") return std::trunc(a);
        if (key == "float.rint") return std::nearbyint(a);
    } else if (args.size() == 2) {
        const double b = number(1);
        if (key == "float.copysign") return std::copysign(a, b);
        if (key == "float.min") return std::fmin(a, b);
        if (key == "float.max") return std::fmax(a, b);
    }
    return std::nullopt;
}

// A reference to text as one to its bytes, which is all that constants can make of a reference.
Interpreter::Value Interpreter::text_as_bytes(const Value& text, TypeId output, Span at) {
    const Value* target = resolve(text.target, at);
    if (target == nullptr) return {};
    const bool to_slice = types_.kind(output) == TypeKind::Ref && types_.kind(types_[output].element) == TypeKind::Slice;
    if (target->kind != Value::Kind::Bytes || !to_slice) return fail(at, "references cannot be turned into other types in a constant");
    const TypeId byte = types_.int_type(types::IntKind::U8);
    Value bytes;
    bytes.kind = Value::Kind::Aggregate;
    for (const char c : target->bytes) bytes.fields.push_back(scalar(byte, static_cast<unsigned char>(c)));
    bytes.type = types_.array(byte, types_.const_usize(bytes.fields.size()));
    Value reference;
    reference.kind = Value::Kind::Ref;
    reference.type = output;
    reference.target.type = types_[output].element;
    reference.target.is_slice = true;
    reference.target.length = bytes.fields.size();
    reference.target.alloc = allocate(std::move(bytes));
    return reference;
}

Interpreter::Value Interpreter::intrinsic(std::string_view key, ItemRef fn, std::vector<Value> args, Span at) {
    const TypeId output = cx_.normalize(cx_.fn_sig(fn).output, cx_.empty_env());
    const auto arg_type = [&] {
        for (GenericArg arg : types_[fn.args]) {
            if (arg.kind() == GenericArg::Kind::Type) return arg.as_type();
        }
        return types_.unit;
    };
    if (key == "mem.size_of" || key == "mem.align_of") {
        const types::Layout& layout = cx_.layout_of(arg_type());
        if (layout.error != types::LayoutError::None) return fail(at, "the size of this type is not known here");
        return scalar(output, key == "mem.size_of" ? layout.size : layout.align);
    }
    if (key == "mem.needs_drop") return scalar(output, cx_.needs_drop(arg_type(), cx_.empty_env()) ? 1 : 0);
    if (key == "slice.len" && args.size() == 1 && args[0].kind == Value::Kind::Ref) {
        if (args[0].target.is_slice) return scalar(output, args[0].target.length);
        const Value* array = resolve(args[0].target, at);
        return array == nullptr ? Value{} : scalar(output, array->fields.size());
    }
    if (key == "mem.transmute" && args.size() == 1 && args[0].kind == Value::Kind::Ref) return text_as_bytes(args[0], output, at);
    if (key == "mem.uninit") {
        Value out;
        out.type = output;
        return out;
    }
    if (args.empty() || args[0].kind != Value::Kind::Scalar) return fail(at, fmt::format("the operation `{}` cannot run in a constant", key));
    const Value& a = args[0];
    if (types_.kind(a.type) == TypeKind::Float) {
        if (const auto number = float_intrinsic(key, args)) return scalar(output, bits_of_double(*number, types_[output].float_kind));
    }
    const IntType type = int_type(types_, a.type);
    const UInt128 mask = mask_of(type.bits);
    if (args.size() == 2) {
        const Value& b = args[1];
        if (key == "int.wrapping_add") return scalar(output, (a.bits + b.bits) & mask);
        if (key == "int.wrapping_sub") return scalar(output, (a.bits - b.bits) & mask);
        if (key == "int.wrapping_mul") return scalar(output, (a.bits * b.bits) & mask);
        if (key == "int.min" || key == "int.max") {
            const bool less = type.is_signed ? signed_value(a) < signed_value(b) : a.bits < b.bits;
            return less == (key == "int.min") ? a : b;
        }
        if (key == "int.less") return scalar(output, type.is_signed ? signed_value(a) < signed_value(b) : a.bits < b.bits);
        const auto count = static_cast<std::uint32_t>(b.bits) % type.bits;
        if (key == "int.masked_shl") return scalar(output, a.bits << count & mask);
        if (key == "int.masked_shr") return scalar(output, (type.is_signed ? static_cast<UInt128>(signed_value(a) >> count) : a.bits >> count) & mask);
        if (key == "int.rotate_left") return scalar(output, count == 0 ? a.bits : (a.bits << count | a.bits >> (type.bits - count)) & mask);
        if (key == "int.rotate_right") return scalar(output, count == 0 ? a.bits : (a.bits >> count | a.bits << (type.bits - count)) & mask);
        if (key == "int.add_overflows" || key == "int.sub_overflows" || key == "int.mul_overflows") {
            const BinaryOp op = key == "int.add_overflows" ? BinaryOp::Add : key == "int.sub_overflows" ? BinaryOp::Sub : BinaryOp::Mul;
            integer_binary(op, a, b, a.type, at);
            const bool overflow = flow_ == Flow::Fail;
            if (overflow) {
                flow_ = Flow::Normal;
                failure_.clear();
            }
            return scalar(output, overflow);
        }
    }
    if (args.size() == 1) {
        const auto high = static_cast<std::uint64_t>(a.bits >> 64), low = static_cast<std::uint64_t>(a.bits);
        if (key == "int.count_ones") return scalar(output, std::popcount(high) + std::popcount(low));
        if (key == "int.leading_zeros") {
            const int all = high != 0 ? std::countl_zero(high) : 64 + std::countl_zero(low);
            return scalar(output, static_cast<UInt128>(all - (128 - static_cast<int>(type.bits))));
        }
        if (key == "int.trailing_zeros") {
            const int all = low != 0 ? std::countr_zero(low) : 64 + std::countr_zero(high);
            return scalar(output, static_cast<UInt128>(std::min<int>(all, static_cast<int>(type.bits))));
        }
        if (key == "int.swap_bytes" || key == "int.reverse_bits") {
            const std::uint32_t unit_bits = key == "int.swap_bytes" ? 8 : 1;
            UInt128 out = 0;
            for (std::uint32_t i = 0; i < type.bits; i += unit_bits) out = out << unit_bits | (a.bits >> i & mask_of(unit_bits));
            return scalar(output, out);
        }
        if (key == "int.successor") return scalar(output, (a.bits + 1) & mask);
        if (key == "int.predecessor") return scalar(output, (a.bits - 1) & mask);
        if (key == "mem.transmute") {
            Value out = a;
            out.type = output;
            return out;
        }
    }
    return fail(at, fmt::format("the operation `{}` cannot run in a constant", key));
}

}  // namespace ockc::check
