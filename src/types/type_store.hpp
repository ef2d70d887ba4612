// Interning of types, regions, constants and argument lists, and what can be computed from their structure alone:
// substitution, folding, walking. One store per compilation; ids are never reused.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "support/arena.hpp"
#include "support/hash_index.hpp"
#include "support/index_map.hpp"
#include "types/type.hpp"

namespace ockc::types {

class TypeStore {
  public:
    TypeStore();
    TypeStore(const TypeStore&) = delete;
    TypeStore& operator=(const TypeStore&) = delete;

    const TypeData& operator[](TypeId id) const { return types_[id]; }
    const RegionData& operator[](RegionId id) const { return regions_[id]; }
    const ConstData& operator[](ConstId id) const { return consts_[id]; }
    // The lists stay where they are while others are interned.
    std::span<const GenericArg> operator[](ArgsId id) const { return id.valid() ? arg_lists_[id].items : std::span<const GenericArg>(); }
    std::span<const TypeId> operator[](TypeListId id) const { return id.valid() ? type_lists_[id].items : std::span<const TypeId>(); }
    std::span<const ConstId> const_elements(ConstId array_value) const;
    TypeKind kind(TypeId id) const { return types_[id].kind; }

    // Common types, made once.
    TypeId error, never, boolean, character, str, unit;
    RegionId erased, static_region, error_region;
    ConstId error_const;
    ArgsId no_args;
    TypeListId no_types;
    TypeId int_type(IntKind kind) const { return ints_[static_cast<std::size_t>(kind)]; }
    TypeId float_type(FloatKind kind) const { return floats_[static_cast<std::size_t>(kind)]; }
    TypeId usize() const { return int_type(IntKind::Usize); }

    TypeId tuple(std::span<const TypeId> elements);
    TypeId array(TypeId element, ConstId length);
    TypeId slice(TypeId element);
    TypeId ref(RegionId region, TypeId pointee, Mutability mutability);
    TypeId raw_ptr(TypeId pointee, Mutability mutability);
    TypeId adt(DefId def, ArgsId args);
    TypeId fn_def(DefId def, ArgsId args);
    TypeId fn_ptr(std::span<const TypeId> inputs, TypeId output, bool is_unsafe);
    TypeId closure(DefId def, ArgsId args);
    TypeId param(std::uint32_t index, Symbol name);
    TypeId projection(DefId assoc_type, ArgsId args);
    TypeId opaque(DefId def, ArgsId args);
    TypeId infer(std::uint32_t index, InferKind kind);

    RegionId region(RegionData data);
    ConstId const_value(TypeId type, std::uint64_t low, std::uint64_t high = 0);
    ConstId const_array(TypeId type, std::span<const ConstId> elements);
    ConstId const_usize(std::uint64_t value) { return const_value(usize(), value); }
    ConstId const_param(std::uint32_t index, Symbol name, TypeId type);
    ConstId const_infer(std::uint32_t index, TypeId type);
    ConstId const_unevaluated(DefId def, ArgsId args, TypeId type);

    ArgsId args(std::span<const GenericArg> list);
    TypeListId type_list(std::span<const TypeId> list);

    // Replaces every Param (type, const, EarlyParam region) by args[index]; ids that have no parameter come back as they are.
    TypeId subst(TypeId type, std::span<const GenericArg> args) { return has(type, kHasParam) ? replace_params(type, args) : type; }
    TypeId subst(TypeId type, ArgsId args) { return has(type, kHasParam) ? replace_params(type, args) : type; }   // remembers some
    ConstId subst(ConstId constant, ArgsId args) { return subst(constant, (*this)[args]); }
    ArgsId subst(ArgsId list, ArgsId args) { return has(list, kHasParam) ? replace_params(list, args) : list; }
    ConstId subst(ConstId constant, std::span<const GenericArg> args) { return has(constant, kHasParam) ? replace_params(constant, args) : constant; }
    ArgsId subst(ArgsId list, std::span<const GenericArg> args) { return has(list, kHasParam) ? replace_params(list, args) : list; }
    // Replaces every region by Erased.
    TypeId erase_regions(TypeId type) { return has(type, kHasRegion) ? replace_regions(type) : type; }
    ArgsId erase_regions(ArgsId list) { return has(list, kHasRegion) ? replace_regions(list) : list; }

    bool has(TypeId type, std::uint8_t flags) const { return (types_[type].flags & flags) != 0; }
    bool has(ConstId constant, std::uint8_t flags) const { return (consts_[constant].flags & flags) != 0; }
    bool has(ArgsId list, std::uint8_t flags) const { return list.valid() && (arg_lists_[list].flags & flags) != 0; }
    std::size_t type_count() const { return types_.size(); }

  private:
    template <class T>
    struct List {
        std::span<const T> items;   // in lists_
        std::uint8_t flags = 0;     // of all items
    };
    TypeId intern(TypeData data);
    TypeId replace_params(TypeId type, std::span<const GenericArg> args);
    ConstId replace_params(ConstId constant, std::span<const GenericArg> args);
    ArgsId replace_params(ArgsId list, std::span<const GenericArg> args);
    TypeId replace_params(TypeId type, ArgsId args);
    ArgsId replace_params(ArgsId list, ArgsId args);
    TypeId replace_regions(TypeId type);
    ArgsId replace_regions(ArgsId list);
    ConstId intern(ConstData data, std::span<const ConstId> elements);

    IndexVec<TypeId, TypeData> types_;
    IndexVec<RegionId, RegionData> regions_;
    IndexVec<ConstId, ConstData> consts_;
    Arena lists_;
    IndexVec<ArgsId, List<GenericArg>> arg_lists_;
    IndexVec<TypeListId, List<TypeId>> type_lists_;
    std::vector<ConstId> const_elements_;
    HashIndex type_map_, region_map_, const_map_, args_map_, list_map_;
    // What replace_params gave for these two lately: a table in which later ones take earlier ones' place.
    struct Replaced {
        std::uint32_t what = 0xFFFF'FFFFu, args = 0, result = 0;
    };
    static constexpr std::size_t kReplaced = 1024;
    Replaced& replaced(std::uint32_t what, ArgsId args) { return replaced_[(what * 0x9E37u ^ args.raw * 0x85EBu) % kReplaced]; }
    std::vector<Replaced> replaced_{kReplaced};
    SideMap<TypeId, TypeId> erased_types_;
    SideMap<TypeId, TypeId> erased_refs_[2];   // & and &mut

    std::vector<TypeId> infer_[3];   // by InferKind, by index: each body asks for the same ones
    TypeId ints_[16];
    TypeId floats_[4];
};

}  // namespace ockc::types
