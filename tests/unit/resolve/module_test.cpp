// Module files, cfg, editions and attributes of items.
#include <doctest/doctest.h>

#include "fixture.hpp"

namespace ockc::test {

TEST_CASE("mod x; finds its file beside the source, in folders, and by path") {
    Setup setup;
    setup.files["helpers.rsk"] = "pub mod deep;\npub fn one() -> u32 { deep::two() }\n";
    setup.files["helpers/deep.rs"] = "pub fn two() -> u32 { super::super::k::three() }\n";
    setup.files["folder/mod.rsk"] = "pub mod sibling;\n";
    setup.files["folder/sibling.rsk"] = "pub fn four() {}\n";
    setup.files["odd/name.rsk"] = "pub fn five() {}\n";
    const auto r = resolve_text(R"(
mod helpers;
mod folder;
#[path = "odd/name.rsk"]
mod renamed;
#[cuda_module]
mod k {
    pub fn three() -> u32 { 3 }
    fn all() {
        crate::helpers::one();
        crate::folder::sibling::four();
        super::renamed::five();
    }
}
)", setup);
    CHECK(r->all_messages() == "");
    CHECK(r->lowered("helpers::deep::two"));
    CHECK(r->lowered("folder::sibling::four"));
}

TEST_CASE("a missing module file and a cycle are errors") {
    CHECK(resolve_text("mod gone;\n#[kernel]\nfn k() {}\n")->all_messages() == "1: E0583 file not found for module `gone`\n");
    Setup setup;
    setup.files["a.rsk"] = "#[path = \"main.rsk\"]\nmod back;\n";
    CHECK(resolve_text("mod a;\n#[kernel]\nfn k() {}\n", setup)->all_messages() ==
          "a.rsk:2: error circular modules: main.rsk -> a.rsk -> main.rsk\n");
}

TEST_CASE("errors in a module file carry its name") {
    Setup setup;
    setup.files["helpers.rsk"] = "pub fn one() -> u32 {\n    missing\n}\n";
    CHECK(resolve_text("mod helpers;\n#[kernel]\nfn k() { helpers::one(); }\n", setup)->all_messages() ==
          "helpers.rsk:2: E0425 cannot find value `missing` in this scope\n");
}

TEST_CASE("cfg removes items, statements, fields, arms, parameters and elements") {
    Setup setup;
    setup.cfg = {{"fast", "", false}, {"level", "2", true}};
    const auto r = resolve_text(R"(
#[cuda_module]
mod k {
    #[cfg(fast)]
    fn a() {}
    #[cfg(not(fast))]
    fn a() {}
    #[cfg(level = "2")]
    struct S { x: u32, #[cfg(slow)] y: Missing }
    #[cfg_attr(fast, cfg(slow))]
    fn b() { missing(); }
    #[cfg(any(slow, level = "3"))]
    mod gone { fn c() { missing(); } }
    fn d(#[cfg(slow)] p: Missing, q: u32) -> u32 {
        #[cfg(slow)]
        missing();
        #[cfg(slow)]
        let z = missing;
        let s = S { x: 1, #[cfg(slow)] y: 2 };
        let t = [1, #[cfg(slow)] missing];
        match q {
            #[cfg(slow)]
            missing::X => 1,
            _ => 2,
        }
    }
    #[test]
    fn not_here() { missing(); }
    #[cfg(test)]
    mod tests { fn e() { missing(); } }
}
)", setup);
    CHECK(r->all_messages() == "");
    CHECK_FALSE(r->def("k::gone").valid());
    CHECK(r->program->as<hir::AdtDef>(r->def("k::S")).variants[0].fields.size() == 1);
    CHECK(r->program->as<hir::FnDef>(r->def("k::d")).sig.inputs.size() == 1);
}

TEST_CASE("attributes: unknown, misplaced, repeated") {
    const auto r = resolve_text(R"(
#[cuda_module]
mod k {
    #[kernal]
    fn a() {}
    #[kernel]
    struct S;
    #[kernel]
    #[kernel]
    fn b() {}
    #[rustfmt::skip]
    #[clippy::anything]
    #[inline(always)]
    #[must_use]
    #[allow(unused)]
    fn c() {
        #[unroll]
        for i in 0..3 {}
        #[unroll(1)]
        while false {}
        #[unrol]
        loop {}
    }
    #[derive(Clon)]
    struct D;
    #[repr(C, align(16))]
    struct R { x: u32 }
    #[repr(D)]
    struct Q;
    #[cuda_device::device]
    fn e() {}
}
)");
    CHECK(r->all_messages() ==
          "4: error cannot find attribute `kernal` in this scope\n"
          "6: OCK0112 `#[kernel]` cannot stand on a struct\n"
          "9: OCK0114 `#[kernel]` is given twice\n"
          "19: OCK0110 an unroll factor is between 2 and 1024\n"
          "21: error cannot find attribute `unrol` in this scope\n"
          "24: error cannot find derive macro `Clon` in this scope\n"
          "28: E0552 unrecognized representation hint `D`\n");
    const auto& repr = r->program->as<hir::AdtDef>(r->def("k::R")).repr;
    CHECK(repr.c);
    CHECK(repr.align == 16);
}

TEST_CASE("documentation comments stay with their item") {
    const auto r = resolve_text("/// Adds.\n/// Twice.\n#[kernel]\nfn k() {}\n");
    CHECK(r->program->defs[r->def("k")].doc == "Adds.\nTwice.");
}

TEST_CASE("the import help names the line to write") {
    const auto r = resolve_text("#[kernel]\nfn k() {\n    thread::index_1d();\n}\n");
    REQUIRE(r->sink.all().size() == 1);
    const Diagnostic& d = r->sink.all()[0];
    CHECK(d.message == "cannot find module or crate `thread` in this scope");
    REQUIRE(d.suggestions.size() == 1);
    CHECK(d.suggestions[0].text == "consider importing this module");
    CHECK(d.suggestions[0].replacement == "use cuda_device::thread;\n");
}

TEST_CASE("traits in scope are those a module sees") {
    const auto r = resolve_text(R"(
mod a { pub trait Seen { fn s(&self) {} } pub trait Unseen { fn u(&self) {} } pub trait Quiet { fn q(&self) {} } }
#[cuda_module]
mod k {
    use super::a::Seen;
    use super::a::Quiet as _;
    fn f(x: u32) {
        trait Local { fn l(&self) {} }
        x.s();
        x.u();
    }
}
)");
    CHECK(r->all_messages() == "");
    const auto& fn = r->program->as<hir::FnDef>(r->def("k::f"));
    std::string names = " ";
    for (const DefId trait : r->program->bodies[fn.body]->traits_in_scope) names += std::string(r->program->name(trait)) + " ";
    for (const char* seen : {" Seen ", " Quiet ", " Local ", " Clone ", " Iterator "}) CHECK_MESSAGE(names.find(seen) != std::string::npos, seen);
    CHECK(names.find(" Unseen ") == std::string::npos);
}

}  // namespace ockc::test
