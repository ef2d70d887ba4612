// May the place be written: `mut` variables, what mutable references and raw pointers lead to, captured variables
// (E0384, E0594, E0596).
#include "borrowck/checker.hpp"

namespace ockc::borrowck {

using mir::BorrowKind;
using mir::ProjectionKind;

std::optional<Place> Checker::forbidding(const Place& whole, MutationAllowed allowed) {
    for (std::size_t steps = whole.projections.size();; --steps) {
        const Place place = whole.prefix(steps);
        if (steps == 0) {
            const mir::Local& local = cx_.body.locals[place.local];
            const bool fine = local.mutability == types::Mutability::Mut || allowed == MutationAllowed::Yes;
            return fine ? std::nullopt : std::optional<Place>(place);
        }
        const mir::Projection& last = place.projections[steps - 1];
        if (last.kind == ProjectionKind::Deref) {
            const types::TypeData& base = cx_.types[cx_.erased_type(place, steps - 1)];
            if (base.kind == types::TypeKind::RawPtr) {
                return base.mutability == types::Mutability::Mut ? std::nullopt : std::optional<Place>(place);
            }
            if (base.mutability == types::Mutability::Not) return place;
            // Through a unique reference: the variable that holds it need not be `mut`. A capture by reference stands for
            // the variable itself.
            const std::optional<std::uint32_t> upvar = upvar_of(cx_, place);
            const bool is_capture = upvar && cx_.body.upvars[*upvar].by_ref;
            if (!is_capture) allowed = MutationAllowed::Yes;
            continue;
        }
        const std::optional<std::uint32_t> upvar = upvar_of(cx_, place);
        if (upvar && last.kind == ProjectionKind::Field) {
            // Behind a shared reference, the closure's surroundings report the borrow.
            if (cx_.body.upvars[*upvar].behind_shared) return std::nullopt;
            const bool is_mut = cx_.body.upvars[*upvar].mutability == types::Mutability::Mut;
            if (!is_mut && allowed == MutationAllowed::No) return place;
        }
    }
}

// Of the initialisations that may have happened on a way here, without the storage ending since, the first of the body.
const mir::Init& Checker::first_init(LocalId local) const {
    const mir::Init* first = nullptr;
    const auto meet = [&](const mir::Init& init) {
        if (paths_.paths()[init.path].place.local == local && (first == nullptr || &init < first)) first = &init;
    };
    std::vector<Location> open;
    const auto push_previous = [&](Location at) {
        if (at.statement > 0) return open.push_back({at.block, at.statement - 1});
        if (at.block == BlockId(0)) {
            for (std::uint32_t i = 0; i < cx_.body.arg_count; ++i) meet(paths_.inits()[mir::InitId(i)]);
        }
        for (const std::uint32_t pred : cx_.graph.predecessors(at.block.raw)) {
            open.push_back({BlockId(pred), static_cast<std::uint32_t>(cx_.body.blocks[BlockId(pred)].statements.size())});
        }
    };
    std::set<Location> seen;
    for (push_previous(at_); !open.empty();) {
        const Location at = open.back();
        open.pop_back();
        if (!seen.insert(at).second) continue;
        bool ended = false;
        for (const mir::Init& init : paths_.inits_at(at)) meet(init);
        for (const mir::MoveOut& move : paths_.moves_at(at)) ended = ended || (move.ends_storage && move.path == paths_.of(local));
        if (!ended) push_previous(at);
    }
    OCKC_CHECK(first != nullptr);   // asked for where it was initialised
    return *first;
}

// True when it was reported.
bool Checker::check_permission(const Place& place, AccessKind kind, MutationAllowed allowed) {
    const bool is_borrow = kind.write == WriteKind::MutableBorrow;
    if (!is_borrow && kind.write != WriteKind::Mutate) return false;
    if (is_borrow && kind.borrow == BorrowKind::UniqueCapture) allowed = MutationAllowed::Yes;
    // A temporary is always mutable, and no one asks whether it had to be.
    const mir::Local& root = cx_.body.locals[place.local];
    if (place.is_local() && root.mutability == types::Mutability::Mut && !root.hir_local.valid()) return false;
    const std::optional<Place> culprit = forbidding(place, allowed);
    // The first assignment of `let x;` is no mutation.
    if (!culprit) {
        if (is_borrow || state_.ever_init(place.local)) note_mut_use(place, allowed);
        return false;
    }
    if (!state_.ever_init(place.local)) return false;
    if (!is_borrow && place.is_local()) {
        report_reassignment(place, first_init(place.local));
    } else {
        report_immutable(place, *culprit, is_borrow);
    }
    return true;
}

void Checker::report_reassignment(const Place& place, const mir::Init& init) {
    const mir::Local& local = cx_.body.locals[place.local];
    const std::string name = quoted(cx_, place);
    const bool is_argument = local.kind == mir::LocalKind::Arg;
    const std::string message = is_argument ? "cannot assign to immutable argument " + name
                                            : "cannot assign twice to immutable variable " + name;
    Diagnostic& error = sink().error(Code::E0384, span_, message);
    error.labels.clear();
    error.labels.push_back(Label{span_, is_argument ? "cannot assign to immutable argument" : "cannot assign twice to immutable variable", true});
    const Span first_span = init.is_argument ? local.span : cx_.body.span_at(init.at);
    if (first_span == local.span || is_argument) {
        if (!is_argument) error.label(local.span, "first assignment to " + name);
    } else if (!(first_span == span_)) {
        error.label(first_span, "first assignment to " + name);
    }
    if (is_user_variable(cx_, place.local)) {
        error.suggest(local.span.start(), "mut ", "consider making this binding mutable", Applicability::MachineApplicable);
    }
}

void Checker::report_immutable(const Place& place, const Place& culprit, bool is_borrow) {
    const std::string name = quoted(cx_, place);
    const mir::Local& root = cx_.body.locals[culprit.local];
    const bool same = place == culprit;
    std::string item = name, reason;
    std::string label = is_borrow ? "cannot borrow as mutable" : "cannot assign";
    bool suggest_mut = false;
    const std::optional<std::uint32_t> upvar = upvar_of(cx_, culprit);
    if (upvar && culprit.projections.back().kind == ProjectionKind::Field) {
        reason = same || upvar_of(cx_, place) ? ", as it is not declared as mutable"
                                               : ", as " + quoted(cx_, culprit) + " is not declared as mutable";
    } else if (culprit.is_local()) {
        reason = same ? ", as it is not declared as mutable" : ", as " + quoted(cx_, culprit) + " is not declared as mutable";
        suggest_mut = is_user_variable(cx_, culprit.local);
    } else if (root.info == mir::LocalInfo::RefToStatic && culprit.projections.size() == 1) {
        if (same) {
            item = "immutable static item " + name;
        } else {
            reason = ", as " + quoted(cx_, culprit) + " is an immutable static item";
        }
    } else if (root.info == mir::LocalInfo::GuardRef) {
        reason = ", as it is immutable for the pattern guard";
    } else if (cx_.body.is_closure && culprit.local == LocalId(1) && culprit.projections.size() == 1) {
        reason = upvar_of(cx_, place) ? ", as it is a captured variable in a `Fn` closure"
                                      : ", as `" + upvar_name(cx_, place) + "` is a captured variable in a `Fn` closure";
    } else {
        const Place base = culprit.prefix(culprit.projections.size() - 1);
        const bool is_raw = cx_.types.kind(cx_.body.type_of(base)) == types::TypeKind::RawPtr;
        const std::string pointer = is_raw ? "`*const` pointer" : "`&` reference";
        reason = (is_borrow ? ", as it is behind a " : ", which is behind a ") + pointer;
        if (const std::optional<std::string> holder = describe(cx_, base)) {
            label = "`" + *holder + "` is a " + pointer + ", so the data it refers to cannot be " +
                    (is_borrow ? "borrowed as mutable" : "written");
        }
    }
    Diagnostic error;
    error.code = is_borrow ? Code::E0596 : Code::E0594;
    error.message = is_borrow ? "cannot borrow " + item + " as mutable" + reason : "cannot assign to " + item + reason;
    error.labels.push_back(Label{span_, label, true});
    if (suggest_mut && root.info != mir::LocalInfo::SelfValue) {
        error.suggest(root.span.start(), "mut ", "consider changing this to be mutable", Applicability::MachineApplicable);
    }
    if (is_borrow && suggest_mut) return report_missing_mut(culprit.local, std::move(error), label);
    sink().error(error.code, span_, {}) = std::move(error);
}

// However often a variable without `mut` is borrowed mutably, that is one error: from the second time on, of its declaration.
void Checker::report_missing_mut(LocalId local, Diagnostic error, const std::string& label) {
    constexpr std::uint32_t kMostLabels = 10;
    for (MissingMut& one : missing_mut_) {
        if (one.local != local) continue;
        if (++one.count == 2) {
            one.error.labels.front().primary = false;
            one.error.labels.insert(one.error.labels.begin(), Label{cx_.body.locals[local].span, "not mutable", true});
        }
        if (one.count < kMostLabels) one.error.label(span_, label);
        return;
    }
    missing_mut_.push_back({local, std::move(error), 1});
}

}  // namespace ockc::borrowck
