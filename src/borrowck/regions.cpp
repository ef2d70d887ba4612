// Solving of outlives constraints: Tarjan's components without recursion, then unions in topological order.
#include "borrowck/regions.hpp"

namespace ockc::borrowck {

Regions::Regions(std::uint32_t region_count, std::uint32_t point_count, const std::vector<Outlives>& constraints)
    : region_count_(region_count), point_count_(point_count), constraints_(constraints), live_(region_count), universal_index_(region_count, 0) {
    index();
}

void Regions::add_live(RegionVid region, const IntervalSet& points) { live_[region.raw].unite(points); }

void Regions::make_universal(RegionVid region) {
    universal_index_[region.raw] = static_cast<std::uint32_t>(universal_.size());
    universal_.push_back(region);
    live_[region.raw].insert(0, point_count_);
    live_[region.raw].insert(end_of(region));
}

bool Regions::outlives_end_of(RegionVid longer, RegionVid shorter) const { return value(longer).contains(end_of(shorter)); }

void Regions::index() {
    begin_.assign(region_count_ + 1, 0);
    for (const Outlives& one : constraints_) ++begin_[one.sup.raw + 1];
    for (std::size_t i = 0; i < region_count_; ++i) begin_[i + 1] += begin_[i];
    std::vector<std::uint32_t> at(begin_.begin(), begin_.end() - 1);
    by_sup_.resize(constraints_.size());
    for (std::uint32_t i = 0; i < constraints_.size(); ++i) by_sup_[at[constraints_[i].sup.raw]++] = i;
}

void Regions::find_components() {
    constexpr std::uint32_t kUnseen = 0xFFFFFFFFu;
    std::vector<std::uint32_t> order(region_count_, kUnseen), low(region_count_);
    std::vector<std::uint8_t> on_stack(region_count_);
    std::vector<std::uint32_t> stack;
    std::uint32_t next = 0;
    scc_.assign(region_count_, kUnseen);
    members_.reserve(region_count_);
    struct Frame {
        std::uint32_t region, edge;
    };
    std::vector<Frame> frames;
    const auto enter = [&](std::uint32_t region) {
        order[region] = low[region] = next++;
        stack.push_back(region);
        on_stack[region] = 1;
        frames.push_back({region, 0});
    };
    for (std::uint32_t root = 0; root < region_count_; ++root) {
        if (order[root] != kUnseen) continue;
        enter(root);
        while (!frames.empty()) {
            const std::uint32_t region = frames.back().region;
            const auto edges = constraints_of(RegionVid(region));
            if (frames.back().edge < edges.size()) {
                const std::uint32_t to = constraint(edges[frames.back().edge++]).sub.raw;
                if (order[to] == kUnseen) {
                    enter(to);
                } else if (on_stack[to] != 0) {
                    low[region] = std::min(low[region], order[to]);
                }
                continue;
            }
            frames.pop_back();
            if (!frames.empty()) low[frames.back().region] = std::min(low[frames.back().region], low[region]);
            if (low[region] != order[region]) continue;
            for (std::uint32_t member = kUnseen; member != region;) {
                member = stack.back();
                stack.pop_back();
                on_stack[member] = 0;
                scc_[member] = scc_count_;
                members_.push_back(member);
            }
            ++scc_count_;
        }
    }
}

void Regions::solve() {
    find_components();
    values_.assign(scc_count_, IntervalSet());
    std::uint32_t last = 0xFFFFFFFFu;
    // Tarjan finishes a component after those that it leads to, so these are done already.
    for (const std::uint32_t region : members_) {
        const std::uint32_t scc = scc_[region];
        IntervalSet& value = values_[scc];
        value.unite(live_[region]);
        for (const std::uint32_t edge : constraints_of(RegionVid(region))) {
            const std::uint32_t from = scc_[constraint(edge).sub.raw];
            if (from == scc || from == last) continue;
            value.unite(values_[from]);
            last = from;
        }
        last = 0xFFFFFFFFu;
    }
    is_solved_ = true;
}

}  // namespace ockc::borrowck
