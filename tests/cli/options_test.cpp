// The command line: what is refused and in which words, what the last of several options does, messages as JSON.
#include <doctest/doctest.h>

#include <filesystem>

#include "sandbox.hpp"

using namespace ockc::cli_test;

namespace {

struct Refusal {
    std::vector<std::string> line;
    int code;
    std::string text;
};

void check_refusals(const std::vector<Refusal>& refusals) {
    Sandbox box;
    box.write("vecadd.rsk", kVecadd);
    box.write("open.rsp", "--emit=ptx 'open");
    for (const Refusal& one : refusals) {
        std::vector<std::string> line = one.line;
        for (std::string& word : line) {
            if (word == "@open") word = "@" + box.path("open.rsp");
        }
        const auto run = box.ockc(line);
        CAPTURE(one.text);
        CHECK(run.exit_code == one.code);
        CHECK_MESSAGE(run.error_output.find(one.text) != std::string::npos, run.error_output);
        CHECK(run.error_output.find("deps-file") == std::string::npos);
        CHECK(box.files() == std::vector<std::string>{"open.rsp", "vecadd.rsk"});
    }
}

}  // namespace

TEST_CASE("misspelt options, kinds and commands") {
    check_refusals({
        {{":vecadd.rsk", "--targt", "sm_80"}, 2, "unknown option `--targt`; did you mean `--target`?"},
        {{":vecadd.rsk", "--fmda=on"}, 2, "unknown option `--fmda`; did you mean `--fmad`?"},
        {{":vecadd.rsk", "-arhc=sm_80"}, 2, "unknown option"},
        {{"check", ":vecadd.rsk", "-o", "x"}, 2, "unknown option `-o`"},
        {{"chekc", ":vecadd.rsk"}, 2, "did you mean `ockc check`?"},
        {{"luanch", ":vecadd.rsk", "vecadd"}, 2, "did you mean `ockc launch`?"},
        {{":vecadd.rsk", "--emit=sass"}, 2, "ockc inspect FILE --emit=sass"},
        {{"inspect", ":vecadd.rsk", "--emit=cubin"}, 2, "ockc FILE --emit=cubin"},
        {{":vecadd.rsk", "--emit=ptx="}, 2, "--emit=ptx= needs a path"},
        {{":vecadd.rsk", "-MD", "-MF"}, 2, "-MF needs a value"},
        {{":vecadd.rsk", "-o"}, 2, "-o needs a value"},
        {{":vecadd.rsk", "--const", "B"}, 2, "--const takes NAME=VALUE, not `B`"},
        {{":vecadd.rsk", "@open"}, 3, "a quote (') is not closed"},
        {{"missing.rsk"}, 3, "cannot read missing.rsk"},
    });
}

TEST_CASE("values that are not") {
    check_refusals({
        {{":vecadd.rsk", "--ptx-isa", "9.9"}, 2, "ockc knows no PTX 9.9"},
        {{":vecadd.rsk", "--ptx-isa", "1.0"}, 2, "ockc knows no PTX 1.0"},
        {{":vecadd.rsk", "--ptx-isa", "7.0", "--target", "sm_90"}, 2, "target sm_90 needs PTX 7.8 or later"},
        {{":vecadd.rsk", "--cfg", "K=\"V"}, 2, "--cfg takes NAME"},
        {{":vecadd.rsk", "--cfg", "1"}, 2, "--cfg takes NAME"},
        {{":vecadd.rsk", "--cfg", ""}, 2, "--cfg takes NAME"},
        {{":vecadd.rsk", "--stdlib", "/nonexistent"}, 3, "there is no built-in library in that folder"},
        {{"launch", ":vecadd.rsk", "vecadd", "--device", "gpu"}, 2, "`gpu` is not a device"},
        {{"launch", ":vecadd.rsk", "vecadd", "--device", "cuda:x"}, 2, "is not a device"},
        {{"new", ":test"}, 2, "CMake keeps the name `test`"},
    });
}

TEST_CASE("the last of several options counts") {
    Sandbox box;
    box.write("vecadd.rsk", kVecadd);
    const auto ptx = [&](std::vector<std::string> more) {
        std::vector<std::string> line{":vecadd.rsk", "--emit=ptx=-"};
        line.insert(line.end(), more.begin(), more.end());
        const auto run = box.ockc(line);
        CHECK_MESSAGE(run.exit_code == 0, run.error_output);
        return run.output;
    };
    const std::string o0 = ptx({"-O0"}), o3 = ptx({"-O3"});
    CHECK(o0 != o3);
    CHECK(ptx({"-O3", "-O0"}) == o0);
    CHECK(ptx({"-O0", "-O3"}) == o3);
    CHECK(ptx({"--color", "always", "--color", "never", "--fmad", "on", "--fmad", "off", "--verify", "off", "--verify", "auto"}).size() > 100);
    CHECK(o3.find("ock_panic") != std::string::npos);
    CHECK(ptx({"--panic", "message"}) == o3);
    CHECK(ptx({"--panic", "trap"}).find("ock_panic") == std::string::npos);
    CHECK(ptx({"--target", "sm_80", "--target", "sm_90"}).find(".target sm_90") != std::string::npos);
    CHECK(ptx({"--cfg", "a", "--cfg", "b=\"c\"", "--cfg", "d=e"}) == o3);
}

TEST_CASE("a lint that does not exist is named, and nothing else happens") {
    Sandbox box;
    box.write("vecadd.rsk", kVecadd);
    const auto run = box.ockc({"check", ":vecadd.rsk", "-W", "nosuchlint"});
    CHECK(run.exit_code == 0);
    CHECK_MESSAGE(run.error_output.find("warning: unknown lint: `nosuchlint`") == 0, run.error_output);
    CHECK(run.error_output.find("requested on the command line with `-W nosuchlint`") != std::string::npos);
    CHECK(box.ockc({"check", ":vecadd.rsk", "-A", "unused_variables", "-D", "warnings", "-W", "unused"}).error_output.empty());
}

TEST_CASE("messages of the command line and the environment as JSON") {
    Sandbox box;
    box.write("vecadd.rsk", kVecadd);
    for (const std::vector<std::string>& line : std::vector<std::vector<std::string>>{
             {":missing.rsk", "--error-format", "json"},
             {":vecadd.rsk", "--error-format=json", "--no-such-option"},
             {":vecadd.rsk", "--error-format=json", "-o", box.path("vecadd.rsk")},
             {"launch", ":vecadd.rsk", "nothing", "--error-format=json", "--device", "emulator"}}) {
        const auto run = box.ockc(line);
        CHECK(run.exit_code != 0);
        CHECK_MESSAGE(run.error_output.rfind("{\"$message_type\":\"diagnostic\",\"message\":\"", 0) == 0, run.error_output);
        CHECK(run.error_output.find("\"level\":\"error\"") != std::string::npos);
        CHECK(run.error_output.find("}\n") == run.error_output.size() - 2);
    }
}

TEST_CASE("new takes an empty folder by the name `.`") {
    Sandbox box;
    std::filesystem::create_directory(box.path("app"));
    const auto run = ockc::driver::run_process({"/bin/sh", "-c", "cd " + box.path("app") + " && " + OCKC_BINARY + " new ."}, {});
    REQUIRE(run.ok());
    CHECK_MESSAGE(run.value().exit_code == 0, run.value().error_output);
    CHECK(box.read("app/CMakeLists.txt").find("project(app") != std::string::npos);
}
