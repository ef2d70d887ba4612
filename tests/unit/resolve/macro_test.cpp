// macro_rules!: matching, repetition, hygiene, scope.
#include <doctest/doctest.h>

#include "fixture.hpp"

namespace ockc::test {

TEST_CASE("rules are tried in order and repetitions expand") {
    CHECK(lower_body(R"(
    macro_rules! sum { () => { 0 }; ($a:expr) => { $a }; ($a:expr, $($b:expr),+ $(,)?) => { $a + sum!($($b),+) }; }
    let a = sum!();
    let b = sum!(1, 2, 3,);
    let c = sum!(1 + 2) * 3;)") == R"(let a = 0;
let b = 1 + (2 + 3);
let c = (1 + 2) * 3;
)");
}

TEST_CASE("locals and labels of a macro are its own") {
    CHECK(lower_body(R"(
    let x = 1;
    macro_rules! twice { ($e:expr) => {{ let x = 10; $e + $e + x }}; }
    macro_rules! outer_x { () => { x }; }
    let y = twice!(x);
    let x = 2;
    let z = outer_x!();)") == R"(let x#0 = 1;
let y = {
    let x#1 = 10;
    (x#0 + x#0) + x#1
};
let x#3 = 2;
let z = x#0;
)");
    CHECK(lower_body("macro_rules! m { ($e:expr) => { 'a: loop { $e } }; }\n'a: loop { m!(break 'a); }") == R"('a: loop {
    'a: loop {
        break 'a
    };
}
)");
    CHECK(lower_body("macro_rules! m { () => { let hidden = 1; }; }\nm!(); hidden;") == "4: E0425 cannot find value `hidden` in this scope\n");
}

TEST_CASE("macros make items, patterns, types and statements") {
    const auto r = resolve_text(R"(
macro_rules! point { ($name:ident { $($field:ident : $t:ty),* }) => { struct $name { $($field: $t),* } impl $name { fn make($($field: $t),*) -> Self { Self { $($field),* } } } }; }
macro_rules! small { () => { 1 | 2 }; }
macro_rules! word { () => { u32 }; }
macro_rules! lets { ($n:ident) => { let $n = 5; let _two = $n + 1; }; }
#[cuda_module]
mod k {
    point!(P { x: f32, y: f32 });
    fn f(v: word!()) -> u32 {
        lets!(n);
        let p = P::make(1.0, 2.0);
        match v { small!() => n, _ => 0 }
    }
}
)");
    CHECK(r->all_messages() == "");
    CHECK(r->lowered("k::P"));
    CHECK(r->hir().find("1 | 2 => n") != std::string::npos);
}

TEST_CASE("macros are visible from their definition on, and through paths when exported") {
    const auto r = resolve_text(R"(
#[cuda_module]
mod k {
    fn early() { late!(); }
    macro_rules! late { () => {}; }
    fn after() { late!(); }
    mod inner {
        fn g() { late!(); crate::shared!(); }
    }
    #[macro_export]
    macro_rules! shared { () => { $crate::k::helper() }; }
    pub fn helper() {}
    fn wrong() { late!(1); }
}
)");
    const std::string text = r->all_messages();
    CHECK(text.find("4: error cannot find macro `late` in this scope") != std::string::npos);
    CHECK(text.find("13: error no rules expected `1`") != std::string::npos);
}

TEST_CASE("endless expansion stops") {
    const std::string text = lower_body("macro_rules! again { () => { again!() }; }\nlet x = again!();");
    CHECK(text.find("recursion limit reached while expanding macros") != std::string::npos);
}

TEST_CASE("unknown and refused macros") {
    CHECK(lower_body("assret!(true);") == "3: error cannot find macro `assret` in this scope\n");
    CHECK(lower_body("compile_error!(\"no way\");") == "3: error no way\n");
}

}  // namespace ockc::test
