// The printer's class; print.cpp has items, types and paths, print_body.cpp expressions, patterns and statements.
#pragma once
#include "hir/print.hpp"
#include "support/text_writer.hpp"

namespace ockc::hir {

// By hir::Prim.
inline constexpr std::string_view kPrimNames[] = {
    "bool", "char", "str",
#define OCKC_PRIM_ROW(name, text, ...) text,
    OCKC_PRIM_INTS(OCKC_PRIM_ROW) OCKC_PRIM_FLOATS(OCKC_PRIM_ROW)
#undef OCKC_PRIM_ROW
};

class Printer {
  public:
    explicit Printer(const Program& program) : p_(program) {}

    void item(DefId def);
    std::string type(TyId id);
    std::string path(const QPath& path);
    std::string path(const Path& path);
    std::string take() { return out_.take(); }

  private:
    std::string_view text(Symbol symbol) const { return p_.interner.text(symbol); }
    void head(const Def& def);
    void fn(DefId id, const Def& def, const FnDef& data);
    void adt(const Def& def, const AdtDef& data);
    void trait(const Def& def, const TraitDef& data);
    void impl(const ImplDef& data);
    std::string segment(const PathSegment& segment, bool last);
    std::string args(const GenericArgs& args);
    std::string generics(const Generics& generics);
    std::string where(const Generics& generics);
    std::string bounds(List<Bound> bounds);
    std::string lifetime(const Lifetime& lifetime);
    std::string for_lifetimes(List<DefId> lifetimes);
    std::string constant(DefId anon_const);

    // Bodies.
    void body(BodyId id);
    std::string body_value(BodyId id);     // of a constant, in one piece
    void block(const Block& block);
    void stmt(const Stmt& stmt);
    void expr(ExprId id);
    void exprs(List<ExprId> list);
    void operand(ExprId id);               // in parentheses where it is no simple expression
    void if_expr(const IfExpr& expr);
    void match_expr(const MatchExpr& expr);
    void loop_expr(const LoopExpr& expr);
    void struct_expr(const StructExpr& expr);
    void closure(const ClosureExpr& expr);
    void panic(const PanicExpr& expr);
    void jump(std::string_view word, ExprId target, ExprId value);
    std::string pat(PatId id);
    std::string pats(List<PatId> list, std::uint32_t rest = 0xFFFF'FFFFu);
    std::string local(LocalId id);
    std::string literal(const Literal& literal, bool negative = false);

    const Program& p_;
    const Body* body_ = nullptr;
    TextWriter out_;
};

}  // namespace ockc::hir
