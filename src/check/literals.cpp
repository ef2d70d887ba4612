// The lint overflowing_literals, which rustc denies by default: integer literals out of their type's range, float literals that
// become infinite.
#include <fmt/format.h>

#include "check/literal_value.hpp"
#include "check/passes.hpp"
#include "types/print.hpp"

namespace ockc::check {

namespace {

using UInt128 = unsigned __int128;

class LiteralCheck {
  public:
    LiteralCheck(Context& context, const TypeTables& tables)
        : cx_(context), types_(context.types()), tables_(tables), body_(*context.program().bodies[tables.body]) {}

    void run() {
        std::vector<bool> negated(body_.exprs.size());
        for (std::uint32_t i = 0; tables_.has<hir::UnaryExpr>() && i < body_.exprs.size(); ++i) {
            const auto* unary = std::get_if<hir::UnaryExpr>(&body_.exprs[hir::ExprId(i)].data);
            if (unary != nullptr && unary->op == hir::UnaryOp::Neg) negated[unary->operand.raw] = true;
        }
        for (std::uint32_t i = 0; tables_.has<hir::LiteralExpr>() && i < body_.exprs.size(); ++i) {
            const auto* literal = std::get_if<hir::LiteralExpr>(&body_.exprs[hir::ExprId(i)].data);
            if (literal != nullptr) check(literal->value, tables_.type(hir::ExprId(i)), negated[i], body_.exprs[hir::ExprId(i)].span);
        }
        for (std::uint32_t i = 0; i < body_.pats.size(); ++i) {
            const auto* literal = std::get_if<hir::LiteralPat>(&body_.pats[hir::PatId(i)].data);
            if (literal != nullptr) check(literal->value, tables_.type(hir::PatId(i)), literal->negative, body_.pats[hir::PatId(i)].span);
        }
    }

  private:
    void check(const hir::Literal& literal, TypeId type, bool negative, Span at) {
        if (!type.valid()) return;
        const TypeData& data = types_[type];
        if (literal.kind == hir::Literal::Kind::Float && data.kind == TypeKind::Float) return check_float(literal, data, at);
        if (literal.kind != hir::Literal::Kind::Int || data.kind != TypeKind::Int) return;
        const std::uint32_t bits = types::int_bits(data.int_kind);
        const bool is_signed = types::int_signed(data.int_kind);
        const UInt128 value = static_cast<UInt128>(literal.high) << 64 | literal.low;
        const UInt128 all = bits >= 128 ? ~UInt128{0} : (UInt128{1} << bits) - 1;
        const UInt128 limit = is_signed ? (all >> 1) + (negative ? 1 : 0) : all;
        if (value <= limit) return;
        const std::string_view name = types::int_name(data.int_kind);
        Diagnostic& diagnostic = report(at, fmt::format("literal out of range for `{}`", name));
        const std::string low = is_signed ? "-" + types::decimal_text((all >> 1) + 1, false) : "0";
        diagnostic.note(fmt::format("the literal `{}` does not fit into the type `{}` whose range is `{}..={}`", types::decimal_text(value, false), name, low,
                                    types::decimal_text(is_signed ? all >> 1 : all, false)));
    }

    void check_float(const hir::Literal& literal, const TypeData& data, Span at) {
        const std::uint64_t infinity = data.float_kind == types::FloatKind::F64  ? 0x7FF0'0000'0000'0000ull
                                       : data.float_kind == types::FloatKind::F32  ? 0x7F80'0000ull
                                       : data.float_kind == types::FloatKind::BF16 ? 0x7F80ull
                                                                                   : 0x7C00ull;
        if (float_bits_of(literal.text, data.float_kind) != infinity) return;
        report(at, fmt::format("literal out of range for `{}`", types::float_name(data.float_kind)))
            .note(fmt::format("the literal does not fit into the type `{}` and will be converted to infinity", types::float_name(data.float_kind)));
    }

    Diagnostic& report(Span at, std::string message) {
        return cx_.sink().lint("overflowing_literals", at, std::move(message));
    }

    Context& cx_;
    TypeStore& types_;
    const TypeTables& tables_;
    const hir::Body& body_;
};

}  // namespace

void check_literals(Context& context, const TypeTables& tables) { LiteralCheck(context, tables).run(); }

}  // namespace ockc::check
