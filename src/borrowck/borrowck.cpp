// The bodies in order; closures before what makes them, because what they need of their captures is checked there.
#include "borrowck/borrowck.hpp"

#include "borrowck/checker.hpp"
#include "mir/body_rules.hpp"
#include "mir/known_panics.hpp"

namespace ockc::borrowck {

namespace {

// One body: constraints and loans, liveness, regions, then the walk over its accesses. Returns what a closure needs of its
// captures.
std::vector<ClosureRequirement> check_body(const mir::Body& body, const mir::Program& program, check::Context& context, Closures& closures,
                                           MutUses* mut_uses) {
    const std::string name = context.program().path_text(body.owner);
    const CrashContext note("checking the borrows of", name);
    BodyCx cx(body, program, context, closures);
    cx.mut_uses = mut_uses;
    if (mut_uses != nullptr) mut_uses->see(body, context.program());
    collect_constraints(cx);   // closures are checked here, and their errors come first
    DiagSink& sink = context.sink();
    const std::size_t first = sink.all().size();
    Regions regions(static_cast<std::uint32_t>(cx.regions.region_count()), cx.points.count());
    for (std::uint32_t i = 0; i < cx.regions.region_count(); ++i) {
        if (cx.is_universal(RegionVid(i))) regions.make_universal(RegionVid(i));
    }
    add_liveness(cx, regions);
    regions.solve(cx.regions.constraints());
    const mir::MovePaths paths(body, context);
    const mir::InitFlow init(body, paths, cx.graph);
    Checker(cx, regions, paths, init).run();
    sink.sort_from(first);
    return std::move(cx.requirements);
}

}  // namespace

const Closures::Outcome& Closures::outcome(DefId owner) {
    if (const auto found = outcomes_.find(owner); found != outcomes_.end()) return found->second;
    const mir::Body& body = *program_.bodies.at(owner);
    DiagSink& sink = context_.sink();
    const std::size_t errors = sink.error_count();
    Outcome made;
    if (!body.has_errors) made.requirements = check_body(body, program_, context_, *this, mut_uses_);
    made.is_good = sink.error_count() == errors;
    return outcomes_.emplace(owner, std::move(made)).first->second;
}

const std::vector<ClosureRequirement>& Closures::requirements(DefId closure) { return outcome(closure).requirements; }
bool Closures::check(DefId owner) { return outcome(owner).is_good; }

bool check(const mir::Program& program, check::Context& context, MutUses* mut_uses, Scope scope) {
    bool good = check_impl_signatures(context);
    const hir::Program& hir = context.program();
    Closures closures(program, context, mut_uses);
    for (const DefId owner : program.order) {
        const mir::Body& body = *program.bodies.at(owner);
        if (body.has_errors || (scope == Scope::User && hir.crates[hir.defs[owner].crate].is_library)) continue;
        const bool fine = closures.check(owner);
        const bool orderly = mir::check_body_rules(body, context);
        good = fine && orderly && mir::lint_known_panics(body, context) && good;
    }
    return good;
}

}  // namespace ockc::borrowck
