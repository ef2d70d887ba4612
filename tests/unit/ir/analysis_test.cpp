#include <doctest/doctest.h>

#include <algorithm>

#include "ir/analysis/alias.hpp"
#include "ir/analysis/cfg.hpp"
#include "ir/analysis/dominators.hpp"
#include "ir/analysis/liveness.hpp"
#include "ir/analysis/loops.hpp"
#include "ir/analysis/uses.hpp"
#include "ir/parse.hpp"

using namespace ockc;
using ir::BlockId;

namespace {

// entry -> header; header -> body | exit; body -> left | right; both -> latch -> header.
constexpr std::string_view kLoop = R"(
func @f(%0: i1) {
bb0: jump bb1
bb1: br %0, bb2, bb6
bb2: br %0, bb3, bb4
bb3: jump bb5
bb4: jump bb5
bb5: jump bb1
bb6: ret
bb7: jump bb6
}
)";

ir::Module module_of(std::string_view text) {
    auto module = ir::parse(text);
    REQUIRE_MESSAGE(module.ok(), module.error());
    return std::move(module.value());
}

// The parser numbers blocks by first mention, which is the label's number in these texts only by layout.
BlockId at(const ir::Function& f, std::size_t position) {
    return f.layout[position];
}

}  // namespace

TEST_CASE("cfg: predecessors and order") {
    const ir::Module module = module_of(kLoop);
    const ir::Function& f = module.functions[ir::FuncId(0)];
    const ir::Cfg cfg(f);
    CHECK(cfg.rpo().size() == 7);
    CHECK(cfg.rpo()[0] == f.entry());
    CHECK_FALSE(cfg.reachable(at(f, 7)));
    CHECK(cfg.preds(at(f, 1)).size() == 2);
    CHECK(cfg.preds(at(f, 5)).size() == 2);
    CHECK(cfg.preds(at(f, 6)).size() == 1);  // the unreachable block's edge does not count
    for (const BlockId block : cfg.rpo()) {
        for (const ir::Target& target : f.terminator(block).targets) {
            const bool back = block == at(f, 5);
            CHECK((cfg.rpo_index(target.block) > cfg.rpo_index(block)) != back);
        }
    }
}

TEST_CASE("dominators and post-dominators") {
    const ir::Module module = module_of(kLoop);
    const ir::Function& f = module.functions[ir::FuncId(0)];
    const ir::Cfg cfg(f);
    const ir::Dominators dom(cfg);
    CHECK(dom.idom(at(f, 5)) == at(f, 2));
    CHECK(dom.idom(at(f, 6)) == at(f, 1));
    CHECK(dom.dominates(at(f, 1), at(f, 5)));
    CHECK(dom.dominates(at(f, 5), at(f, 5)));
    CHECK_FALSE(dom.dominates(at(f, 3), at(f, 5)));
    CHECK(dom.common(at(f, 3), at(f, 4)) == at(f, 2));
    CHECK(dom.preorder().size() == 7);
    const ir::PostDominators post(f, cfg);
    CHECK(post.ipdom(at(f, 2)) == at(f, 5));
    CHECK(post.ipdom(at(f, 5)) == at(f, 1));
    CHECK(post.ipdom(at(f, 1)) == at(f, 6));
    CHECK_FALSE(post.ipdom(at(f, 6)).valid());
}

TEST_CASE("loops: nesting, headers, latches") {
    const ir::Module module = module_of(R"(
func @f(%0: i1) {
bb0: jump bb1
bb1: br %0, bb2, bb5
bb2: br %0, bb3, bb4
bb3: jump bb2
bb4: jump bb1
bb5: ret
})");
    const ir::Function& f = module.functions[ir::FuncId(0)];
    const ir::Cfg cfg(f);
    const ir::Dominators dom(cfg);
    const ir::Loops loops(cfg, dom);
    REQUIRE(loops.all().size() == 2);
    const ir::LoopId outer = loops.of(at(f, 1));
    const ir::LoopId inner = loops.of(at(f, 3));
    CHECK(loops[outer].header == at(f, 1));
    CHECK(loops[inner].header == at(f, 2));
    CHECK(loops[inner].parent == outer);
    CHECK(loops[outer].blocks.size() == 4);
    CHECK(loops[inner].blocks.size() == 2);
    CHECK(loops[outer].latches == std::vector<BlockId>{at(f, 4)});
    CHECK(loops.depth(at(f, 3)) == 2);
    CHECK(loops.depth(at(f, 5)) == 0);
    CHECK(loops.contains(outer, at(f, 3)));
    CHECK_FALSE(loops.contains(inner, at(f, 4)));
    CHECK(loops.is_header(at(f, 2)));
}

