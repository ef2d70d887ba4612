// Layouts against what rustc 1.95 says (size_of, align_of, offset_of, and bytes of values for tags), recorded here.
#include "types/layout.hpp"

#include <doctest/doctest.h>

#include <unordered_map>

using namespace ockc;
using namespace ockc::types;

namespace {

// Structs and enums by hand: each has no parameters, so its shape is fixed.
class Types final : public AdtSource {
  public:
    Types() : cache(store, *this) {}

    AdtShape adt_shape(TypeId type) override { return shapes_.at(type); }

    TypeId u8() { return store.int_type(IntKind::U8); }
    TypeId u16() { return store.int_type(IntKind::U16); }
    TypeId u32() { return store.int_type(IntKind::U32); }
    TypeId u64() { return store.int_type(IntKind::U64); }
    TypeId boolean() { return store.boolean; }
    TypeId ref(TypeId type) { return store.ref(store.erased, type, Mutability::Not); }
    TypeId array(TypeId type, std::uint64_t n) { return store.array(type, store.const_usize(n)); }
    TypeId tuple(std::vector<TypeId> elements) { return store.tuple(elements); }
    TypeId structure(std::vector<TypeId> fields, Repr repr = {}) {
        AdtShape shape;
        shape.repr = repr;
        shape.variants.push_back({std::move(fields), {}});
        return add(std::move(shape));
    }
    TypeId enumeration(std::vector<std::vector<TypeId>> variants, Repr repr = {}, std::vector<std::int64_t> discriminants = {}) {
        AdtShape shape;
        shape.kind = AdtShape::Kind::Enum;
        shape.repr = repr;
        for (std::size_t i = 0; i < variants.size(); ++i) {
            const std::int64_t value = discriminants.empty() ? static_cast<std::int64_t>(i) : discriminants[i];
            shape.variants.push_back({variants[i], {static_cast<std::uint64_t>(value), value < 0 ? ~std::uint64_t{0} : 0}});
        }
        return add(std::move(shape));
    }
    TypeId option(TypeId type) { return enumeration({{}, {type}}); }

    const Layout& layout(TypeId type) { return cache.layout_of(type); }

    TypeStore store;
    LayoutCache cache;

  private:
    TypeId add(AdtShape shape) {
        const TypeId type = store.adt(DefId(next_++), store.no_args);
        shapes_.emplace(type, std::move(shape));
        return type;
    }
    std::unordered_map<TypeId, AdtShape> shapes_;
    std::uint32_t next_ = 0;
};

void check_struct(Types& t, TypeId type, std::uint64_t size, std::uint32_t align, std::vector<std::uint64_t> offsets) {
    const Layout& layout = t.layout(type);
    CHECK(layout.error == LayoutError::None);
    CHECK(layout.size == size);
    CHECK(layout.align == align);
    CHECK(layout.offsets == offsets);
}

void check_size(Types& t, TypeId type, std::uint64_t size, std::uint32_t align) {
    const Layout& layout = t.layout(type);
    CHECK(layout.error == LayoutError::None);
    CHECK(layout.size == size);
    CHECK(layout.align == align);
}

std::uint64_t low(unsigned __int128 value) { return static_cast<std::uint64_t>(value); }

}  // namespace

TEST_CASE("structs are packed by descending alignment") {
    Types t;
    check_struct(t, t.structure({t.u8(), t.u32(), t.u16()}), 8, 4, {6, 0, 4});
    check_struct(t, t.structure({t.boolean(), t.u64(), t.u8()}), 16, 8, {9, 0, 8});
    check_struct(t, t.structure({t.store.int_type(IntKind::U128), t.u8()}), 32, 16, {0, 16});
    check_struct(t, t.structure({t.store.float_type(FloatKind::F64), t.store.float_type(FloatKind::F32), t.u16(), t.u8()}), 16, 8, {0, 8, 12, 14});
    check_struct(t, t.tuple({t.u8(), t.u32(), t.u16(), t.u8()}), 8, 4, {6, 0, 4, 7});
    check_struct(t, t.tuple({t.boolean(), t.u16(), t.boolean()}), 4, 2, {2, 0, 3});
    check_struct(t, t.tuple({t.u8(), t.boolean()}), 2, 1, {0, 1});   // a tuple's last element stays last
    check_struct(t, t.structure({t.u8(), t.boolean()}), 2, 1, {1, 0});
    check_struct(t, t.structure({t.u8(), t.boolean(), t.u8()}), 3, 1, {1, 0, 2});
    check_struct(t, t.structure({t.u16(), t.boolean(), t.u8()}), 4, 2, {0, 3, 2});
    check_struct(t, t.structure({}), 0, 1, {});
}

