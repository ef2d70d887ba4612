// Rewriting of types, bottom up. A Folder overrides what it changes (a kind of type, regions, constants) and calls super_* to
// go into the parts. Subtrees without any flag of `interesting` come back untouched, and a memo keeps types that share
// subtrees (DAGs) from being walked exponentially often.
#pragma once
#include <algorithm>
#include <memory>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "support/small_vec.hpp"
#include "types/type_store.hpp"

namespace ockc::types {

class Folder {
  public:
    Folder(TypeStore& types, std::uint8_t interesting) : types_(types), interesting_(interesting) {}
    virtual ~Folder() = default;

    TypeId fold(TypeId type);
    ConstId fold(ConstId constant);
    ArgsId fold(ArgsId list);
    GenericArg fold(GenericArg arg);
    RegionId fold(RegionId region) { return region_of(region); }

  protected:
    virtual TypeId type_of(TypeId type) { return super_type(type); }
    virtual RegionId region_of(RegionId region) { return region; }
    virtual ConstId const_of(ConstId constant) { return super_const(constant); }
    TypeId super_type(TypeId type);
    ConstId super_const(ConstId constant);

    TypeStore& types_;

  private:
    TypeListId fold_list(TypeListId list);
    std::uint8_t interesting_;
    std::uint32_t visited_ = 0;
    std::unique_ptr<std::unordered_map<TypeId, TypeId>> memo_;   // only a large type gets one
};

// Calls visit(TypeId) for the type and, while it returns true, for the types inside it. Each distinct type once.
template <class Visit>
void walk(const TypeStore& types, TypeId root, Visit&& visit) {
    constexpr std::uint32_t kFew = 16;   // a list of so many is faster than a table
    SmallVec<TypeId, kFew> stack{root}, few;
    std::optional<std::unordered_set<TypeId>> many;
    const auto is_new = [&](TypeId type) {
        if (few.size() == kFew) {
            if (!many) many.emplace();
            return std::find(few.begin(), few.end(), type) == few.end() && many->insert(type).second;
        }
        if (std::find(few.begin(), few.end(), type) != few.end()) return false;
        few.push_back(type);
        return true;
    };
    const auto push_args = [&](ArgsId args) {
        for (GenericArg arg : types[args]) {
            if (arg.kind() == GenericArg::Kind::Type) stack.push_back(arg.as_type());
        }
    };
    while (!stack.empty()) {
        const TypeId type = stack.back();
        stack.pop_back();
        if (!is_new(type) || !visit(type)) continue;
        const TypeData data = types[type];   // a copy: visiting may grow the store
        if (data.element.valid()) stack.push_back(data.element);
        if (data.args.valid()) push_args(data.args);
        if (data.elements.valid()) {
            for (TypeId element : types[data.elements]) stack.push_back(element);
        }
    }
}

}  // namespace ockc::types
