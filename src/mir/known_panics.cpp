// Simple constant propagation over a body, in reverse post-order and only along ways that constants do not rule out. A
// variable assigned once, and never borrowed, keeps its value; one assigned several times keeps it to the end of the block.
#include "mir/known_panics.hpp"

#include <optional>

#include "types/print.hpp"

namespace ockc::mir {

namespace {

using types::IntKind;
using types::TypeKind;
using Wide = __int128;
using UWide = unsigned __int128;

struct Value {
    TypeId type;
    UWide bits = 0;
};

class Propagator {
  public:
    Propagator(const Body& body, check::Context& context)
        : body_(body), context_(context), types_(context.types()), assigned_(body.locals.size()),
          borrowed_(body.locals.size()), known_(body.locals.size()), overflowed_(body.locals.size()) {}

    bool run(std::span<const std::uint32_t> order) {
        count_assignments();
        std::vector<bool> reached(body_.blocks.size());
        reached[0] = true;
        for (const std::uint32_t b : order) {
            if (reached[b]) block(BlockId(b), reached);
        }
        return good_;
    }

  private:
    void count_assignments() {
        for (std::uint32_t i = 1; i <= body_.arg_count; ++i) borrowed_[i] = true;
        for (const BasicBlock& one : body_.blocks) {
            for (const Statement& node : one.statements) {
                const auto* assign = node.get_if<AssignStatement>();
                if (assign == nullptr) continue;
                ++assigned_[assign->place.local.raw];
                const RvalueKind k = kind(assign->value);
                if (k != RvalueKind::Ref && k != RvalueKind::RawPtr) continue;
                const Place& place = *read_place(assign->value);
                if (!place.is_indirect()) borrowed_[place.local.raw] = true;
            }
            if (const auto* call = one.terminator.get_if<CallTerminator>()) ++assigned_[call->destination.local.raw];
        }
    }

    // ---- values

    std::optional<Value> value_of(const Operand& operand) {
        if (!operand.is_constant()) {
            if (!operand.place.is_local()) return overflow_pair(operand.place);
            return known_[operand.place.local.raw];
        }
        const Constant& constant = body_.constants[operand.constant];
        const TypeKind kind = types_.kind(constant.type);
        if (kind != TypeKind::Int && kind != TypeKind::Bool && kind != TypeKind::Char) return std::nullopt;
        if (constant.kind == Constant::Kind::Scalar) {
            return Value{constant.type, (static_cast<UWide>(constant.high) << 64) | constant.low};
        }
        if (constant.kind != Constant::Kind::Item || types_.has(constant.args, types::kHasParam | types::kHasProjection)) return std::nullopt;
        const check::ConstValue* item = context_.eval_const({constant.def, constant.args});
        if (item == nullptr || item->kind != check::ConstValue::Kind::Scalar) return std::nullopt;
        return Value{constant.type, (static_cast<UWide>(item->bits[1]) << 64) | item->bits[0]};
    }
    // (value, overflowed).N of a checked operation.
    std::optional<Value> overflow_pair(const Place& place) {
        if (place.projections.size() != 1 || place.projections[0].kind != ProjectionKind::Field) return std::nullopt;
        const std::optional<bool> flag = overflowed_[place.local.raw];
        if (!flag) return std::nullopt;
        if (place.projections[0].index == 1) return Value{types_.boolean, *flag ? UWide{1} : UWide{0}};
        return known_[place.local.raw];
    }

