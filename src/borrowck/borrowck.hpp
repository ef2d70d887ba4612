// The borrow checker: verdicts about MIR, never a change to it. In: mir bodies and what check knows about their items.
// Out: diagnostics in the sink. docs/borrowck.md has the algorithm; facts.hpp the tables that later checks may read.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "check/context.hpp"
#include "mir/mir.hpp"
#include "mir/unused_assignments.hpp"

namespace ockc::borrowck {

// Which `mut` variables some access needed to be so, over all bodies (unused_mut.cpp).
class MutUses {
  public:
    void see(const mir::Body& body, const hir::Program& program);
    void note(const mir::Body& body, const hir::Program& program, hir::LocalId variable);
    void report(check::Context& context) const;   // unused_mut

  private:
    void report(check::Context& context, const hir::Body& body, hir::LocalId local) const;
    enum Use : std::uint8_t { kUnseen, kSeen, kUsed };
    std::map<std::uint32_t, std::vector<Use>> uses_;   // by owner of the HIR body, then by HIR local
};

// Checks the lifetimes of the user's impl methods against their traits'. False when errors were reported.
bool check_impl_signatures(check::Context& context);

// Whose bodies are checked. The library's are right for every caller once they are right: their check is the library's own
// (--whole-library), not each program's.
enum class Scope : std::uint8_t { User, All };

// What lints want to know of bodies, found while these are at hand.
struct LintFacts {
    MutUses mut_uses;
    std::vector<mir::UnusedAssignment> unused_assignments;   // of the user's bodies

    void report(check::Context& context) const;
};

class Closures;

// The checks of bodies one by one: each must have been built, and the closures in it.
class BodyChecks {
  public:
    BodyChecks(const mir::Program& program, check::Context& context, LintFacts* lints, Scope scope);
    ~BodyChecks();
    // False when errors were reported.
    bool check(DefId owner);
    // Checked bodies are printed with their regions and loans.
    void keep_texts();
    const std::string& text(DefId owner);

  private:
    bool is_library(DefId owner) const;

    const mir::Program& program_;
    check::Context& context_;
    LintFacts* lints_;
    Scope scope_;
    bool is_right_;   // the program, but for its borrows
    std::unique_ptr<Closures> closures_;
};

// Checks the bodies that were built, in order. False when errors were reported. `text`: where the bodies of the user's crate are
// printed with their regions and loans.
bool check(const mir::Program& program, check::Context& context, LintFacts* lints = nullptr, Scope scope = Scope::All, std::string* text = nullptr);

}  // namespace ockc::borrowck
