// cvt: expected values by hand, or from the host's conversions where both agree by definition.
#include <cmath>
#include <limits>

#include "harness.hpp"

using namespace emu_test;

namespace {


std::uint64_t cvt(const std::string& types, const char* to, const char* from, std::uint64_t in) {
    return lane("cvt." + types + " " + to + ", " + from + ";", to, {in});
}

}  // namespace

TEST_CASE("between integers: cut, extend, clamp with .sat") {
    CHECK(cvt("u64.u32", "%rd9", "%r1", 0xFFFF'FFFF) == 0xFFFF'FFFF);
    CHECK(cvt("s64.s32", "%rd9", "%r1", 0xFFFF'FFFF) == ~0ull);
    CHECK(cvt("u32.u64", "%r9", "%rd1", 0x1'2345'6789) == 0x2345'6789);
    CHECK(cvt("u32.u16", "%r9", "%rs1", 0xFFFF) == 0xFFFF);
    CHECK(cvt("s32.s16", "%r9", "%rs1", 0xFFFF) == 0xFFFF'FFFF);
    CHECK(cvt("s32.s8", "%r9", "%r1", 0x1F0) == 0xFFFF'FFF0);
    CHECK(cvt("u32.u8", "%r9", "%r1", 0x1F0) == 0xF0);
    CHECK(cvt("u8.u32", "%r9", "%r1", 0x1234) == 0x34);
    CHECK(cvt("s8.s32", "%r9", "%r1", 0x12F4) == 0xFFFF'FFF4);  // a wider register gets the sign
    CHECK(cvt("u16.u32", "%r9", "%r1", 0x1'8000) == 0x8000);
    CHECK(cvt("s16.u32", "%r9", "%r1", 0x1'8000) == 0xFFFF'8000);
    CHECK(cvt("s64.s8", "%rd9", "%rs1", 0x80) == 0xFFFF'FFFF'FFFF'FF80);
    CHECK(cvt("sat.u8.s32", "%r9", "%r1", 300) == 255);
    CHECK(cvt("sat.u8.s32", "%r9", "%r1", 0xFFFF'FFFF) == 0);
    CHECK(cvt("sat.s8.s32", "%r9", "%r1", 0xFFFF'FF00) == 0xFFFF'FF80);
    CHECK(cvt("sat.s32.s64", "%r9", "%rd1", 1ull << 40) == 0x7FFF'FFFF);
    CHECK(cvt("sat.s32.u32", "%r9", "%r1", 0x8000'0000) == 0x7FFF'FFFF);
    CHECK(cvt("sat.u64.s64", "%rd9", "%rd1", ~0ull) == 0);
}

TEST_CASE("integer to float, every rounding mode") {
    CHECK(cvt("rn.f32.u32", "%f9", "%r1", 16777217) == bits(16777216.0f));
    CHECK(cvt("rp.f32.u32", "%f9", "%r1", 16777217) == bits(16777218.0f));
    CHECK(cvt("rz.f32.s32", "%f9", "%r1", static_cast<std::uint32_t>(-16777217)) == bits(-16777216.0f));
    CHECK(cvt("rm.f32.s32", "%f9", "%r1", static_cast<std::uint32_t>(-16777217)) == bits(-16777218.0f));
    CHECK(cvt("rn.f32.u64", "%f9", "%rd1", ~0ull) == bits(18446744073709551616.0f));
    CHECK(cvt("rz.f32.u64", "%f9", "%rd1", ~0ull) == bits(18446742974197923840.0f));
    CHECK(cvt("rn.f32.s64", "%f9", "%rd1", static_cast<std::uint64_t>(-3)) == bits(-3.0f));
    CHECK(cvt("rn.f64.u64", "%fd9", "%rd1", (1ull << 53) + 1) == bits(9007199254740992.0));
    CHECK(cvt("rp.f64.u64", "%fd9", "%rd1", (1ull << 53) + 1) == bits(9007199254740994.0));
    CHECK(cvt("rm.f64.s64", "%fd9", "%rd1", 0 - ((1ull << 53) + 1)) == bits(-9007199254740994.0));
    CHECK(cvt("rn.f64.s32", "%fd9", "%r1", 0x8000'0000) == bits(-2147483648.0));
    CHECK(cvt("rn.f32.u8", "%f9", "%r1", 0x1FF) == bits(255.0f));
    CHECK(cvt("rn.f32.s16", "%f9", "%rs1", 0xFFFE) == bits(-2.0f));
    CHECK(cvt("rn.f16.s32", "%rs9", "%r1", 2049) == 0x6800);  // 2048: a tie, to even
    CHECK(cvt("rp.f16.s32", "%rs9", "%r1", 2049) == 0x6801);
    CHECK(cvt("rn.f16.u32", "%rs9", "%r1", 70000) == 0x7C00);
    CHECK(cvt("rz.f16.u32", "%rs9", "%r1", 70000) == 0x7BFF);
    // 2^60 + 2^52 is a tie between two bf16 values; the last bit tips it, and must not be lost on the way.
    CHECK(cvt("rn.bf16.u64", "%rs9", "%rd1", (1ull << 60) + (1ull << 52)) == 0x5D80);
    CHECK(cvt("rn.bf16.u64", "%rs9", "%rd1", (1ull << 60) + (1ull << 52) + 1) == 0x5D81);
}

TEST_CASE("float to integer: rounding, clamping, NaN") {
    CHECK(cvt("rzi.s32.f32", "%r9", "%f1", bits(-1.9f)) == 0xFFFF'FFFF);
    CHECK(cvt("rni.s32.f32", "%r9", "%f1", bits(2.5f)) == 2);
    CHECK(cvt("rni.s32.f32", "%r9", "%f1", bits(3.5f)) == 4);
    CHECK(cvt("rmi.s32.f32", "%r9", "%f1", bits(-1.1f)) == 0xFFFF'FFFE);
    CHECK(cvt("rpi.u32.f32", "%r9", "%f1", bits(1.1f)) == 2);
    CHECK(cvt("rzi.s32.f32", "%r9", "%f1", bits(3e9f)) == 0x7FFF'FFFF);
    CHECK(cvt("rzi.s32.f32", "%r9", "%f1", bits(-kInf)) == 0x8000'0000);
    CHECK(cvt("rzi.s32.f32", "%r9", "%f1", bits(-2147483648.0f)) == 0x8000'0000);
    CHECK(cvt("rzi.u32.f32", "%r9", "%f1", bits(-1.0f)) == 0);
    CHECK(cvt("rzi.u32.f32", "%r9", "%f1", bits(3e9f)) == 3000000000);
    CHECK(cvt("rzi.u8.f32", "%r9", "%f1", bits(300.0f)) == 255);
    CHECK(cvt("rzi.s8.f32", "%r9", "%f1", bits(-300.0f)) == 0xFFFF'FF80);
    CHECK(cvt("rzi.s16.f64", "%rs9", "%fd1", bits(-40000.0)) == 0x8000);
    CHECK(cvt("rzi.s64.f64", "%rd9", "%fd1", bits(1e300)) == 0x7FFF'FFFF'FFFF'FFFF);
    CHECK(cvt("rzi.u64.f32", "%rd9", "%f1", bits(1e30f)) == ~0ull);
    CHECK(cvt("rni.s64.f32", "%rd9", "%f1", bits(-2.5f)) == ~0ull - 1);
    CHECK(cvt("rzi.s32.f16", "%r9", "%rs1", 0xC500) == 0xFFFF'FFFB);
    CHECK(cvt("rzi.u16.f16", "%rs9", "%rs1", 0x7C00) == 0xFFFF);
    // NaN: zero if neither side has 64 bits, else the top bit.
    CHECK(cvt("rzi.s32.f32", "%r9", "%f1", 0x7FC0'0000) == 0);
    CHECK(cvt("rzi.u32.f32", "%r9", "%f1", 0xFFC0'0000) == 0);
    CHECK(cvt("rzi.s64.f32", "%rd9", "%f1", 0x7FC0'0000) == 0x8000'0000'0000'0000);
    CHECK(cvt("rzi.u64.f32", "%rd9", "%f1", 0x7FC0'0000) == 0x8000'0000'0000'0000);
    CHECK(cvt("rzi.s32.f64", "%r9", "%fd1", 0x7FF8'0000'0000'0000) == 0x8000'0000);
    CHECK(cvt("rzi.ftz.s32.f32", "%r9", "%f1", 1) == 0);
    CHECK(cvt("rpi.s32.f32", "%r9", "%f1", 1) == 1);
    CHECK(cvt("rpi.ftz.s32.f32", "%r9", "%f1", 1) == 0);
}

TEST_CASE("between floats") {
    CHECK(cvt("f64.f32", "%fd9", "%f1", bits(0.1f)) == bits(static_cast<double>(0.1f)));
    CHECK(cvt("f64.f32", "%fd9", "%f1", 0x7F80'0123) == 0x7FF8'0024'6000'0000);  // as ptxas folds it
    CHECK(cvt("rn.f32.f64", "%f9", "%fd1", bits(0.1)) == bits(0.1f));
    CHECK(cvt("rn.f32.f64", "%f9", "%fd1", 0xFFF8'0000'0000'0456) == 0xFFC0'0000);  // as ptxas folds it
    CHECK(cvt("rz.f32.f64", "%f9", "%fd1", bits(1 + 0x1.8p-24)) == bits(1.0f));
    CHECK(cvt("rp.f32.f64", "%f9", "%fd1", bits(1 + 0x1p-40)) == bits(1 + 0x1p-23f));
    CHECK(cvt("rm.f32.f64", "%f9", "%fd1", bits(-1e300)) == bits(-kInf));
    CHECK(cvt("rz.f32.f64", "%f9", "%fd1", bits(1e300)) == bits(3.4028235e38f));
    CHECK(cvt("rn.f32.f64", "%f9", "%fd1", bits(1e-45)) == 1);
    CHECK(cvt("rn.ftz.f32.f64", "%f9", "%fd1", bits(1e-40)) == 0);
    CHECK(cvt("rn.f16.f32", "%rs9", "%f1", bits(1.0f)) == 0x3C00);
    CHECK(cvt("rn.f16.f32", "%rs9", "%f1", bits(65520.0f)) == 0x7C00);
    CHECK(cvt("rz.f16.f32", "%rs9", "%f1", bits(65520.0f)) == 0x7BFF);
    CHECK(cvt("rn.f16.f32", "%rs9", "%f1", bits(5.9604645e-8f)) == 1);
    CHECK(cvt("rn.f16.f32", "%rs9", "%f1", bits(2.9802322e-8f)) == 0);  // half of it: a tie, to even
    CHECK(cvt("rn.f16.f32", "%rs9", "%f1", bits(1 + 0x1p-11f)) == 0x3C00);
    CHECK(cvt("rn.f16.f32", "%rs9", "%f1", bits(1 + 0x1.8p-11f)) == 0x3C01);
    CHECK(cvt("rn.f16.f32", "%rs9", "%f1", 0xFFC0'0123) == 0x7FFF);
    CHECK(cvt("f32.f16", "%f9", "%rs1", 0x3555) == bits(0.333251953125f));
    CHECK(cvt("f32.f16", "%f9", "%rs1", 0x8001) == bits(-5.9604645e-8f));
    CHECK(cvt("f32.f16", "%f9", "%rs1", 0xFC00) == bits(-kInf));
    CHECK(cvt("f32.f16", "%f9", "%rs1", 0xFE12) == 0x7FFF'FFFF);
    CHECK(cvt("f64.f16", "%fd9", "%rs1", 0x3C00) == bits(1.0));
    CHECK(cvt("rn.f16.f64", "%rs9", "%fd1", bits(1 + 0x1p-11 + 0x1p-40)) == 0x3C01);  // rounded once
    CHECK(cvt("rn.bf16.f32", "%rs9", "%f1", bits(1 + 0x1p-8f)) == 0x3F80);
    CHECK(cvt("rn.bf16.f32", "%rs9", "%f1", bits(1 + 0x1.8p-8f)) == 0x3F81);
    CHECK(cvt("rz.bf16.f32", "%rs9", "%f1", bits(1.999f)) == 0x3FFF);
    CHECK(cvt("rn.bf16.f32", "%rs9", "%f1", 0x7FFF'FFFF) == 0x7FFF);
    CHECK(cvt("f32.bf16", "%f9", "%rs1", 0x4049) == 0x4049'0000);
    CHECK(cvt("rni.f32.f32", "%f9", "%f1", bits(-2.5f)) == bits(-2.0f));
    CHECK(cvt("rzi.f64.f64", "%fd9", "%fd1", bits(-0.5)) == bits(-0.0));
    CHECK(cvt("rpi.f32.f32", "%f9", "%f1", bits(0.25f)) == bits(1.0f));
    CHECK(cvt("rmi.f16.f16", "%rs9", "%rs1", 0xB800) == 0xBC00);
    CHECK(cvt("sat.f32.f32", "%f9", "%f1", bits(1.5f)) == bits(1.0f));
    CHECK(cvt("sat.f32.f32", "%f9", "%f1", 0x7FC0'0000) == bits(0.0f));
    CHECK(cvt("rn.sat.f16.f32", "%rs9", "%f1", bits(-2.0f)) == 0);
}

TEST_CASE("tf32 and packed pairs") {
    CHECK(lane("cvt.rna.tf32.f32 %r9, %f1;", "%r9", {bits(1 + 0x1p-11f)}) ==
          bits(1 + 0x1p-10f));  // a tie, away from zero
    CHECK(lane("cvt.rna.tf32.f32 %r9, %f1;", "%r9", {bits(-(1 + 0x1p-12f))}) == bits(-1.0f));
    CHECK(lane("cvt.rn.f16x2.f32 %r9, %f1, %f2;", "%r9", {bits(2.0f), bits(1.0f)}) == 0x4000'3C00);
    CHECK(lane("cvt.rn.bf16x2.f32 %r9, %f1, %f2;", "%r9", {bits(2.0f), bits(1.0f)}) == 0x4000'3F80);
    CHECK(lane("cvt.rz.f16x2.f32 %r9, %f1, %f2;", "%r9", {bits(1e9f), bits(1.0f)}) == 0x7BFF'3C00);
    CHECK(lane("cvt.rn.relu.f16x2.f32 %r9, %f1, %f2;", "%r9", {bits(-1.0f), bits(1.0f)}) == 0x0000'3C00);
    CHECK(lane("cvt.rz.relu.bf16x2.f32 %r9, %f1, %f2;", "%r9", {bits(1.999f), bits(-kInf)}) == 0x3FFF'0000);
    CHECK(lane("cvt.rn.tf32.f32 %r9, %f1;", "%r9", {bits(1 + 0x1p-11f)}) == bits(1.0f));  // a tie, to even
    CHECK(lane("cvt.rz.tf32.f32 %r9, %f1;", "%r9", {bits(1.9999f)}) == bits(2 - 0x1p-10f));
    CHECK(lane("cvt.rn.relu.tf32.f32 %r9, %f1;", "%r9", {bits(-1.5f)}) == 0);
    CHECK(lane("cvt.rz.relu.tf32.f32 %r9, %f1;", "%r9", {bits(1.5f)}) == bits(1.5f));
}

TEST_CASE("fp8: rounded, clamped, and back exactly") {
    const auto e4m3 = [](float value) { return lane("cvt.rn.satfinite.e4m3x2.f32 %rs9, %f1, %f2;", "%rs9", {0, bits(value)}); };
    const auto e5m2 = [](float value) { return lane("cvt.rn.satfinite.e5m2x2.f32 %rs9, %f1, %f2;", "%rs9", {0, bits(value)}); };
    CHECK(lane("cvt.rn.satfinite.e4m3x2.f32 %rs9, %f1, %f2;", "%rs9", {bits(0.40625f), bits(12.9f)}) == 0x2D55);
    CHECK(lane("cvt.rn.satfinite.e5m2x2.f32 %rs9, %f1, %f2;", "%rs9", {bits(0.375f), bits(-5256.6f)}) == 0x36ED);
    CHECK(e4m3(448.0f) == 0x7E);
    CHECK(e4m3(1e9f) == 0x7E);
    CHECK(e4m3(-kInf) == 0xFE);
    CHECK(e4m3(std::numeric_limits<float>::quiet_NaN()) == 0x7F);
    CHECK(e4m3(0x1p-9f) == 0x01);
    CHECK(e4m3(0x1p-10f) == 0x00);       // a tie, to even
    CHECK(e4m3(0x1.8p-9f) == 0x02);      // the same
    CHECK(e4m3(0x1p-6f) == 0x08);
    CHECK(e4m3(-0.0f) == 0x80);
    CHECK(e5m2(57344.0f) == 0x7B);
    CHECK(e5m2(kInf) == 0x7B);
    CHECK(e5m2(0x1p-16f) == 0x01);
    CHECK(e5m2(1.125f) == 0x3C);
    CHECK(lane("cvt.rn.satfinite.relu.e4m3x2.f32 %rs9, %f1, %f2;", "%rs9", {bits(-3.0f), bits(3.0f)}) == 0x0044);
    CHECK(lane("cvt.rn.satfinite.e4m3x2.f16x2 %rs9, %r1;", "%rs9", {0x4200'BC00}) == 0x44B8);
    CHECK(lane("cvt.rn.satfinite.relu.e5m2x2.f16x2 %rs9, %r1;", "%rs9", {0x4200'BC00}) == 0x4200);
    CHECK(lane("cvt.rn.f16x2.e4m3x2 %r9, %rs1;", "%r9", {0x2D55}) == 0x3680'4A80);
    CHECK(lane("cvt.rn.f16x2.e5m2x2 %r9, %rs1;", "%r9", {0x36ED}) == 0x3600'ED00);
    CHECK(lane("cvt.rn.relu.f16x2.e5m2x2 %r9, %rs1;", "%r9", {0x36ED}) == 0x3600'0000);
    CHECK(lane("cvt.rn.f16x2.e4m3x2 %r9, %rs1;", "%r9", {0x0107}) == 0x1800'2300);   // the smallest, the largest subnormal
    // Every number of each format comes back.
    for (std::uint64_t byte = 0; byte < 256; byte += 8) {
        std::vector<Row> rows;
        for (std::uint64_t i = 0; i < 32; ++i) rows.push_back({byte + i % 8});
        const auto e4 = lanes("cvt.rn.f16x2.e4m3x2 %r9, %rs1;\ncvt.rn.satfinite.e4m3x2.f16x2 %rs9, %r9;\n", "%rs9", rows);
        const auto e5 = lanes("cvt.rn.f16x2.e5m2x2 %r9, %rs1;\ncvt.rn.satfinite.e5m2x2.f16x2 %rs9, %r9;\n", "%rs9", rows);
        for (std::uint64_t i = 0; i < 8; ++i) {
            const std::uint64_t in = byte + i, size = in & 0x7F;
            CHECK(e4[i] == (size == 0x7F ? 0x7F : in));
            CHECK(e5[i] == (size > 0x7C ? 0x7F : size == 0x7C ? (in & 0x80) | 0x7B : in));
        }
    }
}
