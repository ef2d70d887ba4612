#include "intrinsic/intrinsic.hpp"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

namespace ockc::intrinsic {

namespace {

// A `*` and its letter are one.
constexpr std::uint8_t letters(std::string_view text) { return static_cast<std::uint8_t>(text.size() - (text.find('*') != std::string_view::npos ? 1 : 0)); }

constexpr Info kRows[] = {
#define OCKC_INTRINSIC(name, key, arity, effect, min_sm, doc) {key, arity, Effect::effect, min_sm, doc},
#include "intrinsic/intrinsics.def"
#define OCKC_MACHINE(name, key, operands, results, effect, words, ptx, doc) {key, letters(operands), Effect::effect, 0, doc},
#include "intrinsic/machine.def"
};
constexpr MachineInfo kMachines[] = {
#define OCKC_MACHINE(name, key, operands, results, effect, words, ptx, doc) {key, operands, results, Effect::effect, words, ptx, doc},
#include "intrinsic/machine.def"
};
constexpr std::size_t kFirstMachine = std::size(kRows) - std::size(kMachines);

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

const MachineInfo& info(Machine machine) { return kMachines[static_cast<std::size_t>(machine)]; }
std::size_t machine_count() { return std::size(kMachines); }

std::string_view plain_letters(std::string_view letters) { return letters.substr(0, letters.find('*')); }

char letter_at(std::string_view letters, std::size_t index) {
    const std::size_t plain = plain_letters(letters).size();
    return index < plain ? letters[index] : letters[plain + 1];
}

std::optional<Machine> machine_of(Intrinsic intrinsic) {
    const auto row = static_cast<std::size_t>(intrinsic);
    return row >= kFirstMachine ? std::optional(static_cast<Machine>(row - kFirstMachine)) : std::nullopt;
}

std::optional<Machine> machine_from_key(std::string_view key) {
    const std::optional<Intrinsic> row = from_key(key);
    return row ? machine_of(*row) : std::nullopt;
}

std::optional<Intrinsic> from_key(std::string_view key) {
    static const std::vector<Entry> kKeys = sorted_keys();   // immutable after first use
    const auto found = std::lower_bound(kKeys.begin(), kKeys.end(), key, [](const Entry& e, std::string_view k) { return e.first < k; });
    if (found == kKeys.end() || found->first != key) return std::nullopt;
    return found->second;
}

}  // namespace ockc::intrinsic
