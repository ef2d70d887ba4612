#include "resolve/library.hpp"

#include "resolve/collect.hpp"
#include "resolve/derive.hpp"
#include "resolve/imports.hpp"
#include "resolve/lookup.hpp"

namespace ockc::resolve {

using image::kNone;
using image::Role;

namespace {

constexpr std::uint32_t kNoName = kNone - 1;

Span span_of(const image::Place& place) { return {FileId(place.file), place.begin, place.end}; }

Role role_of(Ns ns) {
    switch (ns) {
        case Ns::Type: return Role::Type;
        case Ns::Value: return Role::Value;
        case Ns::Macro: return Role::Macro;
    }
    OCKC_UNREACHABLE("namespace");
}

}  // namespace

Library::Library(State& state, std::span<const std::byte> bytes) : s_(state), image_(bytes) {
    const image::Header& header = image_.header();
    OCKC_CHECK(bytes.size() > sizeof header && header.magic == image::kMagic);
    units_ = image_.rows(header.units);
    is_read_.resize(units_.size());
    unit_defs_.resize(units_.size());
    buffers_.resize(header.buffers.count);
    modules_.resize(header.modules.count);
}

void Library::start(std::span<const ModuleId> roots) {
    const auto crates = image_.rows(image_.header().crates);
    for (std::size_t i = 0; i < crates.size(); ++i) {
        modules_[crates[i].root] = roots[i];
        s_[roots[i]].image_row = crates[i].root;
    }
    OCKC_CHECK(s_.expansions.size() == 1);
    for (const image::ExpansionRow& row : image_.rows(image_.header().expansions)) {
        s_.expansions.push_back({{}, row.parent, span_of(row.call), s_[roots[row.crate]].def});
    }
}

std::vector<LibraryFile> library_image_files(std::span<const std::byte> bytes) {
    const image::View view(bytes);
    std::vector<LibraryFile> files;
    for (const image::FileRow& row : view.rows(view.header().files)) files.push_back({view.text(row.name), view.text(row.text)});
    return files;
}

std::vector<LibraryCrate> library_image_crates(std::span<const std::byte> bytes) {
    const image::View view(bytes);
    std::vector<LibraryCrate> crates;
    for (const image::CrateRow& row : view.rows(view.header().crates)) crates.push_back({std::string(view.text(row.name)), FileId(row.file)});
    return crates;
}

// ---- names

std::uint32_t Library::name_row(std::string_view text) const {
    const auto slots = image_.rows(image_.header().slots);
    const auto names = image_.rows(image_.header().names);
    const auto mask = static_cast<std::uint32_t>(slots.size() - 1);
    for (std::uint32_t at = image::hash(text) & mask; slots[at] != kNone; at = (at + 1) & mask) {
        if (image_.text(names[slots[at]].text) == text) return slots[at];
    }
    return kNoName;
}

std::span<const image::EntryRow> Library::entries_of(Symbol name) {
    std::uint32_t& known = names_.at(name);
    if (known == 0) known = name_row(s_.text(name)) + 1;
    if (known == kNoName + 1) return {};
    const image::List entries = image_.rows(image_.header().names)[known - 1].entries;
    return image_.rows(image_.header().entries).subspan(entries.first, entries.count);
}

void Library::bind(ModuleId id, Symbol name, Ns ns) {
    const std::uint32_t row = s_[id].image_row;
    const Role role = role_of(ns);
    for (const image::EntryRow& entry : entries_of(name)) {
        if (entry.module != row) continue;
        if (entry.role == Role::Module && ns == Ns::Type) module(entry.unit);
        if (entry.role != role) continue;
        read(entry.unit);
        if (entry.by_glob != 0) follow_globs(entry.unit, id, name, ns);
    }
}

// Asking a glob's source for the name hands it on.
void Library::follow_globs(std::uint32_t unit, ModuleId importer, Symbol name, Ns ns) {
    const auto found = imports_of_.find(unit);
    if (found == imports_of_.end()) return;
    for (std::size_t i = found->second.first; i < found->second.second; ++i) {
        const Import& import = s_.imports[i];
        if (import.kind == Import::Kind::Glob && import.module == importer && import.source.valid()) find(s_, import.source, name, ns);
    }
}

void Library::complete(ModuleId id) {
    const std::uint32_t row = s_[id].image_row;
    if (row == kNone || std::exchange(s_[id].complete, true)) return;
    const image::ModuleRow& m = image_.rows(image_.header().modules)[row];
    for (const std::uint32_t child : image_.list(m.modules)) module(child);
    for (const std::uint32_t unit : image_.list(m.units)) read(unit);
    for (std::size_t i = 0; i < s_.imports.size(); ++i) {
        if (s_.imports[i].module == id && s_.imports[i].kind == Import::Kind::Glob && s_.imports[i].source.valid()) complete(s_.imports[i].source);
    }
}

void Library::read_lang_item(std::string_view key) {
    for (const image::EntryRow& entry : entries_of(s_.names.intern(key))) {
        if (entry.role == Role::Lang) read(entry.unit);
    }
}

// ---- reading

const lex::TokenBuffer& Library::buffer(std::uint32_t index) {
    if (buffers_[index] != nullptr) return *buffers_[index];
    const image::BufferRow& row = image_.rows(image_.header().buffers)[index];
    lex::TokenArrays arrays;
    arrays.size = row.size;
    arrays.kinds = image_.array<lex::TokenKind>(row.kinds);
    arrays.begins = image_.array<std::uint32_t>(row.begins);
    arrays.ends = image_.array<std::uint32_t>(row.ends);
    arrays.partners = image_.array<std::uint32_t>(row.partners);
    arrays.files = image_.array<FileId>(row.files);
    arrays.contexts = image_.array<std::uint32_t>(row.contexts);
    auto made = std::make_unique<lex::TokenBuffer>(FileId(row.file), static_cast<lex::Edition>(row.edition), arrays);
    buffers_[index] = made.get();
    s_.program.crates[0].tokens.push_back(std::move(made));
    return *buffers_[index];
}

ModuleId Library::module(std::uint32_t index) {
    if (modules_[index].valid()) return modules_[index];
    const image::ModuleRow& row = image_.rows(image_.header().modules)[index];
    const ModuleId parent = module(row.parent);
    const std::uint32_t crate = s_[parent].crate;
    const Symbol name = s_.names.intern(image_.text(row.name));
    const Span head = span_of(row.head);
    DefSource source;
    source.module = parent;
    const DefId def = s_.new_def(DefKind::Mod, {name, head}, s_[parent].def, span_of(row.item), crate, source);
    hir::Visibility visibility;
    visibility.is_public = row.visible_in == kNone;
    visibility.module = s_[visibility.is_public ? parent : module(row.visible_in)].def;
    s_[def].visibility = visibility;
    const ModuleId made = s_.new_module(ModuleKind::Module, def, parent, crate, false);
    modules_[index] = made;
    s_[made].image_row = index;
    s_.origin[def].scope = made;
    s_[parent].items.push_back(def);
    Binding binding;
    binding.res = def_res(def);
    binding.visibility = visibility;
    binding.span = head;
    define(s_, parent, name, Ns::Type, binding);
    return made;
}

MacroScopeId Library::macros_after(std::uint32_t unit) {
    if (unit == kNone) return {};
    read(unit);
    const auto found = macro_scopes_.find(unit);
    return found == macro_scopes_.end() ? MacroScopeId() : found->second;
}

void Library::read(std::uint32_t index) {
    if (is_read_[index]) return;
    is_read_[index] = true;
    const image::UnitRow& row = units_[index];
    const ModuleId place = module(row.module);
    const MacroScopeId macros = macros_after(row.macros);
    parse::ParseContext context = s_.parse_context(s_[place].crate);
    context.options.skip_bodies = true;
    const std::size_t first_import = s_.imports.size(), first_impl = s_.impls.size();
    for (const ast::ItemId item : parse::parse_items({&buffer(row.buffer), row.begin, row.end}, parse::ItemPlace::Module, context)) {
        const LibraryItem made = collect_library_item(s_, place, macros, item);
        unit_defs_[index] = made.def;
        if (made.macros != macros) macro_scopes_.emplace(index, made.macros);
    }
    if (const std::size_t end = s_.imports.size(); end != first_import) {
        imports_of_.emplace(index, std::pair(first_import, end));
        resolve_imports(s_, first_import, false);
    }
    const DefId def = unit_defs_[index];
    if (!def.valid()) return;
    unit_of_.emplace(def, index);
    if (s_[def].kind == DefKind::Trait) ++version_;
    for (std::size_t i = first_impl; i < s_.impls.size(); ++i) {   // other units may have been read meanwhile
        ImplInfo& impl = s_.impls[i];
        if (impl.derive && impl.head.adt == def) derived_impls_[def].push_back(static_cast<std::uint32_t>(i));
        if (impl.def != def) continue;
        impl.head = head_of(row);
        if (row.trait != kNone) impl.trait = unit_defs_[row.trait];
    }
}

// ---- impls and traits

ImplHead Library::head_of(const image::UnitRow& unit) const {
    ImplHead head;
    head.kind = static_cast<ImplHead::Kind>(unit.head);
    if (head.kind == ImplHead::Kind::Adt) head.adt = unit_defs_[unit.head_of];
    if (head.kind == ImplHead::Kind::Prim) head.prim = static_cast<hir::PrimTy>(unit.head_of);
    if (head.kind == ImplHead::Kind::Shape) head.form = static_cast<ImplHead::Form>(unit.head_of);
    return head;
}

// A type that was not read yet is none that anyone asks about.
bool Library::may_be_for(const image::UnitRow& unit, const ImplHead& self) const {
    const ImplHead head = head_of(unit);
    return head.kind == ImplHead::Kind::Any || head == self;
}

std::vector<DefId> Library::read_traits(Symbol name) {
    std::vector<DefId> traits;
    for (const image::EntryRow& entry : entries_of(name)) {
        if (entry.role != Role::TraitItem) continue;
        read(entry.unit);
        traits.push_back(unit_defs_[entry.unit]);
    }
    return traits;
}

std::vector<DefId> Library::read_impls(DefId trait, const ImplHead& self) {
    std::vector<DefId> impls;
    const auto found = unit_of_.find(trait);
    if (found == unit_of_.end()) return impls;
    for (const std::uint32_t unit : image_.list(units_[found->second].impls)) {
        if (!may_be_for(units_[unit], self)) continue;
        read(unit);
        impls.push_back(unit_defs_[unit]);
    }
    if (self.kind == ImplHead::Kind::Adt) add_derived(trait, self.adt, impls);
    return impls;
}

std::vector<DefId> Library::read_inherent_impls(const ImplHead& self, Symbol name) {
    std::vector<DefId> impls;
    for (const image::EntryRow& entry : entries_of(name)) {
        if (entry.role != Role::ImplItem || !may_be_for(units_[entry.unit], self)) continue;
        read(entry.unit);
        impls.push_back(unit_defs_[entry.unit]);
    }
    return impls;
}

// Derived impls came with their type; which trait is meant is found out when a trait of the word's name is asked for.
void Library::add_derived(DefId trait, DefId adt, std::vector<DefId>& out) {
    const auto derived = derived_impls_.find(adt);
    if (derived == derived_impls_.end()) return;
    for (const std::uint32_t index : derived->second) {
        ImplInfo& impl = s_.impls[index];
        if (!impl.trait.valid() && derive_name(*impl.derive) == s_.name_of(trait)) impl.trait = derived_trait(s_, *impl.derive);
        if (impl.trait == trait) out.push_back(impl.def);
    }
}

void Library::add_traits(ModuleId id, std::vector<DefId>& out) const {
    for (const std::uint32_t unit : image_.list(image_.rows(image_.header().modules)[s_[id].image_row].traits)) {
        if (unit_defs_[unit].valid()) out.push_back(unit_defs_[unit]);
    }
}

}  // namespace ockc::resolve
