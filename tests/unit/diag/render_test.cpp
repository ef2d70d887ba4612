// The expected texts are rustc 1.95's for the same labels on the same sources (but for "ockc explain").
#include "render_helper.hpp"

using namespace ockc;

TEST_CASE("one label") {
    Scene s("fn main() {\n    let x: i32 = \"a\";\n}\n");
    s.sink.error(Code::E0308, s.at("\"a\""), "mismatched types")
        .label(s.at("\"a\""), "expected `i32`, found `&str`")
        .label(s.at("i32"), "expected due to this");
    CHECK(s.human() ==
          "error[E0308]: mismatched types\n"
          " --> k.rsk:2:18\n"
          "  |\n"
          "2 |     let x: i32 = \"a\";\n"
          "  |            ---   ^^^ expected `i32`, found `&str`\n"
          "  |            |\n"
          "  |            expected due to this\n"
          "\n");
    CHECK(s.brief() == "k.rsk:2:18: error[E0308]: mismatched types: expected `i32`, found `&str`\n");
}

TEST_CASE("several labels on a line hang below each other") {
    Scene s("fn f() { let a = (1, 2; }\n");
    Diagnostic& d = s.sink.error(s.at("}"), "mismatched closing delimiter: `}`");
    d.label(s.at("}"), "mismatched closing delimiter");
    d.labels.push_back({s.at("(1").start().to(s.at("(", 1)), "unclosed delimiter", true});
    d.label(s.at("{"), "closing delimiter possibly meant for this");
    CHECK(s.human() ==
          "error: mismatched closing delimiter: `}`\n"
          " --> k.rsk:1:18\n"
          "  |\n"
          "1 | fn f() { let a = (1, 2; }\n"
          "  |        -         ^      ^ mismatched closing delimiter\n"
          "  |        |         |\n"
          "  |        |         unclosed delimiter\n"
          "  |        closing delimiter possibly meant for this\n"
          "\n");
}

TEST_CASE("a label over several lines") {
    Scene s("fn main() {\n    if true {\n        1\n    } else {\n        \"x\"\n    };\n}\n");
    s.sink.error(Code::E0308, s.at("\"x\""), "`if` and `else` have incompatible types")
        .label(s.at("\"x\""), "expected integer, found `&str`")
        .label(s.at("1"), "expected because of this")
        .label(s.between("if true", "\n    };").start().to(s.at("}", 1)),
               "`if` and `else` have incompatible types");
    CHECK(s.human() ==
          "error[E0308]: `if` and `else` have incompatible types\n"
          " --> k.rsk:5:9\n"
          "  |\n"
          "2 | /     if true {\n"
          "3 | |         1\n"
          "  | |         - expected because of this\n"
          "4 | |     } else {\n"
          "5 | |         \"x\"\n"
          "  | |         ^^^ expected integer, found `&str`\n"
          "6 | |     };\n"
          "  | |_____- `if` and `else` have incompatible types\n"
          "\n");
}

TEST_CASE("a long span that starts inside its line, cut in the middle") {
    Scene s(
        "fn f() {\n    let x = g(\n        1,\n        2,\n        3,\n        4,\n        5,\n        6,\n  "
        "  );\n}\n");
    s.sink.error(s.between("g(", ")").start().to(s.at(")", 1)), "long")
        .label(s.at("g(").start().to(s.at(")", 1)), "here");
    CHECK(s.human() ==
          "error: long\n"
          " --> k.rsk:2:13\n"
          "  |\n"
          "2 |       let x = g(\n"
          "  |  _____________^\n"
          "3 | |         1,\n"
          "4 | |         2,\n"
          "5 | |         3,\n"
          "... |\n"
          "8 | |         6,\n"
          "9 | |     );\n"
          "  | |_____^ here\n"
          "\n");
}

TEST_CASE("lines far apart, line numbers set to the right, notes and helps") {
    std::string text = "fn a() {}\n";
    for (int i = 0; i < 8; ++i)
        text += "\n";
    Scene s(text + "fn b() {}\n");
    s.sink.error(Code::E0428, s.at("fn b()"), "the name `a` is defined multiple times")
        .label(s.at("fn b()"), "`a` redefined here")
        .label(s.at("fn a()"), "previous definition of the value `a` here")
        .note("`a` must be defined only once in the value namespace of this module\nand more")
        .help_at(s.at("a()"), "look here");
    CHECK(s.human() ==
          "error[E0428]: the name `a` is defined multiple times\n"
          "  --> k.rsk:10:1\n"
          "   |\n"
          " 1 | fn a() {}\n"
          "   | ------ previous definition of the value `a` here\n"
          "...\n"
          "10 | fn b() {}\n"
          "   | ^^^^^^ `a` redefined here\n"
          "   |\n"
          "   = note: `a` must be defined only once in the value namespace of this module\n"
          "           and more\n"
          "help: look here\n"
          "  --> k.rsk:1:4\n"
          "   |\n"
          " 1 | fn a() {}\n"
          "   |    ^^^\n"
          "\n");
}

TEST_CASE("labels in another file") {
    Scene s("use m::f;\n");
    const FileId other = s.sources.add("m.rsk", "", "\nfn f() {}\n");
    s.sink.error(s.at("f"), "function `f` is private")
        .label(s.at("f"), "private function")
        .label(Span{other, 1, 7}, "defined here");
    CHECK(s.human() ==
          "error: function `f` is private\n"
          " --> k.rsk:1:8\n"
          "  |\n"
          "1 | use m::f;\n"
          "  |        ^ private function\n"
          "  |\n"
          " ::: m.rsk:2:1\n"
          "  |\n"
          "2 | fn f() {}\n"
          "  | ------ defined here\n"
          "\n");
}

