// dead_code: items of device modules that no entry leads to, variants that nothing makes and fields that nothing reads. Entries
// are kernels and device functions: a file with a kernel is a program, as rustc's binary crates are, and `pub` says only which
// module may name an item. A file without one is a library for others, and what it shows is used. Bodies are followed exactly; a type counts as used wherever its name is written outside
// its own definition and the heads of its impls, so that a doubtful case stays silent.
#include <algorithm>

#include <fmt/format.h>

#include <unordered_set>

#include "lints/lint.hpp"
#include "support/dataflow.hpp"

namespace ockc::lints {

namespace {

using hir::DefKind;

class DeadCode {
  public:
    DeadCode(const hir::Program& program, check::Context& context)
        : program_(program), cx_(context), live_(program.defs.size()), mentioned_(program.defs.size()), read_(program.interner.size()) {}

    void run() {
        is_library_ = !has_kernel();
        if (is_library_) shown_.insert(program_.reexported.begin(), program_.reexported.end());
        for (const DefId owner : cx_.checked_bodies()) {
            if (!is_user_code(program_, owner) || is_root(owner)) use(owner);
        }
        while (!queue_.empty()) {
            const DefId def = queue_.back();
            queue_.pop_back();
            follow(def);
        }
        mention_types();
        for (DefId def(0); def.raw < program_.defs.size(); def = DefId(def.raw + 1)) {
            const hir::Def& d = program_.defs[def];
            if (d.lowered && d.name.name.valid() && in_device_module(def) && is_user_code(program_, def)) report(def, d);
        }
    }

  private:
    bool in_device_module(DefId def) const {
        for (DefId at = program_.defs[def].parent; at.valid(); at = program_.defs[at].parent) {
            const auto* mod = std::get_if<hir::ModDef>(&program_.defs[at].data);
            if (mod != nullptr && program_.defs[at].kind == DefKind::Mod && (mod->is_device || mod->is_tile)) return true;
        }
        return false;
    }
    bool of_trait(const hir::Def& d) const {
        if (!d.parent.valid()) return false;
        const auto* impl = std::get_if<hir::ImplDef>(&program_.defs[d.parent].data);
        return program_.defs[d.parent].kind == DefKind::Trait || (impl != nullptr && impl->has_trait);
    }
    bool has_kernel() const {
        return std::any_of(program_.kernels.begin(), program_.kernels.end(), [&](DefId kernel) { return !program_.crates[program_.defs[kernel].crate].is_library; });
    }
    // Seen from outside the device module: public, and so is every module on the way; or shown by a `pub use`.
    bool exported(DefId def) const {
        if (!is_library_) return false;
        if (shown_.contains(def)) return true;
        if (!program_.defs[def].visibility.is_public) return false;
        const DefId parent = program_.defs[def].parent;
        if (!parent.valid()) return true;
        const auto* mod = std::get_if<hir::ModDef>(&program_.defs[parent].data);
        if (mod == nullptr) return true;   // an associated item: as its type, which is not followed here
        return mod->is_device || mod->is_tile || exported(parent);
    }
    // What is used without being named by live code.
    bool is_root(DefId def) const {
        const hir::Def& d = program_.defs[def];
        if (d.kind != DefKind::Fn && d.kind != DefKind::AssocFn && d.kind != DefKind::Const && d.kind != DefKind::AssocConst && d.kind != DefKind::Static) return true;
        if (exported(def) || of_trait(d) || !in_device_module(def) || program_.interner.text(d.name.name) == "_") return true;
        for (const hir::AttributeKind kind : {hir::AttributeKind::Kernel, hir::AttributeKind::TileEntry, hir::AttributeKind::Device, hir::AttributeKind::NoMangle, hir::AttributeKind::ExportName}) {
            if (program_.attribute(def, kind) != nullptr) return true;
        }
        return false;
    }

