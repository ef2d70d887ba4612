// E0512: both types of a `transmute` must be known to have one size. For types with parameters that is so when they are the same
// type, or when their layouts do not depend on them.
#include <fmt/format.h>

#include "check/passes.hpp"

namespace ockc::check {

namespace {

std::string size_text(Context& context, TypeId type) {
    if (context.types().has(type, types::kHasParam)) return "this type does not have a fixed size";
    const types::Layout& layout = context.layout_of(type);
    if (layout.error != types::LayoutError::None) return "this type does not have a fixed size";
    return fmt::format("{} bits", layout.size * 8);
}

}  // namespace

void check_transmutes(Context& context, const TypeTables& tables) {
    const hir::Program& program = context.program();
    const hir::Body& body = *program.bodies[tables.body];
    for (std::uint32_t i = 0; i < body.exprs.size(); ++i) {
        const ItemRef item = tables.expr_items[hir::ExprId(i)];
        if (!item.valid() || program.defs[item.def].intrinsic != "mem.transmute") continue;
        const auto args = context.types()[item.args];
        if (args.size() < 2 || args[0].kind() != GenericArg::Kind::Type || args[1].kind() != GenericArg::Kind::Type) continue;
        const TypeId from = args[0].as_type(), to = args[1].as_type();
        if (from == to || context.types().has(from, types::kHasError) || context.types().has(to, types::kHasError)) continue;
        const bool pointers = [&] {
            for (const TypeId type : {from, to}) {
                const TypeKind kind = context.types().kind(type);
                const bool thin = (kind == TypeKind::Ref || kind == TypeKind::RawPtr) && context.types().kind(context.types()[type].element) != TypeKind::Param;
                if (!thin) return false;
            }
            return true;
        }();
        const std::string have = size_text(context, from), wanted = size_text(context, to);
        if (have == wanted && have.find("not") == std::string::npos) continue;
        if (pointers && (context.types().has(from, types::kHasParam) || context.types().has(to, types::kHasParam))) continue;
        context.sink()
            .error(Code::E0512, body.exprs[hir::ExprId(i)].span, "cannot transmute between types of different sizes, or dependently-sized types")
            .note(fmt::format("source type: `{}` ({})", context.text(from), have))
            .note(fmt::format("target type: `{}` ({})", context.text(to), wanted));
    }
}

}  // namespace ockc::check
