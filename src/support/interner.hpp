// Symbol <-> text. Equal text gives the same Symbol; texts live as long as the Interner.
#pragma once
#include <string_view>
#include <vector>

#include "support/arena.hpp"
#include "support/hash_index.hpp"
#include "support/id.hpp"

namespace ockc {

using Symbol = Id<struct SymbolTag>;

class Interner {
  public:
    Symbol intern(std::string_view text);
    std::string_view text(Symbol symbol) const { return symbol.valid() ? texts_[symbol.raw] : std::string_view("<none>"); }
    std::size_t size() const { return texts_.size(); }

  private:
    Arena arena_;
    std::vector<std::string_view> texts_;
    HashIndex map_;
};

}  // namespace ockc