    bool is_int(TypeId type) const { return types_.kind(type) == TypeKind::Int; }
    std::uint32_t bits_of(TypeId type) const { return is_int(type) ? types::int_bits(types_[type].int_kind) : 32; }
    bool is_signed(TypeId type) const { return is_int(type) && types::int_signed(types_[type].int_kind); }
    UWide mask(TypeId type) const {
        const std::uint32_t bits = bits_of(type);
        return bits >= 128 ? ~UWide{0} : (UWide{1} << bits) - 1;
    }
    Wide extend(Value value) const {
        const std::uint32_t bits = bits_of(value.type);
        if (bits >= 128 || !is_signed(value.type) || (value.bits >> (bits - 1) & 1) == 0) return static_cast<Wide>(value.bits);
        return static_cast<Wide>(value.bits | ~mask(value.type));
    }
    std::string text(Value value) const {
        const std::string number = types::decimal_text(is_signed(value.type) ? static_cast<UWide>(extend(value)) : value.bits, is_signed(value.type));
        if (!is_int(value.type)) return number;
        const std::string_view name = types::int_name(types_[value.type].int_kind);
        const UWide max = is_signed(value.type) ? mask(value.type) >> 1 : mask(value.type);
        if (value.bits == max) return std::string(name) + "::MAX";
        if (is_signed(value.type) && value.bits == max + 1) return std::string(name) + "::MIN";
        return number + "_" + std::string(name);
    }

    // ---- operations

    struct Result {
        Value value;
        bool overflow = false;
    };
    std::optional<Result> compute(BinOp op, Value a, Value b) const {
        const UWide m = mask(a.type);
        const bool sign = is_signed(a.type);
        const Wide x = extend(a), y = extend(b);
        const auto same = [&](UWide bits, bool overflow) { return Result{Value{a.type, bits & m}, overflow}; };
        const auto logic = [&](bool holds) { return Result{Value{types_.boolean, holds ? UWide{1} : UWide{0}}, false}; };
        switch (op) {
            case BinOp::Add: return same(a.bits + b.bits, overflows(op, a, b));
            case BinOp::Sub: return same(a.bits - b.bits, overflows(op, a, b));
            case BinOp::Mul: return same(a.bits * b.bits, overflows(op, a, b));
            case BinOp::Div:
            case BinOp::Rem: {
                if (b.bits == 0) return std::nullopt;
                if (sign && y == -1) return same(op == BinOp::Div ? -a.bits : 0, false);
                if (sign) return same(static_cast<UWide>(op == BinOp::Div ? x / y : x % y), false);
                return same(op == BinOp::Div ? a.bits / b.bits : a.bits % b.bits, false);
            }
            case BinOp::BitXor: return same(a.bits ^ b.bits, false);
            case BinOp::BitAnd: return same(a.bits & b.bits, false);
            case BinOp::BitOr: return same(a.bits | b.bits, false);
            case BinOp::Shl:
            case BinOp::Shr: {
                const std::uint32_t count = static_cast<std::uint32_t>(b.bits) & (bits_of(a.type) - 1);
                if (op == BinOp::Shl) return same(a.bits << count, false);
                return same(sign ? static_cast<UWide>(x >> count) : a.bits >> count, false);
            }
            case BinOp::Eq: return logic(a.bits == b.bits);
            case BinOp::Ne: return logic(a.bits != b.bits);
            case BinOp::Lt: return logic(sign ? x < y : a.bits < b.bits);
            case BinOp::Le: return logic(sign ? x <= y : a.bits <= b.bits);
            case BinOp::Gt: return logic(sign ? x > y : a.bits > b.bits);
            case BinOp::Ge: return logic(sign ? x >= y : a.bits >= b.bits);
        }
        OCKC_UNREACHABLE("operator");
    }
    bool overflows(BinOp op, Value a, Value b) const {
        const std::uint32_t bits = bits_of(a.type);
        const Wide x = extend(a), y = extend(b);
        Wide signed_result = 0;
        UWide unsigned_result = 0;
        bool lost = false;
        if (is_signed(a.type)) {
            lost = op == BinOp::Add   ? __builtin_add_overflow(x, y, &signed_result)
                   : op == BinOp::Sub ? __builtin_sub_overflow(x, y, &signed_result)
                                      : __builtin_mul_overflow(x, y, &signed_result);
            if (bits >= 128) return lost;
            const Wide max = (Wide{1} << (bits - 1)) - 1;
            return lost || signed_result > max || signed_result < -max - 1;
        }
        lost = op == BinOp::Add   ? __builtin_add_overflow(a.bits, b.bits, &unsigned_result)
               : op == BinOp::Sub ? __builtin_sub_overflow(a.bits, b.bits, &unsigned_result)
                                  : __builtin_mul_overflow(a.bits, b.bits, &unsigned_result);
        return lost || (bits < 128 && unsigned_result > mask(a.type));
    }

