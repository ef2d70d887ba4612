// The PTX itself, for the shapes that matter: no instruction more than a good engineer would write.
#include "harness.hpp"

using namespace ockc;
using namespace ockc::test;

namespace {

constexpr std::string_view kVecadd = R"(source "vecadd.rsk"
kernel @vecadd(%0: ptr.global readonly noalias nonnull align 4, %1: i64, %2: ptr.global readonly noalias nonnull align 4, %3: i64, %4: ptr.global noalias nonnull align 4, %5: i64) index 0 domain 1 block 256 1 1 max_threads 256 {
bb0(%0: ptr.global, %1: i64, %2: ptr.global, %3: i64, %4: ptr.global, %5: i64):
    %6 = sreg.ctaid.x
    %7 = const.i32 256
    %8 = imul.i32 %6, %7
    %9 = sreg.tid.x
    %10 = iadd.i32 %8, %9
    %11 = zext.i64 %10
    %12 = icmp.ult.i64 %11, %5
    br %12, bb1, bb4
bb1:
    %13 = icmp.ult.i64 %11, %1
    br %13, bb2, bb5
bb2:
    %20 = const.i64 4
    %21 = imul.i64 %11, %20
    %22 = ptradd.ptr.global %0, %21
    %23 = load.f32 %22 align 4 readonly
    %14 = icmp.ult.i64 %11, %3
    br %14, bb3, bb6
bb3:
    %24 = ptradd.ptr.global %2, %21
    %25 = load.f32 %24 align 4 readonly
    %26 = fadd.f32 %23, %25
    %27 = ptradd.ptr.global %4, %21
    store.f32 %27, %26 align 4
    jump bb4
bb4:
    ret
bb5 cold:
    panic 0(%11, %1)
bb6 cold:
    panic 1(%11, %3)
}
)";

// `body` in a kernel with parameters %0: ptr.global, %1: i32, %2: i64, %3: f32.
std::string select_body(std::string_view body) {
    return body_of(
        select_text("source \"t.rsk\"\nkernel @k(%0: ptr.global align 4, %1: i32, %2: i64, %3: f32) index 0 "
                    "{\nbb0(%0: ptr.global, %1: i32, %2: i64, %3: f32):\n" +
                    std::string(body) + "}\n"));
}

}  // namespace

TEST_CASE("vecadd: the hot path has what nvcc -O3 has, and falls through") {
    CHECK(body_of(select_text(kVecadd)) == R"(ld.param.u64 %rd1, [param0];
ld.param.u64 %rd2, [param1];
ld.param.u64 %rd3, [param2];
ld.param.u64 %rd4, [param3];
ld.param.u64 %rd5, [param4];
ld.param.u64 %rd6, [param5];
cvta.to.global.u64 %rd7, %rd1;
cvta.to.global.u64 %rd8, %rd3;
cvta.to.global.u64 %rd9, %rd5;
mov.u32 %r1, %ctaid.x;
mov.u32 %r2, %tid.x;
mad.lo.s32 %r3, %r1, 256, %r2;
cvt.u64.u32 %rd10, %r3;
setp.ge.u64 %p1, %rd10, %rd6;
@%p1 ret;
setp.ge.u64 %p2, %rd10, %rd2;
@%p2 bra $cold1;
mad.wide.u32 %rd11, %r3, 4, %rd7;
ld.global.nc.f32 %f1, [%rd11];
setp.ge.u64 %p3, %rd10, %rd4;
@%p3 bra $cold2;
mad.wide.u32 %rd12, %r3, 4, %rd8;
ld.global.nc.f32 %f2, [%rd12];
add.rn.f32 %f3, %f1, %f2;
mad.wide.u32 %rd13, %r3, 4, %rd9;
st.global.f32 [%rd13], %f3;
ret;
$cold1:
trap;
$cold2:
trap;
)");
    CHECK(select_text(kVecadd).find(".reqntid 256, 1, 1") != std::string::npos);
}

