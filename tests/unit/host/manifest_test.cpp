#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "fixture.hpp"
#include "host/host.hpp"
#include "host/sha256.hpp"

using nlohmann::json;
using ockc::host::emit_manifest;
using ockc::host::Image;

TEST_CASE("vecadd's manifest is what a launcher in another language needs") {
    const Image images[] = {{"sm_80", fixture::vecadd_ptx(), "vecadd.ptx"}};
    const std::string text = emit_manifest(fixture::vecadd_module(), images);
    CHECK(text == emit_manifest(fixture::vecadd_module(), images));
    const json manifest = json::parse(text);
    CHECK(manifest["manifest_version"] == 1);
    CHECK(manifest["source"] == "vecadd.rsk");
    REQUIRE(manifest["images"].size() == 1);
    CHECK(manifest["images"][0]["target"] == "sm_80");
    CHECK(manifest["images"][0]["file"] == "vecadd.ptx");
    CHECK(manifest["images"][0]["bytes"] == std::string_view(fixture::vecadd_ptx()).size());
    CHECK(manifest["images"][0]["sha256"] == ockc::host::sha256_hex(fixture::vecadd_ptx()));
    REQUIRE(manifest["kernels"].size() == 1);
    const json& kernel = manifest["kernels"][0];
    CHECK(kernel["symbol"] == "vecadd");
    CHECK(kernel["module"] == "kernels");
    CHECK(kernel["launch"]["domain"] == 1);
    CHECK(kernel["launch"]["block"] == json({256, 1, 1}));
    CHECK(kernel["launch"]["dynamic_shared"] == json({0, 0}));
    CHECK(kernel["launch"]["cluster"].empty());
    REQUIRE(kernel["params"].size() == 3);
    CHECK(kernel["params"][2]["kind"] == "disjoint_slice");
    CHECK(kernel["params"][2]["writable"] == true);
    CHECK(kernel["params"][2]["first_slot"] == 4);
    CHECK(kernel["params"][2]["type"]["name"] == "f32");
    REQUIRE(kernel["slots"].size() == 6);
    CHECK(kernel["slots"][5]["name"] == "c_len");
    CHECK(kernel["slots"][5]["offset"] == 40);
    CHECK(kernel["slots"][5]["type"] == "u64");
}

TEST_CASE("structs, offsets, relations and constants") {
    const Image images[] = {{"sm_80", "x", ""}, {"sm_90a", "y", ""}};
    const json manifest = json::parse(emit_manifest(fixture::zoo_module(), images));
    CHECK(manifest["images"].size() == 2);
    CHECK(manifest["structs"][0]["fields"][2]["type"]["kind"] == "array");
    CHECK(manifest["structs"][0]["fields"][2]["type"]["length"] == 3);
    CHECK(manifest["structs"][1]["fields"][1]["type"]["struct"] == 0);
    CHECK(manifest["constants"][0]["name"] == "WEIGHTS");
    const auto kernel = [&](const std::string& name) {
        for (const json& one : manifest["kernels"]) {
            if (one["name"] == name) return one;
        }
        return json();
    };
    const json scale = kernel("scale");
    CHECK(scale["doc"] == "Ends with a backslash \\\n\nand has \"quotes\".");
    CHECK(scale["slots"][1]["offset"] == 8);  // after a 4-byte scalar
    const json& relation = scale["launch"]["requires"][0];
    CHECK(relation["text"] == "x.len() >= out.len() * 2");
    CHECK(relation["lhs"] == json({{"kind", "len"}, {"param", 1}}));
    CHECK(relation["relation"] == ">=");
    CHECK(relation["rhs"]["kind"] == "*");
    CHECK(relation["rhs"]["operands"][1]["value"] == 2);
    const json move_particle = kernel("move_particle");
    CHECK(move_particle["slots"][2]["type"] == "bytes");
    CHECK(move_particle["slots"][2]["size"] == 64);
    CHECK(move_particle["params"][5]["kind"] == "zero_sized");
    CHECK(move_particle["params"][5]["slot_count"] == 0);
    CHECK(kernel("delete")["unsafe"] == true);
    CHECK(kernel("with_shared")["launch"]["dynamic_shared"] == json({1024, 65536}));
    CHECK(kernel("with_shared")["launch"]["min_compute_capability"] == json({8, 0}));
    CHECK(kernel("image")["params"][0]["row_width"] == true);
    CHECK(kernel("loose")["launch"]["contract"] == false);
}