    std::optional<Value> binary(BinOp op, const Operand& lhs, const Operand& rhs, bool* overflowed) {
        const std::optional<Value> a = value_of(lhs), b = value_of(rhs);
        const TypeId type = body_.type_of(lhs);
        if ((op == BinOp::Shl || op == BinOp::Shr) && b && is_int(type)) {
            const Wide count = extend(*b);
            if (count < 0 || count >= static_cast<Wide>(bits_of(type))) {
                report_overflow("attempt to shift " + std::string(op == BinOp::Shl ? "left" : "right") + " by `" + text(*b) +
                                "`, which would overflow");
                return std::nullopt;
            }
        }
        if (!a || !b) return std::nullopt;
        const std::optional<Result> result = compute(op, *a, *b);
        if (!result) return std::nullopt;
        if (overflowed != nullptr) *overflowed = result->overflow;
        if (result->overflow && is_int(type)) {
            report_overflow("attempt to compute `" + text(*a) + " " + std::string(binop_text(op)) + " " + text(*b) +
                            "`, which would overflow");
            return std::nullopt;
        }
        return result->value;
    }

    std::optional<Value> unary(const UnaryOpRvalue& node) {
        const std::optional<Value> a = value_of(node.operand);
        if (!a) return std::nullopt;
        if (node.op == UnOp::Not) {
            if (types_.kind(a->type) == TypeKind::Bool) return Value{a->type, a->bits ^ 1};
            return Value{a->type, ~a->bits & mask(a->type)};
        }
        if (is_signed(a->type) && a->bits == UWide{1} << (bits_of(a->type) - 1)) {
            report_overflow("attempt to negate `" + text(*a) + "`, which would overflow");
            return std::nullopt;
        }
        return Value{a->type, -a->bits & mask(a->type)};
    }

    std::optional<Value> evaluate(const AssignStatement& node) {
        const TypeId target = body_.type_of(node.place);
        switch (kind(node.value)) {
            case RvalueKind::Use: return value_of(std::get<UseRvalue>(node.value.data).operand);
            case RvalueKind::UnaryOp: return unary(std::get<UnaryOpRvalue>(node.value.data));
            case RvalueKind::BinaryOp: {
                const auto& binop = std::get<BinaryOpRvalue>(node.value.data);
                return binary(binop.op, binop.lhs, binop.rhs, nullptr);
            }
            case RvalueKind::CheckedBinaryOp: {
                const auto& binop = std::get<CheckedBinaryOpRvalue>(node.value.data);
                bool overflowed = false;
                const std::optional<Value> value = binary(binop.op, binop.lhs, binop.rhs, &overflowed);
                if (value && node.place.is_local()) overflowed_[node.place.local.raw] = overflowed;
                return value;
            }
            case RvalueKind::Cast: {
                const auto& cast = std::get<CastRvalue>(node.value.data);
                const std::optional<Value> value = value_of(cast.operand);
                if (cast.cast != CastKind::IntToInt || !value || !is_int(target)) return std::nullopt;
                return Value{target, static_cast<UWide>(extend(*value)) & mask(target)};
            }
            case RvalueKind::Len: {
                const TypeId type = body_.type_of(std::get<LenRvalue>(node.value.data).place);
                if (types_.kind(type) != TypeKind::Array) return std::nullopt;
                const auto length = context_.usize_value(types_[type].length);
                return length ? std::optional<Value>(Value{types_.usize(), *length}) : std::nullopt;
            }
            case RvalueKind::None:
            case RvalueKind::Repeat:
            case RvalueKind::Ref:
            case RvalueKind::RawPtr:
            case RvalueKind::Discriminant:
            case RvalueKind::Aggregate:
            case RvalueKind::NullaryOp: return std::nullopt;
        }
        OCKC_UNREACHABLE("rvalue kind");
    }

    // ---- control

