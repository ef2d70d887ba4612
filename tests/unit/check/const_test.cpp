// Constants by value.
#include <doctest/doctest.h>

#include <bit>

#include "fixture.hpp"

using namespace ockc;
using namespace ockc::check;
using ockc::test::Checked;

namespace {

const ConstValue* value(Checked& c, std::string_view name) { return c.context().eval_const({c.find(name), c.types().no_args}); }

std::uint64_t bits(const std::string& type, const std::string& text) {
    Checked c("const X: " + type + " = " + text + "; fn f() -> " + type + " { X }");
    REQUIRE_MESSAGE(c.ok(), c.messages());
    const ConstValue* v = value(c, "X");
    REQUIRE(v != nullptr);
    return v->bits[0];
}

std::uint32_t f32_bits(const std::string& text) { return static_cast<std::uint32_t>(bits("f32", text)); }

}  // namespace

TEST_CASE("integers wrap only where asked") {
    CHECK(bits("u8", "250 + 5") == 255);
    CHECK(bits("i8", "-128") == 0x80);
    CHECK(bits("i32", "-7 / 2") == 0xFFFF'FFFDu);
    CHECK(bits("i32", "-7 % 2") == 0xFFFF'FFFFu);
    CHECK(bits("i64", "-1 >> 3") == ~std::uint64_t{0});
    CHECK(bits("u64", "!0 >> 60") == 15);
    CHECK(bits("u32", "7 ^ 2 | 8 & 12") == 13);
}

TEST_CASE("casts saturate, truncate and extend") {
    CHECK(bits("u8", "300i32 as u8") == 44);
    CHECK(bits("u8", "-1.5f32 as u8") == 0);
    CHECK(bits("u8", "1e9f64 as u8") == 255);
    CHECK(bits("i8", "(0.0f32 / 0.0) as i8") == 0);
    CHECK(bits("i64", "-1i8 as i64") == ~std::uint64_t{0});
    CHECK(bits("u64", "-1i8 as u8 as u64") == 255);
    CHECK(bits("u32", "'a' as u32") == 97);
    CHECK(bits("u8", "true as u8") == 1);
    CHECK(f32_bits("16777217i32 as f32") == std::bit_cast<std::uint32_t>(16777216.0f));
    CHECK(f32_bits("0.1f64 as f32") == std::bit_cast<std::uint32_t>(0.1f));
}

TEST_CASE("floats are IEEE") {
    CHECK(f32_bits("0.1 + 0.2") == std::bit_cast<std::uint32_t>(0.1f + 0.2f));
    CHECK(f32_bits("1.0 / 3.0") == std::bit_cast<std::uint32_t>(1.0f / 3.0f));
    CHECK(bits("f64", "1.0 / 3.0") == std::bit_cast<std::uint64_t>(1.0 / 3.0));
    CHECK(f32_bits("-0.0") == 0x8000'0000u);
    CHECK(bits("bool", "0.0f32 == -0.0") == 1);
}

TEST_CASE("functions, loops, structs and matches") {
    Checked c(
        "const fn fib(n: u32) -> u32 { if n < 2 { n } else { fib(n - 1) + fib(n - 2) } }"
        "struct P { x: u32, y: [u8; 3] }"
        "const fn count() -> u32 { let mut i = 0; let mut s = 0; loop { i += 1; if i == 3 { continue; } if i > 10 { break s; } s += i; } }"
        "const fn pick(o: Option<u32>) -> u32 { match o { Some(1..=9) => 1, Some(n) if n > 99 => n, Some(_) => 2, None => 3 } }"
        "const A: u32 = fib(10); const B: u32 = count(); const C: P = P { x: A, y: [1, 2, 3] }; const D: u8 = C.y[1];"
        "const E: u32 = pick(Some(5)) + pick(Some(100)) + pick(Some(50)) + pick(None); const F: &[u8] = &C.y;"
        "const G: u32 = { let mut a = [1u32, 2, 3]; let r = &mut a; r[1] = 40; a[0] + a[1] };"
        "fn f() -> u32 { A + B + C.x + D as u32 + E + F[0] as u32 + G }");
    REQUIRE_MESSAGE(c.ok(), c.messages());
    CHECK(value(c, "A")->bits[0] == 55);
    CHECK(value(c, "B")->bits[0] == 52);
    CHECK(value(c, "D")->bits[0] == 2);
    CHECK(value(c, "E")->bits[0] == 106);
    CHECK(value(c, "G")->bits[0] == 41);
    const ConstValue* p = value(c, "C");
    REQUIRE(p->fields.size() == 2);
    CHECK(p->fields[0]->bits[0] == 55);
    const ConstValue* slice = value(c, "F");
    REQUIRE(slice->kind == ConstValue::Kind::Ref);
    CHECK(slice->target->fields.size() == 3);
}

TEST_CASE("associated constants of impls and defaults") {
    Checked c("trait T { const A: u32; const B: u32 = Self::A + 1; } struct S; impl T for S { const A: u32 = 6; } const X: u32 = <S as T>::B * S::A; fn f() -> u32 { X }");
    REQUIRE_MESSAGE(c.ok(), c.messages());
    CHECK(value(c, "X")->bits[0] == 42);
}

TEST_CASE("endless constants hit a limit") {
    Options options;
    options.const_step_limit = 10'000;
    Checked loop("const fn f() -> u8 { loop {} } const X: u8 = f(); fn g() -> u8 { X }", options);
    CHECK(loop.errors() == std::vector<std::string>{"long_running_const_eval:1"});
    Checked recursion("const fn f(n: u32) -> u32 { f(n + 1) } const X: u32 = f(0); fn g() -> u32 { X }", options);
    CHECK(recursion.errors() == std::vector<std::string>{"E0080:1"});
    Checked array("const X: [u8; 1000000000] = [0; 1000000000]; fn g() -> u8 { X[0] }", options);
    CHECK_FALSE(array.ok());
}

TEST_CASE("discriminants count on from explicit ones") {
    Checked c("#[repr(i16)] enum E { A = -2, B, C = 7, D } const X: i16 = E::B as i16; const Y: i16 = E::D as i16; fn f() -> i16 { X + Y }");
    REQUIRE_MESSAGE(c.ok(), c.messages());
    CHECK(value(c, "X")->bits[0] == 0xFFFF);
    CHECK(value(c, "Y")->bits[0] == 8);
}
