// The queries that MIR building and lowering ask.
#include <doctest/doctest.h>

#include "fixture.hpp"

using namespace ockc;
using namespace ockc::check;
using ockc::test::Checked;
using types::Mutability;
using types::TypeKind;

namespace {

const hir::Body& body_of(Checked& c, const TypeTables& tables) { return *c.program().bodies[tables.body]; }

// The first expression of a kind in the body of function `name`.
template <class Node>
hir::ExprId first(Checked& c, const TypeTables& tables) {
    const hir::Body& body = body_of(c, tables);
    for (std::uint32_t i = 0; i < body.exprs.size(); ++i) {
        if (std::holds_alternative<Node>(body.exprs[hir::ExprId(i)].data)) return hir::ExprId(i);
    }
    return {};
}

const TypeTables& tables(Checked& c, std::string_view name) {
    const TypeTables* found = c.context().check_body(c.find(name));
    REQUIRE_MESSAGE(found != nullptr, c.messages());
    return *found;
}

}  // namespace

TEST_CASE("a method's receiver is borrowed in two phases") {
    Checked c("struct S(u32); impl S { fn bump(&mut self, by: u32) {} } fn f(mut s: S) { s.bump(1); }");
    REQUIRE_MESSAGE(c.ok(), c.messages());
    const TypeTables& t = tables(c, "f");
    const auto call = std::get<hir::MethodCallExpr>(body_of(c, t).exprs[first<hir::MethodCallExpr>(c, t)].data);
    const auto steps = t.adjustments(call.receiver);
    REQUIRE(steps.size() == 1);
    CHECK(steps[0].kind == AdjustKind::Borrow);
    CHECK(steps[0].mutability == Mutability::Mut);
    CHECK(steps[0].two_phase);
    CHECK(c.program().name(t.callees[first<hir::MethodCallExpr>(c, t)].def) == "bump");
}

TEST_CASE("arrays lose their size for slice methods") {
    Checked c("fn f(a: [u8; 4]) -> usize { a.len() }");
    REQUIRE_MESSAGE(c.ok(), c.messages());
    const TypeTables& t = tables(c, "f");
    const auto call = std::get<hir::MethodCallExpr>(body_of(c, t).exprs[first<hir::MethodCallExpr>(c, t)].data);
    const auto steps = t.adjustments(call.receiver);
    REQUIRE(steps.size() == 2);
    CHECK(steps[0].kind == AdjustKind::Borrow);
    CHECK(steps[1].kind == AdjustKind::Unsize);
    CHECK(c.context().text(steps[1].target) == "&[u8]");
}

TEST_CASE("literals have the type and value that their use gives") {
    Checked c("fn f() -> u8 { 200 }");
    const TypeTables& t = tables(c, "f");
    const hir::ExprId literal = first<hir::LiteralExpr>(c, t);
    CHECK(t.type(literal) == c.types().int_type(types::IntKind::U8));
    CHECK(c.types()[t.literals[literal]].bits[0] == 200);
}

TEST_CASE("patterns look through references and bind by reference") {
    Checked c("fn f(o: &Option<u32>) -> u32 { match o { Some(x) => *x, None => 0 } }");
    REQUIRE_MESSAGE(c.ok(), c.messages());
    const TypeTables& t = tables(c, "f");
    const hir::Body& body = body_of(c, t);
    bool seen = false;
    for (std::uint32_t i = 0; i < body.pats.size(); ++i) {
        const hir::PatId id(i);
        const auto* binding = std::get_if<hir::BindingPat>(&body.pats[id].data);
        if (binding != nullptr && c.program().interner.text(binding->ident.name) == "x") {
            CHECK(t.bind_modes[id] == BindMode::Ref);
            CHECK(c.context().text(t.type(binding->local)) == "&u32");
            seen = true;
        }
        if (std::holds_alternative<hir::TupleStructPat>(body.pats[id].data)) CHECK(t.implicit_derefs(id).size() == 1);
    }
    CHECK(seen);
}

TEST_CASE("trait methods resolve to impls, defaults and the compiler's own") {
    Checked c(
        "trait T { fn a(&self) -> u32; fn b(&self) -> u32 { 1 } } struct S; impl T for S { fn a(&self) -> u32 { 2 } }"
        "fn g<X: T>(x: &X) -> u32 { x.a() + x.b() } fn f() -> u32 { g(&S) } fn h<N: core::ops::Add<Output = N>>(n: N, m: N) -> N { n + m } fn i() -> f32 { h(1.0, 2.0) }");
    REQUIRE_MESSAGE(c.ok(), c.messages());
    Context& cx = c.context();
    const TypeTables& t = tables(c, "g");
    const types::GenericArg args[] = {cx.type_of(c.find("S"))};
    std::vector<std::string> found;
    const hir::Body& body = body_of(c, t);
    for (std::uint32_t i = 0; i < body.exprs.size(); ++i) {
        const ItemRef callee = t.callees[hir::ExprId(i)];
        if (!callee.valid()) continue;
        const auto instance = cx.resolve_instance({callee.def, c.types().subst(callee.args, args)});
        REQUIRE(instance.has_value());
        CHECK(instance->kind == Instance::Kind::Item);
        const DefId parent = c.program().defs[instance->item.def].parent;
        found.push_back(std::string(c.program().name(instance->item.def)) + (c.program().defs[parent].kind == hir::DefKind::Impl ? " impl" : " default"));
    }
    CHECK(found == std::vector<std::string>{"a impl", "b default"});

    const TypeTables& u = tables(c, "h");
    const ItemRef add = u.callees[first<hir::BinaryExpr>(c, u)];
    REQUIRE(add.valid());
    const types::GenericArg floats[] = {c.types().float_type(types::FloatKind::F32)};
    const auto instance = cx.resolve_instance({add.def, c.types().subst(add.args, floats)});
    REQUIRE(instance.has_value());
    CHECK(instance->kind == Instance::Kind::ScalarOp);
    CHECK(cx.scalar_operator(instance->item.def).binary == hir::BinaryOp::Add);
}

