// The walk over a body that checks every access: against initialisation (moves.cpp), against mutability
// (mutability.cpp), against the loans in scope (access.cpp, report.cpp). Regions are checked once, at the end
// (region_errors.cpp).
#pragma once
#include "borrowck/body_cx.hpp"
#include "borrowck/describe.hpp"
#include "borrowck/loans.hpp"

namespace ockc::borrowck {

enum class ReadKind : std::uint8_t { Borrow, Copy };
enum class WriteKind : std::uint8_t { StorageDeadOrDrop, Replace, MutableBorrow, Mutate, Move };
struct AccessKind {
    enum class Mode : std::uint8_t { Read, Write, Reservation, Activation } mode = Mode::Read;
    ReadKind read = ReadKind::Copy;
    WriteKind write = WriteKind::Mutate;
    mir::BorrowKind borrow = mir::BorrowKind::Shared;   // of a borrow
    LoanId activating;                                    // Activation

    static AccessKind reading(ReadKind kind, mir::BorrowKind borrow = mir::BorrowKind::Shared) {
        return {Mode::Read, kind, WriteKind::Mutate, borrow, LoanId()};
    }
    static AccessKind writing(WriteKind kind, mir::BorrowKind borrow = mir::BorrowKind::Mut) {
        return {Mode::Write, ReadKind::Copy, kind, borrow, LoanId()};
    }
};
enum class MutationAllowed : std::uint8_t { No, Yes };
// For what a place must be initialised.
enum class NeedsInit : std::uint8_t { Use, Borrow, Assignment, PartialAssignment, MatchOn };

class Checker {
  public:
    Checker(BodyCx& cx, const Regions& regions, const mir::MovePaths& paths, const mir::InitFlow& init);
    void run();
    const LoanScopes& scopes() const { return scopes_; }

  private:
    // ---- access.cpp
    void statement(const mir::Statement& node);
    void terminator(const mir::Terminator& node);
    void assignment(const mir::AssignStatement& node);
    void rvalue(const mir::Rvalue& value);
    void operand(const mir::Operand& operand);
    void mutate(const Place& place, Depth depth);
    void access(const Place& place, Depth depth, AccessKind kind, MutationAllowed allowed);
    bool conflicts(const Place& place, Depth depth, AccessKind kind);
    bool report_conflict(const Place& place, AccessKind kind, LoanId id);
    void activations();
    void exits();
    void unwinds();
    void check_exit(LoanId id, bool unwinding);
    bool is_reported(const Place& place, Span span) const;
    // What comes last: moves out of what cannot be moved out of, then the buffered errors.
    void flush();

    // ---- moves.cpp
    void check_initialized(NeedsInit why, const Place& place);          // the place and what it is part of
    void check_wholly_initialized(NeedsInit why, const Place& place);   // and all its parts
    void check_assignable(const Place& place);
    void report_uninitialized(NeedsInit why, mir::MovePathId path, const Place& used, bool partially);
    void report_moved(NeedsInit why, mir::MovePathId path, const Place& used, const std::vector<Location>& sites, bool partially);
    void add_receiver(Diagnostic& error, Location moved_at, const Place& moved) const;
    void report_never_initialized(NeedsInit why, mir::MovePathId path);
    std::vector<Location> move_sites(mir::MovePathId path) const;
    void report_move_errors();
    void report_move_error(const mir::MoveError& error);
    Span move_span(const mir::MoveError& error) const;
    bool is_in_loop_from(Location from, Location to) const;

    // ---- mutability.cpp
    bool check_permission(const Place& place, AccessKind kind, MutationAllowed allowed);
    // The place that forbids mutation; nothing: it is allowed.
    std::optional<Place> forbidding(const Place& place, MutationAllowed allowed);
    void note_mut_use(const Place& place, MutationAllowed allowed);   // unused_mut.cpp
    void report_reassignment(const Place& place, const mir::Init& first);
    void report_immutable(const Place& place, const Place& culprit, bool is_borrow);
    const mir::Init& first_init(LocalId local) const;
    void report_missing_mut(LocalId local, Diagnostic error, const std::string& label);

