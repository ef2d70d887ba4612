// The region solver against its definition: the least sets with `sup` including `sub`.
#include <doctest/doctest.h>

#include <random>

#include "borrowck/regions.hpp"

using namespace ockc;
using namespace ockc::borrowck;

TEST_CASE("the solution is the least fixed point") {
    std::mt19937 random(11);
    for (int round = 0; round < 100; ++round) {
        constexpr std::uint32_t kRegions = 12, kPoints = 40;
        std::vector<Outlives> constraints;
        for (int i = 0; i < 14; ++i) {
            constraints.push_back(Outlives{RegionVid(random() % kRegions), RegionVid(random() % kRegions), Category::Boring, {}, {}});
        }
        Regions regions(kRegions, kPoints, constraints);
        std::vector<std::vector<bool>> naive(kRegions, std::vector<bool>(kPoints));
        for (std::uint32_t r = 0; r < kRegions; ++r) {
            IntervalSet live;
            const std::uint32_t begin = random() % kPoints, end = std::min<std::uint32_t>(kPoints, begin + random() % 6);
            live.insert(begin, end);
            regions.add_live(RegionVid(r), live);
            for (std::uint32_t p = begin; p < end; ++p) naive[r][p] = true;
        }
        regions.solve();
        for (bool changed = true; changed;) {
            changed = false;
            for (const Outlives& one : constraints) {
                for (std::uint32_t p = 0; p < kPoints; ++p) {
                    if (!naive[one.sub.raw][p] || naive[one.sup.raw][p]) continue;
                    naive[one.sup.raw][p] = true;
                    changed = true;
                }
            }
        }
        for (std::uint32_t r = 0; r < kRegions; ++r) {
            for (std::uint32_t p = 0; p < kPoints; ++p) CHECK(regions.contains(RegionVid(r), PointId(p)) == naive[r][p]);
        }
    }
}

TEST_CASE("what outlives a universal region contains its end, along a path of constraints") {
    const std::vector<Outlives> constraints{
        {RegionVid(2), RegionVid(3), Category::Assignment, {}, {}},
        {RegionVid(3), RegionVid(1), Category::Return, {}, {}},
    };
    Regions regions(4, 10, constraints);
    regions.make_universal(RegionVid(0));
    regions.make_universal(RegionVid(1));
    regions.solve();
    CHECK(regions.outlives_end_of(RegionVid(2), RegionVid(1)));
    CHECK(!regions.outlives_end_of(RegionVid(2), RegionVid(0)));
    const auto path = regions.find_path(RegionVid(2), [](RegionVid region) { return region == RegionVid(1); });
    REQUIRE(path.size() == 2);
    CHECK(regions.constraint(path[1]).category == Category::Return);
    CHECK(regions.find_path(RegionVid(1), [](RegionVid region) { return region == RegionVid(0); }).empty());
}
