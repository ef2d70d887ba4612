// Makes the image of the library: loads all of it from its files, then writes down what each item was made from and what it
// brings. One class, one method for each section.
#include <algorithm>
#include <map>

#include "resolve/library_image.hpp"
#include "resolve/link.hpp"
#include "resolve/reach.hpp"
#include "resolve/state.hpp"

namespace ockc::resolve {

using image::kNone;
using image::Role;

namespace {

image::Place place_of(Span span) { return {span.file.raw, span.begin, span.end}; }

class ImageWriter {
  public:
    explicit ImageWriter(State& state) : s_(state) {}

    std::string write() {
        number_modules();
        number_items();
        number_imports();
        describe_impls();
        describe_modules();
        name_associated_items();
        name_lang_items();
        return layout();
    }

  private:
    bool in_library(std::uint32_t crate) const { return s_.crates[crate].is_library && s_.crates[crate].file.valid(); }
    image::Text text(std::string_view value) {
        const image::Text made{static_cast<std::uint32_t>(texts_.size()), static_cast<std::uint32_t>(value.size())};
        texts_ += value;
        return made;
    }
    image::List list(std::span<const std::uint32_t> values) {
        const image::List made{static_cast<std::uint32_t>(lists_.size()), static_cast<std::uint32_t>(values.size())};
        lists_.insert(lists_.end(), values.begin(), values.end());
        return made;
    }
    void enter(std::string_view name, image::EntryRow entry) { entries_[std::string(name)].push_back(entry); }

    // ---- modules and crates

    void number_modules() {
        module_rows_.assign(s_.modules.size(), kNone);
        for (std::size_t i = 0; i < s_.modules.size(); ++i) {
            const Module& m = *s_.modules[i];
            if (m.kind != ModuleKind::Module || !in_library(m.crate)) continue;
            module_rows_[i] = static_cast<std::uint32_t>(modules_.size());
            image::ModuleRow& row = modules_.emplace_back();
            modules_made_.push_back(ModuleId(static_cast<std::uint32_t>(i)));
            row.name = text(s_.name_of(m.def));
            row.crate = m.crate;
            row.parent = m.parent.valid() ? module_rows_[m.parent.raw] : kNone;
            row.item = place_of(s_[m.def].span);
        }
        for (std::uint32_t crate = 0; crate < s_.crates.size(); ++crate) {
            if (!in_library(crate)) continue;
            OCKC_CHECK(crates_.size() == crate);   // they come before the synthetic ones
            crates_.push_back({text(s_.text(s_.crates[crate].name)), module_rows_[s_.crates[crate].root.raw], s_.crates[crate].file.raw});
        }
        for (std::uint32_t id = image::kFirstFile; id < s_.sources.size(); ++id) {
            const SourceFile& file = s_.sources.file(FileId(id));
            files_.push_back({text(file.name), text(file.text)});
        }
    }

    void describe_modules() {
        for (std::uint32_t row = 0; row < modules_.size(); ++row) describe_module(row);
    }

    void describe_module(std::uint32_t row) {
        const Module& m = s_[modules_made_[row]];
        std::vector<std::uint32_t> units, children, traits;
        const auto note_trait = [&](const Res& res) {
            if (res.kind != Res::Kind::Def || s_[res.def].kind != DefKind::Trait) return;
            const std::uint32_t unit = unit_of(res.def);
            if (std::find(traits.begin(), traits.end(), unit) == traits.end()) traits.push_back(unit);
        };
        for (const NameKey& key : m.order) {
            const Binding& binding = m.names.at(key);
            OCKC_CHECK(binding.res.kind != Res::Kind::Error && !binding.ambiguous());
            if (key.ns == Ns::Type) note_trait(binding.res);
            image::EntryRow entry{static_cast<Role>(key.ns), row, 0, binding.glob ? 1u : 0u};
            const bool own = !binding.import.valid();
            if (own && binding.res.kind == Res::Kind::Def && s_[binding.res.def].kind == DefKind::Mod) {
                entry.role = Role::Module;
                entry.unit = module_rows_[s_.origin[binding.res.def].scope.raw];
                modules_[entry.unit].head = place_of(binding.span);
                const hir::Visibility& seen = s_[binding.res.def].visibility;
                if (!seen.is_public) modules_[entry.unit].visible_in = module_rows_[s_.origin[seen.module].scope.raw];
                children.push_back(entry.unit);
            } else {
                const std::uint32_t unit = own ? unit_of(binding.res.def) : import_units_[binding.import.raw];
                if (own && unit == kNone) continue;   // a macro or attribute that no file defines
                OCKC_CHECK(unit != kNone);
                entry.unit = unit;
                if (units.empty() || units.back() != unit) units.push_back(unit);
            }
            enter(s_.text(key.name), entry);
        }
        for (const DefId trait : m.unnamed_traits) note_trait(def_res(trait));
        modules_[row].units = list(units);
        modules_[row].modules = list(children);
        modules_[row].traits = list(traits);
    }

