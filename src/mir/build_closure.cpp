// Closures: the value is an aggregate of the captured places, each copied, moved or borrowed; inside the body a captured
// place is a field of the closure that _1 is, or refers to.
#include "mir/builder.hpp"

namespace ockc::mir {

using types::TypeKind;

Rvalue Builder::closure_rvalue(hir::ExprId id, const hir::ClosureExpr& node) {
    const check::ClosureInfo& closure = context_.closure_info(node.def);
    std::vector<Operand> operands;
    for (const check::Capture& capture : closure.captures) operands.push_back(capture_operand(capture, span_of(id)));
    return aggregate({AggregateKind::Kind::Closure, tables_.type(id), node.def, 0}, operands);
}

PlaceBuilder Builder::captured_place(const check::Capture& capture) {
    PlaceBuilder place = local_place(capture.local);
    for (const check::CaptureProjection& step : capture.projections) {
        switch (step.kind) {
            case check::CaptureProjection::Kind::Deref: deref(place, step.type); break;
            case check::CaptureProjection::Kind::Field:
                // Captures name the fields of an enum that has one variant as those of a struct.
                if (is_enum(place.type)) downcast(place, 0);
                field(place, step.field, step.type);
                break;
        }
    }
    return place;
}

Operand Builder::capture_operand(const check::Capture& capture, Span span) {
    const PlaceBuilder place = captured_place(capture);
    if (capture.kind == check::CaptureKind::ByValue) {
        const LocalId temp = new_temp(place.type, span);
        storage_live(span, temp, innermost_terminating());
        assign_use(span, Place{temp, {}}, consume(place));
        if (needs_drop(place.type)) schedule_drop(innermost_terminating(), temp, DropKind::Value);
        return Operand::move(Place{temp, {}});
    }
    BorrowKind kind = BorrowKind::Shared;
    if (capture.kind == check::CaptureKind::ByMutRef) {
        kind = is_root_mutable(place) ? BorrowKind::Mut : BorrowKind::UniqueCapture;
    }
    const LocalId temp = new_temp(capture.type, span);
    storage_live(span, temp, innermost_terminating());
    assign(span, Place{temp, {}}, Rvalue{RefRvalue{kind, to_place(place)}});
    return Operand::move(Place{temp, {}});
}

// May the place be written through: a `mut` variable, or something behind a mutable pointer.
bool Builder::is_declared_mutable(const PlaceBuilder& place) {
    bool is_mut = false;
    std::size_t begin = 0;
    if (place.local.valid()) {
        is_mut = body_.locals[place.local].mutability == Mutability::Mut;
    } else {
        const hir::Local& variable = hir_.locals[place.upvar];
        is_mut = variable.is_mut;
    }
    TypeId type = place.local.valid() ? body_.locals[place.local].type : tables_.type(place.upvar);
    for (; begin < place.steps.size(); ++begin) {
        const Projection& step = place.steps[begin];
        if (step.kind == ProjectionKind::Deref) is_mut = types_[type].mutability == Mutability::Mut;
        if (step.kind == ProjectionKind::Deref && !is_mut) return false;
        type = step.type;
    }
    return is_mut;
}

// Is the variable itself `mut`; of a closure's capture, the captured place. If not, only a closure may borrow it for itself.
bool Builder::is_root_mutable(const PlaceBuilder& place) {
    if (place.local.valid()) return body_.locals[place.local].mutability == Mutability::Mut;
    const std::optional<CapturedPart> part = captured_part(place);
    return part && body_.upvars[part->capture].mutability == Mutability::Mut;
}

bool Builder::is_behind_shared(const PlaceBuilder& place) {
    TypeId type = place.local.valid() ? body_.locals[place.local].type : tables_.type(place.upvar);
    for (const Projection& step : place.steps) {
        if (step.kind == ProjectionKind::Deref && types_[type].mutability == Mutability::Not) return true;
        type = step.type;
    }
    return false;
}

namespace {
// How many of the place's steps lead to what is captured; nothing: the place is no part of it. A downcast belongs to the field
// behind it.
std::optional<std::size_t> captured_steps(const check::Capture& capture, const PlaceBuilder& place) {
    if (capture.local != place.upvar) return std::nullopt;
    std::size_t at = 0;
    for (const check::CaptureProjection& want : capture.projections) {
        const bool is_field = want.kind == check::CaptureProjection::Kind::Field;
        if (is_field && at < place.steps.size() && place.steps[at].kind == ProjectionKind::Downcast) ++at;
        if (at >= place.steps.size()) return std::nullopt;
        const Projection& have = place.steps[at++];
        if (is_field ? have.kind != ProjectionKind::Field || have.index != want.field : have.kind != ProjectionKind::Deref) return std::nullopt;
    }
    return at;
}
}  // namespace

bool Builder::is_enum(TypeId type) {
    const types::TypeData& data = types_[type];
    return data.kind == TypeKind::Adt && context_.adt(data.def).kind == check::AdtInfo::Kind::Enum;
}

std::optional<Builder::CapturedPart> Builder::captured_part(const PlaceBuilder& place) {
    for (std::uint32_t i = 0; i < closure_->captures.size(); ++i) {
        if (const std::optional<std::size_t> steps = captured_steps(closure_->captures[i], place)) return CapturedPart{i, *steps};
    }
    return std::nullopt;
}

std::optional<PlaceBuilder> Builder::resolve_upvar(const PlaceBuilder& place) {
    if (const std::optional<CapturedPart> found = captured_part(place)) {
        const std::uint32_t i = found->capture;
        const check::Capture& capture = closure_->captures[i];
        PlaceBuilder resolved = root(LocalId(1));
        if (types_.kind(resolved.type) == TypeKind::Ref) deref(resolved, pointee(resolved.type));
        field(resolved, i, capture.type);
        if (capture.kind != check::CaptureKind::ByValue) deref(resolved, capture.place_type);
        for (std::size_t step = found->steps; step < place.steps.size(); ++step) {
            resolved.steps.push_back(place.steps[step]);
        }
        resolved.type = place.type;
        return resolved;
    }
    return std::nullopt;
}

}  // namespace ockc::mir
