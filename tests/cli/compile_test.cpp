// Compiling: outputs and where they go, determinism, dep-files, response files, standard input, dumps.
#include <doctest/doctest.h>

#include <filesystem>

#include "sandbox.hpp"

using namespace ockc::cli_test;
using Files = std::vector<std::string>;

TEST_CASE("a file gives PTX and header beside it, and nothing on stdout") {
    Sandbox box;
    box.write("vecadd.rsk", kVecadd);
    const auto run = box.ockc({":vecadd.rsk"});
    CHECK(run.exit_code == 0);
    CHECK(run.output.empty());
    CHECK(box.files() == Files{"vecadd.h", "vecadd.ptx", "vecadd.rsk"});
    CHECK(box.read("vecadd.ptx").find(".visible .entry vecadd(") != std::string::npos);
    CHECK(box.read("vecadd.h").find("vecadd") != std::string::npos);
}

TEST_CASE("the same source gives the same bytes, wherever it lies") {
    Sandbox one, two;
    one.write("vecadd.rsk", kVecadd);
    two.write("deep/er/vecadd.rsk", kVecadd);
    CHECK(one.ockc({":vecadd.rsk", "-lineinfo"}).exit_code == 0);
    CHECK(two.ockc({":deep/er/vecadd.rsk", "-lineinfo"}).exit_code == 0);
    CHECK(one.read("vecadd.ptx") == two.read("deep/er/vecadd.ptx"));
    CHECK(one.read("vecadd.h") == two.read("deep/er/vecadd.h"));
}

TEST_CASE("an output that comes out the same keeps its time") {
    Sandbox box;
    box.write("vecadd.rsk", kVecadd);
    CHECK(box.ockc({":vecadd.rsk"}).exit_code == 0);
    const auto past = std::filesystem::last_write_time(box.path("vecadd.ptx")) - std::chrono::hours(1);
    std::filesystem::last_write_time(box.path("vecadd.ptx"), past);
    CHECK(box.ockc({":vecadd.rsk"}).exit_code == 0);
    CHECK(std::filesystem::last_write_time(box.path("vecadd.ptx")) == past);
}

TEST_CASE("line information changes no instruction") {
    Sandbox box;
    box.write("vecadd.rsk", kVecadd);
    CHECK(box.ockc({":vecadd.rsk", "--emit=ptx=" + box.path("plain.ptx")}).exit_code == 0);
    CHECK(box.ockc({":vecadd.rsk", "-lineinfo", "--emit=ptx=" + box.path("lines.ptx")}).exit_code == 0);
    const std::string lines = box.read("lines.ptx");
    CHECK(lines.find(".loc") != std::string::npos);
    std::string stripped;
    for (std::size_t begin = 0; begin < lines.size();) {
        const std::size_t end = lines.find('\n', begin) + 1;
        const std::string line = lines.substr(begin, end - begin);
        const bool kept = line.find(".loc") == std::string::npos && line.find(".file") == std::string::npos;
        const bool second_blank = line == "\n" && stripped.size() > 1 && stripped.compare(stripped.size() - 2, 2, "\n\n") == 0;
        if (kept && !second_blank) stripped += line;
        begin = end;
    }
    while (stripped.size() > 1 && stripped[stripped.size() - 1] == '\n' && stripped[stripped.size() - 2] == '\n') stripped.pop_back();
    CHECK(stripped == box.read("plain.ptx"));
}

TEST_CASE("output paths: -o, --header, --out-dir, --emit=KIND=PATH") {
    Sandbox box;
    box.write("vecadd.rsk", kVecadd);
    CHECK(box.ockc({":vecadd.rsk", "-o", box.path("x.ptx"), "--header", box.path("inc/x.h")}).exit_code == 0);
    CHECK(box.files() == Files{"inc/x.h", "vecadd.rsk", "x.ptx"});
    CHECK(box.ockc({":vecadd.rsk", "--out-dir", box.path("out"), "--emit=ptx,manifest"}).exit_code == 0);
    CHECK(box.exists("out/vecadd.ptx"));
    CHECK(box.exists("out/vecadd.json"));
    const auto to_stdout = box.ockc({":vecadd.rsk", "--emit=ptx=-"});
    CHECK(to_stdout.output == box.read("x.ptx"));
}

TEST_CASE("several targets give one PTX each and one header") {
    Sandbox box;
    box.write("vecadd.rsk", kVecadd);
    CHECK(box.ockc({":vecadd.rsk", "--target", "sm_80", "-arch=sm_90a"}).exit_code == 0);
    CHECK(box.files() == Files{"vecadd.h", "vecadd.rsk", "vecadd.sm_80.ptx", "vecadd.sm_90a.ptx"});
    CHECK(box.read("vecadd.sm_80.ptx").find(".target sm_80") != std::string::npos);
    CHECK(box.read("vecadd.sm_90a.ptx").find(".target sm_90a") != std::string::npos);
}

TEST_CASE("--ptx-isa: min is the target's floor, a version is taken as it is") {
    Sandbox box;
    box.write("vecadd.rsk", kVecadd);
    CHECK(box.ockc({":vecadd.rsk", "--emit=ptx=-"}).output.find(".version 7.0") != std::string::npos);
    CHECK(box.ockc({":vecadd.rsk", "--emit=ptx=-", "--ptx-isa", "8.3"}).output.find(".version 8.3") != std::string::npos);
    CHECK(box.ockc({":vecadd.rsk", "--emit=ptx=-", "--target=sm_90a"}).output.find(".version 8.0") != std::string::npos);
}

