// `ockc launch` on the emulator.
#include <doctest/doctest.h>

#include <cstring>

#include "driver/npy.hpp"
#include "sandbox.hpp"

using namespace ockc;
using namespace ockc::cli_test;

TEST_CASE("launch runs a kernel and saves arrays") {
    Sandbox box;
    box.write("vecadd.rsk", kVecadd);
    const auto run = box.ockc({"launch", ":vecadd.rsk", "vecadd", "--device", "emulator", "--arg", "a=iota:f32[1000]", "--arg", "b=ones:f32[1000]",
                               "--arg", "c=zeros:f32[1000]", "--save", "c=" + box.path("c.npy"), "--save", "a=" + box.path("a.npy")});
    CHECK_MESSAGE(run.exit_code == 0, run.error_output);
    CHECK(run.output.find("c: f32[1000] = [1, 2, 3,") != std::string::npos);
    const Result<driver::Array> array = driver::parse_npy(box.read("c.npy"));
    REQUIRE(array.ok());
    CHECK(array.value().shape == std::vector<std::uint64_t>{1000});
    float last = 0;
    std::memcpy(&last, array.value().bytes.data() + 999 * 4, 4);
    CHECK(last == 1000.0F);
    const auto again = box.ockc({"launch", ":vecadd.rsk", "vecadd", "--device", "emulator", "--arg", "a=@" + box.path("c.npy"), "--arg",
                                 "b=@" + box.path("a.npy"), "--repeat", "3"});
    CHECK_MESSAGE(again.exit_code == 0, again.error_output);
    CHECK(again.output.find("c: f32[1000] = [1, 3, 5,") != std::string::npos);
    CHECK(again.output.find("median of 3 runs") != std::string::npos);
}

TEST_CASE("launch refuses what does not fit the signature or the contract") {
    Sandbox box;
    box.write("vecadd.rsk", kVecadd);
    const auto with = [&](std::vector<std::string> more) {
        std::vector<std::string> line{"launch", ":vecadd.rsk", "vecadd", "--device", "emulator"};
        line.insert(line.end(), more.begin(), more.end());
        return box.ockc(line);
    };
    const std::string a = "a=ones:f32[8]", b = "b=ones:f32[8]";
    CHECK(with({"--arg", a}).error_output.find("no value for `b: &[f32]`") != std::string::npos);
    CHECK(with({"--arg", a, "--arg", b, "--block", "128"}).error_output.find("asks for blocks of (256, 1, 1)") != std::string::npos);
    CHECK(with({"--arg", a, "--arg", b, "--grid", "1,2"}).error_output.find("domain 1") != std::string::npos);
    CHECK(with({"--arg", a, "--arg", "b=ones:i32[8]"}).error_output.find("elements of type f32, but i32") != std::string::npos);
    CHECK(with({"--arg", a, "--arg", b, "--arg", "d=1"}).error_output.find("no parameter `d`") != std::string::npos);
    CHECK(with({"--arg", a, "--arg", b, "--arg", a}).error_output.find("given twice") != std::string::npos);
    CHECK(with({"--arg", a, "--arg", b}).exit_code == 0);
    CHECK(box.ockc({"launch", ":vecadd.rsk", "vecad"}).error_output.find("did you mean `vecadd`") != std::string::npos);
}

TEST_CASE("a grid of blocks covers an output of two dimensions") {
    Sandbox box;
    box.write("k.rsk", R"(use cuda_device::{DisjointSlice, Runtime2DIndex, kernel, launch_contract, thread};
#[kernel]
#[launch_contract(domain = 2, block = (8, 4, 1))]
pub fn blocks(mut out: DisjointSlice<u32, Runtime2DIndex>) {
    if let Some(index) = thread::index_2d_runtime(&out) {
        if let Some(o) = out.get_mut(index) {
            *o = thread::gridDim_x() * 10 + thread::gridDim_y();
        }
    }
}
)");
    const auto run = box.ockc({"launch", ":k.rsk", "blocks", "--device", "emulator", "--arg", "out=zeros:u32[9,17]"});   // 9 rows of 17
    CHECK_MESSAGE(run.exit_code == 0, run.error_output);
    CHECK(run.output == "out: u32[9, 17] = [33, 33, 33, 33, 33, 33, 33, 33, ..]\n");
    const auto flat = box.ockc({"launch", ":k.rsk", "blocks", "--device", "emulator", "--arg", "out=zeros:u32[9]"});
    CHECK(flat.exit_code == 2);
    CHECK(flat.error_output.find("`out`, which has 1 dimension: give it 2, or give --grid") != std::string::npos);
}