    void use(DefId def) {
        if (!def.valid() || live_.test(def.raw)) return;
        live_.set(def.raw);
        const hir::Def& d = program_.defs[def];
        if (d.kind == DefKind::Ctor || d.kind == DefKind::Variant) use(d.parent);
        queue_.push_back(def);
    }
    void mention(DefId def) {
        if (!def.valid()) return;
        mentioned_.set(def.raw);
        const hir::Def& d = program_.defs[def];
        if (d.kind == DefKind::Ctor || d.kind == DefKind::Variant) mention(d.parent);
    }

    void follow(DefId def) {
        const DefKind kind = program_.defs[def].kind;
        const bool has_body = kind == DefKind::Fn || kind == DefKind::AssocFn || kind == DefKind::Const || kind == DefKind::AssocConst || kind == DefKind::Static || kind == DefKind::AnonConst;
        if (!has_body || program_.crates[program_.defs[def].crate].is_library) return;
        const check::TypeTables* tables = cx_.check_body(def);
        if (tables == nullptr) return;
        const hir::Body& body = *program_.bodies[tables->body];
        const bool has_fields = tables->has<hir::FieldExpr>() || tables->has<hir::StructExpr>();
        for (hir::ExprId id(0); id.raw < body.exprs.size(); id = hir::ExprId(id.raw + 1)) {
            use(tables->callees[id].def);
            use(tables->expr_items[id].def);
            const types::TypeId type = tables->type(id);
            if (type.valid() && cx_.types().kind(type) == types::TypeKind::Adt) mention(cx_.types()[type].def);
            if (!has_fields) continue;
            if (const auto* field = std::get_if<hir::FieldExpr>(&body.exprs[id].data)) read_.set(field->field.name.raw);
            if (const auto* update = std::get_if<hir::StructExpr>(&body.exprs[id].data); update != nullptr && update->base.valid()) read_all_ = true;
        }
        for (hir::PatId id(0); id.raw < body.pats.size(); id = hir::PatId(id.raw + 1)) {
            const DefId item = tables->pat_items[id].def;
            if (item.valid()) {
                mention(item);
                const DefKind named = program_.defs[item].kind;
                if (named == DefKind::Const || named == DefKind::AssocConst) use(item);
            }
            const auto* fields = std::get_if<hir::StructPat>(&body.pats[id].data);
            if (fields == nullptr) continue;
            for (const hir::FieldPat& field : fields->fields) read_.set(field.field.name.raw);
        }
    }

    // The dead functions and constants: what they name is not used by that. Ordered, for look-ups.
    std::vector<Span> dead_spans() const {
        std::vector<Span> spans;
        for (DefId def(0); def.raw < program_.defs.size(); def = DefId(def.raw + 1)) {
            if (program_.defs[def].lowered && is_user_code(program_, def) && !live_.test(def.raw) && !is_root(def)) spans.push_back(program_.defs[def].span);
        }
        std::sort(spans.begin(), spans.end(), before);
        return spans;
    }
    static bool before(const Span& a, const Span& b) { return std::pair(a.file.raw, a.begin) < std::pair(b.file.raw, b.begin); }

    void mention_types() {
        const std::vector<Span> dead = dead_spans();
        std::unordered_set<std::uint32_t> heads;
        for (const DefId impl : program_.impls) heads.insert(program_.as<hir::ImplDef>(impl).self_type.raw);
        for (hir::TyId id(0); id.raw < program_.types.size(); id = hir::TyId(id.raw + 1)) {
            const auto* path = std::get_if<hir::PathTy>(&program_.types[id].data);
            if (path == nullptr || heads.contains(id.raw) || path->path->path.res.kind != hir::Res::Kind::Def) continue;
            const DefId def = path->path->path.res.def;
            const Span own = program_.defs[def].span, here = program_.types[id].span;
            if (own.file == here.file && own.begin <= here.begin && here.end <= own.end) continue;
            const auto after = std::upper_bound(dead.begin(), dead.end(), here, before);
            if (after != dead.begin() && std::prev(after)->file == here.file && here.end <= std::prev(after)->end) continue;
            mention(def);
        }
    }

