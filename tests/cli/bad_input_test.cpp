// Bad input: a clear error, the right exit code, no output file, never a crash or a hang.
#include <doctest/doctest.h>
#include <unistd.h>

#include <filesystem>

#include "sandbox.hpp"

using namespace ockc::cli_test;
using Files = std::vector<std::string>;

namespace {

// Compiles a file with this text: exit code 1, an error on stderr that holds `message`, nothing written.
void check_refused(const std::string& text, const std::string& message) {
    Sandbox box;
    box.write("x.rsk", text);
    const auto run = box.ockc({":x.rsk"});
    CHECK(run.exit_code == 1);
    CHECK(run.output.empty());
    CHECK(run.error_output.find("error") != std::string::npos);
    CHECK_MESSAGE(run.error_output.find(message) != std::string::npos, run.error_output.substr(0, 2000));
    CHECK(run.error_output.size() < 1'000'000);
    CHECK(box.files() == Files{"x.rsk"});
}

std::string repeat(const std::string& text, std::size_t count) {
    std::string out;
    out.reserve(text.size() * count);
    for (std::size_t i = 0; i < count; ++i) out += text;
    return out;
}

std::string kernel(const std::string& body) { return "use cuda_device::kernel;\n#[kernel]\npub fn k() {\n" + body + "\n}\n"; }

}  // namespace

TEST_CASE("empty file") { check_refused("", "no device code"); }
TEST_CASE("only white space and comments") { check_refused("// nothing\n\n", "no device code"); }
TEST_CASE("host code only") { check_refused("fn main() { println!(\"hi\"); }\n", "no device code"); }

TEST_CASE("binary") {
    std::string bytes = "\x7F"
                        "ELF";
    for (int i = 0; i < 4096; ++i) bytes += static_cast<char>((i * 7919) & 0xFF);
    check_refused(bytes, "error");
}

TEST_CASE("truncated at every place") {
    Sandbox box;
    const std::string whole(kVecadd);
    for (std::size_t length = 0; length + 2 < whole.size(); length += 7) {
        box.write("x.rsk", whole.substr(0, length));
        const auto run = box.ockc({":x.rsk"});
        CAPTURE(length);
        CHECK(run.exit_code == 1);
    }
    CHECK(box.files() == Files{"x.rsk"});
}

TEST_CASE("ten thousand levels of nesting") {
    constexpr std::size_t kDeep = 10'000;
    check_refused(kernel("let x = " + repeat("(", kDeep) + "1" + repeat(")", kDeep) + ";"), "error");
    check_refused(kernel(repeat("{", kDeep) + repeat("}", kDeep)), "error");
    check_refused(kernel("let x: " + repeat("&", kDeep) + "u8;"), "error");
    check_refused(kernel("let " + repeat("(", kDeep) + "x" + repeat(")", kDeep) + " = 1;"), "error");
    check_refused(kernel("let x = " + repeat("-", kDeep) + "1;"), "error");
    check_refused(kernel(repeat("if true {} else ", kDeep) + "{}"), "error");
    check_refused(kernel(repeat("[", kDeep)), "error");
    check_refused(repeat("mod m {", kDeep) + repeat("}", kDeep), "error");
    check_refused(kernel("let x: " + repeat("Option<", kDeep) + "u8" + repeat(">", kDeep) + ";"), "error");
}

