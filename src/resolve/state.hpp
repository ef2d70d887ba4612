// What all parts of resolve share: the program under construction and the tables beside it. No part keeps state of its own
// between calls but Lowerer, which lives for one item.
#pragma once
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "hir/demand.hpp"
#include "resolve/def_map.hpp"
#include "resolve/resolve.hpp"
#include "support/small_vec.hpp"

namespace ockc::resolve {

// An attribute after cfg_attr has been evaluated.
struct Attr {
    ast::MetaItem meta;
    Span span;
    ast::AttributeId ast;
    Symbol doc;                     // a documentation comment's text, else none
};
using Attrs = SmallVec<Attr, 2>;

enum class BuiltinMacro : std::uint8_t {
#define OCKC_BUILTIN_MACRO(kind, ...) kind,
#include "resolve/macros.def"
};
enum class DeriveKind : std::uint8_t {
#define OCKC_DERIVE(kind, ...) kind,
#include "resolve/macros.def"
};

// One arm of a macro_rules definition as token ranges; compiled to a matcher when first used.
struct MacroRule {
    lex::TokenRange matcher;
    lex::TokenRange body;
};
// What a definition of kind Macro stands for; DefSource::index names it.
struct MacroInfo {
    enum class Kind : std::uint8_t { Rules, Builtin, Attribute, Derive } kind = Kind::Rules;
    BuiltinMacro builtin{};
    hir::AttributeKind attribute{};
    DeriveKind derive{};
    lex::TokenRange body;           // Rules: what stands between the outer delimiters
    bool parsed = false, bad = false, used = false, exported = false;
    std::vector<MacroRule> rules;
    std::uint32_t context = 0;      // of the definition's tokens
    lex::TokenRange item;           // Rules: the definition
    MacroScopeId outer;             // Rules: the macros visible at it
    DefId crate_root;               // what `$crate` names
};

using ImplHead = hir::TypeHead;
struct ImplInfo {
    DefId def;
    DefId trait;                    // none: inherent, or not resolved
    bool has_trait = false;
    ImplHead head;
    bool indexed = false;           // trait and head are known
    bool active = false;
    std::vector<DefId> items;
    // Of #[derive]: the trait's row, the type, and where the word stood; the item is made when the impl becomes active.
    std::optional<DeriveKind> derive;
    Span derive_span;
};

struct CrateInfo {
    Symbol name;
    ModuleId root;
    FileId file;
    bool is_library = false;
    ast::Crate* ast = nullptr;
};

// The folder in which a file's `mod x;` are searched, and how the file was reached (to refuse cycles).
struct ModuleFolder {
    std::string folder;             // with a trailing '/', or empty
    std::string file_folder;        // of the file itself: what #[path] is relative to
    std::vector<std::string> open;  // paths of the files being loaded, outermost first
};

// A macro call in item position whose macro could not be named while collecting: it may come from an import.
struct PendingMacro {
    ModuleId module;
    ast::ItemId item;
    MacroScopeId macros;
    std::optional<ModuleFolder> folder;     // of the `mod x;` that it may expand to
    std::uint32_t depth = 0;
};

class Library;

// The traits that a module's own names and the prelude's bring into scope; `version` of the library that it was made for.
struct ModuleTraits {
    hir::List<DefId> traits;
    std::uint32_t version = 0;
    bool known = false;
};

struct State {
    State(const Inputs& inputs, const Options& options, Interner& names, SourceMap& sources, DiagSink& sink, hir::Program& program)
        : inputs(inputs), options(options), names(names), sources(sources), sink(&sink), levels(sink.levels()), program(program) {}

    bool has_syntax_errors = false;                 // in some file
    static constexpr std::size_t kPrimCount = 32;   // at least as many as PrimTy has

    const Inputs& inputs;
    const Options& options;
    Interner& names;
    SourceMap& sources;
    DiagSink* sink;                 // a scratch sink while host macros are expanded
    LintLevels& levels;             // of the compilation, whatever `sink` is
    hir::Program& program;

