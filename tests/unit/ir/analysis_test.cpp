#include <doctest/doctest.h>

#include "ir/analysis/cfg.hpp"
#include "ir/analysis/dominators.hpp"
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
BlockId at(const ir::Function& f, std::size_t position) { return f.layout[position]; }

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
    CHECK(cfg.preds(at(f, 6)).size() == 1);   // the unreachable block's edge does not count
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
