// A place under construction: cheap to extend, compared by value, finished by Builder::to_place.
#pragma once
#include "mir/mir.hpp"
#include "support/small_vec.hpp"

namespace ockc::mir {

struct PlaceBuilder {
    LocalId local;
    hir::LocalId upvar;                // when local is none: a variable that the closure captured, wholly or in part
    SmallVec<Projection, 2> steps;
    TypeId type;                       // of the place so far

    friend bool operator==(const PlaceBuilder& a, const PlaceBuilder& b) {
        if (a.local != b.local || a.upvar != b.upvar || a.steps.size() != b.steps.size()) return false;
        for (std::size_t i = 0; i < a.steps.size(); ++i) {
            if (!same_projection(a.steps[i], b.steps[i])) return false;
        }
        return true;
    }
};

}  // namespace ockc::mir
