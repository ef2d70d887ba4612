// The library read on demand gives what the whole library gives, and little more than the program reaches.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "fixture.hpp"
#include "support/file_io.hpp"

namespace ockc::test {

namespace {

std::unique_ptr<Resolved> on_demand(std::string_view text) {
    Setup setup;
    setup.on_demand = true;
    return resolve_text(text, setup);
}

// The functions that were lowered, by path.
std::set<std::string> functions(const Resolved& r) {
    std::set<std::string> paths;
    for (std::uint32_t i = 0; i < r.program->defs.size(); ++i) {
        const hir::Def& def = r.program->defs[DefId(i)];
        const bool fn = def.kind == hir::DefKind::Fn || def.kind == hir::DefKind::AssocFn;
        if (fn && def.lowered) paths.insert(r.program->path_text(DefId(i)));
    }
    return paths;
}

// On demand may lower fewer: an inherent impl of which no item is mentioned is not read, so nothing follows from its head.
bool within(const std::set<std::string>& some, const std::set<std::string>& all) {
    return std::includes(all.begin(), all.end(), some.begin(), some.end());
}

}  // namespace

TEST_CASE("a small kernel reads a small part of the library") {
    const std::string_view kernel = R"(
        use cuda_device::{DisjointSlice, kernel, thread};
        #[kernel]
        fn vecadd(a: &[f32], b: &[f32], mut c: DisjointSlice<f32>) {
            let i = thread::index_1d();
            let at = i.get();
            if let Some(out) = c.get_mut(i) { *out = a[at] + b[at]; }
        })";
    const auto some = on_demand(kernel), all = resolve_text(kernel);
    CHECK(some->all_messages() == "");
    CHECK(some->program->defs.size() * 2 < all->program->defs.size());
    CHECK(within(functions(*some), functions(*all)));
    CHECK(some->def("core::option::Option").valid());
    CHECK_FALSE(some->def("core::iter::range::RangeInclusive").valid());
}

TEST_CASE("bodies of the library come when they are asked for, once, with what they reach") {
    Setup setup;
    setup.on_demand = setup.late_bodies = true;
    const auto r = resolve_text("#[device] fn f(a: Option<u32>) -> u32 { a.unwrap_or(1) }", setup);
    CHECK(r->all_messages() == "");
    const auto body_of = [&](DefId fn) { return r->program->as<hir::FnDef>(fn).body; };
    CHECK(body_of(r->def("f")).valid());
    DefId callee;
    for (std::uint32_t i = 0; i < r->program->defs.size(); ++i) {
        const hir::Def& def = r->program->defs[DefId(i)];
        if (def.kind == hir::DefKind::AssocFn && def.lowered && r->program->name(DefId(i)) == "unwrap_or") callee = DefId(i);
    }
    REQUIRE(callee.valid());
    CHECK(r->program->as<hir::FnDef>(callee).has_body);
    CHECK_FALSE(body_of(callee).valid());
    const auto before = functions(*r);
    r->resolver->lower_body(callee);
    CHECK(body_of(callee).valid());
    CHECK(r->program->bodies[body_of(callee)]->params.size() == 2);
    CHECK(within(before, functions(*r)));
    const auto bodies = r->program->bodies.size();
    CHECK(r->resolver->lower_body(callee).empty());
    CHECK(r->program->bodies.size() == bodies);
    CHECK(r->all_messages() == "");
}

TEST_CASE("every golden of kernels resolves on demand, within what the whole library gives") {
    for (const auto& entry : std::filesystem::directory_iterator(OCKC_SOURCE_DIR "/tests/golden/kernel")) {
        if (entry.path().extension() != ".rsk") continue;
        const auto text = read_file(entry.path().string(), 1 << 20);
        REQUIRE(text.ok());
        CAPTURE(entry.path().string());
        const auto some = on_demand(text.value()), all = resolve_text(text.value());
        REQUIRE(all->all_messages() == "");
        CHECK(some->all_messages() == "");
        CHECK(within(functions(*some), functions(*all)));
        CHECK(some->program->impls.size() <= all->program->impls.size());
    }
}

TEST_CASE("names come through globs, preludes and macros when they are asked for") {
    CHECK(on_demand("use core::cmp::*; #[device] fn f(a: i32) -> Ordering { a.cmp(&1) }")->all_messages() == "");
    CHECK(on_demand("use core::*; #[device] fn f(a: option::Option<u8>) -> bool { a.is_some() }")->all_messages() == "");
    CHECK(on_demand("#[device] fn f() -> u64 { u64::MAX }")->all_messages() == "");
    CHECK(on_demand("#[device] fn f<T: Default + PartialOrd>(a: T) -> bool { a > T::default() } #[device] fn g() -> bool { f(1u8) }")->all_messages() == "");
    CHECK(on_demand("use core::nothing; #[device] fn f() { nothing(); }")->sink.has_errors());
}

}  // namespace ockc::test
