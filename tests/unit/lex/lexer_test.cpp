#include <doctest/doctest.h>

#include "lex_helper.hpp"

using namespace ockc;
using namespace ockc::lex;

TEST_CASE("every row with a fixed text lexes to its kind") {
    for (std::size_t i = 0; i < kTokenKindCount; ++i) {
        const TokenInfo& row = kTokenInfos[i];
        if (row.token_class == TokenClass::Variable || row.text.empty()) continue;
        CAPTURE(row.text);
        // Delimiters stand in a balanced pair.
        std::string text(row.text);
        std::uint32_t index = 0;
        if (row.token_class == TokenClass::Delimiter && is_open(static_cast<TokenKind>(i))) {
            text += info(closer_of(static_cast<TokenKind>(i))).text;
        } else if (row.token_class == TokenClass::Delimiter) {
            text = std::string(kTokenInfos[i - 1].text) + text;
            index = 1;
        }
        const Lexed lexed(text);
        CHECK(lexed.tokens->kind(index) == static_cast<TokenKind>(i));
        CHECK(lexed.text(index) == row.text);
        CHECK(lexed.tokens->kind(lexed.tokens->size() - 1) == TokenKind::Eof);
        CHECK_FALSE(lexed.sink.has_errors());
    }
}

TEST_CASE("punctuation splits into its first character and the rest") {
    for (std::size_t i = 0; i < kTokenKindCount; ++i) {
        const TokenInfo& row = kTokenInfos[i];
        if (row.token_class != TokenClass::Punctuation || row.rest == TokenKind::Eof) continue;
        CAPTURE(row.text);
        CHECK(info(row.rest).text == row.text.substr(1));
    }
}

TEST_CASE("keywords depend on the edition") {
    CHECK(Lexed("gen", Edition::E2024).kinds() == "KwGen");
    CHECK(Lexed("gen", Edition::E2021).kinds() == "Ident");
    CHECK(Lexed("async dyn try", Edition::E2021).kinds() == "KwAsync KwDyn KwTry");
    CHECK(Lexed("unions selfs _x __ fnn").kinds() == "Ident Ident Ident Ident Ident");
}

TEST_CASE("longest match") {
    CHECK(Lexed("<<=>>=..=...->=>::").kinds() ==
          "LessLessEqual GreaterGreaterEqual DotDotEqual DotDotDot Arrow FatArrow PathSep");
    CHECK(Lexed("<-").kinds() == "LeftArrow");
    CHECK(Lexed("&&&").kinds() == "AndAnd And");
    CHECK(Lexed("|||").kinds() == "OrOr Or");
    CHECK(Lexed("....").kinds() == "DotDotDot Dot");
    CHECK(Lexed("a.b").kinds() == "Ident Dot Ident");
}

TEST_CASE("numbers against ranges and fields") {
    CHECK(Lexed("1.").kinds() == "Float");
    CHECK(Lexed("1..2").kinds() == "Integer DotDot Integer");
    CHECK(Lexed("1.foo").kinds() == "Integer Dot Ident");
    CHECK(Lexed("1._x").kinds() == "Integer Dot Ident");
    CHECK(Lexed("t.0.1").kinds() == "Ident Dot Float");
    CHECK(Lexed("1.e5").kinds() == "Integer Dot Ident");
    CHECK(Lexed("1e5 1E5 1e+5 1e-5 1e_5 1.5e3").kinds() == "Float Float Float Float Float Float");
    CHECK(Lexed("1f32 0xf32 0b1 0o7 1_000 1u8 1.0f64").kinds() ==
          "Integer Integer Integer Integer Integer Integer Float");
    CHECK(Lexed("1.0.foo()").kinds() == "Float Dot Ident OpenParen CloseParen");
}

TEST_CASE("characters against lifetimes") {
    CHECK(Lexed("'a' 'a 'static '_ '\\'' '\\u{41}'").kinds() == "Char Lifetime Lifetime Lifetime Char Char");
    CHECK(Lexed("<'a,'b>").kinds() == "Less Lifetime Comma Lifetime Greater");
    CHECK(Lexed("'é' 'é").kinds() == "Char Lifetime");
    CHECK(Lexed("'r#a").kinds() == "RawLifetime");
    CHECK(Lexed("b'a' b'\\xff'").kinds() == "Byte Byte");
}

