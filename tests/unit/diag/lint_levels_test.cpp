#include <doctest/doctest.h>

#include "diag/sink.hpp"

using namespace ockc;

namespace {
const FileId kFile(0);
Span at(std::uint32_t begin, std::uint32_t end) { return {kFile, begin, end}; }
}  // namespace

TEST_CASE("a lint has its own level until somebody says otherwise") {
    LintLevels levels;
    CHECK(levels.at("unused_variables", at(5, 6)) == LintLevel::Warn);
    CHECK(levels.at("overflowing_literals", at(5, 6)) == LintLevel::Deny);
    levels.set(LintLevel::Allow, "unused");
    CHECK(levels.at("unused_variables", at(5, 6)) == LintLevel::Allow);
    CHECK(levels.at("non_snake_case", at(5, 6)) == LintLevel::Warn);
    levels.set(LintLevel::Deny, "unused_variables");
    CHECK(levels.at("unused_variables", at(5, 6)) == LintLevel::Deny);
}

TEST_CASE("the innermost attribute wins; what weakens a forbid is found") {
    LintLevels levels;
    levels.add_scope(at(0, 100), at(1, 2), "unused", LintLevel::Deny);
    levels.add_scope(at(10, 50), at(11, 12), "unused_mut", LintLevel::Allow);
    levels.add_scope(at(20, 30), at(21, 22), "unused_mut", LintLevel::Warn);
    CHECK(levels.at("unused_mut", at(5, 6)) == LintLevel::Deny);
    CHECK(levels.at("unused_mut", at(15, 16)) == LintLevel::Allow);
    CHECK(levels.at("unused_mut", at(25, 26)) == LintLevel::Warn);
    CHECK(levels.at("unused_mut", at(100, 101)) == LintLevel::Warn);   // outside
    levels.add_scope(at(0, 100), at(3, 4), "unused_mut", LintLevel::Forbid);
    CHECK(levels.at("unused_mut", at(5, 6)) == LintLevel::Deny);
    CHECK(levels.forbidden(levels.scopes()[1]) != nullptr);
    CHECK(levels.forbidden(levels.scopes()[0]) == nullptr);
}

TEST_CASE("`warnings` is about what warns, and only that") {
    DiagSink sink;
    sink.levels().set(LintLevel::Deny, "warnings");
    sink.lint("unused_mut", at(1, 2), "a");
    sink.levels().add_scope(at(10, 20), at(10, 11), "unused_mut", LintLevel::Allow);
    sink.lint("unused_mut", at(12, 13), "b").label(at(12, 13), "goes nowhere");
    CHECK(sink.error_count() == 1);
    CHECK(sink.all().size() == 1);
    CHECK(sink.all()[0].lint == "unused_mut");
}

TEST_CASE("expectations must come true") {
    DiagSink sink;
    sink.levels().add_scope(at(0, 10), at(0, 1), "unused_mut", LintLevel::Expect);
    sink.levels().add_scope(at(20, 30), at(20, 21), "unused_mut", LintLevel::Expect);
    sink.lint("unused_mut", at(5, 6), "a");
    sink.report_lint_attributes();
    REQUIRE(sink.all().size() == 1);
    CHECK(sink.all()[0].lint == "unfulfilled_lint_expectations");
    CHECK(sink.all()[0].primary_span().begin == 20);
}
