// What all parts of the borrow checker share about the body at hand.
#pragma once
#include <map>
#include <memory>
#include <set>
#include <unordered_map>
#include <vector>

#include "borrowck/borrowck.hpp"
#include "borrowck/facts.hpp"
#include "borrowck/region_types.hpp"
#include "borrowck/regions.hpp"
#include "mir/init_flow.hpp"
#include "mir/move_paths.hpp"
#include "support/dataflow.hpp"

namespace ockc::borrowck {

// What the bodies of closures need of their captures; a closure is checked when it is asked for first.
class Closures {
  public:
    Closures(const mir::Program& program, check::Context& context, MutUses* mut_uses)
        : program_(program), context_(context), mut_uses_(mut_uses) {}
    const std::vector<ClosureRequirement>& requirements(DefId closure);
    // From now on checked bodies are printed with what is found in them.
    void keep_texts() { keeps_texts_ = true; }
    bool keeps_texts() const { return keeps_texts_; }
    const std::string& text(DefId owner) { return outcome(owner).text; }
    // Checks the body once. False when it has errors.
    bool check(DefId owner);
    // The reverse post-order of a checked body.
    std::span<const std::uint32_t> order(DefId owner) { return outcome(owner).order; }
    TypeFacts& type_facts() { return type_facts_; }

  private:
    struct Outcome {
        bool is_good = true;
        std::vector<ClosureRequirement> requirements;
        std::vector<std::uint32_t> order;
        std::string text;
    };
    const Outcome& outcome(DefId owner);
    void check_body(const mir::Body& body, Outcome& made);

    const mir::Program& program_;
    check::Context& context_;
    MutUses* mut_uses_;
    std::unordered_map<DefId, std::unique_ptr<Outcome>> outcomes_;
    TypeFacts type_facts_;
    bool keeps_texts_ = false;
};

// The loans of places rooted in each local, in the order in which they are made.
class LoansByLocal {
  public:
    void build(const IndexVec<LoanId, Loan>& loans, std::size_t locals);
    std::span<const LoanId> of(LocalId local) const {
        if (ids_.empty()) return {};
        return {ids_.data() + begin_[local.raw], begin_[local.raw + 1] - begin_[local.raw]};
    }

  private:
    std::vector<std::uint32_t> begin_;   // empty without loans
    std::vector<LoanId> ids_;
};

struct BodyCx {
    BodyCx(const mir::Body& body, const mir::Program& program, check::Context& context, Closures& closures);

    const mir::Body& body;
    const mir::Program& program;
    check::Context& context;
    Closures& closures;
    types::TypeStore& types;
    const check::ParamEnv& env;
    Points points;
    FlowGraph graph;
    RegionTypes regions;
    SideMap<LocalId, TypeId> local_types;      // with region variables
    IndexVec<LoanId, Loan> loans;
    std::vector<std::pair<PointId, LoanId>> activations;   // two-phase loans by the points where they come to life, sorted
    LoansByLocal loans_by_local;
    std::map<std::uint32_t, RegionVid> borrow_regions;   // by PointId; filled for print_facts only
    MutUses* mut_uses = nullptr;
    std::vector<std::pair<RegionVid, RegionVid>> known_outlives;   // between universal regions: declared and implied
    std::vector<std::pair<TypeId, RegionVid>> known_type_outlives;   // the same of generic parameters and projections
    std::vector<TypeTest> type_tests;
    std::vector<RegionVid> captured;                  // the regions of a closure's type, in their order
    std::vector<ClosureRequirement> requirements;     // what a closure's body needs of them

    // What must outlive `shorter` for the type to do so (obligations.cpp).
    void type_outlives(TypeId type, RegionVid shorter, const Outlives& reason);

    TypeId type_of(const Place& place);
    TypeId type_of(const mir::Operand& operand);
    // The erased type of the first `steps` projections.
    TypeId erased_type(const Place& place, std::size_t steps) const {
        return steps == 0 ? body.locals[place.local].type : place.projections[steps - 1].type;
    }
    bool is_universal(RegionVid region) const { return regions.info(region).is_universal; }
    std::string text(TypeId type) const { return context.text(type); }
    std::string_view name(Symbol symbol) const { return context.program().interner.text(symbol); }
};

// constraints.cpp: region variables of locals and the constraints of every statement; fills loans.
void collect_constraints(BodyCx& cx);
// liveness.cpp: where each region variable is live because a variable that holds it is.
void add_liveness(BodyCx& cx, Regions& regions);

}  // namespace ockc::borrowck