TEST_CASE("strings of all kinds") {
    CHECK(Lexed(R"("a" b"a" c"a" r"a" br"a" cr"a")").kinds() ==
          "String ByteString CString RawString RawByteString RawCString");
    CHECK(Lexed(R"(r#"a"b"# r##"a"#b"##)").kinds() == "RawString RawString");
    CHECK(Lexed(R"("a\"b\\")").kinds() == "String");
    CHECK(Lexed("\"a\nb\"").kinds() == "String");
    CHECK(Lexed(R"("a"suffix 'b'suffix)").kinds() == "String Char");
}

TEST_CASE("identifiers") {
    CHECK(Lexed("r#fn r#abc größe 变量 é_1").kinds() == "RawIdent RawIdent Ident Ident Ident");
    CHECK(Lexed("r b c br cr rb").kinds() == "Ident Ident Ident Ident Ident Ident");
    CHECK(is_ident_start(U'é'));
    CHECK(is_ident_continue(U'\u0301'));
    CHECK_FALSE(is_ident_start(U'\u0301'));
    CHECK_FALSE(is_ident_start(U'∀'));
    CHECK(is_ident_start(U'\U00020000'));
    CHECK(is_ident_continue(U'9'));
    CHECK_FALSE(is_ident_start(U'9'));
}

TEST_CASE("comments and documentation") {
    CHECK(Lexed("// a\n/* b /* c */ */ x").kinds() == "Ident");
    CHECK(Lexed("/// a\n//! b\n/** c */ /*! d */ //// e\n/***/ /**/ /*** f */").kinds() ==
          "OuterDoc InnerDoc OuterDoc InnerDoc");
    const Lexed lexed("/// a\r\nx");
    CHECK(lexed.text(0) == "/// a");
}

TEST_CASE("shebang, byte order mark, line ends") {
    CHECK(Lexed("#!/usr/bin/env x\nfn").kinds() == "KwFn");
    CHECK(Lexed("#![a]").kinds() == "Pound Not OpenBracket Ident CloseBracket");
    CHECK(Lexed("#! // c\n [a]").kinds() == "Pound Not OpenBracket Ident CloseBracket");
    CHECK(Lexed("\xEF\xBB\xBF"
                "fn")
              .kinds() == "KwFn");
    CHECK(Lexed("a\r\nb\tc\vd\fe\u0085f\u200Eg\u2028h").kinds() ==
          "Ident Ident Ident Ident Ident Ident Ident Ident");
    CHECK(Lexed("").kinds().empty());
}

TEST_CASE("spans and spacing") {
    const Lexed lexed("ab  >>= \"x\" c");
    CHECK(lexed.tokens->span(0u) == Span{FileId(0), 0, 2});
    CHECK(lexed.tokens->span(1u) == Span{FileId(0), 4, 7});
    CHECK(lexed.tokens->span(2u) == Span{FileId(0), 8, 11});
    CHECK_FALSE(lexed.tokens->touches_next(0));
    CHECK(Lexed("a+b").tokens->touches_next(0));
    CHECK(lexed.tokens->span(lexed.tokens->size() - 1) == Span{FileId(0), 13, 13});
}

TEST_CASE("the token dump") {
    const Lexed lexed("fn é(\n  1u8 )");
    CHECK(dump_tokens(*lexed.tokens, lexed.sources) ==
          "1:1 KwFn fn\n1:4 Ident é\n1:5 OpenParen (\n2:3 Integer 1u8\n2:7 CloseParen )\n2:8 Eof\n");
}

TEST_CASE("an expansion's buffer keeps the file and context of each token") {
    SourceMap sources;
    const FileId a = sources.add("a", "", "x y");
    const FileId b = sources.add("b", "", "(z)");
    TokenBuffer tokens(a, Edition::E2024);
    tokens.push(TokenKind::OpenParen, Span{b, 0, 1}, 0);
    tokens.push(TokenKind::Ident, Span{a, 2, 3}, 7);
    tokens.push(TokenKind::CloseParen, Span{b, 2, 3}, 0);
    tokens.push(TokenKind::Eof, Span{b, 3, 3}, 0);
    CHECK(tokens.link_delimiters());
    CHECK(tokens.partner(0) == 2);
    CHECK(tokens.partner(2) == 0);
    CHECK(tokens.context(1) == 7);
    CHECK(sources.text(tokens.span(1u)) == "y");
    CHECK_FALSE(tokens.touches_next(0));
}
