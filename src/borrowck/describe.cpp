#include "borrowck/describe.hpp"

namespace ockc::borrowck {

using mir::ProjectionKind;

bool is_user_variable(const BodyCx& cx, LocalId local) {
    const mir::Local& decl = cx.body.locals[local];
    return decl.name.valid() && (decl.kind == mir::LocalKind::Var || decl.kind == mir::LocalKind::Arg);
}

std::optional<std::uint32_t> upvar_of(const BodyCx& cx, const Place& place) {
    if (!cx.body.is_closure || place.local != LocalId(1)) return std::nullopt;
    std::size_t steps = place.projections.size();
    if (steps != 0 && place.projections[steps - 1].kind == ProjectionKind::Deref && steps > 1) --steps;
    const bool by_ref = cx.types.kind(cx.body.locals[LocalId(1)].type) == types::TypeKind::Ref;
    if (steps != (by_ref ? 2u : 1u)) return std::nullopt;
    const mir::Projection& last = place.projections[steps - 1];
    if (last.kind != ProjectionKind::Field) return std::nullopt;
    if (steps < place.projections.size() && !cx.body.upvars[last.index].by_ref) return std::nullopt;
    return last.index;
}

std::string upvar_name(const BodyCx& cx, const Place& place) {
    if (!cx.body.is_closure || place.local != LocalId(1)) return {};
    const std::size_t steps = cx.types.kind(cx.body.locals[LocalId(1)].type) == types::TypeKind::Ref ? 2 : 1;
    if (place.projections.size() < steps) return {};
    return std::string(cx.name(cx.body.upvars[place.projections[steps - 1].index].name));
}

namespace {

std::string field_name(const BodyCx& cx, TypeId base, std::uint32_t variant, std::uint32_t index) {
    const types::TypeData data = cx.types[base];
    if (data.kind != types::TypeKind::Adt) return std::to_string(index);
    return std::string(cx.name(cx.context.adt(data.def).variants[variant].fields[index].name));
}

}  // namespace

std::optional<std::string> describe(const BodyCx& cx, const Place& place) {
    const mir::Local& local = cx.body.locals[place.local];
    std::string text;
    std::size_t begin = 0;
    if (cx.body.is_closure && place.local == LocalId(1)) {
        const std::size_t steps = cx.types.kind(local.type) == types::TypeKind::Ref ? 2 : 1;
        if (place.projections.size() < steps) return std::nullopt;
        const mir::Upvar& upvar = cx.body.upvars[place.projections[steps - 1].index];
        text = std::string(cx.name(upvar.name));
        begin = steps + (upvar.by_ref && place.projections.size() > steps ? 1 : 0);
    } else if (local.info == mir::LocalInfo::RefToStatic && !place.projections.empty()) {
        text = std::string(cx.context.program().name(local.static_def));
        begin = 1;
    } else if (local.info == mir::LocalInfo::GuardRef) {
        text = std::string(cx.name(local.name));
        begin = place.projections.empty() ? 0 : 1;
    } else if (is_user_variable(cx, place.local)) {
        text = std::string(cx.name(local.name));
    } else {
        return std::nullopt;
    }
    std::uint32_t variant = 0;
    for (std::size_t i = begin; i < place.projections.size(); ++i) {
        const mir::Projection& step = place.projections[i];
        const bool last = i + 1 == place.projections.size();
        switch (step.kind) {
            case ProjectionKind::Deref:
                if (last || place.projections[i + 1].kind == ProjectionKind::Deref) text = "*" + text;
                break;
            case ProjectionKind::Field:
                text += "." + field_name(cx, cx.erased_type(place, i), variant, step.index);
                variant = 0;
                break;
            case ProjectionKind::Downcast: variant = step.index; break;
            case ProjectionKind::Index: text += "[_]"; break;
            case ProjectionKind::ConstantIndex:
            case ProjectionKind::Subslice: text += "[..]"; break;
        }
    }
    return text;
}

std::string quoted(const BodyCx& cx, const Place& place) {
    const std::optional<std::string> text = describe(cx, place);
    return text ? "`" + *text + "`" : "value";
}

}  // namespace ockc::borrowck
