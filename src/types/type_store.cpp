#include "types/type_store.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <type_traits>

#include "types/fold.hpp"

namespace ockc::types {

namespace {

struct IntRow {
    std::string_view name;
    std::uint32_t bits;
    bool is_signed;
};
struct FloatRow {
    std::string_view name;
    std::uint32_t bits;
};
constexpr IntRow kInts[] = {
#define OCKC_ROW(name, text, bits, is_signed) {text, bits, is_signed},
    OCKC_PRIM_INTS(OCKC_ROW)
#undef OCKC_ROW
};
constexpr FloatRow kFloats[] = {
#define OCKC_ROW(name, text, bits) {text, bits},
    OCKC_PRIM_FLOATS(OCKC_ROW)
#undef OCKC_ROW
};

// A type as words: what is hashed and compared.
using TypeWords = std::array<std::uint64_t, sizeof(TypeData) / 8>;
static_assert(sizeof(TypeData) % 8 == 0 && std::has_unique_object_representations_v<TypeData>);

std::uint32_t hash(const TypeWords& words) {
    Hasher h;
    for (const std::uint64_t word : words) h.add(word);
    return h.value();
}

}  // namespace

std::string_view int_name(IntKind kind) { return kInts[static_cast<std::size_t>(kind)].name; }
std::uint32_t int_bits(IntKind kind) { return kInts[static_cast<std::size_t>(kind)].bits; }
bool int_signed(IntKind kind) { return kInts[static_cast<std::size_t>(kind)].is_signed; }
std::string_view float_name(FloatKind kind) { return kFloats[static_cast<std::size_t>(kind)].name; }
std::uint32_t float_bits(FloatKind kind) { return kFloats[static_cast<std::size_t>(kind)].bits; }

TypeStore::TypeStore() {
    no_args = args({});
    no_types = type_list({});
    erased = region({});
    static_region = region({RegionKind::Static, {}, 0, {}});
    error_region = region({RegionKind::Error, {}, 0, {}});
    const auto simple = [&](TypeKind kind) {
        TypeData data;
        data.kind = kind;
        data.flags = kind == TypeKind::Error ? kHasError : 0;
        return intern(data);
    };
    error = simple(TypeKind::Error);
    never = simple(TypeKind::Never);
    boolean = simple(TypeKind::Bool);
    character = simple(TypeKind::Char);
    str = simple(TypeKind::Str);
    unit = tuple({});
    for (std::size_t i = 0; i < std::size(kInts); ++i) {
        TypeData data;
        data.kind = TypeKind::Int;
        data.int_kind = static_cast<IntKind>(i);
        ints_[i] = intern(data);
    }
    for (std::size_t i = 0; i < std::size(kFloats); ++i) {
        TypeData data;
        data.kind = TypeKind::Float;
        data.float_kind = static_cast<FloatKind>(i);
        floats_[i] = intern(data);
    }
    ConstData bad;
    bad.flags = kHasError;
    bad.type = error;
    error_const = intern(bad, {});
}

TypeId TypeStore::intern(TypeData data) {
    const auto words = std::bit_cast<TypeWords>(data);
    const std::uint32_t key = hash(words);
    const std::uint32_t known = type_map_.find(key, [&](std::uint32_t i) { return std::bit_cast<TypeWords>(types_[TypeId(i)]) == words; });
    if (known != HashIndex::kNone) return TypeId(known);
    const TypeId id = types_.push(data);
    type_map_.insert(key, id.raw);
    return id;
}

RegionId TypeStore::region(RegionData data) {
    const std::uint32_t key =
        Hasher().add(static_cast<std::uint64_t>(data.kind)).add(data.def.raw).add(data.index).add(data.name.raw).value();
    const std::uint32_t known = region_map_.find(key, [&](std::uint32_t i) {
        const RegionData& old = regions_[RegionId(i)];
        return old.kind == data.kind && old.def == data.def && old.index == data.index && old.name == data.name;
    });
    if (known != HashIndex::kNone) return RegionId(known);
    const RegionId id = regions_.push(data);
    region_map_.insert(key, id.raw);
    return id;
}

ConstId TypeStore::intern(ConstData data, std::span<const ConstId> elements) {
    Hasher h;
    h.add(static_cast<std::uint64_t>(data.kind)).add(data.type.raw).add(data.bits[0]).add(data.bits[1]);
    h.add(data.def.raw).add(data.args.raw).add(data.index).add(data.name.raw).add(elements.size());
    for (ConstId element : elements) h.add(element.raw);
    const std::uint32_t key = h.value();
    const std::uint32_t known = const_map_.find(key, [&](std::uint32_t i) {
        const ConstData& old = consts_[ConstId(i)];
        const auto old_elements = const_elements(ConstId(i));
        return old.kind == data.kind && old.type == data.type && old.bits == data.bits && old.def == data.def &&
               old.args == data.args && old.index == data.index && old.name == data.name &&
               std::equal(old_elements.begin(), old_elements.end(), elements.begin(), elements.end());
    });
    if (known != HashIndex::kNone) return ConstId(known);
    data.elements_begin = static_cast<std::uint32_t>(const_elements_.size());
    data.elements_count = static_cast<std::uint32_t>(elements.size());
    const_elements_.insert(const_elements_.end(), elements.begin(), elements.end());
    const ConstId id = consts_.push(data);
    const_map_.insert(key, id.raw);
    return id;
}

std::span<const ConstId> TypeStore::const_elements(ConstId array_value) const {
    const ConstData& data = consts_[array_value];
    return std::span<const ConstId>(const_elements_).subspan(data.elements_begin, data.elements_count);
}

ArgsId TypeStore::args(std::span<const GenericArg> list) {
    Hasher h;
    for (GenericArg arg : list) h.add(arg.raw());
    const std::uint32_t key = h.add(list.size()).value();
    const std::uint32_t known = args_map_.find(key, [&](std::uint32_t i) { return std::ranges::equal(arg_lists_[ArgsId(i)].items, list); });
    if (known != HashIndex::kNone) return ArgsId(known);
    std::uint8_t flags = 0;
    for (GenericArg arg : list) {
        switch (arg.kind()) {
            case GenericArg::Kind::Type: flags |= types_[arg.as_type()].flags; break;
            case GenericArg::Kind::Const: flags |= consts_[arg.as_const()].flags; break;
            case GenericArg::Kind::Region: {
                const RegionKind kind = regions_[arg.as_region()].kind;
                if (kind != RegionKind::Erased) flags |= kHasRegion;
                if (kind == RegionKind::EarlyParam) flags |= kHasParam;
                break;
            }
        }
    }
    const ArgsId id = arg_lists_.push({lists_.copy(list), flags});
    args_map_.insert(key, id.raw);
    return id;
}

TypeListId TypeStore::type_list(std::span<const TypeId> list) {
    Hasher h;
    std::uint8_t flags = 0;
    for (TypeId type : list) {
        h.add(type.raw);
        flags |= types_[type].flags;
    }
    const std::uint32_t key = h.add(list.size()).value();
    const std::uint32_t known = list_map_.find(key, [&](std::uint32_t i) { return std::ranges::equal(type_lists_[TypeListId(i)].items, list); });
    if (known != HashIndex::kNone) return TypeListId(known);
    const TypeListId id = type_lists_.push({lists_.copy(list), flags});
    list_map_.insert(key, id.raw);
    return id;
}

TypeId TypeStore::tuple(std::span<const TypeId> elements) {
    TypeData data;
    data.kind = TypeKind::Tuple;
    data.elements = type_list(elements);
    data.flags = type_lists_[data.elements].flags;
    return intern(data);
}

TypeId TypeStore::array(TypeId element, ConstId length) {
    TypeData data;
    data.kind = TypeKind::Array;
    data.element = element;
    data.length = length;
    data.flags = types_[element].flags | consts_[length].flags;
    return intern(data);
}

TypeId TypeStore::slice(TypeId element) {
    TypeData data;
    data.kind = TypeKind::Slice;
    data.element = element;
    data.flags = types_[element].flags;
    return intern(data);
}

TypeId TypeStore::ref(RegionId region, TypeId pointee, Mutability mutability) {
    TypeData data;
    data.kind = TypeKind::Ref;
    data.region = region;
    data.element = pointee;
    data.mutability = mutability;
    data.flags = types_[pointee].flags;
    const RegionKind kind = regions_[region].kind;
    if (kind == RegionKind::EarlyParam) data.flags |= kHasParam;
    if (kind != RegionKind::Erased) {
        data.flags |= kHasRegion;
        return intern(data);
    }
    SideMap<TypeId, TypeId>& known = erased_refs_[mutability == Mutability::Mut ? 1 : 0];   // asked for again and again
    if (!known[pointee].valid()) known.set(pointee, intern(data));
    return known[pointee];
}

TypeId TypeStore::raw_ptr(TypeId pointee, Mutability mutability) {
    TypeData data;
    data.kind = TypeKind::RawPtr;
    data.element = pointee;
    data.mutability = mutability;
    data.flags = types_[pointee].flags;
    return intern(data);
}

namespace {
TypeData with_args(TypeKind kind, DefId def, ArgsId args, std::uint8_t flags) {
    TypeData data;
    data.kind = kind;
    data.def = def;
    data.args = args;
    data.flags = flags;
    return data;
}
}  // namespace

TypeId TypeStore::adt(DefId def, ArgsId args) {
    return intern(with_args(TypeKind::Adt, def, args, arg_lists_[args].flags));
}
TypeId TypeStore::fn_def(DefId def, ArgsId args) {
    return intern(with_args(TypeKind::FnDef, def, args, arg_lists_[args].flags));
}
TypeId TypeStore::closure(DefId def, ArgsId args) {
    return intern(with_args(TypeKind::Closure, def, args, static_cast<std::uint8_t>(arg_lists_[args].flags | kHasClosure)));
}
TypeId TypeStore::projection(DefId assoc_type, ArgsId args) {
    return intern(with_args(TypeKind::Projection, assoc_type, args,
                            static_cast<std::uint8_t>(arg_lists_[args].flags | kHasProjection)));
}
TypeId TypeStore::opaque(DefId def, ArgsId args) {
    // Normalisation looks: monomorphic code sees through it.
    return intern(with_args(TypeKind::Opaque, def, args, static_cast<std::uint8_t>(arg_lists_[args].flags | kHasProjection)));
}

TypeId TypeStore::fn_ptr(std::span<const TypeId> inputs, TypeId output, bool is_unsafe) {
    std::vector<TypeId> all(inputs.begin(), inputs.end());
    all.push_back(output);
    TypeData data;
    data.kind = TypeKind::FnPtr;
    data.elements = type_list(all);
    data.is_unsafe = is_unsafe;
    data.flags = type_lists_[data.elements].flags;
    return intern(data);
}

TypeId TypeStore::param(std::uint32_t index, Symbol name) {
    TypeData data;
    data.kind = TypeKind::Param;
    data.index = index;
    data.name = name;
    data.flags = kHasParam;
    return intern(data);
}

TypeId TypeStore::infer(std::uint32_t index, InferKind kind) {
    std::vector<TypeId>& known = infer_[static_cast<std::size_t>(kind)];
    if (index >= known.size()) known.resize(index + 1);
    if (known[index].valid()) return known[index];
    TypeData data;
    data.kind = TypeKind::Infer;
    data.index = index;
    data.infer_kind = kind;
    data.flags = kHasInfer;
    return known[index] = intern(data);
}

ConstId TypeStore::const_value(TypeId type, std::uint64_t low, std::uint64_t high) {
    ConstData data;
    data.kind = ConstKind::Value;
    data.type = type;
    data.bits = {low, high};
    return intern(data, {});
}

ConstId TypeStore::const_array(TypeId type, std::span<const ConstId> elements) {
    ConstData data;
    data.kind = ConstKind::Value;
    data.type = type;
    for (const ConstId element : elements) data.flags = static_cast<std::uint8_t>(data.flags | consts_[element].flags);
    return intern(data, elements);
}

ConstId TypeStore::const_param(std::uint32_t index, Symbol name, TypeId type) {
    ConstData data;
    data.kind = ConstKind::Param;
    data.index = index;
    data.name = name;
    data.type = type;
    data.flags = kHasParam;
    return intern(data, {});
}

ConstId TypeStore::const_infer(std::uint32_t index, TypeId type) {
    ConstData data;
    data.kind = ConstKind::Infer;
    data.index = index;
    data.type = type;
    data.flags = kHasInfer;
    return intern(data, {});
}

ConstId TypeStore::const_unevaluated(DefId def, ArgsId args, TypeId type) {
    ConstData data;
    data.kind = ConstKind::Unevaluated;
    data.def = def;
    data.args = args;
    data.type = type;
    data.flags = static_cast<std::uint8_t>(arg_lists_[args].flags | kHasProjection);   // may be evaluated: normalisation looks
    return intern(data, {});
}

namespace {

class Substitution final : public Folder {
  public:
    Substitution(TypeStore& types, std::span<const GenericArg> args) : Folder(types, kHasParam), args_(args) {}

