#include "resolve/reach.hpp"

#include "resolve/derive.hpp"
#include "resolve/library.hpp"
#include "resolve/lookup.hpp"
#include "resolve/lower.hpp"

namespace ockc::resolve {

namespace {

bool is_adt(DefKind kind) { return kind == DefKind::Struct || kind == DefKind::Enum || kind == DefKind::Union; }

void enqueue(State& state, DefId def) {
    DefSource& origin = state.origin[def];
    if (origin.state != DefSource::State::Idle || origin.in_body || state.is_on_demand(def)) return;
    origin.state = DefSource::State::Queued;
    state.queue.push_back(def);
}

}  // namespace

bool head_reached(const State& state, const ImplHead& head) {
    switch (head.kind) {
        case ImplHead::Kind::Any:
        case ImplHead::Kind::Shape: return true;
        case ImplHead::Kind::Adt: return state.is_on_demand(head.adt) || state.reached_adts.contains(head.adt);
        case ImplHead::Kind::Prim: return state.library != nullptr || state.prim_reached[static_cast<std::size_t>(head.prim)];
        case ImplHead::Kind::Error: return false;
    }
    OCKC_UNREACHABLE("impl head");
}

void activate_if_ready(State& state, std::uint32_t index) {
    ImplInfo& impl = state.impls[index];
    if (impl.active || state.is_on_demand(impl.def)) return;
    if (impl.has_trait && (!impl.trait.valid() || !(state.is_on_demand(impl.trait) || state.reached_traits.contains(impl.trait)))) return;
    if (!head_reached(state, impl.head)) return;
    impl.active = true;
    enqueue(state, impl.def);
}

namespace {

void activate(State& state, const std::vector<std::uint32_t>& impls) {
    for (const std::uint32_t index : impls) activate_if_ready(state, index);
}

// The definition that a path of an impl's head names, generics aside.
Res quiet_path(const State& state, std::uint32_t crate, ast::PathId id, ModuleId module) {
    const ast::Path& path = (*state.crates[crate].ast)[id];
    if (path.qself.valid()) return {};
    std::vector<ImportSegment> segments;
    for (const ast::PathSegment& segment : path.segments) segments.push_back({segment.kind, hir_ident(segment.ident), segment.ident.context});
    const PathEnd end = find_path(state, segments, path.global, Ns::Type, module, nullptr);
    return end.kind == PathEnd::Kind::Done ? end.res : Res{};
}

bool names_parameter(const State& state, std::uint32_t crate, ast::GenericsId generics, Symbol name) {
    for (const ast::GenericParam& param : (*state.crates[crate].ast)[generics].params) {
        if (param.ident.name == name) return true;
    }
    return false;
}

ImplHead head_of_form(const ast::Type& type) {
    using Form = ImplHead::Form;
    if (ast::get_if<ast::ReferenceType>(type) != nullptr) return ImplHead::of(Form::Reference);
    if (ast::get_if<ast::PointerType>(type) != nullptr) return ImplHead::of(Form::Pointer);
    if (ast::get_if<ast::SliceType>(type) != nullptr) return ImplHead::of(Form::Slice);
    if (ast::get_if<ast::ArrayType>(type) != nullptr) return ImplHead::of(Form::Array);
    if (ast::get_if<ast::TupleType>(type) != nullptr) return ImplHead::of(Form::Tuple);
    if (ast::get_if<ast::FnPointerType>(type) != nullptr) return ImplHead::of(Form::Function);
    if (ast::get_if<ast::NeverType>(type) != nullptr) return ImplHead::of(Form::Never);
    return {};
}

// Found for every type that is looked up by name.
bool is_open(const ImplHead& head) { return head.kind == ImplHead::Kind::Any || head.kind == ImplHead::Kind::Shape; }

ImplHead head_of(const State& state, std::uint32_t crate, ast::TypeId id, const ast::ImplItem* impl, ModuleId module, int depth) {
    const ast::Crate& ast = *state.crates[crate].ast;
    ImplHead head;
    const ast::Type& type = ast[id];
    if (const auto* paren = ast::get_if<ast::ParenType>(type)) return head_of(state, crate, paren->inner, impl, module, depth);
    const auto* path = ast::get_if<ast::PathType>(type);
    if (path == nullptr) return head_of_form(type);
    const ast::Path& p = ast[path->path];
    if (impl != nullptr && p.segments.size() == 1 && names_parameter(state, crate, impl->generics, p.segments[0].ident.name)) return head;
    const Res res = quiet_path(state, crate, path->path, module);
    if (res.kind == Res::Kind::Prim) {
        head.kind = ImplHead::Kind::Prim;
        head.prim = res.prim;
        return head;
    }
    if (res.kind != Res::Kind::Def) {
        head.kind = p.qself.valid() || p.segments.size() > 1 ? ImplHead::Kind::Any : ImplHead::Kind::Error;
        return head;
    }
    const hir::Def& def = state.program.defs[res.def];
    if (is_adt(def.kind)) {
        head.kind = ImplHead::Kind::Adt;
        head.adt = res.def;
    } else if (def.kind == DefKind::TyAlias && depth < 16) {
        const DefSource& origin = state.origin[res.def];
        const auto& alias = std::get<ast::TypeAliasItem>((*state.crates[def.crate].ast)[origin.item].data);
        if (alias.type.valid()) return head_of(state, def.crate, alias.type, nullptr, origin.module, depth + 1);
    } else if (def.kind == DefKind::Opaque) {
        head.kind = ImplHead::Kind::Error;
    }
    return head;
}

std::uint64_t mention_key(const ImplHead& head, Symbol name) {
    const std::uint64_t type = head.kind == ImplHead::Kind::Adt ? std::uint64_t{head.adt.raw} : 0xFFFF'FF00u + static_cast<std::uint64_t>(head.prim);
    return type << 32 | name.raw;
}

bool wanted(const State& state, const ImplInfo& impl, Symbol name) {
    if (state.mentioned.contains(name)) return true;
    if (is_open(impl.head) || impl.head.kind == ImplHead::Kind::Error) return state.mentioned_somehow.contains(name);
    return state.mentioned_of.contains(mention_key(impl.head, name));
}

}  // namespace

ImplHead head_of_res(const State& state, const Res& res) {
    ImplHead head;
    if (res.kind == Res::Kind::Prim) {
        head.kind = ImplHead::Kind::Prim;
        head.prim = res.prim;
    } else if (res.kind == Res::Kind::SelfAlias && state.program.defs[res.def].kind == DefKind::Impl) {
        head = state.impls[state.origin[res.def].index].head;
    } else if ((res.kind == Res::Kind::SelfAlias || res.kind == Res::Kind::Def) && is_adt(state.program.defs[res.def].kind)) {
        head.kind = ImplHead::Kind::Adt;
        head.adt = res.def;
    }
    return head;
}

void mention_of(State& state, const ImplHead& head, Symbol name) {
    if (is_open(head) || head.kind == ImplHead::Kind::Error) return mention(state, name);
    if (!state.mentioned_of.insert(mention_key(head, name)).second || state.mentioned.contains(name)) return;
    state.mentioned_somehow.insert(name);
    const auto found = state.items_by_name.find(name);
    if (found == state.items_by_name.end()) return;
    const std::vector<DefId> items = found->second;
    for (const DefId item : items) {
        const DefId owner = state.program.defs[item].parent;
        if (state.program.defs[owner].kind == DefKind::Trait) {
            reach(state, owner);
            enqueue(state, item);
            continue;
        }
        // Impls for parameters, references and the like may be for this type too.
        const ImplInfo& impl = state.impls[state.origin[owner].index];
        if (impl.active && (is_open(impl.head) || impl.head == head)) enqueue(state, item);
    }
}

void reach(State& state, DefId id) {
    const hir::Def& def = state.program.defs[id];
    switch (def.kind) {
        case DefKind::Variant:
        case DefKind::Ctor:
        case DefKind::Field: reach(state, def.parent); return;
        case DefKind::Trait:
            if (state.is_on_demand(id) || !state.reached_traits.insert(id).second) return;
            enqueue(state, id);
            if (const auto found = state.impls_of_trait.find(id); found != state.impls_of_trait.end()) activate(state, found->second);
            return;
        case DefKind::Struct:
        case DefKind::Union:
        case DefKind::Enum:
            if (state.is_on_demand(id) || !state.reached_adts.insert(id).second) return;
            enqueue(state, id);
            if (const auto found = state.impls_of_adt.find(id); found != state.impls_of_adt.end()) activate(state, found->second);
            // Indexing a shared array asks for its cells without a word in the program.
            if (state.program.defs[id].lang_item == "SharedArray" || state.program.defs[id].lang_item == "DynamicShared") {
                reach_lang(state, "shared_cells");
                mention(state, state.program.interner.intern("shared_cells"));
            }
            return;
        case DefKind::AssocFn:
        case DefKind::AssocConst:
        case DefKind::AssocTy:
            if (state.program.defs[def.parent].kind == DefKind::Trait) {
                reach(state, def.parent);
                mention(state, def.name.name);
            }
            enqueue(state, id);
            return;
        case DefKind::Fn:
        case DefKind::ForeignFn:
        case DefKind::Const:
        case DefKind::Static:
        case DefKind::TyAlias:
        case DefKind::Impl: enqueue(state, id); return;
        case DefKind::Mod:
        case DefKind::TyParam:
        case DefKind::ConstParam:
        case DefKind::LifetimeParam:
        case DefKind::Closure:
        case DefKind::AnonConst:
        case DefKind::Macro:
        case DefKind::Crate:
        case DefKind::ImplTrait:
        case DefKind::Opaque: return;
    }
}

void want(State& state, DefId item) { enqueue(state, item); }

void reach_prim(State& state, hir::PrimTy prim) {
    const auto index = static_cast<std::size_t>(prim);
    if (std::exchange(state.prim_reached[index], true)) return;
    activate(state, state.impls_of_prim[index]);
}

void mention(State& state, Symbol name) {
    if (!state.mentioned.insert(name).second) return;
    state.mentioned_somehow.insert(name);
    const auto found = state.items_by_name.find(name);
    if (found == state.items_by_name.end()) return;
    const std::vector<DefId> items = found->second;   // a copy: reaching a trait cannot add items, but lowering a body may
    for (const DefId item : items) {
        const DefId owner = state.program.defs[item].parent;
        if (state.program.defs[owner].kind == DefKind::Trait) {
            reach(state, owner);
            enqueue(state, item);
        } else if (state.impls[state.origin[owner].index].active) {
            enqueue(state, item);
        }
    }
}

void mention_member(State& state, Symbol name) {
    if (state.library != nullptr) state.library->read_traits(name);
    mention(state, name);
}

DefId reach_lang(State& state, std::string_view key) {
    if (state.library != nullptr) state.library->read_lang_item(key);
    const DefId def = state.program.lang_item(key);
    if (def.valid()) reach(state, def);
    return def;
}

void index_impls(State& state, std::size_t first) {
    for (std::size_t i = first; i < state.impls.size(); ++i) {
        ImplInfo& impl = state.impls[i];
        if (std::exchange(impl.indexed, true) || state.is_on_demand(impl.def)) continue;
        const DefSource& origin = state.origin[impl.def];
        const std::uint32_t crate = state.program.defs[impl.def].crate;
        if (impl.derive) {
            impl.trait = derived_trait(state, *impl.derive);
        } else {
            const auto& item = std::get<ast::ImplItem>((*state.crates[crate].ast)[origin.item].data);
            impl.head = head_of(state, crate, item.self_type, &item, origin.module, 0);
            if (impl.has_trait) {
                const Res trait = quiet_path(state, crate, item.trait_path, origin.module);
                if (trait.kind == Res::Kind::Def && state.program.defs[trait.def].kind == DefKind::Trait) impl.trait = trait.def;
            }
        }
        const auto index = static_cast<std::uint32_t>(i);
        if (impl.trait.valid()) state.impls_of_trait[impl.trait].push_back(index);
        if (impl.head.kind == ImplHead::Kind::Adt) state.impls_of_adt[impl.head.adt].push_back(index);
        if (impl.head.kind == ImplHead::Kind::Prim) state.impls_of_prim[static_cast<std::size_t>(impl.head.prim)].push_back(index);
    }
}

void queue_impl_items(State& state, const ImplInfo& impl) {
    if (state.is_on_demand(impl.def)) return;
    const bool all = state.origin[impl.def].strict;
    for (const DefId item : impl.items) {
        const bool type = state.program.defs[item].kind == DefKind::AssocTy;   // projections find it by the trait alone
        if (all || type || wanted(state, impl, state.program.defs[item].name.name)) enqueue(state, item);
    }
}

void start_reaching(State& state) {
    state.reaching = true;
    // Implied by the language without being written: destruction, auto-dereference, copies, calls, what statics must be.
    for (const char* name : {"drop", "deref", "deref_mut", "call", "call_mut", "call_once"}) mention(state, name);
    if (state.library == nullptr) {
        for (const char* key : {"copy", "clone", "sized", "send", "sync", "drop", "fn", "fn_mut", "fn_once", "deref", "deref_mut"}) reach_lang(state, key);
    }
    for (const hir::PrimTy prim : {hir::PrimTy::Bool, hir::PrimTy::I32, hir::PrimTy::F64, hir::PrimTy::Usize}) reach_prim(state, prim);
    for (std::size_t i = 0; i < state.impls.size(); ++i) {
        if (state.origin[state.impls[i].def].strict) {
            state.impls[i].active = true;
            if (state.impls[i].trait.valid()) reach(state, state.impls[i].trait);
            enqueue(state, state.impls[i].def);
        } else {
            activate_if_ready(state, static_cast<std::uint32_t>(i));
        }
    }
    for (const DefId root : state.program.device_roots) reach(state, root);
    for (const DefId root : state.program.device_roots) {   // strict traits: every item, not only what is mentioned
        const ModuleId scope = state.origin[root].scope;
        if (state.program.defs[root].kind != DefKind::Trait || !scope.valid()) continue;
        for (const DefId item : state[scope].items) enqueue(state, item);
    }
}

void drain_queue(State& state) {
    if (state.queue.empty()) return;
    Lowerer lowerer(state);
    while (!state.queue.empty()) {
        const DefId def = state.queue.front();
        state.queue.pop_front();
        if (state.origin[def].state == DefSource::State::Done) continue;
        lowerer.item(def);
    }
}

}  // namespace ockc::resolve