TEST_CASE("a counting loop: one add, one compare, one jump, no moves") {
    CHECK(select_body(R"(    %4 = const.i32 0
    %5 = const.i32 1
    %6 = const.f32 0
    jump bb1(%4, %6, %0)
bb1(%7: i32, %8: f32, %9: ptr.global):
    %10 = load.f32 %9 align 4
    %11 = fma.f32 %10, %3, %8
    %12 = const.i64 4
    %13 = ptradd.ptr.global %9, %12
    %14 = iadd.i32 %7, %5
    %15 = icmp.ult.i32 %14, %1
    br %15, bb1(%14, %11, %13), bb2
bb2:
    store.f32 %0 + 8, %11 align 4
    ret
)") == R"(ld.param.u64 %rd1, [param0];
ld.param.u32 %r1, [param1];
ld.param.f32 %f1, [param3];
cvta.to.global.u64 %rd2, %rd1;
mov.u32 %r2, 0;
mov.f32 %f2, 0f00000000;
mov.u64 %rd3, %rd2;
$loop1:
ld.global.f32 %f3, [%rd3];
fma.rn.f32 %f2, %f3, %f1, %f2;
add.s64 %rd3, %rd3, 4;
add.s32 %r2, %r2, 1;
setp.lt.u32 %p1, %r2, %r1;
@%p1 bra $loop1;
st.global.f32 [%rd2+8], %f2;
ret;
)");
}

TEST_CASE("a loop tested at its top is entered at its test") {
    CHECK(select_body(R"(    %4 = const.i32 0
    jump bb1(%4)
bb1(%5: i32):
    %6 = icmp.slt.i32 %5, %1
    br %6, bb2, bb3
bb2:
    store.i32 %0, %5 align 4 volatile
    %7 = const.i32 1
    %8 = iadd.i32 %5, %7
    jump bb1(%8)
bb3:
    ret
)") == R"(ld.param.u64 %rd1, [param0];
ld.param.u32 %r1, [param1];
cvta.to.global.u64 %rd2, %rd1;
mov.u32 %r2, 0;
bra.uni $L1;
$loop1:
st.volatile.global.u32 [%rd2], %r2;
add.s32 %r2, %r2, 1;
$L1:
setp.lt.s32 %p1, %r2, %r1;
@%p1 bra $loop1;
ret;
)");
}

TEST_CASE("what is not used is not written; constants are immediates; a negated condition costs nothing") {
    CHECK(select_body(R"(    %4 = const.i32 5
    %5 = iadd.i32 %1, %4
    %6 = imul.i32 %5, %5
    %7 = icmp.eq.i32 %1, %4
    %8 = not.i1 %7
    br %8, bb1, bb2
bb1:
    store.i32 %0, %4 align 4
    jump bb2
bb2:
    ret
)") == R"(ld.param.u64 %rd1, [param0];
ld.param.u32 %r1, [param1];
cvta.to.global.u64 %rd2, %rd1;
setp.eq.s32 %p1, %r1, 5;
@%p1 ret;
st.global.u32 [%rd2], 5;
ret;
)");
}

TEST_CASE("the values of a diamond meet in one register") {
    CHECK(select_body(R"(    %4 = const.i32 10
    %5 = icmp.slt.i32 %1, %4
    br %5, bb1, bb2
bb1:
    %6 = iadd.i32 %1, %4
    jump bb3(%6)
bb2:
    %7 = isub.i32 %1, %4
    jump bb3(%7)
bb3(%8: i32):
    store.i32 %0, %8 align 4
    ret
)") == R"(ld.param.u64 %rd1, [param0];
ld.param.u32 %r1, [param1];
cvta.to.global.u64 %rd2, %rd1;
setp.ge.s32 %p1, %r1, 10;
@%p1 bra $L1;
add.s32 %r2, %r1, 10;
bra.uni $L2;
$L1:
add.s32 %r2, %r1, -10;
$L2:
st.global.u32 [%rd2], %r2;
ret;
)");
}

TEST_CASE("offsets fold into addresses, shifts into multiply-adds") {
    CHECK(select_body(R"(    %4 = const.i32 4
    %5 = shl.i32 %1, %4
    %6 = const.i32 3
    %7 = iadd.i32 %5, %6
    %8 = sext.i64 %7
    %9 = const.i32 2
    %10 = shl.i64 %8, %9
    %11 = ptradd.ptr.global %0, %10
    %12 = const.i64 16
    %13 = ptradd.ptr.global %11, %12
    %14 = load.i32 %13 + 4 align 4
    store.i32 %13 - 8, %14 align 4
    ret
)") == R"(ld.param.u64 %rd1, [param0];
ld.param.u32 %r1, [param1];
cvta.to.global.u64 %rd2, %rd1;
mad.lo.s32 %r2, %r1, 16, 3;
mad.wide.s32 %rd3, %r2, 4, %rd2;
ld.global.u32 %r3, [%rd3+20];
st.global.u32 [%rd3+8], %r3;
ret;
)");
}

TEST_CASE("the ABI decides parameter names, types and launch directives") {
    const Result<ir::Module> module = ir::parse(
        "source \"t.rsk\"\nkernel @k(%0: ptr.global align 4, %1: i8, %2: ptr.param, %3: i128, %4: f32) index "
        "0 {\n"
        "bb0(%0: ptr.global, %1: i8, %2: ptr.param, %3: i128, %4: f32):\n    %5 = load.f32 %2 + 8 align 4\n  "
        "  store.f32 %0, %5 align 4\n"
        "    store.i8 %0 + 4, %1 align 1\n    store.i128 %0 + 16, %3 align 16\n    store.f32 %0 + 8, %4 "
        "align 4\n    ret\n}\n");
    REQUIRE(module.ok());
    abi::ModuleAbi abi;
    abi::KernelAbi kernel;
    kernel.slots = {{"out_ptr", 8, 8, false, abi::Scalar::U64},
                    {"flag", 1, 1, false, abi::Scalar::I8},
                    {"config", 24, 8, true, abi::Scalar::U8},
                    {"wide", 16, 16, false, abi::Scalar::I128},
                    {"k", 4, 4, false, abi::Scalar::F32}};
    kernel.launch.max_threads = 512;
    kernel.launch.min_blocks = 2;
    abi.kernels.push_back(kernel);
    isel::Options options;
    options.target = ptx::Target::Sm90;
    DiagSink sink;
    const ptx::Module out = isel::select(module.value(), abi, options, sink);
    CHECK(ptx::validate(out).empty());
    const std::string text = ptx::print(out);
    CHECK(text.find(".visible .entry k(\n    .param .u64 out_ptr,\n    .param .u8 flag,\n    .param .align 8 "
                    ".b8 config[24],\n"
                    "    .param .align 16 .b8 wide[16],\n    .param .f32 k$\n)\n.maxntid 512, 1, "
                    "1\n.minnctapersm 2\n{") != std::string::npos);
    CHECK(text.find("ld.param.f32        %f2, [config+8];") != std::string::npos);
    CHECK(text.find(".version 7.8\n.target sm_90\n") != std::string::npos);
    CHECK(assemble(text, "sm_90") == "");
}

TEST_CASE("line information changes no instruction") {
    Result<ir::Module> module = ir::parse(kVecadd);
    REQUIRE(module.ok());
    SourceMap sources;
    const FileId file = sources.add("vecadd.rsk", "", "fn vecadd() {\n  let x = 1;\n}\n");
    for (ir::Instruction& inst : module.value().functions[ir::FuncId(0)].insts)
        inst.span = {file, 16, 20};
    DiagSink sink;
    isel::Options options;
    options.sources = &sources;
    const std::string without = ptx::print(isel::select(module.value(), {}, options, sink));
    options.line_info = true;
    const ptx::Module with = isel::select(module.value(), {}, options, sink);
    CHECK(ptx::print(with, {false, true}) == without);
    const std::string text = ptx::print(with);
    CHECK(text.find(".file 1 \"vecadd.rsk\"\n") != std::string::npos);
    CHECK(text.find("    .loc 1 2 3\n") != std::string::npos);
}

TEST_CASE("parameters: up to 4 KiB anywhere, up to 32 KiB from PTX 8.1, no more") {
    const Result<ir::Module> module =
        ir::parse("source \"t.rsk\"\nkernel @k(%0: ptr.param) index 0 {\nbb0(%0: ptr.param):\n    ret\n}\n");
    REQUIRE(module.ok());
    const auto version_for = [&](std::uint32_t bytes, std::uint16_t asked, std::size_t errors) {
        abi::ModuleAbi abi;
        abi::KernelAbi kernel;
        kernel.slots = {{"big", bytes, 4, true, abi::Scalar::U8}};
        abi.kernels.push_back(kernel);
        isel::Options options;
        options.ptx_version = asked;
        DiagSink sink;
        const ptx::Module out = isel::select(module.value(), abi, options, sink);
        REQUIRE(sink.error_count() == errors);
        if (errors != 0) CHECK(sink.all()[0].code == Code::OCK0401);
        if (errors == 0) CHECK(assemble(ptx::print(out), "sm_80") == "");
        return out.ptx_version;
    };
    CHECK(version_for(4096, 0, 0) == 70);
    CHECK(version_for(4100, 0, 0) == 81);
    CHECK(version_for(32764, 0, 0) == 81);
    version_for(32768, 0, 1);
    version_for(4100, 70, 1);
}
