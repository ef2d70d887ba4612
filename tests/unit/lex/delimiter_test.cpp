#include <doctest/doctest.h>

#include "lex_helper.hpp"

using namespace ockc;
using namespace ockc::lex;

namespace {

// "line:text" of each label, primary first.
std::vector<std::string> labels(const Lexed& lexed) {
    std::vector<std::string> out;
    for (const Label& label : lexed.sink.all().front().labels) {
        out.push_back(std::to_string(lexed.sources.line_column(label.span.file, label.span.begin).line) +
                      ":" + label.text);
    }
    return out;
}

}  // namespace

TEST_CASE("delimiters are linked") {
    const Lexed lexed("a(b[c]{d})");
    CHECK(lexed.tokens->balanced());
    CHECK(lexed.tokens->partner(1) == 9);
    CHECK(lexed.tokens->partner(9) == 1);
    CHECK(lexed.tokens->partner(3) == 5);
}

TEST_CASE("a mismatched closer") {
    const Lexed lexed("fn f() {\n    (1, 2];\n}");
    CHECK_FALSE(lexed.tokens->balanced());
    CHECK(lexed.first_error() == "mismatched closing delimiter: `]`");
    CHECK(labels(lexed) ==
          std::vector<std::string>{"2:mismatched closing delimiter", "2:unclosed delimiter"});
}

TEST_CASE("the opener that was probably meant has the closer's indentation") {
    const Lexed lexed("fn f() {\n    g(1;\n}");
    CHECK(labels(lexed) == std::vector<std::string>{"3:mismatched closing delimiter", "2:unclosed delimiter",
                                                    "1:closing delimiter possibly meant for this"});
}

TEST_CASE("an unclosed delimiter at the end of the file") {
    const Lexed lexed("mod a {\n fn f() {\n  if x {\n  }\n fn g() {}\n}\n");
    CHECK(lexed.first_error() == "this file contains an unclosed delimiter");
    CHECK(labels(lexed) ==
          std::vector<std::string>{"6:", "1:unclosed delimiter",
                                   "2:this delimiter might not be properly closed...",
                                   "6:...as it matches this but it has different indentation",
                                   "5:block is empty, you might have not meant to close it"});
}

TEST_CASE("a closer too many") {
    const Lexed lexed("fn f() { 1 }}");
    CHECK(lexed.first_error() == "unexpected closing delimiter: `}`");
    CHECK(labels(lexed) == std::vector<std::string>{"1:unexpected closing delimiter",
                                                    "1:this opening brace...",
                                                    "1:...matches this closing brace"});
}

TEST_CASE("many unclosed delimiters are one error with few labels") {
    const Lexed lexed(std::string(100000, '('));
    CHECK(lexed.sink.error_count() == 1);
    CHECK(lexed.sink.all().front().labels.size() == 7);
    CHECK(lexed.sink.all().front().labels.back().text == "another 99995 unclosed delimiters begin from here");
}

TEST_CASE("many mismatches are cut off") {
    std::string text;
    for (int i = 0; i < 10000; ++i)
        text += "( ] ";
    CHECK(Lexed(text).sink.error_count() == 20);
}