    // ---- units

    std::uint32_t buffer_row(const lex::TokenBuffer* buffer) {
        const auto [place, fresh] = buffer_rows_.emplace(buffer, static_cast<std::uint32_t>(buffers_.size()));
        if (fresh) buffers_.push_back(buffer);
        return place->second;
    }

    std::uint32_t new_unit(ModuleId module, lex::TokenRange tokens) {
        OCKC_CHECK(tokens.buffer != nullptr && module_rows_[module.raw] != kNone);
        image::UnitRow& row = units_.emplace_back();
        row.module = module_rows_[module.raw];
        row.buffer = buffer_row(tokens.buffer);
        row.begin = tokens.begin;
        row.end = tokens.end;
        return static_cast<std::uint32_t>(units_.size() - 1);
    }

    // The unit that makes a definition: its own or an enclosing item's.
    std::uint32_t unit_of(DefId def) const {
        for (; def.valid(); def = s_.program.defs[def].parent) {
            if (def_units_[def.raw] != kNone) return def_units_[def.raw];
        }
        return kNone;
    }

    lex::TokenRange tokens_of(DefId id) const {
        const hir::Def& def = s_.program.defs[id];
        const DefSource& origin = s_.origin[id];
        switch (def.kind) {
            case DefKind::Fn:
            case DefKind::Struct:
            case DefKind::Union:
            case DefKind::Enum:
            case DefKind::Trait:
            case DefKind::Impl:
            case DefKind::Const:
            case DefKind::Static:
            case DefKind::TyAlias: break;
            case DefKind::Macro: return s_.macros[origin.index].item;
            case DefKind::ForeignFn: OCKC_UNREACHABLE("the library's image has no extern blocks");
            case DefKind::Mod:
            case DefKind::Variant:
            case DefKind::AssocTy:
            case DefKind::AssocFn:
            case DefKind::AssocConst:
            case DefKind::Ctor:
            case DefKind::Field:
            case DefKind::TyParam:
            case DefKind::ConstParam:
            case DefKind::LifetimeParam:
            case DefKind::Closure:
            case DefKind::AnonConst:
            case DefKind::Crate:
            case DefKind::ImplTrait:
            case DefKind::Opaque: return {};
        }
        return origin.item.valid() ? (*s_.crates[def.crate].ast)[origin.item].tokens : lex::TokenRange{};   // none: derived
    }

    static bool calls_macros(lex::TokenRange tokens) {
        for (std::uint32_t i = tokens.begin; i < tokens.end; ++i) {
            if (tokens.buffer->kind(i) == lex::TokenKind::Not) return true;
        }
        return false;
    }

    void number_items() {
        def_units_.assign(s_.program.defs.size(), kNone);
        for (std::uint32_t i = 0; i < s_.program.defs.size(); ++i) {
            const DefId id(i);
            if (!in_library(s_[id].crate)) continue;
            const lex::TokenRange tokens = tokens_of(id);
            if (tokens.buffer == nullptr) continue;
            const DefSource& origin = s_.origin[id];
            const std::uint32_t unit = def_units_[i] = new_unit(origin.module, tokens);
            const bool macro = s_[id].kind == DefKind::Macro;
            const MacroScopeId scope = macro ? s_.macros[origin.index].outer : origin.macros;
            if (scope.valid() && (macro || calls_macros(tokens))) units_[unit].macros = unit_of(s_.macro_scopes[scope].macro);
        }
    }

