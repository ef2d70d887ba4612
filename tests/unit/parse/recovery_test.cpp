#include <doctest/doctest.h>

#include "parse_helper.hpp"

using namespace ockc;
using namespace ockc::parse;

using Errors = std::vector<std::string>;

TEST_CASE("each broken statement is one error, and the rest is read") {
    const Parsed balanced(
        "fn f() {\n    let a = ;\n    let b = 1;\n    b +;\n    c(1 2);\n    d\n}\nfn g() { let = 3; }\n");
    CHECK(balanced.errors() == Errors{"2:expected expression, found `;`", "4:expected expression, found `;`",
                                      "5:expected one of `)`, `,`, `.`, `?`, or an operator, found `2`",
                                      "8:expected pattern, found `=`"});
    CHECK(balanced.unit.items.size() == 2);
}

TEST_CASE("each broken item is one error, and the next item is read") {
    const Parsed balanced(
        "struct A { x: }\nenum B { C D }\nfn f(a) {}\nuse a::;\ntrait T { x y }\nconst C = ;\nfn h() {}\n");
    CHECK(balanced.errors() ==
          Errors{"1:expected type, found `}`", "2:expected one of `(`, `,`, `=`, `{`, or `}`, found `D`",
                 "3:expected one of `:`, `@`, or `|`, found `)`", "4:expected identifier, found `;`",
                 "5:expected one of `!` or `::`, found `y`", "6:missing type for `const` item",
                 "6:expected expression, found `;`"});
    CHECK(balanced.dump().find("(Fn h") != std::string::npos);
}

TEST_CASE("a missing semicolon is said where it is missing") {
    const Parsed parsed("fn f() {\n    let a = 1\n    let b = 2;\n    a\n    b\n}\n");
    CHECK(parsed.errors() == Errors{"2:expected `;`, found keyword `let`", "4:expected `;`, found `b`"});
    const Diagnostic& first = parsed.sink.all().front();
    REQUIRE(first.suggestions.size() == 1);
    CHECK(first.suggestions[0].text == "add `;` here");
    CHECK(first.labels.back().text == "unexpected token");
}

TEST_CASE("an expected token on another line labels both places") {
    const Parsed parsed("fn f() {\n    a(b\n    c)\n}\n");
    REQUIRE(parsed.sink.error_count() == 1);
    const Diagnostic& error = parsed.sink.all().front();
    REQUIRE(error.labels.size() == 2);
    CHECK(error.labels[0].text == "unexpected token");
    CHECK(error.labels[1].text.substr(0, 15) == "expected one of");
}

TEST_CASE("keywords as names are read on") {
    const Parsed parsed("fn match() { let fn = 1; }\nstruct S { type: u8, in: u8 }\n");
    CHECK(parsed.errors() ==
          Errors{"1:expected identifier, found keyword `match`", "1:expected identifier, found keyword `fn`",
                 "2:expected identifier, found keyword `type`", "2:expected identifier, found keyword `in`"});
    CHECK(parsed.sink.all().front().suggestions.front().replacement == "r#");
}

TEST_CASE("match arms without a comma") {
    const Parsed parsed("fn f() {\n    match x {\n        1 => a\n        2 => b,\n    }\n}\n");
    CHECK(parsed.errors() == Errors{"3:expected `,` following `match` arm"});
}

TEST_CASE("error nodes stand where something could not be read") {
    const Parsed parsed("fn f() { let a = ; b(c +); }");
    CHECK(parsed.dump().find("(Error)") != std::string::npos);
}

TEST_CASE("editions") {
    CHECK(Parsed("fn f() { if let a = b && c {} }", lex::Edition::E2021).first_error() ==
          "1:let chains are only allowed in Rust 2024 or later");
    CHECK(Parsed("fn f() { match a { b if let c = d && e => {} } }", lex::Edition::E2021).first_error() ==
          "");
    CHECK(Parsed("fn gen() {}", lex::Edition::E2021).first_error() == "");
}

TEST_CASE("unbalanced sources give an empty unit") {
    const Parsed parsed("fn f( {}");
    CHECK(parsed.unit.items.empty());
    CHECK(parsed.sink.error_count() == 1);
}
