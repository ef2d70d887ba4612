#include "resolve/scopes.hpp"

#include "resolve/lookup.hpp"

namespace ockc::resolve {

void ScopeStack::rewind(Mark mark) {
    while (entries_.size() > mark.entries) {
        latest_.set(entries_.back().name, entries_.back().previous);
        entries_.pop_back();
    }
    barriers_.resize(mark.barriers);
}

void ScopeStack::push(ScopeEntry entry) {
    entry.previous = latest_[entry.name];
    entries_.push_back(entry);
    latest_.set(entry.name, static_cast<std::uint32_t>(entries_.size()));
}

namespace {

bool in_space(ScopeEntry::Kind kind, ScopeSpace space) {
    switch (kind) {
        case ScopeEntry::Kind::Local:
        case ScopeEntry::Kind::ConstParam: return space == ScopeSpace::Value;
        case ScopeEntry::Kind::TyParam:
        case ScopeEntry::Kind::SelfAlias:
        case ScopeEntry::Kind::SelfParam: return space == ScopeSpace::Type;
        case ScopeEntry::Kind::Lifetime: return space == ScopeSpace::Lifetime;
        case ScopeEntry::Kind::Label: return space == ScopeSpace::Label;
    }
    OCKC_UNREACHABLE("scope entry");
}

void note_crossing(ScopeFound& found, ScopeBarrier::Kind kind) {
    switch (kind) {
        case ScopeBarrier::Kind::Item: found.crossed_item = true; return;
        case ScopeBarrier::Kind::ConstItem: found.crossed_const = true; return;
        case ScopeBarrier::Kind::AnonConst: found.crossed_anon_const = true; return;
        case ScopeBarrier::Kind::RepeatCount: found.crossed_anon_const = found.crossed_repeat_count = true; return;
        case ScopeBarrier::Kind::InlineConst: found.crossed_inline_const = true; return;
        case ScopeBarrier::Kind::Closure: found.crossed_closure = true; return;
        case ScopeBarrier::Kind::Block:
        case ScopeBarrier::Kind::MacroRules: return;
    }
}

}  // namespace

ScopeFound ScopeStack::find(const State& state, Symbol name, std::uint32_t context, ScopeSpace space) const {
    ScopeFound found;
    std::uint32_t at = latest_[name];
    std::size_t barrier = barriers_.size();
    const bool hygienic = space == ScopeSpace::Value || space == ScopeSpace::Label;
    while (true) {
        // Boundaries above the candidate, innermost first. An entry at position p stands below a barrier with position > p.
        for (; barrier > 0 && barriers_[barrier - 1].position >= at; --barrier) {
            const ScopeBarrier& b = barriers_[barrier - 1];
            if (b.kind == ScopeBarrier::Kind::Block && (space == ScopeSpace::Type || space == ScopeSpace::Value)) {
                const ModuleId block(b.payload);
                if (const Binding* binding = resolve::find(state, block, name, space == ScopeSpace::Type ? Ns::Type : Ns::Value)) {
                    found.binding = *binding;
                    found.block = block;
                    return found;
                }
            }
            if (b.kind == ScopeBarrier::Kind::MacroRules && context != 0 && state.expansions[context].macro.raw == b.payload) {
                context = state.expansions[context].parent;
            }
            note_crossing(found, b.kind);
        }
        if (at == 0) return found;
        const ScopeEntry& entry = entries_[at - 1];
        const bool same_context = !hygienic || entry.kind == ScopeEntry::Kind::ConstParam || entry.context == context;
        if (in_space(entry.kind, space) && same_context) {
            found.entry = entry;
            return found;
        }
        at = entry.previous;
    }
}

}  // namespace ockc::resolve