TEST_CASE("a line of a megabyte") {
    check_refused(kernel("let x: i32 = " + repeat("1 + ", 250'000) + "true;"), "error");
    check_refused(repeat("x", 1'000'000), "error");
    check_refused("\"" + repeat("x", 1'000'000), "unterminated");
}

TEST_CASE("a hundred megabytes") {
    Sandbox box;
    box.write("x.rsk", repeat("// filler filler filler filler filler\n", 100'000'000 / 38));
    const auto run = box.ockc({":x.rsk"});
    CHECK(run.exit_code == 3);
    CHECK(run.error_output.find("larger than the limit") != std::string::npos);
    CHECK(box.files() == Files{"x.rsk"});
}

TEST_CASE("paths that cannot be read or written") {
    Sandbox box;
    CHECK(box.ockc({":missing.rsk"}).exit_code == 3);
    std::filesystem::create_directory(box.path("folder.rsk"));
    CHECK(box.ockc({":folder.rsk"}).exit_code == 3);
    box.write("vecadd.rsk", kVecadd);
    box.write("file", "");
    const auto run = box.ockc({":vecadd.rsk", "--out-dir", box.path("file/below")});
    CHECK(run.exit_code == 3);
    CHECK(run.error_output.find("cannot write") != std::string::npos);
    if (::geteuid() != 0) {
        std::filesystem::permissions(box.path("vecadd.rsk"), std::filesystem::perms::none);
        CHECK(box.ockc({":vecadd.rsk"}).exit_code == 3);
    }
}

TEST_CASE("bad command lines") {
    Sandbox box;
    box.write("vecadd.rsk", kVecadd);
    const std::vector<std::vector<std::string>> lines = {
        {},
        {":vecadd.rsk", "--no-such-option"},
        {":vecadd.rsk", "-Ofast"},
        {":vecadd.rsk", "--emit=ptxx"},
        {":vecadd.rsk", "--fmad", "maybe"},
        {":vecadd.rsk", "--panic", "loudly"},
        {":vecadd.rsk", "--emit=ptx=m.ptx,ptx=n.ptx"},
        {":vecadd.rsk", ":vecadd.rsk", "-o", "x"},
        {":vecadd.rsk", ":vecadd.rsk", "--header", "x"},
        {":vecadd.rsk", "--target=sm_80", "--target=sm_90", "-o", "x"},
        {":vecadd.rsk", "--edition", "2018"},
        {"inspect", ":vecadd.rsk"},
        {"launch", ":vecadd.rsk"},
        {"launch", ":vecadd.rsk", "vecadd", "--grid", "0"},
        {"launch", ":vecadd.rsk", "vecadd", "--arg", "a"},
    };
    for (const auto& line : lines) {
        const auto run = box.ockc(line);
        CHECK_MESSAGE(run.exit_code == 2, run.error_output);
        CHECK(run.output.empty());
        CHECK(run.error_output.find("error") != std::string::npos);
    }
    CHECK(box.ockc({":vecadd.rsk", "--emit=ptxx"}).error_output.find("did you mean `ptx`") != std::string::npos);
    CHECK(box.files() == Files{"vecadd.rsk"});
}

TEST_CASE("unknown target") {
    Sandbox box;
    box.write("vecadd.rsk", kVecadd);
    const auto run = box.ockc({":vecadd.rsk", "--target=sm_42"});
    CHECK(run.exit_code == 2);
    CHECK(run.error_output.find("sm_42") != std::string::npos);
    CHECK(box.files() == Files{"vecadd.rsk"});
}

TEST_CASE("a misspelt attribute") {
    check_refused("use cuda_device::kernel;\n#[kernal]\n#[kernel]\npub fn k() {}\n", "kernel");
    check_refused("use cuda_device::{kernel, launch_bounds};\n#[kernel]\n#[launch_bound(256)]\npub fn k() {}\n", "launch_bounds");
}

TEST_CASE("errors in the three shapes") {
    Sandbox box;
    box.write("x.rsk", kernel("let x: i32 = true;\nlet y: bool = 3;"));
    const auto human = box.ockc({"check", ":x.rsk"});
    CHECK(human.error_output.find("error[E0308]: mismatched types") != std::string::npos);
    CHECK(human.error_output.find("x.rsk:4:14") != std::string::npos);
    CHECK(human.error_output.find("aborting due to 2 previous errors") != std::string::npos);
    const auto brief = box.ockc({"check", ":x.rsk", "--error-format", "short"});
    CHECK(brief.error_output.find("x.rsk:4:14: error[E0308]: mismatched types") != std::string::npos);
    const auto json = box.ockc({"check", ":x.rsk", "--error-format=json"});
    CHECK(json.error_output.rfind("{\"$message_type\":\"diagnostic\"", 0) == 0);
    CHECK(json.error_output.find("\"explanation\":\"# E") != std::string::npos);
}

TEST_CASE("at most twenty errors are shown") {
    Sandbox box;
    box.write("x.rsk", kernel(repeat("let x: i32 = true;\n", 50)));
    const auto run = box.ockc({"check", ":x.rsk", "--error-format", "short"});
    std::size_t count = 0;
    for (std::size_t at = run.error_output.find("error[E0308]"); at != std::string::npos; at = run.error_output.find("error[E0308]", at + 1)) ++count;
    CHECK(count == 20);
    CHECK(run.error_output.find("50 previous errors") != std::string::npos);
}

TEST_CASE("diagnostics name files as the command line does, outputs relative to the source's folder") {
    Sandbox box;
    box.write("a/x.rsk", kernel("let x: i32 = true;"));
    box.write("b/main.rsk", "mod part;\n" + std::string(kVecadd));
    box.write("b/part.rsk", "pub fn f() { let = 1; }\n");
    const std::string at = box.path("a/x.rsk");
    CHECK(box.ockc({"check", ":a/x.rsk"}).error_output.find(" --> " + at + ":4:14\n") != std::string::npos);
    CHECK(box.ockc({"check", ":a/x.rsk", "--error-format", "short"}).error_output.rfind(at + ":4:14: error[E0308]", 0) == 0);
    const auto json = box.ockc({"check", ":a/x.rsk", "--error-format", "json"});
    CHECK(json.error_output.find("\"file_name\":\"" + at + "\"") != std::string::npos);
    CHECK(json.error_output.find(" --> " + at + ":4:14") != std::string::npos);
    CHECK(box.ockc({"check", ":b/main.rsk"}).error_output.find(" --> " + box.path("b/part.rsk") + ":1:18\n") != std::string::npos);
    CHECK(box.ockc({"check", "-"}, kernel("let x: i32 = true;")).error_output.find(" --> stdin:4:14\n") != std::string::npos);
    box.write("b/part.rsk", "pub fn f() -> i32 { 1 }\n");
    CHECK(box.ockc({":b/main.rsk", "-lineinfo"}).exit_code == 0);
    CHECK(box.read("b/main.ptx").find(box.path("b")) == std::string::npos);
    CHECK(box.read("b/main.h").find(box.path("b")) == std::string::npos);
}

TEST_CASE("a circle of #[path]s is told at once, however it is spelt") {
    Sandbox box;
    box.write("main.rsk", "#[path = \"sub/../main.rsk\"]\nmod again;\n" + std::string(kVecadd));
    std::filesystem::create_directory(box.path("sub"));
    const auto run = box.ockc({"check", ":main.rsk"});
    CHECK(run.exit_code == 1);
    CHECK_MESSAGE(run.error_output.find("circular modules") != std::string::npos, run.error_output.substr(0, 2000));
    CHECK(run.error_output.size() < 2000);
}

TEST_CASE("a note that repeats is printed once") {
    Sandbox box;
    box.write("x.rsk", "const fn f(n: u32) -> u32 {\n    f(n + 1)\n}\nconst X: u32 = f(0);\n" + kernel("let _x = X;"));
    const auto run = box.ockc({"check", ":x.rsk"});
    CHECK(run.exit_code == 1);
    CHECK(run.error_output.find("E0080") != std::string::npos);
    CHECK_MESSAGE(run.error_output.find("more times") != std::string::npos, run.error_output.substr(0, 2000));
    CHECK(run.error_output.size() < 4000);
}
