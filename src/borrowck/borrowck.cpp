// One body: constraints and loans, liveness, regions, then the walk over its accesses.
#include "borrowck/borrowck.hpp"

#include "borrowck/checker.hpp"
#include "mir/body_rules.hpp"
#include "mir/known_panics.hpp"

namespace ockc::borrowck {

bool check_body(const mir::Body& body, const mir::Program& program, check::Context& context, MutUses* mut_uses) {
    const std::string name = context.program().path_text(body.owner);
    const CrashContext note("checking the borrows of", name);
    DiagSink& sink = context.sink();
    const std::size_t first = sink.all().size(), errors = sink.error_count();
    BodyCx cx(body, program, context);
    cx.mut_uses = mut_uses;
    if (mut_uses != nullptr) mut_uses->see(body, context.program());
    collect_constraints(cx);
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
    return sink.error_count() == errors;
}

bool check(const mir::Program& program, check::Context& context, MutUses* mut_uses) {
    bool good = check_impl_signatures(context);
    for (const DefId owner : program.order) {
        const mir::Body& body = *program.bodies.at(owner);
        if (body.has_errors) continue;
        const bool fine = check_body(body, program, context, mut_uses);
        const bool orderly = mir::check_body_rules(body, context);
        good = fine && orderly && mir::lint_known_panics(body, context) && good;
    }
    return good;
}

}  // namespace ockc::borrowck
