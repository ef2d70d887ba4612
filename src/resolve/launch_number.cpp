// The numbers of launch attributes: literals, and named constants that are computed from literals. They are wanted before
// types are known, so that the value is read off the syntax; in all of these types wrapping would be an error anyway.
#include <limits>

#include "resolve/launch.hpp"
#include "resolve/lookup.hpp"

namespace ockc::resolve {

namespace {

constexpr std::uint32_t kMaxConstantDepth = 64;

class LaunchNumber {
  public:
    explicit LaunchNumber(State& state) : s_(state) {}

    std::optional<std::uint64_t> path(ast::PathId id, std::uint32_t crate, ModuleId module, std::uint32_t depth) const {
        const ast::Path& path = s_.ast_of(crate)[id];
        std::vector<ImportSegment> segments;
        for (const ast::PathSegment& segment : path.segments) segments.push_back({segment.kind, hir_ident(segment.ident), segment.ident.context});
        const PathEnd end = find_path(s_, segments, path.global, Ns::Value, module, nullptr);
        if (end.kind != PathEnd::Kind::Done || end.res.kind != Res::Kind::Def) return std::nullopt;
        const hir::Def& def = s_.program.defs[end.res.def];
        const DefSource& source = s_.origin[end.res.def];
        if (def.kind != DefKind::Const || s_.crates[def.crate].is_library || !source.item.valid()) return std::nullopt;
        const auto* item = std::get_if<ast::ConstItem>(&s_.ast_of(def.crate)[source.item].data);
        return item == nullptr ? std::nullopt : value(item->value, def.crate, source.module, depth + 1);
    }

    std::optional<std::uint64_t> value(ast::ExprId id, std::uint32_t crate, ModuleId module, std::uint32_t depth) const {
        if (!id.valid() || depth > kMaxConstantDepth) return std::nullopt;
        const ast::Crate& ast = s_.ast_of(crate);
        const ast::Expr& expr = ast[id];
        if (const auto* paren = ast::get_if<ast::ParenExpr>(expr)) return value(paren->inner, crate, module, depth + 1);
        if (const auto* cast = ast::get_if<ast::CastExpr>(expr)) return value(cast->operand, crate, module, depth + 1);
        if (const auto* named = ast::get_if<ast::PathExpr>(expr)) return path(named->path, crate, module, depth);
        if (const auto* literal = ast::get_if<ast::LiteralExpr>(expr)) {
            const ast::Literal& data = ast[literal->literal];
            const bool good = data.kind == lex::LiteralKind::Integer && data.error == lex::LiteralError::None && data.value <= std::numeric_limits<std::uint64_t>::max();
            return good ? std::optional(static_cast<std::uint64_t>(data.value)) : std::nullopt;
        }
        const auto* binary = ast::get_if<ast::BinaryExpr>(expr);
        if (binary == nullptr) return std::nullopt;
        const auto left = value(binary->lhs, crate, module, depth + 1), right = value(binary->rhs, crate, module, depth + 1);
        return left && right ? apply(binary->op, *left, *right) : std::nullopt;
    }

  private:
    static std::optional<std::uint64_t> apply(ast::BinaryOp op, std::uint64_t a, std::uint64_t b) {
        std::uint64_t result = 0;
        if (op == ast::BinaryOp::Add) return __builtin_add_overflow(a, b, &result) ? std::nullopt : std::optional(result);
        if (op == ast::BinaryOp::Sub) return __builtin_sub_overflow(a, b, &result) ? std::nullopt : std::optional(result);
        if (op == ast::BinaryOp::Mul) return __builtin_mul_overflow(a, b, &result) ? std::nullopt : std::optional(result);
        if (op == ast::BinaryOp::Div && b != 0) return a / b;
        if (op == ast::BinaryOp::Rem && b != 0) return a % b;
        if (op == ast::BinaryOp::Shl && b < 64 && (a << b) >> b == a) return a << b;
        if (op == ast::BinaryOp::Shr && b < 64) return a >> b;
        return std::nullopt;
    }

    State& s_;
};

}  // namespace

std::optional<std::uint64_t> launch_number(State& state, std::uint32_t crate, ModuleId module, ast::ExprId value) {
    return LaunchNumber(state).value(value, crate, module, 0);
}

std::optional<std::uint64_t> launch_number(State& state, std::uint32_t crate, ModuleId module, ast::PathId constant) {
    return LaunchNumber(state).path(constant, crate, module, 0);
}

}  // namespace ockc::resolve
