#include "render_helper.hpp"

using namespace ockc;

TEST_CASE("one object a line, in rustc's schema") {
    Scene s("let é: i32 = \"a\";\n");
    s.sink.error(Code::E0308, s.at("\"a\""), "mismatched \"types\"")
        .label(s.at("\"a\""), "expected `i32`")
        .label(s.at("i32"), "due to this")
        .note("tab\there")
        .suggest(s.at("\"a\""), "1", "use a number", Applicability::MachineApplicable);
    const std::string json = s.json();
    CHECK(json.find('\n') == json.size() - 1);
    CHECK(
        json.substr(0, json.find(",\"rendered\":\"error")) ==
        R"({"$message_type":"diagnostic","message":"mismatched \"types\"","code":{"code":"E0308","explanation":null},"level":"error","spans":[)"
        R"({"file_name":"k.rsk","byte_start":14,"byte_end":17,"line_start":1,"line_end":1,"column_start":14,"column_end":17,"is_primary":true,)"
        R"("text":[{"text":"let é: i32 = \"a\";","highlight_start":14,"highlight_end":17}],"label":"expected `i32`","suggested_replacement":null,"suggestion_applicability":null,"expansion":null},)"
        R"({"file_name":"k.rsk","byte_start":8,"byte_end":11,"line_start":1,"line_end":1,"column_start":8,"column_end":11,"is_primary":false,)"
        R"("text":[{"text":"let é: i32 = \"a\";","highlight_start":8,"highlight_end":11}],"label":"due to this","suggested_replacement":null,"suggestion_applicability":null,"expansion":null}],)"
        R"("children":[{"message":"tab\there","code":null,"level":"note","spans":[],"children":[],"rendered":null},)"
        R"({"message":"use a number","code":null,"level":"help","spans":[{"file_name":"k.rsk","byte_start":14,"byte_end":17,"line_start":1,"line_end":1,"column_start":14,"column_end":17,"is_primary":true,)"
        R"("text":[{"text":"let é: i32 = \"a\";","highlight_start":14,"highlight_end":17}],"label":null,"suggested_replacement":"1","suggestion_applicability":"MachineApplicable","expansion":null}],"children":[],"rendered":null}])");
}

TEST_CASE("spans over several lines highlight each of them") {
    Scene s("ab(\n  c\n)\n");
    s.sink.error(s.between("b(", ")"), "m");
    CHECK(
        s.json().find(
            R"json("text":[{"text":"ab(","highlight_start":2,"highlight_end":4},{"text":"  c","highlight_start":1,"highlight_end":4},{"text":")","highlight_start":1,"highlight_end":2}])json") !=
        std::string::npos);
}

TEST_CASE("lints have their name as code, control characters are escaped") {
    Scene s("x");
    s.sink.lint("unused_variables", s.at("x"),
                   "a\x01"
                   "b");
    const std::string json = s.json();
    CHECK(
        json.find(
            R"("message":"a\u0001b","code":{"code":"unused_variables","explanation":null},"level":"warning")") !=
        std::string::npos);
}

TEST_CASE("the summary as JSON") {
    Scene s("x");
    s.sink.error(Code::E0308, s.at("x"), "m");
    const std::string json = render_summary(s.sink, s.sources, {ErrorFormat::Json, false});
    CHECK(
        json.find(
            R"({"$message_type":"diagnostic","message":"aborting due to 1 previous error","code":null,"level":"error","spans":[],"children":[],"rendered":"error: aborting due to 1 previous error\n\n"})") ==
        0);
    CHECK(json.find(R"("level":"failure-note")") != std::string::npos);
}
