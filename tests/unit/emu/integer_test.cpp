// Integer forms. Expected values are worked out by hand from the manual's definitions.
#include "harness.hpp"

using namespace emu_test;

namespace {

struct Case {
    const char* body;
    const char* result;
    Row in;
    std::uint64_t expected;
};
void check(const std::vector<Case>& cases) {
    for (const Case& c : cases) {
        CAPTURE(c.body);
        CAPTURE(c.in[0]);
        CAPTURE(c.in[1]);
        CAPTURE(c.in[2]);
        CHECK(lane(c.body, c.result, c.in) == c.expected);
    }
}
constexpr std::uint64_t kMin32 = 0x8000'0000;
constexpr std::uint64_t kMin64 = 0x8000'0000'0000'0000;

}  // namespace

TEST_CASE("sums and differences wrap, or clamp with .sat") {
    check({
        {"add.u16 %rs9, %rs1, %rs2;", "%rs9", {0xFFFF, 2}, 1},
        {"add.s32 %r9, %r1, %r2;", "%r9", {0x7FFF'FFFF, 1}, kMin32},
        {"add.u64 %rd9, %rd1, %rd2;", "%rd9", {~0ull, 5}, 4},
        {"add.u32 %r9, %r1, -3;", "%r9", {1}, 0xFFFF'FFFE},
        {"add.sat.s32 %r9, %r1, %r2;", "%r9", {0x7FFF'FFFF, 1}, 0x7FFF'FFFF},
        {"add.sat.s32 %r9, %r1, %r2;", "%r9", {kMin32, 0xFFFF'FFFF}, kMin32},
        {"add.sat.s32 %r9, %r1, %r2;", "%r9", {5, 0xFFFF'FFFE}, 3},
        {"sub.s16 %rs9, %rs1, %rs2;", "%rs9", {0, 1}, 0xFFFF},
        {"sub.u32 %r9, %r1, %r2;", "%r9", {3, 5}, 0xFFFF'FFFE},
        {"sub.s64 %rd9, %rd1, %rd2;", "%rd9", {kMin64, 1}, kMin64 - 1},
        {"sub.sat.s32 %r9, %r1, %r2;", "%r9", {kMin32, 1}, kMin32},
    });
}

TEST_CASE("products: low, high and whole") {
    check({
        {"mul.lo.u16 %rs9, %rs1, %rs2;", "%rs9", {0xFFFF, 0xFFFF}, 1},
        {"mul.lo.s32 %r9, %r1, %r2;", "%r9", {0x1'0001, 0x1'0001}, 0x0002'0001},
        {"mul.lo.u64 %rd9, %rd1, %rd2;", "%rd9", {1ull << 63, 2}, 0},
        {"mul.hi.u16 %rs9, %rs1, %rs2;", "%rs9", {0xFFFF, 0xFFFF}, 0xFFFE},
        {"mul.hi.s16 %rs9, %rs1, %rs2;", "%rs9", {0xFFFF, 2}, 0xFFFF},
        {"mul.hi.u32 %r9, %r1, %r2;", "%r9", {0xFFFF'FFFF, 0xFFFF'FFFF}, 0xFFFF'FFFE},
        {"mul.hi.s32 %r9, %r1, %r2;", "%r9", {kMin32, kMin32}, 0x4000'0000},
        {"mul.hi.u64 %rd9, %rd1, %rd2;", "%rd9", {~0ull, ~0ull}, ~0ull - 1},
        {"mul.hi.s64 %rd9, %rd1, %rd2;", "%rd9", {~0ull, 7}, ~0ull},
        {"mul.wide.u16 %r9, %rs1, %rs2;", "%r9", {0xFFFF, 0xFFFF}, 0xFFFE'0001},
        {"mul.wide.s16 %r9, %rs1, %rs2;", "%r9", {0xFFFF, 3}, 0xFFFF'FFFD},
        {"mul.wide.u32 %rd9, %r1, %r2;", "%rd9", {0xFFFF'FFFF, 0xFFFF'FFFF}, 0xFFFF'FFFE'0000'0001},
        {"mul.wide.s32 %rd9, %r1, -4;", "%rd9", {kMin32}, 0x2'0000'0000},
        {"mad.lo.s32 %r9, %r1, %r2, %r3;", "%r9", {7, 6, 0xFFFF'FFFF}, 41},
        {"mad.lo.u16 %rs9, %rs1, %rs2, %rs3;", "%rs9", {256, 256, 5}, 5},
        {"mad.hi.u32 %r9, %r1, %r2, %r3;", "%r9", {kMin32, 4, 10}, 12},
        {"mad.hi.s64 %rd9, %rd1, %rd2, %rd3;", "%rd9", {~0ull, 2, 3}, 2},
        {"mad.hi.sat.s32 %r9, %r1, %r2, %r3;", "%r9", {kMin32, kMin32, 0x7FFF'FFFF}, 0x7FFF'FFFF},
        {"mad.wide.u32 %rd9, %r1, %r2, %rd3;", "%rd9", {0xFFFF'FFFF, 2, 1}, 0x1'FFFF'FFFF},
        {"mad.wide.s16 %r9, %rs1, %rs2, %r3;", "%r9", {0xFFFE, 5, 4}, 0xFFFF'FFFA},
    });
}

TEST_CASE("division and remainder") {
    check({
        {"div.s32 %r9, %r1, %r2;", "%r9", {0xFFFF'FFF9, 2}, 0xFFFF'FFFD},  // -7 / 2 = -3
        {"rem.s32 %r9, %r1, %r2;", "%r9", {0xFFFF'FFF9, 2}, 0xFFFF'FFFF},  // -7 % 2 = -1
        {"div.u32 %r9, %r1, %r2;", "%r9", {0xFFFF'FFF9, 2}, 0x7FFF'FFFC},
        {"rem.u64 %rd9, %rd1, %rd2;", "%rd9", {1'000'000'007, 1000}, 7},
        {"div.s64 %rd9, %rd1, %rd2;", "%rd9", {kMin64, 2}, 0xC000'0000'0000'0000},
        {"div.s32 %r9, %r1, %r2;", "%r9", {kMin32, 0xFFFF'FFFF}, kMin32},
        {"rem.s32 %r9, %r1, %r2;", "%r9", {kMin32, 0xFFFF'FFFF}, 0},
        {"div.u16 %rs9, %rs1, %rs2;", "%rs9", {60000, 7}, 8571},
        {"rem.s16 %rs9, %rs1, %rs2;", "%rs9", {0xFFFB, 3}, 0xFFFE},  // -5 % 3 = -2
        // ptxas folds both by zero to all ones.
        {"div.s32 %r9, %r1, %r2;", "%r9", {7, 0}, 0xFFFF'FFFF},
        {"rem.u32 %r9, %r1, %r2;", "%r9", {7, 0}, 0xFFFF'FFFF},
    });
}

TEST_CASE("signs and order") {
    check({
        {"abs.s32 %r9, %r1;", "%r9", {0xFFFF'FFFB}, 5},
        {"abs.s16 %rs9, %rs1;", "%rs9", {0x8000}, 0x8000},
        {"neg.s64 %rd9, %rd1;", "%rd9", {5}, ~0ull - 4},
        {"neg.s32 %r9, %r1;", "%r9", {kMin32}, kMin32},
        {"min.s32 %r9, %r1, %r2;", "%r9", {0xFFFF'FFFF, 1}, 0xFFFF'FFFF},
        {"min.u32 %r9, %r1, %r2;", "%r9", {0xFFFF'FFFF, 1}, 1},
        {"max.s64 %rd9, %rd1, %rd2;", "%rd9", {~0ull, 1}, 1},
        {"max.u16 %rs9, %rs1, %rs2;", "%rs9", {0xFFFF, 1}, 0xFFFF},
    });
}

TEST_CASE("counting and finding bits") {
    check({
        {"popc.b32 %r9, %r1;", "%r9", {0xF0F0'0001}, 9},
        {"popc.b64 %r9, %rd1;", "%r9", {~0ull}, 64},
        {"clz.b32 %r9, %r1;", "%r9", {0x0001'0000}, 15},
        {"clz.b32 %r9, %r1;", "%r9", {0}, 32},
        {"clz.b64 %r9, %rd1;", "%r9", {1}, 63},
        {"clz.b64 %r9, %rd1;", "%r9", {0}, 64},
        {"bfind.u32 %r9, %r1;", "%r9", {0x0001'0000}, 16},
        {"bfind.u32 %r9, %r1;", "%r9", {0}, 0xFFFF'FFFF},
        {"bfind.s32 %r9, %r1;", "%r9", {0xFFFF'FFFB}, 2},  // ~(-5) = 4
        {"bfind.s32 %r9, %r1;", "%r9", {0xFFFF'FFFF}, 0xFFFF'FFFF},
        {"bfind.shiftamt.u32 %r9, %r1;", "%r9", {0x0001'0000}, 15},
        {"bfind.u64 %r9, %rd1;", "%r9", {1ull << 40}, 40},
        {"brev.b32 %r9, %r1;", "%r9", {0x8000'0001}, 0x8000'0001},
        {"brev.b32 %r9, %r1;", "%r9", {0x0000'00F3}, 0xCF00'0000},
        {"brev.b64 %rd9, %rd1;", "%rd9", {1}, kMin64},
    });
}

TEST_CASE("bit fields") {
    check({
        {"bfe.u32 %r9, %r1, %r2, %r3;", "%r9", {0x1234'5678, 8, 12}, 0x456},
        {"bfe.s32 %r9, %r1, %r2, %r3;", "%r9", {0x0000'0F00, 8, 4}, 0xFFFF'FFFF},
        {"bfe.s32 %r9, %r1, %r2, %r3;", "%r9", {0x8000'0000, 28, 16}, 0xFFFF'FFF8},  // past the top: the sign
        {"bfe.s32 %r9, %r1, %r2, %r3;", "%r9", {0x8000'0000, 40, 4}, 0xFFFF'FFFF},
        {"bfe.u32 %r9, %r1, %r2, %r3;", "%r9", {0xFFFF'FFFF, 40, 4}, 0},
        {"bfe.u32 %r9, %r1, %r2, %r3;", "%r9", {0xFFFF'FFFF, 0, 0}, 0},
        {"bfe.u32 %r9, %r1, %r2, %r3;", "%r9", {0xFFFF'FFFF, 0, 255}, 0xFFFF'FFFF},
        {"bfe.u64 %rd9, %rd1, %r2, %r3;", "%rd9", {0xFEDC'BA98'7654'3210, 32, 16}, 0xBA98},
        {"bfe.s64 %rd9, %rd1, %r2, %r3;", "%rd9", {0xFEDC'BA98'7654'3210, 60, 4}, ~0ull},
        {"bfi.b32 %r9, %r1, %r2, %r3, %r4;", "%r9", {0xAB, 0xFFFF'FFFF, 8, 8}, 0xFFFF'ABFF},
        {"bfi.b32 %r9, %r1, %r2, %r3, %r4;", "%r9", {0xFF, 0, 28, 8}, 0xF000'0000},
        {"bfi.b32 %r9, %r1, %r2, %r3, %r4;", "%r9", {0xFF, 5, 0, 0}, 5},
        {"bfi.b64 %rd9, %rd1, %rd2, %r3, %r4;", "%rd9", {0xFF, 0, 60, 8}, 0xF000'0000'0000'0000},
    });
}

TEST_CASE("dot products of packed numbers") {
    check({
        {"dp4a.u32.u32 %r9, %r1, %r2, %r3;", "%r9", {0x0102'0304, 0x0101'0101, 100}, 110},
        {"dp4a.s32.s32 %r9, %r1, %r2, %r3;", "%r9", {0xFFFF'FFFF, 0x0102'0304, 100}, 90},
        {"dp4a.u32.u32 %r9, %r1, %r2, %r3;", "%r9", {0xFFFF'FFFF, 0x0102'0304, 100}, 2650},
        {"dp4a.s32.u32 %r9, %r1, %r2, %r3;", "%r9", {0xFFFF'FFFF, 0xFFFF'FFFF, 0}, 0xFFFF'FC04},   // -4 * 255
        {"dp4a.u32.s32 %r9, %r1, %r2, %r3;", "%r9", {0xFFFF'FFFF, 0xFFFF'FFFF, 1021}, 1},
        {"dp2a.lo.s32.s32 %r9, %r1, %r2, %r3;", "%r9", {0xFFFF'0002, 0x0A0B'0C0D, 0}, 14},
        {"dp2a.hi.s32.s32 %r9, %r1, %r2, %r3;", "%r9", {0xFFFF'0002, 0x0A0B'0C0D, 0}, 12},
        {"dp2a.lo.u32.u32 %r9, %r1, %r2, %r3;", "%r9", {0xFFFF'0002, 0x0A0B'0C0D, 0}, 786'446},
        {"dp2a.hi.u32.s32 %r9, %r1, %r2, %r3;", "%r9", {0x0000'0003, 0x00FF'0000, 5}, 2},          // 3 * -1 + 5
    });
}

TEST_CASE("carry chains") {
    check({
        {"add.cc.u32 %r5, %r1, %r2;\naddc.u32 %r9, %r3, %r4;", "%r9", {0xFFFF'FFFF, 1, 5, 6}, 12},
        {"add.cc.u32 %r5, %r1, %r2;\naddc.u32 %r9, %r3, %r4;", "%r9", {0xFFFF'FFFE, 1, 5, 6}, 11},
        {"add.cc.u32 %r5, %r1, %r2;\naddc.cc.u32 %r6, %r3, %r4;\naddc.u32 %r9, 0, 0;",
         "%r9",
         {1, 0xFFFF'FFFF, 0xFFFF'FFFF, 0},
         1},
        {"add.cc.u64 %rd5, %rd1, %rd2;\naddc.u64 %rd9, 0, 0;", "%rd9", {~0ull, ~0ull}, 1},
        {"sub.cc.u32 %r5, %r1, %r2;\nsubc.u32 %r9, %r3, %r4;", "%r9", {0, 1, 9, 4}, 4},
        {"sub.cc.u32 %r5, %r1, %r2;\nsubc.cc.u32 %r6, %r3, %r4;\nsubc.u32 %r9, 0, 0;",
         "%r9",
         {0, 1, 0, 0},
         0xFFFF'FFFF},
        {"mad.lo.cc.u32 %r5, %r1, %r2, %r3;\nmadc.hi.u32 %r9, %r1, %r2, 0;",
         "%r9",
         {0xFFFF'FFFF, 0xFFFF'FFFF, 0xFFFF'FFFF},
         0xFFFF'FFFF},
        {"mad.lo.cc.u32 %r9, %r1, %r2, %r3;", "%r9", {3, 5, 0xFFFF'FFFF}, 14},
        {"mad.hi.cc.u32 %r5, %r1, %r2, %r3;\naddc.u32 %r9, 0, 0;", "%r9", {kMin32, 2, 0xFFFF'FFFF}, 1},
        {"add.cc.u32 %r5, -1, 1;\nmadc.lo.cc.u32 %r6, %r1, %r2, %r3;\naddc.u32 %r9, %r6, 0;",
         "%r9",
         {2, 3, 4},
         11},
        {"add.cc.u32 %r5, -1, 1;\nmadc.hi.s32 %r9, %r1, %r2, %r3;",
         "%r9",
         {0xFFFF'FFFF, 1, 5},
         5},  // -1 + 5 + carry
    });
}

TEST_CASE("logic") {
    check({
        {"and.b16 %rs9, %rs1, %rs2;", "%rs9", {0xF0F0, 0xFF00}, 0xF000},
        {"and.b64 %rd9, %rd1, %rd2;", "%rd9", {~0ull, 0x1234}, 0x1234},
        {"or.b32 %r9, %r1, %r2;", "%r9", {0xF0, 0x0F}, 0xFF},
        {"xor.b32 %r9, %r1, %r2;", "%r9", {0xFF, 0x0F}, 0xF0},
        {"not.b16 %rs9, %rs1;", "%rs9", {0x00FF}, 0xFF00},
        {"not.b64 %rd9, %rd1;", "%rd9", {0}, ~0ull},
        {"cnot.b32 %r9, %r1;", "%r9", {0}, 1},
        {"cnot.b32 %r9, %r1;", "%r9", {7}, 0},
        {"and.pred %p9, %p1, %p2;", "%p9", {1, 1}, 1},
        {"and.pred %p9, %p1, %p2;", "%p9", {1, 0}, 0},
        {"or.pred %p9, %p1, %p2;", "%p9", {0, 1}, 1},
        {"xor.pred %p9, %p1, %p2;", "%p9", {1, 1}, 0},
        {"not.pred %p9, %p1;", "%p9", {0}, 1},
        // The truth table over the columns 0xF0 (a), 0xCC (b), 0xAA (c): a & b ^ c, and majority.
        {"lop3.b32 %r9, %r1, %r2, %r3, 106;", "%r9", {0xF0F0, 0xFF00, 0x00FF}, 0xF0FF},
        {"lop3.b32 %r9, %r1, %r2, %r3, 232;", "%r9", {0xF0, 0xCC, 0xAA}, 0xE8},
        {"lop3.b32 %r9, %r1, %r2, %r3, 1;", "%r9", {0xF0, 0xCC, 0xAA}, 0xFFFF'FF01},
    });
}

TEST_CASE("shifts clamp at the width") {
    check({
        {"shl.b32 %r9, %r1, %r2;", "%r9", {1, 31}, kMin32},
        {"shl.b32 %r9, %r1, %r2;", "%r9", {1, 32}, 0},
        {"shl.b32 %r9, %r1, %r2;", "%r9", {1, 0xFFFF'FFFF}, 0},
        {"shl.b16 %rs9, %rs1, %r2;", "%rs9", {0x8001, 1}, 2},
        {"shl.b16 %rs9, %rs1, %r2;", "%rs9", {1, 16}, 0},
        {"shl.b64 %rd9, %rd1, %r2;", "%rd9", {1, 63}, kMin64},
        {"shl.b64 %rd9, %rd1, %r2;", "%rd9", {1, 64}, 0},
        {"shr.u32 %r9, %r1, %r2;", "%r9", {kMin32, 31}, 1},
        {"shr.u32 %r9, %r1, %r2;", "%r9", {kMin32, 33}, 0},
        {"shr.s32 %r9, %r1, %r2;", "%r9", {kMin32, 33}, 0xFFFF'FFFF},
        {"shr.s32 %r9, %r1, %r2;", "%r9", {kMin32, 4}, 0xF800'0000},
        {"shr.s16 %rs9, %rs1, %r2;", "%rs9", {0x8000, 20}, 0xFFFF},
        {"shr.b64 %rd9, %rd1, %r2;", "%rd9", {kMin64, 63}, 1},
        {"shf.l.wrap.b32 %r9, %r1, %r2, %r3;", "%r9", {0x1234'5678, 0x9ABC'DEF0, 36}, 0xABCD'EF01},
        {"shf.l.clamp.b32 %r9, %r1, %r2, %r3;", "%r9", {0x1234'5678, 0x9ABC'DEF0, 36}, 0x1234'5678},
        {"shf.r.wrap.b32 %r9, %r1, %r2, %r3;", "%r9", {0x1234'5678, 0x9ABC'DEF0, 8}, 0xF012'3456},
        {"shf.r.clamp.b32 %r9, %r1, %r2, %r3;", "%r9", {0x1234'5678, 0x9ABC'DEF0, 99}, 0x9ABC'DEF0},
    });
}

TEST_CASE("byte permutation") {
    const Row ab = {0x3322'1100, 0x7766'5544};
    const auto with = [&](std::uint64_t c) { return Row{ab[0], ab[1], c}; };
    check({
        {"prmt.b32 %r9, %r1, %r2, %r3;", "%r9", with(0x7531), 0x7755'3311},
        {"prmt.b32 %r9, %r1, %r2, %r3;",
         "%r9",
         {0x0000'0080, 0, 0x9980},
         0x0000'FF80},  // sign of byte 0, of byte 1
        {"prmt.b32.f4e %r9, %r1, %r2, %r3;", "%r9", with(1), 0x4433'2211},
        {"prmt.b32.b4e %r9, %r1, %r2, %r3;", "%r9", with(1), 0x6677'0011},
        {"prmt.b32.rc8 %r9, %r1, %r2, %r3;", "%r9", with(2), 0x2222'2222},
        {"prmt.b32.ecl %r9, %r1, %r2, %r3;", "%r9", with(1), 0x3322'1111},
        {"prmt.b32.ecr %r9, %r1, %r2, %r3;", "%r9", with(2), 0x2222'1100},
        {"prmt.b32.rc16 %r9, %r1, %r2, %r3;", "%r9", with(1), 0x3322'3322},
    });
}

TEST_CASE("comparison of integers") {
    check({
        {"setp.eq.s32 %p9, %r1, %r2;", "%p9", {5, 5}, 1},
        {"setp.ne.b64 %p9, %rd1, %rd2;", "%p9", {1ull << 40, 0}, 1},
        {"setp.lt.s32 %p9, %r1, %r2;", "%p9", {0xFFFF'FFFF, 0}, 1},
        {"setp.lt.u32 %p9, %r1, %r2;", "%p9", {0xFFFF'FFFF, 0}, 0},
        {"setp.lo.u32 %p9, %r1, %r2;", "%p9", {0, 0xFFFF'FFFF}, 1},
        {"setp.ls.u32 %p9, %r1, %r2;", "%p9", {7, 7}, 1},
        {"setp.hi.u64 %p9, %rd1, %rd2;", "%p9", {~0ull, 1}, 1},
        {"setp.hs.u16 %p9, %rs1, %rs2;", "%p9", {3, 4}, 0},
        {"setp.le.s16 %p9, %rs1, %rs2;", "%p9", {0x8000, 0}, 1},
        {"setp.gt.s64 %p9, %rd1, %rd2;", "%p9", {0, ~0ull}, 1},
        {"setp.ge.u16 %p9, %rs1, %rs2;", "%p9", {4, 4}, 1},
        {"setp.lt.s32 %p8|%p9, %r1, %r2;", "%p9", {1, 2}, 0},
        {"setp.eq.and.s32 %p9, %r1, %r2, %p3;", "%p9", {1, 1, 1}, 1},
        {"setp.eq.and.s32 %p9, %r1, %r2, !%p3;", "%p9", {1, 1, 1}, 0},
        {"setp.eq.or.s32 %p8|%p9, %r1, %r2, %p3;", "%p9", {1, 1, 0}, 0},
        {"setp.eq.xor.s32 %p9, %r1, %r2, %p3;", "%p9", {1, 2, 1}, 1},
        {"selp.b32 %r9, %r1, %r2, %p3;", "%r9", {10, 20, 1}, 10},
        {"selp.b32 %r9, %r1, %r2, !%p3;", "%r9", {10, 20, 1}, 20},
        {"selp.u64 %rd9, %rd1, 99, %p3;", "%rd9", {10, 0, 0}, 99},
        {"selp.b16 %rs9, %rs1, %rs2, %p3;", "%rs9", {1, 2, 0}, 2},
        {"selp.f64 %fd9, %fd1, %fd2, %p3;", "%fd9", {1, 2, 1}, 1},
    });
}

TEST_CASE("moves, packs and unpacks") {
    check({
        {"mov.u32 %r9, 0x12345678;", "%r9", {}, 0x1234'5678},
        {"mov.b16 %rs9, -1;", "%rs9", {}, 0xFFFF},
        {"mov.u64 %rd9, -2;", "%rd9", {}, ~0ull - 1},
        {"mov.pred %p9, %p1;", "%p9", {1}, 1},
        {"mov.f32 %f9, 0f3FC00000;", "%f9", {}, 0x3FC0'0000},
        {"mov.f64 %fd9, 0dC000000000000000;", "%fd9", {}, 0xC000'0000'0000'0000},
        {"mov.b32 %r9, {%rs1, %rs2};", "%r9", {0x1234, 0x5678}, 0x5678'1234},
        {"mov.b64 %rd9, {%r1, %r2};", "%rd9", {1, 2}, 0x2'0000'0001},
        {"mov.b64 %rd9, {%rs1, %rs2, %rs3, %rs4};", "%rd9", {1, 2, 3, 4}, 0x0004'0003'0002'0001},
        {"mov.b32 {%rs8, %rs9}, %r1;", "%rs9", {0x1234'5678}, 0x1234},
        {"mov.b64 {%r8, %r9}, %rd1;", "%r9", {0x1234'5678'0000'0000}, 0x1234'5678},
        {"mov.b64 {_, %r9}, %rd1;", "%r9", {0x1234'5678'0000'0000}, 0x1234'5678},
        {"mov.b128 %rq1, {%rd1, %rd2};\nmov.b128 {%rd8, %rd9}, %rq1;", "%rd9", {1, 77}, 77},
    });
}

TEST_CASE("lanes compute each for themselves") {
    std::vector<Row> rows;
    for (std::uint64_t i = 0; i < 100; ++i)
        rows.push_back({i, 3 * i + 1, i * i});
    const auto out = lanes("mad.lo.u32 %r9, %r1, %r2, %r3;", "%r9", rows);
    for (std::uint64_t i = 0; i < 100; ++i)
        CHECK(out[i] == i * (3 * i + 1) + i * i);
}
