// Launch attributes as facts, and what is wrong with them.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include "fixture.hpp"

namespace ockc::test {

namespace {

std::unique_ptr<Resolved> kernel(std::string_view attributes) {
    return resolve_text(fmt::format("#[kernel]\n{}\nfn k(a: &[f32], n: usize, out: &[f32]) {{}}\n", attributes));
}
std::string errors(std::string_view attributes) { return kernel(attributes)->all_messages(); }

}  // namespace

TEST_CASE("a full contract") {
    const auto r = kernel(
        "#[launch_bounds(256, 2)] #[launch_contract(domain = 2, coordinates = u32, block = (16, 16), dynamic_shared_range = (0, 1024), "
        "dynamic_shared_alignment = 32, min_compute_capability = (8, 0), requires = (a.len() >= n * 2, out.row_width() + 1 == n))] #[cluster_launch(2, 2)] #[cooperative_launch]");
    CHECK(r->all_messages() == "");
    const hir::LaunchSpec& spec = *r->program->launches.at(r->def("k"));
    CHECK(spec.max_threads->value == 256);
    CHECK(spec.min_blocks->value == 2);
    CHECK(spec.domain.value == 2);
    CHECK(spec.coordinates_u32);
    CHECK(spec.block->value == hir::LaunchDims{16, 16, 1});
    CHECK(spec.dynamic_shared_range->value[1] == 1024);
    CHECK(spec.dynamic_shared_alignment->value == 32);
    CHECK(spec.min_compute_capability->value[0] == 8);
    CHECK(spec.cluster->value == hir::LaunchDims{2, 2, 1});
    CHECK(spec.cooperative);
    REQUIRE(spec.requirements.size() == 2);
    CHECK(spec.requirements[0].text == "a.len() >= n * 2");
    CHECK(spec.requirements[0].lhs->kind == hir::LaunchExpr::Kind::Len);
    CHECK(spec.requirements[0].rhs->kind == hir::LaunchExpr::Kind::Mul);
    CHECK(spec.requirements[0].rhs->lhs->param == 1);
    CHECK(spec.requirements[1].lhs->lhs->kind == hir::LaunchExpr::Kind::RowWidth);
    CHECK(spec.requirements[1].relation == hir::LaunchRelation::Eq);
}

TEST_CASE("malformed launch attributes") {
    CHECK(errors("#[launch_bounds]") == "2: OCK0110 `#[launch_bounds]` takes the most threads a block may have and, if wanted, the fewest blocks of a multiprocessor\n");
    CHECK(errors("#[launch_bounds(0)]") == "2: OCK0111 `launch_bounds` allows no thread\n");
    CHECK(errors("#[launch_bounds(\"x\")]") == "2: OCK0110 the number of threads is an integer literal or a constant that is computed from literals\n");
    CHECK(errors("#[launch_contract(domain = 1, blok = (1, 1, 1))]").starts_with("2: OCK0110 `launch_contract` has no field `blok`\n"));
    CHECK(errors("#[launch_contract(domain = 4, block = (1, 1, 1))]") == "2: OCK0111 the domain is 1, 2 or 3\n");
    CHECK(errors("#[launch_contract(block = (1, 1, 1))]") == "2: OCK0110 a launch contract names its domain\n");
    CHECK(errors("#[launch_contract(domain = 1)]") == "2: OCK0111 a launch contract says how large a block is\n");
    CHECK(errors("#[launch_contract(domain = 1, block = (4, 2, 1))]") == "2: OCK0111 the block has a dimension beyond the domain\n");
    CHECK(errors("#[launch_contract(domain = 1, block = (0, 1, 1))]") == "2: OCK0111 a dimension of a block is zero\n");
    CHECK(errors("#[launch_contract(domain = 1, block = (2048, 1, 1))]") == "2: OCK0111 a block has at most 1024 threads, and at most 64 along z\n");
    CHECK(errors("#[launch_bounds(64)] #[launch_contract(domain = 1, block = (128, 1, 1))]") == "2: OCK0111 the block has 128 threads, more than `launch_bounds` allows\n");
    CHECK(errors("#[launch_contract(domain = 1, block = (32, 1, 1), dynamic_shared = 4, dynamic_shared_range = (1, 2))]") ==
          "2: OCK0111 `dynamic_shared` and `dynamic_shared_range` exclude each other\n");
    CHECK(errors("#[launch_contract(domain = 1, block = (32, 1, 1), dynamic_shared_alignment = 3)]") == "2: OCK0111 `dynamic_shared_alignment` is not a power of two\n");
    CHECK(errors("#[launch_contract(domain = 1, block = (32, 1, 1), block = (32, 1, 1))]") == "2: OCK0110 `block` is given twice\n");
    CHECK(errors("#[launch_contract(domain = 1, block = (32, 1, 1), requires = (m > 1))]") == "2: OCK0113 the kernel has no parameter `m`\n");
    CHECK(errors("#[launch_contract(domain = 1, block = (32, 1, 1), requires = (n / 2 > 1))]").starts_with("2: OCK0113 "));
    CHECK(errors("#[launch_contract(domain = 1, block = (32, 1, 1), requires = (n + 1))]") == "2: OCK0113 each `requires` entry is one comparison\n");
}

TEST_CASE("launch attributes belong to kernels") {
    CHECK(resolve_text("#[device]\n#[launch_bounds(32)]\nfn f() {}\n")->all_messages() == "2: OCK0112 `#[launch_bounds]` stands on a function that is no kernel\n");
    CHECK(resolve_text("#[kernel(fast)]\nfn f() {}\n")->all_messages() == "1: OCK0110 `#[kernel]` has no argument `fast`\n");
}

}  // namespace ockc::test
