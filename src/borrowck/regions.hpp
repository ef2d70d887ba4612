// The values of region variables: the points where each must be valid, and the ends of the universal regions that it
// outlives. Computed as the least solution of the outlives constraints over the liveness: strongly connected regions share
// one value, then one pass in topological order.
#pragma once
#include <vector>

#include "borrowck/facts.hpp"

namespace ockc::borrowck {

class Regions {
  public:
    Regions(std::uint32_t region_count, std::uint32_t point_count, const std::vector<Outlives>& constraints);
    void add_live(RegionVid region, const IntervalSet& points);
    // Everywhere, and at its own end.
    void make_universal(RegionVid region);
    void solve();
    bool is_solved() const { return is_solved_; }

    bool contains(RegionVid region, PointId point) const { return value(region).contains(point.raw); }
    const IntervalSet& value(RegionVid region) const { return values_[scc_[region.raw]]; }
    // Does `longer` contain the end of the universal region `shorter`.
    bool outlives_end_of(RegionVid longer, RegionVid shorter) const;
    const std::vector<RegionVid>& universal() const { return universal_; }
    bool is_live_at(RegionVid region, PointId point) const { return live_[region.raw].contains(point.raw); }
    // The constraints that say `region: something`.
    std::span<const std::uint32_t> constraints_of(RegionVid region) const {
        return {by_sup_.data() + begin_[region.raw], begin_[region.raw + 1] - begin_[region.raw]};
    }
    const Outlives& constraint(std::uint32_t index) const { return constraints_[index]; }
    // The constraints on a shortest chain from `from` to a region for which `is_target` holds; empty: there is none.
    template <class Target>
    std::vector<std::uint32_t> find_path(RegionVid from, Target&& is_target) const;

  private:
    void index();
    void find_components();
    std::uint32_t end_of(RegionVid universal) const { return point_count_ + universal_index_[universal.raw]; }

    std::uint32_t region_count_, point_count_;
    const std::vector<Outlives>& constraints_;
    std::vector<IntervalSet> live_, values_;
    std::vector<RegionVid> universal_;
    std::vector<std::uint32_t> universal_index_;
    std::vector<std::uint32_t> by_sup_, begin_;   // constraint indices grouped by sup
    // The component of each region; components come in topological order, subs first. Their members stand in that order.
    std::vector<std::uint32_t> scc_, members_;
    std::uint32_t scc_count_ = 0;
    bool is_solved_ = false;
};

template <class Target>
std::vector<std::uint32_t> Regions::find_path(RegionVid from, Target&& is_target) const {
    constexpr std::uint32_t kUnseen = 0xFFFFFFFFu, kStart = 0xFFFFFFFEu;
    std::vector<std::uint32_t> reached_by(region_count_, kUnseen);
    std::vector<RegionVid> queue{from};
    reached_by[from.raw] = kStart;
    for (std::size_t head = 0; head < queue.size(); ++head) {
        const RegionVid at = queue[head];
        if (at != from && is_target(at)) {
            std::vector<std::uint32_t> path;
            for (RegionVid back = at; reached_by[back.raw] != kStart; back = constraint(path.back()).sup) {
                path.push_back(reached_by[back.raw]);
            }
            return {path.rbegin(), path.rend()};
        }
        for (const std::uint32_t index : constraints_of(at)) {
            const RegionVid next = constraint(index).sub;
            if (reached_by[next.raw] != kUnseen) continue;
            reached_by[next.raw] = index;
            queue.push_back(next);
        }
    }
    return {};
}

}  // namespace ockc::borrowck
