#include "intrinsic/intrinsic.hpp"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

namespace ockc::intrinsic {

namespace {

constexpr Info kRows[] = {
#define OCKC_INTRINSIC(name, key, arity, effect, min_sm, doc) {key, arity, Effect::effect, min_sm, doc},
#include "intrinsic/intrinsics.def"
};

using Entry = std::pair<std::string_view, Intrinsic>;

std::vector<Entry> sorted_keys() {
    std::vector<Entry> keys;
    for (std::size_t i = 0; i < std::size(kRows); ++i) keys.emplace_back(kRows[i].key, static_cast<Intrinsic>(i));
    std::sort(keys.begin(), keys.end());
    return keys;
}

}  // namespace

const Info& info(Intrinsic intrinsic) { return kRows[static_cast<std::size_t>(intrinsic)]; }
std::size_t count() { return std::size(kRows); }

std::optional<Intrinsic> from_key(std::string_view key) {
    static const std::vector<Entry> kKeys = sorted_keys();   // immutable after first use
    const auto found = std::lower_bound(kKeys.begin(), kKeys.end(), key, [](const Entry& e, std::string_view k) { return e.first < k; });
    if (found == kKeys.end() || found->first != key) return std::nullopt;
    return found->second;
}

}  // namespace ockc::intrinsic
