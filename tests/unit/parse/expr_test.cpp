#include <doctest/doctest.h>

#include "parse_helper.hpp"

using ockc::parse::expr;

TEST_CASE("precedence and associativity") {
    CHECK(expr("a + b * c") == "(Binary op=+ lhs=a rhs=(Binary op=* lhs=b rhs=c))");
    CHECK(expr("a - b - c") == "(Binary op=- lhs=(Binary op=- lhs=a rhs=b) rhs=c)");
    CHECK(expr("a | b ^ c & d") ==
          "(Binary op=| lhs=a rhs=(Binary op=^ lhs=b rhs=(Binary op=& lhs=c rhs=d)))");
    CHECK(expr("a || b && c == d") ==
          "(Binary op=|| lhs=a rhs=(Binary op=&& lhs=b rhs=(Binary op=== lhs=c rhs=d)))");
    CHECK(expr("a << b + c") == "(Binary op=<< lhs=a rhs=(Binary op=+ lhs=b rhs=c))");
    CHECK(expr("a = b = c") == "(Assign lhs=a rhs=(Assign lhs=b rhs=c))");
    CHECK(expr("a += b..c") == "(AssignOp op=+ lhs=a rhs=(Range from=b to=c))");
    CHECK(expr("-a as u8 + b") == "(Binary op=+ lhs=(Cast operand=(Unary op=- operand=a) type=u8) rhs=b)");
    CHECK(expr("!a == b") == "(Binary op=== lhs=(Unary op=! operand=a) rhs=b)");
    CHECK(expr("a..b + 1") == "(Range from=a to=(Binary op=+ lhs=b rhs=1))");
    CHECK(expr("-1i32.abs()") == "(Unary op=- operand=(MethodCall receiver=1i32 method=abs))");
    CHECK(expr("&a[1..]") == "(AddressOf operand=(Index base=a index=(Range from=1)))");
    CHECK(expr("*a.b?") == "(Unary op=* operand=(Try operand=(Field base=a field=b)))");
    CHECK(expr("a == b == c") == "error: comparison operators cannot be chained");
}

TEST_CASE("postfix") {
    CHECK(expr("a.0.1") == "(Field base=(Field base=a field=0) field=1)");
    CHECK(expr("a.0.b") == "(Field base=(Field base=a field=0) field=b)");
    CHECK(expr("a.b::<u8>(c)(d)[e]?") ==
          "(Try operand=(Index base=(Call callee=(MethodCall receiver=a method=b<u8> args=[c]) args=[d]) "
          "index=e))");
    CHECK(expr("a.await.b") == "(Field base=(Await operand=a) field=b)");
    CHECK(expr("a::<b>(c)") == "(Call callee=a<b> args=[c])");
    CHECK(expr("a < b") == "(Binary op=< lhs=a rhs=b)");
}

TEST_CASE("references and raw references") {
    CHECK(expr("&mut a") == "(AddressOf is_mut operand=a)");
    CHECK(expr("&&a") == "(AddressOf operand=(AddressOf operand=a))");
    CHECK(expr("&raw const a") == "(AddressOf kind=Raw operand=a)");
    CHECK(expr("&raw mut a") == "(AddressOf kind=Raw is_mut operand=a)");
    CHECK(expr("&raw") == "(AddressOf operand=raw)");
}

TEST_CASE("ranges") {
    CHECK(expr("..") == "(Range)");
    CHECK(expr("a..") == "(Range from=a)");
    CHECK(expr("..=b") == "(Range to=b end=Inclusive)");
    CHECK(expr("a..=") == "error: inclusive range with no end");
}

TEST_CASE("groups, arrays, struct literals") {
    CHECK(expr("(a)") == "(Paren inner=a)");
    CHECK(expr("(a,)") == "(Tuple elements=[a])");
    CHECK(expr("()") == "(Tuple)");
    CHECK(expr("[a; 3]") == "(Repeat value=a count=3)");
    CHECK(expr("A { x: 1, y, ..z }") ==
          "(Struct path=A fields=[(FieldInit name=x value=1) (FieldInit name=y value=y shorthand)] rest=Base "
          "base=z)");
    CHECK(expr("A { x, .. }") == "(Struct path=A fields=[(FieldInit name=x value=x shorthand)] rest=Rest)");
}

TEST_CASE("control flow") {
    CHECK(expr("if a { 1 } else if b { 2 } else { 3 }") ==
          "(If condition=a then_block={ tail 1 } else_expr=(If condition=b then_block={ tail 2 } "
          "else_expr=(Block block={ tail 3 })))");
    CHECK(expr("if let Some(x) = y && x > 1 {}") ==
          "(If condition=(Binary op=&& lhs=(Let pattern=(TupleStruct path=Some elements=[x]) value=y) "
          "rhs=(Binary op=> lhs=x rhs=1)) then_block={ })");
    CHECK(
        expr("if a == A { x } else { y }") ==
        "(If condition=(Binary op=== lhs=a rhs=A) then_block={ tail x } else_expr=(Block block={ tail y }))");
    CHECK(expr("match A { x: 1 } { _ => 1 }") == "error: struct literals are not allowed here");
    CHECK(expr("match a { 1 | 2 if b => c, _ => {} }") ==
          "(Match scrutinee=a arms=[ (MatchArm pattern=(Or alternatives=[1 2]) guard=b body=c) (MatchArm "
          "pattern=(Wild) body=(Block block={ })) ])");
    CHECK(expr("'a: for i in 0..n { continue 'a }") ==
          "(For label='a pattern=i iterable=(Range from=0 to=n) body={ tail (Continue label='a) })");
    CHECK(expr("'a: { break 'a 1 }") == "(Block label='a block={ tail (Break label='a value=1) })");
    CHECK(expr("unsafe { a }") == "(Block kind=Unsafe block={ tail a })");
    CHECK(expr("async move {}") == "(Block kind=Async is_move block={ })");
}

TEST_CASE("closures") {
    CHECK(expr("|a, b: u8| -> u8 { a }") ==
          "(Closure closure=(Closure params=[(Param pattern=a) (Param pattern=b type=u8)] output=u8 "
          "body=(Block block={ tail a })))");
    CHECK(expr("move || a + b") == "(Closure closure=(Closure is_move body=(Binary op=+ lhs=a rhs=b)))");
    CHECK(expr("|_||x| x") ==
          "(Closure closure=(Closure params=[(Param pattern=(Wild))] body=(Closure closure=(Closure "
          "params=[(Param pattern=x)] body=x))))");
}

TEST_CASE("attributes go with the whole operand") {
    CHECK(expr("f(#[a] x.y)") == "(Call callee=f args=[#[a] (Field base=x field=y)])");
}

TEST_CASE("macro calls keep their tokens") {
    CHECK(expr("m!(a b, [c])") == "(Macro call=(MacroCall path=m body=`a b, [c]`))");
    CHECK(expr("a::m! { x }") == "(Macro call=(MacroCall path=a::m delimiter=Brace body=`x`))");
}
