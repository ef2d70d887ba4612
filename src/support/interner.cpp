#include "support/interner.hpp"

namespace ockc {

Symbol Interner::intern(std::string_view text) {
    if (auto found = map_.find(text); found != map_.end()) return found->second;
    const std::string_view owned = arena_.copy(text);
    const Symbol symbol(static_cast<std::uint32_t>(texts_.size()));
    texts_.push_back(owned);
    map_.emplace(owned, symbol);
    return symbol;
}

}  // namespace ockc
