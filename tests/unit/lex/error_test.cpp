#include <doctest/doctest.h>

#include "lex_helper.hpp"

using namespace ockc;
using namespace ockc::lex;

TEST_CASE("what is not terminated ends lexing") {
    const auto error = [](std::string_view text) {
        const Lexed lexed(text);
        CHECK_FALSE(lexed.tokens->balanced());
        CHECK(lexed.sink.error_count() == 1);
        return lexed.first_error();
    };
    CHECK(error("\"abc") == "E0765 unterminated double quote string");
    CHECK(error("b\"abc") == "E0766 unterminated double quote byte string");
    CHECK(error("c\"abc") == "E0767 unterminated C string");
    CHECK(error("'\\'") == "E0762 unterminated character literal");
    CHECK(error("b'abc") == "E0763 unterminated byte constant");
    CHECK(error("/* a /* b */") == "E0758 unterminated block comment");
    CHECK(error("/** a") == "E0758 unterminated block doc-comment");
    CHECK(error("r#\"a\"") == "E0748 unterminated raw string");
    CHECK(error("r#;") == "found invalid character; only `#` is allowed in raw string delimitation: ;");
}

TEST_CASE("numbers") {
    const auto error = [](std::string_view text) { return Lexed(text).first_error(); };
    CHECK(error("0x") == "E0768 no valid digits found for number");
    CHECK(error("0b_") == "E0768 no valid digits found for number");
    CHECK(error("0b12") == "invalid digit for a base 2 literal");
    CHECK(error("0o8") == "invalid digit for a base 8 literal");
    CHECK(error("1e") == "expected at least one digit in exponent");
    CHECK(error("1e+") == "expected at least one digit in exponent");
    CHECK(error("0x1.0") == "hexadecimal float literal is not supported");
    CHECK(error("0b1e3") == "binary float literal is not supported");
    CHECK(error("1u99") == "");  // reported where the literal is used
}

TEST_CASE("escapes") {
    const auto error = [](std::string_view text) { return Lexed(text).first_error(); };
    CHECK(error(R"("\q")") == "unknown character escape: `q`");
    CHECK(error(R"(b"\q")") == "unknown byte escape: `q`");
    CHECK(error(R"("\x8")") == "numeric character escape is too short");
    CHECK(error(R"("\x8g")") == "invalid character in numeric character escape: `g`");
    CHECK(error(R"("\xff")") == "out of range hex escape");
    CHECK(error(R"(b"\xff")") == "");
    CHECK(error(R"("\u{}")") == "empty unicode escape");
    CHECK(error(R"("\u{110000}")") == "invalid unicode character escape");
    CHECK(error(R"("\u{d800}")") == "invalid unicode character escape");
    CHECK(error(R"("\u{1234567}")") == "overlong unicode escape");
    CHECK(error(R"("\u1")") == "incorrect unicode escape sequence");
    CHECK(error(R"("\u{12")") == "unterminated unicode escape");
    CHECK(error(R"("\u{_1}")") == "invalid start of unicode escape: `_`");
    CHECK(error(R"(b"\u{1}")") == "unicode escape in byte string");
    CHECK(error("b\"é\"") == "non-ASCII character in byte string literal");
    CHECK(error(R"(c"\0")") == "null characters in C string literals are not supported");
    CHECK(error("\"a\rb\"") == "bare CR not allowed in string, use `\\r` instead");
    CHECK(error("\"a\\\n\n b\"") == "multiple lines skipped by escaped newline");
}

TEST_CASE("character literals") {
    const auto error = [](std::string_view text) { return Lexed(text).first_error(); };
    CHECK(error("''") == "empty character literal");
    CHECK(error("'ab'") == "character literal may only contain one codepoint");
    CHECK(error("'''") == "character constant must be escaped: `'`");
    CHECK(error("'\n'") == "character constant must be escaped: `\\n`");
    CHECK(error("'\t'") == "character constant must be escaped: `\\t`");
    CHECK(error("b'é'") == "non-ASCII character in byte literal");
}

TEST_CASE("prefixes and guarded strings are reserved") {
    CHECK(Lexed("k\"a\"").first_error() == "prefix `k` is unknown");
    CHECK(Lexed("k#a").first_error() == "prefix `k` is unknown");
    CHECK(Lexed("'a#b").first_error() == "prefix `'a` is unknown");
    CHECK(Lexed("#\"a\"#").first_error() == "invalid string literal");
    CHECK(Lexed("##").first_error() == "reserved multi-hash token is forbidden");
    CHECK(Lexed("##", Edition::E2021).first_error() == "");
    CHECK(Lexed("r#self").first_error() == "`self` cannot be a raw identifier");
}

TEST_CASE("characters that start nothing") {
    CHECK(Lexed("a ∀ b").first_error() == "unknown start of token: \\u{2200}");
    CHECK(Lexed("a \\ b").first_error() == "unknown start of token: \\");
    const Lexed repeated("∀∀∀");
    CHECK(repeated.sink.error_count() == 1);
    CHECK(repeated.sink.all().front().children.front().text == "character appears 2 more times");
    // The look-alike stands in for the character that was meant.
    CHECK(Lexed("a；b").kinds() == "Ident Semi Ident");
    CHECK(Lexed(std::string_view("a\0b", 3)).first_error() == "unknown start of token: \\u{0}");
}

TEST_CASE("text that is no text") {
    const Lexed invalid("fn \xff f");
    CHECK(invalid.first_error() == "source file is not valid UTF-8 text");
    CHECK_FALSE(invalid.tokens->balanced());
    CHECK(Lexed("\xed\xa0\x80").first_error() == "source file is not valid UTF-8 text");  // a surrogate
    CHECK(Lexed("\xc0\x80").first_error() == "source file is not valid UTF-8 text");      // overlong
    std::string many;
    for (int i = 0; i < 1000; ++i)
        many += "∀ ";
    CHECK(Lexed(many).sink.error_count() == 100);
}

TEST_CASE("text direction marks are denied") {
    const Lexed lexed("// \u202E\nfn");
    REQUIRE(lexed.sink.error_count() == 1);
    CHECK(lexed.sink.all().front().lint == "text_direction_codepoint_in_comment");
    CHECK(Lexed("\"\u202E\"").sink.all().front().lint == "text_direction_codepoint_in_literal");
}
