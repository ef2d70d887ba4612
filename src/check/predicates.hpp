// Trait references, predicates and the assumptions (parameter environments) under which types are compared.
#pragma once
#include <span>
#include <vector>

#include "source/span.hpp"
#include "types/type.hpp"

namespace ockc::check {

// `Self: Trait<Args>`; args[0] is Self.
struct TraitRef {
    DefId trait;
    types::ArgsId args;
    bool valid() const { return trait.valid(); }
    friend bool operator==(const TraitRef&, const TraitRef&) = default;
};

struct Predicate {
    enum class Kind : std::uint8_t {
        Trait,            // trait_ref
        Projection,       // <args[0] as Trait<args..>>::assoc == term (type or constant); args include the associated item's own
        TypeOutlives,     // type: region
        RegionOutlives,   // longer: region
        ConstHasType,     // the constant argument has this type
    };
    Kind kind = Kind::Trait;
    TraitRef trait_ref;       // Trait, Projection
    DefId assoc;              // Projection
    types::GenericArg term;   // Projection
    types::TypeId type;       // TypeOutlives, ConstHasType
    types::ConstId constant;  // ConstHasType
    types::RegionId longer, region;
    Span span;                // where it was written
};

// All caller bounds of an item (its own and its parents'), with supertraits elaborated; regions erased.
struct ParamEnv {
    DefId owner;              // none: the empty environment of monomorphic code
    std::vector<Predicate> predicates;
};

}  // namespace ockc::check