    std::vector<CrateInfo> crates;  // parallel to Program::crates
    StableVec<DefId, DefSource> origin;   // parallel to Program::defs
    std::vector<std::unique_ptr<Module>> modules;
    std::deque<Import> imports;
    IndexVec<MacroScopeId, MacroScope> macro_scopes;
    std::deque<MacroInfo> macros;
    std::deque<ImplInfo> impls;
    std::vector<Expansion> expansions{1};            // [0]: written in source
    std::uint64_t expanded_tokens = 0;               // of all expansions together
    std::vector<PendingMacro> pending_macros;
    std::unordered_set<std::uint64_t> reported_attributes;   // by place: file, begin
    std::unordered_map<Symbol, Span> duplicates;     // names defined twice: where that was last reported
    std::unordered_map<Symbol, ModuleId> extern_crates;   // what `::name` means
    std::unordered_map<Symbol, DefId> builtin_macros;     // visible everywhere: panic!, assert! ..
    ModuleId prelude;               // core::prelude, or none
    ModuleId user_root;
    std::unordered_map<ModuleId, ModuleTraits> module_traits;       // whose methods a module sees
    // When the library is read on demand: then reaching is about the user's items alone, and those of the library are lowered
    // when the checker asks for them.
    Library* library = nullptr;

    // Reaching (reach.hpp).
    bool reaching = false;
    std::vector<DefId> lowered_late;                                // impls and traits, for Resolver::take_new
    std::deque<DefId> queue;
    std::unordered_map<Symbol, std::vector<DefId>> items_by_name;   // associated items of all traits and impls
    std::unordered_set<Symbol> mentioned;                           // of any type
    std::unordered_set<std::uint64_t> mentioned_of;                 // of one type: `Type::name`
    std::unordered_set<Symbol> mentioned_somehow;                   // either
    std::unordered_map<DefId, std::vector<std::uint32_t>> impls_of_trait, impls_of_adt;
    std::vector<std::uint32_t> impls_of_prim[kPrimCount];
    std::unordered_set<DefId> reached_traits, reached_adts;
    bool prim_reached[kPrimCount] = {};

    Module& operator[](ModuleId id) { return *modules[id.raw]; }
    const Module& operator[](ModuleId id) const { return *modules[id.raw]; }
    hir::Def& operator[](DefId id) { return program.defs[id]; }
    const ast::Crate& ast(DefId def) const { return *crates[program.defs[def].crate].ast; }
    ast::Crate& ast_of(std::uint32_t crate) { return *crates[crate].ast; }
    std::string_view text(Symbol symbol) const { return names.text(symbol); }
    std::string_view name_of(DefId def) const { return names.text(program.defs[def].name.name); }
    bool is_library(ModuleId module) const { return crates[(*this)[module].crate].is_library; }
    bool is_library(DefId def) const { return crates[program.defs[def].crate].is_library; }
    // Of a library that is lowered when someone asks for it.
    bool is_on_demand(DefId def) const { return library != nullptr && is_library(def); }

    DefId new_def(DefKind kind, hir::Ident name, DefId parent, Span span, std::uint32_t crate, DefSource source);
    ModuleId new_module(ModuleKind kind, DefId def, ModuleId parent, std::uint32_t crate, bool device);
    // The Mod that a scope lies in: itself or an ancestor.
    ModuleId normal_module(ModuleId module) const;
    DefId normal_def(ModuleId module) const { return (*this)[normal_module(module)].def; }
    parse::ParseContext parse_context(std::uint32_t crate) {
        return {sources, names, *sink, *crates[crate].ast, options.parse};
    }
};

// The type of `Self` or the head of a scope when a path stops at it.
inline Res def_res(DefId def) {
    Res res;
    res.kind = Res::Kind::Def;
    res.def = def;
    return res;
}
inline Res prim_res(hir::PrimTy prim) {
    Res res;
    res.kind = Res::Kind::Prim;
    res.prim = prim;
    return res;
}
inline bool same_res(const Res& a, const Res& b) {
    return a.kind == b.kind && a.def == b.def && a.local == b.local && (a.kind != Res::Kind::Prim || a.prim == b.prim);
}
inline hir::Ident hir_ident(const ast::Ident& ident) { return {ident.name, ident.span}; }

// "function", "unit variant", "builtin type" ..: what a message calls the thing a path names.
std::string res_text(const State& state, const Res& res);
// "a" or "an".
std::string_view article(std::string_view noun);
// The type that a word names without import: i32, bool, str .. .
std::optional<hir::PrimTy> prim_type(std::string_view name);
std::string_view prim_name(hir::PrimTy prim);

}  // namespace ockc::resolve
