// Desugaring: what a piece of syntax becomes.
#include <doctest/doctest.h>

#include "fixture.hpp"

namespace ockc::test {

TEST_CASE("while becomes loop") {
    CHECK(lower_body("let mut i = 0; while i < 3 { i += 1; }") == R"(let mut i = 0;
loop {
    if i < 3 {
        i += 1;
    } else {
        break;
    }
}
)");
}

TEST_CASE("for calls into_iter and next") {
    CHECK(lower_body("'a: for i in 0..4 { if i == 2 { continue 'a; } break; }") == R"(match IntoIterator::into_iter(core::ops::range::Range { start: 0, end: 4 }) {
    mut iter => 'a: loop {
        match Iterator::next(&mut iter) {
            core::option::Option::None => break 'a,
            core::option::Option::Some(i) => {
                if i == 2 {
                    continue 'a;
                }
                break 'a;
            },
        }
    },
}
)");
}

TEST_CASE("ranges become structs") {
    CHECK(lower_body("let a = 1..; let b = ..2; let c = ..=3; let d = ..;") == R"(let a = core::ops::range::RangeFrom { start: 1 };
let b = core::ops::range::RangeTo { end: 2 };
let c = core::ops::range::RangeToInclusive { end: 3 };
let d = core::ops::range::RangeFull;
)");
}

TEST_CASE("let chains and let else stay") {
    CHECK(lower_body("if let Some(x) = g() && x > 1 { x; } let Some(y) = g() else { return }; y;", "fn g() -> Option<u32> { None }") ==
          R"(if (let core::option::Option::Some(x) = g()) && (x > 1) {
    x;
}
let core::option::Option::Some(y) = g() else {
    return
};
y;
)");
}

