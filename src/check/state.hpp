// Internal: what check::Context owns. Caches of the item queries, the indexes over impls and traits, and the checked bodies.
#pragma once
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "check/context.hpp"
#include "support/index_map.hpp"
#include "types/print.hpp"

namespace ockc::check {

using types::GenericArg;
using types::RegionId;
using types::TypeData;
using types::TypeKind;
using types::TypeStore;

// Answers by DefId with stable addresses.
template <class T>
class DefCache {
  public:
    T* find(DefId def) { return def.raw < answers_.size() ? answers_[def.raw].get() : nullptr; }
    T& put(DefId def, T value) {
        if (def.raw >= answers_.size()) answers_.resize(def.raw + 1);
        answers_[def.raw] = std::make_unique<T>(std::move(value));
        return *answers_[def.raw];
    }

  private:
    std::vector<std::unique_ptr<T>> answers_;
};

class Names final : public types::NameSource {
  public:
    explicit Names(Context& context) : cx_(context) {}
    std::string_view text(Symbol symbol) const override { return cx_.program().interner.text(symbol); }
    std::string_view name(DefId def) const override { return cx_.program().name(def); }
    std::uint32_t parent_arg_count(DefId def) const override { return cx_.generics_of(def).parent_count; }
    DefId parent(DefId def) const override { return cx_.program().defs[def].parent; }
    std::string fn_item(DefId def, ArgsId args) const override;
    std::string closure(DefId def) const override;
    std::string opaque(DefId def, ArgsId args) const override;
    std::string constant(DefId def, ArgsId args) const override;

  private:
    Context& cx_;
};

struct LangItems {
#define OCKC_LANG(member, key) DefId member;
#include "check/lang_items.def"
};

// The head of a type, for finding impls without unification. 0: anything (parameters, projections).
using TypeKey = std::uint64_t;
TypeKey type_key(const TypeStore& types, TypeId type);

// The operator traits: scalars have them by the compiler.
using ScalarTrait = Context::ScalarOperator;

struct ImplEntry {
    DefId impl;
    TypeKey self_key = 0;
    TraitRef trait_ref;          // in terms of the impl's parameters, regions erased
};
struct AssocItem {
    DefId def;
    DefId container;             // impl or trait
};

struct Context::State {
    explicit State(Context& context);

    Context& cx;
    Names names;
    LangItems lang;
    std::unordered_map<DefId, ScalarTrait> scalar_traits;
    types::LayoutCache layouts;
    Arena arena;                 // constant values

    // ---- items
    DefCache<TypeId> types_of;
    DefCache<GenericsInfo> generics;
    DefCache<ArgsId> identity;
    DefCache<FnSigInfo> signatures;
    DefCache<std::vector<Predicate>> predicates;
    DefCache<std::vector<std::uint8_t>> late_bound;
    DefCache<std::vector<Predicate>> item_bounds;      // of associated types and opaques: Self = the projection
    DefCache<ParamEnv> envs;
    DefCache<AdtInfo> adts;
    DefCache<TraitRef> impl_trait_refs;
    DefCache<std::vector<TraitRef>> supertraits;       // direct ones, in terms of the trait's parameters
    std::unordered_map<DefId, TypeId> anon_const_types;    // expected types noted where the constant stands
    std::unordered_set<std::uint64_t> in_progress;         // (query, def) pairs being answered: cycle detection

    // ---- impls and traits
    bool indexed = false;
    std::unordered_map<DefId, std::vector<DefId>> impls_of_trait;            // as listed, unlowered
    // Per trait: all in the order in which they were lowered, and those that one self type can have, blanket impls included;
    // blanket impls alone stand under key 0. Both are made when asked for.
    struct TraitImpls {
        std::vector<ImplEntry> all;
        std::unordered_map<TypeKey, std::vector<std::uint32_t>> places;      // in `all`, by the self type that is written there
        std::unordered_map<TypeKey, std::vector<ImplEntry>> by_key;
        void add(const ImplEntry& entry);
        std::vector<ImplEntry> find(TypeKey key) const;
    };
    std::unordered_map<DefId, std::unique_ptr<TraitImpls>> lowered_impls;
    std::vector<std::unique_ptr<TraitImpls>> outdated_impls;                 // someone may be walking them
    std::unordered_map<std::uint64_t, std::vector<AssocItem>> inherent_items;    // (self key hash, name)
    std::unordered_map<Symbol, std::vector<AssocItem>> trait_items;          // by name
    std::unordered_map<const DefId*, std::unordered_set<DefId>> scopes;      // lists of traits in scope, which bodies share
    std::unordered_map<DefId, std::unordered_map<Symbol, DefId>> items_by_name;   // of one impl or trait
    struct Evaluated {
        TraitRef goal;
        bool holds = false;
    };
    std::unordered_map<std::uint64_t, Evaluated> evaluation_cache;           // solved goals without inference variables
    std::uint32_t raw_envs = 0;                                              // environments under construction: generic answers under them are not kept
    std::vector<TraitRef> active_goals;                                      // being evaluated, outermost first
    std::uint64_t goal_cycles = 0;
    std::unordered_map<std::uint64_t, TypeId> normalized;                    // (environment, type)
    std::unordered_map<std::uint64_t, bool> drops;                           // (environment of generic types, type): needs_drop
    std::unordered_set<DefId> recursive_types;                               // that hold themselves by value: reported
    std::unordered_set<DefId> failed_derives;                                // impls whose fields lack the trait: reported, bodies unchecked
    std::unordered_map<DefId, std::vector<RegionId>> captured_regions;       // by function: unnamed regions of the inputs, which its `impl Trait`s capture
    std::unordered_map<DefId, TypeId> hidden_types;                          // of `impl Trait` results, by the bodies that return them

