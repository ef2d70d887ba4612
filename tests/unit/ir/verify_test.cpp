// One broken function per invariant of verify.cpp.
#include "ir/verify.hpp"

#include <doctest/doctest.h>

#include "ir/parse.hpp"

using namespace ockc;

namespace {

std::string verdict(std::string_view text) {
    auto module = ir::parse(text);
    REQUIRE_MESSAGE(module.ok(), module.error());
    const Status status = ir::verify(module.value());
    return status.ok() ? std::string("ok") : status.error();
}

std::string body(std::string_view text) {
    return verdict("func @f(%0: i32, %1: i64, %2: f32, %3: i1, %4: ptr.global) {\nbb0:\n" +
                   std::string(text) + "\n}");
}

bool contains(const std::string& text, std::string_view part) {
    return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("verify: a sound function is accepted") {
    CHECK(body("%5 = iadd.i32 %0, %0\n br %3, bb1, bb2\n bb1: ret\n bb2: ret") == "ok");
}

TEST_CASE("verify: structure") {
    CHECK(contains(body("%5 = iadd.i32 %0, %0"), "does not end in a terminator"));
    CHECK(contains(body("ret\n %5 = iadd.i32 %0, %0\n ret"), "a terminator inside a block"));
    CHECK(contains(body("jump bb0(%0, %1, %2, %3, %4)"), "a branch to the entry block"));
}

TEST_CASE("verify: counts and types") {
    CHECK(contains(body("%5 = iadd.i32 %0\n ret"), "wrong operand count"));
    CHECK(contains(body("%5 = iadd.i32 %0, %1\n ret"), "`%5 = iadd.i32 %0, %1`: operand 1 is i64"));
    CHECK(contains(body("%5 = iadd.f32 %2, %2\n ret"), "not a type of this operation"));
    CHECK(contains(body("%5 = iadd.i1 %3, %3\n ret"), "not a type of this operation"));
    CHECK(contains(body("%5 = fadd.f32 %2, %0\n ret"), "operand 1 is i32"));
    CHECK(contains(body("%5 = shl.i64 %1, %1\n ret"), "operand 1 is i64"));
    CHECK(contains(body("%5 = select.i32 %0, %0, %0\n ret"), "operand 0 is i32"));
    CHECK(contains(body("%5 = trunc.i64 %0\n ret"), "operand 0 is i32"));
    CHECK(contains(body("%5 = zext.i32 %1\n ret"), "operand 0 is i64"));
    CHECK(contains(body("%5 = bitcast.f64 %0\n ret"), "operand 0 is i32"));
    CHECK(contains(body("%5 = spacecast.ptr.shared %4\n ret"), "operand 0 is ptr.global"));
    CHECK(contains(body("%5 = load.f32 %1 align 4\n ret"), "operand 0 is i64"));
    CHECK(contains(body("store.f32 %4, %0 align 4\n ret"), "operand 1 is i32"));
    CHECK(contains(body("%5 = ptradd.ptr.global %4, %0\n ret"), "operand 1 is i32"));
    CHECK(contains(body("br %0, bb1, bb1\n bb1: ret"), "operand 0 is i32"));
}

TEST_CASE("verify: dominance") {
    CHECK(contains(body("br %3, bb1, bb2\n bb1: %5 = ineg.i32 %0\n jump bb2\n bb2: %6 = ineg.i32 %5\n ret"),
                   "does not dominate"));
    CHECK(contains(body("%6 = ineg.i32 %5\n %5 = ineg.i32 %0\n ret"), "does not dominate"));
    CHECK(contains(body("jump bb1(%5)\n bb1(%5: i32): ret"), "does not dominate"));
}

TEST_CASE("verify: targets, switch, calls, ret") {
    CHECK(contains(body("jump bb1(%0)\n bb1: ret"), "in number"));
    CHECK(contains(body("jump bb1(%0)\n bb1(%5: i64): ret"), "in type"));
    CHECK(contains(body("switch.i32 %0, bb1, 3: bb1, 3: bb1\n bb1: ret"), "two equal cases"));
    CHECK(contains(body("%5 = trunc.i8 %0\n switch.i8 %5, bb1, 256: bb1\n bb1: ret"), "wider than its type"));
    CHECK(contains(body("ret %0"), "not the function's result types"));
    CHECK(contains(verdict("func @f() {\nbb0:\n call @g()\n ret\n}\nfunc @g(%0: i32) {\nbb0:\n ret\n}"),
                   "do not match the callee's"));
    CHECK(contains(verdict("func @f() {\nbb0:\n call @g()\n ret\n}\nkernel @g() {\nbb0:\n ret\n}"),
                   "a call of a kernel"));
    CHECK(contains(verdict("kernel @k() -> i32 {\nbb0:\n %0 = const.i32 1\n ret %0\n}"),
                   "a kernel returns values"));
}

TEST_CASE("verify: memory") {
    CHECK(contains(body("%5 = load.f32 %4 align 3\n ret"), "not a power of two"));
    CHECK(contains(body("jump bb1\n bb1: %5 = alloca 4 align 4\n ret"), "an alloca outside the entry block"));
    CHECK(contains(
        verdict("global @g: shared 4 align 4\nfunc @f() {\nbb0:\n %0 = global.ptr.const @g\n ret\n}"),
        "not the global's address space"));
}
