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
    for (const mir::Local& local : body.locals) {
        if (local.hir_local.valid()) seen_.insert({owner.raw, local.hir_local.raw});
    }
}

void MutUses::note(const mir::Body& body, const hir::Program& program, hir::LocalId variable) {
    if (variable.valid()) used_.insert({hir_owner(program, body.owner).raw, variable.raw});
}

void MutUses::report(check::Context& context) const {
    const hir::Program& program = context.program();
    const hir::Body* body = nullptr;
    DefId current;
    for (const auto& [owner, local] : seen_) {
        if (current.raw != owner || body == nullptr) {
            current = DefId(owner);
            const check::TypeTables* tables = program.crates[program.defs[current].crate].is_library ? nullptr : context.check_body(current);
            body = tables != nullptr ? program.bodies[tables->body].get() : nullptr;
        }
        if (body == nullptr || local >= body->locals.size() || used_.contains({owner, local})) continue;
        const hir::Local& variable = body->locals[hir::LocalId(local)];
        if (!variable.is_mut || variable.desugared || !variable.pat.valid() || program.interner.text(variable.name.name).starts_with('_')) continue;
        const Span span = body->pats[variable.pat].span;
        context.sink()
            .lint("unused_mut", span, "variable does not need to be mutable")
            .suggest(Span{span.file, span.begin, std::max(span.begin, variable.name.span.begin)}, "", "remove this `mut`", Applicability::MachineApplicable);
    }
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