    // Why a loan is still in scope.
    struct Explanation {
        enum class Kind : std::uint8_t { None, Later, LaterInLoop, Dropped, Outlives } kind = Kind::None;
        Span span;
        LocalId local;              // Dropped
        RegionVid region;           // Outlives: the universal region
        std::uint32_t blame = 0;    // Outlives: the constraint to blame
        bool into_result = false;   // Later: it is the function's result that is made
        bool by_call = false;       // Later: an argument of a call, whose callee stands at `span`
    };

    // ---- report.cpp
    void report_conflicting_borrow(const Place& place, mir::BorrowKind kind, const Loan& loan, LoanId id);
    void report_use_while_borrowed(const Place& place, const Loan& loan, LoanId id);
    void report_move_while_borrowed(const Place& place, const Loan& loan, LoanId id);
    void report_assignment_while_borrowed(const Place& place, const Loan& loan, LoanId id);
    void report_dead_while_borrowed(const Place& place, LoanId id, bool unwinding);
    void report_temporary(const Loan& loan, const Explanation& why);
    bool report_returned(const Loan& loan, const Explanation& why);
    bool report_escape(const Loan& loan, const Explanation& why);
    bool report_destructor(const Place& place, const Loan& loan, const Explanation& why);
    bool report_unique_capture(const Place& place, mir::BorrowKind kind, const Loan& loan, const Explanation& why);
    bool is_reborrowed() const;
    void report_guard_mutation(const Place& place, const Loan& loan, std::string_view action);

    // ---- explain.cpp
    Explanation explain(const Loan& loan, Location at) const;
    Explanation explain_outlives(const Loan& loan) const;
    Explanation explain_use(Location at, LocalId local, bool is_drop, bool again) const;
    std::optional<Explanation> find_use(RegionVid region, Location from) const;
    void add_explanation(Diagnostic& error, const Explanation& why, std::string_view borrow, const Loan& loan);
    Span borrow_use_span(const Loan& loan) const;

    // ---- region_errors.cpp
    void check_universal_regions();
    void check_closure_regions();
    std::uint32_t captured_position(RegionVid region) const;
    RegionVid external_above(RegionVid region) const;
    void check_type_tests();
    bool known_type_outlives(TypeId type, RegionVid region) const;
    void report_type_test(TypeId type, RegionVid region, Span at);
    void report_closure_escape(RegionVid longer, RegionVid shorter, const std::vector<std::uint32_t>& path);
    bool is_escape(const RegionInfo& from, const RegionInfo& to, Category category) const;
    void report_region_error(RegionVid longer, RegionVid shorter, const std::vector<std::uint32_t>& path);
    std::uint32_t blame(const std::vector<std::uint32_t>& path) const;
    bool known_to_outlive(RegionVid longer, RegionVid shorter) const;

    DiagSink& sink() { return cx_.context.sink(); }
    const mir::BasicBlock& block() const { return cx_.body.blocks[at_.block]; }

    BodyCx& cx_;
    const Regions& regions_;
    const mir::MovePaths& paths_;
    const mir::InitFlow& init_;
    LoanScopes scopes_;
    std::vector<LoanId> escaping_;                                           // loans that must outlive the call
    Location at_;
    Span span_;
    PointId point_;
    std::size_t next_activation_ = 0;                                        // into cx_.activations
    mir::InitState state_;
    std::vector<std::pair<Place, Span>> reported_at_;                        // accesses in error
    // Uses of moved values by the moves that they follow: a later use takes the place of an earlier one.
    std::map<std::vector<Location>, std::pair<Place, Diagnostic>> moved_;
    // Borrows of variables that lack their `mut`: one error for all of a variable, in the order of the first.
    struct MissingMut {
        LocalId local;
        Diagnostic error;
        std::uint32_t count = 0;
    };
    std::vector<MissingMut> missing_mut_;
    std::set<std::uint32_t> reported_uninit_;                                // local
    std::set<std::uint32_t> reported_reservations_;
};

}  // namespace ockc::borrowck
