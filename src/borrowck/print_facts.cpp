// A body's text with what the borrow checker found: regions of local types and of borrows, loans, and where each is in scope.
#include "borrowck/print_facts.hpp"

#include <fmt/format.h>

#include "mir/print.hpp"
#include "types/fold.hpp"

namespace ockc::borrowck {

namespace {

std::string region_name(const BodyCx& cx, RegionVid region) {
    const std::string_view name = cx.regions.info(region).name;
    return name.empty() ? fmt::format("'{}", region.raw) : std::string(name);
}

// Region variables become lifetimes with names, for the printer of types.
class NamedRegions final : public types::Folder {
  public:
    explicit NamedRegions(BodyCx& cx) : Folder(cx.types, types::kHasRegion), cx_(cx) {}

  protected:
    types::RegionId region_of(types::RegionId region) override {
        const types::RegionData data = types_[region];
        if (data.kind != types::RegionKind::Var) return region;
        const Symbol name = cx_.context.program().interner.intern(region_name(cx_, RegionVid(data.index)));
        return types_.region({types::RegionKind::LateParam, DefId(), data.index, name});
    }

  private:
    BodyCx& cx_;
};

// Points of one block that follow each other: `bb1[0..=3]`.
std::string points_text(const BodyCx& cx, const IntervalSet& points) {
    std::string text;
    for (const IntervalSet::Interval& run : points.intervals()) {
        for (std::uint32_t begin = run.begin; begin < std::min(run.end, cx.points.count());) {
            const Location first = cx.points.location(PointId(begin));
            const std::uint32_t last = static_cast<std::uint32_t>(cx.body.blocks[first.block].statements.size());
            const std::uint32_t end = std::min(run.end, begin + (last - first.statement) + 1);
            const std::uint32_t to = first.statement + (end - begin) - 1;
            text += text.empty() ? "" : ", ";
            text += to == first.statement ? fmt::format("bb{}[{}]", first.block.raw, to)
                                          : fmt::format("bb{}[{}..={}]", first.block.raw, first.statement, to);
            begin = end;
        }
    }
    return text.empty() ? "nowhere" : text;
}

}  // namespace

std::string print_facts(BodyCx& cx, const LoanScopes& scopes) {
    mir::Notes notes;
    std::vector<std::string> live(cx.points.count()), issued(cx.points.count());
    for (std::uint32_t i = 0; i < cx.loans.size(); ++i) {
        const Loan& loan = cx.loans[LoanId(i)];
        const std::string region = region_name(cx, loan.region);
        issued[cx.points.of(loan.at).raw] += fmt::format("{}issues L{}", issued[cx.points.of(loan.at).raw].empty() ? "" : ", ", i);
        scopes.scope(LoanId(i)).for_each([&](std::uint32_t point) { live[point] += fmt::format("{}L{}", live[point].empty() ? "live: " : ", ", i); });
        notes.table.push_back(fmt::format("L{}: {} of {}, live at {}", i, region, mir::place_text(cx.body, cx.context, loan.place),
                                          points_text(cx, scopes.scope(LoanId(i)))));
    }
    // A closure's type does not show the regions of its captures.
    for (std::uint32_t i = 0; i < cx.body.locals.size(); ++i) {
        const TypeId type = cx.local_types[LocalId(i)];
        std::string held;
        if (!cx.types.has(type, types::kHasClosure)) continue;
        for (const RegionVid region : cx.regions.regions_of(type)) held += (held.empty() ? "" : ", ") + region_name(cx, region);
        if (!held.empty()) notes.table.push_back(fmt::format("_{} holds {}", i, held));
    }
    std::set<std::pair<RegionVid, RegionVid>> told;
    for (const Outlives& one : cx.regions.constraints()) {
        if (!cx.is_universal(one.sub) || one.sup == one.sub || !told.emplace(one.sup, one.sub).second) continue;
        notes.table.push_back(fmt::format("{}: {}", region_name(cx, one.sup), region_name(cx, one.sub)));
    }
    notes.local_type = [&](LocalId local) { return cx.text(NamedRegions(cx).fold(cx.local_types[local])); };
    notes.borrow_region = [&](Location at) {
        const auto found = cx.borrow_regions.find(cx.points.of(at).raw);
        return found == cx.borrow_regions.end() ? std::string() : region_name(cx, found->second);
    };
    notes.comment = [&](Location at) {
        const std::uint32_t point = cx.points.of(at).raw;
        return issued[point] + (issued[point].empty() || live[point].empty() ? "" : "; ") + live[point];
    };
    return mir::print(cx.body, cx.context, notes);
}

}  // namespace ockc::borrowck