TEST_CASE("uses and liveness") {
    const ir::Module module = module_of(R"(
func @f(%0: i32, %1: i1) -> i32 {
bb0:
    %2 = iadd.i32 %0, %0
    br %1, bb1(%2), bb2
bb1(%3: i32):
    %4 = iadd.i32 %3, %2
    jump bb1(%4)
bb2:
    ret %2
})");
    const ir::Function& f = module.functions[ir::FuncId(0)];
    const ir::Cfg cfg(f);
    const ir::Uses uses(f);
    const ir::ValueId sum = f.insts[f.blocks[at(f, 0)].insts[0]].result();
    CHECK(uses.count(f.blocks[f.entry()].params[0]) == 2);
    CHECK(uses.count(sum) == 3);
    CHECK(uses.block_of(uses.of(sum)[1]) == at(f, 1));
    const ir::Liveness live(f, cfg, uses);
    CHECK(live.live_in(at(f, 1)) == std::vector<ir::ValueId>{sum});  // its own parameter is not live in
    CHECK(live.live_in(at(f, 2)) == std::vector<ir::ValueId>{sum});
    CHECK(live.live_in(at(f, 0)).empty());
    CHECK(live.live_out(at(f, 2)).empty());
}

TEST_CASE("memory classes: objects, spaces, escapes") {
    const ir::Module module = module_of(R"(
global @tile: shared 64 align 4
func @f(%0: ptr.global noalias, %1: ptr.global, %2: ptr) {
bb0:
    %3 = alloca 8 align 8
    %4 = alloca 8 align 8
    %5 = spacecast.ptr %4
    store.ptr %1, %5 align 8
    %6 = global.ptr.shared @tile
    %7 = const.i64 4
    %8 = ptradd.ptr.global %0, %7
    %9 = ptradd.ptr.local %3, %7
    ret
})");
    const ir::Function& f = module.functions[ir::FuncId(0)];
    const ir::MemoryClasses classes(f, ir::Cfg(f));
    const auto params = f.blocks[f.entry()].params;
    const auto result = [&](std::size_t i) { return f.insts[f.blocks[f.entry()].insts[i]].result(); };
    const auto conflict = [&](ir::ValueId written, ir::ValueId read) {
        const auto& list = classes.clobbers(classes.of(written));
        return std::find(list.begin(), list.end(), classes.of(read)) != list.end();
    };
    CHECK(classes.of(params[0]) == classes.of(result(6)));  // an offset stays in its object
    CHECK(classes.of(result(0)) == classes.of(result(7)));
    CHECK_FALSE(conflict(params[0], params[1]));  // noalias
    CHECK_FALSE(conflict(params[2], params[0]));
    CHECK(conflict(params[2], params[1]));        // a generic pointer may be global
    CHECK_FALSE(conflict(result(0), params[2]));  // a private slot
    CHECK(conflict(result(2), params[2]));        // one whose address was stored
    CHECK(conflict(result(4), params[2]));        // shared variable against a generic pointer
    CHECK_FALSE(conflict(result(4), params[1]));  // against a global one
    CHECK(classes.is_private(classes.of(result(0))));
    CHECK_FALSE(classes.is_private(classes.of(result(1))));
}

TEST_CASE("pointers: bases and null") {
    const ir::Module module = module_of(R"(
func @f(%0: ptr.global nonnull, %1: ptr.global, %2: i64) {
bb0:
    %3 = const.i64 16
    %4 = ptradd.ptr.global %0, %3
    %5 = spacecast.ptr %4
    %6 = ptradd.ptr %5, %3
    %7 = ptradd.ptr %6, %2
    %8 = spacecast.ptr %1
    ret
})");
    const ir::Function& f = module.functions[ir::FuncId(0)];
    const auto result = [&](std::size_t i) { return f.insts[f.blocks[f.entry()].insts[i]].result(); };
    const ir::PointerBase base = ir::constant_base(f, result(3));
    CHECK(base.base == f.blocks[f.entry()].params[0]);
    CHECK(base.offset == 32);
    CHECK(ir::constant_base(f, result(4)).base == result(4));
    CHECK(ir::object_of(f, result(4)) == f.blocks[f.entry()].params[0]);
    CHECK(ir::is_nonnull(f, result(4)));
    CHECK_FALSE(ir::is_nonnull(f, result(5)));
}
