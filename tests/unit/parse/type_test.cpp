#include <doctest/doctest.h>

#include "parse_helper.hpp"

using ockc::parse::type;

TEST_CASE("types") {
    CHECK(type("&'a mut [u8; 3]") == "(Reference lifetime='a is_mut inner=(Array element=u8 length=3))");
    CHECK(type("&&u8") == "(Reference inner=(Reference inner=u8))");
    CHECK(type("*const *mut u8") == "(Pointer inner=(Pointer is_mut inner=u8))");
    CHECK(type("(u8, [u8], !, _)") == "(Tuple elements=[u8 (Slice element=u8) (Never) (Infer)])");
    CHECK(type("(u8)") == "(Paren inner=u8)");
    CHECK(type("Vec<Vec<u8>>") == "Vec<Vec<u8>>");
    CHECK(type("<T as a::B<u8>>::C::D") == "<T as a::B<u8>>::C::D");
    CHECK(type("::a::B") == "::a::B");
    CHECK(type("Fn(u8, u16) -> u32") == "Fn(u8, u16) -> u32");
    CHECK(type("m!(x)") == "(Macro call=(MacroCall path=m body=`x`))");
}

TEST_CASE("generic arguments") {
    CHECK(type("A<'a, u8, 3, -4, { N + 1 }, true>") ==
          "A<'a, u8, 3, (Unary op=- operand=4), (Block block={ tail (Binary op=+ lhs=N rhs=1) }), true>");
    CHECK(type("A<B = u8, C: D + 'a, E<'x> = F, N = 3>") ==
          "A<(Equal name=B type=u8), (Bound name=C bounds=[(Bound path=D) (Bound kind=Outlives "
          "lifetime='a)]), (Equal name=E args=<'x> type=F), (Equal name=N value=3)>");
    CHECK(type("Tensor<f32, { [B] }>") == "Tensor<f32, (Block block={ tail (Array elements=[B]) })>");
    CHECK(type("A<<B as C>::D>") == "A<<B as C>::D>");
}

TEST_CASE("traits") {
    CHECK(type("dyn A + 'a + ?Sized") ==
          "(DynTrait bounds=[(Bound path=A) (Bound kind=Outlives lifetime='a) (Bound modifier=Maybe "
          "path=Sized)])");
    CHECK(type("impl for<'a> Fn(&'a u8)") ==
          "(ImplTrait bounds=[(Bound for_params=[(GenericParam ident='a)] path=Fn((Reference lifetime='a "
          "inner=u8)))])");
    CHECK(type("A + Send") == "(DynTrait bare bounds=[(Bound path=A) (Bound path=Send)])");
    CHECK(type("impl A + use<'a, T>") ==
          "(ImplTrait bounds=[(Bound path=A) (Bound kind=Use captures=['a T])])");
    CHECK(type("&A + B") == "error: expected a path on the left-hand side of `+`");
}

TEST_CASE("function pointers") {
    CHECK(type("for<'a> unsafe extern \"C\" fn(a: &'a u8, ...) -> u8") ==
          "(FnPointer for_params=[(GenericParam ident='a)] safety=Unsafe is_extern abi=\"C\" params=[(Param "
          "pattern=a type=(Reference lifetime='a inner=u8)) (Param variadic)] output=u8)");
}
