#include "types/type_store.hpp"

#include <doctest/doctest.h>

#include "support/interner.hpp"
#include "types/fold.hpp"
#include "types/print.hpp"

using namespace ockc;
using namespace ockc::types;

namespace {

class Names final : public NameSource {
  public:
    explicit Names(Interner& interner) : interner_(interner) {}
    std::string_view text(Symbol symbol) const override { return interner_.text(symbol); }
    std::string_view name(DefId def) const override { return def.raw == 1 ? "Option" : def.raw == 2 ? "Item" : "Iterator"; }
    std::uint32_t parent_arg_count(DefId) const override { return 1; }
    DefId parent(DefId) const override { return DefId(3); }
    std::string fn_item(DefId, ArgsId) const override { return "fn() {f}"; }
    std::string closure(DefId) const override { return "{closure}"; }
    std::string opaque(DefId, ArgsId) const override { return "impl Trait"; }
    std::string constant(DefId, ArgsId) const override { return "N"; }

  private:
    Interner& interner_;
};

}  // namespace

TEST_CASE("equal types have equal ids") {
    TypeStore store;
    const TypeId u8 = store.int_type(IntKind::U8), f32 = store.float_type(FloatKind::F32);
    CHECK(store.slice(u8) == store.slice(u8));
    CHECK(store.slice(u8) != store.slice(f32));
    const TypeId list[] = {u8, f32};
    CHECK(store.tuple(list) == store.tuple(list));
    CHECK(store.tuple({}) == store.unit);
    CHECK(store.array(u8, store.const_usize(3)) == store.array(u8, store.const_usize(3)));
    CHECK(store.array(u8, store.const_usize(3)) != store.array(u8, store.const_usize(4)));
    CHECK(store.ref(store.erased, u8, Mutability::Not) != store.ref(store.static_region, u8, Mutability::Not));
    CHECK(store.ref(store.erased, u8, Mutability::Not) != store.ref(store.erased, u8, Mutability::Mut));
    const GenericArg one[] = {u8};
    CHECK(store.adt(DefId(1), store.args(one)) == store.adt(DefId(1), store.args(one)));
    CHECK(store.fn_ptr(list, u8, false) != store.fn_ptr(list, u8, true));
    CHECK(store.infer(0, InferKind::Int) != store.infer(0, InferKind::Type));
}

TEST_CASE("flags say what stands inside") {
    TypeStore store;
    const TypeId param = store.param(0, Symbol(0));
    const TypeId list[] = {store.boolean, param};
    const TypeId tuple = store.tuple(list);
    CHECK(store.has(store.slice(tuple), kHasParam));
    CHECK_FALSE(store.has(tuple, kHasInfer));
    CHECK(store.has(store.array(store.boolean, store.const_infer(0, store.usize())), kHasInfer));
    CHECK(store.has(store.ref(store.static_region, store.str, Mutability::Not), kHasRegion));
    CHECK(store.has(store.slice(store.error), kHasError));
    const GenericArg args[] = {param};
    CHECK(store.has(store.projection(DefId(2), store.args(args)), kHasProjection));
    CHECK(store.has(store.closure(DefId(9), store.no_args), kHasClosure));
}

TEST_CASE("substitution replaces parameters and leaves the rest") {
    TypeStore store;
    const TypeId u8 = store.int_type(IntKind::U8);
    const TypeId t = store.param(0, Symbol(0));
    const ConstId n = store.const_param(1, Symbol(1), store.usize());
    const GenericArg args[] = {u8, store.const_usize(4)};
    CHECK(store.subst(store.array(t, n), args) == store.array(u8, store.const_usize(4)));
    CHECK(store.subst(store.slice(u8), args) == store.slice(u8));
    const RegionId a = store.region({RegionKind::EarlyParam, DefId(5), 2, Symbol(2)});
    const TypeId reference = store.ref(a, t, Mutability::Not);
    CHECK(store.subst(reference, args) == store.ref(store.erased, u8, Mutability::Not));
    CHECK(store.erase_regions(reference) == store.ref(store.erased, t, Mutability::Not));
}

TEST_CASE("types that share their parts fold in linear time") {
    TypeStore store;
    TypeId type = store.param(0, Symbol(0));
    for (int i = 0; i < 60; ++i) {
        const TypeId twice[] = {type, type};
        type = store.tuple(twice);
    }
    const GenericArg args[] = {store.boolean};
    const TypeId result = store.subst(type, args);
    CHECK_FALSE(store.has(result, kHasParam));
}

TEST_CASE("types print as written") {
    TypeStore store;
    Interner interner;
    const Names names(interner);
    const auto text = [&](TypeId type) { return type_text(store, names, type); };
    const TypeId i32 = store.int_type(IntKind::I32);
    const TypeId t = store.param(0, interner.intern("T"));
    CHECK(text(store.ref(store.erased, store.slice(i32), Mutability::Mut)) == "&mut [i32]");
    CHECK(text(store.raw_ptr(store.float_type(FloatKind::BF16), Mutability::Not)) == "*const bf16");
    const TypeId single[] = {i32};
    CHECK(text(store.tuple(single)) == "(i32,)");
    CHECK(text(store.unit) == "()");
    CHECK(text(store.array(t, store.const_usize(4))) == "[T; 4]");
    CHECK(text(store.never) == "!");
    const GenericArg args[] = {t};
    CHECK(text(store.adt(DefId(1), store.args(args))) == "Option<T>");
    CHECK(text(store.projection(DefId(2), store.args(args))) == "<T as Iterator>::Item");
    CHECK(text(store.fn_ptr(single, store.boolean, true)) == "unsafe fn(i32) -> bool");
    CHECK(text(store.fn_ptr(single, store.unit, false)) == "fn(i32)");
    CHECK(text(store.infer(3, InferKind::Float)) == "{float}");
    CHECK(text(store.ref(store.static_region, store.str, Mutability::Not)) == "&'static str");
}

TEST_CASE("scalars print as Rust writes them") {
    TypeStore store;
    CHECK(scalar_text(store, store.int_type(IntKind::I8), 0x80, 0) == "-128");
    CHECK(scalar_text(store, store.int_type(IntKind::U128), ~std::uint64_t{0}, ~std::uint64_t{0}) == "340282366920938463463374607431768211455");
    CHECK(scalar_text(store, store.int_type(IntKind::I128), 0, std::uint64_t{1} << 63) == "-170141183460469231731687303715884105728");
    CHECK(scalar_text(store, store.boolean, 1, 0) == "true");
    CHECK(scalar_text(store, store.character, 'x', 0) == "'x'");
    CHECK(scalar_text(store, store.character, '\n', 0) == "'\\n'");
}
