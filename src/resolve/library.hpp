// The built-in library read on demand: of each item only what a program reaches is parsed and given a DefId, so that a large
// library costs a small kernel nothing. The other way, collect_crate over all of its files, gives the same definitions.
//
// In: an image (library_image.hpp) and what the rest of resolve asks for: a name of a module, a trait, type or method name
// that was reached, a language item. Out: the item collected as if it had just been read from its file.
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
    // The impls that come into play, when a trait or type is reached or a method's name is mentioned.
    void trait_reached(DefId trait);
    void adt_reached(DefId adt);
    void prim_reached(hir::PrimTy prim);
    void name_mentioned(Symbol name);
    // The traits read so far whose methods a library module sees; `version` changes when there are more.
    void add_traits(ModuleId module, std::vector<DefId>& out) const;
    std::uint32_t version() const { return version_; }

  private:
    enum class UnitState : std::uint8_t { Untouched, Wanted, Read };   // Wanted: an inherent impl whose type is not reached yet
    std::span<const image::EntryRow> entries_of(Symbol name);
    std::uint32_t name_row(std::string_view text) const;
    const lex::TokenBuffer& buffer(std::uint32_t row);
    ModuleId module(std::uint32_t row);
    MacroScopeId macros_after(std::uint32_t unit);
    void read(std::uint32_t unit);
    void follow_globs(std::uint32_t unit, ModuleId module, Symbol name, Ns ns);
    bool head_is_reached(const image::UnitRow& unit) const;
    bool trait_is_reached(const image::UnitRow& unit) const;
    void type_reached(image::List impls);

    State& s_;
    image::View image_;
    std::span<const image::UnitRow> units_;
    std::vector<UnitState> unit_states_;
    std::vector<DefId> unit_defs_;
    std::vector<const lex::TokenBuffer*> buffers_;
    std::vector<ModuleId> modules_;
    std::unordered_map<DefId, std::uint32_t> unit_of_;               // traits and types
    std::unordered_map<std::uint32_t, MacroScopeId> macro_scopes_;   // by unit of the macro_rules
    std::unordered_map<std::uint32_t, std::pair<std::size_t, std::size_t>> imports_of_;   // of `use` units
    SideMap<Symbol, std::uint32_t> names_;                           // row + 1; 0: not looked up yet
    std::uint32_t version_ = 0;
};

}  // namespace ockc::resolve
