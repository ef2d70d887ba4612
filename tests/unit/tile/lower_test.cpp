// Tile IR from its text: it prints as it was read, and lowering leaves valid IR without tiles.
#include <doctest/doctest.h>

#include "ir/parse.hpp"
#include "ir/print.hpp"
#include "ir/verify.hpp"
#include "tile/tile.hpp"

using namespace ockc;

namespace {

// Rows of x, scaled, summed up in a loop; the sum of each goes to z.
constexpr std::string_view kRowSums = R"(source "rows.rsk"

func @add(%0: f32, %1: f32) -> f32 {
bb0(%0: f32, %1: f32):
    %2 = fadd.f32 %0, %1
    ret %2
}

kernel @rows(%0: ptr.global readonly align 4, %1: ptr.global align 4, %2: i32, %3: i32) {
bb0(%0: ptr.global, %1: ptr.global, %2: i32, %3: i32):
    %4 = const.i32 1
    %5 = const.i32 0
    %6 = const.f32 0
    %7 = tile_splat (%6): f32[8, 64]
    jump bb1(%5, %7)
bb1(%8: i32, %9: tile):
    %10 = tile_load (%0, %5, %8, %2, %3, %3, %4): f32[8, 64]
    %11 = tile_map @add 0 (%9, %10): f32[8, 64]
    %12 = iadd.i32 %8, %4
    %13 = icmp.slt.i32 %12, %3
    br %13, bb1(%12, %11), bb2
bb2:
    %14 = tile_reduce @add 256 (%6, %11, %4): f32[8]
    tile_store (%1, %14, %5, %2, %4): f32[8]
    ret
}
)";

ir::Module parsed() {
    auto module = ir::parse(kRowSums);
    REQUIRE_MESSAGE(module.ok(), module.error());
    return std::move(module.value());
}

// A product of matrices in a loop: what is loaded for it comes through shared memory.
constexpr std::string_view kProduct = R"(source "product.rsk"

func @add_product(%0: f32, %1: bf16, %2: bf16) -> f32 {
bb0(%0: f32, %1: bf16, %2: bf16):
    %3 = fcvt.f32 %1
    %4 = fcvt.f32 %2
    %5 = fmul.f32 %3, %4
    %6 = fadd.f32 %0, %5
    ret %6
}

kernel @product(%0: ptr.global readonly align 2, %1: ptr.global readonly align 2, %2: ptr.global align 4, %3: i32) {
bb0(%0: ptr.global, %1: ptr.global, %2: ptr.global, %3: i32):
    %4 = const.i32 1
    %5 = const.i32 0
    %6 = const.f32 0
    %7 = const.i32 32
    %8 = tile_splat (%6): f32[64, 64]
    jump bb1(%5, %8)
bb1(%9: i32, %10: tile):
    %11 = icmp.slt.i32 %9, %3
    br %11, bb2, bb3
bb2:
    %12 = tile_load (%0, %5, %9, %3, %3, %3, %4): bf16[64, 32]
    %13 = tile_load (%1, %9, %5, %3, %3, %3, %4): bf16[32, 64]
    %14 = tile_mma @add_product (%12, %13, %10): f32[64, 64]
    %15 = iadd.i32 %9, %7
    jump bb1(%15, %14)
bb3:
    tile_store (%2, %10, %5, %5, %3, %3, %3, %4): f32[64, 64]
    ret
}
)";

ir::Module parsed_product() {
    auto module = ir::parse(kProduct);
    REQUIRE_MESSAGE(module.ok(), module.error());
    return std::move(module.value());
}

std::size_t count(const std::string& text, std::string_view word) {
    std::size_t found = 0;
    for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++found;
    return found;
}

}  // namespace

