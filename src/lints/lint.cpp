#include "lints/lint.hpp"

namespace ockc::lints {

bool is_user_code(const hir::Program& program, DefId def) {
    const hir::Def& d = program.defs[def];
    if (program.crates[d.crate].is_library) return false;
    for (DefId at = def; at.valid(); at = program.defs[at].parent) {
        const auto* impl = std::get_if<hir::ImplDef>(&program.defs[at].data);
        if (impl != nullptr && impl->derived) return false;
    }
    return true;
}

void run(const hir::Program& program, check::Context& context) {
    check_imports(program, context);
    check_unused(program, context);
    check_dead_code(program, context);
    check_names(program, context);
}

}  // namespace ockc::lints
