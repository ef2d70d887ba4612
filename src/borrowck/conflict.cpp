// Place against place, projection by projection: fields of different names are apart, elements are one unless both indices
// are constants, and what lies behind a shared reference cannot be in a loan at all.
#include "borrowck/conflict.hpp"

namespace ockc::borrowck {

using mir::Projection;
using mir::ProjectionKind;
using types::TypeKind;

namespace {

enum class Overlap : std::uint8_t { Same, Disjoint, Unknown };   // Unknown: some part of one meets some part of the other

bool is_element(ProjectionKind kind) {
    return kind == ProjectionKind::Index || kind == ProjectionKind::ConstantIndex || kind == ProjectionKind::Subslice;
}

// Constant elements and subslices of one array or slice.
Overlap compare_constant(const Projection& a, const Projection& b) {
    const bool a_index = a.kind == ProjectionKind::ConstantIndex, b_index = b.kind == ProjectionKind::ConstantIndex;
    if (a_index && b_index) {
        if (a.from_end == b.from_end) return a.offset == b.offset ? Overlap::Same : Overlap::Disjoint;
        const Projection& front = a.from_end ? b : a;
        const Projection& back = a.from_end ? a : b;
        const std::uint64_t shortest = std::max(a.min_length, b.min_length);
        return front.offset >= shortest - back.offset ? Overlap::Same : Overlap::Disjoint;
    }
    if (!a_index && !b_index) {
        if (a.from_end || b.from_end) return Overlap::Same;
        return a.min_length > b.offset && b.min_length > a.offset ? Overlap::Same : Overlap::Disjoint;
    }
    const Projection& index = a_index ? a : b;
    const Projection& slice = a_index ? b : a;
    if (!slice.from_end && !index.from_end) {
        return index.offset >= slice.offset && index.offset < slice.min_length ? Overlap::Same : Overlap::Disjoint;
    }
    if (slice.from_end && !index.from_end) return index.offset >= slice.offset ? Overlap::Same : Overlap::Disjoint;
    if (slice.from_end && index.from_end) return index.offset > slice.min_length ? Overlap::Same : Overlap::Disjoint;
    return Overlap::Same;
}

Overlap compare(const BodyCx& cx, TypeId base, const Projection& a, const Projection& b, Bias bias) {
    if (a.kind == ProjectionKind::Deref && b.kind == ProjectionKind::Deref) return Overlap::Same;
    if (a.kind == ProjectionKind::Field && b.kind == ProjectionKind::Field) {
        if (a.index == b.index) return Overlap::Same;
        const types::TypeData& data = cx.types[base];
        const bool is_union =
            data.kind == TypeKind::Adt && cx.context.adt(data.def).kind == check::AdtInfo::Kind::Union;
        return is_union ? Overlap::Unknown : Overlap::Disjoint;
    }
    if (a.kind == ProjectionKind::Downcast && b.kind == ProjectionKind::Downcast) {
        return a.index == b.index ? Overlap::Same : Overlap::Disjoint;
    }
    if (is_element(a.kind) && is_element(b.kind)) {
        if (a.kind == ProjectionKind::Index || b.kind == ProjectionKind::Index) {
            return bias == Bias::Overlap ? Overlap::Same : Overlap::Disjoint;
        }
        return compare_constant(a, b);
    }
    return Overlap::Unknown;
}

}  // namespace

bool places_conflict(const BodyCx& cx, const Place& loan, mir::BorrowKind kind, const Place& access, Depth depth, Bias bias) {
    if (loan.local != access.local) return false;
    for (std::size_t i = 0; i < loan.projections.size(); ++i) {
        const Projection& step = loan.projections[i];
        const TypeId base = cx.erased_type(loan, i);
        if (i < access.projections.size()) {
            switch (compare(cx, base, step, access.projections[i], bias)) {
                case Overlap::Same: continue;
                case Overlap::Disjoint: return false;
                case Overlap::Unknown: return true;
            }
        }
        // The loan is of a part of what is accessed.
        if (depth == Depth::Length) return false;
        if (step.kind == ProjectionKind::Deref && (depth == Depth::Shallow || depth == Depth::ShallowFake)) return false;
        // A destructor may touch all that its value holds or refers to.
        const bool is_adt = step.kind == ProjectionKind::Field && cx.types.kind(base) == TypeKind::Adt;
        if (depth == Depth::Drop && is_adt && cx.context.drop_impl(base).valid()) return true;
        // Dropping a reference does not touch what it refers to.
        if (step.kind == ProjectionKind::Deref && depth == Depth::Drop && cx.types.kind(base) == TypeKind::Ref) return false;
    }
    // The loan covers the access, or is covered by it.
    return !(kind == mir::BorrowKind::Fake && loan.projections.size() < access.projections.size());
}

}  // namespace ockc::borrowck
