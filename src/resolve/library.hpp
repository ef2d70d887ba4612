// The built-in library read on demand: only items that someone asks for are parsed and given a DefId, so that a large library
// costs a small kernel nothing. The other way, collect_crate over all of its files, gives the same definitions.
//
// In: an image (library_image.hpp) and questions: a name of a module, from the rest of resolve; the impls of a trait for a type,
// from the checker. Out: items collected as if they had just been read from their files; they are lowered when their turn comes
// (Resolver::item).
#pragma once
#include <span>
#include <utility>

#include "resolve/library_image.hpp"
#include "resolve/state.hpp"

namespace ockc::resolve {

class Library {
  public:
    Library(State& state, std::span<const std::byte> image);

    // The root modules have been made, in the image's order.
    void start(std::span<const ModuleId> roots);
    // Binds a name of a library module, if it has it.
    void bind(ModuleId module, Symbol name, Ns ns);
    // Binds all names of a library module; of other scopes nothing.
    void complete(ModuleId module);
    void read_lang_item(std::string_view key);
    // Reads the traits that have an item of that name, and gives them.
    std::vector<DefId> read_traits(Symbol name);
    // Reads the impls of a trait that a type with that head may have by it, and gives them: derived ones, those for the type or
    // its form, and those for every type.
    std::vector<DefId> read_impls(DefId trait, const ImplHead& self);
    // The same for inherent impls that have an item of that name.
    std::vector<DefId> read_inherent_impls(const ImplHead& self, Symbol name);
    // The traits read so far whose methods a library module sees; `version` changes when there are more.
    void add_traits(ModuleId module, std::vector<DefId>& out) const;
    std::uint32_t version() const { return version_; }

  private:
    std::span<const image::EntryRow> entries_of(Symbol name);
    std::uint32_t name_row(std::string_view text) const;
    const lex::TokenBuffer& buffer(std::uint32_t row);
    ModuleId module(std::uint32_t row);
    MacroScopeId macros_after(std::uint32_t unit);
    void read(std::uint32_t unit);
    void follow_globs(std::uint32_t unit, ModuleId module, Symbol name, Ns ns);
    ImplHead head_of(const image::UnitRow& unit) const;
    bool may_be_for(const image::UnitRow& unit, const ImplHead& self) const;
    void add_derived(DefId trait, DefId adt, std::vector<DefId>& out);

    State& s_;
    image::View image_;
    std::span<const image::UnitRow> units_;
    std::vector<bool> is_read_;                                      // by unit
    std::vector<DefId> unit_defs_;
    std::vector<const lex::TokenBuffer*> buffers_;
    std::vector<ModuleId> modules_;
    std::unordered_map<DefId, std::uint32_t> unit_of_;               // traits and types
    std::unordered_map<std::uint32_t, MacroScopeId> macro_scopes_;   // by unit of the macro_rules
    std::unordered_map<std::uint32_t, std::pair<std::size_t, std::size_t>> imports_of_;   // of `use` units
    std::unordered_map<DefId, std::vector<std::uint32_t>> derived_impls_;   // of types: in State::impls
    SideMap<Symbol, std::uint32_t> names_;                           // row + 1; 0: not looked up yet
    std::uint32_t version_ = 0;
};

}  // namespace ockc::resolve