TEST_CASE("tabs, wide characters, control characters, empty spans, the end of the file") {
    Scene s("\tlet 变量 = \x01x;\n");
    s.sink.error(s.at("x"), "x")
        .label(s.at("x"), "here")
        .label(s.at("变量"), "wide")
        .label(s.at(";").after(), "empty");
    CHECK(s.human() ==
          "error: x\n"
          " --> k.rsk:1:12\n"
          "  |\n"
          "1 |     let 变量 = ␁x;\n"
          "  |         ----    ^ - empty\n"
          "  |         |       |\n"
          "  |         |       here\n"
          "  |         wide\n"
          "\n");
    Scene end("fn f() {\n");
    const Span eof{end.file, 9, 9};
    end.sink.error(eof, "this file contains an unclosed delimiter").label(end.at("{"), "unclosed delimiter");
    CHECK(end.human() ==
          "error: this file contains an unclosed delimiter\n"
          " --> k.rsk:1:10\n"
          "  |\n"
          "1 | fn f() {\n"
          "  |        -^\n"
          "  |        |\n"
          "  |        unclosed delimiter\n"
          "\n");
}

TEST_CASE("a long line is cut around its labels") {
    Scene s("fn f() { " + std::string(200, 'a') + " x " + std::string(300, 'b') + " }\n");
    s.sink.error(s.at("x"), "long").label(s.at("x"), "here");
    const std::string text = s.human();
    CHECK(text.find("...") != std::string::npos);
    std::size_t longest = 0;
    for (std::size_t begin = 0; begin < text.size();) {
        const std::size_t end = text.find('\n', begin);
        longest = std::max(longest, end - begin);
        begin = end + 1;
    }
    CHECK(longest <= 140);
    // The label stands below its x.
    const std::size_t code = text.find("1 | ..."), mark = text.find("^ here");
    CHECK(text[code + (mark - text.rfind('\n', mark) - 1)] == 'x');
}

TEST_CASE("overlapping long spans get brackets of their own") {
    Scene s("a(\n  b(\n    c\n  )\n)\n");
    s.sink.error(s.at("a(").start().to(s.at(")", 1)), "two")
        .label(s.at("a(").start().to(s.at(")", 1)), "outer")
        .label(s.at("b(").start().to(s.at(")")), "inner");
    CHECK(s.human() ==
          "error: two\n"
          " --> k.rsk:1:1\n"
          "  |\n"
          "1 | /  a(\n"
          "2 | |/   b(\n"
          "3 | ||     c\n"
          "4 | ||   )\n"
          "  | ||___- inner\n"
          "5 | |  )\n"
          "  | |__^ outer\n"
          "\n");
}

TEST_CASE("colours are rustc's") {
    Scene s("let x;\n");
    s.sink.error(Code::E0282, s.at("x"), "m").label(s.at("x"), "l").note("n");
    CHECK(s.human(true) ==
          "\x1b[1m\x1b[91merror[E0282]\x1b[0m\x1b[1m: m\x1b[0m\n"
          " \x1b[1m\x1b[94m--> \x1b[0mk.rsk:1:5\n"
          "  \x1b[1m\x1b[94m|\x1b[0m\n"
          "\x1b[1m\x1b[94m1\x1b[0m \x1b[1m\x1b[94m|\x1b[0m let x;\n"
          "  \x1b[1m\x1b[94m|\x1b[0m     \x1b[1m\x1b[91m^\x1b[0m \x1b[1m\x1b[91ml\x1b[0m\n"
          "  \x1b[1m\x1b[94m|\x1b[0m\n"
          "  \x1b[1m\x1b[94m= \x1b[0m\x1b[1mnote\x1b[0m: n\n"
          "\n");
}

TEST_CASE("the closing lines") {
    Scene s("x");
    CHECK(s.summary().empty());
    s.sink.lint("unused_variables", s.at("x"), "unused variable: `x`");
    CHECK(s.summary() == "warning: 1 warning emitted\n\n");
    s.sink.error(Code::E0308, s.at("x"), "a");
    CHECK(s.summary() ==
          "error: aborting due to 1 previous error; 1 warning emitted\n\nFor more information about this "
          "error, try `ockc explain E0308`.\n");
    s.sink.error(Code::E0282, s.at("x"), "b");
    CHECK(s.summary() ==
          "error: aborting due to 2 previous errors; 1 warning emitted\n\n"
          "Some errors have detailed explanations: E0282, E0308.\n"
          "For more information about an error, try `ockc explain E0282`.\n");
}

TEST_CASE("no place at all") {
    Scene s("");
    s.sink.error(Span{}, "nothing to compile").help("name a file");
    CHECK(s.human() == "error: nothing to compile\n |\n = help: name a file\n\n");
    CHECK(s.brief() == "error: nothing to compile\n");
}

TEST_CASE("a place that does not exist costs the underline, not the message") {
    Scene s("fn f() {}\n");
    Diagnostic& d = s.sink.error({}, "lost");
    d.label({}, "nowhere");
    d.label(Span{FileId(7), 0, 4}, "in no file");
    d.note_at(Span{FileId(7), 0, 4}, "a note");
    d.suggest(Span{}, "x", "a change");
    CHECK(s.human() == "error: lost\n |\n = note: a note\n\n");
    CHECK(s.brief() == "error: lost\n");
    CHECK(s.json().find("\"spans\":[]") != std::string::npos);
    Diagnostic& backward = s.sink.error(Span{s.file, 5, 3}, "backward");
    backward.label(Span{s.file, 5, 3}, "ends before it begins");
    CHECK(s.human().find("k.rsk:1:6") != std::string::npos);
    s.sink.error(Span{s.file, 500, 600}, "beyond").label(Span{s.file, 500, 600}, "no text there");
    CHECK(s.human().find("no text there") != std::string::npos);
}
