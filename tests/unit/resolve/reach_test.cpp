// What is lowered and what is left alone.
#include <doctest/doctest.h>

#include <algorithm>

#include "fixture.hpp"

namespace ockc::test {

TEST_CASE("a complete host and device program is a valid input") {
    const auto r = resolve_text(R"(
use cuda_core::{CudaContext, DeviceBuffer};
use cuda_device::{kernel, launch_bounds, thread, DisjointSlice};
use cuda_host::cuda_module;
use std::collections::HashMap;
use tokio::prelude::*;

#[cuda_module]
mod kernels {
    use super::*;

    #[kernel]
    #[launch_bounds(256)]
    pub fn scale(a: &[f32], mut c: DisjointSlice<f32>) {
        let i = thread::index_1d();
        let raw = i.get();
        if let Some(out) = c.get_mut(i) {
            *out = helper(a[raw]);
        }
    }
}

fn helper(x: f32) -> f32 {
    x * Params::SCALE
}
struct Params;
impl Params {
    const SCALE: f32 = 2.0;
    fn host_only(v: Vec<f32>) -> Box<dyn std::error::Error> {
        unknown_function(v)
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let map: HashMap<u32, u32> = HashMap::new();
    println!("{}", undefined_name);
    unknown_macro!(a b c);
    Ok(())
}
#[derive(serde::Serialize)]
struct HostOnly {
    v: Vec<UnknownType>,
}
#[test]
fn test_it() {
    nothing();
}
)");
    CHECK(r->all_messages() == "");
    CHECK(r->lowered("kernels::scale"));
    CHECK(r->lowered("helper"));
    CHECK(r->lowered("Params"));
    CHECK_FALSE(r->lowered("main"));
    CHECK_FALSE(r->lowered("HostOnly"));
    CHECK(r->program->kernels.size() == 1);
}

TEST_CASE("device roots stand in source order") {
    const auto r = resolve_text(R"(
#[device]
fn first() {}
#[cuda_module]
mod k {
    fn second() {}
    struct Third;
    impl Third {}
    mod inner {
        const FOURTH: u32 = 1;
    }
}
#[kernel]
fn fifth() {}
)");
    CHECK(r->all_messages() == "");
    std::string names;
    for (const DefId def : r->program->device_roots) {
        if (r->program->defs[def].name.name.valid()) names += std::string(r->program->name(def)) + " ";
    }
    CHECK(names == "first second Third FOURTH inner fifth ");
}

TEST_CASE("the library's bodies are lowered only where a name reaches them") {
    const auto r = resolve_text(R"(
#[kernel]
fn k(a: Option<u32>) -> u32 {
    a.unwrap()
}
)");
    CHECK(r->all_messages() == "");
    CHECK(r->lowered("core::option::Option"));
    // A function of an impl in a module or below it; one that was never read is not lowered either.
    const auto assoc = [&](std::string_view name, std::string_view owner) {
        for (std::uint32_t i = 0; i < r->program->defs.size(); ++i) {
            const hir::Def& d = r->program->defs[DefId(i)];
            if (d.kind != hir::DefKind::AssocFn || r->program->name(DefId(i)) != name) continue;
            const hir::Def& impl = r->program->defs[d.parent];
            if (impl.kind == hir::DefKind::Impl && r->program->path_text(impl.parent).starts_with(owner)) return d.lowered;
        }
        return false;
    };
    CHECK(assoc("unwrap", "core::option"));
    CHECK_FALSE(assoc("take", "core::option"));
    CHECK_FALSE(r->lowered("core::mem::swap"));
    CHECK_FALSE(r->lowered("core::iter::Iterator"));
}

TEST_CASE("operators and loops reach the traits behind them") {
    const auto r = resolve_text(R"(
#[device]
fn f(n: u32) {
    let mut sum = 0;
    for i in 0..n {
        sum += i;
    }
}
)");
    CHECK(r->all_messages() == "");
    const hir::Program& p = *r->program;
    for (const char* key : {"next", "into_iter", "Range", "Some", "None", "add_assign", "copy", "drop"}) {
        const DefId item = p.lang_item(key);
        CHECK_MESSAGE(item.valid(), key);
        if (item.valid()) CHECK_MESSAGE(p.defs[item].lowered, key);
    }
    CHECK_FALSE(p.defs[p.lang_item("rem_assign")].lowered);
    // Range<u32> has an impl of Iterator in play.
    bool found = false;
    for (const DefId impl : p.impls) {
        const auto& data = p.as<hir::ImplDef>(impl);
        found = found || (data.has_trait && data.trait_path.res.def == p.defs[p.lang_item("next")].parent);
    }
    CHECK(found);
}

TEST_CASE("host items in device code are refused by name") {
    const auto r = resolve_text(R"(
use cuda_core::DeviceBuffer;
use std::sync::Arc;
#[cuda_module]
mod k {
    use super::*;
    fn f(b: DeviceBuffer) {}
    fn g(a: Arc<u32>) {}
    fn h() {
        let v: Vec<u32> = Vec::new();
        let s = format!("{}", 1);
        println!("x");
        std::thread::spawn(1);
        let d: &dyn Copy = &1;
    }
    async fn i() {}
}
)");
    CHECK(r->all_messages() ==
          "7: OCK0908 `cuda_core::DeviceBuffer` is an item of a host crate, which device code cannot use\n"
          "8: OCK0902 heap allocation is not supported in device code\n"
          "10: OCK0902 heap allocation is not supported in device code\n"
          "10: OCK0902 heap allocation is not supported in device code\n"
          "11: OCK0903 text formatting is not supported in device code\n"
          "12: OCK0903 `println!` is not supported in device code\n"
          "13: OCK0906 operating-system threads are not supported in device code\n"
          "14: OCK0901 `dyn` trait objects are not supported in device code\n"
          "16: OCK0904 `async` functions are not supported in device code\n");
}

TEST_CASE("an input without device code says so") {
    CHECK(resolve_text("fn main() {}\n")->all_messages() == "1: OCK0101 no device code in `main.rsk`\n");
    CHECK(resolve_text("#[cuda_module]\nmod k {}\n")->all_messages() == "");
    CHECK(resolve_text("#[kernal]\nfn f() {}\n")->all_messages() == "1: error cannot find attribute `kernal` in this scope\n");
}

TEST_CASE("a glob of the parent brings what the parent imports") {
    const auto r = resolve_text(R"(
use cuda_device::thread;
use cuda_device::missing_thing;
#[cuda_module]
mod k {
    use super::*;
    fn f() {
        thread::sync_threads();
    }
    fn g() {
        missing_thing();
    }
}
)");
    CHECK(r->all_messages() == "3: E0432 unresolved import `cuda_device::missing_thing`\n");
}

}  // namespace ockc::test
