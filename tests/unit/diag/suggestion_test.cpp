// The expected texts are rustc 1.95's for the same suggestions.
#include "render_helper.hpp"

using namespace ockc;

namespace {

// What follows the error's own snippet.
std::string below(const Scene& s) {
    const std::string text = s.human();
    return text.substr(text.find("help: "));
}

}  // namespace

TEST_CASE("an insertion is marked underneath") {
    Scene s("let b = k#abc;\n");
    s.sink.error(s.at("k"), "prefix `k` is unknown")
        .suggest(s.at("#").start(), " ", "consider inserting whitespace here");
    CHECK(below(s) ==
          "help: consider inserting whitespace here\n  |\n1 | let b = k #abc;\n  |          +\n\n");
    Scene wrap("x as f32 < y\n");
    wrap.sink.error(wrap.at("x"), "m")
        .suggest_parts({{wrap.at("x").start(), "("}, {wrap.at("f32").after(), ")"}}, "try");
    CHECK(below(wrap) == "help: try\n  |\n1 | (x as f32) < y\n  | +        +\n\n");
}

TEST_CASE("a replacement shows the old and the new line") {
    Scene s("let a = 1...2;\n");
    s.sink.error(s.at("..."), "unexpected token: `...`")
        .suggest(s.at("..."), "..=", "or `..=` for an inclusive range");
    CHECK(below(s) ==
          "help: or `..=` for an inclusive range\n  |\n1 - let a = 1...2;\n1 + let a = 1..=2;\n  |\n\n");
}

TEST_CASE("a replacement that only adds around its text is an insertion") {
    Scene s("let a = \"\\q\";\n");
    s.sink.error(s.at("q"), "m").suggest(s.at("\"\\q\""), "r\"\\q\"", "consider a raw string literal");
    CHECK(below(s) == "help: consider a raw string literal\n  |\n1 | let a = r\"\\q\";\n  |         +\n\n");
}

TEST_CASE("a removal, and the removal of a whole line") {
    Scene s("f(mut mut x);\n");
    s.sink.error(s.at("mut ", 1), "m").suggest(s.at("mut ", 1), "", "remove the additional `mut`s");
    CHECK(below(s) == "help: remove the additional `mut`s\n  |\n1 - f(mut mut x);\n1 + f(mut x);\n  |\n\n");
    Scene line("a;\nb;\nc;\n");
    line.sink.error(line.at("b"), "m").suggest(line.at("b;"), "", "remove it");
    CHECK(below(line) == "help: remove it\n  |\n2 - b;\n  |\n\n");
}

TEST_CASE("a new line of its own") {
    Scene s("mod m {\n    fn f() {}\n}\n");
    const Span line_begin{s.file, 8, 8};
    s.sink.error(s.at("f()"), "m").suggest(line_begin, "    use a::b;\n", "import it");
    CHECK(below(s) == "help: import it\n  |\n2 +     use a::b;\n  |\n\n");
    Scene attribute("struct S {\n    x: u8,\n}\n");
    attribute.sink.error(attribute.at("S"), "m")
        .suggest(attribute.at("struct").start(), "#[derive(Clone)]\n", "derive it");
    CHECK(below(attribute) == "help: derive it\n  |\n1 + #[derive(Clone)]\n2 | struct S {\n  |\n\n");
}

TEST_CASE("short suggestions stand in the label") {
    Scene s("let a = 1\nlet b = 2;\n");
    s.sink.error(s.at("1").after(), "expected `;`, found keyword `let`")
        .suggest_short(s.at("1").after(), ";", "add `;` here")
        .label(s.at("let", 1), "unexpected token");
    CHECK(s.human() ==
          "error: expected `;`, found keyword `let`\n"
          " --> k.rsk:1:10\n"
          "  |\n"
          "1 | let a = 1\n"
          "  |          ^ help: add `;` here\n"
          "2 | let b = 2;\n"
          "  | --- unexpected token\n"
          "\n");
    Scene name("let x = 1;\n");
    name.sink.lint("unused_variables", name.at("x"), "unused variable: `x`")
        .suggest_inline(name.at("x"), "_x", "if this is intentional, prefix it with an underscore");
    CHECK(name.human() ==
          "warning: unused variable: `x`\n"
          " --> k.rsk:1:5\n"
          "  |\n"
          "1 | let x = 1;\n"
          "  |     ^ help: if this is intentional, prefix it with an underscore: `_x`\n"
          "\n");
}

TEST_CASE("a change of case says so") {
    Scene s("let x = 0XF;\n");
    s.sink.error(s.at("0XF"), "invalid base prefix for number literal")
        .suggest_inline(s.at("0XF"), "0xF", "try making the prefix lowercase");
    CHECK(s.human().find("help: try making the prefix lowercase (notice the capitalization): `0xF`") !=
          std::string::npos);
}

TEST_CASE("a suggestion in another file names it") {
    Scene s("f();\n");
    const FileId other = s.sources.add("m.rsk", "", "fn f() {}\n");
    s.sink.error(s.at("f"), "m").suggest(Span{other, 0, 0}, "pub ", "make it public");
    CHECK(below(s) == "help: make it public\n --> m.rsk:1:1\n  |\n1 | pub fn f() {}\n  | +++\n\n");
}
