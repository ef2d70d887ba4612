// unused_imports: name resolution knows which imports no path went through; a trait may still have been needed for its methods.
#include <fmt/format.h>

#include <unordered_set>

#include "lints/lint.hpp"

namespace ockc::lints {

namespace {

// The traits whose items some body of the user's calls, by whatever syntax.
std::unordered_set<std::uint32_t> traits_called(const hir::Program& program, check::Context& context) {
    std::unordered_set<std::uint32_t> traits;
    const auto note = [&](DefId item) {
        if (!item.valid()) return;
        const DefId parent = program.defs[item].parent;
        if (!parent.valid()) return;
        if (program.defs[parent].kind == hir::DefKind::Trait) traits.insert(parent.raw);
        // A method that the impl provides was found through the trait too.
        const auto* impl = std::get_if<hir::ImplDef>(&program.defs[parent].data);
        if (impl != nullptr && impl->has_trait && impl->trait_path.res.kind == hir::Res::Kind::Def) traits.insert(impl->trait_path.res.def.raw);
    };
    for (const DefId owner : context.checked_bodies()) {
        if (!is_user_code(program, owner)) continue;
        const check::TypeTables* tables = context.check_body(owner);
        if (tables == nullptr) continue;
        const hir::Body& body = *program.bodies[tables->body];
        for (hir::ExprId id(0); id.raw < body.exprs.size(); id = hir::ExprId(id.raw + 1)) {
            note(tables->callees[id].def);
            note(tables->expr_items[id].def);
        }
    }
    return traits;
}

}  // namespace

void check_imports(const hir::Program& program, check::Context& context) {
    if (program.unused_imports.empty()) return;
    const auto called = traits_called(program, context);
    for (const hir::UnusedImport& import : program.unused_imports) {
        if (import.trait.valid() && called.contains(import.trait.raw)) continue;
        context.sink().lint("unused_imports", import.span, fmt::format("unused import: `{}`", program.interner.text(import.name)));
    }
}

}  // namespace ockc::lints