    void number_imports() {
        import_units_.assign(s_.imports.size(), kNone);
        std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> uses;   // crate and item
        for (std::size_t i = 0; i < s_.imports.size(); ++i) {
            const Import& import = s_.imports[i];
            const std::uint32_t crate = s_[import.module].crate;
            OCKC_CHECK(in_library(crate) && import.item.valid() && !import.failed);
            const auto [place, fresh] = uses.emplace(std::pair(crate, import.item.raw), 0);
            if (fresh) place->second = new_unit(import.module, s_.ast_of(crate)[import.item].tokens);
            import_units_[i] = place->second;
        }
    }

    // ---- impls

    void describe_impls() {
        std::map<std::uint32_t, std::vector<std::uint32_t>> impls;   // by unit of the trait or type
        std::vector<std::vector<std::uint32_t>> of_prims(State::kPrimCount);
        for (const ImplInfo& impl : s_.impls) {
            if (impl.derive) continue;   // made with its type
            const std::uint32_t unit = def_units_[impl.def.raw];
            image::UnitRow& row = units_[unit];
            row.has_trait = impl.has_trait ? 1 : 0;
            row.head = static_cast<std::uint32_t>(impl.head.kind);
            OCKC_CHECK(impl.head.kind != ImplHead::Kind::Error && impl.has_trait == impl.trait.valid());
            if (impl.has_trait) impls[row.trait = unit_of(impl.trait)].push_back(unit);
            if (impl.head.kind == ImplHead::Kind::Adt) impls[row.head_of = unit_of(impl.head.adt)].push_back(unit);
            if (impl.head.kind == ImplHead::Kind::Shape) row.head_of = static_cast<std::uint32_t>(impl.head.form);
            if (impl.head.kind == ImplHead::Kind::Prim) {
                row.head_of = static_cast<std::uint32_t>(impl.head.prim);
                of_prims[row.head_of].push_back(unit);
            }
        }
        for (const auto& [unit, list_of] : impls) units_[unit].impls = list(list_of);
        for (const auto& list_of : of_prims) prims_.push_back(list(list_of));
    }

    void name_associated_items() {
        for (std::uint32_t i = 0; i < s_.program.defs.size(); ++i) {
            const hir::Def& trait = s_[DefId(i)];
            if (trait.kind != DefKind::Trait || !in_library(trait.crate)) continue;
            for (const DefId item : s_[s_.origin[DefId(i)].scope].items) enter_item(item, Role::TraitItem);
        }
        for (const ImplInfo& impl : s_.impls) {
            if (impl.has_trait) continue;
            for (const DefId item : impl.items) enter_item(item, Role::ImplItem);
        }
    }

    void enter_item(DefId item, Role role) { enter(s_.name_of(item), {role, kNone, unit_of(item), 0}); }

    void name_lang_items() {
        for (const auto& [key, def] : s_.program.lang_items) enter(key, {Role::Lang, kNone, unit_of(def), 0});
    }

    // ---- the bytes

    template <class T>
    std::uint32_t append(std::span<const T> values) {
        bytes_.resize((bytes_.size() + 7) / 8 * 8);
        const auto offset = static_cast<std::uint32_t>(bytes_.size());
        bytes_.append(reinterpret_cast<const char*>(values.data()), values.size_bytes());
        return offset;
    }
    template <class T>
    image::Section<T> section(const std::vector<T>& rows) {
        return {append(std::span<const T>(rows)), static_cast<std::uint32_t>(rows.size())};
    }

