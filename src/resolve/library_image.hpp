// The library as it lies in the binary: its files, their tokens with all item macros expanded, and an index that says which names, impls
// and language items each item makes. Made when the compiler is built (write_library_image), read in place (library.hpp).
//
// A unit is one item of a module. An image holds no pointers; offsets count from its start, rows count from 0, kNone is none.
// FileIds are those of the compilation: the library's files follow the main file, in the order of `files`.
#pragma once
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

#include "resolve/def_map.hpp"

namespace ockc::resolve::image {

inline constexpr std::uint32_t kNone = kNoImageRow;
inline constexpr std::uint32_t kMagic = 0x316C'6B6Fu;
inline constexpr std::uint32_t kFirstFile = 1;       // FileId of the first library file

struct Text {
    std::uint32_t offset = 0, size = 0;
};
struct Place {
    std::uint32_t file = 0, begin = 0, end = 0;
};
struct List {                                       // of `lists`
    std::uint32_t first = 0, count = 0;
};

struct FileRow { Text name, text; };
struct CrateRow { Text name; std::uint32_t root = kNone, file = 0; };
struct ModuleRow {
    Text name;
    std::uint32_t parent = kNone, crate = 0;
    std::uint32_t visible_in = kNone;               // module; kNone: public
    Place item, head;
    List units;                                     // that bind names
    List modules;
    List traits;                                    // units of the traits that its names bring into scope
};
struct BufferRow {
    std::uint32_t file = 0, edition = 0, size = 0;
    std::uint32_t kinds = 0, begins = 0, ends = 0, partners = 0, files = 0, contexts = 0;   // offsets; 0: no such array
};
struct ExpansionRow { std::uint32_t parent = 0, crate = 0; Place call; };
struct UnitRow {
    std::uint32_t module = 0;
    std::uint32_t buffer = 0, begin = 0, end = 0;   // tokens
    std::uint32_t macros = kNone;                   // unit of the last macro_rules before it that it could name
    std::uint32_t trait = kNone;                    // of a trait impl: the trait's unit
    std::uint32_t has_trait = 0;
    std::uint32_t head = 0;                         // of an impl: ImplHead::Kind
    std::uint32_t head_of = kNone;                  // Adt: its unit; Prim, Shape: which
    List impls;                                     // of a trait, struct, enum or union
};
enum class Role : std::uint32_t {
    Type, Value, Macro,                             // binds the name in `module`, by namespace
    Module,                                         // likewise; `unit` is a module
    TraitItem, ImplItem,                            // has an associated item of the name
    Lang,                                           // defines the language item of the name
};
struct NameRow { Text text; List entries; };
struct EntryRow {
    Role role{};
    std::uint32_t module = kNone;
    std::uint32_t unit = 0;
    std::uint32_t by_glob = 0;                      // the unit is a glob import
};

template <class T>
struct Section {
    std::uint32_t offset = 0, count = 0;
};
struct Header {
    std::uint32_t magic = kMagic;
    Section<FileRow> files;
    Section<CrateRow> crates;
    Section<ModuleRow> modules;
    Section<BufferRow> buffers;
    Section<ExpansionRow> expansions;
    Section<UnitRow> units;
    Section<List> prims;                            // impls of each PrimTy
    Section<NameRow> names;
    Section<std::uint32_t> slots;                   // hash table over names; a power of two
    Section<EntryRow> entries;
    Section<std::uint32_t> lists;
};

inline std::uint32_t hash(std::string_view text) {
    std::uint32_t h = 2166136261u;
    for (const char c : text) h = (h ^ static_cast<unsigned char>(c)) * 16777619u;
    return h ^ h >> 15;
}

class View {
  public:
    explicit View(std::span<const std::byte> bytes) : bytes_(bytes), header_(*reinterpret_cast<const Header*>(bytes.data())) {}
    const Header& header() const { return header_; }
    template <class T>
    std::span<const T> rows(Section<T> section) const {
        return {reinterpret_cast<const T*>(bytes_.data() + section.offset), section.count};
    }
    std::span<const std::uint32_t> list(List list) const { return rows(header_.lists).subspan(list.first, list.count); }
    std::string_view text(Text text) const { return {reinterpret_cast<const char*>(bytes_.data()) + text.offset, text.size}; }
    template <class T>
    const T* array(std::uint32_t offset) const {
        return offset == 0 ? nullptr : reinterpret_cast<const T*>(bytes_.data() + offset);
    }

  private:
    std::span<const std::byte> bytes_;
    const Header& header_;
};

}  // namespace ockc::resolve::image