  protected:
    TypeId type_of(TypeId type) override {
        const TypeData& data = types_[type];
        if (data.kind != TypeKind::Param) return super_type(type);
        OCKC_CHECK_MSG(data.index < args_.size() && args_[data.index].kind() == GenericArg::Kind::Type,
                       "substitution: no type argument for a parameter");
        return args_[data.index].as_type();
    }
    RegionId region_of(RegionId region) override {
        const RegionData& data = types_[region];
        if (data.kind != RegionKind::EarlyParam) return region;
        if (data.index >= args_.size() || args_[data.index].kind() != GenericArg::Kind::Region) return types_.erased;
        return args_[data.index].as_region();
    }
    ConstId const_of(ConstId constant) override {
        const ConstData& data = types_[constant];
        if (data.kind != ConstKind::Param) return super_const(constant);
        OCKC_CHECK_MSG(data.index < args_.size() && args_[data.index].kind() == GenericArg::Kind::Const,
                       "substitution: no constant argument for a parameter");
        return args_[data.index].as_const();
    }

  private:
    std::span<const GenericArg> args_;
};

class RegionEraser final : public Folder {
  public:
    explicit RegionEraser(TypeStore& types) : Folder(types, kHasRegion) {}

  protected:
    RegionId region_of(RegionId) override { return types_.erased; }
};

}  // namespace

TypeId TypeStore::replace_params(TypeId type, std::span<const GenericArg> args) {
    const TypeData& data = types_[type];
    const bool plain = data.kind == TypeKind::Param && data.index < args.size() && args[data.index].kind() == GenericArg::Kind::Type;
    return plain ? args[data.index].as_type() : Substitution(*this, args).fold(type);
}
ConstId TypeStore::replace_params(ConstId constant, std::span<const GenericArg> args) { return Substitution(*this, args).fold(constant); }
ArgsId TypeStore::replace_params(ArgsId list, std::span<const GenericArg> args) { return Substitution(*this, args).fold(list); }
// Types and lists share the table: a type's number is doubled, a list's doubled and one more.
TypeId TypeStore::replace_params(TypeId type, ArgsId args) {
    const TypeData& data = types_[type];
    if (data.kind == TypeKind::Param) return replace_params(type, (*this)[args]);
    const std::uint32_t what = type.raw * 2;
    if (const Replaced& known = replaced(what, args); known.what == what && known.args == args.raw) return TypeId(known.result);
    const TypeId result = replace_params(type, (*this)[args]);
    replaced(what, args) = {what, args.raw, result.raw};
    return result;
}
ArgsId TypeStore::replace_params(ArgsId list, ArgsId args) {
    const std::uint32_t what = list.raw * 2 + 1;
    if (const Replaced& known = replaced(what, args); known.what == what && known.args == args.raw) return ArgsId(known.result);
    const ArgsId result = replace_params(list, (*this)[args]);
    replaced(what, args) = {what, args.raw, result.raw};
    return result;
}
TypeId TypeStore::replace_regions(TypeId type) {
    if (const TypeId known = erased_types_[type]; known.valid()) return known;
    const TypeId result = RegionEraser(*this).fold(type);
    erased_types_.set(type, result);
    return result;
}
ArgsId TypeStore::replace_regions(ArgsId list) { return RegionEraser(*this).fold(list); }

}  // namespace ockc::types