TEST_CASE("copies, destructors, sizes") {
    Checked c(
        "#[derive(Clone, Copy)] struct P(f32, u8); struct D; impl Drop for D { fn drop(&mut self) {} } struct H { d: D, n: u64 } enum E { A(u8), B }"
        "fn f(p: P, d: D, h: H, e: E, o: Option<D>, r: &D) {}");
    REQUIRE_MESSAGE(c.ok(), c.messages());
    Context& cx = c.context();
    const ParamEnv& env = cx.empty_env();
    const auto inputs = cx.fn_sig(c.find("f")).inputs;
    const auto erased = [&](std::size_t i) { return c.types().erase_regions(inputs[i]); };
    CHECK(cx.is_copy(erased(0), env));
    CHECK_FALSE(cx.is_copy(erased(1), env));
    CHECK_FALSE(cx.is_copy(erased(3), env));
    CHECK(cx.is_copy(erased(5), env));
    CHECK_FALSE(cx.needs_drop(erased(0), env));
    CHECK(cx.needs_drop(erased(1), env));
    CHECK(cx.needs_drop(erased(2), env));
    CHECK_FALSE(cx.needs_drop(erased(3), env));
    CHECK(cx.needs_drop(erased(4), env));
    CHECK_FALSE(cx.needs_drop(erased(5), env));
    CHECK(cx.drop_impl(erased(1)).valid());
    CHECK(cx.layout_of(erased(0)).size == 8);
    CHECK(cx.layout_of(erased(2)).size == 8);
    CHECK(cx.layout_of(erased(3)).size == 2);
}

TEST_CASE("associated types become what the impl says") {
    Checked c("fn f(mut it: core::ops::Range<u32>) -> Option<u32> { it.next() } fn g<I: Iterator<Item = u8>>(mut i: I) -> Option<u8> { i.next() }");
    REQUIRE_MESSAGE(c.ok(), c.messages());
    const TypeTables& t = tables(c, "f");
    CHECK(c.context().text(t.type(first<hir::MethodCallExpr>(c, t))) == "Option<u32>");
    const TypeTables& u = tables(c, "g");
    CHECK(c.context().text(u.type(first<hir::MethodCallExpr>(c, u))) == "Option<u8>");
}

TEST_CASE("closures capture places as they use them") {
    Checked c(
        "struct S { a: u32, b: u32, c: [u8; 4] } fn sink<F: FnMut()>(f: F) {}"
        "fn f(mut s: S, t: &S, k: u32) { sink(|| { s.a += t.b + k; }); }");
    REQUIRE_MESSAGE(c.ok(), c.messages());
    const TypeTables& t = tables(c, "f");
    REQUIRE(t.closures.size() == 1);
    const ClosureInfo& closure = *t.closures[0];
    CHECK(closure.kind == ClosureKind::FnMut);
    REQUIRE(closure.captures.size() == 3);
    std::vector<std::string> shown;
    for (const Capture& capture : closure.captures) {
        std::string text(c.program().interner.text(body_of(c, t).locals[capture.local].name.name));
        for (const CaptureProjection& step : capture.projections) text += step.kind == CaptureProjection::Kind::Deref ? ".*" : "." + std::to_string(step.field);
        text += capture.kind == CaptureKind::ByRef ? " ref" : capture.kind == CaptureKind::ByMutRef ? " mut" : " move";
        shown.push_back(text);
    }
    std::sort(shown.begin(), shown.end());
    CHECK(shown == std::vector<std::string>{"k ref", "s.0 mut", "t.* ref"});
}

TEST_CASE("a closure that moves what it captured can be called once") {
    Checked c("struct O; fn eat(o: O) {} fn once<F: FnOnce()>(f: F) {} fn f(o: O, n: u32) { let g = move || { eat(o); }; once(g); let h = move || n; h(); }");
    REQUIRE_MESSAGE(c.ok(), c.messages());
    const TypeTables& t = tables(c, "f");
    REQUIRE(t.closures.size() == 2);
    CHECK(t.closures[0]->kind == ClosureKind::FnOnce);
    CHECK(t.closures[1]->kind == ClosureKind::Fn);
    CHECK(t.closures[1]->captures[0].kind == CaptureKind::ByValue);
}

TEST_CASE("messages name types as the user wrote them") {
    Checked c("struct P<T>(T); fn f(p: P<[u8; 3]>) { let x: &mut Option<f32> = p; }");
    CHECK(c.errors() == std::vector<std::string>{"E0308:1"});
    CHECK(c.messages().find("expected `&mut Option<f32>`, found `P<[u8; 3]>`") != std::string::npos);
}

TEST_CASE("one mistake is told once") {
    Checked c("fn f() { let x: Missing = 1; let y = x + 2; let z: u8 = y; z.foo(); }");
    CHECK(c.errors().size() == 2);   // the name, and `foo`
    Checked d("fn g() -> u32 { let a = nothing(); a.b.c(1)[2] + *a }");
    CHECK(d.errors().size() == 1);
}

TEST_CASE("deep and endless generics end in an error") {
    Checked c("trait T { fn f(&self); } struct W<X>(X); impl<X> T for W<X> where W<W<X>>: T { fn f(&self) {} } fn g(w: W<u8>) { w.f(); }");
    CHECK_FALSE(c.ok());
}
