// Damerau-Levenshtein distance (optimal string alignment form), as rustc uses for its spelling suggestions.
#include <algorithm>
#include <vector>

#include "support/enum_table.hpp"

namespace ockc {

namespace {

std::size_t edit_distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> before(b.size() + 1), last(b.size() + 1), now(b.size() + 1);
    for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
    for (std::size_t i = 1; i <= a.size(); ++i) {
        now[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t change = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
            now[j] = std::min({last[j] + 1, now[j - 1] + 1, change});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) now[j] = std::min(now[j], before[j - 2] + 1);
        }
        std::swap(before, last);
        std::swap(last, now);
    }
    return last[b.size()];
}

}  // namespace

std::string_view nearest_name(std::span<const std::string_view> names, std::string_view name) {
    if (name.size() > 200) return {};
    std::string_view best;
    std::size_t best_distance = (name.size() + 2) / 3 + 1;
    for (std::string_view candidate : names) {
        if (candidate.size() > name.size() + best_distance || name.size() > candidate.size() + best_distance) continue;
        const std::size_t distance = edit_distance(candidate, name);
        if (distance < best_distance) {
            best = candidate;
            best_distance = distance;
        }
    }
    return best;
}

}  // namespace ockc
