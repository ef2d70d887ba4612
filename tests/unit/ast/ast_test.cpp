#include "ast/ast.hpp"

#include <doctest/doctest.h>

#include <set>
#include <type_traits>

#include "ast/print.hpp"
#include "ast/visit.hpp"

using namespace ockc;
using namespace ockc::ast;

TEST_CASE("nodes live in arenas and stores: nothing to destroy") {
    CHECK(std::is_trivially_copyable_v<Expr>);
    CHECK(std::is_trivially_copyable_v<Item>);
    CHECK(std::is_trivially_copyable_v<Pat>);
    CHECK(std::is_trivially_copyable_v<Type>);
    CHECK(std::is_trivially_copyable_v<Stmt>);
#define OCKC_RECORD(name, fields) CHECK(std::is_trivially_destructible_v<name>);
#define OCKC_PART(name, fields) CHECK(std::is_trivially_destructible_v<name>);
#include "ast/node.def"
}

TEST_CASE("every operator has its text, and every assigning one the trait of its own") {
    std::set<std::string_view> texts, traits;
#define OCKC_BINARY_OP(name, spelling, kind, level, trait_, method_) \
    CHECK(info(BinaryOp::name).text == spelling);                    \
    CHECK(lex::info(lex::TokenKind::kind).text == spelling);         \
    CHECK(texts.insert(spelling).second);
#define OCKC_ASSIGN_OP(name, spelling, kind, trait_, method_)                 \
    CHECK(info(BinaryOp::name).assign_text == spelling);                      \
    CHECK(lex::info(lex::TokenKind::kind).text == spelling);                  \
    CHECK(std::string(info(BinaryOp::name).trait_name) + "Assign" == trait_); \
    CHECK(std::string(info(BinaryOp::name).method) + "_assign" == method_);   \
    CHECK(traits.insert(trait_).second);
#define OCKC_UNARY_OP(name, spelling, kind, trait_, method_) \
    CHECK(info(UnaryOp::name).text == spelling);             \
    CHECK(lex::info(lex::TokenKind::kind).text == spelling);
#include "ast/operators.def"
    CHECK(info(BinaryOp::And).assign_text.empty());
    CHECK(info(BinaryOp::Mul).precedence > info(BinaryOp::Add).precedence);
    CHECK(info(BinaryOp::And).precedence > info(BinaryOp::Or).precedence);
}

TEST_CASE("enumerations print their names") {
    CHECK(enum_name(SegmentKind::SelfType) == "SelfType");
    CHECK(enum_name(VisibilityKind::In) == "In");
    CHECK(enum_name(BoundModifier::Maybe) == "Maybe");
}

namespace {

struct Counter {
    const Crate& crate;
    int exprs = 0, types = 0, pats = 0, blocks = 0, stmts = 0, items = 0;

    void visit(ExprId id) { ++exprs, walk(crate, crate[id], *this); }
    void visit(TypeId id) { ++types, walk(crate, crate[id], *this); }
    void visit(PatId id) { ++pats, walk(crate, crate[id], *this); }
    void visit(StmtId id) { ++stmts, walk(crate, crate[id], *this); }
    void visit(ItemId id) { ++items, walk(crate, crate[id], *this); }
    void visit(BlockId id) { ++blocks, walk(crate, crate[id], *this); }
};

}  // namespace

TEST_CASE("the walker looks through paths, generics and closures") {
    Crate crate;
    Interner interner;
    const auto name = [&](const char* text) { return Ident{interner.intern(text), {}, 0, false}; };
    const auto path = [&](const char* text, GenericArgsId args) {
        PathSegment segment;
        segment.ident = name(text);
        segment.args = args;
        Path out;
        out.segments = crate.list({segment});
        return crate.add(out);
    };
    // f::<u8>(|x: A| y)
    const TypeId u8 = crate.add(Type{{}, PathType{path("u8", {})}});
    GenericArgs args;
    args.args = crate.list({GenericArg{{}, TypeGenericArg{u8}}});
    const ExprId callee = crate.add(Expr{{}, {}, PathExpr{path("f", crate.add(args))}});
    Closure closure;
    Param param;
    param.pattern = crate.add(Pat{{}, IdentPat{false, false, false, name("x"), {}}});
    param.type = crate.add(Type{{}, PathType{path("A", {})}});
    closure.params = crate.list({param});
    closure.body = crate.add(Expr{{}, {}, PathExpr{path("y", {})}});
    const ExprId lambda = crate.add(Expr{{}, {}, ClosureExpr{crate.add(closure)}});
    const ExprId call = crate.add(Expr{{}, {}, CallExpr{callee, crate.list({lambda})}});
    Counter counter{crate};
    counter.visit(call);
    CHECK(counter.exprs == 4);
    CHECK(counter.types == 2);
    CHECK(counter.pats == 1);

    SourceMap sources;
    CHECK(print(call, {crate, sources, interner}) ==
          "(Call callee=f<u8> args=[(Closure closure=(Closure params=[(Param pattern=x type=A)] body=y))])");
}
