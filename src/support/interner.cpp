#include "support/interner.hpp"

#include <cstdint>
#include <cstring>

namespace ockc {

namespace {

// Most names are short: not worth a call.
bool same(std::string_view a, std::string_view b) {
    if (a.size() != b.size()) return false;
    std::size_t i = 0;
    for (; i + 8 <= a.size(); i += 8) {
        std::uint64_t x, y;
        std::memcpy(&x, a.data() + i, 8);
        std::memcpy(&y, b.data() + i, 8);
        if (x != y) return false;
    }
    for (; i < a.size(); ++i) {
        if (a[i] != b[i]) return false;
    }
    return true;
}

}  // namespace

Symbol Interner::intern(std::string_view text) {
    const std::uint32_t hash = Hasher().add(text).value();
    const std::uint32_t found = map_.find(hash, [&](std::uint32_t i) { return same(texts_[i], text); });
    if (found != HashIndex::kNone) return Symbol(found);
    const std::string_view owned = arena_.copy(text);
    const Symbol symbol(static_cast<std::uint32_t>(texts_.size()));
    texts_.push_back(owned);
    map_.insert(hash, symbol.raw);
    return symbol;
}

}  // namespace ockc