    std::vector<image::BufferRow> append_buffers() {
        std::vector<image::BufferRow> rows;
        for (const lex::TokenBuffer* buffer : buffers_) {
            const lex::TokenArrays& a = buffer->arrays();
            const auto array = [&]<class T>(const T* items) { return items == nullptr ? 0 : append(std::span(items, a.size)); };
            image::BufferRow& row = rows.emplace_back();
            row.file = buffer->file().raw;
            row.edition = static_cast<std::uint32_t>(buffer->edition());
            row.size = a.size;
            row.kinds = array(a.kinds);
            row.begins = array(a.begins);
            row.ends = array(a.ends);
            row.partners = array(a.partners);
            row.files = array(a.files);
            row.contexts = array(a.contexts);
        }
        return rows;
    }

    std::vector<image::ExpansionRow> expansions() const {
        std::vector<image::ExpansionRow> rows;
        for (std::size_t i = 1; i < s_.expansions.size(); ++i) {
            const Expansion& one = s_.expansions[i];
            rows.push_back({one.parent, s_.program.defs[one.crate_root].crate, place_of(one.call)});
        }
        return rows;
    }

    // Texts are collected in a string of their own; their offsets move to where it ends up.
    template <class Rows, class Field>
    static void move_texts(Rows& rows, Field field, std::uint32_t by) {
        for (auto& row : rows) (row.*field).offset += by;
    }

    std::string layout() {
        std::vector<image::NameRow> names;
        std::vector<image::EntryRow> entries;
        for (const auto& [name, rows] : entries_) {
            names.push_back({text(name), {static_cast<std::uint32_t>(entries.size()), static_cast<std::uint32_t>(rows.size())}});
            entries.insert(entries.end(), rows.begin(), rows.end());
        }
        image::Header header;
        bytes_.assign(sizeof header, '\0');
        const std::uint32_t base = append(std::span<const char>(texts_));
        move_texts(names, &image::NameRow::text, base);
        move_texts(files_, &image::FileRow::name, base);
        move_texts(files_, &image::FileRow::text, base);
        move_texts(crates_, &image::CrateRow::name, base);
        move_texts(modules_, &image::ModuleRow::name, base);
        header.buffers = section(append_buffers());
        header.slots = section(hash_slots(names));
        header.files = section(files_);
        header.crates = section(crates_);
        header.modules = section(modules_);
        header.expansions = section(expansions());
        header.units = section(units_);
        header.prims = section(prims_);
        header.names = section(names);
        header.entries = section(entries);
        header.lists = section(lists_);
        std::memcpy(bytes_.data(), &header, sizeof header);
        return std::move(bytes_);
    }

    std::vector<std::uint32_t> hash_slots(const std::vector<image::NameRow>& names) const {
        std::size_t size = 16;
        while (size < names.size() * 2) size *= 2;
        std::vector<std::uint32_t> slots(size, kNone);
        for (std::uint32_t i = 0; i < names.size(); ++i) {
            const std::string_view name(bytes_.data() + names[i].text.offset, names[i].text.size);
            std::size_t at = image::hash(name) & (size - 1);
            while (slots[at] != kNone) at = (at + 1) & (size - 1);
            slots[at] = i;
        }
        return slots;
    }

    State& s_;
    std::string texts_, bytes_;
    std::vector<std::uint32_t> lists_;
    std::vector<image::FileRow> files_;
    std::vector<image::CrateRow> crates_;
    std::vector<image::ModuleRow> modules_;
    std::vector<image::UnitRow> units_;
    std::vector<image::List> prims_;
    std::map<std::string, std::vector<image::EntryRow>> entries_;
    std::vector<std::uint32_t> module_rows_, def_units_, import_units_;
    std::vector<ModuleId> modules_made_;
    std::map<const lex::TokenBuffer*, std::uint32_t> buffer_rows_;
    std::vector<const lex::TokenBuffer*> buffers_;
};

}  // namespace

std::string write_library_image(const Inputs& inputs, const Options& options, Interner& interner, SourceMap& sources, DiagSink& sink) {
    hir::Program program(interner);
    State state(inputs, options, interner, sources, sink, program);
    load_crates(state);
    link_names(state);
    if (sink.has_errors()) return {};
    index_impls(state, 0);
    return ImageWriter(state).write();
}

}  // namespace ockc::resolve
