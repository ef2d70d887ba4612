#include <doctest/doctest.h>

#include "parse_helper.hpp"

using ockc::parse::items;
using ockc::parse::Parsed;

TEST_CASE("functions") {
    CHECK(items("pub const unsafe extern \"C\" fn f<T: A>(self: &Self, mut a: u8) -> u8 where T: B { a }") ==
          "(Fn pub f decl=(FnDecl is_const safety=Unsafe is_extern abi=\"C\" generics=(Generics "
          "params=[(GenericParam kind=Type ident=T bounds=[(Bound path=A)])] "
          "predicates=[(WherePredicate type=T bounds=[(Bound path=B)])]) self_param=(SelfParam kind=Typed "
          "type=(Reference inner=Self) ident=self) "
          "params=[(Param pattern=mut a type=u8)] output=u8) body={ tail a })");
    CHECK(items("trait T { fn f(&'a mut self); }") ==
          "(Trait T items=[ (Fn f decl=(FnDecl self_param=(SelfParam kind=Reference is_mut lifetime='a "
          "ident=self))) ])");
}

TEST_CASE("use trees") {
    CHECK(items("use a::{b, c as d, e::*, self};") ==
          "(Use tree=(UseTree kind=Nested path=a children=[(UseTree path=b) (UseTree path=c rename=d) "
          "(UseTree kind=Glob path=e) (UseTree path=self)]))");
    CHECK(items("use ::{a, b};") ==
          "(Use tree=(UseTree kind=Nested path=:: children=[(UseTree path=a) (UseTree path=b)]))");
    CHECK(items("use *;") == "(Use tree=(UseTree kind=Glob))");
}

TEST_CASE("structs, enums, unions") {
    CHECK(items("struct A<T>(pub T, u8) where T: B;") ==
          "(Struct A generics=(Generics params=[(GenericParam kind=Type ident=T)] "
          "predicates=[(WherePredicate type=T bounds=[(Bound path=B)])]) form=Tuple "
          "fields=[ (FieldDef visibility=pub type=T) (FieldDef type=u8) ])");
    CHECK(items("enum E { A = 1, B(u8), C { x: u8 } }") ==
          "(Enum E variants=[ (Variant ident=A discriminant=1) (Variant ident=B form=Tuple fields=[ "
          "(FieldDef type=u8) ]) "
          "(Variant ident=C form=Named fields=[ (FieldDef ident=x type=u8) ]) ])");
    CHECK(items("union U { a: u8 }") == "(Union U fields=[ (FieldDef ident=a type=u8) ])");
}

TEST_CASE("traits and impls") {
    CHECK(items("impl<'a> !A for B<'a> { const C: u8 = 1; type D = u8; }") ==
          "(Impl is_negative generics=(Generics params=[(GenericParam ident='a)]) trait_path=A "
          "self_type=B<'a> items=[ (Const C type=u8 value=1) (TypeAlias D type=u8) ])");
    CHECK(items("impl <A as B>::C {}") == "(Impl self_type=<A as B>::C)");
    CHECK(items("unsafe trait A: B + 'static { type T: C = u8; }") ==
          "(Trait A safety=Unsafe supertraits=[(Bound path=B) (Bound kind=Outlives lifetime='static)] "
          "items=[ (TypeAlias T bounds=[(Bound path=C)] type=u8) ])");
}

TEST_CASE("modules, extern blocks, macros") {
    CHECK(items("pub(in a::b) mod m { #![x] fn f() {} }") ==
          "#![x] (Module pub(in a::b) m is_inline items=[ (Fn f decl=(FnDecl) body={ }) ])");
    CHECK(items("mod m;") == "(Module m)");
    CHECK(items("unsafe extern \"C\" { safe fn f(x: u8, ...); }") ==
          "(ExternBlock safety=Unsafe abi=\"C\" items=[ (Fn f decl=(FnDecl safety=Safe params=[(Param "
          "pattern=x type=u8) (Param variadic)])) ])");
    CHECK(items("macro_rules! m { (a) => { b } }") == "(MacroRules m delimiter=Brace body=`(a) => { b }`)");
    CHECK(items("a::m!(x);") == "(Macro call=(MacroCall path=a::m body=`x`))");
}

TEST_CASE("attributes have a parsed form where they have one") {
    CHECK(items("/// doc\n#[a] #[b(c, d = 2, \"e\", f(g))] #[h = \"i\"] fn f() {}") ==
          "#[doc \" doc\"] #[a] #[b(c, d = 2, \"e\", f(g))] #[h = \"i\"] (Fn f decl=(FnDecl) body={ })");
    // Arguments that are expressions, and arguments that are nothing known.
    CHECK(items("#[launch_contract(domain = 1, block = (256, 1, 1), requires(a.len() == c.len()), x y)] fn "
                "f() {}") ==
          "#[launch_contract(domain = 1, block = (Tuple elements=[256 1 1]), "
          "requires((Binary op=== lhs=(MethodCall receiver=a method=len) rhs=(MethodCall receiver=c "
          "method=len))), `x y`)] (Fn f decl=(FnDecl) body={ })");
    CHECK(items("#[unsafe(no_mangle)] fn f() {}") == "#[unsafe no_mangle] (Fn f decl=(FnDecl) body={ })");
}

TEST_CASE("statements") {
    const auto body = [](std::string_view text) {
        const Parsed parsed("fn f() {" + std::string(text) + "}");
        return parsed.sink.has_errors()
                   ? "error: " + parsed.first_error()
                   : parsed.dump().substr(std::string("(Fn f decl=(FnDecl) body=").size());
    };
    CHECK(body("let x: u8 = 1; x") == "{ (Let pattern=x type=u8 init=1) tail x })");
    CHECK(body("let Some(x) = y else { return };") ==
          "{ (Let pattern=(TupleStruct path=Some elements=[x]) init=y else_block={ tail (Return) }) })");
    CHECK(body("if a {} -1") ==
          "{ (Expr expr=(If condition=a then_block={ })) tail (Unary op=- operand=1) })");
    CHECK(body("match a {}.b;") == "{ (Expr expr=(Field base=(Match scrutinee=a) field=b) semi) })");
    CHECK(body("{ a } (b)") == "{ (Expr expr=(Block block={ tail a })) tail (Paren inner=b) })");
    CHECK(body("m! {} m!(); m!()") ==
          "{ (Macro call=(MacroCall path=m delimiter=Brace body=``)) (Macro call=(MacroCall path=m body=``) "
          "semi) tail (Macro call=(MacroCall path=m body=``)) })");
    CHECK(
        body("m! {}.a;") ==
        "{ (Expr expr=(Field base=(Macro call=(MacroCall path=m delimiter=Brace body=``)) field=a) semi) })");
    CHECK(body("fn g() {} ; struct S;") == "{ (Fn g decl=(FnDecl) body={ }) (Empty) (Struct S) })");
    CHECK(body("union = auto;") == "{ (Expr expr=(Assign lhs=union rhs=auto) semi) })");
}
