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

}  // namespace

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
    CHECK(tile::lower(module, sink, [&](std::string_view step) {
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
