// Outputs: what must not be overwritten, all or none, links, devices, make rules.
#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>

#include "sandbox.hpp"

using namespace ockc::cli_test;
namespace fs = std::filesystem;
using Files = std::vector<std::string>;

TEST_CASE("no output may be a source, by whatever name") {
    Sandbox box;
    box.write("vecadd.rsk", kVecadd);
    box.write("part.rsk", "pub fn f() {}\n");
    box.write("main.rsk", "mod part;\n" + std::string(kVecadd));
    fs::create_symlink(box.path("vecadd.rsk"), box.path("link"));
    fs::create_hard_link(box.path("vecadd.rsk"), box.path("twin"));
    const Files before = box.files();
    const std::string self = box.path("vecadd.rsk");
    const std::vector<std::vector<std::string>> lines = {
        {":vecadd.rsk", "-o", self},
        {":vecadd.rsk", "--header", self},
        {":vecadd.rsk", "-MD", "-MF", self},
        {":vecadd.rsk", "--emit=manifest=" + self},
        {":vecadd.rsk", "-o", box.path("link")},
        {":vecadd.rsk", "-o", box.path("twin")},
        {":vecadd.rsk", "-o", box.path("./nothing/../vecadd.rsk")},
        {":main.rsk", "-o", box.path("part.rsk")},
        {":main.rsk", ":vecadd.rsk", "-MD", "-MF", box.path("main.rsk")},
        {"launch", ":vecadd.rsk", "vecadd", "--device", "emulator", "--arg", "a=ones:f32[4]", "--arg", "b=ones:f32[4]", "--save", "c=" + self},
    };
    for (const auto& line : lines) {
        const auto run = box.ockc(line);
        CAPTURE(line.back());
        CHECK(run.exit_code == 2);
        CHECK_MESSAGE(run.error_output.find("would overwrite the source") != std::string::npos, run.error_output);
        CHECK(box.files() == before);
        CHECK(box.read("vecadd.rsk") == kVecadd);
        CHECK(box.read("part.rsk") == "pub fn f() {}\n");
    }
}

TEST_CASE("two outputs do not share a path") {
    Sandbox box;
    box.write("vecadd.rsk", kVecadd);
    box.write("other/vecadd.rsk", kVecadd);
    const std::string same = box.path("same");
    for (const std::vector<std::string>& line : std::vector<std::vector<std::string>>{
             {":vecadd.rsk", "-o", same, "--header", same},
             {":vecadd.rsk", "--emit=ptx=" + same + ",header=" + same},
             {":vecadd.rsk", ":other/vecadd.rsk", "--out-dir", box.path("out")}}) {
        const auto run = box.ockc(line);
        CHECK(run.exit_code == 2);
        CHECK_MESSAGE(run.error_output.find("two outputs have the path") != std::string::npos, run.error_output);
    }
    CHECK(box.files() == Files{"other/vecadd.rsk", "vecadd.rsk"});
    CHECK(box.ockc({":vecadd.rsk", "--emit=ptx=/dev/null,header=/dev/null"}).exit_code == 0);
    CHECK(fs::is_character_file("/dev/null"));
}

TEST_CASE("all outputs are written or none") {
    Sandbox box;
    box.write("vecadd.rsk", kVecadd);
    fs::create_directory(box.path("folder"));
    const auto run = box.ockc({":vecadd.rsk", "--emit=ptx=" + box.path("new.ptx") + ",header=" + box.path("folder")});
    CHECK(run.exit_code == 3);
    CHECK(run.error_output.find("cannot write") != std::string::npos);
    CHECK(box.files() == Files{"vecadd.rsk"});
    if (!fs::exists("/dev/full")) return;
    CHECK(box.ockc({":vecadd.rsk", "--emit=ptx=" + box.path("new.ptx") + ",header=/dev/full"}).exit_code == 3);
    CHECK(box.files() == Files{"vecadd.rsk"});
}

