#include "diag/sink.hpp"

#include <doctest/doctest.h>

#include <set>

using namespace ockc;

TEST_CASE("codes and their names are one to one") {
    std::set<std::string_view> names;
    for (const Code code : all_codes()) {
        CHECK(names.insert(code_name(code)).second);
        CHECK(code_from_name(code_name(code)) == code);
        CHECK_FALSE(code_title(code).empty());
    }
    CHECK(code_name(Code::None).empty());
    CHECK(code_from_name("E9999") == Code::None);
}

TEST_CASE("counting and order") {
    DiagSink sink;
    const FileId file(0);
    Diagnostic& first = sink.error(Code::E0308, Span{file, 5, 6}, "a");
    sink.lint("w", Span{file, 1, 2}, "b");
    sink.error(Span{file, 3, 4}, "c");
    first.label(Span{file, 5, 6}, "text");  // references stay good
    CHECK(sink.error_count() == 2);
    CHECK(sink.warning_count() == 1);
    CHECK(sink.all()[0].labels[0].text == "text");
    CHECK(sink.all()[0].labels.size() == 1);
    sink.sort_from(0);
    CHECK(sink.all()[0].message == "b");
    CHECK(sink.all()[2].message == "a");
}

TEST_CASE("what a part said can come last or be forgotten") {
    for (const bool keep : {true, false}) {
        DiagSink sink;
        DiagSink::Part part;
        const auto say = [&](const char* text) { sink.error(Span{FileId(0), 1, 2}, text); };
        say("a");
        sink.add_to(part, [&] { say("x"), say("y"); });
        sink.add_to(part, [] {});
        say("b");
        sink.add_to(part, [&] { say("z"); });
        sink.put_last(part, keep);
        std::string all;
        for (const Diagnostic& one : sink.all()) all += one.message;
        CHECK(all == (keep ? "abxyz" : "ab"));
        CHECK(sink.error_count() == all.size());
    }
}

TEST_CASE("suggestions of several parts") {
    Diagnostic d;
    const FileId file(0);
    d.suggest_parts({{Span{file, 0, 0}, "("}, {Span{file, 3, 3}, ")"}}, "wrap");
    REQUIRE(d.suggestions.size() == 1);
    CHECK(d.suggestions[0].replacement == "(");
    REQUIRE(d.suggestions[0].more.size() == 1);
    CHECK(d.suggestions[0].more[0].replacement == ")");
}
