// Gathering of moves and initialisations from a body.
#include "mir/move_paths.hpp"

namespace ockc::mir {

MovePaths::MovePaths(const Body& body, check::Context& context)
    : body_(body), context_(context), env_(context.param_env(context.body_owner(body.owner))) {
    paths_.reserve(body.locals.size() + 8);
    for (std::uint32_t i = 0; i < body.locals.size(); ++i) paths_.push(MovePath{Place{LocalId(i), {}}, {}, {}, {}});
    std::size_t points = 0;
    for (const BasicBlock& block : body.blocks) points += block.statements.size() + 1;
    block_begin_.reserve(body.blocks.size());
    moves_begin_.reserve(points + 1);
    inits_begin_.reserve(points + 1);
    moves_.reserve(points);
    inits_.reserve(points);
    for (std::uint32_t i = 1; i <= body.arg_count; ++i) {
        const Location entry{BlockId(0), 0};
        inits_.push(Init{MovePathId(i), entry, true});
    }
    for (std::uint32_t b = 0; b < body.blocks.size(); ++b) {
        const BasicBlock& block = body.blocks[BlockId(b)];
        block_begin_.push_back(static_cast<std::uint32_t>(moves_begin_.size()));
        for (std::uint32_t i = 0; i < block.statements.size(); ++i) {
            begin_point();
            gather(Location{BlockId(b), i}, block.statements[i]);
        }
        begin_point();
        gather(Location{BlockId(b), static_cast<std::uint32_t>(block.statements.size())}, block.terminator);
    }
    begin_point();
}

inline void MovePaths::begin_point() {
    moves_begin_.push_back(static_cast<std::uint32_t>(moves_.size()));
    inits_begin_.push_back(static_cast<std::uint32_t>(inits_.size()));
}

MovePathId MovePaths::child(MovePathId parent, const Place& place, std::size_t steps) {
    const Projection& step = place.projections[steps - 1];
    for (MovePathId at = paths_[parent].first_child; at.valid(); at = paths_[at].next_sibling) {
        if (same_projection(paths_[at].place.projections.back(), step)) return at;
    }
    const MovePathId made = paths_.push(MovePath{place.prefix(steps), parent, {}, paths_[parent].first_child});
    paths_[parent].first_child = made;
    return made;
}

// The path of `place`, made with all its parents; nothing when it has none by nature.
std::optional<MovePathId> MovePaths::make(const Place& place, Location at, bool report) {
    MovePathId path = of(place.local);
    TypeId type = body_.locals[place.local].type;
    types::TypeStore& types = context_.types();
    const auto refuse = [&](MoveError::Kind kind, std::size_t steps) -> std::optional<MovePathId> {
        if (report) errors_.push_back(MoveError{kind, place, static_cast<std::uint32_t>(steps), at});
        return std::nullopt;
    };
    for (std::size_t i = 0; i < place.projections.size(); ++i) {
        const Projection& step = place.projections[i];
        switch (step.kind) {
            case ProjectionKind::Deref: return refuse(MoveError::Kind::Borrowed, i);
            case ProjectionKind::Index: return refuse(MoveError::Kind::ArrayElement, i);
            case ProjectionKind::ConstantIndex:
            case ProjectionKind::Subslice:
                if (types.kind(type) == types::TypeKind::Slice) return refuse(MoveError::Kind::ArrayElement, i);
                break;
            case ProjectionKind::Downcast: break;
            case ProjectionKind::Field:
                if (types.kind(type) == types::TypeKind::Adt && context_.drop_impl(type).valid()) {
                    return refuse(MoveError::Kind::DropType, i);
                }
                break;
        }
        path = child(path, place, i + 1);
        type = step.type;
    }
    return path;
}

MovePaths::Lookup MovePaths::find_below(const Place& place) const {
    MovePathId path = of(place.local);
    for (const Projection& step : place.projections) {
        MovePathId next;
        for (MovePathId at = paths_[path].first_child; at.valid(); at = paths_[at].next_sibling) {
            if (same_projection(paths_[at].place.projections.back(), step)) next = at;
        }
        if (!next.valid()) return {path, false};
        path = next;
    }
    return {path, true};
}

void MovePaths::add_init(Location at, const Place& place) {
    const std::optional<MovePathId> path = place.is_local() ? of(place.local) : make(place, at, false);
    if (path) inits_.push(Init{*path, at, false});
}

void MovePaths::gather(Location at, const Operand& operand) {
    if (operand.kind != Operand::Kind::Move) return;
    const auto move_out = [&](const Place& place) {
        const std::optional<MovePathId> path = place.is_local() ? of(place.local) : make(place, at, true);
        if (path) moves_.push(MoveOut{*path, at, false});
    };
    const Place& place = operand.place;
    const bool is_part = !place.projections.empty() && place.projections.back().kind == ProjectionKind::Subslice;
    if (!is_part || place.projections.back().from_end) return move_out(place);
    // Elements have paths, subarrays have none: a move of `a[1..3]` moves a[1] and a[2].
    const std::size_t last = place.projections.size() - 1;
    const TypeId array = body_.type_of(place.prefix(last));
    const types::TypeData data = context_.types()[array];
    const std::uint64_t length = context_.usize_value(data.length).value_or(0);
    std::vector<Projection> steps(place.projections.begin(), place.projections.end());
    for (std::uint64_t i = place.projections[last].offset; i < place.projections[last].min_length; ++i) {
        steps[last] = Projection{.kind = ProjectionKind::ConstantIndex, .offset = i, .min_length = length, .type = data.element};
        arrays_.push_back(std::make_unique<std::vector<Projection>>(steps));
        move_out(Place{place.local, *arrays_.back()});
    }
}

void MovePaths::gather(Location at, const Statement& statement) {
    if (const auto* assign = statement.get_if<AssignStatement>()) {
        for_each_operand(assign->value, [&](const Operand& operand) { gather(at, operand); });
        add_init(at, assign->place);
    } else if (const auto* dead = statement.get_if<StorageDeadStatement>()) {
        moves_.push(MoveOut{of(dead->local), at, true});
    }
}

void MovePaths::gather(Location at, const Terminator& terminator) {
    for_each_operand(terminator, [&](const Operand& operand) { gather(at, operand); });
    if (const auto* call = terminator.get_if<CallTerminator>()) {
        if (call->target.valid()) add_init(at, call->destination);
    } else if (const auto* drop = terminator.get_if<DropTerminator>()) {
        if (const Lookup found = find(drop->place); found.exact) {
            moves_.push(MoveOut{found.path, at, false});
        }
    }
}

}  // namespace ockc::mir
