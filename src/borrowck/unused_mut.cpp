// unused_mut: `mut` variables whose `mut` no access needed. Closures use the variables that they capture, so all bodies of a
// function are judged together.
#include "borrowck/checker.hpp"

namespace ockc::borrowck {

namespace {

// The item whose HIR body a MIR body comes from.
DefId hir_owner(const hir::Program& program, DefId owner) {
    while (program.defs[owner].kind == hir::DefKind::Closure) owner = program.defs[owner].parent;
    return owner;
}

}  // namespace

void MutUses::see(const mir::Body& body, const hir::Program& program) {
    const DefId owner = hir_owner(program, body.owner);
    std::vector<Use>& uses = uses_[owner.raw];
    for (const mir::Local& local : body.locals) {
        if (!local.hir_local.valid()) continue;
        if (local.hir_local.raw >= uses.size()) uses.resize(local.hir_local.raw + 1, kUnseen);
        uses[local.hir_local.raw] = std::max(uses[local.hir_local.raw], kSeen);
    }
}

void MutUses::note(const mir::Body& body, const hir::Program& program, hir::LocalId variable) {
    if (!variable.valid()) return;
    std::vector<Use>& uses = uses_[hir_owner(program, body.owner).raw];
    if (variable.raw >= uses.size()) uses.resize(variable.raw + 1, kUnseen);
    // A closure's body may come before that of the variable's function.
    uses[variable.raw] = kUsed;
}

void MutUses::report(check::Context& context) const {
    const hir::Program& program = context.program();
    for (const auto& [raw, uses] : uses_) {
        const DefId owner(raw);
        const check::TypeTables* tables = program.crates[program.defs[owner].crate].is_library ? nullptr : context.check_body(owner);
        if (tables == nullptr) continue;
        const hir::Body& body = *program.bodies[tables->body];
        for (std::uint32_t local = 0; local < std::min(uses.size(), body.locals.size()); ++local) {
            if (uses[local] == kSeen) report(context, body, hir::LocalId(local));
        }
    }
}

void MutUses::report(check::Context& context, const hir::Body& body, hir::LocalId local) const {
    const hir::Local& variable = body.locals[local];
    const std::string_view name = context.program().interner.text(variable.name.name);
    if (!variable.is_mut || variable.desugared || !variable.pat.valid() || name.starts_with('_')) return;
    const Span span = body.pats[variable.pat].span;
    context.sink()
        .lint("unused_mut", span, "variable does not need to be mutable")
        .suggest(Span{span.file, span.begin, std::max(span.begin, variable.name.span.begin)}, "", "remove this `mut`", Applicability::MachineApplicable);
}

// Follows the same steps as `forbidding`: an allowed mutation that ends at a variable, or at a captured one, needs its `mut`.
void Checker::note_mut_use(const Place& whole, MutationAllowed allowed) {
    if (cx_.mut_uses == nullptr) return;
    for (std::size_t steps = whole.projections.size(); steps > 0; --steps) {
        const Place place = whole.prefix(steps);
        const mir::Projection& last = place.projections[steps - 1];
        if (last.kind == mir::ProjectionKind::Deref) {
            const types::TypeData& base = cx_.types[cx_.erased_type(place, steps - 1)];
            if (base.kind == types::TypeKind::RawPtr || base.mutability == types::Mutability::Not) return;
            const std::optional<std::uint32_t> upvar = upvar_of(cx_, place);
            if (!upvar || !cx_.body.upvars[*upvar].by_ref) allowed = MutationAllowed::Yes;
            continue;
        }
        const std::optional<std::uint32_t> upvar = upvar_of(cx_, place);
        if (!upvar || last.kind != mir::ProjectionKind::Field) continue;
        if (allowed == MutationAllowed::No) cx_.mut_uses->note(cx_.body, cx_.context.program(), cx_.body.upvars[*upvar].variable);
        return;
    }
    if (allowed == MutationAllowed::No) cx_.mut_uses->note(cx_.body, cx_.context.program(), cx_.body.locals[whole.local].hir_local);
}

}  // namespace ockc::borrowck