    // ---- bodies
    struct BodySlot {
        std::unique_ptr<TypeTables> tables;
        bool done = false, ok = false;
    };
    std::unordered_map<DefId, BodySlot> bodies;
    std::unordered_map<DefId, const ClosureInfo*> closures;
    std::unordered_map<DefId, std::vector<ArgsId>> kernel_instances;
    std::vector<bool> consts_used;   // by Options::consts
    std::vector<DefId> checked;
    std::vector<DefId> queue;                          // bodies to check, filled while checking
    std::unordered_set<DefId> queued;

    // ---- constants
    std::unordered_map<std::uint64_t, const ConstValue*> const_values;       // (def, args)
    std::unordered_set<std::uint64_t> const_open;
    std::unordered_set<DefId> checked_items;

    // ---- what is asked of the library (demand.cpp); nothing when all of it was read at once
    std::size_t lang_items_noted = 0;
    std::unordered_set<std::uint64_t> asked_impls, asked_inherent;           // (trait, type), (type, name)
    SideMap<Symbol, std::uint8_t> asked_traits;                              // by the name of an item
    // Before something of a definition is read that it has only when it is lowered.
    void need(DefId def) {
        if (cx.options().demand != nullptr && !cx.program().defs[def].lowered) need_item(def);
    }
    void need_item(DefId def);
    // Has the body of a library function lowered.
    void need_body(DefId owner);
    void need_impls(DefId trait, TypeId self);
    void need_inherent(TypeId self, Symbol name);
    void need_traits(Symbol name);
    // The language item, which the program itself may not have named.
    DefId lang_item(std::string_view key);
    // Takes in what the library gave since the last time.
    void take_new();

    void note_lang_items();
    void index_impls();
    void index_impl(DefId impl);
    void index_trait(DefId trait);
    TraitImpls& trait_impls(DefId trait);
    const std::vector<ImplEntry>& impls(DefId trait) { return trait_impls(trait).all; }
    // Those that a type may have, as far as its head tells. The list stays good while others are asked for.
    const std::vector<ImplEntry>& impls_for(DefId trait, TypeId self);
    const std::unordered_set<DefId>& traits_in(hir::List<DefId> scope);
    // The item called `name` in an impl or trait, or none.
    DefId item_named(DefId container, Symbol name);
    std::string text(TypeId type) const { return types::type_text(cx.types_, names, type); }
};

// ---- small helpers over definitions (collect.cpp) ----------------------------------------------------------------------------

// The generics written at `def`, or null for kinds without any.
const hir::Generics* hir_generics(const hir::Program& program, DefId def);
// The nearest enclosing definition (itself included) that owns generic parameters.
DefId generics_owner(const hir::Program& program, DefId def);
// How many of a function's own lifetime parameters are early bound: named by a bound, or not determined by the inputs. The
// others are bound by each call anew, so an impl may name, order and elide them as it likes.
std::size_t early_lifetime_count(Context& context, DefId fn);
bool is_trait_item(const hir::Program& program, DefId def);
// The trait of an associated type; `impl Trait` in a trait's method is one without a name.
DefId trait_of_assoc(const hir::Program& program, DefId assoc);
bool is_inside(const hir::Program& program, DefId def, DefId module);
DefId enclosing_module(const hir::Program& program, DefId def);
// "a" or "an" + noun: "an enum".
std::string with_article(std::string_view noun);

}  // namespace ockc::check
