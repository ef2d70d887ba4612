#include "types/fold.hpp"

#include "support/small_vec.hpp"

namespace ockc::types {

namespace {
constexpr std::uint32_t kMemoAfter = 32;   // small types are cheaper to walk again than to look up
}

TypeId Folder::fold(TypeId type) {
    if (!types_.has(type, interesting_)) return type;
    if (++visited_ < kMemoAfter) return type_of(type);
    if (memo_ == nullptr) memo_ = std::make_unique<std::unordered_map<TypeId, TypeId>>();
    if (const auto found = memo_->find(type); found != memo_->end()) return found->second;
    const TypeId result = type_of(type);
    memo_->emplace(type, result);
    return result;
}

ConstId Folder::fold(ConstId constant) {
    return types_.has(constant, interesting_) ? const_of(constant) : constant;
}

GenericArg Folder::fold(GenericArg arg) {
    switch (arg.kind()) {
        case GenericArg::Kind::Type: return fold(arg.as_type());
        case GenericArg::Kind::Region: return region_of(arg.as_region());
        case GenericArg::Kind::Const: return fold(arg.as_const());
    }
    OCKC_UNREACHABLE("generic argument kind");
}

ArgsId Folder::fold(ArgsId list) {
    if (!list.valid() || !types_.has(list, interesting_)) return list;
    SmallVec<GenericArg, 8> out;
    bool changed = false;
    for (GenericArg arg : types_[list]) {
        const GenericArg folded = fold(arg);
        changed |= folded != arg;
        out.push_back(folded);
    }
    return changed ? types_.args(out.view()) : list;
}

TypeListId Folder::fold_list(TypeListId list) {
    SmallVec<TypeId, 8> out;
    bool changed = false;
    for (TypeId type : types_[list]) {
        const TypeId folded = fold(type);
        changed |= folded != type;
        out.push_back(folded);
    }
    return changed ? types_.type_list(out.view()) : list;
}

TypeId Folder::super_type(TypeId type) {
    const TypeData data = types_[type];   // a copy: folding may grow the store
    switch (data.kind) {
        case TypeKind::Error:
        case TypeKind::Never:
        case TypeKind::Bool:
        case TypeKind::Char:
        case TypeKind::Str:
        case TypeKind::Int:
        case TypeKind::Float:
        case TypeKind::Param:
        case TypeKind::Infer: return type;
        case TypeKind::Tuple: {
            const TypeListId list = fold_list(data.elements);
            return list == data.elements ? type : types_.tuple(types_[list]);
        }
        case TypeKind::Array: return types_.array(fold(data.element), fold(data.length));
        case TypeKind::Slice: return types_.slice(fold(data.element));
        case TypeKind::Ref: return types_.ref(region_of(data.region), fold(data.element), data.mutability);
        case TypeKind::RawPtr: return types_.raw_ptr(fold(data.element), data.mutability);
        case TypeKind::Adt: return types_.adt(data.def, fold(data.args));
        case TypeKind::FnDef: return types_.fn_def(data.def, fold(data.args));
        case TypeKind::Closure: return types_.closure(data.def, fold(data.args));
        case TypeKind::Projection: return types_.projection(data.def, fold(data.args));
        case TypeKind::Opaque: return types_.opaque(data.def, fold(data.args));
        case TypeKind::FnPtr: {
            const TypeListId list = fold_list(data.elements);
            if (list == data.elements) return type;
            const auto all = types_[list];
            return types_.fn_ptr(all.first(all.size() - 1), all.back(), data.is_unsafe);
        }
    }
    OCKC_UNREACHABLE("type kind");
}

ConstId Folder::super_const(ConstId constant) {
    const ConstData data = types_[constant];
    switch (data.kind) {
        case ConstKind::Error:
        case ConstKind::Param:
        case ConstKind::Infer: return constant;
        case ConstKind::Value: {   // an array whose elements are not all known: the shape of a tile
            SmallVec<ConstId, 8> elements;
            for (std::uint32_t i = 0; i < data.elements_count; ++i) elements.push_back(fold(types_.const_elements(constant)[i]));
            return data.elements_count == 0 ? constant : types_.const_array(data.type, elements.view());
        }
        case ConstKind::Unevaluated: return types_.const_unevaluated(data.def, fold(data.args), data.type);
    }
    OCKC_UNREACHABLE("const kind");
}

}  // namespace ockc::types
