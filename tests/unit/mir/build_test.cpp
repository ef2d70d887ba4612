// MIR from source text: shape of what is built, by fragments of the printed text.
#include <doctest/doctest.h>

#include "from_source.hpp"
#include "mir/elaborate_drops.hpp"
#include "mir/print.hpp"
#include "mir/verify.hpp"

using namespace ockc;
using ockc::test::FromSource;

namespace {

std::size_t count(const std::string& text, std::string_view part) {
    std::size_t found = 0;
    for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size())) ++found;
    return found;
}
bool has(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

std::string build(const std::string& source, std::string_view name, mir::BuildOptions options = {}) {
    FromSource from(source, options);
    INFO(from.messages());
    REQUIRE(from.good);
    for (const DefId owner : from.mir.order) {
        const auto errors = mir::verify(*from.mir.body(owner), *from.context);
        CHECK_MESSAGE(errors.empty(), (errors.empty() ? "" : errors.front()));
    }
    return from.mir_of(name);
}

}  // namespace

TEST_CASE("operands are evaluated into temporaries, left to right") {
    const std::string text = build("fn f(a: u32, b: u32) -> u32 { a + b * 2 }", "f");
    const std::size_t first = text.find("copy _1"), second = text.find("copy _2");
    CHECK(first < second);
    CHECK(has(text, "Mul(move "));
    CHECK(has(text, "_0 = Add(move "));
}

TEST_CASE("indexing checks the bounds once, with the index held in a temporary") {
    const std::string text = build("fn f(a: &[u32], i: usize) -> u32 { a[i] }", "f");
    CHECK(count(text, "Len((*_1))") == 1);
    CHECK(count(text, "assert(move ") == 1);
    CHECK(has(text, "BoundsCheck"));
    CHECK(has(text, "_0 = copy (*_1)["));
}

TEST_CASE("division asserts a divisor and, for signed integers, a quotient that fits") {
    const std::string plain = build("fn f(a: u32, b: u32) -> u32 { a / b }", "f");
    CHECK(count(plain, "DivisionByZero") == 1);
    CHECK(!has(plain, "Overflow"));
    const std::string with_sign = build("fn f(a: i32, b: i32) -> i32 { a % b }", "f");
    CHECK(count(with_sign, "RemainderByZero") == 1);
    CHECK(count(with_sign, "Overflow(Rem)") == 1);
}

TEST_CASE("overflow is checked only when asked for") {
    const std::string source = "fn f(a: u32, b: u32) -> u32 { (a + b) << b }";
    CHECK(!has(build(source, "f"), "assert"));
    mir::BuildOptions options;
    options.overflow_checks = true;
    const std::string checked = build(source, "f", options);
    CHECK(has(checked, "AddWithOverflow("));
    CHECK(has(checked, "Overflow(Add)"));
    CHECK(has(checked, "Overflow(Shl)"));
}

TEST_CASE("a condition branches without making a boolean of && and !") {
    const std::string text = build("fn f(a: bool, b: bool) -> u32 { if a && !b { 1 } else { 2 } }", "f");
    CHECK(count(text, "switchInt") == 2);
    CHECK(!has(text, "Not("));
}

TEST_CASE("a match on an enum reads its discriminant once") {
    const std::string text =
        build("fn f(o: Option<u32>) -> u32 { match o { Some(0) => 1, Some(x) => x, None => 2 } }", "f");
    CHECK(count(text, "discriminant(_1)") == 1);
    CHECK(count(text, "switchInt") == 2);
    CHECK(has(text, "((_1 as Some).0: u32)"));
}

TEST_CASE("alternatives of a pattern share their body") {
    const std::string text = build("fn f(k: u32) -> u32 { match k { 1 | 2 | 7 => 10, _ => 20 } }", "f");
    CHECK(count(text, "const 10_u32") == 1);
    CHECK(has(text, "[1: bb"));
}

TEST_CASE("slice patterns test the length and take elements from both ends") {
    const std::string text =
        build("fn f(a: &[u32]) -> u32 { match a { [x] => *x, [x, .., y] => *x + *y, _ => 0 } }", "f");
    CHECK(has(text, "[0 of 2]"));
    CHECK(has(text, "[-1 of 2]"));
}

TEST_CASE("a guard sees its bindings by reference, behind fake borrows") {
    const std::string text =
        build("fn f(o: Option<u32>) -> u32 { match o { Some(x) if x > 3 => x, _ => 0 } }", "f");
    CHECK(has(text, "&fake _1"));
    CHECK(has(text, "FakeRead(ForMatchGuard"));
    CHECK(has(text, "FakeRead(ForGuardBinding"));
}

TEST_CASE("method receivers are borrowed in two phases") {
    const std::string text = build(
        "struct P { x: u32 } impl P { fn add(&mut self, v: u32) { self.x += v; } }"
        "fn f(mut p: P) -> u32 { p.add(p.x); p.x }",
        "f");
    CHECK(has(text, "&two_phase mut _1"));
}

TEST_CASE("references to constant expressions are promoted") {
    const std::string text = build("fn f() -> &'static [u32; 3] { &[1, 2, 3] }", "f");
    CHECK(has(text, "const promoted[0]"));
    CHECK(has(text, "[const 1_u32, const 2_u32, const 3_u32]"));
}

TEST_CASE("temporaries end with their statement, extended ones with the block") {
    const std::string text = build(
        "fn make() -> u32 { 1 } fn id(r: &u32) -> &u32 { r }"
        "fn f() -> u32 { let a = *id(&make()); let r = &make(); a + *r }",
        "f");
    const std::size_t kept = text.rfind("StorageLive");
    CHECK(kept != std::string::npos);
    CHECK(count(text, "make()") == 2);
}

TEST_CASE("drops: moved values are not dropped, sometimes-moved ones behind a flag") {
    FromSource from(
        "struct D { v: u32 } impl Drop for D { fn drop(&mut self) {} }"
        "fn eat(_d: D) {}"
        "fn always() { let d = D { v: 1 }; eat(d); }"
        "fn sometimes(c: bool) { let d = D { v: 1 }; if c { eat(d); } }"
        "fn part(c: bool) { let p = (D { v: 1 }, D { v: 2 }); eat(p.0); }");
    INFO(from.messages());
    REQUIRE(from.good);
    mir::elaborate_drops(from.mir, *from.context);
    CHECK(!has(from.mir_of("always"), "drop("));
    const std::string sometimes = from.mir_of("sometimes");
    CHECK(count(sometimes, "drop(") == 1);
    CHECK(has(sometimes, "const false"));
    const std::string part = from.mir_of("part");
    CHECK(has(part, "drop((_"));
    for (const DefId owner : from.mir.order) CHECK(mir::verify(*from.mir.body(owner), *from.context).empty());
}

TEST_CASE("closures are aggregates of what they capture") {
    const std::string source = "fn f() -> u32 { let a = 1u32; let mut n = 2u32; let mut g = || n += a; g(); n }";
    const std::string text = build(source, "f");
    CHECK(has(text, "&mut _"));
    CHECK(has(text, "{closure@"));
}
