// Accesses and the loans that forbid them. Statements are visited in order of control flow's reverse post-order; the state
// before each is the dataflow's.
#include "borrowck/checker.hpp"

namespace ockc::borrowck {

using mir::BorrowKind;
using Mode = AccessKind::Mode;

Checker::Checker(BodyCx& cx, const Regions& regions, const mir::MovePaths& paths, const mir::InitFlow& init)
    : cx_(cx), regions_(regions), paths_(paths), init_(init), scopes_(cx, regions), state_(init.at_start(BlockId(0))) {
    for (std::uint32_t i = 0; i < cx.loans.size(); ++i) {
        bool escapes = false;
        for (const RegionVid region : regions.universal()) escapes = escapes || regions.outlives_end_of(cx.loans[LoanId(i)].region, region);
        if (escapes) escaping_.push_back(LoanId(i));
    }
}

void Checker::run() {
    if (regions_.is_solved()) check_universal_regions();
    for (const std::uint32_t b : cx_.graph.reverse_postorder()) {
        const mir::BasicBlock& block = cx_.body.blocks[BlockId(b)];
        init_.enter(BlockId(b), state_);
        const auto first = std::pair(cx_.points.of({BlockId(b), 0}), LoanId(0));
        const auto at = std::lower_bound(cx_.activations.begin(), cx_.activations.end(), first);
        next_activation_ = static_cast<std::size_t>(at - cx_.activations.begin());
        at_ = {BlockId(b), 0};
        point_ = cx_.points.of(at_);
        for (const mir::Statement& node : block.statements) {
            span_ = node.span;
            activations();
            statement(node);
            init_.apply(point_.raw, state_);
            ++at_.statement;
            point_ = PointId(point_.raw + 1);
        }
        span_ = block.terminator.span;
        activations();
        terminator(block.terminator);
    }
    flush();
}

void Checker::flush() {
    report_move_errors();
    for (auto& [sites, error] : moved_) sink().error(Code::E0382, Span{}, {}) = std::move(error.second);
    for (MissingMut& one : missing_mut_) sink().error(Code::E0596, Span{}, {}) = std::move(one.error);
}

void Checker::statement(const mir::Statement& node) {
    switch (node.kind()) {
        case mir::StatementKind::Assign: return assignment(node.as<mir::AssignStatement>());
        case mir::StatementKind::SetDiscriminant:
            return mutate(node.as<mir::SetDiscriminantStatement>().place, Depth::Shallow);
        case mir::StatementKind::FakeRead:
            return check_wholly_initialized(NeedsInit::Use, node.as<mir::FakeReadStatement>().place);
        case mir::StatementKind::StorageDead:
            return access(Place{node.as<mir::StorageDeadStatement>().local, {}}, Depth::Shallow,
                          AccessKind::writing(WriteKind::StorageDeadOrDrop), MutationAllowed::Yes);
        case mir::StatementKind::DeepAccess: {
            const auto& deep = node.as<mir::DeepAccessStatement>();
            for (const Place& root : deep.roots) {
                access(root, Depth::Deep, deep.is_write ? AccessKind::writing(WriteKind::Mutate) : AccessKind::reading(ReadKind::Copy),
                       MutationAllowed::Yes);
            }
            return;
        }
        case mir::StatementKind::None:
        case mir::StatementKind::StorageLive:
        case mir::StatementKind::PlaceMention:
        case mir::StatementKind::AscribeType:
        case mir::StatementKind::Nop: return;
    }
}

void Checker::assignment(const mir::AssignStatement& node) {
    rvalue(node.value);
    mutate(node.place, Depth::Shallow);
}

void Checker::rvalue(const mir::Rvalue& value) {
    mir::for_each_operand(value, [&](const mir::Operand& one) { operand(one); });
    switch (mir::kind(value)) {
        case mir::RvalueKind::Ref: {
            const auto& ref = std::get<mir::RefRvalue>(value.data);
            if (ref.borrow == BorrowKind::Fake) {
                access(ref.place, Depth::ShallowFake, AccessKind::reading(ReadKind::Borrow, ref.borrow), MutationAllowed::No);
                return check_initialized(NeedsInit::MatchOn, ref.place);
            }
            if (ref.borrow == BorrowKind::Shared) {
                access(ref.place, Depth::Deep, AccessKind::reading(ReadKind::Borrow, ref.borrow), MutationAllowed::No);
            } else {
                AccessKind kind = AccessKind::writing(WriteKind::MutableBorrow, ref.borrow);
                if (ref.borrow == BorrowKind::TwoPhaseMut) kind.mode = Mode::Reservation;
                access(ref.place, Depth::Deep, kind, MutationAllowed::No);
            }
            return check_wholly_initialized(NeedsInit::Borrow, ref.place);
        }
        case mir::RvalueKind::RawPtr: {
            const auto& raw = std::get<mir::RawPtrRvalue>(value.data);
            const bool is_mut = raw.mutability == types::Mutability::Mut;
            access(raw.place, Depth::Deep,
                   is_mut ? AccessKind::writing(WriteKind::MutableBorrow) : AccessKind::reading(ReadKind::Borrow),
                   MutationAllowed::No);
            return check_wholly_initialized(NeedsInit::Borrow, raw.place);
        }
        case mir::RvalueKind::Len: {
            const Place& place = std::get<mir::LenRvalue>(value.data).place;
            access(place, Depth::Length, AccessKind::reading(ReadKind::Copy), MutationAllowed::No);
            return check_wholly_initialized(NeedsInit::Use, place);
        }
        case mir::RvalueKind::Discriminant: {
            const Place& place = std::get<mir::DiscriminantRvalue>(value.data).place;
            access(place, Depth::Shallow, AccessKind::reading(ReadKind::Copy), MutationAllowed::No);
            return check_wholly_initialized(NeedsInit::Use, place);
        }
        case mir::RvalueKind::None:
        case mir::RvalueKind::Use:
        case mir::RvalueKind::Repeat:
        case mir::RvalueKind::Cast:
        case mir::RvalueKind::BinaryOp:
        case mir::RvalueKind::CheckedBinaryOp:
        case mir::RvalueKind::UnaryOp:
        case mir::RvalueKind::Aggregate:
        case mir::RvalueKind::NullaryOp: return;
    }
}

void Checker::operand(const mir::Operand& one) {
    switch (one.kind) {
        case mir::Operand::Kind::Constant: return;
        case mir::Operand::Kind::Copy:
            access(one.place, Depth::Deep, AccessKind::reading(ReadKind::Copy), MutationAllowed::No);
            return check_wholly_initialized(NeedsInit::Use, one.place);
        case mir::Operand::Kind::Move:
            access(one.place, Depth::Deep, AccessKind::writing(WriteKind::Move), MutationAllowed::Yes);
            return check_wholly_initialized(NeedsInit::Use, one.place);
    }
}

void Checker::mutate(const Place& place, Depth depth) {
    check_assignable(place);
    access(place, depth, AccessKind::writing(WriteKind::Mutate), MutationAllowed::No);
}

void Checker::terminator(const mir::Terminator& node) {
    mir::for_each_operand(node, [&](const mir::Operand& one) { operand(one); });
    unwinds();
    switch (node.kind()) {
        case mir::TerminatorKind::Drop: {
            const auto& drop = node.as<mir::DropTerminator>();
            bool may_be_init = false;
            paths_.for_each_descendant(paths_.find(drop.place).path,
                                       [&](mir::MovePathId path) { may_be_init = may_be_init || state_.maybe_init(path); });
            if (!may_be_init) return;   // nothing is left to drop
            return access(drop.place, Depth::Drop,
                          AccessKind::writing(drop.replace ? WriteKind::Replace : WriteKind::StorageDeadOrDrop),
                          MutationAllowed::Yes);
        }
        case mir::TerminatorKind::Call: return mutate(node.as<mir::CallTerminator>().destination, Depth::Deep);
        case mir::TerminatorKind::Return: return exits();
        case mir::TerminatorKind::None:
        case mir::TerminatorKind::Goto:
        case mir::TerminatorKind::SwitchInt:
        case mir::TerminatorKind::Unreachable:
        case mir::TerminatorKind::Assert:
        case mir::TerminatorKind::Panic:
        case mir::TerminatorKind::FalseEdge:
        case mir::TerminatorKind::FalseUnwind: return;
    }
}

// A two-phase borrow that is used here writes its place now.
void Checker::activations() {
    for (; next_activation_ < cx_.activations.size() && cx_.activations[next_activation_].first == point_; ++next_activation_) {
        const LoanId id = cx_.activations[next_activation_].second;
        if (!scopes_.in_scope(id, point_) || reported_reservations_.count(id.raw) != 0) continue;
        const Loan& loan = cx_.loans[id];
        AccessKind kind = AccessKind::writing(WriteKind::MutableBorrow, BorrowKind::TwoPhaseMut);
        kind.mode = Mode::Activation;
        kind.activating = id;
        const Span outer = span_;
        span_ = loan.span;
        access(loan.place, Depth::Deep, kind, MutationAllowed::No);
        span_ = outer;
    }
}

// What a returning function owns is gone: loans of it must have ended.
void Checker::exits() {
    const hir::DefKind owner = cx_.context.program().defs[cx_.body.owner].kind;
    const bool is_constant = !cx_.body.is_closure && owner != hir::DefKind::Fn && owner != hir::DefKind::AssocFn;
    if (is_constant) return;   // its temporaries live for ever
    for (std::uint32_t i = 0; i < cx_.loans.size(); ++i) check_exit(LoanId(i), false);
}

// rustc's calls and checks may unwind out of the function, whatever they do here: what must outlive the function is looked at
// there already.
void Checker::unwinds() {
    const mir::TerminatorKind kind = block().terminator.kind();
    if (kind != mir::TerminatorKind::Call && kind != mir::TerminatorKind::Assert && kind != mir::TerminatorKind::Panic) return;
    for (const LoanId id : escaping_) check_exit(id, true);
}

void Checker::check_exit(LoanId id, bool unwinding) {
    const Loan& loan = cx_.loans[id];
    if (!scopes_.in_scope(id, point_) || loan.place.is_indirect()) return;
    report_dead_while_borrowed(Place{loan.place.local, {}}, id, unwinding);
}

bool Checker::is_reported(const Place& place, Span span) const {
    for (const auto& [known, at] : reported_at_) {
        if (at == span && known == place) return true;
    }
    return false;
}

void Checker::access(const Place& place, Depth depth, AccessKind kind, MutationAllowed allowed) {
    const bool is_write = kind.mode == Mode::Write || kind.mode == Mode::Reservation;
    const bool is_lent = !cx_.loans_by_local.of(place.local).empty();
    if ((!is_write || kind.write == WriteKind::StorageDeadOrDrop || kind.write == WriteKind::Move) && !is_lent) return;
    if (is_reported(place, span_)) return;
    const bool immutable = is_write && check_permission(place, kind, allowed);
    const bool conflicting = is_lent && conflicts(place, depth, kind);
    if (immutable || conflicting) reported_at_.emplace_back(place, span_);
}

bool Checker::conflicts(const Place& place, Depth depth, AccessKind kind) {
    for (const LoanId id : cx_.loans_by_local.of(place.local)) {
        if (!scopes_.in_scope(id, point_)) continue;
        const Loan& loan = cx_.loans[id];
        if (!places_conflict(cx_, loan.place, loan.kind, place, depth, Bias::Overlap)) continue;
        if (report_conflict(place, kind, id)) return true;
    }
    return false;
}

// The access and the loan meet: is that an error, and which.
bool Checker::report_conflict(const Place& place, AccessKind kind, LoanId id) {
    const Loan& loan = cx_.loans[id];
    const bool shared = loan.kind == BorrowKind::Shared || loan.kind == BorrowKind::Fake;
    switch (kind.mode) {
        case Mode::Activation:
            if (kind.activating == id) return false;
            break;
        case Mode::Read: {
            const bool is_fake = kind.read == ReadKind::Borrow && kind.borrow == BorrowKind::Fake;
            if (shared || is_fake) return false;
            if (loan.is_two_phase && loan.reserved.contains(point_.raw)) return false;
            if (kind.read == ReadKind::Copy) {
                report_use_while_borrowed(place, loan, id);
            } else {
                report_conflicting_borrow(place, kind.borrow, loan, id);
            }
            return true;
        }
        case Mode::Reservation:
            if (shared) return false;
            break;
        case Mode::Write:
            if (kind.write == WriteKind::Move && loan.kind == BorrowKind::Fake) return false;
            break;
    }
    if (loan.kind == BorrowKind::Fake && kind.write == WriteKind::StorageDeadOrDrop) return false;
    switch (kind.write) {
        case WriteKind::MutableBorrow:
            if (kind.mode == Mode::Reservation) {
                for (std::uint32_t made = 0; made < cx_.loans.size(); ++made) {
                    if (cx_.loans[LoanId(made)].at == at_) reported_reservations_.insert(made);
                }
            }
            report_conflicting_borrow(place, kind.borrow, loan, id);
            return true;
        case WriteKind::StorageDeadOrDrop:
            report_dead_while_borrowed(place, id, false);
            return true;
        case WriteKind::Mutate:
        case WriteKind::Replace: report_assignment_while_borrowed(place, loan, id); return true;
        case WriteKind::Move: report_move_while_borrowed(place, loan, id); return true;
    }
    OCKC_UNREACHABLE("write kind");
}

}  // namespace ockc::borrowck