TEST_CASE("a tensor map is given as box, swizzle and array") {
    Sandbox box;
    box.write("k.rsk", R"(use cuda_device::{DisjointSlice, kernel, thread, tma::TmaDescriptor};
#[kernel]
pub fn mapped(a: &TmaDescriptor, mut out: DisjointSlice<u32>) {
    if let Some(o) = out.get_mut(thread::index_1d()) {
        *o = (a as *const TmaDescriptor as usize % 64) as u32 + 7;
    }
}
)");
    const auto with = [&](const std::string& map) {
        return box.ockc({"launch", ":k.rsk", "mapped", "--device", "emulator", "--arg", "a=" + map, "--arg", "out=zeros:u32[2]"});
    };
    const auto run = with("map:4,8:32:iota:f32[16,16]");
    CHECK_MESSAGE(run.exit_code == 0, run.error_output);
    CHECK(run.output.find("out: u32[2] = [7, 7]") != std::string::npos);
    CHECK(with("iota:f32[16]").error_output.find("a tensor map is given as map:BOX:SWIZZLE:ARRAY") != std::string::npos);
    CHECK(with("map:4,x:0:iota:f32[16,16]").error_output.find("a tensor map is given as map:BOX:SWIZZLE:ARRAY") != std::string::npos);
    CHECK(with("map:4:48:iota:f32[16]").error_output.find("a swizzle has 0, 32, 64 or 128 bytes, not 48") != std::string::npos);
    CHECK(with("map:4:0:iota:f32[16,16]").error_output.find("the box has 1 dimensions, the array 2") != std::string::npos);
    CHECK(with("map:2:0:iota:f32[16]").error_output.find("no tensor map can be made of this array and box") != std::string::npos);
}

TEST_CASE("a failing kernel is exit code 5 and names the source line") {
    Sandbox box;
    box.write("vecadd.rsk", kVecadd);
    const auto run = box.ockc({"launch", ":vecadd.rsk", "vecadd", "--device", "emulator", "--arg", "a=ones:f32[4]", "--arg", "b=ones:f32[8]"});
    CHECK(run.exit_code == 5);
    CHECK(run.output.empty());
    CHECK_MESSAGE(run.error_output.find("vecadd.rsk:14") != std::string::npos, run.error_output);
    CHECK_MESSAGE(run.error_output.find("\nindex out of bounds: the len is 4 but the index is 4\n  at ") != std::string::npos, run.error_output);
}

TEST_CASE("a device by name is never replaced by another") {
    Sandbox box;
    box.write("vecadd.rsk", kVecadd);
    const auto run = box.ockc({"launch", ":vecadd.rsk", "vecadd", "--device", "cuda:99", "--arg", "a=ones:f32[4]", "--arg", "b=ones:f32[4]"});
    CHECK(run.exit_code == 3);
}

TEST_CASE("launch values: what no value of the type is") {
    Sandbox box;
    box.write("k.rsk", "use cuda_device::{DisjointSlice, kernel, thread};\n#[kernel]\npub fn k(c: char, f: f32, w: i128, cs: &[char], mut o: DisjointSlice<i128>) {\n"
                       "    if let Some(x) = o.get_mut(thread::index_1d()) {\n        *x = w + (c as u32 as i128) + (cs.len() as i128);\n    }\n}\n");
    const auto with = [&](const std::string& c, const std::string& f, const std::string& w, const std::string& cs) {
        return box.ockc({"launch", ":k.rsk", "k", "--device", "emulator", "--grid", "1", "--block", "1", "--arg", "c=" + c, "--arg", "f=" + f, "--arg",
                         "w=" + w, "--arg", "cs=" + cs, "--arg", "o=zeros:i128[1]"});
    };
    const auto good = with("65", "inf", "-170141183460469231731687303715884105728", "zeros:char[0]");
    CHECK_MESSAGE(good.exit_code == 0, good.error_output);
    CHECK(good.output.find("= [-170141183460469231731687303715884105663]") != std::string::npos);
    CHECK(with("55296", "0", "0", "zeros:char[1]").error_output.find("is not a character") != std::string::npos);
    CHECK(with("1114112", "0", "0", "zeros:char[1]").exit_code == 2);
    CHECK(with("65", "1e50", "0", "zeros:char[1]").error_output.find("too large for f32") != std::string::npos);
    CHECK(with("65", "0", "170141183460469231731687303715884105728", "zeros:char[1]").exit_code == 2);
    CHECK(with("65", "0", "0", "iota:char[55297]").error_output.find("element 55296 of `cs`") != std::string::npos);
}

TEST_CASE("empty arrays give empty outputs") {
    Sandbox box;
    box.write("vecadd.rsk", kVecadd);
    const auto run = box.ockc({"launch", ":vecadd.rsk", "vecadd", "--device", "emulator", "--arg", "a=iota:f32[0]", "--arg", "b=ones:f32[0]"});
    CHECK_MESSAGE(run.exit_code == 0, run.error_output);
    CHECK(run.output.find("c: f32[0] = []") != std::string::npos);
}
