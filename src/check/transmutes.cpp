// E0512: both types of a `transmute` have the same size, known where it is written.
#include <fmt/format.h>

#include "check/passes.hpp"

namespace ockc::check {

namespace {

class TransmuteCheck {
  public:
    TransmuteCheck(Context& context, const TypeTables& tables)
        : cx_(context), program_(context.program()), types_(context.types()), tables_(tables), body_(*context.program().bodies[tables.body]),
          env_(context.param_env(context.body_owner(tables.owner))) {}

    void run() {
        for (std::uint32_t i = 0; i < body_.exprs.size(); ++i) {
            const ItemRef item = tables_.expr_items[hir::ExprId(i)];
            if (item.valid() && program_.defs[item.def].intrinsic == "mem.transmute") check(item, body_.exprs[hir::ExprId(i)].span);
        }
    }

  private:
    void check(ItemRef item, Span at) {
        const TypeId from = cx_.normalize(types_[item.args][0].as_type(), env_), to = cx_.normalize(types_[item.args][1].as_type(), env_);
        if (from == to || types_.has(from, types::kHasError) || types_.has(to, types::kHasError)) return;
        const std::optional<std::uint64_t> a = size_of(from), b = size_of(to);
        if (a && b && *a == *b) return;
        const auto text = [&](TypeId type, std::optional<std::uint64_t> size) {
            return size ? fmt::format("`{}` ({} bits)", cx_.text(type), *size * 8) : fmt::format("`{}` (size can vary)", cx_.text(type));
        };
        cx_.sink()
            .error(Code::E0512, at, "cannot transmute between types of different sizes, or dependently-sized types")
            .label(at, fmt::format("source type: {}, target type: {}", text(from, a), text(to, b)));
    }

    // Nothing: it depends on a generic parameter.
    std::optional<std::uint64_t> size_of(TypeId type) {
        if (!types_.has(type, types::kHasParam | types::kHasProjection)) return cx_.layout_of(type).size;
        const TypeData data = types_[type];
        const bool is_pointer = data.kind == TypeKind::Ref || data.kind == TypeKind::RawPtr;
        if (is_pointer && cx_.is_sized(data.element, env_)) return 8;
        return std::nullopt;
    }

    Context& cx_;
    const hir::Program& program_;
    TypeStore& types_;
    const TypeTables& tables_;
    const hir::Body& body_;
    const ParamEnv& env_;
};

}  // namespace

void check_transmutes(Context& context, const TypeTables& tables) {
    if (tables.names_intrinsics) TransmuteCheck(context, tables).run();
}

}  // namespace ockc::check