    void block(BlockId id, std::vector<bool>& reached) {
        const BasicBlock& node = body_.blocks[id];
        std::vector<LocalId> local_only;
        for (const Statement& statement : node.statements) {
            span_ = statement.span;
            const auto* assign = statement.get_if<AssignStatement>();
            if (assign == nullptr) continue;
            const std::optional<Value> value = evaluate(*assign);
            const std::uint32_t local = assign->place.local.raw;
            if (!assign->place.is_local()) {
                if (!assign->place.is_indirect()) known_[local].reset();
                continue;
            }
            known_[local].reset();
            if (!value || borrowed_[local]) continue;
            known_[local] = value;
            if (assigned_[local] > 1) local_only.push_back(assign->place.local);
        }
        span_ = node.terminator.span;
        terminator(node.terminator, reached);
        for (const LocalId local : local_only) known_[local.raw].reset();
    }

    void terminator(const Terminator& node, std::vector<bool>& reached) {
        if (const auto* assertion = node.get_if<AssertTerminator>()) {
            const std::optional<Value> condition = value_of(assertion->condition);
            if (condition && (condition->bits != 0) != assertion->expected) failed(*assertion);   // what follows is judged all the same
        }
        if (const auto* choice = node.get_if<SwitchIntTerminator>()) {
            if (const std::optional<Value> value = value_of(choice->operand)) {
                BlockId target = choice->otherwise;
                for (const SwitchCase& one : choice->cases) {
                    if (((static_cast<UWide>(one.high) << 64) | one.low) == value->bits) target = one.target;
                }
                if (target.valid()) reached[target.raw] = true;
                return;
            }
        }
        for_each_successor(node, [&](BlockId next) { reached[next.raw] = true; });
    }

    void failed(const AssertTerminator& node) {
        const auto shown = [&](const Operand& operand) {
            const std::optional<Value> value = value_of(operand);
            return value ? text(*value) : std::string("_");
        };
        switch (node.kind) {
            case AssertKind::BoundsCheck: {
                const std::optional<Value> length = value_of(node.a), index = value_of(node.b);
                if (!length || !index) return;
                return report_panic("index out of bounds: the length is " + types::decimal_text(length->bits, false) +
                                    " but the index is " + types::decimal_text(index->bits, false));
            }
            case AssertKind::DivisionByZero: return report_panic("attempt to divide `" + shown(node.a) + "` by zero");
            case AssertKind::RemainderByZero:
                return report_panic("attempt to calculate the remainder of `" + shown(node.a) + "` with a divisor of zero");
            case AssertKind::Overflow:
                if (node.op != BinOp::Div && node.op != BinOp::Rem) return;   // reported at the operation
                return report_panic("attempt to compute `" + shown(node.a) + " " + std::string(binop_text(node.op)) + " " +
                                    shown(node.b) + "`, which would overflow");
            case AssertKind::OverflowNeg: return;
        }
    }

    void report_overflow(const std::string& label) { report("arithmetic_overflow", "this arithmetic operation will overflow", label); }
    void report_panic(const std::string& label) { report("unconditional_panic", "this operation will panic at runtime", label); }
    void report(std::string lint, std::string message, const std::string& label) {
        const std::size_t errors = context_.sink().error_count();
        Diagnostic& error = context_.sink().lint(lint, span_, std::move(message));
        error.labels.clear();
        error.labels.push_back(Label{span_, label, true});
        error.note("`#[deny(" + lint + ")]` on by default");
        good_ = good_ && context_.sink().error_count() == errors;
    }

    const Body& body_;
    check::Context& context_;
    types::TypeStore& types_;
    std::vector<std::uint32_t> assigned_;
    std::vector<bool> borrowed_;
    std::vector<std::optional<Value>> known_;
    std::vector<std::optional<bool>> overflowed_;
    Span span_;
    bool good_ = true;
};

}  // namespace

bool lint_known_panics(const Body& body, check::Context& context, std::span<const std::uint32_t> order) {
    return Propagator(body, context).run(order);
}

}  // namespace ockc::mir
