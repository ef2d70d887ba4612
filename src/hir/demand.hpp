// What readers of a program ask for before they look: a library that is read on demand (resolve/library.hpp) stands in the
// program only as far as someone asked. resolve::Resolver answers; check::Context asks.
#pragma once
#include <string_view>
#include <vector>

#include "hir/hir.hpp"

namespace ockc::hir {

// By what type an impl is found. Any: parameters and projections, which may be every type. Shape: by the form alone.
struct TypeHead {
    enum class Kind : std::uint8_t { Any, Adt, Prim, Shape, Error } kind = Kind::Any;
    enum class Form : std::uint8_t { Reference, Pointer, Slice, Array, Tuple, Function, Never };
    DefId adt;
    PrimTy prim{};
    Form form{};

    static TypeHead of(PrimTy prim) { return {Kind::Prim, {}, prim, {}}; }
    static TypeHead of(DefId adt) { return {Kind::Adt, adt, {}, {}}; }
    static TypeHead of(Form form) { return {Kind::Shape, {}, {}, form}; }
    friend bool operator==(const TypeHead&, const TypeHead&) = default;
};

class Demand {
  public:
    virtual ~Demand() = default;
    // Lowers a library's item if it is not lowered: of a function the signature, of an impl or trait the head.
    virtual void item(DefId def) = 0;
    // The body of a library function, once.
    virtual void body(DefId fn) = 0;
    // Lowers the impls of `trait` that a type with this head may have by it, blanket impls included.
    virtual void impls(DefId trait, const TypeHead& self) = 0;
    // Lowers the inherent impls of such a type that have an item called `name`.
    virtual void inherent_impls(const TypeHead& self, Symbol name) = 0;
    // Lowers the traits that have an item called `name`.
    virtual void traits_with_item(Symbol name) = 0;
    // Puts the language item into Program::lang_items, if the library has it.
    virtual void lang_item(std::string_view key) = 0;
    // The impls and traits lowered since the last call, for whatever reason.
    virtual std::vector<DefId> take_new() = 0;
};

}  // namespace ockc::hir
