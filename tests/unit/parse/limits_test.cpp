// Depth and size: nothing that a user writes may overflow the stack or take more than linear time.
#include <doctest/doctest.h>

#include "parse_helper.hpp"

using namespace ockc;
using namespace ockc::parse;

namespace {

std::string repeat(std::string_view text, int n) {
    std::string out;
    for (int i = 0; i < n; ++i)
        out += text;
    return out;
}

std::string body(std::string_view open, std::string_view middle, std::string_view close, int n) {
    return "fn f() { " + repeat(open, n) + std::string(middle) + repeat(close, n) + "; }";
}

void check_one(const std::string& text, std::string_view message) {
    const Parsed parsed(text);
    REQUIRE(parsed.sink.error_count() == 1);
    CHECK(parsed.sink.all().front().message == message);
}

}  // namespace

TEST_CASE("10,000 levels of anything are one clear error") {
    constexpr int n = 10000;
    constexpr std::string_view deep = "this code is nested too deeply";
    constexpr std::string_view forms[][3] = {
        {"(", "x", ")"},         {"[", "x", "]"},       {"{", "x", "}"},
        {"-", "x", ""},          {"!", "x", ""},        {"*", "x", ""},
        {"&", "x", ""},          {"&mut ", "x", ""},    {"f(", "x", ")"},
        {"a[", "x", "]"},        {"|x| ", "x", ""},     {"A { x: ", "x", " }"},
        {"unsafe {", "x", "}"},  {"loop {", "x", "}"},  {"match x { y => ", "x", "}"},
        {"return ", "x", ""},    {"if x {", "x", "}"},  {"a = ", "x", ""},
        {"let x = {", "1", "}"}, {"fn f() {", "", "}"}, {"x as A<{ ", "x", " }>"},
        {".. ", "x", ""},        {"break ", "x", ""},
    };
    for (const auto& form : forms) {
        CAPTURE(form[0]);
        check_one(body(form[0], form[1], form[2], n), deep);
    }
    check_one("type A = " + repeat("&", n) + "u8;", deep);
    check_one("type A = " + repeat("[", n) + "u8" + repeat("]", n) + ";", deep);
    check_one("type A = " + repeat("Vec<", n) + "u8" + repeat(">", n) + ";", deep);
    check_one("type A = " + repeat("(", n) + "u8" + repeat(")", n) + ";", deep);
    check_one("type A = " + repeat("fn() -> ", n) + "u8;", deep);
    check_one("type A = " + repeat("<", n) + "u8" + repeat(">::A", n) + ";", deep);
    check_one("type A = " + repeat("dyn A<B = ", n) + "C" + repeat(">", n) + ";", deep);
    check_one("fn f() { let " + repeat("(", n) + "x" + repeat(")", n) + " = 1; }", deep);
    check_one("fn f() { let " + repeat("&", n) + "x = 1; }", deep);
    check_one("fn f() { let " + repeat("x @ ", n) + "_ = 1; }", deep);
    check_one("fn f() { let " + repeat("A { x: ", n) + "_" + repeat("}", n) + " = 1; }", deep);
    check_one("use " + repeat("a::{", n) + "b" + repeat("}", n) + ";", deep);
    check_one(repeat("mod m {", n) + repeat("}", n), deep);
    check_one("fn f<T: " + repeat("(", n) + "A" + repeat(")", n) + ">() {}", deep);
}

TEST_CASE("chains of 10,000 links are one clear error, of 500 parse") {
    constexpr std::string_view forms[] = {" + a", ".b()", ".b", "[0]", "?", " as u8", " && a", " = a", "()"};
    for (const std::string_view form : forms) {
        CAPTURE(form);
        const Parsed parsed("fn f() { a" + repeat(form, 10000) + "; }");
        CHECK(parsed.sink.error_count() == 1);
        const int links = form == " = a" ? 100 : 500;
        CHECK(Parsed("fn f() { a" + repeat(form, links) + "; }").first_error() == "");
    }
    check_one("fn f() { " + repeat("if a {} else ", 10000) + "{} }", "this chain of expressions is too long");
    CHECK(Parsed("fn f() { " + repeat("if a {} else ", 500) + "{} }").first_error() == "");
}

TEST_CASE("chains of 100,000 links parse when the caller can walk them") {
    ParseOptions options;
    options.max_height = 1'000'000;
    const Parsed sum("fn f() { a" + repeat(" + a", 100000) + "; }", lex::Edition::E2024, options);
    CHECK(sum.first_error() == "");
    CHECK(sum.crate.Expr_count() == 200001);
    CHECK(Parsed("fn f() { " + repeat("if a {} else ", 100000) + "{} }", lex::Edition::E2024, options)
              .first_error() == "");
}

TEST_CASE("a tall tree inside a tall tree counts as a whole") {
    std::string inner = "a";
    for (int i = 0; i < 5; ++i)
        inner = "(" + inner + ")" + repeat(" + a", 300);
    CHECK(Parsed("fn f() { " + inner + "; }").first_error() == "1:this chain of expressions is too long");
}

TEST_CASE("nesting inside macros and attributes costs nothing") {
    CHECK(Parsed("m! { " + repeat("(", 100000) + repeat(")", 100000) + " }").first_error() == "");
    CHECK(Parsed("#[" + repeat("a(", 100000) + repeat(")", 100000) + "] fn f() {}").first_error() == "");
}

TEST_CASE("a hundred syntax errors are enough") {
    const Parsed parsed("fn f() { " + repeat("let = 1; ", 5000) + "}");
    CHECK(parsed.sink.error_count() == 100);
}

TEST_CASE("long flat sources") {
    const Parsed parsed("fn f() { " + repeat("let x = a[i] + b[i] * 2.0; ", 20000) + "}");
    CHECK(parsed.first_error() == "");
    CHECK(parsed.crate.Stmt_count() == 20000);
}