TEST_CASE("what a product in a loop loads runs ahead in stages, which print as they are read") {
    ir::Module module = parsed_product();
    DiagSink sink;
    std::string pipelined;
    const auto wishes = tile::lower(module, sink, {90, 232448}, [&](std::string_view step) {
        if (step == "tile-pipeline") pipelined = ir::print(module);
    });
    REQUIRE(wishes);
    CHECK(count(pipelined, "tile_ring 4") == 2);
    CHECK(count(pipelined, "tile_copy") == 4);       // in front of the loop and in it
    CHECK(count(pipelined, "tile_slot") == 2);
    CHECK(count(pipelined, "tile_load") == 0);
    CHECK(wishes->at(0).blocks == 2);
    auto again = ir::parse(pipelined);
    REQUIRE_MESSAGE(again.ok(), again.error());
    CHECK(ir::print(again.value()) == pipelined);
    const std::string lowered = ir::print(module);
    CHECK(lowered.find("matrix.ldmatrix_x4") != std::string::npos);
    CHECK(lowered.find("matrix.mma_m16n8k16_f32_bf16") != std::string::npos);
    CHECK(lowered.find("cp_async.cg_16_zfill") != std::string::npos);
    CHECK(ir::verify(module).ok());
    // Both rings and nothing else: what the store passes through lies where the rings have been.
    const auto size_of = [&](std::string_view name) {
        for (const ir::Global& global : module.globals) {
            if (global.name == name) return global.size;
        }
        return std::uint64_t{0};
    };
    CHECK(size_of("product_tiles") == 4 * (64 * 32 * 2 + 32 * 64 * 2));
}

TEST_CASE("a loop that may write what it loads waits for each copy") {
    std::string text(kProduct);
    const auto change = [&](std::string_view from, std::string_view to) { text.replace(text.find(from), from.size(), to); };
    change("kernel @product(%0: ptr.global readonly align 2", "kernel @product(%0: ptr.global align 2");
    change("    %15 = iadd.i32 %9, %7\n", "    tile_store (%2, %14, %5, %5, %3, %3, %3, %4): f32[64, 64]\n    %15 = iadd.i32 %9, %7\n");
    auto module = ir::parse(text);
    REQUIRE_MESSAGE(module.ok(), module.error());
    DiagSink sink;
    std::string pipelined;
    REQUIRE(tile::lower(module.value(), sink, {90, 232448}, [&](std::string_view step) {
        if (step == "tile-pipeline") pipelined = ir::print(module.value());
    }));
    CHECK(count(pipelined, "tile_ring 1") == 1);   // the left operand
    CHECK(count(pipelined, "tile_ring 4") == 1);
}

TEST_CASE("stages follow what the machine has: little shared memory, and none of the instructions") {
    ir::Module small = parsed_product();
    DiagSink sink;
    std::string pipelined;
    const auto keep = [&](ir::Module& module) {
        return [&](std::string_view step) {
            if (step == "tile-pipeline") pipelined = ir::print(module);
        };
    };
    REQUIRE(tile::lower(small, sink, {80, 16384}, keep(small)));
    CHECK(count(pipelined, "tile_ring 2") == 2);
    ir::Module old = parsed_product();
    REQUIRE(tile::lower(old, sink, {75, 65536}, keep(old)));
    CHECK(count(pipelined, "tile_load") == 2);
    CHECK(ir::print(old).find("matrix.mma") == std::string::npos);
    ir::Module tiny = parsed_product();
    CHECK(!tile::lower(tiny, sink, {80, 4096}, keep(tiny)));
    CHECK(sink.has_errors());
}

TEST_CASE("text of tile operations") {
    const ir::Module module = parsed();
    const Status status = ir::verify(module);
    CHECK_MESSAGE(status.ok(), status.error());
    std::string text = ir::print(module);
    // A count of 0 is not printed.
    std::string want(kRowSums);
    want.replace(want.find("@add 0 ("), 8, "@add (");
    CHECK(text == want);
}

TEST_CASE("a layout is part of the text and comes back") {
    ir::Module module = parsed();
    DiagSink sink;
    std::string with_layouts;
    CHECK(tile::lower(module, sink, {}, [&](std::string_view step) {
        if (step == "tile-layouts") with_layouts = ir::print(module);
    }));
    CHECK(with_layouts.find("f32[8, 64] registers (0, 1) (0, 2)") != std::string::npos);
    auto again = ir::parse(with_layouts);
    REQUIRE_MESSAGE(again.ok(), again.error());
    CHECK(ir::print(again.value()) == with_layouts);
}

TEST_CASE("lowering leaves no tile") {
    ir::Module module = parsed();
    DiagSink sink;
    REQUIRE(tile::lower(module, sink));
    CHECK(!sink.has_errors());
    const Status status = ir::verify(module);
    CHECK_MESSAGE(status.ok(), status.error());
    const std::string text = ir::print(module);
    CHECK(text.find("tile_") == std::string::npos);
    CHECK(text.find(": tile") == std::string::npos);
    CHECK(text.find("shfl") != std::string::npos);
}
