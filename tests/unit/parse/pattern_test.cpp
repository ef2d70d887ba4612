#include <doctest/doctest.h>

#include "parse_helper.hpp"

using ockc::parse::pat;

TEST_CASE("bindings") {
    CHECK(pat("x") == "x");
    CHECK(pat("mut x") == "mut x");
    CHECK(pat("ref mut x") == "ref mut x");
    CHECK(pat("x @ Some(_)") == "(Ident ident=x sub=(TupleStruct path=Some elements=[(Wild)]))");
    CHECK(pat("a::B") == "a::B");
    CHECK(pat("mut (x, y)") == "error: `mut` must be attached to each individual binding");
}

TEST_CASE("ranges of every form") {
    CHECK(pat("1..=2") == "(Range from=1 to=2 end=Inclusive)");
    CHECK(pat("-1..2") == "(Range from=(Unary op=- operand=1) to=2)");
    CHECK(pat("1..") == "(Range from=1)");
    CHECK(pat("..=A::B") == "(Range to=A::B end=Inclusive)");
    CHECK(pat("'a'..='z'") == "(Range from='a' to='z' end=Inclusive)");
    CHECK(pat("1...2") == "(Range from=1 to=2 end=Obsolete)");
    CHECK(pat("1..=") == "error: inclusive range with no end");
    CHECK(pat("&1..=2") == "error: the range pattern here has ambiguous interpretation");
}

TEST_CASE("compound patterns") {
    CHECK(pat("| A | B(x, ..)") == "(Or alternatives=[A (TupleStruct path=B elements=[x (Rest)])])");
    CHECK(pat("[a, rest @ .., b]") == "(Slice elements=[a (Ident ident=rest sub=(Rest)) b])");
    CHECK(pat("(a, .., b)") == "(Tuple elements=[a (Rest) b])");
    CHECK(pat("(a)") == "(Paren inner=a)");
    CHECK(pat("(..)") == "(Tuple elements=[(Rest)])");
    CHECK(pat("&mut x") == "(Reference is_mut inner=x)");
    CHECK(pat("&&x") == "(Reference inner=(Reference inner=x))");
    CHECK(pat("A { x, y: 1, ref z, 0: w, .. }") ==
          "(Struct path=A fields=[(FieldPat name=x pattern=x shorthand) (FieldPat name=y pattern=1) "
          "(FieldPat name=z pattern=ref z shorthand) (FieldPat name=0 pattern=w)] has_rest)");
}
