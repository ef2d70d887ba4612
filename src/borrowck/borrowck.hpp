// The borrow checker: verdicts about MIR, never a change to it. In: mir bodies and what check knows about their items.
// Out: diagnostics in the sink. docs/borrowck.md has the algorithm; facts.hpp the tables that later checks may read.
#pragma once
#include <cstdint>
#include <set>
#include <utility>

#include "check/context.hpp"
#include "mir/mir.hpp"

namespace ockc::borrowck {

// Which `mut` variables some access needed to be so, over all bodies (unused_mut.cpp).
class MutUses {
  public:
    void see(const mir::Body& body, const hir::Program& program);
    void note(const mir::Body& body, const hir::Program& program, hir::LocalId variable);
    void report(check::Context& context) const;   // unused_mut

  private:
    std::set<std::pair<std::uint32_t, std::uint32_t>> seen_, used_;   // owner of the HIR body, HIR local
};

// Checks the lifetimes of the user's impl methods against their traits'. False when errors were reported.
bool check_impl_signatures(check::Context& context);

// Whose bodies are checked. The library's are right for every caller once they are right: their check is the library's own
// (--whole-library), not each program's.
enum class Scope : std::uint8_t { User, All };

// Checks the bodies that were built, in order. False when errors were reported.
bool check(const mir::Program& program, check::Context& context, MutUses* mut_uses = nullptr, Scope scope = Scope::All);

}  // namespace ockc::borrowck
