// unused_variables, unused_must_use, path_statements. Assigning to a variable is no use of it, nor is `x += 1` on scalars.
#include <fmt/format.h>

#include "hir/walk.hpp"
#include "lints/lint.hpp"

namespace ockc::lints {

namespace {

using hir::ExprId;
using hir::LocalId;
using hir::PatId;

class BodyLint {
  public:
    BodyLint(const hir::Program& program, check::Context& context, const check::TypeTables& tables)
        : program_(program), cx_(context), tables_(tables), body_(*program.bodies[tables.body]), locals_(body_.locals.size()) {}

    void run() {
        for (const hir::FnParam& param : body_.params) {
            if (param.pat.valid()) pat(param.pat);
        }
        expr(body_.value);
        report_variables();
    }

    // ---- the walk (hir/walk.hpp)
    void expr(ExprId id) {
        const hir::Expr& node = body_.exprs[id];
        if (const auto* path = std::get_if<hir::PathExpr>(&node.data)) {
            if (const auto local = local_of(*path)) locals_[local->raw].read = true;
            return;
        }
        if (const auto* assign = std::get_if<hir::AssignExpr>(&node.data); assign != nullptr && write(assign->lhs)) return expr(assign->rhs);
        if (const auto* assign = std::get_if<hir::AssignOpExpr>(&node.data); assign != nullptr && !tables_.callees[id].valid() && write(assign->lhs)) return expr(assign->rhs);
        hir::walk(body_, node, *this);
    }
    void pat(PatId id) {
        const hir::Pat& node = body_.pats[id];
        if (const auto* binding = std::get_if<hir::BindingPat>(&node.data)) locals_[binding->local.raw].bound = true;
        if (const auto* fields = std::get_if<hir::StructPat>(&node.data)) {
            for (const hir::FieldPat& field : fields->fields) {
                const auto* binding = std::get_if<hir::BindingPat>(&body_.pats[field.pat].data);
                if (field.shorthand && binding != nullptr) locals_[binding->local.raw].shorthand = true;
            }
        }
        hir::walk(body_, node, *this);
    }
    void stmt(const hir::Stmt& stmt) {
        if (stmt.kind == hir::Stmt::Kind::Let && !stmt.init.valid() && stmt.pat.valid()) {
            if (const auto* binding = std::get_if<hir::BindingPat>(&body_.pats[stmt.pat].data)) locals_[binding->local.raw].late = true;
        }
        if (stmt.kind == hir::Stmt::Kind::Semi && stmt.expr.valid() && !body_.exprs[stmt.expr].desugared) result(stmt.expr);
    }

  private:
    struct Use {
        bool bound = false, read = false, written = false, shorthand = false;
        bool late = false;             // declared without a value
    };

    std::optional<LocalId> local_of(const hir::PathExpr& path) const {
        const hir::Res& res = path.path->path.res;
        if (path.path->kind != hir::QPath::Kind::Resolved || res.kind != hir::Res::Kind::Local) return std::nullopt;
        return res.local;
    }
    bool write(ExprId place) {
        const auto* path = std::get_if<hir::PathExpr>(&body_.exprs[place].data);
        const auto local = path != nullptr ? local_of(*path) : std::nullopt;
        if (local) locals_[local->raw].written = true;
        return local.has_value();
    }

    void report_variables() {
        for (LocalId id(0); id.raw < body_.locals.size(); id = LocalId(id.raw + 1)) {
            const hir::Local& local = body_.locals[id];
            const Use& use = locals_[id.raw];
            if (!use.bound || use.read || local.desugared || !local.name.name.valid()) continue;
            const std::string_view name = program_.interner.text(local.name.name);
            if (name.starts_with('_') || name == "self") continue;
            if (use.written) {
                cx_.sink().lint("unused_variables", local.name.span, fmt::format("variable `{}` is assigned to, but never used", name)).note(fmt::format("consider using `_{}` instead", name));
                continue;
            }
            Diagnostic& diagnostic = cx_.sink().lint("unused_variables", local.name.span, fmt::format("unused variable: `{}`", name));
            if (use.shorthand) diagnostic.suggest(local.name.span, fmt::format("{}: _", name), "try ignoring the field", Applicability::MaybeIncorrect);
            else diagnostic.suggest(local.name.span, fmt::format("_{}", name), "if this is intentional, prefix it with an underscore", Applicability::MaybeIncorrect);
        }
    }

    // A statement's value is thrown away.
    void result(ExprId id) {
        const hir::Expr& node = body_.exprs[id];
        if (std::holds_alternative<hir::PathExpr>(node.data)) {
            cx_.sink().lint("path_statements", node.span, "path statement with no effect");
            return;
        }
        if (must_use_type(id, node) || must_use_call(id, node)) return;
        const char* what = nullptr;
        if (const auto* binary = std::get_if<hir::BinaryExpr>(&node.data)) {
            what = operation(binary->op);
        } else if (std::holds_alternative<hir::UnaryExpr>(node.data)) {
            what = "unary operation";
        } else if (std::holds_alternative<hir::AddressOfExpr>(node.data)) {
            what = "borrow";
        } else if (std::holds_alternative<hir::ClosureExpr>(node.data)) {
            what = "closure";
        }
        if (what != nullptr) report_unused(node.span, fmt::format("unused {} that must be used", what));
    }
    bool must_use_type(ExprId id, const hir::Expr& node) {
        const types::TypeData type = cx_.types()[tables_.type(id)];
        if (type.kind != types::TypeKind::Adt || program_.attribute(type.def, hir::AttributeKind::MustUse) == nullptr) return false;
        if (std::holds_alternative<hir::AssignExpr>(node.data)) return false;
        report_unused(node.span, fmt::format("unused `{}` that must be used", program_.name(type.def)));
        return true;
    }
    bool must_use_call(ExprId id, const hir::Expr& node) {
        DefId callee = tables_.callees[id].def;
        if (const auto* call = std::get_if<hir::CallExpr>(&node.data); call != nullptr && !callee.valid()) callee = tables_.expr_items[call->callee].def;
        if (!callee.valid() || program_.attribute(callee, hir::AttributeKind::MustUse) == nullptr) return false;
        const bool called = std::holds_alternative<hir::CallExpr>(node.data) || std::holds_alternative<hir::MethodCallExpr>(node.data);
        if (!called) return false;
        report_unused(node.span, fmt::format("unused return value of `{}` that must be used", program_.path_text(callee)));
        return true;
    }
    void report_unused(Span span, std::string message) {
        cx_.sink().lint("unused_must_use", span, std::move(message)).suggest(span.start(), "let _ = ", "use `let _ = ...` to ignore the resulting value", Applicability::MaybeIncorrect);
    }
    static const char* operation(hir::BinaryOp op) {
        switch (ast::info(op).precedence) {
            case ast::Precedence::Compare: return "comparison";
            case ast::Precedence::Sum:
            case ast::Precedence::Product: return "arithmetic operation";
            case ast::Precedence::Or:
            case ast::Precedence::And: return "logical operation";
            default: return "bitwise operation";
        }
    }

    const hir::Program& program_;
    check::Context& cx_;
    const check::TypeTables& tables_;
    const hir::Body& body_;
    std::vector<Use> locals_;
};

}  // namespace

void check_unused(const hir::Program& program, check::Context& context) {
    for (const DefId owner : context.checked_bodies()) {
        if (!is_user_code(program, owner)) continue;
        if (const check::TypeTables* tables = context.check_body(owner)) BodyLint(program, context, *tables).run();
    }
}

}  // namespace ockc::lints
