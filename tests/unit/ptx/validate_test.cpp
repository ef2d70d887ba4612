// Each rule of the validator, broken once.
#include "ptx/validate.hpp"

#include <doctest/doctest.h>

#include "ptx/parse.hpp"

using namespace ockc;
using namespace ockc::ptx;

namespace {

// The messages for a kernel with this body, one a line.
std::string messages(std::string_view body, std::string_view target = "sm_80",
                     std::string_view version = "7.0") {
    const ParseResult result =
        parse(".version " + std::string(version) + "\n.target " + std::string(target) +
              "\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n.reg .pred %p<4>; .reg .b16 %rs<4>, "
              "%h<4>;\n"
              ".reg .b32 %r<8>; .reg .f32 %f<4>; .reg .b64 %rd<8>; .reg .f64 %fd<4>;\n" +
              std::string(body) + "\nret;\n}\n");
    REQUIRE(result.ok());
    std::string out;
    for (const ValidationError& e : validate(result.module))
        out += e.message + "\n";
    return out;
}

}  // namespace

TEST_CASE("what is right") {
    CHECK(
        messages(
            "add.s32 %r1, %r2, -1;\nld.global.u8 %r1, [%rd1];\nmov.b32 %r1, %f1;\ncvt.rzi.s32.f32 %r1, %f1;\n"
            "mul.wide.s32 %rd1, %r1, %r2;\nld.relaxed.gpu.global.u32 %r1, [%rd1];\nst.volatile.global.f32 "
            "[%rd1], %f1;\n"
            "selp.f32 %f1, %f2, 0f00000000, %p1;\nmov.u64 %rd1, %gridid;") == "");
}

TEST_CASE("operand types and widths") {
    CHECK(messages("add.s32 %rd1, %r2, 1;") == "%rd1 has 64 bits where 32 are needed\n");
    CHECK(messages("add.s32 %r1, %f2, 1;") == "%f2 holds a float\n");
    CHECK(messages("mul.wide.s32 %r1, %r2, %r3;") == "%r1 has 32 bits where 64 are needed\n");
    CHECK(messages("add.f32 %f1, %f2, 1;") == "an integer constant in a float operand\n");
    CHECK(messages("add.s32 %r1, %r2, 0f3F800000;") == "an f32 constant in an operand of another type\n");
    CHECK(messages("ld.global.u64 %r1, [%rd1];") == "%r1 has 32 bits where 64 are needed\n");
    CHECK(messages("selp.b32 %r1, %r2, %r3, %r4;") == "%r4 is of the wrong class\n");
    CHECK(messages("mov.u64 %rd1, %tid.x;") == "the special register has another width\n");
    CHECK(messages("mov.b64 %rd1, {%r1, %rs1};") == "%rs1 has 16 bits where 32 are needed\n");
}

TEST_CASE("modifiers that must go together") {
    CHECK(messages("ld.relaxed.global.u32 %r1, [%rd1];") ==
          "ordered loads and stores have a scope, others do not\n");
    CHECK(messages("ld.gpu.global.u32 %r1, [%rd1];") ==
          "ordered loads and stores have a scope, others do not\n");
    CHECK(messages("setp.lo.s32 %p1, %r1, %r2;") == ".lo compares unsigned integers\n");
    CHECK(messages("setp.ltu.s32 %p1, %r1, %r2;") == ".ltu compares floats\n");
    CHECK(messages("setp.lt.b32 %p1, %r1, %r2;") == "untyped values have no order\n");
    CHECK(messages("cvt.s32.f32 %r1, %f1;") == "float to integer needs .rni, .rzi, .rmi or .rpi\n");
    CHECK(messages("cvt.f32.s32 %f1, %r1;") == "integer to float needs .rn, .rz, .rm or .rp\n");
    CHECK(messages("cvt.f32.f64 %f1, %fd1;") == "a narrowing float conversion needs .rn, .rz, .rm or .rp\n");
    CHECK(messages("cvt.rn.s32.u8 %r1, %rs1;") == "no rounding between integers\n");
    CHECK(messages("ld.global.v4.f64 {%fd1, %fd2, %fd3, %fd1}, [%rd1];") ==
          "a vector access moves at most 128 bits\n");
    CHECK(messages("ld.global.v2.f32 {%f1, %f2, %f3}, [%rd1];") ==
          "the list's length differs from the vector's\n");
}

TEST_CASE("floors of target and version") {
    CHECK(messages("redux.sync.add.s32 %r1, %r2, -1;", "sm_75", "7.0") ==
          "needs sm_80, the target is sm_75\n");
    CHECK(messages("tanh.approx.f32 %f1, %f2;", "sm_75", "6.3") == "needs PTX 7.0, the module says 6.3\n");
    CHECK(messages("mov.u32 %r1, %clusterid.x;", "sm_90", "7.8") == "");
    CHECK(messages("mov.u32 %r1, %clusterid.x;", "sm_80", "7.8") == "needs sm_90, the target is sm_80\n");
    CHECK(messages("", "sm_90", "7.0") == "sm_90 needs PTX 7.8\n");
}

TEST_CASE("the lowest PTX version is the highest floor in use") {
    const auto lowest = [](std::string_view target, std::string_view body) {
        const ParseResult result = parse(".version 9.0\n.target " + std::string(target) +
                                         "\n.address_size 64\n.visible .entry k()\n{\n.reg .b32 %r<2>; .reg "
                                         ".f32 %f<2>; .reg .pred %p<2>;\n" +
                                         std::string(body) + "\nret;\n}\n");
        REQUIRE(result.ok());
        return lowest_ptx_version(result.module);
    };
    CHECK(lowest("sm_75", "") == 63);
    CHECK(lowest("sm_75", "tanh.approx.f32 %f1, %f1;") == 70);
    CHECK(lowest("sm_90", "") == 78);
    CHECK(lowest("sm_90a", "") == 80);
    CHECK(lowest("sm_90", "elect.sync %r1|%p1, -1;") == 80);
    CHECK(lowest("sm_120", "") == 87);
}

TEST_CASE("built by hand: undeclared registers, missing operands, endless bodies") {
    Module m;
    m.ptx_version = 70;
    Function f;
    f.name = m.symbol("k");
    f.entry = true;
    Block block;
    block.instrs.push_back(
        make(Form::AddI, Type::S32, {Operand::reg(Reg(RegClass::B32, 5)), Operand::imm(1)}));
    f.blocks.push_back(block);
    m.functions.push_back(f);
    const auto errors = validate(m);
    REQUIRE(errors.size() == 3);
    CHECK(errors[0].message == "register %r5 is not declared");
    CHECK(errors[1].message == "operand 3 is missing");
    CHECK(errors[2].message == "control runs off the end of the body");
}
