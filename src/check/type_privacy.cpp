// Values of types that their place may not name: rustc's "type `P` is private", an error without a code. Paths are the business of name
// resolution; here it is what functions and fields give.
#include <fmt/format.h>

#include <algorithm>

#include "check/passes.hpp"
#include "types/fold.hpp"

namespace ockc::check {

namespace {

class TypePrivacy {
  public:
    TypePrivacy(Context& context, const TypeTables& tables, PrivacyMemo& memo)
        : cx_(context), program_(context.program()), types_(context.types()), tables_(tables), body_(*context.program().bodies[tables.body]), memo_(memo) {
        for (module_ = tables.owner; module_.valid() && program_.defs[module_].kind != hir::DefKind::Mod && program_.defs[module_].kind != hir::DefKind::Crate;) {
            module_ = program_.defs[module_].parent;
        }
        if (memo_.module == module_) return;
        memo_.module = module_;
        memo_.is_fine.clear();
    }

    void run() {
        std::vector<std::pair<Span, TypeId>> found;
        for (std::uint32_t i = 0; i < body_.exprs.size(); ++i) {
            const TypeId type = tables_.type(hir::ExprId(i));
            if (type.valid() && hidden_in(type).valid()) found.emplace_back(body_.exprs[hir::ExprId(i)].span, type);
        }
        // Of an expression and its parts, the whole is told.
        std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) {
            return a.first.begin != b.first.begin ? a.first.begin < b.first.begin : a.first.end > b.first.end;
        });
        std::uint32_t end = 0;
        for (const auto& [span, type] : found) {
            if (span.begin < end) continue;
            end = span.end;
            const DefId def = hidden_in(type);
            cx_.sink()
                .error(span, fmt::format("type `{}` is private", program_.name(def)))
                .label(span, "private type")
                .note_at(program_.defs[def].name.span, "the type is defined here");
        }
    }

  private:
    DefId hidden_in(TypeId type) {
        if (type.raw < memo_.is_fine.size() && memo_.is_fine[type.raw]) return {};
        DefId hidden;
        types::walk(types_, type, [&](TypeId part) {
            const TypeData& data = types_[part];
            if (data.kind == TypeKind::Adt && !hidden.valid() && !may_name(data.def)) hidden = data.def;
            return !hidden.valid();
        });
        if (hidden.valid()) return hidden;
        if (type.raw >= memo_.is_fine.size()) memo_.is_fine.resize(types_.type_count());
        memo_.is_fine[type.raw] = true;
        return {};
    }

    bool may_name(DefId def) const {
        const hir::Def& data = program_.defs[def];
        if (data.visibility.is_public || program_.crates[data.crate].is_library) return true;
        for (DefId at = module_; at.valid(); at = program_.defs[at].parent) {
            if (at == data.visibility.module) return true;
        }
        return false;
    }

    Context& cx_;
    const hir::Program& program_;
    TypeStore& types_;
    const TypeTables& tables_;
    const hir::Body& body_;
    DefId module_;
    PrivacyMemo& memo_;
};

}  // namespace

void check_type_privacy(Context& context, const TypeTables& tables, PrivacyMemo& memo) { TypePrivacy(context, tables, memo).run(); }

}  // namespace ockc::check
