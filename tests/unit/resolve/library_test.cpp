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

// The library's definitions that were lowered, by path.
std::set<std::string> lowered(const Resolved& r, std::initializer_list<hir::DefKind> kinds) {
    std::set<std::string> paths;
    for (std::uint32_t i = 0; i < r.program->defs.size(); ++i) {
        const hir::Def& def = r.program->defs[DefId(i)];
        const bool wanted = std::find(kinds.begin(), kinds.end(), def.kind) != kinds.end();
        if (wanted && def.lowered && r.program->crates[def.crate].is_library) paths.insert(r.program->path_text(DefId(i)));
    }
    return paths;
}
std::set<std::string> functions(const Resolved& r) { return lowered(r, {hir::DefKind::Fn, hir::DefKind::AssocFn}); }

// An item called `name` of the impls that were lowered.
DefId item_of_impls(const Resolved& r, std::string_view name) {
    for (const DefId impl : r.program->impls) {
        for (const DefId item : r.program->as<hir::ImplDef>(impl).items) {
            if (r.program->name(item) == name) return item;
        }
    }
    return {};
}

using hir::TypeHead;

}  // namespace

TEST_CASE("a small kernel names a small part of the library and lowers none of it") {
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
    CHECK(some->program->defs.size() * 8 < all->program->defs.size());
    CHECK(functions(*some).empty());
    CHECK(some->program->impls.empty());
    CHECK(some->def("core::option::Option").valid());
    CHECK_FALSE(some->def("core::iter::range::RangeInclusive").valid());
}

TEST_CASE("an item is lowered when it is asked for, its body apart, each once") {
    const auto r = on_demand("#[device] fn f() -> Option<u32> { None }");
    CHECK(r->all_messages() == "");
    const DefId option = r->def("core::option::Option");
    REQUIRE(option.valid());
    CHECK_FALSE(r->program->defs[option].lowered);
    r->resolver->inherent_impls(TypeHead::of(option), r->names.intern("unwrap_or"));
    const DefId callee = item_of_impls(*r, "unwrap_or");
    REQUIRE(callee.valid());
    CHECK_FALSE(r->program->defs[callee].lowered);
    r->resolver->item(callee);
    CHECK(r->program->defs[callee].lowered);
    CHECK(functions(*r).size() == 1);
    const auto body = [&] { return r->program->as<hir::FnDef>(callee).body; };
    CHECK(r->program->as<hir::FnDef>(callee).has_body);
    CHECK_FALSE(body().valid());
    r->resolver->body(callee);
    REQUIRE(body().valid());
    CHECK(r->program->bodies[body()]->params.size() == 2);
    const auto bodies = r->program->bodies.size();
    r->resolver->body(callee);
    CHECK(r->program->bodies.size() == bodies);
    r->resolver->item(DefId(option.raw + 1));   // a part of the enum
    CHECK(r->program->defs[option].lowered);
    CHECK(r->all_messages() == "");
}

TEST_CASE("of a trait come the impls that a type may have, once, with those for every type") {
    const auto r = on_demand("#[device] fn f<T: Default + Into<u64>>(a: core::cmp::Ordering) -> T { T::default() }");
    CHECK(r->all_messages() == "");
    r->resolver->take_new();
    const auto asked = [&](const char* trait, TypeHead head) {
        const DefId def = r->def(trait);
        REQUIRE(def.valid());
        r->resolver->impls(def, head);
        std::size_t impls = 0;
        for (const DefId made : r->resolver->take_new()) impls += r->program->defs[made].kind == hir::DefKind::Impl ? 1 : 0;
        return impls;
    };
    CHECK(asked("core::default::Default", TypeHead::of(hir::PrimTy::U8)) == 1);
    CHECK(asked("core::default::Default", TypeHead::of(hir::PrimTy::U8)) == 0);
    CHECK(asked("core::default::Default", TypeHead::of(hir::PrimTy::F32)) == 1);
    CHECK(asked("core::convert::Into", TypeHead{}) == 1);                              // the blanket impl
    CHECK(asked("core::convert::Into", TypeHead::of(hir::PrimTy::U8)) == 0);
    r->resolver->lang_item("eq");
    CHECK(asked("core::cmp::PartialEq", TypeHead::of(r->def("core::cmp::Ordering"))) == 1);   // a derived one
}

TEST_CASE("everything that the program names of the library is there in both ways of reading it") {
    for (const auto& entry : std::filesystem::directory_iterator(OCKC_SOURCE_DIR "/tests/golden/kernel")) {
        if (entry.path().extension() != ".rsk") continue;
        const auto text = read_file(entry.path().string(), 1 << 20);
        REQUIRE(text.ok());
        CAPTURE(entry.path().string());
        const auto some = on_demand(text.value()), all = resolve_text(text.value());
        REQUIRE(all->all_messages() == "");
        CHECK(some->all_messages() == "");
        CHECK(some->hir() == all->hir());
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