TEST_CASE("arrays count as aligned as their size, niches pull fields to an edge") {
    Types t;
    check_struct(t, t.structure({t.u8(), t.array(t.u8(), 16)}), 17, 1, {16, 0});
    check_struct(t, t.structure({t.boolean(), t.array(t.u8(), 16)}), 17, 1, {0, 1});
    const TypeId a = t.tuple({t.u8(), t.u8(), t.u8(), t.boolean()}), b = t.tuple({t.u8(), t.boolean(), t.u8()});
    check_struct(t, t.structure({a, b}), 7, 1, {3, 0});
    check_struct(t, t.structure({t.store.character, t.u8(), t.boolean()}), 8, 4, {0, 5, 4});
    check_struct(t, t.structure({t.ref(t.u8()), t.u8(), t.ref(t.store.slice(t.u8()))}), 32, 8, {0, 24, 8});
    check_struct(t, t.structure({t.u32(), t.tuple({t.boolean(), t.u8()}), t.u16()}), 8, 4, {0, 6, 4});
    check_struct(t, t.structure({t.u8(), t.boolean(), t.u8(), t.u16()}), 6, 2, {2, 4, 3, 0});
    check_struct(t, t.structure({t.array(t.u16(), 3), t.u8(), t.boolean(), t.u32()}), 12, 4, {4, 10, 11, 0});
    check_struct(t, t.structure({t.u8(), t.store.unit, t.u16()}), 4, 2, {2, 3, 0});
}

TEST_CASE("repr fixes order, packing and alignment") {
    Types t;
    Repr c, packed, aligned;
    c.c = true;
    packed.pack = 1;
    aligned.align = 16;
    check_struct(t, t.structure({t.u8(), t.u32(), t.u16()}, c), 12, 4, {0, 4, 8});
    check_struct(t, t.structure({t.u8(), t.u32()}, packed), 5, 1, {0, 1});
    check_struct(t, t.structure({t.u8()}, aligned), 16, 16, {0});
}

TEST_CASE("sizes of enums") {
    Types t;
    const TypeId e1 = t.enumeration({{}, {}, {}});
    const TypeId e2 = t.enumeration({{t.u8()}, {t.u32()}});
    const TypeId e4 = t.enumeration({{t.u32()}, {t.u8(), t.u16()}, {}});
    const TypeId e5 = t.enumeration({{t.boolean(), t.u32()}, {t.u16()}, {}});
    const TypeId nothing = t.enumeration({});
    Repr c, byte;
    c.c = true;
    byte.has_int = true;
    byte.int_kind = IntKind::U8;
    check_size(t, e1, 1, 1);
    check_size(t, e2, 8, 4);
    check_size(t, e4, 8, 4);
    check_size(t, e5, 8, 4);
    check_size(t, t.enumeration({{t.u32()}, {}}, byte), 8, 4);
    check_size(t, t.enumeration({{t.u8()}, {t.u64()}}, c), 16, 8);
    check_size(t, nothing, 0, 1);
    check_size(t, t.enumeration({{nothing}, {t.u8()}}), 1, 1);
    check_size(t, t.enumeration({{t.ref(t.u8()), t.u8()}, {t.u8()}, {}}), 16, 8);
    check_size(t, t.enumeration({{t.array(t.u8(), 3), t.boolean()}, {t.u8()}}), 4, 1);
    check_size(t, t.enumeration({{}, {}}, {}, {-1, 300}), 2, 2);
    check_size(t, t.enumeration({{}}, {}, {1000}), 0, 1);
    check_size(t, t.enumeration({{t.u64(), t.boolean()}, {t.u64()}, {t.u32()}}), 16, 8);
    check_size(t, t.enumeration({{t.u16()}, {t.u16()}, {t.u16()}}), 4, 2);
    check_size(t, t.enumeration({{t.boolean()}, {t.u8()}, {}}), 2, 1);
    check_size(t, t.enumeration({{t.u64()}, {t.u8()}}), 16, 8);
    check_size(t, t.enumeration({{t.u8(), t.u64()}, {t.u16()}}), 16, 8);
    check_size(t, t.option(t.ref(t.u8())), 8, 8);
    check_size(t, t.option(t.ref(t.store.slice(t.u8()))), 16, 8);
    check_size(t, t.option(t.boolean()), 1, 1);
    check_size(t, t.option(t.option(t.option(t.boolean()))), 1, 1);
    check_size(t, t.option(t.store.character), 4, 4);
    check_size(t, t.option(t.u32()), 8, 4);
    check_size(t, t.option(t.tuple({t.u8(), t.boolean()})), 2, 1);
    check_size(t, t.option(t.option(e1)), 1, 1);
    check_size(t, t.enumeration({{t.u32()}, {t.store.unit}}), 8, 4);
    check_size(t, t.option(t.array(t.boolean(), 3)), 3, 1);
    check_size(t, t.option(t.store.unit), 1, 1);
    check_size(t, t.option(nothing), 0, 1);
    check_size(t, t.option(e5), 8, 4);
    check_size(t, t.option(e2), 8, 4);
    check_size(t, t.option(e4), 8, 4);
    check_size(t, t.option(t.tuple({t.u32(), t.boolean()})), 8, 4);
    check_size(t, t.enumeration({{t.ref(t.u8())}, {t.u64()}}), 16, 8);
    check_size(t, t.enumeration({{t.boolean()}, {t.u8()}}), 2, 1);
    check_size(t, t.option(t.tuple({t.store.character, t.u8()})), 8, 4);
}

