// Lexical scopes inside an item: locals, generic parameters, labels, and the boundaries between them. Entries form one stack;
// those of one name are chained, so a look-up does not depend on how many other names there are.
#pragma once
#include <optional>

#include "resolve/def_map.hpp"
#include "resolve/state.hpp"

namespace ockc::resolve {

struct ScopeEntry {
    enum class Kind : std::uint8_t { Local, TyParam, ConstParam, Lifetime, Label, SelfAlias, SelfParam } kind = Kind::Local;
    Symbol name;
    std::uint32_t context = 0;      // Local, Label: hygiene
    std::uint32_t payload = 0;      // LocalId, DefId, or ExprId of the label's loop
    Span span;
    std::uint32_t previous = 0;     // position + 1 of the next older entry of this name
};

struct ScopeBarrier {
    enum class Kind : std::uint8_t {
        Item,         // an item inside a body: nothing local goes in
        ConstItem,    // the value of a const or static item inside a body
        AnonConst,    // array length, const argument, discriminant: no locals; no generics but a parameter on its own
        RepeatCount,  // [x; N]: as AnonConst, but type parameters may be mentioned
        InlineConst,  // const { .. }: no locals
        Closure,      // labels and `break` stop here
        Block,        // a block with items; payload: its ModuleId
        MacroRules,   // a macro definition; payload: its DefId
    } kind = Kind::Item;
    std::uint32_t position = 0;
    std::uint32_t payload = 0;
};

// Which spaces of names a look-up sees.
enum class ScopeSpace : std::uint8_t { Type, Value, Lifetime, Label };

struct ScopeFound {
    std::optional<ScopeEntry> entry;
    std::optional<Binding> binding;            // an item of a block
    ModuleId block;
    bool crossed_item = false, crossed_const = false, crossed_anon_const = false, crossed_repeat_count = false, crossed_inline_const = false, crossed_closure = false;
};

class ScopeStack {
  public:
    struct Mark {
        std::uint32_t entries = 0, barriers = 0;
    };
    Mark mark() const { return {static_cast<std::uint32_t>(entries_.size()), static_cast<std::uint32_t>(barriers_.size())}; }
    void rewind(Mark mark);
    void push(ScopeEntry entry);
    void push_barrier(ScopeBarrier::Kind kind, std::uint32_t payload = 0) {
        barriers_.push_back({kind, static_cast<std::uint32_t>(entries_.size()), payload});
    }
    std::uint32_t size() const { return static_cast<std::uint32_t>(entries_.size()); }
    const std::vector<ScopeEntry>& entries() const { return entries_; }
    const std::vector<ScopeBarrier>& barriers() const { return barriers_; }

    // Innermost first. `ns` (Type or Value) is looked up in the blocks' items on the way.
    ScopeFound find(const State& state, Symbol name, std::uint32_t context, ScopeSpace space) const;

  private:
    std::vector<ScopeEntry> entries_;
    std::vector<ScopeBarrier> barriers_;
    SideMap<Symbol, std::uint32_t> latest_;    // position + 1
};

}  // namespace ockc::resolve
