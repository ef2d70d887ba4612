// Verdicts and labels on source text, and how long they take.
#include <doctest/doctest.h>

#include <chrono>

#include "../mir/from_source.hpp"
#include "borrowck/borrowck.hpp"

using namespace ockc;
using ockc::test::FromSource;

namespace {

struct Checked {
    explicit Checked(const std::string& source) : from(source) {
        INFO(from.messages());
        REQUIRE(from.good);
        good = borrowck::check(from.mir, *from.context);
    }
    const Diagnostic& first() const {
        for (const Diagnostic& one : from.sink.all()) {
            if (one.severity == Severity::Error) return one;
        }
        FAIL("no error");
        return from.sink.all().front();
    }
    bool has_label(std::string_view text) const {
        for (const Label& label : first().labels) {
            if (label.text == text) return true;
        }
        return false;
    }
    FromSource from;
    bool good = false;
};

}  // namespace

TEST_CASE("a conflict is told at its three points") {
    const Checked checked("fn g(_r: &u32) {} fn f() { let mut x = 1u32; let a = &x; let b = &mut x; *b = 2; g(a); }");
    CHECK(!checked.good);
    CHECK(checked.from.codes() == std::vector<std::string>{"E0502"});
    CHECK(checked.first().message == "cannot borrow `x` as mutable because it is also borrowed as immutable");
    CHECK(checked.has_label("immutable borrow occurs here"));
    CHECK(checked.has_label("mutable borrow occurs here"));
    CHECK(checked.has_label("immutable borrow later used here"));
}

TEST_CASE("a use after a move names the move and the type") {
    const Checked checked("struct S { v: u32 } fn eat(_s: S) {} fn f() { let s = S { v: 1 }; eat(s); eat(s); }");
    CHECK(checked.from.codes() == std::vector<std::string>{"E0382"});
    CHECK(checked.first().message == "use of moved value: `s`");
    CHECK(checked.has_label("value moved here"));
    CHECK(checked.has_label("value used here after move"));
}

TEST_CASE("each body is checked, and errors come in the order of the source") {
    const Checked checked(
        "fn a() { let x = 1u32; x = 2; } fn b() -> u32 { let x: u32; x } fn c<'a>() -> &'a u32 { let x = 1u32; &x }");
    CHECK(checked.from.codes() == std::vector<std::string>{"E0384", "E0381", "E0515"});
}

TEST_CASE("2,000 statements with 500 loans take milliseconds") {
    std::string source = "fn g(r: &mut u32) -> u32 { *r += 1; *r }\nfn f() -> u32 {\nlet mut sum = 0u32;\n";
    for (int i = 0; i < 500; ++i) {
        const std::string n = std::to_string(i);
        source += "let mut x" + n + " = sum; let r" + n + " = &mut x" + n + "; *r" + n + " += 1; sum += g(r" + n + ");\n";
    }
    source += "sum\n}";
    FromSource from(source);
    INFO(from.messages());
    REQUIRE(from.good);
    const auto begin = std::chrono::steady_clock::now();
    CHECK(borrowck::check(from.mir, *from.context));
    const double ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
    MESSAGE("borrow check of 500 loans: ", ms, " ms");
#ifdef NDEBUG
    CHECK(ms < 20);
#else
    CHECK(ms < 1000);
#endif
}