TEST_CASE("niches take the values that rustc gives them") {
    Types t;
    // None of Option<bool> is 2, of Option<Option<bool>> 3; of Option<char> 0x110000; of an enum with three variants 3.
    const Layout& option_bool = t.layout(t.option(t.boolean()));
    CHECK(option_bool.tag_encoding == TagEncoding::Niche);
    CHECK(option_bool.untagged_variant == 1);
    CHECK(option_bool.niche_first == 0);
    CHECK(option_bool.niche_last == 0);
    CHECK(low(option_bool.niche_start) == 2);
    CHECK(low(t.layout(t.option(t.option(t.boolean()))).niche_start) == 3);
    CHECK(low(t.layout(t.option(t.store.character)).niche_start) == 0x110000);
    CHECK(low(t.layout(t.option(t.enumeration({{}, {}, {}}))).niche_start) == 3);
    CHECK(low(t.layout(t.option(t.ref(t.u8()))).niche_start) == 0);
    const Layout& pair = t.layout(t.option(t.tuple({t.u8(), t.boolean()})));
    CHECK(pair.tag_offset == 1);
    CHECK(low(pair.niche_start) == 2);
    // A(bool, u32), B(u16), C: the bool holds the tag, C is 2 there ..
    const TypeId e5 = t.enumeration({{t.boolean(), t.u32()}, {t.u16()}, {}});
    const Layout& tagged = t.layout(e5);
    CHECK(tagged.variants_kind == VariantsKind::Multiple);
    CHECK(tagged.tag_offset == 0);
    const Layout& around = t.layout(t.option(e5));
    CHECK(around.tag_encoding == TagEncoding::Niche);
    CHECK(low(around.niche_start) == 3);
}

TEST_CASE("small variants stand around the niche of the large one") {
    Types t;
    // A([u8; 3], bool), B(u8): B is 02 05 .. ..: the bool in front, B's field behind it.
    const Layout& e10 = t.layout(t.enumeration({{t.array(t.u8(), 3), t.boolean()}, {t.u8()}}));
    CHECK(e10.tag_encoding == TagEncoding::Niche);
    CHECK(e10.tag_offset == 0);
    CHECK(low(e10.niche_start) == 2);
    CHECK(e10.variants[1].offsets == std::vector<std::uint64_t>{1});
    CHECK(e10.variants[0].offsets == std::vector<std::uint64_t>{1, 0});
}

TEST_CASE("tags widen to the gap before the payload") {
    Types t;
    const Layout& e2 = t.layout(t.enumeration({{t.u8()}, {t.u32()}}));
    CHECK(e2.tag.bytes == 1);
    CHECK(e2.variants[0].offsets == std::vector<std::uint64_t>{1});
    CHECK(e2.variants[1].offsets == std::vector<std::uint64_t>{4});
    const Layout& option_u32 = t.layout(t.option(t.u32()));
    CHECK(option_u32.tag.bytes == 4);
    CHECK(option_u32.abi == AbiKind::ScalarPair);
    CHECK(option_u32.pair_offset == 4);
    const Layout& e18 = t.layout(t.enumeration({{t.u8(), t.u64()}, {t.u16()}}));
    CHECK(e18.variants[0].offsets == std::vector<std::uint64_t>{1, 8});
    CHECK(e18.variants[1].offsets == std::vector<std::uint64_t>{2});
}

TEST_CASE("registers: scalars and pairs") {
    Types t;
    CHECK(t.layout(t.structure({t.u32()})).abi == AbiKind::Scalar);
    CHECK(t.layout(t.ref(t.store.slice(t.u8()))).abi == AbiKind::ScalarPair);
    CHECK(t.layout(t.tuple({t.u32(), t.boolean()})).abi == AbiKind::ScalarPair);
    CHECK(t.layout(t.tuple({t.u32(), t.boolean(), t.u8()})).abi == AbiKind::Aggregate);
    CHECK(t.layout(t.store.never).abi == AbiKind::Uninhabited);
    CHECK(t.layout(t.store.unit).size == 0);
    CHECK(t.layout(t.store.slice(t.u32())).is_unsized);
    CHECK(t.layout(t.store.param(0, Symbol(0))).error == LayoutError::Generic);
    CHECK(t.layout(t.array(t.u64(), std::uint64_t{1} << 60)).error == LayoutError::TooLarge);
}
