#include "support/interner.hpp"

namespace ockc {

Symbol Interner::intern(std::string_view text) {
    const std::uint32_t hash = Hasher().add(text).value();
    const std::uint32_t found = map_.find(hash, [&](std::uint32_t i) { return texts_[i] == text; });
    if (found != HashIndex::kNone) return Symbol(found);
    const std::string_view owned = arena_.copy(text);
    const Symbol symbol(static_cast<std::uint32_t>(texts_.size()));
    texts_.push_back(owned);
    map_.insert(hash, symbol.raw);
    return symbol;
}

}  // namespace ockc
