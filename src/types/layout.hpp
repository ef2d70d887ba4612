// Sizes, alignments and field places of concrete types: rustc's layout algorithm for x86-64 hosts and 64-bit GPUs, so that
// what crosses a launch by value has the bytes that Rust and C++ give it.
//
// In: a type without parameters, inference variables or projections. What an Adt is made of comes from an AdtSource.
// Out: Layout, cached for the type. Errors (recursive or too large types) come back as LayoutError in the layout.
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "types/type_store.hpp"

namespace ockc::types {

// #[repr(..)].
struct Repr {
    bool c = false, transparent = false, simd = false;
    bool has_int = false;
    IntKind int_kind = IntKind::Isize;      // has_int
    std::uint32_t pack = 0;                 // 0: none
    std::uint32_t align = 0;                // 0: none
};

struct VariantShape {
    std::vector<TypeId> fields;             // concrete
    std::array<std::uint64_t, 2> discriminant{};
};
struct AdtShape {
    enum class Kind : std::uint8_t { Struct, Enum, Union } kind = Kind::Struct;
    Repr repr;
    IntKind discriminant_type = IntKind::Isize;
    std::vector<VariantShape> variants;
    bool fixed_tail = false;                // a struct whose last field's type may be unsized for other arguments
    bool hides_niches = false;              // UnsafeCell, MaybeUninit and the like
    bool is_tile = false;                   // the library's Tile: one field of 8 bytes that nobody looks into
    // The only valid values of a one-field scalar wrapper (NonZero-like types): low..=high, wrapping.
    bool has_valid_range = false;
    std::array<std::uint64_t, 2> valid_low{}, valid_high{};
};
class AdtSource {
  public:
    virtual ~AdtSource() = default;
    // For a concrete Adt or Closure type (a closure is a struct of its captures).
    virtual AdtShape adt_shape(TypeId adt_or_closure) = 0;
};

// BFloat: bf16, which bytes do not tell from f16. Tile: the number of a tile that the compiler keeps.
enum class ScalarKind : std::uint8_t { Int, Float, BFloat, Pointer, Tile };
// A register-sized value: how it is held, and which bit patterns are valid (low..=high, wrapping; all when full).
struct Scalar {
    ScalarKind kind = ScalarKind::Int;
    std::uint8_t bytes = 0;                 // 1, 2, 4, 8, 16
    bool is_signed = false;
    unsigned __int128 valid_low = 0, valid_high = 0;
};

enum class AbiKind : std::uint8_t {
    Uninhabited,     // no value exists
    Scalar,          // one register: scalars[0]
    ScalarPair,      // two registers: scalars[0] at 0, scalars[1] at pair_offset (fat pointers, (u32, bool), Option<u32> ..)
    Aggregate,       // memory, or nothing when size is 0
};

enum class VariantsKind : std::uint8_t { Single, Multiple };
enum class TagEncoding : std::uint8_t { Direct, Niche };
enum class LayoutError : std::uint8_t { None, Generic, Recursive, TooLarge, Unsized };

struct Layout {
    LayoutError error = LayoutError::None;
    std::uint64_t size = 0;
    std::uint32_t align = 1;
    AbiKind abi = AbiKind::Aggregate;
    std::array<Scalar, 2> scalars{};
    std::uint32_t pair_offset = 0;
    bool is_unsized = false;                       // str and slices: size is that of one element (stride)

    // Structs, tuples, unions, closures, and one variant of an enum: byte offset of every field in declaration order.
    std::vector<std::uint64_t> offsets;
    // Arrays and slices.
    std::uint64_t stride = 0, count = 0;

    // Enums. Single: only `single_variant` is inhabited or there is but one (its fields are `offsets`).
    VariantsKind variants_kind = VariantsKind::Single;
    std::uint32_t single_variant = 0;
    TagEncoding tag_encoding = TagEncoding::Direct;
    Scalar tag;                                    // where the tag or niche lives and its width
    std::uint64_t tag_offset = 0;
    // Niche: variant v in [niche_first, niche_last] is stored as niche_start + (v - niche_first) in the tag's width; any other
    // tag value means `untagged_variant`. Direct: the tag is the variant's discriminant truncated to the tag's width.
    std::uint32_t untagged_variant = 0, niche_first = 0, niche_last = 0;
    unsigned __int128 niche_start = 0;
    std::vector<Layout> variants;                  // Multiple: per variant (offsets within the whole value)

    // The largest run of invalid bit patterns, for enums around this type.
    bool has_niche = false;
    std::uint64_t niche_offset = 0;
    Scalar niche;
};

class LayoutCache {
  public:
    LayoutCache(TypeStore& types, AdtSource& source) : types_(types), source_(source) {}
    const Layout& layout_of(TypeId type);

  private:
    friend class LayoutBuilder;
    TypeStore& types_;
    AdtSource& source_;
    std::unordered_map<TypeId, std::unique_ptr<Layout>> cache_;
    std::vector<TypeId> open_;                     // being computed: recursion check
};

}  // namespace ockc::types
