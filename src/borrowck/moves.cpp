// Uses of what is moved or was never initialised (E0381, E0382), and moves out of places that cannot be moved out of
// (E0507, E0508, E0509).
#include "borrowck/checker.hpp"

namespace ockc::borrowck {

using mir::MovePathId;
using mir::ProjectionKind;

namespace {
struct Verb {
    std::string_view noun, past;
};
Verb verb(NeedsInit why) {
    switch (why) {
        case NeedsInit::Use: return {"use", "used"};
        case NeedsInit::Borrow: return {"borrow", "borrowed"};
        case NeedsInit::Assignment: return {"assign", "assigned"};
        case NeedsInit::PartialAssignment: return {"assign to part", "partially assigned"};
        case NeedsInit::MatchOn: return {"use", "matched on"};
    }
    OCKC_UNREACHABLE("need");
}
bool is_prefix(const Place& shorter, const Place& longer) {
    return shorter.projections.size() <= longer.projections.size() && longer.prefix(shorter.projections.size()) == shorter;
}
}  // namespace

void Checker::check_initialized(NeedsInit why, const Place& place) {
    const mir::MovePaths::Lookup found = paths_.find(place);
    if (state_.maybe_uninit(found.path)) report_uninitialized(why, found.path, place, false);
}

void Checker::check_wholly_initialized(NeedsInit why, const Place& place) {
    const mir::MovePaths::Lookup found = paths_.find(place);
    if (state_.maybe_uninit(found.path)) return report_uninitialized(why, found.path, place, false);
    if (paths_.is_leaf(found.path)) return;
    MovePathId part;
    const auto look_below = [&](MovePathId root) {
        paths_.for_each_descendant(root, [&](MovePathId path) {
            if (!part.valid() && state_.maybe_uninit(path)) part = path;
        });
    };
    if (found.exact) {
        look_below(found.path);
    } else if (place.projections.back().kind == ProjectionKind::Subslice && paths_.paths()[found.path].place.projections.size() + 1 == place.projections.size()) {
        // A part of an array has no path of its own: its elements have.
        const mir::Projection& slice = place.projections.back();
        for (MovePathId at = paths_.paths()[found.path].first_child; at.valid(); at = paths_.paths()[at].next_sibling) {
            const mir::Projection& step = paths_.paths()[at].place.projections.back();
            if (step.offset >= slice.offset && step.offset < slice.min_length) look_below(at);
        }
    }
    if (part.valid()) report_uninitialized(why, part, place, true);
}

// `*p = v` needs p; `s.f = v` needs s to be whole, or nothing of it to be tracked as missing.
void Checker::check_assignable(const Place& place) {
    for (std::size_t i = place.projections.size(); i-- > 0;) {
        const Place base = place.prefix(i);
        switch (place.projections[i].kind) {
            case ProjectionKind::Deref: return check_initialized(NeedsInit::Use, base);
            case ProjectionKind::Field: {
                const TypeId type = cx_.erased_type(place, i);
                const bool is_adt = cx_.types.kind(type) == types::TypeKind::Adt;
                if (is_adt && cx_.context.drop_impl(type).valid()) return check_wholly_initialized(NeedsInit::Assignment, base);
                if (!is_adt && cx_.types.kind(type) != types::TypeKind::Tuple) break;
                MovePathId shortest;
                for (MovePathId path = paths_.find(base).path; path.valid(); path = paths_.paths()[path].parent) {
                    if (state_.maybe_uninit(path)) shortest = path;
                }
                if (shortest.valid()) return report_uninitialized(NeedsInit::PartialAssignment, shortest, base, false);
                break;
            }
            case ProjectionKind::Index:
            case ProjectionKind::ConstantIndex:
                check_initialized(NeedsInit::Use, base);
                break;
            case ProjectionKind::Subslice:
            case ProjectionKind::Downcast: break;
        }
    }
}

// The moves that may have emptied the path at the current point, walking backwards until it was filled.
std::vector<Location> Checker::move_sites(MovePathId path) const {
    const auto is_above = [&](MovePathId upper, MovePathId lower) {
        for (; lower.valid(); lower = paths_.paths()[lower].parent) {
            if (lower == upper) return true;
        }
        return false;
    };
    std::vector<Location> sites;
    std::set<Location> seen;
    std::vector<Location> open;
    const auto push_previous = [&](Location at) {
        if (at.statement > 0) return open.push_back({at.block, at.statement - 1});
        for (const std::uint32_t pred : cx_.graph.predecessors(at.block.raw)) {
            open.push_back({BlockId(pred), static_cast<std::uint32_t>(cx_.body.blocks[BlockId(pred)].statements.size())});
        }
    };
    push_previous(at_);
    while (!open.empty()) {
        const Location at = open.back();
        open.pop_back();
        if (!seen.insert(at).second) continue;
        bool filled = false, emptied = false;
        for (const mir::Init& init : paths_.inits_at(at)) filled = filled || is_above(init.path, path);
        if (filled) continue;
        const mir::BasicBlock& block = cx_.body.blocks[at.block];
        const bool is_end = at.statement < block.statements.size()
                                ? block.statements[at.statement].kind() == mir::StatementKind::StorageDead
                                : block.terminator.kind() == mir::TerminatorKind::Drop;
        for (const mir::MoveOut& move : paths_.moves_at(at)) emptied = emptied || is_above(move.path, path) || is_above(path, move.path);
        if (emptied && !is_end) {
            sites.push_back(at);
            continue;
        }
        push_previous(at);
    }
    std::sort(sites.begin(), sites.end());
    return sites;
}

void Checker::report_uninitialized(NeedsInit why, MovePathId path, const Place& used, bool partially) {
    const std::vector<Location> sites = move_sites(path);
    if (sites.empty()) return report_never_initialized(why, path);
    const auto known = moved_.find(sites);
    if (known != moved_.end() && is_prefix(used, known->second.first)) return;
    report_moved(why, path, used, sites, partially);
}

void Checker::report_never_initialized(NeedsInit why, MovePathId path) {
    const LocalId local = paths_.paths()[path].place.local;
    if (!reported_uninit_.insert(local.raw).second) return;
    const std::string name = quoted(cx_, Place{local, {}});
    const bool maybe = state_.maybe_init(path);
    const std::string message = why == NeedsInit::PartialAssignment
                                    ? "partially assigned binding " + name + " isn't fully initialized"
                                    : "used binding " + name + (maybe ? " is possibly-uninitialized" : " isn't initialized");
    Diagnostic& error = sink().error(Code::E0381, span_, message);
    error.labels.clear();
    Label primary{span_,
                  name + " " + std::string(verb(why).past) + " here but it " +
                      (why == NeedsInit::PartialAssignment ? "isn't fully initialized" : maybe ? "is possibly-uninitialized" : "isn't initialized"),
                  true};
    error.labels.push_back(primary);
    error.label(cx_.body.locals[local].span, "binding declared here but left uninitialized");
}

void Checker::report_moved(NeedsInit why, MovePathId path, const Place& used, const std::vector<Location>& sites,
                           bool partially) {
    const Place& moved = paths_.paths()[path].place;
    const bool exact = moved.projections.size() >= used.projections.size();
    const std::string_view partial = partially && !(moved == used) ? "partially " : "";
    const Verb words = verb(why);
    const std::optional<std::string> name = describe(cx_, exact ? used : moved);
    Diagnostic error;
    error.code = Code::E0382;
    error.message = std::string(words.noun) + " of " + std::string(partial) + "moved value" + (name ? ": `" + *name + "`" : "");
    bool in_loop = false;
    for (const Location site : sites) in_loop = in_loop || site == at_;
    if (!in_loop) {
        error.labels.push_back(
            Label{span_, "value " + std::string(words.past) + " here after " + (partial.empty() ? "" : "partial ") + "move", true});
    }
    for (const Location site : sites) {
        const bool again = is_in_loop_from(at_, site);
        const std::string text = "value " + std::string(partial) + "moved here" + (again ? ", in previous iteration of loop" : "");
        if (site == at_) {
            error.labels.insert(error.labels.begin(), Label{span_, text, true});
        } else {
            error.label(cx_.body.span_at(site), text);
        }
    }
    if (sites.size() == 1) add_receiver(error, sites[0], moved);
    const TypeId type = cx_.body.type_of(moved);
    const std::string moved_name = quoted(cx_, moved);
    const mir::Local& local = cx_.body.locals[moved.local];
    const std::string because =
        "move occurs because " + moved_name + " has type `" + cx_.text(type) + "`, which does not implement the `Copy` trait";
    if (moved.is_local() && is_user_variable(cx_, moved.local)) {
        error.label(local.span, because);
    } else {
        error.note(because);
    }
    moved_.insert_or_assign(sites, std::pair(used, std::move(error)));
}

// A method that takes `self` by value moves what it is called on: the call is what the user wrote.
void Checker::add_receiver(Diagnostic& error, Location moved_at, const Place& moved) const {
    const mir::BasicBlock& from = cx_.body.blocks[moved_at.block];
    if (moved_at.statement >= from.statements.size()) return;
    const auto* assign = from.statements[moved_at.statement].get_if<mir::AssignStatement>();
    if (assign == nullptr || is_user_variable(cx_, assign->place.local)) return;
    for (const mir::BasicBlock& block : cx_.body.blocks) {
        const auto* call = block.terminator.get_if<mir::CallTerminator>();
        if (call == nullptr || call->source != mir::CallSource::Method || !call->callee.is_constant()) continue;
        if (call->args.empty() || call->args[0].is_constant() || !(call->args[0].place == assign->place)) continue;
        for (Label& label : error.labels) {
            const std::size_t word = label.text.find("moved here");
            if (label.primary || word == std::string::npos) continue;
            label.text.replace(word, 10, "moved due to this method call");
            label.span = call->fn_span;
        }
        const hir::Program& program = cx_.context.program();
        const DefId method = cx_.types[cx_.body.constants[call->callee.constant].type].def;
        if (program.crates[program.defs[method].crate].is_library) return;
        const DefId parent = program.defs[method].parent;
        const bool is_impl = program.defs[parent].kind == hir::DefKind::Impl;
        const std::string owner = is_impl ? cx_.text(cx_.context.type_of(parent)) : std::string(program.name(parent));
        error.note_at(program.as<hir::FnDef>(method).sig.inputs[0].span,
                      "`" + owner + "::" + std::string(program.name(method)) + "` takes ownership of the receiver `self`, which moves " + quoted(cx_, moved));
        return;
    }
}

bool Checker::is_in_loop_from(Location from, Location to) const {
    std::set<std::uint32_t> seen;
    std::vector<BlockId> open;
    if (from.block == to.block && from.statement <= to.statement) {
        // Straight on, and so not the iteration before; unless the use stands before the move.
        if (from.statement < to.statement || from == to) return true;
    }
    mir::for_each_successor(cx_.body.blocks[from.block].terminator, [&](BlockId next) { open.push_back(next); });
    while (!open.empty()) {
        const BlockId block = open.back();
        open.pop_back();
        if (!seen.insert(block.raw).second) continue;
        if (block == to.block) return true;
        mir::for_each_successor(cx_.body.blocks[block].terminator, [&](BlockId next) { open.push_back(next); });
    }
    return false;
}

// ---- moves that are never possible ---------------------------------------------------------------------------------------------

void Checker::report_move_errors() {
    std::set<std::pair<std::uint32_t, std::uint32_t>> seen;
    for (const mir::MoveError& error : paths_.errors()) {
        const Span span = move_span(error);
        const bool is_pattern = !(span == cx_.body.span_at(error.at));   // one error for all variables of a match
        if (!is_pattern || seen.emplace(span.begin, error.from.local.raw).second) report_move_error(error);
    }
}

// Of a move into a pattern's variable: the value that is matched.
Span Checker::move_span(const mir::MoveError& error) const {
    const mir::BasicBlock& block = cx_.body.blocks[error.at.block];
    if (error.at.statement < block.statements.size()) {
        const auto* assign = block.statements[error.at.statement].get_if<mir::AssignStatement>();
        if (assign != nullptr && assign->place.is_local()) {
            const Span matched = cx_.body.locals[assign->place.local].match_span;
            if (matched.valid()) return matched;
        }
    }
    return cx_.body.span_at(error.at);
}

void Checker::report_move_error(const mir::MoveError& error) {
    const Span span = move_span(error);
    const Place base = error.from.prefix(error.steps);
    const TypeId base_type = cx_.erased_type(error.from, error.steps);
    const std::optional<std::string> name = describe(cx_, error.from);
    const std::string because = "move occurs because " + (name ? "`" + *name + "`" : std::string("value")) + " has type `" +
                                cx_.text(cx_.body.type_of(error.from)) + "`, which does not implement the `Copy` trait";
    const auto report = [&](Code code, const std::string& message, const std::string& label) -> Diagnostic& {
        Diagnostic& made = sink().error(code, span, message);
        made.labels.clear();
        made.labels.push_back(Label{span, label, true});
        return made;
    };
    const auto binding_label = [&](Diagnostic& made) {
        const mir::BasicBlock& block = cx_.body.blocks[error.at.block];
        if (error.at.statement >= block.statements.size()) return;
        const auto* assign = block.statements[error.at.statement].get_if<mir::AssignStatement>();
        if (assign == nullptr || !is_user_variable(cx_, assign->place.local)) return;
        made.note("the data moves into `" + std::string(cx_.name(cx_.body.locals[assign->place.local].name)) + "`");
    };
    switch (error.kind) {
        case mir::MoveError::Kind::ArrayElement: {
            const bool is_slice = cx_.types.kind(base_type) == types::TypeKind::Slice;
            Diagnostic& made = report(Code::E0508,
                                      "cannot move out of type `" + cx_.text(base_type) + "`, a non-copy " + (is_slice ? "slice" : "array"),
                                      "cannot move out of here");
            made.note(because);
            return binding_label(made);
        }
        case mir::MoveError::Kind::DropType: {
            Diagnostic& made = report(Code::E0509,
                                      "cannot move out of type `" + cx_.text(base_type) + "`, which implements the `Drop` trait",
                                      "cannot move out of here");
            made.note(because);
            return binding_label(made);
        }
        case mir::MoveError::Kind::Borrowed: break;
    }
    const TypeId content = cx_.erased_type(error.from, error.steps + 1);
    const types::TypeKind content_kind = cx_.types.kind(content);
    if (content_kind == types::TypeKind::Array || content_kind == types::TypeKind::Slice) {
        Diagnostic& made = report(Code::E0508,
                                  "cannot move out of type `" + cx_.text(content) + "`, a non-copy " +
                                      (content_kind == types::TypeKind::Slice ? "slice" : "array"),
                                  "cannot move out of here");
        made.note(because);
        return binding_label(made);
    }
    const types::TypeData data = cx_.types[base_type];
    std::string what;
    if (const std::optional<std::uint32_t> upvar = upvar_of(cx_, error.from); upvar || (cx_.body.is_closure && base.local == LocalId(1) && base.is_local())) {
        const bool is_fn = data.mutability == types::Mutability::Not;
        const std::string owner = upvar_name(cx_, error.from);
        what = "cannot move out of " + (name ? "`" + *name + "`" : std::string("value")) + ", " +
               (name && *name != owner ? "as `" + owner + "` is " : "") + "a captured variable in an `" + (is_fn ? "Fn" : "FnMut") + "` closure";
    } else if (cx_.body.locals[base.local].info == mir::LocalInfo::RefToStatic && base.is_local()) {
        what = "cannot move out of static item " + quoted(cx_, error.from);
    } else if (cx_.body.locals[base.local].info == mir::LocalInfo::GuardRef && base.is_local()) {
        what = "cannot move out of " + quoted(cx_, error.from) + " in pattern guard";
    } else {
        const std::string_view behind = data.kind == types::TypeKind::RawPtr ? "a raw pointer"
                                        : data.mutability == types::Mutability::Mut ? "a mutable reference"
                                                                                    : "a shared reference";
        what = name ? "cannot move out of `" + *name + "` which is behind " + std::string(behind)
                    : "cannot move out of " + std::string(behind);
    }
    binding_label(report(Code::E0507, what, because));
}

}  // namespace ockc::borrowck
