// Internal to layout: the pieces that layout.cpp (structs, scalars, arrays) and layout_enum.cpp share.
#pragma once
#include <vector>

#include "types/layout.hpp"

namespace ockc::types {

using UInt128 = unsigned __int128;

UInt128 bit_mask(std::uint32_t bytes);
Scalar full_scalar(ScalarKind kind, std::uint32_t bytes, bool is_signed);
Scalar pointer_scalar(bool non_null);
// How many bit patterns are invalid.
UInt128 niche_available(const Scalar& scalar);
inline UInt128 niche_available(const Layout& layout) { return layout.has_niche ? niche_available(layout.niche) : 0; }
// Makes `scalar` valid for `count` more patterns; the first of them in `start`. False when there is no room.
bool niche_reserve(Scalar& scalar, UInt128 count, UInt128& start);
void set_niche(Layout& layout, std::uint64_t offset, const Scalar& scalar);
inline std::uint64_t align_up(std::uint64_t value, std::uint64_t align) { return (value + align - 1) / align * align; }
inline bool is_zst(const Layout& layout) { return layout.size == 0 && !layout.is_unsized; }

struct StructKind {
    bool prefixed = false;                  // an enum's variant behind its tag
    bool fixed_tail = false;                // tuples, structs with a tail that may be unsized: the last field stays last
    std::uint64_t prefix_size = 0;
    std::uint32_t prefix_align = 1;
};
using Fields = std::vector<const Layout*>;

// Fields in the order and at the offsets that rustc gives them; repr(C) keeps the order.
Layout univariant(const Fields& fields, const Repr& repr, const StructKind& kind);
// Scalar and ScalarPair for structs that are one or two registers.
void set_struct_abi(Layout& layout, const Fields& fields);

class LayoutBuilder {
  public:
    LayoutBuilder(LayoutCache& cache, TypeStore& types, AdtSource& source) : cache_(cache), types_(types), source_(source) {}
    Layout build(TypeId type);

  private:
    Layout build_array(const TypeData& data);
    Layout build_pointer(TypeId pointee, bool non_null);
    Layout build_struct(const std::vector<TypeId>& fields, const Repr& repr, bool fixed_tail);
    Layout build_adt(TypeId type);
    Layout build_union(const AdtShape& shape);
    Layout build_enum(const AdtShape& shape);
    bool collect(const std::vector<TypeId>& types, Fields& fields, LayoutError& error);

    LayoutCache& cache_;
    TypeStore& types_;
    AdtSource& source_;
};

// layout_enum.cpp
Layout enum_layout(const AdtShape& shape, const std::vector<Fields>& variants);

}  // namespace ockc::types
