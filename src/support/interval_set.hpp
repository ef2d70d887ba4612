// A set of 32-bit numbers as sorted, disjoint, non-adjacent half-open intervals: compact for sets of program points, whose
// members come in runs.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

namespace ockc {

class IntervalSet {
  public:
    struct Interval {
        std::uint32_t begin, end;
        friend bool operator==(const Interval&, const Interval&) = default;
    };
    bool contains(std::uint32_t value) const {
        auto after = std::upper_bound(items_.begin(), items_.end(), value,
                                      [](std::uint32_t v, const Interval& i) { return v < i.begin; });
        return after != items_.begin() && value < std::prev(after)->end;
    }
    // The end of the members that follow each other from `value` on; `value` itself when it is none.
    std::uint32_t end_of_run(std::uint32_t value) const {
        auto after = std::upper_bound(items_.begin(), items_.end(), value,
                                      [](std::uint32_t v, const Interval& i) { return v < i.begin; });
        return after == items_.begin() ? value : std::max(value, std::prev(after)->end);
    }
    void insert(std::uint32_t value) { insert(value, value + 1); }
    void insert(std::uint32_t begin, std::uint32_t end) {
        if (begin >= end) return;
        auto first = std::lower_bound(items_.begin(), items_.end(), begin,
                                      [](const Interval& i, std::uint32_t v) { return i.end < v; });
        auto last = first;
        for (; last != items_.end() && last->begin <= end; ++last) {
            begin = std::min(begin, last->begin);
            end = std::max(end, last->end);
        }
        if (first == last) {
            items_.insert(first, Interval{begin, end});
        } else {
            *first = Interval{begin, end};
            items_.erase(first + 1, last);
        }
    }
    // Says whether the set changed. Linear in both.
    bool unite(const IntervalSet& other) {
        if (other.items_.empty()) return false;
        if (items_.empty()) {
            items_ = other.items_;
            return true;
        }
        std::vector<Interval> merged;
        merged.reserve(items_.size() + other.items_.size());
        auto a = items_.begin();
        auto b = other.items_.begin();
        while (a != items_.end() || b != other.items_.end()) {
            const bool take_a = b == other.items_.end() || (a != items_.end() && a->begin <= b->begin);
            const Interval next = take_a ? *a++ : *b++;
            if (!merged.empty() && next.begin <= merged.back().end) {
                merged.back().end = std::max(merged.back().end, next.end);
            } else {
                merged.push_back(next);
            }
        }
        if (merged == items_) return false;
        items_ = std::move(merged);
        return true;
    }
    bool empty() const { return items_.empty(); }
    const std::vector<Interval>& intervals() const { return items_; }
    template <class Fn>
    void for_each(Fn&& f) const {
        for (const Interval& one : items_) {
            for (std::uint32_t value = one.begin; value < one.end; ++value) f(value);
        }
    }

  private:
    std::vector<Interval> items_;
};

}  // namespace ockc
