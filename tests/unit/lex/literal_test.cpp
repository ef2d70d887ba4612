#include "lex/literal.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "lex_helper.hpp"

using namespace ockc;
using namespace ockc::lex;

namespace {

DecodedLiteral decode(std::string_view text) {
    const Lexed lexed(text);
    REQUIRE(is_literal(lexed.tokens->kind(0u)));
    DecodedLiteral out = decode_literal(lexed.tokens->kind(0u), text);
    return out;
}

std::string reported(std::string_view text) {
    DiagSink sink;
    report_literal_error(decode(text).error, text, Span{FileId(0), 0, 1}, sink);
    return sink.all().empty() ? std::string() : sink.all().front().message;
}

}  // namespace

TEST_CASE("integers") {
    CHECK(decode("0").value == 0);
    CHECK(decode("1_000").value == 1000);
    CHECK(decode("0xFF_ff").value == 0xFFFF);
    CHECK(decode("0b1010").value == 10);
    CHECK(decode("0o777").value == 511);
    CHECK(decode("255u8").suffix == "u8");
    CHECK(decode("0x7fi16").value == 0x7f);
    CHECK(decode("0x7fi16").suffix == "i16");
    CHECK(decode("00012").value == 12);
    const UInt128 max = ~UInt128{0};
    CHECK((decode("340282366920938463463374607431768211455").value == max));
    CHECK((decode("0xffffffffffffffffffffffffffffffffu128").value == max));
    CHECK(decode("340282366920938463463374607431768211456").error == LiteralError::IntegerTooLarge);
}

TEST_CASE("floats keep their text") {
    CHECK(decode("1_0.5_0").text == "10.50");
    CHECK(decode("1_0.5_0").kind == LiteralKind::Float);
    CHECK(decode("1e-3f32").text == "1e-3");
    CHECK(decode("1e-3f32").suffix == "f32");
    CHECK(decode("1f64").kind == LiteralKind::Float);
    CHECK(decode("1f16").error == LiteralError::None);
    CHECK(decode("0x1f32").kind == LiteralKind::Integer);
    CHECK(parse_f32("0.1") == 0.1f);
    CHECK(parse_f64("0.1") == 0.1);
    CHECK(parse_f32("1.") == 1.0f);
    CHECK(parse_f64("1e400") == std::numeric_limits<double>::infinity());
    CHECK(parse_f32("1e39") == std::numeric_limits<float>::infinity());
    CHECK(parse_f64("1e-400") == 0.0);
    CHECK(parse_f64("0.0000001e-400") == 0.0);
    CHECK(parse_f32("16777217") == 16777216.0f);  // ties to even
    CHECK(parse_f64("5e-324") == std::numeric_limits<double>::denorm_min());
}

TEST_CASE("characters and strings") {
    CHECK(decode("'a'").value == 'a');
    CHECK(decode("'\\n'").value == '\n');
    CHECK(decode("'\\u{1F600}'").value == 0x1F600);
    CHECK(decode("'é'").value == 0xE9);
    CHECK(decode("b'\\xff'").value == 0xFF);
    CHECK(decode("\"a\\tb\\\\\\\"\"").text == "a\tb\\\"");
    CHECK(decode("\"a\\\n   b\"").text == "ab");
    CHECK(decode("\"a\r\nb\"").text == "a\nb");
    CHECK(decode("r#\"a\\\"b\"#").text == "a\\\"b");
    CHECK(decode("b\"\\x00\\xff\"").text == std::string("\0\xff", 2));
    CHECK(decode("c\"é\\xff\"").text == "é\xff");
    CHECK(decode("\"\\u{e9}\"").text == "é");
    CHECK(decode("\"a\"b").suffix == "b");
}

TEST_CASE("errors where a literal is used") {
    CHECK(reported("1u20") == "invalid width `20` for integer literal");
    CHECK(reported("1abc") == "invalid suffix `abc` for number literal");
    CHECK(reported("0XFF") == "invalid base prefix for number literal");
    CHECK(reported("1.0u8") == "invalid suffix `u8` for float literal");
    CHECK(reported("1.0f31") == "invalid width `31` for float literal");
    CHECK(reported("0b1f32") == "binary float literal is not supported");
    CHECK(reported("0o1f64") == "octal float literal is not supported");
    CHECK(reported("\"a\"b") == "suffixes on string literals are invalid");
    CHECK(reported("b\"a\"b") == "suffixes on byte string literals are invalid");
    CHECK(reported("'a'b") == "suffixes on char literals are invalid");
    CHECK(reported("340282366920938463463374607431768211456") == "integer literal is too large");
    CHECK(reported("1u8") == "");
}
