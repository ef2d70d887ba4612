// What the checker asks of a library that is read on demand, each question once. A program whose library was read at once
// (Options::demand is none) holds everything already.
#include "check/state.hpp"

namespace ockc::check {

namespace {

using hir::PrimTy;
using hir::TypeHead;

// In the order of the .def rows, which PrimTy, IntKind and FloatKind share.
constexpr auto kFirstInt = static_cast<std::size_t>(PrimTy::I8), kFirstFloat = static_cast<std::size_t>(PrimTy::F16);
constexpr std::size_t kFloats = static_cast<std::size_t>(types::FloatKind::F64) + 1;
static_assert(kFirstFloat - kFirstInt == static_cast<std::size_t>(types::IntKind::Usize) + 1);

TypeHead prim(std::size_t index) { return TypeHead::of(static_cast<PrimTy>(index)); }

// By what the library finds the impls for a type. Any: only those for every type.
TypeHead head_of(const TypeData& type) {
    switch (type.kind) {
        case TypeKind::Bool: return TypeHead::of(PrimTy::Bool);
        case TypeKind::Char: return TypeHead::of(PrimTy::Char);
        case TypeKind::Str: return TypeHead::of(PrimTy::Str);
        case TypeKind::Int: return prim(kFirstInt + static_cast<std::size_t>(type.int_kind));
        case TypeKind::Float: return prim(kFirstFloat + static_cast<std::size_t>(type.float_kind));
        case TypeKind::Adt: return TypeHead::of(type.def);
        case TypeKind::Ref: return TypeHead::of(TypeHead::Form::Reference);
        case TypeKind::RawPtr: return TypeHead::of(TypeHead::Form::Pointer);
        case TypeKind::Slice: return TypeHead::of(TypeHead::Form::Slice);
        case TypeKind::Array: return TypeHead::of(TypeHead::Form::Array);
        case TypeKind::Tuple: return TypeHead::of(TypeHead::Form::Tuple);
        case TypeKind::FnPtr: return TypeHead::of(TypeHead::Form::Function);
        case TypeKind::Never: return TypeHead::of(TypeHead::Form::Never);
        case TypeKind::Error:
        case TypeKind::FnDef:
        case TypeKind::Closure:
        case TypeKind::Param:
        case TypeKind::Projection:
        case TypeKind::Opaque:
        case TypeKind::Infer: return {};
    }
    return {};
}

// All types that an integer or float variable may turn out to be.
template <class Ask>
void for_each_head(const TypeData& type, Ask&& ask) {
    const bool any_int = type.kind == TypeKind::Infer && type.infer_kind == types::InferKind::Int;
    const bool any_float = type.kind == TypeKind::Infer && type.infer_kind == types::InferKind::Float;
    if (any_int) {
        for (std::size_t i = kFirstInt; i < kFirstFloat; ++i) ask(prim(i));
    } else if (any_float) {
        for (std::size_t i = 0; i < kFloats; ++i) ask(prim(kFirstFloat + i));
    } else {
        ask(head_of(type));
    }
}

// Types with one head share a key; variables of numbers have keys of their own.
TypeKey asked_key(const TypeStore& types, TypeId type) {
    const TypeData& data = types[type];
    if (data.kind == TypeKind::Infer) return static_cast<TypeKey>(data.infer_kind) + 1;   // below all keys of types
    return type_key(types, type);
}

}  // namespace

void Context::State::need_item(DefId def) {
    cx.options().demand->item(def);
    if (cx.program().lang_items.size() != lang_items_noted) note_lang_items();
}

void Context::State::need_body(DefId owner) {
    if (cx.options().demand == nullptr) return;
    cx.options().demand->body(owner);
    if (cx.program().lang_items.size() != lang_items_noted) note_lang_items();
}

void Context::State::need_impls(DefId trait, TypeId self) {
    if (cx.options().demand == nullptr) return;
    const TypeKey key = asked_key(cx.types(), self) * 0x9E37'79B9'7F4A'7C15ull ^ trait.raw;
    if (!asked_impls.insert(key).second) return;
    for_each_head(cx.types()[self], [&](const TypeHead& head) { cx.options().demand->impls(trait, head); });
    take_new();
}

void Context::State::need_inherent(TypeId self, Symbol name) {
    if (cx.options().demand == nullptr) return;
    const TypeKey key = asked_key(cx.types(), self) * 0x9E37'79B9'7F4A'7C15ull ^ name.raw;
    if (!asked_inherent.insert(key).second) return;
    for_each_head(cx.types()[self], [&](const TypeHead& head) { cx.options().demand->inherent_impls(head, name); });
    take_new();
}

void Context::State::need_traits(Symbol name) {
    if (cx.options().demand == nullptr || std::exchange(asked_traits.at(name), std::uint8_t{1}) != 0) return;
    cx.options().demand->traits_with_item(name);
    take_new();
}

DefId Context::State::lang_item(std::string_view key) {
    if (const DefId known = cx.program().lang_item(key); known.valid() || cx.options().demand == nullptr) return known;
    cx.options().demand->lang_item(key);
    note_lang_items();
    return cx.program().lang_item(key);
}

// An answer once given stays right when more of the library comes, because each question was asked for all that it depends on;
// what the user's crate brings into play late was not.
void Context::State::take_new() {
    if (cx.program().lang_items.size() != lang_items_noted) note_lang_items();
    if (!indexed) return;
    bool users = false;
    for (const DefId def : cx.options().demand->take_new()) {
        users = users || !cx.program().crates[cx.program().defs[def].crate].is_library;
        if (cx.program().defs[def].kind == hir::DefKind::Trait) {
            index_trait(def);
            continue;
        }
        index_impl(def);
        const hir::ImplDef& impl = cx.program().as<hir::ImplDef>(def);
        if (!impl.has_trait) continue;
        const auto known = lowered_impls.find(impl.trait_path.res.def);
        if (known == lowered_impls.end()) continue;
        outdated_impls.push_back(std::move(known->second));
        lowered_impls.erase(known);
    }
    if (!users) return;
    evaluation_cache.clear();
    normalized.clear();
    drops.clear();
}

}  // namespace ockc::check
