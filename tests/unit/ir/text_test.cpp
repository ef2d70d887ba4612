// Printing, parsing, and their round trip.
#include <doctest/doctest.h>

#include "ir/ir.hpp"
#include "ir/parse.hpp"
#include "ir/print.hpp"
#include "ir/verify.hpp"

using namespace ockc;

namespace {

// Every form of the text once; parsing and printing must give these very bytes.
constexpr std::string_view kEverything = R"(source "all.rsk"
global @tile: shared 1024 align 4
global @smem: shared 0 align 16 extern
global @table: const 4 align 4 visible init 0x0001ff7f
global @refs: global 16 align 8 init 0x0700000000000000 at 8 @table

kernel @all(%0: ptr.global readonly noalias nonnull align 4, %1: i64) index 2 domain 1 block 256 1 1 max_threads 256 {
bb0(%0: ptr.global, %1: i64):
    %2 = alloca 16 align 8
    %3 = const.i32 -1
    %4 = const.i8 -128
    %5 = const.i1 1
    %6 = const.i128 0x00000000000000010000000000000000
    %7 = const.i128 -5
    %8 = const.f32 1.5
    %9 = const.f64 1e-07
    %10 = const.f32 0x7fc00001
    %11 = const.f16 0x3c00
    %12 = const.ptr 0x0
    %13 = global.ptr.shared @tile
    %14 = sreg.tid.x
    %15 = icmp.ult.i32 %14, %3
    br %15, bb1(%14, %8), bb3
bb1(%16: i32, %17: f32):
    %18 = fcmp.une.f32 %17, %8
    %19 = select.i32 %18, %16, %3
    %20 = load.f32 %0 + 16 align 4 readonly
    %21 = load.i32 %0 - 8 align 4 volatile
    store.f32 %13 + 4, %20 align 4
    memcpy %2, %0, 16 align 4
    memset %2, %4, 16 align 8
    %22, %23 = call @two(%20) -> f32, i1
    call @none()
    barrier
    fence.device
    switch.i32 %19, bb2, 0: bb2, 7: bb1(%3, %22)
bb2 unroll 4:
    %24 = uadd_ov.i32 %19, %19
    br %24, bb2, bb4
bb3 cold:
    panic 3(%1, %14)
bb4 unroll full:
    ret
}

func @two(%0: f32) -> f32, i1 inline always {
bb0(%0: f32):
    %1 = fcmp.olt.f32 %0, %0
    ret %0, %1
}

func @none() inline never {
bb0:
    trap
}
)";

std::string error_of(std::string_view text) {
    const auto module = ir::parse(text);
    return module.ok() ? std::string("parsed") : module.error();
}

}  // namespace

TEST_CASE("text: every form survives parse and print") {
    const auto module = ir::parse(kEverything);
    REQUIRE_MESSAGE(module.ok(), module.error());
    CHECK(ir::print(module.value()) == kEverything);
    const Status status = ir::verify(module.value());
    CHECK_MESSAGE(status.ok(), status.error());
}

TEST_CASE("text: numbers and order of blocks are canonical") {
    const auto module = ir::parse(R"(
        func @f(%7: i32) -> i32 {      // a comment
        bb9: jump bb3(%7)
        bb3(%1: i32): ret %1
        }
        // the end)");
    REQUIRE_MESSAGE(module.ok(), module.error());
    CHECK(ir::print(module.value()) ==
          "func @f(%0: i32) -> i32 {\nbb0(%0: i32):\n    jump bb1(%0)\nbb1(%1: i32):\n    ret %1\n}\n");
}

TEST_CASE("text: constants read back to the same bits") {
    const auto module = ir::parse(
        "func @f() {\nbb0:\n%0 = const.f32 0.1\n%1 = const.i8 255\n%2 = const.f64 -0\n"
        "%3 = const.i64 -9223372036854775808\nret\n}");
    REQUIRE_MESSAGE(module.ok(), module.error());
    const ir::Function& f = module.value().functions[ir::FuncId(0)];
    CHECK(f.insts[ir::InstId(0)].imm == 0x3DCCCCCD);
    CHECK(f.insts[ir::InstId(1)].imm == 0xFF);
    CHECK(f.insts[ir::InstId(2)].imm == 0x8000000000000000);
    CHECK(f.insts[ir::InstId(3)].imm == 0x8000000000000000);
}

TEST_CASE("text: errors name their line") {
    CHECK(error_of("func @f() {\nbb0:\n    %0 = iad.i32 %1, %2\n}") == "line 3: unknown operation `iad.i32`");
    CHECK(error_of("func @f() {\nbb0:\n    %0 = iadd.i33 %1, %2\n}") == "line 3: unknown type in `iadd.i33`");
    CHECK(error_of("func @f() {\nbb0:\n    %0 = ineg.i32 %1\n    ret\n}") == "line 3: undefined value %1");
    CHECK(error_of("func @f() {\nbb0:\n    jump bb4\n}") == "line 4: undefined block bb4");
    CHECK(error_of("func @f() {\nbb0:\n    call @g()\n    ret\n}") == "line 3: unknown function @g");
    CHECK(error_of("func @f(%0: i32) {\nbb0:\n    %0 = const.i32 1\n    ret\n}") ==
          "line 4: second definition of %0");
    CHECK(error_of("func @f() {\nbb0:\n    %0 = const.i8 256\n    ret\n}") ==
          "line 4: the constant does not fit its type");
    CHECK(error_of("func @f() {\nbb0:\n    %0 = icmp.foo.i8 %0, %0\n    ret\n}") ==
          "line 3: unknown condition, register or scope in `icmp.foo.i8`");
    CHECK(error_of("kernel f") == "line 1: expected a name, found `f`");
    CHECK(error_of("func @f() {\nbb0:\n    %0 = barrier\n    ret\n}") == "line 3: barrier has 0 results");
    CHECK(error_of("func @f() {") == "line 1: expected a block, found the end");
}

TEST_CASE("text: the builder's output reads back") {
    ir::Module module;
    const ir::FuncId id = module.functions.push({});
    ir::Function& f = module.functions[id];
    f.name = "axpy";
    f.is_kernel = true;
    const ir::BlockId entry = f.add_block();
    const ir::ValueId p = f.add_block_param(entry, ir::Type::PtrGlobal);
    const ir::ValueId a = f.add_block_param(entry, ir::Type::F32);
    f.param_attrs.resize(2);
    ir::Builder b(f);
    b.at_end(entry);
    const ir::ValueId i = b.convert(ir::Op::Zext, ir::Type::I64, b.sreg(ir::Sreg::TidX));
    const ir::ValueId offset = b.binary(ir::Op::Imul, ir::Type::I64, i, b.const_int(ir::Type::I64, 4));
    const ir::ValueId at = b.ptr_add(p, offset);
    const ir::ValueId x = b.load(ir::Type::F32, at, {4, false, false});
    b.store(at, b.binary(ir::Op::Fmul, ir::Type::F32, x, a), {4, false, false});
    b.ret();
    CHECK(ir::verify(module).ok());
    const std::string text = ir::print(module);
    const auto again = ir::parse(text);
    REQUIRE_MESSAGE(again.ok(), again.error());
    CHECK(ir::print(again.value()) == text);
}
