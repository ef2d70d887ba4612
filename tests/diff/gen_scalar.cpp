// Expressions of scalars: operators, casts, methods.
#include <fmt/format.h>

#include <string_view>

#include "scope.hpp"

namespace ockc::difftest {

namespace {

enum class Receiver : std::uint8_t { Int, Signed, Unsigned, Float, Char, Bool };

bool receives(Receiver receiver, TypePtr type) {
    switch (receiver) {
        case Receiver::Int: return type->kind == Kind::Int;
        case Receiver::Signed: return type->kind == Kind::Int && type->is_signed;
        case Receiver::Unsigned: return type->kind == Kind::Int && !type->is_signed;
        case Receiver::Float: return type->kind == Kind::Float;
        case Receiver::Char: return type->kind == Kind::Char;
        case Receiver::Bool: return type->kind == Kind::Bool;
    }
    return false;
}

struct MethodRow {
    Construct construct;
    const char* name;
    Receiver receiver;
    std::string_view shape;
    std::uint32_t weight;
};
constexpr MethodRow kMethods[] = {
#define DIFF_METHOD(name, receiver, shape, weight) {Construct::method_##receiver##_##name, #name, Receiver::receiver, #shape, weight},
#include "methods.def"
};

}  // namespace

MaybeExpr Generator::exprArith(TypePtr type, std::uint32_t depth) {
    const char* op = std::array{"+", "-", "*"}[random_.below(3)];
    const Expr left = expr(type, depth);
    Expr right = expr(type, depth);
    if (left.known && right.known) right = dynamic(type);
    return Expr{fmt::format("({} {} {})", left.text, op, right.text)};
}

// Neither 0 nor -1, whatever the operand is.
MaybeExpr Generator::exprDivRem(TypePtr type, std::uint32_t depth) {
    const char* op = random_.chance(50) ? "/" : "%";
    const Expr left = expr(type, depth), right = expr(type, depth);
    if (!type->is_signed) return Expr{fmt::format("({} {} ({} | 1))", left.text, op, right.text), left.known && right.known};
    if (random_.chance(30)) {   // a negative divisor: MIN | 1 .. -3
        return Expr{fmt::format("({} {} ({} & -4 | 1 | {}::MIN))", left.text, op, right.text, type->name), left.known && right.known};
    }
    return Expr{fmt::format("({} {} ({} & 0x5f | 1))", left.text, op, right.text), left.known && right.known};
}

MaybeExpr Generator::exprFloatDiv(TypePtr type, std::uint32_t depth) {
    return Expr{fmt::format("({} / {})", expr(type, depth).text, expr(type, depth).text)};
}

MaybeExpr Generator::exprFloatRem(TypePtr type, std::uint32_t depth) {
    return Expr{fmt::format("({} % {})", expr(type, depth).text, expr(type, depth).text)};
}

MaybeExpr Generator::exprBitwise(TypePtr type, std::uint32_t depth) {
    const char* op = std::array{"&", "|", "^"}[random_.below(3)];
    const Expr left = expr(type, depth), right = expr(type, depth);
    return Expr{fmt::format("({} {} {})", left.text, op, right.text), left.known && right.known};
}

// The amount has any integer type and any value: release Rust masks it.
MaybeExpr Generator::exprShift(TypePtr type, std::uint32_t depth) {
    const char* op = random_.chance(50) ? "<<" : ">>";
    const Expr left = expr(type, depth);
    if (random_.chance(30)) return Expr{fmt::format("({} {} {})", left.text, op, random_.below(type->bits)), left.known};
    const TypePtr amount_type = random_.chance(50) ? type : integer();
    Expr amount = expr(amount_type, depth);
    if (amount.known) amount = dynamic(amount_type);
    return Expr{fmt::format("({} {} {})", left.text, op, amount.text)};
}

MaybeExpr Generator::exprNegate(TypePtr type, std::uint32_t depth) {
    Expr value = expr(type, depth);
    if (value.known) value = dynamic(type);
    return Expr{fmt::format("(-{})", value.text)};
}

MaybeExpr Generator::exprFloatNegate(TypePtr type, std::uint32_t depth) { return Expr{fmt::format("(-{})", expr(type, depth).text)}; }

MaybeExpr Generator::exprNot(TypePtr type, std::uint32_t depth) {
    const Expr value = expr(type, depth);
    return Expr{fmt::format("(!{})", value.text), value.known};
}

MaybeExpr Generator::exprIntCast(TypePtr type, std::uint32_t depth) {
    const TypePtr from = scalar_type();
    const Expr value = expr(from, depth);
    const bool known = value.known || from->kind == Kind::Float;   // what floats are known is not followed
    return Expr{fmt::format("({} as {})", value.text, type->name), known};
}

MaybeExpr Generator::exprFloatCast(TypePtr type, std::uint32_t depth) {
    const TypePtr from = random_.chance(70) ? integer() : scalars_[ints_.size() + random_.below(2)];
    return Expr{fmt::format("({} as {})", expr(from, depth).text, type->name)};
}

MaybeExpr Generator::exprCharCast(TypePtr, std::uint32_t depth) {
    const Expr value = expr(int_type(8, false), depth);
    return Expr{fmt::format("({} as char)", value.text), value.known};
}

MaybeExpr Generator::exprEnumCast(TypePtr type, std::uint32_t depth) {
    for (const TypePtr one : enums_) {
        if (one->plain) return Expr{fmt::format("({} as {})", expr(one, depth).text, type->name), true};
    }
    return std::nullopt;
}

// The sign of a zero among equal operands and NaN payloads are not the language's to say: adding 0.0 settles the former.
MaybeExpr Generator::exprFloatMinMax(TypePtr type, std::uint32_t depth) {
    const char* name = random_.chance(50) ? "min" : "max";
    return Expr{fmt::format("({}.{}({}) + 0.0)", expr(type, depth).text, name, expr(type, depth).text)};
}

MaybeExpr Generator::exprCopysign(TypePtr type, std::uint32_t depth) {
    return Expr{fmt::format("{}.copysign(no_nan_{}({}))", expr(type, depth).text, type->name, expr(type, depth).text)};
}

MaybeExpr Generator::exprFloatBits(TypePtr type, std::uint32_t depth) {
    if (type->is_signed || (type->bits != 32 && type->bits != 64) || type->name.back() == 'e') return std::nullopt;
    const TypePtr from = scalars_[ints_.size() + (type->bits == 64 ? 1 : 0)];
    return Expr{fmt::format("no_nan_{}({}).to_bits()", from->name, expr(from, depth).text)};
}

MaybeExpr Generator::exprFromBits(TypePtr type, std::uint32_t depth) {
    const TypePtr from = int_type(type->bits, false);
    return Expr{fmt::format("{}::from_bits({})", type->name, expr(from, depth).text)};
}

MaybeExpr Generator::exprOrderingOf(TypePtr type, std::uint32_t depth) {
    const TypePtr of = random_.chance(70) ? integer() : scalars_.back();
    const Freeze freeze(*this);
    return Expr{fmt::format("({}.cmp(&{}) as {})", expr(of, depth).text, expr(of, depth).text, type->name), true};
}

MaybeExpr Generator::exprSizeOf(TypePtr type, std::uint32_t) {
    return Expr{fmt::format("(core::mem::size_of::<{}>() as {})", any_type()->name, type->name), true};
}

MaybeExpr Generator::exprDefaultValue(TypePtr type, std::uint32_t) { return Expr{fmt::format("<{}>::default()", type->name), true}; }

MaybeExpr Generator::exprCompare(TypePtr, std::uint32_t depth) {
    const TypePtr of = scalar_type();
    const char* op = std::array{"==", "!=", "<", "<=", ">", ">="}[random_.below(6)];
    const Expr left = expr(of, depth), right = expr(of, depth);
    return Expr{fmt::format("({} {} {})", left.text, op, right.text), left.known && right.known};
}

MaybeExpr Generator::exprCompareWhole(TypePtr, std::uint32_t depth) {
    const TypePtr of = random_.pick(composites_);
    if (!of->comparable()) return std::nullopt;
    const char* op = std::array{"==", "!=", "<", "<=", ">", ">="}[random_.below(6)];
    const Freeze freeze(*this);
    return Expr{fmt::format("({} {} {})", expr(of, depth).text, op, expr(of, depth).text), true};
}

MaybeExpr Generator::exprLogical(TypePtr, std::uint32_t depth) {
    return Expr{fmt::format("({} {} {})", boolean(depth), random_.chance(50) ? "&&" : "||", boolean(depth)), true};
}

MaybeExpr Generator::exprBoolBitwise(TypePtr, std::uint32_t depth) {
    return Expr{fmt::format("({} {} {})", boolean(depth), std::array{"&", "|", "^"}[random_.below(3)], boolean(depth)), true};
}

MaybeExpr Generator::exprBoolNot(TypePtr, std::uint32_t depth) { return Expr{fmt::format("(!{})", boolean(depth)), true}; }

MaybeExpr Generator::exprMatches(TypePtr, std::uint32_t depth) {
    const TypePtr of = any_type();
    const std::string subject = frozen(of, depth);
    const Scope scope(*this);
    Bindings bindings;
    const std::string tested = pattern(of, 2, true, false, &bindings);
    declare(bindings);
    if (random_.chance(60)) return Expr{fmt::format("matches!({}, {})", subject, tested), true};
    const Freeze freeze(*this);
    return Expr{fmt::format("matches!({}, {} if {})", subject, tested, boolean(depth)), true};
}

MaybeExpr Generator::exprIsSome(TypePtr, std::uint32_t depth) {
    std::vector<TypePtr> found;
    for (const TypePtr type : composites_) {
        if (type->kind == Kind::Option || type->kind == Kind::Result) found.push_back(type);
    }
    if (found.empty()) return std::nullopt;
    const TypePtr type = random_.pick(found);
    const bool first = random_.chance(50);
    const char* name = type->kind == Kind::Option ? (first ? "is_some" : "is_none") : first ? "is_ok" : "is_err";
    return Expr{fmt::format("{}.{}()", expr(type, depth).text, name), true};
}

MaybeExpr Generator::exprRangeContains(TypePtr, std::uint32_t depth) {
    const TypePtr of = integer();
    const Freeze freeze(*this);
    return Expr{fmt::format("({}{}{}).contains(&{})", expr(of, depth).text, random_.chance(50) ? ".." : "..=", expr(of, depth).text, expr(of, depth).text), true};
}

MaybeExpr Generator::exprScalarMethod(TypePtr type, std::uint32_t depth) { return scalar_method(type, depth, false); }
MaybeExpr Generator::exprCheckedMethod(TypePtr type, std::uint32_t depth) { return scalar_method(type, depth, true); }

// One of the rows whose result is `type`: the receiver's type follows from the result's.
MaybeExpr Generator::scalar_method(TypePtr type, std::uint32_t depth, bool option_only) {
    struct Fit {
        const MethodRow* row;
        TypePtr receiver;
    };
    std::vector<Fit> fits;
    const TypePtr picked = scalar_type();
    for (const MethodRow& row : kMethods) {
        const char result = row.shape.back();
        TypePtr receiver = nullptr;
        if (result == 'T') receiver = type;
        if (result == 'B' && type->kind == Kind::Bool) receiver = picked;
        if (result == 'U' && type->kind == Kind::Int) receiver = picked;
        if (result == 'O' && type->kind == Kind::Option) receiver = type->parts[0];
        if (result == 'P' && type->kind == Kind::Tuple && type->parts.size() == 2 && type->parts[1]->kind == Kind::Bool) receiver = type->parts[0];
        if (result == 'P' && type->kind == Kind::Int) receiver = type;
        if (result == 'P' && type->kind == Kind::Bool) receiver = picked;
        if (result == 'V' && type->kind == Kind::Int && !type->is_signed) {
            receiver = random_.chance(50) ? type : int_type(type->bits, true, type->name.back() == 'e');
        }
        if (receiver == nullptr || !receives(row.receiver, receiver) || (option_only && result != 'O')) continue;
        for (std::uint32_t i = 0; i < row.weight; ++i) fits.push_back({&row, receiver});
    }
    if (fits.empty()) return std::nullopt;
    const Fit& fit = random_.pick(fits);
    const TypePtr u32 = int_type(32, false), of = fit.receiver;
    std::string given;
    for (const char argument : fit.row->shape.substr(0, fit.row->shape.find('_'))) {
        given += given.empty() ? "" : ", ";
        switch (argument) {
            case 'x': break;
            case 'T': given += expr(of, depth).text; break;
            case 'N': given += random_.chance(50) ? expr(u32, depth).text : fmt::format("({} % {})", expr(u32, depth).text, of->bits * 2); break;
            case 'D': given += of->is_signed ? fmt::format("({} & 0x5f | 1)", expr(of, depth).text) : fmt::format("({} | 1)", expr(of, depth).text); break;
            default: {   // L: ordered bounds
                const std::string low = literal_scalar(of, false);
                given += fmt::format("{0}.min({1}), {0}.max({1})", low, literal_scalar(of, false));
                break;
            }
        }
    }
    use(fit.row->construct);
    const std::string text = fmt::format("{}.{}({})", expr(of, depth).text, fit.row->name, given);
    const char result = fit.row->shape.back();
    if (result == 'P' && type->kind != Kind::Tuple) return Expr{text + (type->kind == Kind::Bool ? ".1" : ".0")};
    if (result == 'U' && type->name != "u32") return Expr{fmt::format("({} as {})", text, type->name)};
    return Expr{text};
}

}  // namespace ockc::difftest