    void report(DefId def, const hir::Def& d) {
        const std::string_view name = program_.interner.text(d.name.name);
        if (name.starts_with('_')) return;
        const auto never = [&](const char* what, const char* done) {
            cx_.sink().lint("dead_code", d.name.span, fmt::format("{} `{}` is never {}", what, name, done));
        };
        const bool live = live_.test(def.raw);
        const bool named = live || mentioned_.test(def.raw);
        switch (d.kind) {
            case DefKind::Fn:
                if (!live && !is_root(def)) never("function", "used");
                return;
            case DefKind::AssocFn:
                if (!live && !is_root(def)) never(program_.as<hir::FnDef>(def).sig.has_self ? "method" : "associated function", "used");
                return;
            case DefKind::Const:
                if (!live && !is_root(def)) never("constant", "used");
                return;
            case DefKind::AssocConst:
                if (!live && !is_root(def)) never("associated constant", "used");
                return;
            case DefKind::Static:
                if (!live && !is_root(def)) never("static", "used");
                return;
            case DefKind::TyAlias:
                if (!named && !exported(def)) never("type alias", "used");
                return;
            case DefKind::Struct:
            case DefKind::Enum:
                if (exported(def)) return;
                if (!named) never(d.kind == DefKind::Struct ? "struct" : "enum", d.kind == DefKind::Struct ? "constructed" : "used");
                else parts(def, d);
                return;
            case DefKind::Mod:
            case DefKind::Union:
            case DefKind::Variant:
            case DefKind::Trait:
            case DefKind::AssocTy:
            case DefKind::Ctor:
            case DefKind::Field:
            case DefKind::Impl:
            case DefKind::TyParam:
            case DefKind::ConstParam:
            case DefKind::LifetimeParam:
            case DefKind::Closure:
            case DefKind::AnonConst:
            case DefKind::Macro:
            case DefKind::Crate:
            case DefKind::ForeignFn:
            case DefKind::ImplTrait:
            case DefKind::Opaque: return;
        }
    }

    // Variants and named fields of a private type that is used.
    void parts(DefId def, const hir::Def& d) {
        const auto& adt = program_.as<hir::AdtDef>(def);
        if (adt.repr.c) return;
        for (const hir::VariantData& variant : adt.variants) {
            if (d.kind == DefKind::Enum) {
                const bool made = live_.test(variant.def.raw) || (variant.ctor.valid() && live_.test(variant.ctor.raw));
                if (!made && !program_.interner.text(variant.name.name).starts_with('_')) {
                    cx_.sink().lint("dead_code", variant.name.span, fmt::format("variant `{}` is never constructed", program_.interner.text(variant.name.name)));
                }
            }
            if (d.kind != DefKind::Struct || variant.form != hir::VariantForm::Named || read_all_) continue;
            for (const hir::FieldDef& field : variant.fields) {
                const std::string_view name = program_.interner.text(field.name.name);
                if ((is_library_ && field.visibility.is_public) || read_.test(field.name.name.raw) || name.starts_with('_')) continue;
                cx_.sink().lint("dead_code", field.name.span, fmt::format("field `{}` is never read", name));
            }
        }
    }

    const hir::Program& program_;
    check::Context& cx_;
    bool is_library_ = false;
    std::unordered_set<DefId> shown_;
    BitSet live_, mentioned_;              // by DefId
    BitSet read_;                          // by the names of fields
    bool read_all_ = false;                                // a struct update reads fields without naming them
    std::vector<DefId> queue_;
};

}  // namespace

void check_dead_code(const hir::Program& program, check::Context& context) { DeadCode(program, context).run(); }

}  // namespace ockc::lints
