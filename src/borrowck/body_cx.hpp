// What all parts of the borrow checker share about the body at hand.
#pragma once
#include <map>
#include <set>
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
    // Checks the body once. False when it has errors.
    bool check(DefId owner);

  private:
    struct Outcome {
        bool is_good = true;
        std::vector<ClosureRequirement> requirements;
    };
    const Outcome& outcome(DefId owner);

    const mir::Program& program_;
    check::Context& context_;
    MutUses* mut_uses_;
    std::map<DefId, Outcome> outcomes_;
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
    std::vector<std::vector<LoanId>> loans_at;        // by PointId: loans made there
    std::vector<std::vector<LoanId>> activated_at;    // by PointId: two-phase loans that come to life there
    std::vector<std::vector<LoanId>> loans_of_local;  // by LocalId: loans of places rooted there
    MutUses* mut_uses = nullptr;
    std::vector<std::pair<RegionVid, RegionVid>> known_outlives;   // between universal regions: declared and implied
    std::vector<RegionVid> captured;                  // a closure's captured regions, in the order of its type
    std::vector<ClosureRequirement> requirements;     // what a closure's body needs of them

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
