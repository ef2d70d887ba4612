// The module tree: which names each module binds to what, and the imports that bind them. Enums and traits are scopes too
// (`Option::Some`, `Iterator::next`), and so are blocks that hold items.
#pragma once
#include <array>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "hir/hir.hpp"

namespace ockc::resolve {

using hir::DefKind;
using hir::Res;

using ModuleId = Id<struct ModuleTag>;
using ImportId = Id<struct ImportTag>;
using MacroScopeId = Id<struct MacroScopeTag>;

enum class Ns : std::uint8_t { Type, Value, Macro };
inline constexpr std::array kAllNs = {Ns::Type, Ns::Value, Ns::Macro};

enum class ModuleKind : std::uint8_t { Module, Enum, Trait, Block, Opaque };

struct Binding {
    Res res;                        // Error: an import that failed
    hir::Visibility visibility;
    Span span;                      // the item's head or the import
    ImportId import;                // none: defined here
    bool glob = false;
    bool extern_crate = false;
    Res other;                      // a second glob brings something else: an ambiguity, reported when used
    ImportId other_import;

    bool ambiguous() const { return other.kind != Res::Kind::Error; }
};

struct NameKey {
    Symbol name;
    Ns ns = Ns::Type;
    friend bool operator==(NameKey, NameKey) = default;
};
struct NameKeyHash {
    std::size_t operator()(NameKey key) const noexcept { return (std::size_t{key.name.raw} << 2) + static_cast<std::size_t>(key.ns); }
};

inline constexpr std::uint32_t kNoImageRow = 0xFFFF'FFFFu;

struct Module {
    ModuleKind kind = ModuleKind::Module;
    DefId def;                      // Mod, Enum, Trait, Opaque; none for blocks
    ModuleId parent;                // lexically enclosing scope
    std::uint32_t crate = 0;
    bool device = false;            // inside #[cuda_module] or #[cutile::module]: every item is checked
    // Of the library read on demand (library.hpp): its row, and whether all of its names have been asked for.
    std::uint32_t image_row = kNoImageRow;
    bool complete = false;
    std::unordered_map<NameKey, Binding, NameKeyHash> names;
    std::vector<NameKey> order;     // of definition, for deterministic walks
    std::vector<ImportId> glob_importers;   // globs that import from here
    std::vector<ImportId> imports;  // single imports written here
    std::vector<DefId> items;       // in source order
    std::vector<DefId> unnamed_traits;      // `use Trait as _`
};

struct ImportSegment {
    ast::SegmentKind kind = ast::SegmentKind::Name;
    hir::Ident ident;
    std::uint32_t context = 0;
};

struct Import {
    enum class Kind : std::uint8_t { Single, Glob } kind = Kind::Single;
    ModuleId module;                // where it is written
    ast::ItemId item;               // the `use`
    std::vector<ImportSegment> path;   // Single: the last segment is what is imported; Glob: the whole path is the source
    bool global = false;            // starts with `::`
    bool only_type = false;         // `{self}`: the module itself, no values or macros of its name
    bool from_list = false;         // written inside `{..}`
    hir::Ident name;                // the name it binds; `_` binds none
    Span span;                      // the use tree, as rustc shows it: with its prefix
    hir::Visibility visibility;
    MacroScopeId macros;            // macro_rules visible where it is written
    // Progress of the fixpoint.
    std::array<Res, 3> found{};     // by Ns
    ModuleId source;                // Glob: what it copies from
    bool done = false;              // nothing more to find
    bool failed = false;
    bool reported = false;
    bool used = false;              // a path outside of imports went through it
    std::uint32_t failed_at = 0;    // segment
    ModuleId failed_in;             // none: first segment, looked up lexically

    bool any() const {
        for (const Res& res : found) {
            if (res.kind != Res::Kind::Error) return true;
        }
        return false;
    }
};

// Where a definition was written; parallel to Program::defs.
struct DefSource {
    enum class State : std::uint8_t { Idle, Queued, Done };
    ast::ItemId item;               // none for parts of items (variants, fields, parameters ..)
    ModuleId module;                // scope in which it was written
    ModuleId scope;                 // Mod, Enum, Trait, Opaque: its own names
    MacroScopeId macros;            // macro_rules visible at the item
    State state = State::Idle;
    bool strict = false;            // user code that is checked whether reached or not
    bool in_body = false;           // inside a function body: lowered with it, at once
    hir::VariantForm form = hir::VariantForm::Unit;   // Ctor, Variant, Struct
    std::uint32_t index = 0;        // Variant: position; Macro: MacroInfo; Impl: ImplInfo
};

// macro_rules names are visible from their definition on, to the end of the enclosing block or module.
struct MacroScope {
    MacroScopeId outer;
    Symbol name;
    DefId macro;
};

// A syntax context: one expansion of one macro.
struct Expansion {
    DefId macro;                    // none: an item macro of the library read on demand
    std::uint32_t parent = 0;       // context of the definition's own tokens
    Span call;
    DefId crate_root;               // what `$crate` names
};

}  // namespace ockc::resolve
