// The bodies in order; closures before what makes them, because what they need of their captures is checked there.
#include "borrowck/borrowck.hpp"

#include "borrowck/checker.hpp"
#include "borrowck/print_facts.hpp"
#include "mir/body_rules.hpp"
#include "mir/known_panics.hpp"
#include "mir/print.hpp"

namespace ockc::borrowck {

// One body: constraints and loans, liveness, regions, then the walk over its accesses.
void Closures::check_body(const mir::Body& body, Outcome& made) {
    const CrashContext note("checking the borrows of", context_.program().name(body.owner));
    BodyCx cx(body, program_, context_, *this);
    cx.mut_uses = mut_uses_;
    if (mut_uses_ != nullptr) mut_uses_->see(body, context_.program());
    collect_constraints(cx);   // closures are checked here, and their errors come first
    DiagSink& sink = context_.sink();
    const std::size_t first = sink.all().size();
    Regions regions(static_cast<std::uint32_t>(cx.regions.region_count()), cx.points.count(), cx.regions.constraints());
    for (std::uint32_t i = 0; i < cx.regions.region_count(); ++i) {
        if (cx.is_universal(RegionVid(i))) regions.make_universal(RegionVid(i));
    }
    // Where regions are live matters to loans only; without any, what universal regions ask of each other is left.
    if (!cx.loans.empty()) add_liveness(cx, regions);
    if (!cx.loans.empty() || (regions.universal().size() > 1 && !cx.regions.constraints().empty()) || !cx.type_tests.empty()) regions.solve();
    const mir::MovePaths paths(body, context_);
    const mir::InitFlow init(body, paths, cx.graph);
    Checker checker(cx, regions, paths, init);
    if (keeps_texts_) made.text = print_facts(cx, checker.scopes());
    checker.run();
    sink.sort_from(first);
    made.requirements = std::move(cx.requirements);
    made.order.assign(cx.graph.reverse_postorder().begin(), cx.graph.reverse_postorder().end());
}

const Closures::Outcome& Closures::outcome(DefId owner) {
    if (const auto found = outcomes_.find(owner); found != outcomes_.end()) return *found->second;
    const mir::Body& body = *program_.bodies.at(owner);
    DiagSink& sink = context_.sink();
    const std::size_t errors = sink.error_count();
    auto made = std::make_unique<Outcome>();
    if (!body.has_errors) check_body(body, *made);
    made->is_good = sink.error_count() == errors;
    return *outcomes_.emplace(owner, std::move(made)).first->second;
}

const std::vector<ClosureRequirement>& Closures::requirements(DefId closure) { return outcome(closure).requirements; }
bool Closures::check(DefId owner) { return outcome(owner).is_good; }

namespace {

// Does the signature around a body name a lifetime that does not exist? Then nothing can be said of its borrows.
bool has_wrong_lifetime(check::Context& context, DefId owner) {
    types::TypeStore& types = context.types();
    const DefId fn = context.body_owner(owner);
    const hir::DefKind kind = context.program().defs[fn].kind;
    if (kind != hir::DefKind::Fn && kind != hir::DefKind::AssocFn) return false;
    bool found = false;
    const auto look = [&](TypeId type) {
        types::walk(types, type, [&](TypeId part) {
            const types::TypeData data = types[part];
            found = found || data.region == types.error_region;
            for (const types::GenericArg arg : types[data.args]) found = found || (arg.kind() == types::GenericArg::Kind::Region && arg.as_region() == types.error_region);
            return !found;
        });
    };
    const check::FnSigInfo& sig = context.fn_sig(fn);
    for (const TypeId input : sig.inputs) look(input);
    look(sig.output);
    return found;
}

}  // namespace

void LintFacts::report(check::Context& context) const {
    mut_uses.report(context);
    mir::report_unused_assignments(unused_assignments, context);
}

BodyChecks::BodyChecks(const mir::Program& program, check::Context& context, LintFacts* lints, Scope scope)
    : program_(program), context_(context), lints_(lints), scope_(scope), is_right_(!context.sink().has_errors()),
      closures_(std::make_unique<Closures>(program, context, lints != nullptr ? &lints->mut_uses : nullptr)) {}
BodyChecks::~BodyChecks() = default;

bool BodyChecks::is_library(DefId owner) const {
    const hir::Program& items = context_.program();
    return items.crates[items.defs[owner].crate].is_library;
}

void BodyChecks::keep_texts() { closures_->keep_texts(); }
const std::string& BodyChecks::text(DefId owner) { return closures_->text(owner); }

// Lints speak of programs that are right otherwise.
bool BodyChecks::check(DefId owner) {
    const mir::Body& body = *program_.bodies.at(owner);
    if (body.has_errors || (scope_ == Scope::User && is_library(owner)) || (!is_right_ && has_wrong_lifetime(context_, owner))) return true;
    const bool fine = closures_->check(owner);
    const bool orderly = mir::check_body_rules(body, context_);
    if (lints_ != nullptr && !is_library(owner)) mir::find_unused_assignments(body, context_, lints_->unused_assignments);
    return fine && orderly && (!is_right_ || mir::lint_known_panics(body, context_, closures_->order(owner)));
}

bool check(const mir::Program& program, check::Context& context, LintFacts* lints, Scope scope, std::string* text) {
    BodyChecks checks(program, context, lints, scope);
    // Only impls that have their traits' form can be compared with these.
    bool good = context.sink().has_errors() || check_impl_signatures(context);
    if (text != nullptr) checks.keep_texts();
    for (const DefId owner : program.order) good = checks.check(owner) && good;
    if (text == nullptr) return good;
    const hir::Program& items = context.program();
    for (const DefId owner : program.order) {
        if (items.crates[items.defs[owner].crate].is_library) continue;
        if (!text->empty()) *text += '\n';
        *text += program.bodies.at(owner)->has_errors ? mir::print(*program.bodies.at(owner), context) : checks.text(owner);
    }
    return good;
}

}  // namespace ockc::borrowck