TEST_CASE("standard input") {
    Sandbox box;
    const auto run = box.ockc({"-", "--emit=ptx=-"}, std::string(kVecadd));
    CHECK(run.exit_code == 0);
    CHECK(run.output.find(".visible .entry vecadd(") != std::string::npos);
}

TEST_CASE("response files") {
    Sandbox box;
    box.write("vecadd.rsk", kVecadd);
    box.write("inner.rsp", "--target 'sm_86'");
    box.write("outer.rsp", "\"" + box.path("vecadd.rsk") + "\"\n@" + box.path("inner.rsp") + " --emit=ptx=-\n");
    const auto run = box.ockc({"@" + box.path("outer.rsp")});
    CHECK(run.exit_code == 0);
    CHECK(run.output.find(".target sm_86") != std::string::npos);
    box.write("self.rsp", "@" + box.path("self.rsp"));
    CHECK(box.ockc({"@" + box.path("self.rsp")}).exit_code == 3);
    CHECK(box.ockc({"@" + box.path("missing.rsp")}).exit_code == 3);
}

TEST_CASE("dep-files name every output and every file that was read") {
    Sandbox box;
    box.write("main.rsk", "mod part;\n" + std::string(kVecadd));
    box.write("part.rsk", "pub fn twice(x: f32) -> f32 { x + x }\n");
    CHECK(box.ockc({":main.rsk", "-MD", "-MF", box.path("main.d")}).exit_code == 0);
    const std::string rule = box.read("main.d");
    CHECK(rule.find(box.path("main.ptx")) < rule.find(':'));
    CHECK(rule.find(box.path("main.h")) < rule.find(':'));
    CHECK(rule.find(box.path("main.rsk")) != std::string::npos);
    CHECK(rule.find(box.path("part.rsk")) != std::string::npos);
    CHECK(box.ockc({":main.rsk", "-MD", "-MF", box.path("t.d"), "-MT", "a b"}).exit_code == 0);
    CHECK(box.read("t.d").rfind("a\\ b:", 0) == 0);
}

TEST_CASE("several files are several crates; the worst exit code wins") {
    Sandbox box;
    box.write("good.rsk", kVecadd);
    box.write("bad.rsk", "#[cuda_device::kernel] pub fn k() { let x: i32 = 1.0; }\n");
    const auto run = box.ockc({":bad.rsk", ":good.rsk"});
    CHECK(run.exit_code == 1);
    CHECK(box.exists("good.ptx"));
    CHECK(!box.exists("bad.ptx"));
    CHECK(box.ockc({":good.rsk", ":missing.rsk"}).exit_code == 3);
}

TEST_CASE("inspect prints every arrow") {
    Sandbox box;
    box.write("vecadd.rsk", kVecadd);
    const std::vector<std::pair<std::string, std::string>> expected = {
        {"tokens", "Ident"}, {"ast", "vecadd"}, {"hir", "fn vecadd"}, {"mir", "bb0"}, {"ir-lowered", "kernel @vecadd"},
        {"ir", "kernel @vecadd"}, {"ptx", ".visible .entry vecadd("}, {"header", "prepare_vecadd"}, {"manifest", "\"vecadd\""}};
    for (const auto& row : expected) {
        const std::string &kind = row.first, &text = row.second;
        CAPTURE(kind);
        const auto run = box.ockc({"inspect", ":vecadd.rsk", "--emit=" + kind});
        CHECK(run.exit_code == 0);
        CHECK(run.output.find(text) != std::string::npos);
    }
    CHECK(box.files() == Files{"vecadd.rsk"});
    CHECK(box.ockc({"inspect", ":vecadd.rsk", "--emit=ptx", "--kernel", "other"}).exit_code == 2);
}

TEST_CASE("check writes nothing") {
    Sandbox box;
    box.write("vecadd.rsk", kVecadd);
    CHECK(box.ockc({"check", ":vecadd.rsk"}).exit_code == 0);
    CHECK(box.files() == Files{"vecadd.rsk"});
}

TEST_CASE("new makes a project that compiles") {
    Sandbox box;
    CHECK(box.ockc({"new", box.path("demo_app")}).exit_code == 0);
    CHECK(box.files() == Files{"demo_app/CMakeLists.txt", "demo_app/kernels.rsk", "demo_app/main.cpp"});
    CHECK(box.read("demo_app/CMakeLists.txt").find("project(demo_app") != std::string::npos);
    CHECK(box.ockc({"check", box.path("demo_app/kernels.rsk")}).exit_code == 0);
    CHECK(box.ockc({"new", box.path("demo_app")}).exit_code == 3);
    CHECK(box.ockc({"new", box.path("9lives")}).exit_code == 2);
    CHECK(box.ockc({"new", "--tile", box.path("tile_app")}).exit_code == 0);
    const auto tiles = box.ockc({"launch", box.path("tile_app") + "/kernels.rsk", "add", "--device", "emulator", "--partition", "z=128", "--arg", "x=iota:f32[1000]", "--arg", "y=ones:f32[1000]"});
    CHECK(tiles.exit_code == 0);
    CHECK(tiles.output.find("z: f32[1000] = [1, 2, 3") != std::string::npos);
}

TEST_CASE("explain, doctor, version, help") {
    Sandbox box;
    CHECK(box.ockc({"explain", "E0382"}).output.find("E0382") != std::string::npos);
    CHECK(box.ockc({"explain", "e382"}).exit_code == 0);
    CHECK(box.ockc({"explain", "E9999"}).exit_code == 2);
    CHECK(box.ockc({"doctor"}).exit_code == 0);
    CHECK(box.ockc({"--version"}).output.rfind("ockc ", 0) == 0);
    CHECK(box.ockc({"--help"}).output.find("inspect") != std::string::npos);
}