TEST_CASE("a link that is an output stays a link") {
    Sandbox box;
    box.write("vecadd.rsk", kVecadd);
    box.write("real/out.ptx", "old");
    fs::create_symlink("real/out.ptx", box.path("out.ptx"));
    fs::create_symlink("real/new.h", box.path("out.h"));   // to nothing yet
    CHECK(box.ockc({":vecadd.rsk", "-o", box.path("out.ptx"), "--header", box.path("out.h")}).exit_code == 0);
    CHECK(fs::is_symlink(box.path("out.ptx")));
    CHECK(fs::is_symlink(box.path("out.h")));
    CHECK(box.read("real/out.ptx").find(".visible .entry vecadd(") != std::string::npos);
    CHECK(box.read("real/new.h").find("prepare_vecadd") != std::string::npos);
}

TEST_CASE("a full disk behind standard output is not success") {
    if (!fs::exists("/dev/full")) return;
    Sandbox box;
    box.write("vecadd.rsk", kVecadd);
    const auto to_full = [&](const std::string& arguments) {
        const ockc::Result<ockc::driver::ProcessResult> run =
            ockc::driver::run_process({"/bin/sh", "-c", std::string(OCKC_BINARY) + " " + arguments + " > /dev/full"}, {});
        REQUIRE(run.ok());
        CHECK_MESSAGE(run.value().error_output.find("cannot write standard output") != std::string::npos, run.value().error_output);
        return run.value().exit_code;
    };
    const std::string file = box.path("vecadd.rsk");
    CHECK(to_full("inspect " + file + " --emit=ptx") == 3);
    CHECK(to_full(file + " --emit=ptx=-") == 3);
    CHECK(to_full("--version") == 3);
    CHECK(to_full("explain E0382") == 3);
}

TEST_CASE("several targets on standard output make no files") {
    Sandbox box;
    box.write("vecadd.rsk", kVecadd);
    const auto run = box.ockc({":vecadd.rsk", "--emit=ptx=-", "--target=sm_80,sm_90"});
    CHECK(run.exit_code == 0);
    CHECK(run.output.find(".target sm_80") < run.output.find(".target sm_90"));
    CHECK(box.files() == Files{"vecadd.rsk"});
}

TEST_CASE("make rules of several files and of every kind of output") {
    Sandbox box;
    box.write("a.rsk", kVecadd);
    box.write("b.rsk", kVecadd);
    CHECK(box.ockc({":a.rsk", ":b.rsk", "-MD", "-MF", box.path("both.d")}).exit_code == 0);
    const std::string rules = box.read("both.d");
    CHECK(rules.find(box.path("a.ptx")) < rules.find(box.path("b.ptx")));
    CHECK(rules.find("  " + box.path("a.rsk")) != std::string::npos);
    CHECK(rules.find("  " + box.path("b.rsk")) != std::string::npos);
    CHECK(box.ockc({":a.rsk", ":b.rsk", "-MD", "-MF", box.path("t.d"), "-MT", "all"}).exit_code == 0);
    const std::string shared = box.read("t.d");
    CHECK(shared.find("all:") != shared.rfind("all:"));
    CHECK(box.ockc({":a.rsk", "-MD", "--emit=dep-info=" + box.path("x.d") + ",ptx,manifest=" + box.path("m.json")}).exit_code == 0);
    const std::string rule = box.read("x.d");
    CHECK(rule.find(box.path("a.ptx")) < rule.find(':'));
    CHECK(rule.find(box.path("m.json")) < rule.find(':'));
    CHECK(box.ockc({":a.rsk", "-MT", "x"}).exit_code == 2);
}

TEST_CASE("--save-temps keeps every phase's dump") {
    Sandbox box;
    box.write("vecadd.rsk", kVecadd);
    CHECK(box.ockc({":vecadd.rsk", "--save-temps", box.path("t")}).exit_code == 0);
    CHECK(box.files() == Files{"t/vecadd.ast", "t/vecadd.hir", "t/vecadd.ir", "t/vecadd.lowered.ir", "t/vecadd.mir", "t/vecadd.ptx",
                               "t/vecadd.tokens", "vecadd.h", "vecadd.ptx", "vecadd.rsk"});
    CHECK(box.read("t/vecadd.ptx") == box.read("vecadd.ptx"));
    CHECK(box.read("t/vecadd.tokens").find("Ident") != std::string::npos);
    CHECK(box.ockc({":vecadd.rsk", "--save-temps", box.path("")}).exit_code == 0);
}
