// Inference variables of one body or query: bindings from variables to types, unification, snapshots.
//
// A variable is bound to a type or to another variable; lookups follow the chain and, outside snapshots, shorten it. Snapshots
// are an undo log, written only while one is open. Regions are ignored: inside bodies they are all Erased.
#pragma once
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "source/span.hpp"
#include "types/type_store.hpp"

namespace ockc::check {

using types::ArgsId;
using types::ConstId;
using types::GenericArg;
using types::InferKind;
using types::TypeId;
using types::TypeKind;

class InferCtxt {
  public:
    explicit InferCtxt(types::TypeStore& types) : types_(types) {}

    TypeId new_var(Span origin = {}, InferKind kind = InferKind::Type);
    TypeId new_diverging_var(Span origin);
    ConstId new_const_var(TypeId type, Span origin = {});
    Span origin(TypeId var) const { return vars_[types_[var].index].origin; }

    // The type at the top, variables followed; the result is a variable only if it is unbound.
    TypeId shallow(TypeId type) { return types_.kind(type) == TypeKind::Infer ? follow(type) : type; }
    ConstId shallow(ConstId constant);
    // Variables replaced everywhere.
    TypeId resolve(TypeId type);
    ConstId resolve(ConstId constant);
    ArgsId resolve(ArgsId args) { return types_.has(args, types::kHasInfer) ? resolve_each(args) : args; }
    bool is_unbound_var(TypeId type) { return types_.kind(shallow(type)) == TypeKind::Infer; }
    // Unbound and not {integer} or {float}.
    bool is_type_var(TypeId type) {
        const types::TypeData& known = types_[shallow(type)];
        return known.kind == TypeKind::Infer && known.infer_kind == InferKind::Type;
    }

    // Makes the two equal; false leaves everything as it was.
    bool unify(TypeId a, TypeId b);
    bool unify(ConstId a, ConstId b);
    bool unify(ArgsId a, ArgsId b);
    // Could they be made equal? Changes nothing.
    bool can_unify(TypeId a, TypeId b);

    // Inside the body that defines it, an `impl Trait` is equal to what `variable` is found to be.
    void define_opaque(DefId def, TypeId variable) { opaques_.emplace(def, variable); }

    struct Snapshot {
        std::size_t log = 0, vars = 0, consts = 0, diverging = 0;
        std::uint64_t bindings = 0;
    };
    Snapshot snapshot();
    void rollback(const Snapshot& to);
    void commit();

    // Grows whenever a variable is bound: nothing new means that nothing can have become decidable.
    std::uint64_t bindings() const { return bindings_; }
    const std::vector<TypeId>& diverging_vars() const { return diverging_; }
    std::size_t var_count() const { return vars_.size(); }
    // Unbound variables by index, for fallback.
    TypeId var_type(std::uint32_t index) const { return types_.infer(index, vars_[index].kind); }
    bool is_bound(std::uint32_t index) const { return vars_[index].value.valid(); }
    bool in_snapshot() const { return open_ != 0; }

  private:
    struct Var {
        TypeId value;      // none: unbound
        InferKind kind = InferKind::Type;
        Span origin;
    };
    struct ConstVar {
        ConstId value;
        TypeId type;
        Span origin;
    };
    struct Undo {
        std::uint32_t index;
        bool is_const;
        std::uint32_t old_value;
    };
    TypeId follow(TypeId variable);
    ArgsId resolve_each(ArgsId args);
    bool unify_inner(TypeId a, TypeId b);
    bool unify_lists(std::span<const TypeId> a, std::span<const TypeId> b);
    bool unify_args_inner(ArgsId a, ArgsId b);
    bool unify_const_inner(ConstId a, ConstId b);
    bool unify_var(TypeId var, TypeId other);
    TypeId defined_opaque(const types::TypeData& data) const;
    bool unify_opaque(TypeId opaque, TypeId variable, TypeId other);
    void bind(std::uint32_t index, TypeId value);
    bool occurs(std::uint32_t index, TypeId in);

    types::TypeStore& types_;
    std::vector<Var> vars_;
    std::vector<ConstVar> const_vars_;
    std::vector<TypeId> diverging_;
    std::unordered_map<DefId, TypeId> opaques_;
    std::vector<Undo> log_;
    std::uint32_t open_ = 0;
    std::uint32_t unify_depth_ = 0;
    std::uint64_t bindings_ = 0;
};

}  // namespace ockc::check