TEST_CASE("destructuring assignment goes through fresh locals") {
    CHECK(lower_body("let (mut a, mut b) = (1, 2); (a, _) = (b, a); S { x: a, .. } = S { x: 3, y: 4 }; _ = a;", "struct S { x: u32, y: u32 }") ==
          R"(let (mut a, mut b) = (1, 2);
{
    let (lhs#2, _) = (b, a);
    a = lhs#2;
};
{
    let S { x: lhs#3, .. } = S { x: 3, y: 4 };
    a = lhs#3;
};
{
    let _ = a;
};
)");
}

TEST_CASE("assertions become panics with their message taken apart") {
    CHECK(lower_body(R"(let a = 1; assert!(a < 2); assert!(a == 1, "a is {a} not {0:?} {{}}", a + 1); panic!("done");)") ==
          R"(let a = 1;
if a < 2 {} else {
    panic[assert]("assertion failed: a < 2");
};
if a == 1 {} else {
    panic[assert]("a is {} not {:?} {{}}", &a, &(a + 1));
};
panic[panic]("done");
)");
    CHECK(lower_body(R"(let a = 1; assert_eq!(a, 2, "why {}", a);)") == R"(let a = 1;
match (&a, &2) {
    (left_val, right_val) => if (*left_val) == (*right_val) {} else {
        panic[assert_eq]("assertion `left == right` failed: why {}\n  left: {:?}\n right: {:?}", &a, &(*left_val), &(*right_val));
    },
};
)");
    CHECK(lower_body("todo!(); unimplemented!(); unreachable!();") ==
          "panic[todo](\"not yet implemented\");\npanic[unimplemented](\"not implemented\");\npanic[unreachable](\"internal error: entered unreachable code\");\n");
}

TEST_CASE("format strings are checked") {
    CHECK(lower_body(R"(panic!("{} {}", 1);)") == "3: error 2 positional arguments in format string, but there is 1 argument\n");
    CHECK(lower_body(R"(panic!("x", 1);)") == "3: error argument never used\n");
    CHECK(lower_body(R"(panic!("{");)") == "3: error invalid format string: unmatched brace\n");
    CHECK(lower_body(R"(panic!(1);)") == "3: error format argument must be a string literal\n");
}

TEST_CASE("matches!, text macros and cfg!") {
    CHECK(lower_body("let m = matches!(1, 1 | 2 if true); let t = concat!(\"a\", 1, true, 'c', -2); let s = stringify!(a + b); let l = line!(); let c = cfg!(all(not(x), target_arch = \"nvptx64\"));") ==
          R"(let m = match 1 {
    1 | 2 if true => true,
    _ => false,
};
let t = "a1truec-2";
let s = "a + b";
let l = 3u32;
let c = true;
)");
}

TEST_CASE("an argument of a constant's name is a constant") {
    CHECK(lower_body("g::<N>(); g::<4>(); g::<{ N + 1 }>();", "const N: usize = 3; fn g<const M: usize>() {}") ==
          "g::<{ N }>();\ng::<{ 4 }>();\ng::<{ N + 1 }>();\n");
}

TEST_CASE("associated items are left for types to find") {
    CHECK(lower_body("S::new(); <S as T>::f(); T::f(); S::C; u32::MAX; let x: <S as T>::A;", "struct S; impl S { fn new() {} const C: u32 = 1; } trait T { type A; fn f(); } impl T for S { type A = u32; fn f() {} }") ==
          R"(<S>::new();
<S as T>::f();
T::f();
<S>::C;
<u32>::MAX;
let x: <S as T>::A;
)");
}

TEST_CASE("argument-position impl Trait is a generic parameter") {
    const auto r = resolve_text("#[device]\nfn f(g: impl Fn(u32) -> u32, x: impl Copy) {}\n");
    CHECK(r->all_messages() == "");
    const auto& fn = r->program->as<hir::FnDef>(r->def("f"));
    CHECK(fn.generics.params.size() == 2);
    CHECK(fn.generics.params[1].from_impl_trait);
    CHECK(fn.generics.params[1].bounds.size() == 1);
}

TEST_CASE("or-patterns bind one local in all alternatives") {
    const auto r = resolve_text("#[device]\nfn f(x: (u32, u32)) -> u32 { match x { (0, a) | (a, 0) => a, _ => 1 } }\n");
    CHECK(r->all_messages() == "");
    const auto& fn = r->program->as<hir::FnDef>(r->def("f"));
    const hir::Body& body = *r->program->bodies[fn.body];
    std::size_t named_a = 0;
    for (const hir::Local& local : body.locals) named_a += r->names.text(local.name.name) == "a" ? 1 : 0;
    CHECK(named_a == 1);
}

TEST_CASE("derives write impls") {
    const auto r = resolve_text(R"(
#[cuda_module]
mod k {
    #[derive(Copy, Clone, PartialEq, Default)]
    struct P<T> { x: T, y: u32 }
    #[derive(Clone, PartialEq, PartialOrd)]
    enum E { A, B(u32) }
    #[derive(Debug, Hash)]
    struct Shown;
}
)");
    CHECK(r->all_messages() == "");
    const std::string text = r->hir();
    CHECK(text.find("impl<T: core::clone::Clone> core::clone::Clone for k::P::<T> {") != std::string::npos);
    CHECK(text.find("Self { x: core::clone::Clone::clone(&self.x), y: core::clone::Clone::clone(&self.y) }") != std::string::npos);
    CHECK(text.find("(self.x == other.x) && (self.y == other.y)") != std::string::npos);
    CHECK(text.find("impl core::cmp::PartialOrd for k::E {") != std::string::npos);
    CHECK(text.find("impl core::fmt::Debug for k::Shown {") != std::string::npos);
    CHECK(text.find("Hash for k::Shown {") == std::string::npos);
    std::size_t derived = 0;
    for (const DefId impl : r->program->impls) {
        const hir::Def& def = r->program->defs[impl];
        if (!r->program->crates[def.crate].is_library && r->program->as<hir::ImplDef>(impl).derived) ++derived;
    }
    CHECK(derived == 8);
}

}  // namespace ockc::test
